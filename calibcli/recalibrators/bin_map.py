"""A function that is constant on bins: what every discrete recalibrator looks up."""

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from calibcli.codec import Ascending, Between, Declared, Node, Size
from calibcli.recalibrators.interface import FittedBin
from calibcli.table.bins import bin_index
from calibcli.table.score_table import Floats, Integers, frozen


@dataclass(frozen=True, slots=True, eq=False)
class BinMap(Declared):
    """One value for each bin (edge_{k-1}, edge_k]."""

    edges: Annotated[
        Floats,
        Between(0.0, 1.0),
        Size(2),
        Ascending(strictly_from=1),
        "Ascending from 0 to 1; bin k is (edge k-1, edge k], the first closed on the left.",
    ]
    values: Annotated[Floats, Between(0.0, 1.0), Size(of="edges", less=1), "The output in each bin."]
    rows: Annotated[Integers, Size(of="edges", less=1), "Fit rows in each bin."]
    positive: Annotated[Integers, Size(of="edges", less=1), "Fit rows with label 1 in each bin."]

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", frozen(self.edges, np.float64))
        object.__setattr__(self, "values", frozen(self.values, np.float64))
        object.__setattr__(self, "rows", frozen(self.rows, np.int64))
        object.__setattr__(self, "positive", frozen(self.positive, np.int64))

    def __reduce__(self) -> tuple[type[Self], tuple[Floats, Floats, Integers, Integers]]:
        return type(self), (self.edges, self.values, self.rows, self.positive)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BinMap) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def check(self, node: Node) -> None:
        """Refuse edges that do not span the scores, and rows that no fit has."""
        if self.edges[0] != 0.0 or self.edges[-1] != 1.0:
            msg = "should begin with 0 and end with 1"
            raise node.child("edges").problem(msg)
        if not self.rows.any():
            msg = "should count at least one row"
            raise node.child("rows").problem(msg)
        for item, most in zip(node.child("positive").items(), self.rows.tolist(), strict=True):
            item.whole(0, most)

    def predict(self, scores: Floats) -> Floats:
        """Return the value of each score's bin; scores already checked."""
        found: Floats = self.values[bin_index(self.edges, scores)]
        return found

    @property
    def increasing(self) -> bool:
        """Whether no value is lower than the one before it."""
        return bool(np.all(self.values[1:] >= self.values[:-1]))

    @property
    def empty(self) -> int:
        """How many bins hold no fit rows."""
        return int(np.sum(self.rows == 0))

    @property
    def bins(self) -> tuple[FittedBin, ...]:
        """The bins one by one."""
        columns = (self.edges[:-1], self.edges[1:], self.values, self.rows, self.positive)
        return tuple(FittedBin(*row) for row in zip(*(column.tolist() for column in columns), strict=True))
