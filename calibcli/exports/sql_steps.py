"""Maps of many steps in SQL: a table to join, arrays to search, or comparisons within comparisons."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np

from calibcli.export_names import SqlDialect
from calibcli.exports.formula import Places
from calibcli.exports.sql_dialects import digits, number
from calibcli.table.score_table import Floats

_INFINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


@dataclass(slots=True)
class StepTable:
    """
    Many steps: a table to join, or arrays to search, as the dialect can do best.

    Args:
        dialect: Whose SQL.

        name: Its name in the query.

        score: What is looked up.

        places: The intervals.

        columns: Values by interval, in the order in which they were first asked for.
    """

    dialect: SqlDialect
    name: str
    score: str
    places: Places
    columns: list[Floats] = field(default_factory=list)

    def looked_up(self, values: Floats) -> str:
        """Return the expression of the value at the score."""
        known = (i for i, one in enumerate(self.columns) if np.array_equal(one, values))
        place = next(known, len(self.columns))
        if place == len(self.columns):
            self.columns.append(values)
        match self.dialect:
            case SqlDialect.DUCKDB:
                return f"{self.name}.v{place + 1}"
            case SqlDialect.POSTGRES:
                return f"({_of_postgres(values)})[{self.name}.i]"
            case SqlDialect.SPARK:
                return f"element_at({_of_spark(values)}, {self._place_in_spark()})"
            case SqlDialect.BIGQUERY:
                bucket = f"RANGE_BUCKET({self.score}, {self.name}.starts)"
                return f"{self.name}.v{place + 1}[SAFE_OFFSET({bucket} - 1)]"
            case SqlDialect.SNOWFLAKE:
                return _halving(self.score, self.places.starts, values, dialect=self.dialect)
            case _:
                assert_never(self.dialect)

    def definition(self) -> str | None:
        """Return the table as a member of a WITH clause, or None where the dialect needs none."""
        columns = {"starts": self.places.starts} | {f"v{i + 1}": one for i, one in enumerate(self.columns)}
        match self.dialect:
            case SqlDialect.DUCKDB:
                parts = [_of_duckdb(one, key) for key, one in columns.items()]
            case SqlDialect.BIGQUERY:
                parts = [f"[{_of_bigquery(one)}] AS {key}" for key, one in columns.items()]
            case SqlDialect.SPARK | SqlDialect.SNOWFLAKE | SqlDialect.POSTGRES:
                return None
            case _:
                assert_never(self.dialect)
        listed = ",\n    ".join(parts)
        return f"{self.name} AS (\n  SELECT\n    {listed}\n)"

    def join(self) -> str | None:
        """Return how the table is joined, or None where the dialect needs no join."""
        match self.dialect:
            case SqlDialect.DUCKDB:
                return f"ASOF LEFT JOIN {self.name} ON {self.score} >= {self.name}.starts"
            case SqlDialect.BIGQUERY:
                return f"CROSS JOIN {self.name}"
            case SqlDialect.POSTGRES:
                bucket = f"WIDTH_BUCKET({self.score}, {_of_postgres(self.places.starts)})"
                return f"CROSS JOIN LATERAL (SELECT {bucket} AS i) AS {self.name}"
            case SqlDialect.SPARK | SqlDialect.SNOWFLAKE:
                return None
            case _:
                assert_never(self.dialect)

    def _place_in_spark(self) -> str:
        """Return a search by halving, in as many rounds as the number of intervals has binary digits."""
        size = self.places.starts.size
        halves = ", ".join(str(1 << bit) for bit in reversed(range(size.bit_length())))
        starts = _of_spark(self.places.starts)
        ahead = f"i + h <= {size} AND element_at({starts}, least(i + h, {size})) <= {self.score}"
        return f"aggregate(array({halves}), 0, (i, h) -> if({ahead}, i + h, i))"


@dataclass(frozen=True, slots=True)
class GroupSteps:
    """
    Many steps of the maps of several groups, which DuckDB joins as one table.

    Args:
        name: Its name in the query.

        member: The expression of the place of a row's map.

        tables: The steps by the place of their map.
    """

    name: str
    member: str
    tables: Mapping[int, StepTable]

    def definition(self) -> str:
        """Return the table as a member of a WITH clause."""
        width = max(len(one.columns) for one in self.tables.values())
        parts = [self._part(place, one, width=width) for place, one in self.tables.items()]
        listed = "\n  UNION ALL\n".join(parts)
        return f"{self.name} AS (\n{listed}\n)"

    def join(self) -> str:
        """Return how the table is joined."""
        (score,) = {one.score for one in self.tables.values()}
        return (
            f"ASOF LEFT JOIN {self.name} ON {self.member} = {self.name}.member"
            f" AND {score} >= {self.name}.starts"
        )

    def _part(self, place: int, table: StepTable, *, width: int) -> str:
        columns = {"starts": table.places.starts} | {f"v{i + 1}": one for i, one in enumerate(table.columns)}
        listed = [f"    {place} AS member", *(f"    {_of_duckdb(one, key)}" for key, one in columns.items())]
        listed += [f"    NULL AS v{i + 1}" for i in range(len(table.columns), width)]
        return "  SELECT\n" + ",\n".join(listed)


def _halving(which: str, starts: Floats, values: Floats, *, dialect: SqlDialect) -> str:
    """Return the value of a number's interval by comparisons within comparisons."""
    if values.size == 1 or np.all(values == values[0]):
        return number(float(values[0]), dialect)
    half = values.size // 2
    below = _halving(which, starts[:half], values[:half], dialect=dialect)
    above = _halving(which, starts[half:], values[half:], dialect=dialect)
    return f"CASE WHEN {which} < {number(float(starts[half]), dialect)} THEN {below} ELSE {above} END"


def _listed(values: Floats) -> str:
    """Return numbers in one text, which is read faster than an expression for each."""
    return ",".join(_INFINITE.get(one) or digits(one) for one in values.tolist())


def _of_duckdb(values: Floats, column: str) -> str:
    return f"UNNEST(CAST('[{_listed(values)}]' AS DOUBLE[])) AS {column}"


def _of_spark(values: Floats) -> str:
    return f"CAST(split('{_listed(values)}', ',') AS ARRAY<DOUBLE>)"


def _of_postgres(values: Floats) -> str:
    return f"CAST('{{{_listed(values)}}}' AS DOUBLE PRECISION[])"


def _of_bigquery(values: Floats) -> str:
    return ",".join(number(one, SqlDialect.BIGQUERY) for one in values.tolist())
