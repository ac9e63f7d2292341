"""Compare numbers of several classes with golden values and other packages; write
`docs/agreement_classes.md`.

    python benchmarks/agreement_classes.py

takes seconds: what the packages made of the digits is stored in `tests/oracles/class_peers.json`, which
`tests/oracles/class_peers.py` writes anew. Exits with 1 where something differs by more than its test allows.
"""

import argparse
import math
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from oracles.class_agreement import ROUNDING, ClassComparison, Largest, largest  # noqa: E402 - path above
from oracles.golden_class_pairs import records  # noqa: E402 - as above
from oracles.golden_classes import GOLDEN  # noqa: E402 - as above
from oracles.golden_table import FOLDER  # noqa: E402 - as above
from oracles.peer_classes import OWN  # noqa: E402 - as above

PAGE = ROOT / "docs" / "agreement_classes.md"
Found = Sequence[tuple[ClassComparison, Largest]]
OPENING = """# Agreement: several classes

Made by `make agreement` (`benchmarks/agreement_classes.py`), which compares measures and maps of several
classes with golden values on real predictions and with packages run on the digits of the
[sample data](../sample_data/README.md). The comparisons are those of `tests/oracles`, where each is held to
what its row allows; it ends with exit code 1 where one differs by more. Numbers of one score, with the same
packages, are in [agreement.md](agreement.md).

Differences are absolute. Where a row gives no reason but rounding there is none: the formula is the same.
"""
GOLDEN_WORDS = """## Golden values: CIFAR-10 by LeNet-5

10,000 rows of ten classes. Measures are of all of them; maps are fitted to the first 5,000 and judged on the
others. All {count} records of this set are compared. The implementations: {versions}.
"""
NO_GOLDEN = """## Golden values: CIFAR-10 by LeNet-5

Not compared: the folder of real predictions beside the repository is absent.
"""
OWN_WORDS = """## Our own runs: the digits

Fitted to the calibration half and judged on the first rows, and on the log loss, of the evaluation half.
Measures, over 15 equal-width bins, are of naive Bayes and of the forest. Maps are of naive Bayes unless a row
says forest. Probabilities of naive Bayes are their eighth roots, divided by their sum: as the model gave them
many are nearer to each other than 1e-15, which scikit-learn takes for one value, and many are 0.
"""


def size(found: Largest) -> str:
    """Return a difference in words."""
    if math.isinf(found.size):
        return "infinite"
    return "0" if found.size == 0.0 else f"{found.size:.1e}"


def table(found: Found) -> str:
    """Return a line for each comparison."""
    lines = [
        "| quantity | whose number | numbers | largest difference | where | allowed | reason |",
        "|---|---|---|---|---|---|---|",
    ]
    for one, worst in found:
        where = worst.where if worst.size > 0.0 else ""
        cells = (one.name, one.theirs, f"{worst.count:,}", size(worst), where, f"{one.allowed:.2g}")
        lines.append(f"| {' | '.join(cells)} | {one.why or 'rounding'} |")
    return "\n".join(lines) + "\n"


def document(golden: Found | None, own: Found) -> str:
    """Return the page.

    Args:
        golden: Comparisons with golden values, or None where there are none.

        own: Comparisons with packages that were run on the digits.
    """
    parts = [OPENING, NO_GOLDEN]
    if golden is not None:
        names = sorted({record["implementation"].split(" (")[0] for record in records()})
        parts = [OPENING, GOLDEN_WORDS.format(count=len(records()), versions=", ".join(names)), table(golden)]
    return "\n".join([*parts, OWN_WORDS, table(own)])


def compared(comparisons: Iterable[ClassComparison]) -> Found:
    """Return each comparison with its largest difference."""
    return [(one, largest(one)) for one in comparisons]


def problems(found: Found) -> list[str]:
    """Return what differs by more than it may, or by more than rounding without a reason."""
    return [
        f"{one.name} ({one.theirs}): {worst.size:.1e} at {worst.where}"
        for one, worst in found
        if worst.size > one.allowed or (not one.why and worst.size > ROUNDING)
    ]


def main() -> int:
    """Compare, write the page, and say what is wrong."""
    warnings.simplefilter("error")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=PAGE)
    asked = parser.parse_args()
    golden = compared(GOLDEN) if (FOLDER / "golden.json").exists() else None
    own = compared(OWN)
    asked.out.write_text(document(golden, own), encoding="utf-8")
    wrong = problems([*(golden or ()), *own])
    print("\n".join([f"wrote {asked.out}", *wrong]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
