"""What a refused line is told, and what happens to streams, signals and disks that are full."""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.data.arrays import Column
from calibcli.data.columns import ResolvedColumns
from calibcli.data.fault_words import not_numbers
from calibcli.errors import UsageProblem
from calibcli.options.conditions import condition_of
from calibcli.options.rows import Columns
from command_line import CHURN, SAMPLE, Make, Run
from faults import waited_for


def test_json_said_twice_is_no_contradiction(run: Run, thousand: Path) -> None:
    """`--json --format json` gives JSON."""
    ended = run("measure", thousand, *CHURN, "--metric", "ece", "--json", "--format", "json", code=0)
    assert ended.out.startswith("{")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("country = 'DE' and day == 3", "write == for equal"),
        ("country = 'DE' and day == 3", "repeat --where"),
        ("country == 'DE' AND day > 3", "repeat --where"),
        ("day>0.3 and day < 0.5", "repeat --where"),
        (
            "country is null",
            "no condition selects rows without a value; 'country!=-' selects those that have one",
        ),
        ("my age IS NOT NULL", "'my age!=-'"),
        ("name == a, 'rock and roll' b", "into quotes"),
    ],
)
def test_conditions_of_sql_are_told_how_to_be_written(text: str, hint: str) -> None:
    """The hint names the sign, and that conditions are repeated."""
    with pytest.raises(UsageProblem) as caught:
        condition_of(text)
    assert hint in (caught.value.hint or "")


def test_what_takes_no_map_by_group_takes_one_group_by_group(run: Run) -> None:
    """The hint of an export to ONNX names `--where` in place of `--by`, which works."""
    fit = ("fit", SAMPLE / "churn_calibration.parquet", *CHURN, "-q", "-o")
    run(*fit, "g.json", "--by", "group", code=0)
    assert "--where 'group==GROUP'" in run("export", "g.json", "--to", "onnx", "-o", "g.onnx", code=2).err
    run(*fit, "east.json", "--where", "group==east", code=0)
    assert run("export", "east.json", "--to", "sql").code == 0


def test_a_map_by_group_says_what_its_column_is_for(run: Run, csv_of: Make) -> None:
    """Rows without the column of the groups are told that the map was fitted by it."""
    rows = [f"0.{place % 90 + 10},{place % 3 % 2},{'ab'[place % 2]}" for place in range(300)]
    path = csv_of("score,label,bank", *rows)
    assert run("fit", path, *CHURN, "--by", "bank", "-o", path.with_name("by.json"), "-q").code == 0
    lone = csv_of("score", "0.5", name="lone.csv")
    ended = run("apply", path.with_name("by.json"), lone, "-o", path.with_name("out.csv"), code=3)
    assert "the map was fitted by the column 'bank' (fit --by)" in ended.err


def test_column_names_are_the_same_in_either_form_of_unicode(run: Run, csv_of: Make) -> None:
    """A decomposed name finds the composed column, unless two columns differ in nothing else."""
    composed, decomposed = "Bonit\u00e4t", "Bonita\u0308t"
    path = csv_of(f"{composed},label", "0.5,1", "0.2,0")
    assert run("measure", path, "-s", decomposed, "-y", "label", "--metric", "brier").code == 0
    both = csv_of(f"{composed},{decomposed},label", "0.5,0.5,1", "0.2,0.2,0")
    assert run("measure", both, "-s", decomposed, "-y", "label", "--metric", "brier").code == 0
    ended = run("measure", both, "-s", decomposed.upper(), "-y", "label", code=3)
    assert "use different Unicode characters" in ended.err


@pytest.mark.parametrize(
    ("column", "hint"),
    [
        (pa.array([[0.25, 0.75]]), "pass --probs probs if"),
        (pa.array([None, "0,1"]), "a decimal point, not a comma"),
        (pa.array(["high"]), "name another column, or export numbers"),
    ],
)
def test_columns_of_something_else_are_told_what_they_seem_to_be(column: Column, hint: str) -> None:
    """Rows of probabilities are named to `--probs`, and text with decimal commas is recognised."""
    problem = not_numbers(column, "probs", ResolvedColumns(Columns(), "probs", "label"), shown="m.npz")
    assert "m.npz, column 'probs': it holds" in problem.message
    assert hint in (problem.hint or "")


COMMAND = [sys.executable, "-m", "calibcli"]
EVALUATION = SAMPLE / "churn_evaluation.parquet"
GOOD = ("score,label", *(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}" for i in range(60)))
PROC = Path("/proc/self/fd")


def spools(process: "subprocess.Popen[bytes]", folder: Path) -> bool:
    """Whether a process has a file of a folder open, under whatever name."""
    found = []
    for link in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(OSError):
            found.append(str(link.readlink()))
    return any(name.startswith(str(folder)) for name in found)


def few_rows(folder: Path) -> Path:
    """Return the first rows of the sample as Parquet, which needs its end first."""
    path = folder / "few.parquet"
    pq.write_table(pq.read_table(EVALUATION).slice(0, 2_000), path)
    return path


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["measure", "-", "-s", "nothing"], 3),
        (["verify", "-", *CHURN, "--max-ece", "0.0001"], 1),
        (["apply", "cal.json", "-", "-s", "score", "--to", "csv", "-o", "-"], 0),
    ],
)
def test_spooled_standard_input_leaves_no_file(
    run: Run, words: list[str], code: int, artifact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever becomes of the command."""
    content, folder = few_rows(tmp_path).read_bytes(), Path("spool")
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    run(*(artifact if word == "cal.json" else word for word in words), stdin=content, code=code)
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(not PROC.exists(), reason="the system does not tell which files are open")
def test_a_signal_while_spooling_leaves_no_file(tmp_path: Path) -> None:
    """Not even one that nobody can catch."""
    with subprocess.Popen(
        [*COMMAND, "measure", "-", *CHURN],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        process.stdin.write(EVALUATION.read_bytes()[:200_000])
        process.stdin.flush()
        waited_for(lambda: spools(process, tmp_path))
        process.kill()
    assert list(tmp_path.iterdir()) == []


def inputs_of_apply(folder: Path) -> list[Path]:
    """Return rows as text and as Parquet."""
    return [SAMPLE / "breast_cancer_evaluation.csv", few_rows(folder)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_apply_to_a_full_disk_is_exit_5(run: Run, artifact: Path, tmp_path: Path) -> None:
    """By whatever name, format or compression: the input is not to blame."""
    words = [*COMMAND, "apply", str(artifact), "-s", "score", "-o", "-"]
    for source in inputs_of_apply(tmp_path):
        with Path("/dev/full").open("wb") as full:
            ended = subprocess.run([*words, str(source)], stdout=full, stderr=subprocess.PIPE, check=False)
        assert ended.returncode == 5
        assert ended.stderr == b"error: standard output cannot be written: no space left on device\n"
        for name in ("full.csv", "full.csv.gz", "full.tsv.zst", "full.parquet"):
            if not Path(name).exists():
                Path(name).symlink_to("/dev/full")
            ended_here = run("apply", artifact, "-s", "score", source, "-o", Path(name), code=5)
            assert ended_here.err.endswith(f"{name} cannot be written: no space left on device\n")


def test_a_reader_that_left_apply_is_exit_141(artifact: Path, tmp_path: Path) -> None:
    """Quietly, in every format."""
    words = [*COMMAND, "apply", str(artifact), "-s", "score", "-o", "-"]
    for source in inputs_of_apply(tmp_path):
        with subprocess.Popen(
            [*words, str(source)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            process.stdout.close()
            err = process.stderr.read()
        assert (process.returncode, err) == (141, b"")


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n\r"])
def test_apply_reads_the_records_that_measure_reads(run: Run, artifact: Path, end: str) -> None:
    """Old line ends, and a mixture of them: every row gets its own value."""
    lines = [f"{i / 10},{i % 2}" for i in range(10)]
    Path("a.csv").write_bytes(("score,label\r" + end.join(lines)).encode())
    Path("b.csv").write_text("\n".join(["score,label", *lines]))
    for name in "ab":
        run("apply", artifact, f"{name}.csv", "-o", f"{name}2.csv", code=0)
    old, new = (Path(f"{name}2.csv") for name in "ab")
    # Text files are read with any line end; blank lines stay where they were.
    assert [line for line in old.read_text().splitlines() if line] == new.read_text().splitlines()
    assert old.read_bytes().count(b"\r") == Path("a.csv").read_bytes().count(b"\r")
    one, two = (run("measure", path, "-s", "calibrated", "--json").document for path in (old, new))
    assert one.pop("digest") != two.pop("digest")
    one["input"]["files"] = two["input"]["files"]
    assert one == two


def test_a_gate_counts_a_file_once(run: Run, csv_of: Make, tmp_path: Path) -> None:
    """The same rows twice would make it surer than it may be; standard input is a file like any."""
    path = csv_of(*GOOD)
    for again in (path, f"{path}:csv", Path("..") / tmp_path.name / "p.csv", tmp_path):
        for words in (["verify", "--max-ece", "0.9"], ["measure"], ["fit"]):
            ended = run(*words, path, again)
            assert (ended.code, ended.out) == (2, "")
            assert "hint: name it once" in ended.err
    command = [*COMMAND, "measure", str(path), "-"]
    with path.open("rb") as stdin:
        ended_there = subprocess.run(command, stdin=stdin, capture_output=True, check=False)
    assert ended_there.returncode == 2
    assert f"standard input is the same file as {path}" in ended_there.stderr.decode()
