"""
Processor seconds of single steps inside a process, for the targets that leave start-up and reading out.

    python benchmarks/bench_inside.py ours|relplot|venn_abers|calibration FOLDER

FOLDER is one that `bench_jobs.prepare` made. Prints a JSON object of names and seconds, the least of three.
The peers' steps run under their own Python, without calibcli.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

VENN_ABERS_ROWS = 100_000
CLASS_ROWS, CLASSES = 50_000, 1_000


def least(work: Callable[[], object]) -> float:
    """Return the processor seconds of some work, the least of three."""
    found = []
    for _ in range(3):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def ours(data: str) -> dict[str, float]:
    """Time calibcli: smECE from the file to the number, draws of labels, Venn-Abers, and many classes."""
    import calibcli
    from calibcli.commands.reading import read_tables
    from calibcli.names import Binning, Purpose
    from calibcli.options.fitting import FitOptions
    from calibcli.options.rows import Columns, Reading, RowRequest
    from calibcli.stats.measures.if_calibrated import draw_calibrated
    from calibcli.stats.measures.smooth_ece import smooth_ece
    from calibcli.stats.numerics import stream
    from calibcli.stats.recalibrators.venn_abers import VennAbers
    from calibcli.stats.table import ScoreTable
    from calibcli.stats.table.bins import binned, bins_of

    def whole() -> object:
        (table,) = read_tables(
            RowRequest([data], Columns("score", "label"), reading=Reading(jobs=1))
        ).tables.values()
        return smooth_ece(table, confidence=0.95)

    (table,) = read_tables(
        RowRequest([data], Columns("score", "label"), reading=Reading(jobs=1))
    ).tables.values()
    partitions = [
        binned(table, bins_of(how, 15, table=table)) for how in (Binning.EQUAL_WIDTH, Binning.EQUAL_MASS)
    ]

    def draws() -> object:
        return draw_calibrated(
            table,
            partitions=partitions,
            generator=stream(0, Purpose.MONTE_CARLO),
            smece_generator=stream(0, Purpose.SMECE_NULL),
        )

    probs, right = rows_of_classes()

    score, label = rows_of(data, VENN_ABERS_ROWS)
    few = ScoreTable.from_rows(score, label)
    return {
        "smECE, read and computed": least(whole),
        "999 draws": least(draws),
        "Venn-Abers fit": least(lambda: VennAbers.fit(few, options=FitOptions())),
        "classwise ECE": least(lambda: calibcli.measure(probs, right, metric=["classwise_ece"])),
    }


def relplot(data: str) -> dict[str, float]:
    """Time relplot's smECE of rows that are read."""
    import relplot as package

    score, label = rows_of(data, None)
    return {"relplot smECE": least(lambda: package.smECE(score, label))}


def venn_abers(data: str) -> dict[str, float]:
    """Time the fit of venn-abers to rows that are read."""
    import numpy as np
    from venn_abers import VennAbers as Package

    score, label = rows_of(data, VENN_ABERS_ROWS)
    both = np.column_stack([1 - score, score])
    return {"venn-abers fit": least(lambda: Package().fit(both, label))}


def calibration(_: str) -> dict[str, float]:
    """Time the marginal ECE of uncertainty-calibration, once: it takes half a minute."""
    import calibration as package

    probs, right = rows_of_classes()
    began = time.process_time()
    package.get_ece(probs, right, mode="marginal")
    return {"uncertainty-calibration marginal ECE": time.process_time() - began}


def rows_of_classes() -> tuple[object, object]:
    """Return float32 probabilities of many classes, and labels."""
    import numpy as np

    generator = np.random.default_rng(0)
    right = generator.integers(CLASSES, size=CLASS_ROWS)
    odds = generator.normal(size=(CLASS_ROWS, CLASSES)).astype(np.float32)
    odds[np.arange(CLASS_ROWS), right] += 4.0
    np.exp(odds, out=odds)
    return odds / odds.sum(axis=1, keepdims=True), right


def rows_of(data: str, most: int | None) -> tuple[object, object]:
    """Return scores and labels, the first so many."""
    import pyarrow.parquet as pq

    table = pq.read_table(data, columns=["score", "label"])
    return table["score"].to_numpy()[:most], table["label"].to_numpy()[:most]


if __name__ == "__main__":
    steps = {"ours": ours, "relplot": relplot, "venn_abers": venn_abers, "calibration": calibration}
    sys.stdout.write(json.dumps(steps[sys.argv[1]](str(Path(sys.argv[2]) / "scores.parquet"))))
