"""`measure --compat` gives the numbers of the tools themselves, with their default settings.

`peer_values.json` holds what the tools gave; the recipe is in `peer_values.py`.
"""

import json
import math
from pathlib import Path

import pytest

from calibcli.names import CompatTool
from calibcli.stats.measures.compat import OrderedRows, peer_numbers
from calibcli.stats.table import ScoreTable
from oracles.peer_values import Columns, datasets

DATA = datasets()
DOCUMENT = json.loads(Path(__file__).with_name("peer_values.json").read_text(encoding="utf-8"))
# No finite fit: theirs are the coefficients at which its steps stopped, or an error for a single score.
UNBOUNDED = [
    "one label",
    "one score",
    "one row",
    "scores 0 and 1 only, all right",
    "labels parted by the score",
]


def ours(tool: str, columns: Columns) -> dict[str, float | None]:
    """Return our numbers for rows in their order."""
    score, label = columns
    table = ScoreTable.from_rows(score, label == 1)
    rows = OrderedRows(score, label == 1)
    return {one.name: one.value for one in peer_numbers(CompatTool(tool), table, rows=rows).numbers}


def test_every_tool_was_asked_about_every_data_set() -> None:
    """The file is that of the recipe."""
    assert set(DOCUMENT["values"]) == {tool.value for tool in CompatTool}
    for values in DOCUMENT["values"].values():
        assert set(values) == set(DATA)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("tool", [tool.value for tool in CompatTool])
def test_numbers_are_those_of_the_tool(tool: str, name: str) -> None:
    """Every number agrees to 1e-9 of itself, and is missing where the tool gives none."""
    theirs = DOCUMENT["values"][tool][name]
    found = ours(tool, DATA[name])
    if name in UNBOUNDED:
        theirs = {key: value for key, value in theirs.items() if not key.startswith("COX")}
        cox = {key: found.pop(key) for key in list(found) if key.startswith("COX")}
        assert set(cox.values()) <= {None}
    assert set(found) == set(theirs)
    for key, value in found.items():
        expected = theirs[key] if theirs[key] is None else float(theirs[key])
        if value is None or expected is None:
            assert value is expected, key
        else:
            assert math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-9), key


@pytest.mark.parametrize("tool", list(CompatTool))
def test_versions_are_those_that_gave_the_values(tool: CompatTool) -> None:
    """The version that a page names is the one that was compared."""
    score, label = DATA["twelve rows"]
    peer = peer_numbers(tool, ScoreTable.from_rows(score, label == 1))
    assert peer.version == DOCUMENT["versions"][tool.value]
