"""Venn-Abers: two isotonic fits that differ in the label of the row asked about."""

from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import HIDDEN, Ascending, Between, Declared, Node, Size
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Purpose, RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, MOST_FOLDS, FitOptions
from calibcli.stats.numerics import stream
from calibcli.stats.recalibrators import Recalibrator, checked_scores, require_both_labels
from calibcli.stats.recalibrators.pooling import MOST_ROWS, bends, diagram
from calibcli.stats.table import Arrays, Booleans, Floats, Indices, Integers, ScoreTable, frozen
from calibcli.stats.table.again import Rows
from calibcli.stats.table.derived import split_table
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, field


def levels_with_one_more(rows: Integers, positive_rows: Integers) -> tuple[Floats, Floats]:
    """Return the isotonic level of every score after one row is added to it, first with label 0, then with 1.

    A row of label 1 below a score is pooled with it, and one of label 0 with the score below it. So
    between two neighbouring scores the level with label 0 is that of the lower one, and with label 1 that of
    the upper one; below all scores label 0 gets level 0, above them label 1 gets 1. Both do not decrease.

    References:
        Vovk, Petej & Fedorova (2015), NIPS, section 3, for the definition. Found here in O(n log n) from the
        greatest convex minorant of the cumulative sums: a row of label 1 raises its level, so the block that
        takes it in ends at a corner of the minorant behind it.
    """
    corners = bends(rows, positive_rows)
    rise, run = _lines(rows, positive_rows, corners)
    upper = np.maximum.accumulate(rise / run)
    # With scores and labels turned round, label 0 is label 1.
    fall, run = _lines(rows[::-1], (rows - positive_rows)[::-1], rows.size - corners[::-1])
    lower = np.minimum.accumulate((run - fall) / run)[::-1]
    return lower, upper


def _lines(rows: Integers, positive_rows: Integers, corners: Indices) -> tuple[Integers, Integers]:
    """Return the lowest line from each point of the sums to a corner behind it, with label 1 added.

    The level of a score with the added row is the steepest of these lines from the points before it.
    """
    x, y = diagram(rows), diagram(positive_rows)
    if x[-1] >= MOST_ROWS:
        x, y = x.astype(np.float64), y.astype(np.float64)
    blocks = corners.size - 1
    start = np.repeat(np.arange(1, blocks + 1), np.diff(corners))
    # Behind the last corner the way is up.
    width, height = np.append(np.diff(x[corners]), 0), np.append(np.diff(y[corners]), 1)
    # The added row comes before every corner that a line can end at.
    corner_x, corner_y = x[corners] + 1, y[corners] + 1

    def next_is_below(corner: Indices, point: Indices) -> Booleans:
        """Whether the line from a point to this corner passes above the next corner."""
        rise, run = corner_y[corner] - y[point], corner_x[corner] - x[point]
        return np.asarray(rise * width[corner] > height[corner] * run)

    best = _first_not(next_is_below, start, last=blocks)
    return corner_y[best] - y[:-1], corner_x[best] - x[:-1]


def _first_not(holds: Callable[[Indices, Indices], Booleans], start: Indices, *, last: int) -> Indices:
    """Return for each point the first place at which something no longer holds; steps double, then halve."""
    low, high = start.copy(), np.full_like(start, last)
    undecided, stride = np.arange(start.size), 1
    while undecided.size:
        probe = np.minimum(low[undecided] + (stride - 1), last)
        still = holds(probe, undecided)
        high[undecided[~still]] = probe[~still]
        undecided, stride = undecided[still], 2 * stride
        low[undecided] = probe[still] + 1
    undecided = np.flatnonzero(low < high)
    while undecided.size:
        probe = (low[undecided] + high[undecided]) // 2
        still = holds(probe, undecided)
        low[undecided[still]] = probe[still] + 1
        high[undecided[~still]] = probe[~still]
        undecided = undecided[low[undecided] < high[undecided]]
    return low


_INSIDE = Between(0.0, 1.0, inside=True)


@dataclass(frozen=True, slots=True, eq=False)
class Bracket(Declared, Arrays):
    """The isotonic level of every score, had it come with one more row of label 0, or of label 1."""

    first: Annotated[Floats, Between(0.0, 1.0), Ascending(), "The scores from which a lower level holds."]
    lower: Annotated[Floats, _INSIDE, Ascending(), Size(of="first"), "That level; it is 0 below the first."]
    last: Annotated[Floats, Between(0.0, 1.0), Ascending(), "The scores up to which an upper level holds."]
    upper: Annotated[Floats, _INSIDE, Ascending(), Size(of="last"), "That level; it is 1 above the last."]

    @classmethod
    def of(cls, table: Table) -> Self:
        """Find both levels of every score, of one row or more without importance weights; equal neighbours
        are kept once. Those of a cell of a grid hold everywhere in it: on either side of its mean, as between
        two scores, one level would be that of its neighbour, or 0 or 1.
        """
        lower, upper = levels_with_one_more(table.rows, table.positive_rows)
        rises = lower > np.concatenate(([0.0], lower[:-1]))
        ends = upper < np.concatenate((upper[1:], [1.0]))
        first = last = table.upper
        if not isinstance(table, ScoreTable):
            before = np.maximum(np.concatenate(([0.0], last[:-1])), last - table.resolution)
            first = np.minimum(np.nextafter(before, 1.0), last)
        return cls(first[rises], lower[rises], last[ends], upper[ends])

    def check(self, node: Node) -> None:
        """Refuse a pair without a level, and lower levels above the upper ones."""
        if not self.first.size and not self.last.size:
            msg = "holds no level"
            raise node.problem(msg)
        low, high = self.at_each(self.first)
        if np.any(low > high):
            msg = "should lie nowhere above the upper levels"
            raise node.child("lower").items()[int(np.argmax(low > high))].problem(msg)

    def at_each(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return both levels at each score."""
        low = np.concatenate(([0.0], self.lower))[np.searchsorted(self.first, scores, side="right")]
        high = np.concatenate((self.upper, [1.0]))[np.searchsorted(self.last, scores, side="left")]
        return low, high


@dataclass(frozen=True, slots=True, eq=False)
class VennAbers(Recalibrator):
    """p1 / (1 - p0 + p1), p0 and p1 being the isotonic level at a score once a row of label 0 or 1 joins it.

    One of p0 and p1 is a calibrated probability: the one of the label that comes. Which one is not known,
    and [p0, p1] is no confidence interval for the probability given the score. Nothing is promised of the
    merged point, since the theorem is about p0 or p1, whichever the label picks.

    Of several folds each gives its own pair. Their points p1 / (1 - p0 + p1) are averaged in log odds, as
    GM(p1) / (GM(1 - p0) + GM(p1)) with geometric means does. The ends are the lowest p0 and the highest p1
    of all folds: the geometric means themselves would not do, since 1 - GM(1 - p0) exceeds GM(p1) where
    folds disagree by more than their widths.

    References:
        Vovk & Petej (2014), UAI, for the inductive predictor and its calibration. Vovk, Petej & Fedorova
        (2015), NIPS, for the algorithm, the merging (log loss) and the cross predictor. There each fold
        calibrates a scorer trained on the others; here the scores are given, so folds share one scorer.
    """

    name: ClassVar = RecalibratorName.VENN_ABERS
    brackets: ClassVar = True
    folds: Annotated[
        tuple[Bracket, ...], Size(1, MOST_FOLDS), "The pair of each fold; one for the inductive predictor."
    ]
    _regions: Annotated["_Regions", HIDDEN] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_regions", _Regions.of(self.folds))

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Bracket, ...]]]:
        return type(self), (self.folds,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VennAbers) and self.folds == other.folds

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:  # noqa: ARG003
        """Find p0 and p1 for every score there can be, exactly.

        Args:
            table: The fit rows. A cell of a grid table counts as one score.
            options: The folds, None for one; and the seed that shares rows out among them.
        """
        require_both_labels(table)
        if table.weighted:
            msg = "venn-abers cannot use importance weights: the row to be repaired has none"
            raise UsageProblem(msg, "use --method isotonic, or --weights-are frequency for repeated rows")
        return cls(tuple(Bracket.of(part) for part in _parts(table, options)))

    def predict(self, scores: Floats) -> Floats:
        """Return the merged probability of each score."""
        scores = checked_scores(scores)
        found: Floats = self._regions.point[self._regions.region_of(scores)]
        return found

    def ends(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return p0 and p1 of each score; of several folds the lowest p0 and the highest p1."""
        region = self._regions.region_of(checked_scores(scores))
        return self._regions.lower[region], self._regions.upper[region]

    @property
    def regions(self) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
        """The scores at which something changes, shape (n,), and p0, the point and p1 below the first of
        them, on it, between it and the second, on that, and so on, shapes (2 n + 1,).
        """
        found = self._regions
        return found.cuts[:-1], (found.lower, found.point, found.upper)


def _parts(table: Table, options: FitOptions) -> Sequence[Table]:
    """Return the rows of each fold."""
    if options.folds is None:
        return [table]
    if table.total_rows < options.folds:
        msg = f"{table.total_rows:,} rows cannot be shared out among {options.folds:,} folds"
        raise InputProblem(msg, "ask for fewer --folds")
    return split_table(table, options.folds, generator=stream(options.seed, Purpose.CROSS))


@dataclass(frozen=True, slots=True, eq=False)
class _Regions:
    """Every output there is: below the first cut, on it, between it and the second, on that, and so on.

    Args:
        cuts: Scores at which something changes, strictly ascending, shape (n_cuts,); then infinity.
        lower: p0 in each region, shape (2 n_cuts + 1,).
        point: The merged probability.
        upper: p1.
    """

    cuts: Floats
    lower: Floats
    point: Floats
    upper: Floats

    @classmethod
    def of(cls, folds: Sequence[Bracket]) -> Self:
        """Cut [0, 1] wherever a fold changes."""
        cuts = np.unique(np.concatenate([part for fold in folds for part in (fold.first, fold.last)]))
        lowest, highest = np.ones(2 * cuts.size + 1), np.zeros(2 * cuts.size + 1)
        log_odds = np.zeros(2 * cuts.size + 1)
        for fold in folds:
            low, high = (np.repeat(level, 2) for level in fold.at_each(cuts))
            # Levels with label 0 hold from a cut on, those with label 1 up to it.
            low, high = np.concatenate(([0.0], low)), np.concatenate((high, [1.0]))
            lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
            log_odds += (np.log(high) - np.log1p(-low)) / len(folds)
        # The same for one pair, but for the last digits.
        point = highest / (1.0 - lowest + highest)
        if len(folds) > 1:
            point = 1.0 / (1.0 + np.exp(-log_odds))
        columns = (np.append(cuts, np.inf), lowest, np.clip(point, lowest, highest), highest)
        return cls(*(frozen(column, np.float64) for column in columns))

    def region_of(self, scores: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
        before = np.searchsorted(self.cuts, scores, side="left")
        return np.asarray(2 * before + (self.cuts[before] == scores), dtype=np.intp)
