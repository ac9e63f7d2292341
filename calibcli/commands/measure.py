"""Measure the miscalibration of exported predictions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from calibcli.ahead import aside
from calibcli.commands.bins import (
    chosen_bins,
    cut_notes,
    given_bins,
    may_cut_cells,
    parted,
    shared_bins_notes,
    summary_of,
)
from calibcli.commands.gathering import RAW, Gathered
from calibcli.commands.reading import empty_means, read_evaluation, rounding_notes, with_scores
from calibcli.commands.slices import (
    Group,
    Slices,
    View,
    clusters_of,
    gather_request_of,
    level_of,
    refuse_cut_cells,
    sorted_groups,
    views_of,
    without_bands,
    worst_of,
)
from calibcli.data.tally import MOST_BRIEF_SLICES, MOST_SLICES, GatherRequest
from calibcli.errors import EmptyTable, IdleOption, UsageProblem
from calibcli.names import (
    DEFAULT_BINS,
    DEFAULT_LEAST_ROWS,
    DEFAULT_LP_POWER,
    MORE_DRAWS,
    OF_DISTRIBUTIONS,
    Binning,
    ClassMeasure,
    GroupOrder,
    MeasureName,
    PlotKind,
    Scale,
    Smoother,
    ViewName,
    ranked_in,
)
from calibcli.options.declaring import nearest
from calibcli.options.measuring import MeasureOptions, Metrics
from calibcli.options.numerals import agreeing, in_full, plural
from calibcli.options.rows import Columns, RowRequest, refuse_without_groups
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import (
    IN_TABLES,
    MOST_SCORES_IN_FULL,
    VALUES_ALONE,
    ClassesReport,
    ClusterSummary,
    GroupsSummary,
    MeasureReport,
    ViewSummary,
)
from calibcli.show.words import first_of, listed
from calibcli.stats.bounds import holm
from calibcli.stats.curves.net_benefit import against_first, net_benefits
from calibcli.stats.curves.reliability import ReliabilityCurve, binned_curve
from calibcli.stats.measures import Estimate, measure_named
from calibcli.stats.measures.differences import Difference
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Settings
from calibcli.stats.measures.tests import beyond_draws, calibration_tests
from calibcli.stats.table.again import Rows
from calibcli.stats.table.bins import (
    ATOMS,
    BinnedTable,
    Bins,
    Partition,
    binned,
    bins_of,
    equal_width_edges,
    looks_discrete,
)
from calibcli.stats.table.grid import Table
from calibcli.values import replace

if TYPE_CHECKING:
    from calibcli.data.tally import ClassExtras
    from calibcli.stats.curves.reliability import SmoothCurves
    from calibcli.stats.measures import TopError
    from calibcli.stats.measures.classes import ClassViews
    from calibcli.stats.measures.classes.binned import Seen
    from calibcli.stats.measures.clustered import Clusters
    from calibcli.stats.measures.differences import PairedSums
    from calibcli.stats.table.classes import ClassSums


_WITH_BOUNDS = (MeasureName.ECE, MeasureName.ECE_EQUAL_MASS, MeasureName.L2)
_INDICES = (MeasureName.ICI, MeasureName.E50, MeasureName.E90, MeasureName.EMAX)


def measure_files(
    rows: RowRequest, *, options: MeasureOptions | None = None, summary_out: str | None = None
) -> MeasureReport:
    requested, columns = options or MeasureOptions(), rows.columns
    if requested.bounds and columns.cluster is not None:
        msg = "--bounds lists bounds for independent rows, and with --cluster they are not"
        raise IdleOption(msg, "leave out one of them", options=("bounds", "cluster"))
    refuse_class_measures(columns, requested.metrics)
    named = requested.metrics.of_classes
    weighs = each_class(columns) and (named is None or ClassMeasure.MARGINAL_L2 in named)
    if requested.class_weights is not None and not weighs:
        msg = "--class-weights without the metric marginal_l2 of several classes"
        raise IdleOption(
            msg, "add --metric marginal_l2 with --probs, or leave it out", options=("class-weights",)
        )
    measures = {*requested.metrics.measures}
    for option, is_said, needed, does in (
        ("smoother", requested.smoother is not None, _INDICES, "draws the curve of ici, e50, e90 and emax"),
        ("power", requested.power != DEFAULT_LP_POWER, (MeasureName.LP,), "is that of lp"),
        ("bounds", requested.bounds, _WITH_BOUNDS, "lists other bounds of ece, ece_equal_mass and l2"),
    ):
        if is_said and measures.isdisjoint(needed):
            msg = f"--{option} {does}, which {'are' if len(needed) > 1 else 'is'} not measured"
            raise IdleOption(msg, f"add --metric {needed[0].value}, or leave it out", options=(option,))
    if requested.top is not None and not each_class(columns):
        msg = "--top looks at all of several classes, in rows that are independent"
        raise IdleOption(msg, "name them with --probs, without --class and --cluster", options=("top",))
    if summary_out is not None:
        from calibcli.commands.summaries import refuse_summary

        refuse_summary(columns)
    refuse_idle_groups(columns, requested)
    rows = with_scores(rows)
    beside = replace(gather_request_of(rows), most_slices=MOST_BRIEF_SLICES)
    evaluation = read_evaluation(rows, extras_to_measure(beside, columns, requested))
    report = measure_evaluation(evaluation, options=requested)
    if summary_out is not None:
        from calibcli.commands.summaries import write_summary

        write_summary(evaluation, summary_out, inputs=rows.inputs)
        if rows.artifact is not None:
            note = f"{summary_out} holds the scores as they were before --artifact"
            report = replace(report, notes=(*report.notes, note))
    return report


def extras_to_measure(beside: GatherRequest, columns: Columns, options: MeasureOptions) -> GatherRequest:
    """Return what is gathered beside a score, with what its measures need."""
    return replace(
        beside,
        classes=each_class(columns),
        class_measures=class_measures_of(columns, options.metrics),
        top=None if options.top is None else (options.top, _bins_of_top(options)),
        thresholds=options.thresholds,
        ranked=ranked_in(options.metrics.measures),
        twice=bool(options.thresholds) or may_cut_cells(options.bins, options.binning, options.edges),
    )


def class_measures_of(columns: Columns, metrics: Metrics) -> tuple[ClassMeasure, ...]:
    """Return the measures of all classes together, by default all, where each class is measured."""
    if not each_class(columns):
        return ()
    return tuple(ClassMeasure) if metrics.of_classes is None else metrics.of_classes


def refuse_class_measures(columns: Columns, metrics: Metrics) -> None:
    """Refuse measures of several classes where there is one score, or one class, or no distribution."""
    needing = [name for name in metrics.of_classes or () if name in OF_DISTRIBUTIONS]
    if needing and not columns.sums_to_one:
        msg = f"{needing[0].value} needs rows that sum to 1, and --on-sum accept takes them as they are"
        raise UsageProblem(msg, f"pass --on-sum normalise, or ask for {ClassMeasure.CLASSWISE_ECE.value}")
    if not metrics.of_classes or each_class(columns):
        return
    name = metrics.of_classes[0].value
    if columns.cluster is not None:
        msg = f"{name} is not measured where rows depend on each other"
        way = "`measure -m observed_rate,brier` allows for it, of the most probable class"
        raise UsageProblem(msg, f"leave out --cluster; {way}")
    if columns.several is None:
        msg = f"{name} is a measure of several classes, and --probs names none"
        right = "where label 1 is a right answer, accuracy is observed_rate; else "
        named = "name their columns, such as --probs 'p_*'"
        raise UsageProblem(msg, f"{right if name == ClassMeasure.ACCURACY else ''}{named}")
    msg = f"{name} is a measure of all classes, and --class {columns.several.one_class} looks at one"
    raise UsageProblem(msg, "leave out --class, or ask for ece")


def refuse_idle_groups(columns: Columns, options: MeasureOptions) -> None:
    """Refuse what is said of groups where rows have none; classes have an order of their own."""
    least = options.least_rows != DEFAULT_LEAST_ROWS
    refuse_without_groups(columns.by or each_class(columns), min_group_rows=least)
    refuse_without_groups(columns.by, sort=options.sort is not None)


def measure_evaluation(evaluation: Gathered, *, options: MeasureOptions) -> MeasureReport:
    """Measure rows that were read: every score of them, groups and classes."""
    first, *others = views = views_of(evaluation)
    notes = (*evaluation.notes, *evaluation.fit_notes)
    of_groups, many = options, len(first.slices.groups)
    # Pictures draw no labels, and so little of each group that all of it may stay.
    if many > MOST_SLICES and options.drawn and not options.brief:
        of_groups = replace(options, brief=True, complete=False)
        asked = "what -m names" if options.metrics.selected else listed(one.value for one in IN_TABLES)
        less = "what a table shows of groups, and not what chance alone would give"
        notes = (*notes, f"as there are over {MOST_SLICES:,}, each of {many:,} groups has {asked}: {less}")
    fully = replace(options, brief=False)
    level = level_of(options.confidence, sum(len(view.slices.measured(options.least_rows)) for view in views))
    discrete = evaluation.outputs is not None
    slices: dict[str, MeasureReport] = {}
    if evaluation.recalibrated and options.beside_raw:
        raw, clusters = evaluation.tables[RAW], clusters_of(evaluation, RAW)
        slices[f"score={evaluation.input.score}"] = measure_table(
            raw, evaluation.input, options=fully, again=evaluation.again, clusters=clusters
        )
    report = measure_table(
        first.table,
        first.source,
        options=fully,
        discrete=discrete,
        notes=notes,
        again=evaluation.table_again,
        clusters=first.clusters,
        held=True,
    )
    report = replace(report, artifact=evaluation.through)
    report = _with_groups(report, first, slices, options=of_groups, level=level, discrete=discrete)
    column, found = evaluation.resolved.cluster, first.clusters
    if found is not None and column is not None:
        report = replace(report, clusters=ClusterSummary(column, found.count, found.effective))
        if found.count == first.table.total_rows > 1:
            alone = "every cluster has one row: without --cluster rows are independent, with all intervals"
            report = replace(report, notes=(*report.notes, alone))
    report = replace(report, differences=_differences(evaluation, views, options))
    of_others = _of_slices(options) if _in_a_table(others, options) else fully
    for place, view in enumerate(others):
        part = measure_table(view.table, view.source, options=of_others, clusters=view.clusters)
        if options.thresholds:
            part = _against_first(part, report, evaluation.extras.paired[place])
        slices[view.key] = _with_groups(part, view, slices, options=of_groups, level=level, discrete=False)
    if evaluation.resolved.requested.sees_all_classes:
        report = with_classes(report, evaluation, slices, options=options)
    return replace(report, slices=slices)


def _beyond_draws(
    reports: Mapping[str, MeasureReport],
    adjusted: Mapping[str, Mapping[str, float | None]],
    *,
    unproved: float,
) -> Iterator[str]:
    """Yield that groups are further off than all draws, which are too few to prove it among so many."""
    for place, (name, p_values) in enumerate(adjusted.items()):
        beyond = [
            key
            for key, part in reports.items()
            if beyond_draws(part.tests[place], MORE_DRAWS) and (p_values[key] or 0.0) >= unproved
        ]
        if beyond:
            named = f"{first_of(beyond, 3)} {agreeing(len(beyond), 'is')}"
            few = f"too few to prove it of {len(reports):,} groups at once: -m ece can"
            yield f"by {name}, {named} further off than all {MORE_DRAWS:,} draws, {few}"


def measure_table(
    table: Table,
    source: InputSummary,
    *,
    options: MeasureOptions,
    discrete: bool = False,
    notes: tuple[str, ...] = (),
    again: Rows | None = None,
    clusters: "Clusters | None" = None,
    held: bool = False,
) -> MeasureReport:
    """Measure a table as if its rows were independent, and leave of that what clusters do.

    Until somebody looks at the smooth curve it holds the table: a large one only where it may be `held`.
    """
    if table.total_rows == 0 or not table.weight.sum() > 0:
        msg = "no rows left to measure" if table.total_rows == 0 else "every row has weight 0"
        raise EmptyTable(msg)
    requested, large = options.metrics, table.distinct > _LARGE
    bins = given_bins(options.edges) or chosen_bins(
        table, bins=options.bins, binning=options.binning, discrete=discrete
    )
    seen = partial(summary_of, table, discrete=bins is ATOMS, fingerprint=options.complete)
    summary = aside(seen, large=large)
    net_benefit = net_benefits(table, options.thresholds, confidence=options.confidence, again=again)
    rounded = () if again is not None else cut_notes((table,), options.thresholds)
    table = parted(table, bins, again=again)
    settings = _settings(table, bins, options, dependent=clusters is not None)
    named = partial(measure_named, table=table, settings=settings)
    others: list[MeasureName] = [name for name in requested.measures if name is not MeasureName.SMECE]
    found = aside(lambda: [named(name) for name in others], large=large)
    smece = named(MeasureName.SMECE) if MeasureName.SMECE in requested.measures else None
    curve = _curve(table, settings.bins, options, smece)
    drawn = aside(lambda: curve.smooth, large=large and not held)
    tests, combined = calibration_tests(
        requested.tests,
        table,
        bins=settings.bins,
        calibrated=settings.calibrated,
        level=1.0 - options.confidence,
        seed=options.seed,
    )
    values = dict(zip(others, found(), strict=True))
    if smece is not None:
        values[MeasureName.SMECE] = smece
    measures = tuple(values[name] for name in requested.measures)
    if large and not held:
        drawn()
    report = MeasureReport(
        input=source,
        table=summary(),
        artifact=None,
        confidence=options.confidence,
        measures=measures,
        tests=tests,
        combined=combined,
        curve=curve,
        net_benefit=net_benefit,
        selected=requested.selected,
        notes=(
            *_one_label(table, source),
            *rounded,
            *_measure_notes(source, measures, options),
            *shared_bins_notes(table, bins, requested=options.cut, measures=requested.measures),
            *notes,
        ),
    )
    return report if clusters is None else _clustered(report, clusters)


# Of so many distinct scores a digest, and a curve, are worth a thread of their own.
_LARGE = 100_000


def _clustered(report: MeasureReport, clusters: "Clusters") -> MeasureReport:
    """Return what clusters leave of a report that was made as if rows were independent."""
    from calibcli.stats.measures.clustered import clustered_tests, with_clusters

    names = [test.name for test in report.tests]
    tests, combined = clustered_tests(names, combined=report.combined is not None)
    confidence = report.confidence
    return replace(
        report,
        measures=tuple(with_clusters(one, clusters, confidence=confidence) for one in report.measures),
        tests=tests,
        combined=combined,
        curve=without_bands(report.curve),
        net_benefit=tuple(one.without_intervals() for one in report.net_benefit),
    )


_OF_EQUAL_MASS = frozenset({MeasureName.ECE_EQUAL_MASS, MeasureName.ACE})


def _settings(table: Table, bins: Bins, options: MeasureOptions, *, dependent: bool) -> Settings:
    sums = binned(table, bins)
    equal_mass: Partition = bins_of(Binning.EQUAL_MASS, options.bins or DEFAULT_BINS, table=table)
    calibrated = None
    if options.drawn and not (table.weighted or dependent):
        # Once for both, where a measure has them too; drawn labels are seldom looked at.
        if not _OF_EQUAL_MASS.isdisjoint(options.metrics.measures):
            equal_mass = binned(table, equal_mass)
        calibrated = CalibratedDraws.of(table, sums, equal_mass, seed=options.seed)
    bounds = options.bounds and not dependent
    alone = VALUES_ALONE if options.brief and not options.metrics.selected else ()
    smooth, confidence, seed = None, options.confidence, options.seed
    if options.smoother not in (None, Smoother.SPLINE):
        # The curve of the calibration indices, where it is not the spline of their own.
        from calibcli.stats.curves.clinical import smoothed

        smooth = partial(smoothed, smoother=options.smoother, confidence=confidence)
    return Settings(
        sums,
        equal_mass,
        confidence,
        calibrated,
        options.power,
        options.bandwidth,
        seed,
        bounds,
        alone,
        smooth=smooth,
    )


def _curve(
    table: Table, bins: BinnedTable, options: MeasureOptions, smece: Estimate | None
) -> ReliabilityCurve:
    """Return the binned curve, and the smooth one on request where smECE was measured, at its bandwidth."""
    points = binned_curve(table, bins=bins, confidence=None if options.brief else options.confidence)
    if smece is None or not options.complete:
        return ReliabilityCurve(PlotKind.BINNED, points, None, options.confidence)
    # What was worked out for the table is not kept with it.
    drawn = partial(_smooth_curves, replace(table), options, float(smece.details["bandwidth"]))
    return ReliabilityCurve(PlotKind.SMOOTH, points, None, options.confidence, drawn=drawn)


def _smooth_curves(table: Table, options: MeasureOptions, bandwidth: float) -> "SmoothCurves":
    from calibcli.stats.curves.reliability import bandwidth_of_log_odds, smooth_curve

    along = partial(smooth_curve, table, confidence=options.confidence, band=options.band)
    smooth = along(bandwidth=bandwidth)
    if smooth.beyond <= _MOST_BEYOND:
        return smooth, None
    return smooth, along(bandwidth=bandwidth_of_log_odds(table), log_odds=True)


# Where more of the rows lie beyond the ends of the smooth curve, there is one along log-odds.
_MOST_BEYOND = 0.05


def _one_label(table: Table, source: InputSummary) -> tuple[str, ...]:
    if table.total_positive_rows not in (0, table.total_rows):
        return ()
    label = 1 if table.total_positive_rows else 0
    found = f"every label is {label}"
    if source.classes is not None and source.classes.view is ViewName.CONFIDENCE:
        found = f"the most probable class is {'right' if label else 'wrong'} in every row"
    asked = f"; {empty}" if (empty := empty_means(source, label)) else ""
    return (f"{found}, so discrimination (AUROC) cannot be measured{asked}",)


def _measure_notes(
    source: InputSummary, measures: Sequence[Estimate], options: MeasureOptions
) -> Iterator[str]:
    """Yield that smece is not at its own bandwidth, and that moved scores may make log loss infinite."""
    if options.bandwidth is not None:
        at = f"smece is smoothed at --bandwidth {in_full(options.bandwidth)}"
        yield f"{at}: compare it at this one only"
    clipped = source.clipped
    if clipped and any(one.name is MeasureName.LOG_LOSS and math.isinf(one.value) for one in measures):
        made = f"--on-range clip made {plural(clipped, 'score')} exactly 0 or 1"
        yield f"{made}: one such score that is wrong makes log loss infinite"


def _in_a_table(others: Sequence[View], options: MeasureOptions) -> bool:
    """Whether further scores are so many that each is a line of a table."""
    return options.brief and len(others) > MOST_SCORES_IN_FULL


def _against_first(part: MeasureReport, first: MeasureReport, paired: "PairedSums") -> MeasureReport:
    """Return a further score's report with what its net benefit is more than that of the first."""
    found = against_first(
        part.net_benefit, first.net_benefit, paired.moves, rows=paired.rows, confidence=part.confidence
    )
    if first.clusters is not None:
        found = tuple(one.without_intervals() for one in found)
    return replace(part, net_benefit=found)


def each_class(columns: Columns) -> bool:
    """Whether each of several classes is measured; not where rows depend on each other."""
    return columns.sees_all_classes and columns.cluster is None


def _with_groups(
    whole: MeasureReport,
    view: View,
    slices: dict[str, MeasureReport],
    *,
    options: MeasureOptions,
    level: float,
    discrete: bool,
) -> MeasureReport:
    """Put a report of each group with enough rows among the slices; return the whole with their summary."""
    least = options.least_rows
    reports = {}
    for group in sorted_groups(view.slices.measured(least), options.sort):
        binning = options.binning
        if not options.cut:
            # In the way of the whole.
            atoms = group.table.kind == "exact" and (discrete or looks_discrete(view.table))
            binning = Binning.ATOMS if atoms else Binning.EQUAL_WIDTH
        inside = replace(_of_slices(options), confidence=level, binning=binning)
        part = _measured_group(group, view.source, options=inside, discrete=discrete)
        reports[group.key] = replace(part, artifact=whole.artifact)
    if options.sort is GroupOrder.WORST:
        _, measure = whole.ranking
        if measure is not None:
            reports = dict(sorted(reports.items(), key=lambda one: one[1].estimate(measure).worst_first))
    slices.update(reports)
    columns = view.slices.columns
    if not columns:
        return whole
    left_out = view.slices.left_out(reports)
    adjusted = {
        one.name.value: dict(
            zip(reports, holm([part.tests[place].p_value for part in reports.values()]), strict=True)
        )
        for place, one in enumerate(next(iter(reports.values())).tests if len(reports) > 1 else ())
    }
    order = options.sort or GroupOrder.WORST
    groups = GroupsSummary(
        columns, tuple(reports), left_out, least, level, worst_of(reports), adjusted or None, order
    )
    alone = [one.key for one in view.slices.groups if one.key in reports and one.clusters is None]
    measured = [one.table for one in view.slices.measured(least)]
    rounded = cut_notes(measured, options.thresholds, "in groups ")
    notes = (*whole.notes, *view.slices.outcome_notes(), *rounded)
    if view.clusters is not None and alone:
        which = "each group" if len(alone) == len(reports) else f"{len(alone)} of {len(reports)} groups"
        notes = (*notes, f"in {which} every cluster has one row, so that its rows are independent")
    notes = (*notes, *_beyond_draws(reports, adjusted, unproved=1.0 - whole.confidence))
    return replace(whole, groups=groups, notes=notes)


def _of_slices(options: MeasureOptions) -> MeasureOptions:
    """Return what is asked of groups and classes: what a table of them shows, where there will be no more."""
    metrics = options.metrics
    if not options.brief:
        return options
    if not metrics.selected:
        usual = tuple(name for name in IN_TABLES if name in metrics.measures)
        metrics = replace(metrics, measures=usual, tests=())
    return replace(options, metrics=metrics, drawn=bool(metrics.tests))


def _measured_group(
    group: Group, source: InputSummary, *, options: MeasureOptions, discrete: bool = False
) -> MeasureReport:
    """Measure some of the rows over bins that their grid, where it is one, can be cut into."""
    refuse_cut_cells(group, options.bins, options.edges)
    return measure_table(group.table, source, options=options, discrete=discrete, clusters=group.clusters)


def _differences(
    evaluation: Gathered, views: Sequence[View], requested: MeasureOptions
) -> dict[str, tuple[Difference, ...]]:
    """Return how each further score differs from the first by what was measured and can be compared."""
    if len(views) < 2:
        return {}
    from calibcli.commands.two_tables import comparable, differences_of
    from calibcli.stats.measures.differences import PAIRED

    names = comparable(requested.metrics.measures, edges=requested.edges is not None)
    if _in_a_table(views[1:], requested) and not requested.metrics.selected:
        names = tuple(name for name in names if name in PAIRED)
    return differences_of(views, evaluation.extras.paired, names, requested) if names else {}


KEYS = {ViewName.ONE_VS_REST: "class", ViewName.TOP_LABEL: "top-label"}

# More classes than these are measured one by one by a few measures only, unless somebody asks for others.
MOST_IN_FULL = 20

_NOT_SUMMED = "sums of rows were not looked at, so that log loss and Brier score of rows are left out"

_LOST = (
    "log-probabilities below -745 have a probability of exactly 0, the nearest there is: that of a right "
    "class makes class_log_loss infinite, as finite logarithms do not"
)

_DEPENDENT = "with --cluster the classes are not measured one by one, nor all together"

FEW = (MeasureName.ECE, MeasureName.BIAS, MeasureName.BRIER)

# Fewer distinct scores than these cost nothing, repeated or not.
_MANY_SCORES = 1_000


def class_groups(classes: "ClassExtras", view: ViewName) -> Slices:
    tables: Mapping[str, Table]
    if view is ViewName.ONE_VS_REST:
        tables = classes.tables
    else:
        tables = {name[0]: table for name, table in classes.top.tables().items()}
    keys = {name: f"{KEYS[view]}={name}" for name in classes.classes}
    groups = tuple(Group(key, tables[name], None, (name,)) for name, key in keys.items() if name in tables)
    absent = tuple(key for name, key in keys.items() if name not in tables)
    return Slices((KEYS[view],), groups, absent)


def views_shown(columns: Columns) -> tuple[ViewName, ...]:
    """Return the views of single classes that are shown: the one asked for, or both."""
    view = None if columns.several is None else columns.several.view
    return (view,) if view in KEYS else tuple(KEYS)


def with_classes(
    report: MeasureReport, evaluation: Gathered, slices: dict[str, MeasureReport], *, options: MeasureOptions
) -> MeasureReport:
    from calibcli.stats.measures.classes import class_measure

    classes, resolved = evaluation.extras.classes, evaluation.resolved
    if classes is None:
        return replace(report, notes=(*report.notes, _DEPENDENT))
    both = {view: class_groups(classes, view) for view in KEYS}
    rest, top = both.values()
    _refuse_lone_scores(rest, options)
    # Tables of classes may be grids where that of all rows is none.
    steps = [one.table.resolution for one in (*rest.groups, *top.groups)]
    notes = [*report.notes, *rounding_notes(*steps, what="scores of classes")]
    requested = options.metrics.of_classes
    if requested is None:
        summed = resolved.requested.sums_to_one
        requested = tuple(name for name in ClassMeasure if summed or name not in OF_DISTRIBUTIONS)
        notes += [] if summed else [_NOT_SUMMED]
    weights = _class_weights(options, classes.classes)
    if weights is not None:
        given = ", ".join(f"{name}={in_full(weight)}" for name, weight in weights.items() if weight != 1.0)
        notes.append(f"marginal_l2 weighs classes: {given}, others 1")
    views = class_views(evaluation.table, (rest, top), classes.sums, options=options, weights=weights)
    measures = tuple(class_measure(name, views) for name in requested)
    logarithms = evaluation.artifact is None and resolved.requested.read_as in (Scale.LOGIT, Scale.LOGPROB)
    if logarithms and any(math.isinf(one.value) for one in measures):
        notes.append(_LOST)
    largest: tuple[TopError, ...] = ()
    if classes.sums.top is not None:
        from calibcli.stats.measures.classes.binned import top_errors

        largest = top_errors(classes.sums.top, confidence=options.confidence)
    groups = (*rest.groups, *top.measured(1))
    seen = {one.key: found for one, found in zip(groups, (*views.rest, *views.top), strict=True)}
    many = len(classes.classes) > MOST_IN_FULL
    few = many and not options.metrics.selected
    inside = replace(options, metrics=Metrics(FEW, ())) if few else _of_slices(options)
    if many:
        inside = replace(inside, drawn=bool(inside.metrics.tests), complete=False)
    wanted = views_shown(resolved.requested) if inside.metrics.measures or inside.metrics.tests else ()
    shown = tuple(
        _measured(view, one, report.input, slices, seen, options=inside)
        for view, one in both.items()
        if view in wanted
    )
    # The largest probability of a row need not be wrong where that of the right class is 0.
    table = replace(report.table, contradicting=classes.sums.contradicting)
    found = ClassesReport(classes.classes, measures, shown, few, largest)
    return replace(report, table=table, notes=tuple(notes), classes=found)


def class_views(
    whole: Table,
    both: tuple[Slices, Slices],
    sums: "ClassSums",
    *,
    options: MeasureOptions,
    weights: Mapping[str, float] | None = None,
) -> "ClassViews":
    from calibcli.stats.measures.classes import ClassViews

    rest, top = both
    return ClassViews(
        whole,
        tuple(_seen(one, options) for one in rest.groups),
        tuple(_seen(one, options) for one in top.measured(1)),
        sums,
        options.confidence,
        weights,
    )


def _bins_of_top(options: MeasureOptions) -> Bins:
    """Return over which bins of each the largest probabilities are looked at together."""
    edges = equal_width_edges(options.bins or DEFAULT_BINS)
    return given_bins(options.edges) or Bins(Binning.EQUAL_WIDTH, edges)


def _class_weights(options: MeasureOptions, classes: Sequence[str]) -> dict[str, float] | None:
    given = options.class_weights
    if given is None:
        return None
    strange = [name for name in given if name not in classes]
    if strange:
        msg = f"--class-weights names {strange[0]!r}, which is no class"
        raise UsageProblem(msg, nearest(strange[0], classes, all_by="`calibcli inspect`"))
    weights = {name: given.get(name, 1.0) for name in classes}
    if not any(weights.values()):
        msg = "--class-weights leaves no class a weight"
        raise UsageProblem(msg, "give one a weight above 0")
    return None if set(weights.values()) == {1.0} else weights


def _refuse_lone_scores(view: Slices, options: MeasureOptions) -> None:
    """Refuse to measure each score of each class by itself where scores do not repeat."""
    if options.binning is not Binning.ATOMS:
        return
    for one in view.groups:
        distinct, rows = one.table.distinct, one.table.total_rows
        if distinct > _MANY_SCORES and 2 * distinct > rows:
            msg = f"{one.key} has {distinct:,} distinct scores in {rows:,} rows; a bin for each says nothing"
            raise UsageProblem(
                msg, "--binning atoms is for scores that repeat; use equal-width or equal-mass"
            )


def _measured(
    view: ViewName,
    classes: Slices,
    source: InputSummary,
    slices: dict[str, MeasureReport],
    seen: Mapping[str, "Seen"],
    *,
    options: MeasureOptions,
) -> ViewSummary:
    some, least = classes.measured(options.least_rows), options.least_rows
    level = level_of(options.confidence, len(some))
    inside = replace(options, confidence=level, binning=_binning(options))
    reports = {
        one.key: _with_null(_measured_group(one, source, options=inside), seen[one.key], inside)
        for one in some
    }
    slices.update(reports)
    few = view is ViewName.ONE_VS_REST and len(some) <= MOST_IN_FULL
    sharper = _at_least({one.key: seen[one.key] for one in some}, reports, inside) if few else None
    worst = worst_of(reports, sharper)
    return ViewSummary(view, tuple(reports), classes.left_out(reports), least, level, worst, sharper)


def _at_least(
    classes: Mapping[str, "Seen"], reports: Mapping[str, MeasureReport], options: MeasureOptions
) -> dict[str, float] | None:
    """Return lower bounds of the binned ECE, those of intervals or of betting, or None where bins follow the
    rows.

    Errors of one class against the rest have either sign in few bins, where the bound of an interval by
    concentration is often 0. Where they all have one sign that bound is the better one. Each takes half of
    the share of a class in the error.
    """
    from calibcli.stats.bounds.betting import stakes_of_gate
    from calibcli.stats.measures.binned import grouped_residuals

    of_ece = MeasureName.ECE in options.metrics.measures
    if not of_ece or any(one.table.weighted for one in classes.values()):
        return None
    if options.edges is None and _binning(options) is not Binning.EQUAL_WIDTH:
        return None
    delta, found = (1.0 - options.confidence) / 2.0, {}
    for key, one in classes.items():
        residuals = grouped_residuals(one.table, one.sums)
        stakes = stakes_of_gate(one.table.total_rows, None, delta=delta)
        shown = next(each.interval for each in reports[key].measures if each.name is MeasureName.ECE)
        ends = (residuals.lower_bound(stakes, delta=delta), None if shown is None else shown.lower)
        found[key] = max(one for one in ends if one is not None)
    return found


def _with_null(report: MeasureReport, seen: "Seen", options: MeasureOptions) -> MeasureReport:
    """Add what the ECE would be if calibrated, where no labels were drawn that would tell."""
    from calibcli.stats.measures.classes.binned import size_if_calibrated

    if options.drawn or seen.table.weighted:
        return report
    null, null_range = size_if_calibrated(seen.sums).times(1.0 / seen.sums.total).reference
    measures = tuple(
        replace(one, null=null, null_range=null_range) if one.name is MeasureName.ECE else one
        for one in report.measures
    )
    return replace(report, measures=measures)


def _binning(options: MeasureOptions) -> Binning | None:
    """Return how the bins of every class are cut: in the same way, whichever scores it has."""
    return options.binning or (None if options.edges is not None else Binning.EQUAL_WIDTH)


def _seen(group: Group, options: MeasureOptions) -> "Seen":
    from calibcli.stats.measures.classes.binned import Seen

    refuse_cut_cells(group, options.bins, options.edges)
    bins = given_bins(options.edges) or chosen_bins(
        group.table, bins=options.bins or DEFAULT_BINS, binning=_binning(options), discrete=False
    )
    return Seen(group.table, bins)
