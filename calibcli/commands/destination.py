"""Where a command writes: checked before any data is read, so that no input is ever replaced."""

from collections.abc import Sequence

from calibcli.data.files import files_of
from calibcli.data.outputs import refuse_existing
from calibcli.names import STDOUT
from calibcli.options.sources import DocumentSource


def check_output(
    output: str, *, force: bool, inputs: Sequence[str], artifact: DocumentSource | None = None
) -> None:
    """Refuse an output that cannot or must not be written."""
    if output == STDOUT:
        return
    files = [file.path for file in files_of(inputs)]
    refuse_existing(output, force=force, inputs=files if artifact is None else [*files, str(artifact)])
