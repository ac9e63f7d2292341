"""The group column: which rows share a fold."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.commands.gathering import Gathered, gather
from calibcli.data import fragments
from calibcli.data.engines import ThreadEngine
from calibcli.data.groups import fold_of
from calibcli.data.tally import GatherRequest
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import OnMissing
from calibcli.options.rows import Columns
from calibcli.stats.table import merge_all
from command_line import Run

GROUPED = Columns("score", "label", group="g")


def read(
    path: Path, columns: Columns = GROUPED, *, folds: int = 3, seed: int = 0, workers: int = 1
) -> Gathered:
    """Read a file into folds."""
    gather_request = GatherRequest(folds=folds, seed=seed)
    return gather([str(path)], columns, engine=ThreadEngine(workers), gather_request=gather_request)


def write(path: Path, groups: list[Any], kind: pa.DataType | None = None) -> Path:
    """Write rows whose score is a number of their own, so that their fold can be told."""
    score = [(place + 0.5) / len(groups) for place in range(len(groups))]
    label = [place % 2 for place in range(len(groups))]
    if path.suffix == ".csv":
        lines = [f"{f!r},{y},{g}\n" for f, y, g in zip(score, label, groups, strict=True)]
        path.write_text("score,label,g\n" + "".join(lines))
        return path
    table = pa.table({"score": score, "label": label, "g": pa.array(groups, kind)})
    pq.write_table(table, path, row_group_size=4)
    return path


def folds_of(gathered: Gathered, rows: int) -> list[int]:
    """Return the fold of every row."""
    place = {}
    for key, table in gathered.tables.items():
        if key.startswith("fold"):
            place |= dict.fromkeys(
                np.rint(table.score * rows - 0.5).astype(int).tolist(), int(key.split()[1])
            )
    return [place[row] for row in range(rows)]


def test_folds_are_the_same_on_every_machine() -> None:
    """The hash is frozen: these folds are part of published artifacts."""
    assert [fold_of(text, 10, seed=0) for text in ("a", "b", "17", "é")] == [7, 0, 2, 7]
    assert [fold_of(text, 10, seed=1) for text in ("a", "b", "17", "é")] == [9, 1, 8, 9]


def test_rows_of_a_group_share_the_fold_of_its_hash(tmp_path: Path) -> None:
    """Every row is in the fold that its group's text says, and the folds merge into the table."""
    groups = [f"p{k % 7}" for k in range(40)]
    gathered = read(write(tmp_path / "a.csv", groups))
    assert folds_of(gathered, 40) == [fold_of(group, 3, seed=0) for group in groups]
    tables = [table for key, table in gathered.tables.items() if key != "raw"]
    assert merge_all(tables) == gathered.tables["raw"]  # type: ignore[type-var]
    assert gathered.groups == 7


@pytest.mark.parametrize(
    ("groups", "kind"),
    [
        ([str(k % 5) for k in range(20)], pa.string()),
        ([k % 5 for k in range(20)], pa.int64()),
        ([k % 5 for k in range(20)], pa.int8()),
        ([f" {k % 5} " for k in range(20)], pa.large_string()),
        ([str(k % 5) for k in range(20)], pa.dictionary(pa.int32(), pa.string())),
    ],
)
def test_types_of_the_column_do_not_matter(tmp_path: Path, groups: list[Any], kind: pa.DataType) -> None:
    """The same groups as text, numbers or dictionaries, in CSV or Parquet, give the same folds."""
    expected = folds_of(read(write(tmp_path / "a.csv", [k % 5 for k in range(20)])), 20)
    assert folds_of(read(write(tmp_path / "a.parquet", groups, kind)), 20) == expected


def test_workers_and_fragments_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fragments of a few rows on three workers give the tables of one pass."""
    path = write(tmp_path / "a.parquet", [k % 9 for k in range(60)])
    whole = read(path)
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 8)
    assert read(path, workers=3).tables == whole.tables


def test_missing_group_is_refused_or_dropped(tmp_path: Path) -> None:
    """A row without a group is a row with a missing value."""
    path = write(tmp_path / "a.csv", ["a", "", "b", " ", "a"])
    with pytest.raises(InputProblem, match="column 'g': 2 of 5 values are missing; the first is at row 2"):
        read(path)
    dropped = read(path, Columns("score", "label", on_missing=OnMissing.DROP, group="g"))
    assert (dropped.input.rows, dropped.input.dropped, dropped.groups) == (3, 2, 2)
    assert dropped.input.notes == (f"{path}: values are missing in 'g' (2)",)
    nothing = write(tmp_path / "a.parquet", [None, None], pa.null())
    # pyarrow ends the process where it is asked which of these are null.
    coded = pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int8()), pa.nulls(1))
    table = pa.table({"score": [0.25, 0.75], "label": [0, 1], "g": coded})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as out:
        out.write_table(table)
    for path in (nothing, tmp_path / "a.arrow"):
        with pytest.raises(InputProblem, match="2 of 2 values are missing"):
            read(path)


def test_weights_stay_with_their_rows(tmp_path: Path) -> None:
    """Importance weights are shared out with the rows."""
    path = tmp_path / "a.csv"
    lines = [f"{(k + 0.5) / 30!r},{k % 2},{k % 4},{1 + k / 7}\n" for k in range(30)]
    path.write_text("score,label,g,w\n" + "".join(lines))
    gathered = read(path, Columns("score", "label", weight="w", group="g"))
    total = sum(float(table.weight.sum()) for key, table in gathered.tables.items() if key != "raw")
    assert total == pytest.approx(float(gathered.tables["raw"].weight.sum()))


def test_column_that_is_no_group_is_refused(tmp_path: Path) -> None:
    """Lists tell no groups apart, and the label is not a group."""
    path = write(tmp_path / "a.parquet", [[1], [2]], pa.list_(pa.int64()))
    with pytest.raises(InputProblem, match="which does not tell groups apart"):
        read(path)
    with pytest.raises(UsageProblem, match="'label' cannot be --label and --group at once"):
        read(path, Columns("score", "label", group="label"))


def test_groups_are_counted_no_further_than_it_matters(tmp_path: Path) -> None:
    """Of more than a hundred groups a hundred are counted, so that ids cost no memory."""
    assert read(write(tmp_path / "a.csv", list(range(500)))).groups == 100


def test_rows_left_out_for_want_of_a_group_are_told_column_by_column(run: Run, tmp_path: Path) -> None:
    """`measure --by` and `segments --on` leave more rows out than `measure` alone; a note says why."""
    path = tmp_path / "a.csv"
    rows = [f"{place % 9 / 10},{'' if place < 3 else place % 2},a,x" for place in range(400)]
    path.write_text("\n".join(["s,y,g,h", *rows, "0.5,1,,x", "0.5,1,,"]), encoding="utf-8")
    words = (path, "-s", "s", "-y", "y", "--on-missing", "drop")
    assert "values are missing" not in run("measure", *words, "-m", "bias", code=0).out
    grouped = run("measure", *words, "-m", "bias", "--by", "h", "--by", "g", code=0).out
    found = run("segments", *words, "--on", "g,h", code=0).out
    for out in (grouped, found):
        assert "5 rows with a missing value dropped" in out
        assert f"note: {path}: values are missing in 'y' (3), 'g' (2), 'h' (1)" in " ".join(out.split())
    path.write_text("s,y,g\n0.5,1,\n0.5,0,\n", encoding="utf-8")
    nothing = run("measure", *words, "--by", "g", code=3).err
    assert "always empty: 'g'; leave out such columns" in nothing
