"""The report of a gate as GitHub's runner takes it: annotations, a summary of the step, and its outputs."""

import hashlib
import re
from collections.abc import Mapping

from calibcli.errors import CalibcliError
from calibcli.names import ReportFormat, VerdictName
from calibcli.options.numerals import plural
from calibcli.reports.input import Setting, settings_said
from calibcli.reports.verify import VerifyReport
from calibcli.show import text_of
from calibcli.show.ci import (
    ALL,
    NOTHING_JUDGED,
    Case,
    Light,
    cases_of,
    error_lines,
    gate_word,
    light_of,
    numbers_of,
    worst_first,
)
from calibcli.show.markup import escaped
from calibcli.show.pages.verify import value_words, verdict_lines
from calibcli.show.words import ALARM, beside, printable, verdict_word

# GitHub refuses a summary of more than 1 MiB whole, and shows 255 letters of a title.
MOST_SUMMARY_BYTES = 1_000_000
_MOST_TITLE = 200
_MOST_MESSAGE = 4_000
_CUT = " ..."


def annotations_of(report: VerifyReport, settings: tuple[Setting, ...] = ()) -> str:
    """Return one annotation for every verdict that is not a pass, the worst first; one notice if all pass."""
    cases = cases_of(report)
    lines = [_annotation(case) for case in worst_first(cases) if case.light is not Light.GREEN]
    if report.outcome is VerdictName.PASS:
        said = [f"{_where(case)}{_headline(case)}" for case in cases]
        lines.append(_command("notice", f"{gate_word(report)} {plural(len(cases), 'claim')}", *said))
    if not cases:
        light = light_of(report.outcome, report.policy)
        lines.append(_command(light.level, report.outcome.value.upper(), NOTHING_JUDGED))
    if report.left_out:
        words = f"{plural(len(report.left_out), 'group')} with too few rows, listed and not tested"
        lines.append(_command("notice", "not tested", words))
    lines += [_command("warning", "note", note) for note in report.notes]
    lines += _set(settings)
    return "".join(f"{line}\n" for line in lines)


def error_annotation(problem: CalibcliError, settings: tuple[Setting, ...] = ()) -> str:
    """Return the annotation of a gate that never came to a verdict, and what was set for it."""
    lines = [_command("error", "no verdict", *error_lines(problem)), *_set(settings)]
    return "".join(f"{line}\n" for line in lines)


def _set(settings: tuple[Setting, ...]) -> list[str]:
    said = settings_said(settings)
    return [_command("notice", "settings", *said)] if said else []


def summary_of(report: VerifyReport, settings: tuple[Setting, ...] = ()) -> str:
    """Return the Markdown of a step's summary: the verdict, a table of the rules, and the report.

    It is cut with a sentence where GitHub would refuse it whole.
    """
    whole = text_of(report, ReportFormat.MARKDOWN, settings=settings)
    first, _, rest = whole.partition("\n\n")
    rows = ["| verdict | rule | group | found | lower | upper | rows |", "|---|---|---|---:|---:|---:|---:|"]
    rows += [_row(case) for case in worst_first(cases_of(report))]
    return cut_to("\n\n".join([first, "\n".join(rows), rest]), MOST_SUMMARY_BYTES)


def _row(case: Case) -> str:
    verdict = case.verdict
    bounds = (
        "" if one is None else beside(one, verdict.claim.limit) for one in (verdict.lower, verdict.upper)
    )
    found = [value_words(verdict), *bounds]
    words = [verdict_word(verdict), escaped(case.name), escaped(case.group), *found, f"{verdict.rows:,}"]
    return f"| {' | '.join(words)} |"


def error_summary(problem: CalibcliError, settings: tuple[Setting, ...] = ()) -> str:
    first, *rest = error_lines(problem)
    lines = [f"**No verdict: {escaped(first)}**", *map(escaped, (*rest, *settings_said(settings)))]
    return cut_to("\n\n".join(lines) + "\n", MOST_SUMMARY_BYTES)


def outputs_of(report: VerifyReport, *, exit_code: int) -> str:
    """The outputs of the step: the verdict, the counts, and what was found for all rows by each rule."""
    cases = cases_of(report)
    outcomes = [case.verdict.outcome for case in cases]
    undecided = [case for case in worst_first(cases) if case.verdict.outcome is not VerdictName.PASS]
    found = {
        "verdict": report.outcome.value,
        **({"alarm": gate_word(report)} if ALARM in gate_word(report) else {}),
        "exit_code": str(exit_code),
        "rows": str(report.table.rows),
        "failed": str(outcomes.count(VerdictName.FAIL)),
        "inconclusive": str(outcomes.count(VerdictName.INCONCLUSIVE)),
        "message": "\n".join(f"{_where(case)}{_headline(case)}" for case in undecided),
    }
    for case in cases:
        if case.group == ALL:
            name, numbers = _key(case.rule, found), numbers_of(case.verdict)
            found[name] = case.verdict.outcome.value
            found |= {
                f"{name}_{end}": "" if one is None else repr(float(one)) for end, one in numbers.items()
            }
    return _key_values(found)


def error_outputs(problem: CalibcliError) -> str:
    found = {
        "verdict": "error",
        "exit_code": str(problem.exit_code),
        "message": "\n".join(error_lines(problem)),
    }
    return _key_values(found)


def cut_to(text: str, most: int) -> str:
    """Return the text, cut at the end of a line with a sentence that says so if it has too many bytes."""
    content = text.encode("utf-8")
    if len(content) <= most:
        return text
    said = f"\n\n(Cut here: the whole has {len(content):,} bytes and GitHub takes {most:,}.)\n"
    kept = content[: most - len(said)]
    return kept[: kept.rfind(b"\n") + 1].decode("utf-8", "ignore").rstrip("\n") + said


def _annotation(case: Case) -> str:
    word = verdict_word(case.verdict)
    return _command(case.light.level, f"{word} {case.name}{_of(case)}", *_lines(case))


def _command(level: str, title: str, *lines: str) -> str:
    """Return a workflow command whose title and lines the runner reads back letter for letter."""
    title = _short(printable(f"calibcli: {title}"), _MOST_TITLE)
    words = "\n".join(_short(printable(line), _MOST_MESSAGE) for line in lines)
    return f"::{level} title={_property(title)}::{_message(words)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(_CUT)] + _CUT


def _of(case: Case) -> str:
    return "" if case.group == ALL else f" ({case.group})"


def _where(case: Case) -> str:
    return "" if case.group == ALL else f"{case.group}: "


def _lines(case: Case) -> list[str]:
    where = [] if case.group == ALL else [f"Group {case.group}."]
    return [*where, *verdict_lines(case.verdict)]


def _headline(case: Case) -> str:
    return verdict_lines(case.verdict)[0]


def _key(rule: str, found: Mapping[str, str]) -> str:
    """Return the name of a rule as expressions of a workflow can write it, and that is not taken yet."""
    name = re.sub("[^A-Za-z0-9]+", "_", rule).strip("_").lower() or "rule"
    name = name if name[0].isalpha() else f"rule_{name}"
    numbered, number = name, 1
    while any(key == numbered or key.startswith(f"{numbered}_") for key in found):
        number += 1
        numbered = f"{name}_{number}"
    return numbered


def _key_values(found: Mapping[str, str]) -> str:
    return "".join(
        f"{key}={value}\n" if "\n" not in value else _block(key, value) for key, value in found.items()
    )


def _block(key: str, value: str) -> str:
    """Return a value of several lines between two marks that are none of them."""
    mark = f"end_{hashlib.sha256(value.encode('utf-8')).hexdigest()[:32]}"
    return f"{key}<<{mark}\n{value}\n{mark}\n"
