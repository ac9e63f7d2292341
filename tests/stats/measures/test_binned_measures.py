"""Measures over bins: what holds between them on any rows, at the edges, on grids, and for edges given."""

import math
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from calibcli.commands.bins import given_bins, may_cut_cells, parted
from calibcli.errors import UsageProblem
from calibcli.families import Home
from calibcli.names import Binning, MeasureName
from calibcli.options.measuring import MeasureOptions, edges_of
from calibcli.stats.bounds.means import empirical_bernstein
from calibcli.stats.bounds.proportion import (
    clopper_pearson,
    rate_bounds,
)
from calibcli.stats.measures import Estimate, measure_named
from calibcli.stats.measures.bias import least_by_mean
from calibcli.stats.measures.binned import (
    MOST_BINS,
    adaptive_error,
    binned_ece,
    lp_error,
    sweep_ece,
    worst_bin,
)
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Settings
from calibcli.stats.measures.l2 import debiased_l2
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, binned, bins_of
from calibcli.stats.table.grid import CELLS, Table, grid_of
from score_rows import PAIRS, Pairs, scored_table, table_of, wide

NAMES = tuple(one for one in MeasureName if one.facts.home in (Home.BINNED, Home.L2))
QUICK = settings(deadline=None, max_examples=40)


def settings_of(table: Table, *, bounds: bool = False, draws: int = 29, power: float = 3.0) -> Settings:
    """What a report of 8 bins would share."""
    sums, mass = binned(table, wide(8)), binned(table, bins_of(Binning.EQUAL_MASS, 8, table=table))
    calibrated = None if table.weighted else drawn(table, (sums, mass), draws=draws)
    return Settings(sums, mass, 0.95, calibrated, power=power, bounds=bounds)


def drawn(table: Table, partitions: tuple[object, ...], draws: int = 29) -> CalibratedDraws:
    """Calibrated labels with a fixed seed."""
    one, two = (np.random.default_rng(seed) for seed in (0, 1))
    with patch("calibcli.stats.measures.if_calibrated.expected_smece", return_value=(0.0, None)):
        return CalibratedDraws(table, partitions=partitions, generator=one, smece_generator=two, draws=draws)


def all_of(table: Table, **keywords: object) -> dict[MeasureName, Estimate]:
    """Every binned measure."""
    shared = settings_of(table, **keywords)
    return {name: measure_named(name, table, settings=shared) for name in NAMES}


@QUICK
@given(rows=PAIRS, count=st.integers(1, 20))
def test_lower_ends_know_the_mean_residual(rows: Pairs, count: int) -> None:
    """No lower end is below that of |bias| at its share, times what ACE gives its lightest bin."""
    table, bins = table_of(rows), wide(count)
    least = least_by_mean(table, delta=(1.0 if table.distinct == 1 else 0.75) * 0.025)
    sums = binned(table, bins)
    lightest = table.total_rows / (np.count_nonzero(sums.rows) * sums.rows.max())
    for found, factor in (
        (binned_ece(table, bins=bins), 1.0),
        (lp_error(table, bins=bins, power=3.0), 1.0),
        (adaptive_error(table, bins=bins), lightest),
    ):
        assert found.interval is not None
        assert min(factor * least, found.value) - 1e-12 <= found.interval.ends[0] <= found.value + 1e-12


def test_null_is_the_mean_over_calibrated_labels() -> None:
    """The value if calibrated is the mean of the measure over tables with labels drawn from the scores."""
    rng = np.random.default_rng(8)
    score = np.round(rng.random(400), 2)
    table = ScoreTable.from_rows(score, rng.random(400) < score)
    found = all_of(table, draws=200)
    values: dict[MeasureName, list[float]] = {name: [] for name in NAMES}
    for _ in range(40):
        copy = ScoreTable(table.score, table.rows, rng.binomial(table.rows, table.score))
        mass = binned(copy, bins_of(Binning.EQUAL_MASS, 8, table=copy))
        shared = Settings(binned(copy, wide(8)), mass, 0.95, None, power=3.0)
        for name in NAMES:
            if name not in (MeasureName.ECE_SWEEP, MeasureName.L2_PLUG_IN):
                values[name].append(measure_named(name, copy, settings=shared).value)
    for name, drawn_values in values.items():
        if drawn_values:
            error = 4.0 * np.std(drawn_values) * math.sqrt(1 / 40 + 1 / 200)
            assert found[name].null == pytest.approx(np.mean(drawn_values), abs=error), name
    assert found[MeasureName.ECE_SWEEP].null is None


def test_one_label_and_certain_scores_are_measured() -> None:
    """All labels 0, and certain scores that are right: values are known and bounds finite."""
    zeros = all_of(table_of([(k / 40, False) for k in range(40)]), bounds=True)
    assert zeros[MeasureName.ECE].value == pytest.approx(zeros[MeasureName.LP].value, abs=0.2)
    assert zeros[MeasureName.ECE_SWEEP].value == pytest.approx(19.5 / 40, abs=1e-12)
    right = all_of(table_of([(0.0, False), (0.0, False), (1.0, True), (1.0, True)]), bounds=True)
    for one in right.values():
        assert one.value == 0.0
        assert one.null in (None, 0.0)
        for key, value in one.details.items():
            assert isinstance(value, str) or math.isfinite(value), key


def test_null_is_left_out_where_bins_are_too_many() -> None:
    """Beyond 1,024 bins draws keep no gaps, and the worst bin has no null rather than a slow one."""
    table = scored_table(1500, seed=2)
    sums = binned(table, ATOMS)
    calibrated = drawn(table, (sums,), draws=3)
    assert calibrated.drawn.over(ATOMS).gaps is None
    assert worst_bin(table, bins=sums, calibrated=calibrated).null is None


def test_sweep_says_where_it_gave_up() -> None:
    """Labels in order but for one exchange deep inside a block: the sweep stops at its limit and says so."""
    rows = 40_000
    label = np.arange(rows) >= rows // 2
    label[rows // 2 - 1], label[rows // 2] = True, False
    # The two exchanged rows lie in one bin, or on either side of the cut, until bins hold one row each.
    label = np.concatenate((label, [True]))
    table = ScoreTable.from_rows(np.arange(rows + 1) / (rows + 1), label)
    found = sweep_ece(table)
    assert found.details["bins"] <= MOST_BINS
    said = any("stopped at 4,096 bins" in text for text in found.assumptions)
    assert said == (found.details["bins"] == MOST_BINS)


def test_worst_bin_is_named() -> None:
    """The details of linf hold edges and rows of its bin."""
    table = table_of([(0.05, False)] * 9 + [(0.95, False)] * 2 + [(0.55, True)])
    found = worst_bin(table, bins=wide(10))
    assert found.value == pytest.approx(0.95)
    assert (found.details["worst_from"], found.details["worst_to"]) == (0.9, 1.0)
    assert found.details["worst_rows"] == 2
    assert worst_bin(table, bins=ATOMS).details["worst_from"] == 0.95


@QUICK
@given(n=st.integers(1, 2000), share=st.floats(0, 1), delta=st.sampled_from([1e-6, 0.025, 0.25]))
def test_rate_bounds_enclose_the_rate_and_hardly_widen_clopper_pearson(
    n: int, share: float, delta: float
) -> None:
    """Bounds for unlike labels are those of Clopper and Pearson but at one label off the ends."""
    x, rows = np.array([float(round(share * n))]), np.array([float(n)])
    low, high = rate_bounds(x, rows, delta_each_side=delta)
    plain_low, plain_high = clopper_pearson(x, rows, delta_each_side=delta)
    assert low <= plain_low <= x / rows <= plain_high <= high
    if 2 <= x[0] <= n - 2:
        assert (low[0], high[0]) == (plain_low[0], plain_high[0])
    else:
        assert high[0] - plain_high[0] <= delta**2 / n + 1e-15
        assert plain_low[0] - low[0] <= delta**2 / n + 1e-15


def test_rate_bounds_hold_where_one_label_is_unsure() -> None:
    """All labels sure but one: there Clopper and Pearson would fail too often at n - 1."""
    n, delta = 5, 0.25
    high = rate_bounds(np.arange(n + 1.0), np.full(n + 1, float(n)), delta_each_side=delta)[1]
    for unsure in np.linspace(0.0, 1.0, 1001):
        mean = (n - 1 + unsure) / n
        chance = sum(p for x, p in ((n - 1, 1 - unsure), (n, unsure)) if high[x] < mean - 1e-15)
        assert chance <= delta + 1e-12


@QUICK
@given(size=st.floats(0, 1), more=st.floats(0, 1), rows=st.integers(2, 10_000), delta=st.floats(0.001, 0.25))
def test_empirical_bernstein_is_the_largest_of_every_smaller_mean(
    size: float, more: float, rows: int, delta: float
) -> None:
    """The bound is the largest of those of Maurer and Pontil at each sample mean up to the largest."""
    square = size**2 + more * (1.0 - size**2)
    term = math.log(2.0 / delta)
    mean = np.linspace(-size, size, 2_001)
    variance = np.maximum(square - mean**2, 0.0) * rows / (rows - 1)
    each = mean + np.sqrt(2 * variance * term / rows) + 14 * term / (3 * (rows - 1))
    bound = empirical_bernstein(size, square, rows=rows, delta=delta)
    assert min(1.0, each.max()) - 1e-9 <= bound <= min(1.0, each.max()) + 1e-4


def test_bounds_are_listed_only_when_asked() -> None:
    """Bounds are details only with the switch, and those for the population not over equal mass."""
    rng = np.random.default_rng(4)
    score = rng.integers(1, 8, 600) / 8
    table = ScoreTable.from_rows(score, rng.random(600) < score)
    plain, listed = all_of(table), all_of(table, bounds=True)
    assert not any(key.startswith(("upper", "lower", "sun")) for one in plain.values() for key in one.details)
    population = {"upper_theorem_12_4", "upper_empirical_bernstein", "upper_betting_any_time"}
    ece, mass = listed[MeasureName.ECE].details, listed[MeasureName.ECE_EQUAL_MASS].details
    assert population <= ece.keys()
    assert not population & mass.keys()
    assert ece["upper_d_star"] <= ece["upper_hoeffding"] <= ece["upper_theorem_12_4"]
    assert ece["lower_theorem_12_4"] <= ece["lower_mcdiarmid"]
    value = listed[MeasureName.ECE].value
    for key, bound in ece.items():
        if key.startswith("upper"):
            assert bound >= value, key
        if key.startswith("lower"):
            assert bound <= value, key
    assert listed[MeasureName.L2].details["sun"].startswith("0 or")
    assert "upper_chernoff" in listed[MeasureName.L2].details


def test_given_edges_are_a_partition() -> None:
    """Edges given by the user make those bins, and the numbers of the same bins by another name."""
    edges = edges_of("0, 0.25,0.5,0.75 ,1")
    bins = given_bins(edges)
    assert bins is not None
    assert bins.described == "4 given bins"
    assert given_bins(None) is None
    table = table_of([(k / 37, k % 3 == 0) for k in range(38)])
    assert binned_ece(table, bins=bins).value == binned_ece(table, bins=wide(4)).value
    assert may_cut_cells(None, None, (0.0, 1 / 17, 1.0))
    assert not may_cut_cells(None, None, (0.0, 0.1, 7 / CELLS, 1.0))


@pytest.mark.parametrize("text", ["0.5", "0,1,0.5", "0,0,1", "0.1,1", "0,0.9", "0,nan,1", "0;1", "", "0,inf"])
def test_edges_that_do_not_ascend_from_zero_to_one_are_refused(text: str) -> None:
    """Anything but numbers that ascend from 0 to 1 is a problem of usage."""
    with pytest.raises(UsageProblem, match="edges"):
        MeasureOptions(edges=edges_of(text))


def test_edges_stand_alone() -> None:
    """Edges beside a number of bins, or a way of binning, are refused; so are far too many."""
    for other in ({"bins": 3}, {"binning": Binning.ATOMS}):
        with pytest.raises(UsageProblem, match="--edges says how bins are cut"):
            MeasureOptions(edges=(0.0, 1.0), **other)
    with pytest.raises(UsageProblem, match="100,001 bins"):
        MeasureOptions(edges=tuple(np.linspace(0, 1, 100_002)))


def test_edges_that_cut_cells_of_a_grid_are_refused_without_the_rows() -> None:
    """A grid whose rows cannot be seen again takes edges at its cells only."""
    table = grid_of(table_of([(0.33333, True), (0.5, False)]))
    cut = given_bins((0.0, 0.3333301, 1.0))
    whole = given_bins((0.0, 0.25, 1.0))
    assert cut is not None
    assert whole is not None
    assert parted(table, whole, again=None) is table
    with pytest.raises(UsageProblem, match="2 given bins would cut the cells"):
        parted(table, cut, again=None)


@pytest.mark.parametrize("score", [0.0, 1e-300, 1e-9, 1.0 - 2.0**-53])
@pytest.mark.parametrize("rows", [2, 30, 1_000])
def test_sure_scores_that_were_right_may_be_wrong_once(score: float, rows: int) -> None:
    """An interval of the l2 error ends at the rate at which one sample in forty shows no error at all."""
    table = ScoreTable.from_rows(np.full(rows, score), np.full(rows, score > 0.5))
    shared = settings_of(table)
    for name, power in ((MeasureName.L2, 1), (MeasureName.BRIER_RELIABILITY_CORRECTED, 2)):
        interval = measure_named(name, table, settings=shared).interval
        assert interval is not None
        assert interval.ends[1] == pytest.approx((1.0 - 0.025 ** (1.0 / rows)) ** power, rel=1e-6)
        assert interval.finite_sample


@pytest.mark.parametrize("error", [lp_error, adaptive_error])
def test_one_bin_is_bounded_as_a_mean_and_many_rows_by_their_error(
    error: Callable[..., Estimate],
) -> None:
    """By Hoeffding's inequality at half of what the interval leaves; of a billion rows both ends meet."""
    one = error(ScoreTable(np.array([0.5]), np.array([400]), np.array([240])), bins=ATOMS)
    assert one.interval is not None
    assert one.interval.ends[1] == pytest.approx(0.1 + math.sqrt(math.log(40.0) / 800.0))
    rows, ones = np.array([10**9, 3 * 10**9]), np.array([250 * 10**6, 2_400 * 10**6])
    many = error(ScoreTable(np.array([0.25, 0.75]), rows, ones), bins=ATOMS)
    assert many.interval is not None
    assert many.interval.ends[0] <= many.value <= many.interval.ends[1]


def test_rows_that_may_hide_the_most_are_named() -> None:
    """Of several values whose labels are all alike those count that leave most open."""
    table = ScoreTable(np.array([1e-5, 2e-5, 3e-4]), np.array([30, 3, 990]), np.zeros(3, np.int64))
    words = "rough: 3 rows of one label may hide a larger error"
    assert words in debiased_l2(table, bins=ATOMS).assumptions


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_interval_of_one_value_is_wrong_no_more_often_than_it_says(confidence: float) -> None:
    """Every table of 20 and 50 rows counted: by T it missed in 9 % at 95 %, and in up to .95 % at 99.9 %."""
    for rows in (20, 50):
        ones = np.arange(rows + 1)
        for score in (0.001, 0.1, 0.5, 0.9999):
            tables = [
                ScoreTable(np.array([score]), np.array([rows]), np.array([one])) for one in ones.tolist()
            ]
            found = [debiased_l2(one, bins=binned(one, ATOMS), confidence=confidence) for one in tables]
            ends = np.array([one.interval.ends for one in found if one.interval is not None])
            assert ends.shape == (rows + 1, 2)
            truth = np.concatenate((np.linspace(0.0, 1.0, 101), score + np.array([-1e-3, 0.0, 5e-5])))
            truth = truth[(truth >= 0.0) & (truth <= 1.0)]
            error = np.abs(truth - score)[:, None]
            missed = (ends[:, 0] > error + 1e-12) | (ends[:, 1] < error - 1e-12)
            chance = binom.pmf(ones, rows, truth[:, None])
            assert (chance * missed).sum(axis=1).max() <= 1.0 - confidence
