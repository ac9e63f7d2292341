"""What tests of the command line share: the sample, and what a command left behind."""

import json
from collections.abc import Callable, Mapping
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "sample_data"
CHURN = ["-s", "score", "-y", "label"]


class Ran(NamedTuple):
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str

    @property
    def shown(self) -> str:
        """Both streams, on one line."""
        return " ".join((self.out + self.err).split())

    @property
    def document(self) -> dict[str, Any]:
        """What it printed, which is JSON."""
        found: dict[str, Any] = json.loads(self.out)
        return found


Run = Callable[..., Ran]
Make = Callable[..., Path]


def in_csv(name: Path | str, columns: Mapping[str, Any]) -> Path:
    """Write columns as CSV, floats in full and truths as 0 and 1; shorter columns begin anew at their end."""
    path = Path(name)
    lists = [one.tolist() if hasattr(one, "tolist") else list(one) for one in columns.values()]
    rows = zip(*map(cycle, lists), strict=True)
    lines = (",".join(f"{one:d}" if isinstance(one, bool) else str(one) for one in row) for row in rows)
    some = islice(lines, max(map(len, lists)))
    path.write_text("\n".join([",".join(columns), *some, ""]), encoding="utf-8")
    return path
