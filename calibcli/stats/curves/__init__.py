"""Table to points that a figure can draw."""

from typing import Protocol, TypeVar

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.names import AxisScale, PlotKind
from calibcli.values import dataclass


class Picture(Protocol):
    """Everything that a figure draws; its kind names the figure.

    One whose scores may be laid out by log-odds has in `laid_out` which decide it, with rows, if any.
    """

    @property
    def kind(self) -> PlotKind:
        """Which diagram it is."""


C = TypeVar("C")

# So many lines in one pair of axes can be told apart. Further ones are grey.
MOST_LINES = 6


@dataclass(frozen=True, slots=True, eq=False)
class CurvePanel:
    """One of several curves.

    Args:
        name: What it is of: a score, a class, a group.
        error: The number that it shows with its interval, in wordings that say the same, the longest first;
            as many as the other panels have.
        against: What a second line says, likewise, such as how the error differs from that of the first;
            empty where nothing is said.
    """

    name: str
    rows: int
    error: tuple[str, ...]
    curve: Picture
    against: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class CurvePanels:
    """Several curves of one class, beside each other or in one pair of axes.

    Args:
        kind: Which diagram: of scores, classes, groups.
        panels: In reading order, at least one.
    """

    kind: PlotKind
    panels: tuple[CurvePanel, ...]


# Scores are small where so many rows have one below this, and next to none has an even chance.
_MOST_ROWS, _SMALL, _NEXT_TO_NONE, _EVEN = 0.9, 0.1, 0.01, 0.5


def axis_for(picture: Picture) -> AxisScale:
    """Return how scores are laid out where nobody says: by log-odds if they are small, and can be seen so."""
    every = [one.curve for one in picture.panels] if isinstance(picture, CurvePanels) else [picture]
    found = [some for some in (getattr(one, "laid_out", None) for one in every) if some is not None]
    if len(found) < len(every):
        return AxisScale.LINEAR
    score, rows = (np.concatenate(some) for some in zip(*found, strict=True))
    below, above = (rows[some].sum() / rows.sum() for some in (score < _SMALL, score > _EVEN))
    small = np.unique(score).size > 1 and below >= _MOST_ROWS and above <= _NEXT_TO_NONE
    return AxisScale.LOGIT if small else AxisScale.LINEAR


def curves_of(picture: Picture, kind: type[C]) -> tuple[C, ...]:
    """Return the curves of a picture, which are all of one class."""
    every = [one.curve for one in picture.panels] if isinstance(picture, CurvePanels) else [picture]
    found = tuple(one for one in every if isinstance(one, kind))
    if len(found) < len(every):
        msg = f"a picture of {picture.kind.value} holds something else"
        raise UsageProblem(msg, "draw the files themselves")
    return found
