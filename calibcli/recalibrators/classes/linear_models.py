"""What is free in softmax(W log p + b), and what of it is penalised."""

from typing import Literal, Protocol, assert_never

import numpy as np

from calibcli.recalibrators.classes.log_rows import LogBlock
from calibcli.table.score_table import Floats
from calibcli.view_names import ClassMethod

# How much of the penalty falls on what the slopes of a matrix differ by.
LITTLE = 0.01
LinearMethod = Literal[ClassMethod.VECTOR, ClassMethod.STRUCTURED, ClassMethod.MATRIX]


class LinearModel(Protocol):
    """A way to write W and b by coefficients, shape (m,)."""

    @property
    def full(self) -> bool:
        """Whether W is a matrix, and not a diagonal alone."""
        ...

    @property
    def penalised(self) -> bool:
        """Whether some coefficients are pulled towards 0."""
        ...

    def start(self) -> Floats:
        """Return the coefficients of the map that changes nothing."""
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

    def shares(self) -> Floats:
        """Return how strongly each coefficient's square is penalised, shape (m,)."""
        ...


class Diagonal:
    """
    A slope and an intercept for each class, without penalty.

    Args:
        count: How many classes there are.
    """

    full = False
    penalised = False

    def __init__(self, count: int) -> None:
        self._count = count

    def start(self) -> Floats:
        """Return the coefficients of the map that changes nothing."""
        return np.concatenate((np.ones(self._count), np.zeros(self._count)))

    def parts(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the diagonal of W, and b."""
        return coefficients[: self._count], coefficients[self._count :]

    def logits(self, coefficients: Floats, log: Floats) -> Floats:
        """Return W log p + b for rows, shape (n, K)."""
        slope, intercept = self.parts(coefficients)
        return np.asarray(log * slope + intercept)

    def pull(self, excess: Floats, block: LogBlock) -> Floats:
        """Return the derivative of a loss by the coefficients."""
        return np.concatenate((np.einsum("ij,ij->j", excess, block.log), excess.sum(axis=0)))

    def shares(self) -> Floats:
        """Return no penalty."""
        return np.zeros(2 * self._count)


class Structured:
    """
    One slope for all classes, free, and what each class's slope and intercept differ by, penalised.

    Args:
        count: How many classes there are.
    """

    full = False
    penalised = True

    def __init__(self, count: int) -> None:
        self._diagonal = Diagonal(count)
        self._count = count

    def start(self) -> Floats:
        """Return the coefficients of the map that changes nothing."""
        return np.concatenate(([1.0], np.zeros(2 * self._count)))

    def parts(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the diagonal of W, and b."""
        return coefficients[0] + coefficients[1 : self._count + 1], coefficients[self._count + 1 :]

    def logits(self, coefficients: Floats, log: Floats) -> Floats:
        """Return W log p + b for rows, shape (n, K)."""
        slope, intercept = self.parts(coefficients)
        return np.asarray(log * slope + intercept)

    def pull(self, excess: Floats, block: LogBlock) -> Floats:
        """Return the derivative of a loss by the coefficients."""
        each = self._diagonal.pull(excess, block)
        return np.concatenate(([each[: self._count].sum()], each))

    def shares(self) -> Floats:
        """Return the penalty: the mean square of each kind of difference."""
        return np.concatenate(([0.0], np.full(2 * self._count, 1.0 / self._count)))


class Full:
    """
    One slope for all classes, free, and all that W has beside it and b, penalised.

    Beside the penalty of Dirichlet calibration, on W off the diagonal and on b, what slopes of classes differ
    by is penalised too, if little: where a class is only ever right at a probability of exactly 1, its slope
    has no end else.

    Args:
        count: How many classes there are.
    """

    full = True
    penalised = True

    def __init__(self, count: int) -> None:
        self._count = count

    def start(self) -> Floats:
        """Return the coefficients of the map that changes nothing."""
        return np.concatenate(([1.0], np.zeros(self._count * (self._count + 1))))

    def parts(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return W and b."""
        square = self._count**2
        beside = coefficients[1 : square + 1].reshape(self._count, self._count)
        return coefficients[0] * np.eye(self._count) + beside, coefficients[square + 1 :]

    def logits(self, coefficients: Floats, log: Floats) -> Floats:
        """Return W log p + b for rows, shape (n, K)."""
        weight, intercept = self.parts(coefficients)
        return np.asarray(log @ weight.T + intercept)

    def pull(self, excess: Floats, block: LogBlock) -> Floats:
        """Return the derivative of a loss by the coefficients."""
        weight = excess.T @ block.log
        return np.concatenate(([np.trace(weight)], weight.ravel(), excess.sum(axis=0)))

    def shares(self) -> Floats:
        """Return the penalty: the mean square off the diagonal, and of intercepts; a part of it on slopes."""
        count = self._count
        off = (1.0 - np.eye(count)) / max(1, count * (count - 1)) + LITTLE * np.eye(count) / count
        return np.concatenate(([0.0], off.ravel(), np.full(count, 1.0 / count)))


def model_named(method: LinearMethod, count: int) -> LinearModel:
    """Return what a method leaves free for so many classes."""
    match method:
        case ClassMethod.VECTOR:
            return Diagonal(count)
        case ClassMethod.STRUCTURED:
            return Structured(count)
        case ClassMethod.MATRIX:
            return Full(count)
        case _:
            assert_never(method)
