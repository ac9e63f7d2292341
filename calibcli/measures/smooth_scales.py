"""Scales on which scores may be smoothed: the score itself, its logit or its probit, brought to [0, 1]."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibcli.table.grid import Table
from calibcli.table.kernel import MESH
from calibcli.table.score_table import Floats, ScoreTable

# Logit and probit are taken of scores limited to [LIMIT, 1 - LIMIT].
LIMIT = 1e-4
_SCORE = "score"


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """
    Where a table's scores lie on the scale on which they are smoothed.

    Args:
        word: What the scale is called.

        places: The scores' places as parts of the scale's length, shape (n_entries,), in [0, 1].

        length: Length of the scale; bandwidths are told in its units.

        limited: Number of rows whose score lay beyond the ends and was taken to be at the nearer one.
    """

    word: str
    places: Floats
    length: float
    limited: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a reader must know of a scale that is not the score itself."""
        if self.word == _SCORE:
            return ()
        unit = f"bandwidth and value are in units of the {self.word}, stretched to those of the score at 1/2"
        if not self.limited:
            return (unit,)
        rows = f"{self.limited} row lies" if self.limited == 1 else f"{self.limited} rows lie"
        return unit, f"{rows} within {LIMIT:g} of 0 or 1 and counted there as if at {LIMIT:g} from it"

    @property
    def details(self) -> dict[str, int | str]:
        """The same in plain values."""
        return {} if self.word == _SCORE else {"scale": self.word, "limited_rows": self.limited}


def score_axis(table: Table) -> Axis:
    """Return the scores as they are."""
    return Axis(_SCORE, table.score, 1.0)


def logit_axis(table: Table) -> Axis:
    """Return ln(f / (1 - f)) / 4, whose unit is that of the score where the score is 1/2."""
    return _bent_axis(table, "logit", lambda f: (np.log(f) - np.log1p(-f)) / 4.0)


def probit_axis(table: Table) -> Axis:
    """Return the normal quantile over sqrt(2 pi), whose unit is that of the score where the score is 1/2."""
    from scipy.special import ndtri

    return _bent_axis(table, "probit", lambda f: np.asarray(ndtri(f)) / math.sqrt(2.0 * math.pi))


def _bent_axis(table: Table, word: str, bend: Callable[[Floats], Floats]) -> Axis:
    score = table.score
    half = -float(bend(np.array([LIMIT]))[0])
    places = np.clip(0.5 + bend(np.clip(score, LIMIT, 1.0 - LIMIT)) / (2.0 * half), 0.0, 1.0)
    beyond = (score < LIMIT) | (score > 1.0 - LIMIT)
    return Axis(word, places, 2.0 * half, int(table.rows[beyond].sum()))


def gathered(table: Table, places: Floats) -> ScoreTable:
    """Return how many rows lie in each of the kernel's cells, at the cells' middles; labels are left out."""
    cell = np.minimum((places * MESH).astype(np.int64), MESH - 1)
    rows = np.bincount(cell, weights=table.weight, minlength=MESH).astype(np.int64)
    some = np.flatnonzero(rows)
    return ScoreTable((some + 0.5) / MESH, rows[some], np.zeros(some.size, np.int64))
