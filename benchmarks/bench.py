"""
Speed and memory at every size, against raw reads, copies and every package that does the same: `make bench`.

    python benchmarks/bench.py [--rows 10000 ... 100000000] [--rounds 3] [--peers PYTHON] [--write]

Whole processes from a file to the result, interleaved within each table, so that a ratio is of one run.
`--peers` names a Python that has the other packages; what it lacks is left out, and the page says so.
`--write` stores benchmarks/RESULTS.md. Data: scores 0.7 Beta(0.8, 3) + 0.3 Beta(4, 1.5), labels
Bernoulli(sigmoid(0.85 logit - 0.1)), in Parquet with row groups of 2^20 rows; every score is another one.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from bench_jobs import Contest, contests, prepare
from bench_page import exponents_of, table_of, targets_of
from fits import missing, versions
from measures import PACKAGES, Rules, parser_of, publish, race, within
from processes import Spent, machine

HERE = Path(__file__).parent
SIZES = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
NEEDED = {
    "sklearn": "scikit-learn",
    "relplot": "relplot",
    "calibration": "uncertainty-calibration",
    "mapie": "mapie",
    "calzone": "calzone-tool",
    "netcal": "netcal",
    "torchmetrics": "torchmetrics",
    "betacal": "betacal",
    "venn_abers": "venn-abers",
}
Results = dict[tuple[int, str], Spent]


def run_contest(contest: Contest, rules: Rules, results: Results) -> str:
    """Run the processes of one table in turn, keep their medians, and return the table."""
    found = race(contest.field, rules)
    for name, runs in found.items():
        if not isinstance(runs, str):
            columns = zip(*((run.wall, run.cpu, run.peak) for run in runs), strict=True)
            results[contest.rows, name] = Spent(*(statistics.median(column) for column in columns))
    return f"### {contest.title}\n\n{table_of(contest, found)}\n"


def inside(data: Path, peers: str, *, there: Sequence[str]) -> dict[str, float]:
    """Return the processor seconds of single steps within a process, ours and theirs."""
    script = str(HERE / "bench_inside.py")
    found: dict[str, float] = json.loads(within([script, "ours", str(data)]))
    for name in there:
        found |= json.loads(within([script, name, str(data)], python=peers))
    return found


def compete(folder: Path, asked: argparse.Namespace) -> str:
    """Run everything and return the page."""
    absent = {name: missing(asked.peers, module) for module, name in NEEDED.items()}
    there = frozenset(module for module, name in NEEDED.items() if absent[name] is None)
    packages = (*PACKAGES, "betacal", "venn-abers")
    told = [
        f"{machine()}; {versions(asked.peers, packages)}.",
        f"Load {os.getloadavg()[0]:.1f} at the start. Median of {asked.rounds} interleaved rounds.",
        f"What took over {asked.once:g} s ran once; after {asked.patience:g} s it was stopped.",
    ]
    rules, results, parts = Rules(asked.rounds, asked.patience, asked.once), Results(), []
    for rows in sorted(asked.rows):
        place = folder / str(rows)
        # In a process of its own: a child's peak memory counts that of the process that started it.
        within([__file__, "--prepare", str(place), "--rows", str(rows)])
        parts.append(f"## {rows:,} rows\n")
        for contest in contests(place, rows, peers=asked.peers, there=there):
            parts.append(run_contest(contest, rules, results))
            sys.stderr.write(parts[-1])
        if rows < max(asked.rows):
            continue
        within([__file__, "--prepare", str(folder / "inside"), "--rows", "10000000"])
    steps = inside(
        folder / "inside", asked.peers, there=sorted(there & {"relplot", "venn_abers", "calibration"})
    )
    left_out = [f"- {name}: {why}" for name, why in absent.items() if why is not None]
    left_out = ["Not measured:\n", *left_out] if left_out else []
    summary = ["## Targets\n", targets_of(results, steps), "\n## Growth\n", exponents_of(results), ""]
    return "\n".join([*told, "", *left_out, *summary, *parts])


def main() -> None:
    """Run everything and print the page."""
    parser = parser_of("Time whole processes at every size.", patience=240.0, once=12.0)
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    asked = parser.parse_args()
    if asked.prepare:
        prepare(Path(asked.prepare), asked.rows[0])
        return
    publish(compete, asked, page=HERE / "RESULTS.md", head=HEAD)


HEAD = """# Speed and memory

Made by `make bench PEERS=PYTHON` (`python benchmarks/bench.py --write --peers PYTHON`), PYTHON being one that
has the packages compared with. Whole processes from start to end; the result is the ratios, each of one
interleaved run. "Reads" is the wall time over that of a process that only streams the same columns with
pyarrow; "ours" is it over that of calibcli's first line of the table: above 1, calibcli was faster.

The two sides are not alike. A peer holds all rows, is called for what its line names, and gives no interval
for any of it; calibcli checks every value, gives every number its interval, and beyond a million distinct
scores works on a grid of 720,720 cells, 1.4e-6 apart at most, with a second pass over the rows where that
makes a fit exact. Start-up is in every time.

"""


if __name__ == "__main__":
    main()
