"""The line that was typed, and the defaults that the environment and a file give to its options."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import typer

from calibcli.cli.output import say_line
from calibcli.errors import IdleOption

if TYPE_CHECKING:
    from calibcli.cli.configuration import Setting
    from calibcli.cli.option_types import Command

_VERBOSE = {"-v", "--verbose"}
_QUIET = {"-q", "--quiet"}
# What decides for somebody says where its limits come from, unless it is to be quiet.
_GATES = {"verify", "compare"}


@dataclass(slots=True)
class Line:
    """
    What was typed, and what it is completed with.

    Args:
        words: The words after the program's name.

        commands: Every command, by name.

        defaults: The defaults from outside of the options of its command, by parameter.

        passed_over: Options whose defaults would change nothing beside the others.

        name: Its command, once that is known.
    """

    words: tuple[str, ...]
    commands: Mapping[str, "Command"]
    defaults: Mapping[str, "Setting"] = field(default_factory=dict)
    passed_over: set[str] = field(default_factory=set)
    name: str = ""

    def complete(self, name: str, config: str | None, *, isolated: bool) -> dict[str, object]:
        """
        Return the values that the environment and a file give to the options of a command, by parameter.

        Args:
            name: The command.

            config: The file that `--config` names, or None to look for one.

            isolated: Whether not to look for one.

        Raises:
            UsageProblem: If one of them cannot be what was meant.
        """
        from calibcli.cli.configuration import configuration_of, defaults_for

        self.name = name
        configuration = configuration_of(config, isolated=isolated).checked(self.commands)
        found = defaults_for(name, self.commands[name], configuration)
        if any(word.split("=")[0] == "--format" for word in self.words):
            # On the line, --format is said of the same thing.
            found.pop("json", None)
        first = not self.passed_over
        self.defaults = {at: one for at, one in found.items() if one.key not in self.passed_over}
        if first and self._tells:
            for source in sorted({one.source for one in self.defaults.values()}):
                names = ", ".join(sorted(one.key for one in self.defaults.values() if one.source == source))
                say_line(f"note: {source} sets {names}")
        return {at: one.value for at, one in self.defaults.items()}

    def yields(self, problem: Exception) -> "Setting | None":
        """Return the default that gives way to what was typed, if the problem is with such a one."""
        if not isinstance(problem, IdleOption):
            return None
        settings = {one.key: one for one in self.defaults.values()}
        return next((settings[option] for option in problem.options if option in settings), None)

    def pass_over(self, setting: "Setting") -> None:
        """Leave a default out from now on, and say so where it is said what defaults there are."""
        self.passed_over.add(setting.key)
        if self._tells:
            say_line(f"note: {setting.source} sets {setting.key}, which has no effect here")

    @property
    def _tells(self) -> bool:
        words = set(self.words)
        return (self.name in _GATES or bool(_VERBOSE & words)) and not _QUIET & words


def line_of(context: object) -> Line:
    """Return the line that a context of the framework carries; an empty one where there is none."""
    found = getattr(context, "obj", None)
    return found if isinstance(found, Line) else Line((), {})


@cache
def tree_of(whole: typer.Typer, word: str) -> typer.Typer:
    """Return the tree with the one command that a word names, or with all: options take long to make."""
    named = [one for one in whole.registered_commands if one.callback and one.callback.__name__ == word]
    if not named:
        return whole
    tree = copy(whole)
    tree.registered_commands = named
    return tree
