"""The e-values of a gate's sums are those of the rows, and never more."""

import math
from dataclasses import replace
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.names import MeasureName, VerdictName
from calibcli.stats.gates.any_time import (
    MOST_EPOCHS,
    Bets,
    Epoch,
    Start,
    changed_since,
    frozen_stakes,
    log_evidence_against_calibration,
    thinned,
)
from calibcli.stats.gates.cells import Partition, Sums, sums_of, table_of
from calibcli.stats.gates.state import NO_ALARM, GateState, verdict_of
from calibcli.stats.table import Floats, ScoreTable
from calibcli.stats.table import grid as cells
from calibcli.stats.table.bins import bin_index, equal_width_edges
from gate_rows import ATOMS, FIFTEEN, TEN, begun, rows_of, table_of_rows

pytestmark = pytest.mark.usefixtures("few_draws")

STAKES = frozen_stakes(delta=0.05, variance=None)


def log_mean(terms: list[float]) -> float:
    """Return the log of the mean of exponentials, each by the share of its stake."""
    return float(np.logaddexp.reduce(np.array(terms) + np.log(STAKES.shares)))


def pass_from_rows(plus: Floats, minus: Floats, group: np.ndarray, eps: float) -> float:
    """Return E_pass of `stats.md` section 4 row by row."""
    found = []
    for size in STAKES.sizes:
        signs = [np.bincount(group, np.log(1 - size * (x - eps))) for x in (plus, minus)]
        found.append(float(np.minimum(*signs).sum()))
    return log_mean(found)


def fail_from_rows(value: Floats, group: np.ndarray, eps: float, *, places: Floats) -> float:
    """Return E_fail of `stats.md` section 4 row by row."""
    found, here = [], np.unique(group)
    for size in STAKES.sizes:
        bet = min(size, 0.95 / (1 + eps))
        plus, minus = (np.bincount(group, np.log(1 + bet * (s * value - eps)))[here] for s in (1, -1))
        terms = [np.log(0.5 / 2) + one.sum() for one in (plus, minus)]
        # One change of sign: to the left of every group, between neighbours, or to the right of all.
        edges = [0.0, *places[here], 1.0]
        for place in range(here.size + 1):
            if edges[place + 1] > edges[place]:
                share = np.log(0.25 / 2 * (edges[place + 1] - edges[place]))
                terms += [
                    share + a[:place].sum() + b[place:].sum() for a, b in ((plus, minus), (minus, plus))
                ]
        terms.append(np.log(0.25) + (np.logaddexp(plus, minus) - math.log(2)).sum())
        found.append(float(np.logaddexp.reduce(terms)))
    return log_mean(found)


@given(st.integers(0, 10**6), st.integers(1, 3000), st.floats(0.001, 0.5))
def test_evidence_over_outputs_is_that_of_the_rows(seed: int, count: int, eps: float) -> None:
    """For outputs of an artifact both e-values equal the products over rows."""
    score, label = rows_of(np.random.default_rng(seed), count, outputs=TEN, off=0.02)
    bets = Bets(sums_of(ScoreTable.from_rows(score, label), ATOMS), ATOMS, measure=MeasureName.ECE)
    residual, group = label - score, np.searchsorted(TEN, score)
    assert bets.log_pass(eps, STAKES) == pytest.approx(
        pass_from_rows(residual, -residual, group, eps), abs=1e-9
    )
    places = np.array(TEN)
    due = fail_from_rows(residual, group, eps, places=places)
    assert bets.log_fail(eps, STAKES) == pytest.approx(due, abs=1e-9)
    gaps = np.abs(np.bincount(group, residual)).sum() / count
    assert bets.value == pytest.approx(gaps, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 2000), st.floats(0.001, 0.5))
def test_evidence_over_cells_is_just_below_that_of_the_rows(seed: int, count: int, eps: float) -> None:
    """For bins of a continuous score both e-values fall short of the products over rows by little."""
    score, label = rows_of(np.random.default_rng(seed), count, off=0.03)
    bets = Bets(sums_of(ScoreTable.from_rows(score, label), FIFTEEN), FIFTEEN, measure=MeasureName.ECE)
    residual, group = label - score, bin_index(equal_width_edges(15), score)
    most = count * (0.6 / 0.4) ** 2 * FIFTEEN.width**2 / 8 + 1e-9
    for mine, direct in (
        (bets.log_pass(eps, STAKES), pass_from_rows(residual, -residual, group, eps)),
        (bets.log_fail(eps, STAKES), fail_from_rows(residual, group, eps, places=equal_width_edges(15)[1:])),
    ):
        assert -most <= mine - direct <= 1e-9
    assert bets.value == pytest.approx(np.abs(np.bincount(group, residual)).sum() / count, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 2000), st.floats(0.001, 0.5))
def test_evidence_on_the_distance_is_just_below_that_of_the_rows(seed: int, count: int, eps: float) -> None:
    """The bets on the distance to calibration are those of its definition over midpoints and dictionary."""
    bins = 20
    partition = Partition.of_bins(bins, halved=True)
    score, label = rows_of(np.random.default_rng(seed), count, off=0.03)
    bets = Bets(sums_of(ScoreTable.from_rows(score, label), partition), partition, measure=MeasureName.DCE)
    group = bin_index(equal_width_edges(bins), score)
    middle = (group + 0.5) / bins
    gap, moved = label - middle, np.abs(score - middle)
    whole = np.zeros(count, int)
    both = (
        fail_from_rows(label - score, whole, eps, places=np.ones(1)),
        fail_from_rows((label - score) * (2 * score - 1), whole, 3 * eps, places=np.ones(1)),
    )
    below = float(np.logaddexp(*both)) - math.log(2)
    most = count * ((1.5 * 3) ** 2 + 1.5 * 4) * partition.width**2 / 8 + 1e-9
    for mine, direct in (
        (bets.log_pass(eps, STAKES), pass_from_rows(gap + moved, moved - gap, group, eps)),
        (bets.log_fail(eps, STAKES), below),
    ):
        assert -most <= mine - direct <= 1e-9
    estimate = np.abs(np.bincount(group, gap)).sum() / count + moved.mean()
    assert bets.value == pytest.approx(min(1.0, estimate), abs=1e-12)


@given(st.integers(0, 10**6), st.integers(20, 3000))
def test_bounds_lie_on_either_side_and_turn_where_the_evidence_does(seed: int, count: int) -> None:
    """The bounds enclose the estimate, and are the limits at which the evidence reaches 1 / delta."""
    score, label = rows_of(np.random.default_rng(seed), count, off=0.05)
    bets = Bets(sums_of(ScoreTable.from_rows(score, label), FIFTEEN), FIFTEEN, measure=MeasureName.ECE)
    lower, upper = bets.lower_bound(STAKES, delta=0.05), bets.upper_bound(STAKES, delta=0.05)
    assert lower <= bets.value <= upper
    if upper < 1.0:
        assert bets.log_pass(upper + 1e-6, STAKES) >= math.log(20) >= bets.log_pass(upper - 1e-6, STAKES)
    if lower > 0.0:
        assert bets.log_fail(lower - 1e-6, STAKES) >= math.log(20) >= bets.log_fail(lower + 1e-6, STAKES)


def test_evidence_against_calibration_is_the_odds_of_drawn_rates() -> None:
    """The closed form over outputs is the integral over rates drawn from Beta distributions."""
    partition = Partition((0.2, 0.7))
    sums = Sums((12, 30), (5, 16), (0, 0), (0, 0))
    rate = (np.arange(200_000) + 0.5) / 200_000
    direct = 0.0
    for v, n, x in zip(partition.outputs, sums.rows, sums.positive, strict=True):
        drawn = rate ** (30 * v - 1) * (1 - rate) ** (30 * (1 - v) - 1)
        odds = (rate / v) ** x * ((1 - rate) / (1 - v)) ** (n - x)
        direct += math.log((drawn * odds).sum() / drawn.sum())
    assert log_evidence_against_calibration(sums, partition) == pytest.approx(direct, abs=1e-7)


def test_a_label_that_an_output_rules_out_is_beyond_doubt() -> None:
    """One row with label 1 at an output of 0 refutes calibration; rows that agree with it say nothing."""
    certain = Partition((0.0, 0.5, 1.0))
    nothing = (0, 0, 0)
    assert log_evidence_against_calibration(Sums((9, 0, 1), (1, 0, 1), nothing, nothing), certain) == math.inf
    assert log_evidence_against_calibration(Sums((9, 0, 1), (0, 0, 1), nothing, nothing), certain) == 0.0


def test_states_of_before_draw_signs_bin_by_bin() -> None:
    """Bets that say nothing of signs are the products over bins that they were begun as."""
    score, label = rows_of(np.random.default_rng(6), 900, outputs=TEN, off=0.05)
    bets = Bets(sums_of(ScoreTable.from_rows(score, label), ATOMS), ATOMS, measure=MeasureName.ECE)
    residual, group = label - score, np.searchsorted(TEN, score)
    terms = []
    for size in STAKES.sizes:
        bet = min(size, 0.95 / 1.02)
        signs = [np.bincount(group, np.log(1 + bet * (s * residual - 0.02))) for s in (1, -1)]
        terms.append(float((np.logaddexp(*signs) - math.log(2)).sum()))
    assert bets.log_fail(0.02, replace(STAKES, alone=True)) == pytest.approx(log_mean(terms), abs=1e-9)


def test_stakes_follow_the_variance_of_the_fit_rows() -> None:
    """Rare events are bet on more boldly where the artifact's training counts say that they are rare."""
    plain, rare = frozen_stakes(delta=0.05, variance=None), frozen_stakes(delta=0.05, variance=0.0025)
    assert rare.sizes[-1] == pytest.approx(10 * plain.sizes[-1], abs=1e-8)
    assert max(rare.sizes) == 0.6
    assert frozen_stakes(delta=0.05, variance=0.3) == plain


def cut(score: np.ndarray, label: np.ndarray, ends: list[float]) -> list[ScoreTable]:
    """Return tables of consecutive parts of the rows, some perhaps empty."""
    places = sorted(int(end * score.size) for end in ends)
    parts = zip(np.split(score, places), np.split(label, places), strict=True)
    return [ScoreTable.from_rows(f, y) for f, y in parts]


@given(st.integers(0, 10**6), st.integers(1, 500), st.sampled_from([3, 15, 1000]))
def test_sums_are_those_of_the_definition(seed: int, count: int, bins: int) -> None:
    """Counts are exact, and distances those of the scores to a unit of 2^-52 or two for each row."""
    score, label = rows_of(np.random.default_rng(seed), count)
    partition = Partition.of_bins(bins)
    sums = sums_of(ScoreTable.from_rows(score, label), partition)
    place = bin_index(partition.edges, score)
    assert sums.rows == tuple(np.bincount(place, minlength=partition.size).tolist())
    assert sums.positive == tuple(np.bincount(place[label], minlength=partition.size).tolist())
    distance = np.bincount(place[label], (partition.upper[place] - score)[label], minlength=partition.size)
    assert np.array(sums.below_positive, float) * 2.0**-52 == pytest.approx(distance, abs=1e-12)


def test_counts_of_many_rows_do_not_overflow() -> None:
    """Frequency weights of a billion rows a score add up as whole numbers of any size."""
    many = 3 * 10**9
    table = ScoreTable(np.array([0.2995, 0.31]), np.array([many, many]), np.array([many // 2, 0]))
    partition = Partition.of_bins(3)
    sums = sums_of(table, partition)
    edge = partition.upper[bin_index(partition.edges, table.score)[0]]
    exact = many // 2 * round((edge - 0.2995) * 2**52)
    assert sum(sums.below_positive) == pytest.approx(exact, rel=1e-12)
    assert sum(sums.below_positive) > 2**63
    doubled = sums + sums
    assert sum(doubled.below_positive) == 2 * sum(sums.below_positive)


@pytest.mark.parametrize("bins", [1, 2, 7, 10, 15, 16, 20, 30, 140, 1001])
def test_cells_nest_those_of_a_grid_table_where_bins_do(bins: int) -> None:
    """Bins that a grid table nests are cut into cells that it nests, at least 720 of them."""
    assert cells.CELLS % bins == 0
    assert cells.CELLS % Partition.of_bins(bins).size == 0
    assert 720 <= Partition.of_bins(bins).size <= 4000
    assert Partition.of_bins(bins, halved=True).per_bin % 2 == 0


def test_outputs_are_counted_by_their_bits() -> None:
    """A score that is none of the outputs is refused, not rounded to one."""
    with pytest.raises(ValueError, match="none of the outputs"):
        sums_of(ScoreTable.from_rows(np.array([0.05, 0.1500001]), np.array([True, False])), ATOMS)


def test_table_of_sums_has_their_rows() -> None:
    """Sums give back a table: of outputs the very same, of cells one score in each."""
    generator = np.random.default_rng(1)
    table = ScoreTable.from_rows(*rows_of(generator, 500, outputs=TEN))
    assert table_of(sums_of(table, ATOMS), ATOMS) == table
    partition = Partition.of_bins(15)
    fine = ScoreTable.from_rows(*rows_of(generator, 5000))
    again = table_of(sums_of(fine, partition), partition)
    assert sums_of(again, partition).rows == sums_of(fine, partition).rows
    assert again.total_positive_rows == fine.total_positive_rows
    assert (again.score * again.rows).sum() == pytest.approx((fine.score * fine.rows).sum(), abs=1e-9)


def fed(state: GateState, *tables: ScoreTable) -> GateState:
    """Return the state after batches called 0, 1, ..."""
    return reduce(lambda s, pair: s.counted(pair[1], key=f"day {pair[0]}"), enumerate(tables), state)


@pytest.mark.parametrize("partition", [ATOMS, FIFTEEN])
@pytest.mark.parametrize("limit", [None, 0.03])
def test_evidence_is_the_weighted_sum_over_starts(partition: Partition, limit: float | None) -> None:
    """With few batches every start is kept, and the evidence is what the definition says."""
    generator = np.random.default_rng(1)
    tables = [table_of_rows(generator, 50, outputs=partition.outputs, off=0.1) for _ in range(7)]
    state = fed(begun(partition, limit=limit, alarm=True), *tables)
    terms = []
    for first in range(1, 8):
        since = sum((sums_of(one, partition) for one in tables[first - 1 :]), Sums.none(partition.size))
        if limit is None and partition.outputs:
            log = log_evidence_against_calibration(since, partition)
        else:
            log = Bets(since, partition, measure=MeasureName.ECE).log_fail(limit or 0.0, state.terms.stakes)
        terms.append(log - math.log(first * (first + 1)))
    assert state.look().log_fail == pytest.approx(float(np.logaddexp.reduce(terms)), abs=1e-9)


@given(st.integers(1, 2000))
def test_starts_are_few_and_dense_among_the_latest(count: int) -> None:
    """At most 64 starts are kept, with every row, the last batch by itself, and gaps that grow with age."""
    epochs: tuple[Epoch, ...] = ()
    for number in range(1, count + 1):
        epochs = thinned((*epochs, Epoch(number, Sums((1,), (0,), (0,), (0,)))))
    firsts = [epoch.first for epoch in epochs]
    assert len(firsts) == min(count, MOST_EPOCHS)
    assert sum(epoch.sums.total_rows for epoch in epochs) == count
    assert (firsts[0], firsts[-1]) == (1, count)
    ages = [count + 1 - first for first in firsts]
    assert all(later >= 0.6 * earlier or earlier - later <= 1 for earlier, later in pairwise(ages))


@pytest.mark.untraced
def test_a_change_is_found_soon_and_dated() -> None:
    """After twenty calibrated batches a shift raises the alarm within ten, and it stands."""
    generator = np.random.default_rng(9)
    state = begun(FIFTEEN, limit=None, alarm=True)
    state = fed(state, *(table_of_rows(generator, 200) for _ in range(20)))
    verdict = verdict_of(state)
    assert (verdict.outcome, verdict.reason) == (VerdictName.PASS, NO_ALARM)
    for day in range(20, 30):
        state = state.counted(table_of_rows(generator, 200, off=0.15), key=f"day {day}")
    verdict = verdict_of(state)
    assert verdict.outcome is VerdictName.FAIL
    assert verdict.reason is not None
    since = verdict.evidence.since if verdict.evidence is not None else None
    assert since is not None
    assert verdict.reason.endswith(since.words)
    assert since.key == f"day {since.batch - 1}"
    assert 12 <= since.earliest <= since.batch <= since.latest <= 25
    assert replace(since, batch=1, earliest=1, latest=1).words == "it was so from the first batch on"
    # What comes after the alarm changes nothing of it.
    later = fed(state, *(table_of_rows(generator, 200) for _ in range(5)))
    assert later.change == since
    assert state.failed_at is not None
    assert state.failed_at <= 6000


@given(
    st.lists(st.tuples(st.integers(1, 3), st.floats(-50.0, 50.0)), min_size=1, max_size=12),
    st.floats(0.5, 0.999),
    st.integers(0, 3),
)
def test_a_change_lies_between_its_ends(
    spans: list[tuple[int, float]], confidence: float, later: int
) -> None:
    """Ends are those of the fewest starts whose posterior sums to the confidence, and hold the strongest."""
    firsts = np.cumsum([1, *(span for span, _ in spans[:-1])]).tolist()
    logs = [log for _, log in spans]
    starts = [
        Start(first, log - math.log(first * (first + 1.0))) for first, log in zip(firsts, logs, strict=True)
    ]
    batches = firsts[-1] + later
    best, earliest, latest = changed_since(starts[::-1], batches=batches, confidence=confidence)
    assert 1 <= earliest <= best <= latest <= batches
    assert logs[firsts.index(best)] == pytest.approx(max(logs), abs=1e-9)
    share = np.exp(np.array(logs) - max(logs))
    ends = [*firsts[1:], batches + 1]
    inside = [
        one for one, first, end in zip(share, firsts, ends, strict=True) if earliest < end and first <= latest
    ]
    assert sum(inside) >= confidence * share.sum() * (1 - 1e-9)
    certain = [Start(first, math.inf if first <= best else 0.0) for first in firsts]
    assert changed_since(certain[::-1], batches=batches, confidence=confidence)[0] == best


def test_a_late_change_is_found_sooner_than_by_the_gate_that_never_starts_anew() -> None:
    """Rows of before the change do not water down the evidence of an alarm."""
    generator = np.random.default_rng(10)
    before = [table_of_rows(generator, 2000, outputs=TEN) for _ in range(10)]
    after = [table_of_rows(generator, 200, outputs=TEN, off=0.12) for _ in range(10)]
    alarm = fed(begun(limit=0.02, alarm=True), *before, *after)
    gate = fed(begun(limit=0.02), *before, *after)
    assert alarm.failed_at is not None
    assert gate.failed_at is None


@pytest.mark.untraced
def test_false_alarms_are_rare() -> None:
    """Of calibrated streams hardly more than delta ever raise an alarm."""
    generator = np.random.default_rng(30)
    raised = 0
    for _ in range(20):
        tables = (table_of_rows(generator, 50, outputs=TEN) for _ in range(20))
        raised += fed(begun(limit=None, alarm=True), *tables).failed_at is not None
    # More than 6 of 20 would have a probability below 1e-4 at a true rate of 5 %.
    assert raised <= 6


def test_errors_within_the_limit_raise_no_alarm() -> None:
    """With --max-ece an error below it counts as calibrated."""
    generator = np.random.default_rng(31)
    tables = [table_of_rows(generator, 2000, outputs=TEN, off=0.04) for _ in range(5)]
    assert fed(begun(limit=0.05, alarm=True), *tables).failed_at is None
    assert fed(begun(limit=None, alarm=True), *tables).failed_at is not None


def test_a_contradiction_raises_the_alarm_at_once() -> None:
    """A single row with label 1 at an output of 0 is enough, whatever --min-rows says."""
    state = begun(Partition((0.0, 0.5)), limit=None, alarm=True)
    state = state.counted(ScoreTable(np.array([0.0]), np.array([3]), np.array([1])), key="a")
    assert state.look().log_fail == math.inf
    assert verdict_of(state).outcome is VerdictName.FAIL
