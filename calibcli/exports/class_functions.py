"""A map of several classes as the functions that the module of its method calls."""

from calibcli.errors import UsageProblem
from calibcli.exports.formula import Score
from calibcli.exports.maps import formulas_of
from calibcli.exports.python_text import PythonText, Style, array_literal, literal
from calibcli.recalibrators.classes.interface import ClassRecalibrator
from calibcli.recalibrators.classes.linear import Linear
from calibcli.recalibrators.classes.members import Members
from calibcli.recalibrators.classes.one_vs_one import OneVsOne
from calibcli.recalibrators.classes.one_vs_rest import OneVsRest
from calibcli.recalibrators.classes.temperature import ClassTemperature
from calibcli.recalibrators.classes.top_label import TopLabel
from calibcli.recalibrators.interface import Recalibrator
from calibcli.view_names import OutputSum


def class_functions(
    recalibrator: ClassRecalibrator, classes: tuple[str, ...], text: PythonText
) -> tuple[str, list[str]]:
    """
    Return which module calls a map, and what it calls.

    Args:
        recalibrator: The map.

        classes: What the classes are called.

        text: Writes the maps of single scores.

    Raises:
        UsageProblem: If a map of a single score cannot be written, or the method is not known.
    """
    match recalibrator:
        case ClassTemperature():
            return "softmax", _softmax(recalibrator, _divided(recalibrator, text.style))
        case Linear():
            return "softmax", _softmax(recalibrator, _linear(recalibrator, text.style))
        case OneVsRest(members=members, output_sum=output_sum):
            sums = f"SUM_TO_ONE = {output_sum is OutputSum.ONE}\n"
            return "one_vs_rest", [*_maps(members, text), sums]
        case TopLabel(members=members):
            return "top_label", _maps(members, text)
        case OneVsOne():
            return "one_vs_one", _pairs(recalibrator, text)
        case _:
            msg = f"a {recalibrator.name.value} map of {len(classes):,} classes cannot be exported"
            raise UsageProblem(msg, "use `calibcli apply`")


def _softmax(recalibrator: ClassTemperature | Linear, logits: str) -> list[str]:
    facts = f"LEAST = {literal(recalibrator.least)}\nKEEPS_PREDICTION = {recalibrator.keeps_prediction}\n"
    return [facts, logits]


def _divided(recalibrator: ClassTemperature, style: Style) -> str:
    number = literal(recalibrator.temperature)
    one_each = f"[one / {number} for one in logs]"
    return f"def _logits(logs):\n    return {one_each if style is Style.NUMBERS else f'logs / {number}'}\n"


def _linear(recalibrator: Linear, style: Style) -> str:
    arrays, full = style is Style.ARRAYS, recalibrator.weight.ndim == 2
    constants = (
        f"WEIGHT = {array_literal(recalibrator.weight, style)}\n"
        f"INTERCEPT = {array_literal(recalibrator.intercept, style)}\n"
    )
    if arrays:
        body = "logs @ WEIGHT.T + INTERCEPT" if full else "logs * WEIGHT + INTERCEPT"
    elif full:
        body = "[sum(w * one for w, one in zip(row, logs)) + b for row, b in zip(WEIGHT, INTERCEPT)]"
    else:
        body = "[w * one + b for w, one, b in zip(WEIGHT, logs, INTERCEPT)]"
    return f"{constants}\n\ndef _logits(logs):\n    return {body}\n"


def _maps(members: Members, text: PythonText) -> list[str]:
    """Return a function for each map, and the tuple of those of all classes."""
    names: dict[int, str] = {}
    functions = []
    for place in range(len(members.classes)):
        one = members.of(place)
        if id(one) not in names:
            names[id(one)] = f"_map_{len(names) + 1}"
            functions.append(_function(names[id(one)], one, text))
    listed = "".join(f"{names[id(members.of(place))]}, " for place in range(len(members.classes)))
    return [*functions, f"_MAPS = ({listed.rstrip()})\n"]


def _pairs(recalibrator: OneVsOne, text: PythonText) -> list[str]:
    functions, listed = [], ""
    for place, (pair, one) in enumerate(recalibrator.pairs.items()):
        functions.append(_function(f"_map_{place + 1}", one, text))
        listed += f"    {pair!r}: _map_{place + 1},\n"
    return [*functions, f"_PAIRS = {{\n{listed}}}\n"]


def _function(name: str, one: Recalibrator, text: PythonText) -> str:
    return text.function(name, formulas_of(one, Score())[0])
