"""
Calibration in every segment of the rows at once.

A segment is the rows that agree in the levels of some columns. Which segments there are never depends on a
label, so that all that is said here holds given scores and columns.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from calibcli.ahead import in_order
from calibcli.names import DEFAULT_SEED, Purpose
from calibcli.stats.bounds.proportion import rate_bounds, sum_margin
from calibcli.stats.bounds.resampling import DrawCells, calibrated_positives, range_tail
from calibcli.stats.measures.if_calibrated import DRAWS
from calibcli.stats.numerics import crossing, normal_quantile, stream
from calibcli.stats.table import Floats, Integers
from calibcli.values import dataclass

Booleans = npt.NDArray[np.bool_]

# Segments whose labels would have a smaller variance are not tested: the law of the range is not true there.
LEAST_SPREAD = 5.0
# With this chance an error of the smallest detectable size is seen.
DETECTED = 0.8
# Score cells in which a segment is compared with a larger one, and rows of that one that each has at least.
_CELLS, _ROWS_OF_A_CELL = 256, 20
# Labels are drawn for at most so many entries, those of every set of columns added up; fewer times for up to
# ten times as many where segments are small, as the law is too careful there.
_MOST_DRAWN, _FEW_DRAWS, _SMALL = 80_000, 199, 750
# Of so many entries on as many sets of columns are crossed at once: sorting and adding up share cores.
_MANY, _AT_ONCE = 50_000, 2
# The level of a segment in a column of which it has all rows.
ANY = -1
Level = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """
    Rows that agree in every column and in their score, or in the cell of it, ascending; arrays of shape (n,).

    Args:
        level: The level of each column, shape (n_columns, n).
        sizes: How many levels each column has.
        at: The score, or the cell of it: entries with the same are one step of a path.
        score: The score, or its mean where rows share a cell.
        residual: Sum of label less score.
        variance: Sum of score (1 - score).
        squares: Sum of squared residuals.
    """

    level: npt.NDArray[np.int16]
    sizes: tuple[int, ...]
    at: Floats
    score: Floats
    rows: Floats
    positive: Floats
    residual: Floats
    variance: Floats
    squares: Floats

    @classmethod
    def of_table(
        cls,
        level: Integers,
        sizes: Sequence[int],
        at: Floats,
        *,
        rows: Integers,
        positive: Integers,
        scores: tuple[Floats, Floats],
    ) -> "Entries":
        """Return entries; `scores` are the sums of the scores of rows with label 1 and with label 0."""
        order = _order(at)
        many, ones = rows[order].astype(np.float64), positive[order].astype(np.float64)
        of_ones, of_others = scores[0][order], scores[1][order]
        mean = (of_ones + of_others) / many
        missed = ones - of_ones
        return cls(
            level.astype(np.int16)[:, order],
            tuple(sizes),
            at[order],
            mean,
            many,
            ones,
            missed - of_others,
            many * mean * (1.0 - mean),
            _square_over(missed, ones) + _square_over(of_others, many - ones),
        )


def _order(values: Floats) -> Integers:
    """Return the order of values, equal ones as they come: the fast sort is right where none are equal."""
    order = np.argsort(values)
    ascending = values[order]
    if (ascending[1:] == ascending[:-1]).any():
        order = np.argsort(values, kind="stable")
    return order


def _square_over(total: Floats, many: Floats) -> Floats:
    return np.divide(total * total, many, out=np.zeros_like(total), where=many > 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """
    Every segment that has rows; arrays of shape (n,).

    Args:
        level: Its level in each column, -1 where it has all of them; shape (n, n_columns).
        score: Mean score.
        residual: Sum of label less score.
        variance: What the sum of the labels would have were the scores their chances.
        squares: Sum of squared residuals.
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
        """How many there are."""
        return int(self.rows.size)

    @property
    def bias(self) -> Floats:
        """Mean score less observed rate: above 0 where scores are too high."""
        return -self.residual / self.rows

    def p_values(self) -> Floats:
        """
        Return how probable so large a range is in each segment by itself, were it calibrated.

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
    with np.errstate(divide="ignore", invalid="ignore"):
        x = skewness * sigma / np.sqrt(variance)
        # (1 + x) log(1 + x) - x, over x^2 / 2, is 1 - x / 3 for small x.
        ratio = np.where(x > 1e-4, 2.0 * ((1.0 + x) * np.log1p(x) - x) / (x * x), 1.0 - x / 3.0)
    return np.asarray(sigma * np.sqrt(ratio))


def subset(found: Segments, places: Integers) -> Segments:
    """Return some of the segments, in this order."""
    return Segments(*(one[places] for one in _arrays(found)))


def rows_of(entries: Entries, found: Segments, some: Booleans) -> int:
    """Return how many rows belong to any of some segments."""
    inside = np.zeros(entries.rows.size, np.bool_)
    told = found.level != ANY
    for which in np.unique(told[some], axis=0):
        columns = np.flatnonzero(which).tolist()
        alike = found.level[some & (told == which).all(axis=1)]
        code, wanted = _codes(entries, columns)[0], np.zeros(alike.shape[0], np.int64)
        for column in columns:
            wanted = wanted * entries.sizes[column] + alike[:, column]
        inside |= np.isin(code, wanted)
    return int(entries.rows[inside].sum())


def segments_of(entries: Entries, *, depth: int) -> Segments:
    """Return every intersection of levels of at most so many columns, that of none first: all rows."""
    score = entries.score
    slant = entries.variance * (1.0 - 2.0 * score) ** 2
    each = (entries.rows, entries.positive, entries.rows * score, entries.residual, entries.variance)
    crossed = partial(_crossed, entries, columns=(*each, entries.squares, slant), tied=_are_tied(entries))
    found = list(in_order(crossed, _choices(entries, depth), _AT_ONCE if entries.rows.size > _MANY else 1))
    whole = Segments(*(np.concatenate(parts) for parts in zip(*map(_arrays, found), strict=True)))
    return replace(whole, same=_repeated(whole))


def _choices(entries: Entries, depth: int) -> Iterator[tuple[int, ...]]:
    """Yield every set of at most so many columns, that of none first."""
    columns = range(len(entries.sizes))
    return chain.from_iterable(combinations(columns, many) for many in range(min(depth, len(columns)) + 1))


def _are_tied(entries: Entries) -> bool:
    return bool((entries.at[1:] == entries.at[:-1]).any())


def _arrays(found: Segments) -> tuple[npt.NDArray[Any], ...]:
    return tuple(getattr(found, name) for name in Segments.__dataclass_fields__)


def _crossed(entries: Entries, chosen: Sequence[int], *, columns: Sequence[Floats], tied: bool) -> Segments:
    """Return the segments that the levels of some columns make."""
    code, order, new = _apart(entries, chosen)
    own = code[order[new]]
    rows, positive, score, residual, variance, squares, slant = (
        _added(code, column)[own] for column in columns
    )
    share = np.maximum(variance, np.finfo(np.float64).tiny)
    level = np.full((new.size, len(entries.sizes)), ANY, np.int64)
    level[:, list(chosen)] = entries.level[:, order[new]].T[:, list(chosen)]
    return Segments(
        level,
        rows,
        positive,
        score / rows,
        residual,
        variance,
        squares,
        np.sqrt(slant / share),
        _over(_ranges(entries.residual[order], entries.at[order] if tied else None, new), np.sqrt(variance)),
        np.zeros(new.size, np.bool_),
    )


def _apart(entries: Entries, chosen: Sequence[int]) -> tuple[Integers, Integers, Integers]:
    """Return the number of each entry's segment, the order that sorts by it, and where segments begin."""
    code, size = _codes(entries, chosen)
    if size > 1 << 16:
        code = np.unique(code, return_inverse=True)[1].reshape(-1)
    # Eight and sixteen bits are sorted by radix.
    small = np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.int64
    few = code.astype(small, copy=False)
    order = np.argsort(few, kind="stable")
    apart = few[order]
    return code, order, np.flatnonzero(np.concatenate(([True], apart[1:] != apart[:-1])))


def _over(size: Floats, unit: Floats) -> Floats:
    """Return sizes in units; infinite where labels could not differ from the scores, and did."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(size > 0.0, size / unit, 0.0)


def _added(code: Integers, column: Floats, size: int = 0) -> Floats:
    return np.asarray(np.bincount(code, weights=column, minlength=size), np.float64)


def _ranges(residual: Floats, at: Floats | None, new: Integers) -> Floats:
    """
    Return the range, 0 included, of the sums of residuals from the start of each segment; ties are one.

    Residuals may be those of many draws, shape (draws, n).
    """
    path = np.cumsum(residual, axis=-1)
    start, first = np.zeros((*path.shape[:-1], new.size)), new
    start[..., 1:] = path[..., new[1:] - 1]
    if at is not None:
        last = np.concatenate((at[1:] != at[:-1], [True]))
        last[new[1:] - 1] = True
        ends = np.flatnonzero(last)
        path, first = path[..., ends], np.searchsorted(ends, new)
    high = np.maximum(np.maximum.reduceat(path, first, axis=-1), start)
    low = np.minimum(np.minimum.reduceat(path, first, axis=-1), start)
    return np.asarray(high - low)


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
    """
    What holds for all tested segments at once.

    Args:
        p_values: Of the tested segments, in their order.
        each: The level at which one segment by itself stands out.
        draws: How often labels were drawn; p-values below what so many can tell are by the law.
    """

    p_values: Floats
    each: float
    draws: int


def joint(entries: Entries, found: Segments, tested: Booleans, *, depth: int, error: float) -> Joint:
    """
    Return p-values of the tested segments that hold for all at once, by steps from the smallest.

    Where entries are few, or segments small, labels are drawn from the scores, and the largest range of all
    segments is looked at in each draw: that is exact, heeds that segments overlap and that few rows take few
    steps. Below what draws can tell, and elsewhere, the law of each segment is joined by Holm's steps.

    References:
        Holm (1979), Scand. J. Statist. 6; Westfall & Young (1993), Resampling-Based Multiple Testing.
    """
    places = np.flatnonzero(tested)
    by_law = holm(found.p_values()[places])
    choices = list(_choices(entries, depth))
    draws = _draws(entries.rows.size * len(choices), places.size)
    if not draws:
        return Joint(by_law, error / max(places.size, 1), draws)
    worth = found.worth(found.sigma)[places]
    order = np.argsort(-worth, kind="stable")
    ranked, as_large, largest = subset(found, places[order]), np.zeros(places.size, np.int64), []
    for sigma in _drawn(entries, found, choices, draws=draws):
        drawn = ranked.worth(sigma[:, places[order]])
        drawn = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
        # Draws equal to the observation up to rounding count as equal.
        as_large += (drawn >= worth[order] * (1.0 - 1e-9)).sum(axis=0)
        largest.append(drawn[:, 0])
    by_draws, least = np.empty(places.size), 1.0 / (draws + 1)
    by_draws[order] = np.maximum.accumulate((1 + as_large) * least)
    rank = min(math.ceil((1.0 - error) * (draws + 1)), draws) - 1
    each = range_tail(float(np.sort(np.concatenate(largest))[rank]))
    return Joint(np.where(by_draws > least, by_draws, np.minimum(by_law, least)), each, draws)


def _draws(entries: int, segments: int) -> int:
    """Return how often labels are drawn."""
    if not segments or entries > min(10 * _MOST_DRAWN, max(_MOST_DRAWN, _SMALL * segments)):
        return 0
    return DRAWS if entries <= _MOST_DRAWN else _FEW_DRAWS


def _drawn(
    entries: Entries, found: Segments, choices: Sequence[tuple[int, ...]], *, draws: int
) -> Iterator[Floats]:
    """Yield the ranges of all segments for draws of labels from the scores, shape (some draws, n)."""
    score, unit = np.clip(entries.score, 0.0, 1.0), np.sqrt(found.variance)
    cells = DrawCells(score, entries.rows.astype(np.int64), np.arange(score.size), coarsened=False)
    crossed = [_apart(entries, chosen)[1:] for chosen in choices]
    tied, generator = _are_tied(entries), stream(DEFAULT_SEED, Purpose.SEGMENTS)
    for positive in calibrated_positives(cells, draws=draws, generator=generator):
        residual = positive - entries.rows * score
        size = [
            _ranges(residual[:, order], entries.at[order] if tied else None, new) for order, new in crossed
        ]
        yield _over(np.concatenate(size, axis=1), unit)


def holm(p_values: Floats) -> Floats:
    """
    Return p-values that hold for all at once, by steps from the smallest.

    References:
        Holm (1979), Scand. J. Statist. 6.
    """
    order = np.argsort(p_values, kind="stable")
    steps = np.minimum(1.0, p_values[order] * np.arange(p_values.size, 0, -1))
    found = np.empty_like(p_values)
    found[order] = np.maximum.accumulate(steps)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Ends of intervals of mean score less the mean chance of a label, that hold for all segments at once."""

    lower: Floats
    upper: Floats


def bias_bounds(found: Segments, *, delta: float) -> Ends:
    """
    Return bounds of the bias of every segment, each end failing with probability at most `delta`.

    By the scores alone it is settled which of two bounds is taken: that of Clopper and Pearson, or the one of
    the normal law with a proven error, which is shorter where scores tell the rows of a segment apart.
    """
    low, high = rate_bounds(found.positive, found.rows, delta_each_side=delta)
    ends = found.score - high, found.score - low
    as_one = found.rows * found.score * (1.0 - found.score)
    reach = -normal_quantile(delta)
    level = 0.5 * math.log(1.0 / delta)
    for place in np.flatnonzero(found.variance < 0.95 * as_one).tolist():
        rows = float(found.rows[place])
        by_counts = math.hypot(reach * math.sqrt(float(as_one[place])), level)
        if sum_margin(float(found.variance[place]), delta=delta) < by_counts:
            margin = sum_margin(float(found.squares[place]), delta=delta) / rows
            ends[0][place], ends[1][place] = found.bias[place] - margin, found.bias[place] + margin
    return Ends(np.maximum(ends[0], found.score - 1.0), np.minimum(ends[1], found.score))


def smallest_detectable(found: Segments, *, error: float) -> Floats:
    """
    Return the bias of every segment that is found with probability 0.8, at an error probability for each.

    It is one of the same sign everywhere; variances are those of calibrated scores.
    """
    critical = crossing(lambda r: -range_tail(r) + error, 0.0, 60.0)[1]
    needed = np.full(found.size, critical)
    for _ in range(30):
        # The range that is worth so much; the ratio falls slowly, so that steps towards it are few.
        worth = straightened(needed, found.variance, found.skewness)
        needed = needed * critical / worth
    return np.asarray((needed + normal_quantile(DETECTED)) * np.sqrt(found.variance) / found.rows)


def beyond(entries: Entries, large: Level, added: Sequence[Sequence[int]]) -> dict[Level, float]:
    """
    Return for parts of a segment how probable their difference from it is, were they draws of its rows.

    In each cell of the score the labels of a part are compared with those of the segment, given how many of
    these are 1: differences are added up over the score, and their range has the law of any other. That the
    segment itself is not calibrated does not matter.

    Args:
        entries: All rows.
        large: The segment.
        added: The parts are its intersections with the levels of these further columns, for each such set.

    References:
        Mantel & Haenszel (1959), J. Natl. Cancer Inst. 22, for the variances.
    """
    inside = np.flatnonzero(in_segment(entries, large))
    rows, residual = entries.rows[inside], entries.residual[inside]
    cell, cells = _score_cells(entries.at[inside], rows)
    all_rows, every = _added(cell, rows), _added(cell, residual)
    positive = _added(cell, entries.positive[inside])
    scatter = positive * (all_rows - positive) / np.maximum(all_rows - 1.0, 1.0)
    found = {}
    for columns in added:
        code, size = _codes(entries, columns)
        place = code[inside] * cells + cell
        few, own = (_added(place, one, size * cells).reshape(size, cells) for one in (rows, residual))
        share = few / all_rows
        variance = (share * (1.0 - share) * scatter).sum(axis=1)
        path = np.cumsum(own - share * every, axis=1)
        jump = np.maximum(path.max(axis=1), 0.0) - np.minimum(path.min(axis=1), 0.0)
        # Jumps of the size of a whole label are the most skewed.
        worth = straightened(_over(jump, np.sqrt(variance)), variance, np.ones_like(variance))
        for one in np.flatnonzero(few.any(axis=1)).tolist():
            level, rest = [*large], one
            for column in reversed(columns):
                rest, level[column] = divmod(rest, entries.sizes[column])
            enough = variance[one] >= LEAST_SPREAD
            found[tuple(level)] = range_tail(float(worth[one])) if enough else 1.0
    return found


def _codes(entries: Entries, columns: Sequence[int]) -> tuple[Integers, int]:
    """Return one number for the levels of some columns, and how many numbers there may be."""
    if not columns:
        return np.zeros(entries.rows.size, np.int64), 1
    code, size = entries.level[columns[0]].astype(np.int64), entries.sizes[columns[0]]
    for column in columns[1:]:
        code *= entries.sizes[column]
        code += entries.level[column]
        size *= entries.sizes[column]
    return code, size


def in_segment(entries: Entries, level: Level) -> Booleans:
    """Return which entries are of a segment."""
    found = np.ones(entries.rows.size, np.bool_)
    for column, one in enumerate(level):
        if one != ANY:
            found &= entries.level[column] == one
    return found


def _score_cells(at: Floats, rows: Floats) -> tuple[Integers, int]:
    """Return cells of about equally many rows, equal scores in one, and how many cells there are."""
    before = np.cumsum(rows)
    last = np.flatnonzero(np.concatenate((at[1:] != at[:-1], [True])))
    # Of equal scores the rows up to the last count for all.
    upto = np.repeat(before[last], np.diff(last, prepend=-1))
    most = min(_CELLS, max(1, int(before[-1] // _ROWS_OF_A_CELL)))
    number = np.minimum((upto * most / before[-1]).astype(np.int64), most - 1)
    cell = np.cumsum(np.diff(number, prepend=number[0]) > 0)
    return cell, int(cell[-1]) + 1


def without(entries: Entries, large: Level, small: Level) -> float:
    """Return how probable the range in a segment without one of its parts is, were the rest calibrated."""
    inside = np.flatnonzero(in_segment(entries, large) & ~in_segment(entries, small))
    variance = entries.variance[inside]
    total = np.array([variance.sum()])
    if not total[0]:
        return 1.0
    slant = np.sqrt(np.array([(variance * (1.0 - 2.0 * entries.score[inside]) ** 2).sum()]) / total)
    size = _ranges(entries.residual[inside], entries.at[inside], np.zeros(1, np.int64))
    return range_tail(float(straightened(size / np.sqrt(total), total, slant)[0]))


@dataclass(frozen=True, slots=True)
class Stretch:
    """
    Scores between which the cumulative residuals of a segment rise or fall most.

    Args:
        gap: Mean score less observed rate of its rows there.
    """

    lower: float
    upper: float
    rows: int
    gap: float


def stretch_of(entries: Entries, level: Level) -> Stretch:
    """Return where the scores of a segment are wrong in one direction: what its statistic is the range of."""
    inside = np.flatnonzero(in_segment(entries, level))
    at, rows, residual = entries.at[inside], entries.rows[inside], entries.residual[inside]
    ends = np.concatenate(([0], np.flatnonzero(np.concatenate((at[1:] != at[:-1], [True]))) + 1))
    path = np.concatenate(([0.0], np.cumsum(residual)))[ends]
    start, stop = sorted((int(ends[path.argmin()]), int(ends[path.argmax()])))
    stop = max(stop, start + 1)
    many, score = float(rows[start:stop].sum()), entries.score[inside][start:stop]
    return Stretch(
        float(score.min()), float(score.max()), int(many), -float(residual[start:stop].sum()) / many
    )
