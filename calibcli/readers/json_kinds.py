"""What the values of JSON objects are, key by key: the type of the column that holds them all."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, cast

import pyarrow as pa

from calibcli.options.numerals import number_name, number_of

LIST = pa.list_(pa.float64())
VECTOR = pa.struct(
    [
        pa.field("type", pa.int8()),
        pa.field("size", pa.int32()),
        pa.field("indices", pa.list_(pa.int32())),
        pa.field("values", LIST),
    ]
)
_VECTOR = {"type", "size", "indices", "values"}
_LARGEST = 1 << 63
# Whole numbers below this are exact as floats.
_EXACT = 1 << 53
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Text that stands for no number, and for the numbers that JSON has no token for.
_MISSING = {"", "na", "n/a", "nan", "null", "none"}
_INFINITE = re.compile(r"([+-]?)inf(inity)?", re.IGNORECASE)
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
    if isinstance(value, list) and all(map(_is_number_or_none, value)):
        return LIST
    if isinstance(value, dict) and "values" in value and value.keys() <= _VECTOR:
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
    """
    Return a value as a column of some type has it.

    Args:
        value: What JSON gave.

        kind: The type of the column.

        nested: Whether lists and objects may become text.

    Raises:
        Unfit: If the column cannot hold it.
    """
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
    """Return what a value is, in a few words."""
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
    """
    Yield what stands in a text one after the other, whether or not in lines of its own.

    Args:
        text: Some whole lines.

        repeated: Told of a key that an object has twice.

    Raises:
        ValueError: If it is not JSON.
    """

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
    if text.casefold() in _MISSING:
        return None
    if _NUMBER.fullmatch(text) or _INFINITE.fullmatch(text):
        return float(text)
    raise Unfit(said(whole))
