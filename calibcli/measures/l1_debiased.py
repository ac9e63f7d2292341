"""The binned ECE less what noise adds to it, by the normal law of every bin's rate."""

import numpy as np

from calibcli.measures.calibrated import CalibratedDraws
from calibcli.measures.estimate import Estimate
from calibcli.measures.gaps import Gaps, estimate_of_gaps, gaps_if_calibrated, gaps_in
from calibcli.measures.if_calibrated import UNKNOWN
from calibcli.names import MeasureName
from calibcli.table.bins import BinnedTable, Partition, binned, segment_sums
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

_NO_INTERVAL = "no interval: none is known to hold for it; see the one of ece, of which it is an estimate"


def debiased_ece(table: Table, *, bins: Partition, calibrated: CalibratedDraws | None = None) -> Estimate:
    """
    2 ECE - sum_k p_k E|e_k + s_k Z|: the plug-in less its own estimated bias, Z standard normal.

    e_k is the bin's rate less its mean score and s_k^2 the variance of label - score in the bin over n_k.
    The expectation has a closed form, so nothing is drawn. Below 0 the estimate is 0; what it was is
    `unclipped` among the details.

    Args:
        table: The rows.

        bins: The partition, or sums over it.

        calibrated: Labels drawn from the scores, for the null reference: the very same of each draw.

    References:
        Kumar, Liang & Ma (2019), NeurIPS, appendix, debiasing for p other than 2. Where a bin holds
        several scores they take the variance of the label in place of that of label - score.
    """
    sums = binned(table, bins)
    found = gaps_in(sums)
    raw = float(_less_bias(found.gap, found=found, mean_square=_mean_squares(table, sums)))
    null = UNKNOWN
    squares = None if calibrated is None else calibrated.squares_of(sums.bins)
    if squares is not None:
        drawn = squares[:, sums.occupied] / sums.weight[sums.occupied]
        null = gaps_if_calibrated(
            sums,
            calibrated,
            lambda gap: np.maximum(_less_bias(gap, found=found, mean_square=drawn), 0.0),
        )
    lonely = int(sums.rows[sums.rows == 1].size)
    because = (f"{lonely:,} rows alone in their bin are not corrected for",) if lonely else ()
    return estimate_of_gaps(
        MeasureName.L1_DEBIASED,
        max(raw, 0.0),
        sums=sums,
        interval=None,
        null=null,
        because=(*because, _NO_INTERVAL),
        details={"unclipped": raw, "plug_in": float((found.share * np.abs(found.gap)).sum())},
    )


def mean_size(mean: Floats, spread: Floats) -> Floats:
    """
    Return E|m + s Z| for standard normal Z.

    Args:
        mean: m, any shape.

        spread: s, at least 0, of a shape that fits.
    """
    from scipy.special import ndtr

    # Beyond 40 spreads the mean is all there is.
    noisy = spread * 40.0 > np.abs(mean)
    safe = np.where(noisy, spread, 1.0)
    ratio = np.where(noisy, mean, 0.0) / safe
    density = np.exp(-0.5 * ratio**2) * np.sqrt(2.0 / np.pi)
    return np.where(noisy, safe * density + mean * (2.0 * ndtr(ratio) - 1.0), np.abs(mean))


def _less_bias(gap: Floats, *, found: Gaps, mean_square: Floats) -> Floats:
    """Return the plug-in less its bias, from every bin's gap and its mean of (label - score)^2."""
    spread = np.sqrt(np.maximum(mean_square - gap**2, 0.0) * found.lightness)
    return np.asarray((found.share * (2.0 * np.abs(gap) - mean_size(gap, spread))).sum(axis=-1))


def _mean_squares(table: Table, sums: BinnedTable) -> Floats:
    """Return the mean of (label - score)^2 in every occupied bin."""
    positive, negative = table.positive, table.weight - table.positive
    squares = positive * (1.0 - table.score_of_positive) ** 2 + negative * table.score_of_negative**2
    return segment_sums(squares, sums.starts)[sums.occupied] / sums.weight[sums.occupied]
