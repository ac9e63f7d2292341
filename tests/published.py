"""The published JSON Schemas, read once in a process, and documents with something else in them."""

import copy
import json
from collections.abc import Iterator
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from calibcli.documents.schemas import schema_text
from calibcli.names import DocumentKind

Place = tuple[str | int, ...]
# What may stand in place of a value by mistake.
REPLACEMENTS: list[Any] = [None, True, -1, 1.5, 10**400, "text", [], {}, [None], {"a": 1}]
# One of the ten values in every second place, others in the next; all of them with the slow tests.
in_turn = pytest.mark.parametrize("every", [17, pytest.param(1, marks=pytest.mark.slow)])


@cache
def validator(kind: DocumentKind) -> Draft202012Validator:
    """Return the schema of a kind of document, ready to judge."""
    return Draft202012Validator(json.loads(schema_text(kind)))


def check(document: Any, kind: str) -> None:
    """Fail where a document is not what its schema says."""
    validator(DocumentKind(kind)).validate(document)


def state_of(path: Path) -> dict[str, object]:
    """Return a state as JSON, having checked it against its schema."""
    document: dict[str, object] = json.loads(path.read_text())
    check(document, "gate")
    return document


def places(value: Any, path: Place = (), *, one_of: tuple[str, ...] = ()) -> Iterator[Place]:
    """Every place in a document, containers before their members; of arrays two, and of what is named one."""
    if path:
        yield path
    members: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value[:2]))
    for key, member in members[:1] if path and path[-1] in one_of else members:
        yield from places(member, (*path, key), one_of=one_of)


def replaced(document: Any, every: int, *, one_of: tuple[str, ...] = ()) -> Iterator[tuple[Place, Any, Any]]:
    """Every so many'th pair of a place and a value in its place: place, value, and the document with it."""
    pairs = product(places(document, one_of=one_of), REPLACEMENTS)
    for path, value in islice(pairs, None, None, every):
        yield path, value, changed(document, path, value)


def changed(document: Any, path: Place, value: Any = ..., **more: Any) -> Any:
    """Return a copy with another value at a place, or without it, or with more members beside it."""
    found = copy.deepcopy(document)
    inner = found
    for step in path[:-1]:
        inner = inner[step]
    if more:
        inner.update(more)
    elif value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return found
