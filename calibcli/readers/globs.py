"""Patterns such as `data/*.parquet` and `data/**/part-*`, where the shell has not expanded them."""

import glob
import os
import re
from pathlib import Path, PurePath

from calibcli.errors import InputProblem
from calibcli.objects import is_object, objects_below

_SKIPPED = ("_", ".")
# In an address a question mark begins its options.
_LOCAL, _REMOTE = re.compile(r"[*?\[]"), re.compile(r"[*\[]")
_WORDS = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)


def is_pattern(name: str) -> bool:
    """Whether a name is a pattern, and no file is called so."""
    if is_object(name):
        return _REMOTE.search(name.partition("?")[0]) is not None
    return _LOCAL.search(name) is not None and not os.path.lexists(name)


def fixed_part(pattern: str) -> str:
    """Return the directory that all that match a pattern lie below, without a slash at its end."""
    search = (_REMOTE if is_object(pattern) else _LOCAL).search(pattern)
    return pattern if search is None else pattern[: search.start()].rpartition("/")[0]


def matching(pattern: str) -> list[str]:
    """
    Return the files and directories that match a pattern, sorted; those that start with "_" or "." do not.

    Raises:
        InputProblem: If nothing does.
    """
    found = _objects(pattern) if is_object(pattern) else glob.glob(pattern, recursive=True)  # noqa: PTH207
    start = len(Path(fixed_part(pattern)).parts) if not is_object(pattern) else 0
    names = sorted({os.path.normpath(one) if not is_object(one) else one for one in found})
    kept = [
        one
        for one in names
        if is_object(pattern) or not any(part.startswith(_SKIPPED) for part in PurePath(one).parts[start:])
    ]
    if not kept:
        msg = f"{pattern}: there is no such file, and none matches"
        raise InputProblem(msg, "** stands for any directories, * for any part of a name")
    return kept


def _objects(pattern: str) -> list[str]:
    place, mark, options = pattern.partition("?")
    folder = fixed_part(place)
    below = objects_below(f"{folder}/{mark}{options}") or []
    wanted = _expression(place)
    return [one for one in below if wanted.fullmatch(one.partition("?")[0])]


def _expression(pattern: str) -> re.Pattern[str]:
    """Return what matches as the shell does: `*` stays within a name, `**/` is any directories or none."""
    return re.compile("".join(map(_translated, _WORDS.findall(pattern))), re.DOTALL)


def _translated(word: str) -> str:
    match word:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case _ if len(word) > 1:
            return (
                "["
                + ("^/" if word[1] == "!" else "")
                + re.escape(word[1 + (word[1] == "!") : -1]).replace(r"\-", "-")
                + "]"
            )
        case _:
            return re.escape(word)
