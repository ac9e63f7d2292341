"""The scores of every month against those of the first, from one file."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import calibcli
from command_line import Run

MONTHS = [f"2024-{k}" for k in range(1, 13)]


@pytest.fixture(scope="module")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a year of loans in no order, whose grades are worse from October on."""
    rng = np.random.default_rng(6)
    month = rng.permutation(np.repeat(MONTHS, 500))
    late = np.isin(month, MONTHS[9:])
    grades = np.array([0.001, 0.01, 0.05])
    score = np.where(late, rng.choice(grades, month.size, p=[0.2, 0.3, 0.5]), rng.choice(grades, month.size))
    frame = pd.DataFrame({"month": month, "pd": score, "smooth": score * rng.uniform(0.5, 1.0, month.size)})
    path = tmp_path_factory.mktemp("drift") / "loans.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("score", ["pd", "smooth"])
def test_each_month_is_what_two_files_would_give(loans: Path, score: str) -> None:
    """In the order of time, with p-values adjusted for all eleven."""
    frame = pd.read_csv(loans)
    found = calibcli.drift(frame, score=score, by="month")
    assert [one.name for one in found.columns] == MONTHS[1:]
    assert {*found.shifted} <= {*MONTHS[9:]}
    assert found.shifted[0] == "2024-10"
    first = frame[frame["month"] == MONTHS[0]]
    for one in found.columns:
        alone = calibcli.drift(first, frame[frame["month"] == one.name], score=score).columns[0]
        assert (one.psi, one.p_value, one.levels) == (alone.psi, alone.p_value, alone.levels)
        assert one.by_chance >= alone.by_chance
        assert one.p_joint >= one.p_value


def test_psi_by_hand(loans: Path) -> None:
    """The sum over grades of (q - p) ln(q / p), in pandas."""
    frame = pd.read_csv(loans)
    shares = pd.crosstab(frame["month"], frame["pd"], normalize="index")
    base, new = shares.loc["2024-1"], shares.loc["2024-11"]
    by_hand = float(((new - base) * np.log(new / base)).sum())
    assert calibcli.drift(frame, score="pd", by="month")["2024-11"].psi == pytest.approx(by_hand, rel=1e-12)


def test_page_and_document_say_when_it_began(loans: Path, run: Run) -> None:
    """The first month that differs and the one that differs most."""
    told = run("drift", str(loans), "-s", "pd", "--by", "month")
    assert told.code == 0
    assert "have shifted from 2024-1 in 3 of 11 other values of month: first " in told.out
    report = json.loads(run("drift", str(loans), "-s", "pd", "--by", "month", "--json").out)
    assert report["by"] == {"column": "month", "base": "2024-1"}
    still = run("drift", str(loans), "-s", "pd", "--by", "month", "--where", "month in 2024-1,2024-2")
    assert "No shift of the scores from 2024-1 is shown in 1 other value of month" in still.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing to compare with: one file, and no column that makes groups"),
        (("--by", "month", "--by", "smooth"), "--by names 2 columns"),
        (("--by", "month", "--on", "smooth"), "--on with one file"),
        (("--by", "month", "--where", "month==2024-1"), "every row has one value of 'month'"),
    ],
)
def test_what_cannot_be_compared_is_refused(loans: Path, run: Run, words: tuple[str, ...], said: str) -> None:
    """With what to type."""
    told = run("drift", str(loans), "-s", "pd", *words)
    assert told.code == 2
    assert said in told.err
    both = run("drift", str(loans), str(loans), "-s", "pd", "--by", "month")
    assert "--by compares the groups of one file, and two are named" in both.err


def test_values_of_further_columns_have_the_order_asked_for(tmp_path: Path, run: Run) -> None:
    """Grades by their mean score, or by what they add; intervals of numbers keep theirs."""
    rng = np.random.default_rng(2)
    scale = {"AAA": 0.001, "AA": 0.003, "A": 0.01, "BB": 0.03, "B": 0.1}
    shares = [[0.3, 0.25, 0.2, 0.15, 0.1], [0.1, 0.25, 0.25, 0.1, 0.3]]
    for name, share in zip(("old", "new"), shares, strict=True):
        grade = rng.choice(list(scale), 1_000, p=share)
        frame = pd.DataFrame(
            {"grade": grade, "pd": [scale[one] for one in grade], "age": rng.normal(40, 9, 1_000)}
        )
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    line = (
        "drift",
        str(tmp_path / "old.csv"),
        str(tmp_path / "new.csv"),
        "-s",
        "pd",
        "--on",
        "grade,age",
        "--json",
    )

    def levels(*words: str) -> tuple[list[str], list[str], list[float]]:
        _, grade, age = json.loads(run(*line, *words).out)["columns"]
        names = [one["where"].removeprefix("grade = ") for one in grade["levels"]]
        return names, [one["where"] for one in age["levels"]], [one["psi"] for one in grade["levels"]]

    plain = levels()
    assert plain[0] == sorted(scale)
    assert levels("--sort", "score")[0] == list(scale)
    assert levels("--sort", "name")[0] == sorted(scale)
    worst = levels("--sort", "worst")
    assert worst[2] == sorted(plain[2], reverse=True)
    assert worst[1] == plain[1]
    none = run("drift", str(tmp_path / "old.csv"), str(tmp_path / "new.csv"), "-s", "pd", "--sort", "score")
    assert "--sort orders the values of further columns" in none.err
