"""One verdict in words: what was asked, what was found, how likely it is to be wrong, what it rests on."""

import math

from calibcli.gate_names import Bound, Relation
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS
from calibcli.names import Target, VerdictName
from calibcli.render.blocks import Line, Paragraph, Tone, paragraph
from calibcli.render.phrases import whose
from calibcli.render.words import about, beside, count, four, p_words, percent, plural
from calibcli.verdicts.claim import Claim, Evidence, RowsNeeded, Verdict

TONES = {
    VerdictName.PASS: Tone.PASS,
    VerdictName.FAIL: Tone.FAIL,
    VerdictName.INCONCLUSIVE: Tone.INCONCLUSIVE,
}
# Beyond this, log(1,000,000), only the power of ten is told.
_MOST_TOLD = math.log(1e6)


def verdict_paragraph(verdict: Verdict) -> Paragraph:
    """Return everything that is said of one verdict, the headline first."""
    claim = verdict.claim
    headline = f"{verdict.outcome.value.upper()}  {claim_words(claim)}  ({evidence_words(verdict)})"
    if verdict.evidence is not None and verdict.evidence.log_pass is None:
        headline = _alarm_headline(verdict)
    return paragraph(
        Line(headline, TONES[verdict.outcome]),
        _meaning(verdict),
        *_needed(verdict),
        *_beside_bounds(verdict),
        *_gathered(verdict.evidence),
        *_footing(verdict),
    )


def _alarm_headline(verdict: Verdict) -> str:
    claim = verdict.claim
    outcome = "ALARM" if verdict.outcome is VerdictName.FAIL else "NO ALARM"
    watched = "calibration" if claim.limit == 0.0 else f"{claim.words} <= {claim.limit:g}"
    return f"{outcome}  {watched}  ({beside(verdict.value, claim.limit)} over all rows)"


def claim_words(claim: Claim) -> str:
    """Return the claim in one line, without underscores."""
    return claim.expression.replace(claim.measure, claim.words, 1)


def evidence_words(verdict: Verdict) -> str:
    """Return the estimate, and the bounds that decide with their confidence."""
    claim, limit = verdict.claim, verdict.claim.limit
    if claim.bound is Bound.P_VALUE:
        return f"p = {p_words(verdict.value)}"
    value = beside(verdict.value, limit)
    if claim.bound is Bound.VALUE:
        return f"{value}; the estimate alone, without confidence"
    lower, upper = (_bound(verdict, end) for end in (Bound.LOWER, Bound.UPPER))
    at_most = claim.relation is Relation.AT_MOST
    kept, broken = (upper, lower) if at_most else (lower, upper)
    levels = (claim.confidence, claim.confidence_of_fail)
    passes, fails = (f"at {_roughly(verdict)}{percent(one)} confidence" for one in levels)
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


def _bound(verdict: Verdict, end: Bound) -> str:
    bound = verdict.lower if end is Bound.LOWER else verdict.upper
    if bound is None:
        return f"no {end.value} bound"
    return f"{end.value} bound {beside(bound, verdict.claim.limit)}"


def _meaning(verdict: Verdict) -> str:
    """Return what was concluded, for whom, and how likely that is to be wrong."""
    claim = verdict.claim
    named = claim.words.replace(" - baseline", " less the baseline's")
    target = _decisive(verdict)
    what = named if target is None else f"{named} {whose(target)}"
    if verdict.outcome is VerdictName.INCONCLUSIVE:
        one_sided = verdict.lower is None or verdict.upper is None
        undecided = "the one bound that there is does not decide" if one_sided else None
        why = verdict.reason or undecided or f"the bounds lie on both sides of {claim.limit:g}"
        concluded = f"Nothing is concluded about the {what}: {why}."
    else:
        concluded = _concluded(verdict, what)
    if verdict.void is not None:
        return f"No bound holds for new rows: {verdict.void}."
    return concluded


def _decisive(verdict: Verdict) -> Target | None:
    """Return whom the bound that decided speaks for."""
    if verdict.target is not Target.MIXED or verdict.outcome is VerdictName.INCONCLUSIVE:
        return verdict.target
    kept = verdict.outcome is VerdictName.PASS and not verdict.claim.only_not_refuted
    # The upper bound speaks of the population: it keeps an "at most", and breaks an "at least".
    by_upper = kept == (verdict.claim.relation is Relation.AT_MOST)
    return Target.POPULATION if by_upper else Target.FIXED_DESIGN


def _concluded(verdict: Verdict, what: str) -> str:
    claim, limit = verdict.claim, f"{verdict.claim.limit:g}"
    passed = verdict.outcome is VerdictName.PASS
    if claim.bound is Bound.P_VALUE:
        if passed:
            return f"The test does not reject calibration at level {limit}, which is no proof of it."
        return (
            f"The test rejects calibration, as it does with a calibrated score at a rate of {limit} at most."
        )
    at_most = claim.relation is Relation.AT_MOST
    kept, broken = ("at most", "above") if at_most else ("at least", "below")
    if claim.bound is Bound.VALUE:
        found = kept if passed else broken
        return f"The {what} of these rows is {found} {limit}; of other rows nothing is said."
    if not passed:
        wrong = _wrong(verdict, claim.confidence_of_fail)
        return f"The {what} is {broken} {limit}; a fail that is wrong {wrong}."
    if claim.only_not_refuted:
        return f"The {what} is not shown to be {broken} {limit}, which is no proof that it is {kept} {limit}."
    return f"The {what} is {kept} {limit}; a pass that is wrong {_wrong(verdict, claim.confidence)}."


def _wrong(verdict: Verdict, confidence: float) -> str:
    return f"has a probability of at most {_roughly(verdict)}{percent(1.0 - confidence)}"


def _roughly(verdict: Verdict) -> str:
    return "" if verdict.finite_sample else "approximately "


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
        best = _at_best(needed, verdict.rows)
        if needed.at_best > verdict.rows and about(needed.at_best) == about(needed.to_pass):
            best = "at best (if perfectly calibrated) as many"
        sentences.append(f"About {about(needed.to_pass)} rows would pass {truth}; {best}.")
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


def _beside_bounds(verdict: Verdict) -> list[str]:
    """Return what is to be said of a pass or a fail beside its bounds."""
    reason, passed = verdict.reason, verdict.outcome is VerdictName.PASS
    # That a pass is no proof has been said already, and so has why nothing was concluded.
    told = verdict.outcome is VerdictName.INCONCLUSIVE or (passed and verdict.claim.only_not_refuted)
    if reason is None or told:
        return []
    return [f"{reason[:1].upper()}{reason[1:]}."]


def _gathered(evidence: Evidence | None) -> list[str]:
    """Return how the bets of a gate that may be asked again stand."""
    if evidence is None:
        return []
    failing, enough = _wealth(evidence.log_fail), _wealth(evidence.threshold)
    looks = "1 look" if evidence.looks == 1 else f"{count(evidence.looks)} looks"
    if evidence.log_pass is None:
        stand = f"the bets on an alarm stand at {failing}; {enough} raises it."
    else:
        passing = _wealth(evidence.log_pass)
        stand = f"the bets on a pass stand at {passing}, on a fail at {failing}; {enough} decides."
    lines = [f"After {looks} {stand}" if evidence.looks else f"{stand[:1].upper()}{stand[1:]}"]
    if evidence.passed_at is not None:
        lines.append(f"Passed at {plural(evidence.passed_at, 'row')}.")
    if evidence.failed_at is not None:
        lines.append(f"Failed at {plural(evidence.failed_at, 'row')}.")
    return lines


def _wealth(log: float) -> str:
    """Return a number from its logarithm; of a very large one the power of ten is enough."""
    if _MOST_TOLD < log < math.inf:
        return f"over 10^{math.floor(log / math.log(10.0))}"
    return four(math.exp(log)) if log <= _MOST_TOLD else "infinity"


def _footing(verdict: Verdict) -> list[Line]:
    """Return how the bounds were found, what they do not say, and the bound that is for information only."""
    target = "" if verdict.target is None else verdict.target.value
    rough = "" if verdict.finite_sample or verdict.claim.bound is Bound.VALUE else "approximate"
    how = "; ".join(
        one for one in (verdict.partition, verdict.method, target, rough, plural(verdict.rows, "row")) if one
    )
    common = (INDEPENDENT_ROWS, HELD_OUT)
    scope = "; ".join(one for one in verdict.assumptions if not one.startswith(common))
    lines = [f"How: {how}.", *([f"Scope: {scope}."] if scope else [])]
    if verdict.fixed_design_upper is not None:
        lines.append(
            f"For information: {verdict.claim.words} for these very scores (fixed-design) is at most "
            f"{four(verdict.fixed_design_upper)} at {percent(verdict.claim.confidence)} confidence."
        )
    return [Line(line, Tone.FAINT) for line in lines]
