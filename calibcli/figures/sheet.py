"""What stands on a page: its words, its panels, and how those are laid out."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibcli.figures.look import Look

# Inches on a page of scale 1.
_HEADING = 0.24


@dataclass(frozen=True, slots=True)
class Words:
    """
    The text of a picture.

    Args:
        title: Shortened in the middle where it is too long.

        caption: The first line is set larger: it is what the picture shows.

        foot: Small print: what is drawn and under which assumptions.
    """

    title: str
    caption: Sequence[str] = ()
    foot: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """
    How many panels there are, and of which shape.

    Args:
        columns: Panels beside each other.

        rows: Panels above each other.

        aspect: Height over width of a panel.

        strip: Whether each panel has a low one below it, for how many rows there are.

        headings: A line above each panel, in reading order; as many as there are panels, or none for one.

        square: Whether the aspect must be kept where a page's height is given.

        many: How many panels there are, where the caller writes their headings.

        above: Height that the caller needs for each of them, in inches on a page of scale 1.
    """

    columns: int = 1
    rows: int = 1
    aspect: float = 1.0
    strip: bool = True
    headings: tuple[str, ...] = ()
    square: bool = True
    many: int = 0
    above: float = 0.0

    @property
    def panels(self) -> int:
        """How many panels there are; the last row may be short."""
        return self.many or len(self.headings) or 1

    @property
    def heading(self) -> float:
        """Height above each panel, in inches on a page of scale 1."""
        return self.above or (_HEADING if self.headings else 0.0)


@dataclass(frozen=True, slots=True)
class Panel:
    """
    One diagram.

    Args:
        main: Its axes.

        strip: Below them, where the scores lie; None where the sheet has none.

        first: Whether it is the leftmost, so that its y axis is named.

        last: Whether nothing stands below it, so that its x axis is named.
    """

    main: Axes
    strip: Axes | None
    first: bool
    last: bool

    @property
    def rows(self) -> Axes:
        """The strip, of a sheet that has one."""
        if self.strip is None:
            msg = "this sheet has no strip"
            raise TypeError(msg)
        return self.strip


@dataclass(frozen=True, slots=True)
class Page:
    """
    A figure with its panels.

    Args:
        figure: The figure.

        look: Its size and colours.

        panels: In reading order.
    """

    figure: Figure
    look: Look
    panels: tuple[Panel, ...]

    @property
    def main(self) -> Axes:
        """The axes of the first panel."""
        return self.panels[0].main

    @property
    def rows(self) -> Axes:
        """The strip of the first panel."""
        return self.panels[0].rows
