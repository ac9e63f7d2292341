"""Build the site of the documentation into build/site: `make site`.

The pages are those of the repository, laid out as they stand there, so that a link that works in one works in
the other. Exit code 1 if a link of the site leads nowhere.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

ROOT = Path(__file__).resolve().parent.parent
PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"
FOLDERS = ("docs", "benchmarks", "sample_data", "fuzz")


def main() -> int:
    """Lay out the pages, build, and look at every link."""
    for folder in (PAGES, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    lay_out()
    zensical = Path(sys.executable).with_name("zensical")
    command = [str(zensical), "build", "--strict", "--clean", "-f", str(ROOT / "zensical.toml")]
    if subprocess.run(command, check=False, cwd=ROOT).returncode:  # noqa: S603 - our own command
        return 2
    broken = sorted(set(broken_links(SITE)))
    sys.stdout.write("".join(f"{line}\n" for line in broken))
    return 1 if broken else 0


def lay_out() -> None:
    """Copy what is shown, where it stands in the repository; the README is the front page."""
    PAGES.mkdir(parents=True)
    for file in ROOT.glob("*.md"):
        shutil.copy(file, PAGES / ("index.md" if file.name == "README.md" else file.name))
    shutil.copy(ROOT / "LICENSE", PAGES / "LICENSE")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, PAGES / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for page in PAGES.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("README.md)", "index.md)"), encoding="utf-8")
    for readme in PAGES.rglob("README.md"):
        readme.rename(readme.with_name("index.md"))


class Links(HTMLParser):
    """What a page links to, and what can be linked to in it.

    Attributes:
        targets: Addresses of links, pictures and scripts.

        places: The ids of the page.
    """

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Note what one tag says."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            if name in ("id", "name") and value:
                self.places.add(value)


def broken_links(site: Path) -> Iterator[str]:
    """Yield a line for each link of a built site that leads to no file, or to no place in it."""
    pages = {page: _links(page) for page in site.rglob("*.html")}
    for page, links in pages.items():
        if page.name == "404.html":
            continue
        for target in links.targets:
            address, place = urldefrag(target)
            if urlsplit(address).scheme or address.startswith("//"):
                continue
            path = unquote(urlsplit(address).path)
            there = (page.parent / path).resolve() if path else page
            there = there / "index.html" if there.is_dir() else there
            if not there.exists():
                yield f"{page.relative_to(site)}: {target} leads nowhere"
            elif place and there in pages and unquote(place) not in pages[there].places:
                yield f"{page.relative_to(site)}: {target} names no place there"


def _links(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text(encoding="utf-8"))
    return links


if __name__ == "__main__":
    raise SystemExit(main())
