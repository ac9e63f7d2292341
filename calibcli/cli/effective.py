"""What every option is set to, and by whom: what `calibcli config` shows."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from enum import Enum

from calibcli.cli.configuration import Configuration, defaults_for
from calibcli.cli.door import Command, options_of
from calibcli.options.declaring import Parameter

SCHEMA = "calibcli.config/1"
BUILT_IN = "default"


@dataclass(frozen=True, slots=True)
class Effective:
    """
    An option and its value.

    Args:
        command: The command that takes it.

        option: Its name without dashes.

        value: What it is unless the line says otherwise; None for nothing.

        source: The variable or the file that sets it, or `BUILT_IN`.
    """

    command: str
    option: str
    value: object
    source: str


def effective_options(commands: Mapping[str, Command], configuration: Configuration) -> list[Effective]:
    """
    Return every option of some commands, in the order of their help.

    Args:
        commands: The commands, by name.

        configuration: What a file says.

    Raises:
        UsageProblem: If the environment or the file says something that cannot be what was meant.
    """
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
    return json.dumps(document, indent=2, ensure_ascii=plain) + "\n"


def as_table(options: list[Effective], configuration: Configuration, *, plain: bool) -> str:
    """Return options as lines of text, each below its command; `plain` keeps to ASCII."""
    lines = [f"file: {configuration.path or 'none'}"]
    command = ""
    shown = [_shown(one.value, plain=plain) for one in options]
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


def _shown(value: object, *, plain: bool) -> str:
    """Return a value as a file would have it; control characters are escaped."""
    return "-" if value is None else json.dumps(value, ensure_ascii=plain)
