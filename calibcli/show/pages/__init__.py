"""Report to page: which facts are said, in which order and in which words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from calibcli.families import loaded
from calibcli.names import ViewName
from calibcli.options.numerals import agreeing, plural
from calibcli.reports.input import KeptReport, Setting, settings_said, unopened_words
from calibcli.show.answers import answer_of
from calibcli.show.blocks import Line, Page, Paragraph, Tone, paragraph
from calibcli.show.words import (
    capital,
    count,
    first_of,
    four,
    listed,
    quoted,
    rounded_words,
    share,
    step_words,
)

if TYPE_CHECKING:
    from calibcli.reports.input import ClassesRead, InputSummary, SelectedRows
    from calibcli.reports.maps import ClassesApplied
    from calibcli.reports.measure import MeasureReport, TableSummary
    from calibcli.reports.segments import SegmentsReport
    from calibcli.reports.verify import VerifyReport
    from calibcli.show import Report


def page_of(report: "Report", *, verbose: bool) -> Page:
    """Return the page of a report; `verbose` adds plain English and assumptions, where there are any."""
    report = report.readable() if isinstance(report, KeptReport) else report
    # Start-up pays for the pages of one module.
    module = module_of(report.page)
    page = loaded(f"show.pages.{module}.{report.page}_page")
    found: Page = page(report) if module in BRIEF else page(report, verbose=verbose)
    return found


# Modules of pages that -v adds nothing to.
BRIEF = ("maps", "compat")


def module_of(page: str) -> str:
    """Return the module of a page: of its own name, but for those of maps, which share one."""
    return "maps" if page.startswith(("fit", "apply", "inspect")) else page


_MOST_FILES = 3

MOST_LISTED = 5


def answer_paragraph(report: "Report") -> Paragraph:
    """Return what a report comes to, which its page opens with."""
    return paragraph(*(Line(one, Tone.TITLE) for one in answer_of(report)))


def source_line(source: "InputSummary") -> str:
    columns = {
        "score": source.score,
        "label": source.label,
        "positive": source.positive,
        "weight": source.weight,
    }
    files = file_words(source.files) if source.files else "no new rows"
    return " ".join([files + " ", *(f"{k}={quoted(v)}" for k, v in columns.items() if v)])


def file_words(files: tuple[str, ...]) -> str:
    """Return the files by name, or the first of them and how many more there are."""
    names = [quoted(name) if name != "-" else "standard input" for name in files]
    if len(names) <= _MOST_FILES:
        return listed(names)
    return f"{', '.join(names[: _MOST_FILES - 1])} and {count(len(names) - _MOST_FILES + 1)} more files"


def rounding_of(table: "TableSummary") -> tuple[str, ...]:
    """Return what is said of scores that were rounded to fit in memory, if they were."""
    exact = "bin counts, residual sums and calibration-in-the-large"
    return (rounded_words(step_words(table.resolution), exact=exact),) if table.kind == "grid" else ()


def table_lines(table: "TableSummary", *, verbose: bool = False) -> list[Line]:
    """Return what the table holds, and what rounding did to it if anything; `verbose` adds how it is kept."""
    positive = f"{count(table.positive)} positive ({share(table.positive, table.rows)})"
    rows = f"{plural(table.rows, 'row')}, {positive}"
    if table.kind == "grid":
        first = f"{rows}, grid of {plural(table.distinct, 'occupied cell')}"
        said = "".join(rounding_of(table))
        lines = [Line(first), Line(f"{capital(said)}.", Tone.NOTE)]
    elif table.kind == "cells":
        kept = f", counted in {plural(table.distinct, 'cell')} of the bins"
        lines = [Line(f"{rows}{kept if verbose else ''}")]
    else:
        kept = f"{rows}, {plural(table.distinct, 'distinct score')}"
        lines = [Line(f"{kept}, none rounded" if verbose else kept)]
    if table.weighted:
        weights = "importance weights, which must not depend on their labels"
        lines.append(Line(f"Rows carry {weights}; rows are counted here, values are weighted."))
    if table.discrete:
        lines.append(Line("The score takes so few values that each is measured by itself."))
    return lines


def read_lines(
    report: "MeasureReport | VerifyReport | SegmentsReport", *more: Line, verbose: bool = False
) -> list[Line]:
    """Return what was read, what was applied to it, perhaps more, and what became of the rows."""
    return [
        Line(source_line(report.input)),
        *table_lines(report.table, verbose=verbose),
        *view_lines(report.input),
        *artifact_lines(report.artifact),
        *more,
        *repair_lines(report.input),
        *note_lines(report.notes),
    ]


def repair_lines(source: "InputSummary", *, side: str = "") -> list[Line]:
    """Return what was dropped and moved on request, and the choices made for the user."""
    return [*row_lines(source, side=side), *note_lines(source.notes)]


def row_lines(source: "InputSummary", *, side: str = "") -> list[Line]:
    """Return which rows do not count, those of other predictions on a side, and what was done to others."""
    lines = [] if source.selected is None else _selected_lines(source, source.selected)
    lines += [] if source.classes is None else _class_lines(source.classes, side)
    if source.dropped:
        dropped = f"{plural(source.dropped, 'row')} with a missing value dropped"
        lines.append(Line(f"{dropped} (--on-missing drop).", Tone.NOTE))
    return [*lines, *clipped_lines(source.clipped)]


def _selected_lines(source: "InputSummary", selected: "SelectedRows") -> list[Line]:
    """Return which rows were asked for, and how many were left out."""
    left = f"{plural(selected.unselected, 'row')} not selected"
    if selected.unopened:
        left = f"{f'{left}; ' * bool(selected.unselected)}{unopened_words(selected.unopened)}"
    elsewhere = 0 if source.classes is None else source.classes.elsewhere
    counted = source.rows + source.dropped + elsewhere
    if selected.limit is not None and source.weight is None and counted < selected.limit:
        there, rows = (f"{left}; there are", "others") if selected.where else ("There are", "rows")
        left = f"{there} fewer than {selected.limit:,} {rows}, so that --limit leaves none out"
    elif selected.limit is not None:
        first = f"only the first {plural(selected.limit, 'row')}, those behind were not read"
        left = f"{left}, then {first}" if selected.where else capital(first)
    return [Line(f"{left} ({selected.options()}).", Tone.NOTE)]


def _class_lines(classes: "ClassesRead", side: str) -> list[Line]:
    left = f"{plural(classes.elsewhere, 'row')} of other predictions left out{side}."
    return [*([Line(left, Tone.FAINT)] if classes.elsewhere else []), *row_sum_lines(classes)]


def row_sum_lines(classes: "ClassesRead | ClassesApplied") -> list[Line]:
    """Return how many rows have no single most probable class, or did not sum to 1."""
    tied = f"{plural(classes.tied, 'row')} with several most probable classes: the first counts"
    lines = note_lines((tied,) if classes.tied else ())
    if classes.normalised:
        off = f"{plural(classes.normalised, 'row')} divided by the sum of the probabilities"
        lines.append(Line(f"{off} (--on-sum normalise).", Tone.NOTE))
    return lines


def view_lines(source: "InputSummary") -> list[Line]:
    """Return how several classes were seen as one score, if there are several."""
    classes = source.classes
    if classes is None:
        return []
    of = f"of {count(classes.count)} classes"
    one = quoted(classes.one_class or "")
    if classes.one_class is None:
        seen = f"The largest probability {of}; positive where that class is the right one."
        if classes.view is not ViewName.CONFIDENCE:
            each = "against the rest" if classes.view is ViewName.ONE_VS_REST else "where it is predicted"
            seen += f" Each class by itself is seen {each}."
    elif classes.view is ViewName.TOP_LABEL:
        seen = f"Rows that predict class {one} {of}: its probability; positive where it is the right one."
    else:
        seen = f"Class {one} {of} against the rest."
    return [Line(seen)]


def clipped_lines(clipped: int) -> list[Line]:
    if not clipped:
        return []
    scores = f"{plural(clipped, 'score')} outside [0, 1] moved to 0 or 1"
    return [Line(f"{scores} (--on-range clip).", Tone.NOTE)]


def note_lines(notes: tuple[str, ...]) -> list[Line]:
    return [Line(f"note: {note}", Tone.NOTE) for note in notes]


def settings_page(settings: tuple[Setting, ...]) -> Page:
    """Return what files and variables have set, in a block of its own; nothing where they have not."""
    lines = [Line(said, Tone.NOTE) for said in settings_said(settings)]
    return (paragraph(*lines),) if lines else ()


def artifact_lines(artifact: str | None) -> list[Line]:
    return [] if artifact is None else [Line(f"recalibrated by {quoted(artifact)}")]


def loss_words(loss: str, before: float, after: float) -> str:
    return f"{loss} {four(before)} before, {four(after)} after; on the fit rows, so optimistic"


def left_out_words(
    left_out: Mapping[str, int],
    least_rows: int,
    *,
    one: str = "group",
    many: str = "groups",
    done: str = "measured",
) -> str:
    """Return which slices are not measured, the largest first, and the option that says so."""
    few = sorted(left_out.items(), key=lambda one: (-one[1], one[0]))
    columns = {key.partition("=")[0] for key in left_out}
    # Of one column its name is said once.
    once = f"{columns.pop()}=" if len(columns) == 1 and not any("/" in key for key in left_out) else ""
    named = [f"{key.removeprefix(once) or repr('')} ({count(rows)})" for key, rows in few]
    listing = f"{once and f'{once[:-1]} '}{first_of(named, MOST_LISTED)}"
    small = f"of fewer than {plural(least_rows, 'row')} (--min-group-rows)"
    # As a class that is predicted nowhere, whatever number is asked for.
    which = small if any(left_out.values()) else "without rows"
    return (
        f"{count(len(few))} {one if len(few) == 1 else many} {which} "
        f"{agreeing(len(few), 'is')} not {done}: {listing}"
    )
