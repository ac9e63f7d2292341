"""What all logistic recalibrators share: rows behind a grid, weights, targets, parted labels."""

from itertools import combinations

import numpy as np
import pytest

from calibcli.errors import InputProblem, NotConverged
from calibcli.names import BetaForm, FitLoss
from calibcli.names import RecalibratorName as R
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators import Recalibrator, fit_recalibrator
from calibcli.stats.recalibrators.logistic import RowGradient
from calibcli.stats.recalibrators.logits import Platt
from calibcli.stats.recalibrators.newton import NEAREST, Aim, Family, Frame, line, logit, parted_by
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.grid import grid_of
from held_rows import HeldRows
from score_rows import scored_table, table_of_columns

KINDS = {
    "intercept": (R.INTERCEPT, FitOptions()),
    "temperature": (R.TEMPERATURE, FitOptions()),
    "platt": (R.PLATT, FitOptions()),
    "platt brier": (R.PLATT, FitOptions(loss=FitLoss.BRIER)),
    "beta": (R.BETA, FitOptions()),
    "beta ab": (R.BETA, FitOptions(form=BetaForm.AB, smooth_targets=True)),
    "beta am": (R.BETA, FitOptions(form=BetaForm.AM)),
    "beta a": (R.BETA, FitOptions(form=BetaForm.A)),
    "quadratic": (R.QUADRATIC, FitOptions()),
    "spline": (R.SPLINE, FitOptions()),
    "spline brier": (R.SPLINE, FitOptions(loss=FitLoss.BRIER)),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
PLAIN, SEVEN, THRICE = FitOptions(), [0.1, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9], np.linspace(0.05, 0.95, 40)
BY_THRICE = (THRICE < 0.2) | ((THRICE > 0.45) & (THRICE < 0.7))
Columns = tuple[np.ndarray, np.ndarray]


def fit(kind: str, table: ScoreTable, rows: HeldRows | None = None, *, grid: bool = False) -> Recalibrator:
    """Fit one of the kinds."""
    name, options = KINDS[kind]
    return fit_recalibrator(name, grid_of(table) if grid else table, options=options, rows=rows)


def numbers(fitted: Recalibrator) -> np.ndarray:
    """Return the coefficients of a fit."""
    record = ("steps", "gradient", "limited_rows", "fit_range")
    found = [np.atleast_1d(value) for key, value in fitted.to_dict().items() if key not in record]
    return np.concatenate([value for value in found if value.dtype == np.float64])


@pytest.fixture(scope="module")
def many() -> Columns:
    """Return 25,000 rows whose scores share cells, some of them at the very ends."""
    rng = np.random.default_rng(0)
    score = rng.beta(0.6, 0.6, 25_000)
    z = logit(score)
    return score, rng.random(score.size) < 1 / (1 + np.exp(-(0.3 + 0.7 * z - 0.02 * z * z)))


@every_kind
def test_rows_behind_a_grid_give_the_fit_of_the_exact_table(kind: str, many: Columns) -> None:
    """Coefficients after the passes are those of the exact table to 1e-9; those of the cells are not."""
    table = ScoreTable.from_rows(*many)
    exact, cells = numbers(fit(kind, table)), numbers(fit(kind, table, grid=True))
    passed = fit(kind, table, HeldRows(*many), grid=True)
    np.testing.assert_allclose(numbers(passed), exact, rtol=0, atol=1e-9)
    assert not np.array_equal(cells, exact)
    assert passed.to_dict()["gradient"] < 1e-9  # type: ignore[operator]


@every_kind
def test_frequencies_behind_a_grid_count_as_rows(kind: str) -> None:
    """A row of frequency 3 and three rows give the same bits, and the fit of the exact table."""
    rng = np.random.default_rng(2)
    score = rng.random(3_000)
    label = rng.random(3_000) < score
    counts = rng.integers(0, 4, 3_000)
    table = ScoreTable.from_rows(score, label, Weighing(counts=counts))
    repeated = HeldRows(np.repeat(score, counts), np.repeat(label, counts))
    counted = fit(kind, table, HeldRows(score, label, counts), grid=True)
    assert counted == fit(kind, table, repeated, grid=True)
    np.testing.assert_allclose(numbers(counted), numbers(fit(kind, table)), rtol=0, atol=1e-9)


def test_rows_are_not_asked_for_beside_an_exact_table() -> None:
    """Where nothing was rounded there is nothing to mend."""
    table = drawn()
    nothing = HeldRows(np.zeros(0), np.zeros(0, bool))
    assert fit("platt", table, nothing) == fit("platt", table)


def test_input_that_changed_between_passes_is_refused(many: Columns) -> None:
    """A pass that meets another number of rows is an error that gives both."""
    table = ScoreTable.from_rows(*many)
    fewer = HeldRows(many[0][1:], many[1][1:])
    with pytest.raises(InputProblem, match="25,000 rows at first, then 24,999"):
        fit("platt", table, fewer, grid=True)


def test_rows_that_are_others_do_not_converge() -> None:
    """Rows so unlike the cells that 5 passes end nowhere are an error, not a fit."""
    score = np.linspace(0.01, 0.99, 99)
    table = ScoreTable.from_rows(score, np.arange(99) % 2 == 0)
    with pytest.raises(NotConverged, match="5 passes"):
        Platt.fit(grid_of(table), rows=HeldRows(score, score > 0.5))


def test_labels_that_fall_in_the_rows_alone_have_no_temperature() -> None:
    """The slope is judged again after the passes over the rows."""
    score = np.repeat([0.1, 0.9], 500)
    rising = np.concatenate((np.arange(500) < 249, np.arange(500) < 251))
    table = ScoreTable.from_rows(score, rising)
    with pytest.raises(InputProblem, match="labels do not rise"):
        fit("temperature", table, HeldRows(score, rising[::-1]), grid=True)


def test_gradient_in_integers_is_the_gradient() -> None:
    """Sums over cut terms agree with plain sums to the last digits, and survive a thousand million rows."""
    rng = np.random.default_rng(3)
    score, label = rng.random(1_000), rng.random(1_000) < 0.3
    aim = Aim(FitLoss.LOG, 0.0, 1.0, smoothed=False, separated=False)
    at = np.array([0.2, 1.5])
    work = RowGradient(Family(R.PLATT, line), aim, at, np.array([1.0, 37.0]))
    found = work.gradient(work(score, label, None), 1_000)
    gap = 1 / (1 + np.exp(-(0.2 + 1.5 * logit(score)))) - label
    np.testing.assert_allclose(found, [gap.mean(), (gap * logit(score)).mean()], rtol=0, atol=1e-15)
    often = np.full(1_000, 1_000_000)
    assert work.gradient(work(score, label, often), 10**9).tolist() == found.tolist()


def drawn(rows: int = 500) -> ScoreTable:
    """Rows that are a little overconfident."""
    return scored_table(rows, lambda score: 0.1 + 0.8 * score, seed=4, beta=(0.8, 0.8))


@every_kind
@pytest.mark.parametrize("factor", [2.0, 3.0, 1e-9])
def test_scale_of_importance_weights_does_not_matter(kind: str, factor: float) -> None:
    """Importance weights are relative: a factor changes nothing beyond rounding."""
    rng = np.random.default_rng(5)
    score, weight = rng.random(300), rng.integers(1, 6, 300).astype(float)
    label = rng.random(300) < score
    one = fit(kind, ScoreTable.from_rows(score, label, Weighing(weight=weight)))
    other = fit(kind, ScoreTable.from_rows(score, label, Weighing(weight=factor * weight)))
    np.testing.assert_allclose(numbers(other), numbers(one), rtol=0, atol=1e-9)


@every_kind
def test_integer_importance_weights_act_as_rows(kind: str) -> None:
    """A row of importance weight 3 pulls as three rows do (targets are smoothed by rows, so not there)."""
    rng = np.random.default_rng(6)
    score, weight = rng.random(200), rng.integers(1, 5, 200)
    label = rng.random(200) < score
    weighted = fit(kind, ScoreTable.from_rows(score, label, Weighing(weight=weight.astype(float))))
    repeated = fit(kind, ScoreTable.from_rows(np.repeat(score, weight), np.repeat(label, weight)))
    if not KINDS[kind][1].smooth_targets:
        np.testing.assert_allclose(numbers(weighted), numbers(repeated), rtol=0, atol=1e-8)


@every_kind
def test_prediction_has_the_same_bits_however_scores_are_grouped(kind: str) -> None:
    """One score at a time, in strides, or across chunks: a continuum, without bins and without a theorem."""
    fitted = fit(kind, drawn())
    assert (fitted.bins, fitted.guarantee) == (None, None)
    scores = np.random.default_rng(0).random(70_001)
    whole = fitted.predict(scores)
    assert fitted.predict(scores[::7]).tobytes() == whole[::7].tobytes()
    singles = [fitted.predict(scores[i : i + 1])[0] for i in range(0, 70_001, 997)]
    assert np.array(singles).tobytes() == whole[::997].tobytes()


@pytest.mark.parametrize("seed", range(12))
def test_parting_by_a_parabola_is_found_exactly(seed: int) -> None:
    """The linear program agrees with trying every pair of thresholds."""
    rng = np.random.default_rng(seed)
    z = np.sort(rng.choice(np.arange(-4, 5), 9)).astype(float)
    label = np.abs(z + rng.normal(0, 0.5, 9)) < 2
    label[rng.integers(9)] = rng.random() < 0.5
    if label.all() or not label.any():
        label[0] = not label[0]
    design = np.stack((np.ones(9), z, z * z))
    curves = [(z - a) * (z - b) for a, b in combinations(np.repeat(np.unique(z), 2), 2)]
    curves += [(z - a) * sign for a in z for sign in (1.0, -1.0)]
    signed = [sign * np.where(label, curve, -curve) for curve in curves for sign in (1.0, -1.0)]
    parted = any(np.all(one >= 0) and np.any(one > 0) for one in signed)
    if np.unique(z).size >= 3:
        assert parted_by(design, label) is parted


def test_frame_is_orthonormal_and_knows_the_way_back() -> None:
    """The basis is orthonormal under the weights, and coefficients in it name the same curve."""
    rng = np.random.default_rng(7)
    features, weight = rng.random((4, 50)), rng.dirichlet(np.ones(50))
    frame = Frame.of(features, weight)
    np.testing.assert_allclose((frame.design * weight) @ frame.design.T, np.eye(4), atol=1e-12)
    at = rng.random(4)
    np.testing.assert_allclose(frame.coefficients(at) @ features, at @ frame.design, atol=1e-12)


def test_dependent_features_are_refused() -> None:
    """A feature that is a combination of those before it cannot have a coefficient."""
    features = np.stack((np.ones(5), np.arange(5.0), 3.0 + 2.0 * np.arange(5.0)))
    with pytest.raises(NotConverged, match="do not tell the 3 coefficients apart"):
        Frame.of(features, np.full(5, 0.2))


PARTED: list[tuple[R, FitOptions, list[float], list[int], str | None]] = [
    (R.PLATT, PLAIN, [0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], "parts the labels"),
    (R.PLATT, PLAIN, [0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0], "parts the labels"),
    (R.PLATT, PLAIN, [0.1, 0.5, 0.5, 0.9], [0, 0, 1, 1], "parts the labels"),
    (R.PLATT, PLAIN, [0.1, 0.5, 0.4, 0.9], [0, 0, 1, 1], None),
    (R.TEMPERATURE, PLAIN, [0.1, 0.5, 0.5, 0.9], [0, 0, 1, 1], "The score 1/2 parts the labels"),
    (R.TEMPERATURE, PLAIN, [0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1], None),
    (R.INTERCEPT, PLAIN, [0.1, 0.2, 0.8], [0, 0, 1], None),
    (R.QUADRATIC, PLAIN, SEVEN, [0, 0, 1, 1, 1, 0, 0], "A parabola in the logit of the score parts the"),
    # No increasing curve parts an island.
    (R.BETA, PLAIN, SEVEN, [0, 0, 1, 1, 1, 0, 0], None),
    # Labels that change three times are parted by a curve with three bends.
    (R.SPLINE, PLAIN, THRICE.tolist(), BY_THRICE.tolist(), "A spline of the logit of the score parts the"),
    *((R.BETA, FitOptions(form=one), [0.1, 0.3, 0.6, 0.7], [0, 0, 1, 1], "targets were") for one in BetaForm),
    # Forms without m pass 1/2 at 1/2, and no threshold elsewhere parts labels for them.
    *(
        (R.BETA, FitOptions(form=one), [0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1], "parts" if "m" in one else None)
        for one in BetaForm
    ),
]


@pytest.mark.parametrize(("name", "options", "score", "label", "said"), PARTED)
def test_labels_that_a_curve_parts_get_smoothed_targets(
    name: R, options: FitOptions, score: list[float], label: list[int], said: str | None
) -> None:
    """There is no finite fit then, which is said, and no certainty; else there is."""
    fitted = fit_recalibrator(name, table_of_columns(score, label), options=options)
    record = fitted.record  # type: ignore[attr-defined]
    assert (record.separated, record.smoothed) == (said is not None,) * 2
    assert said is None or said in fitted.notes[0]
    if name is R.PLATT and said is not None:
        ends = fitted.predict(np.array([score[0], score[-1]]))
        assert 0.05 < ends.min() < 0.3
        assert 0.7 < ends.max() < 0.95


@pytest.mark.parametrize("name", [R.INTERCEPT, R.PLATT, R.BETA, R.QUADRATIC, R.SPLINE])
def test_certain_scores_are_limited_inside_the_logit_and_counted(name: R) -> None:
    """Scores of 0 and 1 take part as 2^-53 from the end, and their rows are counted."""
    label, inside = [0, 1, 0, 1, 0, 1], [0.4, 0.5]
    fitted = fit_recalibrator(name, table_of_columns([0.0, 0.0, 1e-20, *inside, 1.0], label))
    near = fit_recalibrator(name, table_of_columns([*[NEAREST] * 3, *inside, 1.0 - NEAREST], label))
    assert "4 fit rows" in fitted.notes[-1]
    assert not any("fit rows" in note for note in near.notes)
    np.testing.assert_array_equal(numbers(fitted), numbers(near))
