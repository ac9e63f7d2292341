"""What tests of the command line share: the sample, and what a command left behind."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "sample_data"
CHURN = ["-s", "score", "-y", "label"]


@dataclass(frozen=True)
class Ran:
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]
Make = Callable[..., Path]
