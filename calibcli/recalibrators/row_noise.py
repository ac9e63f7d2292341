"""Normal noise that depends on the seed and on a row's place in its file, and on nothing else."""

import numpy as np

from calibcli.names import Purpose
from calibcli.table.score_table import Floats, Integers

# The generator gives its words four at a time; a row takes two of them.
_ROWS_IN_A_BLOCK = 2


def normal_noise(seed: int, places: Integers) -> Floats:
    """
    Return a standard normal number for each row, the same however rows are cut into batches.

    Rows at the same place of different files share theirs, as they do where files are treated one by one.

    Args:
        seed: Seed of the stream.

        places: Where each row stands in its file, from 0, ascending, shape (n,). Numbers are made for every
            place from the first to the last.

    References:
        Salmon, Moraes, Dror & Shaw (2011), SC11, for the counter-based generator Philox. Box & Muller (1958)
        for the transform.
    """
    if not places.size:
        return np.zeros(0)
    block = int(places[0]) // _ROWS_IN_A_BLOCK
    first = block * _ROWS_IN_A_BLOCK
    key = np.random.SeedSequence(seed, spawn_key=(int(Purpose.NOISE),)).generate_state(2, np.uint64)
    words = np.random.Philox(key=key, counter=block).random_raw(2 * (int(places[-1]) - first + 1))
    chosen = (places - first) * 2
    # The complement is above 0, as the logarithm needs.
    radius = np.sqrt(-2.0 * np.log(1.0 - _fraction(words[chosen])))
    return np.asarray(radius * np.cos(2.0 * np.pi * _fraction(words[chosen + 1])))


def _fraction(words: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Floats:
    """Return the upper 53 bits of each word as a number in [0, 1)."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
