"""A map as a query in the dialects of SQL, and that as a view or a model of dbt."""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import assert_never

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.export import maps
from calibcli.export.dialects import (
    SPELLINGS,
    Lookup,
    digits,
    is_numeral,
    name,
    number,
    own_lookup,
    string,
    stripped_text,
    table_name,
    too_long,
    translated,
    translated_name,
)
from calibcli.export.maps import Formula, Number, Operator, Pair, Pieces, Places, Score, Single, Steps
from calibcli.names import MISSING, Scale, SqlDialect
from calibcli.stats.recalibrators import Recalibrator
from calibcli.stats.recalibrators.segments import SegmentColumn, SegmentMap, SegmentTerm
from calibcli.stats.table import Floats
from calibcli.values import dataclass, field

_INFINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


@dataclass(frozen=True, slots=True)
class Joined:
    """What stands beside the rows of a query: its join, if any, and its WITH clause, if any."""

    join: str | None = None
    definition: str | None = None


@dataclass(slots=True)
class StepTable:
    """Many steps: a table to join, or arrays to search; `columns` are values in the order first asked for."""

    dialect: SqlDialect
    name: str
    score: str
    places: Places
    columns: list[Floats] = field(default_factory=list)

    def looked_up(self, values: Floats) -> str:
        known = (i for i, one in enumerate(self.columns) if np.array_equal(one, values))
        place = next(known, len(self.columns))
        if place == len(self.columns):
            self.columns.append(values)
        spelling = SPELLINGS[self.dialect]
        match spelling.steps:
            case Lookup.JOIN:
                return f"{self.name}.v{place + 1}"
            case Lookup.BUCKETS:
                return f"({array_of(values, self.dialect)})[{self.name}.i]"
            case Lookup.SEARCH:
                return f"element_at({array_of(values, self.dialect)}, {self._place_in_spark()})"
            case Lookup.RANGES:
                bucket = f"RANGE_BUCKET({self.score}, {self.name}.starts)"
                return f"{self.name}.v{place + 1}[SAFE_OFFSET({bucket} - 1)]"
            case Lookup.BRANCHES:
                starts = self.places.starts
                return branching(self.score, starts, values, ways=spelling.ways, dialect=self.dialect)
            case Lookup.OWN:
                return own_lookup(self.score, _listed(self.places.starts), _listed(values))
            case _:
                assert_never(spelling.steps)

    @property
    def numbers(self) -> dict[str, Floats]:
        return {"starts": self.places.starts} | {f"v{i + 1}": one for i, one in enumerate(self.columns)}

    def joined(self) -> Joined:
        match SPELLINGS[self.dialect].steps:
            case Lookup.JOIN:
                parts = [_unnested(one, key) for key, one in self.numbers.items()]
                join = f"ASOF LEFT JOIN {self.name} ON {self.score} >= {self.name}.starts"
            case Lookup.RANGES:
                parts = [f"[{_of_bigquery(one)}] AS {key}" for key, one in self.numbers.items()]
                join = f"CROSS JOIN {self.name}"
            case Lookup.BUCKETS:
                bucket = f"WIDTH_BUCKET({self.score}, {array_of(self.places.starts, self.dialect)})"
                return Joined(f"CROSS JOIN LATERAL (SELECT {bucket} AS i) AS {self.name}")
            case _:
                return Joined()
        listed = ",\n    ".join(parts)
        return Joined(join, f"{self.name} AS (\n  SELECT\n    {listed}\n)")

    def _place_in_spark(self) -> str:
        """Return a search by halving, in as many rounds as the number of intervals has binary digits."""
        size = self.places.starts.size
        halves = ", ".join(str(1 << bit) for bit in reversed(range(size.bit_length())))
        starts = array_of(self.places.starts, self.dialect)
        ahead = f"i + h <= {size} AND element_at({starts}, least(i + h, {size})) <= {self.score}"
        return f"aggregate(array({halves}), 0, (i, h) -> if({ahead}, i + h, i))"


def branching(which: str, starts: Floats, values: Floats, *, ways: int, dialect: SqlDialect) -> str:
    """Return the value of a number's interval by comparisons within comparisons."""
    if values.size == 1 or np.all(values == values[0]):
        return number(float(values[0]), dialect)
    ends = (
        [values.size * part // ways for part in range(1, ways)]
        if values.size > ways
        else range(1, values.size)
    )
    parts = [
        branching(which, *several, ways=ways, dialect=dialect)
        for several in zip(np.split(starts, ends), np.split(values, ends), strict=True)
    ]
    return _cases(which, [number(float(starts[one]), dialect) for one in ends], parts)


def _listed(values: Floats) -> str:
    """Return numbers in one text, which is read faster than an expression for each."""
    return ",".join(_INFINITE.get(one) or digits(one) for one in values.tolist())


def array_of(values: Floats, dialect: SqlDialect) -> str:
    return SPELLINGS[dialect].array.format(_listed(values))


def _unnested(values: Floats, column: str) -> str:
    return f"UNNEST({array_of(values, SqlDialect.DUCKDB)}) AS {column}"


def _of_bigquery(values: Floats) -> str:
    return ",".join(number(one, SqlDialect.BIGQUERY) for one in values.tolist())


# A number below this times another may be less than any double above 0.
_TINY = 1e-150

# With more steps a table of them is faster than CASE (docs/export.md has the figures).
MOST_CASES = 64


@dataclass(slots=True)
class SqlText:
    """Formulas as text, and the tables of steps that they look up.

    Args:
        scores: How the score, or the number of each class, is written.
        prefix: What the names of tables of steps begin with.
        most: How long an expression may be, where that is less than what the engine takes.
        joins: Whether many steps may be a table; else they are comparisons within comparisons.
    """

    dialect: SqlDialect
    scores: tuple[str, ...]
    prefix: str
    most: int | None = None
    joins: bool = True
    tables: list[StepTable] = field(default_factory=list)
    _written: dict[int, str] = field(default_factory=dict)
    _kept: list[Formula] = field(default_factory=list)

    def of(self, formula: Formula) -> str:
        if id(formula) not in self._written:
            text = self._text(formula)
            most = self.most or SPELLINGS[self.dialect].most_bytes
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
                return self._pair(operator, left, right)
            case Single(curve=curve, of=inner):
                return f"{'LN' if curve.value == 'log' else 'EXP'}({self.of(inner)})"
            case Pieces(of=inner, cuts=cuts, parts=parts):
                which = self.of(inner)
                return _cases(which, [self._number(cut) for cut in cuts], [self.of(part) for part in parts])
            case Steps(places=places, values=values):
                return self._steps(places, values)
            case _:
                assert_never(formula)

    def _pair(self, operator: Operator, first: Formula, second: Formula) -> str:
        left, right = self.of(first), self.of(second)
        errs = SPELLINGS[self.dialect].guarded
        guarded = errs and operator is Operator.TIMES
        match operator:
            case Operator.LEAST | Operator.GREATEST:
                # These skip NULL, but no score that is NULL gets here.
                return f"{operator.value.upper()}({left}, {right})"
            case _ if guarded and isinstance(first, Number):
                return self._number(0.0) if abs(first.value) < _TINY else f"({left} * {right})"
            case Operator.OVER if errs and isinstance(second, Number) and second.value > 1.0:
                least, zero = self._number(sys.float_info.min * second.value), self._number(0.0)
                return f"CASE WHEN ABS({left}) < {least} THEN {zero} ELSE {left} / {right} END"
            case _ if guarded:
                # A product below the smallest number there is is an error, and not 0.
                zero = self._number(0.0)
                return f"CASE WHEN ABS({left}) < {self._number(_TINY)} THEN {zero} ELSE {left} * {right} END"
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
        if not self.joins:
            return branching(self.of(places.of), places.starts, values, ways=32, dialect=self.dialect)
        return self._table(places).looked_up(values)

    def joined(self) -> list[Joined]:
        """Return how the tables are joined, once all formulas are written."""
        return [one.joined() for one in self.tables]

    def _table(self, places: Places) -> StepTable:
        for one in self.tables:
            if one.places is places:
                return one
        found = StepTable(self.dialect, f"{self.prefix}{len(self.tables) + 1}", self.of(places.of), places)
        self.tables.append(found)
        return found


def _cases(which: str, cuts: list[str], parts: list[str]) -> str:
    if not cuts:
        return parts[0]
    arms = [f"WHEN {which} < {cut} THEN {part}" for cut, part in zip(cuts, parts[:-1], strict=True)]
    return f"CASE {' '.join(arms)} ELSE {parts[-1]} END"


ROWS = "r"


@dataclass(frozen=True, slots=True)
class SqlAsk:
    """What a query is asked for.

    Args:
        scores: The score column, or that of each class in order.
        table: The table with the rows; dots part a schema from it.
        name: What the names of new columns begin with.
        places: How many places of a list the one score column holds, or None where it holds a number.
    """

    dialect: SqlDialect
    scores: tuple[str, ...]
    table: str
    name: str
    places: int | None = None

    @property
    def names(self) -> tuple[str, str, str]:
        return self.name, f"{self.name}_lower", f"{self.name}_upper"

    def written_scores(self) -> tuple[str, ...]:
        columns = [f"{ROWS}.{name(one, self.dialect)}" for one in self.scores]
        if self.places is not None:
            pattern = SPELLINGS[self.dialect].element
            if not pattern:
                msg = f"no column of lists is read in a query for {self.dialect.value}"
                raise UsageProblem(msg, "name a column for each class with --probs a,b,c")
            (column,) = columns
            columns = [
                pattern.format(column=column, place=place, next=place + 1) for place in range(self.places)
            ]
        double = SPELLINGS[self.dialect].double
        return tuple(f"CAST({one} AS {double})" for one in columns)


def query_of_one(
    recalibrator: Recalibrator, ask: SqlAsk, *, origin: maps.Origin, shift: maps.Shift | None = None
) -> str:
    """Return a query that gives every row of a table the probability, and its ends where there are some.

    A score that is NULL, NaN or out of range gets NULL.
    """
    formulas = maps.formulas_on(recalibrator, origin.scale, shift)
    text = SqlText(ask.dialect, ask.written_scores(), prefix_beside(ask.table))
    columns = {one: text.of(formula) for one, formula in zip(ask.names, formulas, strict=False)}
    valid = valid_score(ask, origin.scale)
    return assembled(ask, joined=text.joined(), columns=columns, valid=valid, origin=origin, read=ask.scores)


def valid_score(ask: SqlAsk, scale: Scale) -> str:
    lowest, highest = (number(one, ask.dialect) for one in maps.range_of(scale))
    (score,) = ask.written_scores()
    return f"{score} >= {lowest} AND {score} <= {highest}"


def prefix_beside(table: str) -> str:
    """Return what names of tables of steps begin with, so that none is that of the table."""
    prefix = "steps_"
    while table.casefold().startswith(prefix):
        prefix += "_"
    return prefix


def assembled(
    ask: SqlAsk,
    *,
    joined: Sequence[Joined],
    columns: dict[str, str],
    valid: str,
    origin: maps.Origin,
    read: Sequence[str],
    said: Sequence[str] = (),
) -> str:
    _refuse_names(list(columns), read)
    definitions = [one.definition for one in joined if one.definition is not None]
    joins = [one.join for one in joined if one.join is not None]
    head = [f"-- {line}" for line in (*origin.lines(), *said)]
    head.append("-- NULL, NaN and what is out of range become NULL (apply has options that do the same)")
    if definitions:
        head.append("-- a join may change the order of rows: add ORDER BY where it matters")
    if ask.dialect is SqlDialect.SNOWFLAKE:
        # Names are quoted here, and unquoted ones are stored in capitals there.
        head.append(
            "-- names keep their case: a column that Snowflake shows as SCORE is named SCORE, not score"
        )
    lines = []
    if definitions:
        lines.append("WITH " + ",\n".join(definitions))
    selected = (
        f"  CASE WHEN {valid}\n    THEN {column}\n  END AS {name(one, ask.dialect)}"
        for one, column in columns.items()
    )
    lines += ["SELECT", f"  {ROWS}.*,", ",\n".join(selected)]
    lines += [f"FROM {table_name(ask.table, ask.dialect)} AS {ROWS}", *joins]
    written, most = "\n".join(lines), SPELLINGS[ask.dialect].most_bytes
    if len(written) > 2 * most:
        # Before it is translated, which takes ten seconds a million characters.
        raise too_long(ask.dialect, most)
    text = translated(written, ask.dialect)
    if ask.dialect is SqlDialect.TSQL and any(one in text for one in ("GREATEST(", "LEAST(")):
        head.append("-- GREATEST and LEAST need SQL Server 2022 or newer")
    found, unasked = "\n".join([*head, text, ""]), SPELLINGS[ask.dialect].read_bytes
    if len(found.encode()) > most:
        raise too_long(ask.dialect, most)
    if unasked is not None and len(text.encode()) > unasked:
        return f"-- a query so long needs: SET max_query_size = {most}\n{found}"
    return found


def _refuse_names(new: Sequence[str], scores: Sequence[str]) -> None:
    """Refuse new columns of one name, or with that of a score; most engines see no capitals."""
    seen = {one.casefold() for one in scores}
    for one in new:
        if one.casefold() in seen:
            msg = f"the new column {one!r} would have the name of another"
            raise UsageProblem(msg, "--name gives the new columns another name")
        seen.add(one.casefold())


_VALUES_HINT = "use --to python, or fit again with values of printable names"


def query_of_segments(found: SegmentMap, ask: SqlAsk, *, origin: maps.Origin) -> str:
    """Return a query that gives every row the probability by its score and its segments.

    Texts, numbers and levels of a row are found first, then what its segments add up to. A score that is
    NULL, NaN or out of range gets NULL; a value without a level of its own counts as other values do.
    """
    prefix = prefix_beside(ask.table)
    sums, segments = f"{prefix}sums", _SegmentText(found, ask.dialect, prefix)
    numbers = segments.numbers()
    joined = (
        beside_each_row(segments.texts(), f"{prefix}texts", ask.dialect),
        *([beside_each_row(numbers, f"{prefix}numbers", ask.dialect)] if numbers else []),
        beside_each_row(segments.levels(), f"{prefix}levels", ask.dialect),
        beside_each_row(segments.sums(), sums, ask.dialect),
    )
    text = SqlText(ask.dialect, (*ask.written_scores(), f"{sums}.shift", f"{sums}.bend"), prefix)
    columns = {ask.name: text.of(maps.formula_of_segments(found, scale=origin.scale))}
    return assembled(
        ask,
        joined=joined,
        columns=columns,
        valid=valid_score(ask, origin.scale),
        origin=origin,
        read=(*ask.scores, *origin.on),
        said=(f"beside the score it looks at {', '.join(maps.plain(one) for one in origin.on)}",),
    )


def beside_each_row(
    columns: Mapping[str, str], alias: str, dialect: SqlDialect, *, source: str = ""
) -> Joined:
    """Return a join that works columns out for each row, where others may use them."""
    named_columns = ",\n  ".join(f"{text} AS {one}" for one, text in columns.items())
    if not SPELLINGS[dialect].lateral:
        joins = "joins that speak of the row at hand (LATERAL)"
        msg = f"{dialect.value} has no {joins}, which a map by segments needs"
        raise UsageProblem(msg, "use --to python, or another --dialect")
    if dialect is SqlDialect.BIGQUERY:
        return Joined(f"CROSS JOIN UNNEST([STRUCT(\n  {named_columns}\n)]) AS {alias}")
    return Joined(f"CROSS JOIN LATERAL (SELECT\n  {named_columns}\n{source}) AS {alias}")


@dataclass(frozen=True, slots=True, eq=False)
class _SegmentText:
    """A map by segments as text, in joins whose names begin with `prefix`."""

    found: SegmentMap
    dialect: SqlDialect
    prefix: str

    def texts(self) -> dict[str, str]:
        """Return the text of each column of a row, empty where there is no value."""
        return {f"t{place}": self._text(one) for place, one in enumerate(self.found.columns)}

    def _text(self, column: SegmentColumn) -> str:
        written = f"{ROWS}.{name(column.name, self.dialect)}"
        stripped = f"COALESCE({stripped_text(written, self.dialect)}, '')"
        if column.texts:
            return stripped
        # Numbers have no blanks around them, which take longer to look for than all else takes.
        plain = f"CAST({written} AS {SPELLINGS[self.dialect].text})"
        return f"CASE WHEN {is_numeral(plain, self.dialect)} THEN {plain} ELSE {stripped} END"

    def numbers(self) -> dict[str, str]:
        """Return the number of each column of a row that has levels by numbers, NULL where it is none."""
        by_number = (one.kind == "numbers" or not one.texts or one.together > 1 for one in self.found.columns)
        places = (place for place, some in enumerate(by_number) if some)
        return {f"n{place}": self._number(self.found.columns[place], place) for place in places}

    def _number(self, column: SegmentColumn, place: int) -> str:
        written, text = f"{ROWS}.{name(column.name, self.dialect)}", f"{self.prefix}texts.t{place}"
        plain = f"CAST({written} AS {SPELLINGS[self.dialect].text})"
        # The value itself, where nothing stands around it: not every engine writes all digits of a number.
        itself, stripped = (f"CAST({one} AS {SPELLINGS[self.dialect].double})" for one in (written, text))
        some = f"{text} <> '' AND {is_numeral(text, self.dialect)}"
        return f"CASE WHEN {some} THEN CASE WHEN {plain} = {text} THEN {itself} ELSE {stripped} END END"

    def levels(self) -> dict[str, str]:
        """Return the level of each column of a row, by itself and, where it is another, in intersections."""
        levels = {f"l{place}": self._level(one, place) for place, one in enumerate(self.found.columns)}
        return levels | {
            f"k{place}": self._level_of_number(one, place, one.crossed_numbers, one.crossed_own)
            for place, one in enumerate(self.found.columns)
            if one.together > 1
        }

    def _level(self, column: SegmentColumn, place: int) -> str:
        if column.kind == "numbers" or not column.texts:
            return self._level_of_number(column, place, column.numbers, column.own)
        text = word = f"{self.prefix}texts.t{place}"
        if {"true", "false"} & set(column.texts):
            # These are one value however they are written.
            word = f"CASE WHEN LOWER({text}) IN ('true', 'false') THEN LOWER({text}) ELSE {text} END"
        quoted = (string(one, self.dialect, what="value", hint=_VALUES_HINT) for one in column.texts)
        arms = [f"WHEN {one} THEN {at}" for at, one in enumerate(quoted, len(column.numbers))]
        level = f"CASE {word} WHEN '' THEN {column.own + 1} {' '.join(arms)} ELSE {column.own} END"
        if not column.numbers:
            return level
        some = f"{text} <> '' AND {is_numeral(text, self.dialect)}"
        double = f"CAST({text} AS {SPELLINGS[self.dialect].double})"
        equal = self._compared(double, "=", column.numbers)
        return f"CASE WHEN {some} THEN CASE {equal} ELSE {column.own} END ELSE {level} END"

    def _level_of_number(self, column: SegmentColumn, place: int, numbers: Sequence[float], own: int) -> str:
        """Return the level of a number, among intervals or categories; text that is none is another value."""
        text, value = f"{self.prefix}texts.t{place}", f"{self.prefix}numbers.n{place}"
        arms = f"WHEN LOWER({text}) IN ('', 'nan') THEN {own + 1} WHEN {value} IS NULL THEN {own}"
        compared = self._compared(value, "<=" if column.kind == "numbers" else "=", numbers)
        return f"CASE {arms} {compared} ELSE {len(numbers)} END"

    def _compared(self, double: str, sign: str, numbers: Sequence[float]) -> str:
        """Return for each number that a value is compared with its place."""
        found = (
            f"WHEN {double} {sign} {number(one, self.dialect)} THEN {at}" for at, one in enumerate(numbers)
        )
        return " ".join(found)

    def sums(self) -> dict[str, str]:
        """Return what the segments of a row add up to: its offset and its slope."""
        sums = {
            "shift": [number(self.found.intercept, self.dialect)],
            "bend": [number(self.found.slope, self.dialect)],
        }
        for term in self.found.terms:
            sums["bend" if term.slope else "shift"].append(self._coefficient(term))
        return {key: "\n    + ".join(parts) for key, parts in sums.items()}

    def _coefficient(self, term: SegmentTerm) -> str:
        """Return the coefficient of a row: a CASE over the one number that its levels make."""
        code, columns = "", self.found.columns
        for place in term.columns:
            fewer = term.crosses and columns[place].together > 1
            level = f"{self.prefix}levels.{'k' if fewer else 'l'}{place}"
            code = f"({code}) * {columns[place].sizes[term.crosses]} + {level}" if code else level
        arms = [
            f"WHEN {one} THEN {number(value, self.dialect)}"
            for one, value in zip(term.codes(columns), term.coefficients, strict=True)
            if value
        ]
        zero = number(0.0, self.dialect)
        return f"CASE {code} {' '.join(arms)} ELSE {zero} END" if arms else zero


_HINT = "use --to python, or fit again with groups of printable names"


def query_of_groups(groups: maps.GroupMaps, ask: SqlAsk, *, origin: maps.Origin) -> str:
    """Return a query that gives every row the probability, and its ends, by the map of its group.

    A score that is NULL, NaN or out of range gets NULL, and so does a row of a group that the fit has not
    seen, unless such rows go through the map of all fit rows.
    """
    prefix = prefix_beside(ask.table)
    known = f"{prefix}of"
    member = f"COALESCE({known}.place, 0)" if groups.pooled else f"{known}.place"
    # In DuckDB the tables of steps of all maps are joined as one.
    as_one = SPELLINGS[ask.dialect].steps is Lookup.JOIN
    texts = [
        SqlText(ask.dialect, ask.written_scores(), prefix if as_one else f"{prefix}{place}_")
        for place in range(len(groups.maps))
    ]
    written = [
        [text.of(one) for one in formulas]
        for text, formulas in zip(texts, groups.formulas(origin.scale), strict=True)
    ]
    columns = {}
    for one, parts in zip(ask.names, zip(*written, strict=True), strict=False):
        arms = "\n".join(f"      WHEN {place} THEN {part}" for place, part in enumerate(parts))
        columns[one] = f"CASE {member}\n{arms}\n    END"
    steps = [one for text in texts for one in text.joined()]
    if as_one:
        every = zip_longest(*(text.tables for text in texts))
        steps = [_steps_by_group(dict(enumerate(one)), member) for one in every]
    becomes = "goes through the map of all rows" if groups.pooled else "becomes NULL"
    return assembled(
        ask,
        joined=(_known_groups(groups, known, ask.dialect), *steps),
        columns=columns,
        valid=valid_score(ask, origin.scale),
        origin=origin,
        read=(*ask.scores, groups.column),
        said=(f"the groups are those of {maps.plain(groups.column)}; another than these {becomes}",),
    )


def _known_groups(groups: maps.GroupMaps, alias: str, dialect: SqlDialect) -> Joined:
    """Return the groups with the place of the map of each, as a table: the text of a row is made once."""
    rows = []
    for group, place in groups.places.items():
        # Where no member is found, ClickHouse gives 0 for a number that cannot be NULL.
        at = f"CAST({place} AS INT)" if dialect is SqlDialect.CLICKHOUSE else str(place)
        member = string(group, dialect, what="group", hint=_HINT)
        rows.append(f"  SELECT {member} AS member, {at} AS place")
    text = stripped_text(f"{ROWS}.{name(groups.column, dialect)}", dialect)
    missing = string(MISSING, dialect)
    listed = " UNION ALL\n".join(rows)
    return Joined(
        f"LEFT JOIN {alias} ON {alias}.member = COALESCE(NULLIF({text}, ''), {missing})",
        f"{alias} AS (\n{listed}\n)",
    )


def _steps_by_group(tables: Mapping[int, StepTable | None], member: str) -> Joined:
    """Return many steps of the maps of several groups, by the place of their map, as one table."""
    some = {place: one for place, one in tables.items() if one is not None}
    width = max(len(one.columns) for one in some.values())
    parts = []
    for place, one in some.items():
        listed = [f"{place} AS member", *(_unnested(values, key) for key, values in one.numbers.items())]
        listed += [f"NULL AS v{i + 1}" for i in range(len(one.columns), width)]
        parts.append("  SELECT\n    " + ",\n    ".join(listed))
    first, every = next(iter(some.values())), "\n  UNION ALL\n".join(parts)
    return Joined(
        f"ASOF LEFT JOIN {first.name} ON {member} = {first.name}.member"
        f" AND {first.score} >= {first.name}.starts",
        f"{first.name} AS (\n{every}\n)",
    )


# Stands for the table of a model until the query is written; dbt says then what it is called.
MODEL = "calibcli_table_of_the_model"
_QUOTED = re.compile(rf"[`\"\[]{MODEL}[`\"\]]")


def as_view(query: str, name: str, dialect: SqlDialect) -> str:
    """Return the statement that makes a view of a query, in place of one of that name."""
    comments, text = _parted(query)
    verb = "CREATE OR ALTER" if dialect is SqlDialect.TSQL else "CREATE OR REPLACE"
    return f"{comments}{verb} VIEW {translated_name(table_name(name, dialect), dialect)} AS\n{text}"


def as_model(query: str, table: str) -> str:
    """Return a query of dbt, over a model, or over a table of a source where its name has a dot."""
    if any(mark in query for mark in ("{{", "{%", "{#")):
        msg = "dbt takes {{, {% and {# in a name of a column, a class or a group for words of its own"
        raise UsageProblem(msg, "rename it, or use --as view")
    if "{" in table:
        msg = f"--as dbt writes ref() and source() itself: {table!r} is no name"
        raise UsageProblem(msg, "pass --table MODEL or --table SOURCE.TABLE, without braces")
    words = [word.replace("\\", "\\\\").replace("'", "\\'") for word in table.split(".")]
    if not all(words) or len(words) > 2:
        msg = f"{table!r} is neither a model of dbt nor a source and its table"
        raise UsageProblem(msg, "pass --table MODEL or --table SOURCE.TABLE")
    listed = ", ".join(f"'{word}'" for word in words)
    called = f"{{{{ {'ref' if len(words) == 1 else 'source'}({listed}) }}}}"
    return _QUOTED.sub(lambda _: called, query)


def _parted(query: str) -> tuple[str, str]:
    lines = query.splitlines(keepends=True)
    first = next(place for place, line in enumerate(lines) if not line.startswith("--"))
    return "".join(lines[:first]), "".join(lines[first:])
