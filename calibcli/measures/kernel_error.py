"""Maximum mean calibration error: the size of the residuals seen through a Laplacian kernel."""

import math

import numpy as np

from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.measures.if_calibrated import Range, of_moments
from calibcli.names import MeasureName
from calibcli.table.grid import Table
from calibcli.table.residuals import residuals, squared_residuals
from calibcli.table.score_table import Floats

# Kumar, Sarawagi & Jain's choice.
_WIDTH = 0.4


def maximum_mean_error(table: Table) -> Estimate:
    """
    Return the root of (1/n^2) sum_ij r_i r_j exp(-|f_i - f_j| / 0.4), pairs of a row with itself included.

    Args:
        table: The rows.

    Returns:
        MMCE as published (a V-statistic); its square and the unbiased square over pairs of different rows are
        in the details. No interval.

    References:
        Kumar, Sarawagi & Jain (2018), ICML, equation 4.
    """
    weight, residual = table.weight, residuals(table)
    total, rows = float(weight.sum()), table.total_rows
    pairs = max(0.0, energy(table.score, residual))
    squared = pairs / total**2
    details: dict[str, float | int | str] = {"squared": squared, "width": _WIDTH}
    other = total**2 - float(table.weight_sq.sum())
    if rows >= 2 and other > 0.0:
        details["squared_unbiased"] = (pairs - float(squared_residuals(table).sum())) / other
    # Residuals of different calibrated rows are independent with mean 0: only each row with itself is left.
    variance = table.score * (1.0 - table.score)
    noise = float((table.weight_sq * variance).sum())
    return Estimate(
        name=MeasureName.MMCE,
        value=math.sqrt(squared),
        interval=None,
        null=math.sqrt(noise) / total,
        assumptions=(
            INDEPENDENT_ROWS,
            HELD_OUT,
            "no interval: none that holds in finite samples is known to us",
            'the "if calibrated" value is the root of the mean square',
        ),
        rows=rows,
        details=details,
        null_range=None if table.weighted else _range_if_calibrated(table, variance),
    )


def _range_if_calibrated(table: Table, variance: Floats) -> Range:
    """
    Return the range over labels that follow the scores.

    The square is a sum of r_i r_j k_ij, whose variance is 2 sum_ij v_i v_j k_ij^2 over pairs of different
    rows and sum_i (E r_i^4 - v_i^2) = sum_i v_i (1 - 4 v_i). Of such a sum of squares of nearly normal
    variables a gamma variable with the same two moments has about the law (Satterthwaite).
    """
    mass = table.weight * variance
    mean = float(mass.sum())
    pairs = energy(table.score, mass, width=0.5 * _WIDTH) - float((mass * variance).sum())
    spread = 2.0 * max(pairs, 0.0) + float((mass * (1.0 - 4.0 * variance)).sum())
    third = 2.0 * spread**2 / mean if mean > 0.0 else 0.0
    low, high = of_moments(mean, spread, third, least=0.0)
    return math.sqrt(low) / table.total_rows, math.sqrt(high) / table.total_rows


def energy(score: Floats, mass: Floats, *, width: float = _WIDTH) -> float:
    """
    Return sum_ij m_i m_j exp(-|f_i - f_j| / width) from running sums.

    Args:
        score: Ascending, shape (n,), in [0, 1].

        mass: Signed, shape (n,).

        width: Of the kernel, at least 0.2.
    """
    # exp(score / 0.2) is at most e^5, so the exponential of a distance may be taken apart.
    before = np.cumsum(mass * np.exp(score / width))
    across = float((mass[1:] * np.exp(-score[1:] / width) * before[:-1]).sum())
    return float((mass**2).sum()) + 2.0 * across
