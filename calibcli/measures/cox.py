"""Cox's logistic recalibration as a measure: intercept and slope of log odds over the logit of the score."""

import math
from dataclasses import dataclass

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.bounds.special import normal_quantile
from calibcli.errors import NotConverged
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, NO_WEIGHTED_INTERVAL, Estimate
from calibcli.measures.if_calibrated import UNKNOWN, Reference, of_moments
from calibcli.measures.null_smece import MANY_EVENTS
from calibcli.measures.profile import Profile, least_when_parted
from calibcli.names import MeasureName, RecalibratorName, Target
from calibcli.recalibrators.design import Aim, Family, Labelled, constant, limited_rows, line, logit
from calibcli.recalibrators.logistic import Solution, solved
from calibcli.recalibrators.newton import logistic
from calibcli.recalibrators.options import FitOptions
from calibcli.recalibrators.separation import parted, parted_upwards
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

_LINE = Family(RecalibratorName.PLATT, line)


def _line_turned(scores: Floats) -> Floats:
    """Return the features z and 1: the intercept last."""
    return line(scores)[::-1]


# The coefficient of the last feature is the one that is measured.
_FAMILIES = {
    MeasureName.CITL_LOGIT: Family(RecalibratorName.INTERCEPT, constant, logit),
    MeasureName.COX_INTERCEPT: Family(RecalibratorName.PLATT, _line_turned),
    MeasureName.COX_SLOPE: _LINE,
}
_IF_CALIBRATED = {
    MeasureName.CITL_LOGIT: 0.0,
    MeasureName.COX_INTERCEPT: 0.0,
    MeasureName.COX_SLOPE: 1.0,
}


@dataclass(frozen=True, slots=True)
class _Found:
    """A value, with its ends or the reason for none."""

    value: float
    ends: tuple[float, float] | None
    why: str | None = None


def cox_measure(name: MeasureName, table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Fit log odds of label 1 = intercept + slope logit(score) by maximum likelihood, and return a coefficient.

    `cox_intercept` and `cox_slope` are fitted together; `citl_logit` is the intercept for a slope of 1.

    Args:
        name: Which coefficient.

        table: The rows. Scores are limited to [2^-53, 1 - 2^-53] inside the logit. On a grid table each cell
            counts as two points, the mean scores of its labels.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        The coefficient with its profile-likelihood interval, asymptotic, for these scores. Infinite, with one
        end, where the labels have no finite fit; NaN where nothing settles it. `null` is what it tends to
        for calibrated labels.

    References:
        Cox (1958), Biometrika 45; Venzon & Moolgavkar (1988), Applied Statistics 37, for the interval.
    """
    points = Labelled.of(table)
    assumptions = [
        INDEPENDENT_ROWS,
        HELD_OUT,
        "the log odds of label 1 are a line in the logit of the score",
        "approximate below 1,000 rows",
    ]
    limited = limited_rows(table)
    if limited:
        assumptions.append(limited_words(limited))
    level = normal_quantile(0.5 + confidence / 2.0) ** 2
    try:
        found = _found(name, table, points, level=level)
    except NotConverged as problem:
        found = _Found(math.nan, None, f"no interval: undefined, {problem.message}")
    if found.why is not None:
        assumptions.append(found.why)
    interval = None
    if found.ends is not None:
        method = "profile likelihood" + (", no finite fit" if math.isinf(found.value) else "")
        interval = Interval(*found.ends, confidence, method, Target.FIXED_DESIGN, finite_sample=False)
    null, null_range = UNKNOWN if math.isnan(found.value) else _if_calibrated(name, table)
    details = {"limited_rows": limited}
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
    """
    Return the line of most likelihood.

    Raises:
        NotConverged: If there is none.
    """
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


def _found(name: MeasureName, table: Table, points: Labelled, *, level: float) -> _Found:
    """Return the coefficient, wherever it lies."""
    if name is MeasureName.CITL_LOGIT:
        if one_label(points):
            side = 1.0 if points.label.all() else -1.0
            why = f"every label is {int(side > 0.0)}: the fit has no finite intercept"
            return _infinite(name, table, points, least=0.0, side=side, why=why, level=level)
    elif one_label(points) or one_logit(points):
        same = "label" if one_label(points) else "score" if float(np.ptp(points.score)) == 0.0 else "logit"
        return _Found(math.nan, None, f"no interval: undefined where there is one {same} only")
    elif parted(*points.logits):
        return _parted(name, table, points, level=level)
    best = solved(_FAMILIES[name], points, aim=Aim.of(table, FitOptions(), separated=False))
    value = best.coefficients[-1]
    if table.weighted:
        return _Found(value, None, NO_WEIGHTED_INTERVAL)
    least = best.optimum.slopes.loss
    profile = Profile.of(_FAMILIES[name], points, rows=table.total_rows, least=least)
    if name is MeasureName.CITL_LOGIT:
        level *= _overdispersion(profile, best)
    low, high = profile.around(best, level=level)
    return _Found(value, (min(low, value), max(high, value)))


def _overdispersion(profile: Profile, best: Solution) -> float:
    """
    Return how much more labels scatter than the fit says, at least 1.

    Where the true slope is not 1, the curvature of the likelihood is not the variance of its gradient.

    References:
        Royall & Tsou (2003), JRSS-B 65, for the adjusted likelihood.
    """
    points = profile.points
    offset = 0.0 if points.offset is None else points.offset
    curve = logistic(offset + best.optimum.at[0] * points.design[0])
    scatter = float(np.sum(points.weight * (points.target - curve) ** 2))
    return max(1.0, scatter / float(best.optimum.slopes.curvature[0, 0]))


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
    end = profile.below_infinity(side, level=level)
    return _Found(side * math.inf, (end, math.inf) if side > 0.0 else (-math.inf, end), why)
