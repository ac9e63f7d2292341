"""Bets on segments: never more than exact bets on the same rows, the same sums however rows are split."""

import json
import math
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.documents.sealed import document_of
from calibcli.documents.state import from_dict, state_text
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import SegmentMeasure, VerdictName
from calibcli.stats.gates.any_time import frozen_stakes
from calibcli.stats.gates.cells import FrozenSegments, Partition
from calibcli.stats.gates.growth import merged
from calibcli.stats.gates.segments import SegmentBets
from calibcli.stats.gates.state import GateState, Terms, verdict_of
from published import check
from stats.segment_rows import counted, frozen_by

STAKES = frozen_stakes(delta=0.05, variance=0.04)
SIZES = (3, 2)


def drawn(seed: int, rows: int, *, off: float = 0.0, on_edges: bool = False) -> tuple[Any, Any, Any]:
    """Return levels of two columns, scores and labels; scores of one value are too high."""
    rng = np.random.default_rng(seed)
    level = np.stack([rng.integers(0, size, rows) for size in SIZES])
    score = rng.integers(3, 15, rows) / 16.0 if on_edges else rng.uniform(0.15, 0.95, rows)
    return level, score, rng.random(rows) < score - off * (level[0] == 0)


def bets_of(level: Any, score: Any, label: Any) -> tuple[SegmentBets, FrozenSegments]:
    """Return the bets on rows, and the segments they are about."""
    partition = frozen_by(level, SIZES)
    assert partition.segments is not None
    return SegmentBets(
        counted(level, score, label, partition), partition, partition.segments
    ), partition.segments


def slow_evidence(level: Any, x: Any, judged: Any, eps: float) -> tuple[float, float]:
    """Return the evidence for a pass and for a fail, multiplied up row by row."""
    passing, failing = math.inf, -math.inf
    pairs = list(zip(STAKES.sizes, STAKES.shares, strict=True))
    for segment in judged:
        inside = np.all([(one == level[k]) | (one == -1) for k, one in enumerate(segment)], axis=0)
        both = []
        for s in (1.0, -1.0):
            own = s * x[inside] - eps
            passing = min(
                passing, np.logaddexp.reduce([math.log(p) + np.log1p(-z * own).sum() for z, p in pairs])
            )
            bets = [(min(z, 0.95 / (1.0 + eps)), p) for z, p in pairs]
            both.append(np.logaddexp.reduce([math.log(p) + np.log1p(z * own).sum() for z, p in bets]))
        failing = max(failing, float(np.logaddexp(*both)) - math.log(2.0 * len(judged)))
    return float(passing), failing


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from([0.02, 0.05, 0.3]),
    st.sampled_from(["on edges", "anywhere"]),
)
def test_evidence_is_that_of_exact_bets_or_less(seed: int, off: float, eps: float, where: str) -> None:
    """Scores are known to a cell: that takes a little evidence off, and none where they lie on its edges."""
    on_edges = where == "on edges"
    level, score, label = drawn(seed, 400, off=off, on_edges=on_edges)
    bets, segments = bets_of(level, score, label)
    exact = slow_evidence(level, score - label, segments.judged, eps)
    mine = bets.log_pass(eps, STAKES), bets.log_fail(eps, STAKES)
    for one, best in zip(mine, exact, strict=True):
        assert one <= best + 1e-9
        assert one == pytest.approx(best, abs=1e-6 if on_edges else 0.5)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.floats(0, 1), max_size=5))
def test_any_split_and_order_give_the_same_sums(seed: int, ends: list[float]) -> None:
    """Sums are whole numbers of rows, so that batches and shards add up to the same bytes."""
    level, score, label = drawn(seed, 600)
    partition = frozen_by(level, SIZES)
    order = np.random.default_rng(seed).permutation(600)
    cut = np.split(order, sorted(int(end * 600) for end in ends))
    parts = [counted(level[:, one], score[one], label[one], partition) for one in cut if one.size]
    assert reduce(add, parts) == counted(level, score, label, partition)


def test_bounds_of_each_segment_make_those_of_all() -> None:
    """The largest lower and upper bound are those of the claim, and the estimate lies between."""
    bets, _ = bets_of(*drawn(5, 4_000, off=0.1))
    each = bets.each(STAKES, delta=0.05)
    assert each.upper.max() == pytest.approx(bets.upper_bound(STAKES, delta=0.05), abs=1e-8)
    assert each.lower.max() == pytest.approx(bets.lower_bound(STAKES, delta=0.05), abs=1e-8)
    assert each.lower.max() < bets.value < each.upper.max()
    # The bias of the value that is off, and of its intersections, is shown to be above 0.
    assert 0.02 < each.lower.max() < 0.1 < each.upper.max() < 0.2


def begun(partition: Partition, limit: float) -> GateState:
    """Return a state of a limit for segments that holds nothing."""
    terms = Terms(SegmentMeasure.SEGMENT_BIAS, limit, 0.95, partition, STAKES, label="y")
    return GateState(terms)


@pytest.mark.parametrize(
    ("off", "limit", "outcome"),
    [(0.0, 0.1, VerdictName.PASS), (0.2, 0.1, VerdictName.FAIL), (0.1, 0.1, VerdictName.INCONCLUSIVE)],
)
def test_verdicts_come_with_rows_and_stand_in_the_document(
    off: float, limit: float, outcome: VerdictName
) -> None:
    """Each is the right one; written, checked against its schema and read back it is the same."""
    state = None
    for day in range(6):
        rows = drawn(day, 1_500, off=off)
        state = state or begun(frozen_by(rows[0], SIZES), limit)
        state = state.counted(counted(*rows, state.terms.partition), key=f"{day}").bounded()
    assert state is not None
    verdict = verdict_of(state)
    assert verdict.outcome is outcome
    assert verdict.any_time
    assert verdict.segments is not None
    assert len(verdict.segments.segments) == 12
    assert verdict.segments.segments[0].outcome is outcome
    text = state_text(state)
    check(json.loads(text), "gate")
    again = from_dict(document_of(json.loads(text)))
    assert again.to_dict() == state.to_dict()
    assert verdict_of(again) == verdict


def test_shards_add_up_and_other_values_are_refused() -> None:
    """Shards of one beginning are the whole; of other values, depth or rows they are not added."""
    rows = [drawn(day, 800) for day in range(2)]
    partition = frozen_by(rows[0][0], SIZES)
    shards = [
        begun(partition, 0.1).counted(counted(*one, partition), key=f"{k}") for k, one in enumerate(rows)
    ]
    both = merged([("a", shards[0]), ("b", shards[1])])
    whole = shards[0].counted(counted(*rows[1], partition), key="1")
    assert both.sums == whole.sums
    assert partition.segments is not None
    other = replace(partition, segments=replace(partition.segments, least_rows=40))
    with pytest.raises(UsageProblem, match=r"min-segment-rows 30, not .*min-segment-rows 40"):
        merged([("a", shards[0]), ("b", replace(shards[1], terms=replace(shards[1].terms, partition=other)))])
    fewer = replace(partition, segments=replace(partition.segments, judged=partition.segments.judged[1:]))
    with pytest.raises(UsageProblem, match="values that make segments: others"):
        merged([("a", shards[0]), ("b", replace(shards[1], terms=replace(shards[1].terms, partition=fewer)))])


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (lambda one: one["partition"]["segments"]["judged"].append([9, -1]), "judged"),
        (lambda one: one["partition"]["segments"]["judged"].append([-1, -1]), "judged"),
        (lambda one: one["partition"]["segments"].update(judged=[]), "judged"),
        (lambda one: one["partition"]["segments"].update(on=["a", "c"]), "columns"),
        (lambda one: one["partition"].pop("segments"), "partition"),
        (lambda one: one["rule"].update(measure="ece"), "partition"),
        (lambda one: one["partition"].update(bins=20), "below_positive|value"),
        (lambda one: one["partition"]["segments"]["judged"].pop(), "log"),
    ],
)
def test_an_edit_that_the_rows_contradict_is_refused(edit: Any, problem: str) -> None:
    """Segments that there are not, a rule that rows were not counted by, and evidence of other segments."""
    rows = drawn(1, 1_500, off=0.3)
    # The last segment is the one that is farthest off.
    partition = frozen_by(rows[0], SIZES)
    assert partition.segments is not None
    judged = sorted(partition.segments.judged, key=lambda one: one[0] == 0)
    partition = replace(partition, segments=replace(partition.segments, judged=tuple(judged)))
    state = begun(partition, 0.1).counted(counted(*rows, partition), key="0").bounded()
    document = state.to_dict()
    edit(document)
    with pytest.raises(DocumentProblem, match=problem):
        from_dict(document_of(document))


def test_rows_in_no_cell_of_a_segment_change_nothing() -> None:
    """Rows of other values count in all rows, and in no segment of the value."""
    level, score, label = drawn(3, 900)
    partition = frozen_by(level, SIZES)
    assert partition.segments is not None
    apart = tuple(one for one in partition.segments.judged if one[0] == 1)
    own = replace(partition.segments, judged=apart)
    partition = replace(partition, segments=own)
    few = level[0] == 1
    some = counted(level[:, few], score[few], label[few], partition)
    every = counted(level, score, label, partition)
    one, all_rows = (SegmentBets(sums, partition, own) for sums in (some, every))
    assert one.log_pass(0.1, STAKES) == all_rows.log_pass(0.1, STAKES)
    assert one.value == all_rows.value
