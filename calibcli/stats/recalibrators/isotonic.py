"""Isotonic regression, as it is and with its flat parts drawn together."""

from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import INLINE, Node, OneOf, ascending
from calibcli.names import RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.options.numerals import in_full
from calibcli.stats.recalibrators import FittedBin, Recalibrator, checked_scores
from calibcli.stats.recalibrators.lookup import BinMap, Polyline
from calibcli.stats.recalibrators.pooling import Blocks, entries_to_pool, pooled
from calibcli.stats.table import Floats, ScoreTable
from calibcli.stats.table.again import Rows
from calibcli.stats.table.bins import cut_between, segment_sums
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass


class CurveMap(Recalibrator):
    """A curve that pooling adjacent violators gives."""

    __slots__ = ()
    curve: Polyline | BinMap

    def predict(self, scores: Floats) -> Floats:
        return self.curve.predict(checked_scores(scores))

    @property
    def corners(self) -> Floats:
        return self.curve.corners

    @property
    def notes(self) -> tuple[str, ...]:
        if self.curve.values.min() == self.curve.values.max():
            return ("One level fits best: labels do not rise with the score, and every output is the same.",)
        return ()


def _polyline(left: Floats, right: Floats, levels: Floats) -> Polyline:
    """Return the line through both ends of every block, which may be one."""
    ends = np.column_stack((left, right)).reshape(-1)
    kept = np.concatenate(([True], ends[1:] > ends[:-1]))
    return Polyline(ends[kept], np.repeat(levels, 2)[kept])


@dataclass(frozen=True, slots=True)
class Isotonic(CurveMap):
    """The non-decreasing map with the least squared error on the fit rows (and the least log loss).

    Its blocks depend on the labels, which voids the bounds of fixed bins: there is no guarantee.

    References:
        Zadrozny & Elkan (2002), KDD.
    """

    name: ClassVar = RecalibratorName.ISOTONIC
    curve: Annotated[Polyline | BinMap, OneOf("step", (False, True), (Polyline, BinMap).__getitem__), INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Pool adjacent violators, ties first.

        Args:
            options: With `step` the level changes at the midpoint between neighbouring blocks, on the left
                closed as bins are; otherwise it is interpolated between the ends of blocks.
            rows: The rows behind a grid table: then the fit is that of the exact table, digit for digit.
                Without them a cell counts as one score, its mean.
        """
        entries = entries_to_pool(table, rows=rows)
        blocks = pooled(entries)
        if options.step:
            return cls(_steps(entries, blocks))
        return cls(_polyline(blocks.first, blocks.last, blocks.levels))

    def check(self, node: Node) -> None:
        """Refuse steps that fall."""
        if isinstance(self.curve, BinMap) and not self.curve.increasing:
            ascending(node.child("values").items(), strictly_from=self.curve.values.size)

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """The steps, or None where the map is interpolated."""
        return self.curve.bins if isinstance(self.curve, BinMap) else None


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


@dataclass(frozen=True, slots=True)
class CentredIsotonic(CurveMap):
    """Linear between one point for each block of an isotonic fit: its mean score and its mean label.

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

    name: ClassVar = RecalibratorName.CENTRED_ISOTONIC
    curve: Annotated[Polyline, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Pool adjacent violators, ties first, and place each block at its mean score."""
        del options
        blocks = pooled(entries_to_pool(table, rows=rows))
        certain = (blocks.levels == 0.0) | (blocks.levels == 1.0)
        left = np.where(certain, blocks.first, blocks.middle)
        right = np.where(certain, blocks.last, blocks.middle)
        return cls(_polyline(left, right, blocks.levels))

    def check(self, node: Node) -> None:
        """Refuse points at one level, but for the two ends of a flat part of label 0 or 1 only."""
        levels = node.child("values").items()
        ascending([level for level in levels if 0.0 < level.number() < 1.0])
        for level in (0.0, 1.0):
            same = [item for item in levels if item.number() == level]
            if len(same) > 2:
                msg = f"is {in_full(level)} like the two before it, where a flat end has two points"
                raise same[2].problem(msg)
