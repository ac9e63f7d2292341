"""Conditions on columns, as `--where` takes them: a column, a sign, a value.

    condition = column sign value | column "in" value "," value ...
    column    = quoted | anything up to the first sign
    sign      = == | != | <= | >= | < | >
    value     = quoted | anything without quotes, commas, brackets and signs
    quoted    = "..." | '...', a quote inside written twice

A value in quotes is text; one without is a number if it reads as one. Nothing is ever evaluated.
"""

import re
from decimal import Decimal
from typing import NoReturn

from calibcli.errors import UsageProblem
from calibcli.names import Sign
from calibcli.options.numerals import number_of
from calibcli.values import dataclass

MOST_LETTERS = 10_000
_QUOTED = r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'"
_LEFT = re.compile(rf"\s*({_QUOTED}|[^\"'=!<>][^=!<>]*?)\s*(==|!=|<=|>=|<|>|\sin(?=[\s(\"']))", re.DOTALL)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^\"',()=!<>]+)\s*", re.DOTALL)
_QUOTE = "put a value with such letters into quotes: 'name==\"a, b\"'"
_QUOTE_COLUMN = "put a column with the word in into quotes: '\"days in bed\">=3'"
_EXAMPLES = "write it like 'country==DE', 'age>=30' or 'plan in basic,pro'"
_REPEAT = "write one condition per --where, and repeat --where for more"
_JOINED = re.compile(r"\s+(?:and|&&?)\s", re.IGNORECASE)
_LONE_EQUALS = r"[^=!<>]=[^=]"
_NULL = re.compile(r"\s+is\s+(?:not\s+)?null\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Literal:
    """A value of a condition; text where it is no number."""

    text: str
    number: Decimal | None

    def __str__(self) -> str:
        return self.text if self.number is not None else repr(self.text)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a row must satisfy: a column that compares with one value, or for `in` with any number of them."""

    column: str
    sign: Sign
    values: tuple[Literal, ...]
    text: str


def condition_of(text: str) -> Condition:
    if len(text) > MOST_LETTERS:
        _refuse(f"a condition of {len(text):,} letters")
    # Blanks at the beginning could be shared out between the parts of the pattern in very many ways.
    bare = text.strip()
    left = _LEFT.match(bare)
    if left is None:
        _refuse(f"--where {text!r} is no column with a sign such as == and a value", _way_out(bare))
    column, sign = left[1], Sign(left[2].strip())
    rest = bare[left.end() :]
    if sign is Sign.IN:
        rest = rest.strip()
        inside = rest[1:-1] if rest.startswith("(") and rest.endswith(")") else rest
        values = _values(inside, text)
    else:
        values = _values(rest, text)
        if len(values) > 1:
            _refuse(
                f"--where {text!r} has {len(values)} values",
                "of several values write COLUMN in A,B; a text with a comma stands in quotes, a number takes a point",
            )
    return Condition(_unquoted(column), sign, values, text)


def as_column(name: str) -> str:
    """Return how a condition names a column."""
    match = _LEFT.match(f"{name}==")
    plain = match is not None and match[1] == name and name[0] not in "\"'"
    return name if plain else '"{}"'.format(name.replace('"', '""'))


def _values(text: str, whole: str) -> tuple[Literal, ...]:
    """Read values parted by commas, of which there is at least one."""
    found: list[Literal] = []
    at = 0
    while True:
        value = _VALUE.match(text, at)
        if value is None or not value[1].strip():
            msg = f"--where {whole!r} lacks a value, or has a quote, comma, bracket or sign out of place"
            _refuse(msg, _quoting(whole))
        found.append(_literal(value[1]))
        at = value.end()
        if at == len(text):
            return tuple(found)
        if text[at] != ",":
            _refuse(f"--where {whole!r} has more text after a value: {text[at : at + 20]!r}", _quoting(whole))
        at += 1


def _literal(text: str) -> Literal:
    if text[0] in "\"'":
        return Literal(_unquoted(text), None)
    stripped = text.strip()
    return Literal(stripped, number_of(stripped))


def _unquoted(text: str) -> str:
    quote = text[0]
    return text[1:-1].replace(quote * 2, quote) if quote in "\"'" else text.strip()


def _quoting(text: str) -> str:
    """Return what to do about letters that end a value too soon."""
    bare = re.sub(_QUOTED, "''", text)
    if _JOINED.search(bare):
        return _REPEAT
    return _QUOTE_COLUMN if re.search(r"\sin\s.*[=!<>]", bare, re.DOTALL) else _QUOTE


def _way_out(text: str) -> str:
    """Return how to write what reads like a condition of SQL."""
    null = _NULL.search(text)
    if null is not None:
        column = text[: null.start()]
        return f"no condition selects rows without a value; {f'{column}!=-'!r} selects those that have one"
    doubled = re.sub(r"(?<![=!<>])=(?!=)", "==", text, count=1)
    parts = [f"write == for equal: {doubled!r}"] if re.search(_LONE_EQUALS, text) else []
    parts += [_REPEAT] if _JOINED.search(text) else []
    return "; ".join(parts) or _EXAMPLES


def _refuse(message: str, hint: str = _EXAMPLES) -> NoReturn:
    raise UsageProblem(message, hint)
