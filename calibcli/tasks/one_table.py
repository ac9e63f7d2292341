"""Measure one table: what `measure` does for the whole, for each group and for each score."""

import math
from dataclasses import replace

from calibcli.curves.reliability import ReliabilityCurve, binned_curve
from calibcli.errors import EmptyTable
from calibcli.measures import measure_named
from calibcli.measures.calibrated import draw_calibrated
from calibcli.measures.clustered import Clusters, clustered_tests, with_clusters
from calibcli.measures.estimate import Estimate
from calibcli.measures.settings import Settings
from calibcli.measures.tests import calibration_tests
from calibcli.names import (
    DEFAULT_BINS,
    Binning,
    MeasureName,
    Purpose,
)
from calibcli.options.measuring import MeasureOptions
from calibcli.picture_names import PlotKind
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import MeasureReport, TableSummary
from calibcli.table.bins import ATOMS, BinnedTable, Bins, binned, bins_of
from calibcli.table.grid import Table
from calibcli.table.rows import Rows
from calibcli.table.streams import stream
from calibcli.tasks.partition import chosen_bins, given_bins, parted, shared_bins_notes, summary_of
from calibcli.tasks.slices import without_bands


def measure_table(
    table: Table,
    source: InputSummary,
    *,
    options: MeasureOptions,
    artifact: str | None = None,
    discrete: bool = False,
    notes: tuple[str, ...] = (),
    again: Rows | None = None,
    clusters: Clusters | None = None,
) -> MeasureReport:
    """
    Measure a table.

    Args:
        table: The rows.

        source: What was read to get it.

        options: What is asked.

        artifact: Path of the recalibrator that was applied, or None.

        discrete: Whether the score is the output of a discrete recalibrator.

        notes: Sentences the reader should not miss.

        again: The rows once more, for bins that cut the cells of a grid table.

        clusters: The clusters of dependent rows, or None where rows are independent.

    Raises:
        EmptyTable: If the table holds no rows or no weight.

        UsageProblem: If bins cut cells, and the rows cannot be seen again.
    """
    if table.total_rows == 0 or not table.weight.sum() > 0:
        msg = "no rows left to measure" if table.total_rows == 0 else "every row has weight 0"
        raise EmptyTable(msg)
    bins = given_bins(options.edges) or chosen_bins(
        table, bins=options.bins, binning=options.binning, discrete=discrete
    )
    summary = summary_of(table, discrete=bins is ATOMS, fingerprint=options.complete)
    table = parted(table, bins, again=again)
    settings = _settings(table, bins, options, dependent=clusters is not None)
    report = _independent(table, source, summary, settings=settings, options=options)
    report = replace(
        report,
        artifact=artifact,
        notes=(
            *_table_notes(table),
            *_clipped_notes(report),
            *shared_bins_notes(table, bins, asked=options.cut, measures=options.metrics.measures),
            *notes,
        ),
    )
    return report if clusters is None else _clustered(report, clusters)


def _independent(
    table: Table, source: InputSummary, summary: TableSummary, *, settings: Settings, options: MeasureOptions
) -> MeasureReport:
    """Measure as if rows were independent."""
    asked = options.metrics
    measures = tuple(measure_named(name, table, settings=settings) for name in asked.measures)
    tests, combined = calibration_tests(
        asked.tests, table, bins=settings.bins, calibrated=settings.calibrated, seed=options.seed
    )
    return MeasureReport(
        input=source,
        table=summary,
        artifact=None,
        confidence=options.confidence,
        measures=measures,
        tests=tests,
        combined=combined,
        curve=_curve(table, settings.bins, options, measures),
        chosen=asked.chosen,
    )


def _clustered(report: MeasureReport, clusters: Clusters) -> MeasureReport:
    """Return what clusters leave of a report that was made as if rows were independent."""
    names = [test.name for test in report.tests]
    tests, combined = clustered_tests(names, combined=report.combined is not None)
    confidence = report.confidence
    return replace(
        report,
        measures=tuple(with_clusters(one, clusters, confidence=confidence) for one in report.measures),
        tests=tests,
        combined=combined,
        curve=without_bands(report.curve),
    )


def _settings(table: Table, bins: Bins, options: MeasureOptions, *, dependent: bool) -> Settings:
    sums = binned(table, bins)
    equal_mass = binned(table, bins_of(Binning.EQUAL_MASS, options.bins or DEFAULT_BINS, table=table))
    calibrated = None
    if options.drawn and not (table.weighted or dependent):
        calibrated = draw_calibrated(
            table,
            partitions=(sums, equal_mass),
            generator=stream(options.seed, Purpose.MONTE_CARLO),
            smece_generator=stream(options.seed, Purpose.SMECE_NULL),
        )
    bounds = options.bounds and not dependent
    return Settings(sums, equal_mass, options.confidence, calibrated, options.power, options.seed, bounds)


def _curve(
    table: Table, bins: BinnedTable, options: MeasureOptions, measures: tuple[Estimate, ...]
) -> ReliabilityCurve:
    """Return the binned curve, and the smooth one on request where smECE was measured, at its bandwidth."""
    smooth = None
    for estimate in measures:
        if estimate.name is MeasureName.SMECE and options.complete:
            from calibcli.curves.smooth import smooth_curve

            generator = stream(options.seed, Purpose.CURVE_BAND)
            smooth = smooth_curve(
                table, bandwidth=estimate.value, confidence=options.confidence, generator=generator
            )
    points = binned_curve(table, bins=bins, confidence=options.confidence)
    kind = PlotKind.BINNED if smooth is None else PlotKind.SMOOTH
    return ReliabilityCurve(kind=kind, binned=points, smooth=smooth, confidence=options.confidence)


def _table_notes(table: Table) -> tuple[str, ...]:
    notes = []
    if table.kind == "grid":
        notes.append(
            f"over the memory allowed: scores are kept to {table.resolution:.2g} "
            "(bin counts, residual sums and calibration-in-the-large stay exact); --exact keeps all"
        )
    if table.total_positive_rows in (0, table.total_rows):
        label = 1 if table.total_positive_rows else 0
        notes.append(f"every label is {label}: whether scores rank cases cannot be seen")
    return tuple(notes)


def _clipped_notes(report: MeasureReport) -> tuple[str, ...]:
    """Return that an infinite log loss may come of scores that were moved to 0 or 1."""
    clipped = report.input.clipped
    infinite = any(one.name is MeasureName.LOG_LOSS and math.isinf(one.value) for one in report.measures)
    if not clipped or not infinite:
        return ()
    made = f"--on-range clip made {clipped:,} score{'s' * (clipped != 1)} exactly 0 or 1"
    return (f"{made}, which log loss takes as certain: one that is wrong makes it infinite",)
