"""The line that was typed, and the defaults that the environment and a file give to its options."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from calibcli.cli.output import say_line
from calibcli.errors import IdleOption

if TYPE_CHECKING:
    from calibcli.cli.door import Command
    from calibcli.reports.settings import Setting

_VERBOSE = {"-v", "--verbose"}
_QUIET = {"-q", "--quiet"}
# What decides for somebody says which of its defaults had no effect, unless it is to be quiet.
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

        settings: The defaults that nothing on the line replaces, which every report states.
    """

    words: tuple[str, ...]
    commands: Mapping[str, "Command"]
    defaults: Mapping[str, "Setting"] = field(default_factory=dict)
    passed_over: set[str] = field(default_factory=set)
    name: str = ""
    settings: "tuple[Setting, ...]" = ()

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
        from calibcli.cli.configuration import configuration_of, defaults_for, refuse_strange_variables

        self.name = name
        refuse_strange_variables(self.commands, os.environ)
        configuration = configuration_of(config, isolated=isolated).checked(self.commands)
        found = defaults_for(name, self.commands[name], configuration)
        if any(word.split("=")[0] == "--format" for word in self.words):
            # On the line, --format is said of the same thing.
            found.pop("json", None)
        self.defaults = {at: one for at, one in found.items() if one.key not in self.passed_over}
        return {at: one.value for at, one in self.defaults.items()}

    def settle(self, context: typer.Context) -> None:
        """Say which defaults are in force, once and however quiet the command is to be: they come unasked."""
        from calibcli.reports.settings import settings_said

        sources = {at: context.get_parameter_source(at) for at in self.defaults}
        typed = {at for at, source in sources.items() if source is None or source.name != "DEFAULT_MAP"}
        in_force = (one for at, one in self.defaults.items() if at not in typed)
        self.settings = tuple(sorted(in_force, key=lambda one: one.key))
        if not self.passed_over:
            for said in settings_said(self.settings):
                say_line(f"note: {said}")

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


class Settled(TyperCommand):
    """A command that says what a file or a variable has set before it does anything."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - of the framework, old or new
        """Run the command."""
        line_of(ctx).settle(ctx)
        return super().invoke(ctx)


def line_of(context: object) -> Line:
    """Return the line that a context of the framework carries; an empty one where there is none."""
    found = getattr(context, "obj", None)
    return found if isinstance(found, Line) else Line((), {})
