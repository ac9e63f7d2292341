"""What must hold between the answers of commands, whatever the rows: their own oracle."""

import json
import math
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

Rows = dict[str, npt.NDArray[Any]]
Ended = Callable[..., Any]
ASKED = ("-s", "score", "-y", "label")
MEASURES = (
    "--metric",
    "brier",
    "--metric",
    "ece",
    "--metric",
    "bias",
    "--metric",
    "log_loss",
    "--metric",
    "smece",
)
GATES = ("--max-ece", "--max-l2", "--max-linf", "--max-smece", "--max-dce")
CONDITIONS: tuple[tuple[str, Callable[[Rows], Any]], ...] = (
    ("f>=0.5", lambda rows: rows["f"] >= 0.5),
    ("f!=0.0", lambda rows: rows["f"] != 0.0),
    ("g!=g1", lambda rows: rows["g"] != "g1"),
    ("g in g0,g2", lambda rows: np.isin(rows["g"], ["g0", "g2"])),
    ("score<=0.5", lambda rows: rows["score"] <= 0.5),
)


class Unrelated(Exception):
    """Answers that cannot both be right."""


def relate(content: bytes, *, folder: Path, ended: Ended) -> None:
    """Draw rows and questions from bytes, and hold the answers against each other.

    Args:
        content: The seed.

        folder: Where files may be written; it is emptied.

        ended: Runs a command, and holds it to its promises.

    Raises:
        Unrelated: If answers contradict each other.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    draw = np.random.default_rng(list(content[:64]) or [0])
    rows = rows_of(draw)
    _RELATIONS[int(draw.integers(len(_RELATIONS)))](rows, draw, Commands(folder, ended))


def rows_of(draw: np.random.Generator) -> Rows:
    """Return rows of a shape that some measure finds hard: few, tied, certain, tiny, or of one class."""
    count = int(draw.choice([1, 2, 3, 5, 20, 60, 200]))
    score = (
        draw.random(count),
        np.round(draw.random(count), 1),
        np.full(count, draw.choice([0.0, 0.3, 0.5, 1.0])),
        draw.choice([0.0, 1.0], count),
        1.0 / (1.0 + np.exp(-draw.normal(0.0, 6.0, count))),
        draw.choice([0.0, 5e-324, 1e-300, 0.5, 1.0 - 2.0**-53, 1.0], count),
    )[int(draw.integers(6))]
    rate = score if draw.random() < 0.6 else draw.random(count)
    label = (draw.random(count) < rate).astype(np.int64) if draw.random() < 0.9 else np.ones(count, np.int64)
    return {
        "score": score,
        "label": label,
        "other": np.clip(score + draw.normal(0.0, 0.1, count), 0.0, 1.0),
        "g": np.array([f"g{one}" for one in draw.integers(0, 4, count)]),
        "n": draw.integers(0, 4, count),
        "f": np.round(draw.random(count) * 3.0) / 2.0,
    }


class Commands:
    """Files of rows in a folder, and the reports of commands on them.

    Args:
        folder: Where files are written.

        ended: Runs a command.
    """

    def __init__(self, folder: Path, ended: Ended) -> None:
        self._folder, self._ended = folder, ended

    def file(self, name: str, rows: Rows, gaps: Rows | None = None) -> str:
        """Write rows in the format of a name."""
        path = self._folder / name
        columns = {
            key: pa.array(one, mask=None if gaps is None else gaps.get(key)) for key, one in rows.items()
        }
        table = pa.table(columns)
        groups = max(1, table.num_rows // 3)
        if path.suffix == ".parquet":
            pq.write_table(table, path, row_group_size=groups)
        elif path.suffix == ".arrow":
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=groups)
        elif path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
        else:
            lines = [table.column_names, *(row.values() for row in table.to_pylist())]
            path.write_text(
                "".join(",".join("" if one is None else str(one) for one in line) + "\n" for line in lines)
            )
        return str(path)

    def report(self, *words: object) -> dict[str, Any] | int:
        """Return the report of a command, or the exit code where there is none; every number is finite."""
        ran = self._ended(*words, "--json")
        if ran.code not in (0, 1, 4):
            return int(ran.code)
        return ran.document

    def run(self, *words: object) -> int:
        """Return the exit code of a command."""
        return int(self._ended(*words).code)


def numbers(report: dict[str, Any] | int) -> object:
    """Return what a report says of rows, without where they came from."""
    return report if isinstance(report, int) else [report.get(key) for key in ("measures", "tests", "table")]


def _no_number(name: str) -> float:
    msg = f"a report holds {name}"
    raise Unrelated(msg)


def _same(what: str, one: object, other: object, within: float = 0.0) -> None:
    if not _close(one, other, within):
        msg = f"{what}: {one!r:.900} and {other!r:.900}"
        raise Unrelated(msg)


def _close(one: Any, other: Any, within: float) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(one[key], other[key], within) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_close, one, other, [within] * len(one)))
    numeric = isinstance(one, int | float) and isinstance(other, int | float)
    return bool(one == other or (numeric and math.isclose(one, other, rel_tol=within, abs_tol=within)))


def _formats(rows: Rows, draw: np.random.Generator, do: Commands) -> None:
    """The same rows give the same numbers in every format, in any order, however they are cut into files."""
    words = [(), MEASURES, ("--by", "g", "--min-group-rows", "1"), ("-w", "n", "--weights-are", "frequency")]
    requested = (*ASKED, *words[int(draw.integers(4))])
    first = numbers(do.report("measure", do.file("a.csv", rows), *requested))
    for name in ("a.jsonl", "a.parquet", "a.arrow"):
        _same(name, first, numbers(do.report("measure", do.file(name, rows), *requested)))
    order, half = draw.permutation(rows["score"].size), rows["score"].size // 2
    mixed = {key: one[order] for key, one in rows.items()}
    files = [do.file("p1.parquet", {key: one[half:] for key, one in mixed.items()})]
    files += [do.file("p2.csv", {key: one[:half] for key, one in mixed.items()})] if half else []
    for names in (files, files[::-1]):
        _same("another order", first, numbers(do.report("measure", *names, *requested)))


def _plan(rows: Rows, draw: np.random.Generator, do: Commands) -> None:
    """A wider limit never needs more rows."""
    like = ("--like", do.file("a.parquet", rows), "-s", "score") if draw.random() < 0.5 else ()
    gate = GATES[int(draw.integers(len(GATES)))]
    needed = []
    for limit in sorted(draw.choice([0.01, 0.02, 0.05, 0.1, 0.2, 0.4], 3, replace=False)):
        report = do.report("plan", gate, limit, *like)
        if not isinstance(report, int):
            needed.append(_rows_in(report))
    for narrow, wide in pairwise(needed):
        if any(a is not None and (b is None or b > a) for a, b in zip(narrow, wide, strict=False)):
            msg = f"plan {gate} {like}: {needed}"
            raise Unrelated(msg)


def _rows_in(report: object) -> list[int | None]:
    if isinstance(report, dict):
        own = [one for key, one in report.items() if key == "rows" and isinstance(one, int | None)]
        return own + [found for key in sorted(report) for found in _rows_in(report[key])]
    return [found for one in report for found in _rows_in(one)] if isinstance(report, list) else []


def _compare(rows: Rows, draw: np.random.Generator, do: Commands) -> None:
    """The difference of two scores is minus that of the two in the other order."""
    words = [(), ("--metric", "brier"), ("-w", "n", "--weights-are", "frequency"), ("--confidence", "0.8")]
    requested = ("-y", "label", *words[int(draw.integers(4))])
    path = do.file("a.csv", rows)
    one = do.report("compare", path, "-s", "score", "-s", "other", *requested)
    two = do.report("compare", path, "-s", "other", "-s", "score", *requested)
    _same("codes", isinstance(one, int) and one, isinstance(two, int) and two)
    if not isinstance(one, int) and not isinstance(two, int):
        for name, found in one["measures"].items():
            there, back = found["difference"], two["measures"][name]["difference"]
            for end, other in (("value", "value"), ("lower", "upper"), ("upper", "lower")):
                if isinstance(there[end], float) and isinstance(back[other], float):
                    _same(f"{name} {end}", there[end], -back[other], 1e-9)


def _selection(rows: Rows, draw: np.random.Generator, do: Commands) -> None:
    """Rows in are rows used, dropped and not selected, and those used are the ones numpy selects."""
    count = rows["score"].size
    gaps: Rows = {
        key: draw.random(count) < draw.choice([0.0, 0.1, 0.5]) for key in ("score", "label", "f", "g")
    }
    path = do.file(f"a.{draw.choice(['csv', 'jsonl', 'parquet', 'arrow'])}", rows, gaps)
    text, condition = CONDITIONS[int(draw.integers(len(CONDITIONS)))]
    chosen = condition(rows) & ~gaps[next(key for key in ("score", "f", "g") if text.startswith(key))]
    report = do.report("measure", path, *ASKED, "--metric", "brier", "--on-missing", "drop", "--where", text)
    used = chosen & ~gaps["score"] & ~gaps["label"]
    if isinstance(report, int):
        _same(f"rows of {text}", 0, int(used.sum()))
        return
    source = report["input"]
    found = [source["rows"], source["dropped"], source["selected"]["unselected"]]
    _same(text, [int(one) for one in (used.sum(), (chosen & ~used).sum(), (~chosen).sum())], found)
    brier = float(np.mean((rows["score"][used] - rows["label"][used]) ** 2))
    _same("brier", brier, report["measures"]["brier"]["value"], 1e-12)


def _weights(rows: Rows, draw: np.random.Generator, do: Commands) -> None:
    """A row that counts three times is three rows, and complements of scores and labels mirror the bias."""
    repeated = {key: np.repeat(one, rows["n"]) for key, one in rows.items()}
    if rows["n"].sum():
        one = do.report(
            "measure", do.file("w.parquet", rows), *ASKED, "-w", "n", "--weights-are", "frequency", *MEASURES
        )
        two = do.report("measure", do.file("r.csv", repeated), *ASKED, *MEASURES)
        _same("repeated rows", numbers(one), numbers(two), 1e-9)
    turned = rows | {"score": 1.0 - rows["score"], "label": 1 - rows["label"]}
    if np.array_equal(1.0 - turned["score"], rows["score"]):
        level = ("--confidence", draw.choice(["0.8", "0.95"]))
        few = (*ASKED, "--metric", "brier", "--metric", "bias", *level)
        here, there = (do.report("measure", do.file("m.parquet", each), *few) for each in (rows, turned))
        if not isinstance(here, int) and not isinstance(there, int):
            mine, other = here["measures"], there["measures"]
            _same("brier", mine["brier"]["value"], other["brier"]["value"], 1e-12)
            _same("bias", mine["bias"]["value"], -other["bias"]["value"], 1e-12)


def _merge(rows: Rows, draw: np.random.Generator, do: Commands) -> None:
    """Summaries of parts give the numbers and the verdict of the whole."""
    count = rows["score"].size
    cut = int(draw.integers(1, count)) if count > 1 else 1
    parts = [{key: one[part] for key, one in rows.items()} for part in (slice(cut), slice(cut, None))]
    files = [do.file(f"{place}.csv", part) for place, part in enumerate(parts) if part["score"].size]
    kept = [f"{path}.json" for path in files]
    for path, summary in zip(files, kept, strict=True):
        do.run("measure", path, *ASKED, "--metric", "brier", "--summary-out", summary)
    whole = f"{files[0]}.sum.json"
    do.run("merge", *kept, "-o", whole)
    _same("measure", numbers(do.report("measure", *files, *ASKED)), numbers(do.report("measure", whole)))
    _same(
        "verify",
        do.run("verify", *files, *ASKED, "--max-ece", "0.2"),
        do.run("verify", whole, "--max-ece", "0.2"),
    )


_RELATIONS = (_formats, _plan, _compare, _selection, _weights, _merge)
