"""Where a command writes: checked before any data is read, so that no input is ever replaced."""

from collections.abc import Sequence

from calibcli.outputs import STDOUT, refuse_existing
from calibcli.readers.files import files_of


def check_output(output: str, *, force: bool, inputs: Sequence[str], artifact: str | None = None) -> None:
    """
    Refuse an output that cannot or must not be written.

    Args:
        output: The output; "-" is standard output and never refused.

        force: Whether an existing file may be replaced, unless it is read.

        inputs: The inputs as the user named them; every file of a directory is one.

        artifact: The artifact that is read as well, or None.

    Raises:
        OutputProblem: If the output exists, is read, or cannot be written.

        InputProblem: If an input is not there.
    """
    if output == STDOUT:
        return
    files = [file.path for file in files_of(inputs)]
    refuse_existing(output, force=force, inputs=files if artifact is None else [*files, artifact])
