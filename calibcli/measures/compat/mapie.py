"""MAPIE's binned error and its three tests, in the order of the rows."""

import math
from typing import TypeGuard

import numpy as np

from calibcli.measures.compat.gaps import Cells, gaps_in, right_closed
from calibcli.measures.compat.peer import Counterpart, OrderedRows, Part, Peer, PeerNumber, ratio
from calibcli.names import MeasureName, TestName
from calibcli.table.score_table import ScoreTable

VERSION = "1.6.0"
EDGES = 50
_JITTER = 1e-8
_SEED = 1
_PRECISION = 1e-8


def mapie_numbers(table: ScoreTable, rows: OrderedRows) -> Peer:
    """
    Return what MAPIE's metrics give for a score of one column.

    Args:
        table: The rows.

        rows: The same rows in the order in which MAPIE sees them.
    """
    index = right_closed(np.linspace(0.0, 1.0, EDGES), table.score) + 1
    error = gaps_in(index, Cells(table.score, table.rows, table.positive_rows)).mean
    bins = f"num_bins={EDGES} counts edges: {EDGES - 1} equal-width bins (a, b] and one for scores of 0"
    ks, kuiper = _cumulative(rows)
    z = _spiegelhalter(table)
    jitter = f"seeded jitter breaks ties, so that the order of the rows matters ({rows.order})"
    path = f"the path leaves out its start at 0; {jitter}"
    law = f"1 - cdf, which rounding can make negative, here by draws for few rows or values; {path}"
    one_sided = "one-sided by the normal law, here two-sided (and by draws for few rows or values)"
    ks_p = ks_p_value(ks) if _usual(ks) else None
    kuiper_p = kuiper_p_value(kuiper) if _usual(kuiper) else None
    z_p = None if z is None else 1.0 - _normal_share(z)
    numbers = (
        PeerNumber("expected_calibration_error", error, Counterpart(MeasureName.ECE), bins),
        *_test("kolmogorov_smirnov", TestName.KS, (ks, path), (ks_p, law)),
        *_test("kuiper", TestName.KUIPER, (kuiper, path), (kuiper_p, law)),
        *_test("spiegelhalter", TestName.SPIEGELHALTER, (z, "the same formula"), (z_p, one_sided)),
    )
    return Peer("mapie", VERSION, numbers)


def _test(
    name: str, test: TestName, statistic: tuple[float | None, str], p: tuple[float | None, str]
) -> tuple[PeerNumber, ...]:
    """Return a statistic and its p-value, each with the reason why ours differs."""
    undefined = "none: every score is 0, 1/2 or 1, or there is one row"
    parts = ((Part.VALUE, "statistic", statistic), (Part.P_VALUE, "p_value", p))
    return tuple(
        PeerNumber(f"{name}_{word}", value, Counterpart(test, part), undefined if value is None else why)
        for part, word, (value, why) in parts
    )


def _cumulative(rows: OrderedRows) -> tuple[float | None, float | None]:
    """Return both statistics of the path of label - score in the order of jittered scores."""
    score = rows.score
    spread = math.sqrt(float((score * (1.0 - score)).sum()))
    # The seed and this old generator are part of what is reproduced.
    noise = np.random.RandomState(_SEED).normal(size=score.size)
    moved = score * (1.0 + _JITTER * noise)
    order = np.argsort(moved)
    path = np.cumsum(rows.label[order] - moved[order])
    return ratio(float(np.abs(path).max()), spread), ratio(float(path.max() - path.min()), spread)


def _usual(statistic: float | None) -> TypeGuard[float]:
    """Whether a series gives a p-value: infinity and 0 are errors there."""
    return statistic is not None and 0.0 < statistic < math.inf


def ks_p_value(statistic: float) -> float:
    """Return 1 less the law of the largest distance of a Brownian motion from 0, by a series cut at 1e-8."""
    terms = 0.5 + statistic * math.sqrt(2.0) / math.pi * math.sqrt(math.log(4.0 / (math.pi * _PRECISION)))
    k = np.arange(math.ceil(terms))
    odd = k + 0.5
    series = (-1.0) ** k / odd * np.exp(-((odd * math.pi / statistic) ** 2) / 2.0)
    return 1.0 - 2.0 / math.pi * float(series.sum())


def kuiper_p_value(statistic: float) -> float:
    """Return 1 less the law of the range of a Brownian motion, by a series cut at 1e-8."""
    slack = (1.0 / statistic + statistic / math.pi**2) * 4.0 / (math.sqrt(2.0 * math.pi) * _PRECISION)
    terms = 0.5 + statistic / (math.pi * math.sqrt(2.0)) * math.sqrt(math.log(slack))
    odd = np.arange(math.ceil(terms)) + 0.5
    inner = 8.0 / statistic**2 + 2.0 / (odd * math.pi) ** 2
    return 1.0 - float((inner * np.exp(-2.0 * (odd * math.pi / statistic) ** 2)).sum())


def _spiegelhalter(table: ScoreTable) -> float | None:
    tilt = 1.0 - 2.0 * table.score
    variance = float((table.rows * tilt**2 * table.score * (1.0 - table.score)).sum())
    return ratio(float(((table.positive_rows - table.rows * table.score) * tilt).sum()), math.sqrt(variance))


def _normal_share(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))
