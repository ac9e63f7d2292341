"""Bring about every fault of tests/fault_list.py and write the table in docs/hardening.md anew.

python benchmarks/faults.py [--quick]
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fault_list import FAULTS  # noqa: E402 - from the folder above
from faults import Fault, Stage  # noqa: E402

PAGE = ROOT / "docs" / "hardening.md"
BEGIN, END = "<!-- faults -->\n", "<!-- end of faults -->\n"
HEAD = "| fault | command | exit code | message | left behind |\n|---|---|---|---|---|\n"


def row(fault: Fault, folder: Path) -> str:
    """Bring a fault about, and return its row of the table."""
    found = fault.outcome(Stage(folder / fault.name))
    cells = (fault.what, f"`{fault.command}`", f"{found.code}", f"{found.message or '-'}", found.left)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> None:
    """Write the table; rows of what this system lacks stay, and with --quick what is slow or needs root."""
    parser = argparse.ArgumentParser(description="Bring about faults, and write down what was left behind.")
    parser.add_argument("--quick", action="store_true", help="keep the rows of slow faults")
    quick = parser.parse_args().quick
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    kept = {
        line.split(" | ")[0] + line.split(" | ")[1]: line
        for line in table.splitlines()
        if line.count(" | ") > 3
    }
    lines = []
    with tempfile.TemporaryDirectory(prefix="calibcli-faults-") as name:
        Path(name).chmod(0o755)
        for fault in FAULTS:
            key = f"| {fault.what}`{fault.command}`"
            stays = key in kept and ((quick and fault.slow) or fault.lacking)
            lines.append(kept[key] if stays else row(fault, Path(name)))
            print(lines[-1], flush=True)
    PAGE.write_text(before + BEGIN + HEAD + "\n".join(lines) + "\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
