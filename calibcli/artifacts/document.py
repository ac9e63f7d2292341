"""The artifact: a fitted recalibrator with the record of its fit, and the JSON object it travels as."""

import math
from dataclasses import dataclass, field
from typing import Any, Self

from calibcli.artifacts.fit_record import Doubted, FitRecord, refuse_later
from calibcli.documents import Node, version_of
from calibcli.names import RecalibratorName, Scale
from calibcli.recalibrators import recalibrator_from_dict
from calibcli.recalibrators.interface import Recalibrator
from calibcli.version import __version__

SCHEMA = "calibcli.artifact/2"
_KEYS = (
    "schema",
    "calibcli",
    "method",
    "parameters",
    "input",
    "fit",
    "bins",
    "guarantee",
    "increasing",
)


@dataclass(frozen=True, slots=True)
class Artifact(Doubted):
    """
    What `fit` writes and `apply`, `measure` and `verify` read.

    Args:
        recalibrator: The fitted map.

        fit: How it came about.

        scale: What the score column held.

        positive: The label value that counted as 1, or None where labels were 0/1 as they are.

        classes: Names of the classes, or None for one binary score.

        calibcli: The version that fitted it.

        doubts: What must be said of the document that it was read from, wherever it is used.
    """

    recalibrator: Recalibrator
    fit: FitRecord
    scale: Scale = Scale.PROB
    positive: str | None = None
    classes: tuple[str, ...] | None = None
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
        method = root.child("method").choice(RecalibratorName)
        recalibrator = recalibrator_from_dict(method, root.child("parameters"))
        columns = root.child("input")
        columns.only("scale", "classes", "positive")
        positive, classes = columns.optional("positive"), columns.optional("classes")
        fit = FitRecord.from_dict(root.child("fit"))
        if fit.selection is not None:
            root.child("method").expect(fit.selection.chosen.value)
        artifact = cls(
            recalibrator=recalibrator,
            fit=fit,
            scale=columns.child("scale").choice(Scale),
            positive=None if positive is None else positive.text(),
            classes=None if classes is None else classes.texts(),
            calibcli=root.child("calibcli").text(),
        )
        _check_limited(root.child("parameters"), rows=fit.rows)
        # These repeat for the reader what the parameters say: they must not say anything else.
        implied = artifact.to_dict()
        root.child("increasing").expect(implied["increasing"])
        root.child("bins").expect(implied["bins"])
        _check_guarantee(root.child("guarantee"), recalibrator.guarantee)
        return artifact

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        bins = self.recalibrator.bins
        return {
            "schema": SCHEMA,
            "calibcli": self.calibcli,
            "method": self.recalibrator.name.value,
            "parameters": self.recalibrator.to_dict(),
            "input": {
                "scale": self.scale.value,
                "classes": None if self.classes is None else list(self.classes),
                "positive": self.positive,
            },
            "fit": self.fit.to_dict(),
            "bins": None if bins is None else [one.to_dict() for one in bins],
            "guarantee": self.recalibrator.guarantee,
            "increasing": self.recalibrator.increasing,
        }


def check_schema(root: Node) -> int:
    """
    Refuse any document that is not an artifact, say what it is, and return its version.

    Raises:
        DocumentProblem: With the reason.
    """
    return version_of(root, SCHEMA, what="an artifact", hint="an artifact is what `calibcli fit` writes")


def of_several_classes(root: Node) -> bool:
    """Whether a document says that it speaks of several classes; its shape is checked elsewhere."""
    members = root.members()
    columns = members.get("input")
    if columns is None or not isinstance(columns.value, dict):
        return False
    classes = columns.members().get("classes")
    return classes is not None and classes.value is not None


def fitted_by_group(root: Node) -> bool:
    """Whether a document says that it has a map for each group; its shape is checked elsewhere."""
    members = root.members()
    return "by" in members and "members" in members


def _check_limited(parameters: Node, *, rows: int) -> None:
    """Refuse more rows with a limited logit than there are rows; a binned map has those of its base."""
    members = parameters.members()
    if "base_parameters" in members:
        _check_limited(members["base_parameters"], rows=rows)
    if "limited_rows" in members:
        members["limited_rows"].whole(0, rows)


def _check_guarantee(node: Node, implied: dict[str, object] | None) -> None:
    """Refuse numbers that the parameters do not imply; statements may be worded as another version did."""
    if implied is None:
        node.expect(None)
        return
    node.only(*implied)
    for key, expected in implied.items():
        if isinstance(expected, dict):
            _check_bound(node.child(key), expected)
        else:
            node.child(key).expect(expected)


def _check_bound(node: Node, expected: dict[str, Any]) -> None:
    node.only(*expected)
    node.child("target").expect(expected["target"])
    node.child("statement").text()
    value = node.child("value")
    if not math.isclose(value.number(0.0), expected["value"], rel_tol=1e-12):
        value.expect(expected["value"])
