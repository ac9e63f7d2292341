"""How an option is declared: as a field of a frozen dataclass that groups what belongs together.

Both doors are made from the fields. `parameters_of` lists what a group may be given, `built` makes the
group of the values of its parameters: a group with a class method `of` takes them as a door has them (texts
and lists), any other as its fields. Groups have no `__repr__`: making it would cost every start a sixth of theirs.
"""

import difflib
import inspect
import typing
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import MISSING, field, fields
from enum import StrEnum, unique
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, NamedTuple, NoReturn

from calibcli.errors import UsageProblem
from calibcli.names import ClassMethod
from calibcli.options.numerals import in_full


@unique
class Reach(StrEnum):
    """What an option does beyond choosing what is read and how: a file that nobody named may not set it.

    It stands beside the option where that is declared; `READS` alone may be set, to a file of this machine.
    """

    WRITES = "chooses where to write"
    REPLACES = "lets a file be replaced"
    CONNECTS = "connects to other machines"
    TRUSTS = "decides what to trust"
    READS = "names a file to read"


@unique
class Section(StrEnum):
    """Where `--help` lists an option, in this order; the few that most people need stand before."""

    INPUT = "Input"
    COLUMNS = "Columns"
    MEASURE = "What to measure"
    FIT = "What to fit"
    GATE = "What to judge"
    BINS = "Bins"
    GROUPS = "Groups"
    CLASSES = "Several classes"
    PICTURE = "Picture"
    OUTPUT = "Output"
    ENGINES = "Cluster engines"
    ADVANCED = "Advanced"


COLUMNS, METRICS = "columns", "metrics"
"""What a value is completed from as it is typed: the header of the files on the line, or all measures."""


class Option(NamedTuple):
    """An option, or an argument where it has no flags.

    Args:
        flags: What stands on the command line, such as `-s` and `--score`.
        doc: The sentence of the Python functions; by default that of `--help`.
        name: Its name as a keyword, where the field is called otherwise.
        complete: What completes a value, `COLUMNS` or `METRICS`.
        reach: What it does beyond choosing what is read and how.
        shell: Its type on the command line, where that is not the type of the field.
        python: Its type in Python, in words, where that follows from neither.
        shown: What `--help` says of the default: the value, nothing, or a word in its place.
        needed: Whether there must be a value, whatever default the field has.
        section: Where `--help` lists it.
        run: The options that it stands with in an order, where these are not all of its group.
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
    needed: bool = False
    section: Section = Section.ADVANCED
    run: str = ""

    @property
    def key(self) -> str:
        """Its name on the command line, without dashes; empty where it has none."""
        return next((flag[2:] for flag in self.flags if flag.startswith("--")), "")


class Parameter(NamedTuple):
    """An option or argument of a command or function.

    Args:
        default: That of its field; `MISSING` where a value is needed.
        group: What the group is called whose field it is.
        otherwise: What it is in commands that have it otherwise, by their names.
    """

    name: str
    annotation: Any
    default: Any
    option: Option
    group: str = ""
    otherwise: Mapping[str, Option] = MappingProxyType({})

    @property
    def key(self) -> str:
        return self.option.key

    @property
    def shell(self) -> Any:  # noqa: ANN401 - a type, or a union of some
        return self.option.shell or self.annotation

    @property
    def kind(self) -> type:
        """The type of one value on the command line."""
        return _one(self.shell)[0]

    @property
    def several(self) -> bool:
        return _one(self.shell)[1]

    @property
    def reach(self) -> Reach | None:
        return self.option.reach

    @property
    def unsaid(self) -> Any:  # noqa: ANN401
        """What both doors have where nothing was said; `MISSING` where something must be."""
        if self.option.needed:
            return MISSING
        return None if type(None) in typing.get_args(self.option.shell) else self.default

    @property
    def python(self) -> str:
        if self.option.python:
            return self.option.python
        if self.several:
            return "Names | None"
        word = "str" if issubclass(self.kind, StrEnum) else self.kind.__name__
        return f"{word} | None" if type(None) in typing.get_args(self.shell) else word


def is_share(number: float) -> bool:
    return 0.0 < number < 1.0


def refuse_number(option: str, value: float, fits: Callable[[float], bool], takes: str) -> NoReturn:
    """Refuse a number that is out of range, with what was meant where that was a percentage."""
    meant = value / 100.0
    hint = f"did you mean {meant:.10g}?" if fits(meant) else f"{option} takes {takes}"
    msg = f"{option} {in_full(value)} is out of range"
    raise UsageProblem(msg, hint)


_DIRICHLET = "dirichlet"


def said_otherwise(option: str, word: str) -> str | None:
    """Return how to ask for what a refused word of an option means, where another option does; else None."""
    if option == "kind" and word.startswith("attribute"):
        return "the attributes diagram is --attributes, beside --kind binned"
    wanted = ClassMethod.MATRIX.value if word == _DIRICHLET else word
    if option == "method" and wanted in set(ClassMethod):
        return f"of several classes it is --multiclass {wanted}, beside --probs"
    if option == "multiclass" and word == _DIRICHLET:
        return f"Dirichlet calibration is --multiclass {wanted}"
    return None


def nearest(word: str, known: Iterable[str], *, all_by: str = "") -> str:
    """Return a hint: the known names closest to a word, three at most, and what lists all; few are listed."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    if near:
        *first, last = near
        meant = f"did you mean {', '.join(first)}{' or ' * bool(first)}{last}?"
        return f"{meant} {all_by} lists all" if all_by else meant
    if len(names) <= FEW_NAMES or not all_by:
        return f"one of {', '.join(names)}"
    return f"the nearest are {', '.join(difflib.get_close_matches(word, names, n=3, cutoff=0.0))}; {all_by} lists all"


# So many names are read at a glance.
FEW_NAMES = 15


def _one(kind: Any) -> tuple[type, bool]:  # noqa: ANN401 - a type, or a union of some
    inner = [one for one in typing.get_args(kind) if one is not type(None)]
    if isinstance(kind, UnionType):
        return _one(inner[0])
    return (inner[0], True) if typing.get_origin(kind) is list else (kind, False)


def option(
    default: object,
    *flags: str,
    like: Option | None = None,
    otherwise: Mapping[str, Option] = MappingProxyType({}),
    **more: Any,  # noqa: ANN401 - the other fields
) -> Any:  # noqa: ANN401
    """Return the field of an option of a group; several groups may have one like another.

    `otherwise` says, by their names, what it is in commands and functions that have it otherwise.
    """
    declared = Option(flags, **more) if like is None else like._replace(**more)
    return field(default=default, metadata={"option": declared, "otherwise": otherwise})


def nested(default: object, kind: type, made: Callable[[Any], object] | None = None) -> Any:  # noqa: ANN401
    """Return the field of a group within a group, or of what is made of one."""
    return field(default=default, metadata={"group": kind, "made": made})


def is_group(kind: object) -> bool:
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
            group = declared.run or kind.__name__
            found[name] = Parameter(name, one.type, one.default, declared, group, one.metadata["otherwise"])
        elif "group" in one.metadata:
            found |= parameters_of(one.metadata["group"])
    return found


def options_given(group: object) -> tuple[str, ...]:
    """Return the options of a group, and of those within it, that have not their defaults, without dashes."""
    found: list[str] = []
    for one in fields(group):  # type: ignore[arg-type]
        value, declared = getattr(group, one.name), one.metadata.get("option")
        if declared is not None and value != one.default:
            found.append(declared.key or declared.name)
        elif "group" in one.metadata and is_group(type(value)):
            found += options_given(value)
    return tuple(found)


# In an order, those before it are the few that most people need.
MOST_NEEDED = "|"


def in_order(order: str, known: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Return the options of an order by name; `*Group` are those of a group that are not named in it."""
    words = order.replace(MOST_NEEDED, " ").split()
    found: dict[str, Parameter] = {}
    for word in words:
        run = {name: one for name, one in known.items() if f"*{one.group}" == word} or {word: known[word]}
        found |= {name: one for name, one in run.items() if name == word or name not in words}
    return found


def built(kind: type, values: Mapping[str, object], *, apart: Container[type] = ()) -> Any:  # noqa: ANN401
    """Return a group of the values of its parameters; those that are not there keep their defaults."""
    own = {}
    for one in fields(kind):
        declared, inner = one.metadata.get("option"), one.metadata.get("group")
        name = one.name if declared is None else declared.name or one.name
        if declared is not None and name in values:
            # Groups that share an option may have defaults of their own, and then its own is none.
            if values[name] is not None or one.default in (None, MISSING):
                own[one.name] = values[name]
        elif inner is not None and inner not in apart:
            found, made = built(inner, values, apart=apart), one.metadata["made"]
            own[one.name] = found if made is None else made(found)
    return getattr(kind, "of", kind)(**own)


class Declared(NamedTuple):
    """What a function is given.

    Args:
        groups: Its parameters that are groups, by name.
        single: Its parameters that are options or arguments by themselves.
        known: Every option of the groups, and those by themselves, by keyword.
    """

    groups: dict[str, type]
    single: dict[str, Parameter]
    known: dict[str, Parameter]

    def made_of(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Return these, made of options; what a function takes by itself is not given to its groups."""
        own = {name: given[name] for name in self.single if name in given}
        shared, apart = {name: one for name, one in given.items() if name not in own}, self.groups.values()
        return own | {name: built(kind, shared, apart=apart) for name, kind in self.groups.items()}


def declared_of(function: Callable[..., object]) -> Declared:
    """Return what a function is given, by its annotations; options are those of commands of its name."""
    groups: dict[str, type] = {}
    single: dict[str, Parameter] = {}
    known: dict[str, Parameter] = {}
    for name, one in inspect.signature(function).parameters.items():
        kind, *said = typing.get_args(one.annotation) or (one.annotation,)
        declared = next((part for part in said if isinstance(part, Option)), None)
        if is_group(kind):
            groups[name] = kind
            known |= parameters_of(kind)
        elif declared is not None:
            default = MISSING if one.default is one.empty else one.default
            single[name] = Parameter(name, kind, default, declared)
    own = {
        name: one._replace(option=one.otherwise.get(function.__name__, one.option))
        for name, one in known.items()
    }
    return Declared(groups, single, own | single)
