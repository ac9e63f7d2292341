"""Schemas are made of what reads and writes: whatever is written fits them, and so does whatever is read."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from calibcli.codec import Node
from calibcli.documents.sealed import sealed
from calibcli.documents.state import from_dict
from calibcli.documents.summary import TableDocument
from calibcli.errors import DocumentProblem
from calibcli.names import DocumentKind
from published import check, in_turn, replaced, validator

HERE = Path(__file__).parents[1]
READ: dict[DocumentKind, tuple[Path, Callable[[Node], object]]] = {
    DocumentKind.GATE: (HERE / "stats" / "gates" / "frozen" / "gate-2-alarm.json", from_dict),
    DocumentKind.SUMMARY: (HERE / "documents" / "frozen_2" / "summary.json", TableDocument.from_dict),
}


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object that a schema describes."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for one in schema.values():
            yield from objects(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from objects(one)


@pytest.mark.parametrize("kind", DocumentKind)
def test_every_schema_is_one_and_closed(kind: DocumentKind) -> None:
    """Of every kind of document; no object lets anything in but by name, or as it is told apart elsewhere."""
    found = list(objects(validator(kind).schema))
    assert found
    assert all("additionalProperties" in one for one in found if one != {"type": "object"})


@in_turn
@pytest.mark.parametrize("kind", READ)
def test_any_replaced_value_is_refused_or_fits_the_schema(kind: DocumentKind, every: int) -> None:
    """Whatever stands in place of a value."""
    path, read = READ[kind]
    document = json.loads(path.read_text())
    check(document, kind)
    del document["digest"]
    refused = 0
    for where, value, damaged in replaced(document, every):
        try:
            read(Node(damaged))
        except DocumentProblem:
            refused += 1
        else:
            assert validator(kind).is_valid(sealed(damaged)), (where, value)
    assert refused > 100 // every
