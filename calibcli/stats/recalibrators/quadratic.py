"""Quadratic recalibration: log odds that are a parabola of the score's."""

from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import INLINE, Ascending, Between, Size
from calibcli.names import RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import Recalibrator, require_both_labels
from calibcli.stats.recalibrators.logistic import Coefficient, Record, each_chunk, solved_or_smoothed
from calibcli.stats.recalibrators.newton import (
    LARGEST_LOGIT,
    Family,
    Labelled,
    logistic,
    logit,
    require_distinct,
)
from calibcli.stats.table import Floats
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Quadratic(Recalibrator):
    """1 / (1 + exp(-(intercept + slope z + bend z^2))) with z = logit(score)."""

    name: ClassVar = RecalibratorName.QUADRATIC
    intercept: Annotated[Coefficient, "Log odds where the score is 1/2."]
    slope: Annotated[Coefficient, "How they rise there."]
    bend: Annotated[Coefficient, "Coefficient of the square; 0 is Platt scaling."]
    fit_range: Annotated[
        tuple[float, float],
        Between(-LARGEST_LOGIT, LARGEST_LOGIT),
        Size(2, 2, reason="smallest and largest logit of the fit rows"),
        Ascending(),
        "Smallest and largest z of the fit rows; of rounded scores those of their points, the mean scores "
        "of the labels in each cell.",
    ]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """
        Fit by maximum likelihood, or by least squares started from there.

        Where a parabola parts the labels, the targets are smoothed, as they always are on request.
        """
        require_both_labels(table)
        points = Labelled.of(table)
        require_distinct(RecalibratorName.QUADRATIC, points, table=table, least=3)
        family = Family(RecalibratorName.QUADRATIC, parabola)
        found = solved_or_smoothed(family, table, points=points, options=options)
        found = found.over(table, rows)
        intercept, slope, bend = found.coefficients
        lowest, highest = logit(np.array([points.score.min(), points.score.max()])).tolist()
        return cls(intercept, slope, bend, (lowest, highest), found.record(table))

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, the same bits however scores are grouped."""
        return each_chunk(scores, self._logits)

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability, anywhere in [0, 1]."""
        return self.slope >= 2.0 * abs(self.bend) * LARGEST_LOGIT

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        parting = "A parabola in the logit of the score"
        if self.increasing:
            return self.record.notes(parting=parting)
        return self.record.notes(self._turning(), parting=parting)

    def falling(self, table: Table) -> int:
        """Return how many rows have a score at which the map falls."""
        falls = self.slope + 2.0 * self.bend * logit(table.score) < 0.0
        return int(table.rows[falls].sum())

    def _logits(self, scores: Floats) -> Floats:
        z = logit(scores)
        return self.intercept + (self.slope + self.bend * z) * z

    def _turning(self) -> str:
        """Say where the map falls."""
        lowest, highest = (self.slope + 2.0 * self.bend * z for z in self.fit_range)
        if lowest >= 0.0 and highest >= 0.0:
            return "The map turns round outside the fit scores; among them it is increasing."
        if lowest <= 0.0 and highest <= 0.0:
            return "The map is decreasing among the fit scores: a higher score gets a lower probability."
        turn = -self.slope / (2.0 * self.bend)
        small = f"{float(logistic(np.array(-abs(turn)))):.3g}"
        where = small if turn <= 0.0 else f"1 - {small}"
        return f"The map turns round at score {where}, inside the fit scores."


def parabola(scores: Floats) -> Floats:
    """Return the features 1, z and z^2, shape (3, n)."""
    z = logit(scores)
    return np.stack((np.ones(z.size), z, z * z))
