"""Reports of every kind, written by hand: what renderers say must not depend on what mathematics finds."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from calibcli.names import (
    Bound,
    FitLoss,
    Inconclusive,
    MeasureName,
    PlotKind,
    RecalibratorName,
    Relation,
    Target,
    TestName,
    VerdictName,
)
from calibcli.reports.compare import CompareReport, Comparison, Side
from calibcli.reports.input import InputSummary
from calibcli.reports.maps import ApplyReport, ColumnSummary, FitReport, InspectReport
from calibcli.reports.measure import ClusterSummary, GroupsSummary, MeasureReport, TableSummary, WorstGroup
from calibcli.reports.verify import GroupVerdicts, StateSummary, VerifyReport
from calibcli.stats.bounds import Interval
from calibcli.stats.curves.reliability import NO_WEIGHTED_BAND, BinnedCurve, ReliabilityCurve, SmoothCurve
from calibcli.stats.gates.claim import Claim, Evidence, RowsNeeded, Verdict
from calibcli.stats.measures import (
    HELD_OUT,
    INDEPENDENT_ROWS,
    NO_WEIGHTED_INTERVAL,
    Estimate,
    TestResult,
)
from calibcli.stats.measures.differences import PAIRED, Difference
from calibcli.stats.measures.tests import WEIGHTED, CombinedTest
from calibcli.stats.recalibrators.selection import Selection, Trial

HOSTILE = "[red]x|`y`\x1b[31m<b>\n\u202e*_z_\u00e9\u4e2d"
INPUT = InputSummary(("churn.parquet",), "score", "label", None, 50_000, 0, 0)
TABLE = TableSummary("exact", 50_000, 11_600, 49_993, 0.0, "sha256:00", discrete=False, weighted=False)
COMMON = (INDEPENDENT_ROWS, HELD_OUT)
_ASSUMPTIONS = (
    "rows are independent draws from the population the gate speaks of",
    HELD_OUT,
    "binned ECE over 15 equal-width bins, fixed in advance; the unbinned ECE cannot be bounded",
    "valid for one look; ask again only on fresh rows",
)


def _interval(lower: float, upper: float, method: str, target: Target, *, finite: bool) -> Interval:
    return Interval(lower, upper, 0.95, method, target, finite_sample=finite)


def _ece() -> Estimate:
    interval = _interval(
        0.1012, 0.131, "upper: d*; lower: |bias| or McDiarmid", Target.FIXED_DESIGN, finite=True
    )
    details = {"bins": 3, "partition": "3 equal-width bins"}
    assumptions = (*COMMON, "of the 3 equal-width bins, not of finer ones")
    null = 0.0052, (0.0035, 0.00714)
    return Estimate(
        MeasureName.ECE, 0.12712, interval, null[0], assumptions, 50_000, details, null_range=null[1]
    )


def _bias() -> Estimate:
    interval = _interval(-0.0123, 0.0000456, "betting", Target.FIXED_DESIGN, finite=True)
    return Estimate(MeasureName.BIAS, -0.00612, interval, 0.0, COMMON, 50_000, null_range=(-0.0021, 0.0021))


def _brier() -> Estimate:
    interval = replace(
        _interval(0.1804, 0.1859, "Gaffke's bound", Target.POPULATION, finite=False), confidence=0.9
    )
    return Estimate(MeasureName.BRIER, 0.18312, interval, 0.0823, (INDEPENDENT_ROWS,), 50_000)


def _log_loss() -> Estimate:
    assumptions = (INDEPENDENT_ROWS, "no interval: 3 rows gave probability 0 to what happened")
    return Estimate(MeasureName.LOG_LOSS, math.inf, None, 0.2698, assumptions, 50_000)


def _tests() -> tuple[TestResult, ...]:
    blind = "blind to errors that cancel around 1/2: read it beside Kuiper"
    return (
        TestResult(TestName.KS, 33.421, 0.0, "asymptotic", 0.0, (INDEPENDENT_ROWS,)),
        TestResult(TestName.KUIPER, 7.9, 2.34e-15, "asymptotic", 2.34e-15, (INDEPENDENT_ROWS,)),
        TestResult(TestName.SPIEGELHALTER, -2.141, 0.0323, "asymptotic", 0.0323, (INDEPENDENT_ROWS, blind)),
        TestResult(TestName.T, 0.0185912, 0.001, "monte-carlo", None, COMMON),
    )


def _curve() -> ReliabilityCurve:
    bins = BinnedCurve(
        lower=np.array([0.0, 1 / 3, 2 / 3]),
        upper=np.array([1 / 3, 2 / 3, 1.0]),
        rows=np.array([41_000, 6_000, 3_000]),
        score=np.array([0.0641, 0.45, 0.8125]),
        rate=np.array([0.1672, 0.3891, 0.8104]),
        rate_lower=np.array([0.1636, 0.3767, 0.7959]),
        rate_upper=np.array([0.1709, 0.4016, 0.8243]),
        band="pointwise 95 % Clopper-Pearson",
    )
    ends = np.array([0.25, 0.75])
    smooth = SmoothCurve(ends, ends, ends, ends, np.array([0.3, math.nan]), ends, 0.05, "none")
    return ReliabilityCurve(PlotKind.SMOOTH, bins, smooth, 0.95)


def _measure() -> MeasureReport:
    combined = CombinedTest(7.02e-15, (TestName.KUIPER, TestName.SPIEGELHALTER, TestName.T))
    measures = (_ece(), _bias(), _brier(), _log_loss())
    return MeasureReport(INPUT, TABLE, None, 0.95, measures, _tests(), combined, _curve())


def _grid() -> MeasureReport:
    """Return what a large input makes: a grid, dropped and clipped rows, notes, many files."""
    files = tuple(f"part-{k}.parquet" for k in range(12))
    notes = ("column 'score' was taken as the score; --score names another",)
    source = InputSummary(files, "score", "label", None, 50_000, 1, 1_234, notes)
    table = replace(TABLE, kind="grid", resolution=1 / 720_720, distinct=41_123)
    return replace(_measure(), input=source, table=table, notes=("numbers flatter the artifact",))


def _weighted() -> MeasureReport:
    """Return what importance weights leave: no tests, few intervals."""
    weighted = Estimate(MeasureName.L2, 0.02, None, None, (*COMMON, NO_WEIGHTED_INTERVAL), 50_000)
    names = (TestName.KS, TestName.T)
    tests = tuple(TestResult(name, None, None, "undefined", None, (WEIGHTED,)) for name in names)
    gap = np.full(3, math.nan)
    bins = replace(_curve().binned, rate_lower=gap, rate_upper=gap, band=NO_WEIGHTED_BAND)
    return replace(
        _measure(),
        input=replace(INPUT, weight="my weight"),
        table=replace(TABLE, weighted=True),
        measures=(weighted,),
        tests=tests,
        combined=CombinedTest(None, ()),
        curve=replace(_curve(), binned=bins),
    )


def _atoms() -> MeasureReport:
    """Return what a discrete artifact makes: atoms, a contradiction, and the raw score beside."""
    places = np.array([0.0, 0.1234561, 0.1234562])
    bins = replace(_curve().binned, lower=places, upper=places, score=places)
    wrong = "contradiction: 3 rows gave probability 0 to what happened, so no labels like these can be drawn"
    test = TestResult(TestName.T, 0.1, 0.0, "contradiction", None, (*COMMON, wrong))
    return replace(
        _measure(),
        table=replace(TABLE, discrete=True, distinct=3, contradicting=3),
        artifact="my cal.json",
        tests=(test,),
        combined=CombinedTest(0.0, (TestName.T,)),
        curve=replace(_curve(), binned=bins, smooth=None),
        slices={"score=score": _measure()},
    )


def _part(rows: int, ece: float) -> MeasureReport:
    """Return the report of a group."""
    interval = _interval(max(0.0, ece - 0.02), ece + 0.01, "d*", Target.FIXED_DESIGN, finite=True)
    estimates = (replace(_ece(), value=ece, interval=interval), _bias(), _brier())
    measures = tuple(
        one if one.interval is None else replace(one, interval=replace(one.interval, confidence=0.975))
        for one in estimates
    )
    table = replace(TABLE, rows=rows, positive=rows // 4)
    return replace(_measure(), table=table, measures=measures, confidence=0.975)


def _grouped() -> dict[str, MeasureReport]:
    """Return reports by group, and of two scores of clustered rows."""
    worst = WorstGroup(MeasureName.ECE, "country=US", 0.0912, "country=US", 0.0712)
    slices = {"country=DE": _part(20_000, 0.0312), "country=US": _part(29_000, 0.0912)}
    small = {f"country=x{k}": 10 + k for k in range(7)}
    groups = GroupsSummary(("country",), tuple(slices), small, 100, 0.975, worst)
    grouped = replace(_measure(), slices=slices, groups=groups)
    dependent = "no interval: rows of one cluster are dependent: exact bounds need independent rows"
    measured = _measure()
    counted = tuple(replace(one, details={**one.details, "clusters": 1_234}) for one in measured.measures)
    measured = replace(measured, measures=counted)
    other = {"score=my b": replace(measured, input=replace(INPUT, score="my b"))}
    brier = Difference(
        MeasureName.BRIER,
        -0.0012,
        _interval(-0.003, -0.0002, "cluster-robust", Target.POPULATION, finite=False),
        COMMON,
    )
    clustered = replace(
        measured,
        slices=other,
        differences={"score=my b": (brier, Difference(MeasureName.ECE, 0.01, None, (dependent,)))},
        clusters=ClusterSummary("patient", 1_234, 987.65),
    )
    empty = replace(groups, measured=(), worst=None)
    return {
        "grouped": grouped,
        "grouped_evenly": replace(
            grouped, groups=replace(groups, left_out={}, worst=replace(worst, by_lower=None, lower=0.0))
        ),
        "grouped_nothing": replace(grouped, slices={}, groups=empty),
        "clustered": clustered,
    }


def _verdict(outcome: VerdictName, value: float, bounds: tuple[float, float], **rest: Any) -> Verdict:
    return Verdict(
        claim=Claim("ece", 0.02, 0.95),
        outcome=outcome,
        value=value,
        lower=bounds[0],
        upper=bounds[1],
        fixed_design_upper=0.0117,
        method="betting, one look",
        target=Target.POPULATION,
        partition="15 equal-width bins",
        any_time=False,
        assumptions=_ASSUMPTIONS,
        rows=50_000,
        **rest,
    )


def _gate(*verdicts: Verdict, policy: Inconclusive = Inconclusive.ERROR) -> VerifyReport:
    keys = ["max-ece", *(f"rule-{k}" for k in range(2, len(verdicts) + 1))]
    return VerifyReport(INPUT, TABLE, "cal.json", dict(zip(keys, verdicts, strict=True)), policy)


def _gates() -> dict[str, VerifyReport]:
    passed = _verdict(VerdictName.PASS, 0.0048, (0.0, 0.0137))
    # Bounds that four digits would put on the wrong side of the limit.
    failed = _verdict(VerdictName.FAIL, 0.1271, (0.020000012, 0.1492))
    unclear = VerdictName.INCONCLUSIVE
    noise = RowsNeeded(None, None, 48_213, within_noise=True)
    to_pass = RowsNeeded(123_456, None, 48_213, within_noise=False)
    to_fail = RowsNeeded(None, 98_765, 48_213, within_noise=False)
    few = "7 rows have label 1, fewer than 10"
    bounds = (0.0102, 0.0263)
    return {
        "pass": _gate(passed),
        "fail": _gate(failed),
        "within_noise": _gate(_verdict(unclear, 0.0181, bounds, needed=noise)),
        "to_pass": _gate(_verdict(unclear, 0.0121, bounds, needed=to_pass), policy=Inconclusive.PASS),
        "to_fail": _gate(_verdict(unclear, 0.0251, bounds, needed=to_fail)),
        "too_few": _gate(_verdict(unclear, 0.0181, (0.0, 0.3), reason=few)),
        "several": _gate(passed, failed, _verdict(unclear, 0.0181, bounds, needed=noise)),
        "kinds": _gate(*_kinds()),
        "groups": _gate_of_groups(passed, failed, to_pass),
        "state": _gate_with_state(replace(passed, evidence=Evidence(4.1, -2.0, 3.0, 5_300, None, 12))),
    }


def _requested(verdict: Verdict, bound: Bound, relation: Relation, **changes: Any) -> Verdict:
    """Return a verdict on another kind of rule."""
    measure = changes.pop("measure", "bias")
    claim = replace(verdict.claim, measure=measure, bound=bound, relation=relation, fail_confidence=0.99)
    return replace(verdict, claim=claim, fixed_design_upper=None, **changes)


def _kinds() -> tuple[Verdict, ...]:
    """Return a verdict on every kind of rule, passed, failed and left open."""
    least, most = Relation.AT_LEAST, Relation.AT_MOST
    passed = _verdict(VerdictName.PASS, 0.0281, (0.0212, 0.0337))
    failed = _verdict(VerdictName.FAIL, 0.0048, (0.0, 0.0137))
    unclear = _verdict(VerdictName.INCONCLUSIVE, 0.0181, (0.0102, 0.0263))
    alone: dict[str, Any] = {"lower": None, "upper": None, "target": None, "partition": "", "assumptions": ()}
    mixed = {"measure": "smece", "target": Target.MIXED}
    return (
        _requested(passed, Bound.LOWER, least, finite_sample=False),
        _requested(failed, Bound.LOWER, least),
        _requested(unclear, Bound.LOWER, least),
        _requested(unclear, Bound.UPPER, most, lower=None, measure="ece - baseline"),
        _requested(failed, Bound.UPPER, most, outcome=VerdictName.PASS, **mixed),
        _requested(passed, Bound.UPPER, most, outcome=VerdictName.FAIL, **mixed),
        _requested(unclear, Bound.UPPER, most, **mixed),
        _requested(unclear, Bound.LOWER, most, outcome=VerdictName.PASS),
        _requested(passed, Bound.VALUE, least, **alone),
        _requested(failed, Bound.VALUE, least, **alone),
        _requested(passed, Bound.P_VALUE, least, **alone, measure="ks"),
        _requested(failed, Bound.P_VALUE, least, **alone, measure="ks"),
        replace(_verdict(VerdictName.PASS, 0.0048, (0.0, 0.0137)), void="judged by the fit rows"),
    )


def _gate_of_groups(passed: Verdict, failed: Verdict, needed: RowsNeeded) -> VerifyReport:
    """Return a gate of two rules over some groups, and one that was left out."""
    unclear = _verdict(VerdictName.INCONCLUSIVE, 0.0121, (0.0, 0.0263), needed=needed)
    noise = RowsNeeded(None, None, 48_213, within_noise=True)
    small = replace(TABLE, rows=900, positive=100)
    few = {"rows": 900, "reason": "7 rows have label 1, fewer than 10", "needed": None}
    alone = _requested(passed, Bound.VALUE, Relation.AT_LEAST, lower=None, upper=None, target=None)
    lenient = _requested(passed, Bound.LOWER, Relation.AT_MOST)
    verdicts = {
        "country=US": (passed, alone),
        "country=DE": (failed, lenient),
        "country=\u00c5land": (replace(unclear, **few), replace(passed, void="judged by the fit rows")),
        "country=FR": (unclear, replace(unclear, needed=replace(needed, to_pass=None, to_fail=98_765))),
        "country=IT": (replace(unclear, needed=noise, rows=900), replace(unclear, needed=noise, rows=90_000)),
    }
    whole = replace(passed, claim=replace(passed.claim, fail_confidence=0.995))
    return replace(
        _gate(whole),
        by=("country",),
        groups={
            key: GroupVerdicts(small, dict(zip(("max-ece", "rule1"), both, strict=True)))
            for key, both in verdicts.items()
        },
        left_out={"country=LI": 12, "country=MC": 1},
        least_group_rows=100,
    )


def _gate_with_state(verdict: Verdict) -> VerifyReport:
    """Return a gate that keeps a state, asked once more with rows that it knew."""
    state = StateSummary("my gate.json", 3, 50_000, 0, ("sha256:00",), 1_000)
    return replace(_gate(verdict), state=state)


def _differing(
    name: MeasureName, values: tuple[float, float], bounds: tuple[float, float] | None, *reasons: str
) -> Comparison:
    """Return a comparison with the difference of its values."""
    sides = [replace(_ece(), name=name, value=value) for value in values]
    if name in PAIRED:
        sides = [replace(_brier(), name=name, value=value) for value in values]
        sides = [side if math.isfinite(side.value) else replace(side, interval=None) for side in sides]
    value = values[1] - values[0] if math.isfinite(sum(values)) else None
    interval = None
    if bounds is not None and name in PAIRED:
        interval = _interval(*bounds, "paired, Gaffke's bound", Target.POPULATION, finite=False)
    elif bounds is not None:
        interval = _interval(
            *bounds, "Bonferroni of both intervals at 97.5 %", Target.FIXED_DESIGN, finite=True
        )
    return Comparison(*sides, Difference(name, value, interval, (*COMMON, *reasons)))


def _compared() -> dict[str, CompareReport]:
    """Return comparisons that end each way, and one in which nothing can be said of the log loss."""
    first, second = Side("old", "old", None, TABLE), Side("new", "new", None, TABLE)
    brier = _differing(MeasureName.BRIER, (0.1831, 0.1643), (-0.0199, -0.0178))
    log_loss = _differing(MeasureName.LOG_LOSS, (0.5031, 0.5142), (0.0021, 0.0201))
    ece = _differing(MeasureName.ECE, (0.0121, 0.0131), (-0.0084, 0.0102))
    both = "2 by the first score and 3 by the second, so both mean losses are infinite"
    reason = f"not compared: rows gave probability 0 to what happened, {both}"
    blind = _differing(MeasureName.LOG_LOSS, (math.inf, math.inf), None, reason)
    report = CompareReport(replace(INPUT, score="old"), first, second, 0.95, (brier, log_loss, ece))
    maps = {"artifact": "my cal.json", "name": "my cal.json", "score": "old"}
    return {
        "compare": report,
        "compare_fail": replace(report, gate=PAIRED),
        "compare_pass": replace(
            report, second=replace(second, **maps), comparisons=(brier, blind), gate=PAIRED, notes=("a note",)
        ),
        "compare_blind": replace(report, comparisons=(blind,), gate=(MeasureName.LOG_LOSS,)),
    }


def _selection() -> Selection:
    """Return a choice with a trial of every kind."""
    trials = (
        Trial("raw", 0.653, 0.1498, 0.0031, chosen=False),
        Trial("platt", 0.50323, 0.0000753, 0.000089, chosen=True),
        Trial("beta", None, None, None, chosen=False, reason="without fold 3: no optimum within reach"),
        Trial("spline", 0.50316, 0.0, 0.0, chosen=False),
        Trial("isotonic", math.inf, math.inf, None, chosen=False),
    )
    return Selection(FitLoss.LOG, 10, None, 0, trials)


def _hostile() -> dict[str, Any]:
    """Return reports whose names try to be markup, colour codes and lines of their own."""
    source = replace(INPUT, files=(HOSTILE,), score=HOSTILE, label=HOSTILE, weight=HOSTILE, notes=(HOSTILE,))
    facts = ((HOSTILE, HOSTILE),)
    columns = (ColumnSummary(HOSTILE, HOSTILE, "score"),)
    return {
        "hostile_measure": replace(_measure(), input=source, artifact=HOSTILE, slices={HOSTILE: _measure()}),
        "hostile_verify": replace(_gates()["pass"], input=source, notes=(HOSTILE,)),
        "hostile_compare": replace(
            _compared()["compare"],
            input=source,
            first=Side(HOSTILE, HOSTILE, None, TABLE),
            second=Side(HOSTILE, HOSTILE, HOSTILE, TABLE),
            notes=(HOSTILE,),
        ),
        "hostile_inspect": InspectReport(HOSTILE, "csv", facts, columns, HOSTILE),
    }


@pytest.fixture(scope="session")
def reports() -> dict[str, Any]:
    """Return every report by name; `golden/` holds what is to be said of each."""
    fit_notes = ("the map is not increasing",)
    method = RecalibratorName.SCALING_BINNING
    fit = FitReport(INPUT, method, "cal.json", 50_000, 11_600, "log loss", 0.653, 0.5048, 10, fit_notes)
    apply = ApplyReport(("new.csv",), "score", "-", ("calibrated",), 1_000, 2, lowest=0.0739, highest=0.4811)
    facts = (("rows", "50,000"), ("format", "parquet"))
    columns = (ColumnSummary("score", "double", "score"), ColumnSummary("group", "string", ""))
    inspect = InspectReport("churn.parquet", "parquet", facts, columns, "calibcli measure churn.parquet")
    return {
        "measure": _measure(),
        "grid": _grid(),
        "weighted": _weighted(),
        "atoms": _atoms(),
        **_grouped(),
        **{f"verify_{key}": gate for key, gate in _gates().items()},
        "fit": fit,
        "fit_to_stdout": replace(fit, output=None, outputs=None, notes=()),
        "fit_auto": replace(fit, method=RecalibratorName.PLATT, outputs=None, selection=_selection()),
        "fit_grouped": replace(
            fit,
            method=RecalibratorName.PLATT,
            outputs=None,
            loss="squared error",
            selection=replace(_selection(), loss=FitLoss.BRIER, grouped_by="patient id", folds=7),
        ),
        **_compared(),
        "apply": apply,
        "apply_nothing": replace(apply, output="out.csv", rows=0, clipped=0, lowest=None, highest=None),
        "apply_ends": replace(
            apply, columns=("calibrated", "c_lower", "c_upper"), prior=0.02, fitted_rate=0.2312
        ),
        "inspect": inspect,
        "inspect_empty": InspectReport("cal.json", "artifact", (), (), None),
        **_hostile(),
    }
