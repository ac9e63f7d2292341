"""Defaults from outside the command line: a flag beats the environment, which beats a file, which beats ours.

The file is `calibcli.toml`, or `[tool.calibcli]` of `pyproject.toml`, in the working directory or the nearest
one above it, up to the root of the repository or the home folder; where neither is above, in the working
directory alone. Its tables are named after commands and their keys after options; keys above all tables hold
for every command that has the option. The environment has `CALIBCLI_<COMMAND>_<OPTION>`.

A file that was found, and not named, belongs to whoever runs the command or to root, and so do the folder and
the link that it was found by. It chooses what is read and how it is judged; what writes, replaces or connects
is said by the command line, a variable, or a file that `--config` names.
"""

import difflib
import math
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from calibcli.data.objects import content_unless_changed
from calibcli.errors import UsageProblem
from calibcli.options.declaring import Parameter, Reach, nearest
from calibcli.shell.door import Command, options_of
from calibcli.shell.usage_words import called_otherwise, taken_here
from calibcli.values import dataclass, field

if TYPE_CHECKING:
    from calibcli.reports.input import Setting

OWN_FILE = "calibcli.toml"
SHARED_FILE = "pyproject.toml"
_TABLE = "tool.calibcli"
_PREFIX = "CALIBCLI_"
# The key of states, what makes tests write files anew, and what images are labelled with.
_NO_OPTIONS = {"CALIBCLI_STATE_KEY", "CALIBCLI_REFRESH_GOLDEN", "CALIBCLI_UPDATE_DOCS", "CALIBCLI_VERSION"}
# What Kubernetes sets in every container beside a service that is called calibcli.
_OF_SERVICES = ("CALIBCLI_SERVICE_", "CALIBCLI_PORT")
_MOST_BYTES = 1 << 20
Value = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a file says, by its path as messages name it; nothing where there is none."""

    path: str = ""
    tables: Mapping[str, object] = field(default_factory=dict)
    named: bool = False

    def checked(self, commands: Mapping[str, Command]) -> "Configuration":
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

    def settings(self, name: str, command: Command) -> dict[str, "Setting"]:
        if not self.tables:
            return {}
        from calibcli.reports.input import Setting

        options = options_of(command)
        own = self.tables.get(name)
        # Tables are those of commands, one of which is called as an option of another is.
        shared = {key: value for key, value in self.tables.items() if not isinstance(value, dict)}
        found = {key: (value, key) for key, value in shared.items() if key in options}
        if isinstance(own, dict):
            found |= {key: (value, f"{name}.{key}") for key, value in own.items()}
        settings = {}
        for key, (value, place) in found.items():
            taken = typed(value, options[key], place=f"{self.path}: {place}")
            if not self.named:
                _refuse_reach(options[key], taken, place=place, path=self.path)
            settings[options[key].name] = Setting(key, taken, self.path)
        return settings

    def _require(self, key: str, known: Iterable[str], what: str, place: str) -> None:
        names = sorted(known)
        if key not in names:
            msg = f"{self.path}: {place}: there is no such {what}"
            of = what.removeprefix("option of ") if what.startswith("option of ") else "COMMAND"
            raise UsageProblem(msg, nearest(key, names, all_by=f"`calibcli config {of}`"))


def defaults_for(name: str, command: Command, configuration: Configuration) -> dict[str, "Setting"]:
    """Return the default of each parameter of a command that the environment or a file gives one."""
    return {**configuration.settings(name, command), **environment_settings(name, command, os.environ)}


def refuse_strange_variables(commands: Mapping[str, Command], variables: Mapping[str, str]) -> None:
    """Refuse variables of ours that name no command, as CALIBCLI_VERFY_RULE; options are not looked at."""
    prefixes = tuple(f"{_PREFIX}{name.upper()}_" for name in commands)
    for variable, text in variables.items():
        if not text or not variable.startswith(_PREFIX) or variable.startswith(prefixes):
            continue
        if variable not in _NO_OPTIONS and not variable.startswith(_OF_SERVICES):
            options = {name: options_of(command) for name, command in commands.items()}
            known = [_variable(name, key) for name, own in options.items() for key in own]
            msg = f"{variable}: names no command: a variable is {_PREFIX}<COMMAND>_<OPTION>"
            # Without what all of them have in common, which would make any two alike.
            rests = [one.removeprefix(_PREFIX) for one in (*known, "CALIBCLI_STATE_KEY")]
            near = difflib.get_close_matches(variable.removeprefix(_PREFIX), rests, n=1)
            meant = f"did you mean {_PREFIX}{near[0]}? else " if near else ""
            raise UsageProblem(msg, f"{meant}unset it; `calibcli config` lists commands and options")


def _variable(name: str, key: str) -> str:
    return f"{_PREFIX}{name.upper()}_{key.upper().replace('-', '_')}"


def environment_settings(name: str, command: Command, variables: Mapping[str, str]) -> dict[str, "Setting"]:
    """Return the defaults that variables such as CALIBCLI_VERIFY_MAX_ECE give."""
    prefix = f"{_PREFIX}{name.upper()}_"
    said = {variable: text for variable, text in variables.items() if variable.startswith(prefix) and text}
    if not said:
        return {}
    from calibcli.reports.input import Setting

    options = options_of(command).values()
    by_variable = {_variable(name, one.key): one for one in options}
    found = {}
    for variable, text in said.items():
        if variable not in by_variable:
            msg = f"{variable}: {name} has no such option"
            raise UsageProblem(
                msg, nearest(variable, sorted(by_variable), all_by=f"`calibcli config {name}`")
            )
        option = by_variable[variable]
        parts = [value_of(part, option.kind) for part in (_parted(text) if option.several else [text])]
        value = typed(parts if option.several else parts[0], option, place=variable)
        found[option.name] = Setting(option.key, value, variable)
    return found


def _parted(text: str) -> list[str]:
    """Part several values at blanks, but for those within a pair of quotes.

    Single quotes around a whole value are no part of it. Others are: conditions and names have quotes too.
    """
    return [part[1:-1] if _QUOTED.fullmatch(part) else part for part in _VALUE.findall(text)]


# A quote opens where a value begins, there or in a condition; elsewhere it is an apostrophe, as in O'Brien.
_VALUE = re.compile(r"""(?:(?<![^\s=<>(,])(?:"(?:[^"]|"")*"|'(?:[^']|'')*')|\S)+""")
_QUOTED = re.compile("'[^']*'")


def configuration_of(chosen: str | None, *, isolated: bool) -> Configuration:
    """Return what a file says: the one that was named, or else the nearest one that is yours to trust."""
    if chosen is not None:
        content = _read_toml(Path(chosen), needed=True)
        return Configuration(chosen, content or {}, named=True)
    if isolated:
        return Configuration()
    try:
        here = Path.cwd()
    except OSError:
        # The folder is gone, and nothing is above it.
        return Configuration()
    for folder in _searched(here):
        for name in (OWN_FILE, SHARED_FILE):
            content = _read_toml(folder / name, needed=False)
            if content is not None:
                return Configuration(os.path.relpath(folder / name, here), content)
    return Configuration()


def _searched(here: Path) -> list[Path]:
    """Return the folders that are looked into, the nearest first.

    The way up ends at the root of the repository or the home folder. Where it comes to another file system or
    to the root of all before either, it was nobody's project: the working directory alone counts.
    """
    # Without a home it stays as it is written, which no folder above is called.
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111
    device = here.stat().st_dev
    way: list[Path] = []
    for folder in (here, *here.parents[:-1]):
        with suppress(OSError):
            if folder.stat().st_dev == device:
                way.append(folder)
                if (folder / ".git").exists() or folder == home:
                    return way
                continue
        break
    return way[:1]


def _refuse_reach(option: Parameter, value: Value, *, place: str, path: str) -> None:
    """Refuse what a file that nobody named may not say."""
    reach = option.reach
    if reach is None:
        return
    many = value if isinstance(value, list) else [value]
    if reach is Reach.READS and not any("://" in str(one) for one in many):
        return
    what = Reach.CONNECTS.value if reach is Reach.READS else reach.value
    msg = f"{path}: {place}: --{option.key} {what}, which only a configuration file that you name may do"
    raise UsageProblem(msg, f"pass it on the command line, or name the file: --config {path}")


def _read_toml(path: Path, *, needed: bool) -> dict[str, object] | None:
    """Return the content of a file, or of our table in a shared one; None where there is neither."""
    try:
        content, owner = _content(path, found=not needed)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError) and not path.is_symlink()
        if missing and not needed:
            return None
        msg = f"{path}: cannot be read ({(error.strerror or str(error)).lower()})"
        hint = "pass --config with a TOML file that can be read, or --isolated to read none"
        raise UsageProblem(msg, hint) from None
    shared = path.name == SHARED_FILE
    # Most projects have this file and nothing in it for us: do not pay for a parser.
    table = None if shared and b"calibcli" not in content else _table_of(path, content, shared=shared)
    if table is None and needed:
        msg = f"{path}: has no table [{_TABLE}]"
        raise UsageProblem(msg, f"add one, or name a {OWN_FILE}")
    if table is not None and not needed:
        _refuse_strangers(path, owner)
    return table


def _table_of(path: Path, content: bytes, *, shared: bool) -> dict[str, object] | None:
    """Return what a file says to us, or None where a shared one has no table of ours."""
    import tomllib

    try:
        tree = tomllib.loads(content.decode("utf-8-sig"))
    # A ValueError is also what a number of thousands of digits gives.
    except (ValueError, RecursionError) as error:
        msg = f"{path}: is not TOML: {error}"
        raise UsageProblem(msg, "correct it, or pass --isolated to ignore it") from None
    if not shared:
        return tree
    tools = tree.get("tool", {})
    table = tools.get("calibcli") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        msg = f"{path}: {_TABLE} is not a table"
        raise UsageProblem(msg, f"write it as [{_TABLE}]")
    return table


def _content(path: Path, *, found: bool) -> tuple[bytes, int]:
    """Return what a file holds and who owns it, of one and the same file whatever happens to its name."""
    # Whoever names a pipe means to wait for it; one that was found would wait for ever.
    flags = os.O_RDONLY | (getattr(os, "O_NONBLOCK", 0) if found else 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123
        status = os.fstat(file.fileno())
        if found and not stat.S_ISREG(status.st_mode):
            msg = "not a regular file"
            raise OSError(msg)
        content = content_unless_changed(file, _MOST_BYTES + 1)
        if content is None:
            msg = "it changed while it was read"
            raise OSError(msg)
    if len(content) > _MOST_BYTES:
        msg = f"more than {_MOST_BYTES:,} bytes"
        raise OSError(msg)
    return content, status.st_uid


def _refuse_strangers(path: Path, owner: int) -> None:
    """Refuse a file that another user owns, or that a link or a folder of another user led to.

    Root may do anything already, and files in images of containers are root's. Whoever became root by sudo
    is still asked as the user that they were.
    """
    if not hasattr(os, "geteuid"):
        return
    known = {0, os.geteuid()}
    before = os.environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and before.isdecimal():
        known.add(int(before))
    shown = os.path.relpath(path)
    owners = {
        f"the folder {path.parent} of {shown}": path.parent.stat().st_uid,
        shown: owner,
    }
    if path.is_symlink():
        owners[f"the link {shown}"] = path.lstat().st_uid
    for what, user in owners.items():
        if user not in known:
            msg = f"{what} belongs to user {user}, and settings of other users are not used automatically"
            hint = f"pass --config {shown} to use it, or --isolated to ignore it"
            raise UsageProblem(msg, hint)


# What options take, as the commands declare them.
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def value_of(text: str, kind: type) -> object:
    """Return what a text of the environment means, or the text where it cannot mean that."""
    if kind is bool:
        word = text.strip().lower()
        return word in _TRUE if word in (*_TRUE, *_FALSE) else text
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def typed(value: object, option: Parameter, *, place: str) -> Value:
    if option.several:
        many = value if isinstance(value, list) else [value]
        return [str(_single(one, option, place)) for one in many]
    return _single(value, option, place)


def _single(value: object, option: Parameter, place: str) -> str | int | float | bool:
    kind = option.kind
    if issubclass(kind, StrEnum):
        others = called_otherwise(f"--{option.key}")
        ours = others.get(str(value), value)
        if ours not in list(kind):
            names = taken_here(kind, option.option.metavar)
            msg = f"{place}: is {_shown(value)}, should be one of {', '.join(names)}"
            raise UsageProblem(msg, nearest(str(value), (*names, *others)))
        return str(ours)
    truth = isinstance(value, bool)
    if kind is bool and truth:
        return bool(value)
    if kind is int and isinstance(value, int) and not truth:
        return value
    if kind is float and isinstance(value, int | float) and not truth:
        try:
            return float(value)
        except OverflowError:
            # A whole number beyond the largest float is infinite, as on the command line.
            return math.inf if value > 0 else -math.inf
    # A number is the name of a column, a number of bins or a threshold, as it is on the command line.
    if kind is str and isinstance(value, str | int | float) and not truth:
        return str(value)
    words = {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "a text or a number")
    msg = f"{place}: is {_shown(value)}, should be {words}"
    several = f" or several of them in brackets: {option.key} = [...]" if option.several else ""
    raise UsageProblem(msg, f"--{option.key} takes {words}{several}")


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return repr(value) if not isinstance(value, bool) else str(value).lower()
