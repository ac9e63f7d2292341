"""The error of a batch by itself: what the rows say, and how seldom calibrated ones stand out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.stats.gates.cells import Partition, sums_of
from calibcli.stats.gates.state import own_error
from calibcli.stats.table.score_table import ScoreTable

BINS = Partition.of_bins(15)


def rows_of(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and labels that follow them."""
    rng = np.random.default_rng(seed)
    score = rng.beta(0.7, 1.6, count)
    return score, rng.random(count) < score


def direct(score: np.ndarray, label: np.ndarray) -> float:
    """The binned ECE over 15 bins of equal width, row by row."""
    place = np.clip(np.ceil(15.0 * score).astype(int) - 1, 0, 14)
    return float(np.abs(np.bincount(place, label - score, 15)).sum() / score.size)


@given(seed=st.integers(0, 10_000), count=st.integers(1, 400))
def test_value_is_that_of_the_rows(seed: int, count: int) -> None:
    """The same from sums over cells as row by row, and what chance shows is in order."""
    score, label = rows_of(seed, count)
    found = own_error(sums_of(ScoreTable.from_rows(score, label), BINS), BINS)
    assert found.value == pytest.approx(direct(score, label), abs=1e-9)
    assert 0.0 <= found.by_chance <= found.seldom <= 1.0


@pytest.mark.parametrize("outputs", [(), (0.1, 0.3, 0.7)])
def test_calibrated_batches_seldom_stand_out_and_bad_ones_do(outputs: tuple[float, ...]) -> None:
    """One in a thousand, and one in twenty above what is usual, at most; all of those that are off by 0.2."""
    partition = Partition(outputs=outputs) if outputs else BINS
    rng = np.random.default_rng(3)
    standing = above = bad = 0
    for _ in range(100):
        score = rng.choice(outputs, 300) if outputs else 0.7 * rng.beta(0.7, 1.6, 300)
        for shift in (0.0, 0.2):
            label = rng.random(300) < score + shift
            own = own_error(sums_of(ScoreTable.from_rows(score, label), partition), partition)
            if shift:
                bad += own.stands_out
            else:
                standing, above = standing + own.stands_out, above + (own.value > own.by_chance)
    # More has a probability below 1e-4.
    assert standing <= 3
    assert above <= 15
    assert bad == 100
