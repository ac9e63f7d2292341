"""A plan of a gate on segments names rows that give the verdict as often as it says."""

from typing import Any

import numpy as np
import pytest

from calibcli.errors import UsageProblem
from calibcli.names import Bound, Relation, SegmentMeasure, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.gates import plan
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.plan import Effort, Gate, Plan, planned_segments
from calibcli.stats.gates.segments import RowsBySegment, segment_rule
from calibcli.stats.measures.segments import segments_of, subset
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS
from stats.segment_rows import entries_of

GROUND = Ground(ATOMS, least_rows=1, rows_wanted=False)
SHARES = np.array([0.6, 0.3, 0.1])


@pytest.fixture(autouse=True)
def _fewer_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate by a part of the gates: what it takes here is known to some per cent."""
    monkeypatch.setattr(plan, "_SEGMENTS_EFFORT", Effort(150, 400))


def drawn(rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return levels of one column, which are unlike in size, and scores."""
    level = rng.choice(3, rows, p=SHARES).reshape(1, -1)
    return level, rng.uniform(0.1, 0.9, rows)


def planned(limit: float, error: float = 0.0, *, power: float = 0.9) -> Plan:
    """Plan a gate on the segments of 20,000 rows."""
    level, score = drawn(20_000, np.random.default_rng(1))
    entries = entries_of(level, score, np.zeros(score.size))
    found = segments_of(entries, depth=1)
    rule = Rule("max-segment-bias", SegmentMeasure.SEGMENT_BIAS, Bound.UPPER, Relation.AT_MOST, limit)
    wanted = VerdictName.PASS if error < limit else VerdictName.FAIL
    names = ["all rows", "a", "b", "c"]
    generator = np.random.default_rng(2)
    return planned_segments(
        Gate(rule, GROUND, wanted), entries, found, names, error=error, power=power, generator=generator
    )


def share_of(found: Plan, limit: float, error: float, outcome: VerdictName) -> float:
    """Return how often the gate itself gives a verdict after so many rows."""
    rule = Rule("max-segment-bias", SegmentMeasure.SEGMENT_BIAS, Bound.UPPER, Relation.AT_MOST, limit)
    rng, given = np.random.default_rng(3), []
    assert found.rows is not None
    for _ in range(60):
        level, score = drawn(found.rows, rng)
        label = rng.random(score.size) < score + error * (level[0] == 2)
        entries = entries_of(level, score, label)
        segments = segments_of(entries, depth=1)
        table = ScoreTable.from_rows(score, label)
        rows = RowsBySegment(table, segments, entries, [()] * segments.size, ("a",), 1, 1)
        given.append(segment_rule(rows, rule, ground=GROUND).outcome is outcome)
    return float(np.mean(given))


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (0.0, VerdictName.PASS),
        pytest.param(0.03, VerdictName.PASS, marks=pytest.mark.slow),
        (0.15, VerdictName.FAIL),
    ],
)
def test_gates_of_so_many_rows_give_the_verdict_as_often_as_planned(
    error: float, outcome: VerdictName
) -> None:
    """Nine in ten do, by draws of whole rows and by the gate itself, within what 60 draws tell."""
    found = planned(0.07, error)
    assert found.rows is not None
    assert found.half is not None
    assert found.half < found.rows
    assert share_of(found, 0.07, error, outcome) == pytest.approx(found.reached, abs=0.09)
    where = "in every segment" if not error else "only c is wrong, 10 % of rows"
    assert where in found.population.words


def test_more_room_and_less_power_take_fewer_rows() -> None:
    """The smallest segment settles the number: a tenth of the rows take ten times as many of all."""
    narrow, wide = planned(0.05).rows, planned(0.1).rows
    assert narrow is not None
    assert wide is not None
    # Bounds narrow by the root of the rows.
    assert 3.0 < narrow / wide < 5.0
    assert (planned(0.1, power=0.5).rows or 0) < wide


def test_an_error_that_no_segment_can_have_is_refused() -> None:
    """Scores of 0.1 to 0.9 cannot be off by 0.9 on average."""
    with pytest.raises(UsageProblem, match=r"no labels can give any of 4 segments a bias of 0\.9"):
        planned(0.05, 0.9)


def test_segments_that_are_alike_may_all_fail_to_pass() -> None:
    """Twenty alike at a power of 90 % take what four of them take at its fifth root."""
    rng = np.random.default_rng(5)
    level, score = np.arange(2_000).reshape(1, -1) % 20, rng.uniform(0.2, 0.8, 2_000)
    entries = entries_of(level, score, np.zeros(2_000))
    found = subset(every := segments_of(entries, depth=1), np.flatnonzero(every.level[:, 0] >= 0))
    rule = Rule("max-segment-bias", SegmentMeasure.SEGMENT_BIAS, Bound.UPPER, Relation.AT_MOST, 0.1)
    gate = Gate(rule, GROUND, VerdictName.PASS)
    cases = [(found, 0.9), *[(subset(found, np.arange(4)), 0.9**0.2)] * 3]
    many, *few = (
        planned_segments(gate, entries, some, ["one"] * 20, error=0.0, power=power, generator=rng).rows
        for some, power in cases
    )
    # So high a power is simulated three times, as one answer varies by 5 %; four at 90 % take 30 % less.
    assert many == pytest.approx(np.mean(few), rel=0.07)
