"""The list of fragments."""

import gzip
import io
import os
import tempfile
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.data import fragments as module
from calibcli.data.fragments import list_fragments
from calibcli.data.pipes import Pipe
from calibcli.data.readers import Fragment
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Compression, DataFormat


def parquet(path: Path, rows: int, group: int) -> None:
    table = pa.table({"score": np.linspace(0, 1, rows), "label": np.arange(rows) % 2})
    pq.write_table(table, path, row_group_size=group)


def test_row_groups_are_joined_into_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fragment has at least so many rows, except the last; together they are the file."""
    monkeypatch.setattr(module, "FRAGMENT_ROWS", 250)
    parquet(tmp_path / "a.parquet", 1050, 100)
    found = list_fragments([str(tmp_path / "a.parquet")])
    assert [one.row_groups for one in found] == [(0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10)]
    assert [one.first_row for one in found] == [0, 300, 600, 900]
    assert [one.index for one in found] == [0, 1, 2, 3]


def test_an_empty_parquet_file_is_one_fragment(tmp_path: Path) -> None:
    """So that its columns are still looked at."""
    parquet(tmp_path / "a.parquet", 0, 100)
    assert len(list_fragments([str(tmp_path / "a.parquet")])) == 1


def test_a_directory_is_its_files_in_order(tmp_path: Path) -> None:
    """Marker files are skipped, folders are entered, names decide the order."""
    (tmp_path / "part=b").mkdir()
    (tmp_path / "_temporary").mkdir()
    marks = ("_SUCCESS", ".hidden.csv", "_temporary/3.csv", "README.md", "cal.json", "old.csv.bak")
    taken = ["1.csv", "2.TSV", "part=b/2.csv", "part=b/3.csv.zst"]
    for name in (*marks, *taken):
        (tmp_path / name).write_text("score,label\n1,1\n")
    found = list_fragments([str(tmp_path)])
    assert [Path(one.path).relative_to(tmp_path).as_posix() for one in found] == taken


def test_a_forced_format_takes_every_file_of_a_directory(tmp_path: Path) -> None:
    """Names without a suffix, as clusters write them, are the user's to vouch for."""
    for name in ("part-00000", "part-00001", "_SUCCESS"):
        (tmp_path / name).write_text("score\tlabel\n1\t1\n")
    found = list_fragments([f"{tmp_path}:tsv"])
    assert [(Path(one.path).name, one.format) for one in found] == [
        ("part-00000", DataFormat.TSV),
        ("part-00001", DataFormat.TSV),
    ]


def test_a_file_named_twice_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under whatever names: its rows would count twice."""
    monkeypatch.chdir(tmp_path)
    Path("d").mkdir()
    for name in ("a.csv", "d/b.csv", "d/equal.csv"):
        Path(name).write_text("score,label\n1,1\n")
    Path("link.csv").symlink_to("a.csv")
    Path("hard.csv").hardlink_to("a.csv")
    Path("e").symlink_to("d")
    for inputs, message in (
        (["a.csv", "a.csv"], "a.csv is named twice"),
        (["a.csv", "./a.csv"], "./a.csv is the same file as a.csv"),
        (["a.csv", "a.csv:csv"], "a.csv is named twice"),
        (["link.csv", "d", "a.csv"], "a.csv is the same file as link.csv"),
        (["hard.csv", str(tmp_path / "a.csv")], f"{tmp_path}/a.csv is the same file as hard.csv"),
        (["d", "d/b.csv"], "d/b.csv is named twice"),
        (["e", "d"], "d/b.csv is the same file as e/b.csv"),
    ):
        with pytest.raises(UsageProblem) as caught:
            list_fragments(inputs)
        assert (caught.value.message, caught.value.exit_code) == (message, 2)
        assert caught.value.hint == "name it once: every row counts once"
    assert len(list_fragments(["a.csv", "d"])) == 3


@pytest.mark.parametrize(
    ("name", "content", "kind", "compression"),
    [
        ("a.csv", b"score\n", DataFormat.CSV, None),
        ("a.TSV", b"score\n", DataFormat.TSV, None),
        ("a", b"score\n", DataFormat.CSV, None),
        ("a.txt:tsv", b"score\n", DataFormat.TSV, None),
        ("a.tsv.gz", gzip.compress(b"score\n", mtime=0), DataFormat.TSV, Compression.GZIP),
        ("a.csv", gzip.compress(b"score\n", mtime=0), DataFormat.CSV, Compression.GZIP),
        ("a.csv.zst", b"\x28\xb5\x2f\xfd....", DataFormat.CSV, Compression.ZSTD),
        ("a.bz2", b"BZh9....", DataFormat.CSV, Compression.BZ2),
        ("b:csv", b"score\n", DataFormat.CSV, None),
    ],
)
def test_bytes_come_before_names(
    name: str, content: bytes, kind: DataFormat, compression: Compression | None, tmp_path: Path
) -> None:
    """The user's word, then the first bytes, then the suffix."""
    path = tmp_path / (name if name == "b:csv" else name.removesuffix(":tsv"))
    path.write_bytes(content)
    (found,) = list_fragments([str(tmp_path / name)])
    assert (found.format, found.compression, found.path) == (kind, compression, str(path))


def test_parquet_is_known_by_its_bytes(tmp_path: Path) -> None:
    """Whatever it is called."""
    parquet(tmp_path / "a.csv", 10, 10)
    assert list_fragments([str(tmp_path / "a.csv")])[0].format is DataFormat.PARQUET


def test_an_empty_pipe_is_refused(tmp_path: Path) -> None:
    """A named pipe whose writer says nothing is an empty file."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.open("wb").close())
    writer.start()
    with pytest.raises(InputProblem, match="fifo is empty"):
        list_fragments([str(fifo)])
    writer.join()


def test_a_pipe_can_be_looked_at_and_is_read_whole() -> None:
    """Looking takes nothing away."""
    content = b'"a\nb",c\n' + b"1,2\n" * 50_000
    pipe = Pipe(io.BytesIO(content))
    assert pipe.head(4) == content[:4]
    assert pipe.first_record(",").startswith(b'"a\nb",c\n')
    assert pipe.reader().read() == content


def test_a_spooled_pipe_can_be_read_again() -> None:
    """The temporary file holds everything, and goes when the pipe goes."""
    pipe = Pipe(io.BytesIO(b"abc" * 100_000))
    pipe.head(4)
    path = Path(pipe.spooled())
    assert path.read_bytes() == b"abc" * 100_000
    assert pipe.head(4) == b"abca"
    assert pipe.spooled() == str(path)
    del pipe
    assert not path.exists()


def test_a_spool_has_a_name_only_where_it_must(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /proc a file can be opened again by its name alone, which goes with the pipe."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    unnamed = Pipe(io.BytesIO(b"abc"))
    assert Path(unnamed.spooled()).read_bytes() == b"abc"
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(os.path, "exists", lambda _: False)
    named = Pipe(io.BytesIO(b"abc"))
    assert Path(named.spooled()).read_bytes() == b"abc"
    assert [str(path) for path in tmp_path.iterdir()] == [named.spooled()]
    del named
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_may_not_be_read_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's reason, in our words' case."""

    def refused(*_: object) -> object:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.csv").write_text("score\n")
    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(InputProblem, match=r"a.csv cannot be read: permission denied"):
        list_fragments([str(tmp_path / "a.csv")])


@pytest.mark.parametrize("stamp", [(), ("5", "1700000000"), ("a: '1'", "b: '2'", "c: '3'")])
def test_an_object_of_which_a_store_tells_little_is_no_small_file(stamp: tuple[str, ...]) -> None:
    """Its stamp is what the store says, and not what the system says of files."""
    assert not Fragment(0, "s3://preds/p.csv", DataFormat.CSV, stamp=stamp).is_small
    assert Fragment(0, "p.csv", DataFormat.CSV, stamp=(1, 2, 99, 3, 4)).is_small


def test_a_short_pipe_is_looked_at_to_its_end() -> None:
    """A head longer than the stream, a header without its newline, a raw stream."""
    pipe = Pipe(io.BytesIO(b"ab"))
    assert pipe.head(8) == b"ab"
    assert pipe.first_record(",") == b"ab"
    assert pipe.reader().read() == b"ab"

    class Raw(io.RawIOBase):
        def read(self, _: int = -1) -> bytes:
            return b""

    raw = Raw()
    assert Pipe(raw, owned=True).head(8) == b""  # type: ignore[arg-type]
    assert raw.closed
