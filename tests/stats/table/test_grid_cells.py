"""The cells of a grid table: every score in its cell, every usual partition nested."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.stats.table import grid as cells

EDGE_SCORES = st.builds(
    lambda i, steps: float(
        np.clip(np.nextafter(i / cells.CELLS, 2.0 if steps > 0 else -1.0) if steps else i / cells.CELLS, 0, 1)
    ),
    st.integers(0, cells.CELLS),
    st.integers(-1, 1),
)
TINY = st.floats(0.0, 2 * cells.WIDTH)
scores = st.lists(
    st.one_of(st.floats(0.0, 1.0), EDGE_SCORES, TINY, TINY.map(lambda x: 1.0 - x)), min_size=1, max_size=200
)


@given(values=scores)
def test_codes_ascend_with_the_score(values: list[float]) -> None:
    """Sorted scores have sorted codes, all of them codes that exist."""
    code = cells.cell_of(np.sort(np.array(values)))
    assert np.all(np.diff(code) >= 0)
    assert code.min() >= 0
    assert code.max() < cells.CODES


@given(values=scores)
def test_cell_contains_its_score(values: list[float]) -> None:
    """A score is at most its cell's edge, above the edges before, and no cell is wider than 1/720720."""
    score = np.array(values)
    code = cells.cell_of(score)
    top = cells.upper_edge(code)
    assert np.all(score <= top)
    assert np.all(top - score <= cells.WIDTH * (1 + 1e-9))
    # Beyond 1 - 1/720720 lie parts finer than doubles are; they share an edge with the score and are empty.
    inner = (code > 0) & (score <= 1.0 - cells.WIDTH)
    assert np.all(score[inner] > cells.upper_edge(code[inner] - 1))
    for edge in cells.upper_edge(code):
        assert np.all(code[score <= edge] <= cells.cell_of(np.array([edge])))


@given(values=scores)
def test_upper_edge_is_in_its_own_cell(values: list[float]) -> None:
    """The largest score of a cell belongs to that cell."""
    code = cells.cell_of(np.array(values))
    assert np.array_equal(cells.cell_of(cells.upper_edge(code)), code)


def test_main_cells_equal_searchsorted() -> None:
    """On all edges and their neighbours, main cells are (i/720720, (i+1)/720720] as searchsorted has them."""
    edges = np.arange(cells.CELLS + 1) / cells.CELLS
    score = np.concatenate((edges, np.nextafter(edges, 2.0)[:-1], np.nextafter(edges, -1.0)[1:]))
    index = np.searchsorted(edges, score, side="left")
    main = (index >= 2) & (index <= cells.CELLS - 1)
    code = cells.cell_of(score[main])
    assert np.array_equal(code - code.min(), index[main] - index[main].min())
    assert np.array_equal(cells.upper_edge(code), edges[index[main]])


def test_zero_and_one_are_cells_of_their_own() -> None:
    """No other score shares the cell of 0 or of 1."""
    code = cells.cell_of(np.array([0.0, 5e-324, 1e-300, 1.0 - 2.0**-53, 1.0]))
    assert code[0] == 0
    assert np.all(code[1:3] > 0)
    assert code[4] == cells.CODES - 1
    assert code[3] < code[4]
    assert cells.upper_edge(code[[0, 4]]).tolist() == [0.0, 1.0]


def test_every_code_is_reached_or_empty_in_order() -> None:
    """Upper edges never fall along the codes, so a partition cuts the codes into runs."""
    top = cells.upper_edge(np.arange(cells.CODES))
    assert np.all(np.diff(top) >= 0)
    assert top[0] == 0.0
    assert top[-1] == 1.0


@pytest.mark.parametrize("bins", [*range(1, 17), 18, 20, 21, 22, 24, 26, 28, 30])
def test_cells_nest_every_usual_partition(bins: int) -> None:
    """Neither an inner edge i/B nor its neighbours share a cell with a score on the other side."""
    edge = np.arange(1, bins) / bins
    assert np.all(cells.upper_edge(cells.cell_of(edge)) == edge)
    assert np.all(cells.cell_of(np.nextafter(edge, 2.0)) == cells.cell_of(edge) + 1)
    assert Fraction(cells.CELLS, bins).denominator == 1


@settings(deadline=None)
@given(values=st.lists(TINY.filter(lambda x: x > 0), min_size=1, max_size=50))
def test_ends_are_cut_into_relative_parts(values: list[float]) -> None:
    """Near 0 a cell spans at most 1/32 of its distance from 0, so the log loss there is settled."""
    score = np.array([v for v in values if v <= cells.WIDTH and v > 1e-300] or [cells.WIDTH])
    top = cells.upper_edge(cells.cell_of(score))
    assert np.all(top / score <= 1 + 1 / 32)
