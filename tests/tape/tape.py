"""The tape: what the program of a base revision did with thousands of command lines, held against this tree.

    python tests/tape/tape.py record [--rev REV]     make the cases and play them on the base, twice
    python tests/tape/tape.py replay [--only WORD]   play them on this tree and say what differs
    python tests/tape/tape.py show CASE              one case: its command, and what differs
    python tests/tape/tape.py summary                what the tape holds

A recording stands in build/tape and is not committed: `record` makes it anew from the revision in BASE. Expected
differences stand in WANTED.md, each with its reason.
"""

import argparse
import difflib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from play import HOME, Store, base_environment, own_file_system, play_all

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "build" / "tape"
BASE, WANTED = HERE / "BASE", HERE / "WANTED.md"
# What these test is no command line.
NOT_PLAYED = ("claims", "laws", "oracles", "stats")
EVERY = 60  # so many cases apart one is played in a process of its own

Case = dict[str, Any]


def main() -> int:
    """Run one of the four."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["record", "replay", "show", "summary"])
    parser.add_argument("case", nargs="?", default="", help="for show")
    parser.add_argument("--rev", help="the base: record writes it into BASE")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="cases whose name, source or words match this")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the tree to play on")
    parser.add_argument(
        "--first", type=int, help="so many cases only: they stand in no order, so this is a sample"
    )
    parser.add_argument("--once", action="store_true", help="record: do not play the base a second time")
    parser.add_argument("--keep-lines", action="store_true", help="record: do not run the tests again")
    requested = parser.parse_args()
    store = Store(FOLDER / "store")
    if requested.what == "record":
        return record(requested, store)
    cases, expected = _read("cases.jsonl"), {one["id"]: one for one in _read("expected.jsonl")}
    if requested.what == "summary":
        return summary(cases, expected)
    if requested.what == "show":
        return show(next(one for one in cases if one["id"].startswith(requested.case)), expected, store)
    chosen = [one for one in cases if re.search(requested.only, _name(one))][: requested.first]
    return replay(chosen, expected, requested.tree.resolve(), requested.jobs, store)


def record(requested: argparse.Namespace, store: Store) -> int:
    """Make the cases of a base revision and what it does with them."""
    rev = _git("rev-parse", requested.rev or BASE.read_text().strip())
    BASE.write_text(f"{rev}\n")
    own_file_system(needed=True)
    tree, base = HOME / "tree", FOLDER / "base"
    for folder in (tree, base):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(f"git archive {rev} | tar -x -C '{folder}'", shell=True, check=True, cwd=ROOT)  # noqa: S602
    if not requested.keep_lines:
        _run_tests(tree, requested.jobs)
    generated = subprocess.run(
        [sys.executable, str(HERE / "lines.py"), str(FOLDER), str(tree)],
        env=_environment(tree),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    collected = sorted((FOLDER / "collected").glob("*.jsonl"))
    found = [json.loads(line) for path in collected for line in path.read_text().splitlines()]
    if not found:
        raise SystemExit("no line of a test could be kept: collected/skipped-*.json says why")
    cases = _distinct([*found, *map(json.loads, generated.splitlines())])
    print(
        f"{len(found)} command lines from tests, {len(cases)} different cases with those generated",
        flush=True,
    )
    cases = cases[: requested.first]
    first = _played(cases, base, requested.jobs, store)
    second = first if requested.once else _played(cases, base, requested.jobs, store)
    unsteady = [one for one in cases if _facts(first[one["id"]]) != _facts(second[one["id"]])]
    print(f"{len(unsteady)} left out, since the base gives two answers to them")
    _write("unsteady.jsonl", [{**one, "ended": [first[one["id"]], second[one["id"]]]} for one in unsteady])
    names = {one["id"] for one in unsteady}
    _write("cases.jsonl", [one for one in cases if one["id"] not in names])
    _write("expected.jsonl", [{"id": at, **one} for at, one in first.items() if at not in names])
    return 0


def _run_tests(tree: Path, jobs: int) -> None:
    began = time.monotonic()
    shutil.rmtree(FOLDER / "collected", ignore_errors=True)
    (FOLDER / "collected").mkdir(parents=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "collect",
        "-p",
        "no:cacheprovider",
        "-n",
        str(jobs),
    ]
    command += ["--dist", "loadfile", f"--basetemp={HOME}/t", "-m", "not slow and not system"]
    command += [f"--ignore=tests/{name}" for name in NOT_PLAYED]
    for name in ("home", "tmp"):
        (HOME / name).mkdir()
    ended = subprocess.run(command, cwd=tree, env=_environment(tree), check=False, stdout=subprocess.PIPE)
    (FOLDER / "tests.txt").write_bytes(ended.stdout)
    print(f"tests ended with {ended.returncode} after {time.monotonic() - began:.0f} s")


def _environment(tree: Path) -> dict[str, str]:
    kept = {
        "TAPE_FOLDER": str(FOLDER),
        "PYTHONPATH": f"{tree}:{HERE}",
        "HYPOTHESIS_STORAGE_DIRECTORY": f"{HOME}/tmp/h",
    }
    return {**base_environment(HOME), **kept, "PYTHONDONTWRITEBYTECODE": "1"}


def _distinct(found: list[Case]) -> list[Case]:
    """Return every case once, with a name made of what it is."""
    cases: dict[str, Case] = {}
    for one in found:
        what = {key: value for key, value in one.items() if key not in ("source", "kind")}
        name = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:10]
        cases.setdefault(name, {"id": name, **one})
    ordered = [cases[name] for name in sorted(cases)]
    for case in ordered[::EVERY]:
        if not case.get("code"):
            case["own_process"] = True
    return ordered


def replay(cases: list[Case], expected: dict[str, Any], tree: Path, jobs: int, store: Store) -> int:
    """Play cases on a tree and say which differ, those of one cause together."""
    began = time.monotonic()
    actual = _played(cases, tree, jobs, store)
    _write("actual.jsonl", [{"id": at, **one} for at, one in actual.items()])
    wanted = _wanted()
    groups: dict[str, list[Case]] = defaultdict(list)
    why: Counter[str] = Counter()
    differing = 0
    for case in cases:
        changes = list(_changes(expected[case["id"]], actual[case["id"]], store))
        if changes:
            differing += 1
            reasons = [_reason(line, wanted) for _, line in changes]
            if all(reasons):
                why[str(reasons[0])] += 1
            else:
                where, line = next(one for one, reason in zip(changes, reasons, strict=True) if not reason)
                pair = [text for place, text in changes if place == where and text[0] != line[0]][:1]
                groups["\n    ".join([where, *(_shape(one[:300]) for one in (line, *pair))])] += [case]
    for shape, ones in sorted(groups.items(), key=lambda one: -len(one[1])):
        print(f"{len(ones)} differ in {shape}\n    such as {', '.join(_line(one) for one in ones[:2])}")
    for reason, count in why.most_common():
        print(f"{count} differ as wanted: {reason}")
    unwanted = sum(map(len, groups.values()))
    took = time.monotonic() - began
    print(f"{len(cases)} cases, {differing} differ, {unwanted} of them not as wanted; {took:.0f} s")
    return 1 if unwanted else 0


def _played(cases: list[Case], tree: Path, jobs: int, store: Store) -> dict[str, Any]:
    """Play cases in a process of its own, which then holds one tree of modules."""
    scratch = Path(tempfile.mkdtemp(prefix="calibcli-tape-"))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            results = play_all(cases, tree, store, scratch, jobs)
            (scratch / "results.json").write_text(json.dumps(results))
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if status:
        raise SystemExit(1)
    results = dict(json.loads((scratch / "results.json").read_text()))
    shutil.rmtree(scratch)
    return results


def _facts(ended: dict[str, Any]) -> tuple[Any, ...]:
    return ended["code"], ended["out"], ended["err"], ended["files"]


def _changes(before: dict[str, Any], after: dict[str, Any], store: Store) -> Iterator[tuple[str, str]]:
    """Yield where two endings differ, and each line that does: "-" as it was, "+" as it is."""
    if before["code"] != after["code"]:
        yield "exit code", f"-{before['code']}"
        yield "exit code", f"+{after['code']}"
    for where in ("err", "out"):
        yield from _differing_lines(where, before[where], after[where], store)
    for name in sorted({*before["files"], *after["files"]}):
        place = f"file {Path(name).suffix or name}"
        yield from _differing_lines(place, before["files"].get(name), after["files"].get(name), store)


def _differing_lines(where: str, old: str | None, new: str | None, store: Store) -> Iterator[tuple[str, str]]:
    if old == new:
        return
    texts = [_text(one, store) for one in (old, new)]
    if None in texts:
        yield where, f"-{old}"
        yield where, f"+{new}"
        return
    both = [str(one).splitlines() for one in texts]
    found = [one for one in list(difflib.unified_diff(*both, n=0, lineterm=""))[2:] if one[0] in "-+"]
    # A document's digest of itself follows from its other lines, and is told where it alone differs.
    yield from ((where, line) for line in [one for one in found if "sha256:" not in one] or found)


def _shape(text: str) -> str:
    """Return a line without what differs from case to case: names, digests and numbers."""
    text = re.sub(r"(\w+: )?'[^']*'(, '[^']*')*", "'...'", re.sub(r"sha256:[0-9a-f]+", "sha256:...", text))
    return re.sub(r"\d+", "#", re.sub(r"[\w./-]+\.(?:\w+)(?=:)", "FILE", text))


def _text(name: str | None, store: Store) -> str | None:
    """Return the text of a content; None where it is none, or no content at all."""
    try:
        return store.get(name or "").decode()
    except (OSError, UnicodeDecodeError):
        return None


def _wanted() -> list[tuple[re.Pattern[str], str]]:
    """Return what WANTED.md expects to differ: lines "- `pattern of a differing line`: why"."""
    found = re.findall(r"(?m)^- `(.+)`: (.+)$", WANTED.read_text(encoding="utf-8"))
    return [(re.compile(pattern), reason) for pattern, reason in found]


def _reason(line: str, wanted: list[tuple[re.Pattern[str], str]]) -> str | None:
    return next((reason for pattern, reason in wanted if pattern.search(line)), None)


def show(case: Case, expected: dict[str, Any], store: Store) -> int:
    """Print one case, and how its ending differs in the last replay."""
    files = {name: one.get("sha", one) for name, one in case["files"].items()}
    print(json.dumps({**case, "files": files}, indent=1))
    before = expected[case["id"]]
    actual = {one["id"]: one for one in _read("actual.jsonl")}
    print(_text(before["err"], store), _text(before["out"], store), json.dumps(before["files"], indent=1))
    if case["id"] in actual:
        for where, line in _changes(before, actual[case["id"]], store):
            print(f"{where}: {line}")
    return 0


def summary(cases: list[Case], expected: dict[str, Any]) -> int:
    """Print what the tape holds."""
    print(f"base {BASE.read_text().strip()}: {len(cases)} cases")
    for kind, count in Counter(one["kind"] for one in cases).most_common():
        print(f"  {kind}: {count}")
    print("commands:", dict(Counter(_command(one) for one in cases).most_common()))
    print("exit codes:", dict(sorted(Counter(one["code"] for one in expected.values()).items())))
    print("in a process of their own:", sum(bool(one.get("own_process")) for one in cases))
    skipped: Counter[str] = Counter()
    for path in (FOLDER / "collected").glob("skipped-*.json"):
        skipped.update(json.loads(path.read_text()))
    print("lines of tests left out:", dict(skipped.most_common()), "unsteady:", len(_read("unsteady.jsonl")))
    slowest = sorted(cases, key=lambda one: -expected[one["id"]]["seconds"])[:10]
    print("slowest:", *(f"\n  {expected[one['id']]['seconds']} s {_line(one)}" for one in slowest))
    print(f"seconds in all: {sum(one['seconds'] for one in expected.values()):.0f}")
    size = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file())
    print(f"on disk: {size / 1e6:.0f} MB")
    return 0


def _command(case: Case) -> str:
    known = [
        "fit",
        "apply",
        "measure",
        "verify",
        "plan",
        "merge",
        "compare",
        "segments",
        "drift",
        "plot",
        "report",
        "inspect",
        "export",
        "schema",
        "config",
    ]
    return "python" if case.get("code") else next((one for one in case["words"] if one in known), "none")


def _name(case: Case) -> str:
    return f"{case['id']} {case['kind']} {case['source']} {' '.join(case['words'])}"


def _line(case: Case) -> str:
    return f"{case['id']} ({case['source'].split('/')[-1][:70]}: {' '.join(case['words'])[:120]!r})"


def _read(name: str) -> list[Case]:
    path = FOLDER / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _write(name: str, ones: list[Case]) -> None:
    (FOLDER / name).write_text("".join(f"{json.dumps(one)}\n" for one in ones))


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        # matplotlib numbers the letters of an SVG in the order of a set.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606
    sys.exit(main())
