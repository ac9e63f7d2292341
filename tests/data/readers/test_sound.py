"""What the libraries decode is looked through before anything in it is believed."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from calibcli.commands.measure import measure_files
from calibcli.data.arrays import checked_batch
from calibcli.data.columns import ResolvedColumns
from calibcli.data.faults import Findings
from calibcli.data.intake import known_groups
from calibcli.data.readers import read_problems, text_problems
from calibcli.errors import InputProblem
from calibcli.options.rows import Columns, RowRequest


def text_of(pieces: list[bytes]) -> Any:
    """Return a column of text whose bytes nobody has looked at."""
    ends = np.cumsum([0, *map(len, pieces)]).astype(np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(pieces), [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(pieces))]
    )


def test_text_that_is_not_utf8_names_its_column() -> None:
    """Which the first decoder that believes in it would not."""
    batch = pa.RecordBatch.from_arrays([pa.array([1, 2]), text_of([b"a", b"\xff"])], names=["n", "group"])
    with pytest.raises(InputProblem, match=r"^p\.parquet, column 'group': it holds text that is not UTF-8$"):
        checked_batch(batch, shown="p.parquet")


def test_codes_that_lead_outside_are_damage() -> None:
    """A dictionary of one word has no sixth."""
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 5]), pa.array(["a"]), safe=False)
    with pytest.raises(InputProblem, match="column 'group': ") as found:
        checked_batch(pa.RecordBatch.from_arrays([codes], names=["group"]), shown="p.arrow")
    assert "damaged" in (found.value.hint or "")


def test_a_batch_that_is_sound_is_itself() -> None:
    """Nothing is copied."""
    batch = pa.RecordBatch.from_pydict({"n": [1, None], "group": ["a", "ı"]})
    assert checked_batch(batch, shown="p.parquet") is batch


def test_groups_of_a_map_are_looked_at_where_no_label_is_read() -> None:
    """`apply` reads the column of groups by itself."""
    batch = pa.RecordBatch.from_arrays([pa.array([0.1]), text_of([b"\xff"])], names=["score", "bank"])
    resolved = ResolvedColumns(Columns(), "score", None, None, members=("bank",))
    with pytest.raises(InputProblem, match=r"^p\.parquet, column 'bank': it holds text that is not UTF-8$"):
        known_groups(batch, resolved, Findings(), shown="p.parquet")


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_want_of_memory_is_not_taken_for_damage(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is anybody told to look for another format."""

    def out_of_memory(*_: object, **__: object) -> None:
        msg = "malloc of size 1048576 failed"
        raise pa.ArrowMemoryError(msg)

    path = tmp_path / name
    table = pa.table({"score": [0.1, 0.9], "label": [0, 1]})
    if name == "p.csv":
        pa_csv.write_csv(table, path)
        monkeypatch.setattr(pa_csv, "open_csv", out_of_memory)
    else:
        pq.write_table(table, path)
        monkeypatch.setattr(pq.ParquetFile, "iter_batches", out_of_memory)
    with pytest.raises(InputProblem, match=r"there is not enough memory to read it: malloc of size 1048576"):
        measure_files(RowRequest([str(path)], Columns()))


def test_want_of_memory_for_a_thread_is_said_to_be_that() -> None:
    """What pyarrow says of it is no damage of the file, as CSV or as anything else."""
    said = pa.ArrowException(
        "Unknown error: Failed to launch worker thread: Resource temporarily unavailable"
    )
    for problems in (read_problems("p.csv", ""), text_problems("p.csv", InputProblem)):
        with pytest.raises(InputProblem, match="not enough memory to read it"), problems:
            raise said
