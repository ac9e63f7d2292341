"""Processor seconds of one step inside a process, for the goals that leave start-up and reading out.

    python benchmarks/bench_inside.py STEP SCORES.parquet

Prints the least of three. The peers' steps run under their own Python, without calibcli.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

CLASS_ROWS, CLASSES = 50_000, 1_000
FEW_ROWS = 1_000


def least(work: Callable[[], object], times: int = 3) -> float:
    """Return the processor seconds of some work, the least of three."""
    found = []
    for _ in range(times):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def ours(*rows: object, **options: object) -> Callable[[], object]:
    """Return a call of `calibcli.measure`."""
    import calibcli

    measure: Any = calibcli.measure
    return partial(measure, *rows, **options)


def few(kind: str) -> tuple[object, object]:
    """Return few scores, of rare events or next to 0 and 1, and labels that follow them."""
    generator = np.random.default_rng(0)
    if kind == "rare":
        score = generator.beta(0.4, 400.0, FEW_ROWS)
    else:
        score = 1.0 / (1.0 + np.exp(-20.0 * generator.standard_normal(FEW_ROWS)))
    return score, (generator.random(FEW_ROWS) < score).astype(int)


def of_classes() -> tuple[object, object]:
    """Return float32 probabilities of many classes, and labels."""
    generator = np.random.default_rng(0)
    right = generator.integers(CLASSES, size=CLASS_ROWS)
    odds = generator.normal(size=(CLASS_ROWS, CLASSES)).astype(np.float32)
    odds[np.arange(CLASS_ROWS), right] += 4.0
    np.exp(odds, out=odds)
    return odds / odds.sum(axis=1, keepdims=True), right


def rows_of(path: str) -> tuple[object, object]:
    """Return scores and labels of a file."""
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=["score", "label"])
    return table["score"].to_numpy(), table["label"].to_numpy()


def step(name: str, path: str) -> Callable[[], object]:
    """Return a step by its name."""
    if name == "relplot":
        import relplot

        return partial(relplot.smECE, *rows_of(path))
    if name == "uncertainty-calibration":
        import calibration

        return partial(calibration.get_ece, *of_classes(), mode="marginal")
    match name.split(", "):
        case ["smECE"]:
            return ours(*rows_of(path), metric=["smece"])
        case ["smECE", _]:
            return ours(path, score="score", label="label", metric=["smece"], jobs=1)
        case ["marginal ECE"]:
            return ours(*of_classes(), metric=["classwise_ece"])
        case [kind, what]:
            return ours(*few(kind), **({} if what == "report" else {"metric": ["kuiper"]}))
    raise ValueError(name)


if __name__ == "__main__":
    # One takes half a minute.
    times = 1 if sys.argv[1] == "uncertainty-calibration" else 3
    sys.stdout.write(str(least(step(*sys.argv[1:]), times)))
