"""The pair of step functions that an inductive Venn-Abers predictor is."""

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from calibcli.codec import Ascending, Between, Declared, Node, Size
from calibcli.recalibrators.added_row import levels_with_one_more
from calibcli.table.score_table import Floats, ScoreTable, frozen

_INSIDE = Between(0.0, 1.0, inside=True)


@dataclass(frozen=True, slots=True, eq=False)
class Bracket(Declared):
    """The isotonic level of every score, had it come with one more row of label 0, or of label 1."""

    first: Annotated[Floats, Between(0.0, 1.0), Ascending(), "The scores from which a lower level holds."]
    lower: Annotated[Floats, _INSIDE, Ascending(), Size(of="first"), "That level; it is 0 below the first."]
    last: Annotated[Floats, Between(0.0, 1.0), Ascending(), "The scores up to which an upper level holds."]
    upper: Annotated[Floats, _INSIDE, Ascending(), Size(of="last"), "That level; it is 1 above the last."]

    def __post_init__(self) -> None:
        for name in self.__slots__:
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))

    def __reduce__(self) -> tuple[type[Self], tuple[Floats, Floats, Floats, Floats]]:
        return type(self), (self.first, self.lower, self.last, self.upper)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bracket) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(cls, table: ScoreTable) -> Self:
        """
        Find both levels of every score; equal neighbours are kept once.

        Args:
            table: The calibration rows, without importance weights; at least one.
        """
        lower, upper = levels_with_one_more(table.rows, table.positive_rows)
        rises = lower > np.concatenate(([0.0], lower[:-1]))
        ends = upper < np.concatenate((upper[1:], [1.0]))
        return cls(table.score[rises], lower[rises], table.score[ends], upper[ends])

    def check(self, node: Node) -> None:
        """Refuse a pair without a level, and lower levels above the upper ones."""
        if not self.first.size and not self.last.size:
            msg = "holds no level"
            raise node.problem(msg)
        low, high = self.at_each(self.first)
        if np.any(low > high):
            msg = "should lie nowhere above the upper levels"
            raise node.child("lower").items()[int(np.argmax(low > high))].problem(msg)

    def at_each(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return both levels at each score."""
        low = np.concatenate(([0.0], self.lower))[np.searchsorted(self.first, scores, side="right")]
        high = np.concatenate((self.upper, [1.0]))[np.searchsorted(self.last, scores, side="left")]
        return low, high
