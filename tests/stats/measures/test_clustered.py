"""Intervals over clusters: what they are made of, where they are refused, and how often they miss."""

import math
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from calibcli.errors import InputProblem
from calibcli.names import MeasureName
from calibcli.stats.measures import Estimate, clustered
from calibcli.stats.measures.bias import bias, mean_score, observed_over_expected, observed_rate
from calibcli.stats.measures.clustered import (
    EXACT,
    MEANS,
    ClusterSums,
    clustered_difference,
    unlike_share,
    with_clusters,
)
from calibcli.stats.measures.cox import cox_measure
from calibcli.stats.measures.differences import PairedSums
from calibcli.stats.measures.scores import brier, log_loss
from calibcli.stats.measures.skill import brier_skill
from calibcli.stats.numerics import student_quantile
from calibcli.stats.table import ScoreTable, Weighing

M = MeasureName
Floats = np.ndarray


def estimates(table: ScoreTable) -> dict[MeasureName, Estimate]:
    """Return the means as if rows were independent."""
    return {
        M.BIAS: bias(table),
        M.OE: observed_over_expected(table),
        M.OBSERVED_RATE: observed_rate(table),
        M.MEAN_SCORE: mean_score(table),
        M.BRIER: brier(table),
        M.LOG_LOSS: log_loss(table),
    }


def world(seed: int, clusters: int = 30, rows: int = 400) -> tuple[Floats, Floats, Floats]:
    """Return cluster, score and label of rows."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows).clip(0.01, 0.99)
    return rng.integers(0, clusters, rows), score, rng.random(rows) < score


def test_method_names_what_gave_each_end() -> None:
    """Few rows in each cluster vary less than with the row that has not been seen; many of them vary more."""
    rng = np.random.default_rng(5)
    methods = set()
    for each in (1, 2, 4, 10):
        score = np.repeat(rng.random(400 // each).clip(0.01, 0.99), each)
        label = np.repeat(rng.random(400 // each), each) < score
        clusters = sums_of(np.arange(400) // each, score, label).whole()
        alone = brier(ScoreTable.from_rows(score, label))
        found = with_clusters(alone, clusters, confidence=0.95).interval
        assert found is not None
        assert alone.interval is not None
        by_rows = [one == other for one, other in zip(found.ends, alone.interval.ends, strict=True)]
        expected = {
            (False, False): "cluster-robust (jackknife sandwich), Student's t",
            (True, False): "lower end: Gaffke's bound over rows, which is wider",
            (False, True): "upper end: Gaffke's bound over rows, which is wider",
            (True, True): "Gaffke's bound over rows, wider than cluster-robust",
        }[by_rows[0], by_rows[1]]
        assert expected in found.method
        assert ("Gaffke" in found.method) == any(by_rows)
        methods.add(found.method)
    assert len(methods) > 1


def sums_of(key: Floats, score: Floats, label: Floats, **rest: Floats) -> ClusterSums:
    """Return the sums of rows."""
    sums = ClusterSums()
    sums.add_rows(key, score, label, **rest)
    return sums


def losses(name: MeasureName, score: Floats, label: Floats) -> Floats:
    """Return the loss of each row, written as in a textbook."""
    chance = np.where(label, score, 1 - score)
    return {
        M.BIAS: label - score,
        M.OE: label / score,
        M.OBSERVED_RATE: 1.0 * label,
        M.MEAN_SCORE: score,
        M.BRIER: (label - score) ** 2,
        M.LOG_LOSS: -np.log(chance),
    }[name]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MEANS)
def test_interval_is_that_of_the_jackknife_over_clusters(name: MeasureName, *, weighted: bool) -> None:
    """The spread is that of the mean with each cluster left out in turn, the quantile Student's, and one end
    is moved by the skewness of these.
    """
    key, score, label = world(1)
    weight = np.random.default_rng(2).random(key.size) + 0.2 if weighted else np.ones(key.size)
    table = ScoreTable.from_rows(score, label, Weighing(weight=weight if weighted else None))
    sums = sums_of(key, score, label, weight=weight) if weighted else sums_of(key, score, label)
    found = with_clusters(estimates(table)[name], sums.whole(), confidence=0.9)
    if name is M.OE:
        # A mean of label / score, by what is expected.
        weight *= score
    loss, present = losses(name, score, label), np.unique(key)
    without = np.array([np.average(loss[key != g], weights=weight[key != g]) for g in present])
    mean, count = np.average(loss, weights=weight), present.size
    spread = math.sqrt((count - 1) / count * ((without - mean) ** 2).sum())
    share = np.array([weight[key == g].sum() for g in present]) / weight.sum()
    t = student.ppf(0.95, 1 / (share**2).sum() - 1)
    lean = (((mean - without) / spread) ** 3).sum() * (2 * t**2 + 1) / 6
    assert found.value == pytest.approx(mean, rel=1e-12)
    assert found.interval is not None
    ends = mean - (t + max(-lean, 0.0)) * spread, mean + (t + max(lean, 0.0)) * spread
    plain = estimates(table)[name].interval
    if name in {M.BRIER, M.LOG_LOSS, M.MEAN_SCORE} and plain is not None:
        # That of a loss is nowhere narrower than over rows, which make room for a costly one not seen yet.
        ends = min(ends[0], plain.lower), max(ends[1], plain.upper)
    assert (found.interval.lower, found.interval.upper) == pytest.approx(ends, rel=1e-9)
    assert (found.interval.confidence, found.interval.finite_sample) == (0.9, False)


def test_equal_clusters_give_the_usual_sandwich() -> None:
    """With clusters of one size it is G/(G-1) times the sum of squares, and t of G - 1 degrees; the end on
    the side of the shorter tail has nothing more.
    """
    _, score, label = world(3, rows=600)
    key = np.arange(600) % 30
    found = with_clusters(
        brier(ScoreTable.from_rows(score, label)), sums_of(key, score, label).whole(), confidence=0.95
    )
    loss = (label - score) ** 2
    parts = np.bincount(key, loss - loss.mean())
    margin = student.ppf(0.975, 29) * math.sqrt(30 / 29 * (parts**2).sum()) / 600
    assert found.interval is not None
    shorter, sign = (found.interval.upper, 1) if (parts**3).sum() < 0 else (found.interval.lower, -1)
    assert shorter == pytest.approx(loss.mean() + sign * margin, rel=1e-12)


def test_clusters_of_one_row_give_nearly_the_interval_of_rows() -> None:
    """Where every row is its own cluster, little but the row that is added differs from independent rows."""
    _, score, label = world(4, rows=2000)
    table = ScoreTable.from_rows(score, label)
    found = with_clusters(brier(table), sums_of(np.arange(2000), score, label).whole(), confidence=0.95)
    plain = brier(table).interval
    assert found.interval is not None
    assert plain is not None
    assert found.interval.upper == pytest.approx(plain.upper, rel=1e-2)


@given(st.integers(0, 1000), st.integers(1, 6), st.booleans())
def test_sums_do_not_depend_on_the_cut(seed: int, pieces: int, sliced: bool) -> None:  # noqa: FBT001
    """Batches and fragments in order, in parts of the rows or not, add up to the same clusters."""
    key, score, label = world(seed, rows=120)
    code, names = np.random.default_rng(seed).integers(0, 2, 120), [("a",), ("b",)]
    whole = ClusterSums()
    for chosen in np.array_split(np.arange(120), pieces):
        part = ClusterSums()
        rest = {"names": names, "code": code[chosen]} if sliced else {}
        part.add_rows(key[chosen], score[chosen], label[chosen], **rest)
        whole.add(part)
    expected = sums_of(key, score, label).whole()
    found = whole.whole()
    assert np.array_equal(found.key, expected.key)
    assert np.array_equal(found.weight, expected.weight)
    for name in MEANS:
        assert found.sums(name) == pytest.approx(expected.sums(name), rel=1e-12, abs=1e-14)
    if sliced:
        of = whole.of(("b",))
        alone = sums_of(key[code == 1], score[code == 1], label[code == 1]).whole()
        assert np.array_equal(of.key, alone.key)
        assert of.squared == pytest.approx(alone.squared, rel=1e-12)


def test_many_batches_are_folded_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is one entry per cluster however many batches come, and the sums stay right."""
    monkeypatch.setattr(clustered, "_BUFFER_ROWS", 50)
    key, score, label = world(5, rows=1000)
    sums = ClusterSums()
    for chosen in np.array_split(np.arange(1000), 40):
        sums.add_rows(key[chosen], score[chosen], label[chosen])
    assert sum(part.size for part in sums._parts) < 200
    assert sums.whole().residual == pytest.approx(sums_of(key, score, label).whole().residual)


def test_more_clusters_than_the_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the bound the number is said and what to do."""
    monkeypatch.setattr(clustered, "MOST_CLUSTERS", 25)
    key, score, label = world(6)
    with pytest.raises(InputProblem, match="over 25 clusters") as refused:
        sums_of(key, score, label).whole()
    assert "leave out --cluster" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ([5] * 19, "no interval: 19 clusters, fewer than 20"),
        ([50], "no interval: 1 cluster, fewer than 20"),
        ([400, *[2] * 40], "no interval: 41 clusters so unequal that they count as 1.44, fewer than 20"),
    ],
)
def test_few_clusters_leave_no_interval(sizes: list[int], reason: str) -> None:
    """Fewer than 20 clusters of equal weight do not tell how much they vary."""
    key = np.repeat(np.arange(len(sizes)), sizes)
    _, score, label = world(7, rows=key.size)
    found = with_clusters(
        brier(ScoreTable.from_rows(score, label)), sums_of(key, score, label).whole(), confidence=0.95
    )
    assert found.interval is None
    assert reason in found.assumptions


def test_events_expected_in_few_clusters_leave_no_interval_of_their_ratio() -> None:
    """A cluster that holds nearly all that is expected settles O/E by itself, and tells nothing of others."""
    key = np.repeat(np.arange(30), 4)
    score, label = np.where(key == 0, 0.9, 0.001), np.arange(120) % 3 == 0
    table, whole = ScoreTable.from_rows(score, label), sums_of(key, score, label).whole()
    found = with_clusters(observed_over_expected(table), whole, confidence=0.95)
    assert found.interval is None
    reason = "no interval: events are expected only in clusters that count as 1.07, fewer than 8"
    assert reason in found.assumptions
    assert with_clusters(bias(table), whole, confidence=0.95).interval is not None


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ((0, 1, 2), "label and score disagree only in clusters that count as 3, fewer than 8"),
        (range(28), "label and score agree only in clusters that count as 2, fewer than 8"),
        ((), "label and score disagree only in clusters that count as 0, fewer than 8"),
    ],
)
def test_events_in_few_clusters_leave_no_interval(events: tuple[int, ...], reason: str) -> None:
    """Of clusters without a surprise the spread does not tell how many have one, of a score or of two."""
    key = np.repeat(np.arange(30), 4)
    score, label = np.linspace(0.01, 0.1, 120), np.isin(key, events)
    table, whole = ScoreTable.from_rows(score, label), sums_of(key, score, label).whole()
    paired = PairedSums()
    paired.add(score, score / 2.0, label)
    of_rows = paired.difference(M.BRIER, confidence=0.95)
    halves = sums_of(key, score / 2.0, label).whole()
    for found in (
        with_clusters(bias(table), whole, confidence=0.95),
        with_clusters(brier(table), whole, confidence=0.95),
        clustered_difference(of_rows, whole, halves, confidence=0.95),
    ):
        assert found.interval is None
        assert f"no interval: {reason}" in found.assumptions


@pytest.mark.parametrize(
    ("clusters", "reason"),
    [
        (range(7), "no interval: label 1 occurs only in clusters that count as 7, fewer than 8"),
        (range(3, 30), "no interval: label 0 occurs only in clusters that count as 3, fewer than 8"),
        (range(8), None),
    ],
)
def test_a_rate_needs_both_labels_in_clusters_enough(clusters: range, reason: str | None) -> None:
    """Whatever the scores say: a score that never errs tells nothing of how a rate varies."""
    key = np.repeat(np.arange(30), 4)
    label = np.isin(key, clusters)
    score = np.where(label, 0.9, 0.1)
    whole = sums_of(key, score, label).whole()
    found = with_clusters(observed_rate(ScoreTable.from_rows(score, label)), whole, confidence=0.95)
    assert (found.interval is None) is (reason is not None)
    assert reason is None or reason in found.assumptions


def test_nothing_that_varies_leaves_no_interval() -> None:
    """Clusters of one and the same mean loss say nothing of its spread."""
    key, score = np.repeat(np.arange(30), 2), np.full(60, 0.5)
    label = np.arange(60) % 2 == 0
    found = with_clusters(
        brier(ScoreTable.from_rows(score, label)), sums_of(key, score, label).whole(), confidence=0.95
    )
    assert found.interval is None
    assert "no interval: every cluster has the same mean, so nothing varies" in found.assumptions


def test_certain_and_wrong_rows_keep_the_loss_infinite() -> None:
    """An infinite log loss has no interval and says why; the other means have one."""
    key, score, label = world(8)
    score[0], label[0], score[1], label[1] = 0.0, True, 1.0, True
    table, whole = ScoreTable.from_rows(score, label), sums_of(key, score, label).whole()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = with_clusters(log_loss(table), whole, confidence=0.95)
    assert found.interval is None
    assert any("probability 0" in one for one in found.assumptions)
    assert np.isfinite(whole.log).all()
    assert with_clusters(bias(table), whole, confidence=0.95).interval is not None


def test_intervals_stay_within_what_can_be() -> None:
    """Brier score and bias are cut to their ranges."""
    rng = np.random.default_rng(9)
    key = np.repeat(np.arange(40), 3)
    score = np.full(120, 0.01)
    label = np.repeat(rng.random(40) < 0.3, 3)
    table, whole = ScoreTable.from_rows(score, label), sums_of(key, score, label).whole()
    for estimate in (bias(table), brier(table)):
        interval = with_clusters(estimate, whole, confidence=0.9999).interval
        assert interval is not None
        least = -1.0 if estimate.name is M.BIAS else 0.0
        assert least <= interval.lower <= interval.upper <= 1.0


def test_exact_bounds_are_taken_away_with_the_reason() -> None:
    """What is no mean over rows loses interval and reference, and keeps its value."""
    key, score, label = world(10)
    whole = sums_of(key, score, label).whole()
    interval = bias(ScoreTable.from_rows(score, label)).interval
    estimate = Estimate(M.ECE, 0.1, interval, 0.02, ("rows are independent", "of the bins"), 400)
    found = with_clusters(estimate, whole, confidence=0.95)
    assert (found.value, found.interval, found.null) == (0.1, None, None)
    assert EXACT in found.assumptions
    assert "of the bins" in found.assumptions
    assert "rows are independent" not in found.assumptions
    silent = Estimate(M.LINF, 0.1, None, None, ("no interval: not known",), 400)
    assert EXACT not in with_clusters(silent, whole, confidence=0.95).assumptions


@pytest.mark.parametrize("measure", [brier, log_loss, brier_skill, partial(cox_measure, M.COX_SLOPE)])
def test_what_an_interval_over_rows_rests_on_goes_with_it(measure: Callable[[ScoreTable], Estimate]) -> None:
    """A standard error over rows beside an interval over clusters would be taken for that of the clusters."""
    key, score, label = world(10)
    estimate = measure(ScoreTable.from_rows(score, label))
    found = with_clusters(estimate, sums_of(key, score, label).whole(), confidence=0.95)
    gone = {"standard_error", "costly_rows", "largest_loss", "carried_by"}
    assert gone & set(estimate.details)
    assert set(found.details) == set(estimate.details) - gone | {"clusters"}


def test_difference_is_the_interval_of_the_differences() -> None:
    """The clustered interval of a paired difference is that of the mean of row differences."""
    key, score, label = world(11)
    other = score**1.3
    paired = PairedSums()
    paired.add(score, other, label)
    first, second = (sums_of(key, one, label).whole() for one in (score, other))
    of_rows = paired.difference(M.BRIER, confidence=0.95)
    found = clustered_difference(of_rows, first, second, confidence=0.95)
    rows = (label - other) ** 2 - (label - score) ** 2
    without = np.array([rows[key != g].mean() for g in range(30)])
    spread = math.sqrt(29 / 30 * ((without - rows.mean()) ** 2).sum())
    assert found.interval is not None
    assert found.value == pytest.approx(rows.mean())
    margin = student.ppf(0.975, first.effective - 1) * spread
    # Nowhere narrower than over rows, which make room for a costly one not seen yet.
    lower = min(rows.mean() - margin, of_rows.interval.lower)
    upper = max(rows.mean() + margin, of_rows.interval.upper)
    assert (found.interval.lower, found.interval.upper) == pytest.approx((lower, upper), rel=1e-9)


@pytest.mark.parametrize("probability", [0.9, 0.975, 0.999, 0.99999])
@pytest.mark.parametrize("freedom", [5.0, 18.7, 49.0, 999.9, 1000.0, 5e6])
def test_student_quantiles_are_scipys(probability: float, freedom: float) -> None:
    """Below and above a thousand degrees of freedom."""
    assert student_quantile(probability, freedom) == pytest.approx(
        student.ppf(probability, freedom), rel=1e-10
    )


def test_it_is_said_which_share_of_clusters_may_be_unlike_these() -> None:
    """Of 20 clusters 5 % of samples lack a kind that 14 % are of; the share falls with their number."""
    assert (1.0 - unlike_share(20.0)) ** 20 == pytest.approx(0.05)
    clusters = ClusterSums()
    clusters.add_rows(np.repeat(np.arange(20), 5), np.full(100, 0.5), np.arange(100) % 3 == 0)
    table = ScoreTable.from_rows(np.full(100, 0.5), np.arange(100) % 3 == 0)
    found = with_clusters(bias(table), clusters.whole(), confidence=0.95)
    assert "; up to 14 % of all may be unlike any of these" in " ".join(found.assumptions)
