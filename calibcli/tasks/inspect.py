"""Say what is in a file: an artifact, a report, or data with columns to guess."""

import json
from dataclasses import replace
from pathlib import Path

from calibcli.codec import Node, version_of
from calibcli.documents.artifact import SCHEMA as ARTIFACT_SCHEMA
from calibcli.documents.artifact import Artifact
from calibcli.documents.group_artifact import GroupArtifact, read_any_map
from calibcli.documents.state import MOST_BYTES
from calibcli.documents.store import in_file, read_document
from calibcli.documents.summary import MOST_BYTES as MOST_SUMMARY
from calibcli.documents.summary import read_summary
from calibcli.errors import DocumentProblem
from calibcli.names import DataFormat
from calibcli.options.rows import AS_FOUND, InputFormat
from calibcli.readers.files import file_word
from calibcli.recalibrators.interface import Recalibrator, distinct_outputs
from calibcli.recalibrators.selection import Selection
from calibcli.reports.compare import SCHEMA as COMPARE_SCHEMA
from calibcli.reports.compat import SCHEMA as COMPAT_SCHEMA
from calibcli.reports.inspect import InspectReport
from calibcli.reports.measure import SCHEMA as REPORT_SCHEMA
from calibcli.reports.plan import SCHEMA as PLAN_SCHEMA
from calibcli.suffixes import format_of


def inspect_file(path: str, *, input_format: InputFormat = AS_FOUND) -> InspectReport:
    """
    Look into a file.

    Args:
        path: The file, "-" for standard input.

        input_format: The format of a data file, and how text is written.

    Raises:
        InputProblem: If it cannot be read or is none of these.
    """
    if path != "-" and input_format.format is None and _seems_document(path):
        return _inspect_document(path)
    from calibcli.tasks.columns import inspect_columns

    return inspect_columns(path, input_format=input_format)


def _seems_document(path: str) -> bool:
    """Whether a file may be a document, not rows; a pipe is not asked, since it can be read once."""
    try:
        if not Path(path).is_file() or format_of(path) is DataFormat.JSONL:
            return False
        with Path(path).open("rb") as file:
            head = file.read(1 << 16).lstrip()
    except (OSError, ValueError):
        return False
    line, _, more = head.partition(b"\n")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return head[:1] == b"{"
    return isinstance(first, dict) and ("schema" in first or not more.strip())


def _inspect_document(path: str) -> InspectReport:
    try:
        root = read_document(path, most=max(MOST_BYTES, MOST_SUMMARY))
        match root.child("schema").text().partition("/")[0]:
            case "calibcli.artifact":
                return artifact_report(path)
            case "calibcli.gate":
                from calibcli.tasks.gate_facts import inspect_state

                return inspect_state(path)
            case "calibcli.summary":
                from calibcli.tasks.summaries import summary_report

                return summary_report(path, read_summary(path))
            case "calibcli.report":
                schema, look = REPORT_SCHEMA, saved_report_facts
            case "calibcli.compare":
                schema, look = COMPARE_SCHEMA, _comparison_report
            case "calibcli.compat":
                schema, look = COMPAT_SCHEMA, _compat_report
            case "calibcli.plan":
                schema, look = PLAN_SCHEMA, _plan_report
            case _:
                found = root.child("schema").text()[:60]
                msg = f"is {found!r}, which is neither {ARTIFACT_SCHEMA!r} nor {REPORT_SCHEMA!r}"
                raise root.child("schema").problem(msg)
        version_of(root, schema)
        report, doubts = root.built(lambda node: look(path, node))
        return replace(report, facts=(*report.facts, *(("note", f"{path} {one}") for one in doubts)))
    except DocumentProblem as problem:
        raise problem if problem.path.startswith(path) else in_file(path, problem) from None


def artifact_report(path: str) -> InspectReport:
    """
    Look at an artifact.

    Args:
        path: The file, or the name of one in memory.

    Raises:
        InputProblem: If it cannot be read.

        DocumentProblem: If it is no artifact.
    """
    found = read_any_map(path)
    if isinstance(found, Artifact):
        return _artifact_report(path, found)
    if isinstance(found, GroupArtifact):
        from calibcli.tasks.inspect_groups import group_artifact_report

        return group_artifact_report(path, found)
    from calibcli.tasks.inspect_classes import class_artifact_report

    return class_artifact_report(path, found)


def _artifact_report(path: str, artifact: Artifact) -> InspectReport:
    fit, recalibrator = artifact.fit, artifact.recalibrator
    bins = recalibrator.bins
    facts = [
        ("method", recalibrator.name.value),
        ("fitted on", f"{fit.rows:,} rows, {fit.positive:,} with label 1 ({fit.table} table)"),
        ("options", ", ".join(f"{key}={value}" for key, value in fit.options.items()) or "none"),
        ("loss on fit rows", f"{fit.loss_before:.6g} before, {fit.loss_after:.6g} after"),
        ("outputs", _outputs(recalibrator)),
        ("increasing", _order(recalibrator)),
        ("scale of the score", artifact.scale.value),
        ("digest of the fit rows", fit.table_digest),
        ("written by", f"calibcli {artifact.calibcli}"),
    ]
    if fit.selection is not None:
        facts.insert(1, ("chosen by", _choice(fit.selection)))
    if bins is not None:
        facts += [
            (f"({one.lower:.6g}, {one.upper:.6g}]", f"{one.value:.6g} from {one.rows:,} rows")
            for one in bins[:50]
        ]
        if len(bins) > 50:
            facts.append(("...", f"{len(bins) - 50:,} more, in the file"))
    else:
        parameters = json.dumps(recalibrator.to_dict(), sort_keys=True)
        facts.append(("parameters", parameters if len(parameters) <= 400 else f"{parameters[:400]} ..."))
    bounds = () if recalibrator.guarantee is None else recalibrator.guarantee.bounds
    facts += [("guarantee", f"{one.value:.4g}: {one.statement}") for one in bounds]
    facts += [("note", note) for note in fit.notes]
    return InspectReport(
        path, "artifact", tuple(facts), (), f"calibcli apply {file_word(path)} preds.csv -o repaired.csv"
    )


def _order(recalibrator: Recalibrator) -> str:
    return "yes, but for the last digit" if recalibrator.increasing else "no: a higher score can get less"


def _outputs(recalibrator: Recalibrator) -> str:
    count = distinct_outputs(recalibrator)
    return "many values" if count is None else f"{count:,} value{'s' if count > 1 else ''}"


def _choice(selection: Selection) -> str:
    """Return how a method was chosen, with the loss of each."""
    found = [
        f"{trial.method} {'none' if trial.loss is None else f'{trial.loss:.6g}'}"
        for trial in selection.trials
    ]
    folds = f"{selection.folds} folds" + (f" by {selection.grouped_by}" if selection.grouped_by else "")
    return f"cross-validated {selection.loss.value} loss, {folds}: {', '.join(found)}"


def _bounded(measure: Node) -> str:
    lower, upper = measure.child("lower").value, measure.child("upper").value
    return f"{measure.child('value').value} [{lower}, {upper}]"


def saved_report_facts(path: str, root: Node) -> InspectReport:
    """
    Look at a report of `measure` or `verify`.

    Args:
        path: What it is called.

        root: The document.

    Raises:
        DocumentProblem: If it is no report, with the place.
    """
    source, table = root.child("input"), root.child("table")
    facts = [
        ("files", ", ".join(source.child("files").texts())),
        ("score", source.child("score").text()),
        ("rows", f"{table.child('rows').whole():,}, {table.child('positive').whole():,} with label 1"),
    ]
    measures, rules = root.child("measures").members(), root.child("rules").members()
    facts += [(name, _bounded(measure)) for name, measure in measures.items()]
    facts += [
        ("rule", f"{rule.child('expr').text()}: {rule.child('status').text()}") for rule in rules.values()
    ]
    plotted = root.child("curve").value is not None
    suggestion = f"calibcli plot {file_word(path)} -o reliability.png" if plotted else None
    return InspectReport(path, "report", tuple(facts), (), suggestion)


def _comparison_report(path: str, root: Node) -> InspectReport:
    facts = [
        ("files", ", ".join(root.child("input").child("files").texts())),
        ("first", root.child("first").child("name").text()),
        ("second", root.child("second").child("name").text()),
    ]
    facts += [
        (name, f"{_bounded(measure.child('difference'))} {measure.child('verdict').text()}")
        for name, measure in root.child("measures").members().items()
    ]
    return InspectReport(path, "comparison", tuple(facts), (), None)


def _compat_report(path: str, root: Node) -> InspectReport:
    source, peer = root.child("input"), root.child("peer")
    facts = [
        ("files", ", ".join(source.child("files").texts())),
        ("score", source.child("score").text()),
        ("as", f"{peer.child('package').text()} {peer.child('version').text()} gives it"),
    ]
    facts += [(name, f"{one.child('value').value}") for name, one in root.child("numbers").members().items()]
    return InspectReport(path, "numbers of another tool", tuple(facts), (), None)


def _plan_report(path: str, root: Node) -> InspectReport:
    rows, power = root.child("rows").value, root.child("power").number(0.0, 1.0)
    facts = (
        ("gate", f"{root.child('measure').text()} <= {root.child('limit').number(0.0, 1.0):g}"),
        ("rows", "more than a billion" if rows is None else f"{root.child('rows').whole():,}"),
        ("for", f"a {root.child('wanted').text()} with a power of {power:g}"),
        ("if", root.child("pattern").text()),
        ("scores", f"as {root.child('scores_from').text()}"),
    )
    return InspectReport(path, "plan of a gate", facts, (), None)
