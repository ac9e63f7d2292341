"""Centred isotonic regression: an isotonic fit whose flat parts are drawn together to their middles."""

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from calibcli.codec import INLINE, Declared, Node, ascending
from calibcli.names import RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.recalibrators.interface import Continuum, checked_scores
from calibcli.recalibrators.polyline import Polyline, one_level
from calibcli.recalibrators.pooling import entries_to_pool, pooled
from calibcli.table.grid import Table
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats


@dataclass(frozen=True, slots=True)
class CentredIsotonic(Declared, Continuum):
    """
    Linear between one point for each block of an isotonic fit: its mean score and its mean label.

    So the map is strictly increasing from the first of these points to the last, and scores that an
    isotonic fit makes equal keep their order. Outside it is constant, at the level of the isotonic fit. A
    lowest block of label 0 only and a highest one of label 1 only stay flat, with a point at either end: no
    violation made them, and no probability lies beyond their level. Unlike an isotonic fit, this one does
    not keep the mean label of the fit rows.

    References:
        Oron & Flournoy (2017), Centered isotonic regression: point and interval estimation for
        dose-response studies, Stat. Biopharm. Res. 9, 258-267. For levels of 0 and 1 and outside the
        points: the documented defaults of the authors' R package, cir (`cirPAVA`).
    """

    curve: Annotated[Polyline, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions | None = None, rows: Rows | None = None) -> Self:
        """
        Pool adjacent violators, ties first, and place each block at its mean score.

        Args:
            table: The fit rows.

            options: Nothing of them is read.

            rows: The rows behind a grid table: then the fit is that of the exact table, with knots within
                1e-12 (sums of scores are kept by cell). Without them a cell counts as one score, its mean.

        Raises:
            EmptyTable: If there are no rows.

            InputProblem: If there is one label only, or the rows are no longer those of the table.
        """
        del options
        blocks = pooled(entries_to_pool(table, rows=rows))
        certain = (blocks.levels == 0.0) | (blocks.levels == 1.0)
        left = np.where(certain, blocks.first, blocks.middle)
        right = np.where(certain, blocks.last, blocks.middle)
        points = np.column_stack((left, right)).reshape(-1)
        kept = np.concatenate(([True], points[1:] > points[:-1]))
        return cls(Polyline(points[kept], np.repeat(blocks.levels, 2)[kept]))

    def check(self, node: Node) -> None:
        """Refuse points at one level, but for the two ends of a flat part of label 0 or 1 only."""
        levels = node.child("values").items()
        ascending([level for level in levels if 0.0 < level.number() < 1.0])
        for level in (0.0, 1.0):
            same = [item for item in levels if item.number() == level]
            if len(same) > 2:
                msg = f"is {level:g} like the two before it, where a flat end has two points"
                raise same[2].problem(msg)

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score."""
        return self.curve.predict(checked_scores(scores))

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        return RecalibratorName.CENTRED_ISOTONIC

    @property
    def increasing(self) -> bool:
        """Always: that is the method."""
        return True

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        return one_level(self.curve.values)
