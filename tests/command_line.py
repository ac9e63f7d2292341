"""What tests of the command line share: the sample, and what a command left behind."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "sample_data"
CHURN = ["-s", "score", "-y", "label"]


class Ran(NamedTuple):
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]
Make = Callable[..., Path]
