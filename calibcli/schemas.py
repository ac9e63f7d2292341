"""The JSON Schemas (2020-12) of documents, made of what their classes declare."""

import json
from importlib.resources import files
from typing import Any, NamedTuple

from calibcli.codec import Declared, Definitions, Shape, thing
from calibcli.names import DocumentKind

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DIGEST = (
    "SHA-256 of the canonical text of the document without this line: sorted keys, two spaces, ASCII. "
    "Another layout of the same values has the same digest."
)


class _Published(NamedTuple):
    """A kind of document: its title, what it is, its classes, and whether a key may sign it."""

    title: str
    about: str
    classes: tuple[type[Declared], ...]
    keyed: bool = False


def schema_text(kind: DocumentKind) -> str:
    """Return the JSON Schema of a kind of document."""
    if kind not in (DocumentKind.ARTIFACT, DocumentKind.GATE):
        folder = files("calibcli.artifacts") / "schemas"
        return (folder / f"{kind.value}.schema.json").read_text(encoding="utf-8")
    title, about, classes, keyed = _published(kind)
    pattern = f"^{'(hmac-)?' if keyed else ''}sha256:[0-9a-f]{{64}}$"
    said = f"{_DIGEST} With a key its HMAC-SHA256." if keyed else _DIGEST
    digest = {"description": said, "type": "string", "pattern": pattern}
    named = Definitions()
    bodies = [thing(one).body(named, Shape({"digest": digest}, ("digest",))) for one in classes]
    schema: dict[str, Any] = {"$schema": _DIALECT, "$id": f"urn:calibcli:{kind.value}:2", "title": title}
    schema |= {"description": about, **({"oneOf": bodies} if len(bodies) > 1 else _without_about(bodies[0]))}
    return json.dumps({**schema, "$defs": named.bodies}, indent=2) + "\n"


def _without_about(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != "description"}


def _published(kind: DocumentKind) -> _Published:
    match kind:
        case DocumentKind.ARTIFACT:
            from calibcli.artifacts.class_document import ClassArtifact
            from calibcli.artifacts.document import Artifact
            from calibcli.artifacts.group_document import GroupArtifact

            return _Published(
                "calibcli artifact",
                "A fitted recalibrator with the record of its fit, as `calibcli fit` writes it: of one "
                "score, of one score by group, or of several classes.",
                (Artifact, ClassArtifact, GroupArtifact),
            )
        case DocumentKind.GATE:
            from calibcli.gates.state import GateState

            return _Published(
                "calibcli gate state",
                "What `calibcli verify --state` has counted. Whole numbers may be larger than 2^53. JSON has "
                "no infinity: it is the string inf.",
                (GateState,),
                keyed=True,
            )
        case _:
            raise NotImplementedError
