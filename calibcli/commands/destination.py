"""Where a command writes: checked before any data is read, so that no input is ever replaced."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from calibcli.ahead import Progress, unseen
from calibcli.data.files import files_of
from calibcli.data.outputs import refuse_existing
from calibcli.names import STDOUT

if TYPE_CHECKING:
    from calibcli.options.maps import Shape


def _as_it_comes() -> "Shape":
    # Most commands write reports, and check where without knowing of rows.
    from calibcli.options.maps import AS_IT_COMES

    return AS_IT_COMES


@dataclass(frozen=True, slots=True)
class Destination:
    """
    Where rows go, and how.

    Args:
        progress: Who is told how far the work is.
    """

    path: str
    shape: "Shape" = field(default_factory=_as_it_comes)
    progress: Progress = unseen


def destination_of(output: str | Destination) -> Destination:
    """Return a destination, that of a plain name where there is no more."""
    return output if isinstance(output, Destination) else Destination(output)


def check_output(output: str, *, force: bool, inputs: Sequence[str], artifact: str | None = None) -> None:
    """Refuse an output that cannot or must not be written."""
    if output == STDOUT:
        return
    files = [file.path for file in files_of(inputs)]
    refuse_existing(output, force=force, inputs=files if artifact is None else [*files, artifact])
