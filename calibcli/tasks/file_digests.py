"""Fingerprints of files, so that a reader of a report can tell whether these are the ones."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from calibcli.readers.files import read_errors

# Reading once more costs about a second for so many.
MOST_BYTES = 1 << 30
_CHUNK = 1 << 20
_SAMPLES, _SAMPLE = 16, 1 << 16
_SHORT = 1 << 10


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


def file_marks(paths: Sequence[str]) -> tuple[str, ...] | None:
    """
    Return what tells the content of each file from others, whatever its name: of large ones by samples.

    Short files may well be equal and yet two, so that their names count too.

    Args:
        paths: What was read; "-" is standard input.

    Returns:
        None where one is a pipe, a device, an object of a store, or rows in memory.

    Raises:
        InputProblem: If a file cannot be read.
    """
    found = [Path(path) for path in paths]
    if not all(path.is_file() for path in found):
        return None
    return tuple(_mark(name, path) for name, path in zip(paths, found, strict=True))


def _mark(name: str, path: Path) -> str:
    found = hashlib.sha256(b"calibcli.file/1 ")
    with read_errors(str(path)), path.open("rb") as file:
        size = path.stat().st_size
        found.update(f"{size} {name if size < _SHORT else ''}\n".encode(errors="surrogatepass"))
        if size <= _SAMPLES * _SAMPLE:
            found.update(file.read())
        else:
            for place in range(_SAMPLES):
                file.seek((size - _SAMPLE) * place // (_SAMPLES - 1))
                found.update(file.read(_SAMPLE))
    return f"sha256:{found.hexdigest()}"
