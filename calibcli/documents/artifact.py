"""The artifact: a fitted recalibrator with the record of its fit, and the JSON object it travels as."""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from calibcli.codec import HIDDEN, INLINE, LOOSE, Declared, In, Node, version_of
from calibcli.documents.fit_record import Doubted, FitRecord
from calibcli.names import Scale
from calibcli.recalibrators import AnyMap
from calibcli.recalibrators.interface import FittedBin, Guarantee
from calibcli.version import __version__

SCHEMA = "calibcli.artifact/2"
ORIGIN = {"what": "an artifact", "hint": "an artifact is what `calibcli fit` writes"}


@dataclass(frozen=True, slots=True)
class Artifact(Doubted, Declared):
    """What `fit` writes and `apply`, `measure` and `verify` read."""

    SCHEMA: ClassVar = SCHEMA
    ORIGIN: ClassVar = ORIGIN

    recalibrator: Annotated[AnyMap, INLINE]
    fit: Annotated[FitRecord, "How it came about."]
    scale: Annotated[Scale, In("input"), "What the score column held."] = Scale.PROB
    positive: Annotated[
        str | None, In("input"), "The label value that counted as 1; null where labels were 0/1 as they are."
    ] = None
    classes: Annotated[tuple[str, ...] | None, In("input"), "Null for one score."] = None
    calibcli: Annotated[str, "The version that fitted it."] = __version__
    doubts: Annotated[tuple[str, ...], HIDDEN] = field(default=(), compare=False)

    @property
    def bins(
        self,
    ) -> Annotated[
        tuple[FittedBin, ...] | None, "Every output there is, or null where outputs form a continuum."
    ]:
        """Every output there is."""
        return self.recalibrator.bins

    @property
    def guarantee(self) -> Annotated[Guarantee | None, LOOSE]:
        """What theory promises of the fit."""
        return self.recalibrator.guarantee

    @property
    def increasing(
        self,
    ) -> Annotated[
        bool,
        "Whether a higher score never gets a lower probability, but for the last digit: logarithms round.",
    ]:
        """Whether the map is."""
        return self.recalibrator.increasing

    def check(self, node: Node) -> None:
        """Refuse a record of another fit, and promises that the parameters do not imply."""
        if self.fit.selection is not None:
            node.child("method").expect(self.fit.selection.chosen.value)
        _check_limited(node.child("parameters"), rows=self.fit.rows)
        _check_guarantee(node.child("guarantee"), self.guarantee)


def check_schema(root: Node) -> int:
    """
    Refuse any document that is not an artifact, say what it is, and return its version.

    Raises:
        DocumentProblem: With the reason.
    """
    return version_of(root, SCHEMA, **ORIGIN)


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


def _check_guarantee(node: Node, implied: Guarantee | None) -> None:
    """Refuse numbers that the parameters do not imply; statements may be worded as another version did."""
    if implied is None:
        node.expect(None)
        return
    written = implied.to_dict()
    node.only(*written)
    for key, expected in written.items():
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
