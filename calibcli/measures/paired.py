"""Two scores of the same rows: differences of losses, row by row where a loss is a mean over rows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from calibcli.bounds.interval import Interval
from calibcli.bounds.special import normal_quantile
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS
from calibcli.measures.losses import losses_of_rows
from calibcli.measures.proper_scores import were_certain_and_wrong
from calibcli.names import ComparisonName, MeasureName, Target
from calibcli.table.exact_sum import ExactSum
from calibcli.table.score_table import Floats, Integers
from calibcli.view_names import ClassMeasure

Compared = MeasureName | ClassMeasure
PAIRED = (MeasureName.BRIER, MeasureName.LOG_LOSS)
# Measures of which more is better.
_MORE_IS_BETTER = (ClassMeasure.ACCURACY,)
# Rows whose differences are summed at once: they fit the processor's cache.
_CHUNK = 1 << 17
_ROUNDED = 1 << 50


@dataclass(frozen=True, slots=True)
class Difference:
    """
    How much larger a measure is for the second score than for the first; below 0 the second is better, but
    for accuracy, which it is above 0.

    Args:
        name: Which measure.

        value: Second less first; inf or -inf where one of them is infinite, None where both are.

        interval: Its confidence bounds, or None with the reason among the assumptions.

        assumptions: Sentences under which value and interval mean what they say.
    """

    name: Compared
    value: float | None
    interval: Interval | None
    assumptions: tuple[str, ...]

    @property
    def verdict(self) -> ComparisonName:
        """
        Which way the interval lies of 0, if it does.

        A row that is certain and wrong settles a log loss without one: it is infinite in the population too.
        """
        more, less = ComparisonName.WORSE, ComparisonName.BETTER
        if self.name in _MORE_IS_BETTER:
            more, less = less, more
        if self.value is not None and math.isinf(self.value):
            return more if self.value > 0.0 else less
        if self.interval is not None and self.interval.lower is not None and self.interval.lower > 0.0:
            return more
        if self.interval is not None and self.interval.upper is not None and self.interval.upper < 0.0:
            return less
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
    Sums of the differences of losses between two scores of the same rows.

    Sums are exact, so that no order of the rows, no cut into parts and no number of workers changes a digit,
    and their memory is the same for any number of rows.

    Args:
        names: The losses.
    """

    def __init__(self, names: tuple[Compared, ...] = PAIRED) -> None:
        self.rows = 0
        self._weight = ExactSum()
        self._weight_sq = ExactSum()
        self._weighted = False
        self._of = {name: _Sums() for name in names}

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
        for start in range(0, first.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            some = label[part]
            self.add_losses(
                {
                    name: (losses_of_rows(name, first[part], some), losses_of_rows(name, second[part], some))
                    for name in PAIRED
                },
                counts=None if counts is None else counts[part],
                weight=None if weight is None else weight[part],
            )

    def add_losses(
        self,
        losses: Mapping[Compared, tuple[Floats, Floats]],
        *,
        counts: Integers | None = None,
        weight: Floats | None = None,
    ) -> None:
        """Add rows by what each loses under the first score and under the second, for every loss."""
        rows = next(iter(losses.values()))[0].size
        self.rows += rows if counts is None else int(counts.sum())
        self._weighted = self._weighted or weight is not None
        if weight is not None:
            self._weight.add(weight)
            self._weight_sq.add(weight * weight)
        for name, pair in losses.items():
            _add(self._of[name], *pair, counts=counts, weight=weight)

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

    def difference(self, name: Compared, *, confidence: float) -> Difference:
        """
        Return the mean difference, second less first, with its normal interval over rows.

        The spread is that of the differences themselves, so what makes a row hard for both scores alike
        cancels. Importance weights: the sandwich form, sum w^2 (d - mean)^2 / (sum w)^2.

        Args:
            name: One of the losses.

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

    def unweighted(self, name: Compared) -> tuple[int, int] | None:
        """Return the sums of differences of 0, 1 and -1 and of their squares; None for importance weights."""
        sums = self._of[name]
        return None if self._weighted else (int(sums.linear.exact()), int(sums.squares.exact()))

    def _totals(self) -> tuple[Fraction, Fraction]:
        """Return the sum of the weights and of their squares."""
        if not self._weighted:
            return Fraction(self.rows), Fraction(self.rows)
        return self._weight.exact(), self._weight_sq.exact()


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
    side = "first" if first else "second"
    wrong = were_certain_and_wrong(first + second)
    return f"no interval: {wrong} by the {side} score, so its mean loss is infinite"
