"""
Simulations of intervals over clusters of dependent rows, and of differences of two scores of the same rows.

In a cluster a label is drawn by the cluster's own uniform number with probability sqrt(correlation) and by
the row's own otherwise, so that two rows of a cluster share it with probability `correlation`.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from unittest.mock import patch

import numpy as np
from scipy.special import expit, logit
from scipy.stats import beta

from calibcli.bounds.student import student_quantile
from calibcli.measures.binned_ece import binned_ece
from calibcli.measures.clustered import ClusterSums, clustered_difference, with_clusters
from calibcli.measures.estimate import Estimate
from calibcli.measures.paired import PAIRED, PairedSums
from calibcli.measures.unpaired import difference_of_intervals
from calibcli.names import MeasureName
from calibcli.table.bins import Binning, bins_of
from calibcli.table.score_table import ScoreTable
from claims.simulation import FINE, OVER_CLUSTERS, Cell, Floats, binned_truth, generator_of
from claims.worlds import EQUAL, UNEQUAL

M = MeasureName
Map = Callable[[Floats], Floats]
MEANS = (M.BIAS, *PAIRED)
CLUSTERS = {**EQUAL, **UNEQUAL}


@contextmanager
def quantiles_computed_once() -> Iterator[None]:
    """Remember Student's quantiles, which depend on the sizes of clusters alone."""
    with patch("calibcli.measures.clustered.student_quantile", cache(student_quantile)):
        yield


def bent(slope: float, shift: float) -> Map:
    """Return a map that is linear in log odds."""
    return lambda p: expit(shift + slope * logit(p))


# The label probability of a row, given its score.
WORLDS: dict[str, Map] = {"calibrated": lambda score: score, "strong": bent(0.4, 0.3)}


def loss(name: MeasureName, score: Floats, label: Floats) -> Floats:
    """Return what a measure is the mean of."""
    if name is M.BIAS:
        return label - score
    if name is M.BRIER:
        return (label - score) ** 2
    return -label * np.log(score) - (1.0 - label) * np.log1p(-score)


@cache
def true_means(world: str) -> dict[MeasureName, float]:
    """Return the expected values for scores that follow Beta(2, 2), by quadrature."""
    score = beta(2, 2).ppf(FINE)
    p = WORLDS[world](score)
    ones, zeros = np.ones_like(score), np.zeros_like(score)
    return {
        name: float((p * loss(name, score, ones) + (1 - p) * loss(name, score, zeros)).mean())
        for name in MEANS
    }


@quantiles_computed_once()
def over_clusters(
    clusters: str, *, world: str, confidence: float, repetitions: int, correlation: float = 0.3
) -> Cell:
    """
    Simulate the intervals over clusters, and beside them what intervals over rows would do.

    Returns:
        Tallies such as "bias over clusters" and "bias over rows"; the second are no promise of ours.
    """
    sizes = CLUSTERS[clusters]
    rng = generator_of("clusters", clusters, world, confidence, correlation)
    key = np.repeat(np.arange(sizes.size), sizes)
    truths, cell = true_means(world), Cell(confidence)
    for _ in range(repetitions):
        score = rng.beta(2, 2, key.size)
        shared = rng.random(key.size) < math.sqrt(correlation)
        number = np.where(shared, rng.random(sizes.size)[key], rng.random(key.size))
        label = number < WORLDS[world](score)
        sums = ClusterSums()
        sums.add_rows(key, score, label)
        whole = sums.whole()
        for name, truth in truths.items():
            losses = loss(name, score, label.astype(float))
            estimate = Estimate(name, float(losses.mean()), None, None, (), key.size)
            interval = with_clusters(estimate, whole, confidence=confidence).interval
            cell.add_interval(f"{name.value}{OVER_CLUSTERS}", interval, truth=truth)
            half = _normal(confidence) * losses.std(ddof=1) / math.sqrt(key.size)
            ends = estimate.value - half, estimate.value + half
            cell.add(f"{name.value} over rows", lower=ends[0], upper=ends[1], truth=truth)
    return cell


def _normal(confidence: float) -> float:
    return {0.9: 1.6448536, 0.95: 1.9599640}[confidence]


def usual(u: Floats) -> Floats:
    """Return label probabilities all over the interval."""
    return 0.02 + 0.96 * u


def rare(u: Floats) -> Floats:
    """Return label probabilities of an event that is seldom."""
    return 0.01 + 0.1 * u**3


PAIRS: dict[str, tuple[Map, Map, Map]] = {
    "equally wrong": (usual, bent(1.0, 0.3), bent(1.0, -0.3)),
    "mild": (usual, bent(1.2, 0.0), bent(1.0, 0.2)),
    "strong": (usual, bent(2.0, 0.0), bent(1.0, 0.0)),
    "nearly the same": (usual, bent(1.02, 0.0), bent(1.0, 0.01)),
    "rare": (rare, bent(1.0, 0.5), bent(1.2, 0.0)),
}


def true_difference(name: MeasureName, p: Floats, first: Floats, second: Floats) -> float:
    """Return the expected difference of losses, by quadrature over label probabilities."""
    if name is M.BRIER:
        return float(np.mean((second - p) ** 2 - (first - p) ** 2))
    return float(np.mean(p * np.log(first / second) + (1 - p) * np.log((1 - first) / (1 - second))))


def paired(pair: str, rows: int, *, confidence: float, repetitions: int) -> Cell:
    """Simulate paired differences: rows drawn anew, two scores of each."""
    truth, *maps = PAIRS[pair]
    rng, cell = generator_of("paired", pair, rows, confidence), Cell(confidence)
    expected = {
        name: true_difference(name, truth(FINE), *(of(truth(FINE)) for of in maps)) for name in PAIRED
    }
    for _ in range(repetitions):
        p = truth(rng.random(rows))
        sums = PairedSums()
        sums.add(*(of(p) for of in maps), rng.random(rows) < p)
        for name in PAIRED:
            interval = sums.difference(name, confidence=confidence).interval
            assert interval is not None
            cell.add_interval(f"paired {name.value}", interval, truth=expected[name])
    return cell


def by_bonferroni(pair: str, rows: int, *, confidence: float, repetitions: int) -> Cell:
    """Simulate the difference of two binned ECEs at these very scores: labels drawn anew."""
    truth, *maps = PAIRS[pair]
    rng, cell = generator_of("bonferroni", pair, rows, confidence), Cell(confidence)
    p = np.sort(truth(rng.random(rows)))
    safer = 1.0 - (1.0 - confidence) / 2.0
    scores = [of(p) for of in maps]
    partitions, values = [], []
    for score in scores:
        table = ScoreTable.from_rows(score, np.zeros(rows, bool))
        partitions.append(bins_of(Binning.EQUAL_WIDTH, 15, table=table))
        values.append(binned_truth(table, p, partitions[-1])[0])
    for _ in range(repetitions):
        label = rng.random(rows) < p
        both = [
            binned_ece(ScoreTable.from_rows(score, label), bins=bins, confidence=safer)
            for score, bins in zip(scores, partitions, strict=True)
        ]
        interval = difference_of_intervals(*both, confidence=confidence).interval
        cell.add_interval("difference of ece", interval, truth=values[1] - values[0])
    return cell


@quantiles_computed_once()
def paired_over_clusters(clusters: str, pair: str, *, confidence: float, repetitions: int) -> Cell:
    """Simulate paired differences over clusters; labels of a cluster are as in `over_clusters`."""
    sizes, (truth, *maps) = CLUSTERS[clusters], PAIRS[pair]
    rng, cell = generator_of("paired clusters", clusters, pair, confidence), Cell(confidence)
    key = np.repeat(np.arange(sizes.size), sizes)
    expected = {
        name: true_difference(name, truth(FINE), *(of(truth(FINE)) for of in maps)) for name in PAIRED
    }
    for _ in range(repetitions):
        p = truth(rng.random(key.size))
        shared = rng.random(key.size) < math.sqrt(0.3)
        label = np.where(shared, rng.random(sizes.size)[key], rng.random(key.size)) < p
        sums, first, second = PairedSums(), ClusterSums(), ClusterSums()
        sums.add(*(of(p) for of in maps), label)
        for of, one in zip(maps, (first, second), strict=True):
            one.add_rows(key, of(p), label)
        for name in PAIRED:
            plain = sums.difference(name, confidence=confidence)
            found = clustered_difference(plain, first.whole(), second.whole(), confidence=confidence)
            cell.add_interval(f"paired {name.value}{OVER_CLUSTERS}", found.interval, truth=expected[name])
    return cell
