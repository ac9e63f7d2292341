"""Write the definitions of measures and tests into docs/methods.md; `--check` only compares.

They stand between two markers and are those that `calibcli measure --explain NAME` prints; the rest of the
page is written by hand. Exit code 1 says that the page is out of date.
"""

import re
import sys
import textwrap
from pathlib import Path

from calibcli.families import LABELS, Explained
from calibcli.show.explain import SECTIONS

TARGET = Path(__file__).with_name("methods.md")
START = "<!-- Written by `make docs` from calibcli/families: edit the definitions there. -->"
END = "<!-- End of the definitions. -->"
WIDTH = 125
# What Markdown would read as more than letters; words between backticks stay as they are.
_MARKUP = re.compile(r"[*<]|(?<=\])(?=\()|(?<!\w)_|_(?!\w)")


def section(found: Explained) -> str:
    """Return the section of one measure or test."""
    paragraphs = [f"{escaped(found.meaning)}"]
    paragraphs += [
        f"*{label}.* {escaped(text)}" for label, text in zip(LABELS, found.definition, strict=True)
    ]
    return f"### {found.value}\n\n" + "\n\n".join(map(wrapped, paragraphs)) + "\n"


def escaped(text: str) -> str:
    """Return text that Markdown shows letter for letter, but for words between backticks."""
    parts = text.split("`")
    return "`".join(
        part if k % 2 else _MARKUP.sub(lambda one: "\\" + one.group(), part) for k, part in enumerate(parts)
    )


def wrapped(paragraph: str) -> str:
    """Return a paragraph in lines, none of which starts with what Markdown reads as a list or heading."""
    lines = textwrap.wrap(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join("\\" + line if line.startswith(("- ", "+ ", "# ", "> ")) else line for line in lines)


def generated() -> str:
    """Return everything between the markers."""
    parts = [f"## {title}\n\n" + "\n".join(map(section, members)) for title, members in SECTIONS.items()]
    return f"{START}\n\n" + "\n".join(parts) + f"\n{END}"


def page(text: str) -> str:
    """Return the page with its definitions written anew."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return before + generated() + after


def main() -> int:
    """Write the page, or say whether it is up to date."""
    text = TARGET.read_text(encoding="utf-8")
    if "--check" in sys.argv[1:]:
        return int(page(text) != text)
    TARGET.write_text(page(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
