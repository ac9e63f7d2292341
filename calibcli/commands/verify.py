"""Judge rows by themselves, or together with those that a state has counted."""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

import numpy as np

from calibcli.commands.baseline import Before, against_report, against_score, read_baseline
from calibcli.commands.bins import (
    WITHOUT_BINS,
    chosen_bins,
    lenient_limits,
    may_cut_cells,
    parted,
    refuse_idle_bins,
    shared_bins_notes,
    summary_of,
)
from calibcli.commands.cutting import Cut, refuse_segments, segments_in
from calibcli.commands.gathering import RAW, RECALIBRATED, Gathered
from calibcli.commands.measure import class_groups, class_views, refuse_class_measures
from calibcli.commands.reading import one_label, read_evaluation, with_classes_of_map
from calibcli.commands.row_checks import two_classes_notes
from calibcli.commands.slices import Group, Slices, refuse_cut_cells, sorted_groups, views_of
from calibcli.data.files import file_word, shown_files
from calibcli.data.tally import MOST_BRIEF_SLICES, GatherRequest
from calibcli.documents.artifact import Artifact
from calibcli.errors import EmptyTable, IdleOption, InputProblem, UsageProblem
from calibcli.names import (
    DEFAULT_LEAST_ROWS,
    Binning,
    Bound,
    ClassMeasure,
    GroupOrder,
    MeasureName,
    Relation,
    SegmentMeasure,
    VerdictName,
    ViewName,
)
from calibcli.options.declaring import options_given
from calibcli.options.gating import PlanOptions, Regression, StateOptions, VerifyOptions, refuse_without_state
from calibcli.options.measuring import MeasureOptions, Metrics, refuse_fit_rows
from calibcli.options.numerals import in_full, plural, rough_percent
from calibcli.options.rows import Columns, RowRequest, refuse_without_groups
from calibcli.options.rules import Rule, claimed_once
from calibcli.reports.verify import GroupVerdicts, VerifyReport
from calibcli.show.words import listed
from calibcli.stats.bounds.proportion import unseen_share
from calibcli.stats.gates import judge
from calibcli.stats.gates.claim import BOUNDS, Ground, Verdict
from calibcli.stats.gates.other_rules import class_rule
from calibcli.stats.gates.rows_needed import BY_SIMULATION
from calibcli.stats.gates.segments import RowsBySegment
from calibcli.stats.measures.differences import PairedSums
from calibcli.stats.table.bins import ATOMS, NO_ATOMS, Bins, may_be_discrete
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace


def judge_rows(rows: RowRequest, options: VerifyOptions, state: StateOptions | None) -> VerifyReport:
    """Judge rows; without inputs by what the state holds."""
    columns = rows.columns
    _refuse_misled(columns, options, state)
    options = of_rows(options, columns)
    if state is None:
        refuse_fit_rows(rows.artifact, allowed=options.allow_fit_rows)
        return verify_files(rows, options=options)
    # There the groups of --by are batches.
    refuse_segment_rules(options, replace(rows, columns=replace(columns, by=())))
    from calibcli.commands.gate import judge_with_state

    rows = replace(rows, columns=replace(columns, identity=None))
    return judge_with_state(rows, options, replace(state, id_column=columns.identity))


def _refuse_misled(columns: Columns, options: VerifyOptions, state: StateOptions | None) -> None:
    if not (options.rules or options.regression is not None or (state is not None and state.alarm)):
        msg = "no rule to verify"
        raise UsageProblem(msg, _what_to_ask(state))
    if columns.by and options.regression is not None and not options.rules:
        msg = "--by with nothing but a baseline, which is compared over all rows"
        raise UsageProblem(msg, "leave out --by, or add a rule such as --max-ece 0.02")
    refuse_without_groups(
        columns.by or columns.each_in,
        min_group_rows=options.least_group_rows is not None,
        sort=options.sort is not None,
    )
    if state is None:
        if columns.identity is not None:
            refuse_without_state("id")
        return
    for name, said in {"min-group-rows": options.least_group_rows, "sort": options.sort}.items():
        if said is not None:
            msg = f"--{name} is of groups that are judged apart, and with --state those of --by are batches"
            raise IdleOption(msg, "leave it out", options=(name,))
    if state.alarm and options.least_rows != DEFAULT_LEAST_ROWS:
        msg = "--min-rows is of verdicts, and an alarm may be raised after any number of rows"
        raise IdleOption(msg, "leave it out", options=("min-rows",))
    if len(options.rules) > 1 or options.regression is not None:
        msg = "--state keeps one rule over all rows, without a baseline"
        each = f"with --confidence 1 - {1.0 - options.confidence:.6g}/K for K of them: any may be wrong"
        raise UsageProblem(msg, f"keep one state file for each rule, and one for each group of rows, {each}")
    if columns.rows.counted:
        left = columns.rows.options[-1]
        msg = f"--state must count every row of a batch, and --{left} leaves some out"
        raise UsageProblem(msg, "write the rows to count to a file, or select them with --where")


def _what_to_ask(state: StateOptions | None) -> str:
    """Return a hint for a gate without a rule; that of a state stands in it."""
    if state is not None and Path(state.path).exists():
        return f"`calibcli inspect {file_word(state.path)}` says what to ask"
    return "try --max-ece 0.02, --max-ece 0.02 --artifact cal.json, or --max-ece 0.05 --confidence 0.99"


def verify_files(rows: RowRequest, *, options: VerifyOptions) -> VerifyReport:
    rows = with_classes_of_map(rows)
    requested, columns = options.regression, rows.columns
    refuse_class_rules(options.rules, columns)
    refuse_segment_rules(options, rows)
    if not options.values:
        judged = () if requested is None else requested.measures
        refuse_idle_bins((*judged, *(rule.subject for rule in options.rules)), options.bins, options.binning)
    _refuse_idle_confidence(options, columns)
    options = of_columns(options, columns)
    of_segments = any(rule.of_segments for rule in options.rules)
    before = None
    if requested is not None and requested.report is not None:
        before = read_baseline(requested.report, requested.measures, confidence=options.confidence)
    if requested is not None and requested.score is not None:
        if columns.several is not None:
            msg = (
                f"--baseline-score {requested.score} is one score, and --probs names those of several classes"
            )
            raise UsageProblem(msg, "measure the other columns of classes, and pass --baseline report.json")
        rows = replace(rows, columns=replace(columns, others=(requested.score,)))
    gather_request = _gather_request(rows, options)
    evaluation = read_evaluation(rows, gather_request)
    if gather_request.classes:
        # Beside a rule about all classes, such as one on accuracy, others judge the largest probability.
        hidden = two_classes_notes(evaluation.input, evaluation.resolved.classes)
        evaluation = replace(evaluation, notes=(*evaluation.notes, *hidden))
    cut = segments_in(evaluation, rows, options.segments.cut) if of_segments else None
    return verify_evaluation(evaluation, options=options, before=before, segments=cut)


def _refuse_idle_confidence(options: VerifyOptions, columns: Columns) -> None:
    """Refuse a confidence that no bound has, nor what is said of groups or values that were not seen."""
    held = any(rule.bound in BOUNDS or rule.of_segments for rule in options.rules)
    if "confidence" in options_given(options) and not (held or options.regression or columns.by):
        msg = "--confidence is of bounds, and these rules compare an estimate or a p-value as it is"
        raise IdleOption(msg, "leave it out: a test is at the level of its rule", options=("confidence",))


def of_rows(options: VerifyOptions, columns: Columns) -> VerifyOptions:
    """Return what is asked; of rules that may speak of bins or of segments, what these columns make them."""
    if columns.on:
        return options
    return replace(options, rules=claimed_once(one.of_bins for one in options.rules))


def refuse_segment_rules(options: VerifyOptions | PlanOptions, rows: RowRequest) -> None:
    """Refuse rules about segments that cannot be judged, and what speaks of segments where no rule does."""
    columns, found = rows.columns, [rule for rule in options.rules if rule.of_segments]
    if not found:
        idle = (*(["on"] if columns.on else []), *options_given(options.segments))
        if idle:
            msg = f"--{idle[0]} without a rule about segments"
            raise IdleOption(msg, "add --max-segment-bias 0.05, or leave it out", options=idle)
        return
    rule = found[0]
    for one in found:
        if one.relation is not Relation.AT_MOST and one.bound is not Bound.P_VALUE:
            msg = f"{one.key}: a rule for segments needs <="
            limit, of_bias = in_full(one.limit), one.subject is SegmentMeasure.SEGMENT_BIAS
            right = f"--max-segment-bias {limit}" if of_bias else f"--rule '{one.subject.value}<={limit}'"
            raise UsageProblem(msg, f"write {right}")
    if columns.by or columns.each_in is not None:
        other = "--by" if columns.by else "--view"
        msg = f"{rule.key} is a rule for all rows together, and {other} makes a rule for each part"
        raise UsageProblem(msg, f"leave out {other}: name the columns with --on")
    refuse_segments(rows, options.segments.cut)


def refuse_class_rules(rules: Sequence[Rule], columns: Columns) -> None:
    """Refuse rules about several classes where there is one score, one class, or groups of rows."""
    found = tuple(rule.subject for rule in rules if isinstance(rule.subject, ClassMeasure))
    refuse_class_measures(columns, Metrics((), (), found))
    if found and columns.by:
        msg = f"{found[0].value} is a rule for all rows together, and --by makes a rule for each group"
        raise UsageProblem(msg, "leave out --by, or gate groups on a measure of one score such as ece")


BASELINE = "score 1"

_OVER_ALL_ROWS = ("the comparison with the baseline is over all rows, not group by group",)


def of_columns(options: VerifyOptions, columns: Columns) -> VerifyOptions:
    """Return what is asked of a view: each class over bins of equal width, unless others were named."""
    if columns.each_in is None:
        return options
    if options.regression is not None or columns.by:
        msg = "--view judges every class, and a baseline or --by asks for more than that"
        raise UsageProblem(msg, "name one class with --class, or leave out --view")
    if options.bins is None and options.binning is None:
        return replace(options, binning=Binning.EQUAL_WIDTH)
    return options


def _gather_request(rows: RowRequest, options: VerifyOptions) -> GatherRequest:
    """Return what is gathered beside the score: its groups or classes, and another score row by row."""
    columns, key = rows.columns, RAW if rows.artifact is None else RECALIBRATED
    joint = tuple(rule.subject for rule in options.rules if rule.of_classes)
    return GatherRequest(
        columns={BASELINE: 1} if columns.others else {},
        pairs=((BASELINE, key),) if columns.others else (),
        sliced=(key,) if columns.by else (),
        most_slices=MOST_BRIEF_SLICES,
        classes=bool(joint) or columns.each_in is not None,
        class_measures=joint,
        twice=any(rule.of_segments for rule in options.rules) or may_cut_cells(options.bins, options.binning),
    )


# It takes a second or more for each.
_MOST_SIMULATED = 5


@dataclass(frozen=True, slots=True)
class _Judged:
    """Which rules are judged in what.

    Args:
        single: Rules of one score, judged in the whole and in each group; `joint` are those of all classes
            together, and `of_segments` those of segments.
        parts: Groups of rows, or the classes where each is judged by itself.
        groups: Those of them that are judged.
        alone: Whether the whole is not judged beside them, as where they are classes.
    """

    single: tuple[Rule, ...]
    joint: tuple[Rule, ...]
    of_segments: tuple[Rule, ...]
    parts: Slices
    groups: tuple[Group, ...]
    left_out: dict[str, int]
    alone: bool

    @classmethod
    def of(cls, evaluation: Gathered, options: VerifyOptions) -> "_Judged":
        view, classes = evaluation.resolved.requested.each_in, evaluation.extras.classes
        alone = view is not None and classes is not None
        parts = views_of(evaluation)[0].slices
        if view is not None and classes is not None:
            parts = class_groups(classes, view)
        single = tuple(rule for rule in options.rules if not (rule.of_classes or rule.of_segments))
        groups = tuple(sorted_groups(parts.measured(options.least_group_rows or 1), options.sort))
        return cls(
            single,
            tuple(rule for rule in options.rules if rule.of_classes),
            tuple(rule for rule in options.rules if rule.of_segments),
            parts,
            groups if single else (),
            parts.left_out({one.key for one in groups}) if single else {},
            alone,
        )

    @property
    def not_simulated(self) -> tuple[Rule, ...]:
        """Rules whose open verdicts in a group do not say how many rows would decide."""
        many = len(self.groups) > _MOST_SIMULATED
        return tuple(rule for rule in self.single if many and rule.subject in BY_SIMULATION)

    @property
    def claims(self) -> int:
        """How many bounds hold together."""
        each = sum(rule.bound in BOUNDS for rule in self.single)
        once = sum(rule.bound in BOUNDS for rule in (*self.joint, *self.of_segments))
        return each * (len(self.groups) + (not self.alone)) + once


def verify_evaluation(
    evaluation: Gathered, *, options: VerifyOptions, before: Before | None = None, segments: Cut | None = None
) -> VerifyReport:
    """Judge every rule in the whole and in each group or class, as many claims together as that makes.

    `before` is the baseline, `segments` those, where a rule speaks of one.
    """
    table = evaluation.table
    if evaluation.fitted_rows and not options.allow_fit_rows:
        msg = f"these are the {table.total_rows:,} rows that {evaluation.through} was fitted on"
        raise InputProblem(msg, "use rows that it was not fitted on, or pass --allow-fit-rows to go on")
    if table.total_rows == 0:
        msg = "no rows are left to evaluate"
        raise EmptyTable(msg)
    bins, one = partition_of(evaluation, options), evaluation.artifact
    judged = _Judged.of(evaluation, options)
    ground = Ground(
        bins,
        variance=one.fit.mean_variance if isinstance(one, Artifact) else None,
        outputs=evaluation.outputs,
        least_rows=options.least_rows,
        confidence=options.confidence,
        claims=max(1, judged.claims + options.regressions),
    )
    whole = parted(table, bins, again=evaluation.table_again)
    summary = summary_of(table, discrete=bins is ATOMS)
    groups = {one.key: _of_group(one, judged, options, ground) for one in judged.groups}
    report = VerifyReport(
        input=evaluation.input,
        table=summary,
        artifact=evaluation.through,
        verdicts={
            **(
                {}
                if judged.alone
                else {rule.key: judge(whole, rule, ground=ground) for rule in judged.single}
            ),
            **_of_classes(evaluation, judged.joint, options, ground),
            **_of_segments(evaluation, judged.of_segments, segments, options, ground),
            **_regressions(evaluation, whole, options.regression, ground=ground, before=before),
        },
        policy=options.policy,
        notes=(
            *_notes(evaluation, judged, options, bins),
            *(() if before is None else before.notes(evaluation, summary.digest)),
            *(() if segments is None else segments.notes),
            *(_OVER_ALL_ROWS if judged.groups and options.regression is not None else ()),
            *(() if judged.alone else _unseen_groups(judged.parts, options, tested=len(judged.groups))),
            *_simulation_notes(judged, groups),
        ),
        by=judged.parts.columns if judged.single else (),
        groups=groups,
        left_out=judged.left_out,
        least_group_rows=options.least_group_rows,
        order=options.sort or GroupOrder.WORST,
    )
    report = replace(report, notes=(*report.notes, *_other_sides(judged.single, report)))
    return _void(report) if evaluation.fitted_rows else report


# 2 - 1.1 is 0.9.
_DIGITS = 12


def _nearest(verdict: Verdict, relation: Relation) -> float:
    """Return the bound that a limit is held against, or the value where that alone counts."""
    bound = verdict.upper if relation is Relation.AT_MOST else verdict.lower
    return verdict.value if bound is None else bound


def _other_sides(rules: Sequence[Rule], report: VerifyReport) -> tuple[str, ...]:
    """Say which limits pass although the value is farther from the best one on their other side.

    That is so where the bound that lets them pass is: a value alone may be by chance.
    """
    said = []
    for rule in rules:
        measure, sign = rule.subject, 1.0 if rule.relation is Relation.AT_MOST else -1.0
        both = {one.relation for one in rules if one.subject is measure}
        if not isinstance(measure, MeasureName) or len(both) > 1:
            continue
        best, least, most = measure.facts.best, measure.facts.least, measure.facts.most
        if best is None or not least < best < most or sign * (rule.limit - best) <= 0.0:
            continue
        passed = [
            (sign * (one.value - best), group, one)
            for group, key, one in report.every_verdict
            if key == rule.key
            and one.outcome is VerdictName.PASS
            and sign * (_nearest(one, rule.relation) - best) < -abs(rule.limit - best)
        ]
        _, group, found = min(passed, key=itemgetter(0), default=(0.0, "", None))
        if found is not None:
            other = ">=" if rule.relation is Relation.AT_MOST else "<="
            mirrored = in_full(round(2.0 * best - rule.limit, _DIGITS))
            here = f" in {group}" if group else ""
            said.append(
                f"{found.claim.expression} limits one side alone, and passes at {found.value:.3g}{here}: "
                f"--rule '{measure}{other}{mirrored}' limits the other"
            )
    return tuple(said)


def _notes(evaluation: Gathered, judged: _Judged, options: VerifyOptions, bins: Bins) -> tuple[str, ...]:
    """Return what is said of the rows, and of limits and bins that say little of them."""
    requested = (options.bins, options.binning) != (None, None)
    subjects = [rule.subject for rule in judged.single]
    table = evaluation.table
    return (
        *evaluation.notes,
        *judged.parts.outcome_notes(),
        *one_label(evaluation),
        *(() if evaluation.input.classes else lenient_limits(table, _limits(judged.single))),
        *shared_bins_notes(table, bins, requested=requested, measures=subjects, finer=WITHOUT_BINS),
    )


def _of_classes(
    evaluation: Gathered, rules: Sequence[Rule], options: VerifyOptions, ground: Ground
) -> dict[str, Verdict]:
    """Judge rules of all classes together."""
    classes = evaluation.extras.classes
    if classes is None or not rules:
        return {}
    both = class_groups(classes, ViewName.ONE_VS_REST), class_groups(classes, ViewName.TOP_LABEL)
    cut = MeasureOptions(bins=options.bins, binning=options.binning, confidence=ground.confidence)
    views = class_views(evaluation.table, both, classes.sums, options=cut)
    return {rule.key: class_rule(views, rule, ground=ground) for rule in rules}


def _of_segments(
    evaluation: Gathered, rules: Sequence[Rule], segments: Cut | None, options: VerifyOptions, ground: Ground
) -> dict[str, Verdict]:
    """Judge rules of segments."""
    if segments is None:
        return {}
    names, least = evaluation.resolved.requested.on, options.segments.least_rows
    depth = min(options.segments.cut.depth, len(segments.levels))
    rows = RowsBySegment(
        evaluation.table,
        segments.found,
        segments.entries,
        segments.names(),
        names,
        depth,
        least,
        segments.is_grid,
    )
    return {rule.key: judge(rows, rule, ground=ground) for rule in rules}


def _simulation_notes(judged: _Judged, groups: Mapping[str, GroupVerdicts]) -> tuple[str, ...]:
    """Say why open verdicts of many groups do not say how many rows would decide."""
    left_open = [
        rule.key
        for rule in judged.not_simulated
        if any(one.verdicts[rule.key].outcome is VerdictName.INCONCLUSIVE for one in groups.values())
    ]
    if not left_open:
        return ()
    shown = (
        f"how many rows would decide {listed(left_open)} is not said of more than {_MOST_SIMULATED} groups"
    )
    return (f"{shown} or classes, as each takes a simulation; --where selects some",)


def _unseen_groups(found: Slices, options: VerifyOptions, *, tested: int) -> tuple[str, ...]:
    """Return how many later rows may be of groups that no row here has, which nothing judges."""
    counts = [one.table.total_rows for one in found.groups]
    if not counts:
        return ()
    if not tested:
        return ("no group was tested: the gate speaks of all rows together",)
    share = unseen_share(np.array(counts), delta=1.0 - options.confidence)
    others = f"up to {rough_percent(share)} of future rows ({100.0 * options.confidence:.6g} % confidence)"
    which = "seen here" if tested == len(counts) else f"tested here, of {len(counts):,} seen"
    return (f"the gate speaks of the {plural(tested, 'group')} {which}: groups not seen may hold {others}",)


def _limits(rules: Iterable[Rule]) -> list[tuple[str, float]]:
    return [(one.subject, one.limit) for one in rules if one.relation is Relation.AT_MOST]


def _regressions(
    evaluation: Gathered, table: Table, requested: Regression | None, *, ground: Ground, before: Before | None
) -> dict[str, Verdict]:
    if requested is None:
        return {}
    if before is not None:
        return against_report(table, before, requested, ground=ground)
    other, paired = evaluation.tables[BASELINE], evaluation.paired or PairedSums()
    return against_score(table, other, paired, requested=requested, ground=ground)


def partition_of(evaluation: Gathered, options: VerifyOptions) -> Bins:
    """Return the outputs of a discrete recalibrator, else a partition that no label had a say in."""
    discrete = evaluation.outputs is not None
    if options.values:
        from calibcli.commands.gate import declared_values, refuse_undeclared

        columns = evaluation.resolved.requested
        values = declared_values(options, columns, mapped=evaluation.recalibrated)
        shown = shown_files(evaluation.input.files)
        refuse_undeclared(evaluation.table, values, scale=columns.read_as, shown=shown)
    bins = chosen_bins(evaluation.table, bins=options.bins, binning=options.binning, discrete=discrete)
    if bins is ATOMS and not discrete:
        refuse_continuous(evaluation.table)
    return bins


def refuse_continuous(table: Table) -> None:
    if may_be_discrete(table):
        return
    msg = (
        f"the score has {table.distinct:,} values in {table.total_rows:,} rows: the calibration error of "
        "each value of such a score cannot be bounded, whatever the number of rows (Theorem 12.5)"
    )
    raise UsageProblem(msg, "gate on --max-ece over bins (--bins 15), on --max-smece or on --max-dce")


def _of_group(group: Group, judged: _Judged, options: VerifyOptions, ground: Ground) -> GroupVerdicts:
    """Judge every rule in a group, over the partition of the whole."""
    refuse_cut_cells(group, options.bins, None)
    if ground.bins is ATOMS and group.table.kind == "grid":
        msg = f"{NO_ATOMS} ({group.key})"
        raise UsageProblem(msg, "pass --exact, or ask for --bins 15")
    quick = replace(ground, rows_wanted=False)
    verdicts = {
        rule.key: judge(group.table, rule, ground=quick if rule in judged.not_simulated else ground)
        for rule in judged.single
    }
    return GroupVerdicts(summary_of(group.table, discrete=ground.bins is ATOMS), verdicts)


def _void(report: VerifyReport) -> VerifyReport:
    """Say of every verdict that its bounds do not hold for new rows."""
    void = "tested on the rows of the fit itself (--allow-fit-rows)"

    def of(verdicts: dict[str, Verdict]) -> dict[str, Verdict]:
        return {key: replace(one, void=void) for key, one in verdicts.items()}

    groups = {key: replace(one, verdicts=of(one.verdicts)) for key, one in report.groups.items()}
    return replace(report, verdicts=of(report.verdicts), groups=groups)
