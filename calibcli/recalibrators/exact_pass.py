"""Newton steps whose gradient is summed over the rows themselves, where a grid table has rounded them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem, NotConverged
from calibcli.names import FitLoss
from calibcli.recalibrators.design import Aim, Family
from calibcli.recalibrators.frame import Frame
from calibcli.recalibrators.newton import Optimum, Slopes, logistic
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats, Integers

# Terms of the gradient are cut into multiples of 2^-26 and, of what is left, of 2^-52: integers, so that no
# order of the rows changes their sums. With 2^36 rows these stay below 2^63.
_CUT = float(1 << 26)
_MOST_ROWS = 1 << 36
# Rows at once: small enough for the cache, and for sums of cut terms to be exact doubles.
_CHUNK = 16_384
_STEP = 1e-9
_MOST_PASSES = 5


@dataclass(frozen=True, slots=True, eq=False)
class RowGradient:
    """
    Work for a pass over rows: the gradient of the summed loss, in integers.

    Args:
        family: Features and offset.

        aim: The loss and its targets.

        coefficients: Where the gradient is taken, shape (k,).

        scale: About the largest size of each feature, shape (k,); terms are divided by it.
    """

    family: Family
    aim: Aim
    coefficients: Floats
    scale: Floats

    def __call__(self, score: Floats, label: npt.NDArray[np.bool_], counts: Integers | None) -> Integers:
        """Return the number of rows, then the coarse and then the fine part of each sum, shape (1 + 2k,)."""
        k = self.scale.size
        total = np.zeros(1 + 2 * k, np.int64)
        for first in range(0, score.size, _CHUNK):
            part = slice(first, first + _CHUNK)
            terms = self._terms(score[part], label[part])
            number = None if counts is None else counts[part]
            total[0] += terms.shape[1] if number is None else int(np.sum(number))
            coarse = np.rint(terms)
            terms -= coarse
            terms *= _CUT
            total[1 : 1 + k] += _exact_sums(coarse, number)
            total[1 + k :] += _exact_sums(np.rint(terms, out=terms), number)
        return total

    def gradient(self, sums: Integers, rows: int) -> Floats:
        """
        Return the gradient of the mean loss, shape (k,).

        Raises:
            InputProblem: If the pass saw another number of rows than the table has.
        """
        if int(sums[0]) != rows:
            msg = f"the input changed while it was read: {rows:,} rows at first, then {int(sums[0]):,}"
            raise InputProblem(msg, "fit again when nothing writes to it")
        k = self.scale.size
        coarse, fine = sums[1 : 1 + k].astype(np.float64), sums[1 + k :].astype(np.float64)
        return (coarse + fine / _CUT) / _CUT / rows * self.scale

    def _terms(self, score: Floats, label: npt.NDArray[np.bool_]) -> Floats:
        """Return the terms of the gradient over their scale, in coarse units, shape (k, n)."""
        features = self.family.features(score)
        t = np.zeros(score.size) if self.family.offset is None else self.family.offset(score)
        for coefficient, feature in zip(self.coefficients.tolist(), features, strict=True):
            t = t + coefficient * feature
        curve = logistic(t)
        pull = curve - self.aim.targets(label)
        if self.aim.loss is FitLoss.BRIER:
            pull = 2.0 * pull * curve * (1.0 - curve)
        features *= (_CUT / self.scale)[:, np.newaxis]
        features *= pull
        return features


def refined(
    found: Optimum, frame: Frame, *, family: Family, aim: Aim, rows: Rows, total_rows: int
) -> Optimum:
    """
    Return the optimum over the rows, from the one over the cells that they were rounded to.

    Args:
        found: The optimum over the cells, whose curvature serves for the rows as well.

        frame: The basis its coefficients belong to.

        family: What is fitted.

        aim: What is minimised.

        rows: The rows.

        total_rows: How many there are.

    Returns:
        The optimum; its gradient is that before the last step: the one after would take another pass.

    Raises:
        InputProblem: If there are more than 2^36 rows, or the passes see another number of them.

        NotConverged: If 5 passes do not bring the step below 1e-9 (of the largest coefficient above 1).
    """
    if total_rows > _MOST_ROWS:
        msg = f"{total_rows:,} rows are more than the {_MOST_ROWS:,} that a grid table can be fitted to"
        raise InputProblem(msg, "pass --exact to keep every distinct score")
    ends = np.abs(family.features(np.array([0.0, 1.0])))
    inside = np.sum(np.abs(frame.triangle) * np.abs(frame.design).max(axis=1)[:, np.newaxis], axis=0)
    scale = np.maximum(np.maximum(ends.max(axis=1), inside), 1.0)
    at, curvature = found.at, found.slopes.curvature
    for passes in range(1, _MOST_PASSES + 1):
        summing = RowGradient(family, aim, frame.coefficients(at), scale)
        gradient = frame.gradient(summing.gradient(rows.summed(summing), total_rows))
        step = -np.linalg.solve(curvature, gradient)
        at = at + step
        if float(np.max(np.abs(step), initial=0.0)) < _STEP * float(np.max(np.abs(at), initial=1.0)):
            here = Slopes(found.slopes.loss, gradient, curvature)
            return Optimum(at, found.steps + passes, here)
    msg = f"the fit to cells and the fit to rows differ by more than {_MOST_PASSES} passes can mend"
    raise NotConverged(msg, "pass --exact to keep every distinct score")


def _exact_sums(terms: Floats, counts: Integers | None) -> Integers:
    """Sum whole numbers along the last axis; every partial sum of up to 2^36 rows is exact."""
    found: Integers
    if counts is None:
        found = np.sum(terms, axis=1).astype(np.int64)
    else:
        found = np.sum(terms.astype(np.int64) * counts, axis=1)
    return found
