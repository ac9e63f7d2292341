"""Options that say how inputs are read, through the command line."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Run = Any
ROWS = [(0.1, 0), (0.4, 1), (0.6, 0), (0.9, 1)]
SEMICOLONS = "score;label\n" + "".join(f"{score};{label}\n" for score, label in ROWS)


@pytest.mark.parametrize(
    "words",
    [
        ["measure"],
        ["verify", "--max-ece", "0.9"],
        ["fit", "--method", "platt"],
        ["compare", "-s", "score", "-s", "other"],
        ["plot", "--terminal"],
        ["inspect"],
        ["report", "-o", "report.html"],
    ],
)
def test_every_command_takes_a_separator_and_an_encoding(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """The same file in UTF-16 with bars for commas."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{score}|{label}|{1 - score}\n" for score, label in ROWS * 20]
    Path("a.csv").write_bytes(("score|label|other\n" + "".join(lines)).encode("utf-16"))
    command, *rest = words
    ended = run(command, "a.csv", "--delimiter", "|", "--encoding", "utf-16", *rest)
    assert ended.code in (0, 4), ended.err
    assert "error" not in ended.err


def test_apply_keeps_the_bytes_of_one_byte_encodings(run: Run, tmp_path: Path) -> None:
    """The new column stands beside them, in the same encoding and with the same separator."""
    source = tmp_path / "a.csv"
    source.write_bytes("score;Größe\n0.25;é\n".encode("latin-1"))
    (tmp_path / "fit.csv").write_text(SEMICOLONS)
    artifact, output = tmp_path / "cal.json", tmp_path / "b.csv"
    how = ["--delimiter", ";"]
    assert run("fit", tmp_path / "fit.csv", *how, "--method", "platt", "-o", artifact).code == 0
    ended = run("apply", artifact, source, *how, "--encoding", "latin-1", "-o", output, "--name", "Wert ä")
    assert ended.code == 0, ended.err
    header, row = output.read_bytes().decode("latin-1").splitlines()
    assert header == "score;Größe;Wert ä"
    assert row.startswith("0.25;é;0.")


def test_inspect_says_what_to_type_with_the_same_options(run: Run, tmp_path: Path) -> None:
    """Else the next command would not find the columns."""
    (tmp_path / "a.txt").write_text(SEMICOLONS)
    ended = run("inspect", tmp_path / "a.txt", "--delimiter", ";", "--json")
    suggestion = json.loads(ended.out)["suggestion"]
    assert suggestion.endswith("-s score -y label --delimiter ';'")
    assert run(*suggestion.replace("'", "").split()[1:]).code == 0
    tabs = tmp_path / "b.txt"
    tabs.write_text(SEMICOLONS.replace(";", "\t"))
    assert run("inspect", tabs, "--delimiter", "tab").out.rstrip().endswith("--delimiter tab")


def test_inspect_knows_rows_from_documents(run: Run, tmp_path: Path) -> None:
    """An object on each line is data, whatever the file is called; one alone may be a document."""
    lines = "".join(f'{{"score": {score}, "label": {label}, "l": [1]}}\n' for score, label in ROWS)
    for name in ("a.jsonl", "a.json", "rows"):
        (tmp_path / name).write_text(lines)
        shown = json.loads(run("inspect", tmp_path / name, "--json").out)
        assert shown["kind"] == "jsonl"
        assert [one["name"] for one in shown["columns"]] == ["score", "label", "l"]
    (tmp_path / "b.jsonl").write_text(lines.splitlines()[0])
    assert run("inspect", tmp_path / "b.jsonl").code == 0


@pytest.mark.parametrize("delimiter", [";", ","])
def test_decimal_commas_are_read_and_written(run: Run, tmp_path: Path, delimiter: str) -> None:
    """The same map and the same new column as with points, each number in the file's own spelling."""
    how = ["--delimiter", delimiter, "--decimal", ","]
    written = {}
    for mark in ".,":
        mine = how if mark == "," else how[:2]
        quote = '"' if mark == delimiter else ""
        lines = [f"{quote}{score}{quote}{delimiter}{label}".replace(".", mark) for score, label in ROWS]
        source = tmp_path / "rows.csv"
        source.write_text("\n".join([f"score{delimiter}label", *lines, ""]))
        artifact, output = tmp_path / "cal.json", tmp_path / "out.csv"
        assert run("fit", source, *mine, "--method", "platt", "-o", artifact, "--force").code == 0
        ended = run("apply", artifact, source, *mine, "-o", output, "--force")
        assert ended.code == 0, ended.err
        assert all(line in output.read_text() for line in lines)
        written[mark] = list(csv.reader(output.read_text().splitlines(), delimiter=delimiter))
    points = [[field.replace(",", ".") for field in row] for row in written[","]]
    assert points == written["."]
    assert all("," in row[2] for row in written[","][1:])


def test_decimal_marks_are_for_csv(run: Run, tmp_path: Path) -> None:
    """Another mark than point and comma is refused, and so is any where no file is CSV."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f'{{"score": {score}, "label": {label}}}\n' for score, label in ROWS))
    assert "--decimal is for CSV" in run("measure", rows, "--decimal", ",").err
    assert "not a decimal mark" in run("measure", rows, "--decimal", ";").err


def test_inspect_looks_at_a_whole_directory(run: Run, tmp_path: Path) -> None:
    """It counts files and rows, and lists what the path stands for."""
    for country, rows in (("DE", 3), ("US", 5)):
        folder = tmp_path / f"country={country}"
        folder.mkdir()
        pq.write_table(pa.table({"score": [0.5] * rows, "label": [1] * rows}), folder / "a.parquet")
    shown = json.loads(run("inspect", tmp_path, "--json").out)
    assert shown["facts"]["files"].startswith("2; ")
    assert (shown["facts"]["rows"], shown["facts"]["in the path"]) == ("8", "country")
    assert {"name": "country", "kind": "partition", "role": ""} in shown["columns"]


def test_inspect_says_that_fields_are_separated_otherwise(run: Run, tmp_path: Path) -> None:
    """As measure does."""
    (tmp_path / "a.csv").write_text(SEMICOLONS)
    assert (
        "pass --delimiter ';'"
        in json.loads(run("inspect", tmp_path / "a.csv", "--json").out)["facts"]["note"]
    )


def test_columns_of_several_classes_are_offered_where_no_score_is_found(run: Run, tmp_path: Path) -> None:
    """As inspect would name them; without any there is no such word."""
    pq.write_table(pa.table({"logits": [[0.2, 0.8]] * 4, "label": [0, 1, 1, 1]}), tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("p_0,p_1,label\n0.2,0.8,1\n")
    (tmp_path / "c.csv").write_text("one,two,label\n0.2,0.8,1\n")
    hint = "name it with --score, or several classes with --probs"
    assert f"{hint} logits" in run("measure", tmp_path / "a.parquet").err
    assert f"{hint} 'p_*'" in run("measure", tmp_path / "b.csv").err
    assert "--probs" not in run("measure", tmp_path / "c.csv").err


def test_values_of_lists_are_counted_among_all_values(run: Run, tmp_path: Path) -> None:
    """Six of eight, where there are four rows of two."""
    table = pa.table({"logits": [[2.5, -1.0]] * 3 + [[0.5, 0.5]], "label": [0, 1, 1, 1]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert (
        "6 of 8 values lie outside [0, 1]" in run("measure", tmp_path / "a.parquet", "--probs", "logits").err
    )
