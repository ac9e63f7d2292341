"""The profile likelihood of one coefficient of a logistic curve."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.measures.losses import entropy
from calibcli.recalibrators.design import Family, Labelled, logit
from calibcli.recalibrators.frame import Frame
from calibcli.recalibrators.logistic import Solution
from calibcli.recalibrators.newton import Points, log_loss, minimise
from calibcli.table.crossing import crossing
from calibcli.table.score_table import Floats

_MOST_STEPS = 20
# Steps of Newton's method shrink so fast that the last one below this, relative to the width, is exact.
_STEP = 1e-8
_WITHIN = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """
    The deviance of the last coefficient, the others being chosen best for it.

    Args:
        points: What the curve is fitted to, in orthonormal coordinates, the last feature last.

        least: Smallest mean log loss of any curve, or its infimum.

        rows: Number of rows.

        unit: Length of the last feature's own part: its coefficient times this is its coordinate.
    """

    points: Points
    least: float
    rows: int
    unit: float

    @classmethod
    def of(cls, family: Family, labelled: Labelled, *, rows: int, least: float) -> "Profile":
        """Return the profile of the last feature of a family."""
        share = labelled.weight / np.sum(labelled.weight)
        frame = Frame.of(family.features(labelled.score), share)
        offset = None if family.offset is None else family.offset(labelled.score)
        points = Points(frame.design, labelled.label.astype(np.float64), share, offset)
        return cls(points, least, rows, float(frame.triangle[-1, -1]))

    def around(self, best: Solution, *, level: float) -> tuple[float, float]:
        """
        Return the coefficients on both sides of the best one where the deviance reaches a level.

        Newton's method for the equations of Venzon & Moolgavkar (1988), Applied Statistics 37: the deviance
        is the level, and the other coefficients are at their best. Where it fails, the root is enclosed.

        Args:
            best: The maximum of the likelihood, in the coordinates of `points`.

            level: Of the deviance: the square of a normal quantile.

        Raises:
            NotConverged: If neither finds it.
        """
        ends = [self._end(best, side, level=level) for side in (-1.0, 1.0)]
        return ends[0] / self.unit, ends[1] / self.unit

    def below_infinity(self, side: float, *, level: float) -> float:
        """
        Return where the deviance falls to a level on the way to a best coefficient of infinity.

        Args:
            side: 1 where the deviance falls towards infinity, -1 where it falls towards minus infinity.

            level: Of the deviance.

        Raises:
            NotConverged: If the deviance cannot be computed far enough out.
        """

        def rises(u: float) -> float:
            return level - self._deviance(side * u)

        low, high = 0.0, 0.0
        while rises(high) < 0.0:
            low, high = high, max(1.0, 2.0 * high)
        while rises(low) >= 0.0:
            high, low = low, min(-1.0, 2.0 * low)
        return side * sum(crossing(rises, low, high, within=_WITHIN)) / 2.0 / self.unit

    def _end(self, best: Solution, side: float, *, level: float) -> float:
        at, bend = best.optimum.at, best.optimum.slopes.curvature
        tilt = -np.linalg.solve(bend[:-1, :-1], bend[:-1, -1])
        own = float(bend[-1, -1] + bend[-1, :-1] @ tilt)
        width = math.sqrt(level / (self.rows * own)) if own > 0.0 else 1.0
        found = self._by_newton(at, side * width * np.append(tilt, 1.0), level=level)
        return self._enclosed(float(at[-1]), side, width=width, level=level) if found is None else found

    def _by_newton(self, best: Floats, step: Floats, *, level: float) -> float | None:
        """Return the coordinate where both equations hold, None if that is not found on the same side."""
        at, width = best + step, float(step[-1])
        for _ in range(_MOST_STEPS):
            here = log_loss(self.points, at)
            excess = 2.0 * self.rows * (here.loss - self.least) - level
            left = np.append(excess, here.gradient[:-1])
            slopes = np.vstack((2.0 * self.rows * here.gradient, here.curvature[:-1]))
            try:
                move = np.linalg.solve(slopes, left)
            except np.linalg.LinAlgError:
                return None
            at = at - move
            if not (np.all(np.isfinite(at)) and (at[-1] - best[-1]) * width > 0.0):
                return None
            if abs(move[-1]) <= _STEP * abs(width):
                return float(at[-1])
        return None

    def _enclosed(self, centre: float, side: float, *, width: float, level: float) -> float:
        def rises(u: float) -> float:
            return self._deviance(centre + side * u) - level

        far = width
        while rises(far) < 0.0:
            far *= 2.0
        low, high = crossing(rises, 0.0, far, within=_WITHIN * width)
        return centre + side * 0.5 * (low + high)

    def _deviance(self, coordinate: float) -> float:
        """Return twice the log likelihood lost by holding the last coordinate."""
        design = self.points.design
        if len(design) == 1:
            held = log_loss(self.points, np.array([coordinate])).loss
        else:
            base = 0.0 if self.points.offset is None else self.points.offset
            offset = base + coordinate * design[-1]
            rest = Points(design[:-1], self.points.target, self.points.weight, offset)
            start = np.zeros(len(design) - 1)
            held = minimise(log_loss, rest, start=start, what="log loss").slopes.loss
        return 2.0 * self.rows * (held - self.least)


def least_when_parted(ones: Floats, zeros: Floats, points: Labelled) -> float:
    """
    Return the infimum of the mean log loss where a threshold parts the labels.

    Only rows at the threshold itself, where both labels may lie, are left with a loss.

    Args:
        ones: Logits of the points of label 1.

        zeros: Those of label 0.

        points: The points.
    """
    weight = float(points.weight.sum())
    edges = (float(ones.min()), float(zeros.max())), (float(zeros.min()), float(ones.max()))
    for above, below in edges:
        if above == below:
            there: npt.NDArray[np.bool_] = logit(points.score) == above
            held = float(points.weight[there].sum())
            share = points.weight[there & points.label].sum(keepdims=True) / held
            return held * float(entropy(share)[0]) / weight
    return 0.0
