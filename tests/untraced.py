"""Choose the tests that need not be traced: `python tests/untraced.py` writes `tests/untraced.json`.

Tracing adds a fifth to the time of a test, two fifths where it draws, and half of them reach what all
reach. All run once with a context each; then tests are kept, the most new arcs for their time first,
until little is left: the last thousand arcs of 80,000, a point of the percentage, would take twice the
time. The others are listed, so that a new test is traced; rows of one test only where it takes more
than a fifth of a second.
"""

import heapq
import json
import os
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA, TIMES = ROOT / "build" / "contexts.coverage", ROOT / "build" / "contexts.xml"
LISTED = Path(__file__).with_suffix(".json")
Arc = tuple[int, int, int]
# So many arcs may be left, and rows are told apart where they take so many seconds together.
LEFT, SECONDS = 1_000, 0.2


def run() -> None:
    """Run every test that may count, and note which arcs each reaches and how long it takes."""
    words = ["-n", "2", "--dist", "loadfile", "-m", "not slow and not system", "-q", f"--junitxml={TIMES}"]
    words += ["--cov=calibcli", "--cov-branch", "--cov-context=test", "--cov-report="]
    environment = {**os.environ, "COVERAGE_FILE": str(DATA)}
    subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, env=environment, check=True)


def reached() -> tuple[set[Arc], dict[str, set[Arc]]]:
    """Return the arcs of imports, and those of each test."""
    imports: set[Arc] = set()
    found: dict[str, set[Arc]] = defaultdict(set)
    with sqlite3.connect(DATA) as stored:
        names = dict(stored.execute("select id, context from context"))
        for context, *arc in stored.execute("select context_id, file_id, fromno, tono from arc"):
            name = names[context].rpartition("|")[0]
            (found[name] if "::" in name else imports).add(tuple(arc))
    return imports, found


def seconds() -> dict[str, float]:
    """Return how long each test takes."""
    return {
        f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}": float(case.attrib["time"])
        for case in ET.parse(TIMES).iter("testcase")  # noqa: S314 - our own file
    }


def needed(imports: set[Arc], found: dict[str, set[Arc]], times: dict[str, float]) -> set[str]:
    """Return tests that reach together next to all that all reach, the most for their time first."""
    left = set().union(*found.values()) - imports
    chosen: set[str] = set()

    def worth(name: str) -> float:
        return -len(found[name] & left) / (times.get(name, 0.0) + 0.01)

    heap = [(worth(name), name) for name in sorted(found)]
    heapq.heapify(heap)
    while len(left) > LEFT:
        _, name = heapq.heappop(heap)
        now = worth(name)
        if heap and now > heap[0][0]:
            heapq.heappush(heap, (now, name))
            continue
        chosen.add(name)
        left -= found[name]
    return chosen


def listed(chosen: set[str], names: Iterable[str], times: dict[str, float]) -> dict[str, list[str]]:
    """Return what is not traced by file: tests of which no row is, and rows of those that take long."""
    rows: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        rows[name.partition("[")[0]].append(name)
    found: dict[str, list[str]] = defaultdict(list)
    for function, own in rows.items():
        left = [name for name in own if name not in chosen]
        if len(left) == len(own):
            left = [function]
        elif sum(times.get(name, 0.0) for name in own) < SECONDS:
            continue
        for name in left:
            path, _, test = name.partition("::")
            found[path].append(test)
    return found


def write(found: dict[str, list[str]]) -> None:
    """Write a line for each file of tests."""
    lines = (f"{json.dumps(path)}: {json.dumps(names)}" for path, names in found.items())
    LISTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> None:
    """Run, choose and write."""
    DATA.parent.mkdir(exist_ok=True)
    run()
    imports, found = reached()
    times = seconds()
    chosen = needed(imports, found, times)
    write(listed(chosen, times, times))


if __name__ == "__main__":
    main()
