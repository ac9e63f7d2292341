"""Options of commands that read or write documents and settings, once; the others are in `options.py`."""

from typing import Annotated

import typer

from calibcli.cli.option_types import Reach

OneCommand = Annotated[
    str | None, typer.Argument(metavar="[COMMAND]", help="Only the options of this command.")
]
SummaryOut = Annotated[
    str | None,
    typer.Option(
        "--summary-out", metavar="S.json", help="Keep the rows as a summary, to be merged or read as input."
    ),
    Reach.WRITES,
]
Documents = Annotated[
    list[str],
    typer.Argument(metavar="DOCUMENT...", help="What `verify --state` or `measure --summary-out` wrote."),
]


def refuse_one_place(output: str, summary_out: str) -> None:
    """
    Refuse a report and a summary in one place.

    Args:
        output: Where the report goes.

        summary_out: Where the summary goes.

    Raises:
        UsageProblem: If it is the same.
    """
    import os

    from calibcli.errors import UsageProblem

    if output == summary_out or os.path.realpath(output) == os.path.realpath(summary_out):
        msg = f"-o and --summary-out both name {summary_out}"
        raise UsageProblem(msg, "send the summary to a file of its own")
