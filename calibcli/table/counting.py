"""Rows counted by their places, a million at once, in a thread while the next ones are placed."""

from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from calibcli.table.score_table import Floats, Integers

# Rows counted at once: the sum of so many distances within a cell is below 2^53, hence exact in doubles.
COUNTED = 1_400_000
# Distances are below 2^33: a thousand of them, with 2^43 for each row, are told apart in one double.
_ROW_BITS = 43
ROW = float(1 << _ROW_BITS)
_FULL = float(1 << 53)
# Places worked on at once: they fit the processor's cache.
_CHUNK = 1 << 16


class Counting:
    """
    The number of rows at each of many places and the sum of their distances, which are whole and below 2^33.

    Args:
        places: How many places there are.
    """

    def __init__(self, places: int) -> None:
        self._rows = np.zeros(places, np.int64)
        self._below = np.zeros(places, np.int64)
        # Rows placed and not yet counted: a count goes over all places, so it should be worth it.
        self._buffers = [(np.empty(COUNTED, np.int64), np.empty(COUNTED, np.float64))]
        self._waiting = 0
        # Whether a place was seen to hold more rows at once than can be counted together with distances.
        self._crowded = False
        self._pool: ThreadPoolExecutor | None = None
        self._counted: Future[None] | None = None

    def __getstate__(self) -> tuple[npt.NDArray[np.unsignedinteger], Integers]:
        # What travels is half as much with rows in the fewest bytes that hold them.
        rows, below = self.sums()
        return rows.astype(np.min_scalar_type(int(rows.max(initial=0)))), below

    def __setstate__(self, state: tuple[npt.NDArray[np.unsignedinteger], Integers]) -> None:
        Counting.__init__(self, 0)
        self._rows, self._below = state[0].astype(np.int64), state[1]

    def room(self, rows: int) -> tuple[Integers, Floats]:
        """
        Return where to put the places of some rows, and their distances with `ROW` added.

        Args:
            rows: How many, at most `COUNTED`.
        """
        if not self._buffers:
            self._buffers = [(np.empty(COUNTED, np.int64), np.empty(COUNTED, np.float64))]
        if self._waiting + rows > COUNTED:
            self._count_aside()
        new = slice(self._waiting, self._waiting + rows)
        self._waiting += rows
        place, packed = self._buffers[0]
        return place[new], packed[new]

    def sums(self) -> tuple[Integers, Integers]:
        """Return the number of rows, and their distances summed, at each place; they may be added to."""
        self._wait()
        if self._waiting:
            place, packed = self._buffers[0]
            self._count(place[: self._waiting], packed[: self._waiting])
        self._waiting, self._buffers = 0, []
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        return self._rows, self._below

    def _count_aside(self) -> None:
        """Count what waits in a thread, once it is done with what it had before."""
        self._wait()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="calibcli-count")
            self._buffers.append((np.empty(COUNTED, np.int64), np.empty(COUNTED, np.float64)))
        place, packed = self._buffers[0]
        self._counted = self._pool.submit(self._count, place[: self._waiting], packed[: self._waiting])
        self._buffers.reverse()
        self._waiting = 0

    def _wait(self) -> None:
        if self._counted is not None:
            self._counted.result()
            self._counted = None

    def _count(self, place: Integers, packed: Floats) -> None:
        if not self._crowded:
            both = np.asarray(np.bincount(place, weights=packed, minlength=self._rows.size), np.float64)
            self._crowded = not both.max() < _FULL
            if not self._crowded:
                self._add_packed(both)
                return
        packed -= ROW
        self._rows += np.bincount(place, minlength=self._rows.size)
        # Whole numbers before they are added up: the total may pass what a double holds exactly.
        self._below += np.bincount(place, weights=packed, minlength=self._below.size).astype(np.int64)

    def _add_packed(self, both: Floats) -> None:
        """Add sums of distances and of `ROW` for each row, all below 2^53 and hence exact."""
        for start in range(0, both.size, _CHUNK):
            near = slice(start, start + _CHUNK)
            whole = both[near].astype(np.int64)
            self._rows[near] += whole >> _ROW_BITS
            whole &= (1 << _ROW_BITS) - 1
            self._below[near] += whole
