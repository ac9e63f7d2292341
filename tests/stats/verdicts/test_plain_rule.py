"""Rules about a number as it is, and about p-values."""

import numpy as np
import pytest

from calibcli.errors import UsageProblem
from calibcli.names import Binning, Bound, MeasureName, Purpose, Relation, TestName, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.gates import judge
from calibcli.stats.gates.claim import Claim, Ground
from calibcli.stats.measures.if_calibrated import CalibratedDraws
from calibcli.stats.measures.tests import calibration_tests
from calibcli.stats.numerics import stream
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import ATOMS, Bins, binned, equal_width_edges
from stats.verdicts.boundary import rule

M = MeasureName
TEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(10))
AT_MOST, AT_LEAST = Relation


def table_of(rows: int, error: float = 0.0, seed: int = 0) -> ScoreTable:
    """Rows at as many scores."""
    rng = np.random.default_rng(seed)
    score = 0.8 * rng.random(rows)
    return ScoreTable.from_rows(score, rng.random(rows) < score + error)


def test_estimate_stands_to_the_limit_as_it_is() -> None:
    """The estimate itself is compared, and the verdict claims no confidence."""
    table = table_of(400)
    value = float(np.abs(binned(table, TEN).residual).sum()) / 400
    for limit, outcome in ((value, VerdictName.PASS), (np.nextafter(value, 0), VerdictName.FAIL)):
        verdict = judge(table, rule(M.ECE, float(limit), AT_MOST, Bound.VALUE), ground=Ground(TEN))
        assert verdict.outcome is outcome
        assert verdict.value == value
        assert (verdict.lower, verdict.upper, verdict.target) == (None, None, None)
        assert verdict.method == "estimate alone, no confidence"
        assert "how uncertain it is was not considered" in verdict.assumptions[0]
        assert verdict.claim.expression.startswith("binned_ece.value <= ")
    above = judge(table, rule(M.ECE, value, AT_LEAST, Bound.VALUE), ground=Ground(TEN))
    assert above.outcome is VerdictName.PASS


@pytest.mark.parametrize("relation", Relation)
def test_bounds_at_the_limit_keep_it(relation: Relation) -> None:
    """As a number at the limit does; what refutes is beyond it."""
    claim = Claim("ece", 0.5, 0.95, relation=relation)
    assert claim.by_bounds(lower=0.5, upper=0.5) is VerdictName.PASS
    assert claim.by_bounds(lower=0.5, upper=None) is not VerdictName.FAIL
    assert claim.by_bounds(lower=None, upper=0.5) is not VerdictName.FAIL


@pytest.mark.parametrize("name", [M.L2, M.LINF, M.MMCE, M.BRIER_MCB, M.ECE_SWEEP])
def test_measures_without_a_bound_can_be_compared(name: MeasureName) -> None:
    """What no bound exists for, or only for few-valued scores, has a value all the same."""
    verdict = judge(table_of(400), rule(name, 0.9, AT_MOST, Bound.VALUE), ground=Ground(TEN))
    assert verdict.outcome is VerdictName.PASS


@pytest.mark.parametrize(
    ("scores", "asked", "reason"),
    [
        ([0.5], rule(M.COX_SLOPE, 0.5, AT_LEAST, Bound.VALUE), "undefined where there is one score only"),
        ([0.0, 1.0], rule(TestName.SPIEGELHALTER, 0.05, AT_LEAST, Bound.P_VALUE), "undefined"),
    ],
)
def test_what_is_undefined_concludes_nothing(scores: list[float], asked: Rule, reason: str) -> None:
    """NaN is neither below nor above, and certain scores that are all right leave nothing to test."""
    score = np.array(scores)
    table = ScoreTable(score, np.full(score.size, 100), (100 * score).astype(np.int64))
    verdict = judge(table, asked, ground=Ground(ATOMS))
    assert verdict.outcome is VerdictName.INCONCLUSIVE
    assert str(verdict.reason).startswith(reason)


@pytest.mark.parametrize("name", [TestName.KUIPER, TestName.T, TestName.SPIEGELHALTER])
def test_p_values_are_those_of_measure(name: TestName) -> None:
    """The same draws as `measure` makes; a rejection fails, and a pass claims no evidence."""
    for error, outcome in ((0.0, VerdictName.PASS), (0.2, VerdictName.FAIL)):
        table = table_of(600, error)
        sums = binned(table, TEN)
        drawn = CalibratedDraws(
            table,
            partitions=(sums,),
            generator=stream(0, Purpose.MONTE_CARLO),
            smece_generator=stream(0, Purpose.SMECE_NULL),
        )
        results, _ = calibration_tests([name], table, bins=sums, calibrated=drawn)
        verdict = judge(table, rule(name, 0.01, AT_LEAST, Bound.P_VALUE), ground=Ground(TEN))
        assert verdict.value == results[0].p_value
        assert verdict.outcome is outcome
        assert verdict.claim.expression == f"{name.value}.p >= 0.01"
        no_evidence = any("does not show that" in text for text in verdict.assumptions)
        assert no_evidence == (outcome is VerdictName.PASS)
        assert (verdict.partition != "") == (name is TestName.T)


@pytest.mark.parametrize(
    ("rows", "limit", "outcome"),
    [
        (600, 0.002, VerdictName.FAIL),
        (600, 0.001, VerdictName.FAIL),
        (600, 0.0001, VerdictName.INCONCLUSIVE),
        (600, 0.00005, VerdictName.INCONCLUSIVE),
        (4_000, 0.00005, VerdictName.FAIL),
    ],
)
def test_a_limit_below_what_draws_show_is_not_called_kept(
    rows: int, limit: float, outcome: VerdictName
) -> None:
    """9,999 draws show no p-value below 1e-4: rejected scores do not pass a limit of that or less by them."""
    requested = rule(TestName.KS, limit, AT_LEAST, Bound.P_VALUE)
    verdict = judge(table_of(rows, 0.3), requested, ground=Ground(TEN))
    assert verdict.outcome is outcome
    if outcome is VerdictName.INCONCLUSIVE:
        assert verdict.reason == "the p-value comes from 9,999 simulated draws and cannot be below 0.0001"
    requested = rule(TestName.T, 0.0005, AT_LEAST, Bound.P_VALUE)
    assert judge(table_of(600, 0.0), requested, ground=Ground(TEN)).outcome is VerdictName.PASS


def test_tests_refuse_importance_weights() -> None:
    """With them labels drawn from the scores are not the hypothesis."""
    rng = np.random.default_rng(0)
    score = rng.random(300)
    table = ScoreTable.from_rows(score, rng.random(300) < score, Weighing(weight=rng.random(300)))
    with pytest.raises(UsageProblem, match="importance weights"):
        judge(table, rule(TestName.KS, 0.05, AT_LEAST, Bound.P_VALUE), ground=Ground(TEN))
