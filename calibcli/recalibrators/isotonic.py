"""Isotonic regression: the best non-decreasing fit, found by pooling adjacent violators."""

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from calibcli.codec import INLINE, Declared, Node, OneOf, ascending
from calibcli.names import RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.recalibrators.bin_map import BinMap
from calibcli.recalibrators.interface import FittedBin, Guarantee, checked_scores
from calibcli.recalibrators.polyline import Polyline, one_level
from calibcli.recalibrators.pooling import Blocks, entries_to_pool, pooled
from calibcli.table.bins import cut_between, segment_sums
from calibcli.table.grid import Table
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats, ScoreTable


@dataclass(frozen=True, slots=True)
class Isotonic(Declared):
    """
    The non-decreasing map with the least squared error on the fit rows (and the least log loss).

    References:
        Zadrozny & Elkan (2002), KDD.
    """

    curve: Annotated[Polyline | BinMap, OneOf("step", (False, True), (Polyline, BinMap).__getitem__), INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions | None = None, rows: Rows | None = None) -> Self:
        """
        Pool adjacent violators, ties first.

        Args:
            table: The fit rows.

            options: With `step` the level changes at the midpoint between neighbouring blocks, on the left
                closed as bins are; otherwise it is interpolated between the ends of blocks.

            rows: The rows behind a grid table: then the fit is that of the exact table, digit for digit.
                Without them a cell counts as one score, its mean.

        Raises:
            EmptyTable: If there are no rows.

            InputProblem: If there is one label only, or the rows are no longer those of the table.
        """
        entries = entries_to_pool(table, rows=rows)
        blocks = pooled(entries)
        if (options or FitOptions()).step:
            return cls(_steps(entries, blocks))
        ends = np.column_stack((blocks.first, blocks.last)).reshape(-1)
        kept = np.concatenate(([True], ends[1:] > ends[:-1]))
        return cls(Polyline(ends[kept], np.repeat(blocks.levels, 2)[kept]))

    def check(self, node: Node) -> None:
        """Refuse steps that fall."""
        if isinstance(self.curve, BinMap) and not self.curve.increasing:
            ascending(node.child("values").items(), strictly_from=self.curve.values.size)

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score."""
        return self.curve.predict(checked_scores(scores))

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        return RecalibratorName.ISOTONIC

    @property
    def increasing(self) -> bool:
        """Always: that is the method."""
        return True

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """The steps, or None where the map is interpolated."""
        return self.curve.bins if isinstance(self.curve, BinMap) else None

    @property
    def guarantee(self) -> Guarantee | None:
        """None: blocks depend on the labels, which voids the bounds of fixed bins."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        return one_level(self.curve.values)


def _steps(entries: ScoreTable, blocks: Blocks) -> BinMap:
    """Cut half way between the last score of a block and the first of the next."""
    cuts = cut_between(blocks.last[:-1], blocks.first[1:])
    starts = np.concatenate(([0], np.searchsorted(entries.score, cuts, side="right"), [entries.distinct]))
    return BinMap(
        np.concatenate(([0.0], cuts, [1.0])),
        blocks.levels,
        segment_sums(entries.rows, starts),
        segment_sums(entries.positive_rows, starts),
    )
