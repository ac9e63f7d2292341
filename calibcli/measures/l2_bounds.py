"""Finite-sample bounds of the binned l2 error at these scores, and the interval of Sun et al."""

import math

import numpy as np

from calibcli.bounds.chernoff import Counts, least_energy, most_energy
from calibcli.bounds.special import normal_quantile
from calibcli.measures.binned_ece import lower_bound as lower_bound_of_ece
from calibcli.measures.l2 import pairs_in, t_statistic
from calibcli.measures.linf import farthest
from calibcli.table.bins import BinnedTable, segment_sums
from calibcli.table.grid import Table

# The Chernoff bounds take a second at about so many bins.
MOST_CHERNOFF_BINS = 100


def lower_bound(table: Table, sums: BinnedTable, *, delta: float) -> tuple[float, str]:
    """
    Return a lower bound of the l2 error at these scores, one-sided, and its method.

    By Clopper-Pearson for a single score, by Chernoff where that is affordable; otherwise that of the ECE,
    which the l2 error is never below. Which of them is taken does not depend on labels.

    Args:
        table: The rows.

        sums: The table over the partition.

        delta: Probability of lying above.
    """
    if one_score(table):
        # The rate may lie on either side, and only one of the two ends can be wrong in each direction.
        return float(farthest(sums, delta=delta / 2.0)[0].max()), "Clopper-Pearson"
    counts = counted(table, sums)
    if counts is not None:
        return math.sqrt(least_energy(counts, delta=delta) / sums.total), "Chernoff"
    return lower_bound_of_ece(table, sums, delta=delta), "that of the ECE"


def upper_bound(table: Table, sums: BinnedTable, *, delta: float) -> tuple[float, str] | None:
    """
    Return an upper bound of the l2 error at these scores, one-sided, and its method.

    By Clopper-Pearson for a single score, whose rate lies on one fixed side of it, otherwise by Chernoff;
    None where that has no bound.
    """
    if one_score(table):
        return float(farthest(sums, delta=delta)[1].max()), "Clopper-Pearson"
    upper = upper_chernoff(table, sums, delta=delta)
    return None if upper is None else (upper, "Chernoff")


def upper_chernoff(table: Table, sums: BinnedTable, *, delta: float) -> float | None:
    """
    Return the Chernoff upper bound of the l2 error at these scores; None unless each bin holds one score.

    A row alone in its bin may be as wrong as its score allows.
    """
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
    """
    Return the set of Sun et al. for the l2 error in words, such as "0 or 0.01 to 0.03"; "none" if empty.

    Values above 0 by the normal law of T with variance sigma_1^2 / n, sigma_1^2 = sum p m^4 - (sum p m^2)^2 +
    4 sum p m^2 var; 0 where |T| is within its spread for calibrated labels, taken exactly from the scores in
    place of the paper's limit for bins that are all filled.

    Args:
        table: The rows, unweighted.

        sums: The table over the partition.

        confidence: Coverage asked, asymptotically.

    References:
        Sun, Chaudhari, Barnett & Dobriban (2024), AISTATS, algorithm 1.
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
