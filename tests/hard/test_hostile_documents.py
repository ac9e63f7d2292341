"""Documents written to do harm: refused within bounds of time and memory, and nothing in them is run."""

import ast
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calibcli.commands.inspect import inspect_file
from calibcli.documents.artifact import read_any_artifact
from calibcli.documents.state import read_state
from calibcli.errors import DocumentProblem
from command_line import ROOT
from doors import FROZEN, STATES, ended

PLATT = (FROZEN / "platt.json").read_text()
STATE = (STATES / "gate-1-alarm.json").read_text()
DEEP = 200_000
# What may load code from data, or run it.
_DANGEROUS = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "runpy", "code"}
_BUILT_IN = {"eval", "exec", "compile", "__import__"}
# Only files with such words are looked into.
_SUSPECT = re.compile(
    rf"(?<![\w.])({'|'.join(_BUILT_IN)})\(|(import|from) .*\b({'|'.join(_DANGEROUS)})\b|allow_pickle|shell="
)
HOSTILE = {
    "deep arrays": "[" * DEEP + "]" * DEEP,
    "deep objects": '{"schema":' * DEEP + "1" + "}" * DEEP,
    "deep within a document": '{"schema": "calibcli.artifact/1", "fit": ' + "[" * DEEP + "]" * DEEP + "}",
    "too many digits": '{"schema": ' + "9" * 1_000_000 + "}",
    "NaN": '{"schema": NaN}',
    "Infinity": '{"schema": -Infinity}',
    "a key twice": '{"schema": "calibcli.artifact/1", "schema": "calibcli.artifact/1"}',
    "half a surrogate": '{"schema": "\\ud800"}',
    "a key of half a surrogate": '{"\\ud800": 1, "schema": "calibcli.artifact/1"}',
    "not UTF-8": "\udcff",
    "UTF-16": "\udcff\udcfe{",
    "nothing": "",
    "an array": "[1]",
    "a number": "1e999",
    "a pickle": "\udc80\x04cposix\nsystem\n(S'touch owned'\ntR.",
    "YAML": "!!python/object/apply:os.system ['touch owned']",
}
READERS: dict[str, Callable[[Path], Any]] = {"artifact": read_any_artifact, "state": read_state}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_documents_are_refused_at_once(
    kind: str, reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one line, whoever reads them, and without running anything."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "d.json"
    path.write_bytes(HOSTILE[kind].encode("utf-8", "surrogateescape"))
    began = time.process_time()
    with pytest.raises(DocumentProblem) as caught:
        READERS[reader](path)
    assert time.process_time() - began < 2.0
    assert len(str(caught.value)) < 400
    assert [one.name for one in tmp_path.iterdir()] == ["d.json"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_command_line_refuses_them_in_one_line(kind: str, tmp_path: Path) -> None:
    """`inspect` looks at anything."""
    path = tmp_path / "d.json"
    path.write_bytes(b"{" + HOSTILE[kind].encode("utf-8", "surrogateescape"))
    assert ended("inspect", path).code == 3


@pytest.mark.parametrize(
    "number", ["1e999", "-1e999", "1e308", "10" * 300, "9" * 4000, "true", '"0"', "null", "[0]"]
)
@pytest.mark.parametrize("text", [PLATT, STATE], ids=["artifact", "state"])
def test_numbers_that_no_fit_gives_are_refused_with_their_place(
    text: str, number: str, tmp_path: Path
) -> None:
    """Wherever a number stands: it is refused, or the document holds it with another meaning."""
    path = tmp_path / "d.json"
    places = [place for place in numbers_of(json.loads(text)) if "stakes" not in place]
    for place in places[:: max(1, len(places) // 12)]:
        path.write_text(with_number(text, place, number))
        try:
            inspect_file(str(path))
        except DocumentProblem as problem:
            assert "d.json" in problem.message  # noqa: PT017 - either way is right


def numbers_of(tree: Any, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return where the numbers of a document stand."""
    if isinstance(tree, dict):
        return [found for key, value in tree.items() for found in numbers_of(value, (*place, key))]
    if isinstance(tree, list):
        return [found for key, value in enumerate(tree) for found in numbers_of(value, (*place, key))]
    return [place] if isinstance(tree, int | float) and not isinstance(tree, bool) else []


def with_number(text: str, place: tuple[str | int, ...], number: str) -> str:
    """Return a document with another number at a place."""
    tree: Any = json.loads(text)
    node = tree
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = "NUMBER"
    return json.dumps(tree).replace('"NUMBER"', number)


def test_a_file_of_five_gigabytes_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first bytes beyond the limit are enough; a sparse file takes no room."""
    monkeypatch.setattr("calibcli.documents.sealed.MOST_BYTES", 1 << 20)
    path = tmp_path / "d.json"
    with path.open("wb") as file:
        file.write(PLATT.encode())
        file.truncate(5 << 30)
    with pytest.raises(DocumentProblem, match="is larger than the 1 MiB of a document that calibcli reads"):
        read_any_artifact(path)


@pytest.mark.untraced
def test_nothing_in_the_package_can_run_what_it_reads() -> None:
    """No pickle, no eval, no shell; engines alone pickle, our own work for our own workers.

    `values.py` compiles the constructors of our data classes from the names of their fields, as the standard
    library does: once, while a module is imported, and before anything is read.
    """
    found = [
        f"{path}:{node.lineno}"
        for path in sorted((ROOT / "calibcli").rglob("*.py"))
        if path.parent.name != "engines" and _SUSPECT.search(path.read_text())
        for node in ast.walk(ast.parse(path.read_text()))
        if runs_what_it_reads(node, _BUILT_IN - ({"exec"} if path.name == "values.py" else set()))
    ]
    assert found == []


def runs_what_it_reads(node: ast.AST, built_in: set[str]) -> bool:
    """Whether this is an import or a call of what runs data."""
    if isinstance(node, ast.Import):
        return bool(_DANGEROUS & {alias.name.partition(".")[0] for alias in node.names})
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in _DANGEROUS
    if not isinstance(node, ast.Call):
        return False
    name = node.func.id if isinstance(node.func, ast.Name) else None
    switched = {
        one.arg for one in node.keywords if isinstance(one.value, ast.Constant) and one.value.value is True
    }
    return name in built_in or bool(switched & {"allow_pickle", "shell"})
