"""`measure --bounds` and `--edges` from the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from command_line import SAMPLE, Ran

Run = Callable[..., Ran]
FILE = SAMPLE / "breast_cancer_calibration.csv"
COLUMNS = ["-s", "score", "-y", "label"]


def test_bounds_are_in_both_formats(run: Run) -> None:
    """JSON holds every bound among the details, the page a table of them; the report keeps its schema."""
    report = json.loads(run("measure", FILE, *COLUMNS, "--bounds", "--json").out)
    details = report["measures"]["ece"]["details"]
    assert details["upper_d_star"] <= details["upper_hoeffding"] <= details["upper_theorem_12_4"]
    jsonschema.validate(report, json.loads(run("schema", "report").out))
    page = run("measure", FILE, *COLUMNS, "--bounds").out
    assert "theorem_12_4" in page
    assert "Each end holds by itself with 97.5 %" in page
    assert "theorem_12_4" not in run("measure", FILE, *COLUMNS).out


def test_edges_make_the_bins(run: Run) -> None:
    """The partition in the report is the one given."""
    ended = run("measure", FILE, *COLUMNS, "--edges", "0,0.1,0.5,1", "--metric", "ece", "--json")
    report = json.loads(ended.out)
    assert report["measures"]["ece"]["details"]["partition"] == "3 given bins"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--edges", "0,1,0.5"], "ascend from 0 to 1"),
        (["--edges", "0,x,1"], "ascend from 0 to 1"),
        (["--edges", "0,1", "--bins", "3"], "leave out one of them"),
        (["--bounds", "--cluster", "label"], "--bounds lists bounds for independent rows"),
        (["--edges", "0,1", "--compat", "netcal"], "--compat"),
    ],
)
def test_what_does_not_go_together_is_refused(run: Run, words: list[str], said: str) -> None:
    """Exit 2 with a hint."""
    ended = run("measure", FILE, *COLUMNS, *words)
    assert ended.code == 2
    assert said in ended.err


def test_edges_that_cut_cells_are_exact_on_a_grid(run: Run, tmp_path: Path) -> None:
    """On a grid, edges off its cells are settled by a second look at the rows: the exact table's numbers."""
    rng = np.random.default_rng(0)
    score = rng.random(30_000)
    lines = (f"{s!r},{int(y)}" for s, y in zip(score.tolist(), rng.random(30_000) < score, strict=True))
    file = tmp_path / "p.csv"
    file.write_text("score,label\n" + "\n".join(lines) + "\n")
    words = [file, *COLUMNS, "--edges", "0,0.123456789,0.7071067811865476,1", "--metric", "ece", "--json"]
    grid = json.loads(run("measure", *words, "--memory", "1KiB").out)
    exact = json.loads(run("measure", *words, "--exact").out)
    assert (grid["table"]["kind"], exact["table"]["kind"]) == ("grid", "exact")
    assert grid["measures"]["ece"]["value"] == pytest.approx(exact["measures"]["ece"]["value"], abs=1e-12)
