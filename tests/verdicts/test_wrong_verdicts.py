"""How often each case of the gate is wrong where the error is the limit, and how seldom far from it."""

import zlib

import numpy as np
import pytest
from scipy.stats import binom

from calibcli.names import VerdictName
from verdicts.boundary import CASES, count_verdicts

pytestmark = pytest.mark.untraced

PASS, FAIL = VerdictName.PASS, VerdictName.FAIL
DEAR = ("l2, 2 atoms", "l2, 10 atoms", "smece, two clumps", "smece, 1 atom", "smece_probit, 1 atom")


def generator_of(*words: object) -> np.random.Generator:
    """Return the random numbers of one cell."""
    return np.random.default_rng(zlib.crc32(repr(words).encode()))


def most_wrong(times: int, delta: float = 0.05) -> int:
    """Return how many wrong verdicts chance alone exceeds once in a million cells."""
    return int(binom.ppf(1 - 1e-6, times, delta))


@pytest.mark.parametrize("name", [one for one in CASES if one not in DEAR])
def test_wrong_verdicts_are_rare_at_the_limit(name: str) -> None:
    """With the error exactly the limit no more tables pass, and no more fail, than delta allows."""
    times = 60
    found = count_verdicts(
        CASES[name], limit=0.05, error=0.05, rows=1000, repetitions=times, generator=generator_of(name)
    )
    assert found[PASS] <= most_wrong(times)
    assert found[FAIL] <= most_wrong(times)


@pytest.mark.parametrize("name", [one for one in CASES if one not in DEAR])
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
    case, times = CASES[name], 100
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


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize(("rows", "limit"), [(500, 0.05), (4000, 0.03), (20_000, 0.05)])
def test_wrong_verdicts_are_rare_at_the_limit_at_every_size(name: str, rows: int, limit: float) -> None:
    """The same at three numbers of rows, over 400 tables each."""
    times = 400
    found = count_verdicts(
        CASES[name],
        limit=limit,
        error=limit,
        rows=rows,
        repetitions=times,
        generator=generator_of(name, rows, limit),
    )
    assert found[PASS] <= most_wrong(times)
    assert found[FAIL] <= most_wrong(times)
