"""How often the interval of the k largest probabilities misses, at these scores with labels drawn anew."""

from collections import Counter
from itertools import product

import numpy as np

from calibcli.names import Binning
from calibcli.stats.measures.classes.binned import top_errors
from calibcli.stats.table import Weighing
from calibcli.stats.table.bins import Bins, bin_index, equal_width_edges
from calibcli.stats.table.classes import TopCells
from claims.simulation import generator_of, most_misses, short_and_full
from class_rows import labels_of, softmax

EDGES = equal_width_edges(15)
FIFTEEN = Bins(Binning.EQUAL_WIDTH, EDGES)
RANKS = 3
WORLDS = ("calibrated", "too sure", "a little too sure", "one class rules", "noise", "swapped", "rare errors")


def world(name: str, rows: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and the chances that labels have."""
    rng = generator_of("top", name, rows, classes)
    logits = 2.0 * rng.standard_normal((rows, classes))
    if name == "one class rules":
        logits[:, 0] += 6.0
    probability = softmax(logits)
    match name:
        case "too sure" | "one class rules":
            return probability, softmax(logits / 2.0)
        case "a little too sure":
            return probability, softmax(logits / 1.2)
        case "noise":
            return probability, softmax(logits + 0.5 * rng.standard_normal(logits.shape))
        case "swapped":
            # The second class is the third and the third the second, which the confidence does not see.
            chance = np.sort(probability, axis=1)[:, ::-1]
            return chance, chance[:, [0, 2, 1, *range(3, classes)]]
        case "rare errors":
            rest = rng.beta(1, 30, rows)[:, None] * rng.dirichlet(np.ones(classes - 1), rows)
            both = [np.hstack([1.0 - few.sum(axis=1, keepdims=True), few]) for few in (rest, rest / 3.0)]
            return both[1], both[0]
        case _:
            return probability, probability


def true_error(
    probability: np.ndarray, chance: np.ndarray, k: int, weight: np.ndarray | None = None
) -> float:
    """Return the error at these scores and weights, over cells of two rows or more."""
    times = np.ones(len(probability)) if weight is None else weight
    order = np.argsort(-probability, axis=1, kind="stable")[:, :k]
    score, rate = (np.take_along_axis(one, order, axis=1) for one in (probability, chance))
    cell = np.stack([bin_index(EDGES, score[:, rank]) for rank in range(k)])
    _, where = np.unique(cell, axis=1, return_inverse=True)
    rows, all_of = np.bincount(where.reshape(-1)), np.bincount(where.reshape(-1), times)
    gap = np.stack([np.bincount(where.reshape(-1), one * times) for one in (rate - score).T])
    return float(np.sqrt(((gap**2).sum(axis=0) / all_of)[rows > 1].sum() / times.sum()))


def misses(name: str, rows: int, classes: int, *, times: int, spread: float = 0.0) -> Counter[int]:
    """Return by k how many intervals at 95 % do not hold the error; `spread` is that of log weights."""
    probability, chance = world(name, rows, classes)
    weight = np.exp(spread * generator_of("top", "weights").standard_normal(rows)) if spread else None
    truth = {k: true_error(probability, chance, k, weight) for k in range(1, RANKS + 1)}
    rng, found = generator_of("top", "labels", name, rows, classes), Counter[int]()
    for _ in range(times):
        cells = TopCells(RANKS, FIFTEEN)
        cells.add_rows(probability, labels_of(chance, rng), Weighing(weight=weight))
        for one in top_errors(cells, confidence=0.95):
            if one.interval is not None:
                lower, upper = one.interval.ends
                found[one.k] += not lower - 1e-12 <= truth[one.k] <= upper + 1e-12
    return found


@short_and_full(
    "name classes rows times",
    product(WORLDS, (5,), (200,), (20,)),
    product(WORLDS, (3, 10, 100), (200, 1000, 5000), (400,)),
)
def test_intervals_of_the_largest_probabilities_hold(name: str, classes: int, rows: int, times: int) -> None:
    """In most cells there are few rows where there are 200 of five classes."""
    assert max(misses(name, rows, classes, times=times).values()) <= most_misses(times, 0.05)


@short_and_full(
    "name classes rows spread times",
    product(WORLDS, (5,), (200,), (1.0,), (20,)),
    product(WORLDS, (3, 30), (200, 2000), (0.5, 2.0), (200,)),
)
def test_intervals_under_importance_weights_hold(
    name: str, classes: int, rows: int, spread: float, times: int
) -> None:
    """Weights a few times, and hundreds of times, as large as others."""
    found = misses(name, rows, classes, times=times, spread=spread)
    assert max(found.values(), default=0) <= most_misses(times, 0.05)
