"""
The report of a gate as JUnit XML, which every CI server reads.

Elements stand in the order that both published schemas ask for (properties, test cases, output). Nothing
in it depends on when or where it was written, so there are no times and no host. A file without a failure
and without an error is written if and only if the exit code is 0.
"""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import assert_never

from calibcli.errors import CalibcliError
from calibcli.reports.input import Setting
from calibcli.reports.verify import VerifyReport
from calibcli.show.answers import small_segments
from calibcli.show.ci.cases import NOTHING_JUDGED, Case, Light, cases_of, gate_word, group_names, light_of
from calibcli.show.pages import file_words
from calibcli.show.pages.verify import verdict_lines
from calibcli.show.words import ALARM, plural, printable
from calibcli.values import dataclass
from calibcli.version import __version__

SUITE = "calibcli verify"


@dataclass(frozen=True, slots=True)
class JunitRenderer:
    """Writes one test case for every rule and group; the text of each case is the whole verdict."""

    settings: tuple[Setting, ...] = ()

    def render(self, report: VerifyReport) -> str:
        """Return the report as XML."""
        cases = [_case(case) for case in cases_of(report)]
        names = group_names(report)
        least = report.least_group_rows
        cases += [_left_out(names[group], rows, least) for group, rows in report.left_out.items()]
        cases += [small for case in cases_of(report) for small in _small(case)]
        if not report.every_verdict:
            cases.append(_nothing_judged(light_of(report.outcome, report.policy)))
        said = "\n\n".join("\n".join(_said(case)) for case in cases_of(report))
        found = {**_properties(report), **_set(self.settings)}
        return _document(cases, properties=found, output=f"{said}\n")


def error_document(problem: CalibcliError, settings: tuple[Setting, ...] = ()) -> str:
    """Return XML for a gate that never came to a verdict, with the reason as its one error."""
    case = ET.Element("testcase", classname=SUITE, name="gate")
    words = [printable(problem.message), *([f"hint: {printable(problem.hint)}"] if problem.hint else [])]
    kind = type(problem).__name__
    ET.SubElement(case, "error", type=kind, message=words[0]).text = "\n".join(words)
    code = {"exit_code": str(problem.exit_code), "calibcli": __version__}
    return _document([case], properties={**code, **_set(settings)}, output="")


def _case(case: Case) -> ET.Element:
    element = ET.Element("testcase", classname=case.group, name=case.name)
    said = _said(case)
    kind = case.verdict.outcome.value
    tag = _tag(case.light)
    if tag is not None:
        ET.SubElement(element, tag, type=kind, message=said[0]).text = "\n".join(said)
    return element


def _tag(light: Light) -> str | None:
    """Return the element that shows a verdict; one left undecided is an error unless a policy says more."""
    match light:
        case Light.GREEN:
            return None
        case Light.GREY:
            return "skipped"
        case Light.UNDECIDED:
            return "error"
        case Light.RED:
            return "failure"
        case _:
            assert_never(light)


def _left_out(group: str, rows: int, least: int | None) -> ET.Element:
    """Return a case for a group that was listed and not judged, so that nobody takes it for passed."""
    element = ET.Element("testcase", classname=group, name="too few rows to be tested")
    message = f"{plural(rows, 'row')}: too few to be tested"
    if least is not None:
        message = f"{plural(rows, 'row')}: fewer than --min-group-rows {least}"
    ET.SubElement(element, "skipped", type="left out", message=message).text = message
    return element


def _small(case: Case) -> list[ET.Element]:
    """Return a case for segments that were counted and not judged, so that nobody takes them for passed."""
    judged = case.verdict.segments
    said = [] if judged is None else small_segments(case.verdict, judged)
    element = ET.Element("testcase", classname=case.group, name=f"{case.name}: too small to be tested")
    for message in said:
        ET.SubElement(element, "skipped", type="left out", message=message).text = message
    return [element] * len(said)


def _nothing_judged(light: Light) -> ET.Element:
    """Return a case for a gate that judged nothing, so that nobody takes that for a pass."""
    element = ET.Element("testcase", classname=SUITE, name="gate")
    tag = _tag(light)
    if tag is not None:
        ET.SubElement(element, tag, type="inconclusive", message=NOTHING_JUDGED).text = NOTHING_JUDGED
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
    """Return a property for each option that a file or a variable has set."""
    return {f"setting {one.key}": f"{one.shown} ({one.source})" for one in settings}


def _document(cases: list[ET.Element], *, properties: Mapping[str, str], output: str) -> str:
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
    }
    skipped = str(sum(case.find("skipped") is not None for case in cases))
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
