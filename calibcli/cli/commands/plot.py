"""calibcli plot."""

from typing import TYPE_CHECKING

from calibcli.cli import class_options as k
from calibcli.cli import document_options as d
from calibcli.cli import engine_options as e
from calibcli.cli import input_options as i
from calibcli.cli import options as o
from calibcli.cli import picture_options as p
from calibcli.cli import selection_options as s
from calibcli.errors import UsageProblem
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_LEAST_ROWS,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    ColorWhen,
    EngineName,
    OnMissing,
    OnRange,
)
from calibcli.outputs import COMPLETION
from calibcli.picture_names import AxisScale, FigureSize, PlotKind, Theme
from calibcli.selection_names import OnUnseen
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from calibcli.tasks.pictures.diagram import Diagram


def plot(
    inputs: p.PlotInputs,
    output: p.PictureFile = None,
    score: p.PlottedScores = None,
    label: o.Label = None,
    probs: k.Probs = None,
    classes: k.Classes = None,
    view: k.View = ViewName.CONFIDENCE,
    one_class: k.OneClass = None,
    on_sum: k.HowSummed = OnSum.ERROR,
    kind: p.Kind = None,
    artifact: o.Artifact = None,
    compare: p.CompareWith = None,
    by: p.PlottedBy = None,
    min_group_rows: o.LeastGroupRows = DEFAULT_LEAST_ROWS,
    size: p.Size = FigureSize.PAGE,
    theme: p.Ground = Theme.LIGHT,
    axis: p.Axis = AxisScale.LINEAR,
    title: p.Title = None,
    terminal: p.InTerminal = False,
    bins: o.Bins = None,
    binning: o.HowBinned = None,
    confidence: o.Confidence = DEFAULT_CONFIDENCE,
    seed: o.Seed = DEFAULT_SEED,
    unseen: s.Unseen = OnUnseen.ERROR,
    where: s.Where = None,
    limit: s.Limit = None,
    sample: s.Sample = None,
    weight: o.Weight = None,
    weights_are: o.WeightsAre = None,
    positive: o.Positive = None,
    scale: o.ScoreScale = None,
    on_missing: o.Missing = OnMissing.ERROR,
    on_range: o.Range = OnRange.ERROR,
    input_format: o.InputFormat = None,
    delimiter: i.Delimiter = None,
    encoding: i.Encoding = None,
    decimal: i.Decimal = None,
    exact: o.Exact = False,
    memory: o.Memory = DEFAULT_MEMORY,
    jobs: o.Jobs = None,
    engine: e.EngineChoice = EngineName.LOCAL,
    engine_address: e.EngineAddress = None,
    state_key_file: d.StateKeyFile = None,  # noqa: ARG001 - heard where it is declared
    allow_edited: d.AllowEdited = False,  # noqa: ARG001 - heard where it is declared
    force: o.Force = False,
    quiet: o.Quiet = False,
    color: o.Color = ColorWhen.AUTO,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Draw a reliability diagram with the error in it, or another diagram by --kind.

    PNG, SVG or PDF by the output's suffix.

    \b
    EXAMPLES
      calibcli plot preds.csv -s score -y label -o reliability.png
      calibcli plot preds.parquet -s score -y label --artifact cal.json --kind binned -o after.svg
      calibcli plot report.json -o reliability.pdf
      calibcli plot preds.csv -s score -y label --terminal
      calibcli plot gate.json --kind monitor -o gate.png
      calibcli plot preds.csv -s old -s new -y label -o both.pdf
      calibcli plot preds.csv -s score -y label --compare cal.json -o before_and_after.pdf
      calibcli plot preds.csv -s score -y label --by country -o countries.png
      calibcli plot preds.parquet --probs 'p_*' -y label --view one-vs-rest -o classes.png
      calibcli plot preds.parquet --probs 'p_*' -y label --view one-vs-rest --class cat -o cat.svg
    """
    from calibcli.cli.output import say_line, say_notes, say_rows
    from calibcli.cli.progress_bar import progress_bar
    from calibcli.cli.terminal_diagram import refuse_kind, show
    from calibcli.options.measuring import MeasureOptions
    from calibcli.options.rows import Columns, Reading
    from calibcli.tasks.pictures.asked import refuse_axis
    from calibcli.tasks.pictures.diagram import PlotRequest
    from calibcli.tasks.plot import diagram_of

    kind, artifact = _compared(kind, artifact, compare)
    refuse_axis(kind, axis)
    if terminal:
        refuse_kind(kind)
    if output is not None or not terminal:
        _check(output, force=force, inputs=inputs, artifact=artifact)
    scores: list[str | None] = [*score] if score else [None]
    # A report says itself what its classes are, so that a view may be asked of it by itself.
    of_report = probs is None and inputs[0].endswith(".json")
    seen = ViewName.CONFIDENCE if of_report else view
    columns = Columns(
        scores[0],
        label,
        weight,
        weights_are,
        positive,
        scale,
        on_missing,
        on_range,
        others=tuple(name for name in scores[1:] if name is not None),
        by=tuple(by or ()),
        several=k.several_classes(probs, classes, on_sum=on_sum, view=seen, one_class=one_class),
        rows=s.rows_of(where, limit, sample, seed=seed),
        on_unseen=unseen,
    )
    diagram = diagram_of(
        PlotRequest(
            inputs,
            columns,
            kind,
            artifact,
            MeasureOptions(
                bins=bins, binning=binning, confidence=confidence, seed=seed, least_rows=min_group_rows
            ),
            Reading(
                i.input_format_of(input_format, delimiter, encoding, decimal=decimal),
                jobs,
                exact,
                memory,
                engine,
                engine_address,
                progress_bar(quiet=quiet),
            ),
            None if view is ViewName.CONFIDENCE else view,
        )
    )
    if terminal and output is not None:
        COMPLETION.expect(2)
    if terminal:
        show(diagram, title=title, scale=axis, color=color)
    if diagram.source is not None:
        say_rows(diagram.source, quiet=quiet)
    say_notes(diagram.notes, quiet=quiet)
    if output is not None:
        from calibcli.cli.drawing_cache import drawing_cache

        with drawing_cache():
            _save(diagram, output, title=title, look=(size, theme), scale=axis)
        say_line(f"{output}: {diagram.drawn.caption[0]}", quiet=quiet)


def _check(output: str | None, *, force: bool, inputs: list[str], artifact: str | None) -> None:
    """Refuse a picture that is named nowhere or cannot be written, before anything is read."""
    from calibcli.figures.formats import picture_format
    from calibcli.tasks.destination import check_output

    if output is None:
        msg = "no picture is named"
        raise UsageProblem(msg, "name one with -o FILE, or draw in the terminal with --terminal")
    picture_format(output)
    check_output(output, force=force, inputs=inputs, artifact=artifact)


def _save(
    diagram: "Diagram", output: str, *, title: str | None, look: tuple[FigureSize, Theme], scale: AxisScale
) -> None:
    from calibcli.figures.drawing import figure_of
    from calibcli.figures.formats import picture_format
    from calibcli.figures.look import look_of
    from calibcli.figures.saving import save
    from calibcli.figures.sheet import Words
    from calibcli.outputs import new_file

    drawn = diagram.drawn
    words = Words(title or diagram.title, drawn.caption, drawn.foot)
    figure = figure_of(drawn.picture, words, look=look_of(*look), scale=scale)
    with new_file(output) as file:
        save(figure, file, picture_format(output))


def _compared(
    kind: PlotKind | None, artifact: str | None, compare: str | None
) -> tuple[PlotKind | None, str | None]:
    """Return the kind and the artifact, which --compare names both of."""
    if compare is None:
        return kind, artifact
    if artifact is not None or kind not in (None, PlotKind.COMPARE):
        other = "--artifact" if artifact is not None else f"--kind {kind}"
        msg = f"--compare stands for --kind compare --artifact, and {other} is there as well"
        raise UsageProblem(msg, "leave out one of them")
    return PlotKind.COMPARE, compare
