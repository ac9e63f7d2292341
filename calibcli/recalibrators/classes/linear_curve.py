"""Newton's steps for linear maps of log-probabilities."""

import numpy as np

from calibcli.recalibrators.classes.linear_models import LinearModel
from calibcli.recalibrators.classes.log_rows import LogRows
from calibcli.recalibrators.classes.softmax import losses_and_softmax
from calibcli.table.score_table import Floats

# Up to so many coefficients the matrix of second derivatives is written out.
_FEW = 600
_MOST_DIRECTIONS = 500
_LOST = 1e-13


def newton_step(
    model: LinearModel, rows: LogRows, coefficients: Floats, *, shares: Floats, pull: Floats
) -> Floats:
    """
    Return the step to the minimum of the parabola that touches the loss at some coefficients.

    Args:
        model: What is free.

        rows: The fit rows.

        coefficients: Shape (m,).

        shares: How strongly each coefficient's square is penalised, shape (m,).

        pull: The derivative there, shape (m,).
    """
    if pull.size <= _FEW:
        each = [_bent(model, rows, coefficients, direction) for direction in np.eye(pull.size)]
        curve = np.array(each) + np.diag(2.0 * shares)
        return np.asarray(-np.linalg.lstsq(0.5 * (curve + curve.T), pull, rcond=_LOST)[0])
    return _by_gradients(model, rows, coefficients, shares=shares, pull=pull)


def _by_gradients(
    model: LinearModel, rows: LogRows, coefficients: Floats, *, shares: Floats, pull: Floats
) -> Floats:
    """Return the step by conjugate gradients."""
    step, left = np.zeros_like(pull), -pull
    direction, size = left.copy(), float(left @ left)
    for _ in range(_MOST_DIRECTIONS):
        bent = _bent(model, rows, coefficients, direction) + 2.0 * shares * direction
        curve = float(direction @ bent)
        if curve <= 0.0:
            break
        step += size / curve * direction
        left -= size / curve * bent
        last, size = size, float(left @ left)
        if size <= 1e-12 * float(pull @ pull):
            break
        direction = left + size / last * direction
    return step


def _bent(model: LinearModel, rows: LogRows, coefficients: Floats, direction: Floats) -> Floats:
    """Return how the derivative of the mean log loss changes in a direction, to first order."""
    bent = np.zeros_like(direction)
    for block in rows:
        _, likely = losses_and_softmax(model.logits(coefficients, block.log), block.label)
        moved = model.logits(direction, block.log)
        moved -= (likely * moved).sum(axis=1, keepdims=True)
        bent = bent + model.pull(likely * moved * block.weight[:, None], block)
    return bent
