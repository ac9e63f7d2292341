"""Reliability curves: how often label 1 was observed where the scores promised it, as points to draw."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from calibcli.bounds.proportion import clopper_pearson
from calibcli.codec import GAPS, INLINE, Ascending, Between, Declared, Fraction, Kept, Node, Size
from calibcli.errors import EmptyTable
from calibcli.picture_names import PlotKind
from calibcli.table.bins import Partition, binned
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats, Integers, frozen

NO_WEIGHTED_BAND = "no interval: importance weights leave none that holds at a single score"
_BIN_KEYS = ("lower", "upper", "rows", "score", "rate", "rate_lower", "rate_upper")
_SMOOTH_KEYS = ("at", "x", "y", "lower", "upper", "density")


@dataclass(frozen=True, slots=True, eq=False)
class BinnedCurve:
    """
    Mean score and observed rate of each occupied bin; all arrays have shape (n_bins,).

    Args:
        lower: Left edge of each bin (the score itself where every distinct score is a bin).

        upper: Right edge of each bin.

        rows: Number of rows, at least 1.

        score: Weighted mean score.

        rate: Weighted share of label 1.

        rate_lower: Lower bound of the rate, pointwise; NaN where there is none.

        rate_upper: Upper bound of the rate.

        band: What the bounds are, or why there are none.
    """

    lower: Floats
    upper: Floats
    rows: Integers
    score: Floats
    rate: Floats
    rate_lower: Floats
    rate_upper: Floats
    band: str

    def __post_init__(self) -> None:
        for name in _BIN_KEYS:
            kind = np.int64 if name == "rows" else np.float64
            object.__setattr__(self, name, frozen(getattr(self, name), kind))

    @property
    def total_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())


@dataclass(frozen=True, slots=True)
class Bin(Declared):
    """An occupied bin of a curve."""

    lower: Annotated[
        Fraction,
        "Left edge, not included except in the first bin; the score itself where each distinct score is a "
        "bin.",
    ]
    upper: Annotated[Fraction, "Right edge, included."]
    rows: Annotated[int, Between(1)]
    score: Annotated[Fraction, "Mean score."]
    rate: Annotated[Fraction, "Share of label 1."]
    rate_lower: Annotated[Fraction | None, "Lower bound of the rate, pointwise; null where there is none."]
    rate_upper: Annotated[Fraction | None, "Upper bound of the rate."]


@dataclass(frozen=True, slots=True)
class Bins(Declared):
    """A binned curve as a document keeps it: bin by bin."""

    bins: Annotated[tuple[Bin, ...], Size(1), "Occupied bins, ascending."]
    band: Annotated[str, "What the bounds of each bin are, or why there are none."]

    @classmethod
    def of(cls, curve: BinnedCurve) -> Self:
        """Return the bins of a curve."""
        columns: Any = (getattr(curve, name).tolist() for name in _BIN_KEYS)
        rows: Any = ([None if math.isnan(one) else one for one in row] for row in zip(*columns, strict=True))
        return cls(tuple(Bin(*row) for row in rows), curve.band)

    def curve(self, _: Node) -> BinnedCurve:
        """Return the curve."""
        columns: Any = {
            name: np.array([getattr(one, name) for one in self.bins], np.float64) for name in _BIN_KEYS
        }
        return BinnedCurve(**columns, band=self.band)


# One for each place of the kernel.
_AT_EACH = (Between(0.0, 1.0), GAPS, Size(of="at", reason="one for each place of the kernel"))


@dataclass(frozen=True, slots=True, eq=False)
class SmoothCurve(Declared):
    """
    Kernel-weighted mean label against kernel-weighted mean score; all arrays have shape (n_points,).

    At a place t the kernel sees rows around t, and the curve's point is their mean score and their mean
    label, just as a bin's point is. So a calibrated model lies on the diagonal at any bandwidth, and the
    integral of density(t) |y(t) - x(t)| dt is the smoothed calibration error at that bandwidth. x does not
    decrease.
    """

    at: Annotated[Floats, Between(0.0, 1.0), Size(1), Ascending(), "Where the kernel stands, evenly spaced."]
    x: Annotated[Floats, *_AT_EACH, "Mean score there; null where no row lies within reach."]
    y: Annotated[Floats, *_AT_EACH, "Mean label there."]
    lower: Annotated[Floats, *_AT_EACH, "Lower end of the band; null where there is none."]
    upper: Annotated[Floats, *_AT_EACH, "Upper end of the band."]
    density: Annotated[
        Floats, Between(0.0), _AT_EACH[2], "Density of the scores there, smoothed by the same kernel."
    ]
    bandwidth: Annotated[float, Between(0.0), "Standard deviation of the kernel."]
    band: Annotated[str, "What the band is, or why there is none."]

    def __post_init__(self) -> None:
        for name in _SMOOTH_KEYS:
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityCurve(Declared):
    """Everything a reliability diagram draws."""

    kind: Annotated[PlotKind, "The diagram this curve is meant for."]
    binned: Annotated[BinnedCurve, Kept(Bins, Bins.of, Bins.curve), INLINE]
    smooth: Annotated[SmoothCurve | None, "The curve without bins; null where only bins were asked for."]
    confidence: Annotated[Fraction, "Of the bounds at each single bin or point."]


def binned_curve(table: Table, *, bins: Partition, confidence: float = 0.95) -> BinnedCurve:
    """
    Return mean score and observed rate of each occupied bin.

    Args:
        table: The rows.

        bins: The partition.

        confidence: Of the Clopper-Pearson bounds, which hold for one bin at a time; in (0, 1).

    Raises:
        EmptyTable: If the table holds no rows, or no weight.
    """
    refuse_empty(table)
    sums = binned(table, bins)
    some = sums.occupied
    weight = sums.weight[some]
    if table.weighted:
        lower = upper = np.full(weight.size, math.nan)
        band = NO_WEIGHTED_BAND
    else:
        lower, upper = clopper_pearson(sums.positive[some], weight, delta_each_side=(1.0 - confidence) / 2.0)
        band = f"pointwise {percent(confidence)} Clopper-Pearson"
    return BinnedCurve(
        lower=sums.lower[some],
        upper=sums.upper[some],
        rows=sums.rows[some],
        score=np.clip(sums.score_sum[some] / weight, sums.lower[some], sums.upper[some]),
        rate=np.minimum(sums.positive[some] / weight, 1.0),
        rate_lower=lower,
        rate_upper=upper,
        band=band,
    )


def refuse_empty(table: Table) -> None:
    """Refuse a table that has no curve."""
    if table.total_rows == 0 or not table.weight.sum() > 0.0:
        msg = "no rows to draw"
        raise EmptyTable(msg)


def percent(confidence: float) -> str:
    """Return a confidence in words, such as `95 %`."""
    return f"{100.0 * confidence:g} %"
