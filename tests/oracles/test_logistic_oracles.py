"""Logistic recalibrators agree with independent maximum likelihood, on made-up rows and on real ones."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from scipy.special import expit, log_expit
from sklearn.linear_model import LogisticRegression

from calibcli.names import BetaForm, FitLoss
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.beta import Beta
from calibcli.stats.recalibrators.logits import Intercept, Platt, Quadratic, Temperature
from calibcli.stats.recalibrators.newton import NEAREST, logit
from calibcli.stats.recalibrators.spline import Spline
from calibcli.stats.table import ScoreTable, Weighing

TABLES = [
    "recid_compas",
    "recid_logit",
    "calzone_subgroup",
    "snacks",
    "markus93_resnet110_c10",
    "imagenet_timm_resnet34",
    "imagenet_tv_densenet161",
]
Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


def drawn(seed: int, rows: int = 500) -> Columns:
    """Scores, labels that bend away from them, and weights."""
    rng = np.random.default_rng(seed)
    score = rng.beta(1.2, 2.0, rows)
    label = rng.random(rows) < expit(0.3 + 0.8 * logit(score) + 0.05 * logit(score) ** 2)
    return score, label, rng.exponential(size=rows) if seed % 2 else np.ones(rows)


def table_of(columns: Columns) -> ScoreTable:
    """Tabulate; unit weights as plain rows."""
    score, label, weight = columns
    return ScoreTable.from_rows(score, label, Weighing(weight=None if (weight == 1).all() else weight))


def first_half(real: Any, name: str) -> Columns:
    """Return the fit rows of a real table."""
    score, label = real(name)
    n = score.size // 2
    return score[:n], label[:n], np.ones(n)


def ends(score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ln f and -ln(1 - f) of limited scores."""
    inside = np.clip(score, NEAREST, 1 - NEAREST)
    return np.log(inside), -np.log1p(-inside)


def maximum_likelihood(
    features: np.ndarray, columns: Columns, *, offset: np.ndarray | float = 0.0, free: int | None = None
) -> np.ndarray:
    """Return the coefficients where scipy's optimiser ends, from 0, with exact derivatives.

    Args:
        features: Shape (n, k); they are scaled to variance 1 for the optimiser.

        columns: Scores, labels and weights.

        offset: Added to the logit.

        free: How many coefficients, the first, may be negative; None for all.
    """
    _, label, weight = columns
    scale = np.sqrt((features**2).mean(axis=0))
    x, sign, w = features / scale, np.where(label, 1.0, -1.0), weight / weight.sum()

    def loss(b: np.ndarray) -> float:
        return -float(w @ log_expit(sign * (x @ b + offset)))

    def slope(b: np.ndarray) -> np.ndarray:
        return x.T @ (w * (expit(x @ b + offset) - label))

    def bend(b: np.ndarray) -> np.ndarray:
        p = expit(x @ b + offset)
        return (x * (w * p * (1 - p))[:, np.newaxis]).T @ x

    start = np.zeros(x.shape[1])
    if free is None:
        found = minimize(loss, start, jac=slope, hess=bend, method="trust-exact", options={"gtol": 1e-13})
    else:
        low = np.where(np.arange(start.size) < free, -np.inf, 0.0)
        inside = LinearConstraint(np.eye(start.size), low, np.inf, keep_feasible=False)
        options = {"gtol": 1e-11, "xtol": 1e-14, "barrier_tol": 1e-13, "maxiter": 3000}
        found = minimize(
            loss,
            start + 1.0,
            jac=slope,
            hess=bend,
            method="trust-constr",
            constraints=[inside],
            options=options,
        )
    return found.x / scale


def check(found: object, columns: Columns, features: list[np.ndarray], **how: Any) -> None:
    """Compare coefficients with those of the optimiser to 1e-7."""
    theirs = maximum_likelihood(np.column_stack(features), columns, **how)
    np.testing.assert_allclose(np.array(found), theirs, rtol=0, atol=1e-7)


def check_all(columns: Columns) -> None:
    """Compare every method whose optimum is not at a bound."""
    table, z, one = table_of(columns), logit(columns[0]), np.ones(columns[0].size)
    low, high = ends(columns[0])
    platt, quadratic = Platt.fit(table), Quadratic.fit(table)
    check([Intercept.fit(table).intercept], columns, [one], offset=z)
    check([1 / Temperature.fit(table).temperature], columns, [z])
    check([platt.intercept, platt.slope], columns, [one, z])
    check([quadratic.intercept, quadratic.slope, quadratic.bend], columns, [one, z, z * z])
    abm, ab = (Beta.fit(table, options=FitOptions(form=form)) for form in (BetaForm.ABM, BetaForm.AB))
    if min(abm.a, abm.b) > 0.0:
        check([abm.c, abm.a, abm.b], columns, [one, low, high])
    if min(ab.a, ab.b) > 0.0:
        check([ab.a, ab.b], columns, [low + np.log(2), high - np.log(2)])


@pytest.mark.parametrize("seed", range(6))
def test_fits_agree_with_scipy_on_made_up_rows(seed: int) -> None:
    """Every coefficient is the one a general optimiser finds, with weights and without."""
    check_all(drawn(seed))


@pytest.mark.parametrize("name", TABLES)
def test_fits_agree_with_scipy_on_real_rows(name: str, real: Any) -> None:
    """The same on the first halves of real tables, scores of exactly 1 among them."""
    check_all(first_half(real, name))


@pytest.mark.parametrize("seed", range(4))
def test_platt_quadratic_and_beta_agree_with_sklearn(seed: int) -> None:
    """The same coefficients come from scikit-learn's unpenalised logistic regression."""
    columns = drawn(seed)
    score, label, weight = columns
    table, z = table_of(columns), logit(score)
    theirs = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=200)
    theirs.fit(z[:, np.newaxis], label, sample_weight=weight)
    platt = Platt.fit(table)
    assert platt.slope == pytest.approx(float(theirs.coef_[0, 0]), abs=1e-8)
    assert platt.intercept == pytest.approx(float(theirs.intercept_[0]), abs=1e-8)
    theirs.fit(np.column_stack((z, z * z)), label, sample_weight=weight)
    quadratic = Quadratic.fit(table)
    np.testing.assert_allclose([quadratic.slope, quadratic.bend], theirs.coef_[0], rtol=0, atol=1e-7)
    theirs.fit(np.column_stack(ends(score)), label, sample_weight=weight)
    beta = Beta.fit(table)
    np.testing.assert_allclose([beta.a, beta.b], theirs.coef_[0], rtol=0, atol=1e-7)
    assert beta.c == pytest.approx(float(theirs.intercept_[0]), abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pull", [(-0.5, 1.0), (1.2, -0.4), (-0.3, -0.2)])
def test_bounded_beta_agrees_with_an_interior_point_method(seed: int, pull: tuple[float, float]) -> None:
    """With coefficients at their bounds, the likelihood is the best that scipy finds under the bounds."""
    rng = np.random.default_rng(seed)
    score = rng.random(400)
    low, high = ends(score)
    label = rng.random(400) < expit(pull[0] * low + pull[1] * high)
    columns = (score, label, np.ones(400))
    fitted = Beta.fit(table_of(columns))
    assert min(fitted.a, fitted.b) == 0.0
    theirs = maximum_likelihood(np.column_stack((np.ones(400), low, high)), columns, free=1)
    np.testing.assert_allclose([fitted.c, fitted.a, fitted.b], theirs, rtol=0, atol=2e-5)
    sign = np.where(label, 1.0, -1.0)
    ours = -log_expit(sign * (fitted.c + fitted.a * low + fitted.b * high)).mean()
    best = -log_expit(sign * (theirs[0] + max(theirs[1], 0) * low + max(theirs[2], 0) * high)).mean()
    assert ours <= best + 1e-13


@pytest.mark.parametrize("seed", range(4))
def test_spline_agrees_with_scipy_in_another_basis(seed: int) -> None:
    """Truncated powers (Harrell's form) span the same curves: predictions agree to 1e-9."""
    columns = drawn(seed)
    z = logit(columns[0])
    fitted = Spline.fit(table_of(columns))
    t = np.array(fitted.knots)

    def cube(at: float) -> np.ndarray:
        return np.maximum(z - at, 0.0) ** 3

    width = t[-1] - t[-2]
    bends = [
        (cube(k) - cube(t[-2]) * (t[-1] - k) / width + cube(t[-1]) * (t[-2] - k) / width)
        / (t[-1] - t[0]) ** 2
        for k in t[:-2]
    ]
    features = np.column_stack((np.ones(z.size), z, *bends))
    theirs = expit(features @ maximum_likelihood(features, columns))
    np.testing.assert_allclose(fitted.predict(columns[0]), theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_squared_error_fits_agree_with_scipy(seed: int) -> None:
    """Least-squares fits are where a general minimiser ends, from another start."""
    columns = drawn(2 * seed)
    score, label, _ = columns
    z = logit(score)
    least = FitOptions(loss=FitLoss.BRIER)
    quadratic = Quadratic.fit(table_of(columns), options=least)
    temperature = Temperature.fit(table_of(columns), options=least)
    platt = Platt.fit(table_of(columns), options=least)
    for ours, features in (
        (
            [quadratic.intercept, quadratic.slope, quadratic.bend],
            np.column_stack((np.ones(z.size), z, z * z)),
        ),
        ([1 / temperature.temperature], z[:, np.newaxis]),
        ([platt.intercept, platt.slope], np.column_stack((np.ones(z.size), z))),
    ):

        def squared_error(b: np.ndarray, x: np.ndarray = features) -> float:
            return float(np.mean((expit(x @ b) - label) ** 2))

        start = np.array([0.5] * features.shape[1])
        theirs = minimize(squared_error, start, method="BFGS", options={"gtol": 1e-9})
        assert squared_error(np.array(ours)) <= theirs.fun + 1e-14
        np.testing.assert_allclose(ours, theirs.x, rtol=0, atol=2e-5)
