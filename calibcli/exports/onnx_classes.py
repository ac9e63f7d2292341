"""Maps of several classes as nodes of an ONNX graph: rows of shape (N, K) in and out."""

from itertools import combinations
from typing import Any

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.exports.formula import Score
from calibcli.exports.maps import formulas_of
from calibcli.exports.onnx_graph import Graph
from calibcli.exports.onnx_top_label import top_label
from calibcli.names import Scale
from calibcli.recalibrators.classes.interface import ClassRecalibrator
from calibcli.recalibrators.classes.linear import Linear
from calibcli.recalibrators.classes.one_vs_one import OneVsOne
from calibcli.recalibrators.classes.one_vs_rest import OneVsRest
from calibcli.recalibrators.classes.temperature import ClassTemperature
from calibcli.recalibrators.classes.top_label import TopLabel
from calibcli.recalibrators.interface import Recalibrator
from calibcli.view_names import OutputSum

_MOST_OFF = 1e-3
# Types by their numbers in ONNX.
_INT64, _BOOL = 7, 9


def probabilities(graph: Graph, scores: str, scale: Scale) -> str:
    """Return what rows of scores say as probabilities."""
    match scale:
        case Scale.PROB:
            return scores
        case Scale.LOGPROB:
            return graph.op("Exp", graph.op("Min", scores, graph.constant(700.0)))
        case Scale.LOGIT:
            return softmax(graph, scores)


def refused_rows(graph: Graph, before: str) -> str:
    """Return which rows `apply` would refuse, shape (N,)."""
    inside = graph.op(
        "And",
        graph.op("GreaterOrEqual", before, graph.constant(0.0)),
        graph.op("LessOrEqual", before, graph.constant(1.0)),
    )
    least = graph.op("ReduceMin", graph.cast(inside, _INT64), graph.constant([1], np.int64), keepdims=0)
    total = graph.op("ReduceSum", before, graph.constant([1], np.int64), keepdims=0)
    off = graph.op("Abs", graph.op("Sub", total, graph.constant(1.0)))
    fine = graph.op("LessOrEqual", off, graph.constant(_MOST_OFF))
    return graph.op("Not", graph.op("And", graph.cast(least, _BOOL), fine))


def class_nodes(recalibrator: ClassRecalibrator, graph: Graph, before: str, *, count: int) -> str:
    """
    Return recalibrated rows.

    Args:
        recalibrator: The fitted map.

        graph: Where the nodes go.

        before: The name of rows of probabilities.

        count: How many classes there are.

    Raises:
        UsageProblem: If a map of a single score cannot be written, or the method is not known.
    """
    match recalibrator:
        case ClassTemperature(temperature=temperature, least=least):
            return softmax(graph, graph.op("Div", _log(graph, before, least), graph.constant(temperature)))
        case Linear(weight=weight, intercept=intercept, least=least):
            log = _log(graph, before, least)
            slope = graph.op("MatMul", log, graph.constant(weight.T)) if weight.ndim == 2 else None
            slope = slope or graph.op("Mul", log, graph.constant(weight))
            return softmax(graph, graph.op("Add", slope, graph.constant(intercept)))
        case OneVsRest(members=members, output_sum=output_sum):
            columns = [_column(graph, before, place) for place in range(count)]
            after = [_one(graph, members.of(place), column) for place, column in enumerate(columns)]
            rows = _rows(graph, after)
            return _divided(graph, rows, before) if output_sum is OutputSum.ONE else rows
        case TopLabel(members=members):
            predicted = graph.op("ArgMax", before, axis=1, keepdims=0)
            largest = graph.op("ReduceMax", before, graph.constant([1], np.int64), keepdims=0)
            confidence = _of_predicted(
                graph, [members.of(place) for place in range(count)], predicted, largest
            )
            return top_label(graph, before, predicted=predicted, confidence=confidence, count=count)
        case OneVsOne():
            return _one_vs_one(recalibrator, graph, before, count=count)
        case _:
            msg = f"a {recalibrator.name.value} map of {count:,} classes cannot be exported"
            raise UsageProblem(msg, "use `calibcli apply`")


def softmax(graph: Graph, logits: str) -> str:
    """Return rows of probabilities; an infinite logit is certain."""
    axis = graph.constant([1], np.int64)
    top = graph.op("ReduceMax", logits, axis, keepdims=1)
    shifted = graph.op("Sub", logits, top)
    power = graph.op("Where", graph.op("Equal", logits, top), graph.constant(1.0), graph.op("Exp", shifted))
    return graph.op("Div", power, graph.op("ReduceSum", power, axis, keepdims=1))


def _log(graph: Graph, before: str, least: float) -> str:
    return graph.op("Log", graph.op("Max", before, graph.constant(least)))


def _column(graph: Graph, rows: str, place: int) -> str:
    return graph.op("Gather", rows, graph.constant(place, np.int64), axis=1)


def _rows(graph: Graph, columns: list[str]) -> str:
    axis = graph.constant([1], np.int64)
    return graph.op("Concat", *(graph.op("Unsqueeze", column, axis) for column in columns), axis=1)


def _one(graph: Graph, recalibrator: Recalibrator, score: str) -> str:
    return graph.of(formulas_of(recalibrator, Score())[0], score)


def _divided(graph: Graph, after: str, before: str) -> str:
    """Return rows divided by their sums; rows of nothing stay as they were."""
    axis = graph.constant([1], np.int64)
    total = graph.op("ReduceSum", after, axis, keepdims=1)
    nothing = graph.op("LessOrEqual", total, graph.constant(0.0))
    rows = graph.op("Where", nothing, before, after)
    return graph.op(
        "Div", rows, graph.op("Where", nothing, graph.op("ReduceSum", before, axis, keepdims=1), total)
    )


def _of_predicted(graph: Graph, maps: list[Recalibrator], predicted: str, largest: str) -> str:
    """Return the new confidence, each by the map of its class."""
    made: dict[int, str] = {}
    found: str | None = None
    for place, one in enumerate(maps):
        if id(one) not in made:
            made[id(one)] = _one(graph, one, largest)
        here = graph.op("Equal", predicted, graph.constant(place, np.int64))
        found = made[id(one)] if found is None else graph.op("Where", here, made[id(one)], found)
    return found or largest


def _one_vs_one(recalibrator: OneVsOne, graph: Graph, before: str, *, count: int) -> str:
    one, zero = graph.constant(1.0), graph.constant(0.0)
    columns = [_column(graph, before, place) for place in range(count)]
    inverse: list[Any] = [zero] * count
    for first, second in combinations(range(count), 2):
        both = graph.op("Add", columns[first], columns[second])
        some = graph.op("Greater", both, zero)
        divisor = graph.op("Where", some, both, one)
        share = graph.op("Where", some, graph.op("Div", columns[first], divisor), graph.constant(0.5))
        fitted = recalibrator.pairs.get((first, second))
        ahead = share if fitted is None else _one(graph, fitted, share)
        inverse[first] = graph.op("Add", inverse[first], graph.op("Div", one, ahead))
        rest = graph.op("Sub", one, ahead)
        inverse[second] = graph.op("Add", inverse[second], graph.op("Div", one, rest))
    known = graph.constant(count - 2.0)
    after = [graph.op("Div", one, graph.op("Sub", part, known)) for part in inverse]
    return _divided(graph, _rows(graph, after), before)
