"""What simulations share: random numbers by name, how many misses chance allows, and levels of repetition."""

import zlib
from collections.abc import Iterable

import numpy as np
import pytest

Floats = np.ndarray
# Under this name a test reports what it counted: answers, wrong ones, as many as nominal, and as are allowed.
PROMISES = "promises"


def most_misses(repetitions: int, error: float) -> int:
    """Return the largest number of misses that a true rate of `error` exceeds with probability < 1e-6."""
    # pytest imports this module before it starts workers, and needs none of it.
    from scipy.stats import binom

    return int(binom.isf(1e-6, repetitions, error))


def generator_of(*name: object) -> np.random.Generator:
    """Return the random numbers of a cell."""
    return np.random.default_rng(zlib.crc32("/".join(map(str, name)).encode()))


def short_and_full(names: str, short: Iterable[object], full: Iterable[object]) -> pytest.MarkDecorator:
    """Return rows of a claim: few and small ones for every run, and those that are marked `slow`."""
    slow = [pytest.param(*_many(one), marks=pytest.mark.slow) for one in full]
    return pytest.mark.parametrize(names.split(), [*map(_many, short), *slow], ids=_name)


def _many(row: object) -> tuple[object, ...]:
    return row if isinstance(row, tuple) else (row,)


def _name(value: object) -> str | None:
    """A cell goes by its own name."""
    return getattr(value, "name", None)
