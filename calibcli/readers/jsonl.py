"""
JSON Lines: one object for each row, read in blocks of whole lines.

A key that a row lacks is a missing value.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from calibcli.errors import InputProblem
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.fragments import Fragment
from calibcli.readers.json_kinds import joined, kinds_of
from calibcli.readers.json_lines import LineParser, Row, quick_kinds, rows_in
from calibcli.readers.sound import no_memory
from calibcli.readers.text import chunks_of, kept_bytes

_BLOCK = 1 << 21
_HEAD = 1 << 18
_LONGEST = 1 << 28


def header(fragment: Fragment) -> tuple[str, ...]:
    """Return the keys of the first rows; those of all are `every_key`."""
    names = tuple(kinds_of(_first_rows(fragment)))
    if not names:
        msg = f"{fragment.shown}: no row has a key"
        raise InputProblem(msg, 'each line is one object, such as {"score": 0.25, "label": 0}')
    return names


def every_key(fragment: Fragment) -> tuple[str, ...]:
    """Return the keys of all rows; what comes through a pipe is kept in a file for that."""
    return tuple(_all_kinds(fragment))


def batches(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream the chosen columns of a fragment."""
    for _, batch in blocks_and_batches(fragment, chosen):
        if batch is not None:
            yield batch


def blocks_and_batches(
    fragment: Fragment, chosen: ChosenColumns
) -> Iterator[tuple[bytes, pa.RecordBatch | None]]:
    """
    Stream whole lines of a fragment, each block with the chosen columns of its rows.

    The bytes are the file's own where more can be written beside them (`kept_bytes`), and else UTF-8. Joined,
    they are the file. The last line may lack its line end; blank lines may stand anywhere, and a block of
    nothing else has no batch.
    """
    kept = kept_bytes(fragment)
    parser = LineParser(
        chosen.stored,
        shown=fragment.shown,
        numbers=_numbers(chosen),
        telling=[name for name in chosen.telling if name in chosen.stored],
    )
    for block in _blocks(fragment, decoded=not kept):
        yield block, parser.parse(_as_utf8(block, fragment) if kept else block)


def schema(fragment: Fragment, chosen: ChosenColumns) -> pa.Schema:
    """Return what `batches_of_all` gives: every key of all rows, which takes a pass over them."""
    numbers = _numbers(chosen)
    return pa.schema(
        [
            pa.field(name, pa.float64() if name in numbers and not pa.types.is_nested(kind) else kind)
            for name, kind in _all_kinds(fragment).items()
            if chosen.carried is None or name in chosen.carried
        ]
    )


def batches_of_all(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream every key; objects, and lists of other things than numbers, as the text of their JSON."""
    whole = schema(fragment, chosen)
    parser = LineParser(whole.names, shown=fragment.shown, numbers=_numbers(chosen), types=whole)
    for block in _blocks(fragment):
        batch = parser.parse(block)
        if batch is not None:
            yield batch


def kinds(fragment: Fragment) -> tuple[tuple[str, str], ...]:
    """Return every key of the first rows with its type."""
    return tuple((name, str(kind)) for name, kind in kinds_of(_first_rows(fragment)).items())


def row_count(fragment: Fragment) -> int | None:  # noqa: ARG001
    """Return None: rows are known when all are read."""
    return None


def list_length(fragment: Fragment, name: str) -> int | None:
    """Return how many numbers the first list of a column holds, among the first rows."""
    for row in _first_rows(fragment):
        value = row.get(name)
        if isinstance(value, list):
            return len(value)
        if isinstance(value, dict) and isinstance(value.get("values"), list):
            size = value.get("size")
            return size if isinstance(size, int) else len(value["values"])
    return None


def _numbers(chosen: ChosenColumns) -> tuple[str, ...]:
    """Return the columns of numbers."""
    return chosen.scores if chosen.weight is None else (*chosen.scores, chosen.weight)


def _first_rows(fragment: Fragment) -> list[Row]:
    """Return rows from the beginning, all of a short file, without losing anything of a pipe."""

    def rows(block: bytes) -> list[Row]:
        return list(rows_in(block, (), shown=fragment.shown))

    if fragment.pipe is not None and fragment.streams:
        head = _as_utf8(fragment.pipe.first_lines(), fragment)
    else:
        return next(filter(None, (rows(block) for block in _blocks(fragment, size=_HEAD))), [])
    return rows(head)


def _all_kinds(fragment: Fragment) -> dict[str, pa.DataType]:
    """Return every key of all rows with the type that holds all its values."""
    if fragment.pipe is not None:
        fragment.pipe.spooled()
    found: dict[str, pa.DataType] = {}
    rows = 0
    for block in _blocks(fragment):
        some = None if block.isspace() else quick_kinds(block)
        if some is None:
            by_hand = list(rows_in(block, (), shown=fragment.shown, rows_before=rows))
            some = kinds_of(by_hand)
        rows += block.count(b"\n")
        for name, kind in some.items():
            found[name] = joined(found.get(name), kind)
    return found


def _blocks(fragment: Fragment, *, decoded: bool = True, size: int | None = None) -> Iterator[bytes]:
    """Cut a file into whole lines, in blocks of about a size."""
    rest: list[bytes] = []
    with _reported(fragment), chunks_of(fragment, decoded=decoded) as read:
        while chunk := read(size or _BLOCK):
            cut = chunk.rfind(b"\n") + 1
            if cut:
                yield b"".join([*rest, chunk[:cut]])
                rest = []
            rest.append(chunk[cut:])
            if sum(map(len, rest)) > _LONGEST:
                msg = f"{fragment.shown}: a line is longer than {_LONGEST >> 20} MiB"
                raise InputProblem(msg, "is it JSON Lines, one object a line?")
        if last := b"".join(rest):
            yield last


def _as_utf8(block: bytes, fragment: Fragment) -> bytes:
    if fragment.encoding is None:
        return block
    with _reported(fragment):
        return block.decode(fragment.encoding).encode()


@contextmanager
def _reported(fragment: Fragment) -> Iterator[None]:
    """Turn what is wrong with the bytes of a file into one line."""
    try:
        yield
    except UnicodeDecodeError as error:
        msg = f"{fragment.shown} is not {error.encoding} text: {error.reason}"
        raise InputProblem(msg, "--encoding names another encoding") from error
    except MemoryError as error:
        raise no_memory(fragment.shown, error) from error
    except (pa.ArrowException, OSError) as error:
        first = (str(error).splitlines() or ["unknown error"])[0]
        msg = f"{fragment.shown} cannot be read: {first}"
        raise InputProblem(
            msg, "the file may be cut short or damaged: compare its size with the source"
        ) from error
