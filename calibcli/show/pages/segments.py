"""The page of `segments`: where scores are wrong by more than chance, by how much, and what is not tested."""

from collections import Counter

from calibcli.options.numerals import percent, plural
from calibcli.reports.segments import Ends, Segment, SegmentsReport
from calibcli.show.answers import segment_name, segmented, untested_words
from calibcli.show.blocks import Block, Cells, Column, Line, Listing, Page, Tone, grid_of, paragraph
from calibcli.show.pages import note_lines, read_lines
from calibcli.show.words import INDEPENDENT, count, first_of, four, listed, p_words, printable, quoted, three
from calibcli.values import replace

# So many segments are in the table, unless more is asked for.
_MOST_ROWS, _MOST_NAMED, _MOST_LEVELS = 20, 5, 6
_READING = (
    "Predicted less observed: below 0 scores are too low. Sigmas: range of the cumulative residuals in "
    f"standard deviations, which also shows errors that cancel on average. {INDEPENDENT}."
)


def segments_page(report: SegmentsReport, *, verbose: bool) -> Page:
    """Return the page of segments; `verbose` lists all that were tested, and how they were."""
    source, *more = read_lines(report)
    top = paragraph(replace(source, tone=Tone.TITLE), *more)
    how = (_levels(report), _method(report)) if verbose else ()
    answer = paragraph(*(Line(one, Tone.TITLE) for one in segmented(report)))
    further = [block for one in report.slices.values() for block in _of_score(one, verbose=verbose)]
    return (answer, top, *segment_blocks(report, verbose=verbose), *further, *how)


def _of_score(report: SegmentsReport, *, verbose: bool) -> tuple[Block, ...]:
    """Return the segments of a further score under its name."""
    title = Line(f"Column {quoted(report.input.score)}", Tone.TITLE)
    return (paragraph(title, *note_lines(report.notes)), *segment_blocks(report, verbose=verbose))


def segment_blocks(report: SegmentsReport, *, verbose: bool) -> tuple[Block, ...]:
    """Return the segments that are listed, or all that were tested, and what was not."""
    return (*_table(report, verbose=verbose), *_untested(report))


def _table(report: SegmentsReport, *, verbose: bool) -> tuple[Block, ...]:
    everything = tuple(one for one in report.segments if one.not_tested is None)
    rows = everything if verbose else report.shown[:_MOST_ROWS]
    if not rows:
        return ()
    sure = percent(report.confidence)
    more: Cells[Segment] = {
        "O/E": lambda one: _range(one.ratio_interval),
        "detectable": lambda one: "" if one.smallest_detectable is None else three(one.smallest_detectable),
    }
    cells: Cells[Segment] = {
        Column("rows", numeric=True): lambda one: count(one.rows),
        "predicted": lambda one: three(one.mean_score),
        "observed": lambda one: three(one.observed_rate),
        f"too high by ({sure}, jointly)": lambda one: _range(one.bias_interval),
        "sigmas": lambda one: three(one.sigma),
        "p, jointly": lambda one: p_words(one.p_value),
        **(more if verbose else {}),
        "segment": lambda one: f"{segment_name(one)}{_why(one, verbose=verbose)}",
    }
    notes = [_READING]
    hidden = len(report.shown) - len(rows)
    if hidden > 0:
        notes.append(f"{plural(hidden, 'more segment')} in JSON and CSV; -v shows all that were tested.")
    if verbose and any(one.explained_by is not None for one in rows):
        notes.append('"as ...": errs no more than that larger segment does.')
    caption = f"Segments of {quoted(report.input.score)} for {quoted(report.input.label or '')}"
    return (grid_of(rows, cells, notes, caption=caption),)


def _range(ends: Ends | None) -> str:
    return "" if ends is None else f"{three(ends.lower)} to {three(ends.upper)}"


def _why(one: Segment, *, verbose: bool) -> str:
    """Return for which part a segment is wrong, or which larger one explains it."""
    explained, because = one.explained_by, one.because_of
    if because is not None:
        return f" (only for {' and '.join(map(printable, because))})"
    if explained is not None and verbose:
        return f" (as {' and '.join(map(printable, explained)) or 'all rows'})"
    return ""


def _untested(report: SegmentsReport) -> tuple[Block, ...]:
    """Return how many segments were not tested for which reason, and the largest of them."""
    left_out = report.untested
    if not left_out:
        return ()
    lines = []
    for reason, many in Counter(one.not_tested for one in left_out).items():
        rare = (reason or "").startswith("too few")
        # By how many events are missing, or more than expected, where few are.
        size = _away if rare else _rows
        largest = sorted((one for one in left_out if one.not_tested == reason), key=lambda one: -size(one))
        names = [f"{segment_name(one)} ({_seen(one) if rare else count(one.rows)})" for one in largest]
        lines.append(Line(f"{untested_words(many, reason)}{_option(report, reason)}.", Tone.NOTE))
        lines.append(Line(f"  {first_of(names, _MOST_NAMED)}", Tone.NOTE))
    return (paragraph(*lines),)


def _rows(one: Segment) -> float:
    return one.rows


def _away(one: Segment) -> float:
    return abs(one.bias) * one.rows


def _seen(one: Segment) -> str:
    """Return how many of the rarer labels came, and how many the scores expect."""
    expected, found, what = one.mean_score * one.rows, one.positive, "event"
    if one.mean_score > 0.5:
        expected, found, what = one.rows - expected, one.rows - found, "non-event"
    return f"{plural(one.rows, 'row')}, {plural(found, what)}, {three(expected)} expected"


def _option(report: SegmentsReport, reason: str | None) -> str:
    if reason is not None and reason.startswith("fewer"):
        return " (--min-rows)"
    if reason is not None and reason.startswith("too few"):
        return (
            f" (sum of f (1 - f) below {report.least_spread:g}); `verify --max-segment-bias` judges such "
            "segments, too"
        )
    return ""


def _levels(report: SegmentsReport) -> Listing:
    items = []
    for one in report.columns:
        cut = "cut at quartiles" if one.kind == "numbers" else one.kind
        items.append((one.name, f"{cut}: {first_of([*map(printable, one.levels)], _MOST_LEVELS)}"))
    return Listing(tuple(items), "Columns")


def _method(report: SegmentsReport) -> Listing:
    deep = listed(["all rows", *(f"{count(k)} column{'s' * (k > 1)}" for k in range(1, report.depth + 1))])
    items = [
        ("mce", f"{four(report.mce.value)}: {report.mce.method}"),
        ("mce_sigma", f"{four(report.mce_sigma.value)}: {report.mce_sigma.method}"),
        ("mce_p", f"{p_words(report.mce_p.value)}: {report.mce_p.method}"),
        ("mce is", "the multicalibration error; the maximum calibration error of bins is `measure -m linf`"),
        ("segments", f"{deep}; columns are cut by their values, never by labels"),
        ("assumes", "rows are independent, and none of them trained or calibrated the score"),
    ]
    return Listing(tuple(items), "What they say")
