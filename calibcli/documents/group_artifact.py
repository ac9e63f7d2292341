"""Artifacts with a map for each group of rows, and one of all rows for the groups too small for their own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Self

from calibcli.codec import HIDDEN, Between, Declared, Node
from calibcli.documents.artifact import ORIGIN, SCHEMA, Artifact, fitted_by_group
from calibcli.documents.class_artifact import ClassArtifact
from calibcli.documents.sealed import sealed_text
from calibcli.documents.store import HeldArtifact, artifact_of, in_file, of_one_score, read_document, readable
from calibcli.errors import DocumentProblem
from calibcli.names import RecalibratorName
from calibcli.recalibrators.interface import WithEnds
from calibcli.version import __version__

MOST_MEMBERS = 1_000


@dataclass(frozen=True, slots=True)
class Shared(Declared):
    """A group that shares the map of all rows."""

    rows: Annotated[int, Between(1), "Fit rows of the group."]
    reason: Annotated[str, "Why it has no map of its own."]


@dataclass(frozen=True, slots=True)
class GroupArtifact(Declared):
    """What `fit --by` writes."""

    SCHEMA: ClassVar = SCHEMA
    ORIGIN: ClassVar = ORIGIN

    by: Annotated[str, "Name of the column whose values are the groups."]
    pooled: Annotated[Artifact, "The map of all rows, without a digest of its own."]
    members: Annotated[
        Mapping[str, Artifact],
        "For each group with enough rows the map of its own; the same method, scale and positive label.",
    ]
    shared: Annotated[Mapping[str, Shared], "The groups that share the map of all rows."]
    calibcli: Annotated[str, "The version that fitted it."] = __version__
    doubts: Annotated[tuple[str, ...], HIDDEN] = field(default=(), compare=False)

    @property
    def known(self) -> frozenset[str]:
        """The groups that the fit has seen."""
        return frozenset((*self.members, *self.shared))

    def check(self, node: Node) -> None:
        """Refuse maps that see scores otherwise than that of all rows, other rows, and two methods."""
        alike = {"scale": self.pooled.scale.value, "classes": None, "positive": self.pooled.positive}
        for one in (node.child("pooled"), *node.child("members").members().values()):
            one.child("schema").expect(node.child("schema").value)
            one.child("input").expect(alike)
        _check_groups(node, self.members, self.shared, pooled=self.pooled)
        _check_methods(node, self.members, pooled=self.pooled)

    def doubted(self, name: str, doubts: tuple[str, ...]) -> Self:
        """Return the artifact with what must be said of its document; saved again, it says so itself."""
        pooled = self.pooled.doubted(name, doubts)
        return replace(self, pooled=pooled, doubts=pooled.doubts) if doubts else self


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
