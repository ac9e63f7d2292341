"""Columns that have not shifted are called shifted no more often than promised."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chi2

import calibcli
from calibcli.stats.measures.drift import Chance, _unit, contributions, shift_of
from calibcli.stats.table.levels import Mixed, RunningValues
from claims.simulation import generator_of, most_misses

pytestmark = pytest.mark.slow

Draw = Callable[[np.random.Generator, int], np.ndarray]
WORLDS: dict[str, Draw] = {
    "spread": lambda rng, rows: rng.beta(0.7, 4.0, rows),
    "ties": lambda rng, rows: np.round(rng.beta(0.7, 4.0, rows), 2),
    "gaps": lambda rng, rows: np.where(rng.random(rows) < 0.03, np.nan, rng.random(rows)),
    "grades": lambda rng, rows: rng.choice(7, rows, p=[0.02, 0.1, 0.3, 0.3, 0.2, 0.07, 0.01]).astype(float),
    "rare grades": lambda rng, rows: rng.choice(20, rows, p=[0.001] * 10 + [0.099] * 10).astype(float),
}
# Old rows, new rows, repetitions: few, very different, and so many that the law is chi-squared.
CELLS = [(30, 30, 600), (300, 40, 200), (100, 400, 200), (20_000, 5_000, 400)]


@pytest.mark.untraced
@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize(("old", "new", "repetitions"), CELLS)
def test_what_has_not_shifted_is_seldom_called_so(name: str, old: int, new: int, repetitions: int) -> None:
    """At most 5 % have a p-value of 5 % or less."""
    rng = generator_of("drift", name, old, new)
    found = 0
    for _ in range(repetitions):
        pair = [RunningValues("x"), RunningValues("x")]
        for one, rows in zip(pair, (old, new), strict=True):
            one.add_rows(Mixed(WORLDS[name](rng, rows)))
        chance = Chance(lambda: rng)
        shift = shift_of(*pair, most=20, categorical=None, intervals=10, error=0.05, chance=chance)
        found += shift.p_value <= 0.05
    assert found <= most_misses(repetitions, 0.05)


def test_many_levels_are_seldom_called_shifted() -> None:
    """Of 1,000 levels with 100 rows each, the fewest for chi-squared, it is wrong as often as it says."""
    rng, found = generator_of("drift", "many levels"), np.zeros(2)
    old, rows = np.full(1_000, 1_000_000), [10**9, 10**5]
    for _ in range(20):
        new = rng.multinomial(rows[1], np.full(1_000, 0.001), size=500)
        index = contributions(old[None], new).sum(axis=1)
        p = chi2.sf(index / _unit(old + 100, rows), 999)
        found += np.count_nonzero(p <= 0.05), np.count_nonzero(p <= 0.01)
    assert found[0] <= most_misses(10_000, 0.05)
    assert found[1] <= most_misses(10_000, 0.01)


@pytest.mark.untraced
@pytest.mark.parametrize(("old", "new"), [(30, 30), (200, 60)])
def test_of_thirty_columns_any_is_seldom_called_shifted(old: int, new: int) -> None:
    """In at most 5 % of pairs of files, and in as many is any PSI above what chance is said to give."""
    rng, repetitions, found = generator_of("drift", "thirty columns", old, new), 60, np.zeros(2)
    columns = {f"{name} {place}": draw for place in range(6) for name, draw in WORLDS.items()}
    for _ in range(repetitions):
        pair = [
            {"score": rng.beta(1.0, 19.0, rows), **{name: draw(rng, rows) for name, draw in columns.items()}}
            for rows in (old, new)
        ]
        seen = calibcli.drift(*pair, score="score", on=list(columns))
        found += bool(seen.shifted), any(one.psi > one.by_chance for one in seen.report.columns)
    assert found.max() <= most_misses(repetitions, 0.05)
