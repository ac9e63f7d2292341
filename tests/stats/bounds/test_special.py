"""Our own special functions against scipy's."""

import math

import numpy as np
import pytest
from scipy import special as theirs

from calibcli.stats import numerics as ours

SHAPES = np.array(
    [1.0, 1.5, 2.0, 3.7, 9.99, 10.0, 33.0, 100.0, 517.5, 1000.0, 4000.0, 9999.0], dtype=np.float64
)
A, B = (grid.ravel() for grid in np.meshgrid(SHAPES, SHAPES))


@pytest.mark.parametrize("p", [1e-8, 1e-4, 0.01, 0.3, 0.5, 0.7, 0.99, 0.9999, 1 - 1e-8])
def test_incomplete_beta_agrees_with_scipy(p: float) -> None:
    """I_x(a, b) and its complement, at quantiles from 1e-8 on, to 1e-11 of the smaller side or better."""
    x = theirs.betaincinv(A, B, p)
    inside = (x > 1e-290) & (x < 1.0)
    a, b, x = A[inside], B[inside], x[inside]
    below, above = ours.incomplete_beta(a, b, x)
    np.testing.assert_allclose(below, theirs.betainc(a, b, x), rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(above, theirs.betaincc(a, b, x), rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(below + above, 1.0, rtol=1e-15)


@pytest.mark.parametrize("p", [1e-6, 0.001, 0.0125, 0.025, 0.05, 0.5, 0.95, 0.975, 0.999, 1 - 1e-6])
def test_beta_quantile_agrees_with_scipy(p: float) -> None:
    """Quantiles for a + b up to 20,000 to 1e-12, relative to the nearer end of [0, 1]."""
    x, expected = ours.beta_quantile(p, A, B), theirs.betaincinv(A, B, p)
    gap = np.abs(x - expected)
    assert float((gap / np.maximum(np.minimum(expected, 1.0 - expected), 1e-3)).max()) <= 1e-11
    assert float(gap.max()) <= 1e-12


def test_beta_quantile_inverts_incomplete_beta() -> None:
    """Going there and back returns the probability."""
    for p in (0.001, 0.025, 0.4, 0.975):
        below, _ = ours.incomplete_beta(A, B, ours.beta_quantile(p, A, B))
        np.testing.assert_allclose(below, p, rtol=1e-9)


@pytest.mark.parametrize("rows", [1, 2, 5, 50, 19_998, 20_001, 10**6, 10**8])
def test_quantiles_of_clopper_pearson_shapes(rows: int) -> None:
    """The shapes that proportions need at their hardest ends; of 1e8 rows scipy's own are off by 1e-9."""
    x = np.unique(np.minimum([0, 1, 40, rows // 3, rows // 2, rows - 1], rows - 1)).astype(float)
    a, b = x + 1.0, rows - x
    for p in (0.025, 0.975):
        np.testing.assert_allclose(
            ours.beta_quantile(p, a, b), theirs.betaincinv(a, b, p), rtol=1e-11 if rows < 10**8 else 3e-9
        )


@pytest.mark.parametrize("rows", [10**5, 10**8, 10**10])
def test_few_ones_of_many_rows_are_the_sum_of_their_terms(rows: int) -> None:
    """At the upper end for x ones the binomial terms up to x, added up one by one, are delta."""
    for x in (0, 1, 7, 150):
        end = float(ours.beta_quantile(0.975, np.array([x + 1.0]), np.array([float(rows - x)]))[0])
        term = math.exp(rows * math.log1p(-end))
        terms = [term]
        for k in range(x):
            term *= (rows - k) / (k + 1) * end / (1.0 - end)
            terms.append(term)
        assert math.fsum(terms) == pytest.approx(0.025, rel=1e-9)


def test_log_beta_agrees_with_scipy() -> None:
    """The log of the beta function to 1e-12, from 1/2 to ten thousand."""
    shapes = np.concatenate(([0.5], SHAPES))
    a, b = (g.ravel() for g in np.meshgrid(shapes, shapes))
    mine, expected = ours._log_beta(a, b), theirs.betaln(a, b)
    # Beyond, scipy's own value cancels (B(1/2, 1e6) to 1e-9), hence the next test.
    np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=2e-11)


@pytest.mark.parametrize("b", [1.0, 10.0, 1e4, 1e6, 1e8])
def test_log_beta_of_one_and_two_is_known(b: float) -> None:
    """B(1, b) = 1 / b and B(2, b) = 1 / (b (b + 1)), to 1e-13, whichever comes first."""
    for a, expected in ((1.0, -np.log(b)), (2.0, -np.log(b) - np.log(b + 1))):
        for pair in ((a, b), (b, a)):
            mine = ours._log_beta(np.array([pair[0]]), np.array([pair[1]]))[0]
            assert mine == pytest.approx(expected, rel=1e-13, abs=1e-12)


@pytest.mark.parametrize("p", [1e-12, 0.001, 0.025, 0.5, 0.8, 0.975, 1 - 1e-9])
def test_normal_quantile_agrees_with_scipy(p: float) -> None:
    """The standard library's normal quantile is scipy's."""
    assert ours.normal_quantile(p) == pytest.approx(float(theirs.ndtri(p)), rel=1e-9, abs=1e-12)


def test_no_quantiles_are_no_quantiles() -> None:
    """An empty column of shapes gives an empty column: a table of one label asks for that."""
    assert ours.beta_quantile(0.5, np.zeros(0), np.zeros(0)).size == 0
