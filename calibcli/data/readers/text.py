"""Text files and pipes as bytes of UTF-8, decompressed and decoded on the way."""

import codecs
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import pyarrow as pa

from calibcli.data.arrays import NO_THREAD, no_memory
from calibcli.data.formats import keeps_ascii
from calibcli.data.fragment import Fragment
from calibcli.data.objects import is_object, opened, opened_file
from calibcli.data.pipes import signals_heard
from calibcli.errors import InputProblem

Read = Callable[[int], bytes]


@contextmanager
def opened_text(fragment: Fragment, *, decoded: bool = True) -> Iterator[pa.NativeFile]:
    """Open a file from its beginning; a pipe gives itself away on the way."""
    with opened_bytes(fragment) as stream:
        if fragment.encoding is None or not decoded:
            yield stream
        else:
            yield pa.transcoding_input_stream(stream, fragment.encoding, "utf-8")


@contextmanager
def opened_bytes(fragment: Fragment) -> Iterator[pa.NativeFile]:
    """Open a file from its beginning, decompressed."""
    if fragment.pipe is not None and fragment.streams:
        with signals_heard() as heard:
            yield pa.PythonFile(cast("io.IOBase", fragment.pipe.reader(heard=heard)), "r")
        return
    location = fragment.location
    with opened(location) if is_object(location) else opened_file(location) as file:
        if fragment.compression is None:
            yield file
        else:
            yield pa.CompressedInputStream(file, fragment.compression.value)


@contextmanager
def chunks_of(fragment: Fragment, *, decoded: bool = True) -> Iterator[Read]:
    """Give a function that returns up to so many bytes, and none at the end; of a pipe, what has come."""
    if fragment.pipe is None or not fragment.streams:
        with opened_text(fragment, decoded=decoded) as stream:
            yield stream.read
        return
    read = fragment.pipe.reader().read1
    yield read if fragment.encoding is None or not decoded else _decoding(read, fragment.encoding)


def kept_bytes(fragment: Fragment) -> bool:
    """Whether what is written beside a file's own text can be written in its encoding, byte for byte."""
    return keeps_ascii(fragment.encoding)


@contextmanager
def text_problems(shown: str, problem: Callable[[str], InputProblem]) -> Iterator[None]:
    """Say in one line what is wrong with text: by its decoder, or by `problem` what others say."""
    try:
        yield
    except UnicodeEncodeError:
        # Of the name of a file, and said where names are.
        raise
    except UnicodeError as error:
        raise _not_text(shown, error) from error
    except MemoryError as error:
        raise no_memory(shown, error) from error
    except (pa.ArrowException, OSError) as error:
        raise (no_memory(shown, error) if NO_THREAD in str(error) else problem(str(error))) from error


def _not_text(shown: str, error: UnicodeError) -> InputProblem:
    """Return what is wrong with text that is not of the encoding it should be of."""
    if isinstance(error, UnicodeDecodeError):
        msg = f"{shown} is not {error.encoding} text: {error.reason}"
        return InputProblem(msg, "name its encoding, such as --encoding latin-1")
    # UTF-16 and UTF-32 say which of their two orders of bytes it is in a mark at the beginning.
    msg = f"{shown} is not text of that encoding: {error}"
    return InputProblem(msg, "without a byte order mark pass --encoding utf-16-le or --encoding utf-16-be")


def _decoding(read: Read, encoding: str) -> Read:
    decoder = codecs.getincrementaldecoder(encoding)()
    ended = False

    def decoded(size: int) -> bytes:
        nonlocal ended
        text = ""
        while not text and not ended:
            chunk = read(size)
            ended = not chunk
            text = decoder.decode(chunk, final=ended)
        return text.encode()

    return decoded
