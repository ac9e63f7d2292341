"""Where scores are shown to be too low or too high: neighbouring bins that err alike."""

import math
from itertools import groupby

import numpy as np

from calibcli.stats.bounds.proportion import rate_bounds
from calibcli.stats.curves.reliability import BinnedCurve
from calibcli.stats.table.score_table import Floats
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Stretch:
    """
    A range of scores that are on average too low, or too high.

    Args:
        lower: Left edge of its first bin; None where the same holds for all scores up to `upper`.
        upper: Right edge of its last bin; None where the same holds for all scores from `lower` on.
    """

    too_low: bool
    lower: float | None
    upper: float | None


def stretches(curve: BinnedCurve, *, confidence: float) -> tuple[Stretch, ...]:
    """
    Return where the rate is not the mean score, ascending, each the other way than the one before.

    The bounds of all bins hold together with the confidence (Clopper-Pearson, Bonferroni over bins and ends),
    so whatever is read off them is true with it as well: that the scores of a bin are too low or too high,
    and that those of neighbouring bins together are, whichever bins are put together afterwards.

    Args:
        curve: Mean score and rate of each bin, with bounds where rows have some.
        confidence: Probability that all of them are there, in (0, 1).

    Returns:
        None without rows, and where rows have no bounds: of importance weights and of dependent rows.
    """
    if not curve.rows.size or bool(np.isnan(curve.rate_lower).any()):
        return ()
    rows = curve.rows.astype(np.float64)
    delta = (1.0 - confidence) / (2.0 * rows.size)
    lower, upper = rate_bounds(np.rint(rows * curve.rate), rows, delta_each_side=delta)
    # By how much the rates of each bin exceed its scores at least, and fall short of them at least.
    least = {True: rows * (lower - curve.score), False: rows * (curve.score - upper)}
    signs = [(k, too_low) for k in range(rows.size) for too_low, surplus in least.items() if surplus[k] > 0.0]
    runs = [(way, [k for k, _ in run]) for way, run in groupby(signs, key=lambda one: one[1])]
    found = []
    for place, (way, bins) in enumerate(runs):
        first, last = _joined(bins, rows, least[way])
        opens = place == 0 and _reaches(slice(0, last + 1), slice(0, first), rows, least[way])
        ends = place == len(runs) - 1 and _reaches(
            slice(first, None), slice(last + 1, None), rows, least[way]
        )
        start = None if opens else float(curve.lower[first])
        found.append(Stretch(way, start, None if ends else float(curve.upper[last])))
    return tuple(found)


# What is said of a range is shown for bins with most of its rows; up to an end of the scale, with nearly all.
_MOST, _NEARLY_ALL = 0.5, 0.9


def _reaches(whole: slice, beyond: slice, rows: Floats, surplus: Floats) -> bool:
    """Whether what a range is shown to be holds up to an end of the scale as well."""
    few = float(rows[beyond].sum()) <= (1.0 - _NEARLY_ALL) * float(rows[whole].sum())
    return few and math.fsum(surplus[whole]) > 0.0


def _joined(bins: list[int], rows: Floats, surplus: Floats) -> tuple[int, int]:
    """Return the first and last of bins that err alike together; of others the one that errs most."""
    whole = slice(bins[0], bins[-1] + 1)
    if rows[bins].sum() >= _MOST * rows[whole].sum() and math.fsum(surplus[whole]) > 0.0:
        return bins[0], bins[-1]
    most = max(bins, key=lambda k: surplus[k])
    return most, most
