"""calibcli inspect."""

import typer

from calibcli.cli import document_options as d
from calibcli.cli import input_options as i
from calibcli.cli import options as o
from calibcli.names import ColorWhen
from calibcli.outputs import STDOUT


def inspect(
    context: typer.Context,
    path: o.AnyFile,
    input_format: o.InputFormat = None,
    delimiter: i.Delimiter = None,
    encoding: i.Encoding = None,
    decimal: i.Decimal = None,
    state_key_file: d.StateKeyFile = None,  # noqa: ARG001 - heard where it is declared
    allow_edited: d.AllowEdited = False,  # noqa: ARG001 - heard where it is declared
    fmt: o.Format = None,
    json: o.Json = False,
    verbose: o.Verbose = False,
    color: o.Color = ColorWhen.AUTO,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Say what is in a file, and what to type next.

    \b
    EXAMPLES
      calibcli inspect preds.parquet
      calibcli inspect cal.json
    """
    from calibcli.cli.line import line_of
    from calibcli.cli.output import format_of, renderer_for, write
    from calibcli.tasks.inspect import inspect_file

    kind = format_of(fmt, json=json)
    form = i.input_format_of(input_format, delimiter, encoding, decimal=decimal)
    report = inspect_file(path, input_format=form)
    write(
        renderer_for(kind, STDOUT, color=color, verbose=verbose, line=line_of(context)).render(report), STDOUT
    )
