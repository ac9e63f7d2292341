"""JSON documents: one canonical text with a digest of itself, and reading that says where a value is wrong.

A document comes from outside, so nothing in it is believed: every value is taken through a `Node`, which
knows its own path and turns whatever does not fit into a `DocumentProblem`. From version 2 on each has at
its root a `digest`: the SHA-256 of its canonical text without that line, or the HMAC-SHA256 with a key. So
another layout of the same values is the same document, and any other value is another one.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from calibcli.codec import AGAIN, Node, quoted
from calibcli.data.objects import content_of, content_of_file, is_object
from calibcli.errors import DocumentProblem, InputProblem
from calibcli.names import LFS_POINTER
from calibcli.options.rows import DocumentInMemory, DocumentSource
from calibcli.values import dataclass, field

Built = TypeVar("Built")

# Ten million fingerprints of a state are 107 MB of text, a report of 4,000 groups 250 MB.
MOST_BYTES = 256 * 1024 * 1024
# Documents of the versions before have no digest of themselves.
_FIRST_SEALED = 2
# Of what is no document at all.
NO_JSON = "is this the right file?"
_DIGEST = "digest"
_SEAL = re.compile(r'\n  "digest": "([^"\n]*)",(?=\n)')
_SCHEMA = re.compile(r"(calibcli\.[a-z]+)/([0-9]{1,9})")
_PLAIN, _KEYED = "sha256:", "hmac-sha256:"
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Trust:
    """What is believed of the documents that a call reads.

    Args:
        allow_edited: Whether one that was edited after it was written is read all the same, with a note.
        keys: What states may be signed with, the first of them what they are written with; none where they
            are not signed. Whoever reads states sets them.
    """

    allow_edited: bool = False
    key_file: str | None = None
    keys: tuple[bytes, ...] = field(default=(), repr=False)


_TRUST: ContextVar[Trust] = ContextVar("trust", default=Trust())  # noqa: B039 - frozen


def trust() -> Trust:
    return _TRUST.get()


def trust_from_now_on(requested: Trust) -> None:
    """Believe so much of documents for the rest of the command."""
    _TRUST.set(requested)


@contextmanager
def trusting(requested: Trust) -> Iterator[None]:
    before = _TRUST.set(requested)
    try:
        yield
    finally:
        _TRUST.reset(before)


@dataclass(frozen=True, slots=True)
class Document(Node):
    """The root of a document, without its digest.

    Args:
        stated: The digest that stood there, or None.
        intact: Whether it is known to be that of the text; False as well where that has another layout.
    """

    stated: object = None
    intact: bool = False
    present: bool = False

    def built(self, build: Callable[[Node], Built], *, keyed: bool = False) -> tuple[Built, tuple[str, ...]]:
        """Return what a document holds, and what must be said of it wherever it is used."""
        fault = self._fault(trust().keys if keyed else ())
        try:
            found = build(self)
        except DocumentProblem as problem:
            if fault is not None and problem.hint in (None, AGAIN):
                if fault[0].startswith(_EDITED) and fault[1] == _RESTORE:
                    what = f"{_EDITED} and contradicts itself: {problem.path} {problem.detail}"
                    raise self.problem(what, _BEYOND) from None
                raise DocumentProblem(problem.path, problem.detail, f"the document {fault[0]}") from None
            raise
        if fault is not None:
            what, hint = fault
            if not trust().allow_edited:
                raise self.problem(what, hint)
            return found, (f"{what}; read all the same, as --allow-edited says",)
        schema = self._schema
        if schema is not None and schema[1] < _FIRST_SEALED:
            of_old = f"was written as {schema[0]}/{schema[1]}, which has no digest"
            return found, (f"{of_old}: whether it was edited cannot be told",)
        return found, ()

    @property
    def entire(self) -> dict[str, object]:
        """The values of an object with the digest that stood there."""
        return {**self._members(), **({_DIGEST: self.stated} if self.present else {})}

    @property
    def family(self) -> str | None:
        """What kind of document it says it is, whatever the version, such as "calibcli.artifact"."""
        named = self.value.get("schema") if isinstance(self.value, dict) else None
        return named.partition("/")[0] if isinstance(named, str) else None

    @property
    def _schema(self) -> tuple[str, int] | None:
        """The family and the version, where the document names one of ours."""
        named = self.value.get("schema") if isinstance(self.value, dict) else None
        found = _SCHEMA.fullmatch(named) if isinstance(named, str) else None
        return None if found is None else (found[1], int(found[2]))

    def _fault(self, keys: Sequence[bytes]) -> tuple[str, str] | None:  # noqa: PLR0911 - one return a fault
        """Return what is wrong with the digest and what to do, or None."""
        schema, stated = self._schema, self.stated
        sealed = schema is not None and schema[1] >= _FIRST_SEALED
        if not sealed and not keys:
            # The digest of a summary of version 1 was that of its table.
            later = schema is not None and schema[0] != "calibcli.summary" and _DIGEST in self.members()
            return ("has a digest, and its version had none", _RESTORE) if later else None
        if not sealed or (isinstance(stated, str) and stated.startswith(_PLAIN) and keys):
            return "is not signed with a key", _UNSIGNED
        if isinstance(stated, str) and stated.startswith(_KEYED) and not keys:
            return "is signed with a key, and none was given", _NO_KEY
        if not self.present:
            return f"{_EDITED}: its digest is missing", _RESTORE
        if self.intact:
            return None
        if isinstance(stated, str) and self._fits(stated, keys):
            return None
        if keys:
            return f"{_EDITED}, or signed with another key", _OTHER_KEY
        return f"{_EDITED}: its digest is not that of what it says", _RESTORE

    def _fits(self, stated: str, keys: Sequence[bytes]) -> bool:
        """Whether a digest is that of the values, however they were laid out."""
        try:
            found = _digests(_laid_out(self.value, "\n"), keys)
        except (ValueError, RecursionError):  # an infinite number, or too deep to have been written
            return False
        return _is_among(stated, found)


_RESTORE = "restore it from a copy, or make it again; if the edit is intended, pass --allow-edited"
_BEYOND = "restore it from a copy, or make it again; --allow-edited cannot read what contradicts itself"
_EDITED = "was edited after it was written"
_UNSIGNED = "if it is yours, pass --allow-edited: it is signed from now on"
_NO_KEY = "name the key with --state-key-file FILE, or in CALIBCLI_STATE_KEY"
_OTHER_KEY = "restore it, or give the key that it was signed with; an old key may stand below the new one"


def canonical_text(document: dict[str, object]) -> str:
    """Return the one text of values: sorted keys, two spaces, shortest floats that read back the same."""
    return "".join(_laid_out(document, "\n")) + "\n"


def _laid_out(value: object, line: str) -> Iterator[str]:
    """Yield the text of a value whose lines begin with `line`, as `json` lays it out with an indent of two.

    With an indent `json` writes number by number in Python; here what holds plain values is written at once.
    """
    inside = f"{line}  "
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    if _PLAIN_TYPES.issuperset(map(type, parts)):
        text = _encoder(inside).encode(value)
        yield f"{text[0]}{inside}{text[1:-1]}{line}{text[-1]}" if parts else text
    elif isinstance(value, dict):
        start = "{"
        for key in sorted(value):
            yield f"{start}{inside}{_encoder('').encode(key)}: "
            yield from _laid_out(value[key], inside)
            start = ","
        yield f"{line}}}"
    else:
        start = "["
        for one in parts:
            yield f"{start}{inside}"
            yield from _laid_out(one, inside)
            start = ","
        yield f"{line}]"


_PLAIN_TYPES = frozenset((str, int, float, bool, type(None)))


@cache
def _encoder(line: str) -> json.JSONEncoder:
    """Return what writes plain values, and lists and objects of them with so much between any two."""
    return json.JSONEncoder(sort_keys=True, allow_nan=False, separators=(f",{line}", ": "))


def sealed_text(document: dict[str, object], *, key: bytes | None = None) -> str:
    text = canonical_text({**document, _DIGEST: ""})
    seal = _SEAL.search(text)
    if seal is None:
        msg = "no key of the document sorts behind its digest"
        raise ValueError(msg)
    start, end = seal.span()
    (digest,) = _digests(_around(text, start, end), () if key is None else (key,))
    return f'{text[:start]}\n  "{_DIGEST}": "{digest}",{text[end:]}'


def sealed(document: dict[str, object]) -> dict[str, object]:
    """Return a document with its digest, as plain values."""
    rest = {key: value for key, value in document.items() if key != _DIGEST}
    (digest,) = _digests(_laid_out(rest, "\n"), ())
    return {**rest, _DIGEST: digest}


def _around(text: str, start: int, end: int) -> Iterator[str]:
    """Return a text without a part of it and without its last line feed, in pieces: it may be large."""
    for first, last in ((0, start), (end, len(text) - text.endswith("\n"))):
        yield from (text[at : min(at + _PIECE, last)] for at in range(first, last, _PIECE))


def _digests(pieces: Iterable[str], keys: Sequence[bytes]) -> list[str]:
    """Return the digest of a text, or one for each key."""
    if not keys:
        plain = hashlib.sha256()
        for piece in pieces:
            plain.update(piece.encode())
        return [f"{_PLAIN}{plain.hexdigest()}"]
    signing = [hmac.new(key, digestmod=hashlib.sha256) for key in keys]
    for piece in pieces:
        for one in signing:
            one.update(piece.encode())
    return [f"{_KEYED}{one.hexdigest()}" for one in signing]


def parse(content: bytes) -> Document:
    root = Node(None)
    if len(content) > MOST_BYTES:
        msg = f"is larger than the {MOST_BYTES // 2**20} MiB of a document that calibcli reads"
        raise root.problem(
            msg, "only a report of very many groups, classes or scores is as large: report fewer at once"
        )
    try:
        text = content.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        msg = f"is not a text file (byte {error.start} is not UTF-8)"
        raise root.problem(msg, NO_JSON) from None
    except json.JSONDecodeError as error:
        raise _not_json(error, text) from None
    except RecursionError:
        msg = "is nested too deeply"
        raise root.problem(msg, NO_JSON) from None
    except ValueError:  # what the reader raises for an integer of thousands of digits
        msg = "holds a number with too many digits"
        raise root.problem(msg, NO_JSON) from None
    return document_of(value, text)


def document_of(value: object, text: str = "") -> Document:
    """Return values as a document: its digest, where it is of a version that has one, set apart."""
    whole = Document(value)
    schema = whole._schema  # noqa: SLF001
    if not isinstance(value, dict) or schema is None or schema[1] < _FIRST_SEALED:
        return whole
    stated = value.get(_DIGEST)
    seal = _SEAL.search(text)
    intact = False
    if seal is not None and seal[1] == stated:
        # Our own layout is the usual one: its text need not be made again to be held against its digest.
        keys = trust().keys if stated.startswith(_KEYED) else ()
        intact = _is_among(stated, _digests(_around(text, *seal.span()), keys))
    rest = {key: member for key, member in value.items() if key != _DIGEST}
    return Document(rest, stated=stated, intact=intact, present=_DIGEST in value)


def read_document(
    path: DocumentSource, *, origin: str = "an artifact is what `calibcli fit` writes"
) -> Document:
    if isinstance(path, DocumentInMemory):
        held = path.content
        return document_of(held if isinstance(held, dict) else sealed(held.to_dict()))
    if is_object(str(path)):
        return parse(content_of(str(path), MOST_BYTES + 1))
    try:
        return parse(content_in(path))
    except FileNotFoundError:
        msg = f"{path}: there is no such file"
        raise InputProblem(msg, origin) from None


def content_in(path: str | Path) -> bytes:
    """Return the bytes of a document, and one more where it is too large; the file must be there."""
    try:
        return content_of_file(path, MOST_BYTES + 1)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        msg = f"{path}: cannot be read ({reason})"
        raise InputProblem(msg) from None


def in_file(path: DocumentSource | Path, problem: DocumentProblem) -> DocumentProblem:
    place = f"{path}" if problem.path == "$" else f"{path}: {problem.path}"
    return DocumentProblem(place, problem.detail, problem.hint)


def eight_bytes(node: Node, count: int | None = None) -> bytes:
    """Return the base64 text of a node as so many numbers of eight bytes, None for any number of them."""
    try:
        content = base64.b64decode(node.text(), validate=True)
    except (binascii.Error, ValueError):
        content = b"?"
    if len(content) % 8 or count not in (None, len(content) // 8):
        what = "whole numbers" if count is None else f"{count:,} numbers"
        msg = f"is not the base64 text of {what} of eight bytes"
        raise node.problem(msg)
    return content


def _is_among(stated: str, digests: Sequence[str]) -> bool:
    return any(hmac.compare_digest(stated.encode(errors="replace"), one.encode()) for one in digests)


def _not_json(error: json.JSONDecodeError, text: str) -> DocumentProblem:
    """Tell a file that was cut short from one that is something else."""
    place = f"line {error.lineno}, column {error.colno}"
    unfinished = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    if not text.strip():
        return DocumentProblem("$", "is empty", AGAIN)
    if unfinished and text.lstrip().startswith("{"):
        message = f"ends too early, at {place}"
        return DocumentProblem("$", message, f"the file was cut short: {AGAIN}")
    if text.startswith(LFS_POINTER):
        message = "is a pointer of Git LFS, and not the file itself"
        return DocumentProblem("$", message, "fetch it: git lfs pull")
    if text.startswith("<<<<<<< "):
        message = "holds two documents that Git could not merge"
        return DocumentProblem("$", message, "take one of them whole: git checkout --ours FILE, or --theirs")
    return DocumentProblem("$", f"is not JSON: {error.msg} at {place}", NO_JSON)


def _no_constant(name: str) -> NoReturn:
    msg = f"holds {name}, which JSON does not have"
    raise Node(None).problem(msg)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that names a key twice: readers would disagree about its value."""
    members = dict(pairs)
    if len(members) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        msg = f"repeats the key {quoted(key)}"
        raise Node(None).problem(msg)
    return members
