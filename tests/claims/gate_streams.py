"""Gates that are asked again and again, beside tests for one look that are: on counts, for many streams.

A stream is rows of equally likely scores, looked at after every `step` of them. Counts have the shape
(streams, looks, scores) and hold all rows up to a look. The error of a world is exact: every |rate - score|
is the same number, hence so are its mean (l1) and its root mean square (l2).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from calibcli.names import Binning
from calibcli.stats.bounds.betting import stakes_for_any_time
from calibcli.stats.bounds.means import bounded_differences
from calibcli.stats.bounds.proportion import deviation_of_a_mean, hoeffding_deviation, mean_absolute_deviation
from calibcli.stats.bounds.resampling import range_tail
from calibcli.stats.gates.plan import Population, log_evidence, population_of
from calibcli.stats.numerics import chi_squared_tail, normal_quantile
from calibcli.stats.table.bins import ATOMS, Bins, equal_width_edges

Floats = np.ndarray
Flags = np.ndarray
DELTA = 0.05
LEVEL = math.log(1.0 / DELTA)


@dataclass(frozen=True, slots=True)
class World:
    """Rows to come, and what is asked of them.

    Args:
        population: Scores and label rates.

        error: The true error, l1 and l2.

        limit: The limit of the gate.
    """

    population: Population
    error: float
    limit: float

    @property
    def boundary(self) -> bool:
        """Whether the error is the limit itself, so that a pass says no more than is true, and no less."""
        return self.error == self.limit


def world(count: int, *, error: float, limit: float, alternating: bool = False) -> World:
    """Return equally likely scores (i - 1/2) / B, off by the error towards 1/2, or up and down in turn."""
    score = (np.arange(count) + 0.5) / count
    sign = np.where(np.arange(count) % 2 == 0, 1.0, -1.0) if alternating else np.where(score > 0.5, -1.0, 1.0)
    return world_of(score, error * sign, limit=limit)


def world_of(score: Floats, off: Floats, *, limit: float) -> World:
    """Return equally likely scores whose label rates are off by so much, all by the same size."""
    calibrated = population_of(score, np.ones(score.size), bins=ATOMS)
    rates = Population(score, calibrated.share, score + off, calibrated.starts, calibrated.places)
    return World(rates, float(np.abs(off).max()), limit)


WORLDS = {
    "calibrated, B = 10, limit .03": world(10, error=0.0, limit=0.03),
    "off by .04, B = 10, limit .02": world(10, error=0.04, limit=0.02, alternating=True),
    "error = limit = .05, B = 10": world(10, error=0.05, limit=0.05),
    "error = limit = .05, B = 1": world(1, error=0.05, limit=0.05),
    "error = limit = .05, B = 2": world(2, error=0.05, limit=0.05),
}


def binned_world(*, error: float, limit: float, one_sign: bool) -> World:
    """Return 120 equally likely scores, in 15 equal bins, judged by bins.

    The sign of the error is one in each bin, so that every bin's |mean of label - score| is the error. With
    one sign for all, scores end at 0.8, where rates still are probabilities.
    """
    score = (np.arange(120) + 0.5) / 120 * (0.8 if one_sign else 1.0)
    off = np.full(120, error) if one_sign else np.where(score <= 7 / 15, error, -error)
    calibrated = population_of(score, np.ones(120), bins=Bins(Binning.EQUAL_WIDTH, equal_width_edges(15)))
    return World(replace(calibrated, rate=score + off), error, limit)


BINNED = {
    "binned ECE, 15 bins, all too low": binned_world(error=0.05, limit=0.05, one_sign=True),
    "binned ECE, 15 bins, wrong towards 1/2": binned_world(error=0.05, limit=0.05, one_sign=False),
}


@dataclass(frozen=True, slots=True)
class Streams:
    """Counts of many streams at every look.

    Args:
        world: What they were drawn from.

        rows: Rows at each look, shape (looks,).

        count: Rows of each score, shape (streams, looks, scores).

        ones: How many of them have label 1.
    """

    world: World
    rows: Floats
    count: Floats
    ones: Floats

    @property
    def score(self) -> Floats:
        """The scores."""
        return self.world.population.score

    @property
    def residual(self) -> Floats:
        """Sums of label - score, shape (streams, looks, scores)."""
        return self.ones - self.count * self.score

    @property
    def value(self) -> Floats:
        """The binned ECE at each look."""
        return np.abs(self.residual).sum(axis=-1) / self.rows


def drawn(a_world: World, *, step: int, looks: int, streams: int, generator: np.random.Generator) -> Streams:
    """Draw streams."""
    count, ones = a_world.population.drawn(step, times=streams * looks, generator=generator)
    shape = (streams, looks, -1)
    so_far = (one.reshape(shape).cumsum(axis=1).astype(float) for one in (count, ones))
    return Streams(a_world, step * np.arange(1.0, looks + 1.0), *so_far)


def e_verdict(streams: Streams, *, above: bool, known_variance: bool) -> Flags:
    """Return where the bets of `verify --state` reach 1 / delta; with an artifact its variance is known."""
    population = streams.world.population
    stakes = stakes_for_any_time(delta=DELTA, variance=population.variance if known_variance else 0.25)
    counts = (streams.count.astype(np.int64), streams.ones.astype(np.int64))
    found = log_evidence(
        *counts, population=population, limit=streams.world.limit, stakes=stakes, above=above
    )
    return found >= LEVEL


def e_calibrated(streams: Streams) -> Flags:
    """Return where the odds of Beta-distributed rates against the scores themselves reach 1 / alpha."""
    v, n, x = streams.score, streams.count, streams.ones
    a, b = 30.0 * v, 30.0 * (1.0 - v)
    odds = betaln(a + x, b + n - x) - betaln(a, b) - xlogy(x, v) - xlog1py(n - x, -v)
    return odds.sum(axis=-1) >= LEVEL


def hosmer_lemeshow(streams: Streams) -> Flags:
    """Return where Hosmer and Lemeshow's p-value is below 5 %, one degree of freedom a score."""
    variance = streams.count * streams.score * (1.0 - streams.score)
    size = (streams.residual**2 / np.maximum(variance, 1e-12)).sum(axis=-1)
    return size >= critical(lambda h: chi_squared_tail(h, streams.score.size), 1e-9, 1e3)


def kuiper(streams: Streams) -> Flags:
    """Return where Kuiper's p-value is below 5 %."""
    path = streams.residual.cumsum(axis=-1)
    span = np.maximum(path.max(axis=-1), 0.0) - np.minimum(path.min(axis=-1), 0.0)
    scale = np.sqrt((streams.count * streams.score * (1.0 - streams.score)).sum(axis=-1))
    return span / scale >= critical(range_tail, 0.1, 10.0)


def spiegelhalter(streams: Streams) -> Flags:
    """Return where Spiegelhalter's two-sided p-value is below 5 %; never where every score is 1/2."""
    tilt = 1.0 - 2.0 * streams.score
    variance = (streams.count * tilt**2 * streams.score * (1.0 - streams.score)).sum(axis=-1)
    z = np.abs((streams.residual * tilt).sum(axis=-1)) / np.sqrt(np.maximum(variance, 1e-300))
    return (z >= normal_quantile(1.0 - DELTA / 2.0)) & (variance > 0.0)


def critical(tail: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling tail is 5 %."""
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if tail(middle) > DELTA else (low, middle)
    return high


def score_l2(streams: Streams) -> tuple[Floats, Floats]:
    """Return the one-sided 95 % bounds of l2 that invert the normal law of T, as `measure` prints them."""
    n, v, total = streams.count, streams.score, streams.rows
    two = n >= 2
    n = np.where(two, n, 2.0)
    x, residual = streams.ones, streams.residual
    square = x * (1.0 - v) ** 2 + (streams.count - x) * v**2
    t = np.where(two, (residual**2 - square) / (n - 1.0), 0.0).sum(axis=-1) / total
    share, gap = np.where(two, n, 0.0) / total[:, None], np.where(two, residual / n, 0.0)
    flat = v * (1.0 - v)
    noise = np.maximum((square - n * gap**2) / (n - 1.0), flat)
    energy = (share * gap**2).sum(axis=-1)
    weighted = (share * gap**2 * noise).sum(axis=-1) / np.where(energy > 0.0, energy, 1.0)
    c = 4.0 * np.where(energy > 0.0, weighted, (share * noise).sum(axis=-1)) / total
    a = 2.0 / total**2 * np.where(two, n / (n - 1.0) * flat**2, 0.0).sum(axis=-1)
    d = np.maximum((share * gap**4).sum(axis=-1) - energy**2, 0.0) / total
    z = normal_quantile(1.0 - DELTA)
    middle = 2.0 * t + z * z * c
    root = np.sqrt(np.maximum(middle**2 - 4.0 * (t * t - z * z * (a + d)), 0.0))
    value = np.maximum(t, 0.0)
    lower = np.minimum(np.maximum(0.0, (middle - root) / 2.0), value)
    upper = np.minimum(1.0, np.maximum(value, (middle + root) / 2.0))
    return np.sqrt(lower), np.sqrt(upper)


@cache
def deviations(first: int, last: int, looks: int) -> tuple[float, ...]:
    """Return d* at every look."""
    return tuple(deviation_of_a_mean(int(n), DELTA) for n in np.linspace(first, last, looks))


def d_star(streams: Streams) -> Floats:
    """Return the fixed-n upper bound of the ECE at each look: plug-in and d*."""
    rows = streams.rows
    return streams.value + np.array(deviations(int(rows[0]), int(rows[-1]), rows.size))


def fixed_lower(streams: Streams) -> Floats:
    """Return the fixed-n lower bound of the ECE: plug-in less mean noise and Hoeffding's margin."""
    flat = np.maximum(streams.count, 1.0).ravel()
    value = np.broadcast_to(streams.score, streams.count.shape).ravel()
    pairs, place = np.unique(np.stack((flat, value)), axis=1, return_inverse=True)
    each = mean_absolute_deviation(*pairs)[place.reshape(-1)].reshape(streams.count.shape)
    noise = (each * streams.count).sum(axis=-1) / streams.rows
    return streams.value - noise - np.array([hoeffding_deviation(n, DELTA) for n in streams.rows])


def by_theorem(streams: Streams) -> Floats:
    """Return the upper bound of Theorem 12.4."""
    return streams.value + np.array([bounded_differences(n, DELTA) for n in streams.rows])


PROCEDURES: dict[str, Callable[[Streams], Flags]] = {
    "Hosmer-Lemeshow p < .05": hosmer_lemeshow,
    "Kuiper p < .05": kuiper,
    "Spiegelhalter p < .05": spiegelhalter,
    "score interval, l2 above 0": lambda streams: score_l2(streams)[0] > 0.0,
    "**exact calibration, e-value**": e_calibrated,
    "**gate PASS, artifact**": lambda streams: e_verdict(streams, above=False, known_variance=True),
    "**gate PASS, no artifact**": lambda streams: e_verdict(streams, above=False, known_variance=False),
    "d* PASS": lambda streams: d_star(streams) <= streams.world.limit,
    "Theorem 12.4 PASS": lambda streams: by_theorem(streams) <= streams.world.limit,
    "score interval PASS": lambda streams: score_l2(streams)[1] <= streams.world.limit,
    "**gate FAIL, artifact**": lambda streams: e_verdict(streams, above=True, known_variance=True),
    "**gate FAIL, no artifact**": lambda streams: e_verdict(streams, above=True, known_variance=False),
    "fixed-n FAIL": lambda streams: fixed_lower(streams) > streams.world.limit,
    "score interval FAIL": lambda streams: score_l2(streams)[0] > streams.world.limit,
}
GATE = tuple(name for name in PROCEDURES if name.startswith("**gate"))


def ever(flags: Flags) -> float:
    """Return the share of streams in which a procedure ever fired."""
    return float(flags.any(axis=-1).mean())


def median_first(flags: Flags, rows: Floats) -> float:
    """Return the median over streams of the rows at which it first fired; infinite where most never did."""
    first = np.where(flags.any(axis=-1), rows[flags.argmax(axis=-1)], np.inf)
    return float(np.quantile(first, 0.5, method="inverted_cdf"))


def ever_wrong(
    a_world: World, *, step: int, looks: int, streams: int, generator: np.random.Generator
) -> list[int]:
    """Return in how many streams the gate without an artifact ever passed, and ever failed."""
    counts = [0, 0]
    for start in range(0, streams, 50):
        some = min(50, streams - start)
        part = drawn(a_world, step=step, looks=looks, streams=some, generator=generator)
        for place, above in enumerate((False, True)):
            counts[place] += int(e_verdict(part, above=above, known_variance=False).any(axis=-1).sum())
    return counts
