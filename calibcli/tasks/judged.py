"""The rows that are judged: read once, raw and through an artifact side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.names import Scale
from calibcli.readers.beside import NOTHING, Beside
from calibcli.readers.columns import Columns
from calibcli.readers.tally import AtPlaces, Transform, Transforms
from calibcli.table.digest import digest
from calibcli.table.grid import Table
from calibcli.table.rows import Rows
from calibcli.tasks.gather import RAW, Gathered
from calibcli.tasks.reading import Reading, read_tables

if TYPE_CHECKING:
    from calibcli.artifacts.document import Artifact
    from calibcli.recalibrators.interface import Recalibrator

RECALIBRATED = "recalibrated"


@dataclass(frozen=True, slots=True)
class Judged:
    """
    The table that is judged, and what was known about it beforehand.

    Args:
        gathered: What was read.

        artifact: The recalibrator applied while reading, or None.

        table: The recalibrated table, or the raw one where there is no artifact.

        again: The rows of that table once more, where that was asked for.

        notes: Sentences the reader should not miss.
    """

    gathered: Gathered
    artifact: "Artifact | None"
    table: Table
    again: Rows | None = None
    notes: tuple[str, ...] = ()

    @property
    def fitted_rows(self) -> bool:
        """Whether these are the very rows that the artifact was fitted on."""
        raw = self.gathered.tables[RAW]
        return self.artifact is not None and digest(raw) == self.artifact.fit.table_digest


def read_judged(
    inputs: Sequence[str],
    columns: Columns,
    *,
    artifact: str | None,
    reading: Reading,
    twice: bool = False,
    beside: Beside = NOTHING,
) -> Judged:
    """
    Read the rows, recalibrated while they are read if an artifact is given.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which column is which.

        artifact: Path of a recalibrator to apply, or None.

        reading: How to read.

        twice: Whether the rows of the table may be wanted once more.

        beside: What is gathered beside: further score columns, slices, clusters.

    Raises:
        UsageProblem: If the scores look as if the artifact had been applied to them already.
    """
    if artifact is None:
        scores: Transforms = {RAW: None, **dict.fromkeys(beside.columns)}
        gathered = read_tables(
            inputs, columns, reading=reading, transforms=scores, beside=beside, twice=twice
        )
        return Judged(gathered, None, gathered.tables[RAW], gathered.again)
    from calibcli.artifacts.store import read_artifact

    loaded = read_artifact(artifact)
    columns = as_fitted(columns, loaded)
    transforms = {RAW: None, RECALIBRATED: as_transform(loaded.recalibrator)}
    gathered = read_tables(
        inputs, columns, reading=reading, transforms=transforms, beside=beside, twice=twice
    )
    refuse_applied_twice(gathered, loaded, artifact)
    return Judged(gathered, loaded, gathered.tables[RECALIBRATED])


def as_transform(recalibrator: "Recalibrator") -> Transform | AtPlaces:
    """Return a recalibrator as the map that rows go through: with the noise of `apply`, where it has some."""
    from calibcli.recalibrators.interface import randomised

    noisy = randomised(recalibrator)
    return recalibrator.predict if noisy is None else AtPlaces(noisy.predict_at)


def as_fitted(columns: Columns, artifact: "Artifact") -> Columns:
    """Read the columns as the fit did where the user does not say otherwise."""
    scale = artifact.scale if columns.scale is Scale.PROB else columns.scale
    return replace(columns, scale=scale, positive=columns.positive or artifact.positive)


def refuse_applied_twice(gathered: Gathered, artifact: "Artifact", path: str) -> None:
    """
    Refuse raw scores that are all outputs of the discrete recalibrator that is to be applied to them.

    Raises:
        UsageProblem: If they are.
    """
    outputs = artifact.recalibrator.bins
    raw = gathered.tables[RAW]
    if outputs is None or raw.kind != "exact" or raw.distinct == 0:
        return
    values = np.array([one.value for one in outputs])
    if np.isin(raw.score, values).all() and raw.distinct <= values.size and raw.total_rows > 1:
        msg = f"every value of column {gathered.input.score!r} is an output of {path}: already applied?"
        raise UsageProblem(msg, "name the raw score column, or leave out --artifact")
