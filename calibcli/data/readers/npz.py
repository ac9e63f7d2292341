"""Arrays that `numpy.savez` wrote: one column each, read side by side as the archive streams by.

A two-dimensional array is a column of lists; one in column-major order is held whole, all others a batch at
a time. Nothing is unpickled: arrays of Python objects are refused.
"""

import re
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.data.arrays import Column, list_column, numbers, texts
from calibcli.data.columns import ResolvedColumns
from calibcli.data.objects import is_object, opened
from calibcli.data.readers import Reader, batch_rows, read_problems
from calibcli.data.values import in_double
from calibcli.errors import InputProblem
from calibcli.values import dataclass

_ENDING = ".npy"
# How long the length of a header is, by the version of the format.
_LENGTHS = {(1, 0): 2, (2, 0): 4}
# As numpy has it: what is longer might take long to parse.
_LONGEST_HEADER = 10_000
_MOST_ROWS = 1 << 48
_ARRAY = npt.NDArray[Any]
# What zipfile and numpy raise where an archive is not what it should be.
_DAMAGES = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    EOFError,
    ValueError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
)


@dataclass(frozen=True, slots=True)
class _Column:
    """An array in the archive.

    Args:
        shape: Its shape; that of a single column of several is that of a plain one.
        by_column: Whether its columns, not its rows, stand one after the other.
    """

    name: str
    dtype: "np.dtype[Any]"
    shape: tuple[int, ...]
    by_column: bool

    @property
    def width(self) -> int:
        """How many numbers a row has, 1 for a plain column."""
        return 1 if len(self.shape) == 1 else self.shape[1]

    @property
    def size(self) -> int:
        """As how much memory as so many numbers a row takes: each text has the length of the longest."""
        return self.width if self.dtype.kind not in "US" else max(1, self.dtype.itemsize // 8)

    @property
    def kind(self) -> pa.DataType:
        if self.dtype.kind in "US":
            return pa.string()
        one = pa.float64() if self.dtype.itemsize > 8 else pa.from_numpy_dtype(self.dtype)
        return one if len(self.shape) == 1 else pa.list_(pa.float64(), self.shape[1])

    @property
    def said(self) -> str:
        return f"{self.dtype} {self.shape}"


class NpzReader(Reader):
    """Arrays side by side."""

    def header(self) -> tuple[str, ...]:
        with self._opened() as archive:
            return _names(archive)

    def streamed(
        self, names: Sequence[str] | None, *, width: int, words: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        with self._opened() as archive, ExitStack() as open_arrays:
            columns = _columns(archive, _names(archive) if names is None else names, self.fragment.shown)
            most = batch_rows(max(1, sum(one.size for one in columns)))
            parts = [
                _rows(one, open_arrays.enter_context(_stream(archive, one.name)), most) for one in columns
            ]
            schema = pa.schema([pa.field(one.name, one.kind) for one in columns])
            for values in zip(*parts, strict=True):
                arrays = [_array(part, one) for part, one in zip(values, columns, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def schema(self, resolved: ResolvedColumns) -> pa.Schema:
        with self._opened() as archive:
            columns = _columns(archive, resolved.carries(_names(archive)), self.fragment.shown)
        return pa.schema([pa.field(one.name, one.kind) for one in columns])

    def kinds(self) -> tuple[tuple[str, str], ...]:
        with self._opened() as archive:
            return tuple((name, _described(archive, name).said) for name in _names(archive))

    def row_count(self) -> int | None:
        """Return how many rows there are, where all arrays have the same number."""
        with self._opened() as archive:
            lengths = {(_described(archive, name).shape or (1,))[0] for name in _names(archive)}
        return lengths.pop() if len(lengths) == 1 else None

    def list_length(self, name: str) -> int | None:
        with self._opened() as archive:
            shape = _described(archive, name).shape
        return shape[1] if len(shape) == 2 else None

    @contextmanager
    def _opened(self) -> Iterator[zipfile.ZipFile]:
        location = self.fragment.location
        with (
            read_problems(self.fragment.shown, " as npz", *_DAMAGES),
            opened(location) if is_object(location) else Path(location).open("rb") as file,
            zipfile.ZipFile(cast("IO[bytes]", file)) as archive,
        ):
            _refuse_several(archive)
            if not _names(archive):
                msg = f"{self.fragment.shown} cannot be read as npz: it holds no arrays"
                raise InputProblem(msg, "unpack it first, if it is a zip of something else")
            yield archive


READER = NpzReader


def _names(archive: zipfile.ZipFile) -> tuple[str, ...]:
    return tuple(name.removesuffix(_ENDING) for name in archive.namelist() if name.endswith(_ENDING))


def _columns(archive: zipfile.ZipFile, names: Sequence[str], shown: str) -> list[_Column]:
    """Return some arrays, which must be columns of one length."""
    found = [_described(archive, name) for name in names]
    for one in found:
        _refuse_unread(one, shown)
        if one.shape[0] != found[0].shape[0]:
            first = f"{found[0].shape[0]:,} in {found[0].name!r}"
            msg = f"{shown}, array {one.name!r}: it has {one.shape[0]:,} rows, and there are {first}"
            raise InputProblem(
                msg,
                "every array needs one value, or one row, for each row: save others, such as names, apart",
            )
    return found


def _refuse_unread(one: _Column, shown: str) -> None:
    if one.dtype.hasobject:
        msg = f"{shown}, array {one.name!r}: it holds Python objects, which only a pickle could give back"
        raise InputProblem(msg, "a pickle can run code: save numbers or text, such as array.astype(str)")
    text = one.dtype.kind in "US"
    if one.dtype.kind not in "biufUS" or one.dtype.itemsize == 0 or len(one.shape) not in (1, 2 - text):
        msg = f"{shown}, array {one.name!r}: it holds {one.said}, which is no column"
        raise InputProblem(msg, "save one-dimensional arrays of numbers or text, or rows of probabilities")


def _rows(one: _Column, stream: IO[bytes], most: int) -> Iterator[_ARRAY]:
    _shape_of(stream)
    rows = one.shape[0]
    if one.by_column and one.width > 1:
        whole = np.frombuffer(_exactly(stream, rows * one.width * one.dtype.itemsize), one.dtype)
        matrix = whole.reshape(one.width, rows).T
        yield from (matrix[start : start + most] for start in range(0, rows, most))
    else:
        for start in range(0, rows, most):
            count = min(most, rows - start)
            content = _exactly(stream, count * one.width * one.dtype.itemsize)
            values = np.frombuffer(content, one.dtype)
            yield values if len(one.shape) == 1 else values.reshape(count, one.width)
    if stream.read(1):
        msg = f"array {one.name!r} goes on after its end"
        raise zipfile.BadZipFile(msg)


def _array(values: _ARRAY, one: _Column) -> Column:
    if one.dtype.kind in "US":
        return _text(values)
    if values.ndim == 2:
        return list_column(values, one.kind)
    if one.dtype.kind == "b":
        return numbers(np.ascontiguousarray(values).view(np.uint8), pa.uint8()).cast(pa.bool_())
    wide = one.dtype.itemsize > 8
    return numbers(in_double(values) if wide else values.astype(one.dtype.newbyteorder("=")), one.kind)


def _text(values: _ARRAY) -> Column:
    if values.dtype.kind == "U":
        codes = np.ascontiguousarray(values).view(np.dtype(np.uint32).newbyteorder(values.dtype.byteorder))
        if codes.size and codes.max() > sys.maxunicode:
            msg = "an array of text holds what is no letter"
            raise zipfile.BadZipFile(msg)
        values = np.char.encode(values, "utf-8", "strict")
    return texts(values.tolist(), pa.binary()).cast(pa.string())


def _described(archive: zipfile.ZipFile, name: str) -> _Column:
    with _stream(archive, name) as stream:
        shape, by_column, dtype = _shape_of(stream)
    single = len(shape) == 2 and shape[1] == 1
    return _Column(name, dtype, shape[:1] if single else shape, by_column)


def _shape_of(stream: IO[bytes]) -> "tuple[tuple[int, ...], bool, np.dtype[Any]]":
    version = np.lib.format.read_magic(stream)
    if version not in _LENGTHS:
        msg = f"an array has a header of version {version[0]}.{version[1]}"
        raise zipfile.BadZipFile(msg)
    length = int.from_bytes(_exactly(stream, _LENGTHS[version]), "little")
    if length > _LONGEST_HEADER:
        msg = f"an array has a header of {length:,} bytes"
        raise zipfile.BadZipFile(msg)
    # Python 2 wrote 5L, of which numpy warns.
    header = re.sub(rb"(\d)L\b", rb"\1", _exactly(stream, length))
    try:
        found = np.lib.format.read_array_header_1_0(BytesIO(len(header).to_bytes(2, "little") + header))
    except (SyntaxError, TokenError, TypeError, RecursionError, MemoryError) as error:
        msg = "the header of an array is damaged"
        raise zipfile.BadZipFile(msg) from error
    if any(not 0 <= size <= _MOST_ROWS for size in found[0]):
        msg = f"an array has the shape {found[0]}"
        raise zipfile.BadZipFile(msg)
    return found


def _stream(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    return archive.open(f"{name}{_ENDING}")


def _exactly(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) != size:
        msg = "an array is cut short"
        raise zipfile.BadZipFile(msg)
    return content


def _refuse_several(archive: zipfile.ZipFile) -> None:
    """Refuse archives that were put one after the other, of which only the last would be seen."""
    if min((one.header_offset for one in archive.infolist()), default=0) > 0:
        msg = "something stands before it: are several files in one? Then name them one by one instead"
        raise zipfile.BadZipFile(msg)
