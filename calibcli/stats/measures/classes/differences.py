"""Two sets of probabilities of several classes on the same rows: differences of losses, row by row."""

from typing import Self

import numpy as np

from calibcli.names import ClassMeasure
from calibcli.stats.measures.differences import PAIRED, Compared, PairedSums, worst_of_scores
from calibcli.stats.measures.scores import losses_of_rows
from calibcli.stats.table import ONCE, Floats, Integers, Weighing
from calibcli.stats.table.classes import brier_of, log_loss_of
from calibcli.stats.table.value_cells import worst_log_loss
from calibcli.values import dataclass, field

JOINT = (ClassMeasure.CLASS_LOG_LOSS, ClassMeasure.CLASS_BRIER, ClassMeasure.ACCURACY)


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """Rows of several classes as one side predicts them, (n, K); `place` is of the most probable class."""

    probability: Floats
    place: Integers

    @property
    def top(self) -> Floats:
        """The probability of the most probable class."""
        return np.asarray(self.probability[np.arange(self.place.size), self.place])

    def losses(self, label: Integers) -> dict[Compared, Floats]:
        """Return what each row loses by its classes, and by its largest probability; 1 for a right class."""
        right = self.place == label
        found: dict[Compared, Floats] = {name: losses_of_rows(name, self.top, right) for name in PAIRED}
        found[ClassMeasure.CLASS_LOG_LOSS] = log_loss_of(self.probability, label)
        found[ClassMeasure.CLASS_BRIER] = brier_of(self.probability, label)
        found[ClassMeasure.ACCURACY] = right.astype(np.float64)
        return found


@dataclass(slots=True, eq=False)
class _OfClass:
    """One class on both sides.

    Args:
        rest: All rows by its probability, against the rest.
        top: The rows that predict it on both sides, by their largest probability.
        moved: Rows that predict it on one side only.
    """

    rest: PairedSums = field(default_factory=PairedSums)
    top: PairedSums = field(default_factory=PairedSums)
    moved: int = 0

    def add(
        self,
        place: int,
        first: Predicted,
        second: Predicted,
        label: Integers,
        weighing: Weighing,
    ) -> None:
        one, two = (np.ascontiguousarray(side.probability[:, place]) for side in (first, second))
        positive = label == place
        self.rest.add(one, two, positive, weighing)
        before, after = first.place == place, second.place == place
        self.moved += weighing.number(before != after)
        both = np.flatnonzero(before & after)
        self.top.add(one[both], two[both], positive[both], weighing.of(both))


class ClassDifferences:
    """Exact sums of differences between two sides; `places` are the classes looked at one by one."""

    def __init__(self, places: tuple[int, ...]) -> None:
        self.joint = PairedSums(JOINT)
        self.confidence = PairedSums()
        self.changed = 0
        self._of = {place: _OfClass() for place in places}

    def add_rows(
        self, first: Predicted, second: Predicted, label: Integers, weighing: Weighing = ONCE
    ) -> None:
        one, two = (side.losses(label) for side in (first, second))
        self.joint.add_losses(
            {name: (one[name], two[name]) for name in JOINT},
            weighing,
            worst={
                ClassMeasure.CLASS_LOG_LOSS: (
                    worst_log_loss(first.probability),
                    worst_log_loss(second.probability),
                ),
                ClassMeasure.CLASS_BRIER: (2.0, 2.0),
                ClassMeasure.ACCURACY: (1.0, 1.0),
            },
        )
        self.confidence.add_losses(
            {name: (one[name], two[name]) for name in PAIRED},
            weighing,
            worst=worst_of_scores(first.top, second.top),
        )
        self.changed += weighing.number(first.place != second.place)
        for place, sums in self._of.items():
            sums.add(place, first, second, label, weighing)

    def merge(self, later: Self) -> None:
        self.joint.merge(later.joint)
        self.confidence.merge(later.confidence)
        self.changed += later.changed
        for place, sums in self._of.items():
            theirs = later._of[place]
            sums.rest.merge(theirs.rest)
            sums.top.merge(theirs.top)
            sums.moved += theirs.moved

    def against_rest(self, place: int) -> PairedSums | None:
        """Return the differences of one class against the rest, or None where it is not looked at."""
        return self._of[place].rest if place in self._of else None

    def predicting(self, place: int) -> PairedSums | None:
        """Return the differences of the rows that predict a class, or None where the sides have others."""
        sums = self._of.get(place)
        return None if sums is None or sums.moved else sums.top
