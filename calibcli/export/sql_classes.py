"""Maps of several classes as queries: an expression for each class, or, of many classes, lists of numbers."""

from collections.abc import Iterable, Sequence

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.export.dialects import LEAST, SPELLINGS, Lists, TooLong, number, string
from calibcli.export.formula import (
    LARGEST_EXPONENT,
    Formula,
    Number,
    Operator,
    Pair,
    Pieces,
    Score,
    exp,
    log,
    minus,
    over,
    plus,
    times,
    total,
)
from calibcli.export.maps import Origin, formulas_of, probability, range_of
from calibcli.export.sql import (
    ROWS,
    Joined,
    SqlAsk,
    SqlText,
    array_of,
    assembled,
    beside_each_row,
    prefix_beside,
)
from calibcli.names import OutputSum, Scale, SqlDialect
from calibcli.stats.recalibrators.classes.interface import ClassRecalibrator
from calibcli.stats.recalibrators.classes.linear import Linear
from calibcli.stats.recalibrators.classes.one_vs_rest import OneVsRest
from calibcli.stats.recalibrators.classes.temperature import ClassTemperature
from calibcli.stats.table.score_table import Floats
from calibcli.values import dataclass

_MOST_OFF = 1e-3

# Expressions of several classes repeat themselves; beyond this lists are shorter, where a dialect has them.
_MOST_OF_CLASSES = 300_000

# A softmax of more is longer than that in any case.
_MOST_WRITTEN_OUT = 100

# Below this a weight is 0: its product with a logarithm may be too small for Postgres.
_LEAST_WEIGHT = 1e-150


def query_of_classes(recalibrator: ClassRecalibrator, ask: SqlAsk, *, origin: Origin) -> str:
    """
    Return a query that gives every row the probabilities, the most probable class and its probability.

    A row with a score that is NULL, NaN or out of range, or whose probabilities miss a sum of one by more
    than 0.001, gets NULL.
    """
    if not isinstance(recalibrator, (ClassTemperature, Linear, OneVsRest)):
        what = f"a {recalibrator.name.value} map of several classes"
        msg = f"{what} has no expression in SQL that is short enough"
        other = "; or fit --multiclass one-vs-rest" if SPELLINGS[ask.dialect].lists else ""
        raise UsageProblem(msg, f"use --to python, sklearn or onnx{other}")
    found = _written_out(recalibrator, ask, origin) or _in_lists(recalibrator, ask, origin)
    if found is None:
        msg = f"as a query for {ask.dialect.value} the map takes more than {_MOST_OF_CLASSES:,} characters"
        able = ", ".join(one.value for one, words in SPELLINGS.items() if words.lists)
        raise UsageProblem(msg, f"use --to python or --to onnx; or --dialect {able}, which have lists")
    columns, valid, tables = found
    return assembled(
        ask,
        tables=tables,
        columns=columns,
        valid=valid,
        origin=origin,
        read=ask.scores,
        said=(read_from(ask.scores, places=ask.places),),
    )


def read_from(scores: Sequence[str], *, places: int | None) -> str:
    """Return a sentence about the columns that the classes are read from."""
    if places is not None:
        return f"the classes are read from the lists of {scores[0]}, in their order"
    return f"the classes are read from {', '.join(scores)}; --probs names other columns, or one of lists"


# The new columns, the condition of a row that `apply` takes, and what is joined.
_Found = tuple[dict[str, str], str, Sequence[Joined]]
_Map = ClassTemperature | Linear | OneVsRest


def _written_out(recalibrator: _Map, ask: SqlAsk, origin: Origin) -> _Found | None:
    """Return an expression for each class, or None where they are too long."""
    if len(origin.classes) > _MOST_WRITTEN_OUT and not isinstance(recalibrator, OneVsRest):
        return None
    before = _probabilities(len(origin.classes), origin.scale)
    text = SqlText(ask.dialect, ask.written_scores(), prefix_beside(ask.table), most=_MOST_OF_CLASSES)
    try:
        after = [text.of(one) for one in _formulas(recalibrator, before)]
        # A map that keeps the order may round two probabilities to one.
        judged = [text.of(one) for one in before] if recalibrator.keeps_prediction else after
        valid = _valid_row(text, before, origin.scale)
    except TooLong:
        return None
    largest = f"GREATEST({', '.join(after)})"
    columns = _named(ask, origin, after, _first_largest(judged, origin.classes, ask.dialect), largest)
    if sum(map(len, columns.values())) > _MOST_OF_CLASSES:
        return None
    return columns, valid, text.tables


def _named(ask: SqlAsk, origin: Origin, after: Sequence[str], first: str, largest: str) -> dict[str, str]:
    columns = {f"{ask.name}_{one}": column for one, column in zip(origin.classes, after, strict=True)}
    return columns | {f"{ask.name}_class": first, f"{ask.name}_confidence": largest}


def _probabilities(count: int, scale: Scale) -> list[Formula]:
    """Return what the scores of a row say as probabilities of the classes."""
    scores: list[Formula] = [Score(place) for place in range(count)]
    if scale is Scale.LOGIT:
        return _softmax(scores)
    return [probability(one, scale) for one in scores]


def _formulas(recalibrator: _Map, before: list[Formula]) -> list[Formula]:
    """Return the recalibrated probability of each class."""
    if not isinstance(recalibrator, OneVsRest):
        return _softmax(_logits(recalibrator, before))
    after = _members(recalibrator, before)
    if recalibrator.output_sum is OutputSum.FREE:
        return after
    whole, nothing = total(after), total(before)
    # Where every map says 0 the row stays as it was.
    return [
        Pieces(whole, (LEAST,), (over(one, nothing), over(new, whole)))
        for one, new in zip(before, after, strict=True)
    ]


def _softmax(logits: list[Formula]) -> list[Formula]:
    """Return 1 / sum_j exp(t_j - t_k) for each k: no largest is needed, since exponents are limited."""
    return [over(Number(1.0), total([exp(minus(other, one)) for other in logits])) for one in logits]


def _logits(recalibrator: ClassTemperature | Linear, before: list[Formula]) -> list[Formula]:
    """Return the logits of the new probabilities."""
    logs = [log(Pair(Operator.GREATEST, one, Number(recalibrator.least))) for one in before]
    if isinstance(recalibrator, ClassTemperature):
        return [over(one, Number(recalibrator.temperature)) for one in logs]
    weight, found = recalibrator.weight, []
    for place, intercept in enumerate(recalibrator.intercept.tolist()):
        if weight.ndim == 1:
            slope = times(Number(float(weight[place])), logs[place])
        else:
            row = weight[place].tolist()
            slope = total([times(Number(w), one) for w, one in zip(row, logs, strict=True)])
        found.append(plus(slope, Number(intercept)))
    return found


def _members(recalibrator: OneVsRest, before: list[Formula]) -> list[Formula]:
    """Return what the map of each class says of its probability."""
    return [formulas_of(recalibrator.members.of(place), one)[0] for place, one in enumerate(before)]


def _valid_row(text: SqlText, before: list[Formula], scale: Scale) -> str:
    """Return the condition of a row that `apply` takes; NaN is above everything, or fails all comparisons."""
    if scale is Scale.LOGIT:
        return _in_range(text, scale)
    inside = _in_range(text, scale)
    off = text.of(minus(total(before), Number(1.0)))
    return f"{inside} AND ABS({off}) <= {number(_MOST_OFF, text.dialect)}"


def _in_range(text: SqlText, scale: Scale) -> str:
    """Return the condition of scores that are in range, each by itself."""
    if scale is Scale.LOGIT:
        # One infinity less another is no number.
        infinity = number(float("inf"), text.dialect)
        return " AND ".join(f"ABS({one}) < {infinity}" for one in text.scores)
    lowest, highest = (number(one, text.dialect) for one in range_of(scale))
    return " AND ".join(f"{one} >= {lowest} AND {one} <= {highest}" for one in text.scores)


def _first_largest(columns: Sequence[str], classes: Sequence[str], dialect: SqlDialect) -> str:
    """Return the name of the class with the largest number, the first of several."""
    arms = []
    for place, (column, one) in enumerate(zip(columns[:-1], classes, strict=False)):
        most = f"GREATEST({', '.join(columns[place + 1 :])})" if place + 2 < len(columns) else columns[-1]
        arms.append(f"WHEN {column} >= {most} THEN {string(one, dialect)}")
    return f"CASE {' '.join(arms)} ELSE {string(classes[-1], dialect)} END"


@dataclass(frozen=True, slots=True)
class _Stage:
    """
    A number or a list that is worked out once for each row, where what follows may use it.

    Args:
        source: The row or the list that it is made of.
    """

    name: str
    expression: str
    source: str
    dialect: SqlDialect

    def definition(self) -> None:
        """Return None: it is worked out for each row."""

    def join(self) -> str:
        """Return how it is joined."""
        source = ""
        if self.dialect is SqlDialect.POSTGRES:
            # Each mention of what stands before would be a column, of which there are at most 1,664; and
            # without the offset the expression would be written out wherever it is used.
            source = f"FROM (SELECT {self.source}.*) AS {self.source} OFFSET 0\n"
        return beside_each_row({"v": self.expression}, self.name, self.dialect, source=source)


class _Stages:
    """The steps from the scores of a row to its probabilities, each a join beside the row."""

    def __init__(self, ask: SqlAsk, words: Lists) -> None:
        self._dialect, self._words, self._prefix = ask.dialect, words, prefix_beside(ask.table)
        self.joined: list[_Stage] = []

    def of(self, expression: str, source: str) -> str:
        """Work an expression out of a row or a list, and return its name."""
        name = f"{self._prefix}{len(self.joined) + 1}"
        found = _Stage(name, expression, source.removesuffix(".v"), self._dialect)
        self.joined.append(found)
        return f"{found.name}.v"

    def number(self, value: float) -> str:
        return number(value, self._dialect)

    def listed(self, parts: Iterable[str]) -> str:
        return self._words.listed.format(",\n    ".join(parts))

    def places(self, of: str, count: int) -> tuple[str, ...]:
        """Return each number of a list."""
        return tuple(self._words.at.format(of=of, next=place + 1) for place in range(count))

    def each(self, to: str, of: str) -> str:
        """Return a list of an expression of each number `x`."""
        return self._words.each.format(to=to, of=of)

    def total(self, of: str) -> str:
        return self._words.total.format(of)

    def largest(self, of: str) -> str:
        return self._words.largest.format(of)

    def written(self, formulas: Sequence[Formula], of: str) -> str:
        """Return a list of formulas of the numbers of another."""
        scores = self.places(of, len(formulas))
        text = SqlText(self._dialect, scores, self._prefix, joins=False)
        return self.listed(text.of(one) for one in formulas)

    def products(self, weights: Floats, intercept: Floats, of: str) -> str:
        """Return a list of sums of weighted numbers."""
        kept = np.where(np.abs(weights) < _LEAST_WEIGHT, 0.0, weights)
        rows = (self._words.product.format(of, array_of(row, self._dialect)) for row in kept)
        return self.listed(
            f"{row} + {self.number(one)}" for row, one in zip(rows, intercept.tolist(), strict=True)
        )

    def softmax(self, logits: str) -> str:
        """Return the name of the probabilities of logits."""
        most = self.of(self.largest(logits), logits)
        below = f"EXP(GREATEST(x - {most}, {self.number(-LARGEST_EXPONENT)}))"
        return self.divided(self.of(self.each(below, logits), logits))

    def divided(self, of: str) -> str:
        """Return the name of a list divided by its sum, which is 0 in rows that get NULL alone."""
        whole = self.of(self.total(of), of)
        return self.of(self.each(f"x / NULLIF({whole}, {self.number(0.0)})", of), of)


def _in_lists(recalibrator: _Map, ask: SqlAsk, origin: Origin) -> _Found | None:
    """Return lists, as long as what the map was fitted to, or None where the dialect has none."""
    words = SPELLINGS[ask.dialect].lists
    if words is None:
        return None
    stages, count, scale = _Stages(ask, words), len(origin.classes), origin.scale
    text = SqlText(ask.dialect, ask.written_scores(), "")
    inside = f"CASE WHEN {_in_range(text, scale)}\n    THEN {stages.listed(text.scores)} END"
    scores = stages.of(inside, ROWS)
    own: list[Formula] = [Score(place) for place in range(count)]
    before, valid = scores, f"{scores} IS NOT NULL"
    if scale is Scale.LOGIT:
        before = stages.softmax(scores)
    elif scale is not Scale.PROB:
        before = stages.of(stages.written([probability(one, scale) for one in own], scores), scores)
    if scale is not Scale.LOGIT:
        whole = stages.of(stages.total(before), before)
        valid += f" AND ABS({whole} - {stages.number(1.0)}) <= {stages.number(_MOST_OFF)}"
    if isinstance(recalibrator, OneVsRest):
        after = stages.of(stages.written(_members(recalibrator, own), before), before)
        if recalibrator.output_sum is OutputSum.ONE:
            # Where every map says 0 the row stays as it was.
            none = f"{stages.of(stages.total(after), after)} < {stages.number(LEAST)}"
            after = stages.divided(stages.of(f"CASE WHEN {none} THEN {before} ELSE {after} END", after))
    elif isinstance(recalibrator, Linear) and recalibrator.weight.ndim > 1:
        logs = stages.of(stages.each(f"LN(GREATEST(x, {stages.number(recalibrator.least)}))", before), before)
        after = stages.softmax(
            stages.of(stages.products(recalibrator.weight, recalibrator.intercept, logs), logs)
        )
    else:
        after = stages.softmax(stages.of(stages.written(_logits(recalibrator, own), before), before))
    judged = before if recalibrator.keeps_prediction else after
    most = stages.of(stages.largest(judged), judged)
    arms = [
        f"WHEN {one} >= {most} THEN {string(name, ask.dialect)}"
        for one, name in zip(stages.places(judged, count), origin.classes, strict=True)
    ]
    first, largest = f"CASE {' '.join(arms)} END", stages.of(stages.largest(after), after)
    return _named(ask, origin, stages.places(after, count), first, largest), valid, stages.joined
