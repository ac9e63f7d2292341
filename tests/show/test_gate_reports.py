"""Reports of a gate for machines: read back by the readers of others, whatever names they hold."""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import xmlschema
from hypothesis import example, given
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as older_metrics

from calibcli.errors import InputProblem
from calibcli.names import Bound, GateFormat, Inconclusive, Relation, ReportFormat, VerdictName
from calibcli.reports.verify import GroupVerdicts, StateSummary, VerifyReport
from calibcli.shell.commands.gates import exit_code
from calibcli.show import text_of
from calibcli.show.ci import badness, cases_of, worst_first
from calibcli.show.ci import github as g
from calibcli.show.ci.junit import document_of, error_document
from calibcli.show.ci.openmetrics import error_metrics, metrics_of
from calibcli.show.words import beside, printable
from github_runner import commands_of, outputs_in

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))
NASTY = (
    "quote\"s, and 'others'",
    "a\nb\r\nc",
    "\x1b[31mred\x1b[0m",
    "]]><failure/>",
    "::error::owned",
    "##[error]owned",
    "\n::set-output name=verdict::pass",
    "a,title=b::c%0A%3A",
    "p|q`r`<b>&amp;",
    "nul\x00",
    "half\ud83d",
    "\ufffe\uffff",
    '"} 0\n# EOF\n',
    "back\\slash",
    "EOF\nverdict=pass",
    "\u2028\u202e\u00e9\u4e2d",
    "x" * 10_240,
)
NAMES = st.sampled_from(NASTY) | st.text(st.characters(), max_size=20)


def for_every_name(law: Callable[..., None]) -> Callable[..., None]:
    """Try a law of two names with every nasty one, and with some that nobody thought of."""
    tried = given(name=NAMES, other=NAMES)(law)
    for name in NASTY:
        tried = example(name=name, other="other")(tried)
    return tried


def written(kind: GateFormat, report: VerifyReport) -> str:
    """Return a report of a kind."""
    own = {
        GateFormat.JUNIT: document_of,
        GateFormat.OPENMETRICS: metrics_of,
        GateFormat.GITHUB: g.annotations_of,
    }
    return own[kind](report) if kind in own else text_of(report, ReportFormat(kind.value))


def parsed(text: str) -> ET.Element:
    """Return the root of an XML text of our own."""
    return ET.fromstring(text)  # noqa: S314


def grouped(report: VerifyReport, *groups: str, left_out: dict[str, int] | None = None) -> VerifyReport:
    """Return the report with the same verdicts on every one of some groups."""
    judged = {f"g={name}": GroupVerdicts(report.table, report.verdicts) for name in groups}
    return replace(report, by=("g",), groups=judged, left_out=left_out or {})


def poisoned(report: VerifyReport, name: str, other: str) -> VerifyReport:
    """Return the report with hostile words wherever a user may put words."""
    source = replace(report.input, files=(name, other), score=name, label=other, weight=name, notes=(name,))
    rules = {f"{key}{name}": verdict for key, verdict in report.verdicts.items()}
    state = StateSummary(name, 2, 50_000, 10, (other,), 3)
    whole = replace(report, input=source, artifact=name, verdicts=rules, notes=(name,), state=state)
    small = {f"h={name}": 7, f"h={printable(name)}": 8}
    return grouped(whole, *dict.fromkeys([name, other, printable(name)]), left_out=small)


@pytest.fixture(scope="module")
def several(reports: dict[str, Any]) -> VerifyReport:
    """Return a gate with a pass, a fail and an inconclusive rule."""
    return reports["verify_several"]


def test_junit_has_a_case_for_every_rule_and_group(several: VerifyReport) -> None:
    """As a reader of such files sees it, with the counts it would make itself."""
    report = grouped(several, "a", "b", left_out={"g=c": 7})
    suite = next(iter(JUnitXml.fromstring(written(GateFormat.JUNIT, report).encode())))
    found = [(case.classname, type(case.result[0]) if case.result else None) for case in suite]
    rules = [None, Failure, Error]
    assert found == [(g, r) for g in ("all", "g=a", "g=b") for r in rules] + [("g=c", Skipped)]
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (10, 3, 3, 1)
    assert [p.name for p in suite.properties()][:2] == ["verdict", "inconclusive_counts_as"]


def test_no_group_is_taken_for_all_rows(several: VerifyReport) -> None:
    """Whatever it is called."""
    groups = {"all": GroupVerdicts(several.table, several.verdicts)}
    assert {case.group for case in cases_of(replace(several, groups=groups))} == {"all", "all #2"}


def test_junit_repeats_the_whole_verdict(several: VerifyReport) -> None:
    """In the text of what did not pass, and of everything in the output."""
    root = parsed(written(GateFormat.JUNIT, several))
    failure, error = root.find(".//failure"), root.find(".//error")
    assert failure is not None
    assert error is not None
    assert failure.get("message", "").startswith("FAIL  ECE <= 0.02")
    for words in (
        "lower bound 0.02000001 at",
        "Valid at any sample size, if rows are independent; 15 equal-width bins",
        "Rule rule-2, group all.",
    ):
        assert words in (failure.text or "")
    assert "Too close to the limit to decide" in (error.text or "")
    assert "PASS  ECE <= 0.02" in root.findtext(".//system-out", "")


@pytest.mark.parametrize("outcome", VerdictName)
@pytest.mark.parametrize("policy", Inconclusive)
def test_reports_are_red_unless_the_exit_code_is_0(
    several: VerifyReport, outcome: VerdictName, policy: Inconclusive
) -> None:
    """JUnit holds a failure or an error, and GitHub an error, if and only if the command fails."""
    verdicts = {key: replace(verdict, outcome=outcome) for key, verdict in several.verdicts.items()}
    report = replace(several, verdicts=verdicts, policy=policy)
    red = exit_code(report.outcome, policy) != 0
    suites = JUnitXml.fromstring(written(GateFormat.JUNIT, report).encode())
    assert (suites.failures + suites.errors > 0) == red
    annotations = commands_of(written(GateFormat.GITHUB, report))
    assert any(one.name == "error" for one in annotations) == red
    assert annotations[0].name == ("error" if red else "notice" if outcome is VerdictName.PASS else "warning")


@for_every_name
def test_junit_of_hostile_names_is_read_back(several: VerifyReport, name: str, other: str) -> None:
    """Valid by the schema, with the cases there are, each name told apart and shown as it can be printed."""
    report = poisoned(several, name, other)
    text = written(GateFormat.JUNIT, report)
    assert text.encode("utf-8")
    SCHEMA.validate(text)
    cases = parsed(text).findall(".//testcase")
    assert len(cases) == len(report.every_verdict) + len(report.left_out)
    names = [(case.get("classname"), case.get("name")) for case in cases]
    assert len(set(names)) == len(names)
    shown = [case.get("classname", "") for case in cases]
    assert f"g={printable(name)}" in shown
    assert all(word.isprintable() for word in shown)
    values = {one.get("name"): one.get("value") for one in parsed(text).iter("property")}
    assert values.get("score", "") == printable(name)


@pytest.mark.parametrize("kind", GateFormat)
def test_verdicts_without_bounds_can_be_written(several: VerifyReport, kind: GateFormat) -> None:
    """By a value or a p-value alone, at least as well as at most, with a limit of 0, with no finite value."""
    plain = {"lower": None, "upper": None, "target": None, "partition": "", "fixed_design_upper": None}
    verdict = replace(several.verdicts["rule-2"], **plain)
    claims = [
        replace(verdict.claim, measure="ks", bound=Bound.P_VALUE, relation=Relation.AT_LEAST, limit=0.01),
        replace(verdict.claim, bound=Bound.VALUE, limit=0.0),
        replace(verdict.claim, measure="log_loss", bound=Bound.VALUE),
    ]
    values = (0.001, 0.1, math.inf)
    verdicts = {
        f"r{n}": replace(verdict, claim=claim, value=value)
        for n, (claim, value) in enumerate(zip(claims, values, strict=True))
    }
    report = replace(several, verdicts=verdicts)
    assert "ks.p" in written(kind, report) or kind in (GateFormat.MARKDOWN, GateFormat.OPENMETRICS)
    assert [case.rule for case in worst_first(cases_of(report))] == ["r2", "r0", "r1"]
    open_, few = (
        replace(verdict, outcome=VerdictName.INCONCLUSIVE, value=value, reason=reason)
        for value, reason in ((0.1, None), (0.9, "1 row is fewer than --min-rows 100"))
    )
    assert badness(open_) < badness(few)
    found = outputs_in(g.outputs_of(report, exit_code=1))
    assert (found["r0_p"], found["r0_lower"], found["r2_value"]) == ("0.001", "", "inf")
    metrics = samples(written(GateFormat.OPENMETRICS, report))
    assert metrics["calibcli_ks", frozenset({"rule": "r0", "group": "all", "bound": "p"}.items())] == 0.001


def test_junit_of_an_error_says_why() -> None:
    """A gate that never came to a verdict is one error with the line that the terminal shows."""
    text = error_document(InputProblem("a\x00.csv, column '\x1b': 3 of 7 values", "drop ]]> them"))
    SCHEMA.validate(text)
    suites = JUnitXml.fromstring(text.encode())
    assert (suites.tests, suites.errors, suites.failures) == (1, 1, 0)
    error = parsed(text).find(".//error")
    assert error is not None
    assert error.get("message") == r"a\x00.csv, column '\x1b': 3 of 7 values"
    assert error.text == rf"{error.get('message')}{chr(10)}hint: drop ]]> them"


def test_annotations_come_worst_first(several: VerifyReport) -> None:
    """Fails before what is undecided, and the farthest beyond its limit before the others."""
    worse = replace(several.verdicts["rule-2"], lower=0.07)
    groups = {"g=bad": GroupVerdicts(several.table, {"rule-2": worse})}
    report = replace(several, groups=groups)
    assert [case.group for case in worst_first(cases_of(report))] == ["g=bad", "all", "all", "all"]
    titles = [one.title for one in commands_of(written(GateFormat.GITHUB, report))]
    assert titles == [
        "calibcli: FAIL ece <= 0.02 (g=bad)",
        "calibcli: FAIL ece <= 0.02 (rule-2)",
        "calibcli: INCONCLUSIVE ece <= 0.02 (rule-3)",
    ]


def test_an_annotation_holds_the_verdict(reports: dict[str, Any]) -> None:
    """Line breaks and per cents survive the runner."""
    (one,) = commands_of(written(GateFormat.GITHUB, reports["verify_fail"]))
    assert one.message.split("\n")[0].startswith("FAIL  ECE <= 0.02  (0.1271; lower bound 0.02000001 at 95 %")
    assert "has a probability of at most 5 %." in one.message


@for_every_name
def test_annotations_of_hostile_names_stay_annotations(several: VerifyReport, name: str, other: str) -> None:
    """The runner reads one command a line, of the level and with the words that were meant."""
    report = poisoned(several, name, other)
    text = written(GateFormat.GITHUB, report)
    read = commands_of(text)
    assert len(read) == len(text.split("\n")) - 1
    wrong = [one for one in report.every_verdict if one[2].outcome is not VerdictName.PASS]
    assert [one.name for one in read] == ["error"] * len(wrong) + ["notice", "warning"]
    cases = [case for case in worst_first(cases_of(report)) if case.verdict.outcome is not VerdictName.PASS]
    for case, one in zip(cases, read, strict=False):
        where = "" if case.group == "all" else f" ({case.group})"
        title = f"calibcli: {case.verdict.outcome.value.upper()} {case.name}{where}"
        assert len(one.title) <= 200
        assert one.title == title or (
            len(one.title) == 200 and title.startswith(one.title.removesuffix(" ..."))
        )
    assert all(line.isprintable() for one in read for line in one.message.split("\n"))
    assert read[-1].message == printable(name) or len(name) > 1_000


@for_every_name
def test_outputs_of_hostile_names_are_read_back(several: VerifyReport, name: str, other: str) -> None:
    """No value reaches beyond its key, and every key can be written in a workflow."""
    report = poisoned(several, name, other)
    found = outputs_in(g.outputs_of(report, exit_code=1))
    assert (found["verdict"], found["exit_code"], found["rows"]) == ("fail", "1", "50000")
    assert all(re.fullmatch("[a-z][a-z0-9_]*", key) for key in found)
    assert len(found) == 6 + 4 * len(report.verdicts)
    assert len(found["message"].split("\n")) == int(found["failed"]) + int(found["inconclusive"])


def test_outputs_hold_each_bound(several: VerifyReport) -> None:
    """By the name of its rule, exactly; what does not exist is empty."""
    passed = replace(several.verdicts["max-ece"], lower=None)
    report = replace(several, verdicts={"smece.upper<=0.02": passed, "Smece.upper<=0,02": passed})
    found = outputs_in(g.outputs_of(report, exit_code=0))
    assert found["smece_upper_0_02"] == "pass"
    assert found["smece_upper_0_02_upper"] == "0.0137"
    assert found["smece_upper_0_02_lower"] == ""
    assert found["smece_upper_0_02_2_value"] == "0.0048"
    assert found["message"] == ""


def test_error_reports_for_github_say_why() -> None:
    """An annotation, an output and a summary, none of which the message can break out of."""
    problem = InputProblem("x::y\n::error::z, 100 % <b>", "do a|b")
    (one,) = commands_of(g.error_annotation(problem))
    assert (one.name, one.message) == ("error", "x::y\\n::error::z, 100 % <b>\nhint: do a|b")
    found = outputs_in(g.error_outputs(problem))
    assert (found["verdict"], found["exit_code"], found["message"]) == ("error", "3", one.message)
    assert (
        g.error_summary(problem) == "**No verdict: x::y\\\\n::error::z, 100 % &lt;b&gt;**\n\nhint: do a\\|b\n"
    )


def test_a_summary_begins_with_a_table_of_the_rules(several: VerifyReport) -> None:
    """A row for each rule and group, the worst first, whatever names hold; the report follows."""
    head, table, *rest = g.summary_of(several).split("\n\n")
    title, rule, *rows = table.split("\n")
    assert head.startswith("**")
    assert rest
    assert [row.split(" | ")[0] for row in rows] == ["| FAIL", "| INCONCLUSIVE", "| PASS"]
    for row, verdict in zip(rows, (one.verdict for one in worst_first(cases_of(several))), strict=True):
        found, limit = (verdict.value, verdict.lower, verdict.upper), verdict.claim.limit
        assert row.split(" | ")[3:6] == ["" if one is None else beside(one, limit) for one in found]
    for name in NASTY:
        report = grouped(several, name, "other")
        title, rule, *rows = g.summary_of(report).split("\n\n")[1].split("\n")
        assert len(rows) == len(cases_of(report))
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in (title, rule, *rows)} == {8}


def test_a_summary_too_long_for_github_is_cut_and_says_so() -> None:
    """At the end of a line, within the bytes that are taken."""
    text = "".join(f"line {number} \u00e9\u4e2d\n" for number in range(1_000))
    cut = g.cut_to(text, 2_000)
    assert len(cut.encode()) <= 2_000
    lines = cut.split("\n")
    assert lines[:3] == ["line 0 \u00e9\u4e2d", "line 1 \u00e9\u4e2d", "line 2 \u00e9\u4e2d"]
    assert all(line in text.split("\n") for line in lines[:-3])
    assert lines[-2].startswith("(Cut here: the whole has ")
    assert g.cut_to(text, 10**6) == text


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Return every sample, as both readers of Prometheus have it."""
    both = [
        {
            (sample.name, frozenset(sample.labels.items())): float(sample.value)
            for family in reader(text)
            for sample in family.samples
        }
        for reader in (open_metrics, older_metrics)
    ]
    assert repr(both[0]) == repr(both[1])
    return both[0]


def test_metrics_hold_bounds_limits_and_verdicts(several: VerifyReport) -> None:
    """Of all rows and of every group, as a monitor reads them; absent bounds are absent."""
    only = replace(several.verdicts["rule-2"], upper=None, value=math.inf)
    groups = {"g=b": GroupVerdicts(several.table, {"rule-2": only})}
    state = StateSummary("gate.json", 3, 1_200, 200)
    report = replace(several, groups=groups, left_out={"g=c": 7}, state=state)
    text = written(GateFormat.OPENMETRICS, report)
    found = samples(text)
    assert " +Inf\n" in text

    def one(name: str, **labels: str) -> float | None:
        return found.get((name, frozenset(labels.items())))

    assert one("calibcli_ece", rule="max-ece", group="all", bound="upper") == 0.0137
    assert one("calibcli_ece", rule="rule-2", group="g=b", bound="lower") == 0.020000012
    assert one("calibcli_ece", rule="rule-2", group="g=b", bound="upper") is None
    assert one("calibcli_ece", rule="rule-2", group="g=b", bound="value") == math.inf
    assert one("calibcli_verdict", rule="rule-2", group="g=b", verdict="fail") == 1.0
    assert one("calibcli_limit", rule="max-ece", group="all", measure="ece", relation="<=") == 0.02
    assert one("calibcli_judged_rows", rule="max-ece", group="all") == 50_000
    assert one("calibcli_left_out_rows", group="g=c") == 7
    assert one("calibcli_state_rows") == 1_200
    states = {name: one("calibcli_gate", verdict=name) for name in ("pass", "fail", "inconclusive", "error")}
    assert states == {"pass": 0.0, "fail": 1.0, "inconclusive": 0.0, "error": 0.0}


@for_every_name
def test_metrics_of_hostile_names_are_read_back(several: VerifyReport, name: str, other: str) -> None:
    """No label ends early, no two series are one, and the file ends where it should."""
    report = poisoned(several, name, other)
    text = written(GateFormat.OPENMETRICS, report)
    assert text.encode("utf-8")
    assert text.endswith("\n# EOF\n")
    found = samples(text)
    assert sum(key[0] == "calibcli_ece" for key in found) == 3 * len(report.every_verdict)
    groups = {dict(key[1])["group"] for key in found if key[0] == "calibcli_judged_rows"}
    assert f"g={printable(name)}" in groups
    assert len(groups) == 1 + len(report.groups)


def test_metrics_of_an_error_replace_an_old_pass() -> None:
    """Whoever watches the file sees that the gate did not answer."""
    found = samples(error_metrics())
    assert {dict(key[1])["verdict"]: value for key, value in found.items()} == {
        "pass": 0.0,
        "fail": 0.0,
        "inconclusive": 0.0,
        "error": 1.0,
    }


@pytest.mark.parametrize("kind", [GateFormat.MARKDOWN, GateFormat.JSON])
@pytest.mark.parametrize("name", NASTY)
def test_other_reports_of_hostile_names_can_be_written(
    several: VerifyReport, kind: GateFormat, name: str
) -> None:
    """They are those of `--format`, without letters that no file can hold."""
    text = written(kind, poisoned(several, name, name))
    assert text.encode("utf-8")
    assert "\x1b" not in text
    assert "\x00" not in text
