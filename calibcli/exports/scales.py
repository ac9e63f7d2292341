"""From what a score column holds to a probability, as a formula; and which values are in range."""

import math
from typing import assert_never

import numpy as np
import numpy.typing as npt

from calibcli.exports.formula import (
    Curve,
    Formula,
    Number,
    Pair,
    Pieces,
    Places,
    Single,
    Steps,
    exp,
    limited,
    minus,
    over,
    plus,
)
from calibcli.exports.ordinals import numbers_at, ordinals_of
from calibcli.names import Scale
from calibcli.readers.scores import on_scale
from calibcli.table.score_table import Floats

Flags = npt.NDArray[np.bool_]

# e to less than this is less than the smallest normal number, and is taken for 0.
_LEAST_POWER = -708.0
# Its exponential is 1 once rounded; whether that of the next few numbers is depends on the machine.
_LARGEST_LOGPROB = 2.0**-53


def probability(score: Formula, scale: Scale) -> Formula:
    """Return what a score that is in range says as a probability."""
    match scale:
        case Scale.PROB:
            return score
        case Scale.LOGIT:
            power = Single(Curve.EXP, limited(minus(Number(0.0), score), _LEAST_POWER, -_LEAST_POWER))
            found = over(Number(1.0), plus(Number(1.0), power))
            return Pieces(score, (_LEAST_POWER,), (Number(0.0), found))
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
        self.places: dict[int, tuple[Places, Flags]] = {}

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
                moved, kept = self._moved(places)
                return Steps(moved, values[kept])
            case _:
                return formula

    def _moved(self, places: Places) -> tuple[Places, Flags]:
        if id(places) not in self.places:
            starts, kept = scores_from(places.starts, self.scale)
            self.places[id(places)] = (Places(self.score, starts), kept)
        return self.places[id(places)]


def scores_from(starts: Floats, scale: Scale) -> tuple[Floats, Flags]:
    """
    Return the least score that says at least each probability, where it is another than for the next one.

    Args:
        starts: Probabilities, strictly ascending, the first 0.

        scale: What scores are.

    Returns:
        The scores, strictly ascending; and of which probabilities they are, shape (n,).
    """
    low = ordinals_of(np.full(starts.shape, -np.inf))
    high = ordinals_of(np.full(starts.shape, np.inf))
    while np.any(low + 1 < high):
        # Half of each, since their sum may be too large, as may their difference.
        middle = low // 2 + high // 2 + (low % 2 + high % 2) // 2
        enough = on_scale(numbers_at(middle), scale) >= starts
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    found = numbers_at(high)
    found[0] = -np.inf
    kept = np.append(found[1:] > found[:-1], [True]) & (starts <= 1.0)
    return found[kept], kept
