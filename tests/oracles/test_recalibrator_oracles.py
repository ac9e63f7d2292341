"""Fits agree with independent implementations, on made-up rows and on real ones."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from calibcli.names import FitLoss
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.histogram import Histogram
from calibcli.stats.recalibrators.isotonic import Isotonic
from calibcli.stats.recalibrators.platt import Platt, logit
from calibcli.stats.table.score_table import ScoreTable

TABLES = ["recid_compas", "recid_logit", "calzone_subgroup", "snacks", "imagenet_timm_resnet34"]


def drawn(seed: int, rows: int = 400, *, decimals: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and labels that are likelier than the scores say."""
    rng = np.random.default_rng(seed)
    score = rng.beta(1.2, 2.0, rows)
    label = rng.random(rows) < score**0.7
    return (score if decimals is None else score.round(decimals)), label


def halves(real: Any, name: str) -> tuple[ScoreTable, np.ndarray, np.ndarray]:
    """The first half of a real table as fit rows, and the second half."""
    score, label = real(name)
    n = score.size // 2
    return ScoreTable.from_rows(score[:n], label[:n]), score[n:], label[n:]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("decimals", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_agrees_with_sklearn(seed: int, decimals: int | None, weighted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Interpolated isotonic predictions are scikit-learn's, with ties and with weights."""
    score, label = drawn(seed, decimals=decimals)
    weight = np.random.default_rng(seed).exponential(size=score.size) if weighted else None
    ours = Isotonic.fit(ScoreTable.from_rows(score, label, weight=weight))
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    theirs.fit(score, label.astype(float), sample_weight=weight)
    probes = np.linspace(0, 1, 1001)
    np.testing.assert_allclose(ours.predict(probes), theirs.predict(probes), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_platt_agrees_with_sklearn(seed: int, weighted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Slope and intercept are those of an unpenalised logistic regression on the logit."""
    score, label = drawn(seed)
    weight = np.random.default_rng(seed).exponential(size=score.size) if weighted else None
    ours = Platt.fit(ScoreTable.from_rows(score, label, weight=weight))
    theirs = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=200)
    theirs.fit(logit(score)[:, None], label, sample_weight=weight)
    assert ours.slope == pytest.approx(float(theirs.coef_[0, 0]), abs=1e-8)
    assert ours.intercept == pytest.approx(float(theirs.intercept_[0]), abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_squared_error_fit_agrees_with_scipy(seed: int) -> None:
    """The least-squares fit is where a general minimiser ends, from another start."""
    score, label = drawn(seed)
    z = logit(score)

    def squared_error(b: np.ndarray) -> float:
        return float(np.mean((1 / (1 + np.exp(-(b[0] + b[1] * z))) - label) ** 2))

    ours = Platt.fit(ScoreTable.from_rows(score, label), options=FitOptions(loss=FitLoss.BRIER))
    theirs = minimize(
        squared_error, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15}
    )
    assert squared_error(np.array([ours.intercept, ours.slope])) <= theirs.fun + 1e-14
    np.testing.assert_allclose([ours.intercept, ours.slope], theirs.x, rtol=0, atol=1e-6)


def test_histogram_agrees_with_a_group_by() -> None:
    """Values are the mean labels of rows grouped by hand."""
    score, label = drawn(1, decimals=2)
    fitted = Histogram.fit(ScoreTable.from_rows(score, label), options=FitOptions(bins=8))
    assert fitted.bins is not None
    for k, one in enumerate(fitted.bins):
        inside = (score > one.lower) & (score <= one.upper) | ((score == 0.0) & (k == 0))
        assert one.rows == inside.sum()
        assert one.value == pytest.approx(label[inside].mean(), abs=1e-15)
