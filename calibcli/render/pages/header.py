"""The first lines of every page: what was read and what became of it."""

from calibcli.render.blocks import Line, Tone
from calibcli.render.words import count, four, listed, plural, quoted, share
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import TableSummary

_MOST_FILES = 3


def source_line(source: InputSummary) -> str:
    """Return files and columns in one line."""
    columns = {"score": source.score, "label": source.label, "weight": source.weight}
    return " ".join([file_words(source.files) + " ", *(f"{k}={quoted(v)}" for k, v in columns.items() if v)])


def file_words(files: tuple[str, ...]) -> str:
    """Return the files by name, or the first of them and how many more there are."""
    names = [quoted(name) if name != "-" else "standard input" for name in files]
    if len(names) <= _MOST_FILES:
        return listed(names)
    return f"{', '.join(names[: _MOST_FILES - 1])} and {count(len(names) - _MOST_FILES + 1)} more files"


def table_lines(table: TableSummary) -> list[Line]:
    """Return what the table holds, and what rounding did to it where rounding there was."""
    positive = f"{count(table.positive)} positive ({share(table.positive, table.rows)})"
    rows = f"{plural(table.rows, 'row')}, {positive}"
    if table.kind == "grid":
        first = f"{rows}, grid of {plural(table.distinct, 'occupied cell')}"
        rounding = f"rounding moves a score by at most {table.resolution:.2g}; --exact avoids it"
        lines = [Line(first), Line(f"The distinct scores did not fit in memory: {rounding}.", Tone.NOTE)]
    else:
        lines = [Line(f"{rows}, {plural(table.distinct, 'distinct score')}, exact table")]
    if table.weighted:
        lines.append(Line("Rows carry importance weights; rows are counted here, values are weighted."))
    if table.discrete:
        lines.append(Line("The score takes so few values that each is measured by itself."))
    return lines


def repair_lines(source: InputSummary) -> list[Line]:
    """Return what was dropped and moved on request, and the choices made for the user."""
    lines = []
    if source.dropped:
        dropped = f"{plural(source.dropped, 'row')} with a missing value dropped"
        lines.append(Line(f"{dropped} (--on-missing drop).", Tone.NOTE))
    return [*lines, *clipped_lines(source.clipped), *note_lines(source.notes)]


def clipped_lines(clipped: int) -> list[Line]:
    """Return how many scores were moved, if any were."""
    if not clipped:
        return []
    scores = f"{plural(clipped, 'score')} outside [0, 1] moved to 0 or 1"
    return [Line(f"{scores} (--on-range clip).", Tone.NOTE)]


def note_lines(notes: tuple[str, ...]) -> list[Line]:
    """Return notes, marked as such."""
    return [Line(f"note: {note}", Tone.NOTE) for note in notes]


def artifact_lines(artifact: str | None) -> list[Line]:
    """Return which recalibrator was applied first, if one was."""
    return [] if artifact is None else [Line(f"recalibrated by {quoted(artifact)}")]


def loss_words(loss: str, before: float, after: float) -> str:
    """Return what a fit did to a loss on its own rows."""
    return f"{loss} {four(before)} before, {four(after)} after; on the fit rows, so optimistic"
