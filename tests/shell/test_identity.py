"""Scores that need no repair: `fit --method auto` says so, and its artifact is one like any other."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from calibcli.codec import Node
from calibcli.documents.artifact import GroupArtifact
from calibcli.documents.sealed import document_of, sealed
from calibcli.errors import DocumentProblem
from command_line import Ran

Run = Callable[..., Ran]

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
    lines = [
        f"{p!r},{z!r},{y:d},{m:d},{'abc'[g]},{place // 2}\n"
        for place, (p, z, y, m, g) in enumerate(
            zip(score.tolist(), logit.tolist(), label, moved, group, strict=True)
        )
    ]
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text("score,logit,label,moved,g,person\n" + "".join(lines))
    return path


@pytest.mark.parametrize(
    "asked",
    [(), ("--loss", "brier"), ("--group", "person"), ("--folds", "5"), ("--candidate", "identity")],
)
def test_auto_leaves_calibrated_scores_as_they_are(run: Run, rows: Path, asked: tuple[str, ...]) -> None:
    """The answer comes right after the title, the raw scores stand in the table as what was chosen."""
    ended = run("fit", rows, "-s", "score", "-y", "label", "-m", "auto", *FEW, *asked)
    assert ended.err.splitlines()[:2] == ["fitted identity, written to standard output", SAID]
    assert ended.err.count("nothing was changed") == 1
    assert "chosen: identity" in ended.err
    document = json.loads(ended.out)
    assert (document["method"], document["parameters"], document["bins"]) == ("identity", {}, None)
    assert document["fit"]["selection"]["results"][0]["method"] == "raw"
    assert document["fit"]["selection"]["results"][0]["chosen"]
    assert document["fit"]["loss_after"] == document["fit"]["loss_before"]
    assert document["fit"]["options"] == ({"loss": "brier"} if "brier" in asked else {})


def test_identity_is_an_artifact_like_any_other(run: Run, rows: Path, tmp_path: Path) -> None:
    """`apply` writes the score, `measure` finds the numbers of the raw score, `plot` draws the diagonal."""
    fitted, out = tmp_path / "cal.json", tmp_path / "out.csv"
    assert run("fit", rows, "-s", "score", "-y", "label", "-m", "identity", "-o", fitted).code == 0
    assert run("apply", fitted, rows, "-o", out).code == 0
    columns = list(zip(*(line.split(",") for line in out.read_text().splitlines()), strict=True))
    assert [float(one) for one in columns[-1][1:]] == [float(one) for one in columns[0][1:]]
    words = ("measure", rows, "-s", "score", "-y", "label", "--metric", "ece", "--format", "json")
    raw, through = (json.loads(run(*words, *more).out) for more in ((), ("--artifact", fitted)))
    assert through["measures"] == raw["measures"]
    assert "identity map" in run("plot", "--kind", "map", fitted, "-o", tmp_path / "map.svg").err
    assert "nothing was fitted" in (tmp_path / "map.svg").read_text()
    assert "identity" in run("inspect", fitted).out
    query = run("export", fitted, "--to", "sql").out
    assert 'THEN CAST(r."score" AS DOUBLE)\n' in query


def test_identity_of_logits_is_the_probability_that_they_stand_for(
    run: Run, rows: Path, tmp_path: Path
) -> None:
    """As every map of logits gives probabilities."""
    fitted, out = tmp_path / "cal.json", tmp_path / "out.csv"
    words = ("fit", rows, "-s", "logit", "--scale", "logit", "-y", "label", "-m", "auto", *FEW)
    assert SAID in run(*words, "-o", fitted).err
    assert run("apply", fitted, rows, "-s", "logit", "-o", out).code == 0
    columns = list(zip(*(line.split(",") for line in out.read_text().splitlines()), strict=True))
    found, score = (np.array(one[1:], np.float64) for one in (columns[-1], columns[0]))
    np.testing.assert_allclose(found, score, rtol=0.0, atol=1e-15)


def test_groups_that_need_no_repair_keep_their_scores(run: Run, rows: Path, tmp_path: Path) -> None:
    """Whether all rows together need one or not, and the page says in how many groups."""
    words = ("fit", rows, "-s", "score", "--by", "g", "-m", "auto", *FEW)
    moved = run(*words, "-y", "moved")
    assert moved.err.splitlines()[0].startswith("fitted platt and identity by g")
    assert "In 1 of 3 groups with a map of their own the raw score is as good as any repair" in moved.err
    assert "none: the raw score is as good" in moved.err
    document = json.loads(moved.out)
    methods = {key: one["method"] for key, one in document["members"].items()}
    assert methods == {"a": "platt", "b": "platt", "c": "identity"}
    assert sealed(GroupArtifact.from_dict(document_of(document)).to_dict()) == document
    assert SAID in run(*words, "-y", "label").err
    (tmp_path / "by.json").write_text(moved.out)
    out = tmp_path / "out.csv"
    assert run("apply", tmp_path / "by.json", rows, "-o", out).code == 0
    table = [line.split(",") for line in out.read_text().splitlines()[1:]]
    same = {line[4] for line in table if float(line[0]) == float(line[-1])}
    assert same == {"c"}
    assert "identity" in run("inspect", tmp_path / "by.json").out
    document["members"]["b"] = mixed(run, rows)
    del document["digest"]
    with pytest.raises(DocumentProblem, match=r"members\.b"):
        GroupArtifact.from_dict(Node(document))


def mixed(run: Run, rows: Path) -> dict[str, object]:
    """Return the map of another method."""
    other = json.loads(run("fit", rows, "-s", "score", "-y", "moved", "--by", "g", "-m", "beta").out)
    return dict(other["members"]["b"])


def test_maps_with_ends_are_not_left_out_of_a_group(run: Run, rows: Path) -> None:
    """Every row gets both ends, so that no group keeps its raw scores."""
    words = ("fit", rows, "-s", "score", "-y", "label", "-m", "auto", "--candidate", "venn-abers")
    document = json.loads(run(*words, "--by", "g").out)
    assert {one["method"] for one in (document["pooled"], *document["members"].values())} == {"venn-abers"}
    assert SAID in run(*words).err


def test_what_identity_does_not_heed_is_refused(run: Run, rows: Path) -> None:
    """It has no options, and is no base for bins."""
    words = ("fit", rows, "-s", "score", "-y", "label", "-m")
    assert "identity does not heed --bins" in run(*words, "identity", "--bins", "5").err
    refused = run(*words, "scaling-binning", "--base", "identity")
    assert (refused.code, "cannot be based on identity" in refused.err) == (2, True)
