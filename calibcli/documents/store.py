"""Artifacts as text: reading from disk and the one text to write."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Self

from calibcli.codec import Node
from calibcli.documents.artifact import Artifact, check_schema, fitted_by_group, of_several_classes
from calibcli.documents.sealed import MOST_BYTES, Document, document_of, parse, sealed_text
from calibcli.errors import DocumentProblem, InputProblem, UsageProblem
from calibcli.objects import content_of, content_of_file, is_object

if TYPE_CHECKING:
    from calibcli.documents.class_artifact import ClassArtifact


class HeldArtifact(str):
    """
    The name of an artifact in memory, which carries it: it may stand wherever the path of one may.

    Args:
        name: What messages and reports call it.

        artifact: The artifact.
    """

    __slots__ = ("artifact",)

    artifact: "Artifact | ClassArtifact"

    def __new__(cls, name: str, *, artifact: "Artifact | ClassArtifact") -> Self:
        """Return the name with its artifact."""
        made = super().__new__(cls, name)
        made.artifact = artifact
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


class HeldDocument(str):
    """
    The name of a JSON document in memory, which carries it: it may stand wherever the path of one may.

    Args:
        name: What messages call it.

        document: Its root.
    """

    __slots__ = ("document",)

    document: dict[str, object]

    def __new__(cls, name: str, *, document: dict[str, object]) -> Self:
        """Return the name with its document."""
        made = super().__new__(cls, name)
        made.document = document
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


def artifact_text(artifact: "Artifact | ClassArtifact") -> str:
    """
    Return the text of an artifact: the same fit gives the same bytes.

    Raises:
        InputProblem: If it is so long that it could not be read again.
    """
    return readable(sealed_text(artifact.to_dict()), method=artifact.recalibrator.name.value)


def readable(text: str, *, method: str) -> str:
    """
    Return the text of an artifact.

    Args:
        text: The text.

        method: What was fitted, for messages.

    Raises:
        InputProblem: If it is so long that it could not be read again.
    """
    # Every character is one byte.
    if len(text) > MOST_BYTES:
        size, most = (math.ceil(length / 2**20) for length in (len(text), MOST_BYTES))
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
    return of_one_score(path, read_any_artifact(path))


def of_one_score(path: Path | str, found: "Artifact | ClassArtifact") -> Artifact:
    """
    Return an artifact that was fitted to one score.

    Args:
        path: Where it was read, for messages.

        found: The artifact.

    Raises:
        UsageProblem: If it was fitted to several classes.
    """
    if isinstance(found, Artifact):
        return found
    msg = f"{path}: it was fitted to {len(found.classes):,} classes, and one score was named"
    raise UsageProblem(msg, "name the columns of the classes with --probs")


def read_class_artifact(path: Path | str) -> "ClassArtifact":
    """
    Read an artifact of several classes.

    Raises:
        InputProblem: If the file cannot be opened.

        DocumentProblem: If what it holds is not an artifact, with the file and the place in it.

        UsageProblem: If it was fitted to one score.
    """
    found = read_any_artifact(path)
    if not isinstance(found, Artifact):
        return found
    msg = f"{path}: it was fitted to one score, and the columns of several classes were named"
    raise UsageProblem(msg, "name the score column with --score; or look at one view with --view and --class")


def read_any_artifact(path: Path | str) -> "Artifact | ClassArtifact":
    """
    Read an artifact of one score or of several classes.

    Raises:
        InputProblem: If the file cannot be opened.

        DocumentProblem: If what it holds is not an artifact, with the file and the place in it.
    """
    if isinstance(path, HeldArtifact):
        return path.artifact
    try:
        found, doubts = read_document(path).built(artifact_of)
        return found.doubted(str(path), doubts)
    except DocumentProblem as problem:
        raise in_file(path, problem) from None


def artifact_of_text(text: str) -> "Artifact | ClassArtifact":
    """
    Return the artifact that `artifact_text` gave the text of.

    Raises:
        DocumentProblem: If it is that of none.
    """
    return parse(text.encode(), most=MOST_BYTES).built(artifact_of)[0]


def artifact_of(root: Node) -> "Artifact | ClassArtifact":
    """
    Return the artifact of one score or of several classes that a document holds.

    Raises:
        DocumentProblem: If it holds none, with the place.
    """
    check_schema(root)
    if fitted_by_group(root):
        msg = "has a map for each group of rows, and one map is needed here"
        hint = (
            "apply, measure, verify, plot, report and export take it; for anything else fit each group "
            "apart, with --where 'COL==GROUP' in place of --by"
        )
        raise root.problem(msg, hint)
    if not of_several_classes(root):
        return Artifact.from_dict(root)
    from calibcli.documents.class_artifact import ClassArtifact

    return ClassArtifact.from_dict(root)


def read_document(
    path: Path | str, *, most: int = MOST_BYTES, origin: str = "an artifact is what `calibcli fit` writes"
) -> Document:
    """
    Return the root of a JSON document on disk.

    Args:
        path: The file.

        most: How many bytes it may have.

        origin: What writes such a document, where there is no file.

    Raises:
        InputProblem: If the file cannot be opened.

        DocumentProblem: If it is not JSON; without the name of the file, which `in_file` adds.
    """
    if isinstance(path, HeldDocument):
        return document_of(path.document)
    if is_object(str(path)):
        return parse(content_of(str(path), most + 1), most=most)
    try:
        content = content_of_file(path, most + 1)
    except FileNotFoundError:
        msg = f"{path}: there is no such file"
        raise InputProblem(msg, origin) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        msg = f"{path}: cannot be read ({reason})"
        raise InputProblem(msg) from None
    return parse(content, most=most)


def in_file(path: Path | str, problem: DocumentProblem) -> DocumentProblem:
    """Return the problem with the name of the file before its place."""
    place = f"{path}" if problem.path == "$" else f"{path}: {problem.path}"
    return DocumentProblem(place, problem.detail, problem.hint)
