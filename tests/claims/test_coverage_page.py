"""What `docs/coverage.md` tells: every interval there is, what is not nominal first, what was not run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibcli
from calibcli.names import MeasureName, TestName
from calibcli.stats.measures import Estimate
from calibcli.stats.measures.binned import ece_bounds
from calibcli.stats.measures.if_calibrated import Settings
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, binned
from claims import cells as c
from claims.cells import (
    CURVE,
    FIXED,
    MEASURES,
    OF_RATES,
    POPULATION,
    SMOOTH,
    TESTS,
    Cell,
    Count,
    cells,
    probe,
    simulated,
)

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
LABELS, BOTH = Cell("measure", "mild", 1_000, FIXED), Cell("measure", "mild", 1_000, POPULATION)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module that writes the page."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import coverage_page

    return coverage_page


@pytest.fixture
def writer(page: Any) -> Any:  # noqa: ARG001 - finds the folder
    """Return the module that runs cells."""
    import write_coverage

    return write_coverage


@pytest.mark.untraced
def test_every_interval_and_test_is_simulated() -> None:
    """A measure is simulated if and only if it has an interval; so is every test."""
    rng = np.random.default_rng(0)
    score = rng.random(300)
    measures = calibcli.measure(score, rng.random(300) < score, metric="all").measures
    with_interval = {name for name, one in measures.items() if one.interval is not None}
    # The lower distance comes with the interval of the distance, the plug-in l2 error with the bounds of l2.
    elsewhere = {MeasureName.DCE_LOWER.value, MeasureName.L2_PLUG_IN.value}
    assert {one.value for one in (*MEASURES, *SMOOTH, *CURVE)} | elsewhere == with_interval
    assert MeasureName.L2_PLUG_IN in simulated(Cell("bounds", "two values", 200, FIXED), 1)
    assert {*TESTS, *OF_RATES} == {one.value for one in TestName}


def test_every_listed_bound_is_simulated() -> None:
    """What `--bounds` lists is counted by itself."""
    found = simulated(Cell("bounds", "discrete", 200, FIXED), 1)
    table = ScoreTable(np.array([0.2, 0.7]), np.array([90, 90]), np.array([20, 60]))
    for key in ece_bounds(table, binned(table, ATOMS), delta=0.025):
        side, _, which = key.partition("_")
        assert f"ece {which} {side}" in found


def test_what_is_not_nominal_stands_first(page: Any) -> None:
    """A broken promise is bold and first, another reading in italics, and what is to be run is said."""
    found = {
        LABELS: {
            "bias": Count(FIXED, True, 0.05, 2_000, 400, 10.0),
            "ece": Count(FIXED, True, 0.05, 2_000, 20, 200.0),
            "brier": Count(POPULATION, False, 0.05, 2_000, 900, 20.0),
        },
        BOTH: {"brier": Count(POPULATION, False, 0.05, 1_999, 150, 19.99)},
    }
    missing = Cell("plan", "two values", 1_000, POPULATION)
    text = page.document(page.Run(found, [LABELS, BOTH, missing], [BOTH]))
    assert "**In 1 of them an answer has changed since they were run**" in text.replace("\n", " ")
    assert "holds 2 of 3 cells. **1 cells are still to be run**, listed below." in text.replace("\n", " ")
    assert "| plan | 1,000 | two values (all) |" in text
    first, second, third = (
        text.index(f"### {one}") for one in ("What holds at", "What holds app", "Read for the other")
    )
    line = "| bias | these scores | at every number of rows | mild, 1,000 rows | labels | 95 | **80.00** |"
    assert first < text.index(line) < second
    assert (
        second
        < text.index("| brier | population | approximately | mild, 1,000 rows | scores and labels |")
        < third
    )
    assert third < text.index("| brier | population | approximately | mild, 1,000 rows | labels |")
    assert "| mild | ***55.00** (0.01)* | **92.50** (0.01) of 1,999 |" in text
    assert "| ece | these scores | at every number of rows |" in text


@pytest.mark.untraced
def test_a_run_goes_on_where_it_stopped(writer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept and answers as it did is not run again; what answers otherwise is, and said until then."""
    keep, run = tmp_path / "cells.jsonl", {"path": tmp_path / "cells.jsonl", "workers": 1, "cap": 4}
    jobs = [Cell("compare", world, 30, FIXED) for world in ("two values", "mild")]
    monkeypatch.setattr(writer, "print", lambda *_, **__: None, raising=False)
    writer.simulate({}, jobs, until=0.0, **run)
    assert not keep.exists()
    writer.simulate({}, jobs[:1], until=np.inf, **run)
    kept = writer.read(keep)
    (one,) = kept.values()
    assert (one.times, one.probe) == (4, probe(jobs[0]))
    for name, count in simulated(jobs[0], 4).items():
        assert replace(one.counts[name], width=0.0) == replace(count, width=0.0)
        assert one.counts[name].width == pytest.approx(count.width, rel=1e-5)
    before = keep.read_text("utf-8")
    writer.write(writer.asked_again(kept, jobs, workers=1, until=np.inf), keep)
    assert keep.read_text("utf-8") == before
    kept[jobs[1].name] = replace(one, probe="other")
    # Without time to ask, what is kept is believed.
    assert writer.asked_again(kept, jobs, workers=1, until=0.0) == kept
    kept = writer.asked_again(kept, jobs, workers=1, until=np.inf)
    assert [name for name, one in kept.items() if one.changed] == [jobs[1].name]
    writer.write(kept, keep)
    assert writer.read(keep)[jobs[1].name].changed
    writer.simulate(kept, jobs, until=np.inf, **run)
    assert kept[jobs[1].name].probe == probe(jobs[1])
    assert not any(one.changed for one in writer.read(keep).values())


@pytest.mark.untraced
def test_what_is_done_is_kept_at_ctrl_c(writer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is interrupted has kept the cells it was through with."""
    keep, jobs = tmp_path / "cells.jsonl", [Cell("compare", "mild", rows, FIXED) for rows in (30, 40, 50)]

    def interrupted(said: str, **_: object) -> None:
        if "stopped" not in said:
            raise KeyboardInterrupt

    monkeypatch.setattr(writer, "print", interrupted, raising=False)
    writer.simulate({}, jobs, path=keep, workers=1, until=np.inf, cap=1)
    assert set(writer.read(keep)) == {jobs[0].name}


def test_the_published_page_is_of_the_cells_that_are_kept(writer: Any) -> None:
    """Page and cells belong together, whatever is still to be run."""
    kept, names = writer.read(writer.KEEP), {cell.name for cell in cells()}
    assert set(kept) <= names
    assert writer.PAGE.read_text("utf-8") == writer.page_of(kept)


def test_what_other_programs_answer_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that moves in its seventh digit is another answer, however seldom a count would show it."""
    cell = Cell("measure", "rare, one value", 30, FIXED)
    before = probe(cell)
    assert before == probe(cell)
    named = c.measure_named

    def moved(name: MeasureName, table: ScoreTable, *, settings: Settings) -> Estimate:
        found = named(name, table, settings=settings)
        if name is not MeasureName.ECE:
            return found
        return replace(found, interval=replace(found.interval, upper=found.interval.upper * (1 + 1e-7)))

    monkeypatch.setattr(c, "measure_named", moved)
    assert probe(cell) != before
