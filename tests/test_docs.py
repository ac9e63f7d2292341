"""What the documentation shows is what happens.

A ```console block holds commands after `$ ` and what they print, standard error included, or its first lines
(`| head -5`). Run with CALIBCLI_UPDATE_DOCS=1 to write the blocks anew.
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from calibcli.names import DataFormat, PlotKind, RecalibratorName
from calibcli.shell.app import main
from command_line import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"]
PAGES += [ROOT / "sample_data" / "README.md", ROOT / "CHANGELOG.md"]
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^):]+))?\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.+?)$", re.MULTILINE)
# Processors differ in the last digits of sums: of numbers this long, the first twelve digits are compared.
LONG = re.compile(r"\d+\.\d{12,}(e[-+]\d+)?")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-\d+)?")
# From 2.5 on numpy draws some binomials otherwise: what is drawn there is near what the pages show.
DRAWS_OTHERWISE = np.lib.NumpyVersion(np.__version__) >= "2.5.0"
WITH_CONSOLE = [page for page in PAGES if "```console" in page.read_text(encoding="utf-8")]


def played(block: str) -> str:
    """Run the commands of a block, here and in this process, and return it with what they printed."""
    lines = []
    for line in block.splitlines():
        if not line.startswith("$ "):
            continue
        line_of_calibcli, _, most = line[2:].partition(" | head -")
        words = shlex.split(line_of_calibcli)
        assert words[0] == "calibcli", line
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with redirect_stdout(printed), redirect_stderr(printed):
            code = main(words[1:])
        text = printed.buffer.getvalue().decode()  # type: ignore[attr-defined]
        lines += [line, "\n".join(text.splitlines()[: int(most or sys.maxsize)]).rstrip("\n")]
        assert code in (0, 1, 4), text
    return "\n".join(lines) + "\n"


def to_twelve_digits(text: str) -> str:
    """Return a page with its long numbers rounded."""
    return LONG.sub(lambda found: f"{float(found.group()):.12g}", text)


def near(one: str, other: str) -> bool:
    """Whether two pages differ in numbers alone, by a fifth at most."""
    words = [NUMBER.sub("#", text).split() for text in (one, other)]
    numbers = [[float(word.replace(",", "")) for word in NUMBER.findall(text)] for text in (one, other)]
    return words[0] == words[1] and np.allclose(*numbers, rtol=0.2, atol=0.0)


@pytest.mark.untraced
@pytest.mark.usefixtures("one_picture", "unrendered")
@pytest.mark.parametrize("page", WITH_CONSOLE, ids=lambda page: page.name)
def test_console_blocks_show_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of the page, in order, in one folder, prints what the page shows; pictures stay empty."""
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)
    text = page.read_text(encoding="utf-8")
    actual = CONSOLE.sub(lambda found: f"```console\n{played(found.group(1))}```", text)
    if os.environ.get("CALIBCLI_UPDATE_DOCS"):
        page.write_text(actual, encoding="utf-8")
    shown = page.read_text(encoding="utf-8")
    assert to_twelve_digits(actual) == to_twelve_digits(shown) or (DRAWS_OTHERWISE and near(actual, shown))


@cache
def prose_of(page: Path) -> str:
    """Return a page without what it shows of files and terminals."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


@cache
def headings_of(page: Path) -> set[str]:
    """Return what its headings are called in links, both as a repository shows the page and on the site."""
    words = [re.sub(r"[^\w\s-]", "", one.lower()).strip() for one in HEADING.findall(prose_of(page))]
    return {one.replace(" ", "-") for one in words} & {re.sub(r"[-\s]+", "-", one) for one in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of the documentation names a file that is there, and a heading on it."""
    for target, heading in LINK.findall(prose_of(page)):
        there = page.parent / target if target else page
        assert there.exists(), target
        assert not heading or there.suffix != ".md" or heading in headings_of(there), (target, heading)


@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere() -> None:
    """The pages are built as a site without a warning, and every link, picture and place in it is there."""
    pytest.importorskip("zensical")
    ran = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "make_site.py")], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_pages_know_what_there_is() -> None:
    """The front page counts pictures and repairs and names these; every suffix of a format is told."""
    words = {12: "Twelve", 13: "Thirteen", 14: "Fourteen", 18: "Eighteen", 19: "Nineteen", 20: "Twenty"}
    front, formats = (ROOT / "README.md").read_text(), (ROOT / "docs" / "inputs.md").read_text()
    assert f"{words[len(RecalibratorName) - 1]} repairs of a score: " in front
    assert f"{words[len(PlotKind)]} kinds of" in front
    assert not [one for one in RecalibratorName if f"`{one}`" not in front]
    assert not [suffix for one in DataFormat for suffix in one.facts.suffixes if f"`{suffix}`" not in formats]
