"""
What simulations outside the cells share: random numbers by name, how many misses chance allows, and atoms
whose error is exactly the limit of a gate.
"""

import math
import zlib
from collections.abc import Iterator

import numpy as np
from scipy.stats import binom

from calibcli.names import Bound, MeasureName, Relation, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.bounds.betting import stakes_for_any_time
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.ece import ece_below
from calibcli.stats.measures.binned import grouped_residuals
from calibcli.stats.table.bins import ATOMS, binned
from calibcli.stats.table.score_table import ScoreTable

Floats = np.ndarray


def most_misses(repetitions: int, error: float) -> int:
    """Return the largest number of misses that a true rate of `error` exceeds with probability < 1e-6."""
    return int(binom.isf(1e-6, repetitions, error))


def generator_of(*name: object) -> np.random.Generator:
    """Return the random numbers of a cell."""
    return np.random.default_rng(zlib.crc32("/".join(map(str, name)).encode()))


def boundary_atoms(count: int, eps: float) -> tuple[Floats, Floats]:
    """Return scores of equally likely atoms and label rates with an error of exactly eps, all on one side."""
    score = (np.arange(count) + 0.5) / count
    sign = np.where(score > 0.5, -1.0, 1.0)
    return score, score + eps * sign


def drawn_atoms(rng: np.random.Generator, rows: int, score: Floats, truth: Floats) -> Iterator[ScoreTable]:
    """Yield tables of equally likely atoms, drawn from the population, without end."""
    while True:
        counts = rng.multinomial(rows, np.full(score.size, 1 / score.size))
        some = counts > 0
        yield ScoreTable(score[some], counts[some], rng.binomial(counts[some], truth[some]))


def wrong_verdicts(
    count: int, *, eps: float, rows: int, repetitions: int, one_look: bool = True
) -> tuple[int, int]:
    """Count passes and fails where the error is exactly eps, so that each is wrong with probability delta."""
    rng = generator_of("verdicts", count, eps, rows, one_look)
    score, truth = boundary_atoms(count, eps)
    variance = float((score * (1 - score)).mean()) if one_look else None
    rule = Rule("max-ece", MeasureName.ECE, Bound.UPPER, Relation.AT_MOST, eps)
    ground = Ground(ATOMS, variance, least_rows=100, confidence=0.95)
    tables = drawn_atoms(rng, rows, score, truth)
    outcomes = [
        ece_below(table, rule, ground=ground).outcome
        for table, _ in zip(tables, range(repetitions), strict=False)
    ]
    return outcomes.count(VerdictName.PASS), outcomes.count(VerdictName.FAIL)


def wrong_verdicts_at_any_time(
    count: int, *, eps: float, step: int, looks: int, streams: int
) -> tuple[int, int]:
    """Count streams that ever pass and ever fail, asked at every step, where the error is exactly eps."""
    rng = generator_of("streams", count, eps, step, looks)
    score, truth = boundary_atoms(count, eps)
    stakes = stakes_for_any_time(delta=0.05)
    level, passed, failed = math.log(20.0), 0, 0
    tables = drawn_atoms(rng, step, score, truth)
    for _ in range(streams):
        table, passes, fails = ScoreTable.empty(), False, False
        for _ in range(looks):
            table = table.merge(next(tables))
            residuals = grouped_residuals(table, binned(table, ATOMS))
            passes = passes or residuals.log_evidence_below(eps, stakes) >= level
            fails = fails or residuals.log_evidence_above(eps, stakes) >= level
        passed, failed = passed + passes, failed + fails
    return passed, failed
