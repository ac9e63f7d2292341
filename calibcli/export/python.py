"""A map as a Python module: of the standard library alone, of numpy, or a scikit-learn estimator."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from importlib.resources import files
from textwrap import fill
from typing import assert_never

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.export.maps import (
    Curve,
    Formula,
    GroupMaps,
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
    formula_of_segments,
    formulas_of,
    formulas_on,
    parts_of,
    range_of,
)
from calibcli.names import MISSING, OnUnseen, OutputSum
from calibcli.stats.recalibrators import Recalibrator
from calibcli.stats.recalibrators.classes import ClassRecalibrator
from calibcli.stats.recalibrators.classes.linear import Linear
from calibcli.stats.recalibrators.classes.members import Members, OneVsRest
from calibcli.stats.recalibrators.classes.one_vs_one import OneVsOne
from calibcli.stats.recalibrators.classes.temperature import ClassTemperature
from calibcli.stats.recalibrators.classes.top_label import TopLabel
from calibcli.stats.recalibrators.segments import SegmentMap
from calibcli.stats.table import Floats
from calibcli.values import dataclass, field

_WIDTH = 100
# What the curve of a map by segments is given beside the score.
_OF_SEGMENTS = ("offset", "slope")


class Style(Enum):
    """What a function works on, by what the names of its templates begin with."""

    NUMBERS = "python"
    ARRAYS = "sklearn"


# The functions of two numbers, of numbers and of arrays; others are operators.
_CALLED = {Operator.LEAST: ("min", "np.minimum"), Operator.GREATEST: ("max", "np.maximum")}


@dataclass(slots=True)
class PythonText:
    """Functions, and the constants that they look up."""

    style: Style
    constants: list[Floats] = field(default_factory=list)

    def function(self, name: str, formula: Formula, *more: str) -> str:
        """Return a function of one score, and perhaps more; what is used twice is worked out once."""
        return _Function(self, formula).text(name, *more)

    def constant(self, values: Floats) -> str:
        for place, one in enumerate(self.constants):
            if one is values or np.array_equal(one, values):
                return f"_KNOTS_{place + 1}"
        self.constants.append(values)
        return f"_KNOTS_{len(self.constants)}"

    def definitions(self) -> str:
        return "".join(
            f"_KNOTS_{place + 1} = {array_literal(one, self.style)}\n"
            for place, one in enumerate(self.constants)
        )


class _Function:
    """One function: its lines, and the names of what is worked out once."""

    def __init__(self, owner: PythonText, formula: Formula) -> None:
        self.owner, self.arrays = owner, owner.style is Style.ARRAYS
        self.formula = formula
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.uses: Counter[int] = Counter()
        self._count(formula)

    def text(self, name: str, *more: str) -> str:
        found = self._of(self.formula)
        if isinstance(self.formula, Number) and self.arrays:
            found = f"np.full(np.shape(score), {found})"
        body = "\n".join(f"    {line}" for line in (*self.lines, f"return {found}"))
        return f"def {name}({', '.join(('score', *more))}):\n{body}\n"

    def _count(self, formula: Formula) -> None:
        self.uses[id(formula)] += 1
        if self.uses[id(formula)] > 1:
            return
        for part in parts_of(formula):
            self._count(part)
        if isinstance(formula, Steps):
            self.uses[id(formula.places)] += 1

    def _of(self, formula: Formula) -> str:
        if id(formula) in self.names:
            return self.names[id(formula)]
        text = self._text(formula)
        if self.uses[id(formula)] < 2 or isinstance(formula, (Score, Number)):
            return text
        return self._named(formula, text)

    def _named(self, what: Formula | Places, text: str) -> str:
        name = f"v{len(self.names) + 1}"
        self.names[id(what)] = name
        self.lines.append(f"{name} = {text}")
        return name

    def _text(self, formula: Formula) -> str:
        match formula:
            case Score(place=place):
                return ("score", *_OF_SEGMENTS)[place]
            case Number(value=value):
                return literal(value)
            case Pair():
                return self._pair(formula)
            case Single(curve=curve, of=inner):
                word = "log" if curve is Curve.LOG else "exp"
                return f"{'np.' if self.arrays else ''}{word}({self._of(inner)})"
            case Pieces():
                return self._pieces(formula)
            case Steps(places=places, values=values):
                return f"{self.owner.constant(values)}[{self._place(places)}]"
            case _:
                assert_never(formula)

    def _pair(self, formula: Pair) -> str:
        left, right = self._of(formula.left), self._of(formula.right)
        if formula.operator in _CALLED:
            return f"{_CALLED[formula.operator][self.arrays]}({left}, {right})"
        return f"({left} {formula.operator.value} {right})"

    def _pieces(self, formula: Pieces) -> str:
        which = self._of(formula.of)
        *parts, found = (self._of(part) for part in formula.parts)
        if self.arrays and not parts:
            return found
        for cut, part in zip(reversed(formula.cuts), reversed(parts), strict=True):
            test = f"{which} < {literal(cut)}"
            either = f"np.where({test}, {part}, {found})"
            found = either if self.arrays else f"({part} if {test} else {found})"
        return found

    def _place(self, places: Places) -> str:
        if id(places) in self.names:
            return self.names[id(places)]
        starts, which = self.owner.constant(places.starts), self._of(places.of)
        text = f"bisect_right({starts}, {which}) - 1"
        if self.arrays:
            text = f'np.searchsorted({starts}, {which}, side="right") - 1'
        return text if self.uses[id(places)] < 2 else self._named(places, text)


def literal(value: float) -> str:
    """Return a number as Python reads it back."""
    return f'float("{value!r}")' if math.isinf(value) else repr(value + 0.0)


def array_literal(values: Floats, style: Style) -> str:
    """Return an array, of one or two dimensions."""
    if values.ndim == 2:
        listed = "".join(f"    {_tuple(row)},\n" for row in values)
        text = f"(\n{listed})"
    else:
        text = _tuple(values)
    return f"np.array({text})" if style is Style.ARRAYS else text


def _tuple(values: Floats) -> str:
    listed = ", ".join(literal(one) for one in values.tolist())
    if len(listed) <= _WIDTH - 20:
        return f"({listed},)"
    lines = fill(listed, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_long_words=False)
    return f"(\n{lines},\n)"


def class_functions(
    recalibrator: ClassRecalibrator, classes: tuple[str, ...], text: PythonText
) -> tuple[str, list[str]]:
    """Return which module calls a map, and what it calls."""
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


_PYTHON_HEAD = '''"""
{what}

Made by `calibcli export --to python`; ORIGIN says from what. It needs nothing but the standard library.
"""
'''

_SKLEARN_HEAD = '''"""
{what}

Made by `calibcli export --to sklearn`; ORIGIN says from what. It needs scikit-learn 1.6 or newer.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data
'''

_WHAT = {
    (Style.NUMBERS, False): "Recalibrated probabilities: `calibrate(score)`, and `calibrate_all(scores)`.",
    (Style.NUMBERS, True): "Recalibrated probabilities of several classes: `calibrate(row)`, `predict(row)`.",
    (Style.ARRAYS, False): "Recalibrated probabilities: `Calibrated().predict_proba(scores)`.",
    (Style.ARRAYS, True): "Recalibrated probabilities of classes: `Calibrated().predict_proba(scores)`.",
}

_WHAT_OF_SEGMENTS = "Recalibrated probabilities by segment: `calibrate(score, values)`, and `calibrate_all`."

_WHAT_OF_GROUPS = "Recalibrated probabilities by group: `calibrate(score, group)`, and `calibrate_all`."


def module_of_one(
    recalibrator: Recalibrator, *, origin: Origin, shift: Shift | None = None, style: Style
) -> str:
    formulas = formulas_on(recalibrator, origin.scale, shift)
    text = PythonText(style)
    names = ("_calibrated", "_lower", "_upper")
    functions = [text.function(name, formula) for name, formula in zip(names, formulas, strict=False)]
    word = style.value
    parts = [_template(f"{word}_one")]
    if style is Style.ARRAYS:
        parts += [_template("sklearn_meaning"), _template("sklearn_scores")]
    if len(formulas) > 1:
        parts.insert(0, _template(f"{word}_ends").rstrip() + "\n")
    if style is Style.NUMBERS:
        parts.append(_template("python_checked"))
    return _module(style, _facts(origin), [*parts, *functions], text=text, origin=origin)


def module_of_groups(groups: GroupMaps, *, origin: Origin) -> str:
    """Return a module that recalibrates a score by the map of its group, of the standard library alone."""
    text = PythonText(Style.NUMBERS)
    places = "".join(f"    {_quoted(group)}: {place},\n" for group, place in groups.places.items())
    facts = [
        *_facts(origin),
        f"UNSEEN = {(OnUnseen.POOLED if groups.pooled else OnUnseen.ERROR).value!r}\n",
        f"MISSING = {_quoted(MISSING)}\n",
        "# 0 is the map of all rows.\n",
        f"PLACES = {{\n{places}}}\n",
    ]
    found = groups.formulas(origin.scale)
    functions, listed = [], []
    for place, formulas in enumerate(found):
        names = [f"_{word}_{place}" for word, _ in zip(("map", "lower", "upper"), formulas, strict=False)]
        functions += [text.function(*one) for one in zip(names, formulas, strict=True)]
        listed.append(f"    ({', '.join(names)},),\n")
    parts = [_template("python_groups"), _template("python_times"), _template("python_checked")]
    if len(found[0]) > 1:
        parts.insert(0, _template("python_group_ends"))
    parts += [*functions, f"_MAPS = (\n{''.join(listed)})\n"]
    return _module(Style.NUMBERS, facts, parts, text=text, origin=origin)


def module_of_segments(found: SegmentMap, *, origin: Origin, style: Style) -> str:
    text = PythonText(Style.NUMBERS)
    columns = [
        f"    ({one.kind == 'numbers'}, ({''.join(f'{literal(at)}, ' for at in one.numbers)}),"
        f" {_texts(one.texts)}, {one.together}),\n"
        for one in found.columns
    ]
    terms = []
    for term in found.terms:
        pairs = zip(term.levels, term.coefficients, strict=True)
        inside = "".join(f"        {level!r}: {literal(value)},\n" for level, value in pairs)
        terms.append(f"    ({term.columns!r}, {term.slope}, {{\n{inside}    }}),\n")
    facts = [
        *_facts(origin),
        f"NAMES = {_texts(origin.on)}\n",
        "# Of each column: whether it is cut, numbers, texts, how many intervals are one in intersections.\n",
        f"COLUMNS = (\n{''.join(columns)})\n",
        f"INTERCEPT, SLOPE = {literal(found.intercept)}, {literal(found.slope)}\n",
        "# Of each term: its columns, whether it is a slope, and coefficients by the levels of these.\n",
        f"TERMS = (\n{''.join(terms)})\n",
    ]
    function = text.function("_calibrated", formula_of_segments(found, scale=origin.scale), *_OF_SEGMENTS)
    parts = [*map(_template, ("python_segments", "python_times", "python_checked")), function]
    if style is Style.ARRAYS:
        parts = [*map(_template, ("sklearn_segments", "sklearn_meaning", "sklearn_scores")), *parts]
    return _module(style, facts, parts, text=text, origin=origin)


def _texts(words: Sequence[str]) -> str:
    return f"({''.join(f'{_quoted(one)}, ' for one in words)})"


def _facts(origin: Origin) -> list[str]:
    lowest, highest = range_of(origin.scale)
    return [
        f"LOWEST, HIGHEST = {literal(lowest)}, {literal(highest)}\n",
        f"SCALE = {origin.scale.value!r}\n",
        f"POSITIVE = {_quoted(origin.positive)}\n",
    ]


def module_of_classes(recalibrator: ClassRecalibrator, *, origin: Origin, style: Style) -> str:
    text = PythonText(style)
    kind, functions = class_functions(recalibrator, origin.classes, text)
    facts = [f"CLASSES = {_texts(origin.classes)}\n", f"SCALE = {origin.scale.value!r}\n"]
    word = style.value
    names = ["sklearn_meaning"] if style is Style.ARRAYS else []
    parts = [*map(_template, (f"{word}_classes", *names, f"{word}_{kind}")), *functions]
    return _module(style, facts, parts, text=text, origin=origin)


def _module(style: Style, facts: list[str], parts: list[str], *, text: PythonText, origin: Origin) -> str:
    head = _PYTHON_HEAD if style is Style.NUMBERS else _SKLEARN_HEAD
    what = _WHAT[style, bool(origin.classes)]
    if origin.by is not None or origin.on:
        what = _WHAT_OF_GROUPS if origin.by is not None else _WHAT_OF_SEGMENTS
    listed = "".join(f"    {key!r}: {_quoted(value)},\n" for key, value in origin.facts().items())
    top = [head.format(what=what), "\n", f"ORIGIN = {{\n{listed}}}\n", *facts]
    body = text.definitions() + "\n\n" + "\n\n".join(part.rstrip() + "\n" for part in parts)
    # Segments are looked up row by row in an estimator, too.
    return top[0] + _imports(body, Style.NUMBERS if origin.on else style) + "".join(top[1:]) + body


def _imports(body: str, style: Style) -> str:
    if style is Style.ARRAYS:
        return ""
    used = [name for name in ("exp", "log", "nextafter") if re.search(rf"\b{name}\(", body)]
    search = [name for name in ("bisect_left", "bisect_right") if f"{name}(" in body]
    searched = f"from bisect import {', '.join(search)}\n" if search else ""
    taken = f"from math import {', '.join(used)}\n" if used else ""
    matched = "from re import compile\n" if " = compile(" in body else ""
    return f"\n{searched}{taken}{matched}" if searched or taken or matched else ""


def _template(name: str) -> str:
    return (files("calibcli.export") / "templates" / f"{name}.txt").read_text(encoding="utf-8")


def _quoted(text: str | None) -> str:
    """Return a literal of plain ASCII, whatever the text holds."""
    return ascii(text)
