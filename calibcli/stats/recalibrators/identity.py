"""No repair: every score is its own probability."""

from typing import ClassVar, Self

from calibcli.names import RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import Recalibrator, checked_scores, require_both_labels
from calibcli.stats.table import Floats
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Identity(Recalibrator):
    """The score itself; of logits and log-probabilities the probability that they stand for."""

    name: ClassVar = RecalibratorName.IDENTITY

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:  # noqa: ARG003
        """Return the map that changes nothing."""
        require_both_labels(table)
        return cls()

    def predict(self, scores: Floats) -> Floats:
        """Return the scores, once they are checked."""
        return checked_scores(scores)
