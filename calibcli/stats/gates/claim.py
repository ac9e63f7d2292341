"""A rule about calibration, the claim it makes, what rows say of it, and which of three answers that is."""

import math
from collections.abc import Callable
from typing import Annotated, Literal, Self

from calibcli.codec import ABSENT, HIDDEN, INLINE, LATELY, AnyNumber, Chance, Declared, Fraction, Key
from calibcli.errors import UsageProblem
from calibcli.names import DEFAULT_LEAST_ROWS, Bound, Relation, Target, VerdictName
from calibcli.options.numerals import in_full, plural
from calibcli.options.rules import Rule
from calibcli.stats.table.bins import Bins, may_be_discrete
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace

_LONGEST = 40

# The ends of an interval, which hold with a confidence; the estimate itself and a p-value have none.
BOUNDS = (Bound.LOWER, Bound.UPPER)


@dataclass(frozen=True, slots=True)
class Ground:
    """What is settled before a label is looked at.

    Args:
        bins: The partition: the distinct scores by themselves, or bins fixed in advance.
        variance: Mean of f (1 - f) on the rows an artifact was fitted on, which settles the bets for one
            look; None where there is no artifact, which makes verdicts by betting valid at any time.
        outputs: The distinct outputs of a discrete recalibrator, ascending; None for any other score.
        least_rows: Below so many rows, or ten of the rarer label, nothing is concluded.
        confidence: 1 - delta: a pass that is wrong has a probability of at most delta.
        claims: How many claims are judged together. All must pass, so each may pass at delta; any may fail,
            so each fails at delta / claims only (intersection-union against Bonferroni).
        rows_wanted: Whether an open verdict says how many rows would decide, which takes time.
    """

    bins: Bins
    variance: float | None = None
    outputs: tuple[float, ...] | None = None
    least_rows: int = DEFAULT_LEAST_ROWS
    confidence: float = 0.95
    claims: int = 1
    rows_wanted: bool = True

    @property
    def delta(self) -> float:
        """Largest probability of a pass that is wrong."""
        return 1.0 - self.confidence

    @property
    def fail_delta(self) -> float:
        """Largest probability of a fail of this one claim that is wrong."""
        return self.delta / self.claims

    def levels(self, rule: Rule) -> tuple[float, float]:
        """Return the error probabilities of the lower and of the upper bound."""
        at_most = rule.relation is Relation.AT_MOST
        return (self.fail_delta, self.delta) if at_most else (self.delta, self.fail_delta)

    def claim_of(self, rule: Rule, *, measure: str) -> "Claim":
        """Return the claim that a rule makes of a measure by its name in reports."""
        fail_confidence = None if self.claims == 1 else 1.0 - self.fail_delta
        return Claim(measure, rule.limit, self.confidence, rule.bound, rule.relation, fail_confidence)

    def too_few(self, table: Table) -> str | None:
        """Return why so few rows are not judged, or None."""
        return too_few_counted(table.total_rows, table.total_positive_rows, least=self.least_rows)

    def refuse_many_values(self, table: Table, *, words: str) -> None:
        """Refuse an error of a score with many values, value by value: no number of rows bounds it from
        above.

        Rows whose scores are all different cannot be told from rows whose labels are settled by their scores,
        and of those the error is |label - score| itself.
        """
        if self.bins.edges is None and table.kind == "exact":
            return
        missed = table.positive * (1.0 - table.score_of_positive)
        missed += (table.weight - table.positive) * table.score_of_negative
        least = float(missed.sum()) / float(table.weight.sum())
        msg = (
            f"the {words} error of a score with many values cannot be bounded (Theorem 12.5): a valid upper "
            f"bound is never below the mean of |label - score|, here {least:.4g}"
        )
        others = "gate on --max-ece, which is taken over bins, on --max-smece or on --max-dce"
        if may_be_discrete(table):
            others = f"pass --binning atoms to judge each of the {table.distinct:,} values here, or {others}"
        raise UsageProblem(msg, others)


@dataclass(frozen=True, slots=True)
class Claim(Declared):
    """What is judged."""

    measure: Annotated[
        str,
        "The measure or test: `ece` where each value of the score is a bin by itself, `binned_ece` where "
        "bins of a continuous score are, `ece - baseline` where it is compared.",
    ]
    limit: Annotated[float, "The tolerance eps: the claim is measure <= limit, or >=."]
    confidence: Annotated[Chance, "Probability that a pass is right."]
    bound: Annotated[Bound, "Which number of the measure the rule names."] = Bound.UPPER
    relation: Relation = Relation.AT_MOST
    # 1 - delta of a fail, higher where several claims are tested together; None where it is that of a pass.
    fail_confidence: Annotated[float | None, HIDDEN] = None

    @property
    def expression(self) -> Annotated[str, Key("expr"), "The claim in one line."]:
        """The claim in one line; no bound is named where it is the one that must keep to the limit."""
        plain = self.bound in BOUNDS and not self.only_not_refuted
        end = "" if plain else f".{self.bound.value}"
        return f"{self.measure}{end} {self.relation.value} {in_full(self.limit)}"

    @property
    def only_not_refuted(self) -> bool:
        """Whether it is enough that the contrary is not shown, as in `ece.lower<=0.02`."""
        return (self.bound, self.relation) in (
            (Bound.LOWER, Relation.AT_MOST),
            (Bound.UPPER, Relation.AT_LEAST),
        )

    @property
    def confidence_of_fail(
        self,
    ) -> Annotated[
        Chance,
        Key("fail_confidence"),
        "Probability that a fail is right: higher where several claims are tested together.",
    ]:
        return self.confidence if self.fail_confidence is None else self.fail_confidence

    def by_bounds(self, *, lower: float | None, upper: float | None) -> VerdictName:
        """Return the verdict that bounds give, however few the rows are."""
        if self.relation is Relation.AT_MOST:
            held = upper is not None and upper <= self.limit
            refuted = lower is not None and lower > self.limit
        else:
            held = lower is not None and lower >= self.limit
            refuted = upper is not None and upper < self.limit
        if held or (self.only_not_refuted and not refuted):
            return VerdictName.PASS
        return VerdictName.FAIL if refuted else VerdictName.INCONCLUSIVE

    def compared(self, value: float, *, few: str | None, undefined: str) -> tuple[VerdictName, str | None]:
        """Return how a number stands to the limit, or why that is not said."""
        reason = undefined if few is None and math.isnan(value) else few
        if reason is not None:
            return VerdictName.INCONCLUSIVE, reason
        kept = value <= self.limit if self.relation is Relation.AT_MOST else value >= self.limit
        return (VerdictName.PASS if kept else VerdictName.FAIL), None


@dataclass(frozen=True, slots=True)
class RowsNeeded(Declared):
    """How many labelled rows would decide the claim, if the truth is what it looks like now."""

    to_pass: Annotated[
        int | None, "Rows for a pass; null where the estimate, less its noise, is above the limit."
    ]
    to_fail: Annotated[
        int | None, "Rows for a fail; null where the estimate, less its noise, is below the limit."
    ]
    at_best: Annotated[int, "Rows for a pass if the score were perfectly calibrated."]
    within_noise: Annotated[
        bool, "Whether the estimate cannot be told from the limit, so that no number of rows is promised."
    ]
    error: Annotated[
        float | None,
        ABSENT,
        "The error that the rows for a pass or a fail are for: the estimate less its noise.",
    ] = None

    def unless_above(self, value: float, claim: Claim) -> Self:
        """Promise no rows for a pass where the estimate as it is lies at the limit or above."""
        if self.to_pass is None or value < claim.limit:
            return self
        return replace(self, to_pass=None, within_noise=True, error=None)


@dataclass(frozen=True, slots=True)
class OwnError(Declared):
    """The binned ECE of a batch by itself, over the bins of the state.

    No verdict uses it. A bad batch is seen by it among many good ones, which the error of all rows hides.
    """

    value: Annotated[Fraction, "The binned ECE of these rows alone."]
    by_chance: Annotated[Fraction, "At most so much in 95 of 100 calibrated batches of these scores."]
    seldom: Annotated[Fraction, "More than this in at most 1 of 1,000 calibrated batches of these scores."]

    @property
    def stands_out(self) -> bool:
        """Whether calibrated scores show as much once in a thousand times at most."""
        return self.value > self.seldom


@dataclass(frozen=True, slots=True)
class Change(Declared):
    """When a score ceased to be calibrated, by the bets of an alarm."""

    batch: Annotated[int, "Number of the batch since which the evidence is strongest, from 1 on."]
    key: Annotated[str, "The name of that batch, or its digest."]
    earliest: Annotated[int, "Number of the first batch that the change may have come with."]
    latest: Annotated[int, "Number of the last."]
    confidence: Annotated[float, "That the change lies between them, by simulation."]

    @property
    def named(self) -> str:
        """The batch, with its name where it was given one."""
        return f"batch {self.batch:,}" + (
            "" if self.key.startswith("sha256:") else f" ({self.key[:_LONGEST]})"
        )

    @property
    def words(self) -> str:
        sure = f"{100.0 * self.confidence:.6g} % sure if it came at once"
        if self.earliest == self.latest == 1:
            return "it was so from the first batch on"
        if self.earliest >= self.batch - 1 and self.latest == self.batch:
            return f"the change came with {self.named}, or in the batch before ({sure})"
        between = f"between batches {self.earliest:,} and {self.latest:,}"
        return f"the change seems to have come with {self.named}, {between} ({sure})"


@dataclass(frozen=True, slots=True)
class Evidence(Declared):
    """What the bets of a gate that may be asked again have gathered."""

    log_pass: Annotated[
        AnyNumber | None,
        "Log of the e-value against the error being at least the limit; null in an alarm, which nothing "
        "can pass for good.",
    ]
    log_fail: Annotated[AnyNumber, "Log of the e-value against the error being at most the limit."]
    threshold: Annotated[float, "log(1 / delta), which one of them must reach once."]
    passed_at: Annotated[int | None, "Rows counted when the first did, or null."]
    failed_at: Annotated[int | None, "Rows counted when the second did, or null."]
    looks: Annotated[int, "How often the gate was asked after new rows."]
    since: Annotated[
        Change | None, ABSENT, "Since when an alarm that was raised sees a change; absent otherwise."
    ] = None

    def shown_then(self, outcome: VerdictName) -> int | None:
        """Return at how many rows a verdict of a gate was shown that all rows no longer show, or None."""
        now, then = {
            VerdictName.PASS: (self.log_pass, self.passed_at),
            VerdictName.FAIL: (self.log_fail, self.failed_at),
        }.get(outcome, (None, None))
        return None if now is None or now >= self.threshold else then


@dataclass(frozen=True, slots=True)
class JudgedSegment(Declared):
    """A segment of the rows in a verdict on all of them."""

    where: Annotated[tuple[str, ...], "The conditions; none for all rows."]
    rows: int
    mean_score: Fraction
    observed_rate: Fraction
    bias: Annotated[float, "Mean score less observed rate: above 0 where scores are too high."]
    lower: Annotated[
        float | None,
        "Lower bound of the size of the bias, or of `value`, which a fail rests on; such bounds hold for all "
        "segments at once. Null where the rule names the value or a p-value.",
    ]
    upper: Annotated[
        float | None,
        "Upper bound of the size of the bias, or of `value`, which a pass rests on; it holds for this "
        "segment by itself.",
    ]
    outcome: Annotated[VerdictName, Key("status"), "What the bounds or the p-value of this segment say."]
    value: Annotated[
        float | None,
        ABSENT,
        "What the rule limits, of this segment; a p-value is joint. Absent where that is the bias.",
    ] = None


@dataclass(frozen=True, slots=True)
class JudgedSegments(Declared):
    """The segments that a verdict speaks of, and those that it does not."""

    columns: Annotated[tuple[str, ...], "The columns whose values make segments."]
    depth: Annotated[int, "Intersections of up to so many columns."]
    least_rows: Annotated[int, "Segments of fewer rows are not tested."]
    small: Annotated[int, "Segments of fewer rows, of which nothing is said by themselves."]
    small_rows: Annotated[int, "Rows in any of these."]
    segments: Annotated[
        tuple[JudgedSegment, ...],
        "Those judged: those that fail, those that are open, and the rest; the first settles the verdict.",
    ]
    least_spread: Annotated[
        float | None,
        ABSENT,
        "Nor are those tested whose labels would have a smaller variance; absent where they are.",
    ] = None

    def count(self, outcome: VerdictName) -> int:
        return sum(one.outcome is outcome for one in self.segments)


@dataclass(frozen=True, slots=True)
class Verdict(Declared):
    """The answer to a claim with its evidence."""

    claim: Annotated[Claim, INLINE]
    outcome: Annotated[
        VerdictName,
        Key("status"),
        "pass if the bound that speaks for the claim is on its side of the limit, fail if the other is "
        "beyond it.",
    ]
    value: Annotated[AnyNumber, "The estimate."]
    lower: Annotated[AnyNumber | None, "Lower bound, one-sided; null where there is none."]
    upper: Annotated[AnyNumber | None, "Upper bound, one-sided; null where there is none."]
    method: Annotated[str, "How the bounds were found."]
    target: Annotated[
        Target | None,
        "What the bounds speak of: the population, or these very scores with labels drawn anew; null where "
        "nothing is bounded.",
    ]
    partition: Annotated[str, "The bins, in words; empty where the measure has none."]
    any_time: Annotated[bool, "Whether the verdict holds however often it is requested."]
    assumptions: Annotated[tuple[str, ...], "Under which the verdict means what it says."]
    rows: Annotated[int, "Rows tested."]
    finite_sample: Annotated[
        bool, "Whether the confidence holds at every number of rows, or only as rows grow."
    ] = True
    fixed_design_upper: Annotated[
        AnyNumber | None, "Upper bound for these very scores, for information; null where there is none."
    ] = None
    needed: Annotated[
        RowsNeeded | None,
        Key("rows_needed"),
        "Null where the rows decided, or where more would not.",
    ] = None
    reason: Annotated[str | None, "Why nothing was concluded, where that is not the bounds."] = None
    void: Annotated[
        str | None, "Why the bounds say nothing of new rows, where the user insisted on them all the same."
    ] = None
    evidence: Annotated[Evidence | None, "The bets of a gate that keeps a state; null for any other."] = None
    segments: Annotated[
        JudgedSegments | None, ABSENT, "The segments of a rule on all of them; absent for any other."
    ] = None
    unseen_share: Annotated[
        float | None,
        LATELY,
        "The most that values of the score which no row here has may hold of later rows, where the rule "
        "speaks of the values seen.",
    ] = None

    @property
    def sides(self) -> Annotated[Literal[1], "On how many sides each bound may err."]:
        """One: a rule asks for one bound."""
        return 1

    @property
    def p_method(self) -> str:
        """How the p-value was found that a rule asks for."""
        return self.method.removeprefix(BY_P_VALUE)


# How the method of a rule on a p-value begins.
BY_P_VALUE = "p-value: "

LEAST_RARER = 10

NO_CONFIDENCE = "only the estimate was compared with the limit; how uncertain it is was not considered"

FEWER = "fewer than --min-rows"

ONE_LOOK = "valid for one check; check again only on new rows"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of a measure before a limit; `needed` says how many rows would decide a claim."""

    value: float
    lower: float | None
    upper: float | None
    method: str
    target: Target | None
    assumptions: tuple[str, ...]
    partition: str = ""
    needed: Callable[[Claim], RowsNeeded] | None = None
    any_time: bool = False
    fixed_design_upper: float | None = None
    finite_sample: bool = True

    def verdict(self, table: Table, claim: Claim, ground: Ground) -> Verdict:
        """Return the verdict, with the rows that would decide where nothing but the bounds left it open."""
        outcome, few = claim.by_bounds(lower=self.lower, upper=self.upper), ground.too_few(table)
        if few is not None:
            return self.said(claim, VerdictName.INCONCLUSIVE, few, rows=table.total_rows)
        needed = None
        left_open = outcome is VerdictName.INCONCLUSIVE and claim.relation is Relation.AT_MOST
        if left_open and self.needed and ground.rows_wanted:
            needed = self.needed(claim).unless_above(self.value, claim)
        return replace(self.said(claim, outcome, None, rows=table.total_rows), needed=needed)

    def said(self, claim: Claim, outcome: VerdictName, reason: str | None, *, rows: int) -> Verdict:
        """Return the verdict that was reached, with these bounds."""
        return Verdict(
            claim=claim,
            outcome=outcome,
            value=self.value,
            lower=self.lower,
            upper=self.upper,
            method=self.method,
            target=self.target,
            partition=self.partition,
            any_time=self.any_time,
            assumptions=self.assumptions,
            rows=rows,
            finite_sample=self.finite_sample,
            fixed_design_upper=self.fixed_design_upper,
            reason=reason,
        )


def fewer_rows(rows: int, *, least: int) -> str | None:
    """Return why so few rows are not judged, whatever their labels, or None."""
    if rows >= least:
        return None
    return f"{plural(rows, 'row', 'is')} {FEWER} {least:,}"


def too_few_counted(rows: int, ones: int, *, least: int) -> str | None:
    """Return why so few rows, of which so many have label 1, are not judged, or None."""
    fewer = fewer_rows(rows, least=least)
    if fewer is not None:
        return fewer
    rarer = min(ones, rows - ones)
    if rarer < LEAST_RARER:
        label = 1 if ones <= rows - ones else 0
        return f"{plural(rarer, 'row', 'has')} label {label}, fewer than {LEAST_RARER}"
    return None
