"""A map as a formula: what every target writes down in its own language.

A formula is a graph: a part that is used twice is the same object, and targets with names for values work it
out once. Nothing in one can fail for scores that are in range: logarithms are of positive numbers, exponents
are limited, and no divisor is 0.
"""

from enum import StrEnum
from functools import reduce

import numpy as np

from calibcli.stats.table import Floats
from calibcli.values import dataclass

# Beyond these exponents nothing changes but numbers below 1e-304.
LARGEST_EXPONENT = 700.0


class Operator(StrEnum):
    """What is done to two numbers."""

    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    OVER = "/"
    LEAST = "least"
    GREATEST = "greatest"


class Curve(StrEnum):
    """What is done to one number."""

    LOG = "log"
    EXP = "exp"


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """The number of a row that is asked about: of the class at this place, 0 where there is one score."""

    place: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two numbers to one."""

    operator: Operator
    left: "Formula"
    right: "Formula"


@dataclass(frozen=True, slots=True, eq=False)
class Single:
    """One number to another."""

    curve: Curve
    of: "Formula"


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Another formula on each part of the line; cuts ascend, and each belongs to what follows."""

    of: "Formula"
    cuts: tuple[float, ...]
    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Which of many intervals a number lies in; steps over the same places share one object.

    Intervals begin at `starts`, strictly ascending, shape (n,). The number is not below the first.
    """

    of: "Formula"
    starts: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A number for each interval."""

    places: Places
    values: Floats


Formula = Score | Number | Pair | Single | Pieces | Steps


def plus(left: Formula, right: Formula) -> Formula:
    return Pair(Operator.PLUS, left, right)


def minus(left: Formula, right: Formula) -> Formula:
    return Pair(Operator.MINUS, left, right)


def times(left: Formula, right: Formula) -> Formula:
    return Pair(Operator.TIMES, left, right)


def over(left: Formula, right: Formula) -> Formula:
    """The divisor is not 0."""
    return Pair(Operator.OVER, left, right)


def limited(of: Formula, lowest: float, highest: float) -> Formula:
    return Pair(Operator.GREATEST, Pair(Operator.LEAST, of, Number(highest)), Number(lowest))


def log(of: Formula) -> Formula:
    """Of a number above 0."""
    return Single(Curve.LOG, of)


def exp(of: Formula) -> Formula:
    """Return e to a power, which is limited."""
    return Single(Curve.EXP, limited(of, -LARGEST_EXPONENT, LARGEST_EXPONENT))


def logistic_of(of: Formula) -> Formula:
    """Return 1 / (1 + exp(-t))."""
    return over(Number(1.0), plus(Number(1.0), exp(minus(Number(0.0), of))))


def total(parts: list[Formula]) -> Formula:
    """From left to right, of one or more numbers."""
    return reduce(plus, parts)


def lines(of: Formula, knots: Floats, values: Floats) -> Formula:
    """The function that is linear between knots, constant outside, within the range of its values."""
    if knots[0] > 0.0:
        knots, values = np.concatenate(([0.0], knots)), np.concatenate((values[:1], values))
    rise = np.append(np.diff(values), 0.0)
    if not rise.any():
        return Number(float(values[0]))
    places = Places(of, knots)
    share = over(minus(of, Steps(places, knots)), Steps(places, np.append(np.diff(knots), 1.0)))
    found = plus(Steps(places, values), times(share, Steps(places, rise)))
    # The last digit may be rounded past the highest value.
    return limited(found, float(values.min()), float(values.max()))


def steps(of: Formula, starts: Floats, values: Floats) -> Formula:
    """Return the function that is constant on intervals, neighbours of one value made one."""
    kept = np.concatenate(([True], values[1:] != values[:-1]))
    if kept.sum() == 1:
        return Number(float(values[0]))
    return Steps(Places(of, starts[kept]), values[kept])


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    match formula:
        case Pair():
            return formula.left, formula.right
        case Single():
            return (formula.of,)
        case Pieces():
            return formula.of, *formula.parts
        case Steps():
            return (formula.places.of,)
        case Score() | Number():
            return ()
