"""
Was calibrated, is it still? Bets that start again with every batch, so that a change is found soon.

Let E^(b) be the wealth of a bet that starts with batch b: 1 before it, and from then on a nonnegative
supermartingale while the score is calibrated. With weights w_b = 1 / (b (b + 1)), which are fixed in advance
and sum to 1, M = sum_b w_b E^(b) is a nonnegative supermartingale that starts at 1, so with probability at
least 1 - delta it never reaches 1 / delta (Ville). What is looked at is the sum over the starts that are
kept and have come: at most M, whichever starts are dropped and why, and so it never reaches 1 / delta
either. A state keeps at most 64 starts, dense among the latest batches and ever sparser before them.
"""

import math
from dataclasses import dataclass
from typing import Annotated

from calibcli.bounds.betting import Stakes, log_sum
from calibcli.codec import INLINE, Between, Declared
from calibcli.gates.bets import Bets, log_evidence_against_calibration
from calibcli.gates.cells import SPARSE, Partition, Sums
from calibcli.names import MeasureName

MOST_EPOCHS = 64


@dataclass(frozen=True, slots=True)
class Epoch(Declared):
    """Consecutive batches added up."""

    first: Annotated[int, Between(1), "Number of the first batch, from 1 on."]
    sums: Annotated[Sums, SPARSE, INLINE]


@dataclass(frozen=True, slots=True)
class Start:
    """
    What the bet that starts with a batch has made.

    Args:
        first: The number of that batch.

        log_wealth: Log of its wealth, its weight included.
    """

    first: int
    log_wealth: float


def thinned(epochs: tuple[Epoch, ...]) -> tuple[Epoch, ...]:
    """
    Return at most `MOST_EPOCHS` epochs.

    While there are more, the two neighbours are put together that span the fewest batches for their age,
    so that for a change at any time in the past a start is kept within a small part of the time since.
    """
    found = list(epochs)
    while len(found) > MOST_EPOCHS:
        last = found[-1].first + 1
        ends = [*(epoch.first for epoch in found[1:]), last]
        # The last epoch is the batch that has just come and stays by itself.
        spans = [(ends[i + 1] - found[i].first) / (last - found[i + 1].first) for i in range(len(found) - 2)]
        i = spans.index(min(spans))
        found[i : i + 2] = [Epoch(found[i].first, found[i].sums + found[i + 1].sums)]
    return tuple(found)


def starts_of(
    epochs: tuple[Epoch, ...],
    partition: Partition,
    stakes: Stakes,
    *,
    measure: MeasureName,
    limit: float | None,
) -> list[Start]:
    """
    Return what each start has made, the latest first.

    Args:
        epochs: Rows by epoch, in order.

        partition: What they are counted by.

        stakes: The bets.

        measure: ECE or the distance to calibration.

        limit: The error that still counts as calibrated; None for none at all.
    """
    found = []
    since = Sums.none(partition.size)
    for epoch in reversed(epochs):
        since = since + epoch.sums
        if limit is None and partition.outputs:
            wealth = log_evidence_against_calibration(since, partition)
        else:
            wealth = Bets(since, partition, measure=measure).log_fail(limit or 0.0, stakes)
        found.append(Start(epoch.first, wealth - math.log(epoch.first * (epoch.first + 1.0))))
    return found


def log_evidence(starts: list[Start]) -> float:
    """Return the log of the e-value against "the score has been calibrated throughout"."""
    return log_sum([start.log_wealth for start in starts]) if starts else -math.inf
