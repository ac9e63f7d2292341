"""Rows of several classes: checked probabilities, what they predict, and the views of them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.names import Scale
from calibcli.readers.decode import Booleans
from calibcli.table.score_table import Floats, Integers

# How far a row's probabilities may be from summing to one: float32 exports are off by 1e-6.
SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class ClassRows:
    """
    Rows with a probability for each class.

    Args:
        probability: Shape (n, K).

        label: Shape (n,), the place of the class that is right.

        predicted: Shape (n,), the place of the most probable class, the first of several.

        tied: Rows where several classes are the most probable.
    """

    probability: Floats
    label: Integers
    predicted: Integers
    tied: int

    @classmethod
    def of(cls, probability: Floats, label: Integers) -> "ClassRows":
        """Return rows with what they predict."""
        predicted = probability.argmax(axis=1)
        top = probability[np.arange(label.size), predicted]
        tied = int(np.count_nonzero((probability == top[:, None]).sum(axis=1) > 1))
        return cls(probability, label, predicted, tied)

    @property
    def confidence(self) -> Floats:
        """The largest probability of each row, shape (n,)."""
        return np.asarray(self.probability[np.arange(self.label.size), self.predicted])

    @property
    def correct(self) -> Booleans:
        """Whether the most probable class is the right one, shape (n,)."""
        return np.asarray(self.predicted == self.label)

    def some(self, which: npt.NDArray[np.intp]) -> "ClassRows":
        """Return some of the rows."""
        return ClassRows(self.probability[which], self.label[which], self.predicted[which], self.tied)

    def of_class(self, place: int) -> tuple[Floats, Booleans]:
        """Return the probability of one class, and whether it is the right one; each of shape (n,)."""
        return self.probability[:, place], self.label == place


def on_class_scale(values: Floats, scale: Scale) -> Floats:
    """
    Return rows of scores as rows of probabilities, shape (n, K): logits by the softmax.

    Args:
        values: Scores, none missing; probabilities and log-probabilities may not sum to one yet.

        scale: What they are.
    """
    match scale:
        case Scale.PROB:
            return values
        case Scale.LOGPROB:
            with np.errstate(over="ignore"):
                return np.asarray(np.exp(values))
        case Scale.LOGIT:
            top = values.max(axis=1, keepdims=True)
            # A row whose largest logit is infinite is certain of that class.
            with np.errstate(invalid="ignore"):
                shifted = np.where(np.isinf(top) & (values == top), 0.0, values - top)
            power = np.exp(shifted)
            return np.asarray(power / power.sum(axis=1, keepdims=True))


def sums_off(probability: Floats) -> tuple[Booleans, Floats]:
    """Return which rows do not sum to one within 1e-3, shape (n,), and the sums."""
    total = probability.sum(axis=1)
    return np.asarray(~(np.abs(total - 1.0) <= SUM_TOLERANCE)), total


def normalised(probability: Floats, which: Booleans, total: Floats) -> Floats:
    """Return rows divided by their sums where that was asked for; such a sum must be above 0 and finite."""
    if not which.any():
        return probability
    result = probability.copy()
    result[which] /= total[which, None]
    return result
