"""What the benchmark scripts compute and how they keep time."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.names import ClassMeasure, MeasureName, RecalibratorName, TestName
from calibcli.options.fitting import FitOptions
from calibcli.shell.app import main as calibcli
from calibcli.stats.measures.l2 import t_statistic
from calibcli.stats.recalibrators.histogram import Histogram
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, binned
from calibcli.stats.table.derived import with_scores
from command_line import ROOT
from score_rows import scored_table

pytestmark = pytest.mark.untraced


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


@pytest.fixture
def gates() -> Any:
    """The simulated gates."""
    import gates  # type: ignore[import-not-found, unused-ignore]

    return gates


def drawn(seed: int, rows: int) -> ScoreTable:
    """Return uniform scores with labels that do not follow them."""
    return scored_table(rows, lambda score: 0.2 + 0.5 * score, seed=seed)


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
    track = fits.Track(fits.Rules(rounds=2, patience=1.5, once=30.0))
    wall = track.run(race)
    assert [len(times) for times in wall.values()] == [2, 0, 0]
    assert track.stopped["isotonic", "hangs"] == "stopped after 1.5 s at 1,000 rows"
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


@pytest.fixture
def measures() -> Any:
    """The benchmark of all measures together."""
    import measures  # type: ignore[import-not-found, unused-ignore]

    return measures


def test_processes_are_timed_stopped_and_named(measures: Any) -> None:
    """One that hangs or fails says so in its row; of the others wall, processor and memory are medians."""
    code = {
        "ok": "pass",
        "hangs": "import time; time.sleep(60)",
        "fails": "raise ValueError('no such thing')",
    }
    commands = {measures.OURS: "pass", **code}
    field = [
        measures.Entrant(name, f"what {name} is", [sys.executable, "-c", code])
        for name, code in commands.items()
    ]
    field.append(measures.Entrant("step", "a step", [sys.executable, "-c", "print(.25)"], inside=True))
    found = measures.race(field, measures.Rules(rounds=2, patience=1.5, once=30.0, warm=1))
    assert [len(found[name]) for name in (measures.OURS, "ok")] == [2, 2]
    assert [run.cpu for run in found["step"]] == [0.25, 0.25]
    assert all(run.wall > 0 and run.peak > 1 for run in found["ok"])
    page = measures.table_of(field, found)
    assert "| hangs | what hangs is | stopped after 1.5 s | | | |" in page
    assert "| fails | what fails is | failed: ValueError: no such thing | | | |" in page


def test_ratio_is_that_of_medians(measures: Any) -> None:
    """The wall time of a process over that of everything calibcli measures."""
    field = [measures.Entrant(measures.OURS, "all", []), measures.Entrant("other", "one number", [])]
    runs = {
        measures.OURS: [measures.Spent(wall, 1.0, 100.0) for wall in (2.0, 9.0, 3.0)],
        "other": [measures.Spent(6.0, 5.5, 300.4)],
    }
    assert measures.table_of(field, runs).splitlines()[2:] == [
        "| calibcli, all | all | 3.00 | 1.00 | 100 | 1.00 |",
        "| other | one number | 6.00 | 5.50 | 300 | 2.00 |",
    ]


def test_every_measure_and_test_has_its_time(measures: Any) -> None:
    """None is left out, and the table of times adds up."""
    times = measures.times_of(drawn(3, 60))
    assert {*MeasureName, *TestName} <= set(times)
    assert all(took >= 0.0 for took in times.values())
    lines = measures.shares_of({60: {"a": 0.5, "b": 0.004}, 90: {"a": 0.25, "b": 0.006}}).splitlines()
    assert lines[2:] == [
        "| a | 0.500 | 0.250 |",
        "| b, together | 0.004 | 0.006 |",
        "| sum | 0.504 | 0.256 |",
    ]


def test_delays_of_an_alarm_are_those_after_the_change(gates: Any) -> None:
    """One of four streams alarms before batch 10, two within 2 and 4 batches of 500 rows, one never."""
    found = {job: np.array([5.0, 12.0, 14.0, np.inf]) for job in gates.jobs() if job[0] == "alarm"}
    row = next(line for line in "".join(gates.alarm_table(found)).splitlines() if line.startswith("| off"))
    assert row == "| off by .03 | 10 | 0.250 | 0.667 | 2,000 | later |"


def test_wrong_verdicts_beyond_chance_are_bold(gates: Any) -> None:
    """Of 1,000 tables 50 wrong passes are what may be, and 100 are not."""
    quiet, loud = gates.Shares(50, 0, 1000), gates.Shares(100, 0, 1000)
    jobs = [job for job in gates.jobs() if job[0] == "look"]
    found = dict.fromkeys(jobs, quiet) | {("look", ("ece, 2 atoms", 500, gates.LIMIT)): loud}
    text = "".join(gates.look_table(found, 1000))
    assert "| ece, 2 atoms | 500 | **0.100** |" in text
    assert "| ece, 10 atoms | 500 | 0.050 |" in text


@pytest.fixture
def classes() -> Any:
    """The benchmark of many classes."""
    import classes  # type: ignore[import-not-found, unused-ignore]

    return classes


@pytest.fixture
def kumar_classes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The experiments of ten classes, at toy size and all in this process."""
    import kumar_classes  # type: ignore[import-not-found, unused-ignore]

    sizes = {"FIT_ROWS": 300, "ROWS": 900, "ESTIMATED_BINS": (4,), "SAMPLE_ROWS": (40,)}
    for name, value in sizes.items():
        monkeypatch.setattr(kumar_classes, name, value)
    monkeypatch.setattr(kumar_classes, "spawned", kumar_classes.called)
    return kumar_classes


def binary(kumar: Any, rows: pa.Table) -> Any:
    """Return the binary problems of rows of ten classes."""
    return kumar.binary_problems(
        np.column_stack([rows[f"p_{k}"].to_numpy() for k in range(10)]), rows["label"].to_numpy()
    )


def test_commands_find_the_errors_of_the_mathematics(kumar_classes: Any, kumar: Any, tmp_path: Path) -> None:
    """Errors by fit and measure are those of the recalibrators and the estimator themselves."""
    predictions = tmp_path / "predictions.parquet"
    assert kumar_classes.noisy_digits(predictions).startswith("900 noisy copies")
    task = kumar_classes.Task(predictions, 1, 0, resamples=1, bins=(7,))
    found = kumar_classes.draw_of(task)
    halves = kumar_classes.halves_of(task, tmp_path)
    fit_rows, held_out = (binary(kumar, pq.read_table(path)) for path in (halves.fit, halves.held_out))
    for name in kumar_classes.Experiment:
        errors = []
        for both in zip(fit_rows[name], held_out[name], strict=True):
            tables = [ScoreTable.from_rows(*pair) for pair in both]
            errors.append(kumar.errors_of(*tables, bins=7)[:2])
        assert found[name, 0][:, 0] == pytest.approx(np.mean(errors, axis=0), abs=1e-14)
        assert found[name, 4].shape == (2, 1)
        assert (found[name, 4] > 0.0).all()


def test_applied_columns_have_the_measured_error(kumar_classes: Any, tmp_path: Path) -> None:
    """The plain formula on what apply wrote is what measure says of the artifact."""
    predictions = tmp_path / "predictions.parquet"
    kumar_classes.noisy_digits(predictions)
    alone, columns = kumar_classes.repeated(kumar_classes.Task(predictions, 0, 0, resamples=1, bins=(5,)))
    assert alone == 0.0
    assert columns < 1e-15


def test_ratio_of_estimators_is_that_of_mean_errors(tmp_path: Path) -> None:
    """The page says by how much the debiased estimate is better, and both figures are drawn."""
    import kumar_classes_page as pages  # type: ignore[import-not-found, unused-ignore]
    from kumar_figure3 import Result  # type: ignore[import-not-found, unused-ignore]

    errors = 1e-8 * np.ones((3, 2, 4))
    errors[:, 0] *= 9.0
    squared = 1e-4 * np.ones((3, 2, 10))
    results = {("marginal", 0): Result("toy, marginal", squared), ("marginal", 10): Result("toy", errors)}
    found = [pages.Found("toy", "Made up.", results, (0.0, 1e-18))]
    text = pages.page(found, argparse.Namespace(draws=3, seed=0, resamples=1, workers=1), 1.0)
    assert "| 4,000 | 9.00 ± 0.00 | 1.00 ± 0.00 | 9.0 ± 0.0 | 3.0 |" in text
    assert "| 100 | 1.00 ± 0.00 | 1.00 ± 0.00 | 0.0 ± 0.0 % |" in text
    pages.draw_figures(found, tmp_path)
    assert all((tmp_path / f"kumar_classes_figure{n}.png").stat().st_size > 5_000 for n in (3, 4))


@pytest.mark.parametrize("lists", [False, True])
def test_many_classes_are_raced_by_commands_that_work(classes: Any, tmp_path: Path, *, lists: bool) -> None:
    """Every command of calibcli ends well on rows of either layout, and every peer's code is Python."""
    rows = tmp_path / "3.parquet"
    classes.make_rows(rows, 400, 3, lists=lists)
    asked = argparse.Namespace(lists=lists, peers="python", why=dict.fromkeys(("numpy", "scipy")))
    asked.why |= {peer.needs: "absent" for event in classes.EVENTS for peer in event.peers} | asked.why
    for event in classes.EVENTS:
        for one in classes.entrants(event, tmp_path, rows, asked=asked):
            if one.name.startswith(classes.OURS):
                assert calibcli(["--isolated", *one.command[3:], "--quiet"]) == 0
            else:
                assert one.name in {"numpy, by hand", "scipy minimize_scalar", "numpy and pyarrow, by hand"}
        for peer in event.peers:
            compile(classes.READ + peer.code, peer.name, "exec")
    measures = json.loads((tmp_path / "report.json").read_text())["measures"]
    assert {*ClassMeasure} <= set(measures)
    assert pq.read_table(tmp_path / "applied.parquet").num_rows == 400


def test_raced_rows_are_probabilities_too_sure_of_themselves(classes: Any, tmp_path: Path) -> None:
    """Rows sum to one in float32, are the same in both layouts, and promise more than comes true."""
    files = {lists: tmp_path / f"{lists}.parquet" for lists in (False, True)}
    for lists, path in files.items():
        classes.make_rows(path, 6_000, 10, lists=lists)
    wide, long = (pq.read_table(files[lists]) for lists in (False, True))
    p = np.column_stack([wide[f"p_{k}"].to_numpy() for k in range(10)])
    assert np.array_equal(p, np.array(long["probs"].to_pylist(), np.float32))
    assert p.dtype == np.float32
    assert np.abs(p.sum(axis=1) - 1.0).max() < 1e-6
    assert p.max(axis=1).mean() > (p.argmax(axis=1) == wide["label"].to_numpy()).mean() + 0.03


@pytest.fixture
def page() -> Any:
    """What the benchmark over all sizes writes."""
    import bench_page  # type: ignore[import-not-found, unused-ignore]

    return bench_page


def spent(page: Any, *seconds: float, peak: float = 100.0) -> Any:
    """Return what the runs of a process took."""
    return [page.Spent(wall=one, cpu=one, peak=peak) for one in seconds]


def test_goals_are_met_missed_or_not_measured(page: Any) -> None:
    """A ratio is the median of pairs that ran in turn; where the bound lies among them, it says so."""
    results = {
        "10,000,000 rows": {
            "read": spent(page, 0.2, 0.4, 0.2),
            "measure": spent(page, 0.7, 1.3, 0.9),
            "fit beta": spent(page, 0.5, 1.0, 0.5),
            "fit isotonic": "failed: why",
        },
        "100,000,000 rows": {"measure": spent(page, 3.0, peak=300.0), "read": spent(page, 1.0)},
        "Apply, CSV of a million rows": {"apply": spent(page, 1.0), "pandas": spent(page, 6.5)},
    }
    told = {line.split(" | ")[0].strip("| "): line for line in page.goals_of(results).splitlines()}
    reads = "10,000,000 rows, {} time in reads"
    wall = told[f"measure, {reads.format('wall')}"]
    assert wall.endswith("| at most 4 | 3.5 | 3.25 to 4.5 | yes, within noise |")
    assert told[f"measure, {reads.format('processor')}"].endswith("| at most 2.8 | 3.5 | 3.25 to 4.5 | no |")
    assert told[f"fit beta, {reads.format('processor')}"].endswith("| at most 4.5 | 2.5 | 2.5 to 2.5 | yes |")
    assert told[f"fit isotonic, {reads.format('processor')}"].endswith("| not measured |  |  |")
    assert told["measure, 100,000,000 rows, MiB"].endswith("| at most 256 | 300 |  | no |")
    pandas = told["pandas over ours: apply, CSV of a million rows"]
    assert pandas.endswith("| at least 6 | 6.5 |  | yes |")


def test_growth_is_the_exponent_without_start_up(page: Any) -> None:
    """Cost linear in the number after half a second of start-up has the exponent 1, a square has 2."""
    results = {
        "Files of 100 rows": {f"{n:,} files": spent(page, 0.5 + n / 100) for n in page.FILES},
        "Classes": {f"{n:,} classes": spent(page, 0.5 + ((n - 10) / 100) ** 2) for n in page.CLASSES},
    }
    lines = page.growth_of(results).splitlines()
    assert lines[2:] == [
        "| files | 100, 1,000 | 1 |  | 100, 100, 100, 100 |",
        "|  | 1,000, 10,000 | 1 |  |  |",
        "| classes | 100, 1,000 | 2 |  | 100, 100, 100, 100 |",
        "|  | 1,000, 10,000 | 2 |  |  |",
    ]
    goals = page.goals_of(results)
    assert "| exponent of files | at most 1 | 1 |  | yes |" in goals
    assert "| exponent of classes | at most 1 | 2 |  | no |" in goals


def test_what_goals_and_growth_look_at_is_timed(page: Any, tmp_path: Path) -> None:
    """Each names a contest and its processes, and no other contest has a title that begins alike."""
    import bench_jobs  # type: ignore[import-not-found, unused-ignore]

    timed = {one.title: {line.name for line in one.field} for one in bench_jobs.contests(tmp_path, "python")}
    asked = {(goal.contest, name) for goal in page.GOALS for name in (goal.name, goal.over) if name}
    asked |= {place for sizes in page.GROWTH.values() for place in sizes.values()}
    for contest, name in asked:
        (title,) = (one for one in timed if one.startswith(contest))
        assert name in timed[title]
    assert all(one.base in timed[one.title] for one in bench_jobs.contests(tmp_path, "python"))
