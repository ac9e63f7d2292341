"""A few scores that say where all of them lie."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibcli.table.grid import grid_of
from calibcli.table.quantiles import LEVELS, quantiles_of, score_quantiles
from calibcli.table.score_table import ScoreTable

SCORES = st.lists(st.integers(0, 200).map(lambda place: place / 200), min_size=1, max_size=300)


@given(SCORES, st.integers(1, 5))
def test_each_is_the_score_that_a_share_of_the_rows_does_not_pass(scores: list[float], times: int) -> None:
    """Of single scores in any order, of their table, and of rows that count more than once."""
    ordered = sorted(scores)
    expected = [ordered[max(1, math.ceil(len(ordered) * level / 100 - 1e-9)) - 1] for level in LEVELS]
    assert list(quantiles_of(np.array(scores))) == expected
    distinct, rows = np.unique(scores, return_counts=True)
    table = ScoreTable(distinct, rows, np.zeros(rows.size, np.int64))
    assert list(score_quantiles(table)) == expected
    grid = score_quantiles(grid_of(table))
    assert np.allclose(grid, expected, atol=1.4e-6)
    more = ScoreTable(distinct, rows * times, np.zeros(rows.size, np.int64))
    repeated = quantiles_of(np.repeat(scores, times))
    assert score_quantiles(more) == repeated
