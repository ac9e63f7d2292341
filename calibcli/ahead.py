"""Long work: the next items made while the one before is used, items shared
out among threads, and how far it is.
"""

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")

Result = TypeVar("Result")


def made_ahead(items: Iterator[Item], most: int = 1) -> Generator[Item, None, None]:
    """Yield the items in order, so many made in a thread while those before are used; 0 for no thread.

    What making an item raises is raised here, in its turn.
    """
    if not most:
        yield from items
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, thread_name_prefix="calibcli-ahead") as maker:
        coming = deque(maker.submit(_next, items) for _ in range(most))
        try:
            while made := coming.popleft().result():
                coming.append(maker.submit(_next, items))
                yield made[0]
        finally:
            for one in coming:
                one.cancel()


def aside(work: Callable[[], Result], *, large: bool) -> Callable[[], Result]:
    """Return what gives the result of some work, which is begun at once in a thread where it is large."""
    if not large:
        return work
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1, thread_name_prefix="calibcli-aside")
    found = pool.submit(work).result
    pool.shutdown(wait=False)
    return found


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Generator[Result, None, None]:
    """Yield the result for each item, in the order of the items; no more wait than there are workers."""
    waiting = iter(items)
    # No more items than this can be counted.
    first = list(islice(waiting, min(workers, sys.maxsize)))
    if workers <= 1 or len(first) <= 1:
        yield from map(work, chain(first, waiting))
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(workers, thread_name_prefix="calibcli")
    running: deque[Future[Result]] = deque()
    try:
        running.extend(pool.submit(work, item) for item in first)
        while running:
            result = running.popleft().result()
            running.extend(pool.submit(work, item) for item in islice(waiting, 1))
            yield result
    finally:
        # Not waiting: whoever gives up tells the work itself to stop, and then threads end by themselves.
        pool.shutdown(wait=False, cancel_futures=True)


def _next(items: Iterator[Item]) -> tuple[Item] | None:
    """Return the next item in a tuple, or None at the end: what is yielded may be anything."""
    for item in items:
        return (item,)
    return None


# Told how many rows one more part had.
Advance: TypeAlias = Callable[[int], None]

# From the number of parts to what is told of each, for as long as the work goes on.
Progress: TypeAlias = Callable[[int], AbstractContextManager[Advance]]


@contextmanager
def unseen(parts: int) -> Iterator[Advance]:  # noqa: ARG001 - the number is for those who show it
    """Tell nobody."""
    yield lambda _: None
