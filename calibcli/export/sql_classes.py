"""Maps of several classes as queries: an expression a class, or, of many classes, steps beside each row."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import assert_never

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.export import sql
from calibcli.export.dialects import LEAST, SPELLINGS, Lists, TooLong, number, string
from calibcli.export.formula import (
    LARGEST_EXPONENT,
    Formula,
    Number,
    Operator,
    Pair,
    Pieces,
    Score,
    Single,
    Steps,
    exp,
    log,
    minus,
    over,
    parts_of,
    plus,
    times,
    total,
)
from calibcli.export.maps import LEAST_POWER, Origin, formulas_of, probability, range_of
from calibcli.names import OutputSum, Scale, SqlDialect
from calibcli.stats.recalibrators.classes import ClassRecalibrator
from calibcli.stats.recalibrators.classes.linear import Linear
from calibcli.stats.recalibrators.classes.members import OneVsRest
from calibcli.stats.recalibrators.classes.one_vs_one import OneVsOne
from calibcli.stats.recalibrators.classes.temperature import ClassTemperature
from calibcli.stats.recalibrators.classes.top_label import TopLabel
from calibcli.stats.table import Floats
from calibcli.values import dataclass

_MOST_OFF = 1e-3

# Expressions of several classes repeat themselves; beyond this steps are shorter, where a dialect has them.
_LONG = 50_000
_MOST_OF_CLASSES = 300_000

# A softmax of more is longer than that in any case.
_MOST_WRITTEN_OUT = 100

# A sum of more is too deep for parsers, and for us.
_MOST_SUMMED = 200
# A note has so many names of columns and the last one; more than that nobody reads.
_LISTED = 10

# Below this a weight is 0: its product with a logarithm may be too small for Postgres.
_LEAST_WEIGHT = 1e-150

# Shares of pairs below this are taken for it: a hundred of what they are divided into add up to a double.
_LEAST_SHARE = 1e-305

_LEAST_NORMAL = 2.0**-1022


def query_of_classes(recalibrator: ClassRecalibrator, ask: sql.SqlAsk, *, origin: Origin) -> str:
    """Return a query that gives every row the probabilities, the most probable class and its probability.

    A row with a score that is NULL, NaN or out of range, or whose probabilities miss a sum of one by more
    than 0.001, gets NULL.
    """
    found = None if _goes_by_steps(recalibrator) else _written_out(recalibrator, ask, origin)
    found = found or _in_stages(recalibrator, ask, origin)
    if found is None:
        many = f"takes more than {_MOST_OF_CLASSES:,} characters"
        why = "is worked out step by step" if _goes_by_steps(recalibrator) else many
        msg = (
            f"as a query for {ask.dialect.value} the {recalibrator.name.value} map {why},"
            " and there are no joins that speak of the row at hand (LATERAL)"
        )
        able = ", ".join(one.value for one, words in SPELLINGS.items() if words.lateral)
        raise UsageProblem(msg, f"use --to python or --to onnx; or --dialect {able}")
    columns, valid, joined = found
    return sql.assembled(
        ask,
        joined=joined,
        columns=columns,
        valid=valid,
        origin=origin,
        read=ask.scores,
        said=(read_from(ask.scores, places=ask.places), _OFF_ONE),
    )


_OFF_ONE = "a row whose probabilities do not sum to 1 within 0.001 gets NULL"


def read_from(scores: Sequence[str], *, places: int | None) -> str:
    if places is not None:
        return f"the classes are read from the lists of {scores[0]}, in their order; --probs names others"
    listed = ", ".join(scores if len(scores) <= _LISTED + 1 else [*scores[:_LISTED], "...", scores[-1]])
    return f"the classes are read from {listed}; --probs names other columns, or one of lists"


def _goes_by_steps(recalibrator: ClassRecalibrator) -> bool:
    """Return whether an expression of a class would say the same over and over, even of three."""
    return isinstance(recalibrator, (TopLabel, OneVsOne))


# The new columns, the condition of a row that `apply` takes, and what is joined.
_Found = tuple[dict[str, str], str, Sequence[sql.Joined]]


def _written_out(recalibrator: ClassRecalibrator, ask: sql.SqlAsk, origin: Origin) -> _Found | None:
    """Return an expression for each class, or None where they are too long."""
    most = _MOST_SUMMED if isinstance(recalibrator, OneVsRest) else _MOST_WRITTEN_OUT
    if len(origin.classes) > most:
        return None
    before = _probabilities(len(origin.classes), origin.scale)
    # MariaDB has no joins that speak of the row at hand, and MySQL has.
    steps = SPELLINGS[ask.dialect].lateral and ask.dialect is not SqlDialect.MYSQL
    longest = _LONG if steps else _MOST_OF_CLASSES
    text = sql.SqlText(ask.dialect, ask.written_scores(), sql.prefix_beside(ask.table), most=longest)
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
    return columns, valid, text.joined()


def _named(ask: sql.SqlAsk, origin: Origin, after: Sequence[str], first: str, largest: str) -> dict[str, str]:
    columns = {f"{ask.name}_{one}": column for one, column in zip(origin.classes, after, strict=True)}
    return columns | {f"{ask.name}_class": first, f"{ask.name}_confidence": largest}


def _probabilities(count: int, scale: Scale) -> list[Formula]:
    scores = _each_score(count)
    if scale is not Scale.LOGIT:
        return [probability(one, scale) for one in scores]
    # Whose logit is farther than exponents go below another has nothing; powers may be off by a millionth.
    none = math.exp(LARGEST_EXPONENT - 1e-6)
    sums = _sums_of_powers(list(scores))
    return [Pieces(one, (none,), (over(Number(1.0), one), Number(0.0))) for one in sums]


def _formulas(recalibrator: ClassRecalibrator, before: list[Formula]) -> list[Formula]:
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
    return [over(Number(1.0), one) for one in _sums_of_powers(logits)]


def _sums_of_powers(logits: list[Formula]) -> list[Formula]:
    return [total([exp(minus(other, one)) for other in logits]) for one in logits]


def _logits(recalibrator: ClassRecalibrator, before: list[Formula]) -> list[Formula]:
    if not isinstance(recalibrator, (ClassTemperature, Linear)):
        msg = f"a {recalibrator.name.value} map of several classes cannot be exported"
        raise UsageProblem(msg, "use `calibcli apply`")
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
    return [formulas_of(recalibrator.members.of(place), one)[0] for place, one in enumerate(before)]


def _valid_row(text: sql.SqlText, before: list[Formula], scale: Scale) -> str:
    """Return the condition of a row that `apply` takes; NaN is above everything, or fails all comparisons."""
    inside = _in_range(text, scale)
    if scale is Scale.LOGIT:
        return inside
    off = text.of(minus(total(before), Number(1.0)))
    return f"{inside} AND ABS({off}) <= {number(_MOST_OFF, text.dialect)}"


def _in_range(text: sql.SqlText, scale: Scale) -> str:
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


# The numbers of the classes of a row: a list by its one text, or a text for each.
_Numbers = tuple[str, ...]
Pairs = Sequence[tuple[int, int]]

# With more an expression is shorter that has each formula by itself.
_MOST_SHAPES = 4


@dataclass(frozen=True, slots=True)
class _Shape:
    """Formulas that differ in their numbers alone.

    Args:
        places: Which of the formulas these are.
        formula: One for all: 0 is the score, and what follows are the numbers that differ.
        numbers: The numbers that differ, shape (places, numbers).
    """

    places: list[int]
    formula: Formula
    numbers: Floats


def _shapes(formulas: Sequence[Formula]) -> list[_Shape]:
    """Return formulas by their shape, each of the number at its own place; none where one looks up steps."""
    if any(map(_has_steps, formulas)):
        return []
    found: dict[Hashable, tuple[Formula, list[int]]] = {}
    numbers: list[list[float]] = []
    for place, formula in enumerate(formulas):
        numbers.append([])
        shape, opened = _opened(formula, numbers[-1])
        found.setdefault(shape, (opened, []))[1].append(place)
    return [
        _Shape(places, opened, np.array([numbers[one] for one in places]))
        for opened, places in found.values()
    ]


def _has_steps(formula: Formula) -> bool:
    return isinstance(formula, Steps) or any(map(_has_steps, parts_of(formula)))


def _opened(formula: Formula, numbers: list[float]) -> tuple[Hashable, Formula]:
    """Return the shape of a formula, and the formula with scores from 1 on in place of its numbers."""
    match formula:
        case Number(value=value):
            numbers.append(value)
            return "number", Score(len(numbers))
        case Pair(operator=Operator.OVER, left=left, right=Number(value=value) as right):
            # How a quotient is written depends on what divides.
            shape, opened = _opened(left, numbers)
            return ("over", value, shape), over(opened, right)
        case Pair(operator=operator, left=left, right=right):
            (first, left), (second, right) = _opened(left, numbers), _opened(right, numbers)
            return (operator, first, second), Pair(operator, left, right)
        case Single(curve=curve, of=inner):
            shape, opened = _opened(inner, numbers)
            return (curve, shape), Single(curve, opened)
        case Pieces(of=inner, cuts=cuts, parts=parts):
            shapes, (which, *others) = zip(*(_opened(one, numbers) for one in (inner, *parts)), strict=True)
            return (cuts, *shapes), Pieces(which, cuts, tuple(others))
        case Score() | Steps():
            return "score", Score()
        case _:
            assert_never(formula)


class _Stages(ABC):
    """The steps from the scores of a row to its probabilities, each a join beside the row."""

    def __init__(self, ask: sql.SqlAsk, count: int) -> None:
        self._dialect, self.count, self._prefix = ask.dialect, count, sql.prefix_beside(ask.table)
        self.joined: list[sql.Joined] = []

    def one(self, expression: str, *sources: str) -> str:
        """Work a number out of a row or of lists, and return its name."""
        return self._joined({"v": expression}, *sources)[0]

    def _joined(self, columns: dict[str, str], *sources: str) -> _Numbers:
        name, source = f"{self._prefix}{len(self.joined) + 1}", ""
        if self._dialect is SqlDialect.POSTGRES:
            # Each mention of what stands before would be a column, of which there are at most 1,664; and
            # without the offset the expression would be written out wherever it is used.
            stages = (one.partition(".")[0] for one in sources)
            source = f"FROM {', '.join(f'(SELECT {one}.*) AS {one}' for one in stages)} OFFSET 0\n"
        self.joined.append(sql.beside_each_row(columns, name, self._dialect, source=source))
        return tuple(f"{name}.{column}" for column in columns)

    def number(self, value: float) -> str:
        return number(value, self._dialect)

    @abstractmethod
    def many(self, numbers: _Numbers, *sources: str) -> _Numbers:
        """Work numbers out of a row or of lists, and return their names."""

    @abstractmethod
    def inside(self, condition: str, scores: _Numbers) -> _Numbers:
        """Return the scores of a row that satisfies a condition, else NULL."""

    @abstractmethod
    def places(self, of: _Numbers, count: int | None = None) -> _Numbers:
        """Return each number, of as many as there are classes or as are said."""

    @abstractmethod
    def each(self, to: Callable[[str], str], of: _Numbers) -> _Numbers:
        """Return an expression of each number."""

    @abstractmethod
    def at_place(self, to: Callable[[str, str], str], of: _Numbers) -> _Numbers:
        """Return an expression of the place of each number, counted from 0, and of the number."""

    @abstractmethod
    def of_pairs(self, to: Callable[[str, str], str], pairs: Pairs, of: _Numbers) -> _Numbers:
        """Return an expression of both numbers of each pair of places."""

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

    @abstractmethod
    def capped(self, of: _Numbers, left: str, most: str, *, where: str) -> _Numbers:
        """Return shares of what is left, in proportion to numbers of 0 or more, none above a limit."""

    def written(self, formulas: Sequence[Formula], of: _Numbers, count: int | None = None) -> _Numbers:
        return self.listed(self._texts(formulas, self.places(of, count)))

    def formula(self, formula: Formula, *of: str) -> str:
        return self._texts([formula], of)[0]

    def _texts(self, formulas: Sequence[Formula], of: _Numbers) -> list[str]:
        text = sql.SqlText(self._dialect, of, self._prefix, joins=False)
        return [text.of(one) for one in formulas]

    def first(self, of: _Numbers, most: str, called: Iterable[str]) -> str:
        """Return what the first of the largest numbers is called."""
        arms = zip(self.places(of), called, strict=True)
        return f"CASE {' '.join(f'WHEN {one} >= {most} THEN {word}' for one, word in arms)} END"

    def softmax(self, logits: _Numbers) -> _Numbers:
        most = self.one(self.largest(logits), logits[0])
        least, zero = self.number(LEAST_POWER), self.number(0.0)

        def power(x: str) -> str:
            way = f"{x} - {most}"
            return f"CASE WHEN {way} < {least} THEN {zero} ELSE EXP(GREATEST({way}, {least})) END"

        return self.divided(self.many(self.each(power, logits), logits[0]))

    def divided(self, of: _Numbers) -> _Numbers:
        """Return the names of numbers divided by their sum, which is 0 in rows that get NULL alone."""
        whole = self.one(self.total(of), of[0])
        return self.many(self.each(lambda x: f"{x} / NULLIF({whole}, {self.number(0.0)})", of), of[0])


class _InLists(_Stages):
    """Steps of lists, where a dialect has them."""

    def __init__(self, ask: sql.SqlAsk, count: int, words: Lists) -> None:
        super().__init__(ask, count)
        self._words = words

    def many(self, numbers: _Numbers, *sources: str) -> _Numbers:
        return (self.one(numbers[0], *sources),)

    def inside(self, condition: str, scores: _Numbers) -> _Numbers:
        return self.many((f"CASE WHEN {condition}\n    THEN {self.listed(scores)[0]} END",), sql.ROWS)

    def places(self, of: _Numbers, count: int | None = None) -> _Numbers:
        return tuple(self._words.at.format(of=of[0], next=place + 1) for place in range(count or self.count))

    def written(self, formulas: Sequence[Formula], of: _Numbers, count: int | None = None) -> _Numbers:
        shapes = _shapes(formulas)
        if not 0 < len(shapes) <= _MOST_SHAPES:
            return super().written(formulas, of, count)
        arms = [self._arm(one, len(formulas)) for one in shapes]
        which = np.zeros(len(formulas))
        for number_of_shape, one in enumerate(shapes):
            which[one.places] = number_of_shape
        cases = " ".join(f"WHEN {self.number(place)} THEN {arm}" for place, arm in enumerate(arms))
        text = arms[0] if len(arms) == 1 else f"CASE {self._of_place(which)} {cases} END"
        return self.each(lambda _: text, of)

    def _arm(self, shape: "_Shape", count: int) -> str:
        """Return the formula of a shape for the number `x`, with what differs looked up by its place."""
        scores = ["x"]
        for numbers in shape.numbers.T:
            values = np.full(count, numbers[0])
            values[shape.places] = numbers
            same = bool(np.all(values == numbers[0]))
            scores.append(self.number(float(numbers[0])) if same else self._of_place(values))
        return sql.SqlText(self._dialect, tuple(scores), self._prefix, joins=False).of(shape.formula)

    def _of_place(self, values: Floats) -> str:
        return self._words.at.format(of=sql.array_of(values, self._dialect), next=self._words.place)

    def first(self, of: _Numbers, most: str, called: Iterable[str]) -> str:
        position = self._words.position.format(of=of[0], number=most)
        return self._words.at.format(of=self._words.listed.format(", ".join(called)), next=position)

    def each(self, to: Callable[[str], str], of: _Numbers) -> _Numbers:
        return (self._words.each.format(to=to("x"), of=of[0]),)

    def at_place(self, to: Callable[[str, str], str], of: _Numbers) -> _Numbers:
        return self.each(lambda x: to(f"{self._words.place} - 1", x), of)

    def of_pairs(self, to: Callable[[str, str], str], pairs: Pairs, of: _Numbers) -> _Numbers:
        first, second = (
            sql.array_of(np.array(side, np.float64) + 1.0, self._dialect) for side in zip(*pairs, strict=True)
        )
        other = self._words.at.format(of=second, next=self._words.place)
        both = (self._words.at.format(of=of[0], next=f"CAST({one} AS INT)") for one in ("x", other))
        return (self._words.each.format(to=to(*both), of=first),)

    def total(self, of: _Numbers) -> str:
        return self._words.total.format(of[0])

    def largest(self, of: _Numbers) -> str:
        return self._words.largest.format(of[0])

    def listed(self, numbers: Iterable[str]) -> _Numbers:
        return (self._words.listed.format(",\n    ".join(numbers)),)

    def products(self, weights: Floats, intercept: Floats, of: _Numbers) -> _Numbers:
        kept = np.where(np.abs(weights) < _LEAST_WEIGHT, 0.0, weights)
        rows = (self._words.product.format(of[0], sql.array_of(row, self._dialect)) for row in kept)
        return self.listed(
            f"{row} + {self.number(one)}" for row, one in zip(rows, intercept.tolist(), strict=True)
        )

    def either(self, condition: str, first: _Numbers, second: _Numbers) -> _Numbers:
        return (f"CASE WHEN {condition} THEN {first[0]} ELSE {second[0]} END",)

    def capped(self, of: _Numbers, left: str, most: str, *, where: str) -> _Numbers:
        level = self._words.level.format(of=of[0], left=left, most=most, count=self.count)
        found = self.one(f"CASE WHEN {where} THEN {level} END", of[0])
        return self.each(lambda x: f"LEAST({x} * {found}, {most})", of)


class _InColumns(_Stages):
    """Steps of a column for each class, where a dialect has no lists but joins beside a row."""

    def many(self, numbers: _Numbers, *sources: str) -> _Numbers:
        return self._joined({f"v{place + 1}": one for place, one in enumerate(numbers)}, *sources)

    def inside(self, condition: str, scores: _Numbers) -> _Numbers:
        taken = self.one(f"CASE WHEN {condition} THEN 1 END", sql.ROWS)
        return self.many(self.each(lambda x: f"CASE WHEN {taken} = 1 THEN {x} END", scores), sql.ROWS)

    def places(self, of: _Numbers, count: int | None = None) -> _Numbers:  # noqa: ARG002 - lists do not know it
        return of

    def each(self, to: Callable[[str], str], of: _Numbers) -> _Numbers:
        return tuple(map(to, of))

    def at_place(self, to: Callable[[str, str], str], of: _Numbers) -> _Numbers:
        return tuple(to(str(place), one) for place, one in enumerate(of))

    def of_pairs(self, to: Callable[[str, str], str], pairs: Pairs, of: _Numbers) -> _Numbers:
        return tuple(to(of[first], of[second]) for first, second in pairs)

    def total(self, of: _Numbers) -> str:
        return _added(of)

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

    def capped(self, of: _Numbers, left: str, most: str, *, where: str) -> _Numbers:  # noqa: ARG002 - columns hold all rows
        # A number is at the limit if what is left is more than all get where it just comes to the limit.
        zero, one = self.number(0.0), self.number(1.0)
        scale = self.many(
            self.each(lambda x: f"CASE WHEN {x} > {zero} THEN {most} / {x} ELSE {zero} END", of), of[0]
        )
        sums = (_added(tuple(f"LEAST({x} * {by}, {most})" for x in of)) for by in scale)
        full = self.many(
            tuple(
                f"CASE WHEN {by} > {zero} AND {found} < {left} THEN {one} ELSE {zero} END"
                for by, found in zip(scale, sums, strict=True)
            ),
            scale[0],
        )
        rest = self.total(tuple(f"{x} * ({one} - {flag})" for x, flag in zip(of, full, strict=True)))
        level = self.one(
            f"GREATEST({left} - {most} * {self.total(full)}, {zero}) / NULLIF({rest}, {zero})", full[0]
        )
        return tuple(
            f"CASE WHEN {flag} = {one} THEN {most} ELSE LEAST({x} * {level}, {most}) END"
            for x, flag in zip(of, full, strict=True)
        )


def _added(of: Sequence[str]) -> str:
    """Return a sum in halves, since parsers count how deep one of a thousand is."""
    if len(of) == 1:
        return of[0]
    half = len(of) // 2
    return f"({_added(of[:half])} + {_added(of[half:])})"


# What engines compare in one call of GREATEST.
_MOST_COMPARED = 50


def _in_stages(recalibrator: ClassRecalibrator, ask: sql.SqlAsk, origin: Origin) -> _Found | None:
    """Return steps as long as what the map was fitted to, or None where no join speaks of a row."""
    words, count, scale = SPELLINGS[ask.dialect], len(origin.classes), origin.scale
    if words.lists is None and not words.lateral:
        return None
    stages = _InColumns(ask, count) if words.lists is None else _InLists(ask, count, words.lists)
    text = sql.SqlText(ask.dialect, ask.written_scores(), "")
    scores = stages.inside(_in_range(text, scale), text.scores)
    before, valid = scores, f"{scores[0]} IS NOT NULL"
    if scale is Scale.LOGIT:
        before = stages.softmax(scores)
    elif scale is not Scale.PROB:
        formulas = [probability(one, scale) for one in _each_score(count)]
        before = stages.many(stages.written(formulas, scores), scores[0])
    if scale is not Scale.LOGIT:
        whole = stages.one(stages.total(before), before[0])
        valid += f" AND ABS({whole} - {stages.number(1.0)}) <= {stages.number(_MOST_OFF)}"
    after = _after(stages, recalibrator, before)
    judged = before if recalibrator.keeps_prediction else after
    most = stages.one(stages.largest(judged), judged[0])
    first = stages.first(judged, most, (string(one, ask.dialect) for one in origin.classes))
    largest = most if judged is after else stages.one(stages.largest(after), after[0])
    return _named(ask, origin, stages.places(after), first, largest), valid, stages.joined


def _each_score(count: int) -> list[Formula]:
    return [Score(place) for place in range(count)]


def _after(stages: _Stages, recalibrator: ClassRecalibrator, before: _Numbers) -> _Numbers:
    match recalibrator:
        case TopLabel():
            return _top_label(stages, recalibrator, before)
        case OneVsOne():
            return _one_vs_one(stages, recalibrator, before)
        case OneVsRest():
            formulas = _members(recalibrator, _each_score(stages.count))
            after = stages.many(stages.written(formulas, before), before[0])
            if recalibrator.output_sum is OutputSum.FREE:
                return after
            return _divided(stages, after, before, least=LEAST)
        case Linear() if recalibrator.weight.ndim > 1:
            least = stages.number(recalibrator.least)
            logs = stages.many(stages.each(lambda x: f"LN(GREATEST({x}, {least}))", before), before[0])
            sums = stages.products(recalibrator.weight, recalibrator.intercept, logs)
            return stages.softmax(stages.many(sums, logs[0]))
        case _:
            sums = stages.written(_logits(recalibrator, _each_score(stages.count)), before)
            return stages.softmax(stages.many(sums, before[0]))


def _divided(stages: _Stages, after: _Numbers, before: _Numbers, *, least: float) -> _Numbers:
    """Return numbers divided by their sum, or, where that is less than a limit, those from before."""
    none = f"{stages.one(stages.total(after), after[0])} < {stages.number(least)}"
    return stages.divided(stages.many(stages.either(none, before, after), after[0]))


def _top_label(stages: _Stages, recalibrator: TopLabel, before: _Numbers) -> _Numbers:
    """Return the new confidence, and what it leaves shared out, as `TopLabel.predict` does it."""
    zero, one, count = stages.number(0.0), stages.number(1.0), stages.count
    largest = stages.one(stages.largest(before), before[0])
    which = stages.one(stages.first(before, largest, map(str, range(count))), before[0])
    confidence = stages.one(stages.formula(_of_predicted(recalibrator, count), largest, which), which)
    left = stages.one(f"{one} - {confidence}", confidence)
    most = stages.one(f"{confidence} * {stages.number(1.0 - 2.0**-53)}", confidence)
    some = stages.each(lambda x: f"CASE WHEN {x} > {zero} THEN {one} ELSE {zero} END", before)
    alone = f"{stages.one(stages.total(stages.many(some, before[0])), before[0])} < {stages.number(1.5)}"

    def beside(of: _Numbers, to: Callable[[str], str], predicted: str) -> _Numbers:
        """Return an expression of each number, and another of the predicted class."""

        def either(place: str, x: str) -> str:
            return f"CASE WHEN {which} = {place} THEN {predicted} {to(x)} END"

        return stages.many(stages.at_place(either, of), of[0])

    rest = beside(before, lambda x: f"WHEN {alone} THEN {one} ELSE {x}", zero)
    whole = stages.one(stages.total(rest), rest[0])

    def share(of: str) -> str:
        return stages.formula(times(over(Score(0), Score(1)), Score(2)), of, whole, left)

    above = f"{share(stages.one(stages.largest(rest), rest[0]))} > {most}"
    enough = f"{confidence} * {stages.number(count)} >= {one}"
    crowded = stages.one(f"CASE WHEN {enough} AND {above} THEN 1 ELSE 0 END", whole)
    where = f"{crowded} = 1"
    had = beside(rest, lambda x: f"ELSE GREATEST({x}, {stages.number(_LEAST_NORMAL)})", zero)
    capped = stages.many(stages.capped(had, left, most, where=where), had[0])
    shared = stages.many(stages.each(share, rest), rest[0])
    after = stages.many(stages.either(where, capped, shared), shared[0])
    return beside(after, lambda x: f"ELSE {x}", confidence)


def _of_predicted(recalibrator: TopLabel, count: int) -> Formula:
    """Return what the map of the predicted class says: 0 is its probability, and 1 its place."""
    maps = [recalibrator.members.of(place) for place in range(count)]
    cuts = [place for place in range(1, count) if maps[place] is not maps[place - 1]]
    parts = tuple(formulas_of(maps[place], Score(0))[0] for place in (0, *cuts))
    return Pieces(Score(1), tuple(map(float, cuts)), parts) if cuts else parts[0]


def _one_vs_one(stages: _Stages, recalibrator: OneVsOne, before: _Numbers) -> _Numbers:
    """Return the probabilities that agree with the maps of all pairs, as `OneVsOne.predict` does it."""
    zero, one, least = stages.number(0.0), stages.number(1.0), stages.number(_LEAST_SHARE)
    maps, pairs = recalibrator.pairs, list(combinations(range(stages.count), 2))

    def share(a: str, b: str) -> str:
        return f"COALESCE({a} / NULLIF({a} + {b}, {zero}), {stages.number(0.5)})"

    ahead = stages.many(stages.of_pairs(share, pairs, before), before[0])
    formulas = [
        formulas_of(maps[pair], Score(place))[0] if pair in maps else Score(place)
        for place, pair in enumerate(pairs)
    ]
    ahead = stages.many(stages.written(formulas, ahead, len(pairs)), ahead[0])
    of_first = stages.many(stages.each(lambda x: f"{one} / GREATEST({x}, {least})", ahead), ahead[0])
    of_second = stages.many(stages.each(lambda x: f"{one} / GREATEST({one} - {x}, {least})", ahead), ahead[0])
    inverse: list[list[str]] = [[] for _ in range(stages.count)]
    for side, listed in enumerate((of_first, of_second)):
        for pair, number_of_pair in zip(pairs, stages.places(listed, len(pairs)), strict=True):
            inverse[pair[side]].append(number_of_pair)
    others = stages.number(stages.count - 2.0)
    after = stages.listed(f"{one} / ({_added(parts)} - {others})" for parts in inverse)
    # A class that a pair leaves nothing has less than this, and so have all where no class has more.
    return _divided(stages, stages.many(after, of_first[0], of_second[0]), before, least=_LEAST_SHARE * 100.0)
