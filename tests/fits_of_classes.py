"""Rows of several classes as a fit takes them, and fits to them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from calibcli.data.class_intake import ClassRows
from calibcli.names import ClassMethod, RecalibratorName
from calibcli.stats.recalibrators.classes import (
    ClassFitOptions,
    ClassRecalibrator,
    ClassTables,
    class_recalibrator_class,
)
from calibcli.stats.recalibrators.classes.one_vs_one import pair_tables
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.again import ClassBlock

NAMES = ("ant", "bee", "cat", "dog", "eel", "fox")


@dataclass(frozen=True)
class Drawn:
    """Rows with probabilities of shape (n, K), labels, and what they are called."""

    probability: np.ndarray
    label: np.ndarray
    classes: tuple[str, ...]
    counts: np.ndarray | None = None
    cut: int = 1_000
    in_memory: bool = True
    workers: int = 1

    def blocks(self) -> Iterator[ClassBlock]:
        """Yield the rows in blocks of so many."""
        for start in range(0, self.label.size, self.cut):
            some = slice(start, start + self.cut)
            weighing = Weighing(self.counts).of(some)
            yield ClassBlock(self.probability[some], self.label[some], weighing)

    @property
    def tables(self) -> ClassTables:
        """The views of the rows."""
        seen = ClassRows.of(self.probability, self.label)

        def of(score: np.ndarray, label: np.ndarray, which: np.ndarray) -> ScoreTable:
            counts = None if self.counts is None else self.counts[which]
            return ScoreTable.from_rows(score[which], label[which], Weighing(counts=counts))

        everywhere = np.ones(self.label.size, np.bool_)
        top, rest = {}, {}
        for place, name in enumerate(self.classes):
            which = seen.predicted == place
            if which.any():
                top[name] = of(seen.confidence, seen.correct, which)
            rest[name] = of(seen.probability[:, place], seen.label == place, everywhere)
        return ClassTables(self, of(seen.confidence, seen.correct, everywhere), top, rest)


def drawn(seed: int = 0, *, rows: int = 400, classes: int = 3, sharpness: float = 2.0) -> Drawn:
    """Labels drawn from a softmax, and probabilities that are too sure of it and lean towards one class."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(rows, classes)) * 1.5
    truth = np.exp(logits)
    truth /= truth.sum(axis=1, keepdims=True)
    label = (truth.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(0, classes - 1)
    power = np.exp(sharpness * logits + 0.4 * np.arange(classes))
    return Drawn(power / power.sum(axis=1, keepdims=True), label, NAMES[:classes])


def fitted(
    method: ClassMethod, rows: Drawn, inner: RecalibratorName = RecalibratorName.PLATT, **requested: object
) -> ClassRecalibrator:
    """A method fitted to rows."""
    options = ClassFitOptions(inner, **requested)  # type: ignore[arg-type]
    pairs = pair_tables(rows, None) if method is ClassMethod.ONE_VS_ONE else {}
    seen = replace(rows.tables, pairs=pairs)
    return class_recalibrator_class(method).fit(method, seen, options=options)
