"""
The laws of the largest excursion and of the range of a Brownian motion.

Recipe of the values: both series of each law in mpmath with 60 digits; they agree to 1e-60 with each
other. Twelve digits were kept.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from calibcli.stats.bounds.resampling import excursion_cdf, excursion_tail, normal_tail, range_cdf, range_tail

# x, then cdf and tail of the excursion (KS), then cdf and tail of the range (Kuiper).
TABLE = [
    (0.3, "1.41806198883e-6", ".999998581938", "1.38016245732e-22", "1"),
    (0.5, ".00915699028976", ".99084300971", "8.77777224811e-8", ".999999912222"),
    (1.0, ".3707774298", ".6292225702", ".0633645879205", ".93663541208"),
    (1.5, ".732784785617", ".267215214383", ".48705924577", ".51294075423"),
    (2.0, ".908999476154", ".0910005238464", ".818505660606", ".181494339394"),
    (2.5, ".975161338697", ".024838661303", ".950327263818", ".0496727361818"),
    (3.0, ".994600407873", ".00539959212652", ".989200831532", ".0107991684676"),
    (4.0, ".999873315033", "1.26684967332e-4", ".999746630065", "2.53369934655e-4"),
    (6.0, None, "3.94635058015e-9", None, "7.8927011603e-9"),
    (8.0, None, "2.48838422971e-15", None, "4.97676845942e-15"),
]
LAWS = [excursion_cdf, excursion_tail, range_cdf, range_tail]
CRITICAL = {
    excursion_tail: [1.9599639494, 2.2414027273, 2.8070337683, 3.4807564043],
    range_tail: [2.2411746364, 2.497672161, 3.0233410818, 3.6622599304],
}


def half_unit(printed: str) -> float:
    """Half a unit in the last digit printed."""
    digits, _, exponent = printed.partition("e")
    decimals = len(digits.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row[0]))
def test_laws_agree_with_sixty_digits(row: tuple[float, *tuple[str | None, ...]]) -> None:
    """Every printed digit is ours, in both tails."""
    x, *values = row
    for law, printed in zip(LAWS, values, strict=True):
        if printed is not None:
            expected = float(printed)
            assert abs(law(x) - expected) <= half_unit(printed) * 1.001 + 1e-12 * expected


@pytest.mark.parametrize("tail", list(CRITICAL))
def test_critical_values(tail: object) -> None:
    """The values at 10, 5, 1 and 0.1 % have those tails."""
    for x, level in zip(CRITICAL[tail], (0.1, 0.05, 0.01, 0.001), strict=True):
        assert tail(x) == pytest.approx(level, rel=1e-8)


@pytest.mark.parametrize(("cdf", "tail"), [(excursion_cdf, excursion_tail), (range_cdf, range_tail)])
def test_cdf_and_tail_sum_to_one(cdf: object, tail: object) -> None:
    """They sum to 1 everywhere, and neither jumps where the series are switched (invariant 25)."""
    x = np.concatenate(
        (np.linspace(0.0, 9.0, 901), 1.2 + np.linspace(-1e-9, 1e-9, 5), 2.0 + np.linspace(-1e-9, 1e-9, 5))
    )
    x.sort()
    low, high = np.array([cdf(v) for v in x]), np.array([tail(v) for v in x])
    np.testing.assert_allclose(low + high, 1.0, rtol=0, atol=1e-15)
    assert np.all((low >= 0) & (low <= 1) & (high >= 0) & (high <= 1))
    # Monotone up to the last bits of values near 1.
    assert np.all(np.diff(high) <= 4e-16)
    assert np.all(np.diff(low) >= -4e-16)


@pytest.mark.parametrize("tail", [excursion_tail, range_tail])
def test_tails_stay_positive_far_out(tail: object) -> None:
    """The tail is the one computed, so it never turns negative or vanishes where it is small."""
    values = [tail(x) for x in np.linspace(3, 30, 100)]
    assert all(v > 0 for v in values)
    assert all(b < a for a, b in pairwise(values))


def test_laws_have_the_known_means() -> None:
    """The mean excursion is sqrt(pi / 2) and the mean range 2 sqrt(2 / pi)."""
    x = (np.arange(1_000) + 0.5) / 100
    for tail, mean in ((excursion_tail, math.sqrt(math.pi / 2)), (range_tail, 2 * math.sqrt(2 / math.pi))):
        assert sum(tail(v) for v in x) / 100 == pytest.approx(mean, abs=1e-7)


@pytest.mark.parametrize("tail", [excursion_tail, range_tail, normal_tail])
def test_tails_end_in_0_however_far_out(tail: Callable[[float], float]) -> None:
    """Statistics of nearly certain scores pass 1e160, whose squares are no numbers."""
    assert [tail(x) for x in (50.0, 1e10, 1e160, 1e308, math.inf)] == [0.0] * 5


def test_normal_tail_is_accurate_far_out() -> None:
    """P(Z > z) keeps its digits where 1 - cdf has none."""
    for z in (-3.0, 0.0, 1.0, 5.0, 12.0, 30.0):
        assert normal_tail(z) == pytest.approx(float(norm.sf(z)), rel=1e-12)


@pytest.mark.parametrize("x", [0.0, 5e-324, 1e-200, 1e-160, 1e-5, 0.02, 0.04, 0.1])
def test_laws_of_nearly_nothing_are_zero_and_one(x: float) -> None:
    """Next to 0 no series divides by a square that vanishes: one tiny score can make such a statistic."""
    assert 0.0 <= excursion_cdf(x) <= 1e-20
    assert 0.0 <= range_cdf(x) <= 1e-100
    assert excursion_tail(x) == range_tail(x) == 1.0
