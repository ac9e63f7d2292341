"""A map for the probability of each class against the rest, divided by their sum."""

from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import Declared
from calibcli.names import ClassMethod, EndsOf, OutputSum
from calibcli.stats.recalibrators.classes.interface import ClassFitOptions, ClassTables, Ends
from calibcli.stats.recalibrators.classes.members import Members
from calibcli.stats.table.score_table import Floats
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class OneVsRest(Declared):
    """
    Each class's probability recalibrated by itself.

    References:
        Zadrozny & Elkan (2002), KDD, section 4; marginal calibration in Kumar, Liang & Ma (2019).
    """

    name: ClassVar = ClassMethod.ONE_VS_REST
    keeps_prediction: ClassVar = False  # the maps of two classes differ
    members: Members
    output_sum: Annotated[
        OutputSum,
        "Whether rows are divided by their sum, which is what makes them probabilities of the classes, or "
        "left as they are, each class calibrated by itself.",
    ]

    @classmethod
    def fit(cls, tables: ClassTables, *, options: ClassFitOptions) -> Self:
        """Fit."""
        members = Members.fit(tables.classes, tables.rest, options=options, spare=tables.confidence)
        return cls(members, options.output_sum)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        return self.members.notes()

    @property
    def ends_of(self) -> EndsOf | None:
        """Every class, where its map has ends."""
        return EndsOf.CLASSES if self.members.with_ends else None

    def ends(self, probability: Floats, after: Floats) -> Ends:  # noqa: ARG002 - the face of all
        """
        Return the ends that each class's own map gives, before rows are divided by their sums.

        Dividing would take from them what is known of them, so that the probability of a row that was divided
        may lie outside.
        """
        lower, upper = np.empty_like(probability), np.empty_like(probability)
        for place in range(probability.shape[1]):
            lower[:, place], upper[:, place] = self.members.ends(place, probability[:, place])
        return Ends(lower, upper)

    def predict(self, probability: Floats) -> Floats:
        """
        Return recalibrated rows, shape (n, K).

        A row that every map sends to 0 stays as it was where rows are divided by their sum.
        """
        result = np.empty_like(probability)
        for place in range(probability.shape[1]):
            result[:, place] = self.members.of(place).predict(probability[:, place])
        if self.output_sum is OutputSum.FREE:
            return result
        total = result.sum(axis=1)
        nothing = total <= 0.0
        result[nothing] = probability[nothing]
        total = np.where(nothing, probability.sum(axis=1), total)
        return np.asarray(result / total[:, None])
