"""Formulas in Python: of numbers with the standard library, or of arrays with numpy."""

import math
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto
from textwrap import fill
from typing import assert_never

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
    parts_of,
)
from calibcli.table.score_table import Floats

_WIDTH = 100


class Style(Enum):
    """What a function works on."""

    NUMBERS = auto()
    ARRAYS = auto()


@dataclass(slots=True)
class PythonText:
    """
    Functions, and the constants that they look up.

    Args:
        style: What functions work on.
    """

    style: Style
    constants: list[Floats] = field(default_factory=list)

    def function(self, name: str, formula: Formula) -> str:
        """Return a function of one score; what a formula uses twice is worked out once."""
        return _Function(self, formula).text(name)

    def constant(self, values: Floats) -> str:
        """Return the name of a constant array."""
        for place, one in enumerate(self.constants):
            if one is values or np.array_equal(one, values):
                return f"_KNOTS_{place + 1}"
        self.constants.append(values)
        return f"_KNOTS_{len(self.constants)}"

    def definitions(self) -> str:
        """Return the constants."""
        return "".join(
            f"_KNOTS_{place + 1} = {array_literal(one, self.style)}\n"
            for place, one in enumerate(self.constants)
        )


class _Function:
    """One function: its lines, and the names of what is worked out once."""

    def __init__(self, owner: PythonText, formula: Formula) -> None:
        self.owner = owner
        self.formula = formula
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.uses: Counter[int] = Counter()
        self._count(formula)

    def text(self, name: str) -> str:
        """Return the whole function."""
        found = self._of(self.formula)
        if isinstance(self.formula, Number) and self.owner.style is Style.ARRAYS:
            found = f"np.full(np.shape(score), {found})"
        body = "\n".join(f"    {line}" for line in (*self.lines, f"return {found}"))
        return f"def {name}(score):\n{body}\n"

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
        arrays = self.owner.style is Style.ARRAYS
        match formula:
            case Score():
                return "score"
            case Number(value=value):
                return literal(value)
            case Pair(operator=operator, left=left, right=right):
                return _pair(operator, self._of(left), self._of(right), arrays=arrays)
            case Single(curve=curve, of=inner):
                word = "log" if curve is Curve.LOG else "exp"
                return f"{'np.' if arrays else ''}{word}({self._of(inner)})"
            case Pieces():
                return self._pieces(formula, arrays=arrays)
            case Steps(places=places, values=values):
                return f"{self.owner.constant(values)}[{self._place(places, arrays=arrays)}]"
            case _:
                assert_never(formula)

    def _pieces(self, formula: Pieces, *, arrays: bool) -> str:
        which = self._of(formula.of)
        *parts, found = (self._of(part) for part in formula.parts)
        if arrays and not parts:
            return found
        for cut, part in zip(reversed(formula.cuts), reversed(parts), strict=True):
            test = f"{which} < {literal(cut)}"
            found = f"np.where({test}, {part}, {found})" if arrays else f"({part} if {test} else {found})"
        return found

    def _place(self, places: Places, *, arrays: bool) -> str:
        if id(places) in self.names:
            return self.names[id(places)]
        starts, which = self.owner.constant(places.starts), self._of(places.of)
        text = f"bisect_right({starts}, {which}) - 1"
        if arrays:
            text = f'np.searchsorted({starts}, {which}, side="right") - 1'
        return text if self.uses[id(places)] < 2 else self._named(places, text)


def _pair(operator: Operator, left: str, right: str, *, arrays: bool) -> str:
    match operator:
        case Operator.LEAST:
            return f"{'np.minimum' if arrays else 'min'}({left}, {right})"
        case Operator.GREATEST:
            return f"{'np.maximum' if arrays else 'max'}({left}, {right})"
        case Operator.PLUS | Operator.MINUS | Operator.TIMES | Operator.OVER:
            return f"({left} {operator.value} {right})"
        case _:
            assert_never(operator)


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
