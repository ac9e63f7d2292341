"""What the logistic recalibrators share: fitting coefficients of a logit, and the record of how that went."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from calibcli.codec import Between, Declared, Node
from calibcli.errors import NotConverged
from calibcli.names import FitLoss
from calibcli.options.fitting import FitOptions
from calibcli.recalibrators.design import Aim, Family, Labelled, limited_rows
from calibcli.recalibrators.exact_pass import refined
from calibcli.recalibrators.frame import Frame
from calibcli.recalibrators.interface import Recalibrator, checked_scores
from calibcli.recalibrators.newton import CHUNK, Optimum, Points, log_loss, logistic, minimise, squared_loss
from calibcli.recalibrators.separation import parted, parted_by
from calibcli.table.grid import GridTable, Table
from calibcli.table.reread import reread
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats

# Beyond any fit, and far from overflow in a prediction.
LARGEST = 1e100
Coefficient = Annotated[float, Between(-LARGEST, LARGEST)]
_MOST_STEPS = 300
_LARGEST_GRADIENT = 1.0
_MOST_HELD = 1_000_000


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
        "the last step where a grid table was fitted to its rows.",
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
        if self.limited_rows:
            rows = "1 fit row has" if self.limited_rows == 1 else f"{self.limited_rows:,} fit rows have"
            found.append(f"{rows} a score within 2^-53 of 0 or 1; it was limited inside the logit.")
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """
    A fit to the points of a table.

    Args:
        family: What was fitted.

        aim: What it aimed at.

        frame: The basis in which it was found.

        optimum: Where, in that basis.
    """

    family: Family
    aim: Aim
    frame: Frame
    optimum: Optimum

    @property
    def coefficients(self) -> tuple[float, ...]:
        """Coefficients of the features."""
        return tuple(self.frame.coefficients(self.optimum.at).tolist())

    def over(self, table: Table, rows: Rows | None) -> "Solution":
        """Return the fit to the rows behind a grid table, where they can be seen again."""
        if rows is None or table.kind == "exact":
            return self
        optimum = refined(
            self.optimum,
            self.frame,
            family=self.family,
            aim=self.aim,
            rows=rows,
            total_rows=table.total_rows,
        )
        return replace(self, optimum=optimum)

    def record(self, table: Table) -> Record:
        """Return how the fit went."""
        return Record(
            loss=self.aim.loss,
            smoothed=self.aim.smoothed,
            separated=self.aim.separated,
            limited_rows=limited_rows(table),
            steps=self.optimum.steps,
            gradient=self.optimum.slopes.size,
        )


def solved(family: Family, points: Labelled, *, aim: Aim) -> Solution:
    """
    Fit the coefficients to points, by maximum likelihood or by least squares started from there.

    Raises:
        NotConverged: If the loss has no minimum that can be reached.
    """
    share = points.weight / np.sum(points.weight)
    target = aim.targets(points.label)
    ones, zeros = float(np.sum(share * target)), float(np.sum(share * (1.0 - target)))
    if not (ones > 0.0 and zeros > 0.0):
        msg = f"the weights differ by so many orders of magnitude that a {family.method.value} fit underflows"
        raise NotConverged(msg, "leave out rows that weigh next to nothing")
    features = family.features(points.score)
    frame = Frame.of(features, share)
    offset = None if family.offset is None else family.offset(points.score)
    start = np.zeros(features.shape[0])
    if offset is None and features.shape[0] and np.ptp(features[0]) == 0.0:
        start[0] = (math.log(ones) - math.log(zeros)) / frame.design[0, 0]
    at = Points(frame.design, target, share, offset)
    best = minimise(log_loss, at, start=start, what="log loss")
    if aim.loss is FitLoss.BRIER:
        best = minimise(squared_loss, at, start=best.at, what="squared error")
    return Solution(family, aim, frame, best)


def unrounded(
    fit: Callable[[Table, Rows | None], Recalibrator], table: Table, *, rows: Rows | None
) -> Recalibrator:
    """
    Fit to a table, or to all its rows at once where cells of a grid tell too few scores apart.

    Args:
        fit: From a table and the rows behind it to a fit.

        table: The fit rows.

        rows: The rows behind a grid table; at most 1,000,000 of them are held at once.

    Raises:
        InputProblem: As the fit does; for such a grid table, what the fit to its rows says.
    """
    try:
        return fit(table, rows)
    except NotConverged:
        if rows is None or not isinstance(table, GridTable) or table.total_rows > _MOST_HELD:
            raise
    return fit(reread(table, np.arange(table.distinct), rows=rows), None)


def solved_or_smoothed(family: Family, table: Table, *, points: Labelled, options: FitOptions) -> Solution:
    """
    Fit to the labels, or to smoothed targets where some curve of the family parts the labels.

    Args:
        family: Its features span 1 and z, and no coefficient is bounded.

        table: The fit rows.

        points: Those of the table.

        options: The loss, and whether to smooth in any case.

    Raises:
        NotConverged: If the loss has no minimum that can be reached, though no curve parts the labels.
    """
    aim = Aim.of(table, options, separated=parted(*points.logits))
    try:
        return solved(family, points, aim=aim)
    except NotConverged:
        if aim.smoothed or not _parted_by(family, points):
            raise
    return solved(family, points, aim=Aim.of(table, options, separated=True))


def each_chunk(scores: Floats, curve: Callable[[Floats], Floats]) -> Floats:
    """
    Return the probability of each score, the same bits however scores are grouped.

    Args:
        scores: In [0, 1].

        curve: From scores to logits.

    Raises:
        InputProblem: If a score is NaN or lies outside [0, 1].
    """
    scores = checked_scores(scores)
    probability = np.empty_like(scores)
    flat, out = scores.reshape(-1), probability.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        part = slice(start, start + CHUNK)
        out[part] = logistic(curve(flat[part]))
    return probability


def _parted_by(family: Family, points: Labelled) -> bool:
    """Whether a curve of the family parts the labels; weights do not matter for that."""
    equal = np.full(points.score.size, 1.0 / points.score.size)
    frame = Frame.of(family.features(points.score), equal)
    return parted_by(frame.design, points.label)
