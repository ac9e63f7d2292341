"""What several test folders share."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def _no_runner() -> None:
    """`verify` tells GitHub's runner what it found, and these tests may run in a workflow."""
    for variable in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        os.environ.pop(variable, None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real predictions, or skip."""
    if not (SHARED / "golden.json").exists():
        pytest.skip("the folder of real predictions beside the repository is absent")
    return SHARED


@pytest.fixture(scope="session")
def golden(shared_data: Path) -> Any:
    """Return a look-up of golden records by quantity, with optional dataset and implementation prefix."""
    records = json.loads((shared_data / "golden.json").read_text())["records"]

    def find(quantity: str, dataset: str | None = None, implementation: str = "") -> list[dict[str, Any]]:
        return [
            record
            for record in records
            if record["quantity"] == quantity
            and dataset in (None, record["dataset"])
            and record["implementation"].startswith(implementation)
        ]

    return find


@pytest.fixture(scope="session")
def real(shared_data: Path) -> Any:
    """Return a loader of the binary real tables: name -> (scores, labels as booleans)."""

    def load(name: str) -> tuple[np.ndarray, np.ndarray]:
        import pandas as pd

        parquet = shared_data / f"{name}.parquet"
        frame = pd.read_parquet(parquet) if parquet.exists() else pd.read_csv(shared_data / f"{name}.csv")
        return frame["score"].to_numpy(np.float64), frame["label"].to_numpy() == 1

    return load
