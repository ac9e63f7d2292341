"""Files that stay what they are while they are read."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from calibcli.errors import InputProblem
from calibcli.readers.fragments import Fragment

Stamp = tuple[int, int, int, int]


@contextmanager
def unchanged(fragments: Sequence[Fragment]) -> Iterator[None]:
    """
    Refuse what was read inside, if a file was written to, cut short or replaced meanwhile.

    Args:
        fragments: What is read; of pipes and of objects in a store there is nothing to compare.

    Raises:
        InputProblem: If a file is another one at the end.
    """
    paths = dict.fromkeys(
        os.path.join(one.folder, one.path)  # noqa: PTH118 - as it is opened
        for one in fragments
        if one.pipe is None
    )
    before = {path: _stamp(path) for path in paths}
    try:
        yield
    except InputProblem:
        # Whatever is wrong with half of a file is wrong because it is half of one.
        _refuse_changed(before)
        raise
    _refuse_changed(before)


def _refuse_changed(before: dict[str, Stamp | None]) -> None:
    for path, stamp in before.items():
        if stamp is not None and _stamp(path) != stamp:
            msg = f"{path} changed while it was read"
            raise InputProblem(msg, "run this again once nobody writes to it")


def _stamp(path: str) -> Stamp | None:
    """Return what changes with a file, or None where there is no regular one."""
    try:
        found = os.stat(path)  # noqa: PTH116 - one call
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
