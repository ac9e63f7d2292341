"""Has a measure become worse than the baseline's by more than a limit?"""

import math
from collections.abc import Callable, Sequence

from calibcli.codec import Node, version_of
from calibcli.commands.bins import parted
from calibcli.commands.gathering import Gathered
from calibcli.data.files import file_word
from calibcli.documents.sealed import NO_JSON, Document, in_file, read_document
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import (
    DEFAULT_BINS,
    Binning,
    Bound,
    MeasureName,
    Relation,
    Target,
    VerdictName,
    ViewName,
)
from calibcli.options.gating import Regression
from calibcli.options.numerals import in_full
from calibcli.options.rows import DocumentSource
from calibcli.options.rules import Rule
from calibcli.reports.input import ClassesRead
from calibcli.reports.measure import SCHEMA, measure_in
from calibcli.stats.bounds import FROM_BOTH, Interval, stated, why_none
from calibcli.stats.gates.claim import Bounds, Ground, Verdict
from calibcli.stats.gates.other_rules import bounded
from calibcli.stats.measures import HOEFFDING, ClassEstimate, Estimate
from calibcli.stats.measures.differences import (
    PAIRED,
    UNDECIDED,
    Difference,
    PairedSums,
    difference_of_intervals,
)
from calibcli.stats.table.bins import ATOMS, Bins, bins_of, looks_discrete
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace

# What binary fractions add to a confidence such as 0.95.
_ROUNDING = 1e-9

_ORIGIN = "a baseline is what `calibcli measure ... --json -o report.json` writes"


def _times_below(estimate: Estimate | ClassEstimate) -> float:
    """Return how many times half of its error the lower end of an interval is wrong with.

    That of l2 by its normal law misses with the whole error, and the upper end hardly ever.
    """
    proven = estimate.interval is None or estimate.interval.finite_sample
    return 1.0 if proven or estimate.name is not MeasureName.L2 else 2.0


@dataclass(frozen=True, slots=True)
class Bounded:
    """A measure as a report states it, which has an interval."""

    estimate: Estimate | ClassEstimate
    interval: Interval

    @property
    def spent(self) -> float:
        """Probability that one end is wrong."""
        return (1.0 - self.interval.confidence) / 2.0

    @property
    def spent_below(self) -> float:
        """Probability that the lower end is wrong."""
        return self.spent * _times_below(self.estimate)

    @property
    def partition(self) -> str | None:
        found = self.estimate.details.get("partition")
        return None if found is None else str(found)


@dataclass(frozen=True, slots=True)
class Before:
    """What a report of `measure` says of the baseline, and `doubts`: what must be said of the document."""

    path: str
    score: str
    view: str
    positive: str | None
    artifact: DocumentSource | None
    digest: str
    measures: dict[MeasureName, Bounded]
    doubts: tuple[str, ...] = ()

    def notes(self, evaluation: Gathered, digest: str | None) -> tuple[str, ...]:
        """Return in what these rows, with that digest of their table, differ from those of the baseline."""
        found, score, artifact = [*self.doubts], evaluation.input.score, evaluation.through
        if digest == self.digest:
            found.append("the baseline has the same rows; --baseline-score would compare row by row")
        if score != self.score:
            found.append(f"the baseline is of the score {self.score!r}, and this is {score!r}")
        view, positive = _view_of(evaluation.input.classes), evaluation.input.positive
        if view != self.view:
            found.append(f"the baseline is of {self.view}, and this is of {view}")
        if _other_outcomes(self.positive, positive):
            either = [_ONE if one is None else one for one in (self.positive, positive)]
            found.append("in the baseline the label {!r} counts as 1, and here {!r}".format(*either))
        if artifact is None and self.artifact is not None:
            found.append(f"the baseline was recalibrated ({self.artifact}), and this score is not")
        if artifact is not None and self.artifact is None:
            found.append("the baseline was not recalibrated, and this score is")
        return tuple(found)


_ONE, _PLAIN = "1", {"0", "1"}


def _other_outcomes(one: str | None, other: str | None) -> bool:
    """Whether another label counts as 1; of one that is named and one that is not, only 0 and 1 are known."""
    both = {_ONE if each is None else each for each in (one, other)}
    return len(both) > 1 and (None not in {one, other} or both == _PLAIN)


def _view_of(classes: ClassesRead | None) -> str:
    """Return what a report is about."""
    if classes is None:
        return "one score"
    if classes.view is ViewName.CONFIDENCE or classes.one_class is None:
        return "the largest probability of a row"
    whole = classes.view is ViewName.ONE_VS_REST
    return f"class {classes.one_class!r}{'' if whole else ' in the rows that predict it'}"


def read_baseline(source: DocumentSource, names: Sequence[MeasureName], *, confidence: float) -> Before:
    path = str(source)
    try:
        tree = read_document(source, origin=_ORIGIN)
        _refuse_artifact(path, tree)
        before, doubts = tree.built(lambda node: _before(path, node, names, confidence=confidence))
    except DocumentProblem as problem:
        if problem.hint == NO_JSON:
            problem = DocumentProblem(problem.path, problem.detail, f"{NO_JSON} A{_ORIGIN[1:]}")
        raise in_file(path, problem) from None
    return replace(before, doubts=tuple(f"{path} {one}" for one in doubts))


def _before(path: str, tree: Node, names: Sequence[MeasureName], *, confidence: float) -> Before:
    version_of(tree, SCHEMA)
    artifact, source = tree.optional("artifact"), tree.child("input")
    classes, positive = (source.child(key) if source.has(key) else None for key in ("classes", "positive"))
    return Before(
        path,
        source.child("score").text(),
        _view_of(None if classes is None else ClassesRead.from_dict(classes)),
        None if positive is None else positive.text(),
        None if artifact is None else artifact.text(),
        tree.child("table").child("digest").text(),
        {name: _measured(tree, name, path, confidence=confidence) for name in names},
    )


def _refuse_artifact(path: str, tree: Document) -> None:
    if tree.family == "calibcli.artifact":
        msg = f"{path}: is an artifact of fit, and --baseline takes what `calibcli measure --json` wrote"
        again = f"`calibcli measure OLD_ROWS ... --artifact {file_word(path)} --json -o report.json`"
        raise UsageProblem(msg, f"write that first: {again}; or judge the artifact itself with --artifact")


def _measured(tree: Node, name: MeasureName, path: str, *, confidence: float) -> Bounded:
    again = f"measure the baseline again: `calibcli measure ... --metric {name.value}"
    measures = tree.child("measures").members()
    if name.value not in measures:
        msg = f"{path} holds no {name.value}"
        raise UsageProblem(msg, f"{again} --json -o report.json`")
    found = measure_in(tree, name.value)
    if not math.isfinite(found.value):
        what = "infinite, and nothing is worse" if math.isinf(found.value) else "undefined"
        msg = f"{path}: its {name.value} is {what}"
        raise UsageProblem(msg, "compare another measure, such as --regression-metric brier")
    if found.interval is None or all(map(math.isinf, found.interval.ends)):
        msg = f"{path}: its {name.value} has no interval, so nothing can be concluded from it"
        raise UsageProblem(msg, "its assumptions say why; compare another measure")
    old = Bounded(found, found.interval)
    delta = 1.0 - confidence
    if old.spent >= delta * (1.0 - _ROUNDING) or old.spent_below > delta * (1.0 + _ROUNDING):
        level = in_full(old.interval.confidence)
        held = f"{path}: its interval of {name.value} is at a confidence of {level}"
        msg = f"{held}, too low for verdicts that are wrong with probability {delta:g} at most"
        raise UsageProblem(msg, f"{again} --confidence {in_full(confidence)} --json -o report.json`")
    return old


# Bounds that may be wrong more often than this are not made: a smaller error is always allowed.
_MOST_ERROR = 0.25

_PERCENT = 100.0

_NO_FAIL = "with so many claims no fail can be shown: measure the baseline"


def against_report(
    table: Table, before: Before, requested: Regression, *, ground: Ground
) -> dict[str, Verdict]:
    """Judge "measure - baseline <= limit" by the rows and what a report says of other ones.

    Each end of the report's interval may be wrong with probability (1 - c) / 2, c being its confidence, and
    the new bound with what that leaves of delta: then new upper - old lower bounds the difference from above,
    and new lower - old upper from below (Bonferroni).
    """
    if table.weighted:
        _refuse_approximate(before, requested.measures)
    return _verdicts(table, requested, lambda name: _since(table, name, before, ground=ground), ground)


def _refuse_approximate(before: Before, names: Sequence[MeasureName]) -> None:
    """Refuse intervals that hold for many rows only, which few heavy ones never are."""
    for name in names:
        if not before.measures[name].interval.finite_sample:
            held = f"{before.path}: its interval of {name.value} is approximate"
            msg = f"{held}, and a gate over importance weights takes none"
            raise UsageProblem(msg, "compare row by row with --baseline-score, or by --regression-metric ece")


def against_score(
    table: Table, other: Table, paired: PairedSums, *, requested: Regression, ground: Ground
) -> dict[str, Verdict]:
    """Judge "measure - baseline <= limit" by two scores of the same rows."""
    bins = ground.bins
    if bins is ATOMS and not looks_discrete(other):
        bins = bins_of(Binning.EQUAL_WIDTH, DEFAULT_BINS, table=other)
    other = parted(other, bins, again=None)

    def gap(name: MeasureName) -> Bounds:
        if name in PAIRED:
            return _row_by_row(paired, name, weighted=table.weighted, ground=ground)
        return _two_intervals(table, other, name, bins=bins, ground=ground)

    return _verdicts(table, requested, gap, ground)


def _since(table: Table, name: MeasureName, before: Before, *, ground: Ground) -> Bounds:
    """Return how much has changed since a report was made."""
    old = before.measures[name]
    above = _estimate(table, name, ground.bins, error=ground.delta - old.spent)
    _refuse_other_bins(before.path, name, old, above)
    upper, lower = _less(above, Bound.UPPER, old.interval.ends[0]), None
    assumptions = [*above.assumptions, "the rows of the baseline are an independent sample"]
    if ground.fail_delta * (1.0 - _ROUNDING) > old.spent:
        # Where one interval is far the shorter, the other decides, with the whole error of its own lower end.
        most = ground.fail_delta / _times_below(above)
        below = _estimate(table, name, ground.bins, error=min(ground.fail_delta - old.spent, most))
        lower = _less(below, Bound.LOWER, old.interval.ends[1])
    else:
        assumptions.append(f"{_NO_FAIL} with --confidence {1.0 - ground.fail_delta:.6g} or more")
    if above.value == math.inf:
        lower = math.inf
    held = f"Bonferroni with the baseline's interval at {_PERCENT * old.interval.confidence:.6g} %"
    kind = above.interval
    if (
        kind is not None
        and kind.finite_sample
        and old.interval.target not in (kind.target, Target.POPULATION)
    ):
        # That which promises less: what speaks of these scores only.
        kind = old.interval
    return Bounds(
        above.value - old.estimate.value,
        lower,
        upper,
        held,
        None if kind is None else kind.target,
        tuple(assumptions),
        old.partition or "",
        finite_sample=kind is not None and kind.finite_sample and old.interval.finite_sample,
    )


def _row_by_row(paired: PairedSums, name: MeasureName, *, weighted: bool, ground: Ground) -> Bounds:
    """Return the mean difference of a loss, each bound by Gaffke's bound; of weighted rows by Hoeffding's."""
    found = paired.difference_here if weighted else paired.difference
    above = found(name, confidence=1.0 - 2.0 * min(ground.delta, _MOST_ERROR))
    below = found(name, confidence=1.0 - 2.0 * min(ground.fail_delta, _MOST_ERROR))
    how = HOEFFDING if weighted else "Gaffke's bound"
    return _of_differences(above, below, f"paired, {how}", "")


def _two_intervals(table: Table, other: Table, name: MeasureName, *, bins: Bins, ground: Ground) -> Bounds:
    """Return the difference of two estimates by an interval of each, as if rows were not the same."""

    def at(error: float) -> Difference:
        # Each interval is two-sided, and so half of its error is at the end that counts.
        first, second = (_estimate(one, name, bins, error=error / 2.0) for one in (other, table))
        return difference_of_intervals(first, second, confidence=1.0 - error)

    binned_errors = (MeasureName.ECE, MeasureName.L2)
    partition = bins.described if name in binned_errors else ""
    return _of_differences(at(ground.delta), at(ground.fail_delta), FROM_BOTH, partition)


def _of_differences(above: Difference, below: Difference, method: str, partition: str) -> Bounds:
    value = math.nan if above.value is None else above.value
    lower = None if below.interval is None else below.interval.lower
    upper = None if above.interval is None else above.interval.upper
    if value == math.inf:
        # One row that is certain and wrong settles it.
        lower = math.inf
    if value == -math.inf:
        upper = -math.inf
    # Why two scores are not told apart speaks of a difference of 0, and not of the limit.
    assumptions = tuple(one for one in above.assumptions if not one.startswith(UNDECIDED))
    target = None if above.interval is None else above.interval.target
    always = above.interval is not None and above.interval.finite_sample
    return Bounds(value, lower, upper, method, target, assumptions, partition, finite_sample=always)


def _verdicts(
    table: Table, requested: Regression, gap: Callable[[MeasureName], Bounds], ground: Ground
) -> dict[str, Verdict]:
    """Judge by how much larger each measure is than the baseline's, with bounds."""
    verdicts = {}
    for name in requested.measures:
        key, found = f"regression:{name.value}", gap(name)
        rule = Rule(key, name, Bound.UPPER, Relation.AT_MOST, requested.limit)
        claim = ground.claim_of(rule, measure=f"{name.value} - baseline")
        verdict = found.verdict(table, claim, ground)
        if verdict.outcome is VerdictName.INCONCLUSIVE and verdict.reason is None:
            why = why_none(found.assumptions)
            if found.value > requested.limit:
                why += [one for one in found.assumptions if one.startswith(_NO_FAIL)]
            verdict = replace(verdict, reason=next(iter(why), None))
        verdicts[key] = verdict
    return verdicts


def _estimate(table: Table, name: MeasureName, bins: Bins, *, error: float) -> Estimate:
    """Return a measure of which each end of the interval may be wrong with this probability."""
    return bounded(name, table, bins, confidence=1.0 - 2.0 * min(error, _MOST_ERROR))


def _less(estimate: Estimate, bound: Bound, other: float) -> float | None:
    if estimate.interval is None:
        return None
    end = estimate.interval.upper if bound is Bound.UPPER else estimate.interval.lower
    return None if end is None else stated(end - other)


def _refuse_other_bins(path: str, name: MeasureName, old: Bounded, new: Estimate) -> None:
    partition = new.details.get("partition")
    if old.partition is not None and partition != old.partition:
        msg = f"{path}: its {name.value} is over {old.partition}, and here it would be over {partition}"
        raise UsageProblem(
            msg, "ask for the same with --bins and --binning, here or when measuring the baseline"
        )
