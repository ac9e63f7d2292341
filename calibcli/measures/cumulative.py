"""Kolmogorov-Smirnov and Kuiper: how far the cumulative sum of label - score strays from zero."""

import math

from calibcli.bounds.brownian import excursion_tail, range_tail
from calibcli.bounds.resampling import extremes
from calibcli.measures.estimate import INDEPENDENT_ROWS, TestResult
from calibcli.names import TestName
from calibcli.table.grid import Table
from calibcli.table.residuals import open_variance, residuals


def ks_and_kuiper(table: Table) -> tuple[TestResult, TestResult]:
    """
    Test calibration by the path of cumulative residuals, sorted by score.

    The path starts at C_0 = 0 and is read only at the ends of blocks of equal scores, so row order does
    not matter. With s = sqrt(sum f (1 - f)), KS = max |C| / s and Kuiper = (max C - min C) / s.

    Args:
        table: The rows, unweighted. On a grid table the path is read at cell ends; what it can miss inside
            a cell is at most the number of rows in that cell and is stated.

    Returns:
        KS and Kuiper with p-values of the limit laws; both undefined when every score is 0 or 1.

    References:
        Tygert (2023); Arrieta-Ibarra et al. (2022), JMLR 23. Corrections to MAPIE's theory page: Kuiper
        is max C - min C, and includes C_0.
    """
    variance = float(open_variance(table).sum())
    if variance <= 0.0:
        why = "undefined: every score is 0 or 1"
        return (
            TestResult(TestName.KS, None, None, "undefined", None, (why,)),
            TestResult(TestName.KUIPER, None, None, "undefined", None, (why,)),
        )
    top, bottom = (float(value) / math.sqrt(variance) for value in extremes(residuals(table)))
    largest, span = max(top, -bottom), top - bottom
    notes = [INDEPENDENT_ROWS]
    if table.kind == "grid":
        miss = float(table.rows.max()) / math.sqrt(variance)
        notes.append(f"read at the ends of grid cells, which can lower the statistic by at most {miss:.3g}")
    assumptions = tuple(notes)
    ks_p, kuiper_p = excursion_tail(largest), range_tail(span)
    return (
        TestResult(TestName.KS, largest, ks_p, "asymptotic", ks_p, assumptions),
        TestResult(TestName.KUIPER, span, kuiper_p, "asymptotic", kuiper_p, assumptions),
    )


def path_information(table: Table) -> float:
    """
    Return how many steps of one size would make the path as smooth as it is.

    The lesser of sum f (1 - f), in steps of one label, and of the number of equal blocks of ties: where few
    are read, less is seen than the limit law expects.
    """
    share = open_variance(table)
    whole = float(share.sum())
    if not whole > 0.0:
        return 0.0
    # In units of the whole, whose square may be too small for a double.
    share = share / whole
    share *= share
    return min(whole, 1.0 / float(share.sum()))
