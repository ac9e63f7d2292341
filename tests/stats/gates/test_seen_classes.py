"""How several classes are seen is a part of the terms of a state, and not believed when damaged."""

import json
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pytest

from calibcli.documents.schemas import schema_text
from calibcli.documents.sealed import document_of
from calibcli.documents.state import from_dict, state_text
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import DocumentKind, ViewName
from calibcli.stats.gates.growth import merged
from calibcli.stats.gates.state import GateState, SeenClasses, differences
from gate_rows import TEN, begun, table_of_rows

CAT = SeenClasses(ViewName.TOP_LABEL, "cat", ("ant", "cat"))


def state_of(seen: SeenClasses | None, *, key: str = "a", seed: int = 1) -> GateState:
    """Return a state that looks at several classes so."""
    start = begun()
    rows = table_of_rows(np.random.default_rng(seed), 200, outputs=TEN)
    return replace(start, terms=replace(start.terms, classes=seen)).counted(rows, key=key)


@pytest.mark.parametrize("seen", [None, CAT, SeenClasses(ViewName.CONFIDENCE, None, ("ant", "cat"))])
def test_state_of_classes_comes_back_from_its_text(seen: SeenClasses | None) -> None:
    """With the same terms and the same text, as its schema says; one score leaves no trace of classes."""
    state = state_of(seen)
    document = json.loads(state_text(state))
    jsonschema.Draft202012Validator(json.loads(schema_text(DocumentKind.GATE))).validate(document)
    again = from_dict(document_of(document))
    assert (again.terms, state_text(again)) == (state.terms, state_text(state))
    assert ("classes" in document["input"]) is (seen is not None)


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"names": ["cat"]}, "names", "two different classes"),
        ({"names": ["cat", "cat"]}, "names", "two different classes"),
        ({"class": "cow"}, "class", "does not go with"),
        ({"class": None}, "class", "does not go with"),
        ({"view": "confidence"}, "class", "does not go with"),
        ({"view": "sideways"}, "view", "one of"),
        ({"mood": "good"}, "classes", "unknown key"),
    ],
)
def test_damaged_classes_are_refused(change: dict[str, Any], place: str, said: str) -> None:
    """The message names the place."""
    document = json.loads(state_text(state_of(CAT)))
    document["input"]["classes"].update(change)
    with pytest.raises(DocumentProblem, match=said) as caught:
        from_dict(document_of(document))
    assert caught.value.path.endswith(place)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (None, "scores: of several classes, not of two classes"),
        (replace(CAT, one_class="ant"), "view: top-label of 'cat', not top-label of 'ant'"),
        (SeenClasses(ViewName.ONE_VS_REST, "cat", CAT.names), "not one-vs-rest of 'cat'"),
        (replace(CAT, names=("cat", "ant")), "classes: ant, cat, not cat, ant"),
    ],
)
def test_other_classes_are_other_terms(other: SeenClasses | None, said: str) -> None:
    """Rows seen in another way cannot be added, in a call or in a merge."""
    one, two = state_of(CAT), state_of(other, key="b", seed=2)
    assert any(said in text for text in differences(one.terms, two.terms))
    with pytest.raises(UsageProblem, match=r"other terms|different"):
        merged([("one.json", one), ("two.json", two)])
    assert not differences(one.terms, state_of(CAT, key="b").terms)
