"""The hour, the country and the network make no difference: nothing is sent unless an address is named."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from calibcli.shell.app import main
from command_line import ROOT

PACKAGE = ROOT / "calibcli"
CAL = str(ROOT / "tests" / "documents" / "frozen" / "platt.json")
# What tells the hour, or follows the locale.
ASKS = re.compile(
    r"\btime\.(time|localtime|gmtime|ctime|strftime|asctime)\b|\bfrom time import\b"
    r"|\bdatetime\.(?!fromisoformat\b)|\bdate\.today|\bimport locale"
)
OUTPUTS = (
    ("fit", "rows.csv", "-m", "platt", "-o", "out"),
    ("apply", CAL, "rows.csv", "-s", "score", "-o", "out.csv.gz"),
    ("apply", CAL, "rows.csv", "-s", "score", "-o", "out.parquet"),
    ("verify", "rows.csv", "--max-ece", "0.9", "--state", "out.json"),
    pytest.param(("plot", "rows.csv", "--kind", "binned", "-o", "out.pdf"), marks=pytest.mark.slow),
)


@pytest.fixture
def _rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(
        "score,label\n" + "".join(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}\n" for i in range(60))
    )


def test_no_module_asks_for_the_hour_or_the_locale() -> None:
    """How long something takes may be asked, and nothing else."""
    asks = [
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if ASKS.search(line)
    ]
    assert asks == []


def test_a_backend_that_is_none_stops_no_picture() -> None:
    """Nothing is shown in a window, and matplotlib cannot be imported beside a name that it does not know."""
    code = "from calibcli.shell.app import main; main(['--version']); import matplotlib"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "MPLBACKEND": "Qt3"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.usefixtures("_rows")
@pytest.mark.parametrize("words", OUTPUTS, ids=["fit", "apply to CSV", "apply to Parquet", "state", "plot"])
def test_outputs_are_the_same_at_any_hour(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """In 1970 and in 2100, whatever the libraries would write down."""
    found = set()
    for seconds in (10.0, 4_107_542_400.0):
        monkeypatch.setattr(time, "time", lambda now=seconds: now)
        assert main([*words, "--quiet"]) in (0, 4)
        out = Path(words[-1])
        found.add(out.read_bytes())
        out.unlink()
    assert len(found) == 1


@pytest.mark.usefixtures("_rows")
@pytest.mark.parametrize("name", ["ısı.csv", "ısı.parquet", "ısı.jsonl"])
def test_a_name_in_an_old_encoding_is_that_of_the_file(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the system's names are not UTF-8, for which pyarrow takes them, Python opens the files."""
    assert main(["apply", CAL, "rows.csv", "-s", "score", "-o", name, "--quiet"]) == 0
    said = []
    for encoding in ("utf-8", "iso8859-9"):
        monkeypatch.setattr(sys, "getfilesystemencoding", lambda named=encoding: named)
        assert main(["measure", name, "-s", "score", "-y", "label", "--json"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


# Taking addresses apart is not asking for what they name.
IMPORTS = re.compile(
    r"^\s*(?:import|from) (socket|ssl|http|urllib(?!\.parse)|urllib3|requests|httpx|ftplib|smtplib)\b",
    re.MULTILINE,
)
FROZEN = ROOT / "tests" / "documents" / "frozen" / "platt.json"
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
    words = [sys.executable, "-c", PROGRAM, str(rows), str(FROZEN)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
