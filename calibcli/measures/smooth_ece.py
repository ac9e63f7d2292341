"""SmoothECE: the calibration error after smoothing the residuals at the scale of the error itself."""

import math

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.measures.calibrated import CalibratedDraws
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, NO_WEIGHTED_INTERVAL, Estimate
from calibcli.names import MeasureName, Target
from calibcli.table.grid import Table
from calibcli.table.kernel import LEAST_BANDWIDTH, MESH, CosineSeries, fixpoint, residual_series
from calibcli.table.residuals import squared_residuals
from calibcli.table.score_table import Floats, ScoreTable

# The bandwidths of the lower bound, fixed in advance.
_LOWER_BANDWIDTHS = np.geomspace(0.005, 0.5, 16)


def smooth_ece(
    table: Table, *, confidence: float = 0.95, calibrated: CalibratedDraws | None = None
) -> Estimate:
    """
    The bandwidth sigma at which the L1 norm of the residuals smoothed by a reflected Gaussian equals sigma.

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

        calibrated: Labels drawn from the scores, for the null reference.

    Returns:
        smECE, which needs no bins. Upper bound for the population (empirical Bernstein at the fixpoint),
        lower bound for these scores (McDiarmid over 16 bandwidths fixed in advance); both finite-sample.

    References:
        Blasiok & Nakkiran (2023), Definition 5 and Theorem 9; the bounds are proved in `docs/methods.md`.
    """
    series = residual_series(table)
    value = 0.0 if not np.any(series.coefficients) else fixpoint(series)
    rows = table.total_rows
    assumptions = [
        INDEPENDENT_ROWS,
        HELD_OUT,
        "the upper bound speaks of the population, the lower of these scores",
    ]
    if 0.0 < value <= LEAST_BANDWIDTH:
        # The norm does not increase with the bandwidth, so its value here is below the solution.
        value = min(value, float(series.l1_norm(LEAST_BANDWIDTH)))
        assumptions.append(
            f"bandwidths below {LEAST_BANDWIDTH:.2g} are not resolved: at least the value shown"
        )
    interval = None
    if table.weighted:
        assumptions = [INDEPENDENT_ROWS, HELD_OUT, NO_WEIGHTED_INTERVAL]
    elif rows < 2:
        assumptions.append("no interval: one row")
    else:
        delta = (1.0 - confidence) / 2.0
        upper = fixpoint(series, added=population_margin(table, delta=delta))
        lower = min(lower_bound(table, series, delta=delta), value)
        method = "upper: empirical Bernstein at the fixpoint; lower: McDiarmid on a grid"
        interval = Interval(lower, upper, confidence, method, Target.MIXED, finite_sample=True)
    return Estimate(
        name=MeasureName.SMECE,
        value=value,
        interval=interval,
        null=None if calibrated is None else calibrated.smece,
        assumptions=tuple(assumptions),
        rows=rows,
        details={"bandwidth": value},
    )


def population_margin(table: Table, *, delta: float) -> float:
    """
    Return how far the mean of residual times a fixed function into [-1, 1] strays below its expectation.

    The empirical Bernstein bound at range 2. The best test function at a fixed bandwidth is fixed, so no
    union over functions is needed, and none over bandwidths because the norm does not increase.

    Args:
        table: The rows, unweighted, at least two.

        delta: One-sided error probability.

    References:
        Maurer & Pontil (2009), COLT, Theorem 4.
    """
    n = table.total_rows
    mean_square = float(squared_residuals(table).sum()) / (n - 1.0)
    log_term = math.log(2.0 / delta)
    return math.sqrt(2.0 * mean_square * log_term / n) + 14.0 * log_term / (3.0 * (n - 1.0))


def lower_bound(table: Table, series: CosineSeries, *, delta: float) -> float:
    """
    Return max_j min(sigma_j, smECE_sigma_j - b_j - sqrt(ln(m / delta) / (2 n))) over m fixed bandwidths.

    b_j bounds what label noise adds to the norm on average; smECE >= min(sigma, smECE_sigma) at every sigma.

    Args:
        table: The rows, unweighted.

        series: The table's residual series.

        delta: One-sided error probability.
    """
    n = table.total_rows
    table = _gathered(table)
    count = _LOWER_BANDWIDTHS.size
    strayed = math.sqrt(math.log(count / delta) / (2.0 * n))
    best = 0.0
    for sigma in _LOWER_BANDWIDTHS[::-1]:
        norm = float(series.l1_norm(float(sigma)))
        # Bandwidths that cannot improve the bound need no noise term.
        if min(float(sigma), norm - strayed) > best:
            best = max(best, min(float(sigma), norm - strayed - noise_of_norm(table, float(sigma))))
    return best


def _gathered(table: Table) -> Table:
    """Return the rows at the middles of the kernel's cells, where there are fewer of those than scores."""
    if table.distinct <= MESH:
        return table
    cell = np.minimum((table.score * MESH).astype(np.int64), MESH - 1)
    rows = np.bincount(cell, weights=table.weight, minlength=MESH).astype(np.int64)
    some = np.flatnonzero(rows)
    return ScoreTable((some + 0.5) / MESH, rows[some], np.zeros(some.size, np.int64))


def noise_of_norm(table: Table, bandwidth: float) -> float:
    """
    Return b = int sqrt(sum_i K(f_i, t)^2) dt / (2 n): the mean norm that labels of variance <= 1/4 can make.

    Scores are gathered in cells of an eighth of the bandwidth and the integral taken at steps of a quarter,
    which together move b by less than one part in a hundred; the result is raised by that.

    Args:
        table: The rows, unweighted.

        bandwidth: Standard deviation of the reflected Gaussian kernel.
    """
    cells = math.ceil(8.0 / bandwidth)
    steps = math.ceil(4.0 / bandwidth)
    cell = np.minimum((table.score * cells).astype(np.int64), cells - 1)
    rows = np.bincount(cell, weights=table.weight, minlength=cells)
    some = np.flatnonzero(rows)
    kernel = reflected_gaussian((some + 0.5) / cells, (np.arange(steps) + 0.5) / steps, bandwidth=bandwidth)
    energy = rows[some] @ kernel**2
    return 1.01 * float(np.sqrt(energy).mean()) / (2.0 * table.total_rows)


def reflected_gaussian(centres: Floats, points: Floats, *, bandwidth: float) -> Floats:
    """
    Return the Gaussian kernel on [0, 1] with its images beyond both ends.

    Args:
        centres: Shape (n,).

        points: Shape (m,).

        bandwidth: Standard deviation.

    Returns:
        Densities, shape (n, m); each row integrates to 1.
    """
    total = np.zeros((centres.size, points.size))
    images = 1 + math.ceil(4.0 * bandwidth)
    for shift in range(-images, images + 1):
        for side in (1.0, -1.0):
            place = 2.0 * shift + side * centres
            # Images farther than eight bandwidths from every point of [0, 1] add nothing.
            near = np.flatnonzero((place >= -8.0 * bandwidth) & (place <= 1.0 + 8.0 * bandwidth))
            if near.size:
                total[near] += np.exp(-0.5 * ((points[None, :] - place[near, None]) / bandwidth) ** 2)
    return np.asarray(total / (bandwidth * math.sqrt(2.0 * math.pi)))
