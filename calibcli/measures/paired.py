"""Two scores of the same rows: differences of losses, row by row where a loss is a mean over rows."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from calibcli.bounds.interval import Interval
from calibcli.bounds.special import normal_quantile
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.names import ComparisonName, MeasureName, Target
from calibcli.table.exact_sum import ExactSum
from calibcli.table.score_table import Floats, Integers

PAIRED = (MeasureName.BRIER, MeasureName.LOG_LOSS)
# Rows whose differences are summed at once: they fit the processor's cache.
_CHUNK = 1 << 17
_ROUNDED = 1 << 50
_OF_BOTH = (
    "upper bounds speak of the population and lower ones of these scores, so that the difference is bounded "
    "only as far as these scores stand for the population"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """
    How much larger a measure is for the second score than for the first; below 0 the second is better.

    Args:
        name: Which measure.

        value: Second less first; inf or -inf where one of them is infinite, None where both are.

        interval: Its confidence bounds, or None with the reason among the assumptions.

        assumptions: Sentences under which value and interval mean what they say.
    """

    name: MeasureName
    value: float | None
    interval: Interval | None
    assumptions: tuple[str, ...]

    @property
    def verdict(self) -> ComparisonName:
        """
        Which way the interval lies of 0, if it does.

        A row that is certain and wrong settles a log loss without one: it is infinite in the population too.
        """
        if self.value is not None and math.isinf(self.value):
            return ComparisonName.WORSE if self.value > 0.0 else ComparisonName.BETTER
        if self.interval is not None and self.interval.lower is not None and self.interval.lower > 0.0:
            return ComparisonName.WORSE
        if self.interval is not None and self.interval.upper is not None and self.interval.upper < 0.0:
            return ComparisonName.BETTER
        return ComparisonName.NOT_TOLD_APART


@dataclass(slots=True)
class _Sums:
    """
    Sums over rows of a difference d; rows with an infinite loss are counted instead.

    Args:
        linear: Of w d.

        squared_linear: Of w^2 d; left empty without importance weights, where it is `linear`.

        squares: Of w^2 d^2.

        infinite: Rows where the loss of the first score is infinite, and of the second.
    """

    linear: ExactSum = field(default_factory=ExactSum)
    squared_linear: ExactSum = field(default_factory=ExactSum)
    squares: ExactSum = field(default_factory=ExactSum)
    infinite: tuple[int, int] = (0, 0)


class PairedSums:
    """
    Sums of the differences of squared error and log loss between two scores of the same rows.

    Sums are exact, so that no order of the rows, no cut into parts and no number of workers changes a digit,
    and their memory is the same for any number of rows.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._weight = ExactSum()
        self._weight_sq = ExactSum()
        self._weighted = False
        self._of = {name: _Sums() for name in PAIRED}

    def add(
        self,
        first: Floats,
        second: Floats,
        label: npt.NDArray[np.bool_],
        *,
        counts: Integers | None = None,
        weight: Floats | None = None,
    ) -> None:
        """
        Add rows.

        Args:
            first: Probabilities of the first score, shape (n,).

            second: Those of the second, shape (n,).

            label: Shape (n,), True for label 1.

            counts: Frequency weights, or None.

            weight: Importance weights, or None.
        """
        self.rows += first.size if counts is None else int(counts.sum())
        self._weighted = self._weighted or weight is not None
        if weight is not None:
            self._weight.add(weight)
            self._weight_sq.add(weight * weight)
        for start in range(0, first.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            for name, sums in self._of.items():
                losses = [_loss(name, scores[part], label[part]) for scores in (first, second)]
                _add(
                    sums,
                    *losses,
                    counts=None if counts is None else counts[part],
                    weight=None if weight is None else weight[part],
                )

    def merge(self, other: "PairedSums") -> None:
        """Add the rows of another."""
        self.rows += other.rows
        self._weight.merge(other._weight)  # noqa: SLF001 - its own kind
        self._weight_sq.merge(other._weight_sq)  # noqa: SLF001 - its own kind
        self._weighted = self._weighted or other._weighted  # noqa: SLF001 - its own kind
        for name, sums in self._of.items():
            theirs = other._of[name]  # noqa: SLF001 - its own kind
            sums.linear.merge(theirs.linear)
            sums.squared_linear.merge(theirs.squared_linear)
            sums.squares.merge(theirs.squares)
            sums.infinite = (
                sums.infinite[0] + theirs.infinite[0],
                sums.infinite[1] + theirs.infinite[1],
            )

    def difference(self, name: MeasureName, *, confidence: float) -> Difference:
        """
        Return the mean difference, second less first, with its normal interval over rows.

        The spread is that of the differences themselves, so what makes a row hard for both scores alike
        cancels. Importance weights: the sandwich form, sum w^2 (d - mean)^2 / (sum w)^2.

        Args:
            name: Brier score or log loss.

            confidence: Coverage asked of the two-sided interval, in (0, 1).
        """
        sums = self._of[name]
        assumptions = [INDEPENDENT_ROWS, HELD_OUT, "approximate below 1,000 rows"]
        reason = _infinite(sums.infinite)
        if reason is not None:
            first, second = sums.infinite
            value = None if first and second else math.inf if second else -math.inf
            return Difference(name, value, None, (*assumptions, reason))
        total, total_sq = self._totals()
        mean = sums.linear.exact() / total
        rows = total * total / total_sq
        if rows < Fraction(3, 2):
            few = "no interval: one row" if self.rows < 2 else "no interval: one row has the weight"
            return Difference(name, float(mean), None, (*assumptions, few))
        squared_linear = (sums.squared_linear if self._weighted else sums.linear).exact()
        plain = sums.squares.exact()
        squares = plain - 2 * mean * squared_linear + mean * mean * total_sq
        # The squares were rounded, each in its last digit: what is left of them by no more is nothing.
        squares = Fraction(0) if squares <= plain / _ROUNDED else squares
        variance = squares * rows / (rows - 1) / (total * total)
        interval = _normal_interval(float(mean), math.sqrt(float(variance)), confidence=confidence)
        if interval is None:
            assumptions.append("no interval: every row has the same difference, so nothing varies")
        return Difference(name, float(mean), interval, tuple(assumptions))

    def _totals(self) -> tuple[Fraction, Fraction]:
        """Return the sum of the weights and of their squares."""
        if not self._weighted:
            return Fraction(self.rows), Fraction(self.rows)
        return self._weight.exact(), self._weight_sq.exact()


def difference_of_intervals(first: Estimate, second: Estimate, *, confidence: float) -> Difference:
    """
    Return a difference from two estimates that are no means over rows, such as calibration errors.

    By Bonferroni: if each interval misses with probability at most half of 1 - confidence, then with
    `confidence` both hold and the difference lies in [L2 - U1, U2 - L1]. This does not use that the rows are
    the same, and is wide for it.

    Args:
        first: With an interval at confidence 1 - (1 - confidence) / 2.

        second: The same of the second score.

        confidence: Coverage asked of the interval of the difference.
    """
    value = second.value - first.value
    one, two = first.interval, second.interval
    assumptions = tuple(dict.fromkeys((*first.assumptions, *second.assumptions)))
    if not math.isfinite(value):
        return Difference(first.name, None, None, assumptions)
    if one is None or two is None:
        if not any(sentence.startswith("no interval") for sentence in assumptions):
            assumptions = (*assumptions, "no interval: one of the two scores has none")
        return Difference(first.name, value, None, assumptions)
    lower = None if two.lower is None or one.upper is None else two.lower - one.upper
    upper = None if two.upper is None or one.lower is None else two.upper - one.lower
    each = f"{100.0 * one.confidence:.6g} %"
    finite = one.finite_sample and two.finite_sample
    if one.target is Target.MIXED:
        assumptions = (*assumptions, _OF_BOTH)
    interval = Interval(
        lower, upper, confidence, f"Bonferroni of both intervals at {each}", one.target, finite
    )
    return Difference(first.name, value, interval, assumptions)


def _loss(name: MeasureName, score: Floats, label: npt.NDArray[np.bool_]) -> Floats:
    """Return the loss of each row."""
    if name is MeasureName.BRIER:
        return np.asarray((score - label) ** 2)
    loss = np.empty_like(score)
    with np.errstate(divide="ignore"):
        loss[label] = -np.log(score[label])
        loss[~label] = -np.log1p(-score[~label])
    return loss


def _add(
    sums: _Sums, first: Floats, second: Floats, *, counts: Integers | None, weight: Floats | None
) -> None:
    """Add the differences of two columns of losses."""
    infinite = np.isinf(first) | np.isinf(second)
    if infinite.any():
        counting = infinite if weight is None else infinite & (weight > 0.0)
        number = np.ones(first.size, np.int64) if counts is None else counts
        sums.infinite = (
            sums.infinite[0] + int(number[counting & np.isinf(first)].sum()),
            sums.infinite[1] + int(number[counting & np.isinf(second)].sum()),
        )
        first, second = (np.where(infinite, 0.0, losses) for losses in (first, second))
    difference = second - first
    if counts is not None:
        sums.linear.add_repeated(difference, counts)
        sums.squares.add_repeated(difference * difference, counts)
    elif weight is not None:
        heavy = weight * difference
        sums.linear.add(heavy)
        sums.squared_linear.add(weight * heavy)
        sums.squares.add(heavy * heavy)
    else:
        sums.linear.add(difference)
        sums.squares.add(difference * difference)


def _normal_interval(value: float, spread: float, *, confidence: float) -> Interval | None:
    """Return the interval of a mean difference, or None where nothing but a common difference is seen."""
    if value and not spread:
        return None
    margin = normal_quantile(0.5 + confidence / 2.0) * spread
    ends = (value - margin, value + margin)
    return Interval(*ends, confidence, "paired normal", Target.POPULATION, finite_sample=False)


def _infinite(rows: tuple[int, int]) -> str | None:
    """Return why a difference is no number, or None if it is one."""
    first, second = rows
    if not first and not second:
        return None
    if first and second:
        both = f"{first:,} by the first score and {second:,} by the second"
        return f"no difference: rows were certain and wrong, {both}, so both mean losses are infinite"
    some = f"{first + second:,} row was" if first + second == 1 else f"{first + second:,} rows were"
    side = "first" if first else "second"
    return f"no interval: {some} certain and wrong by the {side} score, so its mean loss is infinite"
