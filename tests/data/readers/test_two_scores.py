"""Two score columns read together."""

from pathlib import Path

import numpy as np
import pytest

from calibcli.commands.gathering import Gathered, gather
from calibcli.data.engines import ThreadEngine
from calibcli.data.tally import ExtrasRequest
from calibcli.errors import InputProblem
from calibcli.names import MeasureName, OnMissing, OnRange, Scale
from calibcli.options.rows import Columns
from calibcli.stats.measures.differences import PairedSums
from calibcli.stats.table.score_table import ScoreTable

BOTH = Columns("a", "label", others=("b",))


def read(path: Path, columns: Columns = BOTH) -> Gathered:
    """Read both columns, and their differences."""
    return gather(
        [str(path)],
        columns,
        engine=ThreadEngine(1),
        transforms={"raw": None, "second": None},
        extras_request=ExtrasRequest(columns={"second": 1}, pairs=(("raw", "second"),)),
    )


def write(path: Path, *rows: str) -> Path:
    """Write a CSV file of two scores."""
    path.write_text("a,label,b\n" + "".join(f"{row}\n" for row in rows))
    return path


def test_each_column_has_its_table_and_rows_stay_together(tmp_path: Path) -> None:
    """Two tables, and differences of the losses of one row after the other."""
    gathered = read(write(tmp_path / "p.csv", "0.1,0,0.3", "0.9,1,0.6", "0.1,1,0.2"))
    label = np.array([False, True, True])
    first, second = np.array([0.1, 0.9, 0.1]), np.array([0.3, 0.6, 0.2])
    assert gathered.tables == {
        "raw": ScoreTable.from_rows(first, label),
        "second": ScoreTable.from_rows(second, label),
    }
    expected = PairedSums()
    expected.add(first, second, label)
    assert gathered.paired is not None
    assert gathered.resolved.further == ("b",)
    for name in (MeasureName.BRIER, MeasureName.LOG_LOSS):
        assert gathered.paired.difference(name, confidence=0.9) == expected.difference(name, confidence=0.9)


def test_faults_name_the_column_that_has_them(tmp_path: Path) -> None:
    """Out of range or missing in the second column is said of the second column."""
    with pytest.raises(InputProblem, match="column 'b': 1 of 2 values lies outside"):
        read(write(tmp_path / "p.csv", "0.1,0,0.3", "0.9,1,1.6"))
    with pytest.raises(InputProblem, match="column 'b': 1 of 2 values is missing; the first is at row 1"):
        read(write(tmp_path / "p.csv", "0.1,0,", "0.9,1,0.6"))
    with pytest.raises(InputProblem, match="column 'a': 1 of 2 values lies outside"):
        read(write(tmp_path / "p.csv", "0.1,0,7", "9,1,0.6"))


def test_rows_are_dropped_and_clipped_in_both_columns(tmp_path: Path) -> None:
    """A row without either score is dropped for both; clipped scores are counted in both."""
    columns = Columns("a", "label", others=("B",), on_missing=OnMissing.DROP, on_range=OnRange.CLIP)
    gathered = read(write(tmp_path / "p.csv", "0.1,0,", "1.5,1,-1", "0.2,0,0.3"), columns)
    assert (gathered.input.rows, gathered.input.dropped, gathered.input.clipped) == (2, 1, 2)
    assert gathered.tables["raw"].score.tolist() == [0.2, 1.0]
    assert gathered.tables["second"].score.tolist() == [0.0, 0.3]


def test_both_columns_are_on_the_scale_named(tmp_path: Path) -> None:
    """--scale speaks of every score column."""
    gathered = read(
        write(tmp_path / "p.csv", "0,0,0", "2,1,0"), Columns("a", "label", others=("b",), scale=Scale.LOGIT)
    )
    assert gathered.tables["second"].score.tolist() == [0.5]
