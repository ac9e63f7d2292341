"""What `inspect` says of a file: what stands in it, what `measure` would stop at, and what to type next."""

import csv
import json
import shlex
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.data.fragments import kinds_as_read, list_fragments
from calibcli.names import Compression
from command_line import CHURN, SAMPLE, Run, in_csv

EVALUATION = SAMPLE / "churn_evaluation.parquet"
ROWS = [(0.1, 0), (0.4, 1), (0.6, 0), (0.9, 1)]
SEMICOLONS = "score;label\n" + "".join(f"{score};{label}\n" for score, label in ROWS)
CLASSES = [{"p_a": 0.2, "p_b": 0.5, "p_c": 0.3, "prediction": "b", "label": name} for name in "abc"]
OF_THE_PREDICTED = "no score is below 1/2: if each is the probability of the class predicted"


def scores(*some: float) -> str:
    """Return a file of these scores beside either label."""
    return "score,label\n" + "".join(f"{one},{label}\n" for label in "01" * 10 for one in some)


def told(rows: str | bytes, *said: str, but_not: str = "") -> tuple[str | bytes, tuple[str, ...], str]:
    """Return a file, what is said of it, and what is not."""
    return rows, said, but_not


WOULD_STOP = "`calibcli measure` would stop: "
# By what is looked at.
TOLD = {
    "options that the refusals of those before ask for": told(
        "score,label\n-2,no\n3.5,yes\n,yes\n",
        WOULD_STOP,
        "-s score -y label --on-missing drop --scale logit --positive yes\n",
    ),
    "labels in words": told(
        "score,label\n0.2,no\n0.7,yes\n0.6,yes\n", WOULD_STOP, "-s score -y label --positive yes\n"
    ),
    "labels that need no word": told(
        "score,label\n0.2,False\n0.7,True\n", "label   true/false", "-s score -y label\n", but_not="note "
    ),
    "logits": told("score,label\n-2,0\n3.5,1\n", WOULD_STOP, "-s score -y label --scale logit\n"),
    "missing scores": told(
        "score,label\n0.2,0\n,1\n0.4,1\n", WOULD_STOP, "-s score -y label --on-missing drop\n"
    ),
    "numbers beside text in another encoding": told(
        "name,score,label\nMüller,0.2,0\nJosé,0.7,1\n".encode("latin-1"),
        "name    text",
        "score   number",
        "label   whole number",
    ),
    "soft labels, which are read in no way": told(
        "score,label\n0.2,0.3\n0.7,0.6\n0.4,1\n", "soft labels are not read", but_not="next"
    ),
    "fields that are separated otherwise, as measure says": told(SEMICOLONS, "pass --delimiter ';'"),
    # As pipelines write them, beside the true class: no value of the label is what they speak of.
    "confidences": told("score,label\n0.5,NEG\n0.7,POS\n0.9,NEG\n", OF_THE_PREDICTED),
    "no confidences": told("score,label\n0.49,NEG\n0.7,POS\n0.9,NEG\n", but_not="below 1/2"),
    **{
        f"confidences whose label is {right}": told(
            f"score,label\n0.5,{wrong}\n0.7,{right}\n0.9,{wrong}\n", but_not="below 1/2"
        )
        for wrong, right in (("0", "1"), ("Wrong", "Right"), ("incorrect", "correct"))
    },
    # `-s prediction`, a column of texts, was offered where the probabilities stand beside it.
    "predicted classes in CSV": told(
        "\n".join((",".join(CLASSES[0]), *(",".join(map(str, row.values())) for row in CLASSES))),
        "--probs 'p_*' -y label\n",
    ),
    "predicted classes in JSON": told("\n".join(map(json.dumps, CLASSES)), "--probs 'p_*' -y label\n"),
    "marks in a name, which separate nothing": told(
        "score;x;y,label\n0.3,1\n0.4,0\n", "score;x;y  number", but_not="--delimiter"
    ),
    "commas in a name between semicolons": told(
        'score;"seen, by";label\n0.3;a;1\n0.4;b;0\n', "-s score -y label --delimiter ';'\n"
    ),
    # Of the labels J and N that of the higher scores, not the last one.
    "a decimal comma beside a sign": told(
        "pd;default\n"
        + "".join(f"{place % 90 + 1},5 %;{'N' if place % 90 < 60 else 'J'}\n" for place in range(300)),
        "--delimiter ';' --decimal , --scale percent --positive J\n",
    ),
    "a decimal comma in columns of no known name": told(
        "date;pop_24h;mm\n" + "01.01.2022;0,3;1,5\n" * 9, "-s SCORE -y LABEL --delimiter ';' --decimal ,\n"
    ),
    "a name that stands there twice": told(
        "score,score,label\n0.1,0.2,1\n", WOULD_STOP, "the header has 'score' more than once", but_not="next"
    ),
    # PDs in per cent were taken for logits, and logits of rare events for log-probabilities.
    "percentages, which may be logits": told(
        scores(0.4, 3.5, 17.0),
        "--scale percent is a guess: --scale logit reads such numbers, too",
        "-y label --scale percent\n",
    ),
    "logits, which may be log-probabilities": told(
        scores(-0.4, -3.5, -7.0),
        "--scale logit is a guess: --scale logprob reads such numbers, too",
        "-y label --scale logit\n",
    ),
    **{
        f"a first line that names no columns: {first}": told(
            f"{first}\n0.4,0\n0.6,1\n", "the first line must hold the column names", but_not="next"
        )
        for first in ("sep=;", "# exported by R", "0.3,1")
    },
    # With `--scale logit` all of them would be other numbers.
    "a few scores beyond": told(
        "score,label\n" + "0.2,0\n0.7,1\n" * 20 + "inf,1\n-inf,0\n",
        "mend these or leave them empty, as most values lie in [0, 1]",
        but_not="--scale",
    ),
    "every row, with a missing value or not, and one event in 5,000, which is no rate of 0": told(
        "score,label\n,1\n0.2,1\n" + "0.2,0\n" * 4_999,
        "5,001, 5,000 of them with score and label",
        "0.020 % (1 of 5,000 rows has label 1)",
        "0.2 to 0.2, 1 distinct value\n",
    ),
    # Read on another scale, or clipped, as the command that is offered does.
    "the range of percentages": told(
        scores(2.0, 40.0, 90.0), "0.02 to 0.9, 3 distinct values, as probabilities\n"
    ),
    "the range of logits": told(
        scores(-2.0, 0.0, 4.0), "0.119203 to 0.982014, 3 distinct values, as probabilities\n"
    ),
    "the range of scores next to 1": told(
        scores(0.2, 0.4, 1.0000001), "0.2 to 1, 3 distinct values, clipped to [0, 1]\n"
    ),
    # What is within them is no column.
    "keys that hold objects": told(
        '{"meta": {"n": 1}, "text": "x"}\n{"meta": null, "text": "y"}\n',
        "meta    object",
        "text    string",
        but_not="\nn ",
    ),
    # Any column of numbers stands in for the score, and the next line asks for its name.
    "log-probabilities of two tokens beside whether the answer is right": told(
        "logprob_A,logprob_B,correct\n-0.1,-2.3,true\n-0.7,-0.7,\n-0.2,-1.7,false\n",
        "-s SCORE -y correct --on-missing drop\n",
    ),
    "labels alone": told(
        "day,fc_a,rain\n0,0.5,1\n1,0.5,0\n2,0.5,0\n",
        "rows       3\n",
        "base rate  33.3 % (1 of 3 rows has label 1)\n",
        "-s SCORE -y rain\n",
        but_not="note ",
    ),
    "labels in words alone": told(
        "day,fc_a,rain\n0,0.5,yes\n1,0.5,no\n2,0.5,no\n",
        f"{WOULD_STOP}column 'rain': the labels are 'no' and 'yes'",
        "-s SCORE -y rain",
        but_not="base rate",
    ),
}


@pytest.mark.parametrize(("rows", "said", "unsaid"), TOLD.values(), ids=TOLD)
def test_inspect_tells(
    run: Run, tmp_path: Path, rows: str | bytes, said: tuple[str, ...], unsaid: str
) -> None:
    """What stands in a file and what `measure` would stop at; the command that it offers runs."""
    content = rows if isinstance(rows, bytes) else rows.encode()
    path = tmp_path / ("rows.jsonl" if content.startswith(b"{") else "rows.csv")
    path.write_bytes(content)
    found = run("inspect", path, code=0).out
    assert [one for one in said if one not in found] == []
    assert not unsaid or unsaid not in found
    last = found.splitlines()[-1]
    if last.startswith("next") and not {"SCORE", "LABEL", "VALUE"} & {*last.split()}:
        run(*shlex.split(last)[2:], code=0)


def test_inspect_says_what_each_kind_of_file_is(run: Run, artifact: Path) -> None:
    """Data, artifact and report are told apart and lead to the next command."""
    report = Path("report.json")
    run("measure", EVALUATION, *CHURN, "--json", "-o", report)
    assert "calibcli measure" in run("inspect", EVALUATION, code=0).out
    assert "scaling-binning" in run("inspect", artifact).out
    assert "smece" in run("inspect", report).out


def test_inspect_says_what_to_type_with_the_same_options(run: Run) -> None:
    """Else the next command would not find the columns."""
    Path("a.txt").write_text(SEMICOLONS)
    suggestion = run("inspect", "a.txt", "--delimiter", ";", "--json").document["suggestion"]
    assert suggestion.endswith("-s score -y label --delimiter ';'")
    assert run(*suggestion.replace("'", "").split()[1:]).code == 0
    tabs = Path("b.txt")
    tabs.write_text(SEMICOLONS.replace(";", "\t"))
    assert run("inspect", tabs, "--delimiter", "tab").out.rstrip().endswith("--delimiter tab")


def test_inspect_knows_rows_from_documents(run: Run) -> None:
    """An object on each line is data, whatever the file is called; a document has a schema."""
    lines = "".join(f'{{"score": {score}, "label": {label}, "l": [1]}}\n' for score, label in ROWS)
    for name in ("a.jsonl", "a.json", "rows"):
        Path(name).write_text(lines)
        shown = run("inspect", Path(name), "--json").document
        assert shown["kind"] == "jsonl"
        assert [one["name"] for one in shown["columns"]] == ["score", "label", "l"]
    for name in ("b.jsonl", "b.json"):
        Path(name).write_text(lines.splitlines()[0])
        assert run("inspect", Path(name), "--json", code=0).document["kind"] == "jsonl"


def test_inspect_looks_at_a_whole_directory(run: Run, tmp_path: Path) -> None:
    """It counts files and rows, and lists what the path stands for."""
    for country, rows in (("DE", 3), ("US", 5)):
        folder = Path(f"country={country}")
        folder.mkdir()
        pq.write_table(pa.table({"score": [0.5] * rows, "label": [1] * rows}), folder / "a.parquet")
    shown = run("inspect", tmp_path, "--json").document
    assert shown["facts"]["files"].startswith("2; ")
    assert (shown["facts"]["rows"], shown["facts"]["in the path"]) == ("8", "country")
    assert {"name": "country", "kind": "partition", "role": ""} in shown["columns"]


def test_inspect_says_of_each_column_what_its_values_read_as(run: Run) -> None:
    """By the first rows, compressed or not; a name that is there twice stands twice, each with its type."""
    kinds = {
        "a": ("1", "-7", "whole number"),
        "b": ("1e3", " .5 ", "number"),
        "c": ("True", "FALSE", "true/false"),
        "d": ("NA", "", "empty"),
        "e": ("0,5", "7", "number with a decimal comma"),
        "f": ("1", "x", "text"),
        "g": ("1,024", "7", "text"),
        "h": ("12,345", "0,345", "number with a decimal comma"),
        "A": ("NA", "2", "whole number"),
    }
    names = ["a", *kinds]
    rows = [names, *([kinds[name][place] for name in names] for place in (0, 1))]
    with Path("a.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    plain = Path("a.csv").read_bytes()
    for compression in Compression:
        with pa.CompressedOutputStream(f"{compression}.csv", compression.value) as packed:
            packed.write(plain)
    for name in ("a", *Compression):
        shown = run("inspect", f"{name}.csv", "--json").document["columns"]
        assert [(one["name"], one["kind"]) for one in shown] == [(name, kinds[name][2]) for name in names]


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"]])
def test_inspect_takes_no_whole_column_for_probabilities_of_a_row(run: Run, labels: list[object]) -> None:
    """JSON of columns as lists has one row of lists, the label among them."""
    path = Path("rows.json")
    path.write_text(json.dumps({"score": [0.3, 0.7], "label": labels}))
    shown = run("inspect", path, "--json", code=0).document
    assert shown["suggestion"] is None
    assert "orient='records'" in shown["facts"]["note"]
    assert [one["kind"].partition("<")[0] for one in shown["columns"]] == ["list", "list"]
    path.write_text(json.dumps({"score": [0.3, 0.7], "label": labels[0]}))
    assert "--probs score -y label" in run("inspect", path, code=0).out


def test_inspect_holds_one_row_of_text_at_a_time() -> None:
    """Rows that are looked at take no memory beside each other: a file may have a million columns."""
    path, width = Path("a.csv"), 1_000
    row = ",".join(f"0.{k:06d}" for k in range(width))
    path.write_text("\n".join([",".join(f"x{k}" for k in range(width)), *[row] * 100]))
    (fragment,) = list_fragments([str(path)])
    header = tuple(f"x{k}" for k in range(width))
    tracemalloc.start()
    try:
        kinds = kinds_as_read(fragment, header)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert set(kinds) == {(name, "number") for name in header}
    assert peak < 1e6, "100 rows of 58 bytes for each text are 5.8 MB"


@pytest.mark.parametrize("in_list", [True, False])
def test_inspect_says_what_logits_of_classes_need(run: Run, *, in_list: bool) -> None:
    """As of a score: the command that it offers runs."""
    logits = np.random.default_rng(3).normal(0.0, 3.0, (60, 3)).astype(np.float16)
    columns = {f"logit_{one}": pa.array(logits[:, place]) for place, one in enumerate("abc")}
    if in_list:
        columns = {"logits": pa.array(list(logits), pa.list_(pa.float16()))}
    path = Path("a.parquet")
    labels = logits.argmax(axis=1) if in_list else np.array(list("abc"))[logits.argmax(axis=1)]
    pq.write_table(pa.table({**columns, "target": labels}), path)
    shown = run("inspect", path, "--json", code=0).document
    asked = "logits" if in_list else "'logit_*'"
    assert shown["suggestion"] == f"calibcli measure {path} --probs {asked} -y target --scale logit"
    assert "pass --scale logit for logits" in shown["facts"]["note"]
    run(*shlex.split(shown["suggestion"])[1:], code=0)


def test_inspect_looks_at_columns_that_are_named(run: Run) -> None:
    """No usual name told it of, so that measure refused such a file once for each thing it has to be told."""
    path = Path("loans.csv")
    path.write_text("rating;pd_12m;out\nA;1,2;N\nB;17,5;Y\nB;;N\n")
    shown = run("inspect", path, "-s", "pd_12m", "-y", "OUT", "--json", code=0).document
    more = "--delimiter ';' --decimal , --on-missing drop --scale percent --positive Y"
    assert shown["suggestion"] == f"calibcli measure {path} -s pd_12m -y out {more}"
    assert shown["facts"]["base rate"] == "50.0 % (1 of 2 rows has label 1)"
    assert run(*shlex.split(shown["suggestion"])[1:]).code == 0
    assert run("inspect", path, "--delimiter", ";", "-s", "pd_21m", code=3).err.endswith("'pd_12m'?\n")
    # A default was meant for other files.
    Path("calibcli.toml").write_text('score = "p"\nlabel = "out"\n')
    assert "sets score, which has no effect here" in run("inspect", path, code=0).err


@pytest.mark.parametrize("times", [1, 3])
def test_inspect_compares_no_models_by_the_first_of_several_answers(run: Run, times: int) -> None:
    """Of repeated ids `compare` takes the first row; what measures all of them allows for their questions."""
    rows = [
        f"{model},q{q},0.{q % 9 + 1},{(q + k) % 2}" for model in "ab" for q in range(30) for k in range(times)
    ]
    path = Path("answers.csv")
    path.write_text("\n".join(["model,question,confidence,correct", *rows, ""]))
    shown = run("inspect", path, "--json", code=0).document
    assert shown["suggestion"].endswith("auroc" if times == 1 else "auroc --cluster question")
    assert ("models" in shown["facts"]) == (times == 1)
    assert run(*shlex.split(shown["suggestion"])[1:]).code == 0


def test_inspect_says_every_note_as_json(run: Run) -> None:
    """Why the rows would be refused, and that what it would type is a guess."""
    Path("rows.csv").write_text("pd,default_flag\n0.2,N\n0.7,Y\n")
    lines = run("inspect", "rows.csv", code=0).out.splitlines()
    notes = [line.removeprefix("note").strip() for line in lines if line.startswith("note")]
    note = run("inspect", "rows.csv", "--json", code=0).document["facts"]["note"]
    assert len(notes) == 2
    assert note == "; ".join(notes)


@pytest.mark.parametrize("label", ["it's", "yes:1", "a,b", "`id`", "-1", "$HOME"])
def test_inspect_types_labels_as_they_are(run: Run, label: str) -> None:
    """Whatever marks of a sentence or of a shell they hold; a part of one was typed."""
    path = Path("rows.csv")
    path.write_text(f'score,label\n0.5,"{label}"\n0.7,"{label}"\n0.2,no\n')
    shown = run("inspect", path, "--json", code=0).document["suggestion"]
    assert run(*shlex.split(shown)[1:], "--json", code=0).document["input"]["positive"] == label


@pytest.mark.parametrize(
    ("names", "score"), [("prob_0,prob_1", "prob_1"), ("p_event,p_none", "p_event"), ("p_cat,p_dog", "p_dog")]
)
def test_of_two_columns_of_classes_one_is_the_score(run: Run, names: str, score: str) -> None:
    """As predict_proba of scikit-learn leaves them: the largest of both is another question."""
    path, asked = Path("rows.csv"), names[: names.index("_") + 1]
    path.write_text(f"{names},label\n0.2,0.8,1\n0.6,0.4,0\n")
    shown = run("inspect", path, "--json", code=0).document
    assert shown["suggestion"] == f"calibcli measure {path} -s {score} -y label"
    assert f"--probs '{asked}*' looks at the larger of both" in shown["facts"]["note"]
    assert f"name '{score}' with --score" in run("measure", path, code=3).err


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_two_columns_that_do_not_sum_to_1_are_not_two_classes(run: Run, suffix: str) -> None:
    """Such as scores of two models, and of two labels of which a row may have both."""
    table = {"p_old": [0.2, 0.7, None], "p_new": [0.8, 0.4, 0.1], "label": [0, 1, 1]}
    path = Path(f"rows{suffix}")
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    for second, offered in ((0.4, "--probs 'p_*'"), (0.3, "-s p_new")):
        table["p_new"][1] = rows[1]["p_new"] = second
        if suffix == ".parquet":
            pq.write_table(pa.table(table), path)
        elif suffix == ".jsonl":
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        else:
            lines = (",".join("" if one is None else str(one) for one in row.values()) for row in rows)
            path.write_text("\n".join([",".join(table), *lines, ""]))
        shown = run("inspect", path, "--json", code=0).document
        said = run("measure", path, "-y", "label", code=3).err
        assert f"measure {path} {offered} -y label" in shown["suggestion"]
        assert ("of two classes" in shown["facts"].get("note", "")) == (second == 0.3)
        assert ("of two classes one probability is enough" in said) == (second == 0.3)
        assert ("or several classes with --probs 'p_*'" in said) == (second == 0.4)
    pq.write_table(pa.table({"p_a": ["x"], "p_b": ["y"], "label": [1]}), "text.parquet")
    assert "--probs" in run("measure", "text.parquet", code=3).err


@pytest.mark.parametrize("names", ["old new", "a b c", "0 1"])
def test_logits_of_models_are_none_of_classes(run: Run, names: str) -> None:
    """Where labels are 0 and 1 alone, and no column is called so; else they are tried as those of classes."""
    rng = np.random.default_rng(5)
    columns = {f"logit_{name}": rng.normal(0.0, 2.0, 60) for name in names.split()}
    path = in_csv("a.csv", {**columns, "label": np.arange(60) % 2})
    shown = run("inspect", path, "--json", code=0).document
    asked = "--probs 'logit_*' -y label --scale logit" if names == "0 1" else "-s SCORE -y label"
    assert shown["suggestion"] == f"calibcli measure {path} {asked}"
    assert ("base rate" in shown["facts"]) is (names != "0 1")


@pytest.mark.parametrize(("mark", "typed"), [(";", "';'"), ("|", "'|'"), (" ", "' '"), ("\t", "tab")])
def test_inspect_finds_the_separator_between_quoted_names(run: Run, mark: str, typed: str) -> None:
    """As R's `write.csv2` and `write.table` quote them: with commas expected that is no CSV at all."""
    path = Path("cohort.csv")
    lines = [mark.join([f'"{place}"', "0.3", '"yes"' if place % 3 else '"no"']) for place in range(40)]
    path.write_text("\n".join([mark.join(['""', '"risk"', '"death"']), *lines]), encoding="utf-8")
    assert f"pass --delimiter {typed}" in run("measure", path, code=3).err
    last = run("inspect", path).out.splitlines()[-1]
    assert f"-s risk -y death --delimiter {typed} --positive " in last
    assert run(*shlex.split(last.split("calibcli ", 1)[1])).code == 0


@pytest.mark.parametrize(
    ("columns", "values", "options"),
    [
        ("grade;pd_grade;default", "A;0,{};{}", "-y default --delimiter ';' --decimal ,"),
        ("id,risk_new,death", "7,0.{},{}", "-y death"),
    ],
)
@pytest.mark.parametrize("labels", ["10", ("yes", "no")])
def test_inspect_says_how_to_read_what_has_no_score_by_name(
    run: Run, columns: str, values: str, options: str, labels: tuple[str, str]
) -> None:
    """A decimal comma, and labels in words, which `measure` would stop at: what it offers next runs."""
    path = Path("book.csv")
    rows = [values.format(place % 8 + 1, labels[place % 2]) for place in range(60)]
    path.write_text("\n".join([columns, *rows]))
    said = run("inspect", path).out
    *_, last = said.splitlines()
    in_words, commas = labels[0] == "yes", " --decimal ," if "--decimal" in options else ""
    options = options.removesuffix(commas) + " --positive VALUE" * in_words + commas
    assert last.endswith(options)
    assert ("the labels are 'no' and 'yes', not 0 and 1" in said) == in_words
    score = "pd_grade" if "pd_grade" in columns else "risk_new"
    typed = last.split("calibcli ", 1)[1].replace("'", "").replace("SCORE", score)
    typed = typed.replace("VALUE", labels[0]).split()
    assert run(*typed, "-m", "oe").code == 0


def test_inspect_offers_no_scale_for_points_but_another_column(run: Run) -> None:
    """Log-odds of 600 points are those of 1, and the PD stood beside them."""
    path = in_csv("a.csv", {"score": [600, 710, 655] * 40, "pd": [0.1] * 120, "y": [0, 1, 0] * 40})
    following = run("inspect", path, code=0).out.splitlines()[-1]
    assert following == f"next  calibcli inspect {path} -s pd"
    assert run(*shlex.split(following)[2:], code=0).out.endswith("-s pd -y y\n")
    in_csv(path, {"score": [600, 710, 655] * 40, "y": [0, 1, 0] * 40})
    assert "next" not in run("inspect", path, code=0).out


@pytest.mark.parametrize(
    ("label", "points", "wanted"),
    [
        ([0, 1, 1, 0], 1.0, "-s prob -y label"),
        ([0, 1, 1, 0], 100.0, "-s prob -y label --scale percent"),
        (["no", "yes", "yes", "no"], 1.0, "-s prob -y label --positive yes"),
        (["b", "c", "c", "a"], 1.0, "--probs 'logit_*' -y label --scale logit"),
    ],
)
def test_labels_tell_a_score_from_the_classes_beside_it(
    run: Run, label: list[object], points: float, wanted: str
) -> None:
    """Classes were tried and the score was offered: with what they need, or to be refused."""
    logits = {f"logit_{name}": np.array([1.5, -2.0, 0.3, -0.7]) + k for k, name in enumerate("abc")}
    score = np.array([0.1, 0.9, 0.8, 0.2]) * points
    path = in_csv("rows.csv", {"prob": score, **logits, "label": np.array(label)})
    shown = run("inspect", path, "--json", code=0).document["suggestion"]
    assert shown == f"calibcli measure {path} {wanted}"
    run(*shlex.split(shown)[1:], code=0)
