"""The l2 error of the largest probabilities of a row together."""

import math

import numpy as np

from calibcli.stats.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, NO_WEIGHTED_INTERVAL, TopError
from calibcli.stats.measures.l2 import l2_squared_plug_in, pairs_in, t_interval, t_statistic, t_variance
from calibcli.stats.table.top_cells import TopCells


def top_errors(cells: TopCells, *, confidence: float) -> tuple[TopError, ...]:
    """
    Return the l2 error of the largest probability, of the two largest, and so on.

    The square of that of k is estimated by the sum over ranks j of T_j, the debiased square of `l2` of the
    j-th largest probability over cells, which are bins of all k. With k = 1 it is `l2` of the confidence.

    References:
        Sun, Chaudhari, Barnett & Dobriban (2024), "A confidence interval for the l2 expected calibration
        error", for the error; the interval is that of `l2`, with the covariance of ranks.
    """
    return tuple(_top_error(cells, k, confidence) for k in range(1, cells.ranks + 1))


def _top_error(cells: TopCells, k: int, confidence: float) -> TopError:
    ranks = cells.of_largest(k)
    rows = ranks[0].rows
    t = math.fsum(t_statistic(one) for one in ranks)
    defined = bool(pairs_in(ranks[0]).any())
    alone = int(np.count_nonzero(rows == 1))
    largest = "largest probability" if k == 1 else f"{k} largest probabilities"
    of = f"of the cells that {cells.bins.described} make of the {largest}"
    assumptions = [INDEPENDENT_ROWS, HELD_OUT, f"{of}; approximate below 1,000 rows"]
    if alone:
        assumptions.append(f"{alone:,} rows alone in their cell do not count")
    interval = None
    if cells.weighted:
        assumptions.append(NO_WEIGHTED_INTERVAL)
    elif not defined:
        assumptions.append("no interval: no cell has two rows")
    elif t == 0.0 and not any(one.variance.any() for one in ranks):
        assumptions.append("no interval: every score is 0 or 1 and right, so nothing varies")
    else:
        found = t_variance(*ranks)
        interval = t_interval(t, still=found.still, slope=found.slope, confidence=confidence, most=float(k))
    return TopError(
        k=k,
        value=math.sqrt(max(t, 0.0)) if defined else math.nan,
        interval=interval,
        t=t if defined else math.nan,
        plug_in=math.sqrt(math.fsum(l2_squared_plug_in(one) for one in ranks)),
        cells=int(rows.size),
        rows_alone=alone,
        assumptions=tuple(assumptions),
    )
