"""What a state says is derived anew from its sums, or held against them; what cannot be is written down."""

import copy
import json
import re
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest

from calibcli.documents.sealed import Trust, document_of, sealed, sealed_text, trusting
from calibcli.documents.state import from_dict
from calibcli.errors import DocumentProblem
from calibcli.names import IdKind
from calibcli.stats.gates.growth import Incoming, Rows, grown, merged
from calibcli.stats.gates.state import GateState
from command_line import ROOT
from gate_rows import ATOMS, FIFTEEN, begun, rows_of, table_of_rows
from mutations import edits

LIST = ROOT / "docs" / "gate.md"
HEADING = "## What protects a state"


def fed(state: GateState, *batches: tuple[int, float], seed: int = 3) -> GateState:
    """Return a state after batches of so many rows, each so far off."""
    generator = np.random.default_rng(seed)
    outputs = state.terms.partition.outputs
    for count, off in batches:
        rows = table_of_rows(generator, count, outputs=outputs, off=off)
        name = f"b{len(state.batches)}"
        state = grown(state, (Incoming(name, f"sha256:{name}", name, rows),)).state
    return state


def with_identities() -> GateState:
    """Return a state that keeps who its rows are."""
    generator = np.random.default_rng(5)
    ids = generator.integers(0, 2**64, 300, dtype=np.uint64)
    score, label = rows_of(generator, 300)
    rows = Rows(ids, score, label, np.ones(300, np.int64))
    return grown(
        begun(FIFTEEN, by_id=True), (Incoming("a", "sha256:a", "a", rows, frozenset({IdKind.NUMBERS})),)
    ).state


def failed() -> GateState:
    """Return a state whose fail stands, though all its rows would no longer show it."""
    return fed(begun(ATOMS), (400, 0.3), (4_000, 0.0), (4_000, 0.0))


def passed() -> GateState:
    """Return a state that passed, at some look."""
    return fed(begun(ATOMS, limit=0.1), (400, 0.0), (1_500, 0.0), (1_500, 0.0))


STATES: dict[str, Callable[[], GateState]] = {
    "failed": failed,
    "passed": passed,
    "open": lambda: fed(begun(FIFTEEN), (200, 0.0), (200, 0.0)),
    "identified": with_identities,
    "alarm": lambda: fed(begun(ATOMS, limit=None, alarm=True), (300, 0.0), (300, 0.4)),
    "taken over": lambda: fed(begun(), (300, 0.0)).doubted(("was edited",)),
    "merged": lambda: merged(
        [("a", fed(begun(), (300, 0.0))), ("b", named(fed(begun(), (300, 0.0), seed=4)))]
    ),
}


def named(state: GateState) -> GateState:
    """Return a state whose batches have other names."""
    document = state.to_dict()
    for one in document["batches"]:  # type: ignore[attr-defined]
        one.update(key=f"{one['key']}'", digest=f"{one['digest']}'")
    return from_dict(document_of(document))


def believed(document: dict[str, Any]) -> bool:
    """Whether a state whose digest was made to fit is read."""
    try:
        document_of(sealed(document)).built(from_dict, keyed=True)
    except DocumentProblem:
        return False
    return True


def listed() -> set[str]:
    """Return the fields that docs/gate.md says are not derived."""
    section = LIST.read_text(encoding="utf-8").split(HEADING)[1].split("\n## ")[0]
    return {
        name
        for line in section.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([^`]+)`", line.split("|")[1])
    }


EVERY = [pytest.param(61, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]


@pytest.mark.untraced
@pytest.mark.parametrize("step", EVERY)
@pytest.mark.parametrize("kind", STATES)
def test_an_editor_who_makes_the_digest_fit_is_refused_or_can_do_what_is_listed(kind: str, step: int) -> None:
    """Every field is derived or held against the sums, and the others are in docs/gate.md."""
    document = STATES[kind]().to_dict()
    allowed, refused, free = listed(), 0, set()
    assert believed(document)
    for place, what, edited in islice(edits(document, longest=4), 0, None, step):
        if believed(edited):
            free.add((re.sub(r"\[\d+\]", "[]", _path(place)), what))
        else:
            refused += 1
    assert not {(path, what) for path, what in free if path not in allowed}
    assert refused > len(free)


def _path(place: tuple[str | int, ...]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)[1:]


@pytest.mark.untraced
@pytest.mark.parametrize("step", EVERY)
@pytest.mark.parametrize("kind", STATES)
def test_with_a_key_every_edit_is_refused(kind: str, step: int) -> None:
    """Whether the digest is left, dropped, or made to fit without the key; so is an earlier version."""
    keys = (b"a key of more than sixteen letters",)
    text = sealed_text(STATES[kind]().to_dict(), key=keys[0])
    document = json.loads(text)
    with trusting(Trust(keys=keys)):
        document_of(document, text).built(from_dict, keyed=True)
        for _, _, edited in islice(edits(document, longest=3), 0, None, step):
            body = {key: value for key, value in edited.items() if key != "digest"}
            left = {**body, "digest": document["digest"]}
            for one in (edited, sealed(body), body, *([] if left == document else [left])):
                with pytest.raises(DocumentProblem):
                    document_of(one).built(from_dict, keyed=True)


def edited(state: GateState, change: Callable[[Any], object]) -> dict[str, Any]:
    """Return the document of a state, changed and with a digest that fits."""
    document: Any = copy.deepcopy(state.to_dict())
    change(document)
    return sealed(document)


@pytest.mark.parametrize(
    ("state", "change", "place"),
    [
        (failed, lambda one: one.update(failed_at=None), "$.failed_at"),
        (failed, lambda one: one.update(failed_at=None, failed_on=None), "$.failed_at"),
        (failed, lambda one: one.update(failed_at=4_400), "$.failed_at"),
        (failed, lambda one: one.update(failed_on=None), "$.failed_on"),
        (failed, lambda one: one["failed_on"]["positive"].__setitem__(0, 0), "$.failed_on"),
        (failed, lambda one: one.update(failed_on=one["epochs"][0] | {"first": 1}), "$.failed_on"),
        (passed, lambda one: one.update(passed_at=400), "$.passed_at"),
        (passed, lambda one: one.update(passed_at=None), "$.passed_at"),
        (passed, lambda one: one["batches"][0]["look"].update(log_pass=9.0), "$.passed_at"),
        (passed, lambda one: [b.update(look=None) for b in one["batches"][1:]], "$.batches[1].look"),
        (passed, lambda one: one.update(failed_at=1_900), "$.failed_at"),
    ],
)
def test_a_verdict_is_what_the_rows_it_was_shown_on_show(
    state: Callable[[], GateState], change: Callable[[Any], object], place: str
) -> None:
    """In both directions: one that stands is not forgotten, and one that is not shown is not believed."""
    with pytest.raises(DocumentProblem) as problem:
        document_of(edited(state(), change)).built(from_dict)
    assert problem.value.path == place


def test_an_earlier_look_and_the_verdict_together_are_held_against_the_sums() -> None:
    """Whoever invents a pass at an earlier look has to invent rows that show it."""

    def change(one: Any) -> None:
        one["batches"][0]["look"].update(log_pass=9.0)
        one.update(passed_at=400)

    with pytest.raises(DocumentProblem, match="rows, and the verdict was shown at 400"):
        document_of(edited(passed(), change)).built(from_dict)


def test_a_verdict_over_other_rows_than_those_counted_is_refused() -> None:
    """The rows of a verdict are some of those of the state, cell by cell."""
    other = fed(begun(ATOMS, limit=0.1), (400, 0.0), (1_500, 0.0), seed=11)

    def change(one: Any) -> None:
        one["passed_on"] = other.to_dict()["passed_on"]
        one["passed_on"]["rows"][0] += 900
        one["passed_on"]["rows"][1] -= 900

    with pytest.raises(DocumentProblem, match=r"\$\.passed_on"):
        document_of(edited(passed(), change)).built(from_dict)


def test_a_pass_that_a_merged_state_was_asked_for_is_shown_by_its_rows() -> None:
    """It has no look at them, but the rows."""
    shards = [fed(begun(limit=0.1), (900, 0.0)), named(fed(begun(limit=0.1), (900, 0.0), seed=4))]
    whole = merged([("a", shards[0]), ("b", shards[1])])
    shown = whole.latched(whole.look())
    assert shown.passed_at == 1_800
    assert believed(shown.to_dict())
    assert not believed({**shown.to_dict(), "passed_on": None})
    assert believed({**shown.to_dict(), "passed_on": None, "passed_at": None})


def test_a_label_that_is_not_known_is_of_version_1_only() -> None:
    """A state of this version says what it counts."""
    document = edited(passed(), lambda one: one["input"].update(label=None))
    with pytest.raises(DocumentProblem, match=r"\$\.input\.label"):
        document_of(document).built(from_dict)
