"""Formulas as nodes of an ONNX graph, in double precision."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

import numpy as np

from calibcli.exports.formula import (
    Curve,
    Formula,
    Number,
    Operator,
    Pair,
    Pieces,
    Places,
    Score,
    Single,
    Steps,
)
from calibcli.table.score_table import Floats

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

_PAIRS = {
    Operator.PLUS: "Add",
    Operator.MINUS: "Sub",
    Operator.TIMES: "Mul",
    Operator.OVER: "Div",
    Operator.LEAST: "Min",
    Operator.GREATEST: "Max",
}


@dataclass(slots=True)
class Graph:
    """
    A graph that grows: nodes in order, and the constants that they take.

    Args:
        prefix: What the names of values begin with, and a number follows.
    """

    prefix: str = "_"
    nodes: list["NodeProto"] = field(default_factory=list)
    constants: list["TensorProto"] = field(default_factory=list)
    _count: int = 0
    _known: dict[tuple[str, bytes], str] = field(default_factory=dict)

    def new(self) -> str:
        """Return a name that nothing has."""
        self._count += 1
        return f"{self.prefix}{self._count}"

    def op(self, kind: str, *inputs: str, to: str | None = None, **attributes: int) -> str:
        """Add a node with one output, named or not, and return the name of that."""
        from onnx import helper

        output = to or self.new()
        node = helper.make_node(kind, list(inputs), [output])
        node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
        self.nodes.append(node)
        return output

    def constant(self, values: object, kind: type[np.generic] = np.float64) -> str:
        """Return the name of a constant; the same is kept once."""
        from onnx import numpy_helper

        array = np.asarray(values, kind)
        key = (f"{array.dtype}{array.shape}", array.tobytes())
        if key not in self._known:
            self._known[key] = self.new()
            self.constants.append(numpy_helper.from_array(array, self._known[key]))
        return self._known[key]

    def of(self, formula: Formula, score: str) -> str:
        """
        Return the name of what a formula makes of each score.

        Args:
            formula: The formula.

            score: The name of the scores, shape (n,).
        """
        return _Formula(self, score).of(formula)

    def cast(self, value: str, kind: int, *, to: str | None = None) -> str:
        """Return the name of a value as another type, by its number in ONNX."""
        from onnx import helper

        output = to or self.new()
        self.nodes.append(helper.make_node("Cast", [value], [output], to=kind))
        return output


class _Formula:
    """A formula on its way into a graph; what it uses twice is worked out once."""

    def __init__(self, graph: Graph, score: str) -> None:
        self.graph = graph
        self.score = score
        self.names: dict[int, str] = {}

    def of(self, formula: Formula) -> str:
        found = self.part(formula)
        if not isinstance(formula, Number):
            return found
        # A constant as long as the scores.
        return self.graph.op("Expand", found, self.graph.op("Shape", self.score))

    def part(self, formula: Formula) -> str:
        if id(formula) not in self.names:
            self.names[id(formula)] = self._added(formula)
        return self.names[id(formula)]

    def _added(self, formula: Formula) -> str:
        graph = self.graph
        match formula:
            case Score():
                return self.score
            case Number(value=value):
                return graph.constant(value)
            case Pair(operator=operator, left=left, right=right):
                return graph.op(_PAIRS[operator], self.part(left), self.part(right))
            case Single(curve=curve, of=inner):
                return graph.op("Log" if curve is Curve.LOG else "Exp", self.part(inner))
            case Pieces(of=inner, cuts=cuts, parts=parts):
                which, found = self.part(inner), self.part(parts[-1])
                for cut, part in zip(reversed(cuts), reversed(parts[:-1]), strict=True):
                    below = graph.op("Less", which, graph.constant(cut))
                    found = graph.op("Where", below, self.part(part), found)
                return found
            case Steps(places=places, values=values):
                return graph.op("Gather", graph.constant(values), self._place(places))
            case _:
                assert_never(formula)

    def _place(self, places: Places) -> str:
        """Return the interval of each number, found by halving."""
        if id(places) not in self.names:
            self.names[id(places)] = place_among(self.graph, self.part(places.of), places.starts)
        return self.names[id(places)]


def place_among(graph: Graph, which: str, starts: Floats) -> str:
    """
    Return the last place whose start is not above each number, 0 where there is none.

    Args:
        graph: Where the nodes go.

        which: The name of the numbers, shape (n,).

        starts: Strictly ascending.
    """
    bits = int(starts.size).bit_length()
    padded = np.concatenate((starts, np.full((1 << bits) - 1 - starts.size, np.inf)))
    table = graph.constant(padded)
    found = graph.constant(0, np.int64)
    for bit in reversed(range(bits)):
        ahead = graph.op("Add", found, graph.constant(1 << bit, np.int64))
        start = graph.op("Gather", table, graph.op("Sub", ahead, graph.constant(1, np.int64)))
        found = graph.op("Where", graph.op("Less", which, start), found, ahead)
    before = graph.op("Sub", found, graph.constant(1, np.int64))
    # NaN is below nothing, and ends beyond the last.
    last = graph.constant(starts.size - 1, np.int64)
    return graph.op("Max", graph.op("Min", before, last), graph.constant(0, np.int64))
