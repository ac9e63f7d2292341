"""The map that a gate with a state applies first, and what it settles before a row is seen."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibcli.documents.sealed import canonical_text
from calibcli.errors import UsageProblem
from calibcli.options.rows import SeveralClasses
from calibcli.readers.names_of_columns import listing
from calibcli.recalibrators.interface import values_of

if TYPE_CHECKING:
    from calibcli.documents.artifact import Artifact
    from calibcli.documents.class_artifact import ClassArtifact


@dataclass(frozen=True, slots=True)
class GateMap:
    """
    What a gate needs to know of an artifact.

    Args:
        fingerprint: What tells its map.

        outputs: Every value that the judged score can have, ascending; None where there are too many.

        variance: Mean of f (1 - f) on the rows of the fit, or None where that is not known.

        doubts: What must be said of its document.
    """

    fingerprint: str
    outputs: tuple[float, ...] | None
    variance: float | None
    doubts: tuple[str, ...] = ()


def gate_map(path: str | None, several: SeveralClasses | None) -> GateMap | None:
    """
    Return what is settled by the artifact of a gate; None where there is none.

    Args:
        path: The artifact, or None.

        several: What was said of several classes, or None where there is one score.

    Raises:
        InputProblem: If the artifact cannot be read.

        UsageProblem: If it does not know the class that is looked at.
    """
    if path is None:
        return None
    if several is None:
        from calibcli.documents.store import read_artifact

        binary = read_artifact(path)
        outputs = values_of(binary.recalibrator.bins)
        return GateMap(fingerprint_of(binary), outputs, binary.fit.mean_variance, binary.doubts)
    from calibcli.documents.store import read_class_artifact
    from calibcli.recalibrators.classes.outputs import outputs_of

    loaded = read_class_artifact(path)
    if several.one_class is not None and several.one_class not in loaded.classes:
        msg = f"{path}: there is no class {several.one_class!r}; the classes are {listing(loaded.classes)}"
        raise UsageProblem(msg, "name one of them with --class")
    seen = outputs_of(loaded.recalibrator, loaded.classes, view=several.view, one_class=several.one_class)
    return GateMap(fingerprint_of(loaded), seen, None, loaded.doubts)


def fingerprint_of(artifact: "Artifact | ClassArtifact") -> str:
    """Return what tells the map of an artifact: of its method, parameters and columns, not of its wording."""
    document = artifact.to_dict()
    told = canonical_text({key: document[key] for key in ("method", "parameters", "input")})
    return f"sha256:{hashlib.sha256(told.encode()).hexdigest()}"
