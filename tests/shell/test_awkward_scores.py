"""Scores and labels that leave little to go by: every report is whole, and says what is undefined."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.names import MeasureName, TestName
from command_line import Run

pytestmark = pytest.mark.untraced

EVERY = [*MeasureName, *TestName]
HALF = np.arange(60) % 2
CASES: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "one row": (np.array([0.3]), np.array([0])),
    "two rows, surely wrong": (np.array([0.0, 1.0]), np.array([1, 0])),
    "three rows": (np.array([0.2, 0.5, 0.9]), np.array([0, 1, 1])),
    "0 and 1 only, all wrong": (HALF.astype(float), 1 - HALF),
    "all at 1/2, one label": (np.full(60, 0.5), np.ones(60, np.int64)),
    "denormal": (np.repeat([5e-324, 1e-310], 30), np.arange(60) % 13 == 0),
    "next to 1": (np.full(60, 1.0 - 2.0**-53), HALF),
    "single precision on edges": (np.tile(np.arange(16) / 15, 4).astype(np.float32), np.arange(64) % 3 == 0),
}


@pytest.fixture(params=CASES)
def file(request: pytest.FixtureRequest) -> Path:
    """The rows as Parquet."""
    score, label = CASES[request.param]
    path = Path("p.parquet")
    pq.write_table(pa.table({"score": score, "label": np.asarray(label, np.int64)}), path)
    return path


@pytest.mark.parametrize("file", [*CASES][1::4], indirect=True)
def test_table_has_a_line_for_every_measure_and_no_bare_nan(run: Run, file: Path) -> None:
    """What is undefined says so with its reason, and no number widens its column beyond reading."""
    ended = run("measure", file, "--metric", "all", code=0)
    lines = {line.split()[0]: line for line in ended.out.splitlines() if line.strip()}
    for name in EVERY:
        words = lines[name].split()
        assert "nan" not in words
        assert len(words[1]) <= 12
        if words[1] == "undefined":
            assert "no interval: " in lines[name]


def test_json_is_json_and_holds_every_number(run: Run, file: Path) -> None:
    """Bounds enclose values, p-values lie in [0, 1], and what has no bounds says why."""
    report = run("measure", file, "--metric", "all", "--format", "json", code=0).document
    assert {*report["measures"], *report["tests"]} >= {name.value for name in EVERY}
    for name, one in report["measures"].items():
        bounds = [one[side] for side in ("lower", "value", "upper")]
        if one["lower"] is None:
            assert any("no interval" in sentence for sentence in one["assumptions"]), name
        else:
            low, value, high = map(float, bounds)
            assert low <= value <= high, name
    for name, one in report["tests"].items():
        assert one["p_value"] is None or 0.0 <= one["p_value"] <= 1.0, name
