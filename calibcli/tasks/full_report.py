"""Everything that is to be said of exported predictions, from one reading of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from calibcli.measures.paired import PairedSums
from calibcli.objects import is_object
from calibcli.options.comparing import CompareOptions
from calibcli.options.gating import VerifyOptions
from calibcli.options.measuring import MeasureOptions
from calibcli.options.rows import Columns, Reading
from calibcli.readers.beside import Beside
from calibcli.readers.files import found_in, stamp_of
from calibcli.readers.unchanged import unchanged_files
from calibcli.reports.compare import CompareReport
from calibcli.reports.measure import MeasureReport
from calibcli.reports.verify import VerifyReport
from calibcli.tasks.class_rules import refuse_class_rules
from calibcli.tasks.classes_asked import refuse_class_measures
from calibcli.tasks.compare import Seen, comparisons, reach_between, side_of
from calibcli.tasks.file_digests import file_digests
from calibcli.tasks.gather import RAW
from calibcli.tasks.judged import RECALIBRATED, Judged, read_judged
from calibcli.tasks.measure import each_class, measure_judged
from calibcli.tasks.partition import may_cut_cells
from calibcli.tasks.pictures.of_report import Shown, pictures_of
from calibcli.tasks.slices import beside_of, comparable
from calibcli.tasks.verify import of_columns, verify_judged


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """
    What is to be reported on.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which column is which.

        artifact: Path of a recalibrator to apply first, or None.

        options: What is measured.

        gate: The rules that are judged, or None where nothing is.

        reading: How to read.
    """

    inputs: Sequence[str]
    columns: Columns = Columns()  # noqa: RUF009 - frozen
    artifact: str | None = None
    options: MeasureOptions = field(default_factory=MeasureOptions)
    gate: VerifyOptions | None = None
    reading: Reading = field(default_factory=Reading)


@dataclass(frozen=True, slots=True)
class FullReport:
    """
    Everything that is said of some rows.

    Args:
        measured: Measures and tests, of groups, classes and further scores as well.

        verdicts: What was judged, or None where no rule was given.

        against_raw: The recalibrated score against the raw one on the same rows, or None.

        pictures: Diagrams, each with its kind.

        files: SHA-256 of the input files, by name; empty where that was not to be had.

        artifact: SHA-256 of the artifact, or None without a file that holds one.
    """

    measured: MeasureReport
    verdicts: VerifyReport | None
    against_raw: CompareReport | None
    pictures: tuple[Shown, ...]
    files: Mapping[str, str]
    artifact: str | None


def full_report(request: ReportRequest) -> FullReport:
    """
    Read the rows once; measure, judge and draw them.

    Args:
        request: What is to be reported on.

    Raises:
        CalibcliError: For input that cannot be measured or judged, with what, where and how many.
    """
    columns, gate = request.columns, request.gate
    options = replace(request.options, complete=True, beside_raw=request.artifact is not None)
    refuse_class_measures(columns, options.metrics)
    if gate is not None:
        refuse_class_rules(gate.rules, columns)
        gate = of_columns(gate, columns)
    # The fingerprints of files come last, and are to be those of what was read.
    files = [one.path for one in found_in(request.inputs).files if not is_object(one.path)]
    with unchanged_files({path: stamp_of(path) for path in files}):
        return _full_report(request, columns, options, gate)


def _full_report(
    request: ReportRequest, columns: Columns, options: MeasureOptions, gate: VerifyOptions | None
) -> FullReport:
    artifact = request.artifact
    judged = read_judged(
        request.inputs,
        columns,
        artifact=artifact,
        reading=request.reading,
        twice=may_cut_cells(options.bins, options.binning, options.edges),
        beside=_beside(columns, artifact=artifact),
    )
    verdicts = None if gate is None else verify_judged(judged, options=gate, artifact=artifact)
    measured = measure_judged(judged, artifact=artifact, options=options)
    return FullReport(
        measured=measured,
        verdicts=verdicts,
        against_raw=_against_raw(judged, options, artifact=artifact),
        pictures=tuple(pictures_of(measured, judged, options=options)),
        files=file_digests(measured.input.files),
        artifact=None if artifact is None else file_digests([artifact]).get(artifact),
    )


def _beside(columns: Columns, *, artifact: str | None) -> Beside:
    """Return what is gathered beside the score; with an artifact, how each row's loss changes."""
    found = replace(beside_of(columns, artifact=artifact), classes=each_class(columns))
    if artifact is None or columns.several is not None:
        return found
    return replace(found, pairs=((RAW, RECALIBRATED),))


def _against_raw(judged: Judged, asked: MeasureOptions, *, artifact: str | None) -> CompareReport | None:
    """Compare the recalibrated score with the raw one, where there is one score."""
    names = comparable(asked.metrics.measures, edges=asked.edges is not None)
    if artifact is None or (judged.artifact is None and judged.members is None) or not names:
        return None
    source, tables = judged.gathered.input, judged.gathered.tables
    raw = Seen(source.score, source.score, None, tables[RAW], discrete=False)
    discrete = judged.outputs is not None
    recalibrated = Seen(artifact, source.score, artifact, tables[RECALIBRATED], discrete=discrete)
    options = CompareOptions(names, asked.bins, asked.binning, asked.confidence)
    paired = judged.gathered.paired or PairedSums()
    if judged.artifact is not None:
        paired.reach = reach_between([judged.artifact.recalibrator], tables[RAW])
    found = comparisons(raw, recalibrated, paired, options=options)
    return CompareReport(
        input=source,
        first=side_of(raw, recalibrated, options),
        second=side_of(recalibrated, raw, options),
        confidence=asked.confidence,
        comparisons=found,
    )
