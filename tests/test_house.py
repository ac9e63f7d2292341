"""What holds for the whole house: start-up, size, names, help, no output but through the command line."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from calibcli import names

pytestmark = pytest.mark.untraced

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "calibcli"
SOURCES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib", "rich", "pydantic")


def imported_by(statement: str) -> set[str]:
    """Return which heavy packages a fresh interpreter holds after a statement."""
    code = f"import sys\n{statement}\nprint([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return set(ast.literal_eval(result.stderr.strip().splitlines()[-1]))


def test_command_tree_imports_nothing_heavy() -> None:
    """Building the whole command tree leaves numpy, pyarrow, rich and their like alone."""
    assert imported_by("import calibcli.cli.app") == set()


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["measure", "--help"], ["fit", "--help"]])
def test_help_and_version_import_nothing_heavy(words: list[str]) -> None:
    """Help and version answer without any package that takes long to import."""
    found = imported_by(f"import calibcli.cli.app as a\na.main({words!r})")
    assert found - {"pydantic"} == set()


def test_measure_of_a_small_file_needs_neither_scipy_nor_pandas(tmp_path: Path) -> None:
    """The start-up budget of `measure` is kept by what it does not import."""
    file = tmp_path / "p.csv"
    file.write_text("score,label\n" + "".join(f"{(i % 97) / 97},{i % 3 == 0:d}\n" for i in range(1000)))
    found = imported_by(f"import calibcli.cli.app as a\na.main(['measure', {str(file)!r}])")
    assert not found & {"scipy", "pandas", "matplotlib"}


def test_package_root_is_lazy() -> None:
    """`import calibcli` alone costs nothing."""
    assert imported_by("import calibcli") == set()


# The files that may say `typer.Option(`.
OPTIONS = (
    "options.py",
    "gate_options.py",
    "class_options.py",
    "engine_options.py",
    "input_options.py",
    "selection_options.py",
    "document_options.py",
    "export_options.py",
    "apply_options.py",
    "picture_options.py",
    "app.py",
)


def named(path: Path) -> str:
    """A file, as a person would look for it."""
    return str(path.relative_to(PACKAGE))


def test_files_are_small_enough() -> None:
    """No file passes 300 lines."""
    lines = {named(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert len(lines) > 300
    found = [f"{name} has {many} lines" for name, many in lines.items() if many > 300]
    assert not found, "\n".join(found)


def too_long_or_too_wide(path: Path) -> Iterator[str]:
    """Name functions with a body over 40 lines, and public ones with over three positional arguments."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.FunctionDef):
            continue
        where = f"{named(path)}: {node.name}"
        body = node.body[1:] if ast.get_docstring(node) else node.body
        if body and (lines := (body[-1].end_lineno or 0) - body[0].lineno + 1) > 40:
            yield f"{where} has {lines} lines"
        positional = [one.arg for one in node.args.args if one.arg not in ("self", "cls")]
        if not node.name.startswith("_") and len(positional) > 3:
            yield f"{where} takes {len(positional)} positional arguments"


def test_functions_are_short_and_take_few_positional_arguments() -> None:
    """Outside the commands no body passes 40 lines, and public functions take three positional arguments."""
    outside = [path for path in SOURCES if "commands" not in path.parts]
    found = [wrong for path in outside for wrong in too_long_or_too_wide(path)]
    assert not found, "\n".join(found)


def test_what_is_too_long_or_too_wide_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two rules above find what they look for."""
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    body = "    pass\n"
    file = tmp_path / "a.py"
    file.write_text(f"def f(a, b, c):\n{body * 40}def _g(a, b, c, d):\n{body}")
    assert list(too_long_or_too_wide(file)) == []
    file.write_text(f"def f(a, b, c, d):\n    'Say.'\n{body * 41}")
    assert list(too_long_or_too_wide(file)) == [
        "a.py: f has 41 lines",
        "a.py: f takes 4 positional arguments",
    ]


def test_nothing_prints_outside_the_command_line() -> None:
    """Only `cli` speaks to the terminal, and options are declared in one place."""
    texts = {path: path.read_text() for path in SOURCES}
    prints = [named(p) for p, text in texts.items() if "print(" in text.replace("print_exception(", "")]
    declares = [
        named(path)
        for path, text in texts.items()
        if path.name not in OPTIONS and ("typer.Option(" in text or "typer.Argument(" in text)
    ]
    assert (prints, declares) == ([], [])


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
        "CURVE_BAND": 3,
        "SPLIT": 4,
        "FOLDS": 5,
        "NOISE": 6,
        "CROSS": 7,
        "CORP": 8,
        "HOSMER_LEMESHOW": 9,
        "U": 10,
        "PLAN": 11,
        "CONSISTENCY_BAND": 12,
        "MAP_BAND": 13,
        "SAMPLE": 14,
    }


def test_command_line_reference_is_what_help_says() -> None:
    """docs/cli.md is made from --help and up to date."""
    command = [sys.executable, str(ROOT / "docs" / "make_reference.py"), "--check"]
    code = subprocess.run(command, check=False, env={**os.environ}).returncode
    if code == 2:
        pytest.skip("the page was made with another version of typer")
    assert code == 0, "run `make docs`"
