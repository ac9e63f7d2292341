"""Maps of several classes as queries: an expression a class, or, of many classes, steps beside each row."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations
from typing import Self, assert_never

import numpy as np

from calibcli.data.faults import SUM_TOLERANCE
from calibcli.errors import UsageProblem
from calibcli.export import sql
from calibcli.export.dialects import LEAST, SPELLINGS, Lists, TooLong, number, string
from calibcli.export.maps import (
    LARGEST_EXPONENT,
    LEAST_POWER,
    Formula,
    Number,
    Operator,
    Origin,
    Pair,
    Pieces,
    Score,
    Single,
    Steps,
    exp,
    formulas_of,
    log,
    parts_of,
    probability,
    range_of,
    total,
)
from calibcli.names import OutputSum, Scale, SqlDialect
from calibcli.stats.recalibrators.classes import ClassRecalibrator
from calibcli.stats.recalibrators.classes.linear import Linear
from calibcli.stats.recalibrators.classes.members import OneVsRest
from calibcli.stats.recalibrators.classes.one_vs_one import OneVsOne
from calibcli.stats.recalibrators.classes.temperature import ClassTemperature
from calibcli.stats.recalibrators.classes.top_label import TopLabel
from calibcli.stats.table import Floats
from calibcli.values import dataclass, replace

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
    return [Pieces(one, (none,), (1.0 / one, Number(0.0))) for one in sums]


def _formulas(recalibrator: ClassRecalibrator, before: list[Formula]) -> list[Formula]:
    if not isinstance(recalibrator, OneVsRest):
        return _softmax(_logits(recalibrator, before))
    after = _members(recalibrator, before)
    if recalibrator.output_sum is OutputSum.FREE:
        return after
    whole, nothing = total(after), total(before)
    # Where every map says 0 the row stays as it was.
    return [
        Pieces(whole, (LEAST,), (one / nothing, new / whole)) for one, new in zip(before, after, strict=True)
    ]


def _softmax(logits: list[Formula]) -> list[Formula]:
    """Return 1 / sum_j exp(t_j - t_k) for each k: no largest is needed, since exponents are limited."""
    return [1.0 / one for one in _sums_of_powers(logits)]


def _sums_of_powers(logits: list[Formula]) -> list[Formula]:
    return [total([exp(other - one) for other in logits]) for one in logits]


def _logits(recalibrator: ClassRecalibrator, before: list[Formula]) -> list[Formula]:
    if not isinstance(recalibrator, (ClassTemperature, Linear)):
        msg = f"a {recalibrator.name.value} map of several classes cannot be exported"
        raise UsageProblem(msg, "use `calibcli apply`")
    logs = [log(Pair(Operator.GREATEST, one, Number(recalibrator.least))) for one in before]
    if isinstance(recalibrator, ClassTemperature):
        return [one / recalibrator.temperature for one in logs]
    weight, found = recalibrator.weight, []
    for place, intercept in enumerate(recalibrator.intercept.tolist()):
        if weight.ndim == 1:
            slope: Formula = float(weight[place]) * logs[place]
        else:
            slope = total([w * one for w, one in zip(weight[place].tolist(), logs, strict=True)])
        found.append(slope + intercept)
    return found


def _members(recalibrator: OneVsRest, before: list[Formula]) -> list[Formula]:
    return [formulas_of(recalibrator.members.of(place), one)[0] for place, one in enumerate(before)]


def _valid_row(text: sql.SqlText, before: list[Formula], scale: Scale) -> str:
    """Return the condition of a row that `apply` takes; NaN is above everything, or fails all comparisons."""
    inside = _in_range(text, scale)
    if scale is Scale.LOGIT:
        return inside
    off = text.of(total(before) - 1.0)
    return f"{inside} AND ABS({off}) <= {number(SUM_TOLERANCE, text.dialect)}"


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
            return ("over", value, shape), opened / right
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


class _Stages:
    """The steps from the scores of a row to its probabilities, each a join beside the row."""

    def __init__(self, ask: sql.SqlAsk) -> None:
        self.dialect, self.prefix = ask.dialect, sql.prefix_beside(ask.table)
        self.joined: list[sql.Joined] = []

    def one(self, expression: str, *sources: str) -> str:
        """Work a number out of a row, or of what was worked out before, and return its name."""
        return self.kept({"v": expression}, *sources)[0]

    def kept(self, columns: dict[str, str], *sources: str) -> list[str]:
        """Work columns out, and return their names."""
        name, source = f"{self.prefix}{len(self.joined) + 1}", ""
        if self.dialect is SqlDialect.POSTGRES:
            # Each mention of what stands before would be a column, of which there are at most 1,664; and
            # without the offset the expression would be written out wherever it is used.
            stages = (one.partition(".")[0] for one in sources)
            source = f"FROM {', '.join(f'(SELECT {one}.*) AS {one}' for one in stages)} OFFSET 0\n"
        self.joined.append(sql.beside_each_row(columns, name, self.dialect, source=source))
        return [f"{name}.{column}" for column in columns]

    def number(self, value: float) -> str:
        return number(value, self.dialect)

    def texts(self, formulas: Sequence[Formula], of: Sequence[str]) -> list[str]:
        text = sql.SqlText(self.dialect, tuple(of), self.prefix, joins=False)
        return [text.of(one) for one in formulas]

    def numbers(self, texts: Iterable[str], *sources: str) -> "_Numbers":
        """Return expressions as the numbers of the classes; `sources` were worked out before."""
        words, each = SPELLINGS[self.dialect].lists, list(texts)
        if words is None:
            return _Numbers(self, each, sources)
        return _InList(self, [words.listed.format(",\n    ".join(each))], sources, words, len(each))


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Numbers of the classes of a row, or of pairs, by column; expressions of `sources` until `kept`."""

    stages: _Stages
    texts: Sequence[str]
    sources: Sequence[str]

    def like(self, *texts: str) -> Self:
        return replace(self, texts=texts)

    def one(self, expression: str) -> str:
        """Work a number out of these, and return its name."""
        return self.stages.one(expression, *self.sources)

    def kept(self) -> Self:
        """Work the numbers out, and return them by their names."""
        columns = {f"v{place + 1}": one for place, one in enumerate(self.texts)}
        names = self.stages.kept(columns, *self.sources)
        return replace(self, texts=names, sources=names[:1])

    def number(self, value: float) -> str:
        return self.stages.number(value)

    @property
    def places(self) -> Sequence[str]:
        """Each number by itself."""
        return self.texts

    def inside(self, condition: str) -> Self:
        """Return the scores of a row that satisfies a condition, else NULL."""
        taken = self.one(f"CASE WHEN {condition} THEN 1 END")
        return self.each(lambda x: f"CASE WHEN {taken} = 1 THEN {x} END").kept()

    def each(self, to: Callable[[str], str]) -> Self:
        """Return an expression of each number."""
        return self.like(*map(to, self.texts))

    def at_place(self, to: Callable[[str, str], str]) -> Self:
        """Return an expression of the place of each number, counted from 0, and of the number."""
        return self.like(*(to(str(place), one) for place, one in enumerate(self.texts)))

    def of_pairs(self, to: Callable[[str, str], str], pairs: Pairs) -> Self:
        """Return an expression of both numbers of each pair of places."""
        return self.like(*(to(self.texts[first], self.texts[second]) for first, second in pairs))

    def written(self, formulas: Sequence[Formula]) -> "_Numbers":
        """Return a formula of each of them."""
        return self.stages.numbers(self.stages.texts(formulas, self.places), *self.sources)

    @property
    def total(self) -> str:
        """Their sum."""
        return _added(self.texts)

    @property
    def largest(self) -> str:
        """The largest of them."""
        return _greatest(self.texts)

    def first(self, most: str, called: Iterable[str]) -> str:
        """Return what the first of the largest numbers is called."""
        arms = zip(self.texts, called, strict=True)
        return f"CASE {' '.join(f'WHEN {one} >= {most} THEN {word}' for one, word in arms)} END"

    def products(self, weights: Floats, intercept: Floats) -> "_Numbers":
        """Return weighted sums of the numbers."""
        kept = np.where(np.abs(weights) < _LEAST_WEIGHT, 0.0, weights)
        rows = zip(map(self._product, kept), intercept.tolist(), strict=True)
        return self.stages.numbers((f"{row} + {self.number(one)}" for row, one in rows), *self.sources)

    def _product(self, weights: Floats) -> str:
        pairs = zip(weights.tolist(), self.texts, strict=True)
        return _added([f"{self.number(weight)} * {one}" for weight, one in pairs])

    def unless(self, condition: str, others: Self) -> Self:
        """Return other numbers where a condition holds."""
        chosen = self.one(f"CASE WHEN {condition} THEN 1 ELSE 0 END")
        pairs = zip(others.texts, self.texts, strict=True)
        return self.like(*(f"CASE WHEN {chosen} = 1 THEN {one} ELSE {other} END" for one, other in pairs))

    def capped(self, left: str, most: str, *, where: str) -> Self:  # noqa: ARG002 - columns hold all rows
        """Return shares of what is left, in proportion to these of 0 or more, none above a limit."""
        # A number is at the limit if what is left is more than all get where it just comes to the limit.
        zero, one = self.number(0.0), self.number(1.0)
        scale = self.each(lambda x: f"CASE WHEN {x} > {zero} THEN {most} / {x} ELSE {zero} END").kept()
        sums = (_added([f"LEAST({x} * {by}, {most})" for x in self.texts]) for by in scale.texts)
        flags = (
            f"CASE WHEN {by} > {zero} AND {found} < {left} THEN {one} ELSE {zero} END"
            for by, found in zip(scale.texts, sums, strict=True)
        )
        full = scale.like(*flags).kept()
        pairs = list(zip(self.texts, full.texts, strict=True))
        rest = _added([f"{x} * ({one} - {flag})" for x, flag in pairs])
        level = full.one(f"GREATEST({left} - {most} * {full.total}, {zero}) / NULLIF({rest}, {zero})")
        shares = ((flag, f"LEAST({x} * {level}, {most})") for x, flag in pairs)
        return self.like(
            *(f"CASE WHEN {flag} = {one} THEN {most} ELSE {share} END" for flag, share in shares)
        )

    def softmax(self) -> Self:
        """Return powers of e, divided by their sum."""
        most, least, zero = self.one(self.largest), self.number(LEAST_POWER), self.number(0.0)

        def power(x: str) -> str:
            way = f"{x} - {most}"
            return f"CASE WHEN {way} < {least} THEN {zero} ELSE EXP(GREATEST({way}, {least})) END"

        return self.each(power).kept().divided()

    def divided(self) -> Self:
        """Return the numbers divided by their sum, which is 0 in rows that get NULL alone."""
        whole = self.one(self.total)
        return self.each(lambda x: f"{x} / NULLIF({whole}, {self.number(0.0)})").kept()


@dataclass(frozen=True, slots=True)
class _InList(_Numbers):
    """The same in a list, which is one text, where a dialect has the words."""

    words: Lists
    size: int

    def kept(self) -> Self:
        name = self.one(self.texts[0])
        return replace(self, texts=[name], sources=[name])

    @property
    def places(self) -> Sequence[str]:
        return [self.words.at.format(of=self.texts[0], next=place + 1) for place in range(self.size)]

    def inside(self, condition: str) -> Self:
        return self.like(f"CASE WHEN {condition}\n    THEN {self.texts[0]} END").kept()

    def each(self, to: Callable[[str], str]) -> Self:
        return self.like(self.words.each.format(to=to("x"), of=self.texts[0]))

    def at_place(self, to: Callable[[str, str], str]) -> Self:
        return self.each(lambda x: to(f"{self.words.place} - 1", x))

    def of_pairs(self, to: Callable[[str, str], str], pairs: Pairs) -> Self:
        first, second = (
            sql.array_of(np.array(side, np.float64) + 1.0, self.stages.dialect)
            for side in zip(*pairs, strict=True)
        )
        other = self.words.at.format(of=second, next=self.words.place)
        both = (self.words.at.format(of=self.texts[0], next=f"CAST({one} AS INT)") for one in ("x", other))
        return replace(self, texts=[self.words.each.format(to=to(*both), of=first)], size=len(pairs))

    def written(self, formulas: Sequence[Formula]) -> _Numbers:
        shapes = _shapes(formulas)
        if not 0 < len(shapes) <= _MOST_SHAPES:
            return _Numbers.written(self, formulas)
        arms = [self._arm(one, len(formulas)) for one in shapes]
        which = np.zeros(len(formulas))
        for number_of_shape, one in enumerate(shapes):
            which[one.places] = number_of_shape
        cases = " ".join(f"WHEN {self.number(place)} THEN {arm}" for place, arm in enumerate(arms))
        text = arms[0] if len(arms) == 1 else f"CASE {self._of_place(which)} {cases} END"
        return self.each(lambda _: text)

    def _arm(self, shape: "_Shape", count: int) -> str:
        """Return the formula of a shape for the number `x`, with what differs looked up by its place."""
        scores = ["x"]
        for numbers in shape.numbers.T:
            values = np.full(count, numbers[0])
            values[shape.places] = numbers
            same = bool(np.all(values == numbers[0]))
            scores.append(self.number(float(numbers[0])) if same else self._of_place(values))
        return self.stages.texts([shape.formula], scores)[0]

    def _of_place(self, values: Floats) -> str:
        return self.words.at.format(of=sql.array_of(values, self.stages.dialect), next=self.words.place)

    @property
    def total(self) -> str:
        return self.words.total.format(self.texts[0])

    @property
    def largest(self) -> str:
        return self.words.largest.format(self.texts[0])

    def first(self, most: str, called: Iterable[str]) -> str:
        position = self.words.position.format(of=self.texts[0], number=most)
        return self.words.at.format(of=self.words.listed.format(", ".join(called)), next=position)

    def _product(self, weights: Floats) -> str:
        return self.words.product.format(self.texts[0], sql.array_of(weights, self.stages.dialect))

    def unless(self, condition: str, others: Self) -> Self:
        return self.like(f"CASE WHEN {condition} THEN {others.texts[0]} ELSE {self.texts[0]} END")

    def capped(self, left: str, most: str, *, where: str) -> Self:
        level = self.words.level.format(of=self.texts[0], left=left, most=most, count=self.size)
        found = self.one(f"CASE WHEN {where} THEN {level} END")
        return self.each(lambda x: f"LEAST({x} * {found}, {most})")


def _greatest(of: Sequence[str]) -> str:
    """Return the largest of some numbers, so many at once as engines compare in one call."""
    if len(of) <= _MOST_COMPARED:
        return of[0] if len(of) == 1 else f"GREATEST({', '.join(of)})"
    size = -(-len(of) // _MOST_COMPARED)
    return _greatest([_greatest(of[at : at + size]) for at in range(0, len(of), size)])


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
    stages = _Stages(ask)
    text = sql.SqlText(ask.dialect, ask.written_scores(), "")
    scores = stages.numbers(text.scores, sql.ROWS).inside(_in_range(text, scale))
    before, valid = scores, f"{scores.texts[0]} IS NOT NULL"
    if scale is Scale.LOGIT:
        before = scores.softmax()
    elif scale is not Scale.PROB:
        before = scores.written([probability(one, scale) for one in _each_score(count)]).kept()
    if scale is not Scale.LOGIT:
        whole = before.one(before.total)
        valid += f" AND ABS({whole} - {stages.number(1.0)}) <= {stages.number(SUM_TOLERANCE)}"
    after = _after(recalibrator, before)
    judged = before if recalibrator.keeps_prediction else after
    most = judged.one(judged.largest)
    first = judged.first(most, (string(one, ask.dialect) for one in origin.classes))
    largest = most if judged is after else after.one(after.largest)
    return _named(ask, origin, after.places, first, largest), valid, stages.joined


def _each_score(count: int) -> list[Formula]:
    return [Score(place) for place in range(count)]


def _after(recalibrator: ClassRecalibrator, before: _Numbers) -> _Numbers:
    match recalibrator:
        case TopLabel():
            return _top_label(recalibrator, before)
        case OneVsOne():
            return _one_vs_one(recalibrator, before)
        case OneVsRest():
            after = before.written(_members(recalibrator, _each_score(len(before.places)))).kept()
            return (
                after if recalibrator.output_sum is OutputSum.FREE else _divided(after, before, least=LEAST)
            )
        case Linear() if recalibrator.weight.ndim > 1:
            least = before.stages.number(recalibrator.least)
            logs = before.each(lambda x: f"LN(GREATEST({x}, {least}))").kept()
            return logs.products(recalibrator.weight, recalibrator.intercept).kept().softmax()
        case _:
            return before.written(_logits(recalibrator, _each_score(len(before.places)))).kept().softmax()


def _divided(after: _Numbers, before: _Numbers, *, least: float) -> _Numbers:
    """Return numbers divided by their sum, or, where that is less than a limit, those from before."""
    none = f"{after.one(after.total)} < {after.stages.number(least)}"
    return after.unless(none, before).kept().divided()


def _top_label(recalibrator: TopLabel, before: _Numbers) -> _Numbers:
    """Return the new confidence, and what it leaves shared out, as `TopLabel.predict` does it."""
    stages, count = before.stages, len(before.places)
    zero, one = stages.number(0.0), stages.number(1.0)
    largest = before.one(before.largest)
    which = before.one(before.first(largest, map(str, range(count))))
    confidence = stages.one(stages.texts([_of_predicted(recalibrator, count)], [largest, which])[0], which)
    left = stages.one(f"{one} - {confidence}", confidence)
    most = stages.one(f"{confidence} * {stages.number(1.0 - 2.0**-53)}", confidence)
    some = before.each(lambda x: f"CASE WHEN {x} > {zero} THEN {one} ELSE {zero} END").kept()
    alone = f"{before.one(some.total)} < {stages.number(1.5)}"

    def beside(of: _Numbers, to: Callable[[str], str], predicted: str) -> _Numbers:
        """Return an expression of each number, and another of the predicted class."""
        return of.at_place(
            lambda place, x: f"CASE WHEN {which} = {place} THEN {predicted} {to(x)} END"
        ).kept()

    rest = beside(before, lambda x: f"WHEN {alone} THEN {one} ELSE {x}", zero)
    whole = rest.one(rest.total)

    def share(of: str) -> str:
        return stages.texts([Score(0) / Score(1) * Score(2)], [of, whole, left])[0]

    above = f"{share(rest.one(rest.largest))} > {most}"
    enough = f"{confidence} * {stages.number(count)} >= {one}"
    crowded = stages.one(f"CASE WHEN {enough} AND {above} THEN 1 ELSE 0 END", whole)
    where = f"{crowded} = 1"
    had = beside(rest, lambda x: f"ELSE GREATEST({x}, {stages.number(_LEAST_NORMAL)})", zero)
    capped = had.capped(left, most, where=where).kept()
    after = rest.each(share).kept().unless(where, capped).kept()
    return beside(after, lambda x: f"ELSE {x}", confidence)


def _of_predicted(recalibrator: TopLabel, count: int) -> Formula:
    """Return what the map of the predicted class says: 0 is its probability, and 1 its place."""
    maps = [recalibrator.members.of(place) for place in range(count)]
    cuts = [place for place in range(1, count) if maps[place] is not maps[place - 1]]
    parts = tuple(formulas_of(maps[place], Score(0))[0] for place in (0, *cuts))
    return Pieces(Score(1), tuple(map(float, cuts)), parts) if cuts else parts[0]


def _one_vs_one(recalibrator: OneVsOne, before: _Numbers) -> _Numbers:
    """Return the probabilities that agree with the maps of all pairs, as `OneVsOne.predict` does it."""
    stages, count = before.stages, len(before.places)
    zero, one, least = stages.number(0.0), stages.number(1.0), stages.number(_LEAST_SHARE)
    maps, pairs = recalibrator.pairs, list(combinations(range(count), 2))

    def share(a: str, b: str) -> str:
        return f"COALESCE({a} / NULLIF({a} + {b}, {zero}), {stages.number(0.5)})"

    formulas = [
        formulas_of(maps[pair], Score(place))[0] if pair in maps else Score(place)
        for place, pair in enumerate(pairs)
    ]
    ahead = before.of_pairs(share, pairs).kept().written(formulas).kept()
    of_first = ahead.each(lambda x: f"{one} / GREATEST({x}, {least})").kept()
    of_second = ahead.each(lambda x: f"{one} / GREATEST({one} - {x}, {least})").kept()
    inverse: list[list[str]] = [[] for _ in range(count)]
    for side, listed in enumerate((of_first, of_second)):
        for pair, number_of_pair in zip(pairs, listed.places, strict=True):
            inverse[pair[side]].append(number_of_pair)
    others = stages.number(count - 2.0)
    sums = (f"{one} / ({_added(parts)} - {others})" for parts in inverse)
    after = stages.numbers(sums, *of_first.sources, *of_second.sources).kept()
    # A class that a pair leaves nothing has less than this, and so have all where no class has more.
    return _divided(after, before, least=_LEAST_SHARE * 100.0)
