"""Where the rows lie, and paths thinned to what can be seen."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.stats.curves.limits import Spread, thinned
from calibcli.stats.table.score_table import ScoreTable

some_scores = st.lists(
    st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0.0, 1.0)), min_size=1, max_size=60
)


def spread_of(scores: np.ndarray) -> Spread:
    """Return the spread of rows with label 0."""
    return Spread.of(ScoreTable.from_rows(scores, np.zeros(scores.size, bool)))


@settings(deadline=None, max_examples=40)
@given(scores=some_scores)
def test_shares_count_rows(scores: list[float]) -> None:
    """Below a score, up to it, and between edges that are scores; no row is lost at 0 or 1."""
    rows = np.array(scores)
    spread = spread_of(rows)
    for score in scores:
        below, upto = spread.around(score)
        assert below == pytest.approx(np.mean(rows < score), abs=1e-12)
        assert upto == pytest.approx(np.mean(rows <= score), abs=1e-12)
        assert rows.min() <= spread.at(0.5 * (below + upto)) <= rows.max()
    assert spread.between(np.linspace(0.0, 1.0, 8)).sum() == pytest.approx(1.0)
    edges = np.unique(rows)
    if edges.size > 1:
        counted = [np.mean((rows > low) & (rows <= high)) for low, high in pairwise(edges)]
        counted[0] += np.mean(rows == edges[0])
        assert spread.between(edges) == pytest.approx(counted, abs=1e-12)


def test_many_scores_are_thinned_without_moving_the_shares() -> None:
    """A few thousand places stand for 200,000 scores; none of the shares moves by what could be seen."""
    rows = np.random.default_rng(0).beta(0.3, 3.0, 200_000)
    spread = spread_of(rows)
    assert spread.score.size < 4_500
    places = np.quantile(rows, np.linspace(0.01, 0.99, 50))
    wanted = [np.mean(rows <= place) for place in places]
    assert [spread.around(float(place))[1] for place in places] == pytest.approx(wanted, abs=1e-3)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 1_000), parts=st.integers(1, 20))
def test_thinning_keeps_ends_and_extremes_of_every_part(seed: int, parts: int) -> None:
    """What is left out lies between what is kept, part by part."""
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.random(300)), rng.normal(size=300).round(1)
    kept = thinned(x, y, parts=parts)
    assert kept.size <= 4 * parts or kept.size == 300
    assert {0, 299} <= set(kept.tolist())
    part = np.minimum((x - x[0]) * parts / (x[-1] - x[0]), parts - 1).astype(int)
    for one in np.unique(part):
        mine = kept[part[kept] == one]
        assert y[mine].min() == y[part == one].min()
        assert y[mine].max() == y[part == one].max()
