"""The main job from the command line: fit, apply, measure, verify, plot, inspect."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pyarrow.parquet as pq
import pytest

from command_line import CHURN, SAMPLE, Ran

EVALUATION = SAMPLE / "churn_evaluation.parquet"
Run = Callable[..., Ran]


@pytest.mark.parametrize("method", ["platt", "isotonic", "histogram", "scaling-binning"])
def test_fit_twice_gives_the_same_bytes(run: Run, tmp_path: Path, method: str) -> None:
    """The artifact depends on the rows and the options alone."""
    texts = []
    for name in ("a.json", "b.json"):
        ended = run("fit", SAMPLE / "churn_calibration.parquet", *CHURN, "-m", method, "-o", tmp_path / name)
        assert ended.code == 0, ended.err
        assert ended.out == ""
        texts.append((tmp_path / name).read_bytes())
    assert texts[0] == texts[1]


def test_fit_without_output_writes_the_artifact_to_standard_output(run: Run) -> None:
    """`fit` in a pipe: JSON on stdout, the summary on stderr."""
    ended = run("fit", SAMPLE / "breast_cancer_calibration.csv", "-s", "score", "-y", "label")
    assert ended.code == 0
    assert json.loads(ended.out)["method"] == "platt"
    assert "platt" in ended.err


def test_artifact_fits_its_published_schema(run: Run, artifact: Path) -> None:
    """What `fit` writes validates against what `schema artifact` prints."""
    schema = json.loads(run("schema", "artifact").out)
    jsonschema.validate(json.loads(artifact.read_text()), schema)


def test_apply_adds_one_column_and_keeps_the_rest(run: Run, artifact: Path, tmp_path: Path) -> None:
    """Every other column of the Parquet file comes out equal."""
    out = tmp_path / "calibrated.parquet"
    ended = run("apply", artifact, EVALUATION, "-o", out)
    assert ended.code == 0, ended.err
    before, after = pq.read_table(EVALUATION), pq.read_table(out)
    assert after.column_names == [*before.column_names, "calibrated"]
    assert after.drop_columns(["calibrated"]).equals(before)


def test_applied_column_measures_as_the_artifact_does(run: Run, artifact: Path, tmp_path: Path) -> None:
    """Measuring the applied file and measuring through the artifact give the same numbers."""
    out = tmp_path / "calibrated.parquet"
    run("apply", artifact, EVALUATION, "-o", out)
    applied = json.loads(run("measure", out, "-s", "calibrated", "-y", "label", "--json").out)
    through = json.loads(run("measure", EVALUATION, *CHURN, "--artifact", artifact, "--json").out)
    assert applied["measures"] == through["measures"]
    assert applied["table"]["digest"] == through["table"]["digest"]


def test_report_fits_its_published_schema(run: Run, artifact: Path) -> None:
    """What `measure` and `verify` print as JSON validates against `schema report`."""
    schema = json.loads(run("schema", "report").out)
    for words in (["measure"], ["verify", "--max-ece", "0.02"], ["measure", "-v", "--artifact", artifact]):
        ended = run(words[0], EVALUATION, *CHURN, *words[1:], "--json")
        jsonschema.validate(json.loads(ended.out), schema)


def test_every_measure_travels_with_interval_method_and_null(run: Run) -> None:
    """On ordinary data nothing is printed bare."""
    report = json.loads(run("measure", EVALUATION, *CHURN, "--json").out)
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


def test_jobs_do_not_change_a_digit(run: Run) -> None:
    """One worker and three give the same bytes."""
    texts = {run("measure", EVALUATION, *CHURN, "--json", "-j", jobs).out for jobs in (1, 3)}
    assert len(texts) == 1


def test_gate_passes_repaired_scores_and_fails_raw_ones(run: Run, artifact: Path) -> None:
    """The sample's raw scores fail a 2 % gate and the recalibrated ones pass it."""
    raw = run("verify", EVALUATION, *CHURN, "--max-ece", "0.02")
    repaired = run("verify", EVALUATION, *CHURN, "--max-ece", "0.02", "--artifact", artifact)
    assert (raw.code, repaired.code) == (1, 0)
    assert "FAIL" in raw.out
    assert "PASS" in repaired.out


@pytest.mark.parametrize(("policy", "code"), [("error", 4), ("fail", 1), ("pass", 0)])
def test_inconclusive_counts_as_asked(run: Run, thousand: Path, policy: str, code: int) -> None:
    """Too few rows to tell is exit 4, or 1 or 0 on request, and says how many rows it takes."""
    ended = run("verify", thousand, "--max-ece", "0.03", "--inconclusive", policy)
    assert ended.code == code
    assert "INCONCLUSIVE" in ended.out
    assert "rows" in ended.out


@pytest.mark.untraced
def test_plot_writes_png_and_svg(run: Run, tmp_path: Path) -> None:
    """Both kinds, both formats, the same bytes twice."""
    for kind, suffix in (("smooth", "svg"), ("binned", "png")):
        paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
        for path in paths:
            ended = run("plot", EVALUATION, *CHURN, "--kind", kind, "-o", path)
            assert ended.code == 0, ended.err
        assert paths[0].read_bytes() == paths[1].read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert ET.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")  # noqa: S314 - our own file


def test_plot_takes_a_report(run: Run, tmp_path: Path) -> None:
    """A report holds the curve, so the picture needs no rows."""
    report, picture = tmp_path / "report.json", tmp_path / "r.png"
    assert run("measure", EVALUATION, *CHURN, "--json", "-o", report).code == 0
    assert run("plot", report, "-o", picture).code == 0
    direct = tmp_path / "d.png"
    assert run("plot", EVALUATION, *CHURN, "-o", direct).code == 0
    assert picture.read_bytes() == direct.read_bytes()


def test_inspect_says_what_each_kind_of_file_is(run: Run, artifact: Path, tmp_path: Path) -> None:
    """Data, artifact and report are told apart and lead to the next command."""
    report = tmp_path / "report.json"
    run("measure", EVALUATION, *CHURN, "--json", "-o", report)
    data = run("inspect", EVALUATION)
    assert data.code == 0
    assert "calibcli measure" in data.out
    assert "scaling-binning" in run("inspect", artifact).out
    assert "smece" in run("inspect", report).out


def test_frequency_weights_count_rows(run: Run, csv_of: Callable[..., Path]) -> None:
    """A weight of three as frequency is three rows."""
    rows = [(0.1, 0), (0.4, 1), (0.4, 0), (0.8, 1), (0.9, 1)]
    weighted = csv_of("score,label,n", *(f"{f},{y},{k + 1}" for k, (f, y) in enumerate(rows)), name="w.csv")
    repeated = csv_of("score,label", *(f"{f},{y}" for k, (f, y) in enumerate(rows) for _ in range(k + 1)))
    one = json.loads(run("measure", weighted, "-w", "n", "--weights-are", "frequency", "--json").out)
    two = json.loads(run("measure", repeated, "--json").out)
    assert one["measures"] == two["measures"]
    assert one["table"] == two["table"]


def test_importance_weights_get_no_test_and_no_gate(run: Run) -> None:
    """Where no bound holds there is a reason, not a number."""
    ended = run("measure", EVALUATION, *CHURN, "-w", "weight", "--json")
    report = json.loads(ended.out)
    assert all(test["p_value"] is None for test in report["tests"].values())
    assert report["measures"]["smece"]["lower"] is None
    assert any("no interval" in line for line in report["measures"]["smece"]["assumptions"])
    assert report["measures"]["ece"]["upper"] > report["measures"]["ece"]["value"]
    assert run("verify", EVALUATION, *CHURN, "-w", "weight", "--max-ece", "0.02").code == 2


def test_global_flags_may_stand_before_the_command(run: Run, thousand: Path) -> None:
    """`calibcli -v measure` is `calibcli measure -v`."""
    assert run("-v", "measure", thousand).out == run("measure", "-v", thousand).out
