"""Documents from declarations: a dataclass is written as JSON, read back and described by its annotations.

A field's annotation says all there is to say of a value: its type, its limits, and in words what it is. What
several values must agree on is said by `Declared.check`. A document comes from outside, so nothing in it is
believed: every value is taken through a `Node`, which knows its own path and turns whatever does not fit into
a `DocumentProblem`.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, replace
from enum import Enum, StrEnum
from functools import cache, partial, reduce
from operator import add, is_, lt, or_
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NoReturn,
    Self,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from calibcli.errors import DocumentProblem
from calibcli.values import dataclass
from calibcli.version import __version__

Name = TypeVar("Name", bound=StrEnum)
Said = TypeVar("Said")

AGAIN = "write it again with the command that made it"
_LARGEST_WHOLE = 2**63 - 1
_LONGEST_QUOTE = 40
_SCHEMA = re.compile(r"(calibcli\.[a-z]+)/([0-9]{1,9})")
_NOTHING: Mapping[str, Any] = {}
_JSON_NAMES: Mapping[Any, str] = {
    NoneType: "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list[str]: "array",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a document and where it stands; `given` is known there, such as the version."""

    value: object
    path: str = "$"
    given: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    def problem(self, message: str, hint: str | None = None) -> DocumentProblem:
        return DocumentProblem(self.path, message, hint)

    def knowing(self, **given: object) -> "Node":
        return replace(self, given={**self.given, **given})

    def has(self, key: str) -> bool:
        return key in self._members()

    def child(self, key: str) -> "Node":
        """Return the member of an object; it must be there."""
        members = self._members()
        if key not in members:
            msg = f"has no {key!r}"
            raise self.problem(msg)
        return Node(members[key], f"{self.path}.{key}", self.given)

    def optional(self, key: str) -> "Node | None":
        """Return the member of an object, or None where it is null; it must be there."""
        node = self.child(key)
        return None if node.value is None else node

    def members(self) -> dict[str, "Node"]:
        return {key: Node(value, f"{self.path}.{key}", self.given) for key, value in self._members().items()}

    def only(self, *keys: str) -> None:
        """Refuse an object whose keys are not exactly these."""
        members = self._members()
        for key in keys:
            self.child(key)
        for key in members:
            if key not in keys:
                msg = f"has the unknown key {quoted(key)}; it may have {', '.join(keys)}"
                raise self.problem(msg)

    def items(self) -> tuple["Node", ...]:
        return tuple(Node(one, f"{self.path}[{i}]", self.given) for i, one in enumerate(self.array()))

    def array(self) -> list[Any]:
        """Return the elements of an array as they are."""
        if not isinstance(self.value, list):
            self.refuse("an array")
        return self.value

    def number(self, lower: float = -math.inf, upper: float = math.inf) -> float:
        """Return a finite number between two limits, both allowed; true and false are not numbers."""
        value = self.value
        expected = _interval_words(lower, upper)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(expected)
        if not lower <= value <= upper or not _is_finite(value):
            self.refuse(expected)
        return float(value)

    def whole(self, least: int = 0, most: int = 2**63 - 1) -> int:
        """Return a whole number between two limits; 3.0 is not whole enough, since we never write it."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.refuse(f"a whole number between {least} and {most}")
        return value

    def truth(self) -> bool:
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def text(self) -> str:
        """Return a string that can be printed."""
        if not isinstance(self.value, str):
            self.refuse("a string")
        if not self.value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in self.value):
            self.refuse("text without half surrogates")
        return self.value

    def texts(self) -> tuple[str, ...]:
        return tuple(item.text() for item in self.items())

    def choice(self, names: type[Name]) -> Name:
        """Return a member of a closed vocabulary."""
        if not isinstance(self.value, str) or self.value not in list(names):
            self.refuse(f"one of {', '.join(names)}")
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
            msg = f"is {quoted(self.value)}, but the rest of the document makes it {quoted(value)}"
            raise self.problem(msg, AGAIN)

    def _members(self) -> dict[str, object]:
        if not isinstance(self.value, dict):
            self.refuse("an object")
        return self.value

    def refuse(self, expected: str) -> NoReturn:
        msg = f"is {quoted(self.value)}, should be {expected}"
        raise self.problem(msg)


@dataclass(frozen=True, slots=True)
class Between:
    """Limits of a number, or of every number of an array, both allowed; `inside` they are not."""

    lower: float = -math.inf
    upper: float = math.inf
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """How many elements an array has: at least, at most, or so many as another field, less some."""

    least: int = 0
    most: int | None = None
    of: str | None = None
    less: int = 0
    reason: str | None = None
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class Ascending:
    """An array whose numbers never fall, and from a position on rise; None for nowhere."""

    strictly_from: int | None = 0


@dataclass(frozen=True, slots=True)
class Strings:
    """What stands in place of a number that JSON does not have."""

    names: tuple[str, ...] = ("inf", "-inf", "nan")


@dataclass(frozen=True, slots=True)
class Key:
    """What a field is called in the document, where that is not its own name."""

    name: str


@dataclass(frozen=True, slots=True)
class By:
    """What tells the elements of an array apart, which is written as an object by it."""

    name: str = "name"


@dataclass(frozen=True, slots=True)
class With:
    """Another key of the object that is there wherever this one is."""

    key: str


@dataclass(frozen=True, slots=True)
class In:
    """The object of the document that a field stands in, with others."""

    key: str


@dataclass(frozen=True, slots=True)
class Since:
    """The version of the document from which it has the field; before, the field has its default."""

    version: int


class Mark(Enum):
    """How a field stands in a document."""

    INLINE = "its members stand among those of its owner"
    ABSENT = "left out where it has its default; of what is said, where it is none or empty"
    HIDDEN = "not in the document: given where that is read, or its default"
    DIFFERENT = "no element repeats"
    LATELY = "not in older documents of this version"
    GAPS = "NaN is null"
    ROOT = "not in parts that have the shape of the whole"
    PART = "a part in the shape of the whole"
    ROWS = "numbers, or rows of as many numbers"
    OR_NULL = "null where it is empty"
    LOOSE = "what is said may differ from what the fields make: `check` looks at it"


INLINE, ABSENT, HIDDEN, DIFFERENT, LATELY, GAPS, ROOT, PART, ROWS, OR_NULL, LOOSE = Mark
Fraction = Annotated[float, Between(0.0, 1.0)]
Chance = Annotated[float, Between(0.0, 1.0, inside=True)]
OrInfinite = Annotated[float, Strings(("inf",))]
AnyNumber = Annotated[float, Strings()]


class Declared:
    """A dataclass that is kept as JSON; properties whose result is `Annotated` are said beside its fields."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        declared = Thing(type(self))
        return {
            **({} if declared.root is None else {"schema": declared.root}),
            **declared.members.write(self),
        }

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        return cast("Self", Thing(cls).restored(node))

    def check(self, node: Node) -> None:
        """Refuse values that contradict each other; each by itself is as its annotation says."""


@dataclass(slots=True)
class Definitions:
    """The definitions of a schema, each class under its own name."""

    names: dict[type, str] = field(default_factory=dict)
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)

    def reference(self, cls: type, body: Callable[["Definitions"], dict[str, Any]]) -> dict[str, Any]:
        """Return the reference to a class, defining it where it is new."""
        if cls not in self.names:
            name = "_".join(re.findall("[A-Z][a-z0-9]*", cls.__name__)).lower()
            name = f"{name}_{len(self.names)}" if name in self.bodies else name
            self.names[cls] = name
            self.bodies[name] = {}
            self.bodies[name] = body(self)
        return {"$ref": f"#/$defs/{self.names[cls]}"}


class _AsItIs:
    """A kind whose values are those of JSON.

    Of every kind `read` takes a value from its place, `write` returns it as JSON has it, and `schema` says
    what it may be. `keys`, `take` and `shapes` do so of an object whose members stand among its owner's.
    """

    __slots__ = ()

    def write(self, value: Any) -> Any:
        return value


@dataclass(frozen=True, slots=True)
class _Number:
    """A finite number, or a string in place of one that is not."""

    limits: Between
    names: tuple[str, ...] = ()

    def read(self, node: Node) -> float:
        if isinstance(node.value, str) and node.value in self.names:
            return float(node.value)
        found = node.number(self.limits.lower, self.limits.upper)
        if self.limits.inside and found in (self.limits.lower, self.limits.upper):
            msg = f"should lie between {self.limits.lower:g} and {self.limits.upper:g}"
            raise node.problem(msg)
        return found

    def write(self, value: float) -> float | str:
        return value if not self.names or math.isfinite(value) else str(value)

    def quickly(self, values: list[Any]) -> list[float] | None:
        types = set(map(type, values))
        if not types or not types <= {float, int}:
            return None
        lower, upper, least, most = self.limits.lower, self.limits.upper, min(values), max(values)
        within = lower < least and most < upper if self.limits.inside else lower <= least and most <= upper
        if not within or not _is_finite(least) or not _is_finite(most):
            return None
        # A sum of whole numbers may be one that no float is.
        found = values if types == {float} else list(map(float, values))
        return None if math.isnan(sum(found)) else found

    def schema(self, named: Definitions) -> dict[str, Any]:
        found = {"type": "number", **_limits(self.limits.lower, self.limits.upper, inside=self.limits.inside)}
        return {"anyOf": [found, {"enum": list(self.names)}]} if self.names else found


ANY_NUMBER = _Number(Between(), Strings().names)


@dataclass(frozen=True, slots=True)
class _Whole(_AsItIs):
    least: int
    most: int

    def read(self, node: Node) -> int:
        return node.whole(self.least, self.most)

    def quickly(self, values: list[Any]) -> list[int] | None:
        within = set(map(type, values)) == {int} and self.least <= min(values) and max(values) <= self.most
        return values if within else None

    def schema(self, named: Definitions) -> dict[str, Any]:
        most = math.inf if self.most >= _LARGEST_WHOLE else self.most
        return {"type": "integer", **_limits(self.least, most, inside=False)}


@dataclass(frozen=True, slots=True)
class _Truth(_AsItIs):
    def read(self, node: Node) -> bool:
        return node.truth()

    def schema(self, named: Definitions) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Text(_AsItIs):
    """A text of some pattern, and what it should be in words; any text where there is no pattern."""

    pattern: str | None = None
    expected: str = ""

    def read(self, node: Node) -> str:
        found = node.text()
        if self.pattern is not None and re.fullmatch(self.pattern, found) is None:
            raise node.problem(self.expected)
        return found

    def schema(self, named: Definitions) -> dict[str, Any]:
        return {"type": "string", **({} if self.pattern is None else {"pattern": f"^{self.pattern}$"})}


DIGEST = Text("sha256:[0-9a-f]{64}", "should be 'sha256:' and 64 hexadecimal digits")
Digest = Annotated[str, DIGEST]


@dataclass(frozen=True, slots=True)
class Among:
    """One of a few values: members of an enumeration, texts or literals."""

    values: tuple[Any, ...]

    def read(self, node: Node) -> Any:
        found = next((one for one in self.values if one == node.value and type(node.value) is not bool), None)
        if found is None:
            node.refuse(f"one of {', '.join(map(str, self.values))}")
        return found

    def write(self, value: Any) -> Any:
        return value.value if isinstance(value, Enum) else value

    def schema(self, named: Definitions) -> dict[str, Any]:
        values = [self.write(one) for one in self.values]
        return {"const": values[0]} if len(values) == 1 else {"enum": values}


@dataclass(frozen=True, slots=True)
class _Plain:
    """A value of one of the types that JSON has, as it is."""

    types: tuple[type, ...]

    def read(self, node: Node) -> Any:
        match node.value:
            case None | bool():
                return node.value
            case int():
                return node.whole(-(2**63))
            case float():
                return node.number()
            case _:
                return node.text()

    def write(self, value: Any) -> Any:
        return str(value) if isinstance(value, float) and not math.isfinite(value) else value

    def schema(self, named: Definitions) -> dict[str, Any]:
        kinds = dict.fromkeys(_JSON_NAMES[one] for one in self.types)
        return {"type": list(kinds), **({"items": {"type": "string"}} if "array" in kinds else {})}


@dataclass(frozen=True, slots=True)
class _OrNull:
    """A value, or null in place of one that `is_nothing`, which is read back as `nothing`."""

    inner: Any
    nothing: Any = None
    is_nothing: Callable[[Any], bool] = partial(is_, None)

    def read(self, node: Node) -> Any:
        return self.nothing if node.value is None else self.inner.read(node)

    def quickly(self, values: list[Any]) -> list[Any] | None:
        found = _quickly(self.inner, [one for one in values if one is not None])
        if found is None or len(found) == len(values):
            return found
        rest = iter(found)
        return [self.nothing if one is None else next(rest) for one in values]

    def write(self, value: Any) -> Any:
        return None if self.is_nothing(value) else self.inner.write(value)

    def schema(self, named: Definitions) -> dict[str, Any]:
        return _or_null(self.inner.schema(named))


def _quickly(kind: Any, values: list[Any]) -> list[Any] | None:
    """Return many values at once; None where they must be looked at one by one."""
    return kind.quickly(values) if isinstance(kind, _Number | _Whole | _OrNull) else None


@dataclass(frozen=True, slots=True)
class _Array:
    """Values in order, as what `make` makes of a list of them."""

    inner: Any
    make: Callable[[list[Any]], Any]
    size: Size = Size()
    ascending: Ascending | None = None
    different: bool = False

    def read(self, node: Node) -> Any:
        values = node.array()
        most = math.inf if self.size.most is None else self.size.most
        if not self.size.least <= len(values) <= most:
            raise node.problem(self._other_size(len(values)))
        found = _quickly(self.inner, values)
        values = [self.inner.read(item) for item in node.items()] if found is None else found
        if self.ascending is not None and not all(map(lt, values, values[1:])):
            start = self.ascending.strictly_from
            ascending(node.items(), strictly_from=len(values) if start is None else start)
        if self.different and len(set(values)) < len(values):
            msg = "repeats an element" if self.size.expected is None else f"should be {self.size.expected}"
            raise node.problem(msg)
        return self.make(values)

    def write(self, value: Any) -> list[Any]:
        if hasattr(value, "tolist"):
            value = value.tolist()
        values = sorted(value) if isinstance(value, frozenset) else value
        return list(values) if isinstance(self.inner, _AsItIs) else [self.inner.write(one) for one in values]

    def schema(self, named: Definitions) -> dict[str, Any]:
        found: dict[str, Any] = {"type": "array", "items": self.inner.schema(named)}
        found |= {"minItems": self.size.least} if self.size.least else {}
        found |= {} if self.size.most is None else {"maxItems": self.size.most}
        return found | ({"uniqueItems": True} if self.different else {})

    def _other_size(self, found: int) -> str:
        if self.size.expected is not None:
            return f"should be {self.size.expected}"
        least, most = self.size.least, self.size.most
        if most is None:
            return "is empty" if least == 1 else f"has {found} elements, should have {least} or more"
        reason = "" if self.size.reason is None else f" ({self.size.reason})"
        return f"has {found} elements, should have {least if least == most else f'{least} to {most}'}{reason}"


@dataclass(frozen=True, slots=True)
class _Rows:
    """A row of numbers, or as many rows as each has numbers."""

    row: _Array

    def read(self, node: Node) -> Any:
        if not any(isinstance(one, list) for one in node.array()):
            return self.row.read(node)
        for item in node.items():
            same_length(item, len(node.array()), reason="there are so many rows")
        return self.row.make([self.row.read(item) for item in node.items()])

    def write(self, value: Any) -> list[Any]:
        return list(value.tolist())

    def schema(self, named: Definitions) -> dict[str, Any]:
        row = self.row.schema(named)
        return {"anyOf": [row, {**row, "items": row}]}


@dataclass(frozen=True, slots=True)
class _AnyOf:
    """A value of one of several declared classes; written only."""

    classes: tuple[Any, ...]

    def write(self, value: Declared) -> dict[str, Any]:
        return value.to_dict()

    def schema(self, named: Definitions) -> dict[str, Any]:
        return {"anyOf": [Thing(one).schema(named) for one in self.classes]}


@dataclass(frozen=True, slots=True)
class _Object:
    """Values by name; `by` what each of many values is called."""

    key: Any
    inner: Any
    by: str | None = None

    def read(self, node: Node) -> dict[Any, Any]:
        return {key: self.inner.read(member) for key, member in node.members().items()}

    def write(self, value: Any) -> dict[str, Any]:
        pairs = value.items() if self.by is None else ((getattr(one, self.by), one) for one in value)
        return {self.key.write(key): self.inner.write(one) for key, one in pairs}

    def schema(self, named: Definitions) -> dict[str, Any]:
        names = self.key.schema(named)
        found = {"type": "object", "additionalProperties": self.inner.schema(named)}
        return found if names == {"type": "string"} else {**found, "propertyNames": names}


@dataclass(frozen=True, slots=True)
class Shape:
    """The members of an object in a schema: their own, those that must be there, and rules between them."""

    properties: Mapping[str, Any]
    required: tuple[str, ...]
    rules: tuple[Mapping[str, Any], ...] = ()

    def __add__(self, other: "Shape") -> "Shape":
        properties = {**self.properties, **other.properties}
        return Shape(properties, (*self.required, *other.required), (*self.rules, *other.rules))

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "additionalProperties": False,
            "required": list(self.required),
            "properties": dict(self.properties),
            **({"allOf": list(self.rules)} if self.rules else {}),
        }


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value of one of several classes, by the tag beside it; `content` is the key of the value itself."""

    tag: str
    tags: Iterable[Any]
    class_of: Callable[[Any], type[Any]]
    content: str | None = None

    def read(self, node: Node) -> Any:
        node.only(*self.keys(node))
        return self.take(node)

    def keys(self, node: Node) -> tuple[str, ...]:
        return (self.tag, *((self.content,) if self.content else Thing(self._class(node)).keys(node)))

    def take(self, node: Node) -> Any:
        cls, inside = self._class(node), node.child(self.content) if self.content else node
        known = inside.knowing(**{self.tag: self._tag(node)})
        return cls.from_dict(known) if self.content else Thing(cls).take(known)

    def write(self, value: Any) -> dict[str, Any]:
        written = value.to_dict()
        if self.content:
            return {self.tag: value.name.value, self.content: written}
        return {self.tag: next(one for one in self.tags if isinstance(value, self.class_of(one))), **written}

    def schema(self, named: Definitions) -> dict[str, Any]:
        return _any_of(self.shapes(named))

    def shapes(self, named: Definitions) -> list[Shape]:
        tags = {getattr(tag, "value", tag): self.class_of(tag) for tag in self.tags}
        if self.content is None:
            return [
                Shape({self.tag: {"const": tag}}, (self.tag,)) + shape
                for tag, cls in tags.items()
                for shape in Thing(cls).shapes(named)
            ]
        rules = tuple(
            {
                "if": {"properties": {self.tag: {"const": tag}}},
                "then": {"properties": {self.content: Thing(cls).schema(named)}},
            }
            for tag, cls in tags.items()
        )
        properties = {self.tag: {"enum": list(tags)}, self.content: {"type": "object"}}
        return [Shape(properties, (self.tag, self.content), rules)]

    def _tag(self, node: Node) -> Any:
        tags, place = tuple(self.tags), node.child(self.tag)
        return place.truth() if tags == (False, True) else Among(tags).read(place)

    def _class(self, node: Node) -> Any:
        return self.class_of(self._tag(node))


@dataclass(frozen=True, slots=True)
class Entry:
    """A field of a declared class, or a property that is said beside its fields.

    Args:
        key: What it is called in the document.
        kind: What it may be; of several that stand together in an object, these.
        since: The version from which it is there.
        said: Whether it is a property, so that the fields make it.
    """

    name: str
    key: str
    kind: Any
    about: str = ""
    marks: frozenset[Mark] = frozenset()
    since: int = 1
    default: Any = None
    size: Size | None = None
    beside: With | None = None
    said: bool = False

    def there(self, node: Node) -> bool:
        """Whether a document of this version has it."""
        if node.given.get("version", self.since) < self.since:
            if node.has(self.key):
                msg = f"is there, and version {node.given['version']} of such a document had none"
                raise node.child(self.key).problem(msg)
            return False
        return not self.marks & {ABSENT, LATELY} or node.has(self.key)


@dataclass(frozen=True, slots=True)
class Members:
    """What stands in one object: entries of a declared class."""

    entries: tuple[Entry, ...]

    def keys(self, node: Node) -> tuple[str, ...]:
        """Return the keys that such an object has here."""
        found: list[str] = []
        for entry in self.entries:
            if INLINE in entry.marks:
                found += entry.kind.keys(node)
            elif entry.there(node):
                found.append(entry.key)
        return tuple(found)

    def values(self, node: Node) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for entry in self.entries:
            if INLINE in entry.marks:
                found[entry.name] = entry.kind.take(node)
            elif isinstance(entry.kind, Members):
                inside = node.child(entry.key)
                inside.only(*entry.kind.keys(inside))
                found |= entry.kind.values(inside)
            elif not entry.said and entry.there(node):
                found[entry.name] = entry.kind.read(node.child(entry.key))
                if entry.size is not None and entry.size.of is not None:
                    _require_size(node, entry.key, entry.size)
                if entry.beside is not None:
                    node.child(entry.beside.key)
        return found

    def require_said(self, node: Node, value: Any) -> None:
        """Refuse what is said of a value and is not so."""
        for entry in self.entries:
            if isinstance(entry.kind, Members):
                entry.kind.require_said(node.child(entry.key), value)
            elif entry.said and LOOSE not in entry.marks and entry.there(node):
                node.child(entry.key).expect(entry.kind.write(getattr(value, entry.name)))

    def write(self, value: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for entry in self.entries:
            if isinstance(entry.kind, Members):
                found[entry.key] = entry.kind.write(value)
                continue
            member = getattr(value, entry.name)
            if INLINE in entry.marks:
                found |= entry.kind.write(member)
            elif ABSENT not in entry.marks or (member if entry.said else member != entry.default):
                found[entry.key] = entry.kind.write(member)
        return found

    def schema(self, named: Definitions) -> dict[str, Any]:
        return _any_of(self.shapes(named))

    def shapes(self, named: Definitions) -> list[Shape]:
        found = [Shape({}, ())]
        for entry in self.entries:
            more = entry.kind.shapes(named) if INLINE in entry.marks else [_shape(entry, named)]
            found = [one + another for one in found for another in more]
        return found


@dataclass(frozen=True, slots=True)
class Thing:
    """A declared class: `SCHEMA` names the kind of document, where it is the root of one."""

    cls: Any

    @property
    def members(self) -> Members:
        return _members(self.cls)[0]

    @property
    def root(self) -> str | None:
        return getattr(self.cls, "SCHEMA", None)

    def read(self, node: Node) -> Any:
        return self.cls.from_dict(node)

    def restored(self, node: Node) -> Any:
        """Return the value that an object is, which has these keys and no others."""
        if self.root is not None:
            node = node.knowing(version=version_of(node, self.root, **self.cls.ORIGIN))
        node.only(*self.keys(node))
        return self.take(node)

    def keys(self, node: Node) -> tuple[str, ...]:
        return (*(() if self.root is None else ("schema",)), *self.members.keys(node))

    def take(self, node: Node) -> Any:
        """Return the value of an object whose keys are known, some of which may be its owner's."""
        given = {name: node.given[name] for name in _members(self.cls)[1] if name in node.given}
        made = self.cls(**{**given, **self.members.values(node)})
        made.check(node)
        self.members.require_said(node, made)
        return made

    def write(self, value: Declared) -> dict[str, Any]:
        return value.to_dict()

    def schema(self, named: Definitions) -> dict[str, Any]:
        return named.reference(self.cls, self.body)

    def body(self, named: Definitions, *more: Shape) -> dict[str, Any]:
        """Return the schema itself, of an object that may have more than is declared."""
        about = (self.cls.__doc__ or "").strip().partition("\n")[0]
        shapes = [reduce(add, more, one) for one in self.shapes(named)]
        return {**({"description": about} if about else {}), **_any_of(shapes)}

    def shapes(self, named: Definitions) -> list[Shape]:
        first = Shape({}, ()) if self.root is None else Shape({"schema": {"const": self.root}}, ("schema",))
        return [first + one for one in self.members.shapes(named)]


def _shape(entry: Entry, named: Definitions) -> Shape:
    about = {"description": entry.about} if entry.about else {}
    required = () if entry.marks & {ABSENT, LATELY} else (entry.key,)
    rules = () if entry.beside is None else ({"dependentRequired": {entry.key: [entry.beside.key]}},)
    return Shape({entry.key: {**about, **entry.kind.schema(named)}}, required, rules)


def _require_size(node: Node, key: str, size: Size) -> None:
    """Refuse an array that is longer or shorter than another makes it."""
    other = node.child(str(size.of))
    reason = size.reason or ("as many as {}" if not size.less else "one less than {}")
    same_length(node.child(key), len(other.array()) - size.less, reason=reason.format(other.path))


@dataclass(frozen=True, slots=True)
class Kept:
    """The declared class that a value is kept as, how it is made of the value, and the value of it."""

    cls: type[Declared]
    made: Callable[[Any], Declared]
    value: Callable[[Any, Node], Any]

    def read(self, node: Node) -> Any:
        return self.value(self.cls.from_dict(node), node)

    def keys(self, node: Node) -> tuple[str, ...]:
        return Thing(self.cls).keys(node)

    def take(self, node: Node) -> Any:
        return self.value(Thing(self.cls).take(node), node)

    def write(self, value: Any) -> dict[str, Any]:
        return self.made(value).to_dict()

    def schema(self, named: Definitions) -> dict[str, Any]:
        return Thing(self.cls).schema(named)

    def shapes(self, named: Definitions) -> list[Shape]:
        return Thing(self.cls).shapes(named)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a declared class, in the shape of the whole; written only."""

    cls: Any

    @property
    def members(self) -> Members:
        return Members(tuple(one for one in Thing(self.cls).members.entries if ROOT not in one.marks))

    def write(self, value: Declared) -> dict[str, Any]:
        return self.members.write(value)

    def schema(self, named: Definitions) -> dict[str, Any]:
        return named.reference(self.cls, self.members.schema)


@dataclass(frozen=True, slots=True)
class _MaybeThing:
    """The members of a declared class among those of its owner, all null where it is None."""

    inner: Thing

    def keys(self, node: Node) -> tuple[str, ...]:
        return self.inner.keys(node)

    def take(self, node: Node) -> Any:
        absent = all(node.child(key).value is None for key in self.keys(node))
        return None if absent else self.inner.take(node)

    def write(self, value: Any) -> dict[str, Any]:
        if value is None:
            return {entry.key: None for entry in self.inner.members.entries}
        return self.inner.write(value)

    def shapes(self, named: Definitions) -> list[Shape]:
        return [
            Shape({key: _or_null(one) for key, one in shape.properties.items()}, shape.required)
            for shape in self.inner.shapes(named)
        ]


@cache
def _members(cls: Any) -> tuple[Members, tuple[str, ...]]:
    """Return what a class has in its document, and the fields that are not there."""
    hints = {one.name: one.type for one in fields(cls)}
    shown = SimpleNamespace(
        __annotations__={name: hint for name, hint in hints.items() if HIDDEN not in _extras(hint)}
    )
    hints |= get_type_hints(shown, vars(sys.modules[cls.__module__]), include_extras=True)
    found = [(_entry(one.name, hints[one.name], _default(one)), hints[one.name]) for one in fields(cls)]
    for name in dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base)):
        hint = _result(getattr(cls, name, None))
        if get_origin(hint) is Annotated:
            found.append((_entry(name, hint, None, said=True), hint))
    there: dict[str, list[Entry]] = {}
    for entry, hint in found:
        within = _of(_extras(hint), In)
        if HIDDEN not in entry.marks:
            there.setdefault(entry.name if within is None else f"in {within.key}", []).append(entry)
    entries = (
        Entry(key[3:], key[3:], Members(tuple(some))) if key.startswith("in ") else some[0]
        for key, some in there.items()
    )
    given = tuple(entry.name for entry, _ in found if HIDDEN in entry.marks or entry.since > 1)
    return Members(tuple(entries)), given


def _extras(hint: Any) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _result(member: object) -> Any:
    """Return the annotation of what a property gives; None where it has none."""
    return member.fget.__annotations__.get("return") if isinstance(member, property) and member.fget else None


def _default(of: Field[Any]) -> Any:
    return of.default_factory() if of.default_factory is not MISSING else of.default


def _entry(name: str, hint: Any, default: Any, *, said: bool = False) -> Entry:
    extras = _extras(hint)
    about = next((one for one in reversed(extras) if isinstance(one, str)), "")
    key, since = _of(extras, Key), _of(extras, Since)
    marks = frozenset(one for one in extras if isinstance(one, Mark))
    kind = None if HIDDEN in marks else _kind(hint, (), inline=INLINE in marks)
    if ABSENT in marks and isinstance(kind, _OrNull) and kind.nothing is None:
        kind = kind.inner
    return Entry(
        name,
        name if key is None else key.name,
        kind,
        about,
        marks,
        1 if since is None else since.version,
        default,
        _of(extras, Size),
        _of(extras, With),
        said,
    )


def _kind(hint: Any, extras: tuple[Any, ...], *, inline: bool = False) -> Any:  # noqa: PLR0911 - one return a kind
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _kind(inside[0], (*inside[1:], *extras), inline=inline)
    if hasattr(origin, "__value__"):
        # A name for a type, as numpy's own have been since 2.5.
        return _kind(origin.__value__[inside], extras, inline=inline)
    if origin in (Union, UnionType) and set(inside) <= set(_JSON_NAMES) and len(inside) > 2:
        return _Plain(inside)
    if origin in (Union, UnionType) and NoneType in inside:
        found = _kind(reduce(or_, (one for one in inside if one is not NoneType)), extras)
        return _MaybeThing(found) if inline else _OrNull(found)
    if (kind := _of(extras, OneOf) or _of(extras, Kept)) is not None:
        return kind
    if origin is Literal:
        return Among(inside)
    if origin in (Union, UnionType):
        return _union(inside, extras)
    if hint is None or hint is NoneType:
        return Among((None,))
    if _of(extras, By) is not None or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return _object(inside, extras)
    return _array(origin, inside, extras) if isinstance(origin, type) else _single(hint, extras)


def _union(inside: tuple[Any, ...], extras: tuple[Any, ...]) -> Any:
    """Return the kind of one of several types, none of which is None."""
    if all(isinstance(one, type) and issubclass(one, Declared) for one in inside):
        return _AnyOf(inside)
    kinds = [_kind(one, extras) for one in inside]
    return _joined(kinds) if all(isinstance(one, Among) for one in kinds) else _Plain(inside)


def _joined(choices: Iterable[Among]) -> Among:
    return Among(tuple(value for one in choices for value in one.values))


def _single(hint: type[Any], extras: tuple[Any, ...]) -> Any:  # noqa: PLR0911 - one return a kind
    limits, strings = _of(extras, Between) or Between(), _of(extras, Strings)
    if issubclass(hint, Declared):
        return _Part(hint) if PART in extras else Thing(hint)
    if (among := _of(extras, Among)) is not None:
        return among
    if issubclass(hint, Enum):
        return Among(tuple(hint))
    if hint is object:
        return _Plain((NoneType, bool, float, str))
    if hint is bool:
        return _Truth()
    if hint is int:
        least = 0 if math.isinf(limits.lower) else int(limits.lower)
        return _Whole(least, _LARGEST_WHOLE if math.isinf(limits.upper) else int(limits.upper))
    if hint is float:
        return _Number(limits, () if strings is None else strings.names)
    if hint is str:
        return _of(extras, Text) or Text()
    msg = f"{hint!r} is no type of a document"
    raise TypeError(msg)


def _array(origin: type[Any], inside: tuple[Any, ...], extras: tuple[Any, ...]) -> _Array | _OrNull | _Rows:
    make: Callable[[list[Any]], Any] = origin
    element = inside[0]
    if origin.__name__ == "ndarray":
        import numpy as np

        dtype = get_args(inside[1])[0]
        make, element = partial(np.array, dtype=dtype), int if issubclass(dtype, np.integer) else float
    elif origin is list:
        make = list
    inner = _kind(element, tuple(one for one in extras if isinstance(one, Between | Strings | Text)))
    inner = _OrNull(inner, math.nan, math.isnan) if GAPS in extras else inner
    found = _Array(inner, make, _of(extras, Size) or Size(), _of(extras, Ascending), DIFFERENT in extras)
    if OR_NULL in extras:
        return _OrNull(found, make([]), lambda value: len(value) == 0)
    return _Rows(found) if ROWS in extras else found


def _object(inside: tuple[Any, ...], extras: tuple[Any, ...]) -> _Object:
    by = _of(extras, By)
    if by is None:
        return _Object(_kind(inside[0], ()), _kind(inside[1], tuple(one for one in extras if one is PART)))
    classes = get_args(inside[0]) if get_origin(inside[0]) in (Union, UnionType) else (inside[0],)
    names = [_kind(_name_hint(cls, by.name), ()) for cls in classes]
    return _Object(names[0] if len(names) == 1 else _joined(names), _kind(inside[0], ()), by.name)


def _name_hint(cls: Any, name: str) -> Any:
    """Return the annotation of what elements are called by."""
    return next((one.type for one in fields(cls) if one.name == name), None) or _result(getattr(cls, name))


def _of(extras: Iterable[Any], kind: type[Said]) -> Said | None:
    """Return what is said of a kind, the last of several."""
    found = None
    for one in extras:
        found = one if isinstance(one, kind) else found
    return found


def _any_of(shapes: list[Shape]) -> dict[str, Any]:
    return shapes[0].schema if len(shapes) == 1 else {"anyOf": [one.schema for one in shapes]}


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    about = {"description": schema["description"]} if "description" in schema else {}
    rest = {key: value for key, value in schema.items() if key != "description"}
    return {**about, "anyOf": [*rest.get("anyOf", (rest,)), {"type": "null"}]}


def _limits(lower: float, upper: float, *, inside: bool) -> dict[str, float]:
    names = ("exclusiveMinimum", "exclusiveMaximum") if inside else ("minimum", "maximum")
    return {name: one for name, one in zip(names, (lower, upper), strict=True) if not math.isinf(one)}


def version_of(root: Node, schema: str, *, what: str = "a report", hint: str = "write it with --json") -> int:
    """Return the version in which a document of a kind was written, this one or the one before."""
    family, _, newest = schema.partition("/")
    if "schema" not in root.members():
        msg = "is not a calibcli document: it has no 'schema'"
        raise root.problem(msg, hint)
    node = root.child("schema")
    found = _SCHEMA.fullmatch(node.text())
    if found is None or found[1] != family or str(int(found[2])) != found[2] or int(found[2]) < 1:
        msg = f"is {node.text()[:60]!r}, should be {schema!r}: this is not {what}"
        raise node.problem(msg, hint)
    if int(found[2]) > int(newest):
        msg = f"is {found[0]!r}, and calibcli {__version__} reads {schema!r}"
        raise node.problem(msg, "it was written by a newer calibcli: upgrade, or install that version")
    return int(found[2])


def ascending(nodes: Sequence[Node], *, strictly_from: int = 0) -> None:
    """Refuse numbers that fall, or that repeat from a position on."""
    values = [node.number() for node in nodes]
    for i in range(1, len(values)):
        if values[i] < values[i - 1] or (i > strictly_from and values[i] == values[i - 1]):
            msg = f"is {values[i]!r}, should be above {values[i - 1]!r}, the number before it"
            raise nodes[i].problem(msg)


def same_length(node: Node, count: int, *, reason: str) -> None:
    """Refuse an array that has not `count` elements, `reason` being what asks for them."""
    found = len(node.array())
    if found != count:
        msg = f"has {found} elements, should have {count} ({reason})"
        raise node.problem(msg)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the largest double
        return False


def _interval_words(lower: float, upper: float) -> str:
    if math.isinf(lower) and math.isinf(upper):
        return "a finite number"
    return f"a number in [{lower:g}, {upper:g}]"


def quoted(value: object) -> str:
    """Return a value as JSON would write it, shortened and on one line."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = json.dumps(value) if not isinstance(value, int) or value.bit_length() < 128 else "a huge number"
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."
