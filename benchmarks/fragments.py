"""What one fragment costs, step by step: the figures that docs/scale.md plans with.

    python benchmarks/fragments.py [--write]

A fragment is two million rows of Parquet with two columns, every score another one: the least favourable
case, in which its table is a grid with nearly every cell taken. Processor time, the least of nine; data as
in `bench.py`. `--write` stores benchmarks/FRAGMENTS.md.
"""

import argparse
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench_inside import least
from processes import machine, make_scores

from calibcli.commands.apply import apply_file
from calibcli.commands.fit import fit_files
from calibcli.commands.gathering import RAW, choose_columns
from calibcli.commands.measure import measure_evaluation, measure_table
from calibcli.commands.predicting import ApplyRequest
from calibcli.commands.reading import read_evaluation, read_tables
from calibcli.commands.slices import gather_request_of
from calibcli.data.fragments import FRAGMENT_ROWS, Piece, list_fragments
from calibcli.data.readers import reader_of
from calibcli.data.tally import (
    MOST_BUNDLES,
    BundleWork,
    Extras,
    GatherRequest,
    Signals,
    TallyWork,
)
from calibcli.documents.artifact import read_artifact
from calibcli.errors import CalibcliError
from calibcli.names import EXACT_LIMIT, FitMethod
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.measuring import MeasureOptions
from calibcli.options.rows import Columns, Reading, RowRequest
from calibcli.stats.table.running import RunningTable

HERE = Path(__file__).parent
ROWS, CORES = 10_000_000_000, 64
PLANNED = """The costs above times how often each arises. This is arithmetic and no measurement: it knows no
network, no limit of the storage, and no worker that waits for another."""


def costs(folder: Path) -> dict[str, tuple[float, str]]:
    """Return what each step costs, and in what."""
    data, artifact = folder / "scores.parquet", folder / "cal.json"
    make_scores(data, FRAGMENT_ROWS, 2)
    _, document = fit_files(
        RowRequest([str(data)], Columns("score", "label")), MapOptions(FitMethod.PLATT), FitOptions()
    )
    artifact.write_text(document, encoding="utf-8")
    (fragment,) = list_fragments([str(data)])
    chosen = choose_columns([fragment], Columns("score", "label"))
    signals = Signals()
    signals.grids.add(RAW)
    work = TallyWork(EXACT_LIMIT, signals)
    piece = Piece(fragment, chosen[fragment.path])
    tallied = work(piece)
    if isinstance(tallied, CalibcliError):
        raise tallied
    packed = pickle.dumps(tallied)
    whole = RunningTable(EXACT_LIMIT)
    whole.become_grid()
    gathered = read_tables(RowRequest([str(data)], Columns("score", "label"), reading=Reading(jobs=1)))
    reader, columns = reader_of(fragment), chosen[fragment.path]
    steps: dict[str, Callable[[], object]] = {
        "list it: its footer": lambda: list_fragments([str(data)]),
        "read its two columns": lambda: sum(1 for _ in reader.batches(columns)),
        "read, check and count its rows": lambda: work(piece),
        "pack its table": lambda: pickle.dumps(tallied),
        "unpack its table": lambda: pickle.loads(packed),  # noqa: S301 - our own
        "add its table to the whole": lambda: whole.add(tallied.tables[RAW]),
        "every default measure of the whole, once": lambda: measure_table(
            gathered.tables[RAW], gathered.input, options=MeasureOptions()
        ),
        "apply: read, predict, write": lambda: apply_file(
            ApplyRequest(str(artifact), read_artifact(artifact)),
            [str(data)],
            str(folder / "out.parquet"),
            force=True,
        ),
    }
    found = {name: (1e3 * min(least(step) for _ in range(3)), "ms") for name, step in steps.items()}
    found["size of its file"] = (data.stat().st_size / 1e6, "MB")
    found["size of its table, packed"] = (len(packed) / 1e6, "MB")
    return found


@dataclass(frozen=True)
class Bundle:
    """Fragments that one worker adds up, of two million rows together.

    Args:
        files: How many files they are.
        groups: How many groups their rows are in; 0 for none.
    """

    files: int = 1
    groups: int = 0


# A billion rows, as they may lie.
LAID = {"500 files": Bundle(), "10,000 files": Bundle(20), "500 files, in 1,000 groups": Bundle(1, 1_000)}
BILLION = 1_000_000_000
# So many different bundles stand for all: cells of groups that one has and another has not fill up.
_DIFFERENT, _ADDED = 3, 12


def written(folder: Path, laid: Bundle, seed: int) -> list[str]:
    """Write the files of a bundle, its rows in groups drawn anew."""
    make_scores(folder / "rows.parquet", FRAGMENT_ROWS, 2)
    rows, generator = pq.read_table(folder / "rows.parquet"), np.random.default_rng(seed)
    if laid.groups:
        group = generator.integers(0, laid.groups, FRAGMENT_ROWS)
        rows = rows.append_column("group", pa.array(group))
    size, paths = FRAGMENT_ROWS // laid.files, []
    for number in range(laid.files):
        paths.append(str(folder / f"{seed}-{number}.parquet"))
        pq.write_table(rows.slice(number * size, size), paths[-1])
    return paths


def bundle_costs(folder: Path, laid: Bundle) -> dict[str, float]:
    """Return the milliseconds of each step of a bundle, and the MB that travel."""
    columns = Columns("score", "label", by=("group",) if laid.groups else ())
    gather_request = GatherRequest(sliced=(RAW,) if laid.groups else ())
    signals = Signals()
    signals.grids.add(RAW)
    work = BundleWork(TallyWork(EXACT_LIMIT, signals, gather_request=gather_request))
    bundles = []
    for seed in range(_DIFFERENT if laid.groups else 1):
        paths = written(folder, laid, seed)
        fragments = list_fragments(paths)
        chosen = choose_columns(fragments, columns)
        bundles.append([Piece(one, chosen[one.path]) for one in fragments])
    results = [work(bundle) for bundle in bundles]
    packed = [pickle.dumps(one) for one in results]

    def add_up() -> None:
        whole, extras = RunningTable(EXACT_LIMIT), Extras.start(gather_request, limit=EXACT_LIMIT)
        whole.become_grid()
        for place in range(_ADDED):
            last = pickle.loads(packed[place % len(packed)])[-1]  # noqa: S301 - our own
            whole.add(last.tables[RAW])
            if last.extras is not None:
                extras.merge(last.extras, bundles[0][0].columns)
        if laid.groups:
            extras.slices[RAW].tables()

    rows = RowRequest(paths, columns, reading=Reading(jobs=1))
    request = MeasureOptions(brief=True)
    evaluation = read_evaluation(rows, gather_request=gather_request_of(rows))
    steps: dict[str, Callable[[], object]] = {
        "list": lambda: choose_columns(list_fragments(paths), columns),
        "count": lambda: work(bundles[0]),
        "pack": lambda: pickle.dumps(results[0]),
    }
    found = {name: 1e3 * least(step, 9) for name, step in steps.items()}
    found["report"] = 1e3 * least(lambda: measure_evaluation(evaluation, options=request))
    found["add"] = 1e3 * least(add_up) / _ADDED
    return found | {"sent": len(packed[0]) / 1e6}


def plan_of_bundles(found: dict[str, dict[str, float]], rows: int, *, cores: int) -> str:
    """Return what so many rows take as they may lie, from the costs of a bundle, as a Markdown table."""
    head = ("rows lie in", "list ms", "count ms", "pack ms", "unpack, add ms", "report ms", "travels MB")
    lines = [f"| {' | '.join((*head, 's on one core', f's on {cores} cores', 'sent GB'))} |"]
    lines.append("|" + "---|" * (len(head) + 3))
    times = rows // FRAGMENT_ROWS
    for laid, cost in found.items():
        shared, alone = cost["count"] + cost["pack"], cost["list"] + cost["add"]
        here = (times * alone + cost["report"]) / 1e3
        cells = [f"{cost[name]:.3g}" for name in ("list", "count", "pack", "add", "report", "sent")]
        cells += [f"{here + times * shared / 1e3:.0f}", f"{here + times * shared / 1e3 / cores:.0f}"]
        lines.append(f"| {laid} | {' | '.join(cells)} | {times * cost['sent'] / 1e3:.1f} |")
    return "\n".join(lines)


def table_of(found: dict[str, tuple[float, str]]) -> str:
    """Return the costs as a Markdown table."""
    lines = ["| step | cost |", "|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {cost:.3g} {unit} |" for name, (cost, unit) in found.items())])


def plan_of(found: dict[str, tuple[float, str]], rows: int, *, cores: int) -> str:
    """Return what an evaluation of so many rows takes, from the costs of a fragment, as a Markdown table."""
    cost = {name: figure for name, (figure, _) in found.items()}
    fragments = -(-rows // FRAGMENT_ROWS)
    tables = min(fragments, MOST_BUNDLES)
    adding = cost["unpack its table"] + cost["add its table to the whole"]
    once = cost["every default measure of the whole, once"]
    # What is shared out among the cores, and what happens in one place.
    steps = (
        ("list the files", fragments, cost["list it: its footer"], False),
        ("read, check and count", fragments, cost["read, check and count its rows"], True),
        ("pack the tables of bundles", tables, cost["pack its table"], True),
        ("unpack and add them", tables, adding, False),
        ("every default measure", 1, once, False),
    )
    head = ("step", "times", "ms each", "s on one core", f"s on {cores} cores")
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    total = [0.0, 0.0]
    for name, times, each, shared in steps:
        alone = times * each / 1e3
        together = alone / cores if shared else alone
        total = [total[0] + alone, total[1] + together]
        lines.append(f"| {name} | {times:,} | {each:.2f} | {alone:.1f} | {together:.1f} |")
    lines.append(f"| together | | | {total[0]:.0f} | {total[1]:.0f} |")
    read = fragments * cost["size of its file"] / 1e3
    sent = tables * cost["size of its table, packed"] / 1e3
    bare = fragments * cost["size of its table, packed"] / 1e3
    apply = fragments * cost["apply: read, predict, write"] / 1e3
    lines += [
        "",
        f"Read: {read:.0f} GB. Sent to one place: {sent:.0f} GB in {tables} tables; {bare:.0f} GB without",
    ]
    lines += [
        f"bundles. `apply` of the same rows: {apply:.0f} s on one core, {apply / cores:.0f} s on {cores}."
    ]
    return "\n".join(lines)


LYING = f"""Each line is {BILLION // FRAGMENT_ROWS} bundles of {FRAGMENT_ROWS:,} rows: what one costs in
processor time, the least of several, times their number, and the report once. Lists and sums are made in one
place, counting and packing are shared out. "Unpack, add" is that of {_ADDED} bundles, for each of them; those
with groups are of {_DIFFERENT} kinds, whose groups are drawn anew, and end with the tables of all groups. The
report is a table."""


def main() -> None:
    """Measure, print, and store the page if that is asked."""
    parser = argparse.ArgumentParser(description="Measure what one fragment costs.")
    parser.add_argument("--write", action="store_true", help="store benchmarks/FRAGMENTS.md")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = costs(Path(folder))
    bundles = {}
    for name, laid in LAID.items():
        with tempfile.TemporaryDirectory() as folder:
            bundles[name] = bundle_costs(Path(folder), laid)
    plan = f"## {ROWS:,} rows, worked out\n\n{PLANNED}\n\n{plan_of(found, ROWS, cores=CORES)}"
    of_bundles = f"## {BILLION:,} rows, as they may lie\n\n{LYING}\n\n"
    of_bundles += plan_of_bundles(bundles, BILLION, cores=CORES)
    busy = f"Load of the machine at the end: {os.getloadavg()[0]:.1f}"
    text = f"{machine()}. {busy}.\n\n{table_of(found)}\n\n{plan}\n\n{of_bundles}\n"
    sys.stdout.write(text)
    if asked.write:
        (HERE / "FRAGMENTS.md").write_text(HEAD + text, encoding="utf-8")


HEAD = f"""# What one fragment costs

Made by `python benchmarks/fragments.py --write`. A fragment is {FRAGMENT_ROWS:,} rows of Parquet
with two columns, every score another one: the least favourable case, in which its table is a grid with nearly
every cell taken. Processor time on one core, the least of nine.

"""


if __name__ == "__main__":
    main()
