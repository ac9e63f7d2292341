"""Venn-Abers: what is bracketed, what is refused, what is stored."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.codec import Node
from calibcli.errors import DocumentProblem
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.venn_abers import Bracket, VennAbers, levels_with_one_more
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.grid import grid_of
from score_rows import table_of, uniform

rows_of_both_labels = st.lists(
    st.tuples(st.one_of(st.sampled_from([0.0, 5e-324, 0.5, 1.0]), st.floats(0, 1)), st.booleans()),
    min_size=2,
    max_size=50,
).filter(lambda rows: {label for _, label in rows} == {True, False})
PROBES = np.unique(np.concatenate(([0.0, 5e-324, 1.0], np.linspace(0, 1, 101))))


@given(rows=rows_of_both_labels, folds=st.sampled_from([None, 2]))
def test_ends_rise_with_the_score_and_bracket_the_point(
    rows: list[tuple[float, bool]], folds: int | None
) -> None:
    """p0 <= point <= p1, all three nondecreasing, at fit scores and elsewhere."""
    table = table_of(rows)
    fitted = VennAbers.fit(table, options=FitOptions(folds=folds))
    at = np.unique(np.concatenate((PROBES, table.score)))
    (lower, upper), point = fitted.ends(at), fitted.predict(at)
    assert np.all((lower <= point) & (point <= upper))
    for column in (lower, point, upper):
        assert np.all(np.diff(column) >= 0)
    if folds is None:
        np.testing.assert_array_equal(point, upper / (1 - lower + upper))


def test_a_single_pair_of_rows_by_hand() -> None:
    """Label 0 at 0.25 and label 1 at 0.75."""
    fitted = VennAbers.fit(table_of([(0.25, False), (0.75, True)]))
    lower, upper = fitted.ends(np.array([0.0, 0.25, 0.5, 0.75, 1.0]))
    np.testing.assert_array_equal(lower, [0.0, 0.0, 0.0, 0.5, 0.5])
    np.testing.assert_array_equal(upper, [0.5, 0.5, 1.0, 1.0, 1.0])


def test_the_bracket_narrows_as_rows_are_added() -> None:
    """The mean width falls about as one over the rows in a block does."""
    at = np.linspace(0.05, 0.95, 200)
    widths = []
    for rows in (100, 1000, 10_000):
        lower, upper = VennAbers.fit(uniform(rows, 2.0)).ends(at)
        widths.append(float((upper - lower).mean()))
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


@pytest.mark.parametrize("rows", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_the_end_that_the_label_picks_is_calibrated(rows: int) -> None:
    """The theorem: of any rows, each left out once, those with one value of that end have it as rate."""
    for score in combinations_with_replacement((0.1, 0.4, 0.7), rows):
        for label in product((False, True), repeat=rows):
            found: dict[float, list[bool]] = {}
            for out in range(rows):
                kept = [(score[row], label[row]) for row in range(rows) if row != out]
                lower, upper = Bracket.of(table_of(kept)).at_each(np.array(score[out : out + 1]))
                found.setdefault(round(float((upper if label[out] else lower)[0]), 9), []).append(label[out])
            for end, labels in found.items():
                assert np.mean(labels) == pytest.approx(end, abs=1e-9)


def test_equal_neighbours_are_kept_once() -> None:
    """The state grows with the number of levels, not of rows."""
    fitted = VennAbers.fit(uniform(20_000, 2.0))
    (fold,) = fitted.folds
    assert fold.first.size + fold.last.size < 2_500
    assert np.all(np.diff(fold.lower) > 0)
    assert np.all(np.diff(fold.upper) > 0)


def test_folds_are_drawn_by_the_seed_and_may_lack_a_label() -> None:
    """Another seed shares the rows out otherwise; a fold of one label has ends, too."""
    table = uniform(300, 2.0)
    one, again, other = (VennAbers.fit(table, options=FitOptions(folds=5, seed=s)) for s in (1, 1, 2))
    assert one == again
    assert one != other
    few = VennAbers.fit(table_of([(0.1, False), (0.2, False), (0.9, True)]), options=FitOptions(folds=3))
    assert [fold.lower.size for fold in few.folds].count(0) == 2
    assert np.all(np.isfinite(few.predict(PROBES)))


def test_a_cross_predictor_that_disagrees_brackets_its_point() -> None:
    """1 - GM(1 - p0) and GM(p1) would change places here."""
    folds = [{"first": [0.5], "lower": [p], "last": [0.5], "upper": [p + 0.02]} for p in (0.1, 0.89)]
    fitted = VennAbers.from_dict(Node({"folds": folds}))
    lower, upper = fitted.ends(np.array([0.5]))
    assert (lower.tolist(), upper.tolist()) == ([0.1], [0.91])
    assert 1 - np.sqrt(0.9 * 0.11) > np.sqrt(0.12 * 0.91)
    assert fitted.predict(np.array([0.5]))[0] == pytest.approx(
        np.sqrt(0.12 * 0.91) / (np.sqrt(0.12 * 0.91) + np.sqrt(0.9 * 0.11)), abs=1e-15
    )


def test_a_grid_table_is_fitted_at_the_means_of_its_cells() -> None:
    """Within rounding the map of the exact table."""
    table = uniform(2000, 2.0)
    exact, rounded = VennAbers.fit(table), VennAbers.fit(grid_of(table))
    at = (table.score[1:] + table.score[:-1])[np.diff(table.score) > 1e-5] / 2
    np.testing.assert_allclose(rounded.ends(at), exact.ends(at), rtol=0, atol=1e-12)


def test_counts_beyond_64_bit_products_are_fitted() -> None:
    """Then lines are compared in floating point."""
    huge = 4_000_000_000
    lower, upper = levels_with_one_more(np.array([huge, huge]), np.array([huge // 4, huge // 2]))
    np.testing.assert_allclose(lower, [0.25, 0.5], rtol=1e-9)
    np.testing.assert_allclose(upper, [0.25, 0.5], rtol=1e-9)


def test_a_document_without_levels_is_refused() -> None:
    """No folds, and a fold of no rows."""
    with pytest.raises(DocumentProblem, match="has 0 elements, should have 1 to 100"):
        VennAbers.from_dict(Node({"folds": []}))
    empty: dict[str, list[float]] = {"first": [], "lower": [], "last": [], "upper": []}
    with pytest.raises(DocumentProblem, match="holds no level"):
        VennAbers.from_dict(Node({"folds": [empty]}))


def test_a_cell_of_a_grid_has_its_levels_everywhere() -> None:
    """Rows on one side of the mean of a lone cell had 0 or 1 for one level, and about .54 for .2."""
    score = np.append(0.2 + 1e-6 * np.linspace(0.01, 0.4, 1_000), [0.0, 1.0])
    label = np.append(np.arange(1_000) % 5 == 0, [False, True])
    cells = grid_of(ScoreTable.from_rows(score, label))
    found = VennAbers.fit(cells).predict(score[:-2])
    assert float(np.ptp(found)) == 0.0
    assert found[0] == pytest.approx(0.2, abs=0.01)
