"""The interval of smece at a bandwidth that was named covers the population above and these scores below."""

import numpy as np
import pytest

from calibcli.stats.measures.smooth_ece import smooth_error_at
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.kernel import cosine_series
from claims.simulation import generator_of, most_misses

pytestmark = pytest.mark.slow
WORLDS = ("calibrated", "shift", "wave", "rare", "rare, calibrated", "ties", "ends")


def drawn(name: str, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and chances of label 1."""
    match name:
        case "calibrated":
            score = rng.random(rows)
            return score, score
        case "shift":
            score = rng.uniform(0.0, 0.9, rows)
            return score, score + 0.1
        case "wave":
            score = rng.uniform(0.2, 0.8, rows)
            return score, score + 0.15 * np.sign(np.sin(12.0 * score))
        case "ties":
            score = rng.choice([0.1, 0.4, 0.9], rows)
            return score, score + 0.1 * (score == 0.4)
        case "ends":
            score = rng.choice([0.0, 1.0], rows)
            return score, np.abs(score - 0.05)
        case _:
            score = rng.uniform(0.0, 0.02, rows)
            return score, score if "calibrated" in name else 1.5 * score


def norm(score: np.ndarray, chance: np.ndarray, bandwidth: float) -> float:
    """Return the norm of what labels are off by on average."""
    return float(cosine_series(score, (chance - score) / score.size).l1_norm(bandwidth))


@pytest.mark.untraced
@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("bandwidth", [0.02, 0.1])
def test_both_ends_miss_as_rarely_as_they_say(name: str, bandwidth: float) -> None:
    """Of 500 rows: each end misses in at most 2.5 % of tables."""
    rng = generator_of("bandwidth", name, bandwidth)
    population = norm(*drawn(name, 400_000, rng), bandwidth)
    below = above = 0
    for _ in range(400):
        score, chance = drawn(name, 500, rng)
        table = ScoreTable.from_rows(score, rng.random(500) < chance)
        interval = smooth_error_at(table, bandwidth).interval
        assert interval is not None
        below += interval.lower > norm(score, chance, bandwidth)
        above += interval.upper < population - 1e-9
    assert max(below, above) <= most_misses(400, 0.025)
