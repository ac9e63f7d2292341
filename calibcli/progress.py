"""How far long work is: told to whoever asks, shown by nobody here."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

# Told how many rows one more part had.
Advance: TypeAlias = Callable[[int], None]
# From the number of parts to what is told of each, for as long as the work goes on.
Progress: TypeAlias = Callable[[int], AbstractContextManager[Advance]]


@contextmanager
def unseen(parts: int) -> Iterator[Advance]:  # noqa: ARG001 - the number is for those who show it
    """Tell nobody."""

    def advance(rows: int) -> None:
        """Forget it."""

    yield advance
