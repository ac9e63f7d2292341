"""Simulate how often every test rejects calibrated labels, and write `docs/test_sizes.md` as the run found
it.

The worlds are those of `tests/claims/sizes.py`, a few of which `make claims` runs.

    python benchmarks/write_sizes.py --repetitions 2000 --many 500 --keep sizes.jsonl

A cell is run in batches of 250 repetitions. Each is kept as a line of the file once it is done, so that a run
that was stopped goes on where it was, and a longer one adds to it.
"""

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing import Pool
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from scipy.stats import binom  # noqa: E402 - after the threads are settled

from claims.sizes import BATCH, LEVELS, NAMES, Cell, cells, rejections  # noqa: E402 - found by the path above

# From so many rows on a cell is repeated `--many` times.
MANY_ROWS = 1_000_000
# Where so many rejections have a smaller probability at the nominal level, a number is bold.
RARE = 1e-4
# How many cells the first table lists.
WORST = 30


@dataclass(frozen=True, slots=True)
class Sizes:
    """What was found in a cell.

    Args:
        repetitions: How often labels were drawn.

        rejected: How often each test rejected them at each level.
    """

    repetitions: int
    rejected: dict[str, list[int]]


Job = tuple[Cell, int]
Results = dict[Cell, Sizes]


def run(job: Job) -> tuple[Job, dict[str, list[int]]]:
    """Simulate one batch of a cell."""
    return job, rejections(job[0], batch=job[1])


def simulated(jobs: list[Job], *, keep: Path, workers: int) -> Results:
    """Run all batches that `keep` does not hold yet, add them to it, and add up those of each cell."""
    found: dict[Job, dict[str, list[int]]] = {}
    if keep.exists():
        for line in keep.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            found[Cell(**one["cell"]), one["batch"]] = one["rejected"]
    waiting = [job for job in jobs if job not in found]
    with Pool(workers) as pool, keep.open("a", encoding="utf-8") as file:
        for number, ((cell, batch), rejected) in enumerate(pool.imap_unordered(run, waiting), start=1):
            found[cell, batch] = rejected
            file.write(json.dumps({"cell": asdict(cell), "batch": batch, "rejected": rejected}) + "\n")
            file.flush()
            print(f"{number} of {len(waiting)}: {cell}", flush=True)
    results: Results = {}
    for cell in dict.fromkeys(cell for cell, _ in jobs):
        batches = [found[job] for job in jobs if job[0] == cell]
        rejected = {
            name: [sum(level) for level in zip(*(one[name] for one in batches), strict=True)]
            for name in batches[0]
        }
        results[cell] = Sizes(len(batches) * BATCH, rejected)
    return results


def evidence(count: int, repetitions: int, level: float) -> float:
    """Return how probable so many rejections are at the nominal level."""
    return float(binom.sf(count - 1, repetitions, level))


def unlikely(sizes: Sizes) -> list[float]:
    """Return this for every test and level."""
    return [
        evidence(count, sizes.repetitions, level)
        for counts in sizes.rejected.values()
        for count, level in zip(counts, LEVELS, strict=True)
    ]


def sizes_text(counts: list[int], repetitions: int) -> str:
    """Return the sizes at all levels in per cent, bold where one is above its level by more than chance."""
    words = []
    for count, level in zip(counts, LEVELS if counts else (), strict=True):
        text = f"{100 * count / repetitions:.1f}"
        words.append(f"**{text}**" if evidence(count, repetitions, level) < RARE else text)
    return " / ".join(words)


def prose(text: str) -> Iterator[str]:
    """Yield a paragraph, wrapped."""
    yield from textwrap.wrap(" ".join(text.split()), 120, break_on_hyphens=False)
    yield ""


def table(results: Results) -> Iterator[str]:
    """Yield the lines of a table, a cell a line."""
    yield "| rows | Σf(1 - f) | open to doubt | scores | " + " | ".join(NAMES) + " |"
    yield "|---" * (4 + len(NAMES)) + "|"
    for cell, sizes in results.items():
        head = [f"{cell.rows:,}", f"{cell.information:g}", cell.concentration, cell.ties]
        found = (sizes_text(sizes.rejected.get(name, []), sizes.repetitions) for name in NAMES)
        yield "| " + " | ".join([*head, *found]) + " |"
    yield ""


def largest(results: Results) -> Iterator[str]:
    """Yield the mean and the largest size of each test."""
    yield "| test | mean at 1 % | largest | mean at 5 % | largest | mean at 10 % | largest |"
    yield "|---" * 7 + "|"
    for name in NAMES:
        words = []
        for k in range(len(LEVELS)):
            some = [one for one in results.values() if name in one.rejected]
            shares = [100 * one.rejected[name][k] / one.repetitions for one in some]
            words += [f"{sum(shares) / len(shares):.2f}", f"{max(shares):.1f}"]
        yield f"| {name} | " + " | ".join(words) + " |"
    yield ""


def _times(often: list[int]) -> str:
    return f"{min(often):,}" if min(often) == max(often) else f"{min(often):,} to {max(often):,}"


def document(results: Results, *, command: str) -> str:
    """Return the page."""
    chances = {cell: unlikely(sizes) for cell, sizes in results.items()}
    worst = sorted(results, key=lambda cell: min(chances[cell]))
    often = [sizes.repetitions for sizes in results.values()]
    numbers = [chance for found in chances.values() for chance in found]
    bold = sum(chance < RARE for chance in numbers)
    lines = [
        *("# Measured sizes of the tests", "", f"Written by `{command}`; do not edit.", ""),
        *prose(f"""
            How often each test rejects labels that were drawn from the scores, at 1 / 5 / 10 %, in per cent.
            A test keeps its promise where that is at most the level, up to chance. It is less where few rows
            are open to doubt, as there is little to reject. Of {len(numbers):,} numbers {bold} are bold:
            above their level by more than chance does once in 10,000 times. Labels were drawn
            {_times(often)} times in each cell. P-values are drawn 199 times here and not 999, which keeps
            the levels; but the combined test then rejects at 1 % by its limit laws alone.
        """),
        *prose("""
            *Open to doubt*: "alike", every row adds about the same to Σf(1 - f); "few open", as a saturated
            net leaves them: all but a few rows lie within 1e-9 of 0 or 1; "one heavy", a single score holds
            half of the sum. *Scores*: all different, of two values, or of ten. Frequency weights make ties,
            nothing else, and with importance weights or clusters no test is made. U is left out at a
            million different scores, which take it a second each. How p-values are found, and why:
            [methods](methods.md#how-p-values-are-found).
        """),
        *("## All cells together", "", *largest(results)),
        *(f"## The {min(WORST, len(worst))} cells that speak most against a test", ""),
        *table({cell: results[cell] for cell in worst[:WORST]}),
        *("## Every cell", "", *table(results)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Run all cells, then write the page in one move."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--many", type=int, default=500, help="repetitions of cells of a million rows")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--keep", type=Path, required=True, help="a file of cells done, to go on after a stop"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "test_sizes.md")
    chosen = parser.parse_args()
    jobs = [
        (cell, batch)
        for cell in cells()
        for batch in range((chosen.many if cell.rows >= MANY_ROWS else chosen.repetitions) // BATCH)
    ]
    # A whole table, if a rough one, comes first, but for the cells that take longest.
    jobs.sort(key=lambda job: job[1] + (job[0].rows >= MANY_ROWS))
    results = simulated(jobs, keep=chosen.keep, workers=chosen.workers)
    counts = f"--repetitions {chosen.repetitions} --many {chosen.many}"
    command = f"python benchmarks/write_sizes.py --keep FILE {counts}"
    beside_it = chosen.output.with_suffix(".tmp")
    beside_it.write_text(document(results, command=command), encoding="utf-8")
    beside_it.replace(chosen.output)
    print(f"wrote {chosen.output}")


if __name__ == "__main__":
    main()
