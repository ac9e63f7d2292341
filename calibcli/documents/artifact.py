"""Artifacts: a fitted map of one score, of several classes or of groups
of rows, with the record of its fit.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, cast

import numpy as np

from calibcli.codec import (
    ABSENT,
    DIFFERENT,
    HIDDEN,
    INLINE,
    LOOSE,
    Among,
    Ascending,
    Between,
    Declared,
    Digest,
    Fraction,
    In,
    Key,
    Node,
    OrInfinite,
    Since,
    Size,
    Thing,
    same_length,
    version_of,
)
from calibcli.documents.sealed import MOST_BYTES, NO_JSON, in_file, parse, read_document, sealed_text
from calibcli.errors import DocumentProblem, InputProblem, UsageProblem
from calibcli.names import FitMethod, Scale
from calibcli.options.numerals import rough_percent
from calibcli.options.rows import DocumentInMemory, DocumentSource
from calibcli.stats.recalibrators import AnyMap, FittedBin, Guarantee, Recalibrator
from calibcli.stats.recalibrators.classes import AnyClassMap
from calibcli.stats.recalibrators.segments import SegmentMap
from calibcli.stats.recalibrators.selection import Selection
from calibcli.stats.table.grid import LEVELS, Table, digest_of_rows, score_quantiles
from calibcli.values import dataclass, field, replace
from calibcli.version import __version__

FitOptionsSaid = Annotated[Mapping[str, object], "What the method was asked for."]

ScoreQuantiles = Annotated[
    tuple[float, ...] | None,
    Between(0.0, 1.0),
    Size(len(LEVELS), len(LEVELS), reason="a score for each of these shares of the rows"),
    Ascending(strictly_from=None),
    Since(2),
    ABSENT,
    "The score up to which 0, 1, 5, 10, 25, 50, 75, 90, 95, 99 and 100 % of the fit rows lie, as the "
    "probability that was read (of several classes the largest of a row), so that scores on another scale "
    "can be told; older artifacts do not say it.",
]

OutputQuantiles = Annotated[
    tuple[float, ...] | None,
    *ScoreQuantiles.__metadata__[:-1],
    "The same of what rows get where that does not follow from their score alone, of several classes of the "
    "largest probability; a gate is planned by it; older artifacts do not say it.",
]


# A note says how many fit rows lie where a map falls, from this share of them on.
_MANY_FALLING = 0.01

Positive = Annotated[
    str | None, In("input"), "The label value that counted as 1; null where labels were 0/1 as they are."
]

OneScoreOnly = Annotated[tuple[str, ...] | None, In("input"), "Null for one score."]

Phrases = Annotated[
    Mapping[str, float] | None,
    In("input"),
    ABSENT,
    "The numbers of scores in words, by phrase; absent where scores were numbers.",
]

_FITTED = (In("input"), ABSENT, DIFFERENT)

FittedColumn = Annotated[
    tuple[str, ...] | None,
    *_FITTED,
    Size(1, 1),
    "The column of the score in the fit rows, which is looked for first in other rows. Absent where scores "
    "were arrays, and in older ones.",
]

FittedColumns = Annotated[
    tuple[str, ...] | None,
    *_FITTED,
    Size(1),
    "The columns of the classes in the fit rows, in their order, or one of lists, which are looked for first "
    "in other rows. Absent where scores were arrays, and in older ones.",
]

FittedBy = Annotated[str, "The version that fitted it."]

Doubts = Annotated[tuple[str, ...], HIDDEN]


class Doubted(Declared):
    """An artifact with a record `fit`, and `doubts`: what must be said of its document."""

    __slots__ = ()
    SCHEMA: ClassVar = "calibcli.artifact/2"
    ORIGIN: ClassVar = {"what": "an artifact", "hint": "an artifact is what `calibcli fit` writes"}

    @property
    def of_all_rows(self) -> Self:
        """The map of all rows: this one, unless each group has its own."""
        return self

    def doubted(self, name: str, doubts: tuple[str, ...]) -> Self:
        """Return the artifact with what must be said of its document; saved again, it says so itself."""
        if not doubts:
            return self
        this: Any = self
        kept = tuple(f"the document {one}" for one in doubts)
        fit = replace(this.fit, notes=(*this.fit.notes, *kept))
        return cast("Self", replace(this, fit=fit, doubts=tuple(f"{name} {one}" for one in doubts)))


@dataclass(frozen=True, slots=True)
class FitRecord(Declared):
    """How a recalibrator came about."""

    rows: Annotated[int, Between(1), "Fit rows."]
    positive: Annotated[int, "Fit rows with label 1."]
    table_digest: Annotated[
        Digest,
        "Fingerprint of the fit rows without weights of importance: a gate tells a fit's own rows by it.",
    ]
    table: Annotated[str, Among(("exact", "grid"))]
    options: FitOptionsSaid
    loss_before: Annotated[
        OrInfinite,
        "Mean log loss (or squared error, where that is what the fit minimised) of the raw scores; infinite "
        "where a certain score was wrong.",
    ]
    loss_after: Annotated[OrInfinite, "The same of the recalibrated scores."]
    mean_variance: Annotated[
        float,
        Between(0.0, 0.25),
        "Weighted mean of g (1 - g) over the fit rows, g being the recalibrated score.",
    ]
    notes: Annotated[tuple[str, ...], "Sentences that the user of the artifact should read."] = ()
    base_rate: Annotated[
        Fraction | None,
        ABSENT,
        "Weighted share of label 1 in the fit rows; artifacts of calibcli 0.1 do not say it.",
    ] = None
    selection: Annotated[
        Selection | None, ABSENT, "How `--method auto` chose the method; absent where the user named it."
    ] = None
    score_quantiles: ScoreQuantiles = None
    output_quantiles: OutputQuantiles = None

    @classmethod
    def of(
        cls,
        recalibrator: Recalibrator,
        table: Table,
        *,
        notes: tuple[str, ...] = (),
        **more: Any,  # noqa: ANN401 - as `of_table` takes it
    ) -> Self:
        g = recalibrator.predict(table.score)
        spread = float(np.sum(table.weight * g * (1.0 - g)) / np.sum(table.weight))
        told, rows, falling = recalibrator.notes, table.total_rows, recalibrator.falling(table)
        if falling >= _MANY_FALLING * rows:
            share = f"{falling:,} of {rows:,} fit rows ({rough_percent(falling / rows)})"
            told = (*told, f"{share} have scores where the map falls: there a higher score gets less")
        return cls.of_table(table, mean_variance=spread, notes=(*told, *notes), **more)

    @classmethod
    def of_table(
        cls,
        table: Table,
        *,
        options: Mapping[str, object],
        losses: tuple[float, float],
        mean_variance: float,
        notes: tuple[str, ...],
        selection: Selection | None = None,
        output_quantiles: tuple[float, ...] | None = None,
    ) -> Self:
        """Record a fit to the rows of a table, of which it is known what it did."""
        return cls(
            rows=table.total_rows,
            positive=table.total_positive_rows,
            table_digest=digest_of_rows(table),
            table=table.kind,
            options=dict(options),
            loss_before=float(losses[0]),
            loss_after=float(losses[1]),
            mean_variance=mean_variance,
            notes=notes,
            base_rate=float(np.sum(table.positive) / np.sum(table.weight)),
            selection=selection,
            score_quantiles=score_quantiles(table),
            output_quantiles=output_quantiles,
        )

    def check(self, node: Node) -> None:
        node.child("positive").whole(0, self.rows)


@dataclass(frozen=True, slots=True)
class Artifact(Doubted):
    """What `fit` writes and `apply`, `measure` and `verify` read."""

    recalibrator: Annotated[AnyMap, INLINE]
    fit: Annotated[FitRecord, "How it came about."]
    scale: Annotated[Scale, In("input"), "What the score column held."] = Scale.PROB
    positive: Positive = None
    classes: OneScoreOnly = None
    score_map: Phrases = None
    columns: FittedColumn = None
    calibcli: FittedBy = __version__
    doubts: Doubts = field(default=(), compare=False)

    @property
    def bins(
        self,
    ) -> Annotated[
        tuple[FittedBin, ...] | None, "Every output there is, or null where outputs form a continuum."
    ]:
        return self.recalibrator.bins

    @property
    def guarantee(self) -> Annotated[Guarantee | None, LOOSE]:
        return self.recalibrator.guarantee

    @property
    def increasing(
        self,
    ) -> Annotated[
        bool,
        "Whether a higher score never gets a lower probability, but for the last digit: logarithms round.",
    ]:
        return self.recalibrator.increasing

    def check(self, node: Node) -> None:
        """Refuse a record of another fit, and promises that the parameters do not imply."""
        if self.fit.selection is not None:
            node.child("method").expect(self.fit.selection.chosen.value)
        _check_limited(node.child("parameters"), rows=self.fit.rows)
        _check_guarantee(node.child("guarantee"), self.guarantee)


def of_several_classes(root: Node) -> bool:
    """Whether a document says that it speaks of several classes; its shape is checked elsewhere."""
    columns = root.value.get("input") if isinstance(root.value, dict) else None
    return isinstance(columns, dict) and columns.get("classes") is not None


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
    output_quantiles: OutputQuantiles = None

    def check(self, node: Node) -> None:
        if sum(self.class_rows) != self.rows:
            msg = f"has {sum(self.class_rows):,} rows together, should have {self.rows:,}"
            raise node.child("class_rows").problem(msg)
        node.child("changed").whole(0, self.rows)


_SO_MANY = "there are so many classes"


@dataclass(frozen=True, slots=True)
class ClassArtifact(Doubted):
    """What `fit --probs` writes, and `apply`, `measure` and `verify` read."""

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
    columns: FittedColumns = None
    calibcli: FittedBy = __version__
    doubts: Doubts = field(default=(), compare=False)

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        classes = node.child("input").child("classes").texts()
        return cast("Self", Thing(cls).restored(node.knowing(classes=classes)))

    def check(self, node: Node) -> None:
        rows = node.child("fit").child("class_rows")
        same_length(rows, len(self.classes), reason=_SO_MANY)
        if self.columns is not None and len(self.columns) > 1:
            same_length(node.child("input").child("columns"), len(self.classes), reason=_SO_MANY)

    @property
    def keeps_prediction(
        self,
    ) -> Annotated[bool, "Whether no row whatever can change its most probable class."]:
        return self.recalibrator.keeps_prediction


def artifact_text(artifact: "AnyArtifact") -> str:
    """Return the text of an artifact: the same fit gives the same bytes."""
    text, method = sealed_text(artifact.to_dict()), artifact.of_all_rows.recalibrator.name.value
    # Every character is one byte.
    if len(text) > MOST_BYTES:
        size, most = (math.ceil(length / 2**20) for length in (len(text), MOST_BYTES))
        msg = (
            f"the artifact of this {method} fit takes {size:,} MiB, and those above {most} MiB cannot be read"
        )
        raise InputProblem(msg, "leave out --exact, ask for fewer --folds, or use another --method")
    return text


def read_artifact(path: DocumentSource) -> Artifact:
    return of_one_score(path, read_any_artifact(path))


def of_one_score(path: DocumentSource, found: "Artifact | ClassArtifact") -> Artifact:
    if isinstance(found, Artifact):
        return found
    msg = f"{path}: it was fitted to {len(found.classes):,} classes, and one score was named"
    raise UsageProblem(msg, "name the columns of the classes with --probs")


def read_class_artifact(path: DocumentSource) -> "ClassArtifact":
    found = read_any_map(path)
    if isinstance(found, ClassArtifact):
        return found
    msg = f"{path}: it was fitted to one score, and the columns of several classes were named"
    raise UsageProblem(msg, "name the score column with --score, or fit a map of these classes with --probs")


def read_any_artifact(path: DocumentSource) -> "Artifact | ClassArtifact":
    found = read_any_map(path)
    if not isinstance(found, GroupArtifact | SegmentArtifact):
        return found
    if isinstance(found, SegmentArtifact):
        msg = (
            f"looks at {', '.join(found.names)} beside the score, but here a map of the score alone is needed"
        )
        hint = (
            "verify --state and plot --kind map take no such map, other commands do: write recalibrated "
            "scores with `calibcli apply` first"
        )
        raise DocumentProblem(str(path), msg, hint)
    msg = "has a map for each group of rows, and one map is needed here"
    hint = (
        "verify --state and plot --kind map take no such map, other commands do: fit each group apart, with "
        "--where 'COL==GROUP' in place of --by"
    )
    raise DocumentProblem(str(path), msg, hint)


def artifact_of_text(text: str) -> "AnyArtifact":
    """Return the artifact that `artifact_text` gave the text of."""
    return parse(text.encode()).built(any_map_of)[0]


MOST_MEMBERS = 1_000


@dataclass(frozen=True, slots=True)
class Shared(Declared):
    """A group that shares the map of all rows."""

    rows: Annotated[int, Between(1), "Fit rows of the group."]
    reason: Annotated[str, "Why it has no map of its own."]


@dataclass(frozen=True, slots=True)
class GroupArtifact(Declared):
    """What `fit --by` writes."""

    SCHEMA: ClassVar = Doubted.SCHEMA
    ORIGIN: ClassVar = Doubted.ORIGIN

    by: Annotated[str, "Name of the column whose values are the groups."]
    pooled: Annotated[Artifact, "The map of all rows, without a digest of its own."]
    members: Annotated[
        Mapping[str, Artifact],
        "For each group with enough rows the map of its own, of the same scale and positive label.",
    ]
    shared: Annotated[Mapping[str, Shared], "The groups that share the map of all rows."]
    calibcli: FittedBy = __version__
    doubts: Doubts = field(default=(), compare=False)

    @property
    def of_all_rows(self) -> Artifact:
        return self.pooled

    @property
    def known(self) -> frozenset[str]:
        """The groups that the fit has seen."""
        return frozenset((*self.members, *self.shared))

    def check(self, node: Node) -> None:
        """Refuse maps that see scores otherwise than that of all rows, and other rows."""
        first = self.pooled
        alike: dict[str, object] = {"scale": first.scale.value, "classes": None, "positive": first.positive}
        alike |= {} if first.score_map is None else {"score_map": first.score_map}
        alike |= {} if first.columns is None else {"columns": list(first.columns)}
        for one in (node.child("pooled"), *node.child("members").members().values()):
            one.child("schema").expect(node.child("schema").value)
            one.child("input").expect(alike)
        _check_groups(node, self.members, self.shared, pooled=self.pooled)
        _check_methods(node, self.members, pooled=self.pooled)

    def doubted(self, name: str, doubts: tuple[str, ...]) -> Self:
        pooled = self.pooled.doubted(name, doubts)
        return replace(self, pooled=pooled, doubts=pooled.doubts) if doubts else self


@dataclass(frozen=True, slots=True)
class SegmentArtifact(Doubted):
    """What `fit --method segments` writes."""

    method: Annotated[Literal["segments"], "The method."]
    recalibrator: Annotated[
        SegmentMap, Key("parameters"), "The map, which looks at columns beside the score."
    ]
    fit: Annotated[FitRecord, "How it came about."]
    scale: Annotated[Scale, In("input"), "What the score column held."] = Scale.PROB
    positive: Positive = None
    classes: OneScoreOnly = None
    score_map: Phrases = None
    columns: FittedColumn = None
    calibcli: FittedBy = __version__
    doubts: Doubts = field(default=(), compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.recalibrator.columns)

    def check(self, node: Node) -> None:
        node.child("parameters").child("limited_rows").whole(0, self.fit.rows)


AnyArtifact = Artifact | ClassArtifact | GroupArtifact | SegmentArtifact
"""A map of one score, of several classes, one for each group, or one that looks at other columns, too."""

OneMap = Artifact | SegmentArtifact
"""A map of one score for all rows."""

OneScore = Artifact | GroupArtifact | SegmentArtifact
"""A map of one score, whatever else it looks at."""


def read_any_map(path: DocumentSource) -> AnyArtifact:
    """Read an artifact of one score, of several classes, or with a map for each group."""
    if isinstance(path, DocumentInMemory) and isinstance(path.content, AnyArtifact):
        return path.content
    try:
        found, doubts = read_document(path).built(any_map_of)
        return found.doubted(str(path), doubts)
    except DocumentProblem as problem:
        if problem.hint == NO_JSON:
            said = f"is no artifact ({problem.detail.removeprefix('is ')})"
            raise in_file(
                path, DocumentProblem(problem.path, said, "name what `calibcli fit` wrote")
            ) from None
        raise in_file(path, problem) from None


def read_one_or_members(path: DocumentSource) -> OneScore:
    """Read an artifact of one score, with one map, a map for each group, or one that looks at columns."""
    found = read_any_map(path)
    return found if isinstance(found, GroupArtifact | SegmentArtifact) else of_one_score(path, found)


def any_map_of(root: Node) -> AnyArtifact:
    if isinstance(root.value, dict) and fitted_by_group(root):
        return GroupArtifact.from_dict(root)
    version_of(root, Doubted.SCHEMA, **Doubted.ORIGIN)
    if root.has("method") and root.child("method").value == FitMethod.SEGMENTS.value:
        return SegmentArtifact.from_dict(root)
    return ClassArtifact.from_dict(root) if of_several_classes(root) else Artifact.from_dict(root)


def _check_methods(root: Node, members: Mapping[str, Artifact], *, pooled: Artifact) -> None:
    """Refuse maps of which some have two ends and others none."""
    for key, one in members.items():
        if one.recalibrator.brackets is not pooled.recalibrator.brackets:
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
