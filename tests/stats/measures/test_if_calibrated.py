"""What a calibrated score would show: the ranges beside the numbers, against laws that can be worked out."""

import copy
import math
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import chi, gamma, norm

from calibcli.names import Binning, MeasureName
from calibcli.stats.bounds import Interval
from calibcli.stats.measures import Estimate, measure_named
from calibcli.stats.measures.classes.binned import Moments
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Settings, of_mean, of_moments, of_size
from calibcli.stats.measures.smooth_ece import smooth_ece
from calibcli.stats.table import Floats, ScoreTable
from calibcli.stats.table.bins import binned, bins_of
from score_rows import scored_table

M = MeasureName
ENDS = (0.05, 0.95)
# What has no range: bins that labels choose, distances without a law, and what knows no labels.
WITHOUT = (M.ECE_SWEEP, M.DCE_LOWER, M.SMCE, M.MEAN_SCORE)
WORLDS = {
    "spread": lambda rng, rows: rng.random(rows),
    "near 0 and 1": lambda rng, rows: rng.beta(0.2, 0.2, rows),
    "rare": lambda rng, rows: 1.0 / (1.0 + np.exp(6.0 - 1.5 * rng.standard_normal(rows))),
    "four values": lambda rng, rows: rng.choice([0.1, 0.3, 0.6, 0.9], rows),
    "one value": lambda _, rows: np.full(rows, 0.3),
    "certain": lambda rng, rows: np.where(rng.random(rows) < 0.5, 1e-5, 1.0 - 1e-5),
}


def measured(table: ScoreTable, *, drawn: bool, names: tuple[MeasureName, ...]) -> dict[M, Estimate]:
    """Return measures over 15 bins, with or without labels drawn for their references."""
    sums = binned(table, bins_of(Binning.EQUAL_WIDTH, 15, table=table))
    mass = binned(table, bins_of(Binning.EQUAL_MASS, 15, table=table))
    one, two = np.random.default_rng(1), np.random.default_rng(2)
    calibrated = None
    if drawn:
        calibrated = CalibratedDraws(table, partitions=(sums, mass), generator=one, smece_generator=two)
    shared = Settings(sums, mass, 0.95, calibrated)
    return {name: measure_named(name, table, settings=shared) for name in names}


def outside(world: str, rows: int, *, times: int, names: tuple[MeasureName, ...]) -> dict[M, tuple[int, int]]:
    """Count how often labels that follow the scores give a value below and above the range."""
    rng = np.random.default_rng(rows)
    score: Floats = WORLDS[world](rng, rows)
    table = ScoreTable.from_rows(score, rng.random(rows) < score)
    ranges = {name: one.null_range for name, one in measured(table, drawn=True, names=names).items()}
    counts = dict.fromkeys(names, (0, 0))
    for _ in range(times):
        labels = ScoreTable(table.score, table.rows, rng.binomial(table.rows, table.score))
        for name, one in measured(labels, drawn=False, names=names).items():
            ends = ranges[name]
            if ends is not None:
                below, above = counts[name]
                slack = 1e-12
                counts[name] = below + (one.value < ends[0] - slack), above + (one.value > ends[1] + slack)
    return counts


@pytest.mark.parametrize("shape", [0.5, 1.0, 4.0, 100.0])
def test_range_of_a_sum_is_that_of_a_gamma_variable(shape: float) -> None:
    """Both ends are within 7 % of a standard deviation of the exact quantiles."""
    found = of_moments(shape, shape, 2.0 * shape, least=0.0)
    expected = gamma.ppf(ENDS, shape)
    np.testing.assert_allclose(found, expected, atol=0.07 * math.sqrt(shape))
    mirrored = of_moments(-shape, shape, -2.0 * shape, most=0.0)
    np.testing.assert_allclose(mirrored, (-found[1], -found[0]), rtol=1e-12)
    np.testing.assert_allclose(of_moments(1.0, 4.0), norm.ppf(ENDS, 1.0, 2.0), rtol=1e-12)


@pytest.mark.parametrize("freedom", [1, 2, 5, 30])
def test_range_of_a_size_is_that_of_the_length_of_a_normal_vector(freedom: int) -> None:
    """Both ends are within a tenth of a standard deviation of the exact quantiles."""
    law = chi(freedom)
    found = of_size(float(law.mean()), float(law.var()))
    np.testing.assert_allclose(found, law.ppf(ENDS), atol=0.11 * float(law.std()))


def test_range_of_a_mean_has_the_moments_of_all_labels() -> None:
    """By hand, over the 2^6 sets of labels: the mean of what labels contribute has the three moments used."""
    score = np.array([0.1, 0.2, 0.5, 0.7, 0.95, 1.0])
    step = np.array([3.0, -1.0, 2.0, 0.5, 4.0, math.inf])
    sets = np.array([[(one >> k) & 1 for k in range(5)] for one in range(32)])
    chance = np.prod(np.where(sets == 1, score[:5], 1.0 - score[:5]), axis=1)
    value = (sets - score[:5]) @ step[:5] / 6.0
    moments = Moments(0.0, float(chance @ value**2), float(chance @ value**3))
    table = ScoreTable(score, np.ones(6, np.int64), np.array([0, 0, 0, 0, 0, 1]))
    ends = {"least": float(value.min()), "most": float(value.max())}
    assert of_mean(table, 0.0, step) == pytest.approx(of_moments(*moments, **ends), rel=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_no_range_goes_beyond_what_labels_can_give(*, turned: bool) -> None:
    """Of rare events: no ratio or rate below 0, no loss below that of the likelier labels."""
    names = (M.OE, M.BIAS, M.OBSERVED_RATE, M.BRIER, M.LOG_LOSS, M.SPHERICAL)
    rare = np.repeat([0.0003, 0.0005, 0.001, 0.01], [300, 300, 160, 100])
    score = 1.0 - rare if turned else rare
    labels = (np.zeros(score.size, bool), np.ones(score.size, bool))
    ends = [measured(ScoreTable.from_rows(score, one), drawn=False, names=names) for one in labels]
    table = ScoreTable.from_rows(score, np.arange(score.size) % 400 == 0)
    for name, found in measured(table, drawn=False, names=names).items():
        least, most = sorted(one[name].value for one in ends)
        assert found.null_range is not None
        low, high = found.null_range
        assert least - 1e-15 <= low < high <= most, name
        assert low == 0.0 or turned or name not in (M.OE, M.OBSERVED_RATE)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "most"), [(30, 4), (400, 8)])
@pytest.mark.parametrize("world", WORLDS)
def test_one_in_twenty_lies_beyond_either_end(world: str, rows: int, most: int) -> None:
    """120 draws of labels: at most one in eight beyond either end of any range, one in four of 30 rows."""
    names = tuple(name for name in M if name not in WITHOUT)
    for name, (below, above) in outside(world, rows, times=120, names=names).items():
        assert max(below, above) <= 120 // most, name
        # A range that nothing lies beyond is too wide; what takes few values, or no labels, has none such.
        if rows == 400 and world in {"spread", "near 0 and 1"} and name is not M.BRIER_WITHIN_VARIANCE:
            assert below + above >= 2, name


def test_ranges_hold_where_some_scores_have_far_more_rows_than_others() -> None:
    """Most calibrated labels lie in them: of scores in cells, and of errors below what bandwidths resolve."""
    names = (M.BRIER_MCB, M.LOG_LOSS_DSC, M.SMECE, M.SMECE_LOGIT)
    rng = np.random.default_rng(7)
    score, rows = np.linspace(0.46, 0.49, 1_200), np.ones(1_200, np.int64)
    rows[[600, -1]] = 10**7, 10**9
    table = ScoreTable(score, rows, rng.binomial(rows, score))
    expected = measured(table, drawn=True, names=names)
    labels = [ScoreTable(score, rows, rng.binomial(rows, score)) for _ in range(20)]
    found = [measured(one, drawn=False, names=names) for one in labels]
    for name, one in expected.items():
        assert one.null is not None
        assert one.null_range is not None
        for middle in (one.null, np.median([each[name].value for each in found])):
            assert one.null_range[0] < middle < one.null_range[1], name


def test_range_of_smece_holds_where_all_scores_lie_at_an_end() -> None:
    """Nearer to 0 than the finest bandwidth is wide, with enough events for the formula of many rows."""
    rng = np.random.default_rng(1)
    score, rows = np.array([2e-5, 5e-5]), np.full(2, 2_000_000)
    tables = [ScoreTable(score, rows, rng.binomial(rows, score)) for _ in range(400)]
    ends = measured(tables[0], drawn=True, names=(M.SMECE,))[M.SMECE].null_range
    assert ends is not None
    found = np.array([smooth_ece(one, confidence=None).value for one in tables])
    for beyond in (found < ends[0], found > ends[1]):
        assert beyond.mean() == pytest.approx(0.05, abs=0.03)


def test_certain_scores_show_nothing_by_chance() -> None:
    """Scores of 0 and 1 leave no label open; of their curve rounding left 4e-17."""
    score = np.repeat([0.0, 1.0], 40)
    table = ScoreTable.from_rows(score, np.tile([False] * 9 + [True], 8) ^ (score > 0.5))
    for name in (M.ICI, M.E50, M.E90, M.EMAX, M.SMECE, M.SMECE_LOGIT):
        assert measured(table, drawn=True, names=(name,))[name].null == 0.0


def test_rounding_is_no_end_of_a_range() -> None:
    """As many events as scores announce are among the likely ones: then nothing is off, not 1.5e-21."""
    table = ScoreTable(np.array([1e-5]), np.array([300_000]), np.array([3]))
    for name in (M.ECE, M.LINF, M.CUTOFF, M.SMECE):
        ends = measured(table, drawn=True, names=(name,))[name].null_range
        assert ends is not None
        assert ends[0] == 0.0 < ends[1]


def test_noise_that_labels_do_not_show_is_not_taken_away() -> None:
    """Labels that are all as sure scores say have no spread: the value is the gap, and no range is given."""
    score = np.repeat([1e-5, 1.0 - 1e-5], 20)
    table = ScoreTable.from_rows(score, score > 0.5)
    found = measured(table, drawn=True, names=(M.L1_DEBIASED, M.SMECE))
    one, smooth = found[M.L1_DEBIASED], found[M.SMECE]
    assert (one.value, smooth.value) == pytest.approx((1e-5, 1e-5))
    assert one.null_range is smooth.null_range is None
    assert smooth.null is not None
    assert 1e-5 <= smooth.null < 1.5e-4


def test_labels_are_drawn_where_they_are_asked_for() -> None:
    """Once for a table; the reference of smECE draws its own, and needs none of the others."""
    table = ScoreTable.from_rows(np.linspace(0.1, 0.9, 30), np.arange(30) % 2 == 0)
    bins = bins_of(Binning.EQUAL_WIDTH, 15, table=table)
    one, two = np.random.default_rng(1), np.random.default_rng(2)
    with patch(
        "calibcli.stats.measures.if_calibrated.expected_smece", return_value=(0.1, None)
    ) as worked_out:
        drawn = CalibratedDraws(table, partitions=[bins], generator=one, smece_generator=two)
        state = one.bit_generator.state
        assert [drawn.smece for _ in range(3)] == [(0.1, None)] * 3
        assert worked_out.call_count == 1
        assert one.bit_generator.state == state
        assert drawn.drawn.over(bins).ece.size == 999
        assert drawn.drawn is drawn.drawn


@pytest.mark.parametrize("rows", [30, 5_000])
def test_the_same_labels_are_drawn_for_bins_and_for_paths(rows: int) -> None:
    """Whichever is asked for first; with one bin of all rows Kuiper's path ends at the sum over that bin."""
    rng = np.random.default_rng(3)
    score = rng.random(rows)
    table = ScoreTable.from_rows(score, rng.random(rows) < score)
    bins = bins_of(Binning.EQUAL_WIDTH, 1, table=table)

    def draws(seed: int) -> CalibratedDraws:
        one, two = np.random.default_rng(seed), np.random.default_rng(9)
        return CalibratedDraws(table, partitions=[bins], generator=one, smece_generator=two, draws=60)

    first, second, other = draws(1), draws(1), draws(2)
    over, walked = first.drawn.over(bins).gaps, first.paths.ks
    again, over_again = second.paths.ks, second.drawn.over(bins).gaps
    assert over is not None
    assert walked is not None
    assert np.array_equal(walked, again)  # type: ignore[arg-type]
    assert np.array_equal(over, over_again)  # type: ignore[arg-type]
    assert not np.array_equal(walked, other.paths.ks)  # type: ignore[arg-type]
    # The path is at least as far from 0 anywhere as where it ends.
    scale = np.sqrt((score * (1.0 - score)).sum())
    assert np.all(walked * scale >= np.abs(over[:, 0]) - 1e-9)
    assert np.corrcoef(walked, np.abs(over[:, 0]))[0, 1] > 0.5


def test_two_threads_that_ask_at_once_draw_the_same_labels() -> None:
    """A generator that both began with gave each what the other had left."""
    rng = np.random.default_rng(3)
    table = ScoreTable.from_rows(rng.random(5_000), rng.random(5_000) < 0.5)
    bins = bins_of(Binning.EQUAL_WIDTH, 15, table=table)

    def draws() -> CalibratedDraws:
        one, two = np.random.default_rng(1), np.random.default_rng(2)
        return CalibratedDraws(table, partitions=[bins], generator=one, smece_generator=two, draws=60)

    def copied(generator: np.random.Generator | None) -> np.random.Generator | None:
        time.sleep(0.01)
        return copy.deepcopy(generator)

    alone, both = draws(), draws()
    with (
        patch("calibcli.stats.measures.if_calibrated.copy", SimpleNamespace(deepcopy=copied)),
        ThreadPoolExecutor(2) as pool,
    ):
        over, walked = pool.submit(lambda: both.drawn), pool.submit(lambda: both.paths)
    assert np.array_equal(over.result().over(bins).ece, alone.drawn.over(bins).ece)
    assert np.array_equal(walked.result().ks, alone.paths.ks)  # type: ignore[arg-type]


def test_ranges_are_left_out_only_where_nothing_is_known() -> None:
    """Of 300 rows every measure has a range, but those that are chosen by labels or have no law."""
    table = scored_table(300, seed=5)
    found = measured(table, drawn=True, names=tuple(M))
    assert {name for name, one in found.items() if one.null_range is None} == set(WITHOUT)
    for name, one in found.items():
        if one.null_range is not None:
            assert one.null_range[0] <= one.null_range[1], name


def test_interval_and_range_are_told_apart() -> None:
    """An estimate keeps both: its interval speaks of the truth, its range of calibrated scores."""
    table = scored_table(300, lambda score: score**6, seed=6)
    one = measured(table, drawn=True, names=(M.ECE,))[M.ECE]
    assert isinstance(one.interval, Interval)
    assert one.null_range is not None
    assert one.interval.lower > one.null_range[1]
