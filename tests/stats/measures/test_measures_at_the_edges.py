"""One row, one class, certain scores: measures say what they can and give a reason for the rest."""

import math
from collections.abc import Iterable

import numpy as np
import pytest

from calibcli.names import DEFAULT_MEASURES, DEFAULT_TESTS, Binning, MeasureName, Target, TestName
from calibcli.stats.measures import Estimate, deviation, measure_named
from calibcli.stats.measures.bias import bias
from calibcli.stats.measures.binned import binned_ece
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Settings
from calibcli.stats.measures.l2 import debiased_l2, plug_in_l2
from calibcli.stats.measures.scores import brier, certain_and_wrong, log_loss
from calibcli.stats.measures.smooth_ece import smooth_ece, smooth_error_at
from calibcli.stats.measures.tests import calibration_tests, ks_and_kuiper, spiegelhalter
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import ATOMS, Bins, bins_of
from calibcli.stats.table.grid import Table, grid_of
from score_rows import TEN, table_of


def drawn(table: Table, bins: Bins = TEN, draws: int = 99) -> CalibratedDraws:
    """Calibrated labels with a fixed seed."""
    one, two = (np.random.default_rng(seed) for seed in (0, 1))
    return CalibratedDraws(table, partitions=[bins], generator=one, smece_generator=two, draws=draws)


def every_measure(
    table: Table, names: Iterable[MeasureName] = DEFAULT_MEASURES
) -> dict[MeasureName, Estimate]:
    """All measures of a table."""
    equal_mass = bins_of(Binning.EQUAL_MASS, 15, table=table)
    one, two = (np.random.default_rng(seed) for seed in (0, 1))
    calibrated = None
    if not table.weighted:
        calibrated = CalibratedDraws(
            table, partitions=[TEN, equal_mass], generator=one, smece_generator=two, draws=29
        )
    settings = Settings(TEN, equal_mass, 0.95, calibrated)
    return {name: measure_named(name, table, settings=settings) for name in names}


CERTAIN_AND_RIGHT = table_of([(0.0, False), (0.0, False), (1.0, True)])
HALVES = table_of([(0.5, bool(k % 2)) for k in range(30)])
WEIGHTED = table_of([(0.2, False), (0.4, True), (0.9, True)], [1.0, 2.5, 0.5])


def test_certain_and_right_has_no_error() -> None:
    """Scores of 0 and 1 that are right: every error is 0 and the log loss is 0, not NaN."""
    for name, estimate in every_measure(CERTAIN_AND_RIGHT).items():
        assert estimate.value == pytest.approx(0.0, abs=2e-4), name
        assert estimate.null == pytest.approx(0.0, abs=1e-12), name
    assert log_loss(CERTAIN_AND_RIGHT).value == 0.0
    assert certain_and_wrong(CERTAIN_AND_RIGHT) == 0


def test_a_mean_of_the_largest_losses_lies_in_its_interval() -> None:
    """Where every row loses the most there is, rounding of the mean does not leave it outside."""
    for rows in range(1_600, 1_700):
        for score, ones in ((0.49999, rows), (1.0 - 1e-12, 0)):
            found = log_loss(ScoreTable(np.array([score]), np.array([rows]), np.array([ones])))
            assert found.interval is not None
            assert found.interval.ends[0] <= found.value <= found.interval.ends[1]


def test_halves_leave_only_spiegelhalter_undefined() -> None:
    """Scores of exactly 1/2 carry no tilt, so Z is undefined while the path is not."""
    assert spiegelhalter(HALVES).statistic is None
    assert all(result.statistic is not None for result in ks_and_kuiper(HALVES))
    results, combined = calibration_tests(DEFAULT_TESTS, HALVES, bins=ATOMS, calibrated=drawn(HALVES, ATOMS))
    assert combined.tests == (TestName.KUIPER, TestName.T)
    assert {r.name: r.p_value is None for r in results}[TestName.SPIEGELHALTER]


@pytest.mark.parametrize("wrong", [(0.0, 1), (1.0, 0)])
@pytest.mark.parametrize("kind", ["exact", "grid"])
def test_certain_and_wrong_is_infinite_loss_and_contradiction(wrong: tuple[float, int], kind: str) -> None:
    """One row at exactly 0 or 1 that was wrong: log loss inf without interval, every p 0, the rest finite."""
    exact = table_of([wrong, *((k / 40, k % 3 // 2) for k in range(1, 40))])
    table = exact if kind == "exact" else grid_of(exact)
    loss = log_loss(table)
    assert loss.value == math.inf
    assert loss.interval is None
    assert loss.details["certain_and_wrong"] == 1
    assert any("probability 0" in text for text in loss.assumptions)
    assert math.isfinite(loss.null or 0.0)
    results, combined = calibration_tests(DEFAULT_TESTS, table, bins=TEN, calibrated=drawn(table))
    assert [r.p_value for r in results] == [0.0] * 4
    assert {r.p_method for r in results} == {"contradiction"}
    assert combined.p_value == 0.0
    assert math.isfinite(brier(table).value)
    assert binned_ece(table, bins=TEN).interval is not None


def test_almost_certain_is_not_certain() -> None:
    """A score of 1e-300 with label 1 has a finite loss and contradicts nothing, on the grid too."""
    table = table_of([(1e-300, True), (0.5, False), (1 - 2.0**-53, False)])
    assert certain_and_wrong(table) == certain_and_wrong(grid_of(table)) == 0
    expected = (690.77552789821 + math.log(2) + 53 * math.log(2)) / 3
    assert log_loss(table).value == pytest.approx(expected, rel=1e-12)


def test_grid_log_loss_is_settled_near_zero_and_one() -> None:
    """On the grid the log loss of saturated scores agrees to 1e-3 relative: cells are relative there."""
    rng = np.random.default_rng(0)
    score = np.concatenate((10.0 ** rng.uniform(-12, -6, 500), 1 - 10.0 ** rng.uniform(-12, -6, 500)))
    table = ScoreTable.from_rows(score, rng.random(1000) < 0.5)
    assert log_loss(grid_of(table)).value == pytest.approx(log_loss(table).value, rel=1e-3)


def test_importance_weights_have_no_tests_and_say_why() -> None:
    """With importance weights no test is defined."""
    names = (*DEFAULT_TESTS, TestName.HOSMER_LEMESHOW, TestName.U)
    results, combined = calibration_tests(names, WEIGHTED, bins=TEN, calibrated=None)
    assert all(r.statistic is None and r.p_value is None for r in results)
    assert all("importance weights" in r.assumptions[0] for r in results)
    assert combined.p_value is None


def test_importance_weights_bound_the_errors_of_these_scores() -> None:
    """L2 has the bounds of its plug-in, which speak of the same error; smece Hoeffding's at its fixpoint."""
    generator = np.random.default_rng(1)
    score, weight = generator.random(300), generator.lognormal(0.0, 1.0, 300)
    table = ScoreTable.from_rows(score, generator.random(300) < 0.8 * score, Weighing(weight=weight))
    found, plain = debiased_l2(table, bins=TEN).interval, plug_in_l2(table, bins=TEN).interval
    assert found is not None
    assert plain is not None
    assert (found.ends, found.target, found.finite_sample) == (plain.ends, Target.FIXED_DESIGN, True)
    estimate, margin = smooth_ece(table), deviation(table, delta=0.025)
    assert estimate.interval is not None
    upper = estimate.interval.ends[1]
    norm = smooth_error_at(table, upper)
    assert norm.value + margin == pytest.approx(upper, abs=1e-6)
    assert norm.interval is not None
    assert norm.interval.ends[1] == pytest.approx(upper, abs=1e-6)


@pytest.mark.parametrize("unit", [2.0**-460, 2.0**460])
def test_weights_may_be_as_large_as_they_are_read(unit: float) -> None:
    """The range by chance takes their cubes, and is the same bit for bit in a unit that is a power of 2."""
    rows = [(k / 40, k % 3 == 0) for k in range(1, 40)]
    weight = np.linspace(0.5, 2.0, len(rows))
    for measured in (bias, brier, log_loss):
        one, other = (measured(table_of(rows, (scale * weight).tolist())) for scale in (1.0, unit))
        assert one.null_lower is not None
        assert (other.null_lower, other.null_upper) == (one.null_lower, one.null_upper)


def test_importance_weights_use_the_effective_rows() -> None:
    """ECE and bias keep Hoeffding's interval at (sum w)^2 / sum w^2 rows."""
    total, squares = 4.0, 1.0 + 6.25 + 0.25
    margin = math.sqrt(math.log(1 / 0.025) / (2 * total**2 / squares))
    ece, mean = binned_ece(WEIGHTED, bins=TEN), bias(WEIGHTED)
    assert ece.interval is not None
    assert mean.interval is not None
    assert ece.interval.upper == pytest.approx(min(1.0, ece.value + margin))
    assert mean.interval.upper == pytest.approx(min(1.0 - mean.details["mean_score"], mean.value + margin))
    assert "Hoeffding" in ece.interval.method
    weights = np.array([1.0, 2.5, 0.5])
    residual = np.array([-0.2, 0.6, 0.1])
    assert mean.value == pytest.approx(float((weights * residual).sum() / total))
    assert brier(WEIGHTED).value == pytest.approx(float((weights * residual**2).sum() / total))


def test_rare_events_use_betting_and_others_d_star() -> None:
    """Which upper bound of the ECE is taken is settled by the scores alone."""
    rng = np.random.default_rng(0)
    rare, common = rng.random(2000) * 0.02, rng.random(2000)
    for score, word in ((rare, "betting"), (common, "d*")):
        methods = {
            binned_ece(ScoreTable.from_rows(score, rng.random(2000) < p), bins=TEN).interval.method
            for p in (score, 0.9, 0.1)
        }
        assert len(methods) == 1
        assert word in methods.pop()


def test_null_references_are_what_calibrated_labels_give() -> None:
    """The null of ECE, l2 and smECE is the mean over calibrated labels, of Brier the mean of f (1 - f)."""
    rng = np.random.default_rng(2)
    score = rng.random(400)
    table = ScoreTable.from_rows(score, rng.random(400) < score)
    calibrated = drawn(table, TEN, draws=200)
    fresh = [ScoreTable.from_rows(score, rng.random(400) < score) for _ in range(40)]
    for measure in (
        lambda t, c: binned_ece(t, bins=TEN, calibrated=c),
        lambda t, c: debiased_l2(t, bins=TEN, calibrated=c),
        lambda t, c: smooth_ece(t, calibrated=c),
    ):
        values = [measure(t, None).value for t in fresh]
        error = np.std(values) / 40**0.5
        assert abs(measure(table, calibrated).null - np.mean(values)) <= 5 * error + 1e-3
    assert brier(table).null == pytest.approx(float((score * (1 - score)).mean()))
    entropy = -score * np.log(score) - (1 - score) * np.log1p(-score)
    assert log_loss(table).null == pytest.approx(float(entropy.mean()))


@pytest.mark.parametrize(
    ("rows", "decimals", "drawn_p"), [(600, None, True), (6000, None, False), (600, 1, True)]
)
def test_monte_carlo_replaces_limit_laws_where_they_are_poor(
    rows: int,
    decimals: int | None,
    drawn_p: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Where the scores leave little open p-values are drawn; T's always is."""
    rng = np.random.default_rng(rows)
    score = rng.random(rows) if decimals is None else rng.random(rows).round(decimals).clip(0.1, 0.9)
    table = ScoreTable.from_rows(score, rng.random(rows) < score)
    results, combined = calibration_tests(DEFAULT_TESTS, table, bins=TEN, calibrated=drawn(table))
    methods = {r.name: r.p_method for r in results}
    expected = "monte-carlo" if drawn_p else "asymptotic"
    assert [methods[n] for n in (TestName.KS, TestName.KUIPER, TestName.SPIEGELHALTER)] == [expected] * 3
    assert methods[TestName.T] == "monte-carlo"
    ps = {r.name: r.p_value for r in results}
    least = min(ps[n] for n in (TestName.KUIPER, TestName.SPIEGELHALTER, TestName.T))
    assert combined.p_value == pytest.approx(min(1.0, 3 * least))
    for result in results:
        assert 0.0 < result.p_value <= 1.0
        if result.name is not TestName.T:
            # Draws and limit law speak of the same hypothesis.
            assert abs(result.p_value - result.p_asymptotic) < 0.35


def test_weighted_t_is_the_mean_over_weighted_pairs() -> None:
    """With weights T sums w_i w_j r_i r_j over different rows of a bin, per W - sum w^2 / W."""
    score, label = np.array([0.21, 0.25, 0.28, 0.9]), np.array([0, 1, 1, 1])
    weight = np.array([1.0, 2.0, 0.5, 3.0])
    table = table_of(list(zip(score, label, strict=True)), weight)
    r, w = (label - score)[:3], weight[:3]
    pairs = sum(w[i] * w[j] * r[i] * r[j] for i in range(3) for j in range(3) if i != j)
    expected = pairs / (w.sum() - (w**2).sum() / w.sum()) / weight.sum()
    assert debiased_l2(table, bins=TEN).details["t"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("more", "said"), [((), "1 row alone in its bin"), ((0.35,), "2 rows alone in their bin")]
)
def test_rows_alone_in_their_bin_are_counted_in_words(more: tuple[float, ...], said: str) -> None:
    """Whatever leaves such rows out says of one that it is one."""
    rows = [(0.11, False), (0.12, False), (0.13, True), *((score, True) for score in (0.75, *more))]
    names = (MeasureName.L1_DEBIASED, MeasureName.L2, MeasureName.BRIER_RELIABILITY_CORRECTED)
    for name, estimate in every_measure(table_of(rows), names).items():
        assert [one for one in estimate.assumptions if one.startswith(said)], name
    # Of the rate of all rows bins say nothing.
    for name in (
        MeasureName.BRIER_UNCERTAINTY,
        MeasureName.BRIER_UNCERTAINTY_CORRECTED,
        MeasureName.BRIER_UNC,
    ):
        assert every_measure(table_of(rows), (name,))[name].assumptions == ("rows are independent",)


def test_t_needs_two_rows_in_a_bin() -> None:
    """Where every row is alone in its bin T is undefined and goes into no combination."""
    table = table_of([(0.15, False), (0.35, True), (0.75, True)])
    results, combined = calibration_tests(DEFAULT_TESTS, table, bins=TEN, calibrated=drawn(table))
    t = {r.name: r for r in results}[TestName.T]
    assert (t.statistic, t.p_value, t.p_method) == (None, None, "undefined")
    assert combined.tests == (TestName.KUIPER, TestName.SPIEGELHALTER)
