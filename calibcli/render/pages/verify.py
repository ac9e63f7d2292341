"""The page of `verify`: the verdict first, then what it means and what it rests on."""

from collections import Counter

from calibcli.gate_names import Inconclusive
from calibcli.names import VerdictName
from calibcli.render.blocks import Block, Line, Listing, Page, Paragraph, Tone, paragraph
from calibcli.render.pages.header import (
    artifact_lines,
    note_lines,
    repair_lines,
    source_line,
    table_lines,
    view_lines,
)
from calibcli.render.pages.verdict import TONES, verdict_paragraph
from calibcli.render.words import count, percent, plural, quoted
from calibcli.reports.verify import StateSummary, VerifyReport
from calibcli.verdicts.claim import Verdict


def verify_page(report: VerifyReport, *, verbose: bool) -> Page:
    """Return the page of a gate; `verbose` adds the assumptions of every verdict, and lists every group."""
    verdicts = list(report.verdicts.items())
    blocks: list[Block] = [] if len(report.every_verdict) == 1 else [_overall(report)]
    for key, verdict in verdicts:
        blocks.append(verdict_paragraph(verdict))
        if verbose:
            blocks.append(_details(key, verdict))
    if report.by:
        from calibcli.render.pages.verify_groups import group_blocks

        blocks.extend(group_blocks(report, verbose=verbose))
    return (*blocks, _bottom(report))


def verdict_lines(verdict: Verdict) -> tuple[str, ...]:
    """Return what is said of one verdict in plain words, the headline first."""
    return tuple(line.text for line in verdict_paragraph(verdict).lines)


def _overall(report: VerifyReport) -> Paragraph:
    outcomes = Counter(verdict.outcome for _, _, verdict in report.every_verdict)
    parts = ", ".join(f"{outcomes[name]} {name.value}" for name in VerdictName if outcomes[name])
    what = plural(len(report.rules), "rule")
    if report.groups:
        every = "all rows and " if report.verdicts else ""
        what += f" in {every}{plural(len(report.groups), 'group')}"
    words = f"{report.outcome.value.upper()}  {what}: {parts or 'none'}"
    return paragraph(Line(words, TONES[report.outcome]), *_correction(report))


def _correction(report: VerifyReport) -> list[Line]:
    """Return what judging several claims together does to the confidence of each."""
    claims = report.claims
    if not claims or claims[0].fail_confidence is None:
        return []
    one = claims[0]
    passes, fails = percent(one.confidence), percent(one.confidence_of_fail)
    return [
        Line(
            f"All {count(len(claims))} claims must pass, so each may pass at {passes}; any of them may fail, "
            f"so each fails at {fails} only (Bonferroni).",
            Tone.FAINT,
        )
    ]


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
        *view_lines(report.input),
        *artifact_lines(report.artifact),
        *_state_lines(report.state),
        *repair_lines(report.input),
        *note_lines(report.notes),
    )


def _state_lines(state: StateSummary | None) -> list[Line]:
    """Return what the state holds, and what of these rows it held before."""
    if state is None:
        return []
    held = f"{plural(state.rows, 'row')} in {_batches(state.batches)}"
    lines = [Line(f"state {quoted(state.path)}: {held}, {count(state.new_rows)} of them new")]
    if state.known_rows or state.known:
        before = f"{plural(state.known_rows, 'row')} counted before and not again"
        lines.append(Line(f"note: {before}", Tone.NOTE))
    return lines


def _batches(number: int) -> str:
    return "1 batch" if number == 1 else f"{count(number)} batches"
