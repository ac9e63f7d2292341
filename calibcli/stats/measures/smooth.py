"""Measures by a kernel or a smooth curve: the kernel error and the calibration indices."""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from zlib import crc32

import numpy as np

from calibcli.errors import NotConverged
from calibcli.names import MeasureName, Purpose, Target
from calibcli.options.fitting import FitOptions
from calibcli.stats.bounds import Interval
from calibcli.stats.bounds.resampling import ends_of_draws
from calibcli.stats.measures import HELD_OUT, NO_WEIGHTED_INTERVAL, UNKNOWN, Estimate, Range, Reference
from calibcli.stats.measures.if_calibrated import Measures, Settings, Shared, of_draws, of_moments
from calibcli.stats.numerics import Floats, Integers, stream
from calibcli.stats.recalibrators.logistic import solved
from calibcli.stats.recalibrators.newton import Aim, Labelled, logistic, logit
from calibcli.stats.recalibrators.spline import nearest_fit, spline_family
from calibcli.stats.table.grid import (
    MOST_HIDDEN,
    Table,
    hidden_share,
    open_variance,
    residuals,
    squared_residuals,
)
from calibcli.values import dataclass

# Kumar, Sarawagi & Jain's choice.
_WIDTH = 0.4


def maximum_mean_error(table: Table) -> Estimate:
    """Return the root of (1/n^2) sum_ij r_i r_j exp(-|f_i - f_j| / 0.4), pairs of a row with itself included.

    Its square and the unbiased square over pairs of different rows are in the details.
    """
    total = float(table.weight.sum())
    pairs = max(0.0, energy(table.score, residuals(table)))
    squared = pairs / total**2
    details: dict[str, float | int | str] = {"squared": squared, "width": _WIDTH}
    other = total**2 - float(table.weight_sq.sum())
    if table.total_rows >= 2 and other > 0.0:
        details["squared_unbiased"] = (pairs - float(squared_residuals(table).sum())) / other
    # Residuals of different calibrated rows are independent with mean 0: only each row with itself is left.
    variance = table.score * (1.0 - table.score)
    noise = float((table.weight_sq * variance).sum())
    within = None if table.weighted else _range_if_calibrated(table, variance)
    none = "no interval: none that holds in finite samples is known to us"
    return Estimate.of(
        MeasureName.MMCE,
        table,
        math.sqrt(squared),
        null=(math.sqrt(noise) / total, within),
        because=(HELD_OUT, none, 'the "by chance" value is the root of the mean square'),
        details=details,
    )


def _range_if_calibrated(table: Table, variance: Floats) -> Range:
    """Return the range over labels that follow the scores.

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


# So many curves are drawn for an interval, more where it may be wrong less often, at twice so many places.
_DRAWS, _MOST_DRAWS, _PLACES = 400, 2_000, 100

# Curves from the diagonal to the fitted one, among which the lower end is sought: close by with many rows.
_WAY = np.concatenate((np.linspace(0.0, 0.9, 10), 1.0 - 0.1 * 0.5 ** np.arange(1, 6), [1.0]))

_PARTED = "a curve parts the labels, at least in part, so that it runs up to 0 or 1"

_UNDEFINED = (
    "no interval: undefined, as no curve is the best: scores or weights differ by many orders of magnitude"
)

# With fewer rows, or fewer of one label, no interval holds.
_LEAST_ROWS, _LEAST_EVENTS = 30, 5

_METHOD = "refitted splines; lower: test inversion or percentile; upper: percentile or basic bootstrap"


def calibration_index(
    table: Table, *, name: MeasureName, confidence: float = 0.95, seed: int = 0, shared: Shared | None = None
) -> Estimate:
    """Return the mean, median, 90th percentile or maximum over rows of |h(f) - f|, h a smooth curve.

    The log odds of h are a natural cubic spline of those of the score, by maximum likelihood, with 5 knots.
    Noise makes all four too large as a rule, so the lower end is where curves on the way from the diagonal to
    the fitted one would seldom show as much, or a percentile of curves around the fitted one where that is
    lower.

    References:
        Harrell (2015), Regression Modeling Strategies, section 2.4.5; Carpenter (1999), JRSS-B 61, for the
        test inversion; others in the entries of the family.
    """
    delta = (1.0 - confidence) / 2.0
    # With fewer than 1 / delta an end would be wrong more often than delta: none is as rare as that.
    draws = max(_DRAWS, math.ceil(1.0 / delta - _ROUNDING))
    curve = (shared or Shared()).once(
        f"smooth curve {draws}", table, lambda: _Curve.of(table, draws=draws, seed=seed)
    )
    because = HELD_OUT, *curve.notes, *curve.few, *((NO_WEIGHTED_INTERVAL,) if table.weighted else ())
    value = float(_SUMMARIES[name](curve.gap, table.weight))
    interval = None
    # Where a curve parts the labels, how near to 0 and 1 it is followed settles a gap that is next to none.
    unsettled = curve.near > 0.0 and name in {MeasureName.E50, MeasureName.E90}
    null = UNKNOWN if curve.way is None or unsettled else curve.way.if_calibrated(name)
    if curve.way is not None and not curve.few:
        ends = curve.way.ends(name, value, delta=delta)
        # What keeps the curve from 0 and 1 is no error of the scores.
        ends = min(ends[0], value) if ends[0] > 2.0 * curve.near else 0.0, max(ends[1], value)
        if hidden_share(table, table.weight, table.weight) > MOST_HIDDEN:
            words = f"scores are seen to {table.resolution:.1g}, by which both ends are farther out"
            because = *because, words
            ends = max(0.0, ends[0] - table.resolution), min(1.0, ends[1] + table.resolution)
        # How far out scores can lie the rows do not tell: the maximum is that over these.
        target = Target.FIXED_DESIGN if name is MeasureName.EMAX else Target.POPULATION
        interval = Interval(*ends, confidence, _METHOD, target, finite_sample=False)
    details = {"knots": curve.knots}
    return Estimate.of(name, table, value, interval, null=null, because=because, details=details)


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """The spline of a table.

    Args:
        knots: How many there are.
        notes: What must be known of the fit.
        gap: |h(f) - f| at each score, shape (n_entries,).
        way: To the curve from the diagonal; None with importance weights, or where there is no curve.
        few: Why there is no interval where the rows do not tell how far a curve may be off.
        near: How far a curve that parts the labels is kept from 0 and 1; 0 of any other.
    """

    knots: int
    notes: tuple[str, ...]
    gap: Floats
    way: "_Way | None"
    few: tuple[str, ...] = ()
    near: float = 0.0

    @classmethod
    def of(cls, table: Table, *, draws: int, seed: int) -> "_Curve":
        """Fit the spline; a straight line or a constant where there are few scores."""
        points = Labelled.of(table)
        knots, family = spline_family(table, points)
        features = family.features(table.score)
        found = nearest_fit(family, points)
        if found is None:
            return cls(len(knots), (_UNDEFINED,), np.full(table.score.size, math.nan), None)
        (solution, near), notes = found, () if found[1] == 0.0 else (_PARTED,)
        fitted = np.array(solution.coefficients) @ features
        gap = np.abs(logistic(fitted) - table.score)
        if table.weighted:
            return cls(len(knots), notes, gap, None)
        at, weight, ones = _places(table)
        score, start = table.score[at], logit(table.score[at])
        odds = start + _WAY[:, None] * (fitted[at] - start)
        # Labels drawn of a curve that runs up to 0 or 1 would be as sure as it: for them it is smoothed.
        try:
            smoothed = solved(family, points, aim=Aim.of(table, FitOptions(), separated=True))
            careful = np.array(smoothed.coefficients) @ features[:, at]
        except NotConverged:
            careful = odds[-1]
        odds = np.vstack((odds, careful))
        # Numbers that all tables share would pass, or fail, too many of them alike.
        key = crc32(np.concatenate((weight, ones)).tobytes())
        way = _Way(score, features[:, at], weight, odds, min(draws, _MOST_DRAWS), (seed, key), seen={})
        return cls(len(knots), notes, gap, way, _too_few(points, draws), near)


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """Curves from the diagonal to the fitted one, in log odds, and what fits to labels of each show.

    Args:
        score: Of some rows, shape (places,).
        features: The splines there, shape (k, places).
        weight: The rows around each, shape (places,).
        odds: The log odds of the curves there, shape (steps + 1, places), the last a smoothed one.
        seed: What was asked for, and a number of these rows' own.
        seen: What was looked at of the steps: the gaps that fits to labels show, shape (draws, places), the
            true ones, and the rows around each place in as many samples of them.
    """

    score: Floats
    features: Floats
    weight: Floats
    odds: Floats
    draws: int
    seed: tuple[int, int]
    seen: dict[int, tuple[Floats, Floats, Floats]]

    def looked_at(self, step: int) -> tuple[Floats, Floats, Floats]:
        """Return what fits to labels of a curve show, the curve, and rows drawn anew."""
        if step not in self.seen:
            odds, weight = self.odds[step], self.weight
            rate, counts = logistic(odds), weight.astype(np.int64)
            seed, key = self.seed
            generator = stream(seed, Purpose.SMOOTH_CURVE, key)
            ones = generator.binomial(counts, rate, (self.draws, rate.size))
            fits = many_fits(self.features, ones / weight, weight, start=odds)
            again = generator.multinomial(counts.sum(), weight / weight.sum(), self.draws).astype(np.float64)
            self.seen[step] = np.abs(logistic(fits) - self.score), np.abs(rate - self.score), again
        return self.seen[step]

    def if_calibrated(self, name: MeasureName) -> Reference:
        """Return what calibrated labels of these very scores show."""
        return of_draws(_SUMMARIES[name](self.looked_at(0)[0], self.weight))

    def shown(self, name: MeasureName, step: int) -> tuple[Floats, float]:
        """Return what samples of a population with this curve show, shape (draws,), and what is true."""
        gap, true, again = self.looked_at(step)
        # The largest gap is that of these scores; the others are means and quantiles over the population.
        weight = np.broadcast_to(self.weight, again.shape) if name is MeasureName.EMAX else again
        return _SUMMARIES[name](gap, weight), float(_SUMMARIES[name](true, self.weight))

    def ends(self, name: MeasureName, value: float, *, delta: float) -> tuple[float, float]:
        """Return the lower end, the lesser of test inversion and percentile, and the upper one.

        The curves on the way are all of the fitted one's shape. Where a quantile jumps between two sizes of
        gaps, one of which the fitted curve overstates, only estimates around it show the lesser size. Where
        gaps are about as large as they can be, noise makes estimates too small, not too large: the truth then
        lies as far above them as they lie below the fitted curve's (the basic bootstrap).
        """
        drawn = self.shown(name, _WAY.size)[0]
        least, upper = ends_of_draws(drawn, confidence=1.0 - 2.0 * delta).tolist()
        upper = max(upper, 2.0 * value - least)
        # No gap is larger than its score allows.
        possible = np.maximum(self.score, 1.0 - self.score).max() if name is MeasureName.EMAX else 1.0
        return min(self._lower(name, value, delta=delta), least), min(upper, float(possible))

    def _lower(self, name: MeasureName, value: float, *, delta: float) -> float:
        """Return the least truth on the way of which the value is no surprise."""
        last = _WAY.size - 1

        def below(step: int) -> float:
            return float(np.mean(self.shown(name, step)[0] < value)) - (1.0 - delta)

        if below(0) <= 0.0:
            return 0.0
        if below(last) > 0.0:
            return value
        surprised = bisect_left(range(last), True, key=lambda step: below(step + 1) <= 0.0)
        one, other = below(surprised), below(surprised + 1)
        here, there = (self.shown(name, step)[1] for step in (surprised, surprised + 1))
        return here + one / (one - other) * (there - here)


def _too_few(points: Labelled, draws: int) -> tuple[str, ...]:
    """Return why there is no interval, where the rows do not tell how far a curve may be off."""
    rows, events = float(points.weight.sum()), float(points.weight[points.label].sum())
    rarer = min(events, rows - events)
    reasons = {
        "every label is the same": rarer == 0.0,
        f"fewer than {_LEAST_ROWS} rows": rows < _LEAST_ROWS,
        f"fewer than {_LEAST_EVENTS} rows of one label": 0.0 < rarer < _LEAST_EVENTS,
        "every score is the same": points.one_logit,
        f"so high a confidence takes more than {_MOST_DRAWS:,} draws": draws > _MOST_DRAWS,
    }
    return tuple(f"no interval: {reason}" for reason, holds in reasons.items() if holds)[:1]


def many_fits(features: Floats, target: Floats, weight: Floats, *, start: Floats) -> Floats:
    """Return the log odds of many most likely curves over the same features, by Newton's steps at once.

    Args:
        features: Shape (k, places).
        target: How often label 1 was seen at each place, of each fit, shape (fits, places).
        weight: Rows at each place, shape (places,).
        start: Log odds of a curve of the family, from which the steps begin, shape (places,).

    Returns:
        Shape (fits, places). A curve that parts the labels is followed until its loss falls no more.
    """
    k = features.shape[0]
    pairs = (features[:, None] * features).reshape(k * k, -1)
    odds = np.tile(start, (target.shape[0], 1))
    left, loss = np.arange(target.shape[0]), _losses(odds, target, weight)
    for _ in range(_MOST_STEPS):
        labels, rate = target[left], logistic(odds[left])
        gradient = _product((labels - rate) * weight, features.T)
        curvature = _product(rate * (1.0 - rate) * weight, pairs.T).reshape(-1, k, k)
        scale = np.sqrt(np.maximum(np.einsum("fii->fi", curvature), np.finfo(np.float64).tiny))
        related = curvature / (scale[:, :, None] * scale[:, None, :]) + _RIDGE * np.eye(k)
        step = _product(np.linalg.solve(related, (gradient / scale)[:, :, None])[:, :, 0] / scale, features)
        reached = np.full(left.size, math.inf)
        # Where the loss would rise the step is halved.
        for _ in range(_MOST_STEPS):
            long = ~(reached <= loss[left])
            if not long.any():
                break
            reached[long] = _losses(odds[left[long]] + step[long], labels[long], weight)
            step[~(reached <= loss[left])] *= 0.5
        moves = loss[left] - reached > _SETTLED
        odds[left] += np.where((reached <= loss[left])[:, None], step, 0.0)
        loss[left] = np.minimum(loss[left], reached)
        left = left[moves]
        if not left.size:
            break
    return odds


# OpenBLAS shares out larger products to threads, whose number then rounds them.
_OF_ONE_THREAD = 250_000


def _product(rows: Floats, other: Floats) -> Floats:
    """Return the product of two matrices, in parts too small for threads: the same digits with any number."""
    step = max(1, _OF_ONE_THREAD // other.size)
    return np.concatenate([rows[start : start + step] @ other for start in range(0, len(rows), step)])


# A loss, in nats over all rows, that falls by less has reached its least value.
_SETTLED, _RIDGE, _MOST_STEPS = 1e-6, 1e-10, 50


def _losses(odds: Floats, target: Floats, weight: Floats) -> Floats:
    """Return the log loss of each fit over all rows, shape (fits,)."""
    # Five times as fast as numpy's logaddexp.
    rest = np.log1p(np.exp(-np.abs(odds)))
    return np.asarray(((np.maximum(odds, 0.0) + rest - target * odds) * weight).sum(axis=1))


_ROUNDING = 1e-6


def _places(table: Table) -> tuple[Integers, Floats, Floats]:
    """Return places of a table, half by rows, half by open labels, and rows around each, and of label 1."""
    at = [np.array([0, table.weight.size - 1])]
    for mass in (table.weight, open_variance(table)):
        reached = np.cumsum(mass)
        at.append(np.searchsorted(reached, reached[-1] * (np.arange(_PLACES) + 0.5) / _PLACES))
    found = np.unique(np.concatenate(at))
    starts = np.concatenate(([0], (found[1:] + found[:-1] + 1) // 2))
    return found, np.add.reduceat(table.weight, starts), np.add.reduceat(table.positive, starts)


def weighted_quantile(value: Floats, weight: Floats, *, share: float) -> Floats:
    """Return the least value that at least this share of the weight does not exceed, over the last axis."""
    order = np.argsort(value, axis=-1, kind="stable")
    reached = np.cumsum(np.take_along_axis(np.broadcast_to(weight, value.shape), order, -1), axis=-1)
    # The sum may fall short of the share by rounding.
    enough = reached >= share * reached[..., -1:] * (1.0 - 1e-12)
    first = np.argmax(enough, axis=-1, keepdims=True)
    found: Floats = np.take_along_axis(np.take_along_axis(value, order, -1), first, -1)[..., 0]
    return found


# What is said of the sizes of gaps, with the weights of their rows, over the last axis.
_SUMMARIES: Mapping[MeasureName, Callable[[Floats, Floats], Floats]] = {
    MeasureName.ICI: lambda gap, weight: np.asarray((gap * weight).sum(axis=-1) / weight.sum(axis=-1)),
    MeasureName.E50: lambda gap, weight: weighted_quantile(gap, weight, share=0.5),
    MeasureName.E90: lambda gap, weight: weighted_quantile(gap, weight, share=0.9),
    MeasureName.EMAX: lambda gap, weight: np.asarray(np.where(weight > 0.0, gap, 0.0).max(axis=-1)),
}


def _of_curve(
    name: MeasureName, table: Table, *, smooth: Callable[[Table], tuple[Floats, str]], shared: Shared
) -> Estimate:
    """Return an index of a curve that is drawn otherwise, of which no interval is known."""
    rate, how = shared.once("other curve", table, lambda: smooth(table))
    value = float(_SUMMARIES[name](np.abs(rate - table.score), table.weight))
    because = HELD_OUT, f"curve: {how}"
    if math.isnan(value):
        why = "no interval: undefined: too few scores for a curve"
        return Estimate.of(name, table, value, because=(*because, why))
    why = "no interval: none is known for this curve, only for the spline"
    return Estimate.of(name, table, value, because=(*because, why), details={"curve": how})


def _index(name: MeasureName, table: Table, settings: Settings) -> Estimate:
    if settings.smooth is not None:
        return _of_curve(name, table, smooth=settings.smooth, shared=settings.shared)
    return calibration_index(
        table, name=name, confidence=settings.confidence, seed=settings.seed, shared=settings.shared
    )


MEASURES: Measures = {
    MeasureName.MMCE: lambda _, table, __: maximum_mean_error(table),
    **dict.fromkeys(_SUMMARIES, _index),
}
