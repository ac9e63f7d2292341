"""A number as another tool gives it: its name there, what it stands beside here, and why the two differ."""

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from calibcli.names import MeasureName, TestName
from calibcli.table.score_table import Floats, ScoreTable


class Part(Enum):
    """Which number of ours stands beside one of theirs."""

    VALUE = "value"
    LOWER = "lower"
    UPPER = "upper"
    P_VALUE = "p_value"


@dataclass(frozen=True, slots=True)
class Counterpart:
    """
    What answers the same question here.

    Args:
        name: The measure or test.

        part: Which of its numbers; the value of a test is its statistic.
    """

    name: MeasureName | TestName
    part: Part = Part.VALUE


@dataclass(frozen=True, slots=True)
class PeerNumber:
    """
    A number as another tool gives it with its default settings.

    Args:
        name: What the tool calls it.

        value: The number; None where the tool gives none.

        beside: What answers the same question here, or None where nothing does.

        why: In one line, why the two differ where they do.
    """

    name: str
    value: float | None
    beside: Counterpart | None
    why: str


@dataclass(frozen=True, slots=True)
class Peer:
    """
    A tool and its numbers.

    Args:
        package: Its name in the package index.

        version: The version whose behaviour this is.

        numbers: In the order in which they are shown.

        notes: What the reader should know of all of them.
    """

    package: str
    version: str
    numbers: tuple[PeerNumber, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class OrderedRows:
    """
    Rows in an order, for tools whose numbers depend on it.

    Args:
        score: Shape (n,).

        label: Shape (n,), True for label 1.

        order: What the order is.
    """

    score: Floats
    label: npt.NDArray[np.bool_]
    order: str = "that of the input"

    @classmethod
    def of_table(cls, table: ScoreTable) -> "OrderedRows":
        """Return the rows of a table by score, those with label 0 first."""
        negative = table.rows - table.positive_rows
        counts = np.stack([negative, table.positive_rows], axis=1).ravel()
        label = np.tile(np.array([False, True]), table.distinct)
        score = np.repeat(np.repeat(table.score, 2), counts)
        return cls(score, np.repeat(label, counts), "by score, label 0 first")


def ratio(top: float, bottom: float) -> float | None:
    """Return a ratio as floats have it: infinite over 0, and None where both are 0."""
    if bottom == 0.0:
        return None if top == 0.0 else math.copysign(math.inf, top)
    return top / bottom


def defined(value: float) -> float | None:
    """Return a number, None for what is not one."""
    return None if np.isnan(value) else float(value)
