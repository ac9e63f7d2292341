"""Every command, by modules that are imported when one of theirs is asked for."""

from collections.abc import Iterator, Mapping

from calibcli.families import loaded
from calibcli.shell.door import Command

# The module of each.
_HOMES = {
    "fit": "maps", "apply": "maps", "measure": "measure", "verify": "gates", "plan": "gates",
    "merge": "gates", "compare": "differences", "segments": "differences",
    "drift": "differences", "plot": "pictures",
    "report": "pictures", "inspect": "about", "export": "maps", "schema": "about", "config": "about",
}  # fmt: skip


class _Commands(Mapping[str, Command]):
    """Every command by its name, in the order of `--help`."""

    def __getitem__(self, name: str) -> Command:
        found: Command = loaded(f"shell.commands.{_HOMES[name]}.{name}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


COMMANDS = _Commands()
