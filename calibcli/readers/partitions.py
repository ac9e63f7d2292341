"""Columns that a path holds: `country=US/part-0.parquet`, as Hive, Spark, DuckDB and pyarrow write them."""

from pathlib import PurePath
from urllib.parse import unquote

from calibcli.objects import is_object

# What Hive and Spark write for a value that is missing.
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def partitions_of(path: str) -> tuple[tuple[str, str | None], ...]:
    """
    Return the columns that the directories of a path stand for, each with its value or None.

    A column that stands there with two values is returned with both.

    Args:
        path: The file as the user named it, or as it was found below a directory that was named.
    """
    found: dict[tuple[str, str | None], None] = {}
    place = path.partition("?")[0] if is_object(path) else path
    for folder in PurePath(place).parts[:-1]:
        name, equals, value = folder.partition("=")
        if equals and name:
            found[unquote(name), None if value == _MISSING else unquote(value)] = None
    return tuple(found)
