"""Laws of what exports are made of: steps of scaling-binning, and steps on other scales."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.data.fields import on_scale
from calibcli.errors import InputProblem, UsageProblem
from calibcli.export import maps
from calibcli.export.maps import Number, Score, Steps, lines, steps
from calibcli.names import RecalibratorName, Scale
from calibcli.options.fitting import BASES, FitOptions
from calibcli.stats.numerics import numbers_at, ordinals_of
from calibcli.stats.recalibrators import fit_recalibrator, recalibrator_class
from calibcli.stats.recalibrators.scaling_binning import ScalingBinning
from calibcli.stats.table import ScoreTable
from score_rows import scored_table


@pytest.mark.parametrize("base", BASES)
@settings(max_examples=2)
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
    starts, values = fitted.steps
    requested = np.concatenate((rng.random(3_000), scores, starts, np.nextafter(starts[1:], 0.0), [0.0, 1.0]))
    found = values[np.searchsorted(starts, requested, side="right") - 1]
    assert np.array_equal(found, fitted.predict(requested))


@pytest.mark.parametrize("scale", [Scale.LOGIT, Scale.LOGPROB, Scale.PERCENT])
@given(
    inner=st.lists(st.floats(0.0, 1.0, exclude_min=True), max_size=10, unique=True),
    said=st.lists(st.floats(-40.0, 0.0), max_size=30),
)
def test_scores_from_say_what_apply_reads(scale: Scale, inner: list[float], said: list[float]) -> None:
    """Of every score near a beginning, and of any other, comparing the score finds what it says."""
    cuts = on_scale(np.array(said, np.float64), scale)
    starts = np.unique(np.concatenate(([0.0], inner, cuts, np.nextafter(cuts, 2.0))))
    found, places = maps.scores_from(starts, scale)
    assert found[0] == -np.inf
    assert np.all(np.diff(found) > 0.0)
    assert np.all(np.diff(places) != 0)
    near = np.concatenate((found, said, np.linspace(-50.0, 0.0, 500)))
    ways = np.arange(-40, 41)[:, None]
    requested = numbers_at((ordinals_of(near) + ways).reshape(-1))
    requested = requested[np.isfinite(requested) & (requested <= maps.range_of(scale)[1])]
    expected = np.searchsorted(starts, on_scale(requested, scale), side="right") - 1
    assert np.array_equal(places[np.searchsorted(found, requested, side="right") - 1], expected)


def test_beginnings_of_logits_may_be_several() -> None:
    """A probability that rounding ends and begins again has a beginning each time."""
    logits = np.random.default_rng(0).normal(size=5_000) * 3.0
    starts = np.unique(np.append(on_scale(logits, Scale.LOGIT), [0.0]))
    found, places = maps.scores_from(starts, Scale.LOGIT)
    assert np.unique(places).size < places.size
    assert np.array_equal(on_scale(found, Scale.LOGIT) >= starts[places], np.ones(found.size, np.bool_))


def test_largest_log_probability_is_that_of_apply() -> None:
    """The exponential of the highest score that is taken is 1 once rounded, and that of its double is not."""
    _, highest = maps.range_of(Scale.LOGPROB)
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
    table = scored_table(300)
    fitted = fit_recalibrator(name, table)
    assert isinstance(fitted, recalibrator_class(name))
    assert maps.formulas_of(fitted, Score())


def test_randomised_outputs_have_none() -> None:
    """Outputs that depend on the place of a row are refused."""
    table = ScoreTable.from_rows(np.linspace(0.0, 1.0, 50), np.arange(50) % 2 == 0)
    fitted = fit_recalibrator(RecalibratorName.SMOOTH, table, options=FitOptions(randomised=True))
    with pytest.raises(UsageProblem, match="randomised"):
        maps.formulas_of(fitted, Score())
