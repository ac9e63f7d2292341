"""Bars of few small scores are laid out by log-odds, as their pictures are."""

import math
from itertools import pairwise

import numpy as np
import pytest

from calibcli.names import PlotKind
from calibcli.show.blocks import Bar
from calibcli.show.pages.measure import reliability_grid
from calibcli.show.terminal import UNICODE, axis, drawn
from calibcli.stats.curves.reliability import ReliabilityCurve, binned_curve
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, binned

TICKS = (1e-4, 1e-3, 0.01, 0.1, 0.5)


def bars_of(score: list[float]) -> list[Bar]:
    rows = np.full(len(score), 1_000)
    table = ScoreTable(np.array(score), rows, np.round(rows * np.array(score)).astype(int))
    curve = ReliabilityCurve(PlotKind.BINNED, binned_curve(table, bins=binned(table, ATOMS)), None, 0.95)
    (grid,) = reliability_grid(curve)
    return [row[-1] for row in grid.rows if isinstance(row[-1], Bar)]


def test_small_scores_have_ticks_around_them_and_others_none() -> None:
    """From the power of ten below the least score on."""
    assert bars_of([0.0003, 0.004, 0.02, 0.09])[0].ticks == (1e-4, 1e-3, 0.01, 0.1)
    assert bars_of([0.02, 0.03])[0].ticks == (0.01, 0.1)
    assert all(not bar.ticks for bar in bars_of([0.1, 0.5, 0.9]))


@pytest.mark.parametrize("width", [21, 41])
def test_marks_stand_below_their_ticks(width: int) -> None:
    """Equal steps of log-odds are equally wide; what is beyond an end stands there."""
    heading = axis(width, TICKS)
    # Where room is scarce some have no name.
    named = [tick for tick in TICKS[:-1] if f"{tick:g}" in heading.split()]
    assert len(named) >= 2
    for tick in named:
        place = drawn(Bar(tick, tick, math.nan, math.nan, TICKS), width=width, marks=UNICODE).index("◉")
        assert heading[place:].startswith(f"{tick:g}"), heading
    zero = drawn(Bar(0.001, 0.0, 0.0, 0.9, TICKS), width=width, marks=UNICODE)
    assert zero[0] == UNICODE.rate
    assert len(zero) == width
    places = [
        drawn(Bar(one, one, math.nan, math.nan, TICKS), width=width, marks=UNICODE).index("◉")
        for one in np.geomspace(1e-4, 0.5, 30)
    ]
    assert all(one <= other for one, other in pairwise(places))
