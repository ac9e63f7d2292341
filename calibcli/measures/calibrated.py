"""Every statistic for labels drawn anew from the scores: the null references and Monte-Carlo p-values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibcli.bounds.resampling import DrawCells, DrawnLabels, Starts, label_draws
from calibcli.measures.if_calibrated import Reference
from calibcli.measures.null_smece import expected_smece
from calibcli.table.bins import Bins, Partition, binned, segment_sums
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

DRAWS = 999
_MOST_GAPS = 1_024


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedDraws:
    """
    Statistics of labels drawn from the scores, one array of shape (draws,) each.

    Args:
        partitions: The partitions that `ece` and `t` speak of.

        ece: Binned ECE, one array per partition.

        t: The debiased squared l2 error T, one array per partition.

        h: Hosmer and Lemeshow's H, one array per partition.

        ks: Kolmogorov-Smirnov statistic, or None where cells were coarsened or every score is 0 or 1.

        kuiper: Kuiper statistic, or None where KS is.

        spiegelhalter: |Z|, or None where cells were coarsened or Z is undefined.

        gaps: Sum of label - score in every bin, shape (draws, n_bins) for each partition; no columns for
            one of more than 1,024 bins.

        squares: Sum of (label - score)^2 likewise.

        smece: The smECE that such labels have on average, and its range.

        method: The words reports use for how the labels were drawn.
    """

    partitions: tuple[Bins, ...]
    ece: tuple[Floats, ...]
    t: tuple[Floats, ...]
    h: tuple[Floats, ...]
    gaps: tuple[Floats, ...]
    squares: tuple[Floats, ...]
    ks: Floats | None
    kuiper: Floats | None
    spiegelhalter: Floats | None
    smece: Reference
    method: str

    def ece_of(self, bins: Bins) -> Floats:
        """Return the draws of the binned ECE over a partition."""
        return self.ece[self.partitions.index(bins)]

    def t_of(self, bins: Bins) -> Floats:
        """Return the draws of T over a partition."""
        return self.t[self.partitions.index(bins)]

    def h_of(self, bins: Bins) -> Floats:
        """Return the draws of H over a partition."""
        return self.h[self.partitions.index(bins)]

    def gaps_of(self, bins: Bins) -> Floats | None:
        """Return the draws of every bin's sum of label - score, or None where there are too many bins."""
        gaps = self.gaps[self.partitions.index(bins)]
        return gaps if gaps.shape[1] else None

    def squares_of(self, bins: Bins) -> Floats | None:
        """Return the draws of every bin's sum of (label - score)^2, or None where there are too many bins."""
        squares = self.squares[self.partitions.index(bins)]
        return squares if squares.shape[1] else None


def p_value(drawn: Floats, observed: float) -> float:
    """Return (1 + number of draws at least as large) / (draws + 1): exact under the hypothesis."""
    # Draws equal to the observation up to rounding count as equal: in units of what is usual, however small.
    usual = max(abs(observed), float(np.abs(drawn).mean()))
    least = observed - (1e-9 * usual if math.isfinite(usual) else 0.0)
    return (1 + int(np.count_nonzero(drawn >= least))) / (drawn.size + 1)


def draw_calibrated(
    table: Table,
    *,
    partitions: Sequence[Partition],
    generator: np.random.Generator,
    smece_generator: np.random.Generator,
    draws: int = DRAWS,
) -> CalibratedDraws:
    """
    Draw labels from the scores and take every statistic of each draw.

    Args:
        table: The rows, unweighted.

        partitions: Partitions to take the binned statistics over, or sums over them.

        generator: Source of randomness for the binned and cumulative statistics.

        smece_generator: Source of randomness for smECE.

        draws: Number of draws.
    """
    sums = [binned(table, bins) for bins in partitions]
    starts = [one.starts for one in sums]
    labels = label_draws(table, starts, draws=draws, generator=generator)
    cells = labels.cells
    segments = [cells.segments(part) for part in starts]
    blocks = [_statistics(block, cells, segments) for block in labels.blocks]
    columns = [np.concatenate(column) for column in zip(*blocks, strict=True)]
    count = len(partitions)
    cumulative = columns[5 * count :] if not cells.coarsened else [None, None, None]
    spread = float((cells.variance * (1 - 2 * cells.score) ** 2).sum())
    certain = not np.any(cells.variance > 0)
    return CalibratedDraws(
        partitions=tuple(one.bins for one in sums),
        ece=tuple(columns[:count]),
        t=tuple(columns[count : 2 * count]),
        h=tuple(columns[2 * count : 3 * count]),
        gaps=tuple(columns[3 * count : 4 * count]),
        squares=tuple(columns[4 * count : 5 * count]),
        ks=None if certain else cumulative[0],
        kuiper=None if certain else cumulative[1],
        spiegelhalter=cumulative[2] if spread > 0 else None,
        smece=expected_smece(table, generator=smece_generator),
        method=cells.method,
    )


def _statistics(labels: DrawnLabels, cells: DrawCells, segments: Sequence[Starts]) -> list[Floats]:
    """Return ECE, T, H, gaps, squares per partition of a block; KS, Kuiper, |Z| unless coarsened."""
    rows = cells.rows.astype(np.float64)
    total = rows.sum()
    ece, t, h, kept, kept_squares = [], [], [], [], []
    for starts in segments:
        gaps, squares = labels.residuals(starts), labels.squares(starts)
        ece.append(np.abs(gaps).sum(axis=1) / total)
        count = segment_sums(rows, starts)
        two = count >= 2
        excess = gaps[:, two] ** 2 - squares[:, two]
        t.append((excess / (count[two] - 1.0)).sum(axis=1) / total)
        variance = segment_sums(cells.variance, starts)
        some = variance > 0.0
        # A score next to 0 or 1 leaves hardly any variance: one that is wrong can pass the largest double.
        with np.errstate(over="ignore"):
            h.append((gaps[:, some] ** 2 / variance[some]).sum(axis=1))
        few = count.size <= _MOST_GAPS
        kept.append(gaps if few else gaps[:, :0].copy())
        kept_squares.append(squares if few else squares[:, :0].copy())
    if cells.coarsened:
        return [*ece, *t, *h, *kept, *kept_squares]
    # With every score 0 or 1 nothing varies, and a path of zeros stays zero in any unit.
    scale = math.sqrt(float(cells.variance.sum()) or 1.0)
    top, bottom = labels.extremes()
    tilted = labels.tilted()
    spread = float((cells.variance * (1.0 - 2.0 * cells.score) ** 2).sum())
    z = np.abs(tilted) / np.sqrt(spread) if spread > 0 else np.zeros(tilted.size)
    return [*ece, *t, *h, *kept, *kept_squares, np.maximum(top, -bottom) / scale, (top - bottom) / scale, z]
