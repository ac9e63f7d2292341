"""Probabilities for another base rate."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.errors import UsageProblem
from calibcli.stats.recalibrators.intercept import check_prior, shifted

rates = st.floats(1e-6, 1 - 1e-6)
PROBABILITIES = np.unique(np.concatenate((np.linspace(0, 1, 101), np.geomspace(1e-12, 0.1, 12))))


@given(rate=rates)
def test_the_base_rate_of_the_fit_changes_nothing(rate: float) -> None:
    """Not a digit."""
    assert shifted(PROBABILITIES, fitted=rate, prior=rate).tobytes() == PROBABILITIES.tobytes()


@settings(max_examples=40)
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
