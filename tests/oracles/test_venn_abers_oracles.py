"""Venn-Abers agrees with its definition: two isotonic fits for every score asked about."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import gmean
from sklearn.isotonic import IsotonicRegression

from calibcli.names import Purpose
from calibcli.options.fitting import FitOptions
from calibcli.stats.numerics import stream
from calibcli.stats.recalibrators.venn_abers import VennAbers, levels_with_one_more
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.derived import split_table


def seeds(usual: int, most: int) -> list[object]:
    """Return seeds of which only some are tried each time."""
    return [*range(usual), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(usual, most))]


def drawn(seed: int, *, decimals: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Few scores with ties, labels of both kinds, and frequency weights."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 30))
    score = rng.random(rows).round(decimals)
    label = rng.random(rows) < (score if seed % 3 else 1 - score)
    label[:2] = [True, False]
    return score, label, rng.integers(1, 5, rows)


def definition(score: np.ndarray, label: np.ndarray, counts: np.ndarray, at: float) -> tuple[float, float]:
    """scikit-learn's isotonic fit at a score, with one more row there of label 0, then of label 1."""
    found = []
    for added in (0.0, 1.0):
        fitted = IsotonicRegression()
        fitted.fit(np.append(score, at), np.append(label, added), sample_weight=np.append(counts, 1))
        found.append(float(fitted.predict([at])[0]))
    return found[0], found[1]


@pytest.mark.parametrize("seed", seeds(12, 60))
def test_both_ends_are_isotonic_fits_with_the_row_added(seed: int) -> None:
    """At every fit score, between any two, below all and above all."""
    score, label, counts = drawn(seed)
    fitted = VennAbers.fit(ScoreTable.from_rows(score, label, Weighing(counts=counts)))
    distinct = np.unique(score)
    at = np.unique(np.concatenate(([0.0, 1.0], distinct, (distinct[1:] + distinct[:-1]) / 2)))
    expected = np.array([definition(score, label, counts, one) for one in at.tolist()])
    np.testing.assert_allclose(np.column_stack(fitted.ends(at)), expected, rtol=0, atol=1e-12)
    merged = expected[:, 1] / (1 - expected[:, 0] + expected[:, 1])
    np.testing.assert_allclose(fitted.predict(at), merged, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", seeds(36, 150))
def test_levels_are_those_of_a_fit_with_one_more_row(seed: int) -> None:
    """Many blocks, few blocks, heavy scores and light ones: scipy's fit anew for each score and label."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    rows = rng.integers(1, [2, 4, 60][seed % 3], size)
    positive = rng.integers(0, rows + 1)
    if seed % 2:
        # A diagram that is convex already, so that an added row may go through many blocks.
        order = np.argsort(positive / rows, kind="stable")
        rows, positive = rows[order], positive[order]
    levels = levels_with_one_more(rows, positive)
    for label, found in enumerate(levels):
        expected = []
        for place in range(size):
            weight, ones = rows.astype(float), positive.astype(float)
            weight[place] += 1.0
            ones[place] += label
            expected.append(isotonic_regression(ones / weight, weights=weight).x[place])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("folds", [2, 5])
def test_cross_predictor_is_the_geometric_mean_of_its_folds(folds: int) -> None:
    """GM(p1) / (GM(1 - p0) + GM(p1)) over inductive predictors of the folds, and the outermost ends."""
    score, label, counts = drawn(1, decimals=2)
    table = ScoreTable.from_rows(score, label, Weighing(counts=10 * counts))
    fitted = VennAbers.fit(table, options=FitOptions(folds=folds, seed=4))
    parts = split_table(table, folds, generator=stream(4, Purpose.CROSS))
    at = np.unique(np.concatenate((score, np.linspace(0.005, 0.995, 12))))
    rows = [np.repeat(part.score, part.rows) for part in parts]
    labels = [
        np.concatenate(
            [[1.0] * y + [0.0] * (n - y) for n, y in zip(part.rows, part.positive_rows, strict=True)]
        )
        for part in parts
    ]
    ends = np.array(
        [
            [
                definition(one, other, np.ones(one.size), place)
                for one, other in zip(rows, labels, strict=True)
            ]
            for place in at.tolist()
        ]
    )
    p0, p1 = ends[..., 0], ends[..., 1]
    expected = gmean(p1, axis=1) / (gmean(1 - p0, axis=1) + gmean(p1, axis=1))
    np.testing.assert_allclose(fitted.predict(at), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fitted.ends(at), (p0.min(axis=1), p1.max(axis=1)), rtol=0, atol=1e-12)
