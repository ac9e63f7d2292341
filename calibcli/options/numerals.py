"""What a text is worth: which number it is, which texts are one name, and in which order values stand."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal

from calibcli.errors import UsageProblem
from calibcli.names import MISSING
from calibcli.values import dataclass

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,17})?")
_FIRST_OF_NUMBERS = frozenset("+-.0123456789")
# A number as most tools write it: the same text but for zeros at the end.
_USUAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*)?")
# Whole numbers with more digits than any double has stay in powers of ten.
MOST_DIGITS = 400
# What to do about numbers that are text in one place and numbers in another.
ALIKE = "write all values the same way: the text '7' is the number 7, but '7.0' and '007' are other values"


# A comma for the decimals of a number, and none of its points.
_SWAPPED = str.maketrans(",.", ".,")


def number_of(text: str, *, decimal: str = ".") -> Decimal | None:
    """Return the number that a text is, exactly, with a point or a comma for its decimals; None if it is none."""
    stripped = text.strip() if decimal == "." else text.strip().translate(_SWAPPED)
    return Decimal(stripped) if _NUMBER.fullmatch(stripped) else None


def without_thousands(text: str) -> str:
    """Return a text without the commas that part thousands, such as those of 1,024: elsewhere they stay."""
    whole = re.fullmatch(r"\s*-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?\s*", text, re.ASCII)
    return text.replace(",", "") if whole else text


def reads_as_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None


def is_whole(number: Decimal) -> bool:
    return number.is_finite() and number == number.to_integral_value()


def number_name(value: float | Decimal) -> str:
    """Return the name of a number: equal for equal numbers of any type, and for no others."""
    if isinstance(value, int) and value.bit_length() < MOST_DIGITS:
        return str(value)
    # A float stands for itself where it is whole, and else for the shortest number that reads as it.
    number = Decimal(value if isinstance(value, int | Decimal) or value.is_integer() else repr(value))
    if not number.is_finite():
        return str(value).lower().replace("infinity", "inf")
    sign, digits, _ = number.as_tuple()
    if not any(digits):
        return "0"
    power = number.adjusted()
    if is_whole(number) and power < MOST_DIGITS:
        return str(int(number))
    minus = "-" if sign else ""
    text = "".join(map(str, digits)).lstrip("0").rstrip("0")
    if not is_whole(number) and power >= -6:
        whole, part = (
            (text[: power + 1], text[power + 1 :]) if power >= 0 else ("0", "0" * (-power - 1) + text)
        )
        return f"{minus}{whole}.{part}"
    return f"{minus}{text[0]}{'.' if text[1:] else ''}{text[1:]}e{power:+d}"


def usual_name(text: str) -> str | None:
    """Return the name of the number that a text is where zeros at the end are all that may differ."""
    return number_name(Decimal(text)) if _USUAL.fullmatch(text) else None


@dataclass(frozen=True, slots=True)
class Spelling:
    """What could be taken for the same value in a column that is numbers in one place and text in another.

    Args:
        respelled: A text that is a number written otherwise than its name, or None.
        renamed: Whether values of such a type had other names in the first version of states.
    """

    numbers: bool = False
    text: bool = False
    respelled: str | None = None
    renamed: bool = False


def phrases_said(score_map: Mapping[str, float] | None) -> str:
    """Return the numbers of phrases in one text, as they are typed; none where there are none."""
    return ",".join(f"{phrase}={number!r}" for phrase, number in sorted((score_map or {}).items())) or "none"


def folded(name: str) -> str:
    """Return a name without regard to case, outer blanks and how its letters are composed."""
    # Letters of ASCII are composed of nothing, and a header may have a million of them.
    return name.strip().lower() if name.isascii() else composed(name.strip().casefold())


def composed(name: str) -> str:
    """Return a name whose letters are composed in one way."""
    return unicodedata.normalize("NFC", name)


def is_respelled(text: str) -> bool:
    """Whether a text is a number that is written otherwise than its name, such as 007, 1.0 or 1e3."""
    if text[:1] not in _FIRST_OF_NUMBERS:
        return False
    if text.isascii() and text.isdecimal():
        return text[0] == "0" and len(text) > 1
    number = number_of(text)
    return number is not None and number_name(number) != text


def in_full(value: float) -> str:
    """Return a number in as few digits as it has, six or more: a limit is never rounded."""
    text = f"{value:g}"
    return text if float(text) == value else repr(float(value))


def plural(number: int, noun: str, verb: str = "") -> str:
    """Return a count with its noun, and what it does: "1 row", "3 batches", "2 rows have"."""
    many = "es" if noun.endswith(("ch", "s")) else "s"
    counted = f"{number:,} {noun}{'' if number == 1 else many}"
    return f"{counted} {agreeing(number, verb)}" if verb else counted


def agreeing(number: int, verb: str) -> str:
    """Return a verb as it stands behind so many, from what it is behind one: "has", "lies"."""
    return verb if number == 1 else _OF_MANY.get(verb, verb.removesuffix("s"))


_OF_MANY = {"has": "have", "is": "are", "was": "were", "does": "do"}


def percent(share: float) -> str:
    """Return a confidence or an error probability in per cent, never rounded to 0 or 100."""
    value, text = 100.0 * share, _short_of_all(share, least=6)
    if "e" in text or len(text.partition(".")[2]) <= 2:
        return f"{text} %"
    # One decimal is enough, as long as what is missing to 0 or 100 stays within a twentieth of what it is.
    within = 0.05 * min(value, 100.0 - value)
    shorter = (f"{value:.{decimals}f}" for decimals in (1, 2, 3))
    return f"{next((short for short in shorter if abs(float(short) - value) <= within), text)} %"


def rough_percent(share: float) -> str:
    """Return a share in per cent, with two significant digits, or with as many more as tell it from all."""
    return f"{_short_of_all(share, least=2)} %"


def _short_of_all(share: float, *, least: int) -> str:
    """Return per cent in so many significant digits at least; a share below 1 is not rounded to 100."""
    value = 100.0 * share
    rounded = (float(f"{value:.{digits}g}") for digits in range(least, 18))
    return repr(next((one for one in rounded if one < 100.0 or share >= 1.0), value)).removesuffix(".0")


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = "(january|february|march|april|june|july|august|september|october|november|december|sept|{})\\.?"
_MONTH = _NAMES.format("|".join(_MONTHS))
_YEAR = r"(?P<year>(?:19|20)\d{2})"
_BETWEEN = r"[-/ ,.]{0,2}"
_DAY, _ANY_MONTH, _TIME = r"(?P<day>0?[1-9]|[12]\d|3[01])", r"(?P<month>0?[1-9]|1[0-2])", r"(?P<time>[t ].*)?"
# What a period may be written as, compiled where one is looked for: with a year, a part of it by its number or name, and a day and a time.
_PERIODS = (
    rf"{_YEAR}",
    rf"{_YEAR}[-/.]?(?P<month>0[1-9]|1[0-2])(?:[-/.]?(?P<day>[0-2]\d|3[01])(?P<time>[t ].*)?)?",
    rf"{_YEAR}[-/.](?P<month>0?[1-9]|1[0-2])(?:[-/.](?P<day>[0-2]?\d|3[01]))?",
    rf"{_YEAR}{_BETWEEN}q(?P<quarter>[1-4])",
    rf"q(?P<quarter>[1-4]){_BETWEEN}{_YEAR}",
    rf"{_YEAR}{_BETWEEN}[hs](?P<half>[12])",
    rf"[hs](?P<half>[12]){_BETWEEN}{_YEAR}",
    rf"{_YEAR}{_BETWEEN}w(?P<week>[0-5]?\d)",
    rf"w(?P<week>[0-5]?\d){_BETWEEN}{_YEAR}",
    rf"(?P<name>{_MONTH}){_BETWEEN}{_YEAR}",
    rf"{_YEAR}{_BETWEEN}(?P<name>{_MONTH})",
    rf"(?P<day>[0-2]?\d|3[01])\.?{_BETWEEN}(?P<name>{_MONTH}){_BETWEEN}{_YEAR}",
    rf"(?P<name>{_MONTH}){_BETWEEN}(?P<day>[0-2]?\d|3[01]){_BETWEEN}{_YEAR}",
    rf"{_DAY}\.{_ANY_MONTH}\.{_YEAR}{_TIME}",
    rf"{_ANY_MONTH}[-/.]{_YEAR}",
    # As spreadsheets shorten a month and its year.
    rf"(?P<name>{_MONTH})[-'](?P<short>\d{{2}})",
    rf"(?P<name>{_MONTH})",
)
# Of a day between strokes the others of a column say which number is its month.
_EITHER = tuple(
    rf"{one}(?P<stroke>[-/]){other}(?P=stroke){_YEAR}{_TIME}"
    for one, other in ((_DAY, _ANY_MONTH), (_ANY_MONTH, _DAY))
)

# Dates of which the letters are in the order of time: the year first, and every number in full.
_FULL_MONTH, _FULL_DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_CLOCK, _ZONE = r"[\d:.,]{0,20}", r"(?P<zone> ?(?:Z|z|UTC|[-+][\d:]{2,9}))?"
_IN_ORDER = rf"\d{{4}}(?:[-/. ]?(?:[QHS]\d|W\d\d|{_FULL_MONTH}(?:[-/.]?{_FULL_DAY}(?P<time>[T ]\d\d{_CLOCK}{_ZONE})?)?))?"
# The year last, and day and month in either order. Of two digits for the year 2.1.10 may be a version, and 20-10-12 a code.
_YEAR_LAST = (
    rf"(?:(?:{_DAY}[-/.]{_ANY_MONTH}|{_ANY_MONTH}[-/.]{_DAY})[-/.]\d{{4}}"
    rf"|(?:{_DAY}/{_ANY_MONTH}|{_ANY_MONTH}/{_DAY})/\d\d|{_FULL_DAY}\.{_FULL_MONTH}\.\d\d)(?:[T ,].*)?"
)
_UNNAMED = re.sub(r"\?P<\w+>", "", "|".join((_IN_ORDER, _YEAR_LAST, *_PERIODS)))
# A date in any form; a month alone may be any word.
_DATED = rf"(?=.*\d)(?:{_UNNAMED})"

Period = tuple[int, int, int, str]

_LAST: Period = (10_000, 0, 0, "")


def periods_of(names: Sequence[str]) -> dict[str, Period | None]:
    """Return where each period begins; None of what is none, and of days all of which could be of either month."""
    found = {name: _LAST if name == MISSING else period_of(name) for name in names}
    unclear = [name for name, period in found.items() if period is None]
    ways = [{name: period_of(name, (way,)) for name in unclear} for way in _EITHER]
    fitting = [way for way in ways if None not in way.values()]
    return found | fitting[0] if len(fitting) == 1 else found


def period_of(text: str, ways: Sequence[str] = _PERIODS) -> Period | None:
    """Return where a period begins, as year, month, day and time; None of what is none."""
    word = text.strip().casefold()
    found = next((match for one in ways if (match := re.fullmatch(one, word)) is not None), None)
    if found is None:
        return None
    parts = found.groupdict()
    number = {key: int(value) for key, value in parts.items() if value and value.isdecimal()}
    year, day = number.get("year", 2000 + number["short"] if "short" in number else 0), number.get("day", 0)
    if parts.get("name"):
        return year, 1 + _MONTHS.index(parts["name"][:3]), day, ""
    if "week" in number:
        # Weeks are in order among themselves, and stand beside the month that they mostly lie in.
        return year, 1 + min(11, max(0, 7 * number["week"] - 4) // 31), number["week"], ""
    month = number.get("month") or 3 * number.get("quarter", 1) - 2
    month = 6 * number["half"] - 5 if "half" in number else month
    return year, month if len(number) > 1 else 0, day, parts.get("time") or ""


def out_of_order(texts: Sequence[str], value: str) -> set[str]:
    """Return which texts have letters that are not in the order of time beside a value that is a date.

    These are other dates, and beside a date with the year first also words such as "unknown".
    """
    dated = re.compile(_DATED, re.IGNORECASE | re.ASCII).fullmatch
    if not dated(value):
        return set()
    found = re.fullmatch(_IN_ORDER, value, re.IGNORECASE | re.ASCII)
    if found is None:
        return {text for text in texts if dated(text)}
    # A text is written alike as far as both go; the same digits in another offset from UTC are another time.
    zone = found["zone"] or ""
    alike = re.escape(zone) or (_CLOCK + _ZONE if found["time"] else ".*")
    for part in reversed(re.findall(r"^\d{4}|\d\d|\d|\D", value.removesuffix(zone))):
        alike = rf"{re.sub('[0-9]', '[0-9]', re.escape(part))}(?:{alike})?"
    is_alike = re.compile(alike, re.DOTALL | re.ASCII).fullmatch
    return {text for text in texts if not is_alike(text) and (dated(text) or without_digits(text))}


def without_digits(text: str) -> bool:
    """Whether a text is words alone, and so no date."""
    return re.fullmatch(r"\D+", text) is not None


def by_time(names: Sequence[str]) -> list[str]:
    """Return periods in their order; refused where a name is none."""
    periods = periods_of(names)
    other = next((name for name, period in periods.items() if period is None), None)
    if other is not None:
        if any(re.fullmatch(way, other.strip().casefold()) for way in _EITHER):
            msg = f"{other!r}: no date of this column shows which of its numbers is the month"
            raise UsageProblem(msg, "write days like 2024-04-03, or sort by name")
        msg = f"{other!r} is no date, month, quarter, week or year"
        raise UsageProblem(
            msg, "sort by name, or write periods like 2024-07, 2024-Q3, Jul 2024 or 2024-07-31"
        )
    return sorted(names, key=lambda name: (periods[name] or _LAST, name))


def by_name(names: Sequence[str]) -> list[str]:
    """Return names in order: all numbers by their size, else text as text and whole numbers in it by theirs.

    Rows without a value come last.
    """
    numbers = {name: number_of(name) for name in names if name != MISSING}
    if None not in numbers.values():
        return sorted(names, key=lambda name: (name == MISSING, numbers.get(name) or Decimal(0), name))
    return sorted(names, key=lambda name: (name == MISSING, _by_parts(name), name))


def in_order(names: Sequence[str]) -> list[str]:
    """Return names as periods where all are some, else as `by_name` has them."""
    return by_time(names) if is_over_time(names) else by_name(names)


def is_over_time(names: Sequence[str]) -> bool:
    return None not in periods_of(names).values()


def has_own_order(names: Sequence[str]) -> bool:
    """Whether names differ in their numbers alone, as 18-25 and 26-40 do; AA and BBB, A1 and Baa2 do not."""
    texts = {tuple(re.findall(r"[^\W\d]+", name)) for name in names if name != MISSING}
    return len(texts) == 1 and all(re.search(r"\d", name) for name in names if name != MISSING)


def _by_parts(name: str) -> tuple[tuple[str, int], ...]:
    return tuple(
        (text, int(number) if number else 0) for text, number in re.findall(r"(\D*)(\d{0,300})", name)
    )
