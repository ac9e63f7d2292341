"""What a file name promises of its content: the same when a file is read and when it is written."""

from pathlib import PurePath

from calibcli.names import Compression, DataFormat

_FORMATS = {
    ".csv": DataFormat.CSV,
    ".tsv": DataFormat.TSV,
    ".tab": DataFormat.TSV,
    ".jsonl": DataFormat.JSONL,
    ".ndjson": DataFormat.JSONL,
    ".parquet": DataFormat.PARQUET,
    ".pq": DataFormat.PARQUET,
    ".arrow": DataFormat.ARROW,
    ".arrows": DataFormat.ARROW,
    ".feather": DataFormat.ARROW,
    ".ipc": DataFormat.ARROW,
    ".npz": DataFormat.NPZ,
}
_COMPRESSIONS = {
    ".gz": Compression.GZIP,
    ".gzip": Compression.GZIP,
    ".zst": Compression.ZSTD,
    ".zstd": Compression.ZSTD,
    ".bz2": Compression.BZ2,
    ".lz4": Compression.LZ4,
}


def compression_of(name: str) -> Compression | None:
    """Return the compression that a name promises, or None."""
    return _COMPRESSIONS.get(PurePath(name).suffix.lower())


def data_suffix(name: str) -> str:
    """Return the suffix for what is in a file, in lower case: that before the suffix of a compression."""
    pure = PurePath(name)
    return (pure if compression_of(name) is None else pure.with_suffix("")).suffix.lower()


def format_of(name: str) -> DataFormat | None:
    """Return the format that a name promises, or None."""
    return _FORMATS.get(data_suffix(name))
