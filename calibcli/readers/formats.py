"""What kind of file this is: said by the user, else by its first bytes, else by its name."""

from dataclasses import dataclass

from calibcli.errors import InputProblem
from calibcli.names import Compression, DataFormat
from calibcli.suffixes import data_suffix, format_of

MAGIC_BYTES = 8
_PARQUET = b"PAR1"
_COMPRESSED = (
    (b"\x1f\x8b", Compression.GZIP),
    (b"\x28\xb5\x2f\xfd", Compression.ZSTD),
    (b"BZh", Compression.BZ2),
    (b"\x04\x22\x4d\x18", Compression.LZ4),
)
_UNREAD = {
    ".jsonl",
    ".ndjson",
    ".json",
    ".arrow",
    ".feather",
    ".npz",
    ".npy",
    ".pkl",
    ".xlsx",
    ".xls",
    ".orc",
}
_WIDE = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


@dataclass(frozen=True, slots=True)
class FileKind:
    """
    How to read a file.

    Args:
        format: What it holds.

        compression: What is wrapped around it, or None.
    """

    format: DataFormat
    compression: Compression | None = None


def split_forced(name: str, *, exists: bool) -> tuple[str, DataFormat | None]:
    """
    Split `path:fmt` into the path and the format it forces.

    Args:
        name: What the user wrote.

        exists: Whether a file of exactly that name exists, which then is meant.
    """
    path, colon, ending = name.rpartition(":")
    if colon and path and not exists and ending in set(DataFormat):
        return path, DataFormat(ending)
    return name, None


def kind_of(head: bytes, path: str, *, forced: DataFormat | None) -> FileKind:
    """
    Tell what a file is.

    Args:
        head: Its first bytes, at least `MAGIC_BYTES` unless it is shorter.

        path: Its name, for the suffix and for messages.

        forced: The format the user gave, or None.

    Raises:
        InputProblem: If it is a format that is not read.
    """
    if forced is None and head.startswith(_PARQUET):
        return FileKind(DataFormat.PARQUET)
    for magic, encoding in _WIDE:
        if head.startswith(magic) and forced is not DataFormat.PARQUET:
            msg = f"{path} is {encoding} text"
            raise InputProblem(msg, "convert it to UTF-8")
    compression = next((kind for magic, kind in _COMPRESSED if head.startswith(magic)), None)
    return FileKind(forced or _by_suffix(path), compression)


def _by_suffix(path: str) -> DataFormat:
    """Return the format a name promises; names without a promise are CSV."""
    suffix = data_suffix(path)
    if suffix in _UNREAD:
        msg = f"{path}: {suffix} files are not read"
        raise InputProblem(msg, "convert it to CSV or Parquet, or name what it holds: path:csv")
    return format_of(path) or DataFormat.CSV
