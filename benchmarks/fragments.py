"""
What one fragment costs, step by step: the figures that docs/scale.md plans with.

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
from pathlib import Path

from bench_inside import least
from processes import machine, make_scores

from calibcli.commands.apply import apply_file
from calibcli.commands.fit import fit_files
from calibcli.commands.gathering import RAW, choose_columns
from calibcli.commands.measure import measure_table
from calibcli.commands.predicting import ApplyRequest
from calibcli.commands.reading import read_tables
from calibcli.data.fragments import FRAGMENT_ROWS, Piece, list_fragments
from calibcli.data.readers import reader_of
from calibcli.data.tally import MOST_BUNDLES, Refused, Signals, TallyWork
from calibcli.documents.artifact import read_artifact
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
    work = TallyWork(EXACT_LIMIT, {RAW: None}, signals)
    piece = Piece(fragment, chosen[fragment.path])
    tallied = work(piece)
    if isinstance(tallied, Refused):
        raise tallied.problem
    packed = pickle.dumps(tallied)
    whole = RunningTable(EXACT_LIMIT)
    whole.become_grid()
    gathered = read_tables(RowRequest([str(data)], Columns("score", "label"), reading=Reading(jobs=1)))
    reader, columns = reader_of(fragment.format), chosen[fragment.path]
    steps: dict[str, Callable[[], object]] = {
        "list it: its footer": lambda: list_fragments([str(data)]),
        "read its two columns": lambda: sum(1 for _ in reader.batches(fragment, columns)),
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


def main() -> None:
    """Measure, print, and store the page if that is asked."""
    parser = argparse.ArgumentParser(description="Measure what one fragment costs.")
    parser.add_argument("--write", action="store_true", help="store benchmarks/FRAGMENTS.md")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = costs(Path(folder))
    plan = f"## {ROWS:,} rows, worked out\n\n{PLANNED}\n\n{plan_of(found, ROWS, cores=CORES)}"
    busy = f"Load of the machine at the end: {os.getloadavg()[0]:.1f}"
    text = f"{machine()}. {busy}.\n\n{table_of(found)}\n\n{plan}\n"
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
