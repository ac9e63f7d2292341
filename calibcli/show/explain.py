"""What a measure or test is: the sections of `definitions/`, which the methods page is made of as well."""

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, assert_never

from calibcli.errors import UsageProblem
from calibcli.names import ClassMeasure, MeasureName, ReportFormat, TestName
from calibcli.show.blocks import Line, Listing, Page, Tone, paragraph
from calibcli.show.phrases import meaning_of_class_measure, meaning_of_measure, meaning_of_test

if TYPE_CHECKING:
    from calibcli.show.markdown import MarkdownRenderer
    from calibcli.show.terminal import TerminalRenderer

LABELS = ("Estimand", "Estimator", "Interval", "Assumes", "Reference")
FAMILIES = {
    "binned": "Errors over bins",
    "smooth": "Errors without bins",
    "regression": "Calibration in the large, and by regression",
    "scores": "Proper scores and their parts",
    "classes": "Several classes together",
    "tests": 'Tests of "every label is Bernoulli with its score"',
}
Name = MeasureName | TestName | ClassMeasure
_KINDS = (MeasureName, TestName, ClassMeasure)


@dataclass(frozen=True, slots=True)
class Definition:
    """
    What a measure or test is.

    Args:
        paragraphs: What is said under each of `LABELS`, in their order.
    """

    name: Name
    paragraphs: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """One sentence for a reader who has not met it."""
        if isinstance(self.name, MeasureName):
            return meaning_of_measure(self.name)
        if isinstance(self.name, ClassMeasure):
            return meaning_of_class_measure(self.name)
        return meaning_of_test(self.name)


def writer_of(
    kind: ReportFormat, *, width: int | None, color: bool, unicode: bool
) -> "TerminalRenderer | MarkdownRenderer":
    """Return what writes pages of definitions as text."""
    match kind:
        case ReportFormat.TABLE:
            from calibcli.show.terminal import TerminalRenderer

            return TerminalRenderer(width=width, color=color, verbose=False, unicode=unicode)
        case ReportFormat.MARKDOWN:
            from calibcli.show.markdown import MarkdownRenderer

            return MarkdownRenderer(verbose=False, unicode=unicode)
        case ReportFormat.JSON | ReportFormat.JSON_LINES | ReportFormat.CSV:
            msg = f"--explain writes text, not {kind.value.upper()}"
            raise UsageProblem(msg, "leave it out, or pass --format md")
        case _:
            assert_never(kind)


def definition_page(name: Name) -> Page:
    """Return the page of one measure or test."""
    found = next(one for family in FAMILIES for one in definitions(family) if one.name is name)
    top = paragraph(Line(name.value, Tone.TITLE), found.meaning)
    return (top, Listing(tuple(zip(LABELS, found.paragraphs, strict=True))))


def names_page() -> Page:
    """Return every name with its one sentence."""
    measures = tuple((name.value, meaning_of_measure(name)) for name in MeasureName)
    tests = tuple((name.value, meaning_of_test(name)) for name in TestName)
    of_classes = tuple((name.value, meaning_of_class_measure(name)) for name in ClassMeasure)
    return (
        Listing(measures, "Measures"),
        Listing(of_classes, "Measures of several classes"),
        Listing(tests, "Tests"),
    )


def definitions(family: str) -> tuple[Definition, ...]:
    """Return the definitions of a family, in the order of its file."""
    text = (files("calibcli.show") / "definitions" / f"{family}.md").read_text(encoding="utf-8")
    return definitions_in(text)


def definitions_in(text: str) -> tuple[Definition, ...]:
    """Return the definitions that a text holds; what stands before its first section is for its authors."""
    sections = text.replace("\r\n", "\n").split("\n## ")
    if text.startswith("## "):
        sections = ["", sections[0].removeprefix("## "), *sections[1:]]
    return tuple(_definition(section) for section in sections[1:])


def _definition(section: str) -> Definition:
    heading, _, body = section.partition("\n")
    word = heading.strip()
    parts = [" ".join(part.split()) for part in body.split("\n\n") if part.strip()]
    labels = [part.partition(": ")[0] for part in parts]
    if labels != list(LABELS):
        msg = f"the section {word!r} has the paragraphs {', '.join(labels)}"
        raise ValueError(msg)
    kind = next(one for one in _KINDS if word in {member.value for member in one} or one is _KINDS[-1])
    return Definition(kind(word), tuple(part.partition(": ")[2] for part in parts))
