"""The columns of classes that are known by their names: those of a fit in a file it has not seen."""

from collections.abc import Sequence
from dataclasses import replace

from calibcli.errors import InputProblem, UsageProblem
from calibcli.options.rows import Columns, SeveralClasses
from calibcli.readers.class_columns import ClassColumns
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.names_of_columns import listing, refuse_repeated


def columns_of_classes(
    classes: tuple[str, ...], columns: Columns, header: Sequence[str], *, lists: Sequence[str], path: str
) -> ChosenColumns:
    """
    Find the columns of classes whose names are known.

    They are the columns whose names are those of the classes behind one common beginning, or else the one
    column of lists.

    Args:
        classes: What the classes are called.

        columns: What is to be done with values; no column is named.

        header: The names of the file's columns.

        lists: Those of them that hold lists of numbers.

        path: The file, for messages.

    Raises:
        InputProblem: If there are none, with what is missing, or several such columns.
    """
    refuse_repeated(header, path=path)
    shown, probs = _found(classes, header, lists, path=path)
    several = replace(columns.several or SeveralClasses(shown), probs=shown)
    score, *others = probs.names
    taken = f"column {shown!r} was" if probs.in_list else f"columns {shown!r} were"
    return ChosenColumns(
        replace(columns, several=several),
        score,
        None,
        notes=(f"{taken} taken as the classes; --probs names others",),
        others=tuple(others),
        probs=probs,
    )


def _found(
    classes: tuple[str, ...], header: Sequence[str], lists: Sequence[str], *, path: str
) -> tuple[str, ClassColumns]:
    """Return the columns, and how they are said."""
    lacking = _lacking(classes, header)
    fitting = [start for start, missing in lacking.items() if not missing]
    if len(fitting) == 1:
        # In the order in which the file has them.
        wanted = {fitting[0] + one: one for one in classes}
        names = [name for name in header if name in wanted]
        found = ClassColumns(tuple(names), tuple(wanted[name] for name in names))
        return f"{fitting[0]}*", found
    if fitting:
        msg = f"{path}: the columns of the classes may begin with {listing(fitting)}"
        raise UsageProblem(msg, f"name them, such as --probs '{fitting[0]}*'")
    if len(lists) == 1:
        return lists[0], ClassColumns((lists[0],), classes)
    best = min(lacking, key=lambda start: len(lacking[start]), default=None)
    if best is not None and len(lacking[best]) < len(classes) - 1:
        absent = [best + one for one in lacking[best]]
        what = f"column {absent[0]!r}" if len(absent) == 1 else f"columns {listing(absent)}"
        msg = f"{path}: {what} of {len(classes):,} classes {'is' if len(absent) == 1 else 'are'} missing"
        raise InputProblem(msg, "the map needs every class that it was fitted to")
    several = f", and {listing(lists)} all hold lists" if lists else ""
    what = f"no columns end in the names of the classes {listing(classes)}{several}"
    msg = f"{path}: {what}; the columns are {listing(header)}"
    raise InputProblem(msg, "name them with --probs, and what they stand for with --classes")


def _lacking(classes: tuple[str, ...], header: Sequence[str]) -> dict[str, list[str]]:
    """Return for each beginning of a column's name the classes that no column has behind it."""
    there = set(header)
    starts = dict.fromkeys(
        name[: len(name) - len(one)] for one in classes for name in header if name.endswith(one)
    )
    return {start: [one for one in classes if start + one not in there] for start in starts}
