"""A continuous function through a few points: what every interpolated recalibrator looks up."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calibcli.documents import Node, ascending, same_length
from calibcli.table.ranks import ranks
from calibcli.table.score_table import Floats, frozen

# Scores worked on at once: they fit the processor's cache.
_CHUNK = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Polyline:
    """
    A continuous function: linear between knots, constant outside them.

    Args:
        knots: Strictly ascending scores, shape (n_knots,).

        values: What the function is there, non-decreasing in [0, 1].
    """

    knots: Floats
    values: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", frozen(self.knots, np.float64))
        object.__setattr__(self, "values", frozen(self.values, np.float64))

    def __reduce__(self) -> tuple[type[Self], tuple[Floats, Floats]]:
        return type(self), (self.knots, self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polyline) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """Restore from the members `knots` and `values` of an object."""
        knots, values = node.child("knots"), node.child("values")
        scores, levels = knots.numbers(0.0, 1.0), values.numbers(0.0, 1.0)
        if not scores:
            msg = "is empty, should hold at least one score"
            raise knots.problem(msg)
        same_length(values, len(scores), reason=f"as many as {knots.path}")
        ascending(knots.items())
        ascending(values.items(), strictly_from=len(levels))
        return cls(np.array(scores), np.array(levels))

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {"knots": self.knots.tolist(), "values": self.values.tolist()}

    def predict(self, scores: Floats) -> Floats:
        """
        Return the function at each score: exact at knots, monotone, never NaN.

        `numpy.interp` is none of this where neighbouring knots are a denormal number apart.
        """
        rise, width = np.diff(self.values, append=self.values[-1]), np.append(np.diff(self.knots), 1.0)
        columns = (self.knots, width, self.values, rise, np.append(self.values[1:], self.values[-1]))
        flat = scores.reshape(-1)
        left = np.maximum(ranks(self.knots, flat) - 1, 0)
        found = np.empty(flat.size)
        for start in range(0, flat.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            knot, wide, low, up, high = (column[left[part]] for column in columns)
            share = np.clip((flat[part] - knot) / wide, 0.0, 1.0)
            found[part] = np.minimum(low + share * up, high)
        return found.reshape(scores.shape)


def one_level(values: Floats) -> tuple[str, ...]:
    """Return the note of an isotonic fit whose outputs are all the same; none where they differ."""
    if values.min() == values.max():
        return ("One level fits best: labels do not rise with the score, and every output is the same.",)
    return ()
