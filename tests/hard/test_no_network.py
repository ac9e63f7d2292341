"""Nothing is sent anywhere, and nothing asked for, unless an address or an engine elsewhere is named."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import ROOT

# Taking addresses apart is not asking for what they name.
IMPORTS = re.compile(
    r"^\s*(?:import|from) (socket|ssl|http|urllib(?!\.parse)|urllib3|requests|httpx|ftplib|smtplib)\b",
    re.MULTILINE,
)
CAL = ROOT / "tests" / "documents" / "frozen" / "platt.json"
PROGRAM = """
import sys

def refuse(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.", "webbrowser.", "subprocess.", "os.system")):
        raise RuntimeError(event)

sys.addaudithook(refuse)
from calibcli.shell.app import main
rows, cal = sys.argv[1:]
for words in (
    ["measure", rows],
    ["fit", rows, "-m", "isotonic", "-o", "-"],
    ["apply", cal, rows, "-s", "score", "-o", "-"],
    ["verify", rows, "--max-ece", "0.9"],
    ["plot", rows, "-o", rows + ".svg", "--kind", "binned"],
):
    assert main([*words, "--quiet"]) in (0, 4), words
"""


def test_no_module_imports_what_speaks_to_a_network() -> None:
    """Object stores are spoken to by pyarrow, and clusters by engines alone."""
    modules = sorted((ROOT / "calibcli").rglob("*.py"))
    texts = {one: one.read_text(encoding="utf-8") for one in modules if one.parent.name != "engines"}
    found = [
        f"{one.relative_to(ROOT)}: {match[1]}" for one in texts for match in IMPORTS.finditer(texts[one])
    ]
    assert found == []


@pytest.mark.untraced
def test_commands_open_no_socket_and_start_no_program(tmp_path: Path) -> None:
    """Python tells of either before it happens; what C++ within a library does it does not see."""
    rows = tmp_path / "rows.csv"
    rows.write_text("score,label\n" + "".join(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}\n" for i in range(60)))
    words = [sys.executable, "-c", PROGRAM, str(rows), str(CAL)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
