"""Which of a file's other columns go along with the new ones."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.options.maps import KEEP_ALL, KEEP_NONE
from calibcli.readers import reader_of
from calibcli.readers.fragments import Fragment
from calibcli.readers.names_of_columns import listing, named

_PATTERN = re.compile(r"[*?\[]")


def kept_columns(keep: str, header: Sequence[str], *, path: str) -> tuple[str, ...] | None:
    """
    Return the columns that go along, in the order of the file; None for all.

    Args:
        keep: "all", "none", or names and patterns parted by commas.

        header: The names of the file's columns.

        path: The file, for messages.

    Raises:
        InputProblem: If there is no such column, or none that fits a pattern.

        UsageProblem: If nothing is named.
    """
    if keep == KEEP_ALL:
        return None
    if keep == KEEP_NONE:
        return ()
    found: set[str] = set()
    there = set(header)
    for one in keep.split(","):
        if not one.strip():
            msg = f"--keep {keep!r} names a column without a name"
            raise UsageProblem(msg, "write all, none, or names and patterns parted by commas")
        found |= {one} if one in there else _fitting(one.strip(), header, path=path)
    return tuple(name for name in header if name in found)


def whole_header(fragment: Fragment) -> tuple[str, ...]:
    """Return the columns of a file, of JSON Lines those of all lines: what comes through a pipe is kept."""
    if fragment.format is DataFormat.JSONL:
        from calibcli.readers.jsonl import every_key

        return every_key(fragment)
    return reader_of(fragment.format).header(fragment)


def _fitting(one: str, header: Sequence[str], *, path: str) -> set[str]:
    if not _PATTERN.search(one):
        return {named(one, header, path=path)}
    found = {name for name in header if fnmatchcase(name, one)}
    if not found:
        msg = f"{path}: no column fits --keep {one!r}; the columns are {listing(header)}"
        raise InputProblem(msg, "quote the pattern so that the shell leaves it alone: --keep 'x_*'")
    return found
