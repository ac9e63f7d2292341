"""Reliability curves: how often label 1 was observed where the scores promised it, as points to draw."""

import math
from dataclasses import dataclass

import numpy as np

from calibcli.bounds.proportion import clopper_pearson
from calibcli.codec import Node, ascending, same_length
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

    def to_list(self) -> list[dict[str, object]]:
        """Return the bins as plain values, in ascending order."""
        columns = [getattr(self, name).tolist() for name in _BIN_KEYS]
        return [
            {key: _plain(value) for key, value in zip(_BIN_KEYS, row, strict=True)}
            for row in zip(*columns, strict=True)
        ]

    @classmethod
    def from_list(cls, node: Node, *, band: str) -> "BinnedCurve":
        """Read what `to_list` returned."""
        items = node.items()
        for item in items:
            item.only(*_BIN_KEYS)
        if not items:
            msg = "is empty, should hold at least one bin"
            raise node.problem(msg)

        def column(key: str) -> Floats:
            return np.array([item.child(key).number(0.0, 1.0) for item in items])

        def bound(key: str) -> Floats:
            return np.array([_unit(item.child(key)) for item in items])

        return cls(
            lower=column("lower"),
            upper=column("upper"),
            rows=np.array([item.child("rows").whole(1) for item in items], dtype=np.int64),
            score=column("score"),
            rate=column("rate"),
            rate_lower=bound("rate_lower"),
            rate_upper=bound("rate_upper"),
            band=band,
        )


@dataclass(frozen=True, slots=True, eq=False)
class SmoothCurve:
    """
    Kernel-weighted mean label against kernel-weighted mean score; all arrays have shape (n_points,).

    At a place t the kernel sees rows around t, and the curve's point is their mean score and their mean
    label, just as a bin's point is. So a calibrated model lies on the diagonal at any bandwidth, and the
    integral of density(t) |y(t) - x(t)| dt is the smoothed calibration error at that bandwidth. x does not
    decrease.

    Args:
        at: Where the kernel stands, evenly spaced.

        x: Mean score there; NaN where no row lies within reach.

        y: Mean label there.

        lower: Lower end of the band; NaN where there is none.

        upper: Upper end of the band.

        density: Density of the scores there, smoothed by the same kernel.

        bandwidth: Standard deviation of the kernel.

        band: What the band is, or why there is none.
    """

    at: Floats
    x: Floats
    y: Floats
    lower: Floats
    upper: Floats
    density: Floats
    bandwidth: float
    band: str

    def __post_init__(self) -> None:
        for name in _SMOOTH_KEYS:
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))

    def to_dict(self) -> dict[str, object]:
        """Return plain values; a gap is None."""
        columns: dict[str, object] = {
            key: [_plain(value) for value in getattr(self, key).tolist()] for key in _SMOOTH_KEYS
        }
        return {**columns, "bandwidth": self.bandwidth, "band": self.band}

    @classmethod
    def from_dict(cls, node: Node) -> "SmoothCurve":
        """Read what `to_dict` returned."""
        node.only(*_SMOOTH_KEYS, "bandwidth", "band")
        at = node.child("at")
        places = at.numbers(0.0, 1.0)
        if not places:
            msg = "is empty, should hold at least one place"
            raise at.problem(msg)
        ascending(at.items())

        def column(key: str) -> Floats:
            array = node.child(key)
            same_length(array, len(places), reason="one for each place of the kernel")
            if key == "density":
                return np.array(array.numbers(0.0))
            return np.array([_unit(item) for item in array.items()])

        return cls(
            at=np.array(places),
            x=column("x"),
            y=column("y"),
            lower=column("lower"),
            upper=column("upper"),
            density=column("density"),
            bandwidth=node.child("bandwidth").number(0.0),
            band=node.child("band").text(),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityCurve:
    """
    Everything a reliability diagram draws.

    Args:
        kind: The diagram this curve is meant for.

        binned: One point per occupied bin.

        smooth: The curve without bins, or None where only bins were asked for.

        confidence: Of the bounds at each single bin or point.
    """

    kind: PlotKind
    binned: BinnedCurve
    smooth: SmoothCurve | None
    confidence: float

    def to_dict(self) -> dict[str, object]:
        """Return plain values, as reports hold them."""
        return {
            "kind": self.kind.value,
            "confidence": self.confidence,
            "bins": self.binned.to_list(),
            "band": self.binned.band,
            "smooth": None if self.smooth is None else self.smooth.to_dict(),
        }

    @classmethod
    def from_dict(cls, node: Node) -> "ReliabilityCurve":
        """
        Read what `to_dict` returned.

        Args:
            node: The curve in a report.

        Raises:
            DocumentProblem: If a value is missing, unknown or impossible; it names the place.
        """
        node.only("kind", "confidence", "bins", "band", "smooth")
        smooth = node.optional("smooth")
        return cls(
            kind=node.child("kind").choice(PlotKind),
            binned=BinnedCurve.from_list(node.child("bins"), band=node.child("band").text()),
            smooth=None if smooth is None else SmoothCurve.from_dict(smooth),
            confidence=node.child("confidence").number(0.0, 1.0),
        )


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


def _plain(value: float) -> float | None:
    """Return a number as JSON has it: no NaN."""
    return None if math.isnan(value) else value


def _unit(node: Node) -> float:
    """Read a number in [0, 1], or NaN where the document has null."""
    return math.nan if node.value is None else node.number(0.0, 1.0)
