"""Where scores are shown to be too low or too high."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.stats.bounds.proportion import rate_bounds
from calibcli.stats.curves.reliability import BinnedCurve
from calibcli.stats.curves.stretches import Stretch, stretches

EDGES = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])


def curve(rows: Any, score: Any, positive: Any, *, banded: bool = True) -> BinnedCurve:
    """Return five bins of equal width, those with rows."""
    rows = np.array(rows)
    some = rows > 0
    gap = np.full(int(some.sum()), 0.0 if banded else math.nan)
    rate = np.array(positive)[some] / rows[some]
    return BinnedCurve(
        EDGES[:-1][some], EDGES[1:][some], rows[some], np.array(score)[some], rate, gap, gap, "none"
    )


MIDDLES = [0.1, 0.3, 0.5, 0.7, 0.9]


@pytest.mark.parametrize(
    ("positive", "expected"),
    [
        ([100, 300, 500, 700, 900], ()),
        ([250, 400, 500, 600, 750], (Stretch(True, None, 0.4), Stretch(False, 0.6, None))),
        ([250, 450, 650, 850, 990], (Stretch(True, None, None),)),
        ([100, 300, 700, 700, 900], (Stretch(True, 0.4, 0.6),)),
        (
            [20, 300, 700, 500, 900],
            (Stretch(False, None, 0.2), Stretch(True, 0.4, 0.6), Stretch(False, 0.6, 0.8)),
        ),
    ],
)
def test_bins_that_err_alike_are_put_together(positive: list[int], expected: tuple[Stretch, ...]) -> None:
    """Up to the ends of the scale only where next to no rows lie beyond what is shown."""
    assert stretches(curve([1_000] * 5, MIDDLES, positive), confidence=0.95) == expected


def test_rows_without_bounds_show_nothing() -> None:
    """Weighted and dependent rows have no band, and whatever they look like nothing is read off it."""
    assert not stretches(curve([1_000] * 5, MIDDLES, [900] * 5, banded=False), confidence=0.95)


COUNTS = st.lists(st.integers(1, 400), min_size=5, max_size=5)


@given(COUNTS, st.data())
def test_every_stretch_is_true_within_the_band(rows: list[int], data: st.DataObject) -> None:
    """Whatever rates the simultaneous band allows, each stretch errs in total in the way that is said."""
    positive = [data.draw(st.integers(0, count)) for count in rows]
    found = stretches(curve(rows, MIDDLES, positive), confidence=0.95)
    counts = np.array(rows, np.float64)
    lower, upper = rate_bounds(np.array(positive, np.float64), counts, delta_each_side=0.05 / 10)
    for one in found:
        first = 0.0 if one.lower is None else one.lower
        last = 1.0 if one.upper is None else one.upper
        inside = (EDGES[:-1] >= first) & (EDGES[1:] <= last)
        worst = lower if one.too_low else upper
        total = float((counts * (worst - np.array(MIDDLES)))[inside].sum())
        assert total > 0.0 if one.too_low else total < 0.0
    assert all(one.too_low != another.too_low for one, another in pairwise(found))
