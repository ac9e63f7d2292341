"""A map as an ONNX model, in double precision."""

from itertools import combinations
from types import ModuleType
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from calibcli.data.faults import SUM_TOLERANCE
from calibcli.errors import UsageProblem
from calibcli.export.maps import (
    Curve,
    Formula,
    Number,
    Operator,
    Origin,
    Pair,
    Pieces,
    Places,
    Score,
    Shift,
    Single,
    Steps,
    formulas_of,
    formulas_on,
    range_of,
)
from calibcli.names import OutputSum, Scale
from calibcli.stats.recalibrators import Recalibrator
from calibcli.stats.recalibrators.classes import ClassRecalibrator
from calibcli.stats.recalibrators.classes.linear import Linear
from calibcli.stats.recalibrators.classes.members import OneVsRest
from calibcli.stats.recalibrators.classes.one_vs_one import OneVsOne
from calibcli.stats.recalibrators.classes.temperature import ClassTemperature
from calibcli.stats.recalibrators.classes.top_label import TopLabel
from calibcli.stats.table import Floats
from calibcli.values import dataclass, field
from calibcli.version import __version__

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto

_PAIRS = {
    Operator.PLUS: "Add",
    Operator.MINUS: "Sub",
    Operator.TIMES: "Mul",
    Operator.OVER: "Div",
    Operator.LEAST: "Min",
    Operator.GREATEST: "Max",
}


# Twice how far from 1 a number is that single precision takes for 1.
_NEAR_ONE = 2.0**-23


@dataclass(slots=True)
class Graph:
    """A graph that grows: nodes in order, and their constants; names of values are `prefix` and a number."""

    prefix: str = "_"
    nodes: list["NodeProto"] = field(default_factory=list)
    constants: list["TensorProto"] = field(default_factory=list)
    _count: int = 0
    _known: dict[tuple[str, bytes], str] = field(default_factory=dict)

    def new(self) -> str:
        self._count += 1
        return f"{self.prefix}{self._count}"

    def op(self, kind: str, *inputs: str, called: str | None = None, **attributes: int) -> str:
        """Add a node with one output, named or not, and return the name of that."""
        from onnx import helper

        output = called or self.new()
        node = helper.make_node(kind, inputs, [output])
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

    def times(self, of: str, factor: float) -> str:
        return self._scaled("Mul", of, factor, factor - 1.0)

    def over(self, of: str, divisor: float) -> str:
        return self._scaled("Div", of, divisor, (1.0 - divisor) / divisor)

    def _scaled(self, kind: str, of: str, by: float, rest: float) -> str:
        """Return numbers scaled: onnxruntime takes what is 1 in single precision for 1, and leaves it out."""
        if by == 1.0 or abs(by - 1.0) > _NEAR_ONE:
            return self.op(kind, of, self.constant(by))
        return self.op("Add", of, self.op("Mul", of, self.constant(rest)))

    def of(self, formula: Formula, score: str) -> str:
        return _Formula(self, score).of(formula)


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
            case Pair():
                return self._pair(formula)
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

    def _pair(self, formula: Pair) -> str:
        match formula:
            case Pair(operator=Operator.TIMES, left=Number(value=value), right=of):
                return self.graph.times(self.part(of), value)
            case Pair(operator=Operator.TIMES, left=of, right=Number(value=value)):
                return self.graph.times(self.part(of), value)
            case Pair(operator=Operator.OVER, left=of, right=Number(value=value)):
                return self.graph.over(self.part(of), value)
            case Pair(operator=operator, left=left, right=right):
                return self.graph.op(_PAIRS[operator], self.part(left), self.part(right))

    def _place(self, places: Places) -> str:
        if id(places) not in self.names:
            self.names[id(places)] = place_among(self.graph, self.part(places.of), places.starts)
        return self.names[id(places)]


def place_among(graph: Graph, which: str, starts: Floats) -> str:
    """Return the last place whose start is not above each number, 0 where there is none."""
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


# Types by their numbers in ONNX.
_INT64, _BOOL, _DOUBLE = 7, 9, 11

_SMALLEST = 2.0**-1022

# Times this, a number becomes the one before it.
_JUST_BELOW = 1.0 - 2.0**-53

_STATE = ("_full", "_shares", "_had", "_new", "_most")


def top_label(graph: Graph, before: str, *, predicted: str, confidence: str, count: int) -> str:
    """Return rows whose predicted class has the new confidence, as `TopLabel.predict` does."""
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
    most = graph.times(new, _JUST_BELOW)
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
    full = inside.op("Cast", "_full_in", to=_BOOL)
    taken = inside.op("ReduceSum", inside.op("Where", full, "_most_in", zero), axis, keepdims=1)
    left = inside.op("Sub", inside.op("Sub", one, "_new_in"), taken)
    total = inside.op("ReduceSum", inside.op("Where", full, zero, "_had_in"), axis, keepdims=1)
    divisor = inside.op("Where", inside.op("Greater", total, zero), total, one)
    scale = inside.op("Div", inside.op("Max", left, zero), divisor)
    inside.op("Where", full, "_most_in", inside.op("Mul", "_had_in", scale), called="_shares_out")
    over = inside.op("Greater", "_shares_out", "_most_in")
    inside.op("Cast", inside.op("Or", full, over), to=_DOUBLE, called="_full_out")
    for name in ("_go", "_had", "_new", "_most"):
        inside.op("Identity", f"{name}_in", called=f"{name}_out")
    value, widths = helper.make_tensor_value_info, dict(zip(_STATE, (count, count, count, 1, 1), strict=True))

    def state(end: str) -> list["ValueInfoProto"]:
        go = value(f"_go_{end}", TensorProto.BOOL, [])
        return [go, *(value(f"{name}_{end}", TensorProto.DOUBLE, ["N", k]) for name, k in widths.items())]

    given = [value("_round", TensorProto.INT64, []), *state("in")]
    return helper.make_graph(inside.nodes, "shares", given, state("out"), inside.constants)


def probabilities(graph: Graph, scores: str, scale: Scale) -> str:
    match scale:
        case Scale.PROB:
            return scores
        case Scale.LOGPROB:
            return graph.op("Exp", graph.op("Min", scores, graph.constant(700.0)))
        case Scale.PERCENT:
            return graph.op("Div", scores, graph.constant(100.0))
        case Scale.LOGIT:
            return softmax(graph, scores)


def refused_rows(graph: Graph, before: str) -> str:
    """Return which rows `apply` would refuse, shape (N,)."""
    inside = graph.op(
        "And",
        graph.op("GreaterOrEqual", before, graph.constant(0.0)),
        graph.op("LessOrEqual", before, graph.constant(1.0)),
    )
    least = graph.op(
        "ReduceMin", graph.op("Cast", inside, to=_INT64), graph.constant([1], np.int64), keepdims=0
    )
    total = graph.op("ReduceSum", before, graph.constant([1], np.int64), keepdims=0)
    off = graph.op("Abs", graph.op("Sub", total, graph.constant(1.0)))
    fine = graph.op("LessOrEqual", off, graph.constant(SUM_TOLERANCE))
    return graph.op("Not", graph.op("And", graph.op("Cast", least, to=_BOOL), fine))


def class_nodes(recalibrator: ClassRecalibrator, graph: Graph, before: str, *, count: int) -> str:
    match recalibrator:
        case ClassTemperature(temperature=temperature, least=least):
            return softmax(graph, graph.over(_log(graph, before, least), temperature))
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
    """Return a model from scores, shape (N,), to probabilities, and to ends where there are some.

    A score that is NaN or out of range gets NaN.
    """
    helper, double = _onnx()
    formulas = formulas_on(recalibrator, origin.scale, shift)
    graph, (given, name) = Graph(), _checked(names)
    score = _as_double(graph, given, single=single)
    lowest, highest = range_of(origin.scale)
    below = graph.op("Less", score, graph.constant(lowest))
    above = graph.op("Greater", score, graph.constant(highest))
    refused = graph.op("Or", graph.op("Or", below, above), graph.op("IsNaN", score))
    outputs = []
    for one, formula in zip((name, f"{name}_lower", f"{name}_upper"), formulas, strict=False):
        graph.op("Where", refused, graph.constant(np.nan), graph.of(formula, score), called=one)
        outputs.append(helper.make_tensor_value_info(one, double, ["N"]))
    return _model(graph, _input(given, ["N"], single=single), outputs, origin=origin)


def model_of_classes(
    recalibrator: ClassRecalibrator,
    *,
    origin: Origin,
    names: tuple[str, str],
    single: bool = False,
) -> bytes:
    """Return a model from rows of scores, shape (N, K), to probabilities, (N, K), and the class of most.

    NAME_class is a place in the order of the classes, which the model's metadata list; NAME_confidence is its
    probability. A row that `apply` would refuse gets NaN, and the place -1.
    """
    helper, double = _onnx()
    from onnx import TensorProto

    graph, (given, name) = Graph(), _checked(names)
    count = len(origin.classes)
    before = probabilities(graph, _as_double(graph, given, single=single), origin.scale)
    after = class_nodes(recalibrator, graph, before, count=count)
    refused = refused_rows(graph, before)
    column = graph.op("Unsqueeze", refused, graph.constant([1], np.int64))
    graph.op("Where", column, graph.constant(np.nan), after, called=name)
    judged = before if recalibrator.keeps_prediction else after
    largest = graph.op("ArgMax", judged, axis=1, keepdims=0)
    graph.op("Where", refused, graph.constant(-1, np.int64), largest, called=f"{name}_class")
    graph.op("ReduceMax", name, graph.constant([1], np.int64), called=f"{name}_confidence", keepdims=0)
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
        raise UsageProblem(msg, "pip install '.[onnx]'") from None
    return helper, int(TensorProto.DOUBLE)


# What the names of outputs end in, where there are several.
_ENDS = ("", "_lower", "_upper", "_class", "_confidence")


def _checked(names: tuple[str, str]) -> tuple[str, str]:
    """Refuse names that would meet each other, or those of the values inside."""
    given, name = names
    meet = given in {f"{name}{end}" for end in _ENDS}
    if meet or not given or not name or given.startswith("_") or name.startswith("_"):
        msg = f"input {given!r} and output {name!r}"
        raise UsageProblem(msg, "give them different names with --score and --name, that begin with a letter")
    return names


def _as_double(graph: Graph, given: str, *, single: bool) -> str:
    return graph.op("Cast", given, to=_DOUBLE) if single else given


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
