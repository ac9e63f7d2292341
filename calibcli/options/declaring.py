"""
How an option is declared: as a field of a frozen dataclass that groups what belongs together.

Both doors are made from the fields. `parameters_of` lists what a group may be given, `built` makes the group of
the values of its parameters: a group with a class method `of` takes them as a door has them (texts and lists),
any other as its fields.
"""

import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields
from enum import StrEnum, unique
from functools import cache
from types import UnionType
from typing import Any, NamedTuple


@unique
class Reach(StrEnum):
    """
    What an option does beyond choosing what is read and how: a file that nobody named may not set it.

    It stands beside the option where that is declared; `READS` alone may be set, to a file of this machine.
    """

    WRITES = "says where to write"
    REPLACES = "lets a file be replaced"
    CONNECTS = "connects to other machines"
    TRUSTS = "says what is to be trusted"
    READS = "names a file to read"


COLUMNS, METRICS = "columns", "metrics"
"""What a value is completed from as it is typed: the header of the files on the line, or all measures."""


class Option(NamedTuple):
    """
    An option, or an argument where it has no flags.

    Args:
        flags: What stands on the command line, such as `-s` and `--score`.

        help: The sentence of `--help`.

        doc: The sentence of the Python functions; by default that of `--help`.

        name: Its name as a keyword, where the field is called otherwise.

        metavar: What `--help` shows for a value.

        least: The smallest number that it takes.

        most: The largest one.

        complete: What completes a value, `COLUMNS` or `METRICS`.

        reach: What it does beyond choosing what is read and how.

        shell: Its type on the command line, where that is not the type of the field.

        python: Its type in Python, in words, where that follows from neither.

        shown: What `--help` says of the default: the value, nothing, or a word in its place.
    """

    flags: tuple[str, ...]
    help: str = ""
    doc: str = ""
    name: str = ""
    metavar: str | None = None
    least: int | None = None
    most: int | None = None
    complete: str | None = None
    reach: Reach | None = None
    shell: Any = None
    python: str = ""
    shown: bool | str = True

    @property
    def key(self) -> str:
        """Its long flag without dashes; empty for an argument."""
        return next((flag[2:] for flag in self.flags if flag.startswith("--")), "")


class Parameter(NamedTuple):
    """
    An option of a command or function.

    Args:
        name: Its keyword.

        kind: The type of its field.

        default: Its default; `MISSING` where a value is needed.

        option: How it was declared.
    """

    name: str
    kind: Any
    default: object
    option: Option

    @property
    def shell(self) -> Any:  # noqa: ANN401 - a type, or a union of some
        """Its type on the command line."""
        return self.option.shell or self.kind

    @property
    def one(self) -> tuple[type, bool]:
        """The type of one value on the command line, and whether there may be several."""
        return _one(self.shell)

    @property
    def python(self) -> str:
        """Its type in Python, in words."""
        if self.option.python:
            return self.option.python
        one, several = self.one
        if several:
            return "Names | None"
        word = "str" if issubclass(one, StrEnum) else one.__name__
        return f"{word} | None" if type(None) in typing.get_args(self.shell) else word


def _one(kind: Any) -> tuple[type, bool]:  # noqa: ANN401 - a type, or a union of some
    inner = [one for one in typing.get_args(kind) if one is not type(None)]
    if isinstance(kind, UnionType):
        return _one(inner[0])
    return (inner[0], True) if typing.get_origin(kind) is list else (kind, False)


def option(default: object, *flags: str, like: Option | None = None, **more: Any) -> Any:  # noqa: ANN401
    """Return the field of an option of a group; several groups may have one like another."""
    declared = Option(flags, **more) if like is None else like._replace(**more)
    return field(default=default, metadata={"option": declared})


def nested(default: object = MISSING, *, made: Callable[[], object] | None = None) -> Any:  # noqa: ANN401
    """Return the field of a group within a group."""
    if made is not None:
        return field(default_factory=made, metadata={"group": True})
    return field(default=default, metadata={"group": True})


def is_group(kind: object) -> bool:
    """Whether a type is a group of options."""
    return isinstance(kind, type) and any(
        one.metadata.keys() & {"option", "group"}
        for one in getattr(kind, "__dataclass_fields__", {}).values()
    )


@cache
def parameters_of(kind: type) -> dict[str, Parameter]:
    """Return the parameters of a group and of those within it, by keyword."""
    found: dict[str, Parameter] = {}
    for one in fields(kind):
        declared = one.metadata.get("option")
        if declared is not None:
            name = declared.name or one.name
            found[name] = Parameter(name, one.type, one.default, declared)
        elif "group" in one.metadata:
            found |= parameters_of(_one(one.type)[0])
    return found


def built(kind: type, values: Mapping[str, object]) -> Any:  # noqa: ANN401 - of the kind
    """
    Return a group of the values of its parameters; those that are not there keep their defaults.

    Raises:
        UsageProblem: If the group refuses them.
    """
    own = {}
    for one in fields(kind):
        declared = one.metadata.get("option")
        name = one.name if declared is None else declared.name or one.name
        if declared is not None and name in values:
            own[one.name] = values[name]
        elif "group" in one.metadata:
            own[one.name] = built(_one(one.type)[0], values)
    return getattr(kind, "of", kind)(**own)
