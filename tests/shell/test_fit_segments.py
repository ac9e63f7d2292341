"""`fit --method segments` and what takes its map, from the command line and from Python."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import calibcli
from command_line import CHURN, SAMPLE, Run
from published import check

LOANS = SAMPLE / "loans_calibration.parquet"
FRESH = SAMPLE / "loans_evaluation.parquet"
FIT = ("--method", "segments", "--on", "country,device,age")


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a map of the loans of the sample data."""
    path = tmp_path_factory.mktemp("segments") / "cal.json"
    calibcli.fit(
        str(LOANS), score="score", label="label", method="segments", on=["country", "device", "age"]
    ).save(path)
    return path


def test_same_rows_give_the_same_bytes(run: Run, artifact: Path) -> None:
    """CSV in another order gives the artifact of Parquet, byte for byte, by any number of workers."""
    pq.read_table(LOANS).to_pandas().sample(frac=1.0, random_state=1).to_csv("rows.csv", index=False)
    ended = run("fit", "rows.csv", *CHURN, *FIT, "--jobs", "2", code=0)
    assert ended.out == artifact.read_text()
    check(ended.document, "artifact")


def test_repair_is_better_on_other_rows(run: Run, artifact: Path) -> None:
    """The loss falls beyond its standard error, and no segment stands out any more."""
    found = run("compare", FRESH, *CHURN, "--artifact", artifact, "--metric", "log_loss", "--json").document[
        "measures"
    ]["log_loss"]
    assert found["difference"]["value"] < 0.0
    after = run("segments", FRESH, *CHURN, *FIT[2:], "--artifact", artifact)
    assert after.out.startswith("No segment stands out")
    run("verify", FRESH, *CHURN, "--artifact", artifact, "--max-ece", "0.05", code=0)


def test_every_door_gives_the_same_probabilities(run: Run, artifact: Path) -> None:
    """Files, frames, arrays beside a frame, and what measure sees agree bit for bit."""
    out = Path("repaired.parquet")
    run("apply", artifact, FRESH, "-s", "score", "-o", out, code=0)
    written = pq.read_table(out).to_pandas()
    frame = pq.read_table(FRESH).to_pandas()
    held = calibcli.load(artifact)
    assert np.array_equal(calibcli.apply(held, frame, score="score")["calibrated"], written["calibrated"])
    shuffled = frame.sample(frac=0.2, random_state=3)
    beside = held.predict(
        shuffled["score"].to_numpy(), on={name: shuffled[name] for name in ("country", "device", "age")}
    )
    assert np.array_equal(beside, written.loc[shuffled.index, "calibrated"])
    through = run("measure", FRESH, *CHURN, "--artifact", artifact, "--metric", "log_loss", "--json").document
    own = run("measure", out, "-s", "calibrated", "-y", "label", "--metric", "log_loss", "--json").document
    assert through["measures"]["log_loss"] == own["measures"]["log_loss"]


def test_new_values_are_counted(run: Run, artifact: Path) -> None:
    """A country that no fit row had, and a gap where there was none, are said to be new."""
    frame = pd.DataFrame({"score": [0.1, 0.2, 0.3], "country": ["DE", "ZZ", "YY"], "device": ["mobile"] * 3})
    frame["age"], frame["label"] = [30, None, 40], [0, 1, 1]
    frame.to_csv("new.csv", index=False)
    ended = run("apply", artifact, "new.csv", "-o", "out.csv", code=0)
    assert "2 rows have a value of 'country' that the fit had not seen" in ended.err
    assert "1 row has a value of 'age' that the fit had not seen" in ended.err
    measured = run("measure", "new.csv", "--artifact", artifact, "--metric", "ece", code=0)
    assert "2 rows have a value of 'country' that the fit had not seen" in measured.out + measured.err
    assert np.isfinite(pd.read_csv("out.csv")["calibrated"]).all()


def test_columns_may_stand_in_the_path(run: Run, artifact: Path) -> None:
    """A column of the map that is a folder of a partition is read from its name."""
    frame = pq.read_table(FRESH).to_pandas().query("country == 'BR'").head(50)
    folder = Path("country=BR")
    folder.mkdir()
    frame.drop(columns="country").to_csv(folder / "part.csv", index=False)
    run("apply", artifact, folder / "part.csv", "-s", "score", "-o", "out.csv", code=0)
    whole = calibcli.apply(calibcli.load(artifact), frame, score="score")["calibrated"]
    assert np.array_equal(pd.read_csv("out.csv", engine="pyarrow")["calibrated"], whole)


def test_inspect_says_what_is_added(run: Run, artifact: Path) -> None:
    """The columns, the losses, the proof and the largest coefficients are there in words."""
    said = run("inspect", artifact).out
    for words in (
        "segments, on country, device, age",
        "held-out loss, by segments",
        "proved",
        "country = BR",
    ):
        assert words in said


def test_frequencies_count_as_rows(run: Run) -> None:
    """A row of frequency 2 is two rows."""
    frame = pq.read_table(LOANS).to_pandas().head(3_000)[["score", "label", "country"]]
    frame["times"] = [1, 2] * 1_500
    frame.to_csv("once.csv", index=False)
    pd.concat([frame, frame[1::2]]).to_csv("twice.csv", index=False)
    on = ("--method", "segments", "--on", "country")
    once = run("fit", "once.csv", *CHURN, *on, "-w", "times", "--weights-are", "frequency")
    assert once.out == run("fit", "twice.csv", *CHURN, *on).out


def test_past_the_memory_scores_are_kept_to_cells(run: Run) -> None:
    """Where rows take more cells than are allowed, logits are kept to an eighth: little changes."""
    words = ("--method", "segments", "--on", "country,device")
    coarse = run("fit", LOANS, *CHURN, *words, "--memory", "100KiB", code=0)
    assert "logits of scores are rounded to 0.125" in coarse.err
    exact = run("fit", LOANS, *CHURN, *words)
    losses = [one.document["fit"]["loss_after"] for one in (coarse, exact)]
    assert losses[0] == pytest.approx(losses[1], abs=2e-4)


def test_idle_columns_change_nothing(run: Run) -> None:
    """Where the scores are right for all, they are left as they are."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"score": rng.beta(1.0, 2.0, 4_000), "country": rng.choice(["a", "b"], 4_000)})
    frame["label"] = (rng.random(4_000) < frame["score"]).astype(int)
    frame.to_csv("rows.csv", index=False)
    ended = run("fit", "rows.csv", *CHURN, "--method", "segments", "--on", "country", "-o", "cal.json")
    assert "as good as any repair" in ended.err
    assert "if several are of one person or day, these losses are too low for others." in ended.err
    after = calibcli.load("cal.json").predict(frame["score"].to_numpy(), on=frame)
    assert np.array_equal(after, frame["score"])
