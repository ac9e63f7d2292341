"""
Simulate every promised coverage and write `docs/coverage.md` as the run found it.

The simulations are those of `tests/claims`, which assert what this writes.

    python benchmarks/write_coverage.py --repetitions 1000 --workers 2 --peers PYTHON

`--peers` names a Python that has uncertainty-calibration, calzone-tool and relplot; without it their part of
the page says that it was not run. Numbers of repetitions of each kind are shares of `--repetitions`.
"""

import argparse
import os
import pickle
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from multiprocessing import Pool
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
# One thread a worker: the arrays are small.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from coverage_page import Gates, Run, document  # noqa: E402 - after the threads are settled
from peers_beside import Beside, beside  # noqa: E402 - as above

from claims import dependent_rows, of_scores, over_bins, without_bins  # noqa: E402 - found by the path above
from claims.simulation import (  # noqa: E402 - as above
    SCENARIOS,
    Tally,
    every_promise,
    rejections,
    wrong_verdicts,
    wrong_verdicts_at_any_time,
)

CONFIDENCES = (0.95, 0.9)
MANY_ROWS = 50_000
CALIBRATED = ("calibrated", "discrete", "rare", "rare, 15 atoms")
# The scenarios of what is not printed by default, of what costs most, and of other packages.
FEWER = ("calibrated", "mild", "strong", "discrete", "disc4", "rare", "tied", "one atom")
FEWEST = ("calibrated", "mild", "strong", "discrete", "rare", "tied")
SLOW_FOR_PEERS = 5000
UP_TO_5000 = (200, 1000, 5000)
TO_50000 = (*UP_TO_5000, MANY_ROWS)


@dataclass(frozen=True, slots=True)
class Kind:
    """
    A kind of cell.

    Args:
        share: Its part of the repetitions, by what one of them costs.

        scenarios: Where.

        rows: How many.
    """

    share: float
    scenarios: tuple[str, ...]
    rows: tuple[int, ...]


KINDS = {
    "scales": Kind(0.02, FEWEST, TO_50000),
    "bins": Kind(0.06, FEWER, TO_50000),
    "peers": Kind(0.04, FEWEST, UP_TO_5000),
    "distances": Kind(0.1, FEWER, TO_50000),
    "default": Kind(1.0, tuple(SCENARIOS), TO_50000),
    "means": Kind(0.5, FEWER, TO_50000),
    "coefficients": Kind(0.25, tuple(name for name in FEWER if name != "one atom"), UP_TO_5000),
    "pairs": Kind(1.0, tuple(dependent_rows.PAIRS), UP_TO_5000),
}
ATOM_COUNTS = (1, 2, 10)
LOOKS = 50

Job = tuple[str, tuple[object, ...]]
Result = tuple[Job, object]


def times(kind: str, rows: int, repetitions: int) -> int:
    """Return how often a cell is repeated: less often at many rows."""
    fewer = 0.2 if rows >= MANY_ROWS else 0.5 if kind == "peers" and rows >= SLOW_FOR_PEERS else 1.0
    least = 100 if kind == "default" else 10
    return max(least, round(KINDS[kind].share * fewer * repetitions))


def streams_of(repetitions: int) -> int:
    """Return how many streams of looks there are."""
    return max(10, repetitions // 5)


def jobs(*, with_peers: bool) -> list[Job]:
    """Return every cell, the slowest kinds first."""
    kinds = [kind for kind in KINDS if with_peers or kind != "peers"]
    return [
        *(job for kind in kinds for job in cells_of(kind)),
        *(("clusters", key) for key in product(dependent_rows.CLUSTERS, CONFIDENCES)),
        *(("tests", (scenario, rows)) for rows, scenario in product((5000, 1000, 200), CALIBRATED)),
        *((gate, (count,)) for count, gate in product(ATOM_COUNTS, ("one look", "any time"))),
    ]


def cells_of(kind: str) -> Iterator[Job]:
    """Yield the cells of a kind, those of most rows first; other packages take both confidences at once."""
    for rows, scenario in product(reversed(KINDS[kind].rows), KINDS[kind].scenarios):
        if kind != "peers":
            yield from ((kind, (scenario, rows, confidence)) for confidence in CONFIDENCES)
        elif rows < SLOW_FOR_PEERS or scenario in FEWEST[:3]:
            yield kind, (scenario, rows)


def intervals(  # noqa: PLR0911 - one return a kind
    kind: str, scenario: str, rows: int, *, confidence: float, often: int
) -> dict[str, Tally]:
    """Simulate the intervals of one kind in one cell."""
    asked = {"confidence": confidence, "repetitions": often}
    match kind:
        case "default":
            return every_promise(scenario, rows, **asked)
        case "bins":
            found = over_bins.bounds_of_these_scores(scenario, rows, **asked)
            return found | over_bins.bounds_of_the_population(scenario, rows, **asked)
        case "means":
            return of_scores.means(scenario, rows, **asked).tallies
        case "coefficients":
            return of_scores.coefficients(scenario, rows, **asked).tallies
        case "distances":
            return without_bins.simulate(scenario, rows, names=without_bins.DISTANCES, **asked)
        case "scales":
            return without_bins.simulate(scenario, rows, names=tuple(without_bins.SCALES), **asked)
        case "pairs":
            found = dependent_rows.paired(scenario, rows, **asked).tallies
            return found | dependent_rows.by_bonferroni(scenario, rows, **asked).tallies
    raise ValueError(kind)


def over_clusters(clusters: str, confidence: float, often: int) -> dict[str, dict[str, Tally]]:
    """Simulate the intervals over clusters, by the world that labels come from."""
    asked = {"confidence": confidence, "repetitions": often}
    found = {
        world: dependent_rows.over_clusters(clusters, world=world, **asked).tallies
        for world in dependent_rows.WORLDS
    }
    for pair in ("equally wrong", "strong"):
        differences = dependent_rows.paired_over_clusters(clusters, pair, **asked).tallies
        found[pair] = found.get(pair, {}) | differences
    return found


def run(task: tuple[Job, int, Path | None]) -> Result:
    """Simulate one cell."""
    (kind, key), repetitions, peers = task
    match kind:
        case "peers":
            often = times(kind, key[1], repetitions)
            found: object = beside(
                *key, repetitions=often, few=max(5, often // 2), peers=peers, confidences=CONFIDENCES
            )
        case "clusters":
            found = over_clusters(*key, often=repetitions)
        case "tests":
            found = rejections(*key, repetitions=repetitions)
            found |= of_scores.rejections(*key, repetitions=repetitions)
        case "one look":
            found = wrong_verdicts(*key, eps=0.05, rows=2000, repetitions=repetitions)
        case "any time":
            streams = streams_of(repetitions)
            found = wrong_verdicts_at_any_time(*key, eps=0.05, step=400, looks=LOOKS, streams=streams)
        case _:
            scenario, rows, confidence = key
            often = times(kind, rows, repetitions)
            found = intervals(kind, scenario, rows, confidence=confidence, often=often)
    return (kind, key), found


def gathered(results: dict[Job, object], repetitions: int, *, command: str) -> Run:
    """Sort what the cells gave into what the page tells."""
    found = Run(command=command, repetitions=repetitions)
    found.often = {
        name: {rows: times(name, rows, repetitions) for rows in kind.rows} for name, kind in KINDS.items()
    }
    gates: dict[str, dict[int, tuple[int, int]]] = {"one look": {}, "any time": {}}
    # In the order of the jobs, not in that in which they ended.
    for kind, key in sorted(results, key=str):
        result = results[kind, key]
        match kind:
            case "peers":
                assert isinstance(result, Beside)  # noqa: S101 - for readers
                found.peers[key] = result
            case "clusters":
                for world, tallies in result.items():
                    for name, tally in tallies.items():
                        found.clusters[name, key[0], world, key[1]] = tally
            case "tests":
                found.tests[key] = result
            case "one look" | "any time":
                gates[kind][key[0]] = result
            case _:
                for name, tally in result.items():
                    found.tallies[str(name), *key] = tally
    found.gates = Gates(gates["one look"], gates["any time"], LOOKS, streams_of(repetitions))
    return found


def simulated(
    tasks: list[tuple[Job, int, Path | None]], *, workers: int, keep: Path | None
) -> dict[Job, object]:
    """Run all cells that `keep` does not hold yet, and keep them there if asked."""
    started, results = time.perf_counter(), {}
    if keep is not None and keep.exists():
        results = pickle.loads(keep.read_bytes())  # noqa: S301 - what an earlier run of ours wrote
    waiting = [task for task in tasks if task[0] not in results]
    with Pool(workers) as pool:
        for number, (job, result) in enumerate(pool.imap_unordered(run, waiting), start=1):
            results[job] = result
            if number % 20 == 0 or number == len(waiting):
                print(f"{number} of {len(waiting)} cells, {time.perf_counter() - started:.0f} s", flush=True)
                if keep is not None:
                    keep.write_bytes(pickle.dumps(results))
    return results


def main() -> None:
    """Run all cells, then write the page in one move."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--keep", type=Path, help="a file of cells done, to go on after an interruption")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "coverage.md")
    chosen = parser.parse_args()
    tasks = [(job, chosen.repetitions, chosen.peers) for job in jobs(with_peers=chosen.peers is not None)]
    results = simulated(tasks, workers=chosen.workers, keep=chosen.keep)
    command = f"python benchmarks/write_coverage.py --repetitions {chosen.repetitions}"
    command += " --peers PYTHON" if chosen.peers else ""
    found = gathered(results, chosen.repetitions, command=command)
    beside_it = chosen.output.with_suffix(".tmp")
    beside_it.write_text(document(found), encoding="utf-8")
    beside_it.replace(chosen.output)
    print(f"wrote {chosen.output}")


if __name__ == "__main__":
    main()
