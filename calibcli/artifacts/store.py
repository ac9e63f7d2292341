"""Artifacts as text: reading from disk, the one text to write, and the published schemas."""

import math
from importlib.resources import files
from pathlib import Path

from calibcli.artifacts.document import Artifact
from calibcli.documents import MOST_BYTES, Node, canonical_text, parse
from calibcli.errors import DocumentProblem, InputProblem
from calibcli.names import DocumentKind


def artifact_text(artifact: Artifact) -> str:
    """
    Return the text of an artifact: the same fit gives the same bytes.

    Raises:
        InputProblem: If it is so long that it could not be read again.
    """
    text = canonical_text(artifact.to_dict())
    # Every character is one byte.
    if len(text) > MOST_BYTES:
        size, most = (math.ceil(length / 2**20) for length in (len(text), MOST_BYTES))
        method = artifact.recalibrator.name.value
        msg = (
            f"the artifact of this {method} fit takes {size:,} MiB, and those above {most} MiB cannot be read"
        )
        raise InputProblem(msg, "leave out --exact, ask for fewer --folds, or use another --method")
    return text


def read_artifact(path: Path | str) -> Artifact:
    """
    Read an artifact.

    Raises:
        InputProblem: If the file cannot be opened.

        DocumentProblem: If what it holds is not an artifact, with the file and the place in it.
    """
    try:
        return Artifact.from_dict(read_document(path))
    except DocumentProblem as problem:
        raise in_file(path, problem) from None


def read_document(path: Path | str) -> Node:
    """
    Return the root of a JSON document on disk.

    Raises:
        InputProblem: If the file cannot be opened.

        DocumentProblem: If it is not JSON; without the name of the file, which `in_file` adds.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        msg = f"{path}: there is no such file"
        raise InputProblem(msg, "an artifact is what `calibcli fit` writes") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        msg = f"{path}: cannot be read ({reason})"
        raise InputProblem(msg) from None
    return parse(content)


def in_file(path: Path | str, problem: DocumentProblem) -> DocumentProblem:
    """Return the problem with the name of the file before its place."""
    place = f"{path}" if problem.path == "$" else f"{path}: {problem.path}"
    return DocumentProblem(place, problem.detail, problem.hint)


def schema_text(kind: DocumentKind) -> str:
    """Return the JSON Schema (2020-12) of a kind of document."""
    folder = files("calibcli.artifacts") / "schemas"
    return (folder / f"{kind.value}.schema.json").read_text(encoding="utf-8")
