"""`--where`, `--limit` and `--sample` on the command line."""

import csv
import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from calibcli.data.columns import Header, resolve
from calibcli.options.rows import Columns, RowSelection
from command_line import CHURN, Ran, Run


@pytest.fixture
def groups() -> Path:
    """Return a CSV file of 900 rows of three countries, and beside it the rows of one of them alone."""
    generator = np.random.default_rng(11)
    lines = []
    for place in range(900):
        score = generator.beta(2.0, 2.0)
        label = int(generator.random() < score)
        lines.append((f"{score!r},{label},{('DE', 'US', 'FR')[place % 3]},{place}\n", place % 3))
    path = Path("groups.csv")
    head = "score,label,country,day\n"
    path.write_text(head + "".join(line for line, _ in lines))
    Path("us.csv").write_text(head + "".join(line for line, group in lines if group == 1))
    return path


def without_input(ended: Ran) -> dict[str, object]:
    """Return a JSON report without what it says of its input."""
    assert ended.code in (0, 1, 4), ended.err
    report = ended.document
    return {key: value for key, value in report.items() if key not in ("input", "digest")}


@pytest.mark.parametrize(
    "words",
    [
        ["measure"],
        ["measure", "--compat", "netcal"],
        ["verify", "--max-ece", "0.2"],
        ["compare", "-s", "score", "-s", "day", "--on-range", "clip"],
    ],
)
def test_selected_rows_give_the_numbers_of_a_file_of_them(run: Run, groups: Path, words: list[str]) -> None:
    """In every command, and the input block says what was left out."""
    requested = ["-y", "label"] if "compare" in words else CHURN
    ended = run(*words, groups, *requested, "--where", "country==US", "--json")
    alone = run(*words, groups.with_name("us.csv"), *requested, "--json")
    assert without_input(ended) == without_input(alone)
    found = ended.document["input"]
    assert found["rows"] == 300
    assert found["selected"] == {
        "where": ["country==US"],
        "limit": None,
        "sample": None,
        "seed": None,
        "unselected": 600,
    }
    assert "selected" not in alone.document["input"]


def test_a_fit_to_selected_rows_is_that_of_a_file_of_them_and_says_so(run: Run, groups: Path) -> None:
    """All but the note is the same, the digest included."""
    run("fit", groups, *CHURN, "--where", "country==US", "-o", groups.with_name("a.json"))
    run("fit", groups.with_name("us.csv"), *CHURN, "-o", groups.with_name("b.json"))
    selected, alone = (json.loads(groups.with_name(name).read_text()) for name in ("a.json", "b.json"))
    note = "fitted on selected rows only: --where 'country==US'"
    assert note in selected["fit"]["notes"]
    selected["fit"]["notes"].remove(note)
    assert selected.pop("digest") != alone.pop("digest")
    assert selected == alone
    words = ["--artifact", groups.with_name("a.json"), "--max-ece", "0.2"]
    assert "fit" in run("verify", groups, *CHURN, "--where", "country==US", *words, code=3).err


def test_the_report_counts_what_was_left_out(run: Run, groups: Path) -> None:
    """In a line, for each kind of selection."""
    both = "10 rows not selected, then only the first 50 rows, those behind were not read "
    both += "(--where 'day>=10' --limit 50)."
    for words, line in (
        (["--where", "country==US"], "600 rows not selected (--where 'country==US')."),
        (["--sample", "50", "--seed", "2"], "850 rows not selected (--sample 50 --seed 2)."),
        (["--limit", "50"], "Only the first 50 rows, those behind were not read (--limit 50)."),
        (["--where", "day>=10", "--limit", "50"], both),
        (["--limit", "901"], "There are fewer than 901 rows, so that --limit leaves none out (--limit 901)."),
        (
            ["--where", "day>=10", "--limit", "9000"],
            (
                "10 rows not selected; there are fewer than 9,000 others, so that --limit leaves none out "
                "(--where 'day>=10' --limit 9000)."
            ),
        ),
    ):
        assert line in run("measure", groups, *CHURN, "--metric", "bias", *words).out.splitlines()


@pytest.mark.usefixtures("one_picture")
def test_pictures_and_pages_take_selected_rows(run: Run, groups: Path) -> None:
    """And a report that is plotted again does not."""
    assert "300 rows" in run("plot", groups, *CHURN, "--where", "country==US", "--terminal").out
    page = groups.with_name("r.html")
    assert run("report", groups, *CHURN, "--sample", "200", "-o", page).code == 0
    assert "700 rows not selected (--sample 200 --seed 0)" in page.read_text()
    again = groups.with_name("r.json")
    assert run("measure", groups, *CHURN, "--limit", "200", "--json", "-o", again).code == 0
    assert run("plot", again, "-o", groups.with_name("r.svg")).code == 0
    ended = run("plot", again, "--limit", "3", "-o", groups.with_name("s.svg"))
    assert (ended.code, "on which --limit has no effect" in ended.err) == (2, True)


def test_a_pipe_is_sampled_and_limited_like_a_file(
    run: Run, groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is drawn depends on the place of a row alone."""
    for words in (["--sample", "90"], ["--limit", "90"], ["--where", "country==US", "--limit", "90"]):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(groups.read_bytes())))
        piped = run("measure", "-", *CHURN, "--json", *words)
        assert without_input(piped) == without_input(run("measure", groups, *CHURN, "--json", *words))


def test_selections_travel_to_workers_elsewhere() -> None:
    """They are pickled with the columns."""
    rows = RowSelection.of(["a in 1,'b'"], limit=None, sample=5, seed=9)
    columns = resolve(Columns("score", "label", rows=rows), Header(["score", "label", "A"], "p"))
    assert columns.names == ("score", "label", "A")
    assert columns.words == ("label", "A")
    assert pickle.loads(pickle.dumps(columns)) == columns  # noqa: S301 - our own bytes


@pytest.mark.usefixtures("unrendered")
@pytest.mark.parametrize(
    "words",
    [
        ["measure", "--format", "csv"],
        ["measure", "--format", "jsonl"],
        ["verify", "--max-ece", "0.2", "--format", "csv"],
        ["compare", "-s", "day", "--on-range", "clip", "--format", "jsonl"],
        ["plot", "--terminal"],
        ["plot", "--kind", "isotonic", "-o", "a.svg"],
        ["plot", "--kind", "residual", "-o", "a.svg"],
        ["plot", "--by", "country", "-o", "a.svg"],
        ["plot", "-s", "day", "--on-range", "clip", "-o", "a.svg"],
    ],
)
def test_what_has_no_place_for_rows_left_out_says_them_beside(
    run: Run, groups: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """On standard error, in the words of the report for people, unless it is to be quiet."""
    monkeypatch.chdir(groups.parent)
    groups.write_text(groups.read_text() + ",1,US,900\n,0,US,901\n")
    requested = [*words, groups, *CHURN, "--where", "country==US", "--on-missing", "drop"]
    ended = run(*requested)
    assert ended.code in (0, 1, 4), ended.err
    assert "note: 600 rows not selected (--where 'country==US').\n" in ended.err
    assert "note: 2 rows with a missing value dropped (--on-missing drop).\n" in ended.err
    if "--kind" not in words:
        assert "not selected" not in run(*requested, "--quiet", "--force").err


def test_reports_for_servers_count_rows_left_out(run: Run, groups: Path) -> None:
    """JUnit as properties, OpenMetrics as gauges, so that rows in are rows used and rows said."""
    groups.write_text(groups.read_text() + ",1,US,900\n,0,US,901\n")
    junit, metrics = groups.with_name("a.xml"), groups.with_name("a.txt")
    reports = ["--report", f"junit={junit}", "--report", f"openmetrics={metrics}"]
    requested = ["--where", "country==US", "--on-missing", "drop", "--max-ece", "0.2"]
    run("verify", groups, *CHURN, *requested, *reports)
    found = junit.read_text()
    assert '<property name="rows" value="300" />' in found
    assert '<property name="dropped" value="2" />' in found
    assert '<property name="not_selected" value="600 (--where \'country==US\')" />' in found
    lines = metrics.read_text().splitlines()
    assert "calibcli_dropped_rows 2" in lines
    assert "calibcli_not_selected_rows 600" in lines


@pytest.fixture
def days(groups: Path) -> Path:
    """Return a folder of three days of which two are cut short, as is one of two in `more` beside it."""
    for place in ("days/day_of=2026-11-28", "days/day_of=2026-11-29", "more/day_of=2026-11-29"):
        Path(place).mkdir(parents=True)
        Path(place, "a.parquet").write_bytes(b"PAR1 cut short")
    for place, rows in (("days", groups), ("more", Path("us.csv"))):
        Path(place, "day_of=2026-11-30").mkdir()
        rows.rename(f"{place}/day_of=2026-11-30/a.csv")
    return Path("days")


NOT_OPENED = "2 files not opened, ruled out by their paths (--where 'day_of>=2026-11-30')"


@pytest.mark.usefixtures("unrendered")
@pytest.mark.parametrize(
    "words",
    [
        ["measure", *CHURN],
        ["measure", "-s", "sc*", "-y", "label", "--by", "country"],
        ["verify", *CHURN, "--max-ece", "0.2"],
        ["verify", *CHURN, "--max-ece", "0.2", "--state", "s.json"],
        ["verify", *CHURN, "--max-ece", "0.2", "--state", "s.json", "--by", "country"],
        ["compare", *CHURN, "-s", "day", "--on-range", "clip"],
        ["segments", *CHURN, "--on", "country"],
        ["drift", "more", "-s", "score"],
        ["plot", *CHURN, "-o", "a.svg"],
        ["fit", *CHURN, "-m", "platt", "-o", "a.json"],
        ["report", *CHURN, "-o", "a.html"],
    ],
)
def test_files_that_are_ruled_out_by_their_paths_are_counted(run: Run, days: Path, words: list[str]) -> None:
    """By every command, which does not open them: two of them are damaged."""
    ended = run(words[0], days, *words[1:], "--where", "day_of>=2026-11-30")
    assert ended.code in (0, 1, 4), ended.err
    page = Path("a.html").read_text() if words[0] == "report" else ""
    assert NOT_OPENED in f"{ended.out}{ended.err}{page}".replace("&#39;", "'").replace("&gt;", ">")


def test_documents_count_files_that_are_not_opened(run: Run, days: Path) -> None:
    """Reports, those for servers, and summaries, whose sum has the sum; none are not said."""
    where = ["--where", "day_of>=2026-11-30"]
    reports = ["--report", "junit=a.xml", "--report", "openmetrics=a.txt"]
    found = run("verify", days, *CHURN, "--max-ece", "0.2", *where, *reports, "--json").document["input"]
    assert found["selected"]["unopened"] == 2
    assert found["files"] == [str(days / "day_of=2026-11-30/a.csv")]
    assert f"{days}: 1 file read" in found["notes"]
    assert '<property name="not_opened" value="2 files" />' in Path("a.xml").read_text()
    assert "calibcli_not_opened_files 2" in Path("a.txt").read_text().splitlines()
    run("measure", days, *CHURN, *where, "--summary-out", "one.json")
    run("measure", "more", *CHURN, *where, "--summary-out", "two.json")
    assert run("merge", "one.json", "two.json", "-o", "sum.json").code == 0
    assert "0 dropped, 0 not selected; 3 files not opened" in run("inspect", "sum.json").out
    assert run("measure", "sum.json", "--json").document["input"]["selected"]["unopened"] == 3
    alone = run("measure", days / "day_of=2026-11-30", *CHURN, *where, "--json").document["input"]
    assert alone["selected"] == {
        "where": where[1:],
        "limit": None,
        "sample": None,
        "seed": None,
        "unselected": 0,
    }


@pytest.mark.parametrize("meaning", ["importance", "frequency"])
@pytest.mark.parametrize(
    "words",
    ["measure -s a -y hit", "measure --probs p_* -y kind -m class_log_loss,ece", "compare -s a -s b -y hit"],
)
def test_a_certain_and_wrong_row_of_weight_0_changes_nothing(run: Run, words: str, meaning: str) -> None:
    """No loss becomes infinite by it, and where all rows are such there is no answer."""
    rng = np.random.default_rng(4)
    score, three = rng.uniform(0.05, 0.95, 200), rng.dirichlet((9, 9, 9), 200)
    rows = [
        f"{one},{1 - one},{rng.random() < one:d},{rng.integers(1, 4)},{x},{y},{z},{rng.choice([*'xyz'])}\n"
        for one, (x, y, z) in zip(score, three, strict=True)
    ]
    wrong = "0,0,1,0,0,0.5,0.5,x\n"
    path = Path("weights.csv")
    command, *columns = words.split()
    requested = [command, path, *columns, "-w", "w", "--weights-are", meaning, "--format", "csv"]

    def answer(rows: list[str], code: int = 0) -> Ran:
        path.write_text("a,b,hit,w,p_x,p_y,p_z,kind\n" + "".join(rows))
        return run(*requested, code=code)

    with_it = answer([*rows[:70], wrong, *rows[70:]])
    assert "1 row has weight 0 and counts for nothing" in with_it.err
    found = csv.DictReader(io.StringIO(with_it.out))
    losses = [float(row["value"]) for row in found if row["name"].endswith("log_loss")]
    assert losses
    assert np.isfinite(losses).all()
    assert with_it.out == answer(rows).out
    assert "every weight is 0" in answer([wrong] * 3, code=3).err


@pytest.mark.parametrize(
    ("condition", "differing"),
    [
        ("country!=US", "'us', 'Us' differ"),
        ("country in Us,US,FR", "'us' differs"),
        ("country==DE", None),
        ("country<US", None),
        ("country in us,US,Us", None),
    ],
)
def test_texts_that_differ_from_a_condition_in_capitals_alone_are_said(
    run: Run, condition: str, differing: str | None
) -> None:
    """Rows of us stayed where country!=US was to leave out one country, and were lost where it was meant."""
    rows = [f"0.{k % 9 + 1},{k % 2},{('US', 'us ', 'DE', 'Us')[k % 4]}" for k in range(90)]
    path = Path("rows.csv")
    path.write_text("\n".join(["score,label,country", *rows, ""]))
    asked = ("measure", path, *CHURN, "-m", "bias", "--json", "--where", condition)
    notes = run(*asked, code=0).document["input"]["notes"]
    said = f"{path}: {differing} from a value of --where in capitals alone: is that meant to be the same?"
    assert [one for one in notes if "--where" in one] == ([] if differing is None else [said])
