"""What a gate that keeps a state settles before it sees a row, and holds to for good."""

from dataclasses import replace

from calibcli.bounds.betting import Stakes
from calibcli.errors import UsageProblem
from calibcli.gate_names import Bound, Relation
from calibcli.gates.agreement import differences
from calibcli.gates.bets import frozen_stakes
from calibcli.gates.cells import Partition
from calibcli.gates.seen_classes import SeenClasses
from calibcli.gates.state import GateState, Terms
from calibcli.measures.distance import number_of_bins
from calibcli.names import DEFAULT_BINS, Binning, MeasureName
from calibcli.options.gating import StateOptions, VerifyOptions
from calibcli.options.rows import SeveralClasses
from calibcli.options.rules import ClassRule, Rule
from calibcli.readers.columns import ChosenColumns
from calibcli.tasks.gate_map import GateMap

MOST_BINS = 10_000
# What `of_columns` finds out, beside the classes.
_OF_COLUMNS = ("score", "label", "weight", "scale", "positive")


def terms_of(
    rule: Rule | ClassRule | None,
    options: VerifyOptions,
    asked: StateOptions,
    *,
    artifact: GateMap | None,
    several: SeveralClasses | None = None,
    before: GateState | None,
) -> Terms:
    """
    Return the terms of a call; those of its columns are added when the first file is read.

    Args:
        rule: The claim; None for an alarm on any error at all.

        options: Confidence and bins.

        asked: What is asked of the state.

        artifact: The map that is applied first, or None.

        several: How several classes are seen, or None where there is one score.

        before: The state so far, or None: bins that are not named are its bins.

    Raises:
        UsageProblem: If no bet that holds at any time exists for the rule, or the bins cannot be fixed.
    """
    measure, limit = _measure_and_limit(rule, alarm=asked.alarm)
    partition = _partition(measure, options, asked, artifact=artifact, before=before)
    return Terms(
        measure=measure,
        limit=limit,
        confidence=options.confidence,
        partition=partition,
        stakes=_stakes(options.confidence, artifact=artifact, before=before),
        alarm=asked.alarm,
        artifact=None if artifact is None else artifact.fingerprint,
        identified=asked.id_column is not None,
        classes=None if several is None else SeenClasses(several.view, several.one_class),
    )


def of_columns(terms: Terms, chosen: ChosenColumns) -> Terms:
    """Return terms with what was found out about the columns."""
    seen = None if terms.classes is None else replace(terms.classes, names=chosen.classes)
    asked = chosen.asked
    return replace(
        terms,
        score=chosen.shown_score,
        label=chosen.label,
        weight=chosen.weight,
        scale=asked.read_as,
        positive=asked.positive,
        classes=seen,
    )


def as_before(terms: Terms, before: Terms) -> Terms:
    """Return terms with the columns of a state, for what can be told before a file is read."""
    seen = terms.classes
    if seen is not None and before.classes is not None:
        seen = replace(seen, names=before.classes.names)
    return replace(terms, classes=seen, **{name: getattr(before, name) for name in _OF_COLUMNS})


def refuse_other_terms(path: str, before: Terms, now: Terms) -> None:
    """
    Refuse a call whose rows could not be added to those of the state.

    Raises:
        UsageProblem: If the terms differ, naming how.
    """
    found = differences(before, now)
    if found:
        msg = f"{path} was begun on other terms: {'; '.join(found)}"
        raise UsageProblem(msg, f"ask as before{_options_before(before, now)}, or begin another --state")


def _options_before(before: Terms, now: Terms) -> str:
    """Return the options that a call lacks, or has too many."""
    pairs = (
        (before.identified, now.identified, "--id COL"),
        (before.artifact is not None, now.artifact is not None, "--artifact FILE"),
        (before.alarm, now.alarm, "--alarm"),
    )
    found = [f"{'with' if then else 'without'} {option}" for then, this, option in pairs if then != this]
    return f", {' and '.join(found)}" if found else ""


def _stakes(confidence: float, *, artifact: GateMap | None, before: GateState | None) -> Stakes:
    """Return the bets of the state, whatever a later version would choose; new ones for a new state."""
    if before is not None:
        return before.terms.stakes
    variance = None if artifact is None else artifact.variance
    return frozen_stakes(delta=1.0 - confidence, variance=variance)


def _measure_and_limit(rule: Rule | ClassRule | None, *, alarm: bool) -> tuple[MeasureName, float | None]:
    if rule is None:
        if not alarm:
            msg = "no rule to verify"
            raise UsageProblem(msg, "try --max-ece 0.02 --state gate.json")
        return MeasureName.ECE, None
    subject = rule.subject
    if not isinstance(subject, MeasureName) or subject not in (MeasureName.ECE, MeasureName.DCE):
        msg = f"--state with {subject.value}, for which no bound holds at any time"
        raise UsageProblem(msg, "a state takes --max-ece or --max-dce; leave out --state for a single look")
    if rule.bound is not Bound.UPPER or rule.relation is not Relation.AT_MOST:
        msg = f"--state with {subject.value}.{rule.bound.value}{rule.relation.value}{rule.limit:g}"
        raise UsageProblem(msg, f"a state takes --max-{subject.value} {rule.limit:g}")
    if not 0.0 < rule.limit < 1.0:
        msg = f"a limit of {rule.limit:g}"
        raise UsageProblem(msg, f"--max-{subject.value} takes a number between 0 and 1, such as 0.02")
    return subject, rule.limit


def _partition(
    measure: MeasureName,
    options: VerifyOptions,
    asked: StateOptions,
    *,
    artifact: GateMap | None,
    before: GateState | None,
) -> Partition:
    if measure is MeasureName.DCE:
        if options.bins is not None:
            msg = "--bins with --max-dce, whose bins follow from --planned-rows"
            raise UsageProblem(msg, "leave it out")
        return _of_distance(asked.planned_rows, before)
    if asked.planned_rows is not None:
        msg = "--planned-rows without --max-dce"
        raise UsageProblem(msg, "the bins of other measures do not depend on the number of rows")
    outputs = None if artifact is None else artifact.outputs
    if options.bins is None and options.binning is not Binning.EQUAL_WIDTH and outputs is not None:
        return Partition(outputs)
    if options.binning is Binning.ATOMS:
        msg = "values found in the rows are not fixed before they are seen"
        raise UsageProblem(msg, "with --state use --bins, or the --artifact of a discrete recalibrator")
    bins = options.bins
    if bins is None and before is not None and before.terms.partition.bins:
        bins = before.terms.partition.bins
    bins = DEFAULT_BINS if bins is None else bins
    if not 1 <= bins <= MOST_BINS:
        msg = f"{bins:,} bins"
        raise UsageProblem(msg, f"with --state, --bins takes a whole number from 1 to {MOST_BINS:,}")
    return _same_cells(Partition.of_bins(bins), before)


def _same_cells(partition: Partition, before: GateState | None) -> Partition:
    """Return the partition, with the bins cut into cells as the state has them."""
    if before is not None and before.terms.partition.bins == partition.bins:
        return before.terms.partition
    return partition


def _of_distance(planned_rows: int | None, before: GateState | None) -> Partition:
    """Return the bins for as many rows as are planned, or those of the state."""
    if planned_rows is not None:
        return _same_cells(Partition.of_bins(number_of_bins(planned_rows), halved=True), before)
    if before is not None and before.terms.measure is MeasureName.DCE:
        return before.terms.partition
    msg = "--max-dce with a new --state, and nothing says how many rows it will hold"
    raise UsageProblem(msg, "say so with --planned-rows, such as --planned-rows 100000: it fixes the bins")
