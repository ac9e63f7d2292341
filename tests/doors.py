"""Where foreign bytes come in: each door takes some, and makes sense of them or refuses them politely.

Hypothesis (`tests/hard`) and atheris (`fuzz/`) knock at the same doors. A `Broken` is a finding, and so is
any exception that is no `CalibcliError`.
"""

import io
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from functools import cache
from pathlib import Path

import numpy as np

from calibcli.errors import CalibcliError, InputProblem
from calibcli.names import DataFormat, EngineName
from command_line import ROOT, SAMPLE, Ran

FROZEN = ROOT / "tests" / "documents" / "frozen"
CLASSES = ROOT / "tests" / "documents" / "frozen_classes"
STATES = ROOT / "tests" / "stats" / "gates" / "frozen"
# What a command may end with where nobody interrupts it.
CODES = (0, 1, 2, 3, 4, 5)
_STARTS = ("error: ", "hint: ", "note: ")


class Broken(Exception):
    """Something that no input may bring about."""


class Door(StrEnum):
    """What foreign bytes are taken for."""

    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    JSONL = "jsonl"
    ARROW = "arrow"
    NPZ = "npz"
    CLASSES = "classes"
    REPAIR = "repair"
    COLUMNS = "columns"
    ARTIFACT = "artifact"
    STATE = "state"
    REPORT = "report"
    SUMMARY = "summary"
    TREE = "tree"
    RULE = "rule"
    WHERE = "where"
    EDGES = "edges"
    MEMORY = "memory"
    SETTINGS = "settings"
    COMMAND = "command"
    RELATIONS = "relations"


@cache
def scratch() -> Path:
    """Return a folder for the files of this process, in memory where there is such a place."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own in it
    return Path(
        tempfile.mkdtemp(prefix=f"calibcli-doors-{os.getpid()}-", dir=memory if memory.is_dir() else None)
    )


def knock(door: Door, content: bytes) -> bool:
    """Bring bytes to a door; return whether they were taken.

    Raises:
        Broken: If something happened that no input may bring about.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            _KNOCKS[door](content)
        except CalibcliError as problem:
            if problem.exit_code not in CODES or not problem.message.strip():
                msg = f"exit code {problem.exit_code}: {problem.message!r}"
                raise Broken(msg) from problem
            return False
    return True


def ended(*words: object) -> Ran:
    """Run the command line in this process and hold it to its promises."""
    from calibcli.shell.app import main

    return kept_promises(captured(lambda: main([str(word) for word in words])))


def captured(command: Callable[[], int]) -> Ran:
    """Return what a command in this process ended with and printed."""
    kept = sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdout, sys.stderr = (io.TextIOWrapper(one, "utf-8", write_through=True) for one in (out, err))
    try:
        return Ran(command(), out.getvalue().decode(), err.getvalue().decode())
    finally:
        sys.stdout, sys.stderr = kept


def kept_promises(ran: Ran) -> Ran:
    """Return what a command did, if it may.

    Raises:
        Broken: If the exit code is none of those documented, or an error is more than its lines.
    """
    lines = ran.err.splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    wrong = ran.code not in CODES or "Traceback (most recent call last)" in ran.err
    wrong |= any(letter < " " and letter not in "\n\t" for letter in ran.err)
    if ran.code in (2, 3, 5) and not (ran.code == 2 and ran.err.startswith("Usage:")):
        wrong |= len(errors) != 1 or bool(ran.out) or not all(line.startswith(_STARTS) for line in lines)
    if wrong:
        msg = f"exit code {ran.code}\nstdout: {ran.out[:500]!r}\nstderr: {ran.err[-2000:]}"
        raise Broken(msg)
    return ran


def _file(content: bytes, name: str) -> str:
    path = scratch() / name
    path.write_bytes(content)
    return str(path)


def _rows(kind: DataFormat) -> Callable[[bytes], None]:
    """Read a file as one of scores and labels, and count its rows twice."""

    def read(content: bytes) -> None:
        from calibcli.commands.gathering import choose_columns, gather
        from calibcli.commands.inspect import inspect_columns
        from calibcli.data.engines import engine_named
        from calibcli.data.fragments import list_fragments
        from calibcli.data.readers import reader_of
        from calibcli.options.rows import Columns

        path = f"{_file(content, 'rows')}:{kind.value}"
        with suppress(InputProblem):
            inspect_columns(path)
        columns = Columns(by=("group",)) if b"group" in content else Columns()
        gathered = gather([path], columns, engine=engine_named(EngineName.LOCAL, 1), limit=50)
        fragments = list_fragments([path])
        chosen = choose_columns(fragments, columns)
        there = sum(
            batch.num_rows for one in fragments for batch in reader_of(one).batches_of_all(chosen[one.path])
        )
        if there != gathered.input.rows + gathered.input.dropped:
            msg = (
                f"{there} rows, of which {gathered.input.rows} are used and {gathered.input.dropped} dropped"
            )
            raise Broken(msg)

    return read


def _classes(content: bytes) -> None:
    """Read a file as one of several classes, of the format that its first bytes promise."""
    from calibcli.commands.gathering import gather
    from calibcli.data.engines import engine_named
    from calibcli.options.rows import Columns, SeveralClasses

    columns = Columns(several=SeveralClasses("p_*"))
    gather([_file(content, "classes")], columns, engine=engine_named(EngineName.LOCAL, 1), limit=50)


def _repair(content: bytes) -> None:
    """Widen a text file by a column: its rows stay what they were, and get one field each."""
    from dataclasses import replace

    from calibcli.commands.apply import apply_file
    from calibcli.commands.predicting import ApplyRequest
    from calibcli.options.rows import Columns

    path = _file(content, "rows.csv")
    out = scratch() / "out.csv"
    requested = ApplyRequest("cal.json", _fitted(), Columns(score="score"))
    report = apply_file(requested, [path], str(out), force=True)
    written = out.read_bytes()
    again = apply_file(replace(requested, name="b"), [str(out)], str(out) + "2", force=True)
    if again.rows != report.rows or len(written) < len(content.rstrip(b"\r\n")) - 3:
        msg = f"{report.rows} rows went in, {again.rows} came out; {len(content)} bytes and {len(written)}"
        raise Broken(msg)


@cache
def _fitted() -> "object":
    from calibcli.documents.artifact import read_artifact

    return read_artifact(FROZEN / "platt.json")


def _columns(content: bytes) -> None:
    """Take the first line for what was asked, and the others for the names in a header."""
    from calibcli.data.columns import Header, resolve
    from calibcli.options.rows import Columns, SeveralClasses

    requested, *header = content.decode("utf-8", "replace").split("\n")
    for columns in (
        Columns(),
        Columns(requested, by=(requested[:1],)),
        Columns(several=SeveralClasses(requested)),
    ):
        try:
            resolve(columns, Header(header, "p.csv"))
        except CalibcliError:
            continue


def _artifact(content: bytes) -> None:
    from calibcli.commands.inspect import inspect_file
    from calibcli.documents.artifact import Artifact, read_any_artifact

    path = _file(content, "cal.json")
    inspect_file(path)
    found = read_any_artifact(path)
    if isinstance(found, Artifact):
        predicted = found.recalibrator.predict(np.linspace(0.0, 1.0, 33))
    else:
        count = len(found.classes)
        drawn = np.random.default_rng(0).dirichlet(np.ones(count), 5)
        predicted = found.recalibrator.predict(drawn)
    if not (np.all(predicted >= 0.0) and np.all(predicted <= 1.0 + 1e-9)):
        msg = f"predictions outside [0, 1]: {predicted!r}"
        raise Broken(msg)


def _state(content: bytes) -> None:
    from calibcli.commands.inspect import inspect_file
    from calibcli.documents.sealed import parse
    from calibcli.documents.state import from_dict, read_state, state_text

    path = _file(content, "gate.json")
    state = read_state(path)
    if state is not None:
        inspect_file(path)
        text = state_text(state)
        if state_text(from_dict(parse(text.encode()))) != text:
            msg = "a state that was read is written as another one"
            raise Broken(msg)


def _report(content: bytes) -> None:
    """Take a document for a report: to look into, to compare with, and to draw."""
    path = _file(content, "report.json")
    looked = ended("inspect", path)
    ended("plot", path, "--terminal")
    ended("verify", _rows_file(), "--baseline", path, "--max-regression", "0.1", "--max-ece", "0.5")
    _or_refused(looked)


def _summary(content: bytes) -> None:
    """Take a document for a summary of rows: to read in place of them, and to add to another."""
    path, whole = _file(content, "part.json"), str(scratch() / "whole.json")
    merged = ended("merge", path, summary_file(), "-o", whole, "--force")
    if merged.code == 0:
        ended("measure", whole, "--metric", "brier", "--json")
    ended("measure", path, "--metric", "brier", "--json")
    _or_refused(merged)


@cache
def summary_file() -> str:
    """Return a summary of sixty rows."""
    path = str(scratch() / "sixty.json")
    ended("measure", _rows_file(), "--metric", "brier", "--summary-out", path)
    return path


def _tree(content: bytes) -> None:
    """Make files of the lines; the first is a pattern for them and, after a tab, a column of their paths."""
    requested, *names = content.decode("utf-8", "surrogateescape").split("\n")[:9]
    pattern, _, column = requested.partition("\t")
    root = scratch() / "tree"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    for name in names:
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        with suppress(OSError, ValueError):
            root.joinpath(*parts).parent.mkdir(parents=True, exist_ok=True)
            root.joinpath(*parts).write_text("score,label\n0.25,0\n0.5,1\n0.75,1\n")
    if not {"..", "~"} & set(pattern.split("/")) and "\0" not in requested:
        words = ("--metric", "brier", f"--by={column}", "--min-group-rows", "1", "--json")
        _or_refused(ended("measure", f"{root}/{pattern}", *words))


@cache
def _rows_file() -> str:
    lines = "".join(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}\n" for i in range(60))
    return _file(b"score,label\n" + lines.encode(), "sixty.csv")


def _rule(content: bytes) -> None:
    from calibcli.options.rules import rule_of

    rule_of(content.decode("utf-8", "replace"))


def _where(content: bytes) -> None:
    """Take the text for a condition on rows, or refuse it; only where the command line has such a thing."""
    text = content.decode("utf-8", "replace")
    if not text.startswith("-"):
        _or_refused(ended("measure", _rows_file(), "--metric", "brier", "--where", text))


def _edges(content: bytes) -> None:
    from calibcli.commands.bins import given_bins
    from calibcli.options.measuring import check_edges, edges_of

    edges = edges_of(content.decode("utf-8", "replace"))
    check_edges(edges, bins=None, binning=None)
    given_bins(edges)


def _memory(content: bytes) -> None:
    from calibcli.options.rows import Reading, bytes_of

    text = content.decode("utf-8", "replace")
    bytes_of(text)
    if Reading(memory=text).limit is None:
        msg = f"no limit from {text!r}"
        raise Broken(msg)


def _settings(content: bytes) -> None:
    from calibcli.shell.commands import COMMANDS
    from calibcli.shell.configuration import configuration_of, defaults_for

    commands = COMMANDS
    # In a folder of their own: where rows of other doors lie, commands would take them for theirs.
    (scratch() / "settings").mkdir(exist_ok=True)
    path = _file(content, f"settings/{'pyproject' if b'tool' in content else 'calibcli'}.toml")
    configuration = configuration_of(path, isolated=False).checked(commands)
    for name, command in commands.items():
        defaults_for(name, command, configuration)


def _command(content: bytes) -> None:
    """Take the lines for the words of a command, with the files below `words_folder` within reach."""
    words = content.decode("utf-8", "replace").replace("\0", "").split("\n")
    _or_refused(ended(*command_line(words)))


def _relations(content: bytes) -> None:
    """Take the bytes for a seed of rows and questions whose answers must agree."""
    from relations import Unrelated, relate

    try:
        relate(content, folder=scratch() / "relations", ended=ended)
    except Unrelated as problem:
        raise Broken(str(problem)) from problem


def _or_refused(ran: Ran) -> None:
    """Raise what a command refused, so that it counts as such."""
    if ran.code in (2, 3, 5):
        raise InputProblem(ran.err)


# Words of commands, and values that some option has a use for.
FILES = {
    "GOOD": _rows_file,
    "PARQUET": lambda: str(SAMPLE / "digits_naive_bayes_evaluation.parquet"),
    "CAL": lambda: str(FROZEN / "platt.json"),
    "CLASSES": lambda: str(CLASSES / "temperature.json"),
    "STATE": lambda: str(STATES / "gate-1-alarm.json"),
    "EMPTY": lambda: _file(b"", "empty.csv"),
    "NOWHERE": lambda: str(scratch() / "nowhere"),
    "OUT": lambda: str(scratch() / "out.any"),
    "FOLDER": lambda: str(scratch() / "folder"),
}


def command_line(words: list[str]) -> list[str]:
    """Put real paths in the place of the names of files, and leave out what could do harm."""
    made = []
    for word in words:
        path = FILES[word]() if word in FILES else word
        # A random word must not become a file in the working directory, a bound port or a cluster.
        harmful = word.startswith(("--engine", "--config")) or word in ("-j", "--jobs", "--debug")
        made.append("--isolated" if harmful else path)
    return made


def _data_format(name: str) -> Callable[[bytes], None]:
    """Return the reader of a format that this version may lack."""
    return _rows(DataFormat(name)) if name in set(DataFormat) else lambda _: None


_KNOCKS: dict[Door, Callable[[bytes], None]] = {
    Door.CSV: _rows(DataFormat.CSV),
    Door.TSV: _rows(DataFormat.TSV),
    Door.PARQUET: _rows(DataFormat.PARQUET),
    Door.JSONL: _data_format("jsonl"),
    Door.ARROW: _data_format("arrow"),
    Door.NPZ: _data_format("npz"),
    Door.CLASSES: _classes,
    Door.REPAIR: _repair,
    Door.COLUMNS: _columns,
    Door.ARTIFACT: _artifact,
    Door.STATE: _state,
    Door.REPORT: _report,
    Door.SUMMARY: _summary,
    Door.TREE: _tree,
    Door.RULE: _rule,
    Door.WHERE: _where,
    Door.EDGES: _edges,
    Door.MEMORY: _memory,
    Door.SETTINGS: _settings,
    Door.COMMAND: _command,
    Door.RELATIONS: _relations,
}
