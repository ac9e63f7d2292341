"""The least penalised mean log loss of a linear map of log-probabilities, by Newton's steps."""

from dataclasses import dataclass

import numpy as np

from calibcli.errors import NotConverged
from calibcli.recalibrators.classes.linear_loss import Curvature, PenalisedLoss
from calibcli.recalibrators.classes.linear_models import Rounding
from calibcli.recalibrators.classes.log_rows import LogRows
from calibcli.table.score_table import Floats

_MOST_STEPS = 100
_MOST_DIRECTIONS = 500
_MOST_HALVES = 30
# The largest component of the derivative at the end, over that at the start or 1.
_FLAT = 1e-10
# How much of the loss a step may still win where penalties are compared.
NEARLY = 1e-5
# How much of what a step should win it must.
_SOME = 1e-4
_ROUNDING = 1e-14
_SINGLE_ROUNDING = 1e-6
# How near a step comes to that of Newton: nearer as the steps get small, as far as precision allows.
_LOOSE, _TIGHT, _SINGLE_TIGHT = 0.3, 1e-8, 1e-3
# The mean log loss of rows that a map can make as sure as it likes.
_NO_LOSS = 1e-6
# Coefficients that grow beyond this have no end.
_RUNAWAY = 1e4
FEWER = "use --multiclass structured or temperature, which need fewer rows"


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """
    A step, and by how much the parabola that touches the loss falls along it.

    Args:
        change: Shape (m,).

        fall: Of the parabola, at least 0.
    """

    change: Floats
    fall: float


def minimum(loss: PenalisedLoss, start: Floats, *, by: LogRows) -> Floats:
    """
    Return the coefficients where the derivative is 0, as far as double precision tells.

    Args:
        loss: The loss.

        start: Where to begin, shape (m,).

        by: The same rows, perhaps rough, that the curvature is taken from.

    Raises:
        NotConverged: If the loss has no minimum that can be reached.
    """
    curved = PenalisedLoss(loss.model, by, loss.penalty)
    rounding = Curvature(curved, start).rounding()
    best, (value, pull) = start, loss.at(start)
    flat = _FLAT * max(1.0, float(np.abs(pull).max()))
    for _ in range(_MOST_STEPS):
        if np.abs(pull).max() <= flat or np.abs(best).max() > _RUNAWAY:
            break
        step = _newton_step(curved, best, pull, rounding=rounding)
        found = _lower(loss, best, value, step, slack=_ROUNDING)
        if found is None:
            break
        best, value, pull = found
    _refuse_endless(loss, best, value, float(np.abs(pull).max()), flat=flat)
    return best


def near_minimum(loss: PenalisedLoss, start: Floats) -> Floats:
    """
    Return coefficients near enough to the best to compare penalties by: a step would win 1e-5.

    Args:
        loss: The loss, over rows that may be rough.

        start: Where to begin, shape (m,).

    Raises:
        NotConverged: If the loss has no minimum that can be reached.
    """
    rounding = Curvature(loss, start).rounding()
    best, (value, pull) = start, loss.at(start)
    slack = _SINGLE_ROUNDING if loss.rows.single else _ROUNDING
    for _ in range(_MOST_STEPS):
        step = _newton_step(loss, best, pull, rounding=rounding)
        found = _lower(loss, best, value, step, slack=slack)
        if found is None:
            return best
        best, value, pull = found
        if np.abs(best).max() > _RUNAWAY:
            break
        if step.fall <= NEARLY:
            return best
    msg = "the fit has no end: its coefficients grow while the loss hardly falls"
    raise NotConverged(msg, FEWER)


def _newton_step(loss: PenalisedLoss, coefficients: Floats, pull: Floats, *, rounding: Rounding) -> _Step:
    """Return the step to the minimum of the parabola, by conjugate gradients among rounded derivatives."""
    curvature = Curvature(loss, coefficients)
    change, left = np.zeros_like(pull), -pull
    direction = rounding(left)
    size = first = float(left @ direction)
    tight = _SINGLE_TIGHT if loss.rows.single else _TIGHT
    end = max(tight, min(_LOOSE, np.sqrt(max(first, 0.0)))) ** 2 * first
    for _ in range(_MOST_DIRECTIONS):
        bent = curvature.along(direction)
        curve = float(direction @ bent)
        if not curve > 0.0:
            break
        change += size / curve * direction
        left -= size / curve * bent
        rounded = rounding(left)
        last, size = size, float(left @ rounded)
        if size <= end:
            break
        direction = rounded + size / last * direction
    return _Step(change, max(0.0, -0.5 * float(pull @ change)))


def _lower(
    loss: PenalisedLoss, best: Floats, value: float, step: _Step, *, slack: float
) -> tuple[Floats, float, Floats] | None:
    """Return where a step leads, with the loss and its derivative there, halved until it is lower."""
    share = 1.0
    for _ in range(_MOST_HALVES):
        there = best + share * step.change
        found, pull = loss.at(there)
        if found <= value - _SOME * share * step.fall + slack * abs(value):
            return there, found, pull
        share *= 0.5
    return None


def _refuse_endless(loss: PenalisedLoss, best: Floats, value: float, pull: float, *, flat: float) -> None:
    """
    Refuse coefficients that are not the best.

    Raises:
        NotConverged: If they are not.
    """
    if np.abs(best).max() > _RUNAWAY:
        msg = "the fit has no end: its coefficients grow while the loss hardly falls"
        raise NotConverged(msg, FEWER)
    if not pull <= flat:
        msg = f"the fit did not settle: its gradient is still {pull:.1g}"
        raise NotConverged(msg, FEWER)
    if not loss.model.penalised and value < _NO_LOSS:
        msg = "the map can make every row right for certain, so that no coefficients are best"
        raise NotConverged(msg, "fit on more rows, or on rows the model has not been trained on")
