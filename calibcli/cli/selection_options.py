"""Options that say which rows are read, once; the others are in `options.py`."""

from typing import TYPE_CHECKING, Annotated

import typer

from calibcli.cli.completion import column_names
from calibcli.selection_names import OnUnseen

if TYPE_CHECKING:
    from calibcli.readers.rows_asked import RowsAsked

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
    from calibcli.readers.rows_asked import rows_asked

    return rows_asked(where or (), limit=limit, sample=sample, seed=seed)


def refuse_idle_groups(by: list[str] | None, least_rows: int, *, of_classes: bool) -> None:
    """
    Refuse groups of a fit that sees none.

    Args:
        by: The column of groups; empty or None for no groups.

        least_rows: The smallest group with a map of its own.

        of_classes: Whether the fit is one of several classes.

    Raises:
        UsageProblem: If groups or their size were named in vain.
    """
    from calibcli.errors import IdleOption
    from calibcli.names import DEFAULT_LEAST_ROWS

    if of_classes and by:
        msg = "--by fits a map of one score to each group, and --probs names several classes"
        hint = (
            "fit each group apart, with --where 'COL==GROUP', and apply each map to a file of that group "
            "alone: apply has no --where"
        )
        raise IdleOption(msg, hint, options=("by",))
    if not by and least_rows != DEFAULT_LEAST_ROWS:
        msg = "--min-group-rows without groups"
        raise IdleOption(msg, "name the column that makes them with --by", options=("min-group-rows",))
