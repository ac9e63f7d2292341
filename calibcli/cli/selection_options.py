"""Options that say which rows are read, once; the others are in `options.py`."""

from typing import TYPE_CHECKING, Annotated

import typer

from calibcli.cli.completion import column_names
from calibcli.selection_names import OnUnseen

if TYPE_CHECKING:
    from calibcli.options.rows import RowsAsked

Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="COND",
        help="Only rows with COLUMN==VALUE, != < <= > >=, or COLUMN in A,B; repeated: all of them.",
    ),
]
Unseen = Annotated[
    OnUnseen,
    typer.Option("--unseen", help="Refuse groups that fit --by has not seen, or take the map of all rows."),
]
FittedBy = Annotated[
    list[str] | None,
    typer.Option(
        "--by", metavar="COL", autocompletion=column_names, help="Fit a map to each group of equal values."
    ),
]
LeastFitRows = Annotated[
    int,
    typer.Option("--min-group-rows", metavar="N", min=1, help="Smaller groups share the map of all rows."),
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N of these rows.")
]
Sample = Annotated[
    int | None,
    typer.Option("--sample", metavar="N", min=1, help="Only N of these rows, drawn with --seed."),
]


def rows_of(where: list[str] | None, limit: int | None, sample: int | None, *, seed: int) -> "RowsAsked":
    """
    Return which rows are read.

    Args:
        where: Conditions as they were written.

        limit: The first so many rows, or None.

        sample: So many rows by lot, or None.

        seed: Of the draw.

    Raises:
        UsageProblem: If a condition is none, or rows are asked for in two ways.
    """
    from calibcli.options.rows import RowsAsked

    return RowsAsked.of(where, limit, sample, seed)
