"""What options take, as the commands declare them: for values that come from files and the environment."""

import math
from enum import StrEnum

from calibcli.errors import UsageProblem
from calibcli.options.declaring import Parameter, nearest

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")

Value = str | int | float | bool | list[str]


def value_of(text: str, kind: type) -> object:
    """Return what a text of the environment means, or the text where it cannot mean that."""
    if kind is bool:
        word = text.strip().lower()
        return word in _TRUE if word in (*_TRUE, *_FALSE) else text
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def typed(value: object, option: Parameter, *, place: str) -> Value:
    """Return a value if the option can take it."""
    if option.several:
        many = value if isinstance(value, list) else [value]
        return [str(_single(one, option, place)) for one in many]
    return _single(value, option, place)


def _single(value: object, option: Parameter, place: str) -> str | int | float | bool:
    kind = option.kind
    if issubclass(kind, StrEnum):
        if value not in list(kind):
            msg = f"{place}: is {_shown(value)}, should be one of {', '.join(kind)}"
            raise UsageProblem(msg, nearest(str(value), list(kind)))
        return str(value)
    truth = isinstance(value, bool)
    if kind is bool and truth:
        return bool(value)
    if kind is int and isinstance(value, int) and not truth:
        return value
    if kind is float and isinstance(value, int | float) and not truth:
        try:
            return float(value)
        except OverflowError:
            # A whole number beyond the largest float is infinite, as on the command line.
            return math.inf if value > 0 else -math.inf
    # A number is the name of a column, or a number of bins, as it is on the command line.
    if kind is str and isinstance(value, str | int) and not truth:
        return str(value)
    words = {bool: "true or false", int: "a whole number", float: "a number"}.get(
        kind, "a text or a whole number"
    )
    msg = f"{place}: is {_shown(value)}, should be {words}"
    several = f" or several of them in brackets: {option.key} = [...]" if option.several else ""
    raise UsageProblem(msg, f"--{option.key} takes {words}{several}")


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return repr(value) if not isinstance(value, bool) else str(value).lower()
