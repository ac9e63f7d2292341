"""The l2 error of the k largest probabilities together."""

import math
from collections import defaultdict

import numpy as np
import pytest

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Binning
from calibcli.stats.measures import TopError
from calibcli.stats.measures.classes.binned import top_errors
from calibcli.stats.measures.l2 import debiased_l2, t_variance
from calibcli.stats.table import Floats, Integers, ScoreTable, Weighing
from calibcli.stats.table.bins import ATOMS, Bins, equal_width_edges
from calibcli.stats.table.classes import TopCells
from class_rows import drawn_rows

FIFTEEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))
GIVEN = Bins(None, np.array([0.0, 0.2, 0.45, 0.9, 1.0]))


def errors_of(
    probability: Floats,
    label: Integers,
    *,
    ranks: int = 3,
    bins: Bins = FIFTEEN,
    counts: Integers | None = None,
    weight: Floats | None = None,
) -> tuple[TopError, ...]:
    """Return the errors of rows."""
    cells = TopCells(ranks, bins)
    cells.add_rows(probability, label, Weighing(counts, weight))
    return top_errors(cells, confidence=0.95)


def by_pairs(probability: Floats, label: Integers, k: int, bins: Bins) -> float:
    """Return T from its definition: products of the residuals of all pairs of different rows in a cell."""
    assert bins.edges is not None
    cells: dict[tuple[int, ...], list[Floats]] = defaultdict(list)
    for row, right in zip(probability, label, strict=True):
        order = sorted(range(row.size), key=lambda place: -row[place])[:k]
        cell = tuple(max(0, int(np.searchsorted(bins.edges, row[place], side="left")) - 1) for place in order)
        cells[cell].append(np.array([(place == right) - row[place] for place in order]))
    pairs = (
        (one @ two) / (len(rows) - 1)
        for rows in cells.values()
        for i, one in enumerate(rows)
        for j, two in enumerate(rows)
        if i != j
    )
    return math.fsum(pairs) / label.size


@pytest.mark.parametrize("bins", [FIFTEEN, GIVEN])
def test_value_is_that_of_all_pairs_of_rows_in_a_cell(bins: Bins) -> None:
    """By hand, row by row, with rows alone counted."""
    probability, label = drawn_rows(120, 5, seed=3)
    for k, found in enumerate(errors_of(probability, label, bins=bins), 1):
        expected = by_pairs(probability, label, k, bins)
        assert found.t == pytest.approx(expected, abs=1e-14)
        assert found.value == pytest.approx(math.sqrt(max(expected, 0.0)), abs=1e-12)


@pytest.mark.parametrize("bins", [FIFTEEN, GIVEN])
def test_largest_alone_is_l2_of_the_confidence(bins: Bins) -> None:
    """Value, interval, plug-in and rows alone, on the same bins."""
    probability, label = drawn_rows(300, 4, seed=5)
    table = ScoreTable.from_rows(probability.max(axis=1), probability.argmax(axis=1) == label)
    one, found = errors_of(probability, label, bins=bins)[0], debiased_l2(table, bins=bins)
    assert one.interval is not None
    assert found.interval is not None
    assert one.value == pytest.approx(found.value, rel=1e-12)
    assert one.interval.ends == pytest.approx(found.interval.ends, rel=1e-11)
    assert (one.t, one.plug_in) == pytest.approx((found.details["t"], found.details["plug_in"]), rel=1e-12)
    assert one.rows_alone == found.details["rows_alone"]


def test_rows_of_two_classes_err_twice() -> None:
    """What the one probability is too high the other is too low."""
    probability, label = drawn_rows(400, 2, seed=6)
    one, two = errors_of(probability, label, ranks=2)
    assert two.value == pytest.approx(math.sqrt(2.0) * one.value, rel=1e-12)


def test_parts_in_any_order_give_the_bits_of_the_whole() -> None:
    """Sums are of whole numbers."""
    probability, label = drawn_rows(500, 6, seed=7)
    whole = errors_of(probability, label)
    cells = TopCells(3, FIFTEEN)
    for some in (slice(350, 500), slice(0, 1), slice(1, 350)):
        part = TopCells(3, FIFTEEN)
        part.add_rows(probability[some], label[some])
        cells.merge(part)
    assert top_errors(cells, confidence=0.95) == whole


def test_frequencies_are_rows_repeated() -> None:
    """To the last bit; a frequency of 0 leaves a row out."""
    probability, label = drawn_rows(200, 4, seed=8)
    counts = np.random.default_rng(8).integers(0, 4, label.size)
    found = errors_of(probability, label, counts=counts)
    again = errors_of(np.repeat(probability, counts, axis=0), np.repeat(label, counts))
    assert [(one.t, one.interval, one.rows_alone) for one in found] == [
        (one.t, one.interval, one.rows_alone) for one in again
    ]


def test_more_rows_than_sums_hold_are_refused() -> None:
    """A rate is that of any number of rows that sums of 63 bits hold; beyond, nothing wraps around."""
    probability, label = drawn_rows(16, 3, seed=8)
    few, many, beyond = (np.full(16, rows) for rows in (1 << 20, 1 << 32, (1 << 32) + 1))
    for one, other in zip(
        *(errors_of(probability, label, counts=counts) for counts in (few, many)), strict=True
    ):
        assert one.plug_in == pytest.approx(other.plug_in, rel=1e-12)
    with pytest.raises(InputProblem, match="more than 68,719,476,736"):
        errors_of(probability, label, counts=beyond)


def test_order_of_classes_says_nothing() -> None:
    """Without ties."""
    probability, label = drawn_rows(300, 5, seed=9)
    order = np.array([3, 0, 4, 1, 2])
    assert errors_of(probability[:, order], np.argsort(order)[label]) == errors_of(probability, label)


def test_importance_weights_leave_the_value_alone() -> None:
    """Equal ones give that of rows, with bounds for any weights around it: those of `l2` for the largest."""
    probability, label = drawn_rows(200, 4, seed=10)
    found = errors_of(probability, label, weight=np.full(200, 0.3))
    for one, plain in zip(found, errors_of(probability, label), strict=True):
        assert one.t == pytest.approx(plain.t, rel=1e-9)
        assert one.plug_in == pytest.approx(plain.plug_in, rel=1e-9)
        assert one.interval is not None
        assert plain.interval is not None
        assert one.interval.finite_sample
        assert one.interval.lower <= one.value <= one.interval.upper
        assert one.interval.upper > plain.interval.upper
    largest = ScoreTable.from_rows(
        probability.max(axis=1), probability.argmax(axis=1) == label, Weighing(weight=np.full(200, 0.3))
    )
    few = np.array([0.0, 0.5, 1.0])
    own = errors_of(probability, label, weight=np.full(200, 0.3), bins=Bins(None, few), ranks=1)[0].interval
    of_l2 = debiased_l2(largest, bins=Bins(None, few)).interval
    assert own is not None
    assert of_l2 is not None
    assert own.upper == pytest.approx(of_l2.upper, rel=1e-9)


def test_ends_under_weights_are_those_of_their_formulas() -> None:
    """Row by row, and an error that is large is shown to be one."""
    probability, label = np.tile([0.9, 0.06, 0.04], (4_000, 1)), np.arange(4_000) % 3
    weight = 1.0 + np.arange(4_000) % 7
    one = errors_of(probability, label, weight=weight, ranks=2)[1]
    right = np.eye(3)[label][:, :2] - probability[:, :2]
    length = np.linalg.norm(weight @ right) / weight.sum()
    most = 2.0 * (weight**2).sum() / weight.sum() ** 2
    assert one.interval is not None
    assert one.interval.upper == pytest.approx(length + math.sqrt(most * math.log(40.0) / 2.0))
    squares = (weight**2 @ (right**2).sum(axis=1)) / weight.sum() ** 2
    half = most * math.log(400.0) / 2.0
    least = length - math.sqrt(2.0 * most * math.log(1.0 / 0.0225))
    lower = math.sqrt(least**2 - (math.sqrt(half) + math.sqrt(squares + half)) ** 2)
    assert one.interval.lower == pytest.approx(lower)
    assert lower > 0.3


@pytest.mark.parametrize("times", [[4, 11, 3, 2], [9, 9, 1, 1]])
def test_variance_is_that_of_vectors(times: list[int]) -> None:
    """Rows of one kind: the larger of that of residuals, as numpy has it, and of a multinomial label."""
    row, label = np.array([0.5, 0.3, 0.15, 0.05]), np.repeat(np.arange(4), times)
    cells = TopCells(3, FIFTEEN)
    cells.add_rows(np.tile(row, (20, 1)), label)
    found = t_variance(*cells.of_largest(3))
    residual = (label[:, None] == np.arange(3)) - row[:3]
    gap = residual.mean(axis=0)
    null = np.diag(row[:3]) - np.outer(row[:3], row[:3])
    assert found.still == pytest.approx(2.0 * np.trace(null @ null) / (20 * 19), rel=1e-12)
    assert found.energy == pytest.approx(gap @ gap, rel=1e-12)
    expected = max(gap @ np.cov(residual.T) @ gap, gap @ null @ gap)
    assert found.noise == pytest.approx(expected, rel=1e-12)


def test_lone_rows_have_no_interval_and_certain_ones_leave_room() -> None:
    """Nothing can be paired, which is said; of nine rows that are right a tenth may not be."""
    sure = errors_of(np.tile([[1.0, 0.0, 0.0]], (9, 1)), np.zeros(9, np.int64))
    assert {one.value for one in sure} == {0.0}
    alone = errors_of(np.array([[0.9, 0.1, 0.0], [0.5, 0.3, 0.2]]), np.array([0, 1]))
    assert all(math.isnan(one.value) and one.rows_alone == 2 for one in alone)
    for one in sure:
        assert one.interval is not None
        assert one.interval.ends[1] > 1.0 - 0.025 ** (1 / 9) - 1e-9
    for one in alone:
        assert one.interval is None
        assert any("no interval" in words for words in one.assumptions)


def test_cells_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than memory is meant for are refused, in words of the options; bins need edges."""
    monkeypatch.setattr("calibcli.stats.table.classes.MOST_CELLS", 20)
    with pytest.raises(UsageProblem, match="--top 3 over 15 equal-width bins makes over 20 cells"):
        errors_of(*drawn_rows(300, 5))
    with pytest.raises(ValueError, match="edges"):
        TopCells(1, ATOMS)


def test_many_ranks_make_few_cells_of_rows_that_sum_to_one() -> None:
    """At most as many as there are partitions of numbers up to 15: 684."""
    generator = np.random.default_rng(11)
    rows = [generator.dirichlet(np.full(10, size), 4000) for size in (0.05, 0.3, 1.0, 5.0)]
    probability = np.concatenate(rows)
    found = errors_of(probability, np.zeros(len(probability), np.int64), ranks=10)
    assert 300 < found[-1].cells <= 684
