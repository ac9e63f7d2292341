"""Reports as rows: CSV and JSON Lines."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.show.as_data import COLUMNS
from command_line import CHURN

pytestmark = pytest.mark.usefixtures("few_draws")

STRANGE = ["=1+1", "+cmd", "-2", "@SUM(A1)", "\tx", 'a,"b"\nc', "\x1b[31mred", "Zürich", "plain"]
Told = Callable[..., str]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return rows of groups with strange names."""
    generator = np.random.default_rng(3)
    path = tmp_path / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as text:
        writer = csv.writer(text)
        writer.writerow(["score", "old", "label", "group"])
        for place in range(900):
            score = generator.random()
            label = int(generator.random() < score)
            writer.writerow([repr(score), repr(score**2), label, STRANGE[place % len(STRANGE)]])
    return path


def read(text: str) -> list[dict[str, str]]:
    """Return CSV as a spreadsheet would."""
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("weights", [[], ["-w", "old"]])
def test_rows_hold_what_json_holds(said: Told, file: Path, weights: list[str]) -> None:
    """Every measure and test of every slice once, with the same numbers to the last digit, and as numbers."""
    words = ["measure", file, "-s", "score", "-y", "label", "--by", "group", "--min-group-rows", "1", "-q"]
    words += weights
    report = json.loads(said(*words, "--json"))
    lines = [json.loads(line) for line in said(*words, "--format", "jsonl").splitlines()]
    assert all(tuple(line) == COLUMNS for line in lines)
    slices: dict[str, Any] = {"": report, **report["slices"]}
    expected = {(key, name) for key, one in slices.items() for name in (*one["measures"], *one["tests"])}
    assert {(line["slice"], line["name"]) for line in lines} == expected
    assert len(lines) == len(expected)
    for line in lines:
        part = slices[line["slice"]]
        if line["kind"] == "measure":
            one = part["measures"][line["name"]]
            for key in {*COLUMNS} & {*one}:
                assert line[key] == one[key]
        else:
            assert line["p_value"] == part["tests"][line["name"]]["p_value"]
            assert line["p_adjusted"] == report["groups"]["adjusted"].get(line["name"], {}).get(line["slice"])
        assert (line["rows"], line["positive"]) == (part["table"]["rows"], part["table"]["positive"])
    cells = read(said(*words, "--format", "csv"))
    for cell, line in zip(cells, lines, strict=True):
        for key in ("value", "lower", "upper", "p_value"):
            assert (float(cell[key]) if cell[key] else None) == line[key]


def test_grades_have_what_their_table_has(said: Told, file: Path) -> None:
    """Predicted rates, p-values that hold for all at once, and lights, by each score; only of grades."""
    words = ["measure", file, *CHURN, "-s", "old", "-q", "-m", "jeffreys,mean_score", "--by", "group"]
    cells = read(said(*words, "--format", "csv"))
    lights = {cell["slice"]: cell["status"] for cell in cells if cell["kind"] == "test"}
    assert lights.pop("") == lights.pop("score=old") == ""
    assert any(key.startswith("score=old/") for key in lights)
    assert {*lights.values()} <= {"green", "yellow", "red"}
    for cell in cells:
        if cell["name"] == "mean_score":
            assert float(cell["mean_score"]) == pytest.approx(float(cell["value"]))
        assert bool(cell["p_adjusted"]) == (cell["kind"] == "test" and cell["slice"] in lights)
        if cell["p_adjusted"]:
            assert float(cell["p_adjusted"]) >= float(cell["p_value"])


def test_rows_of_two_scores_have_their_differences(said: Told, file: Path) -> None:
    """The same numbers as in JSON, with the verdict."""
    words = ["measure", file, "-s", "score", "-s", "old", "-y", "label", "-q", "-m", "brier,ece"]
    wanted = json.loads(said(*words, "--json"))["differences"]
    lines = [json.loads(line) for line in said(*words, "--format", "jsonl").splitlines()]
    found = [line for line in lines if line["kind"] == "difference"]
    assert [(line["slice"], line["name"]) for line in found] == [("score=old", "brier"), ("score=old", "ece")]
    for line in found:
        one = wanted[line["slice"]][line["name"]]
        assert line["status"] == one["verdict"]
        assert all(line[key] == one[key] for key in ("value", "lower", "upper", "confidence"))


def test_no_cell_is_a_formula_or_steers_a_terminal(said: Told, file: Path) -> None:
    """Text that begins like a formula has an apostrophe before it, numbers below zero have none."""
    words = ["measure", file, "-s", "score", "-y", "label", "-q", "--metric", "bias"]
    text = said(*words, "--format", "csv", "--by", "group", "--min-group-rows", "1")
    assert "\x1b" not in text
    cells = read(text)
    assert {cell["slice"] for cell in cells} >= {"group==1+1", "group=\\x1b[31mred", "group=Zürich"}
    odd = file.with_name("odd.csv")
    odd.write_text(file.read_text().replace("score,", "=1+1,", 1))
    found = read(
        said("measure", odd, "-s", "=1+1", "-y", "label", "-q", "--metric", "bias", "--format", "csv")
    )
    assert [cell["score"] for cell in found] == ["'=1+1"]
    for cell in cells:
        for key, value in cell.items():
            assert key in ("value", "lower", "upper", "null_lower") or not value.startswith(
                ("=", "+", "-", "@", "\t", "\r")
            )
    assert any(cell["lower"].startswith("-") for cell in cells)


def test_an_infinite_difference_is_a_number(said: Told, file: Path) -> None:
    """Of either sign it reads as JSON has it, and not as text after an apostrophe."""
    odd = file.with_name("sure.csv")
    odd.write_text("a,b,y\n" + "1,0.5,0\n0,0.5,1\n0.5,0.5,1\n" * 20)
    for scores, expected in ((("a", "b"), "-inf"), (("b", "a"), "inf")):
        words = ["compare", odd, "-s", scores[0], "-s", scores[1], "-y", "y", "-q", "-m", "log_loss"]
        cells = read(said(*words, "--format", "csv"))
        assert [cell["value"] for cell in cells if cell["kind"] == "difference"] == [expected]


def test_verdicts_and_comparisons_are_rows_too(said: Told, file: Path) -> None:
    """A rule has its limit and status, a difference its verdict beside both sides."""
    ended = said("verify", file, "-s", "score", "-y", "label", "--max-ece", "0.2", "-q", "--format", "csv")
    (rule,) = read(ended)
    assert (rule["kind"], rule["limit"], rule["status"]) == ("rule", "0.2", "pass")
    assert 0.0 <= float(rule["value"]) <= float(rule["upper"]) <= 0.2
    words = ["compare", file, "-s", "old", "-s", "score", "-y", "label", "--metric", "brier", "-q"]
    one, two, difference = read(said(*words, "--format", "csv"))
    assert [one["slice"], two["slice"], difference["kind"]] == ["old", "score", "difference"]
    gap = float(two["value"]) - float(one["value"])
    assert float(difference["value"]) == pytest.approx(gap, abs=1e-12)
    assert difference["status"] == "better"
