"""The report of a gate as JUnit XML, which every CI server reads.

Elements stand in the order that both published schemas ask for (properties, test cases, output). Nothing
in it depends on when or where it was written, so there are no times and no host. A file without a failure
and without an error is written if and only if the exit code is 0.
"""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from calibcli.errors import CalibcliError
from calibcli.options.numerals import plural
from calibcli.reports.input import Setting
from calibcli.reports.verify import VerifyReport
from calibcli.show.answers import small_segments
from calibcli.show.ci import (
    NOTHING_JUDGED,
    Case,
    cases_of,
    error_lines,
    gate_word,
    group_names,
    light_of,
)
from calibcli.show.pages import file_words
from calibcli.show.pages.verify import verdict_lines
from calibcli.show.words import ALARM, printable
from calibcli.version import __version__

SUITE = "calibcli verify"


def document_of(report: VerifyReport, settings: tuple[Setting, ...] = ()) -> str:
    """Return one test case for every rule and group; the text of each case is the whole verdict."""
    cases, names = cases_of(report), group_names(report)
    elements = [
        _element(one.group, one.name, one.light.tag, one.verdict.outcome.value, _said(one)) for one in cases
    ]
    # Nobody shall take for passed what was listed and not judged.
    few = "too few to be tested"
    if report.least_group_rows is not None:
        few = f"fewer than --min-group-rows {report.least_group_rows}"
    for group, rows in report.left_out.items():
        said = [f"{plural(rows, 'row')}: {few}"]
        elements.append(_element(names[group], "too few rows to be tested", "skipped", "left out", said))
    for one in cases:
        judged = one.verdict.segments
        if judged is not None and judged.small:
            name, said = f"{one.name}: too small to be tested", small_segments(one.verdict, judged)
            elements.append(_element(one.group, name, "skipped", "left out", said))
    if not report.every_verdict:
        light = light_of(report.outcome, report.policy)
        elements.append(_element(SUITE, "gate", light.tag, "inconclusive", [NOTHING_JUDGED]))
    output = "\n\n".join("\n".join(_said(one)) for one in cases)
    return _document(elements, {**_properties(report), **_set(settings)}, output=f"{output}\n")


def error_document(problem: CalibcliError, settings: tuple[Setting, ...] = ()) -> str:
    """Return XML for a gate that never came to a verdict, with the reason as its one error."""
    case = _element(SUITE, "gate", "error", type(problem).__name__, error_lines(problem))
    code = {"exit_code": str(problem.exit_code), "calibcli": __version__}
    return _document([case], {**code, **_set(settings)})


def _element(group: str, name: str, tag: str | None, kind: str, lines: Sequence[str]) -> ET.Element:
    """Return a test case with what is said of it, unless it passed."""
    element = ET.Element("testcase", classname=group, name=name)
    if tag is not None:
        ET.SubElement(element, tag, type=kind, message=lines[0]).text = "\n".join(lines)
    return element


def _said(case: Case) -> list[str]:
    lines = [printable(line) for line in verdict_lines(case.verdict)]
    return [*lines, f"Rule {case.rule}, group {case.group}."]


def _properties(report: VerifyReport) -> dict[str, str]:
    source, state = report.input, report.state
    selected, classes = source.selected, source.classes
    found = {
        "verdict": report.outcome.value,
        "alarm": gate_word(report) if ALARM in gate_word(report) else "",
        "inconclusive_counts_as": report.policy.value,
        "files": file_words(source.files),
        "score": source.score,
        "label": source.label or "",
        "weight": source.weight or "",
        "rows": str(source.rows),
        "dropped": str(source.dropped),
        "not_selected": "" if selected is None else f"{selected.unselected} ({selected.options()})",
        "not_opened": "" if selected is None or not selected.unopened else plural(selected.unopened, "file"),
        "other_predictions": "" if classes is None else str(classes.elsewhere),
        "artifact": report.artifact or "",
        "by": ", ".join(report.by),
        "state": "" if state is None else state.path,
        "state_rows": "" if state is None else str(state.rows),
        "state_batches": "" if state is None else str(state.batches),
        "calibcli": __version__,
    }
    notes = {f"note {number}": note for number, note in enumerate((*source.notes, *report.notes), start=1)}
    return {name: value for name, value in {**found, **notes}.items() if value}


def _set(settings: tuple[Setting, ...]) -> dict[str, str]:
    return {f"setting {one.key}": f"{one.shown} ({one.source})" for one in settings}


def _document(cases: list[ET.Element], properties: Mapping[str, str], *, output: str = "") -> str:
    failures, errors, skipped = (
        str(sum(case.find(tag) is not None for case in cases)) for tag in ("failure", "error", "skipped")
    )
    counts = {"tests": str(len(cases)), "failures": failures, "errors": errors}
    root = ET.Element("testsuites", {"name": "calibcli", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": SUITE, **counts, "skipped": skipped})
    listed = ET.SubElement(suite, "properties")
    for name, value in properties.items():
        ET.SubElement(listed, "property", name=name, value=printable(value))
    suite.extend(cases)
    if output:
        ET.SubElement(suite, "system-out").text = output
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'
