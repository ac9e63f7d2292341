"""What kind of file this is: said by the user, else by its first bytes, else by its name."""

from dataclasses import dataclass

from calibcli.errors import InputProblem
from calibcli.names import Compression, DataFormat
from calibcli.options.rows import AS_FOUND, InputFormat
from calibcli.suffixes import data_suffix, format_of

MAGIC_BYTES = 8
_PARQUET = b"PAR1"
STREAM = b"\xff\xff\xff\xff"
_ARROW = (b"ARROW1", STREAM)
_FEATHER_1 = b"FEA1"
_ZIP = b"PK\x03\x04"
_BOM = b"\xef\xbb\xbf"
_COMPRESSED = (
    (b"\x1f\x8b", Compression.GZIP),
    (b"\x28\xb5\x2f\xfd", Compression.ZSTD),
    (b"BZh", Compression.BZ2),
    (b"\x04\x22\x4d\x18", Compression.LZ4),
)
_UNREAD = {
    ".npy": "numpy.savez(FILE, score=..., label=...) makes one file of all columns",
    ".pkl": "a pickle can run code when it is opened: export CSV or Parquet instead",
    ".pickle": "a pickle can run code when it is opened: export CSV or Parquet instead",
    ".xlsx": "save the sheet as CSV",
    ".xls": "save the sheet as CSV",
    ".ods": "save the sheet as CSV",
    ".orc": "convert it to Parquet",
    ".avro": "convert it to Parquet",
    ".h5": "convert it to Parquet, or numpy.savez(FILE, score=..., label=...)",
    ".zip": "unpack it first",
    ".tar": "unpack it first",
    ".tgz": "unpack it first",
}
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_SEEKING = (DataFormat.PARQUET, DataFormat.NPZ)


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


def kind_of(head: bytes, path: str, *, asked: InputFormat = AS_FOUND) -> FileKind:
    """
    Tell what a file is.

    Args:
        head: Its first bytes, at least `MAGIC_BYTES` unless it is shorter.

        path: Its name, for the suffix and for messages.

        asked: What the user said.

    Raises:
        InputProblem: If it is a format that is not read.
    """
    forced = asked.format
    if forced is None and head.startswith(_PARQUET):
        return FileKind(DataFormat.PARQUET)
    if head.startswith(_FEATHER_1) and forced in (None, DataFormat.ARROW):
        msg = f"{path} is a Feather file of version 1, which only old readers know"
        raise InputProblem(
            msg, "read it with pandas.read_feather, and write it anew: to_feather or to_parquet"
        )
    if forced is None and head.startswith(_ARROW):
        return FileKind(DataFormat.ARROW)
    compression = next((kind for magic, kind in _COMPRESSED if head.startswith(magic)), None)
    kind = forced or _by_name(head, path)
    if kind.is_text and asked.encoding is None and head.startswith(_WIDE):
        msg = f"{path} is UTF-16 text"
        raise InputProblem(msg, "pass --encoding utf-16")
    if compression is not None and kind in _SEEKING:
        msg = f"{path} is {kind.value} within {compression.value}, and cannot be read from within it"
        raise InputProblem(msg, "decompress it first: it is compressed inside as well")
    return FileKind(kind, compression)


def _by_name(head: bytes, path: str) -> DataFormat:
    """Return the format a name promises; names without a promise are CSV, or what their first byte tells."""
    suffix = data_suffix(path)
    if suffix in _UNREAD:
        msg = f"{path}: {suffix} files are not read"
        raise InputProblem(msg, f"{_UNREAD[suffix]}; or name what it holds: path:csv")
    promised = format_of(path)
    if promised is not None:
        return promised
    if head.startswith(_ZIP):
        return DataFormat.NPZ
    json = suffix == ".json" or head.removeprefix(_BOM).lstrip()[:1] == b"{"
    return DataFormat.JSONL if json else DataFormat.CSV
