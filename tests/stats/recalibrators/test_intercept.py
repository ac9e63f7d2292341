"""The prior shift where it is delicate."""

import numpy as np
import pytest

from calibcli.codec import Node
from calibcli.errors import DocumentProblem
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.intercept import Intercept
from calibcli.stats.recalibrators.newton import logit
from calibcli.stats.table.score_table import ScoreTable


def test_prior_shift_is_recovered() -> None:
    """Log odds that were moved by -1.2 are moved back, within what 20,000 rows allow."""
    rng = np.random.default_rng(0)
    score = rng.random(20_000)
    label = rng.random(score.size) < 1 / (1 + np.exp(-(logit(score) + 1.2)))
    fitted = Intercept.fit(ScoreTable.from_rows(score, label))
    assert fitted.intercept == pytest.approx(1.2, abs=0.06)
    assert fitted.increasing
    assert fitted.notes == ()


def test_mean_prediction_is_the_mean_label() -> None:
    """That is the score equation of the one coefficient."""
    rng = np.random.default_rng(1)
    score = rng.beta(0.5, 2, 500)
    label = rng.random(500) < 0.4
    fitted = Intercept.fit(ScoreTable.from_rows(score, label))
    assert fitted.predict(score).mean() == pytest.approx(label.mean(), abs=1e-12)


def test_parted_labels_and_constant_scores_have_a_fit() -> None:
    """One coefficient beside a fixed slope is finite whenever both labels are there."""
    parted = Intercept.fit(ScoreTable.from_rows(np.array([0.1, 0.2, 0.8]), np.array([0, 0, 1], bool)))
    assert not parted.record.separated
    constant = Intercept.fit(ScoreTable.from_rows(np.full(4, 0.3), np.array([0, 1, 1, 1], bool)))
    assert constant.predict(np.array([0.3]))[0] == pytest.approx(0.75, abs=1e-12)


def test_certain_scores_alone_are_fitted() -> None:
    """Where only scores of 0 and 1 are there, on which the loss is all but flat, the optimum is still met."""
    score, label = np.repeat([0.0, 1.0], 10), np.array([0] * 7 + [1] * 3 + [0] + [1] * 9, bool)
    fitted = Intercept.fit(ScoreTable.from_rows(score, label))
    assert fitted.predict(score).mean() == pytest.approx(0.6, abs=1e-9)
    assert fitted.record.limited_rows == 20
    assert "20 fit rows" in fitted.notes[0]


def test_smoothed_targets_move_the_mean() -> None:
    """On request the mean prediction is the mean smoothed target."""
    score, label = np.array([0.2, 0.4, 0.6]), np.array([0, 1, 1], bool)
    fitted = Intercept.fit(ScoreTable.from_rows(score, label), options=FitOptions(smooth_targets=True))
    assert fitted.predict(score).mean() == pytest.approx((1 / 3 + 2 * 3 / 4) / 3, abs=1e-12)


@pytest.mark.parametrize(
    ("key", "value"), [("intercept", "abc"), ("intercept", 1e200), ("separated", True), ("separated", 0)]
)
def test_damaged_parameters_are_refused_with_their_place(key: str, value: object) -> None:
    """Every parameter that no fit can have written is an error that gives its path."""
    fitted = Intercept.fit(ScoreTable.from_rows(np.array([0.2, 0.4]), np.array([0, 1], bool)))
    with pytest.raises(DocumentProblem) as problem:
        Intercept.from_dict(Node({**fitted.to_dict(), "smoothed": True, key: value}, "$.parameters"))
    assert problem.value.path == f"$.parameters.{key}"
