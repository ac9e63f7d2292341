"""The gate on the worst value of a score, against bounds of its rates from scipy."""

import re
from functools import partial

import numpy as np
import pytest
from scipy.stats import beta

from calibcli.names import MeasureName, Target, VerdictName
from calibcli.stats.bounds.proportion import unseen_share
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.l2 import linf_below
from calibcli.stats.gates.plan import Gate
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS
from stats.verdicts.boundary import is_wanted
from stats.verdicts.boundary import rule as rule_on

SCORE = np.array([0.1, 0.5, 0.9])
ROWS = np.array([400, 300, 500])
ONES = np.array([38, 165, 441])
rule = partial(rule_on, MeasureName.LINF)


def ends(rows: float, ones: float, delta: float) -> tuple[float, float]:
    """The bounds of Clopper and Pearson, each at delta."""
    return float(beta.ppf(delta, ones, rows - ones + 1)), float(beta.ppf(1 - delta, ones + 1, rows - ones))


@pytest.mark.parametrize("claims", [1, 5])
def test_bounds_are_those_of_clopper_and_pearson(claims: int) -> None:
    """Above each rate has the whole delta, below the rates share it over values, sides and claims."""
    verdict = linf_below(ScoreTable(SCORE, ROWS, ONES), rule(0.05), ground=Ground(ATOMS, claims=claims))
    above = [ends(n, x, 0.05) for n, x in zip(ROWS, ONES, strict=True)]
    assert verdict.upper == pytest.approx(
        max(max(high - f, f - low) for f, (low, high) in zip(SCORE, above, strict=True)), abs=1e-9
    )
    each = (1 - (1 - 0.05 / claims) ** (1 / 3)) / 2
    below = [ends(n, x, each) for n, x in zip(ROWS, ONES, strict=True)]
    least = max(max(low - f, f - high, 0) for f, (low, high) in zip(SCORE, below, strict=True))
    assert verdict.lower == pytest.approx(least, abs=1e-9)
    assert verdict.value == pytest.approx(0.05)


def test_every_output_must_have_rows_to_pass() -> None:
    """An output of the recalibrator without rows forbids a pass, is named, and does not stop a fail."""
    table = ScoreTable(SCORE, ROWS * 100, np.rint(ROWS * 100 * SCORE).astype(int))
    seen = Ground(ATOMS, outputs=tuple(SCORE.tolist()))
    assert linf_below(table, rule(0.05), ground=seen).outcome is VerdictName.PASS
    assert linf_below(table, rule(0.05), ground=seen).target is Target.POPULATION
    unseen = Ground(ATOMS, outputs=(*SCORE.tolist(), 0.97))
    verdict = linf_below(table, rule(0.05), ground=unseen)
    assert verdict.outcome is VerdictName.INCONCLUSIVE
    assert verdict.upper is None
    assert verdict.needed is None
    assert verdict.reason == "1 of the 4 outputs of the recalibrator has no rows (0.97)"
    wrong = ScoreTable(SCORE, ROWS * 100, np.rint(ROWS * 50 * SCORE).astype(int))
    assert linf_below(wrong, rule(0.05), ground=unseen).outcome is VerdictName.FAIL


def test_raw_scores_speak_of_the_values_seen() -> None:
    """Without a recalibrator nothing is known of values that no row has, and the verdict says so."""
    verdict = linf_below(ScoreTable(SCORE, ROWS, ONES), rule(0.2), ground=Ground(ATOMS))
    assert verdict.outcome is VerdictName.PASS
    assert verdict.target is Target.FIXED_DESIGN
    assert any("values of the score seen here" in one for one in verdict.assumptions)
    assert verdict.unseen_share == pytest.approx(4.9 / 1200, rel=0.01)
    assert verdict.reason == (
        "this covers the 3 values of the score seen here; others may be off by more, and make up at most "
        "0.41 % of future rows (95 % confidence)"
    )
    listed = linf_below(
        ScoreTable(SCORE, ROWS, ONES), rule(0.2), ground=Ground(ATOMS, outputs=tuple(SCORE.tolist()))
    )
    assert (listed.unseen_share, listed.reason) == (None, None)


def test_a_value_of_few_rows_is_named_with_what_it_takes() -> None:
    """The value whose bounds reach farthest is named, with the rows at which they reach the limit."""
    rows = np.array([400, 12, 500])
    table = ScoreTable(SCORE, rows, np.array([40, 6, 450]))
    verdict = linf_below(table, rule(0.1), ground=Ground(ATOMS))
    assert verdict.outcome is VerdictName.INCONCLUSIVE
    found = re.fullmatch(
        r"the value 0.5 has 12 rows and needs about (\d+), even if it is right", verdict.reason
    )
    enough = int(found[1])
    low, high = ends(enough, enough / 2, 0.05)
    assert max(high - 0.5, 0.5 - low) <= 0.1
    low, high = ends(0.9 * enough, 0.45 * enough, 0.05)
    assert max(high - 0.5, 0.5 - low) > 0.1


@pytest.mark.parametrize(
    "world", ["four and one of 1 %", "like 1 / rank", "a thousand rare ones", "all different"]
)
@pytest.mark.parametrize("rows", [30, 200, 1000])
def test_values_not_seen_hold_at_most_what_is_said(world: str, rows: int) -> None:
    """Of 100 samples the share of the values that none shows is above the bound in 5 % at most."""
    chances = {
        "four and one of 1 %": np.array([0.2475] * 4 + [0.01]),
        "like 1 / rank": 1.0 / np.arange(1, 201),
        "a thousand rare ones": np.array([0.9] + [1e-4] * 1000),
        "all different": np.full(20_000, 5e-5),
    }[world]
    chances /= chances.sum()
    rng, missed = np.random.default_rng(rows), 0
    for _ in range(100):
        counts = rng.multinomial(rows, chances)
        missed += chances[counts == 0].sum() > unseen_share(counts[counts > 0], delta=0.05) + 1e-12
    assert missed <= 14
    assert unseen_share(np.ones(rows, np.int64), delta=0.05) == 1.0
    assert unseen_share(np.array([rows]), delta=0.05) < 6.0 / rows


def test_rows_promised_for_a_fail_decide() -> None:
    """With them half of tables fail that are as wrong as the estimate without its noise."""
    rng, score = np.random.default_rng(2), np.array([0.3, 0.7])
    wrong = ScoreTable(score, np.array([60, 60]), np.array([33, 42]))
    needed = linf_below(wrong, rule(0.1), ground=Ground(ATOMS)).needed
    assert needed.error == pytest.approx(0.25, abs=0.01)
    assert needed.to_fail < needed.at_best
    held, rate = np.full(2, needed.to_fail // 2), score + np.array([needed.error, 0.0])
    gate = Gate(rule(0.1), Ground(ATOMS), VerdictName.FAIL)
    tables = [ScoreTable(score, held, rng.binomial(held, rate)) for _ in range(60)]
    assert 0.3 <= np.mean([is_wanted(gate, one) for one in tables]) <= 0.75
