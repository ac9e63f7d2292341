"""Completion in the shell: columns, from the header of the files that are typed already, and measures."""

import os
import re
import shlex
from pathlib import Path

# What completes the line puts it here: zsh, fish and PowerShell into the first, bash into the second.
_LINES = ("_TYPER_COMPLETE_ARGS", "COMP_WORDS")
_TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_TABS = ("tab", "\\t")
_LONGEST_HEADER = 1 << 20
# What pandas writes beside the columns of a frame.
_INDEX = re.compile(r"__index_level_[0-9]+__")


def column_names(incomplete: str) -> list[str]:
    """Return the columns, in the order of the file, of the files on the line that begin with a text."""
    found: dict[str, None] = {}
    words = _words()
    for word in words:
        found |= dict.fromkeys(_header(word, _option(words, "--delimiter"), _option(words, "--encoding")))
    return [name for name in found if name.startswith(incomplete) and not _INDEX.fullmatch(name)]


def metric_names(incomplete: str) -> list[str]:
    """Return the measures, tests and groups that begin with a text."""
    from calibcli.options.metrics import known_metrics

    return [str(name) for name in known_metrics() if name.startswith(incomplete)]


def _words() -> list[str]:
    line = next((os.environ[name] for name in _LINES if name in os.environ), "")
    try:
        return shlex.split(line)[1:]
    except ValueError:
        # A quote is open where the cursor stands.
        return line.split()[1:]


def _option(words: list[str], name: str) -> str | None:
    """Return the value of an option on the line, or None."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == name:
            return following or None
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def _header(word: str, delimiter: str | None, encoding: str | None) -> tuple[str, ...]:
    """Return the columns of a file; none of what is no file of data, or cannot be read."""
    try:
        path = Path(word)
        if path.is_file() and path.suffix.lower() in _TEXT:
            return (*_header_of_text(path, delimiter, encoding), *_partitions(word))
        if path.is_file() or path.is_dir():
            return _header_of_any(word, delimiter, encoding)
    except Exception:  # noqa: BLE001 - whatever it is, a line being typed is no place for it
        return ()
    return ()


def _header_of_text(path: Path, delimiter: str | None, encoding: str | None) -> tuple[str, ...]:
    """Return the first record of a CSV file, without what it takes to import a reader."""
    import csv

    separator = "\t" if delimiter in _TABS else delimiter or _TEXT[path.suffix.lower()]
    with path.open(encoding=encoding or "utf-8-sig", newline="") as file:
        lines = csv.reader([*file.readlines(_LONGEST_HEADER)], delimiter=separator)
        return tuple(next(lines, ()))


def _header_of_any(name: str, delimiter: str | None, encoding: str | None) -> tuple[str, ...]:
    """Return the columns of the first file of whatever is named, and those that its path holds."""
    from calibcli.errors import UsageProblem
    from calibcli.options.rows import InputFormat
    from calibcli.readers import reader_of
    from calibcli.readers.fragments import list_fragments

    try:
        first = list_fragments([name], input_format=InputFormat(None, delimiter, encoding))[0]
    except UsageProblem:
        # The separator and the encoding are those of another file on the line.
        first = list_fragments([name])[0]
    return (*reader_of(first.format).header(first), *(column for column, _ in first.partitions))


def _partitions(word: str) -> tuple[str, ...]:
    """Return the columns that the path of a file holds."""
    from calibcli.readers.partitions import partitions_of

    return tuple(column for column, _ in partitions_of(word))
