"""calibcli config."""

import typer

from calibcli.cli import door
from calibcli.errors import UsageProblem
from calibcli.names import ColorWhen
from calibcli.options.output import OneCommand, Output
from calibcli.outputs import STDOUT


@door.command("json debug")
def config(context: typer.Context, out: Output, command: OneCommand = None) -> None:
    """
    Show what every option is set to, and by whom.

    A flag beats the environment, which beats a file, which beats what is built in; here are the last three.

    \b
    EXAMPLES
      calibcli config
      calibcli config verify
      calibcli config measure --json
    """
    from calibcli.cli.configuration import configuration_of
    from calibcli.cli.effective import as_json, as_table, effective_options
    from calibcli.cli.line import line_of
    from calibcli.cli.option_types import closest
    from calibcli.cli.output import screen_for, write

    commands = line_of(context).commands
    root = {} if context.parent is None else context.parent.params
    if command is not None and command not in commands:
        msg = f"there is no command {command!r}"
        raise UsageProblem(msg, closest(command, commands))
    configuration = configuration_of(root.get("config"), isolated=bool(root.get("isolated")))
    configuration = configuration.checked(commands)
    asked = commands if command is None else {command: commands[command]}
    found = effective_options(asked, configuration)
    plain = not screen_for(STDOUT, color=ColorWhen.NEVER).unicode
    write((as_json if out.json else as_table)(found, configuration, plain=plain), STDOUT)
