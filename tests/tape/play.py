"""One case of the tape played: its files laid out, its command run in a fork, all that it left taken up.

A worker has imported every library and the tree under test, and run nothing of it: each case is a fork of that
state, so that it costs tens of milliseconds and sees nothing of the cases before it.
"""

import ctypes
import gc
import hashlib
import importlib
import io
import json
import multiprocessing
import os
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

# Every worker has a file system of its own at HOME: a digest covers the names of files as well.
HOME = Path("/tmp/calibcli-tape/w0")
SECONDS = 60
LIBRARIES = """
numpy scipy.special scipy.optimize scipy.stats scipy.sparse scipy.interpolate pandas pyarrow pyarrow.parquet
pyarrow.csv pyarrow.json pyarrow.compute pyarrow.dataset pyarrow.fs pyarrow.ipc typer click rich rich.console
rich.table rich.progress pydantic typer._adapters jinja2 onnx onnx.helper matplotlib.figure matplotlib.backends.backend_agg
matplotlib.backends.backend_svg matplotlib.backends.backend_pdf matplotlib.font_manager json email html csv difflib
""".split()  # noqa: SIM905 - a list of words is read at a glance

# What no two runs have alike, or what tells of this machine and not of the program.
MASKS = [
    # Where in the code an error arose is what the move changes; which error it is stays.
    (re.compile(r'(?m)^ +(?:\| +)*File "[^"]*", line \d+, in .*\n(?:^ {4,}.*\n)*'), "  File ...\n"),
    (re.compile(r"(?:  File \.\.\.\n)+"), "  File ...\n"),
    (re.compile(r"\.\d+-[0-9a-f]{8}\.part"), ".PID-RANDOM.part"),
    (re.compile(r"\bat 0x[0-9a-f]{6,}"), "at 0x..."),
]


def base_environment(prefix: Path) -> dict[str, str]:
    """Return the environment of every case, beside what is its own."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": f"{prefix}/home",
        "TMPDIR": f"{prefix}/tmp",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "SOURCE_DATE_EPOCH": "1750000000",
        "OPENBLAS_NUM_THREADS": "1",
    }


class Store:
    """Contents by their SHA-256."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, content: bytes) -> str:
        """Keep a content and return its name."""
        name = hashlib.sha256(content).hexdigest()[:32]
        path = self._folder / name[:2] / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            beside = path.with_name(f"{name}.{os.getpid()}")
            beside.write_bytes(content)
            beside.replace(path)
        return name

    def get(self, name: str) -> bytes:
        """Return a content."""
        return (self._folder / name[:2] / name).read_bytes()


def masked(content: bytes) -> bytes:
    """Return text without what no two runs have alike; other bytes as they are."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return text.encode()


def preload(tree: Path) -> None:
    """Import every library, and every module of the tree."""
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PYDANTIC_DISABLE_PLUGINS": "__all__"}
    sys.path.insert(0, str(tree))
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    package = importlib.import_module("calibcli")
    if not Path(str(package.__file__)).is_relative_to(tree):
        msg = f"calibcli comes from {package.__file__}, not from {tree}"
        raise SystemExit(msg)
    for module in pkgutil.walk_packages(package.__path__, "calibcli."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


def entry_of(tree: Path) -> tuple[str, str]:
    """Return the module and the function that the command line starts with."""
    scripts = tomllib.loads((tree / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["calibcli"].partition(":")
    return module, function


class Player:
    """Plays cases below one folder."""

    def __init__(self, tree: Path, store: Store, scratch: Path, number: int) -> None:
        self._tree, self._store, self._aside = tree, store, scratch / f"out{number}"
        self._entry = entry_of(tree)

    def play(self, case: dict[str, Any]) -> dict[str, Any]:
        """Return the exit code, both streams, and every file that is new, changed or gone."""
        began = time.monotonic()
        before = self._lay_out(case)
        aside = self._aside
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        if case.get("own_process"):
            code = self._in_own_process(case, aside)
        else:
            child = os.fork()
            if child == 0:
                self._become(case, aside)
            _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
        ended = {"code": code}
        for name in ("out", "err"):
            ended[name] = self._store.put(masked((aside / name).read_bytes()))
        ended["files"] = self._changes(before)
        ended["seconds"] = round(time.monotonic() - began, 3)
        return ended

    def _lay_out(self, case: dict[str, Any]) -> dict[str, Any]:
        """Make the files of a case; return what each path holds."""
        HOME.mkdir(exist_ok=True)
        for one in HOME.iterdir():
            for folder in one.rglob("*"):
                if folder.is_dir() and not folder.is_symlink():
                    folder.chmod(0o755)
            shutil.rmtree(one, ignore_errors=True)
        for folder in ("home", "tmp", case["cwd"]):
            (HOME / folder).mkdir(parents=True, exist_ok=True)
        modes = []
        for name, one in case["files"].items():
            path = HOME / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if "link" in one:
                path.symlink_to(one["link"])
            elif "dir" in one:
                path.mkdir(exist_ok=True)
            else:
                path.write_bytes(self._store.get(one["sha"]))
            if "mode" in one:
                modes.append((path, one["mode"]))
            if "owner" in one:
                with suppress(PermissionError):
                    os.chown(path, one["owner"], one["owner"], follow_symlinks=False)
        for path, mode in reversed(modes):
            path.chmod(mode)
        return self._listing()

    def _listing(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for folder, folders, files in os.walk(HOME):
            for name in (*folders, *files):
                path = Path(folder, name)
                place = str(path.relative_to(HOME))
                if path.is_symlink():
                    found[place] = ("link", str(path.readlink()))
                elif path.is_dir():
                    found[place] = ("dir",)
                elif path.is_file():
                    one = path.stat()
                    found[place] = ("file", one.st_mtime_ns, one.st_size, one.st_ino)
                else:
                    found[place] = ("special",)
        return found

    def _changes(self, before: dict[str, Any]) -> dict[str, str]:
        after = self._listing()
        changes = {name: "gone" for name in before if name not in after}
        for name, one in after.items():
            if before.get(name) != one:
                path = HOME / name
                content = path.read_bytes() if one[0] == "file" else None
                changes[name] = " ".join(one) if content is None else self._store.put(masked(content))
        return dict(sorted(changes.items()))

    def _environment(self, case: dict[str, Any]) -> dict[str, str]:
        given = base_environment(HOME)
        for name, value in case["env"].items():
            given.pop(name, None)
            if value is not None:
                given[name] = value
        return given

    def _input(self, case: dict[str, Any]) -> int:
        """Return what stands for standard input: a pipe where that holds it all, else a file."""
        if case["stdin"] is None:
            return os.open(os.devnull, os.O_RDONLY)
        content = self._store.get(case["stdin"])
        if len(content) <= 60_000:
            end, begin = os.pipe()
            os.write(begin, content)
            os.close(begin)
            return end
        path = self._aside / "in"
        path.write_bytes(content)
        return os.open(path, os.O_RDONLY)

    def _in_own_process(self, case: dict[str, Any], aside: Path) -> int:
        module, function = self._entry
        code = f"from {module} import {function}; {function}()"
        stdin = self._input(case)
        with (aside / "out").open("wb") as out, (aside / "err").open("wb") as err:
            ended = subprocess.run(
                [sys.executable, "-P", "-c", code, *case["words"]],
                cwd=HOME / case["cwd"],
                env={**self._environment(case), "PYTHONPATH": str(self._tree)},
                stdin=stdin,
                stdout=out,
                stderr=err,
                timeout=SECONDS,
                check=False,
            )
        os.close(stdin)
        return ended.returncode

    def _become(self, case: dict[str, Any], aside: Path) -> None:
        """Be the command: nothing returns from here."""
        code = 99
        try:
            signal.alarm(SECONDS)
            kinds = (sys.__stdin__.errors, sys.__stdout__.errors)  # type: ignore[union-attr]
            flags = os.O_WRONLY | os.O_CREAT
            for number, source in enumerate(
                (self._input(case), os.open(aside / "out", flags), os.open(aside / "err", flags))
            ):
                os.dup2(source, number)
            sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False), "utf-8", kinds[0])  # noqa: SIM115
            sys.stdout = open(1, "w", encoding="utf-8", errors=kinds[1], closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
            os.environ.clear()
            os.environ.update(self._environment(case))
            time.tzset()
            os.umask(0o022)
            os.chdir(HOME / case["cwd"])
            if case.get("code"):
                exec(compile(self._store.get(case["code"]), "case.py", "exec"), {"__name__": "__main__"})  # noqa: S102
                code = 0
            else:
                module, function = self._entry
                sys.argv = ["calibcli", *case["words"]]
                getattr(importlib.import_module(module), function)()
        except BaseException:  # noqa: BLE001 - it is part of what is compared
            traceback.print_exc()
        finally:
            with suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)


def own_file_system(*, needed: bool) -> None:
    """Put a file system that only this process and its children see at HOME, or else a folder for all."""
    HOME.mkdir(parents=True, exist_ok=True)
    new_mounts, new_user, private = 0x20000, 0x10000000, (1 << 18) | (1 << 14)
    c = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    failed = c.unshare(new_mounts | (new_user if user else 0))
    if not failed and user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    failed = failed or c.mount(b"none", b"/", None, private, None)
    failed = failed or c.mount(b"tmpfs", str(HOME).encode(), b"tmpfs", 0, None)
    if failed and needed:
        msg = f"no mount namespace ({os.strerror(ctypes.get_errno())}): use --jobs 1"
        raise SystemExit(msg)


def play_all(
    cases: list[dict[str, Any]], tree: Path, store: Store, scratch: Path, jobs: int
) -> dict[str, Any]:
    """Play every case in so many processes; return what each ended with, by its name."""
    preload(tree)
    queue = multiprocessing.get_context("fork")
    taken = queue.Value("i", 0)
    results = [scratch / f"results{number}.jsonl" for number in range(jobs)]

    def next_ones() -> Iterator[dict[str, Any]]:
        while True:
            with taken.get_lock():
                at = taken.value
                taken.value += 1
            if at >= len(cases):
                return
            yield cases[at]

    def work(number: int) -> None:
        own_file_system(needed=jobs > 1)
        player = Player(tree, store, scratch, number)
        with results[number].open("w", buffering=1) as out:
            for case in next_ones():
                out.write(json.dumps([case["id"], player.play(case)]) + "\n")

    workers = [queue.Process(target=work, args=(number,)) for number in range(jobs)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
        if one.exitcode != 0:
            msg = f"a worker ended with {one.exitcode}"
            raise SystemExit(msg)
    return dict(json.loads(line) for path in results for line in path.read_text().splitlines())
