"""Which of several classes a gate looks at, and how: a part of the terms of its state."""

from dataclasses import dataclass
from typing import Annotated

from calibcli.codec import DIFFERENT, Declared, Key, Node, Size
from calibcli.view_names import ViewName


@dataclass(frozen=True, slots=True)
class SeenClasses(Declared):
    """How rows of several classes become scores of a yes or no."""

    view: ViewName
    one_class: Annotated[
        str | None, Key("class"), "The class that is looked at; null for the largest probability."
    ]
    # Empty before a file is read.
    names: Annotated[
        tuple[str, ...],
        Size(2, expected="two different classes or more"),
        DIFFERENT,
        "What the classes are called, in the order of their columns.",
    ] = ()

    def check(self, node: Node) -> None:
        """Refuse a class that does not go with the view."""
        one = self.one_class
        if (one is None) != (self.view is ViewName.CONFIDENCE) or (one is not None and one not in self.names):
            msg = f"does not go with the view {self.view.value!r} of these classes"
            raise node.child("class").problem(msg)

    @property
    def words(self) -> str:
        """The view in words."""
        return self.view.value if self.one_class is None else f"{self.view.value} of {self.one_class!r}"


def class_differences(mine: SeenClasses | None, other: SeenClasses | None) -> list[tuple[str, str, str]]:
    """Return what two states must agree on where there are several classes, with both answers."""
    if mine is None or other is None:
        return [("scores", _kind(mine), _kind(other))]
    return [
        ("view", mine.words, other.words),
        ("classes", ", ".join(mine.names), ", ".join(other.names)),
    ]


def _kind(seen: SeenClasses | None) -> str:
    return "of two classes" if seen is None else "of several classes"
