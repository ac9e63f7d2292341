"""
Results as the documents that tasks read: what was measured need not be written to be looked at again.

Maps and all their methods are imported where one may be given: `measure` of plain rows needs none of them.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from calibcli.options.rows import DocumentInMemory, DocumentSource
from calibcli.python.results import Measured, SavedReport

if TYPE_CHECKING:
    from calibcli.python.recalibrator import ArtifactLike
    from calibcli.python.rows import Names

    ReportLike: TypeAlias = Measured | SavedReport | str | os.PathLike[str]

_JSON = ".json"


def plotted_document(result: object) -> DocumentInMemory | None:
    """Return a result as the document that `plot` draws; None for anything else."""
    from calibcli.python.recalibrator import Recalibrator

    if isinstance(result, Measured | SavedReport):
        return _report(result)
    if isinstance(result, Recalibrator):
        name = result.name if result.name.endswith(_JSON) else f"{result.name}{_JSON}"
        return DocumentInMemory(name, result.artifact)
    return None


def _report(result: Measured | SavedReport) -> DocumentInMemory:
    return DocumentInMemory("report.json", result.to_dict())


def report_source(report: "ReportLike") -> DocumentSource:
    """Return a report, or the path of one, as commands take it."""
    return os.fspath(report) if isinstance(report, str | os.PathLike) else _report(report)


def pair_of(rows: object, labels: object, *, score: "Names | None", probs: "Names | None") -> "Names | None":
    """Return the score columns: the two of a mapping of two beside labels, where none are named."""
    two = isinstance(rows, Mapping) and len(rows) == 2
    if two and labels is not None and score is None and probs is None:
        return [str(name) for name in rows]  # type: ignore[attr-defined]
    return score


def artifact_source(artifact: "ArtifactLike") -> DocumentSource:
    """Return a recalibrator, or the path of one, as commands take it."""
    from calibcli.python.recalibrator import Recalibrator

    if isinstance(artifact, Recalibrator):
        return DocumentInMemory(artifact.name, artifact.artifact)
    return os.fspath(artifact)


def artifact_sources(artifact: "ArtifactLike | Sequence[ArtifactLike]") -> tuple[DocumentSource, ...]:
    """Return one artifact or several as commands take them; of two with one name the second says so."""
    from calibcli.python.recalibrator import Recalibrator

    many = (artifact,) if isinstance(artifact, Recalibrator | str | os.PathLike) else artifact
    found: list[DocumentSource] = []
    for one in map(artifact_source, many):
        if isinstance(one, DocumentInMemory) and str(one) in map(str, found):
            found.append(DocumentInMemory(f"{one} 2", one.content))
        else:
            found.append(one)
    return tuple(found)
