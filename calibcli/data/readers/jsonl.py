"""JSON Lines: one object for each row, read in blocks of whole lines.

A key that a row lacks is a missing value.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from functools import lru_cache
from itertools import chain, islice
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.json as pa_json

from calibcli.data.arrays import DAMAGED, VECTOR_KEYS, source_of
from calibcli.data.columns import ResolvedColumns, jq, jq_beside, jq_key
from calibcli.data.readers import Reader, chunks_of, kept_bytes, number_hint, text_problems
from calibcli.data.score_words import INFINITE, MISSING
from calibcli.errors import InputProblem, first_words
from calibcli.options.numerals import ALIKE, is_respelled, number_name, number_of, reads_as_number
from calibcli.values import dataclass, field

LIST = pa.list_(pa.float64())

VECTOR = pa.struct(
    [
        pa.field("type", pa.int8()),
        pa.field("size", pa.int32()),
        pa.field("indices", pa.list_(pa.int32())),
        pa.field("values", LIST),
    ]
)

_LARGEST = 1 << 63

# Whole numbers below this are exact as floats.
_EXACT = 1 << 53

_TYPE_WORDS: tuple[tuple[type, str], ...] = (
    (bool, "true or false"),
    (str, "text"),
    (dict, "an object"),
    (list, "a list"),
)


class Unfit(ValueError):
    """A value that its column cannot hold."""


class Rounded(float):
    """A number of JSON that as a float would be another whole number, or infinite."""

    exact: Decimal


def _float_of(text: str) -> float:
    """Return what a number with a point or an exponent is."""
    value = float(text)
    if math.isfinite(value) and not value.is_integer():
        return value
    number = number_of(text)
    if number is None or number == Decimal(value):
        return value
    rounded = Rounded(value)
    rounded.exact = number
    return rounded


def kind_of(value: object) -> pa.DataType:  # noqa: PLR0911 - one return a type
    """Return the type of the column that one value asks for; that of text for what has none of its own."""
    if value is None:
        return pa.null()
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int):
        return pa.int64() if -_LARGEST <= value < _LARGEST else pa.string()
    if isinstance(value, float):
        return pa.float64()
    if isinstance(value, list) and all(
        _is_number_or_none(one) and not is_beyond_floats(one) for one in value
    ):
        return LIST
    if isinstance(value, dict) and "values" in value and value.keys() <= VECTOR_KEYS:
        return VECTOR
    return pa.string()


def joined(one: pa.DataType | None, other: pa.DataType) -> pa.DataType:
    """Return the type that holds the values of two: text where nothing else does."""
    if one is None or pa.types.is_null(one) or one == other:
        return other
    if pa.types.is_null(other):
        return one
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    return pa.string()


def is_beyond_floats(value: object) -> bool:
    """Whether a number is one that no float is, among whole ones and giants."""
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) >= _EXACT
    return isinstance(value, Rounded)


def kinds_of(rows: list[dict[str, Any]]) -> dict[str, pa.DataType]:
    """Return the type of every key of some objects, in order of appearance."""
    found: dict[str, pa.DataType] = {}
    for row in rows:
        for name, value in row.items():
            found[name] = joined(found.get(name), kind_of(value))
    return found


def fitted(value: object, kind: pa.DataType, *, nested: bool = False) -> object:
    if value is None or pa.types.is_null(kind):
        return None
    if pa.types.is_string(kind):
        return _as_text(value, nested=nested)
    if pa.types.is_float64(kind):
        return _as_number(value)
    if kind_of(value) != kind:
        raise Unfit(said(value))
    return value


def said(value: object) -> str:
    word = next((word for kind, word in _TYPE_WORDS if isinstance(value, kind)), "a number")
    if isinstance(value, dict | list):
        return word
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _refuse_halves(names: Iterable[str]) -> None:
    """Refuse keys that no file of another format could hold: half of what stands for one letter."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            msg = "a key holds half a surrogate pair"
            raise json.JSONDecodeError(msg, name, error.start) from None


def objects(text: str, repeated: Callable[[str], object]) -> Iterator[object]:
    """Yield what stands in a text one after the other, whether or not in lines of its own."""

    def paired(pairs: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(pairs)
        if not all(map(str.isascii, made)):
            _refuse_halves(made)
        if len(made) < len(pairs):
            for name, times in Counter(name for name, _ in pairs).items():
                if times > 1:
                    repeated(name)
        return made

    decoder = json.JSONDecoder(object_pairs_hook=paired, parse_float=_float_of)
    place = _next_value(text, 0)
    while place < len(text):
        value, end = decoder.raw_decode(text, place)
        yield value
        place = _next_value(text, end)


def line_of(row: Mapping[str, object]) -> str:
    """Return an object as one line that pyarrow reads."""
    return json.dumps(row, separators=(",", ":"))


def _next_value(text: str, start: int) -> int:
    while start < len(text) and text[start] in " \t\r\n":
        start += 1
    return start


def _is_number_or_none(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _as_text(value: object, *, nested: bool) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_name(value.exact if isinstance(value, Rounded) else value)
    if not nested:
        raise Unfit(said(value))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _as_number(value: object) -> float | None:
    """Return a number, or the number that a text is; text that stands for nothing is missing."""
    if isinstance(value, str):
        return _number_in(value.strip(), value)
    if not _is_number_or_none(value):
        raise Unfit(said(value))
    try:
        return float(cast("float", value))
    except OverflowError:
        return math.inf if cast("int", value) > 0 else -math.inf


def _number_in(text: str, whole: str) -> float | None:
    folded = text.casefold()
    if folded in MISSING:
        return None
    # JSON has no token for what is infinite, and float takes digits that are none elsewhere.
    if reads_as_number(text) or folded in INFINITE:
        return float(text)
    raise Unfit(said(whole))


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

_ANY_LONG = re.compile(rb":\s*(?=" + _LONG + rb")([-+0-9.eE]+)")

_SEVERAL_LINES = (
    "each line is one object: jq -c . FILE makes lines of rows; of what calibcli wrote, "
    "`calibcli inspect FILE` says what it is"
)
_ONE_EACH = (
    "each line is one object: jq -c '.[]' FILE makes lines of a list, as does pandas' "
    "to_json(FILE, orient='records', lines=True)"
)
BY_COLUMNS = (
    "is it the right key? Of a file that holds whole columns, pandas' read_json(FILE)"
    ".to_json('NEW.jsonl', orient='records', lines=True) makes rows"
)


def _within(name: str, value: object, *, first: bool) -> str:
    """Return what to do about an object or a list where a number should be."""
    within = f"what is within {name!r} is no column: "
    if isinstance(value, dict) and not all(map(str.isdecimal, value)):
        return f"{within}{jq_beside(name)} makes columns of it"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        # As BigQuery writes probabilities of classes.
        texts = [jq_key(one) for one, held in value[0].items() if isinstance(held, str)]
        numbers = [jq_key(one) for one, held in value[0].items() if isinstance(held, float)]
        if texts and numbers:
            each = f'[.{jq_key(name)}[] | {{("p_" + .{texts[0]}): .{numbers[0]}}}]'
            return f"{within}{jq(f'. + ({each} | add)')} makes columns of it"
    whole = isinstance(value, list | dict) and first
    return BY_COLUMNS if whole else "is it the right key?"


Row = dict[str, Any]


class LineParser:
    """From blocks of lines to record batches, in the order of the file.

    Args:
        numbers: Those of them that are numbers, whatever they are written as.
        scores: Those of them that are scores.
        types: What the columns are; None to learn it from the rows.
        telling: Those of them that tell rows or groups apart.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        shown: str,
        numbers: Sequence[str] = (),
        scores: Sequence[str] = (),
        types: pa.Schema | None = None,
        telling: Sequence[str] = (),
    ) -> None:
        self._names = tuple(names)
        self._shown = shown
        self._numbers = frozenset(numbers)
        self._scores = tuple(scores)
        self._fixed = types is not None
        self._types = {} if types is None else {field.name: field.type for field in types}
        self._rows = 0
        self._telling = tuple(telling)
        self._has_numbers: set[str] = set()
        self._respelled: dict[str, str] = {}

    def parse(self, block: bytes) -> pa.RecordBatch | None:
        """Return the columns of some whole lines; None for blank ones."""
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
                text = number and isinstance(value, str)
                hint = _within(name, value, first=not self._rows + place)
                if text:
                    hint = number_hint(cast("str", value), None, score=name in self._scores)
                raise InputProblem(msg, hint) from None
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
        if not row and content.split(b"\n", 1)[0].strip() == b"{":
            msg = f"{shown}: its first object goes on over many lines"
            raise InputProblem(msg, _SEVERAL_LINES) from error
        msg = f"{shown}: row {row + 1:,} is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise InputProblem(msg, f"is the file complete? {_ONE_EACH}") from error
    except ValueError as error:
        # Of all that is JSON, Python refuses whole numbers of thousands of digits alone.
        msg = f"{shown}: row {row + 1:,} holds a number with too many digits"
        raise InputProblem(msg, "write it as text; no score, label or weight needs so many digits") from error


def _no_object(value: object, row: int, shown: str) -> InputProblem:
    what = "a list" if isinstance(value, list) else "no object"
    return InputProblem(f"{shown}: row {row:,} is {what}", _ONE_EACH)


def _parsed(block: bytes, types: dict[str, pa.DataType]) -> pa.RecordBatch:
    """Return the columns of some lines, which must be what the types say."""
    schema = pa.schema(list(types.items()))
    batch = _read(block, pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"))
    # Bytes that are no text come out as text.
    batch.validate(full=True)
    return batch


def _read(block: bytes, options: pa_json.ParseOptions | None = None) -> pa.RecordBatch:
    whole = pa_json.ReadOptions(use_threads=False, block_size=len(block) + 1)
    # The block is shorter than the reader's, so that one batch is all there is.
    return pa_json.open_json(source_of(block), whole, options).read_next_batch()


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
        found = _read(block).schema
        names = found.names
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    # What looks like a time is read as one, and stays text here.
    types = [pa.string() if pa.types.is_timestamp(field.type) else field.type for field in found]
    plain = (pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string())
    return dict(zip(names, types, strict=True)) if all(kind in plain for kind in types) else None


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


class JsonReader(Reader):
    """Lines of objects."""

    def header(self) -> tuple[str, ...]:
        """Return the keys of the first rows; those of all are `whole_header`."""
        names = tuple(kinds_of(self._first_rows()))
        if not names:
            msg = f"{self.fragment.shown}: no row has a key"
            raise InputProblem(msg, 'each line is one object, such as {"score": 0.25, "label": 0}')
        return names

    def whole_header(self) -> tuple[str, ...]:
        """Return the keys of all rows; what comes through a pipe is kept in a file for that."""
        return tuple(self._all_kinds().kinds)

    def batches(self, resolved: ResolvedColumns) -> Iterator[pa.RecordBatch]:
        return (batch for _, batch in self.blocks_and_batches(resolved) if batch is not None)

    def schema(self, resolved: ResolvedColumns) -> pa.Schema:
        """Return every key of all rows, which takes a pass over them."""
        numbers, found = resolved.numbers, self._all_kinds()
        names = resolved.carries(found.kinds)
        found.refuse_empty(names, self.fragment.shown)
        kinds = ((name, found.kinds[name]) for name in names)
        return pa.schema(
            [
                pa.field(name, pa.float64() if name in numbers and not pa.types.is_nested(kind) else kind)
                for name, kind in kinds
            ]
        )

    def batches_of_all(self, resolved: ResolvedColumns) -> Iterator[pa.RecordBatch]:
        """Stream every key; objects, and lists of other things than numbers, as the text of their JSON."""
        whole = self.schema(resolved)
        parser = LineParser(
            whole.names,
            shown=self.fragment.shown,
            numbers=resolved.numbers,
            scores=resolved.own_scores,
            types=whole,
        )
        for block in self._blocks():
            for some in _cut(block, len(whole)):
                batch = parser.parse(some)
                if batch is not None:
                    yield batch

    def kinds(self) -> tuple[tuple[str, str], ...]:
        """Return every key of the first rows with its type."""
        rows = self._first_rows()
        words: dict[type, str] = {list: "list", dict: "object"}
        within = {n: words[type(one)] for row in rows for n, one in row.items() if type(one) in words}
        found = kinds_of(rows).items()
        return tuple((n, within.get(n, str(kind)) if kind == pa.string() else str(kind)) for n, kind in found)

    def whole_kinds(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, str(kind)) for name, kind in self._all_kinds().kinds.items())

    def rows_within(self) -> str | None:
        first = self._first_rows()[0]
        name, within = next(iter(first.items()), ("", None))
        rows = list(within.values()) if isinstance(within, dict) else within
        held = isinstance(rows, list) and bool(rows) and all(isinstance(one, dict) for one in rows)
        return name if held and len(first) == 1 else None

    def list_length(self, name: str) -> int | None:
        """Return how many numbers the first list of a column holds, among the first rows."""
        for row in self._first_rows():
            value = row.get(name)
            if isinstance(value, list):
                return len(value)
            if isinstance(value, dict) and isinstance(value.get("values"), list):
                size = value.get("size")
                return size if isinstance(size, int) else len(value["values"])
        return None

    def blocks_and_batches(self, resolved: ResolvedColumns) -> Iterator[tuple[bytes, pa.RecordBatch | None]]:
        """Stream whole lines of a fragment, each block with the chosen columns of its rows.

        The bytes are the file's own where more can be written beside them (`kept_bytes`), and else UTF-8.
        Joined, they are the file. The last line may lack its line end; blank lines may stand anywhere, and a
        block of nothing else has no batch.
        """
        kept = kept_bytes(self.fragment)
        parser = LineParser(
            resolved.stored,
            shown=self.fragment.shown,
            numbers=resolved.numbers,
            scores=resolved.own_scores,
            telling=[name for name in resolved.telling if name in resolved.stored],
        )
        for block in self._blocks(decoded=not kept):
            yield block, parser.parse(self._as_utf8(block) if kept else block)

    def _first_rows(self) -> list[Row]:
        """Return rows from the beginning, all of a short file, without losing anything of a pipe."""

        def rows(block: bytes) -> list[Row]:
            return list(rows_in(block, (), shown=self.fragment.shown))

        if self.fragment.pipe is not None and self.fragment.streams:
            head = self._as_utf8(self.fragment.pipe.first_lines())
        else:
            return next(filter(None, (rows(block) for block in self._blocks(size=_HEAD))), [])
        return rows(head)

    def _all_kinds(self) -> "_Keys":
        if self.fragment.pipe is not None:
            self.fragment.pipe.spooled()
        found = _Keys()
        quick = True
        for block in self._blocks():
            start = 0
            for some in _cut(block) if quick else ():
                rows = some.count(b"\n")
                # Objects may stand in one line, and that cannot be cut.
                wild = rows < 2 and some.count(b"{") * some.count(b":") > 8 * _CELLS
                kinds = None if wild or some.isspace() else quick_kinds(some)
                # Where most of a piece was empty, values are looked at one by one from here on.
                quick = kinds is None or rows * len(kinds) * _LEAST_QUICK <= max(
                    _CELLS >> 6, some.count(b":")
                )
                if kinds is None or not quick:
                    break
                found.add(kinds, rows=rows, values=dict.fromkeys(kinds, rows))
                found.beyond |= _beyond_floats(some, found.beyond)
                start += len(some)
            if rest := block[start:]:
                by_hand = list(rows_in(rest, (), shown=self.fragment.shown, rows_before=found.rows))
                values = Counter(chain.from_iterable(by_hand))
                found.add(kinds_of(by_hand), rows=len(by_hand), values=values)
                found.beyond |= _keys_beyond_floats(by_hand)
        for name in found.beyond & found.kinds.keys():
            # As text they stay what they are.
            if pa.types.is_float64(found.kinds[name]):
                found.kinds[name] = pa.string()
        return found

    def _blocks(self, *, decoded: bool = True, size: int | None = None) -> Iterator[bytes]:
        """Cut a file into whole lines, in blocks of about a size."""
        rest: list[bytes] = []
        with self._reported(), chunks_of(self.fragment, decoded=decoded) as read:
            while chunk := read(size or _BLOCK):
                cut = chunk.rfind(b"\n") + 1
                if cut:
                    yield b"".join([*rest, chunk[:cut]])
                    rest = []
                rest.append(chunk[cut:])
                if sum(map(len, rest)) > _LONGEST:
                    msg = f"{self.fragment.shown}: a line is longer than {_LONGEST >> 20} MiB"
                    raise InputProblem(msg, "is it JSON Lines, one object a line?")
            if last := b"".join(rest):
                yield last

    def _as_utf8(self, block: bytes) -> bytes:
        if self.fragment.encoding is None:
            return block
        with self._reported():
            return block.decode(self.fragment.encoding).encode()

    def _reported(self) -> AbstractContextManager[None]:
        shown = self.fragment.shown
        return text_problems(
            shown, lambda said: InputProblem(f"{shown} cannot be read: {first_words(said)}", DAMAGED)
        )


READER = JsonReader


@dataclass(slots=True)
class _Keys:
    """What is known of the keys of all rows.

    Args:
        kinds: Every key with the type that holds all its values.
        values: How many values each key has, or more.
        beyond: Keys with a number that as a float would be another one.
    """

    kinds: dict[str, pa.DataType] = field(default_factory=dict)
    rows: int = 0
    values: Counter[str] = field(default_factory=Counter)
    beyond: set[str] = field(default_factory=set)

    def add(self, kinds: dict[str, pa.DataType], *, rows: int, values: dict[str, int]) -> None:
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


def _keys_beyond_floats(rows: Iterable[object]) -> set[str]:
    """Return the keys with numbers that as floats would be other ones."""
    objects_alone = (row for row in rows if isinstance(row, dict))
    return {name for row in objects_alone for name, value in row.items() if is_beyond_floats(value)}


def _beyond_floats(block: bytes, known: Collection[str]) -> set[str]:
    """Return such keys of some lines, found without a look at every value, but for known ones."""
    found: set[str] = set()
    for one in _ANY_LONG.finditer(block):
        end = block.rfind(b'"', 0, one.start())
        key = block[block.rfind(b'"', 0, end) + 1 : end].decode(errors="replace")
        if key in known or key in found or not _is_beyond_floats(one[1].decode()):
            continue
        start, stop = block.rfind(b"\n", 0, one.start()) + 1, block.find(b"\n", one.end())
        try:
            # It may stand within a text.
            line = block[start : stop if stop >= 0 else None].decode()
            found |= _keys_beyond_floats(objects(line, lambda _: None))
        except (ValueError, RecursionError):
            found.add(key)
    return found


def _is_beyond_floats(text: str) -> bool:
    """Whether a text is a number that as a float would be another one."""
    try:
        value = float(text)
    except ValueError:
        return False
    # Most are not whole, and need no closer look.
    if math.isfinite(value) and not value.is_integer():
        return False
    return abs(value) >= _EXACT if text.lstrip("-").isdecimal() else is_beyond_floats(_float_of(text))


def _cut(block: bytes, keys: int | None = None) -> Iterator[bytes]:
    """Cut whole lines into pieces of which all rows times all keys are not too many to be held."""
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
