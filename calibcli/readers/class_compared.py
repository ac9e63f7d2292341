"""What is gathered of several classes where two sides are compared: the views of each, and differences."""

from dataclasses import dataclass, replace
from typing import Self

from calibcli.measures.classes.differences import ClassDifferences, Predicted
from calibcli.readers.class_aside import ClassAside
from calibcli.readers.class_rows import ClassRows
from calibcli.readers.intake import Rows

# Exact sums of one class take half a MiB, in every fragment that is read at once.
MOST_PAIRED = 20


@dataclass(frozen=True, slots=True)
class ClassesCompared:
    """
    Two sides of the same rows, under construction.

    Args:
        first: The views of every class on the first side, or None where one class is looked at.

        second: Those on the second side.

        differences: Differences of losses, row by row.
    """

    first: ClassAside | None
    second: ClassAside | None
    differences: ClassDifferences

    @classmethod
    def start(cls, classes: tuple[str, ...], *, one_class: str | None, limit: int | None) -> Self:
        """
        Return nothing yet.

        Args:
            classes: What they are called; more than `MOST_PAIRED` are not compared row by row one by one.

            one_class: The class that is looked at, or None for all.

            limit: Most distinct scores of the views of both sides, or None for no limit.
        """
        if one_class is not None:
            return cls(None, None, ClassDifferences((classes.index(one_class),)))
        share = None if limit is None else max(1, limit // 2)
        places = tuple(range(len(classes))) if len(classes) <= MOST_PAIRED else ()
        first, second = (ClassAside.start(classes, limit=share) for _ in range(2))
        return cls(first, second, ClassDifferences(places))

    def add(self, rows: Rows) -> None:
        """Add rows that went through a map of several classes."""
        if rows.before is None:
            return
        whole, given, changed = rows.before.confidence, rows.before.given, rows.before.changed
        if self.first is not None and self.second is not None:
            self.first.add(replace(whole, classes=given))
            self.second.add(replace(whole, classes=changed))
        self.differences.add_rows(
            _predicted(given), _predicted(changed), given.label, counts=whole.counts, weight=whole.weight
        )

    def merge(self, later: Self) -> None:
        """Add the rows of a later part."""
        if self.first is not None and later.first is not None:
            self.first.merge(later.first)
        if self.second is not None and later.second is not None:
            self.second.merge(later.second)
        self.differences.merge(later.differences)


def _predicted(rows: ClassRows) -> Predicted:
    return Predicted(rows.probability, rows.predicted)
