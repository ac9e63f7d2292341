"""A state is replaced whole, under a lock, whatever happens to the process."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from calibcli.documents import state as store
from calibcli.documents.state import locked, read_state, refuse_state, save_state, state_text
from calibcli.errors import DocumentProblem, InputProblem, OutputProblem, UsageProblem
from gate_rows import FIFTEEN, begun, table_of_rows

DRIVER = Path(__file__).with_name("killed_updates.py")


def driven(*words: object) -> dict[str, int]:
    """Run the driver of killed and racing children, and return what happened."""
    command = [sys.executable, str(DRIVER), *(str(word) for word in words)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, int] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize("kills", [10, pytest.param(400, marks=pytest.mark.slow)])
def test_nothing_is_lost_or_doubled_by_kills(kills: int, tmp_path: Path) -> None:
    """
    Killed at random instants, an update has counted each batch once or not at all; run again it completes.

    The driver checks after each kill that the state loads, holds the first so many batches once each with
    exactly their sums, never fewer than before, and that leftovers do not pile up.
    """
    found = driven("kill", tmp_path, kills, 12)
    assert found["killed"] >= kills
    assert found["completed"] == found["states"]
    assert found["most_parts"] <= 1
    # Of few kills none may hit the short time in which a file is written.
    assert kills < 100 or found["in_write"] > 0
    assert found["counted"] > 0


def test_processes_that_update_at_once_lose_nothing(tmp_path: Path) -> None:
    """Two processes that count the same forty batches in different orders leave each of them once."""
    assert driven("race", tmp_path, 2) == {"codes": 0, "batches": 40}


def test_state_on_disk_is_the_state(tmp_path: Path) -> None:
    """What is saved is read back, links are followed, and the directory holds no leftovers."""
    state = begun(FIFTEEN).counted(table_of_rows(np.random.default_rng(0), 200), key="a")
    path, link = tmp_path / "gate.json", tmp_path / "link.json"
    left = tmp_path / ".gate.json.4711-00c0ffee.part"
    left.write_bytes(b"half")
    other = tmp_path / ".other.json.4711-00c0ffee.part"
    other.write_bytes(b"half")
    save_state(str(path), state)
    link.symlink_to(path)
    more = state.counted(table_of_rows(np.random.default_rng(1), 200), key="b")
    with locked(str(link)):
        save_state(str(link), more)
    again = read_state(path)
    assert again is not None
    assert state_text(again) == state_text(more)
    assert link.is_symlink()
    assert not left.exists()
    assert other.exists()


def test_a_state_that_is_not_there_is_none(tmp_path: Path) -> None:
    """No file is no state, and what cannot be opened is an error."""
    assert read_state(tmp_path / "gate.json") is None
    with pytest.raises(InputProblem, match="cannot be read"):
        read_state(tmp_path)


@pytest.mark.parametrize("content", [b"", b'{"schema": "calibcli.ga', b"[]", b"{}", b"\xff\xfe"])
def test_a_damaged_file_names_itself(tmp_path: Path, content: bytes) -> None:
    """A cut or foreign file is never taken for an empty state, and no hint speaks of another kind of file."""
    path = tmp_path / "gate.json"
    path.write_bytes(content)
    with pytest.raises(DocumentProblem) as problem:
        read_state(path)
    assert problem.value.path.startswith(str(path))
    assert "calibcli fit" not in str(problem.value.hint)


def test_places_that_cannot_hold_a_state_are_refused(tmp_path: Path) -> None:
    """Standard output, directories, pipes and inputs are refused before anything is read."""
    rows = tmp_path / "rows.csv"
    rows.write_text("score,label\n")
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    with pytest.raises(UsageProblem, match="standard output"):
        refuse_state("-")
    with pytest.raises(OutputProblem, match="is a directory"):
        refuse_state(str(tmp_path))
    with pytest.raises(OutputProblem, match="is also an input"):
        refuse_state(str(rows), inputs=[rows])
    with pytest.raises(OutputProblem, match="is not a file"):
        refuse_state(str(fifo))
    with pytest.raises(OutputProblem, match="there is no directory"):
        refuse_state(str(tmp_path / "no" / "gate.json"))
    refuse_state(str(tmp_path / "gate.json"))


def test_a_lock_held_by_another_is_waited_for_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that never lets go is named after a while; the lock is free again once it does."""
    monkeypatch.setattr(store, "_PATIENCE", 0.05)
    path = str(tmp_path / "gate.json")
    with locked(path), pytest.raises(OutputProblem, match="another process has held it"), locked(path):
        pass
    with locked(path):
        assert (tmp_path / ".gate.json.lock").exists()
    with locked(path):
        pass


def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system cannot lock, no update is tried."""

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with (
        pytest.raises(OutputProblem, match="cannot be locked: no locks available"),
        locked(str(tmp_path / "g")),
    ):
        pass
    with pytest.raises(OutputProblem, match="cannot be locked"), locked(str(tmp_path / "no" / "g")):
        pass


def test_a_full_disk_leaves_the_old_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An update that cannot be written leaves what was there, and nothing beside it."""
    path = tmp_path / "gate.json"
    state = begun(FIFTEEN).counted(table_of_rows(np.random.default_rng(0), 200), key="a")
    save_state(str(path), state)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputProblem, match="no space left"):
        save_state(str(path), state.counted(table_of_rows(np.random.default_rng(1), 200), key="b"))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["gate.json"]
