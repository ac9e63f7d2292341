"""The next item is made while the one before is used: reading and reckoning share the time."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """
    Yield the items in order, each made in a thread while the one before is used.

    What making an item raises is raised here, in its turn.

    Args:
        items: Used in one thread at a time, so it need not know of threads.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="calibcli-ahead") as maker:
        coming = maker.submit(_next, items)
        while made := coming.result():
            coming = maker.submit(_next, items)
            yield made[0]


def _next(items: Iterator[Item]) -> tuple[Item] | None:
    """Return the next item in a tuple, or None at the end: what is yielded may be anything."""
    for item in items:
        return (item,)
    return None
