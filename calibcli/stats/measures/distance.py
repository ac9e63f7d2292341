"""Distances to calibration, from above and from below, and the smooth calibration error."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibcli.names import DEFAULT_SEED, MeasureName, Target
from calibcli.stats.bounds import Interval, betting
from calibcli.stats.bounds.proportion import hoeffding_deviation
from calibcli.stats.bounds.resampling import label_draws
from calibcli.stats.measures import (
    HELD_OUT,
    NO_WEIGHTED_INTERVAL,
    UNKNOWN,
    Estimate,
    Reference,
    effective_rows,
)
from calibcli.stats.measures.bias import error_shares
from calibcli.stats.measures.if_calibrated import Measures, of_draws
from calibcli.stats.measures.smooth_ece import weighed
from calibcli.stats.numerics import crossing
from calibcli.stats.table import Floats, Indices, Integers, run_starts
from calibcli.stats.table.bins import equal_width_edges, segment_sums
from calibcli.stats.table.grid import CELLS, Table, residuals
from calibcli.values import dataclass

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# More scores than this are gathered in two pieces to a finer bin.
_AS_THEY_ARE = 1_024

_LEAST_FINER = 256

# So many draws of labels tell what is expected if calibrated, within 2 % of its noise.
_DRAWS = 400

# Rows of the table worked on at once: their powers stay in the processor's cache.
_CHUNK = 1 << 14

_LABEL = np.array([[1.0], [0.0]])


@dataclass(frozen=True, slots=True, eq=False)
class CutTable:
    """Pieces of a table and the bins they make up.

    Args:
        middle: The midpoint of each piece's bin, 0 and 1 for those of scores 0 and 1, shape (n_pieces,).
        starts: The first piece of each bin, shape (n_bins + 1,), ending with n_pieces.
    """

    pieces: betting.Pieces
    middle: Floats
    starts: Indices

    @property
    def bins(self) -> int:
        """Number of bins of equal width."""
        return self.starts.size - 3

    @property
    def gap(self) -> betting.Quadratic:
        """Label - midpoint."""
        level = np.broadcast_to(_LABEL - self.middle, self.pieces.centre.shape)
        return betting.Quadratic(level, np.zeros_like(level))

    @property
    def moved(self) -> betting.Quadratic:
        """|Score - midpoint|."""
        away = self.pieces.centre - self.middle
        return betting.Quadratic(np.abs(away), np.sign(away))

    @property
    def residual(self) -> betting.Quadratic:
        """Label - score."""
        return betting.Quadratic(_LABEL - self.pieces.centre, np.full_like(self.pieces.centre, -1.0))

    @property
    def tilted(self) -> betting.Quadratic:
        """(Label - score) (2 score - 1)."""
        centre = self.pieces.centre
        level = (_LABEL - centre) * (2.0 * centre - 1.0)
        return betting.Quadratic(level, 2.0 * _LABEL + 1.0 - 4.0 * centre, -2.0)

    @property
    def finer(self) -> "CutTable":
        """The same pieces in as many times more bins as make each of two pieces of a large table."""
        count = finer_bins(self.bins)
        place = self.pieces.centre.mean(axis=0)
        bin_of = np.searchsorted(equal_width_edges(count)[1:-1], place)
        bin_of = np.where(place > 0.0, np.where(place < 1.0, bin_of, count), -1)
        starts = np.searchsorted(bin_of, np.arange(-1, count + 2))
        return CutTable(self.pieces, np.clip((bin_of + 0.5) / count, 0.0, 1.0), starts)

    @property
    def each(self) -> "CutTable | None":
        """Every score by itself; None if they are too many, or if several may share a cell."""
        if len(self.pieces.moments) > 1 or np.any(self.pieces.centre[0] != self.pieces.centre[1]):
            return None
        centre = self.pieces.centre[0]
        return CutTable(self.pieces, centre, np.arange(centre.size + 1))

    @property
    def every(self) -> "list[CutTable]":
        """What is bet on: these bins, finer ones, and each score by itself where they are few."""
        return [one for one in (self, self.finer, self.each) if one is not None]

    def of_bins(self, values: betting.Quadratic) -> Floats:
        """Return the sum of values over each bin, shape (n_bins,)."""
        return segment_sums(self.pieces.sums(values), self.starts)


def cut_table(table: Table, *, bins: int, delta: float) -> CutTable:
    """Gather a table over equal-width bins, besides 0 and 1; `delta` is the least error of bets."""
    starts = _starts(table, bins)
    middle = np.concatenate(([0.0], (np.arange(bins) + 0.5) / bins, [1.0]))
    if table.distinct <= _AS_THEY_ARE:
        centre = np.stack((table.score_of_positive, table.score_of_negative))
        counts = np.stack((table.positive, table.weight - table.positive))
        return CutTable(betting.Pieces(centre, counts[None]), np.repeat(middle, np.diff(starts)), starts)
    parts = 2 * finer_bins(bins) // bins
    reach = 0.5 / (bins * parts)
    orders = 2 if table.weighted else betting.orders_needed(table.total_rows, delta=delta, reach=reach)
    sizes = np.concatenate(([1], np.full(bins, parts), [1]))
    return CutTable(
        pieces=_gathered(table, starts, parts=parts, orders=orders),
        middle=np.repeat(middle, sizes),
        starts=np.concatenate(([0], np.cumsum(sizes))),
    )


def _starts(table: Table, bins: int) -> Indices:
    """Return the first entry of the score 0, of each bin, and of the score 1; then the number of entries."""
    inner = np.searchsorted(table.upper, equal_width_edges(bins)[:-1], side="right")
    return np.concatenate(([0], inner, [np.searchsorted(table.upper, 1.0)], [table.distinct]))


def finer_bins(bins: int) -> int:
    """Return into how many bins the finer partition divides [0, 1]; no cell of a grid is cut by them."""
    times = math.ceil(_LEAST_FINER / bins)
    while CELLS % (bins * times):
        times += 1
    return bins * times


def _gathered(table: Table, starts: Indices, *, parts: int, orders: int) -> betting.Pieces:
    """Sum moments over the given number of equal parts of every bin, and over the scores 0 and 1."""
    count = (starts.size - 3) * parts
    centre = np.concatenate(([0.0], (np.arange(count) + 0.5) / count, [1.0]))
    columns = (
        (table.score_of_positive, table.positive),
        (table.score_of_negative, table.weight - table.positive),
    )
    moments = np.zeros((orders + 1, 2, count + 2))
    for label, (score, weight) in enumerate(columns):
        cuts = np.searchsorted(score, np.arange(count) / count, side="right").reshape(-1, parts)
        # Which bin a score belongs to is settled; the mean score of a grid's cell may be rounded across.
        cuts = np.clip(cuts, starts[1:-2, None], starts[2:-1, None])
        cuts[:, 0] = starts[1:-2]
        places = np.concatenate(([0], cuts.ravel(), starts[-2:]))
        for begin in range(0, score.size, _CHUNK):
            near = slice(begin, min(begin + _CHUNK, score.size))
            inside = np.clip(places, near.start, near.stop) - begin
            powers = np.empty((orders + 1, near.stop - begin))
            powers[0] = weight[near]
            away = score[near] - np.repeat(centre, np.diff(inside))
            for order in range(orders):
                np.multiply(powers[order], away, out=powers[order + 1])
            moments[:, label] += segment_sums(powers, inside)
    return betting.Pieces(np.stack((centre, centre)), moments)


# Of the stake on the bins of the estimate, on finer ones, and on each score by itself.
SHARES = (3 / 4, 1 / 8, 1 / 8)

ONE_POPULATION = "all rows come from one population"

BOUNDS_EVERY_FORM = "the bounds hold for the lower and for the upper distance"


def distance(table: Table, *, confidence: float = 0.95) -> Estimate:
    """An upper estimate of the mean distance from the scores to the nearest calibrated function of them.

    With K bins of midpoints m_k it is (1/n) sum_k |Y_k - n_k m_k| + (1/n) sum_i |f_i - m_k(i)|: what it takes
    to move each score to its midpoint and each midpoint to its bin's rate. The least is taken of what it is
    over K bins, over finer ones, and over each score by itself where scores are few. K depends on the number
    of rows alone: the smallest divisor of 720,720 that is at least 1.3 n^(1/3).
    """
    cut = _cut(table, confidence=confidence)
    cuts = cut.every
    found = [_to_midpoints(one) for one in cuts]
    rated, moved = min(found, key=sum)
    null = UNKNOWN
    if not table.weighted:
        null = _of_calibrated_labels(table, cuts, [away for _, away in found])
    return Estimate.of(
        MeasureName.DCE,
        table,
        rated + moved,
        distance_interval(table, cut=cut, confidence=confidence),
        null=null,
        because=(*_population(table), BOUNDS_EVERY_FORM, "the value is an upper estimate of the distance"),
        details={"bins": cut.bins, "rate_to_midpoint": rated, "score_to_midpoint": moved},
    )


def _population(table: Table) -> tuple[str, ...]:
    """Return what the bounds assume of independent rows."""
    return (HELD_OUT,) if table.weighted else (ONE_POPULATION, HELD_OUT)


def number_of_bins(rows: float) -> int:
    """Return the smallest divisor of 720,720 that is at least 1.3 n^(1/3)."""
    count = max(1, math.ceil(1.3 * math.cbrt(rows) - 1e-9))
    while CELLS % count:
        count += 1
    return count


def _cut(table: Table, *, confidence: float) -> CutTable:
    """Gather a table for every bet of the interval, the dearest being at an eighth of the error."""
    return cut_table(table, bins=number_of_bins(effective_rows(table)), delta=(1.0 - confidence) / 8.0)


def _to_midpoints(cut: CutTable) -> tuple[float, float]:
    """Return the mean distances from rates to midpoints and from scores to midpoints."""
    total = cut.pieces.rows
    rated = float(np.abs(cut.of_bins(cut.gap)).sum()) / total
    return rated, float(cut.of_bins(cut.moved).sum()) / total


def _of_calibrated_labels(table: Table, cuts: Sequence[CutTable], moved: Sequence[float]) -> Reference:
    """Return mean and range of the estimate over labels drawn from the scores."""
    bins = cuts[0].bins
    parts = [_starts(table, bins), _starts(table, finer_bins(bins)), np.arange(table.distinct + 1)][
        : len(cuts)
    ]
    drawn = label_draws(table, parts, draws=_DRAWS, generator=np.random.default_rng(DEFAULT_SEED))
    segments = [drawn.cells.segments(part) for part in parts]
    # What each bin would have if every score in it were its midpoint; of bins without a row it is 0.
    levels = [
        segment_sums(table.rows, part) * one.middle[np.minimum(one.starts[:-1], one.middle.size - 1)]
        for part, one in zip(parts, cuts, strict=True)
    ]
    values = [
        np.min(
            [
                np.abs(block.positives(some) - level).sum(axis=1) / table.total_rows + away
                for some, level, away in zip(segments, levels, moved, strict=True)
            ],
            axis=0,
        )
        for block in drawn.blocks
    ]
    return of_draws(np.concatenate(values))


def distance_interval(table: Table, *, confidence: float, cut: CutTable | None = None) -> Interval:
    """Return bounds that hold for every form of the distance: the lower, the upper and any in between.

    The upper one is of E[s_k (Y - m_k) + |f - m_k|] for the worst signs s_k, which is at least the upper
    distance, whichever bins it is taken over; the lower one of |E r| and |E[r (2f - 1)]| / 3, which are at
    most the lower distance, at three quarters and a quarter of the error. With importance weights they are
    Hoeffding's, for these scores. `cut` is the table as `distance` gathers it, if known.
    """
    delta = (1.0 - confidence) / 2.0
    cut = _cut(table, confidence=confidence) if cut is None else cut
    if table.weighted:
        rows = effective_rows(table)
        upper = min(
            sum(_to_midpoints(one)) + hoeffding_deviation(rows, share * delta)
            for share, one in zip(SHARES, cut.every, strict=False)
        )
        method, target = "Hoeffding at the effective number of rows", Target.FIXED_DESIGN
    else:
        upper = crossing(
            betting.evidence_on_signed_sum(cut.pieces, list(_signed(cut)), delta=delta), 0.0, 1.0
        )[1]
        method, target = f"betting on rows, upper over {cut.bins} bins or finer", Target.POPULATION
    level, tilt = dictionary(table, delta=delta, cut=cut)
    lower = max(level, tilt / 3.0)
    return Interval(lower, min(1.0, upper), confidence, method, target, finite_sample=True)


def is_within(table: Table, limit: float, *, delta: float) -> bool:
    """Whether the upper bound of the distance is at most a limit, without the bound, which takes longer."""
    cut = _cut(table, confidence=1.0 - 2.0 * delta)
    return (
        limit >= 1.0
        or betting.evidence_on_signed_sum(cut.pieces, list(_signed(cut)), delta=delta)(limit) >= 0.0
    )


def _signed(cut: CutTable) -> Iterator[betting.Signed]:
    """Yield what is bet on: distances by the bins, by finer ones, and by each score where they are few.

    Finer bins cost noise, and little where labels vary little, as those of rare events do.
    """
    for share, one in zip(SHARES, cut.every, strict=False):
        plus, minus = (
            betting.Quadratic(sign * one.gap.level + one.moved.level, one.moved.rise) for sign in (1.0, -1.0)
        )
        yield betting.Signed(plus, minus, one.starts, share)


def dictionary(table: Table, *, delta: float, cut: CutTable | None = None) -> tuple[float, float]:
    """Return lower bounds of |E r| and of |E[r (2f - 1)]| that hold together."""
    if cut is None:
        cut = cut_table(table, bins=number_of_bins(effective_rows(table)), delta=delta / 4.0)
    found = []
    for values, part in zip((cut.residual, cut.tilted), error_shares(delta, signs=2), strict=True):
        if table.weighted:
            size = abs(float(cut.of_bins(values).sum())) / cut.pieces.rows
            found.append(max(0.0, size - hoeffding_deviation(effective_rows(table), part / 2.0)))
        else:
            found.append(betting.lower_bound_of_size(cut.pieces, values, delta=part))
    return found[0], found[1]


# So many distinct scores are taken as they are; more are gathered in so many cells, which nest a grid's.
LOWER_CELLS = 1_008

# Even steps added to the scores as places to move to.
_STEPS = 400


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPlaces:
    """A law on places and labels.

    Args:
        place: Ascending, shape (n,), in [0, 1].
        positive: Share of rows at each place that have label 1.
        negative: Share of rows there that have label 0.
        moved: Mean distance from the rows' scores to their places.
    """

    place: Floats
    positive: Floats
    negative: Floats
    moved: float = 0.0


def lower_distance(table: Table, *, confidence: float = 0.95) -> Estimate:
    """Return the least E|u - f| over scores u, random and informed of the label, with P(y = 1 | u) = u.

    By duality it is the largest mean of w_y(f) over pairs of functions w_0, w_1 of slope at most 1 with
    u w_1(u) + (1 - u) w_0(u) <= 0 for all u: a linear programme on a chain of places.
    """
    places = gathered_places(table)
    value, rounding = least_move(places)
    notes = ["the value is a lower estimate of the distance"]
    if math.isnan(value):
        notes.append("undefined: the linear programme was not solved")
    elif places.moved > 0.0:
        notes.append(
            f"scores gathered in {LOWER_CELLS:,} cells: the value is within {rounding:.1g} of the exact one"
        )
    return Estimate.of(
        MeasureName.DCE_LOWER,
        table,
        value,
        distance_interval(table, confidence=confidence),
        because=(*_population(table), BOUNDS_EVERY_FORM, *notes),
        details={"places": places.place.size, "rounding": rounding},
    )


def _in_equal_cells(table: Table, cells: int) -> tuple[Integers, Floats, Floats]:
    """Return where cells start, the mean score of each, and how far every score is from it."""
    starts = run_starts(np.minimum((table.score * cells).astype(np.int64), cells - 1))
    weight = np.add.reduceat(table.weight, starts)
    place = np.add.reduceat(table.weight * table.score, starts) / np.where(weight > 0.0, weight, 1.0)
    return starts, place, np.abs(table.score - np.repeat(place, np.diff(starts, append=table.distinct)))


def gathered_places(table: Table) -> LabelledPlaces:
    """Return a table's law: all scores, or where they are many the mean scores of equal cells."""
    positive = table.positive / table.weight.sum()
    negative = (table.weight - table.positive) / table.weight.sum()
    if table.distinct <= LOWER_CELLS:
        return LabelledPlaces(table.score, positive, negative)
    starts, place, distance = _in_equal_cells(table, LOWER_CELLS)
    moved = float(((positive + negative) * distance).sum())
    return LabelledPlaces(place, np.add.reduceat(positive, starts), np.add.reduceat(negative, starts), moved)


def least_move(law: LabelledPlaces) -> tuple[float, float]:
    """Return the lower distance of a law whose moves end on a grid, and how far off it can be for the rows.

    Between places h apart, functions drawn straight meet the condition up to h^2 / 2, so that the grid adds
    at most that; gathering scores changes the distance by no more than they were moved. The value is NaN if
    the programme was not solved.
    """
    from scipy.optimize import linprog

    at = np.unique(np.concatenate((np.arange(_STEPS + 1) / _STEPS, law.place)))
    index, steps, count = np.searchsorted(at, law.place), np.diff(at), at.size
    gain = np.zeros(2 * count)
    gain[index], gain[count + index] = law.positive, law.negative
    conditions: Any = _conditions(at)  # the type stubs know dense ones only
    limits = np.concatenate((np.tile(steps, 4), np.zeros(count)))
    # The simplex method gives up on some laws with shares of a millionth, which an interior point reaches.
    for method in ("highs-ds", "highs-ipm"):
        result = linprog(-gain, A_ub=conditions, b_ub=limits, bounds=(None, None), method=method)
        if result.status == 0 and result.fun is not None:
            break
    else:
        return math.nan, math.nan
    return max(0.0, -float(result.fun)), law.moved + 0.5 * float(steps.max()) ** 2


def _conditions(at: Floats) -> "csr_array[np.float64]":
    """Return what the values of w_1, followed by those of w_0, must keep below a limit."""
    from scipy.sparse import csr_array

    count = at.size
    left = np.concatenate((np.arange(count - 1), np.arange(count - 1), *2 * (count + np.arange(count - 1),)))
    sign = np.repeat([1.0, -1.0, 1.0, -1.0], count - 1)
    slope = np.arange(left.size)
    mixed = left.size + np.arange(count)
    row = np.concatenate((slope, slope, mixed, mixed))
    column = np.concatenate((left, left + 1, np.arange(count), count + np.arange(count)))
    value = np.concatenate((-sign, sign, at, 1.0 - at))
    return csr_array((value, (row, column)), shape=(left.size + count, 2 * count))


# Exact up to so many distinct scores; more are gathered in so many cells, which divide those of a grid table.
SMOOTH_CELLS = 32_760

# Where a slope falls, and by how much.
Bend = tuple[float, float]


def smooth_calibration_error(table: Table, *, confidence: float = 0.95) -> Estimate:
    """Return max (1/n) sum_i r_i w(f_i) over functions w into [-1, 1] of slope at most 1.

    Above it is bet on the best w of the population, which is fixed, so that no union is needed; below, on w =
    1 and f - 1/2.
    """
    place, mass, moved = _gathered_labels(table)
    value = largest_smooth_sum(place, mass)
    because, interval = [*_population(table)], None
    if table.weighted:
        because.append(NO_WEIGHTED_INTERVAL)
    elif table.total_rows < 2:
        because.append("no interval: one row")
    else:
        interval = _interval(table, value=value, moved=moved, confidence=confidence)
    if moved > 0.0:
        because.append(
            f"scores gathered in {SMOOTH_CELLS:,} cells: the value is within {moved:.1g} of the exact one"
        )
    return Estimate.of(MeasureName.SMCE, table, value, interval, because=because, details={"rounding": moved})


def _gathered_labels(table: Table) -> tuple[Floats, Floats, float]:
    """Return places, masses and how far the value can be off: all scores, or the means of many cells."""
    mass = residuals(table) / table.weight.sum()
    if table.distinct <= SMOOTH_CELLS:
        return table.score, mass, 0.0
    starts, place, distance = _in_equal_cells(table, SMOOTH_CELLS)
    # A weight of slope 1 changes by no more than the place does.
    moved = float((np.abs(mass) * distance).sum())
    return place, np.add.reduceat(mass, starts), moved


def _interval(table: Table, *, value: float, moved: float, confidence: float) -> Interval:
    delta = (1.0 - confidence) / 2.0
    held, stakes = weighed(table), betting.stakes_of_rows(table.total_rows, delta=delta)
    level = math.log(1.0 / delta)
    _, upper = crossing(lambda eps: held.log_pass(eps, stakes, norm=value + moved) - level, value, 1.0)
    level, tilt = dictionary(table, delta=delta)
    method = "betting on rows"
    return Interval(max(level, tilt / 2.0), upper, confidence, method, Target.POPULATION, finite_sample=True)


def largest_smooth_sum(place: Floats, mass: Floats) -> float:
    """Return max sum_i m_i w_i over |w_i| <= 1 and |w_i - w_j| <= |x_i - x_j|, exactly.

    The best sum up to a place, as a function of the last weight, is concave and piecewise linear. Going on to
    the next place lets the two sides of its flat top part by the distance; adding m w tilts it, and the top
    moves across the bends that the tilt levels out. A place adds one bend, and few are crossed at each.
    """
    # Bends on either side of the top, innermost last: how far out they are, and by how much the slope falls.
    below: list[Bend] = []
    above: list[Bend] = []
    best, parted = 0.0, 0.0
    steps = np.diff(place, prepend=place[:1]).tolist()
    for step, m in zip(steps, mass.tolist(), strict=True):
        parted += step
        if m > 0.0:
            best += _tilt(above, below, slope=m, parted=parted)
        elif m < 0.0:
            best += _tilt(below, above, slope=-m, parted=parted)
    return best


def _tilt(ahead: list[Bend], behind: list[Bend], *, slope: float, parted: float) -> float:
    """Add a slope and move the top ahead to where it is level; return what the maximum gains."""
    top = min(1.0, ahead[-1][0] + parted) if ahead else 1.0
    gained = slope * top
    while ahead:
        start, fall = ahead[-1]
        at = start + parted
        if at >= 1.0:
            ahead.clear()
            break
        gained += slope * (at - top)
        top = at
        if fall > slope:
            ahead[-1] = (start, fall - slope)
            behind.append((-at - parted, slope))
            return gained
        ahead.pop()
        behind.append((-at - parted, fall))
        slope -= fall
    # The wall at weight 1.
    if slope > 0.0:
        gained += slope * (1.0 - top)
        behind.append((-1.0 - parted, slope))
    return gained


MEASURES: Measures = {
    MeasureName.DCE: lambda _, table, settings: distance(table, confidence=settings.confidence),
    MeasureName.DCE_LOWER: lambda _, table, settings: lower_distance(table, confidence=settings.confidence),
    MeasureName.SMCE: lambda _, table, settings: smooth_calibration_error(
        table, confidence=settings.confidence
    ),
}
