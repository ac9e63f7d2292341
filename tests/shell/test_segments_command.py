"""`segments` from the command line and from Python: the same segments whatever holds the rows."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibcli
from calibcli.commands import cutting
from calibcli.show.as_data import COLUMNS
from command_line import CHURN, SAMPLE, Run
from published import check

LOANS = SAMPLE / "loans_evaluation.parquet"
ON = ("--on", "country,device,age")


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Return rows whose scores are too high for one pair of values, with gaps, numbers and times."""
    rng = np.random.default_rng(5)
    many = 4_000
    frame = pd.DataFrame({"score": np.round(rng.beta(1.0, 2.0, many), 3)})
    frame["country"] = rng.choice(["BR", "DE", "FR", None], many, p=[0.4, 0.3, 0.2, 0.1])
    frame["mobile"] = rng.random(many) < 0.5
    frame["age"] = np.where(rng.random(many) < 0.05, np.nan, np.round(rng.gamma(4.0, 10.0, many), 1))
    frame["code"] = rng.integers(0, 30, many)
    wrong = (frame["country"] == "BR") & frame["mobile"]
    frame["label"] = (rng.random(many) < np.where(wrong, 0.5, 1.0) * frame["score"]).astype(int)
    frame["times"] = rng.integers(0, 3, many)
    return frame


def report(run: Run, *words: object) -> dict[str, Any]:
    """Return what the command finds, without what says where it was."""
    found = run("segments", *words, *CHURN, "--json", code=0).document
    for key in ("digest", "input"):
        del found[key]
    return found


def in_csv(frame: pd.DataFrame, path: Path) -> Path:
    """Write rows as CSV, booleans as other tools write them."""
    frame.to_csv(path, index=False)
    return path


ALL = ("--on", "country,mobile", "--on", "age,code", "--min-rows", "30")


def test_every_format_and_order_gives_the_same_segments(run: Run, rows: pd.DataFrame) -> None:
    """CSV, Parquet, JSON lines, shuffled rows in two files, a frame and arrays agree to the last bit."""
    first = report(run, in_csv(rows, "rows.csv"), *ALL)
    kinds = {one["name"]: one["kind"] for one in first["columns"]}
    assert kinds == {"country": "categories", "mobile": "categories", "age": "numbers", "code": "numbers"}
    assert first["columns"][0]["levels"][-1] == "country = (missing)"
    assert first["segments"][0]["where"] == ["country = BR", "mobile = true"]
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), "rows.parquet")
    rows.to_json("rows.jsonl", orient="records", lines=True)
    shuffled = rows.sample(frac=1.0, random_state=1)
    in_csv(shuffled[:1_500], "a.csv")
    in_csv(shuffled[1_500:], "b.csv")
    for inputs in (["rows.parquet"], ["rows.jsonl"], ["a.csv", "b.csv"]):
        found = report(run, *(Path(name) for name in inputs), *ALL)
        found["notes"] = first["notes"]
        assert found == first, inputs
    on = ["country", "mobile", "age", "code"]
    frame = calibcli.segments(rows, score="score", label="label", on=on, min_rows=30)
    assert [one.to_dict() for one in frame.segments] == first["segments"]
    arrays = calibcli.segments(
        rows["score"].to_numpy(), rows["label"].to_numpy(), on=rows[on], min_rows=30, jobs=1
    )
    assert arrays.mce_p == first["mce_p"]["value"]
    assert arrays.to_frame()["rows"].tolist() == [one["rows"] for one in first["segments"]]


def test_frequencies_conditions_and_artifacts_are_those_of_every_command(
    run: Run, rows: pd.DataFrame
) -> None:
    """A frequency repeats a row; --where is a file of those rows; --artifact is applied on the way."""
    path = in_csv(rows, "rows.csv")
    on = ("--on", "country,mobile", "--min-rows", "30")
    weighted = report(run, path, *on, "-w", "times", "--weights-are", "frequency")
    repeated = rows.loc[rows.index.repeat(rows["times"])]
    assert weighted == report(run, in_csv(repeated, "repeated.csv"), *on)
    some = report(run, path, *on, "--where", "age>=30")
    assert some == report(run, in_csv(rows[rows["age"] >= 30], "some.csv"), *on)
    assert run("fit", path, *CHURN, "--method", "platt", "-o", "cal.json").code == 0
    after = report(run, path, *on, "--artifact", Path("cal.json"))
    assert run("apply", "cal.json", path, "-o", "applied.csv").code == 0
    applied = pd.read_csv("applied.csv", engine="pyarrow")
    applied["score"] = applied["calibrated"]
    assert after["segments"] == report(run, in_csv(applied, "again.csv"), *on)["segments"]
    dropped = report(run, path, *on, "--on-missing", "drop")
    assert sum(one["rows"] for one in dropped["segments"] if not one["where"]) == rows["country"].count()


@pytest.mark.parametrize(("memory", "cells"), [("720K", "732"), ("500K", "508"), ("200K", "203")])
def test_rows_that_share_cells_keep_counts_and_residuals(
    run: Run, rows: pd.DataFrame, memory: str, cells: str
) -> None:
    """Over the memory allowed the statistic falls a little, rows and biases stay, and the report says so."""
    path = in_csv(rows, "rows.csv")
    on = ("--on", "country,mobile", "--min-rows", "30")
    exact, coarse = report(run, path, *on), report(run, path, *on, "--memory", memory)
    assert f"are rounded to about {cells} cells" in " ".join(coarse["notes"])
    by_name = {tuple(one["where"]): one for one in coarse["segments"]}
    for one in exact["segments"]:
        other = by_name[tuple(one["where"])]
        assert (one["rows"], one["positive"]) == (other["rows"], other["positive"])
        assert one["bias"] == pytest.approx(other["bias"], abs=1e-12)
        assert one["sigma"] - 0.3 < other["sigma"] < one["sigma"] + 1e-3
    parts = [in_csv(part, Path(name)) for name, part in (("b.csv", rows[900:]), ("a.csv", rows[:900]))]
    assert report(run, *parts, *on, "--memory", memory)["segments"] == coarse["segments"]


def test_segments_of_too_many_cells_are_refused(run: Run, rows: pd.DataFrame) -> None:
    """However little memory there is, levels of the columns are not joined."""
    crowded = run("segments", in_csv(rows, "rows.csv"), *CHURN, "--on", "age,code,country", "--memory", "20K")
    assert (crowded.code, "segments, which do not fit in the memory allowed" in crowded.err) == (3, True)


def test_every_row_is_in_one_segment_of_each_column() -> None:
    """Rows in = rows used: the segments of a column, tested or not, add up to all rows."""
    found = calibcli.segments(LOANS, score="score", label="label", on=["country", "device"], min_rows=2_000)
    for depth, start in ((1, "country"), (1, "device"), (2, "country")):
        parts = [one for one in found.segments if len(one.where) == depth and one.where[0].startswith(start)]
        assert sum(one.rows for one in parts) == 12_000
    reasons = {one.not_tested for one in found.segments}
    assert reasons == {None, "fewer than 2,000 rows"}
    assert all((one.p_value is None) == (one.not_tested is not None) for one in found.segments)


def test_the_answer_comes_first_in_every_format(run: Run) -> None:
    """Sentences, then the table; the JSON is what its schema says, and CSV has two rows a segment."""
    table = run("segments", LOANS, *CHURN, *ON).out
    lead = table.split("\n\n")[0]
    assert lead.startswith("Scores are too low for country = BR and device = desktop (1,029 rows): 0.225 pre")
    assert "jointly 95 %" in lead
    assert "1 segment is not tested: fewer than 100 rows (--min-rows).\n  country = AT and device" in table
    assert "| segment |" in run("segments", LOANS, *CHURN, *ON, "--format", "md").out
    found = run("segments", LOANS, *CHURN, *ON, "--json").document
    assert found["answer"].split() == lead.split()
    check(found, "segments")
    assert all(set(found[key]) == {"value", "method"} for key in ("mce", "mce_sigma", "mce_p"))
    out = Path("found.csv")
    assert run("segments", LOANS, *CHURN, *ON, "-o", out).code == 0
    lines = list(csv.DictReader(io.StringIO(out.read_text())))
    assert tuple(lines[0]) == COLUMNS
    assert [line["name"] for line in lines[:3]] == ["mce", "mce_sigma", "mce_p"]
    assert len(lines) == 3 + 2 * len(found["segments"])
    assert [float(line["mean_score"]) for line in lines[3::2]] == [
        one["mean_score"] for one in found["segments"]
    ]
    assert {line["status"] for line in lines[3:]} == {
        "stands out", "does not stand out", "fewer than 100 rows",
    }  # fmt: skip
    saved = Path("found.json")
    assert run("segments", LOANS, *CHURN, *ON, "-o", saved).code == 0
    assert "67 segments" in run("inspect", saved).out


def test_what_is_wrong_everywhere_is_said_once(run: Run) -> None:
    """Parts that are as wrong as the whole are left out; -v shows them, and why they are."""
    rng = np.random.default_rng(2)
    score = rng.random(8_000)
    frame = pd.DataFrame({"score": score, "label": (rng.random(8_000) < score**2).astype(int)})
    frame["part"] = rng.choice(["a", "b", "c"], 8_000)
    path = in_csv(frame, "rows.csv")
    short, long = run("segments", path, "--on", "part").out, run("segments", path, "--on", "part", "-v").out
    assert "Scores are too high over all 8,000 rows: " in short
    assert "3 of them no more than a larger segment around them: " in short
    assert short.count("part = a") == 1
    assert long.count("(as all rows)") == 3
    assert "part  categories: part = a, part = b and part = c" in long


def test_a_whole_that_is_wrong_for_one_part_says_which(run: Run) -> None:
    """The part comes first, and the larger segment names it."""
    rng = np.random.default_rng(4)
    score, part = rng.random(20_000), rng.choice(["a", "b"], 20_000, p=[0.2, 0.8])
    label = rng.random(20_000) < np.where(part == "a", score**3, score)
    frame = pd.DataFrame({"score": score, "label": label.astype(int), "part": part})
    text = run("segments", in_csv(frame, "rows.csv"), "--on", "part").out
    assert "Scores are too high for part = a" in text
    assert "all rows (only for part = a)" in text
    assert "Scores are too high over all" not in text


def test_calibrated_rows_say_what_would_have_been_seen(run: Run) -> None:
    """Nothing stands out, and the size that would have is named; few rows are not tested at all."""
    rng = np.random.default_rng(6)
    score = rng.random(5_000)
    frame = pd.DataFrame({"score": score, "label": (rng.random(5_000) < score).astype(int)})
    frame["part"] = rng.choice(["a", "b"], 5_000)
    path = in_csv(frame, "rows.csv")
    text = run("segments", path, "--on", "part").out
    assert "No segment stands out: of 3 segments, none is wrong by more than chance (jointly 95 %)." in text
    assert "With a probability of 80 % a bias of 0.0" in text
    assert "No segment could be tested." in run("segments", path, "--on", "part", "--limit", "60").out


def test_untested_segments_say_what_came_and_what_was_expected(run: Run) -> None:
    """Scores of one in ten thousand are too few events to be tested, and a hundred of them came."""
    frame = pd.DataFrame({"score": [1e-4] * 4_000 + [0.9999] * 1_000, "label": [0] * 4_000 + [1] * 1_000})
    frame["part"] = ["calm"] * 2_500 + ["wrong"] * 1_500 + ["sure"] * 1_000
    frame.loc[3_900:4_001, "label"] = [1] * 100 + [0] * 2
    text = run("segments", in_csv(frame, "rows.csv"), "--on", "part").out
    of_parts = (
        "part = wrong (1,500 rows, 100 events, 0.150 expected)",
        "part = sure (1,000 rows, 2 non-events, 0.100 expected)",
        "part = calm (2,500 rows, 0 events, 0.250 expected)",
    )
    assert "below 5); `verify --max-segment-bias` judges such segments, too.\n" in text
    assert [text.index(one) for one in of_parts] == sorted(text.index(one) for one in of_parts)


def test_values_that_share_a_segment_are_named(run: Run, rows: pd.DataFrame) -> None:
    """As they say nothing under the name `(other)`: the option to tell them apart does."""
    asked = ("segments", in_csv(rows, "rows.csv"), *CHURN, "--on", "country", "--min-rows", "30")
    said = "country = (other) is all but the 2 most frequent values: 'FR'; --max-values 3 tells them apart"
    assert said in " ".join(run(*asked, "--max-values", "2", code=0).out.split())
    assert "(other)" not in run(*asked, "--max-values", "3", code=0).out
    many = in_csv(rows.assign(country=np.arange(len(rows)).astype(str)), "many.csv")
    shown = run("segments", many, *CHURN, "--on", "country", "--categorical", "country", code=0).out
    sentence = "country = (other) is all but the 10 most frequent values; a larger --max-values"
    assert sentence in " ".join(shown.split())
    assert "thousands" not in shown
    parted = [f"{1_000 + place % 3_000:,}" for place in range(len(rows))]
    shown = run("segments", in_csv(rows.assign(sum=parted), "parted.csv"), *CHURN, "--on", "sum", code=0).out
    assert "is taken for text: export thousands without commas" in " ".join(shown.split())


def test_columns_that_settle_the_label_are_named(run: Run) -> None:
    """The outcome in other words is no segment, and few rows may look so by chance."""
    rng = np.random.default_rng(7)
    score = rng.random(400)
    frame = pd.DataFrame({"score": score, "label": (rng.random(400) < score).astype(int)})
    frame["part"] = rng.choice(["a", "b"], 400)
    frame["repaid"] = frame["label"].map({0: "yes", 1: "no"})
    path, on = in_csv(frame, "rows.csv"), ("--on", "part,repaid")
    said = "note: column 'repaid' settles the label: all rows of a value have the same one."
    limit = ("--max-segment-bias", "0.1")
    for command, *more in (["segments"], ["verify", *limit], ["fit", "-m", "segments", "-o", "m"]):
        ended = run(command, path, *on, *more)
        text = ended.out + ended.err
        assert said in text
        assert text.count("settles the label") == 1
    for command, *more in (["measure"], ["verify", "--max-ece", "0.9"], ["fit", "-o", "map"]):
        for by in ("repaid", "part"):
            ended = run(command, path, "--by", by, *more, *(["--force"] if command == "fit" else []))
            assert (said in ended.out + ended.err) == (by == "repaid")
    assert "settles the label" not in run("segments", in_csv(frame.head(15), "few.csv"), *on).out


def test_too_many_segments_and_summaries_are_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """More segments than can be told, and rows without columns."""
    monkeypatch.setattr(cutting, "MOST_SEGMENTS", 20)
    assert "makes 68 segments" in run("segments", LOANS, *CHURN, *ON, code=2).err
    part = Path("part.json")
    assert run("measure", LOANS, *CHURN, "--summary-out", part).code == 0
    assert run("segments", part, *CHURN, "--on", "country").code == 2


@given(st.lists(st.sampled_from(["0", "1", "2.5", "x", "TRUE", "", " 7 ", "007"]), min_size=2, max_size=12))
def test_text_and_csv_are_cut_alike(values: list[str]) -> None:
    """A column of text in memory has the levels of the same column in CSV."""
    label = [k % 2 for k in range(len(values))]
    text = pd.DataFrame({"score": 0.5, "label": label, "col": values})
    said = {"score": "score", "label": "label", "on": "col"}
    in_memory = calibcli.segments(text, **said)
    read = pd.read_csv(io.StringIO(text.to_csv(index=False)), dtype={"col": str}, keep_default_na=False)
    assert in_memory.report.columns == calibcli.segments(read, **said).report.columns
    assert sum(one.rows for one in in_memory.segments if one.where) == len(values)


def test_a_name_with_a_comma_is_typed_in_quotes(run: Run) -> None:
    """As in CSV; in Python a list has each name by itself."""
    frame = pd.DataFrame({"score": [0.2, 0.8] * 200, "label": [0, 1] * 200, "a": [1, 1, 2, 2] * 100})
    frame['in "EU", y/n'] = ["y", "n", "n", "n"] * 100
    found = report(run, in_csv(frame, "rows.csv"), "--on", '"in ""EU"", y/n",a', "--numeric", "a")
    assert [one["name"] for one in found["columns"]] == ['in "EU", y/n', "a"]
    called = calibcli.segments(frame, score="score", label="label", on=['in "EU", y/n', "a"], numeric=["a"])
    assert [one.to_dict() for one in called.segments] == found["segments"]


def test_infinite_numbers_are_numbers_in_every_format(run: Run) -> None:
    """A ratio by 0 does not make a column of words of its numbers."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"score": rng.random(400), "label": rng.integers(0, 2, 400)})
    frame["ratio"] = np.where(rng.random(400) < 0.05, np.inf, rng.random(400))
    found = report(run, in_csv(frame, "rows.csv"), "--on", "ratio")
    frame.to_parquet("rows.parquet")
    assert found["columns"][0]["kind"] == "numbers"
    assert found == report(run, Path("rows.parquet"), "--on", "ratio")


def test_further_scores_are_looked_at_each_by_itself(run: Run, rows: pd.DataFrame) -> None:
    """Each is a slice in the shape of the first with what the command says of it alone, in every format."""
    frame = rows.assign(other=np.round(rows["score"] ** 1.5, 3))
    path = in_csv(frame, "rows.csv")
    on = ("--on", "country,mobile", "--min-rows", "30")
    requested = (path, "-y", "label", *on, "--json")
    both = run("segments", *requested, "-s", "score", "-s", "other").document
    check(both, "segments")
    for name, found in (("score", both), ("other", both["slices"]["score=other"])):
        alone = run("segments", *requested, "-s", name).document
        assert "slices" not in alone
        assert all(found[key] == alone[key] for key in ("mce", "mce_p", "segments", "tested", "input"))
    assert "Column other: " in both["answer"]
    assert "Column other" in run("segments", path, "-y", "label", *on, "-s", "score", "-s", "other").out
    table = run("segments", path, "-y", "label", *on, "-s", "score", "-s", "other", "--format", "csv")
    assert {line["score"] for line in csv.DictReader(io.StringIO(table.out))} == {"score", "other"}
    called = calibcli.segments(frame, score=["score", "other"], label="label", on=["country", "mobile"])
    assert list(called.slices) == ["score=other"]
    assert set(called.to_frame()["score"]) == {"score", "other"}
