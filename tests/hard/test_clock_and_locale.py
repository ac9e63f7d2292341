"""The hour and the country make no difference; the faults of docs/hardening.md load other ones for real."""

import re
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
