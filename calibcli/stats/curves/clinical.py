"""The calibration plot of clinical papers: a flexible curve, groups of equal size, and scores by outcome."""

import math
from bisect import bisect_left

import numpy as np

from calibcli.names import Band, Binning, PlotKind, Smoother
from calibcli.options.numerals import percent
from calibcli.stats.bounds.proportion import clopper_pearson
from calibcli.stats.curves import reliability
from calibcli.stats.curves.limits import Spread
from calibcli.stats.numerics import normal_quantile, summed_products
from calibcli.stats.recalibrators.newton import Labelled, logistic, logit
from calibcli.stats.recalibrators.spline import nearest_fit, spline_family
from calibcli.stats.table import Arrays, Floats
from calibcli.stats.table.bins import bins_of
from calibcli.stats.table.grid import Table
from calibcli.stats.table.kernel import fixpoint, residual_series
from calibcli.values import dataclass

# Groups are tenths of the rows.
_GROUPS = 10

# At so many places the curve is drawn.
_PLACES = 200

# What local regression looks at: this share of the rows.
SPAN = 0.75


@dataclass(frozen=True, slots=True, eq=False)
class ClinicalCurve(Arrays):
    """Observed rate against score, as papers on prediction models show it.

    Args:
        at: Scores in [0, 1], ascending, shape (n_points,).
        lower: Lower end of its band, pointwise; NaN where there is none.
        how: What drew the curve.
        band: What the band is, or why there is none.
        groups: Tenths of the rows with the interval of each rate.
        events: Where rows of label 1 lie, None where there are none.
        weights: Of all rows of label 1, and of label 0.
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
    groups: reliability.BinnedCurve
    events: Spread | None
    others: Spread | None
    weights: tuple[float, float]
    box: tuple[tuple[str, str], ...]
    confidence: float

    kind = PlotKind.CLINICAL

    @property
    def laid_out(self) -> tuple[Floats, Floats] | None:
        """Those of the groups, where no score is 0."""
        return self.groups.masses if self.scores[0] > 0.0 else None

    @property
    def scores(self) -> Floats:
        """Scores that rows have, ascending, the least and the largest among them."""
        return np.unique(np.concatenate([one.score for one in (self.events, self.others) if one is not None]))


def clinical_curve(
    table: Table,
    *,
    smoother: Smoother,
    box: tuple[tuple[str, str], ...],
    confidence: float,
    band: Band = Band.POINTWISE,
) -> ClinicalCurve:
    """Return the picture of a table."""
    reliability.refuse_empty(table)
    found = _fitted(table, smoother, confidence=confidence, band=band)
    groups = bins_of(Binning.EQUAL_MASS, _GROUPS, table=table)
    positive, negative = table.positive, np.maximum(table.weight - table.positive, 0.0)
    return ClinicalCurve(
        at=found.at,
        rate=found.rate,
        lower=found.lower,
        upper=found.upper,
        how=found.how,
        band=found.band,
        groups=reliability.binned_curve(table, bins=groups, confidence=confidence),
        events=Spread.of(table.score, positive) if positive.any() else None,
        others=Spread.of(table.score, negative) if negative.any() else None,
        weights=(float(positive.sum()), float(negative.sum())),
        box=box,
        confidence=confidence,
    )


def smoothed(table: Table, *, smoother: Smoother, confidence: float) -> tuple[Floats, str]:
    """Return the curve of the picture at each score, straight between its places, and what it is."""
    reliability.refuse_empty(table)
    found = _fitted(table, smoother, confidence=confidence)
    drawn = np.isfinite(found.rate)
    if not drawn.any():
        return np.full_like(table.score, math.nan), found.how
    return np.interp(table.score, found.at[drawn], found.rate[drawn]), found.how


def _fitted(table: Table, smoother: Smoother, *, confidence: float, band: Band = Band.POINTWISE) -> "_Fit":
    score = table.score[table.weight > 0.0]
    if np.unique(score).size <= _FEWEST:
        return _Fit.bare(score, "none between so few scores", "no band")
    if smoother is Smoother.KERNEL:
        return _by_kernel(table, confidence=confidence, band=band)
    return _CURVES[smoother](table, confidence=confidence)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    at: Floats
    rate: Floats
    lower: Floats
    upper: Floats
    how: str
    band: str

    @classmethod
    def bare(cls, at: Floats, how: str, band: str, rate: Floats | None = None) -> "_Fit":
        """Return a fit without a band, or without even a curve."""
        nothing = np.full_like(at, math.nan)
        return cls(at, nothing if rate is None else rate, nothing, nothing, how, band)


# Between so many scores a curve would show rates of scores that no row has.
_FEWEST = 2


def _places(table: Table) -> Floats:
    present = table.score[table.weight > 0.0]
    return np.unique(np.linspace(float(present[0]), float(present[-1]), _PLACES))


def _by_spline(table: Table, *, confidence: float) -> _Fit:
    """Return log odds that are a restricted cubic spline of the score's, with the delta method's band."""
    points = Labelled.of(table)
    knots, family = spline_family(table, points)
    at = _places(table)
    # By log-odds as well: there the places above are few near 0 and 1.
    low, high = logit(at[[0, -1]]).tolist()
    at = np.union1d(at, logistic(np.linspace(low, high, _PLACES)).clip(at[0], at[-1]))
    x, inside = family.features(at), family.features(table.score)
    found = nearest_fit(family, points)
    if found is None:
        return _Fit.bare(at, "no spline: no curve is the best", "no band")
    coefficients = np.array(found[0].coefficients)
    odds, rate = coefficients @ x, logistic(coefficients @ inside)
    how = f"restricted cubic spline of the log odds, {max(len(knots), 1)} knots"
    if table.weighted:
        return _Fit.bare(at, how, reliability.NO_WEIGHTED_BAND, logistic(odds))
    information = (inside * (table.weight * rate * (1.0 - rate))) @ inside.T
    half = normal_quantile(0.5 + 0.5 * confidence) * np.sqrt(
        np.maximum(np.sum(x * (np.linalg.pinv(information, hermitian=True) @ x), axis=0), 0.0)
    )
    band = f"pointwise {percent(confidence)}, delta method"
    return _Fit(at, logistic(odds), logistic(odds - half), logistic(odds + half), how, band)


def _by_kernel(table: Table, *, confidence: float, band: Band) -> _Fit:
    """Return the curve of `--kind smooth`: the kernel's mean label at its mean score."""
    found = reliability.smooth_curve(
        table,
        bandwidth=fixpoint(residual_series(table)),
        confidence=confidence,
        band=band,
    )
    how = f"Gaussian kernel of bandwidth {found.bandwidth:.3g}"
    return _Fit(found.x, found.y, found.lower, found.upper, how, found.band)


# With fewer rows of one label there is no band: it misses too often, or is as wide as the picture.
_LEAST_EVENTS = 5

_FEW_EVENTS = f"no band: fewer than {_LEAST_EVENTS} rows of one label"


def _by_loess(table: Table, *, confidence: float) -> _Fit:
    """Return local regression: at each place a parabola through the nearest three quarters of the rows.

    Rows weigh by the tricube of their distance. The band is Clopper and Pearson's interval of as many rows as
    have the variance of the curve, a label's being that of the curve with two rows of either label added.

    References:
        Cleveland & Devlin (1988), JASA 83; R's `loess` with its default span and degree, computed at each
        place; Korn & Graubard (1998), Survey Methodology 24, for intervals of effective rows.
    """
    present = table.weight > 0.0
    total = float(table.weight.sum())
    # As in R, three quarters of a number of rows are rounded down.
    span = SPAN * total if table.weighted else max(float(math.floor(SPAN * total + 1e-5)), 1.0)
    rows = _Rows(table.score[present], table.weight[present], span)
    label = table.positive[present] / rows.weight
    at = _places(table)
    rate, like = np.empty_like(at), np.empty_like(at)
    for place, centre in enumerate(at.tolist()):
        near, shares = rows.shares(centre)
        rate[place] = summed_products(shares, label[near])
        like[place] = 1.0 / float((shares**2 / rows.weight[near]).sum())
    rate = np.clip(rate, 0.0, 1.0)
    how = f"local regression (loess), degree 2, span {SPAN:g}"
    events = float(table.positive.sum())
    if table.weighted or min(events, total - events) < _LEAST_EVENTS:
        reason = reliability.NO_WEIGHTED_BAND if table.weighted else _FEW_EVENTS
        return _Fit.bare(at, how, reason, rate)
    chance = (rate * like + 2.0) / (like + 4.0)
    # Shares are made anew, as all of them at once would fill the memory.
    for place, centre in enumerate(at.tolist()):
        near, shares = rows.shares(centre)
        p = np.interp(rows.score[near], at, chance)
        variance = summed_products(shares**2 / rows.weight[near], p * (1.0 - p))
        like[place] = chance[place] * (1.0 - chance[place]) / variance
    lower, upper = clopper_pearson(rate * like, like, delta_each_side=(1.0 - confidence) / 2.0)
    band = f"pointwise {percent(confidence)}, Clopper-Pearson's for effective rows"
    return _Fit(at, rate, np.minimum(lower, rate), np.maximum(upper, rate), how, band)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Scores, ascending, the weight of each, and the weight of those that are near a place."""

    score: Floats
    weight: Floats
    span: float

    def shares(self, centre: float) -> tuple[slice, Floats]:
        """Return which scores are near, and what each row of them adds to the parabola at the centre."""
        away = self.score - centre
        far = np.abs(away)
        reach = max(self._reach(far, int(np.searchsorted(self.score, centre))), 1e-12)
        inside = np.flatnonzero(far < reach)
        inside = inside if inside.size else np.flatnonzero(far <= reach)
        # Scores ascend, so that those within a distance stand side by side.
        near = slice(int(inside[0]), int(inside[-1]) + 1)
        weight = self.weight[near]
        tricube = weight * (1.0 - np.minimum(far[near] / reach, 1.0) ** 3) ** 3
        tricube = tricube if tricube.any() else weight
        x = np.stack([(away[near] / reach) ** power for power in range(min(3, inside.size))])
        shares: Floats = (np.linalg.pinv((x * tricube) @ x.T, hermitian=True)[0] @ x) * tricube
        return near, shares

    def _reach(self, far: Floats, middle: int) -> float:
        """Return the least distance that holds the span; distances fall to the middle and rise from there."""
        sides = (far[:middle][::-1], far[middle:])
        sums = [
            np.concatenate(([0.0], np.cumsum(weight)))
            for weight in (self.weight[:middle][::-1], self.weight[middle:])
        ]
        requested = self.span * (1.0 - 1e-12)

        def held(distance: float) -> float:
            counts = (np.searchsorted(side, distance, side="right") for side in sides)
            return float(sum(one[count] for one, count in zip(sums, counts, strict=True)))

        enough = (bisect_left(side, requested, key=held) for side in sides)
        return min(float(side[first]) for side, first in zip(sides, enough, strict=True) if first < side.size)


_CURVES = {Smoother.SPLINE: _by_spline, Smoother.LOESS: _by_loess}
