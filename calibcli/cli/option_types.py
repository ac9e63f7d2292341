"""What options take, as the commands declare them: for values that come from files and the environment."""

import difflib
import math
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from typer.models import OptionInfo

from calibcli.errors import UsageProblem
from calibcli.options.declaring import Reach

# What the program looks for before a command has its options.
_ON_THE_LINE_ONLY = ("--debug",)
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")

Command = Callable[..., object]
Value = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class Option:
    """
    An option that may have a default from outside.

    Args:
        key: Its name without dashes, such as "max-ece".

        parameter: The parameter of the command that takes it.

        kind: What a value is.

        several: Whether it may be repeated.

        reach: What it does beyond choosing what is read and how, or None.
    """

    key: str
    parameter: str
    kind: type
    several: bool
    reach: Reach | None = None


def options_of(command: Command) -> dict[str, Option]:
    """Return the options of a command that may have a default from outside, by key."""
    found = {}
    for parameter, annotation in typing.get_type_hints(command, include_extras=True).items():
        said = getattr(annotation, "__metadata__", ())
        marks = [one for one in said if isinstance(one, OptionInfo)]
        # In an annotation the framework counts what stands in the place of the default among the names.
        names = [name for one in marks for name in (one.default, *(one.param_decls or ()))]
        long = [name for name in names if isinstance(name, str) and name.startswith("--")]
        if long and long[0] not in _ON_THE_LINE_ONLY:
            kind, several = _kind(typing.get_args(annotation)[0])
            reach = next((one for one in said if isinstance(one, Reach)), None)
            found[long[0][2:]] = Option(long[0][2:], parameter, kind, several, reach)
    return found


def _kind(annotation: object) -> tuple[type, bool]:
    """Return the type of one value of an option, and whether there may be several."""
    inner = [one for one in typing.get_args(annotation) if one is not type(None)]
    if isinstance(annotation, types.UnionType):
        return _kind(inner[0])
    if typing.get_origin(annotation) is list:
        return inner[0], True
    return typing.cast("type", annotation), False


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


def typed(value: object, option: Option, *, place: str) -> Value:
    """
    Return a value if the option can take it.

    Args:
        value: As the file or the environment has it.

        option: The option.

        place: The file and the key, or the variable, for messages.

    Raises:
        UsageProblem: If it cannot, with the place.
    """
    if option.several:
        many = value if isinstance(value, list) else [value]
        return [str(_single(one, option, place)) for one in many]
    return _single(value, option, place)


def _single(value: object, option: Option, place: str) -> str | int | float | bool:
    kind = option.kind
    if issubclass(kind, StrEnum):
        if value not in list(kind):
            msg = f"{place}: is {_shown(value)}, should be one of {', '.join(kind)}"
            raise UsageProblem(msg, closest(str(value), list(kind)))
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


def closest(word: str, known: Iterable[str]) -> str:
    """Return a hint: the known name that is closest to a word, or all of them."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"one of {', '.join(names)}"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return repr(value) if not isinstance(value, bool) else str(value).lower()
