"""The debiased l2 calibration error and the test it gives."""

import math
from dataclasses import dataclass

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.bounds.special import normal_quantile
from calibcli.measures.calibrated import CalibratedDraws, p_value
from calibcli.measures.estimate import (
    HELD_OUT,
    INDEPENDENT_ROWS,
    NO_WEIGHTED_INTERVAL,
    Estimate,
    TestResult,
)
from calibcli.measures.if_calibrated import UNKNOWN, of_draws
from calibcli.names import MeasureName, Target, TestName
from calibcli.table.bins import BinnedTable, Partition, binned
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats


def debiased_l2(
    table: Table, *, bins: Partition, confidence: float = 0.95, calibrated: CalibratedDraws | None = None
) -> Estimate:
    """
    Root of the U-statistic T = (1/n) sum_k (S_k^2 - Q_k) / (n_k - 1) over bins with two rows or more.

    T estimates sum_k p_k e_k^2 without bias for these scores and may be negative, in which case the
    estimate is 0; T itself is among the details. NaN when no bin has two rows.

    Args:
        table: The rows.

        bins: The partition, or sums over it; it may depend on the scores, never on the labels.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

        calibrated: Labels drawn from the scores, for the null reference.

    Returns:
        The estimate with the score interval for T, asymptotic; NaN where no bin has two rows.

    References:
        Kumar, Liang & Ma (2019), NeurIPS, section 5, extended to bins whose scores differ.
    """
    sums = binned(table, bins)
    t = t_statistic(sums)
    lonely = int(sums.rows[sums.rows == 1].size)
    assumptions = [INDEPENDENT_ROWS, HELD_OUT, f"of {bins.spoken_of}; approximate below 1,000 rows"]
    if lonely:
        assumptions.append(f"{lonely:,} rows alone in their bin do not count")
    defined = bool(pairs_in(sums).any())
    interval = None
    if table.weighted:
        assumptions.append(NO_WEIGHTED_INTERVAL)
    elif not defined:
        assumptions.append("no interval: no bin has two rows")
    elif not sums.variance.any() and t == 0.0:
        assumptions.append("no interval: every score is 0 or 1 and right, so nothing varies")
    else:
        interval = score_interval(sums, t, confidence=confidence)
    null = UNKNOWN
    if calibrated is not None and defined:
        null = of_draws(np.sqrt(np.maximum(calibrated.t_of(sums.bins), 0.0)))
    return Estimate(
        name=MeasureName.L2,
        value=math.sqrt(max(t, 0.0)) if defined else math.nan,
        interval=interval,
        null=null[0],
        assumptions=tuple(assumptions),
        rows=table.total_rows,
        details={
            "t": t if defined else math.nan,
            "plug_in": math.sqrt(l2_squared_plug_in(sums)),
            "rows_alone": lonely,
            "partition": bins.described,
        },
        null_range=null[1],
    )


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


def score_interval(sums: BinnedTable, t: float, *, confidence: float) -> Interval:
    """
    Invert the normal approximation of T with a variance that depends on the value being tested.

    The interval is {theta >= 0: |T - theta| <= z sqrt(A + D + C theta)}, given for sqrt(theta). Some bin must
    have two rows.
    """
    found = t_variance(sums)
    return t_interval(t, still=found.still, slope=found.slope, confidence=confidence)


@dataclass(frozen=True, slots=True)
class TVariance:
    """
    The variance of T as a line in the value theta that it estimates: still + slope theta.

    Args:
        still: The part that is there at theta = 0 and whatever theta is.

        energy: Sum of squared gaps, each by its bin's share of the rows.

        noise: The same with each square times the variance of a row of its bin.

        floor: Sum of these variances by share, for the slope where there are no gaps.

        total: Number of rows.
    """

    still: float
    energy: float
    noise: float
    floor: float
    total: float

    @property
    def slope(self) -> float:
        """What theta adds to the variance, for each unit of it."""
        return 4.0 * (self.noise / self.energy if self.energy > 0 else self.floor) / self.total


def t_variance(sums: BinnedTable) -> TVariance:
    """Return the parts of the variance of T, estimated; some bin must have two rows."""
    two = sums.rows >= 2
    n, total = sums.weight[two], sums.total
    share, gap = n / total, sums.residual[two] / n
    null_variance = sums.variance[two] / n
    sample_variance = (sums.residual_sq[two] - n * gap**2) / (n - 1.0)
    a = 2.0 / total**2 * float((n / (n - 1.0) * null_variance**2).sum())
    energy = float((share * gap**2).sum())
    noise = np.maximum(sample_variance, null_variance)
    d = max(float((share * gap**4).sum()) - energy**2, 0.0) / total
    return TVariance(
        a + d, energy, float((share * gap**2 * noise).sum()), float((share * noise).sum()), total
    )


def t_interval(t: float, *, still: float, slope: float, confidence: float) -> Interval:
    """Return {theta >= 0: |t - theta| <= z sqrt(still + slope theta)}, given for sqrt(theta)."""
    z = normal_quantile(0.5 + confidence / 2.0)
    middle = 2.0 * t + z * z * slope
    root = math.sqrt(max(middle**2 - 4.0 * (t * t - z * z * still), 0.0))
    # Where T is far below 0, both ends can lie above the estimate, which is then 0.
    value = max(t, 0.0)
    lower, upper = min(max(0.0, (middle - root) / 2.0), value), min(1.0, max(value, (middle + root) / 2.0))
    return Interval(
        math.sqrt(lower), math.sqrt(upper), confidence, "score", Target.FIXED_DESIGN, finite_sample=False
    )


def t_test(table: Table, *, bins: Partition, calibrated: CalibratedDraws) -> TestResult:
    """
    Test calibration by T against labels drawn from the scores.

    Args:
        table: The rows, unweighted.

        bins: A partition that `calibrated` was drawn for, or sums over it.

        calibrated: The draws.

    Returns:
        T with its Monte-Carlo p-value, exact where cells were not coarsened; undefined where no bin has
        two rows, and where every score is 0 or 1.
    """
    sums = binned(table, bins)
    if not (pairs_in(sums).any() and sums.variance.any()):
        why = "every score is 0 or 1" if pairs_in(sums).any() else "no bin has two rows"
        return TestResult(TestName.T, None, None, "undefined", None, (f"undefined: {why}",))
    t = t_statistic(sums)
    p = p_value(calibrated.t_of(sums.bins), t)
    return TestResult(TestName.T, t, p, calibrated.method, None, (INDEPENDENT_ROWS, HELD_OUT))
