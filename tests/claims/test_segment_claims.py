"""Of calibrated rows no segment stands out more often than promised, and all intervals hold together."""

from collections.abc import Callable

import numpy as np
import pytest

import calibcli
from calibcli.stats.measures.segments import are_tested, bias_bounds, joint, segments_of
from claims.simulation import generator_of, most_misses
from stats.segment_rows import added_up, entries_of

pytestmark = pytest.mark.slow

# Rows, values of each column, repetitions: 500 rows with 30 segments to 20,000 rows with 2,400.
CELLS = [
    ("spread", 500, (3, 4, 5), 500),
    ("spread", 20_000, (20, 20, 20, 20), 100),
    ("ten values", 500, (3, 4, 5), 500),
    ("ten values", 20_000, (3, 4, 5), 150),
    ("ten values", 20_000, (10, 10, 10, 10), 150),
    ("rare", 20_000, (3, 4, 5), 800),
    ("rare, ten values", 60_000, (3, 4, 5), 300),
    ("saturated", 5_000, (10, 10, 10), 150),
    ("steep", 5_000, (5, 6, 7), 150),
    ("of the columns", 5_000, (6, 6, 4, 4), 150),
]


def world(name: str, rng: np.random.Generator, level: np.ndarray) -> np.ndarray:
    """Return scores, which are the chances of the labels."""
    rows = level.shape[1]
    few = np.linspace(0.05, 0.95, 10)
    drawn: dict[str, Callable[[], np.ndarray]] = {
        "spread": lambda: rng.beta(0.6, 1.4, rows),
        "ten values": lambda: rng.choice(few, rows),
        "rare": lambda: rng.beta(1.0, 999.0, rows),
        "rare, ten values": lambda: rng.choice(few / 475.0, rows),
        "saturated": lambda: rng.choice([0.0, 1.0, 0.001, 0.999, 0.5], rows, p=[0.3, 0.3, 0.15, 0.15, 0.1]),
        "steep": lambda: rng.beta(0.05, 1.0, rows),
        "of the columns": lambda: (
            1.0 / (1.0 + np.exp(5.0 - level[0] - 0.6 * level[1] - rng.normal(size=rows)))
        ),
    }
    return drawn[name]()


@pytest.mark.untraced
@pytest.mark.parametrize(("name", "rows", "sizes", "repetitions"), CELLS)
def test_calibrated_segments_stand_out_as_rarely_as_promised(
    name: str, rows: int, sizes: tuple[int, ...], repetitions: int
) -> None:
    """At most 5 % of calibrated tables have a segment below 5 %, or a bias outside of its interval."""
    rng = generator_of("segments", name, rows, sizes)
    level = np.stack([rng.integers(0, size, rows) for size in sizes])
    score = world(name, rng, level)
    found, missed, tied = 0, 0, np.unique(score).size < 50
    for _ in range(repetitions):
        entries = (added_up if tied else entries_of)(level, score, rng.random(rows) < score, sizes)
        segments = segments_of(entries, depth=2)
        seen = are_tested(segments, least_rows=20)
        assert seen.any()
        found += joint(entries, segments, seen, names="ab", depth=2, error=0.05).p_values.min() <= 0.05
        ends = bias_bounds(segments, delta=0.025 / int(seen.sum()))
        missed += bool(((ends.lower > 0.0) | (ends.upper < 0.0))[seen].any())
    assert found <= most_misses(repetitions, 0.05)
    assert missed <= most_misses(repetitions, 0.05)


def test_a_part_as_wrong_as_the_whole_is_seldom_listed() -> None:
    """All scores are too high by half, high ones are rare, and one column follows the score: in at most 5 %
    of tables is any value of it, or of one that does not matter, listed beside all rows.
    """
    rng, repetitions, listed = generator_of("segments", "too high by half"), 40, 0
    for _ in range(repetitions):
        rare = rng.random(100_000) < 0.004
        score = np.where(rare, rng.beta(1.5, 1.5, rare.size), rng.beta(1.0, 999.0, rare.size))
        noisy = score * np.exp(rng.normal(0.0, 0.5, rare.size))
        follows = np.digitize(noisy, np.quantile(noisy, [0.5, 0.9, 0.99, 0.998])).astype(str)
        rows = {
            "score": score,
            "label": rng.random(rare.size) < 0.5 * score,
            "follows": follows,
            "other": rng.choice(list("abcdefgh"), rare.size),
        }
        found = calibcli.segments(rows, score="score", label="label", on=["follows", "other"])
        shown = [one.where for one in found.shown]
        assert () in shown
        listed += len(shown) > 1
    assert listed <= most_misses(repetitions, 0.05)
