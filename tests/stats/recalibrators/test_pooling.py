"""Pooling in exact arithmetic, and on a grid table with a second look at a few rows."""

from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import InputProblem
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators import pooling as minorant
from calibcli.stats.recalibrators.isotonic import CentredIsotonic, Isotonic
from calibcli.stats.recalibrators.pooling import MOST_ROWS, bends, pooled, pooled_starts, pruned, unsettled
from calibcli.stats.table import ScoreTable, Weighing, finer
from calibcli.stats.table import grid as cells
from calibcli.stats.table.grid import GridTable, grid_of
from held_rows import HeldRows

STEP = FitOptions(step=True)
COUNTS = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=25
)


def bends_by_definition(rows: list[int], positive: list[int]) -> list[int]:
    """Points that lie strictly below every chord over them, in rational arithmetic."""
    x, y = (
        np.concatenate(([0], np.cumsum(rows))).tolist(),
        np.concatenate(([0], np.cumsum(positive))).tolist(),
    )
    n = len(rows)

    def below(i: int) -> bool:
        slopes_before = [Fraction(y[i] - y[k], x[i] - x[k]) for k in range(i)]
        slopes_after = [Fraction(y[k] - y[i], x[k] - x[i]) for k in range(i + 1, n + 1)]
        return max(slopes_before) < min(slopes_after)

    return [0, *(i for i in range(1, n) if below(i)), n]


@given(counts=COUNTS, stride=st.integers(1, 8), few=st.integers(0, 8))
def test_bends_are_those_of_exact_arithmetic(counts: list[tuple[int, int]], stride: int, few: int) -> None:
    """However many points are looked at first, and however few are left for the end."""
    rows, positive = np.array([n for n, _ in counts]), np.array([k for _, k in counts])
    with mock.patch.multiple(minorant, _STRIDE=stride, _FEW=few):
        assert bends(rows, positive).tolist() == bends_by_definition(rows.tolist(), positive.tolist())


@pytest.mark.parametrize("shape", ["noisy", "convex", "one block"])
def test_a_long_diagram_bends_where_it_does_with_all_points_in_hand(shape: str) -> None:
    """The narrowing gives what the hull over every point gives, be it few bends, many or none."""
    rng = np.random.default_rng(0)
    n = 20_000
    rows = rng.integers(1, 4, n) if shape == "noisy" else np.full(n, n)
    chance = np.linspace(0.0, 1.0, n) if shape == "noisy" else 0.5
    positive = rng.binomial(rows, chance) if shape == "noisy" else np.arange(n)
    positive = positive[::-1] if shape == "one block" else positive
    with mock.patch.object(minorant, "_FEW", 1 << 62):
        expected = bends(rows, positive)
    assert bends(rows, positive).tolist() == expected.tolist()
    assert (expected.size == 2) == (shape == "one block")


def test_products_of_counts_stay_in_64_bits() -> None:
    """Just below the limit slopes that differ in the last place are told apart; above it scipy answers."""
    half = MOST_ROWS // 2
    rows, positive = np.array([half, half]), np.array([half - 2, half - 1])
    with mock.patch.object(minorant, "_FEW", 0):
        assert bends(rows, positive).tolist() == [0, 1, 2]
        assert bends(rows, positive[::-1]).tolist() == [0, 2]
    many = rows + 2
    assert bends(many, positive).tolist() == pooled_starts(many * 1.0, positive * 1.0).tolist()


def test_too_many_rows_for_a_grid_are_refused() -> None:
    """Beyond the limit nothing could be proved about a cell."""
    few = np.array([1, 1])
    rows = np.array([MOST_ROWS, 10])
    table = GridTable(np.array([0, cells.CODES - 1]), rows, few, few - 1, few - 1)
    with pytest.raises(InputProblem, match="too many to pool from rounded scores"):
        pruned(table, HeldRows(np.zeros(0), np.zeros(0, bool)))


def crowded(rng: np.random.Generator, shape: int) -> HeldRows:
    """Rows with ties and with many rows a cell, in one of several shapes."""
    n = int(rng.integers(2, 200))
    score = (
        lambda: rng.integers(0, 40, n) * 1e-7,
        lambda: 0.3 + rng.integers(0, 60, n) * 1e-7,
        lambda: rng.choice([0.0, 1.0, 0.5, 1e-300, 1 - 2.0**-53, 2.0**-53, 0.5 + 1e-7], n),
        lambda: 1.0 - rng.integers(0, 100, n) * 3e-8,
        lambda: rng.integers(0, 7, n) / cells.CELLS + rng.random(n) * 2e-6,
        lambda: 10.0 ** -rng.uniform(0, 20, n),
    )[shape]()
    rank = np.searchsorted(np.unique(score), score) / n
    chance = (np.full(n, 0.5), np.full(n, 0.03), rank, 1 - rank, rank > 0.5)[int(rng.integers(5))]
    label = rng.random(n) < chance
    label[:2] = [False, True]
    return HeldRows(score, label)


@pytest.mark.parametrize("most", [1 << 20, 8, 0])
@pytest.mark.parametrize("shape", range(6))
def test_fit_on_a_grid_with_its_rows_is_the_exact_fit(
    shape: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Knots, levels, cuts and counts are equal bit for bit, whatever shares a cell; centred knots nearly.

    However few rows may be looked at, a few parts at once are cut until it is so few, or no further.
    """
    monkeypatch.setattr(minorant, "_MOST_SEEN", most)
    monkeypatch.setattr(minorant, "_MOST_PARTS", 3 * finer.PARTS)
    rng = np.random.default_rng(shape)
    for number in range(4 if most > 8 else 2):
        rows = crowded(rng, shape)
        if number % 2:
            rows.counts = rng.integers(1, 4, rows.score.size)
        exact = ScoreTable.from_rows(rows.score, rows.label, Weighing(counts=rows.counts))
        grid = grid_of(exact)
        for options in (FitOptions(), STEP):
            one, two = Isotonic.fit(exact, options=options), Isotonic.fit(grid, options=options, rows=rows)
            assert two.to_dict() == one.to_dict()
        one, two = CentredIsotonic.fit(exact).curve, CentredIsotonic.fit(grid, rows=rows).curve
        assert two.values.tolist() == one.values.tolist()
        np.testing.assert_allclose(two.knots, one.knots, rtol=0, atol=1e-15)


@given(rows=st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=2, max_size=60))
def test_few_scores_in_few_cells_fit_exactly(rows: list[tuple[int, bool]]) -> None:
    """Ties and thirty scores in five cells: the pruned fit is the exact one."""
    score = np.array([place for place, _ in rows]) * 2e-7 + 0.25
    label = np.array([label for _, label in rows])
    label[0], label[-1] = False, True
    held = HeldRows(score, label)
    exact = ScoreTable.from_rows(score, label)
    assert Isotonic.fit(grid_of(exact), rows=held, options=STEP) == Isotonic.fit(exact, options=STEP)


def test_most_rows_are_never_seen_again() -> None:
    """Of 300,000 rows a fit on the grid looks at under one in a hundred once more, in one pass."""
    rng = np.random.default_rng(7)
    score = rng.beta(0.7, 1.3, 300_000)
    rows = HeldRows(score, rng.random(score.size) < score**1.2)
    exact = ScoreTable.from_rows(score, rows.label)
    assert Isotonic.fit(grid_of(exact), rows=rows) == Isotonic.fit(exact)
    assert rows.passes == 1
    assert 0 < rows.reread < 3000


def test_cells_in_which_labels_fall_are_settled_by_their_counts() -> None:
    """A cell is looked at again only at a bend, or if its label-0 rows could come first and make one."""

    def cells_of(*counts: tuple[int, int]) -> GridTable:
        score = np.repeat(np.arange(1, 6) / 10, [n for n, _ in counts])
        return grid_of(
            ScoreTable.from_rows(score, np.array([k < ones for n, ones in counts for k in range(n)]))
        )

    assert unsettled(cells_of((10, 0), (10, 6), (10, 5), (10, 5), (10, 9))).tolist() == [0, 1, 2, 3, 4]
    assert unsettled(cells_of((10, 0), (10, 10), (4, 2), (10, 4), (10, 9))).tolist() == [0, 1, 3, 4]
    pure = grid_of(ScoreTable.from_rows(np.arange(9) / 10 + 0.05, np.array([0, 1, 1, 0, 0, 1, 1, 0, 1]) > 0))
    assert unsettled(pure).tolist() == [0, 1, 4, 5, 7, 8]


def test_stand_in_of_cells_stays_among_them() -> None:
    """The table that is pooled holds all rows, and neighbours without an end of a block as one score."""
    rng = np.random.default_rng(9)
    score = np.concatenate((10.0 ** -rng.uniform(5, 20, 4000), 1 - 10.0 ** -rng.uniform(5, 16, 4000)))
    rows = HeldRows(score, rng.random(score.size) < score)
    grid = grid_of(ScoreTable.from_rows(score, rows.label))
    found = pruned(grid, rows)
    looked_at = np.isin(grid.code, rows.requested)
    runs = np.flatnonzero(looked_at | np.concatenate(([True], looked_at[:-1])))
    assert np.diff(found.score).min() > 0.0
    of = np.searchsorted(runs, np.searchsorted(grid.code, grid_of(found).code), side="right") - 1
    assert np.bincount(of, grid_of(found).rows).tolist() == np.add.reduceat(grid.rows, runs).tolist()
    assert found.distinct < np.unique(score).size


def test_a_score_of_many_rows_is_cut_off_and_not_cut_further(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes no memory to look at rows that are alike, and no number of cuts would part them."""
    monkeypatch.setattr(minorant, "_MOST_SEEN", 300)
    rng = np.random.default_rng(4)
    score = np.append(np.full(20_000, 0.5), 0.5 + rng.uniform(-1e-3, 1e-3, 2_000))
    rows = HeldRows(score, rng.random(score.size) < 0.5 + 100.0 * (score - 0.5))
    exact = ScoreTable.from_rows(rows.score, rows.label)
    assert Isotonic.fit(grid_of(exact), rows=rows) == Isotonic.fit(exact)
    assert rows.passes == 2
    assert rows.reread < 20_300


@pytest.mark.parametrize("most", [1 << 20, 0])
def test_rows_that_changed_are_refused(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit that sees other rows the second time stops, be they looked at or counted in finer parts."""
    monkeypatch.setattr(minorant, "_MOST_SEEN", most)
    rows = HeldRows(np.array([0.1, 0.2, 0.3]), np.array([False, True, True]))
    grid = grid_of(ScoreTable.from_rows(rows.score, rows.label))
    with pytest.raises(InputProblem, match="changed while it was read"):
        Isotonic.fit(grid, rows=HeldRows(rows.score, ~rows.label))


@given(counts=COUNTS)
def test_blocks_have_ascending_levels_and_hold_their_middles(counts: list[tuple[int, int]]) -> None:
    """Levels ascend strictly, and first, middle and last score of the blocks never cross."""
    rows, positive = np.array([n for n, _ in counts]), np.array([k for _, k in counts])
    blocks = pooled(ScoreTable(np.linspace(0.1, 0.9, rows.size), rows, positive))
    assert np.all(np.diff(blocks.levels) > 0)
    ends = np.column_stack((blocks.first, blocks.middle, blocks.last)).reshape(-1)
    assert np.all(np.diff(ends) >= 0)
