"""Reliability diagrams, smooth and binned: from files or from the report that `measure` wrote."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from calibcli.codec import Node
from calibcli.curves.reliability import ReliabilityCurve
from calibcli.errors import UsageProblem
from calibcli.names import MeasureName
from calibcli.options.measuring import MeasureOptions
from calibcli.options.metrics import Metrics
from calibcli.picture_names import PlotKind
from calibcli.tasks.measure import measure_files
from calibcli.tasks.pictures.class_words import class_words_of_tree
from calibcli.tasks.pictures.diagram import Diagram, Drawn, PlotRequest, fit_rows_foot, rows_line
from calibcli.tasks.pictures.panels import Part, of_report, title_of_tree

_SMALL = 0.004


@dataclass(frozen=True, slots=True)
class Measured:
    """
    A report of `measure` of which a diagram is made.

    Args:
        tree: The report as its document has it.

        curve: Its curves.

        discrete: Whether each distinct score is a bin.
    """

    tree: Node
    curve: ReliabilityCurve
    discrete: bool


def reliability_diagram(request: PlotRequest) -> Diagram:
    """
    Measure files for a reliability diagram, or take it from a report.

    Raises:
        UsageProblem: If something is asked of a report that only a measurement can answer.

        CalibcliError: For input that cannot be measured.
    """
    return diagram_of_measured(request, lambda measured: _drawn(measured, kind=request.kind))


def diagram_of_measured(
    request: PlotRequest, draw: Callable[[Measured], Drawn], *, also: tuple[MeasureName, ...] = ()
) -> Diagram:
    """
    Measure files for a diagram, or take what was measured from a report.

    Args:
        request: What was asked.

        draw: From what was measured to the picture.

        also: Measures besides those of reliability diagrams.

    Raises:
        UsageProblem: If something is asked of a report that only a measurement can answer.

        CalibcliError: For input that cannot be measured.
    """
    if request.document is not None:
        return of_report(request, request.document, lambda tree: _diagram(_measured(Part("", tree)), draw))
    report = measure_files(
        request.inputs,
        request.columns,
        artifact=request.artifact,
        options=what_is_drawn(request.options, also=also),
        reading=request.reading,
    )
    measured = Measured(Node(report.to_dict()), report.curve, report.table.discrete)
    notes = (*report.input.notes, *report.notes)
    return replace(_diagram(measured, draw), notes=notes, source=report.input)


def what_is_drawn(asked: MeasureOptions, *, also: tuple[MeasureName, ...] = ()) -> MeasureOptions:
    """Return the options of a measurement whose errors stand in reliability diagrams."""
    measures = (MeasureName.ECE, MeasureName.SMECE, *also)
    return replace(asked, metrics=Metrics(measures, ()), beside_raw=False)


def _measured(part: Part) -> Measured:
    return Measured(part.tree, part.curve, part.discrete)


def _diagram(measured: Measured, draw: Callable[[Measured], Drawn]) -> Diagram:
    """Return a picture with its title, and what must be known of its rows and labels."""
    drawn, classes = draw(measured), class_words_of_tree(measured.tree)
    flattering = fit_rows_foot(measured.tree.child("notes").texts())
    drawn = replace(drawn, foot=(*drawn.foot, *classes.meaning, *flattering))
    return Diagram(drawn, title_of_tree(measured.tree, added=classes.added))


def _drawn(measured: Measured, *, kind: PlotKind | None) -> Drawn:
    curve = measured.curve
    chosen = kind or (PlotKind.BINNED if measured.discrete or curve.smooth is None else PlotKind.SMOOTH)
    if chosen is PlotKind.SMOOTH and curve.smooth is None:
        msg = "the report holds no smooth curve"
        raise UsageProblem(msg, "measure smece as well, or pass --kind binned")
    return Drawn(replace(curve, kind=chosen), caption_of(measured.tree, chosen))


def caption_of(tree: Node, kind: PlotKind) -> tuple[str, ...]:
    """
    Return the error that the picture encodes, as the report states it, and what it rests on.

    Args:
        tree: A report, or one of its slices.

        kind: Smooth or binned.
    """
    name = MeasureName.SMECE if kind is PlotKind.SMOOTH else MeasureName.ECE
    measures, table = tree.child("measures").members(), tree.child("table")
    rows = rows_line(table.child("rows").whole(), table.child("positive").whole())
    if name.value not in measures:
        return (rows,)
    measure = measures[name.value]
    value = measure.child("value").number()
    # Over single values of the score it is the error itself.
    binned = "ECE" if table.child("discrete").truth() else "binned ECE"
    words = "smECE" if name is MeasureName.SMECE else binned
    # Errors of rare events are small, and four decimals would round them away.
    places = 4 if value >= _SMALL else 6
    bounds = ""
    if measure.optional("lower") is not None and measure.optional("upper") is not None:
        lower, upper = measure.child("lower").number(), measure.child("upper").number()
        level = f"{measure.child('confidence').number() * 100:.4g}"
        bounds = f"  [{lower:.{places}f}, {upper:.{places}f}] at {level} % confidence"
    ends = [measure.members().get(end) for end in ("null_lower", "null_upper")]
    low, high = (f"{end.number():.{places}f}" if end and end.value is not None else "" for end in ends)
    expected = f"; if calibrated, {low} to {high}" if low and high else ""
    weighted = ", weighted by importance" if table.child("weighted").truth() else ""
    return f"{words} {value:.{places}f}{bounds}", f"{rows}{weighted}{expected}"
