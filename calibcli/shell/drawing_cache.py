"""What matplotlib finds around it: a place for what it keeps between runs, and nobody's settings."""

import logging
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

    It would find one by itself, say so at length, and leave the folder behind. What a `matplotlibrc` in the
    working directory or at home says is put aside: it could change every picture, or have LaTeX run.
    """
    if _VARIABLE in os.environ or all(_can_be_written(folder) for folder in _folders()):
        _put_settings_aside()
        yield
        return
    try:
        folder = tempfile.mkdtemp(prefix="calibcli-")
    except OSError as error:
        msg = "pictures need a folder for temporary files, and none can be written"
        raise OutputProblem(msg, "name one with TMPDIR") from error
    os.environ[_VARIABLE] = folder
    try:
        _put_settings_aside()
        yield
    finally:
        del os.environ[_VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)


def _put_settings_aside() -> None:
    """Import matplotlib without a word of what it reads then, and give it its own settings back."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        from calibcli.show.figures.saving import use_built_in_settings

        use_built_in_settings()
    finally:
        logger.setLevel(level)


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
