"""What is said of several classes where it used to pass in silence."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.shell.app import main

SAMPLE = Path(__file__).parents[2] / "sample_data" / "digits_naive_bayes_calibration.parquet"


def rows_of(path: Path, logits: np.ndarray, label: np.ndarray, *, scale: str) -> str:
    """Write logits, or the probabilities that they stand for."""
    values = logits
    if scale == "prob":
        power = np.exp(logits - logits.max(axis=1, keepdims=True))
        values = power / power.sum(axis=1, keepdims=True)
    columns = {f"p_{place}": values[:, place] for place in range(values.shape[1])}
    pq.write_table(pa.table({**columns, "label": label}), path)
    return str(path)


@pytest.fixture(scope="module")
def far() -> tuple[np.ndarray, np.ndarray]:
    """Logits thirty times too large, of four classes; most probabilities are below 2^-53."""
    rng = np.random.default_rng(6)
    logits = 1.5 * rng.standard_normal((3_000, 4))
    power = np.exp(logits)
    draws = rng.random((3_000, 1)) * power.sum(axis=1, keepdims=True)
    return 30.0 * logits, (np.cumsum(power, axis=1) < draws).sum(axis=1)


@pytest.mark.parametrize("method", ["temperature", "vector"])
def test_logits_are_taken_as_given(far: tuple[np.ndarray, np.ndarray], tmp_path: Path, method: str) -> None:
    """However far out: the temperature is what the logits were multiplied by."""
    from calibcli.documents.artifact import read_class_artifact

    file = rows_of(tmp_path / "logits.parquet", *far, scale="logit")
    cal = str(tmp_path / "cal.json")
    words = ["fit", file, "--probs", "p_*", "-y", "label", "--scale", "logit", "--multiclass", method]
    assert main([*words, "-q", "-o", cal]) == 0
    record = read_class_artifact(cal)
    found = record.recalibrator.to_dict()
    if method == "temperature":
        assert found["temperature"] == pytest.approx(30.0, rel=0.05)
    assert found["least"] == 2.0**-1074
    logits, label = far
    calm = logits / 30.0
    best = np.log(np.exp(calm).sum(axis=1)) - calm[np.arange(label.size), label]
    assert record.fit.loss_after == pytest.approx(best.mean(), rel=0.01)


def test_probabilities_too_small_to_be_told_apart_are_counted(
    far: tuple[np.ndarray, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where one is 0, how many in how many rows were limited, and what would keep them; else nothing is."""
    logits, label = far
    file = rows_of(tmp_path / "probs.parquet", logits, label, scale="prob")
    words = ["fit", file, "--probs", "p_*", "-y", "label", "-o", str(tmp_path / "cal.json"), "--force"]
    assert main(words) == 0
    assert "2^-53" not in capsys.readouterr().err
    logits[0, 0] = -1e9
    rows_of(tmp_path / "probs.parquet", logits, label, scale="prob")
    assert main(words) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "1 probability is 0, which has no logarithm: inside it all " in said
    assert "were taken for 2^-53; logits (--scale logit) keep them" in said


def test_classes_on_a_grid_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table of all rows may be exact where those of the classes are not."""
    rng = np.random.default_rng(1)
    logits, label = rng.standard_normal((2_000, 20)), rng.integers(0, 20, 2_000)
    file = rows_of(tmp_path / "p.parquet", logits, label, scale="prob")
    words = ["measure", file, "--probs", "p_*", "-y", "label", "--metric", "ece", "--memory", "2MiB"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "over the memory allowed for 20 classes one by one: their scores are kept to" in said
    words[-1] = re.search("--memory ([0-9]+MiB) or --exact", " ".join(said.split()))[1]  # type: ignore[index]
    assert main(words) == 0
    assert "over the memory" not in capsys.readouterr().out


def test_classes_are_exact_where_they_fit_the_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An eightieth of the default memory is enough for 30 classes of 1,000 rows, in any number of bins."""
    rng = np.random.default_rng(1)
    logits, label = rng.standard_normal((1_000, 30)), rng.integers(0, 30, 1_000)
    file = rows_of(tmp_path / "p.parquet", logits, label, scale="prob")
    words = ["measure", file, "--probs", "p_*", "-y", "label", "--metric", "ece_equal_mass", "--bins", "19"]
    assert main([*words, "--memory", "3.2MiB"]) == 0
    within = capsys.readouterr().out
    assert main([*words, "--exact"]) == 0
    assert capsys.readouterr().out == within
    assert "over the memory" not in within
    assert main([*words, "--memory", "2MiB"]) == 2
    assert "hint: pass --exact or more --memory" in capsys.readouterr().err


@pytest.mark.parametrize("labels", [[0, 1, 2], ["0", "1", "2"], ["cat", "dog", "2"]], ids=str)
def test_labels_that_are_read_as_places_are_said(
    labels: list[int | str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever counts from 1, or in another order than the columns, sees which class each number is."""
    rng = np.random.default_rng(4)
    rows = rng.dirichlet([1.0, 1.0, 1.0], 300)
    draws = [int(rng.choice(3, p=row)) for row in rows]
    columns = {f"p_{name}": rows[:, place] for place, name in enumerate(("cat", "dog", "fox"))}
    file = str(tmp_path / "p.parquet")
    pq.write_table(pa.table({**columns, "label": pa.array([labels[draw] for draw in draws])}), file)
    words = [file, "--probs", "p_*", "-y", "label"]
    expected = (
        "labels are numbers, read as places from 0: 0 = cat, 1 = dog, 2 = fox; --classes names them otherwise"
    )
    commands = (["measure"], ["verify", "--max-ece", "0.5"], ["fit", "-o", str(tmp_path / "c.json")])
    for name, *more in commands:
        assert main([name, *words, *more]) in (0, 1, 4)
        printed = capsys.readouterr()
        assert expected in " ".join((printed.out + printed.err).split()), name
    assert main(["measure", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["input"]["notes"] == [expected]
    if labels[0] != "cat":
        assert main(["measure", *words, "--json", "--classes", "0,1,2"]) == 0
        assert json.loads(capsys.readouterr().out)["input"]["notes"] == []


def test_labels_that_are_names_are_not_said_to_be_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither text nor numbers where classes are called by numbers."""
    draws = np.random.default_rng(3).integers(0, 2, 300)
    rows = np.random.default_rng(4).dirichlet([1.0, 1.0], 300)
    file = str(tmp_path / "p.parquet")
    for names in (("cat", "dog"), ("1", "2"), ("0", "1")):
        columns = {f"p_{name}": rows[:, place] for place, name in enumerate(names)}
        given = [names[draw] if names[0] == "cat" else int(names[draw]) for draw in draws]
        pq.write_table(pa.table({**columns, "label": pa.array(given)}), file)
        assert main(["measure", file, "--probs", "p_*", "-y", "label", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["input"]["notes"] == []
