"""Everything a reliability diagram shows, computed from files or taken from a report."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from calibcli.artifacts.store import in_file, read_document
from calibcli.curves.reliability import ReliabilityCurve
from calibcli.documents import Node
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import MeasureName, PlotKind
from calibcli.readers.columns import Columns
from calibcli.reports.measure import SCHEMA
from calibcli.tasks.measure import MeasureOptions, measure_files
from calibcli.tasks.metrics import Metrics
from calibcli.tasks.reading import Reading


@dataclass(frozen=True, slots=True)
class Diagram:
    """
    What is to be drawn.

    Args:
        curve: The curve.

        kind: Which diagram.

        title: Files and column.

        caption: The measured error with its interval, the null reference and the number of rows; one line
            each.

        notes: Sentences for the reader of the terminal.
    """

    curve: ReliabilityCurve
    kind: PlotKind
    title: str
    caption: tuple[str, ...]
    notes: tuple[str, ...] = ()


def diagram_of_files(
    inputs: Sequence[str],
    columns: Columns,
    *,
    kind: PlotKind | None = None,
    artifact: str | None = None,
    options: MeasureOptions | None = None,
    reading: Reading | None = None,
) -> Diagram:
    """
    Measure files for a diagram.

    Args:
        inputs: Files as for `measure`, or the one JSON report that it wrote.

        columns: Which column is which.

        kind: Which diagram, or None for smooth, and binned where the score takes few values.

        artifact: Path of a recalibrator to apply first, or None.

        options: What is asked of the measures.

        reading: How to read.

    Raises:
        UsageProblem: If something is asked of a report that only a measurement can answer.

        CalibcliError: For input that cannot be measured.
    """
    asked = options or MeasureOptions()
    if len(inputs) == 1 and Path(inputs[0]).suffix == ".json":
        _refuse_idle(inputs[0], columns, asked, reading or Reading(), artifact=artifact)
        return _of_report(inputs[0], kind)
    wanted = MeasureOptions(
        Metrics((MeasureName.ECE, MeasureName.SMECE), ()),
        asked.bins,
        asked.binning,
        asked.confidence,
        asked.seed,
    )
    report = measure_files(inputs, columns, artifact=artifact, options=wanted, reading=reading)
    tree = Node(report.to_dict())
    notes = (*report.input.notes, *report.notes)
    return _diagram(tree, report.curve, kind=kind, discrete=report.table.discrete, notes=notes)


def _refuse_idle(path: str, *asked: Columns | MeasureOptions | Reading, artifact: str | None) -> None:
    """Refuse options that would change nothing; options are called as the fields are."""
    names = [] if artifact is None else ["artifact"]
    for part in asked:
        names += [field.name for field in fields(part) if getattr(part, field.name) != field.default]
    if names:
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in names)
        msg = f"{path} is a report, on which {listed} {'has' if len(names) == 1 else 'have'} no effect"
        raise UsageProblem(msg, "plot the files it was measured on, or keep to --kind and --title")


def _of_report(path: str, kind: PlotKind | None) -> Diagram:
    """Take the curve and the numbers from a report that `measure --json` wrote."""
    try:
        tree = read_document(path)
        tree.child("schema").expect(SCHEMA)
        if tree.child("curve").value is None:
            msg = "is null: this is not a report of `calibcli measure`"
            raise tree.child("curve").problem(
                msg, "write one with `calibcli measure ... --json -o report.json`"
            )
        curve = ReliabilityCurve.from_dict(tree.child("curve"))
        discrete = tree.child("table").child("discrete").truth()
        return _diagram(tree, curve, kind=kind, discrete=discrete, notes=())
    except DocumentProblem as problem:
        raise in_file(path, problem) from None


def _diagram(
    tree: Node, curve: ReliabilityCurve, *, kind: PlotKind | None, discrete: bool, notes: tuple[str, ...]
) -> Diagram:
    chosen = kind or (PlotKind.BINNED if discrete or curve.smooth is None else PlotKind.SMOOTH)
    if chosen is PlotKind.SMOOTH and curve.smooth is None:
        msg = "the report holds no smooth curve"
        raise UsageProblem(msg, "measure smece as well, or pass --kind binned")
    source = tree.child("input")
    files = source.child("files").texts()
    shown = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    artifact = tree.optional("artifact")
    column = source.child("score").text() + ("" if artifact is None else f" through {artifact.text()}")
    return Diagram(curve, chosen, f"{shown}: {column}", _caption(tree, chosen), notes)


def _caption(tree: Node, kind: PlotKind) -> tuple[str, ...]:
    """Return the error that the picture encodes, as the report states it, and what it rests on."""
    name = MeasureName.SMECE if kind is PlotKind.SMOOTH else MeasureName.ECE
    measures, table = tree.child("measures").members(), tree.child("table")
    rows = f"{table.child('rows').whole():,} rows, {table.child('positive').whole():,} with label 1"
    if name.value not in measures:
        return (rows,)
    measure = measures[name.value]
    value = measure.child("value").number()
    words = "smECE" if name is MeasureName.SMECE else "binned ECE"
    bounds = ""
    if measure.optional("lower") is not None and measure.optional("upper") is not None:
        lower, upper = measure.child("lower").number(), measure.child("upper").number()
        bounds = (
            f"  [{lower:.4f}, {upper:.4f}] at {measure.child('confidence').number() * 100:.4g} % confidence"
        )
    null = measure.optional("null")
    expected = "" if null is None else f"; if perfectly calibrated, about {null.number():.4f}"
    return f"{words} {value:.4f}{bounds}", f"{rows}{expected}"
