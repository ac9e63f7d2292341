"""Smooth calibration error: the largest mean of residual times a 1-Lipschitz weight, solved exactly."""

import math

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.bounds.mean_bets import stakes_of_rows
from calibcli.measures.distance import ONE_POPULATION, dictionary
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, NO_WEIGHTED_INTERVAL, Estimate
from calibcli.measures.smooth_ece import weighed
from calibcli.names import MeasureName, Target
from calibcli.table.crossing import crossing
from calibcli.table.grid import Table
from calibcli.table.residuals import residuals
from calibcli.table.score_table import Floats, run_starts

# Exact up to so many distinct scores; more are gathered in so many cells, which divide those of a grid table.
CELLS = 32_760
# Where a slope falls, and by how much.
Bend = tuple[float, float]


def smooth_calibration_error(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Return max (1/n) sum_i r_i w(f_i) over functions w into [-1, 1] of slope at most 1.

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        The plug-in value with finite-sample bounds for the population: above, betting on the best w of
        the population, which is fixed, so that no union is needed; below, betting on w = 1 and f - 1/2.

    References:
        Kakade & Foster (2008), J. Comput. Syst. Sci. 74; Blasiok, Gopalan, Hu & Nakkiran (2023), STOC.
    """
    place, mass, moved = _gathered(table)
    value = largest_smooth_sum(place, mass)
    sentences = [INDEPENDENT_ROWS, ONE_POPULATION, HELD_OUT]
    interval = None
    if table.weighted:
        sentences = [INDEPENDENT_ROWS, HELD_OUT, NO_WEIGHTED_INTERVAL]
    elif table.total_rows < 2:
        sentences.append("no interval: one row")
    else:
        interval = _interval(table, value=value, moved=moved, confidence=confidence)
    if moved > 0.0:
        sentences.append(
            f"scores gathered in {CELLS:,} cells: the value is within {moved:.1g} of the exact one"
        )
    return Estimate(
        name=MeasureName.SMCE,
        value=value,
        interval=interval,
        null=None,
        assumptions=tuple(sentences),
        rows=table.total_rows,
        details={"rounding": moved},
    )


def _gathered(table: Table) -> tuple[Floats, Floats, float]:
    """Return places, masses and how far the value can be off: all scores, or the means of many cells."""
    mass = residuals(table) / table.weight.sum()
    if table.distinct <= CELLS:
        return table.score, mass, 0.0
    starts = run_starts(np.minimum((table.score * CELLS).astype(np.int64), CELLS - 1))
    weight = np.add.reduceat(table.weight, starts)
    place = np.add.reduceat(table.weight * table.score, starts) / np.where(weight > 0.0, weight, 1.0)
    each = np.repeat(place, np.diff(starts, append=table.distinct))
    # A weight of slope 1 changes by no more than the place does.
    moved = float((np.abs(mass) * np.abs(table.score - each)).sum())
    return place, np.add.reduceat(mass, starts), moved


def _interval(table: Table, *, value: float, moved: float, confidence: float) -> Interval:
    delta = (1.0 - confidence) / 2.0
    held, stakes = weighed(table), stakes_of_rows(table.total_rows, delta=delta)
    level = math.log(1.0 / delta)
    _, upper = crossing(
        lambda eps: held.log_evidence_below(eps, stakes, norm=value + moved) - level, value, 1.0
    )
    level, tilt = dictionary(table, delta=delta)
    method = "betting on rows"
    return Interval(max(level, tilt / 2.0), upper, confidence, method, Target.POPULATION, finite_sample=True)


def largest_smooth_sum(place: Floats, mass: Floats) -> float:
    """
    Return max sum_i m_i w_i over |w_i| <= 1 and |w_i - w_j| <= |x_i - x_j|, exactly.

    The best sum up to a place, as a function of the last weight, is concave and piecewise linear. Going on to
    the next place lets the two sides of its flat top part by the distance; adding m w tilts it, and the top
    moves across the bends that the tilt levels out. A place adds one bend, and few are crossed at each.

    Args:
        place: Ascending, shape (n,).

        mass: Signed, shape (n,).
    """
    # Bends on either side of the top, innermost last: how far out they are, and by how much the slope falls.
    below: list[Bend] = []
    above: list[Bend] = []
    best, parted = 0.0, 0.0
    steps = np.diff(place, prepend=place[:1]).tolist()
    for step, m in zip(steps, mass.tolist(), strict=True):
        parted += step
        if m > 0.0:
            best += _tilt(above, below, slope=m, parted=parted)
        elif m < 0.0:
            best += _tilt(below, above, slope=-m, parted=parted)
    return best


def _tilt(ahead: list[Bend], behind: list[Bend], *, slope: float, parted: float) -> float:
    """
    Add a slope and move the top ahead to where it is level; return what the maximum gains.

    Args:
        ahead: Bends on the side that rises, each as its distance out, less `parted`, and its fall of slope.

        behind: Bends on the other side, by their distance out on that side.

        slope: What the function is tilted by, positive.

        parted: How far all bends have moved out since the first place.
    """
    top = min(1.0, ahead[-1][0] + parted) if ahead else 1.0
    gained = slope * top
    while ahead:
        start, fall = ahead[-1]
        at = start + parted
        if at >= 1.0:
            ahead.clear()
            break
        gained += slope * (at - top)
        top = at
        if fall > slope:
            ahead[-1] = (start, fall - slope)
            behind.append((-at - parted, slope))
            return gained
        ahead.pop()
        behind.append((-at - parted, fall))
        slope -= fall
    # The wall at weight 1.
    if slope > 0.0:
        gained += slope * (1.0 - top)
        behind.append((-1.0 - parted, slope))
    return gained
