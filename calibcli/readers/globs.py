"""Names below directories, and those that match a pattern such as `data/**/part-*`."""

import glob
import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path, PurePath

from calibcli.errors import InputProblem
from calibcli.objects import is_object, objects_below

# Device and number, or the path where files have no numbers.
Identity = tuple[int, int] | str
_SKIPPED = ("_", ".")
# In an address a question mark begins its options.
_LOCAL, _REMOTE = re.compile(r"[*?\[]"), re.compile(r"[*\[]")
_WORDS = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)
_BRING_BACK = (
    "bring back what it points to (git annex get, dvc pull), take the link away, or name the files to read"
)


class Reason(StrEnum):
    """Why a name that was found is not read, as reports say it."""

    HIDDEN = "starting with _ or ."
    OTHER = "without the ending of a data file"
    AGAIN = "leading back to a directory above or already read"


@dataclass(slots=True)
class Names:
    """
    What lies below directories or matches a pattern.

    Args:
        files: What is no directory.

        folders: Directories.

        passed: What is passed over, each with the reason.
    """

    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    passed: list[tuple[str, Reason]] = field(default_factory=list)


def is_pattern(name: str) -> bool:
    """Whether a name is a pattern, and no file is called so."""
    if is_object(name):
        return _REMOTE.search(name.partition("?")[0]) is not None
    return _LOCAL.search(name) is not None and not os.path.lexists(name)


def fixed_part(pattern: str) -> str:
    """Return the directory that all that match a pattern lie below, without a slash at its end."""
    search = (_REMOTE if is_object(pattern) else _LOCAL).search(pattern)
    return pattern if search is None else pattern[: search.start()].rpartition("/")[0]


def mode_of(path: str) -> int:
    """
    Return the mode of a file, links followed.

    Raises:
        InputProblem: If it is a link that leads nowhere.

        OSError: If it cannot be looked at.
    """
    try:
        return os.stat(path).st_mode  # noqa: PTH116 - one call
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.islink(path):  # noqa: PTH114 - a name that is too long is an OSError above
            raise
        msg = f"{path} is a link to {os.readlink(path)}, which is not there"  # noqa: PTH115 - as it is written
        raise InputProblem(msg, _BRING_BACK) from None


def identity_of(path: str) -> Identity:
    """
    Return what all names of one file or directory share.

    Raises:
        OSError: If it cannot be looked at.
    """
    found = os.stat(path)  # noqa: PTH116 - one call
    # Some file systems do not number their files.
    return (found.st_dev, found.st_ino) if found.st_ino else os.path.normcase(os.path.realpath(path))


def walked(roots: Sequence[str], *, above: str, fits: Callable[[str], bool] | None = None) -> Names:
    """
    Return what lies below directories: each real one once, by a name without links where it has one.

    Links to directories are followed, but for those that lead back to one above.

    Args:
        roots: The directories.

        above: The directory that they lie in.

        fits: Whether a file that is not hidden would be taken, to say no more of hidden ones; None for any.

    Raises:
        InputProblem: If a link leads nowhere.

        OSError: If a directory cannot be read.
    """
    found = Names()
    real = os.path.realpath(above)
    seen = {identity_of(str(one)) for one in (real, *Path(real).parents)}
    # Names without what stands for nothing, such as `./` and a slash at the end.
    roots = [str(Path(root)) for root in roots]
    links = [root for root in roots if os.path.islink(root)]  # noqa: PTH114 - any name
    pending = [root for root in roots if root not in links]
    seen -= {identity_of(root) for root in pending}
    by_name: set[str] = set()
    while pending or links:
        if not pending:
            links.sort(reverse=True)
            pending.append(links.pop())
        folder = pending.pop()
        start = "" if folder == "." else folder.rstrip("/") + "/"
        identity = identity_of(folder)
        if identity in seen:
            if folder not in by_name:
                found.passed.append((folder, Reason.AGAIN))
            continue
        seen.add(identity)
        by_name.add(folder)
        found.folders.append(folder)
        with os.scandir(folder) as entries:
            for entry in entries:
                path = start + entry.name
                if entry.name.startswith(_SKIPPED):
                    if fits is None or entry.is_dir(follow_symlinks=False) or fits(path):
                        found.passed.append((path, Reason.HIDDEN))
                elif not entry.is_symlink():
                    (pending if entry.is_dir() else found.files).append(path)
                else:
                    (links if stat.S_ISDIR(mode_of(path)) else found.files).append(path)
    return found


def matching(pattern: str) -> Names:
    """
    Return the files and directories that match a pattern, sorted; those that start with "_" or "." do not.

    Raises:
        InputProblem: If nothing does, or a link leads nowhere.

        OSError: If a directory cannot be read.
    """
    found = _objects(pattern) if is_object(pattern) else _local(pattern)
    if not found.files and not found.folders:
        hidden = [name for name, reason in found.passed if reason is Reason.HIDDEN]
        if hidden:
            msg = f"{pattern}: all that match start with _ or ., such as {hidden[0]}"
            raise InputProblem(
                msg, "such names are passed over unless the pattern says _ or . there, or they are named"
            )
        msg = f"{pattern}: there is no such file, and none matches"
        raise InputProblem(msg, "** stands for any directories, * for any part of a name")
    found.files.sort()
    found.folders.sort()
    return found


def names_of_objects(address: str) -> Names | None:
    """
    Return the objects below an address; None where it is an object itself.

    Raises:
        InputProblem: If there is neither, or the store cannot be asked.
    """
    below = objects_below(address)
    if below is None:
        return None
    found = Names()
    start = len(address.partition("?")[0].rstrip("/")) + 1
    for one in below:
        parts = one.partition("?")[0][start:].split("/")
        hidden = next((place for place, part in enumerate(parts) if part.startswith(_SKIPPED)), None)
        if hidden is None:
            found.files.append(one)
        else:
            found.passed.append((one[:start] + "/".join(parts[: hidden + 1]), Reason.HIDDEN))
    found.passed = list(dict.fromkeys(found.passed))
    return found


def _local(pattern: str) -> Names:
    parts = pattern.split("/")
    if "**" in parts:
        place = parts.index("**")
        return _anywhere("/".join(parts[:place]) or "/" * bool(place), "/".join(parts[place:]))
    found = _sorted_out(pattern)
    by_folder = _names_without_links({os.path.dirname(one) for one in found.files})  # noqa: PTH120
    again = dict.fromkeys(up for up in map(os.path.dirname, found.files) if up not in by_folder)
    found.passed += [(up, Reason.AGAIN) for up in again]
    found.files = [one for one in found.files if os.path.dirname(one) in by_folder]  # noqa: PTH120
    return found


def _sorted_out(pattern: str) -> Names:
    """Return what matches a pattern without `**`; what it says itself, as in `_*.csv`, is not hidden."""
    found = Names()
    start = len(Path(fixed_part(pattern)).parts)
    words = PurePath(pattern).parts
    matches = (str(Path(one)) for one in glob.glob(pattern, include_hidden=True))  # noqa: PTH207
    for name in dict.fromkeys(matches):
        parts = zip(PurePath(name).parts, words, strict=False)
        if any(part.startswith(_SKIPPED) and word[0] != part[0] for part, word in list(parts)[start:]):
            found.passed.append((name, Reason.HIDDEN))
        else:
            (found.folders if stat.S_ISDIR(mode_of(name)) else found.files).append(name)
    return found


def _names_without_links(folders: Iterable[str]) -> set[str]:
    """Return one name of each real directory, that without links where there is one."""
    chosen: dict[Identity, str] = {}
    for folder in sorted(folders):
        identity = identity_of(folder or ".")
        if identity not in chosen or os.path.realpath(folder) == os.path.abspath(folder):  # noqa: PTH100
            chosen[identity] = folder
    return set(chosen.values())


def _anywhere(head: str, tail: str) -> Names:
    """Return what matches `tail`, which begins with `**`, below the directories that match `head`."""
    roots = _sorted_out(head) if _LOCAL.search(head) else Names(folders=[str(Path(head))])
    expression = _expression(tail.rstrip("/"))
    # The directories themselves match nothing but `**` alone, which may be none.
    itself = set(tail.rstrip("/").split("/")) == {"**"}

    def fits(path: str) -> bool:
        places = map(partial(_below, path), roots.folders)
        return any(expression.fullmatch(below) and (below or itself) for below in places)

    found = Names(passed=roots.passed)
    for root in roots.folders:
        if os.path.isdir(root):  # noqa: PTH112 - any name
            below = walked([root], above=f"{os.path.realpath(root)}/..", fits=fits)
            found.files += [] if tail.endswith("/") else [one for one in below.files if fits(one)]
            found.folders += [one for one in below.folders if fits(one)]
            found.passed += below.passed
    return found


def _below(path: str, root: str) -> str:
    """Return how a path goes on below a directory; something that matches nothing where it does not."""
    if path == root:
        return ""
    start = "" if root == "." else root.rstrip("/") + "/"
    return path[len(start) :] if path.startswith(start) else "\0/"


def _objects(pattern: str) -> Names:
    place, mark, options = pattern.partition("?")
    found = names_of_objects(f"{fixed_part(place)}/{mark}{options}") or Names()
    wanted = _expression(place)
    found.files = [one for one in found.files if wanted.fullmatch(one.partition("?")[0])]
    return found


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
        case "?":
            return "[^/]"
        case _ if len(word) > 1:
            return (
                "["
                + ("^/" if word[1] == "!" else "")
                + re.escape(word[1 + (word[1] == "!") : -1]).replace(r"\-", "-")
                + "]"
            )
        case _:
            return re.escape(word)
