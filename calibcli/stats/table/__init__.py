"""Rows grouped by distinct score: the one thing everything else reads."""

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, NamedTuple, Self, TypeVar, get_args, get_origin

import numpy as np
import numpy.typing as npt

from calibcli.stats.numerics import Booleans as Booleans
from calibcli.stats.numerics import Floats as Floats
from calibcli.stats.numerics import Indices as Indices
from calibcli.stats.numerics import Integers as Integers
from calibcli.values import dataclass, fields

Scalar = TypeVar("Scalar", bound=np.generic)

# Whole numbers of any size.
Whole = npt.NDArray[np.signedinteger[Any]]


class Weighing(NamedTuple):
    """What rows count for: for as many as `counts` says, or by importance weights; without either once."""

    counts: Integers | None = None
    weight: Floats | None = None

    def of(self, which: slice | npt.NDArray[Any]) -> "Weighing":
        """Return that of some of the rows."""
        counts, weight = self
        return Weighing(None if counts is None else counts[which], None if weight is None else weight[which])

    @property
    def is_once(self) -> bool:
        """Whether each row counts once."""
        return self.counts is None and self.weight is None

    def times(self, rows: int) -> Integers:
        """Return as how many rows each of so many counts, shape (n,): 1 with an importance weight."""
        return np.ones(rows, np.int64) if self.counts is None else self.counts

    def number(self, which: Booleans) -> int:
        """Return as how many rows some of them count."""
        return int(np.count_nonzero(which) if self.counts is None else self.counts[which].sum())


ONCE = Weighing()


class Arrays:
    """A frozen data class that holds private, read-only copies of its arrays, also in another process.

    Arrays are the fields that are declared as `Floats` or `Integers`. Values of one class are equal where
    their fields are.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        cls: Any = type(self)
        for name, kind in _arrays_of(cls):
            object.__setattr__(self, name, frozen(getattr(self, name), kind))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        both = ((getattr(self, one.name), getattr(other, one.name)) for one in fields(self))  # type: ignore[arg-type]
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in both)

    __hash__ = None  # type: ignore[assignment]

    # A pickle is made anew from its fields: arrays alone would come back as ones that can be written to.
    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), tuple(getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]


@cache
def _arrays_of(cls: Any) -> tuple[tuple[str, type[np.generic]], ...]:  # noqa: ANN401 - a data class
    kinds: dict[object, type[np.generic]] = {Floats: np.float64, Integers: np.int64}
    declared = ((one.name, one.type) for one in fields(cls))
    plain = ((name, get_args(kind)[0] if get_origin(kind) is Annotated else kind) for name, kind in declared)
    return tuple((name, kinds[kind]) for name, kind in plain if kind in kinds)


@dataclass(frozen=True, slots=True, eq=False)
class WeightColumns(Arrays):
    """Sums of importance weights, over all rows and those with label 1, each of shape (n_distinct,).

    The squares are what a variance needs: two tables with the same weight and positive weight can differ
    in the variance of their residual sum.
    """

    weight: Floats
    positive: Floats
    weight_sq: Floats
    positive_sq: Floats

    @property
    def columns(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The four columns in the order of the constructor."""
        return self.weight, self.positive, self.weight_sq, self.positive_sq


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable(Arrays):
    """Rows grouped by distinct score: exact, whatever the order or the number of files they came from.

    Not sufficient for clustered or time-ordered rows, for a bootstrap with importance weights, or for
    joint multiclass measures.

    Args:
        score: Distinct scores in [0, 1], strictly ascending, shape (n_distinct,). -0.0 becomes 0.0.
        rows: Number of rows at each score. A frequency weight counts as that many rows.
        positive_rows: How many of them have label 1.
        weights: Sums of importance weights, or None where every row counts once.
    """

    score: Floats
    rows: Integers
    positive_rows: Integers
    weights: WeightColumns | None = None

    def __post_init__(self) -> None:
        score = sealed(np.asarray(self.score, dtype=np.float64) + 0.0)
        object.__setattr__(self, "score", score)
        Arrays.__post_init__(self)
        if not (score.shape == self.rows.shape == self.positive_rows.shape):
            msg = "score, rows and positive_rows differ in shape"
            raise ValueError(msg)
        # A NaN compares false, so it fails here too.
        inside = score.size == 0 or (score[0] >= 0.0 and score[-1] <= 1.0)
        if not (inside and bool(np.all(score[1:] > score[:-1]))):
            msg = "scores are not strictly ascending in [0, 1]"
            raise ValueError(msg)
        if np.any(self.positive_rows < 0) or np.any(self.positive_rows > self.rows):
            msg = "positive_rows lies outside 0 .. rows"
            raise ValueError(msg)

    @classmethod
    def empty(cls) -> Self:
        """Return the table of no rows, the unit of `merge`."""
        nothing = np.zeros(0)
        return cls(nothing, nothing.astype(np.int64), nothing.astype(np.int64))

    @classmethod
    def from_rows(
        cls,
        score: Floats,
        label: Booleans,
        weighing: Weighing = ONCE,
    ) -> Self:
        score, label = np.asarray(score, dtype=np.float64), np.asarray(label, dtype=np.bool_)
        counts, weight = weighing
        if weighing.is_once:
            return cls(*_count_unit_rows(score, label))
        order = np.argsort(score, kind="stable")
        value = score[order] + 0.0
        starts = run_starts(value)
        ones = label[order].astype(np.int64)
        number = np.ones(value.size, np.int64) if counts is None else np.asarray(counts, np.int64)[order]
        rows, positive_rows = run_sums(number, starts), run_sums(number * ones, starts)
        if weight is None:
            kept = rows > 0
            return cls(value[starts][kept], rows[kept], positive_rows[kept])
        w = np.asarray(weight, dtype=np.float64)[order]
        sums = (run_sums(column, starts) for column in (w, w * ones, w * w, w * w * ones))
        return cls(value[starts], rows, positive_rows, WeightColumns(*sums))

    @property
    def columns(self) -> tuple[npt.NDArray[np.generic], ...]:
        """Every stored column, for digests."""
        return (self.score, self.rows, self.positive_rows, *(self.weights.columns if self.weights else ()))

    @property
    def kind(self) -> str:
        """The word reports use for this table."""
        return "exact"

    @property
    def resolution(self) -> float:
        """Largest change of a score by rounding: none."""
        return 0.0

    @property
    def distinct(self) -> int:
        return int(self.score.size)

    @property
    def total_rows(self) -> int:
        return int(self.rows.sum())

    @property
    def total_positive_rows(self) -> int:
        return int(self.positive_rows.sum())

    @property
    def weighted(self) -> bool:
        """Whether rows carry importance weights."""
        return self.weights is not None

    @property
    def weight(self) -> Floats:
        """Weight at each score; the number of rows where every row counts once."""
        return self.rows.astype(np.float64) if self.weights is None else self.weights.weight

    @property
    def positive(self) -> Floats:
        """Weight of label 1 at each score."""
        return self.positive_rows.astype(np.float64) if self.weights is None else self.weights.positive

    @property
    def weight_sq(self) -> Floats:
        """Sum of squared weights at each score."""
        return self.rows.astype(np.float64) if self.weights is None else self.weights.weight_sq

    @property
    def positive_sq(self) -> Floats:
        """Sum of squared weights of rows with label 1 at each score."""
        return self.positive_rows.astype(np.float64) if self.weights is None else self.weights.positive_sq

    @property
    def upper(self) -> Floats:
        """What decides the bin of a score: the score."""
        return self.score

    @property
    def score_of_positive(self) -> Floats:
        """Mean score of the rows with label 1 at each distinct score: the score."""
        return self.score

    @property
    def score_of_negative(self) -> Floats:
        """Mean score of the rows with label 0 at each distinct score: the score."""
        return self.score


def merge_all(tables: Iterable[ScoreTable]) -> ScoreTable:
    """Merge tables, sorting once, in the order given, by which importance weights are added."""
    parts = [table for table in tables if table.distinct]
    if not parts:
        return ScoreTable.empty()
    if len(parts) == 1:
        return parts[0]
    if len({part.weighted for part in parts}) > 1:
        msg = "a weighted and an unweighted table cannot be merged"
        raise ValueError(msg)
    score, *columns = zip(*(part.columns for part in parts), strict=True)
    return grouped(np.concatenate(score), (np.concatenate(column) for column in columns))


def grouped(score: Floats, columns: Iterable[npt.NDArray[Any]]) -> ScoreTable:
    """Return the table of entries in any order, whose scores may meet, from its other columns in order."""
    order = np.argsort(score, kind="stable")
    score = score[order]
    starts = run_starts(score)
    rows, positive_rows, *weights = (sealed(run_sums(column[order], starts)) for column in columns)
    return ScoreTable(score[starts], rows, positive_rows, WeightColumns(*weights) if weights else None)


def frozen(column: npt.ArrayLike, kind: type[Scalar]) -> npt.NDArray[Scalar]:
    """Return a private, read-only copy of a column; one that is sealed already serves as it is."""
    if isinstance(column, np.ndarray) and column.dtype == kind:
        array: npt.NDArray[Scalar] = column
        if array.base is None and not array.flags.writeable:
            return array
    copy = np.array(column, dtype=kind, copy=True)
    copy.setflags(write=False)
    return copy


def sealed(column: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Make a column that nobody else holds read-only, so that a table can take it without a copy."""
    column.setflags(write=False)
    return column


def _count_unit_rows(score: Floats, label: Booleans) -> tuple[Floats, Integers, Integers]:
    """Sort (score, label) packed into one integer and count the runs: several times faster than argsort."""
    # Non-negative doubles order as their bit patterns do, and those of [0, 1] leave the top bit free.
    keys = (score + 0.0).view(np.uint64)
    keys <<= np.uint64(1)
    keys |= label.astype(np.uint64)
    keys.sort()
    ones = (keys & np.uint64(1)).astype(np.int64)
    keys >>= np.uint64(1)
    starts = run_starts(keys)
    if starts.size == keys.size:
        return keys.view(np.float64), sealed(np.ones(keys.size, np.int64)), sealed(ones)
    rows = np.diff(starts, append=keys.size).astype(np.int64)
    return keys[starts].view(np.float64), sealed(rows), sealed(run_sums(ones, starts))


def run_starts(values: npt.NDArray[Scalar]) -> Indices:
    """Return where each run of equal values starts."""
    if values.size == 0:
        return np.zeros(0, np.intp)
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))


def run_sums(column: npt.NDArray[Scalar], starts: Indices) -> npt.NDArray[Scalar]:
    return np.add.reduceat(column, starts) if starts.size else column[:0]


def numbered(part: Whole) -> tuple[Integers, Whole]:
    """Return the different ones of some numbers, none below 0, and the place of each among them."""
    if part.max(initial=0) > 4 * part.size:
        parts, place = np.unique(part, return_inverse=True)
        return parts, narrow(place.reshape(-1))
    there = np.zeros(int(part.max(initial=0)) + 1, np.bool_)
    there[part] = True
    return np.flatnonzero(there), narrow(np.cumsum(there) - 1)[part]


def narrow(whole: Whole) -> Whole:
    """Return whole numbers, none below 0, in as few bits as they take."""
    most = int(whole.max(initial=0))
    kind = next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if most <= np.iinfo(kind).max)
    return whole.astype(kind, copy=False)
