"""Rows of several classes for tests: probabilities, labels and what measures are made of."""

import numpy as np

from calibcli.names import Binning
from calibcli.stats.measures.classes.binned import ClassViews, Seen
from calibcli.stats.table import Floats, Integers, ScoreTable, Weighing
from calibcli.stats.table.bins import Bins, binned, bins_of
from calibcli.stats.table.classes import ClassSums, RunningClasses
from calibcli.stats.table.grid import Table


def softmax(logits: Floats) -> Floats:
    """Return rows of probabilities."""
    power = np.exp(logits - logits.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


def labels_of(truth: Floats, generator: np.random.Generator) -> Integers:
    """Draw a label for every row of probabilities."""
    reached = np.cumsum(truth, axis=1)
    drawn = (generator.random(len(truth))[:, None] * reached[:, -1:] > reached).sum(axis=1)
    return np.minimum(drawn, truth.shape[1] - 1)


def drawn_rows(
    rows: int = 400, classes: int = 4, *, sharpness: float = 1.5, heat: float = 1.3, seed: int = 0
) -> tuple[Floats, Integers]:
    """Return probabilities that are too sure by the given heat, and labels."""
    generator = np.random.default_rng(seed)
    logits = sharpness * generator.standard_normal((rows, classes))
    return softmax(logits), labels_of(softmax(logits / heat), generator)


def views_of(
    probability: Floats,
    label: Integers,
    *,
    bins: Bins | None = None,
    count: int = 15,
    binning: Binning = Binning.EQUAL_WIDTH,
    counts: Integers | None = None,
    weight: Floats | None = None,
    confidence: float = 0.95,
    limit: int | None = None,
) -> ClassViews:
    """Return the views that measures of several classes take."""
    names = tuple(f"{place:03}" for place in range(probability.shape[1]))
    predicted = probability.argmax(axis=1)
    top, right = probability.max(axis=1), predicted == label
    rest, joint = RunningClasses(names, limit), ClassSums(len(names))
    rest.add_rows(probability, label, Weighing(counts, weight))
    joint.add_rows(probability, label, predicted, Weighing(counts, weight))

    def seen(table: Table) -> Seen:
        return Seen(table, binned(table, bins or bins_of(binning, count, table=table)))

    def those(which: Integers) -> ScoreTable:
        some = None if counts is None else counts[which]
        heavy = None if weight is None else weight[which]
        return ScoreTable.from_rows(top[which], right[which], Weighing(counts=some, weight=heavy))

    parts = [those(np.flatnonzero(predicted == place)) for place in range(len(names))]
    return ClassViews(
        those(np.arange(label.size)),
        tuple(seen(table) for table in rest.tables().values()),
        tuple(seen(part) for part in parts if part.total_rows and part.weight.sum() > 0),
        joint,
        confidence,
    )
