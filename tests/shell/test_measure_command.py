"""`calibcli measure` with groups, clusters and several scores, from the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from command_line import CHURN, SAMPLE, Ran

EVALUATION = SAMPLE / "churn_evaluation.parquet"
Run = Callable[..., Ran]
FEW = ["--metric", "ece", "--metric", "bias", "--metric", "brier"]


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Return a CSV file of two scores, a label, a country with too few rows in one, a device and a site."""
    rng = np.random.default_rng(5)
    rows = 1200
    a = rng.random(rows).clip(0.01, 0.99)
    country = rng.choice(["US", "DE", "tiny"], rows, p=[0.6, 0.35, 0.05])
    label = rng.random(rows) < np.where(country == "DE", a**3, a)
    columns = [a.tolist(), (a**2).tolist(), label.astype(int).tolist(), country.tolist()]
    columns += [rng.choice(["x", "y"], rows).tolist(), rng.integers(0, 30, rows).tolist()]
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path = tmp_path / "three.csv"
    path.write_text("\n".join(["a,b,label,country,device,site", *lines]) + "\n")
    return path


def test_reports_fit_their_published_schema(run: Run, three: Path) -> None:
    """Groups, differences and clusters are described by `schema report`, all the way down."""
    schema = json.loads(run("schema", "report").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    for words in (
        ["--by", "country", "--by", "device", *FEW],
        ["--by", "country", "-s", "b", "--cluster", "site"],
        ["-s", "b", *FEW],
        ["--by", "country", "--min-group-rows", "9999", *FEW],
        ["--by", "country", "--cluster", "site", "--metric", "brier"],
    ):
        ended = run("measure", three, "-s", "a", "-y", "label", *words, "--json")
        assert ended.code == 0, ended.err
        jsonschema.validate(json.loads(ended.out), schema)


def test_json_has_every_slice_in_full(run: Run, three: Path) -> None:
    """The keys are flat, each slice has all measures, and what was left out is said with its rows."""
    words = ["-s", "a", "-s", "b", "-y", "label", "--by", "country", *FEW]
    report = json.loads(run("measure", three, *words, "--json").out)
    keys = ["country=DE", "country=US", "score=b", "score=b/country=DE", "score=b/country=US"]
    assert sorted(report["slices"]) == keys
    assert all(set(part["measures"]) == {"ece", "bias", "brier"} for part in report["slices"].values())
    assert report["groups"]["left_out"] == {"country=tiny": 63}
    assert report["groups"]["worst"]["by_lower"] == "country=DE"
    assert report["slices"]["country=DE"]["measures"]["ece"]["confidence"] == pytest.approx(1 - 0.05 / 4)
    assert report["differences"]["score=b"]["brier"]["verdict"] in ("better", "worse", "not told apart")
    assert "groups" in report["slices"]["score=b"]
    assert "clusters" not in report


def test_terminal_shows_one_row_a_group(run: Run, three: Path) -> None:
    """The worst group comes first, small ones are noted once, and only -v prints every page."""
    words = ["measure", three, "-s", "a", "-y", "label", "--by", "country", *FEW]
    plain = run(*words)
    assert plain.code == 0, plain.err
    lines = plain.out.splitlines()
    start = lines.index("Groups by country")
    assert lines[start + 1] == (
        "note: 1 group of fewer than 100 rows (--min-group-rows) is not measured: country=tiny (63)"
    )
    assert [line.split()[0] for line in lines[start + 3 : start + 6]] == ["group", "country=DE", "country=US"]
    assert "Each interval is at 97.5 %" in plain.out
    assert "Largest ece: country=DE with" in plain.out
    assert "largest lower bound: country=DE" in plain.out
    assert plain.out.count("score range") == 1
    verbose = run(*words, "-v")
    assert verbose.out.count("score range") == 3
    assert "| country=DE |" in run(*words, "--format", "md").out


def test_clusters_are_said_and_bounds_refused(run: Run, three: Path) -> None:
    """The page names the clusters, and gives exact bounds and tests up with the reason."""
    ended = run("measure", three, "-s", "a", "-y", "label", "--cluster", "site")
    assert ended.code == 0, ended.err
    assert "30 clusters of dependent rows by site, as good as" in ended.out
    assert "exact bounds need independent rows" in ended.out
    assert "cluster-robust (jackknife sandwich), Student's t; population, approximate" in ended.out
    assert "no test: rows of one cluster are dependent" in ended.out


def test_several_scores_are_told_apart_or_not(run: Run, three: Path) -> None:
    """Differences stand above the page of the further score."""
    ended = run("measure", three, "-s", "a", "-s", "b", "-y", "label", *FEW)
    assert "b less a: below 0, b is better" in ended.out
    assert ended.out.index("b less a") < ended.out.index("score=b")


def test_standard_input_and_files_agree(run: Run, shell: Run, three: Path) -> None:
    """Groups, clusters and scores come through a pipe as from a file."""
    words = ["-s", "a", "-s", "b", "-y", "label", "--by", "country", "--cluster", "site", *FEW, "--json"]
    piped = shell("measure", "-", *words, stdin=three.read_bytes())  # type: ignore[call-arg]
    assert piped.code == 0, piped.err
    from_pipe, from_file = json.loads(piped.out), json.loads(run("measure", three, *words).out)
    for report in (from_pipe, from_file):
        del report["digest"]
        for part in (report, *report["slices"].values()):
            part["input"]["files"] = []
    assert from_pipe == from_file


def test_artifact_is_measured_by_group(run: Run, artifact: Path) -> None:
    """Slices are those of the recalibrated score; -v adds the raw score of all rows."""
    words = ["measure", EVALUATION, *CHURN, "--artifact", artifact, "--by", "group", *FEW, "--json"]
    report = json.loads(run(*words).out)
    assert [key.split("=")[0] for key in report["slices"]] == ["group"] * 4
    assert all(part["artifact"] == str(artifact) for part in report["slices"].values())
    assert sum(part["table"]["rows"] for part in report["slices"].values()) == 50_000
    assert "score=score" in json.loads(run(*words, "-v").out)["slices"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--by", "countri"], 3, "hint: did you mean 'country'?"),
        (["--cluster", "sites"], 3, "hint: did you mean 'site'?"),
        (["--by", "country", "--by", "country"], 2, "error: column 'country' is named twice with --by"),
        (["--by", "a"], 2, "error: column 'a' cannot be two of"),
        (["-s", "a"], 2, "error: column 'a' is named twice as the score"),
        (["--by", "a1"], 3, "there is no column 'a1'"),
        (["-s", "b", "--artifact", "x.json"], 2, "error: 2 scores and an artifact"),
        (["--by", "country", "--confidence", "0.999999"], 2, "error: a confidence of 0.999999 over 2 groups"),
        (
            ["--by", "country", "--compat", "netcal"],
            2,
            "--compat gives the numbers of one score over all rows",
        ),
        (["-s", "b", "--compat", "netcal"], 2, "over all rows, without several scores"),
    ],
)
def test_refusals_are_one_line_and_a_hint(
    run: Run, three: Path, words: list[str], code: int, message: str
) -> None:
    """Every mistake has its code, what is wrong and what to do."""
    ended = run("measure", three, "-s", "a", "-y", "label", *words)
    assert ended.code == code
    assert message in ended.err
    assert ended.err.count("\n") == 2
    assert ended.out == ""


def test_ids_are_no_groups(run: Run) -> None:
    """A column of ids is refused with how many were seen."""
    ended = run("measure", EVALUATION, *CHURN, "--by", "id")
    assert ended.code == 3
    assert "error: --by id makes over 1,000 groups (50,000 so far)" in ended.err


def test_metrics_by_commas_are_told_to_be_repeated(run: Run, thousand: Path) -> None:
    """Only where each of them is one; else the closest name is said."""
    assert (
        "hint: repeat --metric: --metric ece --metric brier"
        in run("measure", thousand, "--metric", "ece,brier").err
    )
    assert "repeat" not in run("measure", thousand, "--metric", "ece,nothing").err
