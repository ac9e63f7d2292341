"""Quadratic recalibration where it is delicate."""

import numpy as np
import pytest

from calibcli.codec import Node
from calibcli.errors import DocumentProblem, InputProblem
from calibcli.names import FitLoss
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.logistic import Record
from calibcli.stats.recalibrators.newton import LARGEST_LOGIT, logit
from calibcli.stats.recalibrators.quadratic import Quadratic
from calibcli.stats.table.score_table import ScoreTable

RECORD = Record(FitLoss.LOG, smoothed=False, separated=False, limited_rows=0, steps=1, gradient=0.0)


def drawn(slope: float, bend: float, *, rows: int = 20_000) -> ScoreTable:
    """Rows whose log odds are a parabola of their scores'."""
    rng = np.random.default_rng(8)
    score = rng.random(rows)
    z = logit(score)
    return ScoreTable.from_rows(score, rng.random(rows) < 1 / (1 + np.exp(-(0.3 + slope * z + bend * z * z))))


@pytest.mark.parametrize("loss", FitLoss)
def test_known_curve_is_recovered(loss: FitLoss) -> None:
    """Three coefficients are found again, within what 20,000 rows allow."""
    fitted = Quadratic.fit(drawn(0.8, 0.1), options=FitOptions(loss=loss))
    assert fitted.intercept == pytest.approx(0.3, abs=0.1)
    assert fitted.slope == pytest.approx(0.8, abs=0.1)
    assert fitted.bend == pytest.approx(0.1, abs=0.05)
    assert not fitted.increasing
    assert fitted.record.gradient < 1e-10


@pytest.mark.parametrize(
    ("slope", "bend", "increasing", "words"),
    [
        (1.0, 0.5 / LARGEST_LOGIT, True, None),
        (1.0, 0.51 / LARGEST_LOGIT, False, "outside the fit scores"),
        (-1.0, 0.0, False, "decreasing among the fit scores"),
        (1.0, 0.25, False, "turns round at score 0.119, inside the fit scores"),
        (1.0, -0.25, False, "turns round at score 1 - 0.119, inside the fit scores"),
    ],
)
def test_turning_round_is_said(slope: float, bend: float, increasing: bool, words: str | None) -> None:  # noqa: FBT001 - a parameter of the test
    """Increasing means on all of [0, 1]; a note says whether the map turns among the fit scores."""
    fitted = Quadratic(0.0, slope, bend, (-3.0, 3.0), RECORD)
    assert fitted.increasing is increasing
    assert (fitted.notes == ()) if words is None else (words in fitted.notes[0])
    grid = np.concatenate(([0.0], np.geomspace(1e-16, 0.5, 500), 1 - np.geomspace(0.5, 1e-16, 500), [1.0]))
    steps = np.diff(fitted._logits(np.unique(grid)))
    assert bool(steps.min() >= -1e-12) is increasing


def test_labels_parted_by_an_island_get_smoothed_targets() -> None:
    """Where a parabola parts the labels there is no finite fit; the linear program finds that out."""
    score = np.array([0.1, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9])
    fitted = Quadratic.fit(ScoreTable.from_rows(score, np.array([0, 0, 1, 1, 1, 0, 0], bool)))
    assert fitted.record.separated
    assert fitted.record.smoothed
    assert "A parabola in the logit of the score parts the labels" in fitted.notes[0]
    middle, end = fitted.predict(np.array([0.5, 0.1])).tolist()
    assert middle > 0.6
    assert end < 0.4


def test_two_scores_are_refused() -> None:
    """Two points do not fix a parabola."""
    table = ScoreTable.from_rows(np.array([0.2, 0.4, 0.4]), np.array([0, 1, 0], bool))
    with pytest.raises(InputProblem, match="a quadratic fit needs three distinct scores, and there are 2"):
        Quadratic.fit(table)


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("bend", "abc", "bend"),
        ("slope", 1e200, "slope"),
        ("fit_range", [1.0], "fit_range"),
        ("fit_range", [1.0, -1.0], "fit_range[1]"),
        ("fit_range", [-50.0, 1.0], "fit_range[0]"),
    ],
)
def test_damaged_parameters_are_refused_with_their_place(key: str, value: object, place: str) -> None:
    """Every parameter that no fit can have written is an error that gives its path."""
    parameters = {**Quadratic.fit(drawn(1.0, 0.0, rows=100)).to_dict(), key: value}
    with pytest.raises(DocumentProblem) as problem:
        Quadratic.from_dict(Node(parameters, "$.parameters"))
    assert problem.value.path == f"$.parameters.{place}"
