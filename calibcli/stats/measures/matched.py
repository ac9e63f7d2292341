"""Answers of several models to the same questions: each row has a score and a label of its own."""

from collections.abc import Sequence
from functools import reduce
from typing import Self

import numpy as np
import numpy.typing as npt

from calibcli.stats.measures.differences import PAIRED, PairedSums, worst_of_scores
from calibcli.stats.measures.scores import losses_of_rows
from calibcli.stats.table.score_table import Floats, ScoreTable
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """
    What one model answered.

    Args:
        ids: Of the questions, ascending, each once, shape (n,).
        label: Whether each answer was right.
        repeated: Rows left out because an earlier row had their id.
    """

    ids: npt.NDArray[np.uint64]
    score: Floats
    label: npt.NDArray[np.bool_]
    repeated: int

    @classmethod
    def of(cls, ids: npt.NDArray[np.uint64], score: Floats, label: npt.NDArray[np.bool_]) -> Self:
        """Return the rows in the order of their ids, of equal ids the first."""
        unique, first = np.unique(ids, return_index=True)
        return cls(unique, score[first], label[first], ids.size - unique.size)

    def against(self, other: "Answers") -> PairedSums:
        """Return how the losses of another differ from these, question by question."""
        here, there = self._common(other)
        one, two = self.score[here], other.score[there]
        sums = PairedSums()
        if here.size:
            sums.add_losses(
                {
                    name: (
                        losses_of_rows(name, one, self.label[here]),
                        losses_of_rows(name, two, other.label[there]),
                    )
                    for name in PAIRED
                },
                worst=worst_of_scores(one, two, counts=None, weight=None),
            )
        return sums

    def where(self, other: "Answers") -> ScoreTable:
        """Return the answers to questions that another answered too."""
        here, _ = self._common(other)
        return ScoreTable.from_rows(self.score[here], self.label[here])

    def _common(self, other: "Answers") -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the places of common questions here and there."""
        _, here, there = np.intersect1d(self.ids, other.ids, assume_unique=True, return_indices=True)
        return here, there


def in_common(answers: Sequence[Answers]) -> int:
    """Return how many questions everyone answered."""
    return int(reduce(np.intersect1d, [one.ids for one in answers]).size)
