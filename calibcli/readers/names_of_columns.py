"""Names as users write them to names as files have them."""

import difflib
from collections.abc import Sequence

from calibcli.errors import InputProblem

_LISTED = 20


def named(name: str, header: Sequence[str], *, path: str) -> str:
    """
    Return the column of a header that a name means: the same, or else but for case and outer blanks.

    Args:
        name: What the user wrote.

        header: The names of the file's columns.

        path: The file, for messages.

    Raises:
        InputProblem: If no single column does so; with the closest name.
    """
    if name in header:
        return name
    alike = [column for column in header if folded(column) == folded(name)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        msg = f"{path}: {name!r} could be any of {listing(alike)}"
        raise InputProblem(msg, "spell it as the file does")
    msg = f"{path}: there is no column {name!r}; the columns are {listing(header)}"
    spelled = {folded(column): column for column in header}
    close = difflib.get_close_matches(folded(name), spelled, n=1)
    hint = f"did you mean {spelled[close[0]]!r}?" if close else None
    raise InputProblem(msg, separator_hint(header) or hint)


def separator_hint(header: Sequence[str]) -> str | None:
    """Say that fields seem to be separated by something else, when the whole header is one name."""
    if len(header) == 1 and ";" in header[0]:
        return "the file separates its fields by ';': convert it to commas or tabs first"
    if len(header) == 1 and "\t" in header[0]:
        return "the file separates its fields by tabs: write path:tsv or pass --input-format tsv"
    return None


def folded(name: str) -> str:
    """Return a name without regard to case and outer blanks."""
    return name.strip().casefold()


def listing(names: Sequence[str]) -> str:
    """Return the first names, quoted, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"
