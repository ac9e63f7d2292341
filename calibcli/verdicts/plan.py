"""How many labelled rows a gate will take, before any are collected."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibcli.names import MeasureName, TestName, VerdictName
from calibcli.table.bins import Bins, binned
from calibcli.table.score_table import Floats, ScoreTable
from calibcli.verdicts.plan_looks import Asked, Looks, share_by_theorem
from calibcli.verdicts.plan_population import Population
from calibcli.verdicts.plan_streams import first_verdicts
from calibcli.verdicts.rows_needed import Growth

MOST_ROWS = 1_000_000_000
_WITHIN = 1.01
# A number of rows that turns out too small is raised so often, by so much.
_TRIES = 8
_FURTHER = 1.02
_LOOKS = 60
_STANDING_IN = 1e6


@dataclass(frozen=True, slots=True)
class Effort:
    """
    How often a gate is simulated.

    Args:
        searching: Tables at each number of rows that is tried on the way.

        final: Tables at the number of rows that is reported, or streams.
    """

    searching: int
    final: int


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What simulation found.

    Args:
        population: The pattern of errors that took most rows.

        rows: Rows at which the verdict comes with the power asked for; None above a billion.

        reached: Share of simulated gates that gave it there.

        times: How many were simulated there.

        half: Rows at which every second one gives it, or None.

        by_theorem: Rows that Theorem 12.4 takes with the same power, or None where it does not apply.

        step: Rows between two looks, for a gate that is asked again, else None.
    """

    population: Population
    rows: int | None
    reached: float | None
    times: int
    half: int | None
    by_theorem: int | None
    step: int | None = None


def planned(
    asked: Asked,
    patterns: Sequence[Population],
    *,
    power: float,
    again: bool,
    generator: np.random.Generator,
) -> Plan:
    """
    Find how many rows a gate takes under the pattern of errors that takes most.

    Args:
        asked: The gate, and the verdict that is to come.

        patterns: Populations to be reckoned with.

        power: Probability with which it is to come.

        again: Whether the gate is asked again and again as rows come in; else once.

        generator: Random numbers.
    """
    effort = effort_of(asked.rule.subject)
    plans = [
        (_streaming if again else _looking)(asked, one, power=power, effort=effort, generator=generator)
        for one in patterns
    ]
    return max(plans, key=lambda plan: math.inf if plan.rows is None else plan.rows)


def effort_of(measure: MeasureName | TestName) -> Effort:
    """Return how often a gate on a measure is simulated: as often as a few seconds allow."""
    match measure:
        case MeasureName.ECE | MeasureName.L2:
            return Effort(300, 1000)
        case MeasureName.LINF:
            return Effort(150, 500)
        case _:
            return Effort(60, 200)


def _looking(
    asked: Asked, population: Population, *, power: float, effort: Effort, generator: np.random.Generator
) -> Plan:
    looks = Looks(asked, population, generator)
    start, least = _start(asked, population), asked.ground.least_rows
    rows = _rows_at(lambda n: looks.reaches(n, effort.searching, power), start=start, least=least)
    reached = half = None
    if rows is not None:
        rows, reached = _settled(looks, power, rows=rows, times=effort.final)
        half = _rows_at(lambda n: looks.reaches(n, effort.searching, 0.5), start=rows, least=least)
    theorem = _by_theorem(looks, start=start, power=power, effort=effort)
    return Plan(population, rows, reached, effort.final, half, theorem)


def _streaming(
    asked: Asked, population: Population, *, power: float, effort: Effort, generator: np.random.Generator
) -> Plan:
    start = horizon = _start(asked, population)
    first, step = np.full(1, np.inf), None
    while not np.mean(np.isfinite(first)) > power and horizon < MOST_ROWS:
        horizon *= 2
        step = _round(horizon / _LOOKS)
        first = first_verdicts(
            asked, population, step=step, looks=_LOOKS, times=effort.final, generator=generator
        )
    looks = Looks(asked, population, generator)
    theorem = _by_theorem(looks, start=start, power=power, effort=effort)
    half, rows = (_quantile(first, one) for one in (0.5, power))
    reached = None if rows is None else float(np.mean(first <= rows))
    return Plan(population, rows, reached, effort.final, half, theorem, step)


def _round(step: float) -> int:
    """Return a whole number with one digit that is not 0, at least as large."""
    unit: int = 10 ** max(0, len(str(int(step))) - 1)
    return unit * math.ceil(step / unit)


def _quantile(first: Floats, power: float) -> int | None:
    found = float(np.quantile(first, power, method="inverted_cdf"))
    return int(found) if math.isfinite(found) else None


def _by_theorem(looks: Looks, *, start: int, power: float, effort: Effort) -> int | None:
    asked = looks.asked
    if asked.rule.subject is not MeasureName.ECE:
        return None
    return _rows_at(
        lambda rows: share_by_theorem(looks, rows, effort.final) >= power,
        start=min(2 * start, MOST_ROWS),
        least=asked.ground.least_rows,
    )


def _start(asked: Asked, population: Population) -> int:
    """Return where to begin: the rows at which bets on the ECE grow to their level on average."""
    ground = asked.ground
    score = population.score
    table = ScoreTable(
        score, np.ceil(_STANDING_IN * population.share).astype(np.int64), np.zeros(score.size, np.int64)
    )
    edges = np.concatenate(([0.0], score[population.starts[1:-1] - 1], [1.0]))
    growth = Growth(table, binned(table, Bins(None, edges)), delta=ground.delta, variance=population.variance)
    gap = asked.rule.limit - _error_of(population)
    rows = growth.rows_to_pass(gap) if asked.wanted is VerdictName.PASS else growth.rows_to_fail(-gap)
    return min(max(rows, ground.least_rows), MOST_ROWS)


def _error_of(population: Population) -> float:
    return float((population.share * np.abs(population.rate - population.score)).sum())


def _rows_at(reaches: Callable[[int], bool], *, start: int, least: int) -> int | None:
    """Return the rows from which on something is reached, to 1 %; None above a billion."""
    low, high, rows = 0, 0, start
    while not (low and high and high <= _WITHIN * low):
        if reaches(rows):
            high = rows
        else:
            low = rows
        if high == least:
            return least
        if low >= MOST_ROWS:
            return None
        guess = math.sqrt(low * high) if low and high else 1.5 * low if low else high / 1.5
        rows = min(max(round(guess), least), MOST_ROWS)
        if rows in (low, high):
            break
    return high


def _settled(looks: Looks, power: float, *, rows: int, times: int) -> tuple[int, float]:
    """Simulate at the rows found more often, and take a little more rows until that is enough."""
    reached = looks.share(rows, times)
    for _ in range(_TRIES):
        if reached >= power:
            break
        rows = math.ceil(_FURTHER * rows)
        reached = looks.share(rows, times)
    return rows, reached
