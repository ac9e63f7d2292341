"""Simulate every promise in every world and write `docs/coverage.md` as the run found it.

The cells are those of `tests/claims/cells.py`, of which `make claims` runs some with fewer repetitions.

    python benchmarks/write_coverage.py --hours 0.5

Each cell is kept as a line of benchmarks/coverage.jsonl once it is done, with a probe: what its first
repetitions answered. A run first asks them again. What answers as before is still true, whatever became of
the code; what answers otherwise is simulated anew, and so is what is not kept. `--hours` begins no cell after
so many, and the same command goes on from there. The page is written at the end, and says how many cells it
holds, and of how many the answers have changed since.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
# One thread a worker: the arrays are small.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from coverage_page import Run, document  # noqa: E402 - after the threads are settled

from claims.cells import (  # noqa: E402 - found by the path above
    Cell,
    Count,
    cells,
    probe,
    repetitions_of,
    seconds_of,
    simulated,
)

PAGE = ROOT / "docs" / "coverage.md"
KEEP = ROOT / "benchmarks" / "coverage.jsonl"
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Kept:
    """A cell that was simulated.

    Args:
        times: How often.

        probe: What its first repetitions answered.

        counts: What was counted.

        changed: Whether they answer otherwise today.
    """

    times: int
    probe: str
    counts: dict[str, Count]
    changed: bool = False


def read(path: Path) -> dict[str, Kept]:
    """Return the cells of earlier runs by their names."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        cell, times, known_by, counts, *changed = json.loads(line)
        counted = {name: Count(*count) for name, count in counts.items()}
        found[cell] = Kept(times, known_by, counted, *changed)
    return found


def write(kept: dict[str, Kept], path: Path) -> None:
    """Write cells in the order of their names, in one move; widths to six digits."""
    lines = []
    for cell, one in sorted(kept.items()):
        counts = {
            name: (*astuple(count)[:-1], float(f"{count.width:.6g}")) for name, count in one.counts.items()
        }
        changed = [True] if one.changed else []
        lines.append(json.dumps([cell, one.times, one.probe, counts, *changed], separators=(",", ":")))
    beside_it = path.with_suffix(".tmp")
    beside_it.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    beside_it.replace(path)


def probed(cell: Cell) -> str:
    """Return what a cell answers today."""
    return probe(cell)


def times_of(cell: Cell, cap: int | None) -> int:
    """Return how often a cell is repeated."""
    return min(repetitions_of(cell), cap or sys.maxsize)


def run(cell: Cell, *, cap: int | None) -> Kept:
    """Simulate one cell."""
    times = times_of(cell, cap)
    return Kept(times, probe(cell), simulated(cell, times))


def in_time(cell: Cell, *, until: float, ask: Callable[[Cell], Answer]) -> tuple[Cell, Answer | None]:
    """Return what is asked of a cell, or None where the time is over."""
    return cell, ask(cell) if time.time() < until else None


def asked(
    ask: Callable[[Cell], Answer], some: list[Cell], *, workers: int, until: float
) -> Iterator[tuple[Cell, Answer]]:
    """Yield the answers of cells, nearly in their order, until the time is over or at Ctrl-C."""
    # Ctrl-C is for the one that keeps cells; workers are ended by it.
    quiet = (signal.SIGINT, signal.SIG_IGN)
    with Pool(workers, signal.signal, quiet) as pool:
        for cell, answer in pool.imap_unordered(partial(in_time, until=until, ask=ask), some):
            if answer is not None:
                yield cell, answer


def asked_again(kept: dict[str, Kept], some: list[Cell], *, workers: int, until: float) -> dict[str, Kept]:
    """Return the cells that are kept; those that were asked say whether they answer as they did."""
    known = [cell for cell in some if cell.name in kept]
    found = dict(kept)
    for cell, now in asked(probed, known, workers=workers, until=until):
        found[cell.name] = replace(kept[cell.name], changed=now != kept[cell.name].probe)
    changed = sum(found[cell.name].changed for cell in known)
    print(f"{changed:,} of {len(known):,} cells answer otherwise than they did", flush=True)
    return found


def simulate(
    kept: dict[str, Kept], some: list[Cell], *, path: Path, workers: int, until: float, cap: int | None = None
) -> None:
    """Run the cells that are not kept, or of fewer repetitions, or answer otherwise, and keep each."""
    waiting = [cell for cell in some if is_due(cell, kept.get(cell.name), cap)]
    started, done, whole = time.monotonic(), 0.0, sum(map(weight, waiting))
    try:
        answers = asked(partial(run, cap=cap), waiting, workers=workers, until=until)
        for number, (cell, one) in enumerate(answers, start=1):
            kept[cell.name] = one
            write(kept, path)
            done += weight(cell)
            left = (time.monotonic() - started) * (whole / done - 1.0) / 3600.0
            print(f"{number} of {len(waiting)}, about {left:.1f} h left: {cell.name}", flush=True)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", flush=True)


def is_due(cell: Cell, one: Kept | None, cap: int | None) -> bool:
    """Whether a cell is to be simulated."""
    return one is None or one.changed or one.times < times_of(cell, cap)


def weight(cell: Cell) -> float:
    """Return what a cell takes, nearly."""
    return seconds_of(cell) * repetitions_of(cell)


def of_kinds(some: Iterable[Cell], kinds: list[str] | None) -> list[Cell]:
    """Return cells of these kinds."""
    return [cell for cell in some if kinds is None or cell.kind in kinds]


def main() -> None:
    """Run the cells that are not kept or no longer true, then write the page in one move."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--hours", type=float, default=1e6, help="begin none after so many; 0: only the page")
    parser.add_argument(
        "--repetitions", type=int, help="at most so many: for a try, with a --keep of its own"
    )
    parser.add_argument("--kinds", nargs="+", help="only these kinds of cell")
    parser.add_argument("--keep", type=Path, default=KEEP)
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    if given.repetitions is not None and given.keep == KEEP:
        parser.error("--repetitions is for a try: give it a --keep and an --output of its own")
    until = time.time() + 3600.0 * given.hours
    every = cells()
    # What is no cell any more is forgotten.
    names = {cell.name for cell in every}
    kept = {name: one for name, one in read(given.keep).items() if name in names}
    if given.hours > 0.0:
        some = of_kinds(every, given.kinds)
        kept = asked_again(kept, some, workers=given.workers, until=until)
        simulate(kept, some, path=given.keep, workers=given.workers, until=until, cap=given.repetitions)
        write(kept, given.keep)
        # Widths as they are kept, so that the page is the same whenever it is written.
        kept = read(given.keep)
    beside_it = given.output.with_suffix(".tmp")
    beside_it.write_text(page_of(kept), encoding="utf-8")
    beside_it.replace(given.output)
    print(f"wrote {given.output}: {len(kept)} of {len(every)} cells")


def page_of(kept: dict[str, Kept]) -> str:
    """Return the page of the cells that are kept."""
    every = cells()
    found = {cell: kept[cell.name] for cell in every if cell.name in kept}
    changed = [cell for cell, one in found.items() if one.changed]
    return document(Run({cell: one.counts for cell, one in found.items()}, every, changed))


if __name__ == "__main__":
    main()
