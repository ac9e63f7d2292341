"""
A table gathered in pieces of equal-width bins, so that bets on its rows cost the same for any number of them.

0 and 1 are bins of their own: scores there need not move to a midpoint, and {0} and {1} are fixed sets, so
the partition is still fixed by the number of rows. A table of few scores is taken as it is, one piece to a
score and label. Of a large one, moments of score - centre are summed in pieces of at most 1/512, which are
cut at bins' midpoints too: within a piece |f - m_k| is a straight line, and every value bet on a polynomial.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.bounds.mean_bets import Pieces, Quadratic, orders_needed
from calibcli.table.bins import equal_width_edges, segment_sums
from calibcli.table.cells import CELLS
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

# More scores than this are gathered in two pieces to a finer bin.
_AS_THEY_ARE = 1_024
_LEAST_FINER = 256
# Rows of the table worked on at once: their powers stay in the processor's cache.
_CHUNK = 1 << 14
_LABEL = np.array([[1.0], [0.0]])


@dataclass(frozen=True, slots=True, eq=False)
class CutTable:
    """
    Pieces of a table and the bins they make up.

    Args:
        pieces: The rows.

        middle: The midpoint of each piece's bin, 0 and 1 for those of scores 0 and 1, shape (n_pieces,).

        starts: The first piece of each bin, shape (n_bins + 1,), ending with n_pieces.
    """

    pieces: Pieces
    middle: Floats
    starts: npt.NDArray[np.intp]

    @property
    def bins(self) -> int:
        """Number of bins of equal width."""
        return self.starts.size - 3

    @property
    def gap(self) -> Quadratic:
        """Label - midpoint."""
        level = np.broadcast_to(_LABEL - self.middle, self.pieces.centre.shape)
        return Quadratic(level, np.zeros_like(level))

    @property
    def from_midpoint(self) -> Quadratic:
        """Score - midpoint."""
        return Quadratic(self.pieces.centre - self.middle, np.ones_like(self.pieces.centre))

    @property
    def moved(self) -> Quadratic:
        """|Score - midpoint|."""
        away = self.pieces.centre - self.middle
        return Quadratic(np.abs(away), np.sign(away))

    @property
    def variance(self) -> Quadratic:
        """Score (1 - score)."""
        centre = self.pieces.centre
        return Quadratic(centre * (1.0 - centre), 1.0 - 2.0 * centre, -1.0)

    @property
    def residual(self) -> Quadratic:
        """Label - score."""
        return Quadratic(_LABEL - self.pieces.centre, np.full_like(self.pieces.centre, -1.0))

    @property
    def tilted(self) -> Quadratic:
        """(Label - score) (2 score - 1)."""
        centre = self.pieces.centre
        level = (_LABEL - centre) * (2.0 * centre - 1.0)
        return Quadratic(level, 2.0 * _LABEL + 1.0 - 4.0 * centre, -2.0)

    @property
    def finer(self) -> "CutTable":
        """The same pieces in as many times more bins as make each of two pieces of a large table."""
        count = finer_bins(self.bins)
        place = self.pieces.centre.mean(axis=0)
        bin_of = np.where(place > 0.0, np.minimum(np.floor(place * count), count - 1.0), -1.0)
        bin_of = np.where(place < 1.0, bin_of, count)
        starts = np.searchsorted(bin_of, np.arange(-1.0, count + 2.0))
        return CutTable(self.pieces, np.clip((bin_of + 0.5) / count, 0.0, 1.0), starts)

    @property
    def each(self) -> "CutTable | None":
        """Every score by itself; None if they are too many, or if several may share a cell."""
        if len(self.pieces.moments) > 1 or np.any(self.pieces.centre[0] != self.pieces.centre[1]):
            return None
        centre = self.pieces.centre[0]
        return CutTable(self.pieces, centre, np.arange(centre.size + 1))

    def of_bins(self, values: Quadratic) -> Floats:
        """Return the sum of values over each bin, shape (n_bins,)."""
        return segment_sums(self.pieces.sums(values), self.starts)


def cut_table(table: Table, *, bins: int, delta: float) -> CutTable:
    """
    Gather a table.

    Args:
        table: The rows.

        bins: Number of equal-width bins, besides those of the scores 0 and 1.

        delta: The smallest error probability of the bets that will be made.
    """
    inner = np.searchsorted(table.upper, equal_width_edges(bins)[:-1], side="right")
    starts = np.concatenate(([0], inner, [np.searchsorted(table.upper, 1.0)], [table.distinct]))
    middle = np.concatenate(([0.0], (np.arange(bins) + 0.5) / bins, [1.0]))
    if table.distinct <= _AS_THEY_ARE:
        centre = np.stack((table.score_of_positive, table.score_of_negative))
        counts = np.stack((table.positive, table.weight - table.positive))
        return CutTable(Pieces(centre, counts[None]), np.repeat(middle, np.diff(starts)), starts)
    parts = 2 * finer_bins(bins) // bins
    reach = 0.5 / (bins * parts)
    orders = 2 if table.weighted else orders_needed(table.total_rows, delta=delta, reach=reach)
    sizes = np.concatenate(([1], np.full(bins, parts), [1]))
    return CutTable(
        pieces=_gathered(table, starts, parts=parts, orders=orders),
        middle=np.repeat(middle, sizes),
        starts=np.concatenate(([0], np.cumsum(sizes))),
    )


def finer_bins(bins: int) -> int:
    """Return into how many bins the finer partition divides [0, 1]; no cell of a grid is cut by them."""
    times = math.ceil(_LEAST_FINER / bins)
    while CELLS % (bins * times):
        times += 1
    return bins * times


def _gathered(table: Table, starts: npt.NDArray[np.intp], *, parts: int, orders: int) -> Pieces:
    """Sum moments over the given number of equal parts of every bin, and over the scores 0 and 1."""
    count = (starts.size - 3) * parts
    centre = np.concatenate(([0.0], (np.arange(count) + 0.5) / count, [1.0]))
    columns = (
        (table.score_of_positive, table.positive),
        (table.score_of_negative, table.weight - table.positive),
    )
    moments = np.zeros((orders + 1, 2, count + 2))
    for label, (score, weight) in enumerate(columns):
        cuts = np.searchsorted(score, np.arange(count) / count, side="right").reshape(-1, parts)
        # Which bin a score belongs to is settled; the mean score of a grid's cell may be rounded across.
        cuts = np.clip(cuts, starts[1:-2, None], starts[2:-1, None])
        cuts[:, 0] = starts[1:-2]
        places = np.concatenate(([0], cuts.ravel(), starts[-2:]))
        for begin in range(0, score.size, _CHUNK):
            near = slice(begin, min(begin + _CHUNK, score.size))
            inside = np.clip(places, near.start, near.stop) - begin
            powers = np.empty((orders + 1, near.stop - begin))
            powers[0] = weight[near]
            away = score[near] - np.repeat(centre, np.diff(inside))
            for order in range(orders):
                np.multiply(powers[order], away, out=powers[order + 1])
            moments[:, label] += segment_sums(powers, inside)
    return Pieces(np.stack((centre, centre)), moments)
