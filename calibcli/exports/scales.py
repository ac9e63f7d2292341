"""From what a score column holds to a probability, as a formula; and which values are in range."""

import math
from collections.abc import Callable
from typing import assert_never

import numpy as np
import numpy.typing as npt

from calibcli.exports.formula import (
    Curve,
    Formula,
    Number,
    Operator,
    Pair,
    Pieces,
    Places,
    Single,
    Steps,
    exp,
    minus,
    over,
    plus,
)
from calibcli.exports.ordinals import Ordinals, numbers_at, ordinals_of
from calibcli.names import Scale
from calibcli.readers.scores import on_scale
from calibcli.table.score_table import Floats

Flags = npt.NDArray[np.bool_]

# e to less than this is less than the smallest normal number, and is taken for 0.
_LEAST_POWER = -708.0
# Its exponential is 1 once rounded; whether that of the next few numbers is depends on the machine.
_LARGEST_LOGPROB = 2.0**-53
# s / (1 + s) is off by at most 2^-52 of itself, and rises by 2^-54 of itself or more from one number s to the
# next: of two that are 8 apart it is in order, and halving ends at one of these 8.
_NUMBERS_BESIDE = 16


def probability(score: Formula, scale: Scale) -> Formula:
    """Return what a score that is in range says as a probability."""
    match scale:
        case Scale.PROB:
            return score
        case Scale.LOGIT:
            # As `apply` does it, so that no digit differs where the exponential is the same.
            below = Pair(Operator.LEAST, score, minus(Number(0.0), score))
            power = Single(Curve.EXP, Pair(Operator.GREATEST, below, Number(_LEAST_POWER)))
            share = Pieces(score, (_LEAST_POWER, 0.0), (Number(0.0), power, Number(1.0)))
            return over(share, plus(Number(1.0), power))
        case Scale.LOGPROB:
            return Pieces(score, (_LEAST_POWER,), (Number(0.0), exp(score)))
        case _:
            assert_never(scale)


def range_of(scale: Scale) -> tuple[float, float]:
    """Return the lowest and the highest score that `apply` takes."""
    match scale:
        case Scale.PROB:
            return 0.0, 1.0
        case Scale.LOGIT:
            return -math.inf, math.inf
        case Scale.LOGPROB:
            return -math.inf, _LARGEST_LOGPROB
        case _:
            assert_never(scale)


def in_units_of_scores(
    formulas: tuple[Formula, ...], before: Formula, score: Formula, *, scale: Scale
) -> tuple[Formula, ...]:
    """
    Return the same formulas with the steps of a probability made steps of the score it is made of.

    An exponential that is one digit off would put a score that lies on a step, as those of the fit rows do,
    onto the other side of it; comparing the score itself cannot.

    Args:
        formulas: Of the probability.

        before: The probability.

        score: The score.

        scale: What the score is.
    """
    if scale is Scale.PROB:
        return formulas
    moved = _Moved(before, score, scale)
    return tuple(moved.of(one) for one in formulas)


class _Moved:
    """A formula whose steps are made those of the score; what is used twice stays one object."""

    def __init__(self, before: Formula, score: Formula, scale: Scale) -> None:
        self.before, self.score, self.scale = before, score, scale
        self.known: dict[int, Formula] = {}
        self.places: dict[int, tuple[Places, Ordinals]] = {}

    def of(self, formula: Formula) -> Formula:
        if id(formula) not in self.known:
            self.known[id(formula)] = formula if formula is self.before else self._rebuilt(formula)
        return self.known[id(formula)]

    def _rebuilt(self, formula: Formula) -> Formula:
        match formula:
            case Pair(operator=operator, left=left, right=right):
                return Pair(operator, self.of(left), self.of(right))
            case Single(curve=curve, of=inner):
                return Single(curve, self.of(inner))
            case Pieces(of=inner, cuts=cuts, parts=parts):
                return Pieces(self.of(inner), cuts, tuple(self.of(part) for part in parts))
            case Steps(places=places, values=values) if places.of is self.before:
                moved, which = self._moved(places)
                return Steps(moved, values[which])
            case _:
                return formula

    def _moved(self, places: Places) -> tuple[Places, Ordinals]:
        if id(places) not in self.places:
            starts, which = scores_from(places.starts, self.scale)
            self.places[id(places)] = (Places(self.score, starts), which)
        return self.places[id(places)]


def scores_from(starts: Floats, scale: Scale) -> tuple[Floats, Ordinals]:
    """
    Return where the scores begin that say at least one probability and less than the next one.

    What a score says is found with the very function that `apply` calls. For logits below 0 it rises with
    the score but for the last digit, so that a probability may begin, end and begin again within a few
    neighbouring scores: it then has several beginnings.

    Args:
        starts: Probabilities, strictly ascending, the first 0.

        scale: What scores are.

    Returns:
        The scores, strictly ascending, the first of them minus infinity; and the place of the probability
        that begins at each.
    """
    starts = starts[starts <= 1.0]
    found = _least_number(lambda score: on_scale(score, scale) >= starts, starts.size)
    if scale is Scale.LOGIT:
        found = np.concatenate((found, _beside(found[found <= 0.0])))
    found = np.unique(np.append(found[found > -np.inf], [-np.inf]))
    places = np.searchsorted(starts, on_scale(found, scale), side="right") - 1
    begins = np.append([True], places[1:] != places[:-1])
    return found[begins], places[begins]


def _beside(scores: Floats) -> Floats:
    """Return the least score of each exponential that is at most so many numbers from that of a score."""
    powers = ordinals_of(np.exp(scores))[:, None] + np.arange(-_NUMBERS_BESIDE, _NUMBERS_BESIDE + 1)
    wanted = numbers_at(np.unique(powers))
    return _least_number(lambda score: np.exp(np.minimum(score, 0.0)) >= wanted, wanted.size)


def _least_number(enough: Callable[[Floats], Flags], count: int) -> Floats:
    """Return the least number for which each condition holds, found by halving; infinity where none does."""
    low = ordinals_of(np.full(count, -np.inf))
    high = ordinals_of(np.full(count, np.inf))
    while np.any(low + 1 < high):
        # Half of each, since their sum may be too large, as may their difference.
        middle = low // 2 + high // 2 + (low % 2 + high % 2) // 2
        held = enough(numbers_at(middle))
        low, high = np.where(held, low, middle), np.where(held, middle, high)
    return numbers_at(high)
