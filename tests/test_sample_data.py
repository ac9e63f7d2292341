"""The sample data is what its README says."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "sample_data"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
DIGITS = [f"p_{k}" for k in range(10)]
BINARY = ["id", "score", "label"]

# data set -> suffix, columns, rows of the calibration and of the evaluation half
SETS = {
    "breast_cancer": ("csv", BINARY, (284, 285)),
    "digits_naive_bayes": ("parquet", ["id", *DIGITS, "label"], (898, 899)),
    "digits_forest": ("csv", ["id", *DIGITS, "label"], (898, 899)),
    "churn": ("parquet", [*BINARY, "group", "weight"], (50_000, 50_000)),
    "loans": ("parquet", [*BINARY, "country", "device", "age"], (12_000, 12_000)),
    "subscribers": ("parquet", [*BINARY, "plan", "country", "months"], (12_000, 12_000)),
}

SEVERAL = ("forecasts.csv", "answers.csv")
PORTFOLIO = ("portfolio_2023.parquet", "portfolio_2024.parquet")


def paths(name: str) -> tuple[Path, Path]:
    """Both halves of a data set."""
    suffix = SETS[name][0]
    return FOLDER / f"{name}_calibration.{suffix}", FOLDER / f"{name}_evaluation.{suffix}"


def read(path: Path) -> pd.DataFrame:
    """Read one file."""
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


def frames(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both halves of a data set, read."""
    calibration, evaluation = paths(name)
    return read(calibration), read(evaluation)


def probability_columns(frame: pd.DataFrame) -> list[str]:
    """The columns that hold probabilities."""
    return [column for column in frame.columns if column == "score" or column in DIGITS]


def confidence_and_label(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The score and the 0/1 label; for ten classes the largest probability, and whether it was right."""
    if "score" in frame.columns:
        return frame["score"].to_numpy(), frame["label"].to_numpy()
    probability = frame[DIGITS].to_numpy()
    return probability.max(axis=1), probability.argmax(axis=1) == frame["label"].to_numpy()


def raw_ece(frame: pd.DataFrame) -> float:
    """Binned ECE on 15 equal-width bins, written out once more."""
    score, label = confidence_and_label(frame)
    bin_number = np.searchsorted(np.arange(1, 15) / 15, score, side="left")
    return float(np.abs(np.bincount(bin_number, label - score)).sum() / score.size)


def test_folder_holds_the_described_files_and_no_others() -> None:
    """Every data file belongs to a set of this test, and none of them is missing."""
    found = {path.name for path in FOLDER.iterdir() if path.suffix in {".csv", ".parquet"}}

    assert found == {path.name for name in SETS for path in paths(name)} | {*PORTFOLIO, *SEVERAL}


def test_readme_names_every_file() -> None:
    """Every file of the folder is named in its README."""
    files = [path.name for path in FOLDER.iterdir() if path.is_file() and path.name != "README.md"]

    assert [name for name in files if f"{name}`" not in README and f"sample_data/{name}" not in README] == []


def test_files_stay_small() -> None:
    """The whole folder is under 3 MB, so that cloning stays quick."""
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 3_000_000


@pytest.mark.parametrize("name", SETS)
def test_columns_and_rows_are_as_described(name: str) -> None:
    """Both halves have the promised columns in order, the promised rows, and no missing value."""
    _, columns, rows = SETS[name]
    halves = frames(name)

    assert [list(half.columns) for half in halves] == [columns, columns]
    assert tuple(len(half) for half in halves) == rows
    assert not any(half.isna().to_numpy().any() for half in halves)


@pytest.mark.parametrize("name", SETS)
def test_labels_are_all_the_classes(name: str) -> None:
    """Labels are 0 and 1, or the ten digits, each of them present in both halves."""
    for half in frames(name):
        assert sorted(half["label"].unique()) == list(range(2 if "score" in half.columns else 10))


@pytest.mark.parametrize("name", SETS)
def test_scores_are_probabilities(name: str) -> None:
    """Every score lies in [0, 1], and ten-class probabilities sum to one."""
    for half in frames(name):
        scores = half[probability_columns(half)].to_numpy()

        assert scores.dtype == np.float64
        assert 0.0 <= scores.min() <= scores.max() <= 1.0
        if scores.shape[1] > 1:
            np.testing.assert_allclose(scores.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", SETS)
def test_halves_share_no_row(name: str) -> None:
    """Calibration and evaluation rows are different rows, and together they are the whole data set."""
    calibration, evaluation = frames(name)
    ids = pd.concat([calibration["id"], evaluation["id"]])

    assert sorted(ids) == list(range(len(ids)))


def test_digits_models_are_judged_on_the_same_rows() -> None:
    """The two digits models can be compared row by row."""
    for bayes, forest in zip(frames("digits_naive_bayes"), frames("digits_forest"), strict=True):
        assert bayes[["id", "label"]].equals(forest[["id", "label"]])


def test_churn_groups_and_weights_are_as_described() -> None:
    """Four regions with clearly different base rates, and the four weights that sampling leaves."""
    for half in frames("churn"):
        rates = half.groupby("group")["label"].mean()

        assert list(rates.index) == ["east", "north", "south", "west"]
        assert rates.round(1).to_dict() == {"east": 0.2, "north": 0.3, "south": 0.2, "west": 0.3}
        assert rates.max() - rates.min() > 0.1
        np.testing.assert_allclose(sorted(half["weight"].unique()), [10 / 9, 5 / 3, 5 / 2, 4.0])


def test_subscribers_are_as_described() -> None:
    """Families in Mexico leave far more often than the scores say; nobody else is off by as much."""
    for half in frames("subscribers"):
        off = (half["label"] - half["score"]).groupby([half["plan"], half["country"]]).mean()
        assert off.idxmax() == ("family", "MX")
        assert off.max() > 0.1
        assert off.drop(("family", "MX")).abs().max() < 0.1


def test_portfolio_is_as_described() -> None:
    """Months of 2,000 loans, one probability for each grade, and more defaults from July 2024 on."""
    row = next(line for line in README.splitlines() if line.startswith(f"| `{PORTFOLIO[0]}"))
    stated = [float(value) for value in re.findall(r"\d\.\d{3}", row.split("|")[-2])]
    for frame, ece in zip((read(FOLDER / name) for name in PORTFOLIO), stated, strict=True):
        assert list(frame.columns) == ["id", "month", "grade", "pd", "default"]
        assert set(frame["month"].value_counts()) == {2_000}
        assert frame["month"].is_monotonic_increasing
        assert len(frame[["grade", "pd"]].drop_duplicates()) == frame["grade"].nunique() == 7
        named = frame.rename(columns={"pd": "score", "default": "label"})
        assert round(raw_ece(named), 3) == ece
        late = frame["month"] >= "2024-07"
        for part, ratio in ((frame[~late], 1.08), (frame[late], 1.66)):
            if len(part):
                assert part["default"].mean() / part["pd"].mean() == pytest.approx(ratio, abs=0.03)


def test_forecasts_and_answers_are_as_described() -> None:
    """600 days with every forecast, each model's answer to 500 questions, and which of them is the surest."""
    days, said = (read(FOLDER / name) for name in SEVERAL)
    names = ["day", "climatology", "fc_ensemble", "fc_radar", "fc_sharp", "fc_yes_no", "rain"]
    assert (list(days.columns), len(days)) == (names, 600)
    assert days[names[1:]].apply(lambda one: one.between(0, 1).all()).all()
    assert set(days["fc_yes_no"]) == {0, 1}
    assert list(said.columns) == ["model", "question", "confidence", "correct", "said"]
    assert said.groupby("model")["question"].nunique().to_dict() == dict.fromkeys(
        ["aster", "birch", "cedar"], 500
    )
    gap = said.groupby("model")["confidence"].mean() - said.groupby("model")["correct"].mean()
    assert gap.idxmax() == "cedar"
    assert gap["cedar"] > 0.1
    assert set(said["said"][said["confidence"] >= 0.95]) == {"almost certain"}
    assert said["said"][said["confidence"] < 0.7].str.fullmatch(r"\d+%").all()


@pytest.mark.parametrize("name", SETS)
def test_readme_states_the_raw_ece(name: str) -> None:
    """The raw ECE in the README's table is what the files give, plainly too large but for two."""
    row = next(line for line in README.splitlines() if line.startswith(f"| `{name}_calibration."))
    stated = [float(value) for value in re.findall(r"\d\.\d{3}", row.split("|")[-2])]
    measured = [raw_ece(half) for half in frames(name)]

    assert stated == [round(value, 3) for value in measured]
    assert (min(measured) > 0.05) == (name not in ("loans", "subscribers"))
