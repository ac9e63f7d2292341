"""The page in a real browser: its script runs under its own policy, the console is silent, it fits and
prints.

The second test asks for more than a browser: `pip install playwright`, `npm install axe-core`, and AXE_CORE
set to the path of axe.min.js; then

    AXE_CORE=node_modules/axe-core/axe.min.js pytest tests/python/test_browser.py
"""

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from calibcli.commands.page import WrittenReport

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0")
AXE = os.environ.get("AXE_CORE")
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]


def browse(*words: str, page: Path) -> subprocess.CompletedProcess[str]:
    """Open a page, and return what the browser wrote; its own complaints come without CONSOLE."""
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={page.parent / 'profile'}", *words, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)


def test_the_page_runs_prints_and_says_nothing(hostile_page: WrittenReport, tmp_path: Path) -> None:
    """With hostile names in it: one value of each picture is a stop of the keyboard, nothing is logged."""
    page = tmp_path / "page.html"
    page.write_text(hostile_page.html, encoding="utf-8")
    shown = browse("--dump-dom", page=page)
    stops = [
        re.findall(r'<circle[^>]*tabindex="(-?\d)"', one) for one in re.split(r"<figure", shown.stdout)[1:]
    ]
    assert len(stops) == len(hostile_page.found.pictures)
    assert all(one[0] == "0" and set(one[1:]) == {"-1"} for one in stops)
    printed = browse(f"--print-to-pdf={tmp_path / 'page.pdf'}", page=page)
    assert (tmp_path / "page.pdf").stat().st_size > 50_000
    assert "CONSOLE" not in shown.stderr + printed.stderr


@pytest.mark.skipif(importlib.util.find_spec("playwright") is None, reason="playwright is not installed")
@pytest.mark.skipif(AXE is None, reason="AXE_CORE does not say where axe.min.js is")
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_the_page_fits(
    hostile_page: WrittenReport, tmp_path: Path, width: int, scheme: str
) -> None:
    """No rule of WCAG A and AA is broken, nothing is wider than a phone, arrow keys step through values."""
    from playwright.sync_api import sync_playwright

    page = tmp_path / "page.html"
    page.write_text(hostile_page.html, encoding="utf-8")
    requested: list[str] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        # The policy of the page would keep axe out.
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        tab = context.new_page()
        tab.on("request", lambda request: requested.append(request.url))
        tab.goto(page.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.focus(".point")
        before = tab.inner_text(".readout >> nth=0")
        tab.keyboard.press("ArrowRight")
        assert tab.inner_text(".readout >> nth=0") not in ("", before)
        tab.evaluate(Path(str(AXE)).read_text(encoding="utf-8"))
        found = tab.evaluate("axe.run().then(found => found.violations.map(one => one.id))")
        browser.close()
    assert found == []
    assert [url for url in requested if not url.startswith(("file:", "data:"))] == []
