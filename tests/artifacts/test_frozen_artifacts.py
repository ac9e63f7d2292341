"""
Artifacts written by earlier versions stay readable and keep predicting the same.

The files were written by calibcli 0.1.0 from sample_data/breast_cancer_calibration.csv with `--bins 5`, and
are never written anew. A new schema gets files of its own beside them.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from calibcli.artifacts.store import read_artifact

FROZEN = Path(__file__).with_name("frozen")
EXPECTED = json.loads((FROZEN / "predictions.json").read_text())


@pytest.mark.parametrize("method", sorted(EXPECTED["predictions"]))
def test_frozen_artifact_predicts_as_it_did(method: str) -> None:
    """An artifact of schema calibcli.artifact/1 gives what it gave when it was written."""
    artifact = read_artifact(FROZEN / f"{method}.json")
    predicted = artifact.recalibrator.predict(np.array(EXPECTED["scores"]))
    # exp and log may differ in the last bits between processors.
    np.testing.assert_allclose(predicted, EXPECTED["predictions"][method], rtol=1e-12, atol=0)
