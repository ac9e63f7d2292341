"""Numbers as text: what number a text is, exactly, and the one name of every number whatever its type."""

import re
from collections.abc import Mapping
from decimal import Decimal

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


def is_whole(number: Decimal) -> bool:
    """Whether a number is whole, however large it is."""
    return number.is_finite() and number == number.to_integral_value()


def number_name(value: float | Decimal) -> str:
    """Return the name of a number: equal for equal numbers of any type, and for no others."""
    if isinstance(value, int) and value.bit_length() < MOST_DIGITS:
        return str(value)
    number = Decimal(value) if isinstance(value, int | Decimal) else _of_float(value)
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
    """
    What could be taken for the same value in a column that is numbers in one place and text in another.

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


def is_respelled(text: str) -> bool:
    """Whether a text is a number that is written otherwise than its name, such as 007, 1.0 or 1e3."""
    if text[:1] not in _FIRST_OF_NUMBERS:
        return False
    if text.isascii() and text.isdecimal():
        return text[0] == "0" and len(text) > 1
    number = number_of(text)
    return number is not None and number_name(number) != text


def _of_float(value: float) -> Decimal:
    """Return the number that a float stands for: itself where it is whole, and else the shortest."""
    return Decimal(value) if value.is_integer() else Decimal(repr(value))


def in_full(value: float) -> str:
    """Return a number in as few digits as it has, six or more: a limit is never rounded."""
    text = f"{value:g}"
    return text if float(text) == value else repr(float(value))


def percent(share: float) -> str:
    """Return a confidence or an error probability in per cent, never rounded to 0 or 100."""
    value = 100.0 * share
    text = f"{value:.6g}"
    if "e" in text or len(text.partition(".")[2]) <= 2:
        return f"{text} %"
    # One decimal is enough, as long as what is missing to 0 or 100 stays within a twentieth of what it is.
    within = 0.05 * min(value, 100.0 - value)
    shorter = (f"{value:.{decimals}f}" for decimals in (1, 2, 3))
    return f"{next((short for short in shorter if abs(float(short) - value) <= within), text)} %"
