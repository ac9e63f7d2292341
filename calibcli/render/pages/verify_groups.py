"""What the page of `verify` says of groups: the worst first, and why a fail asks for more than a pass."""

from calibcli.gate_names import Bound
from calibcli.names import VerdictName
from calibcli.render.blocks import Block, Column, Grid, Line, Tone, paragraph
from calibcli.render.gates.cases import Case, cases_of, worst_first
from calibcli.render.pages.verdict import claim_words
from calibcli.render.words import NONE, about, beside, count, listed, plural, quoted
from calibcli.reports.verify import VerifyReport
from calibcli.verdicts.claim import RowsNeeded, Verdict
from calibcli.verdicts.outcome import FEWER

MOST_ROWS = 20
_MOST_LISTED = 5
_HOW_LEFT_OUT = "--min-group-rows N leaves groups of fewer than N rows out of the verdict."


def group_blocks(report: VerifyReport, *, verbose: bool) -> tuple[Block, ...]:
    """
    Return the groups of a gate as one table, the worst first.

    Args:
        report: What was found.

        verbose: Whether to list every verdict, however many there are; else those that passed are counted
            where they would fill the screen.
    """
    if not report.by:
        return ()
    title = Line(f"Groups by {listed(quoted(column) for column in report.by)}", Tone.TITLE)
    left_out = [Line(f"note: {_left_out(report)}", Tone.NOTE)] if report.left_out else []
    cases = worst_first(cases_of(report)[len(report.verdicts) :])
    if not cases:
        return (paragraph(title, *left_out),)
    shown = cases if verbose else _shown(cases)
    several = len(report.rules) > 1
    claims = [Column("claim")] if several else []
    columns = (
        Column("group"),
        Column("rows", numeric=True),
        *claims,
        Column("verdict"),
        Column("value"),
        Column("lower bound"),
        Column("upper bound"),
        Column("why"),
    )
    rows = tuple(_cells(case, several=several) for case in shown)
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], tuple(row[:-1] for row in rows)
    small = [Line(_HOW_LEFT_OUT, Tone.FAINT)] if any(map(_of_few_rows, cases)) else []
    hidden = len(cases) - len(shown)
    more = (
        [Line(f"{plural(hidden, 'more verdict')} passed; -v lists every one.", Tone.FAINT)] if hidden else []
    )
    return (paragraph(title, *left_out), Grid(columns, rows, (*small, *more)))


def _shown(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """Return every case that did not pass, and as many others as fill the table."""
    open_cases = sum(case.verdict.outcome is not VerdictName.PASS for case in cases)
    return cases[: max(MOST_ROWS, open_cases)]


def _cells(case: Case, *, several: bool) -> tuple[str, ...]:
    verdict = case.verdict
    limit = verdict.claim.limit
    lower, upper = (NONE if one is None else beside(one, limit) for one in (verdict.lower, verdict.upper))
    return (
        case.group,
        count(verdict.rows),
        *([claim_words(verdict.claim)] if several else []),
        verdict.outcome.value.upper(),
        beside(verdict.value, limit),
        lower,
        upper,
        _why(verdict),
    )


def _why(verdict: Verdict) -> str:
    """Return what a reader would ask about a verdict, in few words."""
    if verdict.void is not None or verdict.reason is not None:
        return verdict.void or verdict.reason or ""
    if verdict.needed is not None:
        return _needed(verdict.needed, verdict.rows)
    if verdict.outcome is VerdictName.PASS and verdict.claim.only_not_refuted:
        return "the contrary is not shown"
    return "the estimate alone" if verdict.claim.bound is Bound.VALUE else ""


def _needed(needed: RowsNeeded, rows: int) -> str:
    if needed.to_pass is not None:
        return f"about {about(needed.to_pass)} rows would pass"
    if needed.to_fail is not None:
        return f"about {about(needed.to_fail)} rows would fail"
    if needed.at_best > rows:
        return f"within noise; at best {about(needed.at_best)} rows would pass"
    return "within noise of the limit"


def _of_few_rows(case: Case) -> bool:
    return FEWER in (case.verdict.reason or "")


def _left_out(report: VerifyReport) -> str:
    few = sorted(report.left_out.items(), key=lambda one: (-one[1], one[0]))
    listing = ", ".join(f"{key} ({count(rows)})" for key, rows in few[:_MOST_LISTED])
    more = f" and {count(len(few) - _MOST_LISTED)} more" if len(few) > _MOST_LISTED else ""
    return (
        f"{plural(len(few), 'group')} of fewer than {plural(report.least_group_rows or 1, 'row')} "
        f"(--min-group-rows) {'is' if len(few) == 1 else 'are'} not judged: {listing}{more}"
    )
