"""Counting scores of which there are few: each finds its counter by a hash, and nothing is sorted."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from calibcli.table.score_table import Floats, ScoreTable, merge_all, run_starts

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

Labels = npt.NDArray[np.bool_]


def table_of_repeated(scores: Sequence[Floats], labels: Sequence[Labels]) -> ScoreTable | None:
    """
    Return the exact table of rows whose scores mostly repeat; None where a sample says that they do not.

    Args:
        scores: Batches of scores in [0, 1].

        labels: For each batch True for label 1.
    """
    if not _repeat(scores):
        return None
    owner = np.full(_SLOTS, np.nan)
    counts = np.zeros(2 * _SLOTS, np.int64)
    rest: list[tuple[Floats, Labels]] = []
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
    return merge_all(
        [found, ScoreTable.from_rows(*(np.concatenate(column) for column in zip(*rest, strict=True)))]
    )


def _repeat(scores: Sequence[Floats]) -> bool:
    """Whether scores repeat, by evenly spaced ones of all batches."""
    rows = sum(batch.size for batch in scores)
    if rows < _LEAST_ROWS:
        return False
    some = np.sort(np.concatenate([batch[:: max(1, rows // _LOOKED_AT)] for batch in scores]))
    return run_starts(some).size <= _DIFFERENT * some.size


def _slots(score: Floats, owner: Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
    """
    Return the slot of each score, and the positions of scores whose slot belongs to another.

    Args:
        score: Shape (n,).

        owner: The score that each slot belongs to, NaN for none; slots without an owner are given away.
    """
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
