"""
Defaults from outside the command line: a flag beats the environment, which beats a file, which beats ours.

The file is `calibcli.toml`, or `[tool.calibcli]` of `pyproject.toml`, in the working directory or the nearest
one above it. Its tables are named after commands and their keys after options; keys above all tables hold for
every command that has the option. The environment has `CALIBCLI_<COMMAND>_<OPTION>`.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from calibcli.cli.option_types import Command, Value, closest, options_of, typed, value_of
from calibcli.errors import UsageProblem

OWN_FILE = "calibcli.toml"
SHARED_FILE = "pyproject.toml"
_TABLE = "tool.calibcli"
_PREFIX = "CALIBCLI_"


@dataclass(frozen=True, slots=True)
class Setting:
    """
    A default and where it comes from.

    Args:
        key: The option, without dashes.

        value: As the framework takes it.

        source: The file or the variable.
    """

    key: str
    value: Value
    source: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """
    What a file says; nothing where there is none.

    Args:
        path: The file, as messages name it; empty without one.

        tables: Its content.
    """

    path: str = ""
    tables: Mapping[str, object] = field(default_factory=dict)

    def checked(self, commands: Mapping[str, Command]) -> "Configuration":
        """
        Return itself if every key is known.

        Raises:
            UsageProblem: If a command or an option is not, with the file, the key and the closest one.
        """
        if not self.tables:
            return self
        options = {name: options_of(command) for name, command in commands.items()}
        shared = {key for own in options.values() for key in own}
        for key, value in self.tables.items():
            if isinstance(value, dict):
                self._require(key, options, "command", key)
                for inner in value:
                    self._require(inner, options[key], f"option of {key}", f"{key}.{inner}")
            elif key in options:
                msg = f"{self.path}: {key}: it is a command, and its options stand in a table"
                raise UsageProblem(msg, f"write [{key}] and the options below it")
            else:
                self._require(key, shared, "option", key)
        return self

    def settings(self, name: str, command: Command) -> dict[str, Setting]:
        """
        Return the defaults that the file has for the parameters of a command.

        Raises:
            UsageProblem: If a value is of the wrong type, with the file and the key.
        """
        if not self.tables:
            return {}
        options = options_of(command)
        own = self.tables.get(name)
        found = {key: (value, key) for key, value in self.tables.items() if key in options}
        if isinstance(own, dict):
            found |= {key: (value, f"{name}.{key}") for key, value in own.items()}
        settings = {}
        for key, (value, place) in found.items():
            taken = typed(value, options[key], place=f"{self.path}: {place}")
            settings[options[key].parameter] = Setting(key, taken, self.path)
        return settings

    def _require(self, key: str, known: Iterable[str], what: str, place: str) -> None:
        names = sorted(known)
        if key not in names:
            msg = f"{self.path}: {place}: there is no such {what}"
            raise UsageProblem(msg, closest(key, names))


def defaults_for(name: str, command: Command, configuration: Configuration) -> dict[str, Setting]:
    """
    Return the default of each parameter of a command that the environment or a file gives one.

    Raises:
        UsageProblem: If one of them cannot be what was meant.
    """
    return {**configuration.settings(name, command), **environment_settings(name, command, os.environ)}


def environment_settings(name: str, command: Command, variables: Mapping[str, str]) -> dict[str, Setting]:
    """
    Return the defaults that variables such as CALIBCLI_VERIFY_MAX_ECE give; blanks part several values.

    Raises:
        UsageProblem: If one with the prefix of the command names no option of it, or has the wrong type.
    """
    prefix = f"{_PREFIX}{name.upper()}_"
    said = {variable: text for variable, text in variables.items() if variable.startswith(prefix) and text}
    if not said:
        return {}
    options = options_of(command).values()
    by_variable = {f"{prefix}{one.key.upper().replace('-', '_')}": one for one in options}
    found = {}
    for variable, text in said.items():
        if variable not in by_variable:
            msg = f"{variable}: {name} has no such option"
            raise UsageProblem(msg, closest(variable, sorted(by_variable)))
        option = by_variable[variable]
        parts = [value_of(part, option.kind) for part in (text.split() if option.several else [text])]
        value = typed(parts if option.several else parts[0], option, place=variable)
        found[option.parameter] = Setting(option.key, value, variable)
    return found


def configuration_of(chosen: str | None, *, isolated: bool) -> Configuration:
    """
    Return what a file says: the one that was named, or else the nearest one.

    Args:
        chosen: The file that `--config` names, or None to look for one.

        isolated: Whether not to look for one.

    Raises:
        UsageProblem: If a file is named and not there, or a file is not TOML.
    """
    if chosen is not None:
        content = _read_toml(Path(chosen), needed=True)
        return Configuration(chosen, content or {})
    if isolated:
        return Configuration()
    here = Path.cwd()
    for folder in (here, *here.parents):
        for name in (OWN_FILE, SHARED_FILE):
            path = folder / name
            content = _read_toml(path, needed=False)
            if content is not None:
                shown = os.path.relpath(path, here)
                return Configuration(shown, content)
        if (folder / ".git").exists():
            break
    return Configuration()


def _read_toml(path: Path, *, needed: bool) -> dict[str, object] | None:
    """Return the content of a file, or of our table in a shared one; None where there is neither."""
    try:
        content = path.read_bytes()
    except OSError as error:
        if needed or not isinstance(error, FileNotFoundError | NotADirectoryError | PermissionError):
            msg = f"{path}: cannot be read ({(error.strerror or str(error)).lower()})"
            raise UsageProblem(msg, "--config names a TOML file; --isolated reads none") from None
        return None
    shared = path.name == SHARED_FILE
    # Most projects have this file and nothing in it for us: do not pay for a parser.
    if shared and b"calibcli" not in content:
        if needed:
            _refuse_without_table(path)
        return None
    import tomllib

    try:
        tree = tomllib.loads(content.decode("utf-8-sig"))
    # A ValueError is also what a number of thousands of digits gives.
    except (ValueError, RecursionError) as error:
        msg = f"{path}: is not TOML: {error}"
        raise UsageProblem(msg, "mend it, or pass --isolated to do without") from None
    if not shared:
        return tree
    tools = tree.get("tool", {})
    table = tools.get("calibcli") if isinstance(tools, dict) else None
    if table is None and not needed:
        return None
    if table is None:
        _refuse_without_table(path)
    if not isinstance(table, dict):
        msg = f"{path}: {_TABLE} is not a table"
        raise UsageProblem(msg, f"write it as [{_TABLE}]")
    return table


def _refuse_without_table(path: Path) -> NoReturn:
    msg = f"{path}: has no table [{_TABLE}]"
    raise UsageProblem(msg, f"add one, or name a {OWN_FILE}")
