"""`drift` from the command line and from Python: the same shifts whatever holds the rows."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import calibcli
from calibcli.show.as_data import COLUMNS
from calibcli.show.words import four
from command_line import SAMPLE, Run
from published import check

OLD, NEW = (SAMPLE / f"loans_{part}.parquet" for part in ("calibration", "evaluation"))
ON = ("--on", "country,age")


@pytest.fixture(scope="module")
def pair() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return old and new rows: the score and the country have shifted, the number has not."""
    rng = np.random.default_rng(2)
    frames = []
    for rows, power, countries in ((3_000, 1.0, ["AT", "DE"]), (700, 1.3, ["AT", "DE", "NL", None])):
        frame = pd.DataFrame({"pd": np.round(rng.random(rows) ** power, 2)})
        frame["country"] = rng.choice(countries, rows)
        frame["number"] = np.where(rng.random(rows) < 0.02, np.nan, np.round(rng.normal(size=rows), 1))
        frame["times"] = rng.integers(0, 3, rows)
        frames.append(frame)
    return frames[0], frames[1]


def found(run: Run, *words: object) -> dict[str, Any]:
    """Return the columns that the command compares, by name."""
    document = run("drift", *words, "--json", code=0).document
    check(document, "drift")
    return {one["name"]: one for one in document["columns"]} | {"answer": document["answer"]}


def test_every_format_gives_the_same_shifts(run: Run, pair: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """CSV, Parquet, JSON lines, one worker, a frame and arrays agree, and no label is read."""
    words = ("-s", "pd", "--on", "country", "--on", "number")
    answers = []
    for kind in ("csv", "parquet", "jsonl"):
        paths = [Path(f"{name}.{kind}") for name in ("old", "new")]
        for path, frame in zip(paths, pair, strict=True):
            if kind == "csv":
                frame.to_csv(path, index=False)
            elif kind == "parquet":
                frame.to_parquet(path, row_group_size=500)
            else:
                frame.to_json(path, orient="records", lines=True)
        answers.append(found(run, *paths, *words, "-j", "1" if kind == "parquet" else "2"))
    first = answers[0]
    assert all(one == first for one in answers)
    assert [first[name]["shifted"] for name in ("pd", "country", "number")] == [True, True, False]
    assert [one["where"] for one in first["country"]["levels"]][-2:] == [
        "country = NL",
        "country = (missing)",
    ]
    result = calibcli.drift(*pair, score="pd", on=["country", "number"])
    assert list(result) == ["pd", "country", "number"]
    assert "country" in result
    assert "city" not in result
    assert [one.to_dict() for one in result.columns] == [first[name] for name in ("pd", "country", "number")]
    assert result.shifted == ("pd", "country")
    assert (result.psi, result.p_value) == (first["pd"]["psi"], first["pd"]["p_joint"])
    assert result["country"].psi == first["country"]["psi"]
    assert result.to_frame()["psi"].sum() == pytest.approx(sum(one.psi for one in result.columns))
    assert "country: 2 levels are empty on one side" in " ".join(result.notes)
    assert calibcli.drift(pair[0]["pd"].to_numpy(), pair[1]["pd"].rename("other")).psi == result.psi
    for keywords in ({"on": pair[0]["country"].to_numpy()}, {"weight": pair[0]["number"].to_numpy()}):
        with pytest.raises(calibcli.UsageProblem, match="is an array, and there are two kinds of rows"):
            calibcli.drift(pair[0]["pd"].to_numpy(), pair[0]["pd"].to_numpy(), **keywords)
    with pytest.raises(KeyError, match="'age' was not compared; there are pd, country, number"):
        result["age"]
    with pytest.raises(calibcli.UsageProblem, match="one path each"):
        calibcli.drift(["a.csv", "b.csv"], "c.csv")


def test_frequencies_conditions_and_missing_scores(run: Run, pair: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """A row that counts twice is two rows; rows in are rows used and rows reported."""
    old, new = pair[0], pair[1].assign(pd=pair[1]["pd"].where(pair[1].index % 10 > 0))
    rows = [one.dropna(subset="pd").loc[lambda frame: frame["country"] == "DE"] for one in (old, new)]
    paths = [Path("old.csv"), Path("new.csv"), Path("old_2.csv"), Path("new_2.csv")]
    repeated = [one.loc[one.index.repeat(one["times"])] for one in rows]
    for path, frame in zip(paths, (old, new, *repeated), strict=True):
        frame.to_csv(path, index=False)
    weights = ("-w", "times", "--weights-are", "frequency")
    some = ("--where", "country==DE", "--on-missing", "drop")
    assert found(run, *paths[:2], "-s", "pd", *some, *weights) == found(run, *paths[2:], "-s", "pd")
    text = run("drift", *paths[:2], "-s", "pd", *some).out
    kept = [int((one["country"] == "DE").sum()) for one in (old, new)]
    missing = int(new.loc[new["country"] == "DE", "pd"].isna().sum())
    assert f"score=pd, {kept[1] - missing} rows\n" in text
    assert f"{len(new) - kept[1]} rows not selected" in text
    assert f"{missing} rows with a missing value dropped" in text
    assert "70 of 700" in run("drift", *paths[:2], "-s", "pd", code=3).err


def test_gaps_of_further_columns_are_never_dropped(run: Run, pair: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """Only a missing score drops a row: that values go missing is a shift like any other."""
    old, new = pair[0], pair[1].assign(pd=pair[1]["pd"].where(pair[1].index % 10 > 0))
    paths = [Path("old.csv"), Path("new.csv")]
    for path, frame in zip(paths, (old, new), strict=True):
        frame.to_csv(path, index=False)
    asked = (*paths, "-s", "pd", "--on", "country", "--on-missing", "drop")
    lost = f"note: new: {new['pd'].isna().sum()} rows with a missing value dropped (--on-missing drop).\n"
    assert run("drift", *asked, "--format", "csv").err.startswith(lost)
    country = found(run, *asked)["country"]
    gaps = new.loc[new["pd"].notna(), "country"].isna().sum()
    last = country["levels"][-1]
    assert (last["where"], last["old"], last["new"]) == ("country = (missing)", 0, gaps)
    assert country["shifted"]


def test_texts_and_tables_of_numbers(run: Run) -> None:
    """Text and Markdown open with the answer; CSV has a row for each column and three for each level."""
    text = run("drift", OLD, NEW, "-s", "score", *ON).out
    assert text.startswith("No shift of the scores is shown: PSI 0.00314, and up to ")
    assert "\nNo shift of country and age is shown.\n" in text
    assert "By convention a PSI below 0.1 is little" in text
    assert "12,000 rows" in text
    assert "age" not in text.split("PSI: what each level adds")[1]
    assert "age <=" in run("drift", OLD, NEW, "-s", "score", *ON, "-v").out
    assert "| column | PSI |" in run("drift", OLD, NEW, "-s", "score", "--format", "md").out
    document = found(run, OLD, NEW, "-s", "score", *ON)
    out = Path("drift.csv")
    assert run("drift", OLD, NEW, "-s", "score", *ON, "-o", out).code == 0
    lines = list(csv.DictReader(io.StringIO(out.read_text())))
    assert tuple(lines[0]) == COLUMNS
    del document["answer"]
    assert len(lines) == sum(1 + 3 * len(one["levels"]) for one in document.values())
    indexes = [float(one["value"]) for one in lines if one["kind"] == "drift"]
    assert indexes == [one["psi"] for one in document.values()]


def test_most_rows_in_other_values_are_said(run: Run) -> None:
    """Amounts with marks between thousands are text, and nearly all of them were `(other)` without a word."""
    for name, times in (("old", 1), ("new", 30)):
        rows = [f'0.{place % 9 + 1},"{times * place * 1.37:,.2f}"' for place in range(1, 900)]
        Path(f"{name}.csv").write_text("\n".join(["score,amount", *rows]))
    said = run("drift", "old.csv", "new.csv", "-s", "score", "--on", "amount").out
    assert "amount = (other) is all but the 20 most frequent values, 9" in said
    assert "a shift among these is not seen; are they numbers written as text" in said


def test_grades_are_compared_one_by_one(run: Run) -> None:
    """A score of few values has a level for each, unless bins are asked for; levels of many are cut short."""
    rng = np.random.default_rng(4)
    paths = [Path("old.csv"), Path("new.csv")]
    for path, share in zip(paths, (0.3, 0.7), strict=True):
        grade = rng.binomial(30, share, 4_000)
        pd.DataFrame({"pd": grade / 100, "code": grade}).to_csv(path, index=False)
    found_levels = found(run, *paths, "-s", "pd")["pd"]
    assert found_levels["kind"] == "values"
    assert all(one["where"].startswith("pd = 0.") for one in found_levels["levels"][1:])
    cut = found(run, *paths, "-s", "pd", "--bins", "4", "--on", "code", "--numeric", "code")
    assert (cut["pd"]["kind"], cut["code"]["kind"]) == ("quantiles", "quantiles")
    assert cut["answer"].startswith("The scores have shifted: PSI ")
    assert "more levels add less; -v shows all." in run("drift", *paths, "-s", "pd").out
    assert (
        found(run, *paths, "-s", "pd", "--on", "code", "--categorical", "code", "--max-values", "3")["code"][
            "levels"
        ][-1]["where"]
        == "code = (other)"
    )


def test_a_grid_says_so(run: Run) -> None:
    """Scores beyond the memory allowed are kept to cells, and the index moves by next to nothing."""
    exact = found(run, OLD, NEW, "-s", "score")["score"]["psi"]
    ended = run("drift", OLD, NEW, "-s", "score", "--memory", "20K")
    assert "did not fit in memory: scores are rounded to 1.4e-6" in ended.out
    coarse = found(run, OLD, NEW, "-s", "score", "--memory", "20K")["score"]["psi"]
    assert coarse == pytest.approx(exact, abs=1e-3)


@pytest.mark.parametrize("turned", [False, True])
def test_a_file_beyond_the_memory_shifts_nothing_by_rounding(turned: bool) -> None:  # noqa: FBT001 - a case
    """Of one law with a pile at 1/3, one file kept in cells and one exact: both are compared in cells."""
    rng = np.random.default_rng(0)
    both = []
    for rows in (60_000, 20_000):
        score = rng.random(rows)
        score[rng.random(rows) < 0.3] = 1 / 3
        both.append(pd.DataFrame({"score": score}))
    found = calibcli.drift(*(both[::-1] if turned else both), score="score", memory="8M")
    assert any("scores are rounded to 1.4e-6" in one for one in found.notes)
    assert found.psi < 0.01
    assert found.p_value > 0.01


def test_scores_next_to_1_are_told_apart_however_many_there_are() -> None:
    """Of over a million different ones together each was rounded to 4.8e-7, and PSI was .02."""
    rng = np.random.default_rng(1)
    old, new = (pd.DataFrame({"s": 1.0 - size * rng.exponential(size=600_000)}) for size in (1e-7, 1.3e-7))
    cuts = np.quantile(old["s"], np.arange(1, 10) / 10)
    shares = [np.bincount(np.searchsorted(cuts, one["s"]), minlength=10) / 600_000 for one in (old, new)]
    by_hand = float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())
    assert calibcli.drift(old, new, score="s").psi == pytest.approx(by_hand, rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_groups_beyond_the_memory_shift_nothing_by_rounding(seed: int) -> None:
    """Of one law, as PDs that lie close together: months are compared by the edges of their cells.

    By the mean of each month's rows in a cell, a cut between two such means shifted the whole cell.
    """
    rng = np.random.default_rng(seed)
    month = np.repeat(["2024-01", "2024-02", "2024-03"], 20_000)
    # In 50 cells for one, which are no grades.
    width = 100 if seed else 120
    frame = pd.DataFrame({"pd": 0.003 + rng.random(month.size) / width, "month": month})
    found = calibcli.drift(frame, score="pd", by="month", memory="1M")
    assert any("scores are rounded to 0.0002" in one for one in found.notes)
    exact = calibcli.drift(frame, score="pd", by="month", exact=True)
    for one, other in zip(found.columns, exact.columns, strict=True):
        assert one.kind == "quantiles"
        assert one.psi == pytest.approx(other.psi, abs=0.001)
        assert one.p_value > 0.01


@pytest.mark.parametrize(("width", "said"), [(0.0001, True), (0.5, False)])
def test_cells_that_hold_more_than_an_interval_are_named(width: float, said: bool) -> None:  # noqa: FBT001
    """No cut lies within a cell: scores of a narrow range were one level, PSI 0, without a word."""
    rng = np.random.default_rng(0)
    score, month = 0.5 + width * rng.random(2_000), np.repeat(["1", "2"], 1_000)
    score[month == "2"] += 0.5 * width * (score[month == "2"] < 0.5 + 0.5 * width)
    frame = pd.DataFrame({"pd": np.minimum(score, 1.0), "month": month})
    found = calibcli.drift(frame, score="pd", by="month", memory="1K")
    assert any("of the old scores lie within 0.0002 of each other" in one for one in found.notes) == said
    assert (found.psi > 1.0) != said
    assert calibcli.drift(frame, score="pd", by="month", exact=True).psi > 1.0


def test_the_score_that_was_found_in_old_rows_is_that_of_new_ones(run: Run) -> None:
    """A column that is guessed before it was compared with it, where only the new rows have that."""
    rng = np.random.default_rng(0)
    old, new = rng.random(500), rng.random(500)
    paths = [Path(f"{name}.csv") for name in ("old", "new", "other")]
    frames = [pd.DataFrame(one) for one in ({"pd": old}, {"score": new**3, "pd": new}, {"score": new})]
    for path, frame in zip(paths, frames, strict=True):
        frame.to_csv(path, index=False)
    assert list(found(run, *paths[:2])) == ["pd", "answer"]
    assert found(run, *paths[:2])["pd"] == found(run, *paths[:2], "-s", "pd")["pd"]
    assert "other.csv: there is no column 'pd'" in run("drift", paths[0], paths[2], code=3).err
    # An array has no name that could be another.
    assert calibcli.drift(frames[0], new).psi == calibcli.drift(*frames[:2]).psi


def test_what_a_report_of_drift_is_for(run: Run) -> None:
    """It can be looked at, and a picture is made from another kind of report."""
    path = Path("shift.json")
    assert run("drift", OLD, NEW, "-s", "score", "--on", "country", "-o", path, "--json").code == 0
    looked = run("inspect", path, code=0)
    psi = {one["name"]: four(one["psi"]) for one in json.loads(path.read_text())["columns"]}
    assert all(f"PSI of {name}" in looked.out and value in looked.out for name, value in psi.items())
    assert "write one with `calibcli measure" in run("plot", path, "-o", "shift.png", code=3).err


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
    assert [one.psi for one in calibcli.drift(frame[score], by=frame["month"]).columns] == [
        one.psi for one in found.columns
    ]
    assert [one.name for one in found.columns] == MONTHS[1:]
    assert {*found.shifted} <= {*MONTHS[9:]}
    assert found.shifted[0] == "2024-10"
    first = frame[frame["month"] == MONTHS[0]]
    for one in found.columns[::3]:
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
    told = run("drift", str(loans), "-s", "pd", "--by", "month", code=0)
    assert "have shifted from 2024-1 in 3 of 11 other values of month: first " in told.out
    report = run("drift", str(loans), "-s", "pd", "--by", "month", "--json").document
    assert report["by"] == {"column": "month", "base": "2024-1"}
    lines = csv.DictReader(
        io.StringIO(run("drift", loans, "-s", "pd", "--by", "month", "--format", "csv").out)
    )
    assert {one["rows"] for one in lines if one["kind"] == "drift"} == {"500"}
    still = run("drift", str(loans), "-s", "pd", "--by", "month", "--where", "month in 2024-1,2024-2")
    assert "No shift of the scores from 2024-1 is shown in 1 other value of month" in still.out


@pytest.mark.parametrize("column", ["PSI", "shift"])
def test_groups_are_named_whatever_their_column_is_called(loans: Path, run: Run, column: str) -> None:
    """A column of the table had the same title, and the table named no month."""
    Path("loans.csv").write_text(loans.read_text().replace("month", column, 1))
    told = run("drift", "loans.csv", "-s", "pd", "--by", column, code=0).out
    assert all(f"\n{month}  " in told for month in MONTHS[1:])


def test_values_of_further_columns_have_the_order_asked_for(run: Run) -> None:
    """Grades by their mean score, or by what they add; intervals of numbers keep theirs."""
    rng = np.random.default_rng(2)
    scale = {"AAA": 0.001, "AA": 0.003, "A": 0.01, "BB": 0.03, "B": 0.1}
    shares = [[0.3, 0.25, 0.2, 0.15, 0.1], [0.1, 0.25, 0.25, 0.1, 0.3]]
    for name, share in zip(("old", "new"), shares, strict=True):
        grade = rng.choice(list(scale), 1_000, p=share)
        frame = pd.DataFrame(
            {"grade": grade, "pd": [scale[one] for one in grade], "age": rng.normal(40, 9, 1_000)}
        )
        frame.to_csv(f"{name}.csv", index=False)
    line = ("drift", "old.csv", "new.csv", "-s", "pd", "--on", "grade,age", "--json")

    def levels(*words: str) -> tuple[list[str], list[str], list[float]]:
        _, grade, age = run(*line, *words).document["columns"]
        names = [one["where"].removeprefix("grade = ") for one in grade["levels"]]
        return names, [one["where"] for one in age["levels"]], [one["psi"] for one in grade["levels"]]

    plain = levels()
    assert plain[0] == sorted(scale)
    assert levels("--sort", "score")[0] == list(scale)
    # Whatever else is among the columns, and however numbers are written.
    for name in ("old", "new"):
        frame = pd.read_csv(f"{name}.csv")
        frame["grade"] = frame["grade"].map(
            dict(zip(scale, ("3.0", "20.0", "1.0", "4.0", "2.0"), strict=True))
        )
        frame["amount"] = rng.normal(size=1_000)
        frame.to_csv(f"{name}_numbers.csv", index=False)
    numbers = [f"{name}_numbers.csv" for name in ("old", "new")]
    by_score = found(run, *numbers, "-s", "pd", "--on", "amount,grade", "--sort", "score")["grade"]
    assert [one["where"] for one in by_score["levels"]] == [f"grade = {one}" for one in (3, 20, 1, 4, 2)]
    assert levels("--sort", "name")[0] == sorted(scale)
    worst = levels("--sort", "worst")
    assert worst[2] == sorted(plain[2], reverse=True)
    assert worst[1] == plain[1]
    none = run("drift", "old.csv", "new.csv", "-s", "pd", "--sort", "score")
    assert "--sort orders the values of further columns" in none.err


def test_a_p_value_that_draws_limit_is_marked(run: Run) -> None:
    """Nothing less can come of so many draws; a p-value above that is as it was found."""
    old, new, same = Path("old.csv"), Path("new.csv"), Path("same.csv")
    old.write_text("score,label\n" + "0.1,0\n0.2,1\n" * 60)
    new.write_text("score,label\n" + "0.8,0\n0.9,1\n" * 60)
    same.write_text("score,label\n" + "0.1,0\n0.2,1\n" * 50)
    (column,) = run("drift", old, new, "-s", "score", "--json").document["columns"]
    (other,) = run("drift", old, same, "-s", "score", "--json").document["columns"]
    far = run("drift", old, new, "-s", "score", "-v").out
    near = run("drift", old, same, "-s", "score", "-v").out
    assert "draws" in column["method"]
    assert column["at_most"] is True
    assert not other.get("at_most", False)
    assert "at most" in next(line for line in far.splitlines() if line.startswith("score "))
    assert "(p at most 0.002; " in far.splitlines()[0]
    assert "at most" not in near


@pytest.mark.parametrize("rows", [10, 25])
def test_files_of_few_different_rows_that_lie_apart_have_shifted(rows: int) -> None:
    """Where no value comes twice a level each would be on one side only, and PSI always the same."""
    low = {"score": np.linspace(0.0, 0.3, rows), "age": np.arange(20.0, 20.0 + rows)}
    high = {"score": np.linspace(0.7, 1.0, rows), "age": np.arange(60.0, 60.0 + rows)}
    found = calibcli.drift(low, high, score="score", on=["age"])
    assert [one.kind for one in found.report.columns] == ["quantiles", "quantiles"]
    assert set(found.shifted) == {"score", "age"}


def test_a_gate_fails_by_a_shift_that_is_shown_and_large(run: Run) -> None:
    """Few rows pass by whatever PSI, many pass a limit above it, and files and months fail alike."""
    rng = np.random.default_rng(4)
    law = [0.1, 0.2, 0.3, 0.4]
    paths = {}
    for name, rows, share in (("old", 4_000, law), ("new", 4_000, [0.2, 0.2, 0.2, 0.4]), ("few", 25, law)):
        paths[name] = Path(f"{name}.csv")
        grades = rng.choice([0.01, 0.02, 0.05, 0.2], rows, p=share)
        paths[name].write_text("pd,month\n" + "".join(f"{one},{name}\n" for one in grades))
    both = Path("both.csv")
    both.write_text(paths["old"].read_text() + paths["new"].read_text().removeprefix("pd,month\n"))
    for words, code, said in (
        ((paths["old"], paths["new"], "--max-psi", 0.1), 1, "FAIL  pd has shifted by a PSI above 0.1."),
        ((paths["old"], paths["new"], "--max-psi", 0.25), 0, "PASS  nothing is shown to have shifted by"),
        ((paths["old"], paths["few"], "--max-psi", 0), 0, "PASS  nothing is shown to have shifted."),
        (
            (both, "--by", "month", "--where", "pd>0", "--max-psi", 0.1),
            1,
            "FAIL  old has shifted by a PSI above 0.1.",
        ),
        ((paths["old"], paths["new"], "--max-psi", -1), 2, "--max-psi"),
        ((paths["old"], paths["new"], "--max-psi", "nan"), 2, "--max-psi"),
        ((paths["old"], paths["new"], "--max-psi", 10), 2, "--max-psi 10 seems to be in per cent"),
    ):
        ended = run("drift", *words, "-s", "pd")
        first = (ended.out or ended.err).partition("\n")[0]
        assert (ended.code, said in first) == (code, True), ended.out + ended.err
    document = run("drift", paths["old"], paths["new"], "-s", "pd", "--max-psi", 0.1, "--json").document
    check(document, "drift")
    assert document["gate"] == {"max_psi": 0.1, "failed_by": ["pd"], "status": "fail"}
    assert calibcli.drift(str(paths["old"]), str(paths["new"]), score="pd", max_psi=0.1).failed_by == ("pd",)


def test_rows_in_both_files_are_asked_about(run: Run) -> None:
    """An extract that grows shows no shift; rounded scores that agree by chance are no such rows."""
    rng = np.random.default_rng(4)
    score = rng.random(900)
    frames = {
        "old": score[:400],
        "grown": score,
        "part": score[:150],
        "fresh": rng.random(400),
        "rounded": rng.random(400).round(3),
    }
    for name, values in frames.items():
        pd.DataFrame({"score": values}).to_csv(f"{name}.csv", index=False)
    said = {"grown": "400 of 400 old scores", "part": "150 of 400 old scores", "fresh": None, "rounded": None}
    for name, some in said.items():
        shown = " ".join(run("drift", "old.csv", f"{name}.csv").out.split())
        assert (some or "are rows, or persons, in both?") in shown if some else "in both?" not in shown
    pd.DataFrame({"score": np.tile(score, 2), "month": np.repeat([1, 2], 900)}).to_csv(
        "months.csv", index=False
    )
    assert "900 of 900 old scores" in run("drift", "months.csv", "--by", "month").out
    pd.DataFrame({"score": rng.random(400).round(3)}).to_csv("again.csv", index=False)
    assert "in both?" not in run("drift", "rounded.csv", "again.csv").out
