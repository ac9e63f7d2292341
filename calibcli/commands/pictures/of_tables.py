"""Diagrams of tables, of one score or of several beside each other: cumulative differences, isotonic fits,
Murphy, decision and risk-coverage curves, and the calibration plots of prediction models.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from calibcli.commands.bins import cut_notes
from calibcli.commands.gathering import RAW
from calibcli.commands.measure import measure_table
from calibcli.commands.pictures.diagram import (
    Brief,
    Diagram,
    Drawn,
    PlotRequest,
    bounds_line,
    diagram_of_rows,
    no_group,
    places_for,
    rounding_foot,
    rows_line,
)
from calibcli.commands.pictures.reliability import MOST, brief, group_name, refuse_panels, several_names
from calibcli.commands.reading import read_evaluation
from calibcli.commands.slices import Slices, gather_request_of, sorted_groups, views_of
from calibcli.names import (
    DEFAULT_BINS,
    Binning,
    FitLoss,
    GroupOrder,
    MeasureName,
    OnMissing,
    PlotKind,
    Purpose,
    Smoother,
    TestName,
)
from calibcli.options.measuring import MeasureOptions, Metrics
from calibcli.options.numerals import in_full, percent
from calibcli.options.pictures import PictureOptions
from calibcli.reports.input import InputSummary
from calibcli.show.words import (
    UNDEFINED,
    capital,
    field_name,
    first_of,
    four,
    p_equals,
    quoted,
    roughness,
    three,
)
from calibcli.stats.bounds.proportion import clopper_pearson
from calibcli.stats.curves import MOST_LINES, CurvePanel, CurvePanels, thresholds
from calibcli.stats.curves.clinical import clinical_curve
from calibcli.stats.curves.cumulative import CumulativeCurve, cumulative_curve, risk_coverage_curve
from calibcli.stats.curves.isotonic import IsotonicCurve, McbDsc, isotonic_curve
from calibcli.stats.curves.net_benefit import net_benefits
from calibcli.stats.curves.reliability import refuse_empty
from calibcli.stats.measures import INDEPENDENT_ROWS, Estimate, TestResult
from calibcli.stats.measures.decompositions import corp_part
from calibcli.stats.measures.discrimination import aurc
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Shared
from calibcli.stats.measures.scores import brier
from calibcli.stats.measures.tests import calibration_tests
from calibcli.stats.numerics import stream
from calibcli.stats.table.bins import binned, bins_of
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace

_IN_PANELS = (PlotKind.ISOTONIC, PlotKind.CLINICAL)


@dataclass(frozen=True, slots=True)
class Tables:
    """What diagrams of tables are drawn from.

    Args:
        tables: Of each score by its name, or of each group of the one score.
        raw: The table of one score before recalibration, or None.
        by: What the title says of groups.
        left_out: What is said of groups that are not drawn.
        through: The artifact that recalibrated them, or None.
    """

    tables: dict[str, Table]
    raw: Table | None
    source: InputSummary
    by: str
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    through: str | None

    def diagram(self, drawn: Drawn) -> Diagram:
        named = self.source if self.by else replace(self.source, score=several_names(self.tables))
        drawn = replace(drawn, foot=(*drawn.foot, *self.left_out))
        found = diagram_of_rows(drawn, named, self.notes, through=self.through)
        return replace(found, title=found.title + self.by, source=self.source)


def tables_of(request: PlotRequest) -> Tables:
    columns = request.columns
    request.refuse_document(f"--kind {(request.kind or PlotKind.ISOTONIC).value} is")
    if request.kind in _IN_PANELS:
        refuse_panels(1 + len(columns.others), "scores")
    evaluation = read_evaluation(request, gather_request_of(request))
    source, views = evaluation.input, views_of(evaluation)
    refuse_empty(max((one.table for one in views), key=lambda table: table.total_rows))
    notes = (*source.notes, *evaluation.notes, *evaluation.fit_notes)
    if columns.by:
        tables, few = _groups(views[0].slices, request.options)
        by = f" by {', '.join(evaluation.resolved.by)}"
        return Tables(tables, None, source, by, few, notes, evaluation.through)
    tables = {one.source.score: one.table for one in views if one.table.total_rows}
    left = [quoted(one.source.score) for one in views if not one.table.total_rows]
    few = (f"Without any value, so not drawn: {first_of(left, MOST)}.",) if left else ()
    raw = evaluation.tables[RAW] if evaluation.recalibrated else None
    return Tables(tables, raw, source, "", few, notes, evaluation.through)


def _groups(slices: Slices, options: MeasureOptions) -> tuple[dict[str, Table], tuple[str, ...]]:
    """Return the groups that have rows enough in the order asked for, and which have not."""
    least_rows = options.least_rows
    measured = sorted_groups(slices.measured(least_rows), options.sort)
    if not measured:
        raise no_group(least_rows)
    few = slices.left_out([one.key for one in measured])
    names = [f"{group_name(key, slices.columns)} ({rows:,})" for key, rows in few.items()]
    foot = f"Fewer than {least_rows:,} rows, so not drawn: {first_of(names, MOST)}."
    return {group_name(one.key, slices.columns): one.table for one in measured}, (foot,) if few else ()


def diagram_of_tables(request: PlotRequest) -> Diagram:
    found, look = tables_of(request), request.look
    kind = PlotKind.ISOTONIC if request.kind is None else request.kind
    return found.diagram(
        drawn_of_tables(kind, found.tables, Asked(found.source, request.options, look, found.raw))
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """What the picture of a table goes by: `raw` is it before recalibration, `looks` counts its tables."""

    source: InputSummary
    options: MeasureOptions
    look: PictureOptions = PictureOptions()
    raw: Table | None = None
    looks: int = 1


def drawn_of_tables(kind: PlotKind, tables: Mapping[str, Table], asked: Asked) -> Drawn:
    asked = replace(asked, looks=len(tables))
    drawn = {name: DRAWN[kind](table, asked) for name, table in tables.items()}
    return _together(kind, drawn, tables, worst_first=asked.options.sort is GroupOrder.WORST)


def _together(
    kind: PlotKind, drawn: Mapping[str, Drawn], tables: Mapping[str, Table], *, worst_first: bool
) -> Drawn:
    """Return one picture of several; of many lines the best are told apart, or the worst."""
    if len(drawn) == 1:
        return next(iter(drawn.values()))
    briefs = {name: one.brief for name, one in drawn.items() if one.brief is not None}
    names = list(briefs)
    if worst_first:
        # Those without a number are last.
        names.sort(key=lambda name: (math.isinf(briefs[name].number), -briefs[name].number))
    if kind in _IN_PANELS:
        refuse_panels(len(names), "groups")
    elif len(names) > MOST_LINES and not worst_first:
        best = sorted(names, key=lambda name: briefs[name].number)[:MOST_LINES]
        names.sort(key=lambda name: name not in best)
    panels = tuple(
        CurvePanel(
            name,
            tables[name].total_rows,
            briefs[name].lines[0],
            drawn[name].picture,
            *briefs[name].lines[1:],
        )
        for name in names
    )
    every = [one.foot for one in briefs.values()]
    shared = [line for line in every[0] if all(line in foot for foot in every)]
    own = (
        f"{brief(name)}: {line}" for name, one in briefs.items() for line in one.foot if line not in shared
    )
    foot = dict.fromkeys((*shared, *own))
    caption = _best_of(briefs), rows_of(tables.values())
    return Drawn(CurvePanels(kind, panels), caption, tuple(foot))


def _best_of(briefs: Mapping[str, Brief]) -> str:
    """Say which is the best and which the worst, or how many are worth using."""
    ranked = [(one.number, name, one.ranked[0]) for name, one in briefs.items() if one.ranked is not None]
    if not ranked:
        counted = [one.counted for one in briefs.values() if one.counted is not None]
        if not counted:
            return "Too few scores for a curve"
        return f"{sum(yes for yes, _ in counted)} of {len(briefs)} are {counted[0][1]}"
    (low, best, word), (high, worst, _) = (choose(ranked, key=lambda one: one[0]) for choose in (min, max))
    places = places_for(low)
    if low == high and len(ranked) > 1:
        return f"{word} {low:.{places}f}, the same for all"
    return f"Lowest {word}: {brief(best)} {low:.{places}f}; highest: {brief(worst)} {high:.{places}f}"


def rows_of(tables: Iterable[Table]) -> str:
    every = list(tables)
    lines = dict.fromkeys(rows_line(one.total_rows, one.total_positive_rows) for one in every)
    if len(lines) == 1:
        return next(iter(lines))
    least, most = (size(one.total_rows for one in every) for size in (min, max))
    return f"{least:,} rows each" if least == most else f"{least:,} to {most:,} rows each"


def cumulative_drawn(table: Table, asked: Asked) -> Drawn:
    """Return the path of cumulative differences and, as caption, what KS and Kuiper say of it."""
    curve, seed = cumulative_curve(table), asked.options.seed
    bins = binned(table, bins_of(Binning.EQUAL_WIDTH, DEFAULT_BINS, table=table))
    calibrated = None if table.weighted else CalibratedDraws.of(table, bins, seed=seed)
    names = (TestName.KS, TestName.KUIPER)
    tests, _ = calibration_tests(
        names, table, bins=bins, calibrated=calibrated, level=1.0 - asked.options.confidence, seed=seed
    )
    rows = rows_line(table.total_rows, table.total_positive_rows)
    how = {test.p_method for test in tests if test.p_value is not None} - {"contradiction"}
    method = f"; p-values: {', '.join(sorted(how))}" if how else ""
    return Drawn(
        curve, (_first_line(tests, curve), f"{rows}{method}"), (*_remarks(tests), *rounding_foot(table))
    )


def _first_line(tests: tuple[TestResult, ...], curve: CumulativeCurve) -> str:
    """Return both tests, or how far the path goes where they are not defined."""
    if all(test.statistic is not None for test in tests):
        ks, kuiper = (f"{test.statistic:.3g} (p {p_equals(test.p_value, test.p_method)})" for test in tests)
        return f"KS {ks}, Kuiper {kuiper}"
    return f"Farthest from zero {float(curve.value[curve.farthest]):+.4f}; no test"


def _remarks(tests: tuple[TestResult, ...]) -> tuple[str, ...]:
    """Return why a test is not defined, and what else must be known of one that is."""
    said = dict.fromkeys(one for test in tests for one in test.assumptions if one != INDEPENDENT_ROWS)
    return tuple(f"{capital(one)}." for one in said)


_PARTS = (
    "MCB: miscalibration; DSC: discrimination; UNC: uncertainty. MCB has no interval: the fit follows noise."
)


def isotonic_drawn(table: Table, asked: Asked) -> Drawn:
    """Return the isotonic fit and, as caption, the Brier score in its parts."""
    options = asked.options
    generator = stream(options.seed, Purpose.CONSISTENCY_BAND)
    curve = isotonic_curve(table, generator=generator, confidence=options.confidence, band=asked.look.band)
    shared, drawn = Shared(), stream(options.seed, Purpose.CORP)
    mcb = corp_part(MeasureName.BRIER_MCB, table, generator=drawn, shared=shared)
    dsc, unc = (
        corp_part(name, table, shared=shared).value for name in (MeasureName.BRIER_DSC, MeasureName.BRIER_UNC)
    )
    places = places_for(mcb.value)
    whole, *parts = (f"{one:.{places}f}" for one in (brier(table).value, mcb.value, dsc, unc))
    three = [f"{one:.3g}" for one in (brier(table).value, mcb.value, dsc, unc)]
    lines = (
        tuple(f"MCB {one}, DSC {two}" for one, two in (parts[:2], three[1:3])),
        tuple(f"Brier {one}, UNC {two}" for one, two in ((whole, parts[2]), (three[0], three[3]))),
    )
    low, high = mcb.null_range or (0.0, 0.0)
    null = "" if mcb.null_range is None else f"; MCB by chance, {low:.{places}f} to {high:.{places}f}"
    foot = (*_diagonal(curve), _PARTS)
    return Drawn(
        curve,
        (
            "Brier {} = MCB {} - DSC {} + UNC {}".format(whole, *parts),
            f"{rows_line(table.total_rows, table.total_positive_rows)}{null}",
        ),
        (*foot, *rounding_foot(table)),
        Brief(lines, foot, ("MCB", mcb.value)),
    )


def _diagonal(curve: IsotonicCurve) -> tuple[str, ...]:
    """Return whether perfect calibration leaves a simultaneous band; nothing without one."""
    if curve.p_value is None or not np.any(np.isfinite(curve.lower)):
        return ()
    leaves = curve.p_value <= 1.0 - curve.confidence
    found = "leaves the band, so the scores are not calibrated" if leaves else "stays in the band"
    return (f"The diagonal {found} (p {p_equals(curve.p_value)}).",)


_MOST_RANGES = 3


def decision_drawn(table: Table, asked: Asked) -> Drawn:
    """Return the decision curve with the thresholds at which the score is better than all and none."""
    options, benefit = asked.options, asked.look.benefit
    curve = thresholds.decision_curve(table, raw=asked.raw, confidence=options.confidence, benefit=benefit)
    curve = curve.marking(options.thresholds)
    rows = rows_line(table.total_rows, table.total_positive_rows)
    kind = "weighted base rate" if table.weighted else "base rate"
    caption = (
        *_finding(curve),
        *_worth_at(table, curve),
        f"{rows}: {kind} {_base_rate(table, options.confidence)}",
    )
    found = curve.better if curve.clearly_better is None else curve.clearly_better
    parts = ", in parts" if len(found) > 1 else ""
    where = f"{found[0][0]:.2g} to {found[-1][1]:.2g}{parts}" if found else "nowhere"
    foot = *rounding_foot(table), *(f"{one}." for one in cut_notes((table,), curve.marked))
    some = f"at some threshold{_between(curve)}"
    counted = bool(curve.better), f"better than treating all or none {some}, by the estimate alone"
    if not table.weighted:
        words = f"clearly worth using {some} ({percent(options.confidence)}, all at once)"
        within = (curve.marked[0], curve.marked[-1]) if len(curve.marked) > 1 else (0.0, 1.0)
        shown = thresholds.worth_somewhere(
            table, confidence=options.confidence, looks=asked.looks, within=within
        )
        counted = shown, words
    return Drawn(curve, caption, foot, Brief(((where,),), foot, counted=counted))


def _between(curve: thresholds.DecisionCurve) -> str:
    """Return which thresholds a curve speaks of, where two or more were named."""
    named = curve.marked
    return f" between {in_full(named[0])} and {in_full(named[-1])}" if len(named) > 1 else ""


def _finding(curve: thresholds.DecisionCurve) -> tuple[str, ...]:
    """Say where the score is better than treating all and treating none."""
    if not curve.better:
        return (f"At no threshold{_between(curve)} is the score worth more than treating all or none",)
    where, between = _spoken(curve.better), _between(curve)
    looked_at = between and f", of thresholds{between}"
    if curve.clearly_better is None:
        return (f"Point estimate better than treating all and none from {where}{looked_at}",)
    plain = f"Point estimate better from {where}"
    at_each = f"({percent(curve.confidence)}, threshold by threshold)"
    if not curve.clearly_better:
        return (f"Nowhere{between} clearly worth more than treating all or none {at_each}", plain)
    clearly = _spoken(curve.clearly_better)
    said = f"Clearly worth using {at_each} from {clearly}{looked_at}"
    # The same ranges are said once.
    return (said,) if clearly == where else (said, plain)


# The net benefits of so many thresholds are read at a glance.
_MOST_MARKED = 4


def _worth_at(table: Table, curve: thresholds.DecisionCurve) -> tuple[str, ...]:
    """Return what acting on the score is worth at the marked thresholds, as `measure --threshold` has it."""
    found = net_benefits(table, curve.marked, confidence=curve.confidence)
    said = []
    for one in found:
        value, interval = one.net_benefit.value, one.net_benefit.interval
        ends = "" if interval is None else f" ({three(interval.ends[0])} to {three(interval.ends[1])})"
        said.append(f"{in_full(one.threshold)}: {three(value)}{ends}")
    return (f"Net benefit at {'; '.join(said)}",) if 0 < len(said) <= _MOST_MARKED else ()


def _spoken(ranges: Sequence[thresholds.Range]) -> str:
    """Return ranges in words; of many the first and the last end."""
    if len(ranges) > _MOST_RANGES:
        return f"{ranges[0][0]:.3g} to {ranges[-1][1]:.3g}, in parts"
    return " and ".join(f"{start:.3g} to {stop:.3g}" for start, stop in ranges)


def _base_rate(table: Table, confidence: float) -> str:
    rate = float(table.positive.sum() / table.weight.sum())
    if table.weighted:
        return four(rate)
    positive, rows = np.array([float(table.total_positive_rows)]), np.array([float(table.total_rows)])
    lower, upper = clopper_pearson(positive, rows, delta_each_side=(1.0 - confidence) / 2.0)
    return f"{four(rate)} [{four(lower[0])}, {four(upper[0])}]"


# What a paper on a prediction model reports, as its field calls it.
_REPORTED = {
    MeasureName.OE: "O/E ratio",
    MeasureName.CITL_LOGIT: "CITL",
    MeasureName.COX_SLOPE: "Slope",
    MeasureName.ICI: "ICI",
    MeasureName.AUROC: "AUROC",
}


def clinical_drawn(table: Table, asked: Asked) -> Drawn:
    """Return the calibration plot of a prediction model, with what is reported of it."""
    options, band = asked.options, asked.look.band
    smoother = options.smoother or Smoother.SPLINE
    requested = replace(options, metrics=Metrics(tuple(_REPORTED), ()), drawn=False, complete=False)
    measures = {one.name: one for one in measure_table(table, asked.source, options=requested).measures}
    words = {**_REPORTED, MeasureName.ICI: f"ICI ({smoother.value})"}
    box = tuple((word, _reported(measures[name])) for name, word in words.items())
    curve = clinical_curve(table, smoother=smoother, box=box, confidence=options.confidence, band=band)
    rows = rows_line(table.total_rows, table.total_positive_rows)
    named = zip(("O/E", "slope", "AUROC"), (box[0], box[2], box[4]), strict=True)
    said = ", ".join(f"{word} {number}" for word, (_, number) in named)
    caption = said, f"{rows}; intervals at {percent(options.confidence)}"
    of = "a spline" if smoother is Smoother.SPLINE else f"the {smoother.value} curve"
    large = "CITL: calibration in the large, on the scale of log odds."
    rough = (
        f"The interval of the {field_name(name)} is {why}."
        for name, one in measures.items()
        if (why := roughness(one))
    )
    foot = (f"ICI: mean distance of {of} from the score. AUROC: the C statistic.", *rounding_foot(table))
    oe, _, slope, ici, auroc = (_reported(replace(measures[name], interval=None)) for name in _REPORTED)
    lines = (f"O/E {oe}, slope {slope}", f"slope {slope}"), (f"ICI {ici}, AUROC {auroc}", f"AUROC {auroc}")
    index = measures[MeasureName.ICI].value
    ranked = None if math.isnan(index) else ("ICI", index)
    # Beside others it has numbers without intervals.
    return Drawn(curve, caption, (f"{large} {foot[0]}", *rough, *foot[1:]), Brief(lines, foot, ranked))


def _reported(one: Estimate) -> str:
    """Return a number with its interval, as a paper writes it."""
    if math.isnan(one.value):
        return UNDEFINED
    ends = () if one.interval is None else one.interval.ends
    places = 2
    if one.name is MeasureName.ICI:
        # Two digits of the largest that is not 0.
        largest = max(map(abs, (one.value, *ends)))
        places = max(3, 1 - math.floor(math.log10(largest))) if 0.0 < largest < 1.0 else 3
    # Rounding leaves no zero below zero.
    value, *bounds = (f"{round(number, places) + 0.0:.{places}f}" for number in (one.value, *ends))
    return f"{value} ({bounds[0]} to {bounds[1]})" if bounds else value


def murphy_drawn(table: Table, asked: Asked) -> Drawn:
    """Return the Murphy curve with its Brier score and the parts of it."""
    confidence, shared = asked.options.confidence, Shared()
    score = brier(table, confidence=confidence)
    mcb, dsc, unc = (
        corp_part(name, table, confidence=confidence, shared=shared).value
        for name in (MeasureName.BRIER_MCB, MeasureName.BRIER_DSC, MeasureName.BRIER_UNC)
    )
    places = places_for(mcb)
    parts = f"= MCB {mcb:.{places}f} (the coloured area) - DSC {dsc:.{places}f} + UNC {unc:.{places}f}"
    parts += " (area of the base rate)"
    return Drawn(
        thresholds.murphy_curve(table, confidence=confidence),
        (
            f"Brier score {score.value:.{places}f}{bounds_line(score.interval)}: the area under the curve",
            parts,
            rows_line(table.total_rows, table.total_positive_rows),
        ),
        ("MCB miscalibration, DSC discrimination, UNC uncertainty.", *rounding_foot(table)),
        Brief(
            ((f"{score.value:.{places_for(score.value)}f}",),),
            rounding_foot(table),
            ("Brier score", score.value),
        ),
    )


# Coverages whose risk the caption says.
_TOLD = (0.8, 0.5)


def risk_coverage_drawn(table: Table, asked: Asked) -> Drawn:
    """Return the risk-coverage curve with the area under it and, as caption, the risk of some coverages."""
    curve = risk_coverage_curve(table, confidence=asked.options.confidence)
    area = aurc(table, confidence=asked.options.confidence)
    places, rows = places_for(area.value), rows_line(table.total_rows, table.total_positive_rows)
    found = [(one, float(np.interp(one, curve.coverage, curve.risk))) for one in _TOLD]
    told = ", ".join(f"{100.0 * risk:.3g} % of the surest {percent(one)}" for one, risk in found)
    return Drawn(
        curve,
        (
            f"AURC {area.value:.{places}f}{bounds_line(area.interval)}",
            f"Wrong (label 0): {100.0 * curve.base:.3g} % of all, {told}; {rows}",
        ),
        ("AURC: area under the curve.", *rounding_foot(table)),
        Brief(((f"{area.value:.{places}f}",),), rounding_foot(table), ("AURC", area.value)),
    )


# What draws one table for each kind whose entry names `diagram_of_tables`.
DRAWN = {
    PlotKind.CUMULATIVE: cumulative_drawn,
    PlotKind.MURPHY: murphy_drawn,
    PlotKind.RISK_COVERAGE: risk_coverage_drawn,
    PlotKind.DECISION: decision_drawn,
    PlotKind.CLINICAL: clinical_drawn,
    PlotKind.ISOTONIC: isotonic_drawn,
}


M = MeasureName

# The mean score, its parts, and what it is called.
_COORDINATES = {
    FitLoss.BRIER: (M.BRIER, (M.BRIER_MCB, M.BRIER_DSC, M.BRIER_UNC), "Brier score"),
    FitLoss.LOG: (M.LOG_LOSS, (M.LOG_LOSS_MCB, M.LOG_LOSS_DSC, M.LOG_LOSS_UNC), "log loss"),
}


def mcb_dsc_diagram(request: PlotRequest) -> Diagram:
    """Read every score, or every group of one, for a point each."""
    # A point is that of a score over the rows that it has.
    apart = not request.columns.by and request.columns.on_missing is OnMissing.PAIRWISE
    found = tables_of(replace(request, columns=replace(request.columns, in_pairs=apart)))
    loss = request.look.loss or FitLoss.BRIER
    return found.diagram(mcb_dsc_drawn(found.tables, options=request.options, loss=loss))


def mcb_dsc_drawn(tables: Mapping[str, Table], *, options: MeasureOptions, loss: FitLoss) -> Drawn:
    """Return a point for each table and, as caption, which has the lowest mean score."""
    measure, parts, word = _COORDINATES[loss]
    rows = [_point(table, parts, options) for table in tables.values()]
    mcb, dsc, unc, by_chance = np.array(rows).T
    picture = McbDsc(measure, tuple(tables), mcb - dsc + unc, mcb, dsc, unc, by_chance)
    best = int(np.argmin(picture.value if picture.one_base else mcb - dsc))
    places = places_for(mcb[best])
    whole, first, second = (f"{one:.{places}f}" for one in (picture.value[best], mcb[best], dsc[best]))
    who, numbers = brief(picture.names[best]), f"{whole} (MCB {first}, DSC {second})"
    said = f"Lowest {word}: {who} {numbers}"
    if not picture.one_base:
        said = f"Best against its own base rate: {who}, {word} {numbers}"
    rest = (
        f"UNC {unc[0]:.{places}f}; {rows_of(tables.values())}"
        if picture.one_base
        else rows_of(tables.values())
    )
    return Drawn(picture, (said, rest), rounding_foot(*tables.values()))


def _point(
    table: Table, parts: tuple[MeasureName, MeasureName, MeasureName], options: MeasureOptions
) -> tuple[float, float, float, float]:
    """Return the parts of a mean score, and the MCB that calibrated scores seldom pass."""
    shared, generator = Shared(), stream(options.seed, Purpose.CORP)
    mcb, dsc, unc = (
        corp_part(name, table, confidence=options.confidence, generator=generator, shared=shared)
        for name in parts
    )
    high = math.nan if mcb.null_range is None else mcb.null_range[1]
    return mcb.value, dsc.value, unc.value, high
