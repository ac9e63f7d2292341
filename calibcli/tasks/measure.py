"""Measure the miscalibration of exported predictions."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibcli.curves.reliability import ReliabilityCurve, binned_curve
from calibcli.errors import EmptyTable
from calibcli.measures import Settings, measure_named
from calibcli.measures.calibrated import draw_calibrated
from calibcli.measures.estimate import Estimate
from calibcli.measures.tests import calibration_tests
from calibcli.names import (
    DEFAULT_BINS,
    DEFAULT_CONFIDENCE,
    DEFAULT_SEED,
    Binning,
    MeasureName,
    PlotKind,
    Purpose,
)
from calibcli.readers.columns import Columns
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import MeasureReport
from calibcli.table.bins import ATOMS, BinnedTable, Bins, binned, bins_of
from calibcli.table.grid import Table
from calibcli.table.rows import Rows
from calibcli.table.streams import stream
from calibcli.tasks.gather import RAW
from calibcli.tasks.judged import read_judged
from calibcli.tasks.partition import check_confidence, chosen_bins, may_cut_cells, parted, summary_of
from calibcli.tasks.reading import Reading


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """
    What is asked of `measure`.

    Args:
        metrics: The measures, or None for all of them and the tests.

        bins: Number of bins, or None for 15, or for each distinct score by itself where there are few.

        binning: How bins are cut, or None for equal width, or for each distinct score by itself.

        confidence: Coverage asked of every interval.

        seed: Seed of everything that is drawn.

        beside_raw: With an artifact, whether to measure the raw score as well.

        complete: Whether the report carries what tables of text do not show: the smooth part of its
            curve, and the digest of its table.
    """

    metrics: tuple[MeasureName, ...] | None = None
    bins: int | None = None
    binning: Binning | None = None
    confidence: float = DEFAULT_CONFIDENCE
    seed: int = DEFAULT_SEED
    beside_raw: bool = False
    complete: bool = True

    def __post_init__(self) -> None:
        check_confidence(self.confidence)


def measure_files(
    inputs: Sequence[str],
    columns: Columns,
    *,
    artifact: str | None = None,
    options: MeasureOptions | None = None,
    reading: Reading | None = None,
) -> MeasureReport:
    """
    Measure one score column.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which column is which.

        artifact: Path of a recalibrator to apply first, or None.

        options: What is asked.

        reading: How to read.

    Raises:
        CalibcliError: For input that cannot be measured, with what, where and how many.
    """
    asked = options or MeasureOptions()
    twice = may_cut_cells(asked.bins, asked.binning)
    judged = read_judged(inputs, columns, artifact=artifact, reading=reading or Reading(), twice=twice)
    notes = list(judged.notes)
    if judged.fitted_rows:
        notes.append("these are the rows that the artifact was fitted on: the numbers flatter it")
    slices = {}
    source = judged.gathered.input
    if judged.artifact is not None and asked.beside_raw:
        raw = judged.gathered.tables[RAW]
        again = judged.gathered.again
        slices[f"score={source.score}"] = measure_table(raw, source, options=asked, again=again)
    return measure_table(
        judged.table,
        source,
        options=asked,
        artifact=artifact,
        discrete=judged.artifact is not None and judged.artifact.recalibrator.bins is not None,
        slices=slices,
        notes=tuple(notes),
        again=judged.again,
    )


def measure_table(
    table: Table,
    source: InputSummary,
    *,
    options: MeasureOptions,
    artifact: str | None = None,
    discrete: bool = False,
    slices: dict[str, MeasureReport] | None = None,
    notes: tuple[str, ...] = (),
    again: Rows | None = None,
) -> MeasureReport:
    """
    Measure a table.

    Args:
        table: The rows.

        source: What was read to get it.

        options: What is asked.

        artifact: Path of the recalibrator that was applied, or None.

        discrete: Whether the score is the output of a discrete recalibrator.

        slices: Reports to carry along.

        notes: Sentences the reader should not miss.

        again: The rows once more, for bins that cut the cells of a grid table.

    Raises:
        EmptyTable: If the table holds no rows or no weight.

        UsageProblem: If bins cut cells, and the rows cannot be seen again.
    """
    if table.total_rows == 0 or not table.weight.sum() > 0:
        msg = "no rows left to measure" if table.total_rows == 0 else "every row has weight 0"
        raise EmptyTable(msg)
    bins = chosen_bins(table, bins=options.bins, binning=options.binning, discrete=discrete)
    summary = summary_of(table, discrete=bins is ATOMS, fingerprint=options.complete)
    table = parted(table, bins, again=again)
    settings = _settings(table, bins, options)
    wanted = options.metrics or tuple(MeasureName)
    measures = tuple(measure_named(name, table, settings=settings) for name in wanted)
    tests, combined = calibration_tests(table, bins=settings.bins, calibrated=settings.calibrated)
    return MeasureReport(
        input=source,
        table=summary,
        artifact=artifact,
        confidence=options.confidence,
        measures=measures,
        tests=tests if options.metrics is None else (),
        combined=combined if options.metrics is None else None,
        curve=_curve(table, settings.bins, options, measures),
        slices=slices or {},
        notes=(*_table_notes(table), *notes),
    )


def _settings(table: Table, bins: Bins, options: MeasureOptions) -> Settings:
    sums = binned(table, bins)
    equal_mass = binned(table, bins_of(Binning.EQUAL_MASS, options.bins or DEFAULT_BINS, table=table))
    calibrated = None
    if not table.weighted:
        calibrated = draw_calibrated(
            table,
            partitions=(sums, equal_mass),
            generator=stream(options.seed, Purpose.MONTE_CARLO),
            smece_generator=stream(options.seed, Purpose.SMECE_NULL),
        )
    return Settings(bins=sums, equal_mass=equal_mass, confidence=options.confidence, calibrated=calibrated)


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
