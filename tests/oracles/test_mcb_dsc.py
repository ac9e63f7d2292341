"""Points of the MCB-DSC picture agree with scikit-learn's isotonic regression on the sample forecasts."""

import csv
from pathlib import Path

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from calibcli.commands.pictures.diagram import PlotRequest
from calibcli.commands.plot import diagram_of
from calibcli.names import FitLoss, PlotKind
from calibcli.options.pictures import PictureOptions
from calibcli.options.rows import Columns
from calibcli.stats.curves.isotonic import McbDsc

FORECASTS = Path(__file__).parents[2] / "sample_data" / "forecasts.csv"


def log_loss(label: np.ndarray, forecast: np.ndarray) -> float:
    """Return the mean of -log p, without the clipping of scikit-learn's."""
    with np.errstate(divide="ignore"):
        return float(np.mean(-np.log(np.where(label == 1, forecast, 1.0 - forecast))))


@pytest.mark.parametrize(("loss", "mean"), [(FitLoss.BRIER, brier_score_loss), (FitLoss.LOG, log_loss)])
def test_points_are_those_of_scikit_learn(loss: FitLoss, mean) -> None:  # noqa: ANN001 - two of its functions
    """All five forecasts; one that says yes or no has an infinite log loss, and so is its MCB."""
    columns = Columns("climatology", "rain", others=("fc_ensemble", "fc_radar", "fc_sharp", "fc_yes_no"))
    request = PlotRequest([str(FORECASTS)], columns, kind=PlotKind.MCB_DSC, look=PictureOptions(loss=loss))
    found = diagram_of(request).drawn.picture
    assert isinstance(found, McbDsc)
    with FORECASTS.open() as file:
        table = list(csv.DictReader(file))
    label = np.array([int(row["rain"]) for row in table])
    base = np.full(label.size, label.mean())
    for place, name in enumerate(found.names):
        score = np.array([float(row[name]) for row in table])
        fit = np.clip(IsotonicRegression().fit(score, label).predict(score), 0.0, 1.0)
        assert found.mcb[place] == pytest.approx(mean(label, score) - mean(label, fit), abs=1e-12)
        assert found.dsc[place] == pytest.approx(mean(label, base) - mean(label, fit), abs=1e-12)
        assert found.unc[place] == pytest.approx(mean(label, base), abs=1e-12)
    assert np.isinf(found.mcb[-1]) == (loss is FitLoss.LOG)
