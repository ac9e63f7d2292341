"""Scaling-binning: a fit, then the mean of its outputs in equal-mass bins."""

from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import INLINE, Declared, Node, OneOf
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Binning, Purpose, RecalibratorName, Split
from calibcli.options.fitting import BASES, FitOptions
from calibcli.stats.numerics import stream
from calibcli.stats.recalibrators.family import fit_as, recalibrator_class
from calibcli.stats.recalibrators.interface import (
    FittedBin,
    FittedMap,
    Randomised,
    Recalibrator,
    require_both_labels,
)
from calibcli.stats.recalibrators.lookup import BinMap
from calibcli.stats.table.again import Rows
from calibcli.stats.table.bins import Bins, binned, equal_mass_edges
from calibcli.stats.table.derived import split_table, with_scores
from calibcli.stats.table.grid import Table
from calibcli.stats.table.score_table import Floats, ScoreTable
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class ScalingBinning(Declared, FittedMap):
    """
    A map whose outputs are replaced by their mean in each of a few bins.

    The output is discrete, so its true calibration error can be bounded, and yet the values are averages
    of a smooth fit and hence less noisy than mean labels.

    References:
        Kumar, Liang & Ma (2019), NeurIPS, section 4.
    """

    name: ClassVar = RecalibratorName.SCALING_BINNING
    base: Annotated[Recalibrator, OneOf("base", BASES, recalibrator_class, "base_parameters"), INLINE]
    split: Annotated[Split, "Whether all three steps saw the same rows."]
    table: Annotated[BinMap, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions | None = None, rows: Rows | None = None) -> Self:
        """
        Fit the base, cut its outputs into bins of equal mass, average them in each.

        Args:
            table: The fit rows. A cell of a grid table moves as one.
            options: The base and what it reads, most bins (ties can make them fewer), and the split: `none`
                lets each step see all rows, as the authors' code does; `three-way` gives each step a third
                of its own, drawn with the seed, as their theorem asks.
            rows: The rows behind a grid table, for the base.
        """
        require_both_labels(table)
        options = options or FitOptions()
        if options.base is RecalibratorName.SMOOTH and options.randomised:
            msg = "scaling-binning cannot bin randomised outputs"
            raise UsageProblem(msg, "leave out --randomised")
        fit_rows, cut_rows, mean_rows = _thirds(table, options)
        chosen = recalibrator_class(options.base)
        base = fit_as(chosen, fit_rows, name=options.base, options=options, rows=rows)
        cut = with_scores(cut_rows, base.predict(cut_rows.score))
        edges = equal_mass_edges(cut, options.bins)
        same = mean_rows is cut_rows
        means = _means(cut if same else with_scores(mean_rows, base.predict(mean_rows.score)), edges)
        return cls(base, options.split, means)

    def check(self, node: Node) -> None:
        """Refuse a base whose output is drawn."""
        if isinstance(self.base, Randomised) and self.base.randomised:
            msg = "is randomised, which the base of scaling-binning cannot be"
            raise node.child("base_parameters").problem(msg)

    def predict(self, scores: Floats) -> Floats:
        """Return the value of the bin that the base's output falls in."""
        return self.table.predict(self.base.predict(scores))

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability."""
        return self.base.increasing and self.table.increasing

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """The bins one by one; edges in units of the base's output."""
        return self.table.bins

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        if not self.table.empty:
            return self.base.notes
        empty = (
            f"{self.table.empty:,} of {self.table.values.size:,} bins hold no rows of the last third; "
            "they output their midpoint."
        )
        return (*self.base.notes, empty)


def _thirds(table: Table, options: FitOptions) -> tuple[Table, Table, Table]:
    """Return the rows that each of the three steps sees."""
    if options.split is Split.NONE:
        return table, table, table
    if table.total_rows < 6:
        msg = f"a three-way split needs 6 rows or more, and there are {table.total_rows}"
        raise InputProblem(msg, "use --split none")
    first, second, third = split_table(table, 3, generator=stream(options.seed, Purpose.SPLIT))
    return first, second, third


def _means(outputs: ScoreTable, edges: Floats) -> BinMap:
    """Return the mean output in each bin; a bin without weight gets its midpoint."""
    sums = binned(outputs, Bins(Binning.EQUAL_MASS, edges))
    occupied = sums.weight > 0.0
    mean = sums.score_sum / np.where(occupied, sums.weight, 1.0)
    values = np.where(occupied, mean, (edges[:-1] + edges[1:]) / 2)
    # A mean of doubles may round past the largest of them.
    values = np.clip(values, edges[:-1], edges[1:])
    return BinMap(edges, values, sums.rows, sums.positive_rows)
