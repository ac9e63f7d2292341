"""What other tools give for made-up and sample rows, each with its default settings.

Recipe: `python -m venv /tmp/peers`, install scikit-learn, torchmetrics (with torch), netcal, mapie,
calzone-tool, relplot and uncertainty-calibration there, then

    /tmp/peers/bin/python tests/oracles/peer_values.py > tests/oracles/peer_values.json

With a file of rows (`ROWS.npz`, two columns a set) it speaks of those; `benchmarks/agreement.py` does so.
Tools that are not installed are left out. A number that a tool does not give is null, with the error on
standard error. `test_compat_oracles.py` compares `measure --compat` with the file, without any of the tools.
"""

import csv
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
Columns = tuple[np.ndarray, np.ndarray]
Values = dict[str, float | None]


# The samples whose numbers are in `peer_values.json`.
ASKED_OF = ("breast_cancer", "churn", "digits_forest", "digits_naive_bayes")


def datasets() -> dict[str, Columns]:
    """Return scores and labels, in an order that is not that of the scores."""
    rng = np.random.default_rng(20_240_611)
    found: dict[str, Columns] = {}
    thirtieths = rng.integers(0, 31, 900) / 30.0
    found["thirtieths, on edges and ends"] = drawn(rng, thirtieths, 0.05)
    found["tenths as typed"] = drawn(rng, np.round(rng.integers(0, 11, 400) * 0.1, 1), 0.1)
    fiftieths = np.concatenate([np.arange(51) / 50.0, np.linspace(0, 1, 50), np.linspace(0, 1, 16)])
    found["edges of every sort"] = drawn(rng, rng.permutation(np.tile(fiftieths, 5)), 0.0)
    ends = rng.beta(0.3, 0.4, 800)
    ends[::9], ends[4::9] = 0.0, 1.0
    ends[:4] = [1e-300, 1e-17, 1.0 - 2.0**-53, 5e-9]
    found["many at 0 and 1, some certain and wrong"] = drawn(rng, ends, 0.1)
    found["continuous, miscalibrated"] = drawn(rng, rng.beta(1.2, 2.0, 1000), 0.12)
    found["continuous, calibrated"] = drawn(rng, rng.beta(2.0, 5.0, 2000), 0.0)
    found["rare"] = drawn(rng, rng.beta(0.5, 60.0, 1500), 0.0)
    found["twelve rows"] = drawn(rng, rng.random(12), 0.0)
    found["one label"] = (rng.random(30), np.zeros(30, np.int64))
    found["one score"] = (np.full(60, 0.3), (np.arange(60) % 3 == 0).astype(np.int64))
    found["scores 0 and 1 only"] = (np.arange(80) % 2 / 1.0, (np.arange(80) % 5 < 2).astype(np.int64))
    found["scores 0 and 1 only, all right"] = (np.arange(20) % 2 / 1.0, np.arange(20) % 2)
    found["one row"] = (np.array([0.7]), np.array([1]))
    apart = rng.random(40)
    found["labels parted by the score"] = (apart, (apart > 0.6).astype(np.int64))
    return found | dict(samples())


def drawn(rng: np.random.Generator, score: np.ndarray, shift: float) -> Columns:
    """Draw labels whose rates are the scores drawn towards 1/2 by a share of the way."""
    return score, (rng.random(score.size) < score + shift * (0.5 - score)).astype(np.int64)


def samples() -> Iterator[tuple[str, Columns]]:
    """Yield at most 2,000 rows of each evaluation file; of digits, the digit that is read."""
    import pandas as pd

    for name in ASKED_OF:
        path = next(SAMPLE.glob(f"{name}_evaluation.*"))
        frame = pd.read_parquet(path) if path.suffix == ".parquet" else frame_of(path)
        kept = frame.iloc[:: math.ceil(len(frame) / 2000)]
        label = kept["label"].to_numpy().astype(np.int64)
        if "score" in kept:
            yield path.stem, (kept["score"].to_numpy(np.float64), label)
        else:
            each = kept.filter(regex="^p_").to_numpy(np.float64)
            yield path.stem, (each.max(axis=1), (each.argmax(axis=1) == label).astype(np.int64))


def frame_of(path: Path) -> "pd.DataFrame":
    """Return a CSV file with every number as Python reads it, to the last digit in any version of pandas."""
    import pandas as pd

    with path.open(newline="") as file:
        return pd.DataFrame(list(csv.DictReader(file))).astype(float)


def sklearn_values(score: np.ndarray, label: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Call scikit-learn."""
    from sklearn import metrics

    for name in ("brier_score_loss", "log_loss", "d2_brier_score", "d2_log_loss_score"):
        yield name, lambda name=name: getattr(metrics, name)(label, score)


def torchmetrics_values(score: np.ndarray, label: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Call torchmetrics with 64-bit floats."""
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    for norm in ("l1", "l2", "max"):
        yield (
            f"binary_calibration_error norm={norm}",
            lambda norm=norm: binary_calibration_error(
                torch.from_numpy(score), torch.from_numpy(label), norm=norm
            ),
        )


def netcal_values(score: np.ndarray, label: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Call netcal."""
    from netcal.metrics import ACE, ECE, MCE, MMCE

    for name, kind in (("ECE", ECE), ("MCE", MCE), ("ACE", ACE), ("MMCE", MMCE)):
        yield name, lambda kind=kind: kind().measure(score, label)


def mapie_values(score: np.ndarray, label: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Call MAPIE."""
    from mapie.metrics import calibration

    names = ["expected_calibration_error"]
    for test in ("kolmogorov_smirnov", "kuiper", "spiegelhalter"):
        names += [f"{test}_statistic", f"{test}_p_value"]
    for name in names:
        yield name, lambda name=name: getattr(calibration, name)(label, score)


def calzone_values(score: np.ndarray, label: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Call calzone, one group of its metrics after the other."""
    from calzone.metrics import CalibrationMetrics

    both = np.column_stack([1.0 - score, score])
    requested = ("SpiegelhalterZ", "ECE-H", "MCE-H", "HL-H", "ECE-C", "MCE-C", "HL-C", "COX")
    for one in requested:
        try:
            results = CalibrationMetrics(class_to_calculate=1).calculate_metrics(
                y_true=label, y_proba=both, metrics=[one]
            )
        except Exception as problem:  # noqa: BLE001 - whatever it raises is its answer
            sys.stderr.write(f"calzone {one}: {problem!r}\n")
            continue
        for name, value in results.items():
            yield name, lambda value=value: value


def relplot_values(score: np.ndarray, label: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Call relplot."""
    import relplot
    from relplot import metrics

    yield "smECE", lambda: relplot.smECE(score, label)
    yield "smECE_sigma(0.05)", lambda: relplot.smECE_sigma(score, label)
    yield "metrics.binnedECE", lambda: metrics.binnedECE(score, label)
    yield "metrics.binnedECEw", lambda: metrics.binnedECEw(score, label)


def uncertainty_calibration_values(
    score: np.ndarray, label: np.ndarray
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Call uncertainty-calibration."""
    import calibration

    for name in ("get_ece", "get_ece_em", "get_calibration_error"):
        yield name, lambda name=name: getattr(calibration, name)(score, label)


TOOLS = {
    "sklearn": ("scikit-learn", sklearn_values),
    "torchmetrics": ("torchmetrics", torchmetrics_values),
    "netcal": ("netcal", netcal_values),
    "mapie": ("mapie", mapie_values),
    "calzone": ("calzone-tool", calzone_values),
    "relplot": ("relplot", relplot_values),
    "uncertainty-calibration": ("uncertainty-calibration", uncertainty_calibration_values),
}


def plain(value: object) -> float | str | None:
    """Return a number as JSON has it; None for what is not one."""
    found = float(value)  # type: ignore[arg-type]
    return None if math.isnan(found) else found if math.isfinite(found) else str(found)


def values_of(tool: str, columns: Columns) -> dict[str, float | str | None]:
    """Return what a tool gives; null where it raises an error or gives no number."""
    found: dict[str, float | str | None] = {}
    for name, call in TOOLS[tool][1](*columns):
        try:
            found[name] = plain(call())
        except Exception as problem:  # noqa: BLE001 - whatever it raises is its answer
            sys.stderr.write(f"{tool} {name}: {problem!r}\n")
            found[name] = None
    return found


def sets_in(path: Path) -> dict[str, Columns]:
    """Return the sets in a file: arrays of shape (2, n), scores over labels."""
    with np.load(path) as columns:
        return {name: (columns[name][0], columns[name][1].astype(np.int64)) for name in columns.files}


def main() -> None:
    """Print the values of every tool that is installed."""
    warnings.simplefilter("ignore")
    sets = sets_in(Path(sys.argv[1])) if sys.argv[1:] else datasets()
    versions, values = {}, {}
    for tool, (package, _) in TOOLS.items():
        try:
            versions[tool] = version(package)
        except PackageNotFoundError:
            sys.stderr.write(f"{package} is not installed\n")
            continue
        values[tool] = {name: values_of(tool, columns) for name, columns in sets.items()}
    document = {"versions": versions, "values": values}
    sys.stdout.write(json.dumps(document, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
