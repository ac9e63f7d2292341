"""Labels drawn anew from the scores: what every statistic would be for a perfectly calibrated model.

Given the scores, Y* ~ Bernoulli(f) is the null hypothesis itself, so a p-value (1 + #{T* >= T}) / (draws + 1)
is exact at any number of rows. Where sum f (1 - f) is below `LEAST_INFORMATION` few labels are other than the
score says, and only these surprises are drawn, whatever the number of rows. Else, above 20,000 rows, labels
are drawn on a few hundred sub-cells nested in the bins, each with the mean score of its rows, as is said.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from calibcli.stats.table import Floats, Indices, Integers, run_starts
from calibcli.stats.table.bins import segment_sums
from calibcli.stats.table.grid import Table, open_variance
from calibcli.values import dataclass

# Below so much information no limit law is taken; below so much of sum f (1 - f) all draws are exact.
LEAST_INFORMATION = 400.0

EXACT_ROWS = 20_000

_EXACT_SCORES = 1_024

_SUB_CELLS = 256

# Sub-cells are so narrow in log odds that the variance of their labels is a binomial one within .4 %.
_LOG_ODDS = np.arange(-36.0, 36.25, 0.25)

_MOMENT_CUTS = 128

_CHUNK = 1 << 20

# Dense draws worked on at once, and more of fewer cells: those of a thousand stay in the processor's cache.
_AT_ONCE, _CELLS_AT_ONCE = 64, 64_000

# Drawing a surprise costs as much as drawing the labels of so many cells.
_COST_OF_A_SURPRISE = 8


@dataclass(frozen=True, slots=True, eq=False)
class DrawCells:
    """The cells on which labels are drawn.

    Args:
        score: Score of each cell (mean score where coarsened), shape (n_cells,).
        starts: Position in the table of each cell's first entry, shape (n_cells + 1,).
        coarsened: Whether cells hold rows of different scores.
    """

    score: Floats
    rows: Integers
    starts: Indices
    coarsened: bool

    @property
    def method(self) -> str:
        """The words reports use for draws on these cells."""
        return "monte-carlo, coarsened" if self.coarsened else "monte-carlo"

    @property
    def variance(self) -> Floats:
        """Of the number of labels 1 in each cell."""
        return self.rows * self.score * (1.0 - self.score)

    def segments(self, starts: Indices) -> Indices:
        """Translate bin starts in the table to bin starts among the cells."""
        return np.searchsorted(self.starts, starts)


class DrawnLabels(Protocol):
    """A block of draws of all labels. Segments are starts among the cells, shape (k + 1,)."""

    def positives(self, segments: Indices) -> Floats:
        """Return the number of labels 1 in each segment, shape (block, k)."""

    def residuals(self, segments: Indices) -> Floats:
        """Return the sums of label - score, shape (block, k)."""

    def squares(self, segments: Indices) -> Floats:
        """Return the sums of (label - score)^2, shape (block, k)."""

    def tilted(self) -> Floats:
        """Return the sums of (label - score)(1 - 2 score) over all rows, shape (block,)."""

    def extremes(self) -> tuple[Floats, Floats]:
        """Return maximum and minimum of the cumulative residuals, read at the ends of cells and at 0."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelDraws:
    """Labels drawn from the scores, block by block, to be gone through once."""

    cells: DrawCells
    blocks: Iterator[DrawnLabels]


def label_draws(
    table: Table, partitions: Sequence[Indices], *, draws: int, generator: np.random.Generator
) -> LabelDraws:
    """Draw all labels from the scores, by the way that costs least."""
    little = float(open_variance(table).sum()) < LEAST_INFORMATION
    if little and (not _few_cells(table) or _surprises_cost_less(table)):
        cells = _own_cells(table)
        widest = max((part.size for part in partitions), default=1)
        return LabelDraws(cells, _surprising(cells, draws=draws, generator=generator, widest=widest))
    cells = draw_cells(table, partitions)
    usual, at_once = _Usual(cells), max(_AT_ONCE, _CELLS_AT_ONCE // cells.score.size)
    blocks = (
        _Dense(usual, block[start : start + at_once] - usual.ones)
        for block in calibrated_positives(cells, draws=draws, generator=generator)
        for start in range(0, len(block), at_once)
    )
    return LabelDraws(cells, blocks)


def draw_cells(table: Table, partitions: Sequence[Indices]) -> DrawCells:
    """Return the cells for drawing labels: those of the table up to 20,000 rows, else nested in all bins."""
    if _few_cells(table):
        return _own_cells(table)
    starts = sub_cell_starts(table, partitions)
    rows = segment_sums(table.rows, starts)
    score = segment_sums(table.rows * table.score, starts) / rows
    return DrawCells(np.minimum(score, 1.0), rows, starts, coarsened=True)


def sub_cell_starts(
    table: Table, partitions: Sequence[Indices] = (), *, moment: Floats | None = None
) -> Indices:
    """Return starts of cells nested in the bins, of as many rows each, at most a quarter wide in log odds."""
    reached = np.cumsum(table.rows)
    count = max(1, _SUB_CELLS - sum(part.size for part in partitions))
    ranks = np.arange(1, count) / count * reached[-1]
    cuts = [np.searchsorted(reached, ranks) + 1]
    cuts.append(np.searchsorted(table.score, 1.0 / (1.0 + np.exp(-_LOG_ODDS)), side="right"))
    if moment is not None and moment.any():
        heavy = np.cumsum(moment)
        places = np.searchsorted(heavy, np.arange(1, _MOMENT_CUTS) / _MOMENT_CUTS * heavy[-1])
        # An entry that has much of it is a cell of its own.
        cuts += [places, places + 1]
    inside = np.minimum(np.concatenate(cuts), table.distinct)
    starts = np.sort(np.concatenate([*partitions, inside, [0, table.distinct]])).astype(np.intp)
    return starts[run_starts(starts)]


def calibrated_positives(cells: DrawCells, *, draws: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Yield blocks of draws of the number of rows with label 1, each of shape (block, n_cells)."""
    single = cells.rows == 1
    block = max(1, _CHUNK // max(cells.score.size, 1))
    for start in range(0, draws, block):
        shape = (min(block, draws - start), cells.score.size)
        if single.all():
            yield (generator.random(shape) < cells.score).astype(np.float64)
            continue
        positives = np.empty(shape)
        if single.any():
            uniform = generator.random((shape[0], int(single.sum())))
            positives[:, single] = uniform < cells.score[single]
        many = ~single
        if many.any():
            size = (shape[0], int(many.sum()))
            positives[:, many] = generator.binomial(cells.rows[many], cells.score[many], size=size)
        yield positives


def extremes(residual: Floats) -> tuple[Floats, Floats]:
    """Return maximum and minimum of the cumulative sums along the last axis, with the 0 they start from."""
    path = np.cumsum(residual, axis=-1)
    return np.maximum(path.max(axis=-1), 0.0), np.minimum(path.min(axis=-1), 0.0)


def ends_of_draws(values: Floats, *, confidence: float) -> Floats:
    """Return both ends of a range of values that were drawn, shape (draws, ...) -> (2, ...).

    The k-th of n draws from an end is passed by k / (n + 1) of others: by as many as an end may be, or by the
    next fewer, if any draw is.
    """
    many = len(values)
    first = max(math.floor((1.0 - confidence) / 2.0 * (many + 1) + 1e-9) - 1, 0)
    # Not np.quantile, which imports masked arrays.
    return np.asarray(np.sort(values, axis=0)[[first, many - 1 - first]])


def _few_cells(table: Table) -> bool:
    return table.total_rows <= EXACT_ROWS or table.distinct <= _EXACT_SCORES


def _own_cells(table: Table) -> DrawCells:
    return DrawCells(table.score, table.rows, np.arange(table.distinct + 1), coarsened=False)


def _surprises_cost_less(table: Table) -> bool:
    expected = float((table.rows * _rates(table.score)).sum())
    return _COST_OF_A_SURPRISE * expected < table.distinct


def _rates(score: Floats) -> Floats:
    """Return -ln of the probability that a row's label is the more probable one."""
    rates: Floats = -np.log1p(-np.minimum(score, 1.0 - score))
    return rates


@dataclass(frozen=True, eq=False)
class _Usual:
    """Every row with its more probable label, 0 at 1/2: what surprises change."""

    cells: DrawCells

    @cached_property
    def label(self) -> Floats:
        return (self.cells.score > 0.5).astype(np.float64)

    @cached_property
    def ones(self) -> Floats:
        return self.cells.rows * self.label

    @cached_property
    def residual(self) -> Floats:
        return self.cells.rows * (self.label - self.cells.score)

    @cached_property
    def square(self) -> Floats:
        return self.residual * (self.label - self.cells.score)

    @cached_property
    def tilt(self) -> Floats:
        return 1.0 - 2.0 * self.cells.score

    @cached_property
    def tilted(self) -> float:
        return float((self.residual * self.tilt).sum())

    @cached_property
    def path(self) -> Floats:
        """Cumulative residuals at 0 and at the ends of cells, shape (n_cells + 1,): they fall, then rise."""
        return np.concatenate(([0.0], np.cumsum(self.residual)))


# Without slots, so that what several statistics read is added up once.
@dataclass(frozen=True, eq=False)
class _Dense:
    """A block of draws as numbers in every cell: how many labels 1 more, or fewer, than usual, shape (block,
    n_cells). They are small where scores are near 1: rounding tells no ties apart.
    """

    usual: _Usual
    turned: Floats

    def positives(self, segments: Indices) -> Floats:
        return segment_sums(self.turned, segments) + segment_sums(self.usual.ones, segments)

    def residuals(self, segments: Indices) -> Floats:
        return segment_sums(self._residual, segments)

    def squares(self, segments: Indices) -> Floats:
        return segment_sums(self._square, segments)

    def tilted(self) -> Floats:
        return self._residual @ self.usual.tilt

    def extremes(self) -> tuple[Floats, Floats]:
        return extremes(self._residual)

    @cached_property
    def _residual(self) -> Floats:
        return self.turned + self.usual.residual

    @cached_property
    def _square(self) -> Floats:
        return self.turned * self.usual.tilt + self.usual.square


@dataclass(frozen=True, slots=True, eq=False)
class _Surprises:
    """A block of draws as the rows whose label is not the more probable one.

    Every draw has two entries more, of sign 0: in the last cell with a score up to 1/2, where the path
    between surprises is lowest, and in the last cell of all.

    Args:
        draw: Which draw of the block, ascending, shape (n,).
        sign: What a surprise adds to the number of labels 1: 1 or -1.
    """

    usual: _Usual
    draw: Integers
    cell: Integers
    sign: Floats
    begins: Integers

    def positives(self, segments: Indices) -> Floats:
        return self._added(self.sign, segments) + segment_sums(self.usual.ones, segments)

    def residuals(self, segments: Indices) -> Floats:
        return self._added(self.sign, segments) + segment_sums(self.usual.residual, segments)

    def squares(self, segments: Indices) -> Floats:
        turned = self.sign * self.usual.tilt[self.cell]
        return self._added(turned, segments) + segment_sums(self.usual.square, segments)

    def tilted(self) -> Floats:
        turned = self.sign * self.usual.tilt[self.cell]
        return np.add.reduceat(turned, self.begins) + self.usual.tilted

    def extremes(self) -> tuple[Floats, Floats]:
        path = self.usual.path
        moved = np.cumsum(self.sign)
        # Less what had been added when the draw began.
        moved -= np.repeat((moved - self.sign)[self.begins], np.diff(self.begins, append=self.draw.size))
        first = np.ones(self.draw.size, np.bool_)
        first[1:] = (np.diff(self.cell) != 0) | (np.diff(self.draw) != 0)
        last = np.append(first[1:], True)
        # The path is read at ends of cells alone: before the first surprise in a cell, and after the last.
        before, after = path[self.cell] + moved - self.sign, path[self.cell + 1] + moved
        tops = np.maximum(np.where(first, before, -np.inf), np.where(last, after, -np.inf))
        bottoms = np.minimum(np.where(first, before, np.inf), np.where(last, after, np.inf))
        top, bottom = np.maximum.reduceat(tops, self.begins), np.minimum.reduceat(bottoms, self.begins)
        return np.maximum(top, 0.0), np.minimum(bottom, 0.0)

    def _added(self, what: Floats, segments: Indices) -> Floats:
        count = segments.size - 1
        place = np.searchsorted(segments, self.cell, side="right") - 1 + self.draw * count
        shape = (self.begins.size, count)
        sums: Floats = np.bincount(place, weights=what, minlength=shape[0] * count).astype(np.float64)
        return sums.reshape(shape)


def _surprising(
    cells: DrawCells, *, draws: int, generator: np.random.Generator, widest: int
) -> Iterator[DrawnLabels]:
    """Yield draws of all labels by their surprises alone.

    Points fall on a line on which each row has a length of -ln(1 - q), q the probability of its surprise, as
    a Poisson process of rate 1 for each draw: a row is hit with probability q exactly, rows independently.
    """
    rate = _rates(cells.score)
    reached = np.cumsum(rate * cells.rows)
    length = float(reached[-1])
    # Points of all draws at once, in order; each belongs to any draw with the same probability.
    steps = np.cumsum(generator.standard_exponential(int(generator.poisson(length * draws)) + 1))
    place = steps[:-1] * (length / steps[-1])
    cell = np.minimum(np.searchsorted(reached, place, side="right"), np.searchsorted(reached, length))
    row = np.floor((place - (reached - rate * cells.rows)[cell]) / rate[cell]) if cell.size else place
    draw = generator.integers(draws, size=cell.size)
    # In each draw the ends of the falling and of the rising part of its path.
    lowest = max(int(np.searchsorted(cells.score, 0.5, side="right")) - 1, 0)
    ends = (int(np.searchsorted(cell, lowest, side="right")), cell.size)
    each = np.arange(draws)
    cell = np.insert(cell, np.repeat(ends, draws), np.repeat((lowest, cells.score.size - 1), draws))
    draw = np.insert(draw, np.repeat(ends, draws), np.tile(each, 2)).astype(np.min_scalar_type(draws))
    row = np.insert(row, np.repeat(ends, draws), -1.0)
    order = np.argsort(draw, kind="stable")
    draw, cell, row = draw[order].astype(np.int64), cell[order], row[order]
    new = np.ones(draw.size, np.bool_)
    new[1:] = (np.diff(draw) != 0) | (np.diff(cell) != 0) | (np.diff(row) != 0.0)
    draw, cell, row = draw[new], cell[new], row[new]
    usual = _Usual(cells)
    sign = np.where(row < 0.0, 0.0, 1.0 - 2.0 * usual.label[cell])
    begins = np.searchsorted(draw, np.arange(draws + 1))
    block = max(1, _CHUNK // widest)
    for start in range(0, draws, block):
        stop = min(start + block, draws)
        some = slice(begins[start], begins[stop])
        yield _Surprises(
            usual, draw[some] - start, cell[some], sign[some], begins[start:stop] - begins[start]
        )


def excursion_tail(x: float) -> float:
    """Return P(max |B| > x)."""
    if x >= 1.2:
        return 4.0 * math.fsum((-1) ** k * normal_tail((2 * k + 1) * x) for k in range(12))
    if x <= _NOTHING:
        return 1.0
    scale = math.pi**2 / (8.0 * x * x)
    terms = ((-1) ** k / (2 * k + 1) * math.exp(-((2 * k + 1) ** 2) * scale) for k in range(6))
    return 1.0 - 4.0 / math.pi * math.fsum(terms)


def range_tail(r: float) -> float:
    """Return P(max B - min B > r)."""
    if r >= 2.0:
        # Terms that are e^-60 of the first move no digit.
        most = min(23, math.ceil(math.sqrt(1.0 + 120.0 / (r * r))))
        return 8.0 * math.fsum((-1) ** (k - 1) * k * normal_tail(k * r) for k in range(1, most + 1))
    if r <= _NOTHING:
        return 1.0
    points = ((2 * j + 1) * math.pi for j in range(8))
    return 1.0 - 8.0 * math.fsum((1 / r**2 + 1 / a**2) * math.exp(-a * a / (2 * r * r)) for a in points)


def normal_tail(z: float) -> float:
    """Return P(Z > z) of the standard normal law, accurate far out."""
    t = z / math.sqrt(2.0)
    tail = 0.5 * math.erfc(t)
    if z < _FAR or tail == 0.0:
        return tail
    # Rounding of t moves t^2, and with it the logarithm of the tail.
    moved = float(Fraction(z) ** 2 / 2 - Fraction(t) ** 2)
    return tail * (1.0 - moved * (1.0 + 0.5 / (t * t)))


# Below this both laws are 0 in double precision, and their series divide by squares that vanish.
_NOTHING = 0.03

# From here on the rounding of z / sqrt(2) would cost the normal tail digits.
_FAR = 10.0
