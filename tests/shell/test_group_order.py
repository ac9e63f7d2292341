"""Groups in an order that somebody asked for, and grades in that of their scores where nobody did."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import calibcli
from calibcli.commands.pictures.diagram import PlotRequest
from calibcli.commands.plot import diagram_of
from calibcli.names import GroupOrder, PlotKind
from calibcli.options.measuring import MeasureOptions
from calibcli.options.orders import has_own_order
from calibcli.options.rows import Columns
from calibcli.stats.curves.picture import CurvePanels
from calibcli.stats.curves.trend import TrendCurve
from command_line import Run

# By their PDs; the alphabet has A, AA, AAA, B, BB.
SCALE = {"AAA": 0.002, "AA": 0.005, "A": 0.02, "BB": 0.05, "B": 0.2}
ROWS = dict(zip(SCALE, (300, 500, 700, 400, 200), strict=True))
ORDERS = {
    GroupOrder.SCORE: list(SCALE),
    GroupOrder.NAME: sorted(SCALE),
    GroupOrder.ROWS: ["A", "AA", "BB", "AAA", "B"],
}


@pytest.fixture(scope="module")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return rated loans in no order."""
    rng = np.random.default_rng(3)
    grade = rng.permutation(np.repeat(list(ROWS), list(ROWS.values())))
    pd_of = np.array([SCALE[one] for one in grade])
    frame = pd.DataFrame({"grade": grade, "pd": pd_of, "default": (rng.random(grade.size) < pd_of) * 1})
    path = tmp_path_factory.mktemp("order") / "loans.csv"
    frame.to_csv(path, index=False)
    return path


def drawn(loans: Path, kind: PlotKind | None, **options: object) -> object:
    columns = Columns("pd", "default", by=("grade",))
    request = PlotRequest([str(loans)], columns, kind=kind, options=MeasureOptions(**options))
    return diagram_of(request).drawn.picture


@pytest.mark.parametrize("order", list(ORDERS))
def test_every_command_lists_groups_in_the_order_asked_for(loans: Path, run: Run, order: GroupOrder) -> None:
    """The table of a gate, that of measures, panels and trends agree."""
    columns = ("-s", "pd", "-y", "default", "--by", "grade", "--sort", order.value)
    for words in (("measure", "-m", "oe"), ("verify", "--rule", "oe<=3")):
        told = run(words[0], str(loans), *columns, *words[1:])
        assert re.findall(r"^grade=(\w+)", told.out, re.MULTILINE) == ORDERS[order]
    panels = drawn(loans, None, sort=order)
    assert isinstance(panels, CurvePanels)
    assert [one.name for one in panels.panels] == [f"grade = {name}" for name in ORDERS[order]]
    clinical = drawn(loans, PlotKind.ISOTONIC, sort=order)
    assert isinstance(clinical, CurvePanels)
    assert [one.name for one in clinical.panels] == [f"grade = {name}" for name in ORDERS[order]]
    trend = drawn(loans, PlotKind.TREND, sort=order)
    assert isinstance(trend, TrendCurve)
    assert list(trend.names) == ORDERS[order]


def test_a_trend_over_grades_is_in_the_order_of_the_scale(loans: Path) -> None:
    """Without lines from grade to grade; the worst first where that was asked for."""
    trend = drawn(loans, PlotKind.TREND)
    assert isinstance(trend, TrendCurve)
    assert list(trend.names) == list(SCALE)
    assert np.all(np.diff(trend.score) > 0)
    assert not trend.joined
    worst = drawn(loans, PlotKind.TREND, sort=GroupOrder.WORST)
    assert isinstance(worst, TrendCurve)
    assert np.all(np.diff(np.abs(worst.bias)) <= 0)


@pytest.mark.parametrize(
    ("names", "own"),
    [
        (("18-25", "26-40"), True),
        (("grade 2", "grade 10"), True),
        (("7", "12", "(missing)"), True),
        (("A", "AA"), False),
        (("Aa1", "Baa2"), False),
        (("north", "south"), False),
        (("A1", "A"), False),
    ],
)
def test_names_have_an_order_of_their_own_where_numbers_alone_tell_them(
    names: tuple[str, ...], *, own: bool
) -> None:
    """Ratings are no numbers, though some have one."""
    assert has_own_order(names) is own


def test_python_takes_the_order(loans: Path) -> None:
    """As the command line does."""
    found = calibcli.verify(
        pd.read_csv(loans), score="pd", label="default", by="grade", sort="score", rule="oe<=3"
    )
    assert [key.removeprefix("grade=") for key in found.groups] == list(SCALE)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_scores_that_are_grades_make_groups_of_their_own(
    run: Run, loans: Path, tmp_path: Path, suffix: str
) -> None:
    """As a copy of the column would, in every format; continuous ones have no group large enough."""
    frame = pd.read_csv(loans)
    frame["copy"] = frame["pd"]
    path = tmp_path / f"loans.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    command = ("measure", path, "-s", "pd", "-y", "default", "--sort", "score", "-m", "oe")
    tables = [run(*map(str, command), "--by", one).out.partition("Groups by")[2] for one in ("pd", "copy")]
    assert tables[0].count("pd=0.") == len(SCALE)
    rows = [re.sub(" +", " ", one.replace("copy", "pd")) for one in tables]
    assert rows[0] == rows[1]
