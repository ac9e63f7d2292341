"""The page on agreement lists what there is."""

from pathlib import Path

from calibcli.names import MeasureName, TestName

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agreement.md"


def test_page_has_a_row_for_every_measure_and_test() -> None:
    """As the slow formulas do: `make agreement` was run since the last one was added."""
    table = PAGE.read_text(encoding="utf-8").partition("## One row per measure")[2].partition("\n## ")[0]
    rows = {line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")}
    assert {str(name) for name in (*MeasureName, *TestName)} <= rows
