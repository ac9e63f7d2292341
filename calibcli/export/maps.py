"""A fitted map as a formula, from what a score column holds: what every target writes in its own language.

A formula is a graph: a part that is used twice is the same object, and targets with names for values work it
out once. Nothing in one can fail for scores that are in range: logarithms are of positive numbers, exponents
are limited, and no divisor is 0.
"""

import json
import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import reduce
from operator import add
from typing import assert_never, cast

import numpy as np

from calibcli.data.fields import on_scale
from calibcli.errors import UsageProblem
from calibcli.names import Scale
from calibcli.stats.numerics import Ordinals, first_number, numbers_at, ordinals_of
from calibcli.stats.recalibrators import Recalibrator, logits
from calibcli.stats.recalibrators.beta import Beta
from calibcli.stats.recalibrators.histogram import Histogram
from calibcli.stats.recalibrators.isotonic import CentredIsotonic, Isotonic
from calibcli.stats.recalibrators.lookup import Polyline
from calibcli.stats.recalibrators.newton import NEAREST
from calibcli.stats.recalibrators.scaling_binning import ScalingBinning
from calibcli.stats.recalibrators.segments import SegmentMap
from calibcli.stats.recalibrators.smooth import Smooth
from calibcli.stats.recalibrators.spline import Spline, polynomials
from calibcli.stats.recalibrators.venn_abers import VennAbers
from calibcli.stats.table import Booleans, Floats
from calibcli.values import dataclass
from calibcli.version import __version__

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


class _Arithmetic:
    """What formulas are added, subtracted, multiplied and divided by, numbers too; no divisor is 0."""

    __slots__ = ()

    def __add__(self, other: "Formula | float") -> "Pair":
        return _pair(Operator.PLUS, self, other)

    def __radd__(self, other: float) -> "Pair":
        return _pair(Operator.PLUS, other, self)

    def __sub__(self, other: "Formula | float") -> "Pair":
        return _pair(Operator.MINUS, self, other)

    def __rsub__(self, other: float) -> "Pair":
        return _pair(Operator.MINUS, other, self)

    def __mul__(self, other: "Formula | float") -> "Pair":
        return _pair(Operator.TIMES, self, other)

    def __rmul__(self, other: float) -> "Pair":
        return _pair(Operator.TIMES, other, self)

    def __truediv__(self, other: "Formula | float") -> "Pair":
        return _pair(Operator.OVER, self, other)

    def __rtruediv__(self, other: float) -> "Pair":
        return _pair(Operator.OVER, other, self)


def _pair(operator: Operator, *sides: object) -> "Pair":
    left, right = (Number(one) if isinstance(one, int | float) else cast("Formula", one) for one in sides)
    return Pair(operator, left, right)


@dataclass(frozen=True, slots=True, eq=False)
class Score(_Arithmetic):
    """The number of a row that is asked about: of the class at this place, 0 where there is one score."""

    place: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Number(_Arithmetic):
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True, eq=False)
class Pair(_Arithmetic):
    """Two numbers to one."""

    operator: Operator
    left: "Formula"
    right: "Formula"


@dataclass(frozen=True, slots=True, eq=False)
class Single(_Arithmetic):
    """One number to another."""

    curve: Curve
    of: "Formula"


@dataclass(frozen=True, slots=True, eq=False)
class Pieces(_Arithmetic):
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
class Steps(_Arithmetic):
    """A number for each interval."""

    places: Places
    values: Floats


Formula = Score | Number | Pair | Single | Pieces | Steps


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
    return 1.0 / (1.0 + exp(0.0 - of))


def total(parts: list[Formula]) -> Formula:
    """From left to right, of one or more numbers."""
    found: Formula = reduce(add, parts)
    return found


def lines(of: Formula, knots: Floats, values: Floats) -> Formula:
    """The function that is linear between knots, constant outside, within the range of its values."""
    if knots[0] > 0.0:
        knots, values = np.concatenate(([0.0], knots)), np.concatenate((values[:1], values))
    rise = np.append(np.diff(values), 0.0)
    if not rise.any():
        return Number(float(values[0]))
    places = Places(of, knots)
    share = (of - Steps(places, knots)) / Steps(places, np.append(np.diff(knots), 1.0))
    found = Steps(places, values) + share * Steps(places, rise)
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


# e to less than this is less than the smallest normal number, and is taken for 0.
LEAST_POWER = -708.0

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
            below = Pair(Operator.LEAST, score, 0.0 - score)
            power = Single(Curve.EXP, Pair(Operator.GREATEST, below, Number(LEAST_POWER)))
            share = Pieces(score, (LEAST_POWER, 0.0), (Number(0.0), power, Number(1.0)))
            return share / (1.0 + power)
        case Scale.LOGPROB:
            power = Single(Curve.EXP, limited(score, LEAST_POWER, LARGEST_EXPONENT))
            return Pieces(score, (LEAST_POWER,), (Number(0.0), power))
        case Scale.PERCENT:
            return score / 100.0
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
        case Scale.PERCENT:
            return 0.0, 100.0
        case _:
            assert_never(scale)


class _Moved:
    """A formula with the steps of a probability made steps of the score it is made of.

    An exponential that is one digit off would put a score that lies on a step, as those of the fit rows do,
    onto the other side of it; comparing the score itself cannot. What is used twice stays one object.
    """

    def __init__(self, before: Formula, score: Score, scale: Scale) -> None:
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
    """Return where the scores begin that say at least one probability and less than the next one.

    What a score says is found with the very function that `apply` calls. For logits below 0 it rises with
    the score but for the last digit, so that a probability may begin, end and begin again within a few
    neighbouring scores: it then has several beginnings.
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


def _least_number(enough: Callable[[Floats], Booleans], count: int) -> Floats:
    """Return the least number for which each condition holds, found by halving; infinity where none does."""
    ends = (ordinals_of(np.full(count, end)) for end in (-np.inf, np.inf))
    return numbers_at(first_number(enough, *ends))


@dataclass(frozen=True, slots=True)
class Shift:
    """Another base rate, `prior`, than that of the fit rows."""

    fitted: float
    prior: float


def formulas_on(recalibrator: Recalibrator, scale: Scale, shift: Shift | None = None) -> tuple[Formula, ...]:
    """Return the probability, and its lower and upper end where the map has them, of a score on a scale."""
    score = Score()
    before = probability(score, scale)
    found = formulas_of(recalibrator, before, shift=shift)
    if scale is Scale.PROB:
        return found
    moved = _Moved(before, score, scale)
    return tuple(moved.of(one) for one in found)


def formulas_of(
    recalibrator: Recalibrator, score: Formula, *, shift: Shift | None = None
) -> tuple[Formula, ...]:
    """Return the probability, and its lower and upper end where the map has them."""
    if recalibrator.drawn:
        msg = "the outputs of this smooth map are randomised: they depend on the place of a row in its file"
        raise UsageProblem(msg, "fit it again without --randomised")
    found = _bracketed(recalibrator, score) if isinstance(recalibrator, VennAbers) else None
    formulas = found or (_formula(recalibrator, score),)
    return formulas if shift is None else tuple(_shifted(one, shift) for one in formulas)


def _formula(recalibrator: Recalibrator, score: Formula) -> Formula:
    match recalibrator:
        case logits.Identity():
            return score
        case Isotonic(curve=curve) | CentredIsotonic(curve=curve) | Histogram(table=curve):
            if isinstance(curve, Polyline):
                return lines(score, curve.knots, curve.values)
            # Intervals end with a cut each, and begin at 0 and right after every cut.
            starts = np.concatenate(([0.0], np.nextafter(curve.edges[1:-1], 2.0)))
            return steps(score, starts, curve.values)
        case ScalingBinning():
            return steps(score, *recalibrator.steps)
        case Smooth(values=values):
            return lines(score, np.linspace(0.0, 1.0, values.size), values)
        case _:
            return logistic_of(_logit(recalibrator, score))


def _logit(recalibrator: Recalibrator, score: Formula) -> Formula:  # noqa: PLR0911 - one for each method
    inside = _inside(score)
    z = _logit_of(score)
    match recalibrator:
        case logits.Intercept():
            return recalibrator.intercept + z
        case logits.Temperature():
            return z / recalibrator.temperature
        case logits.Platt():
            return recalibrator.intercept + recalibrator.slope * z
        case Beta() if recalibrator.a == recalibrator.b:
            return recalibrator.c + recalibrator.a * z
        case Beta():
            low, high = log(inside), log(1.0 - inside)
            return recalibrator.c + recalibrator.a * low - recalibrator.b * high
        case logits.Quadratic():
            slope = recalibrator.slope + recalibrator.bend * z
            return recalibrator.intercept + slope * z
        case Spline():
            return _spline(recalibrator, z)
        case _:
            msg = f"a {recalibrator.name.value} map cannot be exported"
            raise UsageProblem(msg, "use `calibcli apply`")


def _logit_of(score: Formula) -> Formula:
    inside = _inside(score)
    return log(inside / (1.0 - inside))


def _inside(score: Formula) -> Formula:
    """Return a score moved off 0 and 1, as logits need."""
    below = Pair(Operator.LEAST, score, Number(1.0 - NEAREST))
    return Pair(Operator.GREATEST, below, Number(NEAREST))


def _spline(recalibrator: Spline, z: Formula) -> Formula:
    """Return each cubic in Horner's form about its left knot."""
    knots, coefficients = polynomials(np.array(recalibrator.knots), np.array(recalibrator.values))
    parts = []
    for about, (level, slope, bend, turn) in zip((knots[0], *knots), coefficients.tolist(), strict=True):
        way = z - float(about)
        found: Formula = Number(slope)
        if bend or turn:
            found = slope + way * (bend + way * turn)
        parts.append(level + way * found)
    return Pieces(z, tuple(knots), tuple(parts))


def _bracketed(recalibrator: VennAbers, score: Formula) -> tuple[Formula, ...]:
    """Return the point and both ends: numbers below the first cut, on it, after it, and so on."""
    cuts, levels = recalibrator.regions
    starts = np.concatenate(([0.0], np.column_stack((cuts, np.nextafter(cuts, 2.0))).reshape(-1)))
    # What begins where the next begins too holds nowhere: below a first cut of 0, and between neighbours.
    held = np.append(starts[1:] > starts[:-1], [True])
    within = held & (starts <= 1.0)
    columns = [column[within] for column in levels]
    starts = starts[within]
    changes = np.concatenate(([True], np.any([one[1:] != one[:-1] for one in columns], axis=0)))
    places = Places(score, starts[changes])
    lower, point, upper = (Steps(places, column[changes]) for column in columns)
    return point, lower, upper


def _shifted(formula: Formula, shift: Shift) -> Formula:
    """Return the probability under another base rate; numbers of steps are shifted beforehand."""
    ones, zeros = logits.odds_shares(fitted=shift.fitted, prior=shift.prior)
    match formula:
        case Steps():
            positive, negative = formula.values * ones, (1.0 - formula.values) * zeros
            return Steps(formula.places, positive / (positive + negative))
        case Number():
            one, other = formula.value * ones, (1.0 - formula.value) * zeros
            return Number(one / (one + other))
        case _:
            share = formula * ones
            return share / (share + (1.0 - formula) * zeros)


def formula_of_segments(found: SegmentMap, *, scale: Scale) -> Formula:
    """Return the probability of a row: 0 is its score, 1 and 2 the offset and the slope of its segments."""
    before = probability(Score(), scale)
    if found.strength is None:
        return before
    z = _logit_of(before)
    return logistic_of(z + (Score(1) + Score(2) * (z - found.centre)))


@dataclass(frozen=True, slots=True)
class GroupMaps:
    """Maps, and which of them a row of a group goes through.

    Args:
        places: For each group that the fit has seen the place of its map.
        pooled: Whether rows of other groups go through the first map, or get no probability.
    """

    column: str
    maps: tuple[Recalibrator, ...]
    places: Mapping[str, int]
    pooled: bool

    def formulas(self, scale: Scale) -> list[tuple[Formula, ...]]:
        return [formulas_on(one, scale) for one in self.maps]


@dataclass(frozen=True, slots=True)
class Origin:
    """What was exported.

    Args:
        method: How it was fitted, in a word.
        prior: The base rate it was moved to, or None.
        classes: What the classes are called; empty for one score.
        positive: The label that counted as 1, where labels were not 0 and 1.
        by: The column of the fit whose groups have maps of their own, or None.
        on: The columns that the map looks at beside the score.
    """

    digest: str
    calibcli: str
    method: str
    scale: Scale
    rows: int
    prior: float | None = None
    classes: tuple[str, ...] = ()
    positive: str | None = None
    by: str | None = None
    on: tuple[str, ...] = ()

    def facts(self) -> dict[str, str]:
        """Return what is known, each as plain ASCII on one line that nothing takes for anything but text."""
        known: dict[str, object] = {
            "exported_by": f"calibcli {__version__}",
            "fitted_by": f"calibcli {self.calibcli}",
            "artifact": self.digest,
            "method": self.method,
            "scale": self.scale.value,
            "rows": self.rows,
            "prior": self.prior,
            "classes": list(self.classes) or None,
            "positive": self.positive,
            "by": self.by,
            "on": list(self.on) or None,
        }
        return {key: plain(value) for key, value in known.items() if value is not None}

    def lines(self) -> list[str]:
        return [f"{key:<12} {value}" for key, value in self.facts().items()]


def plain(value: object) -> str:
    """Return a value as JSON without the letters that end a comment, begin a substitution, or move a cursor.

    Text made of letters, digits and the marks of a version or a hash stands without quotation marks.
    """
    bare = value.translate(_HARMLESS) if isinstance(value, str) else ""
    if bare.isascii() and bare.isalnum():
        return str(value)
    text = json.dumps(value)
    return "".join(letter if letter not in _DANGEROUS else f"\\u{ord(letter):04x}" for letter in text)


_HARMLESS = str.maketrans("", "", " .-_:")

# JSON has escaped all but these: of comments, of substitutions in SQL, shells and templates, and of markup.
_DANGEROUS = frozenset("$*/{}%&;#`<>'-\x7f")
