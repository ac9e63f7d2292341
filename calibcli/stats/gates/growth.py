"""Batches and states of shards added up: no batch, and no row with an identity, is counted twice."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import DEFAULT_LEAST_ROWS, LEAST_CHANCE, LEAST_TWIN_ROWS, MOST_IDENTITIES, IdKind
from calibcli.options.numerals import plural
from calibcli.stats.gates.any_time import Epoch
from calibcli.stats.gates.cells import Sums, sums_of
from calibcli.stats.gates.state import Batch, Fingerprints, GateState, differences
from calibcli.stats.table import Floats, Integers, ScoreTable, Weighing
from calibcli.stats.table.grid import MOST_ROWS_IN_A_CELL, Table, grid_of
from calibcli.values import dataclass, replace


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows one by one, each with its identity; arrays of shape (n,)."""

    ids: Fingerprints
    score: Floats
    label: np.ndarray[tuple[int], np.dtype[np.bool_]]
    counts: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Incoming:
    """A batch that has been read.

    Args:
        key: Its name, or the digest of its rows.
        shown: The file it came from, for messages.
        rows: Its rows: a table, one by one where they have identities, or added up by segments.
        id_kinds: What the identities are written as.
        content: The digest of its scores and labels alone, where its rows have identities.
        chance: At most how probably other rows have the same scores and labels.
        file: The name of the file it came from, where it has one and nothing else names it.
        alone: Whether no other file came with it.
        ids_renamed: Whether they had other names in the first version of states.
    """

    key: str
    digest: str
    shown: str
    rows: Table | Rows | Sums
    id_kinds: frozenset[IdKind] = frozenset()
    content: str | None = None
    chance: float = 1.0
    file: str | None = None
    alone: bool = True
    ids_renamed: bool = False

    @property
    def called(self) -> str:
        """What a reader knows it by: the name given, else its file, else its digest."""
        return self.key if self.key != self.digest else self.file or self.key

    @property
    def total(self) -> int:
        """How many rows it has."""
        return int(self.rows.counts.sum()) if isinstance(self.rows, Rows) else self.rows.total_rows


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """What became of batches.

    Args:
        state: The state with the rows that it did not know.
        known_rows: Rows that it knew, in those batches or by their identities.
        notes: Sentences the reader should not miss.
        known_notes: What there is to say of each batch that it knew.
    """

    state: GateState
    known: tuple[str, ...] = ()
    known_rows: int = 0
    notes: tuple[str, ...] = ()
    known_notes: tuple[str, ...] = ()

    @property
    def every_note(self) -> tuple[str, ...]:
        """The notes, those on many known batches in one sentence."""
        if len(self.known) <= _FEW:
            return (*self.notes, *self.known_notes)
        first, *_, last = self.known
        known = f"{len(self.known):,} batches, {first!r} to {last!r}, were counted before"
        return (*self.notes, f"{known} and are not counted again")


# So many batches that were counted before are named one by one.
_FEW = 3


def grown(state: GateState, batches: tuple[Incoming, ...], *, least_rows: int = DEFAULT_LEAST_ROWS) -> Growth:
    """Count batches in order."""
    growth = Growth(state)
    for batch in batches:
        growth = _counted(growth, batch, least_rows=least_rows)
    state = growth.state
    if state.batches:
        # The sums of a merged state have not been looked at yet, and a look is never wrong.
        growth = replace(growth, state=state.latched(state.look(), least_rows=least_rows))
    return growth


def chance_of_twin(table: Table) -> float:
    """Return at most how probably as many other rows have the scores and labels of these.

    The larger of two chances. New rows may come from any population: none makes these more probable than the
    one where each score and label has the share that it has here. Or the scores stay as they are, as those of
    a panel, and calibrated labels agree: at a score s those of n rows do so with probability at most
    max(s, 1 - s), and at most 1 / sqrt(2 e n s (1 - s)).
    """
    total = table.total_rows
    if not total:
        return 1.0
    if isinstance(table, ScoreTable) and not table.weighted and total <= MOST_ROWS_IN_A_CELL:
        # Of cells, as a digest is, so that memory changes no digit; of more rows a cell may hold too many.
        table = grid_of(table)
    sizes, times = np.unique(
        np.concatenate((table.positive_rows, table.rows - table.positive_rows)), return_counts=True
    )
    log = math.lgamma(total + 1.0) - total * math.log(total)
    for size, number in zip(sizes.tolist(), times.tolist(), strict=True):
        if size:
            log += number * (size * math.log(size) - math.lgamma(size + 1.0))
    score = np.clip(table.score, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        normal = 1.0 / np.sqrt(2.0 * math.e * table.rows * score * (1.0 - score))
    of_labels = float(np.log(np.minimum(np.maximum(score, 1.0 - score), normal)).sum())
    return min(1.0, math.exp(max(log, of_labels)))


def _counted(growth: Growth, batch: Incoming, *, least_rows: int) -> Growth:
    state = growth.state
    total = batch.total
    twins = [one for one in state.batches if one.digest == batch.digest]
    twin = next((one for one in twins if _one_name(one, batch)), None)
    known = twin if twin is not None else state.knows(batch.key)
    if known is not None and (twin is not None or batch.key != batch.digest):
        if known.digest == batch.digest:
            if not state.terms.by_id:
                _refuse_unsure(known, batch)
            return replace(
                growth,
                known=(*growth.known, batch.called),
                known_rows=growth.known_rows + total,
                known_notes=(*growth.known_notes, _known_note(batch)),
            )
        _refuse_grown(state, batch)
        batch = replace(batch, key=_free_name(state, batch.key))
    notes = growth.notes
    if twins and not state.terms.by_id:
        _refuse_twin(twins[0], batch)
        if all(one.file is None for one in twins):
            # They were given names, and this batch none: a second run may have left the name out.
            _refuse_unsure(twins[0], batch)
        notes = (*notes, f"{_alike(batch, twins[0])}, as chance alone can have it: they count")
        if known is not None:
            batch = replace(batch, key=_free_name(state, batch.file or batch.key))
    mixed = kinds_mixed(state.id_kinds, batch.id_kinds, shown=batch.shown)
    if mixed is not None:
        notes = (*notes, mixed)
    state = replace(state, id_kinds=state.id_kinds | batch.id_kinds)
    sums, ids = _new_rows(state, batch)
    left_out = total - sums.total_rows
    if left_out:
        notes = (
            *notes,
            f"{batch.shown}: {left_out:,} of {total:,} rows were counted before, by their identity",
        )
    if sums.total_rows:
        alike = _same_rows_note(state, batch)
        notes = notes if alike is None else (*notes, alike)
        counted = Batch(
            batch.key, batch.digest, sums.total_rows, None, batch.content, batch.file, batch.chance
        )
        state = state.counted(sums, counted, ids=ids, least_rows=least_rows).bounded()
    return replace(growth, state=state, known_rows=growth.known_rows + left_out, notes=notes)


def _one_name(one: Batch, other: Incoming) -> bool:
    """Whether nothing that is known of their names tells a batch from another of equal rows."""
    unnamed = one.key == one.digest and other.key == other.digest
    return one.called == other.called or (unnamed and one.digest in (one.called, other.called))


def _free_name(state: GateState, name: str) -> str:
    """Return a name that no batch has yet."""
    taken = {one.key for one in state.batches}
    number = 2
    found = name
    while found in taken:
        found, number = f"{name}/{number}", number + 1
    return found


def kinds_mixed(before: frozenset[IdKind], new: frozenset[IdKind], *, shown: str) -> str | None:
    """Return what there is to say of ids that are numbers in one place and text in another, or None."""
    both = before | new
    if not {IdKind.NUMBERS, IdKind.TEXT} <= both:
        return None
    mine, other = ("numbers", "text") if IdKind.NUMBERS in new else ("text", "numbers")
    said = f"{shown}: its ids are {mine}, and {other} in what was counted before"
    if IdKind.RESPELLED in both:
        msg = f"{said}, and some of the text is numbers written otherwise than numbers are, as 7.0 or 007"
        raise InputProblem(
            msg, "a row could count twice: write all ids in one form, and begin a state with them"
        )
    return None if new <= before else f"{said}: the text '7' is the number 7"


def _new_rows(state: GateState, batch: Incoming) -> tuple[Sums, Fingerprints | None]:
    """Return what is not in the state yet, with its identities where rows have some."""
    rows, partition = batch.rows, state.terms.partition
    if isinstance(rows, Sums):
        return rows, None
    if not isinstance(rows, Rows):
        return sums_of(rows, partition), None
    order = np.argsort(rows.ids, kind="stable")
    ids = rows.ids[order]
    again = np.flatnonzero(ids[1:] == ids[:-1])
    if again.size:
        first = int(order[again + 1].min())
        some = f"{again.size:,} of {ids.size:,} rows"
        msg = f"{batch.shown}: {some} repeat the identity of an earlier one; the first is row {first + 1:,}"
        raise InputProblem(msg, "name a column with --id whose values are different in every row")
    place = np.minimum(np.searchsorted(state.ids, rows.ids), max(state.ids.size - 1, 0))
    new = state.ids[place] != rows.ids if state.ids.size else np.ones(ids.size, np.bool_)
    if state.ids.size + int(np.count_nonzero(new)) > MOST_IDENTITIES:
        msg = f"the state would hold more than {MOST_IDENTITIES:,} identities"
        raise UsageProblem(msg, "begin a state without --id: whole batches are known again by their digests")
    table = ScoreTable.from_rows(rows.score[new], rows.label[new], Weighing(counts=rows.counts[new]))
    return sums_of(table, partition), rows.ids[new]


def _refuse_grown(state: GateState, batch: Incoming) -> None:
    """Refuse a batch that has other rows than before, where no ids tell which of them are new."""
    if not state.terms.by_id:
        msg = f"{batch.shown}: batch {batch.key!r} was counted before, with other rows"
        late = "if its labels came in since, rows would count twice: begin a new state, with --id COL"
        raise InputProblem(msg, f"{late}; if all rows are new, give them a name of their own")


def _refuse_twin(twin: Batch, batch: Incoming) -> None:
    """Refuse scores and labels that were counted under another name, where chance hardly makes them."""
    if batch.chance < LEAST_CHANCE:
        raise InputProblem(
            _alike(batch, twin),
            "every row counts once; if these are other rows, begin a new state with --id COL",
        )


def _refuse_unsure(known: Batch, batch: Incoming) -> None:
    """Refuse a file that nothing tells from one that was counted, where other rows may well look the same."""
    if batch.key != batch.digest or not batch.alone or batch.chance < LEAST_CHANCE:
        return
    msg = f"{_alike(batch, known)}; new rows may have them too, by chance"
    raise InputProblem(msg, "name new rows with --batch; a second run adds nothing: its rows are counted")


def _same_rows_note(state: GateState, batch: Incoming) -> str | None:
    """Return what there is to say of scores and labels that were counted under other ids, or None."""
    twin = next((one for one in state.batches if one.content and one.content == batch.content), None)
    if twin is None:
        return None
    these = f"{_alike(batch, twin)} under other ids"
    if batch.chance < LEAST_CHANCE:
        raise InputProblem(
            these, "every row counts once; write ids as before; 7, 7.0 and 007 as text are three ids"
        )
    return f"{these}: they count; are ids written in one form?"


def _alike(batch: Incoming, twin: Batch) -> str:
    these = "this row has" if batch.total == 1 else f"these {batch.total:,} rows have"
    return f"{batch.shown}: {these} the scores and labels of {_named(twin)}"


def _named(batch: Batch) -> str:
    return "a batch without a name" if batch.called == batch.digest else f"batch {batch.called!r}"


def _known_note(batch: Incoming) -> str:
    named = batch.key != batch.digest
    what = f"batch {batch.key!r} was" if named else f"its {batch.total:,} scores and labels were"
    said = f"{batch.shown}: {what} counted before and {'is' if named else 'are'} not counted again"
    if isinstance(batch.rows, Rows):
        return said
    if batch.chance < LEAST_CHANCE:
        return f"{said}; rows with equal values are told apart by a state with --id"
    return f"{said}; if these are other rows, give --batch another name, or begin a state with --id"


def merged(states: Sequence[tuple[str, GateState]]) -> GateState:
    """Add up states of shards by name, at least one; the sum has no looks, its batches are in name order."""
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
    total = reduce(add, [state.sums for _, state in states])
    batches = sorted(
        (replace(batch, look=None) for _, state in states for batch in state.batches),
        key=lambda batch: batch.key,
    )
    epochs = (Epoch(1, total),) if batches else ()
    said = [*(note for _, state in states for note in state.notes), *filter(None, mixed)]
    said += [*_renamed(states), *_same_rows(states)]
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
        counted = plural(len(twice), "batch", "is")
        msg = f"{counted} in more than one state; the first is {twice[0]!r}, in {' and '.join(where)}"
        raise InputProblem(msg, "every row counts once; if these are different rows, name them with --batch")
    if not states[0][1].terms.by_id:
        _refuse_twins(states)
        return
    ids, counts = np.unique(np.concatenate([state.ids for _, state in states]), return_counts=True)
    again = ids[counts > 1]
    if again.size:
        where = [path for path, state in states if np.isin(again[0], state.ids)]
        counted = plural(again.size, "row", "is")
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


def _same_rows(states: Sequence[tuple[str, GateState]]) -> list[str]:
    """Return what there is to say of scores and labels that two states have under other ids."""
    seen: dict[str, tuple[str, str]] = {}
    found = []
    for path, state in states:
        for batch in state.batches:
            if batch.content in seen:
                key, where = seen[batch.content]
                these = f"batch {batch.key!r} in {path} has the scores and labels of batch {key!r} in {where}"
                found.append(f"{these} under other ids: are ids written in one form?")
        seen |= {one.content: (one.key, path) for one in state.batches if one.content}
    return found


def _refuse_twins(states: Sequence[tuple[str, GateState]]) -> None:
    """Refuse scores and labels of a batch of one state under another name in a second, unless by chance."""
    seen: dict[str, tuple[str, str]] = {}
    for path, state in states:
        # Older states did not keep the chance; many rows are refused there, as before.
        large = [
            one
            for one in state.batches
            if one.digest
            and (one.rows >= LEAST_TWIN_ROWS if one.chance is None else one.chance < LEAST_CHANCE)
        ]
        for batch in large:
            if batch.digest in seen:
                name, where = seen[batch.digest]
                some = f"the scores and labels of {name} in {where}, {batch.rows:,} rows"
                msg = f"{_named(batch)} in {path} has {some}"
                raise InputProblem(
                    msg, "every row counts once; if these are other rows, begin new states with --id COL"
                )
        seen |= {one.digest: (_named(one), path) for one in large}
