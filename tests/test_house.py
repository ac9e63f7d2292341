"""What holds for the whole house: start-up, names, help, no output but through the command line."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import StrEnum
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from calibcli import names

pytestmark = pytest.mark.untraced

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "calibcli"
SOURCES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib", "rich", "pydantic")


def imported_by(*commands: list[str]) -> set[str]:
    """Return which modules a fresh interpreter holds after some commands."""
    code = f"import sys, calibcli.shell.app as a\nfor words in {commands!r}: a.main(words)\n"
    code += "print([*sys.modules], file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return set(ast.literal_eval(result.stderr.strip().splitlines()[-1]))


def test_help_and_version_import_nothing_heavy() -> None:
    """The package, the command tree, help and version do without any package that takes long to import."""
    assert not {*HEAVY} & imported_by(["--help"], ["--version"], ["measure", "--help"], ["fit", "--help"])


# Modules of our own that a small `measure` imports: each costs a third of a millisecond and more.
MOST_MODULES = 99


def test_measure_of_a_small_file_imports_little(tmp_path: Path) -> None:
    """What only pictures, other commands, classes, groups or faults need stays outside."""
    file = tmp_path / "p.csv"
    file.write_text("score,label\n" + "".join(f"{(i % 97) / 97},{i % 3 == 0:d}\n" for i in range(1000)))
    found = imported_by(["measure", str(file)])
    assert not found & {"scipy", "pandas", "matplotlib", "pydantic"}
    assert 50 < sum(one.partition(".")[0] == "calibcli" for one in found) <= MOST_MODULES


# The files that may say `typer.Option(`.
OPTIONS = ("shell/door.py", "shell/app.py")


def named(path: Path) -> str:
    """A file, as a person would look for it."""
    return str(path.relative_to(PACKAGE))


def test_nothing_prints_outside_the_command_line() -> None:
    """Only `shell` speaks to the terminal, and options are declared in one place."""
    texts = {path: path.read_text() for path in SOURCES}
    prints = [named(p) for p, text in texts.items() if "print(" in text.replace("print_exception(", "")]
    declares = [
        named(path)
        for path, text in texts.items()
        if named(path) not in OPTIONS and ("typer.Option(" in text or "typer.Argument(" in text)
    ]
    assert (prints, declares) == ([], [])


def test_nothing_pretends_to_be_a_text() -> None:
    """No class derives from `str` but the words of vocabularies: what carries more than a name is no name."""
    found = [
        f"{named(path)}: {one.name}"
        for path in SOURCES
        if re.search(r"class .*\b(str|UserString)\b", path.read_text())
        for one in ast.walk(ast.parse(path.read_text()))
        if isinstance(one, ast.ClassDef)
        and any(ast.unparse(base) in {"str", "UserString"} for base in one.bases)
    ]
    assert found == []


def imports_of(node: ast.AST) -> Iterator[str]:
    """Every name that a piece of code imports, those for type checkers left out."""
    if isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{one.name}" for one in node.names)
    elif isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    # No expression holds one.
    elif isinstance(node, (ast.mod, ast.stmt, ast.excepthandler, ast.match_case)) and not (
        isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"
    ):
        for child in ast.iter_child_nodes(node):
            yield from imports_of(child)


def test_imports_make_no_circle() -> None:
    """No module needs itself by way of others, wherever in a body the imports stand."""
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in SOURCES}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    graph = {}
    for name, path in modules.items():
        found = imports_of(ast.parse(path.read_text(encoding="utf-8")))
        graph[name] = {
            one if one in modules else one.rpartition(".")[0] for one in found
        } & modules.keys() - {name}
    TopologicalSorter(graph).prepare()


def test_vocabularies_hold_distinct_words() -> None:
    """Every member of every vocabulary is spelled once."""
    kinds = [v for v in vars(names).values() if isinstance(v, type) and issubclass(v, StrEnum)]
    assert len(kinds) > 10
    for kind in kinds:
        members = list(kind.__members__.values())
        assert len(members) == len(set(members))


def test_purposes_of_randomness_keep_their_numbers() -> None:
    """A stream's number is part of every published figure."""
    numbers = {purpose.name: int(purpose) for purpose in names.Purpose}
    assert numbers == {
        "MONTE_CARLO": 1,
        "SMECE_NULL": 2,
        "SPLIT": 4,
        "FOLDS": 5,
        "NOISE": 6,
        "CROSS": 7,
        "CORP": 8,
        "U": 10,
        "PLAN": 11,
        "CONSISTENCY_BAND": 12,
        "MAP_BAND": 13,
        "SAMPLE": 14,
        "SPIEGELHALTER": 15,
        "SMOOTH_CURVE": 16,
        "DRIFT": 17,
        "BATCH": 18,
        "SEGMENTS": 19,
    }


def test_command_line_reference_is_what_help_says() -> None:
    """docs/cli.md is made from --help and up to date."""
    command = [sys.executable, str(ROOT / "docs" / "make_reference.py"), "--check"]
    code = subprocess.run(command, check=False, env={**os.environ}).returncode
    if code == 2:
        pytest.skip("the page was made with another version of typer")
    assert code == 0, "run `make docs`"


def test_what_is_listed_as_not_traced_is_there() -> None:
    """A test that goes or has another name leaves the list too: what it names would be traced in silence."""
    listed = json.loads((ROOT / "tests" / "untraced.json").read_text())
    gone = []
    for path, tests in listed.items():
        text = (ROOT / path).read_text()
        gone += [f"{path}::{test}" for test in tests if f"def {test.partition('[')[0]}(" not in text]
    assert not gone
