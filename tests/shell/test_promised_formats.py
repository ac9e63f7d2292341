"""What is written under a name is what the name promises, in every command that writes, or is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Ran

Run = Callable[..., Ran]
COLUMNS = ("-s", "score", "-y", "label")
GATE = ("verify", "rows.csv", *COLUMNS, "--max-ece", "0.9")
OF_REPORTS = {
    "measure": ("measure", "rows.csv", *COLUMNS, "--metric", "bias"),
    "verify": GATE,
    "compare": ("compare", "rows.csv", "-s", "score", "-s", "other", "-y", "label", "--metric", "brier"),
    "plan": ("plan", "--max-ece", "0.2", "--like", "rows.csv", "-s", "score"),
}


@pytest.fixture
def place(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with rows and a map."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{n / 128},{n / 130},{n % 3 == 0:d}\n" for n in range(120)]
    Path("rows.csv").write_text("score,other,label\n" + "".join(lines))
    assert run("fit", "rows.csv", *COLUMNS, "--method", "platt", "-o", "cal.json", "-q").code == 0
    return tmp_path


@pytest.mark.parametrize("command", OF_REPORTS)
def test_a_report_has_the_format_that_its_name_promises(run: Run, place: Path, command: str) -> None:
    """The bytes are those of --format; another --format, and a name that no report has, are refused."""
    words = OF_REPORTS[command]
    for name, kind in (("r.json", "json"), ("r.md", "md"), ("r.txt", "table"), ("r", "table")):
        by_name, typed = place / name, place / f"typed-{kind}.txt"
        first, second = run(*words, "-o", by_name), run(*words, "--format", kind, "-o", typed, "--force")
        assert first.code == second.code == 0, (first.err, second.err)
        assert by_name.read_bytes() == typed.read_bytes()
    json.loads(Path("r.json").read_text())
    for more, said in (
        (("-o", "x.csv", "--format", "md"), "x.csv is the name of csv, and --format says otherwise"),
        (("-o", "x.csv", "--json"), "x.csv is the name of csv, and --json says otherwise"),
        (("-o", "x.html"), "x.html is the name of html"),
        (("-o", "x.json.gz"), "x.json.gz is the name of gzip"),
        (("-o", "x.parquet", "--json"), "x.parquet is the name of parquet"),
        (("-o", "x.txt", "--json", "--format", "table"), "--json and --format table are two formats"),
    ):
        ran = run(*words, *more)
        assert (ran.code, said in ran.err) == (2, True), ran.err
    assert not list(place.glob("x.*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fit", "rows.csv", *COLUMNS, "-o", "x.csv"), "csv, and an artifact is JSON"),
        (("fit", "rows.csv", *COLUMNS, "-o", "x.pkl"), "pickle, and an artifact is JSON"),
        (("apply", "cal.json", "rows.csv", "-o", "x.xlsx"), "Excel, and rows are written as csv"),
        (("apply", "cal.json", "rows.csv", "-o", "x.json"), "json, and rows are written as csv"),
        (("apply", "cal.json", "rows.csv", "-o", "x.csv.zip"), "zip, and rows are written as csv"),
        (("export", "cal.json", "--to", "python", "-o", "x.sql"), "sql, and --to says python"),
        (("export", "cal.json", "--to", "sql", "-o", "x.onnx"), "onnx, and --to says sql"),
        (("export", "cal.json", "--to", "sklearn", "-o", "x.json"), "json, and --to says sklearn"),
        (("measure", "rows.csv", *COLUMNS, "--summary-out", "x.csv"), "csv, and a summary is JSON"),
        (("merge", "a.json", "b.json", "-o", "x.md"), "md, and states and summaries are JSON"),
        ((*GATE, "--report", "junit=x.json"), "json, and the report is junit"),
        ((*GATE, "--report", "openmetrics=x.json"), "json, and the report is openmetrics"),
    ],
)
def test_nothing_is_written_under_the_name_of_another_format(
    run: Run, place: Path, words: tuple[str, ...], said: str
) -> None:
    """Exit 2 before any row is read."""
    ran = run(*words)
    assert (ran.code, f"is the name of {said}" in ran.err) == (2, True), ran.err
    assert not list(place.glob("x.*"))


def test_json_lines_may_be_called_json(run: Run, place: Path) -> None:
    """As they may where they are read."""
    (place / "rows.json").write_text('{"score": 0.5}\n{"score": 0.25}\n')
    assert run("apply", "cal.json", "rows.json", "-o", "out.json").code == 0
    assert len((place / "out.json").read_text().splitlines()) == 2


def test_a_format_from_outside_gives_way_to_a_name(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was typed says more than a variable."""
    monkeypatch.setenv("CALIBCLI_MEASURE_FORMAT", "md")
    assert run(*OF_REPORTS["measure"], "-o", "r.json").code == 0
    json.loads((place / "r.json").read_text())
    assert run(*OF_REPORTS["measure"]).out.startswith("**rows.csv")
