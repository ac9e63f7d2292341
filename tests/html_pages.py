"""Reading a page of HTML as strictly as it was written."""

import re
from collections import Counter
from functools import lru_cache
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

# What a name may hold: markup, scripts, attributes, templates, formulas, escapes and letters that turn text.
HOSTILE = {
    "score": "<script>alert('score')</script>",
    "other": '" onmouseover="alert(\'other\')" x="</b>',
    "label": "</title></svg><img src=x onerror=alert(1)>",
    "by": "{{ 7 * 7 }}<!--",
    "file": "<b onclick=alert(2)>&amp; 'x'.csv",
    "title": "</title><script>alert('title')</script>",
}
HOSTILE_GROUPS = (
    '=HYPERLINK("http://evil.example")',
    "\x1b[31mred\x1b[0m ]]><script>1</script>",
    "\u202etxt",
)
VOID = {"meta", "link", "br", "hr", "img", "input", "source"}


class Page(HTMLParser):
    """Every element of a page, with its attributes and the elements it stands in.

    Args:
        text: The page.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = text
        self.elements: list[tuple[str, dict[str, str], tuple[str, ...]]] = []
        self.words: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.faults += [f"{tag} is not closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element, and whether an attribute stands twice."""
        names = Counter(name for name, _ in attrs)
        self.faults += [f"{tag} has two of {name}" for name, many in names.items() if many > 1]
        self.elements.append((tag, {name: value or "" for name, value in attrs}, tuple(self._open)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that closes itself, as SVG has them."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the element that is open."""
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"{tag} is closed where it is not open")

    def handle_data(self, data: str) -> None:
        """Note text where it stands."""
        if self._open and data.strip():
            self.words.append((self._open[-1], data))

    def all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of every element of a kind."""
        return [attributes for name, attributes, _ in self.elements if name == tag]

    def said(self, tag: str) -> list[str]:
        """Return the text of every element of a kind."""
        return [data for name, data in self.words if name == tag]


@lru_cache(maxsize=4)
def read(text: str) -> Page:
    """Read a page once for all who ask."""
    return Page(text)


@lru_cache(maxsize=4)
def drawings(text: str) -> list[ET.Element]:
    """Return every svg of a page as a tree; what is not well-formed raises."""
    return [ET.fromstring(one) for one in re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)]  # noqa: S314
