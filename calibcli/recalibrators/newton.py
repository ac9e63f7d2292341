"""A few coefficients, one logistic curve: damped Newton steps on a mean loss over weighted points."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibcli.errors import NotConverged
from calibcli.table.score_table import Floats

GRADIENT = 1e-10
CHUNK = 32_768
_STEP = 1e-8
_MOST_STEPS = 100
_MOST_HALVINGS = 60
# Losses this close, relative to 1, differ by rounding only.
_ROUNDING = 1e-14
# A direction with a smaller share of its own curvature is lost in rounding.
_LEAST_SHARE = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """
    What a logistic curve is fitted to.

    Args:
        design: The features, shape (k, n); fits are best behaved when they are orthonormal under the weights.

        target: What the curve should be at each point, in [0, 1], shape (n,).

        weight: Positive, summing to 1, shape (n,).

        offset: What is added to the logit of the curve, shape (n,); None for nothing.
    """

    design: Floats
    target: Floats
    weight: Floats
    offset: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Value, gradient of shape (k,) and curvature of shape (k, k) of a mean loss at one place."""

    loss: float
    gradient: Floats
    curvature: Floats

    @property
    def size(self) -> float:
        """Largest component of the gradient."""
        return float(np.max(np.abs(self.gradient), initial=0.0))

    def step(self) -> Floats | None:
        """Return the step to the minimum of the local parabola, or None where there is none."""
        with np.errstate(all="ignore"):
            scale = np.sqrt(np.diagonal(self.curvature))
            related = self.curvature / np.outer(scale, scale)
            pull = self.gradient / scale
        if not (np.all(scale > 0.0) and np.all(np.isfinite(related)) and np.all(np.isfinite(pull))):
            return None
        try:
            root = np.linalg.cholesky(related)
        except np.linalg.LinAlgError:
            return None
        if np.min(np.diagonal(root) ** 2, initial=1.0) < _LEAST_SHARE:
            return None
        with np.errstate(over="ignore"):
            step = -np.linalg.solve(related, pull) / scale
        return step if np.all(np.isfinite(step)) else None


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """
    Where the steps ended.

    Args:
        at: The coefficients, shape (k,).

        steps: How many were taken.

        slopes: The mean loss there and its derivatives.
    """

    at: Floats
    steps: int
    slopes: Slopes


Loss = Callable[[Points, Floats], Slopes]
Terms = Callable[[Floats, Floats], tuple[Floats, Floats, Floats]]


def logistic(t: Floats) -> Floats:
    """Return 1 / (1 + exp(-t)), monotone and without overflow however large t is."""
    small = np.asarray(np.abs(t))
    np.negative(small, out=small)
    np.exp(small, out=small)
    # Small is at most 1, so that the larger of both is 1 where t is not negative.
    curve = np.maximum(small, t >= 0.0)
    small += 1.0
    return np.asarray(np.divide(curve, small, out=small))


def log_loss(points: Points, at: Floats) -> Slopes:
    """Return the mean log loss of a logistic curve and its derivatives."""
    return _summed(points, at, _log_terms)


def squared_loss(points: Points, at: Floats) -> Slopes:
    """Return the mean squared error of a logistic curve, its gradient, and a positive definite curvature."""
    exact = _summed(points, at, _squared_terms)
    if exact.step() is not None:
        return exact
    # Away from the optimum the loss may curve downwards: Gauss-Newton then.
    return _summed(points, at, _gauss_newton_terms)


def minimise(loss: Loss, points: Points, *, start: Floats, what: str) -> Optimum:
    """
    Minimise a mean loss by Newton steps, halved until the loss falls or the gradient shrinks.

    Ends when the gradient is below 1e-10 and the next step below 1e-8 (of the largest coefficient, where that
    is above 1), and then still takes that step.

    Args:
        loss: Value and derivatives at a place.

        points: What the curve is fitted to.

        start: Coefficients to start from, shape (k,).

        what: What the loss is called, for the error.

    Raises:
        NotConverged: If there is no such place within 100 steps.
    """
    at, here = start, loss(points, start)
    for steps in range(_MOST_STEPS):
        step = here.step()
        if step is None:
            break
        reached = _STEP * float(np.max(np.abs(at), initial=1.0))
        done = here.size < GRADIENT and float(np.max(np.abs(step), initial=0.0)) < reached
        moved = _halved(loss, points, at=at, here=here, step=step)
        if moved is None and not done:
            break
        at, here = moved or (at, here)
        if done:
            return Optimum(at, steps + 1, here)
    msg = f"the {what} has no minimum that {_MOST_STEPS} Newton steps reach (gradient {here.size:.1e})"
    raise NotConverged(msg, "the labels may be almost separated by the score: try --smooth-targets")


def _log_terms(t: Floats, target: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the log loss of each point and its first two derivatives in the logit."""
    small = np.abs(t)
    np.exp(np.negative(small, out=small), out=small)
    each = np.maximum(t, 0.0)
    each += np.log1p(small)
    each -= target * t
    # The curve is 1 - rest or rest: so written, the pull of a sure and right point is not lost in rounding.
    whole = 1.0 + small
    rest = np.divide(small, whole, out=small)
    above = (1.0 - target) - rest
    slope = rest - target
    np.copyto(slope, above, where=t >= 0.0)
    return each, slope, np.divide(rest, whole, out=rest)


def _squared_terms(t: Floats, target: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the squared error of each point and its first two derivatives in the logit."""
    curve = logistic(t)
    gap, spread = curve - target, curve * (1.0 - curve)
    return gap * gap, 2.0 * gap * spread, 2.0 * spread * (spread + gap * (1.0 - 2.0 * curve))


def _gauss_newton_terms(t: Floats, target: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the same without the part of the curvature that can be negative."""
    curve = logistic(t)
    gap, spread = curve - target, curve * (1.0 - curve)
    return gap * gap, 2.0 * gap * spread, 2.0 * spread * spread


def _summed(points: Points, at: Floats, terms: Terms) -> Slopes:
    """Sum the terms of every point; numpy's own sums, not BLAS: the same bits on any number of threads."""
    k, n = points.design.shape
    pairs = [(i, j) for i in range(k) for j in range(i, k)]
    sums = np.zeros((-(-n // CHUNK), 1 + k + len(pairs)))
    for row, first in enumerate(range(0, n, CHUNK)):
        part = slice(first, first + CHUNK)
        x, weight = points.design[:, part], points.weight[part]
        t = np.zeros(weight.size) if points.offset is None else points.offset[part].copy()
        for coefficient, feature in zip(at.tolist(), x, strict=True):
            t += coefficient * feature
        each, slope, bend = terms(t, points.target[part])
        each *= weight
        slope *= weight
        bend *= weight
        sums[row, 0] = np.sum(each)
        sums[row, 1 : 1 + k] = np.sum(slope * x, axis=1)
        bent = [np.sum(bend * x[i] * x[i:], axis=1) for i in range(k)]
        sums[row, 1 + k :] = np.concatenate([*bent, np.zeros(0)])
    total = np.sum(sums, axis=0)
    curvature = np.zeros((k, k))
    for (i, j), value in zip(pairs, total[1 + k :].tolist(), strict=True):
        curvature[i, j] = curvature[j, i] = value
    return Slopes(float(total[0]), total[1 : 1 + k], curvature)


def _halved(
    loss: Loss, points: Points, *, at: Floats, here: Slopes, step: Floats
) -> tuple[Floats, Slopes] | None:
    """Return the step if it improves, else the best of its half, its quarter ... until they get worse."""
    best: tuple[Floats, Slopes] | None = None
    share = 1.0
    for _ in range(_MOST_HALVINGS):
        there = at + share * step
        found = loss(points, there)
        if best is not None and not found.loss < best[1].loss:
            break
        falls = found.loss < here.loss - _ROUNDING
        shrinks = found.loss <= here.loss + _ROUNDING and found.size < here.size
        if falls or shrinks:
            best = (there, found)
            if share == 1.0:
                break
        share /= 2.0
    return best
