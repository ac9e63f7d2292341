"""
Diagrams of one table: cumulative differences, the isotonic fit, the
decision curve and the Murphy diagram.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, assert_never

import numpy as np

from calibcli.commands.gathering import RAW
from calibcli.commands.measure import measure_table
from calibcli.commands.pictures.diagram import (
    Diagram,
    Drawn,
    PlotRequest,
    bounds_line,
    diagram_of_rows,
    places_for,
    rounding_foot,
    rows_line,
)
from calibcli.commands.reading import read_judged
from calibcli.errors import UsageProblem
from calibcli.names import DEFAULT_BINS, Benefit, Binning, MeasureName, PlotKind, Purpose, Smoother, TestName
from calibcli.options.measuring import MeasureOptions
from calibcli.options.metrics import Metrics
from calibcli.reports.input import InputSummary
from calibcli.show.words import UNDEFINED
from calibcli.stats.bounds.proportion import clopper_pearson
from calibcli.stats.curves.clinical import clinical_curve
from calibcli.stats.curves.cumulative import CumulativeCurve, cumulative_curve
from calibcli.stats.curves.isotonic import isotonic_curve
from calibcli.stats.curves.reliability import percent, refuse_empty
from calibcli.stats.curves.risk_coverage import risk_coverage_curve
from calibcli.stats.curves.thresholds import DecisionCurve, Range, decision_curve, murphy_curve
from calibcli.stats.measures.decompositions import corp_part
from calibcli.stats.measures.discrimination import aurc
from calibcli.stats.measures.estimate import INDEPENDENT_ROWS, Estimate, TestResult
from calibcli.stats.measures.if_calibrated import Shared, draw_calibrated
from calibcli.stats.measures.scores import brier
from calibcli.stats.measures.tests import calibration_tests
from calibcli.stats.numerics import stream
from calibcli.stats.table.bins import binned, bins_of
from calibcli.stats.table.grid import Table

KindOfTable = Literal[
    PlotKind.ISOTONIC,
    PlotKind.CUMULATIVE,
    PlotKind.MURPHY,
    PlotKind.DECISION,
    PlotKind.CLINICAL,
    PlotKind.RISK_COVERAGE,
]


def diagram_of_table(request: PlotRequest, kind: KindOfTable) -> Diagram:
    """Read files for a diagram of one score."""
    if request.document is not None:
        msg = f"{request.document}: --kind {kind.value} is drawn from the rows"
        raise UsageProblem(msg, "name the files that the report was measured on")
    judged = read_judged(request)
    table, source = judged.table, judged.input
    refuse_empty(table)
    raw = judged.tables[RAW] if judged.recalibrated else None
    drawn = _drawn(kind, table, raw=raw, request=request, source=source)
    notes = (*source.notes, *judged.notes, *judged.fit_notes)
    return diagram_of_rows(drawn, source, notes, through=judged.through)


def _drawn(
    kind: KindOfTable, table: Table, *, raw: Table | None, request: PlotRequest, source: InputSummary
) -> Drawn:
    """Return the picture of a table, the one match of its kind."""
    options = request.options
    match kind:
        case PlotKind.ISOTONIC:
            return isotonic_drawn(table, options=options)
        case PlotKind.CUMULATIVE:
            return cumulative_drawn(table, options=options)
        case PlotKind.MURPHY:
            return murphy_drawn(table, options=options)
        case PlotKind.RISK_COVERAGE:
            return risk_coverage_drawn(table, options=options)
        case PlotKind.DECISION:
            return decision_drawn(table, raw=raw, options=options, benefit=request.benefit)
        case PlotKind.CLINICAL:
            return clinical_drawn(
                table, source, options=options, smoother=request.smoother or Smoother.SPLINE
            )
        case _:
            assert_never(kind)


def cumulative_drawn(table: Table, *, options: MeasureOptions) -> Drawn:
    """Return the path of cumulative differences and, as caption, what KS and Kuiper say of it."""
    curve = cumulative_curve(table)
    bins = binned(table, bins_of(Binning.EQUAL_WIDTH, DEFAULT_BINS, table=table))
    calibrated = None
    if not table.weighted:
        calibrated = draw_calibrated(
            table,
            partitions=(bins,),
            generator=stream(options.seed, Purpose.MONTE_CARLO),
            smece_generator=stream(options.seed, Purpose.SMECE_NULL),
        )
    names = (TestName.KS, TestName.KUIPER)
    tests, _ = calibration_tests(names, table, bins=bins, calibrated=calibrated, seed=options.seed)
    rows = rows_line(table.total_rows, table.total_positive_rows)
    how = {test.p_method for test in tests if test.p_value is not None}
    method = f"; p-values: {', '.join(sorted(how))}" if how else ""
    return Drawn(curve, (_first_line(tests, curve), f"{rows}{method}"), _remarks(tests))


def _first_line(tests: tuple[TestResult, ...], curve: CumulativeCurve) -> str:
    """Return both tests, or how far the path goes where they are not defined."""
    if all(test.statistic is not None for test in tests):
        ks, kuiper = (f"{test.statistic:.3g} ({_p_words(test.p_value, test.p_method)})" for test in tests)
        return f"KS {ks}, Kuiper {kuiper}"
    return f"Farthest from zero {float(curve.value[curve.farthest]):+.4f}; no test"


def _remarks(tests: tuple[TestResult, ...]) -> tuple[str, ...]:
    """Return why a test is not defined, and what else must be known of one that is."""
    said = dict.fromkeys(one for test in tests for one in test.assumptions if one != INDEPENDENT_ROWS)
    return tuple(f"{one[:1].upper()}{one[1:]}." for one in said)


def _p_words(p_value: float | None, method: str) -> str:
    if p_value is None:
        return "no p-value"
    if method == "contradiction":
        return "p = 0"
    return "p < 1e-300" if p_value < 1e-300 else f"p = {p_value:.2g}"


_PARTS = (
    "MCB: miscalibration; DSC: discrimination; UNC: uncertainty. MCB has no interval: the fit follows noise."
)


def isotonic_drawn(table: Table, *, options: MeasureOptions) -> Drawn:
    """Return the isotonic fit and, as caption, the Brier score in its parts."""
    generator = stream(options.seed, Purpose.CONSISTENCY_BAND)
    curve = isotonic_curve(table, generator=generator, confidence=options.confidence)
    shared, drawn = Shared(), stream(options.seed, Purpose.CORP)
    mcb = corp_part(MeasureName.BRIER_MCB, table, generator=drawn, shared=shared)
    dsc, unc = (
        corp_part(name, table, shared=shared).value for name in (MeasureName.BRIER_DSC, MeasureName.BRIER_UNC)
    )
    places = places_for(mcb.value)
    whole, *parts = (f"{one:.{places}f}" for one in (brier(table).value, mcb.value, dsc, unc))
    low, high = mcb.null_range or (0.0, 0.0)
    null = "" if mcb.null_range is None else f"; MCB by chance, {low:.{places}f} to {high:.{places}f}"
    return Drawn(
        curve,
        (
            "Brier {} = MCB {} - DSC {} + UNC {}".format(whole, *parts),
            f"{rows_line(table.total_rows, table.total_positive_rows)}{null}",
        ),
        (_PARTS, "Each cell of the grid counts as one score.") if table.kind == "grid" else (_PARTS,),
    )


_MOST_RANGES = 3


def decision_drawn(
    table: Table, *, raw: Table | None, options: MeasureOptions, benefit: Benefit = Benefit.NET
) -> Drawn:
    """
    Return the decision curve with the range of thresholds in which the
    score is better than all and none.
    """
    curve = decision_curve(table, raw=raw, confidence=options.confidence, benefit=benefit)
    rows = rows_line(table.total_rows, table.total_positive_rows)
    kind = "weighted base rate" if table.weighted else "base rate"
    caption = (*_finding(curve), f"{rows}: {kind} {_base_rate(table, options.confidence)}")
    return Drawn(curve, caption, rounding_foot(table))


def _finding(curve: DecisionCurve) -> tuple[str, ...]:
    """Say where the score is better than treating all and treating none."""
    if not curve.better:
        return ("At no threshold is the score worth more than treating all or none",)
    where = _spoken(curve.better)
    if curve.clearly_better is None:
        return (f"Better than treating all and none, by the estimate alone: from {where}",)
    plain = f"By the estimate alone: from {where}"
    at_each = f"({percent(curve.confidence)}, threshold by threshold)"
    if not curve.clearly_better:
        return (f"Nowhere clearly worth more than treating all or none {at_each}", plain)
    return (f"Clearly worth using {at_each} from {_spoken(curve.clearly_better)}", plain)


def _spoken(ranges: Sequence[Range]) -> str:
    """Return ranges in words; of many the first and the last end."""
    if len(ranges) > _MOST_RANGES:
        return f"{ranges[0][0]:.3g} to {ranges[-1][1]:.3g}, not throughout"
    return " and ".join(f"{start:.3g} to {stop:.3g}" for start, stop in ranges)


def _base_rate(table: Table, confidence: float) -> str:
    rate = float(table.positive.sum() / table.weight.sum())
    if table.weighted:
        return f"{rate:.4g}"
    positive, rows = np.array([float(table.total_positive_rows)]), np.array([float(table.total_rows)])
    lower, upper = clopper_pearson(positive, rows, delta_each_side=(1.0 - confidence) / 2.0)
    return f"{rate:.4g} [{lower[0]:.4g}, {upper[0]:.4g}]"


# What a paper on a prediction model reports, as its field calls it.
_REPORTED = {
    MeasureName.OE: "O/E ratio",
    MeasureName.CITL_LOGIT: "CITL",
    MeasureName.COX_SLOPE: "Slope",
    MeasureName.ICI: "ICI (spline)",
    MeasureName.AUROC: "C statistic",
}


def clinical_drawn(
    table: Table, source: InputSummary, *, options: MeasureOptions, smoother: Smoother
) -> Drawn:
    """Return the calibration plot of a prediction model, with what is reported of it."""
    asked = replace(options, metrics=Metrics(tuple(_REPORTED), ()), drawn=False, complete=False)
    measures = {one.name: one for one in measure_table(table, source, options=asked).measures}
    box = tuple((word, _reported(measures[name])) for name, word in _REPORTED.items())
    curve = clinical_curve(
        table, smoother=smoother, box=box, confidence=options.confidence, seed=options.seed
    )
    rows = rows_line(table.total_rows, table.total_positive_rows)
    words = zip(("O/E", "slope", "C"), (box[0], box[2], box[4]), strict=True)
    said = ", ".join(f"{word} {number}" for word, (_, number) in words)
    caption = said, f"{rows}; intervals at {percent(options.confidence)}"
    large = (
        "CITL: calibration in the large, on the scale of log odds. ICI: mean distance of a spline from the "
        "score."
    )
    return Drawn(curve, caption, (large, *rounding_foot(table)))


def _reported(one: Estimate) -> str:
    """Return a number with its interval, as a paper writes it."""
    if math.isnan(one.value):
        return UNDEFINED
    ends = () if one.interval is None else one.interval.ends
    places = 3 if one.name is MeasureName.ICI else 2
    # Rounding leaves no zero below zero.
    value, *bounds = (f"{round(number, places) + 0.0:.{places}f}" for number in (one.value, *ends))
    return f"{value} ({bounds[0]} to {bounds[1]})" if bounds else value


def murphy_drawn(table: Table, *, options: MeasureOptions) -> Drawn:
    """Return the Murphy curve with its Brier score and the parts of it."""
    confidence, shared = options.confidence, Shared()
    score = brier(table, confidence=confidence)
    mcb, dsc, unc = (
        corp_part(name, table, confidence=confidence, shared=shared).value
        for name in (MeasureName.BRIER_MCB, MeasureName.BRIER_DSC, MeasureName.BRIER_UNC)
    )
    places = places_for(mcb)
    parts = f"= MCB {mcb:.{places}f} (the coloured area) - DSC {dsc:.{places}f} + UNC {unc:.{places}f}"
    parts += " (area of the base rate)"
    return Drawn(
        murphy_curve(table, confidence=confidence),
        (
            f"Brier score {score.value:.{places}f}{bounds_line(score.interval)}: the area under the curve",
            parts,
            rows_line(table.total_rows, table.total_positive_rows),
        ),
        ("MCB miscalibration, DSC discrimination, UNC uncertainty.", *rounding_foot(table)),
    )


# Coverages whose risk the caption says.
_TOLD = (0.8, 0.5)


def risk_coverage_drawn(table: Table, *, options: MeasureOptions) -> Drawn:
    """Return the risk-coverage curve with the area under it and, as caption, the risk of some coverages."""
    curve = risk_coverage_curve(table, confidence=options.confidence)
    area = aurc(table, confidence=options.confidence)
    places, rows = places_for(area.value), rows_line(table.total_rows, table.total_positive_rows)
    found = [(one, float(curve.risk[np.searchsorted(curve.coverage, one)])) for one in _TOLD]
    told = ", ".join(f"{100.0 * risk:.3g} % of the surest {percent(one)}" for one, risk in found)
    return Drawn(
        curve,
        (
            f"AURC {area.value:.{places}f}{bounds_line(area.interval)}",
            f"Wrong (label 0): {100.0 * curve.base:.3g} % of all, {told}; {rows}",
        ),
        ("AURC: area under the curve.", *rounding_foot(table)),
    )
