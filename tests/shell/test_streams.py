"""Standard input and output as files, pipes and full disks: what is read, and what stays behind."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_line import CHURN, SAMPLE, Ran

Run = Callable[..., Ran]
Csv = Callable[..., Path]
COMMAND = [sys.executable, "-m", "calibcli"]
EVALUATION = SAMPLE / "churn_evaluation.parquet"
GOOD = ("score,label", *(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}" for i in range(60)))
PROC = Path("/proc/self/fd")
TERM = (signal.SIGTERM, 143)


def waited_for(done: Callable[[], bool]) -> None:
    """Wait until something has happened, 30 seconds at most."""
    end = time.monotonic() + 30
    while not done() and time.monotonic() < end:
        time.sleep(0.01)
    assert done()


def spools(process: "subprocess.Popen[bytes]", folder: Path) -> bool:
    """Whether a process has a file of a folder open, under whatever name."""
    found = []
    for link in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(OSError):
            found.append(str(link.readlink()))
    return any(name.startswith(str(folder)) for name in found)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["measure", "-", *CHURN], 0),
        (["measure", "-", "-s", "nothing"], 3),
        (["verify", "-", *CHURN, "--max-ece", "0.0001"], 1),
        (["verify", "-", *CHURN, "--max-ece", "0.5", "--min-rows", "1000000"], 4),
        (["inspect", "-"], 0),
        (["apply", "cal.json", "-", "-s", "score", "-o", "-"], 0),
    ],
)
def test_spooled_standard_input_leaves_no_file(
    words: list[str], code: int, artifact: Path, tmp_path: Path
) -> None:
    """Whatever becomes of the command."""
    folder = tmp_path / "spool"
    folder.mkdir()
    ended = subprocess.run(
        [*COMMAND, *(str(artifact) if word == "cal.json" else word for word in words)],
        input=EVALUATION.read_bytes(),
        capture_output=True,
        check=False,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert ended.returncode == code, ended.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(not PROC.exists(), reason="the system does not tell which files are open")
@pytest.mark.parametrize(("number", "code"), [TERM, (signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_signal_while_spooling_leaves_no_file(number: int, code: int, tmp_path: Path) -> None:
    """Not even one that nobody can catch."""
    with subprocess.Popen(
        [*COMMAND, "measure", "-", *CHURN],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdin is not None
        process.stdin.write(EVALUATION.read_bytes()[:200_000])
        process.stdin.flush()
        waited_for(lambda: spools(process, tmp_path))
        process.send_signal(number)
        assert process.wait(20) == code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [TERM, (signal.SIGINT, 130)])
def test_a_signal_during_apply_leaves_no_part(number: int, code: int, artifact: Path, tmp_path: Path) -> None:
    """The unfinished output goes, and what stood there stays."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "out.csv").write_text("old")
    command = [*COMMAND, "apply", str(artifact), "-", "-s", "score", "-o", str(folder / "out.csv"), "--force"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"score\n" + b"0.25\n" * 100_000)
        process.stdin.flush()
        waited_for(lambda: any(path.suffix == ".part" for path in folder.iterdir()))
        process.send_signal(number)
        assert process.wait(20) == code
    assert [path.name for path in folder.iterdir()] == ["out.csv"]
    assert (folder / "out.csv").read_text() == "old"


def inputs_of_apply(folder: Path) -> list[Path]:
    """Return the same rows as text, compressed and as Parquet."""
    text = (SAMPLE / "breast_cancer_evaluation.csv").read_bytes()
    (folder / "a.csv").write_bytes(text)
    (folder / "a.csv.gz").write_bytes(gzip.compress(text))
    return [folder / "a.csv", folder / "a.csv.gz", EVALUATION]


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
            if not (tmp_path / name).exists():
                (tmp_path / name).symlink_to("/dev/full")
            ended_here = run("apply", artifact, "-s", "score", source, "-o", tmp_path / name)
            assert ended_here.code == 5, ended_here
            assert ended_here.err.endswith(f"{name} cannot be written: no space left on device\n")


def test_a_reader_that_left_apply_is_exit_141(artifact: Path, tmp_path: Path) -> None:
    """Quietly, in every format."""
    words = [*COMMAND, "apply", str(artifact), "-s", "score", "-o", "-"]
    for source in inputs_of_apply(tmp_path):
        with subprocess.Popen(
            [*words, str(source)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            err = process.stderr.read()
        assert (process.returncode, err) == (141, b"")


@pytest.mark.parametrize("name", ["x.parquet.gz", "x.pq.zst", "x.gz"])
def test_parquet_within_a_compression_is_refused(run: Run, artifact: Path, tmp_path: Path, name: str) -> None:
    """It could not be read back."""
    ended = run("apply", artifact, EVALUATION, "-o", tmp_path / name)
    assert ended.code == 2
    assert f"{name}: Parquet is compressed inside" in ended.err
    assert f"hint: name it {tmp_path / 'x.parquet'}" in ended.err
    assert not (tmp_path / name).exists()
    assert run("apply", artifact, EVALUATION, "-o", tmp_path / "x.csv.gz").code == 0
    assert run("apply", artifact, EVALUATION, "-o", tmp_path / "x.parquet").code == 0
    assert pq.read_table(tmp_path / "x.parquet").num_rows == 50_000


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n\r"])
def test_apply_reads_the_records_that_measure_reads(
    run: Run, artifact: Path, tmp_path: Path, end: str
) -> None:
    """Old line ends, and a mixture of them: every row gets its own value."""
    lines = [f"{i / 10},{i % 2}" for i in range(10)]
    (tmp_path / "a.csv").write_bytes(("score,label\r" + end.join(lines)).encode())
    (tmp_path / "b.csv").write_text("\n".join(["score,label", *lines]))
    for name in "ab":
        applied = run("apply", artifact, tmp_path / f"{name}.csv", "-o", tmp_path / f"{name}2.csv")
        assert applied.code == 0, applied.err
    old, new = (tmp_path / f"{name}2.csv" for name in "ab")
    # Text files are read with any line end; blank lines stay where they were.
    assert [line for line in old.read_text().splitlines() if line] == new.read_text().splitlines()
    assert old.read_bytes().count(b"\r") == (tmp_path / "a.csv").read_bytes().count(b"\r")
    one, two = (json.loads(run("measure", path, "-s", "calibrated", "--json").out) for path in (old, new))
    assert one.pop("digest") != two.pop("digest")
    one["input"]["files"] = two["input"]["files"]
    assert one == two


def test_a_gate_counts_a_file_once(run: Run, csv_of: Csv, tmp_path: Path) -> None:
    """The same rows twice would make it surer than it may be; standard input is a file like any."""
    path = csv_of(*GOOD)
    for again in (path, f"{path}:csv", tmp_path / ".." / tmp_path.name / "p.csv", tmp_path):
        for words in (["verify", "--max-ece", "0.9"], ["measure"], ["fit"]):
            ended = run(*words, path, again)
            assert (ended.code, ended.out) == (2, "")
            assert "hint: name it once" in ended.err
    command = [*COMMAND, "measure", str(path), "-"]
    with path.open("rb") as stdin:
        ended_there = subprocess.run(command, stdin=stdin, capture_output=True, check=False)
    assert ended_there.returncode == 2
    assert f"standard input is the same file as {path}" in ended_there.stderr.decode()


def test_weights_that_are_nowhere_are_a_usage_error(run: Run, csv_of: Csv) -> None:
    """An option without effect is a misunderstanding."""
    for words in (["measure"], ["verify", "--max-ece", "0.5"], ["fit"]):
        ended = run(*words, csv_of(*GOOD), "--weights-are", "frequency")
        assert (ended.code, ended.out) == (2, "")
        assert "--weights-are frequency without weights" in ended.err
