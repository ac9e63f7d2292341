"""Intervals, and p-values of several tests, that know nothing of calibration."""

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from calibcli.codec import AnyNumber, Chance, Declared
from calibcli.names import Target
from calibcli.values import dataclass

# What an interval of a difference is called that takes no row of the two scores together.
FROM_BOTH = "Bonferroni of both intervals"

# How an assumption begins that says why there is no interval, or that nothing was compared.
_NONE = "no interval", "not compared"


@dataclass(frozen=True, slots=True)
class Interval(Declared):
    """Confidence bounds of one number."""

    lower: Annotated[AnyNumber | None, "Null where there is no bound: the assumptions say why."]
    upper: Annotated[AnyNumber | None, "Null where there is no bound."]
    confidence: Annotated[Chance, "Probability, over repetitions, that the stated bounds hold together."]
    method: Annotated[str, "How the bounds were found, in the words of `docs/methods.md`."]
    target: Annotated[
        Target, "What the bounds speak of: the population, or these very scores with labels drawn anew."
    ]
    finite_sample: Annotated[
        bool, "Whether the confidence holds at every number of rows, or only as rows grow."
    ]

    @property
    def sides(self) -> Annotated[Literal[2], "On how many sides an interval may err."]:
        """Two: an interval that states one end is that of both."""
        return 2

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


def why_none(assumptions: Iterable[str]) -> list[str]:
    """Return which of some assumptions say why there is no interval, or that nothing was compared."""
    return [one for one in assumptions if one.startswith(_NONE)]


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return p-values that hold for all tests at once, however they depend on each other.

    References:
        Holm (1979), Scandinavian Journal of Statistics 6.
    """
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    found: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        found[place] = largest
    return tuple(found)
