"""What an engine does: the same work on every item, and nothing else."""

from collections.abc import Callable, Generator, Iterable
from typing import Protocol, TypeVar

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

        Args:
            work: Called with one item; an error it raises ends the iteration.

            items: Taken as they are needed.
        """
        ...
