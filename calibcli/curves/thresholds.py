"""Rows on the wrong side of every threshold: what the Murphy and the decision curve are made of."""

from dataclasses import dataclass

import numpy as np

from calibcli.curves.reliability import refuse_empty
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats, frozen

NO_WEIGHTED_THRESHOLDS = "no interval: importance weights leave none that holds at a single threshold"
# Up to so many distinct scores every step is kept.
_MOST_STEPS = 320
_EVEN = 129
# This share of the rows at each end of the scores may lie outside a picture.
_STRAY = 0.0005


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """
    Weight on the wrong side of each threshold; arrays have shape (n_points,).

    At a score that is kept there are two points: before the rows with that score fall below the threshold,
    and after.

    Args:
        at: The thresholds in [0, 1], not decreasing.

        missed: Weight of label 1 below the threshold.

        alarms: Weight of label 0 not below it.

        positive: Weight of label 1 in all.

        total: Weight in all.

        ends: Where thresholds are worth looking at: between these lie the scores but for strays, and the
            share of label 1.

        weighted: Whether weights are those of importance, so that no interval holds.
    """

    at: Floats
    missed: Floats
    alarms: Floats
    positive: float
    total: float
    ends: tuple[float, float]
    weighted: bool

    def __post_init__(self) -> None:
        for name in ("at", "missed", "alarms"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))

    @property
    def base(self) -> float:
        """Share of label 1."""
        return self.positive / self.total


def thresholds_of(table: Table) -> Thresholds:
    """
    Count what lies on the wrong side of thresholds.

    Thresholds are even steps, and scores of the table: all of them where they are few, else even steps and
    quantiles among them. Those of a grid table are ends of its cells, where its counts are exact.

    Args:
        table: The rows.

    Raises:
        EmptyTable: If there are no rows, or no weight.
    """
    refuse_empty(table)
    present = np.flatnonzero(table.weight > 0.0)
    upper, weight = table.upper[present], table.weight[present]
    positive = table.positive[present]
    steps = _steps(upper, weight)
    even = _on_cell_ends(np.linspace(0.0, 1.0, _EVEN), upper, table.resolution)
    at = np.concatenate((even, upper[steps], upper[steps]))
    below = np.concatenate((np.searchsorted(upper, even, side="right"), steps, steps + 1))
    order = np.lexsort((below, at))
    at, below = at[order], below[order]
    new = np.concatenate(([True], (at[1:] > at[:-1]) | (below[1:] > below[:-1])))
    ones = np.concatenate(([0.0], np.cumsum(positive)))
    others = np.concatenate(([0.0], np.cumsum(np.maximum(weight - positive, 0.0))))
    total = float(ones[-1] + others[-1])
    return Thresholds(
        at=at[new],
        missed=ones[below[new]],
        alarms=others[-1] - others[below[new]],
        positive=float(ones[-1]),
        total=total,
        ends=_ends(upper, np.cumsum(weight), base=float(ones[-1]) / total),
        weighted=table.weighted,
    )


def _steps(upper: Floats, weight: Floats) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return which scores are kept."""
    if upper.size <= _MOST_STEPS:
        return np.arange(upper.size)
    reached = np.cumsum(weight)
    half = _MOST_STEPS // 2
    ranks = np.searchsorted(reached, np.linspace(0.0, 1.0, half) * reached[-1])
    evenly = np.searchsorted(upper, np.linspace(upper[0], upper[-1], half))
    return np.unique(np.minimum(np.concatenate((ranks, evenly)), upper.size - 1))


def _ends(upper: Floats, reached: Floats, *, base: float) -> tuple[float, float]:
    first, last = np.searchsorted(reached, np.array([_STRAY, 1.0 - _STRAY]) * reached[-1])
    return min(float(upper[first]), base), max(float(upper[min(last, upper.size - 1)]), base)


def _on_cell_ends(at: Floats, upper: Floats, resolution: float) -> Floats:
    """Move thresholds that lie inside an occupied cell to its end."""
    after = upper[np.minimum(np.searchsorted(upper, at), upper.size - 1)]
    return np.where((after >= at) & (after - at < resolution), after, at)
