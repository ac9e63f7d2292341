"""A map for each pair of classes, and the probabilities that agree with all pairs."""

from collections.abc import Iterable
from itertools import combinations
from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import HIDDEN, INLINE, Declared, Key, Node
from calibcli.errors import UsageProblem
from calibcli.names import ClassMethod
from calibcli.stats.recalibrators import AnyMap, Recalibrator
from calibcli.stats.recalibrators.classes import (
    ClassFitOptions,
    ClassRecalibrator,
    ClassTables,
    class_weights,
    require_several,
    summing_to_one,
)
from calibcli.stats.recalibrators.classes.members import enough, fit_named, notes_of
from calibcli.stats.table import Floats
from calibcli.stats.table.again import ClassBlock, ClassRowSource
from calibcli.stats.table.grid import Table
from calibcli.stats.table.sliced import RunningSlices
from calibcli.values import dataclass

MOST_CLASSES = 100
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PairMap(Declared):
    """The map of a pair of classes that had enough fit rows; of any other the share stays as it is."""

    first: Annotated[int, "Place of the first class."]
    second: Annotated[int, "Place of the second, after the first."]
    map: Annotated[AnyMap, INLINE]

    @property
    def pair(self) -> Pair:
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class OneVsOne(ClassRecalibrator):
    """For each pair of classes the map from p_a / (p_a + p_b) to the probability of a among rows of the two.

    References:
        Price, Knerr, Personnaz & Dreyfus (1995), NIPS 7, on pairs to probabilities; Manokhin (2017),
        PMLR 60, on Venn-Abers predictors of pairs.
    """

    name: ClassVar = ClassMethod.ONE_VS_ONE
    classes: Annotated[tuple[str, ...], HIDDEN]
    maps: Annotated[tuple[PairMap, ...], Key("pairs")]

    @classmethod
    def fit(cls, method: ClassMethod, seen: ClassTables, *, options: ClassFitOptions) -> Self:  # noqa: ARG003
        """Fit a map to each pair with enough rows."""
        classes = seen.rows.classes
        found = {
            pair: fit_named(table, options, _named(classes, pair))
            for pair, table in seen.pairs.items()
            if enough(table, options.least_rows)
        }
        return cls(classes, tuple(PairMap(*pair, one) for pair, one in sorted(found.items())))

    def check(self, node: Node) -> None:
        """Refuse pairs of other classes, or in another order, and second maps of a pair."""
        count = len(self.classes)
        for place, (one, item) in enumerate(zip(self.maps, node.child("pairs").items(), strict=True)):
            item.child("first").whole(0, count - 2)
            item.child("second").whole(one.first + 1, count - 1)
            if one.pair in {other.pair for other in self.maps[:place]}:
                msg = "is the second map of one pair"
                raise item.problem(msg)

    @property
    def pairs(self) -> dict[Pair, Recalibrator]:
        return {one.pair: one.map for one in self.maps}

    @property
    def notes(self) -> tuple[str, ...]:
        count = len(self.classes)
        alone = count * (count - 1) // 2 - len(self.pairs)
        pairs = "1 pair of classes has" if alone == 1 else f"{alone:,} pairs of classes have"
        few = (
            f"{pairs} too few fit rows for a map and {'stays as it is' if alone == 1 else 'stay as they are'}"
        )
        each = notes_of({_named(self.classes, pair): one for pair, one in self.pairs.items()})
        return (few, *each) if alone else each

    def predict(self, probability: Floats) -> Floats:
        """Return recalibrated rows, shape (n, K): 1 / (sum_b 1 / r_ab - (K - 2)), divided by their sum."""
        count = probability.shape[1]
        inverse = np.zeros_like(probability)
        with np.errstate(divide="ignore", over="ignore"):
            for first, second in combinations(range(count), 2):
                share = _share(probability, first, second)
                one = self.pairs.get((first, second))
                ahead = share if one is None else one.predict(share)
                inverse[:, first] += 1.0 / ahead
                inverse[:, second] += 1.0 / (1.0 - ahead)
            result = 1.0 / (inverse - (count - 2.0))
        return summing_to_one(result, probability)


def pair_tables(rows: ClassRowSource, limit: int | None) -> dict[Pair, Table]:
    """Return for each pair the share of its first class in the rows of the two, and whether it was right.

    Args:
        limit: Most distinct shares of all pairs together, as `RunningSlices` has it; None for no limit.
    """
    count = len(rows.classes)
    if count > MOST_CLASSES:
        msg = f"{count:,} classes make {count * (count - 1) // 2:,} pairs"
        raise UsageProblem(msg, "use --multiclass one-vs-rest, which needs a map for each class only")
    weights, total = np.zeros(count), 0
    running = RunningSlices(limit)
    pairs = {(str(first), str(second)): (first, second) for first, second in combinations(range(count), 2)}
    running.registry.places(pairs)
    for block in rows.blocks():
        weights += class_weights(count, block)
        total += block.label.size
        _add(running, block, pairs.values())
    require_several(rows.classes, weights, total)
    return {pairs[first, second]: table for (first, second), table in running.tables().items()}


def _named(classes: tuple[str, ...], pair: Pair) -> str:
    return f"pair {classes[pair[0]]!r} and {classes[pair[1]]!r}"


def _share(probability: Floats, first: int, second: int) -> Floats:
    """Return p_a / (p_a + p_b) of each row, 1/2 where both are 0."""
    one, other = probability[:, first], probability[:, second]
    total = one + other
    some = total > 0.0
    return np.asarray(np.where(some, one / np.where(some, total, 1.0), 0.5))


def _add(running: RunningSlices, block: ClassBlock, pairs: Iterable[Pair]) -> None:
    """Add each row to the pairs that its class is one of."""
    for place, (first, second) in enumerate(pairs):
        rows = np.flatnonzero((block.label == first) | (block.label == second))
        if not rows.size:
            continue
        score = np.clip(_share(block.probability[rows], first, second), 0.0, 1.0)
        running.add_numbered(
            score,
            block.label[rows] == first,
            part=np.full(rows.size, place),
            weighing=block.weighing.of(rows),
        )
