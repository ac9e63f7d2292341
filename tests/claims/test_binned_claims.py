"""
Coverage of every bound over bins, those behind `--bounds` too, with the error exactly known.

Bounds for these scores keep scores and draw labels; those for the population draw both. Each end of an
interval and each listed bound is counted by itself at half the error. The short version runs a cell of each
kind; the slow one all cells at 90 and 95 %.
"""

import math
from unittest.mock import patch

import numpy as np
import pytest

from calibcli.bounds.chernoff import least_energy, most_energy
from calibcli.measures import Settings, measure_named
from calibcli.measures.calibrated import draw_calibrated
from calibcli.measures.l2_bounds import counted
from calibcli.measures.other_bounds import ece_bounds, l2_bounds
from calibcli.names import Binning, MeasureName
from calibcli.table.bins import BinnedTable, Bins, binned, bins_of
from calibcli.table.score_table import ScoreTable
from claims.simulation import FINE, SCENARIOS, generator_of, most_misses, usual_bins

CELLS = (
    "calibrated",
    "mild",
    "strong",
    "discrete",
    "disc4",
    "rare",
    "rare, wrong",
    "rare, 15 atoms",
    "one atom",
)
OF_THE_POPULATION = ("theorem_12_4", "empirical_bernstein", "betting_any_time")
# Asymptotic: three points more are allowed from 1,000 rows on.
ASYMPTOTIC = ("l2 sun",)
WITH_INTERVAL = (
    MeasureName.ACE,
    MeasureName.LP,
    MeasureName.LINF,
    MeasureName.OVERCONFIDENCE,
    MeasureName.UNDERCONFIDENCE,
)
CHERNOFF_EVERY = 10


def true_sums(sums: BinnedTable, table: ScoreTable, truth: np.ndarray) -> BinnedTable:
    """The sums that labels equal to their probabilities would give."""
    error = table.rows * (truth - table.score)
    residual = np.array([error[a:b].sum() for a, b in zip(sums.starts[:-1], sums.starts[1:], strict=True)])
    columns = {name: getattr(sums, name) for name in BinnedTable.__slots__}
    return BinnedTable(**{**columns, "residual": residual})


def truths(sums: BinnedTable, mass: BinnedTable) -> dict[str, float]:
    """Every error of known gaps."""
    values = {}
    for name, part in (("", sums), ("mass", mass)):
        some = part.occupied
        weight, residual = part.weight[some], part.residual[some]
        gap, share, score = residual / weight, weight / weight.sum(), part.score_sum[some] / weight
        announced = np.where(score > 0.5, gap, np.where(score < 0.5, -gap, np.abs(gap)))
        values |= {
            f"ece{name}": float((share * np.abs(gap)).sum()),
            f"l2{name}": math.sqrt(float((share * gap**2).sum())),
            f"ace{name}": float(np.abs(gap).mean()),
            f"lp{name}": float((share * np.abs(gap) ** 3).sum()) ** (1 / 3),
            f"linf{name}": float(np.abs(gap).max()),
            f"overconfidence{name}": float((share * np.maximum(-announced, 0)).sum()),
            f"underconfidence{name}": float((share * np.maximum(announced, 0)).sum()),
        }
    return {**values, "ace": values["acemass"]}


def misses(
    scenario: str, rows: int, *, confidence: float, repetitions: int
) -> dict[str, tuple[int, int, float]]:
    """Return misses, repetitions and mean distance from the truth of every bound for these scores."""
    rng = generator_of("binned", scenario, rows, confidence)
    world = SCENARIOS[scenario]
    base = ScoreTable.from_rows(world.quantile(rng.random(rows)), np.zeros(rows, bool))
    truth = world.truth(base.score)
    bins, mass_bins = usual_bins(base), bins_of(Binning.EQUAL_MASS, 15, table=base)
    known = truths(*(true_sums(binned(base, one), base, truth) for one in (bins, mass_bins)))
    counts: dict[str, tuple[int, int, float]] = {}

    def count(name: str, bound: float, value: float, *, upper: bool) -> None:
        missed = bound < value - 1e-9 if upper else bound > value + 1e-9
        before = counts.get(name, (0, 0, 0.0))
        counts[name] = (before[0] + missed, before[1] + 1, before[2] + abs(bound - value))

    for index in range(repetitions):
        table = ScoreTable(base.score, base.rows, rng.binomial(base.rows, truth))
        sums, mass = binned(table, bins), binned(table, mass_bins)
        shared = Settings(sums, mass, confidence, None, power=3.0)
        for name in WITH_INTERVAL:
            interval = measure_named(name, table, settings=shared).interval
            assert interval is not None
            count(f"{name} upper", interval.upper, known[name], upper=True)
            count(f"{name} lower", interval.lower, known[name], upper=False)
        found = ece_bounds(table, sums, delta=(1 - confidence) / 2)
        for key, bound in found.items():
            side, _, which = key.partition("_")
            if which not in OF_THE_POPULATION:
                count(f"ece {which} {side}", float(bound), known["ece"], upper=side == "upper")
        if index % CHERNOFF_EVERY == 0:
            listed = l2_bounds(table, sums, confidence=confidence)
            for key, bound in listed.items():
                side, _, which = key.partition("_")
                if key != "sun":
                    count(f"l2 {which} {side}", float(bound), known["l2"], upper=side == "upper")
                else:
                    count("l2 sun", 0.0 if _holds(str(bound), known["l2"]) else 2.0, 1.0, upper=False)
    return counts


def _holds(words: str, value: float) -> bool:
    """Whether the set of Sun et al. holds a value; printed with four digits."""
    if value < 1e-9:
        return words.startswith("0")
    part = words.removeprefix("0 or ")
    if " to " not in part:
        return False
    low, high = map(float, part.split(" to "))
    return low - 1e-3 * low <= value <= high * (1 + 1e-3)


def population_misses(
    scenario: str, rows: int, *, confidence: float, repetitions: int
) -> dict[str, tuple[int, int, float]]:
    """Return misses, repetitions and mean distance of the bounds for the population."""
    rng = generator_of("binned population", scenario, rows, confidence)
    world = SCENARIOS[scenario]
    fine = ScoreTable.from_rows(world.quantile(FINE), np.zeros(FINE.size, bool))
    counts: dict[str, tuple[int, int, float]] = {}
    bins: Bins = usual_bins(fine)
    known = truths(*(true_sums(binned(fine, bins), fine, world.truth(fine.score)),) * 2)["ece"]
    for _ in range(repetitions):
        score = world.quantile(rng.random(rows))
        table = ScoreTable.from_rows(score, rng.random(rows) < world.truth(score))
        for key, bound in ece_bounds(table, binned(table, bins), delta=(1 - confidence) / 2).items():
            side, _, which = key.partition("_")
            if which in OF_THE_POPULATION:
                missed = bound < known - 1e-9 if side == "upper" else bound > known + 1e-9
                before = counts.get(f"ece {which} {side}", (0, 0, 0.0))
                counts[f"ece {which} {side}"] = (
                    before[0] + missed,
                    before[1] + 1,
                    before[2] + abs(float(bound) - known),
                )
    return counts


def check(found: dict[str, tuple[int, int, float]], *, confidence: float, rows: int) -> None:
    """No bound misses more often than it may."""
    assert found
    for name, (missed, repetitions, distance) in found.items():
        error = (1 - confidence) / 2
        if name in ASYMPTOTIC:
            if rows < 1000:
                continue
            error = 1 - confidence + 0.03
        assert missed <= most_misses(repetitions, error), name
        assert distance / repetitions <= 1.0


@pytest.mark.parametrize(("scenario", "rows"), [("strong", 1000), ("disc4", 1000), ("rare, wrong", 1000)])
def test_bounds_of_these_scores_hold(scenario: str, rows: int) -> None:
    """Every bound over bins for these scores at 95 %, labels drawn anew."""
    check(misses(scenario, rows, confidence=0.95, repetitions=40), confidence=0.95, rows=rows)


@pytest.mark.parametrize("scenario", ["mild", "one atom"])
def test_bounds_of_the_population_hold(scenario: str) -> None:
    """Theorem 12.4, empirical Bernstein and any-time betting at 95 %, rows drawn anew."""
    found = population_misses(scenario, 1000, confidence=0.95, repetitions=60)
    assert {name.split()[1] for name in found} == set(OF_THE_POPULATION)
    check(found, confidence=0.95, rows=1000)


def test_chernoff_bounds_hold_where_all_gaps_have_one_sign() -> None:
    """Two bins with gaps of .1 each: upper and lower bound of the energy miss at most 5 % of the time."""
    rng = generator_of("chernoff")
    score, truth, rows = np.array([0.3, 0.6]), np.array([0.4, 0.7]), np.array([150, 150])
    missed = np.zeros(2, int)
    for _ in range(40):
        table = ScoreTable(score, rows, rng.binomial(rows, truth))
        counts = counted(table, binned(table, bins_of(Binning.ATOMS, 1, table=table)))
        assert counts is not None
        missed += [most_energy(counts, delta=0.05) < 3.0, least_energy(counts, delta=0.05) > 3.0]
    assert missed.max() <= most_misses(40, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("rows", [200, 1000, 5000])
@pytest.mark.parametrize("scenario", CELLS)
def test_every_bound_over_bins_holds(scenario: str, rows: int, confidence: float) -> None:
    """All cells at 90 and 95 %: 300 repetitions, the Chernoff bounds in every tenth."""
    check(misses(scenario, rows, confidence=confidence, repetitions=300), confidence=confidence, rows=rows)
    found = population_misses(scenario, rows, confidence=confidence, repetitions=200)
    check(found, confidence=confidence, rows=rows)


def test_draws_for_nulls_do_not_move_other_digits() -> None:
    """Keeping gaps of the draws takes no random number: the ECE of each draw is that of its gaps."""
    rng = np.random.default_rng(0)
    score = rng.random(300)
    table = ScoreTable.from_rows(score, rng.random(300) < score)
    sums = binned(table, bins_of(Binning.EQUAL_WIDTH, 10, table=table))
    with patch("calibcli.measures.calibrated.expected_smece", return_value=0.0):
        drawn = draw_calibrated(table, partitions=[sums], generator=rng, smece_generator=rng, draws=50)
    gaps = drawn.gaps_of(sums.bins)
    assert gaps is not None
    assert np.allclose(np.abs(gaps).sum(axis=1) / 300, drawn.ece_of(sums.bins), rtol=0, atol=1e-15)
