"""Files in object stores, through `pyarrow.fs`: named by addresses such as `s3://bucket/preds.parquet`.

Credentials, regions and endpoints are what the store's own configuration says (`AWS_PROFILE`,
`AWS_ENDPOINT_URL`, ...); nothing of them passes through here.
"""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from calibcli.errors import InputProblem, OutputProblem, UsageProblem, first_words, without_secrets

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import FileInfo, FileSystem

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss")

FileStamp = tuple[int, int, int, int, int]
ObjectStamp = tuple[str, ...]


def file_stamp(file: str | int) -> FileStamp:
    """Return what changes with a file: device, number, size, and the times of its content and of its entry.

    The last one cannot be put back as the one before can.
    """
    found = os.stat(file)  # noqa: PTH116 - also of a descriptor
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def is_object(path: str) -> bool:
    scheme, mark, _ = path.partition("://")
    return bool(mark) and scheme.lower() in SCHEMES


def parted(path: str) -> tuple[str, str]:
    """Return an address, and the options behind it with their question mark; other paths have none."""
    place, mark, options = path.partition("?") if is_object(path) else (path, "", "")
    return place, f"{mark}{options}"


def object_name(address: str) -> str:
    """Return what all addresses of one object share, whatever options follow it."""
    scheme, _, rest = address.partition("://")
    place, _, options = rest.partition("?")
    elsewhere = [one for one in options.split("&") if one.startswith(("endpoint", "scheme"))]
    store = {"gcs": "gs", "abfss": "abfs"}.get(scheme.lower(), scheme.lower())
    return f"{store}://{place}?{'&'.join(sorted(elsewhere))}"


def objects_below(address: str) -> list[str] | None:
    """Addresses of the objects below one, in order of their names; None where it is an object itself."""
    from pyarrow.fs import FileSelector, FileType

    with _store_errors(address):
        store, key = _resolved(address)
        info = _info(store, key)
        if info.type is FileType.File and not parted(address)[0].endswith("/"):
            return None
        below = store.get_file_info(FileSelector(key.rstrip("/"), allow_not_found=True, recursive=True))
    root, options = parted(address)
    start = len(key.rstrip("/")) + 1
    names = sorted(one.path[start:] for one in below if one.type is FileType.File)
    if not below:
        msg = f"{address}: there is no such object"
        raise InputProblem(msg)
    return [f"{root.rstrip('/')}/{name}{options}" for name in names]


@contextmanager
def source_of(location: str) -> "Iterator[str | pa.NativeFile]":
    """Give what pyarrow's readers take: the path of a file as it is, an object opened."""
    if is_object(location):
        with opened(location) as file:
            yield file
    elif _read_by_name(location):
        yield location
    else:
        with opened_file(location) as file:
            yield file


def opened_file(path: str) -> "pa.NativeFile":
    import pyarrow as pa

    return pa.OSFile(path, "rb") if _read_by_name(path) else pa.PythonFile(Path(path).open("rb"), "r")


def _read_by_name(path: str) -> bool:
    """Whether pyarrow, which takes every name for UTF-8, opens the file that the system has by it."""
    return path.isascii() or sys.getfilesystemencoding() == "utf-8"


@contextmanager
def opened(address: str) -> "Iterator[pa.NativeFile]":
    with _store_errors(address):
        store, key = _resolved(address)
        file = store.open_input_file(key)
    with file:
        yield file


def content_of(address: str, most: int) -> bytes:
    with opened(address) as file, _store_errors(address):
        return file.read(most)


def content_of_file(path: str | Path, most: int) -> bytes:
    with Path(path).open("rb") as file:
        content = content_unless_changed(file, most)
    if content is None:
        msg = f"{path} changed while it was read"
        raise InputProblem(msg, "run this again once nobody writes to it")
    return content


def content_unless_changed(file: BinaryIO, most: int) -> bytes | None:
    """Return the first bytes of an open file, at most so many; None if it is written to meanwhile."""
    before = file_stamp(file.fileno())
    content = file.read(most)
    # What comes through a pipe changes with every byte.
    changed = file_stamp(file.fileno()) != before and stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    return None if changed else content


def object_stamp(address: str) -> ObjectStamp | None:
    """Size and time, which every store tells before an object is opened; None where there is none."""
    from pyarrow.fs import FileType

    info = _info(*_resolved(address))
    return None if info.type is not FileType.File else (str(info.size), str(info.mtime_ns))


def object_version(address: str) -> ObjectStamp:
    """Return what a store tells of an object that is opened, such as size, time and ETag."""
    with opened(address) as file, _store_errors(address):
        told = tuple(f"{key}: {value!r}" for key, value in sorted(dict(file.metadata()).items()))
    if told:
        return told
    with _store_errors(address):
        return object_stamp(address) or ()


def refuse_existing_object(address: str, *, force: bool) -> ObjectStamp | None:
    """Refuse to replace an object unasked; return what tells whether it is another one later."""
    with _store_errors(address, writing=True):
        there = object_stamp(address)
    if there is not None and not force:
        msg = f"{address} exists already"
        raise OutputProblem(msg, "pass --force to replace it")
    return there


def upload(path: str, address: str) -> None:
    """Make a file an object, whole or not at all."""
    from pyarrow.fs import LocalFileSystem, copy_files

    with _store_errors(address, writing=True):
        store, key = _resolved(address)
        # Within one call that no signal interrupts: it ends with all of the file, or none of it.
        copy_files(path, key, LocalFileSystem(), store, use_threads=False)
        if _info(store, key).size != Path(path).stat().st_size:
            store.delete_file(key)
            msg = f"{address} was written only in part, and was removed"
            raise OutputProblem(msg, "try again")


def refuse_secrets(address: str) -> None:
    """Refuse an address that holds a secret: reports would show it, and so this message does not."""
    scheme, _, rest = address.partition("://")
    place, _, options = rest.partition("?")
    user, _, host = place.partition("/")[0].rpartition("@")
    _, colon, port = host.partition(":")
    hidden = without_secrets(f"?{options}") != f"?{options}" or "secret" in options.lower()
    if ":" in user or (colon and not port.isdigit()) or hidden:
        msg = f"an address of {scheme.lower()}:// holds a secret, which would appear in reports and messages"
        raise UsageProblem(msg, "leave credentials to the store's own configuration, such as AWS_PROFILE")


def _resolved(address: str) -> "tuple[FileSystem, str]":
    from pyarrow.fs import FileSystem

    refuse_secrets(address)
    return FileSystem.from_uri(address)


def _info(store: "FileSystem", key: str) -> "FileInfo":
    return store.get_file_info([key])[0]


@contextmanager
def _store_errors(address: str, *, writing: bool = False) -> Iterator[None]:
    """Turn what a store says into one line that names the object."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError) as error:
        if isinstance(error, FileNotFoundError) and not writing:
            msg = f"{address}: there is no such object"
            raise InputProblem(msg) from None
        msg = f"{address} cannot be {'written' if writing else 'read'}: {first_words(error)[:300]}"
        hint = "are the credentials, the region and the endpoint those of the store?"
        raise (OutputProblem if writing else InputProblem)(msg, hint) from error
