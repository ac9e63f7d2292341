"""Maps of several classes agree with those of other packages; `class_peers.py` tells how these were made."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibcli.measures.binned_ece import binned_ece
from calibcli.measures.classes import class_measure
from calibcli.names import Binning, RecalibratorName
from calibcli.recalibrators.classes.temperature import ClassTemperature
from calibcli.recalibrators.classes.top_label import TopLabel
from calibcli.recalibrators.options import FitOptions
from calibcli.table.bins import bins_of
from calibcli.table.score_table import ScoreTable
from calibcli.view_names import ClassMeasure, ClassMethod, OutputSum
from class_rows import views_of
from fits_of_classes import Drawn, fitted

HERE = Path(__file__).parent
PEERS: dict[str, Any] = json.loads((HERE / "class_peers.json").read_text())
SAMPLE = HERE.parents[1] / "sample_data"


def half(name: str) -> Drawn:
    """One half of the digits as `class_peers.py` has them."""
    frame = pd.read_parquet(SAMPLE / f"digits_naive_bayes_{name}.parquet")
    root = np.maximum(frame[[f"p_{place}" for place in range(10)]].to_numpy(), 2.0**-53) ** 0.125
    probability = (root / root.sum(axis=1, keepdims=True)).round(12)
    return Drawn(probability, frame["label"].to_numpy().astype(np.int64), tuple(map(str, range(10))))


FIT, TEST = half("calibration"), half("evaluation")


def log_loss(after: np.ndarray, label: np.ndarray) -> float:
    """Mean log loss with probabilities of at least 1e-9."""
    return float(-np.log(np.maximum(after[np.arange(label.size), label], 1e-9)).mean())


@pytest.mark.parametrize(
    ("peer", "method", "inner", "tolerance"),
    [
        # The optimisers of scikit-learn and torch stop at 1e-8.
        ("sklearn_temperature", ClassMethod.TEMPERATURE, RecalibratorName.PLATT, 1e-8),
        ("torch_vector", ClassMethod.VECTOR, RecalibratorName.PLATT, 5e-8),
        ("sklearn_one_vs_rest_isotonic", ClassMethod.ONE_VS_REST, RecalibratorName.ISOTONIC, 1e-12),
        ("venn_abers_one_vs_one", ClassMethod.ONE_VS_ONE, RecalibratorName.VENN_ABERS, 1e-12),
        ("venn_abers_one_vs_rest", ClassMethod.ONE_VS_REST, RecalibratorName.VENN_ABERS, 1e-12),
    ],
)
def test_rows_and_loss_are_those_of_the_peer(
    peer: str, method: ClassMethod, inner: RecalibratorName, tolerance: float
) -> None:
    """Fitted to one half of the digits, on the other half."""
    after = fitted(method, FIT, inner, least_rows=1).predict(TEST.probability)
    expected = PEERS[peer]
    np.testing.assert_allclose(after[:3], expected["first"], rtol=0, atol=tolerance)
    assert log_loss(after, TEST.label) == pytest.approx(expected["log_loss"], abs=tolerance)


def test_top_label_isotonic_is_that_of_mapie() -> None:
    """For classes with enough rows; MAPIE fits the others to whatever there is, where ours share a map."""
    one = fitted(ClassMethod.TOP_LABEL, FIT, RecalibratorName.ISOTONIC, least_rows=1)
    assert isinstance(one, TopLabel)
    rows, predicted = np.arange(200), TEST.probability[:200].argmax(axis=1)
    own = np.isin(predicted, [int(name) for name in one.members.own])
    assert own.sum() > 50
    after = one.predict(TEST.probability[:200])[rows, predicted]
    expected = np.array(PEERS["mapie_top_label_isotonic"]["confidence"])
    np.testing.assert_allclose(after[own], expected[own], rtol=0, atol=1e-12)


def test_free_scaling_binning_is_the_marginal_calibrator_of_kumar() -> None:
    """Class by class, each with its own discrete outputs; its logistic fit stops at 1e-4."""
    one = fitted(
        ClassMethod.ONE_VS_REST,
        FIT,
        RecalibratorName.SCALING_BINNING,
        output_sum=OutputSum.FREE,
        inner_options=FitOptions(bins=10),
    )
    expected = np.array(PEERS["uncertainty_marginal_binning"]["first"])
    np.testing.assert_allclose(one.predict(TEST.probability[:200]), expected, rtol=0, atol=1e-3)


def test_measures_of_the_digits_are_those_of_the_peers() -> None:
    """Losses, the error of the confidence, by predicted class as MAPIE averages it, and marginal l2."""
    views, expected = views_of(TEST.probability, TEST.label), PEERS["measures"]
    right = TEST.probability.argmax(axis=1) == TEST.label
    confidence = ScoreTable.from_rows(TEST.probability.max(axis=1), right)
    bins = bins_of(Binning.EQUAL_WIDTH, 15, table=confidence)
    found = {
        "sklearn_log_loss": class_measure(ClassMeasure.CLASS_LOG_LOSS, views).value,
        "sklearn_brier": class_measure(ClassMeasure.CLASS_BRIER, views).value,
        "mapie_top_label_ece": class_measure(ClassMeasure.TOP_LABEL_ECE_UNWEIGHTED, views).value,
        "uncertainty_ece": binned_ece(confidence, bins=bins).value,
        "uncertainty_marginal_l2": class_measure(ClassMeasure.MARGINAL_L2, views).details["plug_in"],
    }
    assert found == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.fixture(scope="module")
def cifar(shared_data: Path) -> tuple[Drawn, Drawn]:
    """Return the first 5,000 rows of ten classes, and the others."""
    frame = pd.read_parquet(shared_data / "cifar10_lenet5.parquet")
    probability = frame[[f"p_{place}" for place in range(10)]].to_numpy(np.float64)
    label, names = frame["label"].to_numpy().astype(np.int64), tuple(map(str, range(10)))
    return Drawn(probability[:5000], label[:5000], names), Drawn(probability[5000:], label[5000:], names)


def test_temperature_of_ten_classes_is_golden(cifar: tuple[Drawn, Drawn], golden: Any) -> None:
    """1 / T of the reference formula to 1e-8, where the loss is flat to its last digit."""
    (expected,) = golden("temperature", "cifar10_lenet5", "scipy")
    assert 1.0 / ClassTemperature.fit(cifar[0]).temperature == pytest.approx(
        expected["value"]["beta"], abs=1e-8
    )


def test_venn_abers_of_pairs_is_golden(cifar: tuple[Drawn, Drawn], golden: Any) -> None:
    """Log loss on the rows that were not fitted, to 1e-9."""
    (expected,) = golden("venn_abers_multiclass", "cifar10_lenet5")
    fit, test = cifar
    after = fitted(ClassMethod.ONE_VS_ONE, fit, RecalibratorName.VENN_ABERS).predict(test.probability)
    right = after[np.arange(test.label.size), test.label]
    assert float(-np.log(right).mean()) == pytest.approx(expected["value"]["test_log_loss"], abs=1e-9)
