"""Isotonic regression where it is delicate."""

import pickle

import numpy as np
import pytest

from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.isotonic import Isotonic
from calibcli.stats.recalibrators.lookup import BinMap, Polyline
from calibcli.stats.table.score_table import ScoreTable


def table(score: list[float], label: list[int], weight: list[float] | None = None) -> ScoreTable:
    """Rows as a table."""
    return ScoreTable.from_rows(
        np.array(score), np.array(label, dtype=bool), weight=None if weight is None else np.array(weight)
    )


STEP = FitOptions(step=True)
SMALL = table([0.1, 0.2, 0.3, 0.4, 0.5, 0.5], [0, 1, 0, 1, 1, 1])


def test_violators_are_pooled() -> None:
    """The classical example: 0 | 1 0 | 1 1, with knots at the ends of the blocks."""
    curve = Isotonic.fit(SMALL).curve
    assert isinstance(curve, Polyline)
    assert curve.knots.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert curve.values.tolist() == [0.0, 0.5, 0.5, 1.0, 1.0]


def test_prediction_is_linear_between_knots_and_constant_outside() -> None:
    """Half way between two knots lies half way between their levels."""
    predicted = Isotonic.fit(SMALL).predict(np.array([0.0, 0.1, 0.15, 0.25, 0.35, 0.9]))
    np.testing.assert_allclose(predicted, [0.0, 0.0, 0.25, 0.5, 0.75, 1.0], rtol=0, atol=1e-15)


def test_step_function_changes_half_way_and_is_closed_on_the_right() -> None:
    """With --step, levels change at midpoints, and a score at a midpoint belongs to the left."""
    fitted = Isotonic.fit(table([0.25, 0.5, 0.75], [0, 1, 1]), options=STEP)
    assert fitted.bins is not None
    assert [(one.lower, one.upper, one.value, one.rows) for one in fitted.bins] == [
        (0.0, 0.375, 0.0, 1),
        (0.375, 1.0, 1.0, 2),
    ]
    assert fitted.predict(np.array([0.375, np.nextafter(0.375, 1)])).tolist() == [0.0, 1.0]


def test_equal_levels_are_one_block() -> None:
    """Blocks with the same level are merged, so that steps are the outputs there are."""
    fitted = Isotonic.fit(table([0.1, 0.1, 0.2, 0.2, 0.3], [0, 1, 1, 0, 1]), options=STEP)
    assert fitted.bins is not None
    assert [one.value for one in fitted.bins] == [0.5, 1.0]


def test_falling_labels_give_one_level_and_a_note() -> None:
    """Where labels fall with the score the best non-decreasing fit is constant."""
    fitted = Isotonic.fit(table([0.1, 0.9], [1, 0]))
    assert set(fitted.predict(np.linspace(0, 1, 11)).tolist()) == {0.5}
    assert "One level" in fitted.notes[0]
    assert fitted.increasing


def test_rows_of_weight_nothing_change_nothing() -> None:
    """A score that carries no weight is no knot."""
    light = Isotonic.fit(table([0.1, 0.2, 0.3], [0, 1, 1], [1.0, 0.0, 1.0])).curve
    assert isinstance(light, Polyline)
    assert light.knots.tolist() == [0.1, 0.3]


def test_neighbouring_doubles_are_told_apart() -> None:
    """Knots a denormal number apart are hit exactly, where numpy.interp gives minus infinity."""
    fitted = Isotonic.fit(table([0.0, 5e-324, 0.5, np.nextafter(0.5, 1)], [0, 1, 0, 1]))
    predicted = fitted.predict(np.array([0.0, 5e-324, 0.3, 0.5, np.nextafter(0.5, 1), 1.0]))
    assert predicted.tolist() == [0.0, 0.5, 0.5, 0.5, 1.0, 1.0]
    stepped = Isotonic.fit(table([0.0, 5e-324], [0, 1]), options=STEP)
    assert stepped.predict(np.array([0.0, 5e-324, 1.0])).tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("step", [False, True])
def test_pickled_fit_is_equal_and_still_read_only(step: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A fit that an engine sends to a worker is the same, and cannot be changed there."""
    fitted = Isotonic.fit(SMALL, options=FitOptions(step=step))
    copy = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    assert copy == fitted
    assert copy != Isotonic.fit(SMALL, options=FitOptions(step=not step))
    assert isinstance(copy.curve, Polyline | BinMap)
    with pytest.raises(ValueError, match="read-only"):
        copy.curve.values[0] = 1.0
