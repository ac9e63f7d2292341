"""Two sets of probabilities of several classes on the same rows: differences of losses, row by row."""

from dataclasses import field

import numpy as np
import numpy.typing as npt

from calibcli.names import ClassMeasure
from calibcli.stats.measures.differences import (
    PAIRED,
    PairedSums,
    worst_log_loss,
    worst_of_scores,
)
from calibcli.stats.measures.scores import losses_of_rows
from calibcli.stats.table import Floats, Integers
from calibcli.stats.table.classes import brier_of, log_loss_of
from calibcli.values import dataclass

JOINT = (ClassMeasure.CLASS_LOG_LOSS, ClassMeasure.CLASS_BRIER, ClassMeasure.ACCURACY)


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """
    Rows of several classes as one side predicts them.

    Args:
        probability: Shape (n, K).
        place: Shape (n,), the place of the most probable class.
    """

    probability: Floats
    place: Integers


@dataclass(slots=True, eq=False)
class _OfClass:
    """
    One class on both sides.

    Args:
        rest: All rows by its probability, against the rest.
        top: The rows that predict it on both sides, by their largest probability.
        moved: Rows that predict it on one side only.
    """

    rest: PairedSums = field(default_factory=PairedSums)
    top: PairedSums = field(default_factory=PairedSums)
    moved: int = 0


class ClassDifferences:
    """
    Exact sums of differences between two sides, whatever the order of the rows and their cut into parts.

    Args:
        places: The classes that are looked at one by one.
    """

    def __init__(self, places: tuple[int, ...]) -> None:
        self.joint = PairedSums(JOINT)
        self.confidence = PairedSums()
        self.changed = 0
        self._of = {place: _OfClass() for place in places}

    def add_rows(
        self,
        first: Predicted,
        second: Predicted,
        label: Integers,
        *,
        counts: Integers | None = None,
        weight: Floats | None = None,
    ) -> None:
        """Add rows."""
        pair = (first, second)
        one, two = pair
        right = [(side.place == label).astype(np.float64) for side in pair]
        log_losses = [log_loss_of(side.probability, label) for side in pair]
        briers = [brier_of(side.probability, label) for side in pair]
        losses = (log_losses, briers, right)
        least = [side.probability.min(axis=1) for side in pair]
        worst = [worst_log_loss(each, counts=counts, weight=weight) for each in least]
        self.joint.add_losses(
            {name: (each[0], each[1]) for name, each in zip(JOINT, losses, strict=True)},
            worst={
                ClassMeasure.CLASS_LOG_LOSS: (worst[0], worst[1]),
                ClassMeasure.CLASS_BRIER: (2.0, 2.0),
                ClassMeasure.ACCURACY: (1.0, 1.0),
            },
            counts=counts,
            weight=weight,
        )
        tops = _top(one), _top(two)
        self.confidence.add_losses(
            {
                name: (
                    losses_of_rows(name, tops[0], one.place == label),
                    losses_of_rows(name, tops[1], two.place == label),
                )
                for name in PAIRED
            },
            worst=worst_of_scores(*tops, counts=counts, weight=weight),
            counts=counts,
            weight=weight,
        )
        other = one.place != two.place
        self.changed += _number(other, counts)
        for place, sums in self._of.items():
            self._add_class(sums, place, pair, label, counts=counts, weight=weight)

    def merge(self, later: "ClassDifferences") -> None:
        """Add the rows of a later part."""
        self.joint.merge(later.joint)
        self.confidence.merge(later.confidence)
        self.changed += later.changed
        for place, sums in self._of.items():
            theirs = later._of[place]  # noqa: SLF001 - its own kind
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

    @staticmethod
    def _add_class(
        sums: _OfClass,
        place: int,
        pair: tuple[Predicted, Predicted],
        label: Integers,
        *,
        counts: Integers | None,
        weight: Floats | None,
    ) -> None:
        one, two = pair
        positive = label == place
        sums.rest.add(
            np.ascontiguousarray(one.probability[:, place]),
            np.ascontiguousarray(two.probability[:, place]),
            positive,
            counts=counts,
            weight=weight,
        )
        sums.moved += _number((one.place == place) != (two.place == place), counts)
        both = np.flatnonzero((one.place == place) & (two.place == place))
        sums.top.add(
            one.probability[both, place],
            two.probability[both, place],
            positive[both],
            counts=None if counts is None else counts[both],
            weight=None if weight is None else weight[both],
        )


def _top(side: Predicted) -> Floats:
    return np.asarray(side.probability[np.arange(side.place.size), side.place])


def _number(which: npt.NDArray[np.bool_], counts: Integers | None) -> int:
    return int(np.count_nonzero(which)) if counts is None else int(counts[which].sum())
