"""How much of what is still to come may be of kinds that no row has shown."""

import math

import numpy as np

from calibcli.table.score_table import Floats, Integers

# So many rows of the first, in any order, show the kinds that later rows are held against.
_FIRST = 4


def unseen_share(counts: Integers, *, delta: float) -> float:
    """
    Return an upper bound of the probability that a new row is of a kind that no row here is.

    Let K be the number of rows after the first b, in random order, whose kind is new when they come. Each is
    new with a probability that is never below the share u of the kinds that stay unseen. So the product of
    e^(-l X) / (1 - u (1 - e^-l)) over those m = n - b rows is at most 1 on average, and so is its mean over
    all orders: u is at most (1 - (delta A)^(1/m)) / (1 - e^-l) but with probability delta, A the mean of
    e^(-l K). It is at least 1 - E K for infinite l, and e^(-E K) for l = 1 (Jensen), with E K known from the
    counts; half of delta is for each. With kinds of many rows each the bound is about 4.9 / n, where all rows
    differ it is 1.

    Args:
        counts: Rows of each kind that was seen, positive, shape (n_kinds,).

        delta: Error probability.

    References:
        Good (1953), Biometrika 40, for the estimate K / m; the bound is derived in `docs/methods.md`.
    """
    rows = int(counts.sum())
    first = rows // _FIRST
    if first == 0:
        return 1.0
    later = rows - first
    fresh = float(_chances_to_miss(counts, rows=rows, first=first).sum())
    none = 1.0 - (0.5 * delta * max(0.0, 1.0 - fresh)) ** (1.0 / later)
    some = -math.expm1((math.log(0.5 * delta) - fresh) / later) / -math.expm1(-1.0)
    return float(min(1.0, none, some))


def _chances_to_miss(counts: Integers, *, rows: int, first: int) -> Floats:
    """Return the probability that the first rows in random order have none of a kind, for each kind."""
    kinds, times = np.unique(counts, return_counts=True)
    found = np.zeros(kinds.size)
    for place, held in enumerate(kinds.tolist()):
        if held <= rows - first:
            log = math.lgamma(rows - held + 1) - math.lgamma(rows - first - held + 1)
            found[place] = math.exp(min(0.0, log + math.lgamma(rows - first + 1) - math.lgamma(rows + 1)))
    return found * times
