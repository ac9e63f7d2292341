"""A place for what matplotlib keeps between runs, where the home directory has none."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calibcli.errors import OutputProblem

_VARIABLE = "MPLCONFIGDIR"
_KEPT = (("XDG_CONFIG_HOME", ".config"), ("XDG_CACHE_HOME", ".cache"))


@contextmanager
def drawing_cache() -> Iterator[None]:
    """
    Give matplotlib a temporary folder while pictures are drawn, if it could write to no other.

    It would find one by itself, say so at length, and leave the folder behind.

    Raises:
        OutputProblem: If there is no place for temporary files either.
    """
    if _VARIABLE in os.environ or all(_can_be_written(folder) for folder in _folders()):
        yield
        return
    try:
        folder = tempfile.mkdtemp(prefix="calibcli-")
    except OSError as error:
        msg = "pictures need a folder for temporary files, and none can be written"
        raise OutputProblem(msg, "name one with TMPDIR") from error
    os.environ[_VARIABLE] = folder
    try:
        yield
    finally:
        del os.environ[_VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)


def _folders() -> list[Path]:
    """Return where matplotlib looks first, as the XDG base directory specification has it."""
    try:
        home = Path.home()
    except RuntimeError:
        home = Path(os.devnull)
    return [Path(os.environ.get(variable) or home / below) / "matplotlib" for variable, below in _KEPT]


def _can_be_written(folder: Path) -> bool:
    """Whether a folder is there or can be made, and be written; matplotlib makes it in any case."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)
