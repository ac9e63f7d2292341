"""Commands that tell what is there: inspect (a file), schema (a document) and config (defaults)."""

from collections.abc import Mapping
from dataclasses import MISSING
from enum import Enum

import typer

from calibcli.errors import UsageProblem
from calibcli.names import STDOUT, ColorWhen
from calibcli.options.declaring import Parameter, nearest
from calibcli.options.output import AnyFile, DocumentName, OneCommand, Output
from calibcli.options.rows import Columns, InputFormat
from calibcli.shell import door
from calibcli.shell.configuration import Configuration, configuration_of, defaults_for
from calibcli.shell.door import Command, options_of
from calibcli.shell.line import line_of
from calibcli.shell.output import format_of, screen_for, write, write_report
from calibcli.values import dataclass


@door.command("json debug")
def config(context: typer.Context, out: Output, command: OneCommand = None) -> None:
    """Show the value of every option, and where it was set.

    A flag beats the environment, which beats a file, which beats the built-in default. Flags are not listed.

    \b
    EXAMPLES
      calibcli config
      calibcli config verify
      calibcli config measure --json
    """
    commands = line_of(context).commands
    root = {} if context.parent is None else context.parent.params
    if command is not None and command not in commands:
        msg = f"there is no command {command!r}"
        raise UsageProblem(msg, nearest(command, commands))
    configuration = configuration_of(root.get("config"), isolated=bool(root.get("isolated")))
    configuration = configuration.checked(commands)
    requested = commands if command is None else {command: commands[command]}
    found = effective_options(requested, configuration)
    plain = not screen_for(STDOUT, color=ColorWhen.NEVER).unicode
    write((as_json if out.json else as_table)(found, configuration, plain=plain), STDOUT)


SCHEMA = "calibcli.config/1"

BUILT_IN = "default"


@dataclass(frozen=True, slots=True)
class Effective:
    """An option and its value, None for nothing, from a variable, a file or `BUILT_IN`."""

    command: str
    option: str
    value: object
    source: str


def effective_options(commands: Mapping[str, Command], configuration: Configuration) -> list[Effective]:
    """Return every option of some commands, in the order of their help."""
    found = []
    for name, command in commands.items():
        settings = defaults_for(name, command, configuration)
        for option in options_of(command).values():
            setting = settings.get(option.name)
            if setting is None:
                found.append(Effective(name, option.key, _built_in(option), BUILT_IN))
            else:
                found.append(Effective(name, option.key, setting.value, setting.source))
    return found


def as_json(options: list[Effective], configuration: Configuration, *, plain: bool) -> str:
    """Return options as a JSON document, by command and name; `plain` keeps to ASCII."""
    commands: dict[str, dict[str, object]] = {}
    for one in options:
        commands.setdefault(one.command, {})[one.option] = {"value": one.value, "source": one.source}
    document = {"schema": SCHEMA, "file": configuration.path or None, "commands": commands}
    import json

    return json.dumps(document, indent=2, ensure_ascii=plain) + "\n"


def as_table(options: list[Effective], configuration: Configuration, *, plain: bool) -> str:
    """Return options as lines of text, each below its command; `plain` keeps to ASCII."""
    lines = [f"file: {configuration.path or 'none'}"]
    command = ""
    import json

    # As a file would have them; control characters are escaped.
    shown = ["-" if one.value is None else json.dumps(one.value, ensure_ascii=plain) for one in options]
    wide = max((len(one.option) for one in options), default=0)
    widest = max(map(len, shown), default=0)
    for one, value in zip(options, shown, strict=True):
        if one.command != command:
            command = one.command
            lines += ["", command]
        lines.append(f"  {one.option:{wide}}  {value:{widest}}  {one.source}")
    return "\n".join(lines) + "\n"


def _built_in(option: Parameter) -> object:
    value = None if option.unsaid is MISSING else option.unsaid
    return value.value if isinstance(value, Enum) else value


@door.command("score label *InputFormat state_key_file allow_edited fmt json verbose color debug")
def inspect(context: typer.Context, path: AnyFile, columns: Columns, form: InputFormat, out: Output) -> None:
    """Say what is in a file, and what to type next.

    \b
    EXAMPLES
      calibcli inspect preds.parquet
      calibcli inspect loans.csv -s pd_12m -y default_flag
      calibcli inspect cal.json
    """
    from calibcli.commands.inspect import inspect_file

    kind = format_of(out)
    write_report(inspect_file(path, columns, input_format=form), kind, out, context)


@door.command("debug")
def schema(kind: DocumentName) -> None:
    """Print the JSON Schema of artifacts, reports and states of gates.

    \b
    EXAMPLES
      calibcli schema artifact > artifact.schema.json
      calibcli schema report
    """
    from calibcli.documents.schemas import schema_text

    write(schema_text(kind), STDOUT)
