"""Tables of several classes: exact while they fit, whatever the cut, and in little memory."""

import copy
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table import classes as class_tables
from calibcli.stats.table.classes import RunningClasses

NAMES = ("ant", "bee", "cat")


@given(st.data())
def test_tables_are_those_of_the_columns(data: Any) -> None:
    """In any cut into parts and batches, sorted early or late; grids exactly if there are too many scores."""
    count = data.draw(st.integers(0, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    probability = np.round(rng.dirichlet([0.5, 0.5, 0.5], count), data.draw(st.sampled_from([1, 12])))
    label = rng.integers(0, 3, count)
    counts = rng.integers(0, 3, count) if data.draw(st.booleans()) else None
    limit = data.draw(st.sampled_from([None, 3, 12, 1000]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_tables, "_WAITING", data.draw(st.sampled_from([0, 20, 1 << 20])))
        patch.setattr(class_tables, "_MOST_WAITING", 1 << 20)
        patch.setattr(class_tables, "_MARKS", data.draw(st.sampled_from([1, 1 << 22])))
        whole, part = RunningClasses(NAMES, limit), RunningClasses(NAMES, limit)
        for some in np.array_split(np.arange(count), data.draw(st.integers(1, 5))):
            part.add_rows(probability[some], label[some], Weighing(counts).of(some))
            if data.draw(st.booleans()):
                whole.add(copy.copy(part) if data.draw(st.booleans()) else part)
                part = RunningClasses(NAMES, limit)
        whole.add(part)
        found = whole.tables()
    expected = {
        name: ScoreTable.from_rows(probability[:, place], label == place, Weighing(counts=counts))
        for place, name in enumerate(NAMES)
    }
    expected = {name: table for name, table in expected.items() if table.distinct}
    free = min(5_040, 3 * (limit or 0) // 10)
    beyond = sum(max(0, table.distinct - free) for table in expected.values())
    assert list(found) == list(expected)
    if limit is None or free + beyond <= 3 * limit:
        assert found == expected
        return
    assert {table.kind for table in found.values()} == {"grid"}
    once = RunningClasses(NAMES, limit)
    once.add_rows(probability, label, Weighing(counts))
    assert found == once.tables()
    for name, table in expected.items():
        assert found[name].total_rows == table.total_rows
        assert found[name].total_positive_rows == table.total_positive_rows


@pytest.mark.parametrize("bits", [4, 10, 14])
def test_marks_are_of_no_more_scores_than_there_are(bits: int) -> None:
    """Of each class by itself; with many marks hardly fewer, and -0.0 is 0.0."""
    rng = np.random.default_rng(0)
    blocks = [np.round(rng.random((100, 3)), (1, 2, 9)[place]) * [1.0, 1.0, -0.0] for place in range(3)]
    found = class_tables._distinct_at_least([block[:, 1:] for block in blocks], bits=bits)
    there = [np.unique(column + 0.0).size for column in np.concatenate(blocks)[:, 1:].T]
    assert all(0.9 * min(one, 1 << bits) <= some <= one for one, some in zip(there, found, strict=True))
    assert found[1] == 1


def test_weights_have_the_limit_of_one_score() -> None:
    """Rows with importance weights take more memory, and are refused past it as ever."""
    rng = np.random.default_rng(0)
    probability, label = rng.dirichlet([1.0, 1.0, 1.0], 50), rng.integers(0, 3, 50)
    whole = RunningClasses(NAMES, 150)
    whole.add_rows(probability, label, Weighing(weight=rng.random(50)))
    assert all(table.weighted for table in whole.tables().values())


@pytest.mark.untraced
def test_exact_tables_take_what_they_are_granted_at_most() -> None:
    """At the limit all that is allocated stays below 268 bytes for each score that one table might have."""
    limit, classes = 100_000, 100
    rng = np.random.default_rng(0)
    label = rng.integers(0, classes, 3 * limit // classes)
    probability = rng.random((label.size, classes))
    names = tuple(str(place) for place in range(classes))
    tracemalloc.start()
    whole = RunningClasses(names, limit)
    for some in np.array_split(np.arange(label.size), 4):
        part = RunningClasses(names, limit)
        part.add_rows(probability[some], label[some])
        whole.add(part)
    tables = whole.tables()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {table.kind for table in tables.values()} == {"exact"}
    assert sum(table.distinct for table in tables.values()) == 3 * limit
    assert peak < 268 * limit / 2
