"""Hashes of rows of several classes: an order, and folds, that depend on nothing but the numbers of a row."""

import numpy as np
import numpy.typing as npt

from calibcli.table.score_table import Floats, Integers

# Odd numbers that spread the bits of a row over a hash (splitmix64).
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
Hashes = npt.NDArray[np.uint64]


def hashes_of(probability: Floats, label: Integers) -> Hashes:
    """Return a hash of the numbers and the label of each row, shape (n,), wherever the row stands."""
    bits = np.ascontiguousarray(probability + 0.0).view(np.uint64)
    with np.errstate(over="ignore"):
        odd = np.arange(1, bits.shape[1] + 1, dtype=np.uint64) * _GOLDEN | np.uint64(1)
        return _mixed(np.asarray(bits @ odd + label.astype(np.uint64) * _GOLDEN))


def draws_of(probability: Floats, label: Integers) -> Hashes:
    """Return what rows fall into folds by, shape (n,): the same whatever the order of the classes."""
    bits = np.ascontiguousarray(probability + 0.0).view(np.uint64)
    with np.errstate(over="ignore"):
        spread = bits * _GOLDEN
        spread ^= spread >> np.uint64(31)
        right = spread[np.arange(label.size), label]
        return _mixed(spread.sum(axis=1, dtype=np.uint64) + right * _MIX[0])


def _mixed(mixed: Hashes) -> Hashes:
    """Return numbers whose every bit depends on every bit (splitmix64)."""
    with np.errstate(over="ignore"):
        for shift, factor in zip((30, 27), _MIX, strict=True):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))
