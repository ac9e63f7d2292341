"""The penalised mean log loss of a linear map of log-probabilities: value, derivative and curvature."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from calibcli.ahead import in_order
from calibcli.recalibrators.classes.linear_models import LinearModel, Rounding
from calibcli.recalibrators.classes.log_rows import LogBlock, LogRows, summed
from calibcli.recalibrators.classes.softmax import losses_and_softmax
from calibcli.table.score_table import Floats

Known = tuple[LogBlock, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class PenalisedLoss:
    """
    The loss over some rows.

    Args:
        model: What is free.

        rows: The rows; where they are rough, sums are those of single precision.

        penalty: Its strength.
    """

    model: LinearModel
    rows: LogRows
    penalty: float = 0.0

    def at(self, coefficients: Floats) -> tuple[float, Floats]:
        """Return the loss, and its derivative by the coefficients, shape (m,)."""
        held = self.penalty * self.model.held(coefficients)
        work = partial(_loss_and_pull, self.model, coefficients)
        summed = self.rows.summed(work, numbers=self.model.numbers)
        return float(summed[0]) + 0.5 * float(coefficients @ held), summed[1:] + held

    def mean(self, coefficients: Floats) -> float:
        """Return the mean log loss alone, without penalty."""
        work = partial(_loss, self.model, coefficients)
        return float(self.rows.summed(work, numbers=self.model.numbers)[0])


class Curvature:
    """
    How the derivative of a loss changes around some coefficients.

    Args:
        loss: The loss.

        coefficients: Where, shape (m,).
    """

    def __init__(self, loss: PenalisedLoss, coefficients: Floats) -> None:
        self._loss = loss
        self._coefficients = coefficients
        self._known = list(self._likely()) if loss.rows.kept is not None else None

    def along(self, direction: Floats) -> Floats:
        """Return how the derivative changes in a direction, to first order; shape (m,)."""
        work = partial(_bent, self._loss.model, direction)
        return self._summed(work) + self._loss.penalty * self._loss.model.held(direction)

    def rounding(self) -> Rounding:
        """Return what nearly divides a derivative by the curvature, and exactly along the common slope."""
        model, common = self._loss.model, self._loss.model.common()
        nearly = model.rounding(self._summed(partial(_moments, model)), self._loss.penalty)
        curve = float(common @ self.along(common))
        if not curve > 0.0:
            return nearly

        def rounded(pull: Floats) -> Floats:
            return nearly(pull) + float(common @ pull) / curve * common

        return rounded

    def _summed(self, work: "partial[Floats]") -> Floats:
        known = self._likely() if self._known is None else self._known
        return summed(work, known, self._loss.rows.workers)

    def _likely(self) -> Iterator[Known]:
        """Yield the rows with their probabilities under the map."""
        model, rows = self._loss.model, self._loss.rows
        work = partial(_with_likely, model, self._coefficients)
        yield from in_order(work, rows.blocks(model.numbers), rows.workers)


def _loss(model: LinearModel, coefficients: Floats, block: LogBlock) -> Floats:
    loss, _ = losses_and_softmax(_logits(model, coefficients, block), block.label)
    return np.array([block.weight @ loss])


def _loss_and_pull(model: LinearModel, coefficients: Floats, block: LogBlock) -> Floats:
    """Return the sum of losses, and their derivative, of shape (1 + m,)."""
    loss, excess = losses_and_softmax(_logits(model, coefficients, block), block.label)
    excess[np.arange(block.label.size), block.label] -= 1.0
    excess *= block.weight[:, None].astype(excess.dtype)
    return np.concatenate(([block.weight @ loss], model.pull(excess, block)))


def _with_likely(model: LinearModel, coefficients: Floats, block: LogBlock) -> Known:
    return block, losses_and_softmax(_logits(model, coefficients, block), block.label)[1]


def _bent(model: LinearModel, direction: Floats, known: Known) -> Floats:
    block, likely = known
    moved = _logits(model, direction, block)
    moved -= np.einsum("ij,ij->i", likely, moved)[:, None]
    moved *= likely
    moved *= block.weight[:, None].astype(moved.dtype)
    return model.pull(moved, block)


def _moments(model: LinearModel, known: Known) -> Floats:
    block, likely = known
    return model.moments(likely, block)


def _logits(model: LinearModel, coefficients: Floats, block: LogBlock) -> Floats:
    """Return logits in the precision of the rows."""
    return model.logits(coefficients.astype(block.log.dtype), block.log)
