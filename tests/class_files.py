"""Files of several classes for tests."""

from pathlib import Path

import numpy as np

from class_rows import drawn_rows
from command_line import in_csv

ZOO = ("ant", "bee", "cat")


def write_zoo(path: Path | str, rows: int = 400, *, seed: int = 0, heat: float = 1.3, first: int = 0) -> Path:
    """Write a CSV file of three classes with an identity for each row; `heat` is how much too sure it is."""
    probability, label = drawn_rows(rows, len(ZOO), heat=heat, seed=seed)
    columns = {"id": [f"r{first + place}" for place in range(rows)]}
    columns |= {f"p_{name}": one for name, one in zip(ZOO, probability.T, strict=True)}
    return in_csv(path, columns | {"label": np.array(ZOO)[label]})
