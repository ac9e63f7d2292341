"""
Simulations of every interval and bound over bins, those behind `--bounds` too, with the error exactly known.

For these scores the scores are kept and labels drawn anew; for the population both are drawn. One draw serves
all of them; the Chernoff bounds, which cost most, are computed in every tenth.
"""

import numpy as np

from calibcli.measures import measure_named
from calibcli.measures.other_bounds import ece_bounds, l2_bounds
from calibcli.measures.settings import Settings
from calibcli.names import Binning, MeasureName
from calibcli.table.bins import BinnedTable, binned, bins_of
from calibcli.table.score_table import ScoreTable
from claims.simulation import SCENARIOS, Cell, Tally, generator_of, usual_bins
from claims.worlds import Law, errors_over

M = MeasureName
OF_THE_POPULATION = ("theorem_12_4", "empirical_bernstein", "betting_any_time")
WITH_INTERVAL = (M.ACE, M.LP, M.LINF, M.OVERCONFIDENCE, M.UNDERCONFIDENCE)
POWER = 3.0
CHERNOFF_EVERY = 10


def bounds_of_these_scores(
    scenario: str, rows: int, *, confidence: float, repetitions: int
) -> dict[str, Tally]:
    """Simulate what speaks of these very scores."""
    rng = generator_of("binned", scenario, rows, confidence)
    world, cell = SCENARIOS[scenario], Cell(confidence)
    base = ScoreTable.from_rows(world.quantile(rng.random(rows)), np.zeros(rows, bool))
    truth = world.truth(base.score)
    bins, mass_bins = usual_bins(base), bins_of(Binning.EQUAL_MASS, 15, table=base)
    law = Law(base, truth)
    known, of_mass = (errors_over(law.sums(one), power=POWER) for one in (bins, mass_bins))
    known[M.ACE] = of_mass[M.ACE]
    for index in range(repetitions):
        table = ScoreTable(base.score, base.rows, rng.binomial(base.rows, truth))
        sums, mass = binned(table, bins), binned(table, mass_bins)
        shared = Settings(sums, mass, confidence, None, power=POWER)
        for name in WITH_INTERVAL:
            interval = measure_named(name, table, settings=shared).interval
            cell.add_interval(name, interval, truth=known[name], ends=True)
        corrected = measure_named(M.BRIER_RELIABILITY_CORRECTED, table, settings=shared).interval
        cell.add_interval(
            M.BRIER_RELIABILITY_CORRECTED, corrected, truth=known[M.BRIER_RELIABILITY_CORRECTED]
        )
        _add_bounds(cell, ece_bounds(table, sums, delta=(1 - confidence) / 2), truth=known[M.ECE])
        if index % CHERNOFF_EVERY == 0:
            interval = measure_named(M.L2_PLUG_IN, table, settings=shared).interval
            cell.add_interval(M.L2_PLUG_IN, interval, truth=known[M.L2_PLUG_IN], ends=True)
            _add_l2(cell, table, sums, truth=known[M.L2_PLUG_IN])
    return cell.tallies


def bounds_of_the_population(
    scenario: str, rows: int, *, confidence: float, repetitions: int
) -> dict[str, Tally]:
    """Simulate the bounds of the ECE that speak of the population, over bins fixed before the rows."""
    rng = generator_of("binned population", scenario, rows, confidence)
    world, cell = SCENARIOS[scenario], Cell(confidence)
    law = Law.of(world)
    bins = usual_bins(law.table)
    known = errors_over(law.sums(bins))[M.ECE]
    for _ in range(repetitions):
        score = world.quantile(rng.random(rows))
        table = ScoreTable.from_rows(score, rng.random(rows) < world.truth(score))
        found = ece_bounds(table, binned(table, bins), delta=(1 - confidence) / 2)
        _add_bounds(cell, found, truth=known, of_the_population=True)
    return cell.tallies


def _add_bounds(
    cell: Cell, found: dict[str, float | int | str], *, truth: float, of_the_population: bool = False
) -> None:
    """Count the bounds of the ECE that speak of these scores, or of the population."""
    for key, bound in found.items():
        side, _, which = key.partition("_")
        if (which in OF_THE_POPULATION) == of_the_population:
            cell.add_bound(f"ece {which} {side}", float(bound), truth=truth)


def _add_l2(cell: Cell, table: ScoreTable, sums: BinnedTable, *, truth: float) -> None:
    """Count the bounds of l2, and the set of Sun et al."""
    for key, bound in l2_bounds(table, sums, confidence=cell.confidence).items():
        side, _, which = key.partition("_")
        if key == "sun":
            cell.tally("l2 sun").count(held=holds(str(bound), truth), width=_length(str(bound)))
        else:
            cell.add_bound(f"l2 {which} {side}", float(bound), truth=truth)


def holds(words: str, value: float) -> bool:
    """Whether the set of Sun et al. holds a value; printed with four digits."""
    if value < 1e-9:
        return words.split(" or ", maxsplit=1)[0] == "0"
    part = words.removeprefix("0 or ")
    if " to " not in part:
        return False
    low, high = map(float, part.split(" to "))
    return low - 1e-3 * low <= value <= high * (1 + 1e-3)


def _length(words: str) -> float:
    """Return the length of the interval in the set of Sun et al."""
    part = words.removeprefix("0 or ")
    if " to " not in part:
        return 0.0
    low, high = map(float, part.split(" to "))
    return high - low
