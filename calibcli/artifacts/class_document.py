"""The artifact of several classes: a fitted map of rows of probabilities with the record of its fit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from calibcli.artifacts.document import SCHEMA, check_schema
from calibcli.artifacts.fit_record import SCORES, Doubted, digest_text, quantiles_from, refuse_later, scalar
from calibcli.documents import Node, same_length
from calibcli.names import Scale
from calibcli.recalibrators.classes import class_recalibrator_from_dict
from calibcli.recalibrators.classes.interface import ClassRecalibrator
from calibcli.reports.plain import number
from calibcli.version import __version__
from calibcli.view_names import ClassMethod

_KEYS = ("schema", "calibcli", "method", "parameters", "input", "fit", "keeps_prediction")
_FIT = (
    "rows",
    "class_rows",
    "table_digest",
    "options",
    "loss_before",
    "loss_after",
    "accuracy_before",
    "accuracy_after",
    "changed",
    "notes",
)


@dataclass(frozen=True, slots=True)
class ClassFitRecord:
    """
    How a map of several classes came about.

    Args:
        rows: Fit rows.

        class_rows: How many of them each class is right in.

        table_digest: Fingerprint of the table of the largest probabilities, so that a gate can tell when it
            is asked to judge a fit by its own rows.

        options: What the method was asked for.

        loss_before: Mean log loss of the rows as they were; infinite where a certain row was wrong.

        loss_after: The same once recalibrated; on the fit rows, so optimistic.

        accuracy_before: Share of rows whose most probable class was right.

        accuracy_after: The same once recalibrated.

        changed: Rows whose most probable class is another one than before.

        notes: Sentences that the user of the artifact should read.

        score_quantiles: Where the largest probabilities of the fit rows lay, in the shape of a record of one
            score; None in artifacts that do not say.
    """

    rows: int
    class_rows: tuple[int, ...]
    table_digest: str
    options: Mapping[str, object]
    loss_before: float
    loss_after: float
    accuracy_before: float
    accuracy_after: float
    changed: int
    notes: tuple[str, ...] = ()
    score_quantiles: tuple[float, ...] | None = None

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """Restore what `to_dict` returned."""
        scores = node.members().get(SCORES)
        node.only(*_FIT, *(() if scores is None else (SCORES,)))
        rows = node.child("rows").whole(1)
        class_rows = tuple(node.child("class_rows").wholes())
        if sum(class_rows) != rows:
            msg = f"has {sum(class_rows):,} rows together, should have {rows:,}"
            raise node.child("class_rows").problem(msg)
        return cls(
            rows=rows,
            class_rows=class_rows,
            table_digest=digest_text(node.child("table_digest")),
            options={key: scalar(member) for key, member in node.child("options").members().items()},
            loss_before=node.child("loss_before").number_or_infinity(),
            loss_after=node.child("loss_after").number_or_infinity(),
            accuracy_before=node.child("accuracy_before").number(0.0, 1.0),
            accuracy_after=node.child("accuracy_after").number(0.0, 1.0),
            changed=node.child("changed").whole(0, rows),
            notes=node.child("notes").texts(),
            score_quantiles=None if scores is None else quantiles_from(scores),
        )

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        known = {} if self.score_quantiles is None else {SCORES: list(self.score_quantiles)}
        return known | {
            "rows": self.rows,
            "class_rows": list(self.class_rows),
            "table_digest": self.table_digest,
            "options": dict(self.options),
            "loss_before": number(self.loss_before),
            "loss_after": number(self.loss_after),
            "accuracy_before": self.accuracy_before,
            "accuracy_after": self.accuracy_after,
            "changed": self.changed,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class ClassArtifact(Doubted):
    """
    What `fit --probs` writes, and `apply`, `measure` and `verify` read.

    Args:
        recalibrator: The fitted map.

        fit: How it came about.

        classes: What the classes are called, in the order of their columns.

        scale: What the columns held.

        calibcli: The version that fitted it.

        doubts: What must be said of the document that it was read from, wherever it is used.
    """

    recalibrator: ClassRecalibrator
    fit: ClassFitRecord
    classes: tuple[str, ...]
    scale: Scale = Scale.PROB
    calibcli: str = __version__
    doubts: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def from_dict(cls, root: Node) -> Self:
        """
        Restore what `to_dict` returned.

        Raises:
            DocumentProblem: If no fit can have written this, with the place.
        """
        version = check_schema(root)
        root.only(*_KEYS)
        refuse_later(root.child("fit"), version=version)
        columns = root.child("input")
        columns.only("scale", "classes")
        classes = columns.child("classes").texts()
        if len(classes) < 2 or len(set(classes)) < len(classes):
            msg = "should be two different classes or more"
            raise columns.child("classes").problem(msg)
        method = root.child("method").choice(ClassMethod)
        recalibrator = class_recalibrator_from_dict(method, root.child("parameters"), classes=classes)
        same_length(root.child("fit").child("class_rows"), len(classes), reason="there are so many classes")
        root.child("keeps_prediction").expect(recalibrator.keeps_prediction)
        return cls(
            recalibrator=recalibrator,
            fit=ClassFitRecord.from_dict(root.child("fit")),
            classes=classes,
            scale=columns.child("scale").choice(Scale),
            calibcli=root.child("calibcli").text(),
        )

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "schema": SCHEMA,
            "calibcli": self.calibcli,
            "method": self.recalibrator.name.value,
            "parameters": self.recalibrator.to_dict(),
            "input": {"scale": self.scale.value, "classes": list(self.classes)},
            "fit": self.fit.to_dict(),
            "keeps_prediction": self.recalibrator.keeps_prediction,
        }
