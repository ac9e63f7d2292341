"""A table under construction: exact while its distinct scores fit the limit, a grid from there on."""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem
from calibcli.names import EXACT_LIMIT
from calibcli.stats.numerics import Booleans, Floats, Indices, Integers
from calibcli.stats.table import ONCE, ScoreTable, Weighing, merge_all, run_starts
from calibcli.stats.table.grid import GridAccumulator, Table

Part = TypeVar("Part")


class Parts(Generic[Part]):
    """Parts of one whole. Those after the first are merged into it once they are larger than it is.

    Args:
        merge: Makes one part of several, in their order.
        least: Parts after the first are left until they are larger than this.
        limit: A size that somebody looks out for: a whole that is larger is noticed at most `least` too late
            for the first time.
    """

    def __init__(
        self,
        merge: Callable[[Sequence[Part]], Part],
        size: Callable[[Part], int],
        *,
        least: int,
        limit: int | None = None,
    ) -> None:
        self._merge = merge
        self._size = size
        self._least = least
        self._limit = limit
        self._parts: list[Part] = []
        self._first = self._further = 0
        self._merged_size = 0
        self._is_merged = False

    def __bool__(self) -> bool:
        return bool(self._parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts)

    @property
    def merged_size(self) -> int:
        """How large the parts are that have been merged; 0 before."""
        return self._merged_size

    def add(self, part: Part) -> None:
        size = self._size(part)
        if self._parts:
            self._further += size
        else:
            self._first = size
        self._parts.append(part)
        self._is_merged = False
        room = self._first
        if self._limit is not None and self._first <= self._limit:
            room = min(room, self._limit - self._first)
        if self._further > max(self._least, room):
            self.merged()

    def merged(self) -> Part | None:
        """Return the whole; None where there is none."""
        if not self._parts:
            return None
        if not self._is_merged:
            self._parts = [self._merge(self._parts)]
            self._first = self._merged_size = self._size(self._parts[0])
            self._further = 0
            self._is_merged = True
        return self._parts[0]

    def taken(self) -> list[Part]:
        """Return every part, and keep none."""
        parts, self._parts = self._parts, []
        self._first = self._further = self._merged_size = 0
        return parts


_BITS = 16

_SLOTS = 1 << _BITS

# The golden ratio's bits, so that neighbouring scores spread.
SPREAD = np.uint64(0x9E3779B97F4A7C15)

_LEAST_ROWS = 1 << 15

_LOOKED_AT = 1 << 15

# Share of a sample that may differ for scores to repeat.
_DIFFERENT = 0.5

# Rows worked on at once: they and the owners of the slots fit the processor's cache.
_CHUNK = 1 << 14


def table_of_repeated(scores: Sequence[Floats], labels: Sequence[Booleans]) -> ScoreTable | None:
    """Return the exact table of rows whose scores mostly repeat, as a sample tells; else None."""
    if not _repeat(scores):
        return None
    owner = np.full(_SLOTS, np.nan)
    counts = np.zeros(2 * _SLOTS, np.int64)
    rest: list[tuple[Floats, Booleans]] = []
    for score, label in zip(scores, labels, strict=True):
        slots, strange = _slots(score, owner)
        place = 2 * slots + label
        if strange.size:
            rest.append((score[strange], label[strange]))
            place = np.delete(place, strange)
        counts += np.bincount(place, minlength=counts.size)
    held = np.flatnonzero(counts[::2] + counts[1::2])
    held = held[np.argsort(owner[held])]
    ones = counts[1::2][held]
    found = ScoreTable(owner[held], counts[::2][held] + ones, ones)
    if not rest:
        return found
    scores, labels = zip(*rest, strict=True)
    return merge_all([found, ScoreTable.from_rows(np.concatenate(scores), np.concatenate(labels))])


def _repeat(scores: Sequence[Floats]) -> bool:
    """Whether scores repeat, by evenly spaced ones of all batches."""
    rows = sum(batch.size for batch in scores)
    if rows < _LEAST_ROWS:
        return False
    some = np.sort(np.concatenate([batch[:: max(1, rows // _LOOKED_AT)] for batch in scores]))
    return run_starts(some).size <= _DIFFERENT * some.size


def _slots(score: Floats, owner: Floats) -> tuple[Integers, Indices]:
    """Return the slot of each score, and the positions of scores whose slot belongs to another."""
    slots = np.empty(score.size, np.int64)
    strange = []
    for start in range(0, score.size, _CHUNK):
        # Adding 0 takes the sign off -0.0.
        near = score[start : start + _CHUNK] + 0.0
        spread = near.view(np.uint64) * SPREAD
        spread >>= np.uint64(64 - _BITS)
        slot = spread.view(np.int64)
        slots[start : start + _CHUNK] = slot
        other = np.flatnonzero(owner[slot] != near)
        if other.size:
            free = other[np.isnan(owner[slot[other]])]
            owner[slot[free]] = near[free]
            strange.append(other[owner[slot[other]] != near[other]] + start)
    return slots, np.concatenate([np.zeros(0, np.intp), *strange])


_BUFFER_ROWS = 5 << 18

_CHUNK_ROWS = 1 << 16

# Marks that scores are hashed to: enough that those of a full buffer mostly find their own.
_MARKS_BITS = 22

# What a part of the rows adds up to: a grid under construction is cheaper to add than a finished one.
Partial = Table | GridAccumulator


class RunningTable:
    """Add rows and tables, in fragment order, and take the table at the end.

    The outcome depends on the rows alone: a table is a grid exactly if the number of distinct scores
    of all rows passes the limit, and rounding to cells commutes with adding.
    """

    def __init__(self, limit: int | None = EXACT_LIMIT) -> None:
        self._limit = limit
        self._score: list[Floats] = []
        self._label: list[Booleans] = []
        self._waiting = 0
        self._parts = Parts(merge_all, attrgetter("distinct"), least=_BUFFER_ROWS // 4, limit=limit)
        self._grid: GridAccumulator | None = None

    @property
    def is_grid(self) -> bool:
        """Whether the limit has been passed."""
        return self._grid is not None

    def add_rows(self, score: Floats, label: Booleans, weighing: Weighing = ONCE) -> None:
        """Add rows as `ScoreTable.from_rows` takes them."""
        if not weighing.is_once:
            self.add(ScoreTable.from_rows(score, label, weighing))
            return
        if self._grid is not None:
            self._grid.add_rows(score, label)
            return
        self._score.append(score)
        self._label.append(label)
        self._waiting += score.size
        if self._waiting >= _BUFFER_ROWS:
            self._count_waiting()

    def add(self, table: Partial) -> None:
        """Add the rows of another table; a grid under construction is taken over and goes on growing here."""
        if isinstance(table, GridAccumulator) and self._grid is None and not (self._parts or self._waiting):
            self._grid = table
        elif self._grid is not None:
            self._grid.add(table)
        elif isinstance(table, ScoreTable):
            self._parts.add(table)
            self._look_at_the_limit()
        else:
            self.become_grid()
            self.add(table)

    def become_grid(self) -> None:
        """Go over to the grid now, because another part of the same rows has passed the limit."""
        if self._grid is None:
            self._grid = GridAccumulator()
            for part in self._parts.taken():
                self._grid.add(part)
        self._count_waiting()

    def partial(self) -> Partial:
        """Return everything added so far, to be added to another; nothing may be added to this one after."""
        self._count_waiting()
        whole = self._parts.merged()
        self._look_at_the_limit()
        if self._grid is not None:
            return self._grid
        return ScoreTable.empty() if whole is None else whole

    def table(self) -> Table:
        whole = self.partial()
        return whole.table() if isinstance(whole, GridAccumulator) else whole

    def _count_waiting(self) -> None:
        if not self._waiting:
            return
        scores, labels, waiting = self._score, self._label, self._waiting
        self._score, self._label, self._waiting = [], [], 0
        few = table_of_repeated(scores, labels) if self._grid is None else None
        if few is not None:
            self.add(few)
            return
        limit = self._limit
        if self._grid is None and limit is not None and waiting > limit < distinct_at_least(scores):
            self.become_grid()
        if self._grid is not None:
            for score, label in zip(scores, labels, strict=True):
                self._grid.add_rows(score, label)
        else:
            self.add(ScoreTable.from_rows(np.concatenate(scores), np.concatenate(labels)))

    def _look_at_the_limit(self) -> None:
        if self._limit is None or self._parts.merged_size <= self._limit:
            return
        if any(part.weighted for part in self._parts):
            msg = (
                f"importance weights need the exact table, and there are over {self._limit:,} distinct scores"
            )
            raise InputProblem(msg, "pass --exact to allow the memory it takes")
        self.become_grid()


def distinct_at_least(scores: Sequence[Floats]) -> int:
    """Return a number of distinct scores that there certainly are, without sorting them."""
    marks = np.zeros(1 << _MARKS_BITS, np.bool_)
    for batch in scores:
        for start in range(0, batch.size, _CHUNK_ROWS):
            marks[spread_of(batch[start : start + _CHUNK_ROWS], _MARKS_BITS)] = True
    return int(np.count_nonzero(marks))


def spread_of(score: Floats, bits: int) -> npt.NDArray[np.uint64]:
    """Return a number of so many bits for each score: of equal ones the same, of others mostly another."""
    # Adding 0 takes the sign off -0.0.
    spread = (score + 0.0).view(np.uint64)
    spread *= SPREAD
    spread >>= np.uint64(64 - bits)
    return spread
