"""Files that stay what they are while they are read."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from calibcli.ahead import in_order
from calibcli.errors import InputProblem
from calibcli.objects import is_object
from calibcli.readers.files import Stamp, shown_path, stamp_of
from calibcli.readers.fragments import Fragment

# Stores take many questions at a time, and some while for each.
_ASKED_AT_ONCE = 16


@contextmanager
def unchanged(fragments: Sequence[Fragment]) -> Iterator[None]:
    """
    Refuse what was read inside, if a file was written to, cut short or replaced since it was first looked at.

    Args:
        fragments: What is read; of pipes there is nothing to compare.

    Raises:
        InputProblem: If a file is another one at the end.
    """
    paths = {os.path.join(one.folder, one.path): one.stamp for one in fragments}  # noqa: PTH118 - as it is opened
    with unchanged_files(paths):
        yield


@contextmanager
def unchanged_files(before: Mapping[str, Stamp | None]) -> Iterator[None]:
    """
    Refuse what was read inside, if a file is no longer what it was.

    Args:
        before: For each file what `stamp_of` said of it.

    Raises:
        InputProblem: If a file is another one at the end.
    """
    try:
        yield
    except InputProblem:
        # Whatever is wrong with half of a file is wrong because it is half of one.
        _refuse_changed(before)
        raise
    _refuse_changed(before)


def _refuse_changed(before: Mapping[str, Stamp | None]) -> None:
    told = [path for path, stamp in before.items() if stamp is not None]
    now = in_order(stamp_of, told, _ASKED_AT_ONCE if any(map(is_object, told)) else 1)
    for path, stamp in zip(told, now, strict=True):
        if stamp != before[path]:
            msg = f"{shown_path(path)} changed while it was read"
            raise InputProblem(msg, "run this again once nobody writes to it")
