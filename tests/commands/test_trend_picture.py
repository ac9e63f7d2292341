"""The picture of groups in their order: every point is that of the rows, in the order that names have."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import calibcli
from calibcli.commands.pictures.diagram import Diagram, PlotRequest
from calibcli.commands.plot import diagram_of
from calibcli.names import FigureSize, PlotKind, WeightMeaning
from calibcli.options.measuring import MeasureOptions
from calibcli.options.rows import Columns
from calibcli.show.figures import figure_of
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words
from calibcli.stats.curves.segments import SegmentPoints, TrendCurve

BY = Columns("pd", "default", by=("month",))
MONTHS = [f"2024-{number}" for number in range(1, 13)]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return twelve months, whose scores are too low from the tenth on and too high in the first."""
    rng = np.random.default_rng(8)
    rows = 12 * 400 + 30
    month = np.repeat([*MONTHS, "2025-1"], [*([400] * 12), 30])
    score = rng.uniform(0.05, 0.3, rows)
    factor = np.select([month == "2024-1", np.isin(month, MONTHS[9:])], [0.2, 2.0], 1.0)
    return pd.DataFrame({"month": month, "pd": score, "default": (rng.random(rows) < factor * score) * 1})


@pytest.fixture(scope="module")
def rows(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return them shuffled in a file."""
    path = tmp_path_factory.mktemp("trend") / "rows.csv"
    frame.sample(frac=1.0, random_state=2).to_csv(path, index=False)
    return str(path)


def drawn(rows: str, columns: Columns = BY, **options: object) -> Diagram:
    return diagram_of(PlotRequest([rows], columns, kind=PlotKind.TREND, options=MeasureOptions(**options)))


def test_points_are_those_of_the_rows_in_order(rows: str, frame: pd.DataFrame) -> None:
    """Rates by pandas, intervals as `measure --by` has them, October after September."""
    found = drawn(rows)
    curve = found.drawn.picture
    assert list(curve.names) == MONTHS
    means = frame.groupby("month")[["pd", "default"]].mean().loc[MONTHS]
    np.testing.assert_allclose(curve.score, means["pd"], rtol=1e-12)
    np.testing.assert_allclose(curve.rate, means["default"], atol=1e-12)
    weight = np.exp(9.0 * frame["pd"])
    path = Path(rows).with_name("weighted.csv")
    frame.assign(weight=weight, pd_w=frame["pd"] * weight, default_w=frame["default"] * weight).to_csv(path)
    weighted = drawn(
        str(path), replace(BY, weight="weight", weights_are=WeightMeaning.IMPORTANCE)
    ).drawn.picture
    sums = pd.read_csv(path).groupby("month")[["pd_w", "default_w", "weight"]].sum().loc[MONTHS]
    np.testing.assert_allclose(weighted.score, sums["pd_w"] / sums["weight"], rtol=1e-12)
    np.testing.assert_allclose(weighted.rate, sums["default_w"] / sums["weight"], rtol=1e-12)
    measured = calibcli.measure(frame, score="pd", label="default", by="month", metric="bias").slices
    ends = [measured[f"month={name}"].bias.interval for name in MONTHS]
    assert curve.lower.tolist() == [one.lower for one in ends]
    assert curve.upper.tolist() == [one.upper for one in ends]
    assert np.flatnonzero(curve.too_high).tolist() == [0]
    assert set(np.flatnonzero(curve.too_low)) == {9, 10, 11}
    assert (
        found.drawn.caption[0]
        == "Scores are too low in 3 and too high in 1 of 12 months (95 % for all at once)"
    )
    assert "1 of fewer than 100 rows left out." in found.drawn.foot[0]


def test_every_group_has_its_point_and_names_that_fit(rows: str) -> None:
    """Names do not touch each other in a column."""
    curve = drawn(rows).drawn.picture
    figure = figure_of(curve, Words("x"), look=look_of(FigureSize.COLUMN))
    above, below = figure.axes
    assert sum(line.get_xdata().size for line in above.lines if line.get_marker() not in ("", "None")) == 12
    figure.canvas.draw()
    boxes = [one.get_window_extent() for one in below.get_xticklabels() if one.get_text()]
    assert len(boxes) >= 2
    assert all(one.x1 <= other.x0 for one, other in pairwise(boxes))


def test_no_error_is_said_to_be_none(rows: str) -> None:
    """One month that is calibrated."""
    assert drawn(rows, least_rows=400).drawn.caption[0].startswith("Scores are too low in 3")
    few = calibcli.plot(
        pd.read_csv(rows), score="pd", label="default", by="month", kind="trend", where="month==2024-5"
    )
    assert "No error is shown in 1 month (95 % for all at once)" in {one.get_text() for one in few.texts}


def test_usual_intervals_are_whole() -> None:
    """However near to 0 the points lie; one interval that is much longer than others is cut."""
    bias, half, rows = np.array([0.004, -0.002, 0.003]), np.array([0.05, 0.05, 2.0]), np.array([9.0, 9, 2])
    ends, names = (bias - half, bias + half), ("a", "b", "c")
    trend = TrendCurve("g", names, np.full(3, 0.2), bias, *ends, 0.95)
    segments = SegmentPoints(rows, bias, *ends, np.zeros(3, bool), names, (), 0.95)
    for curve in (trend, segments):
        low, high = figure_of(curve, Words("x"), look=look_of(FigureSize.COLUMN)).axes[0].get_ylim()
        assert -1.0 < low < ends[0][1]
        assert ends[1][0] < high < 1.0
