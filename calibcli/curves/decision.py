"""The decision curve: what acting on a score is worth, against acting on all rows or on none."""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibcli.bounds.two_shares import TWO_SHARES, bounds_of_two_shares
from calibcli.curves.reliability import percent
from calibcli.curves.thresholds import NO_WEIGHTED_THRESHOLDS, Thresholds, thresholds_of
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats, frozen

Range = tuple[float, float]
Truths = npt.NDArray[np.bool_]
# Ranges of thresholds shorter than this part of the longest are not told of.
_SHORT = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class DecisionCurve:
    """
    Net benefit at every threshold t; arrays have shape (n_points,).

    Rows with a score of at least t are treated. A treated row of label 1 is worth 1 and one of label 0 costs
    t / (1 - t), which is what someone thinks who would treat from a probability of t on. The mean is the net
    benefit.

    Args:
        at: Thresholds in [0, 1), not decreasing; two points where the curve steps, the first of which is the
            value at the threshold and the second that right above it.

        value: Net benefit of treating by the score.

        lower: Lower end of its interval; NaN where there is none.

        upper: Upper end.

        all: Net benefit of treating every row.

        raw: Net benefit of the score before recalibration, or None.

        better: Ranges of thresholds in which the score is worth more than treating all and treating none.

        clearly_better: Ranges in which both differences are above 0 by the lower ends of their own intervals;
            None where there are no intervals.

        ends: Where thresholds are worth looking at: the scores but for strays, and the share of label 1.

        base: Share of label 1.

        confidence: Of the interval at each single threshold.

        band: What the interval is, or why there is none.

    References:
        Vickers & Elkin (2006), Med. Decis. Making 26.
    """

    at: Floats
    value: Floats
    lower: Floats
    upper: Floats
    all: Floats
    raw: tuple[Floats, Floats] | None
    better: tuple[Range, ...]
    clearly_better: tuple[Range, ...] | None
    ends: Range
    base: float
    confidence: float
    band: str

    def __post_init__(self) -> None:
        for name in ("at", "value", "lower", "upper", "all"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))


def decision_curve(table: Table, *, raw: Table | None = None, confidence: float = 0.95) -> DecisionCurve:
    """
    Return the net benefit at every threshold below 1.

    Args:
        table: The rows. Thresholds on a grid table are ends of its cells.

        raw: The same rows under the score before recalibration, or None.

        confidence: Of the interval at each single threshold, in (0, 1).

    Raises:
        EmptyTable: If there are no rows, or no weight.
    """
    found = _below_one(thresholds_of(table))
    odds = found.at / (1.0 - found.at)
    base, total = found.base, found.total
    treated, spared = found.positive - found.missed, (total - found.positive) - found.alarms
    value, everyone = _worth(found), base - (1.0 - base) * odds
    one = np.ones_like(odds)
    lower, upper = _bounds(found, (treated, found.alarms), (one, -odds), confidence=confidence)
    over_all, _ = _bounds(found, (found.missed, spared), (-one, odds), confidence=confidence)
    gain = (odds * spared - found.missed) / total
    clear = None if found.weighted else _ranges(found.at, (lower > 0.0) & (over_all > 0.0))
    own = f"pointwise {percent(confidence)}, {TWO_SHARES}"
    return DecisionCurve(
        at=found.at,
        value=value,
        lower=lower,
        upper=np.minimum(upper, 1.0),
        all=everyone,
        raw=None if raw is None else _of_raw(raw),
        better=_ranges(found.at, (value > 0.0) & (gain > 0.0)),
        clearly_better=clear,
        ends=found.ends,
        base=base,
        confidence=confidence,
        band=NO_WEIGHTED_THRESHOLDS if found.weighted else own,
    )


def _below_one(found: Thresholds) -> Thresholds:
    kept = found.at < 1.0
    return replace(found, at=found.at[kept], missed=found.missed[kept], alarms=found.alarms[kept])


def _worth(found: Thresholds) -> Floats:
    odds = found.at / (1.0 - found.at)
    return np.asarray((found.positive - found.missed - odds * found.alarms) / found.total)


def _of_raw(table: Table) -> tuple[Floats, Floats]:
    found = _below_one(thresholds_of(table))
    return found.at, _worth(found)


def _bounds(
    found: Thresholds, counts: tuple[Floats, Floats], factors: tuple[Floats, Floats], *, confidence: float
) -> tuple[Floats, Floats]:
    if found.weighted:
        nothing = np.full_like(found.at, math.nan)
        return nothing, nothing
    return bounds_of_two_shares(*counts, rows=found.total, factors=factors, confidence=confidence)


def _ranges(at: Floats, holds: Truths) -> tuple[Range, ...]:
    """Return the ranges of thresholds between the first and the last point of each run."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], holds, [False])).astype(np.int8)))
    found = [(float(at[start]), float(at[stop - 1])) for start, stop in edges.reshape(-1, 2)]
    longest = max((stop - start for start, stop in found), default=0.0)
    return tuple(one for one in found if one[1] - one[0] > _SHORT * longest)
