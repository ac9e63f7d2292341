"""The columns of several classes: which they are, and what their classes are called."""

import os
import re
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

from calibcli.data.column_names import listing, named
from calibcli.errors import InputProblem, UsageProblem
from calibcli.options.rows import SeveralClasses
from calibcli.values import dataclass

_PATTERN = re.compile(r"[*?\[]")
_SEPARATOR = re.compile(r".*[^0-9A-Za-z]", re.DOTALL)
MOST_CLASSES = 10_000
_LONGEST_PATTERN = 1_000


@dataclass(frozen=True, slots=True)
class ClassColumns:
    """
    The columns that hold the probabilities of the classes, in the order of the classes.

    Args:
        names: One column for each class, or a single one that holds a list for every row.
        classes: What the classes are called; empty for a list column whose length is not known yet.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]

    @property
    def in_list(self) -> bool:
        """Whether one column holds a list for every row."""
        return len(self.names) == 1


def class_columns(several: SeveralClasses, header: Sequence[str], *, path: str) -> ClassColumns:
    """Find the columns of the classes in a header."""
    probs, classes = several.probs, several.classes
    if probs in header or not (_PATTERN.search(probs) or "," in probs):
        column = named(probs, header, path=path)
        return ClassColumns((column,), checked_classes(tuple(classes or ()), None))
    if _PATTERN.search(probs):
        if len(probs) > _LONGEST_PATTERN:
            msg = f"--probs is a pattern of {len(probs):,} characters"
            raise UsageProblem(msg, f"at most {_LONGEST_PATTERN:,} are taken: write one such as 'p_*'")
        columns = tuple(name for name in header if fnmatchcase(name, probs))
        if len(columns) < 2:
            fitting = f"only {columns[0]!r} fits" if columns else "no column fits"
            msg = f"{path}: {fitting} --probs {probs!r}; the columns are {listing(header)}"
            raise InputProblem(msg, "quote the pattern so that the shell leaves it alone: --probs 'p_*'")
    else:
        columns = tuple(named(one.strip(), header, path=path) for one in probs.split(","))
        _refuse_repeated(columns, "--probs names column")
    found = checked_classes(tuple(classes or _ends(columns)), len(columns))
    _refuse_absent(several.one_class, found, path=path)
    return ClassColumns(columns, found)


def counted(probs: ClassColumns, length: int | None, *, several: SeveralClasses, path: str) -> ClassColumns:
    """Return the columns of the classes, those of lists without names called by their places from 0."""
    found = probs.classes
    if not found and length is not None:
        if not 2 <= length <= MOST_CLASSES:
            msg = f"{path}, column {probs.names[0]!r}: its first list holds {length:,} numbers"
            raise InputProblem(msg, f"lists hold a number for each of 2 to {MOST_CLASSES:,} classes")
        found = tuple(str(place) for place in range(length))
    if not found:
        msg = f"{path}, column {probs.names[0]!r}: there is no list of numbers to count the classes by"
        raise InputProblem(msg, "name a column for each class, such as --probs 'p_*' or --probs a,b,c")
    _refuse_absent(several.one_class, found, path=path)
    return ClassColumns(probs.names, found)


def _refuse_absent(one: str | None, classes: tuple[str, ...], *, path: str) -> None:
    if one is not None and one not in classes:
        msg = f"{path}: there is no class {one!r}; the classes are {listing(classes)}"
        raise UsageProblem(msg, "name one of them with --class")


def checked_classes(classes: tuple[str, ...], count: int | None) -> tuple[str, ...]:
    """Return names of classes, refused if they repeat or are not as many as there are columns."""
    if count is not None and len(classes) != count:
        msg = f"--classes names {len(classes):,} classes, and there are {count:,} probabilities to a row"
        raise UsageProblem(msg, "name every class once, in the order of the columns")
    if len(classes) > MOST_CLASSES:
        msg = f"{len(classes):,} classes"
        raise UsageProblem(msg, f"at most {MOST_CLASSES:,} are read")
    _refuse_repeated(classes, "two columns stand for class")
    return classes


def _refuse_repeated(names: Sequence[str], what: str) -> None:
    name, times = Counter(names).most_common(1)[0] if names else ("", 1)
    if times > 1:
        msg = f"{what} {name!r}" + (" more than once" if what.startswith("--") else "")
        raise UsageProblem(msg, "name the classes with --classes a,b,c in the order of their columns")


def _ends(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns without what all begin with, up to its last separator."""
    start = os.path.commonprefix(columns)  # noqa: RUF071 - of letters, not of folders
    cut = _SEPARATOR.match(start)
    prefix = cut.group() if cut else ""
    if not prefix and start and all(name[len(start) :].isdigit() for name in columns):
        prefix = start
    ends = tuple(name[len(prefix) :] for name in columns)
    return ends if all(ends) else tuple(columns)
