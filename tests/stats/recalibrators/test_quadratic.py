"""Quadratic recalibration where it is delicate."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibcli
from calibcli.errors import UsageProblem
from calibcli.names import FitLoss
from calibcli.stats.recalibrators.logistic import Record
from calibcli.stats.recalibrators.logits import Quadratic, check_prior, shifted
from calibcli.stats.recalibrators.newton import LARGEST_LOGIT
from calibcli.stats.table import ScoreTable

RECORD = Record(FitLoss.LOG, smoothed=False, separated=False, limited_rows=0, steps=1, gradient=0.0)


@pytest.mark.parametrize(
    ("slope", "bend", "increasing", "words"),
    [
        (1.0, 0.5 / LARGEST_LOGIT, True, None),
        (1.0, 0.51 / LARGEST_LOGIT, False, "outside the fit scores"),
        (-1.0, 0.0, False, "decreasing among the fit scores"),
        (1.0, 0.25, False, "turns round at score 0.119, inside the fit scores"),
        (1.0, -0.25, False, "turns round at score 0.881, inside the fit scores"),
    ],
)
def test_turning_round_is_said(slope: float, bend: float, increasing: bool, words: str | None) -> None:  # noqa: FBT001 - a parameter of the test
    """Increasing means on all of [0, 1]; a note says whether the map turns among the fit scores."""
    fitted = Quadratic(0.0, slope, bend, (-3.0, 3.0), RECORD)
    assert fitted.increasing is increasing
    assert (fitted.notes == ()) if words is None else (words in fitted.notes[0])
    grid = np.concatenate(([0.0], np.geomspace(1e-16, 0.5, 500), 1 - np.geomspace(0.5, 1e-16, 500), [1.0]))
    steps = np.diff(fitted.log_odds(np.unique(grid)))
    assert bool(steps.min() >= -1e-12) is increasing


rates = st.floats(1e-6, 1 - 1e-6)
PROBABILITIES = np.unique(np.concatenate((np.linspace(0, 1, 101), np.geomspace(1e-12, 0.1, 12))))


@given(rate=rates)
def test_the_base_rate_of_the_fit_changes_nothing(rate: float) -> None:
    """Not a digit."""
    assert shifted(PROBABILITIES, fitted=rate, prior=rate).tobytes() == PROBABILITIES.tobytes()


@given(fitted=rates, prior=rates)
def test_odds_are_multiplied_by_the_ratio_of_the_base_odds(fitted: float, prior: float) -> None:
    """The ends stay, order is kept, and the way back leads back."""
    found = shifted(PROBABILITIES, fitted=fitted, prior=prior)
    assert (found[0], found[-1]) == (0.0, 1.0)
    assert np.all((found >= 0) & (found <= 1))
    assert np.all(np.diff(found) >= -4e-16)
    p = 0.25
    odds = p / (1 - p) * (prior / (1 - prior)) / (fitted / (1 - fitted))
    assert shifted(np.array([p]), fitted=fitted, prior=prior)[0] == pytest.approx(odds / (1 + odds), rel=1e-9)
    # From near 1 the way back starts at a rounded 1 - p.
    inner = PROBABILITIES[PROBABILITIES <= 0.5]
    back = shifted(shifted(inner, fitted=fitted, prior=prior), fitted=prior, prior=fitted)
    ratio = max(1.0, prior / (1 - prior) * (1 - fitted) / fitted)
    np.testing.assert_allclose(back, inner, rtol=1e-15 * max(4.0, 4 * ratio), atol=0)


@pytest.mark.parametrize(
    ("fitted", "prior"), [(1e-310, 0.5), (5e-324, 0.5), (0.5, 1e-310), (1 - 2**-53, 5e-324)]
)
def test_the_tiniest_rates_leave_probabilities(fitted: float, prior: float) -> None:
    """No rate between 0 and 1 gives anything but probabilities, and the ends stay."""
    for rates_of in ((fitted, prior), (1 - fitted or 2**-53, 1 - prior or 2**-53)):
        if all(0.0 < rate < 1.0 for rate in rates_of):
            found = shifted(PROBABILITIES, fitted=rates_of[0], prior=rates_of[1])
            assert (found[0], found[-1]) == (0.0, 1.0)
            assert np.all((found >= 0) & (found <= 1))


def test_it_is_bayes_rule_under_label_shift() -> None:
    """Two normal scores: the shifted posterior of one population is the posterior of the other."""
    x = np.linspace(-3, 4, 50)

    def posterior(rate: float) -> np.ndarray:
        one, zero = rate * np.exp(-0.5 * (x - 1) ** 2), (1 - rate) * np.exp(-0.5 * x**2)
        return np.asarray(one / (one + zero))

    found = shifted(posterior(0.3), fitted=0.3, prior=0.02)
    np.testing.assert_allclose(found, posterior(0.02), rtol=1e-13)


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf])
def test_a_base_rate_outside_0_to_1_is_a_usage_error(prior: float) -> None:
    """Exit code 2."""
    with pytest.raises(UsageProblem, match="a base rate of") as caught:
        check_prior(prior)
    assert caught.value.exit_code == 2
    check_prior(0.05)


def test_fit_says_how_many_rows_lie_where_the_map_falls() -> None:
    """Those beyond the turn, counted row by row, where they are one in a hundred or more."""
    rng = np.random.default_rng(5)
    score = rng.beta(0.8, 0.8, 5_000)
    z = np.log(score / (1.0 - score))
    label = rng.random(score.size) < 1.0 / (1.0 + np.exp(-(0.4 + 0.4 * z - 0.2 * z * z)))
    fitted = calibcli.fit(score, label, method="quadratic")
    found = fitted.artifact.recalibrator
    beyond = int(np.count_nonzero(found.slope + 2.0 * found.bend * z < 0.0))
    assert beyond > 50
    assert found.falling(ScoreTable.from_rows(score, label)) == beyond
    assert any(f"{beyond:,} of 5,000 fit rows" in note for note in fitted.artifact.fit.notes)
    calm = calibcli.fit(score, rng.random(score.size) < score, method="platt")
    assert not any("where the map falls" in note for note in calm.artifact.fit.notes)
