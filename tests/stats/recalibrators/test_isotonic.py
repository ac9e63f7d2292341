"""Isotonic regression where it is delicate, plain and centred."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.isotonic import CentredIsotonic, Isotonic
from calibcli.stats.recalibrators.lookup import Polyline
from score_rows import table_of_columns

STEP = FitOptions(step=True)
SMALL = table_of_columns([0.1, 0.2, 0.3, 0.4, 0.5, 0.5], [0, 1, 0, 1, 1, 1])


def test_step_function_changes_half_way_and_is_closed_on_the_right() -> None:
    """With --step, levels change at midpoints, and a score at a midpoint belongs to the left."""
    fitted = Isotonic.fit(table_of_columns([0.25, 0.5, 0.75], [0, 1, 1]), options=STEP)
    assert fitted.bins is not None
    assert [(one.lower, one.upper, one.value, one.rows) for one in fitted.bins] == [
        (0.0, 0.375, 0.0, 1),
        (0.375, 1.0, 1.0, 2),
    ]
    assert fitted.predict(np.array([0.375, np.nextafter(0.375, 1)])).tolist() == [0.0, 1.0]


def test_equal_levels_are_one_block() -> None:
    """Blocks with the same level are merged, so that steps are the outputs there are."""
    fitted = Isotonic.fit(table_of_columns([0.1, 0.1, 0.2, 0.2, 0.3], [0, 1, 1, 0, 1]), options=STEP)
    assert fitted.bins is not None
    assert [one.value for one in fitted.bins] == [0.5, 1.0]


def test_falling_labels_give_one_level_and_a_note() -> None:
    """Where labels fall with the score the best non-decreasing fit is constant."""
    fitted = Isotonic.fit(table_of_columns([0.1, 0.9], [1, 0]))
    assert set(fitted.predict(np.linspace(0, 1, 11)).tolist()) == {0.5}
    assert "One level" in fitted.notes[0]
    assert fitted.increasing


def test_rows_of_weight_nothing_change_nothing() -> None:
    """A score that carries no weight is no knot."""
    light = Isotonic.fit(table_of_columns([0.1, 0.2, 0.3], [0, 1, 1], [1.0, 0.0, 1.0])).curve
    assert isinstance(light, Polyline)
    assert light.knots.tolist() == [0.1, 0.3]


def test_neighbouring_doubles_are_told_apart() -> None:
    """Knots a denormal number apart are hit exactly, where numpy.interp gives minus infinity."""
    fitted = Isotonic.fit(table_of_columns([0.0, 5e-324, 0.5, np.nextafter(0.5, 1)], [0, 1, 0, 1]))
    predicted = fitted.predict(np.array([0.0, 5e-324, 0.3, 0.5, np.nextafter(0.5, 1), 1.0]))
    assert predicted.tolist() == [0.0, 0.5, 0.5, 0.5, 1.0, 1.0]
    stepped = Isotonic.fit(table_of_columns([0.0, 5e-324], [0, 1]), options=STEP)
    assert stepped.predict(np.array([0.0, 5e-324, 1.0])).tolist() == [0.0, 1.0, 1.0]


TIED = table_of_columns([0.1, 0.2, 0.2, 0.4, 0.5, 0.6, 0.7], [0, 1, 1, 0, 1, 1, 1])


def test_importance_weights_move_the_point() -> None:
    """The mean score of a block is taken by weight, and rows of no weight are not there."""
    weighted = table_of_columns([0.2, 0.3, 0.4, 0.9], [1, 1, 0, 1], [3.0, 0.0, 1.0, 1.0])
    curve = CentredIsotonic.fit(weighted).curve
    np.testing.assert_allclose(curve.knots, [0.25, 0.9], rtol=0, atol=1e-15)
    assert curve.values.tolist() == [0.75, 1.0]


def test_ends_of_one_label_stay_flat_and_others_do_not() -> None:
    """Below the first label 1 all is 0, above the last label 0 all is 1; between, the map rises strictly."""
    fitted = CentredIsotonic.fit(
        table_of_columns([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0, 0, 0, 1, 0, 1, 1, 1])
    )
    assert fitted.curve.knots.tolist() == [0.1, 0.3, 0.45, 0.6, 0.8]
    assert fitted.curve.values.tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
    inside = fitted.predict(np.linspace(0.3, 0.6, 301))
    assert np.all(np.diff(inside) > 0)
    lowest_mixed = CentredIsotonic.fit(table_of_columns([0.1, 0.2, 0.5, 0.6], [1, 0, 1, 1]))
    assert lowest_mixed.predict(np.array([0.0, 0.1, 0.15])).tolist() == [0.5, 0.5, 0.5]
    assert lowest_mixed.predict(np.array([0.16]))[0] > 0.5


@given(rows=st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=4, max_size=60))
def test_map_rises_strictly_inside_and_has_the_isotonic_levels(rows: list[tuple[int, bool]]) -> None:
    """Points ascend in both coordinates but for the flat ends, and their levels are those of isotonic."""
    score, label = [k / 12 for k, _ in rows], [int(one) for _, one in rows]
    label[:2] = [0, 1]
    centred, plain = (
        CentredIsotonic.fit(table_of_columns(score, label)),
        Isotonic.fit(table_of_columns(score, label)),
    )
    knots, values = centred.curve.knots, centred.curve.values
    assert np.all(np.diff(knots) > 0)
    flat = np.diff(values) == 0
    assert np.all(np.isin(values[:-1][flat], [0.0, 1.0]))
    assert set(values.tolist()) == set(plain.curve.values.tolist())
    outside = np.array([0.0, 1.0])
    assert centred.predict(outside).tolist() == plain.predict(outside).tolist()


def test_neighbouring_doubles_keep_their_order() -> None:
    """Blocks of scores a denormal number apart have points apart."""
    fitted = CentredIsotonic.fit(table_of_columns([0.0, 5e-324, 0.5, np.nextafter(0.5, 1)], [0, 1, 0, 1]))
    assert np.all(np.diff(fitted.curve.knots) > 0)
    assert fitted.predict(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]


def test_falling_labels_give_one_point_and_a_note() -> None:
    """Where one block is all there is, the map is constant."""
    fitted = CentredIsotonic.fit(table_of_columns([0.1, 0.9], [1, 0]))
    assert fitted.to_dict() == {"knots": [0.5], "values": [0.5]}
    assert "One level" in fitted.notes[0]
    assert (fitted.increasing, fitted.bins, fitted.guarantee) == (True, None, None)
    assert CentredIsotonic.fit(TIED).notes == ()
