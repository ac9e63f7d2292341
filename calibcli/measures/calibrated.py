"""Every statistic for labels drawn anew from the scores: the null references and Monte-Carlo p-values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.bounds.resampling import DrawCells, calibrated_positives, draw_cells
from calibcli.measures.cumulative import excursions
from calibcli.measures.if_calibrated import Reference
from calibcli.measures.null_smece import expected_smece
from calibcli.table.bins import Bins, Partition, binned, segment_sums
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

DRAWS = 999
_MOST_GAPS = 1_024
# Draws worked on at once: those of a thousand cells stay in the processor's cache.
_AT_ONCE = 64


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedDraws:
    """
    Statistics of labels drawn from the scores, one array of shape (draws,) each.

    Args:
        partitions: The partitions that `ece` and `t` speak of.

        ece: Binned ECE, one array per partition.

        t: The debiased squared l2 error T, one array per partition.

        ks: Kolmogorov-Smirnov statistic, or None where cells were coarsened or every score is 0 or 1.

        kuiper: Kuiper statistic, or None where KS is.

        spiegelhalter: |Z|, or None where cells were coarsened or Z is undefined.

        gaps: Sum of label - score in every bin, shape (draws, n_bins) for each partition; no columns for
            one of more than 1,024 bins.

        smece: The smECE that such labels have on average, and its range.

        method: The words reports use for how the labels were drawn.
    """

    partitions: tuple[Bins, ...]
    ece: tuple[Floats, ...]
    t: tuple[Floats, ...]
    gaps: tuple[Floats, ...]
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

    def gaps_of(self, bins: Bins) -> Floats | None:
        """Return the draws of every bin's sum of label - score, or None where there are too many bins."""
        gaps = self.gaps[self.partitions.index(bins)]
        return gaps if gaps.shape[1] else None


def p_value(drawn: Floats, observed: float) -> float:
    """Return (1 + number of draws at least as large) / (draws + 1): exact under the hypothesis."""
    # Draws equal to the observation up to rounding count as equal.
    least = observed - 1e-12 * max(1.0, abs(observed))
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
    cells = draw_cells(table, starts)
    segments = [cells.segments(part) for part in starts]
    blocks = [
        _statistics(block[start : start + _AT_ONCE], cells, segments)
        for block in calibrated_positives(cells, draws=draws, generator=generator)
        for start in range(0, len(block), _AT_ONCE)
    ]
    columns = [np.concatenate(column) for column in zip(*blocks, strict=True)]
    count = len(partitions)
    cumulative = columns[3 * count :] if not cells.coarsened else [None, None, None]
    variance = cells.rows * cells.score * (1 - cells.score)
    spread = float((variance * (1 - 2 * cells.score) ** 2).sum())
    certain = not np.any(variance > 0)
    return CalibratedDraws(
        partitions=tuple(one.bins for one in sums),
        ece=tuple(columns[:count]),
        t=tuple(columns[count : 2 * count]),
        gaps=tuple(columns[2 * count : 3 * count]),
        ks=None if certain else cumulative[0],
        kuiper=None if certain else cumulative[1],
        spiegelhalter=cumulative[2] if spread > 0 else None,
        smece=expected_smece(table, generator=smece_generator),
        method=cells.method,
    )


def _statistics(
    positives: Floats, cells: DrawCells, segments: Sequence[npt.NDArray[np.intp]]
) -> list[Floats]:
    """Return for a block of draws: ECE, T and gaps per partition, and KS, Kuiper, |Z| unless coarsened."""
    rows = cells.rows.astype(np.float64)
    residual = positives - rows * cells.score
    squares = positives * (1.0 - 2.0 * cells.score) + rows * cells.score**2
    total = rows.sum()
    ece, t, kept = [], [], []
    for starts in segments:
        gaps = segment_sums(residual, starts)
        ece.append(np.abs(gaps).sum(axis=1) / total)
        count = segment_sums(rows, starts)
        two = count >= 2
        excess = gaps[:, two] ** 2 - segment_sums(squares, starts)[:, two]
        t.append((excess / (count[two] - 1.0)).sum(axis=1) / total)
        kept.append(gaps if count.size <= _MOST_GAPS else gaps[:, :0].copy())
    if cells.coarsened:
        return [*ece, *t, *kept]
    variance = rows * cells.score * (1.0 - cells.score)
    # With every score 0 or 1 nothing varies, and a path of zeros stays zero in any unit.
    largest, span = excursions(residual, float(variance.sum()) or 1.0)
    tilt = 1.0 - 2.0 * cells.score
    spread = float((variance * tilt**2).sum())
    z = np.abs(residual @ tilt) / np.sqrt(spread) if spread > 0 else np.zeros(len(positives))
    return [*ece, *t, *kept, largest, span, z]
