"""What the measures of gaps between rate and mean score, bin by bin, have in common."""

from collections.abc import Callable
from dataclasses import dataclass

from calibcli.bounds.interval import Interval
from calibcli.measures.calibrated import CalibratedDraws
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.measures.if_calibrated import UNKNOWN, Reference, of_draws
from calibcli.names import MeasureName, Target
from calibcli.table.bins import BinnedTable
from calibcli.table.score_table import Floats

# From gaps of shape (..., n_bins) to values of shape (...).
OfGaps = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """
    The bins that hold weight.

    Args:
        share: Share of the weight, shape (n_bins,), summing to 1.

        gap: Observed rate minus mean score.

        score: Mean score.

        lightness: Sum of squared weights over squared sum of weights: 1 / n_k where every row counts once.
    """

    share: Floats
    gap: Floats
    score: Floats
    lightness: Floats


def gaps_in(sums: BinnedTable) -> Gaps:
    """Return the gaps of the bins that hold weight."""
    some = sums.occupied
    weight = sums.weight[some]
    return Gaps(
        share=weight / weight.sum(),
        gap=sums.residual[some] / weight,
        score=sums.score_sum[some] / weight,
        lightness=sums.weight_sq[some] / weight**2,
    )


def gaps_if_calibrated(sums: BinnedTable, calibrated: CalibratedDraws | None, statistic: OfGaps) -> Reference:
    """Return mean and range of a function of the gaps over labels drawn from the scores, where kept."""
    drawn = None if calibrated is None else calibrated.gaps_of(sums.bins)
    if drawn is None:
        return UNKNOWN
    some = sums.occupied
    return of_draws(statistic(drawn[:, some] / sums.weight[some]))


def for_these_scores(value: float, *, lower: float, upper: float, confidence: float, method: str) -> Interval:
    """Return a finite-sample interval for these scores, cut to [0, 1] and enclosing its value."""
    low, high = max(0.0, min(lower, value)), min(1.0, max(upper, value))
    return Interval(low, high, confidence, method, Target.FIXED_DESIGN, finite_sample=True)


def estimate_of_gaps(
    name: MeasureName,
    value: float,
    *,
    sums: BinnedTable,
    interval: Interval | None,
    null: Reference = UNKNOWN,
    because: tuple[str, ...] = (),
    details: dict[str, float | int | str] | None = None,
) -> Estimate:
    """
    Return a measure of gaps with what all of them say.

    Args:
        name: Which measure.

        value: Its value.

        sums: The table over the partition.

        interval: Its interval, or None with the reason in `because`.

        null: Its mean and range for calibrated labels, where known.

        because: Further sentences.

        details: Further numbers.
    """
    return Estimate(
        name=name,
        value=value,
        interval=interval,
        null=null[0],
        assumptions=(INDEPENDENT_ROWS, HELD_OUT, f"of {sums.spoken_of}", *because),
        rows=int(sums.rows.sum()),
        details={"bins": int(sums.occupied.sum()), "partition": sums.described, **(details or {})},
        null_range=null[1],
    )
