"""How pictures look: colours, sizes in inches, letters in points, and strokes."""

from typing import Any, assert_never

from matplotlib.colors import to_rgb

from calibcli.names import AxisScale, FigureSize, Theme
from calibcli.values import dataclass

FONT = "DejaVu Sans"

DASHES = (0, (5, 3))


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours, told apart by colour-blind readers and in grey (those of Okabe & Ito).

    Args:
        too_low: Where scores are below the observed rate.
        series: Several curves in one picture, in this order.
    """

    paper: str
    ink: str
    faint: str
    line: str
    band: str
    edge: str
    too_low: str
    too_high: str
    rows: str
    series: tuple[str, ...]


LIGHT = Palette(
    paper="#ffffff",
    ink="#1a1a1a",
    faint="#6b6b6b",
    line="#b5b5b5",
    band="#dcdcdc",
    edge="#8a8a8a",
    too_low="#56B4E9",
    too_high="#E69F00",
    rows="#8d9db0",
    series=("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
)

DARK = Palette(
    paper="#16181c",
    ink="#f0f0f0",
    faint="#a6abb3",
    line="#5c626b",
    band="#383d45",
    edge="#7f868f",
    too_low="#56B4E9",
    too_high="#E69F00",
    rows="#6d7f95",
    series=("#56B4E9", "#F0A060", "#2BC79A", "#E39CC4", "#F0E442", "#9ECAE1"),
)


@dataclass(frozen=True, slots=True)
class Look:
    """A size and its colours.

    Args:
        height: Of the page; None where it follows from what stands on it.
        scale: Factor of every length and letter against those of a page.
        beside: Whether text stands at the right of the picture instead of above and below it.
        axis: How axes of scores are laid out.
    """

    palette: Palette
    width: float
    height: float | None
    scale: float
    beside: bool
    axis: AxisScale = AxisScale.LINEAR

    def points(self, size: float) -> float:
        """Return a size of letters or a width of strokes, given as for a page, in points."""
        return size * self.scale

    def inches(self, length: float) -> float:
        """Return a length, given as for a page, in inches."""
        return length * self.scale

    def stroke(self, colour: str, width: float, dashes: object = "-") -> dict[str, Any]:
        """Return how a line without marks is drawn, its width given as for a page."""
        return {"color": colour, "linewidth": self.points(width), "linestyle": dashes, "marker": ""}

    def dots(self, colour: str, size: float, marker: str = "o") -> dict[str, Any]:
        """Return how marks without a line are drawn, their size given as for a page."""
        return {"color": colour, "linestyle": "", "marker": marker, "markersize": self.points(size)}

    def rings(self, colour: str, size: float, width: float, marker: str = "o") -> dict[str, Any]:
        """Return how hollow marks are drawn, with an edge of a width given as for a page."""
        edge = {"markerfacecolor": self.palette.paper, "markeredgewidth": self.points(width)}
        return {**self.dots(colour, size, marker), **edge}

    def uprights(self, colour: str, width: float) -> dict[str, Any]:
        """Return how intervals are drawn as upright lines, their width given as for a page."""
        return {"colors": colour, "linewidth": self.points(width)}

    @property
    def band(self) -> dict[str, Any]:
        """How a band is filled, in a picture and in its key."""
        return {"facecolor": self.palette.band, "edgecolor": "none", "linewidth": 0.0}

    @property
    def dashed(self) -> dict[str, Any]:
        """How a line is drawn that is only for comparison, such as the diagonal."""
        return self.stroke(self.palette.faint, 0.9, DASHES)

    def letters(self, colour: str, size: float) -> dict[str, Any]:
        """Return how words in axes are written, in letters of a size in points; dollar signs are kept."""
        return {"family": FONT, "fontsize": size, "color": colour, "parse_math": False}


def look_of(size: FigureSize = FigureSize.PAGE, theme: Theme = Theme.LIGHT) -> Look:
    palette = DARK if theme is Theme.DARK else LIGHT
    match size:
        case FigureSize.COLUMN:
            return Look(palette, 3.4, None, 0.76, beside=False)
        case FigureSize.PAGE:
            return Look(palette, 6.0, None, 1.0, beside=False)
        case FigureSize.SLIDE:
            return Look(palette, 10.0, 5.625, 1.15, beside=True)
        case _:
            assert_never(size)


def mixed(colour: str, paper: str, share: float) -> tuple[float, float, float]:
    """Return a colour of which a share stands on paper."""
    red, green, blue = (
        (1.0 - share) * ground + share * part
        for ground, part in zip(to_rgb(paper), to_rgb(colour), strict=True)
    )
    return red, green, blue
