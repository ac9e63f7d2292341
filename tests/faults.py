"""Faults of the system around a command, each of them brought about for real, and what was left behind.

A command runs in a process that is forked from one which has imported everything, and so costs a tenth of a
start; those that are about start-up itself (locale, closed streams) get an interpreter of their own.
"""

import contextlib
import ctypes
import fcntl
import multiprocessing
import os
import pkgutil
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import calibcli
from command_line import Ran

FROZEN = Path(__file__).resolve().parent / "documents" / "frozen"
_NOT_PRELOADED = ("__main__", ".dask", ".spark", ".elsewhere")
_CAPSET = 126 if os.uname().machine == "x86_64" else 91
_NO_OVERRIDE = ~0b110 & 0xFFFFFFFF  # all but reading and writing against permissions


@dataclass(frozen=True)
class How:
    """What is wrong around a command.

    Args:
        stdin: A file, or None for nothing.

        stdout: A file, or None to keep what is printed.

        file_size: Most bytes of any file, as on a full disk, or None.


        files: Most open files, or None.

        umask: Rights that new files do not get, or None.

        rights: Whether root may read and write against permissions.

        environment: Variables to set; None removes one.

        user: Another user to become, or None.

        before: Called in the process before the command, such as what `fails` and `signals` return.
    """

    stdin: str | None = None
    stdout: str | None = None
    file_size: int | None = None
    files: int | None = None
    umask: int | None = None
    rights: bool = True
    environment: Mapping[str, str | None] = field(default_factory=dict)
    user: int | None = None
    before: Callable[[], None] | None = None


@dataclass(frozen=True)
class Outcome:
    """How a command under a fault ended.

    Args:
        code: The exit code; negative for a signal.

        message: The first line on standard error that is no note, or nothing.

        left: What there is in the folder that was not there before, or is no longer what it was.
    """

    code: int
    message: str
    left: str


class Stage:
    """A folder with the files that commands are run on.

    Args:
        folder: Empty, and not below a folder that others may not enter.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._aside = folder.with_name(f"{folder.name}-aside")
        folder.mkdir()
        self._aside.mkdir()
        (self._aside / "out").touch()
        rows = "".join(f"{(i % 997 + 0.5) / 997!r},{i % 3 == 0:d}\n" for i in range(2000))
        (folder / "rows.csv").write_text("score,label\n" + rows)
        shutil.copy(FROZEN / "platt.json", folder / "cal.json")
        self.before: dict[str, bytes] = {}
        # What was left, where that can be seen only while the fault lasts.
        self.left_then: str | None = None

    def start(self, words: Sequence[str], how: How = How()) -> Any:
        """Fork a process that runs a command."""
        self.before = self.files()
        process = _forks().Process(
            target=run_here, args=(list(words), str(self.folder), str(self._aside), how)
        )
        process.start()
        return process

    def run(self, words: Sequence[str], how: How = How()) -> Ran:
        """Run a command and wait for it."""
        return self.ended(self.start(words, how))

    def ended(self, process: Any) -> Ran:
        """Wait for a process, and return what it did."""
        process.join(60)
        assert process.exitcode is not None, "it hangs"
        out, err = (self._aside / name for name in ("out", "err"))
        return Ran(process.exitcode, out.read_text(errors="replace"), err.read_text(errors="replace"))

    def shell(self, line: str, *, encoding: str = "utf-8", **environment: str | None) -> Ran:
        """Run a line of the shell in which `calibcli` is an interpreter of its own."""
        self.before = self.files()
        line = line.replace("calibcli", f"{shlex.quote(sys.executable)} -m calibcli")
        ended = subprocess.run(
            ["bash", "-c", line.encode(encoding)],
            cwd=self.folder,
            env=_environment(environment),
            capture_output=True,
            check=False,
        )
        return Ran(
            ended.returncode, ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace")
        )

    def files(self) -> dict[str, bytes]:
        """Return what stands in the folder."""
        found = (path for path in sorted(self.folder.rglob("*")) if path.is_file() and not path.is_fifo())
        return {
            os.fsencode(path.relative_to(self.folder)).decode("utf-8", "backslashreplace"): _content(path)
            for path in found
        }

    def left(self) -> str:
        """Say what is new, changed or gone since the command began."""
        after = self.files()
        new = [
            re.sub(r"\.\d+-[0-9a-f]{8}\.part", ".*.part", name) for name in after if name not in self.before
        ]
        changed = [f"{name}, changed" for name, was in self.before.items() if after.get(name, was) != was]
        gone = [f"{name}, gone" for name in self.before if name not in after]
        return (
            "; ".join([*(name if len(name) < 60 else f"{name[:9]}..." for name in new), *changed, *gone])
            or "nothing"
        )


@dataclass(frozen=True)
class Fault:
    """A fault and the command it befalls.

    Args:
        what: In words.

        command: As one would type it, without `calibcli`.

        inject: Brings it about and returns how the command ended.

        slow: Whether it takes seconds, or rights that a test runner may lack.

        needs: Programs and locales without which it cannot be brought about.
    """

    what: str
    command: str
    inject: Callable[[Stage, list[str]], Ran]
    slow: bool = False
    needs: tuple[str, ...] = ()

    @property
    def lacking(self) -> list[str]:
        """What this system lacks of what it needs."""
        return [one for one in self.needs if shutil.which(one) is None and _folded(one) not in _locales()]

    @property
    def name(self) -> str:
        """A name of a folder for it."""
        return re.sub(r"[^0-9A-Za-z]+", "_", f"{self.what} {self.command}")

    def outcome(self, stage: Stage) -> Outcome:
        """Bring it about on a stage."""
        ran = self.inject(stage, shlex.split(self.command))
        lines = [line for line in ran.err.splitlines() if line.startswith("error: ")]
        assert "Traceback" not in ran.err, ran.err
        message = (
            lines[0]
            .removeprefix("error: ")
            .replace(f"{stage.folder}/", "")
            .replace(str(stage.folder), "FOLDER")
            if lines
            else ""
        )
        return Outcome(
            ran.code,
            message if len(message) < 160 else f"{message[:40]} ... {message[-60:]}",
            stage.left() if stage.left_then is None else stage.left_then,
        )


FAULTS: list[Fault] = []


def fault(
    what: str, command: str, *, slow: bool = False, needs: tuple[str, ...] = ()
) -> Callable[[Callable[[Stage, list[str]], Ran]], Any]:
    """Enter a function into the list of faults."""

    def enter(inject: Callable[[Stage, list[str]], Ran]) -> Callable[[Stage, list[str]], Ran]:
        FAULTS.append(Fault(what, command, inject, slow, needs))
        return inject

    return enter


@cache
def _locales() -> set[str]:
    if shutil.which("locale") is None:
        return set()
    listed = subprocess.run(["locale", "-a"], capture_output=True, check=False).stdout
    return {_folded(name) for name in listed.decode("ascii", "replace").split()}


def _folded(name: str) -> str:
    return name.lower().replace("-", "")


def run_here(words: list[str], folder: str, aside: str, how: How) -> None:
    """Become a command: in a folder, under a fault. Called in a process of its own."""
    os.chdir(folder)
    # A command hears it although `nohup` began the tests.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for name, value in how.environment.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    _reopen(0, how.stdin or os.devnull, os.O_RDONLY)
    _reopen(1, how.stdout or f"{aside}/out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    _reopen(2, f"{aside}/err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as the interpreter does
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if how.file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (how.file_size, how.file_size))
    if how.files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (how.files, how.files))
    if how.umask is not None:
        os.umask(how.umask)
    if not how.rights:
        _drop_rights()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from calibcli.shell import app

    if how.user is not None:
        _become(how.user, words)
    if how.before is not None:
        how.before()
    sys.argv[1:] = words
    app.run()


def _become(user: int, words: list[str]) -> None:
    """Become another user, who may not even read Python's modules: they are imported on a copy first."""
    from calibcli.shell.app import main

    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(".", f"{scratch}/copy")
        with contextlib.chdir(f"{scratch}/copy"):
            main(words)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.lseek(stream.fileno(), 0, os.SEEK_SET)
        os.truncate(stream.fileno(), 0)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def fails(function: str, number: int) -> Callable[[], None]:
    """Return what makes a function of the system fail with an error, such as `os.replace` with EIO."""
    return partial(_patch, function, partial(_failing, number))


def signals(function: str, number: int, *, after: bool) -> Callable[[], None]:
    """Return what sends a signal to the process just before or just after a function such as `os.link`."""
    return partial(_patch, function, partial(_signalling, number, after=after))


def _patch(function: str, changed: Callable[[Any], Any]) -> None:
    owner, _, name = function.rpartition(".")
    of = {"os": os, "stderr": sys.stderr, "stdout": sys.stdout}[owner]
    setattr(of, name, changed(getattr(of, name)))


def _failing(number: int, _: Any) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def _signalling(number: int, found: Any, *, after: bool) -> Any:
    def call(*words: Any, **named: Any) -> Any:
        if not after:
            os.kill(os.getpid(), number)
        result = found(*words, **named)
        if after:
            os.kill(os.getpid(), number)
        return result

    return call


def _reopen(number: int, path: str, flags: int) -> None:
    descriptor = os.open(path, flags, 0o666)
    os.dup2(descriptor, number)
    os.close(descriptor)


def _drop_rights() -> None:
    """Let permissions hold for root too."""
    if os.geteuid() != 0:
        return
    library = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    rights = (ctypes.c_uint32 * 6)()
    library.syscall(_CAPSET - 1, header, rights)  # what there is
    rights[0] &= _NO_OVERRIDE
    rights[1] &= _NO_OVERRIDE
    if library.syscall(_CAPSET, header, rights):
        raise OSError(ctypes.get_errno(), "capset")


def _forks() -> Any:
    context = multiprocessing.get_context("forkserver")
    modules = (one.name for one in pkgutil.walk_packages(calibcli.__path__, "calibcli."))
    wanted = [name for name in modules if not name.endswith(_NOT_PRELOADED) and ".figures" not in name]
    context.set_forkserver_preload(
        [*(name for name in wanted if not name.startswith("calibcli.python")), "faults"]
    )
    return context


def _environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in {**os.environ, **changes}.items() if value is not None}


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def waited_for(done: Callable[[], bool]) -> None:
    """Wait until something has happened, 30 seconds at most."""
    end = time.monotonic() + 30
    # What has happened may be over when it is asked again.
    while not done():
        assert time.monotonic() < end
        time.sleep(0.001)


def in_the_middle(stage: Stage, words: list[str], act: Callable[[int], None]) -> Ran:
    """Run a command on rows that come through a pipe, and act once its output has begun."""
    pipe = stage.folder.with_name(f"{stage.folder.name}.pipe")
    os.mkfifo(pipe)
    process = stage.start(words, How(stdin=str(pipe)))
    with pipe.open("wb", buffering=0) as rows:
        rows.write(b"score\n" + b"0.25\n" * 400_000)
        waited_for(lambda: any(stage.folder.rglob(".*.part")))
        act(process.pid)
        if process.is_alive():
            fcntl.fcntl(rows, fcntl.F_SETFL, os.O_NONBLOCK)
    return stage.ended(process)


def while_silent(stage: Stage, words: list[str], act: Callable[[int], None]) -> Ran:
    """Run a command on a pipe that gives some rows and no more, and act; it ends before the pipe does."""
    pipe = stage.folder.with_name(f"{stage.folder.name}.pipe")
    os.mkfifo(pipe)
    process = stage.start(words, How(stdin=str(pipe)))
    with pipe.open("wb", buffering=0) as rows:
        rows.write(b"score,label\n" + b"0.25,1\n" * 100)
        waited_for(lambda: not any(fcntl.ioctl(rows, termios.FIONREAD, bytes(4))))
        time.sleep(0.3)
        act(process.pid)
        return stage.ended(process)


def while_read(stage: Stage, words: list[str], act: Callable[[Path], None], *, begun: str = "") -> Ran:
    """Run a command on a larger file, and act on the file while the command has it open and is halted."""
    path = stage.folder / "large.csv"
    for _ in range(20):
        (stage.folder / "out.csv").unlink(missing_ok=True)
        path.write_bytes(
            b"score,label\n" + b"".join(b"0.%06d,%d\n" % (i * 7 % 999983, i % 2) for i in range(60_000))
        )
        process = stage.start(words)
        waited_for(partial(_has_begun, process, path, begun))
        if process.is_alive():
            os.kill(process.pid, signal.SIGSTOP)
            act(path)
            os.kill(process.pid, signal.SIGCONT)
        ran = stage.ended(process)
        # Now and then the command is done before it is halted.
        if ran.code:
            break
    stage.before["large.csv"] = _content(path)
    return ran


def _has_begun(process: Any, path: Path, begun: str) -> bool:
    """Whether a process is over, or has a file open and has written what tells that it has begun."""
    opened = _has_open(Path(f"/proc/{process.pid}/fd"), path)
    return not process.is_alive() or (opened and (not begun or any(path.parent.glob(begun))))


def _has_open(folder: Path, path: Path) -> bool:
    try:
        return any(str(link.readlink()) == str(path) for link in folder.iterdir())
    except OSError:
        return False
