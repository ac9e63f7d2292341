"""
States of shards to the state of all their rows.

Sums add exactly, so the order of the shards does not change a byte. Verdicts do not add: each shard may be
wrong with probability delta, so that one of many is wrong far more often (a union bound over shards would
be needed), and the looks at shards were no looks at the rows together. So nothing a shard has concluded is
taken over. The merged sums are those of one sequence of rows, in whatever order, and are judged by the next
`verify --state` as one: its e-value counts at that look and all later ones. Which shards belong together
must be settled before their verdicts are seen.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibcli.errors import InputProblem, UsageProblem
from calibcli.gate_names import LEAST_TWIN_ROWS, MOST_IDENTITIES, IdKind
from calibcli.gates.agreement import differences
from calibcli.gates.alarm import Epoch
from calibcli.gates.growth import kinds_mixed
from calibcli.gates.state import GateState


def merged(states: Sequence[tuple[str, GateState]]) -> GateState:
    """
    Add up the states of shards.

    Args:
        states: Names and states, at least one, all different.

    Returns:
        A state without looks; batches in the order of their names.

    Raises:
        UsageProblem: If one was begun on other terms, or is an alarm, which watches one stream in its order.

        InputProblem: If a batch, its rows under another name, or an identity is in more than one.
    """
    name, first = states[0]
    named = next((state.terms for _, state in states if state.terms.label is not None), first.terms)
    for path, state in states:
        if state.terms.alarm:
            msg = f"{path} is an alarm, which watches one stream of batches in their order"
            raise UsageProblem(msg, "give each stream a state of its own, or all batches to one")
        found = differences(first.terms, state.terms) or differences(named, state.terms)
        if found:
            msg = f"{name} and {path} were begun on other terms: {'; '.join(found)}"
            raise UsageProblem(msg, "merge states of the same gate only")
    _refuse_twice(states)
    kinds: frozenset[IdKind] = frozenset()
    mixed = []
    for path, state in states:
        mixed.append(kinds_mixed(kinds, state.id_kinds, shown=path) if kinds else None)
        kinds |= state.id_kinds
    ids = np.sort(np.concatenate([state.ids for _, state in states]))
    if ids.size > MOST_IDENTITIES:
        msg = f"together the states hold {ids.size:,} identities, and at most {MOST_IDENTITIES:,} can be kept"
        raise UsageProblem(msg, "begin the states without --id: whole batches are known by their digests")
    total = first.sums
    for _, state in states[1:]:
        total = total + state.sums
    batches = sorted(
        (replace(batch, look=None) for _, state in states for batch in state.batches),
        key=lambda batch: batch.key,
    )
    epochs = (Epoch(1, total),) if batches else ()
    said = [*(note for _, state in states for note in state.notes), *filter(None, mixed)]
    said += [*_renamed(states), *_alike(states)]
    return GateState(
        named,
        epochs,
        tuple(batches),
        ids=ids,
        since=min(state.since for _, state in states),
        notes=tuple(dict.fromkeys(said)),
        id_kinds=kinds,
    )


def _refuse_twice(states: Sequence[tuple[str, GateState]]) -> None:
    """Refuse batches, and rows with an identity, that more than one state has counted."""
    times = Counter(batch.key for _, state in states for batch in state.batches)
    twice = sorted(key for key, count in times.items() if count > 1)
    if twice:
        where = [path for path, state in states if state.knows(twice[0]) is not None]
        counted = "1 batch is" if len(twice) == 1 else f"{len(twice):,} batches are"
        msg = f"{counted} in more than one state; the first is {twice[0]!r}, in {' and '.join(where)}"
        raise InputProblem(msg, "every row counts once; if these are different rows, name them with --batch")
    if not states[0][1].terms.identified:
        _refuse_twins(states)
        return
    ids, counts = np.unique(np.concatenate([state.ids for _, state in states]), return_counts=True)
    again = ids[counts > 1]
    if again.size:
        where = [path for path, state in states if np.isin(again[0], state.ids)]
        counted = "1 row is" if again.size == 1 else f"{again.size:,} rows are"
        msg = f"{counted} in more than one state by their identity; the first in {' and '.join(where)}"
        raise InputProblem(msg, "every row counts once: count the rows of one of them into the other")


def _renamed(states: Sequence[tuple[str, GateState]]) -> list[str]:
    """Return what there is to say of states of which some were begun when ids had other names."""
    began = {state.since: path for path, state in reversed(states) if state.ids.size}
    later = frozenset().union(*(state.id_kinds for _, state in states if state.since > 1))
    if set(began) != {1, 2} or later == {IdKind.TEXT}:
        return []
    which = "that named ids otherwise that are floats, decimals, times or durations"
    return [f"{began[1]} was begun by a calibcli {which}: rows with such ids in {began[2]} too count twice"]


def _alike(states: Sequence[tuple[str, GateState]]) -> list[str]:
    """Return what there is to say of scores and labels that two states have under other ids."""
    seen: dict[str, tuple[str, str]] = {}
    found = []
    for path, state in states:
        for batch in state.batches:
            if batch.content in seen:
                key, where = seen[batch.content]
                these = f"batch {batch.key!r} in {path} has the scores and labels of batch {key!r} in {where}"
                found.append(f"{these} under other ids: are ids written alike?")
        seen |= {one.content: (one.key, path) for one in state.batches if one.content}
    return found


def _refuse_twins(states: Sequence[tuple[str, GateState]]) -> None:
    """Refuse the very rows of a batch of one state under another name in a second."""
    seen: dict[str, tuple[str, str]] = {}
    for path, state in states:
        large = [one for one in state.batches if one.digest and one.rows >= LEAST_TWIN_ROWS]
        for batch in large:
            if batch.digest in seen:
                key, where = seen[batch.digest]
                some = f"the very {batch.rows:,} rows of batch {key!r} in {where}"
                msg = f"batch {batch.key!r} in {path} has {some}"
                raise InputProblem(
                    msg, "every row counts once; if these are other rows, begin new states with --id COL"
                )
        seen |= {one.digest: (one.key, path) for one in large}
