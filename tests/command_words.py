"""Command lines nobody would write: real commands with words of the command line where they do not belong."""
# ruff: noqa: E501 - lists of words are read more easily wide

from enum import StrEnum
from functools import cache
from random import Random
from typing import Any

from calibcli import names
from calibcli import names as gate_names
from calibcli import names as picture_names
from calibcli import names as view_names
from doors import FILES

_VALUES = (
    "0", "1", "-1", "0.5", "1e999", "nan", "", " ", "-", "--", "=", "label", "score", "nothing", "p_*", "a,b", "0,0.5,1",
    "ece", "all", "256MiB", "1K", "score<=0.5", "label==1", "ece.upper<=0.5", "99999999999999999999", "１", "é", "\x1b[31m",
    "::error::x", "x\ny", "report.json", "out.svg", "json=-", "junit=-", "github", "csv", "x" * 300,
)  # fmt: skip


@cache
def vocabulary() -> tuple[str, ...]:
    """Return every option of every command, every choice, some values, and names of files."""
    import typer.main

    from calibcli.shell.app import tree_of
    from calibcli.shell.commands import COMMANDS

    tree: Any = typer.main.get_command(tree_of(tuple(COMMANDS)))
    words: list[str] = list(tree.commands)
    for command in tree.commands.values():
        for parameter in command.params:
            words += [*parameter.opts, *parameter.secondary_opts]
    for room in (names, gate_names, view_names, picture_names):
        for kind in vars(room).values():
            words += list(kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else []
    return tuple(dict.fromkeys(str(word) for word in (*words, *_VALUES, *FILES)))


def scrambled(line: list[str], random: Random) -> list[str]:
    """Return a command line with one to four words added, dropped, replaced or moved."""
    words = list(line)
    for _ in range(random.randint(1, 4)):
        place = random.randint(0, len(words))
        change = random.randrange(4)
        if change == 0 or not words:
            words.insert(place, random.choice(vocabulary()))
        elif change == 1:
            words[place - 1] = random.choice(vocabulary())
        elif change == 2:
            words += [random.choice(vocabulary()), random.choice(vocabulary())]
        else:
            words.insert(place, words.pop(random.randrange(len(words))))
    return words
