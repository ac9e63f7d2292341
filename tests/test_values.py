"""Our data classes do what those of the standard library do."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any, ClassVar

import pytest

from calibcli import values

Deco = Callable[..., Any]


def classes_by(make: Deco, **requested: bool) -> tuple[Any, Any]:
    """Return a class and one below it, made by one of the two."""

    @make(**requested)
    class Above:
        """A value."""

        KIND: ClassVar = "above"
        first: int
        second: float = 2.0
        many: list[int] = field(default_factory=list, compare=False)
        whole: int = field(init=False, repr=False, default=7)

    @make(**requested)
    class Below(Above):
        """A value with one thing more."""

        third: str = "c"

        def __post_init__(self) -> None:
            if self.first < 0:
                raise ValueError(self.first)

    return Above, Below


ASKED = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": True, "repr": False},
]


@pytest.mark.parametrize("requested", ASKED, ids=lambda requested: "-".join(requested) or "plain")
@pytest.mark.parametrize("which", [0, 1], ids=["above", "below"])
def test_values_are_those_of_the_standard_library(requested: dict[str, bool], which: int) -> None:
    """Fields, showing, equality, hashes, copies, refusals and slots are the same."""
    ours, theirs = (
        classes_by(make, **requested)[which] for make in (values.dataclass, dataclasses.dataclass)
    )

    def seen(kind: Any) -> list[object]:
        one, same, other = kind(1), kind(first=1, many=[3]), kind(2, 5.0)
        found: list[object] = [
            [(f.name, f.type, f.default, f.init) for f in fields(kind)],
            kind.__match_args__,
            kind.__doc__,
            (one == same) == requested.get("eq", True),
            one == other,
            one == 1,
            replace(one, first=4, second=3.0).second,
            dataclasses.asdict(other),
            one.many is not other.many,
            copy.deepcopy(other).second,
            hasattr(one, "__dict__"),
            getattr(kind, "__slots__", None),
            kind.KIND,
        ]
        if requested.get("repr", True):
            found.append(repr(other))
        for act in (
            lambda: hash(one) == hash(same),
            lambda: setattr(one, "first", 9),
            lambda: delattr(one, "first"),
            kind,
            lambda: kind(1, 2.0, [], "c", "too many"),
            lambda: kind(-1).first,
        ):
            try:
                found.append(act())  # type: ignore[no-untyped-call]
            except (TypeError, AttributeError, ValueError) as error:
                text = str(error) if isinstance(error, FrozenInstanceError | ValueError) else ""
                found.append((type(error), text))
        return found

    for mine, its in zip(seen(ours), seen(theirs), strict=True):
        assert mine == its


@values.dataclass(frozen=True, slots=True)
class Kept:
    """Something that travels."""

    name: str
    numbers: tuple[int, ...] = ()


def test_values_travel() -> None:
    """A frozen value with slots is pickled and made again."""
    one = Kept("a", (1, 2))
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - our own bytes
    assert {one: 1}[Kept("a", (1, 2))] == 1


def test_a_class_without_a_word_has_its_name() -> None:
    """The standard library would import inspect to write a signature."""

    class Bare:
        number: int

    assert values.dataclass(frozen=True)(Bare).__doc__ == "Bare"  # type: ignore[call-overload]
