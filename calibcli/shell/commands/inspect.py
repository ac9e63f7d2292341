"""calibcli inspect."""

import typer

from calibcli.options.output import AnyFile, Output
from calibcli.options.rows import InputFormat
from calibcli.shell.door import command


@command("*format state_key_file allow_edited fmt json verbose color debug")
def inspect(context: typer.Context, path: AnyFile, form: InputFormat, out: Output) -> None:
    """
    Say what is in a file, and what to type next.

    \b
    EXAMPLES
      calibcli inspect preds.parquet
      calibcli inspect cal.json
    """
    from calibcli.commands.inspect import inspect_file
    from calibcli.shell.line import line_of
    from calibcli.shell.output import format_of, write_report

    kind = format_of(out)
    write_report(inspect_file(path, input_format=form), kind, out, line_of(context))
