"""The rows that are judged: read once, raw and through an artifact side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibcli.artifacts.document import Artifact
from calibcli.artifacts.store import read_artifact
from calibcli.errors import UsageProblem
from calibcli.names import Scale
from calibcli.readers.columns import Columns
from calibcli.table.digest import digest
from calibcli.table.grid import Table
from calibcli.tasks.gather import RAW, Gathered
from calibcli.tasks.reading import Reading, read_tables

RECALIBRATED = "recalibrated"


@dataclass(frozen=True, slots=True)
class Judged:
    """
    The table that is judged, and what was known about it beforehand.

    Args:
        gathered: What was read.

        artifact: The recalibrator applied while reading, or None.

        table: The recalibrated table, or the raw one where there is no artifact.

        notes: Sentences the reader should not miss.
    """

    gathered: Gathered
    artifact: Artifact | None
    table: Table
    notes: tuple[str, ...] = ()

    @property
    def fitted_rows(self) -> bool:
        """Whether these are the very rows that the artifact was fitted on."""
        raw = self.gathered.tables[RAW]
        return self.artifact is not None and digest(raw) == self.artifact.fit.table_digest


def read_judged(inputs: Sequence[str], columns: Columns, *, artifact: str | None, reading: Reading) -> Judged:
    """
    Read the rows, recalibrated while they are read if an artifact is given.

    Raises:
        UsageProblem: If the scores look as if the artifact had been applied to them already.
    """
    if artifact is None:
        gathered = read_tables(inputs, columns, reading=reading)
        return Judged(gathered, None, gathered.tables[RAW])
    loaded = read_artifact(artifact)
    columns = as_fitted(columns, loaded)
    transforms = {RAW: None, RECALIBRATED: loaded.recalibrator.predict}
    gathered = read_tables(inputs, columns, reading=reading, transforms=transforms)
    _refuse_applied_twice(gathered, loaded, artifact)
    return Judged(gathered, loaded, gathered.tables[RECALIBRATED])


def as_fitted(columns: Columns, artifact: Artifact) -> Columns:
    """Read the columns as the fit did where the user does not say otherwise."""
    scale = artifact.scale if columns.scale is Scale.PROB else columns.scale
    return replace(columns, scale=scale, positive=columns.positive or artifact.positive)


def _refuse_applied_twice(gathered: Gathered, artifact: Artifact, path: str) -> None:
    outputs = artifact.recalibrator.bins
    raw = gathered.tables[RAW]
    if outputs is None or raw.kind != "exact" or raw.distinct == 0:
        return
    values = np.array([one.value for one in outputs])
    if np.isin(raw.score, values).all() and raw.distinct <= values.size and raw.total_rows > 1:
        msg = f"every value of column {gathered.input.score!r} is an output of {path}: already applied?"
        raise UsageProblem(msg, "name the raw score column, or leave out --artifact")
