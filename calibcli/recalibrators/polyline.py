"""A continuous function through a few points: what every interpolated recalibrator looks up."""

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from calibcli.codec import Ascending, Between, Declared, Size
from calibcli.table.ranks import ranks
from calibcli.table.score_table import Floats, frozen

# Scores worked on at once: they fit the processor's cache.
_CHUNK = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Polyline(Declared):
    """A continuous function: linear between knots, constant outside them."""

    knots: Annotated[
        Floats, Between(0.0, 1.0), Size(1), Ascending(), "Strictly ascending scores, shape (n_knots,)."
    ]
    values: Annotated[
        Floats,
        Between(0.0, 1.0),
        Size(of="knots"),
        Ascending(strictly_from=None),
        "What the function is there, never falling: linear between knots, constant outside them.",
    ]

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", frozen(self.knots, np.float64))
        object.__setattr__(self, "values", frozen(self.values, np.float64))

    def __reduce__(self) -> tuple[type[Self], tuple[Floats, Floats]]:
        return type(self), (self.knots, self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polyline) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

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
