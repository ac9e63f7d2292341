"""Write the contents and the definitions of docs/methods.md; `--check` only compares.

Definitions stand between two markers and are those that `calibcli measure --explain NAME` prints. Contents
lead to each, by the names that `-m` takes, and to what is written by hand. Exit code 1 says that the page is
out of date.
"""

import re
import sys
import textwrap
from pathlib import Path

from calibcli.families import LABELS, Explained
from calibcli.names import SegmentMeasure
from calibcli.options.measuring import ALIASES
from calibcli.show.explain import SECTIONS

TARGET = Path(__file__).with_name("methods.md")
START = "<!-- Written by `make docs` from calibcli/families: edit the definitions there. -->"
END = "<!-- End of the definitions. -->"
CONTENTS = "<!-- Contents, written by `make docs`. -->"
END_OF_CONTENTS = "<!-- End of the contents. -->"
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


def entry(found: Explained) -> str:
    """Return the link to a definition, with what else it alone is called beyond parts of the names before."""
    names = [found.value]
    others = (name.replace("_", " ") for name, one in ALIASES.items() if one == found)
    for other in (found.called, *(name for name in others if name not in set(SegmentMeasure))):
        if not any(folded(other) in folded(name) for name in names):
            names.append(other)
    return f"[{found.value}](#{found.value})" + (f" ({', '.join(names[1:])})" if names[1:] else "")


def folded(name: str) -> str:
    """Return a name without what tells two spellings of it apart."""
    return re.sub(r"[\W_]", "", name.lower())


def contents(text: str) -> str:
    """Return links to every definition, and to every section after them."""
    families = [
        f"[{title}]({place(title)}): {', '.join(map(entry, members))}" for title, members in SECTIONS.items()
    ]
    further = re.findall(r"^## (.+)$", text.partition(END)[2], re.MULTILINE)
    proofs = "How it is found, and why that holds: " + ", ".join(
        f"[{title}]({place(title)})" for title in further
    )
    lines = (
        textwrap.fill(
            f"- {one}.", WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        for one in (*families, proofs)
    )
    return f"{CONTENTS}\n\n" + "\n".join(lines) + f"\n\n{END_OF_CONTENTS}"


def place(title: str) -> str:
    """Return what a heading is called in links."""
    return "#" + re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def page(text: str) -> str:
    """Return the page with its contents and definitions written anew."""
    for start, end, made in ((CONTENTS, END_OF_CONTENTS, contents(text)), (START, END, generated())):
        before, _, rest = text.partition(start)
        text = before + made + rest.partition(end)[2]
    return text


def main() -> int:
    """Write the page, or say whether it is up to date."""
    text = TARGET.read_text(encoding="utf-8")
    if "--check" in sys.argv[1:]:
        return int(page(text) != text)
    TARGET.write_text(page(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
