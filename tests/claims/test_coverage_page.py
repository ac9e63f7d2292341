"""What `docs/coverage.md` tells: every interval there is, the worst cell first, broken promises in bold."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.measures import measure_named
from calibcli.measures.other_bounds import ece_bounds, l2_bounds
from calibcli.measures.settings import Settings
from calibcli.names import Binning, MeasureName, TestName
from calibcli.table.bins import ATOMS, binned, bins_of
from calibcli.table.score_table import ScoreTable
from claims.over_bins import bounds_of_the_population, bounds_of_these_scores
from claims.simulation import Tally

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module that writes the page."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import coverage_page

    return coverage_page


def settings_of(table: ScoreTable) -> Settings:
    """Return what measures share, over 15 bins."""
    parts = [
        binned(table, bins_of(one, 15, table=table)) for one in (Binning.EQUAL_WIDTH, Binning.EQUAL_MASS)
    ]
    return Settings(*parts, 0.95, None)


def test_every_interval_is_on_the_page(page: Any) -> None:
    """A measure has a table if and only if it has an interval; every test has a column."""
    rng = np.random.default_rng(0)
    score = rng.random(300)
    table = ScoreTable.from_rows(score, rng.random(300) < score)
    shared = settings_of(table)
    with_interval = {
        name.value for name in MeasureName if measure_named(name, table, settings=shared).interval is not None
    }
    assert {name.split()[0] for name in (*page.DEFAULT, *page.ON_REQUEST)} == with_interval
    assert set(page.TESTS) == {name.value for name in TestName} | {"combined"}


def test_every_listed_bound_is_simulated() -> None:
    """What `--bounds` lists is counted, for these scores or for the population."""
    found = bounds_of_these_scores("discrete", 200, confidence=0.95, repetitions=1)
    found |= bounds_of_the_population("discrete", 200, confidence=0.95, repetitions=1)
    table = ScoreTable(np.array([0.2, 0.7]), np.array([90, 90]), np.array([20, 60]))
    sums = binned(table, ATOMS)
    keys = {f"ece {key}" for key in ece_bounds(table, sums, delta=0.025)}
    keys |= {f"l2 {key}" for key in l2_bounds(table, sums, confidence=0.95)}
    counted = {" ".join((name.split()[0], *reversed(name.split()[1:]))).replace(" ", "_") for name in found}
    assert {key.replace(" ", "_") for key in keys} <= counted


def test_worst_cell_comes_first_and_a_broken_promise_is_bold(page: Any) -> None:
    """The summary names the cell with the least probable misses, and marks more than are allowed."""
    run = page.Run(command="command", repetitions=100)
    run.tallies = {
        ("bias", "mild", 200, 0.95): Tally(0.05, repetitions=100, misses=3, width=10.0),
        ("bias", "strong", 1000, 0.95): Tally(0.05, repetitions=100, misses=40, width=20.0),
        ("brier", "mild", 200, 0.95): Tally(0.05, repetitions=100, misses=90, width=20.0),
    }
    lines = page.document(run).splitlines()
    worst = next(line for line in lines if line.startswith("| bias |"))
    assert "strong, 1,000 rows" in worst
    assert "**40 of 100" in worst
    assert "| mild | 0.970 (0.100) |  |" in lines
    assert "| strong |  | **0.600 (0.200)** |" in lines
    # Nothing is promised of an approximate interval below 1,000 rows.
    assert "| mild | 0.100 (0.200) |" in lines
    assert any(line.startswith("Not run:") for line in lines)


def test_other_packages_stand_beside_ours(page: Any) -> None:
    """A row per interval, the width of Theorem 12.4 below our ECE, and who was absent."""
    tallies = {
        "calibcli ece": Tally(0.05, repetitions=10, misses=0, width=1.0, plain_width=2.0),
        "calzone ECE-H": Tally(0.05, repetitions=10, misses=10, width=0.5),
    }
    run = page.Run(command="command", repetitions=10)
    run.peers = {("calibrated", 1000): page.Beside({0.95: tallies, 0.9: tallies}, ("calzone-tool 0.1.0",))}
    text = page.document(run)
    assert "Absent: uncertainty-calibration, relplot." in text
    assert "| calibcli ece | 1.00 (0.100) |\n| Theorem 12.4, width | (0.200) |" in text
    assert "| calzone ECE-H | 0.00 (0.050) |" in text
