"""SVG for a page: no style sheet, no script, no id that another drawing has too, and as short as can be."""

import re
from xml.etree import ElementTree as ET

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
    """
    Return what stands inside the svg element of a drawing.

    Args:
        content: A whole drawing of this program.

        name: What every id starts with.
    """
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
