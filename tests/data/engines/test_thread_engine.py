"""The engine of threads."""

import threading
import time
from collections.abc import Iterator

import pytest

from calibcli.data.engines import ThreadEngine, default_workers, engine_named
from calibcli.names import EngineName


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_item_order(workers: int) -> None:
    """However long each takes."""

    def work(item: int) -> int:
        time.sleep(0.002 * (item % 3))
        return item * item

    assert list(ThreadEngine(workers).map(work, range(20))) == [i * i for i in range(20)]
    assert list(engine_named(EngineName.LOCAL, 10**30).map(abs, [1, -2])) == [1, 2]


@pytest.mark.parametrize("workers", [1, 3])
def test_items_are_taken_only_as_they_are_needed(workers: int) -> None:
    """At most one more than the workers is ahead of what has been asked for."""
    taken: list[int] = []

    def items() -> Iterator[int]:
        for item in range(100):
            taken.append(item)
            yield item

    results = ThreadEngine(workers).map(lambda item: item, items())
    assert next(results) == 0
    assert len(taken) <= workers + 2
    results.close()
    assert len(taken) <= workers + 2


def test_an_error_ends_the_iteration_and_cancels_what_waits() -> None:
    """It is raised where the result would have been."""
    started: list[int] = []

    def work(item: int) -> int:
        started.append(item)
        if item == 1:
            raise ValueError(item)
        return item

    results = ThreadEngine(2).map(work, range(1000))
    assert next(results) == 0
    with pytest.raises(ValueError, match="1"):
        list(results)
    assert len(started) < 10


def test_an_interrupt_does_not_wait_for_running_work() -> None:
    """Whoever gives up tells the work itself to stop."""
    stop = threading.Event()

    def work(item: int) -> int:
        if item:
            stop.wait(5)
        return item

    results = ThreadEngine(2).map(work, range(4))
    assert next(results) == 0
    before = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    assert time.perf_counter() - before < 1
    stop.set()


def test_one_item_runs_in_the_calling_thread() -> None:
    """So that Ctrl-C reaches it."""
    names = list(ThreadEngine(4).map(lambda _: threading.current_thread(), [0]))
    assert names == [threading.current_thread()]


def test_nothing_gives_nothing() -> None:
    """An engine takes an empty list."""
    assert list(ThreadEngine(3).map(lambda item: item, [])) == []


def test_the_engine_is_named() -> None:
    """Without a number of workers there is one per processor."""
    assert engine_named(EngineName.LOCAL) == ThreadEngine(default_workers())
    assert default_workers() >= 1
