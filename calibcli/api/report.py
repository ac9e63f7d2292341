"""The report as one page: rows to numbers, numbers to words, curves to pictures."""

from dataclasses import dataclass

from calibcli.api.explanations import READINGS, TITLES
from calibcli.api.marks import marks_of
from calibcli.figures.drawing import figure_of
from calibcli.figures.inline import inline
from calibcli.figures.look import look_of
from calibcli.figures.sheet import Words
from calibcli.options.pictures import PageOptions
from calibcli.picture_names import AxisScale, FigureSize, PlotKind
from calibcli.render.html.page import HtmlPage, Illustration, Point
from calibcli.render.html.sections import (
    definition_section,
    number_sections,
    origin_section,
    picture_section,
    top_of,
    verdict_section,
)
from calibcli.render.html.writing import html_of
from calibcli.reports.settings import Setting
from calibcli.tasks.full_report import FullReport, ReportRequest, full_report
from calibcli.tasks.pictures.diagram import Drawn
from calibcli.version import __version__

# Pictures of several panels, which take the width of the page.
_WIDE = (PlotKind.COMPARE, PlotKind.CLASSES, PlotKind.GROUPS)
_WITH_SCORES = (PlotKind.SMOOTH, PlotKind.BINNED, PlotKind.ISOTONIC, PlotKind.RESIDUAL, PlotKind.MAP, *_WIDE)


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """
    The page, and what it was made of.

    Args:
        html: The page.

        found: What it says.
    """

    html: str
    found: FullReport


def html_report(
    request: ReportRequest, words: PageOptions, *, command: str, settings: tuple[Setting, ...] = ()
) -> WrittenReport:
    """
    Read the rows once and return everything that is to be said of them as one page of HTML.

    The same files and the same request give the same text.

    Args:
        request: What is to be reported on.

        words: What the page says that no measurement knows.

        command: What makes it again.

        settings: What a file or a variable has set.

    Raises:
        CalibcliError: For input that cannot be measured or judged, with what, where and how many.
    """
    found = full_report(request)
    measured = found.measured
    pictures = [illustration(kind, drawn, axis=words.axis) for kind, drawn in found.pictures]
    numbers = number_sections(measured, found.against_raw)
    origin = origin_section(measured, files=found.files, artifact=found.artifact, seed=request.options.seed)
    page = HtmlPage(
        title=words.title or "Calibration report",
        date=words.date,
        outcome=None if found.verdicts is None else found.verdicts.outcome,
        top=top_of(measured, settings),
        sections=(
            verdict_section(measured, found.verdicts),
            picture_section(pictures),
            *numbers,
            definition_section(measured),
            origin,
        ),
        command=command,
        version=__version__,
    )
    return WrittenReport(html_of(page), found)


def illustration(kind: PlotKind, drawn: Drawn, *, axis: AxisScale = AxisScale.LINEAR) -> Illustration:
    """
    Draw a picture for a page.

    Args:
        kind: Which diagram it is.

        drawn: The picture and its caption.

        axis: How axes of scores are laid out.
    """
    wide = kind in _WIDE
    look = look_of(FigureSize.PAGE if wide else FigureSize.COLUMN)
    scale = axis if kind in _WITH_SCORES else AxisScale.LINEAR
    marks = marks_of(drawn.picture)
    name = f"picture-{kind.value}"
    figure = figure_of(drawn.picture, Words("", (), drawn.foot), look=look, scale=scale)
    found = inline(figure, name=name, places=[one.place for one in marks.marks])
    points = tuple(
        Point(*at, marks.words(one)) for at, one in zip(found.at, marks.marks, strict=True) if at is not None
    )
    return Illustration(
        ident=name,
        title=TITLES[kind],
        explanation=READINGS[kind],
        caption=drawn.caption,
        small_print=found.small_print,
        drawing=found.drawing,
        box=found.box,
        points=points,
        columns=marks.columns,
        values=tuple(one.cells for one in marks.marks),
        wide=wide,
    )
