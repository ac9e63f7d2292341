"""Scores, decompositions, Cox's coefficients and tail laws agree with independent computations."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit
from scipy.stats import entropy
from scipy.stats import t as student

from calibcli.names import MeasureName
from calibcli.stats.bounds.resampling import excursion_tail, range_tail
from calibcli.stats.measures.cox import cox_measure
from calibcli.stats.measures.skill import brier_skill, log_loss_skill
from calibcli.stats.table import ScoreTable

M = MeasureName
COX = (M.CITL_LOGIT, M.COX_INTERCEPT, M.COX_SLOPE)
# x, then the tail of the largest excursion, then of the range: of what `brownian_digits.py` prints.
LAWS = """
0.1 1.0 1.0
0.2 0.999999999999948693 1.0
0.3 0.99999858193801116797 1.0
0.5 0.99084300971023924425 0.99999991222227751891
1.0 0.6292225702004760946 0.93663541207954942966
1.19 0.46737882699966514177 0.80193731724294892771
1.2 0.45964225047255346159 0.79319004609210174356
1.21 0.45199094623332253374 0.78433182407928545916
1.5 0.26721521438306097944 0.5129407542302482471
1.99 0.093181866255775544701 0.18581244832625667307
2.0 0.09100052384636624865 0.18149433939418731269
2.01 0.088862374438532361591 0.17725918997920811316
2.5 0.024838661302976905001 0.049672736181824828234
3.0 0.0053995921265203776552 0.010799168467638438319
4.0 0.00012668496733247968502 0.00025336993465500583311
6.0 3.9463505801507925628e-9 7.8927011603015851256e-9
8.0 2.4883842297087136494e-15 4.9767684594174272988e-15
12.0 7.1059284483107159908e-33 1.4211856896621431982e-32
20.0 1.101449647442493478e-88 2.2028992948849869561e-88
25.0 1.2226786825530243666e-137 2.4453573651060487331e-137
35.0 4.4996428258896249759e-268 8.9992856517792499518e-268
"""


def drawn(seed: int, rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Scores with ties, and labels that bend away from them."""
    rng = np.random.default_rng(seed)
    score = rng.beta(1.2, 2.0, rows)
    score[::3] = score[::3].round(2).clip(0.01, 0.99)
    return score, rng.random(rows) < expit(0.3 + 0.7 * logit(score))


def table_of(score: np.ndarray, label: np.ndarray) -> ScoreTable:
    """Tabulate."""
    return ScoreTable.from_rows(score, label)


@pytest.mark.parametrize("row", LAWS.split("\n")[1:-1], ids=lambda row: row.split()[0])
def test_tails_are_accurate_to_thirteen_digits(row: str) -> None:
    """KS and Kuiper laws: 1e-13 relative, down to 1e-267, across both switches."""
    x, *values = map(float, row.split())
    for law, expected in zip((excursion_tail, range_tail), values, strict=True):
        assert law(x) == pytest.approx(expected, rel=1e-13, abs=0.0)


def test_skill_and_its_interval_are_those_of_resampling() -> None:
    """Skill is one less the ratio of losses; the interval's width is within 12 % of that of 500 resamples."""
    score, label = drawn(9, rows=3000)
    rng = np.random.default_rng(0)
    for skill, losses, constant in (
        (brier_skill, (score - label) ** 2, lambda rate: rate * (1 - rate)),
        (
            log_loss_skill,
            -np.log(np.where(label, score, 1 - score)),
            lambda rate: float(entropy([rate, 1 - rate])),
        ),
    ):
        found = skill(table_of(score, label))
        assert found.value == pytest.approx(1 - losses.mean() / constant(label.mean()), abs=1e-12)
        samples = (rng.integers(score.size, size=score.size) for _ in range(500))
        values = [1 - losses[rows].mean() / constant(label[rows].mean()) for rows in samples]
        spread = (found.interval.upper - found.interval.lower) / 2 / 1.959963984540054
        assert spread == pytest.approx(np.std(values), rel=0.12)


def adjusted_level(label: np.ndarray, curve: np.ndarray, design: np.ndarray, which: int) -> float:
    """Return the deviance at the ends: t^2, its freedom that of the influences, times HC3 over the model."""
    flat = curve * (1 - curve)
    model = np.linalg.inv(design.T @ np.diag(flat) @ design)
    hat = np.diag(np.diag(np.sqrt(flat)) @ design @ model @ design.T @ np.diag(np.sqrt(flat)))
    influence = (design @ model)[:, which] * (label - curve)
    freedom = (influence**2).sum() ** 2 / (influence**4).sum() - 1
    ratio = ((influence / (1 - hat)) ** 2).sum() / model[which, which]
    return float(max(1.0, ratio) * student.ppf(0.975, max(freedom, 1.0)) ** 2)


def profile_by_scipy(score: np.ndarray, label: np.ndarray, which: int) -> tuple[float, float, float]:
    """Return a coefficient and where its profile deviance is at the adjusted level."""
    z, sign = logit(score), np.where(label, 1.0, -1.0)

    def loss(at: np.ndarray) -> float:
        return float(np.logaddexp(0, -sign * (at[0] + at[1] * z)).sum())

    def slopes(at: np.ndarray) -> np.ndarray:
        pull = -sign * expit(-sign * (at[0] + at[1] * z))
        return np.array([pull.sum(), (pull * z).sum()])

    best = minimize(loss, [0.0, 1.0], jac=slopes, method="BFGS", options={"gtol": 1e-7})
    curve, design = expit(best.x[0] + best.x[1] * z), np.column_stack((np.ones_like(z), z))
    level = adjusted_level(label, curve, design, which)

    def excess(value: float) -> float:
        def held(other: np.ndarray) -> float:
            return loss(np.array([value, other[0]] if which == 0 else [other[0], value]))

        found = minimize(
            held, [best.x[1 - which]], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}
        )
        return 2 * (found.fun - best.fun) - level

    centre = float(best.x[which])
    return (
        centre,
        brentq(excess, centre - 2, centre, xtol=1e-8),
        brentq(excess, centre, centre + 2, xtol=1e-8),
    )


@pytest.mark.parametrize("which", [0, 1], ids=["intercept", "slope"])
@pytest.mark.parametrize("seed", range(2))
def test_profile_intervals_are_those_of_scipy(seed: int, which: int) -> None:
    """Intercept, slope and both ends agree with a nested optimisation to 1e-6."""
    score, label = drawn(seed, rows=200)
    estimate = cox_measure(COX[1 + which], table_of(score, label))
    expected = profile_by_scipy(score, label, which)
    found = (estimate.value, estimate.interval.lower, estimate.interval.upper)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_shift_interval_is_that_of_scipy(seed: int) -> None:
    """citl_logit: the root of the score equation, and of the deviance less its adjusted level."""
    score, label = drawn(seed, rows=300)
    z = logit(score)

    def log_likelihood(a: float) -> float:
        return float((label * (z + a) - np.logaddexp(0, z + a)).sum())

    centre = brentq(lambda a: float((expit(z + a) - label).sum()), -9, 9, xtol=1e-12)
    p = expit(z + centre)
    level = adjusted_level(label, p, np.ones((z.size, 1)), 0)

    def excess(a: float) -> float:
        return 2 * (log_likelihood(centre) - log_likelihood(a)) - level

    estimate = cox_measure(M.CITL_LOGIT, table_of(score, label))
    assert estimate.value == pytest.approx(centre, abs=1e-9)
    assert estimate.interval.lower == pytest.approx(brentq(excess, centre - 3, centre), abs=1e-8)
    assert estimate.interval.upper == pytest.approx(brentq(excess, centre, centre + 3), abs=1e-8)
