"""Made-up rows that tell conventions apart: on edges, at 0 and 1, tied and rare, few."""

import numpy as np

Columns = tuple[np.ndarray, np.ndarray]


def awkward_sets() -> dict[str, Columns]:
    """Return scores and labels 0 and 1, in an order that is not that of the scores."""
    rng = np.random.default_rng(4_711)
    return {
        "on edges": on_edges(rng),
        "at 0 and 1": at_the_ends(rng),
        "tied and rare": tied_and_rare(rng),
        "fifty rows": few(rng),
    }


def labels(rng: np.random.Generator, rate: np.ndarray) -> np.ndarray:
    """Draw labels."""
    return (rng.random(rate.size) < rate).astype(np.int64)


def on_edges(rng: np.random.Generator) -> Columns:
    """Edges of 10, 15, 49 and 50 bins: divided, spaced, added up, in single precision, one ulp off."""
    tenths, fifteenths = np.arange(11) / 10, np.arange(16) / 15
    beside = np.concatenate([np.nextafter(tenths, to) for to in (0.0, 1.0)])
    single = np.concatenate((tenths, fifteenths)).astype(np.float32).astype(np.float64)
    spaced = np.concatenate([np.linspace(0.0, 1.0, count) for count in (11, 16, 50, 51)])
    added = np.minimum(np.cumsum(np.full(10, 0.1)), 1.0)
    score = rng.permutation(np.tile(np.concatenate((tenths, fifteenths, beside, single, spaced, added)), 6))
    return score, labels(rng, 0.15 + 0.6 * score)


def at_the_ends(rng: np.random.Generator) -> Columns:
    """A third of the scores exactly 0 or 1, both labels among them, and some as near as doubles go."""
    score = rng.beta(0.3, 0.4, 900)
    score[::6], score[3::6] = 0.0, 1.0
    score[1:5] = [5e-324, 1e-300, 2.0**-53, 1.0 - 2.0**-53]
    return score, labels(rng, 0.9 * score + 0.05)


def tied_and_rare(rng: np.random.Generator) -> Columns:
    """Twelve scores, most of them below one in a hundred, and few events."""
    score = rng.choice(np.round(np.geomspace(0.001, 0.3, 12), 4), 2000, p=np.arange(12, 0, -1) / 78)
    return score, labels(rng, np.minimum(1.4 * score, 1.0))


def few(rng: np.random.Generator) -> Columns:
    """Fifty scores of which no two are equal."""
    score = rng.beta(1.2, 2.0, 50)
    return score, labels(rng, score**0.8)


def off_edges() -> Columns:
    """Different scores, none within 1e-4 of an edge of 10, 15 or 49 bins: no rule of edges matters."""
    rng = np.random.default_rng(12)
    score = rng.beta(1.1, 1.6, 600)
    edges = np.concatenate([np.arange(count + 1) / count for count in (10, 15, 49)])
    score = np.unique(score[np.abs(score[:, None] - edges).min(axis=1) > 1e-4])[::2][:300]
    score = rng.permutation(score)
    return score, labels(rng, 0.1 + 0.7 * score)
