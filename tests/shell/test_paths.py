"""Paths that cannot be used: one line each, and no input is ever replaced."""

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from command_line import CHURN, SAMPLE, Make, Ran, Run

GOOD = ("score,label", *(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}" for i in range(60)))
LONG = "x" * 5000


def refused(ended: Ran, code: int) -> str:
    """Check that an error is one line and perhaps a hint, and return the line."""
    assert ended.code == code, ended
    assert ended.out == ""
    first, *rest = ended.err.splitlines()
    assert first.startswith("error: "), ended.err
    assert all(line.startswith("hint: ") for line in rest), ended.err
    return first


@pytest.fixture
def listening() -> Iterator[str]:
    """Return the name of a Unix socket in the working directory."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.png")
        yield "s.png"


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file below a directory without permission, which even root has not."""
    looked_at = os.stat

    def stat(path: object, *more: object, **named: object) -> os.stat_result:
        if f"{os.sep}locked{os.sep}" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return looked_at(path, *more, **named)

    monkeypatch.setattr(os, "stat", stat)
    return tmp_path / "locked" / "p.png"


# Each command with what it needs to be asked for an output.
WRITERS = {
    "fit": ("fit",),
    "measure": ("measure",),
    "verify": ("verify", "--max-ece", "0.5"),
    "plot": ("plot",),
}


@pytest.mark.parametrize("command", WRITERS)
def test_no_input_is_replaced(run: Run, command: str, csv_of: Make) -> None:
    """Neither a file of a directory, nor one named with its format, nor one behind a link."""
    path = csv_of(*GOOD, name="p.png")
    before = path.read_bytes()
    Path("more").mkdir()
    Path("more/link.png").symlink_to(path)
    for given, output in (
        (path, path),
        ("more:csv", Path("more/link.png")),
        (f"{path}:csv", path),
        (path, Path("more/link.png")),
        ("more:csv", path),
        (path, Path("more/../p.png")),
    ):
        assert "is also an input" in refused(run(*WRITERS[command], given, "-o", output, "--force"), 5)
        assert path.read_bytes() == before


@pytest.mark.parametrize("command", ["measure", "verify", "plot", "apply"])
def test_no_artifact_is_replaced(run: Run, artifact: Path, command: str) -> None:
    """An artifact is an input too, under whatever name."""
    before = artifact.read_bytes()
    output = artifact.with_suffix(".png")
    output.hardlink_to(artifact)
    data = SAMPLE / "churn_evaluation.parquet"
    if command == "apply":
        words: list[object] = ["apply", artifact, data, "-s", "score"]
    else:
        words = [*WRITERS[command], data, *CHURN, "--artifact", artifact]
    assert "is also an input" in refused(run(*words, "-o", output, "--force"), 5)
    assert artifact.read_bytes() == before


def test_apply_replaces_none_of_a_directory(run: Run, artifact: Path) -> None:
    """A directory of one file is that file."""
    Path("d").mkdir()
    path = Path("d/a.csv")
    path.write_text("score\n0.5\n")
    for given in (path.parent, f"{path}:csv"):
        assert "is also an input" in refused(run("apply", artifact, given, "-o", path, "--force"), 5)
    assert path.read_text() == "score\n0.5\n"


@pytest.mark.parametrize("command", ["measure", "inspect"])
@pytest.mark.parametrize(
    ("path", "reason"),
    [(LONG, "file name too long"), (f"{LONG}:csv", "file name too long"), ("a\0b", "null")],
)
def test_impossible_input_is_exit_3(run: Run, command: str, path: str, reason: str) -> None:
    """A name that no file can have."""
    line = refused(run(command, path), 3)
    assert "cannot be read: " in line
    assert reason in line


def test_impossible_artifact_is_exit_3(run: Run, csv_of: Make) -> None:
    """The same of an artifact, with an output and without."""
    path = csv_of(*GOOD)
    for artifact in (LONG, "a\0b"):
        for more in ([], ["-o", path.with_name("r.txt")]):
            assert "cannot be read" in refused(run("measure", path, "--artifact", artifact, *more), 3)


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize(("path", "reason"), [(LONG, "file name too long"), ("a\0b", "null")])
def test_impossible_output_is_exit_5(run: Run, csv_of: Make, command: str, path: str, reason: str) -> None:
    """A name that no file can have."""
    line = refused(run(*WRITERS[command], csv_of(*GOOD), "-o", f"{path}.png"), 5)
    assert "cannot be written: " in line
    assert reason in line


@pytest.mark.parametrize(
    ("place", "reason"), [("locked", "permission denied"), ("listening", "it is a socket")]
)
def test_locked_directory_and_socket_are_one_line(
    run: Run, csv_of: Make, request: pytest.FixtureRequest, place: str, reason: str
) -> None:
    """Without permission to look as well: exit 3 for an input, 5 for an output."""
    path = request.getfixturevalue(place)
    for command in ("measure", "inspect"):
        assert refused(run(command, path), 3) == f"error: {path} cannot be read: {reason}"
    for words in WRITERS.values():
        line = refused(run(*words, csv_of(*GOOD), "-o", path, "--force"), 5)
        assert line == f"error: {path} cannot be written: {reason}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look anywhere")
def test_locked_part_of_a_directory_is_refused(run: Run, csv_of: Make, tmp_path: Path) -> None:
    """Rows that may not be read are not left out in silence."""
    csv_of(*GOOD)
    Path("part").mkdir(0o000)
    assert "part cannot be read: permission denied" in refused(run("measure", tmp_path), 3)


def test_options_that_change_the_picture_of_a_report_are_taken(run: Run, csv_of: Make) -> None:
    """The others are refused, as if the picture could show them."""
    report, picture = Path("report.json"), Path("p.png")
    assert run("measure", csv_of(*GOOD), "--json", "-o", report).code == 0
    assert run("plot", report, "-o", picture, "--kind", "binned", "--title", "T", "-q").code == 0
    assert run("plot", report, "-o", picture, "--force", "--debug").code == 0


def test_inspect_of_a_directory(run: Run, csv_of: Make, tmp_path: Path) -> None:
    """One without data is refused, another shows the columns of its first file."""
    assert "holds no data files" in refused(run("inspect", tmp_path), 3)
    csv_of(*GOOD)
    ended = run("inspect", tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert "label" in ended.out


def test_inspect_takes_nothing_from_a_pipe(run: Run) -> None:
    """Looking for a document must not eat the header."""
    fifo = Path("fifo")
    os.mkfifo(fifo)
    with subprocess.Popen(["sh", "-c", f"printf 'score,label\\n0.5,1\\n' > {fifo}"]):
        ended = run("inspect", fifo)
    assert ended.code == 0, ended
    assert "score" in ended.out


@contextmanager
def fed(*contents: bytes) -> Iterator[list[str]]:
    """Return the names of pipes that hold some contents, and can be read once as those of a shell."""
    ends = [os.pipe() for _ in contents]
    try:
        for (_, into), content in zip(ends, contents, strict=True):
            with os.fdopen(into, "wb") as end:
                end.write(content)
        yield [f"/dev/fd/{out}" for out, _ in ends]
    finally:
        for out, _ in ends:
            os.close(out)


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (["--artifact", "cal.json"], "csv"),
        (["-s", "scor*", "-y", "label"], "csv"),
        (["-s", "scor*", "-y", "label"], "parquet"),
    ],
)
def test_what_is_looked_at_before_rows_are_read_takes_nothing_from_a_pipe(
    run: Run, words: list[str], form: str
) -> None:
    """A pattern of scores, and a map that may be one of several classes, need a header first."""
    Path("rows.csv").write_text("\n".join((*GOOD, "")), encoding="utf-8")
    run("fit", "rows.csv", "-o", "cal.json", code=0)
    content = Path("rows.csv").read_bytes()
    if form == "parquet":
        pq.write_table(pa_csv.read_csv("rows.csv"), "rows.parquet")
        content = Path("rows.parquet").read_bytes()
    whole = run("measure", "rows.csv", *words, code=0).out
    piped = run("measure", "-", *words, stdin=content, code=0).out
    assert piped.replace("standard input", "rows.csv") == whole


def test_a_pattern_takes_nothing_from_any_of_several_pipes(run: Run) -> None:
    """Not only the first is opened to be looked at."""
    head, *rows = (f"{line}\n".encode() for line in GOOD)
    with fed(head + b"".join(rows[:30]), head + b"".join(rows[30:])) as pipes:
        assert "60 rows" in run("measure", *pipes, "-s", "scor*", "-y", "label", code=0).out


def test_a_file_with_another_separator_is_inspected_from_a_pipe(run: Run) -> None:
    """It is looked at a second time from its beginning, however much there is."""
    rows = "a;b;label\n" + "".join(f"0.{place:06d};0.5;{place % 2}\n" for place in range(20_000))
    assert "-s SCORE -y label --delimiter ';'" in run("inspect", "-", stdin=rows.encode(), code=0).out


@pytest.mark.parametrize(
    "words",
    [
        ["segments", "PIPE", "-s", "a", "-s", "b", "-y", "label", "--on", "c"],
        ["compare", "PIPE", "-s", "a", "-s", "b", "-y", "label", "--by", "c"],
        ["verify", "PIPE", "-s", "a", "-y", "label", "--max-ece", ".5", "--by", "c", "--state", "s.json"],
    ],
    ids=" ".join,
)
def test_rows_that_are_read_more_than_once_come_through_no_pipe(run: Run, words: list[str]) -> None:
    """By any name of one, and before it is waited for a second time."""
    content = b"a,b,label,c\n" + b"0.25,0.5,0,x\n0.75,0.5,1,y\n" * 200
    Path("t.csv").write_bytes(content)
    os.mkfifo("fifo")
    for name in ("-", "fifo"):
        line = [name if word == "PIPE" else word for word in words]
        said = refused(run(*line, stdin=content), 2)
        shown = "fifo" if name == "fifo" else "standard input"
        assert said.startswith(f"error: {shown} can be read once, and "), said


@pytest.mark.parametrize("words", [["-", "t.csv"], ["t.csv", "-"]], ids=" ".join)
def test_old_or_new_rows_of_drift_come_through_a_pipe(run: Run, words: list[str]) -> None:
    """They are read once, sorted by their scores or not."""
    path, content = Path("t.csv"), "a,c\n0.25,y\n0.75,x\n"
    path.write_text(content)
    named = [str(path) if word == "t.csv" else word for word in words]
    ended = run(
        "drift", *named, "-s", "a", "--on", "c", "--sort", "score", "--json", stdin=content.encode(), code=0
    )
    assert [level["where"] for level in ended.document["columns"][1]["levels"]] == ["c = y", "c = x"]


@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [("<&-", 3, "standard input is closed"), (">&-", 5, "standard output is closed"), ("2>&-", 3, "")],
)
def test_closed_streams_are_no_failed_gate(tmp_path: Path, closed: str, code: int, said: str) -> None:
    """A shell may close what it does not want."""
    script = f'exec "$0" -m calibcli measure - {closed}'
    ended = subprocess.run(
        ["sh", "-c", script, sys.executable],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SAMPLE.parent)},
    )
    assert ended.returncode == code, ended
    assert said in ended.stderr.decode()
    assert b"Traceback" not in ended.stderr


HOSTILE = [
    "x;touch PWN.csv",
    "$(touch P).csv",
    "`id`.csv",
    "it's.csv",
    'a "b" & c.csv',
    "a b/f 1.csv",
    "a  b.csv",
    "-dash.csv",
    "it's $HOME\\.csv",
    "plain.csv",
    "\u00fc.csv",
]


def next_words(run: Run, path: str) -> list[str]:
    """Return the words that a shell makes of the command that inspect prints."""
    dashes = ["--"] if path.startswith("-") else []
    ended = run("inspect", *dashes, path, code=0)
    (line,) = [one for one in ended.out.splitlines() if one.startswith("next  ")]
    suggested = run("inspect", "--json", *dashes, path).document["suggestion"]
    words = shlex.split(line.removeprefix("next"))
    assert words == shlex.split(suggested)
    return words


@pytest.mark.parametrize("name", HOSTILE)
def test_the_next_command_has_a_file_name_as_one_word(run: Run, name: str) -> None:
    """Whatever letters a name has, a shell that is given the printed command sees that file and no more."""
    Path(name).parent.mkdir(exist_ok=True)
    first, *rows = GOOD
    Path(name).write_text("".join(f"{line}\n" for line in (f"{first},land", *(f"{row},a" for row in rows))))
    shown = f"./{name}" if name.startswith("-") else name
    words = next_words(run, name)
    assert words == ["calibcli", "measure", shown, *CHURN]
    assert run(*words[1:]).code == 0
    if name not in (HOSTILE[0], "-dash.csv", "it's $HOME\\.csv"):
        return
    # The names of documents go the same way, of which the worst ones are enough.
    stem = name.removesuffix(".csv")
    made = {kind: f"{stem} {kind}.json" for kind in ("artifact", "groups", "summary", "report", "state")}
    verify = ("--max-ece", "0.5", "--state", f"./{made['state']}")
    assert run("fit", shown, *CHURN, "-o", f"./{made['artifact']}").code == 0
    assert run("fit", shown, *CHURN, "--by", "land", "-o", f"./{made['groups']}").code == 0
    assert run("measure", shown, *CHURN, "--summary-out", f"./{made['summary']}").code == 0
    assert run("measure", shown, *CHURN, "--json", "-o", f"./{made['report']}").code == 0
    assert run("verify", shown, *CHURN, *verify).code in (0, 1, 4)
    for kind, document in made.items():
        words = next_words(run, document)
        assert words[0] == "calibcli"
        assert words.count(f"./{document}" if document.startswith("-") else document) == 1, kind
    hint = run("verify", shown, *CHURN, f"--baseline=./{made['artifact']}", "--max-regression", "0.1").err
    command = hint.split("write that first: ")[1].rsplit("; or judge", 1)[0]
    assert f"./{made['artifact']}" in shlex.split(command)


def test_a_name_that_cannot_be_shown_is_not_in_a_command(run: Run) -> None:
    """An escape in place of a letter would name another file."""
    Path("a\nb.csv").write_text("".join(f"{line}\n" for line in GOOD))
    assert next_words(run, "a\nb.csv")[:3] == ["calibcli", "measure", "FILE"]


def test_hidden_files_are_no_names_to_mean(run: Run) -> None:
    """The lock beside a state was offered for a state that is not there; one who types a dot may mean one."""
    for name in ("gate2.json", ".gate2.json.lock"):
        Path(name).touch()
    assert run("inspect", "gate.json", code=3).err.endswith(" gate2.json?\n")
    assert ".gate2.json.lock" in run("inspect", ".gate2.json.loc", code=3).err
