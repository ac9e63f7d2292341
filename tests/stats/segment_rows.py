"""Rows of segments for tests: entries of rows one by one."""

from dataclasses import replace

import numpy as np

from calibcli.stats.gates.cells import FrozenSegments, Partition, Sums, sums_of_leaves
from calibcli.stats.measures.segments import Entries, are_tested, segments_of
from calibcli.stats.recalibrators.segments import SegmentColumn
from calibcli.stats.table.sliced import RunningSlices


def entries_of(
    level: np.ndarray, score: np.ndarray, label: np.ndarray, sizes: tuple[int, ...] | None = None
) -> Entries:
    """Return an entry for each row."""
    ones = label.astype(np.int64)
    sizes = sizes or tuple(int(one.max()) + 1 for one in level)
    return Entries.of_parts(
        np.ravel_multi_index(tuple(level), sizes),
        sizes,
        score,
        rows=np.ones_like(ones),
        positive=ones,
        scores=(score * ones, score * (1 - ones)),
    )


def true_sigma(level: np.ndarray, score: np.ndarray, chance: np.ndarray, *, least: int) -> float:
    """Return the largest range in truth of the segments of two columns that are tested, in sigmas."""
    none = np.zeros(score.size)
    found = segments_of(entries_of(level, score, none), depth=2)
    ranges = [0.0]
    for key in found.level[are_tested(found, least_rows=least)]:
        inside = ((level == key[:, None]) | (key[:, None] < 0)).all(axis=0)
        own, place = np.unique(score[inside], return_inverse=True)
        path = np.cumsum(np.bincount(place, (chance - score)[inside], own.size))
        size = max(path.max(), 0.0) - min(path.min(), 0.0)
        ranges.append(size / np.sqrt((score * (1.0 - score))[inside].sum()))
    return float(max(ranges))


def added_up(level: np.ndarray, score: np.ndarray, label: np.ndarray, sizes: tuple[int, ...]) -> Entries:
    """Return an entry for all rows of a score in a combination of levels, as they are read."""
    key, place = np.unique(np.vstack((level, score)), axis=1, return_inverse=True)
    rows, ones = (np.bincount(place.reshape(-1), weights=one) for one in (np.ones(label.size), label))
    return Entries.of_parts(
        np.ravel_multi_index(tuple(key[:-1].astype(int)), sizes),
        sizes,
        key[-1],
        rows=rows.astype(int),
        positive=ones.astype(int),
        scores=(key[-1] * ones, key[-1] * (rows - ones)),
    )


def frozen_by(level: np.ndarray, sizes: tuple[int, ...], *, depth: int = 2, least: int = 30) -> Partition:
    """Return what a state that is begun with some rows counts by; levels are whole numbers from 0."""
    columns = tuple(
        SegmentColumn(
            name, "categories", tuple(map(float, range(size))), (), other=False, missing=False, rare=()
        )
        for name, size in zip("abc", sizes, strict=False)
    )
    requested = FrozenSegments(tuple("abc"[: len(sizes)]), depth, 1_000, least, columns=columns)
    shape = tuple(one.sizes[0] for one in columns)
    entries = entries_of(level, np.full(level.shape[1], 0.5), np.zeros(level.shape[1]), shape)
    found = segments_of(entries, depth=depth)
    large = (found.rows >= least) & ~found.same
    return Partition.of_segments(replace(requested, judged=tuple(map(tuple, found.level[large].tolist()))))


def counted(level: np.ndarray, score: np.ndarray, label: np.ndarray, partition: Partition) -> Sums:
    """Return rows as a state adds them up."""
    assert partition.segments is not None
    running = RunningSlices(None)
    running.become_grid()
    part = np.ravel_multi_index(tuple(level), partition.segments.sizes)
    running.add_numbered(score, label.astype(bool), part=part)
    return sums_of_leaves(running.cells(), partition)
