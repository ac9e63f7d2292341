"""The page of `measure`: numbers with intervals, tests, and the reliability diagram."""

from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, ClassEstimate, Estimate, TestResult
from calibcli.render.blocks import Block, Column, Grid, Line, Listing, Page, Tone, paragraph
from calibcli.render.pages.groups import cluster_lines, difference_blocks, group_blocks
from calibcli.render.pages.header import (
    artifact_lines,
    note_lines,
    repair_lines,
    source_line,
    table_lines,
    view_lines,
)
from calibcli.render.pages.other_bounds import other_bounds
from calibcli.render.pages.reliability import reliability_grid
from calibcli.render.phrases import (
    NULL_REFERENCE,
    SMALL_P,
    meaning_of_class_measure,
    meaning_of_measure,
    meaning_of_test,
)
from calibcli.render.words import four, interval_words, listed, p_words, percent, span
from calibcli.reports.measure import MeasureReport

_UNBOUNDED = "no interval"


def measure_page(report: MeasureReport, *, verbose: bool) -> Page:
    """Return the page of a measurement; `verbose` adds a sentence and the assumptions of every line."""
    top = paragraph(
        Line(source_line(report.input), Tone.TITLE),
        *table_lines(report.table),
        *view_lines(report.input),
        *artifact_lines(report.artifact),
        *cluster_lines(report),
        *repair_lines(report.input),
        *note_lines(report.notes),
    )
    meaning = _meanings(report) if verbose else ()
    groups = group_blocks(report, dict(report.slices))
    differences = difference_blocks(report)
    slices = [
        block for key, part in report.slices.items() for block in _slice(report, key, part, verbose=verbose)
    ]
    curve = reliability_grid(report.curve)
    return (
        top,
        *number_blocks(report),
        *together_blocks(report),
        *meaning,
        *curve,
        *_classes(report, verbose=verbose),
        *groups,
        *differences,
        *slices,
    )


def _classes(report: MeasureReport, *, verbose: bool) -> tuple[Block, ...]:
    if report.classes is None:
        return ()
    from calibcli.render.pages.classes import class_blocks

    return class_blocks(report, report.classes, verbose=verbose)


def _slice(report: MeasureReport, key: str, part: MeasureReport, *, verbose: bool) -> list[Block]:
    """Return the page of a slice; groups and classes have one only where every detail was asked for."""
    views = [report, *report.slices.values()]
    classes = report.classes
    if classes is not None and key in classes.measured and (classes.few or not verbose):
        return []
    group = any(view.groups is not None and key in view.groups.measured for view in views)
    if group and not verbose:
        return []
    title = paragraph(Line(key, Tone.TITLE), *_slice_lines(report, part))
    curve = reliability_grid(part.curve) if group else ()
    return [title, *number_blocks(part), *curve, *group_blocks(part, dict(report.slices))]


def _slice_lines(report: MeasureReport, part: MeasureReport) -> list[Line]:
    """Return what a slice was made of, where that differs from the whole."""
    same = part.table.rows == report.table.rows and part.table.kind == report.table.kind
    table = [] if same else table_lines(part.table)
    applied = artifact_lines(part.artifact) if part.artifact != report.artifact else []
    return [*table, *applied, *note_lines(part.notes)]


def number_blocks(report: MeasureReport) -> tuple[Block, ...]:
    """Return the measures, their other bounds, and the tests."""
    blocks: list[Block] = []
    if report.measures:
        blocks.append(_measures(report, report.measures))
        blocks.extend(other_bounds(report))
    if report.tests:
        blocks.append(_tests(report))
    return tuple(blocks)


def together_blocks(report: MeasureReport) -> tuple[Block, ...]:
    """Return the measures of several classes together."""
    if report.classes is None or not report.classes.measures:
        return ()
    title = paragraph(Line("All classes together", Tone.TITLE))
    return (title, _measures(report, report.classes.measures))


def _measures(report: MeasureReport, measures: tuple[Estimate | ClassEstimate, ...]) -> Grid:
    interval = Column(f"{percent(report.confidence)} interval")
    rows = tuple(
        (
            one.name.value,
            four(one.value),
            interval_words(one.interval),
            _if_calibrated(one),
            _how(one, report),
        )
        for one in measures
    )
    columns = (Column("measure"), Column("value"), interval, Column("if calibrated"), Column("how"))
    known = any(one.null is not None for one in measures)
    return Grid(columns, rows, (Line(NULL_REFERENCE, Tone.FAINT),) if known else ())


def _if_calibrated(estimate: Estimate | ClassEstimate) -> str:
    """Return where a calibrated score would lie; about where on average, if its range is not known."""
    if estimate.null_range is not None:
        return span(*estimate.null_range)
    return four(None) if estimate.null is None else f"about {four(estimate.null)}"


def _how(estimate: Estimate | ClassEstimate, report: MeasureReport) -> str:
    """Return partition, method and target of an interval, or why there is none."""
    parts = [str(estimate.details[key]) for key in ("partition",) if key in estimate.details]
    interval = estimate.interval
    if interval is None:
        return "; ".join([*parts, *(one for one in estimate.assumptions if one.startswith(_UNBOUNDED))])
    sort = "finite-sample" if interval.finite_sample else "approximate"
    parts += [interval.method, f"{interval.target.value}, {sort}"]
    if interval.confidence != report.confidence:
        parts.append(f"at {percent(interval.confidence)}")
    return "; ".join(parts)


def _tests(report: MeasureReport) -> Grid:
    columns = (Column("test"), Column("statistic"), Column("p-value"), Column("how"))
    rows = [
        (one.name.value, four(one.statistic), p_words(one.p_value, one.p_method), _p_how(one))
        for one in report.tests
    ]
    combined = report.combined
    if combined is not None and combined.p_value is not None:
        members = listed(name.value for name in combined.tests)
        together = "0 (contradiction)" if _contradicted(report) else p_words(combined.p_value)
        rows.append(("together", "", together, f"Bonferroni over {members}"))
    known = any(one.p_value is not None for one in report.tests)
    return Grid(columns, tuple(rows), (Line(SMALL_P, Tone.FAINT),) if known else ())


def _p_how(test: TestResult) -> str:
    """Return how a p-value was found, or why there is none, and what is peculiar to this test."""
    peculiar = [one for one in test.assumptions if one not in (INDEPENDENT_ROWS, HELD_OUT)]
    if peculiar and (test.p_value is None or test.p_method == "contradiction"):
        return "; ".join(peculiar)
    return "; ".join([test.p_method, *peculiar])


def _contradicted(report: MeasureReport) -> bool:
    return any(one.p_method == "contradiction" for one in report.tests)


def _meanings(report: MeasureReport) -> tuple[Listing, ...]:
    measures = [
        (one.name.value, _meant(meaning_of_measure(one.name), one.assumptions)) for one in report.measures
    ]
    tests = [(one.name.value, _meant(meaning_of_test(one.name), one.assumptions)) for one in report.tests]
    of_classes = () if report.classes is None else report.classes.measures
    together = [
        (one.name.value, _meant(meaning_of_class_measure(one.name), one.assumptions)) for one in of_classes
    ]
    return (Listing((*measures, *together, *tests), "What they say"),)


def _meant(sentence: str, assumptions: tuple[str, ...]) -> str:
    return f"{sentence} Assumes: {'; '.join(assumptions)}." if assumptions else sentence
