"""How often tests reject calibrated labels, over rows, information, concentration and ties.

The information is sum f (1 - f), the variance of the number of events. Scores are drawn anew for every 10
sets of labels, which share the labels that p-values are drawn with: those depend on the scores alone. They
are drawn 199 times, not 999, which keeps levels of 1, 5 and 10 % as exactly.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from unittest.mock import patch

import numpy as np

from calibcli.names import TestName
from calibcli.stats.measures.if_calibrated import CalibratedDraws
from calibcli.stats.measures.tests import calibration_tests
from calibcli.stats.measures.u_test import drawn_u
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import binned
from claims.cells import OF_RATES
from claims.simulation import Floats, generator_of
from claims.worlds import usual_bins

LEVELS = (0.01, 0.05, 0.1)
ROWS = (30, 300, 3000, 30_000, 1_000_000)
INFORMATION = (0.1, 1.0, 5.0, 20.0, 100.0, 401.0, 1000.0)
# Of the most rows, which take longest.
_AT_MOST_ROWS = (0.1, 5.0, 100.0, 1000.0)
CONCENTRATION = ("alike", "few open", "one heavy")
TIES = ("distinct", "two values", "ten values")
NAMES = (*(name.value for name in TestName), "combined")
# Repetitions of one seed, and sets of labels for the same scores.
BATCH, _LABELINGS, _DRAWS = 250, 10, 199
# U of so many different scores takes a second; draws of it are over cells from 400 scores on.
_MOST_FOR_U = 100_000
# A row is open by so much at most.
_MOST = 0.21


@dataclass(frozen=True, slots=True)
class Cell:
    """One world.

    Args:
        rows: Number of rows.

        information: Sum f (1 - f), nearly.

        concentration: "alike": every row adds about the same; "few open": all others are within 1e-9 of 0
            or 1, as a saturated net leaves them; "one heavy": one value has half of the information.

        ties: How many different scores there are.
    """

    rows: int
    information: float
    concentration: str
    ties: str


def cells() -> Iterator[Cell]:
    """Yield every cell of the grid that can be."""
    for rows, information, concentration, ties in product(ROWS, INFORMATION, CONCENTRATION, TIES):
        if information <= rows / 7 and (rows < max(ROWS) or information in _AT_MOST_ROWS):
            yield Cell(rows, information, concentration, ties)


def scores_of(cell: Cell, rng: np.random.Generator) -> Floats:
    """Return scores, shape (rows,)."""
    rows, values = cell.rows, {"distinct": cell.rows, "two values": 2, "ten values": 10}[cell.ties]
    if cell.concentration == "alike":
        return _alike(rows, cell.information, values=values, rng=rng)
    if cell.concentration == "one heavy":
        half = cell.information / 2.0
        heavy = max(1, math.ceil(half / _MOST))
        rest = _alike(rows - heavy, half, values=values - 1, rng=rng)
        return np.append(rest, np.full(heavy, _score(half / heavy)))
    return _few_open(rows, cell.information, values=values, rng=rng)


def _few_open(rows: int, information: float, *, values: int, rng: np.random.Generator) -> Floats:
    count = max(1, math.ceil(information / (0.75 * _MOST)))
    mean, others = information / count, rows - count
    if values == 2:
        return np.append(np.full(count, _score(mean)), np.full(others, 1e-9))
    # From half to one and a half of the mean, on both sides of 1/2.
    spread = 0.5 + (rng.random(count) if values > 10 else rng.integers(2, size=count))
    shut = 1e-9 * (rng.random(others) if values > 10 else 1.0 / (1 + rng.integers(3, size=others)))
    score = np.append(_score(np.minimum(mean * spread, 0.25)), shut)
    return np.where(rng.random(rows) < 0.5, score, 1.0 - score)


def _alike(rows: int, information: float, *, values: int, rng: np.random.Generator) -> Floats:
    jitter = rng.random(rows) if values > 10 else rng.integers(values, size=rows) / max(values - 1, 1)
    mean = information / rows
    return _score(np.minimum(mean * (0.8 + 0.4 * jitter), 0.25))


def _score(variance: Floats | float) -> Floats:
    """Return the score up to 1/2 with f (1 - f) of this."""
    # Not 1/2 - sqrt(1/4 - v), which loses the digits of small scores.
    return 2.0 * variance / (1.0 + np.sqrt(1.0 - 4.0 * np.asarray(variance)))


def rejections(cell: Cell, *, batch: int = 0, repetitions: int = BATCH) -> dict[str, list[int]]:
    """Return how often each test rejects calibrated labels at 1, 5 and 10 %, as `calibration_tests` decides.

    Args:
        cell: The world.

        batch: Which of the batches of a cell; each has its own random numbers.

        repetitions: How many sets of labels.
    """
    rng = generator_of("sizes", cell, batch)
    counts: dict[str, Floats] = {}
    with patch("calibcli.stats.measures.if_calibrated.expected_smece", return_value=(0.0, None)):
        for done in range(0, repetitions, _LABELINGS):
            for name, p in _p_values(scores_of(cell, rng), min(_LABELINGS, repetitions - done), rng):
                rejected = np.array([p is not None and p <= level for level in LEVELS], np.int64)
                counts[name] = counts.get(name, 0) + rejected
    return {name: count.tolist() for name, count in counts.items()}


def _p_values(score: Floats, times: int, rng: np.random.Generator) -> Iterator[tuple[str, float | None]]:
    """Yield the p-values of all tests for so many sets of calibrated labels."""
    score, rows = np.unique(score, return_counts=True)
    empty = ScoreTable(score, rows, np.zeros_like(rows))
    bins = usual_bins(empty)
    sums = binned(empty, bins)
    calibrated = CalibratedDraws(empty, partitions=[sums], generator=rng, smece_generator=rng, draws=_DRAWS)
    # Before the generator is asked for more.
    assert calibrated.drawn.parts
    # What U draws depends on the scores alone.
    once = cache(lambda: drawn_u(empty, generator=rng, draws=_DRAWS))
    left_out = OF_RATES if score.size <= _MOST_FOR_U else (*OF_RATES, TestName.U)
    names = tuple(name for name in TestName if name not in left_out)
    with (
        patch("calibcli.stats.measures.u_test.drawn_u", lambda *_, **__: once()),
        patch("calibcli.stats.measures.tests.DRAWS", _DRAWS),
    ):
        for _ in range(times):
            table = ScoreTable(score, rows, rng.binomial(rows, score))
            results, combined = calibration_tests(
                names, table, bins=binned(table, bins), calibrated=calibrated
            )
            yield from ((one.name.value, one.p_value) for one in results)
            yield "combined", combined.p_value
