"""The l2 error over bins, debiased and as it is, its test and its bounds."""

import math

import numpy as np

from calibcli.names import MeasureName, Target, TestName
from calibcli.stats.bounds import Interval
from calibcli.stats.bounds.chernoff import Counts, least_energy, most_energy
from calibcli.stats.measures import HELD_OUT, INDEPENDENT_ROWS, UNKNOWN, Estimate, TestResult
from calibcli.stats.measures.binned import (
    Bounds,
    alone_words,
    estimate_of_gaps,
    farthest,
    for_these_scores,
    gaps_if_calibrated,
    gaps_in,
    margin_of_norm,
    p_mean,
)
from calibcli.stats.measures.binned import lower_bound as lower_bound_of_ece
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Measures, Settings, of_draws, p_value
from calibcli.stats.numerics import Floats, crossing, normal_quantile, skewed_quantile
from calibcli.stats.table.bins import BinnedTable, Partition, binned, segment_sums
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace


def debiased_l2(
    table: Table, *, bins: Partition, confidence: float = 0.95, calibrated: CalibratedDraws | None = None
) -> Estimate:
    """Root of the U-statistic T = (1/n) sum_k (S_k^2 - Q_k) / (n_k - 1) over bins with two rows or more.

    T estimates sum_k p_k e_k^2 without bias for these scores and may be negative, in which case the estimate
    is 0; T itself is among the details. With importance weights the interval is that of the plug-in.
    """
    sums = binned(table, bins)
    t = t_statistic(sums) if pairs_in(sums).any() else math.nan
    value = math.nan if math.isnan(t) else math.sqrt(max(t, 0.0))
    alone = int(np.count_nonzero(sums.rows == 1))
    interval, null = None, UNKNOWN
    if table.weighted and not math.isnan(t):
        interval = interval_around_plug_in(table, sums, value, confidence=confidence)
    elif not math.isnan(t):
        interval = score_interval(sums, t, confidence=confidence)
    because = [HELD_OUT, f"of {bins.after_of}{approximate_words(interval)}", *alone_words(alone)]
    if interval is None:
        because.append("no interval: no bin has two rows")
    elif not table.weighted:
        because += hidden_words(sums, interval)
    if calibrated is not None and not math.isnan(t):
        null = of_draws(np.sqrt(np.maximum(calibrated.drawn.over(sums.bins).t, 0.0)))
    details: Bounds = {
        "t": t,
        "plug_in": math.sqrt(l2_squared_plug_in(sums)),
        "rows_alone": alone,
        "partition": bins.described,
    }
    return Estimate.of(MeasureName.L2, table, value, interval, null=null, because=because, details=details)


def t_statistic(sums: BinnedTable) -> float:
    """Return T, the debiased squared l2 error, from the pairs of different rows in each bin."""
    pairs = pairs_in(sums)
    two = pairs > 0
    excess = sums.residual[two] ** 2 - sums.residual_sq[two]
    return float((excess / pairs[two]).sum()) / sums.total


def pairs_in(sums: BinnedTable) -> Floats:
    """Return W - sum w^2 / W of each bin, n - 1 where every row counts once; 0 without a pair of rows."""
    some = (sums.rows >= 2) & sums.occupied
    weight = np.where(some, sums.weight, 1.0)
    pairs = np.where(some, weight - sums.weight_sq / weight, 0.0)
    # One row may have all the weight, but for rounding.
    return np.where(pairs > 1e-12 * weight, pairs, 0.0)


def l2_squared_plug_in(sums: BinnedTable) -> float:
    """Return (1/n) sum_k S_k^2 / n_k, biased upward by the noise of every bin."""
    some = sums.occupied
    return float((sums.residual[some] ** 2 / sums.weight[some]).sum()) / sums.total


def hidden_alone(sums: BinnedTable) -> float:
    """Return what rows alone in their bin, which T leaves out, add to the squared error at most.

    Each may be as wrong as its score allows.
    """
    score = np.clip(sums.score_sum[sums.rows == 1], 0.0, 1.0)
    return float((np.maximum(score, 1.0 - score) ** 2).sum()) / sums.total


def score_interval(sums: BinnedTable, t: float, *, confidence: float) -> Interval:
    """Invert the normal approximation of T with a variance that depends on the value being tested.

    The interval is {theta >= 0: |T - theta| <= z sqrt(A + D + C theta)}, given for sqrt(theta). Some bin must
    have two rows. Where all rows have one score it is that of Clopper and Pearson.
    """
    if not _all_alike(sums):
        return t_interval(t, t_variance(sums), confidence=confidence)
    lower, upper = (float(end[0]) for end in farthest(sums, delta=(1.0 - confidence) / 2.0))
    return for_these_scores(
        math.sqrt(max(t, 0.0)), lower=lower, upper=upper, confidence=confidence, method="Clopper-Pearson"
    )


# Of the variance of scores: what rounding makes of none.
_NO_SPREAD = 1e-12


def _all_alike(sums: BinnedTable) -> bool:
    """Whether all rows lie in one bin and have one score, as far as its sums can tell."""
    some = sums.occupied
    if np.count_nonzero(some) != 1:
        return False
    rows = float(sums.weight[some][0])
    score = float(sums.score_sum[some][0]) / rows
    return score * (1.0 - score) - float(sums.variance[some][0]) / rows <= _NO_SPREAD


@dataclass(frozen=True, slots=True)
class TVariance:
    """The variance of T as a line in the value theta that it estimates: still + slope theta.

    Args:
        still: The part that is there at theta = 0 and whatever theta is.
        energy: Sum of squared gaps, each by its bin's share of the rows.
        noise: The same with each square times the variance of a row of its bin.
        floor: Sum of these variances by share, for the slope where there are no gaps.
        square: The part of `still` that labels drawn from the scores have.
        third: The third central moment of T with such labels.
    """

    still: float
    energy: float
    noise: float
    floor: float
    total: float
    square: float
    third: float

    @property
    def slope(self) -> float:
        """What theta adds to the variance, for each unit of it."""
        return 4.0 * (self.noise / self.energy if self.energy > 0 else self.floor) / self.total

    def at(self, theta: float) -> tuple[float, float]:
        """Return the standard deviation and the skewness of T where it estimates theta.

        Of sums of a (Z + m)^2, Z normal, the variance is that of 2 a^2 (1 + 2 m^2), the third moment that of
        8 a^3 (1 + 3 m^2): what gaps add to the first adds 6 a times as much to the second, and a is taken
        from both without gaps.
        """
        moved = self.slope * theta
        variance = self.still + moved
        third = self.third * (1.0 + 1.5 * moved / self.square) if self.square > 0.0 else 0.0
        return math.sqrt(variance), third / variance**1.5 if variance > 0.0 else 0.0


def t_variance(*ranks: BinnedTable) -> TVariance:
    """Return the parts of the variance of T, estimated; some bin must have two rows.

    Args:
        ranks: The table over its bins; or several over the same ones, whose T are added, of classes of which
            one is right at most. Their residuals have the covariance -p q in a row, if p and q are the
            chances of two classes; mean scores and rates of a bin stand for these.
    """
    two = ranks[0].rows >= 2
    n, total = ranks[0].weight[two], ranks[0].total

    def each(column: str) -> Floats:
        return np.stack([getattr(one, column)[two] for one in ranks])

    share, gap, score, rate = n / total, each("residual") / n, each("score_sum") / n, each("positive") / n
    null_variance = each("variance") / n
    sample_variance = (each("residual_sq") - n * gap**2) / (n - 1.0)
    null_square = (null_variance**2).sum(axis=0) + crossed(score**2)
    a = 2.0 / total**2 * float((n / (n - 1.0) * null_square).sum())
    # By three rows, and by one pair three times.
    lopsided = ((null_variance * (1.0 - 2.0 * score)) ** 2).sum(axis=0)
    third = 8.0 * (n - 2.0) * null_square**1.5 + 4.0 * lopsided
    third = float((n / (n - 1.0) ** 2 * third).sum()) / total**3
    square = share * gap**2
    # Rows that are all right may be followed by one that is not, however sure the scores are.
    least = np.minimum(1.0 / n, 0.25)
    noise = np.maximum(
        (square * sample_variance).sum(axis=0) - share * n / (n - 1.0) * crossed(gap * rate),
        (square * null_variance).sum(axis=0) - share * crossed(gap * score),
    )
    noise = np.maximum(noise, square.sum(axis=0) * least)
    energy = float(square.sum())
    d = max(float((share * (gap**2).sum(axis=0) ** 2).sum()) - energy**2, 0.0) / total
    floor = float((share * np.maximum(np.maximum(sample_variance, null_variance), least)).sum())
    return TVariance(a + d, energy, float(noise.sum()), floor, total, a, third)


def crossed(parts: Floats) -> Floats:
    """Return the sum of products of different entries of each column: nothing where there is one."""
    return np.asarray(parts.sum(axis=0) ** 2 - (parts**2).sum(axis=0))


def t_interval(t: float, found: TVariance, *, confidence: float, most: float = 1.0) -> Interval:
    """Return {0 <= theta <= most: |t - theta| <= z sqrt(still + slope theta)}, given for sqrt(theta).

    Large T are more frequent than the normal law says, and small ones less. At 95 % and below this makes up
    for that; above, the lower end takes the quantile of a gamma law where it is larger, at the whole error.
    """
    z, slope = normal_quantile(0.5 + confidence / 2.0), found.slope
    middle = 2.0 * t + z * z * slope
    root = math.sqrt(max(middle**2 - 4.0 * (t * t - z * z * found.still), 0.0))
    # Where T is far below 0, both ends can lie above the estimate, which is then 0.
    value = max(t, 0.0)
    lower, upper = min(max(0.0, (middle - root) / 2.0), value), min(most, max(value, (middle + root) / 2.0))
    if lower > 0.0 and confidence > _MADE_UP_FOR:
        one_sided = normal_quantile(confidence)

        def left(theta: float) -> float:
            spread, skew = found.at(theta)
            return skewed_quantile(one_sided, min(skew, _MOST_SKEWED)) * spread - (t - theta)

        lower = crossing(left, 0.0, lower, within=1e-9 * lower)[0]
    return Interval(
        math.sqrt(lower), math.sqrt(upper), confidence, "score", Target.FIXED_DESIGN, finite_sample=False
    )


# Up to so high a confidence what the normal law leaves out at either end is made up for by the other.
_MADE_UP_FOR = 0.95
# Few events make T more skewed than the square of a normal variable is, which no such law describes.
_MOST_SKEWED = 4.0


def approximate_words(interval: Interval | None) -> str:
    """Return what goes after the bins that an l2 error speaks of."""
    return "" if interval is not None and interval.finite_sample else "; approximate below 1,000 rows"


def hidden_words(sums: BinnedTable, interval: Interval, *, share: float = 1.0) -> list[str]:
    """Return that an interval is rough: rows of one bin, labels all alike, may hide more than its upper end.

    T knows of a bin what its labels tell. Of n labels alike a rate by 1 - delta^(1/n) away says nothing. The
    error is one of which the square of this table has a share.
    """
    alike = (sums.rows >= 2) & ((sums.positive == 0.0) | (sums.positive == sums.weight))
    rows, delta = sums.weight[alike], (1.0 - interval.confidence) / 2.0
    unseen = -np.expm1(math.log(delta) / rows) - np.abs(sums.residual[alike]) / rows
    hidden = share * rows * np.maximum(unseen, 0.0) ** 2 / sums.total
    if not hidden.size or hidden.max() <= interval.ends[1] ** 2:
        return []
    return [f"rough: {rows[hidden.argmax()]:,.0f} rows of one label may hide a larger error"]


def t_test(table: Table, *, bins: Partition, calibrated: CalibratedDraws) -> TestResult:
    """Test calibration by T against labels drawn from the scores, exact where cells were not coarsened."""
    sums = binned(table, bins)
    if not (pairs_in(sums).any() and sums.variance.any()):
        why = "every score is 0 or 1" if pairs_in(sums).any() else "no bin has two rows"
        return TestResult.undefined(TestName.T, f"undefined: {why}")
    t = t_statistic(sums)
    p = p_value(calibrated.drawn.over(sums.bins).t, t)
    return TestResult(TestName.T, t, p, calibrated.drawn.method, None, (INDEPENDENT_ROWS, HELD_OUT))


# The Chernoff bounds take a second at about so many bins.
MOST_CHERNOFF_BINS = 100


def lower_bound(table: Table, sums: BinnedTable, *, delta: float) -> tuple[float, str]:
    """Return a lower bound of the l2 error at these scores, one-sided, and its method.

    By Clopper-Pearson for a single score, by Chernoff where that is affordable; otherwise that of the ECE,
    which the l2 error is never below. Which of them is taken does not depend on labels.
    """
    if one_score(table):
        # The rate may lie on either side, and only one of the two ends can be wrong in each direction.
        return float(farthest(sums, delta=delta / 2.0)[0].max()), "Clopper-Pearson"
    counts = counted(table, sums)
    if counts is not None:
        return math.sqrt(least_energy(counts, delta=delta) / sums.total), "Chernoff"
    return lower_bound_of_ece(table, sums, delta=delta), "that of the ECE"


def upper_bound(table: Table, sums: BinnedTable, *, delta: float) -> tuple[float, str] | None:
    """Return an upper bound of the l2 error at these scores, one-sided, and its method.

    By Clopper-Pearson for a single score, whose rate lies on one fixed side of it, otherwise by Chernoff;
    None where that has no bound.
    """
    if one_score(table):
        return float(farthest(sums, delta=delta)[1].max()), "Clopper-Pearson"
    upper = upper_chernoff(table, sums, delta=delta)
    return None if upper is None else (upper, "Chernoff")


def upper_chernoff(table: Table, sums: BinnedTable, *, delta: float) -> float | None:
    """Return the Chernoff upper bound of the l2 error; None unless each bin holds one score."""
    counts = counted(table, sums)
    if counts is None or not counts.alike:
        return None
    return min(1.0, math.sqrt(most_energy(counts, delta=delta) / sums.total))


def one_score(table: Table) -> bool:
    """Whether all rows have the same score, so that their error is that of a single rate."""
    return table.kind == "exact" and not table.weighted and table.distinct == 1


def counted(table: Table, sums: BinnedTable) -> Counts | None:
    """Return the bins; None with importance weights, with none of two rows or more, or with too many."""
    two, one = sums.rows >= 2, sums.rows == 1
    if table.weighted or not 0 < np.count_nonzero(two) <= MOST_CHERNOFF_BINS:
        return None
    rows = sums.weight[two]
    return Counts(
        rows,
        sums.positive[two],
        np.clip(sums.score_sum[two] / rows, 0.0, 1.0),
        alone=np.clip(sums.score_sum[one], 0.0, 1.0),
        alike=table.kind == "exact" and int(np.diff(sums.starts).max()) <= 1,
    )


def sun_interval(table: Table, sums: BinnedTable, *, confidence: float) -> str:
    """Return the set of Sun et al. for the l2 error in words, such as "0 or 0.01 to 0.03"; "none" if empty.

    Values above 0 by the normal law of T with variance sigma_1^2 / n, sigma_1^2 = sum p m^4 - (sum p m^2)^2 +
    4 sum p m^2 var; 0 where |T| is within its spread for calibrated labels, taken exactly from the scores in
    place of the paper's limit for bins that are all filled.

    References:
        Sun, Chaudhari, Barnett & Dobriban (2024), arXiv 2408.08998, algorithm 1.
    """
    if not pairs_in(sums).any():
        return "none"
    some = sums.rows >= 1
    n, total = sums.weight[some], sums.total
    share, gap = n / total, sums.residual[some] / n
    noise = np.maximum(sums.residual_sq[some] / n - gap**2, 0.0)
    energy = float((share * gap**2).sum())
    variance = float((share * gap**4).sum()) - energy**2 + 4.0 * float((share * gap**2 * noise).sum())
    t, z = t_statistic(sums), normal_quantile(0.5 + confidence / 2.0)
    reach = z * math.sqrt(max(variance, 0.0) / total)
    ends = [math.sqrt(min(max(end, 0.0), 1.0)) for end in (t - reach, t + reach)]
    parts = ["0"] if abs(t) <= z * math.sqrt(null_variance_of_t(table, sums)) else []
    if t + reach > 0.0:
        parts.append(f"{ends[0]:.4g} to {ends[1]:.4g}")
    return " or ".join(parts) or "none"


def null_variance_of_t(table: Table, sums: BinnedTable) -> float:
    """Return Var T for calibrated labels: (2/n^2) sum ((sum a)^2 - sum a^2) / (n_k - 1)^2, a = f (1 - f)."""
    score = table.score
    each = score * (1.0 - score)
    two = sums.rows >= 2
    squares = segment_sums(table.weight * each**2, sums.starts)[two]
    excess = (sums.variance[two] ** 2 - squares) / (sums.weight[two] - 1.0) ** 2
    return 2.0 * float(np.maximum(excess, 0.0).sum()) / sums.total**2


def plug_in_l2(
    table: Table, *, bins: Partition, confidence: float = 0.95, calibrated: CalibratedDraws | None = None
) -> Estimate:
    """Root of (1/n) sum_k S_k^2 / n_k: the plug-in l2 error, biased upward by the noise of every bin."""
    sums = binned(table, bins)
    found = gaps_in(sums)
    value = math.sqrt(l2_squared_plug_in(sums))
    interval = interval_around_plug_in(table, sums, value, confidence=confidence)
    null = gaps_if_calibrated(sums, calibrated, lambda gap: p_mean(gap, share=found.share, power=2.0))
    return estimate_of_gaps(MeasureName.L2_PLUG_IN, table, sums, value, interval, null=null)


def interval_around_plug_in(table: Table, sums: BinnedTable, value: float, *, confidence: float) -> Interval:
    """Return the interval of the l2 error at these scores that encloses a value, by the plug-in's bounds."""
    delta = (1.0 - confidence) / 2.0
    lower, method = lower_bound(table, sums, delta=delta)
    margin = margin_of_norm(gaps_in(sums), power=2.0, delta=delta)
    return for_these_scores(
        value,
        lower=lower,
        upper=math.sqrt(l2_squared_plug_in(sums)) + margin,
        confidence=confidence,
        method=f"upper: Hoeffding; lower: {method}",
    )


def l2_bounds(table: Table, sums: BinnedTable, *, confidence: float) -> Bounds:
    """Return one-sided bounds of the binned l2 error at these scores by name, and the set of Sun et al."""
    delta = (1.0 - confidence) / 2.0
    plug_in = float(np.sqrt(l2_squared_plug_in(sums)))
    margin = margin_of_norm(gaps_in(sums), power=2.0, delta=delta)
    found: Bounds = {"upper_hoeffding": min(1.0, plug_in + margin)}
    if table.weighted:
        return found
    upper = upper_chernoff(table, sums, delta=delta)
    if upper is not None:
        found["upper_chernoff"] = upper
    if counted(table, sums) is not None:
        found["lower_chernoff"] = lower_bound(table, sums, delta=delta)[0]
    found["sun"] = sun_interval(table, sums, confidence=confidence)
    return found


def _l2(_: MeasureName, table: Table, settings: Settings) -> Estimate:
    bins, confidence = settings.bins, settings.confidence
    found = debiased_l2(table, bins=bins, confidence=confidence, calibrated=settings.calibrated)
    if not settings.bounds:
        return found
    return replace(found, details={**found.details, **l2_bounds(table, bins, confidence=confidence)})


MEASURES: Measures = {
    MeasureName.L2: _l2,
    MeasureName.L2_PLUG_IN: lambda _, table, settings: plug_in_l2(
        table, bins=settings.bins, confidence=settings.confidence, calibrated=settings.calibrated
    ),
}
