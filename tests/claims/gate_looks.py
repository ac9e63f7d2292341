"""How often a gate that is asked once is wrong: at the limit, and far from it on either side."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from calibcli.names import Bound, MeasureName, Relation, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.bounds.proportion import rate_bounds
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.plan import Gate, Plan, planned
from calibcli.stats.table.bins import ATOMS
from claims.gate_streams import World
from claims.simulation import generator_of
from stats.verdicts.boundary import CASES, count_verdicts, is_wanted, rule_of

LIMIT = 0.05
GATED = (MeasureName.ECE, MeasureName.L2, MeasureName.LINF, MeasureName.SMECE, MeasureName.DCE)
LOOKED_AT = tuple(name for name, case in CASES.items() if case.measure in GATED)


@dataclass(frozen=True, slots=True)
class Shares:
    """How often a gate gave each verdict.

    Args:
        passes: Number of passes.

        fails: Number of fails.

        repetitions: Number of tables.
    """

    passes: int
    fails: int
    repetitions: int


def verdicts(name: str, *, error: float, rows: int, repetitions: int) -> Shares:
    """Judge tables of a case, whose true error is as given, by the limit .05.

    At an error of exactly the limit a pass states no more than the truth; it is counted as wrong all the
    same, since it is just as likely where the error is larger by nothing worth mention.
    """
    case = CASES[name]
    generator = generator_of("gate", name, error, rows)
    if case.measure is MeasureName.L2:
        found = count_verdicts(
            case, limit=LIMIT, error=error, rows=rows, repetitions=repetitions, generator=generator
        )
        return Shares(found[VerdictName.PASS], found[VerdictName.FAIL], repetitions)
    gates = [Gate(rule_of(case, LIMIT), case.ground, one) for one in (VerdictName.PASS, VerdictName.FAIL)]
    counts = [0, 0]
    for _ in range(repetitions):
        table = case.draw(generator, rows, error)
        if case.ground.too_few(table) is None:
            given = [is_wanted(gate, table) for gate in gates]
            assert not all(given), "a pass and a fail at once"
            counts = [count + one for count, one in zip(counts, given, strict=True)]
    return Shares(counts[0], counts[1], repetitions)


def asked_of(a_world: World) -> Gate:
    """Return the gate of a world with an artifact, and the verdict that is right."""
    rule = Rule("max-ece", MeasureName.ECE, Bound.UPPER, Relation.AT_MOST, a_world.limit)
    right = VerdictName.PASS if a_world.error < a_world.limit else VerdictName.FAIL
    return Gate(rule, Ground(ATOMS, a_world.population.variance), right)


def planned_for(a_world: World, *, again: bool, power: float = 0.9) -> Plan:
    """Return what `plan` says of a world."""
    generator = generator_of("planned", a_world.error, a_world.limit, again)
    return planned(asked_of(a_world), [a_world.population], power=power, again=again, generator=generator)


def shown_at(a_world: World, rows: int, *, repetitions: int) -> float:
    """Return the share of tables of so many rows, drawn anew, that get the right verdict at one look."""
    population, asked = a_world.population, asked_of(a_world)
    generator = generator_of("shown", a_world.error, a_world.limit, rows, population.score.size)
    count, ones = population.drawn(rows, times=repetitions, generator=generator)
    return float(np.mean([is_wanted(asked, population.table(*one)) for one in zip(count, ones, strict=True)]))


def exact_linf(rows: int) -> tuple[float, float]:
    """Return how probable a pass and a fail are where the score is 1/2 and the rate .55, and the limit .05.

    Both are sums of binomial probabilities: nothing is left to chance.
    """
    ones, all_rows = np.arange(rows + 1.0), np.full(rows + 1, float(rows))
    low, high = rate_bounds(ones, all_rows, delta_each_side=0.05)
    passes = np.maximum(high - 0.5, 0.5 - low) <= LIMIT
    low, high = rate_bounds(ones, all_rows, delta_each_side=0.025)
    fails = np.maximum(low - 0.5, 0.5 - high) > LIMIT
    weight = binom.pmf(ones, rows, 0.5 + LIMIT)
    return float(weight[passes].sum()), float(weight[fails].sum())
