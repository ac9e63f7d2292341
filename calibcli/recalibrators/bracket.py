"""The pair of step functions that an inductive Venn-Abers predictor is."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calibcli.documents import Node, ascending, same_length
from calibcli.recalibrators.added_row import levels_with_one_more
from calibcli.table.score_table import Floats, ScoreTable, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Bracket:
    """
    The isotonic level of every score, had it come with one more row of label 0, or of label 1.

    Args:
        first: The scores from which a lower level holds, strictly ascending, shape (n_lower,).

        lower: That level, in (0, 1); it is 0 below `first[0]`.

        last: The scores up to which an upper level holds, strictly ascending, shape (n_upper,).

        upper: That level, in (0, 1); it is 1 above `last[-1]`.
    """

    first: Floats
    lower: Floats
    last: Floats
    upper: Floats

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

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """
        Restore what `to_dict` returned.

        Raises:
            DocumentProblem: If no fit can have written this, with the place.
        """
        node.only(*cls.__slots__)
        columns = {name: node.child(name).numbers(0.0, 1.0) for name in cls.__slots__}
        for scores, levels in (("first", "lower"), ("last", "upper")):
            ascending(node.child(scores).items())
            ascending(node.child(levels).items())
            same_length(node.child(levels), len(columns[scores]), reason=f"as many as {node.path}.{scores}")
            for item in node.child(levels).items():
                if item.number() in {0.0, 1.0}:
                    msg = "should lie between 0 and 1"
                    raise item.problem(msg)
        if not any(columns.values()):
            msg = "holds no level"
            raise node.problem(msg)
        bracket = cls(**{name: np.array(column) for name, column in columns.items()})
        low, high = bracket.at_each(bracket.first)
        if np.any(low > high):
            msg = "should lie nowhere above the upper levels"
            raise node.child("lower").items()[int(np.argmax(low > high))].problem(msg)
        return bracket

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {name: getattr(self, name).tolist() for name in self.__slots__}

    def at_each(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return both levels at each score."""
        low = np.concatenate(([0.0], self.lower))[np.searchsorted(self.first, scores, side="right")]
        high = np.concatenate((self.upper, [1.0]))[np.searchsorted(self.last, scores, side="left")]
        return low, high
