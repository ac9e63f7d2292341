"""Where the rows lie: what share of them is below any score, kept at as many places as can be seen."""

from dataclasses import dataclass

import numpy as np

from calibcli.curves.thinned import thinned
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """
    Share of the rows, or of the weight, below and up to each of some scores; all of shape (n,).

    Between two of the scores the share rises in a straight line.

    Args:
        score: Ascending.

        below: Share of the rows below each.

        upto: Share of the rows up to and with each.
    """

    score: Floats
    below: Floats
    upto: Floats

    def __post_init__(self) -> None:
        for name in ("score", "below", "upto"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))

    @classmethod
    def of(cls, table: Table) -> "Spread":
        """Return the spread of a table that has rows, thinned to what can be seen."""
        some = np.flatnonzero(table.weight > 0.0)
        score, weight = table.score[some], table.weight[some]
        upto = np.cumsum(weight)
        upto /= upto[-1]
        below = np.concatenate(([0.0], upto[:-1]))
        # Evenly along the scores, and evenly along the rows.
        kept = np.union1d(thinned(score, score), thinned(upto, score))
        return cls(score[kept], below[kept], upto[kept])

    def around(self, score: float) -> tuple[float, float]:
        """Return the share of the rows below a score, and up to it."""
        place = int(np.searchsorted(self.score, score))
        if place < self.score.size and self.score[place] == score:
            return float(self.below[place]), float(self.upto[place])
        share = self._share(np.array([score]))
        return float(share[0]), float(share[0])

    def at(self, share: float) -> float:
        """Return the score that this share of the rows lies below."""
        steps, scores = self._corners()
        return float(np.interp(share, steps, scores))

    def between(self, edges: Floats) -> Floats:
        """
        Return the share of the rows between each two of some edges.

        Args:
            edges: Ascending, shape (n,). A score on an edge counts to its left; on the first, to its right.
        """
        share = self._share(np.asarray(edges))
        share[0] = self.around(float(edges[0]))[0]
        return np.diff(share)

    def _share(self, score: Floats) -> Floats:
        """Return the share of the rows up to each of some scores."""
        place = np.searchsorted(self.score, score, side="right") - 1
        left, right = np.maximum(place, 0), np.minimum(place + 1, self.score.size - 1)
        gap = self.score[right] - self.score[left]
        part = np.divide(score - self.score[left], gap, out=np.zeros_like(gap), where=gap > 0.0)
        share = self.upto[left] + part * (self.below[right] - self.upto[left])
        return np.where(place < 0, 0.0, np.where(place + 1 >= self.score.size, 1.0, share))

    def _corners(self) -> tuple[Floats, Floats]:
        return np.stack((self.below, self.upto), axis=1).ravel(), np.repeat(self.score, 2)
