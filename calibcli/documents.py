"""
JSON documents: one canonical text, and reading that says where a value is wrong.

A document comes from outside, so nothing in it is believed: every value is taken through a `Node`, which
knows its own path and turns whatever does not fit into a `DocumentProblem`.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from calibcli.errors import DocumentProblem

Name = TypeVar("Name", bound=StrEnum)

MOST_BYTES = 64 * 1024 * 1024
AGAIN = "write it again with the command that made it"
_LONGEST_QUOTE = 40


@dataclass(frozen=True, slots=True)
class Node:
    """
    A value of a document and where it stands.

    Args:
        value: What the JSON reader made of it.

        path: Such as `$.parameters.knots[3]`.
    """

    value: object
    path: str = "$"

    def problem(self, message: str, hint: str | None = None) -> DocumentProblem:
        """Return the error that names this place."""
        return DocumentProblem(self.path, message, hint)

    def child(self, key: str) -> "Node":
        """Return the member of an object; it must be there."""
        members = self._members()
        if key not in members:
            msg = f"has no {key!r}"
            raise self.problem(msg)
        return Node(members[key], f"{self.path}.{key}")

    def optional(self, key: str) -> "Node | None":
        """Return the member of an object, or None where it is null; it must be there."""
        node = self.child(key)
        return None if node.value is None else node

    def members(self) -> dict[str, "Node"]:
        """Return every member of an object."""
        return {key: Node(value, f"{self.path}.{key}") for key, value in self._members().items()}

    def only(self, *keys: str) -> None:
        """Refuse an object whose keys are not exactly these."""
        members = self._members()
        for key in keys:
            self.child(key)
        for key in members:
            if key not in keys:
                msg = f"has the unknown key {_quoted(key)}; it may have {', '.join(keys)}"
                raise self.problem(msg)

    def items(self) -> tuple["Node", ...]:
        """Return the elements of an array."""
        if not isinstance(self.value, list):
            self._refuse("an array")
        return tuple(Node(value, f"{self.path}[{i}]") for i, value in enumerate(self.value))

    def number(self, lower: float = -math.inf, upper: float = math.inf) -> float:
        """Return a finite number between two limits, both allowed; true and false are not numbers."""
        value = self.value
        expected = _interval_words(lower, upper)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._refuse(expected)
        if not lower <= value <= upper or not _is_finite(value):
            self._refuse(expected)
        return float(value)

    def numbers(self, lower: float = -math.inf, upper: float = math.inf) -> list[float]:
        """Return an array of finite numbers between two limits."""
        return [item.number(lower, upper) for item in self.items()]

    def number_or_infinity(self) -> float:
        """Return a number that is not NaN; JSON has no infinity, so that is written as a string."""
        return math.inf if self.value == "inf" else self.number()

    def whole(self, least: int = 0, most: int = 2**63 - 1) -> int:
        """Return a whole number between two limits; 3.0 is not whole enough, since we never write it."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self._refuse(f"a whole number between {least} and {most}")
        return value

    def wholes(self, least: int = 0) -> list[int]:
        """Return an array of whole numbers."""
        return [item.whole(least) for item in self.items()]

    def truth(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self._refuse("true or false")
        return self.value

    def text(self) -> str:
        """Return a string that can be printed."""
        if not isinstance(self.value, str):
            self._refuse("a string")
        if any("\ud800" <= letter <= "\udfff" for letter in self.value):
            self._refuse("text without half surrogates")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """Return an array of strings."""
        return tuple(item.text() for item in self.items())

    def choice(self, names: type[Name]) -> Name:
        """Return a member of a closed vocabulary."""
        if not isinstance(self.value, str) or self.value not in list(names):
            self._refuse(f"one of {', '.join(names)}")
        return names(self.value)

    def expect(self, value: object) -> None:
        """Refuse anything but this value, which other parts of the document imply."""
        if isinstance(value, dict):
            self.only(*value)
            for key, member in value.items():
                self.child(key).expect(member)
        elif isinstance(value, list):
            same_length(self, len(value), reason="as the rest of the document has it")
            for item, member in zip(self.items(), value, strict=True):
                item.expect(member)
        elif self.value != value or isinstance(self.value, bool) != isinstance(value, bool):
            msg = f"is {_quoted(self.value)}, but the rest of the document makes it {_quoted(value)}"
            raise self.problem(msg, AGAIN)

    def _members(self) -> dict[str, object]:
        if not isinstance(self.value, dict):
            self._refuse("an object")
        return self.value

    def _refuse(self, expected: str) -> NoReturn:
        msg = f"is {_quoted(self.value)}, should be {expected}"
        raise self.problem(msg)


def ascending(nodes: Sequence[Node], *, strictly_from: int = 0) -> None:
    """
    Refuse numbers that fall, or that repeat from a position on.

    Args:
        nodes: Nodes already known to be numbers.

        strictly_from: From this position on a number must be larger than the one before it.
    """
    values = [node.number() for node in nodes]
    for i in range(1, len(values)):
        if values[i] < values[i - 1] or (i > strictly_from and values[i] == values[i - 1]):
            msg = f"is {values[i]!r}, should be above {values[i - 1]!r}, the number before it"
            raise nodes[i].problem(msg)


def same_length(node: Node, count: int, *, reason: str) -> None:
    """Refuse an array that has not `count` elements, `reason` being what asks for them."""
    found = len(node.items())
    if found != count:
        msg = f"has {found} elements, should have {count} ({reason})"
        raise node.problem(msg)


def canonical_text(document: dict[str, object]) -> str:
    """Return the one text of a document: sorted keys, two spaces, shortest floats that read back the same."""
    return json.dumps(document, sort_keys=True, indent=2, allow_nan=False) + "\n"


def parse(content: bytes, *, most: int = MOST_BYTES) -> Node:
    """
    Return the root of a JSON document.

    Args:
        content: Its bytes.

        most: How many there may be.

    Raises:
        DocumentProblem: If it is too large, not UTF-8, not JSON, cut short, nested too deeply, repeats a
            key, or holds NaN or Infinity.
    """
    root = Node(None)
    if len(content) > most:
        msg = f"is larger than {most // 2**20} MiB"
        raise root.problem(msg, "this cannot be a calibcli document")
    try:
        text = content.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        msg = f"is not a text file (byte {error.start} is not UTF-8)"
        raise root.problem(msg, "this is not a calibcli document") from None
    except json.JSONDecodeError as error:
        raise _not_json(error, text) from None
    except RecursionError:
        msg = "is nested too deeply"
        raise root.problem(msg, "this is not a calibcli document") from None
    except ValueError:  # what the reader raises for an integer of thousands of digits
        msg = "holds a number with too many digits"
        raise root.problem(msg, "this is not a calibcli document") from None
    return Node(value)


def _not_json(error: json.JSONDecodeError, text: str) -> DocumentProblem:
    """Tell a file that was cut short from one that is something else."""
    place = f"line {error.lineno}, column {error.colno}"
    unfinished = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    if not text.strip():
        return DocumentProblem("$", "is empty", AGAIN)
    if unfinished and text.lstrip().startswith("{"):
        message = f"ends too early, at {place}"
        return DocumentProblem("$", message, f"the file was cut short: {AGAIN}")
    return DocumentProblem("$", f"is not JSON: {error.msg} at {place}", "is this the right file?")


def _no_constant(name: str) -> NoReturn:
    msg = f"holds {name}, which JSON does not have"
    raise Node(None).problem(msg)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that names a key twice: readers would disagree about its value."""
    members = dict(pairs)
    if len(members) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        msg = f"repeats the key {_quoted(key)}"
        raise Node(None).problem(msg)
    return members


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the largest double
        return False


def _interval_words(lower: float, upper: float) -> str:
    if math.isinf(lower) and math.isinf(upper):
        return "a finite number"
    return f"a number in [{lower:g}, {upper:g}]"


def _quoted(value: object) -> str:
    """Return a value as JSON would write it, shortened and on one line."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = json.dumps(value) if not isinstance(value, int) or value.bit_length() < 128 else "a huge number"
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."
