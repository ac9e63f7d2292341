"""The state of a gate as a JSON object: `calibcli.gate/2`."""

import base64
import binascii
import math
from dataclasses import replace

import numpy as np

from calibcli.bounds.betting import Stakes
from calibcli.codec import Node, ascending, same_length, version_of
from calibcli.gate_names import IdKind
from calibcli.gates.alarm import MOST_EPOCHS, Epoch
from calibcli.gates.cells import Partition, Sums, plausible_distance
from calibcli.gates.plausible import check_looks
from calibcli.gates.seen_classes import SeenClasses, class_keys, class_values
from calibcli.gates.state import Batch, Fingerprints, GateState, Look, Terms
from calibcli.names import MeasureName, Scale
from calibcli.reports.plain import number

SCHEMA = "calibcli.gate/2"
# Ten million fingerprints are 107 MB of text; a state without them is far below a MiB.
MOST_BYTES = 192 * 1024 * 1024
_MOST_CELLS = 1_000_000
_KEYS = (
    "schema", "rule", "confidence", "alarm", "artifact", "input", "partition", "stakes", "epochs",
    "batches", "passed_at", "failed_at", "ids",
)  # fmt: skip
_ORIGIN = "a gate's state is what `calibcli verify --state` writes"
_LATER = ("passed_on", "failed_on", "since", "notes")
# States of before drew the signs of a FAIL bin by bin alone, and say nothing of them.
_TOGETHER = "together"
_COLUMNS = ("rows", "positive", "below_positive", "below_negative")


def to_dict(state: GateState) -> dict[str, object]:
    """Return plain values for JSON: the same state gives the same text, and no timestamps."""
    terms = state.terms
    partition = terms.partition
    return {
        "schema": SCHEMA,
        "rule": {"measure": terms.measure.value, "limit": terms.limit},
        "confidence": terms.confidence,
        "alarm": terms.alarm,
        "artifact": terms.artifact,
        "input": {
            "score": terms.score,
            "scale": terms.scale.value,
            "positive": terms.positive,
            "label": terms.label,
            "weight": terms.weight,
            **class_values(terms.classes),
        },
        "partition": {
            "outputs": list(partition.outputs) or None,
            "bins": partition.bins,
            "per_bin": partition.per_bin,
        },
        "stakes": _stakes_to_dict(terms.stakes),
        "epochs": [{"first": epoch.first, **_sums_to_dict(epoch.sums)} for epoch in state.epochs],
        "batches": [_batch_to_dict(batch) for batch in state.batches],
        "passed_at": state.passed_at,
        "failed_at": state.failed_at,
        "passed_on": None if state.passed_on is None else _sums_to_dict(state.passed_on),
        "failed_on": None if state.failed_on is None else _sums_to_dict(state.failed_on),
        "since": state.since,
        "ids": _text_of(state.ids) if terms.identified else None,
        "notes": list(state.notes),
        **({"id_kinds": sorted(kind.value for kind in state.id_kinds)} if state.id_kinds else {}),
    }


def from_dict(root: Node) -> GateState:
    """
    Restore what `to_dict` returned.

    Raises:
        DocumentProblem: If no gate can have written this, with the place.
    """
    version = version_of(root, SCHEMA, what="the state of a gate", hint=_ORIGIN)
    kinds = root.members().get("id_kinds") if version > 1 and root.optional("ids") is not None else None
    root.only(*_KEYS, *(() if version == 1 else _LATER), *(() if kinds is None else ("id_kinds",)))
    since = 1 if version == 1 else root.child("since").whole(1, 2)
    terms = _terms(root, version=version)
    later = _later_of_looks(version, since)
    batches = _batches(root.child("batches"), alarm=terms.alarm, later=later, identified=terms.identified)
    epochs = _epochs(root.child("epochs"), terms, batches)
    total = sum(batch.rows for batch in batches)
    ids = np.zeros(0, np.uint64)
    if kinds is not None and not terms.identified:
        msg = "is there, and no identities are"
        raise kinds.problem(msg)
    if terms.identified:
        ids = _fingerprints(root.child("ids"), most=total)
    else:
        root.child("ids").expect(None)
    passed, failed = root.optional("passed_at"), root.optional("failed_at")
    if terms.alarm:
        root.child("passed_at").expect(None)
    state = GateState(
        terms,
        epochs,
        batches,
        None if passed is None else passed.whole(1, total),
        None if failed is None else failed.whole(1, total),
        ids=ids,
        since=since,
        id_kinds=frozenset() if kinds is None else frozenset(kind.choice(IdKind) for kind in kinds.items()),
    )
    if version > 1:
        state = replace(
            state,
            passed_on=_shown_on(root.optional("passed_on"), terms),
            failed_on=_shown_on(root.optional("failed_on"), terms),
            notes=root.child("notes").texts(),
        )
        if since > 1 and batches and terms.label is None:
            root.child("input").child("label").text()
        if since == 1 and not state.notes:
            msg = "is 1, and no note says so"
            raise root.child("since").problem(msg)
    check_looks(root, state)
    return state


def _shown_on(node: Node | None, terms: Terms) -> Sums | None:
    """Return the rows that a verdict was shown on; an alarm keeps none."""
    if node is None:
        return None
    if terms.alarm:
        node.expect(None)
    node.only("cells", *_COLUMNS)
    return _sums(node, terms.partition)


def _terms(root: Node, *, version: int) -> Terms:
    rule, columns = root.child("rule"), root.child("input")
    rule.only("measure", "limit")
    later = () if version == 1 else ("label", "weight")
    columns.only("score", "scale", "positive", *later, *class_keys(columns))
    label, weight = (columns.optional(name) for name in later) if later else (None, None)
    measure, limit = rule.child("measure"), rule.optional("limit")
    if measure.choice(MeasureName) not in (MeasureName.ECE, MeasureName.DCE):
        msg = f"is {measure.value!r}, should be ece or dce"
        raise measure.problem(msg)
    alarm = root.child("alarm").truth()
    if limit is None and not alarm:
        rule.child("limit").number()
    artifact, positive, ids = root.optional("artifact"), columns.optional("positive"), root.optional("ids")
    return Terms(
        measure=measure.choice(MeasureName),
        limit=None if limit is None else limit.number(0.0, 1.0),
        confidence=root.child("confidence").number(0.5, 0.999999),
        partition=_partition(root.child("partition")),
        stakes=_stakes(root.child("stakes")),
        alarm=alarm,
        artifact=None if artifact is None else artifact.text(),
        score=columns.child("score").text(),
        label=None if label is None else label.text(),
        weight=None if weight is None else weight.text(),
        scale=columns.child("scale").choice(Scale),
        positive=None if positive is None else positive.text(),
        identified=ids is not None,
        classes=SeenClasses.of_input(columns),
    )


def _partition(node: Node) -> Partition:
    node.only("outputs", "bins", "per_bin")
    outputs = node.optional("outputs")
    if outputs is None:
        bins, cells = node.child("bins").whole(1, _MOST_CELLS), node.child("per_bin").whole(1, _MOST_CELLS)
        if bins * cells > _MOST_CELLS:
            msg = f"has {bins * cells:,} cells, should have at most {_MOST_CELLS:,}"
            raise node.problem(msg)
        return Partition(bins=bins, per_bin=cells)
    node.child("bins").expect(0)
    node.child("per_bin").expect(1)
    values = outputs.numbers(0.0, 1.0)
    ascending(outputs.items())
    if not values:
        msg = "is empty"
        raise outputs.problem(msg)
    return Partition(tuple(values))


def _stakes_to_dict(stakes: Stakes) -> dict[str, object]:
    held: dict[str, object] = {"sizes": list(stakes.sizes), "shares": list(stakes.shares)}
    return held if stakes.alone else held | {"signs": _TOGETHER}


def _stakes(node: Node) -> Stakes:
    alone = "signs" not in node.members()
    node.only("sizes", "shares", *(() if alone else ("signs",)))
    if not alone:
        node.child("signs").expect(_TOGETHER)
    sizes, shares = (tuple(node.child(key).numbers(0.0, 1.0)) for key in ("sizes", "shares"))
    same_length(node.child("shares"), len(sizes), reason="one for each size")
    if not sizes or max(sizes) > 0.6 or min(*sizes, *shares) <= 0.0:
        msg = "has bets outside (0, 0.6], or without a share"
        raise node.problem(msg)
    if not math.isclose(sum(shares), 1.0, rel_tol=1e-9):
        msg = f"has shares that add up to {sum(shares)!r}, should be 1"
        raise node.child("shares").problem(msg)
    return Stakes(sizes, shares, alone=alone)


def _sums_to_dict(sums: Sums) -> dict[str, object]:
    """Return the cells that hold rows, in columns."""
    some = [place for place, rows in enumerate(sums.rows) if rows]
    columns = {
        name: [column[place] for place in some] for name, column in zip(_COLUMNS, sums.columns, strict=True)
    }
    return {"cells": some, **columns}


def _epochs(node: Node, terms: Terms, batches: tuple[Batch, ...]) -> tuple[Epoch, ...]:
    items, count = node.items(), len(batches)
    most = MOST_EPOCHS if terms.alarm else 1
    if len(items) > most or (count and not items):
        msg = f"has {len(items)} elements, should have from 1 to {most}"
        raise node.problem(msg)
    firsts = [item.child("first") for item in items]
    for first in firsts:
        first.whole(1, count)
    ascending(firsts)
    if not firsts:
        return ()
    firsts[0].expect(1)
    found = []
    ends = [*(first.whole(1, count) - 1 for first in firsts[1:]), count]
    for item, first, end in zip(items, firsts, ends, strict=True):
        item.only("first", "cells", *_COLUMNS)
        epoch = Epoch(first.whole(1), _sums(item, terms.partition))
        rows = sum(batch.rows for batch in batches[epoch.first - 1 : end])
        if epoch.sums.total_rows != rows:
            msg = f"does not hold the {rows:,} rows that the batches have"
            raise (node if len(items) == 1 else item).problem(msg)
        found.append(epoch)
    return tuple(found)


def _sums(node: Node, partition: Partition) -> Sums:
    cells = node.child("cells")
    places = cells.wholes()
    ascending(cells.items())
    if places and places[-1] >= partition.size:
        msg = f"is {places[-1]}, should be below {partition.size}"
        raise cells.items()[-1].problem(msg)
    columns = []
    for name in _COLUMNS:
        same_length(node.child(name), len(places), reason="one for each cell")
        column = [0] * partition.size
        for place, item in zip(places, node.child(name).items(), strict=True):
            column[place] = item.whole(-(2**53) if name.startswith("below") else 0, 2**127)
        columns.append(tuple(column))
    sums = Sums(*columns)
    _check_sums(node, sums, partition)
    return sums


def _check_sums(node: Node, sums: Sums, partition: Partition) -> None:
    """Refuse more positive rows than rows, and distances that no score in the cell has."""
    for rows, ones, *below in zip(*sums.columns, strict=True):
        if ones > rows:
            msg = f"has {ones:,} of {rows:,} rows in one place"
            raise node.child("positive").problem(msg)
        for name, found, count in zip(_COLUMNS[2:], below, (ones, rows - ones), strict=True):
            if not plausible_distance(found, count, width=partition.width):
                msg = f"has {found:,} for {count:,} rows of one place, which no scores there give"
                raise node.child(name).problem(msg)


def _batch_to_dict(batch: Batch) -> dict[str, object]:
    look = batch.look
    return {
        "key": batch.key,
        "digest": batch.digest,
        "rows": batch.rows,
        **({} if batch.content is None else {"content": batch.content}),
        "look": None
        if look is None
        else {
            "rows": look.rows,
            "value": look.value,
            "log_pass": number(look.log_pass),
            "log_fail": number(look.log_fail),
            **({} if look.lower is None else {"lower": look.lower, "upper": look.upper}),
            **({} if look.least is None else {"positive": look.positive, "least": look.least}),
        },
    }


def _later_of_looks(version: int, since: int) -> bool | None:
    """Whether looks say how many rows had label 1 and how few concluded nothing; None where some may not."""
    return None if version > 1 and since == 1 else version > 1


def _batches(node: Node, *, alarm: bool, later: bool | None, identified: bool) -> tuple[Batch, ...]:
    batches = tuple(_batch(item, alarm=alarm, later=later, identified=identified) for item in node.items())
    seen: set[str] = set()
    for batch, item in zip(batches, node.items(), strict=True):
        if batch.key in seen:
            msg = f"is {batch.key!r}, which an earlier batch is called"
            raise item.child("key").problem(msg)
        seen.add(batch.key)
    return batches


def _batch(node: Node, *, alarm: bool, later: bool | None, identified: bool) -> Batch:
    content = node.members().get("content") if identified else None
    node.only("key", "digest", "rows", "look", *(() if content is None else ("content",)))
    look = node.optional("look")
    found = None
    if look is not None:
        bounds: tuple[float, ...] = ()
        if not alarm and "lower" in look.members():
            lower = look.child("lower").number(0.0, 1.0)
            bounds = (lower, look.child("upper").number(lower, 1.0))
        says = "least" in look.members() if later is None else later
        more = ("positive", "least") if says else ()
        look.only("rows", "value", "log_pass", "log_fail", *(("lower", "upper") if bounds else ()), *more)
        if alarm:
            look.child("log_pass").expect(None)
        found = Look(
            look.child("rows").whole(1),
            look.child("value").number(0.0, 1.0),
            None if alarm else look.child("log_pass").number(),
            look.child("log_fail").number_or_infinity(),
            *(bounds or (None, None)),
            *(look.child(name).whole() for name in more),
        )
    key, digest, rows = node.child("key").text(), node.child("digest").text(), node.child("rows").whole(1)
    return Batch(key, digest, rows, found, None if content is None else content.text())


def _text_of(ids: Fingerprints) -> str:
    return base64.b64encode(ids.astype("<u8").tobytes()).decode("ascii")


def _fingerprints(node: Node, *, most: int) -> Fingerprints:
    """Return fingerprints, ascending; rows of weight above 1 have one each, so there are at most `most`."""
    try:
        content = base64.b64decode(node.text(), validate=True)
    except (binascii.Error, ValueError):
        content = b"?"
    if len(content) % 8:
        msg = "is not the base64 text of whole numbers of eight bytes"
        raise node.problem(msg)
    ids = np.frombuffer(content, "<u8").astype(np.uint64)
    if ids.size > most or np.any(ids[1:] <= ids[:-1]):
        msg = f"has {ids.size:,} fingerprints of {most:,} rows, or they do not ascend"
        raise node.problem(msg)
    return ids
