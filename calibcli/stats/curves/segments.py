"""Parts of the rows: segments as points or as cells of a table, and groups in an order, such as months."""

import numpy as np

from calibcli.names import PlotKind
from calibcli.stats.numerics import Booleans, Floats
from calibcli.stats.table import Arrays
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class SegmentPoints(Arrays):
    """The segments that are tested, shape (n,) each.

    Args:
        bias: Mean score less observed rate.
        lower: Lower end of its interval; all intervals hold at once.
        stands_out: Whether a segment is shown to be miscalibrated, for all of them at once.
        listed: Places of those that are named in the picture, worst first.
        confidence: Of all intervals together.
    """

    rows: Floats
    bias: Floats
    lower: Floats
    upper: Floats
    stands_out: Booleans
    names: tuple[str, ...]
    listed: tuple[int, ...]
    confidence: float

    kind = PlotKind.SEGMENTS


@dataclass(frozen=True, slots=True, eq=False)
class SegmentCells(Arrays):
    """The segments of two columns; arrays of shape (n_down + 1, n_across + 1), all rows last.

    Args:
        across: The name of one column.
        down: The name of the other.
        columns: The levels of the one, in short.
        lines: The levels of the other.
        rows: 0 where there are none.
        bias: Mean score less observed rate; NaN where there are no rows.
        lower: Lower end of its interval, NaN where the segment is not tested; all intervals hold at once.
        stands_out: Whether a segment is shown to be miscalibrated, for all of them at once.
    """

    across: str
    down: str
    columns: tuple[str, ...]
    lines: tuple[str, ...]
    rows: Floats
    bias: Floats
    lower: Floats
    upper: Floats
    stands_out: Booleans
    confidence: float

    kind = PlotKind.HEATMAP

    @property
    def is_tested(self) -> Booleans:
        """Which cells have an interval."""
        return ~np.isnan(self.lower)


@dataclass(frozen=True, slots=True, eq=False)
class TrendCurve(Arrays):
    """Groups in their order, shape (n,) each.

    Args:
        column: What they are told by.
        bias: Observed rate less mean score.
        lower: Lower end of its interval, NaN where there is none; all intervals hold at once.
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
        return self.score + self.bias

    @property
    def too_low(self) -> Booleans:
        """Where scores are shown to be too low."""
        return np.asarray(self.lower > 0.0, np.bool_)

    @property
    def too_high(self) -> Booleans:
        """Where scores are shown to be too high."""
        return np.asarray(self.upper < 0.0, np.bool_)


def reach(curve: SegmentPoints | TrendCurve) -> float:
    """Return how far from 0 the farthest point lies, or half of a usual interval if that is more."""
    halves = 0.5 * (curve.upper - curve.lower)
    halves = halves[np.isfinite(halves)]
    return max(float(np.abs(curve.bias).max(initial=0.0)), float(np.median(halves)) if halves.size else 0.0)
