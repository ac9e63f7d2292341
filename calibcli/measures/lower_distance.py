"""The lower distance to calibration: the least mean move that makes scores calibrated, labels being known."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibcli.measures.distance import BOUNDS_EVERY_FORM, distance_interval, sentences
from calibcli.measures.estimate import Estimate
from calibcli.names import MeasureName
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats, run_starts

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# So many distinct scores are taken as they are; more are gathered in so many cells, which nest a grid's.
CELLS = 1_008
# Even steps added to the scores as places to move to.
_STEPS = 400


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPlaces:
    """
    A law on places and labels.

    Args:
        place: Ascending, shape (n,), in [0, 1].

        positive: Share of rows at each place that have label 1.

        negative: Share of rows there that have label 0.

        moved: Mean distance from the rows' scores to their places.
    """

    place: Floats
    positive: Floats
    negative: Floats
    moved: float = 0.0


def lower_distance(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Return the least E|u - f| over scores u, random and informed of the label, with P(y = 1 | u) = u.

    By duality it is the largest mean of w_y(f) over pairs of functions w_0, w_1 of slope at most 1 with
    u w_1(u) + (1 - u) w_0(u) <= 0 for all u: a linear programme on a chain of places.

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        The plug-in value with the bounds of `distance`, which hold for this form as well.

    References:
        Blasiok, Gopalan, Hu & Nakkiran (2023), STOC, "A unifying theory of distance from calibration".
    """
    places = gathered_places(table)
    value, rounding = least_move(places)
    notes = ["the value is a lower estimate of the distance"]
    if math.isnan(value):
        notes.append("undefined: the linear programme was not solved")
    elif places.moved > 0.0:
        notes.append(
            f"scores gathered in {CELLS:,} cells: the value is within {rounding:.1g} of the exact one"
        )
    return Estimate(
        name=MeasureName.DCE_LOWER,
        value=value,
        interval=distance_interval(table, confidence=confidence),
        null=None,
        assumptions=(*sentences(table), BOUNDS_EVERY_FORM, *notes),
        rows=table.total_rows,
        details={"places": places.place.size, "rounding": rounding},
    )


def gathered_places(table: Table) -> LabelledPlaces:
    """Return a table's law: all scores, or where they are many the mean scores of equal cells."""
    positive = table.positive / table.weight.sum()
    negative = (table.weight - table.positive) / table.weight.sum()
    if table.distinct <= CELLS:
        return LabelledPlaces(table.score, positive, negative)
    starts = run_starts(np.minimum((table.score * CELLS).astype(np.int64), CELLS - 1))
    weight = np.add.reduceat(table.weight, starts)
    place = np.add.reduceat(table.weight * table.score, starts) / np.where(weight > 0.0, weight, 1.0)
    distance = np.abs(table.score - np.repeat(place, np.diff(starts, append=table.distinct)))
    moved = float(((positive + negative) * distance).sum())
    return LabelledPlaces(place, np.add.reduceat(positive, starts), np.add.reduceat(negative, starts), moved)


def least_move(law: LabelledPlaces) -> tuple[float, float]:
    """
    Return the lower distance of a law whose moves end on a grid, and how far off it can be for the rows.

    Between places h apart, functions drawn straight meet the condition up to h^2 / 2, so that the grid adds
    at most that; gathering scores changes the distance by no more than they were moved.

    Args:
        law: Places, with the share of rows of each label.

    Returns:
        NaN for the value if the programme was not solved.
    """
    from scipy.optimize import linprog

    at = np.unique(np.concatenate((np.arange(_STEPS + 1) / _STEPS, law.place)))
    index, steps, count = np.searchsorted(at, law.place), np.diff(at), at.size
    gain = np.zeros(2 * count)
    gain[index], gain[count + index] = law.positive, law.negative
    conditions: Any = _conditions(at)  # the type stubs know dense ones only
    result = linprog(
        -gain,
        A_ub=conditions,
        b_ub=np.concatenate((np.tile(steps, 4), np.zeros(count))),
        bounds=(None, None),
        method="highs-ds",
    )
    if result.status != 0 or result.fun is None:
        return math.nan, math.nan
    return max(0.0, -float(result.fun)), law.moved + 0.5 * float(steps.max()) ** 2


def _conditions(at: Floats) -> "csr_array[np.float64]":
    """
    Return what the values of w_1, followed by those of w_0, must keep below a limit.

    Returns:
        Shape (4 (n - 1) + n, 2 n): rise and fall of w_1 and of w_0, and u w_1(u) + (1 - u) w_0(u).
    """
    from scipy.sparse import csr_array

    count = at.size
    left = np.concatenate((np.arange(count - 1), np.arange(count - 1), *2 * (count + np.arange(count - 1),)))
    sign = np.repeat([1.0, -1.0, 1.0, -1.0], count - 1)
    slope = np.arange(left.size)
    mixed = left.size + np.arange(count)
    row = np.concatenate((slope, slope, mixed, mixed))
    column = np.concatenate((left, left + 1, np.arange(count), count + np.arange(count)))
    value = np.concatenate((-sign, sign, at, 1.0 - at))
    return csr_array((value, (row, column)), shape=(left.size + count, 2 * count))
