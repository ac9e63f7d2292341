"""Reliability curves: how often label 1 was observed where the scores promised it, as points to draw."""

import math
from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from calibcli.codec import (
    ABSENT,
    GAPS,
    HIDDEN,
    INLINE,
    Ascending,
    Between,
    Declared,
    Fraction,
    Kept,
    Node,
    Size,
)
from calibcli.errors import EmptyTable
from calibcli.names import AxisScale, Band, PlotKind
from calibcli.options.numerals import percent
from calibcli.stats.bounds.proportion import clopper_pearson, rate_bounds
from calibcli.stats.numerics import summed_products
from calibcli.stats.table import Arrays, Floats, Integers
from calibcli.stats.table.bins import Partition, binned
from calibcli.stats.table.grid import Table
from calibcli.stats.table.kernel import LEAST_BANDWIDTH, cosine_series, nearest
from calibcli.values import dataclass, replace

NO_BAND_ASKED = "no interval was requested"
NO_WEIGHTED_BAND = "no interval: importance weights leave none that holds at a single score"

_BIN_KEYS = ("lower", "upper", "rows", "score", "rate", "rate_lower", "rate_upper")


@dataclass(frozen=True, slots=True, eq=False)
class BinnedCurve(Arrays):
    """Mean score and observed rate of each occupied bin; all arrays have shape (n_bins,).

    Args:
        lower: Left edge of each bin (the score itself where every distinct score is a bin).
        rate_lower: Lower bound of the rate, pointwise; NaN where there is none.
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

    @property
    def total_rows(self) -> int:
        return int(self.rows.sum())

    @property
    def masses(self) -> tuple[Floats, Floats] | None:
        """Scores of the bins and their rows, where none stands at 0."""
        return (self.score, self.rows.astype(np.float64)) if self.score[0] > 0.0 else None


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
        columns: Any = (getattr(curve, name).tolist() for name in _BIN_KEYS)
        rows: Any = ([None if math.isnan(one) else one for one in row] for row in zip(*columns, strict=True))
        return cls(tuple(Bin(*row) for row in rows), curve.band)

    def curve(self, _: Node) -> BinnedCurve:
        columns: Any = {
            name: np.array([getattr(one, name) for one in self.bins], np.float64) for name in _BIN_KEYS
        }
        return BinnedCurve(**columns, band=self.band)


# One for each place of the kernel.
_AT_EACH = (Between(0.0, 1.0), GAPS, Size(of="at", reason="one for each place of the kernel"))


@dataclass(frozen=True, slots=True, eq=False)
class SmoothCurve(Declared, Arrays):
    """Kernel-weighted mean label against kernel-weighted mean score; all arrays have shape (n_points,).

    At a place t the kernel sees rows around t, and the curve's point is their mean score and their mean
    label, just as a bin's point is. So a calibrated model lies on the diagonal at any bandwidth, and the
    integral of density(t) |y(t) - x(t)| dt is the smoothed calibration error at that bandwidth. x does not
    decrease.
    """

    # Places along log-odds may be one number next to 0 and 1.
    at: Annotated[
        Floats, Between(0.0, 1.0), Size(1), Ascending(None), "Where the kernel stands, evenly spaced."
    ]
    x: Annotated[Floats, *_AT_EACH, "Mean score there; null where no row lies within reach."]
    y: Annotated[Floats, *_AT_EACH, "Mean label there."]
    lower: Annotated[Floats, *_AT_EACH, "Lower end of the band; null where there is none."]
    upper: Annotated[Floats, *_AT_EACH, "Upper end of the band."]
    density: Annotated[
        # Far above what a kernel of the least bandwidth can give.
        Floats, Between(0.0, 1e6), _AT_EACH[2], "Density of the scores there, smoothed by the same kernel."
    ]
    bandwidth: Annotated[float, Between(0.0), "Standard deviation of the kernel."]
    band: Annotated[str, "What the band is, or why there is none."]
    beyond: Annotated[
        Fraction, ABSENT, "Share of the rows beyond the ends of the curve, which a wide kernel averages away."
    ] = 0.0
    log_odds: Annotated[bool, ABSENT, "Whether kernel, bandwidth and density are along log-odds."] = False
    least: Annotated[Fraction, ABSENT, "The least score, below which the density is the kernel's."] = 0.0
    most: Annotated[Fraction, ABSENT, "The largest score."] = 1.0


# Along scores, and along log-odds.
SmoothCurves = tuple[SmoothCurve | None, SmoothCurve | None]

_SMOOTH = ("smooth", "smooth_logit")


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityCurve(Declared):
    """Everything a reliability diagram draws."""

    kind: Annotated[PlotKind, "The diagram this curve is meant for."]
    binned: Annotated[BinnedCurve, Kept(Bins, Bins.of, Bins.curve), INLINE]
    smooth: Annotated[SmoothCurve | None, "The curve without bins; null where only bins were asked for."]
    confidence: Annotated[Fraction, "Of the bounds at each single bin or point."]
    smooth_logit: Annotated[
        SmoothCurve | None,
        ABSENT,
        "The curve smoothed along log-odds; absent where few rows lie beyond the ends of the other.",
    ] = None
    attributes: Annotated[bool, HIDDEN] = False
    # Draws both once one of them is looked at: they take longer than all else of a small report.
    drawn: Annotated[Callable[[], SmoothCurves] | None, HIDDEN] = None

    def __post_init__(self) -> None:
        if self.drawn is not None:
            for name in _SMOOTH:
                object.__delattr__(self, name)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> SmoothCurve | None:
            """Draw what is not there yet."""
            draw = self.drawn if name in _SMOOTH else None
            if draw is not None:
                for one, curve in zip(_SMOOTH, draw(), strict=True):
                    object.__setattr__(self, one, curve)
                object.__setattr__(self, "drawn", None)
            return object.__getattribute__(self, name)

    @property
    def base(self) -> float:
        """Share of label 1; NaN with importance weights, which bins do not hold."""
        bins = self.binned
        known = bins.band != NO_WEIGHTED_BAND
        return float(bins.rate @ bins.rows) / bins.total_rows if known else math.nan

    @property
    def laid_out(self) -> tuple[Floats, Floats] | None:
        """Those of bins, or of a curve smoothed along log-odds."""
        # A kernel on scores is wider than many of them, and one on their log-odds is not.
        bent = self.kind is not PlotKind.SMOOTH or self.smooth_logit is not None
        return self.binned.masses if bent else None

    def along(self, scale: AxisScale) -> "ReliabilityCurve":
        """Return the same for axes of this scale: by log-odds it is smoothed along them, where it can be."""
        other = self.smooth_logit if scale is AxisScale.LOGIT else None
        return self if other is None else replace(self, smooth=other)


def binned_curve(table: Table, *, bins: Partition, confidence: float | None = 0.95) -> BinnedCurve:
    """Return mean score and observed rate of each occupied bin; bounds where a confidence is asked for."""
    refuse_empty(table)
    sums = binned(table, bins)
    some = sums.occupied
    weight = sums.weight[some]
    if table.weighted or confidence is None:
        lower = upper = np.full(weight.size, math.nan)
        band = NO_WEIGHTED_BAND if table.weighted else NO_BAND_ASKED
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
    if table.total_rows == 0 or not table.weight.sum() > 0.0:
        msg = "no rows to draw"
        raise EmptyTable(msg)


_CELLS = 1_024

# No place is drawn that is farther from every score than this many bandwidths.
_REACH = 3.0

# Mass beyond this many bandwidths from the end of the window would be felt inside it.
_MARGIN = 6.0

_FINEST = 256

_MOST_INTERVALS = 512

_FEWEST_INTERVALS = 128

# A smoothed mass smaller than this share of all is rounding.
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of [0, 1] that the curve looks at, stretched to [0, 1] so that narrow scores are resolved.

    Args:
        start: Left end: 0, or far enough from every score that reflecting there changes nothing.
        width: Its length.
        bandwidth: Standard deviation of the kernel, in units of the score or of log-odds.
        log_odds: Whether the window is a part of all log-odds instead.
    """

    start: float
    width: float
    bandwidth: float
    log_odds: bool

    @classmethod
    def around(cls, place: Floats, bandwidth: float, *, log_odds: bool) -> "_Window":
        """Return the window that holds all places and what the kernel spreads them to."""
        ends = (-math.inf, math.inf) if log_odds else (0.0, 1.0)
        low, high = float(place.min()), float(place.max())
        sigma = max(bandwidth, LEAST_BANDWIDTH, (high - low) / _FINEST)
        start = max(ends[0], low - _MARGIN * sigma)
        return cls(start, min(ends[1], high + _MARGIN * sigma) - start, sigma, log_odds)

    def stretched(self, place: Floats) -> Floats:
        """Return places in units of the window."""
        return np.clip((place - self.start) / self.width, 0.0, 1.0)

    @property
    def scale(self) -> float:
        """Bandwidth in units of the window."""
        return self.bandwidth / self.width

    @property
    def oversampling(self) -> int:
        """What gives the curve enough points, however wide the kernel."""
        return math.ceil(_FEWEST_INTERVALS * self.scale / 2.8)


def smooth_curve(
    table: Table,
    *,
    bandwidth: float,
    confidence: float = 0.95,
    log_odds: bool = False,
    band: Band = Band.POINTWISE,
) -> SmoothCurve:
    """Return the kernel-weighted mean label against the kernel-weighted mean score.

    Args:
        bandwidth: Standard deviation of the reflected Gaussian, that of smECE. Bandwidths below 1/256 of the
            scores' range are raised to it: a picture shows no more.
        confidence: Of the band, in (0, 1): at each single point, or of all of a simultaneous one.
        log_odds: Whether the kernel stands on the log-odds of scores, and its bandwidth is in units of them.
        band: Where the curve of the true rates lies, at each point, or at all of them for sure.
    """
    refuse_empty(table)
    score, total = table.score, table.weight.sum()
    present, place = table.weight > 0.0, _bent(score) if log_odds else score
    window = _Window.around(place[present], bandwidth, log_odds=log_odds)
    stretched = window.stretched(place)
    masses = np.stack((table.weight, table.weight * score, table.positive))
    masses /= total
    series = cosine_series(stretched, masses)
    weight, score_sum, positive = series.smoothed(window.scale, oversampling=window.oversampling)
    places = np.linspace(0.0, 1.0, weight.size)
    at = window.start + window.width * places
    seen = (nearest(at, place[present]) <= _REACH * window.bandwidth) & (weight * window.scale > _NOTHING)
    mean_score, rate = (_ratio(part, weight, seen) for part in (score_sum, positive))
    lower, upper = np.full((2, at.size), math.nan)
    if table.weighted:
        said = NO_WEIGHTED_BAND
    elif band is Band.SIMULTANEOUS:
        of_ones, of_zeros = _certain(table, window, place=place, at=at, seen=seen, confidence=confidence)
        lower, upper = rate * of_ones, 1.0 - (1.0 - rate) * of_zeros
        leaves = bool(np.any((mean_score < lower - _NEAR)[seen] | (mean_score > upper + _NEAR)[seen]))
        found = "leaves it, so the scores are not calibrated" if leaves else "stays in it"
        said = (
            f"simultaneous {percent(confidence)} confidence band, which holds the smoothed true rates at all "
            f"scores at once, at any number of rows; the line of perfect calibration {found}"
        )
    else:
        lower[seen], upper[seen] = _pointwise(
            table, window, stretched=stretched, at=places[seen], rate=rate[seen], confidence=confidence
        )
        said = f"pointwise {percent(confidence)}, Clopper-Pearson's for effective rows"
    kept = _shown(seen)
    ends = mean_score[kept][[0, -1]]
    return SmoothCurve(
        at=1.0 / (1.0 + np.exp(-at[kept])) if log_odds else np.clip(at[kept], 0.0, 1.0),
        x=mean_score[kept],
        y=rate[kept],
        lower=lower[kept],
        upper=upper[kept],
        density=np.maximum(weight[kept], 0.0) / window.width,
        bandwidth=window.bandwidth,
        band=said,
        beyond=min(float(masses[0][(score < ends[0] - _NEAR) | (score > ends[1] + _NEAR)].sum()), 1.0),
        log_odds=log_odds,
        least=float(score[present].min()),
        most=float(score[present].max()),
    )


# What the curve's rounding may move the diagonal by.
_NEAR = 1e-9


def _certain(
    table: Table,
    window: _Window,
    *,
    place: Floats,
    at: Floats,
    seen: np.ndarray[tuple[int], np.dtype[np.bool_]],
    confidence: float,
) -> tuple[Floats, Floats]:
    """Return which shares of labels 1 and 0 are sure to be chance; NaN where none is seen."""
    from calibcli.stats.curves.kernel_band import Axis, simultaneous_band

    present = table.weight > 0.0
    place = place[present]
    span = float(place[-1] - place[0])
    finest = max(LEAST_BANDWIDTH, span / _FINEST)
    shares = np.full((2, at.size), math.nan)
    shares[:, seen] = simultaneous_band(
        place,
        table.weight[present],
        table.positive[present],
        at=at[seen],
        bandwidth=window.bandwidth,
        axis=Axis(finest, max(finest, span) if window.log_odds else 1.0, reflected=not window.log_odds),
        confidence=confidence,
    )
    return shares[0], shares[1]


# Log-odds are taken of scores limited to this distance from 0 and 1.
_NEAREST = 1e-6


def _bent(score: Floats) -> Floats:
    score = np.clip(score, _NEAREST, 1.0 - _NEAREST)
    return np.asarray(np.log(score) - np.log1p(-score))


def bandwidth_of_log_odds(table: Table) -> float:
    """Return the width of a kernel on log-odds that as few rows as there are of the rarer label can bear.

    References:
        Silverman (1986), Density Estimation, equation 3.31, with the rows of the rarer label as their number.
    """
    places, share = _bent(table.score), table.weight / table.weight.sum()
    spread = math.sqrt(max(0.0, summed_products(share, places**2) - summed_products(share, places) ** 2))
    rarer = min(table.total_positive_rows, table.total_rows - table.total_positive_rows)
    return float(0.9 * spread * max(1, rarer) ** -0.2)


def _shown(seen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> slice:
    """Return the places from the first to the last one with rows, every second one where they are many."""
    places = np.flatnonzero(seen)
    step = 1 if seen.size <= _MOST_INTERVALS + 1 else 2
    return slice(int(places[0]), int(places[-1]) + 1, step)


def _ratio(part: Floats, whole: Floats, seen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Return a mean of values in [0, 1], NaN where nothing is seen."""
    mean = np.full_like(whole, math.nan)
    np.divide(part, whole, out=mean, where=seen)
    return np.clip(mean, 0.0, 1.0)


def _pointwise(
    table: Table, window: _Window, *, stretched: Floats, at: Floats, rate: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return Clopper and Pearson's bounds of as many rows as have the variance of the curve at each place.

    A label has the curve's rate where it stands, which is pulled towards 1/2 by one row's worth against the
    rows that the kernel sees there, as Jeffreys would, so that no variance is 0.

    References:
        Korn & Graubard (1998), Survey Methodology 24, for intervals of effective rows.
    """
    from calibcli.stats.curves.kernel_band import kernel

    cell = np.minimum((stretched * _CELLS).astype(np.int64), _CELLS - 1)
    rows = np.bincount(cell, weights=table.weight, minlength=_CELLS)
    some = np.flatnonzero(rows)
    count, centre = rows[some].astype(np.float64), (some + 0.5) / _CELLS
    weight = kernel(at[:, None] - centre, at[:, None] + centre, window.scale, reflected=True)
    squares = weight**2
    seen = (weight @ count) ** 2
    alike = seen / (squares @ count)
    chance = np.interp(centre, at, (alike * rate + 0.5) / (alike + 1.0))
    mean = (weight @ (count * chance)) / np.sqrt(seen)
    like = mean * (1.0 - mean) * seen / (squares @ (count * chance * (1.0 - chance)))
    lower, upper = clopper_pearson(rate * like, like, delta_each_side=(1.0 - confidence) / 2.0)
    return np.minimum(lower, rate), np.maximum(upper, rate)


def no_skill(score: Floats, base: float) -> Floats:
    """Return the rates at which scores are as far from what is observed as the base rate is.

    On the side of the diagonal rows lower the Brier score against that of always predicting the base rate.

    References:
        Hsu & Murphy (1986), International Journal of Forecasting 2, the attributes diagram.
    """
    return np.asarray(0.5 * (score + base))


@dataclass(frozen=True, slots=True, eq=False)
class ResidualCurve(Arrays):
    """Observed rate minus score against score; all arrays have shape (n_points,).

    Args:
        score: Mean score of each point, non-decreasing; NaN in gaps.
        residual: Mean label less mean score there. Of a smooth curve, the integral of density times its
            size over `at` is the smoothed calibration error; of bins, so is the sum of shares times it the
            binned one.
        lower: Lower end of the band or interval; NaN where there is none.
        at: Where the kernel stands; the mean scores where there are bins.
        density: Of the scores, smoothed by the kernel; the share of the rows in each bin.
        source: The curve or the bins that this is taken from.
        whole: The reliability curve that they are part of.
    """

    score: Floats
    residual: Floats
    lower: Floats
    upper: Floats
    at: Floats
    density: Floats
    source: BinnedCurve | SmoothCurve
    whole: ReliabilityCurve

    kind = PlotKind.RESIDUAL

    @property
    def confidence(self) -> float:
        """Of the band at each single point."""
        return self.whole.confidence

    @property
    def laid_out(self) -> tuple[Floats, Floats] | None:
        """That of the curve that these are part of."""
        return self.whole.laid_out

    def along(self, scale: AxisScale) -> "ResidualCurve":
        """Return the same for axes of this scale, as the reliability curve is."""
        return residual_curve(self.whole.along(scale), by_bins=isinstance(self.source, BinnedCurve))


def residual_curve(curve: ReliabilityCurve, *, by_bins: bool = False) -> ResidualCurve:
    """Return a reliability curve less its diagonal."""
    smooth, bins = curve.smooth, curve.binned
    if smooth is not None and not by_bins:
        whole = replace(curve, kind=PlotKind.SMOOTH)
        rate, lower, upper = (np.asarray(one - smooth.x) for one in (smooth.y, smooth.lower, smooth.upper))
        return ResidualCurve(smooth.x, rate, lower, upper, smooth.at, smooth.density, smooth, whole)
    whole = replace(curve, kind=PlotKind.BINNED)
    rate, lower, upper = (
        np.asarray(one - bins.score) for one in (bins.rate, bins.rate_lower, bins.rate_upper)
    )
    return ResidualCurve(bins.score, rate, lower, upper, bins.score, bins.rows / bins.total_rows, bins, whole)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A range of scores that are on average too low, or too high.

    Args:
        lower: Left edge of its first bin; None where the same holds for all scores up to `upper`.
        upper: Right edge of its last bin; None where the same holds for all scores from `lower` on.
    """

    too_low: bool
    lower: float | None
    upper: float | None


def stretches(curve: BinnedCurve, *, confidence: float) -> tuple[Stretch, ...]:
    """Return where the rate is not the mean score, ascending, each the other way than the one before.

    The bounds of all bins hold together with the confidence (Clopper-Pearson, Bonferroni over bins and ends),
    so whatever is read off them is true with it as well: that the scores of a bin are too low or too high,
    and that those of neighbouring bins together are, whichever bins are put together afterwards. Nothing is
    returned without rows, and where rows have no bounds: of importance weights and of dependent rows.
    """
    if not curve.rows.size or bool(np.isnan(curve.rate_lower).any()):
        return ()
    rows = curve.rows.astype(np.float64)
    delta = (1.0 - confidence) / (2.0 * rows.size)
    lower, upper = rate_bounds(np.rint(rows * curve.rate), rows, delta_each_side=delta)
    # By how much the rates of each bin exceed its scores at least, and fall short of them at least.
    least = {True: rows * (lower - curve.score), False: rows * (curve.score - upper)}
    signs = [(k, too_low) for k in range(rows.size) for too_low, surplus in least.items() if surplus[k] > 0.0]
    runs = [(way, [k for k, _ in run]) for way, run in groupby(signs, key=lambda one: one[1])]
    found = []
    for place, (way, bins) in enumerate(runs):
        first, last = _joined(bins, rows, least[way])
        opens = place == 0 and _reaches(slice(0, last + 1), slice(0, first), rows, least[way])
        ends = place == len(runs) - 1 and _reaches(
            slice(first, None), slice(last + 1, None), rows, least[way]
        )
        start = None if opens else float(curve.lower[first])
        found.append(Stretch(way, start, None if ends else float(curve.upper[last])))
    return tuple(found)


# What is said of a range is shown for bins with most of its rows; up to an end of the scale, with nearly all.
_MOST, _NEARLY_ALL = 0.5, 0.9


def _reaches(whole: slice, beyond: slice, rows: Floats, surplus: Floats) -> bool:
    """Whether what a range is shown to be holds up to an end of the scale as well."""
    few = float(rows[beyond].sum()) <= (1.0 - _NEARLY_ALL) * float(rows[whole].sum())
    return few and math.fsum(surplus[whole]) > 0.0


def _joined(bins: list[int], rows: Floats, surplus: Floats) -> tuple[int, int]:
    """Return the first and last of bins that err alike together; of others the one that errs most."""
    whole = slice(bins[0], bins[-1] + 1)
    if rows[bins].sum() >= _MOST * rows[whole].sum() and math.fsum(surplus[whole]) > 0.0:
        return bins[0], bins[-1]
    most = max(bins, key=lambda k: surplus[k])
    return most, most
