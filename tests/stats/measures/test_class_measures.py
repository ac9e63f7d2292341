"""Measures of several classes together: laws, oracles by hand, and simulated coverage."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr
from scipy.stats import beta, binom

import calibcli
from added_row import bounds as oracle
from calibcli.names import Binning, ClassMeasure, ComparisonName, MeasureName
from calibcli.stats.bounds.proportion import deviation_of_a_mean
from calibcli.stats.measures import NO_WEIGHTED_INTERVAL, ClassEstimate
from calibcli.stats.measures.binned import binned_ece
from calibcli.stats.measures.classes import ClassViews, class_measure
from calibcli.stats.measures.classes.binned import alike, size_if_calibrated
from calibcli.stats.measures.classes.differences import JOINT, ClassDifferences, Predicted
from calibcli.stats.measures.differences import PAIRED, Difference
from calibcli.stats.measures.l2 import t_statistic
from calibcli.stats.measures.scores import brier, log_loss
from calibcli.stats.table import ONCE, Floats, Integers, Weighing, sliced
from calibcli.stats.table import classes as class_tables
from calibcli.stats.table.bins import binned, bins_of
from calibcli.stats.table.classes import ClassSums, RunningClasses
from class_rows import drawn_rows, labels_of, softmax, views_of

C = ClassMeasure
EVERY = tuple(ClassMeasure)
BINS = 15


def every(views: ClassViews) -> dict[ClassMeasure, ClassEstimate]:
    """Return every measure."""
    return {name: class_measure(name, views) for name in EVERY}


def numbers(found: dict[ClassMeasure, ClassEstimate]) -> list[float]:
    """Return every value, bound, null reference and end of its range in one list."""
    listed: list[float] = []
    for one in found.values():
        ends = (None, None) if one.interval is None else (one.interval.lower, one.interval.upper)
        null = (one.null, one.null_lower, one.null_upper)
        listed += [math.nan if each is None else each for each in (one.value, *ends, *null)]
    return listed


def gaps_by_hand(score: Floats, label: Floats) -> tuple[Floats, Floats, Floats]:
    """Return rows, sum of label - score and its squares of each bin (k/15, (k+1)/15]."""
    place = np.clip(np.ceil(score * BINS).astype(int) - 1, 0, BINS - 1)
    rest = label - score
    columns = (np.ones_like(score), rest, rest**2)
    rows, gap, squares = (np.bincount(place, one, minlength=BINS) for one in columns)
    return rows, gap, squares


def t_by_hand(rows: Floats, gap: Floats, squares: Floats) -> float:
    """Return the sum over bins of (S^2 - Q) / (n - 1), not divided by the number of rows."""
    two = rows >= 2
    return float(((gap[two] ** 2 - squares[two]) / (rows[two] - 1)).sum())


def test_values_are_those_of_sums_by_hand() -> None:
    """Each measure equals its definition, written out in numpy over rows."""
    probability, label = drawn_rows(500, 4, seed=3)
    n, count = probability.shape
    predicted, top = probability.argmax(axis=1), probability.max(axis=1)
    rest = [gaps_by_hand(probability[:, k], (label == k).astype(float)) for k in range(count)]
    kept = [predicted == k for k in range(count)]
    tops = [gaps_by_hand(top[one], (label[one] == predicted[one]).astype(float)) for one in kept]
    found = every(views_of(probability, label))
    right = probability[np.arange(n), label]
    sizes = [np.abs(gap).sum() for _, gap, _ in tops]
    assert {name: one.value for name, one in found.items()} == pytest.approx(
        {
            C.ACCURACY: np.mean(predicted == label),
            C.CLASS_LOG_LOSS: -np.log(right).mean(),
            C.CLASS_BRIER: ((probability - np.eye(count)[label]) ** 2).sum(axis=1).mean(),
            C.CLASSWISE_ECE: np.mean([np.abs(gap).sum() / n for _, gap, _ in rest]),
            C.MARGINAL_L2: math.sqrt(np.mean([t_by_hand(*one) / n for one in rest])),
            C.TOP_LABEL_ECE: sum(sizes) / n,
            C.TOP_LABEL_L2: math.sqrt(sum(t_by_hand(*one) for one in tops) / n),
            C.TOP_LABEL_ECE_UNWEIGHTED: np.mean([s / one.sum() for s, one in zip(sizes, kept, strict=True)]),
        },
        rel=1e-12,
    )


@pytest.mark.parametrize("seed", range(4))
def test_rounding_of_probabilities_is_no_error_of_the_classes(seed: int) -> None:
    """Rows add up to 1 but for the last digit, which proves nothing about 60 calibrated ones."""
    found = class_measure(C.CLASSWISE_ECE, views_of(*drawn_rows(60, 4, seed=seed)))
    assert found.interval is not None
    assert found.interval.lower == 0.0


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=4, max_size=4).filter(any), st.floats(0.1, 9.0)
)
@settings(max_examples=15)
def test_weights_of_classes_are_those_of_the_definition(weights: list[float], times: float) -> None:
    """T is the weighted mean of the classes' own; only ratios matter, and weights of 1 change nothing."""
    probability, label = drawn_rows(300, 4, seed=1)
    views = views_of(probability, label)
    own = [t_by_hand(*gaps_by_hand(probability[:, k], (label == k).astype(float))) / 300 for k in range(4)]

    def found(by: list[float]) -> ClassEstimate:
        named = {f"{place:03}": weight for place, weight in enumerate(by)}
        return class_measure(C.MARGINAL_L2, replace(views, weights=named))

    one, scaled = found(weights), found([times * weight for weight in weights])
    assert one.details["t"] == pytest.approx(np.average(own, weights=weights), rel=1e-9, abs=1e-12)
    assert one.interval is not None
    assert scaled.interval is not None
    assert scaled.interval.ends == pytest.approx(one.interval.ends, rel=1e-9)
    alone = [0.0, 0.0, 1.0, 0.0]
    assert found(alone).value == pytest.approx(math.sqrt(max(own[2], 0.0)), rel=1e-9)
    assert found([1.0] * 4).value == class_measure(C.MARGINAL_L2, views).value


@given(st.integers(0, 1000))
@settings(max_examples=15)
def test_frequency_weights_are_repeated_rows(seed: int) -> None:
    """A row of frequency w counts as w rows in every value, bound, null reference and its range."""
    probability, label = drawn_rows(80, 3, seed=seed)
    counts = np.random.default_rng(seed).integers(1, 4, label.size)
    counts[0] = 1
    repeated = views_of(np.repeat(probability, counts, axis=0), np.repeat(label, counts))
    weighted = views_of(probability, label, counts=counts)
    assert numbers(every(weighted)) == pytest.approx(numbers(every(repeated)), rel=1e-9, nan_ok=True)


def test_two_classes_are_the_binary_case() -> None:
    """With two classes each class against the rest is the binary score, seen from either side."""
    probability, label = drawn_rows(300, 2, seed=5)
    views = views_of(probability, label)
    found, table = every(views), views.rest[1].table
    bins = bins_of(Binning.EQUAL_WIDTH, BINS, table=table)
    assert found[C.CLASSWISE_ECE].value == pytest.approx(binned_ece(table, bins=bins).value, rel=1e-12)
    assert found[C.MARGINAL_L2].details["t"] == pytest.approx(t_statistic(binned(table, bins)), rel=1e-12)
    assert found[C.CLASS_BRIER].value == pytest.approx(2 * brier(table).value, rel=1e-12)
    sure = views_of(np.array([[1.0 - 1e-9, 1e-9], [1e-9, 1.0 - 1e-9]]), np.array([0, 1]))
    assert class_measure(C.CLASS_BRIER, sure).value == pytest.approx(2e-18, rel=1e-6, abs=0.0)
    one, two = found[C.CLASS_LOG_LOSS], log_loss(table)
    assert one.interval is not None
    assert two.interval is not None
    ends = one.interval.lower, one.interval.upper
    assert (one.value, one.null) == pytest.approx((two.value, two.null), rel=1e-12)
    # The losses of several classes are known to a cell.
    assert ends == pytest.approx((two.interval.lower, two.interval.upper), rel=1e-3)


def parts(probability: Floats, label: Integers, limit: int | None, cuts: int) -> RunningClasses:
    """Return the tables of all rows, gathered in parts and merged."""
    names = tuple(str(place) for place in range(probability.shape[1]))
    whole = RunningClasses(names, limit)
    for some in np.array_split(np.arange(label.size), cuts):
        part = RunningClasses(names, limit)
        for block in np.array_split(some, 2):
            part.add_rows(probability[block], label[block])
        whole.add(part)
    return whole


@pytest.mark.parametrize("limit", [None, 50])
def test_merged_parts_are_the_whole(monkeypatch: pytest.MonkeyPatch, limit: int | None) -> None:
    """Tables and joint sums of parts merge into those of all rows, as exact tables and as grids."""
    monkeypatch.setattr(sliced, "_BUFFER_ROWS", 60)
    probability, label = drawn_rows(400, 3, sharpness=12.0, seed=7)
    once, cut = (parts(probability, label, limit, cuts).tables() for cuts in (1, 5))
    assert once == cut
    assert {table.kind for table in once.values()} == {"exact" if limit is None else "grid"}
    sums = [ClassSums(3), ClassSums(3), ClassSums(3)]
    predicted = probability.argmax(axis=1)
    for total, some in zip(sums, (slice(None), slice(0, 150), slice(150, None)), strict=True):
        total.add_rows(probability[some], label[some], predicted[some])
    sums[2].merge(sums[1])
    assert (
        sums[2].losses[ClassMeasure.CLASS_LOG_LOSS].linear.exact()
        == sums[0].losses[ClassMeasure.CLASS_LOG_LOSS].linear.exact()
    )
    assert (
        sums[2].losses[ClassMeasure.CLASS_BRIER].squares.exact()
        == sums[0].losses[ClassMeasure.CLASS_BRIER].squares.exact()
    )


@pytest.mark.parametrize("sharpness", [1.0, 30.0, 200.0])
@pytest.mark.parametrize("block", [200, 1 << 16])
def test_cells_side_by_side_are_those_of_groups(
    monkeypatch: pytest.MonkeyPatch, sharpness: float, block: int
) -> None:
    """Counting the cells of all classes at once, or of a few at a time, gives the grids that counting them as
    groups does.
    """
    monkeypatch.setattr(sliced, "_BUFFER_ROWS", 60)
    monkeypatch.setattr(class_tables, "_BLOCK", block)
    probability, label = drawn_rows(300, 5, sharpness=sharpness, seed=11)
    counted: list[int] = []
    plain_sums = class_tables.ClassCells.sums

    def sums(cells: class_tables.ClassCells) -> sliced.KeyedSums:
        found = plain_sums(cells)
        counted.append(int(found.whole[0].sum()))
        return found

    monkeypatch.setattr(class_tables.ClassCells, "sums", sums)
    dense = parts(probability, label, 40, 3).tables()
    assert sum(counted) > 0
    monkeypatch.setattr(class_tables.ClassCells, "worth_it", staticmethod(lambda _: False))
    assert parts(probability, label, 40, 3).tables() == dense


@pytest.mark.parametrize("block", [200, 1 << 16])
def test_rows_that_count_several_times_are_so_many_in_cells(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """Counts give the grids that repeated rows give."""
    monkeypatch.setattr(class_tables, "_BLOCK", block)
    monkeypatch.setattr(class_tables, "_WAITING", 200)
    probability, label = drawn_rows(300, 5, sharpness=30.0, seed=11)
    counts = np.arange(label.size) % 3 + 1
    grids = []
    for times, weighing in ((np.ones_like(counts), Weighing(counts=counts)), (counts, ONCE)):
        classes = RunningClasses(tuple("abcde"), 40)
        # So many scores that what comes after is counted in cells.
        classes.add_rows(probability, label)
        classes.add_rows(np.repeat(probability, times, axis=0), np.repeat(label, times), weighing)
        grids.append(classes.tables())
    assert grids[0] == grids[1]


def test_murphys_parts_add_up_to_the_score() -> None:
    """Reliability - resolution + uncertainty + what bins hide is the Brier score over all classes."""
    found = class_measure(C.CLASS_BRIER, views_of(*drawn_rows(300, 4, seed=2)))
    part = {key: float(value) for key, value in found.details.items() if key != "parts_over"}
    total = part["reliability"] - part["resolution"] + part["uncertainty"]
    total += part["within_variance"] - part["within_covariance"]
    assert total == pytest.approx(found.value, rel=1e-12)


def test_a_right_class_of_probability_0_is_certain_and_wrong() -> None:
    """Log loss is then infinite without an interval."""
    probability = np.array([[1.0, 0.0], [0.5, 0.5], [0.3, 0.7]])
    label = np.array([1, 0, 1])
    found = class_measure(C.CLASS_LOG_LOSS, views_of(probability, label))
    assert (found.value, found.interval, found.details["certain_and_wrong"]) == (math.inf, None, 1)


def test_importance_weights_leave_the_bounds_that_hold() -> None:
    """ECEs keep Hoeffding's interval at the effective number of rows; the others say why they have none."""
    probability, label = drawn_rows(200, 3, seed=4)
    found = every(views_of(probability, label, weight=np.linspace(0.1, 2.0, label.size)))
    for name in (C.ACCURACY, C.MARGINAL_L2, C.TOP_LABEL_L2):
        assert found[name].interval is None
        assert NO_WEIGHTED_INTERVAL in found[name].assumptions
    for name in (C.CLASSWISE_ECE, C.TOP_LABEL_ECE, C.TOP_LABEL_ECE_UNWEIGHTED):
        interval = found[name].interval
        assert interval is not None
        assert interval.lower is not None
        assert interval.upper is not None
        assert interval.lower <= found[name].value <= interval.upper
        assert found[name].null is None


@pytest.mark.parametrize("exponent", [-400, -60, 12, 40, 400])
def test_the_unit_of_importance_weights_changes_no_interval(exponent: int) -> None:
    """Weights of a survey are in thousands as well as around one, and intervals are the same."""
    probability, label = drawn_rows(200, 3, seed=4)
    weight = np.linspace(0.1, 2.0, label.size)
    one, other = (every(views_of(probability, label, weight=weight * unit)) for unit in (1.0, 2.0**exponent))
    for name in (C.CLASS_BRIER, C.CLASS_LOG_LOSS):
        assert other[name].interval == one[name].interval
        assert other[name].details["costly_rows"] == pytest.approx(one[name].details["costly_rows"], rel=1e-9)
    first, second, label = two_sides(60, seed=3)
    weight = np.linspace(0.1, 2.0, label.size)
    assert every_difference(added(first, second, label, weight=weight * 2.0**exponent)) == every_difference(
        added(first, second, label, weight=weight)
    )


@pytest.mark.parametrize("classes", [2, 5, 40, 64])
def test_a_row_by_itself_adds_what_it_adds_among_others(classes: int) -> None:
    """Files may be cut anywhere: a last row group of one row changes no digit of what would be by chance."""
    probability, _ = drawn_rows(100, classes, seed=5)
    losses = (C.CLASS_BRIER, C.CLASS_LOG_LOSS)
    whole = class_tables.noise_of(probability, losses)
    each = [class_tables.noise_of(row[np.newaxis], losses) for row in probability]
    for place, noise in enumerate(whole):
        np.testing.assert_array_equal(np.concatenate([one[place] for one in each]), noise)


def test_weights_of_one_are_rows_that_count_once() -> None:
    """Values do not depend on whether a weight of one was written down."""
    probability, label = drawn_rows(200, 3, seed=6)
    heavy, plain = (
        every(views_of(probability, label, weight=weight)) for weight in (np.ones(label.size), None)
    )
    values = [[one.value for one in found.values()] for found in (heavy, plain)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_certain_rows_leave_room_for_one_that_is_wrong() -> None:
    """Where every score is 0 or 1 and right, the next row may not be; lone rows of bins give no T."""
    certain = every(views_of(np.eye(3)[[0, 1, 2, 0] * 10], np.array([0, 1, 2, 0] * 10)))
    for name in (C.MARGINAL_L2, C.TOP_LABEL_L2):
        interval = certain[name].interval
        assert interval is not None
        assert certain[name].value == interval.lower == 0.0
        assert interval.upper is not None
        # 20 rows of the first class and 10 of each other: by 1 - .025^(1/20) of them none is wrong.
        assert interval.upper > math.sqrt(0.5) * (1.0 - 0.025 ** (1 / 20))
    lone = every(views_of(np.array([[0.6, 0.4]]), np.array([0])))
    assert math.isnan(lone[C.MARGINAL_L2].value)
    assert math.isnan(lone[C.TOP_LABEL_L2].value)
    assert lone[C.CLASS_BRIER].interval is None


def test_upper_bound_of_classwise_ece_is_two_d_star_over_the_classes() -> None:
    """It lies (2/C) d* above the value, which d* alone would overstate for many classes."""
    views = views_of(*drawn_rows(400, 8, seed=1))
    found = class_measure(C.CLASSWISE_ECE, views)
    assert found.interval is not None
    assert found.interval.upper == pytest.approx(found.value + 2 / 8 * deviation_of_a_mean(400, views.delta))


@pytest.mark.parametrize(("classes", "sharpness", "rows"), [(3, 1.5, 100), (20, 4.0, 300), (2, 0.1, 40)])
def test_null_reference_is_the_mean_of_draws(classes: int, sharpness: float, rows: int) -> None:
    """Without drawing, the sizes of gaps are within 2 % of their mean over draws, which fill the range."""
    generator = np.random.default_rng(8)
    probability = softmax(sharpness * generator.standard_normal((rows, classes)))
    label = labels_of(probability, generator)
    moments = alike([size_if_calibrated(one.sums) for one in views_of(probability, label).rest])
    expected, (low, high) = moments.reference
    place = [np.clip(np.ceil(one * BINS).astype(int) - 1, 0, BINS - 1) for one in probability.T]
    sizes = []
    for _ in range(1_500):
        rest = np.eye(classes)[labels_of(probability, generator)] - probability
        columns = zip(place, rest.T, strict=True)
        sizes.append(sum(np.abs(np.bincount(one, column)).sum() for one, column in columns))
    noise = 4.0 * np.std(sizes) / math.sqrt(len(sizes))
    assert expected == pytest.approx(np.mean(sizes), rel=0.02, abs=noise)
    assert 0.02 < np.mean(np.array(sizes) < low) < 0.09
    assert 0.02 < np.mean(np.array(sizes) > high) < 0.09


@pytest.mark.parametrize("limit", [None, 300])
@pytest.mark.parametrize("sure", [0, 150])
def test_by_chance_nine_in_ten_calibrated_losses_are_in_the_range(sure: int, limit: int | None) -> None:
    """Rows that are sure leave nothing open; as many others would have filled a range twice as wide."""
    generator = np.random.default_rng(11)
    probability = softmax(1.5 * generator.standard_normal((300, 3)))
    probability[:sure] = np.eye(3)[generator.integers(0, 3, sure)]
    label = labels_of(probability, generator)
    drawn = np.stack([labels_of(probability, generator) for _ in range(2_000)])
    views, row = views_of(probability, label, limit=limit), np.arange(300)
    with np.errstate(divide="ignore"):
        losses = -np.log(probability), 1.0 - 2.0 * probability + (probability**2).sum(axis=1, keepdims=True)
    for name, loss in zip((C.CLASS_LOG_LOSS, C.CLASS_BRIER), losses, strict=True):
        found, shown = class_measure(name, views), loss[row, drawn].mean(axis=1)
        assert found.null_range is not None
        low, high = found.null_range
        assert found.null == pytest.approx(shown.mean(), rel=0.01)
        assert 0.03 < np.mean(shown < low) < 0.07
        assert 0.03 < np.mean(shown > high) < 0.07


def truths(probability: Floats, truth: Floats) -> dict[ClassMeasure, float]:
    """Return what the measures estimate at these scores, given the label probabilities."""
    n, count = probability.shape
    predicted, top = probability.argmax(axis=1), probability.max(axis=1)
    rate = truth[np.arange(n), predicted]
    rest = [gaps_by_hand(probability[:, k], truth[:, k]) for k in range(count)]
    kept = [predicted == k for k in range(count) if (predicted == k).any()]
    tops = [gaps_by_hand(top[one], rate[one]) for one in kept]
    energy = [sum(gap[r > 0] ** 2 / r[r > 0]) for r, gap, _ in rest]
    energy_top = [sum(gap[r > 1] ** 2 / r[r > 1]) for r, gap, _ in tops]
    return {
        C.CLASSWISE_ECE: float(np.mean([np.abs(gap).sum() / n for _, gap, _ in rest])),
        C.TOP_LABEL_ECE: sum(np.abs(gap).sum() for _, gap, _ in tops) / n,
        C.TOP_LABEL_ECE_UNWEIGHTED: float(np.mean([np.abs(gap).sum() / r.sum() for r, gap, _ in tops])),
        C.MARGINAL_L2: math.sqrt(np.mean(energy) / n),
        C.TOP_LABEL_L2: math.sqrt(sum(energy_top) / n),
    }


@pytest.mark.parametrize("times", [20, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("heat", [1.0, 1.6, math.inf])
def test_intervals_cover_what_they_speak_of(heat: float, times: int) -> None:
    """Of intervals at 90 % for drawn labels, no more miss on either side than chance allows."""
    generator = np.random.default_rng(17)
    logits = 1.5 * np.round(generator.standard_normal((240, 3)), 1)
    if math.isinf(heat):
        # One row again and again, of even chances: gaps of one sign, where the bounds are sharpest.
        logits = np.tile([[2.0, 0.0, 0.0]], (240, 1))
    probability, truth = softmax(logits), softmax(logits / heat)
    expected = truths(probability, truth)
    above, below = dict.fromkeys(expected, 0), dict.fromkeys(expected, 0)
    for _ in range(times):
        views = views_of(probability, labels_of(truth, generator), confidence=0.9)
        for name, value in expected.items():
            interval = class_measure(name, views).interval
            assert interval is not None
            assert interval.lower is not None
            assert interval.upper is not None
            above[name] += value > interval.upper + 1e-12
            below[name] += value < interval.lower - 1e-12
    assert max(*above.values(), *below.values()) <= binom.isf(1e-6, times, 0.05), (above, below)


def two_sides(
    rows: int = 300, *, seed: int = 0, classes: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return probabilities, others that are drawn near them, and labels."""
    first, label = drawn_rows(rows, classes, seed=seed)
    noise = np.random.default_rng(seed + 1).normal(0.0, 0.7, first.shape)
    return first, softmax(np.log(first) + noise), label


def added(
    first: np.ndarray,
    second: np.ndarray,
    label: np.ndarray,
    *,
    counts: np.ndarray | None = None,
    weight: np.ndarray | None = None,
) -> ClassDifferences:
    """Return the sums of rows that come at once."""
    sums = ClassDifferences((0, 1, 2))
    sides = [Predicted(one, one.argmax(axis=1)) for one in (first, second)]
    sums.add_rows(*sides, label, Weighing(counts, weight))
    return sums


def every_difference(sums: ClassDifferences) -> list[Difference | None]:
    """Return all that the sums say."""
    found: list[Difference | None] = [sums.joint.difference(name, confidence=0.9) for name in JOINT]
    parts = [
        sums.confidence,
        *(one(place) for place in range(3) for one in (sums.against_rest, sums.predicting)),
    ]
    found.extend(
        None if part is None else part.difference(name, confidence=0.9) for part in parts for name in PAIRED
    )
    return found


def slow_losses(probability: np.ndarray, label: np.ndarray) -> dict[ClassMeasure, np.ndarray]:
    """Return the losses of each row from their definitions."""
    hot = np.eye(probability.shape[1])[label]
    return {
        C.CLASS_LOG_LOSS: np.array([-np.log(p[y]) for p, y in zip(probability, label, strict=True)]),
        C.CLASS_BRIER: ((probability - hot) ** 2).sum(axis=1),
        C.ACCURACY: (probability.argmax(axis=1) == label).astype(float),
    }


@pytest.mark.parametrize("name", [C.CLASS_LOG_LOSS, C.CLASS_BRIER])
def test_differences_of_losses_are_those_of_their_definitions(name: ClassMeasure) -> None:
    """The mean of second less first, and its interval with the row added that loses most by one side."""
    first, second, label = two_sides()
    each = slow_losses(second, label)[name] - slow_losses(first, label)[name]
    found = added(first, second, label).joint.difference(name, confidence=0.9)
    worst = [2.0, 2.0] if name is C.CLASS_BRIER else [-np.log(side.min()) for side in (first, second)]
    expected = oracle(each, least=-worst[0], most=worst[1], confidence=0.9)
    assert found.interval is not None
    assert found.value == pytest.approx(each.mean(), abs=1e-14)
    ends = found.interval.lower, found.interval.upper
    assert ends == pytest.approx(expected, abs=0.01 * (expected[1] - expected[0]))


def test_difference_of_accuracies_is_bounded_at_every_number_of_rows() -> None:
    """By exact bounds of how often sides differ, a tenth of the error, and of who is right then."""
    first, second, label = two_sides(90, seed=5)
    right = [one.argmax(axis=1) == label for one in (first, second)]
    gained, lost = int((right[1] & ~right[0]).sum()), int((right[0] & ~right[1]).sum())
    found = added(first, second, label).joint.difference(C.ACCURACY, confidence=0.95)
    assert min(gained, lost) > 0
    apart = gained + lost
    often = beta.ppf(0.0025, apart, 91 - apart), beta.ppf(0.9975, apart + 1, 90 - apart)
    who = beta.ppf(0.0225, gained, lost + 1), beta.ppf(0.9775, gained + 1, lost)
    assert found.interval is not None
    assert found.interval.finite_sample
    assert found.value == pytest.approx((gained - lost) / 90)
    assert who[0] < 0.5 < who[1]
    expected = [(2 * end - 1) * often[1] for end in who]
    assert found.interval.ends == pytest.approx(expected, rel=1e-9)


def test_more_accuracy_is_better_and_more_loss_is_worse() -> None:
    """The verdict knows which way is up."""
    label = np.arange(3000) % 3
    sure = np.full((3000, 3), 0.1)
    sure[np.arange(3000), label] = 0.8
    wrong = np.roll(sure, 1, axis=1)
    for sides, verdict in (((wrong, sure), ComparisonName.BETTER), ((sure, wrong), ComparisonName.WORSE)):
        sums = added(*sides, label)
        assert sums.joint.difference(C.ACCURACY, confidence=0.95).verdict is verdict
    same = added(sure, sure, label)
    assert {same.joint.difference(name, confidence=0.95).verdict for name in JOINT} == {
        ComparisonName.NOT_TOLD_APART
    }


def test_views_differ_as_their_definitions_say() -> None:
    """The confidence by the label of each side; a class by the same rows on both sides, or not at all."""
    first, second, label = two_sides()
    sums = added(first, second, label)
    tops = [one.max(axis=1) for one in (first, second)]
    right = [one.argmax(axis=1) == label for one in (first, second)]
    squares = [(top - hit) ** 2 for top, hit in zip(tops, right, strict=True)]
    found = sums.confidence.difference(MeasureName.BRIER, confidence=0.95)
    assert found.value == pytest.approx((squares[1] - squares[0]).mean(), abs=1e-14)
    assert sums.changed == int((first.argmax(axis=1) != second.argmax(axis=1)).sum()) > 0
    for place in range(3):
        rest = sums.against_rest(place)
        assert rest is not None
        each = (second[:, place] - (label == place)) ** 2 - (first[:, place] - (label == place)) ** 2
        assert rest.difference(MeasureName.BRIER, confidence=0.95).value == pytest.approx(
            each.mean(), abs=1e-14
        )
        assert sums.predicting(place) is None
    cooler = softmax(0.5 * np.log(first))
    kept = added(first, cooler, label)
    for place in range(3):
        top, those = kept.predicting(place), first.argmax(axis=1) == place
        assert top is not None
        each = (cooler[those, place] - (label == place)[those]) ** 2
        each = each - (first[those, place] - (label == place)[those]) ** 2
        assert top.difference(MeasureName.BRIER, confidence=0.95).value == pytest.approx(
            each.mean(), abs=1e-14
        )
    assert kept.changed == 0
    assert kept.against_rest(7) is None


@given(st.integers(0, 2**32 - 1), st.sampled_from(["plain", "counts", "weight"]))
@settings(max_examples=6)
def test_order_and_parts_of_the_rows_do_not_matter(seed: int, kind: str) -> None:
    """Every difference has the same bits, whatever the order and the cut; counts are rows that repeat."""
    first, second, label = two_sides(60, seed=seed % 1000)
    generator = np.random.default_rng(seed)
    counts = generator.integers(1, 4, 60) if kind == "counts" else None
    weight = generator.exponential(size=60) if kind == "weight" else None
    whole = every_difference(added(first, second, label, counts=counts, weight=weight))
    order, cut = generator.permutation(60), int(generator.integers(1, 59))

    def part(which: np.ndarray) -> ClassDifferences:
        return added(
            first[which],
            second[which],
            label[which],
            counts=None if counts is None else counts[which],
            weight=None if weight is None else weight[which],
        )

    parts = part(order[:cut])
    parts.merge(part(order[cut:]))
    assert every_difference(parts) == whole
    if counts is not None:
        many = np.repeat(np.arange(60), counts)
        for one, two in zip(
            whole, every_difference(added(first[many], second[many], label[many])), strict=True
        ):
            assert (one is None) == (two is None)
            assert one is None or two is None or one.value == pytest.approx(two.value, abs=1e-15)


def test_no_map_saves_more_than_the_calibration_error() -> None:
    """Over rows whose labels have exactly their rates a map saves the squared distance that it takes away."""
    rng = np.random.default_rng(4)
    probs = rng.dirichlet(np.ones(3), 40)
    counts = np.array([rng.multinomial(20, np.cbrt(one) / np.cbrt(one).sum()) for one in probs])
    p, rates = np.repeat(probs, 20, axis=0), np.repeat(counts / 20, 20, axis=0)
    rows = pd.DataFrame(p, columns=["p_a", "p_b", "p_c"])
    rows["label"] = np.concatenate([np.repeat(["a", "b", "c"], one) for one in counts])
    kept = calibcli.fit(rows, probs="p_*", label="label", multiclass="vector")
    words = {"probs": "p_*", "label": "label", "metric": ["class_brier", "class_log_loss"]}
    before, after = calibcli.measure(rows, **words), calibcli.measure(rows, artifact=kept, **words)
    saved = before["class_brier"].value - after["class_brier"].value
    mapped = calibcli.apply(kept, rows, probs="p_*")[
        ["calibrated_a", "calibrated_b", "calibrated_c"]
    ].to_numpy()
    error, left = (float(np.mean(np.sum((one - rates) ** 2, axis=1))) for one in (p, mapped))
    assert saved == pytest.approx(error - left, abs=1e-9)
    assert 0.0 < saved <= error
    kl = float(np.mean(np.sum(rel_entr(rates, p), axis=1)))
    assert 0.0 < before["class_log_loss"].value - after["class_log_loss"].value <= kl
