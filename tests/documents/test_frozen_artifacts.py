"""
Artifacts written by earlier versions stay readable and keep predicting the same.

The files were written by calibcli 0.1.0 from sample_data/breast_cancer_calibration.csv with `--bins 5`, and
are never written anew; those of version 2 also from the churn data (`--by group`) and digits_naive_bayes, and
two from rows drawn for them: scores that auto left as they are, and probabilities below 2^-53 of which none
is 0. A new schema gets files of its own beside them.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import calibcli
from calibcli.documents.artifact import read_any_map, read_artifact
from calibcli.documents.sealed import sealed_text
from calibcli.documents.summary import read_summary

FROZEN = Path(__file__).with_name("frozen")
EXPECTED = json.loads((FROZEN / "predictions.json").read_text())
FROZEN_2 = Path(__file__).with_name("frozen_2")
LATER = json.loads((FROZEN_2 / "predictions.json").read_text())


@pytest.mark.parametrize("method", sorted(EXPECTED["predictions"]))
def test_frozen_artifact_predicts_as_it_did(method: str) -> None:
    """An artifact of schema calibcli.artifact/1 gives what it gave when it was written."""
    artifact = read_artifact(FROZEN / f"{method}.json")
    predicted = artifact.recalibrator.predict(np.array(EXPECTED["scores"]))
    # exp and log may differ in the last bits between processors.
    np.testing.assert_allclose(predicted, EXPECTED["predictions"][method], rtol=1e-12, atol=0)


@pytest.mark.parametrize("method", sorted(LATER["predictions"]))
def test_frozen_artifact_of_version_2_predicts_as_it_did(method: str) -> None:
    """An artifact of schema calibcli.artifact/2 gives what it gave, and is read without a note."""
    artifact = read_artifact(FROZEN_2 / f"{method}.json")
    predicted = artifact.recalibrator.predict(np.array(LATER["scores"]))
    np.testing.assert_allclose(predicted, LATER["predictions"][method], rtol=1e-12, atol=0)
    assert artifact.doubts == ()


@pytest.mark.parametrize("name", ["groups", "temperature", "least", "identity"])
def test_frozen_maps_of_version_2_are_read(name: str) -> None:
    """Of groups and of classes; written again they are the same document."""
    found = read_any_map(str(FROZEN_2 / f"{name}.json"))
    assert found.doubts == ()
    assert sealed_text(found.to_dict()) == (FROZEN_2 / f"{name}.json").read_text()


def test_frozen_report_and_summary_of_version_2_are_read() -> None:
    """With the numbers they had."""
    saved = calibcli.load(FROZEN_2 / "report.json")
    assert saved["brier"].value == pytest.approx(0.05470722203784413)  # type: ignore[index]
    assert saved.to_json() == (FROZEN_2 / "report.json").read_text()
    summary = read_summary(FROZEN_2 / "summary.json")
    assert (summary.table.total_rows, summary.table.total_positive_rows) == (285, 108)
    assert not any("digest" in note for note in summary.input.notes)
