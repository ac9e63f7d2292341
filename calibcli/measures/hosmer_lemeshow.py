"""Hosmer and Lemeshow's test: squared errors of the bins against what labels from the scores would make."""

import numpy as np

from calibcli.bounds.special import chi_squared_tail
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, TestResult
from calibcli.names import TestName
from calibcli.table.bins import BinnedTable, Partition, binned
from calibcli.table.grid import Table


def hosmer_lemeshow(table: Table, *, bins: Partition) -> TestResult:
    """
    Test H = sum_k S_k^2 / V_k, with S_k the bin's sum of label - score and V_k its sum of f (1 - f).

    The law is chi-squared with as many degrees of freedom as bins with V_k > 0, since nothing was fitted to
    these rows; two fewer hold for the rows a logistic model was fitted to, which no one should test by.

    Args:
        table: The rows, unweighted.

        bins: The partition, or sums over it; it may depend on the scores, never on the labels.

    Returns:
        Undefined where every score is 0 or 1.

    References:
        Hosmer & Lemeshow (1980), Communications in Statistics A9, with V_k for n_k mean f (1 - mean f).
    """
    sums = binned(table, bins)
    open_bins = sums.variance > 0.0
    degrees = int(np.count_nonzero(open_bins))
    if degrees == 0:
        why = "undefined: every score is 0 or 1"
        return TestResult(TestName.HOSMER_LEMESHOW, None, None, "undefined", None, (why,))
    # A score next to 0 or 1 leaves hardly any variance: one that is wrong can pass the largest double.
    with np.errstate(over="ignore"):
        h = float((sums.residual[open_bins] ** 2 / sums.variance[open_bins]).sum())
    p = chi_squared_tail(h, degrees)
    freedom = "degree" if degrees == 1 else "degrees"
    assumptions = (INDEPENDENT_ROWS, HELD_OUT, f"over {sums.described}: {degrees} {freedom} of freedom")
    return TestResult(TestName.HOSMER_LEMESHOW, h, p, "asymptotic", p, assumptions)


def bin_information(sums: BinnedTable) -> float:
    """Return the harmonic mean of V_k: with that in each bin H would be as near to chi-squared as it is."""
    variance = sums.variance[sums.variance > 0.0]
    with np.errstate(over="ignore"):
        return variance.size / float((1.0 / variance).sum()) if variance.size else 0.0
