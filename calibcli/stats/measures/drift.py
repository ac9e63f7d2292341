"""Whether the values of a column have shifted from old to new rows: the population stability index (PSI)."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from calibcli.stats.measures.if_calibrated import p_value
from calibcli.stats.numerics import Floats, Integers, chi_squared_tail
from calibcli.stats.table.levels import Levels, RunningValues
from calibcli.values import dataclass, field

# Where a level has fewer rows the law is drawn.
LEAST_EXPECTED = 100.0
_LEAST_DRAWS, _LARGEST_DRAWS = 1_999, 19_999
# Draws are made and looked at so many counts at a time.
_AT_ONCE = 1 << 21
# For draws, more different numbers are put together to so many neighbours of about as many rows.
_MOST_CELLS = 1_000
# So many rows are more than numpy draws from without replacement.
_MOST_DRAWN = 10**9
# Laws of so many different columns are kept for the next one.
_KEPT = 64
# An empty bin counts as so many rows where the other file has some: its logarithm would be infinite.
HALF = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """How far a column has shifted.

    Args:
        old: Rows in each level.
        parts: What each level adds to `psi`.
        by_chance: What PSI exceeds with the error asked for where nothing has shifted.
        drawn: Whether the p-value is the least that so many draws can give: it may be any smaller one.
    """

    levels: Levels
    old: Integers
    new: Integers
    parts: Floats
    psi: float
    p_value: float
    by_chance: float
    method: str
    drawn: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """What PSI is where chance says which of all rows are old.

    Args:
        start: Returns the generator that the draws of a column begin with.
        made: What was drawn, for columns whose values are as often the same, such as scores that never are.
    """

    start: Callable[[], np.random.Generator]
    made: dict[tuple[bytes, int, int, int], Floats] = field(default_factory=dict)

    def drawn(self, pooled: Integers, size: int, cut: int, *, draws: int) -> Floats:
        """Return PSI of so many choices of the old rows, shape (draws,)."""
        key = pooled.tobytes(), size, cut, draws
        if key not in self.made:
            if len(self.made) == _KEPT:
                self.made.clear()
            generator, step = self.start(), max(1, _AT_ONCE // pooled.size)
            self.made[key] = np.concatenate(
                [
                    _index(_chosen(pooled, size, min(step, draws - start), generator), pooled, cut)
                    for start in range(0, draws, step)
                ]
            )
        return self.made[key]


def shift_of(
    old: RunningValues,
    new: RunningValues,
    *,
    most: int,
    categorical: bool | None,
    intervals: int,
    error: float,
    chance: Chance,
) -> Shift:
    """Compare the values of a column in old and in new rows.

    Numbers are cut at quantiles of the old rows. Which values are categories, and which of these have a
    level, is settled by old and new rows together, so that a value that is new is seen.

    Args:
        most: Most frequent categories with a level of their own.
        categorical: Whether numbers are categories; None where their values tell.
        intervals: Numbers are cut into so many intervals of about as many old rows.
        error: Probability of a PSI above `by_chance` where nothing has shifted.

    References:
        Yurdakul (2018), Statistical Properties of Population Stability Index, for the chi-squared law.
    """
    both = RunningValues(old.name, every=old.every)
    both.add(old)
    both.add(new)
    old, new = old.rounded_like(both), new.rounded_like(both)
    levels = both.levels(most=most, categorical=categorical, intervals=intervals, like=old)
    counts = old.counts(levels), new.counts(levels)
    parts = contributions(*counts)
    psi, rows = float(parts.sum()), [int(one.sum()) for one in counts]
    pooled = counts[0] + counts[1]
    occupied = pooled[pooled > 0]
    if occupied.size == 1:
        return Shift(levels, *counts, parts, 0.0, 1.0, 0.0, "one level")
    if int(occupied.min()) * min(rows) >= LEAST_EXPECTED * sum(rows):
        from scipy.special import chdtri

        degrees, unit = occupied.size - 1, _unit(occupied, rows)
        p, least = chi_squared_tail(psi / unit, degrees), unit * float(chdtri(degrees, error))
        return Shift(levels, *counts, parts, psi, p, least, "chi-squared")
    draws = min(max(_LEAST_DRAWS, math.ceil(2.0 / error)), _LARGEST_DRAWS)
    found, drawn = _drawn(old, new, levels, counts, intervals=intervals, draws=draws, chance=chance)
    # The largest index whose p-value is above the error: the two never contradict each other. Where draws put
    # neighbours together their index is a little another, and the p-value settles it.
    least = float(np.sort(drawn)[-max(math.floor(error * (draws + 1)), 1)])
    p = p_value(drawn, found)
    least = max(least, psi) if p > error else min(least, math.nextafter(psi, 0.0))
    method = f"{draws:,} draws of which rows are old"
    if draws * error < 1.0:
        method += f", too few to show a shift at {error:.1g}"
    return Shift(levels, *counts, parts, psi, p, least, method, drawn=p * (draws + 1) < 1.5)


def _unit(pooled: Integers, rows: list[int]) -> float:
    """Return what PSI is on average where nothing has shifted, for each degree of freedom.

    To first order that is 1/n + 1/m. The next order, about half of the inverse of the rows expected in a
    level, counts where levels are many: with 100 rows in each of 1,000, 6.4 % were called shifted at 5 %.
    """
    shares = pooled / pooled.sum()
    (first, second), more = (1.0 / one for one in rows), float((1.0 / shares - 1.0).sum())
    return first + second + (first**2 + second**2) * more / (2.0 * (pooled.size - 1))


def contributions(old: Integers, new: Integers) -> Floats:
    """Return what each level adds to the population stability index, of shape (..., levels) as the counts.

    A level that is empty on one side counts as half a row there.
    """
    shares = []
    for one, other in ((old, new), (new, old)):
        rows = np.maximum(one.sum(axis=-1, keepdims=True), 1)
        shares.append(np.where(one > 0, one, np.where(other > 0, HALF, 1.0)) / rows)
    gap = np.where((old > 0) | (new > 0), shares[1] - shares[0], 0.0)
    return np.asarray(gap * np.log(shares[1] / shares[0]))


def _drawn(
    old: RunningValues,
    new: RunningValues,
    levels: Levels,
    counts: tuple[Integers, Integers],
    *,
    intervals: int,
    draws: int,
    chance: Chance,
) -> tuple[float, Floats]:
    """Return PSI, and what it is where chance says which of all rows are old, shape (draws,).

    Cuts that the old rows made are made anew in each draw. That makes the p-value exact: given all values,
    any choice of the old rows is as probable as any other if nothing has shifted.
    """
    cells, cut = counts, 0
    if levels.ends:
        gaps = [0 if levels.missing < 0 else int(one[levels.missing]) for one in counts]
        cells, cut = _by_number(old, new, gaps=gaps), intervals
    pooled, size = cells[0] + cells[1], int(cells[0].sum())
    return float(_index(cells[0][None], pooled, cut)[0]), chance.drawn(pooled, size, cut, draws=draws)


def _chosen(pooled: Integers, size: int, draws: int, generator: np.random.Generator) -> Integers:
    """Return how many of the rows of each cell are among so many that chance takes, shape (draws, cells)."""
    total = int(pooled.sum())
    if total < _MOST_DRAWN:
        return generator.multivariate_hypergeometric(pooled, size, size=draws, method="marginals")
    return generator.binomial(pooled, size / total, size=(draws, pooled.size))


def _by_number(old: RunningValues, new: RunningValues, *, gaps: list[int]) -> tuple[Integers, Integers]:
    """Return how many rows have each number, or one of its neighbours, and last how many have none."""
    (first, many), (second, more) = old.numbers(), new.numbers()
    value, place = np.unique(np.concatenate((first, second)), return_inverse=True)
    found = np.zeros((2, value.size), np.int64)
    np.add.at(found[0], place[: first.size], many)
    np.add.at(found[1], place[first.size :], more)
    if value.size > _MOST_CELLS:
        below = np.cumsum(found.sum(axis=0)) - 1
        cell = below * _MOST_CELLS // (int(below[-1]) + 1)
        starts = np.flatnonzero(np.diff(cell, prepend=-1))
        found = np.add.reduceat(found, starts, axis=1)
    whole = np.column_stack((found, gaps))
    return whole[0], whole[1]


def _index(old: Integers, pooled: Integers, intervals: int) -> Floats:
    """Return PSI for each choice of the old rows, cut into so many intervals of these; 0 takes the cells."""
    if not intervals:
        return np.asarray(contributions(old, pooled - old).sum(axis=-1))
    below, all_below = np.cumsum(old[:, :-1], axis=1), np.cumsum(pooled[:-1])
    known = below[:, -1:]
    places = [
        np.count_nonzero(below * intervals < k * known, axis=1)[:, None] for k in range(1, intervals + 1)
    ]
    ends, every = [np.zeros_like(known)], [np.zeros_like(known)]
    for at, following in pairwise(places):
        end = np.take_along_axis(below, at, axis=1)
        # As of the levels: a cell that fills an interval is cut off below, and no old numbers make no cut.
        before = np.where((at == following) & (at > 0), at - 1, -1)
        lower = np.where(before < 0, 0, np.take_along_axis(below, before, axis=1))
        all_lower = np.where(before < 0, 0, all_below[before])
        all_end = np.where(known > 0, all_below[at], all_below[-1])
        ends += [np.maximum(ends[-1], lower), end]
        every += [np.maximum(every[-1], all_lower), all_end]
    ends.append(known)
    every.append(np.full_like(known, all_below[-1]))
    first = np.asarray(np.diff(np.concatenate(ends, axis=1), append=known + old[:, -1:]), np.int64)
    whole = np.asarray(np.diff(np.concatenate(every, axis=1), append=pooled.sum()), np.int64)
    return np.asarray(contributions(first, whole - first).sum(axis=-1))
