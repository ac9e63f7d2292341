"""Everything that is to be said of exported predictions, from one reading of them."""

from collections.abc import Iterator, Mapping

from calibcli.commands import verify
from calibcli.commands.cutting import refuse_segments, segments_in
from calibcli.commands.gathering import RAW, RECALIBRATED, Gathered
from calibcli.commands.measure import (
    extras_to_measure,
    measure_evaluation,
    refuse_class_measures,
    refuse_idle_groups,
)
from calibcli.commands.pictures import reliability
from calibcli.commands.pictures.diagram import Drawn
from calibcli.commands.pictures.map import map_over_rows
from calibcli.commands.pictures.of_tables import Asked, drawn_of_tables, mcb_dsc_drawn
from calibcli.commands.pictures.over_time import bias_alone, shows_trend, trend_drawn
from calibcli.commands.pictures.segments import segment_pictures
from calibcli.commands.reading import read_evaluation, with_scores
from calibcli.commands.segments import segments_report
from calibcli.commands.slices import extras_beside_raw, views_of
from calibcli.commands.summaries import file_digests
from calibcli.commands.two_tables import Seen, comparable, comparisons, side_of
from calibcli.data.files import stamp_of
from calibcli.data.fragments import found_for
from calibcli.data.objects import is_object
from calibcli.data.readers import unchanged_files
from calibcli.documents.artifact import Artifact
from calibcli.errors import IdleOption
from calibcli.names import FitLoss, MeasureName, PlotKind
from calibcli.options.declaring import options_given
from calibcli.options.gating import VerifyOptions
from calibcli.options.measuring import CLINICAL, CompareOptions, MeasureOptions, refuse_fit_rows
from calibcli.options.rows import RowRequest
from calibcli.options.segmenting import Segmenting, SegmentOptions
from calibcli.reports.compare import CompareReport
from calibcli.reports.measure import MeasureReport
from calibcli.reports.segments import SegmentsReport
from calibcli.reports.verify import VerifyReport
from calibcli.stats.measures.differences import PairedSums
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, field, replace

Shown = tuple[PlotKind, Drawn]


def pictures_of(report: MeasureReport, evaluation: Gathered, *, options: MeasureOptions) -> Iterator[Shown]:
    """Return every diagram there is: those that were asked for first, then of the score itself."""
    tables = {view.source.score: view.table for view in views_of(evaluation)}
    one = {report.input.score: evaluation.table}
    raw = evaluation.tables[RAW] if evaluation.recalibrated and len(tables) == 1 else None

    def drawn(kind: PlotKind, tables: Mapping[str, Table]) -> Shown:
        return kind, drawn_of_tables(kind, tables, Asked(report.input, options, raw=raw))

    if options.metrics.selected and {*CLINICAL} <= {*options.metrics.measures}:
        yield drawn(PlotKind.CLINICAL, tables if len(tables) <= reliability.MOST else one)
    if options.thresholds:
        yield drawn(PlotKind.DECISION, tables)
    # A curve between yes and no would show rates of scores that no row has.
    smooth = report.curve.smooth is not None and not reliability.is_yes_no(report)
    for kind in (PlotKind.SMOOTH, PlotKind.BINNED):
        if smooth or kind is PlotKind.BINNED:
            yield kind, Drawn(replace(report.curve, kind=kind), reliability.caption_of(report, kind))
    yield drawn(PlotKind.ISOTONIC, tables if len(tables) <= reliability.MOST else one)
    yield drawn(PlotKind.CUMULATIVE, one)
    by_bins = report.table.discrete or not smooth
    yield PlotKind.RESIDUAL, reliability.residual_drawn(report, by_bins=by_bins)
    if isinstance(evaluation.artifact, Artifact):
        fitted = evaluation.fitted_rows
        yield (
            PlotKind.MAP,
            map_over_rows(evaluation.artifact, evaluation, fitted_rows=fitted, options=options),
        )
    if shows_trend(report):
        by_bias = measure_evaluation(evaluation, options=bias_alone(options))
        yield PlotKind.TREND, trend_drawn(by_bias, options.sort)
    if len(tables) > 1:
        yield PlotKind.MCB_DSC, mcb_dsc_drawn(tables, options=options, loss=FitLoss.BRIER)
    yield from _side_by_side(report)


def _side_by_side(report: MeasureReport) -> Iterator[Shown]:
    """Return diagrams of several scores, groups and classes, where there are some."""
    named = {one.name for one in report.measures}
    # A diagram of several is headed by their errors.
    if not named & {MeasureName.ECE, MeasureName.SMECE}:
        return
    if report.further_scores or (report.artifact and f"score={report.input.score}" in report.slices):
        yield PlotKind.COMPARE, reliability.scores_of(report).drawn
    if report.groups is not None and report.groups.measured:
        yield PlotKind.GROUPS, reliability.groups_of(report).drawn
    if report.classes is not None and any(view.measured for view in report.classes.views):
        yield PlotKind.CLASSES, reliability.classes_of(report, None).drawn


@dataclass(frozen=True, slots=True)
class ReportRequest(RowRequest):
    """What is to be reported on; without a `gate` nothing is judged."""

    options: MeasureOptions = field(default_factory=MeasureOptions)
    gate: VerifyOptions | None = None
    segments: Segmenting = field(default_factory=Segmenting)


@dataclass(frozen=True, slots=True)
class FullReport:
    """Everything that is said of some rows.

    Args:
        measured: Measures and tests, of groups, classes and further scores as well.
        verdicts: What was judged, or None where no rule was given.
        segments: Where the score is wrong, or None where no column makes segments.
        against_raw: The recalibrated score against the raw one on the same rows, or None.
        files: SHA-256 of the input files, by name; empty where that was not to be had.
        artifact: SHA-256 of the artifact, or None without a file that holds one.
    """

    measured: MeasureReport
    verdicts: VerifyReport | None
    segments: SegmentsReport | None
    against_raw: CompareReport | None
    pictures: tuple[Shown, ...]
    files: Mapping[str, str]
    artifact: str | None


def full_report(request: ReportRequest) -> FullReport:
    columns, gate = request.columns, request.gate
    options = replace(request.options, complete=True, beside_raw=request.artifact is not None)
    refuse_class_measures(columns, options.metrics)
    refuse_idle_groups(columns, options)
    if columns.on:
        refuse_segments(request, request.segments.cut)
    elif idle := options_given(request.segments):
        msg = f"--{idle[0]} without segments"
        raise IdleOption(msg, "name columns with --on, or leave it out", options=idle)
    if gate is not None:
        refuse_fit_rows(request.artifact, allowed=gate.allow_fit_rows)
        gate = verify.of_rows(gate, columns)
        verify.refuse_class_rules(gate.rules, columns)
        if any(rule.of_segments for rule in gate.rules):
            verify.refuse_segment_rules(gate, request)
        gate = verify.of_columns(gate, columns)
    # The fingerprints of files come last, and are to be those of what was read.
    found = found_for(request.inputs, columns, input_format=request.reading.input_format)
    files = [one.path for one in found.opened if not is_object(one.path)]
    with unchanged_files({path: stamp_of(path) for path in files}):
        return _full_report(with_scores(request), options, gate)


def _full_report(request: ReportRequest, options: MeasureOptions, gate: VerifyOptions | None) -> FullReport:
    segmented = bool(request.columns.on)
    extras = extras_to_measure(extras_beside_raw(request), request.columns, options)
    of_classes = () if gate is None else tuple(rule.subject for rule in gate.rules if rule.of_classes)
    evaluation = read_evaluation(
        request,
        replace(
            extras,
            twice=extras.twice or segmented,
            class_measures=tuple(dict.fromkeys((*extras.class_measures, *of_classes))),
        ),
    )
    of_first = {"the verdict": gate is not None, "segments": segmented}
    named = " and ".join(name for name, is_so in of_first.items() if is_so)
    if named and (further := len(evaluation.resolved.further)):
        are = "are" if segmented else "is"
        said = f"{named} {are} of {evaluation.input.score!r} alone, the first of {further + 1} scores"
        evaluation = replace(evaluation, notes=(*evaluation.notes, said))
    requested, cut = request.segments, None
    if segmented:
        cut = segments_in(evaluation, request, requested.cut)
    verdicts = None if gate is None else verify.verify_evaluation(evaluation, options=gate, segments=cut)
    measured = measure_evaluation(evaluation, options=options)
    segments = None
    if cut is not None:
        how = SegmentOptions(requested.cut, requested.least_rows, options.confidence)
        segments = segments_report(evaluation, cut, how)
    return FullReport(
        measured=measured,
        verdicts=verdicts,
        segments=segments,
        against_raw=_against_raw(evaluation, options),
        pictures=(*pictures_of(measured, evaluation, options=options), *segment_pictures(segments)),
        files=file_digests(measured.input.files),
        artifact=None
        if evaluation.through is None
        else file_digests([evaluation.through]).get(evaluation.through),
    )


def _against_raw(evaluation: Gathered, requested: MeasureOptions) -> CompareReport | None:
    """Compare the recalibrated score with the raw one, where there is one score."""
    names = comparable(requested.metrics.measures, edges=requested.edges is not None)
    source, tables = evaluation.input, evaluation.tables
    if evaluation.through is None or source.classes is not None or not names:
        return None
    raw = Seen(source.score, source.score, tables[RAW])
    discrete = evaluation.outputs is not None
    recalibrated = Seen(
        evaluation.through, source.score, tables[RECALIBRATED], evaluation.through, discrete=discrete
    )
    options = CompareOptions(names, requested.bins, requested.binning, requested.confidence)
    paired = evaluation.paired or PairedSums()
    found = comparisons(raw, recalibrated, paired, options=options)
    return CompareReport(
        input=source,
        first=side_of(raw, recalibrated, options),
        second=side_of(recalibrated, raw, options),
        confidence=requested.confidence,
        comparisons=found,
    )
