"""Cox's intercept and slope: what the likelihood gives, and what it does not."""

import math
from unittest.mock import patch

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, logit
from scipy.stats import t as student

from calibcli.errors import NotConverged
from calibcli.names import MeasureName, Target
from calibcli.stats.measures import Estimate
from calibcli.stats.measures import cox as cox_module
from calibcli.stats.measures.bias import interval_of_bias
from calibcli.stats.measures.cox import Profile, cox_measure
from calibcli.stats.measures.smooth import calibration_index
from calibcli.stats.measures.u_test import u_test
from calibcli.stats.recalibrators.logits import Intercept, Platt
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.derived import with_scores
from calibcli.stats.table.grid import Table, grid_of
from calibcli.stats.table.sliced import RunningSlices
from claims.simulation import most_misses
from score_rows import scored, scored_table, table_of

M = MeasureName
COX = (M.CITL_LOGIT, M.COX_INTERCEPT, M.COX_SLOPE)


def drawn(rows: int, *, intercept: float = 0.3, slope: float = 0.7, seed: int = 0) -> ScoreTable:
    """Rows that follow a line in the logit."""
    return scored_table(rows, lambda score: expit(intercept + slope * logit(score)), seed=seed)


def cox(table: Table, confidence: float = 0.95) -> list[Estimate]:
    """The three coefficients."""
    return [cox_measure(name, table, confidence=confidence) for name in COX]


def best_level(label: np.ndarray, moved: np.ndarray) -> float:
    """Return the log likelihood of the best intercept beside given logits."""

    def lost(a: float) -> float:
        t = a + moved
        return float((np.logaddexp(0, t) - label * t).sum())

    far = float(np.abs(moved).max()) + 50.0
    return -minimize_scalar(lost, bounds=(-far, far), method="bounded", options={"xatol": 1e-10}).fun


def adjusted_level(label: np.ndarray, z: np.ndarray, line: tuple[float, float], which: int) -> float:
    """Return t^2 times the ratio of the HC3 variance to the model's, by the formulas on whole matrices."""
    design = np.stack((np.ones_like(z), z))
    p = expit(line[0] + line[1] * z)
    inverse = np.linalg.inv(design * (p * (1 - p)) @ design.T)
    hat = np.einsum("ji,jk,ki->i", design, inverse, design) * p * (1 - p)
    pull = (inverse @ design)[which] * (label - p)
    ratio = float(((pull / np.maximum(1 - hat, 1e-6)) ** 2).sum()) / inverse[which, which]
    freedom = max(float((pull**2).sum()) ** 2 / float((pull**4).sum()) - 1.0, 1.0)
    return max(1.0, ratio) * student.ppf(0.975, freedom) ** 2


def test_coefficients_are_those_of_the_recalibrators() -> None:
    """The slope and intercept are Platt's, citl_logit is the intercept's shift."""
    table = drawn(2000)
    citl, intercept, slope = cox(table)
    platt = Platt.fit(table)
    assert slope.value == pytest.approx(platt.slope, abs=1e-9)
    assert intercept.value == pytest.approx(platt.intercept, abs=1e-9)
    assert citl.value == pytest.approx(Intercept.fit(table).intercept, abs=1e-9)
    for estimate in (citl, intercept, slope):
        assert estimate.interval is not None
        assert estimate.interval.target is Target.FIXED_DESIGN
        assert estimate.interval.method == "profile likelihood, adjusted"
        assert estimate.interval.finite_sample is False
    assert [e.null for e in (citl, intercept, slope)] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(("zeros", "ones"), [(2, 1), (1, 2), (1, 1), (400, 1)])
def test_shift_of_surely_right_rows_is_half_their_log_odds(zeros: int, ones: int) -> None:
    """Where every score is 0 or 1 and right, tiny pulls decide: exp(-a) ones = exp(a) zeros."""
    table = table_of([(0.0, 0)] * zeros + [(1.0, 1)] * ones)
    estimate = cox_measure(M.CITL_LOGIT, table)
    assert estimate.value == pytest.approx(0.5 * math.log(ones / zeros), abs=1e-9)


def test_one_label_leaves_the_shift_one_end() -> None:
    """Every label 0: citl_logit is -inf with the upper end of the likelihood; the line is undefined."""
    table = table_of([(0.5, 0)] * 10)
    citl, intercept, slope = cox(table)
    assert citl.value == -math.inf
    assert citl.interval is not None
    assert citl.interval.lower == -math.inf
    # Ten labels of 0 have the probability (1 + e^a)^-10 = .025.
    level = -2.0 * math.log(0.025)
    assert citl.interval.upper == pytest.approx(math.log(math.expm1(level / 20)), abs=1e-7)
    assert any("every label is 0" in text for text in citl.assumptions)
    assert math.isnan(slope.value)
    assert math.isnan(intercept.value)
    ones = cox_measure(M.CITL_LOGIT, table_of([(0.5, 1)] * 10))
    assert ones.value == math.inf
    assert ones.interval.lower == pytest.approx(-citl.interval.upper, abs=1e-7)
    # With 10,000 rows the end is the other side of 0 from the start of the search.
    many = ScoreTable(np.array([0.5]), [10_000], [0])
    assert cox_measure(M.CITL_LOGIT, many).interval.upper < -7.9
    assert cox_measure(M.CITL_LOGIT, table_of([(0.001, 0)])).interval.upper > 8.0


@pytest.mark.parametrize(
    ("scores", "rates", "confidence"),
    [
        # Open rows that are certain, among a thousand sure ones that are not as sure as they say.
        ([(1e-6, 998), (0.5, 2)], [3.0e-3, 0.0], 0.95),
        ([(1e-6, 998), (0.5, 2)], [7.0e-3, 0.0], 0.999),
        # The order of the scores is not that of the rates.
        ([(0.05, 3), (0.9, 22)], [0.05, 0.1], 0.95),
    ],
)
def test_one_label_says_no_more_of_the_shift_than_of_the_mean_rate(
    scores: list[tuple[float, int]], rates: list[float], confidence: float
) -> None:
    """Rates on no shift that give no label 1 with more than half the error leave their best one inside."""
    places, rows = np.array([one for one, _ in scores]), np.array([many for _, many in scores])
    assert np.prod((1.0 - np.array(rates)) ** rows) > (1.0 - confidence) / 2.0
    mean = float(rows @ rates) / rows.sum()
    found = cox_measure(M.CITL_LOGIT, ScoreTable(places, rows, np.zeros_like(rows)), confidence=confidence)
    assert float(rows @ expit(logit(places) + found.interval.upper)) / rows.sum() > mean
    assert found.interval.finite_sample


@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_parted_labels_leave_the_slope_one_end(turn: bool, tied: bool) -> None:  # noqa: FBT001 - parameters of the test
    """A threshold parts the labels: the slope is infinite, its end at the deviance of t with one degree."""
    rows = [(0.1, 0), (0.2, 0), (0.3, 0), (0.35, 0), (0.6, 1), (0.7, 1), (0.8, 1)]
    rows += [(0.5, 0), (0.5, 1), (0.5, 1)] if tied else []
    table = table_of([(1 - s, y) for s, y in rows] if turn else rows)
    _, intercept, slope = cox(table)
    side = -1.0 if turn else 1.0
    assert slope.value == side * math.inf
    assert math.isnan(intercept.value)
    assert any("parts the labels" in text for text in slope.assumptions)
    end = slope.interval.lower if side > 0 else slope.interval.upper
    z = logit(np.array([s for s, _ in rows]))
    y = np.array([label for _, label in rows])
    bound = 2 * math.log(2 / 3) + math.log(1 / 3) if tied else 0.0
    found = best_level(y, side * end * z)
    assert 2 * (bound - found) == pytest.approx(student.ppf(0.975, 1) ** 2, abs=1e-3)


def test_one_score_has_a_shift_and_no_slope() -> None:
    """A single score: citl_logit is the distance of two logits, the line is undefined."""
    citl, intercept, slope = cox(table_of([(0.3, 0), (0.3, 1)] * 20))
    assert citl.value == pytest.approx(-float(logit(0.3)), abs=1e-9)
    assert math.isnan(intercept.value)
    assert math.isnan(slope.value)
    assert slope.interval is None


def test_cells_of_a_grid_part_no_labels() -> None:
    """Rows that share a cell are as good as of one score, though the mean scores of its labels differ."""
    score, label = scored(400)
    cell = grid_of(ScoreTable.from_rows(0.5 + 1e-7 + 1e-7 * score, label))
    assert cell.distinct == 1
    shift, intercept, slope = cox(cell)
    assert math.isfinite(shift.value)
    assert math.isnan(intercept.value)
    assert math.isnan(slope.value)
    assert any("one score only" in text for text in slope.assumptions)
    assert u_test(cell).statistic is None
    assert calibration_index(cell, name=M.ICI).interval is None
    # Two cells; and most rows in one, with a hundred of one row each around it.
    crowd = np.append(0.5 + 1e-7 + 1e-6 * np.tile(score, 50), 0.5 + 7e-5 * np.linspace(-1.0, 1.0, 100))
    for scores in (0.5 + 2.7e-6 * score, crowd):
        some = grid_of(ScoreTable.from_rows(scores, np.resize(label, scores.size)))
        assert some.distinct > 1
        assert cox(some)[2].value == cox(with_scores(some, some.score))[2].value


def test_cells_that_hold_much_of_a_slope_do_not_make_it_steeper() -> None:
    """Most rows share three of many cells, where scores differ by a half: the mean scores of a cell's labels
    made the slope of these labels, which follow the scores, 1.017.
    """
    score = np.append(np.geomspace(2e-4, 8e-4, 100), np.linspace(0.001, 0.02, 50))
    rows = np.repeat([120_000, 1_000], [100, 50])
    slices = RunningSlices()
    slices.registry.places([("a",)])
    slices.add_table(0, ScoreTable(score, rows, np.rint(rows * score).astype(np.int64)))
    slices.become_grid()
    cells = slices.tables()[("a",)]
    assert 32 < cells.distinct < 100
    assert cox(cells)[2].value == pytest.approx(1.0, abs=0.01)


def test_certain_scores_are_limited_and_counted() -> None:
    """Scores of 0 and 1 enter with logits of +-36.7, and the report says how many."""
    rows = [(0.0, 0), (0.0, 0), (1.0, 1), (1.0, 0), (0.3, 1), (0.6, 0), (0.7, 1), (0.2, 0)]
    for estimate in cox(table_of(rows)):
        assert estimate.details["limited_rows"] == 4
        assert any("4 rows lie" in text and "limited" in text for text in estimate.assumptions)
        assert math.isfinite(estimate.value)


def test_importance_weights_have_coefficients_and_no_intervals() -> None:
    """Weighted tables: the coefficients of the weighted likelihood, no interval, with the reason."""
    rows = [(0.2, 0), (0.4, 1), (0.45, 0), (0.7, 0), (0.9, 1)]
    doubled = cox(table_of([*rows, rows[1], rows[1]]))
    for estimate, expected in zip(cox(table_of(rows, [0.5, 1.5, 0.5, 0.5, 0.5])), doubled, strict=True):
        assert estimate.value == pytest.approx(expected.value, abs=1e-8)
        assert estimate.interval is None
        assert any("importance weights" in text for text in estimate.assumptions)
    parted = table_of([(0.2, 0), (0.4, 1)], [1.0, 2.0])
    assert cox_measure(M.COX_SLOPE, parted).value == math.inf
    assert cox_measure(M.COX_SLOPE, parted).interval is None


def test_newton_and_enclosing_find_the_same_ends() -> None:
    """Where Newton's method gives up, bracketing finds the same ends."""
    table = drawn(300, seed=2)
    expected = cox(table)
    with patch.object(Profile, "_by_newton", return_value=None):
        for estimate, same in zip(cox(table), expected, strict=True):
            assert estimate.interval.lower == pytest.approx(same.interval.lower, abs=1e-7)
            assert estimate.interval.upper == pytest.approx(same.interval.upper, abs=1e-7)


def test_a_fit_without_an_end_is_a_reason() -> None:
    """Where Newton steps reach no optimum, the coefficient is NaN and the sentence says so."""
    with patch.object(cox_module, "solved", side_effect=NotConverged("the log loss has no minimum")):
        estimate = cox_measure(M.COX_SLOPE, drawn(50))
    assert math.isnan(estimate.value)
    assert any(text.startswith("no interval: undefined, the log loss") for text in estimate.assumptions)


def test_almost_parted_labels_have_ends_far_out() -> None:
    """One row out of order among many: Newton's start is poor, and the far end still holds the deviance; the
    other lies below the slope that one more such row would give.
    """
    rows = [(0.01 * k, int(k > 50)) for k in range(1, 100)]
    rows[49], rows[50] = (0.5, 1), (0.51, 0)
    table = table_of(rows)
    slope = cox_measure(M.COX_SLOPE, table)
    z, y = logit(np.array([s for s, _ in rows])), np.array([label for _, label in rows])

    def best(b: float) -> float:
        return best_level(y, b * z)

    top = best(slope.value)
    level = adjusted_level(y, z, (cox_measure(M.COX_INTERCEPT, table).value, slope.value), 1)
    assert 2 * (top - best(slope.interval.upper)) == pytest.approx(level, rel=1e-4)
    worse = [cox_measure(M.COX_SLOPE, table_of([*rows, one])).value for one in ((0.01, 1), (0.99, 0))]
    # Of one row .975 may be missed, of the 49 up to the first that is out of order 3.6.
    assert 1.0 < slope.interval.lower < min(worse)
    assert "adjusted, with room for the label not seen among extreme scores" in slope.interval.method


def test_shift_allows_for_a_slope_that_is_not_one() -> None:
    """Where the slope is .3, labels scatter more than shifted scores say: citl_logit's interval widens."""
    rng = np.random.default_rng(5)
    score = rng.random(4000)
    flat = ScoreTable.from_rows(score, rng.random(4000) < expit(0.3 * logit(score)))
    honest = ScoreTable.from_rows(score, rng.random(4000) < score)
    widths = []
    for table in (flat, honest):
        interval = cox_measure(M.CITL_LOGIT, table).interval
        widths.append(interval.upper - interval.lower)
    assert widths[0] > 1.15 * widths[1]


def test_three_rows_settle_no_interval() -> None:
    """Three rows that no threshold parts: each is nearly all that its own fit rests on, which is said."""
    estimate = cox_measure(M.COX_INTERCEPT, table_of([(0.306, 1), (0.355, 0), (0.859, 1)]))
    assert math.isfinite(estimate.value)
    assert estimate.interval is None
    assert "no interval: nearly all of its noise comes from one row" in estimate.assumptions


def test_scatter_off_the_line_widens_both_coefficients() -> None:
    """Where rates stop at .1 and .9, a likelihood that trusts its line is too sure of both."""
    rng = np.random.default_rng(7)
    score = np.clip(rng.beta(0.2, 0.2, 4000), 1e-12, 1 - 1e-12)
    table = ScoreTable.from_rows(score, rng.random(4000) < np.clip(score, 0.1, 0.9))
    slope = cox_measure(M.COX_SLOPE, table)
    best = solved_by_hand(table)
    width = slope.interval.upper - slope.interval.lower
    assert width > 1.4 * 2 * 1.96 * best
    assert slope.details["carried_by"] < 200.0


def solved_by_hand(table: ScoreTable) -> float:
    """Return the standard error of the slope that the likelihood alone gives."""
    z = logit(table.score)
    a, b = (cox_measure(name, table).value for name in (M.COX_INTERCEPT, M.COX_SLOPE))
    p = expit(a + b * z)
    design = np.stack((np.ones_like(z), z))
    return float(np.sqrt(np.linalg.inv(design * (p * (1 - p) * table.rows) @ design.T)[1, 1]))


def test_few_rows_that_carry_the_noise_are_said() -> None:
    """Where a handful of labels contradict confident scores, the interval is called rough."""
    rows = [(0.001, 0)] * 60 + [(0.999, 1)] * 60 + [(0.001, 1), (0.999, 0)] + [(0.5, 0), (0.5, 1)] * 5
    estimate = cox_measure(M.COX_SLOPE, table_of(rows))
    assert estimate.details["carried_by"] < 4.0
    assert any(text.startswith("rough: its noise is that of about") for text in estimate.assumptions)
    assert not any(text.startswith("rough") for text in cox_measure(M.COX_SLOPE, drawn(4000)).assumptions)


@pytest.mark.parametrize("events", [1, 3])
def test_shift_of_few_rows_has_the_bounds_of_their_mean_rate(events: int) -> None:
    """Where few rows carry the noise, scores shifted by an end have the mean rate at that end of bias."""
    score = np.linspace(0.02, 0.3, 27)
    table = ScoreTable.from_rows(score, np.isin(np.arange(27), [20, 12, 5][:events]))
    found, bias = cox_measure(M.CITL_LOGIT, table), interval_of_bias(table, confidence=0.95)
    assert found.interval.finite_sample
    assert not any(text.startswith("rough") for text in found.assumptions)
    for end, off in ((found.interval.lower, bias.lower), (found.interval.upper, bias.upper)):
        assert expit(logit(score) + end).mean() - score.mean() == pytest.approx(off, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [20, 60, 250])
@pytest.mark.parametrize("shape", ["rare", "too sure", "certain and wrong", "two scores"])
def test_shift_of_few_events_covers_that_of_these_scores(shape: str, rows: int) -> None:
    """Whether few rows carry the noise or more, and with one label only, at most 5 % miss."""
    rng, missed = np.random.default_rng(rows), 0
    for _ in range(1_000):
        if shape == "rare":
            score = rate = rng.beta(1.0, 40.0, rows)
        elif shape == "too sure":
            z = rng.normal(size=rows) - 2.0
            score, rate = expit(3.0 * z), expit(z)
        elif shape == "certain and wrong":
            score = np.where(rng.random(rows) < 0.5, 5e-4, 1.0 - 5e-4)
            rate = np.where(score < 0.5, 0.01, 0.99)
        else:
            score = np.where(rng.random(rows) < 0.95, 0.02, 0.6)
            rate = np.where(score < 0.5, 0.02, 0.05)
        truth = brentq(lambda a, z, mean: expit(z + a).mean() - mean, -50, 50, (logit(score), rate.mean()))
        interval = cox_measure(M.CITL_LOGIT, ScoreTable.from_rows(score, rng.random(rows) < rate)).interval
        missed += not interval.lower <= truth <= interval.upper
    assert missed <= most_misses(1_000, 0.05)


@pytest.mark.parametrize("score", [0.3, 0.5])
def test_one_open_score_leaves_a_line_no_range_by_chance(score: float) -> None:
    """Scores that are certain but for one have a slope, which labels drawn from them would not settle."""
    rows = np.array([40, 100, 40])
    table = ScoreTable(np.array([0.0, score, 1.0]), rows, np.array([1, 45, 39]))
    for name in (MeasureName.COX_SLOPE, MeasureName.COX_INTERCEPT):
        found = cox_measure(name, table)
        assert math.isfinite(found.value)
        assert found.null is not None
        assert found.null_range is None
    assert cox_measure(MeasureName.CITL_LOGIT, table).null_range is not None
