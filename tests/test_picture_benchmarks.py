"""What the benchmarks of pictures run, and what they make of it."""

import re
from typing import Any

import pytest

from calibcli.names import PlotKind
from command_line import ROOT


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark of pictures."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import pictures  # type: ignore[import-not-found, unused-ignore]

    return pictures


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script that draws other packages beside ours."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import pictures_beside  # type: ignore[import-not-found, unused-ignore]

    return pictures_beside


def test_every_kind_that_takes_rows_is_timed(pictures: Any) -> None:
    """All but the monitor of a gate, and segments and trends, whose time is that of other commands."""
    timed = {name.split(",")[0] for name in (shot.name for shot in pictures.SHOTS)}
    assert timed == {kind.value for kind in PlotKind} - {"monitor", "segments", "heatmap", "trend"}


def test_ratios_are_of_the_same_rows_and_of_what_grows(pictures: Any) -> None:
    """A comparison is held against both its measures, and a process that fails says so."""

    def runs(cpu: float) -> list[Any]:
        return [pictures.Spent(wall=9.0, cpu=value, peak=1.0) for value in (0.0, cpu, 99.0)]

    start = {name: runs(0.5) for name in (*pictures.MEASURES, *(shot.name for shot in pictures.SHOTS))}
    found = {name: runs(1.5) for name in start} | {"binned": "stopped after 3 s", "smooth": runs(3.0)}
    table = pictures.table_of(found, start).splitlines()
    assert "| smooth | 3.00 | measure | 1.50 | 2.00 | 2.50 | 1.00 | 2.50 |" in table
    assert "| binned | stopped after 3 s | measure | | | | | |" in table
    both = (
        "| compare, raw and recalibrated | 1.50 | measure and measure --artifact | 3.00 | 0.50 | 1.00 | 2.00"
    )
    assert f"{both} | 0.50 |" in table


def test_page_shows_every_peer_on_both_data_sets(beside: Any) -> None:
    """The worker can draw each, and the page has each picture and its time."""
    page = beside.PAGE.read_text(encoding="utf-8")
    worker = beside.WORKER.read_text(encoding="utf-8")
    assert [peer.name for peer in beside.PEERS] == re.findall(r'^    "([\w-]+)": \(', worker, re.MULTILINE)
    for name in (*(peer.name for peer in beside.PEERS), *beside.KINDS):
        for data in ("churn", "ties"):
            assert f"](pictures/beside_{data}_{name}.png)" in page
    timed = re.findall(r"^\| ([\w -]+) \|", beside.TIMES.findall(page)[0], re.MULTILINE)
    assert timed[0] == "picture"
    assert timed[1:] == [*(f"calibcli {kind}" for kind in beside.KINDS), *(p.name for p in beside.PEERS)]
