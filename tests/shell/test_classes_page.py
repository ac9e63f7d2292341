"""The commands of docs/classes.md do what the page says."""

import re
import shlex
from pathlib import Path

import pytest

from command_line import Run

pytestmark = pytest.mark.untraced

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "classes.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines() if line
]


def test_every_command_of_the_page_runs(tmp_path: Path, run: Run) -> None:
    """In the order of the page, from a folder that has nothing but the sample data."""
    Path("sample_data").symlink_to(ROOT / "sample_data")
    assert len(COMMANDS) == 15
    printed = []
    for command in COMMANDS:
        ran = run(*shlex.split(command)[1:], code=0)
        printed.append(ran.out + ran.err)
    assert "Largest ECE: top-label=8" in printed[0]
    assert "keeps the predicted class of every row" in printed[2]
    assert "before rows were divided by their sums" in printed[5]
    assert "72 rows predict another class on the second side" in printed[10]
    assert "vector.json is not shown to be worse by Brier score and log loss" in printed[11]
    assert [text.split()[0] for text in printed[12:]] == ["PASS"] * 3
    assert {path.name for path in tmp_path.iterdir()} >= {"digits.json", "repaired.parquet", "ends.parquet"}
