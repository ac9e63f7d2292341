"""A plugin of pytest: keeps every command line that a test runs, with the files that it can see."""

import glob
import hashlib
import json
import os
import re
import shlex
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from play import HOME, Store, base_environment, entry_of

TREE = HOME / "tree"
MOST_BYTES, MOST_FILES, MOST_OF_A_TEST = 20_000_000, 300, 60
# A folder that a test has made; each gets a short name of its own in the case.
ROOT = re.compile(rf"(?:{HOME}/(?:t/(?:popen-gw\d+/)?|tmp/)|/dev/shm/)[^/\s:=,'\"]+")
_IGNORED = re.compile(
    r"PYTEST_.*|HYPOTHESIS_.*|COV_.*|COVERAGE_.*|PYTHON.*|OPENBLAS_NUM_THREADS|PYDANTIC_.*|PWD|LINES|_|TAPE_.*|SHLVL|VIRTUAL_ENV"
)

folder = Path(os.environ["TAPE_FOLDER"])
store = Store(folder / "store")
skipped: Counter[str] = Counter()
counted: Counter[str] = Counter()
at = "?"
lines = (folder / "collected" / f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}.jsonl").open("a")


class Skipped(Exception):
    """Why a command line is no case."""


def kept(words: Sequence[str], stdin: bytes | None, cwd: str, environment: dict[str, str]) -> None:
    """Write a command line down as a case."""
    counted[at] += 1
    try:
        if counted[at] > MOST_OF_A_TEST:
            raise Skipped("more than enough of one test")
        lines.write(json.dumps(_case([str(one) for one in words], stdin, cwd, environment)) + "\n")
        lines.flush()
    except Skipped as why:
        skipped[str(why)] += 1


def _case(words: list[str], stdin: bytes | None, cwd: str, environment: dict[str, str]) -> dict[str, Any]:
    base = base_environment(HOME)
    given = {name: value for name, value in environment.items() if not _IGNORED.fullmatch(name)}
    own: dict[str, str | None] = {name: value for name, value in given.items() if base.get(name) != value}
    own |= {name: None for name in base if name not in environment and not _IGNORED.fullmatch(name)}
    if any(word.startswith(("--engine-address", "tcp://", "sc://")) for word in words):
        raise Skipped("a cluster is asked")
    texts = [cwd, *words, *(value for value in own.values() if value)]
    roots = list(dict.fromkeys(found for text in texts for found in ROOT.findall(text)))
    files: dict[str, Any] = {}
    needles = [root.encode() for root in roots]
    held = False
    for number, root in enumerate(roots):
        name = f"t/{chr(97 + number)}"
        for path in _below(Path(root)):
            place = name + str(path)[len(root) :]
            files[place], within = _entry(path, needles)
            held = held or within
    for path in _of_tree(words, cwd):
        files[f"tree/{path.relative_to(TREE)}"] = _entry(path, ())[0]
    if cwd.startswith(str(TREE)):
        files["tree/pyproject.toml"] = _entry(TREE / "pyproject.toml", ())[0]
        files["tree/.git"] = {"dir": True}
    elif not ROOT.match(cwd):
        raise Skipped(f"works in {cwd}")
    if sum(one.get("size", 0) for one in files.values()) + len(stdin or b"") > MOST_BYTES:
        raise Skipped("its files are above 20 MB")
    kind = "docs" if re.search(r"test_docs|test_pictures_page|test_ci_snippets|page", at) else "tests"
    case = {"kind": kind, "source": at, "words": words, "env": own, "cwd": cwd, "files": files}
    case["stdin"] = None if stdin is None else store.put(stdin)
    moves = [(root, f"{HOME}/t/{chr(97 + number)}") for number, root in enumerate(roots)]
    if held:
        # A file names the folder that it was made in: it can stand nowhere else.
        if any(root.startswith("/dev/shm") for root in roots):
            raise Skipped("a file names /dev/shm")
        moved = {
            name: root[len(str(HOME)) + 1 :]
            for root, name in ((a, b[len(str(HOME)) + 1 :]) for a, b in moves)
        }
        case["files"] = {_again(name, list(moved.items())): one for name, one in files.items()}
        case["cwd"] = cwd[len(str(HOME)) + 1 :]
        return case
    case["words"] = [_again(word, moves) for word in words]
    case["env"] = {name: value and _again(value, moves) for name, value in own.items()}
    case["cwd"] = _again(cwd, moves)[len(str(HOME)) + 1 :]
    for one in files.values():
        if "link" in one:
            one["link"] = _again(one["link"], moves)
    return case


def _again(text: str, moves: list[tuple[str, str]]) -> str:
    for before, after in sorted(moves, key=lambda one: -len(one[0])):
        text = re.sub(re.escape(before) + r"(?![^/\s:=,'\"])", lambda _, to=after: to, text)
    return text


def _below(root: Path) -> list[Path]:
    if not root.is_dir():
        return [root] if root.exists() or root.is_symlink() else []
    found = [root]
    for where, folders, names in os.walk(root):
        folders.sort()
        found += [Path(where, name) for name in (*folders, *sorted(names))]
        if len(found) > MOST_FILES:
            raise Skipped("more than 300 files about")
    return found


def _of_tree(words: Sequence[str], cwd: str) -> list[Path]:
    """Return the files of the repository that words name."""
    found = []
    for word in words:
        for piece in {word, *re.split(r"[=:,]", word)}:
            for name in [
                piece,
                *(glob.glob(os.path.join(cwd, piece), recursive=True) if "*" in piece else ()),
            ]:
                path = Path(os.path.normpath(os.path.join(cwd, name)))
                if piece not in ("", ".", "..") and "\0" not in piece and path.is_relative_to(TREE):
                    try:
                        there = path != TREE and path.exists()
                    except OSError:
                        there = False
                    found += _below(path) if there else []
    return found


def _entry(path: Path, needles: Sequence[bytes]) -> tuple[dict[str, Any], bool]:
    """Return what stands at a path, and whether its content names a folder of the test."""
    one = path.lstat()
    owner = {"owner": one.st_uid} if one.st_uid != os.getuid() else {}
    if stat.S_ISLNK(one.st_mode):
        return {"link": str(path.readlink()), **owner}, False
    if stat.S_ISDIR(one.st_mode):
        mode = stat.S_IMODE(one.st_mode)
        return {"dir": True, **({} if mode in (0o755, 0o700) else {"mode": mode}), **owner}, False
    if not stat.S_ISREG(one.st_mode):
        raise Skipped("a pipe or a socket is about")
    if one.st_size > MOST_BYTES:
        raise Skipped("its files are above 20 MB")
    try:
        content = path.read_bytes()
    except OSError:
        raise Skipped("a file cannot be read") from None
    mode = stat.S_IMODE(one.st_mode)
    entry = {"sha": store.put(content), "size": one.st_size, **owner}
    return {**entry, **({} if mode in (0o644, 0o600) else {"mode": mode})}, any(n in content for n in needles)


def _stdin() -> bytes | None:
    below = getattr(sys.stdin, "buffer", None)
    got = getattr(below if below is not None else sys.stdin, "getvalue", None)
    if got is None:
        return None
    content = got()
    return content.encode() if isinstance(content, str) else bytes(content)


def pytest_configure() -> None:
    """Stand between the tests and the command line."""
    module, _ = entry_of(TREE)
    app = __import__(module, fromlist=["_main"])
    plain, run = app._main, subprocess.run

    def main(arguments: Sequence[str]) -> int:
        kept(arguments, _stdin(), os.getcwd(), dict(os.environ))  # noqa: PTH109
        return plain(arguments)

    def ran(command: Any, *rest: Any, **named: Any) -> Any:
        words = shlex.split(command) if isinstance(command, str) else [str(one) for one in command]
        start = _start(words)
        if start:
            stdin = named.get("input")
            stdin = stdin.encode() if isinstance(stdin, str) else stdin
            if named.get("stdin") not in (None, subprocess.DEVNULL):
                skipped["its input is a file that is open"] += 1
            else:
                cwd = str(Path(named.get("cwd") or Path.cwd()).absolute())
                kept(words[start:], stdin, cwd, dict(named.get("env") or os.environ))
        return run(command, *rest, **named)

    app._main, subprocess.run = main, ran


def _start(words: list[str]) -> int:
    """Return where the words of calibcli begin, or 0."""
    for number, word in enumerate(words[:4]):
        if word == "calibcli" and words[number - 1] == "-m":
            return number + 1
        if number == 0 and Path(word).name == "calibcli":
            return 1
    return 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Know which test runs."""
    global at  # noqa: PLW0603 - a process runs one test at a time
    at = item.nodeid
    return (yield)


def pytest_sessionfinish() -> None:
    """Say what was left out."""
    name = hashlib.sha256(lines.name.encode()).hexdigest()[:6]
    (folder / "collected" / f"skipped-{name}.json").write_text(json.dumps(skipped))
