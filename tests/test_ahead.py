"""Items made ahead: in order, no more than were asked for, errors in their turn."""

import threading
import time
from collections.abc import Iterator

import pytest

from calibcli.ahead import aside, made_ahead


@pytest.mark.parametrize("most", [1, 2, 5])
def test_items_come_in_order(most: int) -> None:
    """However many wait, the first made is the first given."""
    assert list(made_ahead(iter(range(20)), most)) == list(range(20))


@pytest.mark.parametrize("most", [1, 2, 5])
def test_no_more_items_are_made_than_may_wait(most: int) -> None:
    """While one is used, so many others are made, and no more."""
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(20):
            made.append(number)
            yield number

    ahead = made_ahead(items(), most)
    assert next(ahead) == 0
    limit = time.monotonic() + 10.0
    while len(made) < most + 1 and time.monotonic() < limit:
        time.sleep(0.001)
    time.sleep(0.02)
    assert len(made) == most + 1
    ahead.close()  # type: ignore[attr-defined]


def test_an_error_is_raised_in_its_turn() -> None:
    """What was made before it comes first."""

    def items() -> Iterator[int]:
        yield from (1, 2)
        msg = "the third"
        raise ValueError(msg)

    ahead = made_ahead(items(), 2)
    assert [next(ahead), next(ahead)] == [1, 2]
    with pytest.raises(ValueError, match="the third"):
        next(ahead)


def test_who_stops_early_leaves_no_thread_behind() -> None:
    """What waits is not made any more."""
    ahead = made_ahead(iter(range(1_000_000)), 3)
    assert next(ahead) == 0
    ahead.close()  # type: ignore[attr-defined]
    assert not [one for one in threading.enumerate() if one.name.startswith("calibcli-ahead")]


@pytest.mark.parametrize("large", [False, True])
def test_work_aside_is_done_once(*, large: bool) -> None:
    """Large work is begun at once in another thread, small work where its result is asked for."""
    begun = threading.Event()
    where = []

    def work() -> int:
        where.append(threading.current_thread() is threading.main_thread())
        begun.set()
        return 7

    found = aside(work, large=large)
    assert begun.wait(10.0 if large else 0.0) is large
    assert (found(), where) == (7, [not large])


def test_an_error_of_work_aside_is_raised_where_it_is_asked_for() -> None:
    """Not where it was begun."""

    def work() -> int:
        msg = "no such place"
        raise ValueError(msg)

    found = aside(work, large=True)
    with pytest.raises(ValueError, match="no such place"):
        found()
