"""Observed over expected events, and the area under the ROC curve with its interval."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binom, binomtest
from sklearn.metrics import roc_auc_score

from calibcli.names import RANKED
from calibcli.stats.bounds.means import Values
from calibcli.stats.measures.bias import bias, observed_over_expected
from calibcli.stats.measures.differences import ranked_sums
from calibcli.stats.measures.discrimination import (
    RiskCoverage,
    aurc,
    auroc,
    cutoff_for,
    gini,
    odd_area,
)
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.grid import grid_of
from score_rows import scored


def rows(seed: int, n: int, values: int, rate: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    """Return scores with ties, and labels."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, values, n) / max(values - 1, 1)
    return score, rng.random(n) < rate * (0.5 + score)


def by_pairs(score: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, pair by pair, on the wrong side of which share of the other label each row is."""
    x, y = score[label], score[~label]
    lost = (x[:, None] < y) + 0.5 * (x[:, None] == y)
    return lost.mean(axis=1), lost.mean(axis=0)


@given(
    seed=st.integers(0, 999),
    n=st.sampled_from([2, 3, 10, 60, 200]),
    values=st.sampled_from([1, 2, 5, 1000]),
    confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99]),
)
def test_area_and_interval_are_those_of_all_pairs(seed: int, n: int, values: int, confidence: float) -> None:
    """The value is scikit-learn's; bounds of both means of pairs make the interval, or of what rows add."""
    score, label = rows(seed, n, values)
    label[:2] = False, True
    table = ScoreTable.from_rows(score, label)
    found = auroc(table, confidence=confidence)
    assert found.value == pytest.approx(roc_auc_score(label, score), abs=1e-12)
    assert found.interval is not None
    below = above = 0.0
    delta, added = (1 - confidence) / 2, []
    for lost in by_pairs(score, label):
        parts = Values(lost, np.ones(lost.size))
        below += (parts.upper_bound(most=1.0, delta=delta) - lost.mean()) ** 2
        above += (lost.mean() - parts.lower_bound(least=0.0, delta=delta)) ** 2
        added.append(found.value + (lost.mean() - lost) * n / lost.size)
    influence = Values(np.concatenate(added), np.ones(n))
    ends = [found.value - math.sqrt(below), found.value + math.sqrt(above)]
    few = math.sqrt(label.sum() * (~label).sum()) * min(found.value, 1 - found.value) < 20
    if few and found.value <= 0.5:
        ends[0] = min(ends[0], influence.lower_bound(least=influence.value.min(), delta=delta))
    if few and found.value >= 0.5:
        ends[1] = max(ends[1], influence.upper_bound(most=influence.value.max(), delta=delta))
    assert found.interval.ends == pytest.approx(np.clip(ends, 0.0, 1.0), abs=1e-4)
    assert 0.0 <= found.interval.lower <= found.value <= found.interval.upper <= 1.0
    assert gini(table, confidence=confidence).value == pytest.approx(2 * found.value - 1)


@pytest.mark.parametrize("error", [0.05, 0.001])
def test_an_end_holds_where_one_row_of_either_label_is_misplaced(error: float) -> None:
    """Of 50 rows of each label, with all tables of up to four misplaced ones; more hardly ever come."""
    rows, some = 50, np.arange(5)
    ends = np.array([[_upper_end(rows, high=high, low=low, error=error) for high in some] for low in some])
    for chances in ((0.005, 0.003), (0.0055, 0.0055), (0.01, 0.003), (0.02, 0.01)):
        low, high = (binom.pmf(some, rows, chance) for chance in chances)
        assert low @ (ends < 1.0 - sum(chances) / 2.0) @ high <= error


def _upper_end(rows: int, *, high: int, low: int, error: float) -> float:
    """Return that of so many rows of each label, of which so many stand on the other side."""
    table = ScoreTable(
        np.array([0.2, 0.8]), np.array([rows - high + low, rows - low + high]), np.array([low, rows - low])
    )
    interval = auroc(table, confidence=1.0 - 2.0 * error).interval
    assert interval is not None
    return interval.ends[1]


@given(seed=st.integers(0, 999), n=st.sampled_from([5, 40]), values=st.sampled_from([2, 7]))
def test_area_turns_with_the_labels_and_ignores_any_rising_map(seed: int, n: int, values: int) -> None:
    """The other label gives one less the area, with the interval turned; only the order of scores matters."""
    score, label = rows(seed, n, values)
    label[:2] = False, True
    found, turned, bent = (
        auroc(ScoreTable.from_rows(f, y)) for f, y in ((score, label), (score, ~label), (score**3, label))
    )
    assert found.value == pytest.approx(1 - turned.value)
    assert found.interval is not None
    assert turned.interval is not None
    np.testing.assert_allclose(found.interval.ends, 1 - np.array(turned.interval.ends[::-1]), atol=1e-12)
    assert (bent.value, bent.interval) == (found.value, found.interval)


def test_published_values() -> None:
    """Scores that tell all apart, nothing, and Hanley and McNeil's table of ratings by a radiologist."""
    assert auroc(ScoreTable.from_rows(np.array([0.1, 0.9]), np.array([False, True]))).value == 1.0
    assert auroc(ScoreTable.from_rows(np.full(4, 0.3), np.arange(4) < 2)).value == 0.5
    # Hanley & McNeil (1982), Radiology 143, table I: 58 normal and 51 abnormal images, W = 0.893.
    normal, abnormal = [33, 6, 6, 11, 2], [3, 2, 2, 11, 33]
    score = np.repeat(np.tile(np.arange(5) / 4, 2), [*normal, *abnormal])
    found = auroc(ScoreTable.from_rows(score, np.arange(109) >= 58))
    assert found.value == pytest.approx(0.893, abs=5e-4)
    assert found.interval is not None
    assert found.interval.lower < 0.893 - 1.6 * 0.032
    assert found.interval.upper < 0.96


def test_one_label_has_no_area_and_importance_weights_no_interval() -> None:
    """NaN with the reason; a weighted area counts weights."""
    one = auroc(ScoreTable.from_rows(np.array([0.2, 0.4]), np.array([True, True])))
    assert math.isnan(one.value)
    assert one.interval is None
    assert "one label only" in one.assumptions[-1]
    score, label = rows(3, 50, 9)
    weight = np.random.default_rng(4).random(50) + 0.1
    weighted = auroc(ScoreTable.from_rows(score, label, Weighing(weight=weight)))
    assert weighted.value == pytest.approx(roc_auc_score(label, score, sample_weight=weight))
    assert weighted.interval is None


@pytest.mark.parametrize("shape", [(2.0, 2.0), (0.3, 0.3), (0.5, 6.0)])
def test_area_if_calibrated_is_that_of_drawn_labels(shape: tuple[float, float]) -> None:
    """On average, and between the quantiles of 5 % and 95 %, over 2,000 draws of labels."""
    rng = np.random.default_rng(6)
    score = rng.beta(*shape, size=600)
    found = auroc(ScoreTable.from_rows(score, rng.random(600) < score))
    label = rng.random((2000, 600)) < np.sort(score)
    ones = label.sum(axis=1)
    # Sums of ranks, as no scores are tied.
    drawn = (label @ np.arange(1, 601) - ones * (ones + 1) / 2) / (ones * (600 - ones))
    assert found.null == pytest.approx(np.mean(drawn), abs=2e-3)
    assert found.null_range == pytest.approx(np.quantile(drawn, [0.05, 0.95]), abs=4e-3)


def test_area_if_calibrated_compares_no_row_with_itself() -> None:
    """Of few rows with few scores the ties of each row with itself would count for as much as 0.8 %."""
    score, rows = np.array([0.3, 0.5, 0.7]), np.full(3, 20)
    ones = np.random.default_rng(0).binomial(rows, score, (20_000, 3))
    zeros = rows - ones
    above = (ones * (np.cumsum(zeros, axis=1) - 0.5 * zeros)).sum(axis=1)
    drawn = above / (ones.sum(axis=1) * zeros.sum(axis=1))
    found = auroc(ScoreTable(score, rows, ones[0]))
    assert found.null == pytest.approx(np.mean(drawn), abs=2e-3)


@given(seed=st.integers(0, 999), n=st.sampled_from([1, 5, 200]), values=st.sampled_from([2, 11]))
def test_observed_over_expected_is_bias_in_another_unit(seed: int, n: int, values: int) -> None:
    """Events over the sum of scores; its interval is that of bias over the mean score, plus 1."""
    score, label = rows(seed, n, values)
    table = ScoreTable.from_rows(score, label)
    found, of_bias = observed_over_expected(table), bias(table)
    if not score.any():
        assert math.isnan(found.value)
        return
    assert found.value == pytest.approx(label.sum() / score.sum())
    assert found.interval is not None
    assert of_bias.interval is not None
    expected = 1 + np.array(of_bias.interval.ends) / score.mean()
    np.testing.assert_allclose(found.interval.ends, expected, atol=1e-12)
    assert found.interval.lower >= -1e-12
    assert found.null == 1.0


@given(st.sampled_from([0.7, 0.99]), st.integers(0, 99))
@settings(max_examples=5)
def test_many_scores_make_the_interval_of_pairs(shift: float, seed: int) -> None:
    """Scores gathered in cells, and told apart nearly always, have the interval of each by itself."""
    rng = np.random.default_rng(seed)
    score = np.concatenate((rng.beta(2, 2, 3000) * 0.5, shift * 0.5 + rng.beta(2, 2, 3000) * 0.5))
    label = np.arange(6000) >= 3000
    found = auroc(ScoreTable.from_rows(score, label)).interval
    assert found is not None
    parts = [Values(lost, np.ones(lost.size)) for lost in by_pairs(score, label)]
    distance = [part.upper_bound(most=1.0, delta=0.025) - part.mean for part in parts]
    assert found.lower == pytest.approx(1.0 - parts[0].mean - math.hypot(*distance), rel=1e-2 * (1.0 - shift))


# Few and even events, and scores that tell them apart a little and well.
SHORT = (
    ((10, 400), (0.05, 0.001)),
    ((20, 20), (0.7, 0.01)),
)


def wrong_ends(ones: int, zeros: int, high: tuple[float, float], confidence: float) -> tuple[float, float]:
    """Return exactly how often either end is wrong of a score of two values, high of each label so often."""
    truth = 0.5 + (high[0] - high[1]) / 2
    of_ones, of_zeros = (binom.pmf(np.arange(n + 1), n, p) for n, p in zip((ones, zeros), high, strict=True))
    wrong = [0.0, 0.0]
    for k in np.flatnonzero(of_ones > 1e-5):
        for j in np.flatnonzero(of_zeros > 1e-5):
            counts = np.array([ones - k, k]), np.array([zeros - j, j])
            table = ScoreTable(np.array([0.2, 0.6]), counts[0] + counts[1], counts[0])
            interval = auroc(table, confidence=confidence).interval
            assert interval is not None
            wrong[0] += of_ones[k] * of_zeros[j] * (interval.lower > truth)
            wrong[1] += of_ones[k] * of_zeros[j] * (interval.upper < truth)
    return wrong[0], wrong[1]


@pytest.mark.parametrize(
    ("rows_of", "high"),
    [
        pytest.param(rows_of, high, marks=() if (rows_of, high) in SHORT else pytest.mark.slow)
        for rows_of in ((10, 400), (20, 20), (40, 900))
        for high in ((0.05, 0.001), (0.2, 0.05), (0.7, 0.01), (0.9, 0.05))
    ],
)
def test_ends_of_the_area_are_seldom_wrong_with_few_events(
    rows_of: tuple[int, int], high: tuple[float, float]
) -> None:
    """Either end at 95 %, as a rule asks for it, of a score of two values: by binomial laws, not by draws."""
    assert max(wrong_ends(*rows_of, high, 0.9)) <= 0.05


HARD = {
    "no overlap": (10, 20, 4.0, 0.0),
    "even": (100, 100, 1.0, 0.0),
    "few of one label": (3, 27, 2.0, 0.0),
    "one in twenty misplaced": (30, 300, 3.0, 0.05),
    "one in a hundred misplaced": (100, 100, 3.0, 0.01),
}


@pytest.mark.slow
@pytest.mark.parametrize("world", sorted(HARD))
@pytest.mark.parametrize("ties", [False, True])
def test_interval_of_the_area_covers(world: str, *, ties: bool) -> None:
    """Of 2,000 samples at 95 % at most 5 % miss, also where DeLong's own interval misses 20 % and more."""
    ones, zeros, distance, share = HARD[world]
    rng = np.random.default_rng(7)

    def drawn(count: int, shift: float, bad: float) -> np.ndarray:
        place = np.where(rng.random(count) < bad, -9.0, rng.normal(shift, 1.0, count))
        return expit(np.round(place) if ties else place)

    many = drawn(400_000, distance, share), drawn(400_000, 0.0, 0.0)
    truth = roc_auc_score(np.arange(800_000) < 400_000, np.concatenate(many))
    missed = 0
    for _ in range(2000):
        score = np.concatenate((drawn(ones, distance, share), drawn(zeros, 0.0, 0.0)))
        interval = auroc(ScoreTable.from_rows(score, np.arange(ones + zeros) < ones)).interval
        assert interval is not None
        missed += not interval.lower <= truth <= interval.upper
    assert missed <= 0.05 * 2000 + 30


@given(seed=st.integers(0, 999), n=st.sampled_from([2, 10, 60, 500]), values=st.sampled_from([1, 2, 5, 1000]))
def test_risk_over_coverage_knows_ranks_alone_and_lies_in_its_interval(
    seed: int, n: int, values: int
) -> None:
    """Any rising map and any order of rows; weights of 1 change nothing; 1 where all are wrong."""
    score, label = rows(seed, n, values)
    table = ScoreTable.from_rows(score, label)
    found = aurc(table, confidence=0.9)
    assert found.interval is not None
    assert 0.0 <= found.interval.lower <= found.value <= found.interval.upper <= 1.0
    assert aurc(ScoreTable.from_rows(score[::-1] ** 3, label[::-1])).value == pytest.approx(found.value)
    weighted = aurc(ScoreTable.from_rows(score, label, Weighing(weight=np.ones(n))))
    assert weighted.interval is None
    assert weighted.value == pytest.approx(found.value, abs=1e-12)
    assert aurc(ScoreTable.from_rows(score, np.zeros(n, np.bool_))).value == pytest.approx(1.0)
    kept = RiskCoverage.of(table)
    assert float(kept.wrong.sum()) == pytest.approx(n - label.sum())
    assert float(kept.weights @ kept.rows) == pytest.approx(n)


def test_risk_over_coverage_by_chance_is_that_of_drawn_labels() -> None:
    """Mean and range over 2,000 sets of labels."""
    rng = np.random.default_rng(5)
    score = rng.beta(2, 1, 600)
    found = aurc(ScoreTable.from_rows(score, rng.random(600) < score))
    wrong = rng.random((2000, 600)) >= np.sort(score)[::-1]
    drawn = (np.cumsum(wrong, axis=1) / np.arange(1, 601)).mean(axis=1)
    assert found.null == pytest.approx(np.mean(drawn), abs=3 * np.std(drawn) / math.sqrt(2000))
    assert found.null_range is not None
    assert np.array(found.null_range) == pytest.approx(np.quantile(drawn, [0.05, 0.95]), abs=2e-3)


@pytest.mark.parametrize("times", [50, pytest.param(2_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("law", ["sure", "ties", "upside down", "risk of 1 %"])
def test_interval_of_risk_over_coverage_covers(law: str, times: int) -> None:
    """In populations of known area, 100 rows: at 95 % each end is wrong in at most 2.5 % by design."""
    rng = np.random.default_rng(7)
    missed = np.zeros(2, int)
    # E of -ln u over rows of label 0: of rates linear in u it is in closed form.
    start, rise, most = {
        "sure": (0.0, 0.05, None),
        "ties": (0.1, 0.4, 5),
        "upside down": (0.9, -0.8, None),
        "risk of 1 %": (0.01, 0.0, None),
    }[law]
    fine = (np.arange(50_000) + 0.5) / 50_000
    area = float(np.mean(wrong_at(fine, start, rise, most) * weight_at(fine, most)))
    for _ in range(times):
        u = rng.random(100)
        step = u if most is None else np.floor(u * most) / most
        found = aurc(ScoreTable.from_rows(1 - step, rng.random(100) >= wrong_at(u, start, rise, most)))
        assert found.interval is not None
        missed += (area < found.interval.lower, area > found.interval.upper)
    assert (missed <= binom.isf(1e-6, times, 0.025)).all()


@pytest.mark.parametrize("values", [3, 1_000])
def test_a_row_of_label_1_above_all_others_takes_from_the_area_what_is_said(values: int) -> None:
    """The area with such a row, ties and all."""
    rng = np.random.default_rng(3)
    score, label = 0.9 * np.round(rng.random(60) * values) / values, rng.random(60) < 0.3
    one = RiskCoverage.of(ScoreTable.from_rows(score, label))
    more = RiskCoverage.of(ScoreTable.from_rows(np.append(score, 0.95), np.append(label, np.True_)))
    assert one.least == pytest.approx(61 * (more.area - one.area))


@pytest.mark.parametrize("times", [1_000, pytest.param(40_000, marks=pytest.mark.slow)])
def test_risk_over_coverage_allows_for_right_rows_that_a_sample_has_not(times: int) -> None:
    """Of 1,000 rows 3 are far above the others, half of them right: one sample in twenty has none."""
    rng, share = np.random.default_rng(11), 0.003
    above = share * (1.0 - math.log(share))
    area = 0.5 * above + 0.9995 * (1.0 - above)
    top = rng.binomial(1_000, share, times)
    drawn = np.column_stack((top, rng.binomial(1_000 - top, 0.0005), rng.binomial(top, 0.5)))
    samples, often = np.unique(drawn, axis=0, return_counts=True)
    missed = 0
    for (high, low_ones, high_ones), many in zip(samples, often, strict=True):
        rows, ones = np.array([1_000 - high, high]), np.array([low_ones, high_ones])
        some = rows > 0
        found = aurc(ScoreTable(np.array([0.0005, 0.5])[some], rows[some], ones[some]), confidence=0.99)
        assert found.interval is not None
        missed += many * (not found.interval.lower <= area <= found.interval.upper)
    assert missed <= binom.isf(1e-6, times, 0.01)


def wrong_at(u: np.ndarray, start: float, rise: float, most: int | None) -> np.ndarray:
    """Return the rate of label 0 at a rank, in steps where scores are tied."""
    return start + rise * (u if most is None else (np.floor(u * most) + 0.5) / most)


def weight_at(u: np.ndarray, most: int | None) -> np.ndarray:
    """Return -ln u, averaged over each step where scores are tied."""
    weight = -np.log(u)
    return weight if most is None else np.repeat(weight.reshape(most, -1).mean(axis=1), u.size // most)


@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(20, 400), steepness=st.sampled_from([-3.0, 0.0, 3.0]))
def test_an_odd_area_is_the_one_measured(seed: int, rows: int, steepness: float) -> None:
    """Told where the whole interval lies below one half, never of the reversed score too, or at one half."""
    rng = np.random.default_rng(seed)
    score = np.round(rng.random(rows), 2)
    label = rng.random(rows) < 1.0 / (1.0 + np.exp(-steepness * (score - 0.5)))
    found = odd_area(ScoreTable.from_rows(score, label))
    if found is not None:
        measured = auroc(ScoreTable.from_rows(score, label))
        assert measured.value == found[0]
        assert measured.interval is not None
        if found[1] is None:
            assert measured.interval.ends[1] < 0.5
            assert odd_area(ScoreTable.from_rows(1.0 - score, label)) is None
        else:
            assert (measured.interval.ends[0] < 0.5, found[1]) == (True, measured.null)


@pytest.mark.parametrize("seed", [34, 142])
def test_an_interval_down_to_no_events_ends_at_0(seed: int) -> None:
    """Of one event among 51: what rounding leaves of 1 - 1 was shown, 1.11e-16."""
    score = np.random.default_rng(seed).random(51) * 0.4
    found = observed_over_expected(ScoreTable.from_rows(score, np.arange(51) == 0))
    assert found.interval is not None
    assert found.interval.lower == 0.0


def test_cells_that_hide_most_pairs_leave_no_interval() -> None:
    """Scores of one cell of a grid count as ties, and how they rank is not known; of real ties it is."""
    score, label = scored(3_000)
    narrow = grid_of(ScoreTable.from_rows(0.5 + 1e-7 + 1e-6 * score, label))
    for area in (auroc, gini, aurc):
        found = area(narrow)
        assert found.interval is None
        assert any("100 % of the pairs of both labels share a cell" in text for text in found.assumptions)
    assert ranked_sums(RANKED, narrow, narrow) is None
    assert aurc(narrow).details == cutoff_for(narrow, confidence=0.95)
    tied = grid_of(ScoreTable.from_rows(np.where(score < 0.6, 0.5, score), label))
    assert auroc(tied).interval is not None
    # Half of the rows have one score inside of a cell, and two others are beside them.
    score[::2] = 0.5 + 1e-7
    score[:2] = 0.5 + 1e-6
    assert auroc(grid_of(ScoreTable.from_rows(score, label))).interval is not None


def test_cells_that_hide_much_beside_the_noise_leave_no_interval() -> None:
    """Of ten cells a tenth of the pairs is hidden: of labels that follow the scores within them the area was
    off by more than its interval was wide, of others by next to nothing.
    """
    rng = np.random.default_rng(0)
    place = rng.random(400_000)
    table = grid_of(ScoreTable.from_rows(0.5 + 1.4e-5 * place, rng.random(place.size) < place))
    exact = auroc(ScoreTable.from_rows(place, rng.random(place.size) < place))
    assert exact.value - auroc(table).value > np.ptp(exact.interval.ends) / 2.0  # type: ignore[union-attr]
    assert auroc(table).interval is None
    other = grid_of(ScoreTable.from_rows(0.5 + 1.4e-5 * place, rng.random(place.size) < 0.5))
    assert auroc(other).interval is not None


@pytest.mark.parametrize("score", [0.0003, 0.1, 1.0 / 3.0, 0.7])
def test_no_event_is_a_ratio_of_nothing(score: float) -> None:
    """A grade without a default has an O/E of 0, and not what rounding leaves of 1 - 1."""
    found = observed_over_expected(ScoreTable.from_rows(np.full(1_454, score), np.zeros(1_454, np.bool_)))
    assert found.value == 0.0
    assert found.interval is not None
    assert found.interval.lower == 0.0
    assert found.interval.upper is not None
    assert found.interval.upper > 0.0


def kept_by_hand(score: np.ndarray, label: np.ndarray) -> list[tuple[float, int, int]]:
    """Return twenty cutoffs from the top, with how many rows lie above each and how many have label 1."""
    falling, found = np.sort(score)[::-1], []
    for part in range(1, 20):
        rank = -(-part * score.size // 20)
        if rank == score.size:
            continue
        cutoff = falling[rank]
        above = score > cutoff
        found.append((float(cutoff), int(above.sum()), int(label[above].sum())))
    return [*found, (-np.inf, score.size, int(label.sum()))]


@given(seed=st.integers(0, 10**6), rows=st.integers(2, 240), steps=st.sampled_from([3, 10, 10**6]))
def test_cutoff_is_the_lowest_that_leaves_enough(seed: int, rows: int, steps: int) -> None:
    """By these rows and by the bounds of scipy, of ties and none."""
    rng = np.random.default_rng(seed)
    score = np.ceil(rng.random(rows) * steps) / steps
    label = rng.random(rows) < 0.7 + 0.3 * score
    found = cutoff_for(ScoreTable.from_rows(score, label), confidence=0.9)
    every = [one for one in kept_by_hand(score, label) if one[1]]
    bounds = {one: binomtest(one[2], one[1]).proportion_ci(1 - 0.1 / 20, "exact") for one in every}
    for name, enough in (
        ("kept", [one for one in every if one[2] >= 0.9 * one[1]]),
        ("kept_least", [one for one in every if bounds[one].low >= 0.9]),
        ("kept_most", [one for one in every if bounds[one].high >= 0.9]),
    ):
        cutoff, kept, _ = max(enough, key=lambda one: one[1], default=(np.inf, 0, 0))
        assert found[name] == pytest.approx(kept / rows)
        above = {"kept": "kept_above", "kept_least": "safe_above"}.get(name)
        if above is not None:
            assert found.get(above) == (None if kept in (0, rows) else pytest.approx(cutoff))
    assert found["kept_least"] <= found["kept"] <= found["kept_most"]


@pytest.mark.parametrize("times", [60, pytest.param(4_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("world", ["near the limit", "ties", "one bad end"])
def test_what_is_kept_for_sure_is_as_right_as_asked(world: str, times: int) -> None:
    """Scores above the safe cutoff have label 1 in 90 % of the population, but for 2.5 % of the samples."""
    rng, wrong = np.random.default_rng(12), 0
    steps = 10 if world == "ties" else None
    fine = (np.arange(10_000) + 0.5) / 10_000

    def rate(score: np.ndarray) -> np.ndarray:
        if world == "one bad end":
            return np.where(score > 0.97, 0.5, 0.93)
        return 0.85 + 0.1 * score

    for _ in range(times):
        u = rng.random(400)
        score = u if steps is None else (np.floor(u * steps) + 0.5) / steps
        found = cutoff_for(ScoreTable.from_rows(score, rng.random(400) < rate(score)), confidence=0.95)
        if not found["kept_least"]:
            continue
        scores = fine if steps is None else (np.floor(fine * steps) + 0.5) / steps
        kept = scores[scores > float(found.get("safe_above", -1.0))]
        wrong += rate(kept).mean() < 0.9
    assert wrong <= binom.isf(1e-6, times, 0.025)


def test_cutoffs_need_independent_rows_without_weights() -> None:
    """Importance weights and clusters leave none."""
    score, label = np.linspace(0, 1, 50), np.ones(50, np.bool_)
    weighted = aurc(ScoreTable.from_rows(score, label, Weighing(weight=np.ones(50))))
    assert "kept" not in weighted.details
    plain = aurc(ScoreTable.from_rows(score, label))
    assert plain.details["kept"] == 1.0
    assert "kept_above" not in plain.details
