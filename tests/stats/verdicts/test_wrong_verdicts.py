"""How often each case of the gate is wrong where the error is the limit, and how seldom far from it."""

import math
import zlib
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from calibcli.names import Bound, MeasureName, Relation, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.gates import judge
from calibcli.stats.gates.claim import Ground
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS
from stats.verdicts.boundary import CASES, by_statistic, count_verdicts

pytestmark = pytest.mark.untraced

PASS, FAIL = VerdictName.PASS, VerdictName.FAIL
# One or two of each measure; the others are among the slow ones.
SOME = (
    "ece, 1 atoms",
    "ece at any time, 10 atoms",
    "l2, 1 atoms",
    "l2, one atom of 2 off",
    "linf, 1 atoms",
    "binned ece, one look",
    "smece, shifted",
    "dce, two clumps",
    "bias, 1 atom",
    "ece_equal_mass, shifted",
    "ace, shifted",
    "lp, shifted",
    "smce, 1 atom",
)


def generator_of(*words: object) -> np.random.Generator:
    """Return the random numbers of one cell."""
    return np.random.default_rng(zlib.crc32(repr(words).encode()))


def most_wrong(times: int, delta: float = 0.05) -> int:
    """Return how many wrong verdicts chance alone exceeds once in a million cells."""
    return int(binom.ppf(1 - 1e-6, times, delta))


@pytest.mark.parametrize(
    ("name", "rows", "limit", "times"),
    [
        *((name, 1_000, 0.05, 25) for name in SOME),
        *(
            pytest.param(name, *size, 400, marks=pytest.mark.slow)
            for name in CASES
            for size in ((500, 0.05), (4_000, 0.03), (20_000, 0.05))
        ),
    ],
)
def test_wrong_verdicts_are_rare_at_the_limit(name: str, rows: int, limit: float, times: int) -> None:
    """With the error exactly the limit no more tables pass, and no more fail, than delta allows."""
    generator = generator_of(name, rows, limit)
    found = count_verdicts(
        CASES[name], limit=limit, error=limit, rows=rows, repetitions=times, generator=generator
    )
    assert found[PASS] <= most_wrong(times)
    assert found[FAIL] <= most_wrong(times)


@pytest.mark.parametrize("name", SOME)
def test_verdicts_are_right_far_from_the_limit(name: str) -> None:
    """With enough rows a calibrated score passes, and one that errs by twice the limit fails where it can."""
    case, times = CASES[name], 3
    calibrated = count_verdicts(
        case, limit=0.08, error=0.0, rows=8000, repetitions=times, generator=generator_of(name, 0)
    )
    assert calibrated[PASS] == times
    wrong = count_verdicts(
        case, limit=0.08, error=0.16, rows=8000, repetitions=times, generator=generator_of(name, 1)
    )
    assert wrong[PASS] == 0
    assert wrong[FAIL] == (times if case.fails else 0)


@pytest.mark.parametrize("name", ["ece, 1 atoms", "linf, 1 atoms", "bias, 1 atom"])
def test_claims_judged_together_fail_less_often(name: str) -> None:
    """One of twenty claims fails with a twentieth of delta, and passes as often as alone."""
    case, times = CASES[name], 60
    alone, together = (
        count_verdicts(
            case,
            limit=0.05,
            error=0.05,
            rows=1000,
            repetitions=times,
            generator=generator_of(name, 2),
            claims=claims,
        )
        for claims in (1, 20)
    )
    assert together[PASS] == alone[PASS]
    assert together[FAIL] <= min(alone[FAIL], most_wrong(times, 0.05 / 20))


# Scores, how often each comes, their label rates, and rows: rare events, scores next to 0 and 1, a bad value
# of half a per cent of the rows, two values, thirty rows.
HARD: dict[str, tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...], int]] = {
    "base rate 1e-4": ((1e-4, 3e-4), (0.9, 0.1), (2e-4, 2e-3), 200_000),
    "next to 0 and 1": ((1e-9, 1.0 - 1e-9), (0.9, 0.1), (1e-9, 0.5), 3_000),
    "both ends off": ((1e-9, 1.0 - 1e-9), (0.5, 0.5), (0.01, 0.98), 3_000),
    "bad value at .5": ((0.02, 0.5), (0.995, 0.005), (0.02, 0.95), 2_000),
    "bad value at 0": ((1e-9, 0.02), (0.005, 0.995), (0.9, 0.02), 2_000),
    "always wrong at 0": ((1e-9, 0.02), (0.005, 0.995), (1.0, 0.02), 10_000),
    "thirty rows": ((0.1, 0.6), (0.9, 0.1), (0.3, 0.6), 30),
    "five rare": ((0.01, 0.02, 0.03, 0.04, 0.05), (0.2,) * 5, (0.01, 0.02, 0.03, 0.04, 0.1), 5_000),
}


def wrong_in(name: str, *, times: int, drawn: bool) -> Counter[VerdictName]:
    """Verdicts on the l2 error at the limit, with the rows of each score drawn too or as their shares say."""
    score, share, rate, rows = (np.array(one) for one in HARD[name])
    rng, ground = generator_of(name, times, drawn), Ground(ATOMS, least_rows=1, rows_wanted=False)
    counts = np.rint(share * rows).astype(int)
    exact = counts / counts.sum() if not drawn else share
    limit = math.sqrt(float(exact @ (rate - score) ** 2))
    rule = Rule("max-l2", MeasureName.L2, Bound.UPPER, Relation.AT_MOST, limit)
    if not drawn:
        tables = [ScoreTable(score, counts, rng.binomial(counts, rate)) for _ in range(times)]
        return by_statistic(tables, rule, ground)
    found: Counter[VerdictName] = Counter()
    for held in rng.multinomial(rows, share, size=times):
        some = held > 0
        table = ScoreTable(score[some], held[some], rng.binomial(held[some], rate[some]))
        found[judge(table, rule, ground=ground).outcome] += 1
    return found


@pytest.mark.parametrize(
    ("name", "drawn", "times"),
    [
        ("bad value at .5", False, 200),
        ("thirty rows", False, 200),
        *(
            pytest.param(name, drawn, times, marks=pytest.mark.slow)
            for name in HARD
            for drawn, times in ((False, 2_000), (True, 100))
        ),
    ],
)
def test_wrong_verdicts_on_l2_are_rare_in_hard_worlds(name: str, *, drawn: bool, times: int) -> None:
    """With the error exactly the limit, of the same rows at each score or of rows that are drawn anew."""
    found = wrong_in(name, times=times, drawn=drawn)
    assert max(found[PASS], found[FAIL]) <= most_wrong(times)


# The same of the bias: the mean score of other rows may matter more than the noise of labels.
HARD_FOR_BIAS: dict[str, tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...], int]] = {
    "sure scores that say nothing": ((0.001, 0.999), (0.5, 0.5), (0.01, 0.01), 2_000),
    "three in ten announced": ((0.25, 0.3, 0.35), (0.4, 0.2, 0.4), (0.001, 0.001, 0.001), 15_000),
    "a bad value in a thousand": ((0.01, 0.9), (0.999, 0.001), (0.01, 0.0), 1_500),
    "fraud, five times too high": ((0.0005, 0.5), (0.997, 0.003), (0.0001, 0.1), 40_000),
    "turned round": ((0.1, 0.9), (0.5, 0.5), (0.9, 0.1), 100),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD_FOR_BIAS)
def test_wrong_verdicts_on_bias_are_rare_in_the_population(name: str) -> None:
    """Rows drawn anew, 1,000 times: a limit just beyond the population's bias is passed in 5 % at most."""
    score, share, rate, rows = (np.array(one) for one in HARD_FOR_BIAS[name])
    rng, ground, times = generator_of("bias", name), Ground(ATOMS, rows_wanted=False), 1_000
    truth = float(share @ (rate - score))
    sides = ((Bound.LOWER, Relation.AT_LEAST, 1e-9), (Bound.UPPER, Relation.AT_MOST, -1e-9))
    rules = [Rule("bias", MeasureName.BIAS, bound, how, truth + off) for bound, how, off in sides]
    wrong: Counter[Bound] = Counter()
    for held in rng.multinomial(rows, share, size=times):
        some = held > 0
        table = ScoreTable(score[some], held[some], rng.binomial(held[some], rate[some]))
        wrong.update(one.bound for one in rules if judge(table, one, ground=ground).outcome is PASS)
    assert max(wrong.values(), default=0) <= most_wrong(times)
