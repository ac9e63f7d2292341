"""`measure` from the command line: groups, clusters, scores, other tools, bounds and edges."""

import csv
import io
import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibcli.commands.measure import measure_files
from calibcli.names import CompatTool, MeasureName, ReportFormat, TestName
from calibcli.options.measuring import GROUPS, MeasureOptions, metrics_of
from calibcli.options.rows import Columns, RowRequest
from calibcli.reports.measure import MeasureReport
from calibcli.show import text_of
from calibcli.show.as_data import csv_of, json_of
from calibcli.show.blocks import Grid
from calibcli.show.html import number_sections
from calibcli.show.pages.measure import group_blocks
from calibcli.stats.measures.compat import OrderedRows, peer_numbers
from calibcli.stats.measures.if_calibrated import DRAWS, CalibratedDraws
from calibcli.stats.table import ScoreTable
from command_line import CHURN, SAMPLE, Make, Run, in_csv
from published import check

EVALUATION = SAMPLE / "churn_evaluation.parquet"
FEW = ["--metric", "ece", "--metric", "bias", "--metric", "brier"]


@pytest.fixture
def three() -> Path:
    """Return a CSV file of two scores, a label, a country with too few rows in one, a device and a site."""
    rng = np.random.default_rng(5)
    rows = 1200
    a = rng.random(rows).clip(0.01, 0.99)
    country = rng.choice(["US", "DE", "tiny"], rows, p=[0.6, 0.35, 0.05])
    label = rng.random(rows) < np.where(country == "DE", a**3, a)
    columns = {"a": a, "b": a**2, "label": label, "country": country, "device": rng.choice(["x", "y"], rows)}
    return in_csv("three.csv", columns | {"site": rng.integers(0, 30, rows)})


def test_reports_fit_their_published_schema(run: Run, three: Path) -> None:
    """Groups, differences and clusters are described by `schema report`, all the way down."""
    for words in (
        ["--by", "country", "--by", "device", *FEW],
        ["--by", "country", "-s", "b", "--cluster", "site"],
        ["-s", "b", *FEW],
        ["--by", "country", "--min-group-rows", "9999", *FEW],
        ["--by", "country", "--cluster", "site", "--metric", "brier"],
    ):
        ended = run("measure", three, "-s", "a", "-y", "label", *words, "--json", code=0)
        check(ended.document, "report")


def test_a_report_too_large_to_be_read_again_says_so(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it is written, not when somebody needs it; one that can be read says how many slices it has."""
    report = Path("report.json")
    asked = ("-s", "a", "-y", "label", "--by", "device", "-m", "ece", "--json", "-o", report, "--force")
    words = ("measure", three, *asked)
    assert "MiB" not in run(*words, code=0).err
    assert re.search(r"\nparts +2: device=\w+ and device=\w+\n", run("inspect", report, code=0).out)
    monkeypatch.setattr("calibcli.documents.sealed.MOST_BYTES", 1)
    assert "and `plot` and --baseline read at most 0 MiB" in run(*words, code=0).err
    refused = run("plot", report, "-o", "report.png", code=3).err
    assert "only a report of very many groups, classes or scores is as large: report fewer at once" in refused


def test_json_has_every_slice_in_full(run: Run, three: Path) -> None:
    """The keys are flat, each slice has all measures, and what was left out is said with its rows."""
    words = ["-s", "a", "-s", "b", "-y", "label", "--by", "country", *FEW]
    report = run("measure", three, *words, "--json").document
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
    plain = run(*words, code=0)
    lines = plain.out.splitlines()
    start = lines.index("Groups by country")
    assert lines[start + 1] == (
        "note: 1 group of fewer than 100 rows (--min-group-rows) is not measured: country tiny (63)"
    )
    assert [line.split()[0] for line in lines[start + 3 : start + 6]] == ["group", "country=DE", "country=US"]
    assert "Each interval is at 97.5 %" in plain.out
    assert "Largest ECE: country=DE with" in plain.out
    assert "largest lower bound: country=DE" in plain.out
    assert plain.out.count("score range") == 1
    assert run(*words, "-v").out.count("score range") == 3
    assert "| country=DE |" in run(*words, "--format", "md").out


def test_clusters_are_said_and_bounds_refused(run: Run, three: Path) -> None:
    """The page names the clusters, and gives exact bounds and tests up with the reason."""
    ended = run("measure", three, "-s", "a", "-y", "label", "--cluster", "site", code=0)
    assert "30 clusters of dependent rows by site, worth as much as" in ended.out
    assert " % of all may be unlike any of these\n" in ended.out
    assert "exact bounds need independent rows" in ended.out
    assert "large-sample; the population" in ended.out
    # Of the tests that nobody asked for a line is enough, and no table of none.
    assert "\nNo test: rows of one cluster are dependent" in ended.out
    assert "spiegelhalter" not in ended.out
    asked = run("measure", three, "-s", "a", "-y", "label", "--cluster", "site", "-m", "kuiper", code=0)
    assert "no test: rows of one cluster are dependent" in asked.out
    assert "every cluster has one row" not in ended.out


def test_several_scores_are_told_apart_or_not(run: Run, three: Path) -> None:
    """Differences stand above the page of the further score."""
    ended = run("measure", three, "-s", "a", "-s", "b", "-y", "label", *FEW)
    assert "b less a: below 0, b is better" in ended.out
    assert ended.out.index("b less a") < ended.out.index("score=b")


@pytest.mark.parametrize("metrics", ["ece,bias", "clinical"])
def test_groups_of_several_scores_are_spoken_of_by_score(run: Run, metrics: str) -> None:
    """That none of the first is off says nothing of those of the second."""
    path, rng = Path("rows.csv"), np.random.default_rng(3)
    score, part = rng.random(4_000), np.arange(4_000) % 2
    other = np.where(part == 1, score**2, score)
    in_csv(path, {"a": score, "b": other, "label": rng.random(4_000) < score, "part": part})
    words = ("-y", "label", "--by", "part", "-m", metrics)
    told = run("measure", path, "-s", "a", "-s", "b", *words).out.partition("\n\n")[0].splitlines()
    of_groups = {line[:2]: line for line in told if line.startswith(("a:", "b:"))}
    assert "Of 2 groups none by itself is shown to be miscalibrated" in of_groups["a:"]
    assert "score=b/part=1" in of_groups["b:"]
    assert not any(line.startswith("Of 2 groups") for line in told)


def test_many_further_scores_are_a_line_each(run: Run) -> None:
    """Their numbers are those of every detail; the first score is shown in full, and JSON keeps every key."""
    rng = np.random.default_rng(8)
    truth = rng.random(400)
    columns = {f"s{k}": np.clip(truth + rng.normal(0.0, 0.02 * k, 400), 0.0, 1.0) for k in range(7)}
    pd.DataFrame({**columns, "label": (rng.random(400) < truth).astype(int)}).to_csv("many.csv")
    scores = [word for name in columns for word in ("-s", name)]
    words = ("measure", "many.csv", "-y", "label", "--metric=ece,brier,ks", *scores)
    plain, verbose = run(*words), run(*words, "-v")
    report = run(*words, "--json").document
    assert plain.out.count("score range") == 1
    lines = plain.out.splitlines()
    table = lines[lines.index("Further scores") + 3 :][:6]
    for line, name in zip(table, list(columns)[1:], strict=True):
        part = report["slices"][f"score={name}"]
        assert line.split()[:3] == [name, "400", f"{100 * part['table']['positive'] / 400:.1f}"]
        assert float(line.split()[4]) == pytest.approx(part["measures"]["ece"]["value"], rel=1e-3)
        assert len(part["tests"]) == len(report["tests"])
    brier = lines.index("brier less that of s0: below 0 is better than s0")
    shown = [float(line.split()[1]) for line in lines[brier + 3 : brier + 9]]
    expected = [report["differences"][f"score=s{k}"]["brier"]["value"] for k in range(1, 7)]
    assert shown == pytest.approx(expected, rel=1e-3)
    assert verbose.out.count("score=s") >= 6
    assert run(*words[:-2]).out.count("score=s") == 5 + 1


def test_standard_input_and_files_agree(run: Run, three: Path) -> None:
    """Groups, clusters and scores come through a pipe as from a file."""
    words = ["-s", "a", "-s", "b", "-y", "label", "--by", "country", "--cluster", "site", *FEW, "--json"]
    from_pipe = run("measure", "-", *words, stdin=three.read_bytes(), code=0).document
    from_file = run("measure", three, *words).document
    for report in (from_pipe, from_file):
        del report["digest"]
        for part in (report, *report["slices"].values()):
            part["input"]["files"] = []
    assert from_pipe == from_file


def test_artifact_is_measured_by_group(run: Run, artifact: Path) -> None:
    """Slices are those of the recalibrated score; -v adds the raw score of all rows."""
    words = ["measure", EVALUATION, *CHURN, "--artifact", artifact, "--by", "group", *FEW, "--json"]
    report = run(*words).document
    assert [key.split("=")[0] for key in report["slices"]] == ["group"] * 4
    assert all(part["artifact"] == str(artifact) for part in report["slices"].values())
    assert sum(part["table"]["rows"] for part in report["slices"].values()) == 50_000
    assert "score=score" in run(*words, "-v").document["slices"]


def test_metrics_by_commas_are_as_many_metrics(run: Run, thousand: Path) -> None:
    """One option with names between commas, or the option once for each, in its short form too."""
    together = run("measure", thousand, "--metric", "ece, brier", "--json").document
    assert set(together["measures"]) == {"ece", "brier"}
    assert run("measure", thousand, "-m", "ece", "-m", "brier", "--json").document == together
    assert "there is no metric 'nothing'" in run("measure", thousand, "-m", "ece,nothing").err


@pytest.fixture
def tied() -> Path:
    """Return a CSV file of 60 rows in no order, with ties, edges, and scores of 0 and 1."""
    score, label = rows_of(np.random.default_rng(3))
    return in_csv("tied.csv", {"score": score, "label": label})


def rows_of(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores that are tenths, and labels."""
    score = generator.integers(0, 11, 60) / 10.0
    return score, generator.random(60) < 0.3 + 0.4 * score


@pytest.mark.parametrize("tool", list(CompatTool))
def test_json_fits_its_schema(tool: CompatTool, tied: Path, run: Run) -> None:
    """Every tool gives a document in the shape of `calibcli schema compat`, with its numbers and ours."""
    document = run("measure", tied, "--compat", tool.value, "--json", code=0).document
    check(document, "compat")
    assert document["peer"]["name"] == tool.value
    assert any(one["ours"] is not None for one in document["numbers"].values())


@pytest.mark.parametrize("tool", list(CompatTool))
def test_page_shows_every_number_and_reason(tool: CompatTool, tied: Path, run: Run) -> None:
    """The table has a line for each number, with why it differs."""
    ran = run("measure", tied, "--compat", tool.value, code=0)
    score, label = rows_of(np.random.default_rng(3))
    peer = peer_numbers(tool, ScoreTable.from_rows(score, label), rows=OrderedRows(score, label))
    assert f"{peer.package} {peer.version}" in ran.out
    for one in peer.numbers:
        assert any(line.startswith(one.name) and one.why in line for line in ran.out.splitlines()), one.name


def test_ours_are_what_measure_prints(tied: Path, run: Run) -> None:
    """The number beside theirs is that of `measure` under the same options."""
    compat = run("measure", tied, "--compat", "mapie", "--bins", "7", "--json").document
    plain = run("measure", tied, "--bins", "7", "--json").document
    numbers = compat["numbers"]
    assert numbers["expected_calibration_error"]["ours"]["value"] == plain["measures"]["ece"]["value"]
    assert numbers["kuiper_p_value"]["ours"]["value"] == plain["tests"]["kuiper"]["p_value"]
    assert numbers["spiegelhalter_statistic"]["same"] is True


def test_mapie_sees_rows_in_the_order_of_the_input(tied: Path, run: Run) -> None:
    """From a file and through a pipe; sorted rows give another number."""
    score, label = rows_of(np.random.default_rng(3))
    table = ScoreTable.from_rows(score, label)
    expected = peer_numbers(CompatTool.MAPIE, table, rows=OrderedRows(score, label)).numbers[1].value
    assert expected != peer_numbers(CompatTool.MAPIE, table).numbers[1].value
    for ran in (
        run("measure", tied, "--compat", "mapie", "--json"),
        run("measure", "-", "--compat", "mapie", "--json", stdin=tied.read_bytes()),
    ):
        found = ran.document["numbers"]["kolmogorov_smirnov_statistic"]["value"]
        assert found == pytest.approx(expected, rel=1e-12)


def test_artifact_is_applied_first(artifact: Path, run: Run) -> None:
    """Theirs are of the recalibrated score, in the order of the input."""
    words = (*CHURN, "--artifact", artifact, "--compat", "mapie", "--json")
    document = run("measure", EVALUATION, *words, code=0).document
    assert document["artifact"] == str(artifact)
    assert document["table"]["distinct"] <= 10
    assert document["numbers"]["spiegelhalter_statistic"]["same"] is True
    assert document["numbers"]["kuiper_statistic"]["value"] < 10.0


def test_frequencies_repeat_rows(csv_of: Make, run: Run) -> None:
    """A row of weight 2 is two rows, also where their order counts."""
    weighted = csv_of("score,label,n", "0.2,0,2", "0.7,1,1", "0.7,0,2", "0.4,1,1", name="w.csv")
    repeated = csv_of("score,label", "0.2,0", "0.2,0", "0.7,1", "0.7,0", "0.7,0", "0.4,1", name="r.csv")
    words = ["--compat", "mapie", "--json"]
    first = run("measure", weighted, "-w", "n", "--weights-are", "frequency", *words).document
    assert first["numbers"] == run("measure", repeated, *words).document["numbers"]


def test_inspect_knows_the_document(tied: Path, run: Run) -> None:
    """What was written can be looked into."""
    path = Path("compat.json")
    assert run("measure", tied, "--compat", "relplot", "--json", "-o", path).code == 0
    ran = run("inspect", path, code=0)
    assert "relplot 1.0.3" in ran.out
    assert "smECE" in ran.out


FILE = SAMPLE / "breast_cancer_calibration.csv"


def test_bounds_are_in_both_formats(run: Run) -> None:
    """JSON holds every bound among the details, the page a table of them; the report keeps its schema."""
    report = run("measure", FILE, *CHURN, "--bounds", "--json").document
    details = report["measures"]["ece"]["details"]
    assert details["upper_d_star"] <= details["upper_hoeffding"] <= details["upper_theorem_12_4"]
    check(report, "report")
    page = run("measure", FILE, *CHURN, "--bounds").out
    assert "theorem_12_4" in page
    assert "Each bound is valid alone at 97.5 %" in page
    assert re.search(
        r"l2 +sun +these very scores: .*, both ends together, large-sample, not for rare events", page
    )
    assert "theorem_12_4" not in run("measure", FILE, *CHURN).out


def test_edges_make_the_bins(run: Run) -> None:
    """The partition in the report is the one given."""
    report = run("measure", FILE, *CHURN, "--edges", "0,0.1,0.5,1", "--metric", "ece", "--json").document
    assert report["measures"]["ece"]["details"]["partition"] == "3 given bins"


def test_edges_that_cut_cells_are_exact_on_a_grid(run: Run) -> None:
    """On a grid, edges off its cells are settled by a second look at the rows: the exact table's numbers."""
    rng = np.random.default_rng(0)
    score = rng.random(30_000)
    file = in_csv("p.csv", {"score": score, "label": rng.random(30_000) < score})
    words = [file, *CHURN, "--edges", "0,0.123456789,0.7071067811865476,1", "--metric", "ece", "--json"]
    grid = run("measure", *words, "--memory", "1KiB").document
    exact = run("measure", *words, "--exact").document
    assert (grid["table"]["kind"], exact["table"]["kind"]) == ("grid", "exact")
    assert grid["measures"]["ece"]["value"] == pytest.approx(exact["measures"]["ece"]["value"], abs=1e-12)


def test_rows_of_numbers_say_beside_them_that_scores_were_rounded(run: Run) -> None:
    """CSV and JSON Lines have no place for what pages say: it stands on standard error."""
    rng = np.random.default_rng(0)
    score = rng.random(300)
    others = {"a": score**2, "b": score / 2}
    file = in_csv("p.csv", {"score": score, **others, "label": rng.random(300) < score})
    said = "note: the distinct scores did not fit in memory: scores are rounded to 1.4e-6"
    two = ["compare", "-m", "brier", "-s", "a"]
    for command, *more in (["measure", "-m", "bias"], ["verify", "--max-ece", "0.5"], two, [*two, "-s", "b"]):
        for form in ("csv", "jsonl") if command == "measure" else ("csv",):
            words = [command, file, *CHURN, *more, "--memory", "1KiB", "--format", form]
            assert said in run(*words).err
    assert run(*words, "-q").err == ""


NAMES = (*MeasureName, *TestName)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of two scores in two groups."""
    rng = np.random.default_rng(0)
    score = rng.beta(2, 3, 300)
    columns = {"score": score, "other": 1 - score, "by": "ab", "label": rng.random(300) < score}
    return in_csv(tmp_path_factory.mktemp("slices") / "rows.csv", columns)


@pytest.fixture(scope="module")
def everything(rows: Path) -> MeasureReport:
    """Every measure and test of all rows and of each group."""
    columns = Columns(score="score", others=("other",), label="label", by=("by",))
    return measure_files(
        RowRequest([str(rows)], columns), options=MeasureOptions(metrics=metrics_of(["all"]))
    )


def _only(report: MeasureReport, names: tuple[str, ...]) -> MeasureReport:
    """The report as it is where these alone are asked for."""

    def cut(part: MeasureReport) -> MeasureReport:
        measures = tuple(one for one in part.measures if one.name in names)
        return replace(
            part,
            measures=measures,
            tests=tuple(one for one in part.tests if one.name in names),
            combined=None,
            groups=None if part.groups is None else replace(part.groups, worst=None),
            differences={},
        )

    return replace(cut(report), slices={key: cut(part) for key, part in report.slices.items()})


def _titles(blocks: Any) -> list[str]:
    return [column.title for block in blocks if isinstance(block, Grid) for column in block.columns]


def _requested() -> list[tuple[str, ...]]:
    """Each name, names beside their neighbours, and what groups of names stand for."""
    return [(name,) for name in NAMES] + list(pairwise(NAMES)) + [tuple(one) for one in GROUPS.values()]


@pytest.mark.untraced
def test_every_format_shows_what_was_asked_for(everything: MeasureReport) -> None:
    """A column for each measure and test, with an interval where there is one, of each group."""
    for names in _requested():
        names = tuple(name for name in names if name in NAMES)  # noqa: PLW2901 - those of classes are not here
        report = _only(everything, names)
        slices = dict(report.slices)
        blocks = group_blocks(report, slices)
        titles = _titles(blocks)
        grids = [block for block in blocks if isinstance(block, Grid)]
        page = text_of(report, ReportFormat.MARKDOWN).replace("\\", "")
        for name in names:
            own = f"{name} p-value" if isinstance(name, TestName) else name
            assert titles.count(own) == 1, (names, titles)
            assert f"| {own} |" in page
        measured = [one for part in slices.values() for one in part.measures]
        with_interval = {one.name for one in measured if one.interval is not None}
        assert sum("interval" in title for title in titles) == len(with_interval)
        said = " ".join(line.text for grid in grids for line in grid.notes)
        assert ("Each interval is at 98.75 %" in said) is bool(with_interval)
        assert ("P-values" in said) is any(isinstance(name, TestName) for name in names)
        assert all(len(row) == len(grid.columns) for grid in grids for row in grid.rows)
        html = [one for section in number_sections(report, None) for one in _titles(section.blocks)]
        assert all(html.count(title) >= 1 for title in titles)


def test_rows_and_json_hold_every_measure_and_test_of_every_group(everything: MeasureReport) -> None:
    """CSV has a row for each, JSON a member."""
    table = list(csv.DictReader(io.StringIO(csv_of(everything))))
    document = json.loads(json_of(everything))
    for key in ("by=a", "by=b", "score=other/by=a"):
        found = {row["name"] for row in table if row["slice"] == key}
        assert {*NAMES} <= found
        assert {*MeasureName} == set(document["slices"][key]["measures"])
        assert {*TestName} <= set(document["slices"][key]["tests"])


@pytest.mark.parametrize(
    ("words", "titles", "missing"),
    [
        (["--metric", "cox", "--metric", "brier"], ["citl_logit", "cox_slope", "brier", "u p-value"], []),
        (["--metric", "brier"], ["brier", "97.5 % interval"], ["P-values", "ece"]),
        (["--metric", "ks"], ["ks p-value", "those of Holm hold for all at once"], ["Each interval"]),
        ([], ["ece", "smece", "bias", "brier", "Each interval is at 97.5 %"], ["p-value  "]),
    ],
)
def test_the_command_shows_them(
    run: Run, rows: Path, words: list[str], titles: list[str], missing: list[str]
) -> None:
    """In a table below those of all rows, and nothing else."""
    ended = run("measure", rows, *CHURN, "--by", "by", *words, code=0)
    table = ended.out[ended.out.index("Groups by by") :]
    assert all(title in table for title in titles), table
    assert not any(title in table for title in missing), table


def test_several_scores_say_what_is_not_compared(run: Run, rows: Path) -> None:
    """Measures that do not say which score is better stand with each; the table of differences says so."""
    ended = run(
        "measure", rows, "-s", "score", "-s", "other", "-y", "label", "--metric", "cox", "--metric", "brier"
    )
    sentence = "not compared: calibration intercept (CITL), intercept of Cox's line"
    assert sentence in " ".join(ended.out.split())


def test_classes_show_what_was_asked_for(run: Run) -> None:
    """In the tables of each class, measured and compared."""
    rng = np.random.default_rng(1)
    several = rng.dirichlet((1, 1, 1), 400)
    label = (several.cumsum(axis=1) < rng.random((400, 1))).sum(axis=1)
    path, artifact = Path("rows.csv"), Path("cal.json")
    in_csv(path, {**{f"p_{place}": one for place, one in enumerate(several.T)}, "label": label})
    of_classes = [path, "--probs", "p_*", "-y", "label"]
    ended = run("measure", *of_classes, "--metric", "cox_slope", "--metric", "ks")
    table = ended.out[ended.out.index("Each class against the rest") :]
    assert table.count("cox_slope") == table.count("ks p-value") == 2
    assert run("fit", *of_classes, "-o", artifact).code == 0
    ended = run("compare", *of_classes, "--artifact", artifact, "--metric", "brier", "--metric", "ece")
    table = ended.out[ended.out.index("Each class against the rest") :]
    assert table.count("\n0 ") == table.count("\n1 ") == 4, table
    assert "-v shows" not in table


def test_smece_at_a_bandwidth_says_so_in_every_report(run: Run) -> None:
    """The bandwidth stands in JSON, a note in text; without it the number is at its own."""
    rows = (SAMPLE / "breast_cancer_evaluation.csv", *CHURN, "-m", "smece")
    own, named = (
        run("measure", *rows, "--json", *more).document["measures"]["smece"]
        for more in ((), ("--bandwidth", 0.05))
    )
    assert own["details"]["bandwidth"] == own["value"]
    assert named["details"]["bandwidth"] == 0.05
    assert named["lower"] <= named["value"] <= named["upper"]
    assert "compare it at this one only" in run("measure", *rows, "--bandwidth", 0.05).out


def test_multiples_of_the_least_drawn_p_value_are_at_most_that(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Adjusted p-values have no more digits than what they are adjusted from."""
    monkeypatch.setitem(CalibratedDraws.__init__.__kwdefaults__, "draws", DRAWS)
    path = Path("parts.csv")
    k = np.arange(300)
    columns = {"score": 0.2 + k % 60 / 100, "label": np.append(np.ones(300, bool), k % 97 < 20 + k % 60)}
    in_csv(path, {**columns, "part": ["bad"] * 300 + ["good"] * 300})
    told = run("measure", path, *CHURN, "--by", "part", "-m", "hosmer_lemeshow", "--format", "md").out
    bad, good = (
        next(line for line in told.splitlines() if line.startswith(f"| part={part}"))
        for part in ("bad", "good")
    )
    assert bad.count("at most") == 2
    assert "at most" not in good
