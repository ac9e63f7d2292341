"""What `apply` adds, what goes along, and where it goes."""

from typing import Annotated

import typer

from calibcli.names import DataFormat
from calibcli.options.declaring import Reach

Column = Annotated[str, typer.Option("--name", metavar="COL", help="Name of the new column.")]
ToFormat = Annotated[
    DataFormat | None,
    typer.Option(
        "--to",
        metavar="csv|tsv|jsonl|parquet|arrow",
        help="Format of the output; else by its name, or that of the input.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="COLS",
        help="Other columns that go along: all, none, or names and 'x_*' by commas; repeatable.",
        show_default="all",
    ),
]
OneOut = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Where the rows of one file go."),
    Reach.WRITES,
]
OutDir = Annotated[
    str | None,
    typer.Option("--out-dir", metavar="DIR", help="Where files go, each under its name, in place of -o."),
    Reach.WRITES,
]
SkipExisting = Annotated[
    bool, typer.Option("--skip-existing", help="Leave out files whose output is in --out-dir already.")
]


def kept(said: list[str] | None) -> str:
    """Return every column that --keep named, however often it was said, as one list by commas."""
    return "all" if not said or "all" in said else ",".join(said)
