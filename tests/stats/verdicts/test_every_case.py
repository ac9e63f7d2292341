"""Laws that every verdict obeys, whatever is judged."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import UsageProblem
from calibcli.names import Binning, Bound, MeasureName, Relation, Target, VerdictName
from calibcli.stats.gates import judge
from calibcli.stats.gates import plan as planning
from calibcli.stats.gates.claim import Ground, Verdict
from calibcli.stats.gates.other_rules import measured
from calibcli.stats.gates.rows_needed import BY_SIMULATION
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import ATOMS, Bins, equal_width_edges
from calibcli.stats.table.grid import grid_of
from score_rows import scored_table
from stats.verdicts.boundary import is_wanted, rule

M = MeasureName
Scores = Callable[[np.random.Generator, int], np.ndarray]
FIFTEEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))
WITH_BOUNDS = (M.ECE, M.L2, M.LINF, M.SMECE, M.DCE, M.BIAS, M.BRIER, M.COX_SLOPE, M.ACE, M.SMCE)
FEW = np.array([0.2, 0.5, 0.8])


def few_valued(seed: int, rows: int, error: float = 0.0) -> ScoreTable:
    """Rows at three scores, whose rates are off by an error."""
    rng = np.random.default_rng(seed)
    held = 1 + rng.multinomial(rows - 3, np.full(3, 1 / 3))
    return ScoreTable(FEW, held, rng.binomial(held, np.clip(FEW + error, 0, 1)))


def many_valued(seed: int, rows: int, error: float = 0.0) -> ScoreTable:
    """Rows at as many scores."""
    return scored_table(rows, lambda score: np.clip(score + error, 0, 1), seed=seed)


def given_of(verdict: Verdict) -> tuple[object, ...]:
    """What of a verdict must not move."""
    return verdict.outcome, verdict.value, verdict.lower, verdict.upper, verdict.needed, verdict.reason


@given(
    seed=st.integers(0, 999),
    measure=st.sampled_from(WITH_BOUNDS),
    limit=st.floats(0.001, 0.9),
    error=st.sampled_from([0.0, 0.1, -0.3]),
    rows=st.integers(100, 3000),
    relation=st.sampled_from(Relation),
    claims=st.sampled_from([1, 4]),
    variance=st.sampled_from([None, 0.02, 0.25]),
)
def test_outcome_follows_from_the_bounds(
    seed: int,
    measure: MeasureName,
    limit: float,
    error: float,
    rows: int,
    relation: Relation,
    claims: int,
    variance: float | None,
) -> None:
    """The bounds enclose each other, and pass and fail are where they lie; never both."""
    requested = rule(measure, limit, relation)
    ground = Ground(ATOMS, variance, claims=claims, least_rows=1, rows_wanted=False)
    verdict = judge(few_valued(seed, rows, error), requested, ground=ground)
    assert verdict.lower <= verdict.value <= verdict.upper
    # A pass may say of which values it speaks.
    if verdict.reason is not None and verdict.outcome is not VerdictName.PASS:
        assert verdict.outcome is VerdictName.INCONCLUSIVE
        return
    most = relation is Relation.AT_MOST
    held = verdict.upper <= limit if most else verdict.lower >= limit
    refuted = verdict.lower > limit if most else verdict.upper < limit
    assert not (held and refuted)
    assert (verdict.outcome is VerdictName.PASS) == held
    assert (verdict.outcome is VerdictName.FAIL) == refuted


@given(
    seed=st.integers(0, 999),
    measure=st.sampled_from(WITH_BOUNDS),
    limit=st.floats(0.02, 0.4),
    looser=st.floats(1.0, 2.0),
)
def test_looser_limit_keeps_a_pass(seed: int, measure: MeasureName, limit: float, looser: float) -> None:
    """What passes a limit passes a larger one, and what fails a limit fails a smaller one."""
    table = few_valued(seed, 2000, 0.1 if seed % 2 else 0.0)
    ground = Ground(ATOMS, rows_wanted=False)
    strict, loose = (
        judge(table, rule(measure, one), ground=ground).outcome for one in (limit, limit * looser)
    )
    assert strict is not VerdictName.PASS or loose is VerdictName.PASS
    assert loose is not VerdictName.FAIL or strict is VerdictName.FAIL


@pytest.mark.parametrize("measure", WITH_BOUNDS)
def test_order_and_repetition_of_rows_do_not_matter(measure: MeasureName) -> None:
    """Rows that are counted, repeated and shuffled get the verdict of their table, promises included."""
    table = few_valued(5, 600, 0.05)
    ones, zeros = table.positive_rows, table.rows - table.positive_rows
    # One row of each, and the others counted.
    score, label = np.tile(FEW, 4), np.repeat([True, False, True, False], 3)
    counts = np.concatenate((ones - 1, zeros - 1, np.ones(6, np.int64)))
    mixed = np.random.default_rng(0).permutation(score.size)
    again = ScoreTable.from_rows(score[mixed], label[mixed], Weighing(counts=counts[mixed]))
    requested = rule(measure, 0.08)
    first, other = (given_of(judge(one, requested, ground=Ground(ATOMS))) for one in (table, again))
    assert first == other


@pytest.mark.parametrize("measure", WITH_BOUNDS)
def test_more_claims_move_only_the_bound_that_fails(measure: MeasureName) -> None:
    """All claims must pass, so passing stays as it is; any may fail, so failing takes more."""
    table, alone = few_valued(3, 900, 0.1), Ground(ATOMS, rows_wanted=False)
    together = replace(alone, claims=10)
    for relation in Relation:
        requested = rule(measure, 0.08, relation)
        one, ten = (judge(table, requested, ground=ground) for ground in (alone, together))
        if relation is Relation.AT_MOST:
            assert ten.upper == one.upper
            assert ten.lower < one.lower or one.lower == 0.0
        else:
            assert ten.lower == one.lower
            assert ten.upper > one.upper


@pytest.mark.parametrize("measure", [M.ECE, M.SMECE, M.DCE, M.BIAS, M.BRIER])
def test_grid_tables_are_judged_like_exact_ones(measure: MeasureName) -> None:
    """Rounding scores to cells moves a bound by no more than the cells are wide."""
    table = many_valued(1, 1500, 0.05)
    requested, ground = rule(measure, 0.06), Ground(FIFTEEN, rows_wanted=False)
    exact, grid = (judge(one, requested, ground=ground) for one in (table, grid_of(table)))
    assert grid.outcome is exact.outcome
    assert (grid.lower, grid.upper) == pytest.approx((exact.lower, exact.upper), abs=1e-5)


@pytest.mark.parametrize("measure", [M.L2, M.LINF])
@pytest.mark.parametrize("kind", ["bins", "grid"])
def test_errors_of_single_scores_are_refused_where_scores_are_many(measure: MeasureName, kind: str) -> None:
    """The refusal names the theorem, what any bound would be at least, and what to ask instead."""
    table = many_valued(2, 300)
    label_gap = float((table.positive * (1 - table.score)).sum() + (table.score * (1 - table.positive)).sum())
    with pytest.raises(UsageProblem, match=r"Theorem 12\.5") as caught:
        judge(
            table if kind == "bins" else grid_of(table),
            rule(measure, 0.05),
            ground=Ground(FIFTEEN if kind == "bins" else ATOMS),
        )
    assert f"here {label_gap / 300:.4g}" in str(caught.value)
    assert all(option in str(caught.value.hint) for option in ("--max-ece", "--max-smece", "--max-dce"))


@pytest.mark.parametrize("measure", [*WITH_BOUNDS, M.LOG_LOSS, M.SPHERICAL])
def test_importance_weights_have_the_bounds_of_measure_or_are_refused(measure: MeasureName) -> None:
    """Those that hold at any number of rows, one end at a time, and means what each label can move."""
    rng = np.random.default_rng(0)
    table = ScoreTable.from_rows(
        np.repeat(FEW, 100), rng.random(300) < np.repeat(FEW, 100), Weighing(weight=rng.random(300))
    )
    estimate = measured(measure, table, ATOMS, confidence=0.9)
    if estimate.interval is not None and estimate.interval.finite_sample:
        verdict = judge(table, rule(measure, 0.5), ground=Ground(ATOMS))
        ends = (estimate.interval.lower, estimate.interval.upper)
        assert (verdict.lower, verdict.upper) == pytest.approx(ends, rel=1e-12)
        assert verdict.finite_sample
    elif measure in (MeasureName.BRIER, MeasureName.LOG_LOSS, MeasureName.SPHERICAL):
        verdict = judge(table, rule(measure, 0.5), ground=Ground(ATOMS))
        moved = {
            MeasureName.BRIER: 1.0 - 2.0 * table.score,
            MeasureName.LOG_LOSS: np.log(table.score / (1.0 - table.score)),
            MeasureName.SPHERICAL: (1.0 - 2.0 * table.score) / np.hypot(table.score, 1.0 - table.score),
        }[measure]
        margin = math.sqrt(math.log(20.0) / 2.0 * (table.weight_sq * moved**2).sum()) / table.weight.sum()
        assert verdict.upper == pytest.approx(estimate.value + margin, rel=1e-9)
        assert (verdict.target, verdict.finite_sample) == (Target.FIXED_DESIGN, True)
    else:
        with pytest.raises(UsageProblem, match="importance weights") as caught:
            judge(table, rule(measure, 0.5), ground=Ground(ATOMS))
        assert "frequency" in str(caught.value.hint)
    plain = judge(table, rule(measure, 2.0, bound=Bound.VALUE), ground=Ground(ATOMS))
    assert plain.outcome is VerdictName.PASS


@pytest.mark.parametrize("measure", WITH_BOUNDS)
def test_too_few_rows_conclude_nothing(measure: MeasureName) -> None:
    """Below --min-rows, whatever the bounds say, nothing is concluded and no rows are promised."""
    verdict = judge(few_valued(0, 99, 0.2), rule(measure, 0.9), ground=Ground(ATOMS))
    assert verdict.outcome is VerdictName.INCONCLUSIVE
    assert "--min-rows" in verdict.reason
    assert verdict.needed is None


def some_of(*values: float) -> Scores:
    return lambda rng, rows: rng.choice(values, rows)


def near_the_ends(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Scores most of which are near 0 or 1, and the others anywhere."""
    return rng.beta(0.1, 0.1, rows)


RARE_GRADES, RARE = some_of(*np.geomspace(0.002, 0.2, 15)), some_of(*np.linspace(0.001, 0.06, 1500))


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("measure", "scores", "limit"),
    [
        (M.ECE, RARE_GRADES, 0.005),
        (M.ECE, near_the_ends, 0.03),
        (M.LINF, RARE_GRADES, 0.02),
        (M.SMECE, RARE, 0.01),
        (M.DCE, some_of(0.0, 0.1, 0.3, 0.6, 1.0), 0.03),
        # Where its scores were taken to come back half as many were promised.
        (M.DCE, near_the_ends, 0.05),
        # Where only bins were looked at twice as many.
        (M.DCE, some_of(0.05), 0.01),
    ],
)
def test_every_second_gate_passes_with_the_rows_at_best(
    measure: MeasureName, scores: Scores, limit: float
) -> None:
    """With a few more rows than an open verdict names most calibrated tables pass, with half of them few."""
    rng = np.random.default_rng(5)

    def sample(rows: int) -> ScoreTable:
        score = scores(rng, rows)
        return ScoreTable.from_rows(score, rng.random(rows) < score)

    first = sample(1000)
    ground = Ground(ATOMS if first.distinct <= 15 else FIFTEEN)
    needed = judge(first, rule(measure, limit), ground=ground).needed
    assert needed is not None
    gate = planning.Gate(rule(measure, limit), ground, VerdictName.PASS)
    few, most = (
        np.mean([is_wanted(gate, sample(round(part * needed.at_best))) for _ in range(25)])
        for part in (0.5, 1.2)
    )
    assert few <= 0.2
    assert most >= 0.5


@pytest.mark.parametrize("measure", [M.ECE, M.L2, M.LINF, M.SMECE, M.DCE])
@pytest.mark.parametrize("limit", [0.0, 5e-324, 1e-200, 1e-9])
def test_absurd_limits_are_answered(measure: MeasureName, limit: float) -> None:
    """No number of rows shows an error of next to nothing, and asking is not an error."""
    verdict = judge(few_valued(0, 400), rule(measure, limit), ground=Ground(ATOMS))
    assert verdict.outcome is VerdictName.INCONCLUSIVE
    assert verdict.needed.to_pass is None
    assert verdict.needed.at_best == 0 or verdict.needed.at_best >= 10**9


def test_rows_are_simulated_for_what_plan_simulates() -> None:
    """But for the ECE, whose formula is as near and takes no time."""
    assert {*planning.SIMULATED} - {M.ECE} == BY_SIMULATION
