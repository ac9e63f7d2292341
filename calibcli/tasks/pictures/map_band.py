"""The band of a map by fitting it again to rows drawn from its fit rows."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import numpy as np

from calibcli.curves.map import Band
from calibcli.curves.reliability import percent
from calibcli.documents.artifact import Artifact
from calibcli.errors import CalibcliError
from calibcli.names import BetaForm, Binning, FitLoss, Purpose, RecalibratorName, Split
from calibcli.options.fitting import FitOptions
from calibcli.recalibrators import fit_recalibrator
from calibcli.recalibrators.identity import Identity
from calibcli.recalibrators.interface import Recalibrator, WithEnds
from calibcli.table.bins import equal_mass_ends, segment_sums
from calibcli.table.grid import Table
from calibcli.table.moved import with_scores
from calibcli.table.score_table import Floats, ScoreTable
from calibcli.table.streams import stream

_DRAWS, _MOST_SCORES = 100, 512
# Which options are names of something.
_CHOICES: dict[str, type[StrEnum]] = {
    "binning": Binning,
    "loss": FitLoss,
    "form": BetaForm,
    "split": Split,
    "base": RecalibratorName,
}
_NOT_FITTED = "no band: nothing was fitted, so nothing is uncertain"
_NO_ROWS = "no band: it needs the fit rows, which an artifact does not hold"
_OTHER_ROWS = "no band around the map: it needs the fit rows, and these are others"
_WEIGHTED = "no band around the map: rows with importance weights cannot be drawn anew from their table"


def map_band(
    artifact: Artifact, table: Table | None, *, fitted_rows: bool, confidence: float, seed: int
) -> Band:
    """
    Return the band of a map, where its fit rows are at hand.

    Args:
        artifact: The map with the record of its fit.

        table: Rows by their raw scores, or None.

        fitted_rows: Whether they are the fit rows.

        confidence: Of the band at each single score, in (0, 1).

        seed: Of the draws.
    """
    if isinstance(artifact.recalibrator, Identity):
        return Band(None, _NOT_FITTED)
    if table is None:
        return Band(None, _NO_ROWS)
    if isinstance(artifact.recalibrator, WithEnds) or not fitted_rows:
        return Band(None, _OTHER_ROWS)
    if table.weighted:
        return Band(None, _WEIGHTED)
    maps = refitted(artifact, table, seed=seed)
    if len(maps) < 0.9 * _DRAWS:
        return Band(None, f"no band around the map: {_DRAWS - len(maps)} of {_DRAWS} refits failed")

    def around(score: Floats) -> tuple[Floats, Floats]:
        outputs = np.sort([one.predict(score) for one in maps], axis=0)
        cut = int((1.0 - confidence) / 2.0 * len(maps))
        return outputs[cut], outputs[len(maps) - 1 - cut]

    words = f"pointwise {percent(confidence)} resampling band, {len(maps)} fits to draws from the fit rows"
    return Band(around, words)


def refitted(artifact: Artifact, table: Table, *, seed: int) -> list[Recalibrator]:
    """
    Fit the same method with the same options to rows drawn with replacement; fits that fail are left out.

    Args:
        artifact: The map with the record of its fit.

        table: Its fit rows; of many scores, neighbours are drawn together at their mean.

        seed: Of the draws.
    """
    rows, options = _coarse(table), options_of(artifact.fit.options)
    generator, method = stream(seed, Purpose.MAP_BAND), artifact.recalibrator.name
    maps = []
    for _ in range(_DRAWS):
        try:
            maps.append(fit_recalibrator(method, _drawn(rows, generator), options=options))
        except CalibcliError:
            continue
    return maps


def options_of(plain: Mapping[str, object]) -> FitOptions:
    """Return the options that the record of a fit holds in plain values."""
    known: dict[str, Any] = dict(plain)
    for key, choice in _CHOICES.items():
        if key in known:
            known[key] = choice(known[key])
    return FitOptions(**known)


def _coarse(table: Table) -> ScoreTable:
    """Return a table of at most so many scores, of about equal numbers of rows."""
    if table.distinct <= _MOST_SCORES:
        return with_scores(table, table.score)
    ends = equal_mass_ends(np.cumsum(table.rows), _MOST_SCORES)
    starts = np.concatenate(([0], ends + 1, [table.distinct]))
    means = segment_sums(table.weight * table.score, starts) / segment_sums(table.weight, starts)
    return with_scores(table, np.repeat(np.minimum(means, 1.0), np.diff(starts)))


def _drawn(table: ScoreTable, generator: np.random.Generator) -> ScoreTable:
    """Draw as many rows as there are, with replacement."""
    counts = np.concatenate((table.rows - table.positive_rows, table.positive_rows))
    drawn = generator.multinomial(table.total_rows, counts / table.total_rows)
    negative, positive = drawn[: table.distinct], drawn[table.distinct :]
    kept = negative + positive > 0
    return ScoreTable(table.score[kept], (negative + positive)[kept], positive[kept])
