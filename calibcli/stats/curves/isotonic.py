"""CORP's pictures: isotonic rates with a band of calibrated or of all rates, and scores by MCB and DSC."""

import math

import numpy as np

from calibcli.names import Band, MeasureName, PlotKind
from calibcli.options.numerals import percent
from calibcli.stats.bounds.proportion import clopper_pearson
from calibcli.stats.bounds.resampling import ends_of_draws
from calibcli.stats.curves import reliability
from calibcli.stats.curves.limits import Spread, thinned
from calibcli.stats.recalibrators.pooling import Blocks, pooled
from calibcli.stats.table import Arrays, Floats, Integers
from calibcli.stats.table.bins import looks_discrete, segment_sums
from calibcli.stats.table.derived import with_scores
from calibcli.stats.table.grid import GridTable, Table
from calibcli.values import dataclass

DRAWS, _MOST_DRAWS = 1_000, 2_000
# Of which so many in each tail are enough.
_IN_TAIL = 5.0
TOO_FEW_DRAWS = (
    f"no band: so high a confidence takes more than {_MOST_DRAWS:,} draws; --band simultaneous needs none"
)
_CELLS = 512


@dataclass(frozen=True, slots=True, eq=False)
class IsotonicCurve(Arrays):
    """The isotonic fit to the rows themselves, and a band: where fits lie by chance, or where all rates lie.

    The mean of (rate - score)^2 over the rows is at most the miscalibration MCB of the Brier score, for the
    fit is the nearest rising function to the labels, and the score is another.

    Args:
        x: Both ends of each block of the fit, non-decreasing, shape (n_corners,).
        rate: Rate of label 1 in the block; does not decrease. Between blocks it is drawn as a straight line.
        at: Distinct scores, or where there are many the mean scores of cells, ascending, shape (n_cells,); of
            a simultaneous band its corners, one before and one after each step.
        level: The fit there.
        share: Share of the rows, or of the weight, in each cell.
        lower: Lower end of the band there; NaN where there is none.
        points: The fit at each distinct score where they are few, or only one; else None.
        confidence: Of the band: at each single score, or of all of it.
        band: What the band is, or why there is none.
        coarse: Whether labels were drawn on cells of several scores. The fit to the rows then leaves the band
            more often than 1 - confidence where it steps between two cells, most of all near the ends.
        p_value: Against calibration, of a simultaneous band: the least error at which the diagonal leaves it.
    """

    x: Floats
    rate: Floats
    at: Floats
    level: Floats
    share: Floats
    lower: Floats
    upper: Floats
    spread: Spread
    points: reliability.BinnedCurve | None
    confidence: float
    band: str
    coarse: bool
    p_value: float | None = None

    kind = PlotKind.ISOTONIC

    @property
    def laid_out(self) -> tuple[Floats, Floats] | None:
        """Scores and the share of the rows up to each since the last, where none is 0."""
        spread = self.spread
        return (spread.score, np.diff(spread.upto, prepend=0.0)) if spread.score[0] > 0.0 else None


@dataclass(frozen=True, slots=True)
class _Cells:
    """Where labels are drawn: distinct scores, or mean scores of neighbours, ascending, with the first and
    the last score of each, and its rows; `positive` and `share` are of rows, or of the weight.
    """

    score: Floats
    first: Floats
    last: Floats
    rows: Integers
    positive: Floats
    share: Floats


def enough_draws(usual: int, *, confidence: float) -> int | None:
    """Return how many draws make a band of this confidence by `ends_of_draws`, or None if too many.

    Where few of the usual n lie in a tail, n + 1 is a multiple of what that is one in.
    """
    tail = (1.0 - confidence) / 2.0
    if usual * tail >= _IN_TAIL * (1.0 - 1e-9):
        return usual
    found = math.ceil(math.ceil((usual + 1) * tail) / tail) - 1
    return found if found <= _MOST_DRAWS else None


def isotonic_curve(
    table: Table,
    *,
    generator: np.random.Generator,
    confidence: float = 0.95,
    draws: int = DRAWS,
    band: Band = Band.POINTWISE,
) -> IsotonicCurve:
    """Return the isotonic fit with the band in which fits to labels drawn from the scores lie, or all rates.

    Args:
        confidence: Of the band: at each single score, approximate where scores share cells (as in a cell of a
            grid); of a simultaneous one of all of it, at any number of rows.
        draws: How often the labels are usually drawn anew, and fitted; a high confidence takes more.

    References:
        Dimitriadis, Gneiting & Jordan (2021), PNAS 118(8), for the diagram and its consistency band;
        Dimitriadis, Duembgen, Henzi, Puke & Ziegel (2023), Biometrika 110(3), for the simultaneous one.
    """
    reliability.refuse_empty(table)
    entries = with_scores(table, table.score) if isinstance(table, GridTable) else table
    x, rate = _corners(pooled(entries))
    cells = _cells(table)
    at, share, p_value = cells.score, cells.share, None
    lower = upper = np.full_like(at, math.nan)
    if table.weighted:
        said = reliability.NO_WEIGHTED_BAND
    elif band is Band.SIMULTANEOUS:
        ends = _confidence_band(cells, confidence=confidence)
        lower, upper, p_value = ends.lower, ends.upper, ends.p_value
        falls = bool(np.any((lower > upper)[cells.first == cells.last]))
        if not looks_discrete(table):
            (at, share), (lower, upper) = _twice(cells), ends.corners()
        said = f"simultaneous {percent(confidence)} confidence band"
        if falls or np.any(lower > upper):
            lower = upper = np.full_like(at, math.nan)
            said = f"no {said}: rates fall somewhere as scores rise, and it needs rates that do not"
    elif (enough := enough_draws(draws, confidence=confidence)) is None:
        said = TOO_FEW_DRAWS
    else:
        lower, upper = _consistency_band(cells, generator=generator, confidence=confidence, draws=enough)
        said = f"pointwise {percent(confidence)} consistency band about the diagonal"
    return IsotonicCurve(
        x=x,
        rate=rate,
        at=at,
        level=np.interp(at, x, rate),
        share=share,
        lower=lower,
        upper=upper,
        spread=Spread.of(table.score, table.weight),
        points=_points(table, x, rate) if looks_discrete(table) or cells.score.size == 1 else None,
        confidence=confidence,
        band=said,
        p_value=p_value,
        coarse=cells.score.size < int(np.count_nonzero(table.weight)),
    )


def _corners(blocks: Blocks) -> tuple[Floats, Floats]:
    """Return both ends of each block, as many as can be seen."""
    x = np.stack((blocks.first, blocks.last), axis=1).ravel()
    rate = np.repeat(blocks.levels, 2)
    kept = thinned(x, rate)
    return x[kept], rate[kept]


def _points(table: Table, x: Floats, rate: Floats) -> reliability.BinnedCurve:
    """Return the fit at each of few distinct scores."""
    some = np.flatnonzero(table.weight > 0.0)
    score, none = table.score[some], np.full(some.size, math.nan)
    level = np.interp(score, x, rate)
    return reliability.BinnedCurve(score, score, table.rows[some], score, level, none, none, "no interval")


def _cells(table: Table) -> _Cells:
    """Return cells on which fits cost the same for any number of rows.

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
    return _Cells(
        score=score,
        first=table.score[starts[some]],
        last=table.score[starts[some + 1] - 1],
        rows=segment_sums(table.rows, starts)[some],
        positive=segment_sums(table.positive, starts)[some],
        share=held[some] / total,
    )


def _consistency_band(
    cells: _Cells, *, generator: np.random.Generator, confidence: float, draws: int
) -> tuple[Floats, Floats]:
    """Return pointwise quantiles of the isotonic fits to labels drawn from the scores."""
    from scipy.optimize import isotonic_regression

    rows, chance = cells.rows[:, None], cells.score[:, None]
    # Cell by cell, since setting up a binomial costs more than drawing from it.
    rates = np.ascontiguousarray((generator.binomial(rows, chance, (cells.rows.size, draws)) / rows).T)
    weight = cells.rows.astype(np.float64)
    fits = np.stack([isotonic_regression(one, weights=weight).x for one in rates])
    lower, upper = np.clip(ends_of_draws(fits, confidence=confidence), 0.0, 1.0)
    return lower, upper


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """A band that holds every rate at once.

    Args:
        lower: What the rates from each cell's last score on are at least, shape (n_cells,).
        upper: What the rates up to each cell's first score are at most.
        p_value: The least error at which the diagonal leaves it.
    """

    lower: Floats
    upper: Floats
    p_value: float

    def corners(self) -> tuple[Floats, Floats]:
        """Return the band before and after each cell's first and last score: it steps up at both."""
        before, after = np.append(0.0, self.lower[:-1]), np.append(self.upper[1:], 1.0)
        lower = np.stack((before, before, before, self.lower), axis=1)
        upper = np.stack((self.upper, after, after, after), axis=1)
        return lower.ravel(), upper.ravel()


def _twice(cells: _Cells) -> tuple[Floats, Floats]:
    """Return where each cell begins and ends, both before and after a step, and the share of rows there."""
    at = np.stack((cells.first, cells.first, cells.last, cells.last), axis=1).ravel()
    return at, np.repeat(0.25 * cells.share, 4)


def _confidence_band(cells: _Cells, *, confidence: float) -> _Ends:
    """Return bounds of all rates at once, which are exact if rates do not fall with the score.

    The labels of neighbouring cells are at most as many as those of rows that all have the rate of the last
    score, and at least as many as those of rows that have the rate of the first. So a binomial bound of each
    run of cells bounds the rates beyond it. Every run, of lengths fixed before the labels are seen, has an
    equal part of the error.
    """
    from scipy.special import betainc, betaincc

    count = cells.rows.size
    runs = [(start, start + length) for length in _lengths(count) for start in range(count - length + 1)]
    starts, stops = np.array(runs).T
    rows, positive = (
        reached[stops] - reached[starts]
        for reached in (np.append(0.0, np.cumsum(one)) for one in (cells.rows, cells.positive))
    )
    parts = 2 * starts.size
    least, most = clopper_pearson(positive, rows, delta_each_side=(1.0 - confidence) / parts)
    lower, upper = np.zeros(count), np.ones(count)
    np.maximum.at(lower, stops - 1, least)
    np.minimum.at(upper, starts, most)
    # Chances of so many labels 1, and of so few, if the scores are the rates.
    negative = rows - positive
    some, short = positive > 0, negative > 0
    many = betainc(positive[some], negative[some] + 1.0, cells.last[stops - 1][some])
    few = betaincc(positive[short] + 1.0, negative[short], cells.first[starts][short])
    return _Ends(
        np.maximum.accumulate(lower),
        np.minimum.accumulate(upper[::-1])[::-1],
        min(1.0, parts * float(min(many.min(initial=1.0), few.min(initial=1.0)))),
    )


def _lengths(count: int) -> list[int]:
    """Return how many cells runs have, each half as many again as the one before."""
    lengths = [1]
    while lengths[-1] < count:
        lengths.append(min(count, max(lengths[-1] + 1, lengths[-1] * 3 // 2)))
    return lengths


@dataclass(frozen=True, slots=True, eq=False)
class McbDsc(Arrays):
    """Mean scores in their parts, mean = MCB - DSC + UNC; arrays have shape (n_scores,).

    Args:
        measure: The mean score: Brier score or log loss.
        value: Their mean scores; infinite where a score of exactly 0 or 1 was wrong, for the log loss.
        mcb: Miscalibration, what isotonic recalibration of these rows would save.
        dsc: Discrimination, what is saved after that against the base rate.
        unc: Uncertainty, the mean score of the base rate.
        by_chance: The miscalibration that 95 % of perfectly calibrated scores stay below on such rows; NaN
            where that is not known.

    References:
        Dimitriadis, Gneiting, Jordan & Vogel (2024), Int. J. Forecast. 40.
    """

    measure: MeasureName
    names: tuple[str, ...]
    value: Floats
    mcb: Floats
    dsc: Floats
    unc: Floats
    by_chance: Floats

    kind = PlotKind.MCB_DSC

    @property
    def one_base(self) -> bool:
        """Whether all scores have the uncertainty of the same labels."""
        return bool(np.ptp(self.unc) <= 1e-12)
