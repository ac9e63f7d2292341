"""A discrete score that stands by itself, without the artifact that gave it, is recognised."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibcli

Run = Any
SAID = "equal-width bins merge some of them: pass --binning atoms to measure each value by itself"


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 46 rows, the artifact of 25 bins, and the rows as it repairs them."""
    from calibcli.shell.app import main

    folder = tmp_path_factory.mktemp("few")
    rng = np.random.default_rng(2)
    for name, size in (("fit", 2_000), ("few", 46), ("more", 400)):
        score = rng.uniform(0, 1, size)
        label = (rng.random(size) < score).astype(int)
        lines = [f"{one!r},{y}\n" for one, y in zip(score.tolist(), label, strict=True)]
        (folder / f"{name}.csv").write_text("score,label\n" + "".join(lines))
    words = ["fit", str(folder / "fit.csv"), "--method", "histogram", "--bins", "20", "-q"]
    assert main([*words, "-o", str(folder / "cal.json")]) == 0
    for name in ("few", "more"):
        words = ["apply", str(folder / "cal.json"), str(folder / f"{name}.csv"), "-s", "score", "-q"]
        assert main([*words, "-o", str(folder / f"{name}_applied.csv")]) == 0
    return folder


def _ece(run: Run, *words: object) -> float:
    ended = run("measure", *words, "--metric", "ece", "--json")
    assert ended.code == 0, ended.err
    return float(json.loads(ended.out)["measures"]["ece"]["value"])


@pytest.mark.parametrize("rows", ["few", "more"])
def test_the_number_of_the_artifact_can_be_had_from_what_it_wrote(run: Run, applied: Path, rows: str) -> None:
    """With the option that the note names; without it the number may be another, and the note says so."""
    named = _ece(run, applied / f"{rows}.csv", "--artifact", applied / "cal.json")
    written = [applied / f"{rows}_applied.csv", "-s", "calibrated"]
    plain = _ece(run, *written)
    assert _ece(run, *written, "--binning", "atoms") == pytest.approx(named, rel=1e-12)
    said = SAID in run("measure", *written, "--metric", "ece").out.replace("\n", " ")
    assert said is (rows == "few")
    assert (plain == pytest.approx(named, rel=1e-9)) is (rows == "more")


def test_every_command_and_format_says_so(run: Run, applied: Path, tmp_path: Path) -> None:
    """Where bins were not named and matter; rows of CSV and JSON Lines say it on standard error."""
    requested = [applied / "few_applied.csv", "-y", "label"]
    one = [*requested, "-s", "calibrated"]
    lines = [["measure", *one, "--format", name] for name in ("table", "md", "json", "jsonl", "csv")]
    lines += [["verify", *one, "--max-ece", "0.4", "--format", name] for name in ("table", "json", "csv")]
    lines += [["plot", *one, "--kind", "binned", "-o", tmp_path / "out.svg"]]
    for words in lines:
        ended = run(*words)
        assert ended.code in (0, 4), ended.err
        assert SAID in " ".join((ended.out + ended.err).split()).replace("\\-", "-"), words
    for words in (
        ["measure", *one, "--bins", "15"],
        ["measure", *one, "--binning", "equal-width"],
        ["measure", *one, "--metric", "brier"],
        ["measure", *requested, "-s", "score"],
        ["verify", *one, "--max-smece", "0.5"],
        ["measure", applied / "few.csv", "--artifact", applied / "cal.json"],
    ):
        ended = run(*words)
        assert SAID not in " ".join((ended.out + ended.err).split()), words


def test_compare_says_so_of_both_sides(run: Run, tmp_path: Path) -> None:
    """Once for each number of values."""
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.integers(0, 30) / 40},{rng.integers(0, 25) / 40},{rng.integers(0, 2)}\n" for _ in range(90)
    ]
    path = tmp_path / "rows.csv"
    path.write_text("a,b,label\n" + "".join(rows))
    ended = run("compare", path, "-s", "a", "-s", "b", "-y", "label", "--metric", "ece")
    assert " ".join(ended.out.split()).count(SAID) == 2


def test_python_says_so(applied: Path) -> None:
    """Among the notes of the result."""
    found = calibcli.measure(str(applied / "few_applied.csv"), score="calibrated", label="label")
    assert any("merge some of them" in note for note in found.report.notes)
