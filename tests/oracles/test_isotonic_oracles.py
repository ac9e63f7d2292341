"""Isotonic fits and fits over bins agree with scikit-learn, and with the papers written down once more."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calibcli.names import RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.histogram import Histogram
from calibcli.stats.recalibrators.isotonic import CentredIsotonic, Isotonic
from calibcli.stats.recalibrators.scaling_binning import ScalingBinning
from calibcli.stats.table import ScoreTable, Weighing
from score_rows import scored

PROBES = np.linspace(0.0, 1.0, 2001)


def drawn(seed: int, rows: int = 400, *, decimals: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and labels that are likelier than the scores say."""
    score, label = scored(rows, lambda score: score**0.7, seed=seed, beta=(1.2, 2.0))
    return (score if decimals is None else score.round(decimals)), label


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("decimals", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_agrees_with_sklearn(seed: int, decimals: int | None, weighted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Interpolated isotonic predictions are scikit-learn's, with ties and with weights."""
    score, label = drawn(seed, decimals=decimals)
    weight = np.random.default_rng(seed).exponential(size=score.size) if weighted else None
    ours = Isotonic.fit(ScoreTable.from_rows(score, label, Weighing(weight=weight)))
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    theirs.fit(score, label.astype(float), sample_weight=weight)
    probes = np.linspace(0, 1, 1001)
    np.testing.assert_allclose(ours.predict(probes), theirs.predict(probes), rtol=0, atol=1e-12)


def pooled_one_pair_at_a_time(score: np.ndarray, label: np.ndarray) -> tuple[list[float], list[float]]:
    """Points of a centred isotonic fit by the algorithm of Oron & Flournoy (2017).

    The first pair of neighbours whose means do not rise is replaced by one point at the averages, by weight,
    of both their scores and their means, until no pair is left. Pairs of zeros and pairs of ones stay.
    """
    points = [[Fraction(float(s)), Fraction(int(label[score == s].sum()), int((score == s).sum())),
               int((score == s).sum())] for s in np.unique(score)]  # fmt: skip
    k = 0
    while k < len(points) - 1:
        (x, y, n), (x_next, y_next, n_next) = points[k], points[k + 1]
        if y > y_next or (y == y_next and y not in (0, 1)):
            both = n + n_next
            points[k : k + 2] = [[(x * n + x_next * n_next) / both, (y * n + y_next * n_next) / both, both]]
            k = max(k - 1, 0)
        else:
            k += 1
    return [float(x) for x, _, _ in points], [float(y) for _, y, _ in points]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("decimals", [None, 2, 1])
def test_centred_isotonic_agrees_with_pooling_pair_by_pair(seed: int, decimals: int | None) -> None:
    """Predictions everywhere are those of the paper's algorithm in rational arithmetic."""
    score, label = drawn(seed, 150, decimals=decimals)
    fitted = CentredIsotonic.fit(ScoreTable.from_rows(score, label))
    theirs = np.interp(PROBES, *pooled_one_pair_at_a_time(score, label))
    np.testing.assert_allclose(fitted.predict(PROBES), theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["recid_compas", "calzone_subgroup", "snacks"])
def test_centred_isotonic_agrees_on_real_rows(name: str, real: Any) -> None:
    """The same on rows of real models, with their ties and their scores of 0 and 1."""
    score, label = real(name)
    score, label = score[:1000], label[:1000]
    fitted = CentredIsotonic.fit(ScoreTable.from_rows(score, label))
    theirs = np.interp(PROBES, *pooled_one_pair_at_a_time(score, label))
    np.testing.assert_allclose(fitted.predict(PROBES), theirs, rtol=0, atol=1e-12)


def platt_by_newton(score: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Fitted probabilities of the logistic regression of the label on the logit of the score."""
    x = np.column_stack((np.ones(score.size), np.log(score / (1 - score))))
    b = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ b))
        b += np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]), x.T @ (label - p))
    return np.asarray(1 / (1 + np.exp(-x @ b)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bins", [4, 10, 15])
@pytest.mark.parametrize("base", [RecalibratorName.PLATT, RecalibratorName.ISOTONIC])
def test_scaling_binning_agrees_with_the_paper(seed: int, bins: int, base: RecalibratorName) -> None:
    """Outputs are those of Kumar, Liang & Ma (2019), section 4, with all rows in every step.

    Step 1 fits g; step 2 cuts the sorted g(x) into bins with equally many rows, borders half way to the next
    larger value; step 3 outputs the mean of g in the bin that g(x) falls in.
    """
    score, label = drawn(seed, 60 * bins)
    table = ScoreTable.from_rows(score, label)
    smooth = base is RecalibratorName.PLATT
    g = platt_by_newton(score, label) if smooth else Isotonic.fit(table).predict(score)
    last = [run[-1] for run in np.array_split(np.sort(g), bins)[:-1]]
    borders = [(value + g[g > value].min()) / 2 for value in last if value < g.max()]
    inside = np.array([sum(border < value for border in borders) for value in g])
    theirs = np.array([g[inside == k].mean() for k in inside])
    fitted = ScalingBinning.fit(table, options=FitOptions(bins=bins, base=base))
    np.testing.assert_allclose(fitted.predict(score), theirs, rtol=0, atol=1e-9)


def test_histogram_agrees_with_a_group_by() -> None:
    """Values are the mean labels of rows grouped by hand."""
    score, label = drawn(1, decimals=2)
    fitted = Histogram.fit(ScoreTable.from_rows(score, label), options=FitOptions(bins=8))
    assert fitted.bins is not None
    for k, one in enumerate(fitted.bins):
        inside = (score > one.lower) & (score <= one.upper) | ((score == 0.0) & (k == 0))
        assert one.rows == inside.sum()
        assert one.value == pytest.approx(label[inside].mean(), abs=1e-15)
