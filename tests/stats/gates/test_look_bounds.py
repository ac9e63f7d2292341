"""Bounds that looks keep for pictures: those a verdict would have given then, and no part of any verdict."""

import json
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

from calibcli.documents.schemas import schema_text
from calibcli.documents.sealed import document_of
from calibcli.documents.state import from_dict, state_text
from calibcli.errors import DocumentProblem
from calibcli.names import DocumentKind
from calibcli.stats.gates.growth import Incoming, grown, merged
from calibcli.stats.gates.state import GateState, verdict_of
from gate_rows import TEN, begun, table_of_rows


def batch(seed: int) -> Incoming:
    """Return a batch as a table."""
    table = table_of_rows(np.random.default_rng(seed), 400, outputs=TEN)
    return Incoming(f"b{seed}", f"digest {seed}", f"b{seed}.csv", table)


def plain(state: GateState) -> GateState:
    """Return a state as it was before looks kept bounds."""
    batches = [
        replace(one, look=None if one.look is None else replace(one.look, lower=None, upper=None))
        for one in state.batches
    ]
    return replace(state, batches=tuple(batches))


def test_each_look_keeps_the_bounds_of_the_verdict_then() -> None:
    """After every batch the bounds are those that `verify` prints, whatever comes later."""
    state, said = begun(), []
    for seed in range(3):
        state = grown(state, (batch(seed),)).state
        verdict = verdict_of(state)
        said.append((verdict.lower, verdict.upper))
    looks = [one.look for one in state.batches if one.look is not None]
    assert [(look.lower, look.upper) for look in looks] == said


def test_one_call_or_several_give_the_same_bytes() -> None:
    """Bounds are part of each look, not of each call."""
    together = grown(begun(), (batch(0), batch(1))).state
    apart = grown(grown(begun(), (batch(0),)).state, (batch(1),)).state
    assert state_text(together) == state_text(apart)


def test_bounds_come_back_from_disk_and_fit_the_schema() -> None:
    """And a state that was written before they were kept is read as it always was."""
    for state in (grown(begun(), (batch(0),)).state, plain(grown(begun(), (batch(0),)).state)):
        document = json.loads(state_text(state))
        jsonschema.Draft202012Validator(json.loads(schema_text(DocumentKind.GATE))).validate(document)
        again = from_dict(document_of(document))
        assert again.batches == state.batches
        assert state_text(again) == state_text(state)


def test_a_merged_state_and_an_alarm_have_none() -> None:
    """Merged batches were no looks at the rows together, and an alarm gives no bounds."""
    shards = [("a", grown(begun(), (batch(0),)).state), ("b", plain(grown(begun(), (batch(1),)).state))]
    assert "lower" not in state_text(merged(shards))
    assert '"lower"' not in state_text(grown(begun(limit=0.02, alarm=True), (batch(0),)).state)


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        ({"lower": 0.9}, "upper"),
        ({"upper": 1.5}, "upper"),
        ({"lower": None}, "lower"),
    ],
)
def test_bounds_that_cannot_be_are_refused(damage: dict[str, object], place: str) -> None:
    """Ends out of order or outside [0, 1] are named with their place."""
    document = json.loads(state_text(grown(begun(), (batch(0),)).state))
    document["batches"][0]["look"] |= damage
    with pytest.raises(DocumentProblem) as problem:
        from_dict(document_of(document))
    assert problem.value.path == f"$.batches[0].look.{place}"
