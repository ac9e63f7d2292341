"""Gates with a state, batch by batch, as the command keeps it: the alarm, and the distance to calibration."""

import numpy as np

from calibcli.names import MeasureName
from calibcli.stats.gates.any_time import frozen_stakes
from calibcli.stats.gates.cells import Partition
from calibcli.stats.gates.state import GateState, Terms
from calibcli.stats.measures.distance import number_of_bins
from calibcli.stats.table import ScoreTable, merge_all
from claims.gate_streams import World
from stats.verdicts.boundary import shifted

CONFIDENCE = 0.95


def state_of(a_world: World, *, alarm: bool, limit: float | None) -> GateState:
    """Return a state without rows, of a discrete artifact."""
    population = a_world.population
    stakes = frozen_stakes(delta=1.0 - CONFIDENCE, variance=population.variance)
    partition = Partition(outputs=tuple(population.score.tolist()))
    return GateState(Terms(MeasureName.ECE, limit, CONFIDENCE, partition, stakes, alarm=alarm))


def alarms(
    before: World,
    after: World,
    *,
    batch: int,
    calibrated: int,
    batches: int,
    streams: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """Simulate streams that are as `before` for some batches and as `after` from then on.

    Args:
        before: The world at first.

        after: The world from the change on.

        batch: Rows of a batch.

        calibrated: Batches before the change.

        batches: Batches in all.

        streams: How many streams.

        generator: Random numbers.

    Returns:
        Number of the batch that set off the alarm, from 1 on; infinite where none did.
    """
    found = np.full(streams, np.inf)
    for stream in range(streams):
        state = state_of(before, alarm=True, limit=None)
        for number in range(1, batches + 1):
            population = (before if number <= calibrated else after).population
            table = one_batch(population, batch, generator)
            state = state.counted(table, key=str(number))
            if state.failed_at is not None:
                found[stream] = number
                break
    return found


def dated(
    before: World,
    after: World,
    *,
    batch: int,
    calibrated: int,
    batches: int,
    streams: int,
    limit: float | None,
    generator: np.random.Generator,
    share: float = 1.0,
) -> tuple[int, int]:
    """Return in how many streams an alarm came, and in how many of these its ends miss the change.

    The change comes within a batch, of which it leaves a share.
    """
    raised, missed = 0, 0
    for _ in range(streams):
        state = state_of(before, alarm=True, limit=limit)
        for number in range(1, batches + 1):
            wrong = round(batch * (share if number == calibrated + 1 else float(number > calibrated)))
            parts = ((before, batch - wrong), (after, wrong))
            tables = [one_batch(one.population, rows, generator) for one, rows in parts if rows]
            state = state.counted(merge_all(tables), key=str(number))
            if state.failed_at is not None:
                raised += 1
                missed += not state.change.earliest <= calibrated + 1 <= state.change.latest
                break
    return raised, missed


def one_batch(population: object, rows: int, generator: np.random.Generator) -> ScoreTable:
    """Return a batch of rows."""
    count, ones = population.drawn(rows, times=1, generator=generator)
    return population.table(count[0], ones[0])


def distance_streams(
    *, limit: float, step: int, looks: int, streams: int, generator: np.random.Generator
) -> list[int]:
    """Return in how many streams a gate on the distance to calibration ever passed, and ever failed.

    The true distance is the limit, in every form: see `verdicts.boundary.shifted`.
    """
    partition = Partition.of_bins(number_of_bins(step * looks), halved=True)
    stakes = frozen_stakes(delta=1.0 - CONFIDENCE, variance=None)
    counts = [0, 0]
    for _ in range(streams):
        state = GateState(Terms(MeasureName.DCE, limit, CONFIDENCE, partition, stakes))
        for number in range(looks):
            state = state.counted(shifted(generator, step, limit), key=str(number))
        counts[0] += state.passed_at is not None
        counts[1] += state.failed_at is not None
    return counts
