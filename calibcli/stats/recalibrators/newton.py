"""A few coefficients, one logistic curve: damped Newton steps on a mean loss over weighted points."""

from collections.abc import Callable
from functools import partial
from typing import Self

import numpy as np

from calibcli.errors import NotConverged
from calibcli.names import FitLoss, RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.stats.table import Booleans, Floats, run_starts
from calibcli.stats.table.grid import WIDTH, Table, open_variance
from calibcli.values import dataclass

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
    """What a logistic curve is fitted to.

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
    """Where the steps ended; `slopes` are the mean loss there and its derivatives."""

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
    exact = _summed(points, at, partial(_squared_terms, whole=True))
    if exact.step() is not None:
        return exact
    # Away from the optimum the loss may curve downwards: Gauss-Newton then.
    return _summed(points, at, partial(_squared_terms, whole=False))


def minimise(loss: Loss, points: Points, *, start: Floats, what: str) -> Optimum:
    """Minimise a mean loss by Newton steps, halved until the loss falls or the gradient shrinks.

    Ends when the gradient is below 1e-10 and the next step below 1e-8 (of the largest coefficient, where that
    is above 1), and then still takes that step.
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


def _squared_terms(t: Floats, target: Floats, *, whole: bool) -> tuple[Floats, Floats, Floats]:
    """Return the squared error of each point and its first two derivatives in the logit; unless the second is
    wanted whole, without the part of it that can be negative.
    """
    curve = logistic(t)
    gap, spread = curve - target, curve * (1.0 - curve)
    bend = spread + gap * (1.0 - 2.0 * curve) if whole else spread
    return gap * gap, 2.0 * gap * spread, 2.0 * spread * bend


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


# A logit needs a score inside (0, 1): within this distance of 0 and 1 it is limited, there only.
NEAREST = 2.0**-53

_LOOKED_AT = 1_000

_WORDS = {1: "one", 2: "two", 3: "three"}


@dataclass(frozen=True, slots=True)
class Family:
    """The logits offset + sum of coefficient times feature.

    Args:
        features: From scores, shape (n,), to features, shape (k, n).
        offset: From scores to what is added to the logit, shape (n,); None for nothing.
    """

    method: RecalibratorName
    features: Callable[[Floats], Floats]
    offset: Callable[[Floats], Floats] | None = None


@dataclass(frozen=True, slots=True)
class Aim:
    """What a fit minimises; targets are Platt's `smoothed` ones rather than the labels on request, or where
    the labels, being `separated`, have no finite fit.
    """

    loss: FitLoss
    negative: float
    positive: float
    smoothed: bool
    separated: bool

    @classmethod
    def of(cls, table: Table, options: FitOptions, *, separated: bool) -> Self:
        """Return the labels as targets; or, on request or where they are separated, smoothed ones.

        These are (n1 + 1)/(n1 + 2) for label 1 and 1/(n0 + 2) for label 0, with n1 and n0 numbers of rows.

        References:
            Platt (1999), Probabilistic outputs for support vector machines, section 2.2.
        """
        if not (separated or options.smooth_targets):
            return cls(options.loss, 0.0, 1.0, smoothed=False, separated=False)
        ones = table.total_positive_rows
        zeros = table.total_rows - ones
        return cls(
            options.loss, 1.0 / (zeros + 2.0), (ones + 1.0) / (ones + 2.0), smoothed=True, separated=separated
        )

    def targets(self, label: Booleans) -> Floats:
        if (self.negative, self.positive) == (0.0, 1.0):
            return label.astype(np.float64)
        return np.where(label, self.positive, self.negative)


# The square of a cell's width over the variance of scores where 32 cells have as many rows each.
_WIDE = 12.0 / 32.0**2


def _wide_cells(table: Table) -> bool:
    """Whether how far the rows of a cell are apart counts beside how far the cells are, where labels are
    open.

    In the wide cells of groups it may whatever the spread: next to 0 scores in one differ by half, and a few
    rows far off make the spread large. No fit reads the rows of groups again.
    """
    if table.resolution > WIDTH:
        return True
    share = open_variance(table)
    whole = float(share.sum())
    middle = float((share * table.score).sum()) / whole if whole > 0.0 else 0.0
    spread = float((share * (table.score - middle) ** 2).sum())
    return bool(table.resolution**2 * whole > _WIDE * spread)


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """The points of a table, label 0 first, without those of no weight.

    On a grid table a cell gives two, at the mean scores of its labels; where cells are wide, both at the mean
    score of its rows, as those of labels part these: nothing shows how far the rows of a label are apart.
    """

    score: Floats
    label: Booleans
    weight: Floats

    @classmethod
    def of(cls, table: Table) -> Self:
        negative = np.maximum(table.weight - table.positive, 0.0)
        weight = np.concatenate((negative, table.positive))
        label = np.repeat([False, True], negative.size)
        wide = table.kind == "grid" and _wide_cells(table)
        either = (table.score,) * 2 if wide else (table.score_of_negative, table.score_of_positive)
        kept = weight > 0.0
        return cls(np.concatenate(either)[kept], label[kept], weight[kept])

    @property
    def logits(self) -> tuple[Floats, Floats]:
        """Logits of the points of label 1 and of label 0."""
        return logit(self.score[self.label]), logit(self.score[~self.label])

    @property
    def one_label(self) -> bool:
        """Whether they have one label."""
        return bool(self.label.all()) or not bool(self.label.any())

    @property
    def one_logit(self) -> bool:
        """Whether their scores have one logit, so that there is no slope."""
        return float(np.ptp(logit(self.score))) == 0.0


def logit(scores: Floats) -> Floats:
    """Return the log odds of scores in [0, 1], limited to [2^-53, 1 - 2^-53] first."""
    inside = np.clip(scores, NEAREST, 1.0 - NEAREST)
    # Every step but the logarithm is rounded correctly and hence monotone.
    odds: Floats = inside / (1.0 - inside)
    return np.log(odds)


LARGEST_LOGIT = float(logit(np.ones(1))[0])


def constant(scores: Floats) -> Floats:
    """Return the feature 1, shape (1, n)."""
    return np.ones((1, scores.size))


def line(scores: Floats) -> Floats:
    """Return the features 1 and z, shape (2, n)."""
    return np.stack((np.ones(scores.size), logit(scores)))


def ray(scores: Floats) -> Floats:
    """Return the feature z, shape (1, n)."""
    return logit(scores)[np.newaxis]


def limited_rows(table: Table) -> int:
    """Count the rows whose logit is limited."""
    columns = (
        (table.score_of_positive, table.positive_rows),
        (table.score_of_negative, table.rows - table.positive_rows),
    )
    return sum(int(rows[(s < NEAREST) | (s > 1.0 - NEAREST)].sum()) for s, rows in columns)


# What to do about scores that do not differ, or hardly.
ALIKE = "use --method intercept or isotonic; is --score the right column, and --scale its scale?"


def require_distinct(method: RecalibratorName, points: Labelled, *, table: Table, least: int) -> None:
    """Refuse scores too few of which differ after the logit."""
    # A look at some settles it for all but the strangest scores.
    some = points.score[:: max(1, points.score.size // _LOOKED_AT)]
    if run_starts(np.sort(logit(some))).size >= least:
        return
    found = run_starts(np.sort(logit(points.score))).size
    if found >= least:
        return
    there = f"all {table.total_rows:,} rows share one" if found == 1 else f"there are {found}"
    msg = f"a {method.value} fit needs {_WORDS[least]} distinct scores, and {there}"
    raise too_few(msg, table)


def too_few(msg: str, table: Table, hint: str = ALIKE) -> NotConverged:
    """Return that scores do not differ enough, which rounding may be to blame for."""
    if table.kind == "grid":
        msg, hint = f"{msg}, as rounded to fit in memory", "pass --exact to keep every distinct score"
    return NotConverged(msg, hint)


# A feature whose own part is smaller than this share of it is a combination of those before.
_LEAST_PART = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """An orthonormal basis of the features under the weights.

    Args:
        design: The basis at each point, shape (k, n).
        triangle: Upper triangular; column j holds feature j in this basis, shape (k, k).
    """

    design: Floats
    triangle: Floats

    @classmethod
    def of(cls, features: Floats, weight: Floats) -> Self:
        """Orthonormalise the features in their order (modified Gram-Schmidt)."""
        k = features.shape[0]
        design, triangle = np.empty_like(features), np.zeros((k, k))
        for j in range(k):
            rest = features[j].copy()
            whole = float(np.sqrt(np.sum(weight * rest * rest)))
            for i in range(j):
                triangle[i, j] = np.sum(weight * rest * design[i])
                rest -= triangle[i, j] * design[i]
            own = float(np.sqrt(np.sum(weight * rest * rest)))
            # The first two are told apart by whoever chose them, however near the scores are to each other.
            if not own > (0.0 if j < 2 else _LEAST_PART * whole):
                msg = f"the scores do not tell the {k} coefficients apart, or the weights differ by too many"
                msg = f"{msg} orders of magnitude"
                raise NotConverged(msg, "fit a simpler method, such as platt")
            triangle[j, j] = own
            design[j] = rest / own
        return cls(design, triangle)

    def coefficients(self, at: Floats) -> Floats:
        """Return the coefficients of the features, from those of the basis; shapes (k,)."""
        return np.asarray(np.linalg.solve(self.triangle, at), dtype=np.float64)

    def gradient(self, by_feature: Floats) -> Floats:
        """Return a gradient in the basis, from one in the coefficients of the features; shapes (k,)."""
        return np.asarray(np.linalg.solve(self.triangle.T, by_feature), dtype=np.float64)


# What the solver keeps its constraints to, and ten times what a parting has to reach beyond that.
_FEASIBLE = 1e-9

_PARTED = 1e-6


def parted_upwards(ones: Floats, zeros: Floats) -> bool:
    """Whether a threshold has every label 1 at or above it and every label 0 at or below."""
    return bool(zeros.max() <= ones.min())


def parted_at_zero(ones: Floats, zeros: Floats) -> bool:
    """Whether the threshold 0 does."""
    return bool(zeros.max() <= 0.0 <= ones.min())


def parted(ones: Floats, zeros: Floats) -> bool:
    """Whether a threshold parts the labels in either direction."""
    return parted_upwards(ones, zeros) or parted_upwards(zeros, ones)


def parted_by(design: Floats, label: Booleans) -> bool:
    """Whether some combination of features is nowhere negative at label 1, nowhere positive at label 0, and
    not 0 everywhere.

    Then, and only then, the likelihood has no maximum, given that the features are independent.

    References:
        Albert & Anderson (1984), Biometrika 71(1). Konis (2007), thesis, Oxford, section 4, for the linear
        program.
    """
    from scipy.optimize import linprog

    length = np.sqrt(np.sum(design * design, axis=0))
    signed = np.where(label, -1.0, 1.0) * design / np.where(length > 0.0, length, 1.0)
    rows = np.unique(signed, axis=1).T
    found = linprog(
        np.sum(rows, axis=0),
        A_ub=rows,
        b_ub=np.zeros(rows.shape[0]),
        bounds=(-1.0, 1.0),
        options={"primal_feasibility_tolerance": _FEASIBLE},
    )
    return found.x is not None and bool(np.min(rows @ found.x) < -_PARTED)
