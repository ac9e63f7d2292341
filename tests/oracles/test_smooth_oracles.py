"""Measures without bins agree with brute force over rows, with linear programmes, and with relplot."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from calibcli.names import MeasureName
from calibcli.stats.bounds.betting import Stakes, stakes_of_rows
from calibcli.stats.measures.distance import (
    dictionary,
    distance,
    largest_smooth_sum,
    lower_distance,
    smooth_calibration_error,
)
from calibcli.stats.measures.smooth import calibration_index, maximum_mean_error
from calibcli.stats.measures.smooth_ece import logit_axis, smooth_ece_on, smooth_error_at
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.grid import residuals
from calibcli.stats.table.kernel import cosine_series
from oracles.relplot_scales import BANDWIDTHS, CASES, drawn
from oracles.slow_values import spline_curve
from score_rows import scored

M = MeasureName
RELPLOT = json.loads(Path(__file__).with_name("relplot_scales.json").read_text(encoding="utf-8"))


def rows_of(seed: int, rows: int, *, decimals: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Scores with a few at 0 and 1, and labels that are rarer than the scores say."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows).round(decimals)
    score[:2] = [0.0, 1.0]
    return score, rng.random(rows) < score**1.4


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("wide", [1.0, 8.0])
def test_smooth_sum_is_that_of_the_linear_programme(seed: int, wide: float) -> None:
    """The dynamic programme finds the optimum of the chain, walls at -1 and 1 included."""
    rng = np.random.default_rng(seed)
    place = np.unique(rng.random(int(rng.integers(1, 40))).round(2) * wide)
    mass = rng.normal(size=place.size) if seed % 2 else rng.integers(-3, 4, place.size).astype(float)
    rise = np.diff(np.eye(place.size), axis=0)
    steps = np.diff(place)
    best = linprog(-mass, A_ub=np.vstack((rise, -rise)), b_ub=np.concatenate((steps, steps)), bounds=(-1, 1))
    assert largest_smooth_sum(place, mass) == pytest.approx(-best.fun, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_lower_distance_is_that_of_the_best_coupling(seed: int) -> None:
    """The dual on a chain gives what the primal over joint laws of new score, score and label gives."""
    score, label = rows_of(seed, 9, decimals=2)
    table = ScoreTable.from_rows(score, label)
    new = np.unique(np.concatenate((np.arange(401) / 400, table.score)))
    cost = np.tile(np.abs(new[:, None] - table.score).ravel(), 2)
    marginal = np.tile(np.eye(table.distinct), (1, new.size))
    empty = np.zeros_like(marginal)
    rates = np.repeat(np.eye(new.size), table.distinct, axis=1)
    calibrated = np.hstack((rates * (1.0 - new)[:, None], -rates * new[:, None]))
    shares = np.concatenate((table.positive, table.weight - table.positive)) / table.total_rows
    coupling = linprog(
        cost,
        A_eq=np.vstack((np.hstack((marginal, empty)), np.hstack((empty, marginal)), calibrated)),
        b_eq=np.concatenate((shares, np.zeros(new.size))),
    )
    assert lower_distance(table).value == pytest.approx(coupling.fun, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_mmce_is_the_sum_over_pairs(seed: int) -> None:
    """Running sums give both squares that the double loop gives."""
    score, label = rows_of(seed, 300, decimals=2 if seed else 12)
    found = maximum_mean_error(ScoreTable.from_rows(score, label))
    residual = label - score
    kernel = np.exp(-np.abs(score[:, None] - score) / 0.4)
    square = residual @ kernel @ residual / 300**2
    other = residual @ (kernel - np.eye(300)) @ residual / (300 * 299)
    assert found.value == pytest.approx(math.sqrt(square), abs=1e-12)
    assert found.details["squared_unbiased"] == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_smece_on_the_logit_is_near_that_of_relplot(case: str) -> None:
    """The unit is theirs; they limit scores at 0.001, reflect nowhere and step bandwidths by 1/1024."""
    score, label = drawn(case)
    table = ScoreTable.from_rows(score, label)
    axis = logit_axis(table)
    series = cosine_series(axis.places, residuals(table) / table.total_rows)
    within = 2e-5 if case != "bent, to the ends" else 1e-3
    for sigma in BANDWIDTHS:
        ours = float(series.l1_norm(sigma / axis.length))
        assert ours == pytest.approx(RELPLOT[case][str(sigma)], abs=within)
    assert smooth_ece_on(MeasureName.SMECE_LOGIT, table).value == pytest.approx(
        RELPLOT[case]["fixpoint"], abs=1e-3
    )


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sigma", BANDWIDTHS)
def test_smece_at_a_bandwidth_is_that_of_relplot(case: str, sigma: float) -> None:
    """They put scores on a grid of 1/1024, which moves the number in its fourth digit at most."""
    score, label = drawn(case)
    found = smooth_error_at(ScoreTable.from_rows(score, label), sigma, confidence=None)
    assert found.value == pytest.approx(RELPLOT[case]["score"][str(sigma)], abs=5e-4)
    assert found.details["bandwidth"] == sigma


def test_lower_end_of_the_index_is_where_drawn_curves_stay_below_it() -> None:
    """Calibrated labels of these scores show more than the value once in forty, if the lower end is 0."""
    rng = np.random.default_rng(3)
    score = rng.beta(1.5, 2.0, 400).round(2).clip(0.01, 0.99)
    values = []
    for _ in range(150):
        label = rng.random(400) < score
        values.append(np.abs(spline_curve(score, label.astype(float)) - score).mean())
    # What is shown by chance, by fits to drawn labels themselves.
    table = ScoreTable.from_rows(score, rng.random(400) < score)
    estimate = calibration_index(table, name=M.ICI)
    assert estimate.null == pytest.approx(float(np.mean(values)), rel=0.1)
    assert estimate.null_range[1] == pytest.approx(float(np.quantile(values, 0.95)), rel=0.15)
    assert (estimate.interval.lower == 0.0) == (estimate.value <= np.quantile(values, 0.975))


def test_a_curve_that_parts_labels_is_the_best_for_targets_near_them() -> None:
    """Of labels as they are none is best; further curves move on, as `--explain ici` says."""
    score, label = scored(300, lambda score: 2.0 * score, seed=28, beta=(0.4, 60.0))
    found = calibration_index(ScoreTable.from_rows(score, label), name=M.ICI)
    assert any(one.startswith("a curve parts the labels") for one in found.assumptions)
    near, nearer = (
        np.abs(spline_curve(score, np.clip(label.astype(float), one, 1.0 - one)) - score).mean()
        for one in (1e-8, 1e-11)
    )
    assert found.value == pytest.approx(near, rel=1e-6)
    assert nearer / near == pytest.approx(1.035, abs=0.001)


def test_distance_and_its_bounds_are_those_of_rows_one_by_one() -> None:
    """Value and both betting bounds, from loops over rows and bins at the ends found."""
    score, label = rows_of(8, 400)
    estimate = distance(ScoreTable.from_rows(score, label), confidence=0.9)
    count = estimate.details["bins"]
    assert count == 10
    # Scores of 0 and of 1 are bins of their own, and their own midpoints.
    index = np.where(score == 1.0, count + 1, np.ceil(score * count)).astype(int)
    middle = np.clip((index - 0.5) / count, 0.0, 1.0)
    stakes = stakes_of_rows(400, delta=0.05)
    # Three quarters of the stake on these bins, an eighth on 260 of them, an eighth on each score by itself.
    fine = np.where(score == 1.0, 261, np.ceil(score * 260)).astype(int)
    places, each = np.unique(score, return_inverse=True)
    cuts = (
        (3 / 4, index, middle),
        (1 / 8, fine, np.clip((fine - 0.5) / 260, 0.0, 1.0)),
        (1 / 8, each, places[each]),
    )
    value = min(
        sum(abs((label - at)[bin_of == k].sum()) for k in np.unique(bin_of)) / 400 + abs(score - at).mean()
        for _, bin_of, at in cuts
    )
    assert estimate.value == pytest.approx(value, abs=1e-12)

    def evidence(eps: float) -> float:
        total = 0.0
        for (part, bin_of, at), (size, share) in product(cuts, zip(stakes.sizes, stakes.shares, strict=True)):
            worst = 1.0
            for k in np.unique(bin_of):
                own = bin_of == k
                x = abs(score - at)[own] - eps
                worst *= min(np.prod(1 - size * (sign * (label - at)[own] + x)) for sign in (1.0, -1.0))
            total += part * share * worst
        return total

    assert evidence(estimate.interval.upper + 1e-7) >= 20.0 >= evidence(estimate.interval.upper - 1e-7)


def test_dictionary_bounds_are_those_of_rows_one_by_one() -> None:
    """Each end is where the sum over signs of the products, over its most, is 1 / its share of the error."""
    score, label = scored(400, lambda score: 0.5 * score, seed=4)
    found = dictionary(ScoreTable.from_rows(score, label), delta=0.2)
    residual = label - score
    for end, delta, x in zip(found, (0.15, 0.05), (residual, residual * (2 * score - 1)), strict=True):
        stakes = stakes_of_rows(400, delta=delta)

        def evidence(eps: float, x: np.ndarray = x, stakes: Stakes = stakes) -> float:
            # Stakes are cut where a row could lose more than there is.
            both = [
                share
                * np.prod(1 + min(size, 0.95 / (1 + eps)) * (sign * x - eps))
                / (1 + math.exp(-400 * min(size, 0.95 / (1 + eps)) * eps))
                for size, share in zip(stakes.sizes, stakes.shares, strict=True)
                for sign in (1.0, -1.0)
            ]
            return float(np.sum(both))

        assert end > 0.0
        assert evidence(end - 1e-7) >= 1 / delta >= evidence(end + 1e-7)


def test_smooth_calibration_error_bounds_are_those_of_their_formulas() -> None:
    """At the upper end bets refute every function into [-1, 1] whose mean in these rows is the value."""
    score, label = rows_of(8, 400)
    estimate = smooth_calibration_error(ScoreTable.from_rows(score, label), confidence=0.9)
    size, stakes, eps = np.abs(label - score), stakes_of_rows(400, delta=0.05), estimate.interval.upper
    wealth = 0.0
    for bet, share in zip(stakes.sizes, stakes.shares, strict=True):
        slope = bet / (1 + bet * eps)
        bent = np.prod((1 - slope * size) * np.exp(slope * size))
        wealth += share * bent * (1 + bet * eps) ** 400 * math.exp(-slope * 400 * estimate.value)
    assert wealth == pytest.approx(20.0, rel=1e-5)
