"""What holds of every reliability curve, whatever rows it is drawn from."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.codec import Node
from calibcli.commands.measure import measure_table
from calibcli.errors import DocumentProblem, EmptyTable
from calibcli.names import AxisScale, Band, Binning, MeasureName, PlotKind, Smoother
from calibcli.options.measuring import MeasureOptions, Metrics
from calibcli.reports.input import InputSummary
from calibcli.stats.bounds.proportion import clopper_pearson
from calibcli.stats.curves import axis_for
from calibcli.stats.curves.clinical import clinical_curve
from calibcli.stats.curves.isotonic import isotonic_curve
from calibcli.stats.curves.kernel_band import kernel_mean_bounds
from calibcli.stats.curves.limits import Extent, Limits, limits_of
from calibcli.stats.curves.reliability import (
    BinnedCurve,
    ReliabilityCurve,
    SmoothCurve,
    bandwidth_of_log_odds,
    binned_curve,
    no_skill,
    smooth_curve,
)
from calibcli.stats.measures.scores import brier
from calibcli.stats.measures.smooth_ece import smooth_ece
from calibcli.stats.table import Floats, ScoreTable, Weighing
from calibcli.stats.table.bins import ATOMS, bins_of
from calibcli.stats.table.grid import Table, grid_of
from score_rows import scored_table, table_of

AWKWARD = [0.0, 5e-324, 1e-12, 0.1, 0.3, 0.5, 0.7, 1.0 - 2.0**-53, 1.0]
some_rows = st.lists(
    st.tuples(st.one_of(st.sampled_from(AWKWARD), st.floats(0.0, 1.0)), st.booleans()),
    min_size=1,
    max_size=40,
)


def simulated(rows: int, *, seed: int = 0, power: float = 1.4) -> ScoreTable:
    """Scores spread over [0, 1], too high by a power."""
    return scored_table(rows, lambda score: score**power, seed=seed, beta=(0.7, 0.9))


def smooth(table: Table, *, bandwidth: float | None = None, confidence: float = 0.95) -> SmoothCurve:
    """Draw at the bandwidth of smECE, with a fixed seed."""
    sigma = smooth_ece(table).value if bandwidth is None else bandwidth
    return smooth_curve(table, bandwidth=sigma, confidence=confidence)


def curve_of(table: Table) -> ReliabilityCurve:
    """Both curves."""
    bins = bins_of(Binning.EQUAL_WIDTH, 15, table=table)
    return ReliabilityCurve(PlotKind.SMOOTH, binned_curve(table, bins=bins), smooth(table), 0.95)


@given(rows=some_rows)
def test_bins_add_up_to_the_table(rows: list[tuple[float, bool]]) -> None:
    """Rows, labels and scores of the bins sum to those of the table, and every number lies where it must."""
    table = table_of(rows)
    for binning in (Binning.EQUAL_WIDTH, Binning.EQUAL_MASS, Binning.ATOMS):
        curve = binned_curve(table, bins=bins_of(binning, 5, table=table))
        assert curve.total_rows == table.total_rows
        assert float(curve.rows @ curve.rate) == pytest.approx(table.total_positive_rows)
        assert float(curve.rows @ curve.score) == pytest.approx(float(table.rows @ table.score), abs=1e-12)
        assert np.all((curve.lower <= curve.score) & (curve.score <= curve.upper))
        assert np.all((curve.rate_lower <= curve.rate) & (curve.rate <= curve.rate_upper))
        assert np.all(curve.rows >= 1)


@given(rows=some_rows, bandwidth=st.one_of(st.just(0.0), st.floats(1e-4, 1.0)))
def test_smooth_points_are_means(rows: list[tuple[float, bool]], bandwidth: float) -> None:
    """Mean scores lie between the smallest and largest and do not fall; rates lie in [0, 1] in their band."""
    table = table_of(rows)
    curve = smooth(table, bandwidth=bandwidth)
    seen = ~np.isnan(curve.x)
    assert seen[0]
    assert seen[-1]
    assert np.array_equal(seen, ~np.isnan(curve.y))
    assert curve.x[seen].min() >= table.score[0] - 1e-6
    assert curve.x[seen].max() <= table.score[-1] + 1e-6
    assert np.all(np.diff(curve.x[seen]) >= -1e-6)
    assert np.all((curve.y[seen] >= 0.0) & (curve.y[seen] <= 1.0))
    assert np.all((curve.lower[seen] <= curve.y[seen]) & (curve.y[seen] <= curve.upper[seen]))
    assert np.all((curve.lower[seen] >= 0.0) & (curve.upper[seen] <= 1.0))
    assert curve.at.size <= 513


@pytest.mark.parametrize("rows", [50, 1_000, 30_000])
def test_area_weighted_by_density_is_the_smoothed_error(rows: int) -> None:
    """The integral of density times distance from the diagonal is smECE, whose bandwidth is smECE, too."""
    curve = smooth(simulated(rows))
    area = np.trapezoid(curve.density * np.abs(curve.y - curve.x), curve.at)
    assert area == pytest.approx(curve.bandwidth, rel=2e-3)


def test_density_integrates_to_one() -> None:
    """All mass is in the picture where the scores fill the interval."""
    curve = smooth(simulated(2_000))
    assert np.trapezoid(curve.density, curve.at) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(("off", "values", "bandwidths"), [(0, 11, (0.005, 0.05, 0.5)), (1, 10, (0.1,))])
def test_a_constant_error_is_a_line_beside_the_diagonal(
    off: int, values: int, bandwidths: tuple[float, ...]
) -> None:
    """Labels as often as scored, or more by 0.1: no bandwidth bends the curve, not even at the ends."""
    at = np.arange(values)
    table = ScoreTable(at / 10, np.full(values, 1_000), (at + off) * 100)
    for bandwidth in bandwidths:
        curve = smooth(table, bandwidth=bandwidth)
        seen = ~np.isnan(curve.x)
        assert np.abs(curve.y - curve.x - off / 10)[seen].max() < 1e-6


@given(seed=st.integers(0, 2**32 - 1), values=st.integers(1, 12), rows=st.integers(2, 300))
def test_skill_lies_on_the_diagonal_side_of_the_line_of_no_skill(seed: int, values: int, rows: int) -> None:
    """Brier skill is the sum over scores of what they gain, above 0 just where the rate is on that side."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, values + 1, rows) / values
    table = ScoreTable.from_rows(score, rng.random(rows) < 0.2 + 0.5 * score)
    curve = ReliabilityCurve(PlotKind.BINNED, binned_curve(table, bins=ATOMS), None, 0.95)
    bins, base = curve.binned, curve.base
    assert base == pytest.approx(table.total_positive_rows / rows)
    gain = (bins.rate - base) ** 2 - (bins.rate - bins.score) ** 2
    assert base * (1.0 - base) - brier(table).value == pytest.approx(bins.rows @ gain / rows, abs=1e-12)
    line = no_skill(bins.score, base)
    # On the line of no skill, or at the base rate itself, nothing is gained or lost.
    clear = np.abs(gain) > 1e-12
    side = np.sign(bins.rate - line) == np.sign(bins.score - line)
    np.testing.assert_array_equal(side[clear], gain[clear] > 0.0)


def test_places_far_from_every_score_are_gaps() -> None:
    """Between two clusters farther apart than the kernel reaches there is no curve."""
    table = ScoreTable(np.array([0.2, 0.8]), np.array([100, 100]), np.array([30, 60]))
    curve = smooth(table, bandwidth=0.02)
    gap = np.isnan(curve.x)
    assert np.array_equal(gap, (curve.at > 0.26) & (curve.at < 0.74))
    assert np.all(np.isnan(curve.lower) == gap)
    assert curve.y[~gap][0] == pytest.approx(0.3, abs=1e-6)
    assert curve.y[~gap][-1] == pytest.approx(0.6, abs=1e-6)


def test_scores_in_a_hundredth_of_the_interval_are_resolved() -> None:
    """Rare-event scores get as many points as any."""
    rng = np.random.default_rng(3)
    score = rng.uniform(0.0, 0.01, 20_000)
    curve = smooth(ScoreTable.from_rows(score, rng.random(20_000) < score), bandwidth=0.0005)
    assert curve.at[-1] < 0.013
    assert curve.at.size > 100
    assert np.interp(0.005, curve.x, curve.y) == pytest.approx(0.005, abs=0.002)


def test_a_grid_table_gives_the_same_curve() -> None:
    """A grid moves scores by a millionth, so the curve moves by about as much."""
    table = simulated(30_000)
    exact, rounded = smooth(table, bandwidth=0.05), smooth(grid_of(table), bandwidth=0.05)
    assert np.abs(exact.y - rounded.y).max() < 1e-6
    assert np.abs(exact.x - rounded.x).max() < 1e-6


def test_importance_weights_move_the_curve_and_leave_no_band() -> None:
    """Means are weighted; bounds are absent, with the reason."""
    table = ScoreTable.from_rows(
        np.array([0.2, 0.2, 0.8]), np.array([True, False, True]), Weighing(weight=np.array([3.0, 1.0, 2.0]))
    )
    binned = binned_curve(table, bins=ATOMS)
    assert binned.rate.tolist() == [0.75, 1.0]
    assert np.isnan(binned.rate_lower).all()
    curve = smooth(table, bandwidth=0.02)
    assert curve.y[0] == pytest.approx(0.75)
    assert np.isnan(curve.lower).all()
    assert "weights" in curve.band
    assert "weights" in binned.band


def test_more_confidence_is_a_wider_band() -> None:
    """It takes no draws, so that there is one at any; and the words name the confidence."""
    table = simulated(500)
    curves = [smooth(table, confidence=one) for one in (0.5, 0.95, 0.99, 0.999, 0.9999)]
    least, *widths = (float(np.nanmean(curve.upper - curve.lower)) for curve in curves)
    assert least < 0.5 * widths[1]
    assert 1.2 * widths[0] < widths[1] < 0.9 * widths[2] < 0.85 * widths[3]
    assert curves[2].band == "pointwise 99 %, Clopper-Pearson's for effective rows"
    assert binned_curve(table, bins=ATOMS).band == "pointwise 95 % Clopper-Pearson"


def test_a_table_without_rows_has_no_curve() -> None:
    """Both curves refuse it."""
    with pytest.raises(EmptyTable):
        binned_curve(ScoreTable.empty(), bins=ATOMS)
    with pytest.raises(EmptyTable):
        smooth(ScoreTable.empty(), bandwidth=0.1)
    weightless = ScoreTable.from_rows(np.array([0.5]), np.array([True]), Weighing(weight=np.array([0.0])))
    with pytest.raises(EmptyTable):
        smooth(weightless, bandwidth=0.1)


@given(rows=some_rows)
def test_a_curve_survives_json(rows: list[tuple[float, bool]]) -> None:
    """Gaps are null in JSON, and what is read is what was written."""
    written = curve_of(table_of(rows)).to_dict()
    text = json.dumps(written, allow_nan=False)
    assert ReliabilityCurve.from_dict(Node(json.loads(text))).to_dict() == written


def test_a_curve_without_its_smooth_part_survives_json() -> None:
    """Reports of binned measures alone have none."""
    binned = binned_curve(simulated(50), bins=ATOMS)
    written = ReliabilityCurve(PlotKind.BINNED, binned, None, 0.9).to_dict()
    assert written["smooth"] is None
    assert ReliabilityCurve.from_dict(Node(written)).to_dict() == written


@pytest.mark.parametrize(
    ("place", "value", "path"),
    [
        (("kind",), "pie", "$.curve.kind"),
        (("confidence",), 2.0, "$.curve.confidence"),
        (("bins",), [], "$.curve.bins"),
        (("bins", 0, "rows"), 0, "$.curve.bins[0].rows"),
        (("bins", 0, "rate"), 1.5, "$.curve.bins[0].rate"),
        (("bins", 0, "score"), None, "$.curve.bins[0].score"),
        (("bins", 0, "extra"), 1, "$.curve.bins[0]"),
        (("smooth", "y", 3), "0.5", "$.curve.smooth.y[3]"),
        (("smooth", "y"), [0.5], "$.curve.smooth.y"),
        (("smooth", "at"), [], "$.curve.smooth.at"),
        (("smooth", "at", 0), 0.9, "$.curve.smooth.at[1]"),
        (("smooth", "density", 0), -1.0, "$.curve.smooth.density[0]"),
        (("smooth", "bandwidth"), None, "$.curve.smooth.bandwidth"),
    ],
)
def test_a_wrong_document_is_refused_with_its_place(
    place: tuple[str | int, ...], value: object, path: str
) -> None:
    """A report comes from outside; nothing in it is believed."""
    document: Any = curve_of(simulated(60)).to_dict()
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(DocumentProblem) as problem:
        ReliabilityCurve.from_dict(Node(document, "$.curve"))
    assert problem.value.path == path


def test_columns_are_read_only_copies() -> None:
    """A curve does not change with the arrays it was made of."""
    lower = np.array([0.0])
    curve = BinnedCurve(lower, np.ones(1), np.ones(1, np.int64), lower, lower, lower, lower, "none")
    lower[0] = 0.5
    assert curve.lower[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        curve.rate[0] = 1.0


@pytest.mark.parametrize(
    ("scores", "kind", "expected"),
    [
        ([0.0006, 0.01, 0.2], PlotKind.BINNED, AxisScale.LOGIT),
        ([0.0006, 0.01, 0.2], PlotKind.SMOOTH, AxisScale.LINEAR),
        ([0.0, 0.01, 0.2], PlotKind.BINNED, AxisScale.LINEAR),
        ([0.01, 0.02, 0.7], PlotKind.BINNED, AxisScale.LINEAR),
        ([0.05, 0.3, 0.4], PlotKind.BINNED, AxisScale.LINEAR),
    ],
)
def test_few_small_scores_are_laid_out_by_log_odds(
    scores: list[float], kind: PlotKind, expected: AxisScale
) -> None:
    """Only where each is a bin of its own, none is 0, and larger ones are few."""
    rows = np.array([500, 450, 50])
    table = ScoreTable(np.array(scores), rows, np.array([0, 5, 10]))
    curve = ReliabilityCurve(kind, binned_curve(table, bins=ATOMS), None, 0.95)
    assert axis_for(curve) is expected


@pytest.mark.parametrize("center", [-5.0, -1.0])
def test_small_scores_of_any_number_are_laid_out_by_log_odds(center: float) -> None:
    """In every picture of rates, by bins or without, but not where one of them is 0."""
    rng = np.random.default_rng(2)
    score = 1.0 / (1.0 + np.exp(-center - rng.standard_normal(400)))

    def found(score: Floats) -> set[AxisScale]:
        table = ScoreTable.from_rows(score, rng.random(400) < score)
        bins = bins_of(Binning.EQUAL_MASS, 10, table=table)
        isotonic = isotonic_curve(table, generator=rng, draws=1)
        clinical = clinical_curve(table, smoother=Smoother.SPLINE, box=(), confidence=0.95)
        binned = ReliabilityCurve(PlotKind.BINNED, binned_curve(table, bins=bins), None, 0.95)
        return {axis_for(one) for one in (isotonic, clinical, binned)}

    assert found(score) == {AxisScale.LOGIT if center < -4.0 else AxisScale.LINEAR}
    table = ScoreTable.from_rows(np.append(score, 0.0), np.append(rng.random(400) < score, False))
    assert axis_for(isotonic_curve(table, generator=rng, draws=1)) is AxisScale.LINEAR


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.0, 0.5, 1.0), (0.3,), (0.3, 0.7), (0.1, 0.9)])
def test_no_row_lies_beyond_a_curve_that_ends_at_it(values: tuple[float, ...]) -> None:
    """Whatever rounding does to the mean score at its ends, where each score is smoothed alone."""
    rng = np.random.default_rng(4)
    for rows in (163, 452, 773):
        score = rng.choice(values, rows)
        table = ScoreTable.from_rows(score, rng.random(rows) < score)
        assert smooth(table, bandwidth=0.02).beyond == 0.0


def test_no_more_than_all_rows_lie_beyond_a_curve() -> None:
    """A report whose sum of shares was rounded past 1 was not what its schema says, and was not drawn."""
    score = np.concatenate((np.linspace(0.1, 0.2, 10), np.linspace(0.8, 0.9, 10)))
    assert smooth(ScoreTable.from_rows(score, np.zeros(20, bool)), bandwidth=0.9).beyond == 1.0


def test_scores_smaller_than_the_kernel_are_smoothed_along_log_odds() -> None:
    """Probabilities of default: the curve holds them all: a Gaussian kernel on their log-odds."""
    rng = np.random.default_rng(2)
    score = 1.0 / (1.0 + np.exp(5.5 - 1.5 * rng.standard_normal(4_000)))
    label = rng.random(4_000) < score
    table = ScoreTable.from_rows(score, label)
    curve = smooth(table)
    assert curve.beyond > 0.1
    width = bandwidth_of_log_odds(table)
    bent = smooth_curve(table, bandwidth=width, log_odds=True)
    assert bent.beyond < 0.01
    assert bent.bandwidth == width
    places = (np.log(one) - np.log1p(-one) for one in (bent.at[::40, None], score))
    kernel = np.exp(-0.5 * (np.subtract(*places) / width) ** 2)
    dense = bent.density[::40] > 1e-4
    weight = kernel.sum(axis=1)
    assert np.allclose(bent.x[::40][dense], (kernel @ score / weight)[dense], rtol=1e-6)
    assert np.allclose(bent.y[::40][dense], (kernel @ label / weight)[dense], rtol=1e-6, atol=1e-9)
    inside = dense & (bent.density[::40] > 0.1)
    off = (bent.x[::40] < bent.lower[::40]) | (bent.x[::40] > bent.upper[::40])
    assert np.mean(off[inside]) < 0.3


def test_a_curve_along_log_odds_is_drawn_where_scores_are_small() -> None:
    """The axis by log-odds takes it, and one of scores does not; a document keeps both."""
    rng = np.random.default_rng(2)
    score = 1.0 / (1.0 + np.exp(5.5 - 1.5 * rng.standard_normal(4_000)))
    table = ScoreTable.from_rows(score, rng.random(4_000) < score)
    source = InputSummary(("x.csv",), "score", "label", None, score.size, 0, 0)
    options = MeasureOptions(Metrics((MeasureName.SMECE,), ()))
    curve = measure_table(table, source, options=options).curve
    assert curve.smooth_logit is not None
    assert axis_for(curve) is AxisScale.LOGIT
    assert curve.along(AxisScale.LOGIT).smooth is curve.smooth_logit
    assert curve.along(AxisScale.LINEAR).smooth is curve.smooth
    again = ReliabilityCurve.from_dict(Node(json.loads(json.dumps(curve.to_dict()))))
    assert again.smooth_logit is not None
    assert np.array_equal(again.smooth_logit.x, curve.smooth_logit.x, equal_nan=True)
    even = rng.random(4_000)
    spread = measure_table(
        ScoreTable.from_rows(even, rng.random(4_000) < even), source, options=options
    ).curve
    assert spread.smooth_logit is None
    assert "smooth_logit" not in spread.to_dict()


@pytest.mark.parametrize(
    ("outside", "words"),
    [
        (0.0, ""),
        (3e-9, ""),
        (2.87e-6, "Fewer than 0.01 % of the rows stand"),
        (0.0123, "1.2 % of the rows stand"),
    ],
)
def test_less_than_a_row_is_not_told_to_six_digits(outside: float, words: str) -> None:
    """What a kernel spreads beyond an axis is no number of rows."""
    limits = Limits((0.01, 0.5), (0.01, 0.5), outside, scale=AxisScale.LOGIT)
    said = limits.sentence.partition("error.")[2].strip()
    assert said.startswith(words)
    assert bool(said) is bool(words)


@pytest.mark.parametrize(("lower", "said"), [(0.02, False), (0.0, True)])
def test_what_goes_on_beyond_an_axis_by_log_odds_is_said(lower: float, *, said: bool) -> None:
    """An interval from 0 has no end there: it is drawn to the edge, and the picture tells."""
    score = np.array([0.03, 0.2, 0.6])
    extent = Extent(score, score, np.ones(3), np.full(3, lower), np.full(3, 0.7))
    limits = limits_of(extent, AxisScale.LOGIT)
    assert ("intervals beyond an axis end at its edge" in limits.sentence) is said


def wide(table: Table, *, bandwidth: float, confidence: float = 0.95, log_odds: bool = False) -> SmoothCurve:
    """Draw with the band of all places at once."""
    return smooth_curve(
        table,
        bandwidth=bandwidth,
        confidence=confidence,
        log_odds=log_odds,
        band=Band.SIMULTANEOUS,
    )


@settings(max_examples=settings.default.max_examples // 2)
@given(rows=some_rows, bandwidth=st.one_of(st.just(0.0), st.floats(1e-4, 1.0)))
def test_simultaneous_band_holds_the_curve_and_the_band_of_less_confidence(
    rows: list[tuple[float, bool]], bandwidth: float
) -> None:
    """Within [0, 1], wherever there is a curve."""
    table, log_odds = table_of(rows), len(rows) % 2 == 0
    curve = wide(table, bandwidth=bandwidth, log_odds=log_odds)
    wider = wide(table, bandwidth=bandwidth, log_odds=log_odds, confidence=0.999)
    seen = ~np.isnan(curve.x)
    assert np.array_equal(seen, ~np.isnan(curve.lower))
    assert np.all((curve.lower[seen] >= 0.0) & (curve.lower[seen] <= curve.y[seen]))
    assert np.all((curve.upper[seen] <= 1.0) & (curve.upper[seen] >= curve.y[seen]))
    assert np.all(wider.lower[seen] <= curve.lower[seen] + 2e-3)
    assert np.all(wider.upper[seen] >= curve.upper[seen] - 2e-3)


def kernel_at(one: float, other: np.ndarray, width: float) -> np.ndarray:
    """Return the kernel between a place and others, by loops over mirror images."""
    images = [s * other + 2.0 * turn for s in (1.0, -1.0) for turn in range(-6, 7)]
    return np.asarray(sum(np.exp(-0.5 * ((one - image) / width) ** 2) for image in images))


@pytest.mark.parametrize("bandwidth", [0.03, 0.4])
def test_simultaneous_band_is_a_mean_of_bounds_of_narrower_kernels(bandwidth: float) -> None:
    """By loops over places, rows and mirror images; without cells and windows."""
    rng = np.random.default_rng(0)
    score = np.sort(rng.random(60))
    label = (rng.random(60) < score**2).astype(np.float64)
    curve = wide(ScoreTable.from_rows(score, label > 0.5), bandwidth=bandwidth)

    level = math.ceil(4.0 * math.log2(1.0 / bandwidth))
    narrow = 2.0 ** (-level / 4.0) / math.sqrt(1.25)
    count = math.ceil(1.0 / (0.45 * narrow))
    nodes = np.linspace(0.0, 1.0, count + 1)
    levels = 2 * (math.ceil(4.0 * math.log2(256.0 / np.ptp(score))) + 1)
    weight = np.stack([kernel_at(node, score, narrow) for node in nodes])
    lower, upper = kernel_mean_bounds(
        weight,
        np.ones(weight.shape),
        ones=weight @ label,
        zeros=weight @ (1.0 - label),
        delta_each_side=0.05 / (2.0 * levels * nodes.size),
    )
    for at, low, high in list(zip(curve.at, curve.lower, curve.upper, strict=True))[::16]:
        share = kernel_at(at, nodes, math.sqrt(bandwidth**2 - narrow**2)) * weight.sum(axis=1)
        share[[0, -1]] *= 0.5
        assert low == pytest.approx(share @ lower / share.sum(), abs=3e-3)
        assert high == pytest.approx(share @ upper / share.sum(), abs=3e-3)


def test_mirrored_labels_have_the_mirrored_simultaneous_band() -> None:
    """What is said of label 1 and of label 0 is the same."""
    table = simulated(500)
    mirrored = ScoreTable(1.0 - table.score[::-1], table.rows[::-1], (table.rows - table.positive)[::-1])
    curve, other = (wide(one, bandwidth=0.08) for one in (table, mirrored))
    assert other.at[::-1] == pytest.approx(1.0 - curve.at)
    assert other.lower[::-1] == pytest.approx(1.0 - curve.upper, abs=5e-3)


def test_perfect_calibration_leaves_the_simultaneous_band_where_scores_are_wrong() -> None:
    """Said with the band, of exact tables, grids and log-odds alike; importance weights have no band."""
    good, bad = simulated(800, power=1.0), simulated(800, power=3.0)
    for table, along in ((bad, {}), (bad, {"log_odds": True}), (grid_of(bad), {})):
        assert "leaves it, so the scores are not" in wide(table, bandwidth=0.1, **along).band
    assert "stays in it" in wide(good, bandwidth=0.1).band
    weighted = ScoreTable.from_rows(
        np.array([0.2, 0.7]), np.array([True, False]), Weighing(weight=np.array([1.0, 0.5]))
    )
    assert np.isnan(wide(weighted, bandwidth=0.1).lower).all()


@pytest.mark.parametrize("events", [0, 1, 7, 60])
def test_band_of_one_score_is_the_exact_interval_of_its_rate(events: int) -> None:
    """Rows that the kernel sees alike count one by one, also where hardly any has label 1."""
    curve = smooth(ScoreTable(np.array([0.02]), np.array([60]), np.array([events])), bandwidth=0.05)
    low, high = clopper_pearson(np.array([events], float), np.array([60.0]), delta_each_side=0.025)
    assert curve.lower == pytest.approx(np.full(curve.at.size, low), rel=1e-6)
    assert curve.upper == pytest.approx(np.full(curve.at.size, high), rel=1e-6)


@pytest.mark.parametrize("bandwidth", [0.03, 0.4])
def test_band_is_that_of_rows_of_the_same_variance(bandwidth: float) -> None:
    """By loops over places, rows and mirror images; without cells and windows."""
    rng = np.random.default_rng(0)
    score = np.sort(rng.random(80))
    label = rng.random(80) < score**2
    curve = smooth(ScoreTable.from_rows(score, label), bandwidth=bandwidth)
    weight = np.array([kernel_at(place, score, bandwidth) for place in curve.at])
    alike = weight.sum(axis=1) ** 2 / (weight**2).sum(axis=1)
    chance = np.interp(score, curve.at, (alike * curve.y + 0.5) / (alike + 1.0))
    mean = weight @ chance / weight.sum(axis=1)
    like = mean * (1.0 - mean) * weight.sum(axis=1) ** 2 / (weight**2 @ (chance * (1.0 - chance)))
    low, high = clopper_pearson(like * curve.y, like, delta_each_side=0.025)
    assert curve.lower == pytest.approx(low, abs=2e-3)
    assert curve.upper == pytest.approx(high, abs=2e-3)
