"""What the benchmark scripts compute and how they keep time."""

import sys
from typing import Any

import numpy as np
import pytest

from calibcli.measures.l2 import t_statistic
from calibcli.names import RecalibratorName
from calibcli.recalibrators.histogram import Histogram
from calibcli.recalibrators.options import FitOptions
from calibcli.table.bins import ATOMS, binned
from calibcli.table.moved import with_scores
from calibcli.table.score_table import ScoreTable
from shell import ROOT


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scripts of the folder be imported."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


@pytest.fixture
def kumar() -> Any:
    """The experiment of Kumar, Liang & Ma."""
    import kumar_figure3  # type: ignore[import-not-found, unused-ignore]

    return kumar_figure3


@pytest.fixture
def fits() -> Any:
    """The fit benchmark."""
    import fits  # type: ignore[import-not-found, unused-ignore]

    return fits


def drawn(seed: int, rows: int) -> ScoreTable:
    """Return uniform scores with labels that do not follow them."""
    generator = np.random.default_rng(seed)
    score = generator.random(rows)
    return ScoreTable.from_rows(score, generator.random(rows) < 0.2 + 0.5 * score)


def test_error_by_bin_is_that_by_value_where_values_differ(kumar: Any) -> None:
    """Bins with values of their own are the atoms of the output."""
    histogram = Histogram.fit(drawn(1, 400), options=FitOptions(bins=7))
    judge = drawn(2, 3000)
    assert np.unique(histogram.table.values).size == 7
    moved = with_scores(judge, histogram.predict(judge.score))
    assert kumar.error_by_bin(histogram, judge) == pytest.approx(t_statistic(binned(moved, ATOMS)), abs=1e-15)


def test_draws_depend_on_seed_and_number_alone(kumar: Any) -> None:
    """A worker finds the same errors in whatever order it is asked."""
    tasks = [kumar.Task(0, number, 3, ROOT / "nowhere") for number in (0, 1, 0)]
    first, second, again = (kumar.squared_errors(task) for task in tasks)
    key = (kumar.MARGINAL, kumar.HELD_OUT)
    assert np.array_equal(first[key], again[key])
    assert not np.array_equal(first[key], second[key])
    assert first[key].shape == (len(kumar.CURVES), len(kumar.BINS))


def test_reduction_is_one_less_the_ratio_of_means(kumar: Any) -> None:
    """Its standard error is that of the ratio by the delta method."""
    generator = np.random.default_rng(0)
    errors = 1.0 + 0.1 * generator.random((50, 3, 2))
    errors[:, 1] = 0.7 * errors[:, 0]
    share, spread = kumar.Result("exact ratio", errors).reduction()
    assert share == pytest.approx([0.3, 0.3])
    assert spread == pytest.approx([0.0, 0.0], abs=1e-12)


def test_every_method_is_timed(fits: Any) -> None:
    """The benchmark knows each method, with a peer or without."""
    assert list(fits.PEERS) == list(RecalibratorName)


def test_slow_and_failing_processes_are_named_and_not_repeated(fits: Any) -> None:
    """One that hangs is stopped, one that fails says why, and the others are timed as often as asked."""
    commands = {
        "calibcli": [sys.executable, "-c", "pass"],
        "hangs": [sys.executable, "-c", "import time; time.sleep(60)"],
        "fails": [sys.executable, "-c", "raise ValueError('no such thing')"],
    }
    race = fits.Race("isotonic", 1000, commands, {})
    track = fits.Track(fits.Rules(rounds=2, patience=3.0, once=30.0))
    wall = track.run(race)
    assert [len(times) for times in wall.values()] == [2, 0, 0]
    assert track.stopped["isotonic", "hangs"] == "stopped after 3 s at 1,000 rows"
    assert track.stopped["isotonic", "fails"] == "failed at 1,000 rows: ValueError: no such thing"
    assert "| none measured |" in fits.row_of(race, wall, track.stopped)


def test_absent_peer_is_given_with_its_reason(fits: Any) -> None:
    """A module that is not there is reported by Python's own words."""
    assert fits.missing(sys.executable, "no_such_module") == (
        "ModuleNotFoundError: No module named 'no_such_module'"
    )
    assert fits.missing(sys.executable, "numpy") is None


def test_row_names_the_fastest_peer_and_the_ratio(fits: Any) -> None:
    """The ratio is the fastest peer's median over calibcli's."""
    race = fits.Race("platt", 1000, {"calibcli": [], "slow": [], "fast": []}, {})
    row = fits.row_of(race, {"calibcli": [1.0, 3.0, 2.0], "slow": [9.0], "fast": [5.0]}, {})
    assert row == "| platt | 1,000 | 2.00 | fast | 5.00 | 2.5 | slow 9.00 |"
