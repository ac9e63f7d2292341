"""Answers of several models to the same questions: each row has a score and a label of its own."""

from collections.abc import Sequence
from functools import reduce
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from calibcli.names import ClassMeasure, MeasureName
from calibcli.stats.measures import differences
from calibcli.stats.measures.clustered import Clusters, ClusterSums
from calibcli.stats.measures.scores import losses_of_rows
from calibcli.stats.table import Booleans, Floats, Indices, Integers, ScoreTable
from calibcli.stats.table.classes import brier_of, log_loss_of
from calibcli.stats.table.value_cells import worst_log_loss
from calibcli.values import dataclass, fields, replace

C = ClassMeasure


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What one model answered.

    Args:
        ids: Of the questions, ascending, each once, shape (n,).
        label: Whether each answer was right.
        repeated: Rows left out because an earlier row had their id.
        unlike: Those of them that say otherwise than the row that counts.
        probability: Of each of several classes, shape (n, K); None where there is one score.
        place: The place of the class that is right, shape (n,), or None likewise.
        cluster: Equal for questions that depend on each other, shape (n,); None where all are independent.
    """

    ids: npt.NDArray[np.uint64]
    score: Floats
    label: Booleans
    repeated: int = 0
    unlike: int = 0
    probability: Floats | None = None
    place: Integers | None = None
    cluster: Integers | None = None

    @classmethod
    def of(
        cls,
        ids: npt.NDArray[np.uint64],
        score: Floats,
        label: Booleans,
        probability: Floats | None = None,
        place: Integers | None = None,
        cluster: Integers | None = None,
    ) -> Self:
        """Return the rows in the order of their ids, of equal ids the first."""
        unique, first, copy_of = np.unique(ids, return_index=True, return_inverse=True)
        whole = cls(ids, score, label, probability=probability, place=place, cluster=cluster)
        repeated = ids.size - unique.size
        unlike = whole.unlike_at(first[copy_of]) if repeated else 0
        return replace(whole.some(first), repeated=repeated, unlike=unlike)

    def some(self, which: Indices) -> Self:
        return replace(self, **{name: column[which] for name, column in self._columns().items()})

    def unlike_at(self, places: Indices) -> int:
        """Return how many rows differ from the row at their place in anything but its id."""
        differs = np.zeros(self.ids.size, np.bool_)
        for column in self._columns().values():
            differs |= (column != column[places]).reshape(differs.size, -1).any(axis=1)
        return int(np.count_nonzero(differs))

    def _columns(self) -> dict[str, Any]:
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}

    def to(self, other: "Answers") -> Self:
        """Return the answers to questions that another answered too."""
        return self.some(np.flatnonzero(np.isin(self.ids, other.ids, assume_unique=True)))

    @property
    def table(self) -> ScoreTable:
        return ScoreTable.from_rows(self.score, self.label)

    def clusters(self) -> Clusters:
        return self._clusters(self.score, self.label)

    def clusters_beside(self, other: Self, name: differences.Compared) -> tuple[Clusters, Clusters]:
        """Return the clusters of two models that answered the same questions: what tells them apart."""
        if name is not C.ACCURACY:
            return self.clusters(), other.clusters()
        # Right answers of one alone stand where residuals do, so that these must lie in clusters enough.
        zeros = np.zeros_like(self.score)
        alone = self.label & ~other.label, other.label & ~self.label
        return self._clusters(zeros, alone[0]), self._clusters(zeros, alone[1])

    def _clusters(self, score: Floats, label: Booleans) -> Clusters:
        sums = ClusterSums()
        if self.cluster is not None:
            sums.add_rows(self.cluster, score, label)
        return sums.whole()

    def against(self, other: "Answers", *, ranked: Sequence[MeasureName] = ()) -> differences.PairedSums:
        """Return how the losses of another differ from these, answer by answer, with accuracy and areas."""
        one, two = self.to(other), other.to(self)
        first, second = one.losses(), two.losses()
        sums = differences.PairedSums(tuple(first))
        if one.ids.size:
            worst = differences.worst_of_scores(one.score, two.score)
            worst |= {C.ACCURACY: (1.0, 1.0), C.CLASS_BRIER: (2.0, 2.0)}
            if one.probability is not None and two.probability is not None:
                worst[C.CLASS_LOG_LOSS] = worst_log_loss(one.probability), worst_log_loss(two.probability)
            sums.add_losses({name: (first[name], second[name]) for name in first}, worst=worst)
            areas = differences.ranked_sums(ranked, one.table, two.table, same_labels=False)
            if areas is not None:
                areas.add((one.score, one.label), (two.score, two.label))
                sums.also(areas.sums)
        return sums

    def losses(self) -> dict[differences.Compared, Floats]:
        """Return what each answer lost by every measure that is a mean over rows; 1 for a right answer."""
        found: dict[differences.Compared, Floats] = {
            name: losses_of_rows(name, self.score, self.label) for name in differences.PAIRED
        }
        found[C.ACCURACY] = self.label.astype(np.float64)
        if self.probability is not None and self.place is not None:
            found[C.CLASS_BRIER] = brier_of(self.probability, self.place)
            found[C.CLASS_LOG_LOSS] = log_loss_of(self.probability, self.place)
        return found


def in_common(answers: Sequence[Answers]) -> int:
    """Return how many questions everyone answered."""
    return int(reduce(np.intersect1d, [one.ids for one in answers]).size)
