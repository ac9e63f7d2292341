"""Artifacts with a map for each group of rows, and one of all rows for the groups too small for their own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from calibcli.artifacts.class_document import ClassArtifact
from calibcli.artifacts.document import SCHEMA, Artifact, check_schema, fitted_by_group
from calibcli.artifacts.store import HeldArtifact, artifact_of, in_file, of_one_score, read_document, readable
from calibcli.documents import Node, sealed_text
from calibcli.errors import DocumentProblem
from calibcli.names import RecalibratorName
from calibcli.recalibrators.interface import WithEnds
from calibcli.version import __version__

MOST_MEMBERS = 1_000
_KEYS = ("schema", "calibcli", "by", "pooled", "members", "shared")


@dataclass(frozen=True, slots=True)
class Shared:
    """
    A group that shares the map of all rows.

    Args:
        rows: How many fit rows it has.

        reason: Why it has no map of its own.
    """

    rows: int
    reason: str


@dataclass(frozen=True, slots=True)
class GroupArtifact:
    """
    What `fit --by` writes.

    Args:
        by: Name of the column whose values are the groups.

        pooled: The map of all rows.

        members: For each group with enough rows the map of its own.

        shared: The groups that share the map of all rows.

        calibcli: The version that fitted it.

        doubts: What must be said of the document that it was read from, wherever it is used.
    """

    by: str
    pooled: Artifact
    members: Mapping[str, Artifact]
    shared: Mapping[str, Shared]
    calibcli: str = __version__
    doubts: tuple[str, ...] = field(default=(), compare=False)

    @property
    def known(self) -> frozenset[str]:
        """The groups that the fit has seen."""
        return frozenset((*self.members, *self.shared))

    @classmethod
    def from_dict(cls, root: Node) -> Self:
        """
        Restore what `to_dict` returned.

        Raises:
            DocumentProblem: If no fit can have written this, with the place.
        """
        check_schema(root)
        root.only(*_KEYS)
        pooled = Artifact.from_dict(root.child("pooled"))
        for node in (root.child("pooled"), *root.child("members").members().values()):
            node.child("schema").expect(root.child("schema").value)
        members = {key: _member(node, pooled) for key, node in root.child("members").members().items()}
        shared = {key: _shared(node) for key, node in root.child("shared").members().items()}
        _check_groups(root, members, shared, pooled=pooled)
        _check_methods(root, members, pooled=pooled)
        return cls(root.child("by").text(), pooled, members, shared, root.child("calibcli").text())

    def doubted(self, name: str, doubts: tuple[str, ...]) -> Self:
        """Return the artifact with what must be said of its document; saved again, it says so itself."""
        pooled = self.pooled.doubted(name, doubts)
        return replace(self, pooled=pooled, doubts=pooled.doubts) if doubts else self

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "schema": SCHEMA,
            "calibcli": self.calibcli,
            "by": self.by,
            "pooled": self.pooled.to_dict(),
            "members": {key: one.to_dict() for key, one in self.members.items()},
            "shared": {key: {"rows": one.rows, "reason": one.reason} for key, one in self.shared.items()},
        }


def group_artifact_text(artifact: GroupArtifact) -> str:
    """
    Return the text of an artifact: the same fit gives the same bytes.

    Raises:
        InputProblem: If it is so long that it could not be read again.
    """
    return readable(sealed_text(artifact.to_dict()), method=artifact.pooled.recalibrator.name.value)


def read_any_map(path: str) -> Artifact | ClassArtifact | GroupArtifact:
    """
    Read an artifact of one score, of several classes, or with a map for each group.

    Raises:
        InputProblem: If the file cannot be opened.

        DocumentProblem: If what it holds is not an artifact, with the file and the place in it.
    """
    if isinstance(path, HeldArtifact):
        return path.artifact
    try:
        found, doubts = read_document(path).built(any_map_of)
        return found.doubted(path, doubts)
    except DocumentProblem as problem:
        raise in_file(path, problem) from None


def read_one_or_members(path: str) -> Artifact | GroupArtifact:
    """
    Read an artifact of one score, with one map or with a map for each group.

    Raises:
        InputProblem: If the file cannot be opened.

        DocumentProblem: If what it holds is not an artifact, with the file and the place in it.

        UsageProblem: If it was fitted to several classes.
    """
    found = read_any_map(path)
    return found if isinstance(found, GroupArtifact) else of_one_score(path, found)


def any_map_of(root: Node) -> Artifact | ClassArtifact | GroupArtifact:
    """
    Return the artifact of any kind that a document holds.

    Raises:
        DocumentProblem: If it holds none, with the place.
    """
    by_group = isinstance(root.value, dict) and fitted_by_group(root)
    return GroupArtifact.from_dict(root) if by_group else artifact_of(root)


def _member(node: Node, pooled: Artifact) -> Artifact:
    """Return the map of a group, which must see scores and labels as that of all rows does."""
    member = Artifact.from_dict(node)
    node.child("input").expect({"scale": pooled.scale.value, "classes": None, "positive": pooled.positive})
    return member


def _check_methods(root: Node, members: Mapping[str, Artifact], *, pooled: Artifact) -> None:
    """Refuse maps of two methods, but for the identity, which stands beside maps without ends alone."""
    identity = RecalibratorName.IDENTITY
    first = pooled.recalibrator
    for key, one in members.items():
        name = one.recalibrator.name
        if first.name is identity:
            first = one.recalibrator
        mixed = isinstance(one.recalibrator, WithEnds) is not isinstance(pooled.recalibrator, WithEnds)
        if mixed or name not in {first.name, identity}:
            node = root.child("members").child(key).child("method")
            node.expect(pooled.recalibrator.name.value)


def _shared(node: Node) -> Shared:
    node.only("rows", "reason")
    return Shared(node.child("rows").whole(1), node.child("reason").text())


def _check_groups(
    root: Node, members: Mapping[str, Artifact], shared: Mapping[str, Shared], *, pooled: Artifact
) -> None:
    """Refuse groups that are there twice or too many, and rows that are not those of all together."""
    twice = sorted(members.keys() & shared.keys())
    if twice:
        msg = f"has the group {twice[0]!r}, which has a map of its own as well"
        raise root.child("shared").problem(msg)
    if len(members) + len(shared) > MOST_MEMBERS:
        msg = f"has {len(members) + len(shared):,} groups, more than the {MOST_MEMBERS:,} that a fit makes"
        raise root.child("members").problem(msg)
    total = sum(one.fit.rows for one in members.values()) + sum(one.rows for one in shared.values())
    if total != pooled.fit.rows:
        msg = f"has groups of {total:,} rows together, and the map of all was fitted to {pooled.fit.rows:,}"
        raise root.child("members").problem(msg)
    rest = pooled.fit.positive - sum(one.fit.positive for one in members.values())
    if not 0 <= rest <= sum(one.rows for one in shared.values()):
        msg = f"leaves {rest:,} rows with label 1 to the groups that share the map of all"
        raise root.child("members").problem(msg)
