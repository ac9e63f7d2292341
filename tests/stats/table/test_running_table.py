"""A table under construction does not depend on how its rows arrive."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.errors import InputProblem
from calibcli.names import EXACT_LIMIT
from calibcli.stats.table import ScoreTable, Weighing, running
from calibcli.stats.table.grid import grid_of
from calibcli.stats.table.running import RunningTable


def rows(seed: int, count: int, decimals: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Scores with ties, and labels."""
    rng = np.random.default_rng(seed)
    return rng.random(count).round(decimals), rng.random(count) < 0.5


@given(
    seed=st.integers(0, 99),
    count=st.integers(0, 300),
    cuts=st.lists(st.integers(0, 300), max_size=5),
    as_tables=st.lists(st.booleans(), min_size=6, max_size=6),
    buffer=st.sampled_from([1, 7, 100]),
)
def test_any_split_gives_the_same_exact_table(
    seed: int, count: int, cuts: list[int], as_tables: list[bool], buffer: int
) -> None:
    """Rows or tables, in any fragments, whatever the buffer holds: the table of the rows."""
    score, label = rows(seed, count)
    table = RunningTable()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_BUFFER_ROWS", buffer)
        for as_table, (a, b) in zip(as_tables, pairwise([0, *sorted(cuts), count]), strict=False):
            if as_table:
                table.add(ScoreTable.from_rows(score[a:b], label[a:b]))
            else:
                table.add_rows(score[a:b], label[a:b])
        assert table.table() == ScoreTable.from_rows(score, label)
    assert not table.is_grid


@settings(max_examples=12)
@given(
    seed=st.integers(0, 99),
    count=st.integers(1, 300),
    cuts=st.lists(st.integers(0, 300), max_size=4),
    as_tables=st.lists(st.sampled_from(["rows", "exact", "grid"]), min_size=5, max_size=5),
    limit=st.integers(1, 80),
)
def test_grid_or_exact_depends_on_the_rows_alone(
    seed: int, count: int, cuts: list[int], as_tables: list[str], limit: int
) -> None:
    """A table is a grid exactly if the distinct scores of all rows pass the limit (or a part was one)."""
    score, label = rows(seed, count)
    whole = ScoreTable.from_rows(score, label)
    table = RunningTable(limit)
    some_grid = False
    for kind, (a, b) in zip(as_tables, pairwise([0, *sorted(cuts), count]), strict=False):
        part = ScoreTable.from_rows(score[a:b], label[a:b])
        if kind == "rows":
            table.add_rows(score[a:b], label[a:b])
        else:
            table.add(part if kind == "exact" else grid_of(part))
            some_grid = some_grid or kind == "grid"
    expected = grid_of(whole) if some_grid or whole.distinct > limit else whole
    assert table.table() == expected


def test_limit_is_the_last_exact_count() -> None:
    """At the limit a table is still exact; one distinct score more makes it a grid."""
    score = np.arange(101) / 100
    for limit, kind in ((100, "grid"), (101, "exact"), (None, "exact")):
        table = RunningTable(limit)
        table.add_rows(score, np.zeros(101, bool))
        assert table.table().kind == kind
    assert EXACT_LIMIT == 1_000_000


def test_table_can_be_taken_on_the_way() -> None:
    """Taking the table does not end the construction."""
    score, label = rows(3, 200)
    table = RunningTable(limit=150)
    table.add_rows(score[:100], label[:100])
    assert table.table() == ScoreTable.from_rows(score[:100], label[:100])
    table.add_rows(score[100:], label[100:])
    assert table.table() == ScoreTable.from_rows(score, label)


def test_become_grid_keeps_what_was_added() -> None:
    """Going over to the grid early rounds the rows so far, and doing it twice changes nothing."""
    score, label = rows(4, 200)
    table = RunningTable()
    table.add_rows(score[:150], label[:150])
    table.become_grid()
    table.become_grid()
    table.add_rows(score[150:], label[150:])
    assert table.table() == grid_of(ScoreTable.from_rows(score, label))


def test_counts_and_weights_are_added() -> None:
    """Frequency counts and importance weights arrive as `from_rows` takes them."""
    score, label = rows(5, 60, decimals=1)
    counts, weight = np.arange(60) % 4, np.linspace(0.1, 2, 60)
    counted, weighted = RunningTable(), RunningTable()
    counted.add_rows(score, label, Weighing(counts))
    weighted.add_rows(score, label, Weighing(weight=weight))
    assert counted.table() == ScoreTable.from_rows(score, label, Weighing(counts=counts))
    assert weighted.table() == ScoreTable.from_rows(score, label, Weighing(weight=weight))


def test_weights_past_the_limit_are_refused() -> None:
    """Importance weights need the exact table, and the hint says how to allow it."""
    table = RunningTable(limit=10)
    score, label = rows(6, 60)
    table.add_rows(score, label, Weighing(weight=np.ones(60)))
    with pytest.raises(InputProblem, match="exact table") as caught:
        table.table()
    assert "--exact" in str(caught.value.hint)
    with pytest.raises(ValueError, match="exact table"):
        grid_of(ScoreTable.from_rows(score, label, Weighing(weight=np.ones(60))))
