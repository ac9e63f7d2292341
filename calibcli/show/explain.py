"""What a measure or test is, on the command line; the methods page is made of the same words."""

import re

from calibcli.families import LABELS, Explained, Home
from calibcli.names import ClassMeasure, MeasureName, SegmentMeasure, TestName
from calibcli.show.blocks import Line, Listing, Page, Tone, paragraph


def _of(*homes: Home) -> tuple[Explained, ...]:
    return tuple(one for one in MeasureName if one.facts.home in homes)


# Every definition there is, under the titles of the methods page.
SECTIONS = {
    "Errors over bins": _of(Home.BINNED, Home.L2),
    "Errors without bins": _of(Home.SMOOTH_ECE, Home.DISTANCE, Home.SMOOTH, Home.CUTOFF),
    "Calibration in the large, and by regression": _of(Home.BIAS, Home.COX),
    "Proper scores and their parts": (*_of(Home.SCORES), *_of(Home.SKILL), *_of(Home.DECOMPOSITIONS)),
    "Discrimination": _of(Home.DISCRIMINATION),
    "Several classes together": tuple(ClassMeasure),
    "Segments together": tuple(SegmentMeasure),
    'Tests of "every label is Bernoulli with its score"': tuple(TestName),
}


# The letters of formulas where only ASCII can be shown.
_RAISED = str.maketrans("⁻¹²³⁴⁵", "-12345")
_SPELLED = str.maketrans(
    {"Σ": "sum", "√": "sqrt", "∫": "integral of ", "≥": ">=", "≤": "<=", "±": "+-", "…": "..."}
    | {"δ": "delta", "σ": "sigma", "φ": "phi", "Φ": "Phi", "ν": "nu", "θ": "theta", "π": "pi", "α": "alpha"}
    | {"\u0304": "bar", "ȳ": "ybar", "⌊": "floor(", "⌋": ")", "₀": "_0", "₁": "_1"}
    | {"¼": "1/4", "½": "1/2", "¾": "3/4"}
    | dict(zip("łŠáö", "lSao", strict=True))
)


def definition_page(name: Explained, *, unicode: bool = True) -> Page:
    """Return the page of one measure or test; without Unicode formulas are spelled out, as in sqrt(delta)."""
    listing = definition_listing(name)
    if not unicode:
        listing = Listing(tuple((label, spelled(text)) for label, text in listing.items), listing.title)
    return (paragraph(Line(name.value, Tone.TITLE), name.meaning), listing)


def spelled(text: str) -> str:
    """Return a definition in ASCII."""
    apart = re.sub(r"([Σ√])(?=[^\W_])", r"\1 ", text)
    raised = re.sub("[⁻¹²³⁴⁵]+", lambda found: "^" + found.group().translate(_RAISED), apart)
    return raised.translate(_SPELLED)


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
