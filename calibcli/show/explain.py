"""What a measure or test is, on the command line; the methods page is made of the same words."""

from calibcli.families import LABELS, Explained, Home
from calibcli.names import ClassMeasure, MeasureName, SegmentMeasure, TestName
from calibcli.show.blocks import Line, Listing, Page, Tone, paragraph


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


def definition_page(name: Explained) -> Page:
    return (paragraph(Line(name.value, Tone.TITLE), name.meaning), definition_listing(name))


def definition_listing(name: Explained, title: str = "") -> Listing:
    return Listing(tuple(zip(LABELS, name.definition, strict=True)), title)


def names_page() -> Page:
    kinds = (
        (MeasureName, "Measures"),
        (ClassMeasure, "Measures of several classes"),
        (SegmentMeasure, "Measures of segments, for gates"),
        (TestName, "Tests"),
    )
    return tuple(Listing(tuple((one.value, one.meaning) for one in kind), title) for kind, title in kinds)
