"""Options of commands that read or write documents and settings, once; the others are in `options.py`."""

from dataclasses import replace
from typing import Annotated

import typer

from calibcli.options.declaring import Reach

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


def _allow_edited(asked: bool) -> bool:
    """Let the readers of documents know; they are many, and far from the command."""
    if asked:
        from calibcli.documents import trust, trust_from_now_on

        trust_from_now_on(replace(trust(), allow_edited=True))
    return asked


def _key_file(path: str | None) -> str | None:
    if path is not None:
        from calibcli.documents import trust, trust_from_now_on

        trust_from_now_on(replace(trust(), key_file=path))
    return path


AllowEdited = Annotated[
    bool,
    typer.Option(
        "--allow-edited",
        callback=_allow_edited,
        help="Read a document although it was edited after it was written; the report says so.",
    ),
    Reach.TRUSTS,
]
StateKeyFile = Annotated[
    str | None,
    typer.Option(
        "--state-key-file",
        metavar="FILE",
        callback=_key_file,
        help="The key that signs states, so that edits show. [default: CALIBCLI_STATE_KEY, if set]",
    ),
    Reach.TRUSTS,
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
