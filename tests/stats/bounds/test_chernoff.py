"""Chernoff bounds of the sum of squared errors, against the probability of every count there can be.

For a handful of labels the tables that a limit passes, or fails, can be written down, and so can the
probability of drawing one of them at any rates. Over a grid of all rates on the wrong side of the limit none
may exceed delta.
"""

import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from calibcli.stats.bounds import chernoff
from calibcli.stats.bounds.chernoff import Counts, least_energy, most_energy

Floats = np.ndarray
POINTS = {1: 300, 2: 70, 3: 24, 4: 10}
LABELS = {1: 60, 2: 25, 3: 9, 4: 5}


def g_of(rows: int, announced: float) -> Floats:
    """G for every count of positives, from its definition."""
    x = np.arange(rows + 1.0)
    noise = x * (1.0 - announced) ** 2 + (rows - x) * announced**2
    return ((x - rows * announced) ** 2 - noise) / (rows - 1.0)


def decided(
    rows: tuple[int, ...], announced: tuple[float, ...], limit: float, *, delta: float, above: bool
) -> Floats:
    """Which counts are refuted as at least (or, `above`, at most) a limit, shape (n_1 + 1, n_2 + 1, ...)."""
    total = np.zeros(())
    for n, v in zip(rows, announced, strict=True):
        total = np.add.outer(total, g_of(n, v))
    order = np.argsort(total, axis=None, kind="stable")

    def is_decided(place: int) -> bool:
        positive = np.array(np.unravel_index(order[place], total.shape), dtype=float)
        counts = Counts(np.array(rows, dtype=float), positive, np.array(announced))
        if above:
            return least_energy(counts, delta=delta) > limit
        return most_energy(counts, delta=delta) <= limit

    low, high = 0, order.size
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_decided(middle) == above else (middle + 1, high)
    found = np.zeros(order.size)
    found[order[low:] if above else order[:low]] = 1.0
    return found.reshape(total.shape)


def rates_of(rows: int, announced: float, limit: float, points: int) -> Floats:
    """Rates between 0 and 1, many of them where one bin alone has an energy up to the limit."""
    near = np.array([-1.0, 1.0])[:, None] * math.sqrt(limit / rows) * np.linspace(0.0, 1.0, points)
    return np.unique(np.concatenate((np.linspace(0, 1, points), np.clip(announced + near, 0, 1).ravel())))


def most_often(
    rows: tuple[int, ...],
    announced: tuple[float, ...],
    limit: float,
    *,
    delta: float,
    above: bool,
    points: int,
) -> float:
    """The largest probability of a wrong decision over a grid of all rates."""
    chance = decided(rows, announced, limit, delta=delta, above=above)
    energy = np.zeros(())
    for n, v in zip(rows, announced, strict=True):
        rate = rates_of(n, v, limit, points)
        chance = np.tensordot(chance, binom.pmf(np.arange(n + 1), n, rate[:, None]), axes=([0], [1]))
        energy = np.add.outer(energy, n * (rate - v) ** 2)
    wrong = energy <= limit * (1 + 1e-12) if above else energy >= limit * (1 - 1e-12)
    return float(chance[wrong].max(initial=0.0))


def check(seed: int) -> None:
    """Draw a design, its scores often next to 0 or 1, and hold both verdicts against every rate."""
    rng = np.random.default_rng(seed)
    values = 1 + seed % 4
    rows = tuple(int(n) for n in rng.integers(2, LABELS[values] + 1, values))
    rare = rng.random(values) < 0.4
    score = np.where(rare, 10.0 ** -rng.uniform(1, 9, values), rng.random(values))
    announced = tuple(np.where(rng.random(values) < 0.2, 1.0 - score, score).tolist())
    limit, delta = sum(rows) * float(rng.uniform(0.01, 0.5)), float(rng.choice([0.05, 0.2, 0.01]))
    for above in (False, True):
        found = most_often(rows, announced, limit, delta=delta, above=above, points=POINTS[values])
        assert found <= delta, (rows, announced, limit, delta, above)


@pytest.mark.parametrize(
    "seeds",
    [
        *(range(seed, seed + 1) for seed in range(4)),
        *(pytest.param(range(seed, seed + 20), marks=pytest.mark.slow) for seed in range(8, 168, 20)),
    ],
)
def test_no_rates_are_judged_wrongly_more_often_than_delta(seeds: range) -> None:
    """All counts of one to four values, all rates on a grid: pass and fail each keep to their probability."""
    for seed in seeds:
        check(seed)


def drawn_anew(labels: int, announced: tuple[float, float], limit: float, *, above: bool) -> float:
    """The largest probability of a wrong decision where rows are drawn from a population of two scores."""
    delta, points = 0.05, 40
    rates = [rates_of(labels // 2, v, limit * labels, points) for v in announced]

    @cache
    def chance_at(first: int) -> Floats:
        rows = (first, labels - first)
        chance = decided(rows, announced, limit * labels, delta=delta, above=above)
        for n, rate in zip(rows, rates, strict=True):
            chance = np.tensordot(chance, binom.pmf(np.arange(n + 1), n, rate[:, None]), axes=([0], [1]))
        return chance

    worst = 0.0
    square = [(rate - v) ** 2 for rate, v in zip(rates, announced, strict=True)]
    for share in (0.3, 0.4, 0.5):
        found = np.zeros((rates[0].size, rates[1].size))
        for first in range(2, labels - 1):
            found += binom.pmf(first, labels, share) * chance_at(first)
        energy = np.add.outer(share * square[0], (1.0 - share) * square[1])
        wrong = energy <= limit if above else energy >= limit
        worst = max(worst, float(found[wrong].max()))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("announced", [(0.02, 0.5), (0.3, 0.7), (1e-9, 0.9), (0.05, 0.1)])
def test_verdicts_hold_where_rows_are_drawn_anew(announced: tuple[float, float]) -> None:
    """The limit is that of the population, and the rows of each score are drawn: verdicts keep to delta."""
    for limit in (0.05, 0.15):
        assert drawn_anew(40, announced, limit, above=False) <= 0.05
        assert drawn_anew(40, announced, limit, above=True) <= 0.05


@pytest.mark.parametrize(("announced", "limit", "rows"), [(0.02, 0.01, 4000), (0.1, 0.02, 4000)])
def test_rare_scores_take_the_rows_of_others(announced: float, limit: float, rows: int) -> None:
    """Where the score is small the bound falls with v (1 - v): nine in ten calibrated tables are shown."""
    x = np.arange(rows + 1)
    shown = decided((rows,), (announced,), limit**2 * rows, delta=0.05, above=False)
    assert float(binom.pmf(x, rows, announced) @ shown) >= 0.9
    for rate in (announced - limit, announced + limit):
        assert float(binom.pmf(x, rows, rate) @ shown) <= 0.05


def test_bound_grows_with_the_statistic_and_knows_rows_alone() -> None:
    """More gap is more error; a row alone may be as wrong as its score allows; a bin of unlike labels too."""
    rows, announced = np.array([60.0, 40.0]), np.array([0.1, 0.6])
    tables = [Counts(rows, np.array([6.0 + k, 24.0]), announced) for k in range(0, 24, 3)]
    for bound in (most_energy, least_energy):
        found = [bound(one, delta=0.05) for one in tables]
        assert found == sorted(found)
    alone = Counts(rows, tables[2].positive, announced, alone=np.array([0.2, 0.7]))
    least, most = (most_energy(one, delta=0.05) for one in (tables[2], alone))
    assert least + 0.3 < most
    unlike = Counts(rows, tables[-1].positive, announced, alike=False)
    assert 0.0 < least_energy(unlike, delta=0.05) <= 1.05 * least_energy(tables[-1], delta=0.05)


def test_counts_that_are_left_out_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bins of more than 600 rows are bounded by the counts that matter, as by all of them."""
    counts = Counts(np.array([900.0, 1000.0]), np.array([360.0, 60.0]), np.array([0.3, 0.05]))
    found = [bound(counts, delta=0.05) for bound in (least_energy, most_energy)]
    with monkeypatch.context() as patch:
        patch.setattr(chernoff, "_MOST_COUNTS", 1_000)
        chernoff._bin_of.cache_clear()
        every = [bound(counts, delta=0.05) for bound in (least_energy, most_energy)]
    chernoff._bin_of.cache_clear()
    assert found == pytest.approx(every, rel=1e-3)


def test_certain_scores_are_bounded_by_the_rule_of_three() -> None:
    """Scores of 0 and 1 that were always right: their rates lie within ln(1/delta) / n of them."""
    rows = np.array([300.0, 500.0])
    counts = Counts(rows, np.array([0.0, 500.0]), np.array([0.0, 1.0]))
    assert least_energy(counts, delta=0.05) == 0.0
    rule_of_three = float((rows * (math.log(20.0) / rows) ** 2).max())
    assert 0.7 * rule_of_three <= most_energy(counts, delta=0.05) <= 4.0 * rule_of_three


@pytest.mark.parametrize("off", [8e-14, 1e-12, 2.0**-52])
def test_scores_next_to_1_are_bounded_as_those_next_to_0(off: float) -> None:
    """Doubles are few next to 1: where none lies between two rates, none is tried."""
    rows, positive, announced = np.array([300.0, 2_000.0]), np.array([150.0, 0.0]), np.array([0.4, 1.0 - off])
    one, mirrored = Counts(rows, positive, announced), Counts(rows, rows - positive, 1.0 - announced)
    assert least_energy(one, delta=0.05) > 0.9 * 2_000.0
    for bound in (least_energy, most_energy):
        assert bound(one, delta=0.05) == pytest.approx(bound(mirrored, delta=0.05), rel=1e-3)


def test_no_bound_is_beyond_what_can_be() -> None:
    """However many labels are all wrong, or few, their error is at most the largest there is."""
    n = np.array([1e12])
    assert least_energy(Counts(n, n, np.zeros(1)), delta=0.025) <= 1e12
    two = np.array([2.0])
    assert most_energy(Counts(two, two, np.array([0.5])), delta=0.05) == 0.5


def test_between_points_stand_cubics() -> None:
    """What rises or falls as a cubic does is met at every point."""
    x = np.linspace(0.0, 1.0, 9)
    for sign in (1.0, -1.0):
        points, values = chernoff._between(x, sign * x**3, 4)
        assert points.size == 33
        assert values == pytest.approx(sign * points**3, abs=1e-12)
