"""What a call was given, arrays or a frame or paths, as the inputs and columns that the tasks take."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from calibcli.api.frames import collected, is_frame
from calibcli.api.holding import Holding, class_names, is_rows_of_classes
from calibcli.errors import UsageProblem
from calibcli.names import EngineName
from calibcli.options.rows import OF_FORMAT

if TYPE_CHECKING:
    from calibcli.api.columns import Values

    Names: TypeAlias = str | Sequence[str]
    Column: TypeAlias = str | Values
    Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    # A frame is whatever has columns with names: no type of pandas or polars is needed to say so.
    Rows: TypeAlias = Paths | Values | Mapping[str, Values] | object
    Groups: TypeAlias = Names | Values | Mapping[str, Values] | object

_PROBS = "probs"
_NOT_IN_NAMES = frozenset(",*?[")


@dataclass(frozen=True, slots=True)
class Source:
    """
    The rows of a call as a task takes them.

    Args:
        inputs: Paths, or the one name of rows in memory.

        in_memory: Whether nothing is read from files.
    """

    inputs: tuple[str, ...]
    in_memory: bool


def source_of(rows: object, labels: object, said: Mapping[str, Any]) -> tuple[Source, dict[str, Any]]:
    """
    Return the rows of a call, and what was said of them with names of columns in the place of values.

    Args:
        rows: Paths, a frame, scores of shape (n,), or probabilities of shape (n, K); None for no rows.

        labels: Labels of shape (n,) beside arrays, or None.

        said: The keywords with their values.

    Raises:
        UsageProblem: If something is missing, is not understood, or has another length than the rest.
    """
    # A lazy frame is worked out once, however often its columns are looked at.
    rows, values = collected(rows), dict(said)
    holding = Holding(names_are_columns=True)
    values["probs"] = probs_of(values.get("probs"))
    inputs = () if rows is None else paths_of(rows)
    alone = labels is None or values.get("score") is not None or values["probs"] is not None
    if inputs is None and alone and is_frame(rows):
        holding.take_frame(rows)
    elif inputs is None:
        _refuse_names(values, labels)
        holding.names_are_columns = False
        if is_rows_of_classes(rows):
            values["probs"] = holding.take_matrix(rows, _PROBS)
            values["classes"] = values.get("classes") or class_names(rows)
        else:
            values["score"] = holding.named(rows, "score")
    values["label"] = _label(holding, labels, values.get("label"), in_memory=inputs is None)
    for role in ("weight", "group", "by", "cluster", "row_id"):
        if values.get(role) is not None:
            values[role] = (holding.all_named if role == "by" else holding.named)(values[role], role)
    values["positive"] = _text(values.get("positive"))
    if inputs is None:
        _refuse_files(values)
        return Source((holding.held(),), in_memory=True), values
    if holding.columns:
        msg = f"an array for {next(iter(holding.columns))}, and files for the rows"
        raise UsageProblem(msg, "name a column of the files")
    return Source(inputs, in_memory=False), values


def _refuse_names(values: Mapping[str, Any], labels: object) -> None:
    for keyword in ("score", "label", _PROBS):
        if values.get(keyword) is not None:
            msg = f"{keyword}={values[keyword]!r} names a column, and arrays have none"
            raise UsageProblem(msg, "pass scores and labels, or a frame and names of its columns")
    if labels is None:
        msg = "scores without labels"
        raise UsageProblem(msg, "pass the labels after the scores, or a frame with score=... and label=...")


def _refuse_files(values: Mapping[str, Any]) -> None:
    """Refuse what says how files are read, where there are none."""
    engine = values.get("engine")
    said = {keyword: values.get(keyword) for keyword in OF_FORMAT.split()}
    said["engine"] = None if engine is EngineName.LOCAL else engine
    for keyword, value in said.items():
        if value is not None:
            msg = f"{keyword}={str(value)!r} is for files, and the rows are in memory"
            raise UsageProblem(msg, "leave it out")


def _label(holding: Holding, labels: object, label: str | None, *, in_memory: bool) -> str | None:
    if labels is None:
        return label
    if label is not None:
        msg = f"labels are given twice: as values, and as column {label!r}"
        raise UsageProblem(msg, "leave out one of them")
    if isinstance(labels, str) or not in_memory:
        msg = "labels are values that stand beside arrays"
        raise UsageProblem(msg, "name a column with label=...")
    return holding.named(labels, "label")


def paths_of(rows: object) -> tuple[str, ...] | None:
    """Return the paths that rows are, or None where they are anything else."""
    many = rows if isinstance(rows, list | tuple) else (rows,)
    paths = [one for one in many if isinstance(one, str | os.PathLike)]
    return tuple(os.fspath(one) for one in paths) if paths and len(paths) == len(many) else None


def probs_of(names: "Names | None") -> str | None:
    """Return the columns of several classes as the command line names them."""
    if names is None or isinstance(names, str):
        return names
    strange = next((name for name in names if _NOT_IN_NAMES & set(name)), None)
    if strange is not None and len(names) > 1:
        msg = f"column {strange!r} of probs has a character that patterns and lists are made of"
        raise UsageProblem(msg, "rename it, or pass probabilities of shape (rows, classes) and classes=[...]")
    return ",".join(names)


def _text(positive: object) -> str | None:
    """Return the positive label as the text that labels are compared with."""
    if positive is None:
        return None
    return str(positive).lower() if isinstance(positive, bool | np.bool_) else str(positive)
