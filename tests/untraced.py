"""
Choose the tests that need not be traced: `python tests/untraced.py`, an hour, writes `tests/untraced.json`.

Tracing takes two fifths of the time of a test, and half of them reach what all of them reach. All run once
with a context each; then functions are kept, the most new arcs for their time first, until nothing is left to
reach. The others are listed, so that a new test is traced.
"""

import heapq
import json
import os
import re
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA, TIMES = ROOT / "build" / "contexts.coverage", ROOT / "build" / "contexts.xml"
LISTED = Path(__file__).with_suffix(".json")
Arc = tuple[int, int, int]


def run() -> None:
    """Run every test of `make test` once, and note which arcs each reaches and how long it takes."""
    words = ["-n", "2", "--dist", "loadfile", "-m", "not slow and not system", "-q", f"--junitxml={TIMES}"]
    words += ["--cov=calibcli", "--cov-branch", "--cov-context=test", "--cov-report="]
    environment = {**os.environ, "COVERAGE_FILE": str(DATA)}
    subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, env=environment, check=True)


def reached() -> tuple[set[Arc], dict[str, set[Arc]]]:
    """Return the arcs of imports, and those of each test function."""
    imports: set[Arc] = set()
    found: dict[str, set[Arc]] = defaultdict(set)
    with sqlite3.connect(DATA) as stored:
        names = dict(stored.execute("select id, context from context"))
        for context, *arc in stored.execute("select context_id, file_id, fromno, tono from arc"):
            name = re.split(r"[\[|]", names[context])[0]
            (found[name] if "::" in name else imports).add(tuple(arc))
    return imports, found


def seconds() -> dict[str, float]:
    """Return how long each test function takes, all its rows together."""
    found: dict[str, float] = defaultdict(float)
    for case in ET.parse(TIMES).iter("testcase"):  # noqa: S314 - our own file
        path = case.attrib["classname"].replace(".", "/")
        found[f"{path}.py::{case.attrib['name'].partition('[')[0]}"] += float(case.attrib["time"])
    return found


def needed(imports: set[Arc], found: dict[str, set[Arc]], times: dict[str, float]) -> set[str]:
    """Return functions that reach together what all reach, the most for their time first."""
    left = set().union(*found.values()) - imports
    chosen: set[str] = set()

    def worth(name: str) -> float:
        return -len(found[name] & left) / (times.get(name, 0.0) + 0.01)

    heap = [(worth(name), name) for name in sorted(found)]
    heapq.heapify(heap)
    while left:
        _, name = heapq.heappop(heap)
        now = worth(name)
        if heap and now > heap[0][0]:
            heapq.heappush(heap, (now, name))
            continue
        chosen.add(name)
        left -= found[name]
    return chosen


def main() -> None:
    """Run, choose and write."""
    DATA.parent.mkdir(exist_ok=True)
    run()
    imports, found = reached()
    chosen = needed(imports, found, seconds())
    listed: dict[str, list[str]] = defaultdict(list)
    for name in sorted(set(found) - chosen):
        path, _, function = name.partition("::")
        listed[path].append(function)
    LISTED.write_text(json.dumps(listed, indent=1) + "\n")


if __name__ == "__main__":
    main()
