"""Histogram binning: the mean label of each bin of the score."""

import math
from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import INLINE, Among
from calibcli.names import Binning, RecalibratorName, Target
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import (
    Bound,
    FittedBin,
    Guarantee,
    Recalibrator,
    checked_scores,
    require_both_labels,
)
from calibcli.stats.recalibrators.lookup import BinMap
from calibcli.stats.table import Floats
from calibcli.stats.table.again import Rows, split_at
from calibcli.stats.table.bins import Bins, binned, equal_mass_edges, equal_width_edges
from calibcli.stats.table.grid import GridTable, Table
from calibcli.values import dataclass

# What the training guarantee may fail with.
DELTA = 0.05
# The value of a bin without rows; the bounds below hold with it.
EMPTY_VALUE = 0.5
_CUT_FROM_THE_ROWS = (
    " Proved for bins fixed before the rows are drawn; these were cut at quantiles of the fit scores."
)


@dataclass(frozen=True, slots=True)
class Histogram(Recalibrator):
    """The mean label of the fit rows in each bin.

    References:
        Zadrozny & Elkan (2001), ICML.
    """

    name: ClassVar = RecalibratorName.HISTOGRAM
    binning: Annotated[Binning, Among((Binning.EQUAL_MASS, Binning.EQUAL_WIDTH)), "How the bins were cut."]
    weighted: Annotated[bool, "Whether the means were taken with importance weights."]
    table: Annotated[BinMap, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Take the mean label in each bin; a bin without rows gets 1/2.

        Args:
            options: How many bins to cut (ties can make equal-mass bins fewer), and how.
            rows: The rows behind a grid table: then cells that straddle an edge are shared out by their
                rows, and counts are those of the exact table with the same edges. Without them a cell goes
                where its upper edge is.
        """
        require_both_labels(table)
        equal_mass = options.binning is Binning.EQUAL_MASS
        edges = equal_mass_edges(table, options.bins) if equal_mass else equal_width_edges(options.bins)
        if isinstance(table, GridTable) and rows is not None:
            table = split_at(table, edges, rows=rows)
        sums = binned(table, Bins(options.binning, edges))
        occupied = sums.weight > 0.0
        mean = sums.positive / np.where(occupied, sums.weight, 1.0)
        values = np.where(occupied, np.minimum(mean, 1.0), EMPTY_VALUE)
        return cls(options.binning, table.weighted, BinMap(edges, values, sums.rows, sums.positive_rows))

    def predict(self, scores: Floats) -> Floats:
        return self.table.predict(checked_scores(scores))

    @property
    def increasing(self) -> bool:
        return self.table.increasing

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        return self.table.bins

    @property
    def corners(self) -> Floats:
        return self.table.corners

    @property
    def guarantee(self) -> Guarantee | None:
        """What theory promises of the calibration error on new rows; None with importance weights."""
        if self.weighted:
            return None
        rows = sum(self.table.rows.tolist())
        return training_guarantee(self.table.values.size, rows, binning=self.binning)

    @property
    def notes(self) -> tuple[str, ...]:
        found = []
        if self.table.empty:
            bins = self.table.values.size
            found.append(f"{self.table.empty:,} of {bins:,} bins hold no fit rows; they output 1/2.")
        if not self.increasing:
            found.append("The map is not increasing: some higher scores get a lower probability.")
        return tuple(found)


def training_guarantee(bins: int, rows: int, *, binning: Binning) -> Guarantee:
    """Return bounds on the calibration error of histogram binning that hold before any new row is seen.

    References:
        `docs/methods.md`, guarantee of histogram binning, for sqrt(K/(2n)) and its tail. The sharper one uses
        E[1/max(N, 1)] <= 2/((n + 1)p) for a binomial N. The last is McDiarmid's inequality about
        E|mean - rate| <= 1/(2 sqrt(n_k)).
    """
    ratio = bins / rows
    claim = "the expected calibration error on new rows is at most this"
    average = f"On average over the fit rows, {claim}"
    confident = f"With probability {1.0 - DELTA:.0%} over the fit rows"
    fixed = "" if binning is Binning.EQUAL_WIDTH else _CUT_FROM_THE_ROWS
    return Guarantee(
        bins=bins,
        rows=rows,
        delta=DELTA,
        expectation=Bound.of(
            math.sqrt(ratio / 2), Target.POPULATION, statement=f"{average} (sqrt(K / 2n)).{fixed}"
        ),
        expectation_sharper=Bound.of(
            math.sqrt(bins / (2 * (rows + 1))),
            Target.POPULATION,
            statement=f"{average} (sqrt(K / 2(n + 1))).{fixed}",
        ),
        tail=Bound.of(
            math.sqrt(ratio / (2 * DELTA)),
            Target.POPULATION,
            statement=f"{confident}, {claim} (Markov's inequality on its mean square).{fixed}",
        ),
        fixed_design=Bound.of(
            math.sqrt(ratio) / 2 + math.sqrt(math.log(1 / DELTA) / (2 * rows)),
            Target.FIXED_DESIGN,
            statement=f"{confident}' labels given their scores, the calibration error is at most this, "
            "each bin weighing as many rows as the fit had in it.",
        ),
    )
