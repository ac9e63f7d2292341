"""What the logistic recalibrators share: fitting coefficients of a logit, and the record of how that went."""

import math
from abc import abstractmethod
from typing import Annotated, ClassVar

import numpy as np

from calibcli.codec import Between, Declared, Node
from calibcli.errors import InputProblem, NotConverged
from calibcli.names import FitLoss
from calibcli.options.fitting import FitOptions
from calibcli.options.numerals import plural
from calibcli.stats.recalibrators import Recalibrator, checked_scores, newton
from calibcli.stats.table import Booleans, Floats, Integers
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace

# Terms of the gradient are cut into multiples of 2^-26 and, of what is left, of 2^-52: integers, so that no
# order of the rows changes their sums. With 2^36 rows these stay below 2^63.
_CUT = float(1 << 26)

_MOST_ROWS = 1 << 36

# Rows at once: small enough for the cache, and for sums of cut terms to be exact doubles.
_CHUNK = 16_384

_EXACT_STEP = 1e-9

_MOST_PASSES = 5

_KEEP = "pass --exact to keep every distinct score"

# Log odds are sums of coefficients times features: of larger ones rounding takes more than a millionth.
_LARGEST_TERM = 2.0**32


@dataclass(frozen=True, slots=True, eq=False)
class RowGradient:
    """Work for a pass over rows: the gradient of the summed loss, in integers.

    Args:
        coefficients: Where the gradient is taken, shape (k,).
        scale: About the largest size of each feature, shape (k,); terms are divided by it.
    """

    family: newton.Family
    aim: newton.Aim
    coefficients: Floats
    scale: Floats

    def __call__(self, score: Floats, label: Booleans, counts: Integers | None) -> Integers:
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
        """Return the gradient of the mean loss, shape (k,)."""
        if int(sums[0]) != rows:
            msg = f"the input changed while it was read: {rows:,} rows at first, then {int(sums[0]):,}"
            raise InputProblem(msg, "fit again when nothing writes to it")
        k = self.scale.size
        coarse, fine = sums[1 : 1 + k].astype(np.float64), sums[1 + k :].astype(np.float64)
        return (coarse + fine / _CUT) / _CUT / rows * self.scale

    def _terms(self, score: Floats, label: Booleans) -> Floats:
        """Return the terms of the gradient over their scale, in coarse units, shape (k, n)."""
        features = self.family.features(score)
        t = np.zeros(score.size) if self.family.offset is None else self.family.offset(score)
        for coefficient, feature in zip(self.coefficients.tolist(), features, strict=True):
            t = t + coefficient * feature
        curve = newton.logistic(t)
        pull = curve - self.aim.targets(label)
        if self.aim.loss is FitLoss.BRIER:
            pull = 2.0 * pull * curve * (1.0 - curve)
        features *= (_CUT / self.scale)[:, np.newaxis]
        features *= pull
        return features


def _exact_sums(terms: Floats, counts: Integers | None) -> Integers:
    """Sum whole numbers along the last axis; every partial sum of up to 2^36 rows is exact."""
    whole = np.sum(terms, axis=1) if counts is None else np.sum(terms.astype(np.int64) * counts, axis=1)
    return np.asarray(whole, np.int64)


# Beyond any fit, and far from overflow in a prediction.
LARGEST = 1e100

Coefficient = Annotated[float, Between(-LARGEST, LARGEST)]

_MOST_STEPS = 300

_LARGEST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True)
class Record(Declared):
    """How a fit went."""

    loss: Annotated[FitLoss, "What the fit minimised."]
    smoothed: Annotated[bool, "Whether it aimed at Platt's smoothed targets rather than at the labels."]
    separated: Annotated[bool, "Whether that is because the labels have no finite fit."]
    limited_rows: Annotated[int, "Fit rows with a score so near 0 or 1 that its logit was limited."]
    steps: Annotated[int, Between(0, _MOST_STEPS), "Newton steps taken."]
    gradient: Annotated[
        float,
        Between(0.0, _LARGEST_GRADIENT),
        "Largest component of the gradient of the mean loss in orthonormal features: at the end, or before "
        "the last step where scores were rounded to fit in memory.",
    ]

    def check(self, node: Node) -> None:
        """Refuse a fit to labels that have none."""
        if self.separated:
            node.child("smoothed").expect(value=True)

    def notes(self, *own: str, parting: str = "A threshold on the score") -> tuple[str, ...]:
        """Return the sentences a user should read, the method's own between those of the fit."""
        found = list(own)
        if self.separated:
            parts = f"{parting} parts the labels, so the labels have no finite fit"
            found.insert(0, f"{parts}; Platt's smoothed targets were used.")
        return (*found, *limited_words(self.limited_rows))


def limited_words(rows: int) -> tuple[str, ...]:
    """Say that the scores of so many fit rows were limited."""
    have = plural(rows, "fit row", "has")
    return (f"{have} a score within 2^-53 of 0 or 1; it was limited inside the logit.",) if rows else ()


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A fit to the points of a table; `frame` is the basis in which it was found."""

    family: newton.Family
    aim: newton.Aim
    frame: newton.Frame
    optimum: newton.Optimum

    @property
    def coefficients(self) -> tuple[float, ...]:
        """Coefficients of the features."""
        return tuple(self.frame.coefficients(self.optimum.at).tolist())

    def over(self, table: Table, rows: Rows | None) -> "Solution":
        """Return the fit to the rows behind a grid table, where they can be seen again."""
        found = self
        if rows is not None and table.kind != "exact":
            found = replace(self, optimum=self._refined(rows, table.total_rows))
        # Of larger terms what they add up to is lost.
        if float(np.max(np.abs(found.coefficients) * self._sizes, initial=0.0)) > _LARGEST_TERM:
            differ = "the scores differ in their last digits alone"
            msg = f"{differ}, too little for coefficients to tell them apart"
            raise NotConverged(msg, newton.ALIKE)
        return found

    @property
    def _sizes(self) -> Floats:
        """The largest size of each feature among the points, or more than it, shape (k,)."""
        frame = self.frame
        largest = np.abs(frame.design).max(axis=1)
        return np.asarray(np.sum(np.abs(frame.triangle) * largest[:, np.newaxis], axis=0))

    def _refined(self, rows: Rows, total_rows: int) -> newton.Optimum:
        """Return the optimum over rows, from that over cells; the gradient is that before the last step."""
        if total_rows > _MOST_ROWS:
            many = f"{total_rows:,} rows are more than the {_MOST_ROWS:,}"
            msg = f"{many} that rounded scores can be fitted with"
            raise InputProblem(msg, _KEEP)
        frame, found = self.frame, self.optimum
        ends = np.abs(self.family.features(np.array([0.0, 1.0])))
        scale = np.maximum(np.maximum(ends.max(axis=1), self._sizes), 1.0)
        at, curvature = found.at, found.slopes.curvature
        for passes in range(1, _MOST_PASSES + 1):
            summing = RowGradient(self.family, self.aim, frame.coefficients(at), scale)
            gradient = frame.gradient(summing.gradient(rows.summed(summing), total_rows))
            step = -np.linalg.solve(curvature, gradient)
            at = at + step
            if float(np.max(np.abs(step), initial=0.0)) < _EXACT_STEP * float(
                np.max(np.abs(at), initial=1.0)
            ):
                here = newton.Slopes(found.slopes.loss, gradient, curvature)
                return newton.Optimum(at, found.steps + passes, here)
        msg = f"the fit to cells and the fit to rows differ by more than {_MOST_PASSES} passes can mend"
        raise NotConverged(msg, _KEEP)

    def record(self, table: Table) -> Record:
        return Record(
            loss=self.aim.loss,
            smoothed=self.aim.smoothed,
            separated=self.aim.separated,
            limited_rows=newton.limited_rows(table),
            steps=self.optimum.steps,
            gradient=self.optimum.slopes.size,
        )


def solved(family: newton.Family, points: newton.Labelled, *, aim: newton.Aim) -> Solution:
    """Fit the coefficients to points, by maximum likelihood or by least squares started from there."""
    share = points.weight / np.sum(points.weight)
    target = aim.targets(points.label)
    ones, zeros = float(np.sum(share * target)), float(np.sum(share * (1.0 - target)))
    if not (ones > 0.0 and zeros > 0.0):
        msg = f"the weights differ by so many orders of magnitude that a {family.method.value} fit underflows"
        raise NotConverged(msg, "leave out rows that weigh next to nothing")
    features = family.features(points.score)
    frame = newton.Frame.of(features, share)
    offset = None if family.offset is None else family.offset(points.score)
    start = np.zeros(features.shape[0])
    if offset is None and features.shape[0] and np.ptp(features[0]) == 0.0:
        start[0] = (math.log(ones) - math.log(zeros)) / frame.design[0, 0]
    at = newton.Points(frame.design, target, share, offset)
    best = newton.minimise(newton.log_loss, at, start=start, what="log loss")
    if aim.loss is FitLoss.BRIER:
        best = newton.minimise(newton.squared_loss, at, start=best.at, what="squared error")
    return Solution(family, aim, frame, best)


def solved_or_smoothed(
    family: newton.Family, table: Table, rows: Rows | None, *, options: FitOptions, least: int
) -> Solution:
    """Fit to the labels, or to smoothed targets where some curve of the family parts the labels; at least so
    many scores must differ. The rows behind a grid table are for the last steps.
    """
    points = newton.Labelled.of(table)
    newton.require_distinct(family.method, points, table=table, least=least)
    aim = newton.Aim.of(table, options, separated=newton.parted(*points.logits))
    try:
        found = solved(family, points, aim=aim)
    except NotConverged:
        if aim.smoothed:
            raise
        # Weights do not matter for what parts labels.
        equal = np.full(points.score.size, 1.0 / points.score.size)
        if not newton.parted_by(newton.Frame.of(family.features(points.score), equal).design, points.label):
            raise
        found = solved(family, points, aim=newton.Aim.of(table, options, separated=True))
    return found.over(table, rows)


class LogitMap(Recalibrator):
    """1 / (1 + exp(-t)), t being the log odds that a fitted curve gives to a score."""

    __slots__ = ()
    record: Record
    # What parts the labels where they have no finite fit.
    parting: ClassVar = "A threshold on the score"

    @abstractmethod
    def log_odds(self, scores: Floats) -> Floats:
        """Return the log odds of scores."""

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, the same bits however scores are grouped."""
        scores = checked_scores(scores)
        probability = np.empty_like(scores)
        flat, out = scores.reshape(-1), probability.reshape(-1)
        for start in range(0, flat.size, newton.CHUNK):
            part = slice(start, start + newton.CHUNK)
            out[part] = newton.logistic(self.log_odds(flat[part]))
        return probability

    @property
    def notes(self) -> tuple[str, ...]:
        return self.record.notes(parting=self.parting)
