"""What holds for every measure and every test: on any rows, with any weights, on grids, at the edges."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from calibcli.names import Binning, MeasureName, Target
from calibcli.stats.measures import Estimate, measure_named
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Settings
from calibcli.stats.measures.tests import hosmer_lemeshow, ks_and_kuiper, spiegelhalter
from calibcli.stats.measures.u_test import u_test
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import binned, bins_of
from calibcli.stats.table.grid import Table, grid_of, hidden_range
from score_rows import EVEN_SCORES, TEN, Rows, scored, scored_table, some_rows, table_of, turned, wide

M = MeasureName
Numbers = dict[str, float | None]
# So slow that a failure is shown as it was found.
LAW = settings(max_examples=3, phases=[Phase.generate])
# Of these the cuts of weighted rows fall elsewhere than those of counted ones.
CUT_BY_WEIGHT = (M.ECE_EQUAL_MASS, M.ACE, M.ECE_SWEEP)


def estimates(
    table: Table, *, confidence: float = 0.95, bounds: bool = False, names: Iterable[MeasureName] = M
) -> dict[MeasureName, Estimate]:
    """Every measure over seven bins, or some of them, but for what is drawn."""
    mass = binned(table, bins_of(Binning.EQUAL_MASS, 7, table=table))
    shared = Settings(binned(table, wide(7)), mass, confidence, None, power=3.0, bounds=bounds)
    return {name: measure_named(name, table, settings=shared) for name in names}


def every_number(table: Table) -> Numbers:
    """Every measure with its bounds and details, and every statistic of counted rows with its p-value."""
    found: Numbers = {}
    for name, estimate in estimates(table, bounds=True).items():
        found[name] = estimate.value
        for side in ("lower", "upper"):
            found[f"{name} {side}"] = estimate.interval and getattr(estimate.interval, side)
            found[f"{name} by chance, {side}"] = getattr(estimate, f"null_{side}")
        found |= {f"{name} {key}": v for key, v in estimate.details.items() if isinstance(v, float)}
    if table.weighted:
        return found
    bins = binned(table, wide(7))
    tests = (*ks_and_kuiper(table), spiegelhalter(table), hosmer_lemeshow(table, bins=bins), u_test(table))
    for result in tests:
        found |= {f"{result.name} test": result.statistic, f"{result.name} p": result.p_asymptotic}
    return found


def values(table: Table) -> dict[MeasureName, float]:
    """Every measure without its interval."""
    return {name: estimate.value for name, estimate in estimates(table).items()}


def same(one: Mapping[str, float | None], other: Mapping[str, float | None]) -> bool:
    """Whether numbers are the same bit for bit, NaN being NaN."""
    assert one.keys() == other.keys()
    return repr(one) == repr(other)


@LAW
@given(rows=some_rows(), seed=st.integers(0, 99))
def test_order_and_frequencies_of_rows_change_no_number(rows: Rows, seed: int) -> None:
    """Invariants 4 and 5: every number is the same bit for bit for shuffled rows and rows written out."""
    shuffled = rows.taken(np.random.default_rng(seed).permutation(rows.size))
    expected = every_number(rows.table())
    assert same(expected, every_number(shuffled.table()))
    assert same(expected, every_number(rows.repeated().table()))


@LAW
@given(rows=some_rows(), scale=st.sampled_from([0.1, 3.0, 1e-110, 1e110]))
def test_only_ratios_of_importance_weights_matter(rows: Rows, scale: float) -> None:
    """Values, bounds and details alike; and equal weights give the plain values."""
    weight = np.linspace(0.5, 2.0, rows.size)
    one, other = every_number(rows.weighted(weight)), every_number(rows.weighted(scale * weight))
    assert one.keys() == other.keys()
    assert not any("betting" in key or "chernoff" in key for key in one)
    for key, value in one.items():
        assert (value is None) == (other[key] is None), key
        if value is not None:
            assert other[key] == pytest.approx(value, rel=1e-7, abs=1e-7, nan_ok=True), key
    plain = values(ScoreTable.from_rows(rows.score, rows.label))
    for name, value in values(rows.weighted(np.full(rows.size, 0.5))).items():
        if name not in CUT_BY_WEIGHT:
            assert value == pytest.approx(plain[name], rel=1e-7, abs=1e-7, nan_ok=True), name


@pytest.mark.parametrize("weight", [0.1, 1.0 / 3.0, 7.3])
def test_equal_weights_cut_as_counts_do(weight: float) -> None:
    """Where bins divide the rows their sums reach each rank but for rounding; knots of curves likewise."""
    score, label = scored(2_800)
    # Every rate is 1 from the middle on, and none falls.
    sure = np.sort(score)
    table = ScoreTable.from_rows(sure, sure > 0.5)
    for plain in (ScoreTable.from_rows(score, label), table):
        each = ScoreTable.from_rows(
            plain.score, plain.positive > 0.0, Weighing(weight=np.full(2_800, weight))
        )
        names = (M.ECE_EQUAL_MASS, M.ACE, M.ICI, M.E50) if plain is not table else (M.ECE_SWEEP,)
        one, other = estimates(plain, names=names), estimates(each, names=names)
        for name in names:
            assert other[name].value == pytest.approx(one[name].value, rel=1e-9), name


@LAW
@given(rows=some_rows())
def test_rows_without_weight_do_not_count(rows: Rows) -> None:
    """A row of weight 0 changes no value: not even a certain and wrong one, nor a bin of only such."""
    extra = (np.array([0.0, 1.0, 0.55, 0.56]), np.array([True, False, True, False]))
    weight = np.linspace(0.5, 2.0, rows.size)
    longer = ScoreTable.from_rows(
        np.append(rows.score, extra[0]),
        np.append(rows.label, extra[1]),
        Weighing(weight=np.append(weight, np.zeros(4))),
    )
    other = values(longer)
    for name, value in values(rows.weighted(weight)).items():
        assert other[name] == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True), name


# Bins of these are closed on one side.
ONE_SIDED = (*CUT_BY_WEIGHT, M.DCE, M.OE, M.OBSERVED_RATE, M.MEAN_SCORE, M.AURC)
SIGNED = (M.BIAS, M.CITL_LOGIT, M.COX_INTERCEPT)
CURVES = (M.ICI, M.E50, M.E90, M.EMAX)
# In thousandths.
KNOT_SHARES = (50, 100, 275, 350, 500, 650, 725, 900, 950)


@LAW
@given(rows=some_rows(EVEN_SCORES))
def test_the_other_label_sees_the_same(rows: Rows) -> None:
    """With f, y turned into 1 - f, 1 - y the sign of a shift changes, and nothing else."""
    table = rows.table()
    other = values(turned(table))
    # A knot between two rows is the lower one, on either side.
    between = any(share * table.total_rows % 1000 == 0 for share in KNOT_SHARES)
    one_sided = (*ONE_SIDED, *(CURVES if between else ()))
    for name, value in values(table).items():
        if name not in one_sided and math.isfinite(value):
            expected = -value if name in SIGNED else value
            # Curves are read between points, to 2e-5 on either side.
            near = 4e-5 if name in CURVES else 1e-6
            assert other[name] == pytest.approx(expected, rel=1e-6, abs=near), name


@LAW
@given(rows=some_rows())
def test_intervals_enclose_the_value_and_grow_with_confidence(rows: Rows) -> None:
    """Lower <= value <= upper, and more confidence never narrows; a missing interval has its sentence."""
    table, before = rows.table(), dict.fromkeys(MeasureName, (math.inf, -math.inf))
    for confidence in (0.9, 0.999):
        for name, estimate in estimates(table, confidence=confidence).items():
            interval = estimate.interval
            if interval is None:
                assert any(text.startswith("no interval") for text in estimate.assumptions), name
                continue
            lower = -math.inf if interval.lower is None else interval.lower
            upper = math.inf if interval.upper is None else interval.upper
            assert lower - 1e-9 <= estimate.value <= upper + 1e-9, name
            assert interval.confidence == confidence
            assert lower <= before[name][0] + 1e-7, name
            assert upper >= before[name][1] - 1e-7, name
            before[name] = lower, upper


def test_grid_table_gives_the_same_numbers() -> None:
    """On the grid every value agrees to 1e-6, an end to 2e-5 or as draws do, and tests to three digits."""
    rng = np.random.default_rng(5)
    score = np.concatenate((rng.random(3000), [0.0, 1.0], np.arange(1, 16) / 16, rng.beta(0.5, 40.0, 300)))
    table = ScoreTable.from_rows(score, rng.random(score.size) < 0.1 + 0.8 * score)
    cells = grid_of(table)
    grid, exact = estimates(cells), estimates(table)
    for name, estimate in exact.items():
        found = grid[name]
        # What may be hidden within a cell is added to its upper end.
        hidden = hidden_range(cells) / cells.total_rows if name is M.CUTOFF else 0.0
        # Labels are drawn of curves at scores that are not quite the same: 400 draws scatter by this much.
        close = 3e-3 if name in {M.ICI, M.E50, M.E90, M.EMAX} else 2e-5
        assert found.value == pytest.approx(estimate.value, abs=1e-6), name
        assert (found.interval is None) == (estimate.interval is None), name
        if found.interval is not None and estimate.interval is not None:
            assert found.interval.lower == pytest.approx(estimate.interval.lower, abs=close), name
            upper = estimate.interval.upper and estimate.interval.upper + hidden
            assert found.interval.upper == pytest.approx(upper, abs=close), name
    bins = wide(7)
    for mine, theirs in zip(
        (*ks_and_kuiper(table), hosmer_lemeshow(table, bins=bins), u_test(table)),
        (*ks_and_kuiper(grid_of(table)), hosmer_lemeshow(grid_of(table), bins=bins), u_test(grid_of(table))),
        strict=True,
    ):
        # The path is read at the ends of cells.
        assert theirs.statistic == pytest.approx(mine.statistic, abs=2e-3)


HALF = [(0.5, bool(k % 2)) for k in range(30)]
EDGES: dict[str, Table] = {
    "one row": table_of([(0.3, True)]),
    "zeros": table_of([(k / 40, False) for k in range(40)]),
    "ones": table_of([(k / 40, True) for k in range(1, 41)]),
    "certain": table_of([(0.0, False), (0.0, False), (1.0, True)]),
    "wrong": table_of([(0.0, True), (1.0, False)]),
    "halves": table_of(HALF),
    "beside": table_of([(1e-9, True), (1 - 1e-9, True)]),
    "next to nothing": table_of([(5e-324, True), (5e-324, False), (0.0, False)]),
    "weighted": table_of([(0.2, False), (0.4, True), (0.9, True)], [1.0, 2.5, 0.5]),
    "grid": grid_of(table_of([(k / 40, False) for k in range(40)])),
}
# Those in the unit interval whatever the rows.
ERRORS = tuple(
    name
    for name in MeasureName
    if name.facts.home and name.facts.home.name in {"BINNED", "SMOOTH_ECE", "DISTANCE", "SMOOTH"}
)


@pytest.mark.parametrize("name", EDGES)
def test_any_measure_is_a_number_or_says_why_not(name: str) -> None:
    """NaN, infinity and no interval come with a sentence; errors lie in [0, 1]; references are finite."""
    table = EDGES[name]
    mass = bins_of(Binning.EQUAL_MASS, 15, table=table)
    one, two = (np.random.default_rng(seed) for seed in (0, 1))
    calibrated = None
    if not table.weighted:
        calibrated = CalibratedDraws(
            table, partitions=[TEN, mass], generator=one, smece_generator=two, draws=29
        )
    shared = Settings(binned(table, TEN), binned(table, mass), 0.95, calibrated)
    for measure in MeasureName:
        estimate = measure_named(measure, table, settings=shared)
        assert (estimate.name, estimate.rows) == (measure, table.total_rows)
        assert estimate.assumptions
        explained = any(text.startswith(("no interval", "undefined")) for text in estimate.assumptions)
        assert math.isfinite(estimate.value) or explained or len(estimate.assumptions) > 2, measure
        assert estimate.interval is not None or explained, measure
        if measure in ERRORS:
            assert 0.0 <= estimate.value <= 1.0 + 1e-12, measure
        if estimate.interval is not None and math.isfinite(estimate.value):
            lower, upper = estimate.interval.lower, estimate.interval.upper
            assert (lower, upper) != (None, None)
            assert lower is None or lower <= estimate.value + 1e-9, measure
            assert upper is None or upper >= estimate.value - 1e-9, measure
        assert estimate.null is None or math.isfinite(estimate.null), measure


@pytest.mark.parametrize(("score", "label"), [(0.0, 0), (0.0, 1), (0.3, 1), (0.5, 0), (1.0, 0)])
def test_one_score_has_its_residual_as_every_error(score: float, label: int) -> None:
    """With one row, or three alike, every measure of gaps is |label - score|."""
    for rows in (1, 3):
        found = values(ScoreTable(np.array([score]), [rows], [rows * label]))
        for name in set(ERRORS) - {M.DCE, M.SMECE_LOGIT, M.SMECE_PROBIT}:
            side = name in (M.OVERCONFIDENCE, M.UNDERCONFIDENCE)
            near = pytest.approx(abs(label - score), abs=1e-5)
            assert found[name] == near or (side and found[name] == 0.0), name
        assert found[M.BIAS] == pytest.approx(label - score)
        assert math.isnan(found[M.L2]) == (rows == 1)
        assert found[M.BRIER] == pytest.approx((label - score) ** 2)


def test_rates_that_equal_their_scores_have_no_error() -> None:
    """Where the rate at every score is the score, all errors but the binned distance are 0."""
    table = ScoreTable(np.array([0.0, 0.25, 0.5, 1.0]), np.array([3, 8, 4, 2]), np.array([0, 2, 2, 2]))
    for name, value in values(table).items():
        if name in ERRORS and name is not M.DCE:
            # A curve that labels part stops short of 0 and 1.
            within = 1e-7 if name in (M.ICI, M.E50, M.E90, M.EMAX) else 1e-12
            assert value == pytest.approx(0.0, abs=within), name


def test_intervals_say_what_they_speak_of() -> None:
    """Fixed-design for binned errors and bias, population for losses; finite-sample where it is proved."""
    found = estimates(scored_table(300))
    for name, target, finite in (
        (M.ECE, Target.FIXED_DESIGN, True),
        (M.L2, Target.FIXED_DESIGN, False),
        (M.SMECE, Target.MIXED, True),
        (M.BIAS, Target.FIXED_DESIGN, True),
        (M.BRIER, Target.POPULATION, False),
        (M.LOG_LOSS, Target.POPULATION, False),
        (M.DCE, Target.POPULATION, True),
    ):
        interval = found[name].interval
        assert interval is not None
        assert (interval.target, interval.finite_sample) == (target, finite), name
