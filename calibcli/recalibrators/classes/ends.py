"""The two ends that maps of single scores put around a probability, where rows have several classes."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from calibcli.recalibrators.classes.interface import ClassRecalibrator
from calibcli.table.score_table import Floats, Integers
from calibcli.view_names import EndsOf


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """
    Lower and upper ends.

    Args:
        lower: Of every class, shape (n, K), or of the most probable one of each recalibrated row, shape (n,).

        upper: The same.
    """

    lower: Floats
    upper: Floats

    def in_order(self, order: Integers) -> "Ends":
        """Return ends whose column k goes to column `order[k]`; those of one class stay as they are."""
        if self.lower.ndim == 1:
            return self
        lower, upper = np.empty_like(self.lower), np.empty_like(self.upper)
        lower[:, order], upper[:, order] = self.lower, self.upper
        return Ends(lower, upper)


@runtime_checkable
class WithClassEnds(Protocol):
    """A map of several classes that may bracket probabilities."""

    @property
    def ends_of(self) -> EndsOf | None:
        """Whether every class has ends, or the most probable one alone; None where none has."""
        ...

    def ends(self, probability: Floats, after: Floats) -> Ends:
        """
        Return the ends.

        Args:
            probability: Shape (n, K).

            after: The same rows recalibrated.
        """
        ...


def kind_of_ends(recalibrator: ClassRecalibrator) -> EndsOf | None:
    """Return which classes a map brackets, or None."""
    return recalibrator.ends_of if isinstance(recalibrator, WithClassEnds) else None


def ends_of(recalibrator: ClassRecalibrator, probability: Floats, after: Floats) -> Ends | None:
    """
    Return the ends of recalibrated rows, or None where the map has none.

    Args:
        recalibrator: The map.

        probability: Shape (n, K).

        after: The same rows recalibrated.
    """
    if not isinstance(recalibrator, WithClassEnds) or recalibrator.ends_of is None:
        return None
    return recalibrator.ends(probability, after)
