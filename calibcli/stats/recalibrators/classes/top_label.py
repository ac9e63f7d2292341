"""Maps of the largest probability alone: one for all rows, or one for each class that is predicted."""

from typing import Annotated, Self

import numpy as np

from calibcli.codec import HIDDEN, INLINE
from calibcli.names import ClassMethod, EndsOf, ViewName
from calibcli.stats.recalibrators import values_of
from calibcli.stats.recalibrators.classes import (
    ClassFitOptions,
    ClassRecalibrator,
    ClassTables,
    ProbabilityEnds,
)
from calibcli.stats.recalibrators.classes.members import Members
from calibcli.stats.table import Floats, Integers
from calibcli.values import dataclass

# Rows may sum to one within 1e-3, so that the largest probability may be so much below 1 / K.
_SLACK = 2e-3


@dataclass(frozen=True, slots=True)
class TopLabel(ClassRecalibrator):
    """A map from the largest probability to that of being right.

    References:
        Gupta & Ramdas (2021), "Top-label calibration and multiclass-to-binary reductions", algorithm 1.
    """

    # Confidence: one map, that all classes share. Top-label: one for each class that is predicted, which
    # makes the confidence right among the rows that predict each class.
    method: Annotated[ClassMethod, HIDDEN]
    members: Annotated[Members, INLINE]

    @classmethod
    def fit(cls, method: ClassMethod, seen: ClassTables, *, options: ClassFitOptions) -> Self:
        tables = seen.top if method is ClassMethod.TOP_LABEL else {}
        spare = seen.confidence
        return cls(method, Members.fit(seen.rows.classes, tables, options=options, spare=spare))

    @property
    def name(self) -> ClassMethod:
        return self.method

    @property
    def keeps_prediction(self) -> bool:
        """Whether no confidence comes out below 1 / K, which would leave another class the most probable."""
        count = len(self.members.classes)
        least = self.members.least((1.0 - _SLACK) / count)
        return least is not None and least * count >= 1.0 + _SLACK

    @property
    def ends_of(self) -> EndsOf | None:
        """The most probable class, where maps have ends."""
        return EndsOf.PREDICTED if self.members.with_ends else None

    def ends(self, probability: Floats, after: Floats) -> ProbabilityEnds | None:
        """Return the ends of the largest probability of each recalibrated row.

        Where another class has become the most probable, its share of what the confidence leaves.
        """
        if self.ends_of is None:
            return None
        rows = np.arange(probability.shape[0])
        predicted, now = probability.argmax(axis=1), after.argmax(axis=1)
        lower, upper = self.members.ends_apart(probability[rows, predicted], predicted)
        left = 1.0 - after[rows, predicted]
        share = np.where(predicted == now, 1.0, after[rows, now] / np.where(left > 0.0, left, 1.0))
        other = predicted != now
        return ProbabilityEnds(
            np.where(other, share * (1.0 - upper), lower), np.where(other, share * (1.0 - lower), upper)
        )

    def outputs(self, view: ViewName, place: int | None) -> tuple[float, ...] | None:
        """Return the outputs of the maps where no row can change its predicted class, else None."""
        if view is ViewName.ONE_VS_REST or not self.keeps_prediction:
            return None
        if place is None or view is ViewName.CONFIDENCE:
            return self.members.values
        return values_of(self.members.of(place).bins)

    @property
    def notes(self) -> tuple[str, ...]:
        if self.method is ClassMethod.TOP_LABEL or self.members.shared is None:
            return self.members.notes()
        return self.members.shared.notes

    def predict(self, probability: Floats) -> Floats:
        """Return recalibrated rows, shape (n, K).

        The predicted class gets the new confidence, and the others share the rest in proportion to what they
        had, evenly where they had nothing; none gets more than the predicted class as long as that has 1 / K.
        """
        rows = np.arange(probability.shape[0])
        predicted = probability.argmax(axis=1)
        after = self.members.apart(probability[rows, predicted], predicted)
        rest = probability.copy()
        rest[rows, predicted] = 0.0
        none = rest.sum(axis=1) <= 0.0
        rest[none] = 1.0
        rest[rows[none], predicted[none]] = 0.0
        # What is left of a row may be less than a normal number, whose reciprocal is infinite.
        result = rest / rest.sum(axis=1)[:, None] * (1.0 - after)[:, None]
        most = np.nextafter(after, 0.0)
        crowded = np.flatnonzero((result.max(axis=1) > most) & (after * probability.shape[1] >= 1.0))
        result[crowded] = _capped(rest[crowded], after[crowded], predicted[crowded])
        result[rows, predicted] = after
        return np.asarray(result)


def _capped(rest: Floats, after: Floats, predicted: Integers) -> Floats:
    """Return shares of what is left beside the new confidence, in proportion, none above just below it."""
    most = np.nextafter(after, 0.0)[:, None]
    full = np.zeros(rest.shape, np.bool_)
    # A class that had nothing gets something once all others are full.
    had = np.maximum(rest, np.finfo(np.float64).tiny)
    had[np.arange(after.size), predicted] = 0.0
    while True:
        left = 1.0 - after - (most * full).sum(axis=1)
        open_to_more = np.where(full, 0.0, had)
        total = open_to_more.sum(axis=1)
        scale = np.maximum(left, 0.0) / np.where(total > 0.0, total, 1.0)
        result = np.where(full, most, open_to_more * scale[:, None])
        over = (result > most) & ~full
        if not over.any():
            return result
        full |= over
