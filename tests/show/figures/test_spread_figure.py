"""Where the rows lie, below a diagram: every row counts once."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from calibcli.names import AxisScale
from calibcli.show.figures.bars import draw_spread
from calibcli.show.figures.look import look_of
from calibcli.stats.curves.limits import Limits, Spread
from calibcli.stats.table.score_table import ScoreTable


@pytest.mark.parametrize(
    "limits",
    [Limits(), Limits((1e-3, 0.999), (1e-3, 0.999), scale=AxisScale.LOGIT)],
    ids=["scores", "log-odds"],
)
def test_every_row_is_drawn_once(limits: Limits) -> None:
    """Those at 0 and 1, on the outer edges, too; by log-odds they stand at the ends."""
    table = ScoreTable(
        np.array([0.0, 1e-3, 0.3, 0.999, 1.0]), np.array([40, 5, 30, 5, 20]), np.zeros(5, np.int64)
    )
    axes = Figure().add_subplot()
    draw_spread(axes, Spread.of(table), limits=limits, look=look_of())
    heights = axes.patches[0].get_data().values  # type: ignore[attr-defined]
    assert heights.sum() == pytest.approx(1.0)
