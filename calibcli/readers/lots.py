"""
Rows drawn without replacement: each has a lot, and those with the lowest lots are taken.

The lot of a row is a hash of the seed, the place of its file in the input and its place in the file: neither
the number of workers nor the cut into fragments changes it. Different rows have different lots, since the
hash is a bijection of 64 bits, so that exactly as many rows are taken as are asked for, and every set of so
many rows is as likely as any other as far as the hash is random.

References:
    Steele, Lea & Flood (2014), OOPSLA, "Fast splittable pseudorandom number generators": the finaliser.
    Cohen & Kaplan (2007), PODC, "Summarizing data using bottom-k sketches".
"""

from dataclasses import dataclass

import numpy as np

from calibcli.names import Purpose
from calibcli.readers.decode import Booleans
from calibcli.readers.fingerprints import Fingerprints, mixed

# A file has fewer rows, and an input fewer files.
_ROW_BITS = 44


@dataclass(frozen=True, slots=True)
class Lots:
    """
    The lots of the rows of a file.

    Args:
        file: Place of the file in the input.

        seed: Another seed draws other rows.

        highest: The highest lot that is taken; None for all.
    """

    file: int
    seed: int
    highest: int | None = None

    def of(self, first_row: int, count: int) -> Fingerprints:
        """Return the lots of `count` rows of which `first_row` of the file come before, shape (count,)."""
        sequence = np.random.SeedSequence(self.seed, spawn_key=(int(Purpose.SAMPLE),))
        one, two = sequence.generate_state(2, np.uint64)
        rows = np.arange(first_row, first_row + count, dtype=np.uint64)
        key = rows | np.uint64(self.file << _ROW_BITS)
        return mixed(mixed(key ^ one) ^ two)

    def taken(self, first_row: int, count: int) -> Booleans | None:
        """Return which of these rows are taken, shape (count,); None for all."""
        return None if self.highest is None else self.of(first_row, count) <= np.uint64(self.highest)


def lowest(lots: Fingerprints, count: int) -> Fingerprints:
    """Return the lowest of some lots, at most `count` of them, in any order."""
    return lots if lots.size <= count else np.partition(lots, count - 1)[:count]
