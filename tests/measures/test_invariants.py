"""What holds between the measures on any rows: the invariants of the statistics sheet, by its numbers."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.bounds.betting import stakes_for_one_look
from calibcli.measures.bias import bias
from calibcli.measures.binned_ece import binned_ece, grouped_residuals
from calibcli.measures.cumulative import ks_and_kuiper
from calibcli.measures.l2 import debiased_l2, l2_squared_plug_in, t_statistic
from calibcli.measures.proper_scores import brier, log_loss
from calibcli.measures.smooth_ece import smooth_ece
from calibcli.measures.spiegelhalter import spiegelhalter
from calibcli.names import Binning
from calibcli.table.bins import ATOMS, Bins, binned, equal_width_edges
from calibcli.table.grid import Table, grid_of
from calibcli.table.score_table import ScoreTable

Rows = list[tuple[float, bool]]
AWKWARD = [0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]
ROWS = st.lists(
    st.tuples(st.one_of(st.sampled_from(AWKWARD), st.floats(0.0, 1.0)), st.booleans()),
    min_size=1,
    max_size=60,
)
QUICK = settings(deadline=None, max_examples=60)


def table_of(rows: Rows, weight: np.ndarray | None = None) -> ScoreTable:
    """Count rows."""
    score, label = np.array([s for s, _ in rows]), np.array([y for _, y in rows])
    return ScoreTable.from_rows(score, label, weight=weight)


def turned(table: ScoreTable) -> ScoreTable:
    """The same rows seen from the other label: f becomes 1 - f and y becomes 1 - y."""
    negative = table.rows - table.positive_rows
    return ScoreTable.from_rows(
        np.tile(1.0 - table.score, 2),
        np.repeat([True, False], table.distinct),
        counts=np.concatenate((negative, table.positive_rows)),
    )


def wide(count: int) -> Bins:
    """Equal-width bins."""
    return Bins(Binning.EQUAL_WIDTH, equal_width_edges(count))


def ece_of(table: Table, bins: Bins) -> float:
    """Plug-in ECE."""
    sums = binned(table, bins)
    return float(np.abs(sums.residual).sum()) / sums.total


def plug_in(table: Table, bins: Bins) -> float:
    """Plug-in l2."""
    return math.sqrt(l2_squared_plug_in(binned(table, bins)))


def numbers_of(table: Table, *, bins: Bins) -> dict[str, float]:
    """Every number that does not need random draws."""
    found = {
        "ece": binned_ece(table, bins=bins).value,
        "brier": brier(table).value,
        "log_loss": log_loss(table).value,
        "bias": bias(table).value,
        "t": float(debiased_l2(table, bins=bins).details["t"]),
        "smece": smooth_ece(table).value,
    }
    for result in (*ks_and_kuiper(table), spiegelhalter(table)):
        if result.statistic is not None and result.p_value is not None:
            found[result.name] = result.statistic
            found[f"{result.name} p"] = result.p_value
    for estimate in (binned_ece(table, bins=bins), bias(table), debiased_l2(table, bins=bins)):
        if estimate.interval is not None:
            for side in ("lower", "upper"):
                found[f"{estimate.name} {side}"] = getattr(estimate.interval, side)
    return found


@QUICK
@given(rows=ROWS, coarse=st.integers(1, 8), times=st.integers(1, 4))
def test_refining_never_lowers_ece_or_l2(rows: Rows, coarse: int, times: int) -> None:
    """Invariant 1: a refined partition has at least the ECE and the plug-in l2 of the coarse one."""
    table = table_of(rows)
    for measure in (ece_of, plug_in):
        values = [measure(table, wide(coarse)), measure(table, wide(coarse * times)), measure(table, ATOMS)]
        assert values[0] <= values[1] + 1e-12
        assert values[1] <= values[2] + 1e-12


@QUICK
@given(rows=ROWS, count=st.integers(1, 20))
def test_measures_are_ordered(rows: Rows, count: int) -> None:
    """Invariants 2 and 3: |bias| <= ECE <= l2 <= linf, and l2^2 <= ECE linf."""
    table, bins = table_of(rows), wide(count)
    sums = binned(table, bins)
    some = sums.occupied
    linf = float((np.abs(sums.residual[some]) / sums.weight[some]).max())
    one, two = ece_of(table, bins), plug_in(table, bins)
    assert abs(bias(table).value) <= one + 1e-12
    assert one <= two + 1e-12
    assert two <= linf + 1e-12
    assert two**2 <= one * linf + 1e-12


@settings(deadline=None, max_examples=15)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_row_order_does_not_matter(rows: Rows, seed: int) -> None:
    """Invariant 4: every number is the same, bit for bit, for shuffled rows."""
    shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
    bins = wide(10)
    one, other = numbers_of(table_of(rows), bins=bins), numbers_of(table_of(shuffled), bins=bins)
    assert one == other


@settings(deadline=None, max_examples=15)
@given(rows=st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(1, 4)), min_size=1, max_size=20))
def test_frequency_weight_is_a_repeated_row(rows: list[tuple[float, bool, int]]) -> None:
    """Invariant 5: a row counted w times and w rows give the same numbers."""
    score, label = np.array([s for s, _, _ in rows]), np.array([y for _, y, _ in rows])
    counts = np.array([c for _, _, c in rows])
    counted = ScoreTable.from_rows(score, label, counts=counts)
    repeated = ScoreTable.from_rows(np.repeat(score, counts), np.repeat(label, counts))
    assert numbers_of(counted, bins=wide(7)) == numbers_of(repeated, bins=wide(7))


@QUICK
@given(rows=ROWS, count=st.integers(1, 20))
def test_debiasing_only_lowers(rows: Rows, count: int) -> None:
    """Invariant 7: T is at most the plug-in l2^2."""
    sums = binned(table_of(rows), wide(count))
    assert t_statistic(sums) <= l2_squared_plug_in(sums) + 1e-12


@QUICK
@given(rows=st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=60))
def test_t_is_kumars_form_for_discrete_scores(rows: list[tuple[int, bool]]) -> None:
    """Invariant 8: sum p_k [(v - ybar)^2 - ybar (1 - ybar) / (n_k - 1)] when a bin holds one score."""
    table = table_of([(s / 6, y) for s, y in rows])
    expected = 0.0
    cells = zip(table.score, table.rows.tolist(), table.positive_rows.tolist(), strict=True)
    for score, n, ones in cells:
        if n >= 2:
            mean = ones / n
            expected += n / len(rows) * ((score - mean) ** 2 - mean * (1 - mean) / (n - 1))
    assert t_statistic(binned(table, ATOMS)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("continuous", [False, True])
def test_t_is_unbiased(continuous: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Invariant 9: over 200,000 label draws, the mean of T is sum p_k e_k^2 within 4 standard errors."""
    rng = np.random.default_rng(5)
    score = np.sort(rng.random(60)) if continuous else np.repeat(np.arange(1, 7) / 7, 10)
    truth = np.clip(score + np.where(score < 0.5, 0.1, -0.15), 0, 1)
    bin_of = np.minimum((score * 6).astype(int), 5) if continuous else np.repeat(np.arange(6), 10)
    labels = rng.random((200_000, 60)) < truth
    residual = labels - score
    onehot = np.eye(6)[bin_of]
    n = onehot.sum(axis=0)
    s, q = residual @ onehot, residual**2 @ onehot
    draws = ((s**2 - q) / (n - 1)).sum(axis=1) / 60
    gap = (truth - score) @ onehot / n
    expected = float((n * gap**2).sum()) / 60
    assert abs(draws.mean() - expected) <= 4 * draws.std() / math.sqrt(draws.size)
    # And the statistic of the program is the one averaged here.
    table = ScoreTable.from_rows(score, labels[0])
    edges = np.concatenate(
        ([0.0], [(score[bin_of == k].max() + score[bin_of == k + 1].min()) / 2 for k in range(5)], [1.0])
    )
    assert t_statistic(binned(table, Bins(Binning.EQUAL_WIDTH, edges))) == pytest.approx(draws[0], abs=1e-12)


@QUICK
@given(rows=ROWS)
def test_kuiper_is_at_least_ks_and_at_most_twice(rows: Rows) -> None:
    """Invariant 10: KS <= Kuiper <= 2 KS, since the path starts at 0."""
    ks, kuiper = ks_and_kuiper(table_of(rows))
    if ks.statistic is not None and kuiper.statistic is not None:
        assert ks.statistic <= kuiper.statistic + 1e-12
        assert kuiper.statistic <= 2 * ks.statistic + 1e-12


def test_path_starts_at_zero() -> None:
    """On four ones at .5, .6, .7, .8 both statistics are the whole path, where MAPIE has Kuiper 0.970."""
    ks, kuiper = ks_and_kuiper(table_of([(0.5, True), (0.6, True), (0.7, True), (0.8, True)]))
    expected = 1.4 / math.sqrt(0.25 + 0.24 + 0.21 + 0.16)
    assert ks.statistic == pytest.approx(expected, rel=1e-12)
    assert kuiper.statistic == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(1.510, abs=5e-4)


@settings(deadline=None, max_examples=30)
@given(rows=ROWS)
def test_turning_the_labels_round_changes_nothing(rows: Rows) -> None:
    """Invariants 11, 12 and 21: Kuiper, Z, smECE, Brier, bias with f, y against 1 - f, 1 - y."""
    # Scores that stay distinct under 1 - f.
    table = table_of([(round(s * 4096) / 4096, y) for s, y in rows])
    other = turned(table)
    assert turned(other) == table
    for one, two in (
        (ks_and_kuiper(table)[1].statistic, ks_and_kuiper(other)[1].statistic),
        (spiegelhalter(table).statistic, spiegelhalter(other).statistic),
    ):
        assert (one is None) == (two is None)
        if one is not None:
            assert one == pytest.approx(two, abs=1e-9)
    assert smooth_ece(table).value == pytest.approx(smooth_ece(other).value, abs=1e-9)
    assert brier(table).value == pytest.approx(brier(other).value, abs=1e-12)
    assert bias(table).value == pytest.approx(-bias(other).value, abs=1e-12)
    mine, theirs = bias(table).interval, bias(other).interval
    assert mine is not None
    assert theirs is not None
    assert mine.lower == pytest.approx(-theirs.upper, abs=1e-7)


@settings(deadline=None, max_examples=30)
@given(rows=ROWS)
def test_smece_lies_between_bias_and_total(rows: Rows) -> None:
    """Invariant 20: |mean residual| <= smECE <= sum of |residuals| per score, up to the kernel's 1e-6."""
    table = table_of(rows)
    value = smooth_ece(table).value
    assert value >= abs(bias(table).value) - 1e-6
    assert value <= max(ece_of(table, ATOMS), 2e-4) + 1e-6


CASES: list[Callable[[ScoreTable, float], object]] = [
    lambda table, c: binned_ece(table, bins=wide(10), confidence=c),
    lambda table, c: binned_ece(table, bins=ATOMS, confidence=c),
    lambda table, c: debiased_l2(table, bins=wide(10), confidence=c),
    lambda table, c: debiased_l2(table, bins=ATOMS, confidence=c),
    lambda table, c: smooth_ece(table, confidence=c),
    lambda table, c: bias(table, confidence=c),
    lambda table, c: brier(table, confidence=c),
    lambda table, c: log_loss(table, confidence=c),
]


@pytest.mark.parametrize(
    "measure", CASES, ids=["ece", "ece atoms", "l2", "l2 atoms", "smece", "bias", "brier", "log"]
)
@settings(deadline=None, max_examples=25)
@given(rows=ROWS)
def test_intervals_enclose_the_value_and_grow_with_confidence(
    measure: Callable[[ScoreTable, float], object], rows: Rows
) -> None:
    """Invariant 23: lower <= value <= upper, and more confidence never narrows an interval."""
    table = table_of(rows)
    before = None
    for confidence in (0.6, 0.9, 0.95, 0.999):
        estimate = measure(table, confidence)
        interval = estimate.interval
        if interval is None:
            continue
        assert interval.lower <= estimate.value + 1e-9
        assert estimate.value <= interval.upper + 1e-9
        assert interval.confidence == confidence
        if before is not None:
            assert interval.lower <= before.lower + 1e-9
            assert interval.upper >= before.upper - 1e-9
        before = interval


@settings(deadline=None, max_examples=30)
@given(rows=ROWS, delta=st.sampled_from([0.01, 0.05, 0.2]))
def test_evidence_of_a_table_never_holds_both_ways(rows: Rows, delta: float) -> None:
    """Invariants 23 and 24 on tables: lower bound <= plug-in <= upper bound."""
    table = table_of(rows)
    sums = binned(table, wide(5))
    residuals = grouped_residuals(table, sums)
    stakes = stakes_for_one_look(table.total_rows, float(sums.variance.sum()) / sums.total, delta=delta)
    value = ece_of(table, wide(5))
    assert residuals.lower_bound(stakes, delta=delta) <= value + 1e-9
    assert value <= residuals.upper_bound(stakes, delta=delta) + 1e-9


@settings(deadline=None, max_examples=15)
@given(rows=ROWS, scale=st.sampled_from([0.125, 3.0, 1024.0]))
def test_importance_weights_are_scale_free(rows: Rows, scale: float) -> None:
    """Only the ratios of importance weights matter: values and intervals alike."""
    weight = np.linspace(0.5, 2.0, len(rows))
    one, other = table_of(rows, weight), table_of(rows, weight * scale)
    for measure in CASES:
        a, b = measure(one, 0.95), measure(other, 0.95)
        assert a.value == pytest.approx(b.value, rel=1e-9, abs=1e-7, nan_ok=True)
        assert (a.interval is None) == (b.interval is None)
        if a.interval is not None and b.interval is not None:
            assert a.interval.lower == pytest.approx(b.interval.lower, rel=1e-9, abs=1e-7)
            assert a.interval.upper == pytest.approx(b.interval.upper, rel=1e-9, abs=1e-7)


@settings(deadline=None, max_examples=15)
@given(rows=ROWS)
def test_equal_importance_weights_give_the_plain_values(rows: Rows) -> None:
    """Where every weight is the same, values are those of the plain table."""
    plain, weighted = table_of(rows), table_of(rows, np.full(len(rows), 0.5))
    for measure in CASES:
        expected = measure(plain, 0.95).value
        assert measure(weighted, 0.95).value == pytest.approx(expected, rel=1e-9, abs=1e-7, nan_ok=True)


@pytest.mark.parametrize("bins", [wide(15), wide(7)])
def test_grid_table_gives_the_same_numbers(bins: Bins) -> None:
    """On the grid, binned numbers agree to 1e-9 and smooth ones to 1e-6."""
    rng = np.random.default_rng(3)
    score = np.concatenate((rng.random(3000), [0.0, 1.0] * 5, np.arange(16) / 15))
    table = ScoreTable.from_rows(score, rng.random(score.size) < 0.1 + 0.8 * score)
    exact, grid = numbers_of(table, bins=bins), numbers_of(grid_of(table), bins=bins)
    assert exact.keys() == grid.keys()
    for name, value in exact.items():
        # Cumulative statistics are read at cell ends, betting takes the mean score of a cell.
        loose = name.startswith(("ks", "kuiper", "smece", "spiegelhalter", "bias", "log_loss", "l2"))
        assert grid[name] == pytest.approx(
            value, abs=2e-3 if name.startswith("k") else 1e-5 if loose else 1e-9
        ), name
