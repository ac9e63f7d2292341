"""Two parameters, one logistic curve: damped Newton steps on a mean loss over weighted points."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibcli.errors import NotConverged
from calibcli.table.score_table import Floats

GRADIENT = 1e-10
_STEP = 1e-8
_MOST_STEPS = 100
_MOST_HALVINGS = 60
# Losses this close, relative to 1, differ by rounding only.
_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class Points:
    """
    What a logistic curve is fitted to.

    Args:
        z: Positions; fits are best behaved when their mean is 0 and their variance 1.

        target: What the curve should be there, in [0, 1].

        weight: Positive, summing to 1.
    """

    z: Floats
    target: Floats
    weight: Floats


@dataclass(frozen=True, slots=True)
class Slopes:
    """Value, gradient and two by two curvature (00, 01, 11) of a mean loss at one point."""

    loss: float
    gradient: tuple[float, float]
    curvature: tuple[float, float, float]

    @property
    def size(self) -> float:
        """Largest component of the gradient."""
        return max(abs(self.gradient[0]), abs(self.gradient[1]))


@dataclass(frozen=True, slots=True)
class Optimum:
    """
    Where the steps ended.

    Args:
        intercept: Of the logit of the curve at z = 0.

        slope: Of the logit of the curve.

        steps: How many were taken.

        gradient: Largest component of the gradient of the mean loss there.
    """

    intercept: float
    slope: float
    steps: int
    gradient: float


Loss = Callable[[Points, tuple[float, float]], Slopes]


def logistic(t: Floats) -> Floats:
    """Return 1 / (1 + exp(-t)), monotone and without overflow however large t is."""
    small = np.exp(-np.abs(t))
    return np.where(t >= 0.0, 1.0, small) / (1.0 + small)


def log_loss(points: Points, at: tuple[float, float]) -> Slopes:
    """Return the mean log loss of a logistic curve and its derivatives."""
    t = at[0] + at[1] * points.z
    curve = logistic(t)
    each = np.maximum(t, 0.0) + np.log1p(np.exp(-np.abs(t))) - points.target * t
    first = points.weight * (curve - points.target)
    second = points.weight * curve * (1.0 - curve)
    return _slopes(points, each, first=first, second=second)


def squared_loss(points: Points, at: tuple[float, float]) -> Slopes:
    """Return the mean squared error of a logistic curve, its gradient, and a positive definite curvature."""
    curve = logistic(at[0] + at[1] * points.z)
    gap = curve - points.target
    spread = curve * (1.0 - curve)
    first = points.weight * 2.0 * gap * spread
    second = 2.0 * spread * (spread + gap * (1.0 - 2.0 * curve))
    exact = _slopes(points, gap * gap, first=first, second=points.weight * second)
    if _determinant(exact.curvature) > 0.0 and exact.curvature[0] > 0.0:
        return exact
    # Away from the optimum the loss may curve downwards: Gauss-Newton then.
    return _slopes(points, gap * gap, first=first, second=points.weight * 2.0 * spread * spread)


def minimise(loss: Loss, points: Points, *, start: tuple[float, float], what: str) -> Optimum:
    """
    Minimise a mean loss by Newton steps, halved until the loss falls or the gradient shrinks.

    Ends when the gradient is below 1e-10 and the next step below 1e-8, and then still takes that step.

    Args:
        loss: Value and derivatives at a point.

        points: What the curve is fitted to.

        start: Intercept and slope to start from.

        what: What the loss is called, for the error.

    Raises:
        NotConverged: If there is no such place within 100 steps.
    """
    at, here = start, loss(points, start)
    for steps in range(_MOST_STEPS):
        step = _newton_step(here)
        if step is None:
            break
        done = here.size < GRADIENT and max(abs(step[0]), abs(step[1])) < _STEP
        moved = _halved(loss, points, at=at, here=here, step=step)
        if moved is None and not done:
            break
        at, here = moved or (at, here)
        if done:
            return Optimum(*at, steps=steps + 1, gradient=here.size)
    msg = f"the {what} has no minimum that {_MOST_STEPS} Newton steps reach (gradient {here.size:.1e})"
    raise NotConverged(msg, "the labels may be almost separated by the score: try --smooth-targets")


def _slopes(points: Points, each: Floats, *, first: Floats, second: Floats) -> Slopes:
    # numpy's own sums, not BLAS: the same bits whatever the number of threads.
    z = points.z
    return Slopes(
        loss=float(np.sum(points.weight * each)),
        gradient=(float(np.sum(first)), float(np.sum(first * z))),
        curvature=(float(np.sum(second)), float(np.sum(second * z)), float(np.sum(second * z * z))),
    )


def _determinant(curvature: tuple[float, float, float]) -> float:
    return curvature[0] * curvature[2] - curvature[1] * curvature[1]


def _newton_step(here: Slopes) -> tuple[float, float] | None:
    """Return the step to the minimum of the local parabola, or None where there is none."""
    a, b, c = here.curvature
    determinant = _determinant(here.curvature)
    if not (determinant > 0.0 and a > 0.0):
        return None
    g, h = here.gradient
    step = ((b * h - c * g) / determinant, (b * g - a * h) / determinant)
    return step if np.isfinite(step[0]) and np.isfinite(step[1]) else None


def _halved(
    loss: Loss, points: Points, *, at: tuple[float, float], here: Slopes, step: tuple[float, float]
) -> tuple[tuple[float, float], Slopes] | None:
    """Return the first of the step, its half, its quarter ... that is an improvement, or None."""
    share = 1.0
    for _ in range(_MOST_HALVINGS):
        there = (at[0] + share * step[0], at[1] + share * step[1])
        found = loss(points, there)
        falls = found.loss < here.loss - _ROUNDING
        shrinks = found.loss <= here.loss + _ROUNDING and found.size < here.size
        if falls or shrinks:
            return there, found
        share /= 2.0
    return None
