"""Figures inside a page: their drawing, the places of their values, and their small print as text."""

import io
import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibcli.show.figures import save
from calibcli.show.figures.page import SMALL_PRINT
from calibcli.values import dataclass

_LONG = re.compile(r"-?\d+\.\d{3,}")

_SPACE = re.compile(r"\s*([A-Za-z])\s*")

_URL = re.compile(r"url\(#([^)]+)\)")

_LENGTHS = {"x", "y", "width", "height", "stroke-width"}

_DROPPED = {"metadata", "title", "style"}

_INHERITED = {
    "fill",
    "stroke",
    "stroke-width",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-dasharray",
    "stroke-dashoffset",
}


def for_page(content: bytes, name: str) -> str:
    root = ET.fromstring(content)  # noqa: S314 - our own text
    for parent in root.iter():
        for child in [one for one in parent if _plain(one.tag) in _DROPPED]:
            parent.remove(child)
    names: dict[str, str] = {}
    for one in root.iter():
        one.tag, one.text, one.tail = _plain(one.tag), None, None
        for key, value in _attributes(one).items():
            one.set(key, _written(key, value, name=name, names=names))
    for one in root.iter():
        own = one.attrib.pop("id", None)
        if own in names:
            one.set("id", names[own])
    for group in reversed(list(root.iter("g"))):
        _said_once(group)
    return "".join(ET.tostring(one, encoding="unicode") for one in root)


def _attributes(one: ET.Element) -> dict[str, str]:
    """Return the attributes of an element with plain names, and its style as attributes of its own."""
    found = {_plain(key): value for key, value in one.attrib.items()}
    one.attrib.clear()
    for rule in found.pop("style", "").split(";"):
        key, colon, value = rule.partition(":")
        if colon:
            found[key.strip()] = value.strip()
    return found


def _written(key: str, value: str, *, name: str, names: dict[str, str]) -> str:
    """Return an attribute with short lengths, and with references to ids under their new names."""

    def renamed(own: str) -> str:
        return names.setdefault(own, f"{name}-{len(names)}")

    if key == "d":
        return _SPACE.sub(r"\1", _LONG.sub(_short, value)).strip()
    if key in _LENGTHS:
        return _LONG.sub(_short, value)
    if key == "href":
        return f"#{renamed(value[1:])}"
    return _URL.sub(lambda found: f"url(#{renamed(found[1])})", value)


def _said_once(group: ET.Element) -> None:
    """Say of a group what is true of all its members."""
    members = list(group)
    if len(members) < 2:
        return
    keys = set(_INHERITED)
    # A member that is moved moves what it is clipped by as well.
    if not any("transform" in one.attrib or one.tag == "g" for one in members):
        keys.add("clip-path")
    for key in sorted(keys.difference(group.keys())):
        values = {one.get(key) for one in members}
        if len(values) == 1 and None not in values:
            group.set(key, str(values.pop()))
            for one in members:
                del one.attrib[key]


def _plain(name: str) -> str:
    return name.rpartition("}")[2]


def _short(number: re.Match[str]) -> str:
    """Return a length to a hundredth of a point."""
    return f"{round(float(number.group()), 2) + 0.0:g}"


_POINTS = 72.0

# Points around what is drawn.
_ROOM = 2.0


@dataclass(frozen=True, slots=True)
class Place:
    """A value of a picture, where it is drawn; panels are counted in reading order."""

    panel: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Inline:
    """A figure as text.

    Args:
        box: Its view box: left and upper end, width and height, in points.
        at: For each place where it is in the view box, None where it is not seen.
        small_print: What the figure would say below its axes.
    """

    drawing: str
    box: tuple[float, float, float, float]
    at: tuple[tuple[float, float] | None, ...]
    small_print: str


def inline(figure: Figure, *, name: str, places: Sequence[Place] = ()) -> Inline:
    """Return a figure as SVG for a page, without its small print."""
    small = [text for text in figure.texts if text.get_label() == SMALL_PRINT]
    for text in small:
        text.remove()
    target = io.BytesIO()
    save(figure, target, "svg")
    height = float(figure.get_size_inches()[1]) * _POINTS
    panels = _panels(figure)
    return Inline(
        for_page(target.getvalue(), name),
        _box(figure),
        tuple(_seen(panels[place.panel], place, height) for place in places),
        # The lowest line was written first.
        " ".join(text.get_text() for text in reversed(small)),
    )


def _box(figure: Figure) -> tuple[float, float, float, float]:
    """Return the full width, and the height that something is drawn on."""
    width, height = (float(side) * _POINTS for side in figure.get_size_inches())
    axes = figure.get_tightbbox()
    keys = [key.get_window_extent() for key in figure.legends]
    low = min([axes.y0, *(key.y0 / figure.dpi for key in keys)]) * _POINTS - _ROOM
    high = max([axes.y1, *(key.y1 / figure.dpi for key in keys)]) * _POINTS + _ROOM
    return 0.0, round(max(height - high, 0.0), 1), round(width, 1), round(high - max(low, 0.0), 1)


def _panels(figure: Figure) -> list[Axes]:
    """Return the main axes; a strip shares the x axis of the one above it."""
    found: list[Axes] = []
    for axes in figure.axes:
        if not any(axes.get_shared_x_axes().joined(axes, other) for other in found):
            found.append(axes)
    return found


def _seen(axes: Axes, place: Place, height: float) -> tuple[float, float] | None:
    """Return where a value is in points from the upper left of a page so high, None outside its axes."""
    (left, right), (low, high) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
    if not (left <= place.x <= right and low <= place.y <= high):
        return None
    across, up = axes.transData.transform((place.x, place.y)) * _POINTS / axes.figure.dpi
    return round(float(across), 1), round(height - float(up), 1)
