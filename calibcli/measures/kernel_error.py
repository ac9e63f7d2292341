"""Maximum mean calibration error: the size of the residuals seen through a Laplacian kernel."""

import math

import numpy as np

from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
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
    noise = float((table.weight_sq * table.score * (1.0 - table.score)).sum())
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
    )


def energy(score: Floats, mass: Floats) -> float:
    """
    Return sum_ij m_i m_j exp(-|f_i - f_j| / 0.4) from running sums.

    Args:
        score: Ascending, shape (n,), in [0, 1].

        mass: Signed, shape (n,).
    """
    # exp(score / 0.4) is at most e^2.5, so the exponential of a distance may be taken apart.
    before = np.cumsum(mass * np.exp(score / _WIDTH))
    across = float((mass[1:] * np.exp(-score[1:] / _WIDTH) * before[:-1]).sum())
    return float((mass**2).sum()) + 2.0 * across
