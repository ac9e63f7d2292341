"""Differences between two scores of the same rows."""

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from added_row import bounds as oracle
from calibcli.names import Binning, ComparisonName, MeasureName, Target
from calibcli.options.fitting import FitOptions
from calibcli.stats.bounds import Interval
from calibcli.stats.measures import Estimate
from calibcli.stats.measures.differences import (
    PAIRED,
    Difference,
    PairedSums,
    difference_of_intervals,
    reach_of_maps,
)
from calibcli.stats.measures.scores import NO_HEAVIER
from calibcli.stats.recalibrators import Recalibrator
from calibcli.stats.recalibrators.histogram import Histogram
from calibcli.stats.recalibrators.isotonic import Isotonic
from calibcli.stats.recalibrators.lookup import BinMap
from calibcli.stats.recalibrators.scaling_binning import ScalingBinning
from calibcli.stats.table import ScoreTable, Weighing

BRIER, LOG_LOSS = PAIRED
INSIDE = st.floats(1e-12, 1 - 1e-12)
ROWS = st.lists(st.tuples(INSIDE, INSIDE, st.booleans()), min_size=2, max_size=40)


def columns(rows: list[tuple[float, float, bool]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns of rows."""
    first, second, label = zip(*rows, strict=True)
    return np.array(first), np.array(second), np.array(label)


def sums_of(*parts: tuple[np.ndarray, ...], **weights: Any) -> PairedSums:
    """Add each part by itself and merge."""
    whole = PairedSums()
    for part in parts:
        one = PairedSums()
        one.add(*part, Weighing(**weights))
        whole.merge(one)
    return whole


def losses(name: MeasureName, score: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return the loss of each row, by its definition."""
    if name is BRIER:
        return (score - label) ** 2
    return np.where(label, -np.log(score), -np.log1p(-score))


@pytest.mark.parametrize("rows", [100, 3_000, 100_000])
@pytest.mark.parametrize("apart", [0.01, 0.5, 1.5])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_no_interval_could_be_much_shorter(rows: int, apart: float, confidence: float) -> None:
    """An end is at most 1.6 times as far as rows that none of these shows, or the normal margin, take it."""
    rng, delta = np.random.default_rng(rows), 0.5 * (1.0 - confidence)
    chance = rng.uniform(0.02, 0.98, rows)
    noise = apart * rng.normal(size=(2, rows))
    first, second = 1.0 / (1.0 + (1.0 / chance - 1.0) * np.exp(noise))
    label = rng.random(rows) < chance
    found = sums_of((first, second, label)).difference(BRIER, confidence=confidence)
    assert found.interval is not None
    lower, upper = found.interval.ends
    apart_by = losses(BRIER, second, label) - losses(BRIER, first, label)
    mean, unseen = apart_by.mean(), 1.0 - delta ** (1.0 / rows)
    margin = norm.isf(delta) * apart_by.std() / math.sqrt(rows)
    assert upper - mean <= 1.6 * max(margin, unseen * (1.0 - mean))
    assert mean - lower <= 1.6 * max(margin, unseen * (1.0 + mean))


def bounds(found: Difference) -> tuple[float | None, float | None]:
    """Return both ends of the interval."""
    assert found.interval is not None
    return found.interval.lower, found.interval.upper


@pytest.mark.parametrize("name", PAIRED)
@given(rows=ROWS, counts=st.lists(st.integers(1, 5), min_size=40, max_size=40))
def test_frequency_is_repetition(
    name: MeasureName, rows: list[tuple[float, float, bool]], counts: list[int]
) -> None:
    """A count of three is three rows, bit for bit."""
    repeats = np.array(counts[: len(rows)], np.int64)
    repeats[0] += 2
    first, second, label = columns(rows)
    counted = sums_of((first, second, label), counts=repeats)
    repeated = sums_of((np.repeat(first, repeats), np.repeat(second, repeats), np.repeat(label, repeats)))
    assert counted.difference(name, confidence=0.9) == repeated.difference(name, confidence=0.9)


@pytest.mark.parametrize("name", PAIRED)
@given(rows=ROWS)
def test_exchanging_the_scores_changes_the_sign(
    name: MeasureName, rows: list[tuple[float, float, bool]]
) -> None:
    """Second against first is first against second, upside down."""
    first, second, label = columns(rows)
    one = sums_of((first, second, label)).difference(name, confidence=0.95)
    other = sums_of((second, first, label)).difference(name, confidence=0.95)
    assert one.value == -(other.value or 0.0)
    if one.interval is not None:
        lower, upper = bounds(other)
        # Sums of floats in another order.
        assert bounds(one) == pytest.approx((-(upper or 0.0), -(lower or 0.0)), rel=1e-6, abs=1e-12)
    opposite = {ComparisonName.BETTER: ComparisonName.WORSE, ComparisonName.WORSE: ComparisonName.BETTER}
    assert one.verdict is opposite.get(other.verdict, other.verdict)


@pytest.mark.parametrize("name", PAIRED)
def test_identical_scores_differ_by_nothing_that_was_seen(name: MeasureName) -> None:
    """The difference is 0, and its bounds what so many rows may have missed: worst (1 - delta^(1/n))."""
    rng = np.random.default_rng(0)
    score = rng.random(500)
    found = sums_of((score, score, rng.random(500) < score)).difference(name, confidence=0.95)
    worst = 1.0 if name is BRIER else -np.log(np.minimum(score, 1.0 - score).min())
    assert found.value == 0.0
    missed = worst * (1.0 - 0.025 ** (1 / 500))
    assert bounds(found) == pytest.approx((-missed, missed), rel=0.01)
    assert found.verdict is ComparisonName.NOT_TOLD_APART
    assert found.reasons == ()


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize("table", ["recid_compas", "recid_logit"])
def test_difference_is_what_an_inversion_says(
    real: Callable[..., Any], name: MeasureName, table: str
) -> None:
    """On real rows: the mean, and the quantiles of the randomly weighted mean with one row added."""
    score, label = real(table)
    score = np.clip(score, 0.01, 0.99)
    other = np.round(0.1 + 0.8 * score**1.3, 2)
    score = np.round(score, 2)
    d = losses(name, other, label) - losses(name, score, label)
    worst = [1.0, 1.0] if name is BRIER else [-np.log(np.minimum(f, 1 - f).min()) for f in (score, other)]
    found = sums_of((score, other, label)).difference(name, confidence=0.95)
    assert found.value == pytest.approx(d.mean(), rel=1e-12)
    value, rows = np.unique(d, return_counts=True)
    expected = oracle(value, rows=rows.astype(float), least=-worst[0], most=worst[1], confidence=0.95)
    width = expected[1] - expected[0]
    assert bounds(found) == pytest.approx(expected, abs=0.005 * width)


@pytest.mark.parametrize("name", PAIRED)
def test_importance_weights_take_the_sandwich(name: MeasureName) -> None:
    """The spread is that of sum w (d - mean) over the total weight; a row of their share is added.

    The values have the shape of w d: where rows are few and costly their mean has the longer tail. No end is
    nearer than that of two values with this mean and error.
    """
    rng = np.random.default_rng(3)
    first, second, w = rng.random(300), rng.random(300), rng.exponential(size=300)
    label = rng.random(300) < first
    d = losses(name, second, label) - losses(name, first, label)
    mean = np.average(d, weights=w)
    rows = w.sum() ** 2 / (w**2).sum()
    error = np.sqrt((w**2 * (d - mean) ** 2).sum() * rows / (rows - 1)) / w.sum()
    found = sums_of((first, second, label), weight=w).difference(name, confidence=0.95)
    assert found.value == pytest.approx(mean, rel=1e-12)
    worst = [1.0, 1.0] if name is BRIER else [-np.log(np.minimum(f, 1 - f).min()) for f in (first, second)]
    value = mean + error * math.sqrt(300) * (w * d - (w * d).mean()) / (w * d).std()
    least, most = (mean + 300 / rows * (end - mean) for end in (-worst[0], worst[1]))
    ends = {"least": min(least, value.min()), "most": max(most, value.max())}
    shaped = oracle(value, rows=np.ones(300), **ends, confidence=0.95)
    away = error * math.sqrt(rows - 1.0) * np.array([-1.0, 1.0])
    plain = oracle(mean + away, rows=np.full(2, rows / 2), least=-worst[0], most=worst[1], confidence=0.95)
    expected = min(shaped[0], plain[0]), max(shaped[1], plain[1])
    assert bounds(found) == pytest.approx(expected, abs=0.01 * (expected[1] - expected[0]))
    assert NO_HEAVIER in found.assumptions
    heavier = sums_of((first, second, label), weight=8 * w).difference(name, confidence=0.95)
    assert bounds(heavier) == pytest.approx(bounds(found), rel=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "value", "words"),
    [
        (0.5, 0.0, math.inf, "1 row gave probability 0 to what happened by the second score"),
        (0.0, 0.5, -math.inf, "1 row gave probability 0 to what happened by the first score"),
        (0.0, 0.0, None, "1 by the first score and 1 by the second, so both"),
    ],
)
def test_infinite_loss_settles_who_is_worse(
    first: float, second: float, value: float | None, words: str
) -> None:
    """An infinite mean loss is worse than a finite one, and says why there is no interval."""
    part = (np.array([first, 0.2, 0.7]), np.array([second, 0.1, 0.8]), np.array([True, False, True]))
    found = sums_of(part).difference(LOG_LOSS, confidence=0.95)
    assert (found.value, found.interval) == (value, None)
    assert words in found.assumptions[-1]
    verdicts = {math.inf: ComparisonName.WORSE, -math.inf: ComparisonName.BETTER}
    assert found.verdict is verdicts.get(value, ComparisonName.NOT_TOLD_APART)
    assert sums_of(part).difference(BRIER, confidence=0.95).interval is not None


def test_an_infinite_loss_counts_as_often_as_its_row() -> None:
    """One row that is counted three times is three rows."""
    part = (np.array([0.0, 0.2, 0.7]), np.array([0.5, 0.1, 0.8]), np.array([True, False, True]))
    counted = sums_of(part, counts=np.array([3, 1, 1])).difference(LOG_LOSS, confidence=0.95)
    assert "3 rows gave probability 0 to what happened by the first score" in counted.assumptions[-1]


@pytest.mark.parametrize(
    ("weight", "words"), [(None, "one row"), (np.array([1.0, 0.0]), "one row has the weight")]
)
def test_one_row_has_no_spread(weight: np.ndarray | None, words: str) -> None:
    """One row gives a difference without an interval, and says why."""
    rows = 1 if weight is None else 2
    part = (np.full(rows, 0.3), np.full(rows, 0.6), np.full(rows, True))
    found = sums_of(part, weight=weight).difference(BRIER, confidence=0.95)
    assert found.value == pytest.approx(0.16 - 0.49)
    assert found.interval is None
    assert found.assumptions[-1] == f"no interval: {words}"


@settings(max_examples=2 * settings.default.max_examples)
@given(
    first=st.floats(0.01, 0.99),
    second=st.floats(0.01, 0.99),
    label=st.booleans(),
    rows=st.integers(2, 40),
    name=st.sampled_from([BRIER, LOG_LOSS]),
)
@example(first=0.4, second=0.3, label=True, rows=2, name=BRIER)
def test_common_difference_is_bounded_by_what_was_not_seen(
    *, first: float, second: float, label: bool, rows: int, name: MeasureName
) -> None:
    """Where every row differs by d, the upper bound is d + (worst - d) (1 - delta^(1/n)), and so below."""
    assume(first != second)
    part = (np.full(rows, first), np.full(rows, second), np.full(rows, label))
    found = sums_of(part).difference(name, confidence=0.95)
    worst = [1.0 if name is BRIER else -math.log(min(one, 1 - one)) for one in (first, second)]
    d, unseen = found.value or 0.0, 1.0 - 0.025 ** (1.0 / rows)
    expected = d - (worst[0] + d) * unseen, d + (worst[1] - d) * unseen
    assert bounds(found) == pytest.approx(expected, abs=0.03 * (expected[1] - expected[0]))


def test_rare_costly_rows_that_were_not_seen_keep_a_verdict_back() -> None:
    """Nineteen of 20 rows say 0.99999 for 0.998 and were right so far: nothing is told, and it says why."""
    label = np.arange(1000) % 20 > 0
    first, second = np.where(label, 0.99999, 0.6), np.where(label, 0.998, 0.6)
    found = sums_of((first, second, label)).difference(LOG_LOSS, confidence=0.95)
    assert found.verdict is ComparisonName.NOT_TOLD_APART
    assert found.reasons == (
        "rare costly misses (a loss of up to 11.51) may still occur in up to 1 row in 272",
    )
    sure = np.where(label, 1.0, 0.6)
    open_ended = sums_of((second, sure, label)).difference(LOG_LOSS, confidence=0.95)
    assert open_ended.verdict is ComparisonName.NOT_TOLD_APART
    assert open_ended.reasons[0].startswith("there are scores of exactly 0 or 1")


@given(score=st.lists(st.floats(0.001, 0.999), min_size=2, max_size=30), slope=st.floats(0.3, 3.0))
def test_maps_of_one_score_reach_every_difference_there_is(score: list[float], slope: float) -> None:
    """What two maps can differ by holds for both labels of every score seen, and is what bounds them then."""
    at = np.array(score)

    def bent(f: np.ndarray) -> np.ndarray:
        return f**slope / (f**slope + (1.0 - f) ** slope)

    reach = reach_of_maps(np.asarray, bent, at)
    for name in PAIRED:
        for label in (np.zeros(at.size, bool), np.ones(at.size, bool)):
            d = losses(name, bent(at), label) - losses(name, at, label)
            assert reach[name][0] - 1e-12 <= d.min() <= d.max() <= reach[name][1] + 1e-12
    assert -1.0 < reach[BRIER][0] <= 0.0 <= reach[BRIER][1] < 1.0
    label = np.arange(at.size) % 2 == 0
    sums = sums_of((at, bent(at), label))
    wide = bounds(sums.difference(BRIER, confidence=0.95))
    sums.reach = reach
    narrow = bounds(sums.difference(BRIER, confidence=0.95))
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


def test_map_that_says_0_or_1_leaves_an_end_open() -> None:
    """A map to 0 and 1 may lose anything more than the score, and the score nothing more than it."""
    reach = reach_of_maps(np.asarray, np.round, np.array([0.2, 0.9]))
    assert math.isinf(reach[LOG_LOSS][1])
    assert math.isfinite(reach[LOG_LOSS][0])
    both = reach_of_maps(np.round, np.round, np.array([0.2, 0.9]))
    assert both[LOG_LOSS] == (-math.inf, math.inf)


def test_score_next_to_0_leaves_no_end_open() -> None:
    """One less a score below 2^-54 is the largest double below 1, and not 1, where losses have no end."""
    for score in (1e-20, 5e-17, 1e-16):
        least, most = reach_of_maps(np.asarray, np.sqrt, np.array([score, 0.9]))[LOG_LOSS]
        assert least == pytest.approx(0.5 * math.log(score))
        assert most == pytest.approx(math.log(2.0), abs=1e-4)


def test_what_lies_next_to_a_score_counts_for_squared_errors() -> None:
    """A map that steps just above a score that was seen is farthest from the score there."""

    def step(score: np.ndarray) -> np.ndarray:
        return np.where(score > 0.3, 0.9, 0.1)

    corners = np.array([0.3, math.nextafter(0.3, 1.0)])
    least, _ = reach_of_maps(np.asarray, step, np.array([0.3, 0.6]), corners=corners)[BRIER]
    assert least == pytest.approx(0.1**2 - 0.7**2, abs=1e-9)


def test_steps_of_scaling_binning_next_to_0_are_known() -> None:
    """Of rare events outputs step where no row is seen, and log losses tell a billionth from a millionth."""
    rng = np.random.default_rng(2)
    score = rng.beta(0.3, 300.0, 300)
    table = ScoreTable.from_rows(score, rng.random(300) < 30.0 * score)
    fitted = ScalingBinning.fit(table, options=FitOptions(bins=200))
    ends = np.array([score.min(), score.max()])
    every = np.concatenate((score, np.nextafter(score, 1.0), np.geomspace(*ends, 10_000)))
    known = reach_of_maps(np.asarray, fitted.predict, ends, corners=fitted.corners)
    all_there_is = reach_of_maps(np.asarray, fitted.predict, every)
    assert (
        known[LOG_LOSS][0]
        <= all_there_is[LOG_LOSS][0]
        < 0.0
        < all_there_is[LOG_LOSS][1]
        <= known[LOG_LOSS][1]
    )


@pytest.mark.parametrize("rising", [False, True])
def test_a_narrow_piece_of_a_map_is_known(*, rising: bool) -> None:
    """Maps that differ in one bin of a millionth, of which no row was seen, may lose what they say there."""
    edges, ones = np.concatenate((np.arange(1_000) * 1e-6, [1.0])), np.ones(1_000, np.int64)
    first = np.where(np.arange(1_000) > 500, 0.9 if rising else 1e-3, 1e-3)
    second = np.where(np.arange(1_000) == 500, 0.9, first)
    tables = [BinMap(edges, values, ones, 0 * ones) for values in (first, second)]
    maps: list[Recalibrator] = [Isotonic(one) for one in tables]
    if not rising:
        maps = [Histogram(Binning.EQUAL_MASS, weighted=False, table=one) for one in tables]
    corners = np.concatenate([one.corners for one in maps])
    known = reach_of_maps(maps[0].predict, maps[1].predict, np.array([1.5e-4, 9.5e-4]), corners=corners)
    assert known[BRIER][1] > 0.8


def estimate(value: float, interval: tuple[float | None, float | None] | None) -> Estimate:
    """Return an estimate of ece with bounds at 97.5 %."""
    found = None
    if interval is not None:
        found = Interval(*interval, 0.975, "made up", Target.FIXED_DESIGN, finite_sample=True)
    return Estimate(MeasureName.ECE, value, found, None, ("rows are independent",), 100)


@pytest.mark.parametrize(
    ("first", "second", "expected", "verdict"),
    [
        ((0.10, 0.20), (0.02, 0.05), (-0.18, -0.05), ComparisonName.BETTER),
        ((0.02, 0.05), (0.10, 0.20), (0.05, 0.18), ComparisonName.WORSE),
        ((0.02, 0.12), (0.10, 0.20), (-0.02, 0.18), ComparisonName.NOT_TOLD_APART),
        ((None, 0.05), (0.10, 0.20), (0.05, None), ComparisonName.WORSE),
        ((0.02, None), (0.10, 0.20), (None, 0.18), ComparisonName.NOT_TOLD_APART),
    ],
)
def test_bonferroni_takes_the_farthest_ends(
    first: Any, second: Any, expected: Any, verdict: ComparisonName
) -> None:
    """The difference lies between L2 - U1 and U2 - L1, where there are such bounds."""
    found = difference_of_intervals(estimate(0.1, first), estimate(0.15, second), confidence=0.95)
    assert found.value == pytest.approx(0.05)
    assert bounds(found) == pytest.approx(expected)
    assert found.verdict is verdict
    assert found.interval is not None
    assert found.interval.method == "Bonferroni of both intervals at 97.5 %"
    assert found.interval.confidence == 0.95


def test_missing_interval_is_said() -> None:
    """Where one side has no interval the difference has none, and a sentence says so."""
    found = difference_of_intervals(estimate(0.1, None), estimate(0.1, (0.0, 0.2)), confidence=0.95)
    assert found.interval is None
    assert found.assumptions[-1] == "no interval: one of the two scores has none"


def test_sums_survive_the_way_to_another_process() -> None:
    """What a worker hands back says the same after pickling."""
    sums = sums_of((np.array([0.1, 0.6]), np.array([0.3, 0.7]), np.array([False, True])))
    again = pickle.loads(pickle.dumps(sums))  # noqa: S301 - our own sums
    assert again.difference(LOG_LOSS, confidence=0.9) == sums.difference(LOG_LOSS, confidence=0.9)


def test_infinite_estimate_has_no_difference() -> None:
    """Infinity less a number is no number to print."""
    found = difference_of_intervals(estimate(0.1, (0.0, 0.2)), estimate(float("inf"), None), confidence=0.95)
    assert (found.value, found.interval) == (None, None)


@pytest.mark.parametrize("name", PAIRED)
def test_weighted_difference_here_strays_by_what_labels_move(name: MeasureName) -> None:
    """By hand, in parts as in one; a certain score leaves no bound of log loss."""
    generator = np.random.default_rng(4)
    score, label, weight = generator.random(80), generator.random(80) < 0.5, generator.lognormal(size=80)
    other = 0.9 * score + 0.03
    whole, parts = PairedSums(), PairedSums()
    whole.add(other, score, label, Weighing(weight=weight))
    for some in (slice(0, 30), slice(30, 80)):
        one = PairedSums()
        one.add(other[some], score[some], label[some], Weighing(weight=weight[some]))
        parts.merge(one)
    found = whole.difference_here(name, confidence=0.9)
    assert parts.difference_here(name, confidence=0.9) == found
    yes, no = np.ones(80, bool), np.zeros(80, bool)
    gap = [losses(name, score, label) - losses(name, other, label) for label in (yes, no)]
    margin = math.sqrt(math.log(20.0) / 2.0 * ((weight * (gap[0] - gap[1])) ** 2).sum()) / weight.sum()
    assert found.value is not None
    assert bounds(found) == pytest.approx((found.value - margin, found.value + margin), rel=1e-9)
    assert bounds(whole.turned().difference_here(name, confidence=0.9)) == pytest.approx(
        (-found.value - margin, -found.value + margin), rel=1e-9
    )
    whole.add(np.array([0.5]), np.array([1.0]), np.array([True]), Weighing(weight=np.array([1.0])))
    assert (whole.difference_here(name, confidence=0.9).interval is None) == (name is LOG_LOSS)
