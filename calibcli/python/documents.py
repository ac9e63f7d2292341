"""Results as documents, and back: nothing measured need be written to be looked at again, nor the reverse.

Maps and all their methods are imported where one may be given: `measure` of plain rows needs none of them.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from calibcli.errors import DocumentProblem
from calibcli.options.rows import DocumentInMemory, DocumentSource
from calibcli.python.problems import reads_documents, warn_of
from calibcli.python.results import Measured, SavedReport
from calibcli.python.rows import path_of

if TYPE_CHECKING:
    from calibcli.codec import Node
    from calibcli.documents.sealed import Document
    from calibcli.python.recalibrator import ArtifactLike, Recalibrator

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


def report_source(report: "ReportLike", keyword: str) -> DocumentSource:
    if isinstance(report, Measured | SavedReport):
        return _report(report)
    return path_of(report, keyword, "a report of `measure` or `load`, or the path of one")


def scores_of(given: Mapping[str, object]) -> object:
    """Return the score columns: those of a mapping beside labels, where none are named."""
    rows = given["rows"]
    # Beside a map three or more are the probabilities of classes.
    scores = isinstance(rows, Mapping) and (len(rows) == 2 or (len(rows) > 2 and given["artifact"] is None))
    if scores and given["labels"] is not None and given["score"] is None and given["probs"] is None:
        return [str(name) for name in rows]  # type: ignore[attr-defined]
    return given["score"]


def artifact_source(artifact: "ArtifactLike", keyword: str) -> DocumentSource:
    from calibcli.python.recalibrator import ARTIFACT, Recalibrator

    if isinstance(artifact, Recalibrator):
        return DocumentInMemory(artifact.name, artifact.artifact)
    return path_of(artifact, keyword, ARTIFACT)


def artifact_sources(
    artifact: "ArtifactLike | Sequence[ArtifactLike]", keyword: str
) -> tuple[DocumentSource, ...]:
    """Return one artifact or several as commands take them; one in memory never has another's name."""
    several = isinstance(artifact, Sequence) and not isinstance(artifact, str)
    many = cast("Sequence[ArtifactLike]", artifact if several else [artifact])
    # Files first: they are called by their paths.
    given = [artifact_source(one, keyword) for one in many]
    names = {one for one in given if isinstance(one, str)}
    for place, one in enumerate(given):
        if isinstance(one, DocumentInMemory):
            name = f"{one} 2" if one.name in names else one.name
            names.add(name)
            given[place] = DocumentInMemory(name, one.content)
    return tuple(given)


@reads_documents
def load(
    path: str | os.PathLike[str],
    *,
    allow_edited: bool = False,  # noqa: ARG001
) -> "Recalibrator | SavedReport":
    """Read a JSON document that calibcli wrote: no code of it is ever run, and its size and depth are
    bounded.

    Args:
        path: An artifact of `fit`, or a report of `measure` or `verify`.
        allow_edited: Whether a document that was edited after it was written is read all the same, with a
            warning.

    Returns:
        A `Recalibrator` that predicts the same bits as the one that was saved, or the report.

    Raises:
        InputProblem: If the file cannot be opened.
        DocumentProblem: If it is neither, or was damaged or edited, with the place such as
            `$.parameters.knots[3]`.
    """
    from calibcli.documents.artifact import any_map_of
    from calibcli.documents.sealed import in_file, read_document
    from calibcli.python.recalibrator import Recalibrator

    name = path_of(path, "path")
    try:
        root = read_document(name)
        if root.family == "calibcli.report":
            report, doubts = root.built(lambda node: _saved(name, node, root.entire))
            warn_of(f"{name} {one}" for one in doubts)
            return report
        _refuse_others(root)
        artifact, doubts = root.built(any_map_of)
    except DocumentProblem as problem:
        raise in_file(name, problem) from None
    found = artifact.doubted(name, doubts)
    warn_of(found.doubts)
    return Recalibrator(found, name)


def _refuse_others(root: "Document") -> None:
    if root.family not in (None, "calibcli.artifact"):
        msg = f"is {root.child('schema').text()[:60]!r}: load reads artifacts and reports"
        raise root.problem(msg, "calibcli inspect says what it is")


def _saved(name: str, root: "Node", whole: dict[str, object]) -> SavedReport:
    from calibcli.codec import version_of
    from calibcli.commands.inspect import saved_report_facts
    from calibcli.reports.measure import SCHEMA

    version_of(root, SCHEMA)
    found = SavedReport(whole, saved_report_facts(name, root))
    # What is wrong with a number is said now, with its place, and not when it is first asked for.
    found.lines()
    return found
