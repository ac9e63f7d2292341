"""Is the bias, or the range of residuals, of every segment at most eps? Bounds that hold for any rows."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from calibcli.names import Bound, MeasureName, Relation, SegmentMeasure, Target, VerdictName
from calibcli.options.numerals import in_full
from calibcli.options.rules import Rule
from calibcli.stats.bounds.betting import Stakes, against_less, against_more
from calibcli.stats.bounds.proportion import MOST_DELTA, range_margin, sum_margin
from calibcli.stats.gates.any_time import ROUNDING, Bets
from calibcli.stats.gates.cells import FrozenSegments, Partition, Sums
from calibcli.stats.gates.claim import (
    BY_P_VALUE,
    NO_CONFIDENCE,
    ONE_LOOK,
    Bounds,
    Claim,
    Ground,
    JudgedSegment,
    JudgedSegments,
    RowsNeeded,
    Verdict,
)
from calibcli.stats.gates.rows_needed import first_rows, promise
from calibcli.stats.measures import HELD_OUT, INDEPENDENT_ROWS
from calibcli.stats.measures.segments import (
    ANY,
    LEAST_SPREAD,
    BiasEnds,
    Crossed,
    Entries,
    Segments,
    are_tested,
    bias_bounds,
    columns_of,
    in_probability,
    in_segment,
    joint,
    key_of,
    rows_of,
    segments_of,
    subset,
)
from calibcli.stats.table import Booleans, Floats, Integers, run_starts
from calibcli.stats.table.grid import UNIT, Table
from calibcli.values import dataclass, replace

# Beyond so many rows, as a power of ten, the bounds are too close together to be computed.
_MOST_ROWS = 13.0

SEGMENT_METHOD = "Clopper-Pearson or the normal law with a proven error; a fail by Bonferroni over segments"

_BY_VALUE = "estimate alone, no confidence"

_ASSUMPTIONS = (
    INDEPENDENT_ROWS,
    HELD_OUT,
    "columns and --min-segment-rows were chosen without these labels; smaller segments get no verdict",
    ONE_LOOK,
)


@dataclass(frozen=True, slots=True, eq=False)
class RowsBySegment:
    """Rows and the segments that they are judged in.

    Args:
        names: The conditions of each segment.
        is_grid: Whether scores are kept to cells, so that what happens within one is not seen.
    """

    table: Table
    found: Segments
    entries: Crossed
    names: Sequence[tuple[str, ...]]
    columns: tuple[str, ...]
    depth: int
    least_rows: int
    is_grid: bool = False


def segment_rule(rows: RowsBySegment, rule: Rule, *, ground: Ground) -> Verdict:
    """Judge "the bias of every segment is at most eps" for these scores and columns.

    A pass is wrong only where the upper bound of the one segment that is farthest fails, so that each has
    delta; for a fail it is enough that any bound fails, so that each end of m segments has delta / (2 m)
    (Berger 1982, Technometrics 24).
    """
    claim = ground.claim_of(rule, measure="segment_bias")
    large, distinct = rows.found.rows >= rows.least_rows, ~rows.found.same
    places = np.flatnonzero(large & distinct)
    some = subset(rows.found, places)
    by_value = rule.bound is Bound.VALUE
    size = np.abs(some.bias)
    lower, upper = (size, size) if by_value else sizes_of(some, *_each(ground.levels(rule), some.size))
    judged = judged_segments(rows, places, claim, ends=(lower, upper), by_value=by_value)
    bounded = places.size > 0 and not by_value

    def wanted(claim: Claim) -> RowsNeeded:
        names = [rows.names[place] for place in places.tolist()]
        first = names.index(judged.segments[0].where)
        return _rows_needed(some, first, claim, ground, rows=rows.table.total_rows)

    found = Bounds(
        float(size.max()) if places.size else math.nan,
        float(lower.max()) if bounded else None,
        float(upper.max()) if bounded else None,
        _BY_VALUE if by_value else SEGMENT_METHOD,
        Target.FIXED_DESIGN,
        (NO_CONFIDENCE,) if by_value else _ASSUMPTIONS,
        f"{places.size:,} segments by {', '.join(rows.columns)}",
        needed=wanted if bounded else None,
    )
    verdict = found.verdict(rows.table, claim, ground)
    few = None if places.size else f"no segment has {rows.least_rows:,} rows (--min-segment-rows)"
    if by_value:
        few = few or ground.too_few(rows.table)
        outcome, reason = claim.compared(verdict.value, few=few, undefined="")
        verdict = replace(verdict, outcome=outcome, reason=reason, target=None, finite_sample=False)
    elif few is not None:
        verdict = replace(verdict, reason=verdict.reason or few)
    return replace(verdict, segments=_settled(judged, few=verdict.reason))


def _settled(judged: JudgedSegments, *, few: str | None) -> JudgedSegments:
    """Return what is said of segments: nothing where so few rows conclude nothing."""
    if few is None:
        return judged
    every = tuple(replace(one, outcome=VerdictName.INCONCLUSIVE) for one in judged.segments)
    return replace(judged, segments=every)


def judged_segments(
    rows: RowsBySegment,
    places: Integers,
    claim: Claim,
    *,
    ends: tuple[Floats, Floats],
    by_value: bool = False,
) -> JudgedSegments:
    """Return what bounds of the size of every bias say of some segments, and how many are not judged."""
    some, (lower, upper) = subset(rows.found, places), ends
    outcomes = tuple(
        claim.by_bounds(lower=low, upper=high)
        for low, high in zip(lower.tolist(), upper.tolist(), strict=True)
    )
    order = _worst_first(some, outcomes, limit=claim.limit, ends=ends)
    return _listed(rows, places, outcomes, order=order, ends=None if by_value else (lower, upper))


def _listed(
    rows: RowsBySegment,
    places: Integers,
    outcomes: Sequence[VerdictName],
    *,
    order: Integers,
    ends: tuple[Floats, Floats] | None,
    values: Floats | None = None,
) -> JudgedSegments:
    """Return the segments that were judged in an order, and how many were not."""
    some, small = subset(rows.found, places), ~rows.found.same
    small[places] = False
    return JudgedSegments(
        rows.columns,
        rows.depth,
        rows.least_rows,
        int(small.sum()),
        rows_of(rows.entries, rows.found, small),
        tuple(
            JudgedSegment(
                rows.names[places[place]],
                int(some.rows[place]),
                # Sums of scores round beyond what their mean can be.
                min(max(float(some.score[place]), 0.0), 1.0),
                float(some.positive[place] / some.rows[place]),
                float(some.bias[place]),
                None if ends is None else float(ends[0][place]),
                None if ends is None else float(ends[1][place]),
                outcomes[place],
                None if values is None else float(values[place]),
            )
            for place in order.tolist()
        ),
        None if values is None else LEAST_SPREAD,
    )


_RANGE = "one sum by the normal law with a proven error; a fail by Ottaviani's and Bennett's inequalities"


def mce_rule(rows: RowsBySegment, rule: Rule, *, ground: Ground) -> Verdict:
    """Judge the multicalibration error, in units of a probability or in sigmas, or its p-value.

    By the p-value calibrated scores fail with at most the limit as their probability, and a pass proves
    nothing.
    """
    claim = ground.claim_of(rule, measure=rule.subject.value)
    tested = are_tested(rows.found, least_rows=rows.least_rows)
    places = np.flatnonzero(tested)
    some, ends = subset(rows.found, places), None
    scope: tuple[str, ...] = (NO_CONFIDENCE,)
    few = ground.too_few(rows.table)
    if few is None and not places.size:
        few = f"no segment has {rows.least_rows:,} rows (--min-segment-rows) and events enough to be tested"
    unit = in_probability(1.0, rows.entries) if rule.subject is SegmentMeasure.MCE else 1.0
    values, method, exact = unit * some.sigma, _BY_VALUE, False
    if rule.bound is Bound.P_VALUE:
        names = rows.columns
        together = joint(rows.entries, rows.found, tested, names=names, depth=rows.depth, error=ground.delta)
        values, method = together.p_values, f"{BY_P_VALUE}{together.method}"
        exact = together.draws > 0 and rule.limit * (together.draws + 1) >= 1.0
        level = f"{in_full(rule.limit)} at most" if exact else f"about {in_full(rule.limit)}"
        by_chance = f"scores calibrated in every segment fail with a probability of {level}"
        scope = (*_ASSUMPTIONS[:-1], f"{by_chance}, over all of these at once", ONE_LOOK)
    elif rule.bound is not Bound.VALUE:
        ends = _mce_ends(some, unit, *ground.levels(rule))
        if rows.is_grid:
            hidden = _largest_steps(rows.entries, some) / np.sqrt(some.variance)
            ends = ends[0], ends[1] + unit * hidden
        method, exact, scope = _RANGE, True, _ASSUMPTIONS
    outcomes = [
        claim.by_bounds(lower=low, upper=high) if ends else claim.compared(low, few=None, undefined="")[0]
        for low, high in zip(*(one.tolist() for one in ends or (values, values)), strict=True)
    ]
    rank = np.array([_RANKS[one] for one in outcomes], np.int64)
    at_most = claim.relation is Relation.AT_MOST
    by = -values if at_most else values
    # Of those that pass the one comes first whose bound is nearest to the limit, as in the headline.
    order = np.lexsort((-some.sigma, np.choose(rank, (-ends[0], by, -ends[1])) if ends else by, rank))
    worst = np.max if at_most else np.min
    found = Bounds(
        float(worst(values)) if places.size else math.nan,
        float(ends[0].max()) if ends and places.size else None,
        float(ends[1].max()) if ends and places.size else None,
        method,
        Target.FIXED_DESIGN if ends else None,
        scope,
        f"{places.size:,} segments by {', '.join(rows.columns)}",
        finite_sample=exact,
    )
    outcome = VerdictName.INCONCLUSIVE if few else outcomes[order[0]]
    listed = _settled(_listed(rows, places, outcomes, order=order, ends=ends, values=values), few=few)
    return replace(found.said(claim, outcome, few, rows=rows.table.total_rows), segments=listed)


def _largest_steps(entries: Crossed, some: Segments) -> Floats:
    """Return the most rows that a cell of the score holds in each segment.

    A range that begins or ends within cells is at most so much more than one between their ends: of the rows
    of a cell either those before its worst place or those after it are half at most.
    """
    most = []
    for level in map(tuple, some.level.tolist()):
        seen = entries.of(columns_of(level), level)
        rows = np.where(in_segment(seen, level), seen.rows, 0.0)
        most.append(float(np.add.reduceat(rows, run_starts(seen.at)).max()))
    return np.array(most)


# How much of the error of a lower bound of the range is for that of the bias, which is mostly sharper.
_FOR_BIAS = 0.75


def _mce_ends(some: Segments, unit: float, at_lower: float, at_upper: float) -> tuple[Floats, Floats]:
    """Return bounds of the range in every segment, in the unit of its estimate.

    In truth the range is a sum over scores that no label chose: the estimate is below it by no more than the
    noise of that sum. It is above it by no more than the range of the noise, and it is no less than the sum
    over all scores, in each of m segments but for its share of the error.
    """
    share, label = at_lower / max(some.size, 1), unit / np.sqrt(some.variance)
    spread = min((1.0 - _FOR_BIAS) * share, MOST_DELTA), min(at_upper, MOST_DELTA)
    squares = some.squares.tolist()
    below = np.array([range_margin(one, delta=spread[0]) for one in squares])
    above = np.array([sum_margin(one, delta=spread[1]) for one in squares])
    bias = label * some.rows * sizes_above(some, 0.5 * _FOR_BIAS * share)
    return np.maximum(bias, unit * some.sigma - label * below), unit * some.sigma + label * above


def _each(both: tuple[float, float], many: int) -> tuple[float, float]:
    """Return levels of a lower and an upper bound, any of so many lower ones being the one that may fail."""
    return both[0] / (2.0 * max(many, 1)), both[1]


def sizes_of(some: Segments, at_lower: float, at_upper: float) -> tuple[Floats, Floats]:
    """Return bounds of the size of every bias, each end with such an error probability."""
    return sizes_above(some, at_lower), sizes_below(some, at_upper)


def sizes_above(some: Segments, delta: float) -> Floats:
    wide = bias_bounds(some, delta=min(delta, MOST_DELTA))
    return np.maximum(0.0, np.maximum(wide.lower, -wide.upper))


def sizes_below(some: Segments, delta: float) -> Floats:
    close = bias_bounds(some, delta=min(delta, MOST_DELTA))
    return np.maximum(close.upper, -close.lower)


def _worst_first(
    some: Segments, outcomes: Sequence[VerdictName], *, limit: float, ends: tuple[Floats, Floats]
) -> Integers:
    """Return the places of the segments: those that fail first, then those that are open, then the rest.

    Of the open ones those come first whose estimate is beyond the limit by most standard errors, then those
    that would take the most rows of all if they were calibrated: the others will be settled before them.
    """
    rank = np.array([_RANKS[one] for one in outcomes], np.int64)
    error = np.sqrt(_variance(some)) / some.rows
    excess = np.abs(some.bias) - limit
    beyond = np.where(excess > 0.0, excess / np.maximum(error, np.finfo(np.float64).tiny), 0.0)
    # Rows of every segment grow with those of all, so that standard errors keep their order.
    open_ones = np.lexsort((-error, -beyond))
    place = np.empty(some.size)
    place[open_ones] = np.arange(some.size)
    return np.lexsort((np.choose(rank, (-ends[0], place, -ends[1])), rank))


_RANKS = {VerdictName.FAIL: 0, VerdictName.INCONCLUSIVE: 1, VerdictName.PASS: 2}


def _variance(some: Segments) -> Floats:
    """Return what the sum of labels would scatter by, were the scores their chances."""
    return np.minimum(some.variance, some.rows * some.score * (1.0 - some.score))


def slowness(some: Segments) -> Floats:
    """Return what is larger for segments that take more rows of all to be known as well."""
    return np.asarray(np.sqrt(_variance(some)) / some.rows + 3.0 / some.rows)


class SegmentGrowth:
    """Bounds that more rows like these would give a segment; `levels` are the errors of lower and upper."""

    def __init__(self, one: Segments, *, share: float, levels: tuple[float, float]) -> None:
        self._one, self._share, self._levels = one, share, levels
        self._score, self._rate = float(one.score[0]), float(one.positive[0] / one.rows[0])

    def ends(self, rows: float, *, calibrated: bool = False) -> tuple[float, float]:
        """Return the bounds of the size of the bias where there are so many rows in all."""
        one, many = self._one, np.array([max(1.0, self._share * rows)])
        ones = np.clip(np.rint(many * (self._score if calibrated else self._rate)), 0.0, many)
        more = replace(
            one,
            rows=many,
            positive=ones,
            residual=ones - many * self._score,
            variance=one.variance / one.rows * many,
            squares=(one.variance if calibrated else one.squares) / one.rows * many,
        )
        lower, upper = sizes_of(more, *self._levels)
        return float(lower[0]), float(upper[0])

    def rows_to_pass(self, limit: float, *, calibrated: bool = False) -> int:
        """Return the rows in all at which the upper bound comes down to a limit."""
        return first_rows(
            lambda digits: limit - self.ends(10.0**digits, calibrated=calibrated)[1], most=_MOST_ROWS
        )

    def rows_to_fail(self, limit: float) -> int:
        """Return the rows in all at which the lower bound rises to a limit below the size."""
        return first_rows(lambda digits: self.ends(10.0**digits)[0] - limit, most=_MOST_ROWS)


def _rows_needed(some: Segments, first: int, claim: Claim, ground: Ground, *, rows: int) -> RowsNeeded:
    """Return how many rows in all would decide the segment that keeps the claim open.

    At best it takes as many as the segment whose mean is known worst; segments are those that are judged now.
    """

    def growth(place: int) -> SegmentGrowth:
        one = subset(some, np.array([place]))
        each = _each((ground.fail_delta, ground.delta), some.size)
        return SegmentGrowth(one, share=float(one.rows[0]) / rows, levels=each)

    slowest = int(slowness(some).argmax())
    best = growth(slowest).rows_to_pass(claim.limit, calibrated=True)
    known, size = growth(first), abs(float(some.bias[first]))
    lower, upper = known.ends(rows)
    return promise(
        claim,
        size,
        width=upper - lower,
        rows=rows,
        best=best,
        ground=ground,
        to_pass=lambda: known.rows_to_pass(claim.limit),
        to_fail=lambda: known.rows_to_fail(claim.limit),
    )


# By halves to less than any digit that is shown.
_HALVES = 40


class SegmentBets(Bets):
    """Bets on the largest |bias| of segments; with x = f - y of the rows of a segment, for every lambda:

        against ">= eps":  the least over segments and signs s of prod (1 - lambda (s x_i - eps))
        against "<= eps":  the largest over segments, by their number, of the average over signs of
                           prod (1 + lambda (s x_i - eps))

    each averaged over lambda. If the bias of a segment is beyond the limit, a pass needs its own bets; any
    segment may be the one of a fail (Bonferroni). Of the rows in a cell of the score only their sum is known:
    logarithms are concave, so that a product is least where all lie at the ends of the cell, and these count.

    References:
        Waudby-Smith & Ramdas (2024), JRSS B 86, for bets on a mean; Ville (1939) for any time.
    """

    def __init__(self, sums: Sums, partition: Partition, segments: FrozenSegments) -> None:
        some, level, count, below = _occupied(sums, partition, segments)
        lowest = np.clip(below / (UNIT * partition.width), 0.0, count)
        cell, edges = some % partition.cells, partition.edges
        self._x = np.concatenate((edges - 1.0, edges))
        self._rows = np.zeros((len(segments.judged), self._x.size))
        for place, inside in _memberships(level, segments):
            own = cell[inside]
            for label, first in enumerate((0, edges.size)):
                low = lowest[label, inside]
                for shift, rows in ((0, low), (1, count[label, inside] - low)):
                    at = place * self._x.size + first + own + shift
                    self._rows += np.bincount(at, rows, self._rows.size).reshape(self._rows.shape)
        self._many = self._rows.sum(axis=1)

    @property
    def value(self) -> float:
        """The largest |bias|."""
        return min(1.0, float(np.abs(self._rows @ self._x / np.maximum(self._many, 1.0)).max()))

    def log_pass(self, eps: float, stakes: Stakes) -> float:
        return float(self._each_pass(np.array([eps]), stakes).min())

    def log_fail(self, eps: float, stakes: Stakes) -> float:
        return float(self._each_fail(np.array([eps]), stakes).max())

    def each(self, stakes: Stakes, *, delta: float) -> BiasEnds:
        """Return bounds of every |bias|: lower ones hold for all at once, upper ones for each by itself."""
        level = math.log(1.0 / delta)
        upper = self._crossing(lambda eps: self._each_pass(eps, stakes) >= level)[1]
        lower = self._crossing(lambda eps: self._each_fail(eps, stakes) < level)[0]
        return BiasEnds(lower, upper)

    def _crossing(self, beyond: Callable[[Floats], Booleans]) -> tuple[Floats, Floats]:
        """Return on both sides where something begins to hold of each segment."""
        low, high = np.zeros(self._many.size), np.ones(self._many.size)
        for _ in range(_HALVES):
            middle = (low + high) / 2.0
            holds = beyond(middle)
            low, high = np.where(holds, low, middle), np.where(holds, middle, high)
        return low, high

    def _each_pass(self, eps: Floats, stakes: Stakes) -> Floats:
        slopes, won = against_more(stakes, eps[:, None])
        growth = self._many[:, None] * np.log1p(won) + np.log(stakes.shares)
        signs = (growth + self._logs(one) for one in (slopes, -slopes))
        return np.asarray(np.minimum(*(np.logaddexp.reduce(one, axis=1) for one in signs)))

    def _each_fail(self, eps: Floats, stakes: Stakes) -> Floats:
        slopes, lost = against_less(stakes, eps[:, None])
        growth = self._many[:, None] * np.log1p(-lost) + np.log(stakes.shares)
        signs = (growth + self._logs(one) for one in (slopes, -slopes))
        both = np.logaddexp(*(np.logaddexp.reduce(one, axis=1) for one in signs))
        return np.asarray(both - math.log(2.0 * self._many.size))

    def _logs(self, slope: Floats) -> Floats:
        """Return sum of log(1 + slope x) over the rows of each segment, or less; shape (segments, stakes)."""
        logs = np.log1p(slope[..., None] * self._x)
        found = self._rows @ logs[0].T if slope.shape[0] == 1 else np.einsum("mk,mjk->mj", self._rows, logs)
        return np.asarray(found - ROUNDING * self._many[:, None])


def bets_on(sums: Sums, partition: Partition, *, measure: MeasureName | SegmentMeasure) -> Bets:
    if isinstance(measure, MeasureName):
        return Bets(sums, partition, measure=measure)
    if partition.segments is None:
        msg = f"{measure.value} is tested in segments, and these rows were not counted in any"
        raise ValueError(msg)
    return SegmentBets(sums, partition, partition.segments)


def segments_of_sums(sums: Sums, partition: Partition, segments: FrozenSegments) -> tuple[Entries, Segments]:
    """Return the rows by the levels of columns and by cell, and every segment that has some."""
    some, level, count, below = _occupied(sums, partition, segments)
    upper = partition.upper[some % partition.cells]
    scores = count * upper - below / UNIT
    entries = Entries.of_parts(
        np.ravel_multi_index(tuple(level), segments.sizes),
        segments.sizes,
        upper,
        rows=count.sum(axis=0).astype(np.int64),
        positive=count[0].astype(np.int64),
        scores=(scores[0], scores[1]),
    )
    return entries, segments_of(entries, depth=segments.depth)


def _occupied(
    sums: Sums, partition: Partition, segments: FrozenSegments
) -> tuple[Integers, Integers, Floats, Floats]:
    """Return the cells that hold rows: their places; the level of each in every column; and by label, 1
    first, how many rows and how far their scores lie below the edges in all.
    """
    every = np.array(sums.rows, np.int64)
    some = np.flatnonzero(every)
    ones = np.array(sums.positive, np.int64)[some]
    count = np.stack((ones, every[some] - ones)).astype(np.float64)
    below = np.array([[one[k] for k in some.tolist()] for one in sums.columns[2:]], np.float64)
    return some, np.stack(np.unravel_index(some // partition.cells, segments.sizes)), count, below


def _memberships(level: Integers, segments: FrozenSegments) -> "list[tuple[Integers, Integers]]":
    """Return for each set of columns the places of segments, and the cells that lie in them."""
    wanted = np.array(segments.judged)
    told, found = wanted != ANY, []
    for which in np.unique(told, axis=0):
        alike = np.flatnonzero((told == which).all(axis=1))
        own = np.flatnonzero(which).tolist()
        known, code = (key_of(segments.sizes, one, own) for one in (wanted[alike].T, level))
        order = np.argsort(known)
        near = np.minimum(np.searchsorted(known[order], code), known.size - 1)
        inside = np.flatnonzero(known[order][near] == code)
        found.append((alike[order][near[inside]], inside))
    return found
