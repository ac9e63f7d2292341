"""Files that other tools write, each read by `calibcli measure`: the table of `docs/inputs.md`.

Run `python benchmarks/inputs_tried.py` to print the table, `--write` to put it into the page. What ought to
come out is computed here from the rows themselves. A file that is refused where it ought to be read, or the
other way round, or gives another number, ends the script with exit code 1. Tools that are not installed are
left out, and named.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from inputs_cases import CSV_CASES, JSON_CASES, Case, Drawn, drawn
from inputs_of_tools import ARROW_CASES, NUMPY_CASES, cases_of_installed

PAGE = Path(__file__).parents[1] / "docs" / "inputs.md"
START, END = "<!-- tried: made by benchmarks/inputs_tried.py -->", "<!-- end of tried -->"
BINS = 15


@dataclass(frozen=True)
class Outcome:
    """What happened to a file: a few words, and whether it is what ought to."""

    said: str
    right: bool


def main() -> int:
    """Run every case and print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--write", action="store_true")
    options.add_argument("--only", default="")
    asked = options.parse_args()
    installed, missing = cases_of_installed()
    rows = drawn()
    table = ["| written by | format | trap | what happened |", "|---|---|---|---|"]
    wrong = count = refused = 0
    for case in (*CSV_CASES, *JSON_CASES, *ARROW_CASES, *NUMPY_CASES, *installed):
        if asked.only not in f"{case.tool} {case.kind} {case.trap}":
            continue
        outcome = tried(case, rows)
        count += 1
        wrong += not outcome.right
        refused += case.refused
        mark = "" if outcome.right else " **(not as it ought to be)**"
        extra = "" if not case.words else " `" + shown(case.words) + "`"
        trap = case.trap.replace("|", "\\|")
        table.append(f"| {case.tool} | {case.kind} | {trap}{extra} | {outcome.said}{mark} |")
        if not outcome.right:
            print(table[-1], file=sys.stderr)
    print("\n".join(table))
    print(
        f"{count} files, {wrong} not as they ought to be; not installed: {missing or 'none'}", file=sys.stderr
    )
    if asked.write:
        page = PAGE.read_text()
        before, after = page.split(START)[0], page.split(END)[1]
        summary = (
            f"{count} files: {count - refused} to be read, {refused} to be refused, {wrong} otherwise.\n"
        )
        PAGE.write_text("\n".join([f"{before}{START}\n", summary, *table, "", f"{END}{after}"]))
    return int(wrong > 0)


def shown(words: tuple[str, ...]) -> str:
    """Return words as they may stand in a table."""
    return " ".join(json.dumps(word)[1:-1] if not word.isprintable() else word for word in words).replace(
        "|", "\\|"
    )


def tried(case: Case, rows: Drawn) -> Outcome:
    """Write the file, measure it, and compare."""
    with tempfile.TemporaryDirectory() as folder:
        name = case.write(Path(folder), rows)
        words = [*case.words, "--metric", "ece", "--bins", str(BINS), "--binning", "equal-width", "--json"]
        with (Path(folder) / name).open("rb") if case.stdin else open("/dev/null", "rb") as stream:  # noqa: PTH123
            ended = subprocess.run(
                [sys.executable, "-m", "calibcli", "measure", "-" if case.stdin else name, *words],
                cwd=folder,
                stdin=stream,
                capture_output=True,
                text=True,
                check=False,
            )
    if ended.returncode:
        problem = re.sub(r"^error: ", "", ended.stderr.strip().splitlines()[0]).replace("|", "\\|")
        problem = re.sub(r"part-(\d+)-[0-9a-f-]{36}", r"part-\1-...", problem)
        problem = problem if len(problem) <= 150 else problem[:147] + "..."
        return Outcome(f"exit {ended.returncode}: {problem}", case.refused and ended.returncode == 3)
    report = json.loads(ended.stdout)
    value, source = report["measures"]["ece"]["value"], report["input"]
    expected = ece_of(case, rows)
    right = math.isclose(value, expected, rel_tol=0, abs_tol=1e-12) and source["rows"] == len(rows.score)
    dropped = f", {source['dropped']:,} dropped" if source["dropped"] else ""
    said = f"exit 0, {source['rows']:,} rows{dropped}, the same number"
    if not right:
        said = f"exit 0, {source['rows']:,} rows{dropped}, {value} in place of {expected}"
    return Outcome(said, right and not case.refused)


def ece_of(case: Case, rows: Drawn) -> float:
    """Return the error in bins of equal width, computed from the rows in the plainest way."""
    if case.classes:
        probs = case.rounded(rows.probs)
        score, label = probs.max(axis=1), probs.argmax(axis=1) == rows.right
    else:
        score, label = case.rounded(rows.score), rows.label
    place = np.clip(np.ceil(score * BINS) - 1, 0, BINS - 1)
    gaps = [
        abs(float(np.sum(label[place == one])) - float(np.sum(score[place == one]))) for one in range(BINS)
    ]
    return sum(gaps) / score.size


if __name__ == "__main__":
    sys.exit(main())
