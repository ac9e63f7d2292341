"""Picture formats, known without matplotlib so that a wrong name is refused before any file is read."""

from pathlib import Path

from calibcli.errors import UsageProblem
from calibcli.names import STDOUT

FORMATS = ("png", "svg", "pdf")


def picture_format(path: str) -> str:
    """Return the format that a file name asks for."""
    if path == STDOUT:
        return FORMATS[0]
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        msg = f"{path}: a picture is png, svg or pdf by its suffix"
        raise UsageProblem(msg, f"name it {Path(path).stem or 'reliability'}.png")
    return suffix
