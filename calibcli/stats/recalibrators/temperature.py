"""Temperature scaling: every log odds is divided by one number."""

from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import INLINE, Between
from calibcli.errors import InputProblem
from calibcli.names import RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import Recalibrator, require_both_labels
from calibcli.stats.recalibrators.logistic import LARGEST, Record, each_chunk, solved
from calibcli.stats.recalibrators.newton import (
    LARGEST_LOGIT,
    Aim,
    Family,
    Labelled,
    logit,
    parted_at_zero,
    ray,
)
from calibcli.stats.table import Floats
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass

# Of sums whose terms cancel.
_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class Temperature(Recalibrator):
    """
    1 / (1 + exp(-logit(score) / temperature)).

    References:
        Guo, Pleiss, Sun & Weinberger (2017), ICML, section 4.2.
    """

    name: ClassVar = RecalibratorName.TEMPERATURE
    temperature: Annotated[
        float, Between(1.0 / LARGEST, LARGEST), "Above 1 lowers confidence, below 1 raises it; 1/2 stays."
    ]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """
        Fit by maximum likelihood, or by least squares started from there.

        Where the threshold 1/2 parts the labels, the targets are smoothed, as they always are on request.
        """
        require_both_labels(table)
        points = Labelled.of(table)
        _require_doubt(points, table)
        aim = Aim.of(table, options, separated=parted_at_zero(*points.logits))
        _require_rise(points, aim)
        found = solved(Family(RecalibratorName.TEMPERATURE, ray), points, aim=aim).over(table, rows)
        slope = found.coefficients[0]
        if not slope > 0.0:
            raise _no_rise()
        return cls(1.0 / slope, found.record(table))

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, the same bits however scores are grouped."""
        return each_chunk(scores, lambda part: logit(part) / self.temperature)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        return self.record.notes(parting="The score 1/2")


def _require_doubt(points: Labelled, table: Table) -> None:
    """Refuse scores whose certainty no temperature can be read from."""
    sizes = np.abs(logit(points.score))
    if np.all((sizes == 0.0) | (sizes >= LARGEST_LOGIT)):
        msg = f"no temperature is defined: each of the {table.total_rows:,} rows has score 0, 1/2 or 1"
        raise InputProblem(msg, "use --method platt or isotonic; is --score the right column?")


def _require_rise(points: Labelled, aim: Aim) -> None:
    """Refuse labels for which the best slope is not positive: the log loss must fall at slope 0."""
    share = points.weight / np.sum(points.weight)
    pull = share * (aim.targets(points.label) - 0.5) * logit(points.score)
    if not float(np.sum(pull)) > _ROUNDING * float(np.sum(np.abs(pull))):
        raise _no_rise()


def _no_rise() -> InputProblem:
    msg = "labels do not rise with the score, so that no temperature above 0 is best"
    return InputProblem(msg, "use --method platt, which can turn the order of scores round")
