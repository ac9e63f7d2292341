"""Beta calibration where it is delicate."""

import numpy as np
import pytest

from calibcli.names import BetaForm, FitLoss
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.beta import Beta
from calibcli.stats.recalibrators.logits import Platt, Temperature
from calibcli.stats.table import ScoreTable


def drawn(a: float, b: float, c: float, *, rows: int = 20_000) -> ScoreTable:
    """Rows that follow a beta curve."""
    rng = np.random.default_rng(3)
    score = rng.random(rows)
    t = a * np.log(score) - b * np.log1p(-score) + c
    return ScoreTable.from_rows(score, rng.random(rows) < 1 / (1 + np.exp(-t)))


def beta(table: ScoreTable, form: BetaForm = BetaForm.ABM, loss: FitLoss = FitLoss.LOG) -> Beta:
    """Fit a form."""
    return Beta.fit(table, options=FitOptions(form=form, loss=loss))


@pytest.mark.parametrize("loss", FitLoss)
def test_known_curve_is_recovered(loss: FitLoss) -> None:
    """Three coefficients are found again, within what 20,000 rows allow."""
    fitted = beta(drawn(0.5, 1.5, -0.4), loss=loss)
    assert (fitted.a, fitted.b, fitted.c) == (
        pytest.approx(0.5, abs=0.1),
        pytest.approx(1.5, abs=0.15),
        pytest.approx(-0.4, abs=0.15),
    )
    assert fitted.increasing
    assert fitted.notes == ()


def test_forms_fix_what_their_names_leave_out() -> None:
    """Without b the weights are equal, without m the map passes 1/2 at 1/2."""
    table = drawn(0.5, 1.5, -0.4)
    am, ab, a = (beta(table, form) for form in (BetaForm.AM, BetaForm.AB, BetaForm.A))
    assert am.a == am.b != 0.0
    assert a.a == a.b
    assert a.c == 0.0
    assert ab.a != ab.b
    for fitted in (ab, a):
        assert fitted.predict(np.array([0.5]))[0] == pytest.approx(0.5, abs=1e-15)


def test_two_forms_are_platt_and_temperature() -> None:
    """`am` is Platt scaling with a slope that is not negative, `a` is temperature scaling."""
    table = drawn(0.5, 0.9, -0.4)
    am, a = beta(table, BetaForm.AM), beta(table, BetaForm.A)
    platt = Platt.fit(table)
    assert (am.a, am.c) == (platt.slope, platt.intercept)
    assert 1.0 / a.a == pytest.approx(Temperature.fit(table).temperature, abs=1e-14)


@pytest.mark.parametrize(("a", "b", "name"), [(-0.6, 1.0, "a"), (1.0, -0.6, "b")])
def test_negative_coefficient_stands_at_its_bound(a: float, b: float, name: str) -> None:
    """Where the best coefficient would be negative it is 0, the rest is fitted anew, and that is said."""
    fitted = beta(drawn(a, b, 0.2, rows=3_000))
    assert getattr(fitted, name) == 0.0
    assert f"{name} stands at its bound 0" in fitted.notes[0]
    assert fitted.increasing


@pytest.mark.parametrize("form", BetaForm)
@pytest.mark.parametrize("parted", [False, True])
def test_falling_labels_get_a_constant(form: BetaForm, parted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Labels that fall with the score, parted or not, leave both weights at 0; only m then matters."""
    score = np.array([0.1, 0.2, 0.3, 0.7, 0.8])
    label = np.array([1, 1, 1, 0, 0] if parted else [1, 0, 1, 0, 0], bool)
    fitted = beta(ScoreTable.from_rows(score, label), form)
    assert (fitted.a, fitted.b) == (0.0, 0.0)
    assert "the map is constant" in fitted.notes[0]
    assert not fitted.record.separated
    level = label.mean() if form in (BetaForm.ABM, BetaForm.AM) else 0.5
    np.testing.assert_allclose(fitted.predict(score), level, rtol=0, atol=1e-10)
