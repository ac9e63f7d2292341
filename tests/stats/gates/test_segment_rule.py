"""A gate on segments says of each what its bounds say, and of all what the worst says."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from calibcli.names import Bound, Relation, SegmentMeasure, Target, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.bounds.proportion import range_margin, sum_margin
from calibcli.stats.gates import judge
from calibcli.stats.gates.claim import Ground, JudgedSegment, Verdict
from calibcli.stats.gates.segments import RowsBySegment
from calibcli.stats.measures.segments import Entries, are_tested, joint, segments_of
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS
from stats.segment_rows import entries_of, true_sigma

GROUND = Ground(ATOMS, least_rows=1)


def rows_of(
    level: np.ndarray, score: np.ndarray, label: np.ndarray, *, depth: int = 2, least: int = 1
) -> RowsBySegment:
    """Return rows by segment, named by their levels."""
    entries = entries_of(level, score, label)
    found = segments_of(entries, depth=depth)
    names = [
        tuple(f"{column} = {one}" for column, one in zip("abc", key, strict=False) if one >= 0)
        for key in found.level.tolist()
    ]
    table = ScoreTable.from_rows(score, label.astype(bool))
    return RowsBySegment(table, found, entries, names, tuple("abc"[: level.shape[0]]), depth, least)


def verdict(
    rows: RowsBySegment, limit: float, bound: Bound = Bound.UPPER, ground: Ground = GROUND
) -> Verdict:
    """Judge that no segment is off by more than a limit."""
    rule = Rule("max-segment-bias", SegmentMeasure.SEGMENT_BIAS, bound, Relation.AT_MOST, limit)
    return judge(rows, rule, ground=ground)


def of_ranges(rows: RowsBySegment, subject: SegmentMeasure, bound: Bound, limit: float) -> Verdict:
    """Judge the largest range of the residuals of segments, or its p-value."""
    relation = Relation.AT_LEAST if bound is Bound.P_VALUE else Relation.AT_MOST
    return judge(rows, Rule("mce", subject, bound, relation, limit), ground=GROUND)


def by_name(found: Verdict) -> dict[tuple[str, ...], JudgedSegment]:
    """Return the segments of a verdict by their conditions."""
    assert found.segments is not None
    return {one.where: one for one in found.segments.segments}


def drawn_rows(seed: int, rows: int = 600, wrong: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return levels of two columns, scores and labels; scores of one pair are too high."""
    rng = np.random.default_rng(seed)
    level = np.stack([rng.integers(0, 3, rows), rng.integers(0, 2, rows)])
    score = rng.choice([0.2, 0.4, 0.6], rows)
    off = wrong * ((level[0] == 0) & (level[1] == 1))
    return level, score, rng.random(rows) < score - off


def test_bounds_are_those_of_scipy() -> None:
    """Where scores are alike bounds are Clopper and Pearson's, at 0.05 above and at 0.05/(2 m) below."""
    rng = np.random.default_rng(2)
    level = rng.integers(0, 4, (1, 800))
    score = np.full(800, 0.3)
    label = rng.random(800) < np.where(level[0] == 1, 0.6, 0.3)
    found = by_name(verdict(rows_of(level, score, label), 0.1))
    assert len(found) == 5
    for where, one in found.items():
        inside = level[0] == int(where[0][-1]) if where else np.ones(800, bool)
        n, x = int(inside.sum()), int(label[inside].sum())
        high, low = beta.ppf(0.95, x + 1, n - x), beta.ppf(0.05, x, n - x + 1)
        assert one.rows == n
        assert one.observed_rate == pytest.approx(x / n)
        assert one.upper == pytest.approx(max(high - 0.3, 0.3 - low), abs=1e-9)
        high, low = beta.ppf(1 - 0.005, x + 1, n - x), beta.ppf(0.005, x, n - x + 1)
        assert one.lower == pytest.approx(max(0.0, 0.3 - high, low - 0.3), abs=1e-9)
    assert next(iter(found)) == ("a = 1",)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.15]),
    st.lists(st.floats(0.001, 0.6), min_size=2, max_size=5),
)
def test_verdict_is_that_of_the_worst_segment(seed: int, wrong: float, limits: list[float]) -> None:
    """All must pass and any may fail; a wider limit is never harsher; small segments are counted."""
    rows = rows_of(*drawn_rows(seed, wrong=wrong), least=90)
    order = [VerdictName.FAIL, VerdictName.INCONCLUSIVE, VerdictName.PASS]
    last = 0
    for limit in sorted(limits):
        found = verdict(rows, limit)
        every = by_name(found).values()
        outcomes = {one.outcome for one in every}
        assert found.outcome is next(one for one in order if one in outcomes)
        assert found.segments is not None
        assert found.segments.segments[0].outcome is found.outcome
        assert found.value == pytest.approx(max(abs(one.bias) for one in every))
        assert found.lower == max(one.lower or 0.0 for one in every)
        assert found.upper == max(one.upper or 0.0 for one in every)
        assert found.lower <= found.value <= found.upper
        assert found.target is Target.FIXED_DESIGN
        assert all(one.rows >= 90 for one in every)
        assert order.index(found.outcome) >= last
        last = order.index(found.outcome)
        kept = verdict(rows, limit, Bound.VALUE)
        assert (kept.outcome is VerdictName.PASS) == (found.value <= limit)
    small = {key for key, one in by_name(verdict(replace(rows, least_rows=1), 0.1)).items() if one.rows < 90}
    assert found.segments.small == len(small)
    inside = np.zeros(600, bool)
    for where in small:
        each = np.ones(600, bool)
        for one in where:
            each &= drawn_rows(seed, wrong=wrong)[0]["ab".index(one[0])] == int(one[-1])
        inside |= each
    assert found.segments.small_rows == inside.sum()


def test_more_segments_cost_a_pass_nothing_and_a_fail_something() -> None:
    """A further column of the same segments changes no upper bound, and moves lower ones down."""
    level, score, label = drawn_rows(3)
    few = by_name(verdict(rows_of(level[:1], score, label, depth=1), 0.1))
    many = by_name(verdict(rows_of(level, score, label), 0.1))
    for where, one in few.items():
        assert many[where].upper == pytest.approx(one.upper, rel=1e-12)
        assert (many[where].lower or 0.0) <= (one.lower or 0.0)
    # As many claims as are judged together share the error of a fail, and none of a pass.
    shared = by_name(
        verdict(rows_of(level[:1], score, label, depth=1), 0.1, ground=replace(GROUND, claims=3))
    )
    for where, one in few.items():
        assert shared[where].upper == one.upper
        assert (shared[where].lower or 0.0) <= (one.lower or 0.0)


def test_certain_scores_are_judged() -> None:
    """Scores of 0 leave labels no variance, and a segment of them is judged all the same."""
    level = np.repeat([[0, 1]], 1_000, axis=1).reshape(1, -1)
    score = np.where(level[0] == 0, 0.0, 0.5)
    label = np.concatenate((np.arange(1_000) < 200, np.arange(1_000) % 2 == 0))
    found = verdict(rows_of(level, score, label), 0.1)
    assert found.outcome is VerdictName.FAIL
    assert by_name(found)[("a = 0",)].outcome is VerdictName.FAIL


@pytest.mark.parametrize("wrong", [0.0, 0.03, 0.2])
def test_rows_needed_decide(wrong: float) -> None:
    """As many rows like these as are named give the verdict, and nine tenths of them do not."""
    rng = np.random.default_rng(4)
    level, score = np.repeat([[0, 1, 2, 2]], 60, axis=1), np.full(240, 0.4)
    # Rates that are as far off as they look.
    label = np.concatenate([np.arange(60) < 60 * rate for rate in (0.4 - wrong, 0.4, 0.4, 0.4)])
    order = rng.permutation(240)
    found = verdict(rows_of(level[:, order], score, label[order]), 0.1)
    assert found.needed is not None
    named = found.needed.to_pass or found.needed.to_fail
    if named is None:
        assert found.needed.within_noise
        named = found.needed.at_best
        label = np.tile(np.arange(60) < 24, 4)

    def grown(rows: float) -> VerdictName:
        times = int(rows / 240)
        many = verdict(rows_of(np.tile(level, times), np.tile(score, times), np.tile(label, times)), 0.1)
        return many.outcome

    assert grown(1.15 * named + 240) is not VerdictName.INCONCLUSIVE
    if named > 600:
        assert grown(0.8 * named) is VerdictName.INCONCLUSIVE
    assert found.needed.at_best >= 1


def test_no_segment_is_large_enough() -> None:
    """Where none has the rows, nothing is concluded, whatever the bound of the rule."""
    rows = rows_of(*drawn_rows(1), least=10_000)
    for bound in (Bound.UPPER, Bound.VALUE):
        found = verdict(rows, 0.1, bound)
        assert found.outcome is VerdictName.INCONCLUSIVE
        assert "no segment has 10,000 rows" in (found.reason or "")
        assert found.segments is not None
        assert (found.segments.segments, found.segments.small_rows) == ((), 600)


@pytest.mark.usefixtures("few_draws")
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.15]),
    st.lists(st.floats(0.5, 12.0), min_size=2, max_size=5),
)
def test_ranges_are_judged_segment_by_segment(seed: int, wrong: float, limits: list[float]) -> None:
    """Both units give one verdict, the worst segment's; p-values are those of the search."""
    level, score, label = drawn_rows(seed, wrong=wrong)
    rows = rows_of(level, score, label, least=60)
    tested = are_tested(rows.found, least_rows=60)
    unit = math.sqrt((score * (1 - score)).sum()) / score.size
    last, order = 0, [VerdictName.FAIL, VerdictName.INCONCLUSIVE, VerdictName.PASS]
    for limit in sorted(limits):
        found = of_ranges(rows, SegmentMeasure.MCE_SIGMA, Bound.UPPER, limit)
        scaled = of_ranges(rows, SegmentMeasure.MCE, Bound.UPPER, limit * unit)
        every = by_name(found)
        assert len(every) == tested.sum()
        assert found.outcome is scaled.outcome
        assert found.outcome is next(one for one in order if one in {one.outcome for one in every.values()})
        assert found.value == pytest.approx(rows.found.sigma[tested].max())
        assert (scaled.value, scaled.lower, scaled.upper) == pytest.approx(
            tuple(unit * one for one in (found.value, found.lower or 0.0, found.upper or 0.0)), rel=1e-9
        )
        assert all((one.lower or 0.0) <= (one.value or 0.0) <= (one.upper or 0.0) for one in every.values())
        kept = of_ranges(rows, SegmentMeasure.MCE_SIGMA, Bound.VALUE, limit)
        assert (kept.outcome is VerdictName.PASS) == (found.value <= limit)
        assert order.index(found.outcome) >= last
        last = order.index(found.outcome)
    p_values = joint(rows.entries, rows.found, tested, names="ab", depth=2, error=0.05).p_values
    found = of_ranges(rows, SegmentMeasure.MCE, Bound.P_VALUE, 0.05)
    assert found.value == p_values.min()
    assert (found.outcome is VerdictName.FAIL) == (found.value < 0.05)
    assert found.segments is not None
    assert found.segments.count(VerdictName.FAIL) == (p_values < 0.05).sum()
    assert sorted(one.value or 0.0 for one in found.segments.segments) == sorted(p_values)
    assert found.segments.small == (~rows.found.same).sum() - tested.sum()


def test_bounds_of_a_range_are_those_of_their_formulas() -> None:
    """Errors that cancel on average are refuted by the range, whole shifts by the bias, at their levels."""
    rng = np.random.default_rng(3)
    level, score = np.zeros((1, 4_000), int), np.tile([0.3, 0.7], 2_000)
    for chance, by_range in ((np.tile([0.6, 0.4], 2_000), True), (score - 0.2, False)):
        label = rng.random(4_000) < chance
        rows = rows_of(level, score, label)
        (one,) = by_name(of_ranges(rows, SegmentMeasure.MCE_SIGMA, Bound.UPPER, 1.0)).values()
        squares, root = float(((label - score) ** 2).sum()), math.sqrt((score * (1 - score)).sum())
        assert one.upper == pytest.approx(one.value + sum_margin(squares, delta=0.05) / root)
        wide = (one.value or 0.0) - range_margin(squares, delta=0.0125) / root
        assert ((one.lower or 0.0) == pytest.approx(wide)) == by_range
        assert (one.lower or 0.0) >= wide
        assert one.outcome is VerdictName.FAIL


def test_segments_too_even_to_be_tested_get_no_verdict_by_range() -> None:
    """Rows enough and events too few: the range has no law there, and that is said."""
    score, label = np.full(400, 0.004), np.arange(400) < 20
    found = of_ranges(rows_of(np.zeros((1, 400), int), score, label), SegmentMeasure.MCE, Bound.P_VALUE, 0.01)
    assert found.outcome is VerdictName.INCONCLUSIVE
    assert "events enough" in (found.reason or "")
    assert math.isnan(found.value)


def test_cells_of_the_score_can_hide_no_more_than_is_allowed_for() -> None:
    """Errors that cancel within cells lie below the upper bound; a range between cells does not see them."""
    score = np.tile([0.3, 0.31, 0.6, 0.61], 3_000)
    chance = np.tile([0.3 + 0.2, 0.31 - 0.2, 0.6 + 0.2, 0.61 - 0.2], 3_000)
    level, label = np.zeros((1, score.size), int), np.random.default_rng(3).random(score.size) < chance
    exact = rows_of(level, score, label)
    cell, place = np.unique(np.round(score, 1), return_inverse=True)
    ones = label.astype(int)
    rows, positive = np.bincount(place), np.bincount(place[label])
    sums = np.bincount(place, score * ones), np.bincount(place, score * (1 - ones))
    entries = Entries.of_parts(np.zeros(2, int), (1,), cell, rows=rows, positive=positive, scores=sums)
    kept = replace(exact, entries=entries, found=segments_of(entries, depth=1), is_grid=True)
    # The mean of a cell stands for its scores, whatever their labels: a bound of the variance needs that.
    squares = ((label - np.array([0.305, 0.605])[place]) ** 2).sum()
    assert kept.found.squares[0] == pytest.approx(squares)
    seen, truth = (of_ranges(one, SegmentMeasure.MCE_SIGMA, Bound.UPPER, 1.0) for one in (kept, exact))
    in_truth = true_sigma(np.zeros((2, score.size), int), score, chance, least=1)
    assert (truth.lower or 0.0) <= in_truth <= (truth.upper or 0.0)
    assert (seen.lower or 0.0) <= in_truth <= (seen.upper or 0.0)
    hidden = of_ranges(replace(kept, is_grid=False), SegmentMeasure.MCE_SIGMA, Bound.UPPER, 1.0)
    assert (hidden.upper or 0.0) < in_truth
    assert (seen.upper or 0.0) - (hidden.upper or 0.0) == pytest.approx(
        6_000 / np.sqrt(kept.found.variance[0])
    )
