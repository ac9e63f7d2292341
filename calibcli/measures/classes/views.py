"""What measures of several classes are computed from: the tables of both views over bins, and joint sums."""

from dataclasses import dataclass

import numpy as np

from calibcli.table.bins import BinnedTable
from calibcli.table.class_sums import ClassSums
from calibcli.table.grid import Table

COLUMNS = (
    "lower",
    "upper",
    "rows",
    "positive_rows",
    "weight",
    "positive",
    "score_sum",
    "residual",
    "residual_sq",
    "weight_sq",
    "variance",
)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """
    The rows as one class sees them.

    Args:
        table: Scores, and whether the class is the right one.

        sums: The table over its bins.
    """

    table: Table
    sums: BinnedTable


@dataclass(frozen=True, slots=True, eq=False)
class ClassViews:
    """
    Rows of several classes, by the views of them.

    Args:
        whole: All rows by their largest probability, and whether that class is the right one.

        rest: All rows by the probability of each class, against the rest.

        top: The rows that predict each class by their largest probability; classes that none does are left
            out.

        joint: Joint sums.

        confidence: Coverage asked of every interval.

    Every class has rows, some of them with weight.
    """

    whole: Table
    rest: tuple[Seen, ...]
    top: tuple[Seen, ...]
    joint: ClassSums
    confidence: float

    @property
    def delta(self) -> float:
        """The error probability of each end of an interval."""
        return (1.0 - self.confidence) / 2.0

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.whole.total_rows


def side_by_side(seen: tuple[Seen, ...]) -> BinnedTable:
    """Return the bins of several classes as those of one table; positions count on from class to class."""
    sums = [one.sums for one in seen]
    sizes = [one.table.distinct for one in seen]
    before = np.cumsum([0, *sizes[:-1]])
    starts = [one.starts[:-1] + offset for one, offset in zip(sums, before, strict=True)]
    columns = {name: np.concatenate([getattr(one, name) for one in sums]) for name in COLUMNS}
    return BinnedTable(bins=sums[0].bins, starts=np.concatenate((*starts, [sum(sizes)])), **columns)
