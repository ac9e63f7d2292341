"""Platt scaling: a logistic curve in the logit of the score."""

from typing import Annotated, ClassVar, Self

from calibcli.codec import INLINE
from calibcli.names import RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import Recalibrator, require_both_labels
from calibcli.stats.recalibrators.logistic import Coefficient, Record, each_chunk, solved_or_smoothed
from calibcli.stats.recalibrators.newton import Family, Labelled, line, logit, require_distinct
from calibcli.stats.table import Floats
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Platt(Recalibrator):
    """
    1 / (1 + exp(-(intercept + slope logit(score)))).

    References:
        Platt (1999), Probabilistic outputs for support vector machines, section 2.
    """

    name: ClassVar = RecalibratorName.PLATT
    intercept: Annotated[Coefficient, "Log odds where the score is 1/2."]
    slope: Annotated[
        Coefficient, "1 leaves confidence as it is, below 1 lowers it; negative turns the order round."
    ]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """
        Fit by maximum likelihood, or by least squares started from there.

        Where a threshold on the score parts the labels, the targets are smoothed, as they always are on
        request.
        """
        require_both_labels(table)
        points = Labelled.of(table)
        require_distinct(RecalibratorName.PLATT, points, table=table, least=2)
        family = Family(RecalibratorName.PLATT, line)
        found = solved_or_smoothed(family, table, points=points, options=options)
        found = found.over(table, rows)
        intercept, slope = found.coefficients
        return cls(intercept, slope, found.record(table))

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, the same bits however scores are grouped."""
        return each_chunk(scores, lambda part: self.intercept + self.slope * logit(part))

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability."""
        return self.slope >= 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        if self.increasing:
            return self.record.notes()
        return self.record.notes("The slope is negative: a higher score gets a lower probability.")
