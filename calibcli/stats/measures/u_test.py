"""The test of Cox's intercept and slope by the likelihood ratio, and its draws where few rows tell."""

import math

import numpy as np

from calibcli.errors import NotConverged
from calibcli.names import TestName
from calibcli.stats.bounds.resampling import label_draws, sub_cell_starts
from calibcli.stats.measures import CERTAIN, HELD_OUT, INDEPENDENT_ROWS, TestResult, cox
from calibcli.stats.measures.if_calibrated import p_value
from calibcli.stats.recalibrators.newton import (
    Labelled,
    Points,
    limited_rows,
    log_loss,
    logistic,
    logit,
    parted,
)
from calibcli.stats.table import Floats, Indices, Integers
from calibcli.stats.table.bins import segment_sums
from calibcli.stats.table.grid import Table, open_variance
from calibcli.values import dataclass

_MOST_STEPS = 60

# Steps end when none raises U by so much.
_GAIN = 1e-9

_LEAST_SHARE, _RIDGE = 1e-12, 1e-8

# The square of the inverse of less is no number.
_LEAST_SPREAD = 1e-150

# More scores are gathered in cells for the draws, and for the observed labels likewise.
_FEW_SCORES = 400


def u_test(table: Table) -> TestResult:
    """Test intercept 0 and slope 1 by the likelihood ratio, on rows that no one fitted anything to.

    U = 2 (log likelihood of the best line in the logit - that of the scores), with the chi-squared law of 2
    degrees of freedom, whose tail is exp(-U / 2). Undefined where there is one score only.
    """
    points = Labelled.of(table)
    if not ((points.score > 0.0) & (points.score < 1.0)).any():
        return TestResult.undefined(TestName.U, CERTAIN)
    if points.one_logit:
        same = "score" if points.score.min() == points.score.max() else "logit"
        return TestResult.undefined(TestName.U, f"undefined: there is one {same} only")
    try:
        least = _least(points, table)
    except NotConverged as problem:
        return TestResult.undefined(TestName.U, f"undefined: {problem.message}")
    target, share = points.label.astype(np.float64), points.weight / np.sum(points.weight)
    as_they_are = log_loss(Points(logit(points.score)[np.newaxis], target, share), np.ones(1)).loss
    u = max(0.0, 2.0 * table.total_rows * (as_they_are - least))
    blind = "blind to errors that no intercept and slope describe"
    notes = (INDEPENDENT_ROWS, HELD_OUT, blind, *cox.limited_words(limited_rows(table)))
    p = math.exp(-0.5 * u)
    return TestResult(TestName.U, u, p, "asymptotic", p, notes)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnU:
    """U of labels drawn from the scores.

    The observed labels go through the very steps that the drawn ones take, as exactness requires.

    Args:
        starts: Position in the table of the first entry of each cell, shape (n_cells + 1,).
        z: Logit of the mean score of each cell.
        drawn: U of each draw, shape (draws,).
    """

    starts: Indices
    z: Floats
    rows: Integers
    drawn: Floats
    method: str

    def p_value(self, positive: Floats) -> float:
        """Return the p-value of labels, given as the number of them that are 1 at each entry of the table."""
        seen = segment_sums(positive, self.starts)[np.newaxis]
        return p_value(self.drawn, float(likelihood_ratios(self.z, self.rows, seen)[0]))


def drawn_u(table: Table, *, generator: np.random.Generator, draws: int) -> DrawnU:
    """Draw labels from the scores and return U of each draw, over cells where there are many scores."""
    if table.distinct <= _FEW_SCORES:
        starts = np.arange(table.distinct + 1)
    else:
        starts = sub_cell_starts(table, moment=_fourth_moments(table))
    labels = label_draws(table, [starts], draws=draws, generator=generator)
    starts = starts if not labels.cells.coarsened else labels.cells.starts
    rows = segment_sums(table.rows, starts)
    z = logit(segment_sums(table.rows * table.score, starts) / rows)
    segments = labels.cells.segments(starts)
    drawn = [likelihood_ratios(z, rows, block.positives(segments)) for block in labels.blocks]
    return DrawnU(starts, z, rows, np.concatenate(drawn), labels.cells.method)


def line_information(table: Table) -> float:
    """Return how many open rows, all alike, would bring U as near to chi-squared as it is.

    In units in which the rows' pulls at level and slope have variance 1 in sum: 2 over the sum of fourth
    moments. A row far out, by its logit, pulls strongly.
    """
    moments = float(_fourth_moments(table).sum())
    return 2.0 / moments if moments > 0.0 else 0.0


def _fourth_moments(table: Table) -> Floats:
    """Return what each entry adds to the fourth moment of the pulls, 0 where the line has no slope."""
    variance = open_variance(table)
    z = logit(table.score)
    whole = float(variance.sum())
    if not whole > 0.0:
        return np.zeros(variance.size)
    z -= float((variance / whole * z).sum())
    spread = float((variance * z**2).sum())
    if not spread > _LEAST_SPREAD:
        return np.zeros(variance.size)
    found: Floats = variance * (1.0 / whole + z**2 / spread) ** 2
    return found


def likelihood_ratios(z: Floats, rows: Integers, positive: Floats) -> Floats:
    """Return U of many sets of labels at the same scores, by Newton steps for all of them together.

    A step that lowers the likelihood, and moves no logit by more than r, is cut to ln(1 + r) / r of itself,
    with which it rises. Where a threshold parts a set, it rises towards its bound until a step gains nothing.

    Args:
        z: Logits, not all equal, shape (n,).
        rows: Number of rows at each, shape (n,).
        positive: How many of them have label 1, shape (sets, n).

    References:
        Bach (2010), Electronic Journal of Statistics 4, Proposition 1, for the steps.
    """
    total = float(rows.sum())
    share, target, negative = rows / total, positive / total, (rows - positive) / total
    middle = float((share * z).sum())
    scale = math.sqrt(float((share * (z - middle) ** 2).sum()))
    x = (z - middle) / scale
    ends = np.array([[x.min()], [x.max()]])
    level, slope = np.full(len(positive), middle), np.full(len(positive), scale)
    before = now = _losses(level, slope, x=x, negative=negative, target=target)
    for _ in range(_MOST_STEPS):
        up, tilt = _newton_step(logistic(level[:, None] + slope[:, None] * x), x, share=share, target=target)
        whole = _losses(level + up, slope + tilt, x=x, negative=negative, target=target)
        falls = whole <= now
        r = np.maximum(np.abs(up + ends * tilt).max(axis=0), 1e-300)
        cut = np.where(falls, 1.0, np.log1p(r) / r)
        level, slope = level + cut * up, slope + cut * tilt
        there = whole if falls.all() else _losses(level, slope, x=x, negative=negative, target=target)
        then, now = now, there
        if 2.0 * total * float(np.max(then - now)) < _GAIN:
            break
    return np.maximum(2.0 * total * (before - now), 0.0)


def _newton_step(curve: Floats, x: Floats, *, share: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Return the steps of level and slope, shapes (sets,); 0 where the curve is flat to rounding."""
    bend = curve * (1.0 - curve)
    pull, turn = (target - share * curve).sum(axis=1), (target - share * curve) @ x
    flat, mixed, steep = bend @ share, bend @ (share * x), bend @ (share * x * x)
    # Where one logit alone is left to move, nearly, a ridge takes the shortest step that moves it.
    ridge = np.where(flat * steep - mixed * mixed > _LEAST_SHARE * flat * steep, 1.0, 1.0 + _RIDGE)
    flat, steep = flat * ridge, steep * ridge
    area = flat * steep - mixed * mixed
    some = area > 0.0
    area = np.where(some, area, 1.0)
    up, tilt = (steep * pull - mixed * turn) / area, (flat * turn - mixed * pull) / area
    return np.where(some, up, 0.0), np.where(some, tilt, 0.0)


def _losses(level: Floats, slope: Floats, *, x: Floats, negative: Floats, target: Floats) -> Floats:
    """Return the mean log loss of each set, shape (sets,): of terms not below 0, so that ties stay ties."""
    t = level[:, None] + slope[:, None] * x
    bent = np.log1p(np.exp(-np.abs(t)))
    found: Floats = (negative * (bent + np.maximum(t, 0.0)) + target * (bent + np.maximum(-t, 0.0))).sum(
        axis=1
    )
    return found


def _least(points: Labelled, table: Table) -> float:
    """Return the smallest mean log loss of any line, or its infimum."""
    if points.one_label:
        return 0.0
    if parted(*points.logits):
        return cox.least_when_parted(*points.logits, points)
    return cox.fitted_line(points, table).optimum.slopes.loss
