"""The main job from the command line: fit, apply, measure, verify, plot, inspect and export."""

import csv
import json
import os
import pty
import shlex
import subprocess
import sys
import tracemalloc
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibcli
from calibcli.data.fragments import kinds_as_read, list_fragments
from calibcli.documents.artifact import artifact_text
from calibcli.names import Compression, DocumentKind
from calibcli.options.numerals import folded
from calibcli.shell.app import main
from command_line import CHURN, SAMPLE, Run, in_csv
from exported_maps import class_map, one_map
from published import validator

EVALUATION = SAMPLE / "churn_evaluation.parquet"


def test_fit_without_output_writes_the_artifact_to_standard_output(run: Run) -> None:
    """`fit` in a pipe: JSON on stdout, the summary on stderr."""
    ended = run("fit", SAMPLE / "breast_cancer_calibration.csv", "-s", "score", "-y", "label", code=0)
    assert ended.document["method"] == "platt"
    assert "platt" in ended.err


def test_apply_adds_one_column_and_keeps_the_rest(run: Run, artifact: Path, tmp_path: Path) -> None:
    """Every other column of the Parquet file comes out equal."""
    out = tmp_path / "calibrated.parquet"
    run("apply", artifact, EVALUATION, "-o", out, code=0)
    before, after = pq.read_table(EVALUATION), pq.read_table(out)
    assert after.column_names == [*before.column_names, "calibrated"]
    assert after.drop_columns(["calibrated"]).equals(before)


def test_applied_column_measures_as_the_artifact_does(run: Run, artifact: Path, tmp_path: Path) -> None:
    """Measuring the applied file and measuring through the artifact give the same numbers."""
    out = tmp_path / "calibrated.parquet"
    run("apply", artifact, EVALUATION, "-o", out)
    applied = run("measure", out, "-s", "calibrated", "-y", "label", "--json").document
    through = run("measure", EVALUATION, *CHURN, "--artifact", artifact, "--json").document
    assert applied["measures"] == through["measures"]
    assert applied["table"]["digest"] == through["table"]["digest"]


def test_every_measure_travels_with_interval_method_and_null(run: Run) -> None:
    """On ordinary data nothing is printed bare."""
    report = run("measure", EVALUATION, *CHURN, "--json").document
    assert set(report["measures"]) == {
        "ece",
        "ece_equal_mass",
        "l2",
        "smece",
        "dce",
        "bias",
        "brier",
        "log_loss",
    }
    for name, measure in report["measures"].items():
        assert measure["lower"] <= measure["value"] <= measure["upper"], name
        assert measure["method"], name
        assert measure["target"], name
        assert measure["assumptions"], name
        assert measure["null"] is not None, name
    assert set(report["tests"]) == {"ks", "kuiper", "spiegelhalter", "t", "combined"}


def test_gate_passes_repaired_scores_and_fails_raw_ones(run: Run, artifact: Path) -> None:
    """The sample's raw scores fail a 2 % gate and the recalibrated ones pass it."""
    raw = run("verify", EVALUATION, *CHURN, "--max-ece", "0.02")
    repaired = run("verify", EVALUATION, *CHURN, "--max-ece", "0.02", "--artifact", artifact)
    assert (raw.code, repaired.code) == (1, 0)
    assert "FAIL" in raw.out
    assert "PASS" in repaired.out


def test_inspect_says_what_each_kind_of_file_is(run: Run, artifact: Path, tmp_path: Path) -> None:
    """Data, artifact and report are told apart and lead to the next command."""
    report = tmp_path / "report.json"
    run("measure", EVALUATION, *CHURN, "--json", "-o", report)
    data = run("inspect", EVALUATION, code=0)
    assert "calibcli measure" in data.out
    assert "scaling-binning" in run("inspect", artifact).out
    assert "smece" in run("inspect", report).out


def test_importance_weights_get_no_test_and_no_state(run: Run, tmp_path: Path) -> None:
    """Where no bound holds there is a reason, not a number."""
    weighted = [EVALUATION, *CHURN, "-w", "weight"]
    report = run("measure", *weighted, "-m", "ici,ece,tests", "--json").document
    assert all(test["p_value"] is None for test in report["tests"].values())
    assert report["measures"]["ici"]["lower"] is None
    assert any("no interval" in line for line in report["measures"]["ici"]["assumptions"])
    assert report["measures"]["ece"]["upper"] > report["measures"]["ece"]["value"]
    assert run("verify", *weighted, "--max-ece", "0.02", "--state", tmp_path / "gate.json").code == 2


@pytest.mark.parametrize("kind", DocumentKind)
def test_schema_prints_what_is_published(run: Run, kind: DocumentKind) -> None:
    """The schemas that tests hold documents against are those of the command."""
    assert run("schema", kind).document == validator(kind).schema


def test_global_flags_may_stand_before_the_command(run: Run, thousand: Path) -> None:
    """`calibcli -v measure` is `calibcli measure -v`."""
    assert run("-v", "measure", thousand).out == run("measure", "-v", thousand).out


@pytest.fixture
def beta(tmp_path: Path) -> str:
    """The file of a beta map."""
    path = tmp_path / "cal.json"
    path.write_text(artifact_text(one_map("beta")))
    return str(path)


@pytest.mark.parametrize("target", ["sql", "python", "sklearn", "onnx"])
def test_standard_output_and_a_file_get_the_same(
    target: str, beta: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Without -o the export goes to standard output, with nothing else."""
    assert main(["export", beta, "--to", target]) == 0
    printed = capfdbinary.readouterr()
    assert printed.err == b""
    path = tmp_path / "exported"
    assert main(["export", beta, "--to", target, "-o", str(path)]) == 0
    assert path.read_bytes() == printed.out
    assert b"the beta map of" in capfdbinary.readouterr().err


def test_columns_that_nobody_named_are_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """SQL of several classes says which columns it reads, unless --probs did."""
    path = tmp_path / "classes.json"
    path.write_text(artifact_text(class_map("temperature")))
    said = "note: the classes are read from p_"
    assert main(["export", str(path), "--to", "sql"]) == 0
    assert said in capfd.readouterr().err
    assert main(["export", str(path), "--to", "sql", "--probs", "probs"]) == 0
    assert said not in capfd.readouterr().err


def test_model_is_not_written_to_a_terminal(beta: str) -> None:
    """An ONNX model is not text: a terminal is refused, with exit code 5."""
    ours, theirs = pty.openpty()
    ended = subprocess.run(
        [sys.executable, "-m", "calibcli", "export", beta, "--to", "onnx"],
        stdout=theirs,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(theirs)
    os.close(ours)
    assert ended.returncode == 5
    assert b"standard output is a terminal" in ended.stderr


def test_onnx_that_is_not_installed_is_said(
    beta: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without the package the hint says how to get it."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["export", beta, "--to", "onnx", "-o", "never.onnx"]) == 2
    assert ".[onnx]" in capfd.readouterr().err
    assert not Path("never.onnx").exists()


ROWS = [(0.1, 0), (0.4, 1), (0.6, 0), (0.9, 1)]
SEMICOLONS = "score;label\n" + "".join(f"{score};{label}\n" for score, label in ROWS)


@pytest.mark.usefixtures("one_picture")
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
    run("apply", artifact, source, *how, "--encoding", "latin-1", "-o", output, "--name", "Wert ä", code=0)
    header, row = output.read_bytes().decode("latin-1").splitlines()
    assert header == "score;Größe;Wert ä"
    assert row.startswith("0.25;é;0.")


def test_inspect_says_what_to_type_with_the_same_options(run: Run, tmp_path: Path) -> None:
    """Else the next command would not find the columns."""
    (tmp_path / "a.txt").write_text(SEMICOLONS)
    suggestion = run("inspect", tmp_path / "a.txt", "--delimiter", ";", "--json").document["suggestion"]
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
        shown = run("inspect", tmp_path / name, "--json").document
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
        run("apply", artifact, source, *mine, "-o", output, "--force", code=0)
        assert all(line in output.read_text() for line in lines)
        written[mark] = list(csv.reader(output.read_text().splitlines(), delimiter=delimiter))
    points = [[field.replace(",", ".") for field in row] for row in written[","]]
    assert points == written["."]
    assert all("," in row[2] for row in written[","][1:])


def test_inspect_looks_at_a_whole_directory(run: Run, tmp_path: Path) -> None:
    """It counts files and rows, and lists what the path stands for."""
    for country, rows in (("DE", 3), ("US", 5)):
        folder = tmp_path / f"country={country}"
        folder.mkdir()
        pq.write_table(pa.table({"score": [0.5] * rows, "label": [1] * rows}), folder / "a.parquet")
    shown = run("inspect", tmp_path, "--json").document
    assert shown["facts"]["files"].startswith("2; ")
    assert (shown["facts"]["rows"], shown["facts"]["in the path"]) == ("8", "country")
    assert {"name": "country", "kind": "partition", "role": ""} in shown["columns"]


def test_inspect_says_of_each_column_what_its_values_read_as(run: Run, tmp_path: Path) -> None:
    """By the first rows, compressed or not; a name that is there twice stands twice, each with its type."""
    kinds = {
        "a": ("1", "-7", "whole number"),
        "b": ("1e3", " .5 ", "number"),
        "c": ("True", "FALSE", "true/false"),
        "d": ("NA", "", "empty"),
        "e": ("0,5", "7", "number with a decimal comma"),
        "f": ("1", "x", "text"),
        "A": ("NA", "2", "whole number"),
    }
    names = ["a", *kinds]
    rows = [names, *([kinds[name][place] for name in names] for place in (0, 1))]
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    plain = (tmp_path / "a.csv").read_bytes()
    for compression in Compression:
        with pa.CompressedOutputStream(str(tmp_path / f"{compression}.csv"), compression.value) as packed:
            packed.write(plain)
    for name in ("a", *Compression):
        shown = run("inspect", tmp_path / f"{name}.csv", "--json").document["columns"]
        assert [(one["name"], one["kind"]) for one in shown] == [(name, kinds[name][2]) for name in names]


def test_inspect_takes_one_row_of_json_for_rows(run: Run, tmp_path: Path) -> None:
    """As `measure` does; a document has a schema."""
    path = tmp_path / "rows.json"
    path.write_text('{"score": 0.3, "label": 1}\n')
    shown = run("inspect", path, "--json", code=0).document
    assert [one["name"] for one in shown["columns"]] == ["score", "label"]


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"]])
def test_inspect_takes_no_whole_column_for_probabilities_of_a_row(
    run: Run, tmp_path: Path, labels: list[object]
) -> None:
    """JSON of columns as lists has one row of lists, the label among them."""
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"score": [0.3, 0.7], "label": labels}))
    shown = run("inspect", path, "--json", code=0).document
    assert shown["suggestion"] is None
    assert "orient='records'" in shown["facts"]["note"]
    assert [one["kind"].partition("<")[0] for one in shown["columns"]] == ["list", "list"]
    path.write_text(json.dumps({"score": [0.3, 0.7], "label": labels[0]}))
    assert "--probs score -y label" in run("inspect", path, code=0).out


def test_inspect_holds_one_row_of_text_at_a_time(tmp_path: Path) -> None:
    """Rows that are looked at take no memory beside each other: a file may have a million columns."""
    path, width = tmp_path / "a.csv", 1_000
    row = ",".join(f"0.{k:06d}" for k in range(width))
    path.write_text("\n".join([",".join(f"x{k}" for k in range(width)), *[row] * 100]))
    (fragment,) = list_fragments([str(path)])
    header = tuple(f"x{k}" for k in range(width))
    tracemalloc.start()
    try:
        kinds = kinds_as_read(fragment, header)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert set(kinds) == {(name, "number") for name in header}
    assert peak < 1e6, "100 rows of 58 bytes for each text are 5.8 MB"


@pytest.mark.parametrize("in_list", [True, False])
def test_inspect_says_what_logits_of_classes_need(run: Run, tmp_path: Path, *, in_list: bool) -> None:
    """As of a score: the command that it offers runs."""
    logits = np.random.default_rng(3).normal(0.0, 3.0, (60, 3)).astype(np.float16)
    columns = {f"logit_{one}": pa.array(logits[:, place]) for place, one in enumerate("abc")}
    if in_list:
        columns = {"logits": pa.array(list(logits), pa.list_(pa.float16()))}
    path = tmp_path / "a.parquet"
    labels = logits.argmax(axis=1) if in_list else np.array(list("abc"))[logits.argmax(axis=1)]
    pq.write_table(pa.table({**columns, "target": labels}), path)
    shown = run("inspect", path, "--json", code=0).document
    asked = "logits" if in_list else "'logit_*'"
    assert shown["suggestion"] == f"calibcli measure {path} --probs {asked} -y target --scale logit"
    assert "pass --scale logit for logits" in shown["facts"]["note"]
    run(*shlex.split(shown["suggestion"])[1:], code=0)


def test_a_column_without_a_name_is_one_of_many(run: Run, tmp_path: Path) -> None:
    """Columns that are not read have no name in the parser, and this one none in the file."""
    (tmp_path / "a.csv").write_text("a,,score,label\n7,0.1,0.5,0\n8,0.9,0.5,1\n")
    for name, brier in (("", 0.01), ("score", 0.25)):
        report = run("measure", tmp_path / "a.csv", "-s", name, "-y", "label", "--json").document
        assert report["measures"]["brier"]["value"] == pytest.approx(brier)
    by = run("measure", tmp_path / "a.csv", "--by", "", "--min-group-rows", "1", "--json").document
    assert set(by["slices"]) == {"=0.1", "=0.9"}


def test_names_are_folded_alike_whatever_their_letters() -> None:
    """Letters of ASCII take a shorter way to the same."""
    for text in (*map(chr, range(0x3000)), " \tAb C\x1f", "Stra\u00dfe", "e\u0301\u00c9 "):
        slow = unicodedata.normalize("NFC", text.strip().casefold())
        assert folded(text) == folded(f" {text}\n") == slow


@pytest.mark.parametrize(
    ("rows", "more"),
    [
        ("0.2,no\n0.7,yes\n0.6,yes\n", " --positive yes"),
        ("0.2,False\n0.7,True\n", ""),
        ("-2,0\n3.5,1\n", " --scale logit"),
        ("0.2,0\n,1\n0.4,1\n", " --on-missing drop"),
        ("-2,no\n3.5,yes\n,yes\n", " --on-missing drop --scale logit --positive yes"),
    ],
)
def test_the_command_that_inspect_offers_for_rows_is_accepted(
    run: Run, tmp_path: Path, rows: str, more: str
) -> None:
    """With the options that the refusals of those before it ask for, and none where these are not enough."""
    (tmp_path / "a.csv").write_text(f"score,label\n{rows}")
    shown = run("inspect", tmp_path / "a.csv", "--json").document
    assert shown["suggestion"].endswith(f"-s score -y label{more}")
    assert run(*shlex.split(shown["suggestion"])[1:]).code == 0
    assert ("note" in shown["facts"]) is bool(more)
    kinds = {one["name"]: one["kind"] for one in shown["columns"]}
    assert (kinds["label"] == "true/false") is ("True" in rows)


def test_inspect_looks_at_columns_that_are_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No usual name told it of, so that measure refused such a file once for each thing it has to be told."""
    path = tmp_path / "loans.csv"
    path.write_text("rating;pd_12m;out\nA;1,2;N\nB;17,5;Y\nB;;N\n")
    shown = run("inspect", path, "-s", "pd_12m", "-y", "OUT", "--json", code=0).document
    more = "--delimiter ';' --decimal , --on-missing drop --scale percent --positive Y"
    assert shown["suggestion"] == f"calibcli measure {path} -s pd_12m -y out {more}"
    assert shown["facts"]["base rate"] == "50.0 % (1 of 2 rows has label 1)"
    assert run(*shlex.split(shown["suggestion"])[1:]).code == 0
    assert run("inspect", path, "--delimiter", ";", "-s", "pd_21m", code=3).err.endswith("'pd_12m'?\n")
    # A default was meant for other files.
    monkeypatch.chdir(tmp_path)
    Path("calibcli.toml").write_text('score = "p"\nlabel = "out"\n')
    assert "sets score, which has no effect here" in run("inspect", path, code=0).err


@pytest.mark.parametrize("times", [1, 3])
def test_inspect_compares_no_models_by_the_first_of_several_answers(
    run: Run, tmp_path: Path, times: int
) -> None:
    """Of repeated ids `compare` takes the first row; what measures all of them allows for their questions."""
    rows = [
        f"{model},q{q},0.{q % 9 + 1},{(q + k) % 2}" for model in "ab" for q in range(30) for k in range(times)
    ]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["model,question,confidence,correct", *rows, ""]))
    shown = run("inspect", path, "--json", code=0).document
    assert shown["suggestion"].endswith("auroc" if times == 1 else "auroc --cluster question")
    assert ("models" in shown["facts"]) == (times == 1)
    assert run(*shlex.split(shown["suggestion"])[1:]).code == 0


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_inspect_takes_no_predicted_class_for_the_score(run: Run, tmp_path: Path, suffix: str) -> None:
    """It offered `-s prediction`, a column of texts, where the probabilities stand beside it."""
    rows = [{"p_a": 0.2, "p_b": 0.5, "p_c": 0.3, "prediction": "b", "label": name} for name in "abc"]
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    path = tmp_path / f"rows{suffix}"
    path.write_text("\n".join(lines if suffix == ".csv" else map(json.dumps, rows)) + "\n")
    shown = run("inspect", path, "--json", code=0).document
    assert shown["suggestion"] == f"calibcli measure {path} --probs 'p_*' -y label"
    assert run(*shlex.split(shown["suggestion"])[1:]).code == 0


def test_inspect_knows_numbers_beside_text_in_another_encoding(run: Run, tmp_path: Path) -> None:
    """Names in latin-1 made text of every column, of the score too."""
    (tmp_path / "a.csv").write_bytes("name,score,label\nMüller,0.2,0\nJosé,0.7,1\n".encode("latin-1"))
    found = run("inspect", tmp_path / "a.csv", "--json").out
    assert [one["kind"] for one in json.loads(found)["columns"]] == ["text", "number", "whole number"]


def test_inspect_offers_no_command_that_would_fail(run: Run, tmp_path: Path) -> None:
    """Soft labels are read in no way."""
    (tmp_path / "a.csv").write_text("score,label\n0.2,0.3\n0.7,0.6\n0.4,1\n")
    shown = run("inspect", tmp_path / "a.csv", "--json").document
    assert shown["suggestion"] is None
    assert "soft labels are not read" in shown["facts"]["note"]


def test_certain_scores_are_noted_beside_a_slope(run: Run, tmp_path: Path) -> None:
    """Their log odds are a limit, not a number, and can decide the line."""
    rows = "".join(f"{score},{label}\n" for score, label in ROWS)
    (tmp_path / "a.csv").write_text(f"score,label\n{rows}0,1\n1,1\n")
    said = "2 rows have scores within 1e-16 of 0 or 1 and count with log odds of ±36.7"
    for form in ("table", "latex", "html"):
        printed = run("measure", tmp_path / "a.csv", "-m", "slope", "--format", form)
        assert " ".join(printed.out.replace("\\symbol{177}", "±").split()).count(said) == 1, printed.out
    assert "log odds of" not in run("measure", tmp_path / "a.csv", "-m", "ece").out


def test_inspect_says_that_fields_are_separated_otherwise(run: Run, tmp_path: Path) -> None:
    """As measure does."""
    (tmp_path / "a.csv").write_text(SEMICOLONS)
    assert "pass --delimiter ';'" in run("inspect", tmp_path / "a.csv", "--json").document["facts"]["note"]


def test_columns_of_several_classes_are_offered_where_no_score_is_found(run: Run, tmp_path: Path) -> None:
    """As inspect would name them; without any there is no such word."""
    pq.write_table(pa.table({"logits": [[0.2, 0.8]] * 4, "label": [0, 1, 1, 1]}), tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("p_0,p_1,p_2,label\n0.2,0.7,0.1,1\n")
    (tmp_path / "c.csv").write_text("one,two,label\n0.2,0.8,1\n")
    hint = "name it with --score, or several classes with --probs"
    assert f"{hint} logits" in run("measure", tmp_path / "a.parquet").err
    assert f"{hint} 'p_*'" in run("measure", tmp_path / "b.csv").err
    assert "--probs" not in run("measure", tmp_path / "c.csv").err


def test_inspect_asks_whether_scores_are_of_the_predicted_class(run: Run, tmp_path: Path) -> None:
    """As pipelines write them, beside the true class: no value of the label is what they speak of."""
    path = tmp_path / "rows.csv"
    for low, asked in ((0.5, True), (0.49, False)):
        path.write_text(f"score,label\n{low},NEG\n0.7,POS\n0.9,NEG\n")
        shown = run("inspect", path, code=0).out
        assert ("no score is below 1/2: if each is the probability of the class predicted" in shown) == asked
    for no, yes in (("0", "1"), ("Wrong", "Right"), ("incorrect", "correct")):
        path.write_text(f"score,label\n0.5,{no}\n0.7,{yes}\n0.9,{no}\n")
        assert "below 1/2" not in run("inspect", path, code=0).out


def test_inspect_says_every_note_as_json(run: Run, tmp_path: Path) -> None:
    """Why the rows would be refused, and that what it would type is a guess."""
    (tmp_path / "rows.csv").write_text("pd,default_flag\n0.2,N\n0.7,Y\n")
    lines = run("inspect", tmp_path / "rows.csv", code=0).out.splitlines()
    notes = [line.removeprefix("note").strip() for line in lines if line.startswith("note")]
    note = run("inspect", tmp_path / "rows.csv", "--json", code=0).document["facts"]["note"]
    assert len(notes) == 2
    assert note == "; ".join(notes)


@pytest.mark.parametrize("label", ["it's", "yes:1", "a,b", "`id`", "-1", "$HOME"])
def test_inspect_types_labels_as_they_are(run: Run, tmp_path: Path, label: str) -> None:
    """Whatever marks of a sentence or of a shell they hold; a part of one was typed."""
    path = tmp_path / "rows.csv"
    path.write_text(f'score,label\n0.5,"{label}"\n0.7,"{label}"\n0.2,no\n')
    shown = run("inspect", path, "--json", code=0).document["suggestion"]
    assert run(*shlex.split(shown)[1:], "--json", code=0).document["input"]["positive"] == label


@pytest.mark.parametrize(
    ("names", "score"), [("prob_0,prob_1", "prob_1"), ("p_event,p_none", "p_event"), ("p_cat,p_dog", "p_dog")]
)
def test_of_two_columns_of_classes_one_is_the_score(run: Run, tmp_path: Path, names: str, score: str) -> None:
    """As predict_proba of scikit-learn leaves them: the largest of both is another question."""
    path, asked = tmp_path / "rows.csv", names[: names.index("_") + 1]
    path.write_text(f"{names},label\n0.2,0.8,1\n0.6,0.4,0\n")
    shown = run("inspect", path, "--json", code=0).document
    assert shown["suggestion"] == f"calibcli measure {path} -s {score} -y label"
    assert f"--probs '{asked}*' looks at the larger of both" in shown["facts"]["note"]
    assert f"name '{score}' with --score" in run("measure", path, code=3).err


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_two_columns_that_do_not_sum_to_1_are_not_two_classes(run: Run, tmp_path: Path, suffix: str) -> None:
    """Such as scores of two models, and of two labels of which a row may have both."""
    table = {"p_old": [0.2, 0.7, None], "p_new": [0.8, 0.4, 0.1], "label": [0, 1, 1]}
    path = tmp_path / f"rows{suffix}"
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    for second, offered in ((0.4, "--probs 'p_*'"), (0.3, "-s p_new")):
        table["p_new"][1] = rows[1]["p_new"] = second
        if suffix == ".parquet":
            pq.write_table(pa.table(table), path)
        elif suffix == ".jsonl":
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        else:
            lines = (",".join("" if one is None else str(one) for one in row.values()) for row in rows)
            path.write_text("\n".join([",".join(table), *lines, ""]))
        shown = run("inspect", path, "--json", code=0).document
        said = run("measure", path, "-y", "label", code=3).err
        assert f"measure {path} {offered} -y label" in shown["suggestion"]
        assert ("of two classes" in shown["facts"].get("note", "")) == (second == 0.3)
        assert ("of two classes one probability is enough" in said) == (second == 0.3)
        assert ("or several classes with --probs 'p_*'" in said) == (second == 0.4)
    pq.write_table(pa.table({"p_a": ["x"], "p_b": ["y"], "label": [1]}), tmp_path / "text.parquet")
    assert "--probs" in run("measure", tmp_path / "text.parquet", code=3).err


@pytest.mark.parametrize("names", ["old new", "a b c", "0 1"])
def test_logits_of_models_are_none_of_classes(run: Run, tmp_path: Path, names: str) -> None:
    """Where labels are 0 and 1 alone, and no column is called so; else they are tried as those of classes."""
    rng = np.random.default_rng(5)
    columns = {f"logit_{name}": rng.normal(0.0, 2.0, 60) for name in names.split()}
    path = in_csv(tmp_path / "a.csv", {**columns, "label": np.arange(60) % 2})
    shown = run("inspect", path, "--json", code=0).document
    asked = "--probs 'logit_*' -y label --scale logit" if names == "0 1" else "-s SCORE -y label"
    assert shown["suggestion"] == f"calibcli measure {path} {asked}"
    assert ("base rate" in shown["facts"]) is (names != "0 1")


def test_errors_that_cancel_between_two_classes_are_spoken_of(run: Run, tmp_path: Path) -> None:
    """A gate on the largest probability passes where that of label 1 is too high by 0.1 in every row."""
    rng = np.random.default_rng(0)
    score = rng.uniform(0.1, 0.9, 6_000)
    label = (rng.random(6_000) < score - 0.1).astype(int)
    table = pa.table({"p_0": 1.0 - score, "p_1": score, "p_2": np.zeros(6_000), "label": label})
    pq.write_table(table, tmp_path / "rows.parquet")
    verify = ("verify", tmp_path / "rows.parquet", "-y", "label", "--max-ece", "0.05")
    said = "of two classes the largest probability hides errors that cancel"
    two = ("--probs", "p_0,p_1")
    passed = run(*verify, *two, code=0)
    assert f"note: {said}" in passed.out
    assert "--view one-vs-rest --class '1' looks at one alone" in passed.out
    fitted = run("fit", *verify[1:4], *two, "-o", tmp_path / "map.json", code=0)
    through = (*two, "--artifact", tmp_path / "map.json")
    assert said in run("compare", *verify[1:4], *through, code=0).out
    assert said in run("verify", *verify[1:4], *through, "--max-ece", "0.5", "--allow-fit-rows", code=0).out
    assert said in run(*verify, *two, "--rule", "accuracy>=0.5", code=0).out
    drawn = run("plot", *verify[1:4], *two, "-o", tmp_path / "out.svg", code=0)
    assert said in drawn.err
    for each in (two, through):
        shown = run("measure", *verify[1:4], *each, "-m", "ece", code=0).out
        assert "Each class against the rest" in shown
        assert said not in shown
    for one in ((*two, "--view", "one-vs-rest", "--class", "1"), ("-s", "p_1")):
        failed = run(*verify, *one, code=1)
        assert said not in failed.out
    assert said not in fitted.err + run(*verify, "--probs", "p_*").out


def test_the_name_of_an_output_says_what_is_exported(run: Run, tmp_path: Path) -> None:
    """Without --to by the suffix; where that says nothing, the error names both ways."""
    rows, artifact = tmp_path / "r.csv", tmp_path / "c.json"
    rows.write_text("score,label\n" + "0.1,0\n0.2,1\n0.6,0\n0.8,1\n" * 50)
    assert run("fit", rows, "-s", "score", "-y", "label", "-m", "sigmoid", "-o", artifact).code == 0
    for name, target in (("m.sql", "sql"), ("m.py", "python")):
        assert run("export", artifact, "-o", tmp_path / name).code == 0
        assert (tmp_path / name).read_text() == run("export", artifact, "--to", target).out
    view = ("export", artifact, "--to", "sql", "--as", "view", "--view")
    assert 'VIEW "ovr" AS' in run(*view, "ovr").out
    ended = run("export", artifact)
    assert (ended.code, "pass --to sql" in ended.err) == (2, True)


def test_views_go_by_their_short_name(run: Run, tmp_path: Path) -> None:
    """Ovr is what scikit-learn calls one class against the rest."""
    rows = tmp_path / "z.csv"
    rows.write_text("p_a,p_b,label\n" + "0.25,0.75,a\n0.75,0.25,a\n0.5,0.5,b\n" * 50)
    line = ("measure", rows, "--probs", "p_*", "-y", "label", "--json", "-m", "ece")
    assert run(*line, "--view", "ovr").out == run(*line, "--view", "one-vs-rest").out != ""
    assert run(*line, "--view=ovr").code == 0
    views = [calibcli.measure(str(rows), probs="p_*", view=one).to_dict() for one in ("ovr", "one-vs-rest")]
    assert views[0] == views[1]


def test_a_contradiction_is_no_number_that_is_rounded(run: Run, tmp_path: Path) -> None:
    """A rule on a p-value said that it was below 1e-300, and `measure` 0 of the same rows."""
    (tmp_path / "rows.csv").write_text("score,label\n" + "0.5,0\n0.5,1\n" * 100 + "1.0,0\n")
    told = run("verify", tmp_path / "rows.csv", "-s", "score", "-y", "label", "--rule", "hl.p>=0.05", code=1)
    assert "FAIL  hosmer_lemeshow.p >= 0.05  (p = 0 (contradiction))" in told.out
