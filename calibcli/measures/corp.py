"""CORP: miscalibration, discrimination and uncertainty of a proper score, by its isotonic recalibration."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.bounds.resampling import calibrated_positives, draw_cells
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, NO_WEIGHTED_INTERVAL, Estimate
from calibcli.measures.if_calibrated import UNKNOWN, ends_of_draws
from calibcli.measures.losses import LossOf, entropy, log_error, losses_of, squared_error, variance
from calibcli.measures.settings import Shared
from calibcli.measures.uncertainty import rate_interval
from calibcli.names import MeasureName
from calibcli.recalibrators.minorant import pooled_starts
from calibcli.table.bins import segment_sums
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

_MCB = (MeasureName.BRIER_MCB, MeasureName.LOG_LOSS_MCB)
_DSC = (MeasureName.BRIER_DSC, MeasureName.LOG_LOSS_DSC)
_DRAWS, _SUB_CELLS = 100, 16_384
_NO_INTERVAL = "no interval: the isotonic fit follows the noise; read it beside its value if calibrated"


@dataclass(frozen=True, slots=True)
class Corp:
    """
    Parts of a mean score: miscalibration - discrimination + uncertainty.

    Args:
        mcb: What isotonic recalibration of these rows would save; may be inf.

        dsc: What the recalibrated score saves against the rate of label 1.

        unc: The mean score of that rate.
    """

    mcb: float
    dsc: float
    unc: float

    def part(self, name: MeasureName) -> float:
        """Return the named part."""
        return self.mcb if name in _MCB else self.dsc if name in _DSC else self.unc


@dataclass(frozen=True, slots=True)
class _Score:
    """
    A proper score.

    Args:
        loss: Of each score.

        least: From rates of label 1 to the mean loss of the forecast that knows the rate.
    """

    loss: LossOf
    least: Callable[[Floats], Floats]

    def of_rate(self, rate: float) -> float:
        """Return the mean loss of a forecast that knows the rate."""
        return float(self.least(np.array([rate]))[0])


_BRIER = _Score(squared_error, variance)
_LOG = _Score(log_error, entropy)
_OF_BRIER = (MeasureName.BRIER_MCB, MeasureName.BRIER_DSC, MeasureName.BRIER_UNC)


def corp_part(
    name: MeasureName,
    table: Table,
    *,
    confidence: float = 0.95,
    generator: np.random.Generator | None = None,
    shared: Shared | None = None,
) -> Estimate:
    """
    Return one part of the Brier score or the log loss by isotonic recalibration.

    With S the mean score, S_pav that of the isotonic fit to these very rows and S_0 that of their rate of
    label 1, MCB = S - S_pav, DSC = S_0 - S_pav and UNC = S_0: S = MCB - DSC + UNC, and none is negative.

    Args:
        name: Which part, of which score.

        table: The rows. Of a grid table each cell counts as one score.

        confidence: Coverage asked of the interval of the uncertainty, in (0, 1).

        generator: Source of randomness of the null reference, or None for no such reference.

        shared: Where the parts of one score find each other's fit; all are given the same randomness.

    Returns:
        The part, the uncertainty with an interval (Clopper-Pearson of the rate), the others without.
        Miscalibration of the log loss is infinite if a score of exactly 0 or 1 was wrong.

    References:
        Dimitriadis, Gneiting & Jordan (2021), PNAS 118(8).
    """
    score, of = (_BRIER, "brier") if name in _OF_BRIER else (_LOG, "log_loss")
    shared = shared or Shared()
    value = shared.once(f"corp {of}", table, lambda: corp_of(table, score)).part(name)
    assumptions = [INDEPENDENT_ROWS, HELD_OUT]
    if table.kind == "grid":
        assumptions.append("each cell of the grid counts as one score")
    interval, why = _interval(name, table, value, score=score, confidence=confidence)
    if why is not None:
        assumptions.append(why)
    null, null_range = UNKNOWN
    if generator is not None and not table.weighted:
        drawn = shared.once(
            f"corp {of} drawn", table, lambda: _if_calibrated(table, score, generator=generator)
        )
        null, low, high = (one.part(name) for one in drawn)
        null_range = low, high
    return Estimate(name, value, interval, null, tuple(assumptions), table.total_rows, null_range=null_range)


def corp_of(table: Table, score: _Score) -> Corp:
    """Return the parts of a score."""
    weighs = table.weight > 0.0
    weight, positive = table.weight[weighs], table.positive[weighs]
    total, ones = float(weight.sum()), float(positive.sum())
    raw = losses_of(table, score.loss).mean(table.positive, table.weight - table.positive)
    if not (ones > 0.0 and (positive < weight).any()):
        return Corp(raw, 0.0, 0.0)
    pooled, unc = _pooled_loss(weight, positive, score), score.of_rate(ones / total)
    return Corp(_without_rounding(raw - pooled, unc), _without_rounding(unc - pooled, unc), unc)


def _pooled_loss(weight: Floats, positive: Floats, score: _Score) -> float:
    """Return the mean loss of the isotonic fit; its levels are the rates of its blocks."""
    starts = pooled_starts(weight, positive)
    held = segment_sums(weight, starts)
    levels = np.minimum(segment_sums(positive, starts) / held, 1.0)
    return float((held * score.least(levels)).sum() / held.sum())


def _if_calibrated(table: Table, score: _Score, *, generator: np.random.Generator) -> tuple[Corp, Corp, Corp]:
    """
    Return the means of the parts over labels drawn from the scores, and both ends of their ranges.

    The mean of the Brier score's uncertainty is exact: r (1 - r) less the variance of the rate.
    """
    cells = draw_cells(table, [], sub_cells=_SUB_CELLS)
    weight, losses = cells.rows.astype(np.float64), score.loss(cells.score, cells.score, cells.score)
    parts = []
    for block in calibrated_positives(cells, draws=_DRAWS, generator=generator):
        for positive in block:
            pooled = _pooled_over_scores(weight, positive, score, distinct=table.distinct)
            unc = score.of_rate(min(float(positive.sum()) / table.total_rows, 1.0))
            parts.append((losses.mean(positive, weight - positive) - pooled, unc - pooled, unc))
    columns = np.array(parts)
    mcb, dsc, unc = columns.mean(axis=0).tolist()
    low, high = (Corp(*ends) for ends in ends_of_draws(columns).tolist())
    if score is _BRIER:
        rows = table.total_rows
        rate = float((table.weight * table.score).sum()) / rows
        unc = rate * (1.0 - rate) - float((table.weight * variance(table.score)).sum()) / rows**2
    return Corp(mcb, dsc, unc), low, high


def _pooled_over_scores(weight: Floats, positive: Floats, score: _Score, *, distinct: int) -> float:
    """
    Return the mean loss of the isotonic fit to scores that were gathered in cells.

    Blocks can only bend at the ends of cells, which costs in proportion to sqrt(scores in a cell) - 1, as the
    minimum of a random walk does that is seen at every so many steps. How much, the fit to fours of
    cells tells.

    Args:
        weight: Number of rows in each cell, shape (n_cells,).

        positive: How many of them have label 1.

        score: Whose losses.

        distinct: Number of scores.
    """
    fine = _pooled_loss(weight, positive, score)
    if distinct == weight.size:
        return fine
    starts = np.append(np.arange(0, weight.size, 4), weight.size)
    coarse = _pooled_loss(segment_sums(weight, starts), segment_sums(positive, starts), score)
    near, far = (math.sqrt(distinct / count) for count in (weight.size, starts.size - 1))
    return fine - (coarse - fine) * (near - 1.0) / (far - near)


def _without_rounding(value: float, scale: float) -> float:
    """Return 0 for what only rounding keeps from it."""
    return 0.0 if abs(value) < 1e-14 * max(scale, 1e-3) else value


def _interval(
    name: MeasureName, table: Table, value: float, *, score: _Score, confidence: float
) -> tuple[Interval | None, str | None]:
    """Return the interval of a part, or the reason for none."""
    if name in (*_MCB, *_DSC):
        return None, _NO_INTERVAL
    if table.weighted:
        return None, NO_WEIGHTED_INTERVAL
    rows = table.total_rows, table.total_positive_rows
    return rate_interval(*rows, value=value, confidence=confidence, of=score.of_rate), None
