"""Rows counted by their places: what a loop over them gives, however they are cut and crowded."""

import pickle
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.stats.table import grid as counting
from calibcli.stats.table.grid import ROW, Counting

PLACES = 5
MOST = (1 << 33) - 1
BATCHES = st.lists(
    st.lists(st.tuples(st.integers(0, PLACES - 1), st.integers(0, MOST)), max_size=8), max_size=12
)


def fill(found: Counting, rows: list[tuple[int, int]]) -> None:
    """Add rows given as place and distance."""
    place, packed = found.room(len(rows))
    place[:] = [at for at, _ in rows]
    packed[:] = [far + ROW for _, far in rows]


def loop(rows: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Count rows one by one."""
    number, below = [0] * PLACES, [0] * PLACES
    for at, far in rows:
        number[at] += 1
        below[at] += far
    return number, below


@settings(deadline=None, max_examples=40)
@given(batches=BATCHES, again=st.booleans())
def test_counting_aside_is_counting_one_by_one(batches: list[list[tuple[int, int]]], *, again: bool) -> None:
    """However often the thread is asked to count, and whether or not the sums are looked at in between."""
    with mock.patch.object(counting, "COUNTED", 16):
        found = Counting(PLACES)
        for batch in batches:
            fill(found, batch)
            if again:
                found.sums()
        number, below = found.sums()
    assert (number.tolist(), below.tolist()) == loop([row for batch in batches for row in batch])


def test_crowded_places_lose_nothing() -> None:
    """More rows at one place than share a double with their distances are counted apart from then on."""
    rows = [(1, MOST)] * 3_000 + [(2, 7)] * 10
    with mock.patch.object(counting, "COUNTED", 4_000):
        found = Counting(PLACES)
        for _ in range(3):
            fill(found, rows)
        number, below = found.sums()
    assert (number.tolist(), below.tolist()) == loop(3 * rows)


def test_a_pickle_holds_what_was_counted() -> None:
    """Rows that wait are counted first, and more may be added afterwards."""
    found = Counting(PLACES)
    fill(found, [(0, 3), (4, 5)])
    copy = pickle.loads(pickle.dumps(found))  # noqa: S301
    fill(copy, [(4, 6)])
    assert [part.tolist() for part in copy.sums()] == [[1, 0, 0, 0, 2], [3, 0, 0, 0, 11]]
    assert len(pickle.dumps(found)) < 2_000
