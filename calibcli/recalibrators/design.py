"""What a logistic recalibrator is fitted to: logits, features, labels and the targets they stand for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from calibcli.errors import NotConverged
from calibcli.names import FitLoss, RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats, run_starts

# A logit needs a score inside (0, 1): within this distance of 0 and 1 it is limited, there only.
NEAREST = 2.0**-53
_LOOKED_AT = 1_000
_WORDS = {1: "one", 2: "two", 3: "three"}


@dataclass(frozen=True, slots=True)
class Family:
    """
    The logits offset + sum of coefficient times feature.

    Args:
        method: Whose they are.

        features: From scores, shape (n,), to features, shape (k, n).

        offset: From scores to what is added to the logit, shape (n,); None for nothing.
    """

    method: RecalibratorName
    features: Callable[[Floats], Floats]
    offset: Callable[[Floats], Floats] | None = None


@dataclass(frozen=True, slots=True)
class Aim:
    """
    What a fit minimises.

    Args:
        loss: Log loss or squared error.

        negative: Target of label 0.

        positive: Target of label 1.

        smoothed: Whether these are Platt's smoothed targets rather than the labels.

        separated: Whether that is because the labels have no finite fit.
    """

    loss: FitLoss
    negative: float
    positive: float
    smoothed: bool
    separated: bool

    @classmethod
    def of(cls, table: Table, options: FitOptions, *, separated: bool) -> Self:
        """
        Return the labels as targets; or, on request or where they are separated, smoothed ones.

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

    def targets(self, label: npt.NDArray[np.bool_]) -> Floats:
        """Return the target of each label."""
        if (self.negative, self.positive) == (0.0, 1.0):
            return label.astype(np.float64)
        return np.where(label, self.positive, self.negative)


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """
    The points of a table, label 0 first, without those of no weight.

    On a grid table a cell gives two, the mean scores of its labels.

    Args:
        score: Shape (n,).

        label: Shape (n,).

        weight: Positive, shape (n,).
    """

    score: Floats
    label: npt.NDArray[np.bool_]
    weight: Floats

    @classmethod
    def of(cls, table: Table) -> Self:
        """Return the points of a table."""
        negative = np.maximum(table.weight - table.positive, 0.0)
        weight = np.concatenate((negative, table.positive))
        label = np.repeat([False, True], negative.size)
        score = np.concatenate((table.score_of_negative, table.score_of_positive))
        kept = weight > 0.0
        return cls(score[kept], label[kept], weight[kept])

    @property
    def logits(self) -> tuple[Floats, Floats]:
        """Logits of the points of label 1 and of label 0."""
        return logit(self.score[self.label]), logit(self.score[~self.label])


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


def require_distinct(method: RecalibratorName, points: Labelled, *, table: Table, least: int) -> None:
    """
    Refuse scores too few of which differ after the logit.

    Raises:
        NotConverged: If there are fewer than `least` of them, so that no optimum is the only one.
    """
    # A look at some settles it for all but the strangest scores.
    some = points.score[:: max(1, points.score.size // _LOOKED_AT)]
    if run_starts(np.sort(logit(some))).size >= least:
        return
    found = run_starts(np.sort(logit(points.score))).size
    if found >= least:
        return
    there = f"all {table.total_rows:,} rows share one" if found == 1 else f"there are {found}"
    msg = f"a {method.value} fit needs {_WORDS[least]} distinct scores, and {there}"
    raise NotConverged(msg, "is --score the right column?")
