"""Columns that a path holds: `country=US/part-0.parquet`, as Hive, Spark, DuckDB and pyarrow write them."""

from pathlib import PurePath
from urllib.parse import unquote

from calibcli.errors import InputProblem
from calibcli.objects import is_object
from calibcli.readers.files import shown_path

# What Hive and Spark write for a value that is missing.
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def partitions_of(path: str) -> tuple[tuple[str, str | None], ...]:
    """
    Return the columns that the directories of a path stand for, each with its value or None.

    Args:
        path: The file as the user named it, or as it was found below a directory that was named.

    Raises:
        InputProblem: If a column stands there twice, with different values.
    """
    found: dict[str, str | None] = {}
    place = path.partition("?")[0] if is_object(path) else path
    for folder in PurePath(place).parts[:-1]:
        name, equals, value = folder.partition("=")
        if equals and name:
            column, meant = unquote(name), None if value == _MISSING else unquote(value)
            if found.setdefault(column, meant) != meant:
                msg = f"{shown_path(path)}: column {column!r} is {found[column]!r} and {meant!r} in one path"
                raise InputProblem(msg, "rename one of the folders, or name the files by a shorter path")
    return tuple(found.items())
