"""Summaries of inputs: what parts give together, and what is refused."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.codec import Node
from calibcli.commands.summaries import added
from calibcli.documents.sealed import parse
from calibcli.documents.summary import How, TableDocument, read_summary, summary_text
from calibcli.errors import DocumentProblem
from calibcli.names import WeightMeaning
from calibcli.reports.input import InputSummary
from calibcli.shell.app import main
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.grid import digest, grid_of
from command_line import CHURN, Run
from published import check

ASKED = " ".join(CHURN)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of three files of rows, of unequal size."""
    generator = np.random.default_rng(2)
    folder = tmp_path_factory.mktemp("parts")
    for place, count in enumerate((400, 50, 1_000)):
        score = generator.beta(2.0, 3.0, count)
        label = (generator.random(count) < score).astype(np.int8)
        often = generator.integers(1, 4, count)
        # Rows of weight 0 are in no table.
        weight = generator.random(count) * (often > 1)
        table = pa.table({"score": score, "label": label, "often": often, "weight": weight})
        pq.write_table(table, folder / f"part{place}.parquet")
    return folder


@pytest.fixture
def parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the files of rows, in the working directory."""
    monkeypatch.chdir(folder)
    return [f"part{place}.parquet" for place in range(3)]


@pytest.fixture(scope="module")
def refusals(folder: Path) -> Path:
    """Return the same folder with summaries that nothing writes over."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        often = ("-w", "often", "--weights-are", "frequency")
        for place, name, words in ((0, "a", ()), (1, "b", ()), (2, "w", often)):
            rows, kept = f"part{place}.parquet", f"{name}.json"
            line = ["measure", rows, *CHURN, *words, "--metric", "bias", "-o", f"{name}.txt", "-q"]
            assert main([*line, "--summary-out", kept]) == 0
    return folder


def summarised(run: Run, parts: list[str], *words: str) -> list[str]:
    """Return a summary of each file."""
    for place, part in enumerate(parts):
        kept = ("--summary-out", f"s{place}.json", "--force", "-q", "--metric", "bias")
        run("measure", part, *CHURN, *words, *kept, code=0)
    return [f"s{place}.json" for place in range(len(parts))]


def _once(*words: str) -> tuple[str, ...]:
    """Return words without what the memory was set to a second time."""
    return words[2:] if words.count("4K") == 2 else words


@pytest.mark.parametrize(
    ("how", "then"),
    [
        ((), ("measure",)),
        ((), ("verify", "--max-ece", "0.2", "--json")),
        (("--memory", "4K"), ("measure", "--memory", "4K", "--json")),
        (("-w", "often", "--weights-are", "frequency"), ("measure", "--json", "--metric", "brier")),
        (("--where", "score<0.5"), ("measure", "--json", "--metric", "brier")),
        ((), ("measure", "--json", "--metric", "auroc,gini,aurc", "--threshold", "0.2,0.5")),
    ],
)
def test_parts_give_the_reports_of_the_whole(
    run: Run, parts: list[str], how: tuple[str, ...], then: tuple[str, ...]
) -> None:
    """Byte for byte, merged first or named together; in memory or on a grid."""
    whole = run(then[0], *parts, *CHURN, *_once(*how, *then[1:]), code=0)
    made = summarised(run, parts, *how)
    run("merge", *made, "-o", "whole.json", "--force", code=0)
    memory = ("--memory", "4K") if "4K" in how else ()
    rest = tuple(word for word in then[1:] if word not in memory)
    assert run(then[0], "whole.json", *memory, *rest)[:2] == whole[:2]
    assert run(then[0], *made, *memory, *rest)[:2] == whole[:2]
    document = json.loads(Path("whole.json").read_text())
    check(document, "summary")
    assert document["table"]["kind"] == ("grid" if memory else "exact")


def test_a_default_key_gives_way_where_summaries_are_merged(run: Run, parts: list[str]) -> None:
    """Nothing is signed with it: typed it is refused, and from a file it is left out, with the trust."""
    made = summarised(run, parts[:2])
    Path("named.toml").write_text('[merge]\nstate-key-file = "no.key"\n')
    merged = run("merge", *made, "-o", "unsigned.json", "--config", "named.toml", code=0)
    assert "sets state-key-file, which has no effect here" in merged.err


def test_an_artifact_goes_over_a_summary_as_over_rows(run: Run, parts: list[str]) -> None:
    """Where scores are exact; a grid is refused, and a fit from a summary is that from rows."""
    run("fit", parts[2], *CHURN, "-m", "isotonic", "-o", "cal.json", "--force")
    made = summarised(run, parts[:2])
    words = ("--artifact", "cal.json", "--json", "--metric", "log_loss")
    whole = run("measure", *parts[:2], *CHURN, *words, code=0)
    assert run("measure", *made, *words)[:2] == whole[:2]
    beside = run("measure", parts[0], *CHURN, *words, "--summary-out", "raw.json")
    assert "raw.json holds the scores as they were before --artifact" in json.loads(beside[1])["notes"]
    assert json.loads(Path("raw.json").read_text())["table"] == json.loads(Path(made[0]).read_text())["table"]
    own = summarised(run, parts[2:])
    assert "fit" in run("verify", *own, "--artifact", "cal.json", "--max-ece", "0.2", code=3).err
    assert run("fit", *own, "-m", "isotonic")[1] == Path("cal.json").read_text()
    code, _, err = run("measure", *summarised(run, parts[:2], "--memory", "4K"), *words)
    assert (code, "keeps scores to" in err, "--exact" in err) == (2, True, True)


@pytest.mark.parametrize(
    "how",
    [
        ("--scale", "percent", "--positive", "1", "-w", "often", "--weights-are", "frequency"),
        ("--scale", "logit", "-w", "weight"),
        ("--score-map", "never=.1,often=.9", "-s", "said"),
    ],
)
def test_a_fit_and_a_summary_of_a_summary_know_how_rows_were_read(
    run: Run, parts: list[str], how: tuple[str, ...]
) -> None:
    """A map of logits is one of logits, also where it is fitted to a summary of them."""
    rows = pq.read_table(parts[0])
    said = pa.array(["never", "often"]).take(pa.array(np.rint(rows["score"].to_numpy()).astype(np.int8)))
    pq.write_table(rows.append_column("said", said), "read.parquet")
    asked = ("-y", "label", *(() if "said" in how else ("-s", "score")), *how)
    kept = ("-m", "bias", "-q", "--force", "--summary-out")
    assert run("measure", "read.parquet", *asked, *kept, "once.json").code == 0
    assert run("measure", "once.json", *kept, "twice.json").code == 0
    assert Path("twice.json").read_bytes() == Path("once.json").read_bytes()
    fitted = run("fit", "read.parquet", *asked)
    assert (fitted.code, run("fit", "once.json").out) == (0, fitted.out)


@pytest.mark.parametrize("parted", [True, False])
def test_a_fit_that_cannot_look_at_rows_again_says_that_scores_are_rounded(
    run: Run, parts: list[str], *, parted: bool
) -> None:
    """Of files an isotonic fit on a grid is that of the rows; a summary has its cells alone."""
    rows = summarised(run, parts, "--memory", "4K") if parted else [*parts, *CHURN]
    fit = ("fit", *rows, "--method", "isotonic", "--memory", "4K", "-o", "fit.json", "--force")
    assert ("scores are rounded" in run(*fit, code=0).err) is parted


def test_pictures_and_inspection_take_a_summary(run: Run, parts: list[str]) -> None:
    """As they take the files."""
    made = summarised(run, parts)
    assert run("plot", *made, "--kind", "binned", "-o", "one.svg", "--force")[0] == 0
    seen = run("measure", made[0], "--metric", "bias")[1]
    assert seen == run("measure", parts[0], *CHURN, "--metric", "bias")[1]
    out = run("inspect", made[0])[1]
    assert "400 distinct scores" in out
    assert out.rstrip().endswith("calibcli measure s0.json")


@pytest.mark.parametrize("first", [0, 1])
def test_a_sum_beside_one_of_its_parts_is_refused(run: Run, parts: list[str], first: int) -> None:
    """In either order, also where that part is within another sum: a gate must not count rows twice."""
    made = summarised(run, parts)
    assert run("merge", *made[:2], "-o", "both.json", "--force")[0] == 0
    assert run("merge", made[1], made[2], "-o", "other.json", "--force")[0] == 0
    Path("again.json").unlink(missing_ok=True)
    for one in (made[0], "other.json"):
        words = ["both.json", one][:: 1 if first == 0 else -1]
        for requested in (("verify", "--max-ece", "0.9"), ("merge", "-o", "again.json"), ("measure",)):
            code, out, err = run(requested[0], *words, *requested[1:])
            assert (code, out, "which would count twice" in err) == (3, "", True), err
    assert run("merge", "both.json", made[2], "-o", "again.json", "--force")[0] == 0
    assert run("verify", "again.json", made[1], "--max-ece", "0.9")[0] == 3


def test_a_file_in_two_summaries_is_refused(run: Run, parts: list[str]) -> None:
    """Under whatever name and beside whatever else, copied, in another format, or within a sum."""
    made = summarised(run, parts)
    Path("copied.pq").write_bytes(Path(parts[0]).read_bytes())
    pyarrow.feather.write_feather(pq.read_table(parts[0]), "rows.feather")
    overlaps = {
        "both.json": parts[:2],
        "dotted.json": [f"./{parts[0]}"],
        "copied.json": ["copied.pq"],
        "format.json": ["rows.feather"],
    }
    for name, files in overlaps.items():
        words = [*files, *CHURN, "--metric", "bias", "--summary-out", name]
        assert run("measure", *words, "--force")[0] == 0
        code, _, err = run("merge", made[0], name, "-o", "again.json", "--force")
        assert (code, "which would count twice" in err) == (3, True), (name, err)
    assert run("measure", *made[:2], "--metric", "bias", "--summary-out", "sum.json", "--force")[0] == 0
    assert run("merge", "sum.json", made[0], "-o", "again.json", "--force")[0] == 3
    assert run("verify", "both.json", made[1], "--max-ece", "0.9")[0] == 3


def test_a_summary_of_the_first_version_beside_one_of_the_same_file_is_refused(
    run: Run, parts: list[str]
) -> None:
    """In either order, and beside another one of the first version; that of another file is added."""
    made = summarised(run, parts)
    document = json.loads(Path(made[0]).read_text())
    document |= {"schema": "calibcli.summary/1", "digest": document["table"].pop("digest"), "parts": []}
    Path("old.json").write_text(json.dumps(document))
    for words in (("old.json", made[0]), (made[0], "old.json"), ("old.json", "old.json")):
        code, out, err = run("verify", *words, "--max-ece", "0.9")
        assert (code, out, "which would count twice" in err) == (3, "", True), err
    assert run("verify", "old.json", made[1], "--max-ece", "0.9")[0] == 0
    # Sums of the first version name their parts by tables and names of files.
    named = "\n".join((document["digest"], *document["input"]["files"]))
    parts_of_old = [f"sha256:{hashlib.sha256(one.encode()).hexdigest()}" for one in (named, "another")]
    Path("old.json").write_text(json.dumps(document | {"parts": parts_of_old}))
    for words in (("old.json", made[0]), (made[0], "old.json")):
        code, out, err = run("verify", *words, "--max-ece", "0.9")
        assert (code, out, "which would count twice" in err) == (3, "", True), err
    assert run("verify", "old.json", made[1], "--max-ece", "0.9")[0] == 0


def test_files_of_one_name_in_several_summaries_are_said(run: Run, parts: list[str]) -> None:
    """Where their content differs, so that nobody can tell whether rows count twice."""
    made = summarised(run, parts)
    Path("both.json").unlink(missing_ok=True)
    kept = Path(parts[0]).read_bytes()
    pq.write_table(pq.read_table(parts[0]).slice(1), parts[0])
    try:
        assert run("measure", *parts[:2], *CHURN, "--metric", "bias", "--summary-out", "both.json")[0] == 0
    finally:
        Path(parts[0]).write_bytes(kept)
    assert run("merge", "both.json", made[1], "-o", "again.json", "--force")[0] == 3
    said = f"{parts[0]} is in several summaries: the rows of one file would count twice"
    assert said in run("merge", "both.json", made[0], "-o", "again.json", "--force")[2]
    assert said in json.loads(run("measure", "both.json", made[0], "--json")[1])["input"]["notes"]
    quiet = run("merge", "both.json", made[2], "-o", "again.json", "--force")
    assert (quiet[0], "several" in quiet[2]) == (0, False)


@pytest.mark.parametrize(
    ("code", "line", "said"),
    [
        (2, "measure a.json -s other", "with --score score, and not with --score other"),
        (2, "measure a.json --by label", "without groups, clusters or other scores"),
        (2, "measure a.json --where score<1", "its rows can no longer be selected"),
        (2, "measure a.json --limit 3", "its rows can no longer be selected"),
        (2, "measure a.json --scale logit",
            "with --scale prob, and not with --scale logit\nhint: pass --scale prob"),
        (2, "measure w.json -w often --weights-are importance",
            "with --weights-are frequency, and not with --weights-are importance"),
        (2, "measure a.json --on-missing drop", "was dealt with when it was made"),
        (2, "measure a.json --positive 2", "was summarised without --positive, and not with --positive 2"),
        (2, "measure a.json part1.parquet", "is a summary of rows, and part1.parquet is none"),
        (2, "measure a.json -w w", "without --weight, and not with --weight w"),
        (3, "measure a.json a.json", "holds rows of a.json"),
        (3, "merge a.json a.json -o m.json", "holds rows of a.json"),
        (2, "merge a.json part1.parquet -o m.json", "is a summary of rows"),
        (2, "merge a.json w.json -o m.json", "w.json was summarised with --weight often, a.json without"),
        (5, "merge a.json b.json -o a.json --force", "a.json"),
        (5, f"measure part0.parquet {ASKED} --summary-out a.json", "a.json exists"),
        (2, f"measure part0.parquet {ASKED} --summary-out x -o x", "both name x"),
        (2, f"measure part0.parquet {ASKED} --summary-out x --by often", "without --by"),
        (2, f"measure part0.parquet {ASKED} --summary-out x --limit 9", "--limit takes some"),
        (2, "verify a.json --max-ece 0.1 --state g.json", "a.json"),
        (2, "drift a.json part1.parquet", "a.json is a summary of rows, and this command reads rows"),
        (2, "drift part1.parquet a.json -s score", "and this command reads rows"),
        (2, "plan --max-ece 0.1 --like a.json", "and this command reads rows"),
    ],
)  # fmt: skip
def test_what_a_summary_does_not_hold_is_refused(
    run: Run, refusals: Path, parts: list[str], code: int, line: str, said: str
) -> None:
    """In one line, and nothing is written."""
    assert (refusals / parts[0]).exists()
    assert said in run(*line.split(), code=code).err
    assert not any(Path(name).exists() for name in ("x", "m.json", "g.json"))


def test_weights_of_importance_survive_a_summary(run: Run, parts: list[str]) -> None:
    """One file gives the same numbers through its summary."""
    words = ("-w", "weight", "--metric", "brier")
    (made,) = summarised(run, parts[:1], *words)
    assert (
        run("measure", made, "--metric", "brier", "--json")[1]
        == run("measure", parts[0], *CHURN, *words, "--json")[1]
    )


def document_of(table: Any, *, weights: WeightMeaning | None = None) -> TableDocument:
    """Return the summary of a table."""
    weight = None if weights is None else "w"
    source = InputSummary(("a.csv",), "score", "label", weight, int(table.total_rows), 0, 0)
    return TableDocument(source, How(weights_are=weights), table)


ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 1e-9, 0.25, 1 / 3, 0.5, 1 - 2**-53, 1.0]), st.booleans()),
    min_size=1,
    max_size=30,
)


@given(ROWS, st.integers(0, 30), st.sampled_from(["exact", "grid"]))
def test_a_summary_is_read_as_it_was_written_and_adds_up(
    rows: list[tuple[float, bool]], cut: int, kind: str
) -> None:
    """Every table survives its text, and the tables of two parts make the table of both."""
    tables = []
    for some in (rows, rows[:cut], rows[cut:]):
        score, label = np.array([one[0] for one in some]), np.array([one[1] for one in some], np.bool_)
        table = ScoreTable.from_rows(score, label)
        tables.append(grid_of(table) if kind == "grid" else table)
    documents = [document_of(table) for table in tables if table.distinct]
    for one in documents:
        again = TableDocument.from_dict(parse(summary_text(one).encode()))
        assert again == one
        assert digest(again.table) == digest(one.table)
    whole, *halves = documents
    if len(halves) == 2 and digest(halves[0].table) != digest(halves[1].table):
        assert added([("a", halves[0]), ("b", halves[1])], limit=None).table == whole.table


def packed(*numbers: float, kind: str) -> str:
    """Return numbers as a document holds them."""
    return base64.b64encode(np.array(numbers, kind).tobytes()).decode()


EXACT: list[tuple[tuple[str, ...], object, str]] = [
    (("schema",), "calibcli.summary/3", "$.schema"),
    (("table", "digest"), "sha256:" + "0" * 64, "$.table.digest: is not that of the table"),
    (("table", "kind"), "coarse", "$.table.kind"),
    (("table", "distinct"), 3, "$.table.columns.rows"),
    (("table", "distinct"), 10**12, "$.table.distinct"),
    (("table", "distinct"), 0, "$.table.distinct"),
    (("table", "columns", "score"), "&&&", "$.table.columns.score: is not the base64 text"),
    (("table", "columns", "score"), packed(0.5, 0.2, kind="<f8"), "$.table.columns: scores are not strictly"),
    (("table", "columns", "score"), packed(0.5, 1.5, kind="<f8"), "$.table.columns: scores are not strictly"),
    (("table", "columns", "score"), packed(0.5, np.nan, kind="<f8"), "not finite"),
    (("table", "columns", "rows"), packed(0, 3, kind="<i8"), "$.table.columns.rows: has a number of rows"),
    (("table", "columns", "rows"), packed(2**60, 3, kind="<i8"), "$.table.columns.rows"),
    (("table", "columns", "positive_rows"), packed(9, 1, kind="<i8"), "$.table.columns.positive_rows"),
    (("table", "columns", "positive_rows"), packed(-1, 1, kind="<i8"), "$.table.columns.positive_rows"),
    (("input", "rows"), 7, "$.input.rows: is 7, but the table has 3 rows"),
    (("input", "files"), [], "$.input.files"),
    (("input", "unselected"), 3, "$.input.unselected"),
    (("input", "extra"), 3, "$.input: has the unknown key"),
    (("reading", "weights_are"), "importance", "$.reading.weights_are"),
    (("reading", "scale"), "odds", "$.reading.scale"),
]
GRID: list[tuple[tuple[str, ...], object, str]] = [
    (("table", "columns", "code"), packed(5, 5, kind="<i8"), "$.table.columns.code: does not ascend"),
    (("table", "columns", "code"), packed(5, 2**40, kind="<i8"), "$.table.columns.code"),
    (("table", "columns", "below_positive"), packed(-1, 0, kind="<i8"), "$.table.columns.below_positive"),
    (("table", "columns", "below_negative"), packed(2**62, 0, kind="<i8"), "larger than its cell"),
]


# One row of weight 1 and label 1, two of weights 2 and 3 of which the latter has label 1.
WEIGHTED: list[tuple[tuple[str, ...], object, str]] = [
    (("table", "columns", "positive"), packed(1, 9, kind="<f8"), "$.table.columns.positive: lies outside"),
    (("table", "columns", "positive"), packed(0.5, 3, kind="<f8"), "less of it where every row has label 1"),
    (("table", "columns", "positive_sq"), packed(1, 40, kind="<f8"), "$.table.columns.positive_sq: lies"),
    (("table", "columns", "weight_sq"), packed(1, 26, kind="<f8"), "$.table.columns.weight_sq: is no sum"),
    (("table", "columns", "weight_sq"), packed(1, 12, kind="<f8"), "$.table.columns.weight_sq: is no sum"),
    (("table", "columns", "positive_sq"), packed(1, 8, kind="<f8"), "$.table.columns.positive_sq: is no sum"),
    (("table", "columns", "positive_rows"), packed(1, 0, kind="<i8"), "$.table.columns.positive_sq: is no"),
]


@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        *(("exact", one) for one in EXACT),
        *(("grid", one) for one in GRID),
        *(("weighted", one) for one in WEIGHTED),
    ],
)
def test_damaged_summaries_are_refused_with_the_place(
    kind: str, damage: tuple[tuple[str, ...], object, str]
) -> None:
    """Whatever is in them."""
    weight = np.array([1.0, 2.0, 3.0]) if kind == "weighted" else None
    table = ScoreTable.from_rows(
        np.array([0.25, 0.5, 0.5]), np.array([True, False, True]), Weighing(weight=weight)
    )
    weights = None if weight is None else WeightMeaning.IMPORTANCE
    document: dict[str, Any] = document_of(
        grid_of(table) if kind == "grid" else table, weights=weights
    ).to_dict()
    TableDocument.from_dict(Node(document))
    (*path, last), value, said = damage
    inner = document
    for key in path:
        inner = inner[key]
    inner[last] = value
    with pytest.raises(DocumentProblem) as problem:
        TableDocument.from_dict(Node(document))
    assert said in problem.value.message
    file = Path("s.json")
    file.write_text(json.dumps(document))
    with pytest.raises(DocumentProblem, match=r"s\.json"):
        read_summary(file)


@given(st.binary(max_size=200), st.integers(0, 3_000))
def test_no_bytes_break_the_reader(noise: bytes, at: int) -> None:
    """A summary with bytes replaced is read as the same rows, or refused."""
    table = ScoreTable.from_rows(np.array([0.25, 0.5, 0.5]), np.array([True, False, True]))
    text = summary_text(document_of(table)).encode()
    try:
        found = TableDocument.from_dict(parse(text[:at] + noise + text[at + len(noise) :]))
    except DocumentProblem:
        return
    assert digest(found.table) == digest(table)


def test_summaries_of_other_rows_are_told_apart_as_they_were_asked_for(run: Run, parts: list[str]) -> None:
    """Options as they are typed, not values as a program keeps them."""
    columns = ("-s", "score", "-y", "label")
    assert run("measure", parts[0], *columns, "--summary-out", "1.json", "--force")[0] == 0
    where = ("--where", "score>0.2", "--where", "score<0.9")
    assert run("measure", parts[1], *columns, *where, "--summary-out", "2.json", "--force")[0] == 0
    options = "--where 'score>0.2' --where 'score<0.9'"
    ended = run("merge", "1.json", "2.json", "-o", "apart.json")
    assert ended[0] == 2
    assert f"2.json was summarised with {options}, 1.json without\n" in ended[2]
    ended = run("merge", "2.json", "1.json", "-o", "apart.json")
    assert f"1.json was summarised without --where, 2.json with {options}\n" in ended[2]
