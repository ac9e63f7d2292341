"""Murphy and decision curves: every point is a mean over rows, and the area is the Brier score."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, xlogy

from calibcli.errors import EmptyTable
from calibcli.names import Benefit, MeasureName
from calibcli.stats.bounds.means import Kinds, Values
from calibcli.stats.bounds.proportion import clopper_pearson
from calibcli.stats.curves.net_benefit import NetBenefit, Stated, against_first, net_benefits
from calibcli.stats.curves.thresholds import (
    MurphyCurve,
    decision_curve,
    murphy_curve,
    thresholds_of,
    worth_somewhere,
)
from calibcli.stats.measures.decompositions import corp_part
from calibcli.stats.measures.differences import PairedSums
from calibcli.stats.measures.scores import brier
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.grid import grid_of

AWKWARD = [0.0, 5e-324, 1e-9, 0.25, 0.5, 0.7, 1.0 - 2.0**-53, 1.0]
some_rows = st.lists(
    st.tuples(st.one_of(st.sampled_from(AWKWARD), st.floats(0.0, 1.0)), st.booleans()),
    min_size=1,
    max_size=40,
)


def columns_of(rows: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and labels."""
    return np.array([score for score, _ in rows]), np.array([label for _, label in rows])


def simulated(rows: int, *, seed: int = 0, digits: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Scores that are too far out."""
    rng = np.random.default_rng(seed)
    score = rng.beta(0.7, 1.4, rows)
    score = score if digits is None else np.round(score, digits)
    return score, rng.random(rows) < 0.1 + 0.7 * score


def elementary(score: np.ndarray, label: np.ndarray, at: float) -> np.ndarray:
    """Ehm et al.: |label - t| where t parts score and label, the lower of which may equal t; twice that."""
    wrong = np.where(label, (score <= at) & (at < 1.0), (score > at) & (at >= 0.0))
    return 2.0 * np.abs(label - at) * wrong


def area(curve: MurphyCurve, values: np.ndarray) -> float:
    """Between two thresholds every curve is a straight line."""
    return float(np.sum(np.diff(curve.at) * (values[1:] + values[:-1]) / 2.0))


def last_of_each(at: np.ndarray) -> np.ndarray:
    """Where the value at a threshold itself stands, the score equal to it being below."""
    return np.flatnonzero(np.append(at[1:] > at[:-1], True))


@given(rows=some_rows)
def test_murphy_curve_is_mean_elementary_score(rows: list[tuple[float, bool]]) -> None:
    """At every threshold, ties included; and the area under the curve is the Brier score."""
    score, label = columns_of(rows)
    table = ScoreTable.from_rows(score, label)
    curve = murphy_curve(table)
    for index in last_of_each(curve.at):
        by_hand = elementary(score, label, float(curve.at[index])).mean()
        assert curve.value[index] == pytest.approx(by_hand, abs=1e-12)
    assert area(curve, curve.value) == pytest.approx(brier(table).value, abs=1e-12)
    assert np.all(curve.recalibrated <= curve.value + 1e-12)
    assert np.all(curve.recalibrated <= curve.constant + 1e-12)
    assert np.all((curve.lower <= curve.value + 1e-12) & (curve.value <= curve.upper + 1e-12))


def test_areas_between_the_curves_are_the_parts_of_the_brier_score() -> None:
    """Miscalibration, discrimination and uncertainty, up to the corners that fall between thresholds."""
    score, label = simulated(3_000, digits=2)
    table = ScoreTable.from_rows(score, label)
    curve = murphy_curve(table)
    mcb, dsc, unc = (
        corp_part(name, table).value
        for name in (MeasureName.BRIER_MCB, MeasureName.BRIER_DSC, MeasureName.BRIER_UNC)
    )
    assert area(curve, curve.value - curve.recalibrated) == pytest.approx(mcb, abs=1e-5)
    assert area(curve, curve.constant - curve.recalibrated) == pytest.approx(dsc, abs=1e-5)
    assert area(curve, curve.constant) == pytest.approx(unc, abs=1e-5)


@given(rows=some_rows)
def test_decision_curve_is_net_benefit(rows: list[tuple[float, bool]]) -> None:
    """Vickers and Elkin's formula, row by row: treated from a score equal to the threshold on."""
    score, label = columns_of(rows)
    curve = decision_curve(ScoreTable.from_rows(score, label))
    first = np.flatnonzero(np.concatenate(([True], curve.at[1:] > curve.at[:-1])))
    kept = set(score.tolist())
    for index in first:
        at = float(curve.at[index])
        treated = score >= at if at in kept else score > at
        worth = np.where(label, 1.0, -at / (1.0 - at)) * treated
        assert curve.value[index] == pytest.approx(worth.mean(), abs=1e-9, rel=1e-9)
    odds = curve.at / (1.0 - curve.at)
    np.testing.assert_allclose(curve.all, label.mean() - (~label).mean() * odds, atol=1e-12, rtol=1e-9)
    assert np.all(curve.lower <= curve.value + 1e-9)


def test_ranges_are_where_the_score_beats_both() -> None:
    """Inside the curve lies above both others, outside hardly; the clear ranges lie inside the plain."""
    score, label = simulated(5_000, digits=2)
    curve = decision_curve(ScoreTable.from_rows(score, label))
    above = curve.value > np.maximum(curve.all, 0.0) + 1e-12
    inside = np.zeros_like(above)
    for start, stop in curve.better:
        inside |= (curve.at >= start) & (curve.at <= stop)
    assert above.any()
    assert np.mean(above & ~inside) < 0.02
    assert np.mean(inside & ~above) < 0.02
    assert curve.clearly_better
    for start, stop in curve.clearly_better:
        assert any(first <= start and stop <= last for first, last in curve.better)


def test_scores_that_say_nothing_are_nowhere_better() -> None:
    """One score for all rows: at its base rate, acting by it is acting on all or on none."""
    curve = decision_curve(ScoreTable.from_rows(np.full(100, 0.3), np.arange(100) < 30))
    assert curve.better == ()
    assert curve.clearly_better == ()


def test_grid_counts_are_exact_at_cell_ends() -> None:
    """The curves of a grid table are those of its rows at the same thresholds."""
    score, label = simulated(60_000)
    table = grid_of(ScoreTable.from_rows(score, label))
    curve = murphy_curve(table)
    for index in last_of_each(curve.at)[::17]:
        by_hand = elementary(score, label, float(curve.at[index])).mean()
        assert curve.value[index] == pytest.approx(by_hand, abs=1e-12)
    assert area(curve, curve.value) == pytest.approx(brier(table).value, abs=5e-5)


def test_many_scores_are_thinned_to_what_can_be_seen() -> None:
    """The number of points does not grow with the rows, and the area hardly moves."""
    score, label = simulated(60_000, seed=3)
    table = ScoreTable.from_rows(score, label)
    curve = murphy_curve(table)
    assert curve.at.size < 800
    assert area(curve, curve.value) == pytest.approx(brier(table).value, abs=5e-5)


def test_frequency_weights_are_rows_and_importance_weights_have_no_band() -> None:
    """Counts give what repeated rows give; importance weights give the weighted mean and no interval."""
    score, label = simulated(300, digits=1)
    weight = np.random.default_rng(1).integers(1, 5, 300)
    counted = ScoreTable.from_rows(score, label, Weighing(counts=weight))
    repeated = ScoreTable.from_rows(np.repeat(score, weight), np.repeat(label, weight))
    weighted = ScoreTable.from_rows(score, label, Weighing(weight=weight.astype(np.float64)))
    for made in (murphy_curve, decision_curve):
        np.testing.assert_array_equal(made(counted).value, made(repeated).value)
        np.testing.assert_array_equal(made(counted).upper, made(repeated).upper)
        np.testing.assert_allclose(made(weighted).value, made(repeated).value, atol=1e-12)
        assert np.isnan(made(weighted).lower).all()
        assert "importance weights" in made(weighted).band
    assert decision_curve(weighted).clearly_better is None


def test_rows_without_weight_leave_no_trace() -> None:
    """A score whose rows weigh nothing is no threshold, and a table of such rows has no curve."""
    table = ScoreTable.from_rows(
        np.array([0.1, 0.5, 0.9]), np.array([False, True, True]), Weighing(weight=np.array([1.0, 0.0, 2.0]))
    )
    assert thresholds_of(table).ends == (0.1, 0.9)
    empty = ScoreTable.from_rows(np.array([0.5]), np.array([True]), Weighing(weight=np.array([0.0])))
    with pytest.raises(EmptyTable):
        murphy_curve(empty)


def test_one_kind_of_error_has_the_bounds_of_clopper_and_pearson() -> None:
    """Where the other counts for nothing, and where both cost the same; within 1 % of their distance."""
    counts, rows = np.array([0.0, 3.0, 20.0]), 20.0
    least, most = clopper_pearson(counts, np.full(3, rows), delta_each_side=0.05)
    near = 0.01 * (most - least).max()
    kinds = Kinds.of(np.stack((counts, rows - counts)), rows=rows)
    for worth, ends in (
        ((0.5, 0.0), (0.5 * least, 0.5 * most)),
        ((0.0, -2.0), (2 * least - 2, 2 * most - 2)),
    ):
        found = kinds.bounds(np.repeat(np.array(worth)[:, None], 3, axis=1), delta=0.05)
        np.testing.assert_allclose(found, ends, atol=2 * near)
    alike = Kinds.of(np.stack((counts, np.zeros(3))), rows=rows).bounds(np.ones((2, 3)), delta=0.05)
    np.testing.assert_allclose(alike, (least, most), atol=near)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    counts=st.lists(st.integers(0, 30), min_size=3, max_size=4),
    worth=st.lists(st.floats(-40.0, 40.0), min_size=2, max_size=3),
    delta=st.sampled_from([0.25, 0.025, 5e-4]),
)
def test_kinds_have_the_bounds_of_rows_that_are_worth_as_much(
    counts: list[int], worth: list[float], delta: float
) -> None:
    """Many places at once, those of rows of no kind as well; the best and the worst kind need no row."""
    counts, worth = counts[: len(worth) + 1], [*worth[: len(counts) - 1], 0.0]
    some = [(value, rows) for value, rows in zip(worth, counts, strict=True) if rows]
    if not some:
        return
    value, rows = (np.array(column, float) for column in zip(*some, strict=True))
    held = Values(value, rows)
    ends = held.lower_bound(least=min(worth), delta=delta), held.upper_bound(most=max(worth), delta=delta)
    twice = np.tile(np.array(counts[:-1], float)[:, None], 2)
    found = Kinds.of(twice, rows=float(sum(counts))).bounds(
        np.tile(np.array(worth[:-1])[:, None], 2), delta=delta
    )
    scale = max(max(worth) - min(worth), 1e-300)
    for end, both in zip(ends, found, strict=True):
        np.testing.assert_allclose(both, end, atol=3e-5 * scale)


def test_a_net_benefit_is_missed_no_more_often_than_it_says() -> None:
    """Of 30 rows, of which one in 600 is treated rightly and 11 in 12 are not, summed over all tables.

    The bounds of both kinds of rows, their distances added by squares, missed in .0046 at 99.9 %.
    """
    first, second = np.indices((31, 31)).reshape(2, -1)
    counts = np.stack((first, second, 30 - first - second))[:, first + second <= 30].astype(np.float64)
    shares, worth = np.array([0.05 / 30, 1.0 - 2.55 / 30, 2.5 / 30]), np.array([1.0, -1 / 9])
    ways = gammaln(31.0) - gammaln(counts + 1.0).sum(axis=0)
    chance = np.exp(ways + xlogy(counts, shares[:, None]).sum(axis=0))
    lower, upper = Kinds.of(counts[:2], rows=30.0).bounds(
        np.tile(worth[:, None], counts.shape[1]), delta=0.0005
    )
    truth = float(worth @ shares[:2])
    assert chance.sum() == pytest.approx(1.0)
    assert chance[(lower > truth) | (upper < truth)].sum() <= 0.001


def test_without_label_1_no_net_benefit_is_standardised() -> None:
    """It would be over a share of 0; the net benefit itself is drawn."""
    table = ScoreTable.from_rows(np.linspace(0.1, 0.9, 20), np.zeros(20, bool))
    with pytest.raises(EmptyTable, match="no row has label 1"):
        decision_curve(table, benefit=Benefit.STANDARDISED)
    assert np.all(decision_curve(table).value <= 0.0)


AT = (0.1, 0.2, 0.25, 0.5, 0.8)
# dcurves 1.1.7: dca(data, outcome="y", modelnames=["a", "b"], thresholds=AT), column net_benefit, over the
# rows of `tied`; scores equal the thresholds in several of them.
DCURVES = {
    "a": (0.455555555556, 0.40625, 0.39, 0.275, 0.11),
    "b": (0.453333333333, 0.38375, 0.348333333333, 0.225, 0.01),
    "all": (0.455555555556, 0.3875, 0.346666666667, 0.02, -1.45),
}


def tied() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two scores in steps of a hundredth and their labels, 200 rows."""
    k = np.arange(200)
    first = np.clip((k * 37 % 101) / 100.0, 0.01, 0.99)
    second = np.round(0.5 * first + 0.5 * (k * 53 % 97 / 96.0), 2)
    return first, second, k * 71 % 113 / 113.0 < first


def values(found: tuple[NetBenefit, ...], name: str) -> list[float | None]:
    """Return one number at every threshold."""
    return [one.numbers[name].value for one in found]


def pair(first: np.ndarray, second: np.ndarray, label: np.ndarray) -> tuple[NetBenefit, ...]:
    """Return what the second score is worth more than the first."""
    sums = PairedSums(thresholds=AT)
    for part in np.array_split(np.arange(first.size), 3):
        more = PairedSums(thresholds=AT)
        more.add(first[part], second[part], label[part])
        sums.merge(more)
    both = [net_benefits(ScoreTable.from_rows(one, label), AT, confidence=0.95) for one in (first, second)]
    return against_first(both[1], both[0], sums.moves, rows=sums.rows, confidence=0.95)


def test_values_are_those_of_dcurves() -> None:
    """Model, treat all and their difference; a score that equals the threshold is treated."""
    first, second, label = tied()
    found = pair(first, second, label)
    alone = net_benefits(ScoreTable.from_rows(first, label), AT, confidence=0.95)
    a, b, everyone = (np.array(DCURVES[name]) for name in ("a", "b", "all"))
    np.testing.assert_allclose(values(alone, "net_benefit"), a, atol=1e-11)
    np.testing.assert_allclose(values(found, "net_benefit"), b, atol=1e-11)
    np.testing.assert_allclose([one.treat_all for one in found], everyone, atol=1e-11)
    np.testing.assert_allclose(values(found, "over_all"), b - everyone, atol=1e-11)
    np.testing.assert_allclose(values(found, "over_first"), b - a, atol=1e-11)
    np.testing.assert_allclose(values(alone, "standardised"), a / label.mean(), atol=1e-11)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.8, 1.0]), st.sampled_from([0.1, 0.5, 0.9]), st.booleans()
        ),
        min_size=1,
        max_size=40,
    )
)
def test_each_number_lies_in_its_interval(rows: list[tuple[float, float, bool]]) -> None:
    """And is what the definition makes of the rows; without label 1 nothing is standardised."""
    first, second, label = (np.array(column) for column in zip(*rows, strict=True))
    for one in pair(first, second, label):
        treated = second >= one.threshold
        odds = one.threshold / (1.0 - one.threshold)
        by_hand = np.mean(treated & label) - odds * np.mean(treated & ~label)
        assert one.net_benefit.value == pytest.approx(by_hand, abs=1e-9)
        assert (one.standardised.value is None) == (not label.any())
        for number in one.numbers.values():
            if number.value is not None:
                assert number.interval is not None
                low, high = number.interval.ends
                assert low - 1e-9 <= number.value <= high + 1e-9
        if label.any():
            assert one.standardised.interval is not None
            assert one.standardised.interval.ends[0] < one.standardised.interval.ends[1] <= 1.0


def test_weights_and_clusters_leave_values_alone() -> None:
    """A frequency weight is so many rows; importance weights and dependent rows have no interval."""
    first, second, label = tied()
    ones = np.ones(first.size)
    weighted = ScoreTable.from_rows(first, label, Weighing(weight=ones))
    plain = net_benefits(ScoreTable.from_rows(first, label), AT, confidence=0.95)
    found = net_benefits(weighted, AT, confidence=0.95)
    assert values(found, "net_benefit") == pytest.approx(values(plain, "net_benefit"))
    for one in (*found, *(each.without_intervals() for each in plain)):
        assert all(number.interval is None for number in one.numbers.values())
    sums = PairedSums(thresholds=AT)
    sums.add(first, second, label, Weighing(weight=ones))
    less = against_first(found, found, sums.moves, rows=sums.rows, confidence=0.95)
    assert [one.over_first for one in less] == [Stated(0.0, None)] * len(AT)


def test_a_grid_counts_as_the_table_does() -> None:
    """Thresholds are ends of cells, so that scores apart from them are on the same side."""
    score = np.random.default_rng(1).random(5_000)
    label = np.random.default_rng(2).random(5_000) < score
    exact = net_benefits(ScoreTable.from_rows(score, label), AT, confidence=0.9)
    assert net_benefits(grid_of(ScoreTable.from_rows(score, label)), AT, confidence=0.9) == exact


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(st.tuples(st.sampled_from((0.1, 0.29, 0.5, 0.9, 0.7)), st.booleans()), min_size=1))
def test_scores_of_a_grid_that_are_thresholds_reach_them(rows: list[tuple[float, bool]]) -> None:
    """Ends of cells and places within them: a cell of one score stands where that score does."""
    score, label = (np.array(column) for column in zip(*rows, strict=True))
    table, at = ScoreTable.from_rows(score, label), (0.1, 0.29, 0.5, 0.7, 0.9)
    assert net_benefits(grid_of(table), at, confidence=0.9) == net_benefits(table, at, confidence=0.9)


def worth_nothing_more(rows: int, power: float, rng: np.random.Generator) -> ScoreTable:
    """Return rows that are worth at every threshold exactly what treating all is worth.

    With F(t) = (t / c)^a and a rate of (1 + 1/a) t, the rows below any t have label 1 at a rate of t.
    """
    score = power / (power + 1.0) * rng.random(rows) ** (1.0 / power)
    return ScoreTable.from_rows(score, rng.random(rows) < score * (1.0 + 1.0 / power))


def test_worth_somewhere_is_asked_at_all_thresholds_at_once() -> None:
    """It is a part of what is so threshold by threshold, and more scores to pick from never help."""
    good = ScoreTable.from_rows(*simulated(400, seed=3))
    assert worth_somewhere(good, confidence=0.95)
    found = []
    rng = np.random.default_rng(11)
    for _ in range(4):
        table = worth_nothing_more(300, 4.0, rng)
        yes = [worth_somewhere(table, confidence=level, looks=2) for level in (0.999, 0.95)]
        assert yes == sorted(yes)
        assert not yes[-1] or decision_curve(table).clearly_better
        found.append(yes[-1])
    assert sum(found) <= 2


def test_nothing_is_said_beyond_two_named_thresholds() -> None:
    """Ranges are those within them, and one threshold or none leaves all of them."""
    table = ScoreTable.from_rows(*simulated(400, seed=3))
    curve = decision_curve(table)
    assert curve.clearly_better
    low, high = curve.clearly_better[0][0], curve.clearly_better[-1][1]
    assert curve.marking([high]).clearly_better == curve.clearly_better
    inner = curve.marking([(low + high) / 2, (low + 3 * high) / 4])
    for found in (inner.better, inner.clearly_better or ()):
        assert all(inner.marked[0] <= start < stop <= inner.marked[1] for start, stop in found)
    assert curve.marking([high + 1e-6, 0.9999]).clearly_better == ()
    assert worth_somewhere(table, confidence=0.95, within=(low, high))
    assert not worth_somewhere(table, confidence=0.95, within=(high + 1e-6, 0.9999))
    assert not worth_somewhere(table, confidence=0.95, within=(2.0, 3.0))


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.0, 4.0])
@pytest.mark.parametrize("rows", [300, 1_000])
def test_a_score_worth_no_more_is_seldom_said_to_be(power: float, rows: int) -> None:
    """Of 300 such scores 0 or 1 is (15 may be); threshold by threshold 47 to 84 are somewhere."""
    rng = np.random.default_rng(5)
    wrong = sum(worth_somewhere(worth_nothing_more(rows, power, rng), confidence=0.95) for _ in range(300))
    assert wrong <= 27
