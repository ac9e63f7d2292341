"""Scaling-binning: a smooth fit, then the mean of its outputs in equal-mass bins."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calibcli.documents import Node
from calibcli.errors import InputProblem
from calibcli.names import Binning, RecalibratorName, Split
from calibcli.recalibrators.bin_map import BinMap
from calibcli.recalibrators.interface import FittedBin, require_both_labels
from calibcli.recalibrators.options import FitOptions
from calibcli.recalibrators.platt import Platt
from calibcli.table.bins import Bins, binned, equal_mass_edges
from calibcli.table.grid import Table
from calibcli.table.moved import with_scores
from calibcli.table.resample import split_table
from calibcli.table.score_table import Floats, ScoreTable


@dataclass(frozen=True, slots=True)
class ScalingBinning:
    """
    A Platt fit whose outputs are replaced by their mean in each of a few bins.

    The output is discrete, so its true calibration error can be bounded, and yet the values are averages
    of a smooth fit and hence less noisy than mean labels.

    Args:
        base: The smooth fit.

        split: Whether all three steps saw the same rows.

        table: Bins of the base's output.

    References:
        Kumar, Liang & Ma (2019), NeurIPS, section 4.
    """

    base: Platt
    split: Split
    table: BinMap

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions, generator: np.random.Generator | None = None) -> Self:
        """
        Fit the base, cut its outputs into bins of equal mass, average them in each.

        Args:
            table: The fit rows. A cell of a grid table moves as one.

            options: Most bins (ties can make them fewer), the loss and targets of the base, and the split:
                `none` lets each step see all rows, as the authors' code does; `three-way` gives each step
                a third of its own, as their theorem asks.

            generator: Draws the thirds; needed for `three-way` only.

        Raises:
            EmptyTable: If there are no rows.

            InputProblem: If the rows of the first step have one label or one score only.

            UsageProblem: If a split is asked of a grid table or of importance weights.
        """
        require_both_labels(table)
        fit_rows, cut_rows, mean_rows = _thirds(table, options.split, generator=generator)
        base = Platt.fit(fit_rows, loss=options.loss, smooth_targets=options.smooth_targets)
        cut = with_scores(cut_rows, base.predict(cut_rows.score))
        edges = equal_mass_edges(cut, options.bins)
        means = _means(with_scores(mean_rows, base.predict(mean_rows.score)), edges)
        return cls(base, options.split, means)

    @classmethod
    def from_dict(cls, parameters: Node) -> Self:
        """
        Restore what `to_dict` returned.

        Raises:
            DocumentProblem: If that cannot be, with the place.
        """
        parameters.only("base", "base_parameters", "split", "edges", "values", "rows", "positive")
        base = parameters.child("base")
        if base.choice(RecalibratorName) is not RecalibratorName.PLATT:
            msg = "should be 'platt', the only base there is"
            raise base.problem(msg)
        split = parameters.child("split").choice(Split)
        return cls(Platt.from_dict(parameters.child("base_parameters")), split, BinMap.from_dict(parameters))

    def to_dict(self) -> dict[str, object]:
        """Return the state in plain values."""
        return {
            "base": self.base.name.value,
            "base_parameters": self.base.to_dict(),
            "split": self.split.value,
            **self.table.to_dict(),
        }

    def predict(self, scores: Floats) -> Floats:
        """Return the value of the bin that the base's output falls in."""
        return self.table.predict(self.base.predict(scores))

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        return RecalibratorName.SCALING_BINNING

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability."""
        return self.base.increasing and self.table.increasing

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """The bins one by one; edges in units of the base's output."""
        return self.table.bins

    @property
    def guarantee(self) -> dict[str, object] | None:
        """None: the theorem's constant is not specified."""
        return None

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


def _thirds(
    table: Table, split: Split, *, generator: np.random.Generator | None
) -> tuple[Table, Table, Table]:
    """Return the rows that each of the three steps sees."""
    if split is Split.NONE:
        return table, table, table
    if generator is None:
        msg = "a three-way split needs a generator"
        raise ValueError(msg)
    if table.total_rows < 6:
        msg = f"a three-way split needs 6 rows or more, and there are {table.total_rows}"
        raise InputProblem(msg, "use --split none")
    first, second, third = split_table(table, 3, generator=generator)
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
