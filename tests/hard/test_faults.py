"""The faults of docs/hardening.md: each row of its table is what happens."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest

from command_line import ROOT
from fault_list import FAULTS
from faults import Fault, Stage

PAGE = ROOT / "docs" / "hardening.md"
SLOW = [pytest.mark.slow, pytest.mark.system]


def cell(text: str) -> str:
    """Return a text as a cell of the table."""
    return text.replace("|", "\\|")


def rows() -> dict[tuple[str, str], list[str]]:
    """Return the rows of the table, by fault and command."""
    table = (
        PAGE.read_text(encoding="utf-8")
        .partition("<!-- faults -->")[2]
        .partition("<!-- end of faults -->")[0]
    )
    cells = [re.split(r" (?<!\\)\| ", line[2:-2]) for line in table.splitlines()[3:] if line]
    return {(one[0], one[1]): one[2:] for one in cells}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system has no /proc")
@pytest.mark.parametrize(
    "fault", [pytest.param(one, marks=SLOW if one.slow else [], id=one.name) for one in FAULTS]
)
def test_a_fault_ends_as_the_page_says(fault: Fault) -> None:
    """Exit code, message, and what was left behind."""
    if fault.what == "170 MiB of address space" and int(pa.__version__.split(".")[0]) < 21:
        pytest.skip("where memory ends, libraries as old as this end the process by themselves")
    if fault.lacking:
        pytest.skip(f"this system has no {' and no '.join(fault.lacking)}")
    with TemporaryDirectory(prefix="calibcli-faults-") as name:
        # Other users may enter it.
        Path(name).chmod(0o755)
        found = fault.outcome(Stage(Path(name) / "stage"))
    assert rows()[cell(fault.what), f"`{cell(fault.command)}`"] == [
        f"{found.code}",
        cell(found.message or "-"),
        found.left,
    ]


def test_every_row_of_the_page_is_a_fault_that_is_tried() -> None:
    """And the other way round."""
    assert list(rows()) == [(cell(one.what), f"`{cell(one.command)}`") for one in FAULTS]
