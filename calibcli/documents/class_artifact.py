"""The artifact of several classes: a fitted map of rows of probabilities with the record of its fit."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Self, cast

from calibcli.codec import (
    DIFFERENT,
    HIDDEN,
    INLINE,
    Between,
    Declared,
    Digest,
    Fraction,
    In,
    Node,
    OrInfinite,
    Size,
    same_length,
    thing,
)
from calibcli.documents.artifact import ORIGIN, SCHEMA
from calibcli.documents.fit_record import Doubted, FitOptionsSaid, ScoreQuantiles
from calibcli.names import Scale
from calibcli.recalibrators.classes import AnyClassMap
from calibcli.version import __version__


@dataclass(frozen=True, slots=True)
class ClassFitRecord(Declared):
    """How a map of several classes came about."""

    rows: Annotated[int, Between(1), "Fit rows."]
    class_rows: Annotated[tuple[int, ...], Size(2), "Fit rows in which each class is the right one."]
    table_digest: Annotated[Digest, "Fingerprint of the fit rows by their largest probability."]
    options: FitOptionsSaid
    loss_before: Annotated[
        OrInfinite, "Mean log loss of the rows as they were; infinite where a certain row was wrong."
    ]
    loss_after: Annotated[OrInfinite, "The same once recalibrated; on the fit rows, so optimistic."]
    accuracy_before: Annotated[Fraction, "Share of rows whose most probable class was right."]
    accuracy_after: Annotated[Fraction, "The same once recalibrated."]
    changed: Annotated[int, "Fit rows whose most probable class is another one than before."]
    notes: Annotated[tuple[str, ...], "Sentences that the user of the artifact should read."] = ()
    score_quantiles: ScoreQuantiles = None

    def check(self, node: Node) -> None:
        """Refuse classes that do not have the rows, and more changes than rows."""
        if sum(self.class_rows) != self.rows:
            msg = f"has {sum(self.class_rows):,} rows together, should have {self.rows:,}"
            raise node.child("class_rows").problem(msg)
        node.child("changed").whole(0, self.rows)


@dataclass(frozen=True, slots=True)
class ClassArtifact(Doubted, Declared):
    """What `fit --probs` writes, and `apply`, `measure` and `verify` read."""

    SCHEMA: ClassVar = SCHEMA
    ORIGIN: ClassVar = ORIGIN

    recalibrator: Annotated[AnyClassMap, INLINE]
    fit: Annotated[ClassFitRecord, "How it came about."]
    classes: Annotated[
        tuple[str, ...],
        In("input"),
        Size(2, expected="two different classes or more"),
        DIFFERENT,
        "Their names, in the order of their columns.",
    ]
    scale: Annotated[Scale, In("input"), "What the columns held."] = Scale.PROB
    calibcli: Annotated[str, "The version that fitted it."] = __version__
    doubts: Annotated[tuple[str, ...], HIDDEN] = field(default=(), compare=False)

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """
        Restore what `to_dict` returned.

        Raises:
            DocumentProblem: If no fit can have written this, with the place.
        """
        classes = node.child("input").child("classes").texts()
        return cast("Self", thing(cls).read(node.knowing(classes=classes)))

    def check(self, node: Node) -> None:
        """Refuse a record of other classes."""
        rows = node.child("fit").child("class_rows")
        same_length(rows, len(self.classes), reason="there are so many classes")

    @property
    def keeps_prediction(
        self,
    ) -> Annotated[bool, "Whether no row whatever can change its most probable class."]:
        """Whether the map does."""
        return self.recalibrator.keeps_prediction
