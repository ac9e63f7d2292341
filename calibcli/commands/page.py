"""The report as one page: rows to numbers, numbers to words, curves to
pictures with the values behind them.
"""

import io
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from matplotlib.figure import Figure

from calibcli.commands.pictures.diagram import Drawn, PlotRequest
from calibcli.commands.pictures.reliability import event_words
from calibcli.commands.plot import diagram_of, figure_of_diagram
from calibcli.commands.report import FullReport, ReportRequest, full_report
from calibcli.data.outputs import new_file, refuse_existing
from calibcli.names import AxisScale, FigureSize, PlotKind
from calibcli.options.pictures import PageOptions, picture_format
from calibcli.reports.input import Setting
from calibcli.show.figures import figure_of, save
from calibcli.show.figures.inline import Place, inline
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words
from calibcli.show.html import (
    HtmlPage,
    Illustration,
    Point,
    Section,
    definition_section,
    html_of,
    number_sections,
    origin_section,
    segment_section,
    top_of,
    verdict_sections,
)
from calibcli.show.words import between, count, four, ranges
from calibcli.stats.curves import CurvePanels, Picture, axis_for
from calibcli.stats.curves.clinical import ClinicalCurve
from calibcli.stats.curves.cumulative import CumulativeCurve
from calibcli.stats.curves.isotonic import IsotonicCurve, McbDsc
from calibcli.stats.curves.map import MapCurve
from calibcli.stats.curves.reliability import BinnedCurve, ReliabilityCurve, ResidualCurve, SmoothCurve
from calibcli.stats.curves.segments import SegmentCells, SegmentPoints
from calibcli.stats.table import Floats
from calibcli.values import dataclass
from calibcli.version import __version__

# A reader steps through this many values of one curve, not through thousands.
MOST = 25

_MOST_OF_A_PANEL = 12

# The name of each column, and what stands there.
Columns: TypeAlias = Sequence[tuple[str, Callable[[int], str]]]


@dataclass(frozen=True, slots=True)
class Mark:
    """A value of a picture: where it stands, and what it is, one text for each column."""

    place: Place
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """The values of a picture, from left to right, panel by panel."""

    columns: tuple[str, ...]
    marks: tuple[Mark, ...]

    def words(self, mark: Mark) -> str:
        return ", ".join(f"{name} {cell}" for name, cell in zip(self.columns, mark.cells, strict=True))


def marks_of(picture: Picture) -> Marks:  # noqa: PLR0911 - one return for each picture
    """The values of a picture: evenly spread ones of a curve that has many, none where no page has it."""
    match picture:
        case CumulativeCurve():
            return _of_cumulative(picture)
        case ResidualCurve():
            names = ("mean score", "observed rate less score", "interval")
            return _of_points(names, picture.score, picture.residual, (picture.lower, picture.upper))
        case MapCurve():
            names = ("raw score", "recalibrated", "ends")
            places, ends = [int(one) for one in picture.marks], (picture.lower, picture.upper)
            return _of_points(names, picture.score, picture.output, ends, places=places)
        case SegmentPoints():
            return _of_segments(picture)
        case SegmentCells():
            return _of_cells(picture)
        case McbDsc():
            return _of_scores(picture)
        case CurvePanels():
            return _of_panels(picture)
        case _:
            return _of_curve(picture, 0, most=MOST)


def _of_points(
    columns: tuple[str, str, str],
    x: Floats,
    y: Floats,
    ends: tuple[Floats, Floats],
    *,
    places: Sequence[int] = (),
    panel: int = 0,
    most: int = MOST,
) -> Marks:
    """Return points with their intervals: those at some places, else evenly spread ones."""
    cells = zip(columns, (_fours(x), _fours(y), _between(*ends)), strict=True)
    return _at(x, y, places or _some(x, most), tuple(cells), panel=panel)


def _of_curve(curve: Picture, panel: int, *, most: int) -> Marks:
    """Return the points of bins, or some of a curve without; none of lines over thresholds."""
    match curve:
        case ReliabilityCurve(kind=PlotKind.SMOOTH, smooth=SmoothCurve() as smooth):
            names = ("mean score", "observed rate", "band of the rate")
            ends = smooth.lower, smooth.upper
            return _of_points(names, smooth.x, smooth.y, ends, panel=panel, most=most)
        case ReliabilityCurve():
            return _of_bins(curve.binned, panel, most=most)
        case IsotonicCurve():
            names, ends = ("score", "isotonic rate", "band by chance"), (curve.lower, curve.upper)
            return _of_points(names, curve.at, curve.level, ends, panel=panel, most=most)
        case ClinicalCurve():
            return _of_bins(curve.groups, panel, most=most)
        case _:
            return Marks((), ())


def _of_bins(bins: BinnedCurve, panel: int, *, most: int) -> Marks:
    places = ranges(bins.lower.tolist(), bins.upper.tolist())
    cells = (
        ("scores", lambda k: places[k]),
        ("rows", lambda k: count(int(bins.rows[k]))),
        ("mean score", _fours(bins.score)),
        ("observed rate", _fours(bins.rate)),
        ("interval of the rate", _between(bins.rate_lower, bins.rate_upper)),
    )
    return _at(bins.score, bins.rate, _some(bins.score, most), cells, panel=panel)


def _of_cumulative(curve: CumulativeCurve) -> Marks:
    cells = (
        ("share of rows", _fours(curve.share)),
        ("up to score", lambda k: four(curve.spread.at(float(curve.share[k])))),
        ("sum of label less score", _fours(curve.value)),
    )
    ends = {int(np.argmin(curve.value)), int(np.argmax(curve.value))}
    return _at(curve.share, curve.value, sorted({*_some(curve.share), *ends}), cells)


def _of_scores(picture: McbDsc) -> Marks:
    marks = tuple(
        Mark(Place(0, mcb, dsc), (name, *(four(one) for one in (value, mcb, high, dsc))))
        for name, value, mcb, high, dsc in zip(
            picture.names,
            *(one.tolist() for one in (picture.value, picture.mcb, picture.by_chance, picture.dsc)),
            strict=True,
        )
        if math.isfinite(mcb)
    )
    return Marks(("score", "mean score", "MCB", "by chance up to", "DSC"), marks)


def _of_segments(picture: SegmentPoints) -> Marks:
    """Return those that stand out and the largest."""
    largest = np.lexsort((-picture.rows, ~picture.stands_out))[:MOST]
    places = sorted(largest.tolist(), key=lambda k: float(picture.rows[k]))
    cells = (
        ("segment", lambda k: picture.names[k]),
        ("rows", lambda k: count(int(picture.rows[k]))),
        ("too high by", _fours(picture.bias)),
        ("interval, jointly", _between(picture.lower, picture.upper)),
    )
    return _at(picture.rows, picture.bias, places, cells)


def _of_cells(picture: SegmentCells) -> Marks:
    lines, columns = (*picture.lines, "all"), (*picture.columns, "all")
    line, column = np.divmod(np.arange(picture.rows.size), len(columns))
    cells = (
        (picture.down, lambda k: lines[line[k]]),
        (picture.across, lambda k: columns[column[k]]),
        ("rows", lambda k: count(int(picture.rows.flat[k]))),
        ("too high by", _fours(picture.bias.ravel())),
        ("interval, jointly", _between(picture.lower.ravel(), picture.upper.ravel())),
    )
    return _at(column + 0.5, line + 0.5, np.flatnonzero(picture.rows).tolist(), cells)


def _at(x: Floats, y: Floats, places: Sequence[int], columns: Columns, *, panel: int = 0) -> Marks:
    names, cells = zip(*columns, strict=True)
    marks = (Mark(Place(panel, float(x[k]), float(y[k])), tuple(cell(k) for cell in cells)) for k in places)
    return Marks(names, tuple(marks))


def _fours(values: Floats) -> Callable[[int], str]:
    return lambda k: four(float(values[k]))


def _between(lower: Floats, upper: Floats) -> Callable[[int], str]:
    return lambda k: between(float(lower[k]), float(upper[k]))


def _of_panels(picture: CurvePanels) -> Marks:
    what = {PlotKind.CLASSES: "class", PlotKind.GROUPS: "group"}.get(picture.kind, "of")
    columns: tuple[str, ...] = ()
    marks: list[Mark] = []
    for place, panel in enumerate(picture.panels):
        found = _of_curve(panel.curve, place, most=_MOST_OF_A_PANEL)
        columns = (what, *found.columns)
        marks += [Mark(one.place, (panel.name, *one.cells)) for one in found.marks]
    return Marks(columns, tuple(marks))


def _some(values: Floats, most: int = MOST) -> list[int]:
    """Return so many positions at most, with values evenly spread, both ends among them; none of NaN."""
    known = np.flatnonzero(~np.isnan(values))
    if known.size <= most:
        return [int(one) for one in known]
    seen = values[known]
    wanted = np.linspace(float(seen[0]), float(seen[-1]), most)
    found = np.minimum(np.searchsorted(seen, wanted), seen.size - 1)
    return [int(one) for one in known[np.unique(found)]]


@dataclass(frozen=True, slots=True)
class WrittenReport:
    html: str
    found: FullReport


def html_report(
    request: ReportRequest, words: PageOptions, *, command: str, settings: tuple[Setting, ...] = ()
) -> WrittenReport:
    """Read the rows once and say all of them on one page of HTML: the same request, the same text."""
    found = full_report(request)
    measured = found.measured.readable()
    verdicts = None if found.verdicts is None else found.verdicts.readable()
    event = event_words(measured.input.label, measured.input.positive)
    pictures = [illustration(kind, drawn, axis=words.axis, event=event) for kind, drawn in found.pictures]
    numbers = number_sections(measured, found.against_raw)
    origin = origin_section(measured, files=found.files, artifact=found.artifact, seed=request.options.seed)
    page = HtmlPage(
        title=words.title or "Calibration report",
        date=words.date,
        outcome=None if found.verdicts is None else found.verdicts.outcome,
        top=top_of(measured, settings),
        sections=(
            *verdict_sections(measured, verdicts),
            Section("diagrams", "Diagrams", pictures=tuple(pictures)),
            *numbers,
            *(() if found.segments is None else (segment_section(found.segments),)),
            definition_section(measured),
            origin,
        ),
        command=command,
        version=__version__,
    )
    return WrittenReport(html_of(page), found)


def illustration(
    kind: PlotKind, drawn: Drawn, *, axis: AxisScale | None = None, event: str = ""
) -> Illustration:
    wide = isinstance(drawn.picture, CurvePanels)
    look = look_of(FigureSize.PAGE if wide else FigureSize.COLUMN)
    scale = (axis or axis_for(drawn.picture)) if kind.facts.logit else AxisScale.LINEAR
    marks = marks_of(drawn.picture)
    name = f"picture-{kind.value}"
    figure = figure_of(drawn.picture, Words("", (), drawn.foot, event), look=look, scale=scale)
    found = inline(figure, name=name, places=[one.place for one in marks.marks])
    points = tuple(
        Point(*at, marks.words(one)) for at, one in zip(found.at, marks.marks, strict=True) if at is not None
    )
    return Illustration(
        ident=name,
        title=kind.facts.title,
        explanation=kind.facts.reading,
        caption=drawn.caption,
        small_print=found.small_print,
        drawing=found.drawing,
        box=found.box,
        points=points,
        columns=marks.columns,
        values=tuple(one.cells for one in marks.marks),
        wide=wide,
    )


def drawn_figure(request: PlotRequest, path: str | None, *, force: bool) -> Figure:
    """Return a diagram as a figure, and write it where a path is named."""
    look = request.look
    if path is not None:
        picture_format(path)
        refuse_existing(path, force=force, inputs=[one for one in request.inputs if isinstance(one, str)])
    figure = figure_of_diagram(diagram_of(request), look)
    if path is not None:
        with new_file(path) as file:
            save(figure, file, picture_format(path))
    # A notebook asks a figure that pyplot does not know for this.
    vars(figure)["_repr_png_"] = partial(_png, figure)
    return figure


def _png(figure: Figure) -> bytes:
    content = io.BytesIO()
    save(figure, content, "png")
    return content.getvalue()
