"""Predicted and observed rates of groups that have an order, such as months."""

import numpy as np

from calibcli.names import PlotKind
from calibcli.stats.curves.segments import Flags
from calibcli.stats.numerics import Floats
from calibcli.stats.table.score_table import Arrays
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class TrendCurve(Arrays):
    """
    Groups in their order, shape (n,) each.

    Args:
        column: What they are told by.
        names: What each is called.
        score: Mean score.
        bias: Observed rate less mean score.
        lower: Lower end of its interval, NaN where there is none; all intervals hold at once.
        upper: Upper end.
        confidence: Of all intervals together.
        joined: Whether lines from one group to the next mean something, as they do from month to month.
    """

    column: str
    names: tuple[str, ...]
    score: Floats
    bias: Floats
    lower: Floats
    upper: Floats
    confidence: float
    joined: bool = True

    kind = PlotKind.TREND

    @property
    def rate(self) -> Floats:
        """Observed rate of each."""
        return self.score + self.bias

    @property
    def too_low(self) -> Flags:
        """Where scores are shown to be too low."""
        return np.asarray(self.lower > 0.0, np.bool_)

    @property
    def too_high(self) -> Flags:
        """Where scores are shown to be too high."""
        return np.asarray(self.upper < 0.0, np.bool_)
