"""Numbers by their place among all numbers, so that halving ends at neighbouring ones."""

import numpy as np
import numpy.typing as npt

from calibcli.table.score_table import Floats

Ordinals = npt.NDArray[np.int64]


def ordinals_of(numbers: Floats) -> Ordinals:
    """Return the place of each number among all there are, 0 for 0."""
    places = np.abs(numbers).view(np.int64)
    return np.where(np.signbit(numbers), -places, places)


def numbers_at(places: Ordinals) -> Floats:
    """Return the numbers at places."""
    return np.asarray(np.copysign(np.abs(places).view(np.float64), places))
