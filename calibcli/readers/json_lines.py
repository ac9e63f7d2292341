"""
Whole lines of JSON objects to record batches.

What a column holds is learned from the rows; where a block holds something else, such as labels of 1, true
and "yes" in one column, its rows are brought to one type one by one, which takes 25 times as long.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.json as pa_json

from calibcli.errors import InputProblem
from calibcli.options.numerals import ALIKE, is_respelled
from calibcli.readers.json_kinds import (
    Unfit,
    fitted,
    is_beyond_floats,
    joined,
    kinds_of,
    line_of,
    objects,
)

_SAMPLE = 100
# Python refuses a few hundred more; pyarrow has no limit but the stack.
_DEEPEST = 500
_OPENING, _CLOSING = list(b"{["), list(b"}]")
_BOM = b"\xef\xbb\xbf"
_NEWLINE, _QUOTE, _OPEN, _CLOSE = b'\n"{}'
_STRAY_NULL = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|[\n\r}])\s*null")
# A number that as a float might be another whole one, or infinite.
_LONG = (
    rb"-?(?:[0-9]{16}|[0-9.]+[eE][+-]?[0-9]{3}|(?=[0-9.]{17})(?:[0-9]{1,3}\.(?:9{11}|0{11})"
    rb"|[0-9]{4,9}\.(?:9{5}|0{5})|[0-9]{10,12}\.(?:9{3}|0{3})|[0-9]{13,}\.[09]))"
)
_ONE_EACH = (
    "each line is one object: jq -c '.[]' FILE makes lines of a list, as does pandas' "
    "to_json(FILE, orient='records', lines=True)"
)
Row = dict[str, Any]


class LineParser:
    """
    From blocks of lines to record batches, in the order of the file.

    Args:
        names: The keys that are wanted.

        shown: The file's name in messages.

        numbers: Those of them that are numbers, whatever they are written as.

        types: What the columns are; None to learn it from the rows.

        telling: Those of them that tell rows or groups apart.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        shown: str,
        numbers: Sequence[str] = (),
        types: pa.Schema | None = None,
        telling: Sequence[str] = (),
    ) -> None:
        self._names = tuple(names)
        self._shown = shown
        self._numbers = frozenset(numbers)
        self._fixed = types is not None
        self._types = {} if types is None else {field.name: field.type for field in types}
        self._rows = 0
        self._telling = tuple(telling)
        self._has_numbers: set[str] = set()
        self._respelled: dict[str, str] = {}

    def parse(self, block: bytes) -> pa.RecordBatch | None:
        """
        Return the columns of some whole lines; None for blank ones.

        Raises:
            InputProblem: If a line is not an object, or a value is not what its column holds.
        """
        marked = block.startswith(_BOM)
        if block.isspace() or (block == _BOM and not self._rows):
            return None
        if not self._fixed and any(
            pa.types.is_null(self._types.get(name, pa.null())) for name in self._names
        ):
            self._learn(list(islice(self._objects(block), _SAMPLE)))
        try:
            # A byte order mark is one at the beginning of the file alone, wherever blocks begin.
            by_hand = _stray_null(block) or (marked and self._rows) or self._rounds(block)
            batch = None if by_hand else self._numbered(_parsed(block, self._types))
            if batch is None or not _as_many(batch.num_rows, block):
                batch = self._by_hand(block)
        except (pa.ArrowInvalid, UnicodeDecodeError):
            batch = self._by_hand(block)
        self._rows += batch.num_rows
        return batch

    def _learn(self, rows: list[Row]) -> None:
        found = kinds_of(rows)
        for name in self._names:
            kind = joined(self._types.get(name), found.get(name, pa.null()))
            if name in self._numbers:
                kind = pa.float64() if kind == pa.int64() else kind
            elif kind == pa.float64() and any(is_beyond_floats(row.get(name)) for row in rows):
                kind = pa.string()
            self._types[name] = kind

    def _rounds(self, block: bytes) -> bool:
        """Whether a column of floats that is no score may hold a number that no float is."""
        if self._fixed:
            return False
        return any(
            _long_number(name).search(block) is not None
            for name in self._names
            if name not in self._numbers and pa.types.is_float64(self._types[name])
        )

    def _numbered(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch with numbers that were written as text as numbers."""
        if not any(pa.types.is_string(self._types[name]) for name in self._numbers):
            return batch
        columns = [
            column.cast(pa.float64()) if name in self._numbers and pa.types.is_string(column.type) else column
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    def _by_hand(self, block: bytes) -> pa.RecordBatch:
        """Bring the values of some lines to one type a column, one by one."""
        rows = list(self._objects(block))
        if not self._fixed:
            self._learn(rows)
        types = {
            name: pa.float64() if name in self._numbers and pa.types.is_string(kind) else kind
            for name, kind in self._types.items()
        }
        for name in self._telling:
            if pa.types.is_string(types[name]):
                self._refuse_respelled(name, [row.get(name) for row in rows])
        lines = [self._line(row, place, types) for place, row in enumerate(rows)]
        try:
            batch = _parsed("\n".join(lines).encode(), types)
        except pa.ArrowInvalid as error:
            msg = f"{self._shown}: after row {self._rows:,}: {error}"
            raise InputProblem(msg, "is text cut in the middle of a letter?") from error
        if batch.num_rows != len(rows):
            msg = (
                f"{self._shown}: after row {self._rows:,}: {len(rows):,} objects gave {batch.num_rows:,} rows"
            )
            raise InputProblem(msg, "rewrite the file with a JSON library, or export it as Parquet")
        return batch

    def _line(self, row: Row, place: int, types: dict[str, pa.DataType]) -> str:
        uniform: dict[str, object] = {}
        for name, value in row.items():
            if name not in types:
                continue
            try:
                uniform[name] = fitted(value, types[name], nested=self._fixed)
            except Unfit as unfit:
                number = pa.types.is_float64(types[name])
                what = "is not a number" if number else "is neither a number nor text, nor true or false"
                at = f"{self._shown}, column {name!r}: {unfit} at row {self._rows + place + 1:,}"
                msg = f"{at} {what}"
                raise InputProblem(msg, "is it the right key?") from None
        return line_of(uniform)

    def _refuse_respelled(self, name: str, values: Sequence[object]) -> None:
        """Refuse numbers beside text that is a number written otherwise: two rows could be one."""
        if any(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            self._has_numbers.add(name)
        texts = (value.strip() for value in values if isinstance(value, str))
        found = self._respelled.get(name) or next(filter(is_respelled, texts), None)
        if found is None:
            return
        self._respelled[name] = found
        if name in self._has_numbers:
            msg = f"{self._shown}, column {name!r}: it holds numbers, and {found!r} as text"
            raise InputProblem(msg, ALIKE)

    def _objects(self, block: bytes) -> Iterator[Row]:
        return rows_in(block, self._names, shown=self._shown, rows_before=self._rows)


@lru_cache(maxsize=64)
def _long_number(name: str) -> re.Pattern[bytes]:
    keys = {json.dumps(name, ensure_ascii=ascii_only).encode() for ascii_only in (True, False)}
    return re.compile(rb"(?:" + rb"|".join(map(re.escape, sorted(keys))) + rb")\s*:\s*" + _LONG)


def rows_in(block: bytes, names: Sequence[str], *, shown: str, rows_before: int = 0) -> Iterator[Row]:
    """
    Yield the objects in some whole lines.

    Args:
        block: The lines.

        names: The keys that no object may have twice.

        shown: The file's name in messages.

        rows_before: How many rows of the file come before.

    Raises:
        InputProblem: If something else stands there.
    """
    row = rows_before
    for value in _values(block, names, shown=shown, rows_before=rows_before):
        row += 1
        if not isinstance(value, dict):
            raise _no_object(value, row, shown)
        yield value


def _values(block: bytes, names: Sequence[str], *, shown: str, rows_before: int) -> Iterator[object]:
    """Yield the JSON values in some lines, and say which row is none."""
    row = rows_before

    def repeated(name: str) -> None:
        if name in names:
            msg = f"{shown}: row {row + 1:,} has the key {name!r} twice"
            raise InputProblem(msg, "give every key once")

    content = block if rows_before else block.removeprefix(_BOM)
    if not rows_before and content.lstrip()[:1] == b"[":
        raise _no_object([], 1, shown)
    try:
        for value in objects(content.decode(), repeated):
            yield value
            row += 1
    except UnicodeDecodeError as error:
        row += block.count(b"\n", 0, error.start)
        msg = f"{shown}: the text at row {row + 1:,} is not UTF-8"
        raise InputProblem(msg, "say which encoding it has, such as --encoding latin-1") from error
    except RecursionError as error:
        msg = f"{shown}: row {row + 1:,} is nested too deeply"
        raise InputProblem(msg, _ONE_EACH) from error
    except json.JSONDecodeError as error:
        msg = f"{shown}: row {row + 1:,} is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise InputProblem(msg, f"is the file complete? {_ONE_EACH}") from error
    except ValueError as error:
        # Of all that is JSON, Python refuses whole numbers of thousands of digits alone.
        msg = f"{shown}: row {row + 1:,} holds a number with too many digits"
        raise InputProblem(msg, "no score, label or weight has as many: keep such numbers as text") from error


def _no_object(value: object, row: int, shown: str) -> InputProblem:
    what = "a list" if isinstance(value, list) else "no object"
    return InputProblem(f"{shown}: row {row:,} is {what}", _ONE_EACH)


def _parsed(block: bytes, types: dict[str, pa.DataType]) -> pa.RecordBatch:
    """Return the columns of some lines, which must be what the types say."""
    reader = pa_json.open_json(
        cast("Any", pa.BufferReader(block)),
        read_options=pa_json.ReadOptions(use_threads=False, block_size=len(block) + 1),
        parse_options=pa_json.ParseOptions(
            explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
        ),
    )
    # The block is shorter than the reader's, so that one batch is all there is.
    batch = reader.read_next_batch()
    # Bytes that are no text come out as text.
    batch.validate(full=True)
    return batch


def _as_many(rows: int, block: bytes) -> bool:
    """Whether some lines have as many objects as rows: one a line, or else counted by their braces."""
    characters = np.frombuffer(block, np.uint8)
    if rows == np.count_nonzero(characters == _NEWLINE) + (block[-1] != _NEWLINE):
        return True
    if b"\\" not in block:
        quotes = np.flatnonzero(characters == _QUOTE)
        braces = np.flatnonzero((characters == _OPEN) | (characters == _CLOSE))
        outside = characters[braces[np.searchsorted(quotes, braces) % 2 == 0]]
        depth = np.cumsum(np.where(outside == _OPEN, 1, -1))
        return rows == np.count_nonzero((depth == 0) & (outside == _CLOSE))
    try:
        return rows == sum(1 for _ in objects(block.removeprefix(_BOM).decode(), lambda _: None))
    except (ValueError, RecursionError):
        return False


def _stray_null(block: bytes) -> bool:
    """Whether a line may be `null`, which pyarrow takes for a row, and at the beginning ends the process."""
    return b"null" in block and _STRAY_NULL.search(block) is not None


def _is_deep(block: bytes) -> bool:
    """Whether objects may stand within each other so often that the types of all of them end the process."""
    opened = block.count(b"{") + block.count(b"[")
    if opened <= block.count(b"\n") + _DEEPEST:
        return False
    letters = np.frombuffer(block, np.uint8)
    steps = np.isin(letters, _OPENING).astype(np.int64) - np.isin(letters, _CLOSING)
    return bool(np.cumsum(steps).max() > _DEEPEST)


def quick_kinds(block: bytes) -> dict[str, pa.DataType] | None:
    """Return the keys of some lines with plain types, in the order of the lines; None where some are not."""
    if _stray_null(block) or _is_deep(block):
        return None
    try:
        reader = pa_json.open_json(
            cast("Any", pa.BufferReader(block)),
            read_options=pa_json.ReadOptions(use_threads=False, block_size=len(block) + 1),
        )
        found = reader.read_next_batch().schema
        names = found.names
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    # What looks like a time is read as one, and stays text here.
    types = [pa.string() if pa.types.is_timestamp(field.type) else field.type for field in found]
    plain = (pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string())
    return dict(zip(names, types, strict=True)) if all(kind in plain for kind in types) else None
