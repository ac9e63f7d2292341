"""What rows add up to, part by part, merged seldom enough that the cost stays linear in rows and in parts."""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

Part = TypeVar("Part")


class Parts(Generic[Part]):
    """
    Parts of one whole. Those after the first are merged into it once they are larger than it is.

    Args:
        merge: Makes one part of several, in their order.
        size: How large a part is.
        least: Parts after the first are left until they are larger than this.
        limit: A size that somebody looks out for: a whole that is larger is noticed at most `least` too late.
    """

    def __init__(
        self,
        merge: Callable[[Sequence[Part]], Part],
        size: Callable[[Part], int],
        *,
        least: int,
        limit: int | None = None,
    ) -> None:
        self._merge = merge
        self._size = size
        self._least = least
        self._limit = limit
        self._parts: list[Part] = []
        self._first = self._further = 0
        self._merged_size = 0
        self._is_merged = False

    def __bool__(self) -> bool:
        return bool(self._parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts)

    @property
    def merged_size(self) -> int:
        """How large the parts are that have been merged; 0 before."""
        return self._merged_size

    def add(self, part: Part) -> None:
        """Add a part."""
        size = self._size(part)
        if self._parts:
            self._further += size
        else:
            self._first = size
        self._parts.append(part)
        self._is_merged = False
        room = self._first if self._limit is None else min(self._first, self._limit - self._first)
        if self._further > max(self._least, room):
            self.merged()

    def merged(self) -> Part | None:
        """Return the whole; None where there is none."""
        if not self._parts:
            return None
        if not self._is_merged:
            self._parts = [self._merge(self._parts)]
            self._first = self._merged_size = self._size(self._parts[0])
            self._further = 0
            self._is_merged = True
        return self._parts[0]

    def taken(self) -> list[Part]:
        """Return every part, and keep none."""
        parts, self._parts = self._parts, []
        self._first = self._further = self._merged_size = 0
        return parts
