"""An alarm starts anew with every batch, and is hardly ever false."""

import math
import re
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.names import MeasureName, VerdictName
from calibcli.stats.gates.any_time import MOST_EPOCHS, Bets, Epoch, log_evidence_against_calibration, thinned
from calibcli.stats.gates.cells import Partition, Sums, sums_of
from calibcli.stats.gates.state import NO_ALARM, GateState, verdict_of
from calibcli.stats.table.score_table import ScoreTable
from gate_rows import ATOMS, FIFTEEN, TEN, begun, table_of_rows


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


@settings(max_examples=20, deadline=None)
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
@pytest.mark.parametrize("partition", [ATOMS, FIFTEEN])
def test_a_change_is_found_soon_and_dated(partition: Partition) -> None:
    """After twenty calibrated batches a shift raises the alarm within ten, and it stands."""
    generator = np.random.default_rng(9)
    outputs = partition.outputs
    state = begun(partition, limit=None, alarm=True)
    state = fed(state, *(table_of_rows(generator, 200, outputs=outputs) for _ in range(20)))
    verdict = verdict_of(state)
    assert (verdict.outcome, verdict.reason) == (VerdictName.PASS, NO_ALARM)
    for day in range(20, 30):
        state = state.counted(table_of_rows(generator, 200, outputs=outputs, off=0.15), key=f"day {day}")
    verdict = verdict_of(state)
    assert verdict.outcome is VerdictName.FAIL
    assert verdict.reason is not None
    found = re.search(r"strongest from batch (\d+) \(day (\d+)\) on", verdict.reason)
    assert found is not None
    assert int(found[1]) == int(found[2]) + 1
    assert 17 <= int(found[1]) <= 25
    assert state.failed_at is not None
    assert state.failed_at <= 6000


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
    for _ in range(40):
        tables = (table_of_rows(generator, 50, outputs=TEN) for _ in range(20))
        raised += fed(begun(limit=None, alarm=True), *tables).failed_at is not None
    # More than 9 of 40 would have a probability below 1e-4 at a true rate of 5 %.
    assert raised <= 9


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
