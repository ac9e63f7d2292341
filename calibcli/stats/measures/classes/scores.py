"""Accuracy and proper scores of several classes."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from calibcli.names import ClassMeasure
from calibcli.stats.bounds.means import Values
from calibcli.stats.measures import ClassEstimate, effective_rows, scores
from calibcli.stats.measures.bias import observed_rate
from calibcli.stats.measures.classes.binned import ClassViews
from calibcli.stats.measures.decompositions import observed_parts
from calibcli.stats.measures.if_calibrated import of_mean, of_moments
from calibcli.stats.table.classes import LossSums
from calibcli.stats.table.grid import sums_of_scores

NO_LARGEST_OF_CLASSES = (
    "no upper end: there are probabilities of exactly 0, and one of a right class makes the log loss infinite"
)
_PARTS = {
    "reliability": "reliability",
    "resolution": "resolution",
    "uncertainty": "uncertainty",
    "within_variance": "variance",
    "within_covariance": "covariance",
}


def accuracy(views: ClassViews) -> ClassEstimate:
    """Share of the rows whose most probable class is the right one; the first of several counts."""
    table, found = views.whole, observed_rate(views.whole, confidence=views.confidence)
    mean = float(sums_of_scores(table).sum()) / float(table.weight.sum())
    null = mean, of_mean(table, mean, np.ones_like(table.score))
    because = found.assumptions[1:]
    return ClassEstimate.of(
        ClassMeasure.ACCURACY, table, found.value, found.interval, null=null, because=because
    )


def class_log_loss(views: ClassViews) -> ClassEstimate:
    """Mean of -ln of the probability of the right class; infinite, without an interval, if one had 0."""
    losses = views.joint.losses[ClassMeasure.CLASS_LOG_LOSS]
    null = 0.0
    for one in views.rest:
        score = one.table.score
        null -= float((one.table.weight * score * np.log(np.where(score > 0.0, score, 1.0))).sum())
    return _mean_loss(
        ClassMeasure.CLASS_LOG_LOSS,
        losses,
        views=views,
        null=null,
        details={"certain_and_wrong": losses.infinite},
    )


def class_brier(views: ClassViews) -> ClassEstimate:
    """Mean of the squared distances of probability and label, summed over the classes; it lies in [0, 2].

    The details hold Murphy's parts over the bins of each class, summed over classes: reliability -
    resolution + uncertainty + within_variance - within_covariance.
    """
    parts = [observed_parts(one.table, one.sums) for one in views.rest]
    details: dict[str, float | int | str] = {
        name: float(sum(getattr(one, part) for one in parts)) for name, part in _PARTS.items()
    }
    null = sum(float(one.sums.variance.sum()) for one in views.rest)
    return _mean_loss(
        ClassMeasure.CLASS_BRIER,
        views.joint.losses[ClassMeasure.CLASS_BRIER],
        views=views,
        null=null,
        details={**details, "parts_over": views.rest[0].sums.described},
    )


def _mean_loss(
    name: ClassMeasure,
    moments: LossSums,
    *,
    views: ClassViews,
    null: float,
    details: dict[str, float | int | str],
) -> ClassEstimate:
    joint, table = views.joint, views.whole
    interval, value, because = None, math.inf, []
    if moments.infinite:
        because.append(f"no interval: {scores.gave_zero(moments.infinite)}")
    else:
        weight = joint.weight.exact() if joint.weighted else Fraction(joint.rows)
        mean = moments.linear.exact() / weight
        value = float(mean)
        values = _values(moments, views, mean, total=weight)
        if isinstance(values, str):
            because.append(values)
        else:
            interval = scores.interval_of_mean(values, most=moments.worst, confidence=views.confidence)
            details = {**details, **scores.rests_on(values, largest=moments.worst)}
            if name is ClassMeasure.CLASS_LOG_LOSS:
                bounded = math.isfinite(moments.worst)
                because.append(scores.NO_MORE_EXTREME if bounded else NO_LARGEST_OF_CLASSES)
            if joint.weighted:
                because.append(scores.NO_HEAVIER)
    total = float(table.weight.sum())
    noise = float(moments.noise.exact())
    within = None if joint.weighted else of_moments(null / total, noise / total**2, least=0.0)
    reference = null / total, within
    return ClassEstimate.of(name, table, value, interval, null=reference, because=because, details=details)


def _values(moments: LossSums, views: ClassViews, mean: Fraction, *, total: Fraction) -> Values | str:
    """Return which losses rows have, or why there is no interval."""
    rows = effective_rows(views.whole)
    if rows < 1.5:
        return scores.one_row(views.rows)
    joint = views.joint
    cross = moments.squared_linear.exact() if joint.weighted else moments.linear.exact()
    weight_sq = joint.weight_sq.exact() if joint.weighted else Fraction(joint.rows)
    squares = max(float(moments.squares.exact() - 2 * mean * cross + mean**2 * weight_sq), 0.0)
    if joint.weighted:
        variance = squares * rows / (rows - 1.0) / float(total) ** 2
        return scores.weighted_values(moments.cells, mean=float(mean), variance=variance, rows=rows)
    return scores.from_cells(moments.cells, mean=float(mean), variance=squares / rows)


MEASURES: Mapping[ClassMeasure, Callable[[ClassViews], ClassEstimate]] = {
    ClassMeasure.ACCURACY: accuracy,
    ClassMeasure.CLASS_LOG_LOSS: class_log_loss,
    ClassMeasure.CLASS_BRIER: class_brier,
}
