"""Measures without bins: what holds between them on any rows, and what they say at the edges."""

import itertools
import math
from collections.abc import Callable
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.families import Home
from calibcli.names import Binning, MeasureName, Target
from calibcli.stats.measures import UNKNOWN, Estimate, measure_named
from calibcli.stats.measures import smooth as module
from calibcli.stats.measures.distance import LOWER_CELLS as DISTANCE_CELLS
from calibcli.stats.measures.distance import (
    SMOOTH_CELLS,
    cut_table,
    distance,
    largest_smooth_sum,
    lower_distance,
    number_of_bins,
    smooth_calibration_error,
)
from calibcli.stats.measures.if_calibrated import (
    Settings,
    Shared,
    _without_gaps,
    expected_norm,
    expected_smece,
    expected_smece_along,
)
from calibcli.stats.measures.smooth import calibration_index, energy, many_fits, weighted_quantile
from calibcli.stats.measures.smooth_ece import (
    logit_axis,
    noise_of_norm,
    probit_axis,
    reflected_gaussian,
    smooth_ece,
    smooth_ece_along,
    smooth_ece_on,
    smooth_error_at,
)
from calibcli.stats.table import Floats, ScoreTable, Weighing
from calibcli.stats.table.bins import Bins, binned, equal_width_edges
from calibcli.stats.table.grid import CELLS as GRID
from calibcli.stats.table.grid import Table, grid_of, residuals
from calibcli.stats.table.kernel import LEAST_BANDWIDTH, cosine_series, in_cells
from calibcli.stats.table.sliced import RunningSlices
from score_rows import PAIRS, table_of, uniform

M = MeasureName
NAMES = tuple(one for one in MeasureName if one.facts.home in (Home.SMOOTH_ECE, Home.DISTANCE, Home.SMOOTH))
FEW = settings(max_examples=4)
# Steps of 1/400 between the places that moves end on.
GRID_OF_MOVES = 0.5 / 400**2


def settings_of(table: Table) -> Settings:
    """Return the usual ones, which share what several measures are made of."""
    bins = binned(table, Bins(Binning.EQUAL_WIDTH, equal_width_edges(15)))
    return Settings(bins=bins, equal_mass=bins, confidence=0.95, calibrated=None)


def measured(name: MeasureName, table: Table) -> Estimate:
    """Return a measure through the family's own door."""
    return measure_named(name, table, settings=settings_of(table))


@FEW
@given(rows=PAIRS, times=st.integers(1, 4))
def test_whole_weights_give_the_value_of_repeated_rows(rows: list[tuple[float, bool]], times: int) -> None:
    """Invariant 5: importance weights that are whole numbers give the plug-in value of as many rows."""
    counts = np.arange(len(rows)) % times + 1
    repeated = table_of([row for row, count in zip(rows, counts, strict=True) for _ in range(count)])
    both = [(one, settings_of(one)) for one in (table_of(rows, weight=counts.astype(float)), repeated)]
    for name in NAMES:
        # The number of bins of this one is fixed by the number of rows.
        if name is not M.DCE:
            weighted, plain = (measure_named(name, one, settings=shared).value for one, shared in both)
            assert weighted == pytest.approx(plain, abs=1e-9)


def test_many_fits_are_each_the_curve_of_most_likelihood() -> None:
    """As scipy finds it one by one, from any curve; where labels are parted the loss goes to 0."""
    rng = np.random.default_rng(3)
    z = np.sort(rng.normal(0.0, 3.0, 40))
    features, weight = np.vstack((np.ones(40), z, z**2 / 10.0)), rng.integers(1, 20, 40).astype(float)
    start = np.array([0.3, 1.5, -0.2]) @ features
    target = rng.binomial(weight.astype(int), 1.0 / (1.0 + np.exp(-z)), (6, 40)) / weight

    def loss(odds: np.ndarray, labels: np.ndarray) -> float:
        return float((np.logaddexp(0.0, odds) - labels * odds) @ weight)

    for odds, labels in zip(many_fits(features, target, weight, start=start), target, strict=True):
        one = scipy.optimize.minimize(
            lambda at, labels=labels: loss(at @ features, labels), np.zeros(3), tol=1e-12
        )
        assert loss(odds, labels) == pytest.approx(one.fun, abs=1e-4)
        np.testing.assert_allclose(odds, one.x @ features, atol=5e-3)
    parted = (z > 0.2).astype(float)
    (odds,) = many_fits(features, parted[None], weight, start=start)
    assert loss(odds, parted) < 1e-4


def test_where_a_curve_parts_labels_no_quantile_is_held_against_chance() -> None:
    """A median gap of 1e-7 is how far the curve was followed: chance was left behind by ten of 40 tables."""
    score = np.geomspace(1e-12, 0.5, 100)
    table = ScoreTable.from_rows(score, np.isin(np.arange(100), (90, 95, 97)))
    shared, names = Shared(), (M.ICI, M.E50, M.E90, M.EMAX)
    found = [calibration_index(table, name=one, shared=shared) for one in names]
    assert all(any("parts the labels" in text for text in one.assumptions) for one in found)
    assert [one.null_range is None for one in found] == [False, True, True, False]


def test_where_no_curve_is_the_best_the_missing_interval_has_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Scores of 1e-300 beside others can leave every start of the fit without a solution."""
    monkeypatch.setattr("calibcli.stats.measures.smooth.nearest_fit", lambda *_, **__: None)
    table = table_of([(place / 41, place % 3 == 0) for place in range(1, 41)])
    for name in (M.ICI, M.E50, M.E90, M.EMAX):
        found = measured(name, table)
        assert math.isnan(found.value)
        assert found.interval is None
        assert any(text.startswith("no interval: undefined") for text in found.assumptions)


@pytest.mark.parametrize("name", NAMES)
def test_importance_weights_leave_only_hoeffding(name: MeasureName) -> None:
    """Distances and smece have an interval, for these scores, wider than with as many equal rows."""
    rng = np.random.default_rng(1)
    score, label = rng.random(500), rng.random(500) < 0.5
    weighted = ScoreTable.from_rows(score, label, Weighing(weight=rng.exponential(size=500)))
    estimate = measured(name, weighted)
    if name in {M.DCE, M.DCE_LOWER, M.SMECE, M.SMECE_LOGIT, M.SMECE_PROBIT}:
        assert estimate.interval.target is Target.FIXED_DESIGN
        assert estimate.interval.lower <= estimate.value <= estimate.interval.upper
        equal = measured(name, ScoreTable.from_rows(score, label, Weighing(weight=np.ones(500)))).interval
        width = estimate.interval.upper - estimate.interval.lower
        assert width > 0.9 * (equal.upper - equal.lower)
    else:
        assert estimate.interval is None


def test_intervals_of_distances_speak_of_the_population() -> None:
    """Both ends hold for the same target, and the lower distance has the bounds of the upper one."""
    table = uniform(2000, 1.5)
    one, other = distance(table).interval, lower_distance(table).interval
    assert one == other
    assert one.target is Target.POPULATION
    assert 0.05 < one.lower < 0.1 < one.upper < 0.2


@pytest.mark.parametrize(
    ("rows", "bins"), [(1, 2), (200, 8), (1000, 13), (1001, 14), (10_000, 30), (10**7, 286)]
)
def test_number_of_bins_is_the_next_divisor(rows: int, bins: int) -> None:
    """The smallest divisor of 720,720 that is at least 1.3 n^(1/3)."""
    assert number_of_bins(rows) == bins
    assert GRID % bins == 0
    assert bins >= 1.3 * rows ** (1 / 3) - 1e-9
    assert all(GRID % k for k in range(math.ceil(1.3 * rows ** (1 / 3) - 1e-9), bins))


@pytest.mark.parametrize("name", [MeasureName.SMECE_LOGIT, MeasureName.SMECE_PROBIT])
def test_scores_beyond_the_limit_are_counted(name: MeasureName) -> None:
    """The number of rows taken to be at the limit is in the details and in a sentence."""
    table = ScoreTable.from_rows(np.array([0.0, 1e-5, 0.2, 0.4]), np.array([False, False, True, False]))
    measure = partial(smooth_ece_on, name)
    estimate = measure(table)
    assert estimate.details["limited_rows"] == 2
    assert any("2 rows lie within 0.0001 of 0 or 1" in one for one in estimate.assumptions)
    one = measure(ScoreTable.from_rows(np.array([1e-5, 0.2]), np.array([False, True])))
    assert any("1 row lies within 0.0001 of 0 or 1" in sentence for sentence in one.assumptions)
    inner = measure(ScoreTable.from_rows(np.array([0.2, 0.4]), np.array([False, True])))
    assert inner.details["limited_rows"] == 0
    assert not any("within" in sentence for sentence in inner.assumptions)


def test_scales_have_the_unit_of_the_score_in_the_middle() -> None:
    """Near 1/2 a step of the score is a step of the same length on either scale."""
    table = ScoreTable.from_rows(np.array([0.49999, 0.50001]), np.array([True, False]))
    for axis in (logit_axis(table), probit_axis(table)):
        assert float(np.diff(axis.places)[0]) * axis.length == pytest.approx(2e-5, rel=1e-6)


def along_logits(score: Floats, rng: np.random.Generator) -> float:
    """Return the value of labels drawn from the scores."""
    drawn = ScoreTable.from_rows(score, rng.random(score.size) < score)
    axis, name = logit_axis(drawn), MeasureName.SMECE_LOGIT
    return smooth_ece_along(drawn, axis, name=name, confidence=None, null=UNKNOWN).value


@pytest.mark.parametrize("many", [0.0, math.inf])
def test_reference_on_a_scale_is_what_calibrated_labels_give(
    many: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The formula for many rows, and draws, are within 5 % of the mean over labels drawn from the scores."""
    monkeypatch.setattr("calibcli.stats.measures.if_calibrated._MANY_APART", many)
    rng = np.random.default_rng(3)
    score = rng.random(2000) ** 1.3
    values = [along_logits(score, rng) for _ in range(12)]
    table = ScoreTable.from_rows(score, np.zeros(2000, bool))
    axis = logit_axis(table)
    mean, (low, high) = expected_smece_along(table, axis.places, length=axis.length)
    assert mean == pytest.approx(np.mean(values), rel=0.05)
    # Of 12 values 6 or more lie inside but with probability 1e-5.
    assert sum(low <= value <= high for value in values) >= 6


def test_reference_on_a_scale_of_certain_and_of_weighted_scores() -> None:
    """Certain scores: 0. With weights none is known."""
    certain = ScoreTable.from_rows(np.array([0.0, 1.0]), np.array([False, True]))
    assert smooth_ece_on(MeasureName.SMECE_LOGIT, certain).null == 0.0
    weighted = ScoreTable.from_rows(
        np.array([0.2, 0.7]), np.array([False, True]), Weighing(weight=np.ones(2))
    )
    assert smooth_ece_on(MeasureName.SMECE_LOGIT, weighted).null is None


def test_reference_on_a_scale_is_drawn_with_the_seed() -> None:
    """Another seed, other draws."""
    score = np.random.default_rng(0).beta(1.0, 50.0, 300)
    table = ScoreTable.from_rows(score, np.zeros(score.size, bool))
    one, same, other = (smooth_ece_on(M.SMECE_PROBIT, table, seed=seed).null_range for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.untraced
@pytest.mark.parametrize("shape", ["low", "atoms"])
def test_references_of_distance_and_mmce_are_what_calibrated_labels_give(shape: str) -> None:
    """The mean over labels drawn from the scores, within four standard errors and 2 %."""
    rng = np.random.default_rng(9)
    score = 0.05 * rng.random(600) if shape == "low" else rng.integers(0, 5, 600) / 4
    tables = [ScoreTable.from_rows(score, rng.random(600) < score) for _ in range(40)]
    far = np.array([distance(table).value for table in tables])
    assert distance(tables[0]).null == pytest.approx(far.mean(), rel=0.02, abs=4 * far.std() / math.sqrt(40))
    squares = np.array([measured(M.MMCE, table).value ** 2 for table in tables])
    null = measured(M.MMCE, tables[0]).null
    assert null**2 == pytest.approx(squares.mean(), abs=4 * squares.std() / math.sqrt(40))


def test_many_scores_are_gathered_and_it_is_said() -> None:
    """Past the limit both programmes work on cells, close to the exact sum, and say how far off that is."""
    table = uniform(SMOOTH_CELLS + 5000, 1.2, seed=2)
    smooth, far = smooth_calibration_error(table), lower_distance(table)
    exact = largest_smooth_sum(table.score, residuals(table) / table.total_rows)
    assert 0.0 < float(smooth.details["rounding"]) < 8e-6
    assert abs(smooth.value - exact) <= float(smooth.details["rounding"])
    assert any("32,760 cells" in one for one in smooth.assumptions)
    assert far.details["places"] == DISTANCE_CELLS
    assert 0.0 < float(far.details["rounding"]) <= 0.5 / DISTANCE_CELLS
    assert any("1,008 cells" in one for one in far.assumptions)
    assert smooth.value / 2 <= far.value + 5e-4


@pytest.mark.parametrize(
    ("score", "rows", "positive"),
    [
        ([0.022375413107107445, 0.3994927855175592, 0.8682551861790878], [3_114_014, 4, 179], [1, 1, 1]),
        (
            [0.17969040109038525, 0.2448220828, 0.5809064359670586, 0.7600684212, 0.8322220375],
            [5_249_429, 6, 145, 37, 30],
            [0, 6, 1, 26, 5],
        ),
    ],
)
def test_lower_distance_of_a_few_rows_among_millions_is_found(
    score: list[float], rows: list[int], positive: list[int]
) -> None:
    """Where one way of solving its programme gives up another goes on; the value lies where smCE says."""
    table = ScoreTable(np.array(score), np.array(rows), np.array(positive))
    found, smooth = lower_distance(table), smooth_calibration_error(table).value
    assert smooth / 2.0 <= found.value <= 2.0 * smooth
    assert found.interval is not None
    assert found.interval.ends[0] <= found.value <= found.interval.ends[1]


def test_gathered_places_move_the_lower_distance_by_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer cells than scores the value stays within the bound of the value at all scores."""
    table = uniform(700, 1.4)
    exact = lower_distance(table)
    monkeypatch.setattr("calibcli.stats.measures.distance.LOWER_CELLS", 40)
    coarse = lower_distance(table)
    assert coarse.details["places"] == 40
    assert abs(coarse.value - exact.value) <= float(coarse.details["rounding"]) + GRID_OF_MOVES


def test_unsolved_programme_is_undefined_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that gives up leaves NaN with a sentence, and the bounds, which do not need it."""
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: SimpleNamespace(status=4, fun=None))
    estimate = lower_distance(uniform(50))
    assert math.isnan(estimate.value)
    assert any(one.startswith("undefined: ") for one in estimate.assumptions)
    assert estimate.interval is not None


@pytest.mark.parametrize("slope", [0.94, -0.94, 0.3, 0.0])
@pytest.mark.parametrize("kind", ["exact", "grid"])
def test_products_from_moments_are_those_of_rows_one_by_one(slope: float, kind: str) -> None:
    """Every value bet on, at the steepest bet too, sums over each bin to what a loop gives."""
    rng = np.random.default_rng(0)
    score = np.concatenate((rng.random(4000), [0.0] * 30, [1.0] * 20, np.arange(21) / 20))
    table = ScoreTable.from_rows(score, rng.random(score.size) < 0.4)
    table = table if kind == "exact" else grid_of(table)
    cut = cut_table(table, bins=20, delta=1e-6)
    assert (cut.bins, len(cut.pieces.moments) > 3) == (20, True)
    f = np.stack((table.score_of_positive, table.score_of_negative))
    y = np.array([[1.0], [0.0]])
    index = np.where(table.upper == 0.0, 0, np.where(table.upper == 1.0, 21, np.ceil(20 * table.upper)))
    middle = np.where(index == 0, 0.0, np.where(index == 21, 1.0, (index - 0.5) / 20))
    counts = np.stack((table.positive, table.weight - table.positive))
    for values, expected in (
        (cut.moved, np.abs(f - middle)),
        (cut.residual, y - f),
        (cut.tilted, (y - f) * (2.0 * f - 1.0)),
        (cut.gap, np.broadcast_to(y - middle, f.shape)),
    ):
        logs = cut.pieces.log_products(np.array([slope]), values)[0]
        terms = (counts * np.log1p(slope * expected)).sum(axis=0)
        found = np.add.reduceat(logs, cut.starts[:-1])
        np.testing.assert_allclose(found, np.bincount(index.astype(int), terms), rtol=1e-12, atol=1e-12)
        sums = np.bincount(index.astype(int), (counts * expected).sum(axis=0))
        np.testing.assert_allclose(cut.of_bins(values), sums, rtol=1e-12, atol=1e-12)


def test_a_score_on_an_edge_of_finer_bins_is_in_the_one_below() -> None:
    """As of all bins, and of those that labels are drawn over; and the number next to it in the one above."""
    thousandths = np.arange(1, 1000)
    exact = ScoreTable.from_rows(thousandths / 1000, thousandths % 3 == 0)
    finer = cut_table(exact, bins=14, delta=0.05).finer
    expected = [(-(-280 * k // 1000) - 0.5) / 280 for k in thousandths.tolist()]
    np.testing.assert_allclose(finer.middle, expected, rtol=1e-15)
    beside = ScoreTable.from_rows(np.array([0.3, 0.1 + 0.2]), np.array([True, False]))
    assert cut_table(beside, bins=14, delta=0.05).finer.middle.tolist() == [83.5 / 280, 84.5 / 280]


@pytest.mark.parametrize("kind", ["exact", "grid", "weighted"])
@pytest.mark.parametrize(("rows", "confidence"), [(1100, 0.9), (1100, 0.9999), (30_000, 0.95)])
def test_gathered_rows_give_the_bounds_of_rows_as_they_are(
    kind: str, rows: int, confidence: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Value and reference to rounding; the ends to what they are searched to, for rows piled up at 0 too."""
    rng = np.random.default_rng(rows)
    score = np.concatenate((rng.beta(0.3, 2.0, rows), np.zeros(rows // 10), np.ones(5)))
    weight = rng.exponential(size=score.size) if kind == "weighted" else None
    table: Table = ScoreTable.from_rows(score, rng.random(score.size) < 0.8 * score, Weighing(weight=weight))
    table = grid_of(table) if kind == "grid" else table
    quick = distance(table, confidence=confidence)
    monkeypatch.setattr("calibcli.stats.measures.distance._AS_THEY_ARE", table.distinct)
    monkeypatch.setattr("calibcli.stats.measures.distance.CutTable.each", None)
    slow = distance(table, confidence=confidence)
    assert quick.value == pytest.approx(slow.value, rel=1e-12)
    assert (quick.null is None) == (slow.null is None) == (kind == "weighted")
    if quick.null is not None:
        assert quick.null == pytest.approx(slow.null, rel=1e-12)
    assert quick.interval.upper == pytest.approx(slow.interval.upper, abs=2e-9)
    assert quick.interval.lower == pytest.approx(slow.interval.lower, abs=2e-9)


def test_few_scores_move_to_their_rates_and_no_farther() -> None:
    """Scores that are few are no midpoints; of many, those of 0 and 1 are bins of their own."""
    counts, ones = np.array([600, 200, 200]), np.array([18, 100, 196])
    few = distance(ScoreTable(np.array([0.0, 0.45, 1.0]), counts, ones))
    assert few.details["bins"] == 13
    assert few.value == pytest.approx(0.6 * 0.03 + 0.2 * 0.05 + 0.2 * 0.02, abs=1e-12)
    beside = distance(ScoreTable(np.array([1e-9, 0.45, 1.0 - 1e-9]), counts, ones))
    assert beside.value == pytest.approx(few.value, abs=1e-8)
    # Of 3,000 others a half is wrong in every bin, and those of 0 and 1 stay where they are.
    spread = (np.arange(3000) + 0.5) / 3000
    table = ScoreTable(
        np.concatenate(([0.0], spread, [1.0])),
        np.concatenate(([3000], np.ones(3000, int), [3000])),
        np.concatenate(([0], np.arange(3000) % 2, [3000])),
    )
    assert distance(table).value == pytest.approx(0.25 / 3, abs=0.001)


def test_bounds_of_scores_piled_up_at_the_ends_cover() -> None:
    """Of 40 intervals at 90 %, no more miss |E r| or the mean gap by bins than chance explains."""
    rng = np.random.default_rng(12)
    missed = 0
    for _ in range(40):
        kind = rng.random(400)
        score = np.where(kind < 0.6, 0.0, np.where(kind < 0.8, 1.0, rng.random(400)))
        rate = np.where(kind < 0.6, 0.03, np.where(kind < 0.8, 0.98, score))
        interval = distance(ScoreTable.from_rows(score, rng.random(400) < rate), confidence=0.9).interval
        missed += interval.lower > 0.6 * 0.03 - 0.2 * 0.02 or interval.upper < 0.6 * 0.03 + 0.2 * 0.02
    assert missed <= 12


def test_noise_of_narrow_kernels_joins_that_of_wide_ones() -> None:
    """Where the way of computing changes, the noise term does not jump by more than its safety margin."""
    table = uniform(3000)
    below, above = noise_of_norm(table, 0.003999), noise_of_norm(table, 0.004)
    assert below == pytest.approx(above, rel=2e-3)


@pytest.mark.parametrize("bandwidth", [0.004, 0.02, 0.05, 0.2])
def test_noise_is_summed_where_the_kernel_is_not_0(bandwidth: float) -> None:
    """Within nine bandwidths, or over all of [0, 1]: the same, with scores at both ends."""
    rng = np.random.default_rng(5)
    table = ScoreTable.from_rows(
        np.concatenate(([0.0, 1.0, 1e-9, 0.999], rng.beta(0.3, 0.9, 400))), rng.random(404) < 0.4
    )
    cells, steps = math.ceil(8.0 / bandwidth), math.ceil(4.0 / bandwidth)
    rows = in_cells(table.score, table.weight, cells)
    points = (np.arange(steps) + 0.5) / steps
    kernel = reflected_gaussian((np.arange(cells) + 0.5) / cells, points, bandwidth=bandwidth)
    whole = 1.01 * float(np.sqrt(rows @ kernel**2).mean()) / (2.0 * table.total_rows)
    assert noise_of_norm(table, bandwidth) == pytest.approx(whole, rel=1e-13)


def test_weighted_quantile_is_the_inverse_of_the_distribution() -> None:
    """The least value that the share of the weight does not exceed, whatever the order."""
    value, weight = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])
    assert weighted_quantile(value, weight, share=0.25) == 1.0
    assert weighted_quantile(value, weight, share=0.5) == 2.0
    assert weighted_quantile(value, weight, share=0.9) == 3.0


def test_energy_is_that_of_a_kernel() -> None:
    """Never negative beyond rounding, quadratic in the masses, and the square of the mass at one place."""
    rng = np.random.default_rng(0)
    score, mass = np.sort(rng.random(50)), rng.normal(size=50)
    assert energy(score, mass) > 0.0
    assert energy(score, 3.0 * mass) == pytest.approx(9.0 * energy(score, mass))
    assert energy(np.array([0.4]), np.array([-2.0])) == 4.0


def test_bandwidths_below_the_resolution_are_said() -> None:
    """Where the solution lies below what the cells resolve, the norm there is shown, which is below it."""
    table = ScoreTable(np.array([0.5]), np.array([10_000_000]), np.array([5_001_000]))
    estimate = smooth_ece_on(MeasureName.SMECE_LOGIT, table)
    assert estimate.value == pytest.approx(1e-4, abs=1e-9)
    assert any(one.startswith("bandwidths below 0.00079 are not resolved") for one in estimate.assumptions)


def test_reference_of_distance_survives_scores_next_to_certain() -> None:
    """Deviations too small to divide by leave the gap itself."""
    label = np.array([False, False, True])
    tiny, small = (
        ScoreTable.from_rows(np.array([*near, 0.3]), label) for near in ((1e-310, 1e-200), (1e-13, 1e-12))
    )
    assert distance(tiny).null == pytest.approx(distance(small).null, abs=1e-5)


def test_shared_curves_are_made_once_for_a_table_and_anew_for_another() -> None:
    """The four of one curve, and the parts of one fit, are what each is alone."""
    one, other = uniform(60), uniform(90, 1.5)
    shared = settings_of(one)
    names = (M.ICI, M.EMAX, M.BRIER_MCB, M.BRIER_DSC, M.LOG_LOSS_MCB)
    alone = [{name: measured(name, table).value for name in names} for table in (one, other)]
    for table, expected in zip((one, other, one), (*alone, alone[0]), strict=True):
        assert expected == {name: measure_named(name, table, settings=shared).value for name in names}
    calls: list[int] = []
    made = [shared.shared.once("a number", one, lambda: calls.append(0) or len(calls)) for _ in range(3)]
    assert made == [1, 1, 1]


def test_one_score_has_the_mean_distance_of_a_binomial() -> None:
    """Smoothing does not change the norm of a single residual; a draw's standard error is 4 %."""
    rows, middle = 16, 8
    exact = sum(math.comb(rows, k) * abs(k - middle) for k in range(rows + 1)) / 2**rows / rows
    table = ScoreTable(np.array([0.5]), np.array([rows]), np.array([0]))
    found = [expected_smece(table, generator=np.random.default_rng(seed))[0] for seed in range(20)]
    error = np.array(found) / exact - 1
    assert abs(error.mean()) < 0.025
    assert np.sqrt(np.mean(error**2)) < 0.055


@given(
    score=st.lists(
        st.one_of(st.floats(0.0, 1.0), st.floats(0.0, 1e-3)), min_size=1, max_size=30, unique=True
    ),
    bandwidth=st.floats(2e-3, 0.3),
    seed=st.integers(0, 99),
)
def test_gaps_between_scores_may_be_cut_out(score: list[float], bandwidth: float, seed: int) -> None:
    """Smoothed residuals have the same norm on what is left, but for tails beyond four bandwidths."""
    places, mass = np.sort(score), np.random.default_rng(seed).standard_normal(len(score))
    short, length = _without_gaps(places, 16.0 * bandwidth)
    assert length <= 1.0 + 1e-12
    whole = float(cosine_series(places, mass).l1_norm(bandwidth))
    cut = float(cosine_series(short / length, mass).l1_norm(bandwidth / length))
    assert cut == pytest.approx(whole, abs=2e-3 * float(np.abs(mass).sum()))


RARE = {
    "a few rows": np.linspace(0.05, 0.9, 20) ** 2,
    "rare events": np.random.default_rng(1).beta(0.4, 400.0, 300),
    "sure scores": np.concatenate((np.linspace(1e-3, 2e-3, 150), 1.0 - np.linspace(1e-3, 2e-3, 150))),
    "both": np.concatenate((np.full(500, 4e-4), np.linspace(0.1, 0.9, 9))),
}


@pytest.mark.parametrize("name", RARE)
def test_reference_of_few_events_is_that_of_labels_smoothed_one_by_one(name: str) -> None:
    """Of 100 other draws, without cells, gaps or steps: as near as the noise of both leaves it."""
    score, rng = np.sort(RARE[name]), np.random.default_rng(8)
    labels = rng.random((100, score.size)) < score
    series = cosine_series(score, (labels - score) / score.size)

    @cache
    def norms_at(bandwidth: float) -> np.ndarray:
        return series.l1_norm(bandwidth, oversampling=4)

    def of(size: Callable[[np.ndarray], float]) -> float:
        low, high = LEAST_BANDWIDTH, 0.5
        for _ in range(8):
            middle = math.sqrt(low * high)
            above = size(norms_at(middle)) > middle
            low, high = (middle, high) if above else (low, middle)
        return math.sqrt(low * high)

    table = ScoreTable.from_rows(score, np.zeros(score.size, bool))
    mean, ends = expected_smece(table, generator=np.random.default_rng(3))
    assert mean == pytest.approx(of(lambda norms: float(norms.mean())), rel=0.1)
    assert ends is not None
    assert ends[0] == pytest.approx(of(lambda norms: float(np.quantile(norms, 0.05))), rel=0.2)
    assert ends[1] == pytest.approx(of(lambda norms: float(np.quantile(norms, 0.95))), rel=0.25)


def test_reference_is_drawn_where_events_or_rows_without_one_are_rare() -> None:
    """At 0, at 1, and at both ends, whose skewness adds up to none; even scores have the formula."""
    low = np.random.default_rng(5).beta(1.0, 60.0, 2_000)
    scores = low, 1.0 - low, np.concatenate((low, 1.0 - low)), np.linspace(0.01, 0.99, 200)
    drawn = []
    for score in scores:
        table = ScoreTable.from_rows(score, np.zeros(score.size, bool))
        one, other = (expected_smece(table, generator=np.random.default_rng(seed)) for seed in (1, 2))
        drawn.append(one != other)
    assert drawn == [True, True, True, False]


def test_draws_and_formula_agree_where_they_meet() -> None:
    """Within their 2 and 3 %, for rare events at a narrow bandwidth: of 150 events and of 170."""
    score = np.linspace(1e-5, 4e-3, 1_000)
    below, above = (
        expected_smece(
            ScoreTable(score, np.full(1_000, rows), np.zeros(1_000, np.int64)),
            generator=np.random.default_rng(1),
        )[0]
        for rows in (75, 85)
    )
    # Both fall as (events)^(1/3) / rows^(2/3), that is as rows^(-1/3).
    assert abs(below / above * (75 / 85) ** (1 / 3) - 1) < 0.05


@pytest.mark.parametrize(
    ("score", "positive", "reason"),
    [
        ([0.3], 1, "every label is the same"),
        ([0.01] * 100, 0, "every label is the same"),
        ([0.3] * 100, 30, "every score is the same"),
        (np.linspace(0.01, 0.02, 100), 0, "every label is the same"),
        (np.linspace(0.1, 0.9, 2), 1, "fewer than 30 rows"),
        (np.linspace(0.1, 0.9, 29), 14, "fewer than 30 rows"),
        (np.linspace(0.1, 0.9, 100), 4, "fewer than 5 rows of one label"),
        (np.linspace(0.1, 0.9, 100), 96, "fewer than 5 rows of one label"),
        (np.linspace(0.1, 0.9, 30), 5, None),
    ],
)
def test_too_few_rows_leave_a_curve_without_an_interval(
    score: list[float], positive: int, reason: str | None
) -> None:
    """All four indices say why, and none of them has an interval from nothing."""
    table = ScoreTable.from_rows(np.asarray(score), np.arange(len(score)) * 7 % len(score) < positive)
    shared = Shared()
    for name in (M.ICI, M.E50, M.E90, M.EMAX):
        found = calibration_index(table, name=name, shared=shared)
        said = [one for one in found.assumptions if one.startswith("no interval")]
        assert said == ([] if reason is None else [f"no interval: {reason}"])
        assert (found.interval is None) == (reason is not None)


def test_the_largest_gap_is_that_of_these_scores() -> None:
    """However far out scores of the population lie; means and quantiles are the population's."""
    rng = np.random.default_rng(18)
    score = rng.random(300)
    table = ScoreTable.from_rows(score, rng.random(300) < 1.0 - score)
    shared = Shared()
    largest = calibration_index(table, name=M.EMAX, shared=shared).interval
    assert largest is not None
    assert largest.target is Target.FIXED_DESIGN
    # The curve of the population is 1 - f: 1 is its largest gap, at scores of 0 and 1.
    assert largest.ends[0] <= np.abs(1.0 - 2.0 * score).max() <= largest.ends[1] < 1.0
    for name in (M.ICI, M.E50, M.E90):
        interval = calibration_index(table, name=name, shared=shared).interval
        assert interval is not None
        assert interval.target is Target.POPULATION


def test_cells_that_hide_how_far_rows_are_off_make_room_for_it() -> None:
    """Of 2 cells at a rate of 3e-4 the ICI is next to 0: its upper end was below what scores are off by."""
    score = np.linspace(2e-4, 4e-4, 500)
    slices = RunningSlices()
    slices.registry.places([("a",)])
    ones = np.random.default_rng(0).binomial(20_000, 3e-4, 500)
    slices.add_table(0, ScoreTable(score, np.full(500, 20_000), ones))
    slices.become_grid()
    found = calibration_index(slices.tables()[("a",)], name=MeasureName.ICI)
    assert any("both ends are farther out" in text for text in found.assumptions)
    assert found.interval is not None
    assert found.interval.upper is not None
    assert found.interval.upper > float(np.abs(score - 3e-4).mean())
    assert not any(
        "farther out" in text for text in calibration_index(uniform(1_000), name=MeasureName.ICI).assumptions
    )


def test_where_a_median_jumps_its_interval_holds_both_sizes_of_gaps() -> None:
    """The fitted curve overstates gaps of half of the scores; only estimates around it show the lesser."""
    away = np.exp(np.linspace(-11.0, -1.0, 12))
    score = np.sort(np.concatenate((away, 1.0 - away)))
    rate = np.where(score < 0.5, np.sqrt(score), 1.0 - np.sqrt(1.0 - score))
    rows = np.full(score.size, 10**9)
    truth = calibration_index(ScoreTable(score, rows, np.rint(rows * rate).astype(np.int64)), name=M.E50)
    rng = np.random.default_rng(4)
    few = rng.multinomial(1_000, np.full(score.size, 1.0 / score.size))
    found = calibration_index(ScoreTable(score, few, rng.binomial(few, rate)), name=M.E50)
    assert found.interval is not None
    assert found.value > 1.4 * truth.value
    # 0.058 by test inversion alone.
    assert found.interval.ends[0] < truth.value < found.interval.ends[1]


def test_an_interval_needs_as_many_draws_as_its_confidence() -> None:
    """An end that none of its draws lies beyond is wrong more often than once in as many as there are."""
    score = np.linspace(0.1, 0.9, 100)
    table = ScoreTable.from_rows(score, np.arange(100) * 7 % 100 < 100 * score)
    uppers = []
    for confidence in (0.95, 0.995, 0.999):
        interval = calibration_index(table, name=M.EMAX, confidence=confidence, seed=1).interval
        assert interval is not None
        uppers.append(interval.ends[1])
    assert uppers == sorted(uppers)
    assert uppers[1] < uppers[2]
    # One of 400 others passes the largest of 400 draws, two the next.
    way = module._Curve.of(table, draws=400, seed=1).way
    assert way is not None
    assert uppers[1] >= way.shown(M.EMAX, module._WAY.size)[0].max()
    found = calibration_index(table, name=M.EMAX, confidence=0.9991)
    assert found.interval is None
    assert "no interval: so high a confidence takes more than 2,000 draws" in found.assumptions


def test_tables_of_one_kind_share_no_draws() -> None:
    """Else what 400 draws leave to chance would be one and the same for all: too many would fail, or too few.

    The same rows have the same draws, in any order.
    """
    score, rng = np.repeat([0.1, 0.3, 0.6], 100), np.random.default_rng(3)
    label = rng.random(300) < score
    other = label.copy()
    other[0] = ~other[0]
    order = rng.permutation(300)
    drawn = []
    for rows in ((score, label), (score[order], label[order]), (score, other)):
        way = module._Curve.of(ScoreTable.from_rows(*rows), draws=400, seed=0).way
        assert way is not None
        drawn.append(np.sort(way.shown(M.EMAX, 0)[0])[-2])
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


@FEW
@given(rows=PAIRS, bandwidth=st.sampled_from([0.01, 0.05, 0.3]))
def test_norm_at_a_bandwidth_is_the_integral_over_rows(
    rows: list[tuple[float, bool]], bandwidth: float
) -> None:
    """By the Gaussian of each row and its images beyond both ends, on a fine grid of places."""
    table = table_of(rows)
    score, residual = (np.array(one) for one in zip(*((f, y - f) for f, y in rows), strict=True))
    places = (np.arange(20_000) + 0.5) / 20_000
    density = residual @ reflected_gaussian(score, places, bandwidth=bandwidth) / len(rows)
    found = smooth_error_at(table, bandwidth)
    assert found.value == pytest.approx(np.abs(density).mean(), abs=2e-4)
    if found.interval is not None:
        assert 0.0 <= found.interval.lower <= found.value <= found.interval.upper <= 1.0
        assert found.interval.target is Target.MIXED


@FEW
@given(rows=PAIRS)
def test_norm_falls_with_the_bandwidth_and_meets_smece_at_its_own(rows: list[tuple[float, bool]]) -> None:
    """At the fixpoint both are one number; a wider kernel never shows more."""
    table = table_of(rows)
    own = smooth_ece(table, confidence=None).value
    if own > 0.001:
        assert smooth_error_at(table, own, confidence=None).value == pytest.approx(own, abs=1e-6)
    values = [smooth_error_at(table, one, confidence=None).value for one in (0.01, 0.1, 0.5, 1.0)]
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(values))


@pytest.mark.parametrize(("bandwidth", "other"), [(0.003, 2.0), (0.05, 2.0), (0.05, 60.0), (1.0, 2.0)])
def test_by_chance_at_a_bandwidth_is_that_of_drawn_labels(bandwidth: float, other: float) -> None:
    """The mean and nine tenths of norms of such labels, also where kernels are wide or at an end."""
    rng = np.random.default_rng(4)
    score = rng.beta(1.0, other, 3_000)
    labels = [ScoreTable.from_rows(score, rng.random(3_000) < score) for _ in range(400)]
    drawn = np.array([smooth_error_at(one, bandwidth, confidence=None).value for one in labels])
    mean, within = expected_norm(ScoreTable.from_rows(score, score > 0.5), bandwidth)
    assert mean == pytest.approx(drawn.mean(), rel=0.06)
    assert within is not None
    for beyond in (drawn < within[0], drawn > within[1]):
        assert beyond.mean() == pytest.approx(0.05, abs=0.03)
