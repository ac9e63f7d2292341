"""Every option, in the one place where it is declared and in both doors that are made from it."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import MISSING, dataclass
from enum import StrEnum

import pytest

import calibcli
from calibcli.options import fitting, gating, measuring, output, pictures, rows, segmenting
from calibcli.options.declaring import Option, Parameter, in_order, is_group, option, parameters_of
from calibcli.shell.commands import COMMANDS
from calibcli.shell.door import options_of
from command_line import ROOT

ROOMS = (fitting, gating, measuring, output, pictures, rows, segmenting)
FUNCTIONS = ("compare", "drift", "fit", "measure", "plot", "segments", "verify")
# What a function returns, it need not be told how to print, where to write and how loudly.
OF_A_TERMINAL = {
    "fmt",
    "json",
    "output",
    "quiet",
    "verbose",
    "color",
    "debug",
    "report",
    "terminal",
    "explain",
    "compat",
    "summary_out",
}
# What a call holds in a variable, or another function of the package does.
OF_A_COMMAND = {"compare", "force", "unseen", "state_key_file"}


def declared() -> Iterator[Parameter]:
    """Yield every option of every group, and those of no group."""
    for room in ROOMS:
        for name, found in vars(room).items():
            if is_group(found):
                yield from parameters_of(found).values()
            for said in getattr(found, "__metadata__", ()):
                if isinstance(said, Option):
                    yield Parameter(name, found.__origin__, None, said)


def taken() -> dict[str, dict[str, Parameter]]:
    """Return the options of every command, by key."""
    return {name: options_of(command) for name, command in COMMANDS.items()}


def test_every_declaration_is_taken_by_a_door() -> None:
    """None is left over, and each says what it does: in --help, in Python, or in both."""
    keys = {one.option for options in taken().values() for one in options.values()}
    keys |= {one.option for name in FUNCTIONS for one in vars(getattr(calibcli, name))["parameters"].values()}
    flags = {flag for one in keys for flag in one.flags} | {"--debug"}
    for one in declared():
        assert one.option.help or one.option.doc, one
        assert one.option in keys or not one.key or flags.issuperset(one.option.flags), one


def test_what_an_option_is_otherwise_is_so_in_a_command() -> None:
    """A name that is no command's, or of a command without the option, would be passed over."""
    for one in declared():
        for name, otherwise in one.otherwise.items():
            # Without flags and a place on the line it is left out there.
            left_out = not (otherwise.flags or otherwise.metavar)
            assert left_out or otherwise in {
                each.option for each in vars(COMMANDS[name])["taken"]().values()
            }, (
                one,
                name,
            )


def test_every_option_is_read_by_somebody() -> None:
    """A field of a group that nothing asks for would be taken, and have no effect."""
    code = "".join(path.read_text() for path in (ROOT / "calibcli").rglob("*.py"))
    groups = {found for room in ROOMS for found in vars(room).values() if is_group(found)}
    fields = {name for group in groups - {gating.Limits} for name in group.__dataclass_fields__}
    # Limits are read field by field, and these two before their group is made.
    assert fields - {*re.findall(r"\.(\w+)", code)} <= {"debug", "state_key_file"}


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_is_the_same_in_every_command(command: str) -> None:
    """By one key one flag, one reach and one kind of completion, and a default of its own type."""
    everywhere = [one for options in taken().values() for one in options.values()]
    for key, one in taken()[command].items():
        others = [other for other in everywhere if other.key == key]
        assert {other.reach for other in others} == {one.reach}, key
        assert one.option.help.endswith((".", "]", ".)")), key
        assert one.option.help[0].isupper() or one.option.help.split()[0].endswith((":", "HOST:8786")), key
        if issubclass(one.kind, StrEnum) and one.unsaid not in (None, MISSING):
            assert one.unsaid in set(one.kind), key


@pytest.mark.parametrize("name", FUNCTIONS)
def test_keywords_are_the_options_with_the_same_defaults(name: str) -> None:
    """What a function and its command both take is one option, left at the same."""
    own: dict[str, Parameter] = vars(getattr(calibcli, name))["parameters"]
    theirs = {one.name: one for one in taken()[name].values()}
    shared = own.keys() & theirs.keys()
    assert {key: own[key].unsaid for key in shared} == {key: theirs[key].unsaid for key in shared}
    assert {key: own[key].option.help for key in shared} == {key: theirs[key].option.help for key in shared}
    assert own.keys() - theirs.keys() <= {"raw", "path"}
    assert theirs.keys() - own.keys() <= OF_A_TERMINAL | OF_A_COMMAND
    signature = inspect.signature(getattr(calibcli, name)).parameters
    both = ("old", "new") if name == "drift" else ("rows", "labels")
    assert list(signature) == [*both, *own]
    assert all(one.kind is one.KEYWORD_ONLY for key, one in signature.items() if key not in both)


def test_apply_takes_what_its_command_takes() -> None:
    """Its keywords, which are written out for their types, have the defaults of the options."""
    theirs = {one.name: one.unsaid for one in taken()["apply"].values()}
    own = inspect.signature(calibcli.apply).parameters
    assert {key: one.default for key, one in own.items() if key in theirs} == {
        key: value for key, value in theirs.items() if key in own
    }
    assert own.keys() - theirs.keys() == {"artifact", "rows", "by"}


def test_type_checkers_and_editors_know_the_same() -> None:
    """The stub of the package is what the options make of it."""
    command = [sys.executable, str(ROOT / "docs" / "make_stub.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0, "run `make docs`"
    text = (ROOT / "calibcli" / "__init__.pyi").read_text()
    for name in set(calibcli.__all__):
        assert f"def {name}(" in text or f" as {name}\n" in text


@dataclass(frozen=True, slots=True)
class Grown:
    """A group of options to which one was added."""

    first: str | None = option(None, "--first", help="One.")
    second: str | None = option(None, "--second", help="Another.")
    added: str | None = option(None, "--added", help="One more.")
    apart: str | None = option(None, "--apart", help="Of a run.", run="values")


def test_an_option_is_where_its_group_is() -> None:
    """Who adds a field has added it to every door; what an order names has its place there, once."""
    known = parameters_of(Grown)
    assert list(in_order("second | *Grown *values", known)) == ["second", "first", "added", "apart"]
    assert list(in_order("*values second", known)) == ["apart", "second"]
    with pytest.raises(KeyError, match="Grwon"):
        in_order("*Grwon", known)
