"""Results as the documents that tasks read: what was measured need not be written to be looked at again."""

import os
from typing import TYPE_CHECKING, TypeAlias

from calibcli.api.measured import Measured
from calibcli.api.recalibrator import Recalibrator
from calibcli.api.saved import SavedReport
from calibcli.documents.group_artifact import GroupArtifact
from calibcli.documents.store import HeldArtifact, HeldDocument

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
        if isinstance(result.artifact, GroupArtifact):
            return HeldDocument(name, document=result.to_dict())
        return HeldArtifact(name, artifact=result.artifact)
    return None


def report_name(report: "ReportLike | None") -> str | None:
    """Return a report, or the path of one, as tasks take it."""
    if report is None or isinstance(report, str | os.PathLike):
        return None if report is None else os.fspath(report)
    return document_name(report)
