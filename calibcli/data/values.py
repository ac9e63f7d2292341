"""When two values are equal: the one rule for labels, ids, groups, clusters and conditions, in every format.

Every value has a name, and two values are equal where their names are. Text is its own name, without the
blanks around it. The name of a number is its exact value in digits, whatever the type: 1 of an integer, of a
float or of a decimal 1.00. A float that is not whole stands for the shortest decimal that reads back as it in
double precision, as every tool writes it. What a user types beside a column of numbers or dates is read as
the type of the column.
"""

import operator
import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from decimal import ROUND_FLOOR, Decimal
from typing import Any, TypeAlias, cast
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.data import arrays
from calibcli.data.arrays import Column
from calibcli.names import Sign
from calibcli.options.numerals import is_whole, number_name, number_of
from calibcli.stats.numerics import Booleans, Floats

_DAY = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_CLOCK = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,12})?)?"
_MOMENT = rf"{_DAY}(?:[T ]{_CLOCK} ?(Z|[+-][0-9]{{2}}(?::?[0-9]{{2}})?)?)?"
_SECONDS = r"([+-]?[0-9]+(?:\.[0-9]+)?) ?s"
# No column of whole numbers or decimals holds a number of so many digits.
_BEYOND = 100
_EXACT = 1 << 53
_POWERS_FROM = 1e10
_TICKS = {"s": 0, "ms": -3, "us": -6, "ns": -9}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Seconds: TypeAlias = Callable[[re.Match[str], str | None], Decimal]
Compare: TypeAlias = Callable[[Sign, Any], Booleans]
OPERATORS: dict[Sign, Callable[[Any, Any], Any]] = {
    Sign.EQUAL: operator.eq,
    Sign.UNEQUAL: operator.ne,
    Sign.AT_MOST: operator.le,
    Sign.AT_LEAST: operator.ge,
    Sign.BELOW: operator.lt,
    Sign.ABOVE: operator.gt,
}


def names_of(column: Column) -> Column:  # noqa: PLR0911 - one return a type
    """Return the name of every value of a column as large strings; null where it is missing, NaN included.

    Blanks around text are left as they are: who compares names strips them.
    """
    of_uuids = isinstance(column.type, pa.UuidType)
    column = arrays.plain(column)
    kind = column.type
    if pa.types.is_floating(kind):
        return _names_of_floats(column)
    if pa.types.is_decimal(kind):
        return _names_of_decimals(column)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return _names_of_moments(column)
    if pa.types.is_duration(kind):
        seconds = _TICKS[kind.unit]
        counts = column.view(pa.int64())
        return _named(counts, lambda one: f"{number_name(_shifted(one, seconds))}s")
    if of_uuids:
        return _named(column, lambda one: str(UUID(bytes=one)))
    if pa.types.is_fixed_size_binary(kind):
        return _named(column, bytes.hex)
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:
        if not arrays.is_text(kind):
            raise
    # Bytes that are no text are named by their digits, each for itself, whatever stands beside it.
    return _named(column, _of_bytes)


def _of_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()


def _named(column: Column, name: Callable[[Any], str]) -> Column:
    return arrays.some_texts([None if one is None else name(one) for one in column.to_pylist()])


def _names_of_floats(column: Column) -> Column:
    if not pa.types.is_float64(column.type):
        column = column.cast(pa.float64())
    values = cast("Floats", np.from_dlpack(arrays.without_nulls(column)))
    missing = arrays.nulls(column)
    gone = np.isnan(values)
    if missing is not None:
        gone |= missing
    if gone.any():
        values = np.where(gone, 0.0, values)
    size = np.abs(values)
    if (size < _EXACT).all() and (values == np.rint(values)).all():
        names = arrays.numbers(values.astype(np.int64), pa.int64()).cast(pa.large_string())
    else:
        names = arrays.numbers(values, pa.float64()).cast(pa.large_string())
        # Where pyarrow writes a power of ten, or a zero with a sign.
        odd = np.flatnonzero((size >= _POWERS_FROM) | ((values == 0.0) & np.signbit(values)))
        if odd.size:
            named = names.to_pylist()
            for place in odd.tolist():
                named[place] = number_name(float(values[place]))
            names = arrays.some_texts(named)
    return arrays.without(names, gone)


def _names_of_decimals(column: Column) -> Column:
    """Return digits without zeros at the end, of which a column has as many as its type says."""
    names = arrays.wide_decimals(column).cast(pa.large_string())
    letters = np.frombuffer(memoryview(names.buffers()[2] or b""), np.uint8)
    if column.type.scale > 0 and not (letters == ord("E")).any():
        import pyarrow.compute as pc

        return cast("Column", pc.utf8_rtrim(pc.utf8_rtrim(names, "0"), "."))
    return _named(names, lambda one: number_name(Decimal(one)))


def _names_of_moments(column: Column) -> Column:
    """Return times without zeros at the end of the second, whatever the unit; those with a zone in UTC."""
    kind = column.type
    zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    names = (column.view(pa.timestamp(kind.unit)) if zoned else column).cast(pa.large_string())
    if kind.unit == "s" and not zoned:
        return names
    import pyarrow.compute as pc

    compute = cast("Any", pc)
    if kind.unit != "s":
        names = compute.utf8_rtrim(compute.utf8_rtrim(names, "0"), ".")
    if zoned:
        names = compute.binary_join_element_wise(names, *arrays.some_texts(["Z", ""]))
    return cast("Column", names)


class Unreadable(ValueError):
    """A text that is no value of the column beside which it stands; the argument says what to write."""


def compared(column: Column, sign: Sign, text: str) -> Booleans:
    """Return which values of a column of numbers, dates, times or UUIDs compare so with a value, shape (n,).

    What stands where a value is missing means nothing, except that NaN never satisfies anything.
    """
    kind = column.type
    sign = Sign.EQUAL if sign is Sign.IN else sign
    if isinstance(kind, pa.UuidType):
        return _uuids_compared(column, sign, text)
    if pa.types.is_floating(kind):
        return _floats_compared(column, sign, text)
    if pa.types.is_decimal(kind):
        return _decimals_compared(column, sign, _number_in(text))
    if pa.types.is_integer(kind):
        return _whole_compared(_values(column), sign, _number_in(text))
    units, ticks = _ticks_in(text, kind)
    return _whole_compared(_values(column.view(units)), sign, ticks)


def equals(column: Column, text: str) -> Booleans:
    """Return which values a text is, read as their type: none of them where it is no value of it."""
    try:
        return compared(column, Sign.EQUAL, text)
    except Unreadable:
        return np.zeros(len(column), np.bool_)


def can_be_compared(kind: pa.DataType) -> bool:
    """Whether a column type holds values that are read from text by `compared`."""
    test = pa.types
    numbers = test.is_integer(kind) or test.is_floating(kind) or test.is_decimal(kind)
    times = test.is_date(kind) or test.is_time(kind) or test.is_timestamp(kind) or test.is_duration(kind)
    return numbers or times or isinstance(kind, pa.UuidType)


def in_double(values: "npt.NDArray[Any]") -> "Floats":
    """Return long doubles as doubles."""
    doubles = values.astype(np.float64)
    rounded = (np.abs(doubles) >= _EXACT) & (doubles.astype(values.dtype) != values) & ~np.isnan(doubles)
    if rounded.any():
        msg = (
            "it holds whole numbers in long double precision that no double is: save them as integers or text"
        )
        raise ValueError(msg)
    return doubles


def _values(column: Column) -> "npt.NDArray[Any]":
    return np.asarray(np.from_dlpack(arrays.without_nulls(column)))


def _number_in(text: str) -> Decimal:
    number = number_of(text)
    if number is None:
        msg = "a number, without quotes"
        raise Unreadable(msg)
    return number


def _shifted(value: int | Decimal, power: int) -> Decimal:
    """Return a number times a power of ten, exactly."""
    sign, digits, exponent = Decimal(value).as_tuple()
    return Decimal((sign, digits, int(exponent) + power))


def _around(number: Decimal) -> tuple[int, int]:
    """Return the nearest whole numbers, not above and not below; of a giant, one that no column holds."""
    if number and number.adjusted() > _BEYOND:
        number = Decimal(10**_BEYOND).copy_sign(number)
    below = int(number.to_integral_value(ROUND_FLOOR))
    return below, below if below == number else below + 1


def _exactly(compare: Compare, sign: Sign, around: tuple[Any, Any], *, size: int) -> Booleans:
    """Compare values of a kind with a number that need not be one of the kind."""
    below, above = around
    if below == above:
        return compare(sign, below)
    if sign in (Sign.EQUAL, Sign.UNEQUAL):
        return np.full(size, sign is Sign.UNEQUAL)
    upward = sign in (Sign.ABOVE, Sign.AT_LEAST)
    return compare(Sign.AT_LEAST, above) if upward else compare(Sign.AT_MOST, below)


def _comparing(values: "npt.NDArray[Any]") -> Compare:
    return lambda sign, value: np.asarray(OPERATORS[sign](values, value))


def _whole_compared(values: "npt.NDArray[Any]", sign: Sign, number: Decimal) -> Booleans:
    return _exactly(_comparing(values), sign, _around(number), size=values.size)


def _decimals_compared(column: Column, sign: Sign, number: Decimal) -> Booleans:
    """Compare decimals as the whole numbers that they are made of."""
    kind, count = column.type, len(column)
    shifted, width = _shifted(number, kind.scale), kind.bit_width // 8
    content = arrays.decimal_bytes(column)
    if width <= 8:
        return _whole_compared(np.frombuffer(content, f"<i{width}"), sign, shifted)
    words = np.frombuffer(content, "<u8").reshape(count, width // 8)

    def compare(sign: Sign, value: int) -> Booleans:
        less, equal = _ordered(words, value)
        return {
            Sign.EQUAL: equal,
            Sign.UNEQUAL: ~equal,
            Sign.BELOW: less,
            Sign.AT_MOST: less | equal,
            Sign.ABOVE: ~(less | equal),
        }.get(sign, ~less)

    return _exactly(compare, sign, _around(shifted), size=count)


def _ordered(words: "npt.NDArray[np.uint64]", number: int) -> tuple[Booleans, Booleans]:
    """Return which whole numbers are below a number, and which are equal to it."""
    count = words.shape[1]
    less, equal = np.zeros(len(words), np.bool_), np.ones(len(words), np.bool_)
    if not -(1 << (64 * count - 1)) <= number < 1 << (64 * count - 1):
        return (equal, less) if number > 0 else (less, less)
    for place in reversed(range(count)):
        column: npt.NDArray[Any] = words[:, place]
        word = (number >> (64 * place)) & ((1 << 64) - 1)
        if place == count - 1:
            column = column.view(np.int64) if column.flags.c_contiguous else column.copy().view(np.int64)
            word -= (word >> 63) << 64
        less |= equal & (column < word)
        equal &= column == word
    return less, equal


def _floats_compared(column: Column, sign: Sign, text: str) -> Booleans:
    """Compare floats with the float of their own width that a number reads as.

    A whole number is compared exactly instead, and none that is not whole reads as one that is: 2^53 + 1 is
    no double, and 0.99999999999999999999 is not 1.
    """
    number = _number_in(text)
    values = _values(column)
    with np.errstate(over="ignore"):
        read = values.dtype.type(float(number))
    nearest = Decimal(float(read))
    around = read, read
    if nearest != number and (is_whole(number) or is_whole(nearest) or not nearest.is_finite()):
        around = (
            (read, np.nextafter(read, np.inf)) if nearest < number else (np.nextafter(read, -np.inf), read)
        )
    found = _exactly(_comparing(values), sign, around, size=values.size)
    return found & ~np.isnan(values) if sign is Sign.UNEQUAL else found


def _uuids_compared(column: Column, sign: Sign, text: str) -> Booleans:
    try:
        wanted = str(UUID(text.strip()))
    except ValueError:
        msg = "a UUID such as 123e4567-e89b-12d3-a456-426614174000"
        raise Unreadable(msg) from None
    found = [one is not None and bool(OPERATORS[sign](one, wanted)) for one in names_of(column).to_pylist()]
    return np.array(found, np.bool_)


def _ticks_in(text: str, kind: Any) -> tuple[pa.DataType, Decimal]:  # noqa: ANN401 - a type of dates or times
    words = f"a time such as '2024-05-01 12:30:00{'' if getattr(kind, 'tz', None) is None else '+02:00'}'"
    pattern, seconds = _MOMENT, cast("Seconds", _moment)
    if pa.types.is_date(kind):
        words, pattern, seconds = "a date such as 2024-05-01", _DAY, _moment
    elif pa.types.is_time(kind):
        words, pattern, seconds = "a time such as 12:30:00", _CLOCK, _clock
    elif pa.types.is_duration(kind):
        words, pattern, seconds = "seconds such as 90s", _SECONDS, _length
    found = re.fullmatch(pattern, text.strip())
    try:
        if found is None:
            raise Unreadable(words)
        exact = seconds(found, getattr(kind, "tz", None))
    except (ValueError, OverflowError, KeyError, OSError):
        raise Unreadable(words) from None
    if pa.types.is_date32(kind):
        return pa.int32(), exact / 86_400
    power = 3 if pa.types.is_date(kind) else -_TICKS[kind.unit]
    return pa.int32() if pa.types.is_time32(kind) else pa.int64(), _shifted(exact, power)


def _clock(found: re.Match[str], _: str | None) -> Decimal:
    """Return the seconds of a day that a time is, exactly."""
    hours, minutes, seconds, part = found.groups()
    at = time(int(hours), int(minutes), int(seconds or 0))
    return Decimal(at.hour * 3600 + at.minute * 60 + at.second) + Decimal(part or 0)


def _length(found: re.Match[str], _: str | None) -> Decimal:
    return Decimal(found[1])


def _moment(found: re.Match[str], zone: str | None) -> Decimal:
    """Return the seconds since 1970 that a date or time is; one without an offset is in the column's zone."""
    year, month, day, *clock = found.groups()
    hours, minutes, seconds, part, offset = clock or (None,) * 5
    if offset is not None and zone is None:
        msg = "the column has no zone"
        raise ValueError(msg)
    of_zone = UTC if zone is None else _offset(offset or zone)
    at = datetime(
        int(year), int(month), int(day), int(hours or 0), int(minutes or 0), int(seconds or 0), tzinfo=of_zone
    )
    return Decimal((at - _EPOCH) // timedelta(seconds=1)) + Decimal(part or 0)


def _offset(zone: str) -> tzinfo:
    found = re.fullmatch(r"([+-])([0-9]{2}):?([0-9]{2})?", zone)
    if found is not None:
        length = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        return timezone(length if found[1] == "+" else -length)
    if zone in ("Z", "UTC"):
        return UTC
    from zoneinfo import ZoneInfo

    return ZoneInfo(zone)
