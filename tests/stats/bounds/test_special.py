"""Our own special functions against scipy's."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy import special as theirs
from scipy.stats import norm

from calibcli.stats import numerics as ours
from calibcli.stats.bounds.resampling import excursion_tail, normal_tail, range_tail

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
    """For a + b up to 20,000 to 1e-12, relative to the nearer end of [0, 1]; normal ones to 1e-9."""
    assert ours.normal_quantile(p) == pytest.approx(float(theirs.ndtri(p)), rel=1e-9, abs=1e-12)
    x, expected = ours.beta_quantile(p, A, B), theirs.betaincinv(A, B, p)
    gap = np.abs(x - expected)
    assert float((gap / np.maximum(np.minimum(expected, 1.0 - expected), 1e-3)).max()) <= 1e-11
    assert float(gap.max()) <= 1e-12


@pytest.mark.parametrize(
    ("a", "b", "x"),
    [
        (2_500.0, 1e9, 0.5),
        (1e9, 2_500.0, 0.5),
        (4e3, 1e8, 0.9),
        (1e6, 1e6, 1e-9),
        (5e3, 5e3, 0.0),
        (3.0, 9.0, 1.0),
    ],
)
def test_all_of_a_law_lies_on_one_side_of_what_is_far_from_it(a: float, b: float, x: float) -> None:
    """However far x lies from the middle, and at 0 and 1 themselves, one side has everything."""
    below, above = ours.incomplete_beta(np.array([a]), np.array([b]), np.array([x]))
    assert (below[0], above[0]) == ((1.0, 0.0) if x > a / (a + b) else (0.0, 1.0))


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
    mine, expected = ours._log_betas(a, b)[0], theirs.betaln(a, b)
    # Beyond, scipy's own value cancels (B(1/2, 1e6) to 1e-9), hence the next test.
    np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=2e-11)


@pytest.mark.parametrize("p", [5e-4, 0.025, 0.4])
def test_quantiles_of_next_to_no_rows_take_few_steps(p: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes of effective rows may be next to 0: halving took 100 steps, and ended above the quantile."""
    steps, taken = [], ours.incomplete_beta

    def counted(*args: object, **known: object) -> object:
        steps.append(1)
        return taken(*args, **known)

    monkeypatch.setattr(ours, "incomplete_beta", counted)
    shapes = np.array([1e-300, 1e-14, 1e-6, 0.003, 0.02, 0.1, 0.3, 0.49, 0.9])
    a, b = (grid.ravel() for grid in np.meshgrid(shapes, [0.5, 1.0, 2.7, 300.0, 1e6]))
    np.testing.assert_allclose(
        ours.beta_quantile(p, a, b), theirs.betaincinv(a, b, p), rtol=1e-10, atol=1e-299
    )
    assert len(steps) <= 12
    np.testing.assert_allclose(
        ours.beta_quantile(1.0 - p, b, a), 1.0 - theirs.betaincinv(a, b, p), rtol=1e-12
    )
    assert len(steps) <= 24


def test_no_quantiles_are_no_quantiles() -> None:
    """An empty column of shapes gives an empty column: a table of one label asks for that."""
    assert ours.beta_quantile(0.5, np.zeros(0), np.zeros(0)).size == 0


# x, then the tail of the excursion (KS), then of the range (Kuiper).
TABLE = [
    (0.3, ".999998581938", "1"),
    (0.5, ".99084300971", ".999999912222"),
    (1.0, ".6292225702", ".93663541208"),
    (1.5, ".267215214383", ".51294075423"),
    (2.0, ".0910005238464", ".181494339394"),
    (2.5, ".024838661303", ".0496727361818"),
    (3.0, ".00539959212652", ".0107991684676"),
    (4.0, "1.26684967332e-4", "2.53369934655e-4"),
    (6.0, "3.94635058015e-9", "7.8927011603e-9"),
    (8.0, "2.48838422971e-15", "4.97676845942e-15"),
]
LAWS = [excursion_tail, range_tail]


def half_unit(printed: str) -> float:
    """Half a unit in the last digit printed."""
    digits, _, exponent = printed.partition("e")
    decimals = len(digits.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row[0]))
def test_laws_agree_with_sixty_digits(row: tuple[float, str, str]) -> None:
    """Every printed digit is ours."""
    x, *values = row
    for law, printed in zip(LAWS, values, strict=True):
        expected = float(printed)
        assert abs(law(x) - expected) <= half_unit(printed) * 1.001 + 1e-12 * expected


@pytest.mark.parametrize("tail", LAWS)
def test_tails_stay_positive_far_out(tail: object) -> None:
    """The tail is the one computed, so it never turns negative or vanishes where it is small."""
    values = [tail(x) for x in np.linspace(3, 30, 100)]
    assert all(v > 0 for v in values)
    assert all(b < a for a, b in pairwise(values))


@pytest.mark.parametrize("tail", [excursion_tail, range_tail, normal_tail])
def test_tails_end_in_0_however_far_out(tail: Callable[[float], float]) -> None:
    """Statistics of nearly certain scores pass 1e160, whose squares are no numbers."""
    assert [tail(x) for x in (50.0, 1e10, 1e160, 1e308, math.inf)] == [0.0] * 5


def test_normal_tail_is_accurate_far_out() -> None:
    """P(Z > z) keeps its digits where 1 - cdf has none."""
    for z in (-3.0, 0.0, 1.0, 5.0, 12.0, 30.0):
        assert normal_tail(z) == pytest.approx(float(norm.sf(z)), rel=1e-12)


@pytest.mark.parametrize("x", [0.0, 5e-324, 1e-200, 1e-160, 1e-5, 0.02, 0.04, 0.1])
def test_tails_of_nearly_nothing_are_one(x: float) -> None:
    """Next to 0 no series divides by a square that vanishes: one tiny score can make such a statistic."""
    assert excursion_tail(x) == range_tail(x) == 1.0


def test_few_quantiles_are_those_of_many() -> None:
    """What is folded number by number has the bits of what is folded as an array."""
    rng = np.random.default_rng(4)
    a, b = rng.integers(1, 5_000, 40).astype(float), rng.choice([0.5, 3.0, 40.0, 900.0, 1_999.0], 40)
    x = np.clip(a / (a + b) * rng.uniform(0.7, 1.2, 40), 1e-9, 1.0 - 1e-9)
    depth = [float(np.minimum(a, b).max())]  # One depth for all of them, as the largest decides.
    most = int(np.minimum(a, b).argmax())
    whole = ours.incomplete_beta(a, b, x)
    for one in range(40):
        pair = [one, most]
        assert float(np.minimum(a, b)[pair].max()) == depth[0]
        few = ours.incomplete_beta(a[pair], b[pair], x[pair])
        assert [few[0][0], few[1][0]] == [whole[0][one], whole[1][one]]


def test_levels_one_after_the_other_are_the_levels_of_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many numbers the fraction is worked out level by level; no digit is another."""
    rng = np.random.default_rng(1)
    first, other = (rng.integers(1, 1_500, 600).astype(float) for _ in range(2))
    x = rng.random(600)
    found = ours.incomplete_beta(first, other, x)
    monkeypatch.setattr(ours, "_BY_LEVEL", 600)
    np.testing.assert_array_equal(found, ours.incomplete_beta(first, other, x))


def test_many_functions_cross_0_where_each_does() -> None:
    """Also where one is infinite, jumps, or has no sign change between its ends."""
    low, high = np.zeros(7), np.array([1.0, 1.0, 2.0, 3.0, 1.0, 1.0, 1.0])
    roots = np.array([0.3, 1e-7, 1.9, 2.0, 0.5, 0.0, 1.0])

    def rises(at: np.ndarray) -> np.ndarray:
        found = (at - roots) ** 3
        found[3] = math.inf if at[3] > roots[3] else -math.inf
        found[4] = math.copysign(1.0, at[4] - roots[4])
        found[5], found[6] = at[5] + 1.0, at[6] - 2.0
        return found

    left, right = ours.crossings(rises, low, high, within=np.full(7, 1e-9))
    np.testing.assert_array_less(right - left, 1.001e-9)
    np.testing.assert_array_less(left, roots + 1e-12)
    np.testing.assert_array_less(roots - 1e-12, right)
