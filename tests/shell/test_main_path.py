"""The main job from the command line: fit, apply, measure, verify, plot, inspect and export."""

import csv
import os
import pty
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibcli
from calibcli.documents.artifact import artifact_text
from calibcli.names import DocumentKind
from calibcli.options.numerals import folded
from calibcli.shell.app import main
from command_line import CHURN, SAMPLE, Run
from exported_maps import class_map, one_map
from published import validator

EVALUATION = SAMPLE / "churn_evaluation.parquet"


def test_fit_without_output_writes_the_artifact_to_standard_output(run: Run) -> None:
    """`fit` in a pipe: JSON on stdout, the summary on stderr."""
    ended = run("fit", SAMPLE / "breast_cancer_calibration.csv", *CHURN, code=0)
    assert ended.document["method"] == "platt"
    assert "platt" in ended.err


def test_apply_adds_one_column_and_keeps_the_rest(run: Run, artifact: Path) -> None:
    """Every other column of the Parquet file comes out equal."""
    out = Path("calibrated.parquet")
    run("apply", artifact, EVALUATION, "-o", out, code=0)
    before, after = pq.read_table(EVALUATION), pq.read_table(out)
    assert after.column_names == [*before.column_names, "calibrated"]
    assert after.drop_columns(["calibrated"]).equals(before)


def test_applied_column_measures_as_the_artifact_does(run: Run, artifact: Path) -> None:
    """Measuring the applied file and measuring through the artifact give the same numbers."""
    out = Path("calibrated.parquet")
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


def test_importance_weights_get_no_test_and_no_state(run: Run) -> None:
    """Where no bound holds there is a reason, not a number."""
    weighted = [EVALUATION, *CHURN, "-w", "weight"]
    report = run("measure", *weighted, "-m", "ici,ece,tests", "--json").document
    assert all(test["p_value"] is None for test in report["tests"].values())
    assert report["measures"]["ici"]["lower"] is None
    assert any("no interval" in line for line in report["measures"]["ici"]["assumptions"])
    assert report["measures"]["ece"]["upper"] > report["measures"]["ece"]["value"]
    assert run("verify", *weighted, "--max-ece", "0.02", "--state", "gate.json").code == 2


@pytest.mark.parametrize("kind", DocumentKind)
def test_schema_prints_what_is_published(run: Run, kind: DocumentKind) -> None:
    """The schemas that tests hold documents against are those of the command."""
    assert run("schema", kind).document == validator(kind).schema


def test_global_flags_may_stand_before_the_command(run: Run, thousand: Path) -> None:
    """`calibcli -v measure` is `calibcli measure -v`."""
    assert run("-v", "measure", thousand).out == run("measure", "-v", thousand).out


@pytest.fixture
def beta() -> str:
    """The file of a beta map."""
    path = Path("cal.json")
    path.write_text(artifact_text(one_map("beta")))
    return str(path)


@pytest.mark.parametrize("target", ["sql", "python", "sklearn", "onnx"])
def test_standard_output_and_a_file_get_the_same(
    target: str, beta: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Without -o the export goes to standard output, with nothing else."""
    assert main(["export", beta, "--to", target]) == 0
    printed = capfdbinary.readouterr()
    assert printed.err == b""
    path = Path("exported")
    assert main(["export", beta, "--to", target, "-o", str(path)]) == 0
    assert path.read_bytes() == printed.out
    assert b"the beta map of" in capfdbinary.readouterr().err


def test_columns_that_nobody_named_are_said(capfd: pytest.CaptureFixture[str]) -> None:
    """SQL of several classes says which columns it reads, unless --probs did."""
    path = Path("classes.json")
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
def test_every_command_takes_a_separator_and_an_encoding(run: Run, words: list[str]) -> None:
    """The same file in UTF-16 with bars for commas."""
    lines = [f"{score}|{label}|{1 - score}\n" for score, label in ROWS * 20]
    Path("a.csv").write_bytes(("score|label|other\n" + "".join(lines)).encode("utf-16"))
    command, *rest = words
    ended = run(command, "a.csv", "--delimiter", "|", "--encoding", "utf-16", *rest)
    assert ended.code in (0, 4), ended.err
    assert "error" not in ended.err


def test_apply_keeps_the_bytes_of_one_byte_encodings(run: Run) -> None:
    """The new column stands beside them, in the same encoding and with the same separator."""
    source = Path("a.csv")
    source.write_bytes("score;Größe\n0.25;é\n".encode("latin-1"))
    Path("fit.csv").write_text(SEMICOLONS)
    artifact, output = Path("cal.json"), Path("b.csv")
    how = ["--delimiter", ";"]
    assert run("fit", "fit.csv", *how, "--method", "platt", "-o", artifact).code == 0
    run("apply", artifact, source, *how, "--encoding", "latin-1", "-o", output, "--name", "Wert ä", code=0)
    header, row = output.read_bytes().decode("latin-1").splitlines()
    assert header == "score;Größe;Wert ä"
    assert row.startswith("0.25;é;0.")


@pytest.mark.parametrize("delimiter", [";", ","])
def test_decimal_commas_are_read_and_written(run: Run, delimiter: str) -> None:
    """The same map and the same new column as with points, each number in the file's own spelling."""
    how = ["--delimiter", delimiter, "--decimal", ","]
    written = {}
    for mark in ".,":
        mine = how if mark == "," else how[:2]
        quote = '"' if mark == delimiter else ""
        lines = [f"{quote}{score}{quote}{delimiter}{label}".replace(".", mark) for score, label in ROWS]
        source = Path("rows.csv")
        source.write_text("\n".join([f"score{delimiter}label", *lines, ""]))
        artifact, output = Path("cal.json"), Path("out.csv")
        assert run("fit", source, *mine, "--method", "platt", "-o", artifact, "--force").code == 0
        run("apply", artifact, source, *mine, "-o", output, "--force", code=0)
        assert all(line in output.read_text() for line in lines)
        written[mark] = list(csv.reader(output.read_text().splitlines(), delimiter=delimiter))
    points = [[field.replace(",", ".") for field in row] for row in written[","]]
    assert points == written["."]
    assert all("," in row[2] for row in written[","][1:])


def test_a_column_without_a_name_is_one_of_many(run: Run) -> None:
    """Columns that are not read have no name in the parser, and this one none in the file."""
    Path("a.csv").write_text("a,,score,label\n7,0.1,0.5,0\n8,0.9,0.5,1\n")
    for name, brier in (("", 0.01), ("score", 0.25)):
        report = run("measure", "a.csv", "-s", name, "-y", "label", "--json").document
        assert report["measures"]["brier"]["value"] == pytest.approx(brier)
    by = run("measure", "a.csv", "--by", "", "--min-group-rows", "1", "--json").document
    assert set(by["slices"]) == {"=0.1", "=0.9"}


def test_names_are_folded_alike_whatever_their_letters() -> None:
    """Letters of ASCII take a shorter way to the same."""
    for text in (*map(chr, range(0x3000)), " \tAb C\x1f", "Stra\u00dfe", "e\u0301\u00c9 "):
        slow = unicodedata.normalize("NFC", text.strip().casefold())
        assert folded(text) == folded(f" {text}\n") == slow


def test_certain_scores_are_noted_beside_a_slope(run: Run) -> None:
    """Their log odds are a limit, not a number, and can decide the line."""
    rows = "".join(f"{score},{label}\n" for score, label in ROWS)
    Path("a.csv").write_text(f"score,label\n{rows}0,1\n1,1\n")
    said = "2 rows have scores within 1e-16 of 0 or 1 and count with log odds of ±36.7"
    for form in ("table", "latex", "html"):
        printed = run("measure", "a.csv", "-m", "slope", "--format", form)
        assert " ".join(printed.out.replace("\\symbol{177}", "±").split()).count(said) == 1, printed.out
    assert "log odds of" not in run("measure", "a.csv", "-m", "ece").out


def test_errors_that_cancel_between_two_classes_are_spoken_of(run: Run) -> None:
    """A gate on the largest probability passes where that of label 1 is too high by 0.1 in every row."""
    rng = np.random.default_rng(0)
    score = rng.uniform(0.1, 0.9, 6_000)
    label = (rng.random(6_000) < score - 0.1).astype(int)
    table = pa.table({"p_0": 1.0 - score, "p_1": score, "p_2": np.zeros(6_000), "label": label})
    pq.write_table(table, "rows.parquet")
    verify = ("verify", "rows.parquet", "-y", "label", "--max-ece", "0.05")
    said = "of two classes the largest probability hides errors that cancel"
    two = ("--probs", "p_0,p_1")
    passed = run(*verify, *two, code=0)
    assert f"note: {said}" in passed.out
    assert "--view one-vs-rest --class '1' looks at one alone" in passed.out
    fitted = run("fit", *verify[1:4], *two, "-o", "map.json", code=0)
    through = (*two, "--artifact", "map.json")
    assert said in run("compare", *verify[1:4], *through, code=0).out
    assert said in run("verify", *verify[1:4], *through, "--max-ece", "0.5", "--allow-fit-rows", code=0).out
    assert said in run(*verify, *two, "--rule", "accuracy>=0.5", code=0).out
    assert said in run("plot", *verify[1:4], *two, "-o", "out.svg", code=0).err
    for each in (two, through):
        shown = run("measure", *verify[1:4], *each, "-m", "ece", code=0).out
        assert "Each class against the rest" in shown
        assert said not in shown
    for one in ((*two, "--view", "one-vs-rest", "--class", "1"), ("-s", "p_1")):
        assert said not in run(*verify, *one, code=1).out
    assert said not in fitted.err + run(*verify, "--probs", "p_*").out


def test_the_name_of_an_output_says_what_is_exported(run: Run) -> None:
    """Without --to by the suffix; where that says nothing, the error names both ways."""
    rows, artifact = Path("r.csv"), Path("c.json")
    rows.write_text("score,label\n" + "0.1,0\n0.2,1\n0.6,0\n0.8,1\n" * 50)
    assert run("fit", rows, *CHURN, "-m", "sigmoid", "-o", artifact).code == 0
    for name, target in (("m.sql", "sql"), ("m.py", "python")):
        assert run("export", artifact, "-o", Path(name)).code == 0
        assert Path(name).read_text() == run("export", artifact, "--to", target).out
    view = ("export", artifact, "--to", "sql", "--as", "view", "--view")
    assert 'VIEW "ovr" AS' in run(*view, "ovr").out
    assert "pass --to sql" in run("export", artifact, code=2).err


def test_views_go_by_their_short_name(run: Run) -> None:
    """Ovr is what scikit-learn calls one class against the rest."""
    rows = Path("z.csv")
    rows.write_text("p_a,p_b,label\n" + "0.25,0.75,a\n0.75,0.25,a\n0.5,0.5,b\n" * 50)
    line = ("measure", rows, "--probs", "p_*", "-y", "label", "--json", "-m", "ece")
    assert run(*line, "--view", "ovr").out == run(*line, "--view", "one-vs-rest").out != ""
    assert run(*line, "--view=ovr").code == 0
    views = [calibcli.measure(str(rows), probs="p_*", view=one).to_dict() for one in ("ovr", "one-vs-rest")]
    assert views[0] == views[1]
