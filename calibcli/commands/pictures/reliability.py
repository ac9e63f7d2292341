"""Reliability diagrams and residuals: of one score, of several side by
side, and of the worst groups or classes.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from calibcli.codec import Node, version_of
from calibcli.commands.gathering import RAW, Gathered
from calibcli.commands.measure import KEYS, measure_files, measure_table
from calibcli.commands.pictures.diagram import (
    Diagram,
    Drawn,
    PlotRequest,
    class_words_of_tree,
    dropped_foot,
    fit_rows_foot,
    notes_of,
    rounding_foot,
    rows_line,
    title_from,
)
from calibcli.commands.reading import read_evaluation
from calibcli.commands.slices import extras_beside_raw, views_of
from calibcli.commands.two_tables import differences_of
from calibcli.documents.sealed import in_file, read_document
from calibcli.errors import DocumentProblem, IdleOption, UsageProblem
from calibcli.names import Band, ClassMeasure, MeasureName, PlotKind, ViewName
from calibcli.options.measuring import Metrics
from calibcli.options.numerals import percent, plural
from calibcli.options.rows import DocumentSource
from calibcli.reports.input import with_slash
from calibcli.reports.measure import SCHEMA, MeasureReport
from calibcli.show.words import capital
from calibcli.stats.curves import CurvePanel, CurvePanels, Picture
from calibcli.stats.curves.reliability import BinnedCurve, ReliabilityCurve, ResidualCurve, residual_curve
from calibcli.stats.measures.differences import PAIRED
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


@dataclass(frozen=True, slots=True)
class Stated:
    """A number as a report states it."""

    value: float
    lower: float | None
    upper: float | None
    confidence: float | None

    @classmethod
    def read(cls, node: Node) -> "Stated | None":
        """Read a measure or a difference; None where it has no finite value."""
        value = node.optional("value")
        if value is None or isinstance(value.value, str):
            return None
        lower, upper, confidence = (node.optional(key) for key in ("lower", "upper", "confidence"))
        return cls(
            value.number(),
            None if lower is None else lower.number(),
            None if upper is None else upper.number(),
            None if confidence is None else confidence.number(0.0, 1.0),
        )

    def words(self, digits: int = 4, *, signed: bool = False) -> str:
        ends = [] if self.lower is None or self.upper is None else [self.lower, self.upper]
        if max(abs(one) for one in (self.value, *ends)) < _RARE:
            digits += 2
        value, *bounds = (round(one, digits) + 0.0 for one in (self.value, *ends))
        shown = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
        return f"{shown} [{bounds[0]:.{digits}f}, {bounds[1]:.{digits}f}]" if bounds else shown

    def bounds(self, form: str) -> str:
        """Return a two-sided interval as it stands behind its number, or nothing."""
        return (
            ""
            if self.lower is None or self.upper is None
            else f"  [{self.lower:{form}}, {self.upper:{form}}]"
        )

    @property
    def at(self) -> str:
        """The confidence in words, or nothing without an interval."""
        bounded = self.lower is not None and self.upper is not None and self.confidence is not None
        return f" at {(self.confidence or 0.0) * 100:.4g} % confidence" if bounded else ""


_FROM_MEASURE = "write one with `calibcli measure ... --json -o report.json`"


@dataclass(frozen=True, slots=True)
class Part:
    """A report, or a slice of one."""

    name: str
    tree: Node

    def stated(self, name: MeasureName) -> Stated | None:
        found = self.tree.child("measures").members().get(name.value)
        return None if found is None else Stated.read(found)

    @property
    def rows(self) -> int:
        return self.tree.child("table").child("rows").whole(1)

    @property
    def discrete(self) -> bool:
        """Whether each value of the score is measured by itself."""
        return self.tree.child("table").child("discrete").truth()

    @property
    def curve(self) -> ReliabilityCurve:
        if self.tree.child("curve").value is None:
            msg = "is null: this is not a report of `calibcli measure`"
            raise self.tree.child("curve").problem(msg, _FROM_MEASURE)
        return ReliabilityCurve.from_dict(self.tree.child("curve"))

    @property
    def yes_no(self) -> bool:
        """Whether every score is 0 or 1, as those of a forecast that says yes or no."""
        return self.discrete and bool(np.all(np.isin(self.curve.binned.score, (0.0, 1.0))))

    @property
    def smooth(self) -> bool:
        return self.tree.child("curve").optional("smooth") is not None


def panel_of(part: Part, kind: PlotKind) -> CurvePanel:
    measure = MeasureName.SMECE if kind is PlotKind.SMOOTH else MeasureName.ECE
    found, word = part.stated(measure), WORDS[measure]
    error = wordings(found, f"{word} ") if found is not None else (f"{word} not measured", "", "", "")
    return CurvePanel(part.name or "(empty)", part.rows, error, replace(part.curve, kind=kind))


def wordings(found: Stated | None, before: str, *, signed: bool = False) -> tuple[str, ...]:
    """Return a number and its interval in wordings of falling length, the last without the interval."""
    if found is None:
        return ("", "", "", "")
    full, short = (found.words(digits, signed=signed) for digits in (4, 3))
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


def of_report(request: PlotRequest, path: DocumentSource, made: Callable[[Node], Diagram]) -> Diagram:
    """Return a diagram of what `measure --json` wrote."""
    request.refuse_idle(what="a report")
    try:
        tree = read_document(path)
        _refuse_others(path, tree.child("schema"))
        diagram, doubts = tree.built(lambda node: _made(node, made))
    except DocumentProblem as problem:
        raise in_file(path, problem) from None
    said = tree.child("input").members()
    event = event_words(said["label"].text(), said["positive"].text()) if "positive" in said else ""
    return replace(diagram, event=event, notes=(*(f"{path} {one}" for one in doubts), *diagram.notes))


def _made(tree: Node, made: Callable[[Node], Diagram]) -> Diagram:
    version_of(tree, SCHEMA, hint=_FROM_MEASURE)
    return made(tree)


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


def title_of_tree(tree: Node, scores: Sequence[str] = (), *, added: str = "") -> str:
    source, artifact = tree.child("input"), tree.optional("artifact")
    score = several_names(scores) or source.child("score").text()
    path = None if artifact is None else artifact.text()
    selected = source.members().get("selected")
    where = () if selected is None else selected.child("where").texts()
    return title_from(source.child("files").texts(), score, artifact=path, where=where) + added


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
    request: PlotRequest, draw: Callable[[Part], Drawn], *, also: tuple[MeasureName, ...] = ()
) -> Diagram:
    """Measure files for a diagram, or take what was measured from a report."""
    if request.document is not None:
        return of_report(request, request.document, lambda tree: _diagram(Part("", tree), draw))
    band = request.look.band
    metrics = Metrics((MeasureName.ECE, MeasureName.SMECE, *also), ())
    options = replace(request.options, metrics=metrics, beside_raw=False, band=band)
    report = measure_files(request, options=options)
    diagram = _diagram(Part("", Node(report.to_dict())), draw)
    if band is not Band.POINTWISE and _of_bins(diagram.drawn.picture):
        msg = f"--band {band.value} has no effect on bins, each of which has an interval of its own"
        raise IdleOption(msg, "leave it out, or pass --kind isotonic", options=("band",))
    return replace(diagram, notes=notes_of(report), source=report.input)


def _of_bins(picture: Picture) -> bool:
    """Whether rates of bins are drawn, and no curve."""
    if isinstance(picture, ResidualCurve):
        return isinstance(picture.source, BinnedCurve)
    return picture.kind is PlotKind.BINNED


def _diagram(measured: Part, draw: Callable[[Part], Drawn]) -> Diagram:
    drawn, classes = draw(measured), class_words_of_tree(measured.tree)
    flattering = fit_rows_foot(measured.tree.child("notes").texts())
    drawn = replace(drawn, foot=(*drawn.foot, *_of_rows(measured.tree), *classes.meaning, *flattering))
    return Diagram(drawn, title_of_tree(measured.tree, added=classes.added))


def _drawn(measured: Part, *, kind: PlotKind | None) -> Drawn:
    curve = measured.curve
    resolved = kind or (PlotKind.BINNED if measured.discrete or curve.smooth is None else PlotKind.SMOOTH)
    if kind is PlotKind.SMOOTH and measured.yes_no:
        # A curve between yes and no would show rates of scores that no row has.
        return Drawn(
            replace(curve, kind=PlotKind.BINNED), caption_of(measured.tree, PlotKind.BINNED), (_YES_NO,)
        )
    if resolved is PlotKind.SMOOTH and curve.smooth is None:
        msg = "the report holds no smooth curve"
        raise UsageProblem(msg, "measure smece as well, or pass --kind binned")
    return Drawn(replace(curve, kind=resolved), caption_of(measured.tree, resolved))


def caption_of(tree: Node, kind: PlotKind) -> tuple[str, ...]:
    """Return the error that the picture encodes, as the report states it, and what it rests on."""
    name = MeasureName.SMECE if kind is PlotKind.SMOOTH else MeasureName.ECE
    measure, table = tree.child("measures").members().get(name.value), tree.child("table")
    rows = rows_line(table.child("rows").whole(), table.child("positive").whole())
    found = None if measure is None else Stated.read(measure)
    if measure is None or found is None:
        return (rows,)
    # Over single values of the score it is the error itself.
    binned = "ECE" if table.child("discrete").truth() else "binned ECE"
    words = "smECE" if name is MeasureName.SMECE else binned
    # Errors of rare events are small, and four decimals would round them away.
    form = f".{4 if found.value >= _SMALL else 6}f"
    ends = [measure.members().get(end) for end in ("null_lower", "null_upper")]
    low, high = (f"{end.number():{form}}" if end and end.value is not None else "" for end in ends)
    expected = f"; by chance {low} to {high}" if low and high else ""
    weighted = ", weighted by importance" if table.child("weighted").truth() else ""
    return f"{words} {found.value:{form}}{found.bounds(form)}{found.at}", f"{rows}{weighted}{expected}"


def residual_diagram(request: PlotRequest) -> Diagram:
    """Measure files for a diagram of residuals, or take it from a report.

    Points stand for bins where the score takes few values or bins were asked for; else there is a curve.
    """
    requested = _bins_requested(request)
    return diagram_of_measured(
        request, lambda measured: residual_drawn(measured, by_bins=requested), also=(MeasureName.BIAS,)
    )


def residual_drawn(measured: Part, *, by_bins: bool) -> Drawn:
    by_bins = by_bins or measured.discrete or measured.curve.smooth is None
    error, *rest = caption_of(measured.tree, PlotKind.BINNED if by_bins else PlotKind.SMOOTH)
    return Drawn(residual_curve(measured.curve, by_bins=by_bins), (error, *_bias(measured), *rest))


def _bias(measured: Part) -> list[str]:
    found = measured.stated(MeasureName.BIAS)
    if found is None:
        return []
    signed = f"+.{4 if abs(found.value) >= _SMALL else 6}f"
    return [f"Mean label - mean score {found.value:{signed}}{found.bounds(signed)}"]


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
class _Said:
    """What there is many of, in words.

    Args:
        whole: The error of all together, or nothing.
        added: What the title says besides files and score.
        meaning: What label 1 is in these parts, where it is not that of the input.
    """

    one: str
    many: str
    whole: str
    added: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class _Many:
    """What there is to choose the worst of.

    Args:
        left_out: Rows of each of the others, by name.
        least_rows: How many rows would have been enough.
        together: With which all of them hold together.
    """

    said: _Said
    parts: tuple[Part, ...]
    left_out: Mapping[str, int]
    least_rows: int
    confidence: float
    together: float


def classes_diagram(request: PlotRequest) -> Diagram:
    """Measure every class for diagrams of the worst, or take them from a report."""
    if request.document is not None:
        return of_report(
            replace(request, view=None), request.document, lambda tree: classes_of_tree(tree, request.view)
        )
    view = request.view or ViewName.ONE_VS_REST
    several = request.columns.several
    columns = replace(request.columns, several=None if several is None else replace(several, view=view))
    return _slices_measured(replace(request, columns=columns), view)


def groups_diagram(request: PlotRequest) -> Diagram:
    """Measure every group of rows for diagrams of the worst, or take them from a report."""
    if request.document is not None:
        return of_report(request, request.document, groups_of_tree)
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
    tree = Node(report.to_dict())
    if view is None:
        diagram = groups_of_tree(tree, ordered=request.options.sort is not None)
    else:
        diagram = classes_of_tree(tree, view)
    return replace(diagram, notes=notes_of(report), source=report.input)


def classes_of_tree(tree: Node, view: ViewName | None) -> Diagram:
    """Return the diagram of the classes of a report, in the view asked for or the first there is."""
    members = tree.members()
    if "classes" not in members:
        msg = "has no 'classes'"
        raise tree.problem(msg, "write one with `calibcli measure ... --probs 'p_*' --json`")
    views = members["classes"].child("views").members()
    resolved = view or next((one for one in KEYS if one.value in views), ViewName.ONE_VS_REST)
    if resolved.value not in views:
        msg = f"has no {resolved.value!r}"
        raise members["classes"].child("views").problem(msg, "measure with --view of single classes, or none")
    summary = views[resolved.value]
    name = {one: one.removeprefix(f"{KEYS[resolved]}=") for one in _keys(summary)}
    joint = tree.child("measures").members().get(_JOINT[resolved].value)
    stated = None if joint is None else Stated.read(joint)
    if resolved is ViewName.ONE_VS_REST:
        word, added = "class-wise ECE", ", each class against the rest"
        meaning = "Label 1: the row is of the class."
    else:
        word, added = "top-label ECE", ", by predicted class"
        meaning = "Rows are those that predict the class; label 1: they are right."
    whole = "" if stated is None else f"{word} {stated.words()}{stated.at}"
    return _slices_diagram(
        tree, _many(tree, summary, name, said=_Said("class", "classes", whole, added, meaning))
    )


def groups_of_tree(tree: Node, *, ordered: bool = False) -> Diagram:
    """Return the diagram of the groups of a report, the worst first or, if `ordered`, as they stand there."""
    if "groups" not in tree.members():
        msg = "has no 'groups'"
        raise tree.problem(msg, "write one with `calibcli measure ... --by COL --json`")
    summary = tree.child("groups")
    columns = summary.child("columns").texts()
    name = {one: group_name(one, columns) for one in _keys(summary)}
    stated = Part("", tree).stated(MeasureName.ECE)
    whole = "" if stated is None else f"ECE of all rows {stated.words()}{stated.at}"
    seen = class_words_of_tree(tree).added
    said = _Said("group", "groups", whole, f"{seen} by {', '.join(columns)}")
    return _slices_diagram(tree, _many(tree, summary, name, said=said), ordered=ordered)


def _keys(summary: Node) -> tuple[str, ...]:
    return (*summary.child("measured").texts(), *summary.child("left_out").members())


def group_name(key: str, columns: Sequence[str]) -> str:
    if len(columns) == 1:
        return f"{columns[0]} = {key.removeprefix(f'{columns[0]}=')}"
    pairs = key.split("/")
    if len(pairs) != len(columns):
        return key
    values = (pair.removeprefix(f"{column}=") for pair, column in zip(pairs, columns, strict=True))
    named = (f"{column} = {value}" for column, value in zip(columns, values, strict=True))
    return ", ".join(map(with_slash, named))


def _many(tree: Node, summary: Node, name: Mapping[str, str], *, said: _Said) -> _Many:
    curve = tree.child("curve")
    confidence = summary.child("confidence").number(0.0, 1.0)
    slices = tree.child("slices")
    return _Many(
        said,
        tuple(Part(name[key], slices.child(key)) for key in summary.child("measured").texts()),
        {name[key]: rows.whole() for key, rows in summary.child("left_out").members().items()},
        summary.child("least_rows").whole(),
        confidence,
        confidence if curve.value is None else curve.child("confidence").number(0.0, 1.0),
    )


def _slices_diagram(tree: Node, found: _Many, *, ordered: bool = False) -> Diagram:
    one, said = found.said.one, found.said
    ranked = sorted(found.parts, key=_goodness)
    if not ranked:
        msg = f"no {one} has {found.least_rows:,} rows"
        raise UsageProblem(msg, f"--min-group-rows says how many rows a {one} must have to be measured")
    panels = tuple(panel_of(part, PlotKind.BINNED) for part in (found.parts if ordered else ranked)[:MOST])
    table = tree.child("table")
    rows, positive = table.child("rows").whole(), table.child("positive").whole()
    # Of all classes together, label 1 means that the predicted one was right.
    counted = plural(rows, "row") if said.meaning else rows_line(rows, positive)
    which = f"only {one} measured" if len(ranked) == 1 else f"worst of {len(ranked):,} {said.many}"
    worst = f"{which}: {brief(ranked[0].name)}"
    caption = (said.whole, f"{counted}; {worst}") if said.whole else (worst, counted)
    picture = CurvePanels(PlotKind.CLASSES if said.meaning else PlotKind.GROUPS, panels)
    foot = (*_foot(found, len(panels), ordered=ordered), *_of_rows(tree, *found.parts))
    foot = (*foot, *fit_rows_foot(tree.child("notes").texts()))
    return Diagram(Drawn(picture, caption, foot), title_of_tree(tree, added=said.added))


def _goodness(part: Part) -> tuple[bool, float, float]:
    """Return what sorts the worst first: by the lower bound of ECE, then by its value."""
    found = part.stated(MeasureName.ECE)
    if found is None:
        return True, 0.0, 0.0
    return False, -(found.lower or 0.0), -found.value


def _foot(found: _Many, shown: int, *, ordered: bool) -> tuple[str, ...]:
    """Return how many are shown, what their intervals mean together, and which are not measured."""
    count, many = len(found.parts), found.said.many
    lines, every = [], f"both {many}" if count == 2 else f"all {count:,} {many}"
    if count > 1:
        which = capital(every) if shown == count else f"{shown} of {count:,} {many}"
        order = "the largest lower bound of the ECE first, then the largest ECE"
        order = "in the order requested" if ordered else order
        lines.append(f"{which}, {order}.")
    if found.said.meaning:
        lines.append(found.said.meaning)
    if found.confidence != found.together:
        lines.append(
            f"Every interval is at {percent(found.confidence)}, so that those of {every} "
            f"hold at once with {percent(found.together)} (Bonferroni)."
        )
    if found.left_out:
        few = sorted(found.left_out.items(), key=lambda one: (-one[1], one[0]))
        listed = ", ".join(f"{brief(name)} ({rows:,})" for name, rows in few[:_LISTED])
        more = f" and {len(few) - _LISTED:,} more" if len(few) > _LISTED else ""
        lines.append(f"Fewer than {found.least_rows:,} rows, so not measured: {listed}{more}.")
    return (" ".join(lines),) if lines else ()


_RAW, _THROUGH = "raw", "recalibrated"


def compare_diagram(request: PlotRequest) -> Diagram:
    """Measure scores of the same rows for diagrams side by side, or take them from a report."""
    if request.document is not None:
        return of_report(request, request.document, scores_of_tree)
    scores = 1 + len(request.columns.others)
    if scores == 1 and request.artifact is None:
        msg = "nothing to compare with"
        raise UsageProblem(msg, "name two scores (-s a -s b), or add --artifact cal.json")
    refuse_panels(scores, "scores")
    evaluation = read_evaluation(request, extras_request=extras_beside_raw(request))
    report = _report(evaluation, request)
    diagram = scores_of_tree(Node(report.to_dict()))
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


def scores_of_tree(tree: Node) -> Diagram:
    """Return the diagram of a report of several scores, or of one raw and recalibrated."""
    parts = _parts(tree)
    few = all(one.discrete for one in parts) or any(one.yes_no for one in parts)
    smooth = all(one.smooth for one in parts) and not few
    kind = PlotKind.SMOOTH if smooth else PlotKind.BINNED
    name = MeasureName.SMECE if smooth else MeasureName.ECE
    apart, paired = (_stated(tree, parts, one) for one in (name, PAIRED[0]))
    panels = [panel_of(one, kind) for one in parts]
    if len(parts) > 2:
        panels = [
            replace(one, against=wordings(found, "differs by ", signed=True))
            for one, found in zip(panels, (None, *apart), strict=True)
        ]
    score, through = tree.child("input").child("score").text(), tree.optional("artifact") is not None
    scores, classes = (
        [f"{score}, raw and"] if through else [one.name for one in parts],
        class_words_of_tree(tree),
    )
    title = title_of_tree(tree, scores, added=classes.added)
    picture, foot = (
        CurvePanels(PlotKind.COMPARE, tuple(panels)),
        (*_compare_foot(parts, paired), *_of_rows(tree, *parts), *classes.meaning),
    )
    return Diagram(Drawn(picture, _caption(tree, parts, name), foot), title)


def _parts(tree: Node) -> list[Part]:
    """Return the report and its slices of other scores, that which others are compared with first."""
    slices = tree.child("slices").members()
    score, through = tree.child("input").child("score").text(), tree.optional("artifact")
    compared = [] if "differences" not in tree.members() else [*tree.child("differences").members()]
    if through is not None and _THROUGH in compared:
        return [Part(_RAW, tree), Part(_THROUGH, slices[_THROUGH])]
    if through is not None and f"score={score}" in slices:
        return [Part(_RAW, slices[f"score={score}"]), Part(_THROUGH, tree)]
    parts = [Part(score, tree)]
    for key in compared[: MOST - 1]:
        part = tree.child("slices").child(key)
        parts.append(Part(part.child("input").child("score").text(), part))
    if len(parts) == 1:
        msg = "holds one score"
        hint = "write one with `calibcli measure ... -s a -s b --json`, or with --artifact cal.json -v"
        raise tree.child("slices").problem(msg, hint)
    return parts


def _stated(tree: Node, parts: Sequence[Part], name: MeasureName) -> list[Stated | None]:
    """Return by how much each further score differs from the first, as the report states it."""
    members = tree.members()
    found = [*members["differences"].members().values()] if "differences" in members else []
    measures = [one.members().get(name.value) for one in found[: len(parts) - 1]]
    stated = [None if one is None else Stated.read(one) for one in measures]
    return stated or [None for _ in parts[1:]]


def _caption(tree: Node, parts: Sequence[Part], name: MeasureName) -> tuple[str, ...]:
    """Return the error with what it differs by, and for two scores their paired difference."""
    table, word, first = tree.child("table"), WORDS[name], brief(parts[0].name)
    rows = rows_line(table.child("rows").whole(), table.child("positive").whole())
    apart, paired = _stated(tree, parts, name)[0], _stated(tree, parts, PAIRED[0])[0]
    if apart is None:
        errors = [(brief(one.name), one.stated(name)) for one in parts]
        said = "; ".join(f"{who} {found.words()}" for who, found in errors if found is not None)
        if not said and paired is not None and len(parts) == 2:
            both = f"{brief(parts[1].name)} less {first}"
            return f"Brier score, row by row, {both}: {paired.words(signed=True)}", rows
        return (f"{word}: {said}", rows) if said else (rows,)
    if len(parts) > 2:
        return f"{word} of {len(parts)} scores, and how each differs from {first}{apart.at}", rows
    both = f"{brief(parts[1].name)} less {first}"
    line = () if paired is None else (f"Brier score, row by row, {both}: {paired.words(signed=True)}",)
    return f"{word}, {both}: {apart.words(signed=True)}{apart.at}", *line, rows


def _of_rows(tree: Node, *parts: Part) -> tuple[str, ...]:
    """Return what became of the rows that a report, or parts of it, are drawn of."""
    tables = [one.child("table") for one in (tree, *(part.tree for part in parts))]
    return (*dropped_foot(tree.child("input").child("dropped").whole()), *rounding_foot(*tables))


def _compare_foot(parts: Sequence[Part], paired: Sequence[Stated | None]) -> tuple[str, ...]:
    """Return the paired differences of several scores."""
    if len(parts) == 2:
        return ()
    said = [
        f"{brief(part.name)} {found.words(signed=True)}"
        for part, found in zip(parts[1:], paired, strict=True)
        if found is not None
    ]
    return (
        (f"Brier score less that of {brief(parts[0].name)}, row by row: {'; '.join(said)}.",) if said else ()
    )
