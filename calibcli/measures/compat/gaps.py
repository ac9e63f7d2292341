"""Bins as other tools cut them, and the errors that they make of such bins."""

from dataclasses import dataclass

import numpy as np

from calibcli.table.score_table import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """
    Rows gathered by score, or by the probability of the predicted label.

    Args:
        score: What is binned, shape (n,).

        rows: How many rows are there.

        positive: For how many of them it happened.
    """

    score: Floats
    rows: Integers
    positive: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """
    Occupied bins.

    Args:
        rows: Rows in each, shape (n_occupied,).

        score: Their mean score.

        rate: The share of them with label 1.
    """

    rows: Floats
    score: Floats
    rate: Floats

    @property
    def gap(self) -> Floats:
        """Distance of mean score and rate in each bin."""
        return np.abs(self.rate - self.score)

    @property
    def mean(self) -> float | None:
        """Mean distance over rows; None without rows."""
        return self._over_rows(self.gap)

    @property
    def mean_square(self) -> float | None:
        """Mean squared distance over rows; None without rows."""
        return self._over_rows(self.gap**2)

    @property
    def plain_mean(self) -> float | None:
        """Mean distance over bins; None without rows."""
        return float(self.gap.mean()) if self.rows.size else None

    @property
    def largest(self) -> float:
        """Largest distance; 0 without rows."""
        return float(self.gap.max(initial=0.0))

    def _over_rows(self, each: Floats) -> float | None:
        return float((self.rows * each).sum()) / float(self.rows.sum()) if self.rows.size else None


def gaps_in(index: Integers, cells: Cells) -> Gaps:
    """
    Return the occupied bins.

    Args:
        index: Bin of each cell, from 0; below 0 for rows that the tool leaves out.

        cells: The rows.
    """
    kept = index >= 0
    place, rows, score = index[kept], cells.rows[kept], cells.score[kept]
    count = np.bincount(place, weights=rows).astype(np.float64)
    total = np.bincount(place, weights=rows * score)
    positive = np.bincount(place, weights=cells.positive[kept])
    some = count > 0
    return Gaps(count[some], total[some] / count[some], positive[some] / count[some])


def left_closed(edges: Floats, score: Floats) -> Integers:
    """Return the bin [a, b) of each score; the last edge opens a bin of its own."""
    return (np.searchsorted(edges, score, side="right") - 1).astype(np.int64)


def right_closed(edges: Floats, score: Floats) -> Integers:
    """Return the bin (a, b] of each score; -1 at the first edge and below it."""
    return (np.searchsorted(edges, score, side="left") - 1).astype(np.int64)
