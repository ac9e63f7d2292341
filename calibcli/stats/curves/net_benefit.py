"""Net benefit at thresholds that somebody names: against treating all, treating none, and another score."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np

from calibcli.codec import ABSENT, INLINE, AnyNumber, Between, Declared
from calibcli.names import Target
from calibcli.stats.bounds import Interval, stated
from calibcli.stats.bounds.means import METHOD, Kinds
from calibcli.stats.numerics import Floats
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from calibcli.stats.curves.thresholds import Worth
    from calibcli.stats.table.again import Rows


@dataclass(frozen=True, slots=True)
class Stated(Declared):
    """A number with its interval at one threshold."""

    value: Annotated[AnyNumber | None, "Null where it is undefined."]
    interval: Annotated[Interval | None, INLINE]


@dataclass(frozen=True, slots=True)
class NetBenefit(Declared):
    """What it is worth to treat rows with a score of at least a threshold."""

    threshold: Annotated[float, Between(0, 1), "Rows with a score of at least this are treated."]
    net_benefit: Annotated[
        Stated,
        "Share of rows treated with label 1, less threshold / (1 - threshold) times the share treated with "
        "label 0; that of treating none is 0.",
    ]
    standardised: Annotated[Stated, "The same over the share of label 1, which is the most there can be."]
    treat_all: Annotated[AnyNumber, "Net benefit of treating every row."]
    over_all: Annotated[Stated, "Net benefit less that of treating every row."]
    over_first: Annotated[
        Stated | None, ABSENT, "Net benefit less that of the first score; absent for that one, and in groups."
    ] = None

    @property
    def numbers(self) -> dict[str, Stated]:
        """Every number that has an interval, by the name of its field."""
        found = {
            "net_benefit": self.net_benefit,
            "standardised": self.standardised,
            "over_all": self.over_all,
        }
        return found if self.over_first is None else {**found, "over_first": self.over_first}

    def without_intervals(self) -> "NetBenefit":
        """Return the values alone, as for rows that depend on each other."""
        net, standardised, over_all, *over_first = (
            replace(one, interval=None) for one in self.numbers.values()
        )
        return NetBenefit(self.threshold, net, standardised, self.treat_all, over_all, *over_first)


def net_benefits(
    table: Table, at: Sequence[float], *, confidence: float, again: "Rows | None" = None
) -> tuple[NetBenefit, ...]:
    """Return net benefits at thresholds in (0, 1); a score that equals the threshold is treated.

    Rows of a grid table whose cell a threshold cuts are read again; where they cannot be, those of each label
    count by their mean score. Importance weights leave no intervals.
    """
    if not at:
        return ()
    from calibcli.stats.curves.thresholds import (
        gain_over_all,
        net_benefit,
        standardised_net_benefit,
        thresholds_of,
        told_apart,
    )

    found = thresholds_of(told_apart(table, at, again=again), at)
    everyone = found.base - (1.0 - found.base) * found.at / (1.0 - found.at)
    columns = [
        _stated(worth(found, confidence=confidence), confidence=confidence)
        for worth in (net_benefit, standardised_net_benefit, gain_over_all)
    ]
    return tuple(
        NetBenefit(threshold, net, standardised, float(everyone[place]), over_all)
        for place, (threshold, net, standardised, over_all) in enumerate(zip(at, *columns, strict=True))
    )


def against_first(
    second: tuple[NetBenefit, ...],
    first: tuple[NetBenefit, ...],
    moves: Floats,
    *,
    rows: int,
    confidence: float,
) -> tuple[NetBenefit, ...]:
    """Return the net benefits of a score with what they are more than those of the first, row by row.

    Args:
        moves: At each threshold, rows of label 1 that only the second score treats and that only the first
            treats, then the same of label 0, shape (4, n); without rows where rows are weighted.
    """
    if not moves.size:
        return tuple(
            replace(one, over_first=Stated(_less(one.net_benefit.value, other.net_benefit.value), None))
            for one, other in zip(second, first, strict=True)
        )
    at = np.array([one.threshold for one in second])
    odds = at / (1.0 - at)
    factors = np.stack((np.ones_like(odds), -np.ones_like(odds), -odds, odds))
    value = np.asarray((factors * moves).sum(axis=0) / rows)
    from calibcli.stats.curves.thresholds import Worth

    ends = Kinds.of(moves, rows=rows).bounds(factors, delta=(1.0 - confidence) / 2.0)
    gains = _stated(Worth(value, *ends), confidence=confidence)
    return tuple(replace(one, over_first=gain) for one, gain in zip(second, gains, strict=True))


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _stated(worth: "Worth", *, confidence: float) -> list[Stated]:
    """Return each value with its interval, none where it is not a number."""
    found = []
    for value, lower, upper in zip(*(column.tolist() for column in worth), strict=True):
        interval = None
        if math.isfinite(value) and not math.isnan(lower):
            ends = stated(lower), stated(upper)
            interval = Interval(*ends, confidence, METHOD, Target.POPULATION, finite_sample=False)
        found.append(Stated(None if math.isnan(value) else value, interval))
    return found
