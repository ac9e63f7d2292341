"""A map as a query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from calibcli.errors import UsageProblem
from calibcli.export_names import SqlDialect
from calibcli.exports.class_formulas import class_formulas, class_probabilities
from calibcli.exports.formula import Formula, Number, Score, minus, total
from calibcli.exports.maps import Shift, formulas_on
from calibcli.exports.origin import Origin
from calibcli.exports.scales import range_of
from calibcli.exports.sql_dialects import element, name, number, spelling_of, string, table_name
from calibcli.exports.sql_text import SqlText, most_text, too_long
from calibcli.names import Scale
from calibcli.recalibrators.classes.interface import ClassRecalibrator
from calibcli.recalibrators.interface import Recalibrator

ROWS = "r"
_STEPS = "steps_"
_MOST_OFF = 1e-3
# Expressions of several classes repeat themselves; beyond this they are no longer sensible.
_MOST_OF_CLASSES = 300_000


class Joined(Protocol):
    """A table of a query's own."""

    def definition(self) -> str | None:
        """Return the table as a member of a WITH clause, or None where the dialect needs none."""
        ...

    def join(self) -> str | None:
        """Return how the table is joined, or None where the dialect needs no join."""
        ...


@dataclass(frozen=True, slots=True)
class SqlAsk:
    """
    What a query is asked for.

    Args:
        dialect: Whose SQL.

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

    def written_scores(self) -> tuple[str, ...]:
        """
        Return how the score, or that of each class, is written.

        Raises:
            UsageProblem: If the name of a column cannot be written.
        """
        columns = [f"{ROWS}.{name(one, self.dialect)}" for one in self.scores]
        if self.places is not None:
            columns = [element(columns[0], place, self.dialect) for place in range(self.places)]
        double = spelling_of(self.dialect).double
        return tuple(f"CAST({one} AS {double})" for one in columns)


def query_of_one(
    recalibrator: Recalibrator, ask: SqlAsk, *, origin: Origin, shift: Shift | None = None
) -> str:
    """
    Return a query that gives every row of a table the probability, and its ends where there are some.

    A score that is NULL, NaN or out of range gets NULL.

    Args:
        recalibrator: The fitted map.

        ask: Names, and whose SQL.

        origin: Where it comes from.

        shift: Another base rate, or None.

    Raises:
        UsageProblem: If a name cannot be written, the map is no function of the score, or the query becomes
            longer than the engine takes.
    """
    formulas = formulas_on(recalibrator, Score(), scale=origin.scale, shift=shift)
    text = _text(ask)
    names = (ask.name, f"{ask.name}_lower", f"{ask.name}_upper")
    columns = {one: text.of(formula) for one, formula in zip(names, formulas, strict=False)}
    valid = valid_score(ask, origin.scale)
    return assembled(
        ask, tables=text.tables, columns=columns, valid=valid, origin=origin, read=ask.scores, said=()
    )


def valid_score(ask: SqlAsk, scale: Scale) -> str:
    """Return the condition of the one score that `apply` takes."""
    lowest, highest = (number(one, ask.dialect) for one in range_of(scale))
    (score,) = ask.written_scores()
    return f"{score} >= {lowest} AND {score} <= {highest}"


def query_of_classes(recalibrator: ClassRecalibrator, ask: SqlAsk, *, origin: Origin) -> str:
    """
    Return a query that gives every row the probabilities, the most probable class and its probability.

    A row with a score that is NULL, NaN or out of range, or whose probabilities miss a sum of one by more
    than 0.001, gets NULL.

    Args:
        recalibrator: The fitted map.

        ask: Names, and whose SQL.

        origin: Where it comes from.

    Raises:
        UsageProblem: If a name cannot be written, the method has no expression, or the query is too long.
    """
    before = class_probabilities(len(origin.classes), origin.scale)
    text = _text(ask)
    after = [text.of(one) for one in class_formulas(recalibrator, before)]
    # A map that keeps the order may round two probabilities to one.
    judged = [text.of(one) for one in before] if recalibrator.keeps_prediction else after
    columns = {f"{ask.name}_{one}": column for one, column in zip(origin.classes, after, strict=True)}
    columns[f"{ask.name}_class"] = _first_largest(judged, origin.classes, ask.dialect)
    columns[f"{ask.name}_confidence"] = f"GREATEST({', '.join(after)})"
    if sum(map(len, columns.values())) > _MOST_OF_CLASSES:
        raise too_long(ask.dialect, _MOST_OF_CLASSES)
    valid = _valid_row(text, before, origin.scale)
    said = (read_from(ask.scores, places=ask.places),)
    return assembled(
        ask, tables=text.tables, columns=columns, valid=valid, origin=origin, read=ask.scores, said=said
    )


def read_from(scores: Sequence[str], *, places: int | None) -> str:
    """
    Return a sentence about the columns that the classes are read from.

    Args:
        scores: The columns.

        places: How many places of a list the one of them holds, or None.
    """
    if places is not None:
        return f"the classes are read from the lists of {scores[0]}, in their order"
    return f"the classes are read from {', '.join(scores)}; --probs names other columns, or one of lists"


def prefix_beside(table: str) -> str:
    """Return what names of tables of steps begin with, so that none is that of the table."""
    prefix = _STEPS
    while table.casefold().startswith(prefix):
        prefix += "_"
    return prefix


def _text(ask: SqlAsk) -> SqlText:
    return SqlText(ask.dialect, ask.written_scores(), prefix_beside(ask.table))


def assembled(
    ask: SqlAsk,
    *,
    tables: Sequence[Joined],
    columns: dict[str, str],
    valid: str,
    origin: Origin,
    read: Sequence[str],
    said: Sequence[str],
) -> str:
    """
    Return the query with its comments.

    Args:
        ask: Names, and whose SQL.

        tables: Tables of its own, which are joined.

        columns: The new columns.

        valid: The condition of rows that get a probability.

        origin: Where the map comes from.

        read: The columns that are read.

        said: More comments.

    Raises:
        UsageProblem: If a new column has the name of another, or the query is too long.
    """
    _refuse_names(list(columns), read)
    definitions = [one for one in (table.definition() for table in tables) if one is not None]
    joins = [one for one in (table.join() for table in tables) if one is not None]
    lines = [f"-- {line}" for line in (*origin.lines(), *said)]
    lines.append("-- NULL, NaN and what is out of range become NULL")
    if definitions:
        lines.append("WITH " + ",\n".join(definitions))
    written = (
        f"  CASE WHEN {valid}\n    THEN {column}\n  END AS {name(one, ask.dialect)}"
        for one, column in columns.items()
    )
    lines += ["SELECT", f"  {ROWS}.*,", ",\n".join(written)]
    lines += [f"FROM {table_name(ask.table, ask.dialect)} AS {ROWS}", *joins]
    found, most = "\n".join(lines) + "\n", most_text(ask.dialect)
    if len(found.encode()) > most:
        raise too_long(ask.dialect, most)
    return found


def _valid_row(text: SqlText, before: list[Formula], scale: Scale) -> str:
    """Return the condition of a row that `apply` takes; NaN is above everything, or fails all comparisons."""
    dialect = text.dialect
    if scale is Scale.LOGIT:
        # One infinity less another is no number.
        infinity = number(float("inf"), dialect)
        return " AND ".join(f"ABS({one}) < {infinity}" for one in text.scores)
    lowest, highest = (number(one, dialect) for one in range_of(scale))
    inside = " AND ".join(f"{one} >= {lowest} AND {one} <= {highest}" for one in text.scores)
    off = text.of(minus(total(before), Number(1.0)))
    return f"{inside} AND ABS({off}) <= {number(_MOST_OFF, dialect)}"


def _first_largest(columns: Sequence[str], classes: Sequence[str], dialect: SqlDialect) -> str:
    """Return the name of the class with the largest number, the first of several."""
    arms = []
    for place, (column, one) in enumerate(zip(columns[:-1], classes, strict=False)):
        most = f"GREATEST({', '.join(columns[place + 1 :])})" if place + 2 < len(columns) else columns[-1]
        arms.append(f"WHEN {column} >= {most} THEN {string(one, dialect)}")
    return f"CASE {' '.join(arms)} ELSE {string(classes[-1], dialect)} END"


def _refuse_names(new: Sequence[str], scores: Sequence[str]) -> None:
    """Refuse new columns of one name, or with that of a score; most engines see no capitals."""
    seen = {one.casefold() for one in scores}
    for one in new:
        if one.casefold() in seen:
            msg = f"the new column {one!r} would have the name of another"
            raise UsageProblem(msg, "--name gives the new columns another name")
        seen.add(one.casefold())
