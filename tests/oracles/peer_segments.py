"""
The multicalibration error that MCGrad gives for a made-up table, and for one of real rows.

Recipe: `python -m venv /tmp/mcgrad`, install mcgrad==0.1.5 there, then

    /tmp/mcgrad/bin/python tests/oracles/peer_segments.py [RECID_LOGIT.csv] > tests/oracles/peer_segments.json

The second table is not part of the project. Of scores with ties MCGrad's value depends on the order of the
rows, so that neither table has any. `test_segment_oracles.py` compares with the file, without MCGrad.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

COLUMNS = ("colour", "shape", "size")
DEPTH, MOST, LEAST = 3, 3, 10


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


def recorded(path: str) -> dict[str, np.ndarray]:
    """Return the rows of a file, columns of segments as text."""
    with Path(path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, np.ndarray] = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return found | {"score": found["score"].astype(float), "label": found["label"].astype(int)}


def _main() -> None:
    import pandas as pd
    from mcgrad.metrics import MulticalibrationError

    tables = {"made up": (made_up(), COLUMNS)}
    if len(sys.argv) > 1:
        tables["recid_logit"] = recorded(sys.argv[1]), ("race", "sex", "charge_degree")
    values = {}
    for name, (rows, columns) in tables.items():
        found = MulticalibrationError(
            pd.DataFrame(rows),
            "label",
            "score",
            categorical_segment_columns=list(columns),
            max_depth=DEPTH,
            max_values_per_segment_feature=MOST,
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
