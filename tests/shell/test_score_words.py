"""Scores in words: a run with phrases and percentages is the run with their numbers, byte for byte."""

import csv
import json
import random
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

import calibcli
from calibcli.data.faults import MOST_PHRASES
from calibcli.data.score_words import number_in, score_map_of
from calibcli.errors import CalibcliError
from calibcli.names import Scale
from command_line import Run

PHRASES = {"almost certain": 0.97, "very likely": 0.9, "likely": 0.7, "even": 0.5, "unlikely": 0.2}
MAP = ",".join(f"{phrase}={number}" for phrase, number in PHRASES.items())
COLUMNS = ("-s", "confidence", "-y", "correct")
Rows = dict[str, list[object]]


def written(rows: Rows, path: Path) -> None:
    """Write rows as the suffix of a file says."""
    table = pa.table(rows)
    match path.suffix:
        case ".parquet":
            pq.write_table(table, path)
        case ".arrow":
            feather.write_feather(table, path)
        case ".jsonl":
            path.write_text(table.to_pandas().to_json(orient="records", lines=True))
        case _:
            table.to_pandas().to_csv(path, index=False)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of one name in two folders: scores in words, and the numbers that they stand for."""
    chance = random.Random(3)  # noqa: S311 - rows for a test
    said: list[object] = []
    meant: list[float | None] = []
    for _ in range(400):
        number = chance.randint(1, 99)
        phrase = chance.choice(list(PHRASES))
        choices: list[tuple[object, float | None]] = [
            (phrase, PHRASES[phrase]),
            (f" {phrase.upper()}", PHRASES[phrase]),
            (f"{number}%", number / 100),
            (f"{number} %", number / 100),
            (repr(number / 100), number / 100),
        ]
        text, score = chance.choice(choices)
        said.append(text)
        meant.append(score)
    label: list[object] = [int(chance.random() < (score or 0.0)) for score in meant]
    group: list[object] = [chance.choice("ab") for _ in meant]
    found = {}
    for name, scores in (("words", said), ("numbers", list(meant))):
        folder = found[name] = tmp_path_factory.mktemp(name)
        rows: Rows = {"confidence": scores, "other": meant[::-1], "correct": label, "model": group}
        for kind in ("csv", "parquet", "arrow", "jsonl"):
            written(rows, folder / f"answers.{kind}")
    (found["words"] / "map.csv").write_text("".join(f"{one},{number}\n" for one, number in PHRASES.items()))
    (found["words"] / "map.json").write_text(json.dumps(PHRASES))
    return found


@pytest.mark.parametrize(
    "words",
    [
        ("measure", "answers.csv", *COLUMNS, "--by", "model"),
        ("measure", "answers.parquet", *COLUMNS, "--json"),
        ("measure", "answers.arrow", *COLUMNS, "-m", "aurc,bias"),
        ("measure", "answers.jsonl", *COLUMNS),
        ("measure", "answers.csv", *COLUMNS, "--where", "model==a", "--jobs", "2"),
        ("verify", "answers.parquet", *COLUMNS, "--max-ece", "0.3"),
        ("compare", "answers.csv", *COLUMNS, "-s", "other"),
        ("plan", "--like", "answers.csv", "-s", "confidence", "--max-ece", "0.1"),
        ("drift", "answers.csv", "answers.parquet", "-s", "confidence"),
        ("segments", "answers.csv", *COLUMNS, "--on", "model"),
    ],
)
def test_words_give_what_their_numbers_give(
    words: tuple[str, ...], folders: dict[str, Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every byte of the page, whatever the format and the command."""
    found = {}
    for name, folder in folders.items():
        monkeypatch.chdir(folder)
        found[name] = run(*words, *(("--score-map", MAP) if name == "words" else ()))
    assert found["words"].code in (0, 1, 2), found["words"].err
    assert found["words"].out
    assert found["words"].out == found["numbers"].out


def bare(document: Any) -> Any:
    """Return a document without its phrases, and without the digest of its own text."""
    if not isinstance(document, dict):
        return document
    return {key: bare(one) for key, one in document.items() if key not in ("digest", "score_map")}


@pytest.mark.parametrize(
    ("kind", "by"),
    [
        ("csv", ()),
        ("jsonl", ()),
        ("parquet", ("--by", "model")),
        ("arrow", ("--method", "segments", "--on", "model")),
        ("csv", ("--method", "segments", "--on", "model")),
    ],
)
def test_a_map_reads_the_words_that_it_was_fitted_to(
    kind: str, by: tuple[str, ...], folders: dict[str, Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The artifact differs by its phrases alone, and `apply` needs no option; pictures are the same."""
    method = () if "--method" in by else ("--method", "platt")
    artifacts, columns, pictures = {}, {}, {}
    for name, folder in folders.items():
        monkeypatch.chdir(folder)
        more = ("--score-map", "map.json" if kind == "csv" else "map.csv") if name == "words" else ()
        run("fit", f"answers.{kind}", *COLUMNS, *by, *method, *more, "-o", "cal.json", "--force", code=0)
        artifacts[name] = json.loads(Path("cal.json").read_text())
        run(
            "apply", "cal.json", f"answers.{kind}", "-s", "confidence", "-o", f"out.{kind}", "--force", code=0
        )
        again = run(
            "apply", "cal.json", f"answers.{kind}", "-s", "confidence", "--to", "csv", "--keep", "none"
        )
        columns[name] = again.out
        exported = run("export", "cal.json", "--to", "python")
        assert ("in words, almost certain=0.97,even=0.5," in exported.err) == (name == "words")
        run("measure", f"answers.{kind}", *COLUMNS, "--artifact", "cal.json", "-m", "brier", code=0)
        if not by and kind == "csv":
            run("plot", f"answers.{kind}", *COLUMNS, *more, "-o", "r.svg", "--force", code=0)
            pictures[name] = Path("r.svg").read_bytes()
    assert columns["words"] == columns["numbers"]
    assert columns["words"].count("\n") == 401
    assert pictures.get("words") == pictures.get("numbers")
    one = artifacts["words"]["pooled"] if by[:1] == ("--by",) else artifacts["words"]
    assert one["input"]["score_map"] == PHRASES
    assert bare(artifacts["words"]) == bare(artifacts["numbers"])


def test_python_takes_words_from_arrays_and_frames(folders: dict[str, Path]) -> None:
    """A mapping beside an array, a Series, a frame of pandas or polars, and a map that knows its words."""
    with (folders["words"] / "answers.csv").open() as file:
        rows = list(csv.DictReader(file))
    said, label = [row["confidence"] for row in rows], [int(row["correct"]) for row in rows]
    meant = pq.read_table(folders["numbers"] / "answers.parquet")["confidence"].to_pylist()
    wanted = calibcli.measure(meant, label)["ece"]
    frame = pd.DataFrame({"confidence": said, "correct": label})
    columns = {"score": "confidence", "label": "correct", "score_map": PHRASES}
    for found in (
        calibcli.measure(np.array(said), label, score_map=PHRASES),
        calibcli.measure(pd.Series(said), label, score_map=folders["words"] / "map.json"),
        calibcli.measure(frame, **columns),
        calibcli.measure(pl.DataFrame(frame.to_dict("list")), **columns),
    ):
        assert found["ece"].value == wanted.value
        assert found["ece"].interval == wanted.interval
    fitted = calibcli.fit(np.array(said), label, method="platt", score_map=PHRASES)
    assert (
        fitted.predict(np.array(said)).tolist()
        == calibcli.fit(meant, label, method="platt").predict(meant).tolist()
    )


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_unknown_phrases_are_counted_and_refused_or_left_out(kind: str, run: Run) -> None:
    """Each with its number and its first row; a blank is missing, not a phrase."""
    scores: list[object] = ["likely", "Maybe", "60%", "who knows", "maybe", None, " ", "likely"] * 20
    written({"score": scores, "label": [0, 1] * 80}, Path(f"a.{kind}"))
    words = ("measure", f"a.{kind}", "--score-map", "likely=.7")
    refused = run(*words, "-m", "brier")
    assert refused.code != 0
    assert "20 of 160 values are missing" in refused.err or "40 of 160 values are missing" in refused.err
    dropped = run(*words, "-m", "brier", "--on-missing", "drop")
    assert "100 rows with a missing value dropped" in dropped.out
    assert "'maybe' (40, first at row 2), 'who knows' (20, first at row 4)" in dropped.out
    written({"score": scores[:5] * 20, "label": [0, 1] * 50}, Path(f"a.{kind}"))
    unknown = run(*words, "-m", "brier")
    assert unknown.code != 0
    assert "60 of 100 values are neither a number nor a phrase of --score-map: " in unknown.err
    assert "'maybe' (40, first at row 2), 'who knows' (20, first at row 4)" in unknown.err
    artifact, out = Path("cal.json"), Path("out.csv")
    run("fit", *words[1:], "--on-missing", "drop", "--method", "platt", "-o", artifact, code=0)
    assert run("apply", artifact, words[1], "--to", "csv", "-o", out).code != 0
    null = run("apply", artifact, words[1], "--on-missing", "null", "--to", "csv", "-o", out, code=0)
    assert "'maybe' (40, first at row 2)" in null.err
    assert sum(line.endswith(",") for line in out.read_text().splitlines()) == 60


@pytest.mark.parametrize("phrase", ["3,65 %", "0,8"])
def test_numbers_with_a_comma_are_no_phrases(phrase: str, run: Run, tmp_path: Path) -> None:
    """They were offered to be given a number each."""
    written({"score": [phrase, "80%"] * 20, "label": [1, 0] * 20}, tmp_path / "a.csv")
    words = ("measure", tmp_path / "a.csv", "-m", "bias", "--scale", "percent")
    refused = run(*words, code=3)
    assert "hint: numbers need a decimal point, not a comma: --decimal , reads commas in CSV" in refused.err
    run(*words, "--decimal", ",", code=0)


@pytest.mark.parametrize(
    ("phrase", "entry"),
    [
        ("About  0.8", "'about 0.8=NUMBER'"),
        ("~0.8", "'~0.8=NUMBER'"),
        ("0.8.", "0.8.=NUMBER"),
        ("8/10", "8/10=NUMBER"),
        ("I don't know", "'i don'\"'\"'t know=NUMBER'"),
        ("long " * 20, "likely=NUMBER"),
    ],
)
def test_a_refused_phrase_says_how_it_gets_a_number(run: Run, phrase: str, entry: str) -> None:
    """Its own entry is there to copy, with how many rows have it; what no line can hold goes to a file."""
    written({"score": [phrase, "80%", "60 %"] * 20, "label": [1, 0] * 30}, Path("a.csv"))
    words = ("measure", "a.csv", "-m", "bias", "--score-map")
    refused = run(*words, "rare=.1", code=3)
    assert f"such as .7, with --score-map {entry} or --score-map FILE" in refused.err
    assert f"{repr(' '.join(phrase.casefold().split()))[:50]}" in refused.err
    assert "(20, first at row 1)" in refused.err
    if "likely" not in entry:
        assert "60 rows" in run(*words, shlex.split(entry)[0].replace("NUMBER", "0.8"), code=0).out
    Path("map.json").write_text(json.dumps({phrase: 0.8}))
    assert "60 rows" in run(*words, "map.json", code=0).out


def test_phrases_of_a_second_column_may_all_be_beyond_the_first(run: Run) -> None:
    """So many are told apart of all columns together that none of its own need be."""
    scores = {"one": [f"about {at}" for at in range(MOST_PHRASES)], "two": ["maybe"] * MOST_PHRASES}
    written({**scores, "label": [0, 1] * (MOST_PHRASES // 2)}, Path("a.csv"))
    scales = ("-s", "one", "-s", "two", "-y", "label", "--score-map", "likely=.7")
    refused = run("compare", "a.csv", *scales, code=3)
    assert "of --score-map: other texts (1,000, first at row 1)" in refused.err


def test_a_state_keeps_its_phrases(run: Run, folders: dict[str, Path]) -> None:
    """Rows read by other numbers cannot be added to it, and the command that goes on is said whole."""
    state, rows = Path("gate.json"), folders["words"] / "answers.csv"
    words = ("verify", rows, *COLUMNS, "--max-ece", "0.4", "--state", state)
    assert run(*words, "--score-map", MAP).code in (0, 3)
    assert "numbers of phrases" in run(*words, "--score-map", MAP.replace("likely=0.7", "likely=0.6")).err
    assert "--score-map 'almost certain=0.97" in run("inspect", state).out


def test_words_alone_are_percentages_where_that_is_said(run: Run) -> None:
    """`--scale percent` reads 85, 85% and 85.0 alike without a table, and doubts numbers up to 1."""
    label = [0, 1, 1, 0] * 30
    written({"score": ["85%", "20", "60.0 %", "5"] * 30, "label": label}, Path("a.csv"))
    written({"score": [85, 20, 60, 5] * 30, "label": label}, Path("a.parquet"))
    written({"score": [0.85, 0.2, 0.6, 0.05] * 30, "label": label}, Path("b.csv"))
    shown = [
        run("measure", Path(name), "--scale", scale, "--json").out
        for name, scale in (("a.csv", "percent"), ("a.parquet", "percent"), ("b.csv", "prob"))
    ]
    first, *others = (json.loads(one)["measures"] for one in shown)
    assert all(one == first for one in others)
    assert "pass --scale percent" in run("measure", "a.csv").err
    assert "pass --scale percent" in run("measure", "a.parquet").err
    assert "no value is above 1" in run("measure", "b.csv", "--scale", "percent").out


def test_numbers_without_the_sign_of_their_neighbours_are_asked_about(run: Run) -> None:
    """Of 85% and 0.85 in one column on one scale, one is hardly what is meant."""
    label = [0, 1, 1, 0] * 30
    said = "60 scores have no percent sign, which others have, and are at most 1: read as percentages"
    written({"score": ["85%", "0.2", "60 %", "1"] * 30, "label": label}, Path("a.csv"))
    written({"score": ["85%", "20", "60 %", "0%"] * 30, "label": label}, Path("b.csv"))
    written({"score": [".85", "0.2", "1", "0.4"] * 30, "label": label}, Path("c.csv"))
    for name, there in (("a.csv", True), ("b.csv", False), ("c.csv", False)):
        found = run("measure", Path(name), "--scale", "percent", "-m", "bias").out
        # Once: that they lie among percentages is the same in other words.
        assert (said in found, "among percentages" in found) == (there, False), name
    assert said in run("inspect", "a.csv", "-s", "score", code=0).out
    instead = run("measure", "a.csv", "--score-map", "sure=1", "-m", "mean_score", "--json").out
    assert json.loads(instead)["measures"]["mean_score"]["value"] == pytest.approx(0.6625)
    run("fit", "b.csv", "--scale", "percent", "-o", "cal.json")
    assert said in run("apply", "cal.json", "a.csv", "-o", "out.csv").err
    written({"score": ["85%", "likely"], "label": [0, 1]}, Path("d.csv"))
    refused = run("apply", "cal.json", "d.csv", code=3).err
    assert "`apply --on-missing null` leaves their probability empty" in refused


@pytest.mark.parametrize("command", ["measure", "compare", "leaderboard"])
def test_a_column_on_another_scale_than_its_neighbours_is_named(run: Run, command: str) -> None:
    """Percentages beside a probability, wherever that stands; no word where all hold percentages."""
    rows = [f"{place % 90 + 5},{(place % 90 + 5) / 100},{place % 80},{place % 2}" for place in range(120)]
    Path("mixed.csv").write_text("\n".join(["a,climate,b,y", *rows]))
    more = ["--reference", "climate"] if command == "leaderboard" else ["-s", "climate"]
    name = command.replace("leaderboard", "compare")
    args = (name, "mixed.csv", "-y", "y", "--scale", "percent", "-m", "brier")
    said = " ".join(run(*args, "-s", "a", *more).out.split())
    assert "column 'climate': no value is above 1" in said
    assert "if it is on another scale than the other columns, comparisons with it are wrong" in said
    assert "column 'a'" not in said
    assert "no value is above 1" not in run(*args, "-s", "a", "-s", "b").out


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("likely", "has no '='"),
        ("likely=often", "'often' is not the number of 'likely'"),
        ("likely=95%", "write 0.95, or 95 with --scale percent"),
        ("likely=.7,LIKELY=.8", "has two numbers, 0.7 and 0.8"),
        ("NA=.5", "stands for a missing value"),
        ("85%=.5", "is a number already"),
        ("nowhere.csv", "cannot be read as phrases and numbers"),
        ("list.json", "it is no object"),
        ("twice.json", "'likely' has two numbers, 0.7 and 0.9"),
        ("wide.csv", "is no phrase with its number"),
        ("shares.csv", "write 0.97, or 97 with --scale percent"),
    ],
)
def test_a_table_of_phrases_is_refused_where_it_is_none(said: str, words: str) -> None:
    """With what is wrong, and how to write it."""
    Path("list.json").write_text("[1]")
    Path("twice.json").write_text('{"likely": 0.7, "likely": 0.9}')
    Path("wide.csv").write_text("likely,.7,3\n")
    # It was taken for a header, and its phrase for one that is not there.
    Path("shares.csv").write_text("almost certain,97%\nlikely,0.7\n")
    with pytest.raises(CalibcliError) as refused:
        score_map_of(said)
    assert words in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "phrase,probability\nVery  likely,0.9\n"),
        ("a.tsv", "very likely\t.9\n\n"),
        ("a.json", '{"very likely": 0.9}'),
    ],
)
def test_tables_of_phrases_are_files_too(name: str, content: str) -> None:
    """CSV with or without a header, and JSON."""
    Path(name).write_text(content)
    assert score_map_of(Path(name)) == (("very likely", 0.9),)
    assert score_map_of("very likely=.9") == (("very likely", 0.9),) == score_map_of({"Very likely ": 0.9})


@given(st.decimals(0, 100, places=4))
def test_a_percentage_is_the_nearest_double_to_its_hundredth(percentage: object) -> None:
    """As the fraction would have been written."""
    read: Callable[[str], float | None] = lambda text: number_in(text, {}, Scale.PROB)  # noqa: E731
    assert read(f"{percentage}%") == float(percentage.scaleb(-2))
    assert read(f"{percentage} %") == read(f"{percentage}%")
    assert number_in(f"{percentage}%", {}, Scale.PERCENT) == float(str(percentage))
    assert number_in(f"{percentage}%", {}, Scale.LOGIT) is None


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("value", "way"), [("95%", "--scale percent"), ("likely", "--score-map"), ("0,5", "a decimal point")]
)
def test_text_has_one_way_out_in_every_format(run: Run, kind: str, value: str, way: str) -> None:
    """A percentage, a phrase and a decimal comma are told apart wherever they stand."""
    path = Path(f"rows.{kind}")
    written({"confidence": [value] * 2, "correct": [0, 1]}, path)
    ended = run("measure", path, *COLUMNS, code=3)
    assert way in ended.err
    assert "--decimal" not in ended.err or kind == "csv"
    # Neither of several classes nor of weights are there phrases and percent signs.
    written({"p_a": [value] * 2, "p_b": [0.5] * 2, "correct": ["a", "b"]}, path)
    of_classes = run("measure", path, "--probs", "p_*", "-y", "correct", code=3).err
    written({"confidence": [0.5] * 2, "correct": [0, 1], "w": [value] * 2}, path)
    for said in (of_classes, run("measure", path, *COLUMNS, "-w", "w", code=3).err):
        assert "--score-map" not in said
        assert "--scale" not in said
        assert ("export numbers without percent signs" in said) == (value == "95%")
