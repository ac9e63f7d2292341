"""Rows that come in batches, and the states of gates that count them."""

import numpy as np

from calibcli.names import MeasureName
from calibcli.stats.gates.any_time import frozen_stakes
from calibcli.stats.gates.cells import Partition
from calibcli.stats.gates.state import GateState, Terms
from calibcli.stats.table import Floats, ScoreTable

TEN = tuple(((np.arange(10) + 0.5) / 10).tolist())
ATOMS = Partition(TEN)
FIFTEEN = Partition.of_bins(15)


def begun(
    partition: Partition = ATOMS,
    *,
    limit: float | None = 0.05,
    alarm: bool = False,
    measure: MeasureName = MeasureName.ECE,
    variance: float | None = None,
    by_id: bool = False,
) -> GateState:
    """Return a state that has counted nothing."""
    stakes = frozen_stakes(delta=0.05, variance=variance)
    return GateState(Terms(measure, limit, 0.95, partition, stakes, alarm=alarm, by_id=by_id, label="label"))


def rows_of(
    generator: np.random.Generator, count: int, *, outputs: tuple[float, ...] = (), off: float = 0.0
) -> tuple[Floats, np.ndarray]:
    """Return scores, among outputs if there are some, and labels whose rates are `off` above them."""
    score = generator.choice(outputs, count) if outputs else generator.random(count)
    return score, generator.random(count) < score + off


def table_of_rows(
    generator: np.random.Generator, count: int, *, outputs: tuple[float, ...] = (), off: float = 0.0
) -> ScoreTable:
    """Return the table of such rows."""
    return ScoreTable.from_rows(*rows_of(generator, count, outputs=outputs, off=off))
