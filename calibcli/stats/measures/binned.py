"""Measures over bins: binned ECE and its kin with every bound of it, the worst bin, and l_p."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from calibcli.names import Binning, MeasureName, Target
from calibcli.options.numerals import plural
from calibcli.stats.bounds import Interval
from calibcli.stats.bounds.betting import GroupedResiduals, stakes_for_any_time, stakes_for_one_look
from calibcli.stats.bounds.means import bounded_differences, empirical_bernstein
from calibcli.stats.bounds.proportion import deviation_of_a_mean, mean_absolute_deviation, rate_bounds
from calibcli.stats.measures import HELD_OUT, UNKNOWN, Estimate, Reference, deviation
from calibcli.stats.measures.bias import BY_MEAN_OR_NOISE, least_error
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Measures, Settings, of_draws
from calibcli.stats.numerics import Floats, Indices, normal_quantile
from calibcli.stats.table.bins import BinnedTable, Partition, binned, equal_mass_ends, segment_sums
from calibcli.stats.table.grid import Table, residuals
from calibcli.values import dataclass, replace


def binned_ece(
    table: Table,
    *,
    bins: Partition,
    confidence: float = 0.95,
    calibrated: CalibratedDraws | None = None,
    name: MeasureName = MeasureName.ECE,
) -> Estimate:
    """Weighted mean absolute gap between observed rate and mean score, (1/n) sum_k |S_k|; biased upward."""
    sums = binned(table, bins)
    value = sums.ece
    delta = (1.0 - confidence) / 2.0
    upper, method = upper_bound(table, sums, delta=delta)
    lower = lower_bound(table, sums, delta=delta)
    method = f"{method}; lower: {BY_MEAN_OR_NOISE}"
    return Estimate.of(
        name,
        table,
        value,
        Interval(lower, max(upper, value), confidence, method, Target.FIXED_DESIGN, finite_sample=True),
        null=UNKNOWN if calibrated is None else of_draws(calibrated.drawn.over(sums.bins).ece),
        because=(HELD_OUT, f"of {bins.after_of}, not of finer ones"),
        details={"bins": int(np.count_nonzero(sums.rows)), "partition": bins.described},
    )


def upper_bound(
    table: Table, sums: BinnedTable, *, delta: float, parts: Sequence[Table] = ()
) -> tuple[float, str]:
    """Return a fixed-design upper bound of the binned ECE, one-sided, and its method.

    Which of two bounds is taken is settled by the scores alone: betting where scores are near 0 or 1, and
    otherwise the plug-in plus d*. Bins may be those of several parts of the rows, one after the other.
    """
    value = sums.ece
    if table.weighted:
        bound = min(1.0, value + deviation(table, delta=delta))
        return bound, "upper: Hoeffding at the effective number of rows"
    variance = float(sums.variance.sum()) / sums.total
    if bets_are_sharper(variance, delta=delta):
        stakes = stakes_for_one_look(table.total_rows, variance, delta=delta)
        return grouped_residuals(table, sums, parts).upper_bound(stakes, delta=delta), "upper: betting"
    return min(1.0, value + deviation_of_a_mean(table.total_rows, delta)), "upper: d*"


def lower_bound(table: Table, sums: BinnedTable, *, delta: float) -> float:
    """Return a fixed-design lower bound of the binned ECE, one-sided."""
    value = sums.ece

    def beyond_noise(delta: float) -> float:
        return value - mean_noise(table, sums) - deviation(table, delta=delta)

    return least_error(table, beyond_noise, delta=delta)


def bets_are_sharper(variance: float, *, delta: float) -> bool:
    """Return whether scores with this mean of f (1 - f) are near enough to 0 and 1 for betting to beat d*."""
    log_odds = math.log(1.0 / delta)
    return -normal_quantile(delta) / 2.0 > 1.02 * math.sqrt(2.0 * variance * log_odds)


def grouped_residuals(table: Table, sums: BinnedTable, parts: Sequence[Table] = ()) -> GroupedResiduals:
    columns = [(one.score, one.positive, one.weight - one.positive) for one in parts or (table,)]
    score, positive, negative = (np.concatenate(column) for column in zip(*columns, strict=True))
    places = None if parts else sums.upper
    return GroupedResiduals(score, positive=positive, negative=negative, starts=sums.starts, places=places)


def mean_noise(table: Table, sums: BinnedTable) -> float:
    """Return how much of a binned ECE labels alone can make on average: the most that E|gap| exceeds |E gap|.

    Where a bin holds one score this is the mean absolute deviation of a binomial; elsewhere the bound
    sqrt(n_k) / 2 of the standard deviation.
    """
    if sums.bins.binning is Binning.ATOMS and not table.weighted:
        noise = sums.weight * mean_absolute_deviation(sums.weight, np.clip(table.score, 0.0, 1.0))
        return float(noise.sum()) / sums.total
    return float(np.sqrt(sums.weight_sq).sum()) / (2.0 * sums.total)


# Numbers and words by name.
Bounds = dict[str, float | int | str]


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """The bins that hold weight.

    Args:
        share: Share of the weight, shape (n_bins,), summing to 1.
        gap: Observed rate minus mean score.
        lightness: Sum of squared weights over squared sum of weights: 1 / n_k where every row counts once.
    """

    share: Floats
    gap: Floats
    score: Floats
    lightness: Floats


def gaps_in(sums: BinnedTable) -> Gaps:
    some = sums.occupied
    weight = sums.weight[some]
    return Gaps(
        share=weight / weight.sum(),
        gap=sums.residual[some] / weight,
        score=sums.score_sum[some] / weight,
        lightness=sums.weight_sq[some] / weight**2,
    )


def gaps_if_calibrated(
    sums: BinnedTable, calibrated: CalibratedDraws | None, statistic: Callable[[Floats], Floats]
) -> Reference:
    """Return mean and range of a function of gaps, shape (draws, n_bins), over drawn labels."""
    drawn = None if calibrated is None else calibrated.drawn.over(sums.bins).gaps
    if drawn is None:
        return UNKNOWN
    some = sums.occupied
    return of_draws(statistic(drawn[:, some] / sums.weight[some]))


def for_these_scores(value: float, *, lower: float, upper: float, confidence: float, method: str) -> Interval:
    """Return a finite-sample interval for these scores, cut to [0, 1] and enclosing its value."""
    low, high = max(0.0, min(lower, value)), min(1.0, max(upper, value))
    return Interval(low, high, confidence, method, Target.FIXED_DESIGN, finite_sample=True)


def estimate_of_gaps(
    name: MeasureName,
    table: Table,
    sums: BinnedTable,
    value: float,
    interval: Interval | None = None,
    *,
    null: Reference = UNKNOWN,
    because: tuple[str, ...] = (),
    details: Bounds | None = None,
) -> Estimate:
    """Return a measure of gaps with what all of them say."""
    because = (HELD_OUT, f"of {sums.after_of}", *because)
    details = {"bins": int(sums.occupied.sum()), "partition": sums.described, **(details or {})}
    return Estimate.of(name, table, value, interval, null=null, because=because, details=details)


def adaptive_error(
    table: Table, *, bins: Partition, confidence: float = 0.95, calibrated: CalibratedDraws | None = None
) -> Estimate:
    """Plain mean over the bins that hold rows of |rate - mean score|, biased upward as the ECE is.

    With d the square root of ln(1/delta) sum_k (1/n_k) / 2 over the number K of bins, the upper end adds d;
    the lower one subtracts d and the most that noise adds, or is that of |bias| times n / (K max n_k).
    """
    sums = binned(table, bins)
    found = gaps_in(sums)
    value = float(_mean_size(found.gap))
    delta, count = (1.0 - confidence) / 2.0, found.gap.size
    noise = float(np.sqrt(found.lightness).mean()) / 2.0
    # Of what a bin counts, and what its rows do: the ECE has the latter, and is at least |bias|.
    lightest = 1.0 / (count * float(found.share.max()))

    def margin(delta: float) -> float:
        return math.sqrt(math.log(1.0 / delta) * float(found.lightness.sum()) / 2.0) / count

    interval = for_these_scores(
        value,
        lower=least_error(table, lambda one: value - noise - margin(one), delta=delta, factor=lightest),
        upper=value + margin(delta),
        confidence=confidence,
        method=f"upper: Hoeffding; lower: {BY_MEAN_OR_NOISE}",
    )
    null = gaps_if_calibrated(sums, calibrated, _mean_size)
    return estimate_of_gaps(MeasureName.ACE, table, sums, value, interval, null=null)


def _mean_size(gap: Floats) -> Floats:
    return np.asarray(np.abs(gap).mean(axis=-1))


_MIDDLE = 0.5


def one_side(
    name: MeasureName,
    table: Table,
    *,
    bins: Partition,
    confidence: float = 0.95,
    calibrated: CalibratedDraws | None = None,
) -> Estimate:
    """The part of the binned ECE from bins that are overconfident, or from those that are underconfident.

    A bin is overconfident if what it announces, label 1 with a mean score above 1/2 and label 0 below,
    happens less often than announced. At exactly 1/2 nothing is announced: any gap there is underconfidence.
    """
    sums = binned(table, bins)
    found = gaps_in(sums)

    def part(gap: Floats) -> Floats:
        # The gap of the announced label: its rate less what the score gives it.
        announced = np.where(found.score > _MIDDLE, gap, np.where(found.score < _MIDDLE, -gap, np.abs(gap)))
        too_much = -announced if name is MeasureName.OVERCONFIDENCE else announced
        return np.asarray((found.share * np.maximum(too_much, 0.0)).sum(axis=-1))

    value = float(part(found.gap))
    margin = deviation(table, delta=(1.0 - confidence) / 2.0)
    # One sign of a gap counts, and so does half of its noise; at 1/2 both may.
    half = 1.0 if np.any(found.score == _MIDDLE) else 0.5
    interval = for_these_scores(
        value,
        lower=value - half * mean_noise(table, sums) - margin,
        upper=value + margin,
        confidence=confidence,
        method="upper: Hoeffding; lower: McDiarmid",
    )
    null = gaps_if_calibrated(sums, calibrated, part)
    return estimate_of_gaps(name, table, sums, value, interval, null=null)


MOST_BINS = 4_096

_NO_INTERVAL = "no interval: the bins are chosen by the labels, which voids every bound"


def sweep_ece(table: Table) -> Estimate:
    """Binned ECE over the most equal-mass bins, of 1, 2, 3, ..., before a rate lies below the one before.

    Where the rates never fall, from one distinct score to the next, every score is a bin by itself. Otherwise
    no more than 4,096 bins are tried, and the estimate says so where that is what ended the sweep.
    """
    count, starts = _swept(table)
    stopped = (f"stopped at {MOST_BINS:,} bins, where rates did not fall yet",) if count > MOST_BINS else ()
    value = float(np.abs(segment_sums(residuals(table), starts)).sum()) / float(table.weight.sum())
    bins = starts.size - 1
    described = f"{plural(bins, 'equal-mass bin')}, swept"
    if bins == table.distinct:
        described = "each distinct score by itself, swept"
    return Estimate.of(
        MeasureName.ECE_SWEEP,
        table,
        value,
        because=(HELD_OUT, *stopped, _NO_INTERVAL),
        details={"bins": bins, "partition": described},
    )


_ROUNDED = 1e-12


def _swept(table: Table) -> tuple[int, Indices]:
    """Return the number of bins that ended the sweep, and where the bins before it start."""
    each = np.arange(table.distinct + 1)
    # Sums of importance weights are rounded, and rates that are equal differ by as much.
    slack = _ROUNDED if table.weighted else 0.0
    if never_falls(_rates(table, each), slack):
        return 1, each
    reached = np.cumsum(table.weight) if table.weighted else np.cumsum(table.rows)
    positive = np.concatenate(([0.0], np.cumsum(table.positive)))
    total = np.concatenate(([0.0], np.cumsum(table.weight)))
    starts = np.array([0, table.distinct])
    for count in range(2, MOST_BINS + 1):
        ends = equal_mass_ends(reached, count) + 1
        tried = np.concatenate(([0], ends, [table.distinct]))
        weights = np.diff(total[tried])
        some = weights > 0.0
        if not never_falls(np.diff(positive[tried])[some] / weights[some], slack):
            return count, starts
        starts = tried
    return MOST_BINS + 1, starts


def never_falls(rate: Floats, slack: float) -> bool:
    """Whether no entry lies below the one before by more than rounding."""
    return bool(np.all(rate[1:] >= rate[:-1] - slack))


def _rates(table: Table, starts: Indices) -> Floats:
    weight = segment_sums(table.weight, starts)
    some = weight > 0.0
    return segment_sums(table.positive, starts)[some] / weight[some]


def lp_error(
    table: Table,
    *,
    bins: Partition,
    power: float = 2.0,
    confidence: float = 0.95,
    calibrated: CalibratedDraws | None = None,
) -> Estimate:
    """(sum_k p_k |e_k|^p)^(1/p), p_k the share of the rows in bin k and e_k its rate less its mean score."""
    sums = binned(table, bins)
    found = gaps_in(sums)
    value = float(p_mean(found.gap, share=found.share, power=power))
    delta = (1.0 - confidence) / 2.0
    interval = for_these_scores(
        value,
        lower=lower_bound(table, sums, delta=delta),
        upper=value + margin_of_norm(found, power=power, delta=delta),
        confidence=confidence,
        method="upper: Hoeffding; lower: that of the ECE",
    )
    null = gaps_if_calibrated(sums, calibrated, lambda gap: p_mean(gap, share=found.share, power=power))
    details: Bounds = {"power": power}
    return estimate_of_gaps(MeasureName.LP, table, sums, value, interval, null=null, details=details)


def p_mean(gap: Floats, *, share: Floats, power: float) -> Floats:
    """Return the p-th mean of the sizes of gaps, without underflow at large p."""
    size = np.abs(gap)
    largest = size.max(axis=-1, keepdims=True)
    part = np.divide(size, largest, out=np.zeros_like(size), where=largest > 0.0)
    return np.asarray(largest[..., 0] * (share * part**power).sum(axis=-1) ** (1.0 / power))


def margin_of_norm(found: Gaps, *, power: float, delta: float) -> float:
    """Return how far the plug-in falls short of the true l_p error, exceeded with probability at most delta.

    The true norm is sum_k p_k u_k e_k in a fixed direction u with sum_k p_k |u_k|^q = 1, 1/p + 1/q = 1, and
    no direction gives the plug-in more than itself. Each label has range p_k u_k / n_k; sum_k p_k u_k^2 is at
    most 1 for p <= 2 and s^((2 - p) / p) for p > 2, s the smallest share.
    """
    # For unit weights lightness * share is 1 / n in every bin.
    per_row = float((found.lightness * found.share).max())
    stretch = float(found.share.min()) ** ((2.0 - power) / power) if power > 2.0 else 1.0
    return math.sqrt(math.log(1.0 / delta) / 2.0 * per_row * stretch)


_ATOMS_SPEAK = "also of the population's rates at the scores seen, since each score is a bin of its own"


def worst_bin(
    table: Table, *, bins: Partition, confidence: float = 0.95, calibrated: CalibratedDraws | None = None
) -> Estimate:
    """Largest |rate - mean score| of a bin that holds rows: the maximum calibration error (MCE).

    Its upper end has every bin at the full level, since the worst bin is a fixed one (intersection-union);
    its lower end pays for all bins (Sidak). A bin of few rows can make it large: see `worst_rows`.
    """
    sums = binned(table, bins)
    found = gaps_in(sums)
    value = float(_largest(found.gap))
    delta = (1.0 - confidence) / 2.0
    if table.weighted:
        size, both = np.abs(found.gap), each_of(found.gap.size, delta) / 2.0
        lower = float((size - np.sqrt(math.log(1.0 / both) * found.lightness / 2.0)).max())
        upper = float((size + np.sqrt(math.log(1.0 / delta) * found.lightness / 2.0)).max())
        method = "Hoeffding at each bin's effective number of rows"
    else:
        upper = float(farthest(sums, delta=delta)[1].max())
        lower = float(farthest(sums, delta=each_of(found.gap.size, delta) / 2.0)[0].max())
        method = "upper: Clopper-Pearson, intersection-union; lower: Clopper-Pearson, Sidak"
    worst = np.flatnonzero(sums.occupied)[int(np.abs(found.gap).argmax())]
    return estimate_of_gaps(
        MeasureName.LINF,
        table,
        sums,
        value,
        for_these_scores(value, lower=lower, upper=upper, confidence=confidence, method=method),
        null=gaps_if_calibrated(sums, calibrated, _largest),
        because=(_ATOMS_SPEAK,) if sums.bins.binning is Binning.ATOMS and not table.weighted else (),
        details={
            "worst_from": float(sums.lower[worst]),
            "worst_to": float(sums.upper[worst]),
            "worst_rows": int(sums.rows[worst]),
        },
    )


def farthest(sums: BinnedTable, *, delta: float) -> tuple[Floats, Floats]:
    """Return the least and the most that each occupied bin's |rate - mean score| can be."""
    some = sums.occupied
    rows = sums.weight[some]
    score = sums.score_sum[some] / rows
    low, high = rate_bounds(sums.positive[some], rows, delta_each_side=delta)
    return np.maximum(np.maximum(low - score, score - high), 0.0), np.maximum(high - score, score - low)


def each_of(count: int, delta: float) -> float:
    """Return the level at which so many independent bounds all hold but with probability delta (Sidak)."""
    return -math.expm1(math.log1p(-delta) / count)


def _largest(gap: Floats) -> Floats:
    return np.asarray(np.abs(gap).max(axis=-1))


_NO_L1_INTERVAL = "no interval: none is known to hold for it; see the one of ece, of which it is an estimate"


def debiased_ece(table: Table, *, bins: Partition, calibrated: CalibratedDraws | None = None) -> Estimate:
    """2 ECE - sum_k p_k E|e_k + s_k Z|: the plug-in less its own estimated bias, Z standard normal.

    e_k is the bin's rate less its mean score and s_k^2 the variance of label - score in the bin over n_k.
    The expectation has a closed form. Below 0 the estimate is 0; what it was is `unclipped`.
    """
    sums = binned(table, bins)
    found = gaps_in(sums)
    positive, negative = table.positive, table.weight - table.positive
    squares = positive * (1.0 - table.score_of_positive) ** 2 + negative * table.score_of_negative**2
    mean_square = segment_sums(squares, sums.starts)[sums.occupied] / sums.weight[sums.occupied]
    raw = float(_less_bias(found.gap, found=found, mean_square=mean_square))
    null = UNKNOWN
    every = None if calibrated is None else calibrated.drawn.over(sums.bins).squares
    if every is not None:
        drawn = every[:, sums.occupied] / sums.weight[sums.occupied]
        null = gaps_if_calibrated(
            sums,
            calibrated,
            lambda gap: np.maximum(_less_bias(gap, found=found, mean_square=drawn), 0.0),
        )
    because = alone_words(
        int(np.count_nonzero(sums.rows == 1)), "is not corrected for", "are not corrected for"
    )
    return estimate_of_gaps(
        MeasureName.L1_DEBIASED,
        table,
        sums,
        max(raw, 0.0),
        null=null,
        because=(*because, _NO_L1_INTERVAL),
        details={"unclipped": raw, "plug_in": float((found.share * np.abs(found.gap)).sum())},
    )


def alone_words(
    alone: int, does: str = "does not count", do: str = "do not count", *, place: str = "bin"
) -> list[str]:
    """Return what a row alone in its bin does, or several do, in words; nothing where there is none."""
    one, more = f"1 row alone in its {place} {does}", f"{alone:,} rows alone in their {place} {do}"
    return [one if alone == 1 else more] if alone else []


def mean_size(mean: Floats, spread: Floats) -> Floats:
    """Return E|m + s Z| for standard normal Z."""
    from scipy.special import ndtr

    # Beyond 40 spreads the mean is all there is.
    noisy = spread * 40.0 > np.abs(mean)
    safe = np.where(noisy, spread, 1.0)
    ratio = np.where(noisy, mean, 0.0) / safe
    density = np.exp(-0.5 * ratio**2) * np.sqrt(2.0 / np.pi)
    return np.where(noisy, safe * density + mean * (2.0 * ndtr(ratio) - 1.0), np.abs(mean))


def _less_bias(gap: Floats, *, found: Gaps, mean_square: Floats) -> Floats:
    """Return the plug-in less its bias, from every bin's gap and its mean of (label - score)^2."""
    spread = np.sqrt(np.maximum(mean_square - gap**2, 0.0) * found.lightness)
    return np.asarray((found.share * (2.0 * np.abs(gap) - mean_size(gap, spread))).sum(axis=-1))


def ece_bounds(table: Table, sums: BinnedTable, *, delta: float) -> Bounds:
    """Return upper and lower bounds of the binned ECE by name, each one-sided and failing with `delta`.

    Over equal-mass bins, which these scores have cut, there are none for the population; with importance
    weights only those of Hoeffding and McDiarmid.
    """
    value = sums.ece
    margin = deviation(table, delta=delta)
    found: Bounds = {
        "upper_hoeffding": min(1.0, value + margin),
        "lower_mcdiarmid": max(0.0, value - mean_noise(table, sums) - margin),
    }
    if table.weighted:
        return found
    found["upper_d_star"] = min(1.0, value + deviation_of_a_mean(table.total_rows, delta))
    residuals = grouped_residuals(table, sums)
    variance = float(sums.variance.sum()) / sums.total
    stakes = stakes_for_one_look(table.total_rows, variance, delta=delta)
    found["upper_betting"] = residuals.upper_bound(stakes, delta=delta)
    found["lower_betting"] = residuals.lower_bound(stakes, delta=delta)
    share = gaps_in(sums).share
    least, most = farthest(sums, delta=each_of(share.size, delta) / 2.0)
    found["upper_clopper_pearson"] = min(1.0, float((share * most).sum()))
    found["lower_clopper_pearson"] = float((share * least).sum())
    if sums.bins.binning is not Binning.EQUAL_MASS:
        # For the population, as the partition was fixed before the rows.
        rows, square = table.total_rows, float(sums.residual_sq.sum()) / sums.total
        margin = bounded_differences(rows, delta)
        found["upper_theorem_12_4"] = min(1.0, value + margin)
        found["lower_theorem_12_4"] = max(0.0, value - float(np.sqrt(sums.rows.size / rows)) - margin)
        found["upper_empirical_bernstein"] = empirical_bernstein(value, square, rows=rows, delta=delta)
        stakes = stakes_for_any_time(delta=delta)
        found["upper_betting_any_time"] = residuals.upper_bound(stakes, delta=delta)
        found["lower_betting_any_time"] = residuals.lower_bound(stakes, delta=delta)
    return found


def _ece(name: MeasureName, table: Table, settings: Settings) -> Estimate:
    bins = binned(table, settings.bins if name is MeasureName.ECE else settings.equal_mass)
    confidence = settings.confidence
    found = binned_ece(table, bins=bins, confidence=confidence, calibrated=settings.calibrated, name=name)
    if not settings.bounds:
        return found
    more = ece_bounds(table, bins, delta=(1.0 - confidence) / 2.0)
    return replace(found, details={**found.details, **more})


def _one_side(name: MeasureName, table: Table, settings: Settings) -> Estimate:
    return one_side(
        name, table, bins=settings.bins, confidence=settings.confidence, calibrated=settings.calibrated
    )


MEASURES: Measures = {
    MeasureName.ECE: _ece,
    MeasureName.ECE_EQUAL_MASS: _ece,
    MeasureName.ACE: lambda _, table, settings: adaptive_error(
        table, bins=settings.equal_mass, confidence=settings.confidence, calibrated=settings.calibrated
    ),
    MeasureName.ECE_SWEEP: lambda _, table, __: sweep_ece(table),
    MeasureName.L1_DEBIASED: lambda _, table, settings: debiased_ece(
        table, bins=settings.bins, calibrated=settings.calibrated
    ),
    MeasureName.LP: lambda _, table, settings: lp_error(
        table,
        bins=settings.bins,
        power=settings.power,
        confidence=settings.confidence,
        calibrated=settings.calibrated,
    ),
    MeasureName.LINF: lambda _, table, settings: worst_bin(
        table, bins=settings.bins, confidence=settings.confidence, calibrated=settings.calibrated
    ),
    MeasureName.OVERCONFIDENCE: _one_side,
    MeasureName.UNDERCONFIDENCE: _one_side,
}
