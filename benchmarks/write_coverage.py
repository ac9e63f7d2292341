"""
Simulate every promise in every world and write `docs/coverage.md` as the run found it.

The cells are those of `tests/claims/cells.py`, the hardest of which `make claims` runs.

    python benchmarks/write_coverage.py --workers 2

Each cell is kept as a line of build/coverage/cells.jsonl once it is done, under the code it depends on, so
that a run that was stopped goes on where it was and a changed method computes its own cells anew. `--hours`
stops by itself. The page is written at the end of a run, and says how many cells it holds.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from multiprocessing import Pool
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
# One thread a worker: the arrays are small.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from coverage_page import Run, document  # noqa: E402 - after the threads are settled

from claims.cells import (  # noqa: E402 - found by the path above
    Cell,
    Count,
    as_json,
    cells,
    digest,
    repetitions_of,
    seconds_of,
    simulated,
)

PAGE = ROOT / "docs" / "coverage.md"
KEEP = ROOT / "build" / "coverage" / "cells.jsonl"
Job = tuple[Cell, int]


def run(job: Job) -> tuple[Job, dict[str, Count]]:
    """Simulate one cell."""
    return job, simulated(*job)


def key_of(job: Job) -> str:
    """Return what a kept cell is known by: its name, its repetitions, and the code it depends on."""
    cell, often = job
    return f"{cell.name} {often} {digest(cell)}"


def kept(path: Path) -> dict[str, dict[str, Count]]:
    """Return the cells of earlier runs; a line that was cut off is none."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            one = json.loads(line)
        except ValueError:
            continue
        found[one["key"]] = {name: Count(**count) for name, count in one["counts"].items()}
    return found


def simulate(jobs: list[Job], *, path: Path, workers: int, seconds: float) -> None:
    """Run cells in their order and keep each; stop when the time is over, or at Ctrl-C."""
    path.parent.mkdir(parents=True, exist_ok=True)
    started, done, whole = time.monotonic(), 0.0, sum(map(weight, jobs))
    # Ctrl-C is for the one that keeps cells; workers are ended by it.
    quiet = (signal.SIGINT, signal.SIG_IGN)
    with Pool(workers, signal.signal, quiet) as pool, path.open("a", encoding="utf-8") as file:
        try:
            for number, (job, counts) in enumerate(pool.imap_unordered(run, jobs), start=1):
                line = {"key": key_of(job), "cell": asdict(job[0]), "counts": as_json(counts)}
                file.write(f"{json.dumps(line)}\n")
                file.flush()
                done += weight(job)
                passed = time.monotonic() - started
                left = passed * (whole / done - 1.0) / 3600.0
                print(f"{number} of {len(jobs)}, about {left:.1f} h left: {job[0].name}", flush=True)
                if passed > seconds:
                    pool.terminate()
                    return
        except KeyboardInterrupt:
            pool.terminate()
            print("stopped; the same command goes on from here", flush=True)


def weight(job: Job) -> float:
    """Return what a cell takes, nearly."""
    return seconds_of(job[0]) * job[1]


def chosen_jobs(cap: int | None, kinds: list[str] | None) -> Iterator[Job]:
    """Yield the cells asked for and how often each is repeated."""
    for cell in cells():
        if kinds is None or cell.kind in kinds:
            often = repetitions_of(cell)
            yield cell, often if cap is None else min(cap, often)


def main() -> None:
    """Run the cells that are not kept yet, then write the page in one move."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--hours", type=float, default=1e9, help="stop after so many; 0: only the page")
    parser.add_argument(
        "--repetitions", type=int, help="at most so many: for a try, with an --output of its own"
    )
    parser.add_argument("--kinds", nargs="+", help="only these kinds of cell")
    parser.add_argument("--keep", type=Path, default=KEEP)
    parser.add_argument("--output", type=Path, default=PAGE)
    asked = parser.parse_args()
    if asked.repetitions is not None and asked.output == PAGE:
        parser.error("--repetitions is for a try: give it an --output of its own")
    jobs = list(chosen_jobs(asked.repetitions, asked.kinds))
    known = kept(asked.keep)
    waiting = [job for job in jobs if key_of(job) not in known]
    print(f"{len(jobs) - len(waiting)} of {len(jobs)} cells are done", flush=True)
    if waiting and asked.hours > 0.0:
        simulate(waiting, path=asked.keep, workers=asked.workers, seconds=3600.0 * asked.hours)
        known = kept(asked.keep)
    found = {job[0]: known[key_of(job)] for job in jobs if key_of(job) in known}
    beside_it = asked.output.with_suffix(".tmp")
    beside_it.write_text(document(Run(found, cells())), encoding="utf-8")
    beside_it.replace(asked.output)
    print(f"wrote {asked.output}: {len(found)} of {len(jobs)} cells")


if __name__ == "__main__":
    main()
