"""Tables made from tables: folds, parts of the rows, random splits, scores moved, parts merged in order."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Binning
from calibcli.stats.table import ScoreTable, Weighing, merge_all, sliced
from calibcli.stats.table.bins import binned, bins_of
from calibcli.stats.table.derived import cells_as_scores, draw_folds, split_table, with_scores
from calibcli.stats.table.grid import Table, cell_and_edge, grid_of
from calibcli.stats.table.running import Parts
from calibcli.stats.table.sliced import KeyedSums, RunningSlices, coarse_cell, crowded, summed
from score_rows import table_of

ROWS = st.lists(
    st.tuples(st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), st.booleans()),
    min_size=5,
    max_size=60,
)


@given(rows=ROWS, folds=st.integers(2, 5), seed=st.integers(0, 9))
def test_folds_are_a_partition_that_the_seed_decides(
    rows: list[tuple[float, bool]], folds: int, seed: int
) -> None:
    """Folds of nearly one size merge back into the table, and the same seed draws the same ones."""
    table = table_of(rows)
    drawn, again = (draw_folds(table, folds, generator=np.random.default_rng(seed)) for _ in range(2))
    assert merge_all(drawn) == table
    assert drawn == again
    sizes = [fold.total_rows for fold in drawn]
    assert max(sizes) - min(sizes) <= 1


@given(rows=ROWS)
def test_cells_keep_counts_and_move_scores_little(rows: list[tuple[float, bool]]) -> None:
    """Each cell of a grid becomes two scores, that of its label: by label nothing is lost but the spread."""
    table = table_of(rows)
    grid = grid_of(table)
    cells = cells_as_scores(grid)
    assert cells.total_rows == table.total_rows
    assert cells.total_positive_rows == table.total_positive_rows
    assert cells.distinct <= 2 * grid.distinct
    for ones in (True, False):
        mine, whole = (one.positive_rows if ones else one.rows - one.positive_rows for one in (cells, table))
        assert mine @ cells.score == pytest.approx(whole @ table.score, abs=1e-12)


def test_grid_tables_are_shared_out_by_their_cells() -> None:
    """A grid table gives exact folds whose rows add up to its own, at scores that tell no label."""
    rng = np.random.default_rng(5)
    score, label = 0.5 + 1e-4 * rng.random(500), rng.random(500) < 0.5
    grid = grid_of(ScoreTable.from_rows(score, label))
    assert grid.distinct < 100
    drawn = draw_folds(grid, 7, generator=rng)
    assert merge_all(drawn) == with_scores(grid, grid.score)


def test_what_cannot_be_shared_out_is_refused() -> None:
    """Importance weights, fewer rows than folds, and more rows than can be drawn."""
    rng = np.random.default_rng(0)
    rows = [(0.1, True), (0.2, False)]
    with pytest.raises(UsageProblem, match="importance weights") as weighted:
        draw_folds(table_of(rows, np.array([1.0, 2.0])), 2, generator=rng)
    assert "name a method" in str(weighted.value.hint)
    with pytest.raises(InputProblem, match="2 rows cannot be shared out to 3 folds"):
        draw_folds(table_of(rows), 3, generator=rng)
    with pytest.raises(InputProblem, match="too many to share out"):
        draw_folds(ScoreTable(np.array([0.5]), np.array([10**9]), np.array([5])), 2, generator=rng)


@given(st.data())
def test_running_slices_are_tables_of_their_rows(data: Any) -> None:
    """In any cut into parts and batches, exact and grid, a slice is the table of its rows."""
    rows = data.draw(st.integers(1, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    # Spread out, in few values, or in few cells of a grid.
    score = np.round(rng.random(rows), data.draw(st.sampled_from([1, 12])))
    score = 0.3 + data.draw(st.sampled_from([0.7, 1e-3])) * score
    label, code = rng.random(rows) < score, rng.integers(0, 3, rows)
    limit = data.draw(st.sampled_from([None, 7, 30, 1000]))
    names = [("a",), ("b",), ("c",)]
    whole, part = RunningSlices(limit), RunningSlices(limit)
    for chosen in np.array_split(np.arange(rows), data.draw(st.integers(1, 5))):
        turned = data.draw(st.permutations(range(3)))
        local = np.argsort(turned)[code[chosen]]
        part.add_rows(score[chosen], label[chosen], names=[names[k] for k in turned], code=local)
        if data.draw(st.booleans()):
            whole.add(part)
            part = RunningSlices(limit)
    whole.add(part)
    expected = {
        names[k]: ScoreTable.from_rows(score[code == k], label[code == k])
        for k in range(3)
        if (code == k).any()
    }
    found, once = whole.tables(), RunningSlices(limit)
    once.add_rows(score, label, names=names, code=code)
    assert found == once.tables()
    assert list(found) == list(expected)
    if limit is None or sum(crowded(table.score) for table in expected.values()) <= limit:
        assert found == expected
    else:
        assert all(coarse_as(found[key], table) for key, table in expected.items())


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10_000), st.integers(0, 5)), max_size=200),
    st.sampled_from([1, 3, 1 << 20]),
)
def test_crowded_scores_are_those_after_two_in_a_cell(rows: list[tuple[int, int, int]], block: int) -> None:
    """Counted cell by cell, in however small blocks; a row more never makes them fewer."""
    # Up to six scores within a cell, and cells finer than the others at both ends.
    kept = sorted({(part, min(1.0, cell / 10_000 + step * 1e-9)) for part, cell, step in rows})
    score, part = np.array([one for _, one in kept]), np.array([one for one, _ in kept], np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sliced, "_BUFFER_ROWS", block)
        found = crowded(score, part)
        fewer = crowded(score[:-1], part[:-1])
    code, _ = coarse_cell(*cell_and_edge(score.copy()))
    counts = Counter(zip(part.tolist(), code.tolist(), strict=True))
    assert found == sum(max(0, count - 2) for count in counts.values())
    assert fewer in (found, found - 1)


def test_tables_of_many_small_parts_are_those_of_their_rows() -> None:
    """Five times as many scores as one table may have, in parts of few: nothing is rounded, however cut."""
    rng = np.random.default_rng(0)
    score, code = rng.random(5_000), np.repeat(np.arange(1_000), 5)
    label, names = rng.random(5_000) < score, [(f"{k:04}",) for k in range(1_000)]
    whole, again = RunningSlices(1_000), RunningSlices(1_000)
    whole.add_rows(score, label, names=names, code=code)
    for some in np.array_split(rng.permutation(5_000), 7):
        part = RunningSlices(1_000)
        part.add_rows(score[some], label[some], names=names, code=code[some])
        again.add(part)
    found = whole.tables()
    assert found == again.tables()
    assert found == {
        name: ScoreTable.from_rows(score[code == k], label[code == k]) for k, name in enumerate(names)
    }


def coarse_as(grid: Table, table: ScoreTable) -> bool:
    """Whether a coarse grid keeps counts and sums of scores over bins, and every score to a cell."""
    assert grid.resolution == 1 / 5040
    for count in (1, 7, 15, 20, 5040):
        bins = bins_of(Binning.EQUAL_WIDTH, count, table=table)
        one, two = binned(grid, bins), binned(table, bins)
        assert np.array_equal(one.rows, two.rows)
        assert np.array_equal(one.positive, two.positive)
        assert one.score_sum == pytest.approx(two.score_sum, abs=1e-12)
    nearest = grid.score[np.abs(grid.score[:, None] - table.score).argmin(axis=0)]
    return bool(np.abs(nearest - table.score).max() <= grid.resolution)


def test_scores_at_the_ends_stay_apart_on_a_coarse_grid() -> None:
    """Within the first and the last cell scores are kept to the fine cells, for the log loss."""
    score = np.concatenate([[0.0, 1.0], np.geomspace(1e-9, 1.9e-4, 50), 1 - np.geomspace(1e-9, 1.9e-4, 50)])
    label = np.arange(score.size) % 2 == 0
    slices = RunningSlices()
    slices.become_grid()
    slices.add_rows(score, label, names=[("a",)], code=np.zeros(score.size, np.int64))
    grid = slices.tables()["a",]
    assert grid.kind == "grid"
    exact = ScoreTable.from_rows(score, label)
    assert grid.score == pytest.approx(grid_of(exact).score, abs=1e-15)


def test_more_rows_in_a_cell_than_sums_can_hold_are_refused() -> None:
    """Ten million rows within a cell of a group's grid are refused before a sum could wrap round."""
    score = np.arange(1, 31) / 31
    counts = np.full(30, 10_000_001)
    slices = RunningSlices()
    slices.become_grid()
    slices.add_rows(
        score, score > 0.5, names=[("a",)], code=np.zeros(30, np.int64), weighing=Weighing(counts)
    )
    for read, hint in ((slices.tables, "pass --exact"), (slices.cells, "smaller batches")):
        with pytest.raises(InputProblem, match="rows of a group have nearly the same score") as refused:
            read()
        assert hint in (refused.value.hint or "")


def test_weights_past_the_limit_are_refused() -> None:
    """Sums of importance weights are no whole numbers, and need exact tables."""
    slices = RunningSlices(10)
    ones = np.ones(50)
    slices.add_rows(
        np.arange(50) / 50,
        ones > 0,
        names=[("a",)],
        code=np.zeros(50, np.int64),
        weighing=Weighing(weight=ones),
    )
    with pytest.raises(InputProblem, match="groups or classes have over 10 distinct scores"):
        slices.tables()


rows_of_table = st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=60)


def twelfths(rows: list[tuple[int, bool]], weight: np.ndarray | None = None) -> ScoreTable:
    """Rows with scores in twelfths."""
    score = np.array([score for score, _ in rows], dtype=float) / 12
    return ScoreTable.from_rows(
        score, np.array([label for _, label in rows], dtype=bool), Weighing(weight=weight)
    )


def test_split_is_fair() -> None:
    """Each row lands in each part equally often, on average over 2,000 splits."""
    table = twelfths([(3, False)] * 4 + [(3, True)] * 2 + [(9, True)] * 3)
    rng = np.random.default_rng(8)
    firsts = [split_table(table, 3, generator=rng)[0] for _ in range(2000)]
    positive = np.mean([first.total_positive_rows for first in firsts])
    assert positive == pytest.approx(5 / 3, abs=0.08)


def test_split_refuses_what_a_table_does_not_know() -> None:
    """Weights, grid cells and a thousand million rows cannot be split, and the error says why."""
    rng = np.random.default_rng(0)
    rows = [(1, True), (2, False)]
    with pytest.raises(UsageProblem, match="importance weights"):
        split_table(twelfths(rows, weight=np.array([1.0, 2.0])), 2, generator=rng)
    with pytest.raises(UsageProblem, match="cannot be split at random"):
        split_table(grid_of(twelfths(rows)), 2, generator=rng)
    many = ScoreTable(np.array([0.5]), np.array([10**9]), np.array([5]))
    with pytest.raises(InputProblem, match="too many to split"):
        split_table(many, 2, generator=rng)


@given(rows=rows_of_table, weighted=st.booleans())
def test_moving_scores_is_moving_rows(rows: list[tuple[int, bool]], weighted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Moving the table's scores gives the table of the rows with their scores moved, merging ties."""
    weight = np.arange(1.0, len(rows) + 1) if weighted else None
    table = twelfths(rows, weight)
    moved = with_scores(table, np.abs(table.score - 0.5))
    rows_moved = np.abs(np.array([score for score, _ in rows]) / 12 - 0.5)
    label = np.array([label for _, label in rows], dtype=bool)
    expected = (
        ScoreTable.from_rows(rows_moved, label, Weighing(weight=weight)) if rows else ScoreTable.empty()
    )
    assert moved == expected


def test_moving_a_grid_moves_its_cells() -> None:
    """Rows of a cell move together and give an exact table."""
    table = grid_of(twelfths([(1, True), (2, False), (2, True)]))
    moved = with_scores(table, np.array([0.25, 0.75]))
    assert moved == ScoreTable(np.array([0.25, 0.75]), np.array([1, 2]), np.array([1, 1]))


class Counting:
    """Merges lists of numbers into what is different in them, and counts what it looks at."""

    def __init__(self) -> None:
        self.looked_at = 0

    def __call__(self, parts: Sequence[list[int]]) -> list[int]:
        """Return the different numbers in the order in which they came first."""
        self.looked_at += sum(map(len, parts))
        return list(dict.fromkeys(one for part in parts for one in part))


@given(st.lists(st.lists(st.integers(0, 30), max_size=8)), st.integers(0, 20), st.integers(1, 40) | st.none())
def test_the_whole_is_that_of_all_parts_at_once(
    parts: list[list[int]], least: int, limit: int | None
) -> None:
    """However often parts are merged on the way, the whole is the same."""
    several = Parts(Counting(), len, least=least, limit=limit)
    for part in parts:
        several.add(part)
        if limit is not None and several.merged_size > limit:
            assert len({one for part in parts for one in part}) > limit
    assert several.merged() == (Counting()(parts) if parts else None)
    assert several.merged() is several.merged()
    assert bool(several) == bool(parts)
    assert [one for part in several.taken() for one in part] == Counting()(parts)
    assert not several
    assert several.merged_size == 0


def test_merging_is_linear_in_parts() -> None:
    """Twice the parts cost twice the merging: each number is looked at a few times, new ones or not."""
    for values in (lambda one: [one], lambda one: [one % 7]):
        merge = Counting()
        parts = Parts(merge, len, least=10)
        for one in range(4_000):
            parts.add(values(one))
        parts.merged()
        assert merge.looked_at < 4 * 4_000


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("parts", "points"), [(7, 9), (40_000, 1 << 20), (3, 1 << 62), (1 << 40, 5)])
def test_sums_are_those_of_a_dictionary(parts: int, points: int, weighted: bool) -> None:  # noqa: FBT001
    """Whether part and point are sorted as one number, or are too large for it."""
    generator, found = np.random.default_rng(parts), dict[tuple[int, int], list[float]]()
    rows = [(generator.integers(0, parts, 50) % 11, generator.integers(points - 3, points, 50)) for _ in "ab"]
    rows[0][0][0] = parts - 1
    sums = []
    for part, point in rows:
        whole, real = np.arange(50), generator.random(50)
        sums.append(KeyedSums(part, point, (whole,), (real,) if weighted else ()))
        for *key, number, weight in zip(part.tolist(), point.tolist(), whole, real, strict=True):
            one = found.setdefault((key[0], key[1]), [0, 0.0])
            one[:] = one[0] + number, one[1] + weight
    added = summed(sums)
    assert list(zip(added.part.tolist(), added.point.tolist(), strict=True)) == sorted(found)
    expected = [found[key] for key in sorted(found)]
    assert added.whole[0].tolist() == [one[0] for one in expected]
    if weighted:
        np.testing.assert_allclose(added.real[0], [one[1] for one in expected], rtol=1e-14)
