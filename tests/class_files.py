"""Files of several classes for tests."""

from pathlib import Path

from class_rows import drawn_rows

ZOO = ("ant", "bee", "cat")


def write_zoo(path: Path, rows: int = 400, *, seed: int = 0, heat: float = 1.3, first: int = 0) -> Path:
    """Write a CSV file of three classes with an identity for each row; `heat` is how much too sure it is."""
    probability, label = drawn_rows(rows, len(ZOO), heat=heat, seed=seed)
    lines = [
        ",".join([f"r{first + place}", *map(repr, row), ZOO[right]])
        for place, (row, right) in enumerate(zip(probability.tolist(), label, strict=True))
    ]
    path.write_text("\n".join([",".join(["id", *(f"p_{name}" for name in ZOO), "label"]), *lines]) + "\n")
    return path
