"""The page of `verify`: the verdict first, then what it means and what it rests on."""

from collections import Counter

from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS
from calibcli.names import Inconclusive, VerdictName
from calibcli.render.blocks import Block, Line, Listing, Page, Paragraph, Tone, paragraph
from calibcli.render.pages.header import (
    artifact_lines,
    note_lines,
    repair_lines,
    source_line,
    table_lines,
)
from calibcli.render.phrases import whose
from calibcli.render.words import about, beside, four, percent, plural
from calibcli.reports.verify import VerifyReport
from calibcli.verdicts.claim import RowsNeeded, Verdict

_TONES = {
    VerdictName.PASS: Tone.PASS,
    VerdictName.FAIL: Tone.FAIL,
    VerdictName.INCONCLUSIVE: Tone.INCONCLUSIVE,
}


def verify_page(report: VerifyReport, *, verbose: bool) -> Page:
    """Return the page of a gate; `verbose` adds the assumptions of every verdict."""
    verdicts = list(report.verdicts.items())
    blocks: list[Block] = [] if len(verdicts) == 1 else [_overall(report)]
    for key, verdict in verdicts:
        blocks.append(_verdict(verdict))
        if verbose:
            blocks.append(_details(key, verdict))
    return (*blocks, _bottom(report))


def _overall(report: VerifyReport) -> Paragraph:
    outcomes = Counter(verdict.outcome for verdict in report.verdicts.values())
    parts = ", ".join(f"{outcomes[name]} {name.value}" for name in VerdictName if outcomes[name])
    words = f"{report.outcome.value.upper()}  {plural(len(report.verdicts), 'rule')}: {parts or 'none'}"
    return paragraph(Line(words, _TONES[report.outcome]))


def _verdict(verdict: Verdict) -> Paragraph:
    limit = verdict.claim.limit
    claim = f"{verdict.claim.words} <= {limit:g}"
    upper, lower = beside(verdict.upper, limit), beside(verdict.lower, limit)
    confidence = f"at {percent(verdict.claim.confidence)} confidence"
    match verdict.outcome:
        case VerdictName.PASS:
            evidence = f"upper bound {upper} {confidence}"
        case VerdictName.FAIL:
            evidence = f"lower bound {lower} {confidence}"
        case VerdictName.INCONCLUSIVE:
            evidence = f"lower bound {lower} and upper bound {upper}, each {confidence}"
    headline = f"{verdict.outcome.value.upper()}  {claim}  ({beside(verdict.value, limit)}; {evidence})"
    return paragraph(
        Line(headline, _TONES[verdict.outcome]), _meaning(verdict), *_needed(verdict), *_footing(verdict)
    )


def _meaning(verdict: Verdict) -> str:
    """Return what was concluded, for whom, and how likely that is to be wrong."""
    if verdict.void is not None:
        return f"No bound holds for new rows: {verdict.void}."
    what = f"{verdict.claim.words} {whose(verdict.target)}"
    wrong = f"has a probability of at most {percent(1.0 - verdict.claim.confidence)}"
    limit = f"{verdict.claim.limit:g}"
    match verdict.outcome:
        case VerdictName.PASS:
            return f"The {what} is at most {limit}; a pass that is wrong {wrong}."
        case VerdictName.FAIL:
            return f"The {what} is above {limit}; a fail that is wrong {wrong}."
        case VerdictName.INCONCLUSIVE:
            why = verdict.reason or f"the bounds lie on both sides of {limit}"
            return f"Nothing is concluded about the {what}: {why}."


def _needed(verdict: Verdict) -> list[str]:
    """Return how many rows would decide, where rows would."""
    needed = verdict.needed
    if needed is None:
        return []
    if needed.within_noise:
        return [f"The estimate is within noise of the limit; {_at_best(needed, verdict.rows)}."]
    sentences = []
    truth = "if the error is what it looks like"
    if needed.to_pass is not None:
        sentences.append(
            f"About {about(needed.to_pass)} rows would pass {truth}; {_at_best(needed, verdict.rows)}."
        )
    if needed.to_fail is not None:
        sentences.append(f"About {about(needed.to_fail)} rows would fail {truth}.")
    return sentences


def _at_best(needed: RowsNeeded, rows: int) -> str:
    if needed.at_best <= 0:
        return "no number of rows can show an error of exactly 0"
    if needed.at_best <= rows:
        return (
            f"a perfectly calibrated score would have passed with about {about(needed.at_best)} of these rows"
        )
    return f"at best (if perfectly calibrated) about {about(needed.at_best)} rows would pass"


def _footing(verdict: Verdict) -> list[Line]:
    """Return how the bounds were found, what they do not say, and the bound that is for information only."""
    how = f"{verdict.partition}; {verdict.method}; {verdict.target.value}; {plural(verdict.rows, 'row')}"
    common = (INDEPENDENT_ROWS, HELD_OUT)
    scope = "; ".join(one for one in verdict.assumptions if not one.startswith(common))
    information = (
        f"For information: {verdict.claim.words} for these very scores (fixed-design) is at most "
        f"{four(verdict.fixed_design_upper)} at {percent(verdict.claim.confidence)} confidence."
    )
    lines = [f"How: {how}.", *([f"Scope: {scope}."] if scope else []), information]
    return [Line(line, Tone.FAINT) for line in lines]


def _details(key: str, verdict: Verdict) -> Listing:
    return Listing((("rule", key), *(("assumes", one) for one in verdict.assumptions)))


def _bottom(report: VerifyReport) -> Paragraph:
    policy = []
    if report.outcome is VerdictName.INCONCLUSIVE and report.policy is not Inconclusive.ERROR:
        policy.append(f"Inconclusive counts as {report.policy.value} (--inconclusive {report.policy.value}).")
    return paragraph(
        *policy,
        source_line(report.input),
        *table_lines(report.table),
        *artifact_lines(report.artifact),
        *repair_lines(report.input),
        *note_lines(report.notes),
    )
