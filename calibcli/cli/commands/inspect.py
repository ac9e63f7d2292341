"""calibcli inspect."""

import typer

from calibcli.cli.door import command
from calibcli.options.output import AnyFile, Output
from calibcli.options.rows import OF_FORMAT, InputFormat


@command(f"{OF_FORMAT} state_key_file allow_edited fmt json verbose color debug")
def inspect(context: typer.Context, path: AnyFile, form: InputFormat, out: Output) -> None:
    """
    Say what is in a file, and what to type next.

    \b
    EXAMPLES
      calibcli inspect preds.parquet
      calibcli inspect cal.json
    """
    from calibcli.cli.line import line_of
    from calibcli.cli.output import format_of, write_report
    from calibcli.tasks.inspect import inspect_file

    kind = format_of(out)
    write_report(inspect_file(path, input_format=form), kind, out, line_of(context))
