"""Fingerprints of files, so that a reader of a report can tell whether these are the ones."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from calibcli.readers.files import read_errors

# Reading once more costs about a second for so many.
MOST_BYTES = 1 << 30
_CHUNK = 1 << 20


def file_digests(paths: Sequence[str]) -> dict[str, str]:
    """
    Return the SHA-256 of every file, by its name.

    Args:
        paths: What was read; "-" is standard input.

    Returns:
        Nothing where one is a pipe, a device or an object of a store, or where they are larger than 1 GiB
        together.

    Raises:
        InputProblem: If a file cannot be read.
    """
    found = [Path(path) for path in paths]
    if not all(path.is_file() for path in found) or sum(path.stat().st_size for path in found) > MOST_BYTES:
        return {}
    return {name: _digest(path) for name, path in zip(paths, found, strict=True)}


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with read_errors(str(path)), path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()
