"""Spiegelhalter's z: does the Brier score differ from what the scores themselves announce?"""

import math

from calibcli.bounds.brownian import normal_tail
from calibcli.measures.estimate import INDEPENDENT_ROWS, TestResult
from calibcli.names import TestName
from calibcli.table.grid import Table
from calibcli.table.residuals import residuals


def spiegelhalter(table: Table) -> TestResult:
    """
    Test whether Z = sum (y - f)(1 - 2f) / sqrt(sum (1 - 2f)^2 f (1 - f)) is standard normal, two-sided.

    Blind to shifts where scores are symmetric about 1/2, so never to be read alone.

    Args:
        table: The rows, unweighted.

    Returns:
        Undefined when every score is 0, 1/2 or 1.

    References:
        Spiegelhalter (1986), Statistics in Medicine 5.
    """
    tilt = 1.0 - 2.0 * table.score
    variance = float((table.weight * tilt**2 * table.score * (1.0 - table.score)).sum())
    if variance <= 0.0:
        why = "undefined: every score is 0, 1/2 or 1"
        return TestResult(TestName.SPIEGELHALTER, None, None, "undefined", None, (why,))
    z = float((residuals(table) * tilt).sum()) / math.sqrt(variance)
    p = min(1.0, 2.0 * normal_tail(abs(z)))
    blind = "blind to errors that cancel around 1/2: read it beside Kuiper"
    return TestResult(TestName.SPIEGELHALTER, z, p, "asymptotic", p, (INDEPENDENT_ROWS, blind))
