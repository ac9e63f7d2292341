"""The command line that was meant, defaults from files and the environment included."""

import shlex
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

# They never change a letter of what is written.
_SILENT = ("output", "force", "quiet", "debug", "jobs", "engine", "engine_address")


def command_line(context: "typer.Context", *, output: str) -> str:
    """
    Return a command line for a shell that says what this one does, without anything that has no effect.

    Args:
        context: Of the running command.

        output: What its output is called there.
    """
    words: list[str] = []
    inputs: list[str] = []
    for one in context.command.params:
        value = context.params.get(one.name or "")
        if one.param_type_name == "argument":
            inputs += [str(part) for part in value or ()]
        elif one.name not in _SILENT and value != one.default and value not in (None, (), []):
            words += _option(max(one.opts, key=len), value)
    dashes = ["--"] if any(name.startswith("-") and name != "-" for name in inputs) else []
    name = context.info_name or ""
    return shlex.join(["calibcli", name, *words, "-o", output, *dashes, *inputs])


def _option(name: str, value: object) -> list[str]:
    if value is True:
        return [name]
    values = value if isinstance(value, list | tuple) else [value]
    words: list[str] = []
    for one in values:
        text = str(one.value) if isinstance(one, Enum) else str(one)
        # A value that begins like an option would be taken for one.
        words += [f"{name}={text}"] if text.startswith("-") else [name, text]
    return words
