"""
Simulate every promised coverage and write `docs/coverage.md` as the run found it.

The cells and their seeds are those of `tests/claims/test_coverage.py`, which asserts what this writes.

    python benchmarks/write_coverage.py --repetitions 2000 --workers 2
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
# One thread a worker: the arrays are small.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from scipy.stats import binom  # noqa: E402 - after the threads are settled

from claims.simulation import (  # noqa: E402 - found through the path set above
    FINITE_SAMPLE,
    PROMISES,
    SCENARIOS,
    Tally,
    allowed_error,
    every_promise,
    most_misses,
    promised,
    rejections,
    wrong_verdicts,
    wrong_verdicts_at_any_time,
)

ROWS = (200, 1000, 5000, 50_000)
CONFIDENCES = (0.95, 0.9)
CALIBRATED = ("calibrated", "discrete", "rare", "rare, 15 atoms")
TEST_ROWS = (200, 1000, 5000)
ATOM_COUNTS = (1, 2, 10)
LOOKS = 50

Job = tuple[str, tuple[object, ...]]
Found = dict[Job, object]
ABOUT = {
    "calibrated": "scores uniform, labels follow them",
    "mild": "scores uniform, logit slope 0.8",
    "strong": "scores uniform, logit slope 0.4",
    "discrete": "ten atoms, labels follow them",
    "disc4": "ten atoms, off by 0.04 up and down in turn",
    "rare": "scores log-uniform from 0.002 to 0.2, labels follow them",
    "rare, wrong": "the same scores, labels half as frequent",
    "rare, 15 atoms": "fifteen atoms from 0.002 to 0.2, labels follow them",
    "tied": "scores uniform on hundredths, logit slope 0.8",
    "one atom": "every score 0.5, labels 0.45: the hardest for one-sided bounds",
}


def jobs() -> Iterator[Job]:
    """Yield every cell, the slowest first."""
    for rows in reversed(ROWS):
        for scenario in SCENARIOS:
            for confidence in CONFIDENCES:
                yield "interval", (scenario, rows, confidence)
    for rows in reversed(TEST_ROWS):
        for scenario in CALIBRATED:
            yield "tests", (scenario, rows)
    for count in ATOM_COUNTS:
        yield "one look", (count,)
        yield "any time", (count,)


def repetitions_at(rows: int, repetitions: int) -> int:
    """Return how often a cell is repeated: a tenth as often at 50,000 rows."""
    return max(50, repetitions // 10) if rows >= 50_000 else repetitions


def streams_of(repetitions: int) -> int:
    """Return how many streams of looks stand for so many repetitions."""
    return max(1, repetitions // 5)


def run(task: tuple[Job, int]) -> tuple[Job, object]:
    """Simulate one cell."""
    job, repetitions = task
    kind, key = job
    if kind == "interval":
        scenario, rows, confidence = key
        times = repetitions_at(rows, repetitions)
        return job, every_promise(scenario, rows, confidence=confidence, repetitions=times)
    if kind == "tests":
        return job, rejections(*key, repetitions=repetitions)
    if kind == "one look":
        return job, wrong_verdicts(*key, eps=0.05, rows=2000, repetitions=repetitions)
    return job, wrong_verdicts_at_any_time(
        *key, eps=0.05, step=400, looks=LOOKS, streams=streams_of(repetitions)
    )


def cell_text(name: str, tally: Tally, rows: int) -> str:
    """Return coverage with the mean width, or mean bound of one end, and Theorem 12.4's width for ECE."""
    mean = tally.width / tally.repetitions
    text = f"{tally.coverage:.3f} ({1.0 - mean if name.endswith(' lower') else mean:.3f}"
    text += f", 12.4: {tally.plain_width / tally.repetitions:.3f})" if tally.plain_width else ")"
    missed = tally.misses > most_misses(tally.repetitions, allowed_error(name, tally))
    return f"**{text}**" if missed and promised(name, rows) else text


def interval_tables(found: Found) -> Iterator[str]:
    """Yield one table per interval and confidence."""
    for name in PROMISES:
        kind = "finite-sample" if name in FINITE_SAMPLE else "approximate below 1,000 rows"
        yield f"\n### {name} ({kind})\n"
        for confidence in CONFIDENCES:
            side = (1 + confidence) / 2 if name.endswith((" upper", " lower")) else confidence
            yield f"\nNominal {side:.1%}.\n\n"
            yield "| scenario | " + " | ".join(f"{rows:,} rows" for rows in ROWS) + " |\n"
            yield "|---" * (len(ROWS) + 1) + "|\n"
            for scenario in SCENARIOS:
                cells = [found["interval", (scenario, rows, confidence)] for rows in ROWS]
                if any(name not in cell for cell in cells):
                    continue  # no interval is printed where nothing varies
                tallies = [cell[name] for cell in cells]
                texts = [cell_text(name, tally, rows) for tally, rows in zip(tallies, ROWS, strict=True)]
                yield (f"| {scenario} | " + " | ".join(texts) + " |\n")


def least_table(found: Found) -> Iterator[str]:
    """Yield the cell that speaks most against each interval, among those for which it is promised."""
    yield "| interval | nominal | cell | coverage | misses | misses allowed |\n|---|---|---|---|---|---|\n"
    for confidence in CONFIDENCES:
        for name in PROMISES:
            cells = [
                (key[0], key[1], tallies[name])
                for (kind, key), tallies in sorted(found.items(), key=lambda item: str(item[0]))
                if kind == "interval" and key[2] == confidence and name in tallies and promised(name, key[1])
            ]
            scenario, rows, tally = min(cells, key=lambda cell: tail_of(cell[2]))
            most = most_misses(tally.repetitions, allowed_error(name, tally))
            yield (
                f"| {name} | {1 - tally.error:.1%} | {scenario}, {rows:,} rows | {tally.coverage:.3f} "
                f"| {tally.misses} of {tally.repetitions:,} | {most} |\n"
            )


def tail_of(tally: Tally) -> tuple[float, float]:
    """Return how probable so many misses are at the nominal rate, then the coverage."""
    return float(binom.sf(tally.misses - 1, tally.repetitions, tally.error)), tally.coverage


def test_table(found: Found, repetitions: int) -> Iterator[str]:
    """Yield how often each test rejects calibrated labels at 5 %."""
    names = ("ks", "kuiper", "spiegelhalter", "t", "combined")
    yield "| scenario | rows | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 2) + "|\n"
    for scenario in CALIBRATED:
        for rows in TEST_ROWS:
            counts = found["tests", (scenario, rows)]
            shares = " | ".join(f"{counts[name] / repetitions:.3f}" for name in names)
            yield f"| {scenario} | {rows:,} | {shares} |\n"


def verdict_table(found: Found, repetitions: int) -> Iterator[str]:
    """Yield how often a gate was wrong where the error is exactly at the limit."""
    yield "| atoms | wrong pass, one look | wrong fail, one look | ever a wrong pass | ever a wrong fail |\n"
    yield "|---|---|---|---|---|\n"
    for count in ATOM_COUNTS:
        one = [n / repetitions for n in found["one look", (count,)]]
        ever = [n / (streams_of(repetitions)) for n in found["any time", (count,)]]
        yield f"| {count} | {one[0]:.3f} | {one[1]:.3f} | {ever[0]:.3f} | {ever[1]:.3f} |\n"


def document(found: Found, repetitions: int) -> str:
    """Return the page."""
    lines = [
        "# Measured coverage",
        "",
        f"Written by `python benchmarks/write_coverage.py --repetitions {repetitions}`; do not edit.",
        f"{repetitions:,} repetitions a cell, {repetitions_at(50_000, repetitions):,} at 50,000 rows; a",
        "quarter of that for smECE. Every cell is seeded by its name (`tests/claims/simulation.py`), so the",
        "same command gives the same page. `make claims` runs the same cells and fails where one breaks its",
        "promise.",
        "",
        "An interval may miss as often as its nominal rate, plus what chance gives with probability 1e-6;",
        "approximate intervals may miss three points more and promise nothing below 1,000 rows. A cell that",
        "breaks this is bold. In brackets stands the mean width (of one end alone the mean bound), for ECE",
        "beside that of the two-sided interval of Theorem 12.4 for the same rows. Coverage above nominal is",
        "the price of holding at every number of rows.",
        "",
        "| scenario | |",
        "|---|---|",
        *(f"| {name} | {ABOUT[name]} |" for name in SCENARIOS),
        "",
        "## The cell that speaks most against each interval",
        "",
        "".join(least_table(found)),
        "## Intervals",
        "".join(interval_tables(found)),
        "## Tests: rejections of calibrated labels at 5 %",
        "",
        "P-values as `measure` decides them, with 199 draws where they are drawn.",
        "",
        "".join(test_table(found, repetitions)),
        "## Gates: wrong verdicts where the error is exactly the limit 0.05, delta 5 % on each side",
        "",
        f"One look: 2,000 rows, bets of an artifact, {repetitions:,} repetitions. Ever: asked after",
        f"every 400 rows up to {400 * LOOKS:,}, any-time bets, {streams_of(repetitions):,} streams.",
        "",
        "".join(verdict_table(found, repetitions)),
    ]
    return "\n".join(lines)


def main() -> None:
    """Run all cells, then write the page in one move."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "coverage.md")
    chosen = parser.parse_args()
    started, found = time.perf_counter(), {}
    tasks = [(job, chosen.repetitions) for job in jobs()]
    with Pool(chosen.workers) as pool:
        for number, (job, result) in enumerate(pool.imap_unordered(run, tasks), start=1):
            found[job] = result
            if number % 20 == 0:
                print(f"{number} of {len(tasks)} cells, {time.perf_counter() - started:.0f} s", flush=True)
    beside = chosen.output.with_suffix(".tmp")
    beside.write_text(document(found, chosen.repetitions), encoding="utf-8")
    beside.replace(chosen.output)
    print(f"wrote {chosen.output} in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
