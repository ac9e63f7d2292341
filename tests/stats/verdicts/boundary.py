"""Populations whose error is known exactly, for every case of a gate, to count how often verdicts are wrong.

A case draws tables with a true error of exactly `error`. Judged by the limit `error`, a fail is not true, and
a pass would not be for any limit below. So at the boundary passes and fails are both counted, and each may
have a share of delta at most.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from calibcli.names import Binning, Bound, ClassMeasure, MeasureName, Relation, TestName, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.gates import judge
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.plan import Gate, Tables, is_given, population_of
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, Bins, equal_width_edges

Floats = np.ndarray
Draw = Callable[[np.random.Generator, int, float], ScoreTable]
FIFTEEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))
M = MeasureName


def rule(
    subject: MeasureName | TestName | ClassMeasure,
    limit: float,
    relation: Relation = Relation.AT_MOST,
    bound: Bound | None = None,
) -> Rule:
    """The rule that a bound, the one that a pass rests on unless it is given, keep to a limit."""
    usual = Bound.UPPER if relation is Relation.AT_MOST else Bound.LOWER
    return Rule("rule", subject, bound or usual, relation, limit)


@dataclass(frozen=True, slots=True)
class Case:
    """A gate and rows of a known error.

    Args:
        measure: What is judged.

        ground: What is settled in advance.

        draw: From random numbers, a number of rows and a true error to a table.

        fails: Whether a fail can come at all: the lower bounds of the distance see some errors only.
    """

    measure: MeasureName
    ground: Ground
    draw: Draw
    fails: bool = True


def atoms(count: int) -> tuple[Floats, Floats]:
    """Return the scores (i - 1/2) / B and a sign for each: towards 1/2, + at 1/2 itself."""
    score = (np.arange(count) + 0.5) / count
    return score, np.where(score > 0.5, -1.0, 1.0)


def every_atom(count: int, *, shared_out: bool = False) -> Draw:
    """Draw equally likely atoms, the rate of each being off by the error.

    Every |rate - score| is the error, hence so are its mean, its root mean square under any shares of the
    atoms, those of a sample among them, and its maximum. With rows shared out evenly the shares are fixed.
    """
    score, sign = atoms(count)

    def draw(rng: np.random.Generator, rows: int, error: float) -> ScoreTable:
        held = np.full(count, rows // count)
        if not shared_out:
            held = rng.multinomial(rows, np.full(count, 1 / count))
        some = held > 0
        return ScoreTable(score[some], held[some], rng.binomial(held[some], (score + error * sign)[some]))

    return draw


def one_atom_of(count: int, measure: MeasureName) -> Draw:
    """Draw equally filled atoms of which the first alone is off.

    With e its |rate - score| the maximum is e; 1/B of the rows have e and the others 0, so that the l2 error
    is e / sqrt(B): e is the error times sqrt(B) there.
    """
    score, sign = atoms(count)

    def draw(rng: np.random.Generator, rows: int, error: float) -> ScoreTable:
        rate = score.copy()
        rate[0] += sign[0] * error * (np.sqrt(count) if measure is M.L2 else 1.0)
        held = np.full(count, rows // count)
        return ScoreTable(score, held, rng.binomial(held, rate))

    return draw


def shifted(rng: np.random.Generator, rows: int, error: float) -> ScoreTable:
    """Draw scores evenly from [0, 0.8], with a label rate of score + error, error <= 0.2.

    Every residual has the mean `error`, so any binned ECE, equal-mass or not, and any mean of bins' gaps is
    the error, for the population and for these scores, and so is the bias. The residuals have one sign:
    smoothed at any bandwidth their norm is their mean, so smECE solves error = sigma. The function
    score + error is calibrated and `error` away, so the upper distance to calibration is at most the error;
    whatever is calibrated has the mean of the labels, so that the lower distance is at least
    |mean label - mean score|, the error again.
    """
    score = 0.8 * rng.random(rows)
    return ScoreTable.from_rows(score, rng.random(rows) < score + error)


def towards_the_middle(rng: np.random.Generator, rows: int, error: float) -> ScoreTable:
    """Draw scores evenly from [0, 1], too low in the lower seven of 15 equal bins and too high in the others.

    The sign is one in each bin, so that every bin's |mean of label - score| is the error; rates stay in
    [0, 1] for errors up to 7/15.
    """
    score = rng.random(rows)
    sign = np.where(score <= 7 / 15, 1.0, -1.0)
    return ScoreTable.from_rows(score, rng.random(rows) < score + error * sign)


def two_clumps(rng: np.random.Generator, rows: int, error: float) -> ScoreTable:
    """Draw scores 0.2 and 0.8, equally likely, too low and too high.

    At a bandwidth of at most 0.06 the smoothed clumps, of mass error / 2 each, overlap beyond five bandwidths
    only, by less than 1e-6 of their mass, so that smECE is the error to that precision for errors up to 0.06;
    in a sample whose clumps differ in size it is the same, the masses adding up to the error. A calibrated
    function of the score either tells the scores apart, and then is the rates, `error` away, or is 1/2, 0.3
    away: the upper distance is the error.
    """
    first = rng.binomial(rows, 0.5)
    held = np.array([first, rows - first])
    return ScoreTable(np.array([0.2, 0.8]), held, rng.binomial(held, np.array([0.2 + error, 0.8 - error])))


def _few_valued(measure: MeasureName, draw: Draw, *, variance: float | None = None) -> Case:
    return Case(measure, Ground(ATOMS, variance=variance, least_rows=50), draw)


def _of_atoms(count: int) -> float:
    score = atoms(count)[0]
    return float((score * (1 - score)).mean())


CASES: dict[str, Case] = {
    **{
        f"{measure.value}, {count} atoms": _few_valued(
            measure,
            every_atom(count, shared_out=measure is M.L2),
            variance=_of_atoms(count) if measure is M.ECE else None,
        )
        for measure in (M.ECE, M.L2, M.LINF)
        for count in (1, 2, 10)
    },
    "ece at any time, 10 atoms": _few_valued(M.ECE, every_atom(10)),
    "l2, one atom of 2 off": _few_valued(M.L2, one_atom_of(2, M.L2)),
    "linf, one atom of 10 off": _few_valued(M.LINF, one_atom_of(10, M.LINF)),
    "binned ece, shifted": Case(M.ECE, Ground(FIFTEEN, least_rows=50), shifted),
    "binned ece, one look": Case(M.ECE, Ground(FIFTEEN, variance=1 / 6, least_rows=50), towards_the_middle),
    "smece, shifted": Case(M.SMECE, Ground(FIFTEEN, least_rows=50), shifted),
    "smece, two clumps": Case(M.SMECE, Ground(ATOMS, least_rows=50), two_clumps),
    "smece, 1 atom": Case(M.SMECE, Ground(ATOMS, least_rows=50), every_atom(1)),
    "dce, shifted": Case(M.DCE, Ground(FIFTEEN, least_rows=50), shifted),
    "dce, two clumps": Case(M.DCE, Ground(ATOMS, least_rows=50), two_clumps, fails=False),
    "bias, shifted": Case(M.BIAS, Ground(FIFTEEN, least_rows=50), shifted),
    "bias, 1 atom": Case(M.BIAS, Ground(ATOMS, least_rows=50), every_atom(1)),
    "ece_equal_mass, shifted": Case(M.ECE_EQUAL_MASS, Ground(FIFTEEN, least_rows=50), shifted),
    "ace, shifted": Case(M.ACE, Ground(FIFTEEN, least_rows=50), shifted),
    "lp, shifted": Case(M.LP, Ground(FIFTEEN, least_rows=50), shifted),
    "smece_probit, 1 atom": Case(M.SMECE_PROBIT, Ground(ATOMS, least_rows=50), every_atom(1)),
    "smce, 1 atom": Case(M.SMCE, Ground(ATOMS, least_rows=50), every_atom(1)),
}


def rule_of(case: Case, limit: float) -> Rule:
    """Return the rule that the error of a case be at most a limit."""
    return Rule(f"max-{case.measure.value}", case.measure, Bound.UPPER, Relation.AT_MOST, limit)


def is_wanted(gate: Gate, table: ScoreTable) -> bool:
    """Whether a table gets the verdict that a gate is to give, in the way that `plan` judges many."""
    if not gate.simulated.at_once:
        return is_given(gate, table)
    itself = population_of(table.score, table.rows, bins=gate.ground.bins, most=table.distinct)
    return bool(gate.simulated.many(gate, Tables(itself, table.rows[None], table.positive_rows[None]))[0])


def count_verdicts(
    case: Case,
    *,
    limit: float,
    error: float,
    rows: int,
    repetitions: int,
    generator: np.random.Generator,
    claims: int = 1,
) -> Counter[VerdictName]:
    """Judge tables of one case and count the verdicts.

    Args:
        case: The gate and its rows.

        limit: The limit.

        error: The true error.

        rows: Rows of each table.

        repetitions: Number of tables.

        generator: Random numbers.

        claims: How many claims the gate judges together.
    """
    rule, ground = rule_of(case, limit), replace(case.ground, claims=claims, rows_wanted=False)
    tables = [case.draw(generator, rows, error) for _ in range(repetitions)]
    if case.measure is M.L2:
        return by_statistic(tables, rule, ground)
    return Counter(judge(table, rule, ground=ground).outcome for table in tables)


def by_statistic(tables: list[ScoreTable], rule: Rule, ground: Ground) -> Counter[VerdictName]:
    """Count the verdicts on tables with the same rows at each score, of which few are judged.

    Both Chernoff bounds grow with sum G alone where rows and scores are the same: verdicts go by its order.
    """
    tables = sorted(tables, key=_sum_g)
    order = (VerdictName.PASS, VerdictName.INCONCLUSIVE, VerdictName.FAIL)

    def first_at_least(wanted: VerdictName) -> int:
        low, high = 0, len(tables)
        while low < high:
            middle = (low + high) // 2
            found = judge(tables[middle], rule, ground=ground).outcome
            low, high = (low, middle) if order.index(found) >= order.index(wanted) else (middle + 1, high)
        return low

    passes, fails = first_at_least(VerdictName.INCONCLUSIVE), first_at_least(VerdictName.FAIL)
    counts = (passes, fails - passes, len(tables) - fails)
    return Counter(dict(zip(order, counts, strict=True)))


def _sum_g(table: ScoreTable) -> float:
    n, x, v = table.rows, table.positive_rows, table.score
    return float((((x - n * v) ** 2 - x * (1 - 2 * v) - n * v**2) / (n - 1)).sum())
