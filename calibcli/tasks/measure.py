"""Measure the miscalibration of exported predictions."""

from collections.abc import Sequence
from dataclasses import replace

from calibcli.errors import IdleOption
from calibcli.measures.paired import Difference
from calibcli.options.measuring import MeasureOptions
from calibcli.options.rows import Columns, Reading
from calibcli.reports.measure import MeasureReport
from calibcli.tasks.classes_asked import refuse_class_measures, sees_all_classes
from calibcli.tasks.gather import RAW
from calibcli.tasks.judged import Judged, read_judged
from calibcli.tasks.one_table import measure_table
from calibcli.tasks.partition import may_cut_cells
from calibcli.tasks.slices import (
    View,
    beside_of,
    binning_of,
    cluster_summary,
    clusters_of,
    comparable,
    differences_to,
    groups_summary,
    level_of,
    refuse_cut_cells,
    views_of,
)


def measure_files(
    inputs: Sequence[str],
    columns: Columns,
    *,
    artifact: str | None = None,
    options: MeasureOptions | None = None,
    reading: Reading | None = None,
    summary_out: str | None = None,
) -> MeasureReport:
    """
    Measure one or more score columns, and groups of their rows.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which column is which.

        artifact: Path of a recalibrator to apply first, or None.

        options: What is asked.

        reading: How to read.

        summary_out: Where the summary of the rows goes, or None for none.

    Raises:
        CalibcliError: For input that cannot be measured, with what, where and how many.
    """
    asked = options or MeasureOptions()
    if asked.bounds and columns.cluster is not None:
        msg = "--bounds lists bounds for independent rows, and with --cluster they are not"
        raise IdleOption(msg, "leave out one of them", options=("bounds", "cluster"))
    if summary_out is not None:
        from calibcli.tasks.summaries import refuse_summary

        refuse_summary(columns)
    refuse_class_measures(columns, asked.metrics)
    judged = read_judged(
        inputs,
        columns,
        artifact=artifact,
        reading=reading or Reading(),
        twice=may_cut_cells(asked.bins, asked.binning, asked.edges),
        beside=replace(beside_of(columns, artifact=artifact), classes=each_class(columns)),
    )
    report = measure_judged(judged, artifact=artifact, options=asked)
    if summary_out is not None:
        from calibcli.tasks.summaries import write_summary

        write_summary(judged.gathered, summary_out, inputs=inputs)
    return report


def measure_judged(judged: Judged, *, artifact: str | None, options: MeasureOptions) -> MeasureReport:
    """
    Measure rows that were read: every score of them, groups and classes.

    Args:
        judged: What was read.

        artifact: Path of the recalibrator that was applied, or None.

        options: What is asked.

    Raises:
        CalibcliError: For rows that cannot be measured.
    """
    asked = options
    first, *others = views = views_of(judged)
    measured = sum(len(view.measured(asked.least_rows)) for view in views)
    level = level_of(asked.confidence, measured)
    slices = _raw_slice(judged, asked)
    discrete = judged.outputs is not None
    report = measure_table(
        first.table,
        first.source,
        options=asked,
        artifact=artifact,
        discrete=discrete,
        notes=(*judged.notes, *judged.fit_notes),
        again=judged.again,
        clusters=first.clusters,
    )
    report = replace(
        _with_groups(report, first, slices, options=asked, level=level, discrete=discrete),
        clusters=cluster_summary(judged, first.clusters),
        differences=_differences(judged, views, asked),
    )
    for view in others:
        part = measure_table(view.table, view.source, options=asked, clusters=view.clusters)
        slices[view.key] = _with_groups(part, view, slices, options=asked, level=level, discrete=False)
    chosen = judged.gathered.chosen
    if chosen is not None and sees_all_classes(chosen.asked):
        from calibcli.tasks.classes import with_classes

        report = with_classes(report, judged, slices, options=asked)
    return replace(report, slices=slices)


def each_class(columns: Columns) -> bool:
    """Whether each of several classes is measured; not where rows depend on each other."""
    return sees_all_classes(columns) and columns.cluster is None


def _raw_slice(judged: Judged, asked: MeasureOptions) -> dict[str, MeasureReport]:
    """Return the raw score's report beside that of the recalibrated one, where that was asked for."""
    if not judged.recalibrated or not asked.beside_raw:
        return {}
    source, again = judged.gathered.input, judged.gathered.again
    raw = judged.gathered.tables[RAW]
    clusters = clusters_of(judged, RAW)
    return {
        f"score={source.score}": measure_table(raw, source, options=asked, again=again, clusters=clusters)
    }


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
    inside = replace(options, confidence=level)
    reports = {}
    for group in view.measured(options.least_rows):
        refuse_cut_cells(group, options.bins, options.edges)
        binning = options.binning
        if binning is None and options.bins is None and options.edges is None:
            binning = binning_of(group.table, view.table, discrete=discrete)
        reports[group.key] = measure_table(
            group.table,
            view.source,
            options=replace(inside, binning=binning),
            artifact=whole.artifact,
            discrete=discrete,
            clusters=group.clusters,
        )
    slices.update(reports)
    summary = groups_summary(view, reports, least_rows=options.least_rows, confidence=level)
    return replace(whole, groups=summary)


def _differences(
    judged: Judged, views: Sequence[View], asked: MeasureOptions
) -> dict[str, tuple[Difference, ...]]:
    """Return how each further score differs from the first by what was measured and can be compared."""
    first, *others = views
    if not others:
        return {}
    from calibcli.options.comparing import CompareOptions

    names = comparable(asked.metrics.measures, edges=asked.edges is not None)
    if not names:
        return {}
    options = CompareOptions(names, asked.bins, asked.binning, asked.confidence)
    return {
        view.key: differences_to(first, view, paired, options=options)
        for view, paired in zip(others, judged.gathered.aside.paired, strict=True)
    }
