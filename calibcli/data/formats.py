"""What kind of file this is: by what the user says, its first bytes or its name; what a name promises."""

from pathlib import PurePath

from calibcli.data.objects import parted
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Compression, DataFormat
from calibcli.options.rows import AS_FOUND, InputFormat

_COMPRESSIONS = {
    ".gz": Compression.GZIP,
    ".gzip": Compression.GZIP,
    ".zst": Compression.ZSTD,
    ".zstd": Compression.ZSTD,
    ".bz2": Compression.BZ2,
    ".lz4": Compression.LZ4,
}

# Names of what is neither rows nor compressed, so that nothing else is written under them.
_BY_THEIR_SUFFIX = (
    "json md html xml yaml toml sql onnx pickle png jpeg svg pdf npy orc avro hdf5 sqlite zip xz 7z tar"
)
_OTHERS = {f".{word}": word for word in _BY_THEIR_SUFFIX.split()} | {
    ".markdown": "md",
    ".htm": "html",
    ".tex": "latex",
    ".yml": "yaml",
    ".py": "python",
    ".ipynb": "notebook",
    **dict.fromkeys((".pkl", ".joblib"), "pickle"),
    ".jpg": "jpeg",
    ".docx": "Word",
    **dict.fromkeys((".xlsx", ".xls"), "Excel"),
    ".ods": "OpenDocument",
    ".h5": "hdf5",
    ".db": "sqlite",
    ".tgz": "tar",
}


def promise_of(name: str) -> str | None:
    """Return the word for what a name promises within a compression; None where it promises nothing."""
    promised = format_of(name)
    return _OTHERS.get(data_suffix(name)) if promised is None else promised.value


def refuse_promise(name: str, kind: str, *, what: str, hint: str) -> None:
    promised = promise_of(name)
    compression = compression_of(name)
    if compression is not None:
        promised = compression.value
    if promised not in (None, kind):
        msg = f"{name} is the name of {promised}, and {what}"
        raise UsageProblem(msg, hint)


def compression_of(name: str) -> Compression | None:
    return _COMPRESSIONS.get(PurePath(parted(name)[0]).suffix.lower())


def data_suffix(name: str) -> str:
    """Return the suffix for what is in a file, in lower case: that before the suffix of a compression."""
    pure = PurePath(parted(name)[0])
    return (pure if compression_of(name) is None else pure.with_suffix("")).suffix.lower()


def format_of(name: str) -> DataFormat | None:
    suffix = data_suffix(name)
    return next((kind for kind in DataFormat if suffix in kind.facts.suffixes), None)


def names_taken() -> str:
    """Return the suffixes of all files that are read, as messages list them."""
    text = [suffix for kind in DataFormat if kind.is_text for suffix in kind.facts.suffixes]
    others = [suffix for kind in DataFormat if not kind.is_text for suffix in kind.facts.suffixes]
    # The first of those that mean the same compression.
    around = list({one: suffix for suffix, one in reversed(_COMPRESSIONS.items())}.values())[::-1]
    wrapped = f"also with {', '.join(around[:-1])} or {around[-1]} after these"
    return f"{', '.join(text[:-1])} and {text[-1]}, {wrapped}, {', '.join(others[:-1])} and {others[-1]}"


MAGIC_BYTES = 8

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
    **dict.fromkeys(
        (".pkl", ".pickle", ".joblib", ".pt"),
        "a pickle can run code when it is opened: export CSV or Parquet instead",
    ),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save the sheet as CSV"),
    **dict.fromkeys(
        (".orc", ".avro", ".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt", ".rds", ".rdata"),
        "convert it to Parquet",
    ),
    **dict.fromkeys((".sqlite", ".db", ".duckdb"), "export the table as CSV or Parquet"),
    **dict.fromkeys((".h5", ".hdf5"), "convert it to Parquet, or numpy.savez(FILE, score=..., label=...)"),
    **dict.fromkeys((".zip", ".tar", ".tgz", ".7z"), "unpack it first"),
    **dict.fromkeys((".xz", ".lzma", ".br", ".z"), "decompress it first, or compress it with gz or zst"),
}

_WIDE = (b"\xff\xfe", b"\xfe\xff")


def split_forced(name: str, *, exists: bool) -> tuple[str, DataFormat | None]:
    """Split `path:fmt` into the path and the format it forces."""
    path, colon, ending = name.rpartition(":")
    if colon and path and not exists and ending in set(DataFormat):
        return path, DataFormat(ending)
    return name, None


def compression_in(head: bytes) -> Compression | None:
    return next((one for magic, one in _COMPRESSED if head.startswith(magic)), None)


def kind_of(
    head: bytes, path: str, *, requested: InputFormat = AS_FOUND, inside: bytes | None = None
) -> tuple[DataFormat, Compression | None]:
    """Tell format and compression of a file that begins so; `inside` is how what is compressed begins."""
    forced = requested.format
    if head.startswith(_FEATHER_1) and forced in (None, DataFormat.ARROW):
        msg = f"{path} is a Feather file of version 1, which only old readers know"
        raise InputProblem(
            msg, "read it with pandas.read_feather, and write it anew: to_feather or to_parquet"
        )
    kind = forced or _found(inside or head, path)
    if kind.is_text and requested.encoding is None and head.startswith(_WIDE):
        msg = f"{path} is UTF-16 text"
        raise InputProblem(msg, "pass --encoding utf-16")
    compression = compression_in(head)
    if compression is not None and kind.facts.seeks:
        msg = f"{path} is {kind.value} within {compression.value}, and cannot be read from within it"
        raise InputProblem(msg, "decompress it first: it is compressed inside as well")
    return kind, compression


def _found(head: bytes, path: str) -> DataFormat:
    """Return the format that the first bytes give away, or a name promises; other names are mostly CSV."""
    started = next((kind for kind in DataFormat if head.startswith(kind.facts.starts)), None)
    if started is not None:
        return started
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


def keeps_ascii(encoding: str | None) -> bool:
    """Whether a byte of text below 128 is always the ASCII character that it seems to be.

    Then separators, quotes and line ends can be found, and numbers read, without decoding: in UTF-8 (None)
    and in encodings of one byte a character, such as latin-1 and cp1252.
    """
    if encoding is None:
        return True
    # Behind such an escape ISO 2022 has letters of two bytes each.
    ascii_bytes = bytes(range(128)) + b"\x1b$B!!"
    try:
        return ascii_bytes.decode(encoding) == ascii_bytes.decode("ascii") and all(
            len(bytes((byte, 65)).decode(encoding, "replace")) == 2 for byte in range(256)
        )
    except UnicodeError:
        return False
