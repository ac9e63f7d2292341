"""The largest error between two cutoffs, with its interval."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.stats.measures.cutoff import cutoff
from calibcli.stats.measures.if_calibrated import CalibratedDraws
from calibcli.stats.measures.tests import ks_and_kuiper
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.grid import grid_of, hidden_range, open_variance
from score_rows import scored

Floats = np.ndarray


def largest(score: Floats, residual: Floats) -> float:
    """Return the largest mean over rows between two cutoffs, pair of cutoffs by pair."""
    values = [-1.0, *np.unique(score).tolist()]
    sums = [residual[(score > a) & (score <= b)].sum() for a in values for b in values if a < b]
    return max(abs(one) for one in sums) / score.size


@given(seed=st.integers(0, 999), n=st.sampled_from([1, 2, 9, 60]), values=st.sampled_from([1, 2, 7, 1000]))
def test_value_is_the_worst_of_all_pairs_of_cutoffs(seed: int, n: int, values: int) -> None:
    """It is the statistic of Kuiper in another unit, within its interval, and turns with score and label."""
    rng = np.random.default_rng(seed)
    score, label = rng.integers(0, values, n) / max(values - 1, 1), rng.random(n) < 0.4
    table = ScoreTable.from_rows(score, label)
    found = cutoff(table)
    assert found.value == pytest.approx(largest(score, label - score), abs=1e-12)
    assert found.interval is not None
    lower, upper = found.interval.ends
    assert 0.0 <= lower <= found.value <= upper <= 1.0
    kuiper = ks_and_kuiper(table)[1].statistic
    if kuiper is not None:
        spread = math.sqrt(float(open_variance(table).sum()))
        assert found.value == pytest.approx(kuiper * spread / n)
    turned = cutoff(ScoreTable.from_rows(1.0 - score, ~label))
    assert turned.value == pytest.approx(found.value, abs=1e-12)
    assert cutoff(table, confidence=0.99).interval.ends[1] >= upper  # type: ignore[union-attr]


def test_many_scores_have_a_range_by_chance_too() -> None:
    """Above 20,000 rows it is that of the limit law, which draws at a thousand values agree with."""
    score, label = scored(30_000)
    many, few = (ScoreTable.from_rows(one, label) for one in (score, score.round(3)))
    by_law, by_draws = (cutoff(one, calibrated=CalibratedDraws.of(one, seed=0)) for one in (many, few))
    assert by_law.null == pytest.approx(by_draws.null, rel=0.05)
    assert by_law.null_range == pytest.approx(by_draws.null_range, rel=0.1)
    # Where one score leaves nearly all open, the path is one step and far from its limit.
    one = ScoreTable.from_rows(np.where(score < 0.9, 0.5, 1e-3 * score), label)
    assert cutoff(one, calibrated=CalibratedDraws.of(one, seed=0)).null_range is None


@pytest.mark.parametrize(
    ("name", "most"), [("apart", 4e-4), ("within three cells", 0.5), ("at 0.5, of few", 0.5), ("rare", 2e-5)]
)
def test_cells_of_a_grid_can_hide_no_more_than_is_said(name: str, most: float) -> None:
    """Read at the ends of cells it is lower, by at most what is added to the upper end."""
    rng = np.random.default_rng(1)
    score = {
        "apart": lambda: rng.random(3000),
        "within three cells": lambda: 0.3 + 4e-6 * rng.random(3000),
        "at 0.5, of few": lambda: 0.5 + 1e-7 * rng.random(9),
        "rare": lambda: 10.0 ** -(3.0 + 9.0 * rng.random(20_000)),
    }[name]()
    for _ in range(8):
        table = ScoreTable.from_rows(score, rng.random(score.size) < 1.5 * score)
        cells = grid_of(table)
        exact, gridded = cutoff(table), cutoff(cells)
        hidden = hidden_range(cells) / table.total_rows
        assert gridded.value - 1e-12 <= exact.value <= gridded.value + hidden + 1e-12
        assert hidden <= most
        assert ("grid cells" in gridded.assumptions[-1]) == (hidden > 0.0)
        assert exact.interval is not None
        assert gridded.interval is not None
        assert gridded.interval.ends[1] >= exact.interval.ends[1] - 1e-7
        assert gridded.interval.ends[1] <= exact.interval.ends[1] + hidden + 1e-7


def test_importance_weights_count_rows_and_have_hoeffdings_bounds() -> None:
    """A row of weight 2 moves the value as two do; equal weights have the margins of as many rows."""
    rng = np.random.default_rng(2)
    score, label, weight = rng.random(40), rng.random(40) < 0.5, rng.integers(1, 4, 40)
    weighted = cutoff(ScoreTable.from_rows(score, label, Weighing(weight=weight.astype(float))))
    repeated = cutoff(ScoreTable.from_rows(np.repeat(score, weight), np.repeat(label, weight)))
    assert weighted.value == pytest.approx(repeated.value)
    assert weighted.interval is not None
    assert weighted.interval.finite_sample
    score, label = rng.random(900) * 0.4, np.ones(900, bool)
    lower, upper = cutoff(
        ScoreTable.from_rows(score, label, Weighing(weight=np.full(900, 2.5))), confidence=0.9
    ).interval.ends  # type: ignore[union-attr]
    value = 1.0 - score.mean()
    assert upper == pytest.approx(value + math.sqrt(math.log(20.0) / 1_800.0))
    assert lower == pytest.approx(value - 2.0 * math.sqrt(math.log(40.0) / 1_800.0))


World = tuple[Callable[[np.random.Generator, int], Floats], Callable[[Floats], Floats]]
WORLDS: dict[str, World] = {
    "calibrated": (lambda rng, n: rng.random(n), lambda f: f),
    "rare": (lambda rng, n: rng.beta(0.4, 400, n), lambda f: np.minimum(1.0, 3.0 * f)),
    "near 0 and 1": (
        lambda rng, n: rng.choice([1e-9, 1 - 1e-9, 0.001, 0.5], n, p=[0.4, 0.4, 0.1, 0.1]),
        lambda f: np.clip(f, 0.004, 0.996),
    ),
    "one bad bin": (
        lambda rng, n: np.where(rng.random(n) < 0.005, 0.9, rng.random(n) * 0.2),
        lambda f: np.where(f > 0.5, 0.1, f),
    ),
    "one value": (lambda _, n: np.full(n, 0.3), lambda f: np.full(f.size, 0.35)),
    "surer than right": (lambda _, n: np.full(n, 0.001), lambda f: np.full(f.size, 0.01)),
    "far off": (lambda rng, n: rng.integers(0, 11, n) / 10, lambda f: 0.1 + 0.5 * f),
}


@pytest.mark.slow
@pytest.mark.parametrize("rows", [30, 300, 3000])
@pytest.mark.parametrize("name", sorted(WORLDS))
def test_either_end_is_wrong_as_seldom_as_it_says(name: str, rows: int) -> None:
    """Of 600 samples of the population, and of 600 of labels of the same scores, at 95 % two-sided."""
    draw, rate = WORLDS[name]
    rng = np.random.default_rng(5)
    many, same = draw(rng, 400_000), draw(rng, rows)
    wrong = np.zeros((2, 2))
    for fixed in (False, True):
        scores = same if fixed else many
        truth = largest_sorted(scores, rate(scores) - scores)
        for _ in range(600):
            score = same if fixed else draw(rng, rows)
            interval = cutoff(ScoreTable.from_rows(score, rng.random(rows) < rate(score))).interval
            assert interval is not None
            lower, upper = interval.ends
            wrong[int(fixed)] += lower > truth + 1e-9, upper < truth - 1e-9
    # 15 of 600 is 2.5 %; 28 are seen in one of a thousand runs of that.
    assert wrong.max() <= 28


def largest_sorted(score: Floats, residual: Floats) -> float:
    """Return the same as `largest` by running sums, of many rows."""
    order = np.argsort(score)
    ends = np.append(score[order][1:] != score[order][:-1], True)
    path = np.append(0.0, np.cumsum(residual[order])[ends])
    return float(path.max() - path.min()) / score.size
