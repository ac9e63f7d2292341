"""Results as the documents that tasks read: what was measured need not be written to be looked at again."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from calibcli.documents.artifact import HeldDocument
from calibcli.python.recalibrator import ArtifactLike, Recalibrator, artifact_name, held_artifact
from calibcli.python.results import Measured, SavedReport

if TYPE_CHECKING:
    from calibcli.python.rows import Names

if TYPE_CHECKING:
    ReportLike: TypeAlias = Measured | SavedReport | str | os.PathLike[str]

_REPORT = "report.json"

_JSON = ".json"


def document_name(result: object) -> str | None:
    """Return a result under the name of a document that carries it; None for anything else."""
    if isinstance(result, Measured | SavedReport):
        return HeldDocument(_REPORT, document=result.to_dict())
    if isinstance(result, Recalibrator):
        name = result.name if result.name.endswith(_JSON) else f"{result.name}{_JSON}"
        return held_artifact(replace(result, name=name))
    return None


def report_name(report: "ReportLike | None") -> str | None:
    """Return a report, or the path of one, as tasks take it."""
    if report is None or isinstance(report, str | os.PathLike):
        return None if report is None else os.fspath(report)
    return document_name(report)


def pair_of(rows: object, labels: object, *, score: "Names | None", probs: "Names | None") -> "Names | None":
    """Return the score columns: the two of a mapping of two beside labels, where none are named."""
    two = isinstance(rows, Mapping) and len(rows) == 2
    if two and labels is not None and score is None and probs is None:
        return [str(name) for name in rows]  # type: ignore[attr-defined]
    return score


def artifact_names(artifact: ArtifactLike | Sequence[ArtifactLike] | None) -> tuple[str, ...]:
    """Return one artifact or several as tasks take them; two of one name are told apart by their places."""
    one = artifact is None or isinstance(artifact, Recalibrator | str | os.PathLike)
    many: Sequence[ArtifactLike | None] = (artifact,) if one else artifact  # type: ignore[assignment]
    names: list[str] = []
    for each in many:
        name = artifact_name(each)
        if name is not None:
            names.append(_numbered(name, each) if name in names else name)
    return tuple(names)


def _numbered(name: str, artifact: ArtifactLike | None) -> str:
    """Return a further artifact of one name under another."""
    if not isinstance(artifact, Recalibrator):
        return name
    return held_artifact(replace(artifact, name=f"{name} 2"))
