"""calibcli plot."""

import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from calibcli.data.outputs import COMPLETION, check_output, is_terminal, new_file
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import STDOUT, AxisScale, ColorWhen, PlotKind
from calibcli.options.measuring import PLOTTED_THRESHOLDS, MeasureOptions
from calibcli.options.output import Artifact, Output
from calibcli.options.pictures import CompareWith, InTerminal, Kind, PictureFile, PictureOptions, PlotInputs
from calibcli.options.rows import (
    PLOTTED_BY,
    PLOTTED_ON,
    PLOTTED_SCORES,
    ClassOptions,
    Columns,
    DocumentSource,
    Reading,
    RowRequest,
)
from calibcli.options.segmenting import Segmenting
from calibcli.shell.door import command
from calibcli.shell.output import screen_for, write

if TYPE_CHECKING:
    from calibcli.commands.pictures.diagram import Diagram


@command(
    "output score label kind by artifact compare probs axis theme | attributes band benefit threshold "
    "smoother loss *classes min_group_rows sort on depth max_values categorical numeric min_segment_rows "
    "size title terminal bins binning confidence seed unseen *rows *values *format *reading state_key_file "
    "allow_edited force quiet color debug",
    score=PLOTTED_SCORES,
    by=PLOTTED_BY,
    on=PLOTTED_ON,
    threshold=PLOTTED_THRESHOLDS,
)
def plot(
    inputs: PlotInputs,
    columns: Columns,
    classes: ClassOptions,
    segments: Segmenting,
    options: MeasureOptions,
    picture: PictureOptions,
    reading: Reading,
    out: Output,
    output: PictureFile = None,
    kind: Kind = None,
    artifact: Artifact = None,
    compare: CompareWith = None,
    terminal: InTerminal = False,
) -> None:
    """
    Draw a reliability diagram, or another picture by --kind.

    PNG, SVG or PDF by the output's suffix.

    \b
    EXAMPLES
      calibcli plot preds.csv -s score -y label -o reliability.png
      calibcli plot preds.parquet -s score -y label --artifact cal.json --kind binned -o after.svg
      calibcli plot report.json -o reliability.pdf
      calibcli plot preds.csv -s score -y label --kind clinical -o figure.pdf
      calibcli plot preds.csv -s score -y label --kind decision --threshold 0.1,0.3 -o benefit.pdf
      calibcli plot preds.csv -s score -y label --terminal
      calibcli plot gate.json --kind monitor -o gate.png
      calibcli plot preds.csv -s old -s new -y label -o both.pdf
      calibcli plot preds.csv -s score -y label --compare cal.json -o before_and_after.pdf
      calibcli plot preds.csv -s score -y label --by country -o countries.png
      calibcli plot preds.csv -s score -y label --by month --kind trend -o months.png
      calibcli plot preds.csv -s score -y label --on country,device -o segments.png
      calibcli plot preds.csv -s score -y label --on country,device --kind heatmap -o heatmap.png
      calibcli plot preds.parquet --probs 'p_*' -y label --view one-vs-rest -o classes.png
      calibcli plot preds.parquet --probs 'p_*' -y label --view one-vs-rest --class cat -o cat.svg
    """
    from calibcli.commands.pictures.diagram import PlotRequest
    from calibcli.commands.plot import diagram_of, refuse_axis
    from calibcli.shell.output import progress_bar, say_line, say_notes, say_rows

    kind, artifact = _compared(kind, artifact, compare)
    refuse_axis(kind, picture.axis)
    if terminal:
        refuse_kind(kind)
        refuse_attributes(asked=picture.attributes and output is None)
    if output is not None or not terminal:
        _check(output, force=out.force, inputs=inputs, artifact=artifact)
    reading = replace(reading, progress=progress_bar(quiet=out.quiet))
    rows = RowRequest(inputs, columns, artifact, reading)
    diagram = diagram_of(PlotRequest.of(rows, classes, segments, options, picture, kind))
    if terminal and output is not None:
        COMPLETION.expect(2)
    if terminal:
        show(diagram, title=picture.title, scale=picture.axis, color=out.color)
    if diagram.source is not None:
        say_rows(diagram.source, quiet=out.quiet)
    say_notes(diagram.notes, quiet=out.quiet)
    if output is not None:
        from calibcli.shell.drawing_cache import drawing_cache

        with drawing_cache():
            _save(diagram, output, picture)
        say_line(f"{output}: {diagram.drawn.caption[0]}", quiet=out.quiet)


def _check(output: str | None, *, force: bool, inputs: list[str], artifact: DocumentSource | None) -> None:
    """Refuse a picture that is named nowhere or cannot be written, before anything is read."""
    from calibcli.options.pictures import picture_format

    if output is None:
        msg = "no picture is named"
        raise UsageProblem(msg, "name one with -o FILE, or draw in the terminal with --terminal")
    picture_format(output)
    if output == STDOUT and is_terminal(sys.stdout):
        msg = "-o - writes a picture, and standard output is a terminal"
        raise UsageProblem(msg, "name a file, or draw in letters with --terminal")
    check_output(output, force=force, inputs=inputs, artifact=artifact)


def _save(diagram: "Diagram", output: str, look: PictureOptions) -> None:
    from calibcli.commands.plot import figure_of_diagram
    from calibcli.options.pictures import picture_format
    from calibcli.show.figures.saving import save

    figure = figure_of_diagram(diagram, look)
    with new_file(output) as file:
        save(figure, file, picture_format(output))


def _compared(
    kind: PlotKind | None, artifact: DocumentSource | None, compare: str | None
) -> tuple[PlotKind | None, DocumentSource | None]:
    """Return the kind and the artifact, which --compare names both of."""
    if compare is None:
        return kind, artifact
    if kind is PlotKind.DECISION and artifact is None:
        # A decision curve of a map has that of the raw score beside it.
        return kind, compare
    if artifact is not None or kind not in (None, PlotKind.COMPARE):
        other = "--artifact" if artifact is not None else f"--kind {kind}"
        msg = f"--compare stands for --kind compare --artifact, and {other} is there as well"
        raise UsageProblem(msg, "leave out one of them")
    return PlotKind.COMPARE, compare


_WIDTH = 80

_INSTEAD = "draw it into a file with -o, or leave out --kind"


def refuse_kind(kind: PlotKind | None) -> None:
    """Refuse a diagram that has no form in letters, before anything is read."""
    if kind not in (None, PlotKind.SMOOTH, PlotKind.BINNED):
        msg = f"--terminal draws a reliability diagram, and --kind {kind} is another"
        raise UsageProblem(msg, _INSTEAD)


def refuse_attributes(*, asked: bool) -> None:
    """Refuse lines that letters do not show."""
    if asked:
        msg = "--attributes has no effect on --terminal, which draws in letters"
        raise IdleOption(msg, "draw it into a file with -o, or leave it out", options=("attributes",))


def show(diagram: "Diagram", *, title: str | None, scale: AxisScale | None, color: ColorWhen) -> None:
    """Write a reliability diagram to standard output, as wide as the terminal, or 80 columns without one."""
    from calibcli.show.letters import Said, reliability_text
    from calibcli.stats.curves import axis_for
    from calibcli.stats.curves.reliability import ReliabilityCurve

    drawn = diagram.drawn
    if not isinstance(drawn.picture, ReliabilityCurve):
        msg = "--terminal draws one reliability diagram, and this is another"
        raise UsageProblem(msg, "name one score, or draw it into a file with -o")
    screen = screen_for(STDOUT, color=color)
    text = reliability_text(
        drawn.picture,
        Said(title or diagram.title, drawn.caption, drawn.foot),
        width=shutil.get_terminal_size((_WIDTH, 0)).columns,
        color=screen.color,
        unicode=screen.unicode,
        scale=scale or axis_for(drawn.picture),
    )
    write(text, STDOUT)
