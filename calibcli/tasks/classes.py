"""Several classes of one input: measures of all together, and every class by itself in two views."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from calibcli.errors import UsageProblem
from calibcli.measures.classes import ClassViews, class_measure
from calibcli.measures.classes.null import size_if_calibrated
from calibcli.measures.classes.views import Seen
from calibcli.names import DEFAULT_BINS, Binning, MeasureName
from calibcli.options.measuring import MeasureOptions
from calibcli.options.metrics import Metrics
from calibcli.options.rows import Columns, memory_for
from calibcli.readers.class_aside import ClassAside
from calibcli.reports.classes import ClassesReport, ViewSummary
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import MeasureReport
from calibcli.table.bins import binned
from calibcli.table.class_sums import ClassSums
from calibcli.table.class_tables import SCORES_FOR_ONE
from calibcli.table.grid import Table
from calibcli.tasks.classes_asked import OF_DISTRIBUTIONS, sees_all_classes, summing
from calibcli.tasks.judged import Judged
from calibcli.tasks.one_table import measure_table
from calibcli.tasks.partition import chosen_bins, given_bins
from calibcli.tasks.slices import Group, level_of, refuse_cut_cells, worst_of
from calibcli.view_names import ClassMeasure, ViewName

KEYS = {ViewName.ONE_VS_REST: "class", ViewName.TOP_LABEL: "top-label"}
# More classes than these are measured one by one by a few measures only, unless somebody asks for others.
MOST_IN_FULL = 20
_NOT_SUMMED = "sums of rows were not looked at, so that log loss and Brier score of rows are left out"
_COARSE = (
    "over the memory allowed for {count:,} classes one by one: their scores are kept to {size:.2g} "
    "(bin counts and residual sums stay exact, equal-mass bins, tests and nulls do not); "
    "--memory {memory}MiB or --exact keeps all"
)
_DEPENDENT = "with --cluster the classes are not measured one by one, nor all together"
FEW = (MeasureName.ECE, MeasureName.BIAS, MeasureName.BRIER)
# Fewer distinct scores than these cost nothing, repeated or not.
_MANY_SCORES = 1_000


@dataclass(frozen=True, slots=True)
class ClassGroups:
    """
    The classes in one view.

    Args:
        view: The view.

        groups: The rows of each class, in the order of the classes.

        absent: Keys of classes without rows.
    """

    view: ViewName
    groups: tuple[Group, ...]
    absent: tuple[str, ...]

    def measured(self, least_rows: int) -> tuple[Group, ...]:
        """Return the classes with enough rows, and some weight."""
        return tuple(
            one
            for one in self.groups
            if one.table.total_rows >= least_rows and float(one.table.weight.sum()) > 0.0
        )

    def left_out(self, measured: tuple[Group, ...]) -> dict[str, int]:
        """Return how many rows each of the other classes has, by key."""
        keys = {one.key for one in measured}
        few = {one.key: one.table.total_rows for one in self.groups if one.key not in keys}
        return {**few, **dict.fromkeys(self.absent, 0)}


def judged_view(columns: Columns) -> ViewName | None:
    """Return the view whose classes a gate judges one by one; None where it judges one score."""
    if columns.several is None or columns.several.one_class is not None:
        return None
    return columns.several.view if columns.several.view in KEYS else None


def class_groups(classes: ClassAside, view: ViewName) -> ClassGroups:
    """
    Return the rows of every class in a view.

    Args:
        classes: What was gathered.

        view: One-vs-rest: all rows by the probability of the class; top-label: those that predict it.
    """
    tables: Mapping[str, Table]
    if view is ViewName.ONE_VS_REST:
        tables = classes.rest.tables()
    else:
        tables = {name[0]: table for name, table in classes.top.tables().items()}
    keys = {name: f"{KEYS[view]}={name}" for name in classes.classes}
    groups = tuple(Group(key, tables[name], None) for name, key in keys.items() if name in tables)
    return ClassGroups(view, groups, tuple(key for name, key in keys.items() if name not in tables))


def views_shown(columns: Columns) -> tuple[ViewName, ...]:
    """Return the views of single classes that are shown: the one asked for, or both."""
    view = None if columns.several is None else columns.several.view
    return (view,) if view in KEYS else tuple(KEYS)


def with_classes(
    report: MeasureReport, judged: Judged, slices: dict[str, MeasureReport], *, options: MeasureOptions
) -> MeasureReport:
    """
    Add to a report what is measured of several classes.

    Args:
        report: The report of the largest probability.

        judged: What was read.

        slices: Where a report of every class with enough rows is put.

        options: What is asked.

    Raises:
        UsageProblem: If bins would cut the cells of grid tables.
    """
    classes, chosen = judged.gathered.aside.classes, judged.gathered.chosen
    if chosen is not None and classes is None and sees_all_classes(chosen.asked):
        return replace(report, notes=(*report.notes, _DEPENDENT))
    if classes is None or chosen is None:
        return report
    rest, top = (class_groups(classes, view) for view in (ViewName.ONE_VS_REST, ViewName.TOP_LABEL))
    _refuse_lone_scores(rest, options)
    report = replace(report, notes=(*report.notes, *_coarse_notes((rest, top))))
    asked = options.metrics.of_classes
    if asked is None:
        summed = summing(chosen.asked)
        asked = tuple(name for name in ClassMeasure if summed or name not in OF_DISTRIBUTIONS)
        report = report if summed else replace(report, notes=(*report.notes, _NOT_SUMMED))
    views = class_views(judged.table, (rest, top), classes.sums, options=options)
    measures = tuple(class_measure(name, views) for name in asked)
    many = len(classes.classes) > MOST_IN_FULL
    few = many and not options.metrics.chosen
    inside = replace(options, metrics=Metrics(FEW, ())) if few else options
    if many:
        inside = replace(inside, drawn=bool(inside.metrics.tests), complete=False)
    wanted = views_shown(chosen.asked) if inside.metrics.measures or inside.metrics.tests else ()
    shown = tuple(
        _measured(one, report.input, slices, options=inside) for one in (rest, top) if one.view in wanted
    )
    return replace(report, classes=ClassesReport(classes.classes, measures, shown, few))


def _coarse_notes(both: tuple[ClassGroups, ClassGroups]) -> tuple[str, ...]:
    """Say that the tables of classes are grids, where that of all rows may be none."""
    sizes = [one.table.resolution for view in both for one in view.groups if one.table.kind == "grid"]
    rows = [sum(one.table.total_rows for one in view.groups) for view in both]
    memory = memory_for(max(-(-rows[0] // SCORES_FOR_ONE), rows[1]))
    said = _COARSE.format(count=len(both[0].groups), size=max(sizes, default=0.0), memory=memory)
    return (said,) if sizes else ()


def class_views(
    whole: Table, both: tuple[ClassGroups, ClassGroups], sums: ClassSums, *, options: MeasureOptions
) -> ClassViews:
    """
    Return what measures of several classes are computed from.

    Args:
        whole: All rows by their largest probability.

        both: Every class against the rest, and by prediction.

        sums: Joint sums.

        options: Bins and confidence.

    Raises:
        UsageProblem: If bins would cut the cells of grid tables.
    """
    rest, top = both
    return ClassViews(
        whole,
        tuple(_seen(one, options) for one in rest.groups),
        tuple(_seen(one, options) for one in top.measured(1)),
        sums,
        options.confidence,
    )


def _refuse_lone_scores(view: ClassGroups, options: MeasureOptions) -> None:
    """
    Refuse to measure each score of each class by itself where scores do not repeat.

    Raises:
        UsageProblem: If most scores of a class stand in one row.
    """
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
    view: ClassGroups, source: InputSummary, slices: dict[str, MeasureReport], *, options: MeasureOptions
) -> ViewSummary:
    """Put a report of each class with enough rows among the slices."""
    measured = view.measured(options.least_rows)
    level = level_of(options.confidence, len(measured))
    inside = replace(options, confidence=level, binning=_binning(options))
    reports = {}
    for one in measured:
        refuse_cut_cells(one, options.bins, options.edges)
        reports[one.key] = _with_null(measure_table(one.table, source, options=inside), one, inside)
    slices.update(reports)
    worst = worst_of(reports)
    keys = tuple(reports)
    return ViewSummary(view.view, keys, view.left_out(measured), options.least_rows, level, worst)


def _with_null(report: MeasureReport, group: Group, options: MeasureOptions) -> MeasureReport:
    """Add what the ECE would be if calibrated, where no labels were drawn that would tell."""
    if options.drawn or group.table.weighted:
        return report
    sums = _seen(group, options).sums
    null, null_range = size_if_calibrated(sums).times(1.0 / sums.total).reference
    measures = tuple(
        replace(one, null=null, null_range=null_range) if one.name is MeasureName.ECE else one
        for one in report.measures
    )
    return replace(report, measures=measures)


def _binning(options: MeasureOptions) -> Binning | None:
    """Return how the bins of every class are cut: in the same way, whichever scores it has."""
    return options.binning or (None if options.edges is not None else Binning.EQUAL_WIDTH)


def _seen(group: Group, options: MeasureOptions) -> Seen:
    refuse_cut_cells(group, options.bins, options.edges)
    bins = given_bins(options.edges) or chosen_bins(
        group.table, bins=options.bins or DEFAULT_BINS, binning=_binning(options), discrete=False
    )
    return Seen(group.table, binned(group.table, bins))
