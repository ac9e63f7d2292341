"""Which values of a picture are told."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibcli.commands.page import MOST, marks_of
from calibcli.names import PlotKind
from calibcli.stats.curves.cumulative import cumulative_curve
from calibcli.stats.curves.reliability import BinnedCurve, ReliabilityCurve
from calibcli.stats.table.score_table import ScoreTable

unit = st.floats(0.0, 1.0)


def bins(scores: list[float]) -> BinnedCurve:
    """Return a bin a score, of rates without intervals."""
    score = np.array(scores)
    none = np.full(score.size, math.nan)
    rows = np.ones(score.size, np.int64)
    return BinnedCurve(score, score, rows, score, 1.0 - score, none, none, "no interval")


@given(st.lists(unit, min_size=1, max_size=120, unique=True).map(sorted))
def test_values_told_are_few_and_reach_both_ends(scores: list[float]) -> None:
    """However many bins there are, at most 25 are told, from left to right, with the first and the last."""
    curve = ReliabilityCurve(PlotKind.BINNED, bins(scores), None, 0.95)
    found = marks_of(curve)
    x = [one.place.x for one in found.marks]
    assert x == sorted(set(x))
    assert len(x) == len(scores) if len(scores) <= MOST else len(x) <= MOST
    assert (x[0], x[-1]) == (scores[0], scores[-1])
    assert all(one.place.y == 1.0 - one.place.x for one in found.marks)


def test_the_cumulative_path_tells_its_extremes() -> None:
    """Lowest and highest value, which the tests are taken from, are told whatever is left out."""
    generator = np.random.default_rng(2)
    score = generator.random(3_000)
    curve = cumulative_curve(ScoreTable.from_rows(score, generator.random(3_000) < score**2))
    y = [one.place.y for one in marks_of(curve).marks]
    assert (min(y), max(y)) == curve.range


def test_a_value_is_said_with_its_names() -> None:
    """The line that is read aloud names every number."""
    found = marks_of(ReliabilityCurve(PlotKind.BINNED, bins([0.25]), None, 0.95))
    assert found.words(found.marks[0]) == (
        "scores 0.2500, rows 1, mean score 0.2500, observed rate 0.7500, interval of the rate none"
    )
