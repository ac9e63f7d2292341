"""A state on disk comes back bit for bit, fits its schema, and is not believed when damaged."""

import copy
import errno
import fcntl
import functools
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.documents.sealed import document_of
from calibcli.documents.state import from_dict, locked, read_state, refuse_state, save_state, state_text
from calibcli.errors import DocumentProblem, InputProblem, OutputProblem
from calibcli.stats.gates.cells import Partition
from calibcli.stats.gates.growth import merged
from calibcli.stats.gates.state import GateState
from calibcli.stats.table import ScoreTable
from gate_rows import ATOMS, FIFTEEN, TEN, begun, table_of_rows
from published import check

pytestmark = pytest.mark.usefixtures("few_draws")
FROZEN = Path(__file__).parent / "frozen"


@functools.cache
def some_states() -> dict[str, GateState]:
    """Return states of every kind."""
    generator = np.random.default_rng(6)
    ids = generator.integers(0, 2**64, 300, dtype=np.uint64)
    plain, fine = table_of_rows(generator, 300, outputs=TEN), table_of_rows(generator, 300)
    contradiction = ScoreTable(np.array([0.0]), np.array([3]), np.array([1]))
    return {
        "empty": begun(),
        "outputs": begun(ATOMS, limit=0.2).counted(plain, key="a").counted(plain, key="b"),
        "cells": begun(FIFTEEN).counted(fine, key="a"),
        "identified": begun(FIFTEEN, by_id=True).counted(fine, key="a", ids=ids),
        "alarm": begun(limit=None, alarm=True).counted(plain, key="a").counted(plain, key="b"),
        "infinite": begun(Partition((0.0, 0.5)), limit=None, alarm=True).counted(contradiction, key="a"),
    }


@pytest.mark.parametrize("kind", some_states())
def test_text_read_back_gives_the_same_text(kind: str) -> None:
    """Nothing is lost on the way to disk and back, and the text fits the published schema."""
    state = some_states()[kind]
    document = json.loads(state_text(state))
    check(document, "gate")
    again = from_dict(document_of(document))
    assert state_text(again) == state_text(state)
    assert (again.terms, again.epochs, again.batches) == (state.terms, state.epochs, state.batches)
    assert np.array_equal(again.ids, state.ids)
    assert math.isclose(again.rows, state.rows)


DAMAGE = [
    ("schema", "calibcli.gate/3", "$.schema", "upgrade"),
    ("schema", "calibcli.report/1", "$.schema", "not the state of a gate"),
    ("confidence", 1.5, "$.confidence", "number in"),
    ("rule.measure", "smece", "$.rule.measure", "one of ece, dce"),
    ("rule.limit", None, "$.rule.limit", "number"),
    ("partition.outputs", [0.5, 0.2], "$.partition.outputs[1]", "above 0.5"),
    ("partition.outputs", [], "$.partition.outputs", "is empty"),
    ("partition.bins", 3, "$.partition.bins", "makes it 0"),
    ("stakes.sizes", [0.7] * 10, "$.stakes", "outside"),
    ("stakes.shares", [0.2] * 10, "$.stakes.shares", "add up to"),
    ("epochs", [], "$.epochs", "from 1 to 1"),
    ("epochs.0.rows.0", 10**6, "$.epochs", "rows that the batches have"),
    ("epochs.0.positive.0", 10**6, "$.epochs[0].positive", "of"),
    ("epochs.0.cells.0", 5, "$.epochs[0].cells[1]", "above 5"),
    ("epochs.0.below_positive.0", 10**17, "$.epochs[0].below_positive", "no scores there give"),
    ("epochs.0.first", 2, "$.epochs[0].first", "makes it 1"),
    ("batches.1.key", "a", "$.batches[1].key", "earlier batch"),
    ("batches.0.rows", 0, "$.batches[0].rows", "whole number between 1"),
    ("passed_at", 10**6, "$.passed_at", "whole number between"),
    ("passed_at", 10, "$.passed_at", "no look at so many rows had the evidence"),
    ("failed_at", 600, "$.failed_at", "no look at so many rows had the evidence"),
    ("epochs.0.positive.0", 0, "$.batches[1].look.value", "what was counted gives"),
    ("stakes.sizes.0", 0.45, "$.batches[1].look.log_pass", "what was counted gives"),
    ("rule.limit", 0.21, "$.batches[1].look.log_pass", "what was counted gives"),
    ("batches.1.look.log_pass", 1e9, "$.batches[1].look.log_pass", "is 1000000000"),
    ("batches.1.look.log_fail", 5.0, "$.batches[1].look.log_fail", "is 5"),
    ("batches.0.look.rows", 299, "$.batches[0].look.rows", "makes it 300"),
    ("ids", "not base64", "$.ids", "base64"),
]


def changed(kind: str, place: str, value: Any) -> dict[str, Any]:
    """Return the document of a state with another value in one place."""
    document: dict[str, Any] = copy.deepcopy(json.loads(state_text(some_states()[kind])))
    *before, last = (int(key) if key.isdigit() else key for key in place.split("."))
    inner: Any = document
    for key in before:
        inner = inner[key]
    inner[last] = value
    return document


@pytest.mark.parametrize(("place", "value", "path", "words"), DAMAGE)
def test_damage_is_named_by_its_place(place: str, value: Any, path: str, words: str) -> None:
    """What no gate can have written is refused with the path in the document."""
    document = changed("outputs", place, value)
    with pytest.raises(DocumentProblem) as problem:
        from_dict(document_of(document))
    assert problem.value.path == path
    assert words in f"{problem.value.detail} {problem.value.hint}"


@pytest.mark.parametrize(
    ("kind", "column"), [("cells", "below_positive"), ("identified", "below_negative"), ("alarm", "positive")]
)
def test_a_sum_that_was_changed_is_noticed_by_the_last_look(kind: str, column: str) -> None:
    """Whatever rows are counted by, a changed sum does not give the look on file, and no look a fail."""
    sums = json.loads(state_text(some_states()[kind]))["epochs"][0][column]
    place = next(i for i, value in enumerate(sums) if value > 0)
    with pytest.raises(DocumentProblem, match="and what was counted gives") as problem:
        from_dict(document_of(changed(kind, f"epochs.0.{column}.{place}", 0)))
    assert problem.value.path.endswith("look.value")
    with pytest.raises(DocumentProblem, match=r"\$\.failed_at"):
        from_dict(document_of(changed(kind, "failed_at", 300)))


def test_merged_states_have_no_look_to_be_checked_until_rows_come() -> None:
    """A verdict on merged rows is believed, and a look after further rows is checked."""
    generator = np.random.default_rng(3)
    shards = [begun().counted(table_of_rows(generator, 1500, outputs=TEN), key=f"{i}") for i in range(2)]
    whole = merged([("a", shards[0]), ("b", shards[1])])
    passed = whole.latched(whole.look())
    assert passed.passed_at == 3000
    assert from_dict(document_of(json.loads(state_text(passed)))).passed_at == 3000
    document = json.loads(state_text(passed.counted(table_of_rows(generator, 100, outputs=TEN), key="c")))
    assert from_dict(document_of(document)).looks == 1
    document["epochs"][0]["positive"][0] -= 1
    with pytest.raises(DocumentProblem, match=r"\$\.batches\[2\]\.look\.value"):
        from_dict(document_of(document))


def test_identities_must_ascend() -> None:
    """Fingerprints that were shuffled or repeated are not believed."""
    document = json.loads(state_text(some_states()["identified"]))
    document["ids"] = document["ids"][:-12] + document["ids"][:12]
    with pytest.raises(DocumentProblem, match=r"\$\.ids"):
        from_dict(document_of(document))


@pytest.mark.parametrize("path", sorted(FROZEN.glob("gate-2-*.json")), ids=lambda path: path.stem)
def test_states_of_version_2_keep_their_bytes(path: Path) -> None:
    """Whatever a later calibcli writes, it reads these without a note and says the same of them."""
    state = read_state(path)
    assert state is not None
    assert (state.notes, state_text(state)) == ((), path.read_text())


def test_a_signed_state_is_read_with_the_key_of_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signature is that of the canonical text, for good."""
    with pytest.raises(DocumentProblem, match="is signed with a key"):
        read_state(FROZEN / "signed" / "gate-2.json")
    monkeypatch.setenv("CALIBCLI_STATE_KEY", "the key of a frozen state")
    state = read_state(FROZEN / "signed" / "gate-2.json")
    assert state is not None
    assert state_text(state) == (FROZEN / "signed" / "gate-2.json").read_text()


@pytest.mark.parametrize("path", sorted(FROZEN.glob("gate-1-*.json")), ids=lambda path: path.stem)
def test_states_of_earlier_versions_stay_readable(path: Path) -> None:
    """Frozen files load, keep their values, and say of their rows what they said when they were written."""
    state = read_state(path)
    assert state is not None
    found = json.loads(state_text(state))
    (note,) = found["notes"]
    assert "calibcli.gate/1, which has no digest" in note
    then = json.loads(path.read_text())
    assert (found.pop("since"), found.pop("passed_on"), found.pop("failed_on")) == (1, None, None)
    assert (found["input"].pop("label"), found["input"].pop("weight")) == (None, None)
    assert {key: found[key] for key in then if key != "schema"} == {
        key: value for key, value in then.items() if key != "schema"
    }
    mine, then = state.look(), state.batches[-1].look
    assert then is not None
    assert mine.rows == then.rows
    assert mine.value == pytest.approx(then.value, abs=1e-12)
    assert mine.log_fail == pytest.approx(then.log_fail, abs=1e-9)
    assert (mine.log_pass is None) == (then.log_pass is None) == state.terms.alarm


DRIVER = Path(__file__).with_name("killed_updates.py")


def driven(*words: object) -> dict[str, int]:
    """Run the driver of killed and racing children, and return what happened."""
    command = [sys.executable, str(DRIVER), *(str(word) for word in words)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, int] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize("kills", [5, pytest.param(400, marks=pytest.mark.slow)])
def test_nothing_is_lost_or_doubled_by_kills(kills: int, tmp_path: Path) -> None:
    """Killed at random instants, an update has counted each batch once or not at all; run again it completes.

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
    """Two processes that count the same sixteen batches in different orders leave each of them once."""
    assert driven("race", tmp_path, 2) == {"codes": 0, "batches": 16}


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


def test_a_pipe_cannot_hold_a_state(tmp_path: Path) -> None:
    """It is refused before anything is read, as other places are that are lines of refusals."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputProblem, match="is not a file"):
        refuse_state(str(tmp_path / "pipe"))
    refuse_state(str(tmp_path / "gate.json"))


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
