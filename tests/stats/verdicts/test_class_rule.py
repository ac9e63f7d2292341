"""Claims about several classes together: each end of the interval is used by itself."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from calibcli.errors import UsageProblem
from calibcli.names import Binning, Bound, ClassMeasure, Relation, Target, VerdictName
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.other_rules import class_rule
from calibcli.stats.measures.classes import class_measure
from calibcli.stats.table.bins import Bins, equal_width_edges
from class_rows import drawn_rows, labels_of, softmax, views_of
from stats.verdicts.boundary import rule

C = ClassMeasure
AT_MOST, AT_LEAST = Relation
FIFTEEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))
ROWS = drawn_rows(900, 4, heat=1.6, seed=3)


@pytest.mark.parametrize("name", list(C))
@pytest.mark.parametrize("claims", [1, 4])
def test_bounds_are_ends_of_the_interval_of_measure(name: ClassMeasure, claims: int) -> None:
    """The upper one at 1 - 2 delta; the lower one, which fails the claim, at 1 - 2 delta / claims.

    That of an l2 error, which may miss alone, at 1 - delta / claims.
    """
    ground, alone = Ground(FIFTEEN, claims=claims), name in (C.MARGINAL_L2, C.TOP_LABEL_L2)
    verdict = class_rule(views_of(*ROWS), rule(name, 0.5), ground=ground)
    measured = [
        class_measure(name, views_of(*ROWS, confidence=1.0 - 2.0 * 0.05 / many))
        for many in (1, 2 * claims if alone else claims)
    ]
    passing, failing = (one.interval for one in measured)
    assert passing is not None
    assert failing is not None
    # Rows alone in their bin may be as wrong as their scores allow.
    hidden = float(measured[0].details.get("alone_at_most", 0.0))
    assert verdict.upper == pytest.approx(math.hypot(passing.ends[1], math.sqrt(hidden)), rel=1e-12)
    assert verdict.lower == pytest.approx(failing.lower, rel=1e-12)
    assert (verdict.target, verdict.finite_sample) == (passing.target, passing.finite_sample)
    assert verdict.rows == 900


def test_rows_alone_in_their_bin_are_no_reason_to_pass() -> None:
    """Of 300 rows of 100 unequal classes half are; nearly all tables passed a limit at the error of all."""
    rng, classes = np.random.default_rng(7), 100
    logits = 3.0 * rng.standard_normal((300, classes)) - 1.3 * np.log(np.arange(1, classes + 1))
    given, true = softmax(logits), softmax(0.4 * logits)
    top, row = given.argmax(axis=1), np.arange(300)
    gap, cell = (true - given)[row, top], np.minimum((15.0 * given[row, top]).astype(int), 14)
    _, place, rows = np.unique(15 * top + cell, return_inverse=True, return_counts=True)
    error = math.sqrt((np.bincount(place, gap) ** 2 / rows).sum() / 300.0)
    for _ in range(5):
        found = class_rule(
            views_of(given, labels_of(true, rng)), rule(C.TOP_LABEL_L2, error), ground=Ground(FIFTEEN)
        )
        assert found.upper is not None
        assert found.value < error < found.upper
        assert found.outcome is VerdictName.INCONCLUSIVE
        assert any("rows alone in their bin do not count" in one for one in found.assumptions)
        assert any("may be as wrong as their scores allow" in one for one in found.assumptions)


def test_accuracy_is_judged_by_clopper_pearson() -> None:
    """Pass, fail or neither, as the exact one-sided bounds lie to the limit."""
    probability, label = ROWS
    right = int((probability.argmax(axis=1) == label).sum())
    low, high = beta.ppf(0.05, right, 901 - right), beta.ppf(0.95, right + 1, 900 - right)
    views, ground = views_of(*ROWS), Ground(FIFTEEN)
    for limit, outcome in (
        (low - 1e-6, VerdictName.PASS),
        (low + 1e-6, VerdictName.INCONCLUSIVE),
        (high - 1e-6, VerdictName.INCONCLUSIVE),
        (high + 1e-6, VerdictName.FAIL),
    ):
        verdict = class_rule(views, rule(C.ACCURACY, limit, AT_LEAST), ground=ground)
        assert (verdict.outcome, verdict.target) == (outcome, Target.POPULATION)
    kept = class_rule(views, rule(C.ACCURACY, low + 1e-6, AT_LEAST, Bound.UPPER), ground=ground)
    assert kept.outcome is VerdictName.PASS


def test_value_alone_is_compared_without_confidence() -> None:
    """On either side of the limit, at it too."""
    views, ground = views_of(*ROWS), Ground(FIFTEEN)
    value = class_measure(C.CLASSWISE_ECE, views).value
    for limit, relation, outcome in (
        (value, AT_MOST, VerdictName.PASS),
        (value, AT_LEAST, VerdictName.PASS),
        (value * 0.999, AT_MOST, VerdictName.FAIL),
        (value * 1.001, AT_LEAST, VerdictName.FAIL),
    ):
        verdict = class_rule(views, rule(C.CLASSWISE_ECE, limit, relation, Bound.VALUE), ground=ground)
        assert (verdict.outcome, verdict.upper, verdict.finite_sample) == (outcome, None, False)


def test_few_rows_conclude_nothing() -> None:
    """Fewer than --min-rows never; fewer than ten wrong ones where an interval holds for many rows only."""
    few, ground = views_of(*drawn_rows(90, 4)), Ground(FIFTEEN)
    for bound in (Bound.UPPER, Bound.VALUE):
        verdict = class_rule(few, rule(C.CLASS_BRIER, 1.9, bound=bound), ground=ground)
        assert (verdict.outcome, verdict.reason) == (
            VerdictName.INCONCLUSIVE,
            "90 rows are fewer than --min-rows 100",
        )
    label = np.arange(200) % 3
    probability = np.full((200, 3), 0.02)
    probability[np.arange(200), label] = 0.96
    right = views_of(probability, label)
    loss = class_rule(right, rule(C.CLASS_BRIER, 1.9), ground=ground)
    assert (loss.outcome, loss.reason) == (
        VerdictName.INCONCLUSIVE,
        "0 rows have label 0, fewer than 10",
    )
    exact = class_rule(right, rule(C.ACCURACY, 0.98, AT_LEAST), ground=ground)
    assert (exact.outcome, exact.lower) == (VerdictName.PASS, pytest.approx(0.05 ** (1 / 200)))


def test_row_that_was_certain_and_wrong_fails_every_log_loss() -> None:
    """The mean is infinite in the population too."""
    probability, label = (one.copy() for one in ROWS)
    probability[0] = np.eye(4)[(label[0] + 1) % 4]
    verdict = class_rule(views_of(probability, label), rule(C.CLASS_LOG_LOSS, 5.0), ground=Ground(FIFTEEN))
    assert (verdict.outcome, verdict.lower, verdict.upper) == (VerdictName.FAIL, np.inf, None)


def test_importance_weights_have_bounds_for_these_rows_or_none() -> None:
    """Of means Hoeffding's at the effective rows; errors that have no such bound are refused, not values."""
    weight = np.random.default_rng(0).exponential(size=900)
    views = views_of(*ROWS, weight=weight)
    with pytest.raises(UsageProblem, match="no valid bound for importance weights: its interval"):
        class_rule(views, rule(C.MARGINAL_L2, 0.5), ground=Ground(FIFTEEN))
    margin = math.sqrt(math.log(20.0) / 2.0 * (weight**2).sum()) / weight.sum()
    for name, width in (
        (C.ACCURACY, 1.0),
        (C.CLASS_BRIER, 2.0),
        (C.CLASS_LOG_LOSS, views.joint.losses[C.CLASS_LOG_LOSS].worst),
    ):
        found = class_rule(views, rule(name, 0.5), ground=Ground(FIFTEEN))
        assert found.upper == pytest.approx(min(found.value + width * margin, name.facts.most))
        assert (found.target, found.finite_sample) == (Target.FIXED_DESIGN, True)
        assert "the weights of rows must not depend on their labels" in found.assumptions
    verdict = class_rule(views, rule(C.ACCURACY, 0.1, AT_LEAST, Bound.VALUE), ground=Ground(FIFTEEN))
    assert verdict.outcome is VerdictName.PASS
