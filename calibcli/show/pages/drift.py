"""The page of `drift`: which columns have shifted, by how much, and in which levels."""

from calibcli.options.numerals import agreeing, in_full, percent, plural
from calibcli.reports.drift import DriftColumn, DriftGate, DriftReport
from calibcli.reports.input import InputSummary
from calibcli.show.answers import LITTLE_SHIFT, MUCH_SHIFT, psi_words, shift_size
from calibcli.show.blocks import Cells, Column, Grid, Line, Page, Paragraph, Tone, grid_of, paragraph
from calibcli.show.pages import answer_paragraph, note_lines, repair_lines, source_line
from calibcli.show.words import count, listed, p_words, quoted, share, three

# So many levels of a column are shown, those that add most, unless more is asked for.
_MOST_LEVELS = 20
_CONVENTION = (
    f"By convention a PSI below {LITTLE_SHIFT:g} is little, up to {MUCH_SHIFT:g} some, and above that much, "
    "whatever the number of rows."
)


def drift_page(report: DriftReport, *, verbose: bool) -> Page:
    """Return the page of a comparison of old and new rows; `verbose` shows the levels of every column."""
    shown = [one for place, one in enumerate(report.columns) if verbose or not place or one.shifted]
    old, new = (sum(getattr(one, side) for one in report.columns[0].levels) for side in ("old", "new"))
    rows = [*_rows("old  ", report.old, old), *_rows("new  ", report.new, new)]
    if report.by is not None:
        # Of many groups, only the one that has shifted most.
        shown = [*report.columns] if verbose else [max(report.columns, key=lambda one: one.psi)]
        total = old + sum(level.new for one in report.columns for level in one.levels)
        base = quoted(report.by.base)
        compared = f"Scores of each {quoted(report.by.column)} are compared with those of {base}."
        rows = [*_rows("", report.old, total), Line(compared)]
    top = paragraph(*rows, *note_lines(report.notes))
    return (
        *(() if report.gate is None else (_gate(report.gate, report),)),
        answer_paragraph(report),
        top,
        _columns(report),
        *(_levels(one, report, verbose=verbose) for one in shown),
    )


def _gate(gate: DriftGate, report: DriftReport) -> Paragraph:
    """Return what --max-psi found, and how often it is wrong."""
    limit, chance = in_full(gate.max_psi), percent(1.0 - report.confidence)
    beyond = f" by a PSI above {limit}" if gate.max_psi else ""
    error = f"Where nothing has shifted, this fails with probability at most about {chance}."
    if gate.failed_by:
        names = listed(map(quoted, gate.failed_by))
        have = agreeing(len(gate.failed_by), "has")
        return paragraph(Line(f"FAIL  {names} {have} shifted{beyond}.", Tone.FAIL), error)
    line = f"PASS  nothing is shown to have shifted{beyond}."
    return paragraph(Line(line, Tone.PASS), "This does not show that nothing has: few rows show little.")


def _rows(which: str, source: InputSummary, counted: int) -> list[Line]:
    """Return what was read, and for how many rows it counts where frequencies say so."""
    rows = plural(source.rows, "row")
    rows += "" if counted == source.rows else f" that count as {count(counted)}"
    return [Line(f"{which}{source_line(source)}, {rows}"), *repair_lines(source)]


def _columns(report: DriftReport) -> Grid:
    sure, subject = percent(report.confidence), "column" if report.by is None else report.by.column
    cells: Cells[DriftColumn] = {
        Column(subject, own=report.by is not None): lambda one: one.name,
        "PSI": lambda one: psi_words(one.psi, report),
        f"by chance ({sure})": lambda one: f"up to {three(one.by_chance)}",
        "p, jointly": lambda one: p_words(one.p_joint, at_most=one.at_most),
        "shift": lambda one: "shown" if one.shifted else "not shown",
        "by convention": lambda one: shift_size(one.psi),
        "p-value from": lambda one: one.method,
    }
    of_any = f" in any {subject}" * (len(report.columns) > 1)
    of = "pairs of files" if report.by is None else "files"
    chance = f'"By chance": where nothing has shifted, {sure} of such {of} show no more{of_any}.'
    notes = (f"{chance} Rows are independent.", _CONVENTION)
    return grid_of(
        report.columns, cells, notes, spare=("p-value from",), caption="Population stability index (PSI)"
    )


def _levels(column: DriftColumn, report: DriftReport, *, verbose: bool) -> Grid:
    levels = list(column.levels)
    if not verbose and len(levels) > _MOST_LEVELS:
        largest = sorted(levels, key=lambda one: -one.psi)[:_MOST_LEVELS]
        levels = [one for one in levels if one in largest]
    notes = [Line("PSI: what each level adds to it.", Tone.FAINT)]
    hidden = len(column.levels) - len(levels)
    if hidden:
        notes.append(Line(f"{plural(hidden, 'more level', 'adds')} less; -v shows all.", Tone.FAINT))
    old, new = (sum(getattr(one, which) for one in column.levels) for which in ("old", "new"))
    names = (column.name, "old", "new")
    if report.by is not None:
        names = (report.old.score, report.by.base, column.name)
    titles = (names[0], names[1], "share", names[2], "share", "PSI")
    columns = tuple(Column(one, numeric=place % 5 > 0, own=one in names) for place, one in enumerate(titles))
    rows = tuple(
        (one.where, count(one.old), share(one.old, old), count(one.new), share(one.new, new), three(one.psi))
        for one in levels
    )
    return Grid(columns, rows, tuple(notes), caption=f"PSI of each level of {quoted(column.name)}")
