"""Gates under importance weights: a verdict at the limit is seldom wrong, in worlds hard for weights."""

import numpy as np
import pytest

from calibcli.names import Binning, Bound, MeasureName, Relation, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.gates import judge
from calibcli.stats.gates.claim import Ground
from calibcli.stats.table.bins import ATOMS, Bins, bin_index, equal_width_edges
from calibcli.stats.table.score_table import ScoreTable
from claims.simulation import generator_of, most_misses

FIFTEEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))
DELTA = 0.05
WORLDS = ("few heavy rows", "rare events", "saturated", "one bad bin", "weights against the error")
MEASURES = (MeasureName.ECE, MeasureName.LINF, MeasureName.BIAS)


def world(name: str, rows: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, rates of label 1, and weights."""
    score, weight = draw.random(rows), draw.lognormal(0.0, 2.0, rows)
    if name == "few heavy rows":
        return score, np.clip(score + 0.1, 0.0, 1.0), weight
    if name == "rare events":
        score = draw.beta(0.1, 5.0, rows)
        return score, np.minimum(1.0, 2.0 * score), draw.choice([1.0, 50.0], rows, p=[0.95, 0.05])
    if name == "saturated":
        score = np.where(draw.random(rows) < 0.3, 1.0 - 1e-9, 1e-9)
        return score, np.where(score > 0.5, 0.95, 0.02), draw.exponential(size=rows)
    if name == "one bad bin":
        return score, np.where(np.abs(score - 0.5) < 1 / 30, 0.9, score), draw.exponential(size=rows)
    # The rows that the score is wrong about weigh most.
    wrong = draw.random(rows) < 0.1
    return score, np.where(wrong, 1.0 - score, score), np.where(wrong, 20.0, 1.0)


def truth(measure: MeasureName, score: np.ndarray, rate: np.ndarray, weight: np.ndarray) -> float:
    """The error of these scores and weights, straight from its definition."""
    place = bin_index(FIFTEEN.edges, score)
    if measure is MeasureName.LINF:
        place = np.unique(score, return_inverse=True)[1]
    gap, total = np.bincount(place, weight * (rate - score)), np.bincount(place, weight)
    if measure is MeasureName.BIAS:
        return float(gap.sum() / total.sum())
    if measure is MeasureName.LINF:
        return float(np.max(np.abs(gap[total > 0.0]) / total[total > 0.0]))
    return float(np.abs(gap).sum() / total.sum())


def wrong_verdicts(name: str, measure: MeasureName, rows: int, repetitions: int) -> tuple[int, int]:
    """Return how often a limit that is the truth is passed, and how often it is failed."""
    draw = generator_of("weighted gates", name, measure.value, rows)
    passes, fails, few = 0, 0, measure is MeasureName.LINF
    for _ in range(repetitions):
        score, rate, weight = world(name, rows, draw)
        # The largest error of a value can be bounded where there are few.
        score = np.round(score, 1) if few else score
        table = ScoreTable.from_rows(score, draw.random(rows) < rate, weight=weight)
        rule = Rule("rule", measure, Bound.UPPER, Relation.AT_MOST, truth(measure, score, rate, weight))
        outcome = judge(table, rule, ground=Ground(ATOMS if few else FIFTEEN, least_rows=10)).outcome
        passes += outcome is VerdictName.PASS
        fails += outcome is VerdictName.FAIL
    return passes, fails


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", WORLDS)
def test_weighted_verdicts_at_the_limit_are_seldom_wrong(name: str, measure: MeasureName) -> None:
    """Sixty tables of 300 rows; `slow` has more, of 30 to 3,000."""
    assert max(wrong_verdicts(name, measure, 300, 60)) <= most_misses(60, DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [30, 300, 3_000])
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", WORLDS)
def test_weighted_verdicts_at_the_limit_are_wrong_in_at_most_five_percent(
    name: str, measure: MeasureName, rows: int
) -> None:
    """Two thousand tables each; the limit is the truth itself."""
    assert max(wrong_verdicts(name, measure, rows, 2_000)) <= most_misses(2_000, DELTA)


def test_a_weighted_gate_can_pass_and_fail() -> None:
    """Twice as far from the truth as its margin, it decides."""
    draw = np.random.default_rng(0)
    score, rate, weight = world("one bad bin", 20_000, draw)
    table = ScoreTable.from_rows(score, draw.random(20_000) < rate, weight=weight)
    error = truth(MeasureName.ECE, score, rate, weight)
    for limit, outcome in ((error + 0.03, VerdictName.PASS), (error / 20.0, VerdictName.FAIL)):
        rule = Rule("rule", MeasureName.ECE, Bound.UPPER, Relation.AT_MOST, limit)
        verdict = judge(table, rule, ground=Ground(FIFTEEN))
        assert (verdict.outcome, verdict.finite_sample) == (outcome, True)
        assert "the weights of rows must not depend on their labels" in verdict.assumptions
