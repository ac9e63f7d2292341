"""The population stability index, its law where nothing has shifted, and what empty levels do to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, hypergeom

from calibcli.stats.measures import drift
from calibcli.stats.measures.drift import Chance, Shift, contributions, shift_of
from calibcli.stats.table import levels as module
from calibcli.stats.table.levels import Mixed, RunningValues

counts = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=8)


def values_of(numbers: object) -> RunningValues:
    running = RunningValues("x")
    running.add_rows(Mixed(np.asarray(numbers, np.float64)))
    return running


def shifted(
    old: object,
    new: object,
    *,
    categorical: bool | None = False,
    error: float = 0.05,
    chance: Chance | None = None,
) -> Shift:
    return shift_of(
        values_of(old),
        values_of(new),
        most=50,
        categorical=categorical,
        intervals=10,
        error=error,
        chance=chance or Chance(lambda: np.random.default_rng(1)),
    )


@given(counts)
def test_contributions_are_the_formula(pairs: list[tuple[int, int]]) -> None:
    """Each is that of the definition, finite and not negative, and sides may change places."""
    old, new = np.array(pairs, np.int64).T
    found = contributions(old, new)
    rows = max(old.sum(), 1), max(new.sum(), 1)
    for part, (one, other) in zip(found, pairs, strict=True):
        first, second = max(one, 0.5) / rows[0], max(other, 0.5) / rows[1]
        expected = (second - first) * np.log(second / first) if one or other else 0.0
        assert part == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(found, contributions(new, old), atol=1e-15)
    assert np.isfinite(found).all()
    assert (found >= 0.0).all()


numbers = st.lists(st.sampled_from([None, *np.linspace(0.0, 1.0, 9).tolist()]), min_size=1, max_size=60)


@given(numbers, numbers)
def test_draws_have_the_index_of_the_levels(old: list[float | None], new: list[float | None]) -> None:
    """Cut anew, the rows as they are give the PSI of their levels; every row is in one level."""
    first, second = (np.array([np.nan if one is None else one for one in rows]) for rows in (old, new))
    found = shifted(first, second)
    assert (found.old.sum(), found.new.sum()) == (len(old), len(new))
    if found.method != "one level":
        gaps = [int(np.isnan(rows).sum()) for rows in (first, second)]
        cells = drift._by_number(values_of(first), values_of(second), gaps=gaps)
        drawn = drift._index(cells[0][None], cells[0] + cells[1], 10)
        assert drawn[0] == pytest.approx(found.psi, abs=1e-12)
    assert 0.0 < found.p_value <= 1.0
    if sorted(map(str, old)) == sorted(map(str, new)):
        assert found.psi == pytest.approx(0.0, abs=1e-12)
        assert found.p_value == 1.0


def test_index_and_law_are_those_of_numpy_and_scipy() -> None:
    """Of many rows: quantiles by numpy, shares by histogram, the chi-squared law by scipy."""
    rng = np.random.default_rng(7)
    old, new = rng.beta(2.0, 5.0, 20_000), rng.beta(2.1, 5.0, 8_000)
    found = shifted(old, new)
    edges = np.quantile(old, np.arange(1, 10) / 10, method="inverted_cdf")
    first, second = (
        np.bincount(np.searchsorted(edges, rows), minlength=10) / rows.size for rows in (old, new)
    )
    psi = np.sum((second - first) * np.log(second / first))
    # To the second order: what PSI is on average, for each of nine degrees of freedom.
    unit = 1 / old.size + 1 / new.size
    pooled = (first * old.size + second * new.size) / (old.size + new.size)
    unit += (1 / old.size**2 + 1 / new.size**2) * np.sum(1 / pooled - 1) / 18
    assert found.method == "chi-squared"
    assert found.psi == pytest.approx(psi, rel=1e-12)
    assert found.p_value == pytest.approx(chi2.sf(psi / unit, 9), rel=1e-9)
    assert found.by_chance == pytest.approx(unit * chi2.isf(0.05, 9), rel=1e-9)


def test_draws_come_near_the_exact_law() -> None:
    """Of two values the number of old rows among those of one is hypergeometric, and p is a sum over it."""
    old, new = [0.0] * 9 + [1.0] * 3, [0.0] * 4 + [1.0] * 6
    found = shifted(old, new, categorical=True)
    every = np.arange(12 - 9, 12 + 1)
    every = every[(13 - every >= 0) & (every <= 12)]
    index = [float(contributions(np.array([k, 12 - k]), np.array([13 - k, 9 - 12 + k])).sum()) for k in every]
    exact = hypergeom(22, 13, 12).pmf(every)[np.array(index) >= found.psi - 1e-12].sum()
    assert found.method == "1,999 draws of which rows are old"
    assert abs(found.p_value - exact) < 5 * np.sqrt(exact * (1 - exact) / 1_999)


def test_what_may_be_chance_and_the_p_value_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index is above what chance may give just where its p-value is no larger than the error."""
    generator, chance = np.random.default_rng(0), Chance(lambda: np.random.default_rng(1))
    old = generator.random(10)
    for step in range(4):
        new = generator.random(40) + step / 10
        p_value = shifted(old, new, chance=chance).p_value
        for error in (p_value - 1e-4, p_value + 1e-4):
            found = shifted(old, new, error=error, chance=chance)
            assert (found.psi > found.by_chance + 1e-12) == (p_value <= error)
    # Of neighbours that are put together the index is .37, and not .49.
    monkeypatch.setattr(drift, "_MOST_CELLS", 40)
    generator = np.random.default_rng(24)
    coarse = shifted(generator.random(200) ** 2, generator.random(60) ** 2)
    assert coarse.p_value > 0.05
    assert coarse.psi <= coarse.by_chance


def test_new_values_are_levels_and_cuts_are_those_of_old_rows() -> None:
    """A value that no old row has is a level of its own; numbers beyond the old ones are in the last."""
    found = shifted([1.0, 1.0, 2.0], [2.0, 3.0], categorical=True)
    assert found.levels.words == ("x = 1", "x = 2", "x = 3")
    assert (found.old.tolist(), found.new.tolist()) == ([2, 1, 0], [0, 1, 1])
    beyond = shifted(np.arange(100.0), np.arange(50.0, 250.0))
    assert beyond.levels.words[-1] == "x > 89"
    assert beyond.new.tolist() == [0, 0, 0, 0, 0, *([10] * 4), 160]
    gaps = shifted([np.nan, np.nan], [1.0, 2.0, np.nan])
    assert gaps.levels.words == ("x of any value", "x = (missing)")
    assert gaps.new.tolist() == [2, 1]


def test_a_pile_of_old_rows_is_a_level() -> None:
    """Old rows that share one value, wherever it lies, do not hide that new ones have others."""
    rng = np.random.default_rng(5)
    even = rng.random(500)
    for old, new in (
        ([1.0] * 950 + [0.3] * 50, even),
        ([0.5] * 1_000, even),
        ([0.5] * 970 + [0.7] * 30, [0.4] * 500),
        ([0.1] * 970 + [0.7] * 30, [0.05] * 500),
        ([1.0], [0.4] * 500),
    ):
        found = shifted(old, new)
        assert found.p_value < 0.01, found.levels.words
        assert found.psi > found.by_chance
    apart = shifted([0.5] * 1_000, [0.25, 0.5, 0.75])
    assert apart.levels.words == ("x <= 0.3", "0.3 < x <= 0.5", "x > 0.5")
    assert (apart.old.tolist(), apart.new.tolist()) == ([0, 1_000, 0], [1, 1, 1])


@given(st.floats(-1e6, 1e6), st.integers(1, 50), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_one_old_value_has_a_level_of_its_own(value: float, rows: int, new: list[float]) -> None:
    """Of old rows that agree, new rows share the level if they have the value, and only then."""
    found = shifted([value] * rows, new)
    level = int(np.argmax(found.old))
    assert found.old[level] == rows
    assert found.new[level] == sum(one == value for one in new)


def test_both_sides_are_rounded_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many different numbers on one side only make no shift, and leave rows in their levels."""
    rng = np.random.default_rng(6)
    piles = np.repeat(rng.random(5), 200)
    few, many = (np.concatenate((piles, rng.random(rows))) for rows in (20, 30))
    for old, new in ((few, many), (many, few)):
        monkeypatch.setattr(module, "MOST_NUMBERS", 1_000)
        exact = shifted(old, new)
        monkeypatch.setattr(module, "MOST_NUMBERS", 30)
        rounded = shifted(old, new)
        assert rounded.p_value > 0.05
        assert (rounded.old.tolist(), rounded.new.tolist()) == (exact.old.tolist(), exact.new.tolist())


def test_one_level_cannot_shift() -> None:
    """Where all rows agree there is nothing to test."""
    found = shifted([0.5] * 4, [0.5] * 3, categorical=True)
    assert (found.psi, found.p_value, found.by_chance, found.method) == (0.0, 1.0, 0.0, "one level")


def test_many_different_numbers_and_rows_are_drawn_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """More numbers than cells are put together with their neighbours; too many rows are drawn one by one."""
    rng = np.random.default_rng(3)
    old, new = rng.random(900), rng.random(60)
    fine = shifted(old, new)
    monkeypatch.setattr(drift, "_MOST_CELLS", 200)
    coarse = shifted(old, new)
    monkeypatch.setattr(drift, "_MOST_DRAWN", 100)
    apart = shifted(old, new)
    assert fine.psi == coarse.psi == apart.psi
    assert coarse.p_value == pytest.approx(fine.p_value, abs=0.1)
    assert apart.p_value == pytest.approx(fine.p_value, abs=0.1)


def test_columns_whose_values_are_as_often_the_same_share_their_draws() -> None:
    """Each has what it has by itself, and the law of 20 and 20 different numbers is drawn once."""
    starts = []

    def start() -> np.random.Generator:
        starts.append(1)
        return np.random.default_rng(1)

    rng, chance = np.random.default_rng(2), Chance(start)
    old = rng.random(20)
    for rows in (20, 20, 21, 20):
        new = rng.random(rows)
        found, alone = shifted(old, new, chance=chance), shifted(old, new)
        assert (found.psi, found.p_value, found.by_chance) == (alone.psi, alone.p_value, alone.by_chance)
    assert len(starts) == 2


def test_few_laws_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of columns that are all different no more than so many take memory."""
    monkeypatch.setattr(drift, "_KEPT", 3)
    rng, chance = np.random.default_rng(2), Chance(lambda: np.random.default_rng(1))
    for rows in range(5, 13):
        shifted(rng.random(6), rng.random(rows), chance=chance)
    assert len(chance.made) <= 3
