"""What an HTML page is made of, as its template takes it."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING

from calibcli.errors import UsageProblem
from calibcli.families import Explained
from calibcli.names import VerdictName
from calibcli.options.numerals import percent
from calibcli.reports.compare import CompareReport
from calibcli.reports.input import Setting, settings_said
from calibcli.reports.measure import MeasureReport
from calibcli.reports.segments import SegmentsReport
from calibcli.reports.verify import VerifyReport
from calibcli.show.answers import answer_of, segmented
from calibcli.show.blocks import Bar, Block, Grid, Line, Listing, Paragraph, Tone, paragraph
from calibcli.show.explain import SECTIONS, definition_listing
from calibcli.show.pages import measure, note_lines, read_lines
from calibcli.show.pages.compare import compare_page
from calibcli.show.pages.segments import segment_blocks
from calibcli.show.pages.verify import verify_page
from calibcli.show.words import SMALL_P, listed, p_together, printable, quoted
from calibcli.stats.measures import Estimated
from calibcli.values import dataclass

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True)
class Point:
    """A value that can be pointed at, at a place of the view box of its picture."""

    x: float
    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Illustration:
    """A picture with everything that is said of it.

    Args:
        title: What kind of picture it is, for whom.
        explanation: How to read it, in a sentence.
        caption: The number that it shows, then what it rests on.
        small_print: What is drawn and under which assumptions.
        drawing: SVG of this program, without text from outside.
        wide: Whether it takes the width of the page.
    """

    ident: str
    title: str
    explanation: str
    caption: tuple[str, ...]
    small_print: str
    drawing: str
    box: tuple[float, float, float, float]
    points: tuple[Point, ...] = ()
    columns: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()
    wide: bool = False

    @property
    def description(self) -> str:
        """The numbers of the picture for somebody who does not see it."""
        return " ".join(_sentence(one) for one in (*self.caption, self.explanation, self.small_print) if one)


@dataclass(frozen=True, slots=True)
class Captioned:
    caption: str
    grid: Grid


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page; `folded` listings are opened one by one."""

    ident: str
    title: str
    blocks: tuple[Block, ...] = ()
    pictures: tuple[Illustration, ...] = ()
    folded: tuple[Listing, ...] = ()

    @property
    def parts(self) -> tuple[Paragraph | Captioned | Listing, ...]:
        """The blocks, each table with the heading above it as its name."""
        return tuple(_captioned(self.blocks, self.title))


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """The whole page, with a date to print as the user wrote it, and the verdict over all rules, if any."""

    title: str
    date: str | None
    outcome: VerdictName | None
    top: Paragraph
    sections: tuple[Section, ...]
    command: str
    version: str


def _captioned(blocks: Sequence[Block], title: str) -> Iterator[Paragraph | Captioned | Listing]:
    heading = title
    for block in blocks:
        match block:
            case Paragraph():
                # A sentence is an answer, and no heading of the tables below it.
                titles = [one.text for one in block.lines if one.tone is Tone.TITLE and one.text[-1:] != "."]
                heading = titles[-1] if titles else heading
                yield block
            case Grid():
                first, *rest = (column.title for column in block.columns)
                yield Captioned(f"{heading}, by {first}: {', '.join(rest)}", block)
            case Listing():
                yield block


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


_ENGINE = "jinja2"


def require_templates() -> None:
    if find_spec(_ENGINE) is None:
        msg = f"an HTML report needs {_ENGINE}, which is not installed"
        raise UsageProblem(msg, "pip install '.[report]'")


def html_of(page: HtmlPage) -> str:
    """Return a page as one self-contained HTML document: the same page gives the same text."""
    from markupsafe import Markup

    style, script = (_source(name) for name in ("report.css", "report.js"))
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    template = _environment().get_template("report.html")
    # The two files of this package are the only text of the page that is not escaped, but for drawings.
    text = template.render(page=page, style=Markup(style), script=Markup(script), policy=policy)  # noqa: S704
    return text if text.endswith("\n") else f"{text}\n"


def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["drawing"] = Markup
    environment.filters["shown_columns"] = _without_bars
    environment.filters["number"] = lambda value: f"{value:g}"
    environment.tests["captioned"] = lambda block: isinstance(block, Captioned)
    environment.tests["listing"] = lambda block: isinstance(block, Listing)
    environment.tests["prose"] = lambda block: isinstance(block, Paragraph)
    return environment


def _shown(value: object) -> object:
    """Return text with whatever could steer a reader's screen as an escape; markup of templates as it is."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return printable(value)
    return value


def _without_bars(grid: Grid) -> list[int]:
    """Return which columns are text: bars stand in the pictures."""
    return [k for k, _ in enumerate(grid.columns) if not any(isinstance(row[k], Bar) for row in grid.rows)]


def _source(name: str) -> str:
    text = (files("calibcli.show.html") / "templates" / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _hash(text: str) -> str:
    """Return the hash by which a browser knows that a style or a script is ours."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


_NO_RULE = "No limit was given, so there is no verdict; to get one pass a limit, such as --max-ece 0.02."


def _tests(report: MeasureReport) -> list[str]:
    """Return what the tests come to together, of several scores for each."""
    further = report.further_scores
    found = [
        p_together(one.combined, one.tests) + (f" of {quoted(one.input.score)}" if further else "")
        for one in (report, *further.values())
        if one.combined is not None and one.combined.p_value is not None
    ]
    return [f"The tests of calibration together: p-value {listed(found)}. {SMALL_P}"] if found else []


# Of more classes or groups than these, those that need to be seen are listed.
_MOST_LISTED = 100


def top_of(report: MeasureReport, settings: tuple[Setting, ...]) -> Paragraph:
    """Return what was read and what became of it, and what files and variables have set."""
    return paragraph(*read_lines(report), *(Line(said, Tone.NOTE) for said in settings_said(settings)))


def verdict_sections(report: MeasureReport, verdicts: VerifyReport | None) -> tuple[Section, ...]:
    """Return the answer in short, then every verdict where there are limits."""
    found = (*answer_of(report), *_tests(report))
    if verdicts is None:
        return (Section("verdict", "In short", (paragraph(*found, Line(_NO_RULE, Tone.FAINT)),)),)
    short = paragraph(*answer_of(verdicts), *found)
    segments = [one.segments for one in verdicts.verdicts.values() if one.segments is not None]
    many = max((len(one.segments) for one in segments), default=len(verdicts.groups))
    page = verify_page(verdicts, verbose=many <= _MOST_LISTED)
    # Its last block is what was read, which stands at the top of this page.
    blocks = tuple(block for block in page[:-1] if not isinstance(block, Listing))
    notes = tuple(note for note in verdicts.notes if note not in report.notes)
    more = (paragraph(*note_lines(notes)),) if notes else ()
    full = Section("verdict", "Verdict", (*blocks, *more), folded=(_assumptions(verdicts),))
    return Section("short", "In short", (short,)), full


def _assumptions(verdicts: VerifyReport) -> Listing:
    """Return what every rule assumes; the groups of a rule assume the same."""
    first = {key: verdict for _, key, verdict in reversed(verdicts.every_verdict)}
    items = ((key, "; ".join(first[key].assumptions)) for key in verdicts.rules)
    return Listing(tuple((key, text) for key, text in items if text), "What the verdicts assume")


def number_sections(report: MeasureReport, against_raw: CompareReport | None) -> Iterator[Section]:
    """Return measures and tests, then whatever else was measured beside them."""
    blocks = (*measure.number_blocks(report, verbose=True), *measure.together_blocks(report, verbose=True))
    if blocks:
        yield Section("measures", "Measures and tests", blocks)
    if report.net_benefit:
        yield Section("benefit", "Net benefit", measure.net_benefit_blocks(report))
    raw = _raw(report)
    if raw is not None:
        yield Section("recalibration", "Before and after recalibration", _recalibration(raw, against_raw))
    others = list(report.further_scores)
    if others:
        yield Section("scores", "Several scores", tuple(_scores(report, others)))
    if report.groups is not None:
        found = list(measure.group_blocks(report, report.slices))
        for key in others:
            part = report.slices[key]
            found += [
                _title(f"Column {quoted(part.input.score)}"),
                *measure.group_blocks(part, report.slices),
            ]
        yield Section("groups", "Groups", tuple(found))
    if report.classes is not None and report.classes.views:
        verbose = len(report.classes.names) <= _MOST_LISTED
        yield Section("classes", "Classes", measure.class_blocks(report, report.classes, verbose=verbose))


def segment_section(report: SegmentsReport) -> Section:
    answer = paragraph(*segmented(report), *note_lines(report.notes))
    return Section("segments", "Segments", (answer, *segment_blocks(report, verbose=False)))


def _raw(report: MeasureReport) -> MeasureReport | None:
    """Return what was measured of the score before it was recalibrated."""
    return None if report.artifact is None else report.slices.get(f"score={report.input.score}")


def _recalibration(raw: MeasureReport, against: CompareReport | None) -> tuple[Block, ...]:
    by_itself = (_title("The raw score by itself"), *measure.number_blocks(raw, verbose=True))
    if against is None:
        return by_itself
    # The second block of the comparison is what was read.
    answer, _, *tables = compare_page(against, verbose=False)
    return (answer, paragraph(_sides(against)), *tables, *by_itself)


def _title(text: str) -> Paragraph:
    return paragraph(Line(text, Tone.TITLE))


def _sides(report: CompareReport) -> str:
    first, second = quoted(report.first.score), quoted(report.second.name)
    return f"First: column {first} as it is. Second: the same recalibrated by {second}, on the same rows."


def _scores(report: MeasureReport, others: Sequence[str]) -> Iterator[Block]:
    yield from measure.difference_blocks(report)
    for key in others:
        part = report.slices[key]
        yield paragraph(Line(f"Column {quoted(part.input.score)}", Tone.TITLE), *note_lines(part.notes))
        yield from measure.number_blocks(part, verbose=True)


def definition_section(report: MeasureReport) -> Section:
    """Return what every number of the page is, as `measure --explain` says it."""
    classes = () if report.classes is None else report.classes.measures
    parts = (report, *report.slices.values())
    measured: Iterable[Estimated] = chain(classes, *(part.measures for part in parts))
    wanted: set[Explained] = {one.name for one in measured}
    wanted |= {one.name for part in parts for one in part.tests}
    found = tuple(
        definition_listing(one, f"{one.value}: {one.meaning}")
        for members in SECTIONS.values()
        for one in members
        if one in wanted
    )
    return Section("definitions", "Definitions", folded=found)


def origin_section(
    report: MeasureReport, *, files: Mapping[str, str], artifact: str | None, seed: int
) -> Section:
    """Return what the page rests on, so that a reader can tell whether it is the same."""
    facts = [(name, f"sha256 {found}") for name, found in files.items()]
    if not files:
        # All have one or none has.
        one = len(report.input.files) == 1
        why = (
            "not on this machine, or over 1 GiB" if one else "not all on this machine, or over 1 GiB together"
        )
        facts += [(name, f"no digest: {why}") for name in report.input.files]
    if artifact is not None and report.artifact is not None:
        facts.append((report.artifact, f"sha256 {artifact}"))
    table = report.table
    if table.digest is not None:
        facts.append(("table of scores and labels", f"{table.digest} ({table.kind})"))
    facts.append(("seed", str(seed)))
    facts.append(("confidence of intervals", percent(report.confidence)))
    return Section("origin", "What this rests on", (Listing(tuple(facts)),))
