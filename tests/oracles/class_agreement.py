"""Our numbers of several classes beside those of others: how a comparison is told, and its largest
difference.

The comparisons are in `golden_classes.py` (records of real predictions) and `peer_classes.py` (packages run
on the digits). Tests hold them to what they allow, and `benchmarks/agreement_classes.py` writes them down.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calibcli.names import Binning
from calibcli.stats.measures.binned import binned_ece
from calibcli.stats.table import Floats, Integers, ScoreTable
from calibcli.stats.table.bins import bins_of

ROUNDING = 1e-12
# Why two searches for the least loss part although both have found it.
FLAT = "the log loss of the fit rows is the same to rounding: it is flat where their search ends"
Pair = tuple[str, float, float]


@dataclass(frozen=True, slots=True)
class ClassComparison:
    """One kind of number, ours and theirs.

    Args:
        name: What is compared.

        theirs: Whose number it is.

        allowed: Largest difference allowed.

        pairs: Where, our number and theirs.

        why: What makes the difference where it is more than rounding; empty where it is not.
    """

    name: str
    theirs: str
    allowed: float
    pairs: Callable[[], Iterable[Pair]]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest difference of a comparison.

    Args:
        size: The difference.

        where: Where it is.

        count: How many numbers were compared.
    """

    size: float
    where: str
    count: int


def largest(comparison: ClassComparison) -> Largest:
    """Return the largest difference; a number that only one side has counts as infinite.

    Raises:
        ValueError: If there is nothing to compare.
    """
    found = [(_gap(ours, theirs), where) for where, ours, theirs in comparison.pairs()]
    size, where = max(found, key=lambda one: one[0])
    return Largest(size, where, len(found))


def _gap(ours: float, theirs: float) -> float:
    gap = abs(ours - theirs)
    return math.inf if math.isnan(gap) else gap


def row_pairs(
    ours: Floats, theirs: Sequence[Sequence[float]], which: Integers | None = None
) -> Iterator[Pair]:
    """Yield the probabilities of the first rows, or of some of them."""
    rows = range(len(theirs)) if which is None else which
    for row in rows:
        for place, (mine, other) in enumerate(zip(ours[row], theirs[row], strict=True)):
            yield f"row {row + 1}, class {place}", float(mine), other


def log_loss(after: Floats, label: Integers, least: float = 0.0) -> float:
    """Return the mean log loss, with probabilities of at least so much."""
    return float(-np.log(np.maximum(after[np.arange(label.size), label], least)).mean())


def brier(after: Floats, label: Integers) -> float:
    """Return the mean squared distance, summed over classes."""
    truth = np.zeros_like(after)
    truth[np.arange(label.size), label] = 1.0
    return float(np.square(after - truth).sum(axis=1).mean())


def accuracy(after: Floats, label: Integers) -> float:
    """Return the share of rows whose most probable class is right."""
    return float((after.argmax(axis=1) == label).mean())


def confidence_ece(after: Floats, label: Integers) -> float:
    """Return the binned error of the confidence over 15 equal-width bins."""
    table = ScoreTable.from_rows(after.max(axis=1), after.argmax(axis=1) == label)
    return binned_ece(table, bins=bins_of(Binning.EQUAL_WIDTH, 15, table=table)).value
