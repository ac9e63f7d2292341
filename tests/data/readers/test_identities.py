"""What tells rows apart: fingerprints of their text, the same from every file."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.commands.gathering import RAW
from calibcli.commands.reading import read_tables
from calibcli.data import tally as identified_module
from calibcli.data.row_ids import fingerprints, identities_of
from calibcli.data.tally import GatherRequest
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import OnMissing
from calibcli.options.rows import Columns, Reading, RowRequest

BY_ROW = GatherRequest(by_id=RAW, part=True)
COLUMNS = Columns("score", "label", identity="id")


def of_texts(texts: list[str]) -> np.ndarray:
    """Return the fingerprints of a column of text."""
    return identities_of(pa.array(texts, pa.string())).values


def by_definition(text: str) -> int:
    """Return the fingerprint of a text word by word, with Python's own whole numbers."""
    most, golden = (1 << 64) - 1, 0x9E3779B97F4A7C15

    def mixed(value: int) -> int:
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & most
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & most
        return value ^ (value >> 31)

    content = text.encode()
    found = mixed((len(content) * golden) & most)
    for start in range(0, len(content), 8):
        word = int.from_bytes(content[start : start + 8], "little")
        found = mixed(((found ^ word) + golden) & most)
    return found


def test_fingerprints_never_change() -> None:
    """States on disk hold these numbers, so that they are frozen."""
    texts = ["7", "row-000000001", "ünïcode", "x" * 100]
    found = of_texts(texts).tolist()
    assert found == [11030248730230854663, 17942855537730501176, 8423550018456721825, 5040037766507101125]
    assert found == [by_definition(text) for text in texts]


@given(st.lists(st.text(max_size=40), unique=True, max_size=60))
def test_fingerprints_differ_where_texts_do_and_only_there(texts: list[str]) -> None:
    """A text has one fingerprint wherever it stands, and different texts have different ones."""
    stripped = list(dict.fromkeys(text.strip() for text in texts))
    found = of_texts(stripped)
    assert len(set(found.tolist())) == len(stripped)
    assert found.tolist() == [by_definition(text) for text in stripped]
    assert [int(of_texts([f" {text} "])[0]) for text in stripped] == found.tolist()


def test_fingerprints_of_many_alike_texts_are_spread_evenly() -> None:
    """Consecutive names fill the 64 bits like random numbers: all different, no bit preferred."""
    names = np.char.add("customer-", np.arange(200_000).astype("U7"))
    text = pa.array(names.tolist(), pa.large_string())
    found = fingerprints(
        np.frombuffer(text.buffers()[2], np.uint8), np.frombuffer(text.buffers()[1], np.int64)
    )
    assert np.unique(found).size == found.size
    ones = [int(((found >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)]
    assert min(ones) > 98_600
    assert max(ones) < 101_400
    assert np.bincount((found >> np.uint64(54)).astype(np.int64), minlength=1024).std() < 17


def test_a_slice_of_a_column_is_hashed_by_its_own_texts() -> None:
    """Arrow slices share their buffers."""
    whole = pa.array(["a", "bb", None, "", "ccc"])
    found = identities_of(whole.slice(1, 4))
    assert found.missing is not None
    assert found.missing.tolist() == [False, True, True, False]
    assert found.values[[0, 3]].tolist() == of_texts(["bb", "ccc"]).tolist()
    for kind in (pa.string(), pa.string_view(), pa.binary_view()):
        coded = whole.cast(kind).dictionary_encode()
        assert identities_of(coded).values[[0, 1, 4]].tolist() == of_texts(["a", "bb", "ccc"]).tolist()


def test_formats_agree_on_identities(tmp_path: Path) -> None:
    """Whole numbers in Parquet are the same identities as their digits in CSV."""
    ids = [7, 12, 123456789012345678, -1]
    table = pa.table({"id": ids, "score": [0.1, 0.2, 0.3, 0.4], "label": [0, 1, 0, 1]})
    pq.write_table(table, tmp_path / "rows.parquet")
    pa_csv.write_csv(table, tmp_path / "rows.csv")
    found = []
    for name in ("rows.parquet", "rows.csv"):
        gathered = read_tables(
            RowRequest([str(tmp_path / name)], COLUMNS, reading=Reading()), gather_request=BY_ROW
        )
        assert gathered.extras.by_id is not None
        found.append(gathered.extras.by_id.columns())
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)
    assert found[0][0].tolist() == of_texts([str(one) for one in ids]).tolist()


@pytest.mark.parametrize("drop", [OnMissing.ERROR, OnMissing.DROP])
def test_a_missing_identity_is_refused_or_dropped(drop: OnMissing, tmp_path: Path) -> None:
    """A row without an identity could be counted twice: it is refused, or left out and reported."""
    path = tmp_path / "rows.csv"
    path.write_text("id,score,label\na,0.1,0\n,0.2,1\nb,0.3,1\n")
    columns = Columns("score", "label", identity="ID", on_missing=drop)
    if drop is OnMissing.ERROR:
        with pytest.raises(
            InputProblem, match="column 'id': 1 of 3 values is missing; the first is at row 2"
        ):
            read_tables(RowRequest([str(path)], columns, reading=Reading()), gather_request=BY_ROW)
        return
    gathered = read_tables(RowRequest([str(path)], columns, reading=Reading()), gather_request=BY_ROW)
    assert gathered.input.dropped == 1
    assert gathered.extras.by_id is not None
    assert gathered.extras.by_id.columns()[0].tolist() == of_texts(["a", "b"]).tolist()


def test_a_column_of_lists_is_no_identity(tmp_path: Path) -> None:
    """What has no one short text does not tell rows apart."""
    pq.write_table(pa.table({"id": [[1], [2]], "score": [0.1, 0.2], "label": [0, 1]}), tmp_path / "r.parquet")
    with pytest.raises(InputProblem, match="which does not tell rows apart"):
        read_tables(
            RowRequest([str(tmp_path / "r.parquet")], COLUMNS, reading=Reading()), gather_request=BY_ROW
        )


def test_more_rows_than_can_be_kept_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past ten million rows the way out is to know batches instead of rows."""
    monkeypatch.setattr(identified_module, "MOST_IDENTITIES", 2)
    path = tmp_path / "rows.csv"
    path.write_text("id,score,label\na,0.1,0\nb,0.2,1\nc,0.3,1\n")
    with pytest.raises(UsageProblem, match="at most 2 identities"):
        read_tables(RowRequest([str(path)], COLUMNS, reading=Reading()), gather_request=BY_ROW)
