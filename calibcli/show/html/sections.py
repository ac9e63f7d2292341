"""Reports to the sections of a page: which facts stand where."""

from collections.abc import Iterator, Mapping, Sequence

from calibcli.families import Explained
from calibcli.options.numerals import percent
from calibcli.reports.compare import CompareReport
from calibcli.reports.input import Setting, settings_said
from calibcli.reports.measure import MeasureReport
from calibcli.reports.segments import SegmentsReport
from calibcli.reports.verify import VerifyReport
from calibcli.show.answers import answer_of, segmented
from calibcli.show.blocks import Block, Line, Listing, Paragraph, Tone, paragraph
from calibcli.show.explain import SECTIONS, definition_listing
from calibcli.show.html.page import Illustration, Section
from calibcli.show.pages import (
    artifact_lines,
    note_lines,
    repair_lines,
    source_line,
    table_lines,
    view_lines,
)
from calibcli.show.pages.compare import compare_page
from calibcli.show.pages.measure import (
    class_blocks,
    difference_blocks,
    group_blocks,
    net_benefit_blocks,
    number_blocks,
    together_blocks,
)
from calibcli.show.pages.segments import segment_blocks
from calibcli.show.pages.verify import verify_page
from calibcli.show.words import SMALL_P, p_words, quoted
from calibcli.stats.measures import ClassEstimate, Estimate

_NO_RULE = "No limit was given, so there is no verdict; to get one pass a limit, such as --max-ece 0.02."


def summary_of(report: MeasureReport) -> Paragraph:
    """Return what was found in a few sentences."""
    return paragraph(*answer_of(report), *_tests(report), Line(_NO_RULE, Tone.FAINT))


def _tests(report: MeasureReport) -> list[str]:
    combined = report.combined
    if combined is None or combined.p_value is None:
        return []
    return [f"The tests of calibration together: p-value {p_words(combined.p_value)}. {SMALL_P}"]


# Of more classes or groups than these, those that need to be seen are listed.
_MOST_LISTED = 100


def top_of(report: MeasureReport, settings: tuple[Setting, ...]) -> Paragraph:
    """Return what was read and what became of it, and what files and variables have set."""
    return paragraph(
        source_line(report.input),
        *table_lines(report.table),
        *view_lines(report.input),
        *artifact_lines(report.artifact),
        *repair_lines(report.input),
        *note_lines(report.notes),
        *(Line(said, Tone.NOTE) for said in settings_said(settings)),
    )


def verdict_section(report: MeasureReport, verdicts: VerifyReport | None) -> Section:
    """Return what was judged, or what the numbers say where nothing was."""
    if verdicts is None:
        return Section("verdict", "In short", (summary_of(report),))
    segments = [one.segments for one in verdicts.verdicts.values() if one.segments is not None]
    many = max((len(one.segments) for one in segments), default=len(verdicts.groups))
    page = verify_page(verdicts, verbose=many <= _MOST_LISTED)
    # Its last block is what was read, which stands at the top of this page.
    blocks = tuple(block for block in page[:-1] if not isinstance(block, Listing))
    notes = tuple(note for note in verdicts.notes if note not in report.notes)
    more = (paragraph(*note_lines(notes)),) if notes else ()
    return Section("verdict", "Verdict", (*blocks, *more), folded=(_assumptions(verdicts),))


def _assumptions(verdicts: VerifyReport) -> Listing:
    """Return what every rule assumes; the groups of a rule assume the same."""
    first = {key: verdict for _, key, verdict in reversed(verdicts.every_verdict)}
    items = ((key, "; ".join(first[key].assumptions)) for key in verdicts.rules)
    return Listing(tuple((key, text) for key, text in items if text), "What the verdicts assume")


def number_sections(report: MeasureReport, against_raw: CompareReport | None) -> Iterator[Section]:
    """Return measures and tests, then whatever else was measured beside them."""
    blocks = (*number_blocks(report, verbose=True), *together_blocks(report, verbose=True))
    if blocks:
        yield Section("measures", "Measures and tests", blocks)
    if report.net_benefit:
        yield Section("benefit", "Net benefit", net_benefit_blocks(report))
    raw = _raw(report)
    if raw is not None:
        yield Section("recalibration", "Before and after recalibration", _recalibration(raw, against_raw))
    others = [key for key, part in report.slices.items() if key == f"score={part.input.score}"]
    if report.differences and others:
        yield Section("scores", "Several scores", tuple(_scores(report, others)))
    if report.groups is not None:
        slices = dict(report.slices)
        found = list(group_blocks(report, slices))
        for key in others if report.differences else ():
            part = report.slices[key]
            found += [_title(f"Column {quoted(part.input.score)}"), *group_blocks(part, slices)]
        yield Section("groups", "Groups", tuple(found))
    if report.classes is not None and report.classes.views:
        verbose = len(report.classes.names) <= _MOST_LISTED
        yield Section("classes", "Classes", class_blocks(report, report.classes, verbose=verbose))


def segment_section(report: SegmentsReport) -> Section:
    """Return where the score is wrong, of all segments that some columns make."""
    answer = paragraph(*segmented(report), *note_lines(report.notes))
    return Section("segments", "Segments", (answer, *segment_blocks(report, verbose=False)))


def _raw(report: MeasureReport) -> MeasureReport | None:
    """Return what was measured of the score before it was recalibrated."""
    return None if report.artifact is None else report.slices.get(f"score={report.input.score}")


def _recalibration(raw: MeasureReport, against: CompareReport | None) -> tuple[Block, ...]:
    by_itself = (_title("The raw score by itself"), *number_blocks(raw, verbose=True))
    if against is None:
        return by_itself
    # The second block of the comparison is what was read.
    answer, _, *tables = compare_page(against, verbose=False)
    return (answer, paragraph(_sides(against)), *tables, *by_itself)


def _title(text: str) -> Paragraph:
    return paragraph(Line(text, Tone.TITLE))


def _sides(report: CompareReport) -> str:
    return (
        f"First: column {quoted(report.first.score)} as it is. Second: the same recalibrated by "
        f"{quoted(report.second.name)}, on the same rows."
    )


def _scores(report: MeasureReport, others: Sequence[str]) -> Iterator[Block]:
    yield from difference_blocks(report)
    for key in others:
        part = report.slices[key]
        yield paragraph(Line(f"Column {quoted(part.input.score)}", Tone.TITLE), *note_lines(part.notes))
        yield from number_blocks(part, verbose=True)


def picture_section(pictures: Sequence[Illustration]) -> Section:
    """Return the diagrams."""
    return Section("diagrams", "Diagrams", pictures=tuple(pictures))


def definition_section(report: MeasureReport) -> Section:
    """Return what every number of the page is, as `measure --explain` says it."""
    wanted = set(_named(report))
    found = tuple(
        definition_listing(one, f"{one.value}: {one.meaning}")
        for members in SECTIONS.values()
        for one in members
        if one in wanted
    )
    return Section("definitions", "Definitions", folded=found)


def _named(report: MeasureReport) -> Iterator[Explained]:
    for part in (report, *report.slices.values()):
        yield from _names(part.measures)
        yield from (one.name for one in part.tests)
    if report.classes is not None:
        yield from _names(report.classes.measures)


def _names(measures: Sequence[Estimate | ClassEstimate]) -> Iterator[Explained]:
    yield from (one.name for one in measures)


def origin_section(
    report: MeasureReport, *, files: Mapping[str, str], artifact: str | None, seed: int
) -> Section:
    """Return what the page rests on, so that a reader can tell whether it is the same."""
    facts = [(name, f"sha256 {found}") for name, found in files.items()]
    if not files:
        facts += [(name, "no digest: not on this machine, or over 1 GiB") for name in report.input.files]
    if artifact is not None and report.artifact is not None:
        facts.append((report.artifact, f"sha256 {artifact}"))
    table = report.table
    if table.digest is not None:
        facts.append(("table of scores and labels", f"{table.digest} ({table.kind})"))
    facts.append(("seed", str(seed)))
    facts.append(("confidence of intervals", percent(report.confidence)))
    return Section("origin", "What this rests on", (Listing(tuple(facts)),))
