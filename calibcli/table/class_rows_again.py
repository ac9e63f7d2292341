"""The rows of several classes once more: what fits of all classes together go through again and again."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from calibcli.table.score_table import Floats, Integers


class ClassBlock(NamedTuple):
    """
    Some of the rows.

    Args:
        probability: Shape (n, K), in [0, 1].

        label: Shape (n,), the place of the right class.

        weight: Importance weights, shape (n,), or None.

        counts: Frequencies, shape (n,), or None for rows that count once.
    """

    probability: Floats
    label: Integers
    weight: Floats | None = None
    counts: Integers | None = None

    @property
    def weights(self) -> Floats:
        """What each row weighs, whatever that means, shape (n,)."""
        if self.weight is not None:
            return self.weight
        return np.ones(self.label.size) if self.counts is None else self.counts.astype(np.float64)


class ClassRowSource(Protocol):
    """Gives the same blocks in the same order every time."""

    @property
    def classes(self) -> tuple[str, ...]:
        """What the classes are called."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether a fit may keep what it makes of the rows, as much as the probabilities take, in memory."""
        ...

    @property
    def workers(self) -> int:
        """How many blocks may be worked on at a time; no number changes a digit."""
        ...

    def blocks(self) -> Iterator[ClassBlock]:
        """Yield all rows, in blocks of bounded size."""
        ...
