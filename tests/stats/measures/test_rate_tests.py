"""Tests of the rate of a grade: p-values against scipy, their sizes worked out, and Holm's adjustment."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest

from calibcli.names import TestName
from calibcli.stats.bounds import holm
from calibcli.stats.measures.if_calibrated import CalibratedDraws
from calibcli.stats.measures.tests import calibration_tests, rate_test
from calibcli.stats.table import ScoreTable
from score_rows import TEN, table_of

P_VALUES = st.lists(st.floats(0.0, 1.0) | st.none(), max_size=8)


def grade(score: float, rows: int, events: int) -> ScoreTable:
    """A grade of rows that have one score."""
    return ScoreTable(np.array([score]), np.array([rows]), np.array([events]))


@pytest.mark.parametrize(
    ("score", "rows", "events"), [(0.01, 500, 9), (0.2, 40, 0), (0.5, 7, 7), (3e-4, 90, 1)]
)
def test_p_values_are_those_of_scipy(score: float, rows: int, events: int) -> None:
    """The tail of the binomial law with the events seen, and the posterior of Jeffreys' prior."""
    table = grade(score, rows, events)
    exact, jeffreys = rate_test(TestName.BINOMIAL, table), rate_test(TestName.JEFFREYS, table)
    assert exact.statistic == jeffreys.statistic == events
    assert exact.p_value == pytest.approx(binom.sf(events - 1, rows, score), rel=1e-9)
    assert jeffreys.p_value == pytest.approx(beta.cdf(score, events + 0.5, rows - events + 0.5), rel=1e-9)


@pytest.mark.parametrize(
    ("score", "rows", "events"), [(0.01, 500, 9), (0.2, 40, 0), (0.5, 7, 7), (3e-4, 90, 1), (0.08, 1417, 80)]
)
def test_two_sided_p_value_is_that_of_scipy(score: float, rows: int, events: int) -> None:
    """Twice the smaller of both tails; below a level where Clopper-Pearson leaves the score out."""
    test = rate_test(TestName.BINOMIAL_TWO_SIDED, grade(score, rows, events))
    tails = [binomtest(events, rows, score, alternative=side).pvalue for side in ("greater", "less")]
    assert test.statistic == events
    assert test.p_value == pytest.approx(min(1.0, 2.0 * min(tails)), rel=1e-9)
    for level in (0.01, 0.05, 0.2, 0.7):
        interval = binomtest(events, rows, score).proportion_ci(1.0 - level, "exact")
        assert (test.p_value < level) is not bool(interval.low <= score <= interval.high)


@pytest.mark.parametrize(
    ("score", "rows", "events"), [(0.01, 500, 9), (0.2, 40, 0), (0.5, 7, 7), (3e-4, 90, 0), (0.08, 1417, 80)]
)
def test_two_sided_jeffreys_rejects_what_its_interval_leaves_out(
    score: float, rows: int, events: int
) -> None:
    """Equal tails of the posterior, down to 0 without events and up to 1 without others."""
    p = rate_test(TestName.JEFFREYS_TWO_SIDED, grade(score, rows, events)).p_value
    law = beta(events + 0.5, rows - events + 0.5)
    for level in (0.01, 0.05, 0.2, 0.7):
        low = law.ppf(level / 2.0) if events else 0.0
        high = law.isf(level / 2.0) if events < rows else 1.0
        assert (p < level) is not (low <= score <= high)


@given(
    score=st.floats(1e-4, 1 - 1e-4),
    rows=st.integers(1, 500),
    share=st.floats(0.0, 1.0),
    names=st.sampled_from(
        [(TestName.BINOMIAL_TWO_SIDED, TestName.BINOMIAL), (TestName.JEFFREYS_TWO_SIDED, TestName.JEFFREYS)]
    ),
)
def test_two_sided_test_knows_no_side(
    score: float, rows: int, share: float, names: tuple[TestName, TestName]
) -> None:
    """It is the same of label 0, and at most twice the one-sided one where there are events."""
    (name, one_sided), events = names, round(share * rows)
    table, other = grade(score, rows, events), grade(1.0 - score, rows, rows - events)
    p = rate_test(name, table).p_value
    assert p == pytest.approx(rate_test(name, other).p_value, rel=1e-6, abs=1e-12)
    assert p <= 2.0 * rate_test(one_sided, table).p_value * (1.0 + 1e-12) or not events


@given(score=st.floats(1e-6, 1 - 1e-6), rows=st.integers(1, 500), share=st.floats(0.0, 1.0))
def test_jeffreys_lies_between_both_binomial_tails(score: float, rows: int, share: float) -> None:
    """P(X > D) <= p <= P(X >= D): more than the exact test allows, less than one event more would."""
    events = round(share * rows)
    table = grade(score, rows, events)
    p = rate_test(TestName.JEFFREYS, table).p_value
    assert binom.sf(events, rows, score) - 1e-9 <= p <= rate_test(TestName.BINOMIAL, table).p_value + 1e-9


@pytest.mark.parametrize(("name", "spread"), [(TestName.BINOMIAL, 0.95), (TestName.BINOMIAL_TWO_SIDED, 0.5)])
def test_binomial_keeps_its_level_where_scores_differ(name: TestName, spread: float) -> None:
    """Calibrated labels of unlike scores are rejected at most as often as the level says, worked out."""
    score = 0.1 * np.array([1.0 - spread, 1.0 + spread])
    chances = np.convolve(*(binom.pmf(np.arange(101), 100, one) for one in score))
    p = [
        rate_test(name, ScoreTable(score, np.array([100, 100]), np.array([k // 2, k - k // 2]))).p_value
        for k in range(201)
    ]
    for level in (0.01, 0.05, 0.1):
        assert chances[np.array(p) <= level].sum() <= level


@pytest.mark.parametrize(
    ("rows", "expected", "highest", "grades", "most"),
    [
        (100, 0.002, 0.5, 1, 0.162),
        (100, 0.2, 0.5, 1, 0.114),
        (100, 10.0, 0.5, 1, 0.067),
        (1_000, 0.002, 0.5, 1, 0.162),
        (1_000, 10.0, 0.5, 1, 0.067),
        (100, 0.2, 1.0, 1, 0.148),
        (5, 0.2, 1.0, 1, 0.162),
        (1, 0.002, 1.0, 1, 0.23),
        (100, 0.02, 0.5, 20, 0.363),
        (100, 2.0, 0.5, 20, 0.0961),
        (100, 10.0, 0.5, 20, 0.073),
        (1_000, 0.02, 0.5, 20, 0.363),
        (1_000, 10.0, 0.5, 20, 0.073),
    ],
)
def test_size_of_jeffreys_is_as_documented(
    rows: int, expected: float, highest: float, grades: int, most: float
) -> None:
    """At 5 % true rates up to the highest are rejected so often at most, from so many expected events on; of
    so many grades any of them, adjusted by Holm.
    """
    events = np.arange(rows + 1)
    # A rate is rejected from so many events on; as it rises to where one more is asked for, so does the size.
    rates = beta.ppf(0.05 / grades, events + 0.5, rows - events + 0.5)
    sizes = binom.sf(events - 1, rows, rates)[(rates * rows >= expected) & (rates <= highest)]
    assert 0.97 * most <= 1.0 - (1.0 - sizes.max()) ** grades <= most


@pytest.mark.parametrize(
    ("rows", "expected", "most"),
    [(1, 0.0, 0.147), (2, 0.0, 0.119), (10, 0.0, 0.132), (100, 0.0, 0.12), (996, 0.0, 0.124),
     (1_000, 0.0, 0.103), (100, 10.0, 0.074), (1_000, 10.0, 0.07)],
)  # fmt: skip
def test_size_of_two_sided_jeffreys_is_as_documented(rows: int, expected: float, most: float) -> None:
    """At 5 % right rates are rejected so often at most, where so many of either label are expected."""
    events = np.arange(rows + 1)
    low = np.where(events > 0, beta.ppf(0.025, events + 0.5, rows - events + 0.5), 0.0)
    high = np.where(events < rows, beta.isf(0.025, events + 0.5, rows - events + 0.5), 1.0)
    # What is rejected changes at the ends of intervals, between which the size is largest at either end.
    ends = np.concatenate([end * (1.0 + sign * 1e-9) for end in (low, high) for sign in (-1.0, 1.0)])
    rates = ends[(ends > 0.0) & (ends < 1.0) & (np.minimum(ends, 1.0 - ends) * rows >= expected)]
    first = np.searchsorted(high, rates, side="left"), np.searchsorted(low, rates, side="right")
    sizes = binom.cdf(first[0] - 1, rows, rates) + binom.sf(first[1] - 1, rows, rates)
    assert 0.97 * most <= sizes.max() <= most


def test_certain_scores_leave_nothing_to_test() -> None:
    """No p-value where every score is 0 or 1; none with fewer events than there can be is below 1."""
    certain = ScoreTable(np.array([0.0, 1.0]), np.array([3, 2]), np.array([0, 2]))
    assert rate_test(TestName.BINOMIAL, certain).p_value is None
    assert rate_test(TestName.BINOMIAL, grade(0.3, 5, 0)).p_value == 1.0


def test_holm_by_hand() -> None:
    """The smallest times all, the next times one fewer, never below one before; 1 at most."""
    assert holm([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])
    assert holm([0.7, 0.8]) == (1.0, 1.0)


@given(p_values=P_VALUES)
def test_holm_lies_between_each_and_bonferroni(p_values: list[float | None]) -> None:
    """Adjusted ones keep their order and are at most those of Bonferroni; what is missing stays so."""
    found = holm(p_values)
    known = sorted((p, after) for p, after in zip(p_values, found, strict=True) if p is not None)
    assert [p is None for p in p_values] == [p is None for p in found]
    assert all(p <= after <= min(1.0, len(known) * p) for p, after in known)
    assert [after for _, after in known] == sorted(after for _, after in known)


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        # One surprise among open scores, up or down: the number of events alone is asked for.
        ([(1.0, 0)] + [(0.5, k % 2) for k in range(20)], "counted"),
        ([(0.0, 1)] + [(0.5, k % 2) for k in range(20)], "counted"),
        # Where every score is 0 or 1 their number is known: one more, one less, as many by others.
        ([(0.0, 1), (0.0, 0), (1.0, 1)], "more"),
        ([(1.0, 0), (0.0, 0), (1.0, 1)], "fewer"),
        ([(1.0, 0), (0.0, 1)], "as many"),
    ],
)
def test_a_sure_row_that_was_wrong_settles_no_rate(rows: list[tuple[float, int]], wanted: str) -> None:
    """A grade was red, its probability too low, for one row of score 1 without an event."""
    table, names = table_of(rows), list(TestName)[-4:]
    one, two = (np.random.default_rng(seed) for seed in (0, 1))
    with patch("calibcli.stats.measures.if_calibrated.expected_smece", return_value=(0.0, None)):
        drawn = CalibratedDraws(table, partitions=[TEN], generator=one, smece_generator=two, draws=99)
    found, _ = calibration_tests(names, table, bins=TEN, calibrated=drawn)
    plain = tuple(rate_test(name, table) for name in names)
    refuted = [one.name for one in found if (one.p_value, one.p_method) == (0.0, "contradiction")]
    both = [TestName.BINOMIAL_TWO_SIDED, TestName.JEFFREYS_TWO_SIDED]
    assert refuted == {"more": names, "fewer": both}.get(wanted, [])
    assert all(one == other for one, other in zip(found, plain, strict=True) if one.name not in refuted)
