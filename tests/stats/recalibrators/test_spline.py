"""Spline recalibration where it is delicate."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from calibcli.codec import Node
from calibcli.errors import NotConverged
from calibcli.names import FitLoss
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.logistic import Record
from calibcli.stats.recalibrators.logits import Platt
from calibcli.stats.recalibrators.newton import logit
from calibcli.stats.recalibrators.spline import Spline, falls, knots_of, natural, slopes_at_knots
from calibcli.stats.table import ScoreTable, Weighing

RECORD = Record(FitLoss.LOG, smoothed=False, separated=False, limited_rows=0, steps=1, gradient=0.0)
levels = st.floats(-5.0, 5.0)
knots_and_values = st.integers(2, 5).flatmap(
    lambda k: st.tuples(
        st.lists(st.integers(-40, 40), min_size=k, max_size=k, unique=True),
        st.lists(levels, min_size=k, max_size=k),
    )
)


def drawn(rows: int = 20_000) -> ScoreTable:
    """Rows whose log odds rise, rest and rise again."""
    rng = np.random.default_rng(9)
    score = rng.random(rows)
    z = logit(score)
    return ScoreTable.from_rows(score, rng.random(rows) < 1 / (1 + np.exp(-(z - 1.2 * np.tanh(z)))))


@pytest.mark.parametrize("loss", FitLoss)
def test_bent_curve_is_followed(loss: FitLoss) -> None:
    """Probabilities are found again within what 20,000 rows and 5 knots allow, where a line misses them."""
    score = np.linspace(0.02, 0.98, 97)
    z = logit(score)
    truth = 1 / (1 + np.exp(-(z - 1.2 * np.tanh(z))))
    fitted = Spline.fit(drawn(), options=FitOptions(loss=loss))
    assert np.abs(fitted.predict(score) - truth).max() < 0.03
    assert np.abs(Platt.fit(drawn()).predict(score) - truth).max() > 0.05


def test_knots_are_quantiles_of_the_fit_scores() -> None:
    """Five knots lie at the order statistics of Harrell's shares."""
    score = (np.arange(1000) + 0.5) / 1000
    table = ScoreTable.from_rows(score, np.arange(1000) % 2 == 0)
    places = np.array([50, 275, 500, 725, 950]) - 1
    assert knots_of(table, None) == tuple(logit(score[places]).tolist())


@pytest.mark.parametrize(
    ("score", "knots"),
    [
        ([0.1] * 4 + [0.3] * 4 + [0.5] * 4 + [0.7] * 4, 4),
        ([0.1] * 4 + [0.3] * 4 + [0.5] * 4, 3),
        ([0.1] * 4 + [0.3] * 4, 2),
        ([0.1] + [0.3] * 40 + [0.5], 2),
    ],
)
def test_ties_leave_fewer_knots(score: list[float], knots: int) -> None:
    """Where quantiles meet there are fewer knots, and two of them are a straight line: Platt scaling."""
    table = ScoreTable.from_rows(np.array(score), np.arange(len(score)) % 3 > 0)
    fitted = Spline.fit(table)
    assert len(fitted.knots) == knots
    if knots == 2:
        line = Platt.fit(table)
        np.testing.assert_allclose(fitted.predict(table.score), line.predict(table.score), rtol=0, atol=1e-12)


def test_rows_of_no_weight_have_no_knot() -> None:
    """A score that weighs nothing does not move the knots."""
    score, label = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 0, 1], bool)
    weighted = ScoreTable.from_rows(score, label, Weighing(weight=np.array([0.0, 1.0, 2.0, 0.0])))
    assert knots_of(weighted, None) == tuple(logit(score[1:3]).tolist())


@pytest.mark.parametrize("most", [1e16, 1e140])
def test_a_row_that_outweighs_the_rest_leaves_a_straight_line(most: float) -> None:
    """All quantiles meet in that row; the knots are then the ends of the scores, or the fit is refused."""
    score, label = np.array([0.1, 0.2, 0.5, 0.7, 0.9]), np.array([0, 1, 0, 1, 1], bool)
    table = ScoreTable.from_rows(score, label, Weighing(weight=np.array([most, 1.0, 1.0, 1.0, 1.0])))
    assert knots_of(table, None) == tuple(logit(score[[0, 4]]).tolist())
    if most < 1e100:
        np.testing.assert_allclose(
            Spline.fit(table).predict(score), Platt.fit(table).predict(score), rtol=1e-6
        )
    else:
        with pytest.raises(NotConverged):
            Spline.fit(table)


def test_knots_as_near_as_doubles_are_read_again_and_finite() -> None:
    """What a fit can write is read, and the wildest values there give probabilities."""
    near = ScoreTable.from_rows(np.array([np.nextafter(1.0, 0.0) / 2, 0.5]), np.array([0, 1], bool))
    fitted = Spline.fit(near)
    assert Spline.from_dict(Node(fitted.to_dict())) == fitted
    knots = [i * 2.0**-56 for i in range(5)]
    wild = Spline((0.0,) * 5, (0.0,) * 5, RECORD).to_dict() | {
        "knots": knots,
        "values": [1e100, -1e100] * 2 + [0],
    }
    assert np.isfinite(Spline.from_dict(Node(wild)).predict(np.linspace(0, 1, 101))).all()


@given(knots_and_values)
def test_spline_is_that_of_scipy_and_straight_outside(shape: tuple[list[int], list[float]]) -> None:
    """Between knots it is scipy's natural cubic spline, outside the tangent."""
    knots, values = np.sort(np.array(shape[0], dtype=float)), np.array(shape[1])
    theirs = CubicSpline(knots, values, bc_type="natural")
    z = np.linspace(knots[0] - 3, knots[-1] + 3, 200)
    ends = np.clip(z, knots[0], knots[-1])
    expected = theirs(ends) + theirs(ends, 1) * (z - ends)
    np.testing.assert_allclose(natural(z, knots, values=values[np.newaxis])[0], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(slopes_at_knots(knots, values), theirs(knots, 1), rtol=0, atol=1e-9)


@example(
    ([0, 1, 2, 3], [0.0, 1.0, 2.0, 5.0])
)  # Its slope bends towards 0 between knots, and does not reach it.
@example(([0, 1, 2, 3], [0.0, 1.0, 1.0, 2.0]))  # It falls between two knots at which it rises.
@given(knots_and_values)
def test_falling_anywhere_is_seen(shape: tuple[list[int], list[float]]) -> None:
    """A spline is said to fall exactly where its slope, looked at closely, is negative somewhere."""
    knots, values = np.sort(np.array(shape[0], dtype=float)), np.sort(np.array(shape[1]))
    slopes = CubicSpline(knots, values, bc_type="natural")(np.linspace(knots[0], knots[-1], 2001), 1)
    if abs(slopes.min()) > 1e-3:
        assert falls(knots, values) is bool(slopes.min() < 0)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0.0, 1.0, 2.0), None),
        ((0.0, -1.0, 2.0), "beyond the first knot"),
        ((0.0, 3.0, 2.0), "beyond the last knot"),
        ((2.0, 1.0, 0.0), "beyond the first and the last knot"),
        ((0.0, 1.0, 0.8, 2.0), "between knots"),
    ],
)
def test_where_the_map_falls_is_said(values: tuple[float, ...], words: str | None) -> None:
    """A map that is not increasing says where, in terms of its knots."""
    fitted = Spline(tuple(float(i) for i in range(len(values))), values, RECORD)
    assert fitted.increasing is (words is None)
    assert (fitted.notes == ()) if words is None else (words in fitted.notes[0])
