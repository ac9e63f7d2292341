"""The debiased l2 error of several classes: marginal, and by the class that is predicted."""

import math

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.measures.classes.views import ClassViews, side_by_side
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, NO_WEIGHTED_INTERVAL, ClassEstimate
from calibcli.measures.l2 import (
    TVariance,
    l2_squared_plug_in,
    pairs_in,
    score_interval,
    t_interval,
    t_statistic,
    t_variance,
)
from calibcli.table.bins import BinnedTable
from calibcli.view_names import ClassMeasure

_NO_PAIRS = "no interval: no bin has two rows"
_CERTAIN = "no interval: every score is 0 or 1 and right, so nothing varies"


def marginal_l2(views: ClassViews) -> ClassEstimate:
    """
    Root of the mean over classes of T_c, the debiased squared l2 error of one class against the rest.

    Classes are averaged first and the root is taken last, so that noise cancels between classes; the mean T
    may be negative, in which case the estimate is 0, and is among the details.

    Args:
        views: The rows.

    Returns:
        The estimate with a score interval, asymptotic. How the T_c depend on each other is not in the
        tables: the standard deviation of a mean is at most the mean of the standard deviations (Minkowski),
        and that at most the root of the mean variance, which is what the interval uses. It is
        conservative, the more so the more classes there are.

    References:
        Kumar, Liang & Ma (2019), NeurIPS, definition 2.3 with equal weights, and section 5.
    """
    sums = [one.sums for one in views.rest]
    defined = [one for one in sums if pairs_in(one).any()]
    t = float(np.mean([t_statistic(one) for one in sums]))
    count = len(sums)
    why = _why_none(views, sums, t)
    interval = None
    if why is None:
        parts = [t_variance(one) for one in defined]
        energy = sum(one.energy for one in parts)
        noise = sum(one.noise for one in parts) / energy if energy > 0.0 else _mean_floor(parts)
        still = sum(one.still for one in parts) / count
        interval = t_interval(t, still=still, slope=4.0 * noise / parts[0].total, confidence=views.confidence)
    conservative = "as if the classes erred together, which makes the interval wide"
    return _estimate(
        ClassMeasure.MARGINAL_L2,
        t if defined else math.nan,
        views=views,
        plug_in=float(np.mean([l2_squared_plug_in(one) for one in sums])),
        interval=interval,
        because=(f"of {sums[0].spoken_of} of each class; every class counts alike", why or conservative),
        details={"classes": count, "partition": sums[0].described},
    )


def top_label_l2(views: ClassViews) -> ClassEstimate:
    """
    Root of the debiased squared l2 error over bins of the largest probability within each predicted class.

    T is the sum over classes of (n_c/n) T_c, which is the T of one table whose bins are the pairs of
    predicted class and bin; so the score interval of `debiased_l2` holds as it is.

    Args:
        views: The rows.

    References:
        Kumar, Liang & Ma (2019), NeurIPS, section 5; Gupta & Ramdas (2022), ICLR, for the view.
    """
    sums = side_by_side(views.top)
    t = t_statistic(sums)
    why = _why_none(views, [sums], t)
    interval = None if why is not None else score_interval(sums, t, confidence=views.confidence)
    because = f"of {sums.spoken_of} of each predicted class; approximate below 1,000 rows"
    return _estimate(
        ClassMeasure.TOP_LABEL_L2,
        t if pairs_in(sums).any() else math.nan,
        views=views,
        plug_in=l2_squared_plug_in(sums),
        interval=interval,
        because=(because, *([] if why is None else [why])),
        details={
            "classes": len(views.top),
            "rows_alone": int(np.count_nonzero(sums.rows == 1)),
            "partition": sums.described,
        },
    )


def _mean_floor(parts: list[TVariance]) -> float:
    return sum(one.floor for one in parts) / len(parts)


def _why_none(views: ClassViews, sums: list[BinnedTable], t: float) -> str | None:
    """Return why there is no interval, or None."""
    if views.whole.weighted:
        return NO_WEIGHTED_INTERVAL
    if not any(pairs_in(one).any() for one in sums):
        return _NO_PAIRS
    if t == 0.0 and not any(one.variance.any() for one in sums):
        return _CERTAIN
    return None


def _estimate(
    name: ClassMeasure,
    t: float,
    *,
    views: ClassViews,
    plug_in: float,
    interval: Interval | None,
    because: tuple[str, ...],
    details: dict[str, float | int | str],
) -> ClassEstimate:
    return ClassEstimate(
        name=name,
        value=math.sqrt(max(t, 0.0)) if math.isfinite(t) else math.nan,
        interval=interval,
        null=None,
        assumptions=(INDEPENDENT_ROWS, HELD_OUT, *because),
        rows=views.rows,
        details={"t": t, "plug_in": math.sqrt(plug_in), **details},
    )
