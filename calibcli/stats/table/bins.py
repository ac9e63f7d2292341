"""The only definition of a bin.

Bin k is (edge_{k-1}, edge_k], the first closed on the left. Of B equal-width bins, edge_i is the double
nearest to i/B, and a score equal to that double belongs to bin i. Equal-mass cuts lie midway between
neighbouring distinct scores and never split ties.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from calibcli.errors import EmptyTable
from calibcli.names import Binning
from calibcli.stats.table import Booleans, Floats, Indices, Integers, frozen, run_starts
from calibcli.stats.table.grid import Table, open_variance, residuals, squared_residuals, sums_of_scores
from calibcli.values import dataclass

Number = TypeVar("Number", np.float64, np.int64)
# Rows compared with one edge after the other, while they are in the processor's cache.
_CHUNK = 1 << 14
_FEW_EDGES = 32
# Sums of importance weights are rounded, and one that is a rank or a share but for that reaches it.
NEARLY = 1.0 - 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """A partition of [0, 1].

    Args:
        binning: How it came about; None where its edges were given.
        edges: Ascending from 0 to 1, shape (n_bins + 1,); None when every distinct score is a bin.
    """

    binning: Binning | None
    edges: Floats | None

    def __post_init__(self) -> None:
        if self.edges is not None:
            object.__setattr__(self, "edges", frozen(self.edges, np.float64))

    @property
    def after_of(self) -> str:
        """The same after an "of"."""
        return self.described if self.edges is None else f"the {self.described}"

    @property
    def described(self) -> str:
        """The words reports use for this partition."""
        if self.edges is None:
            return "each distinct score by itself"
        count = self.edges.size - 1
        how = "given" if self.binning is None else self.binning.value
        return f"{count} {how} {'bin' if count == 1 else 'bins'}"


ATOMS = Bins(Binning.ATOMS, None)

NO_ATOMS = "the distinct scores are rounded to fit in memory: they cannot be bins"


@dataclass(frozen=True, slots=True, eq=False)
class BinnedTable:
    """Sums per bin; every binned quantity is a function of these, and they add over shards.

    All arrays have shape (n_bins,). Empty bins are kept, with zeros.

    Args:
        starts: Position in the table of each bin's first cell; shape (n_bins + 1,), the last is the end.
        lower: Left edge of each bin (the score itself for atoms).
        residual: Weighted sum of label - score (S_k).
        residual_sq: Sum of squared weight times (label - score)^2 (Q_k where every row counts once).
        variance: Weighted sum of score (1 - score).
    """

    bins: Bins
    starts: Indices
    lower: Floats
    upper: Floats
    rows: Integers
    positive_rows: Integers
    weight: Floats
    positive: Floats
    score_sum: Floats
    residual: Floats
    residual_sq: Floats
    weight_sq: Floats
    variance: Floats

    @property
    def after_of(self) -> str:
        return self.bins.after_of

    @property
    def described(self) -> str:
        return self.bins.described

    @property
    def occupied(self) -> Booleans:
        return self.weight > 0

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    @property
    def ece(self) -> float:
        """The plug-in estimate, noise of every bin included."""
        return float(np.abs(self.residual).sum()) / self.total


def equal_width_edges(count: int) -> Floats:
    return np.arange(count + 1, dtype=np.float64) / count


def equal_mass_edges(table: Table, count: int) -> Floats:
    """Return the edges of at most `count` bins of nearly equal weight.

    Cuts fall at the ranks k floor(n/B) + min(k, n mod B) (with importance weights: at the first score
    with cumulative weight of at least k W/B), a block of ties goes left, and duplicate cuts are dropped.
    """
    if table.total_rows == 0:
        msg = "no rows to cut into bins"
        raise EmptyTable(msg)
    last = equal_mass_ends(np.cumsum(table.weight) if table.weighted else np.cumsum(table.rows), count)
    left, right = table.upper[last], table.upper[last + 1]
    cuts = cut_between(left, right) if table.kind == "exact" else left
    return np.concatenate(([0.0], cuts, [1.0]))


def equal_mass_ends(reached: Floats | Integers, count: int) -> Indices:
    """Return the positions of the last entry of every equal-mass bin but the last."""
    k = np.arange(1, count)
    if reached.dtype == np.float64:
        ranks = k * reached[-1] / count * NEARLY
    else:
        each, rest = divmod(int(reached[-1]), count)
        ranks = k * each + np.minimum(k, rest)
    last = np.asarray(np.searchsorted(reached, ranks, side="left"), dtype=np.intp)
    last = last[last < reached.size - 1]
    return last[run_starts(last)]


def cut_between(left: Floats, right: Floats) -> Floats:
    """Return the midpoints of neighbouring scores; where one rounds onto the right score, the left score."""
    middle = left + (right - left) / 2
    return np.where(middle >= right, left, middle)


def bins_of(binning: Binning, count: int, *, table: Table) -> Bins:
    """Return the named partition; only equal-mass bins look at the table, and only at its scores."""
    if binning is Binning.ATOMS:
        return ATOMS
    if binning is Binning.EQUAL_MASS:
        return Bins(binning, equal_mass_edges(table, count))
    return _equal_width(count)


# The same for every table of many.
@lru_cache(maxsize=4)
def _equal_width(count: int) -> Bins:
    return Bins(Binning.EQUAL_WIDTH, equal_width_edges(count))


def bin_index(edges: Floats, score: Floats) -> Integers:
    """Return the 0-based bin of each score, shape (n,)."""
    inner = edges[1:-1]
    if inner.size > _FEW_EDGES or score.ndim != 1:
        return np.searchsorted(inner, score, side="left").astype(np.int64)
    # Counting the edges that a score has passed does not have to guess which half it is in.
    found = np.zeros(score.size, np.int8)
    for start in range(0, score.size, _CHUNK):
        near, passed = score[start : start + _CHUNK], found[start : start + _CHUNK]
        for edge in inner.tolist():
            passed += near > edge
    return found.astype(np.int64)


# A bin with so large a share of the rows settles what is measured over all bins.
NEARLY_ALL = 0.99

# Of at most so many values, or of so many rows each on average, each may be judged by itself.
FEW_VALUES, ROWS_EACH = 50, 20


def looks_discrete(table: Table) -> bool:
    """Whether to measure each distinct score by itself: few of them, with enough rows each on average."""
    many = table.total_rows >= ROWS_EACH * table.distinct
    return table.kind == "exact" and 0 < table.distinct <= FEW_VALUES and many


def may_be_discrete(table: Table) -> bool:
    """Whether each distinct score can be measured by itself where that is asked for."""
    few = table.distinct <= FEW_VALUES or table.total_rows >= ROWS_EACH * table.distinct
    return table.kind == "exact" and few


# A partition, or what `binned` gave for it: so that sums over the same bins are taken once.
Partition = Bins | BinnedTable


def binned(table: Table, bins: Partition) -> BinnedTable:
    """Sum a table over bins.

    Args:
        table: The rows. A grid table's cells lie inside a bin when the bin's edges are multiples of
            1/720720; otherwise a cell goes where its upper edge is.
        bins: The partition, or the table's sums over it, which are then returned as they are.
    """
    if isinstance(bins, BinnedTable):
        return bins
    if bins.edges is None:
        starts = np.arange(table.distinct + 1)
        lower = upper = table.upper
    else:
        inner = np.searchsorted(table.upper, bins.edges[1:-1], side="right")
        starts = np.concatenate(([0], inner, [table.distinct]))
        lower, upper = bins.edges[:-1], bins.edges[1:]
    summed = sums_between(starts)
    return BinnedTable(
        bins=bins,
        starts=starts,
        lower=lower,
        upper=upper,
        rows=summed(table.rows),
        positive_rows=summed(table.positive_rows),
        weight=summed(table.weight),
        positive=summed(table.positive),
        score_sum=summed(sums_of_scores(table)),
        residual=summed(residuals(table)),
        residual_sq=summed(squared_residuals(table)),
        weight_sq=summed(table.weight_sq),
        variance=summed(open_variance(table)),
    )


def sums_between(
    starts: Indices,
) -> Callable[[npt.NDArray[Number]], npt.NDArray[Number]]:
    """Return what sums the last axis of columns between consecutive starts; empty segments give 0."""
    full = np.flatnonzero(starts[1:] > starts[:-1])
    begins = starts[full]

    # Annotations as words, which cost nothing each time a function is made.
    def summed(column: "npt.NDArray[Number]") -> "npt.NDArray[Number]":
        sums = np.zeros((*column.shape[:-1], starts.size - 1), dtype=column.dtype)
        if full.size:
            sums[..., full] = np.add.reduceat(column, begins, axis=-1)
        return sums

    return summed


def segment_sums(column: npt.NDArray[Number], starts: Indices) -> npt.NDArray[Number]:
    """Sum the last axis of one column likewise."""
    return sums_between(starts)(column)
