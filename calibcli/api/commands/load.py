"""calibcli.load"""

import os
from typing import TYPE_CHECKING

from calibcli.api.recalibrator import Recalibrator
from calibcli.api.spoken import in_python
from calibcli.errors import DocumentProblem

if TYPE_CHECKING:
    from calibcli.api.saved import SavedReport
    from calibcli.documents import Node


@in_python()
def load(path: str | os.PathLike[str]) -> "Recalibrator | SavedReport":
    """
    Read a JSON document that calibcli wrote: no code of it is ever run, and its size and depth are bounded.

    Args:
        path: An artifact of `fit`, or a report of `measure` or `verify`.

    Returns:
        A `Recalibrator` that predicts the same bits as the one that was saved, or the report.

    Raises:
        InputProblem: If the file cannot be opened.

        DocumentProblem: If it is neither, or was damaged, with the place such as `$.parameters.knots[3]`.
    """
    from calibcli.artifacts.document import SCHEMA as ARTIFACT
    from calibcli.artifacts.group_document import read_any_map
    from calibcli.artifacts.store import HeldDocument, in_file, read_document
    from calibcli.reports.measure import SCHEMA as REPORT

    name = os.fspath(path)
    try:
        root = read_document(name)
    except DocumentProblem as problem:
        raise in_file(name, problem) from None
    schema = root.value.get("schema") if isinstance(root.value, dict) else None
    if schema == REPORT:
        return _report(name, root)
    if schema not in (None, ARTIFACT):
        msg = f"is {str(schema)[:60]!r}: load reads artifacts and reports"
        raise DocumentProblem(name, msg, "calibcli inspect says what it is")
    # What comes through a pipe is not there a second time.
    held = HeldDocument(name, document=root.value) if isinstance(root.value, dict) else name
    return Recalibrator(read_any_map(held), name)


def _report(name: str, root: "Node") -> "SavedReport":
    from calibcli.api.saved import SavedReport
    from calibcli.artifacts.store import in_file
    from calibcli.tasks.inspect import saved_report_facts

    try:
        found = SavedReport(root.value, saved_report_facts(name, root))  # type: ignore[arg-type]
        # What is wrong with a number is said now, with its place, and not when it is first asked for.
        found.lines()
    except DocumentProblem as problem:
        raise in_file(name, problem) from None
    return found
