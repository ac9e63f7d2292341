"""When a gate that is asked again as rows come in first passes, or first fails: by simulation of its bets."""

import math

import numpy as np
import numpy.typing as npt

from calibcli.bounds.betting import stakes_for_any_time
from calibcli.names import VerdictName
from calibcli.table.score_table import Floats
from calibcli.verdicts.outcome import LEAST_RARER
from calibcli.verdicts.plan_bets import log_evidence
from calibcli.verdicts.plan_looks import Asked, level_of
from calibcli.verdicts.plan_population import Population

# Numbers held at once while streams are simulated.
_AT_ONCE = 2_000_000


def first_verdicts(
    asked: Asked,
    population: Population,
    *,
    step: int,
    looks: int,
    times: int,
    generator: np.random.Generator,
) -> Floats:
    """
    Simulate streams of rows, asked after every so many of them.

    Args:
        asked: The gate.

        population: The rows to come.

        step: Rows between two looks.

        looks: How many looks.

        times: How many streams.

        generator: Random numbers.

    Returns:
        Rows at the first look that gave the verdict, infinite where none did, shape (times,).
    """
    delta, size = level_of(asked), population.score.size
    variance = 0.25 if asked.ground.variance is None else asked.ground.variance
    stakes = stakes_for_any_time(delta=delta, variance=variance)
    at_once = max(1, _AT_ONCE // (looks * size))
    found: list[Floats] = []
    for start in range(0, times, at_once):
        streams = min(at_once, times - start)
        count, ones = population.drawn(step, times=streams * looks, generator=generator)
        so_far = [one.reshape(streams, looks, size).cumsum(axis=1) for one in (count, ones)]
        evidence = log_evidence(
            *so_far,
            population=population,
            limit=asked.rule.limit,
            stakes=stakes,
            above=asked.wanted is VerdictName.FAIL,
        )
        positive = so_far[1].sum(axis=-1)
        rows = step * np.arange(1, looks + 1)
        enough = (np.minimum(positive, rows - positive) >= LEAST_RARER) & (rows >= asked.ground.least_rows)
        found.append(_first((evidence >= math.log(1.0 / delta)) & enough, rows))
    return np.concatenate(found)


def _first(given: npt.NDArray[np.bool_], rows: npt.NDArray[np.int64]) -> Floats:
    first = given.argmax(axis=-1)
    return np.where(given.any(axis=-1), rows[first], np.inf)
