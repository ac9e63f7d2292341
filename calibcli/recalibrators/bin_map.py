"""A function that is constant on bins: what every discrete recalibrator looks up."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calibcli.documents import Node, ascending, same_length
from calibcli.recalibrators.interface import FittedBin
from calibcli.table.bins import bin_index
from calibcli.table.score_table import Floats, Integers, frozen


@dataclass(frozen=True, slots=True, eq=False)
class BinMap:
    """
    One value for each bin (edge_{k-1}, edge_k].

    Args:
        edges: Ascending from 0 to 1, shape (n_bins + 1,).

        values: The output in each bin, in [0, 1].

        rows: Fit rows in each bin.

        positive: Fit rows with label 1 in each bin.
    """

    edges: Floats
    values: Floats
    rows: Integers
    positive: Integers

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

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """Restore from the members `edges`, `values`, `rows` and `positive` of an object."""
        edges = node.child("edges")
        points = edges.numbers(0.0, 1.0)
        if len(points) < 2 or points[0] != 0.0 or points[-1] != 1.0:
            msg = "should begin with 0 and end with 1"
            raise edges.problem(msg)
        # A first bin of exactly {0} has both its edges at 0.
        ascending(edges.items(), strictly_from=1)
        reason = f"one less than {edges.path}"
        for key in ("values", "rows", "positive"):
            same_length(node.child(key), len(points) - 1, reason=reason)
        rows = node.child("rows").wholes()
        if not any(rows):
            msg = "should count at least one row"
            raise node.child("rows").problem(msg)
        positive = [
            item.whole(0, most) for item, most in zip(node.child("positive").items(), rows, strict=True)
        ]
        values = node.child("values").numbers(0.0, 1.0)
        return cls(np.array(points), np.array(values), np.array(rows), np.array(positive))

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "edges": self.edges.tolist(),
            "values": self.values.tolist(),
            "rows": self.rows.tolist(),
            "positive": self.positive.tolist(),
        }

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
