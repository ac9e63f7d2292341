"""The state of a gate as a JSON object, `calibcli.gate/2`: what its parts must agree on."""

import base64
import binascii
from itertools import pairwise
from typing import cast

import numpy as np

from calibcli.codec import Node, ascending, thing, version_of
from calibcli.gates.alarm import MOST_EPOCHS
from calibcli.gates.cells import Partition
from calibcli.gates.plausible import check_looks
from calibcli.gates.state import Fingerprints, GateState

# Ten million fingerprints are 107 MB of text; a state without them is far below a MiB.
MOST_BYTES = 192 * 1024 * 1024


def from_dict(root: Node) -> GateState:
    """
    Restore a state from its document.

    Raises:
        DocumentProblem: If no gate can have written this, with the place.
    """
    version = version_of(root, GateState.SCHEMA, **GateState.ORIGIN)
    ids = root.optional("ids")
    known = root.knowing(
        since=1,
        identified=ids is not None,
        ids=np.zeros(0, np.uint64) if ids is None else _fingerprints(ids),
        partition=Partition.from_dict(root.child("partition")),
    )
    state = cast("GateState", thing(GateState).read(known))
    _check_batches(root.child("batches"), state, version=version)
    _check_epochs(root.child("epochs"), state)
    _check_rows(root, state)
    if state.terms.alarm:
        for key in ("passed_at", *(("passed_on", "failed_on") if version > 1 else ())):
            root.child(key).expect(None)
    elif state.terms.limit is None:
        root.child("rule").child("limit").number()
    if version > 1 and state.since > 1 and state.batches and state.terms.label is None:
        root.child("input").child("label").text()
    if version > 1 and state.since == 1 and not state.notes:
        msg = "is 1, and no note says so"
        raise root.child("since").problem(msg)
    check_looks(root, state)
    return state


def _check_batches(node: Node, state: GateState, *, version: int) -> None:
    """Refuse two batches of one name, and what looks at such a state do not say."""
    seen: set[str] = set()
    for batch, item in zip(state.batches, node.items(), strict=True):
        if batch.key in seen:
            msg = f"is {batch.key!r}, which an earlier batch is called"
            raise item.child("key").problem(msg)
        seen.add(batch.key)
        if batch.content is not None and not state.terms.identified:
            msg = "is there, and no identities are"
            raise item.child("content").problem(msg)
        if batch.look is None:
            continue
        look = item.child("look")
        if version > 1 and state.since > 1:
            look.child("least")
        if batch.look.positive is not None:
            look.child("least")
        if not state.terms.alarm:
            look.child("log_pass").number()
            look.child("upper" if look.has("upper") else "value").number(batch.look.lower or 0.0)
        elif batch.look.lower is not None:
            msg = "is there, and an alarm has no bounds"
            raise look.child("lower").problem(msg)
        else:
            look.child("log_pass").expect(None)


def _check_epochs(node: Node, state: GateState) -> None:
    """Refuse sums by starting point that are not those of the batches."""
    items, count = node.items(), len(state.batches)
    if (len(items) > 1 and not state.terms.alarm) or (count and not items):
        msg = f"has {len(items)} elements, should have from 1 to {MOST_EPOCHS if state.terms.alarm else 1}"
        raise node.problem(msg)
    firsts = [item.child("first") for item in items]
    for first in firsts:
        first.whole(1, count)
    ascending(firsts)
    if firsts:
        firsts[0].expect(1)
    ends = [*(epoch.first for epoch in state.epochs), count + 1]
    for item, epoch, (begin, end) in zip(items, state.epochs, pairwise(ends), strict=True):
        rows = sum(batch.rows for batch in state.batches[begin - 1 : end - 1])
        if epoch.sums.total_rows != rows:
            msg = f"does not hold the {rows:,} rows that the batches have"
            raise (node if len(items) == 1 else item).problem(msg)


def _check_rows(root: Node, state: GateState) -> None:
    """Refuse more fingerprints than rows, and verdicts on more rows than there are."""
    if state.id_kinds and not state.terms.identified:
        msg = "is there, and no identities are"
        raise root.child("id_kinds").problem(msg)
    if state.ids.size > state.rows or np.any(state.ids[1:] <= state.ids[:-1]):
        msg = f"has {state.ids.size:,} fingerprints of {state.rows:,} rows, or they do not ascend"
        raise root.child("ids").problem(msg)
    for key in ("passed_at", "failed_at"):
        place = root.optional(key)
        if place is not None:
            place.whole(1, state.rows)


def _fingerprints(node: Node) -> Fingerprints:
    try:
        content = base64.b64decode(node.text(), validate=True)
    except (binascii.Error, ValueError):
        content = b"?"
    if len(content) % 8:
        msg = "is not the base64 text of whole numbers of eight bytes"
        raise node.problem(msg)
    return np.frombuffer(content, "<u8").astype(np.uint64)
