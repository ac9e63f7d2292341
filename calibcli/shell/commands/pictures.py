"""Commands that draw: plot and report; and what matplotlib finds around it."""

import logging
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from calibcli.data.outputs import COMPLETION, check_output, is_terminal, new_file, write_file
from calibcli.errors import IdleOption, OutputProblem, UsageProblem
from calibcli.names import STDOUT, AxisScale, ColorWhen, PlotKind
from calibcli.options import pictures
from calibcli.options.declaring import options_given
from calibcli.options.gating import VerifyOptions
from calibcli.options.measuring import MeasureOptions
from calibcli.options.output import Output
from calibcli.options.rows import ClassOptions, DocumentSource, RowRequest, RowSource
from calibcli.options.segmenting import Segmenting
from calibcli.shell.door import command
from calibcli.shell.line import command_line, line_of
from calibcli.shell.output import progress_bar, request_of, say_line, say_notes, say_rows, screen_for, write
from calibcli.values import replace

if TYPE_CHECKING:
    from calibcli.commands.pictures.diagram import Diagram


_VARIABLE = "MPLCONFIGDIR"
_KEPT = (("XDG_CONFIG_HOME", ".config"), ("XDG_CACHE_HOME", ".cache"))


@contextmanager
def drawing_cache() -> Iterator[None]:
    """Give matplotlib a temporary folder while pictures are drawn, if it could write to no other.

    It would find one by itself, say so at length, and leave the folder behind. What a `matplotlibrc` in the
    working directory or at home says is put aside: it could change every picture, or have LaTeX run.
    """
    if _VARIABLE in os.environ or all(_can_be_written(folder) for folder in _folders()):
        _put_settings_aside()
        yield
        return
    import tempfile

    try:
        folder = tempfile.mkdtemp(prefix="calibcli-")
    except OSError as error:
        msg = "pictures need a folder for temporary files, and none can be written"
        raise OutputProblem(msg, "name one with TMPDIR") from error
    os.environ[_VARIABLE] = folder
    try:
        _put_settings_aside()
        yield
    finally:
        del os.environ[_VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)


def _put_settings_aside() -> None:
    """Import matplotlib without a word of what it reads then, and give it its own settings back."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        from calibcli.show.figures import use_built_in_settings

        use_built_in_settings()
    finally:
        logger.setLevel(level)


def _folders() -> list[Path]:
    """Return where matplotlib looks first, as the XDG base directory specification has it."""
    try:
        home = Path.home()
    except RuntimeError:
        home = Path(os.devnull)
    return [Path(os.environ.get(variable) or home / below) / "matplotlib" for variable, below in _KEPT]


def _can_be_written(folder: Path) -> bool:
    """Whether a folder is there or can be made, and be written; matplotlib makes it in any case."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


@command(
    "output score label artifact by max_ece rule metric probs title | threshold *ClassOptions *Limits on "
    "*Cutting *Segmenting min_rows allow_fit_rows min_group_rows sort bins binning confidence seed "
    "*PageOptions unseen *RowSelection *values *InputFormat *Reading allow_edited force quiet debug"
)
def report(
    context: typer.Context,
    rows: RowRequest,
    options: MeasureOptions,
    gate: VerifyOptions,
    page: pictures.PageOptions,
    out: Output,
) -> None:
    """Write measures, verdicts and diagrams as one page of HTML.

    One self-contained file, to send or print. Rules get the verdicts of verify, but the exit code is 0
    whatever the verdict: to gate, use verify. It needs pip install '.[report]'.

    \b
    EXAMPLES
      calibcli report eval.csv -s score -y label -o report.html
      calibcli report eval.csv -s score -y label --artifact cal.json --max-ece 0.02 -o report.html
      calibcli report eval.parquet -s old -s new -y label --by country -o report.html
      calibcli report eval.csv -s score -y label --on country,device -o report.html
      calibcli report eval.csv -s score -y label -m clinical --threshold 0.1,0.2 -o report.html
      calibcli report eval.parquet --probs 'p_*' -y label -o report.html
    """
    from calibcli.show.html import require_templates

    require_templates()
    _refuse_suffix(out.output)
    rows = request_of(rows, out)
    from calibcli.commands.report import ReportRequest

    judged = gate if gate.rules else None
    if judged is None:
        _refuse_without_rules(gate)
    request = ReportRequest(
        rows.inputs, rows.columns, rows.artifact, rows.reading, options, judged, gate.segments
    )
    with drawing_cache():
        from calibcli.commands.page import html_report

        again = command_line(context)
        written = html_report(request, page, command=again, settings=line_of(context).settings)
    write_file(out.output, written.html.encode("utf-8"))
    measured = written.found.measured
    say_notes((*measured.input.notes, *measured.notes), quiet=out.quiet)
    if out.output != STDOUT:
        verdicts = written.found.verdicts
        said = "written; no limit was set" if verdicts is None else verdicts.outcome.value.upper()
        say_line(f"{out.output}: {said}", quiet=out.quiet)


def _refuse_without_rules(gate: VerifyOptions) -> None:
    """Refuse what is asked of verdicts alone, where nothing is judged."""
    for option in ("min-rows", "allow-fit-rows"):
        if option in options_given(gate):
            msg = f"--{option} is of verdicts, and no limit is set"
            raise IdleOption(msg, "add one, such as --max-ece 0.02, or leave it out", options=(option,))


def _refuse_suffix(output: str) -> None:
    if output != STDOUT and Path(output).suffix.lower() not in (".html", ".htm"):
        msg = f"{output}: a report is a page of HTML"
        page = f"{Path(output).stem or 'report'}.html"
        raise UsageProblem(msg, f"name it {page}; for a paper: measure --format latex or md, and plot")


@command(
    "output score label kind by artifact compare probs axis theme | attributes band benefit threshold "
    "smoother loss *PictureOptions terminal *ClassOptions min_group_rows sort on *Cutting *Segmenting bins "
    "binning confidence seed unseen *RowSelection *values *InputFormat *Reading state_key_file allow_edited "
    "force quiet color debug"
)
def plot(
    rows: RowRequest,
    classes: ClassOptions,
    segments: Segmenting,
    options: MeasureOptions,
    picture: pictures.PictureOptions,
    out: Output,
    output: pictures.PictureFile = None,
    kind: pictures.Kind = None,
    compare: pictures.CompareWith = None,
    terminal: pictures.InTerminal = False,
) -> None:
    """Draw a reliability diagram, or another picture by --kind.

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
    from calibcli.commands.plot import diagram_of

    kind, artifact = _compared(kind, rows.artifact, compare)
    if terminal:
        refuse_kind(kind)
        if output is None:
            _refuse_look(picture)
        if output == STDOUT:
            msg = "--terminal draws on standard output, and -o - writes a picture there as well"
            raise UsageProblem(msg, "leave out one of them, or name a file with -o")
    if output is not None or not terminal:
        _check(output, force=out.force, inputs=rows.inputs, artifact=artifact)
    reading = replace(rows.reading, progress=progress_bar(quiet=out.quiet))
    rows = replace(rows, artifact=artifact, reading=reading)
    diagram = diagram_of(PlotRequest.of(rows, classes, segments, options, picture, kind))
    if terminal and output is not None:
        COMPLETION.expect(2)
    if terminal:
        show(diagram, title=picture.title, scale=picture.axis, color=out.color)
    if diagram.source is not None:
        say_rows(diagram.source, quiet=out.quiet)
    say_notes(diagram.notes, quiet=out.quiet)
    if output is not None:
        with drawing_cache():
            boxes = _save(diagram, output, picture)
        say_notes((_BOXES,) if boxes else (), quiet=out.quiet)
        say_line(f"{output}: {diagram.drawn.caption[0]}", quiet=out.quiet)


def _check(
    output: str | None, *, force: bool, inputs: Sequence[RowSource], artifact: DocumentSource | None
) -> None:
    """Refuse a picture that is named nowhere or cannot be written, before anything is read."""
    if output is None:
        msg = "no picture is named"
        raise UsageProblem(msg, "name one with -o FILE, or draw in the terminal with --terminal")
    pictures.picture_format(output)
    if output == STDOUT and is_terminal(sys.stdout):
        msg = "-o - writes a picture, and standard output is a terminal"
        raise UsageProblem(msg, "name a file, or draw in letters with --terminal")
    check_output(output, force=force, inputs=inputs, documents=[artifact])


_BOXES = (
    "the font of pictures lacks some letters of these names, which are drawn as □; --title changes the title"
)


def _save(diagram: "Diagram", output: str, look: pictures.PictureOptions) -> bool:
    """Draw a picture into a file, and return whether boxes stand in it for letters."""
    from matplotlib.text import Text

    from calibcli.commands.plot import figure_of_diagram
    from calibcli.show.figures import save

    figure = figure_of_diagram(diagram, look)
    with new_file(output) as file:
        save(figure, file, pictures.picture_format(output))
    return any("□" in one.get_text() for one in figure.findobj(Text) if isinstance(one, Text))


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


def _refuse_look(picture: pictures.PictureOptions) -> None:
    """Refuse what letters have none of."""
    for option in ("attributes", "size", "theme"):
        if option in options_given(picture):
            msg = f"--{option} has no effect on --terminal, which draws in letters"
            raise IdleOption(msg, "draw it into a file with -o, or leave it out", options=(option,))


def show(diagram: "Diagram", *, title: str | None, scale: AxisScale | None, color: ColorWhen) -> None:
    """Write a reliability diagram to standard output, as wide as the terminal, or 80 columns without one."""
    from calibcli.show.letters import Said, reliability_text
    from calibcli.stats.curves import axis_for
    from calibcli.stats.curves.reliability import ReliabilityCurve

    drawn = diagram.drawn
    if not isinstance(drawn.picture, ReliabilityCurve):
        msg = "--terminal draws one reliability diagram, and this is another"
        raise UsageProblem(
            msg, "name one score, without --by, --on and --view, or draw it into a file with -o"
        )
    screen = screen_for(STDOUT, color=color)
    text = reliability_text(
        drawn.picture,
        Said(title or diagram.title, drawn.caption, drawn.foot, diagram.event),
        width=shutil.get_terminal_size((_WIDTH, 0)).columns,
        color=screen.color,
        unicode=screen.unicode,
        scale=scale or axis_for(drawn.picture),
    )
    write(text, STDOUT)
