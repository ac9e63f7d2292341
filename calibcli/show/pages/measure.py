"""The page of `measure`: numbers with intervals, tests, and the reliability diagram."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from calibcli.names import (
    OF_MORE_DRAWS,
    OF_RATES,
    AxisScale,
    ComparisonName,
    GroupOrder,
    MeasureName,
    PlotKind,
    TestName,
    ViewName,
)
from calibcli.options.numerals import percent, plural
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import (
    MOST_SCORES_IN_FULL,
    VALUES_ALONE,
    ClassesReport,
    ClusterSummary,
    MeasureReport,
    ViewSummary,
    WorstGroup,
)
from calibcli.show import pages
from calibcli.show.blocks import (
    Bar,
    Block,
    Cells,
    Column,
    Grid,
    Line,
    Listing,
    Page,
    Paragraph,
    Tone,
    grid_of,
    paragraph,
)
from calibcli.show.words import (
    ABOUT,
    BY_CHANCE,
    HOW_AT,
    INDEPENDENT,
    NONE,
    NULL_MEAN,
    NULL_REFERENCE,
    OF_GRADES,
    RED_UP_TO,
    SMALL_P,
    UNDECIDED,
    VALID,
    YELLOW_BELOW,
    at_once,
    beside,
    better_when,
    between,
    capital,
    count,
    distinct_labels,
    field_name,
    four,
    from_both,
    interval_words,
    light,
    listed,
    p_together,
    p_words,
    quoted,
    ranges,
    rejects_too_often,
    roughness,
    share,
    span,
    standing,
    three,
    valid_for,
)
from calibcli.stats.bounds import why_none
from calibcli.stats.bounds.means import METHOD
from calibcli.stats.curves.reliability import ReliabilityCurve
from calibcli.stats.measures import (
    HELD_OUT,
    INDEPENDENT_ROWS,
    ClassEstimate,
    Estimate,
    Estimated,
    TestResult,
    TopError,
)
from calibcli.stats.measures.differences import Difference
from calibcli.values import replace

Shown = MeasureName | TestName


def measure_page(report: MeasureReport, *, verbose: bool) -> Page:
    """Return the page of a measurement; `verbose` adds a sentence and the assumptions of every line."""
    top = paragraph(*pages.read_lines(report, *cluster_lines(report.clusters), verbose=verbose))
    further = {} if verbose else report.further_scores
    scores = further if len(further) > MOST_SCORES_IN_FULL else {}
    return (
        pages.answer_paragraph(report),
        top,
        *number_blocks(report, verbose=verbose),
        *together_blocks(report, verbose=verbose),
        *net_benefit_blocks(report),
        *(_meanings(report) if verbose else ()),
        *reliability_grid(report.curve),
        *(
            ()
            if report.classes is None
            else class_blocks(report, report.classes, verbose=verbose, paged=verbose)
        ),
        *group_blocks(report, report.slices, paged=verbose),
        *(_score_blocks(report, scores) if scores else difference_blocks(report)),
        *_slice_blocks(report, scores, verbose=verbose),
    )


def _meanings(report: MeasureReport) -> tuple[Listing, ...]:
    of_classes = () if report.classes is None else report.classes.measures
    every: Sequence[Estimated | TestResult] = (*report.measures, *of_classes, *report.tests)
    said = []
    for one in every:
        assumes = f" Assumes: {'; '.join(one.assumptions)}." if one.assumptions else ""
        said.append((one.name.value, f"{one.name.meaning}{assumes}"))
    return (Listing(tuple(said), "What they say"),)


def _slice_blocks(
    report: MeasureReport, scores: Mapping[str, MeasureReport], *, verbose: bool
) -> Iterator[Block]:
    """Yield the pages of slices; groups and classes have one only where every detail was asked for."""
    groups, classes = report.in_groups, report.classes
    brief = frozenset() if verbose else groups
    if classes is not None and (classes.few or not verbose):
        brief |= classes.measured
    for key, part in report.slices.items():
        in_a_table = key in scores
        if key in brief or (in_a_table and part.groups is None):
            continue
        yield paragraph(Line(key, Tone.TITLE), *_slice_lines(report, part))
        if not in_a_table:
            yield from number_blocks(part, verbose=verbose)
        if key in groups:
            yield from reliability_grid(part.curve)
        yield from group_blocks(part, report.slices, paged=verbose)


def _slice_lines(report: MeasureReport, part: MeasureReport) -> list[Line]:
    """Return what a slice was made of, where that differs from the whole."""
    same = part.table.rows == report.table.rows and part.table.kind == report.table.kind
    table = [] if same else pages.table_lines(part.table)
    applied = pages.artifact_lines(part.artifact) if part.artifact != report.artifact else []
    return [*table, *applied, *pages.note_lines(part.notes)]


def number_blocks(report: MeasureReport, *, verbose: bool) -> tuple[Block, ...]:
    """Return the measures, their other bounds, and the tests; `verbose` says how each was found."""
    blocks: list[Block] = []
    if report.measures:
        blocks.append(_measures(report, report.measures, verbose=verbose))
        blocks.extend(other_bounds(report))
    if report.tests:
        blocks.append(_no_tests(report) or _tests(report, verbose=verbose))
    return tuple(blocks)


def _measures(
    report: MeasureReport, measures: tuple[Estimate | ClassEstimate, ...], *, verbose: bool
) -> Grid:
    worth = _how if verbose else _valid
    cells: Cells[Estimate | ClassEstimate] = {
        "measure": lambda one: one.name.value,
        "value": lambda one: four(one.value),
        f"{percent(report.confidence)} interval": lambda one: interval_words(one.interval),
        BY_CHANCE: _by_chance,
        "how" if verbose else VALID: lambda one: worth(one, report),
    }
    by_chance = _null_words(measures)
    limited = _limited(measures)
    safe = _cutoff_words(measures, report.confidence)
    notes = [*by_chance, *safe, *limited, *([] if verbose else _partitions(measures))]
    return grid_of(
        measures,
        cells,
        notes,
        spare=(VALID, BY_CHANCE),
        caption=f"Measures of {_named(report.input)}",
        paper=(
            *pages.table_lines(report.table),
            *map(
                Line,
                [*by_chance, *safe, *limited, *_curves(measures, field_name), *_methods(report, measures)],
            ),
        ),
    )


def _null_words(measures: Sequence[Estimate | ClassEstimate]) -> list[str]:
    """Return what is said of the column by chance: of ranges, and of numbers that are none."""
    ranged = any(one.null_range is not None for one in measures)
    about = any(one.null is not None and one.null_range is None for one in measures)
    if ranged:
        return [f"{NULL_REFERENCE} {ABOUT}" if about else NULL_REFERENCE]
    return [NULL_MEAN] if about else []


def _cutoff_words(measures: Sequence[Estimate | ClassEstimate], confidence: float) -> list[str]:
    """Return the cutoff above which enough rows have label 1, by these rows and for sure."""
    one = next((one for one in measures if one.name is MeasureName.AURC), None)
    if one is None:
        return []
    if "kept" not in one.details:
        needed = "independent rows" if "clusters" in one.details else "rows without importance weights"
        return [f"No cutoff for right answers is named: its bounds need {needed}."]
    wanted, sure = percent(float(one.details["kept_label"])), percent(confidence)
    above, safe = _above(one, "kept_above", "kept"), _above(one, "safe_above", "kept_least")
    ends = f"{sure} CI {_kept(one, 'kept_least')} to {_kept(one, 'kept_most')}"
    rows = {"all": "Of all rows"}.get(above, f"Of the rows above a score of {above}")
    first = f"{rows}, at least {wanted} have label 1; {_kept(one, 'kept')} of the rows are kept ({ends})."
    if above == NONE:
        most = f"at most {_kept(one, 'kept_most')} of the rows can be kept by one of them ({sure} confidence)"
        return [f"At none of twenty cutoffs do {wanted} or more of the rows above have label 1; {most}."]
    shown = {
        "all": f"With {sure} confidence this holds for all rows.",
        NONE: f"No cutoff is shown to reach this ({sure} confidence).",
    }.get(safe, f"With {sure} confidence it holds above {safe}.")
    return [f"{first} {shown}"]


def _above(one: Estimate | ClassEstimate, cutoff: str, kept: str) -> str:
    if cutoff in one.details:
        # Above a score of 1 there is no row.
        return beside(float(one.details[cutoff]), 1.0, least=3)
    return "all" if float(one.details[kept]) else NONE


def _kept(one: Estimate | ClassEstimate, name: str) -> str:
    return share(round(float(one.details[name]) * one.rows), one.rows)


def _limited(measures: Sequence[Estimate | ClassEstimate]) -> list[str]:
    """Return how many scores are so near 0 or 1 that their log odds were limited, and where that counts."""
    limited = [one for one in measures if one.details.get("limited_rows")]
    if not limited:
        return []
    from calibcli.stats.measures.smooth_ece import LIMIT

    said = []
    # smECE along a scale has a limit of its own.
    for on_scale, near, as_what in (
        (False, "1e-16", "with log odds of ±36.7"),
        (True, f"{LIMIT:g}", f"as if {LIMIT:g} from it"),
    ):
        some = [one for one in limited if ("scale" in one.details) is on_scale]
        rows = max((int(one.details["limited_rows"]) for one in some), default=0)
        have, counts, they = (
            ("row has a score", "counts", "it") if rows == 1 else ("rows have scores", "count", "they")
        )
        names = listed(field_name(one.name) for one in some)
        first = f"{count(rows)} {have} within {near} of 0 or 1 and {counts} {as_what}"
        said += [f"{first}: {they} may decide the {names}."] if some else []
    return said


def _named(source: InputSummary) -> str:
    """Return score and label as a caption names them."""
    return f"{quoted(source.score)} for {quoted(source.label or '')}"


def _valid(estimate: Estimate | ClassEstimate, report: MeasureReport) -> str:
    """Return what a reader may rely on of an interval, or why there is none."""
    interval = estimate.interval
    if interval is None:
        return "; ".join(why_none(estimate.assumptions))
    at = "" if interval.confidence == report.confidence else f"; at {percent(interval.confidence)}"
    return f"{valid_for(interval, rough=roughness(estimate))}{at}"


def _how(estimate: Estimate | ClassEstimate, report: MeasureReport) -> str:
    """Return partition, method and target of an interval, or why there is none."""
    parts = [str(estimate.details[key]) for key in ("partition",) if key in estimate.details]
    interval = estimate.interval
    if interval is None:
        return "; ".join([*parts, *why_none(estimate.assumptions)])
    sort = "finite-sample" if interval.finite_sample else "approximate"
    parts += [interval.method, f"{interval.target.value}, {sort}"]
    if interval.confidence != report.confidence:
        parts.append(f"at {percent(interval.confidence)}")
    return "; ".join(parts)


def _by_chance(estimate: Estimate | ClassEstimate) -> str:
    """Return where a calibrated score would lie; about where on average, if its range is not known."""
    if estimate.null_range is not None:
        return span(*estimate.null_range)
    return four(None) if estimate.null is None else f"about {four(estimate.null)}"


def _partitions(measures: Sequence[Estimate | ClassEstimate]) -> list[str]:
    """Return over which bins which measures are, that rows count as independent, and how to learn more."""
    names: dict[str, list[str]] = {}
    for one in measures:
        if "partition" in one.details:
            names.setdefault(str(one.details["partition"]), []).append(one.name.value)
    bins = "; ".join(f"{partition}: {listed(found)}" for partition, found in names.items())
    of_rows = any(one.interval is not None and "clusters" not in one.details for one in measures)
    taken = [f"{INDEPENDENT}."] * of_rows
    return [" ".join([f"Over {bins}."] * bool(bins) + _curves(measures) + taken + [HOW_AT])]


def _curves(measures: Sequence[Estimate | ClassEstimate], called: Callable[[str], str] = str) -> list[str]:
    """Return which curve the indices of a smooth curve speak of, by their names or as a field calls them."""
    found: dict[str, list[str]] = {}
    for one in measures:
        if "knots" in one.details:
            knots = int(one.details["knots"])
            # Where there are few scores.
            curve = {0: "one rate for all rows", 2: "a straight line in log odds"}.get(
                knots, f"a restricted cubic spline with {knots} knots"
            )
        elif "curve" in one.details:
            curve = f"a curve by {one.details['curve']}"
        else:
            continue
        found.setdefault(curve, []).append(called(one.name.value))
    return [f"Of {curve}: {listed(names)}." for curve, names in found.items()]


def _methods(report: MeasureReport, measures: Sequence[Estimate | ClassEstimate]) -> list[str]:
    """Return how intervals were found, and of which measures each way is."""
    names: dict[str, list[str]] = {}
    for one in measures:
        names.setdefault(_how(one, report), []).append(field_name(one.name))
    ways = "; ".join(f"{listed(found)}: {how}" for how, found in names.items() if how)
    return [f"Intervals: {ways}."] if ways else []


_SIDES = ("lower", "upper")
_OF_THE_POPULATION = ("theorem_12_4", "empirical_bernstein", "betting_any_time")
_SUN = "sun"


def other_bounds(report: MeasureReport) -> tuple[Grid, ...]:
    """Return a table of every further bound among the details of the measures, or nothing."""
    rows = [row for one in report.measures for row in _rows_of(one)]
    if not rows:
        return ()
    columns = (Column("measure"), Column("bound", key=True), *map(Column, (*_SIDES, "speaks of")))
    level = percent((1.0 + report.confidence) / 2.0)
    note = f"Each bound is valid alone at {level}: choose one before you look, not the best afterwards."
    return (Grid(columns, tuple(rows), (Line(note, Tone.FAINT),)),)


def _rows_of(estimate: Estimate) -> list[tuple[str, ...]]:
    details = estimate.details
    names = [key.partition("_")[2] for key in details if key.partition("_")[0] in _SIDES]
    rows = [
        (
            estimate.name.value,
            name,
            *(four(float(details[key])) if (key := f"{side}_{name}") in details else NONE for side in _SIDES),
            "the population, bins fixed before" if name in _OF_THE_POPULATION else "these very scores",
        )
        for name in dict.fromkeys(names)
    ]
    if _SUN in details:
        how = "both ends together, large-sample, not for rare events or few bins"
        words = f"these very scores: {details[_SUN]}, {how}"
        rows.append((estimate.name.value, _SUN, "", "", words))
    return rows


def _no_tests(report: MeasureReport) -> Paragraph | None:
    """Return why there are none, in a line, where nobody asked for one and the reason is the same for all."""
    why = {_p_how(one, verbose=False) for one in report.tests}
    if report.selected or len(why) != 1 or any(one.p_value is not None for one in report.tests):
        return None
    (reason,) = why
    return paragraph(Line(f"{capital(reason)}.", Tone.FAINT))


def _tests(report: MeasureReport, *, verbose: bool) -> Grid:
    columns = (*map(Column, ("test", "statistic", "p-value", "how" if verbose else VALID)),)
    rows = [
        (
            one.name.value,
            four(one.statistic),
            p_words(one.p_value, one.p_method),
            _p_how(one, verbose=verbose),
        )
        for one in report.tests
    ]
    combined = report.combined
    if combined is not None and combined.p_value is not None:
        members = listed(name.value for name in combined.tests)
        together = p_together(combined, report.tests)
        rows.append(("together", "", together, f"Bonferroni over {members}"))
    notes = [SMALL_P] if any(one.p_value is not None for one in report.tests) else []
    notes += [] if verbose else _bins_of(report.tests)
    faint = tuple(Line(one, Tone.FAINT) for one in notes)
    caption = f"Tests of calibration of {_named(report.input)}"
    return Grid(columns, tuple(rows), faint, spare=(VALID,), caption=caption)


def _bins_of(tests: Sequence[TestResult]) -> list[str]:
    """Return over which bins tests are whose value they decide."""
    binned = ((one.name.value, text.partition(":")[0]) for one in tests for text in one.assumptions)
    return [f"{name} is {bins}." for name, bins in binned if bins.startswith("over ")]


def _p_how(test: TestResult, *, verbose: bool) -> str:
    """Return how a p-value was found, or why there is none, and what is peculiar to this test."""
    peculiar = [one for one in test.assumptions if one not in (INDEPENDENT_ROWS, HELD_OUT)]
    if peculiar and (test.p_value is None or test.p_method == "contradiction"):
        return "; ".join(peculiar)
    if verbose or test.p_value is None:
        return "; ".join([test.p_method, *peculiar])
    return _P_VALID.get(test.p_method.removesuffix(OF_MORE_DRAWS), test.p_method)


# What a reader may rely on, by how a p-value was found.
_P_VALID = {
    "asymptotic": "large-sample",
    "exact": "any sample size",
    "Jeffreys' prior": "large-sample",
    "monte-carlo": "any sample size",
    "monte-carlo, coarsened": "any sample size, of rounded scores",
}


def together_blocks(report: MeasureReport, *, verbose: bool) -> tuple[Block, ...]:
    """Return the measures of several classes together, and the errors of the largest probabilities."""
    if report.classes is None:
        return ()
    blocks: list[Block] = []
    if report.classes.measures:
        blocks = [paragraph(Line("All classes together", Tone.TITLE))]
        blocks.append(_measures(report, report.classes.measures, verbose=verbose))
    if report.classes.top:
        blocks += _largest(report, report.classes.top)
    return tuple(blocks)


_OF_TOP = """\
How far the k largest probabilities of a row are, together, from how often each of their classes is right: \
l2 error over the cells that their bins make. k = 1 is l2 of the confidence. Intervals are {valid}, for \
these rows, each by itself."""


def _largest(report: MeasureReport, errors: tuple[TopError, ...]) -> tuple[Block, Block]:
    cells: Cells[TopError] = {
        Column("k", numeric=True): lambda one: count(one.k),
        "l2": lambda one: four(one.value),
        f"{percent(report.confidence)} interval": lambda one: interval_words(one.interval),
        Column("cells", numeric=True): lambda one: count(one.cells),
        Column("rows alone", numeric=True): lambda one: count(one.rows_alone),
    }
    exact = any(one.interval is not None and one.interval.finite_sample for one in errors)
    notes = [_OF_TOP.format(valid="valid at any sample size" if exact else "large-sample")]
    if any(one.rows_alone for one in errors):
        notes.append("Rows alone in their cell do not count: where they are many, take fewer --bins.")
    without = dict.fromkeys(text for one in errors for text in why_none(one.assumptions))
    notes += [f"{capital(text)}." for text in without]
    title = Line("The k largest probabilities together", Tone.TITLE)
    caption = f"Errors of the k largest probabilities of {_named(report.input)}"
    return paragraph(title), grid_of(errors, cells, notes, caption=caption)


_OF_NET_BENEFIT = """\
Rows with a score of at least the threshold t are treated. Net benefit: the share of rows treated with label \
1, less t / (1 - t) times the share treated with label 0. Standardised: over the share of label 1."""


def net_benefit_blocks(report: MeasureReport) -> tuple[Block, ...]:
    """Return what acting on the score is worth at thresholds, in groups, and of scores on the same rows."""
    if not report.net_benefit:
        return ()
    others = {key: part for key, part in report.slices.items() if part.input.score != report.input.score}
    against = [part for part in others.values() if any(one.over_first for one in part.net_benefit)]
    blocks: list[Block] = []
    for part in (report, *against):
        blocks += _net_benefits(f"Net benefit of {_named(part.input)}", {"": part}, report)
    if report.groups is not None and report.groups.measured:
        by = listed(quoted(column) for column in report.groups.columns)
        groups = {key: report.slices[key] for key in report.groups.measured}
        blocks += _net_benefits(f"Net benefit of {_named(report.input)} by {by}", groups, report)
    return tuple(blocks)


def _net_benefits(
    caption: str, parts: Mapping[str, MeasureReport], report: MeasureReport
) -> tuple[Block, Block]:
    """Return a heading and the table of one part, or of groups by their names."""
    first = next(iter(parts.values()))
    thresholds = distinct_labels([one.threshold for one in report.net_benefit], least=6)
    names = ["net benefit", "standardised", "over treat all"]
    names += [f"over {quoted(report.input.score)}"] if first.net_benefit[0].over_first else []
    grouped = "" not in parts
    columns = [*([Column("group")] if grouped else []), Column("threshold")]
    for name in names:
        columns += [Column(name), Column(f"{percent(first.confidence)} interval", beside=True)]
    rows = tuple(
        (
            *([key] if grouped else []),
            thresholds[one.threshold],
            *(
                cell
                for number in one.numbers.values()
                for cell in (four(number.value), interval_words(number.interval))
            ),
        )
        for key, part in parts.items()
        for one in part.net_benefit
    )
    valid = "Each interval holds by itself (large-sample; the population)."
    if all(one.net_benefit.interval is None for part in parts.values() for one in part.net_benefit):
        valid = "No intervals: they need independent rows that all count the same."
    elif first.confidence != report.confidence:
        level = percent(report.confidence)
        valid = (
            f"Intervals of one column and threshold hold for all groups at once, with {level} (Bonferroni)."
        )
    notes = [Line(one, Tone.FAINT) for one in (*([] if grouped else [_OF_NET_BENEFIT]), valid)]
    paper = [*pages.table_lines(first.table)[:1], *notes, Line(f"Intervals: {METHOD}.")]
    grid = Grid(
        tuple(columns),
        rows,
        tuple(notes) if grouped or first is report else (),
        caption=caption,
        paper=tuple(notes if grouped else paper if valid.startswith("Each") else paper[:-1]),
    )
    worth = [] if grouped else _worth_using(first)
    return paragraph(Line(caption, Tone.TITLE), *worth), grid


def _worth_using(report: MeasureReport) -> list[Line]:
    """Return at which thresholds acting on the score is shown to be worth more than treating all and none."""
    using = f"acting on {quoted(report.input.score)} is worth"
    more = f"{using} more than treating all and treating none"
    # In this order.
    said: dict[str, list[str]] = {more: []}
    unknown: list[str] = []
    names = distinct_labels([one.threshold for one in report.net_benefit], least=6)
    for one in report.net_benefit:
        over = {"treating all": one.over_all, "treating none": one.net_benefit}
        ends = {other: found.interval.ends for other, found in over.items() if found.interval}
        if not ends:
            continue
        beaten_by = [other for other, (_, upper) in ends.items() if upper < 0.0]
        if beaten_by:
            said.setdefault(f"{using} less than {listed(beaten_by)}", []).append(names[one.threshold])
        elif all(lower > 0.0 for lower, _ in ends.values()):
            said[more].append(names[one.threshold])
        else:
            unknown.append(names[one.threshold])
    said[f"these rows do not show whether {more}"] = unknown
    level = f"({percent(report.confidence)}, threshold by threshold)"
    return [Line(f"At {listed(where)} {words} {level}.") for words, where in said.items() if where]


MOST_BINS = 50


def reliability_grid(curve: ReliabilityCurve) -> tuple[Grid, ...]:
    """Return the diagram, one row per bin with rows; of more than 50 bins the first and last 25."""
    bins = curve.binned
    total = len(bins.rows)
    shown = list(range(total))
    if total > MOST_BINS:
        shown = shown[: MOST_BINS // 2] + shown[-(MOST_BINS // 2) :]
    labels = ranges(bins.lower.tolist(), bins.upper.tolist())
    interval = f"{percent(curve.confidence)} interval"
    ticks = _ticks(curve)
    cells: Cells[int] = {
        "score range": lambda k: labels[k],
        Column("rows", numeric=True): lambda k: count(int(bins.rows[k])),
        "mean": lambda k: four(float(bins.score[k])),
        "observed": lambda k: four(float(bins.rate[k])),
        interval: lambda k: between(float(bins.rate_lower[k]), float(bins.rate_upper[k])),
        "reliability": lambda k: _bar(curve, k, ticks),
    }
    omitted = f"{count(total - len(shown))} bins in the middle are not shown; --format json holds them all."
    notes: list[Line | str] = [Line(omitted, Tone.NOTE)] if total > MOST_BINS else []
    notes.append(f"Observed rates: {bins.band}.")
    spare = ("rows", interval)
    found = grid_of(shown, cells, notes, spare=spare, caption="Observed rates by score")
    return (found,) if shown else ()


# Ends of an axis by log-odds, and what stands between them.
_TICKS = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.9)


def _ticks(curve: ReliabilityCurve) -> tuple[float, ...]:
    """Return the ticks of an axis by log-odds, where a picture of these bins would have one; else nothing."""
    from calibcli.stats.curves import axis_for

    bins = curve.binned
    if axis_for(ReliabilityCurve(PlotKind.BINNED, bins, None, curve.confidence)) is not AxisScale.LOGIT:
        return ()
    least, most = float(bins.score.min()), max(float(bins.score.max()), float(bins.rate.max()))
    first = max(0, sum(tick <= least for tick in _TICKS) - 1)
    return _TICKS[first : 1 + max(first + 1, sum(tick < most for tick in _TICKS[:-1]))]


def _bar(curve: ReliabilityCurve, k: int, ticks: tuple[float, ...]) -> Bar:
    bins = curve.binned
    ends = float(bins.rate_lower[k]), float(bins.rate_upper[k])
    return Bar(float(bins.score[k]), float(bins.rate[k]), *ends, ticks)


MOST_ROWS = 10
_FEW = "There are many classes: each is measured by a few measures; --metric asks for others."


def class_blocks(
    report: MeasureReport, classes: ClassesReport, *, verbose: bool, paged: bool = False
) -> tuple[Block, ...]:
    """Return a table of the classes for each view; `paged` where each class has a page of its own too."""
    return tuple(
        block
        for view in classes.views
        for block in _view_blocks(report, classes, view, verbose=verbose, paged=paged and not classes.few)
    )


def _view_blocks(
    report: MeasureReport, classes: ClassesReport, view: ViewSummary, *, verbose: bool, paged: bool
) -> tuple[Block, ...]:
    every = [(key, report.slices[key]) for key in view.measured]
    ordered = any(one.name.facts.best is not None for _, part in every[:1] for one in part.measures)
    title = [Line(title_of(view.view, ordered=ordered), Tone.TITLE)]
    if view.left_out:
        title.append(Line(f"note: {_left_out(view)}", Tone.NOTE))
    if not view.measured:
        return (paragraph(*title),)
    parts = sorted(every, key=lambda one: _order_of_classes(one, view.at_least))
    shown = parts[0][1].shown
    listed = parts if verbose else parts[:MOST_ROWS]
    named = [(key.partition("=")[2], part) for key, part in listed]
    notes = _class_notes(report, classes, view, hidden=len(parts) - len(listed), paged=paged)
    return (paragraph(*title), *slice_grids("class", named, shown, notes=notes))


def title_of(view: ViewName, *, ordered: bool = True) -> str:
    """Return the heading of a view; no class is worse than another by a mean score or an observed rate."""
    first = ", the worst first" if ordered else ""
    match view:
        case ViewName.ONE_VS_REST:
            return f"Each class against the rest{first}"
        case ViewName.TOP_LABEL:
            return f"Rows by the class they predict{first}"
        case ViewName.CONFIDENCE:
            return "All rows by the largest probability"


def _order_of_classes(
    one: tuple[str, MeasureReport], at_least: Mapping[str, float] | None
) -> tuple[bool, float, float]:
    """Return what sorts the worst first: by how bad ECE, or the first measure, is at least; then by value."""
    measures = [each for each in one[1].measures if each.name.facts.best is not None]
    found = next(
        (each for each in measures if each.name is MeasureName.ECE), measures[0] if measures else None
    )
    if found is None or math.isnan(found.value):
        return True, 0.0, 0.0
    least = found.least_badness if at_least is None else at_least[one[0]]
    return False, -least, -found.name.facts.badness(found.value)


def _class_notes(
    report: MeasureReport, classes: ClassesReport, view: ViewSummary, *, hidden: int, paged: bool
) -> list[str]:
    notes = []
    if hidden:
        notes.append(f"{plural(hidden, 'more class')} not shown; -v lists all.")
    parts = [report.slices[key] for key in view.measured]
    notes += slice_notes("classes", parts, report, view.confidence, paged=paged)
    if view.worst is not None and len(view.measured) > 1:
        notes.append(worst_words(view.worst))
        if view.at_least is not None:
            sure = percent(report.confidence)
            notes.append(
                "Classes are ordered by the larger of two lower bounds, of the interval and by betting: "
                f"{sure} for all classes at once."
            )
    if classes.few:
        notes.append(_FEW)
    return notes


def _left_out(view: ViewSummary) -> str:
    never = sum(rows == 0 for rows in view.left_out.values())
    few = {key: rows for key, rows in view.left_out.items() if rows}
    parts = [pages.left_out_words(few, view.least_rows, one="class", many="classes")] if few else []
    if never:
        parts.append(f"{plural(never, 'class', 'is')} never predicted")
    return "; ".join(parts)


def group_blocks(
    report: MeasureReport, slices: Mapping[str, MeasureReport], *, paged: bool = False
) -> tuple[Block, ...]:
    """Return the groups of a score as one table, in their order; `paged` where each has a page."""
    groups = report.groups
    if groups is None:
        return ()
    parts = [(key, slices[key]) for key in groups.measured]
    by = f"Groups by {listed(quoted(column) for column in groups.columns)}"
    few = pages.left_out_words(groups.left_out, groups.least_rows)
    title = paragraph(Line(by, Tone.TITLE), *([Line(f"note: {few}", Tone.NOTE)] if groups.left_out else []))
    if not parts:
        return (title,)
    shown = report.shown
    measured, ordered = report.ranking
    caption = by
    notes = slice_notes("groups", [part for _, part in parts], report, groups.confidence, paged=paged)
    if groups.order is GroupOrder.WORST and measured and measured[0] is not ordered:
        by = "in the order of the input" if ordered is None else f"the worst {field_name(ordered)} first"
        notes.append(f"Groups are listed {by}: {field_name(measured[0])} alone is neither good nor bad.")
    elif groups.order is GroupOrder.WORST and groups.worst is None and len(measured) > 1 < len(parts):
        notes.append(f"Groups are listed the worst {field_name(measured[0])} first.")
    if groups.order is GroupOrder.WORST and ordered is not None:
        by_value = sorted(parts, key=lambda one: one[1].estimate(ordered).worst_first[::2])
        parts.sort(key=lambda one: one[1].estimate(ordered).worst_first)
        if by_value != parts:
            best = four(ordered.facts.best)
            notes.append(f"Groups whose interval of {field_name(ordered)} leaves out {best} come first.")
    if report.classes is not None and report.selected and report.classes.measures:
        names = listed(field_name(one.name) for one in report.classes.measures)
        right = "; the accuracy of a group is its observed_rate" if "accuracy" in names else ""
        notes.append(f"Of all rows together, and not by group: {names}{right}.")
    if groups.worst is not None and len(groups.measured) > 1:
        notes.append(worst_words(groups.worst))
    adjusted = groups.adjusted or {}
    return (title, *slice_grids("group", parts, shown, notes=notes, adjusted=adjusted, caption=caption))


def worst_words(worst: WorstGroup) -> str:
    """Return which slice stands out, and why that is to be taken with care."""
    first = f"Largest {field_name(worst.measure)}: {worst.by_estimate} with {four(worst.estimate)}"
    bound = "" if worst.lower is None else "; no lower bound is above 0"
    if worst.by_lower is not None:
        bound = f"; largest lower bound: {worst.by_lower} with {four(worst.lower)}"
    noise = "small groups err more by noise alone, and the largest of several estimates tends to be too high"
    return f"{first}{bound}. Note that {noise}."


def cluster_lines(clusters: ClusterSummary | None) -> list[Line]:
    if clusters is None:
        return []
    from calibcli.stats.measures.clustered import unlike_words

    many = f"{plural(clusters.count, 'cluster')} of dependent rows by {quoted(clusters.column)}"
    effective = clusters.effective
    worth = four(effective) if effective < 1_000.0 else count(round(effective))
    worth = count(clusters.count) if effective == clusters.count else worth
    alike = f"{worth} cluster{'s' * (worth != '1')} of equal size"
    return [Line(f"{many}, worth as much as {alike}; {unlike_words(effective)}")]


# What stands beside the names of slices is so wide at most; further columns make a table of their own.
_WIDEST = 84


def slice_grids(
    first: str,
    parts: Sequence[tuple[str, MeasureReport]],
    shown: tuple[Shown, ...],
    *,
    notes: Sequence[str],
    adjusted: Mapping[str, Mapping[str, float | None]] = MappingProxyType({}),
    caption: str = "",
) -> tuple[Grid, ...]:
    """Return slices as a table, or as several below each other where it would be too wide."""
    fixed, named = _fixed_columns(first, parts, shown)
    again = (fixed[0], *(replace(column, told=True) for column in fixed[1:]))
    tables: list[list[tuple[str, list[str]]]] = [[]]
    held: list[list[str]] = [[]]
    for name in shown:
        columns = _columns_of(name, [part for _, part in parts])
        if name.value in adjusted:
            columns.append((f"{name.value} Holm", _holm(name, adjusted[name.value], parts)))
        if name in OF_GRADES:
            tests = [next(one for one in part.tests if one.name is name) for _, part in parts]
            columns.append((f"{name.value}{_LIGHT}", [light(one.p_value) for one in tests]))
        if tables[-1] and _width(tables[-1]) + _width(columns) > _WIDEST:
            tables.append([])
            held.append([])
        tables[-1] += columns
        held[-1].append(field_name(name))
    lines = tuple(Line(note, Tone.FAINT) for note in notes)
    return tuple(
        Grid(
            (*(fixed if table is tables[0] else again), *(_column(title) for title, _ in table)),
            tuple((*names, *(cells[place] for _, cells in table)) for place, names in enumerate(named)),
            lines if table is tables[-1] else (),
            # In a paper each table stands by itself.
            caption=f"{caption}: {listed(measured)}" if caption and len(tables) > 1 else caption,
            paper=lines,
        )
        for table, measured in zip(tables, held, strict=True)
    )


def _holm(
    name: Shown, adjusted: Mapping[str, float | None], parts: Sequence[tuple[str, MeasureReport]]
) -> list[str]:
    """Return adjusted p-values; what is a multiple of the least that draws can give is at most that."""
    tests = {key: next(one for one in part.tests if one.name is name) for key, part in parts}
    least = {
        adjusted[key]
        for key, one in tests.items()
        if p_words(one.p_value, one.p_method).startswith("at most")
    }
    return [p_words(adjusted[key], at_most=adjusted[key] in least) for key, _ in parts]


_LIGHT = " light"
_LIGHT_TONES = (("green", Tone.PASS), ("yellow", Tone.INCONCLUSIVE), ("red", Tone.FAIL))
_LIGHTS = (
    f"Lights (Tasche 2003): red up to p = {RED_UP_TO:g}, yellow below {YELLOW_BELOW:g}, else green. "
    "One-sided, for PDs that are too low; not adjusted for several groups."
)


def _column(title: str) -> Column:
    lit = _LIGHT_TONES if title.endswith(_LIGHT) else ()
    return Column(title, beside=title.endswith(" interval"), tones=lit)


# Measures and tests that compare the number of events with the one that the scores predict.
_OF_EVENTS: frozenset[Shown] = frozenset({*OF_RATES, MeasureName.OE})


def _fixed_columns(
    first: str, parts: Sequence[tuple[str, MeasureReport]], shown: tuple[Shown, ...]
) -> tuple[tuple[Column, ...], list[tuple[str, ...]]]:
    """Return the columns that every table begins with: events and predictions, where these are compared."""
    columns = [Column(first), Column("rows", numeric=True)]
    named = [(name, count(part.table.rows)) for name, part in parts]
    if not {*shown} & _OF_EVENTS or any(part.table.weighted for _, part in parts):
        shares = [share(part.table.positive, part.table.rows) for _, part in parts]
        return (*columns, Column("positive", numeric=True)), [
            (*one, other) for one, other in zip(named, shares, strict=True)
        ]
    columns += [Column("events", numeric=True), Column("observed"), Column("predicted")]
    rates = [
        (count(one.table.positive), three(one.table.positive / one.table.rows), three(one.mean_score))
        for _, one in parts
    ]
    return tuple(columns), [(*one, *other) for one, other in zip(named, rates, strict=True)]


def _width(columns: Sequence[tuple[str, list[str]]]) -> int:
    return sum(2 + max(map(len, (title, *cells))) for title, cells in columns)


def _columns_of(name: Shown, parts: Sequence[MeasureReport]) -> list[tuple[str, list[str]]]:
    """Return the columns of a measure or test over slices, each with its title and cells."""
    if isinstance(name, TestName):
        tests = [next(one for one in part.tests if one.name is name) for part in parts]
        return [(f"{name.value} p-value", [p_words(one.p_value, one.p_method) for one in tests])]
    estimates = [part.estimate(name) for part in parts]
    values = (name.value, [four(one.value) for one in estimates])
    if not _has_interval(name, parts):
        return [values]
    level = next(one.interval.confidence for one in estimates if one.interval is not None)
    interval = (f"{percent(level)} interval", [interval_words(one.interval) for one in estimates])
    return [values, interval, *_safe_columns(estimates)]


def _safe_columns(estimates: Sequence[Estimate]) -> list[tuple[str, list[str]]]:
    """Return above which scores enough rows have label 1, and how many are kept, where that is known."""
    if not all("kept" in one.details for one in estimates):
        return []
    wanted = percent(float(estimates[0].details["kept_label"]))
    return [
        (f"{wanted} above", [_above(one, "kept_above", "kept") for one in estimates]),
        ("kept", [_kept(one, "kept") for one in estimates]),
        ("kept within", [f"{_kept(one, 'kept_least')} to {_kept(one, 'kept_most')}" for one in estimates]),
    ]


def _has_interval(name: MeasureName, parts: Sequence[MeasureReport]) -> bool:
    """Whether a measure has a column of intervals: where there are some; of a few only if asked for."""
    wanted = name not in VALUES_ALONE or any(part.selected for part in parts)
    return wanted and any(part.estimate(name).interval is not None for part in parts)


def _is_rough(part: MeasureReport, name: MeasureName) -> bool:
    found = part.estimate(name)
    return found.interval is not None and bool(roughness(found))


def slice_notes(
    what: str, parts: Sequence[MeasureReport], whole: MeasureReport, confidence: float, *, paged: bool
) -> list[str]:
    """Return what intervals and p-values of slices mean together; `paged` where each slice has a page."""
    notes = []
    shown = parts[0].shown
    names = [name for name in shown if isinstance(name, MeasureName)]
    if confidence != whole.confidence and any(_has_interval(name, parts) for name in names):
        notes.append(at_once(confidence, what, whole.confidence))
    in_table = any(isinstance(name, TestName) for name in shown)
    tested = any(one.p_value is not None for part in parts for one in part.tests)
    if len(parts) > 1 and tested and (in_table or paged):
        many = max(1, round((1.0 - whole.confidence) / (1.0 - confidence)))
        together = f"; multiply them by {count(many)} to hold for all at once (Bonferroni)"
        holm = whole.groups is not None and whole.groups.adjusted is not None and what == "groups"
        adjusted = "; those of Holm hold for all at once" if holm else together
        notes.append(f"P-values of {what} are not adjusted{adjusted if in_table else ''}.")
        often = sum(any(rejects_too_often(one.name, part) for one in part.tests) for part in parts)
        if in_table and often:
            notes.append(
                "Jeffreys tests call right scores wrong too often, adjusted or not, where fewer than 10 "
                f"events or non-events are expected, as in {count(often)} of {count(len(parts))} {what}; "
                "binomial ones do not."
            )
    rough = [(field_name(name), sum(_is_rough(part, name) for part in parts)) for name in names]
    few = [f"the {name} in {count(number)} of {count(len(parts))} {what}" for name, number in rough if number]
    if few:
        notes.append(f"Rough, as few rows decide them, are intervals of {listed(few)}.")
    if any(one.name in OF_GRADES and one.p_value is not None for part in parts for one in part.tests):
        notes.append(_LIGHTS)
    return [" ".join(notes)] if notes else []


def difference_blocks(report: MeasureReport) -> tuple[Block, ...]:
    return tuple(
        block for key, found in report.differences.items() for block in _difference(report, key, found)
    )


def _difference(report: MeasureReport, key: str, found: tuple[Difference, ...]) -> tuple[Block, ...]:
    other = quoted(report.slices[key].input.score)
    better = better_when(one.name for one in found)
    title = f"{other} less {quoted(report.input.score)}: {better}, {other} is better"
    cells: Cells[Difference] = {
        "measure": lambda one: one.name.value,
        "difference": lambda one: four(one.value),
        f"{percent(report.confidence)} interval": lambda one: interval_words(one.interval),
        "verdict": lambda one: _verdict(one, other),
    }
    undecided = any(one.undecided for one in found)
    notes = [*from_both(found), *([UNDECIDED] if undecided else [])]
    compared = {one.name for one in found}
    names = (*(one.name for one in report.measures), *(one.name for one in report.tests))
    others = [field_name(name) for name in names if name not in compared]
    if report.selected and others:
        notes.append(f"Shown for each score, and not compared: {listed(others)}.")
    return paragraph(Line(title, Tone.TITLE)), grid_of(found, cells, notes)


def _verdict(one: Difference, other: str) -> str:
    told = one.verdict is not ComparisonName.NOT_TOLD_APART
    return "; ".join(filter(None, [f"{other} is {standing(one)}" if told else standing(one), *one.reasons]))


def _score_blocks(report: MeasureReport, scores: Mapping[str, MeasureReport]) -> tuple[Block, ...]:
    """Return many further scores as a line each, and how they differ from the first, a table a measure."""
    parts = [(part.input.score, part) for part in scores.values()]
    heading = paragraph(Line("Further scores", Tone.TITLE))
    blocks: list[Block] = [heading, *slice_grids("score", parts, parts[0][1].shown, notes=())]
    first = quoted(report.input.score)
    names = [quoted(scores[key].input.score) for key in report.differences]
    cells: Cells[tuple[str, Difference]] = {
        "score": lambda one: one[0],
        "difference": lambda one: four(one[1].value),
        f"{percent(report.confidence)} interval": lambda one: interval_words(one[1].interval),
        "verdict": lambda one: _verdict(one[1], one[0]),
    }
    measures = list(zip(*report.differences.values(), strict=True))
    for found in measures:
        better = better_when(one.name for one in found)
        measure = f"{found[0].name.value} less that of {first}"
        title = Line(f"{measure}: {better} is better than {first}", Tone.TITLE)
        notes = (_EACH_BY_ITSELF,) if found is measures[-1] else ()
        blocks += [paragraph(title), grid_of(zip(names, found, strict=True), cells, notes)]
    return tuple(blocks)


_EACH_BY_ITSELF = """\
Each interval holds by itself; `calibcli compare` ranks scores with intervals that hold for all at once. -v \
shows every measure of every score."""
