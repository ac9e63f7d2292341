"""The page of `verify`: the verdict first, then what it means and what it rests on."""

import math
from collections import Counter
from collections.abc import Callable
from itertools import accumulate

from calibcli.names import Bound, GroupOrder, Inconclusive, Relation, VerdictName
from calibcli.options.numerals import in_full, percent, plural
from calibcli.reports.verify import StateSummary, VerifyReport
from calibcli.show import words
from calibcli.show.answers import answer_of, roughly, segment_name, verdict_sentences, why_open, worth_of
from calibcli.show.blocks import (
    Block,
    Cells,
    Column,
    Line,
    Listing,
    Page,
    Paragraph,
    Tone,
    grid_of,
    paragraph,
)
from calibcli.show.ci import Case, cases_of, worst_first
from calibcli.show.pages import left_out_words, read_lines
from calibcli.stats.gates.claim import (
    FEWER,
    Claim,
    Evidence,
    JudgedSegment,
    JudgedSegments,
    RowsNeeded,
    Verdict,
)
from calibcli.stats.measures import HELD_OUT, INDEPENDENT_ROWS

TONES = {
    VerdictName.PASS: Tone.PASS,
    VerdictName.FAIL: Tone.FAIL,
    VerdictName.INCONCLUSIVE: Tone.INCONCLUSIVE,
}

# Beyond this, log(1,000,000), only the power of ten is told.
_MOST_TOLD = math.log(1e6)


def verdict_paragraph(verdict: Verdict, *, verbose: bool) -> Paragraph:
    """Return what is said of one verdict, the headline first; `verbose` also how its bounds were found."""
    claim = verdict.claim
    headline = f"{verdict.outcome.value.upper()}  {claim_words(claim)}  ({evidence_words(verdict)})"
    if verdict.evidence is not None and verdict.evidence.log_pass is None:
        headline = _alarm_headline(verdict)
    return paragraph(
        Line(headline, TONES[verdict.outcome]),
        *verdict_sentences(verdict),
        *_beside_bounds(verdict),
        *_gathered(verdict.evidence),
        *_footing(verdict, verbose=verbose),
    )


def _alarm_headline(verdict: Verdict) -> str:
    claim = verdict.claim
    raised, since = verdict.outcome is VerdictName.FAIL, verdict.evidence and verdict.evidence.since
    name = words.field_name(claim.measure)
    watched = f"{name} {'above' if raised else 'not shown to be above'} {in_full(claim.limit)}"
    if claim.limit == 0.0:
        watched = "no longer calibrated" if raised else "not shown to be miscalibrated"
    value = words.beside(verdict.value, claim.limit)
    over_all = f"over all {plural(verdict.rows, 'row')} the {name} is {value}"
    start = f"since {since.named} " if since else ""
    return f"{words.verdict_word(verdict)}  {start}{watched}  ({over_all})"


def claim_words(claim: Claim) -> str:
    """Return the claim in one line: of a measure by its name, of an end or a p-value as rules have it."""
    plain = f"{words.field_name(claim.measure)} {claim.relation.value} {in_full(claim.limit)}"
    return claim.expression if "." in claim.expression.split(" ")[0] else plain


def evidence_words(verdict: Verdict) -> str:
    """Return the estimate, and the bounds that decide with their confidence."""
    claim, limit = verdict.claim, verdict.claim.limit
    if claim.bound is Bound.P_VALUE:
        return f"p {words.p_equals(verdict.value, verdict.p_method, limits=[limit])}"
    value = words.beside(verdict.value, limit)
    if claim.bound is Bound.VALUE:
        return f"{value}; only the estimate counts, without confidence"
    lower, upper = (_bound(verdict, end) for end in (Bound.LOWER, Bound.UPPER))
    at_most = claim.relation is Relation.AT_MOST
    kept, broken = (upper, lower) if at_most else (lower, upper)
    levels = (claim.confidence, claim.confidence_of_fail)
    passes, fails = (f"at {roughly(verdict)}{percent(one)} confidence" for one in levels)
    match verdict.outcome:
        case VerdictName.PASS if not claim.only_not_refuted:
            return f"{value}; {kept} {passes}"
        case VerdictName.PASS | VerdictName.FAIL:
            return f"{value}; {broken} {fails}"
        case VerdictName.INCONCLUSIVE if passes == fails:
            return f"{value}; {lower} and {upper}, each {passes}"
        case VerdictName.INCONCLUSIVE:
            first, second = (fails, passes) if at_most else (passes, fails)
            return f"{value}; {lower} {first} and {upper} {second}"


def value_words(verdict: Verdict) -> str:
    """Return the estimate or the p-value, on its side of the limit."""
    limit = verdict.claim.limit
    if verdict.claim.bound is Bound.P_VALUE:
        return words.p_words(verdict.value, verdict.p_method, limits=[limit])
    return words.beside(verdict.value, limit)


def _bound(verdict: Verdict, end: Bound) -> str:
    bound = verdict.lower if end is Bound.LOWER else verdict.upper
    if bound is None:
        return f"no {end.value} bound"
    return f"{end.value} bound {words.beside(bound, verdict.claim.limit)}"


def _beside_bounds(verdict: Verdict) -> list[str]:
    """Return what is to be said of a pass or a fail beside its bounds."""
    reason, passed = verdict.reason, verdict.outcome is VerdictName.PASS
    # That a pass is no proof has been said already, and so has why nothing was concluded.
    told = verdict.outcome is VerdictName.INCONCLUSIVE or (passed and verdict.claim.only_not_refuted)
    if reason is None or told:
        return []
    return [f"{words.capital(reason)}."]


def _gathered(evidence: Evidence | None) -> list[str]:
    """Return how the bets of a gate that may be asked again stand."""
    if evidence is None:
        return []
    failing, enough = _wealth(evidence.log_fail), f"{math.exp(evidence.threshold):.6g}"
    so_far = f"after {plural(evidence.looks, 'check')}" if evidence.looks else "so far"
    if evidence.log_pass is None:
        lines = [f"Evidence against calibration {so_far}: {failing}; the alarm rings at {enough}."]
    else:
        stand = f"PASS {_wealth(evidence.log_pass)} of the {enough} needed, FAIL {failing} of {enough}"
        lines = [f"Evidence {so_far}: {stand}."]
    if evidence.passed_at is not None:
        lines.append(f"Passed at {plural(evidence.passed_at, 'row')}.")
    if evidence.failed_at is not None:
        lines.append(f"Failed at {plural(evidence.failed_at, 'row')}.")
    return lines


def _wealth(log: float) -> str:
    """Return a number from its logarithm; of a very large one the power of ten is enough."""
    if _MOST_TOLD < log < math.inf:
        return f"over 10^{math.floor(log / math.log(10.0))}"
    return words.three(math.exp(log)) if log <= _MOST_TOLD else "infinity"


def _footing(verdict: Verdict, *, verbose: bool) -> list[Line]:
    """Return what the bounds are worth, what they do not say, and the bound that is for information only."""
    target = "" if verdict.target is None else verdict.target.value
    rough = "" if verdict.finite_sample or verdict.claim.bound is Bound.VALUE else "approximate"
    how = "; ".join(
        one for one in (verdict.partition, verdict.method, target, rough, plural(verdict.rows, "row")) if one
    )
    common = (INDEPENDENT_ROWS, HELD_OUT)
    scope = "; ".join(one for one in verdict.assumptions if not one.startswith(common))
    lines = [f"How: {how}." if verbose else _worth(verdict), *([f"Scope: {scope}."] if scope else [])]
    if verbose and verdict.fixed_design_upper is not None:
        name, bound = words.field_name(verdict.claim.measure), words.four(verdict.fixed_design_upper)
        sure = f"is at most {bound} at {percent(verdict.claim.confidence)} confidence"
        lines.append(f"For information: the {name} for these very scores (fixed-design) {sure}.")
    return [Line(line, Tone.FAINT) for line in lines]


def _worth(verdict: Verdict) -> str:
    """Return what a reader may rely on, over which bins, and of how many rows."""
    bounded = verdict.target is not None or verdict.claim.bound is Bound.P_VALUE
    exact = verdict.finite_sample and bounded
    when = "at any sample size" if exact else "as an approximation for many rows"
    if any(one.startswith(INDEPENDENT_ROWS) for one in verdict.assumptions):
        when += ", if rows are independent"
    if verdict.claim.bound is Bound.VALUE or verdict.void is not None:
        when = "for these rows alone"
    of = "; ".join(one for one in (verdict.partition, plural(verdict.rows, "row")) if one)
    return f"Valid {when}; {of}."


def verify_page(report: VerifyReport, *, verbose: bool) -> Page:
    """Return the page of a gate; `verbose` adds the assumptions of every verdict, and lists every group."""
    verdicts = list(report.verdicts.items())
    blocks: list[Block] = [] if len(report.every_verdict) == 1 else [_overall(report)]
    for key, verdict in verdicts:
        blocks.append(verdict_paragraph(verdict, verbose=verbose))
        if verdict.segments is not None:
            blocks.extend(segment_blocks(verdict, verdict.segments, verbose=verbose))
        if verbose:
            blocks.append(Listing((("rule", key), *(("assumes", one) for one in verdict.assumptions))))
    if report.by:
        blocks.extend(group_blocks(report, verbose=verbose))
    return (*blocks, _bottom(report, verbose=verbose))


def verdict_lines(verdict: Verdict) -> tuple[str, ...]:
    """Return what is said of one verdict in plain words, the headline first."""
    return tuple(line.text for line in verdict_paragraph(verdict, verbose=False).lines)


def _overall(report: VerifyReport) -> Paragraph:
    outcomes = Counter(verdict.outcome for _, _, verdict in report.every_verdict)
    parts = ", ".join(f"{outcomes[name]} {name.value}" for name in VerdictName if outcomes[name])
    what = plural(len(report.rules), "rule")
    if report.groups:
        every = "all rows and " if report.verdicts else ""
        what += f" in {every}{plural(len(report.groups), 'group')}"
    headline = f"{report.outcome.value.upper()}  {what}: {parts or 'none'}"
    return paragraph(Line(headline, TONES[report.outcome]), *answer_of(report)[1:], *_correction(report))


def _correction(report: VerifyReport) -> list[Line]:
    """Return what judging several claims together does to the confidence of each."""
    claims = report.claims
    lines = _tests_together(report)
    if not claims or claims[0].fail_confidence is None:
        return lines
    one = claims[0]
    passes, fails = percent(one.confidence), percent(one.confidence_of_fail)
    # Values alone and tests must pass as well, at no confidence.
    bounded = "" if len(claims) == len(report.every_verdict) else " with bounds"
    every = f"{words.all_of(len(claims))} claims{bounded}"
    return [
        Line(
            f"{every} must pass, so a pass of each needs {passes} confidence. "
            f"One fail is enough, so a fail needs {fails} (Bonferroni).",
            Tone.FAINT,
        ),
        *lines,
    ]


def _tests_together(report: VerifyReport) -> list[Line]:
    """Return that several tests are not adjusted, and at which level each would hold for all at once."""
    claims = [verdict.claim for _, _, verdict in report.every_verdict]
    tests = [one for one in claims if one.bound is Bound.P_VALUE and one.relation is Relation.AT_LEAST]
    if len(tests) < 2 or not any(one.limit for one in tests):
        return []
    together = min(1.0, sum(one.limit for one in tests))
    how = f"with calibrated scores at least one of them fails with a probability of up to {percent(together)}"
    lines = [f"The {words.count(len(tests))} tests are not adjusted: {how}."]
    alike = len({(one.measure, one.limit) for one in tests}) == 1
    if alike and tests[0].limit > 0.0:
        each = tests[0].limit / len(tests)
        step = 10.0 ** (math.floor(math.log10(each)) - 1)
        rule = f"{tests[0].measure}.p>={math.floor(each / step) * step:.2g}"
        lines.append(f"To hold {percent(tests[0].limit)} for all at once write --rule '{rule}' (Bonferroni).")
    return [Line(" ".join(lines), Tone.FAINT)]


def _bottom(report: VerifyReport, *, verbose: bool) -> Paragraph:
    policy = []
    if report.outcome is VerdictName.INCONCLUSIVE and report.policy is not Inconclusive.ERROR:
        policy.append(f"Inconclusive counts as {report.policy.value} (--inconclusive {report.policy.value}).")
    return paragraph(*policy, *read_lines(report, *_state_lines(report), verbose=verbose))


def _state_lines(report: VerifyReport) -> list[Line]:
    """Return what the state holds, and what of these rows it held before."""
    state = report.state
    if state is None:
        return []
    held = f"{plural(state.rows, 'row')} in {plural(state.batches, 'batch')}"
    lines = [Line(f"state {words.quoted(state.path)}: {held}, {words.count(state.new_rows)} of them new")]
    if state.known_rows or state.known:
        before = f"{plural(state.known_rows, 'row')} counted before and not again"
        lines.append(Line(f"note: {before}", Tone.NOTE))
    # Each value by itself, or over bins: as the verdict names it.
    measure = next((one.measure for one in report.claims), "binned_ece")
    looked = any(one.evidence is not None and one.evidence.looks for one in report.verdicts.values())
    return [*lines, *_own_lines(state, words.field_name(measure), looked=looked)]


def _own_lines(state: StateSummary, measure: str, *, looked: bool) -> list[Line]:
    """Return how far off the last batch is by itself, if any came last, and which ones chance hardly
    explains.
    """
    if not state.own_errors or state.batches < 2:
        return []
    lines = []
    if looked:
        *_, (name, own) = state.own_errors.items()
        usual = f"calibrated scores usually show up to {words.four(own.by_chance)}"
        lines.append(
            Line(f"last batch alone, {words.quoted(name)}: {measure} {words.four(own.value)} ({usual})")
        )
    out = [(one, error) for one, error in state.own_errors.items() if error.stands_out]
    if out:
        few = [f"{words.quoted(one)} ({words.four(error.value)})" for one, error in out]
        shown = words.first_of(few, _MOST_BATCHES)
        many = f"{plural(len(out), 'batch', 'stands')} out"
        why = "at most 1 of 1,000 calibrated batches has such an error"
        lines.append(Line(f"note: {many}: {shown}; {why}", Tone.NOTE))
    return lines


# Of batches that stand out so many are named.
_MOST_BATCHES = 8


MOST_ROWS = 20

_HOW_LEFT_OUT = "--min-group-rows N leaves groups of fewer than N rows out of the verdict."


def group_blocks(report: VerifyReport, *, verbose: bool) -> tuple[Block, ...]:
    """Return the groups of a gate as one table, the worst first unless another order was asked for."""
    title = Line(f"Groups by {words.listed(words.quoted(column) for column in report.by)}", Tone.TITLE)
    few = left_out_words(report.left_out, report.least_group_rows or 1, done="tested")
    left_out = [Line(f"note: {few}", Tone.NOTE)] if report.left_out else []
    cases = cases_of(report)[len(report.verdicts) :]
    if report.order is GroupOrder.WORST:
        cases = worst_first(cases)
    if not cases:
        return (paragraph(title, *left_out),)
    shown = cases if verbose else _shown(cases)
    claim = Column("claim", key=True)
    cells: Cells[Case] = {
        "group": lambda one: one.group,
        Column("rows", numeric=True): lambda one: words.count(one.verdict.rows),
        claim: lambda one: claim_words(one.verdict.claim),
        "verdict": lambda one: one.verdict.outcome.value.upper(),
        "value": lambda one: value_words(one.verdict),
        "lower bound": lambda one: _beside(one.verdict.lower, one.verdict),
        "upper bound": lambda one: _beside(one.verdict.upper, one.verdict),
        "why": lambda one: _why(one.verdict),
    }
    if len(report.rules) < 2:
        del cells[claim]
    if all(one.verdict.lower is one.verdict.upper is None for one in shown):
        del cells["lower bound"], cells["upper bound"]
    if not any(_why(one.verdict) for one in shown):
        del cells["why"]
    notes = [_HOW_LEFT_OUT] if any(FEWER in (case.verdict.reason or "") for case in cases) else []
    hidden = len(cases) - len(shown)
    notes += [f"{plural(hidden, 'more verdict')} passed; -v lists every one."] if hidden else []
    return (paragraph(title, *left_out), grid_of(shown, cells, notes))


def _beside(bound: float | None, verdict: Verdict) -> str:
    return words.NONE if bound is None else words.beside(bound, verdict.claim.limit)


def _shown(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """Return every case that did not pass, and as many others as fill the table."""
    passed = [case.verdict.outcome is VerdictName.PASS for case in cases]
    room = MOST_ROWS - passed.count(False)
    return tuple(
        case
        for case, ok, before in zip(cases, passed, accumulate(passed), strict=True)
        if not ok or before <= room
    )


# Segments that did not pass and are in the table, unless more is asked for.
_MOST_SEGMENTS = 10
_JUDGED_BY = (
    "At least: valid for all segments at once, because one can fail the gate. At most: valid for each alone."
)
_FEWER_SEGMENTS = (
    "To decide the open segments collect more rows, or choose fewer segments before you see new rows: "
    "--min-segment-rows, --depth."
)


def segment_blocks(verdict: Verdict, judged: JudgedSegments, *, verbose: bool) -> tuple[Block, ...]:
    """Return the segments that failed or are open as one table, the worst first, or all that were judged."""
    every = judged.segments
    undecided = [one for one in every if one.outcome is not VerdictName.PASS]
    shown = every if verbose else undecided[:_MOST_SEGMENTS]
    if not shown:
        return ()
    of_other, by_p = judged.least_spread is not None, verdict.claim.bound is Bound.P_VALUE
    cells: Cells[JudgedSegment] = {
        Column("rows", numeric=True): lambda one: words.count(one.rows),
        "verdict": lambda one: one.outcome.value.upper(),
        "predicted": lambda one: words.three(one.mean_score),
        "observed": lambda one: words.three(one.observed_rate),
        "off by": lambda one: words.three(abs(one.bias)) if of_other else _beside(abs(one.bias), verdict),
        **({worth_of(verdict.claim): _worth_cell(verdict)} if of_other else {}),
        **(
            {}
            if by_p
            else {
                "at least": lambda one: _beside(one.lower, verdict),
                "at most": lambda one: _beside(one.upper, verdict),
            }
        ),
        "segment": segment_name,
    }
    hidden = len(undecided) - len(shown)
    notes = [_JUDGED_BY] if any(one.lower is not None for one in shown) else []
    if hidden > 0:
        notes.append(f"{plural(hidden, 'more segment')} did not pass; -v lists every one.")
    if any(one.outcome is VerdictName.INCONCLUSIVE for one in every):
        notes.append(_FEWER_SEGMENTS)
    return (grid_of(shown, cells, notes),)


def _worth_cell(verdict: Verdict) -> Callable[[JudgedSegment], str]:
    if verdict.claim.bound is Bound.P_VALUE:
        return lambda one: words.p_words(one.value, limits=[verdict.claim.limit])
    return lambda one: _beside(one.value, verdict)


def _why(verdict: Verdict) -> str:
    """Return what a reader would ask about a verdict, in few words."""
    if verdict.void is not None or verdict.reason is not None:
        return verdict.void or verdict.reason or ""
    if verdict.needed is not None:
        return _needed_by_group(verdict.needed, verdict.rows)
    if verdict.outcome is VerdictName.PASS and verdict.claim.only_not_refuted:
        return "not refuted, which is no proof"
    if verdict.outcome is VerdictName.INCONCLUSIVE:
        return why_open(verdict)
    return "the estimate alone" if verdict.claim.bound is Bound.VALUE else ""


def _needed_by_group(needed: RowsNeeded, rows: int) -> str:
    if needed.to_pass is not None:
        return f"about {words.about(needed.to_pass)} rows for a pass{_if_so(needed)}"
    if needed.to_fail is not None:
        return f"about {words.about(needed.to_fail)} rows for a fail{_if_so(needed)}"
    if needed.at_best > rows:
        return f"too close to decide; about {words.about(needed.at_best)} rows if perfectly calibrated"
    return "too close to the limit to decide"


def _if_so(needed: RowsNeeded) -> str:
    return (
        "" if needed.error is None else f" if the error, less what chance adds, is {words.four(needed.error)}"
    )
