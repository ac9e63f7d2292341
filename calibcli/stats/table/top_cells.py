"""Rows of several classes by the bins of their largest probabilities together: sums of each cell."""

from collections.abc import Iterator
from typing import Self

import numpy as np
import numpy.typing as npt

from calibcli.errors import UsageProblem
from calibcli.stats.table.bins import BinnedTable, Bins, bin_index
from calibcli.stats.table.score_table import Floats, Integers

# Fifteen equal bins make at most 684 cells of any number of probabilities that descend and sum to one.
MOST_CELLS = 100_000
# Numbers in [0, 1] are added up as whole numbers of these, and what is left as whole numbers of their square:
# no sum of fewer than 2^37 rows is rounded, whatever the order.
_UNIT = 2.0**-26
# Rows, their weight and its square; then of each rank rows and weight of label 1, and in two parts each the
# scores, squared residuals and open variances.
_OF_ALL, _OF_RANK = 3, 8


class TopCells:
    """
    Sums over rows by the bins of their `ranks` largest probabilities.

    A cell is a bin for each of them. Those that hold rows are kept, and more than `MOST_CELLS` are refused.

    Args:
        ranks: How many of the largest probabilities of a row are looked at.
        bins: How each of them is cut.
    """

    def __init__(self, ranks: int, bins: Bins) -> None:
        if bins.edges is None:
            msg = "cells need bins that have edges"
            raise ValueError(msg)
        self.ranks, self.bins, self.weighted = ranks, bins, False
        self._edges, self._base = bins.edges, bins.edges.size - 1
        self._code: Integers = np.zeros(0, np.int64)
        self._sums: npt.NDArray[np.int64 | np.float64] = np.zeros((_OF_ALL + _OF_RANK * ranks, 0), np.int64)

    def add_rows(
        self,
        probability: Floats,
        label: Integers,
        *,
        counts: Integers | None = None,
        weight: Floats | None = None,
    ) -> None:
        """Add rows; of equal probabilities that of the first class counts as the larger."""
        rows = np.ones(label.size, np.int64) if counts is None else counts
        times, squared = (rows, rows) if weight is None else (weight, weight**2)
        self.weighted = self.weighted or weight is not None
        code = np.zeros(label.size, np.int64)
        columns = [rows, times, squared]
        for score, right in _largest(probability, label, self.ranks):
            code = code * self._base + bin_index(self._edges, score)
            columns += [rows * right, times * right]
            for value, factor in (
                (score, times),
                ((right - score) ** 2, squared),
                (score * (1.0 - score), times),
            ):
                whole = np.floor(value / _UNIT)
                rest = np.rint((value / _UNIT - whole) / _UNIT)
                columns += [factor * part.astype(factor.dtype) for part in (whole, rest)]
        self._take(code, np.stack(columns))

    def merge(self, other: Self) -> None:
        """Add the rows of another."""
        self.weighted = self.weighted or other.weighted
        self._take(other._code, other._sums)

    def of_largest(self, ranks: int) -> tuple[BinnedTable, ...]:
        """Return, for each of the `ranks` largest probabilities, its sums over the cells of all of these."""
        digits = self._base ** np.arange(self.ranks)[::-1]
        code, sums = _grouped(self._code // digits[ranks - 1], self._sums[: _OF_ALL + _OF_RANK * ranks])
        rows, weight, weight_sq = sums[:_OF_ALL]
        found = []
        for rank in range(ranks):
            first = _OF_ALL + _OF_RANK * rank
            positive_rows, positive, *parts = sums[first : first + _OF_RANK]
            score, squares, variance = (
                whole * _UNIT + rest * _UNIT**2 for whole, rest in zip(parts[::2], parts[1::2], strict=True)
            )
            place = code // (digits[rank] // digits[ranks - 1]) % self._base
            found.append(
                BinnedTable(
                    bins=self.bins,
                    starts=np.arange(code.size + 1),
                    lower=self._edges[place],
                    upper=self._edges[place + 1],
                    rows=rows.astype(np.int64),
                    positive_rows=positive_rows.astype(np.int64),
                    weight=weight.astype(np.float64),
                    positive=positive.astype(np.float64),
                    score_sum=score,
                    residual=(positive - parts[0] * _UNIT) - parts[1] * _UNIT**2,
                    residual_sq=squares,
                    weight_sq=weight_sq.astype(np.float64),
                    variance=variance,
                )
            )
        return tuple(found)

    def _take(self, code: Integers, sums: npt.NDArray[np.int64 | np.float64]) -> None:
        self._code, self._sums = _grouped(
            np.concatenate((self._code, code)), np.concatenate((self._sums, sums), axis=1)
        )
        if self._code.size > MOST_CELLS:
            msg = f"--top {self.ranks} over {self.bins.described} makes over {MOST_CELLS:,} cells"
            raise UsageProblem(msg, "take fewer --bins, or a smaller --top")


def _largest(
    probability: Floats, label: Integers, ranks: int
) -> Iterator[tuple[Floats, npt.NDArray[np.bool_]]]:
    """Yield the largest probability of each row and whether its class is right; then the next."""
    left, each = probability.copy(), np.arange(label.size)
    for _ in range(ranks):
        place = left.argmax(axis=1)
        yield left[each, place], place == label
        left[each, place] = -1.0


def _grouped(
    code: Integers, columns: npt.NDArray[np.int64 | np.float64]
) -> tuple[Integers, npt.NDArray[np.int64 | np.float64]]:
    """Return the distinct codes in order, and the sums of each column over them."""
    found, where = np.unique(code, return_inverse=True)
    sums = np.zeros((len(columns), found.size), columns.dtype)
    for total, column in zip(sums, columns, strict=True):
        np.add.at(total, where, column)
    return found, sums
