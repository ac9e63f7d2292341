"""Measure the miscalibration of exported predictions."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibcli.curves.reliability import ReliabilityCurve, binned_curve
from calibcli.curves.smooth import smooth_curve
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
from calibcli.table.bins import ATOMS, Bins, bins_of
from calibcli.table.grid import Table
from calibcli.table.streams import stream
from calibcli.tasks.gather import RAW
from calibcli.tasks.judged import read_judged
from calibcli.tasks.partition import check_confidence, chosen_bins, summary_of
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
    """

    metrics: tuple[MeasureName, ...] | None = None
    bins: int | None = None
    binning: Binning | None = None
    confidence: float = DEFAULT_CONFIDENCE
    seed: int = DEFAULT_SEED
    beside_raw: bool = False

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
    judged = read_judged(inputs, columns, artifact=artifact, reading=reading or Reading())
    notes = list(judged.notes)
    if judged.fitted_rows:
        notes.append("these are the rows that the artifact was fitted on: the numbers flatter it")
    slices = {}
    source = judged.gathered.input
    if judged.artifact is not None and asked.beside_raw:
        raw = judged.gathered.tables[RAW]
        slices[f"score={source.score}"] = measure_table(raw, source, options=asked)
    return measure_table(
        judged.table,
        source,
        options=asked,
        artifact=artifact,
        discrete=judged.artifact is not None and judged.artifact.recalibrator.bins is not None,
        slices=slices,
        notes=tuple(notes),
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

    Raises:
        EmptyTable: If the table holds no rows or no weight.
    """
    if table.total_rows == 0 or not table.weight.sum() > 0:
        msg = "no rows left to measure" if table.total_rows == 0 else "every row has weight 0"
        raise EmptyTable(msg)
    bins = chosen_bins(table, bins=options.bins, binning=options.binning, discrete=discrete)
    settings = _settings(table, bins, options)
    wanted = options.metrics or tuple(MeasureName)
    measures = tuple(measure_named(name, table, settings=settings) for name in wanted)
    tests, combined = calibration_tests(table, bins=bins, calibrated=settings.calibrated)
    return MeasureReport(
        input=source,
        table=summary_of(table, discrete=bins is ATOMS),
        artifact=artifact,
        confidence=options.confidence,
        measures=measures,
        tests=tests if options.metrics is None else (),
        combined=combined if options.metrics is None else None,
        curve=_curve(table, bins, options, measures),
        slices=slices or {},
        notes=(*_table_notes(table), *notes),
    )


def _settings(table: Table, bins: Bins, options: MeasureOptions) -> Settings:
    equal_mass = bins_of(Binning.EQUAL_MASS, options.bins or DEFAULT_BINS, table=table)
    calibrated = None
    if not table.weighted:
        calibrated = draw_calibrated(
            table,
            partitions=(bins, equal_mass),
            generator=stream(options.seed, Purpose.MONTE_CARLO),
            smece_generator=stream(options.seed, Purpose.SMECE_NULL),
        )
    return Settings(bins=bins, equal_mass=equal_mass, confidence=options.confidence, calibrated=calibrated)


def _curve(
    table: Table, bins: Bins, options: MeasureOptions, measures: tuple[Estimate, ...]
) -> ReliabilityCurve:
    """Return the binned curve, and the smooth one where smECE was measured, at its bandwidth."""
    smooth = None
    for estimate in measures:
        if estimate.name is MeasureName.SMECE:
            generator = stream(options.seed, Purpose.CURVE_BAND)
            smooth = smooth_curve(
                table, bandwidth=estimate.value, confidence=options.confidence, generator=generator
            )
    binned = binned_curve(table, bins=bins, confidence=options.confidence)
    kind = PlotKind.BINNED if smooth is None else PlotKind.SMOOTH
    return ReliabilityCurve(kind=kind, binned=binned, smooth=smooth, confidence=options.confidence)


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
