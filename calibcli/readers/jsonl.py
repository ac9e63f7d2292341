"""
JSON Lines: one object for each row, read in blocks of whole lines.

A key that a row lacks is a missing value.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain

import pyarrow as pa

from calibcli.errors import InputProblem
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.fragments import Fragment
from calibcli.readers.json_kinds import joined, kinds_of
from calibcli.readers.json_lines import LineParser, Row, quick_kinds, rows_in
from calibcli.readers.sound import no_memory
from calibcli.readers.text import chunks_of, kept_bytes, not_text

_BLOCK = 1 << 21
_HEAD = 1 << 18
_LONGEST = 1 << 28
# Rows times keys that are held at once: where few rows have each key, nearly all of it is empty.
_CELLS = 1 << 24
# Lines of so many bytes are counted together.
_SLICE = 1 << 15
# Beyond so many keys a table of them is made only where one cell in a thousand or more has a value.
MOST_KEYS = 1_000
_LEAST_FILLED = 0.001
_LEAST_QUICK = 0.1


def header(fragment: Fragment) -> tuple[str, ...]:
    """Return the keys of the first rows; those of all are `every_key`."""
    names = tuple(kinds_of(_first_rows(fragment)))
    if not names:
        msg = f"{fragment.shown}: no row has a key"
        raise InputProblem(msg, 'each line is one object, such as {"score": 0.25, "label": 0}')
    return names


def every_key(fragment: Fragment) -> tuple[str, ...]:
    """Return the keys of all rows; what comes through a pipe is kept in a file for that."""
    return tuple(_all_kinds(fragment).kinds)


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
    found = _all_kinds(fragment)
    carried = None if chosen.carried is None else set(chosen.carried)
    names = [name for name in found.kinds if carried is None or name in carried]
    found.refuse_empty(names, fragment.shown)
    kinds = ((name, found.kinds[name]) for name in names)
    return pa.schema(
        [
            pa.field(name, pa.float64() if name in numbers and not pa.types.is_nested(kind) else kind)
            for name, kind in kinds
        ]
    )


def batches_of_all(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream every key; objects, and lists of other things than numbers, as the text of their JSON."""
    whole = schema(fragment, chosen)
    parser = LineParser(whole.names, shown=fragment.shown, numbers=_numbers(chosen), types=whole)
    for block in _blocks(fragment):
        for some in _cut(block, len(whole)):
            batch = parser.parse(some)
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


@dataclass(slots=True)
class _Keys:
    """
    What is known of the keys of all rows.

    Args:
        kinds: Every key with the type that holds all its values.

        rows: How many rows there are.

        values: How many values each key has, or more.
    """

    kinds: dict[str, pa.DataType] = field(default_factory=dict)
    rows: int = 0
    values: Counter[str] = field(default_factory=Counter)

    def add(self, kinds: dict[str, pa.DataType], *, rows: int, values: dict[str, int]) -> None:
        """Add what some rows have."""
        self.rows += rows
        self.values.update(values)
        for name, kind in kinds.items():
            self.kinds[name] = joined(self.kinds.get(name), kind)

    def refuse_empty(self, names: Collection[str], shown: str) -> None:
        """Refuse what would be a table of very many columns, nearly all of it empty."""
        values = sum(self.values[name] for name in names)
        if len(names) > MOST_KEYS and values < _LEAST_FILLED * self.rows * len(names):
            each = values / self.rows
            msg = f"{shown}: {len(names):,} keys, of which a row has {each:.2g}: nearly all columns are empty"
            raise InputProblem(msg, f"name at most {MOST_KEYS:,} of them with --keep, or write JSON lines")


def _all_kinds(fragment: Fragment) -> _Keys:
    """Return every key of all rows with the type that holds all its values."""
    if fragment.pipe is not None:
        fragment.pipe.spooled()
    found = _Keys()
    quick = True
    for block in _blocks(fragment):
        start = 0
        for some in _cut(block) if quick else ():
            rows = some.count(b"\n")
            # Objects may stand in one line, and that cannot be cut.
            wild = rows < 2 and some.count(b"{") * some.count(b":") > 8 * _CELLS
            kinds = None if wild or some.isspace() else quick_kinds(some)
            # Where most of a piece was empty, values are looked at one by one from here on.
            quick = kinds is None or rows * len(kinds) * _LEAST_QUICK <= max(_CELLS >> 6, some.count(b":"))
            if kinds is None or not quick:
                break
            found.add(kinds, rows=rows, values=dict.fromkeys(kinds, rows))
            start += len(some)
        if rest := block[start:]:
            by_hand = list(rows_in(rest, (), shown=fragment.shown, rows_before=found.rows))
            values = Counter(chain.from_iterable(by_hand))
            found.add(kinds_of(by_hand), rows=len(by_hand), values=values)
    return found


def _cut(block: bytes, keys: int | None = None) -> Iterator[bytes]:
    """
    Cut whole lines into pieces of which all rows times all keys are not too many to be held.

    Args:
        block: The lines.

        keys: How many keys there are; None for at most as many as there are colons.
    """
    start = end = rows = most = 0
    while end < len(block):
        stop = block.rfind(b"\n", end, end + _SLICE) + 1 or block.find(b"\n", end + _SLICE) + 1 or len(block)
        lines = block.count(b"\n", end, stop)
        colons = block.count(b":", end, stop) if keys is None else keys
        if start < end and (rows + lines) * (most + colons if keys is None else keys) > _CELLS:
            yield block[start:end]
            start, rows, most = end, 0, 0
        end, rows, most = stop, rows + lines, most + colons
    yield block[start:]


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
    except UnicodeEncodeError:
        # Of the name of a file, and said where names are.
        raise
    except UnicodeError as error:
        raise not_text(fragment.shown, error) from error
    except MemoryError as error:
        raise no_memory(fragment.shown, error) from error
    except (pa.ArrowException, OSError) as error:
        first = (str(error).splitlines() or ["unknown error"])[0]
        msg = f"{fragment.shown} cannot be read: {first}"
        raise InputProblem(
            msg, "the file may be cut short or damaged: compare its size with the source"
        ) from error
