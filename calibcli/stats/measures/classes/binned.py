"""Binned and debiased errors of several classes: class by class, and by the class that is predicted."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from calibcli.names import ClassMeasure, Target
from calibcli.options.numerals import in_full, plural
from calibcli.stats.bounds import Interval
from calibcli.stats.bounds.proportion import deviation_of_a_mean, hoeffding_deviation, mean_absolute_deviation
from calibcli.stats.measures import (
    HELD_OUT,
    INDEPENDENT_ROWS,
    NO_WEIGHTED_INTERVAL,
    NOT_BY_LABELS,
    UNKNOWN,
    ClassEstimate,
    Reference,
    TopError,
    deviation,
    effective_rows,
)
from calibcli.stats.measures.bias import BY_MEAN_OR_NOISE, error_shares, least_error, least_rise_and_fall
from calibcli.stats.measures.binned import alone_words, for_these_scores, mean_noise, upper_bound
from calibcli.stats.measures.if_calibrated import of_moments
from calibcli.stats.measures.l2 import (
    TVariance,
    approximate_words,
    hidden_alone,
    hidden_words,
    l2_squared_plug_in,
    pairs_in,
    score_interval,
    t_interval,
    t_statistic,
    t_variance,
)
from calibcli.stats.table import Floats
from calibcli.stats.table.bins import BinnedTable, Partition, binned
from calibcli.stats.table.classes import ClassSums, TopCells
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, fields


class Moments(NamedTuple):
    """The first three moments of a sum: its mean, and the second and third about the mean."""

    mean: float
    variance: float
    third: float

    def times(self, factor: float) -> "Moments":
        return Moments(factor * self.mean, factor**2 * self.variance, factor**3 * self.third)

    @property
    def reference(self) -> Reference:
        """Mean and range, of what is not negative."""
        return self.mean, of_moments(*self, least=0.0)


def size_if_calibrated(sums: BinnedTable) -> Moments:
    """Return the moments of the sum over bins of |S_k| for labels that follow the scores.

    The mean absolute deviation of a bin is that of the binomial with the same rows and mean score, times the
    ratio of their standard deviations: exact where the scores of a bin are equal, and right in the limits of
    many rows (both normal) and of few events (both Poisson). The third moment is that of normal sums.
    """
    some = sums.occupied & (sums.variance > 0.0)
    rows = sums.weight[some]
    mean = np.clip(sums.score_sum[some] / rows, 0.0, 1.0)
    spread = rows * mean * (1.0 - mean)
    ratio = np.sqrt(np.divide(sums.variance[some], spread, out=np.zeros_like(spread), where=spread > 0.0))
    size = rows * mean_absolute_deviation(rows, mean) * ratio
    own = np.maximum(sums.variance[some] - size**2, 0.0)
    return Moments(float(size.sum()), float(own.sum()), float((own**1.5).sum()))


def alike(parts: Sequence[Moments]) -> Moments:
    """Return the moments of a sum over classes, each class seen against the rest.

    One row is right for one class and wrong for the others, so residuals of two of C classes have the
    correlation -1 / (C - 1), if classes are alike, and their sizes about
    (sqrt(1 - r^2) + r arcsin r - 1) / (pi / 2 - 1), as the sizes of normal variables have.
    """
    r = 1.0 / max(len(parts) - 1, 1)
    together = (math.sqrt(1.0 - r * r) + r * math.asin(r) - 1.0) / (math.pi / 2.0 - 1.0)
    spread = sum(math.sqrt(one.variance) for one in parts)
    own = sum(one.variance for one in parts)
    return Moments(
        sum(one.mean for one in parts),
        own + together * (spread**2 - own),
        sum(one.third for one in parts),
    )


# Without slots, so that sums are taken once, and only where a measure needs them.
@dataclass(frozen=True, eq=False)
class Seen:
    """The rows as one class sees them: scores, and whether the class is the right one."""

    table: Table
    bins: Partition

    @cached_property
    def sums(self) -> BinnedTable:
        return binned(self.table, self.bins)


@dataclass(frozen=True, slots=True, eq=False)
class ClassViews:
    """Rows of several classes, by the views of them; every class has rows, some of them with weight.

    Args:
        whole: All rows by their largest probability, and whether that class is the right one.
        rest: All rows by the probability of each class, against the rest.
        top: The rows that predict each class, if any, by their largest probability.
        weights: Of the classes in `marginal_l2`, by name in the order of `rest`; None for all alike.
    """

    whole: Table
    rest: tuple[Seen, ...]
    top: tuple[Seen, ...]
    joint: ClassSums
    confidence: float
    weights: Mapping[str, float] | None = None

    @property
    def delta(self) -> float:
        return (1.0 - self.confidence) / 2.0

    @property
    def rows(self) -> int:
        return self.whole.total_rows


def side_by_side(seen: tuple[Seen, ...]) -> BinnedTable:
    """Return the bins of several classes as those of one table; positions count on from class to class."""
    sums = [one.sums for one in seen]
    sizes = [one.table.distinct for one in seen]
    before = np.cumsum([0, *sizes[:-1]])
    starts = [one.starts[:-1] + offset for one, offset in zip(sums, before, strict=True)]
    names = [one.name for one in fields(BinnedTable) if one.name not in ("bins", "starts")]
    columns = {name: np.concatenate([getattr(one, name) for one in sums]) for name in names}
    return BinnedTable(bins=sums[0].bins, starts=np.concatenate((*starts, [sum(sizes)])), **columns)


_EFFECTIVE = "upper: Hoeffding at the effective number of rows"

_ROUNDING = 2.0**-40

_LOWER = f"lower: {BY_MEAN_OR_NOISE}"


def classwise_ece(views: ClassViews) -> ClassEstimate:
    """Mean over classes of the binned ECE of one class against the rest, (1/C) sum_c (1/n) sum_b |S_cb|.

    With the signs s_cb of the expected gaps, which are fixed, each row's part of the sum is s_cb / C at its
    right class less a constant: two values, 2/C apart. Hence (2/C) d* above, and McDiarmid below.
    """
    count, delta = len(views.rest), views.delta
    of_mean, of_noise = error_shares(delta, signs=count)
    value = float(np.mean([one.sums.ece for one in views.rest]))
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
    over = views.rest[0].sums.described
    return ClassEstimate.of(
        ClassMeasure.CLASSWISE_ECE,
        table,
        value,
        interval,
        null=UNKNOWN if parts is None else alike(parts).reference,
        because=(HELD_OUT, f"{over} for each class; every class counts equally"),
        details={"classes": count, "partition": over},
    )


def top_label_ece(views: ClassViews) -> ClassEstimate:
    """Binned ECE over bins of the largest probability within each predicted class, sum_c (n_c/n) ECE_c.

    The bounds of `binned_ece` hold as they are: the scores fix the bins, which are the pairs of predicted
    class and bin. The mean residual is that of all rows, whatever class they predict.
    """
    share = _shares(views)
    value = float(share @ [one.sums.ece for one in views.top])
    noise = float(share @ [mean_noise(one.table, one.sums) for one in views.top])
    tables = [one.table for one in views.top]
    upper, method = upper_bound(views.whole, side_by_side(views.top), delta=views.delta, parts=tables)
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
    over = views.top[0].sums
    return ClassEstimate.of(
        ClassMeasure.TOP_LABEL_ECE,
        views.whole,
        value,
        interval,
        null=_of_all(_null(views, views.top, share)),
        because=(HELD_OUT, f"of {over.after_of} of each predicted class"),
        details={"classes": len(views.top), "partition": over.described},
    )


def top_label_ece_unweighted(views: ClassViews) -> ClassEstimate:
    """Mean over the classes that are predicted of the binned ECE of the rows that predict them.

    A row that predicts class c moves the value by 1/(m n_c) at most, m being the number of classes predicted.
    """
    count = len(views.top)
    value = float(np.mean([one.sums.ece for one in views.top]))
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
    over = views.top[0].sums
    every = f"of {over.after_of} of each predicted class; every class predicted counts equally"
    return ClassEstimate.of(
        ClassMeasure.TOP_LABEL_ECE_UNWEIGHTED,
        views.whole,
        value,
        interval,
        null=_of_all(_null(views, views.top, np.full(count, 1.0 / count))),
        because=(HELD_OUT, every),
        details={"classes": count, "partition": over.described},
    )


def _by_means(views: ClassViews, delta: float) -> float:
    """Return a lower bound of the mean size of the classes' mean residuals, at `delta` for all together.

    The residuals of a row add up to what its probabilities leave of 1, so that the means add up to a number B
    that no label moves, and their sizes to twice those above 0, less B, and to twice those below 0 and B.
    """
    ends = [least_rise_and_fall(one.table, delta=delta / len(views.rest)) for one in views.rest]
    above, below = (math.fsum(one) for one in zip(*ends, strict=True))
    left = sum(float(one.sums.residual.sum()) / one.sums.total for one in views.rest)
    # What rounding alone leaves is no error.
    left *= abs(left) > _ROUNDING
    return max(2.0 * above - left, 2.0 * below + left) / len(views.rest)


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


def marginal_l2(views: ClassViews) -> ClassEstimate:
    """Root of the mean over classes, by `weights`, of T_c, the debiased squared l2 of one and the rest.

    The root is taken last, so that noise cancels between classes; the mean T may be negative, and is among
    the details. The interval takes the standard deviation of a mean for the root of the mean variance, which
    it does not exceed however the T_c depend on each other.
    """
    some, every = _weights(views)
    weights = some[some > 0.0]
    sums = [one.sums for one, own in zip(views.rest, some, strict=True) if own > 0.0]
    defined = np.array([pairs_in(one).any() for one in sums])
    alone = sum(int(np.count_nonzero(one.rows == 1)) for one in sums)
    at_most = float(np.sum(weights * [hidden_alone(one) for one in sums]) / weights.sum())
    t = float(np.sum(weights * [t_statistic(one) for one in sums]) / weights.sum())
    why, hidden = _why_none(views, sums), list[str]()
    interval = None
    if why is None:
        parts = [t_variance(one) for one, has in zip(sums, defined, strict=True) if has]
        own, whole = weights[defined].tolist(), float(weights.sum())
        energy, noise, still, floor, square, third = (
            sum(weight * getattr(one, part) for weight, one in zip(own, parts, strict=True))
            for part in ("energy", "noise", "still", "floor", "square", "third")
        )
        found = TVariance(
            still / whole, energy, noise, floor / sum(own), parts[0].total, square / whole, third / whole
        )
        interval = t_interval(t, found, confidence=views.confidence)
        shares = (weights / whole).tolist()
        each = (hidden_words(one, interval, share=share) for one, share in zip(sums, shares, strict=True))
        hidden = next((words for words in each if words), [])
        hidden = hidden or _rough(alone, at_most, interval)
    conservative = "as if the classes erred together, which makes the interval wide"
    return _estimate(
        ClassMeasure.MARGINAL_L2,
        t if defined.any() else math.nan,
        views=views,
        plug_in=float(np.sum(weights * [l2_squared_plug_in(one) for one in sums]) / weights.sum()),
        interval=interval,
        because=(
            f"of {sums[0].after_of} of each class; {every}",
            why or conservative,
            *alone_words(alone, place="bin of a class"),
            *hidden,
        ),
        details={
            "classes": len(views.rest),
            "rows_alone": alone,
            "alone_at_most": at_most,
            "partition": sums[0].described,
        },
    )


def top_label_l2(views: ClassViews) -> ClassEstimate:
    """Root of the debiased squared l2 error over bins of the largest probability within each predicted class.

    T, the sum over classes of (n_c/n) T_c, is that of one table whose bins are the pairs of class and bin.
    """
    sums = side_by_side(views.top)
    t = t_statistic(sums)
    why = _why_none(views, [sums])
    interval = None if why is not None else score_interval(sums, t, confidence=views.confidence)
    alone, at_most = int(np.count_nonzero(sums.rows == 1)), hidden_alone(sums)
    words = [why or ""]
    if interval is not None:
        words = hidden_words(sums, interval) or _rough(alone, at_most, interval)
    because = f"of {sums.after_of} of each predicted class{approximate_words(interval)}"
    return _estimate(
        ClassMeasure.TOP_LABEL_L2,
        t if pairs_in(sums).any() else math.nan,
        views=views,
        plug_in=l2_squared_plug_in(sums),
        interval=interval,
        because=(because, *alone_words(alone), *words),
        details={
            "classes": len(views.top),
            "rows_alone": alone,
            "alone_at_most": at_most,
            "partition": sums.described,
        },
    )


def _rough(alone: int, at_most: float, interval: Interval) -> list[str]:
    """Return that an interval is rough where rows alone in their bin may hide more than its upper end."""
    if at_most <= interval.ends[1] ** 2:
        return []
    return [f"rough: {plural(alone, 'row')} alone in a bin may hide a larger error"]


def _weights(views: ClassViews) -> tuple[Floats, str]:
    """Return the weight of each class against the rest, and what is said of them."""
    if views.weights is None:
        return np.ones(len(views.rest)), "every class counts equally"
    given = [f"{name}={in_full(weight)}" for name, weight in views.weights.items() if weight != 1.0]
    return np.array([*views.weights.values()]), f"weights of classes: {', '.join(given)}, others 1"


def _why_none(views: ClassViews, sums: list[BinnedTable]) -> str | None:
    if views.whole.weighted:
        return NO_WEIGHTED_INTERVAL
    some = any(pairs_in(one).any() for one in sums)
    return None if some else "no interval: no bin has two rows"


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
    value = math.sqrt(max(t, 0.0)) if math.isfinite(t) else math.nan
    details = {"t": t, "plug_in": math.sqrt(plug_in), **details}
    return ClassEstimate.of(name, views.whole, value, interval, because=(HELD_OUT, *because), details=details)


MEASURES: Mapping[ClassMeasure, Callable[[ClassViews], ClassEstimate]] = {
    ClassMeasure.CLASSWISE_ECE: classwise_ece,
    ClassMeasure.MARGINAL_L2: marginal_l2,
    ClassMeasure.TOP_LABEL_ECE: top_label_ece,
    ClassMeasure.TOP_LABEL_L2: top_label_l2,
    ClassMeasure.TOP_LABEL_ECE_UNWEIGHTED: top_label_ece_unweighted,
}


def top_errors(cells: TopCells, *, confidence: float) -> tuple[TopError, ...]:
    """Return the l2 error of the largest probability, of the two largest, and so on.

    The square of that of k is estimated by the sum over ranks j of T_j, the debiased square of `l2` of the
    j-th largest probability over cells, which are bins of all k. With k = 1 it is `l2` of the confidence.
    """
    return tuple(_top_error(cells, k, confidence) for k in range(1, cells.ranks + 1))


def _top_error(cells: TopCells, k: int, confidence: float) -> TopError:
    ranks = cells.of_largest(k)
    rows = ranks[0].rows
    t = math.fsum(t_statistic(one) for one in ranks)
    defined = bool(pairs_in(ranks[0]).any())
    alone = int(np.count_nonzero(rows == 1))
    largest = "largest probability" if k == 1 else f"{k} largest probabilities"
    of = f"of the cells that {cells.bins.described} make of the {largest}"
    interval, words = None, ["no interval: no cell has two rows"]
    if defined and cells.weighted:
        interval = _with_any_weights(ranks, math.sqrt(max(t, 0.0)), confidence=confidence)
        words = [NOT_BY_LABELS]
    elif defined:
        interval = (
            score_interval(ranks[0], t, confidence=confidence)
            if k == 1
            else t_interval(t, t_variance(*ranks), confidence=confidence, most=float(k))
        )
        words = next((words for one in ranks if (words := hidden_words(one, interval))), [])
    assumptions = (
        INDEPENDENT_ROWS,
        HELD_OUT,
        f"{of}{approximate_words(interval)}",
        *alone_words(alone, place="cell"),
        *words,
    )
    return TopError(
        k=k,
        value=math.sqrt(max(t, 0.0)) if defined else math.nan,
        interval=interval,
        t=t if defined else math.nan,
        plug_in=math.sqrt(math.fsum(l2_squared_plug_in(one) for one in ranks)),
        cells=int(rows.size),
        rows_alone=alone,
        assumptions=assumptions,
    )


# How much of the error of a lower end is for the variance of the labels.
_FOR_VARIANCE = 0.1


def _with_any_weights(ranks: Sequence[BinnedTable], value: float, *, confidence: float) -> Interval:
    """Return an interval of the error at these scores and weights that holds at every number of rows.

    It is that of docs/methods.md, "The largest probabilities together", with importance weights.
    """
    delta, two = (1.0 - confidence) / 2.0, pairs_in(ranks[0]) > 0.0
    scale = 1.0 / (ranks[0].weight[two] * ranks[0].total)
    apart = 1.0 if len(ranks) == 1 else 2.0
    most = apart * float((ranks[0].weight_sq[two] * scale).max())
    length = math.sqrt(math.fsum(float((one.residual[two] ** 2 * scale).sum()) for one in ranks))
    squares = math.fsum(float((one.residual_sq[two] * scale).sum()) for one in ranks)
    half = 0.5 * most * math.log(1.0 / (_FOR_VARIANCE * delta))
    variance = (math.sqrt(half) + math.sqrt(squares + half)) ** 2
    least = max(0.0, length - math.sqrt(2.0 * most * math.log(1.0 / ((1.0 - _FOR_VARIANCE) * delta))))
    upper = length + math.sqrt(0.5 * most * math.log(1.0 / delta))
    return Interval(
        min(value, math.sqrt(max(0.0, least**2 - variance))),
        max(value, min(upper, math.sqrt(len(ranks)))),
        confidence,
        "upper: Hoeffding; lower: Samson's inequality",
        Target.FIXED_DESIGN,
        finite_sample=True,
    )
