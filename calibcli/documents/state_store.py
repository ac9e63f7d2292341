"""
States on disk: read, grown and replaced under a lock, so that no update is lost or seen half-made.

The lock is one of the system's (flock) on an empty companion, `.NAME.lock`, that is made once and never
removed: a lock on the state itself would be lost when the state is replaced, and one that has to be removed
would outlive a killed process. The system lets go of it with the process, however that ends. The new state
is written beside the old one, flushed and renamed, and the directory is flushed, so that at any instant the
name stands for the old state or for the new one. What a killed process left beside it is removed by the
next, which holds the lock and so knows that nobody is writing.
"""

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from calibcli.codec import AGAIN
from calibcli.documents.sealed import parse, sealed_text, trust, trust_from_now_on, trusting
from calibcli.documents.state import MOST_BYTES, from_dict
from calibcli.errors import DocumentProblem, InputProblem, OutputProblem, UsageProblem
from calibcli.gates.state import GateState
from calibcli.objects import content_of_file, is_object
from calibcli.outputs import STDOUT, refuse_existing, write_file

_KEY_VARIABLE = "CALIBCLI_STATE_KEY"
_SHORTEST_KEY = 16
_MOST_KEYS = 1 << 16
_PATIENCE = 60.0
_RESTORE = "restore it from a copy, or count the rows anew under another --state"


def state_text(state: GateState) -> str:
    """Return the one text of a state: the same state, and the same key, give the same bytes."""
    keys = signing_keys()
    return sealed_text(state.to_dict(), key=keys[0] if keys else None)


def signing_keys() -> tuple[bytes, ...]:
    """
    Return the keys that states may be signed with, those of a named file before that of the environment.

    Each line is one. The first signs; the others are those of before, so that a key can be replaced while
    states are still signed with the old one. Nothing that is printed holds any of them. The file is read once
    a command, since a pipe gives what it holds only once.

    Raises:
        UsageProblem: If there is none, or one that is short enough to be guessed.

        InputProblem: If the file cannot be read.
    """
    path = trust().key_file
    if path is not None and trust().keys:
        return trust().keys
    where, content = path or _KEY_VARIABLE, os.environ.get(_KEY_VARIABLE, "").encode(errors="surrogateescape")
    if path is not None:
        try:
            with Path(path).open("rb") as file:
                content = file.read(_MOST_KEYS + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            msg = f"{path}: the key of the state cannot be read ({reason})"
            raise InputProblem(msg, "name a file with --state-key-file") from None
    elif _KEY_VARIABLE not in os.environ:
        return ()
    keys = tuple(line.strip() for line in content.splitlines() if line.strip())
    if not keys or len(content) > _MOST_KEYS or min(map(len, keys)) < _SHORTEST_KEY:
        lacks = f"holds a key of less than {_SHORTEST_KEY} characters" if keys else "holds no key"
        msg = f"{where} {'is no file of keys' if len(content) > _MOST_KEYS else lacks}"
        raise UsageProblem(msg, "write one a line, such as `openssl rand -hex 32` makes")
    if path is not None:
        trust_from_now_on(replace(trust(), keys=keys))
    return keys


def read_state(path: str | Path) -> GateState | None:
    """
    Read a state; None where there is none yet.

    Raises:
        InputProblem: If the file cannot be opened.

        DocumentProblem: If what it holds is not a state, with the file and the place in it.
    """
    try:
        content = content_of_file(path, MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        msg = f"{path}: cannot be read ({reason})"
        raise InputProblem(msg) from None
    try:
        with trusting(replace(trust(), keys=signing_keys())):
            state, doubts = parse(content, most=MOST_BYTES).built(from_dict, keyed=True)
    except DocumentProblem as problem:
        place = f"{path}" if problem.path == "$" else f"{path}: {problem.path}"
        raise DocumentProblem(place, problem.detail, _hint(problem)) from None
    return state.doubted(doubts)


def refuse_state(path: str, *, inputs: Iterable[str | Path] = ()) -> None:
    """
    Refuse a path that no state can be kept at, before any row is read.

    Args:
        path: Where the state is, or will be.

        inputs: Files that are read.

    Raises:
        UsageProblem: If it is standard output.

        OutputProblem: If it is an input, not a file, or not writable.
    """
    if path in (STDOUT, ""):
        msg = "a state cannot be kept on standard output" if path else "--state '' names no file"
        raise UsageProblem(msg, "name a file with --state")
    if is_object(path):
        msg = f"--state {path}: a state is locked while it is changed, which object stores cannot do"
        raise UsageProblem(msg, "keep it on a file system, and copy it to the store afterwards")
    refuse_existing(path, force=True, inputs=inputs)
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - one call, links followed
            msg = f"{path} is not a file"
            raise OutputProblem(msg, "name a file with --state, or one that is not there yet")


def save_state(path: str, state: GateState) -> None:
    """
    Replace a state; the caller holds its lock, and has looked at what is there by `refuse_state` or the like.

    Raises:
        OutputProblem: If it cannot be written; then the old one stands.
    """
    _remove_leftovers(path)
    write_file(path, state_text(state).encode("ascii"))
    _flush_folder(path)


@contextmanager
def locked(path: str) -> Iterator[None]:
    """
    Hold the lock of a state; it need not exist yet.

    Raises:
        OutputProblem: If the file system has no locks, the lock cannot be made, or another process has held
            it for a minute.
    """
    try:
        import fcntl
    except ImportError:
        msg = f"{path} cannot be locked: this system has no flock"
        raise OutputProblem(msg, "keep the state on a system that has it, such as Linux or macOS") from None
    target = Path(os.path.realpath(path))
    companion = target.with_name(f".{target.name}.lock")
    descriptor = _opened(companion, path)
    try:
        _wait(lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB), path)
        yield
    finally:
        os.close(descriptor)


def _opened(companion: Path, path: str) -> int:
    """
    Open the companion of a state, and make it if it is not there.

    That of another user is not asked to be made, which systems refuse in a folder such as /tmp, and is read
    where it may not be written: a lock takes no more.
    """
    flags = getattr(os, "O_CLOEXEC", 0)
    for access in (os.O_RDWR, os.O_RDONLY):
        try:
            return os.open(companion, access | flags)
        except FileNotFoundError:
            break
        except PermissionError:
            continue
        except OSError as error:
            raise _not_locked(path, error) from error
    try:
        return os.open(companion, os.O_RDWR | os.O_CREAT | flags, 0o666)
    except OSError as error:
        raise _not_locked(path, error) from error


def _wait(take: Callable[[], None], path: str) -> None:
    """Take a lock, waiting for others to let go of it."""
    begun, pause = time.monotonic(), 0.002
    while True:
        try:
            take()
        except BlockingIOError:
            if time.monotonic() - begun > _PATIENCE:
                msg = f"{path} cannot be locked: another process has held it for {_PATIENCE:.0f} seconds"
                raise OutputProblem(msg, "see what that process does, and run this again") from None
        except OSError as error:
            raise _not_locked(path, error) from error
        else:
            return
        time.sleep(pause)
        pause = min(0.05, 2.0 * pause)


def _not_locked(path: str, error: OSError) -> OutputProblem:
    msg = f"{path} cannot be locked: {(error.strerror or str(error)).lower()}"
    return OutputProblem(msg, "keep the state on a local file system, in a directory that can be written")


def _remove_leftovers(path: str) -> None:
    """Remove what killed processes left beside a state; whoever holds its lock is alone here."""
    target = Path(os.path.realpath(path))
    left = re.compile(rf"\.{re.escape(target.name[:100])}\.\d+-[0-9a-f]{{8}}\.part")
    # Of longer names the part that is kept could be another's.
    if len(target.name) > 100:
        return
    with suppress(OSError):
        for entry in os.scandir(target.parent):
            if left.fullmatch(entry.name):
                with suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108 - scandir gives no Path


def _flush_folder(path: str) -> None:
    """Make a rename outlast a power failure, where the file system can."""
    with suppress(OSError):
        descriptor = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _hint(problem: DocumentProblem) -> str:
    """Keep a hint that does not ask to write the document again, which would begin another state."""
    return problem.hint if problem.hint and AGAIN not in problem.hint else _RESTORE
