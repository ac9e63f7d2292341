"""What file names promise."""

import pytest

from calibcli.data import formats
from calibcli.data.readers import Reader, reader_type
from calibcli.data.writers import writer_of
from calibcli.errors import UsageProblem
from calibcli.names import Compression, DataFormat


@pytest.mark.parametrize(
    ("name", "kind", "compression"),
    [
        ("a.csv", DataFormat.CSV, None),
        ("a.TAB", DataFormat.TSV, None),
        ("d.csv/a.pq", DataFormat.PARQUET, None),
        ("a.tsv.zstd", DataFormat.TSV, Compression.ZSTD),
        ("a.ndjson.bz2", DataFormat.JSONL, Compression.BZ2),
        ("a.Feather", DataFormat.ARROW, None),
        ("a.npz", DataFormat.NPZ, None),
        ("a.json", None, None),
        ("a.CSV.GZIP", DataFormat.CSV, Compression.GZIP),
        ("a.gz", None, Compression.GZIP),
        ("a.csv.zip", None, None),
        ("s3://b/a.tsv.gz?endpoint_override=h.example", DataFormat.TSV, Compression.GZIP),
        ("a.tsv?b.csv", DataFormat.CSV, None),
        (".gz", None, None),
        ("-", None, None),
        ("", None, None),
    ],
)
def test_a_name_promises_a_format_and_a_compression(
    name: str, kind: DataFormat | None, compression: Compression | None
) -> None:
    """Whatever its case; the format stands before the compression."""
    assert (formats.format_of(name), formats.compression_of(name)) == (kind, compression)


def test_every_compression_has_a_suffix() -> None:
    """Each that is read can be written."""
    suffixes = (".gz", ".zst", ".bz2", ".lz4")
    assert {formats.compression_of(f"a{suffix}") for suffix in suffixes} == set(Compression)
    assert formats.data_suffix("a.JSON.lz4") == ".json"


@pytest.mark.parametrize(
    ("name", "promised"),
    [
        ("a.csv", "csv"),
        ("a.json", "json"),
        ("a.markdown", "md"),
        ("a.XLSX", "Excel"),
        ("a.csv.gz", "csv"),
        ("a.csv.zip", "zip"),
        ("a.txt", None),
        ("a.v2", None),
        ("-", None),
        ("", None),
    ],
)
def test_a_name_promises_what_else_is_written(name: str, promised: str | None) -> None:
    """Names that promise nothing may hold anything."""
    assert formats.promise_of(name) == promised


def test_what_is_written_is_what_the_name_promises() -> None:
    """Or nothing is; a compression promises what documents and reports are not."""
    for name in ("a.json", "a.txt", "a", "-"):
        formats.refuse_promise(name, "json", what="an artifact is JSON", hint="name it cal.json")
    for name, word in (("a.csv", "csv"), ("a.json.gz", "gzip")):
        with pytest.raises(UsageProblem, match=f"{name} is the name of {word}, and an artifact is JSON"):
            formats.refuse_promise(name, "json", what="an artifact is JSON", hint="name it cal.json")


def test_every_format_is_one_entry_with_a_reader_of_its_own() -> None:
    """A format without an entry, a suffix of two formats, or an entry that nothing reads is a mistake."""
    suffixes = [suffix for one in DataFormat for suffix in one.facts.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    starts = [start for one in DataFormat for start in one.facts.starts]
    assert not any(one.startswith(other) for one in starts for other in starts if one is not other)
    for kind in DataFormat:
        reader = reader_type(kind)
        assert {formats.format_of(f"a{suffix}") for suffix in kind.facts.suffixes} == {kind}
        assert issubclass(reader, Reader)
        assert not {*kind.facts.suffixes} & {*formats._OTHERS, *formats._UNREAD}
        own = {"header", "stored"} & vars(reader).keys(), {"batches", "streamed"} & vars(reader).keys()
        assert all(own), reader
        if kind.is_written:
            writer = writer_of(kind)
            assert callable(writer.write_batches)
            assert writer.fits is None or callable(writer.fits)
