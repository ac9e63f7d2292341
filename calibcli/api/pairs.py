"""The two that are compared: two scores of a mapping, or artifacts."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from calibcli.api.recalibrator import ArtifactLike, Recalibrator, artifact_name, held_artifact

if TYPE_CHECKING:
    from calibcli.api.rows import Names


def pair_of(rows: object, labels: object, *, score: "Names | None", probs: "Names | None") -> "Names | None":
    """Return the score columns: the two of a mapping of two beside labels, where none are named."""
    two = isinstance(rows, Mapping) and len(rows) == 2
    if two and labels is not None and score is None and probs is None:
        return [str(name) for name in rows]  # type: ignore[attr-defined]
    return score


def artifact_names(artifact: ArtifactLike | Sequence[ArtifactLike] | None) -> tuple[str, ...]:
    """Return one artifact or several as tasks take them; two of one name are told apart by their places."""
    one = artifact is None or isinstance(artifact, Recalibrator | str | os.PathLike)
    many: Sequence[ArtifactLike | None] = (artifact,) if one else artifact  # type: ignore[assignment]
    names: list[str] = []
    for each in many:
        name = artifact_name(each)
        if name is not None:
            names.append(_numbered(name, each) if name in names else name)
    return tuple(names)


def _numbered(name: str, artifact: ArtifactLike | None) -> str:
    """Return a further artifact of one name under another."""
    if not isinstance(artifact, Recalibrator):
        return name
    return held_artifact(replace(artifact, name=f"{name} 2"))
