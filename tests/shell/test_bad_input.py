"""Bad input: for each kind the line printed, the exit code, and nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import CHURN, SAMPLE, Ran

Run = Callable[..., Ran]
Csv = Callable[..., Path]
GOOD = ("score,label", *(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}" for i in range(60)))


def one_line(ended: Ran, code: int) -> str:
    """Check that an error is one line and perhaps a hint, and return it."""
    assert ended.code == code, ended
    assert ended.out == ""
    lines = ended.err.strip().splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    assert len(errors) == 1, ended.err
    assert all(line.startswith(("error: ", "hint: ", "note: ")) for line in lines), ended.err
    assert "Traceback" not in ended.err
    return ended.err


def test_wrong_column_lists_the_columns_there_are(run: Run, csv_of: Csv) -> None:
    """A typo gets the closest name."""
    err = one_line(run("measure", csv_of(*GOOD), "-s", "scroe", "-y", "label"), 3)
    assert "'scroe'" in err
    assert "the columns are 'score', 'label'" in err
    assert "did you mean 'score'" in err


def test_duplicate_column_is_refused(run: Run, csv_of: Csv) -> None:
    """Two columns of one name cannot be told apart."""
    err = one_line(run("measure", csv_of("score,score,label", "0.1,0.2,1")), 3)
    assert "score" in err


def test_empty_file_is_refused(run: Run, tmp_path: Path) -> None:
    """A file of no bytes is said to be empty."""
    (tmp_path / "e.csv").write_bytes(b"")
    assert "empty" in one_line(run("measure", tmp_path / "e.csv"), 3)


def test_header_without_rows_is_refused(run: Run, csv_of: Csv) -> None:
    """A header alone holds nothing to measure."""
    assert "no rows" in one_line(run("measure", csv_of("score,label")), 3)


def test_missing_file_is_refused(run: Run, tmp_path: Path) -> None:
    """A path that is not there is named."""
    assert "nowhere.csv" in one_line(run("measure", tmp_path / "nowhere.csv"), 3)


@pytest.mark.parametrize("value", ["NaN", ""])
def test_missing_score_is_counted_and_located(run: Run, csv_of: Csv, value: str) -> None:
    """NaN and empty are missing; `--on-missing drop` drops and reports them."""
    path = csv_of(*GOOD, f"{value},1")
    err = one_line(run("measure", path), 3)
    assert "1 of 61" in err
    assert "row 61" in err
    dropped = run("measure", path, "--on-missing", "drop")
    assert dropped.code == 0
    assert "1 row" in dropped.out


def test_score_above_one_is_counted_and_located(run: Run, csv_of: Csv) -> None:
    """1.2 is outside [0, 1]; `--on-range clip` clips and reports it."""
    path = csv_of(*GOOD, "1.2,1")
    err = one_line(run("measure", path), 3)
    assert "1 of 61 values lies outside [0, 1]" in err
    assert "1.2 at row 61" in err
    assert run("measure", path, "--on-range", "clip").code == 0


def test_logits_by_mistake_get_the_hint(run: Run, csv_of: Csv) -> None:
    """Scores far outside [0, 1] on both sides look like logits."""
    path = csv_of("score,label", *(f"{(i - 30) / 7:.3f},{i % 2}" for i in range(60)))
    assert "--scale logit" in one_line(run("measure", path), 3)
    assert run("measure", path, "--scale", "logit").code == 0


def test_labels_one_and_two_get_the_hint(run: Run, csv_of: Csv) -> None:
    """Labels that are not 0/1 need to be told which one is positive."""
    path = csv_of("score,label", *(f"{(i % 19 + 1) / 20},{i % 2 + 1}" for i in range(60)))
    assert "--positive 2" in one_line(run("measure", path), 3)
    assert run("measure", path, "--positive", "2").code == 0


def test_one_class_only(run: Run, csv_of: Csv) -> None:
    """Measure notes it, fit refuses it, verify concludes nothing."""
    path = csv_of("score,label", *(f"{(i % 19 + 1) / 20},0" for i in range(200)))
    measured = run("measure", path)
    assert measured.code == 0
    assert "every label is 0" in measured.out
    assert "both labels" in one_line(run("fit", path), 3)
    assert run("verify", path, "--max-ece", "0.1").code == 4


def test_one_row(run: Run, csv_of: Csv) -> None:
    """Measure answers with what one row can say, fit refuses, verify concludes nothing."""
    path = csv_of("score,label", "0.3,1")
    assert run("measure", path).code == 0
    one_line(run("fit", path), 3)
    assert run("verify", path, "--max-ece", "0.1").code == 4


def test_truncated_parquet_is_one_line(run: Run, tmp_path: Path) -> None:
    """Half a Parquet file is refused with its name."""
    whole = (SAMPLE / "churn_evaluation.parquet").read_bytes()
    (tmp_path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    assert "half.parquet" in one_line(run("measure", tmp_path / "half.parquet", *CHURN), 3)


def test_truncated_artifact_is_one_line(run: Run, artifact: Path) -> None:
    """Half an artifact is refused with its name and where it ends."""
    artifact.write_text(artifact.read_text()[:300])
    err = one_line(
        run(
            "verify", SAMPLE / "churn_evaluation.parquet", *CHURN, "--artifact", artifact, "--max-ece", "0.1"
        ),
        3,
    )
    assert "cal.json" in err
    assert "ends too early" in err


def test_damaged_artifact_names_the_place(run: Run, artifact: Path) -> None:
    """A wrong value in an artifact is refused with a path."""
    artifact.write_text(artifact.read_text().replace('"rows": 50000', '"rows": "many"', 1))
    err = one_line(run("inspect", artifact), 3)
    assert "$." in err


def test_fit_rows_are_refused_by_verify(run: Run, artifact: Path) -> None:
    """An artifact is not judged by its own rows unless the user insists."""
    words = [
        "verify",
        SAMPLE / "churn_calibration.parquet",
        *CHURN,
        "--artifact",
        artifact,
        "--max-ece",
        "0.1",
    ]
    assert "--allow-fit-rows" in one_line(run(*words), 3)
    assert run(*words, "--allow-fit-rows").code == 0


def test_repaired_scores_are_not_repaired_again(run: Run, artifact: Path, tmp_path: Path) -> None:
    """Scores that are all outputs of the artifact raise the question."""
    out = tmp_path / "c.parquet"
    run("apply", artifact, SAMPLE / "churn_evaluation.parquet", "-o", out)
    words = ["measure", out, "-s", "calibrated", "-y", "label", "--artifact", artifact]
    assert "already applied?" in one_line(run(*words), 2)


@pytest.mark.parametrize(
    "words",
    [
        ["verify", "p.csv"],
        ["verify", "p.csv", "--max-ece", "2"],
        ["measure", "p.csv", "--confidence", "1.5"],
        ["measure", "p.csv", "--bins", "0"],
        ["measure", "p.csv", "--memory", "lots"],
        ["measure", "p.csv", "--metric", "nonsense"],
        ["measure"],
        ["nonsense"],
        ["plot", "p.csv", "-o", "p.bmp"],
    ],
)
def test_usage_problems_are_exit_2(
    run: Run, csv_of: Csv, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that cannot be meant is told from bad input."""
    monkeypatch.chdir(csv_of(*GOOD).parent)
    one_line(run(*words), 2)


def test_existing_output_is_refused_before_reading(run: Run, csv_of: Csv, tmp_path: Path) -> None:
    """Nothing is overwritten without --force, and the input not even with it."""
    path = csv_of(*GOOD)
    out = tmp_path / "cal.json"
    out.write_text("mine")
    assert "--force" in one_line(run("fit", path, "-o", out), 5)
    assert out.read_text() == "mine"
    one_line(run("fit", path, "-o", path, "--force"), 5)
    assert path.read_text().startswith("score,label")


def test_output_into_a_missing_directory_is_refused(run: Run, csv_of: Csv, tmp_path: Path) -> None:
    """The directory is named."""
    assert "no directory" in one_line(run("fit", csv_of(*GOOD), "-o", tmp_path / "no" / "cal.json"), 5)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_directory_is_refused(run: Run, csv_of: Csv, tmp_path: Path) -> None:
    """No permission is exit 5."""
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    one_line(run("fit", csv_of(*GOOD), "-o", folder / "cal.json"), 5)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["fit", "measure"])
def test_full_disk_is_exit_5(shell: Run, csv_of: Csv, command: str) -> None:
    """No space left is one line, and never the exit code of a failed gate."""
    err = one_line(shell(command, csv_of(*GOOD), "-o", "/dev/full"), 5)
    assert "no space left" in err.lower()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["measure"], ["verify", "--max-ece", "0.9"], ["--help"], ["--version"]])
def test_full_standard_output_is_exit_5(csv_of: Csv, words: list[str]) -> None:
    """A verdict that could not be written has not been given."""
    more = [] if words[0].startswith("--") else [str(csv_of(*GOOD))]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "calibcli", *words, *more],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ended.returncode == 5, ended.stderr
    assert b"Traceback" not in ended.stderr


def test_closed_pipe_is_quiet(csv_of: Csv) -> None:
    """A reader that leaves is no error worth a word."""
    command = [sys.executable, "-m", "calibcli", "measure", str(csv_of(*GOOD)), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (141, b"")


def test_interrupt_leaves_nothing_half_written(tmp_path: Path) -> None:
    """Ctrl-C is exit 130, and the output does not exist."""
    out = tmp_path / "out.csv"
    fitted = tmp_path / "cal.json"
    base = [sys.executable, "-m", "calibcli"]
    fit = [*base, "fit", str(SAMPLE / "breast_cancer_calibration.csv"), "-s", "score", "-y", "label"]
    subprocess.run([*fit, "-o", str(fitted)], check=True, capture_output=True)
    command = [*base, "apply", str(fitted), "-", "-s", "score", "-o", str(out)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"score\n" + b"0.25\n" * 100_000)
        process.stdin.flush()
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        process.wait(20)
    assert process.returncode == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cal.json"]


def test_our_bug_is_exit_70_and_says_so(run: Run, csv_of: Csv, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything unexpected is a bug, in one line; --debug shows the traceback."""
    import calibcli.commands.measure

    def broken(*_: object, **__: object) -> None:
        msg = "oh"
        raise RuntimeError(msg)

    monkeypatch.setattr(calibcli.commands.measure, "measure_files", broken)
    path = csv_of(*GOOD)
    assert "bug in calibcli: RuntimeError: oh" in one_line(run("measure", path), 70)
    assert "Traceback" in run("measure", path, "--debug").err


def test_hostile_names_stay_on_one_line(run: Run, csv_of: Csv) -> None:
    """Escape sequences and markup in a column name are shown, not obeyed."""
    path = csv_of("sc\x1b[31more,label", *GOOD[1:])
    ended = run("measure", path, "-s", "sc\x1b[31more")
    assert "\x1b" not in ended.out + ended.err


def test_ascii_terminal_gets_ascii(csv_of: Csv) -> None:
    """Under LC_ALL=C nothing but ASCII is written."""
    command = [sys.executable, "-m", "calibcli", "measure", str(csv_of(*GOOD)), "-v"]
    plain = {**os.environ, "LC_ALL": "C"}
    for environment in (plain, {**plain, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        ended = subprocess.run(command, capture_output=True, check=False, env=environment)
        assert ended.returncode == 0, ended.stderr
        ended.stdout.decode("ascii")


@pytest.mark.parametrize("command", ["measure", "fit"])
def test_labels_that_are_all_missing_are_said_to_be(
    run: Run, csv_of: Csv, tmp_path: Path, command: str
) -> None:
    """Also beside `--positive`, for which there is no label to name then."""
    empty = csv_of("score,label", "0.5,", "0.2,")
    out = ("-o", tmp_path / "out.json") if command == "fit" else ()
    err = one_line(run(command, empty, "-s", "score", "-y", "label", "--positive", "yes", *out), 3)
    assert "2 of 2 values are missing" in err


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_utf_16_without_a_byte_order_mark_is_told_which_it_may_be(
    run: Run, tmp_path: Path, suffix: str
) -> None:
    """The two orders of bytes have names of their own, which read it."""
    rows = {"csv": "\n".join(GOOD), "jsonl": '{"score": 0.5, "label": 1}\n{"score": 0.5, "label": 0}'}
    file = tmp_path / f"rows.{suffix}"
    file.write_bytes(rows[suffix].encode("utf-16-le"))
    columns = ("-s", "score", "-y", "label")
    err = one_line(run("measure", file, "--encoding", "utf-16", *columns), 3)
    assert "--encoding utf-16-le" in err
    assert run("measure", file, "--encoding", "utf-16-le", *columns).code == 0


@pytest.mark.parametrize("head", ["\n\n", "\ufeff\n", '""\n'])
def test_a_blank_header_is_said_to_be_one(run: Run, tmp_path: Path, head: str) -> None:
    """Rather than that there is no column."""
    (tmp_path / "blank.csv").write_text(head + "\n".join(GOOD))
    assert "is blank" in one_line(run("measure", tmp_path / "blank.csv"), 3)


def test_an_output_needs_a_name(run: Run, csv_of: Csv) -> None:
    """The empty text is none."""
    assert "the name of the output is empty" in one_line(run("measure", csv_of(*GOOD), "-o", ""), 5)
