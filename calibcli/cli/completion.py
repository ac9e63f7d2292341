"""Completion of column names in the shell: from the header of the files that are typed already."""

import csv
import os
import shlex
from pathlib import Path

# What completes the line puts it here: zsh, fish and PowerShell into the first, bash into the second.
_LINES = ("_TYPER_COMPLETE_ARGS", "COMP_WORDS")
_TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_LONGEST_HEADER = 1 << 20


def column_names(incomplete: str) -> list[str]:
    """Return the columns, in the order of the file, of the files on the line that begin with a text."""
    found: dict[str, None] = {}
    for word in _words():
        found |= dict.fromkeys(_header(word))
    return [name for name in found if name.startswith(incomplete)]


def _words() -> list[str]:
    line = next((os.environ[name] for name in _LINES if name in os.environ), "")
    try:
        return shlex.split(line)[1:]
    except ValueError:
        # A quote is open where the cursor stands.
        return line.split()[1:]


def _header(word: str) -> tuple[str, ...]:
    """Return the columns of a file; none of what is no file of data, or cannot be read."""
    try:
        path = Path(word)
        if path.is_file() and path.suffix.lower() in _TEXT:
            return _header_of_text(path)
        if path.is_file() or path.is_dir():
            return _header_of_any(word)
    except Exception:  # noqa: BLE001 - whatever it is, a line being typed is no place for it
        return ()
    return ()


def _header_of_text(path: Path) -> tuple[str, ...]:
    """Return the first record of a CSV file, without what it takes to import a reader."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader([*file.readlines(_LONGEST_HEADER)], delimiter=_TEXT[path.suffix.lower()])
        return tuple(next(lines, ()))


def _header_of_any(name: str) -> tuple[str, ...]:
    from calibcli.readers import reader_of
    from calibcli.readers.fragments import list_fragments

    first = list_fragments([name])[0]
    return reader_of(first.format).header(first)
