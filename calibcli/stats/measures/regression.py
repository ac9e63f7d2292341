"""Calibration in the large and Cox's logistic recalibration: bias, intercept and slope."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from calibcli.errors import NotConverged
from calibcli.names import MeasureName, RecalibratorName, Target
from calibcli.options.fitting import FitOptions
from calibcli.stats.bounds.betting import GroupedResiduals, stakes_for_a_mean
from calibcli.stats.bounds.interval import Interval
from calibcli.stats.bounds.proportion import bounds_of_a_rate, clopper_pearson_of_a_rate, sum_margin
from calibcli.stats.measures.estimate import (
    HELD_OUT,
    INDEPENDENT_ROWS,
    NO_WEIGHTED_INTERVAL,
    Estimate,
    deviation,
    on_line,
)
from calibcli.stats.measures.if_calibrated import (
    MANY_EVENTS,
    UNKNOWN,
    Measures,
    Reference,
    Settings,
    of_mean,
    of_moments,
)
from calibcli.stats.measures.scores import entropy, gathered, interval_of_mean
from calibcli.stats.numerics import crossing, normal_quantile, student_quantile
from calibcli.stats.recalibrators.logistic import Solution, solved
from calibcli.stats.recalibrators.newton import (
    Aim,
    Family,
    Frame,
    Labelled,
    Points,
    constant,
    limited_rows,
    line,
    log_loss,
    logistic,
    logit,
    minimise,
    parted,
    parted_upwards,
)
from calibcli.stats.table.grid import Table, open_variance, residuals, squared_residuals
from calibcli.stats.table.score_table import Floats
from calibcli.values import dataclass

# The comparison of Hoeffding (1956) behind `bounds_of_a_rate` needs an error probability of at most so much.
_MOST_DELTA = 0.25

_SHARE_BESIDE_BETS = 0.1

# With fewer rows of the rarer label the mean score of other rows may matter more than the noise of labels.
_LEAST_RARER = 10

_ONLY_THESE = "of these scores only"

_WHY_ONLY_THESE = (
    f"{_ONLY_THESE}: few rows have the rarer label, or an end is as far as these scores allow, so other rows "
    "of the population may move it farther"
)


def bias(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Mean label minus mean score; positive when events are more frequent than announced.

    Returns:
        The estimate with a finite-sample interval for these scores with labels drawn anew, never beyond what
        the mean score leaves possible. Which of three methods gives it is settled by the scores.

    References:
        Hoeffding (1956), Ann. Math. Statist. 27, Theorem 4; Clopper & Pearson (1934), Biometrika 26;
        Waudby-Smith & Ramdas (2024), JRSS-B 86, with bets fixed by the scores.
    """
    value, mean_score = _means(table)
    interval = _interval(table, value, mean_score, confidence=confidence)
    only_these = (_WHY_ONLY_THESE,) if _ONLY_THESE in interval.method else ()
    return Estimate(
        name=MeasureName.BIAS,
        value=value,
        interval=interval,
        null=0.0,
        assumptions=(INDEPENDENT_ROWS, HELD_OUT, *only_these),
        rows=table.total_rows,
        details={
            "mean_label": float(table.positive.sum()) / float(table.weight.sum()),
            "mean_score": mean_score,
        },
        null_range=of_mean(table, 0.0, np.ones_like(table.score)),
    )


def observed_over_expected(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Number of labels 1 over the sum of scores; above 1 events are more frequent than announced.

    Returns:
        1 + bias / mean score, with its interval from that of `bias`. NaN where every score is 0.
    """
    found = bias(table, confidence=confidence)
    mean_score = float(found.details["mean_score"])
    if not mean_score > 0.0:
        why = "no interval: every score is 0, so that it is undefined"
        return Estimate(
            MeasureName.OE, math.nan, None, None, (*found.assumptions, why), found.rows, found.details
        )
    return on_line(found, MeasureName.OE, slope=1.0 / mean_score, offset=1.0)


def observed_rate(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Share of rows with label 1: where labels say whether an answer was right, the accuracy.

    Returns:
        The share, with the Clopper-Pearson interval for the population; none with importance weights.
    """
    value, expected = float(table.positive.sum()) / float(table.weight.sum()), _means(table)[1]
    assumptions: tuple[str, ...] = (INDEPENDENT_ROWS, NO_WEIGHTED_INTERVAL)
    bounds: Interval | None = None
    if not table.weighted:
        delta = (1.0 - confidence) / 2.0
        ends = clopper_pearson_of_a_rate(table.total_positive_rows, table.total_rows, delta_each_side=delta)
        bounds = Interval(*ends, confidence, "Clopper-Pearson", Target.POPULATION, finite_sample=True)
        assumptions = assumptions[:1]
    null_range = of_mean(table, expected, np.ones_like(table.score))
    return Estimate(
        MeasureName.OBSERVED_RATE,
        value,
        bounds,
        expected,
        assumptions,
        table.total_rows,
        null_range=null_range,
    )


def mean_score(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Mean of the scores, of the answers of a model its mean confidence.

    Returns:
        The mean, with Gaffke's bound for the population; none with importance weights.
    """
    value, rows = _means(table)[1], table.total_rows
    if table.weighted:
        return Estimate(
            MeasureName.MEAN_SCORE, value, None, None, (INDEPENDENT_ROWS, NO_WEIGHTED_INTERVAL), rows
        )
    values = gathered((table.score, table.weight))
    interval = interval_of_mean(values, most=1.0, confidence=confidence)
    return Estimate(MeasureName.MEAN_SCORE, value, interval, None, (INDEPENDENT_ROWS,), rows)


def interval_of_bias(table: Table, *, confidence: float) -> Interval:
    """Return the interval that `bias` gives, without the rest."""
    return _interval(table, *_means(table), confidence=confidence)


def _means(table: Table) -> tuple[float, float]:
    """Return the bias and the mean score."""
    total = float(table.weight.sum())
    return float(residuals(table).sum()) / total, float((table.weight * table.score).sum()) / total


def _interval(table: Table, value: float, mean_score: float, *, confidence: float) -> Interval:
    delta = (1.0 - confidence) / 2.0
    if table.weighted:
        margin = deviation(table, delta=delta)
        bounds, method = (value - margin, value + margin), "Hoeffding at the effective number of rows"
    else:
        bounds, method = _shortest(table, value, mean_score, delta=min(delta, _MOST_DELTA))
    lower, upper = max(-mean_score, bounds[0]), min(1.0 - mean_score, bounds[1])
    method = f"{method}; {_ONLY_THESE}" if _only_these(table, cut=(lower, upper) != bounds) else method
    # Where no label is 1, or all are, an end is the value but for the last digits of a sum.
    ends = min(lower, value), max(upper, value)
    return Interval(*ends, confidence, method, Target.FIXED_DESIGN, finite_sample=True)


def _only_these(table: Table, *, cut: bool) -> bool:
    """Whether the population's bias may well lie beyond an interval, of which an end was cut or not."""
    ones, rows = table.total_positive_rows, table.total_rows
    return cut or (not table.weighted and min(ones, rows - ones) < _LEAST_RARER)


def population_bounds(
    table: Table, *, lower: float, upper: float, factor: float = 1.0
) -> tuple[float, float]:
    """
    Return bounds of the population's mean of label - factor * score by Gaffke's bound.

    They are wide where rows unlike these would matter.
    """
    ones = table.positive_rows
    positive = 1.0 - factor * table.score_of_positive, ones.astype(np.float64)
    negative = -factor * table.score_of_negative, (table.rows - ones).astype(np.float64)
    values = gathered(positive, negative)
    least, most = min(0.0, 1.0 - factor, -factor), max(1.0, 1.0 - factor, -factor)
    return values.lower_bound(least=least, delta=lower), values.upper_bound(most=most, delta=upper)


def _shortest(
    table: Table, value: float, mean_score: float, *, delta: float
) -> tuple[tuple[float, float], str]:
    """Return the ends, and the method, that are nearest to each other by what the scores announce."""
    rows, level = table.total_rows, math.log(1.0 / delta)
    scatter = float(open_variance(table).sum())
    expected = (
        math.hypot(-normal_quantile(delta) * math.sqrt(rows * mean_score * (1.0 - mean_score)), 0.5 * level),
        sum_margin(scatter, delta=delta),
        # Half of the stake is on the bet that is best for what the scores announce.
        math.hypot(math.sqrt(2.0 * scatter * (level + math.log(2.0))), level + math.log(2.0)),
    )
    best = expected.index(min(expected))
    squares = float(squared_residuals(table).sum())
    if best == 0:
        return _by_counts(table, value, squares, delta=delta), "Clopper-Pearson"
    if best == 1:
        return _by_squares(value, squares, rows, delta=delta), "normal law with a proven error"
    # Bets are lost where scores near 0 and 1 are wrong; the others, which are not, have a part of delta each.
    ends = (
        _by_betting(table, scatter / rows, delta=(1.0 - 2.0 * _SHARE_BESIDE_BETS) * delta),
        _by_counts(table, value, squares, delta=_SHARE_BESIDE_BETS * delta),
        _by_squares(value, squares, rows, delta=_SHARE_BESIDE_BETS * delta),
    )
    return (max(low for low, _ in ends), min(high for _, high in ends)), "betting beside both others"


def _by_squares(value: float, squares: float, rows: int, *, delta: float) -> tuple[float, float]:
    margin = sum_margin(squares, delta=delta) / rows
    return value - margin, value + margin


def _by_counts(table: Table, value: float, squares: float, *, delta: float) -> tuple[float, float]:
    """
    Return the bounds of the rate, less the mean score.

    Where residuals scatter more than labels do, that is where scores say little of the labels, what they
    scatter more is added in squares, so that the interval is not too short for the population either. What
    a single row can make of it is no sign of that.
    """
    count, rows = float(table.positive.sum()), float(table.total_rows)
    ends = bounds_of_a_rate(count, rows, delta_each_side=delta)
    excess = squares - rows * value * value - count * (rows - count) / rows
    more = -normal_quantile(delta) * math.sqrt(max(0.0, excess - 1.0)) / rows
    low, high = (math.hypot(end - count / rows, more) for end in ends)
    return value - low, value + high


def _by_betting(table: Table, variance: float, *, delta: float) -> tuple[float, float]:
    stakes = stakes_for_a_mean(table.total_rows, variance, delta=delta)
    whole = GroupedResiduals(
        table.score,
        positive=table.positive,
        negative=table.weight - table.positive,
        starts=np.array([0, table.distinct]),
    )
    upper = whole.mean_upper_bound(stakes, delta=delta, sign=1)
    return -whole.mean_upper_bound(stakes, delta=delta, sign=-1), upper


BY_MEAN = "|bias|"

BY_MEAN_OR_NOISE = f"{BY_MEAN} or McDiarmid"

_SHARE_OF_MEAN = 0.75


def least_error(
    table: Table, otherwise: Callable[[float], float], *, delta: float, factor: float = 1.0, parts: int = 1
) -> float:
    """Return a lower bound of an error that is never below the size of the mean residual times a factor."""
    of_mean, of_other = error_shares(delta, signs=table.distinct * parts)
    other = max(0.0, otherwise(of_other)) if of_other else 0.0
    # The bound of a mean lies below the mean, which is found sooner.
    found = factor * abs(float(residuals(table).sum())) / float(table.weight.sum())
    return other if found <= other else max(other, factor * least_by_mean(table, delta=of_mean))


def error_shares(delta: float, *, signs: int) -> tuple[float, float]:
    """Return what of the error of a lower bound goes to the mean residual, and what to the other bound."""
    share = 1.0 if signs == 1 else _SHARE_OF_MEAN
    return share * delta, delta - share * delta


def least_by_mean(table: Table, *, delta: float) -> float:
    """Return a lower bound of |mean of label - score| at these scores, wrong with probability delta."""
    return max(least_rise_and_fall(table, delta=delta))


def least_rise_and_fall(table: Table, *, delta: float) -> tuple[float, float]:
    """
    Return by how much labels are at least above scores on average, or
    below, at these scores; 0 if unknown.
    """
    # A mean within its spread has an interval around 0, whose ends are dear where they are found by bets.
    spread = math.sqrt(float(squared_residuals(table).sum()))
    if abs(float(residuals(table).sum())) <= -normal_quantile(0.5 * delta) * spread:
        return 0.0, 0.0
    low, high = interval_of_bias(table, confidence=1.0 - delta).ends
    return max(0.0, low), max(0.0, -high)


_MOST_STEPS = 20

# Steps of Newton's method shrink so fast that the last one below this, relative to the width, is exact.
_STEP = 1e-8

_WITHIN = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """
    The deviance of the last coefficient, the others being chosen best for it.

    Args:
        points: What the curve is fitted to, in orthonormal coordinates, the last feature last.
        least: Smallest mean log loss of any curve, or its infimum.
        rows: Number of rows.
        unit: Length of the last feature's own part: its coefficient times this is its coordinate.
    """

    points: Points
    least: float
    rows: int
    unit: float

    @classmethod
    def of(cls, family: Family, labelled: Labelled, *, rows: int, least: float) -> "Profile":
        """Return the profile of the last feature of a family."""
        share = labelled.weight / np.sum(labelled.weight)
        frame = Frame.of(family.features(labelled.score), share)
        offset = None if family.offset is None else family.offset(labelled.score)
        points = Points(frame.design, labelled.label.astype(np.float64), share, offset)
        return cls(points, least, rows, float(frame.triangle[-1, -1]))

    def around(self, best: Solution, *, level: float) -> tuple[float, float]:
        """
        Return the coefficients on both sides of the best one where the deviance reaches a level.

        Newton's method for the equations of Venzon & Moolgavkar (1988), Applied Statistics 37: the deviance
        is the level, and the other coefficients are at their best. Where it fails, the root is enclosed.

        Args:
            best: The maximum of the likelihood, in the coordinates of `points`.
            level: Of the deviance: the square of a normal quantile.
        """
        ends = [self._end(best, side, level=level) for side in (-1.0, 1.0)]
        return ends[0] / self.unit, ends[1] / self.unit

    def below_infinity(self, side: float, *, level: float) -> float:
        """Return where the deviance falls to a level on the way to a best coefficient of infinity."""

        def rises(u: float) -> float:
            return level - self._deviance(side * u)

        low, high = 0.0, 0.0
        while rises(high) < 0.0:
            low, high = high, max(1.0, 2.0 * high)
        while rises(low) >= 0.0:
            high, low = low, min(-1.0, 2.0 * low)
        return side * sum(crossing(rises, low, high, within=_WITHIN)) / 2.0 / self.unit

    def _end(self, best: Solution, side: float, *, level: float) -> float:
        at, bend = best.optimum.at, best.optimum.slopes.curvature
        tilt = -np.linalg.solve(bend[:-1, :-1], bend[:-1, -1])
        own = float(bend[-1, -1] + bend[-1, :-1] @ tilt)
        width = math.sqrt(level / (self.rows * own)) if own > 0.0 else 1.0
        found = self._by_newton(at, side * width * np.append(tilt, 1.0), level=level)
        return self._enclosed(float(at[-1]), side, width=width, level=level) if found is None else found

    def _by_newton(self, best: Floats, step: Floats, *, level: float) -> float | None:
        """Return the coordinate where both equations hold, None if that is not found on the same side."""
        at, width = best + step, float(step[-1])
        for _ in range(_MOST_STEPS):
            here = log_loss(self.points, at)
            excess = 2.0 * self.rows * (here.loss - self.least) - level
            left = np.append(excess, here.gradient[:-1])
            slopes = np.vstack((2.0 * self.rows * here.gradient, here.curvature[:-1]))
            try:
                move = np.linalg.solve(slopes, left)
            except np.linalg.LinAlgError:
                return None
            at = at - move
            if not (np.all(np.isfinite(at)) and (at[-1] - best[-1]) * width > 0.0):
                return None
            if abs(move[-1]) <= _STEP * abs(width):
                return float(at[-1])
        return None

    def _enclosed(self, centre: float, side: float, *, width: float, level: float) -> float:
        def rises(u: float) -> float:
            return self._deviance(centre + side * u) - level

        far = width
        while rises(far) < 0.0:
            far *= 2.0
        low, high = crossing(rises, 0.0, far, within=_WITHIN * width)
        return centre + side * 0.5 * (low + high)

    def _deviance(self, coordinate: float) -> float:
        """Return twice the log likelihood lost by holding the last coordinate."""
        design = self.points.design
        if len(design) == 1:
            held = log_loss(self.points, np.array([coordinate])).loss
        else:
            base = 0.0 if self.points.offset is None else self.points.offset
            offset = base + coordinate * design[-1]
            rest = Points(design[:-1], self.points.target, self.points.weight, offset)
            start = np.zeros(len(design) - 1)
            held = minimise(log_loss, rest, start=start, what="log loss").slopes.loss
        return 2.0 * self.rows * (held - self.least)


def least_when_parted(ones: Floats, zeros: Floats, points: Labelled) -> float:
    """
    Return the infimum of the mean log loss where a threshold parts the labels.

    Only rows at the threshold itself, where both labels may lie, are left with a loss.
    """
    weight = float(points.weight.sum())
    edges = (float(ones.min()), float(zeros.max())), (float(zeros.min()), float(ones.max()))
    for above, below in edges:
        if above == below:
            there: npt.NDArray[np.bool_] = logit(points.score) == above
            held = float(points.weight[there].sum())
            share = points.weight[there & points.label].sum(keepdims=True) / held
            return held * float(entropy(share)[0]) / weight
    return 0.0


# With fewer rows that carry its noise an interval is called rough.
_MANY_CARRY = 50.0

# Beyond this deviance a coefficient may as well be anything.
_FARTHEST = 1e6

_ONE_ROW = "no interval: nearly all of its noise comes from one row"

# What is left of a row when the line is fitted without it.
_LEAST_LEFT = 1e-6

_LINE = Family(RecalibratorName.PLATT, line)


# The coefficient of the last feature is the one that is measured.
_FAMILIES = {
    MeasureName.CITL_LOGIT: Family(RecalibratorName.INTERCEPT, constant, logit),
    MeasureName.COX_INTERCEPT: Family(RecalibratorName.PLATT, lambda scores: line(scores)[::-1]),
    MeasureName.COX_SLOPE: _LINE,
}

_IF_CALIBRATED = {
    MeasureName.CITL_LOGIT: 0.0,
    MeasureName.COX_INTERCEPT: 0.0,
    MeasureName.COX_SLOPE: 1.0,
}


@dataclass(frozen=True, slots=True)
class _Found:
    """A value, with its ends or the reason for none, and how many rows its noise is as good as."""

    value: float
    ends: tuple[float, float] | None
    why: str | None = None
    carried: float | None = None


@dataclass(frozen=True, slots=True)
class _Scatter:
    """
    The noise of a coefficient, whatever the truth is.

    Args:
        ratio: Its variance by the labels themselves over that by the likelihood, at least 1.
        carried: How many rows of equal influence would leave this variance as uncertain.
    """

    ratio: float
    carried: float


def cox_measure(name: MeasureName, table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Fit log odds of label 1 = intercept + slope logit(score) by maximum likelihood, and return a coefficient.

    `cox_intercept` and `cox_slope` are fitted together; `citl_logit` is the intercept for a slope of 1.

    Returns:
        The coefficient of the best line, whether or not the truth is on it, with its profile-likelihood
        interval, asymptotic, for these scores. Infinite, with one end, where the labels have no finite fit;
        NaN where nothing settles it. `null` is what it tends to for calibrated labels.

    References:
        Cox (1958), Biometrika 45; Venzon & Moolgavkar (1988), Applied Statistics 37, for the interval;
        Royall & Tsou (2003), JRSS-B 65, for the adjusted likelihood; Long & Ervin (2000), American
        Statistician 54, for the variance (HC3).
    """
    points = Labelled.of(table)
    assumptions = [
        INDEPENDENT_ROWS,
        HELD_OUT,
        "of the line that fits best, whether or not the truth is on it",
    ]
    limited = limited_rows(table)
    if limited:
        assumptions.append(limited_words(limited))
    try:
        found = _found(name, table, points, confidence=confidence)
    except NotConverged as problem:
        found = _Found(math.nan, None, f"no interval: undefined, {problem.message}")
    if found.why is not None:
        assumptions.append(found.why)
    details: dict[str, float | int | str] = {"limited_rows": limited}
    rough = None
    if found.carried is not None:
        details["carried_by"] = found.carried
        if found.carried < _MANY_CARRY:
            rough = f"rough: its noise is that of about {max(found.carried, 1.0):.0f} rows"
            assumptions.append(rough)
    interval = None
    if found.ends is not None:
        method = "profile likelihood" + (", no finite fit" if math.isinf(found.value) else ", adjusted")
        method += "" if rough is None else f"; {rough}"
        interval = Interval(*found.ends, confidence, method, Target.FIXED_DESIGN, finite_sample=False)
    null, null_range = UNKNOWN if math.isnan(found.value) else _if_calibrated(name, table)
    rows = table.total_rows
    return Estimate(name, found.value, interval, null, tuple(assumptions), rows, details, null_range)


def _if_calibrated(name: MeasureName, table: Table) -> Reference:
    """
    Return what the coefficient tends to if labels follow the scores, and its range by Fisher's information.

    There is no range where the scores leave fewer than 20 events open, or with importance weights.
    """
    null = _IF_CALIBRATED[name]
    information = table.weight * table.score * (1.0 - table.score)
    whole = float(information.sum())
    if table.weighted or whole < MANY_EVENTS:
        return null, None
    if name is MeasureName.CITL_LOGIT:
        return null, of_moments(null, 1.0 / whole)
    z = logit(table.score)
    middle = float((information * z).sum()) / whole
    slope = 1.0 / float((information * (z - middle) ** 2).sum())
    return null, of_moments(null, slope if name is MeasureName.COX_SLOPE else 1.0 / whole + middle**2 * slope)


def fitted_line(points: Labelled, table: Table) -> Solution:
    """Return the line of most likelihood."""
    return solved(_LINE, points, aim=Aim.of(table, FitOptions(), separated=False))


def limited_words(rows: int) -> str:
    """Return the sentence about rows whose logit was limited."""
    these = "1 row lies" if rows == 1 else f"{rows:,} rows lie"
    return f"{these} within 2^-53 of 0 or 1: limited inside the logit"


def one_label(points: Labelled) -> bool:
    """Whether the rows with weight have one label."""
    return bool(points.label.all()) or not bool(points.label.any())


def one_logit(points: Labelled) -> bool:
    """Whether the scores have one logit, so that there is no slope."""
    return float(np.ptp(logit(points.score))) == 0.0


def _found(name: MeasureName, table: Table, points: Labelled, *, confidence: float) -> _Found:
    """Return the coefficient, wherever it lies."""
    if name is MeasureName.CITL_LOGIT:
        if one_label(points):
            side = 1.0 if points.label.all() else -1.0
            why = f"every label is {int(side > 0.0)}: the fit has no finite intercept"
            # So many labels, all alike, have this probability where the deviance is that.
            level = 2.0 * math.log(2.0 / (1.0 - confidence))
            return _infinite(name, table, points, least=0.0, side=side, why=why, level=level)
    elif one_label(points) or one_logit(points):
        same = "label" if one_label(points) else "score" if float(np.ptp(points.score)) == 0.0 else "logit"
        return _Found(math.nan, None, f"no interval: undefined where there is one {same} only")
    elif parted(*points.logits):
        return _parted(name, table, points, level=student_quantile(0.5 + confidence / 2.0, 1.0) ** 2)
    best = solved(_FAMILIES[name], points, aim=Aim.of(table, FitOptions(), separated=False))
    value = best.coefficients[-1]
    if table.weighted:
        return _Found(value, None, NO_WEIGHTED_INTERVAL)
    least = best.optimum.slopes.loss
    profile = Profile.of(_FAMILIES[name], points, rows=table.total_rows, least=least)
    scatter = _scatter(profile, best)
    quantile = student_quantile(0.5 + confidence / 2.0, max(scatter.carried - 1.0, 1.0))
    level = quantile**2 * scatter.ratio
    try:
        low, high = profile.around(best, level=level) if level < _FARTHEST else (math.nan, math.nan)
    except NotConverged:
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high)):
        return _Found(value, None, _ONE_ROW, scatter.carried)
    return _Found(value, (min(low, value), max(high, value)), carried=scatter.carried)


def _scatter(profile: Profile, best: Solution) -> _Scatter:
    """
    Return how far the labels scatter around the best line, by what each row does to the coefficient.

    Where the truth is not on the line, the curvature of the likelihood is not the variance of its gradient:
    that is the sum of squares of what the rows pull, each as if the line had been fitted without it (HC3).
    """
    points, rows = profile.points, profile.rows
    offset = 0.0 if points.offset is None else points.offset
    curve = logistic(offset + best.optimum.at @ points.design)
    inverse = np.linalg.pinv(best.optimum.slopes.curvature)
    pull = inverse @ points.design
    held = curve * (1.0 - curve) * np.sum(points.design * pull, axis=0) / rows
    squares = (pull[-1] * (points.target - curve)) ** 2
    fourth = float(np.sum(points.weight * squares**2))
    carried = rows * float(np.sum(points.weight * squares)) ** 2 / fourth if fourth > 0.0 else 0.0
    alone = np.maximum(1.0 - held, _LEAST_LEFT)
    own = float(inverse[-1, -1])
    ratio = float(np.sum(points.weight * squares / alone**2)) / own if own > 0.0 else 1.0
    return _Scatter(max(1.0, ratio), carried)


def _parted(name: MeasureName, table: Table, points: Labelled, *, level: float) -> _Found:
    """Return the coefficient where a threshold on the score parts the labels."""
    why = "a threshold on the score parts the labels: the fit has no finite slope"
    if name is MeasureName.COX_INTERCEPT:
        return _Found(math.nan, None, f"no interval: undefined, {why}")
    least = least_when_parted(*points.logits, points)
    side = 1.0 if parted_upwards(*points.logits) else -1.0
    return _infinite(name, table, points, least=least, side=side, why=why, level=level)


def _infinite(
    name: MeasureName, table: Table, points: Labelled, *, least: float, side: float, why: str, level: float
) -> _Found:
    """Return an infinite coefficient with the end that the likelihood still gives."""
    if table.weighted:
        return _Found(side * math.inf, None, f"{NO_WEIGHTED_INTERVAL}; {why}")
    profile = Profile.of(_FAMILIES[name], points, rows=table.total_rows, least=least)
    try:
        end = profile.below_infinity(side, level=level)
    except NotConverged:
        return _Found(side * math.inf, None, f"no interval: {why}, and no end can be computed")
    return _Found(side * math.inf, (end, math.inf) if side > 0.0 else (-math.inf, end), why)


def _cox(name: MeasureName, table: Table, settings: Settings) -> Estimate:
    return cox_measure(name, table, confidence=settings.confidence)


MEASURES: Measures = {
    MeasureName.BIAS: lambda _, table, settings: bias(table, confidence=settings.confidence),
    MeasureName.OBSERVED_RATE: lambda _, table, settings: observed_rate(
        table, confidence=settings.confidence
    ),
    MeasureName.MEAN_SCORE: lambda _, table, settings: mean_score(table, confidence=settings.confidence),
    MeasureName.OE: lambda _, table, settings: observed_over_expected(table, confidence=settings.confidence),
    **dict.fromkeys(_FAMILIES, _cox),
}
