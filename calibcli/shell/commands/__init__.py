"""One module for each command, imported when the command is asked for."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from calibcli.shell.door import Command

_NAMES = (
    "fit", "apply", "measure", "verify", "plan", "merge", "compare", "segments", "drift", "plot", "report",
    "inspect", "export", "schema", "config",
)  # fmt: skip


class _Commands(Mapping[str, Command]):
    """Every command by its name, in the order of `--help`."""

    def __getitem__(self, name: str) -> Command:
        if name not in _NAMES:
            raise KeyError(name)
        found: Command = getattr(import_module(f"calibcli.shell.commands.{name}"), name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


COMMANDS = _Commands()
