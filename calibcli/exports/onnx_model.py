"""A map as an ONNX model."""

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.exports.formula import Score
from calibcli.exports.maps import Shift, formulas_on
from calibcli.exports.onnx_classes import class_nodes, probabilities, refused_rows
from calibcli.exports.onnx_graph import Graph
from calibcli.exports.origin import Origin
from calibcli.exports.scales import range_of
from calibcli.recalibrators.classes.interface import ClassRecalibrator
from calibcli.recalibrators.interface import Recalibrator
from calibcli.version import __version__

if TYPE_CHECKING:
    from onnx import ValueInfoProto

# Every operator that is used has taken doubles since then; onnxruntime 1.14 and newer read it.
OPSET = 18
IR_VERSION = 8


def model_of_one(
    recalibrator: Recalibrator,
    *,
    origin: Origin,
    names: tuple[str, str],
    shift: Shift | None = None,
    single: bool = False,
) -> bytes:
    """
    Return a model from scores, shape (N,), to their probabilities, and to the ends where there are some.

    A score that is NaN or out of range gets NaN.

    Args:
        recalibrator: The fitted map.

        origin: Where it comes from; its scale is that of the scores.

        names: What the input and the output are called.

        shift: Another base rate, or None.

        single: Whether scores come in single precision; they are worked on in double.

    Raises:
        UsageProblem: If the map is no function of the score, onnx is not installed, or both names are one.
    """
    helper, double = _onnx()
    formulas = formulas_on(recalibrator, Score(), scale=origin.scale, shift=shift)
    graph, (given, name) = Graph(), _checked(names)
    score = _as_double(graph, given, single=single)
    lowest, highest = range_of(origin.scale)
    below = graph.op("Less", score, graph.constant(lowest))
    above = graph.op("Greater", score, graph.constant(highest))
    refused = graph.op("Or", graph.op("Or", below, above), graph.op("IsNaN", score))
    outputs = []
    for one, formula in zip((name, f"{name}_lower", f"{name}_upper"), formulas, strict=False):
        graph.op("Where", refused, graph.constant(np.nan), graph.of(formula, score), to=one)
        outputs.append(helper.make_tensor_value_info(one, double, ["N"]))
    return _model(graph, _input(given, ["N"], single=single), outputs, origin=origin)


def model_of_classes(
    recalibrator: ClassRecalibrator,
    *,
    origin: Origin,
    names: tuple[str, str],
    single: bool = False,
) -> bytes:
    """
    Return a model from rows of scores, shape (N, K), to probabilities, shape (N, K), and the class of most.

    NAME_class is a place in the order of the classes, which the model's metadata list; NAME_confidence is its
    probability. A row that `apply` would refuse gets NaN, and the place -1.

    Args:
        recalibrator: The fitted map.

        origin: Where it comes from; its scale and classes are those of the scores.

        names: What the input and the output are called.

        single: Whether scores come in single precision; they are worked on in double.

    Raises:
        UsageProblem: If the map cannot be written, onnx is not installed, or both names are one.
    """
    helper, double = _onnx()
    from onnx import TensorProto

    graph, (given, name) = Graph(), _checked(names)
    count = len(origin.classes)
    before = probabilities(graph, _as_double(graph, given, single=single), origin.scale)
    after = class_nodes(recalibrator, graph, before, count=count)
    refused = refused_rows(graph, before)
    column = graph.op("Unsqueeze", refused, graph.constant([1], np.int64))
    graph.op("Where", column, graph.constant(np.nan), after, to=name)
    judged = before if recalibrator.keeps_prediction else after
    largest = graph.op("ArgMax", judged, axis=1, keepdims=0)
    graph.op("Where", refused, graph.constant(-1, np.int64), largest, to=f"{name}_class")
    graph.op("ReduceMax", name, graph.constant([1], np.int64), to=f"{name}_confidence", keepdims=0)
    outputs = [
        helper.make_tensor_value_info(name, double, ["N", count]),
        helper.make_tensor_value_info(f"{name}_class", TensorProto.INT64, ["N"]),
        helper.make_tensor_value_info(f"{name}_confidence", double, ["N"]),
    ]
    return _model(graph, _input(given, ["N", count], single=single), outputs, origin=origin)


def _onnx() -> tuple[ModuleType, int]:
    try:
        from onnx import TensorProto, helper
    except ImportError:
        msg = "onnx is not installed"
        raise UsageProblem(msg, "pip install 'calibcli[onnx]'") from None
    return helper, int(TensorProto.DOUBLE)


def _checked(names: tuple[str, str]) -> tuple[str, str]:
    """Refuse names that would meet each other, or those of the values inside."""
    given, name = names
    if not given or not name or given.startswith((name, "_")) or name.startswith("_"):
        msg = f"input {given!r} and output {name!r}"
        raise UsageProblem(msg, "give them different names with --score and --name, that begin with a letter")
    return names


def _as_double(graph: Graph, given: str, *, single: bool) -> str:
    from onnx import TensorProto

    return graph.cast(given, TensorProto.DOUBLE) if single else given


def _input(name: str, shape: list[str | int | None], *, single: bool) -> "ValueInfoProto":
    from onnx import TensorProto, helper

    kind = TensorProto.FLOAT if single else TensorProto.DOUBLE
    return helper.make_tensor_value_info(name, kind, shape)


def _model(
    graph: Graph, given: "ValueInfoProto", outputs: list["ValueInfoProto"], *, origin: Origin
) -> bytes:
    from onnx import checker, helper

    body = helper.make_graph(graph.nodes, "calibcli", [given], outputs, graph.constants)
    model = helper.make_model(
        body,
        producer_name="calibcli",
        producer_version=__version__,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    helper.set_model_props(model, origin.facts())
    checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))
