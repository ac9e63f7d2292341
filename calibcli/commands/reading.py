"""The rows that a command judges, recalibrated while they are read where an artifact is named."""

from collections.abc import Sequence
from dataclasses import replace

from calibcli.commands.gathering import RAW, Gathered
from calibcli.commands.right_scale import read_notes
from calibcli.commands.tables import read_tables, refuse_unseen
from calibcli.data.tally import NOTHING, Beside, Transforms
from calibcli.options.rows import Columns, Reading
from calibcli.options.sources import DocumentSource, RowSource


def read_judged(
    inputs: Sequence[RowSource],
    columns: Columns,
    *,
    artifact: DocumentSource | None,
    reading: Reading,
    twice: bool = False,
    beside: Beside = NOTHING,
) -> Gathered:
    """Read the rows, recalibrated while they are read if an artifact is given."""
    if artifact is not None:
        from calibcli.commands.evaluation import read_through

        return read_through(artifact, inputs, columns, reading=reading, twice=twice, beside=beside)
    refuse_unseen(columns)
    scores: Transforms = {RAW: None, **dict.fromkeys(beside.columns)}
    gathered = read_tables(inputs, columns, reading=reading, transforms=scores, beside=beside, twice=twice)
    return replace(gathered, notes=read_notes(gathered, columns.read_as))
