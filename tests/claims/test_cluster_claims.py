"""
The simulated promise of intervals over clusters, with that of intervals over rows printed beside it.

`pytest -s -m slow tests/claims/test_cluster_claims.py` prints the table of docs/methods.md.
"""

import pytest

from claims.dependent_rows import CLUSTERS, EQUAL, MEANS, over_clusters, paired_over_clusters
from claims.simulation import OVER_CLUSTERS, most_misses


def check_coverage(clusters: str, *, world: str, repetitions: int, error: float) -> None:
    """Print coverage over clusters beside coverage over rows, and fail on too many misses."""
    tallies = over_clusters(clusters, world=world, confidence=0.95, repetitions=repetitions).tallies
    for name in MEANS:
        robust, rows = (tallies[f"{name.value}{over}"] for over in (OVER_CLUSTERS, " over rows"))
        print(  # noqa: T201 - a claim shows its figures
            f"{clusters}, {world}, {name.value}: over clusters {robust.coverage:.1%} "
            f"(width {robust.mean_width:.4f}), over rows {rows.coverage:.1%} (width {rows.mean_width:.4f}), "
            f"{repetitions:,} repetitions"
        )
        assert robust.misses <= most_misses(repetitions, error), name
        assert rows.misses > robust.misses


def test_intervals_over_clusters_cover() -> None:
    """At 50 clusters with correlation 0.3 the 95 % intervals cover; those over rows do not."""
    check_coverage("50 clusters of 20", world="calibrated", repetitions=1000, error=0.06)


def test_paired_intervals_over_clusters_cover() -> None:
    """Differences of two scores of clustered rows: three points more than nominal are allowed."""
    cell = paired_over_clusters("50 clusters of 20", "mild", confidence=0.95, repetitions=300)
    assert len(cell.tallies) == 2
    for name, tally in cell.tallies.items():
        assert tally.misses <= most_misses(300, 0.06), name


@pytest.mark.slow
@pytest.mark.parametrize("world", ["calibrated", "strong"])
@pytest.mark.parametrize("clusters", CLUSTERS)
def test_intervals_over_clusters_cover_in_full(clusters: str, world: str) -> None:
    """Over few, many, equal and unequal clusters; three points more are allowed where they are unequal."""
    check_coverage(clusters, world=world, repetitions=4000, error=0.06 if clusters in EQUAL else 0.08)


@pytest.mark.slow
@pytest.mark.parametrize("pair", ["equally wrong", "strong"])
@pytest.mark.parametrize("clusters", CLUSTERS)
def test_paired_intervals_over_clusters_cover_in_full(clusters: str, pair: str) -> None:
    """Differences over few, many, equal and unequal clusters."""
    for name, tally in paired_over_clusters(
        clusters, pair, confidence=0.95, repetitions=1000
    ).tallies.items():
        assert tally.misses <= most_misses(1000, 0.06 if clusters in EQUAL else 0.08), name
