"""Bets on the bias of segments that a state counts, and what they say of each."""

import math
from collections.abc import Callable

import numpy as np

from calibcli.names import MeasureName, SegmentMeasure
from calibcli.stats.bounds.betting import Stakes
from calibcli.stats.gates.any_time import ROUNDING, Bets
from calibcli.stats.gates.cells import UNIT, FrozenSegments, Partition, Sums
from calibcli.stats.measures.segments import ANY, Booleans, Ends, Entries, Segments, segments_of
from calibcli.stats.table.score_table import Floats, Integers

# By halves to less than any digit that is shown.
_HALVES = 40


class SegmentBets(Bets):
    """
    Bets on the largest |bias| of segments; with x = f - y of the rows of a segment, for every lambda:

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
        some, level = _occupied(sums, partition, segments)
        count = _counts(sums, some)
        below = np.array([[one[k] for k in some.tolist()] for one in sums.columns[2:]], np.float64)
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
        """Return the log of the e-value against "the bias of a segment is at least eps"; grows with eps."""
        return float(self._each_pass(np.array([eps]), stakes).min())

    def log_fail(self, eps: float, stakes: Stakes) -> float:
        """Return the log of the e-value against "every bias is at most eps"; falls with eps."""
        return float(self._each_fail(np.array([eps]), stakes).max())

    def each(self, stakes: Stakes, *, delta: float) -> Ends:
        """Return bounds of every |bias|: lower ones hold for all at once, upper ones for each by itself."""
        level = math.log(1.0 / delta)
        upper = self._crossing(lambda eps: self._each_pass(eps, stakes) >= level)[1]
        lower = self._crossing(lambda eps: self._each_fail(eps, stakes) < level)[0]
        return Ends(lower, upper)

    def _crossing(self, beyond: Callable[[Floats], Booleans]) -> tuple[Floats, Floats]:
        """Return on both sides where something begins to hold of each segment."""
        low, high = np.zeros(self._many.size), np.ones(self._many.size)
        for _ in range(_HALVES):
            middle = (low + high) / 2.0
            holds = beyond(middle)
            low, high = np.where(holds, low, middle), np.where(holds, middle, high)
        return low, high

    def _each_pass(self, eps: Floats, stakes: Stakes) -> Floats:
        sizes = np.array(stakes.sizes)
        # 1 - l (x - eps) = (1 + l eps) (1 - a x) with a = l / (1 + l eps).
        a = sizes / (1.0 + sizes * eps[:, None])
        growth = self._many[:, None] * np.log1p(sizes * eps[:, None]) + np.log(stakes.shares)
        signs = (growth + self._logs(slope) for slope in (a, -a))
        return np.asarray(np.minimum(*(np.logaddexp.reduce(one, axis=1) for one in signs)))

    def _each_fail(self, eps: Floats, stakes: Stakes) -> Floats:
        bet = np.minimum(np.array(stakes.sizes), 0.95 / (1.0 + eps[:, None]))
        b = bet / (1.0 - bet * eps[:, None])
        growth = self._many[:, None] * np.log1p(-bet * eps[:, None]) + np.log(stakes.shares)
        signs = (growth + self._logs(slope) for slope in (b, -b))
        both = np.logaddexp(*(np.logaddexp.reduce(one, axis=1) for one in signs))
        return np.asarray(both - math.log(2.0 * self._many.size))

    def _logs(self, slope: Floats) -> Floats:
        """Return sum of log(1 + slope x) over the rows of each segment, or less; shape (segments, stakes)."""
        logs = np.log1p(slope[..., None] * self._x)
        found = self._rows @ logs[0].T if slope.shape[0] == 1 else np.einsum("mk,mjk->mj", self._rows, logs)
        return np.asarray(found - ROUNDING * self._many[:, None])


def bets_on(sums: Sums, partition: Partition, *, measure: MeasureName | SegmentMeasure) -> Bets:
    """Return the bets on some rows."""
    if isinstance(measure, MeasureName):
        return Bets(sums, partition, measure=measure)
    if partition.segments is None:
        msg = f"{measure.value} is tested in segments, and these rows were not counted in any"
        raise ValueError(msg)
    return SegmentBets(sums, partition, partition.segments)


def segments_of_sums(sums: Sums, partition: Partition, segments: FrozenSegments) -> tuple[Entries, Segments]:
    """Return the rows by the levels of columns and by cell, and every segment that has some."""
    some, level = _occupied(sums, partition, segments)
    count = _counts(sums, some)
    upper = partition.upper[some % partition.cells]
    below = np.array([[one[k] for k in some.tolist()] for one in sums.columns[2:]], np.float64)
    scores = count * upper - below / UNIT
    entries = Entries.of_table(
        level,
        segments.sizes,
        upper,
        rows=count.sum(axis=0).astype(np.int64),
        positive=count[0].astype(np.int64),
        scores=(scores[0], scores[1]),
    )
    return entries, segments_of(entries, depth=segments.depth)


def _occupied(sums: Sums, partition: Partition, segments: FrozenSegments) -> tuple[Integers, Integers]:
    """Return the cells that hold rows, and the level of each in every column."""
    some = np.flatnonzero(np.array(sums.rows, np.int64))
    return some, np.stack(np.unravel_index(some // partition.cells, segments.sizes))


def _counts(sums: Sums, some: Integers) -> Floats:
    """Return how many rows of each cell have label 1, and how many label 0."""
    rows, ones = (np.array(one, np.int64)[some] for one in sums.columns[:2])
    return np.stack((ones, rows - ones)).astype(np.float64)


def _memberships(level: Integers, segments: FrozenSegments) -> "list[tuple[Integers, Integers]]":
    """Return for each set of columns the places of segments, and the cells that lie in them."""
    wanted = np.array(segments.judged)
    told, found = wanted != ANY, []
    for which in np.unique(told, axis=0):
        alike = np.flatnonzero((told == which).all(axis=1))
        own = np.flatnonzero(which).tolist()
        sizes = tuple(segments.sizes[k] for k in own)
        known, code = (
            np.ravel_multi_index(tuple(one[k] for k in own), sizes)
            if own
            else np.zeros(one.shape[1], np.int64)
            for one in (wanted[alike].T, level)
        )
        order = np.argsort(known)
        near = np.minimum(np.searchsorted(known[order], code), known.size - 1)
        inside = np.flatnonzero(known[order][near] == code)
        found.append((alike[order][near[inside]], inside))
    return found
