"""A map for each group of rows as a query."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibcli.export_names import SqlDialect
from calibcli.exports.group_maps import GroupMaps
from calibcli.exports.origin import Origin, plain
from calibcli.exports.sql import ROWS, SqlAsk, assembled, prefix_beside, valid_score
from calibcli.exports.sql_dialects import name, string, stripped_text
from calibcli.exports.sql_steps import GroupSteps, StepTable
from calibcli.exports.sql_text import SqlText
from calibcli.readers.groups import MISSING

_HINT = "use --to python, or fit again with groups of printable names"


def query_of_groups(groups: GroupMaps, ask: SqlAsk, *, origin: Origin) -> str:
    """
    Return a query that gives every row the probability, and its ends, by the map of its group.

    A score that is NULL, NaN or out of range gets NULL, and so does a row of a group that the fit has not
    seen, unless such rows go through the map of all fit rows.

    Args:
        groups: The maps.

        ask: Names, and whose SQL.

        origin: Where they come from.

    Raises:
        UsageProblem: If a name or a group cannot be written, a map is no function of the score, or the query
            becomes longer than the engine takes.
    """
    prefix = prefix_beside(ask.table)
    members = GroupTable(f"{prefix}of", groups, ask.dialect)
    texts = [
        SqlText(ask.dialect, ask.written_scores(), _steps_of(place, prefix, ask.dialect))
        for place in range(len(groups.maps))
    ]
    written = [
        [text.of(one) for one in formulas]
        for text, formulas in zip(texts, groups.formulas(origin.scale), strict=True)
    ]
    names = (ask.name, f"{ask.name}_lower", f"{ask.name}_upper")
    columns = {
        one: _by_member(members.member, parts)
        for one, parts in zip(names, zip(*written, strict=True), strict=False)
    }
    tables = _tables([text.tables for text in texts], members.member, prefix=prefix, dialect=ask.dialect)
    becomes = "goes through the map of all rows" if groups.pooled else "becomes NULL"
    return assembled(
        ask,
        tables=(members, *tables),
        columns=columns,
        valid=valid_score(ask, origin.scale),
        origin=origin,
        read=(*ask.scores, groups.column),
        said=(f"the groups are those of {plain(groups.column)}; another than these {becomes}",),
    )


@dataclass(frozen=True, slots=True)
class GroupTable:
    """
    The groups with the place of the map of each: a table, so that the text of a row is made once.

    Args:
        name: Its name in the query.

        groups: The maps.

        dialect: Whose SQL.
    """

    name: str
    groups: GroupMaps
    dialect: SqlDialect

    @property
    def member(self) -> str:
        """The expression of the place of a row's map; NULL where it has none."""
        return f"COALESCE({self.name}.place, 0)" if self.groups.pooled else f"{self.name}.place"

    def definition(self) -> str:
        """Return the table as a member of a WITH clause."""
        rows = [
            f"  SELECT {string(group, self.dialect, what='group', hint=_HINT)} AS member, {place} AS place"
            for group, place in self.groups.places.items()
        ]
        listed = " UNION ALL\n".join(rows)
        return f"{self.name} AS (\n{listed}\n)"

    def join(self) -> str:
        """Return how the table is joined."""
        text = stripped_text(f"{ROWS}.{name(self.groups.column, self.dialect)}", self.dialect)
        missing = string(MISSING, self.dialect)
        return f"LEFT JOIN {self.name} ON {self.name}.member = COALESCE(NULLIF({text}, ''), {missing})"


def _by_member(member: str, parts: Sequence[str]) -> str:
    arms = "\n".join(f"      WHEN {place} THEN {part}" for place, part in enumerate(parts))
    return f"CASE {member}\n{arms}\n    END"


def _steps_of(place: int, prefix: str, dialect: SqlDialect) -> str:
    """Return what the names of the tables of a map begin with; in DuckDB all maps share tables."""
    return prefix if dialect is SqlDialect.DUCKDB else f"{prefix}{place}_"


def _tables(
    found: Sequence[Sequence[StepTable]], member: str, *, prefix: str, dialect: SqlDialect
) -> list[StepTable | GroupSteps]:
    if dialect is not SqlDialect.DUCKDB:
        return [table for tables in found for table in tables]
    rounds = range(max((len(tables) for tables in found), default=0))
    return [
        GroupSteps(
            f"{prefix}{which + 1}",
            member,
            {place: tables[which] for place, tables in enumerate(found) if which < len(tables)},
        )
        for which in rounds
    ]
