"""Names as users write them to names as files have them."""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from calibcli.errors import InputProblem

SCORE_NAMES = ("score", "prob", "p", "probability", "y_prob", "proba", "prediction", "confidence")
LABEL_NAMES = ("label", "y", "target", "outcome", "correct")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_LISTED = 20
NAME_THE_SCORE = "name it with --score"


def named(name: str, header: Sequence[str], *, path: str) -> str:
    """
    Return the column of a header that a name means: the same text, or
    else but for case and outer blanks.
    """
    if name in header:
        return name
    same = [column for column in header if _composed(column) == _composed(name)]
    alike = same or [column for column in header if folded(column) == folded(name)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        msg = f"{path}: {name!r} could be any of {listing(alike)}"
        points = "they are the same letters in other code points: rename all but one"
        one_text = len({_composed(column) for column in alike}) == 1
        raise InputProblem(msg, points if one_text else "spell it as the file does")
    msg = f"{path}: there is no column {name!r}; the columns are {listing(header)}"
    spelled = {folded(column): column for column in header}
    close = difflib.get_close_matches(folded(name), spelled, n=1)
    hint = f"did you mean {spelled[close[0]]!r}?" if close else None
    raise InputProblem(msg, separator_hint(header) or hint)


def separator_hint(header: Sequence[str]) -> str | None:
    """Say that a header seems to be none, or its fields to be separated by something else."""
    if len(header) > 1 and all(_NUMBER.fullmatch(name.strip()) for name in header):
        return "the first line is that of the names of the columns, and here it holds numbers: add one above"
    if len(header) != 1:
        return None
    if "\t" in header[0]:
        return "the file separates its fields by tabs: write path:tsv or pass --input-format tsv"
    found = next((one for one in (";", "|", ",", " ") if one in header[0].strip()), None)
    if found is None or (found == " " and header[0].count(" ") < 2):
        return None
    return f"the file seems to separate its fields by {found!r}: pass --delimiter {found!r}"


def refuse_repeated(header: Sequence[str], *, path: str) -> None:
    """Refuse a header that has a name twice."""
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if repeated:
        msg = f"{path}: the header has {listing(repeated)} more than once"
        raise InputProblem(msg, "give every column a name of its own")


def folded(name: str) -> str:
    """Return a name without regard to case, outer blanks and how its letters are composed."""
    return _composed(name.strip().casefold())


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def listing(names: Sequence[str]) -> str:
    """Return the first names, quoted, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"


def named_or_usual(
    asked: str | None, role: Literal["score", "label"], *, header: Sequence[str], path: str
) -> str:
    """Return the column asked for, or the only one with a usual name."""
    if asked is not None:
        return named(asked, header, path=path)
    usual = SCORE_NAMES if role == "score" else LABEL_NAMES
    candidates = [name for name in header if folded(name) in usual]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        msg = f"{path}: {listing(candidates)} could each be the {role} column"
    else:
        msg = f"{path}: no column looks like the {role}; the columns are {listing(header)}"
    raise InputProblem(
        msg, separator_hint(header) or (NAME_THE_SCORE if role == "score" else f"name it with --{role}")
    )
