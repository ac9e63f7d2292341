"""Platt scaling where it is delicate."""

import numpy as np
import pytest

from calibcli.errors import NotConverged
from calibcli.names import FitLoss
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.logistic import Record
from calibcli.stats.recalibrators.logits import Platt
from calibcli.stats.recalibrators.newton import Points, Slopes, logit, minimise
from calibcli.stats.table import ScoreTable
from score_rows import scored_table, table_of_columns


def drawn(rows: int = 3000, *, slope: float = 0.6) -> ScoreTable:
    """Rows whose label odds are a power of their score odds."""
    return scored_table(rows, lambda score: 1 / (1 + np.exp(-slope * logit(score))), seed=11, beta=(0.8, 0.8))


def test_smoothed_targets_are_those_of_platt() -> None:
    """With smoothing, the mean prediction is the mean of (n1 + 1)/(n1 + 2) and 1/(n0 + 2)."""
    score = np.array([0.1, 0.2, 0.6, 0.7, 0.9])
    label = np.array([0, 1, 0, 1, 1], dtype=bool)
    fitted = Platt.fit(ScoreTable.from_rows(score, label), options=FitOptions(smooth_targets=True))
    assert fitted.record.smoothed
    assert not fitted.record.separated
    assert fitted.predict(score).mean() == pytest.approx((3 * 4 / 5 + 2 * 1 / 4) / 5, abs=1e-12)


def test_negative_slope_is_fitted_and_said() -> None:
    """Scores that rank the labels backwards give a decreasing map with a note."""
    fitted = Platt.fit(table_of_columns([0.1, 0.3, 0.4, 0.6, 0.9], [1, 1, 0, 1, 0]))
    assert fitted.slope < 0
    assert not fitted.increasing
    assert any("negative" in note for note in fitted.notes)


def test_loss_that_falls_for_ever_is_given_up() -> None:
    """A loss without a minimum is left after 100 steps, however small its gradient gets."""

    def falling(_: Points, at: np.ndarray) -> Slopes:
        left = float(np.exp(-at[0]))
        return Slopes(left + at[1] ** 2, np.array([-left, 2 * at[1]]), np.diag([left, 2.0]))

    nothing = Points(np.zeros((2, 1)), np.zeros(1), np.zeros(1))
    with pytest.raises(NotConverged, match="the falling loss has no minimum that 100 Newton steps reach"):
        minimise(falling, nothing, start=np.array([0.0, 1.0]), what="falling loss")


def test_step_that_never_improves_is_given_up() -> None:
    """Where no fraction of a step lowers the loss or the gradient, the fit ends in an error."""

    def rising(_: Points, at: np.ndarray) -> Slopes:
        return Slopes(at[0] ** 2, np.array([-1.0 - at[0], 0.0]), np.eye(2))

    nothing = Points(np.zeros((2, 1)), np.zeros(1), np.zeros(1))
    with pytest.raises(NotConverged, match="rising loss"):
        minimise(rising, nothing, start=np.array([1.0, 0.0]), what="rising loss")


def test_prediction_is_stable_at_the_ends() -> None:
    """Enormous coefficients saturate at 0 and 1 without a warning."""
    record = Record(FitLoss.LOG, smoothed=False, separated=False, limited_rows=0, steps=1, gradient=0.0)
    steep = Platt(1e99, -1e99, record)
    assert steep.predict(np.array([0.0, 0.5, 1.0])).tolist() == [1.0, 1.0, 0.0]
    assert steep.predict(np.zeros(0)).size == 0
