"""What a call was given, arrays or a frame or paths, as the inputs and columns that commands take."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
import pyarrow as pa

from calibcli.data.files import ArrowColumn
from calibcli.data.score_words import score_map_of
from calibcli.errors import UsageProblem
from calibcli.names import EngineName
from calibcli.options.declaring import parameters_of, said_otherwise
from calibcli.options.numerals import number_name
from calibcli.options.rows import DocumentInMemory, InputFormat, RowsInMemory, RowSource, as_one
from calibcli.python import frames
from calibcli.values import dataclass, field

if TYPE_CHECKING:
    import numpy.typing as npt

    from calibcli.python.frames import Values

ARRAYS = "arrays"

Inputs: TypeAlias = tuple[RowSource, ...]
"""The rows of a call as a command takes them: paths, or what is in memory."""


@dataclass(slots=True)
class ColumnCollector:
    """Columns by name, all of one length.

    Args:
        names_are_columns: Whether a text names a column, as it does beside a frame or files.
        rows: How many there are; None before the first column.
        first: The first rows that may have an index, by what they are.
        nameless: Columns that are called by what they are.
        two_kinds: Whether there are other rows too, so that no further values can stand beside both.
    """

    names_are_columns: bool = True
    name: str = ARRAYS
    rows: int | None = None
    columns: dict[str, Callable[[], ArrowColumn]] = field(default_factory=dict)
    first: dict[str, object] = field(default_factory=dict)
    nameless: set[str] = field(default_factory=set)
    two_kinds: bool = False

    def take_frame(self, frame: object) -> None:
        """Take all columns of a frame; those that are never read cost nothing."""
        self._align(frame, frames.FRAME)
        self.name, self.rows = frames.FRAME, frames.rows_of_frame(frame)
        self.columns = frames.columns_of_frame(frame)

    def take_lists(self, rows: object) -> str | None:
        """Take probabilities of classes as a column of lists, and return its name; None for scores."""
        lists = frames.lists_given(_side_by_side(rows) if frames.is_frame(rows) else rows, what=_PROBS)
        if lists is None:
            return None
        self._align(rows, _PROBS)
        return self.join(lists, _PROBS, nameless=True)

    def named(self, values: object, role: str) -> str | None:
        """Return the name of the column that values are in, or that a text names."""
        if values is None:
            return None
        if isinstance(values, str):
            if not self.names_are_columns:
                msg = f"{role}={values!r} names a column, and arrays have none"
                raise UsageProblem(msg, f"pass the values themselves: {role}=array")
            return values
        self._align(values, role)
        name = getattr(values, "name", None)
        if isinstance(name, str) and name.strip():
            return self.join(frames.column_of(values, what=role), name)
        return self.join(frames.column_of(values, what=role), role, nameless=True)

    def all_named(self, values: object, role: str) -> tuple[str, ...]:
        """Return the names of the columns that values are in: names, one array, or arrays by name."""
        if values is None:
            return ()
        held = frames.settled(values)
        if frames.is_frame(held):
            frames.rows_of_frame(held)
            self._align(held, role)
            return tuple(self.join(column(), name) for name, column in frames.columns_of_frame(held).items())
        named = isinstance(values, list | tuple) and all(isinstance(one, str) for one in values)
        if named and self.names_are_columns:
            return tuple(values)  # type: ignore[arg-type]
        return (cast("str", self.named(values, role)),)

    def join(self, column: ArrowColumn, name: str, *, nameless: bool = False) -> str:
        """Add a column under a name that is free, and return the name."""
        if self.two_kinds:
            msg = f"{name} is an array, and there are two kinds of rows"
            raise UsageProblem(msg, "pass two frames, each with a column of its own, and name that")
        while name in self.columns:
            name += "_"
        if nameless:
            self.nameless.add(name)
        if self.rows is None:
            self.rows = len(column)
        elif len(column) != self.rows:
            msg = f"{name} has {len(column):,} values for {self.rows:,} rows"
            raise UsageProblem(msg, "give every row a value in each")
        self.columns[name] = partial(frames.itself, column)
        return name

    def source(self) -> RowsInMemory:
        return RowsInMemory(self.name, self.rows or 0, self.columns, frozenset(self.nameless))

    def _align(self, values: object, what: str) -> None:
        """Hold rows against the first that have an index."""
        if frames.index_of(values) is not None:
            self.first = self.first or {what: values}
            frames.refuse_misaligned({**self.first, what: values} if what not in self.first else self.first)


def _side_by_side(frame: object) -> object:
    from calibcli.data.arrays import floats, is_number, value_type

    frames.rows_of_frame(frame)
    columns = []
    for name, column in frames.columns_of_frame(frame).items():
        found = column()
        kind = value_type(found.type)
        if not (is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
            msg = f"{frames.FRAME}, column {name!r}: it holds {kind}, not numbers"
            raise UsageProblem(
                msg, "pass a frame of the probabilities alone, or name their columns with probs="
            )
        whole = found if not hasattr(found, "combine_chunks") else found.combine_chunks()
        decoded = floats(whole)
        columns.append(
            decoded.values if decoded.missing is None else np.where(decoded.missing, np.nan, decoded.values)
        )
    return np.stack(columns, axis=1)


if TYPE_CHECKING:
    Names: TypeAlias = str | Sequence[str] | npt.NDArray[Any]
    Classes: TypeAlias = Names | Sequence[float]
    Column: TypeAlias = str | Values
    Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    Rows: TypeAlias = Paths | Values | Mapping[str, Values] | object
    Groups: TypeAlias = Names | Values | Mapping[str, Values] | object

_PROBS = "probs"

_NOT_IN_NAMES = frozenset("*?[")


def inputs_of(
    rows: object, labels: object, said: Mapping[str, Any], *, labelled: bool = True, two: bool = False
) -> tuple[Inputs, dict[str, Any]]:
    """Return the rows of a call, and what was said of them with names of columns in the place of values."""
    rows, values = frames.settled(rows), dict(said)
    collector = ColumnCollector()
    values["probs"] = probs_of(values.get("probs"))
    inputs = () if rows is None else paths_of(rows)
    alone = labels is None or values.get("score") is not None or values["probs"] is not None
    if inputs is None and alone and frames.is_frame(rows):
        collector.take_frame(rows)
    elif inputs is None:
        _refuse_names(rows, labels, values, labelled=labelled)
        collector.names_are_columns = False
        values["probs"] = collector.take_lists(rows)
        if values["probs"] is not None:
            names = tuple(frames.columns_of_frame(rows)) if frames.is_frame(rows) else None
            values["classes"] = values.get("classes") or names
        elif labelled:
            values["score"] = collector.named(rows, "score")
        else:
            # One name for the scores of old and new rows.
            values["score"] = collector.join(frames.column_of(rows, what="score"), "score", nameless=True)
    values["label"] = _label(collector, labels, values.get("label"), in_memory=inputs is None)
    apart = tuple(role for role in ("on", "categorical", "numeric") if not isinstance(said.get(role), str))
    collector.two_kinds = two
    for role in ("weight", "group", "by", "on", "cluster", "row_id"):
        if values.get(role) is not None:
            find = collector.all_named if role in {"by", "on"} else collector.named
            values[role] = find(values[role], role)
    # A list, or a frame, has each name by itself.
    values |= {role: tuple(as_one(str(one)) for one in values[role]) for role in apart if values.get(role)}
    values["positive"] = _text(values.get("positive"))
    if values.get("score_map") is not None:
        values["score_map"] = score_map_of(values["score_map"])
    if inputs is None:
        _refuse_files(values)
        return (collector.source(),), values
    if collector.columns:
        msg = f"an array for {next(iter(collector.columns))}, and files for the rows"
        raise UsageProblem(msg, "name a column of the files")
    return inputs, values


def refuse_strange(rows: object) -> None:
    if not frames.is_array(rows) and not frames.is_frame(rows):
        make = f"{type(rows).__module__}.{type(rows).__qualname__}".removeprefix("builtins.")
        msg = f"rows: {make} is no array, and no frame that is read here"
        hint = "pass arrays, or a frame of pandas, polars or Arrow; what is lazy has to be computed"
        raise UsageProblem(msg, hint)


def _refuse_names(rows: object, labels: object, values: Mapping[str, Any], *, labelled: bool) -> None:
    """Refuse names beside arrays, and rows that are neither arrays nor a frame."""
    refuse_strange(rows)
    for keyword in ("score", "label", _PROBS):
        if values.get(keyword) is not None:
            msg = f"{keyword}={values[keyword]!r} names a column, and arrays have none"
            raise UsageProblem(msg, "pass scores and labels, or a frame and names of its columns")
    if labels is None and labelled:
        msg = "scores without labels"
        raise UsageProblem(msg, "pass the labels after the scores, or a frame with score=... and label=...")


def _refuse_files(values: Mapping[str, Any]) -> None:
    """Refuse what says how files are read, where there are none."""
    engine = values.get("engine")
    said = {keyword: values.get(keyword) for keyword in parameters_of(InputFormat)}
    said["engine"] = None if engine is EngineName.LOCAL else engine
    for keyword, value in said.items():
        if value is not None:
            msg = f"{keyword}={str(value)!r} is for files, and the rows are in memory"
            raise UsageProblem(msg, "leave it out")


def _label(collector: ColumnCollector, labels: object, label: str | None, *, in_memory: bool) -> str | None:
    if labels is None:
        return label
    if label is not None:
        msg = f"labels are given twice: as values, and as column {label!r}"
        raise UsageProblem(msg, "leave out one of them")
    if isinstance(labels, str) or not in_memory:
        msg = "labels are values that stand beside arrays"
        raise UsageProblem(msg, "name a column with label=...")
    return collector.named(labels, "label")


def paths_of(rows: object) -> Inputs | None:
    """Return the paths that rows are, or their one document; None where they are anything else."""
    if isinstance(rows, DocumentInMemory):
        return (rows,)
    many = rows if isinstance(rows, list | tuple) else (rows,)
    paths = [one for one in many if isinstance(one, str | os.PathLike)]
    return tuple(os.fspath(one) for one in paths) if paths and len(paths) == len(many) else None


def probs_of(names: "Names | None") -> str | None:
    """Return the columns of several classes as the command line names them."""
    if names is None or isinstance(names, str):
        return names
    strange = next((name for name in names if _NOT_IN_NAMES & set(name)), None)
    if strange is not None and len(names) > 1:
        msg = f"column {strange!r} of probs has a character that patterns are made of"
        raise UsageProblem(msg, "rename it, or pass probabilities of shape (rows, classes) and classes=[...]")
    return names[0] if len(names) == 1 else ",".join(map(as_one, names))


def _text(positive: object) -> str | None:
    """Return the positive label as the text that labels are compared with."""
    if positive is None:
        return None
    return str(positive).lower() if isinstance(positive, bool | np.bool_) else str(positive)


Word = TypeVar("Word", bound=StrEnum)


# Of a value in a message; of what is longer, such as a frame, its type is told.
_MOST_LETTERS = 60


def refused(keyword: str, value: object, takes: str) -> UsageProblem:
    """Return what there is to say of a value of another type than a keyword takes."""
    return UsageProblem(f"{keyword}={_shown(value)}", f"{keyword} takes {takes}")


def _shown(value: object) -> str:
    shown = repr(value)
    return f"<{type(value).__name__}>" if "\n" in shown or len(shown) > _MOST_LETTERS else shown


def text_of(value: object, keyword: str) -> str:
    if isinstance(value, str):
        return value
    raise refused(keyword, value, f"a text{_such_as(value)}")


def names_given(value: object, keyword: str) -> str | list[str]:
    """Return a text, or several as a list; classes may be numbers too, as models list them."""
    if isinstance(value, str):
        return value
    several = isinstance(value, Iterable) and not isinstance(value, bytes | Mapping)
    names = list(cast("Iterable[object]", value)) if several else [value]
    if several and keyword == "classes":
        names = list(map(_class_name, names))
    found = [one for one in names if isinstance(one, str)]
    if len(found) == len(names):
        return found
    strange = next(one for one in names if not isinstance(one, str))
    raise refused(keyword, value, f"a text, or a list of texts{_such_as(strange)}")


def number_of(value: object, keyword: str) -> float:
    try:
        if not isinstance(value, str | bytes | bool | np.bool_):
            return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        pass
    raise refused(keyword, value, "a number")


def truth_of(value: object, keyword: str) -> bool:
    """Return a truth, and refuse anything else: "no" would be true."""
    if isinstance(value, int | np.bool_) and value in (0, 1):
        return bool(value)
    raise refused(keyword, value, "True or False")


def path_of(value: object, keyword: str, takes: str = "a path") -> str:
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    raise refused(keyword, value, takes)


def _such_as(value: object) -> str:
    # Columns of pandas may be called by numbers, and are then found by their text.
    return f", such as {str(value)!r}" if isinstance(value, int | np.integer) else ""


def _class_name(one: object) -> object:
    """Return what labels of this value are called; None is no class."""
    if isinstance(one, float | np.floating):
        return number_name(float(one))
    return None if one is None else _text(one)


def chosen(kind: type[Word], word: str, keyword: str) -> Word:
    try:
        return kind(word)
    except (TypeError, ValueError):
        msg = f"{keyword}={_shown(word)}: there is no such choice"
        choices = f"one of {', '.join(repr(one.value) for one in kind)}"
        meant = said_otherwise(keyword, word) if isinstance(word, str) else None
        raise UsageProblem(msg, meant or choices) from None
