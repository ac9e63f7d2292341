"""Formulas in SQL."""

from dataclasses import dataclass, field
from typing import assert_never

from calibcli.errors import UsageProblem
from calibcli.export_names import SqlDialect
from calibcli.exports.formula import Formula, Number, Operator, Pair, Pieces, Places, Score, Single, Steps
from calibcli.exports.sql_dialects import number, spelling_of
from calibcli.exports.sql_steps import StepTable
from calibcli.table.score_table import Floats

# With more steps a table of them is faster than CASE (docs/export.md has the figures).
MOST_CASES = 64
# What an engine takes in one query without trouble, where it says nothing itself.
_MOST_TEXT = 16_000_000


@dataclass(slots=True)
class SqlText:
    """
    Formulas as text, and the tables of steps that they look up.

    Args:
        dialect: Whose SQL.

        scores: How the score, or the number of each class, is written.

        prefix: What the names of tables of steps begin with.
    """

    dialect: SqlDialect
    scores: tuple[str, ...]
    prefix: str
    tables: list[StepTable] = field(default_factory=list)
    _written: dict[int, str] = field(default_factory=dict)
    _kept: list[Formula] = field(default_factory=list)

    def of(self, formula: Formula) -> str:
        """
        Return a formula as an expression.

        Raises:
            UsageProblem: If it becomes too long for a query.
        """
        if id(formula) not in self._written:
            text = self._text(formula)
            most = most_text(self.dialect)
            if len(text) > most:
                raise too_long(self.dialect, most)
            self._written[id(formula)] = text
            # An object that is gone may leave its number to another.
            self._kept.append(formula)
        return self._written[id(formula)]

    def _text(self, formula: Formula) -> str:
        match formula:
            case Score(place=place):
                return self.scores[place]
            case Number(value=value):
                return number(value, self.dialect)
            case Pair(operator=operator, left=left, right=right):
                return self._pair(operator, self.of(left), self.of(right))
            case Single(curve=curve, of=inner):
                return f"{'LN' if curve.value == 'log' else 'EXP'}({self.of(inner)})"
            case Pieces(of=inner, cuts=cuts, parts=parts):
                which = self.of(inner)
                return _cases(which, [self._number(cut) for cut in cuts], [self.of(part) for part in parts])
            case Steps(places=places, values=values):
                return self._steps(places, values)
            case _:
                assert_never(formula)

    def _pair(self, operator: Operator, left: str, right: str) -> str:
        match operator:
            case Operator.LEAST | Operator.GREATEST:
                # These skip NULL, but no score that is NULL gets here.
                return f"{operator.value.upper()}({left}, {right})"
            case Operator.TIMES if self.dialect is SqlDialect.POSTGRES:
                # A product below the smallest number there is is an error, and not 0.
                tiny = number(1e-150, self.dialect)
                zero = number(0.0, self.dialect)
                return f"CASE WHEN ABS({left}) < {tiny} THEN {zero} ELSE {left} * {right} END"
            case Operator.PLUS | Operator.MINUS | Operator.TIMES | Operator.OVER:
                return f"({left} {operator.value} {right})"
            case _:
                assert_never(operator)

    def _number(self, value: float) -> str:
        return number(value, self.dialect)

    def _steps(self, places: Places, values: Floats) -> str:
        if places.starts.size <= MOST_CASES:
            starts = [self._number(start) for start in places.starts[1:].tolist()]
            return _cases(self.of(places.of), starts, [self._number(one) for one in values.tolist()])
        return self._table(places).looked_up(values)

    def _table(self, places: Places) -> StepTable:
        for one in self.tables:
            if one.places is places:
                return one
        found = StepTable(self.dialect, f"{self.prefix}{len(self.tables) + 1}", self.of(places.of), places)
        self.tables.append(found)
        return found


def most_text(dialect: SqlDialect) -> int:
    """Return how long a query may be."""
    return spelling_of(dialect).most_bytes or _MOST_TEXT


def too_long(dialect: SqlDialect, most: int) -> UsageProblem:
    """Return the refusal of a query that is too long."""
    msg = f"as a query for {dialect.value} the map takes more than {most:,} characters"
    return UsageProblem(msg, "use --to python or --to onnx, or fit a map with fewer knots")


def _cases(which: str, cuts: list[str], parts: list[str]) -> str:
    """Return the part that a number lies in."""
    arms = [f"WHEN {which} < {cut} THEN {part}" for cut, part in zip(cuts, parts[:-1], strict=True)]
    return f"CASE {' '.join(arms)} ELSE {parts[-1]} END"
