"""Work on threads of this process: pyarrow and numpy let go of the interpreter while they compute."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from calibcli.ahead import in_order

Item = TypeVar("Item")

Result = TypeVar("Result")


class Engine(Protocol):
    """Runs work on items, here or elsewhere; what the items are it does not know."""

    @property
    def shares_interpreter(self) -> bool:
        """Whether work runs in this process, where only one thread at a time runs Python."""
        ...

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
        """
        Yield the result for each item, in the order of the items.

        Closing the generator gives up what has not been started.
        """
        ...


@dataclass(frozen=True, slots=True)
class ThreadEngine:
    """
    A pool of threads that holds no more results than it has workers.

    Args:
        workers: Number of threads. With one, or with a single item, the work runs in the calling thread.
    """

    workers: int

    @property
    def shares_interpreter(self) -> bool:
        """It does."""
        return True

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
        """Yield the result for each item, in the order of the items; see `Engine`."""
        yield from in_order(work, items, self.workers)
