"""What is free in softmax(W log p + b), what of it is penalised, and in which measure its loss is round."""

from collections.abc import Callable
from typing import Literal, Protocol, assert_never

import numpy as np

from calibcli.recalibrators.classes.log_rows import LogBlock
from calibcli.table.score_table import Floats
from calibcli.view_names import ClassMethod

# How much of the penalty falls on what the slopes of a matrix differ by.
LITTLE = 0.01
# What curvature is taken for at least, as a share of the largest.
_LEAST_CURVATURE = 1e-12
LinearMethod = Literal[ClassMethod.VECTOR, ClassMethod.STRUCTURED, ClassMethod.MATRIX]
Rounding = Callable[[Floats], Floats]


class LinearModel(Protocol):
    """A way to write W and b by coefficients, shape (m,)."""

    @property
    def full(self) -> bool:
        """Whether W is a matrix, and not a diagonal alone."""
        ...

    @property
    def penalised(self) -> bool:
        """Whether some coefficients are pulled towards 0, or towards each other."""
        ...

    @property
    def numbers(self) -> int:
        """How many numbers of the rows are best worked on at once."""
        ...

    def start(self) -> Floats:
        """Return the coefficients of the map that changes nothing."""
        ...

    def common(self) -> Floats:
        """Return one slope for all classes: what no penalty holds."""
        ...

    def parts(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return W, or its diagonal, and b."""
        ...

    def logits(self, coefficients: Floats, log: Floats) -> Floats:
        """Return W log p + b for rows, shape (n, K)."""
        ...

    def pull(self, excess: Floats, block: LogBlock) -> Floats:
        """
        Return the derivative of a loss by the coefficients.

        Args:
            excess: Its derivative by the logits, shape (n, K).

            block: The rows.
        """
        ...

    def held(self, coefficients: Floats) -> Floats:
        """Return the derivative of the penalty, which is a sum of squares, where its strength is 1."""
        ...

    def moments(self, likely: Floats, block: LogBlock) -> Floats:
        """
        Return what the curvature of the mean log loss is told by, as sums over rows.

        Args:
            likely: Probabilities under the map, shape (n, K).

            block: The rows.
        """
        ...

    def rounding(self, moments: Floats, penalty: float) -> Rounding:
        """
        Return what divides a derivative by the curvature, nearly: conjugate gradients do the rest.

        Args:
            moments: Summed over all rows.

            penalty: Its strength.
        """
        ...


class Diagonal:
    """
    A slope and an intercept for each class; where penalised, with what slopes differ by and all intercepts.

    Args:
        count: How many classes there are.

        penalised: Whether the mean squares of both are held.
    """

    full = False
    numbers = 1 << 16

    def __init__(self, count: int, *, penalised: bool) -> None:
        self._count = count
        self.penalised = penalised

    def start(self) -> Floats:
        """Return the coefficients of the map that changes nothing."""
        return np.concatenate((np.ones(self._count), np.zeros(self._count)))

    def common(self) -> Floats:
        """Return one slope for all classes: what no penalty holds."""
        return self.start()

    def parts(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the diagonal of W, and b."""
        return coefficients[: self._count], coefficients[self._count :]

    def logits(self, coefficients: Floats, log: Floats) -> Floats:
        """Return W log p + b for rows, shape (n, K)."""
        slope, intercept = self.parts(coefficients)
        result = log * slope
        result += intercept
        return np.asarray(result)

    def pull(self, excess: Floats, block: LogBlock) -> Floats:
        """Return the derivative of a loss by the coefficients."""
        return np.concatenate((np.einsum("ij,ij->j", excess, block.log), excess.sum(axis=0)))

    def held(self, coefficients: Floats) -> Floats:
        """Return the derivative of the penalty: the mean square of each kind of difference."""
        if not self.penalised:
            return np.zeros(2 * self._count)
        slope, intercept = self.parts(coefficients)
        return np.concatenate((slope - slope.mean(), intercept)) * (2.0 / self._count)

    def moments(self, likely: Floats, block: LogBlock) -> Floats:
        """Return for each class the sums of q (1 - q) times x^2, x and 1."""
        spread = (likely - likely * likely) * block.weight[:, None].astype(likely.dtype)
        moved = spread * block.log
        return np.concatenate(
            (np.einsum("ij,ij->j", moved, block.log), moved.sum(axis=0), spread.sum(axis=0))
        )

    def rounding(self, moments: Floats, penalty: float) -> Rounding:
        """Return what solves, class by class, for slope and intercept."""
        square, mixed, whole = moments.reshape(3, self._count)
        stiff = 2.0 * penalty / self._count if self.penalised else 0.0
        square = square + stiff + _LEAST_CURVATURE * square.max()
        whole = whole + stiff + _LEAST_CURVATURE * whole.max()
        # Not negative, whatever rounding says of classes whose logarithms hardly vary.
        free = np.maximum(square * whole - mixed * mixed, _LEAST_CURVATURE * square * whole)

        def rounded(pull: Floats) -> Floats:
            slope, intercept = self.parts(pull)
            return np.concatenate(
                ((whole * slope - mixed * intercept) / free, (square * intercept - mixed * slope) / free)
            )

        return rounded


class Full:
    """
    All of W and b, with all but one slope for all classes penalised.

    Beside the penalty of Dirichlet calibration, on W off the diagonal and on b, what slopes of classes differ
    by is penalised too, if little: where a class is only ever right at a probability of exactly 1, its slope
    has no end else.

    Args:
        count: How many classes there are.
    """

    full = True
    penalised = True
    numbers = 1 << 20

    def __init__(self, count: int) -> None:
        self._count = count
        # An intercept of so much for a column of the matrix costs as much as that does.
        self._one = 1.0 / np.sqrt(max(1, count - 1))

    def start(self) -> Floats:
        """Return the coefficients of the map that changes nothing."""
        return np.column_stack((np.eye(self._count), np.zeros(self._count))).ravel()

    def common(self) -> Floats:
        """Return one slope for all classes: what no penalty holds."""
        return self.start()

    def parts(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return W and b."""
        both = self._shaped(coefficients)
        return both[:, :-1], both[:, -1]

    def logits(self, coefficients: Floats, log: Floats) -> Floats:
        """Return W log p + b for rows, shape (n, K)."""
        weight, intercept = self.parts(coefficients)
        result = log @ weight.T
        result += intercept
        return np.asarray(result)

    def pull(self, excess: Floats, block: LogBlock) -> Floats:
        """Return the derivative of a loss by the coefficients."""
        return np.column_stack((excess.T @ block.log, excess.sum(axis=0))).ravel()

    def held(self, coefficients: Floats) -> Floats:
        """Return the derivative of the mean squares off the diagonal and of b, and of a part on slopes."""
        weight, intercept = self.parts(coefficients)
        slope = np.diag(weight)
        off = weight / max(1, self._count * (self._count - 1))
        np.fill_diagonal(off, LITTLE / self._count * (slope - slope.mean()))
        return 2.0 * np.column_stack((off, intercept / self._count)).ravel()

    def moments(self, likely: Floats, block: LogBlock) -> Floats:
        """Return the sums of diag(q) - q q' and of x x', where x is log p with a constant behind it."""
        weight = block.weight[:, None].astype(likely.dtype)
        heavy = likely * weight
        between = np.diag(heavy.sum(axis=0)) - heavy.T @ likely
        x = np.column_stack((block.log, np.full(block.label.size, self._one, likely.dtype)))
        return np.concatenate((between.ravel(), ((x * weight).T @ x).ravel()))

    def rounding(self, moments: Floats, penalty: float) -> Rounding:
        """Return what divides by the product of both sums, as if classes and logarithms were independent."""
        between, of_logs = np.split(moments, [self._count**2])
        left, rows = np.linalg.eigh(between.reshape(self._count, self._count))
        right, columns = np.linalg.eigh(of_logs.reshape(self._count + 1, self._count + 1))
        curve = np.outer(np.maximum(left, 0.0), np.maximum(right, 0.0))
        curve += 2.0 * penalty / max(1, self._count * (self._count - 1)) + _LEAST_CURVATURE * curve.max()

        def rounded(pull: Floats) -> Floats:
            both = self._shaped(pull).copy()
            both[:, -1] *= self._one
            both = rows @ ((rows.T @ both @ columns) / curve) @ columns.T
            both[:, -1] *= self._one
            return np.asarray(both.ravel())

        return rounded

    def _shaped(self, coefficients: Floats) -> Floats:
        return coefficients.reshape(self._count, self._count + 1)


def model_named(method: LinearMethod, count: int) -> LinearModel:
    """Return what a method leaves free for so many classes."""
    match method:
        case ClassMethod.VECTOR:
            return Diagonal(count, penalised=False)
        case ClassMethod.STRUCTURED:
            return Diagonal(count, penalised=True)
        case ClassMethod.MATRIX:
            return Full(count)
        case _:
            assert_never(method)
