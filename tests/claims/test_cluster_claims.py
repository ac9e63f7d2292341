"""
The simulated promise of intervals over clusters, with that of intervals over rows printed beside it.

`pytest -s -m slow tests/claims/test_cluster_claims.py` prints the table of docs/methods.md.
"""

import math

import numpy as np
import pytest

from calibcli.measures.clustered import ClusterSums, with_clusters
from calibcli.measures.estimate import Estimate
from calibcli.names import MeasureName
from claims.simulation import generator_of, most_misses

M = MeasureName
Floats = np.ndarray


def coverage(
    sizes: Floats, *, repetitions: int, correlation: float = 0.3
) -> dict[MeasureName, tuple[int, int, float, float]]:
    """
    Return misses of the 95 % intervals over clusters, and of those over rows, with their mean widths.

    Scores are calibrated. A label is drawn by its cluster's own uniform number with probability
    sqrt(correlation) and by the row's own otherwise, so that two rows of a cluster share it with probability
    `correlation`.
    """
    rng = generator_of("clusters", sizes.tolist(), correlation)
    key = np.repeat(np.arange(sizes.size), sizes)
    truth = {M.BIAS: 0.0, M.BRIER: 0.2}  # of scores that follow Beta(2, 2): the mean of f (1 - f)
    counts = {name: [0, 0, 0.0, 0.0] for name in truth}
    for _ in range(repetitions):
        score = rng.beta(2, 2, key.size)
        shared = rng.random(key.size) < math.sqrt(correlation)
        label = np.where(shared, rng.random(sizes.size)[key], rng.random(key.size)) < score
        sums = ClusterSums()
        sums.add_rows(key, score, label)
        clusters = sums.whole()
        for name, value in truth.items():
            loss = label - score if name is M.BIAS else (label - score) ** 2
            estimate = Estimate(name, float(loss.mean()), None, None, (), key.size)
            interval = with_clusters(estimate, clusters, confidence=0.95).interval
            assert interval is not None
            half = 1.959964 * loss.std(ddof=1) / math.sqrt(key.size)
            found = counts[name]
            found[0] += not interval.lower <= value <= interval.upper
            found[1] += not abs(loss.mean() - value) <= half
            found[2] += (interval.upper - interval.lower) / repetitions
            found[3] += 2 * half / repetitions
    return {name: tuple(found) for name, found in counts.items()}


def check_coverage(sizes: Floats, *, repetitions: int, error: float) -> None:
    """Print coverage over clusters beside coverage over rows, and fail on too many misses."""
    for name, (misses, naive, width, plain) in coverage(sizes, repetitions=repetitions).items():
        robust, rows = (100 * (1 - missed / repetitions) for missed in (misses, naive))
        print(  # noqa: T201 - a claim shows its figures
            f"{sizes.size} clusters, {name.value}: over clusters {robust:.1f} % (width {width:.4f}), "
            f"over rows {rows:.1f} % (width {plain:.4f}), {repetitions:,} repetitions"
        )
        assert misses <= most_misses(repetitions, error)
        assert naive > misses


def test_intervals_over_clusters_cover() -> None:
    """At 50 clusters with correlation 0.3 the 95 % intervals cover; those over rows do not."""
    check_coverage(np.full(50, 20), repetitions=1000, error=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        (np.full(20, 20), 0.06),
        (np.full(50, 20), 0.06),
        (np.full(200, 5), 0.06),
        # Unequal clusters, counting as 10.9, 12.2 and 19.7 of equal weight: three points more are allowed.
        ((400 * np.arange(1, 21) ** -0.8).astype(int), 0.08),
        ((400 * np.arange(1, 51) ** -1.0).astype(int), 0.08),
        ((400 * np.arange(1, 201) ** -1.0).astype(int), 0.08),
    ],
)
def test_intervals_over_clusters_cover_in_full(sizes: Floats, error: float) -> None:
    """Over few, many, equal and unequal clusters the coverage is within what is promised."""
    check_coverage(sizes, repetitions=4000, error=error)
