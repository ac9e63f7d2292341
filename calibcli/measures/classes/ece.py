"""Binned ECE of several classes: class by class against the rest, and by the class that is predicted."""

import math

import numpy as np

from calibcli.bounds.betting import GroupedResiduals, stakes_for_one_look
from calibcli.bounds.proportion import deviation_of_a_mean, hoeffding_deviation
from calibcli.measures.binned_ece import bets_are_sharper, mean_noise
from calibcli.measures.classes.null import Moments, alike, size_if_calibrated
from calibcli.measures.classes.views import ClassViews, Seen, side_by_side
from calibcli.measures.effective import deviation, effective_rows
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, ClassEstimate
from calibcli.measures.gaps import for_these_scores
from calibcli.measures.if_calibrated import UNKNOWN, Reference
from calibcli.measures.least_error import (
    BY_MEAN_OR_NOISE,
    error_shares,
    least_error,
    least_rise_and_fall,
)
from calibcli.table.score_table import Floats
from calibcli.view_names import ClassMeasure

_EFFECTIVE = "upper: Hoeffding at the effective number of rows"
_LOWER = f"lower: {BY_MEAN_OR_NOISE}"


def classwise_ece(views: ClassViews) -> ClassEstimate:
    """
    Mean over classes of the binned ECE of one class against the rest, (1/C) sum_c (1/n) sum_b |S_cb|.

    The interval is finite-sample, for these scores with labels drawn anew. Let s_cb be the signs of the
    expected gaps. They are fixed, and the true value is the expectation of (1/n) sum_i X_i with
    X_i = (1/C) sum_c s_c,b(i,c) (1[Y_i = c] - p_ic); the estimate, whose signs are the best for these
    labels, is never below that mean. As exactly one class is right, X_i is s_c,b(i,c) / C at c = Y_i less a
    constant. It takes two values, 2/C apart: it is 2/C times a Bernoulli variable, plus a constant. So the
    true value exceeds the estimate by more than (2/C) d* with probability at most delta, d* being how far
    the mean of n Bernoulli variables of unlike chances falls below its expectation (Hoeffding 1956). A new
    label of one row moves at most two of the S_cb, by 1 each, hence the estimate by 2/(C n) at most: it
    exceeds its mean by (2/C) sqrt(ln(1/delta)/(2n)) with probability at most delta (McDiarmid), and its mean
    exceeds the true value by at most the mean over classes of sum_b sqrt(n_cb) / (2n), as E|S| - |E S| is at
    most the standard deviation of S. That has a quarter of the error; the rest goes to the classes' mean
    residuals, which no class's error is below.

    Args:
        views: The rows.

    References:
        Nixon et al. (2019), CVPR workshops, equation 3 (static calibration error); Kull et al. (2019),
        NeurIPS, for the name.
    """
    count, delta = len(views.rest), views.delta
    of_mean, of_noise = error_shares(delta, signs=count)
    value = float(np.mean([_ece(one) for one in views.rest]))
    noise = float(np.mean([mean_noise(one.table, one.sums) for one in views.rest]))
    table = views.whole
    if table.weighted:
        above, method = deviation(table, delta=delta), _EFFECTIVE
    else:
        above, method = deviation_of_a_mean(views.rows, delta), "upper: d*"
    interval = for_these_scores(
        value,
        lower=max(value - noise - 2.0 / count * deviation(table, delta=of_noise), _by_means(views, of_mean)),
        upper=value + 2.0 / count * above,
        confidence=views.confidence,
        method=f"{method}; {_LOWER}",
    )
    parts = _null(views, views.rest, np.full(count, 1.0 / count))
    null, null_range = UNKNOWN if parts is None else alike(parts).reference
    over = views.rest[0].sums
    return ClassEstimate(
        name=ClassMeasure.CLASSWISE_ECE,
        value=value,
        interval=interval,
        null=null,
        assumptions=(
            INDEPENDENT_ROWS,
            HELD_OUT,
            f"of {over.spoken_of} of each class; every class counts alike",
        ),
        rows=views.rows,
        details={"classes": count, "partition": over.described},
        null_range=null_range,
    )


def top_label_ece(views: ClassViews) -> ClassEstimate:
    """
    Binned ECE over bins of the largest probability within each predicted class, sum_c (n_c/n) ECE_c.

    It is a binned ECE whose bins are the pairs of predicted class and bin, which the scores fix; so the
    bounds of `binned_ece` hold as they are, finite-sample, for these scores with labels drawn anew. The mean
    residual is that of all rows, whatever class they predict.

    Args:
        views: The rows.

    References:
        Gupta & Ramdas (2022), ICLR, "Top-label calibration and multiclass-to-binary reductions".
    """
    share = _shares(views)
    value = float(share @ [_ece(one) for one in views.top])
    noise = float(share @ [mean_noise(one.table, one.sums) for one in views.top])
    upper, method = _upper(views, value)
    interval = for_these_scores(
        value,
        lower=least_error(
            views.whole,
            lambda one: value - noise - deviation(views.whole, delta=one),
            delta=views.delta,
            parts=len(views.top),
        ),
        upper=upper,
        confidence=views.confidence,
        method=f"{method}; {_LOWER}",
    )
    null, null_range = _of_all(_null(views, views.top, share))
    over = views.top[0].sums
    return ClassEstimate(
        name=ClassMeasure.TOP_LABEL_ECE,
        value=value,
        interval=interval,
        null=null,
        assumptions=(INDEPENDENT_ROWS, HELD_OUT, f"of {over.spoken_of} of each predicted class"),
        rows=views.rows,
        details={"classes": len(views.top), "partition": over.described},
        null_range=null_range,
    )


def top_label_ece_unweighted(views: ClassViews) -> ClassEstimate:
    """
    Mean over the classes that are predicted of the binned ECE of the rows that predict them.

    A rare class counts as much as a frequent one. The interval is finite-sample, for these scores: a row
    that predicts class c moves the value by 1/(m n_c) at most, m being the number of classes predicted, so
    that it strays by sqrt(ln(1/delta) sum_c (1/n_c) / 2) / m on either side (Hoeffding above, where the
    signs of the expected gaps are fixed; McDiarmid below, less the most that noise adds on average, at a
    quarter of the error). Nor is it below |bias| of all rows times n / (m max n_c).

    Args:
        views: The rows.

    References:
        The class-wise mean that MAPIE gives as `top_label_ece`.
    """
    count = len(views.top)
    value = float(np.mean([_ece(one) for one in views.top]))
    noise = float(np.mean([mean_noise(one.table, one.sums) for one in views.top]))
    lightness = sum(1.0 / effective_rows(one.table) for one in views.top)
    most = max(one.sums.total for one in views.top)

    def strays(delta: float) -> float:
        return hoeffding_deviation(1.0, delta) * math.sqrt(lightness) / count

    interval = for_these_scores(
        value,
        lower=least_error(
            views.whole,
            lambda one: value - noise - strays(one),
            delta=views.delta,
            factor=float(views.whole.weight.sum()) / (count * most),
            parts=count,
        ),
        upper=value + strays(views.delta),
        confidence=views.confidence,
        method=f"upper: Hoeffding; {_LOWER}",
    )
    null, null_range = _of_all(_null(views, views.top, np.full(count, 1.0 / count)))
    over = views.top[0].sums
    every = f"of {over.spoken_of} of each predicted class; every class predicted counts alike"
    return ClassEstimate(
        name=ClassMeasure.TOP_LABEL_ECE_UNWEIGHTED,
        value=value,
        interval=interval,
        null=null,
        assumptions=(INDEPENDENT_ROWS, HELD_OUT, every),
        rows=views.rows,
        details={"classes": count, "partition": over.described},
        null_range=null_range,
    )


def _by_means(views: ClassViews, delta: float) -> float:
    """
    Return a lower bound of the mean size of the classes' mean residuals, at `delta` for all of them together.

    The residuals of a row add up to what its probabilities leave of 1, so that the means add up to a number B
    that no label moves, and their sizes to twice those above 0, less B, and to twice those below 0 and B.
    """
    ends = [least_rise_and_fall(one.table, delta=delta / len(views.rest)) for one in views.rest]
    above, below = (math.fsum(one) for one in zip(*ends, strict=True))
    left = sum(float(one.sums.residual.sum()) / one.sums.total for one in views.rest)
    return max(2.0 * above - left, 2.0 * below + left) / len(views.rest)


def _ece(one: Seen) -> float:
    return float(np.abs(one.sums.residual).sum()) / one.sums.total


def _shares(views: ClassViews) -> Floats:
    """Return the share of the weight that predicts each class."""
    weight = np.array([one.sums.total for one in views.top])
    return np.asarray(weight / weight.sum())


def _null(views: ClassViews, seen: tuple[Seen, ...], share: Floats) -> tuple[Moments, ...] | None:
    """Return the moments of what each class adds for labels that follow the scores."""
    if views.whole.weighted:
        return None
    return tuple(
        size_if_calibrated(one.sums).times(part / one.sums.total)
        for one, part in zip(seen, share.tolist(), strict=True)
    )


def _of_all(parts: tuple[Moments, ...] | None) -> Reference:
    """Return mean and range of a sum over classes whose rows are different ones."""
    return UNKNOWN if parts is None else Moments(*map(sum, zip(*parts, strict=True))).reference


def _upper(views: ClassViews, value: float) -> tuple[float, str]:
    """Return the upper bound of `binned_ece` over pairs of class and bin."""
    delta, table = views.delta, views.whole
    if table.weighted:
        return value + deviation(table, delta=delta), _EFFECTIVE
    sums = side_by_side(views.top)
    variance = float(sums.variance.sum()) / sums.total
    if not bets_are_sharper(variance, delta=delta):
        return value + deviation_of_a_mean(views.rows, delta), "upper: d*"
    tables = [one.table for one in views.top]
    residuals = GroupedResiduals(
        np.concatenate([one.score for one in tables]),
        positive=np.concatenate([one.positive for one in tables]),
        negative=np.concatenate([one.weight - one.positive for one in tables]),
        starts=sums.starts,
    )
    stakes = stakes_for_one_look(views.rows, variance, delta=delta)
    return residuals.upper_bound(stakes, delta=delta), "upper: betting"
