"""Reliability diagrams and residuals: of one score, of several side by
side, and of the worst groups or classes.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from calibcli.codec import Node, version_of
from calibcli.commands.gathering import RAW, Gathered
from calibcli.commands.measure import KEYS, measure_files, measure_table
from calibcli.commands.pictures.diagram import (
    Diagram,
    Drawn,
    PlotRequest,
    bounds_line,
    bounds_words,
    class_words,
    confidence_words,
    dropped_foot,
    fit_rows_foot,
    no_group,
    notes_of,
    rounding_foot,
    rows_line,
    title_of,
    two_ends,
)
from calibcli.commands.reading import read_evaluation
from calibcli.commands.slices import extras_beside_raw, views_of
from calibcli.commands.two_tables import differences_of
from calibcli.documents.sealed import in_file, read_document
from calibcli.errors import DocumentProblem, IdleOption, UsageProblem
from calibcli.names import Band, ClassMeasure, GroupOrder, MeasureName, PlotKind, ViewName
from calibcli.options.measuring import Metrics
from calibcli.options.numerals import percent, plural
from calibcli.options.rows import DocumentSource
from calibcli.reports.input import with_slash
from calibcli.reports.measure import (
    FROM_MEASURE,
    SCHEMA,
    GroupsSummary,
    MeasureReport,
    ViewSummary,
    report_in,
)
from calibcli.show.words import capital
from calibcli.stats.curves import CurvePanel, CurvePanels, Picture
from calibcli.stats.curves.reliability import BinnedCurve, ResidualCurve, residual_curve
from calibcli.stats.measures import ClassEstimate, Estimate
from calibcli.stats.measures.differences import PAIRED, Difference
from calibcli.stats.table.bins import looks_discrete
from calibcli.values import dataclass, replace

_LETTERS = 30

# So many names of scores stand in a title.
_NAMED = 2

_OTHERS = {
    "calibcli.gate": ("the state of a gate", PlotKind.MONITOR),
    "calibcli.artifact": ("an artifact", PlotKind.MAP),
}

WORDS = {MeasureName.ECE: "ECE", MeasureName.SMECE: "smECE"}


Number = Estimate | ClassEstimate | Difference
One = TypeVar("One", Estimate, ClassEstimate, Difference)


def number_words(found: Number, digits: int = 4, *, signed: bool = False) -> str:
    """Return a number with its interval, if it has one."""
    ends, value = two_ends(found.interval), found.value or 0.0
    if max(abs(one) for one in (value, *ends)) < _RARE:
        digits += 2
    value, *bounds = (round(one, digits) + 0.0 for one in (value, *ends))
    shown = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return f"{shown} [{bounds[0]:.{digits}f}, {bounds[1]:.{digits}f}]" if bounds else shown


def finite(numbers: Iterable[One], name: MeasureName | ClassMeasure) -> One | None:
    """Return the number of this name, where it is finite."""
    found = next((one for one in numbers if one.name is name), None)
    return found if found is not None and found.value is not None and math.isfinite(found.value) else None


def is_yes_no(report: MeasureReport) -> bool:
    """Whether every score is 0 or 1, as those of a forecast that says yes or no."""
    return report.table.discrete and bool(np.all(np.isin(report.curve.binned.score, (0.0, 1.0))))


# A report, or a slice of one, with its name.
Part = tuple[str, MeasureReport]


def panel_of(part: Part, kind: PlotKind) -> CurvePanel:
    name, report = part
    measure = MeasureName.SMECE if kind is PlotKind.SMOOTH else MeasureName.ECE
    found, word = finite(report.measures, measure), WORDS[measure]
    error = wordings(found, f"{word} ") if found is not None else (f"{word} not measured", "", "", "")
    return CurvePanel(name or "(empty)", report.table.rows, error, replace(report.curve, kind=kind))


def wordings(found: Number | None, before: str, *, signed: bool = False) -> tuple[str, ...]:
    """Return a number and its interval in wordings of falling length, the last without the interval."""
    if found is None:
        return ("", "", "", "")
    full, short = (number_words(found, digits, signed=signed) for digits in (4, 3))
    return f"{before}{full}", full, short, short.partition(" ")[0]


def brief(name: str) -> str:
    """Return a name short enough for a sentence, cut in the middle."""
    shown = name or "(empty)"
    half = _LETTERS // 2
    return shown if len(shown) <= _LETTERS else f"{shown[:half]}…{shown[-half:]}"


def event_words(label: str | None, positive: str | None) -> str:
    """Return what label 1 is called, where it was named; else nothing."""
    return "" if positive is None else f"{brief(label or 'label')} = {brief(positive)}"


def several_names(names: Collection[str]) -> str:
    """Return two names for a title, and of more how many there are: they stand in the picture."""
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} scores"


# What a report must have been asked for to have groups or classes.
_ASKED = {"groups": "--by COL", "classes": "--probs 'p_*'"}


def of_report(
    request: PlotRequest, path: DocumentSource, made: Callable[[MeasureReport], Diagram], *, needs: str = ""
) -> Diagram:
    """Return a diagram of what `measure --json` wrote, which must have a member."""

    def built(tree: Node) -> Diagram:
        version_of(tree, SCHEMA, hint=FROM_MEASURE)
        if needs and not tree.has(needs):
            msg = f"has no {needs!r}"
            raise tree.problem(msg, f"write one with `calibcli measure ... {_ASKED[needs]} --json`")
        report = report_in(tree)
        return replace(made(report), event=event_words(report.input.label, report.input.positive))

    try:
        tree = read_document(path)
        _refuse_others(path, tree.child("schema"))
        request.refuse_idle(what="a report")
        diagram, doubts = tree.built(built)
    except DocumentProblem as problem:
        raise in_file(path, problem) from None
    return replace(diagram, notes=(*(f"{path} {one}" for one in doubts), *diagram.notes))


def _refuse_others(path: DocumentSource, schema: Node) -> None:
    """Refuse documents that another kind of diagram is drawn from, by its name."""
    other = _OTHERS.get(str(schema.value).partition("/")[0])
    if other is not None:
        what, kind = other
        msg = f"{path} is {what}, and not a report"
        raise UsageProblem(msg, f"pass --kind {kind.value} to draw it")


def kind_of_document(path: DocumentSource) -> PlotKind | None:
    """Return the one kind that a document can be drawn as; None for a report, and for what is none."""
    try:
        schema = read_document(path).child("schema")
    except DocumentProblem:
        return None
    _, kind = _OTHERS.get(str(schema.value).partition("/")[0], ("", None))
    return kind


_SMALL = 0.004
# Where even the upper end is below this, as of rare events.
_RARE = 0.002

_YES_NO = "Every score is 0 or 1, so that there is no curve between: the rate of each is drawn."


def reliability_diagram(request: PlotRequest) -> Diagram:
    """Measure files for a reliability diagram, of bins where these were named; or take it from a report."""
    kind = request.kind or (PlotKind.BINNED if _bins_requested(request) else None)
    return diagram_of_measured(request, lambda measured: _drawn(measured, kind=kind))


def _bins_requested(request: PlotRequest) -> bool:
    return request.options.bins is not None or request.options.binning is not None


def diagram_of_measured(
    request: PlotRequest, draw: Callable[[MeasureReport], Drawn], *, also: tuple[MeasureName, ...] = ()
) -> Diagram:
    """Measure files for a diagram, or take what was measured from a report."""
    if request.document is not None:
        return of_report(request, request.document, lambda report: _diagram(report, draw))
    band = request.look.band
    metrics = Metrics((MeasureName.ECE, MeasureName.SMECE, *also), ())
    options = replace(request.options, metrics=metrics, beside_raw=False, band=band)
    report = measure_files(request, options=options)
    diagram = _diagram(report, draw)
    if band is not Band.POINTWISE and _of_bins(diagram.drawn.picture):
        msg = f"--band {band.value} has no effect on bins, each of which has an interval of its own"
        raise IdleOption(msg, "leave it out, or pass --kind isotonic", options=("band",))
    return replace(diagram, notes=notes_of(report), source=report.input)


def _of_bins(picture: Picture) -> bool:
    """Whether rates of bins are drawn, and no curve."""
    if isinstance(picture, ResidualCurve):
        return isinstance(picture.source, BinnedCurve)
    return picture.kind is PlotKind.BINNED


def _diagram(report: MeasureReport, draw: Callable[[MeasureReport], Drawn]) -> Diagram:
    drawn = draw(report)
    foot = (*drawn.foot, *_of_rows(report), *class_words(report.input).meaning, *fit_rows_foot(report.notes))
    return Diagram(replace(drawn, foot=foot), title_of(report.input, artifact=report.artifact))


def _drawn(report: MeasureReport, *, kind: PlotKind | None) -> Drawn:
    curve = report.curve
    if kind is PlotKind.SMOOTH and is_yes_no(report):
        # A curve between yes and no would show rates of scores that no row has.
        return Drawn(replace(curve, kind=PlotKind.BINNED), caption_of(report, PlotKind.BINNED), (_YES_NO,))
    resolved = kind or (PlotKind.BINNED if report.table.discrete or curve.smooth is None else PlotKind.SMOOTH)
    if resolved is PlotKind.SMOOTH and curve.smooth is None:
        msg = "the report holds no smooth curve"
        raise UsageProblem(msg, "measure smece as well, or pass --kind binned")
    return Drawn(replace(curve, kind=resolved), caption_of(report, resolved))


def caption_of(report: MeasureReport, kind: PlotKind) -> tuple[str, ...]:
    """Return the error that the picture encodes, and what it rests on."""
    name = MeasureName.SMECE if kind is PlotKind.SMOOTH else MeasureName.ECE
    table, rows = report.table, rows_line(report.table.rows, report.table.positive)
    found = finite(report.measures, name)
    if found is None:
        return (rows,)
    # Over single values of the score it is the error itself.
    binned = "ECE" if table.discrete else "binned ECE"
    words = "smECE" if name is MeasureName.SMECE else binned
    # Errors of rare events are small, and four decimals would round them away.
    form = f".{4 if found.value >= _SMALL else 6}f"
    low, high = found.null_range or (0.0, 0.0)
    expected = "" if found.null_range is None else f"; by chance {low:{form}} to {high:{form}}"
    weighted = ", weighted by importance" if table.weighted else ""
    return f"{words} {found.value:{form}}{bounds_line(found.interval, form)}", f"{rows}{weighted}{expected}"


def residual_diagram(request: PlotRequest) -> Diagram:
    """Measure files for a diagram of residuals, or take it from a report.

    Points stand for bins where the score takes few values or bins were asked for; else there is a curve.
    """
    requested = _bins_requested(request)
    return diagram_of_measured(
        request, lambda measured: residual_drawn(measured, by_bins=requested), also=(MeasureName.BIAS,)
    )


def residual_drawn(report: MeasureReport, *, by_bins: bool) -> Drawn:
    by_bins = by_bins or report.table.discrete or report.curve.smooth is None
    error, *rest = caption_of(report, PlotKind.BINNED if by_bins else PlotKind.SMOOTH)
    return Drawn(residual_curve(report.curve, by_bins=by_bins), (error, *_bias(report), *rest))


def _bias(report: MeasureReport) -> list[str]:
    found = finite(report.measures, MeasureName.BIAS)
    if found is None:
        return []
    signed = f"+.{4 if abs(found.value) >= _SMALL else 6}f"
    return [f"Mean label - mean score {found.value:{signed}}{bounds_words(found.interval, signed)}"]


# So many panels stand beside each other.
MOST = 9


def refuse_panels(count: int, what: str) -> None:
    """Refuse more panels than a page has room for."""
    if count > MOST:
        msg = f"{count} {what}, and a picture shows at most {MOST} beside each other"
        raise UsageProblem(msg, "name fewer, or show all in one with --kind mcb-dsc or --kind murphy")


_LISTED = 5

_JOINT = {ViewName.ONE_VS_REST: ClassMeasure.CLASSWISE_ECE, ViewName.TOP_LABEL: ClassMeasure.TOP_LABEL_ECE}


@dataclass(frozen=True, slots=True)
class _Many:
    """What there is many of, in words.

    Args:
        names: What each is called, by its key.
        whole: The error of all together, or nothing.
        added: What the title says besides files and score.
        meaning: What label 1 is in these parts, where it is not that of the input.
    """

    summary: GroupsSummary | ViewSummary
    names: Mapping[str, str]
    one: str
    many: str
    whole: str
    added: str
    meaning: str = ""

    @property
    def sharper(self) -> Mapping[str, float] | None:
        """Lower bounds by which `measure` orders classes, where they are not those of the intervals."""
        return self.summary.at_least if isinstance(self.summary, ViewSummary) else None


def classes_diagram(request: PlotRequest) -> Diagram:
    """Measure every class for diagrams of the worst, or take them from a report."""
    if request.document is not None:
        alone = replace(request, view=None)
        return of_report(
            alone, request.document, lambda report: classes_of(report, request.view), needs="classes"
        )
    view = request.view or ViewName.ONE_VS_REST
    several = request.columns.several
    columns = replace(request.columns, several=None if several is None else replace(several, view=view))
    return _slices_measured(replace(request, columns=columns), view)


def groups_diagram(request: PlotRequest) -> Diagram:
    """Measure every group of rows for diagrams of the worst, or take them from a report."""
    if request.document is not None:
        return of_report(request, request.document, groups_of, needs="groups")
    return _slices_measured(request, None)


def _slices_measured(request: PlotRequest, view: ViewName | None) -> Diagram:
    """Measure what is drawn, and nothing that is drawn by chance."""
    joint = () if view is None else (_JOINT[view],)
    options = replace(
        request.options,
        metrics=Metrics((MeasureName.ECE,), (), joint, selected=True),
        complete=False,
        drawn=False,
    )
    report = measure_files(request, options=options)
    diagram = groups_of(report) if view is None else classes_of(report, view)
    return replace(diagram, notes=notes_of(report), source=report.input)


def classes_of(report: MeasureReport, view: ViewName | None) -> Diagram:
    """Return the diagram of the classes of a report, in the view asked for or the first there is."""
    classes = report.classes
    views = {} if classes is None else {one.view: one for one in classes.views}
    resolved = view or next((one for one in KEYS if one in views), ViewName.ONE_VS_REST)
    if classes is None or resolved not in views:
        place, msg = "$.classes.views", f"has no {resolved.value!r}"
        raise DocumentProblem(place, msg, "measure with --view of single classes, or none")
    summary = views[resolved]
    names = {one: one.removeprefix(f"{KEYS[resolved]}=") for one in (*summary.measured, *summary.left_out)}
    joint = finite(classes.measures, _JOINT[resolved])
    if resolved is ViewName.ONE_VS_REST:
        word, added = "class-wise ECE", ", each class against the rest"
        meaning = "Label 1: the row is of the class."
    else:
        word, added = "top-label ECE", ", by predicted class"
        meaning = "Rows are those that predict the class; label 1: they are right."
    whole = _together(word, joint)
    return _slices_diagram(report, _Many(summary, names, "class", "classes", whole, added, meaning))


def groups_of(report: MeasureReport) -> Diagram:
    """Return the diagram of the groups of a report, the worst first or in the order that was requested."""
    if report.groups is None:
        raise no_group(0)
    columns, summary = report.groups.columns, report.groups
    names = {one: group_name(one, columns) for one in (*summary.measured, *summary.left_out)}
    whole = _together("ECE of all rows", finite(report.measures, MeasureName.ECE))
    added = f"{class_words(report.input).added} by {', '.join(columns)}"
    many = _Many(summary, names, "group", "groups", whole, added)
    return _slices_diagram(report, many, ordered=summary.order is not GroupOrder.WORST)


def _together(word: str, found: Number | None) -> str:
    """Return the error of all together, or nothing."""
    return "" if found is None else f"{word} {number_words(found)}{confidence_words(found.interval)}"


def group_name(key: str, columns: Sequence[str]) -> str:
    if len(columns) == 1:
        return f"{columns[0]} = {key.removeprefix(f'{columns[0]}=')}"
    pairs = key.split("/")
    if len(pairs) != len(columns):
        return key
    values = (pair.removeprefix(f"{column}=") for pair, column in zip(pairs, columns, strict=True))
    named = (f"{column} = {value}" for column, value in zip(columns, values, strict=True))
    return ", ".join(map(with_slash, named))


def _slices_diagram(report: MeasureReport, found: _Many, *, ordered: bool = False) -> Diagram:
    one, summary = found.one, found.summary
    parts = [(found.names[key], report.slices[key]) for key in summary.measured]
    sharper = found.sharper
    least = [None if sharper is None else sharper[key] for key in summary.measured]
    ranked = [part for part, _ in sorted(zip(parts, least, strict=True), key=lambda one: _goodness(*one))]
    if not ranked:
        msg = f"no {one} has {summary.least_rows:,} rows"
        raise UsageProblem(msg, f"--min-group-rows says how many rows a {one} must have to be measured")
    panels = tuple(panel_of(part, PlotKind.BINNED) for part in (parts if ordered else ranked)[:MOST])
    rows, positive = report.table.rows, report.table.positive
    # Of all classes together, label 1 means that the predicted one was right.
    counted = plural(rows, "row") if found.meaning else rows_line(rows, positive)
    which = f"only {one} measured" if len(ranked) == 1 else f"worst of {len(ranked):,} {found.many}"
    worst = f"{which}: {brief(ranked[0][0])}"
    caption = (found.whole, f"{counted}; {worst}") if found.whole else (worst, counted)
    picture = CurvePanels(PlotKind.CLASSES if found.meaning else PlotKind.GROUPS, panels)
    foot = (*_foot(found, len(panels), report.confidence, ordered=ordered), *_of_rows(report, *parts))
    drawn = Drawn(picture, caption, (*foot, *fit_rows_foot(report.notes)))
    return Diagram(drawn, title_of(report.input, artifact=report.artifact, added=found.added))


def _goodness(part: Part, least: float | None) -> tuple[bool, float, float]:
    """Return what sorts the worst first: by the lower bound of ECE, or a sharper one, then by its value."""
    found = finite(part[1].measures, MeasureName.ECE)
    if found is None:
        return True, 0.0, 0.0
    lower = least if least is not None or found.interval is None else found.interval.lower
    return False, -(lower or 0.0), -found.value


def _foot(found: _Many, shown: int, together: float, *, ordered: bool) -> tuple[str, ...]:
    """Return how many are shown, what their intervals mean together, and which are not measured."""
    summary, many = found.summary, found.many
    count = len(summary.measured)
    lines, every = [], f"both {many}" if count == 2 else f"all {count:,} {many}"
    if count > 1:
        which = capital(every) if shown == count else f"{shown} of {count:,} {many}"
        bound = "" if found.sharper is None else ", of the interval or by betting"
        order = f"the largest lower bound of the ECE first{bound}, then the largest ECE"
        order = "in the order requested" if ordered else order
        lines.append(f"{which}, {order}.")
    if found.meaning:
        lines.append(found.meaning)
    if summary.confidence != together:
        lines.append(
            f"Every interval is at {percent(summary.confidence)}, so that those of {every} "
            f"hold at once with {percent(together)} (Bonferroni)."
        )
    if summary.left_out:
        left_out = [(found.names[key], rows) for key, rows in summary.left_out.items()]
        few = sorted(left_out, key=lambda one: (-one[1], one[0]))
        listed = ", ".join(f"{brief(name)} ({rows:,})" for name, rows in few[:_LISTED])
        more = f" and {len(few) - _LISTED:,} more" if len(few) > _LISTED else ""
        lines.append(f"Fewer than {summary.least_rows:,} rows, so not measured: {listed}{more}.")
    return (" ".join(lines),) if lines else ()


_RAW, _THROUGH = "raw", "recalibrated"


def compare_diagram(request: PlotRequest) -> Diagram:
    """Measure scores of the same rows for diagrams side by side, or take them from a report."""
    if request.document is not None:
        return of_report(request, request.document, scores_of)
    scores = 1 + len(request.columns.others)
    if scores == 1 and request.artifact is None:
        msg = "nothing to compare with"
        raise UsageProblem(msg, "name two scores (-s a -s b), or add --artifact cal.json")
    refuse_panels(scores, "scores")
    evaluation = read_evaluation(request, extras_beside_raw(request))
    report = _report(evaluation, request)
    diagram = scores_of(report)
    notes = (*report.input.notes, *report.notes, *evaluation.notes, *evaluation.fit_notes)
    drawn = replace(diagram.drawn, foot=(*diagram.drawn.foot, *fit_rows_foot(notes)))
    return replace(diagram, drawn=drawn, notes=notes, source=report.input)


_YES_AND_NO = 2


def _report(evaluation: Gathered, request: PlotRequest) -> MeasureReport:
    """Measure each score by the error that its diagram shows, and how the others differ from the first."""
    views, requested = views_of(evaluation), request.options
    if evaluation.recalibrated:
        raw = replace(views[0], table=evaluation.tables[RAW], key=_RAW)
        views = raw, replace(views[0], key=_THROUGH)
    few_valued = all(looks_discrete(one.table) for one in views)
    # A curve between yes and no would show rates of scores that no row has.
    yes_no = any(one.table.distinct <= _YES_AND_NO for one in views)
    smooth = not (few_valued or yes_no) and requested.bins is None and requested.binning is None
    name = MeasureName.SMECE if smooth else MeasureName.ECE
    options = replace(requested, metrics=Metrics((name,), ()), complete=smooth, drawn=False)
    reports = [measure_table(one.table, one.source, options=options) for one in views]
    paired = evaluation.extras.paired
    names = (name, MeasureName.BRIER) if paired else (name,)
    return replace(
        reports[0],
        artifact=evaluation.through,
        slices={one.key: report for one, report in zip(views[1:], reports[1:], strict=True)},
        differences=differences_of(views, paired, names, requested),
    )


def scores_of(report: MeasureReport) -> Diagram:
    """Return the diagram of a report of several scores, or of one raw and recalibrated."""
    parts = _parts(report)
    few = all(one.table.discrete for _, one in parts) or any(is_yes_no(one) for _, one in parts)
    smooth = not few and all(one.curve.smooth is not None for _, one in parts)
    kind = PlotKind.SMOOTH if smooth else PlotKind.BINNED
    name = MeasureName.SMECE if smooth else MeasureName.ECE
    panels = [panel_of(one, kind) for one in parts]
    apart, paired = (_differences(report, parts, one) for one in (name, PAIRED[0]))
    if len(parts) > 2:
        panels = [
            replace(one, against=wordings(found, "differs by ", signed=True))
            for one, found in zip(panels, (None, *apart), strict=True)
        ]
    source = report.input
    shown = several_names([one for one, _ in parts])
    source = replace(source, score=f"{source.score}, raw and" if report.artifact is not None else shown)
    foot = (
        *_compare_foot(parts, paired),
        *_of_rows(report, *parts),
        *class_words(source).meaning,
    )
    drawn = Drawn(CurvePanels(PlotKind.COMPARE, tuple(panels)), _caption(report, parts, name), foot)
    return Diagram(drawn, title_of(source, artifact=report.artifact))


def _parts(report: MeasureReport) -> list[Part]:
    """Return the report and its slices of other scores, that which others are compared with first."""
    slices, score = report.slices, report.input.score
    if report.artifact is not None and _THROUGH in report.differences:
        return [(_RAW, report), (_THROUGH, slices[_THROUGH])]
    if report.artifact is not None and f"score={score}" in slices:
        return [(_RAW, slices[f"score={score}"]), (_THROUGH, report)]
    others = list(report.further_scores.values())[: MOST - 1]
    if not others:
        place, msg = "$.slices", "holds one score"
        hint = "write one with `calibcli measure ... -s a -s b --json`, or with --artifact cal.json -v"
        raise DocumentProblem(place, msg, hint)
    return [(one.input.score, one) for one in (report, *others)]


def _differences(report: MeasureReport, parts: Sequence[Part], name: MeasureName) -> list[Difference | None]:
    """Return by how much each further score differs from the first."""
    found = [finite(one, name) for one in report.differences.values()]
    return found[: len(parts) - 1] or [None for _ in parts[1:]]


def _caption(report: MeasureReport, parts: Sequence[Part], name: MeasureName) -> tuple[str, ...]:
    """Return the error with what it differs by, and for two scores their paired difference."""
    word, first = WORDS[name], brief(parts[0][0])
    rows = rows_line(report.table.rows, report.table.positive)
    apart, paired = (_differences(report, parts, one)[0] for one in (name, PAIRED[0]))
    both = f"{brief(parts[1][0])} less {first}"
    by_row = "" if paired is None else f"Brier score, row by row, {both}: {number_words(paired, signed=True)}"
    if apart is None:
        errors = [(brief(one), finite(part.measures, name)) for one, part in parts]
        said = "; ".join(f"{who} {number_words(found)}" for who, found in errors if found is not None)
        if not said and by_row and len(parts) == 2:
            return by_row, rows
        return (f"{word}: {said}", rows) if said else (rows,)
    sure = confidence_words(apart.interval)
    if len(parts) > 2:
        return f"{word} of {len(parts)} scores, and how each differs from {first}{sure}", rows
    line = (by_row,) if by_row else ()
    return f"{word}, {both}: {number_words(apart, signed=True)}{sure}", *line, rows


def _of_rows(report: MeasureReport, *parts: Part) -> tuple[str, ...]:
    """Return what became of the rows that a report, or parts of it, are drawn of."""
    tables = [one.table for one in (report, *(part for _, part in parts))]
    return (*dropped_foot(report.input.dropped), *rounding_foot(*tables))


def _compare_foot(parts: Sequence[Part], paired: Sequence[Difference | None]) -> tuple[str, ...]:
    """Return the paired differences of several scores."""
    if len(parts) == 2:
        return ()
    said = [
        f"{brief(name)} {number_words(found, signed=True)}"
        for (name, _), found in zip(parts[1:], paired, strict=True)
        if found is not None
    ]
    return (f"Brier score less that of {brief(parts[0][0])}, row by row: {'; '.join(said)}.",) if said else ()
