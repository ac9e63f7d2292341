"""The multicalibration error that MCGrad gives for two made-up tables, and for one of real rows.

Recipe: `python -m venv /tmp/mcgrad`, install mcgrad==0.1.5 there, then

    /tmp/mcgrad/bin/python tests/oracles/peer_segments.py [RECID_LOGIT.csv] > tests/oracles/peer_segments.json

The last table is not part of the project. Of scores with ties MCGrad's value depends on the order of the
rows, so that no table has any. It cuts numbers into as many intervals as a column may have values.
`test_segment_oracles.py` compares with the file, without MCGrad.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

COLUMNS = ("colour", "shape", "size")
DEPTH, MOST, LEAST = 3, 3, 10
# Of the table with gaps and numbers, which calibcli cuts into four.
INTERVALS = 4


def made_up(rows: int = 2_000) -> dict[str, np.ndarray]:
    """Return rows whose scores are too high for one pair of values; the same for every version of numpy."""
    place = np.arange(1, rows + 1, dtype=np.float64)
    golden, silver, bronze, copper, lead = (
        np.modf(place * np.sqrt(k))[0] for k in (5.0, 2.0, 3.0, 7.0, 11.0)
    )
    colour = np.array(["red", "green", "blue", "grey", "white"])[(golden**2 * 5).astype(int)]
    shape = np.array(["round", "flat", "square"])[(silver * 3).astype(int)]
    size = np.array(["small", "large"])[(bronze > 0.7).astype(int)]
    score = 0.02 + 0.96 * copper**2
    truth = np.where((colour == "red") & (shape == "flat"), 0.6 * score, score)
    return {
        "colour": colour,
        "shape": shape,
        "size": size,
        "score": score,
        "label": (lead < truth).astype(int),
    }


def with_gaps() -> dict[str, np.ndarray]:
    """Return the same rows with gaps in a column, and with numbers."""
    rows = made_up()
    place = np.arange(1, rows["score"].size + 1, dtype=np.float64)
    gap, number = (np.modf(place * np.sqrt(k))[0] for k in (13.0, 17.0))
    shape = np.where(gap < 0.1, None, rows["shape"])
    return rows | {"shape": shape, "weight": np.round(80.0 * number**3, 6)}


def recorded(path: str) -> dict[str, np.ndarray]:
    """Return the rows of a file, columns of segments as text."""
    with Path(path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, np.ndarray] = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return found | {"score": found["score"].astype(float), "label": found["label"].astype(int)}


def _main() -> None:
    import pandas as pd
    from mcgrad.metrics import MulticalibrationError

    tables = {
        "made up": (made_up(), COLUMNS, (), MOST),
        "with gaps": (with_gaps(), COLUMNS[1:], ("weight",), INTERVALS),
    }
    if len(sys.argv) > 1:
        tables["recid_logit"] = recorded(sys.argv[1]), ("race", "sex", "charge_degree"), (), MOST
    values = {}
    for name, (rows, columns, numbers, most) in tables.items():
        found = MulticalibrationError(
            pd.DataFrame(rows),
            "label",
            "score",
            categorical_segment_columns=list(columns),
            numerical_segment_columns=list(numbers) or None,
            max_depth=DEPTH,
            max_values_per_segment_feature=most,
            min_samples_per_segment=LEAST,
            precision_dtype="float64",
        )
        values[name] = {
            "mce": float(found.mce),
            "mce_sigma": float(found.mce_sigma),
            "sigmas": sorted(np.asarray(found.segments_ecce_sigma, float).tolist()),
        }
    json.dump(values, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    _main()
