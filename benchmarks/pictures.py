"""Time of every kind of picture against the measure of the same rows: whole processes, interleaved.

    python benchmarks/pictures.py [--rows 10000 1000000 10000000] [--rounds 3] [--write]

`--write` stores benchmarks/PICTURES.md. Scores are seeded draws of a mixture of beta distributions, every one
another; files lie in a temporary folder and are removed. `monitor` draws a gate's state and takes no rows.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from classes import make_rows
from measures import Entrant, Rules, parser_of, publish, race, within
from processes import CALIBCLI, Spent, machine

from calibcli.commands.gathering import RAW
from calibcli.commands.measure import measure_table
from calibcli.commands.reading import read_tables
from calibcli.names import Binning
from calibcli.options.measuring import MeasureOptions
from calibcli.options.rows import Columns, Reading, RowRequest
from calibcli.stats.curves.cumulative import cumulative_curve
from calibcli.stats.curves.isotonic import isotonic_curve
from calibcli.stats.curves.reliability import binned_curve, smooth_curve
from calibcli.stats.curves.thresholds import decision_curve, murphy_curve
from calibcli.stats.table.bins import bins_of

HERE = Path(__file__).parent
# So few that what a process takes is its start.
START = 100
GROUPS = 8
CLASSES = 10
DEFAULTS = "default measures"
INSIDE = (DEFAULTS, "smooth", "binned", "isotonic", "cumulative", "murphy", "decision")
INSIDE_ROUNDS = 5
CURVES = f"""Milliseconds of processor time over one table in memory, medians of {INSIDE_ROUNDS}: what
`measure` computes by default (numbers, intervals, tests and nulls), and each curve with its band.
`residual` is `smooth` less its diagonal.
"""
Runs = Mapping[str, list[Spent] | str]


@dataclass(frozen=True)
class Shot:
    """A picture to time.

    Args:
        name: What the table calls it.

        options: Of `plot`, after those that the last of `against` has as well.

        against: Names of the measures of all that it shows, whose times are added up.
    """

    name: str
    options: tuple[str, ...]
    against: tuple[str, ...]


BINARY = ("{rows}.parquet", "-s", "score", "-y", "label")
CORP = "measure --metric corp"
# By name: what both commands are told of the rows.
MEASURES: dict[str, tuple[str, ...]] = {
    "measure": BINARY,
    CORP: BINARY,
    "measure --artifact": (*BINARY, "--artifact", "{rows}.json"),
    "measure --by": (*BINARY, "--by", "group", "--min-group-rows", "1"),
    "measure --probs": ("{rows}_classes.parquet", "--probs", "p_*", "-y", "label"),
}
SHOTS = (
    *(
        Shot(kind, ("--kind", kind), ("measure",))
        for kind in (
            "smooth",
            "binned",
            "cumulative",
            "residual",
            "murphy",
            "risk-coverage",
            "decision",
            "clinical",
        )
    ),
    *(Shot(kind, ("--kind", kind), (CORP,)) for kind in ("isotonic", "mcb-dsc")),
    Shot("map, fit rows", ("--kind", "map"), ("measure --artifact",)),
    Shot("compare, raw and recalibrated", ("--kind", "compare"), ("measure", "measure --artifact")),
    Shot(f"groups, {GROUPS}", ("--kind", "groups"), ("measure --by",)),
    Shot(f"classes, {CLASSES}", ("--kind", "classes", "--view", "one-vs-rest"), ("measure --probs",)),
    Shot("smooth, in the terminal", ("--terminal",), ("measure",)),
)


def make_scores(path: Path, rows: int) -> None:
    """Write a Parquet file of scores, labels and groups."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = np.random.default_rng(0)
    kinds = pa.schema([("score", pa.float64()), ("label", pa.int8()), ("group", pa.int8())])
    with pq.ParquetWriter(path, kinds) as out:
        for start in range(0, rows, 1_000_000):
            count = min(1_000_000, rows - start)
            high = generator.random(count) < 0.3
            f = np.where(high, generator.beta(4, 1.5, count), generator.beta(0.8, 3, count))
            y = generator.random(count) < 1 / (1 + np.exp(0.1) * ((1 - f) / f) ** 0.85)
            group = generator.integers(0, GROUPS, count)
            columns = [pa.array(f), pa.array(y.astype(np.int8)), pa.array(group.astype(np.int8))]
            out.write_table(pa.Table.from_arrays(columns, schema=kinds))


def prepare(folder: Path, rows: int) -> None:
    """Make the files of one size; of classes a tenth of the rows, so that there are as many probabilities."""
    data = folder / f"{rows}.parquet"
    make_scores(data, rows)
    make_rows(folder / f"{rows}_classes.parquet", max(rows // CLASSES, START), CLASSES, lists=False)
    fit = ["fit", str(data), "-s", "score", "-y", "label", "--method", "isotonic", "--quiet"]
    subprocess.run([*CALIBCLI, *fit, "-o", str(folder / f"{rows}.json")], check=True)


def entrants(folder: Path, rows: int) -> list[Entrant]:
    """Return the processes of one size, the measures first."""

    def words(name: str) -> list[str]:
        filled = (word.format(rows=rows) for word in MEASURES[name])
        return [str(folder / word) if word.endswith((".parquet", ".json")) else word for word in filled]

    metric = {CORP: ["--metric", "corp"]}
    found = [
        Entrant(name, "", [*CALIBCLI, "measure", *words(name), *metric.get(name, []), "--quiet"])
        for name in MEASURES
    ]
    for shot in SHOTS:
        target = [] if "--terminal" in shot.options else ["-o", str(folder / "p.png"), "--force"]
        command = [*CALIBCLI, "plot", *words(shot.against[-1]), *shot.options, *target, "--quiet"]
        found.append(Entrant(shot.name, "", command))
    return found


def seconds(found: Runs, *names: str) -> float | None:
    """Return the sum of processes' median processor seconds, or None where one gave no result."""
    medians = []
    for name in names:
        runs = found[name]
        if isinstance(runs, str):
            return None
        medians.append(statistics.median(run.cpu for run in runs))
    return sum(medians)


def table_of(found: Runs, start: Runs) -> str:
    """Return a size as a Markdown table, with what is left of each process beyond its start."""
    lines = ["| kind | CPU s | against | CPU s | ratio | beyond the start | measure's | ratio |"]
    lines.append("|---" * 8 + "|")
    for shot in SHOTS:
        against = " and ".join(shot.against)
        pairs = [(seconds(one, shot.name), seconds(one, *shot.against)) for one in (found, start)]
        (plot, measure), (plot_start, measure_start) = pairs
        if plot is None or measure is None or plot_start is None or measure_start is None:
            why = next((word for one in (found, start) if isinstance(word := one[shot.name], str)), "")
            lines.append(f"| {shot.name} | {why or 'no measure to compare with'} | {against} | | | | | |")
            continue
        cells = [f"{plot:.2f}", against, f"{measure:.2f}", f"{plot / measure:.2f}"]
        more, measure_more = plot - plot_start, measure - measure_start
        cells += [f"{more:.2f}", f"{measure_more:.2f}"]
        # Two starts may differ by a tenth of a second.
        cells.append(f"{more / measure_more:.2f}" if measure_more > 0.3 else "")
        lines.append(f"| {shot.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def curves_of(path: Path) -> dict[str, float]:
    """Return milliseconds of the default measures, and of the curve of each kind, over one table."""
    gathered = read_tables(RowRequest([str(path)], Columns("score", "label"), reading=Reading()))
    table, options = gathered.tables[RAW], MeasureOptions(complete=False)
    bins = bins_of(Binning.EQUAL_WIDTH, 15, table=table)
    works: dict[str, Callable[[], object]] = {
        DEFAULTS: lambda: measure_table(table, gathered.input, options=options),
        "smooth": lambda: smooth_curve(table, bandwidth=0.05, generator=np.random.default_rng(0)),
        "binned": lambda: binned_curve(table, bins=bins),
        "isotonic": lambda: isotonic_curve(table, generator=np.random.default_rng(0)),
        "cumulative": lambda: cumulative_curve(table),
        "murphy": lambda: murphy_curve(table),
        "decision": lambda: decision_curve(table),
    }
    found = {}
    for name, work in works.items():
        times = []
        for _ in range(INSIDE_ROUNDS):
            start = time.process_time()
            work()
            times.append(1_000.0 * (time.process_time() - start))
        found[name] = statistics.median(times)
    return found


def inside(path: Path, rows: int) -> str:
    """Return those of a file as a row of a table, from a process of its own."""
    command = [sys.executable, __file__, "--inside", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return f"| {rows:,} | " + " | ".join(f"{found[name]:.0f}" for name in INSIDE) + " |"


def compete(folder: Path, asked: argparse.Namespace) -> str:
    """Run everything and return the page."""
    rules = Rules(asked.rounds, asked.patience, asked.once)
    found, curves = {}, []
    for rows in (START, *sorted(asked.rows)):
        # In a process of its own: a child's peak memory counts that of the process that started it.
        within([__file__, "--prepare", str(folder), "--rows", str(rows)])
        found[rows] = race(entrants(folder, rows), rules)
        if rows != START:
            curves.append(inside(folder / f"{rows}.parquet", rows))
        for path in folder.iterdir():
            path.unlink()
    parts = [f"{machine()}. Median of {asked.rounds} interleaved rounds."]
    for rows in sorted(asked.rows):
        parts += [f"\n## {rows:,} rows, all scores distinct\n", table_of(found[rows], found[START])]
    heads = ["| rows | " + " | ".join(INSIDE) + " |", "|---" * (len(INSIDE) + 1) + "|"]
    parts += ["\n## The curves alone\n", CURVES, *heads, *curves]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Run everything and print the page."""
    parser = parser_of("Time every kind of picture against the measure.", patience=300.0, once=60.0)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 1_000_000, 10_000_000])
    parser.add_argument("--inside", metavar="FILE", help="only time curves over one table, as JSON")
    asked = parser.parse_args()
    if asked.inside:
        print(json.dumps(curves_of(Path(asked.inside))))
        return
    if asked.prepare:
        prepare(Path(asked.prepare), asked.rows[0])
        return
    publish(compete, asked, page=HERE / "PICTURES.md", head=HEAD)


HEAD = f"""# Pictures

Made by `python benchmarks/pictures.py --write`. Processor seconds (user and system) of whole processes, from
a Parquet file to a PNG of page size, and of `measure` of the same rows with the same options in the same run.
A process of `plot` starts with importing matplotlib. "Beyond the start" is what it takes above the same
process on {START} rows, which is what grows with the rows; the last ratio is that of what grows, left out
where it is too little to tell. The rows of `classes` are a tenth, with {CLASSES} probabilities each. `map` is
that of an isotonic fit to the very rows, so that it has its band of 100 fits. `compare` shows two scores, so
that two measures are added up; `isotonic` has MCB, which `measure` leaves out unless asked. `monitor` draws a
gate's state, whose size does not depend on the rows.

"""


if __name__ == "__main__":
    main()
