"""What a measure or test is, on the command line; the methods page is made of the same words."""

from typing import TYPE_CHECKING, assert_never

from calibcli.errors import UsageProblem
from calibcli.families import LABELS, Explained, Home
from calibcli.names import ClassMeasure, MeasureName, ReportFormat, SegmentMeasure, TestName
from calibcli.show.blocks import Line, Listing, Page, Tone, paragraph

if TYPE_CHECKING:
    from calibcli.show.markup import MarkupRenderer
    from calibcli.show.terminal import TerminalRenderer


def _of(*homes: Home) -> tuple[Explained, ...]:
    return tuple(one for one in MeasureName if one.facts.home in homes)


# Every definition there is, under the titles of the methods page.
SECTIONS = {
    "Errors over bins": _of(Home.BINNED, Home.L2),
    "Errors without bins": _of(Home.SMOOTH_ECE, Home.DISTANCE, Home.SMOOTH, Home.CUTOFF),
    "Calibration in the large, and by regression": _of(Home.BIAS, Home.REGRESSION),
    "Proper scores and their parts": (*_of(Home.SCORES), *_of(Home.SKILL), *_of(Home.DECOMPOSITIONS)),
    "Discrimination": _of(Home.DISCRIMINATION),
    "Several classes together": tuple(ClassMeasure),
    "Segments together": tuple(SegmentMeasure),
    'Tests of "every label is Bernoulli with its score"': tuple(TestName),
}


def writer_of(
    kind: ReportFormat, *, width: int | None, color: bool, unicode: bool
) -> "TerminalRenderer | MarkupRenderer":
    """Return what writes pages of definitions as text."""
    match kind:
        case ReportFormat.TABLE:
            from calibcli.show.terminal import TerminalRenderer

            return TerminalRenderer(width=width, color=color, verbose=False, unicode=unicode)
        case ReportFormat.MARKDOWN | ReportFormat.HTML | ReportFormat.LATEX:
            from calibcli.show.markup import DIALECTS, MarkupRenderer

            return MarkupRenderer(unicode=unicode, dialect=DIALECTS[kind])
        case ReportFormat.JSON | ReportFormat.JSON_LINES | ReportFormat.CSV:
            msg = f"--explain writes text, not {kind.value.upper()}"
            raise UsageProblem(msg, "leave it out, or pass --format md, html or latex")
        case _:
            assert_never(kind)


def definition_page(name: Explained) -> Page:
    """Return the page of one measure or test."""
    return (paragraph(Line(name.value, Tone.TITLE), name.meaning), definition_listing(name))


def definition_listing(name: Explained, title: str = "") -> Listing:
    """Return what is said of a measure or test under each label."""
    return Listing(tuple(zip(LABELS, name.definition, strict=True)), title)


def names_page() -> Page:
    """Return every name with its one sentence."""
    kinds = (
        (MeasureName, "Measures"),
        (ClassMeasure, "Measures of several classes"),
        (SegmentMeasure, "Measures of segments, for gates"),
        (TestName, "Tests"),
    )
    return tuple(Listing(tuple((one.value, one.meaning) for one in kind), title) for kind, title in kinds)
