"""Which of several classes a gate looks at, and how: a part of the terms of its state."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from calibcli.codec import Node
from calibcli.view_names import ViewName


@dataclass(frozen=True, slots=True)
class SeenClasses:
    """
    How rows of several classes become scores of a yes or no.

    Args:
        view: The view.

        one_class: The class that is looked at, or None for the largest probability.

        names: What the classes are called, in the order of their columns; empty before a file is read.
    """

    view: ViewName
    one_class: str | None
    names: tuple[str, ...] = ()

    @classmethod
    def of_input(cls, node: Node) -> Self | None:
        """
        Restore what `to_dict` returned from the columns of a state; None where there is one score.

        Raises:
            DocumentProblem: If no gate can have written this, with the place.
        """
        found = node.members().get("classes")
        if found is None:
            return None
        found.only("view", "class", "names")
        names, one = found.child("names").texts(), found.optional("class")
        if len(names) < 2 or len(set(names)) < len(names):
            msg = "should be two different classes or more"
            raise found.child("names").problem(msg)
        view = found.child("view").choice(ViewName)
        if (one is None) != (view is ViewName.CONFIDENCE) or (one is not None and one.text() not in names):
            msg = f"does not go with the view {view.value!r} of these classes"
            raise found.child("class").problem(msg)
        return cls(view, None if one is None else one.text(), names)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {"view": self.view.value, "class": self.one_class, "names": list(self.names)}

    @property
    def words(self) -> str:
        """The view in words."""
        return self.view.value if self.one_class is None else f"{self.view.value} of {self.one_class!r}"


def class_keys(node: Node) -> tuple[str, ...]:
    """Return the keys that the columns of a state have where there are several classes."""
    return ("classes",) if "classes" in node.members() else ()


def class_values(seen: SeenClasses | None) -> Mapping[str, object]:
    """Return what the columns of a state hold of several classes: nothing where there is one score."""
    return {} if seen is None else {"classes": seen.to_dict()}


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
