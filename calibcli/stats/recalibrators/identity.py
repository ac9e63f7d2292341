"""No repair: every score is its own probability."""

from typing import Self

from calibcli.codec import Declared
from calibcli.names import RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.interface import Continuum, checked_scores, require_both_labels
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.stats.table.score_table import Floats
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Identity(Declared, Continuum):
    """The score itself; of logits and log-probabilities the probability that they stand for."""

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions | None = None, rows: Rows | None = None) -> Self:  # noqa: ARG003
        """Return the map that changes nothing."""
        require_both_labels(table)
        return cls()

    def predict(self, scores: Floats) -> Floats:
        """Return the scores, once they are checked."""
        return checked_scores(scores)

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        return RecalibratorName.IDENTITY

    @property
    def increasing(self) -> bool:
        """Always."""
        return True

    @property
    def notes(self) -> tuple[str, ...]:
        """None."""
        return ()
