"""Every goal of speed and memory, against reads, copies and the packages that do the same: `make bench`.

    python benchmarks/bench.py [--peers PYTHON] [--only WORD] [--rounds N] [--minutes 40] [--write]

Whole processes from a file to the result, in turn within each contest, so that a ratio is of processes that
ran next to each other. `--peers` names a Python that has the other packages; a line of what it lacks says so.
`--only` takes the contests with a word in their title. `--write` stores benchmarks/RESULTS.md after every
contest: what is cut off keeps what it has. Data: scores 0.7 Beta(0.8, 3) + 0.3 Beta(4, 1.5), labels
Bernoulli(sigmoid(0.85 logit - 0.1)), in Parquet with row groups of 2^20 rows; every score is another one.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from bench_jobs import Contest, contests
from bench_page import Results, goals_of, growth_of, table_of
from fits import versions
from measures import PACKAGES, Rules, race
from processes import Spent, machine
from workers import dask_cluster

HERE = Path(__file__).parent
PAGE = HERE / "RESULTS.md"
# A process that took so many seconds is not run again.
ONCE = 8.0
PEERS = (*PACKAGES, "betacal", "mcgrad", "pandas")
Found = dict[str, list[Spent] | str]


def run(contest: Contest, at: Path, rounds: int | None) -> Found:
    """Make the files of a contest, and run its processes in turn."""
    made = [sys.executable, str(HERE / "bench_files.py"), *contest.files.split(), str(at)]
    subprocess.run(made, check=True)
    rules = Rules(rounds or contest.rounds, contest.patience, ONCE, contest.warm)
    with dask_cluster(at) if contest.on_dask else nullcontext():
        return race(contest.field, rules)


def page_of(told: str, results: Results, tables: Sequence[str]) -> str:
    """Return the page of what there is so far."""
    parts = [told, "## Goals", goals_of(results), "## Growth", GROWTH, growth_of(results), *tables]
    return HEAD + "\n\n".join(parts) + "\n"


def compete(asked: argparse.Namespace) -> None:
    """Run all that is asked for; the page is written anew after each contest."""
    began, results, tables = time.perf_counter(), dict[str, Found](), list[str]()
    where, page = (
        f"{machine()}; {versions(asked.peers, PEERS)}. Load {os.getloadavg()[0]:.1f} at the start",
        "",
    )
    with tempfile.TemporaryDirectory(prefix="calibcli-bench-") as folder:
        every = [one for one in contests(Path(folder), asked.peers) if asked.only in one.title]
        for place, contest in enumerate(every, 1):
            minutes = (time.perf_counter() - began) / 60
            try:
                if minutes > asked.minutes:
                    problem = f"Not run: {asked.minutes:g} minutes were over."
                else:
                    problem, results[contest.title] = "", run(contest, Path(folder), asked.rounds)
            except (OSError, ImportError, ValueError, subprocess.SubprocessError) as error:
                problem = f"Failed: {error}"
            for path in Path(folder).iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            told = problem or table_of(contest, results[contest.title])
            tables.append(f"## {contest.title}\n\n{told}")
            sys.stderr.write(f"{tables[-1]}\n\n")
            minutes = (time.perf_counter() - began) / 60
            ran = f"{os.getloadavg()[0]:.1f} after {minutes:.0f} minutes and {place} of {len(every)} contests"
            page = page_of(f"{where}, {ran}.", results, tables)
            if asked.write:
                PAGE.write_text(page, encoding="utf-8")
    sys.stdout.write(page)


def main() -> None:
    """Run everything and print the page."""
    parser = argparse.ArgumentParser(description="Time whole processes against every goal.")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="has the other packages")
    parser.add_argument("--only", default="", metavar="WORD", help="contests with it in their title")
    parser.add_argument("--rounds", type=int, metavar="N", help="times each; else as many as it is worth")
    parser.add_argument("--minutes", type=float, default=36.0, help="begin no contest after these")
    parser.add_argument("--write", action="store_true", help="store benchmarks/RESULTS.md")
    compete(parser.parse_args())


HEAD = """# Speed and memory

Made by `make bench PEERS=PYTHON` (`python benchmarks/bench.py --write --peers PYTHON`), PYTHON being one that
has the packages compared with. Whole processes from start to end, start-up in every time; the processes of a
table ran in turn. A ratio is that of two runs next to each other: the median of all such pairs, and from the
least to the most of them, which is the noise. Seconds and MiB are medians. What took over 8 s ran once.

A "read" is a process that only streams the two columns with pyarrow, as pyarrow and numpy come: numpy starts
threads that take some processor time, which calibcli asks it not to.

The two sides are not alike. A peer holds all rows, is called for what its line names, and gives no interval
for any of it; calibcli checks every value, gives every number its interval, and beyond a million distinct
scores works on a grid of 720,720 cells, 1.4e-6 apart at most, with a second pass over the rows where that
makes a fit exact.

"""
GROWTH = """Processor time less that at the least size, which is start-up: an exponent of 1 is twice the
time for twice the number. A time within a tenth of a second of start-up says nothing."""


if __name__ == "__main__":
    main()
