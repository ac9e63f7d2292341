"""Proper scores, skill and decompositions: sums that hold exactly, null references, edges."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.names import Binning, MeasureName
from calibcli.stats.measures.decompositions import corp_part, murphy_part
from calibcli.stats.measures.estimate import Estimate
from calibcli.stats.measures.l2 import debiased_l2
from calibcli.stats.measures.scores import brier, log_loss, spherical
from calibcli.stats.measures.skill import brier_skill, log_loss_skill
from calibcli.stats.recalibrators.pooling import pooled_starts
from calibcli.stats.table.bins import ATOMS, Bins, binned, bins_of, equal_width_edges, segment_sums
from calibcli.stats.table.derived import with_scores
from calibcli.stats.table.grid import Table, grid_of
from calibcli.stats.table.score_table import ScoreTable

M = MeasureName
Rows = list[tuple[float, bool]]
AWKWARD = [0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]
ROWS = st.lists(
    st.tuples(st.one_of(st.sampled_from(AWKWARD), st.floats(0.0, 1.0)), st.booleans()),
    min_size=1,
    max_size=50,
)
QUICK = settings(deadline=None, max_examples=25)
TEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(10))
MURPHY = (
    M.BRIER_RELIABILITY,
    M.BRIER_RESOLUTION,
    M.BRIER_UNCERTAINTY,
    M.BRIER_WITHIN_VARIANCE,
    M.BRIER_WITHIN_COVARIANCE,
)
CORRECTED = (
    M.BRIER_RELIABILITY_CORRECTED,
    M.BRIER_RESOLUTION_CORRECTED,
    M.BRIER_UNCERTAINTY_CORRECTED,
)
OF_BRIER = (M.BRIER_MCB, M.BRIER_DSC, M.BRIER_UNC)
OF_LOG_LOSS = (M.LOG_LOSS_MCB, M.LOG_LOSS_DSC, M.LOG_LOSS_UNC)


def table_of(rows: Rows, weight: np.ndarray | None = None) -> ScoreTable:
    """Count rows."""
    score, label = np.array([s for s, _ in rows]), np.array([y for _, y in rows])
    return ScoreTable.from_rows(score, label, weight=weight)


def turned(table: ScoreTable) -> ScoreTable:
    """The same rows seen from the other label."""
    negative = table.rows - table.positive_rows
    return ScoreTable.from_rows(
        np.tile(1.0 - table.score, 2),
        np.repeat([True, False], table.distinct),
        counts=np.concatenate((negative, table.positive_rows)),
    )


def murphy(table: Table, bins: Bins = TEN) -> dict[MeasureName, Estimate]:
    """Every part over bins."""
    return {name: murphy_part(name, table, bins=bins) for name in (*MURPHY, *CORRECTED)}


def corp(table: Table) -> dict[MeasureName, Estimate]:
    """Every part by isotonic recalibration, without null references."""
    return {name: corp_part(name, table) for name in (*OF_BRIER, *OF_LOG_LOSS)}


def every_number(table: Table) -> dict[str, float]:
    """Every value of this family that needs no random draws."""
    found = {**murphy(table), **corp(table)}
    found |= {e.name: e for e in (brier_skill(table), log_loss_skill(table), spherical(table))}
    return {str(name): estimate.value for name, estimate in found.items()}


@QUICK
@given(rows=ROWS, count=st.integers(1, 20), weighted=st.booleans())
def test_murphys_parts_sum_to_the_brier_score(rows: Rows, count: int, weighted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Invariant 13: REL - RES + UNC + variance - covariance is the Brier score over any bins."""
    table = table_of(rows, np.linspace(0.5, 2.0, len(rows)) if weighted else None)
    for bins in (Bins(Binning.EQUAL_WIDTH, equal_width_edges(count)), ATOMS):
        rel, res, unc, variance, covariance = (murphy_part(n, table, bins=bins).value for n in MURPHY)
        assert rel - res + unc + variance - covariance == pytest.approx(brier(table).value, abs=1e-12)
        if bins is ATOMS:
            assert variance == pytest.approx(0.0, abs=1e-15)
            assert covariance == pytest.approx(0.0, abs=1e-15)


@QUICK
@given(rows=ROWS, count=st.integers(1, 20))
def test_corrected_parts_have_the_same_sum(rows: Rows, count: int) -> None:
    """Invariant 14: REL' - RES' + UNC' is REL - RES + UNC, wherever all are defined."""
    found = murphy(table_of(rows), Bins(Binning.EQUAL_WIDTH, equal_width_edges(count)))
    plain, other = ([found[n].value for n in names] for names in (MURPHY[:3], CORRECTED))
    if not any(math.isnan(value) for value in other):
        assert other[0] - other[1] + other[2] == pytest.approx(plain[0] - plain[1] + plain[2], abs=1e-12)
    else:
        assert found[CORRECTED[0]].interval is None


@QUICK
@given(rows=st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=60))
def test_corrected_reliability_is_t_for_discrete_scores(rows: list[tuple[int, bool]]) -> None:
    """Where a bin holds one score, the corrected reliability is T, with the square of l2's interval."""
    table = table_of([(s / 6, y) for s, y in rows for _ in range(2)])
    mine, theirs = murphy_part(CORRECTED[0], table, bins=ATOMS), debiased_l2(table, bins=ATOMS)
    assert mine.value == pytest.approx(float(theirs.details["t"]), abs=1e-12, nan_ok=True)
    assert (mine.interval is None) == (theirs.interval is None)
    if mine.interval is not None and theirs.interval is not None:
        assert mine.interval.upper == pytest.approx(max(theirs.interval.upper**2, mine.value), abs=1e-12)


@QUICK
@given(rows=ROWS, weighted=st.booleans())
def test_corp_parts_sum_to_the_score_and_are_not_negative(rows: Rows, weighted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Invariant 17: the score is MCB - DSC + UNC with MCB, DSC >= 0, and so is the log loss."""
    table = table_of(rows, np.linspace(0.5, 2.0, len(rows)) if weighted else None)
    for names, whole in ((OF_BRIER, brier(table).value), (OF_LOG_LOSS, log_loss(table).value)):
        mcb, dsc, unc = (corp_part(name, table).value for name in names)
        assert mcb >= 0.0
        assert dsc >= 0.0
        assert mcb - dsc + unc == pytest.approx(whole, rel=1e-12, abs=1e-12)


@QUICK
@given(rows=ROWS)
def test_the_isotonic_fit_has_nothing_left_to_save(rows: Rows) -> None:
    """Invariant 15: rows moved to their isotonic fit have MCB 0 and the same DSC and UNC."""
    table = table_of(rows)
    starts = pooled_starts(table.weight, table.positive)
    levels = segment_sums(table.positive, starts) / segment_sums(table.weight, starts)
    moved = with_scores(table, np.clip(np.repeat(levels, np.diff(starts)), 0.0, 1.0))
    before, after = corp(table), corp(moved)
    for mcb, *others in (OF_BRIER, OF_LOG_LOSS):
        assert after[mcb].value == pytest.approx(0.0, abs=1e-12)
        for name in others:
            assert after[name].value == pytest.approx(before[name].value, abs=1e-12)


@QUICK
@given(rows=ROWS)
def test_corp_discriminates_at_least_as_much_as_bins(rows: Rows) -> None:
    """Any nondecreasing map that is constant on bins saves no more than the isotonic fit does."""
    table = table_of(rows)
    sums = binned(table, TEN)
    some = sums.occupied
    means = np.maximum.accumulate(sums.positive[some] / sums.weight[some])
    moved = with_scores(table, np.repeat(means, np.diff(sums.starts)[some]))
    dsc = corp_part(M.BRIER_DSC, table).value
    assert dsc >= corp_part(M.BRIER_UNC, table).value - brier(moved).value - 1e-12


@given(rows=ROWS)
def test_turning_the_labels_round_changes_no_score(rows: Rows) -> None:
    """With f, y turned into 1 - f, 1 - y every score, skill and part is the same."""
    # Scores that stay distinct under 1 - f, and bins that are the same from both sides.
    table = table_of([(round(s * 4096) / 4096, y) for s, y in rows])
    one, other = every_number(table), every_number(turned(table))
    for name, value in one.items():
        if name.startswith("brier_re") or "within" in name:
            continue  # a score on an edge of the bins goes to the other side
        assert other[name] == pytest.approx(value, abs=1e-9, nan_ok=True), name


@given(rows=st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(1, 4)), min_size=1, max_size=20))
def test_frequency_weight_is_a_repeated_row(rows: list[tuple[float, bool, int]]) -> None:
    """Invariant 5: a row counted w times and w rows give the same numbers, bit for bit."""
    score, label = np.array([s for s, _, _ in rows]), np.array([y for _, y, _ in rows])
    counts = np.array([c for _, _, c in rows])
    one = every_number(ScoreTable.from_rows(score, label, counts=counts))
    other = every_number(ScoreTable.from_rows(np.repeat(score, counts), np.repeat(label, counts)))
    assert all(one[name] == other[name] or math.isnan(one[name]) for name in one)


@given(rows=ROWS)
def test_equal_importance_weights_give_the_plain_values(rows: Rows) -> None:
    """Where every weight is the same, values are those of the plain table."""
    plain = every_number(table_of(rows))
    for name, value in every_number(table_of(rows, np.full(len(rows), 0.5))).items():
        assert value == pytest.approx(plain[name], rel=1e-9, abs=1e-12, nan_ok=True), name


INTERVALS = {
    "spherical": spherical,
    "brier_skill": brier_skill,
    "log_loss_skill": log_loss_skill,
    "uncertainty": lambda t, confidence: murphy_part(MURPHY[2], t, bins=TEN, confidence=confidence),
    "corrected": lambda t, confidence: murphy_part(CORRECTED[0], t, bins=TEN, confidence=confidence),
    "corrected unc": lambda t, confidence: murphy_part(CORRECTED[2], t, bins=TEN, confidence=confidence),
    "log_loss_unc": lambda t, confidence: corp_part(M.LOG_LOSS_UNC, t, confidence=confidence),
}


@pytest.mark.parametrize("name", INTERVALS)
@given(rows=ROWS)
def test_intervals_enclose_the_value_and_grow_with_confidence(name: str, rows: Rows) -> None:
    """Invariant 23: lower <= value <= upper, and more confidence never narrows an interval."""
    table, before = table_of(rows), None
    for confidence in (0.6, 0.9, 0.999):
        estimate = INTERVALS[name](table, confidence=confidence)
        interval = estimate.interval
        if interval is None:
            assert any(text.startswith("no interval") for text in estimate.assumptions)
            continue
        lower, upper = interval.ends
        assert lower <= estimate.value <= upper
        if before is not None:
            assert lower <= before[0]
            assert upper >= before[1]
        before = lower, upper


def test_expected_parts_are_means_over_all_labels() -> None:
    """Null references of the parts over bins equal the mean over all 128 sets of labels, by their chances."""
    score = np.array([0.0, 0.05, 0.08, 0.3, 0.62, 0.66, 0.95])
    base = ScoreTable.from_rows(score, np.zeros(7, bool))
    names, sums = (*MURPHY, *CORRECTED), dict.fromkeys((*MURPHY, *CORRECTED), 0.0)
    whole = 0.0
    for labels in product([0, 1], repeat=7):
        y = np.array(labels)
        chance = float(np.prod(np.where(y == 1, score, 1 - score)))
        if chance == 0.0:
            continue
        found = murphy(ScoreTable(base.score, base.rows, y))
        whole += chance * spherical(ScoreTable(base.score, base.rows, y)).value
        for name in names:
            sums[name] += chance * found[name].value
    table = ScoreTable(base.score, base.rows, np.array([0, 0, 1, 0, 1, 1, 1]))
    for name, estimate in murphy(table).items():
        assert estimate.null == pytest.approx(sums[name], abs=1e-14), name
    assert spherical(table).null == pytest.approx(whole, abs=1e-14)
    drawn = corp_part(M.BRIER_UNC, table, generator=np.random.default_rng(0))
    assert drawn.null == pytest.approx(sums[M.BRIER_UNCERTAINTY], abs=1e-14)


@pytest.mark.parametrize("names", [OF_BRIER, OF_LOG_LOSS], ids=["brier", "log loss"])
def test_drawn_references_are_those_of_calibrated_labels(names: tuple[MeasureName, ...]) -> None:
    """The null of MCB, DSC and UNC is the mean over calibrated labels, within the noise of both."""
    rng = np.random.default_rng(1)
    score = rng.beta(0.8, 1.2, 800)
    table = ScoreTable.from_rows(score, rng.random(800) < 0.5)
    fresh = [ScoreTable.from_rows(score, rng.random(800) < score) for _ in range(100)]
    for name in names:
        null = corp_part(name, table, generator=np.random.default_rng(2)).null
        values = [corp_part(name, other).value for other in fresh]
        assert abs(null - np.mean(values)) <= 6 * np.std(values) / 10, name


def test_coarsened_reference_is_that_of_all_scores() -> None:
    """Above 20,000 rows the null of MCB is drawn on sub-cells; it stays within 3 % of that of every score."""
    rng = np.random.default_rng(3)
    score = rng.random(30_000)
    table = ScoreTable.from_rows(score, rng.random(30_000) < score)
    coarse = corp_part(M.BRIER_MCB, table, generator=np.random.default_rng(0)).null
    fresh = (ScoreTable.from_rows(score, rng.random(30_000) < score) for _ in range(60))
    assert coarse == pytest.approx(np.mean([corp_part(M.BRIER_MCB, t).value for t in fresh]), rel=0.03)


@given(rows=ROWS)
def test_skill_is_at_most_one(rows: Rows) -> None:
    """Skill is at most 1, NaN with one label only, and 0 for the constant forecast of the rate."""
    table = table_of(rows)
    rate = table.total_positive_rows / table.total_rows
    for skill in (brier_skill, log_loss_skill):
        value = skill(table).value
        assert math.isnan(value) == (rate in (0.0, 1.0))
        assert not value > 1.0
        constant = ScoreTable(np.array([rate]), [table.total_rows], [table.total_positive_rows])
        if 0.0 < rate < 1.0:
            assert skill(constant).value == pytest.approx(0.0, abs=1e-12)


def test_skill_of_a_certain_and_wrong_row() -> None:
    """A certain and wrong row: log loss skill -inf and MCB inf without an interval, the rest finite."""
    table = table_of([(0.0, True), (0.2, False), (0.7, True), (0.9, True)])
    skill, mcb = log_loss_skill(table), corp_part(M.LOG_LOSS_MCB, table, generator=np.random.default_rng(0))
    assert skill.value == -math.inf
    assert mcb.value == math.inf
    assert mcb.null is not None
    assert math.isfinite(mcb.null)
    assert skill.interval is None
    assert math.isfinite(brier_skill(table).value)
    assert spherical(ScoreTable(np.array([0.0]), [1], [1])).value == 1.0


def test_one_label_and_one_row() -> None:
    """One label: MCB is the score, DSC and UNC are 0; one row: corrected parts are NaN with a reason."""
    ones = table_of([(0.2, True), (0.9, True)])
    assert [corp_part(n, ones).value for n in OF_BRIER] == [brier(ones).value, 0.0, 0.0]
    assert [corp_part(n, ones).value for n in OF_LOG_LOSS] == [log_loss(ones).value, 0.0, 0.0]
    found = murphy(table_of([(0.3, True)]))
    for name in CORRECTED:
        assert math.isnan(found[name].value)
        assert any(text.startswith("no interval: undefined") for text in found[name].assumptions)
    assert found[M.BRIER_UNCERTAINTY].interval is not None
    certain = murphy(table_of([(0.0, False), (0.0, False), (1.0, True), (1.0, True)]))
    assert certain[CORRECTED[0]].value == pytest.approx(0.0, abs=1e-15)
    assert certain[CORRECTED[0]].interval is None
    same = brier_skill(table_of([(0.5, False), (0.5, True)] * 5))
    assert same.value == pytest.approx(0.0)
    assert same.interval is not None
    perfect = brier_skill(table_of([(0.0, False), (1.0, True)]))
    assert perfect.value == 1.0
    assert perfect.interval is not None
    assert perfect.interval.upper == 1.0


def test_weights_leave_no_intervals_but_of_means() -> None:
    """Importance weights: means keep their normal interval, the others say why they have none."""
    table = table_of([(0.2, False), (0.4, True), (0.42, False), (0.9, True)], np.array([1.0, 2.0, 0.5, 1.5]))
    assert spherical(table).interval is not None
    assert brier_skill(table).interval is not None
    for estimate in (*murphy(table).values(), *corp(table).values()):
        assert estimate.interval is None
        assert any(text.startswith("no interval") for text in estimate.assumptions)
    drawn = corp_part(M.BRIER_MCB, table, generator=np.random.default_rng(0))
    assert drawn.null is None
    heavy = table_of([(0.2, False), (0.4, True)], np.array([1.0, 1e-9]))
    assert brier_skill(heavy).interval is None


def test_rows_without_weight_change_nothing() -> None:
    """A row of weight 0 counts for no part, not even a certain and wrong one."""
    rows = [(0.2, False), (0.25, True), (0.4, True), (0.9, False), (0.95, True)]
    weight = np.array([1.0, 2.0, 1.0, 0.5, 1.0])
    one = every_number(table_of(rows, weight))
    extra = [*rows, (0.0, True), (1.0, False), (0.55, True)]
    other = every_number(table_of(extra, np.concatenate((weight, np.zeros(3)))))
    for name, value in one.items():
        assert other[name] == pytest.approx(value, rel=1e-12, abs=1e-14, nan_ok=True), name
    one_label = table_of([(0.2, False), (0.6, True)], np.array([0.0, 1.0]))
    assert math.isnan(brier_skill(one_label).value)
    assert corp_part(M.BRIER_DSC, one_label).value == 0.0


def test_grid_table_gives_the_same_numbers() -> None:
    """On the grid parts of the Brier score agree to 1e-7, sum exactly, and the log loss's agree to 1e-4."""
    rng = np.random.default_rng(4)
    score = np.concatenate((rng.random(3000), np.arange(1, 16) / 16))
    table = ScoreTable.from_rows(score, rng.random(score.size) < 0.1 + 0.8 * score)
    grid = grid_of(table)
    one, other = every_number(table), every_number(grid)
    for name, value in one.items():
        assert other[name] == pytest.approx(value, abs=1e-4 if "log" in name else 1e-6), name
    mcb, dsc, unc = (other[name] for name in OF_BRIER)
    assert mcb - dsc + unc == pytest.approx(brier(grid).value, abs=1e-14)
    assert any("grid" in text for text in corp_part(M.BRIER_MCB, grid).assumptions)


def test_many_scores_are_no_burden() -> None:
    """Nothing is quadratic: equal-mass bins, atoms and isotonic parts of 200,000 scores at once."""
    rng = np.random.default_rng(5)
    score = rng.random(200_000)
    table = ScoreTable.from_rows(score, rng.random(200_000) < score)
    bins = bins_of(Binning.EQUAL_MASS, 50, table=table)
    found = [murphy_part(M.BRIER_RELIABILITY, table, bins=b).value for b in (bins, ATOMS)]
    assert found[0] == pytest.approx(0.25 * 50 * 2 / 3 / 200_000, rel=0.8)
    assert found[1] == pytest.approx(brier(table).value)
    assert corp_part(M.LOG_LOSS_MCB, table).value < 1e-3
