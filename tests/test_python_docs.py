"""The Python that the documentation shows does what it shows.

A ```pycon block holds statements after `>>> ` and `... ` and what they print, errors included; those of a
page share their names. A ```python block is a file of tests. Run with CALIBCLI_UPDATE_DOCS=1 to write the
blocks anew.
"""

import io
import os
import re
import shutil
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from command_line import ROOT

PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if "```pycon" in page.read_text("utf-8")]
SESSION = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def statements(block: str) -> list[str]:
    """Return the statements of a session with their prompts."""
    found: list[str] = []
    for line in block.splitlines():
        if line.startswith(">>> "):
            found.append(line)
        elif line.startswith("...") and found:
            found[-1] += f"\n{line}"
    return found


def played(block: str, names: dict[str, Any]) -> str:
    """Run the statements of a session and return it with what they printed."""
    lines = []
    for statement in statements(block):
        source = "\n".join(line[4:] for line in statement.splitlines())
        printed = io.StringIO()
        with redirect_stdout(printed):
            try:
                exec(compile(source, "<page>", "single"), names)  # noqa: S102 - the page's own examples
            except Exception as error:  # noqa: BLE001 - a page may show an error
                print("".join(traceback.format_exception_only(error)), end="")  # noqa: T201
        shown = re.sub(r"(?m)[ ]+$", "", printed.getvalue())
        lines += [statement, *([shown.rstrip("\n")] if shown.strip() else [])]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions_show_what_happens(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every statement of the page, in order, in one folder, prints what the page shows."""
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    actual = SESSION.sub(lambda found: f"```pycon\n{played(found.group(1), names)}```", text)
    if os.environ.get("CALIBCLI_UPDATE_DOCS"):
        page.write_text(actual, encoding="utf-8")
    assert actual == page.read_text(encoding="utf-8")
    for number, source in enumerate(MODULE.findall(text)):
        # What a page gives as a test passes as one: its functions are called here.
        module: dict[str, Any] = {"__name__": f"page_{number}"}
        exec(compile(source, "<page>", "exec"), module)  # noqa: S102
        tests = [one for name, one in module.items() if name.startswith("test_")]
        assert tests
        for one in tests:
            one()
