"""A picture of the rows that an artifact was fitted on says so, to its maker and in itself."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from calibcli.commands.evaluation import FIT_ROWS
from calibcli.commands.pictures.diagram import PlotRequest, fit_rows_foot
from calibcli.commands.plot import diagram_of
from calibcli.names import PlotKind
from calibcli.options.rows import Columns
from command_line import Ran

Run = Callable[..., Ran]
COLUMNS = Columns("score", "label")
IN_PICTURE = fit_rows_foot((FIT_ROWS,))[0]
KINDS = [kind for kind in PlotKind if kind not in (PlotKind.CLASSES, PlotKind.GROUPS, PlotKind.MONITOR)]


@pytest.fixture
def fitted(run: Run, thousand: Path) -> str:
    """A map that was fitted to the rows."""
    path = str(thousand.with_name("cal.json"))
    assert run("fit", thousand, "-s", "score", "-y", "label", "-o", path).code == 0
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_of_the_fit_rows_say_so(kind: PlotKind, thousand: Path, fitted: str) -> None:
    """Whatever is drawn through the artifact; without it nothing is said."""
    flattering = diagram_of(PlotRequest([str(thousand)], COLUMNS, kind, fitted))
    assert FIT_ROWS in flattering.notes
    assert IN_PICTURE in flattering.drawn.foot
    if kind not in (PlotKind.MAP, PlotKind.COMPARE):
        plain = diagram_of(PlotRequest([str(thousand)], COLUMNS, kind))
        assert FIT_ROWS not in plain.notes
        assert IN_PICTURE not in plain.drawn.foot


def test_groups_of_the_fit_rows_say_so_and_so_does_their_report(
    run: Run, csv_of: Callable[..., Path], tmp_path: Path
) -> None:
    """The note of the report stands in the picture that is made of it."""
    lines = (f"{k % 50 / 50},{int(k % 50 > k % 37)},{'ab'[k % 2]}" for k in range(600))
    rows = csv_of("score,label,group", *lines)
    cal, report = tmp_path / "cal.json", tmp_path / "report.json"
    assert run("fit", rows, "-s", "score", "-y", "label", "-o", cal).code == 0
    asked = ("-s", "score", "-y", "label", "--artifact", cal, "--by", "group", "--json", "-o", report)
    assert run("measure", rows, *asked).code == 0
    assert FIT_ROWS in json.loads(report.read_text())["notes"]
    drawn = diagram_of(PlotRequest([str(report)], kind=PlotKind.GROUPS)).drawn
    assert IN_PICTURE in drawn.foot
