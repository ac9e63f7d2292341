"""A fitted map of one score as formulas: the one step from a recalibrator to what every target writes."""

from dataclasses import dataclass

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.exports.binned_base import steps_of_scaling_binning
from calibcli.exports.formula import (
    Formula,
    Number,
    Operator,
    Pair,
    Pieces,
    Places,
    Steps,
    lines,
    log,
    logistic,
    minus,
    over,
    plus,
    steps,
    times,
)
from calibcli.exports.scales import in_units_of_scores, probability
from calibcli.exports.splines import spline
from calibcli.names import Scale
from calibcli.recalibrators.beta import Beta
from calibcli.recalibrators.bin_map import BinMap
from calibcli.recalibrators.centred_isotonic import CentredIsotonic
from calibcli.recalibrators.design import NEAREST
from calibcli.recalibrators.histogram import Histogram
from calibcli.recalibrators.identity import Identity
from calibcli.recalibrators.intercept import Intercept
from calibcli.recalibrators.interface import Recalibrator, randomised
from calibcli.recalibrators.isotonic import Isotonic
from calibcli.recalibrators.platt import Platt
from calibcli.recalibrators.polyline import Polyline
from calibcli.recalibrators.prior_shift import odds_shares
from calibcli.recalibrators.quadratic import Quadratic
from calibcli.recalibrators.scaling_binning import ScalingBinning
from calibcli.recalibrators.smooth import Smooth
from calibcli.recalibrators.spline import Spline
from calibcli.recalibrators.temperature import Temperature
from calibcli.recalibrators.venn_abers import VennAbers
from calibcli.table.score_table import Floats


@dataclass(frozen=True, slots=True)
class Shift:
    """
    Another base rate than that of the fit rows.

    Args:
        fitted: Base rate of the fit rows.

        prior: Base rate of the rows that are asked about.
    """

    fitted: float
    prior: float


def formulas_on(
    recalibrator: Recalibrator, score: Formula, *, scale: Scale, shift: Shift | None = None
) -> tuple[Formula, ...]:
    """
    Return the probability, and its lower and upper end where the map has them, of a score on a scale.

    Args:
        recalibrator: The fitted map.

        score: What it is asked about, in the range of its scale.

        scale: What the score is.

        shift: Another base rate, or None.

    Raises:
        UsageProblem: If the map cannot be written as a function of the score.
    """
    before = probability(score, scale)
    found = formulas_of(recalibrator, before, shift=shift)
    return in_units_of_scores(found, before, score, scale=scale)


def formulas_of(
    recalibrator: Recalibrator, score: Formula, *, shift: Shift | None = None
) -> tuple[Formula, ...]:
    """
    Return the probability, and its lower and upper end where the map has them.

    Args:
        recalibrator: The fitted map.

        score: What it is asked about, in [0, 1].

        shift: Another base rate, or None.

    Raises:
        UsageProblem: If the map cannot be written as a function of the score.
    """
    if randomised(recalibrator) is not None:
        msg = "the outputs of this smooth map are randomised: they depend on the place of a row in its file"
        raise UsageProblem(msg, "fit it again without --randomised")
    found = _bracketed(recalibrator, score) if isinstance(recalibrator, VennAbers) else None
    formulas = found or (_formula(recalibrator, score),)
    return formulas if shift is None else tuple(_shifted(one, shift) for one in formulas)


def _formula(recalibrator: Recalibrator, score: Formula) -> Formula:  # noqa: PLR0911 - one for each kind
    match recalibrator:
        case Identity():
            return score
        case Isotonic(curve=curve):
            return _curve(curve, score)
        case CentredIsotonic(curve=curve):
            return _curve(curve, score)
        case Histogram(table=table):
            return _curve(table, score)
        case ScalingBinning():
            return steps(score, *steps_of_scaling_binning(recalibrator))
        case Smooth(values=values):
            return lines(score, np.linspace(0.0, 1.0, values.size), values)
        case _:
            return logistic(_logit(recalibrator, score))


def _logit(recalibrator: Recalibrator, score: Formula) -> Formula:  # noqa: PLR0911 - one for each method
    inside = _inside(score)
    z = log(over(inside, minus(Number(1.0), inside)))
    match recalibrator:
        case Intercept():
            return plus(Number(recalibrator.intercept), z)
        case Temperature():
            return over(z, Number(recalibrator.temperature))
        case Platt():
            return plus(Number(recalibrator.intercept), times(Number(recalibrator.slope), z))
        case Beta() if recalibrator.a == recalibrator.b:
            return plus(Number(recalibrator.c), times(Number(recalibrator.a), z))
        case Beta():
            low, high = log(inside), log(minus(Number(1.0), inside))
            risen = plus(Number(recalibrator.c), times(Number(recalibrator.a), low))
            return minus(risen, times(Number(recalibrator.b), high))
        case Quadratic():
            slope = plus(Number(recalibrator.slope), times(Number(recalibrator.bend), z))
            return plus(Number(recalibrator.intercept), times(slope, z))
        case Spline():
            return _spline(recalibrator, z)
        case _:
            msg = f"a {recalibrator.name.value} map cannot be exported"
            raise UsageProblem(msg, "use `calibcli apply`")


def _inside(score: Formula) -> Formula:
    """Return a score moved off 0 and 1, as logits need."""
    below = Pair(Operator.LEAST, score, Number(1.0 - NEAREST))
    return Pair(Operator.GREATEST, below, Number(NEAREST))


def _curve(curve: Polyline | BinMap, score: Formula) -> Formula:
    if isinstance(curve, Polyline):
        return lines(score, curve.knots, curve.values)
    return steps(score, starts_after(curve.edges[1:-1]), curve.values)


def starts_after(cuts: Floats) -> Floats:
    """Return where intervals begin that end with a cut each: at 0, and right after every cut."""
    return np.concatenate(([0.0], np.nextafter(cuts, 2.0)))


def _spline(recalibrator: Spline, z: Formula) -> Formula:
    """Return each cubic in Horner's form about its left knot."""
    knots, coefficients = spline(np.array(recalibrator.knots), np.array(recalibrator.values))
    parts = []
    for about, (level, slope, bend, turn) in zip((knots[0], *knots), coefficients.tolist(), strict=True):
        way = minus(z, Number(about))
        found: Formula = Number(slope)
        if bend or turn:
            found = plus(found, times(way, plus(Number(bend), times(way, Number(turn)))))
        parts.append(plus(Number(level), times(way, found)))
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
    ones, zeros = odds_shares(fitted=shift.fitted, prior=shift.prior)
    match formula:
        case Steps():
            positive, negative = formula.values * ones, (1.0 - formula.values) * zeros
            return Steps(formula.places, positive / (positive + negative))
        case Number():
            one, other = formula.value * ones, (1.0 - formula.value) * zeros
            return Number(one / (one + other))
        case _:
            share = times(formula, Number(ones))
            rest = times(minus(Number(1.0), formula), Number(zeros))
            return over(share, plus(share, rest))
