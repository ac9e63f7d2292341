"""The gap of the worst bin."""

import math

import numpy as np

from calibcli.bounds.proportion import rate_bounds
from calibcli.measures.calibrated import CalibratedDraws
from calibcli.measures.estimate import Estimate
from calibcli.measures.gaps import estimate_of_gaps, for_these_scores, gaps_if_calibrated, gaps_in
from calibcli.names import Binning, MeasureName
from calibcli.table.bins import BinnedTable, Partition, binned
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

_ATOMS_SPEAK = "also of the population's rates at the scores seen, since each score is a bin of its own"


def worst_bin(
    table: Table, *, bins: Partition, confidence: float = 0.95, calibrated: CalibratedDraws | None = None
) -> Estimate:
    """
    Largest |rate - mean score| of a bin that holds rows: the maximum calibration error (MCE).

    Args:
        table: The rows.

        bins: The partition, or sums over it; it may depend on the scores, never on the labels.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

        calibrated: Labels drawn from the scores, for the null reference.

    Returns:
        The plug-in estimate, which a bin of few rows can make large: see `worst_rows` among the details.
        The interval is finite-sample, for these scores. Its upper end is the farthest that the rate of any
        bin can lie from the mean score, each at the full level, since the worst bin is a fixed one
        (intersection-union); its lower end pays for all bins (Sidak).

    References:
        Naeini, Cooper & Hauskrecht (2015), AAAI; Berger (1982), Technometrics 24, intersection-union tests.
    """
    sums = binned(table, bins)
    found = gaps_in(sums)
    value = float(_largest(found.gap))
    delta = (1.0 - confidence) / 2.0
    if table.weighted:
        lower, upper = _by_hoeffding(found.gap, found.lightness, delta=delta)
        method = "Hoeffding at each bin's effective number of rows"
    else:
        upper = float(farthest(sums, delta=delta)[1].max())
        lower = float(farthest(sums, delta=each_of(found.gap.size, delta) / 2.0)[0].max())
        method = "upper: Clopper-Pearson, intersection-union; lower: Clopper-Pearson, Sidak"
    worst = np.flatnonzero(sums.occupied)[int(np.abs(found.gap).argmax())]
    return estimate_of_gaps(
        MeasureName.LINF,
        value,
        sums=sums,
        interval=for_these_scores(value, lower=lower, upper=upper, confidence=confidence, method=method),
        null=gaps_if_calibrated(sums, calibrated, _largest),
        because=(_ATOMS_SPEAK,) if sums.bins.binning is Binning.ATOMS and not table.weighted else (),
        details={
            "worst_from": float(sums.lower[worst]),
            "worst_to": float(sums.upper[worst]),
            "worst_rows": int(sums.rows[worst]),
        },
    )


def farthest(sums: BinnedTable, *, delta: float) -> tuple[Floats, Floats]:
    """
    Return the least and the most that each occupied bin's |rate - mean score| can be.

    Args:
        sums: The table over the partition, unweighted.

        delta: Error probability of each end of a rate's bounds, at most 1/4.
    """
    some = sums.occupied
    rows = sums.weight[some]
    score = sums.score_sum[some] / rows
    low, high = rate_bounds(sums.positive[some], rows, delta_each_side=delta)
    return np.maximum(np.maximum(low - score, score - high), 0.0), np.maximum(high - score, score - low)


def each_of(count: int, delta: float) -> float:
    """Return the level at which so many independent bounds all hold but with probability delta (Sidak)."""
    return -math.expm1(math.log1p(-delta) / count)


def _largest(gap: Floats) -> Floats:
    return np.asarray(np.abs(gap).max(axis=-1))


def _by_hoeffding(gap: Floats, lightness: Floats, *, delta: float) -> tuple[float, float]:
    size = np.abs(gap)
    both = each_of(gap.size, delta) / 2.0
    low = size - np.sqrt(math.log(1.0 / both) * lightness / 2.0)
    high = size + np.sqrt(math.log(1.0 / delta) * lightness / 2.0)
    return float(low.max()), float(high.max())
