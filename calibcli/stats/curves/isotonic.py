"""CORP's reliability curve: rates by isotonic regression, and where they would lie if calibrated."""

import math

import numpy as np
import numpy.typing as npt

from calibcli.names import PlotKind
from calibcli.stats.curves.limits import Spread, thinned
from calibcli.stats.curves.reliability import NO_WEIGHTED_BAND, BinnedCurve, percent, refuse_empty
from calibcli.stats.recalibrators.pooling import Blocks, pooled
from calibcli.stats.table.bins import looks_discrete, segment_sums
from calibcli.stats.table.derived import with_scores
from calibcli.stats.table.grid import GridTable, Table
from calibcli.stats.table.score_table import Floats, Integers, frozen
from calibcli.values import dataclass

DRAWS = 1_000
_CELLS = 512
_KEYS = ("x", "rate", "at", "level", "share", "lower", "upper")


@dataclass(frozen=True, slots=True, eq=False)
class IsotonicCurve:
    """
    The isotonic fit to the rows themselves, and its consistency band around the diagonal.

    The mean of (rate - score)^2 over the rows is at most the miscalibration MCB of the Brier score, for the
    fit is the nearest rising function to the labels, and the score is another.

    Args:
        x: Both ends of each block of the fit, non-decreasing, shape (n_corners,).
        rate: Rate of label 1 in the block; does not decrease. Between blocks it is drawn as a straight line.
        at: Distinct scores, or the mean scores of cells where there are many, ascending, shape (n_cells,).
        level: The fit there.
        share: Share of the rows, or of the weight, in each cell.
        lower: Lower end of the band there; NaN where there is none.
        upper: Upper end of the band.
        spread: Where the rows lie.
        points: The fit at each distinct score where they are few, or only one; else None.
        confidence: Of the band at each single score.
        band: What the band is, or why there is none.
        coarse: Whether labels were drawn on cells of several scores. The fit to the rows then leaves the band
            more often than 1 - confidence where it steps between two cells, most of all near the ends.
    """

    x: Floats
    rate: Floats
    at: Floats
    level: Floats
    share: Floats
    lower: Floats
    upper: Floats
    spread: Spread
    points: BinnedCurve | None
    confidence: float
    band: str
    coarse: bool

    kind = PlotKind.ISOTONIC

    def __post_init__(self) -> None:
        for name in _KEYS:
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))


@dataclass(frozen=True, slots=True)
class _Cells:
    """
    Where labels are drawn.

    Args:
        score: Distinct scores, or mean scores of neighbours, ascending, shape (n_cells,).
        rows: Number of rows in each cell.
        share: Share of the rows, or of the weight.
    """

    score: Floats
    rows: Integers
    share: Floats


def isotonic_curve(
    table: Table, *, generator: np.random.Generator, confidence: float = 0.95, draws: int = DRAWS
) -> IsotonicCurve:
    """
    Return the isotonic fit with the band in which fits to labels drawn from the scores lie.

    Args:
        table: The rows. Of a grid table each cell counts as one score.
        generator: Where the randomness of the band comes from.
        confidence: Of the band at each single score, in (0, 1); approximate where scores share cells.
        draws: Number of times the labels are drawn anew, and fitted.

    References:
        Dimitriadis, Gneiting & Jordan (2021), PNAS 118(8), for the diagram and its consistency band.
    """
    refuse_empty(table)
    entries = with_scores(table, table.score) if isinstance(table, GridTable) else table
    x, rate = _corners(pooled(entries))
    cells = _cells(table)
    if table.weighted:
        lower = upper = np.full_like(cells.score, math.nan)
        band = NO_WEIGHTED_BAND
    else:
        lower, upper = _consistency_band(cells, generator=generator, confidence=confidence, draws=draws)
        band = f"pointwise {percent(confidence)} consistency band about the diagonal"
    level = np.interp(cells.score, x, rate)
    return IsotonicCurve(
        x=x,
        rate=rate,
        at=cells.score,
        level=level,
        share=cells.share,
        lower=lower,
        upper=upper,
        spread=Spread.of(table),
        points=_points(table, x, rate) if looks_discrete(table) or cells.score.size == 1 else None,
        confidence=confidence,
        band=band,
        coarse=cells.score.size < int(np.count_nonzero(table.weight)),
    )


def _corners(blocks: Blocks) -> tuple[Floats, Floats]:
    """Return both ends of each block, as many as can be seen."""
    x = np.stack((blocks.first, blocks.last), axis=1).ravel()
    rate = np.repeat(blocks.levels, 2)
    kept = thinned(x, rate)
    return x[kept], rate[kept]


def _points(table: Table, x: Floats, rate: Floats) -> BinnedCurve:
    """Return the fit at each of few distinct scores."""
    some = np.flatnonzero(table.weight > 0.0)
    score, none = table.score[some], np.full(some.size, math.nan)
    level = np.interp(score, x, rate)
    return BinnedCurve(score, score, table.rows[some], score, level, none, none, "no interval")


def _cells(table: Table) -> _Cells:
    """
    Return cells on which fits cost the same for any number of rows.

    About 512 cells hold equally many rows, and those at both ends are cut in halves down to single rows: an
    isotonic fit is free to follow the first and the last row.
    """
    weight = table.weight
    reached = np.cumsum(weight)
    total = float(reached[-1])
    starts = np.arange(table.distinct + 1)
    if table.distinct > 2 * _CELLS:
        halves = total / _CELLS * 0.5 ** np.arange(0.0, math.log2(max(total / _CELLS, 1.0)) + 1.0)
        ranks = np.concatenate((np.arange(1, _CELLS) / _CELLS * total, halves, total - halves))
        cuts = np.searchsorted(reached, ranks * (1.0 + 1e-12), side="right")
        starts = np.union1d(cuts, [0, table.distinct])
    held = segment_sums(weight, starts)
    some = np.flatnonzero(held > 0.0)
    score = segment_sums(weight * table.score, starts)[some] / held[some]
    score = np.clip(score, table.score[starts[some]], table.score[starts[some + 1] - 1])
    return _Cells(score, segment_sums(table.rows, starts)[some], held[some] / total)


def _consistency_band(
    cells: _Cells, *, generator: np.random.Generator, confidence: float, draws: int
) -> tuple[Floats, Floats]:
    """Return pointwise quantiles of the isotonic fits to labels drawn from the scores."""
    from scipy.optimize import isotonic_regression

    rows, chance = cells.rows[:, None], cells.score[:, None]
    # Cell by cell, since setting up a binomial costs more than drawing from it.
    rates = np.ascontiguousarray((generator.binomial(rows, chance, (cells.rows.size, draws)) / rows).T)
    weight = cells.rows.astype(np.float64)
    fits = np.stack([isotonic_regression(one, weights=weight).x for one in rates], axis=1)
    return _quantiles(fits, confidence)


def _quantiles(fits: npt.NDArray[np.float64], confidence: float) -> tuple[Floats, Floats]:
    """Return the order statistics just outside the tails, along the last axis."""
    fits.sort(axis=1)
    draws = fits.shape[1]
    cut = int((1.0 - confidence) / 2.0 * draws)
    return np.clip(fits[:, cut], 0.0, 1.0), np.clip(fits[:, draws - 1 - cut], 0.0, 1.0)
