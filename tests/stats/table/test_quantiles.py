"""A few scores that say where all of them lie."""

import math

import numpy as np
import pytest

from calibcli.stats.table.grid import LEVELS, grid_of, quantiles_of, score_quantiles
from calibcli.stats.table.score_table import ScoreTable


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
