"""Kolmogorov-Smirnov and Kuiper: how far the cumulative sum of label - score strays from zero."""

import math

import numpy as np

from calibcli.bounds.brownian import excursion_tail, range_tail
from calibcli.measures.estimate import INDEPENDENT_ROWS, TestResult
from calibcli.names import TestName
from calibcli.table.grid import Table
from calibcli.table.residuals import residuals
from calibcli.table.score_table import Floats


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
    score = table.score
    variance = float((table.weight * score * (1.0 - score)).sum())
    if variance <= 0.0:
        why = "undefined: every score is 0 or 1"
        return (
            TestResult(TestName.KS, None, None, "undefined", None, (why,)),
            TestResult(TestName.KUIPER, None, None, "undefined", None, (why,)),
        )
    largest, span = (float(value) for value in excursions(residuals(table), variance))
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


def excursions(residual: Floats, variance: float) -> tuple[Floats, Floats]:
    """
    Return max |C| and max C - min C of the cumulative sums C, with C_0 = 0, in units of sqrt(variance).

    Args:
        residual: Shape (..., n), sorted by score; summed along the last axis.

        variance: Sum of f (1 - f), positive.
    """
    path = np.cumsum(residual, axis=-1)
    top = np.maximum(path.max(axis=-1), 0.0)
    bottom = np.minimum(path.min(axis=-1), 0.0)
    scale = math.sqrt(variance)
    return np.maximum(top, -bottom) / scale, (top - bottom) / scale
