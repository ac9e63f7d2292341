"""Counting scores of which there are few, and ranks by drawers: the same as by sorting and halving."""

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from calibcli.stats.recalibrators import lookup as ranks
from calibcli.stats.recalibrators.lookup import ranks as ranks_of
from calibcli.stats.table import ScoreTable, bins
from calibcli.stats.table import running as repeated
from calibcli.stats.table.bins import bin_index
from calibcli.stats.table.grid import LEVELS, grid_of, quantiles_of, score_quantiles
from calibcli.stats.table.running import table_of_repeated
from calibcli.stats.table.value_cells import ValueCells

SCORES = st.sampled_from([0.0, -0.0, 5e-324, 0.1, 0.25, np.nextafter(0.25, 0), 0.5, 0.7, 1.0])
ROWS = st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=60)
UNIT = st.floats(0.0, 1.0, allow_nan=False)


@given(rows=ROWS, bits=st.integers(1, 5), cut=st.integers(0, 60))
def test_few_scores_are_counted_as_by_sorting(rows: list[tuple[float, bool]], bits: int, cut: int) -> None:
    """Whatever slots scores share, and however rows are cut into batches."""
    score, label = np.array([s for s, _ in rows]), np.array([y for _, y in rows])
    with mock.patch.multiple(repeated, _BITS=bits, _SLOTS=1 << bits, _DIFFERENT=1.0, _LEAST_ROWS=1, _CHUNK=7):
        found = table_of_repeated([score[:cut], score[cut:]], [label[:cut], label[cut:]])
    assert found == ScoreTable.from_rows(score, label)


def test_scores_that_differ_are_left_to_the_sort() -> None:
    """A sample tells: a thousand values among a hundred thousand rows repeat, all different ones do not."""
    rng = np.random.default_rng(0)
    score, label = rng.random(100_000), rng.random(100_000) < 0.5
    assert table_of_repeated([score], [label]) is None
    rounded = np.round(score, 3)
    assert table_of_repeated([rounded], [label]) == ScoreTable.from_rows(rounded, label)


@given(points=st.lists(UNIT, min_size=1, max_size=30), scores=st.lists(UNIT, max_size=30))
def test_ranks_are_those_of_halving(points: list[float], scores: list[float]) -> None:
    """Points that share a drawer, scores on a point and next to it, and scores on the border of drawers."""
    ascending = np.sort(points)
    score = np.array([*scores, *points, *np.nextafter(points, 2.0).clip(0.0, 1.0), 0.0, 0.125, 0.5, 1.0])
    with mock.patch.multiple(ranks, _FEW_ROWS=0, _CHUNK=7):
        found = ranks_of(ascending, score)
    assert found.tolist() == np.searchsorted(ascending, score, side="right").tolist()


@pytest.mark.parametrize("count", [1, 2, 15, 33, 34, 100])
def test_bins_are_those_of_halving(count: int) -> None:
    """Few edges are passed one after the other, many are searched."""
    edges = bins.equal_width_edges(count)
    score = np.concatenate((edges, np.nextafter(edges, 0.0), np.random.default_rng(0).random(40_000)))
    assert bin_index(edges, score).tolist() == np.searchsorted(edges[1:-1], score, side="left").tolist()


@settings(max_examples=8)
@given(
    seed=st.integers(0, 1_000), exponent=st.sampled_from((0.3, 1.0, 20.0)), scale=st.sampled_from((1.0, 1e5))
)
@pytest.mark.parametrize("step", [1, -1])
def test_ordered_values_are_counted_as_shuffled_ones(
    step: int, seed: int, exponent: float, scale: float
) -> None:
    generator = default_rng(seed)
    values = np.sort(generator.random(20_000) ** exponent) * scale
    # Ends of cells, zeros and ties.
    values[:50], values[300:400] = 0.0, values[300]
    values = np.sort(np.append(values, 2.0 ** np.arange(-70.0, 14.0)))[::step]
    counts = generator.integers(0, 9, values.size)
    order = generator.permutation(values.size)
    ordered, shuffled = ValueCells(), ValueCells()
    ordered.add(values, counts.astype(np.float64))
    shuffled.add(values[order], counts[order])
    for one, other in zip(ordered.values(), shuffled.values(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 20, 99, 100, 101, 1_000])
@pytest.mark.parametrize("times", [1, 3])
def test_each_is_the_score_that_a_share_of_the_rows_does_not_pass(rows: int, times: int) -> None:
    """Of single scores in any order, of their table, and of rows that count more than once."""
    scores = np.random.default_rng(rows).integers(0, 201, rows) / 200
    ordered = sorted(scores)
    expected = [ordered[max(1, math.ceil(len(ordered) * level / 100 - 1e-9)) - 1] for level in LEVELS]
    assert list(quantiles_of(scores)) == expected
    distinct, counts = np.unique(scores, return_counts=True)
    none = np.zeros(counts.size, np.int64)
    table = ScoreTable(distinct, counts, none)
    assert list(score_quantiles(table)) == expected
    grid = score_quantiles(grid_of(table))
    assert np.allclose(grid, expected, atol=1.4e-6)
    more = ScoreTable(distinct, counts * times, none)
    repeated = quantiles_of(np.repeat(scores, times))
    assert score_quantiles(more) == repeated
