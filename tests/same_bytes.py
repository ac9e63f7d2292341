"""Commands that read files on an engine, and whether they write the bytes that they write without one."""

import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from calibcli.errors import InputProblem
from calibcli.names import RecalibratorName
from calibcli.shell.app import main

OUT = Path("out")
KINDS = ("parquet", "csv", "jsonl")
MANY = 530
_SCORED = ("-s", "score", "-y", "label")
_PARTS = ("parquet", *_SCORED)
_CLASSES = ("parquet", "--probs", "p_*", "-y", "kind")
_GRID = ("--memory", "32K")
_METHODS = (*(name.value for name in RecalibratorName if name is not RecalibratorName.IDENTITY), "auto")


def _commands() -> dict[str, list[str]]:
    """Return command lines by name; what they write goes to standard output or below `out`."""
    found: dict[str, Sequence[str]] = {}
    for kind in KINDS:
        rows = (kind, *_SCORED)
        found |= {
            f"{kind} where": ("measure", *rows, "--where", "country==DE", "--where", "freq>=2", "--json"),
            f"{kind} limit": ("measure", *rows, "--limit", "500", "--where", "day==2", "--json"),
            f"{kind} sample": ("measure", *rows, "--sample", "400", "--seed", "3", "--json"),
            f"{kind} by": ("measure", *rows, "--by", "country", "--by", "group", "--json"),
            f"{kind} apply": ("apply", "cal.json", kind, "-s", "score", "--out-dir", "out/new"),
            f"{kind} apply by": ("apply", "by.json", kind, "-s", "score", "--out-dir", "out/new"),
        }
    for method in _METHODS:
        found[f"fit {method}"] = ("fit", *_PARTS, "-m", method, "-o", "out/cal.json")
        found[f"fit {method} grid"] = ("fit", *_PARTS, "-m", method, *_GRID, "-o", "out/cal.json")
    frequency = ("-w", "freq", "--weights-are", "frequency")
    found |= {
        "fit by": ("fit", *_PARTS, "--by", "country", "-m", "isotonic", "-o", "out/cal.json"),
        "fit by grid": ("fit", *_PARTS, "--by", "group", "-m", "isotonic", *_GRID, "-o", "out/cal.json"),
        "fit weights": ("fit", *_PARTS, "-w", "real", "-m", "isotonic", "-o", "out/cal.json"),
        "fit frequency": ("fit", *_PARTS, *frequency, "-m", "platt", *_GRID, "-o", "out/cal.json"),
        "fit groups": ("fit", *_PARTS, "-m", "auto", "--group", "unit", "-o", "out/cal.json"),
        "measure": ("measure", *_PARTS, "-v"),
        "measure all": ("measure", *_PARTS, "--metric", "all", "--summary-out", "out/sum.json", "--json"),
        "measure by grid": ("measure", *_PARTS, "--by", "country", *_GRID, "--json"),
        "measure bins": ("measure", *_PARTS, "--bins", "50", *_GRID, "--json"),
        "measure clusters": ("measure", *_PARTS, "--cluster", "unit", "--by", "country", "--json"),
        "measure weights": ("measure", *_PARTS, "-w", "real", "--by", "group", "--json"),
        "measure map": ("measure", *_PARTS, "--artifact", "by.json", "--json"),
        "measure classes": ("measure", *_CLASSES, "--view", "one-vs-rest", "--json"),
        "verify": ("verify", *_PARTS, "--max-ece", "0.1", "--by", "group", "--json"),
        "verify state": ("verify", *_PARTS, "--max-ece", "0.1", "--state", "out/gate.json", "--id", "id"),
        "verify classes": ("verify", *_CLASSES, "--max-ece", "0.2", "--json"),
        "compare": ("compare", "parquet", "-s", "score", "-s", "other", "-y", "label", "--json"),
        "segments": ("segments", *_PARTS, "--on", "country,group,id", *frequency, "--json"),
        "segments grid": ("segments", *_PARTS, "--on", "country,group", "--memory", "200K", "--json"),
        "segments map": ("segments", *_PARTS, "--on", "day,group", "--artifact", "by.json", "--json"),
        "plot": ("plot", *_PARTS, "--kind", "isotonic", "-o", "out/map.svg"),
        "plot compare": ("plot", *_PARTS, "--compare", "cal.json", "-o", "out/map.svg"),
        "report": ("report", *_PARTS, "--max-ece", "0.1", "--by", "country", "-o", "out/report.html"),
        "apply as": ("apply", "cal.json", "csv", "--out-dir", "out/new", "--to", "parquet", "--keep", "id"),
        "apply fault": ("apply", "cal.json", "bad", "-s", "score", "--out-dir", "out/new"),
        "fault": ("measure", "bad", *_SCORED),
        "many where": ("measure", "many", *_SCORED, "--where", "score>=0.3", "--json"),
        "many by grid": ("measure", "many", *_SCORED, "--by", "group", *_GRID, "--json"),
        "many fit": ("fit", "many", *_SCORED, "-m", "isotonic", *_GRID, "-o", "out/cal.json"),
    }
    return {name: list(words) for name, words in found.items()}


COMMANDS: Mapping[str, list[str]] = _commands()


def make_files(folder: Path) -> None:
    """Write partitioned directories in three formats, more files than there are bundles, and maps."""
    rng = np.random.default_rng(11)
    for kind in KINDS:
        for country in ("DE", "US"):
            for day in (1, 2):
                path = folder / kind / f"country={country}" / f"day={day}" / f"part.{kind}"
                path.parent.mkdir(parents=True)
                _write(path, _rows(rng, 400))
    for number in range(MANY):
        _text(folder / "many" / f"{number:04}.csv", rng.random(6), rng)
    for number, last in enumerate((0.5, 1.5, 0.5)):
        _text(folder / "bad" / f"{number}.csv", np.array([0.25, 0.75, last]), rng)
    with contextlib.chdir(folder):
        for words in (["-m", "beta", "-o", "cal.json"], ["-m", "platt", "--by", "country", "-o", "by.json"]):
            assert main(["fit", *_PARTS, *words, "-q"]) == 0


def differing(place: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return those of some commands that write other bytes at a place than here, from the files below."""
    return [name for name in names if written(COMMANDS[name]) != written([*COMMANDS[name], *place])]


def written(words: Sequence[str]) -> tuple[int, dict[str, bytes]]:
    """Run a command, and return its exit code with all that it wrote."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        code = main(list(words))
    found: dict[str, bytes] = {}
    for name, stream in zip(("stdout", "stderr"), streams, strict=True):
        stream.flush()
        found[name] = stream.buffer.getvalue()
    assert code in (0, 1, 4) or (code == InputProblem.exit_code and "bad" in words), (code, found["stderr"])
    # Of files written by the time another is refused there may be more on a cluster.
    if code != InputProblem.exit_code:
        found |= {str(path): path.read_bytes() for path in sorted(OUT.rglob("*")) if path.is_file()}
        assert len(found) > 2 or found["stdout"]
    return code, found


def _rows(rng: np.random.Generator, count: int) -> dict[str, Any]:
    score = np.round(rng.random(count), 4)
    chance = rng.dirichlet([1.0, 1.0, 1.0], count)
    return {
        "score": score,
        "other": np.clip(0.8 * score + 0.1 * rng.random(count), 0.0, 1.0),
        "label": (rng.random(count) < score**1.3).astype(np.int64),
        "group": np.array(list("abc"))[rng.integers(0, 3, count)],
        "unit": [f"u{number}" for number in rng.integers(0, count // 4, count)],
        "freq": rng.integers(1, 4, count),
        "real": np.round(rng.random(count) + 0.1, 3),
        **{f"p_{name}": chance[:, place] for place, name in enumerate("xyz")},
        "kind": np.array(list("xyz"))[(chance.cumsum(1) < rng.random((count, 1))).sum(1).clip(0, 2)],
        "id": [f"{number:x}" for number in rng.integers(0, 1 << 60, count)],
    }


def _write(path: Path, rows: dict[str, Any]) -> None:
    table = pa.table(rows)
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=150)
    elif path.suffix == ".csv":
        pc.write_csv(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


def _text(path: Path, score: np.ndarray[Any, np.dtype[np.float64]], rng: np.random.Generator) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = [
        f"{value!r},{int(rng.random() < value)},{'pq'[row % 2]}" for row, value in enumerate(score.tolist())
    ]
    path.write_text("score,label,group\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    # FOLDER ENGINE ADDRESS [NAME...]: for engines that keep a session for as long as a process lives.
    os.chdir(sys.argv[1])
    found = differing(["--engine", sys.argv[2], "--engine-address", sys.argv[3]], sys.argv[4:] or COMMANDS)
    sys.stdout.write(f"{json.dumps(found)}\n")
