"""Rows of segments for tests: entries of rows one by one."""

import numpy as np

from calibcli.stats.measures.segments import Entries


def entries_of(
    level: np.ndarray, score: np.ndarray, label: np.ndarray, sizes: tuple[int, ...] | None = None
) -> Entries:
    """Return an entry for each row."""
    ones = label.astype(np.int64)
    return Entries.of_table(
        level,
        sizes or tuple(int(one.max()) + 1 for one in level),
        score,
        rows=np.ones_like(ones),
        positive=ones,
        scores=(score * ones, score * (1 - ones)),
    )
