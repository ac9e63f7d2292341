"""The line that was typed, and the defaults that the environment and a file give to its options."""

import inspect
import os
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from calibcli.errors import IdleOption
from calibcli.options.declaring import Section
from calibcli.shell.output import say_line
from calibcli.values import dataclass, field

if TYPE_CHECKING:
    from calibcli.reports.input import Setting
    from calibcli.shell.door import Command


# Where a context keeps the options that were given more than once.
_REPEATED = "calibcli.repeated"


@dataclass(slots=True)
class Line:
    """What was typed, and what it is completed with.

    Args:
        defaults: The defaults from outside of the options of its command, by parameter.
        passed_over: Options whose defaults would change nothing beside the others.
        settings: The defaults that nothing on the line replaces, which every report states.
    """

    words: tuple[str, ...]
    commands: Mapping[str, "Command"]
    defaults: Mapping[str, "Setting"] = field(default_factory=dict)
    passed_over: set[str] = field(default_factory=set)
    name: str = ""
    settings: "tuple[Setting, ...]" = ()

    def complete(self, name: str, config: str | None, *, isolated: bool) -> dict[str, object]:
        """The values that the environment and a file give to options of a command, by parameter."""
        from calibcli.shell.configuration import configuration_of, defaults_for, refuse_strange_variables

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
        from calibcli.reports.input import settings_said

        sources = {at: context.get_parameter_source(at) for at in self.defaults}
        typed = {at for at, source in sources.items() if source is None or source.name != "DEFAULT_MAP"}
        in_force = (one for at, one in self.defaults.items() if at not in typed)
        self.settings = tuple(sorted(in_force, key=lambda one: one.key))
        if not self.passed_over:
            for said in settings_said(self.settings):
                say_line(f"note: {said}")
            for one in () if context.params.get("quiet") else context.meta.get(_REPEATED, ()):
                say_line(f"note: {max(one.opts, key=len)} is given more than once: the last counts")

    def yields(self, problem: Exception) -> "Setting | None":
        """Return the default that gives way to what was typed, if the problem is with such a one."""
        if not isinstance(problem, IdleOption):
            return None
        settings = {one.key: one for one in self.defaults.values()}
        return next((settings[option] for option in problem.options if option in settings), None)

    def pass_over(self, setting: "Setting") -> None:
        """Leave a default out from now on, and say so wherever `settle` has said that it is in force."""
        self.passed_over.add(setting.key)
        say_line(f"note: {setting.source} sets {setting.key}, which has no effect here")


class _Plain:
    """A command whose options take words by themselves that need no pydantic, which is slow to load."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - of the framework
        framework: Any = super()
        for one in framework.get_params(ctx):
            ask: Callable[[], Any] | None = getattr(one, "get_runtime_param", None)
            # A tree of commands may take line after line.
            if ask is not None and "get_runtime_param" not in vars(one):
                vars(one)["get_runtime_param"] = partial(Plainly, ask)
        found: list[str] = framework.parse_args(ctx, args)
        return found

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - of the framework
        """Write what the command does, with every line within the width."""
        formatter.write_paragraph()
        with formatter.indentation():
            width = formatter.width - formatter.current_indent
            lines = inspect.cleandoc(vars(self)["help"] or "").splitlines()
            formatter.write_text("\n".join(part for line in lines for part in _within(line, width)))


class Tree(_Plain, TyperGroup):
    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - of the framework
        """List what each command does, in a whole sentence however narrow the terminal is."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        whole = 1000
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(whole)) for name, one in commands.items() if one]
            )


class Settled(_Plain, TyperCommand):
    """A command that says what a file or a variable has set before it begins; its help has sections."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - of the framework
        """List arguments, the options that most people need, then each section of the others."""
        command = line_of(ctx).commands[self.name or ""]
        taken, needed = vars(command)["taken"](), vars(command)["most_needed"]
        order = ("Arguments", "Options", *Section)
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in order}
        for one in self.get_params(ctx):
            record, declared = one.get_help_record(ctx), taken.get(one.name)
            title = Section.ADVANCED if declared is None else declared.option.section
            if one.param_type_name == "argument" or (not needed and title is not Section.ADVANCED):
                title = "Arguments" if one.param_type_name == "argument" else "Options"
            elif one.name in needed:
                title = "Options"
            if record is not None:
                names, words = record
                sections[title].append((_broken(names, formatter.width), words))
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def make_parser(self, ctx: Any) -> Any:  # noqa: ANN401 - of the framework
        """Return a parser that keeps which options of one value were given more than once."""
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parsed(args: list[str]) -> Any:  # noqa: ANN401 - of the framework
            found = parse(args=args)
            single = (
                one
                for one in found[2]
                if one.param_type_name == "option" and not (one.multiple or one.is_flag)
            )
            ctx.meta[_REPEATED] = [one for one, times in Counter(single).items() if times > 1]
            return found

        parser.parse_args = parsed
        return parser

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - of the framework, old or new
        line_of(ctx).settle(ctx)
        return super().invoke(ctx)


# What a line stands under that begins in the column before, and where a long one goes on.
_COLUMN = r"(\s*\S.*?\s{2,})\S"
_DEEPER = "    "
# What stays on one line: a text in quotes, and an option with its value.
_WHOLE = r"'[^']*'|(?<=\s)--?\w[\w-]* (?!-)"


def _within(line: str, width: int) -> list[str]:
    """Return a line in parts of at most this width; those of a command are joined again by a shell."""
    if len(line) <= width or not line.startswith(" "):
        return [line]
    margin = line[: len(line) - len(line.lstrip())]
    if line.lstrip().startswith("calibcli "):
        command, *comment = re.split(r"(?<=\S) {2,}(?=\S)", line, maxsplit=1)
        whole = re.sub(_WHOLE, lambda found: found[0].replace(" ", "\0"), command)
        parts = textwrap.wrap(whole, width - 2, subsequent_indent=margin + _DEEPER, **_AS_IT_IS)
        return [
            *" \\\n".join(parts).replace("\0", " ").splitlines(),
            *(margin + _DEEPER + one for one in comment),
        ]
    column = re.match(_COLUMN, line)
    indent = " " * len(column[1]) if column is not None else margin + _DEEPER
    return textwrap.wrap(line, width, subsequent_indent=indent, **_AS_IT_IS)


_AS_IT_IS: Mapping[str, Any] = {"break_long_words": False, "break_on_hyphens": False, "drop_whitespace": True}


def _broken(names: str, width: int) -> str:
    """Return the names of an option, with its choices on as many lines as they take."""
    if len(names) + 2 <= width or "|" not in names:
        return names
    first, *others = names.split("|")
    lines = [first]
    for one in others:
        if len(lines[-1]) + len(one) + 4 > width:
            lines[-1] += "|"
            lines.append(f"{2 * _DEEPER}{one}")
        else:
            lines[-1] += f"|{one}"
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Plainly:
    """Values of the words of an option: here where there is no doubt, else by what the framework takes."""

    otherwise: Callable[[], Any]

    def coerce(self, value: Any, *, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - of the framework
        """Return the value, or have the framework refuse it in its words."""
        kind, limits = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        many = get_origin(kind) is list
        if value is None:
            return () if many else None
        words = value if many and isinstance(value, list | tuple) else [value]
        found = [plain(word, get_args(kind)[0] if many else kind, limits) for word in words]
        if many is (words is not value) or any(one is None for one in found):
            return self.otherwise().coerce(value, param=param, ctx=ctx)
        return found if many else found[0]


_DIGITS: Mapping[Any, re.Pattern[str]] = {
    int: re.compile(r"-?[0-9]{1,15}"),
    float: re.compile(r"-?(?:[0-9]{1,15}\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?"),
}


def plain(word: Any, kind: Any, limits: Any) -> Any:  # noqa: ANN401 - words of any kind
    """Return what a word plainly says, or None: digits within limits, the name of a choice, a text."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((one for one in kind if word in (one, one.value)), None)
    if kind in _DIGITS and isinstance(word, str):
        word = kind(word) if _DIGITS[kind].fullmatch(word) else None
    if type(word) is not kind:
        return None
    low, high = limits.min, limits.max
    return None if (low is not None and word < low) or (high is not None and word > high) else word


def line_of(context: object) -> Line:
    """Return the line that a context of the framework carries; an empty one where there is none."""
    found = getattr(context, "obj", None)
    return found if isinstance(found, Line) else Line((), {})


def is_piped() -> bool:
    """Whether rows may come through a pipe: standard input is one, and no terminal, file or nothing."""
    import stat
    import sys

    try:
        return stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):
        return False


# They never change a letter of what is written.
_SILENT = ("output", "force", "quiet", "debug", "jobs", "engine", "engine_address")


def command_line(context: "typer.Context") -> str:
    """Return a command line for a shell that says what this one does, without anything that has no effect."""
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
    import shlex

    return shlex.join(["calibcli", name, *words, "-o", "report.html", *dashes, *inputs])


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
