"""`compare` and `fit --method auto` from the command line, also of scores that need no repair."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.codec import Node
from calibcli.documents.artifact import GroupArtifact
from calibcli.documents.sealed import document_of, sealed
from calibcli.errors import DocumentProblem
from command_line import CHURN, SAMPLE, Make, Run, in_csv
from published import check

EVALUATION = SAMPLE / "churn_evaluation.parquet"


@pytest.fixture
def two() -> Path:
    """Return a CSV file with a right score, a, and one that is too sure, b."""
    rng = np.random.default_rng(11)
    a = rng.random(3000).clip(0.01, 0.99)
    b = 1 / (1 + ((1 - a) / a) ** 2)
    label = rng.random(3000) < a
    return in_csv("two.csv", {"a": a, "b": b, "label": label})


def test_worse_fails_the_gate_and_only_with_the_flag(run: Run, two: Path) -> None:
    """Exit 1 means shown to be worse; better, or unasked, is 0."""
    worse = run("compare", two, "-s", "a", "-s", "b", "-y", "label", "--fail-if-worse", code=1)
    assert worse.out.startswith("FAIL  b is shown to be worse by Brier score and log loss.\n")
    assert run("compare", two, "-s", "a", "-s", "b", "-y", "label").code == 0
    better = run("compare", two, "-s", "b", "-s", "a", "--fail-if-worse", code=0)
    assert "a is better" in better.out
    assert "This does not show that none is worse" in better.out


@pytest.mark.parametrize(("group", "areas"), [("all", {"auroc", "aurc", "gini"}), ("default", set())])
def test_groups_of_everything_are_what_can_be_compared(
    run: Run, two: Path, group: str, areas: set[str]
) -> None:
    """Asked for one by one, tests and measures without bounds are refused; so are groups of one kind."""
    asked = ("compare", two, "-s", "a", "-s", "b", "-y", "label")
    found = set(run(*asked, "-m", group, "--json").document["measures"])
    assert found == {"ece", "ece_equal_mass", "l2", "smece", "brier", "log_loss"} | areas
    for refused in ("ks", "brier,tests", "clinical"):
        assert "cannot be compared" in run(*asked, "-m", refused, code=2).err


def test_formats_agree_and_go_where_asked(run: Run, two: Path) -> None:
    """Table, Markdown and JSON, on standard output and in a file that is not replaced unasked."""
    words = ["compare", two, "-s", "a", "-s", "b"]
    assert run(*words, "--json").out == run(*words, "--format", "json").out
    assert "| brier |" in run(*words, "--format", "md").out
    out = Path("c.txt")
    assert run(*words, "-o", out).code == 0
    assert out.read_text() == run(*words).out
    assert run(*words, "-o", out).code == 5
    assert run(*words, "-o", two, "--force").code == 5


def test_verbose_says_what_is_assumed(run: Run, two: Path) -> None:
    """-v adds a sentence and the assumptions of every measure."""
    ended = run("compare", two, "-s", "a", "-s", "b", "-v")
    assert "What they say" in ended.out
    assert "Assumes: rows are independent" in ended.out


def test_guessed_columns_are_said_beside_json(run: Run, two: Path) -> None:
    """A label that was guessed is a note on standard error, unless quiet."""
    words = ["compare", two, "-s", "a", "-s", "b", "--json"]
    assert "taken as the label" in run(*words).err
    assert run(*words, "-q").err == ""


def test_auto_prints_and_records_its_choice(run: Run) -> None:
    """The table is on standard error and in the artifact, which fits its schema and can be applied."""
    out = Path("cal.json")
    words = ["-m", "auto", "--candidate", "platt", "--candidate", "histogram", "--folds", "4", "-g", "id"]
    ended = run("fit", SAMPLE / "churn_calibration.parquet", *CHURN, *words, "-o", out, code=0)
    assert "fitted platt" in ended.err
    assert "chosen" in ended.err
    selection = json.loads(out.read_text())["fit"]["selection"]
    assert [one["method"] for one in selection["results"]] == ["raw", "platt", "histogram"]
    assert (selection["folds"], selection["grouped_by"], selection["rule"]) == (4, "id", "one standard error")
    check(json.loads(out.read_text()), "artifact")
    assert run("measure", EVALUATION, *CHURN, "--artifact", out, "--metric", "brier").code == 0


def test_inspect_knows_comparisons_and_choices(run: Run, two: Path) -> None:
    """A saved comparison is summed up, and an artifact says how its method was chosen."""
    comparison, cal = Path("c.json"), Path("cal.json")
    assert run("compare", two, "-s", "a", "-s", "b", "--json", "-o", comparison).code == 0
    shown = run("inspect", comparison, code=0)
    assert "comparison" in shown.out
    assert "worse" in shown.out
    words = ["fit", two, "-s", "b", "-m", "auto", "--candidate", "platt", "--folds", "3"]
    assert run(*words, "-o", cal).code == 0
    assert "cross-validated log loss, 3 folds: raw " in run("inspect", cal).out


def test_gate_refuses_the_fit_rows(run: Run, two: Path) -> None:
    """Rows that an artifact was fitted on are no judge of it, unless the user insists."""
    cal = Path("own.json")
    assert run("fit", two, "-s", "a", "-y", "label", "-o", cal).code == 0
    requested = ("compare", two, "-s", "a", "-y", "label", "--artifact", cal)
    assert run(*requested).code == 0
    assert "rows that" in run(*requested, "--fail-if-worse", code=3).err
    assert run(*requested, "--fail-if-worse", "--allow-fit-rows").code == 0


def test_constant_map_has_one_output(run: Run, csv_of: Make) -> None:
    """Summary and inspect count what comes out, not knots or bins."""
    path = csv_of("score,label", "0.1,1", "0.2,1", "0.8,0", "0.9,0")
    cal = Path("flat.json")
    assert "1 distinct value" in run("fit", path, *CHURN, "-m", "isotonic", "-o", cal).err
    facts = run("inspect", cal).out
    assert "1 value" in facts
    assert "many values" not in facts


SAID = "The raw score is as good as any repair; nothing was changed."
FEW = ("--candidate", "intercept", "--candidate", "platt", "--candidate", "isotonic")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calibrated scores, their logits, people; and labels that are off by group in opposite directions."""
    rng = np.random.default_rng(3)
    logit = rng.normal(-0.5, 1.5, 1_500)
    score = 1.0 / (1.0 + np.exp(-logit))
    group = rng.integers(0, 3, logit.size)
    label = rng.random(logit.size) < score
    moved = rng.random(logit.size) < 1.0 / (1.0 + np.exp(-logit - np.array([0.9, -0.9, 0.0])[group]))
    columns = {
        "score": score,
        "logit": logit,
        "label": label,
        "moved": moved,
        "g": np.array(list("abc"))[group],
    }
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    return in_csv(path, {**columns, "person": np.arange(logit.size) // 2})


@pytest.mark.parametrize(
    "requested",
    [(), ("--loss", "brier"), ("--group", "person"), ("--folds", "5"), ("--candidate", "identity")],
)
def test_auto_leaves_calibrated_scores_as_they_are(run: Run, rows: Path, requested: tuple[str, ...]) -> None:
    """The answer comes right after the title, the raw scores stand in the table as what was chosen."""
    ended = run("fit", rows, *CHURN, "-m", "auto", *FEW, *requested)
    assert ended.err.splitlines()[:2] == ["fitted identity, written to standard output", SAID]
    assert ended.err.count("nothing was changed") == 1
    assert "chosen: identity" in ended.err
    document = ended.document
    assert (document["method"], document["parameters"], document["bins"]) == ("identity", {}, None)
    assert document["fit"]["selection"]["results"][0]["method"] == "raw"
    assert document["fit"]["selection"]["results"][0]["chosen"]
    assert document["fit"]["loss_after"] == document["fit"]["loss_before"]
    assert document["fit"]["options"] == ({"loss": "brier"} if "brier" in requested else {})


def test_identity_is_an_artifact_like_any_other(run: Run, rows: Path) -> None:
    """`apply` writes the score, `measure` finds the numbers of the raw score, `plot` draws the diagonal."""
    fitted, out = Path("cal.json"), Path("out.csv")
    assert run("fit", rows, *CHURN, "-m", "identity", "-o", fitted).code == 0
    assert run("apply", fitted, rows, "-o", out).code == 0
    columns = list(zip(*(line.split(",") for line in out.read_text().splitlines()), strict=True))
    assert [float(one) for one in columns[-1][1:]] == [float(one) for one in columns[0][1:]]
    words = ("measure", rows, *CHURN, "--metric", "ece", "--format", "json")
    raw, through = (run(*words, *more).document for more in ((), ("--artifact", fitted)))
    assert through["measures"] == raw["measures"]
    assert "identity map" in run("plot", "--kind", "map", fitted, "-o", "map.svg").err
    assert "nothing was fitted" in Path("map.svg").read_text()
    assert "identity" in run("inspect", fitted).out
    assert 'THEN CAST(r."score" AS DOUBLE)\n' in run("export", fitted, "--to", "sql").out


def test_identity_of_logits_is_the_probability_that_they_stand_for(run: Run, rows: Path) -> None:
    """As every map of logits gives probabilities."""
    fitted, out = Path("cal.json"), Path("out.csv")
    words = ("fit", rows, "-s", "logit", "--scale", "logit", "-y", "label", "-m", "auto", *FEW)
    assert SAID in run(*words, "-o", fitted).err
    assert run("apply", fitted, rows, "-s", "logit", "-o", out).code == 0
    columns = list(zip(*(line.split(",") for line in out.read_text().splitlines()), strict=True))
    found, score = (np.array(one[1:], np.float64) for one in (columns[-1], columns[0]))
    np.testing.assert_allclose(found, score, rtol=0.0, atol=1e-15)


def test_groups_that_need_no_repair_keep_their_scores(run: Run, rows: Path) -> None:
    """Whether all rows together need one or not, and the page says in how many groups."""
    words = ("fit", rows, "-s", "score", "--by", "g", "-m", "auto", *FEW)
    moved = run(*words, "-y", "moved")
    assert moved.err.splitlines()[0].startswith("fitted platt and identity by g")
    assert "In 1 of 3 groups with a map of their own the raw score is as good as any repair" in moved.err
    assert "none: the raw score is as good" in moved.err
    document = moved.document
    methods = {key: one["method"] for key, one in document["members"].items()}
    assert methods == {"a": "platt", "b": "platt", "c": "identity"}
    assert sealed(GroupArtifact.from_dict(document_of(document)).to_dict()) == document
    assert SAID in run(*words, "-y", "label").err
    Path("by.json").write_text(moved.out)
    out = Path("out.csv")
    assert run("apply", "by.json", rows, "-o", out).code == 0
    table = [line.split(",") for line in out.read_text().splitlines()[1:]]
    same = {line[4] for line in table if float(line[0]) == float(line[-1])}
    assert same == {"c"}
    assert "identity" in run("inspect", "by.json").out
    document["members"]["b"] = with_ends(run, rows)
    del document["digest"]
    with pytest.raises(DocumentProblem, match=r"members\.b"):
        GroupArtifact.from_dict(Node(document))


def with_ends(run: Run, rows: Path) -> dict[str, object]:
    """Return a map with ends beside maps without."""
    other = run("fit", rows, "-s", "score", "-y", "moved", "--by", "g", "-m", "venn-abers").document
    return dict(other["members"]["b"])


def test_maps_with_ends_are_not_left_out_of_a_group(run: Run, rows: Path) -> None:
    """Every row gets both ends, so that no group keeps its raw scores."""
    words = ("fit", rows, *CHURN, "-m", "auto", "--candidate", "venn-abers")
    document = run(*words, "--by", "g").document
    assert {one["method"] for one in (document["pooled"], *document["members"].values())} == {"venn-abers"}
    assert SAID in run(*words).err


def test_areas_are_compared_row_by_row_in_every_command(run: Run) -> None:
    """Two columns, three, models in rows, a pipe and frequencies: one difference; a monotone map leaves 0."""
    rng = np.random.default_rng(7)
    a, label = np.round(rng.random(500), 2), rng.random(500)
    b = np.round(np.clip(a + rng.normal(0.0, 0.2, 500), 0.0, 1.0), 2)
    rows = list(zip(range(500), a.tolist(), b.tolist(), (label < a).astype(int).tolist(), strict=True))
    wide, long = Path("wide.csv"), Path("long.csv")
    wide.write_text("id,a,b,c,y\n" + "".join(f"{i},{u},{v},{u**2},{y}\n" for i, u, v, y in rows))
    models = "".join(f"{i},{name},{s},{y}\n" for i, u, v, y in rows for name, s in (("a", u), ("b", v)))
    long.write_text("id,model,s,y\n" + models)
    few = "-m", "auroc,gini,aurc", "--json"
    names = ("auroc", "gini", "aurc")

    def differences(*words: Any, **more: Any) -> list[dict[str, Any]]:
        tree = run(*words, *few, **more).document
        found = tree.get("differences", {}).get("score=b")
        each = [found[name] if found else tree["measures"][name]["difference"] for name in names]
        return [{key: value for key, value in one.items() if key != "verdict"} for one in each]

    two = differences("compare", wide, "-s", "a", "-s", "b", "-y", "y")
    assert two == differences("compare", "-s", "a", "-s", "b", "-y", "y", stdin=wide.read_bytes())
    assert two == differences("measure", wide, "-s", "a", "-s", "b", "-y", "y")
    assert [one["method"].startswith("paired") for one in two] == [True] * 3
    assert two[1]["lower"] == pytest.approx(2.0 * two[0]["lower"])
    turned = differences("compare", wide, "-s", "b", "-s", "a", "-y", "y")
    assert [one["upper"] for one in turned] == pytest.approx([-one["lower"] for one in two])
    board = run("compare", wide, "-s", "a", "-s", "b", "-s", "c", "-y", "y", *few, "--pairs").document
    pairs = board["measures"]["auroc"]["pairs"]
    same = next(one for one in pairs if {one["first"], one["second"]} == {"a", "c"})
    assert same["difference"]["value"] == 0.0
    by_model = run("compare", long, "-s", "s", "-y", "y", "--by", "model", "--id", "id", *few).document
    last = by_model["measures"]["auroc"]["standings"][-1]["contrast"]["difference"]
    assert abs(last["value"]) == pytest.approx(abs(two[0]["value"]))
    weighed = differences(
        "compare", wide, "-s", "a", "-s", "b", "-y", "y", "-w", "id", "--weights-are", "frequency"
    )
    assert weighed[0]["method"] == two[0]["method"]


def test_models_are_matched_by_several_columns(run: Run) -> None:
    """As by one that holds both; a column may be part of the id and a cluster, and a state takes one."""
    path = Path("long.csv")
    rows = [
        (model, task, item, 0.1 + (item * 7 + task + 3 * (model == "b")) % 9 / 10, (item + task) % 2)
        for model in "ab"
        for task in (1, 2)
        for item in range(30)
    ]
    lines = (f"{model},{task},{item},{task}/{item},{score},{y}" for model, task, item, score, y in rows)
    path.write_text("\n".join(['model,task,item,"Both, in one",s,y', *lines]))
    words = ("compare", path, "-s", "s", "-y", "y", "--by", "model", "-m", "brier")
    by_two = run(*words, "--id", "task,item")
    assert by_two.out == run(*words, "--id", "both, in one").out == run(*words, "--id", "item,task").out
    assert "60" in by_two.out
    assert "--id item,COLUMN tells such rows apart by a further column" in run(*words, "--id", "item").out
    assert "30 clusters" in run(*words, "--id", "task,item", "--cluster", "item").out
    assert run(*words, "--id", "task,task", code=2).err.startswith(
        "error: column 'task' is named twice with --id"
    )
    assert run(*words, "--id", "task,c", code=3).err.startswith(f"error: {path}: there is no column 'c'")
    state = ("verify", path, "-s", "s", "-y", "y", "--max-ece", ".5", "--state", "g", "--id", "task,item")
    assert "a state tells rows apart by one column" in run(*state, code=2).err


def test_an_infinite_loss_is_said_in_words(run: Run) -> None:
    """One score of 0 has label 1: the log loss of the second is infinite instead of a number."""
    lines = [
        f"{0.1 + 0.008 * at:.3f},{0.1 + 0.008 * at if at else 0:.3f},{at % 3 == 0:d}" for at in range(100)
    ]
    Path("rows.csv").write_text("a,b,label\n" + "\n".join(lines))
    told = run("compare", "rows.csv", "-s", "a", "-s", "b", "-y", "label", "-m", "log_loss").out
    assert "log loss is infinite instead of 0." in told.partition("\n\n")[0]
    report = Path("report.json")
    run("measure", "rows.csv", "-s", "b", "-y", "label", "--json", "-o", report)
    words = ("verify", "rows.csv", "-s", "a", "-y", "label", "--baseline", report)
    refused = run(*words, "--max-regression", "0.1", "--regression-metric", "log_loss", code=2).err
    assert "report.json: its log_loss is infinite, and nothing is worse" in refused
    assert "--regression-metric brier" in refused
