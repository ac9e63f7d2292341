"""A leaderboard seldom calls any of several equally good scores better or worse, whichever looks best."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

from calibcli.commands.leaderboard import Entries, rankings
from calibcli.commands.slices import level_of
from calibcli.commands.two_tables import Seen, difference_over_clusters
from calibcli.names import ClassMeasure, ComparisonName, MeasureName
from calibcli.options.measuring import CompareOptions
from calibcli.stats.measures.clustered import ClusterSums
from calibcli.stats.measures.differences import PAIRED, PairedSums
from calibcli.stats.measures.matched import Answers
from calibcli.stats.table import ScoreTable
from claims.simulation import generator_of, most_misses, short_and_full

SCORES = 5

Floats = np.ndarray
World = Callable[[np.random.Generator], tuple[list[Floats], Floats]]


def exchangeable(rows: int, shape: tuple[float, float], *, steps: int | None = None) -> World:
    """Return scores that differ from the truth by noise of one size, in steps where they are to be tied."""

    def drawn(rng: np.random.Generator) -> tuple[list[Floats], Floats]:
        truth = rng.beta(*shape, rows)
        noisy = [expit(logit(truth) + rng.normal(0.0, 0.5, rows)) for _ in range(SCORES)]
        least = 1e-4 if steps is None else 0.5 / steps
        found = [one if steps is None else np.round(one * steps) / steps for one in noisy]
        return [one.clip(least, 1.0 - least) for one in found], rng.random(rows) < truth

    return drawn


def constants(rows: int, rate: float, off: float) -> World:
    """Return forecasts that are too low and too high by as much: rows without events favour the low ones."""

    def drawn(rng: np.random.Generator) -> tuple[list[Floats], Floats]:
        both = (rate + off, rate - off)
        return [np.full(rows, both[place % 2]) for place in range(SCORES)], rng.random(rows) < rate

    return drawn


WORLDS: dict[str, World] = {
    "usual, 100 rows": exchangeable(100, (1.0, 1.0)),
    "rare events and ties, 30 rows": exchangeable(30, (0.3, 6.0), steps=20),
    "rare events, 100 rows": exchangeable(100, (0.2, 30.0)),
    "ties, 100 rows": exchangeable(100, (1.0, 3.0), steps=10),
    "rare events and ties, 500 rows": exchangeable(500, (1.0, 20.0), steps=20),
    "constants of 2 %, 100 rows": constants(100, 0.02, 0.01),
    "constants of 2 %, 1,000 rows": constants(1_000, 0.02, 0.001),
}


def entries_of(scores: list[Floats], label: Floats) -> Entries:
    """Return score columns as a leaderboard takes them."""
    tables = [ScoreTable.from_rows(one, label) for one in scores]
    seen = [Seen(f"s{k}", f"s{k}", table) for k, table in enumerate(tables)]

    def paired(one: int, other: int) -> PairedSums:
        sums = PairedSums()
        sums.add(scores[one], scores[other], label)
        return sums

    return Entries(tuple(seen), paired)


def wrong(world: str, reference: int | None, repetitions: int, *, groups: int = 1) -> int:
    """Count how often any score is called better or worse in any of some groups of rows.

    Brier scores of constants are equal.
    """
    rng = generator_of("leaderboard", world, reference, *(() if groups == 1 else (groups,)))
    measures = PAIRED[:1] if world.startswith("constants") else PAIRED
    found = 0
    for _ in range(repetitions):
        name = None if reference is None else f"s{reference}"
        measure = measures[int(rng.integers(len(measures)))]
        options = CompareOptions((measure,), reference=name, confidence=level_of(0.95, groups))
        boards = [rankings(entries_of(*WORLDS[world](rng)), options, reference) for _ in range(groups)]
        found += any(
            one.contrast is not None and one.contrast.verdict is not ComparisonName.NOT_TOLD_APART
            for (ranking,) in boards
            for one in ranking.standings
        )
    return found


@short_and_full("world reference times", [("ties, 100 rows", None, 10)], product(WORLDS, (None, 0), (60,)))
def test_any_score_is_wrongly_told_apart_in_at_most_5_percent(
    world: str, reference: int | None, times: int
) -> None:
    """Against the best of five equally good scores, and against one that was named before."""
    assert wrong(world, reference, times) <= most_misses(times, 0.05)


@short_and_full("world reference times", [("ties, 100 rows", None, 5)], product(WORLDS, (None, 0), (40,)))
def test_in_any_of_four_groups_it_is_as_seldom(world: str, reference: int | None, times: int) -> None:
    """Each group at the level at which those of all hold at once."""
    assert wrong(world, reference, times, groups=4) <= most_misses(times, 0.05)


# Clusters, rows of each, how far rows of a cluster share the errors of the scores and their labels.
CLUSTERED = {
    "25 clusters of 8": (25, 8, 0.9),
    "40 clusters of 1 to 20": (40, 0, 0.9),
    "60 clusters of 3, hardly alike": (60, 3, 0.1),
}


def told_apart_over_clusters(world: str, repetitions: int) -> int:
    """Count the tables in which any of five equally good scores is called better or worse."""
    count, each, alike = CLUSTERED[world]
    rng, found = generator_of("leaderboard", "clusters", world), 0
    for _ in range(repetitions):
        sizes = np.full(count, each) if each else rng.integers(1, 21, count)
        cluster = np.repeat(np.arange(count), sizes)

        def shared(rng: np.random.Generator = rng, cluster: Floats = cluster) -> Floats:
            both = rng.normal(size=count)[cluster], rng.normal(size=cluster.size)
            return np.sqrt(alike) * both[0] + np.sqrt(1.0 - alike) * both[1]

        truth = expit(1.2 * shared())
        # Labels of a cluster come together, too.
        label = norm.cdf(shared()) < truth
        scores = [expit(logit(truth) + 0.5 * shared()) for _ in range(SCORES)]
        plain, clusters = entries_of(scores, label), []
        for one in scores:
            sums = ClusterSums()
            sums.add_rows(cluster.astype(np.int64), one, label)
            clusters.append(sums.whole())
        entries = replace(plain, clusters=tuple(clusters))
        (ranking,) = rankings(entries, CompareOptions((PAIRED[int(rng.integers(2))],)), None)
        found += any(
            one.contrast is not None and one.contrast.verdict is not ComparisonName.NOT_TOLD_APART
            for one in ranking.standings
        )
    return found


@short_and_full("world times", [("25 clusters of 8", 10)], product(CLUSTERED, (400,)))
def test_scores_over_clusters_are_wrongly_told_apart_in_at_most_5_percent(world: str, times: int) -> None:
    """Whichever of five looks best."""
    assert told_apart_over_clusters(world, times) <= most_misses(times, 0.05)


# Questions, how far right answers have the higher scores, how many are right, how alike two models are.
MODELS = {
    "usual": (100, 0.8, 0.5, 0.0),
    "nearly all in order": (100, 4.5, 0.5, 0.0),
    "few right": (100, 3.0, 0.05, 0.0),
    "few wrong, and mostly the same": (60, 0.8, 0.9, 0.8),
}
OF_MODELS = (ClassMeasure.ACCURACY, MeasureName.AUROC, MeasureName.AURC)


def told_apart(world: str, repetitions: int) -> Counter[str]:
    """Count by measure how often one of two models that are equally good is called better or worse."""
    rows, apart, share, alike = MODELS[world]
    rng, said = generator_of("leaderboard", "models", world), Counter[str]()
    for _ in range(repetitions):
        common, shift = rng.random(rows) < share, rng.normal(size=rows)
        models = []
        for _ in range(2):
            label = np.where(rng.random(rows) < alike, common, rng.random(rows) < share)
            noise = np.sqrt(alike) * shift + np.sqrt(1.0 - alike) * rng.normal(size=rows)
            models.append(
                Answers.of(np.arange(rows, dtype=np.uint64), expit(apart * label + noise - 1.0), label)
            )
        seen = tuple(Seen(str(k), str(k), one.table) for k, one in enumerate(models))
        entries = Entries(seen, lambda one, other, models=models: models[one].against(models[other]))
        for ranking in rankings(entries, CompareOptions(OF_MODELS), None):
            contrast = ranking.standings[1].contrast
            assert contrast is not None
            said[ranking.name.value] += contrast.verdict is not ComparisonName.NOT_TOLD_APART
    return said


@short_and_full("world times", [("few wrong, and mostly the same", 10)], product(MODELS, (400,)))
def test_equally_good_models_are_told_apart_in_at_most_5_percent(world: str, times: int) -> None:
    """By accuracy, AUROC and AURC, each by itself."""
    assert max(told_apart(world, times).values()) <= most_misses(times, 0.05)


@pytest.mark.slow
def test_skill_intervals_cover_together() -> None:
    """Of two scores and a climatology whose losses are known; all four intervals of a table at once."""
    rng = generator_of("leaderboard", "skill")
    missed = 0
    for _ in range(200):
        truth = rng.beta(0.5, 2.0, 200)
        label = rng.random(200) < truth
        scores = [
            np.full(200, 0.2),
            truth.clip(1e-3, 1 - 1e-3),
            expit(1.5 * logit(truth)).clip(1e-3, 1 - 1e-3),
        ]
        options = CompareOptions((PAIRED[0],), reference="s0")
        (ranking,) = rankings(entries_of(scores, label), options, 0)
        exact = true_skills()
        for one in ranking.standings:
            if one.skill is not None and one.skill.interval is not None:
                low, high = one.skill.interval.ends
                if not low <= exact[one.name] <= high:
                    missed += 1
                    break
    assert missed <= most_misses(200, 0.05)


def true_skills() -> dict[str, float]:
    """Return the Brier skill of the two scores in the population, by quadrature over the law of the truth."""
    from scipy.stats import beta

    truth = beta.ppf((np.arange(200_000) + 0.5) / 200_000, 0.5, 2.0)

    def loss(score: Floats) -> float:
        return float((truth * (1 - score) ** 2 + (1 - truth) * score**2).mean())

    whole = loss(np.full(truth.size, 0.2))
    sharper = expit(1.5 * logit(truth.clip(1e-300, 1 - 1e-16))).clip(1e-3, 1 - 1e-3)
    return {"s1": 1 - loss(truth.clip(1e-3, 1 - 1e-3)) / whole, "s2": 1 - loss(sharper) / whole}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "rate", "shared"),
    [
        ((10,) * 20, 0.02, 1.0),
        ((30,) * 10 + (5,) * 20, 0.2, 1.0),
        ((13,) * 60, 0.3, 0.5),
        ((10,) * 40, 0.5, 1.0),
        ((10,) * 100, 0.3, 1.0),
    ],
)
def test_models_alike_are_seldom_told_apart_by_accuracy_over_clusters(
    sizes: tuple[int, ...], rate: float, shared: float
) -> None:
    """Where the questions of a passage go wrong together, which over rows misses in up to 70 %."""
    rng, wrong = generator_of("accuracy over clusters", sizes, rate, shared), 0
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    ids, score = np.arange(cluster.size, dtype=np.uint64), np.full(cluster.size, 0.5)
    odds = [rate / 2, 1 - rate, rate / 2]
    for _ in range(600):
        own = rng.choice([-1, 0, 1], cluster.size, p=odds)
        whole = rng.choice([-1, 0, 1], len(sizes), p=odds)[cluster]
        apart = np.where(rng.random(cluster.size) < shared, whole, own)
        alike = rng.random(cluster.size) < 0.5
        one, two = (
            Answers(ids, score, np.where(apart == 0, alike, way), cluster=cluster)
            for way in (apart < 0, apart > 0)
        )
        found = one.against(two).difference(ClassMeasure.ACCURACY, confidence=0.95)
        sides = one.clusters_beside(two, ClassMeasure.ACCURACY)
        told = difference_over_clusters(found, *sides, confidence=0.95)
        wrong += told.verdict is not ComparisonName.NOT_TOLD_APART
    assert wrong <= most_misses(600, 0.05)
