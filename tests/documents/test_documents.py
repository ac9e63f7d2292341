"""Documents know themselves again: another layout is the same document, any other value is another one."""

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from typing_extensions import TypeAliasType, TypeVar

from calibcli import codec
from calibcli.codec import GAPS, Between, Declared, Node
from calibcli.documents.sealed import (
    Document,
    Trust,
    canonical_text,
    document_of,
    parse,
    sealed,
    sealed_text,
    trusting,
)
from calibcli.documents.state import from_dict
from calibcli.documents.summary import TableDocument
from calibcli.errors import DocumentProblem
from calibcli.names import DocumentKind
from calibcli.stats.table import Floats
from published import check, in_turn, replaced, validator

SOME: dict[str, object] = {
    "schema": "calibcli.plan/2",
    "a": [1, 2.5, "é"],
    "rows": {"digest": "no", "b": None},
}


def same(node: Node) -> object:
    """Return what is there."""
    return node.value


def test_the_text_of_a_document_holds_its_digest_and_nothing_else_changes() -> None:
    """Both ways to make it agree, and without the line it is the canonical text."""
    text = sealed_text(SOME)
    assert json.loads(text) == sealed(SOME) == sealed(sealed(SOME))
    assert text == canonical_text(sealed(SOME)) == sealed_text(sealed(SOME))
    lines = text.splitlines(keepends=True)
    assert "".join(line for line in lines if not line.startswith('  "digest"')) == canonical_text(SOME)


PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(PLAIN, lambda one: st.lists(one) | st.dictionaries(st.text(), one), max_leaves=30)


@given(st.dictionaries(st.text(), VALUES))
def test_the_text_is_that_of_json_with_an_indent_of_two(document: dict[str, object]) -> None:
    """Letter for letter, whatever holds what."""
    assert canonical_text(document) == json.dumps(document, sort_keys=True, indent=2, allow_nan=False) + "\n"


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), [1.0, float("-inf")], {"b": [[], float("nan")]}]
)
def test_numbers_that_json_has_not_are_refused(value: object) -> None:
    """By itself, in a list of numbers, and in a list of lists."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_text({"a": value})


@pytest.mark.parametrize(
    "layout",
    [
        lambda text: text,
        lambda text: json.dumps(json.loads(text)),
        lambda text: json.dumps(dict(reversed(json.loads(text).items())), indent=7, ensure_ascii=False),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: f"\ufeff{text}\n\n",
    ],
)
def test_another_layout_is_the_same_document(layout: Any) -> None:
    """White space, the order of keys and escapes are no edit."""
    found, doubts = parse(layout(sealed_text(SOME)).encode()).built(same)
    assert (found, doubts) == (SOME, ())


EDITS: dict[str, Any] = {
    "a number": lambda one: one["a"].__setitem__(0, 2),
    "a number written otherwise": lambda one: one["a"].__setitem__(0, 1.0),
    "a text": lambda one: one["rows"].update(digest="yes"),
    "a key more": lambda one: one.update(more=1),
    "a key less": lambda one: one.pop("a"),
    "no digest": lambda one: one.pop("digest"),
    "another digest": lambda one: one.update(digest="sha256:" + "0" * 64),
    "a digest of another kind": lambda one: one.update(digest="hmac-sha256:" + "0" * 64),
    "a digest that is none": lambda one: one.update(digest=None),
    "a number that is infinite": lambda one: one["a"].__setitem__(1, float("1e999")),
    "an earlier version": lambda one: one.update(schema="calibcli.plan/1"),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("indent", [None, 2])
def test_an_edited_document_is_refused_unless_that_is_allowed(edit: str, indent: int | None) -> None:
    """In any layout; and where it is allowed, it is said."""
    document = json.loads(sealed_text(SOME))
    EDITS[edit](document)
    text = json.dumps(document, sort_keys=True, indent=indent)
    edited = document_of(document, text)
    with pytest.raises(DocumentProblem, match=r"digest|key") as problem:
        edited.built(same)
    assert problem.value.exit_code == 3
    assert problem.value.hint
    with trusting(Trust(allow_edited=True)):
        _, (doubt,) = edited.built(same)
    assert "read all the same" in doubt


@pytest.mark.parametrize("allowed", [False, True])
def test_an_edit_that_contradicts_the_rest_is_named_with_its_place(*, allowed: bool) -> None:
    """The edit comes first, then the place; --allow-edited helps no more, and the hint says so."""

    def build(node: Node) -> object:
        return node.child("a").text()

    with trusting(Trust(allow_edited=allowed)), pytest.raises(DocumentProblem) as problem:
        document_of({**sealed(SOME), "a": 3}).built(build)
    assert problem.value.detail.startswith("was edited after it was written and contradicts itself: $.a is 3")
    assert "--allow-edited cannot read what contradicts itself" in str(problem.value.hint)
    with pytest.raises(DocumentProblem) as problem:
        document_of(sealed(SOME)).built(build)
    assert "edited" not in str(problem.value.hint)


def test_a_document_of_the_version_before_is_read_with_a_note() -> None:
    """It has no digest, and cannot have one."""
    old = {**SOME, "schema": "calibcli.plan/1"}
    _, (doubt,) = document_of(old).built(same)
    assert "calibcli.plan/1, which has no digest" in doubt


def test_a_key_signs_and_no_other_key_fits() -> None:
    """With a key only what is signed with it is believed, and without one nothing that is signed."""
    keys = (b"0123456789abcdef", b"another key of old")
    plain, signed = sealed_text(SOME), sealed_text(SOME, key=keys[0])
    loose = json.dumps(json.loads(signed))

    def read(text: str, *allowed: bytes) -> str:
        with trusting(Trust(keys=allowed)):
            try:
                parse(text.encode()).built(same, keyed=True)
            except DocumentProblem as problem:
                return problem.detail
        return "read"

    for text in (signed, loose):
        assert read(text, keys[0]) == read(text, *reversed(keys)) == "read"
        assert "another key" in read(text, keys[1])
        assert "none was given" in read(text)
    assert "not signed" in read(plain, keys[0])
    assert "not signed" in read(canonical_text({**SOME, "schema": "calibcli.plan/1"}), keys[0])
    assert "digest is missing" in read(canonical_text(SOME), keys[0])
    assert "another key" in read(signed.replace("2.5", "2.6"), keys[0])
    assert keys[0].decode() not in repr(Trust(keys=keys))


def test_the_digest_of_a_large_document_costs_little() -> None:
    """Its text is not made again where it is laid out as we do: a hash, a small part of reading it."""
    text = sealed_text({**SOME, "a": [k / 7.0 for k in range(100_000)]})
    begun = time.process_time()
    values = json.loads(text)
    reading = time.process_time() - begun
    begun = time.process_time()
    found = document_of(values, text)
    assert found.intact
    assert time.process_time() - begun < max(0.5 * reading, 0.05)
    assert isinstance(found, Document)


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


def test_every_schema_is_one_and_closed() -> None:
    """Of every kind of document; no object lets anything in but by name, or as it is told apart elsewhere."""
    every: dict[str, object] = {}
    for kind in DocumentKind:
        schema = validator(kind).schema
        found = list(objects(schema))
        assert found
        assert all("additionalProperties" in one for one in found if one != {"type": "object"})
        # What several kinds have alike is looked at once.
        every |= {json.dumps(one): one for one in schema.get("$defs", {}).values()}
        every[kind.value] = {name: one for name, one in schema.items() if name != "$defs"}
    Draft202012Validator.check_schema({"$defs": every})


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


Number = TypeVar("Number", bound=np.generic)
# What numpy's NDArray is since 2.5.
Named = TypeAliasType("Named", np.ndarray[Any, np.dtype[Number]], type_params=(Number,))


@dataclass(frozen=True)
class Columns(Declared):
    """Columns of numbers whose type has a name."""

    score: Annotated[Named[np.float64], "Scores."]
    rows: Annotated[Named[np.int64], "Rows."]


def test_a_type_may_have_a_name() -> None:
    """A column whose type is the name of another is written and read as the other would be."""
    written = Columns(np.array([0.25, 1.0]), np.array([3, 4])).to_dict()
    assert written == {"score": [0.25, 1.0], "rows": [3, 4]}
    read = Columns.from_dict(Node(written))
    assert [one.dtype.name for one in (read.score, read.rows)] == ["float64", "int64"]


@dataclass(frozen=True, eq=False)
class Bounded(Declared):
    """Arrays whose numbers are read at once where all are as they should be."""

    rate: Annotated[Floats, Between(0.0, 1.0), "Rates."]
    above: Annotated[Floats, Between(0.0, inside=True), GAPS, "Numbers above 0, some not known."]
    rows: Annotated[tuple[int, ...], Between(0.0), "Rows."]


NUMBERS = (None, True, "nan", -1, 0, 1, 0.0, 0.5, 1.0, 2.5, 10**308, 10**400, math.inf, math.nan)


@pytest.mark.parametrize("name", ["rate", "above", "rows"])
def test_an_array_is_read_as_its_elements_are(name: str) -> None:
    """At once or one by one: the same numbers, or the same refusal, of every two values."""

    def read(values: tuple[Any, ...]) -> str:
        document = {"rate": [], "above": [], "rows": [], name: list(values)}
        try:
            return repr(Bounded.from_dict(Node(document)))
        except DocumentProblem as problem:
            return str(problem)

    pairs = [(), *product(NUMBERS, repeat=2)]
    at_once = [read(pair) for pair in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "_quickly", lambda *_: None)
        assert at_once == [read(pair) for pair in pairs]
    assert len(set(at_once)) > 10
