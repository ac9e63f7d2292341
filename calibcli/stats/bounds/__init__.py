"""Intervals that know nothing of calibration."""

import math
from typing import Annotated, Literal

from calibcli.codec import AnyNumber, Chance, Declared
from calibcli.names import Target
from calibcli.values import dataclass

# What an interval of a difference is called that takes no row of the two scores together.
FROM_BOTH = "Bonferroni of both intervals"


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
