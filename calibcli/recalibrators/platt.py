"""Platt scaling: a logistic curve in the logit of the score."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from calibcli.documents import Node
from calibcli.errors import InputProblem, NotConverged
from calibcli.names import FitLoss, RecalibratorName
from calibcli.recalibrators.interface import FittedBin, checked_scores, require_both_labels
from calibcli.recalibrators.newton import Optimum, Points, log_loss, logistic, minimise, squared_loss
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

# A logit needs a score inside (0, 1): within this distance of 0 and 1 it is limited, there only.
NEAREST = 2.0**-53
_CHUNK = 32_768
# Beyond any fit, and far from overflow in a prediction.
_LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class Platt:
    """
    1 / (1 + exp(-(intercept + slope logit(score)))).

    Args:
        intercept: Log odds where the score is 1/2.

        slope: 1 leaves confidence as it is, below 1 lowers it; negative turns the order of scores round.

        loss: What the fit minimised.

        smoothed: Whether it aimed at Platt's smoothed targets rather than at the labels.

        separated: Whether a threshold on the score parts the labels, so that labels have no finite fit.

        limited_rows: Fit rows with a score so near 0 or 1 that its logit was limited.

        steps: Newton steps taken.

        gradient: Largest component of the gradient of the mean loss at the end, in standardised logits.

    References:
        Platt (1999), Probabilistic outputs for support vector machines, section 2.
    """

    intercept: float
    slope: float
    loss: FitLoss
    smoothed: bool
    separated: bool
    limited_rows: int
    steps: int
    gradient: float

    @classmethod
    def fit(cls, table: Table, *, loss: FitLoss = FitLoss.LOG, smooth_targets: bool = False) -> Self:
        """
        Fit by maximum likelihood, or by least squares started from there.

        Where a threshold on the score parts the labels, the targets are smoothed, as they always are on
        request: (n1 + 1)/(n1 + 2) for label 1 and 1/(n0 + 2) for label 0, with n1 and n0 numbers of rows.

        Args:
            table: The fit rows. On a grid table each cell counts as two points, the mean scores of its
                labels.

            loss: What to minimise.

            smooth_targets: Whether to smooth the targets in any case.

        Raises:
            EmptyTable: If there are no rows.

            InputProblem: If there is one label or one score only.

            NotConverged: If the loss has no minimum that can be reached.
        """
        require_both_labels(table)
        z, label, weight = _points(table)
        if z.min() == z.max():
            msg = f"a platt fit needs two distinct scores, and all {table.total_rows:,} rows share one"
            raise InputProblem(msg, "is --score the right column?")
        separated = _separated(z[label], z[~label])
        smoothed = smooth_targets or separated
        target = _smoothed_targets(table, label) if smoothed else label.astype(np.float64)
        optimum = _optimum(z, target, weight=weight, loss=loss)
        return cls(
            intercept=optimum.intercept,
            slope=optimum.slope,
            loss=loss,
            smoothed=smoothed,
            separated=separated,
            limited_rows=_limited_rows(table),
            steps=optimum.steps,
            gradient=optimum.gradient,
        )

    @classmethod
    def from_dict(cls, parameters: Node) -> Self:
        """
        Restore what `to_dict` returned.

        Raises:
            DocumentProblem: If that cannot be, with the place.
        """
        parameters.only(*cls.__slots__)
        return cls(
            intercept=parameters.child("intercept").number(-_LARGEST, _LARGEST),
            slope=parameters.child("slope").number(-_LARGEST, _LARGEST),
            loss=parameters.child("loss").choice(FitLoss),
            smoothed=parameters.child("smoothed").truth(),
            separated=parameters.child("separated").truth(),
            limited_rows=parameters.child("limited_rows").whole(),
            steps=parameters.child("steps").whole(),
            gradient=parameters.child("gradient").number(0.0),
        )

    def to_dict(self) -> dict[str, object]:
        """Return the state in plain values."""
        return {
            "intercept": self.intercept,
            "slope": self.slope,
            "loss": self.loss.value,
            "smoothed": self.smoothed,
            "separated": self.separated,
            "limited_rows": self.limited_rows,
            "steps": self.steps,
            "gradient": self.gradient,
        }

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, the same bits however scores are grouped."""
        scores = checked_scores(scores)
        probability = np.empty_like(scores)
        flat, out = scores.reshape(-1), probability.reshape(-1)
        for start in range(0, flat.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            out[part] = logistic(self.intercept + self.slope * logit(flat[part]))
        return probability

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        return RecalibratorName.PLATT

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability."""
        return self.slope >= 0.0

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """None: outputs form a continuum."""
        return None

    @property
    def guarantee(self) -> dict[str, object] | None:
        """None: nothing is promised without a model."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        found = []
        if self.separated:
            found.append(
                "A threshold on the score parts the labels, so the labels have no finite fit; "
                "Platt's smoothed targets were used."
            )
        if not self.increasing:
            found.append("The slope is negative: a higher score gets a lower probability.")
        if self.limited_rows:
            rows = "1 fit row has" if self.limited_rows == 1 else f"{self.limited_rows:,} fit rows have"
            found.append(f"{rows} a score within 2^-53 of 0 or 1; it was limited inside the logit.")
        return tuple(found)


def logit(scores: Floats) -> Floats:
    """Return the log odds of scores in [0, 1], limited to [2^-53, 1 - 2^-53] first."""
    inside = np.clip(scores, NEAREST, 1.0 - NEAREST)
    # Every step but the logarithm is rounded correctly and hence monotone.
    odds: Floats = inside / (1.0 - inside)
    return np.log(odds)


def _points(table: Table) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.bool_]], Floats]:
    """Return logit, label and weight of the points of a table, label 0 first, without those of no weight."""
    negative = np.maximum(table.weight - table.positive, 0.0)
    weight = np.concatenate((negative, table.positive))
    label = np.repeat([False, True], negative.size)
    score = np.concatenate((table.score_of_negative, table.score_of_positive))
    kept = weight > 0.0
    return logit(score[kept]), label[kept], weight[kept]


def _separated(ones: Floats, zeros: Floats) -> bool:
    """Whether the logits of the two labels share at most an end: then the likelihood has no maximum."""
    return bool(zeros.max() <= ones.min() or ones.max() <= zeros.min())


def _smoothed_targets(table: Table, label: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    ones = table.total_positive_rows
    zeros = table.total_rows - ones
    return np.where(label, (ones + 1.0) / (ones + 2.0), 1.0 / (zeros + 2.0))


def _optimum(z: Floats, target: Floats, *, weight: Floats, loss: FitLoss) -> Optimum:
    """Fit in standardised logits and return the optimum in plain ones."""
    share = weight / np.sum(weight)
    middle = float(np.sum(share * z))
    spread = float(np.sqrt(np.sum(share * (z - middle) ** 2)))
    ones, zeros = float(np.sum(share * target)), float(np.sum(share * (1.0 - target)))
    if not (spread > 0.0 and ones > 0.0 and zeros > 0.0):
        msg = "the weights differ by so many orders of magnitude that a platt fit underflows"
        raise NotConverged(msg, "leave out rows that weigh next to nothing")
    points = Points((z - middle) / spread, target, share)
    best = minimise(log_loss, points, start=(math.log(ones) - math.log(zeros), 0.0), what="log loss")
    if loss is FitLoss.BRIER:
        started = (best.intercept, best.slope)
        best = minimise(squared_loss, points, start=started, what="squared error")
    slope = best.slope / spread
    return Optimum(best.intercept - slope * middle, slope, steps=best.steps, gradient=best.gradient)


def _limited_rows(table: Table) -> int:
    """Count the rows whose logit is limited."""
    columns = (
        (table.score_of_positive, table.positive_rows),
        (table.score_of_negative, table.rows - table.positive_rows),
    )
    return sum(int(rows[(s < NEAREST) | (s > 1.0 - NEAREST)].sum()) for s, rows in columns)
