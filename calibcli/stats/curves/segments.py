"""Segments of the rows as points, and those of two columns as a table of cells."""

import numpy as np
import numpy.typing as npt

from calibcli.names import PlotKind
from calibcli.stats.numerics import Floats
from calibcli.stats.table.score_table import Arrays
from calibcli.values import dataclass

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SegmentPoints(Arrays):
    """
    The segments that are tested, shape (n,) each.

    Args:
        bias: Mean score less observed rate.
        lower: Lower end of its interval; all intervals hold at once.
        upper: Upper end.
        stands_out: Whether a segment is shown to be miscalibrated, for all of them at once.
        names: The segments in words.
        listed: Places of those that are named in the picture, worst first.
        confidence: Of all intervals together.
    """

    rows: Floats
    bias: Floats
    lower: Floats
    upper: Floats
    stands_out: Flags
    names: tuple[str, ...]
    listed: tuple[int, ...]
    confidence: float

    kind = PlotKind.SEGMENTS


@dataclass(frozen=True, slots=True, eq=False)
class SegmentCells(Arrays):
    """
    The segments of two columns; arrays of shape (n_down + 1, n_across + 1), all rows last.

    Args:
        across: The name of one column.
        down: The name of the other.
        columns: The levels of the one, in short.
        lines: The levels of the other.
        rows: 0 where there are none.
        bias: Mean score less observed rate; NaN where there are no rows.
        lower: Lower end of its interval, NaN where the segment is not tested; all intervals hold at once.
        upper: Upper end.
        stands_out: Whether a segment is shown to be miscalibrated, for all of them at once.
    """

    across: str
    down: str
    columns: tuple[str, ...]
    lines: tuple[str, ...]
    rows: Floats
    bias: Floats
    lower: Floats
    upper: Floats
    stands_out: Flags
    confidence: float

    kind = PlotKind.HEATMAP

    @property
    def is_tested(self) -> Flags:
        """Which cells have an interval."""
        return ~np.isnan(self.lower)
