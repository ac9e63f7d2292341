"""What `docs/coverage.md` tells: every interval there is, what is not nominal first, what was not run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibcli
from calibcli.measures.other_bounds import ece_bounds
from calibcli.names import MeasureName, TestName
from calibcli.table.bins import ATOMS, binned
from calibcli.table.score_table import ScoreTable
from claims.cells import FIXED, MEASURES, POPULATION, SMOOTH, TESTS, Cell, Count, simulated

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
    # The lower distance comes with the interval of the distance.
    assert {one.value for one in (*MEASURES, *SMOOTH)} | {MeasureName.DCE_LOWER.value} == with_interval
    assert set(TESTS) == {one.value for one in TestName}


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
    text = page.document(page.Run(found, [LABELS, BOTH, missing]))
    assert "holds 2 of 3 cells. **1 cells are still to be run.** Not run: plan 1." in text.replace("\n", " ")
    first, second, third = (
        text.index(f"### {one}") for one in ("What holds at", "What holds app", "Read the other")
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
def test_a_run_goes_on_where_it_stopped(writer: Any, tmp_path: Path) -> None:
    """Cells are kept as lines; what is kept is not run again, and a line that was cut off is."""
    keep = tmp_path / "kept" / "cells.jsonl"
    jobs = [(Cell("compare", world, 30, FIXED), 2) for world in ("two values", "mild")]
    writer.simulate(jobs, path=keep, workers=1, seconds=1e9)
    found = writer.kept(keep)
    assert set(found) == {writer.key_of(job) for job in jobs}
    assert found[writer.key_of(jobs[0])] == simulated(*jobs[0])
    lines = keep.read_text("utf-8").splitlines()
    assert [json.loads(line)["cell"]["world"] for line in lines] == ["two values", "mild"]
    keep.write_text(f"{lines[0]}\n{lines[1][:40]}", encoding="utf-8")
    assert set(writer.kept(keep)) == {writer.key_of(jobs[0])}
    # More repetitions are another cell.
    assert writer.key_of((jobs[0][0], 3)) not in found


@pytest.mark.untraced
def test_what_is_done_is_kept_at_ctrl_c(writer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is interrupted has kept the cells it said it had, and ends as one that is done."""
    keep = tmp_path / "cells.jsonl"
    jobs = [(Cell("compare", "mild", rows, FIXED), 1) for rows in (30, 40, 50)]

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(writer, "print", interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        writer.simulate(jobs, path=keep, workers=1, seconds=1e9)
    assert set(writer.kept(keep)) == {writer.key_of(jobs[0])}
