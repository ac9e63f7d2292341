"""Laws of what exports are made of: steps of scaling-binning, and steps on other scales."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.errors import InputProblem, UsageProblem
from calibcli.exports.binned_base import steps_of_scaling_binning
from calibcli.exports.formula import Number, Score, Steps, lines, steps
from calibcli.exports.maps import formulas_of
from calibcli.exports.scales import range_of, scores_from
from calibcli.names import RecalibratorName, Scale
from calibcli.readers.scores import on_scale
from calibcli.recalibrators import fit_recalibrator, recalibrator_class
from calibcli.recalibrators.options import BASES, FitOptions
from calibcli.recalibrators.scaling_binning import ScalingBinning
from calibcli.table.score_table import ScoreTable


@pytest.mark.parametrize("base", BASES)
@settings(deadline=None, max_examples=2)
@given(seed=st.integers(0, 10_000))
def test_steps_of_scaling_binning_are_the_map(base: RecalibratorName, seed: int) -> None:
    """Whatever the base, falling and turning ones too, looking steps up is what `predict` gives."""
    rng = np.random.default_rng(seed)
    scores = rng.random(200)
    labels = rng.random(200) < np.abs(scores - rng.random())
    table = ScoreTable.from_rows(scores, labels)
    try:
        fitted = fit_recalibrator(
            RecalibratorName.SCALING_BINNING, table, options=FitOptions(bins=6, base=base)
        )
    except InputProblem:
        return
    assert isinstance(fitted, ScalingBinning)
    starts, values = steps_of_scaling_binning(fitted)
    asked = np.concatenate((rng.random(3_000), scores, starts, np.nextafter(starts[1:], 0.0), [0.0, 1.0]))
    found = values[np.searchsorted(starts, asked, side="right") - 1]
    assert np.array_equal(found, fitted.predict(asked))


@pytest.mark.parametrize("scale", [Scale.LOGIT, Scale.LOGPROB])
@settings(deadline=None, max_examples=40)
@given(inner=st.lists(st.floats(0.0, 1.0, exclude_min=True), max_size=20, unique=True))
def test_scores_from_are_the_least_that_reach(scale: Scale, inner: list[float]) -> None:
    """Each score says at least its probability, and the one before it does not."""
    starts = np.array([0.0, *sorted(inner)])
    found, kept = scores_from(starts, scale)
    assert found[0] == -np.inf
    assert np.all(np.diff(found) > 0.0)
    assert np.all(on_scale(found, scale) >= starts[kept])
    before = np.nextafter(found[1:], -np.inf)
    assert np.all(on_scale(before, scale) < starts[kept][1:])


def test_largest_log_probability_is_that_of_apply() -> None:
    """The exponential of the highest score that is taken is 1 once rounded, and that of its double is not."""
    _, highest = range_of(Scale.LOGPROB)
    both = on_scale(np.array([highest, 2.0 * highest]), Scale.LOGPROB)
    assert both[0] == 1.0
    assert both[1] > 1.0


def test_what_is_flat_is_a_number() -> None:
    """Steps and lines of one value need no look-up."""
    ends, level = np.array([0.25, 0.75]), np.array([0.5, 0.5])
    assert isinstance(lines(Score(), ends, level), Number)
    assert isinstance(steps(Score(), np.array([0.0, 0.5]), level), Number)
    assert isinstance(steps(Score(), np.array([0.0, 0.5]), np.array([0.1, 0.5])), Steps)


@pytest.mark.parametrize("name", RecalibratorName)
def test_every_method_has_a_formula(name: RecalibratorName) -> None:
    """No method is without a formula, but for outputs that are randomised."""
    rng = np.random.default_rng(0)
    scores = rng.random(300)
    table = ScoreTable.from_rows(scores, rng.random(300) < scores)
    fitted = fit_recalibrator(name, table)
    assert isinstance(fitted, recalibrator_class(name))
    assert formulas_of(fitted, Score())


def test_randomised_outputs_have_none() -> None:
    """Outputs that depend on the place of a row are refused."""
    table = ScoreTable.from_rows(np.linspace(0.0, 1.0, 50), np.arange(50) % 2 == 0)
    fitted = fit_recalibrator(RecalibratorName.SMOOTH, table, options=FitOptions(randomised=True))
    with pytest.raises(UsageProblem, match="randomised"):
        formulas_of(fitted, Score())
