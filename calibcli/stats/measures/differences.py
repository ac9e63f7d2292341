"""How two scores of the same rows differ: row by row where a measure is a
mean over rows, or an area of ranks, else by both intervals.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Self

import numpy as np

from calibcli.codec import HIDDEN, INLINE, AnyNumber, Declared
from calibcli.names import GAVE_ZERO, RANKED, ClassMeasure, ComparisonName, MeasureName, Target
from calibcli.stats.bounds import FROM_BOTH, Interval, stated, why_none
from calibcli.stats.bounds.means import METHOD, Values
from calibcli.stats.bounds.proportion import difference_of_shares, hoeffding_deviation
from calibcli.stats.measures import (
    HELD_OUT,
    HOEFFDING,
    INDEPENDENT_ROWS,
    NOT_BY_LABELS,
    ClassEstimate,
    Estimate,
)
from calibcli.stats.measures.discrimination import RISK_METHOD, Influence
from calibcli.stats.measures.scores import (
    NO_HEAVIER,
    NO_MORE_EXTREME,
    from_cells,
    gave_zero,
    losses_of_rows,
    one_row,
    unseen_words,
    weighted_values,
)
from calibcli.stats.numerics import ExactSum, normal_quantile
from calibcli.stats.table import ONCE, Booleans, Floats, Weighing
from calibcli.stats.table.grid import Table
from calibcli.stats.table.value_cells import ValueSums, worst_log_loss
from calibcli.values import dataclass, field, replace

Compared = MeasureName | ClassMeasure

Map = Callable[[Floats], Floats]

PAIRED = (MeasureName.BRIER, MeasureName.LOG_LOSS)

# How the sentence begins that says why two scores are not told apart.
UNDECIDED = "not told apart because "

LOG_LOSSES = (MeasureName.LOG_LOSS, ClassMeasure.CLASS_LOG_LOSS)

PAIRED_METHOD = f"paired, {METHOD}"
RANKED_METHOD = f"paired, {RISK_METHOD}"
SHARES_METHOD = "Clopper-Pearson of the rows that one side alone gets right, and of who does"

# Rows whose differences are summed at once: they fit the processor's cache.
_CHUNK = 1 << 17

_ROUNDED = 1 << 50

# At so many scores maps are compared.
_POINTS = 10_001

# Scores that are nearer to each other, by this share of themselves, may be one that was rounded.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Difference(Declared):
    """How much larger a measure is for the second score than for the first; below 0 the second is better, but
    above 0 by measures of which more is better, such as accuracy and auroc.
    """

    name: Annotated[Compared, HIDDEN]
    value: Annotated[
        AnyNumber | None,
        "Second less first; infinite where one of them is, null where both are or that may be chance.",
    ]
    interval: Annotated[Interval | None, INLINE]
    assumptions: Annotated[
        tuple[str, ...],
        "Under which value and interval mean what they say; the reason where there is no difference or "
        "interval.",
    ]
    # How likely independent rows in which one score alone was certain and wrong are to be all on
    # one side, where either may be certain and wrong; 0 where the other never is.
    chance: Annotated[float, HIDDEN] = 0.0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why there is no number, no interval or no verdict, in words."""
        left_open = (one.removeprefix(UNDECIDED) for one in self.assumptions if one.startswith(UNDECIDED))
        return (*why_none(self.assumptions), *left_open)

    @property
    def judged(self) -> bool:
        """Whether there was anything to judge by: an interval, or a loss that one row makes infinite."""
        return self.interval is not None or (self.value is not None and math.isinf(self.value))

    @property
    def equal(self) -> bool:
        """Whether it is 0 and its interval leaves room for nothing else, as for ranks that no map changes."""
        return self.value == 0.0 and self.interval is not None and self.interval.ends == (0.0, 0.0)

    @property
    def undecided(self) -> bool:
        """Whether it was judged, and neither is shown to be better, nor that both are equal."""
        return self.judged and not self.equal and self.verdict is ComparisonName.NOT_TOLD_APART

    @property
    def verdict(self) -> ComparisonName:
        """Which way the interval lies of 0, if it does.

        A row that is certain and wrong settles a log loss without one: it is infinite in the population too.
        """
        more, less = ComparisonName.WORSE, ComparisonName.BETTER
        if self.name.facts.more_is_better:
            more, less = less, more
        if self.value is not None and math.isinf(self.value):
            return more if self.value > 0.0 else less
        if self.interval is not None and self.interval.lower is not None and self.interval.lower > 0.0:
            return more
        if self.interval is not None and self.interval.upper is not None and self.interval.upper < 0.0:
            return less
        return ComparisonName.NOT_TOLD_APART


@dataclass(frozen=True, slots=True)
class Skill(Declared):
    """Which share of the loss of a reference a score saves: 1 is perfect foresight, below 0 it is worse."""

    value: Annotated[AnyNumber | None, "1 less the loss by that of the reference; null where that is 0."]
    interval: Annotated[Interval | None, INLINE]


@dataclass(slots=True, eq=False)
class _Sums(ValueSums):
    """Sums over rows of a difference d; rows with an infinite loss are counted instead.

    Args:
        moved: Of w^2 times the square of what the label changes of d; empty without importance weights.
        infinite: Rows where the loss of the first score is infinite, and of the second.
        worst: The largest loss that a row can have by the first score, and by the second.
        certain: Weighted rows of which the loss of a label is infinite, seen or not.
    """

    moved: ExactSum = field(default_factory=ExactSum)
    infinite: tuple[int, int] = (0, 0)
    worst: tuple[float, float] = (0.0, 0.0)
    certain: int = 0

    def turned(self) -> "_Sums":
        """Return the sums of the first less the second."""
        return _Sums(
            self.linear.negated(),
            self.squared_linear.negated(),
            self.squares,
            self.cells.mirrored(),
            self.moved,
            self.infinite[::-1],
            self.worst[::-1],
            self.certain,
        )

    def merge(self, other: Self) -> None:
        ValueSums.merge(self, other)
        self.moved.merge(other.moved)
        self.infinite = self.infinite[0] + other.infinite[0], self.infinite[1] + other.infinite[1]
        self.could_be(other.worst)
        self.certain += other.certain

    def could_be(self, worst: tuple[float, float]) -> None:
        """Note the largest losses that further rows can have."""
        self.worst = max(self.worst[0], worst[0]), max(self.worst[1], worst[1])

    def values(self, mean: Fraction, variance: Fraction, *, rows: Fraction, weighted: bool) -> Values:
        """Return the differences, as far as they are known; `variance` is that of the mean."""
        if weighted:
            return weighted_values(self.cells, mean=float(mean), variance=float(variance), rows=float(rows))
        # The mean of squares about the mean, without the correction for one degree of freedom.
        return from_cells(self.cells, mean=float(mean), variance=float(variance * (rows - 1)))


class PairedSums:
    """Sums of the differences of losses between two scores of the same rows.

    Sums are exact, so that no order of the rows, no cut into parts and no number of workers changes a digit,
    and their memory is the same for any number of rows.
    """

    def __init__(self, names: tuple[Compared, ...] = PAIRED, *, thresholds: Sequence[float] = ()) -> None:
        self.rows = 0
        # Rows of label 1 that only the second score takes to a threshold and that only the first does, then
        # the same of label 0, at each; empty with importance weights.
        self._thresholds = np.array(thresholds)
        self._moves = np.zeros((4, self._thresholds.size), np.int64)
        self._weight = ExactSum()
        self._weight_sq = ExactSum()
        self._weighted = False
        self._of = {name: _Sums() for name in names}
        # The least and the largest difference there can be, where more is known than the worst of each score.
        self.reach: dict[Compared, tuple[float, float]] = {}

    def add(
        self,
        first: Floats,
        second: Floats,
        label: Booleans,
        weighing: Weighing = ONCE,
    ) -> None:
        for start in range(0, first.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            some, scores, heavy = label[part], (first[part], second[part]), weighing.of(part)
            self._move(*scores, some, heavy)
            if heavy.weight is not None:
                self._add_moved(*scores, heavy.weight)
            self.add_losses(
                {
                    name: (losses_of_rows(name, scores[0], some), losses_of_rows(name, scores[1], some))
                    for name in PAIRED
                },
                heavy,
                worst=worst_of_scores(*scores),
            )

    def add_losses(
        self,
        losses: Mapping[Compared, tuple[Floats, Floats]],
        weighing: Weighing = ONCE,
        *,
        worst: Mapping[Compared, tuple[float, float]],
    ) -> None:
        """Add rows by what each loses under the first score and under the second, for every loss."""
        self.rows += int(weighing.times(next(iter(losses.values()))[0].size).sum())
        weight = weighing.weight
        self._weighted = self._weighted or weight is not None
        if weight is not None:
            self._weight.add(weight)
            self._weight_sq.add(weight * weight)
        for name, pair in losses.items():
            self._of[name].could_be(worst[name])
            _add(self._of[name], *pair, weighing)

    def also(self, other: Self) -> None:
        """Take what another says of further measures of the same rows."""
        self._of |= other._of
        self.reach |= other.reach

    def reaches(self, known: Mapping[Compared, tuple[float, float]]) -> None:
        """Note how far apart losses can be, where more is known than the worst of each score.

        That is of the scores of a table, whose cells may hide a row to which a map gives 0 or 1.
        """
        for name, (least, most) in known.items():
            first, second = self._of[name].worst
            self.reach[name] = -first if math.isinf(first) else least, second if math.isinf(second) else most

    def _add_moved(self, first: Floats, second: Floats, weight: Floats) -> None:
        one, other = np.ones(weight.size, np.bool_), np.zeros(weight.size, np.bool_)
        for name in PAIRED:
            with np.errstate(invalid="ignore"):
                right, wrong = (
                    losses_of_rows(name, second, label) - losses_of_rows(name, first, label)
                    for label in (one, other)
                )
            moved = np.where(np.isfinite(right - wrong), weight * (right - wrong), 0.0)
            sums = self._of[name]
            sums.certain += int(np.count_nonzero(~np.isfinite(right - wrong)))
            sums.moved.add(moved * moved)

    @property
    def moves(self) -> Floats:
        """Rows that only one of the two scores takes to each threshold, shape (4, n), or without any."""
        return self._moves[:, : 0 if self._weighted else None].astype(np.float64)

    def _move(self, first: Floats, second: Floats, label: Booleans, weighing: Weighing) -> None:
        for place, threshold in enumerate(self._thresholds):
            before, after = first >= threshold, second >= threshold
            up, down = after & ~before, before & ~after
            for kind, seen in enumerate((up & label, down & label, up & ~label, down & ~label)):
                self._moves[kind, place] += weighing.number(seen)

    def merge(self, other: Self) -> None:
        self.rows += other.rows
        self._moves += other._moves
        self._weight.merge(other._weight)
        self._weight_sq.merge(other._weight_sq)
        self._weighted = self._weighted or other._weighted
        for name, sums in self._of.items():
            sums.merge(other._of[name])

    def turned(self) -> "PairedSums":
        """Return the sums of the same rows with both scores in the place of each other."""
        other = PairedSums(())
        other.rows, other._weight, other._weight_sq = self.rows, self._weight, self._weight_sq
        other._weighted = self._weighted
        other._of = {name: sums.turned() for name, sums in self._of.items()}
        other.reach = {name: (-most, -least) for name, (least, most) in self.reach.items()}
        return other

    def difference(self, name: Compared, *, confidence: float) -> Difference:
        """Return the mean difference, second less first, with its interval over rows.

        It is that of the differences themselves, so what makes a row hard for both scores alike cancels. One
        row is added that has the largest loss by one score and none by the other. With importance weights it
        is the same of w (d - mean), and no nearer than by the mean and its standard error alone. Accuracies
        without weights differ by two shares of the same rows, whose interval holds at any number of rows.
        """
        sums = self._of[name]
        if name is ClassMeasure.ACCURACY and not self._weighted and self.rows > 0:
            # Of two shares of the same rows, from sums of 0, 1 and -1 and of their squares.
            linear, square = int(sums.linear.exact()), int(sums.squares.exact())
            gained, lost = (square + linear) / 2.0, (square - linear) / 2.0
            ends = difference_of_shares(gained, lost, float(self.rows), delta=1.0 - confidence)
            interval = Interval(*ends, confidence, SHARES_METHOD, Target.POPULATION, finite_sample=True)
            return Difference(name, linear / self.rows, interval, (INDEPENDENT_ROWS,))
        assumptions = [INDEPENDENT_ROWS, HELD_OUT]
        if not self.rows:
            return Difference(name, None, None, (*assumptions, "not compared: there is no row of both"))
        without = _infinite(sums.infinite, worst=sums.worst, delta=1.0 - confidence)
        if without is not None:
            value, reason, chance = without
            if value is not None and not chance:
                assumptions.append(NO_MORE_EXTREME)
            return Difference(name, value, None, (*assumptions, reason), chance)
        total = total_sq = Fraction(self.rows)
        if self._weighted:
            total, total_sq = self._weight.exact(), self._weight_sq.exact()
        mean = sums.linear.exact() / total
        rows = total * total / total_sq
        if rows < Fraction(3, 2):
            return Difference(name, float(mean), None, (*assumptions, one_row(self.rows)))
        squared_linear = (sums.squared_linear if self._weighted else sums.linear).exact()
        plain = sums.squares.exact()
        squares = plain - 2 * mean * squared_linear + mean * mean * total_sq
        # The squares were rounded, each in its last digit: what is left of them by no more is nothing.
        squares = Fraction(0) if squares <= plain / _ROUNDED else squares
        variance = squares * rows / (rows - 1) / (total * total)
        values = sums.values(mean, variance, rows=rows, weighted=self._weighted)
        reach = self.reach.get(name, (-sums.worst[0], sums.worst[1]))
        method, delta = RANKED_METHOD if name in RANKED else PAIRED_METHOD, (1.0 - confidence) / 2.0
        # By a row added with the least or the largest difference that there can be.
        lower = stated(max(reach[0], values.lower_bound(least=reach[0], delta=delta)))
        upper = stated(min(reach[1], values.upper_bound(most=reach[1], delta=delta)))
        interval = Interval(lower, upper, confidence, method, Target.POPULATION, finite_sample=False)
        if name in LOG_LOSSES:
            assumptions.append(NO_MORE_EXTREME)
        if self._weighted:
            assumptions.append(NO_HEAVIER)
        why = _why_open(name, interval, values, reach)
        if name in RANKED:
            span = name.facts.most - name.facts.least
            low, high = interval.ends
            interval = replace(interval, lower=max(-span, low), upper=min(span, high))
        return Difference(name, float(mean), interval, (*assumptions, *(() if why is None else (why,))))

    def difference_here(self, name: Compared, *, confidence: float) -> Difference:
        """Return the same of rows with importance weights, with bounds that hold for any weights.

        At these very scores and weights the mean is a sum of independent terms, each of which takes one of
        two values: Hoeffding's bound, by how far these lie apart, which is little where the scores agree.
        """
        found, sums = self.difference(name, confidence=confidence), self._of[name]
        if found.interval is None or found.value is None:
            return found
        assumptions = (INDEPENDENT_ROWS, HELD_OUT, NOT_BY_LABELS)
        if sums.certain:
            why = "no interval: a score is 0 or 1, and one that is wrong makes the log loss infinite"
            return replace(found, interval=None, assumptions=(*assumptions, why))
        moved = math.sqrt(float(sums.moved.exact())) / float(self._weight.exact())
        margin = moved * hoeffding_deviation(1.0, (1.0 - confidence) / 2.0)
        ends = found.value - margin, found.value + margin
        interval = Interval(*ends, confidence, HOEFFDING, Target.FIXED_DESIGN, finite_sample=True)
        return replace(found, interval=interval, assumptions=assumptions)

    @property
    def names(self) -> tuple[Compared, ...]:
        return tuple(self._of)


def _add(sums: _Sums, first: Floats, second: Floats, weighing: Weighing) -> None:
    infinite = np.isinf(first) | np.isinf(second)
    if infinite.any():
        sums.infinite = (
            sums.infinite[0] + weighing.number(np.isinf(first)),
            sums.infinite[1] + weighing.number(np.isinf(second)),
        )
        first, second = (np.where(infinite, 0.0, losses) for losses in (first, second))
    difference, (counts, weight) = second - first, weighing
    if weight is None:
        sums.add_values(difference, counts)
    else:
        sums.add_weighted(difference, weight)


def ranked_sums(
    names: Sequence[MeasureName], first: Table, second: Table, *, same_labels: bool = True
) -> "RankedSums | None":
    """Return nothing yet of how areas of two scores differ; None where a table leaves no interval."""
    pairs = influences_of(names, first, second)
    return RankedSums(pairs, same_labels=same_labels) if pairs else None


def influences_of(
    names: Sequence[MeasureName], first: Table, second: Table
) -> dict[MeasureName, tuple[Influence, Influence]]:
    """Return what rows add to each area by either score, where both tables leave it an interval."""
    found = {name: (Influence.of(name, first), Influence.of(name, second)) for name in names}
    return {name: (one, two) for name, (one, two) in found.items() if one is not None and two is not None}


class RankedSums:
    """Sums of the differences of what rows add to areas of two scores, whose tables are known."""

    def __init__(
        self, pairs: Mapping[MeasureName, tuple[Influence, Influence]], *, same_labels: bool
    ) -> None:
        self._pairs = pairs
        self.sums = PairedSums(tuple(pairs))
        for name, (one, two) in pairs.items():
            labels = ((0, 0), (1, 1)) if same_labels else ((0, 1), (1, 0), (0, 0), (1, 1))
            least = min(two.ends[second][0] - one.ends[first][1] for first, second in labels)
            most = max(two.ends[second][1] - one.ends[first][0] for first, second in labels)
            self.sums.reach[name] = least, most

    def add(
        self,
        first: tuple[Floats, Booleans],
        second: tuple[Floats, Booleans],
        weighing: Weighing = ONCE,
    ) -> None:
        added: dict[Compared, tuple[Floats, Floats]] = {
            name: (one.of_rows(*first), two.of_rows(*second)) for name, (one, two) in self._pairs.items()
        }
        self.sums.add_losses(added, weighing, worst=dict.fromkeys(added, (0.0, 0.0)))


def worst_of_scores(first: Floats, second: Floats) -> dict[Compared, tuple[float, float]]:
    """Return the largest losses that rows with these scores can have."""
    low, high = (worst_log_loss(np.minimum(score, 1.0 - score)) for score in (first, second))
    return {MeasureName.BRIER: (1.0, 1.0), MeasureName.LOG_LOSS: (low, high)}


def reach_of_maps(
    first: Map,
    second: Map,
    scores: Floats,
    *,
    corners: Floats | tuple[()] = (),
    ranked: Mapping[MeasureName, tuple[Influence, Influence]] | None = None,
) -> dict[Compared, tuple[float, float]]:
    """Return the least and the largest difference of losses that two maps of one score can have.

    A row whose two scores are maps of one has no pair of losses that the maps do not have. Squared errors
    and ranks are looked at over [0, 1], log losses as near to its ends as these scores: at scores on a grid,
    at these scores, and at the corners of the maps.
    """
    found: dict[Compared, tuple[float, float]] = {}
    ranked = ranked or {}
    least = min(float(scores.min()), 1.0 - float(scores.max()))
    for low, names in ((0.0, (MeasureName.BRIER, *ranked)), (least, (MeasureName.LOG_LOSS,))):
        # Where no score is 0 or 1, rounding makes none 1.
        high = min(1.0 - low, math.nextafter(1.0, 0.0)) if low else 1.0
        at = np.concatenate((np.linspace(low, high, _POINTS), scores, corners))
        at = at[(at >= low) & (at <= high)]
        one, other, told = first(at), second(at), _told_apart(at, scores)
        for name in names:
            ends = [0.0, 0.0]
            for label in (np.zeros(at.size, np.bool_), np.ones(at.size, np.bool_)):
                if name in ranked:
                    before, after = ranked[name]
                    apart = (after.of_rows(other, label) - before.of_rows(one, label))[told]
                else:
                    with np.errstate(invalid="ignore"):
                        apart = losses_of_rows(name, other, label) - losses_of_rows(name, one, label)
                if np.isnan(apart).any():
                    # Both are infinite there.
                    ends = [-math.inf, math.inf]
                    break
                ends = [min(ends[0], float(apart.min())), max(ends[1], float(apart.max()))]
            found[name] = ends[0], ends[1]
    return found


def _told_apart(points: Floats, scores: Floats) -> Booleans:
    """Return which points are one of the scores, or more than rounding away from every score.

    Next to a score a rising map may give two numbers the same probability, and then ranks them otherwise.
    """
    known = np.unique(scores)
    place = np.searchsorted(known, points)
    lower, upper = known[np.maximum(place - 1, 0)], known[np.minimum(place, known.size - 1)]
    nearest = np.minimum(np.abs(points - lower), np.abs(points - upper))
    return np.asarray((nearest == 0.0) | (nearest > _ROUNDING * points))


def _why_open(name: Compared, interval: Interval, values: Values, reach: tuple[float, float]) -> str | None:
    """Return why rows that look as if they told two scores apart do not, which is the row that was added.

    Where that row leaves neither end, it is why, however alike the scores look.
    """
    lower, upper = interval.ends
    delta = (1.0 - interval.confidence) / 2.0
    seen = values.mean / max(normal_quantile(1.0 - delta) * values.standard_error, math.ulp(0.0))
    endless = math.isinf(lower) and math.isinf(upper)
    if not lower <= 0.0 <= upper or (abs(seen) <= 1.0 and not endless):
        return None
    largest = None if name in RANKED else reach[1] if seen < 0.0 else -reach[0]
    words = unseen_words(values.costly_rows, values.total, largest=largest, delta=delta)
    return f"{UNDECIDED}{words}"


def _infinite(
    rows: tuple[int, int], *, worst: tuple[float, float], delta: float
) -> tuple[float | None, str, float] | None:
    """Return a difference that has no interval, why, and its chance; None where it has one.

    One infinite loss settles a comparison with a score that can have none. One that says 0 or 1 as well was
    right so far: then it takes as many rows on one side as a sign test does.
    """
    first, second = rows
    if not first and not second:
        return None
    if first and second:
        both = f"{first:,} by the first score and {second:,} by the second"
        return None, f"not compared: rows {GAVE_ZERO}, {both}, so both mean losses are infinite", 0.0
    side, other = ("first", "second") if first else ("second", "first")
    said = f"{gave_zero(first + second)} by the {side} score, so its mean loss is infinite"
    chance = 2.0 * 0.5 ** (first + second) if math.isinf(worst[1 if first else 0]) else 0.0
    if chance > delta:
        few = f"the {other} says 0 or 1 too, and so few rows on one side may be chance"
        return None, f"not compared: {said}; {few}", chance
    return (math.inf if second else -math.inf), f"no interval: {said}", chance


_OF_BOTH = (
    "upper bounds speak of the population and lower ones of these scores, so that the difference is bounded "
    "only as far as these scores stand for the population"
)


def difference_of_intervals(
    first: Estimate | ClassEstimate, second: Estimate | ClassEstimate, *, confidence: float
) -> Difference:
    """Return a difference from two estimates that are no means over rows, such as calibration errors.

    By Bonferroni: if each interval misses with probability at most half of 1 - confidence, then with
    `confidence` both hold and the difference lies in [L2 - U1, U2 - L1]. This does not use that the rows are
    the same, and is wide for it.

    Args:
        first: With an interval at confidence 1 - (1 - confidence) / 2.
        second: The same of the second score.
    """
    value = second.value - first.value
    one, two = first.interval, second.interval
    assumptions = tuple(dict.fromkeys((*first.assumptions, *second.assumptions)))
    if not math.isfinite(value):
        return Difference(first.name, None, None, assumptions)
    if one is None or two is None:
        if not why_none(assumptions):
            assumptions = (*assumptions, "no interval: one of the two scores has none")
        return Difference(first.name, value, None, assumptions)
    (least, most), (lowest, highest) = one.ends, two.ends
    lower, upper = stated(lowest - most), stated(highest - least)
    each = f"{100.0 * one.confidence:.6g} %"
    finite = one.finite_sample and two.finite_sample
    if one.target is Target.MIXED:
        assumptions = (*assumptions, _OF_BOTH)
    interval = Interval(lower, upper, confidence, f"{FROM_BOTH} at {each}", one.target, finite)
    return Difference(first.name, value, interval, assumptions)


def skill(difference: Difference, reference: Estimate | ClassEstimate, *, confidence: float) -> Skill:
    """Return the share of the reference's loss that a score saves, from intervals that hold together.

    Args:
        difference: The score less the reference, on the rows of the reference.
        reference: Its interval and that of the difference err in at most 1 - confidence together.
    """
    loss = reference.value
    if difference.value is None or not (loss > 0.0 and math.isfinite(loss)):
        return Skill(None, None)
    value = -difference.value / loss
    apart, whole = difference.interval, reference.interval
    if apart is None or whole is None:
        return Skill(value, None)
    low, high = apart.ends
    ends = [_saved(-high, whole, least=True), _saved(-low, whole, least=False)]
    method = f"{apart.method}, by the interval of the reference's loss"
    # No loss is below 0.
    lower, upper = stated(ends[0]), min(1.0, ends[1])
    return Skill(value, Interval(lower, upper, confidence, method, Target.POPULATION, finite_sample=False))


def _saved(saved: float, loss: Interval, *, least: bool) -> float:
    """Return the least or the largest share that savings can be of a loss within its interval."""
    low, high = max(0.0, loss.ends[0]), loss.ends[1]
    by = high if (saved > 0.0) == least else low
    if by == 0.0 or math.isinf(saved):
        return math.copysign(math.inf, saved) if saved else 0.0
    return saved / by
