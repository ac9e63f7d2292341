"""calibcli.load"""

import os
from typing import TYPE_CHECKING

from calibcli.errors import DocumentProblem
from calibcli.python.problems import reads_documents, warn_of
from calibcli.python.recalibrator import Recalibrator

if TYPE_CHECKING:
    from calibcli.codec import Node
    from calibcli.documents.sealed import Document
    from calibcli.python.results import SavedReport


@reads_documents
def load(
    path: str | os.PathLike[str],
    *,
    allow_edited: bool = False,  # noqa: ARG001
) -> "Recalibrator | SavedReport":
    """
    Read a JSON document that calibcli wrote: no code of it is ever run, and its size and depth are bounded.

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
    from calibcli.documents.artifact import any_map_of, in_file, read_document

    name = os.fspath(path)
    try:
        root = read_document(name)
        if root.family == "calibcli.report":
            report, doubts = root.built(lambda node: _report(name, node, root.entire))
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


def _report(name: str, root: "Node", whole: dict[str, object]) -> "SavedReport":
    from calibcli.codec import version_of
    from calibcli.commands.inspect import saved_report_facts
    from calibcli.python.results import SavedReport
    from calibcli.reports.measure import SCHEMA

    version_of(root, SCHEMA)
    found = SavedReport(whole, saved_report_facts(name, root))
    # What is wrong with a number is said now, with its place, and not when it is first asked for.
    found.lines()
    return found
