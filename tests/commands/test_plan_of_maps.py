"""A plan takes where scores fall from any artifact."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import calibcli
from calibcli.commands.plan import plan_rows
from calibcli.documents.artifact import Artifact, artifact_text
from calibcli.errors import UsageProblem
from calibcli.names import Binning
from calibcli.options.declaring import built
from calibcli.options.gating import PlanOptions
from calibcli.options.rows import Columns, RowRequest


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Scores that are too sure."""
    return drawn(3)


def drawn(seed: int) -> pd.DataFrame:
    """Rows of the one population."""
    rng = np.random.default_rng(seed)
    score = rng.beta(0.6, 1.8, 20_000)
    return pd.DataFrame({"score": score, "label": (rng.random(score.size) < 0.1 + 0.6 * score).astype(int)})


def planned(**requested: object) -> PlanOptions:
    """What is asked of a plan."""
    return built(PlanOptions, requested)


def fitted(rows: pd.DataFrame, method: str, **requested: object) -> Artifact:
    """The artifact of a fit."""
    return calibcli.fit(rows, score="score", label="label", method=method, **requested).artifact


def saved(artifact: Artifact, folder: Path) -> str:
    """Write an artifact, and return where."""
    path = folder / "cal.json"
    path.write_text(artifact_text(artifact), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("rule", "on"), [("max_ece", ()), ("max_segment_bias", ("part",))])
def test_a_plan_says_that_scores_went_through_the_map_before(
    rule: str, on: tuple[str, ...], rows: pd.DataFrame, tmp_path: Path
) -> None:
    """Of a gate on all rows and of one on segments alike."""
    artifact = fitted(rows.head(4_000), "platt")
    after = artifact.recalibrator.predict(drawn(4)["score"].to_numpy()[:4_000])
    path = Path("after.csv")
    pd.DataFrame({"score": after, "part": np.arange(4_000) % 2}).to_csv(path, index=False)
    request = RowRequest([str(path)], Columns("score", on=on), saved(artifact, tmp_path))
    found = plan_rows(planned(**{rule: 0.3}), request)
    assert any("outputs of this map" in note for note in found.input.notes)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_a_continuous_map_asks_for_what_fresh_rows_ask_for(
    method: str, rows: pd.DataFrame, tmp_path: Path
) -> None:
    """Eleven quantiles of the fit rows tell the number nearly as well as rows of the same population."""
    artifact, path = saved(fitted(rows, method), tmp_path), "rows.csv"
    drawn(4).to_csv(path, index=False)
    options = planned(max_ece=0.05)
    found = plan_rows(options, RowRequest([], artifact=artifact))
    like = plan_rows(options, RowRequest([path], Columns(score="score"), artifact))
    assert found.rows == pytest.approx(like.rows, rel=0.15)
    assert found.partition == like.partition
    assert "by 11 of their quantiles" in found.scores_from
    # Whether scores repeat, so that a gate would judge each value by itself, they do not tell.
    fixed = plan_rows(planned(max_ece=0.05, binning=Binning.EQUAL_WIDTH), RowRequest([], artifact=artifact))
    said = [any("verify --binning equal-width" in note for note in one.notes) for one in (found, like, fixed)]
    assert said == [True, False, False]


def test_rare_outputs_are_said_to_be_known_badly(rows: pd.DataFrame, tmp_path: Path) -> None:
    """Between the last two quantiles of frauds, four in a thousand, lies nearly all that labels vary by."""
    rng = np.random.default_rng(3)
    rare = rng.random(50_000) < 0.004
    score = np.where(rare, rng.beta(1.5, 1.5, rare.size), rng.beta(1.0, 999.0, rare.size))
    frauds = pd.DataFrame({"score": score, "label": (rng.random(rare.size) < score).astype(int)})
    for some, said in ((frauds, True), (rows, False)):
        found = plan_rows(
            planned(max_ece=0.05), RowRequest([], artifact=saved(fitted(some, "platt"), tmp_path))
        )
        assert any("poor guide" in note for note in found.notes) is said


def test_a_map_that_parted_the_fit_rows_can_be_planned_for(tmp_path: Path) -> None:
    """Each of them got 0 or 1, so that labels like theirs do not vary; between them others get more."""
    rows = pd.DataFrame({"score": [0.1, 0.2, 0.7, 0.8], "label": [0, 0, 1, 1]})
    artifact = saved(fitted(rows, "isotonic"), tmp_path)
    found = plan_rows(planned(max_ece=0.2), RowRequest([], artifact=artifact))
    assert any("every fit row got 0 or 1" in note for note in found.notes)


def test_bins_cut_the_outputs_of_a_continuous_map_alone(rows: pd.DataFrame, tmp_path: Path) -> None:
    """A discrete one has its outputs, one by one."""
    few = planned(max_ece=0.05, bins=5)
    assert (
        plan_rows(few, RowRequest([], artifact=saved(fitted(rows, "platt"), tmp_path))).partition
        == "5 equal-width bins"
    )
    with pytest.raises(UsageProblem, match="an artifact has its outputs"):
        plan_rows(few, RowRequest([], artifact=saved(fitted(rows, "scaling-binning"), tmp_path)))
    atoms = planned(max_ece=0.05, binning=Binning.ATOMS)
    with pytest.raises(UsageProblem, match=r"Theorem 12\.5"):
        plan_rows(atoms, RowRequest([], artifact=saved(fitted(rows, "platt"), tmp_path)))


def test_what_does_not_say_where_scores_fell_is_refused(rows: pd.DataFrame, tmp_path: Path) -> None:
    """Artifacts of before there were quantiles, and maps whose outputs are drawn."""
    artifact = fitted(rows, "platt")
    older = replace(artifact, fit=replace(artifact.fit, score_quantiles=None))
    for one in (older, fitted(rows, "smooth", randomised=True)):
        with pytest.raises(UsageProblem, match="does not say where its outputs fall") as caught:
            plan_rows(planned(max_ece=0.05), RowRequest([], artifact=saved(one, tmp_path)))
        assert caught.value.hint == "pass --like preds.csv -s score too"


def test_a_plan_for_any_time_says_what_a_state_judges(rows: pd.DataFrame, tmp_path: Path) -> None:
    """Values that were only found in the rows are bins of a state where they are named alone."""
    path = "few.csv"
    pd.DataFrame({"score": rows["score"].round(1)}).to_csv(path, index=False)
    request = RowRequest([path], Columns("score"))
    said = {
        name: any("verify --state judges each value only" in note for note in plan_rows(one, request).notes)
        for name, one in {
            "any time": planned(max_ece=0.05, any_time=True),
            "bins": planned(max_ece=0.05, any_time=True, bins=15),
            "one look": planned(max_ece=0.05),
        }.items()
    }
    assert said == {"any time": True, "bins": False, "one look": False}
    discrete = saved(fitted(rows, "scaling-binning"), tmp_path)
    assert not plan_rows(planned(max_ece=0.05, any_time=True), RowRequest([], artifact=discrete)).notes
