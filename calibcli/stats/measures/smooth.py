"""Measures by a kernel or a smooth curve: the kernel error and the calibration indices."""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from calibcli.errors import NotConverged
from calibcli.names import FitLoss, MeasureName, Purpose, RecalibratorName, Target
from calibcli.stats.bounds.interval import Interval
from calibcli.stats.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, NO_WEIGHTED_INTERVAL, Estimate
from calibcli.stats.measures.if_calibrated import (
    MANY_EVENTS,
    UNKNOWN,
    Measures,
    Range,
    Settings,
    Shared,
    of_draws,
    of_moments,
)
from calibcli.stats.measures.regression import one_logit
from calibcli.stats.numerics import stream
from calibcli.stats.recalibrators.logistic import Solution, solved
from calibcli.stats.recalibrators.newton import Aim, Family, Labelled, logistic, logit
from calibcli.stats.recalibrators.spline import knots_of, spline_features
from calibcli.stats.table.grid import Table, open_variance, residuals, squared_residuals
from calibcli.stats.table.score_table import Floats, Integers
from calibcli.values import dataclass

# Kumar, Sarawagi & Jain's choice.
_WIDTH = 0.4


def maximum_mean_error(table: Table) -> Estimate:
    """
    Return the root of (1/n^2) sum_ij r_i r_j exp(-|f_i - f_j| / 0.4), pairs of a row with itself included.

    Returns:
        MMCE as published (a V-statistic); its square and the unbiased square over pairs of different rows are
        in the details. No interval.

    References:
        Kumar, Sarawagi & Jain (2018), ICML, equation 4.
    """
    weight, residual = table.weight, residuals(table)
    total, rows = float(weight.sum()), table.total_rows
    pairs = max(0.0, energy(table.score, residual))
    squared = pairs / total**2
    details: dict[str, float | int | str] = {"squared": squared, "width": _WIDTH}
    other = total**2 - float(table.weight_sq.sum())
    if rows >= 2 and other > 0.0:
        details["squared_unbiased"] = (pairs - float(squared_residuals(table).sum())) / other
    # Residuals of different calibrated rows are independent with mean 0: only each row with itself is left.
    variance = table.score * (1.0 - table.score)
    noise = float((table.weight_sq * variance).sum())
    return Estimate(
        name=MeasureName.MMCE,
        value=math.sqrt(squared),
        interval=None,
        null=math.sqrt(noise) / total,
        assumptions=(
            INDEPENDENT_ROWS,
            HELD_OUT,
            "no interval: none that holds in finite samples is known to us",
            'the "by chance" value is the root of the mean square',
        ),
        rows=rows,
        details=details,
        null_range=None if table.weighted else _range_if_calibrated(table, variance),
    )


def _range_if_calibrated(table: Table, variance: Floats) -> Range:
    """
    Return the range over labels that follow the scores.

    The square is a sum of r_i r_j k_ij, whose variance is 2 sum_ij v_i v_j k_ij^2 over pairs of different
    rows and sum_i (E r_i^4 - v_i^2) = sum_i v_i (1 - 4 v_i). Of such a sum of squares of nearly normal
    variables a gamma variable with the same two moments has about the law (Satterthwaite).
    """
    mass = table.weight * variance
    mean = float(mass.sum())
    pairs = energy(table.score, mass, width=0.5 * _WIDTH) - float((mass * variance).sum())
    spread = 2.0 * max(pairs, 0.0) + float((mass * (1.0 - 4.0 * variance)).sum())
    third = 2.0 * spread**2 / mean if mean > 0.0 else 0.0
    low, high = of_moments(mean, spread, third, least=0.0)
    return math.sqrt(low) / table.total_rows, math.sqrt(high) / table.total_rows


def energy(score: Floats, mass: Floats, *, width: float = _WIDTH) -> float:
    """Return sum_ij m_i m_j exp(-|f_i - f_j| / width) from running sums."""
    # exp(score / 0.2) is at most e^5, so the exponential of a distance may be taken apart.
    before = np.cumsum(mass * np.exp(score / width))
    across = float((mass[1:] * np.exp(-score[1:] / width) * before[:-1]).sum())
    return float((mass**2).sum()) + 2.0 * across


# So many curves are drawn for an interval, more where it may be wrong less often, at so many places.
_DRAWS, _MOST_DRAWS, _PLACES = 400, 2_000, 200

# Curves from the diagonal to the fitted one, among which the lower end is sought: close by with many rows.
_WAY = np.concatenate((np.linspace(0.0, 0.9, 10), 1.0 - 0.1 * 0.5 ** np.arange(1, 6), [1.0]))

# Labels that a curve parts have no best one: how far the targets are then taken from 0 and 1, the first that
# has one. The limit of the curves is as near.
_NEAR = (1e-8, 1e-6, 1e-4, 1e-2)

_PARTED = "a curve parts the labels, at least in part, so that it runs up to 0 or 1"

_UNDEFINED = (
    "no interval: undefined, as no curve is the best: scores or weights differ by many orders of magnitude"
)

# With fewer rows, or fewer of one label, coefficients are too far from normal for an interval to hold.
_LEAST_ROWS, _LEAST_EVENTS = 30, 5

_METHOD = "test inversion over spline coefficients; upper: bootstrap percentile"


def calibration_index(
    table: Table, *, name: MeasureName, confidence: float = 0.95, seed: int = 0, shared: Shared | None = None
) -> Estimate:
    """
    Return the mean, median, 90th percentile or maximum over rows of |h(f) - f|, h a smooth curve.

    The log odds of h are a natural cubic spline of those of the score, by maximum likelihood, with 5 knots.

    Returns:
        The estimate with an approximate interval for the population's curve of the same kind: noise makes
        all four too large, so the lower end is where curves on the way from the diagonal to the fitted one
        would seldom show as much, and the upper end a percentile of curves around the fitted one.

    References:
        Austin & Steyerberg (2019), Statistics in Medicine 38; Harrell (2015), Regression Modeling Strategies,
        section 2.4.5; Carpenter (1999), JRSS-B 61, for the test inversion.
    """
    delta = (1.0 - confidence) / 2.0
    # With fewer than 1 / delta an end would be wrong more often than delta: none is as rare as that.
    draws = max(_DRAWS, math.ceil(1.0 / delta - _ROUNDING))
    curve = (shared or Shared()).once(
        f"smooth curve {draws}", table, lambda: _Curve.of(table, draws=draws, seed=seed)
    )
    assumptions: tuple[str, ...] = (INDEPENDENT_ROWS, HELD_OUT, *curve.notes)
    value = float(_SUMMARIES[name](curve.gap, table.weight))
    interval, reference = None, UNKNOWN
    if table.weighted:
        assumptions = (*assumptions, NO_WEIGHTED_INTERVAL)
    if name in curve.drawn:
        drawn, true = curve.drawn[name]
        if float(open_variance(table).sum()) >= MANY_EVENTS:
            reference = of_draws(drawn[0])
        ends = _ends(drawn, true, true[-1], delta=delta)
        ends = min(ends[0], value), max(ends[1], value)
        interval = Interval(*ends, confidence, _METHOD, Target.POPULATION, finite_sample=False)
    return Estimate(
        name=name,
        value=value,
        interval=interval,
        null=reference[0],
        assumptions=assumptions,
        rows=table.total_rows,
        details={"knots": curve.knots},
        null_range=reference[1],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """
    The spline of a table.

    Args:
        knots: How many there are.
        notes: What must be known of the fit.
        gap: |h(f) - f| at each score, shape (n_entries,).
        drawn: By measure, what estimated curves show where the true one is so far on the way from the
            diagonal to the fitted one, shape (way, draws), and what the true one is, shape (way,).
    """

    knots: int
    notes: tuple[str, ...]
    gap: Floats
    drawn: Mapping[MeasureName, tuple[Floats, Floats]]

    @classmethod
    def of(cls, table: Table, *, draws: int, seed: int) -> "_Curve":
        """Fit the spline; a straight line or a constant where there are few scores."""
        points = Labelled.of(table)
        knots = () if one_logit(points) else knots_of(table, None, points=points)
        family = Family(
            RecalibratorName.SPLINE,
            partial(spline_features, knots=knots) if knots else lambda score: np.ones((1, score.size)),
        )
        features = family.features(table.score)
        found = _solved(family, points, near=0.0)
        notes = (_PARTED,) if found is None else ()
        for near in _NEAR:
            found = _solved(family, points, near=near) if found is None else found
        if found is None:
            return cls(len(knots), (_UNDEFINED,), np.full(table.score.size, math.nan), {})
        fitted = np.array(found.coefficients) @ features
        generator = stream(seed, Purpose.SMOOTH_CURVE)
        few = () if table.weighted else _too_few(points, draws)
        noise = generator.standard_normal((min(draws, _MOST_DRAWS), features.shape[0]))
        drawn = {} if table.weighted or few else _drawn(table, features, fitted, noise=noise)
        return cls(len(knots), (*notes, *few), np.abs(logistic(fitted) - table.score), drawn)


def _too_few(points: Labelled, draws: int) -> tuple[str, ...]:
    """Return why there is no interval, where the rows do not tell how far a curve may be off."""
    rows, events = float(points.weight.sum()), float(points.weight[points.label].sum())
    rarer = min(events, rows - events)
    reasons = {
        "every label is the same": rarer == 0.0,
        f"fewer than {_LEAST_ROWS} rows": rows < _LEAST_ROWS,
        f"fewer than {_LEAST_EVENTS} rows of one label": 0.0 < rarer < _LEAST_EVENTS,
        "every score is the same": one_logit(points),
        f"so high a confidence takes more than {_MOST_DRAWS:,} draws": draws > _MOST_DRAWS,
    }
    return tuple(f"no interval: {reason}" for reason, holds in reasons.items() if holds)[:1]


def _solved(family: Family, points: Labelled, *, near: float) -> Solution | None:
    """Return the best curve for labels that are so near to 0 and 1, None where steps do not reach it."""
    try:
        return solved(family, points, aim=Aim(FitLoss.LOG, near, 1.0 - near, smoothed=False, separated=False))
    except NotConverged:
        return None


def _drawn(
    table: Table, features: Floats, fitted: Floats, *, noise: Floats
) -> Mapping[MeasureName, tuple[Floats, Floats]]:
    """Return what estimates of true curves show, their coefficients being normal around the truth."""
    at, weight = _places(table.weight)
    score, x = table.score[at], features[:, at]
    start = logit(score)
    gaps, true = [], []
    for share in _WAY:
        odds = start + share * (fitted[at] - start)
        rate = logistic(odds)
        # A fitted rate of next to 0 claims that no label is open there; half way to the score some are.
        likely = 0.5 * (rate + score)
        values, vectors = np.linalg.eigh((x * (weight * likely * (1.0 - likely))) @ x.T)
        known = values > _LEAST_INFORMATION * values[-1]
        spread = vectors * np.where(known, 1.0 / np.sqrt(np.where(known, values, 1.0)), 0.0)
        gaps.append(np.abs(logistic(odds + noise @ (spread.T @ x)) - score))
        true.append(np.abs(rate - score))
    shown, truths = np.stack(gaps), np.stack(true)
    return {name: (summary(shown, weight), summary(truths, weight)) for name, summary in _SUMMARIES.items()}


_LEAST_INFORMATION, _ROUNDING = 1e-12, 1e-6


def _places(weight: Floats) -> tuple[Integers, Floats]:
    """Return some places of a table, the first and the last among them, and the weight around each."""
    reached = np.cumsum(weight)
    requested = reached[-1] * (np.arange(_PLACES) + 0.5) / _PLACES
    at = np.unique(np.concatenate(([0], np.searchsorted(reached, requested), [weight.size - 1])))
    starts = np.concatenate(([0], (at[1:] + at[:-1] + 1) // 2))
    return at, np.add.reduceat(weight, starts)


def _ends(drawn: Floats, true: Floats, value: float, *, delta: float) -> tuple[float, float]:
    """Return the least truth of which the value is no surprise, and a percentile around the last one."""
    below = np.mean(drawn < value, axis=1)
    upper = float(np.sort(drawn[-1])[math.ceil((1.0 - delta) * drawn.shape[1]) - 1])
    surprised = np.nonzero(below > 1.0 - delta)[0]
    if not surprised.size:
        return 0.0, upper
    last = int(surprised[-1])
    if last + 1 == len(_WAY):
        return value, upper
    # Between the last curve that would be one and the next.
    part = (below[last] - (1.0 - delta)) / (below[last] - below[last + 1])
    return float(true[last] + part * (true[last + 1] - true[last])), upper


def weighted_quantile(value: Floats, weight: Floats, *, share: float) -> Floats:
    """Return the least value that at least this share of the weight does not exceed, over the last axis."""
    order = np.argsort(value, axis=-1, kind="stable")
    reached = np.cumsum(weight[order], axis=-1)
    # The sum may fall short of the share by rounding.
    enough = reached >= share * reached[..., -1:] * (1.0 - 1e-12)
    first = np.argmax(enough, axis=-1, keepdims=True)
    found: Floats = np.take_along_axis(np.take_along_axis(value, order, -1), first, -1)[..., 0]
    return found


# What is said of the sizes of gaps, with the weights of their rows, over the last axis.
_SUMMARIES: Mapping[MeasureName, Callable[[Floats, Floats], Floats]] = {
    MeasureName.ICI: lambda gap, weight: np.asarray((gap * weight).sum(axis=-1) / weight.sum()),
    MeasureName.E50: lambda gap, weight: weighted_quantile(gap, weight, share=0.5),
    MeasureName.E90: lambda gap, weight: weighted_quantile(gap, weight, share=0.9),
    MeasureName.EMAX: lambda gap, weight: np.asarray(np.where(weight > 0.0, gap, 0.0).max(axis=-1)),
}


def _index(name: MeasureName, table: Table, settings: Settings) -> Estimate:
    return calibration_index(
        table, name=name, confidence=settings.confidence, seed=settings.seed, shared=settings.shared
    )


MEASURES: Measures = {
    MeasureName.MMCE: lambda _, table, __: maximum_mean_error(table),
    **dict.fromkeys(_SUMMARIES, _index),
}
