"""Temperature scaling where it is delicate."""

import numpy as np
import pytest

from calibcli.codec import Node
from calibcli.errors import DocumentProblem, InputProblem
from calibcli.names import FitLoss
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.newton import logit
from calibcli.stats.recalibrators.temperature import Temperature
from calibcli.stats.table.score_table import ScoreTable


def table(score: list[float], label: list[int]) -> ScoreTable:
    """Rows as a table."""
    return ScoreTable.from_rows(np.array(score), np.array(label, dtype=bool))


def drawn(temperature: float) -> ScoreTable:
    """Rows whose log odds were multiplied by a temperature."""
    rng = np.random.default_rng(0)
    score = rng.random(20_000)
    return ScoreTable.from_rows(score, rng.random(20_000) < 1 / (1 + np.exp(-logit(score) / temperature)))


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("loss", FitLoss)
def test_known_temperature_is_recovered(temperature: float, loss: FitLoss) -> None:
    """A temperature is found again, within what 20,000 rows allow, and 1/2 stays."""
    fitted = Temperature.fit(drawn(temperature), options=FitOptions(loss=loss))
    assert fitted.temperature == pytest.approx(temperature, rel=0.1)
    assert fitted.increasing
    assert fitted.notes == ()
    assert fitted.predict(np.array([0.5]))[0] == 0.5


def test_one_doubtful_score_fixes_the_temperature() -> None:
    """Rows of one score are sent to their mean label, where that is on the same side of 1/2."""
    fitted = Temperature.fit(table([0.9] * 10, [1] * 6 + [0] * 4))
    assert fitted.predict(np.array([0.9]))[0] == pytest.approx(0.6, abs=1e-12)


@pytest.mark.parametrize("score", [[0.0, 1.0, 1.0], [0.5, 0.5, 0.5], [0.0, 0.5, 1.0], [0.0, 0.0, 0.0]])
def test_scores_without_doubt_have_no_temperature(score: list[float]) -> None:
    """Where every score is 0, 1/2 or 1 nothing says how far to divide."""
    with pytest.raises(InputProblem, match="no temperature is defined: each of the 3 rows") as problem:
        Temperature.fit(table(score, [0, 1, 0]))
    assert "platt" in str(problem.value.hint)


@pytest.mark.parametrize("label", [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]])
@pytest.mark.parametrize("smooth", [False, True])
def test_labels_that_do_not_rise_are_refused(label: list[int], smooth: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A slope of 0 or less is no temperature, also where a threshold parts the labels backwards."""
    with pytest.raises(InputProblem, match="labels do not rise with the score") as problem:
        Temperature.fit(table([0.1, 0.2, 0.8, 0.9], label), options=FitOptions(smooth_targets=smooth))
    assert "--method platt" in str(problem.value.hint)


def test_labels_parted_at_one_half_get_smoothed_targets() -> None:
    """Only the threshold 1/2 can part the labels for a map that keeps 1/2."""
    fitted = Temperature.fit(table([0.1, 0.5, 0.5, 0.9], [0, 0, 1, 1]))
    assert fitted.record.separated
    assert "The score 1/2 parts the labels" in fitted.notes[0]
    elsewhere = Temperature.fit(table([0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1]))
    assert not elsewhere.record.separated


@pytest.mark.parametrize("value", [0.0, -1.0, 1e200, "1", True])
def test_damaged_parameters_are_refused_with_their_place(value: object) -> None:
    """A temperature that is not positive and finite is an error that gives its path."""
    parameters = {**Temperature.fit(drawn(2.0)).to_dict(), "temperature": value}
    with pytest.raises(DocumentProblem) as problem:
        Temperature.from_dict(Node(parameters, "$.parameters"))
    assert problem.value.path == "$.parameters.temperature"
