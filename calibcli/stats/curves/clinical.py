"""The calibration plot of clinical papers: a flexible curve, groups of equal size, and scores by outcome."""

import math
from functools import partial

import numpy as np

from calibcli.errors import NotConverged
from calibcli.names import Binning, FitLoss, Purpose, RecalibratorName, Smoother
from calibcli.stats.curves.reliability import (
    NO_WEIGHTED_BAND,
    BinnedCurve,
    binned_curve,
    percent,
    refuse_empty,
    smooth_curve,
)
from calibcli.stats.numerics import normal_quantile, stream
from calibcli.stats.recalibrators.logistic import solved
from calibcli.stats.recalibrators.newton import Aim, Family, Labelled, logistic, logit
from calibcli.stats.recalibrators.spline import knots_of, spline_features
from calibcli.stats.table.bins import bins_of
from calibcli.stats.table.grid import Table
from calibcli.stats.table.kernel import fixpoint, residual_series
from calibcli.stats.table.score_table import Floats, frozen
from calibcli.values import dataclass

# Groups are tenths of the rows.
_GROUPS = 10

# At so many places the curve is drawn, and so many bars show where scores lie.
_PLACES, _BARS = 200, 60

# What local regression looks at: this share of the rows.
SPAN = 0.75


@dataclass(frozen=True, slots=True, eq=False)
class ClinicalCurve:
    """
    Observed rate against score, as papers on prediction models show it.

    Args:
        at: Scores in [0, 1], ascending, shape (n_points,).
        rate: The curve there.
        lower: Lower end of its band, pointwise; NaN where there is none.
        upper: Upper end.
        how: What drew the curve.
        band: What the band is, or why there is none.
        groups: Tenths of the rows with the interval of each rate.
        edges: Of the bars below, shape (n_bars + 1,).
        events: Weight of label 1 in each bar.
        others: Weight of label 0.
        box: What is said in the picture: a name and a number with its interval, line by line.
        confidence: Of intervals and the band.

    References:
        Van Calster, Nieboer, Vergouwe, De Cock, Pencina & Steyerberg (2016), J. Clin. Epidemiol. 74; Harrell
        (2015), Regression Modeling Strategies, for `val.prob`; Austin & Steyerberg (2014), Stat. Med. 33, for
        local regression.
    """

    at: Floats
    rate: Floats
    lower: Floats
    upper: Floats
    how: str
    band: str
    groups: BinnedCurve
    edges: Floats
    events: Floats
    others: Floats
    box: tuple[tuple[str, str], ...]
    confidence: float

    def __post_init__(self) -> None:
        for name in ("at", "rate", "lower", "upper", "edges", "events", "others"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))


def clinical_curve(
    table: Table, *, smoother: Smoother, box: tuple[tuple[str, str], ...], confidence: float, seed: int
) -> ClinicalCurve:
    """
    Return the picture of a table.

    Args:
        table: The rows.
        smoother: What draws the curve.
        box: What is said in the picture.
        confidence: Of intervals and the band.
        seed: Of labels that are drawn for the band of the kernel.
    """
    refuse_empty(table)
    found = _CURVES[smoother](table, confidence=confidence, seed=seed)
    lower, upper = (np.full_like(found.at, math.nan),) * 2 if table.weighted else (found.lower, found.upper)
    groups = bins_of(Binning.EQUAL_MASS, _GROUPS, table=table)
    present = table.weight > 0.0
    span = float(table.score[present].min()), float(table.score[present].max())
    edges = np.linspace(0.0, 1.0, _BARS + 1) if span[1] - span[0] > 0.5 else _around(*span)
    events = np.histogram(table.score, edges, weights=table.positive)[0]
    return ClinicalCurve(
        at=found.at,
        rate=found.rate,
        lower=lower,
        upper=upper,
        how=found.how,
        band=NO_WEIGHTED_BAND if table.weighted else found.band,
        groups=binned_curve(table, bins=groups, confidence=confidence),
        edges=edges,
        events=events,
        others=np.histogram(table.score, edges, weights=np.maximum(table.weight - table.positive, 0.0))[0],
        box=box,
        confidence=confidence,
    )


def _around(low: float, high: float) -> Floats:
    room = 0.02 * (high - low) or 0.005
    return np.linspace(max(0.0, low - room), min(1.0, high + room), _BARS + 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    at: Floats
    rate: Floats
    lower: Floats
    upper: Floats
    how: str
    band: str


def _places(table: Table) -> Floats:
    present = table.score[table.weight > 0.0]
    return np.unique(np.linspace(float(present[0]), float(present[-1]), _PLACES))


# Labels that a curve parts have no best one: how far targets are then taken from 0 and 1.
_NEAR = (0.0, 1e-6, 1e-4, 1e-2)


def _by_spline(table: Table, *, confidence: float, seed: int) -> _Fit:  # noqa: ARG001 - one shape for all
    """Return log odds that are a restricted cubic spline of the score's, with the delta method's band."""
    points = Labelled.of(table)
    alone = float(np.ptp(logit(points.score))) == 0.0
    knots = () if alone else knots_of(table, None, points=points)
    features = partial(spline_features, knots=knots) if knots else lambda score: np.ones((1, score.size))
    family = Family(RecalibratorName.SPLINE, features)
    at = _places(table)
    x, inside = family.features(at), family.features(table.score)
    for near in _NEAR:
        try:
            aim = Aim(FitLoss.LOG, near, 1.0 - near, smoothed=False, separated=False)
            coefficients = np.array(solved(family, points, aim=aim).coefficients)
        except NotConverged:
            continue
        odds, rate = coefficients @ x, logistic(coefficients @ inside)
        information = (inside * (table.weight * rate * (1.0 - rate))) @ inside.T
        half = normal_quantile(0.5 + 0.5 * confidence) * np.sqrt(
            np.maximum(np.sum(x * (np.linalg.pinv(information, hermitian=True) @ x), axis=0), 0.0)
        )
        how = f"restricted cubic spline of the log odds, {max(len(knots), 1)} knots"
        band = f"pointwise {percent(confidence)}, delta method"
        return _Fit(at, logistic(odds), logistic(odds - half), logistic(odds + half), how, band)
    nothing = np.full_like(at, math.nan)
    return _Fit(at, nothing, nothing, nothing, "no spline: no curve is the best", "no band")


def _by_kernel(table: Table, *, confidence: float, seed: int) -> _Fit:
    """Return the curve of `--kind smooth`: the kernel's mean label at its mean score."""
    found = smooth_curve(
        table,
        bandwidth=fixpoint(residual_series(table)),
        generator=stream(seed, Purpose.CONSISTENCY_BAND),
        confidence=confidence,
    )
    how = f"Gaussian kernel of bandwidth {found.bandwidth:.3g}"
    return _Fit(found.x, found.y, found.lower, found.upper, how, found.band)


def _by_loess(table: Table, *, confidence: float, seed: int) -> _Fit:  # noqa: ARG001 - one shape for all
    """
    Return local regression: at each place a parabola through the nearest three quarters of the rows.

    Rows weigh by the tricube of their distance. The band takes each label's variance from the curve itself.

    References:
        Cleveland & Devlin (1988), JASA 83; R's `loess` with its default span and degree, computed at each
        place instead of interpolated between some.
    """
    present = table.weight > 0.0
    score, weight = table.score[present], table.weight[present]
    label = table.positive[present] / weight
    at = _places(table)
    rate, spreads = np.empty_like(at), []
    for place, centre in enumerate(at.tolist()):
        away = score - centre
        far = np.abs(away)
        nearest = np.argsort(far, kind="stable")
        last = int(np.searchsorted(np.cumsum(weight[nearest]), SPAN * float(weight.sum()) * (1.0 - 1e-12)))
        reach = max(float(far[nearest[min(last, far.size - 1)]]), 1e-12)
        near = far < reach if (far < reach).any() else far <= reach
        tricube = weight[near] * (1.0 - np.minimum(far[near] / reach, 1.0) ** 3) ** 3
        tricube = tricube if tricube.any() else weight[near]
        x = np.stack([(away[near] / reach) ** power for power in range(min(3, int(near.sum())))])
        # What each row adds to the value of the parabola at the place.
        shares = (np.linalg.pinv((x * tricube) @ x.T, hermitian=True)[0] @ x) * tricube
        rate[place] = float(shares @ label[near])
        spreads.append((score[near], shares**2 / weight[near]))
    rate = np.clip(rate, 0.0, 1.0)
    chance = [np.interp(where, at, rate) for where, _ in spreads]
    error = np.sqrt(
        [float(squares @ (p * (1.0 - p))) for p, (_, squares) in zip(chance, spreads, strict=True)]
    )
    half = normal_quantile(0.5 + 0.5 * confidence) * error
    how = f"local regression (loess), degree 2, span {SPAN:g}"
    band = f"pointwise {percent(confidence)}, large-sample"
    return _Fit(at, rate, np.maximum(rate - half, 0.0), np.minimum(rate + half, 1.0), how, band)


_CURVES = {Smoother.SPLINE: _by_spline, Smoother.KERNEL: _by_kernel, Smoother.LOESS: _by_loess}
