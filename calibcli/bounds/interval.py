"""An interval with everything that must be said about it."""

import math
from dataclasses import dataclass

from calibcli.names import Target


@dataclass(frozen=True, slots=True)
class Interval:
    """
    Confidence bounds of one number.

    Args:
        lower: Lower bound, or None where only the upper one is stated.

        upper: Upper bound, or None where only the lower one is stated.

        confidence: Probability, over repetitions, that the stated bounds hold together.

        method: How the bounds were found, in the words of `docs/methods.md`.

        target: What they bound: the population's value, or that of these very scores with labels drawn
            anew (fixed-design).

        finite_sample: True where the confidence holds at every number of rows, False where it is
            approached as rows grow.
    """

    lower: float | None
    upper: float | None
    confidence: float
    method: str
    target: Target
    finite_sample: bool

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends; one that is not stated is infinite."""
        return (
            -math.inf if self.lower is None else self.lower,
            math.inf if self.upper is None else self.upper,
        )


def stated(end: float | None) -> float | None:
    """Return an end of an interval, or None where it excludes nothing."""
    return end if end is not None and math.isfinite(end) else None
