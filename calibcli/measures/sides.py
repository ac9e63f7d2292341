"""The two halves of the binned ECE: scores that claim too much, and scores that claim too little."""

from typing import Literal

import numpy as np

from calibcli.measures.binned_ece import mean_noise
from calibcli.measures.calibrated import CalibratedDraws
from calibcli.measures.effective import deviation
from calibcli.measures.estimate import Estimate
from calibcli.measures.gaps import estimate_of_gaps, for_these_scores, gaps_if_calibrated, gaps_in
from calibcli.names import MeasureName
from calibcli.table.bins import Partition, binned
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

Side = Literal[MeasureName.OVERCONFIDENCE, MeasureName.UNDERCONFIDENCE]
_MIDDLE = 0.5


def one_side(
    name: Side,
    table: Table,
    *,
    bins: Partition,
    confidence: float = 0.95,
    calibrated: CalibratedDraws | None = None,
) -> Estimate:
    """
    The part of the binned ECE from bins that are overconfident, or from those that are underconfident.

    A mean score above 1/2 announces label 1, one below announces label 0. A bin is overconfident if what it
    announces happens less often than announced: rate < score above 1/2, rate > score below. Otherwise it is
    underconfident; a mean score of exactly 1/2 announces nothing, so any gap there is underconfidence.

    Args:
        name: Which side.

        table: The rows.

        bins: The partition, or sums over it; it may depend on the scores, never on the labels.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

        calibrated: Labels drawn from the scores, for the null reference.

    Returns:
        The plug-in estimate; the two sides add up to the binned ECE. The interval is finite-sample, for
        these scores.
    """
    sums = binned(table, bins)
    found = gaps_in(sums)

    def part(gap: Floats) -> Floats:
        return np.asarray((found.share * _claimed(name, gap, found.score)).sum(axis=-1))

    value = float(part(found.gap))
    margin = deviation(table, delta=(1.0 - confidence) / 2.0)
    # One sign of a gap counts, and so does half of its noise; at 1/2 both may.
    half = 1.0 if np.any(found.score == _MIDDLE) else 0.5
    interval = for_these_scores(
        value,
        lower=value - half * mean_noise(table, sums) - margin,
        upper=value + margin,
        confidence=confidence,
        method="upper: Hoeffding; lower: McDiarmid",
    )
    null = gaps_if_calibrated(sums, calibrated, part)
    return estimate_of_gaps(name, value, sums=sums, interval=interval, null=null)


def _claimed(name: Side, gap: Floats, score: Floats) -> Floats:
    """Return how much too much, or too little, each bin claims for the label that it announces."""
    # The gap of the announced label: its rate less what the score gives it.
    announced = np.where(score > _MIDDLE, gap, np.where(score < _MIDDLE, -gap, np.abs(gap)))
    return np.maximum(-announced if name is MeasureName.OVERCONFIDENCE else announced, 0.0)
