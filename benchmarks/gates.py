"""Simulate the gates and write `docs/gates.md` as the run found it.

Every cell is seeded by its own name (`tests/claims/simulation.py`), so the same command gives the same page.

    python benchmarks/gates.py --repetitions 2000 --workers 2
"""

import argparse
import math
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

import numpy as np  # noqa: E402 - after the threads are settled

from claims import gate_streams as g  # noqa: E402 - found through the path set above
from claims.gate_alarm import alarms, distance_streams  # noqa: E402
from claims.gate_looks import (  # noqa: E402
    LIMIT,
    LOOKED_AT,
    Shares,
    exact_linf,
    planned_for,
    shown_at,
    verdicts,
)
from claims.simulation import generator_of, most_misses  # noqa: E402
from stats.verdicts.boundary import CASES  # noqa: E402

DELTA = 0.05
ROWS = (500, 5_000)
STEP, LOOKS = 100, 200
RARE = np.geomspace(0.002, 0.2, 15)
FORTY = np.where(np.arange(10) % 2 == 0, 0.04, -0.04)
TEN = (np.arange(10) + 0.5) / 10
# Right verdicts, to see how soon they come: scores, how far label rates are off, and the limit.
RIGHT = {
    "10 scores, calibrated, limit .03": g.world_of(TEN, 0.0 * TEN, limit=0.03),
    "10 scores, calibrated, limit .02": g.world_of(TEN, 0.0 * TEN, limit=0.02),
    "10 scores, off by .01, limit .03": g.world(10, error=0.01, limit=0.03),
    "15 rare scores (.002 to .2), calibrated, limit .01": g.world_of(RARE, 0.0 * RARE, limit=0.01),
    "10 scores, off by .04, limit .02": g.world_of(TEN, FORTY, limit=0.02),
    "10 scores, off by .1, limit .05": g.world(10, error=0.1, limit=0.05),
}
DISTANCE = "distance to calibration, all too low"
ALARM = {"batch": 500, "batches": 60}
CHANGES = {"off by .03": 0.03, "off by .05": 0.05, "off by .1": 0.1}
CHANGED_AFTER = (10, 40)

Job = tuple[str, tuple[object, ...]]
Found = dict[Job, object]


def jobs() -> Iterator[Job]:
    """Yield every cell, the slowest first."""
    for rows in reversed(ROWS):
        for case in sorted(LOOKED_AT, key=lambda one: not one.startswith(("dce", "linf", "smece"))):
            for error in (LIMIT, 0.0, 2.0 * LIMIT):
                yield "look", (case, rows, error)
    for name in g.WORLDS:
        yield "streams", (name,)
    yield "distance", (DISTANCE,)
    for name in g.BINNED:
        yield "bins", (name,)
    for name in RIGHT:
        yield "soon", (name,)
    yield "alarm", ("calibrated", 60)
    for name in CHANGES:
        for after in CHANGED_AFTER:
            yield "alarm", (name, after)


def run(task: tuple[Job, int]) -> tuple[Job, object]:
    """Simulate one cell."""
    job, repetitions = task
    kind, key = job
    if kind == "look":
        case, rows, error = key
        times = repetitions if error == LIMIT else far_of(repetitions)
        return job, verdicts(case, error=error, rows=rows, repetitions=times)
    if kind == "streams":
        return job, monitored(*key, streams=streams_of(repetitions))
    if kind in ("bins", "distance"):
        return job, other_streams(*key, repetitions=repetitions)
    if kind == "soon":
        return job, soon(*key, repetitions=repetitions)
    return job, alarmed(*key, streams=alarms_of(repetitions))


def far_of(repetitions: int) -> int:
    """Return how many tables with an error far from the limit stand for so many repetitions."""
    return max(1, repetitions // 5)


def streams_of(repetitions: int) -> int:
    """Return how many streams of looks stand for so many repetitions."""
    return max(1, repetitions // 2)


def alarms_of(repetitions: int) -> int:
    """Return how many streams of batches stand for so many repetitions."""
    return max(1, repetitions // 5)


def monitored(name: str, *, streams: int) -> dict[str, tuple[float, float]]:
    """Return how often each procedure ever fired, and the median of when it first did."""
    generator = generator_of("monitored", name, STEP, LOOKS)
    drawn = g.drawn(g.WORLDS[name], step=STEP, looks=LOOKS, streams=streams, generator=generator)
    fired = {one: procedure(drawn) for one, procedure in g.PROCEDURES.items()}
    return {one: (g.ever(flags), g.median_first(flags, drawn.rows)) for one, flags in fired.items()}


def other_streams(name: str, *, repetitions: int) -> tuple[int, int, int]:
    """Return streams of a gate on bins or on the distance to calibration, ever passed, and ever failed."""
    generator = generator_of("other", name)
    if name == DISTANCE:
        streams = alarms_of(repetitions) // 2
        found = distance_streams(limit=LIMIT, step=STEP, looks=LOOKS, streams=streams, generator=generator)
    else:
        streams = streams_of(repetitions)
        found = g.ever_wrong(g.BINNED[name], step=STEP, looks=LOOKS, streams=streams, generator=generator)
    return streams, found[0], found[1]


def soon(name: str, *, repetitions: int) -> dict[str, float]:
    """Return how many rows right verdicts take, as planned and as found."""
    world = RIGHT[name]
    once, again = planned_for(world, again=False), planned_for(world, again=True)
    theorem = planned_for(world, again=False, power=0.5).by_theorem
    looks = 3 * math.ceil(again.half / again.step)
    passes = world.error < world.limit
    streams = min(streams_of(repetitions), 400)
    drawn = g.drawn(
        world, step=again.step, looks=looks, streams=streams, generator=generator_of("soon", name)
    )
    fired = g.e_verdict(drawn, above=not passes, known_variance=True)
    return {
        "planned": once.rows,
        "shown": shown_at(world, once.rows, repetitions=repetitions),
        "half": once.half,
        "half shown": shown_at(world, once.half, repetitions=repetitions),
        "again": again.half,
        "again found": g.median_first(fired, drawn.rows),
        "theorem": theorem,
    }


def alarmed(name: str, after: int, *, streams: int) -> np.ndarray:
    """Return the batch that set off each alarm, where the error changed after some batches."""
    before = g.world(10, error=0.0, limit=0.03)
    changed = g.world(10, error=CHANGES.get(name, 0.0), limit=0.03)
    generator = generator_of("alarm", name, after)
    return alarms(before, changed, calibrated=after, streams=streams, generator=generator, **ALARM)


def look_table(found: Found, repetitions: int) -> Iterator[str]:
    """Yield how often one look is wrong, in every case."""
    yield "| case | rows | pass at the limit | fail at the limit | fail if calibrated "
    yield "| pass at twice the limit | right pass if calibrated | right fail at twice the limit |\n"
    yield "|---" * 8 + "|\n"
    far = far_of(repetitions)

    def wrong(count: int, times: int) -> str:
        text = f"{count / times:.3f}"
        return f"**{text}**" if count > most_misses(times, DELTA) else text

    for case in LOOKED_AT:
        for rows in ROWS:
            limit, calibrated, twice = (
                shares_of(found, case, rows, error) for error in (LIMIT, 0.0, 2.0 * LIMIT)
            )
            fails = f"{twice.fails / far:.3f}" if CASES[case].fails else "cannot"
            yield f"| {case} | {rows:,} | {wrong(limit.passes, repetitions)} "
            yield f"| {wrong(limit.fails, repetitions)} "
            yield f"| {wrong(calibrated.fails, far)} | {wrong(twice.passes, far)} "
            yield f"| {calibrated.passes / far:.3f} | {fails} |\n"


def shares_of(found: Found, case: str, rows: int, error: float) -> Shares:
    """Return a cell of the first table."""
    shares = found["look", (case, rows, error)]
    assert isinstance(shares, Shares)  # noqa: S101 - for the reader
    return shares


def stream_table(found: Found) -> Iterator[str]:
    """Yield how often each procedure ever fired over two hundred looks."""
    yield "| procedure | " + " | ".join(g.WORLDS) + " |\n" + "|---" * (len(g.WORLDS) + 1) + "|\n"
    for procedure in g.PROCEDURES:
        cells = []
        for name in g.WORLDS:
            ever, first = found["streams", (name,)][procedure]
            cells.append(f"{ever:.3f}" + (f" (n {first:,.0f})" if math.isfinite(first) else ""))
        yield f"| {procedure} | " + " | ".join(cells) + " |\n"


def other_table(found: Found) -> Iterator[str]:
    """Yield how often the other gates that keep a state were ever wrong at the limit."""
    yield "| error = limit = .05 | streams | ever passed | ever failed |\n" + "|---" * 4 + "|\n"
    for kind, name in [*(("bins", one) for one in g.BINNED), ("distance", DISTANCE)]:
        streams, *counts = found[kind, (name,)]
        shares = " | ".join(f"{count / streams:.3f}" for count in counts)
        yield f"| {name} | {streams:,} | {shares} |\n"


def soon_table(found: Found) -> Iterator[str]:
    """Yield how many rows a right verdict takes."""
    yield "| rows to come | verdict | planned for 90 % | right there | planned for half | right there "
    yield "| Theorem 12.4, half | times as many | asked again: planned for half | found | Theorem / found |\n"
    yield "|---" * 11 + "|\n"
    for name, world in RIGHT.items():
        one = found["soon", (name,)]
        verdict = "pass" if world.error < world.limit else "fail"
        yield f"| {name} | {verdict} | {one['planned']:,} | {one['shown']:.3f} | {one['half']:,} "
        yield f"| {one['half shown']:.3f} | {one['theorem']:,} | {one['theorem'] / one['half']:.2f} "
        ratio = one["theorem"] / one["again found"]
        yield f"| {one['again']:,} | {one['again found']:,.0f} | {ratio:.2f} |\n"


def alarm_table(found: Found) -> Iterator[str]:
    """Yield how often an alarm was false, and how many rows after a change it came."""
    rows = ALARM["batch"]
    yield "| change | after batch | alarms before it | alarms after it "
    yield "| median delay in rows | 90 % within |\n"
    yield "|---" * 6 + "|\n"
    for name, after in [("calibrated", 60), *((name, after) for name in CHANGES for after in CHANGED_AFTER)]:
        batches = found["alarm", (name, after)]
        false = float(np.mean(batches <= after))
        delay = rows * (batches[batches > after] - after)
        later = [f"{np.mean(np.isfinite(batches) & (batches > after)) / max(1.0 - false, 1e-9):.3f}"]
        for share in (0.5, 0.9):
            quantile = float(np.quantile(delay, share, method="inverted_cdf")) if delay.size else math.inf
            later.append(f"{quantile:,.0f}" if math.isfinite(quantile) else "later")
        shown = ["-"] * 3 if name == "calibrated" else later
        yield (
            f"| {'none' if name == 'calibrated' else name} | {after} | {false:.3f} | "
            + " | ".join(shown)
            + " |\n"
        )


def document(found: Found, repetitions: int) -> str:
    """Return the page."""
    parts = (
        HEAD,
        look_table(found, repetitions),
        LOOK_FOOT,
        stream_table(found),
        OTHERS,
        other_table(found),
        SOON,
        soon_table(found),
    )
    text = "".join(part if isinstance(part, str) else "".join(part) for part in (*parts, ALARMS))
    known = {
        "REPETITIONS": f"{repetitions:,}",
        "COMMAND": str(repetitions),
        "FAR": f"{far_of(repetitions):,}",
        "STREAMS": f"{streams_of(repetitions):,}",
        "FEW": f"{min(streams_of(repetitions), 400):,}",
        "ALARMS": f"{alarms_of(repetitions):,}",
        "LOOKS": str(LOOKS),
        "STEP": str(STEP),
        "LAST": f"{STEP * LOOKS:,}",
        "BATCH": str(ALARM["batch"]),
        "BATCHES": str(ALARM["batches"]),
        "LIMIT": f"{LIMIT:g}",
        "EXACT": " and ".join(
            "{:.4f} and {:.4f}".format(*exact_linf(rows)) + f" with {rows:,} rows" for rows in ROWS
        ),
    }
    for word, value in known.items():
        text = text.replace("{" + word + "}", value)
    return text + "".join(alarm_table(found))


HEAD = """\
# Gates, simulated

Written by `python benchmarks/gates.py --repetitions {COMMAND}`; do not edit. Every cell is seeded by its own
name, so the same command gives the same page; `make claims` asserts the same of fewer repetitions. What a
verdict means is told in [gate.md](gate.md), and so is what protects the state of a gate with and without a
key, and what does not.

## One look: how often is a verdict wrong?

Limit {LIMIT}, confidence 95 %. *At the limit* the true error is the limit itself ({REPETITIONS} tables a
cell): there a gate may err with 5 % on each side, more often than anywhere else. Far from it there are {FAR}
tables a cell. A number that exceeds 5 % by more than chance explains (probability 1e-6) would be bold. The
cases, with the proof that their error is what it is said to be, are in `tests/stats/verdicts/boundary.py`.

"""
LOOK_FOOT = """
A gate that is never wrong may be one that never says anything: the last two columns show where it speaks.
*Cannot*: errors of opposite sign at .2 and .8 are not among those that the lower bound of the distance to
calibration sees. For linf of 1 atom the probabilities of both verdicts at the limit can be computed,
{EXACT}:
what the simulation has beyond that is chance.

## {LOOKS} looks: the gate that is asked again

Asked after every {STEP} rows up to {LAST}, {STREAMS} streams a world: the share of streams in which a
procedure ever fired, and the median of the rows at which it first did. Level 5 %. Bold rows are ours and
made for this; the others are made for one look, and stand here for what happens when they are asked again
and again. In the first world nothing is wrong, so that every p-value below .05 is a false alarm; in the last
three the error is the limit, so that a PASS or FAIL is wrong, and only the first five rows, which ask for
calibration itself, are right to fire.

"""
OTHERS = """
The other gates that keep a state, over the same looks, without an artifact:

"""
SOON = """
## How soon a right verdict comes, and whether `plan` knew

Discrete scores, equally likely, with an artifact. One look: {REPETITIONS} new tables at the planned rows.
Asked again: the median of the rows at the first right verdict, over {FEW} new streams. Theorem 12.4: the rows
at which it gives the verdict half the time.

"""
ALARMS = """
## The alarm: was calibrated, is it still?

Ten scores, batches of {BATCH} rows, {BATCHES} batches, {ALARMS} streams; from some batch on every label rate
is off towards 1/2. Delays and alarms after the change are those of streams without a false alarm before it.

"""


def main() -> None:
    """Run all cells, then write the page in one move."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "gates.md")
    chosen = parser.parse_args()
    started, found = time.perf_counter(), {}
    tasks = [(job, chosen.repetitions) for job in jobs()]
    with Pool(chosen.workers) as pool:
        for number, (job, result) in enumerate(pool.imap_unordered(run, tasks), start=1):
            found[job] = result
            if number % 20 == 0:
                print(f"{number} of {len(tasks)} cells, {time.perf_counter() - started:.0f} s", flush=True)
    beside = chosen.output.with_suffix(".tmp")
    beside.write_text(document(found, chosen.repetitions).rstrip("\n") + "\n", encoding="utf-8")
    beside.replace(chosen.output)
    print(f"wrote {chosen.output} in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
