"""Rows of logits to rows of probabilities, and what every fit of several classes asks of its rows."""

from typing import Annotated

import numpy as np

from calibcli.codec import ABSENT, Between
from calibcli.errors import EmptyTable, InputProblem
from calibcli.names import Scale
from calibcli.table.class_rows_again import ClassBlock
from calibcli.table.score_table import Floats, Integers

# What smaller probabilities are taken for inside the logarithm: where one is 0, which has no logarithm and
# shows that something was lost; where none is, though less has fewer digits than other doubles, and some
# databases and runtimes take it for 0; and where they were made of logits.
LEAST_BESIDE_ZERO = 2.0**-53
_LEAST = 2.0**-1022
LEAST_OF_LOGITS = 2.0**-1074
Least = Annotated[
    float,
    Between(LEAST_OF_LOGITS, LEAST_BESIDE_ZERO),
    ABSENT,
    "What smaller probabilities are taken for inside the logarithm; 2^-53 where it is absent.",
]


def least_of(scale: Scale) -> float | None:
    """Return what smaller probabilities are taken for, None where the rows tell: `LeastSeen`."""
    return None if scale is Scale.PROB else LEAST_OF_LOGITS


class LeastSeen:
    """
    What small probabilities are taken for inside the logarithm, and how many of the fit rows' were.

    Probabilities are taken as they are while none is 0. Where one is, what it stands for is not known, and
    all below 2^-53 are taken for that.

    Args:
        given: What smaller ones are taken for whatever is seen, or None.
    """

    def __init__(self, given: float | None) -> None:
        self._given, self._zeros, self._small, self._rows = given, 0, 0, 0

    def add(self, block: ClassBlock) -> None:
        """Look at rows; those that weigh nothing tell nothing."""
        used = block.weights > 0.0
        some = block.probability if used.all() else block.probability[used]
        least, limit = (_LEAST, LEAST_BESIDE_ZERO) if self._given is None else (self._given, self._given)
        low = float(some.min(initial=1.0))
        if low >= limit:
            return
        times = np.ones(some.shape[0], np.int64) if block.counts is None else block.counts[used]
        small = np.count_nonzero(some < limit, axis=1)
        self._small += int(small @ times)
        self._rows += int(times[small > 0].sum())
        if low < least:
            self._zeros += int(np.count_nonzero(some < least, axis=1) @ times)

    @property
    def least(self) -> float:
        """What smaller probabilities are taken for."""
        return self._given or (LEAST_BESIDE_ZERO if self._zeros else _LEAST)

    @property
    def notes(self) -> tuple[str, ...]:
        """How many were taken for it, in words."""
        if not self._zeros:
            return ()
        zeros = "1 probability is" if self._zeros == 1 else f"{self._zeros:,} probabilities are"
        rows = "1 fit row" if self._rows == 1 else f"{self._rows:,} fit rows"
        if self._given is not None:
            return (f"{zeros} 0 by rounding, in {rows}; inside the logarithm taken for {self.least:.2g}",)
        limited = f"inside it all {self._small:,} below 2^-53, in {rows}, were taken for 2^-53"
        return (f"{zeros} 0, which has no logarithm: {limited}; logits (--scale logit) keep them",)


def log_of(probability: Floats, least: float) -> Floats:
    """Return logarithms, of `least` where a probability is smaller."""
    return np.asarray(np.log(np.maximum(probability, least)))


def softmax(logits: Floats) -> Floats:
    """Return rows of probabilities, shape (n, K)."""
    power = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def with_prediction_of(probability: Floats, after: Floats) -> Floats:
    """
    Return rows of a map that keeps the order of classes, with ties that rounding made broken as they were.

    Args:
        probability: Rows before, shape (n, K).

        after: Rows after; changed in place.
    """
    predicted = probability.argmax(axis=1)
    lost = np.flatnonzero(after.argmax(axis=1) != predicted)
    after[lost, predicted[lost]] = np.nextafter(after[lost].max(axis=1), 2.0)
    return after


def losses_and_softmax(logits: Floats, label: Integers) -> tuple[Floats, Floats]:
    """Return the log loss of each row, shape (n,), and over the logits the probabilities, shape (n, K)."""
    logits -= logits.max(axis=1, keepdims=True)
    right = logits[np.arange(label.size), label]
    np.exp(logits, out=logits)
    total = logits.sum(axis=1)
    logits /= total[:, None]
    return np.log(total) - right, logits


def require_several(classes: tuple[str, ...], weights: Floats, rows: int) -> tuple[str, ...]:
    """
    Refuse rows that no map of several classes can be fitted to; return the classes that no row has.

    Args:
        classes: What the classes are called.

        weights: The sum of the weights of the rows of each class.

        rows: How many rows there are.

    Raises:
        EmptyTable: If there are none, or none with weight.

        InputProblem: If all have one label.
    """
    labels = np.flatnonzero(weights > 0.0)
    if not labels.size:
        msg = f"a fit needs weight: all {rows:,} rows have weight 0" if rows else "a fit needs rows"
        raise EmptyTable(msg)
    if labels.size < 2:
        msg = f"a fit needs several classes: all {rows:,} rows have label {classes[int(labels[0])]!r}"
        raise InputProblem(msg, "fit on rows of all classes; is --label the right column?")
    return tuple(name for name, weight in zip(classes, weights, strict=True) if weight <= 0.0)


def class_weights(count: int, block: ClassBlock) -> Floats:
    """Return the sum of the weights of the rows of each of so many classes."""
    return np.asarray(np.bincount(block.label, weights=block.weights, minlength=count), np.float64)
