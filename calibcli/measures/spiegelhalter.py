"""Spiegelhalter's z: does the Brier score differ from what the scores themselves announce?"""

import math

import numpy as np

from calibcli.bounds.brownian import normal_tail
from calibcli.bounds.resampling import label_draws, sub_cell_starts
from calibcli.measures.calibrated import p_value
from calibcli.measures.estimate import INDEPENDENT_ROWS, TestResult
from calibcli.names import TestName
from calibcli.table.bins import segment_sums
from calibcli.table.grid import Table
from calibcli.table.residuals import open_variance, residuals


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
    variance = float((open_variance(table) * tilt**2).sum())
    if variance <= 0.0:
        why = "undefined: every score is 0, 1/2 or 1"
        return TestResult(TestName.SPIEGELHALTER, None, None, "undefined", None, (why,))
    z = float((residuals(table) * tilt).sum()) / math.sqrt(variance)
    p = min(1.0, 2.0 * normal_tail(abs(z)))
    blind = "blind to errors that cancel around 1/2: read it beside Kuiper"
    return TestResult(TestName.SPIEGELHALTER, z, p, "asymptotic", p, (INDEPENDENT_ROWS, blind))


def z_information(table: Table) -> float:
    """
    Return how many rows that add alike would make Z as close to normal as it is, 0 where Z is undefined.

    The squared sum of their variances over the sum of fourth moments: rows near 1/2 add next to nothing.
    """
    square = 1.0 - 2.0 * table.score
    square *= square
    variance = open_variance(table) * square
    whole = float(variance.sum())
    if not whole > 0.0:
        return 0.0
    # In units of the whole, whose square may be too small for a double.
    variance /= whole
    variance *= square
    return whole / float(variance.sum())


def z_p_value(table: Table, *, generator: np.random.Generator, draws: int) -> tuple[float, str]:
    """
    Return the p-value of |Z| by labels drawn on cells, and the words for how they were drawn.

    The observed labels are summed over the same cells, in which 1 - 2f varies little where it matters.

    Args:
        table: The rows, unweighted, not all with a score of 0, 1/2 or 1.

        generator: Source of randomness.

        draws: Number of draws.
    """
    tilt = 1.0 - 2.0 * table.score
    variance = open_variance(table)
    starts = sub_cell_starts(table, moment=tilt**4 * variance)
    labels = label_draws(table, [starts], draws=draws, generator=generator)
    starts = starts if not labels.cells.coarsened else labels.cells.starts
    held = segment_sums(variance, starts)
    mean = segment_sums(tilt * variance, starts) / np.where(held > 0.0, held, 1.0)
    segments = labels.cells.segments(starts)
    drawn = np.concatenate([np.abs(block.residuals(segments) @ mean) for block in labels.blocks])
    observed = abs(float(segment_sums(residuals(table), starts) @ mean))
    return p_value(drawn, observed), labels.cells.method
