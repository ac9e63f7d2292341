"""The picture of a gate: nothing overlaps, whatever its state, and it says what is drawn."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from matplotlib.figure import Figure

from calibcli.names import FigureSize, Theme
from calibcli.show.figures import figure_of
from calibcli.show.figures.look import look_of
from calibcli.show.figures.monitor import power_of_ten, rows_in_short
from calibcli.show.figures.page import Words
from calibcli.stats.curves.monitor import MonitorCurve, Starts
from picture_checks import clashes

CAPTION = ("PASS at limit 0.02: binned ECE 0.0180, from 0.0085 to 0.0199", "60,000 rows, 9 with label 1")
LEVEL = math.log(20.0)


def gate(
    rows: list[int],
    *,
    top: float = 30.0,
    limit: float | None = 0.02,
    bounds: bool = True,
    since_first: bool = True,
    starts: Starts | None = None,
) -> MonitorCurve:
    """Return a gate whose evidence for a pass grows up to a logarithm."""
    n = len(rows)
    along = np.linspace(0.0, 1.0, n)
    value = 0.012 + 0.1 / np.sqrt(np.array(rows))
    width = 1.0 / np.sqrt(np.array(rows))
    none = np.full(n, math.nan)
    log_pass = none if starts else top * along
    passed = np.flatnonzero(log_pass >= LEVEL)
    return MonitorCurve(
        rows=np.array(rows),
        value=np.minimum(value, 1.0),
        lower=np.maximum(value - width, 0.0) if bounds else none,
        upper=np.minimum(value + width, 1.0) if bounds else none,
        log_pass=log_pass,
        log_fail=top * along if starts else -3.0 * along,
        threshold=LEVEL,
        confidence=0.95,
        limit=limit,
        measure="binned ECE",
        own=none,
        stands_out=np.zeros(n, np.bool_),
        passed_at=rows[passed[0]] if passed.size else None,
        since_first=since_first,
        starts=starts,
    )


STARTS = Starts(np.arange(30) * 2_000, np.linspace(-20.0, 60.0, 30))
SHAPES = {
    "thirty looks": gate([2_000 * i for i in range(1, 31)]),
    "one look": gate([57]),
    "one row": gate([1], top=0.1),
    "fifty million rows": gate([1_000_000 * i for i in range(1, 51)], top=5e6),
    "five thousand looks": gate(list(range(10, 50_010, 10))),
    "merged": gate([9_000, 10_000], since_first=False),
    "old": gate([100, 200, 300], bounds=False),
    "alarm": gate([2_000 * i for i in range(1, 31)], starts=STARTS, bounds=False),
    "alarm on any error": gate([300, 900], starts=STARTS, limit=None, bounds=False),
    "limit 0": gate([100, 5_000], limit=0.0),
    "limit 1": gate([100, 5_000], limit=1.0),
}
SHAPES["infinite evidence"] = replace(
    SHAPES["alarm on any error"],
    log_fail=np.array([0.0, math.inf]),
    starts=Starts(np.array([0, 300]), np.array([math.inf, 1.0])),
)
ASKED = [
    *((shape, FigureSize.PAGE, Theme.LIGHT) for shape in SHAPES),
    *product(("thirty looks", "alarm", "one look"), (FigureSize.COLUMN, FigureSize.SLIDE), [Theme.LIGHT]),
    ("alarm", FigureSize.PAGE, Theme.DARK),
]


def drawn(shape: str, size: FigureSize = FigureSize.PAGE, theme: Theme = Theme.LIGHT) -> Figure:
    """Draw a shape."""
    words = Words("gate.json: score", CAPTION, ("Judged over 15 equal-width bins.",))
    return figure_of(SHAPES[shape], words, look=look_of(size, theme))


@pytest.mark.untraced
@pytest.mark.parametrize(("shape", "size", "theme"), ASKED)
def test_no_text_lies_over_another(shape: str, size: FigureSize, theme: Theme) -> None:
    """Every state at every size, and nothing warns."""
    assert clashes(drawn(shape, size, theme)) == []


def test_evidence_jumps_at_looks_and_begins_at_one() -> None:
    """Between looks nothing is known, so that the line crosses what decides at the look that decided."""
    axes = drawn("thirty looks").axes[0]
    line = next(one for one in axes.lines if one.get_drawstyle() == "steps-post")
    assert (line.get_xdata()[0], line.get_ydata()[0]) == (0.0, 0.0)
    dotted = [one.get_xdata()[0] for one in axes.lines if one.get_linestyle() == ":" or one.is_dashed()]
    assert SHAPES["thirty looks"].passed_at in dotted


def test_what_leaves_the_picture_is_said() -> None:
    """Wealth is drawn at the ends of its axis, early bounds beyond theirs."""
    said = " ".join(text.get_text() for text in drawn("fifty million rows").texts)
    assert "Evidence beyond the axis is drawn at its ends." in said
    assert "1.00e" not in said
    said = " ".join(text.get_text() for text in drawn("thirty looks").texts)
    assert "Some early values or bounds lie above the picture." in said


@pytest.mark.parametrize(
    ("power", "text"), [(0, "1"), (3, "1,000"), (-2, "0.01"), (12, "10¹²"), (-4, "10⁻⁴")]
)
def test_powers_of_ten_are_short(power: int, text: str) -> None:
    """In figures as long as these are readable."""
    assert power_of_ten(power) == text


@pytest.mark.parametrize(
    ("rows", "text"),
    [(0, "0"), (950, "950"), (2_500, "2,500"), (12_500, "12.5k"), (2_000_000, "2M"), (5 * 10**9, "5G")],
)
def test_rows_lose_no_digit(rows: int, text: str) -> None:
    """A number on the axis is where it stands."""
    assert rows_in_short(rows) == text
