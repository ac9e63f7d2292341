"""Rows of logits to rows of probabilities, and what every fit of several classes asks of its rows."""

import numpy as np

from calibcli.documents import Node
from calibcli.errors import EmptyTable, InputProblem
from calibcli.names import Scale
from calibcli.table.class_rows_again import ClassBlock
from calibcli.table.score_table import Floats, Integers

# A probability below this is taken for it, inside the logarithm only: of those that were written as
# probabilities the first, as less is mostly rounding; of those made of logits the smallest there is.
LEAST = 2.0**-53
LEAST_OF_LOGITS = 2.0**-1074


def least_of(scale: Scale) -> float:
    """Return what smaller probabilities are taken for."""
    return LEAST if scale is Scale.PROB else LEAST_OF_LOGITS


def log_of(probability: Floats, least: float) -> Floats:
    """Return logarithms, of `least` where a probability is smaller."""
    return np.asarray(np.log(np.maximum(probability, least)))


def least_in(parameters: Node, *keys: str) -> float:
    """
    Return what a fitted map takes smaller probabilities for, once its keys are as they should be.

    Args:
        parameters: The map in a document; without a `least` it takes the one of probabilities.

        keys: Its other keys.
    """
    said = "least" in parameters.members()
    parameters.only(*keys, *(["least"] if said else []))
    return parameters.child("least").number(LEAST_OF_LOGITS, LEAST) if said else LEAST


def least_to_dict(least: float) -> dict[str, object]:
    """Return what `least_in` reads."""
    return {} if least == LEAST else {"least": least}


def limited_note(share: float | None, least: float) -> tuple[str, ...]:
    """Say how many probabilities were taken for the least one, where logits would have said more."""
    if not share or least != LEAST:
        return ()
    said = "all" if share == 1.0 else f"{100.0 * share:.2g} %"
    return (f"{said} of the probabilities are below 2^-53 and were taken for it; --scale logit keeps them",)


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
