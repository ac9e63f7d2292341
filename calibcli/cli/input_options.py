"""How text is written: options of every command that reads data files, beside `--input-format`."""

from typing import TYPE_CHECKING, Annotated

import typer

from calibcli.names import DataFormat

if TYPE_CHECKING:
    from calibcli.options.rows import InputFormat

Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="CHAR", help="Separator of CSV, such as ';' or tab; else a comma."),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Encoding of text, such as latin-1; else UTF-8."),
]

Decimal = Annotated[
    str | None,
    typer.Option("--decimal", metavar="CHAR", help="Decimal mark of numbers in CSV: a comma; else a point."),
]


def input_format_of(
    input_format: DataFormat | None, delimiter: str | None, encoding: str | None, *, decimal: str | None
) -> "InputFormat":
    """
    Return what was said of the inputs as one value.

    Raises:
        UsageProblem: If there is no such separator, encoding or decimal mark.
    """
    from calibcli.options.rows import InputFormat

    return InputFormat(input_format, delimiter, encoding, decimal)
