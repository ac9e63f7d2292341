"""Rows of segments in cells are the rows themselves with their scores moved to cells, however they came."""

import tracemalloc
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import InputProblem
from calibcli.stats.measures import segments
from calibcli.stats.table import crossed
from calibcli.stats.table.crossed import CrossedCells, RunningCrossed, sets_of_columns
from calibcli.stats.table.sliced import KeyedSums
from stats.segment_rows import added_up

SIZES = (3, 2, 4)


def cells_of(limit: int, depth: int = 2) -> CrossedCells:
    return CrossedCells(SIZES, depth, limit)


def edges(cells: int) -> np.ndarray:
    """Return the upper edges of cells: 0, a sine squared, the last number below 1, and 1."""
    inner = np.sin(0.5 * np.pi * np.arange(1, cells) / cells) ** 2
    return np.array([0.0, *inner, np.nextafter(1.0, 0.0), 1.0])


def path(found: segments.Segments) -> np.ndarray:
    """Return the ranges of cumulative residuals."""
    return np.where(found.variance > 0.0, found.sigma * np.sqrt(found.variance), 0.0)


def added(running: RunningCrossed, rows: tuple[np.ndarray, ...], chosen: np.ndarray) -> RunningCrossed:
    level, score, label, counts = rows
    part = np.ravel_multi_index(tuple(level[:, chosen]), SIZES)
    running.add_rows(score[chosen], label[chosen], part=part, counts=counts[chosen])
    return running


def drawn_rows(data: Any) -> tuple[np.ndarray, ...]:
    rows = data.draw(st.integers(1, 80))
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    score = np.round(rng.beta(0.6, 1.4, rows), data.draw(st.sampled_from([1, 12])))
    level = np.stack([rng.integers(0, size, rows) for size in SIZES])
    return level, score, rng.random(rows) < score, rng.integers(1, data.draw(st.sampled_from([2, 4])), rows)


@given(st.data())
def test_rows_in_cells_are_those_of_combinations_in_cells(data: Any) -> None:
    """Of every set of columns: segments, what is beyond larger ones, what is left without, and stretches."""
    rows = drawn_rows(data)
    level, score, label, counts = rows
    wide = data.draw(st.integers(80, 200))
    running = RunningCrossed(SIZES, 2, -(-wide * 36 // 4))
    with patch.object(crossed, "_CHUNK", data.draw(st.sampled_from([1, 9, 1 << 17]))):
        running._in_cells()
        for chosen in np.array_split(np.arange(score.size), data.draw(st.integers(1, 4))):
            added(running, rows, chosen)
    found = running.result()
    assert isinstance(found, CrossedCells)
    upper = edges(found.cells)
    at = upper[np.searchsorted(upper, score)]
    # The definition: combinations of all columns, scores added up in cells.
    key, place = np.unique(np.vstack((level, at)), axis=1, return_inverse=True)
    ones, others = (np.bincount(place.reshape(-1), counts * one) for one in (label, ~label))
    sums = [np.bincount(place.reshape(-1), counts * one * score) for one in (label, ~label)]
    parts = np.ravel_multi_index(tuple(key[:-1].astype(int)), SIZES)
    slow = segments.Entries.of_parts(
        parts, SIZES, key[-1], rows=(ones + others).astype(int),
        positive=ones.astype(int), scores=(sums[0], sums[1]),
    )  # fmt: skip
    fast = segments.entries_of(found, SIZES)
    one, other = segments.segments_of(fast, depth=2), segments.segments_of(slow, depth=2)
    for name in ("level", "rows", "positive", "score", "residual", "same"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9), name
    assert path(one) == pytest.approx(path(other), abs=1e-7)
    exact = segments.segments_of(
        segments.Entries.of_parts(
            np.ravel_multi_index(tuple(level), SIZES), SIZES, score, rows=counts, positive=counts * label,
            scores=(counts * label * score, counts * ~label * score),
        ),
        depth=2,
    )  # fmt: skip
    # What is said of cells is careful: ranges only fall, variances only rise.
    assert np.all(path(one) <= path(exact) + 1e-7)
    assert np.all(one.variance >= exact.variance - 1e-9)
    # A cell of few rows is no wider than a step of a path.
    assert np.all(np.abs(one.variance - other.variance) <= one.rows / found.cells)
    some = one.rows < np.median(one.rows)
    assert segments.rows_of(fast, one, some) == segments.rows_of(slow, other, some)
    large = tuple(one.level[data.draw(st.integers(0, one.size - 1))].tolist())
    free = [k for k, value in enumerate(large) if value < 0]
    if sum(value >= 0 for value in large) < 2:
        assert segments.beyond(segments.ByCells(fast, 2), large, [(k,) for k in free]) == pytest.approx(
            segments.beyond(segments.ByCells(slow, 2), large, [(k,) for k in free]), abs=1e-9
        )
        small = tuple(int(level[k, 0]) if k == free[0] else value for k, value in enumerate(large))
        assert segments.without(fast, large, small) == pytest.approx(
            segments.without(slow, large, small), abs=0.2
        )
    stretch, slowly = segments.stretch_of(fast, large), segments.stretch_of(slow, large)
    # Which of two as long ones it is may be settled by rounding.
    assert abs(stretch.gap * stretch.rows) == pytest.approx(abs(slowly.gap * slowly.rows), abs=1e-7)


@given(st.data())
def test_what_fits_is_exact_whatever_the_cut(data: Any) -> None:
    """Rows are exact up to the limit and in the same cells above it, in any parts and order."""
    rows = drawn_rows(data)
    entries = added_up(rows[0], rows[1], np.repeat(rows[2], 1), SIZES).rows.size
    limit = data.draw(st.sampled_from([entries - 1, entries, entries + 1, 500]).filter(lambda one: one > 0))
    whole, order = RunningCrossed(SIZES, 1, limit), data.draw(st.permutations(range(rows[1].size)))
    with patch.object(crossed, "_CELLS_FOR_A_SCORE", 1_000):
        for chosen in np.array_split(np.array(order), data.draw(st.integers(1, 4))):
            kept = data.draw(st.sampled_from([0, 1_000]))
            whole.add(added(RunningCrossed(SIZES, 1, limit, kept=kept), rows, chosen))
        found = whole.result()
        once = added(RunningCrossed(SIZES, 1, limit), rows, np.arange(rows[1].size)).result()
    assert isinstance(found, KeyedSums) == isinstance(once, KeyedSums) == (entries <= limit)
    if isinstance(found, KeyedSums) and isinstance(once, KeyedSums):
        assert [found.part.tolist(), found.point.tolist()] == [once.part.tolist(), once.point.tolist()]
        assert [one.tolist() for one in found.whole] == [one.tolist() for one in once.whole]
    elif isinstance(found, CrossedCells) and isinstance(once, CrossedCells):
        assert np.array_equal(found.rows, once.rows)
        assert np.array_equal(found.below, once.below)
        assert np.array_equal(found.combined(), once.combined())


@given(st.lists(st.floats(0.0, 1.0), min_size=1), st.sampled_from([80, 333, 4_096]))
def test_a_score_is_in_the_first_cell_that_it_does_not_pass(scores: list[float], cells: int) -> None:
    """The quick way finds what halving finds, next to the edges too."""
    upper = edges(cells)
    near = np.clip(np.concatenate((np.nextafter(upper, 2.0), np.nextafter(upper, -1.0), upper)), 0.0, 1.0)
    score = np.concatenate((np.array(scores), near))
    table = cells_of(-(-cells * 36 // 4))
    table.cells, table._upper = cells, upper
    assert np.array_equal(table._cell_of(score), np.searchsorted(upper, score))


def test_segments_that_do_not_fit_are_refused() -> None:
    """Fewer than 80 cells for each are none; more rows in a cell than sums can hold are refused, too."""
    many = sum(1 if not one else np.prod([SIZES[k] for k in one]) for one in sets_of_columns(3, 2))
    assert cells_of(720).cells == 80
    with pytest.raises(InputProblem, match=f"may make {many} segments, which do not fit in the memory"):
        cells_of(719)
    table = cells_of(720)
    score = np.array([0.4, 0.41])
    counts = np.full(2, 1 << 62)
    table.add_rows(KeyedSums(np.zeros(2, int), score.view(int), (counts // 8, counts // 8)))
    with pytest.raises(InputProblem, match="nearly the same score"):
        table.refuse_full()
    with patch.object(crossed, "_CELLS_FOR_A_SCORE", 0), patch.object(crossed, "_LEAST_CELLS", 0):
        few = cells_of(1)
    with pytest.raises(InputProblem, match="24 combinations of values, which do not fit"):
        few.combined()


def test_the_law_joins_what_is_kept_to_cells() -> None:
    """Labels are drawn for combinations of all columns, which cells do not keep."""
    rng = np.random.default_rng(0)
    level, score = np.stack([rng.integers(0, size, 400) for size in SIZES]), rng.random(400)
    table = cells_of(900)
    part = np.ravel_multi_index(tuple(level), SIZES)
    ones = (rng.random(400) < score).astype(int)
    table.add_rows(KeyedSums(part, score.view(int), (np.ones(400, int), ones)))
    found = segments.segments_of(segments.InCells(table), depth=2)
    seen = segments.are_tested(found, least_rows=20)
    together = segments.joint(segments.InCells(table), found, seen, names="abc", depth=2, error=0.05)
    assert together.draws == 0


def test_rows_take_no_more_memory_than_is_allowed() -> None:
    """Five times as many rows as may be kept, in batches: 256 bytes for each of those, whatever comes."""
    rng, limit = np.random.default_rng(0), 150_000
    tracemalloc.start()
    try:
        running = RunningCrossed(SIZES, 2, limit)
        for _ in range(15):
            score = rng.random(50_000)
            running.add_rows(score, score > 0.5, part=rng.integers(0, 24, score.size))
        assert isinstance(running.result(), CrossedCells)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 256 * limit
