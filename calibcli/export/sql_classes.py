"""Maps of several classes as queries: an expression a class, or, of many classes, steps beside each row."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

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

# Expressions of several classes repeat themselves; beyond this steps are shorter, where a dialect has them.
_LONG = 50_000
_MOST_OF_CLASSES = 300_000

# A softmax of more is longer than that in any case.
_MOST_WRITTEN_OUT = 100

# A sum of more is too deep for parsers, and for us.
_MOST_SUMMED = 200

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
        other = "; or fit --multiclass one-vs-rest" if SPELLINGS[ask.dialect].lateral else ""
        raise UsageProblem(msg, f"use --to python, sklearn or onnx{other}")
    found = _written_out(recalibrator, ask, origin) or _in_stages(recalibrator, ask, origin)
    if found is None:
        msg = f"as a query for {ask.dialect.value} the map takes more than {_MOST_OF_CLASSES:,} characters"
        able = ", ".join(one.value for one, words in SPELLINGS.items() if words.lateral)
        raise UsageProblem(msg, f"use --to python or --to onnx; or --dialect {able}")
    columns, valid, tables = found
    return assembled(
        ask,
        tables=tables,
        columns=columns,
        valid=valid,
        origin=origin,
        read=ask.scores,
        said=(read_from(ask.scores, places=ask.places), _OFF_ONE),
    )


_OFF_ONE = "a row whose probabilities do not sum to 1 within 0.001 gets NULL"


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
    most = _MOST_SUMMED if isinstance(recalibrator, OneVsRest) else _MOST_WRITTEN_OUT
    if len(origin.classes) > most:
        return None
    before = _probabilities(len(origin.classes), origin.scale)
    # MariaDB has no joins that speak of the row at hand, and MySQL has.
    steps = SPELLINGS[ask.dialect].lateral and ask.dialect is not SqlDialect.MYSQL
    longest = _LONG if steps else _MOST_OF_CLASSES
    text = SqlText(ask.dialect, ask.written_scores(), prefix_beside(ask.table), most=longest)
    try:
        after = [text.of(one) for one in _formulas(recalibrator, before)]
        # A map that keeps the order may round two probabilities to one.
        judged = [text.of(one) for one in before] if recalibrator.keeps_prediction else after
        valid = _valid_row(text, before, origin.scale)
    except TooLong:
        return None
    largest = f"GREATEST({', '.join(after)})"
    columns = _named(ask, origin, after, _first_largest(judged, origin.classes, ask.dialect), largest)
    if sum(map(len, columns.values())) > longest:
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
    Numbers or a list that are worked out once for each row, where what follows may use them.

    Args:
        columns: Expressions by name.
        source: The row or the list that they are made of.
    """

    name: str
    columns: dict[str, str]
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
        return beside_each_row(self.columns, self.name, self.dialect, source=source)


# The numbers of the classes of a row: a list by its one text, or a text for each.
_Numbers = tuple[str, ...]


class _Stages(ABC):
    """The steps from the scores of a row to its probabilities, each a join beside the row."""

    def __init__(self, ask: SqlAsk, count: int) -> None:
        self._dialect, self._count, self._prefix = ask.dialect, count, prefix_beside(ask.table)
        self.joined: list[_Stage] = []

    def one(self, expression: str, source: str) -> str:
        """Work a number out of a row or a list, and return its name."""
        return self._joined({"v": expression}, source)[0]

    def _joined(self, columns: dict[str, str], source: str) -> _Numbers:
        name = f"{self._prefix}{len(self.joined) + 1}"
        self.joined.append(_Stage(name, columns, source.partition(".")[0], self._dialect))
        return tuple(f"{name}.{column}" for column in columns)

    def number(self, value: float) -> str:
        return number(value, self._dialect)

    @abstractmethod
    def many(self, numbers: _Numbers, source: str) -> _Numbers:
        """Work numbers out of a row or a list, and return their names."""

    @abstractmethod
    def inside(self, condition: str, scores: _Numbers) -> _Numbers:
        """Return the scores of a row that satisfies a condition, else NULL."""

    @abstractmethod
    def places(self, of: _Numbers) -> _Numbers:
        """Return each number."""

    @abstractmethod
    def each(self, to: Callable[[str], str], of: _Numbers) -> _Numbers:
        """Return an expression of each number."""

    @abstractmethod
    def total(self, of: _Numbers) -> str:
        """Return the sum of numbers."""

    @abstractmethod
    def largest(self, of: _Numbers) -> str:
        """Return the largest of numbers."""

    @abstractmethod
    def listed(self, numbers: Iterable[str]) -> _Numbers:
        """Return single numbers as the numbers of the classes."""

    @abstractmethod
    def products(self, weights: Floats, intercept: Floats, of: _Numbers) -> _Numbers:
        """Return sums of weighted numbers."""

    @abstractmethod
    def either(self, condition: str, first: _Numbers, second: _Numbers) -> _Numbers:
        """Return numbers where a condition holds, and others elsewhere."""

    def written(self, formulas: Sequence[Formula], of: _Numbers) -> _Numbers:
        """Return formulas of numbers."""
        text = SqlText(self._dialect, self.places(of), self._prefix, joins=False)
        return self.listed(text.of(one) for one in formulas)

    def softmax(self, logits: _Numbers) -> _Numbers:
        """Return the names of the probabilities of logits."""
        most = self.one(self.largest(logits), logits[0])
        least = self.number(-LARGEST_EXPONENT)
        return self.divided(
            self.many(self.each(lambda x: f"EXP(GREATEST({x} - {most}, {least}))", logits), logits[0])
        )

    def divided(self, of: _Numbers) -> _Numbers:
        """Return the names of numbers divided by their sum, which is 0 in rows that get NULL alone."""
        whole = self.one(self.total(of), of[0])
        return self.many(self.each(lambda x: f"{x} / NULLIF({whole}, {self.number(0.0)})", of), of[0])


class _InLists(_Stages):
    """Steps of lists, where a dialect has them."""

    def __init__(self, ask: SqlAsk, count: int, words: Lists) -> None:
        super().__init__(ask, count)
        self._words = words

    def many(self, numbers: _Numbers, source: str) -> _Numbers:
        return (self.one(numbers[0], source),)

    def inside(self, condition: str, scores: _Numbers) -> _Numbers:
        return self.many((f"CASE WHEN {condition}\n    THEN {self.listed(scores)[0]} END",), ROWS)

    def places(self, of: _Numbers) -> _Numbers:
        return tuple(self._words.at.format(of=of[0], next=place + 1) for place in range(self._count))

    def each(self, to: Callable[[str], str], of: _Numbers) -> _Numbers:
        return (self._words.each.format(to=to("x"), of=of[0]),)

    def total(self, of: _Numbers) -> str:
        return self._words.total.format(of[0])

    def largest(self, of: _Numbers) -> str:
        return self._words.largest.format(of[0])

    def listed(self, numbers: Iterable[str]) -> _Numbers:
        return (self._words.listed.format(",\n    ".join(numbers)),)

    def products(self, weights: Floats, intercept: Floats, of: _Numbers) -> _Numbers:
        kept = np.where(np.abs(weights) < _LEAST_WEIGHT, 0.0, weights)
        rows = (self._words.product.format(of[0], array_of(row, self._dialect)) for row in kept)
        return self.listed(
            f"{row} + {self.number(one)}" for row, one in zip(rows, intercept.tolist(), strict=True)
        )

    def either(self, condition: str, first: _Numbers, second: _Numbers) -> _Numbers:
        return (f"CASE WHEN {condition} THEN {first[0]} ELSE {second[0]} END",)


class _InColumns(_Stages):
    """Steps of a column for each class, where a dialect has no lists but joins beside a row."""

    def many(self, numbers: _Numbers, source: str) -> _Numbers:
        return self._joined({f"v{place + 1}": one for place, one in enumerate(numbers)}, source)

    def inside(self, condition: str, scores: _Numbers) -> _Numbers:
        taken = self.one(f"CASE WHEN {condition} THEN 1 END", ROWS)
        return self.many(self.each(lambda x: f"CASE WHEN {taken} = 1 THEN {x} END", scores), ROWS)

    def places(self, of: _Numbers) -> _Numbers:
        return of

    def each(self, to: Callable[[str], str], of: _Numbers) -> _Numbers:
        return tuple(map(to, of))

    def total(self, of: _Numbers) -> str:
        # In halves, since parsers count how deep a sum of a thousand is.
        if len(of) == 1:
            return of[0]
        half = len(of) // 2
        return f"({self.total(of[:half])} + {self.total(of[half:])})"

    def largest(self, of: _Numbers) -> str:
        if len(of) <= _MOST_COMPARED:
            return of[0] if len(of) == 1 else f"GREATEST({', '.join(of)})"
        size = -(-len(of) // _MOST_COMPARED)
        return self.largest(tuple(self.largest(of[at : at + size]) for at in range(0, len(of), size)))

    def listed(self, numbers: Iterable[str]) -> _Numbers:
        return tuple(numbers)

    def products(self, weights: Floats, intercept: Floats, of: _Numbers) -> _Numbers:
        kept = np.where(np.abs(weights) < _LEAST_WEIGHT, 0.0, weights).tolist()
        numbers = (self.total(tuple(self._times(row, of))) for row in kept)
        return tuple(
            f"{row} + {self.number(one)}" for row, one in zip(numbers, intercept.tolist(), strict=True)
        )

    def _times(self, weights: list[float], of: _Numbers) -> Iterator[str]:
        for weight, one in zip(weights, of, strict=True):
            yield f"{self.number(weight)} * {one}"

    def either(self, condition: str, first: _Numbers, second: _Numbers) -> _Numbers:
        chosen = self.one(f"CASE WHEN {condition} THEN 1 ELSE 0 END", second[0])
        return tuple(
            f"CASE WHEN {chosen} = 1 THEN {one} ELSE {other} END"
            for one, other in zip(first, second, strict=True)
        )


# What engines compare in one call of GREATEST.
_MOST_COMPARED = 50


def _in_stages(recalibrator: _Map, ask: SqlAsk, origin: Origin) -> _Found | None:
    """Return steps as long as what the map was fitted to, or None where no join speaks of a row."""
    words, count, scale = SPELLINGS[ask.dialect], len(origin.classes), origin.scale
    if words.lists is None and not words.lateral:
        return None
    stages = _InColumns(ask, count) if words.lists is None else _InLists(ask, count, words.lists)
    text = SqlText(ask.dialect, ask.written_scores(), "")
    scores = stages.inside(_in_range(text, scale), text.scores)
    own: list[Formula] = [Score(place) for place in range(count)]
    before, valid = scores, f"{scores[0]} IS NOT NULL"
    if scale is Scale.LOGIT:
        before = stages.softmax(scores)
    elif scale is not Scale.PROB:
        formulas = [probability(one, scale) for one in own]
        before = stages.many(stages.written(formulas, scores), scores[0])
    if scale is not Scale.LOGIT:
        whole = stages.one(stages.total(before), before[0])
        valid += f" AND ABS({whole} - {stages.number(1.0)}) <= {stages.number(_MOST_OFF)}"
    if isinstance(recalibrator, OneVsRest):
        after = stages.many(stages.written(_members(recalibrator, own), before), before[0])
        if recalibrator.output_sum is OutputSum.ONE:
            # Where every map says 0 the row stays as it was.
            none = f"{stages.one(stages.total(after), after[0])} < {stages.number(LEAST)}"
            after = stages.divided(stages.many(stages.either(none, before, after), after[0]))
    elif isinstance(recalibrator, Linear) and recalibrator.weight.ndim > 1:
        least = stages.number(recalibrator.least)
        logs = stages.many(stages.each(lambda x: f"LN(GREATEST({x}, {least}))", before), before[0])
        sums = stages.products(recalibrator.weight, recalibrator.intercept, logs)
        after = stages.softmax(stages.many(sums, logs[0]))
    else:
        sums = stages.written(_logits(recalibrator, own), before)
        after = stages.softmax(stages.many(sums, before[0]))
    judged = before if recalibrator.keeps_prediction else after
    most = stages.one(stages.largest(judged), judged[0])
    arms = [
        f"WHEN {one} >= {most} THEN {string(name, ask.dialect)}"
        for one, name in zip(stages.places(judged), origin.classes, strict=True)
    ]
    first = f"CASE {' '.join(arms)} END"
    largest = most if judged is after else stages.one(stages.largest(after), after[0])
    return _named(ask, origin, stages.places(after), first, largest), valid, stages.joined
