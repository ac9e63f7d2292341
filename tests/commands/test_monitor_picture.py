"""The picture of a state: what `verify` found, look by look, against the product over rows."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibcli.commands.pictures.diagram import Diagram, PlotRequest
from calibcli.commands.pictures.over_time import monitor_diagram
from calibcli.documents.state import state_text
from calibcli.errors import DocumentProblem, InputProblem, UsageProblem
from calibcli.names import PlotKind
from calibcli.stats.bounds.betting import Stakes
from calibcli.stats.curves.monitor import MonitorCurve
from calibcli.stats.gates.growth import Incoming, grown, merged
from calibcli.stats.gates.state import GateState, verdict_on_file
from calibcli.stats.table import ScoreTable
from gate_rows import TEN, begun, rows_of

Rows = tuple[np.ndarray, np.ndarray]


def some_rows(offs: Sequence[float], count: int = 300) -> list[Rows]:
    """Return batches, each with rates so far above its scores."""
    generator = np.random.default_rng(4)
    return [rows_of(generator, count, outputs=TEN, off=off) for off in offs]


def counted(state: GateState, rows: Sequence[Rows], *, name: str = "b") -> GateState:
    """Count batches as `verify --state` does."""
    batches = [
        Incoming(f"{name}{i}", f"{name}{i}", "", ScoreTable.from_rows(*one)) for i, one in enumerate(rows)
    ]
    return grown(state, tuple(batches)).state


def drawn(path: Path, state: GateState) -> Diagram:
    """Write a state and draw it."""
    path.write_text(state_text(state))
    return monitor_diagram(PlotRequest([str(path)], kind=PlotKind.MONITOR))


def curve_of(path: Path, state: GateState) -> MonitorCurve:
    """Return the curve of a state on disk."""
    return drawn(path, state).drawn.picture


def wealth(rows: Sequence[Rows], eps: float, stakes: Stakes, *, passing: bool) -> float:
    """Return the e-value row by row, from the formulas in the docstring of `Bets`."""
    score, label = (np.concatenate(column) for column in zip(*rows, strict=True))
    residual, total = label - score, 0.0
    for size, share in zip(stakes.sizes, stakes.shares, strict=True):
        bet = size if passing else min(size, 0.95 / (1.0 + eps))
        parts = [residual[score == output] for output in TEN]
        if passing:
            each = [min(np.prod(1.0 - bet * (s * one - eps)) for s in (1, -1)) for one in parts]
            total += share * math.prod(each)
            continue
        plus, minus = ([np.prod(1.0 + bet * (s * one - eps)) for one in parts] for s in (1, -1))
        average = 0.25 * math.prod(0.5 * (a + b) for a, b in zip(plus, minus, strict=True))
        for first, then in ((plus, minus), (minus, plus)):
            average += 0.25 * math.prod(first)
            for place, width in enumerate(np.diff([0.0, *TEN, 1.0])):
                average += 0.125 * width * math.prod(first[:place]) * math.prod(then[place:])
        total += share * average
    return total


def test_every_point_is_the_product_over_the_rows_by_then() -> None:
    """The evidence at each look is that of an independent formula, over all rows counted until it."""
    rows = some_rows([0.0, 0.0, 0.1])
    state = counted(begun(limit=0.06), rows)
    curve = curve_of(Path("g.json"), state)
    assert curve.rows.tolist() == [300, 600, 900]
    for look in range(3):
        for log, passing in ((curve.log_pass, True), (curve.log_fail, False)):
            due = wealth(rows[: look + 1], 0.06, state.terms.stakes, passing=passing)
            assert math.exp(log[look]) == pytest.approx(due, rel=1e-6)


def test_bounds_cross_the_limit_where_the_evidence_is_enough() -> None:
    """The upper bound is at most the limit exactly at the looks whose bets on a pass reach 1 / delta."""
    curve = curve_of(Path("g.json"), counted(begun(limit=0.06), some_rows([0.0] * 25, count=200)))
    enough = curve.log_pass >= curve.threshold
    assert 0 < np.count_nonzero(enough) < enough.size
    assert np.array_equal(enough, curve.upper <= 0.06)
    assert curve.passed_at == curve.rows[np.argmax(enough)]
    assert np.all((curve.lower <= curve.value) & (curve.value <= curve.upper))


def test_last_look_is_what_the_verdict_says() -> None:
    """Also of a state without bounds at its looks, and the caption has the same numbers."""
    state = counted(begun(limit=0.06), some_rows([0.0, 0.0]))
    old = replace(
        state,
        batches=tuple(
            replace(one, look=replace(one.look, lower=None, upper=None)) for one in state.batches if one.look
        ),
    )
    verdict = verdict_on_file(old)
    picture = drawn(Path("g.json"), old)
    curve = picture.drawn.picture
    assert np.isnan(curve.upper[0])
    assert (curve.value[-1], curve.lower[-1], curve.upper[-1]) == (
        verdict.value,
        verdict.lower,
        verdict.upper,
    )
    assert f"{verdict.value:.4f}, from {verdict.lower:.4f} to {verdict.upper:.4f}" in picture.drawn.caption[0]


def test_merged_batches_are_one_look() -> None:
    """They have no order, so that only what is counted since has a course."""
    shards = [
        ("a", counted(begun(), some_rows([0.0, 0.0]), name="a")),
        ("b", counted(begun(), some_rows([0.1]))),
    ]
    both = merged(shards)
    curve = curve_of(Path("m.json"), both)
    assert curve.rows.tolist() == [900]
    assert not curve.since_first
    later = curve_of(Path("later.json"), counted(both, some_rows([0.0]), name="c"))
    assert later.rows.tolist() == [1200]


def test_an_alarm_shows_what_each_start_has_made() -> None:
    """The alarm's evidence is the sum over its starts, and the strongest begins where the rates changed."""
    state = counted(begun(limit=0.02, alarm=True), some_rows([0.0] * 6 + [0.2] * 4))
    curve = curve_of(Path("a.json"), state)
    assert np.exp(curve.starts.log).sum() == pytest.approx(math.exp(curve.log_fail[-1]))
    assert curve.starts.rows[np.argmax(curve.starts.log)] == 6 * 300
    assert np.isnan(curve.log_pass).all()
    caption = drawn(Path("a.json"), state).drawn.caption
    # The error of all rows may be below the limit that those since the change are above.
    assert caption[0] == f"ALARM since {state.change.named}: ECE above 0.02"
    assert caption[-1].endswith("over all")


def test_what_is_no_state_is_refused() -> None:
    """A file that is not there, two files, standard input, an empty or a damaged state, idle options."""
    path = Path("g.json")
    requested = PlotRequest([str(path)], kind=PlotKind.MONITOR)
    with pytest.raises(InputProblem, match="there is no such file"):
        monitor_diagram(requested)
    with pytest.raises(InputProblem, match="nothing was counted yet"):
        drawn(path, begun())
    with pytest.raises(UsageProblem, match="not 2 inputs"):
        monitor_diagram(replace(requested, inputs=["a.json", "b.json"]))
    with pytest.raises(UsageProblem, match="is a file"):
        monitor_diagram(replace(requested, inputs=["-"]))
    text = state_text(counted(begun(), some_rows([0.0])))
    path.write_text(text.replace('"limit": 0.05', '"limit": 0.06'))
    with pytest.raises(DocumentProblem, match="one of the two was changed"):
        monitor_diagram(requested)
    path.write_text(text)
    with pytest.raises(UsageProblem, match="--artifact has no effect"):
        monitor_diagram(replace(requested, artifact="cal.json"))
