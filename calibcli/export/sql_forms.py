"""A query as a view, or as a model of dbt."""

import re

from calibcli.errors import UsageProblem
from calibcli.export.dialects import table_name, translated_name
from calibcli.names import SqlDialect

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
    words = [word.replace("\\", "\\\\").replace("'", "\\'") for word in table.split(".")]
    if not all(words) or len(words) > 2:
        msg = f"{table!r} is neither a model of dbt nor a source and its table"
        raise UsageProblem(msg, "pass --table MODEL or --table SOURCE.TABLE")
    listed = ", ".join(f"'{word}'" for word in words)
    called = f"{{{{ {'ref' if len(words) == 1 else 'source'}({listed}) }}}}"
    return _QUOTED.sub(lambda _: called, query)


def _parted(query: str) -> tuple[str, str]:
    """Return the comments at the top, and what follows."""
    lines = query.splitlines(keepends=True)
    first = next(place for place, line in enumerate(lines) if not line.startswith("--"))
    return "".join(lines[:first]), "".join(lines[first:])
