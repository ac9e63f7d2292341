"""Updates of a state that are killed, for the tests: started as a process, it forks and kills its children.

    python killed_updates.py kill FOLDER ROUNDS SEED     kill a child that counts batches, again and again
    python killed_updates.py race FOLDER CHILDREN        let children count batches at the same time

What happened is printed as JSON.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from calibcli.commands.gate import ReadBatches, update_state
from calibcli.documents.state import read_state
from calibcli.names import MeasureName
from calibcli.stats.gates.any_time import frozen_stakes
from calibcli.stats.gates.cells import Partition, Sums, sums_of
from calibcli.stats.gates.growth import Incoming
from calibcli.stats.gates.state import GateState, Terms
from calibcli.stats.table import ScoreTable

STAKES = frozen_stakes(delta=0.05, variance=None)
TERMS = Terms(MeasureName.ECE, 0.05, 0.95, Partition.of_bins(15), STAKES, label="label")
BATCHES = 16
_HELD: dict[int, Sums] = {}


def batches() -> list[Incoming]:
    """Return batches of different rows."""
    generator = np.random.default_rng(0)
    found = []
    for number in range(BATCHES):
        score = generator.random(50)
        table = ScoreTable.from_rows(score, generator.random(50) < score)
        found.append(Incoming(f"batch {number}", f"digest {number}", "rows.csv", table))
    return found


def count(path: str, some: list[Incoming], *, told: int | None = None) -> None:
    """Count batches one after the other, and say in a pipe when each begins."""
    for batch in some:
        if told is not None:
            os.write(told, b".")
        update_state(path, ReadBatches(TERMS, (batch,)), least_rows=100)


def forked(path: str, some: list[Incoming], *, told: int | None = None) -> int:
    """Start a child that counts batches, and return its id."""
    child = os.fork()
    if child == 0:
        try:
            count(path, some, told=told)
        except BaseException as problem:  # noqa: BLE001 - told to the parent by the code
            print(problem, file=sys.stderr)  # noqa: T201
            os._exit(1)
        os._exit(0)
    return child


def kill(folder: Path, rounds: int, seed: int) -> dict[str, int]:
    """Kill a child at random instants until it has been killed so often, checking the state each time.

    A child is let begin one update, or a few, and is killed after a random part of the time that one takes,
    so that kills fall into updates however busy the machine is. Killed while it writes, it leaves a part
    beside the state, which the next update removes.
    """
    draw, every = random.Random(seed), batches()  # noqa: S311 - instants, not secrets
    expected = sum((sums_of(one.rows, TERMS.partition) for one in every), Sums.none(TERMS.partition.size))
    found = {"killed": 0, "completed": 0, "states": 0, "in_write": 0, "counted": 0, "most_parts": 0}
    begun = time.perf_counter()
    count(str(folder / "timed.json"), every)
    each = (time.perf_counter() - begun) / BATCHES
    while found["killed"] < rounds:
        path = folder / f"gate{found['states']}.json"
        found["states"] += 1
        before = 0
        while True:
            # One that is known, and those that are not; killed in an update.
            hear, tell = os.pipe()
            child = forked(str(path), every[max(0, before - 1) :], told=tell)
            os.close(tell)
            while os.read(hear, 1) and draw.random() < 0.5:
                pass
            os.close(hear)
            time.sleep(draw.uniform(0.0, 1.2 * each))
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            found["killed"] += os.WIFSIGNALED(status)
            assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
            state = read_state(path)
            now = check(state, every)
            assert now >= before, "a batch was lost"
            found["counted"] += now - before
            before = now
            parts = len(list(folder.glob(".*.part")))
            found["in_write"] += parts
            found["most_parts"] = max(found["most_parts"], parts)
            if now == BATCHES or found["killed"] >= rounds:
                break
        count(str(path), every[max(0, before - 1) :])
        state = read_state(path)
        assert state is not None
        assert check(state, every) == BATCHES
        assert state.sums == expected
        if before < BATCHES:
            assert not list(folder.glob(".*.part"))
        found["completed"] += 1
    return found


def check(state: GateState | None, every: list[Incoming]) -> int:
    """Return how many batches a state holds: the first so many, each once, with all their rows."""
    if state is None:
        return 0
    keys = [batch.key for batch in state.batches]
    assert keys == [batch.key for batch in every[: len(keys)]]
    if len(keys) not in _HELD:
        held = [sums_of(one.rows, TERMS.partition) for one in every[: len(keys)]]
        _HELD[len(keys)] = sum(held, Sums.none(TERMS.partition.size))
    assert state.sums == _HELD[len(keys)]
    assert state.rows == 50 * len(keys)
    return len(keys)


def race(folder: Path, children: int) -> dict[str, int]:
    """Let children count every batch in orders of their own at the same time."""
    every, path = batches(), str(folder / "gate.json")
    ids = []
    for number in range(children):
        order = random.Random(number).sample(every, len(every))  # noqa: S311 - an order, not a secret
        ids.append(forked(path, order))
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in ids]
    state = read_state(path)
    assert state is not None
    expected = sum((sums_of(one.rows, TERMS.partition) for one in every), Sums.none(TERMS.partition.size))
    assert state.sums == expected
    assert [batch.look.rows for batch in state.batches if batch.look] == list(range(50, 50 * BATCHES + 1, 50))
    return {"codes": sum(codes), "batches": len({batch.key for batch in state.batches})}


if __name__ == "__main__":
    task, folder, amount = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    told = kill(folder, amount, int(sys.argv[4])) if task == "kill" else race(folder, amount)
    print(json.dumps(told))  # noqa: T201
