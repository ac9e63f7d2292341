"""Scaling-binning: a fit, then the mean of its outputs in equal-mass bins."""

from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import INLINE, Node, OneOf
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Binning, Purpose, RecalibratorName, Split
from calibcli.options.fitting import BASES, DEFAULT_FIT, FitOptions
from calibcli.stats.bounds.proportion import clopper_pearson
from calibcli.stats.numerics import first_number, numbers_at, ordinals_of, stream
from calibcli.stats.recalibrators import (
    FittedBin,
    Recalibrator,
    fit_recalibrator,
    recalibrator_class,
    require_both_labels,
)
from calibcli.stats.recalibrators.logits import Quadratic
from calibcli.stats.recalibrators.lookup import BinMap
from calibcli.stats.recalibrators.newton import logistic
from calibcli.stats.recalibrators.smooth import Smooth
from calibcli.stats.recalibrators.spline import Spline, turning_points
from calibcli.stats.table import Floats, Integers, ScoreTable
from calibcli.stats.table.again import Rows
from calibcli.stats.table.bins import Bins, bin_index, binned, equal_mass_edges
from calibcli.stats.table.derived import split_table, with_scores
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class ScalingBinning(Recalibrator):
    """A map whose outputs are replaced by their mean in each of a few bins.

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
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Fit the base, cut its outputs into bins of equal mass, average them in each.

        Args:
            options: The base and what it reads, most bins (ties can make them fewer), and the split: `none`
                lets each step see all rows, as the authors' code does; `three-way` gives each step a third
                of its own, drawn with the seed, as their theorem asks.
            rows: The rows behind a grid table, for the base.
        """
        require_both_labels(table)
        if options.base is RecalibratorName.SMOOTH and options.randomised:
            msg = "scaling-binning cannot bin randomised outputs"
            raise UsageProblem(msg, "leave out --randomised")
        fit_rows, cut_rows, mean_rows = _thirds(table, options)
        base = fit_recalibrator(options.base, fit_rows, options=options, rows=rows)
        cut = with_scores(cut_rows, base.predict(cut_rows.score))
        edges = equal_mass_edges(cut, options.bins)
        same = mean_rows is cut_rows
        means = _means(cut if same else with_scores(mean_rows, base.predict(mean_rows.score)), edges)
        return cls(base, options.split, means)

    def check(self, node: Node) -> None:
        """Refuse a base whose output is drawn."""
        if self.base.drawn:
            msg = "is randomised, which the base of scaling-binning cannot be"
            raise node.child("base_parameters").problem(msg)

    def predict(self, scores: Floats) -> Floats:
        """Return the value of the bin that the base's output falls in."""
        return self.table.predict(self.base.predict(scores))

    @property
    def increasing(self) -> bool:
        return self.base.increasing and self.table.increasing

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """The bins one by one; edges in units of the base's output."""
        return self.table.bins

    @property
    def corners(self) -> Floats:
        """Scores on both sides of every step."""
        starts, _ = self.steps
        return np.concatenate((starts, np.nextafter(starts[1:], 0.0)))

    @property
    def steps(self) -> tuple[Floats, Floats]:
        """Where each interval of scores with one output begins, and the output.

        Found by halving, down to neighbouring numbers, on each part of [0, 1] on which the base is monotone.
        Another machine's logarithm may be one digit off, so that the base would put scores at an edge into
        another bin there; the steps do not.
        """
        ends = ordinals_of(_monotone_between(self.base))
        bins = self._bin_of(numbers_at(ends))
        before, after = bins[:-1], bins[1:]
        # Every edge between the bins of two ends is passed once, in one direction.
        passed = np.abs(after - before)
        place = np.repeat(np.arange(passed.size), passed)
        way = np.arange(place.size) - np.repeat(np.cumsum(passed) - passed, passed)
        edge, rises = np.minimum(before, after)[place] + way, (after > before)[place]
        begins = first_number(
            lambda scores: (self._bin_of(scores) > edge) == rises, ends[place], ends[place + 1]
        )
        starts = numbers_at(np.unique(np.append(begins, ends[0])))
        return starts, self.predict(starts)

    @property
    def notes(self) -> tuple[str, ...]:
        found = list(self.base.notes)
        if self.table.empty:
            found.append(
                f"{self.table.empty:,} of {self.table.values.size:,} bins hold no rows of the last third; "
                "they output their midpoint."
            )
        # Of the same rows the bins were cut to equal counts, which shows nothing about others.
        if self.split is Split.THREE_WAY and self.table.values.size > 1:
            found.append(_balance(self.table.rows))
        return tuple(found)

    def _bin_of(self, scores: Floats) -> Integers:
        return bin_index(self.table.edges, self.base.predict(scores))


def _monotone_between(base: Recalibrator) -> Floats:
    """Return ascending scores from 0 to 1 between which a base rises or falls and does not turn round."""
    match base:
        case Quadratic(slope=slope, bend=bend) if bend:
            inner = logistic(np.array([-slope / (2.0 * bend)]))
        case Spline():
            inner = logistic(turning_points(np.array(base.knots), np.array(base.values)))
        case Smooth(values=values):
            inner = np.linspace(0.0, 1.0, values.size)
        case _:
            inner = np.zeros(0)
    return np.unique(np.concatenate(([0.0], np.clip(inner, 0.0, 1.0), [1.0])))


# Of what is said about the balance of the bins.
_CONFIDENCE = 0.95


def _balance(counts: Integers) -> str:
    """Say whether every bin holds between half and twice its equal share of the rows that are to come.

    The counts are those of rows that had no part in cutting the bins, so that each is binomial. That every
    bin keeps within its limits needs no allowance for their number; that some bin does not needs one.

    References:
        Kumar, Liang & Ma (2019), NeurIPS, Definition 4.2: 2-well-balanced binning.
    """
    rows, bins = float(counts.sum()), counts.size
    least, most, delta = 0.5 / bins, 2.0 / bins, 1.0 - _CONFIDENCE
    held, each = counts.astype(np.float64), np.full(bins, rows)
    lower, upper = clopper_pearson(held, each, delta_each_side=delta)
    asked = f"each of {bins:,} bins holds between half and twice its equal share of rows"
    source = "the guarantee of Kumar, Liang & Ma"
    if np.all((lower >= least) & (upper <= most)):
        return f"{asked.capitalize()} ({100.0 * _CONFIDENCE:g} % confidence), as {source} asks."
    lower, upper = clopper_pearson(held, each, delta_each_side=delta / (2.0 * bins))
    out = np.flatnonzero((lower > most) | (upper < least))
    if not out.size:
        return f"{rows:,.0f} rows do not settle whether {asked}, as {source} asks."
    worst = int(out[np.abs(np.log(np.maximum(held[out], 0.5) / (rows / bins))).argmax()])
    side = "more than twice" if lower[worst] > most else "less than half"
    return (
        f"Bin {worst + 1:,} of {bins:,} holds {side} its equal share of rows ({held[worst] / rows:.2g} of "
        f"them, {100.0 * _CONFIDENCE:g} % confidence), so {source} does not cover this map."
    )


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
