"""What a file name promises of its content: the same when a file is read and when it is written."""

from pathlib import PurePath

from calibcli.errors import UsageProblem
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
# Names of what is neither rows nor compressed, so that nothing else is written under them.
_OTHERS = {
    ".json": "json",
    ".md": "md",
    ".markdown": "md",
    ".html": "html",
    ".htm": "html",
    ".xml": "xml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".sql": "sql",
    ".py": "python",
    ".ipynb": "notebook",
    ".onnx": "onnx",
    ".pkl": "pickle",
    ".pickle": "pickle",
    ".joblib": "pickle",
    ".png": "png",
    ".jpg": "jpeg",
    ".jpeg": "jpeg",
    ".svg": "svg",
    ".pdf": "pdf",
    ".docx": "Word",
    ".xlsx": "Excel",
    ".xls": "Excel",
    ".ods": "OpenDocument",
    ".npy": "npy",
    ".orc": "orc",
    ".avro": "avro",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".sqlite": "sqlite",
    ".db": "sqlite",
    ".zip": "zip",
    ".xz": "xz",
    ".7z": "7z",
    ".tar": "tar",
    ".tgz": "tar",
}


def promise_of(name: str) -> str | None:
    """Return the word for what a name promises within a compression; None where it promises nothing."""
    promised = format_of(name)
    return _OTHERS.get(data_suffix(name)) if promised is None else promised.value


def refuse_promise(name: str, kind: str, *, what: str, hint: str) -> None:
    """
    Refuse a name that promises something else than what is written under it.

    Args:
        name: The name of the output.

        kind: The word for what is written.

        what: What it is to the user.

        hint: What to do.

    Raises:
        UsageProblem: If it does.
    """
    promised = promise_of(name)
    compression = compression_of(name)
    if compression is not None:
        promised = compression.value
    if promised not in (None, kind):
        msg = f"{name} is the name of {promised}, and {what}"
        raise UsageProblem(msg, hint)


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
