"""Calibration in every segment of the rows at once.

A segment is the rows that agree in the levels of some columns. Which segments there are never depends on a
label, so that all that is said here holds given scores and columns.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from calibcli.ahead import in_order
from calibcli.names import DEFAULT_SEED, Purpose
from calibcli.stats.bounds import holm
from calibcli.stats.bounds.proportion import rate_bounds, sum_margin
from calibcli.stats.bounds.resampling import DrawCells, calibrated_positives, range_tail
from calibcli.stats.measures.if_calibrated import DRAWS
from calibcli.stats.numerics import crossing, normal_quantile, stream
from calibcli.stats.table import Booleans, Floats, Indices, Integers, Whole, narrow, numbered, run_starts
from calibcli.stats.table.crossed import CrossedCells, segments_within, sets_of_columns
from calibcli.stats.table.sliced import KeyedSums
from calibcli.values import dataclass, replace

Counts = Floats | Integers

# Segments whose labels would have a smaller variance are not tested: the law of the range is not true there.
LEAST_SPREAD = 5.0
HOLM = "law of the range of a Brownian motion, corrected for skewed labels; Holm over all tested segments"
# With this chance an error of the smallest detectable size is seen.
DETECTED = 0.8
# Score cells in which a segment is compared with a larger one, and rows of that one that each has at least.
_CELLS, _ROWS_OF_A_CELL = 256, 20
# Those are made of finer ones: so many for all segments together, and for each at most.
_FINE, _MOST_FINE = 1 << 20, 4_096
# Labels are drawn for at most so many entries, those of every set of columns added up; fewer times for up to
# ten times as many where segments are small, as the law is too careful there.
_MOST_DRAWN, _FEW_DRAWS, _SMALL = 80_000, 199, 750
# Entries are looked at in runs of so many; of more, as many sets of columns are crossed at once.
_CHUNK, _AT_ONCE = 1 << 16, 2
# The level of a segment in a column of which it has all rows.
ANY = -1
Level = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Rows that agree in every column and in their score, or in its cell, ascending; arrays of shape (n,).

    Args:
        leaf: The combination of levels that each is of.
        levels: The level of each combination in each column, shape (n_columns, n_leaves).
        sizes: How many levels each column has.
        at: The score, or the cell of it: entries with the same are one step of a path.
        score: The score, or its mean where rows share a cell.
        rows: How many, in as few bits as that takes; so are those with label 1.
        residual: Sum of label less score.
        sums: For each combination rows, labels, and sums of scores, of residuals, of score (1 - score), of
            squared residuals, and of score (1 - score) (1 - 2 score)^2.
        tied: Whether any two have the same score or cell.
    """

    leaf: Whole
    levels: Whole
    sizes: tuple[int, ...]
    at: Floats
    score: Floats
    rows: Whole
    positive: Whole
    residual: Floats
    sums: tuple[Floats, ...]
    tied: bool

    @classmethod
    def of_parts(
        cls,
        part: Integers,
        sizes: Sequence[int],
        at: Floats,
        *,
        rows: Integers,
        positive: Integers,
        scores: tuple[Floats, Floats] | None = None,
    ) -> "Entries":
        """Return entries of numbered combinations, the first column counting most.

        Args:
            part: The combination of levels of each entry.
            scores: The sums of the scores of rows with label 1 and with label 0; None if `at` is the score.
        """
        parts, leaf = numbered(part)
        order, tied = _order(at)
        leaf, at, many, ones = leaf[order], at[order], narrow(rows)[order], narrow(positive)[order]
        if scores is None:
            mean, missed, of_others = at, ones * (1.0 - at), (many - ones) * at
        else:
            of_ones, of_others = scores[0][order], scores[1][order]
            mean, missed = (of_ones + of_others) / many, ones - of_ones
        del order
        add = partial(_added, leaf, size=parts.size)
        # Of a label less a number that no label chose: the mean of the cell, not that of either label.
        squares = add(ones * (1.0 - mean) ** 2 + (many - ones) * mean**2)
        residual = missed - of_others
        del missed, of_others
        variance = many * mean * (1.0 - mean)
        sums = add(many), add(ones), add(many * mean), add(residual), add(variance), squares
        slant = add(variance * (1.0 - 2.0 * mean) ** 2)
        levels = np.array(np.unravel_index(parts, tuple(sizes)), np.int16)
        return cls(leaf, levels, tuple(sizes), at, mean, many, ones, residual, (*sums, slant), tied)

    def of(self, columns: Sequence[int], within: "Level" = ()) -> "Entries":  # noqa: ARG002 - as `InCells`
        """Return the rows by the levels of some columns, or of more."""
        return self

    def combined(self) -> tuple[Whole, Floats]:
        """Return all combinations of levels, shape (n_columns, n), and the rows of each."""
        return self.levels, self.sums[0]


def _order(values: Floats) -> tuple[Integers | slice, bool]:
    """Return the order of values, equal ones as they come, and whether any are equal."""
    steps = np.diff(values)
    if (steps >= 0.0).all():
        return slice(None), bool((steps == 0.0).any())
    order = np.argsort(values)
    tied = bool((np.diff(values[order]) == 0.0).any())
    # The fast sort is right where none are.
    return (np.argsort(values, kind="stable") if tied else order), tied


@dataclass(frozen=True, slots=True, eq=False)
class InCells:
    """Rows in cells of the score, added up apart for every set of columns."""

    cells: CrossedCells

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.cells.sizes

    def of(self, columns: Sequence[int], within: Level = ()) -> Entries:
        """Return the rows by the levels of some columns alone, of a segment only where one is named."""
        own = {column: within[column] for column in columns if within and within[column] != ANY}
        leaves = self.cells.of(columns, own)
        return Entries.of_parts(
            leaves.part,
            self.sizes,
            leaves.at,
            rows=leaves.rows,
            positive=leaves.positive,
            scores=leaves.scores,
        )

    def combined(self) -> tuple[Whole, Floats]:
        part, rows = self.cells.combined()
        return np.array(np.unravel_index(part, self.sizes)), rows.astype(np.float64)


Crossed = Entries | InCells
"""Rows by the levels of any few columns and by score."""


def entries_of(found: KeyedSums | CrossedCells, sizes: Sequence[int]) -> Crossed:
    if isinstance(found, CrossedCells):
        return InCells(found)
    rows, positive = found.whole
    return Entries.of_parts(found.part, sizes, found.point.view(np.float64), rows=rows, positive=positive)


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Every segment that has rows; arrays of shape (n,).

    Args:
        level: Its level in each column, -1 where it has all of them; shape (n, n_columns).
        residual: Sum of label less score.
        variance: What the sum of the labels would have were the scores their chances.
        skewness: Third moments of the labels relative to their variances, as one size of a jump; in [0, 1].
        sigma: The range of the cumulative residuals over the score, by the root of the variance.
        same: Whether another segment of fewer columns holds the very same rows.
    """

    level: Integers
    rows: Floats
    positive: Floats
    score: Floats
    residual: Floats
    variance: Floats
    squares: Floats
    skewness: Floats
    sigma: Floats
    same: Booleans

    @property
    def size(self) -> int:
        return int(self.rows.size)

    @property
    def bias(self) -> Floats:
        """Mean score less observed rate: above 0 where scores are too high."""
        return -self.residual / self.rows

    def p_values(self) -> Floats:
        """Return how probable so large a range is in each segment by itself, were it calibrated.

        The law is that of a Brownian motion, at what the range is worth where jumps are skewed: a sum of
        labels far out is as rare as one of centred Poisson jumps with its variance and third moment, whose
        tail is at most that of Bennett's inequality.

        References:
            Feller (1951), Ann. Math. Statist. 22, for the range; Bennett (1962), JASA 57, for the jumps.
        """
        return np.array([range_tail(one) for one in self.worth(self.sigma).tolist()])

    def worth(self, sigma: Floats) -> Floats:
        """Return what a range in each segment is worth where jumps are skewed; shape (..., n)."""
        return straightened(sigma, self.variance, self.skewness)


def straightened(sigma: Floats, variance: Floats, skewness: Floats) -> Floats:
    """Return the range of a Brownian motion that is as rare as one of skewed jumps."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Of scores next to nothing it has no square that is finite; what it is then matters to nobody.
        x = np.minimum(skewness * sigma / np.sqrt(variance), 1e150)
        # (1 + x) log(1 + x) - x, over x^2 / 2, is 1 - x / 3 for small x.
        ratio = np.where(x > 1e-4, 2.0 * ((1.0 + x) * np.log1p(x) - x) / (x * x), 1.0 - x / 3.0)
    return np.asarray(sigma * np.sqrt(ratio))


def subset(found: Segments, places: Integers) -> Segments:
    """Return some of the segments, in this order."""
    return Segments(*(one[places] for one in _arrays(found)))


def in_probability(sigma: float, entries: Crossed) -> float:
    """Return what a range in sigmas is worth as a difference of probabilities over all rows."""
    sums = entries.of(()).sums
    return sigma * (math.sqrt(float(sums[4].sum())) / float(sums[0].sum()))


def rows_of(entries: Crossed, found: Segments, some: Booleans) -> int:
    """Return how many rows belong to any of some segments."""
    levels, rows = entries.combined()
    inside, told = np.zeros(rows.size, np.bool_), found.level != ANY
    for which in np.unique(told[some], axis=0):
        columns = np.flatnonzero(which).tolist()
        alike = found.level[some & (told == which).all(axis=1)]
        inside |= np.isin(key_of(entries.sizes, levels, columns), key_of(entries.sizes, alike.T, columns))
    return int(rows[inside].sum())


def segments_of(entries: Crossed, *, depth: int) -> Segments:
    """Return every intersection of levels of at most so many columns, that of none first: all rows."""
    few = isinstance(entries, Entries) and entries.rows.size <= _CHUNK
    choices = sets_of_columns(len(entries.sizes), depth)
    found = list(in_order(partial(_crossed, entries), choices, 1 if few else _AT_ONCE))
    whole = joined(found)
    return replace(whole, same=_repeated(whole))


def joined(found: Iterable[Segments]) -> Segments:
    """Return segments one after the other."""
    return Segments(*(np.concatenate(parts) for parts in zip(*map(_arrays, found), strict=True)))


def _arrays(found: Segments) -> tuple[npt.NDArray[Any], ...]:
    return tuple(getattr(found, name) for name in Segments.__dataclass_fields__)


def _crossed(every: Crossed, chosen: Sequence[int]) -> Segments:
    """Return the segments that the levels of some columns make."""
    entries = every.of(chosen)
    of_leaf, first = _codes(entries, chosen)
    rows, positive, score, residual, variance, squares, slant = (_added(of_leaf, one) for one in entries.sums)
    share = np.maximum(variance, np.finfo(np.float64).tiny)
    level = np.full((first.size, len(entries.sizes)), ANY, np.int64)
    level[:, list(chosen)] = entries.levels[:, first].T[:, list(chosen)]
    return Segments(
        level,
        rows,
        positive,
        score / rows,
        residual,
        variance,
        squares,
        np.sqrt(slant / share),
        _over(_ranges(entries, of_leaf, first.size), np.sqrt(variance)),
        np.zeros(first.size, np.bool_),
    )


def key_of(sizes: Sequence[int], levels: Whole, columns: Sequence[int]) -> Integers:
    """Return one number for levels of some columns, shape (n,), of those of all, shape (n_columns, n)."""
    if not columns:
        return np.zeros(levels.shape[1], np.int64)
    shape = tuple(sizes[column] for column in columns)
    return np.asarray(np.ravel_multi_index(tuple(levels[column] for column in columns), shape), np.int64)


def _codes(entries: Entries, columns: Sequence[int]) -> tuple[Whole, Integers]:
    """Return the segment of each combination by some columns, by its place, and a combination of each."""
    key = key_of(entries.sizes, entries.levels, columns)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return narrow(place.reshape(-1)), first


def _apart(code: Whole) -> tuple[Integers, Integers]:
    """Return the order that sorts by segment, those of one as they come, and where segments begin."""
    # Eight and sixteen bits are sorted by radix.
    order = np.argsort(code, kind="stable")
    return order, run_starts(code[order])


def _over(size: Floats, unit: Floats) -> Floats:
    """Return sizes in units; infinite where labels could not differ from the scores, and did."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(size > 0.0, size / unit, 0.0)


def _added(code: Whole, column: npt.NDArray[Any], size: int = 0) -> Floats:
    return np.asarray(np.bincount(code, weights=column, minlength=size), np.float64)


def _ranges(entries: Entries, of_leaf: Whole, size: int) -> Floats:
    """Return the range, 0 included, of the sums of residuals of each segment in the order of the score.

    Entries are looked at in runs that stay in the processor's cache; where each path stands, and how high and
    low it has been, is carried from one run to the next.
    """
    (path, low, high), tied = np.zeros((3, size)), entries.tied
    for start, stop in pairwise(_runs(entries.at, tied=tied)):
        code = of_leaf.take(entries.leaf[start:stop])
        order, new = _apart(code)
        own = code[order[new]]
        at = entries.at[start:stop][order] if tied else None
        lowest, highest, total = _reach(entries.residual[start:stop].take(order), at, new)
        low[own] = np.minimum(low[own], path[own] + lowest)
        high[own] = np.maximum(high[own], path[own] + highest)
        path[own] += total
    return high - low


def _runs(at: Floats, *, tied: bool) -> Integers:
    """Return where runs of entries begin, and where the last one ends; entries of one score stay together."""
    starts = np.arange(0, at.size, _CHUNK)
    starts = np.unique(np.searchsorted(at, at[starts])) if tied else starts
    return np.append(starts, at.size)


def _reach(residual: Floats, at: Floats | None, new: Integers) -> tuple[Floats, Floats, Floats]:
    """Return how low and how high the sums of residuals of each segment come, from 0, and where they end.

    Entries with the same `at` are one step. Residuals may be those of many draws, shape (draws, n).
    """
    path = np.cumsum(residual, axis=-1)
    start, first = np.zeros((*path.shape[:-1], new.size)), new
    start[..., 1:] = path[..., new[1:] - 1]
    total = path[..., np.append(new[1:], path.shape[-1]) - 1] - start
    if at is not None:
        last = np.concatenate((at[1:] != at[:-1], [True]))
        last[new[1:] - 1] = True
        ends = np.flatnonzero(last)
        path, first = path[..., ends], np.searchsorted(ends, new)
    low = np.minimum(np.minimum.reduceat(path, first, axis=-1) - start, 0.0)
    high = np.maximum(np.maximum.reduceat(path, first, axis=-1) - start, 0.0)
    return low, high, total


def _repeated(found: Segments) -> Booleans:
    """Return which segments hold the rows of one of fewer columns: as many rows as it, which holds them."""
    rows = {tuple(level): many for level, many in zip(found.level.tolist(), found.rows.tolist(), strict=True)}
    return np.array([any(rows[one] == rows[key] for one in parents_of(key)) for key in rows], np.bool_)


def parents_of(level: Level) -> Iterator[Level]:
    """Yield the segments of one column less that hold a segment."""
    for place, one in enumerate(level):
        if one != ANY:
            yield (*level[:place], ANY, *level[place + 1 :])


def are_tested(found: Segments, *, least_rows: int) -> Booleans:
    """Return which segments are tested, by nothing that depends on a label."""
    return (found.rows >= least_rows) & (found.variance >= LEAST_SPREAD) & ~found.same


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """What holds for all tested segments at once.

    Args:
        p_values: Of the tested segments, in their order.
        each: The level at which one segment by itself stands out.
        draws: How often labels were drawn; p-values below what so many can tell are by the law.
    """

    p_values: Floats
    each: float
    draws: int

    @property
    def method(self) -> str:
        """How p-values hold for all segments."""
        if not self.draws:
            return HOLM
        drawn = (
            f"{self.draws} draws of labels from the scores, the largest range of all tested segments in each"
        )
        return f"{drawn}; below {1.0 / (self.draws + 1):g}: {HOLM}"


def joint(
    entries: Crossed, found: Segments, tested: Booleans, *, names: Sequence[str], depth: int, error: float
) -> Joint:
    """Return p-values of the tested segments that hold for all at once, by steps from the smallest.

    Where entries are few, or segments small, labels are drawn from the scores, and the largest range of all
    segments is looked at in each draw: that is exact, heeds that segments overlap and that few rows take few
    steps. Below what draws can tell, and elsewhere, the law of each segment is joined by Holm's steps. Draws
    are in the order of the names of columns.

    References:
        Holm (1979), Scand. J. Statist. 6; Westfall & Young (1993), Resampling-Based Multiple Testing.
    """
    places = np.flatnonzero(tested)
    by_law = np.array(holm(found.p_values()[places].tolist()), np.float64)
    choices = list(sets_of_columns(len(entries.sizes), depth))
    draws = _draws(entries.rows.size * len(choices), places.size) if isinstance(entries, Entries) else 0
    if not (draws and isinstance(entries, Entries)):
        return Joint(by_law, error / max(places.size, 1), draws)
    worth = found.worth(found.sigma)[places]
    order = np.argsort(-worth, kind="stable")
    ranked, as_large, largest = subset(found, places[order]), np.zeros(places.size, np.int64), []
    for sigma in _drawn(entries, found, choices, names=names, draws=draws):
        drawn = ranked.worth(sigma[:, places[order]])
        drawn = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
        # Draws equal to the observation up to rounding count as equal.
        as_large += (drawn >= worth[order] * (1.0 - 1e-9)).sum(axis=0)
        largest.append(drawn[:, 0])
    by_draws, least = np.empty(places.size), 1.0 / (draws + 1)
    by_draws[order] = np.maximum.accumulate((1 + as_large) / (draws + 1))
    rank = min(math.ceil((1.0 - error) * (draws + 1)), draws) - 1
    each = range_tail(float(np.sort(np.concatenate(largest))[rank]))
    return Joint(np.where(by_draws > least, by_draws, np.minimum(by_law, least)), each, draws)


def _draws(entries: int, segments: int) -> int:
    """Return how often labels are drawn."""
    if not segments or entries > min(10 * _MOST_DRAWN, max(_MOST_DRAWN, _SMALL * segments)):
        return 0
    return DRAWS if entries <= _MOST_DRAWN else _FEW_DRAWS


def _drawn(
    entries: Entries,
    found: Segments,
    choices: Sequence[tuple[int, ...]],
    *,
    names: Sequence[str],
    draws: int,
) -> Iterator[Floats]:
    """Yield the ranges of all segments for draws of labels from the scores, shape (some draws, n)."""
    score, unit = np.clip(entries.score, 0.0, 1.0), np.sqrt(found.variance)
    # Not in the order in which columns are named.
    by_name = sorted(range(len(names)), key=names.__getitem__, reverse=True)
    turn = np.lexsort((entries.at, *(entries.levels[place][entries.leaf] for place in by_name)))
    back = np.argsort(turn)
    cells = DrawCells(
        score[turn], entries.rows[turn].astype(np.int64), np.arange(score.size), coarsened=False
    )
    crossed = [_apart(_codes(entries, chosen)[0][entries.leaf]) for chosen in choices]
    tied, generator = entries.tied, stream(DEFAULT_SEED, Purpose.SEGMENTS)
    for positive in calibrated_positives(cells, draws=draws, generator=generator):
        residual = positive[:, back] - entries.rows * score
        size = []
        for order, new in crossed:
            low, high, _ = _reach(residual[:, order], entries.at[order] if tied else None, new)
            size.append(high - low)
        yield _over(np.concatenate(size, axis=1), unit)


@dataclass(frozen=True, slots=True, eq=False)
class BiasEnds:
    """Ends of intervals of mean score less the mean chance of a label, that hold for all segments at once."""

    lower: Floats
    upper: Floats


def bias_bounds(found: Segments, *, delta: float) -> BiasEnds:
    """Return bounds of the bias of every segment, each end failing with probability at most `delta`.

    By the scores alone it is settled which of two bounds is taken: that of Clopper and Pearson, or the one of
    the normal law with a proven error, which is shorter where scores tell the rows of a segment apart.
    """
    low, high = rate_bounds(found.positive, found.rows, delta_each_side=delta)
    ends = found.score - high, found.score - low
    as_one = found.rows * found.score * (1.0 - found.score)
    by_counts = np.hypot(normal_quantile(delta) * np.sqrt(as_one), 0.5 * math.log(1.0 / delta))
    apart = np.flatnonzero(found.variance < 0.95 * as_one)
    by_scores = np.array([sum_margin(one, delta=delta) for one in found.variance[apart].tolist()])
    shorter = apart[by_scores < by_counts[apart]]
    squares = found.squares[shorter].tolist()
    margin = np.array([sum_margin(one, delta=delta) for one in squares]) / found.rows[shorter]
    ends[0][shorter], ends[1][shorter] = found.bias[shorter] - margin, found.bias[shorter] + margin
    return BiasEnds(np.maximum(ends[0], found.score - 1.0), np.minimum(ends[1], found.score))


# Labels that follow a column as closely by chance have a probability of e to the power of minus this at most.
_HARDLY = 14.0


def settles_labels(rows: Counts, ones: Counts) -> bool:
    """Whether each value of a column has one label alone, where labels hardly follow values so by chance.

    Of all ways to deal the labels out to rows at most 2^k give each of k values one label alone; `rows` and
    `ones` are those of each value, shape (k,).
    """
    many, events = float(rows.sum()), float(ones.sum())
    ways = math.lgamma(many + 1.0) - math.lgamma(events + 1.0) - math.lgamma(many - events + 1.0)
    by_chance = np.count_nonzero(rows) * math.log(2.0) - ways
    return bool(by_chance <= -_HARDLY and ((ones == 0) | (ones == rows)).all())


def smallest_detectable(found: Segments, *, error: float) -> Floats:
    """Return the bias of every segment that is found with probability 0.8, at an error probability for each.

    It is one of the same sign everywhere; labels vary as such do, by the sign by which they vary more.
    """
    critical = crossing(lambda r: -range_tail(r) + error, 0.0, 60.0)[1]
    needed = np.full(found.size, critical)
    for _ in range(30):
        # The range that is worth so much; the ratio falls slowly, so that steps towards it are few.
        worth = straightened(needed, found.variance, found.skewness)
        needed = needed * critical / worth
    size = least = needed * np.sqrt(found.variance)
    for _ in range(30):
        # Rates that are off by as much have this variance more; a root changes by less than what is under it.
        more = np.maximum(size * np.abs(1.0 - 2.0 * found.score) - size**2 / found.rows, 0.0)
        size = least + normal_quantile(DETECTED) * np.sqrt(found.variance + more)
    return np.asarray(size / found.rows)


class ByCells:
    """Rows, labels and residuals of every set of columns by cell of the score, added up when asked for.

    Cells are those in which rows are kept, or else of about as much of all as `_shares` says, equal scores in
    one.
    """

    def __init__(self, entries: Crossed, depth: int) -> None:
        self.sizes = entries.sizes
        self._entries = entries
        self._found: dict[tuple[str, tuple[int, ...]], Floats] = {}
        if isinstance(entries, Entries):
            most = min(max(_FINE // segments_within(entries.sizes, depth), _CELLS), _MOST_FINE)
            self._cell = _cells(entries.rows, entries.at, most)
            self._many = int(self._cell[-1]) + 1

    def of(self, what: str, columns: tuple[int, ...]) -> Floats:
        """Return `rows`, `positive` or `residual` by the levels of some columns, and by cell."""
        key = what, columns
        if key not in self._found:
            self._found[key] = self._added(what, columns)
        return self._found[key]

    def _added(self, what: str, columns: tuple[int, ...]) -> Floats:
        entries, shape = self._entries, tuple(self.sizes[column] for column in columns)
        if isinstance(entries, InCells):
            return entries.cells.table(what, columns)
        place = key_of(entries.sizes, entries.levels, columns) * self._many
        found = _added(
            place.take(entries.leaf) + self._cell, getattr(entries, what), math.prod(shape) * self._many
        )
        return found.reshape((*shape, self._many))


def beyond(cells: ByCells, large: Level, added: Sequence[Sequence[int]]) -> dict[Level, float]:
    """Return for parts of a segment how probable their difference from it is, were they draws of its rows.

    In each cell of the score the labels of a part are compared with those of the segment, given how many of
    these are 1: differences are added up over the score, and their range has the law of any other. That the
    segment itself is not calibrated does not matter.

    Args:
        added: The parts are its intersections with the levels of these further columns, for each such set.

    References:
        Mantel & Haenszel (1959), J. Natl. Cancer Inst. 22, for the variances.
    """
    own = columns_of(large)
    at = tuple(large[column] for column in own)
    rows, positive, residual = (cells.of(what, own)[at] for what in ("rows", "positive", "residual"))
    mean = np.clip((positive - residual) / np.maximum(rows, 1.0), 0.0, 1.0)
    number = _numbers(np.minimum(_CELLS * _shares(rows, mean), rows / _ROWS_OF_A_CELL))
    starts = np.flatnonzero(np.diff(number, prepend=-1.0))
    all_rows, positive, every = (np.add.reduceat(one, starts) for one in (rows, positive, residual))
    scatter = positive * (all_rows - positive) / np.maximum(all_rows - 1.0, 1.0)
    found = {}
    for columns in added:
        both = tuple(sorted((*own, *columns)))
        inside = tuple(large[column] if column in own else slice(None) for column in both)
        shape = tuple(cells.sizes[column] for column in columns)
        few, own_sums = (
            np.add.reduceat(cells.of(what, both)[inside].reshape(-1, number.size), starts, axis=1)
            for what in ("rows", "residual")
        )
        share = few / np.maximum(all_rows, 1.0)
        variance = (share * (1.0 - share) * scatter).sum(axis=1)
        path = np.cumsum(own_sums - share * every, axis=1)
        jump = np.maximum(path.max(axis=1), 0.0) - np.minimum(path.min(axis=1), 0.0)
        # Jumps of the size of a whole label are the most skewed.
        worth = straightened(_over(jump, np.sqrt(variance)), variance, np.ones_like(variance))
        for one in np.flatnonzero(few.any(axis=1)).tolist():
            level = [*large]
            for column, own_level in zip(columns, np.unravel_index(one, shape), strict=True):
                level[column] = int(own_level)
            enough = variance[one] >= LEAST_SPREAD
            found[tuple(level)] = range_tail(float(worth[one])) if enough else 1.0
    return found


def _shares(rows: Counts, score: Floats) -> Floats:
    """Return how much of all is at each score: half by rows and half by the variance of labels.

    By rows alone one cell would hold every high score where these are rare, and a part of the higher ones
    would differ from a segment that is wrong by the same curve.
    """
    variance = rows * score * (1.0 - score)
    shares = rows / max(float(rows.sum()), 1.0)
    return np.asarray(0.5 * (shares + variance / variance.sum()) if variance.any() else shares)


def _numbers(width: Floats) -> Floats:
    """Return the number of each cell among wider ones of width 1, by where it ends."""
    return np.floor(np.cumsum(width) * (1.0 - 1e-12))


def _cells(rows: Whole, at: Floats, most: int) -> Whole:
    """Return cells of about as much of all each, equal scores in one."""
    last = _last_of_each(at)
    # Whole numbers, so that the order of equal scores plays no part.
    many = np.diff(np.cumsum(rows, dtype=np.int64)[last], prepend=0)
    number = _numbers(most * _shares(many, at[last]))
    cell = np.cumsum(np.diff(number, prepend=number[0]) > 0, dtype=np.int64)
    return np.repeat(narrow(cell), np.diff(last, prepend=-1))


def _last_of_each(at: Floats) -> Indices:
    """Return the places of the last of each run of equal values; there are some."""
    return np.append(run_starts(at)[1:], at.size) - 1


def in_segment(entries: Entries, level: Level) -> Booleans:
    return _leaves_in(entries, level)[entries.leaf]


def _leaves_in(entries: Entries, level: Level) -> Booleans:
    found = np.ones(entries.levels.shape[1], np.bool_)
    for column, one in enumerate(level):
        if one != ANY:
            found &= entries.levels[column] == one
    return found


def columns_of(level: Level) -> tuple[int, ...]:
    """Return the columns that a segment is told by."""
    return tuple(column for column, one in enumerate(level) if one != ANY)


def without(entries: Crossed, large: Level, small: Level, *, least: float = 0.0) -> float:
    """Return how probable the range in a segment without one of its parts is, were the rest calibrated.

    What is surely below `least` is not worked out further: the range is no smaller than the whole sum.
    """
    seen = entries.of(columns_of(small), large)
    leaves = _leaves_in(seen, large) & ~_leaves_in(seen, small)
    residual, total, slant = (seen.sums[k][leaves].sum(keepdims=True) for k in (3, 4, 6))
    if not total[0]:
        return 1.0

    def tail(size: Floats) -> float:
        return range_tail(float(straightened(size / np.sqrt(total), total, np.sqrt(slant / total))[0]))

    if (found := tail(np.abs(residual))) <= least:
        return found
    (low, _), (high, _) = _ends(seen, leaves)
    return tail(np.array([high - low]))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Scores between which the cumulative residuals of a segment rise or fall most; `gap` is mean score less
    observed rate of its rows there.
    """

    lower: float
    upper: float
    rows: int
    gap: float


def stretch_of(entries: Crossed, level: Level) -> Stretch:
    """Return where the scores of a segment are wrong in one direction: what its statistic is the range of."""
    seen = entries.of(columns_of(level), level)
    leaves = _leaves_in(seen, level)
    start, stop = sorted(place for _, place in _ends(seen, leaves))
    inside = start + np.flatnonzero(leaves.take(seen.leaf[start:stop]))
    if not inside.size:
        # Nothing is wrong.
        inside = np.flatnonzero(leaves.take(seen.leaf))[:1]
    many, score = float(seen.rows[inside].sum()), seen.score[inside]
    gap = -float(seen.residual[inside].sum()) / many
    return Stretch(float(score.min()), float(score.max()), int(many), gap)


def _ends(entries: Entries, leaves: Booleans) -> tuple[tuple[float, int], tuple[float, int]]:
    """Return how low and how high the sums of residuals of some combinations come, and before which entry."""
    path, low, high = 0.0, (0.0, 0), (0.0, 0)
    for start, stop in pairwise(_runs(entries.at, tied=entries.tied)):
        inside = np.flatnonzero(leaves.take(entries.leaf[start:stop]))
        if not inside.size:
            continue
        steps = np.cumsum(entries.residual[start:stop].take(inside)) + path
        path = float(steps[-1])
        if entries.tied:
            last = _last_of_each(entries.at[start:stop][inside])
            steps, inside = steps[last], inside[last]
        for value, place in (
            (float(steps[one]), int(inside[one])) for one in (steps.argmin(), steps.argmax())
        ):
            low = (value, start + place + 1) if value < low[0] else low
            high = (value, start + place + 1) if value > high[0] else high
    return low, high
