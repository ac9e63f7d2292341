"""A new confidence for the predicted class as nodes of an ONNX graph, the others sharing what is left."""

from typing import TYPE_CHECKING

import numpy as np

from calibcli.exports.onnx_graph import Graph

if TYPE_CHECKING:
    from onnx import GraphProto, ValueInfoProto

_BOOL = 9
_DOUBLE = 11
_SMALLEST = 2.2250738585072014e-308
# Times this, a number becomes the one before it.
_JUST_BELOW = 1.0 - 2.0**-53
_STATE = ("_full", "_shares", "_had", "_new", "_most")


def top_label(graph: Graph, before: str, *, predicted: str, confidence: str, count: int) -> str:
    """
    Return rows whose predicted class has the new confidence, as `TopLabel.predict` does.

    Args:
        graph: Where the nodes go.

        before: The name of rows of probabilities, shape (N, K).

        predicted: Of the place of the predicted class, shape (N,).

        confidence: Of the new confidence, shape (N,).

        count: How many classes there are.
    """
    axis, zero, one = graph.constant([1], np.int64), graph.constant(0.0), graph.constant(1.0)
    new = graph.op("Unsqueeze", confidence, axis)
    own = graph.op(
        "Equal", graph.op("Unsqueeze", predicted, axis), graph.constant(np.arange(count), np.int64)
    )
    others = graph.op("Where", own, zero, before)
    none = graph.op("LessOrEqual", graph.op("ReduceSum", others, axis, keepdims=1), zero)
    rest = graph.op("Where", none, graph.op("Where", own, zero, one), others)
    total = graph.op("ReduceSum", rest, axis, keepdims=1)
    shared = graph.op("Mul", graph.op("Div", rest, total), graph.op("Sub", one, new))
    most = graph.op("Mul", new, graph.constant(_JUST_BELOW))
    crowded = graph.op(
        "And",
        graph.op("Greater", graph.op("ReduceMax", shared, axis, keepdims=1), most),
        graph.op("GreaterOrEqual", graph.op("Mul", new, graph.constant(float(count))), one),
    )
    had = graph.op("Where", own, zero, graph.op("Max", rest, graph.constant(_SMALLEST)))
    result = graph.op("Where", crowded, _capped(graph, had, new, most, count=count), shared)
    return graph.op("Where", own, new, result)


def _capped(graph: Graph, had: str, new: str, most: str, *, count: int) -> str:
    """Return shares in proportion, none above a limit, after as many rounds as there can be full classes."""
    from onnx import helper

    nothing = graph.op("Mul", had, graph.constant(0.0))
    rounds, start = graph.constant(count, np.int64), graph.constant(True, np.bool_)
    outputs = [graph.new() for _ in _STATE]
    given = [rounds, start, nothing, nothing, had, new, most]
    graph.nodes.append(helper.make_node("Loop", given, outputs, body=_round(count)))
    return outputs[1]


def _round(count: int) -> "GraphProto":
    """Return one round: classes above the limit get it, and the others share what is left."""
    from onnx import TensorProto, helper

    inside = Graph("_c")
    zero, one, axis = inside.constant(0.0), inside.constant(1.0), inside.constant([1], np.int64)
    full = inside.cast("_full_in", _BOOL)
    taken = inside.op("ReduceSum", inside.op("Where", full, "_most_in", zero), axis, keepdims=1)
    left = inside.op("Sub", inside.op("Sub", one, "_new_in"), taken)
    total = inside.op("ReduceSum", inside.op("Where", full, zero, "_had_in"), axis, keepdims=1)
    divisor = inside.op("Where", inside.op("Greater", total, zero), total, one)
    scale = inside.op("Div", inside.op("Max", left, zero), divisor)
    inside.op("Where", full, "_most_in", inside.op("Mul", "_had_in", scale), to="_shares_out")
    over = inside.op("Greater", "_shares_out", "_most_in")
    inside.cast(inside.op("Or", full, over), _DOUBLE, to="_full_out")
    for name in ("_go", "_had", "_new", "_most"):
        inside.op("Identity", f"{name}_in", to=f"{name}_out")
    value, widths = helper.make_tensor_value_info, dict(zip(_STATE, (count, count, count, 1, 1), strict=True))

    def state(end: str) -> list["ValueInfoProto"]:
        go = value(f"_go_{end}", TensorProto.BOOL, [])
        return [go, *(value(f"{name}_{end}", TensorProto.DOUBLE, ["N", k]) for name, k in widths.items())]

    given = [value("_round", TensorProto.INT64, []), *state("in")]
    return helper.make_graph(inside.nodes, "shares", given, state("out"), inside.constants)
