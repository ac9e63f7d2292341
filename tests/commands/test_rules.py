"""Texts such as `smece.upper<=0.02` to rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibcli
from calibcli.commands.bins import CUT
from calibcli.errors import UsageProblem
from calibcli.names import Binning, Bound, ClassMeasure, MeasureName, Relation, TestName
from calibcli.options.gating import bins_of_gate
from calibcli.options.rules import Rule, largest, rule_of, rules_of
from calibcli.stats.gates.claim import BOUNDS

M = MeasureName
LEAST, MOST = Relation.AT_LEAST, Relation.AT_MOST


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("ece<=0.02", Rule("ece.upper<=0.02", M.ECE, Bound.UPPER, MOST, 0.02)),
        ("  smece . upper <= 2e-2 ", Rule("smece.upper<=0.02", M.SMECE, Bound.UPPER, MOST, 0.02)),
        ("cox-slope>=.8", Rule("cox_slope.lower>=0.8", M.COX_SLOPE, Bound.LOWER, LEAST, 0.8)),
        ("Slope>=.8", Rule("cox_slope.lower>=0.8", M.COX_SLOPE, Bound.LOWER, LEAST, 0.8)),
        ("BIAS.value>=-0.01", Rule("bias.value>=-0.01", M.BIAS, Bound.VALUE, LEAST, -0.01)),
        ("ks.p>=0.01", Rule("ks.p>=0.01", TestName.KS, Bound.P_VALUE, LEAST, 0.01)),
        ("log_loss.lower<=2", Rule("log_loss.lower<=2", M.LOG_LOSS, Bound.LOWER, MOST, 2.0)),
        (
            "ece<=0.1234567890123",
            Rule("ece.upper<=0.1234567890123", M.ECE, Bound.UPPER, MOST, 0.1234567890123),
        ),
        ("ece.value<=0", Rule("ece.value<=0", M.ECE, Bound.VALUE, MOST, 0.0)),
        ("Accuracy>=0.9", Rule("accuracy.lower>=0.9", ClassMeasure.ACCURACY, Bound.LOWER, LEAST, 0.9)),
        (
            "class-brier<=1.5",
            Rule("class_brier.upper<=1.5", ClassMeasure.CLASS_BRIER, Bound.UPPER, MOST, 1.5),
        ),
    ],
)
def test_rule_is_read_with_its_default_bound(text: str, rule: Rule) -> None:
    """Blanks, case and dashes do not count; the bound left out is the one that must keep to the limit."""
    assert rule_of(text) == rule


@given(
    subject=st.sampled_from([*MeasureName, *ClassMeasure]),
    bound=st.sampled_from([*BOUNDS, Bound.VALUE]),
    relation=st.sampled_from(list(Relation)),
    share=st.floats(0.01, 0.99),
)
def test_key_of_a_rule_reads_back_as_the_rule(
    subject: MeasureName | ClassMeasure, bound: Bound, relation: Relation, share: float
) -> None:
    """The normalised text of a rule is a rule, and the same."""
    least, most = subject.facts.least, subject.facts.most
    limit = max(least, -9.0) + share * (min(most, 9.0) - max(least, -9.0))
    rule = rule_of(f"{subject.value}.{bound.value}{relation.value}{limit!r}")
    assert rule_of(rule.key) == rule
    assert (rule.subject, rule.bound, rule.relation, rule.limit) == (subject, bound, relation, limit)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "is not a rule", "smece.upper<=0.02"),
        ("ece", "is not a rule", "ks.p>=0.01"),
        ("<=0.02", "is not a rule", "cox_slope.lower>=0.8"),
        ("ece<=0.02 and more", "is not a rule", "smece.upper"),
        ("smec<=0.02", "no measure or test 'smec'", "did you mean smece"),
        ("zzzz<=0.02", "no measure or test 'zzzz'", "write it like"),
        ("ece<0.02", "with <", "write <=: a rule holds at its limit too"),
        ("ece>0.02", "with >", "write >="),
        ("ece==0.02", "with ==", "<= or >="),
        ("ece=<0.02", "with =<", "<= or >="),
        ("ece.uper<=0.02", "no 'uper'", "did you mean .upper"),
        ("ece.<=0.02", "no ''", "smece.upper"),
        ("ece.p>=0.02", "no p-value", "ks.p>=0.01"),
        ("ks>=0.01", "not the test", "ks.p>=0.01"),
        ("ks.upper>=0.01", "not its upper", "ks.p>=0.01"),
        ("ks.p<=0.01", "miscalibrated", "ks.p>=0.01"),
        ("ece<=", "has no limit", "smece.upper"),
        ("ece<=abc", "'abc' is not a number", "smece.upper"),
        ("ece<=nan", "'nan' is not a number", "smece.upper"),
        ("ece<=inf", "'inf' is not a number", "smece.upper"),
        ("ece<=-1", "never be shown", "ece lies between 0 and 1"),
        ("ece<=0", "never be shown", "inside"),
        ("ece<=1", "whatever the rows say", "inside"),
        ("ece.value<=1", "whatever the rows say", "inside"),
        ("ece>=0", "whatever the rows say", "inside"),
        ("bias.value<=-1.5", "never be shown", "between -1 and 1"),
        ("brier_skill>=2", "never be shown", "at most 1"),
        ("log_loss.value<=-1", "never be shown", "at least 0"),
        ("class_log_loss.value<=-1", "never be shown", "at least 0"),
        ("class_brier<=2", "holds whatever", "between 0 and 2"),
        ("accuracy>=1", "never be shown", "between 0 and 1"),
        ("accuracy.p>=0.1", "has no p-value", "smece.upper"),
        ("ks.p>=0", "whatever the rows say", "a p-value lies between 0 and 1"),
    ],
)
def test_what_is_no_rule_is_refused_with_a_way_out(text: str, message: str, hint: str) -> None:
    """Each mistake has its words, and a hint that can be typed."""
    with pytest.raises(UsageProblem) as problem:
        rule_of(text)
    assert message in problem.value.message
    assert hint in (problem.value.hint or "")


@given(text=st.text(max_size=25))
def test_any_text_is_a_rule_or_a_usage_problem(text: str) -> None:
    """Nothing else comes of it."""
    try:
        key = rule_of(text).key
    except UsageProblem as problem:
        key = problem.hint or ""
    assert key


def test_limits_of_options_lie_between_0_and_1() -> None:
    """`--max-ece 0.02` is the rule max-ece; 0, 1 and NaN are none."""
    assert largest(M.ECE, 0.02) == Rule("max-ece", M.ECE, Bound.UPPER, MOST, 0.02)
    for limit in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(UsageProblem, match=f"--max-smece {limit:g} is out of range"):
            largest(M.SMECE, limit)


def test_the_same_claim_twice_is_one_rule() -> None:
    """It must not cost the error probability of two."""
    rules = rules_of({M.ECE: 0.02, M.L2: None, M.DCE: 0.1}, ["ece<=0.02", "ece.upper <= 0.020", "ece<=0.03"])
    assert [rule.key for rule in rules] == ["max-ece", "max-dce", "ece.upper<=0.03"]


def test_bins_of_a_gate_are_a_number_none_or_values() -> None:
    """None means each value of the score by itself, and a list those that it can have."""
    assert bins_of_gate(None, None) == (None, None, ())
    assert bins_of_gate("20", Binning.EQUAL_WIDTH) == (20, Binning.EQUAL_WIDTH, ())
    assert bins_of_gate("None", None) == (None, Binning.ATOMS, ())
    assert bins_of_gate("0.2, 0.01,0.2", None) == (None, Binning.ATOMS, (0.01, 0.2))
    assert bins_of_gate([0.5], Binning.ATOMS) == (None, Binning.ATOMS, (0.5,))
    wrong = (("many", None), (True, None), ("none", Binning.EQUAL_WIDTH), ([0.5], Binning.EQUAL_WIDTH))
    for said, binning in wrong:
        with pytest.raises(UsageProblem):
            bins_of_gate(said, binning)


def test_bins_are_read_by_what_is_said_to_have_some() -> None:
    """Of every measure and test: what `measure` says of it differs with the number of bins."""
    rng = np.random.default_rng(4)
    rows = rng.dirichlet([1.0, 1.0, 1.0], 50)
    labels = [int(rng.choice(3, p=one)) for one in rows]
    found: set[object] = set()
    for scores, right in ((rows[:, 0], np.array(labels) == 0), (rows, np.array(labels))):
        few, many = (calibcli.measure(scores, right, metric="all", bins=bins).to_dict() for bins in (7, 15))
        for kind in ("measures", "tests"):
            found |= {name for name, one in few[kind].items() if one != many[kind][name]}
    # It has parts over bins beside its value.
    assert found == {*CUT, ClassMeasure.CLASS_BRIER}
