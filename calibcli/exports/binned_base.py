"""Scaling-binning as steps of the score itself: where the output of its base passes an edge."""

import numpy as np

from calibcli.exports.ordinals import Ordinals, numbers_at, ordinals_of
from calibcli.exports.splines import turning_points
from calibcli.recalibrators.interface import Recalibrator
from calibcli.recalibrators.newton import logistic
from calibcli.recalibrators.quadratic import Quadratic
from calibcli.recalibrators.scaling_binning import ScalingBinning
from calibcli.recalibrators.smooth import Smooth
from calibcli.recalibrators.spline import Spline
from calibcli.table.bins import bin_index
from calibcli.table.score_table import Floats


def steps_of_scaling_binning(recalibrator: ScalingBinning) -> tuple[Floats, Floats]:
    """
    Return where each interval of scores with one output begins, and the output.

    Found by halving, down to neighbouring numbers, on each part of [0, 1] on which the base is monotone.
    Another machine's logarithm may be one digit off, so that the base would put scores at an edge into
    another bin there; the steps do not.

    Args:
        recalibrator: The fitted map.
    """
    base, edges = recalibrator.base, recalibrator.table.edges
    ends = ordinals_of(_monotone_between(base))
    found = [ends[:1]]
    bins = bin_index(edges, base.predict(numbers_at(ends)))
    for level in range(edges.size - 2):
        above = bins > level
        changed = np.flatnonzero(above[1:] != above[:-1])
        if changed.size:
            found.append(_crossings(recalibrator, ends[changed], ends[changed + 1], level=level))
    starts = numbers_at(np.unique(np.concatenate(found)))
    return starts, recalibrator.predict(starts)


def _crossings(recalibrator: ScalingBinning, low: Ordinals, high: Ordinals, *, level: int) -> Ordinals:
    """Return the first number of each stretch that lies on the other side of an edge than its beginning."""
    base, edges = recalibrator.base, recalibrator.table.edges
    above = bin_index(edges, base.predict(numbers_at(low))) > level
    while np.any(high - low > 1):
        middle = low + (high - low) // 2
        same = (bin_index(edges, base.predict(numbers_at(middle))) > level) == above
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return high


def _monotone_between(base: Recalibrator) -> Floats:
    """Return ascending scores from 0 to 1 between which a base rises or falls and does not turn round."""
    match base:
        case Quadratic(slope=slope, bend=bend) if bend:
            inner = logistic(np.array([-slope / (2.0 * bend)]))
        case Spline():
            inner = logistic(turning_points(np.array(base.knots), np.array(base.values)))
        case Smooth(values=values):
            inner = np.linspace(0.0, 1.0, values.size)
        case _:
            inner = np.zeros(0)
    return np.unique(np.concatenate(([0.0], np.clip(inner, 0.0, 1.0), [1.0])))
