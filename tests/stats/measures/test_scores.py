"""Proper scores, skill and decompositions: sums that hold exactly, null references, edges."""

import itertools
import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from calibcli.names import Binning, MeasureName
from calibcli.stats.bounds.means import evidence_below
from calibcli.stats.measures import Estimate
from calibcli.stats.measures.decompositions import corp_part, murphy_part
from calibcli.stats.measures.l2 import debiased_l2
from calibcli.stats.measures.scores import NO_HEAVIER, brier, entropy, log_loss, spherical
from calibcli.stats.measures.skill import brier_skill, log_loss_skill
from calibcli.stats.numerics import Floats
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import ATOMS, Bins, binned, bins_of
from calibcli.stats.table.derived import with_scores
from calibcli.stats.table.grid import Table
from score_rows import PAIRS, TEN, Pairs, scored_table, table_of

M = MeasureName
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


def murphy(table: Table, bins: Bins = TEN) -> dict[MeasureName, Estimate]:
    """Every part over bins."""
    return {name: murphy_part(name, table, bins=bins) for name in (*MURPHY, *CORRECTED)}


def corp(table: Table) -> dict[MeasureName, Estimate]:
    """Every part by isotonic recalibration, without null references."""
    return {name: corp_part(name, table) for name in (*OF_BRIER, *OF_LOG_LOSS)}


@given(rows=st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=60))
def test_corrected_reliability_is_t_for_discrete_scores(rows: list[tuple[int, bool]]) -> None:
    """Where a bin holds one score, the corrected reliability is T, with the square of l2's interval."""
    table = table_of([(s / 6, y) for s, y in rows for _ in range(2)])
    mine, theirs = murphy_part(CORRECTED[0], table, bins=ATOMS), debiased_l2(table, bins=ATOMS)
    assert mine.value == pytest.approx(float(theirs.details["t"]), abs=1e-12, nan_ok=True)
    assert (mine.interval is None) == (theirs.interval is None)
    if mine.interval is not None and theirs.interval is not None:
        assert mine.interval.upper == pytest.approx(max(theirs.interval.upper**2, mine.value), abs=1e-12)


def test_nothing_is_within_a_bin_of_one_score() -> None:
    """Rounding of the bin's mean score is no variance and no covariance: both are 0, by chance too."""
    table = ScoreTable(np.array([0.1, 0.3, 0.7]), np.array([1_214, 1_255, 1_292]), np.array([126, 378, 896]))
    for name in (M.BRIER_WITHIN_VARIANCE, M.BRIER_WITHIN_COVARIANCE):
        found = murphy_part(name, table, bins=ATOMS)
        assert (found.value, found.null) == (0.0, 0.0)


@given(rows=PAIRS)
def test_corp_discriminates_at_least_as_much_as_bins(rows: Pairs) -> None:
    """Any nondecreasing map that is constant on bins saves no more than the isotonic fit does."""
    table = table_of(rows)
    sums = binned(table, TEN)
    some = sums.occupied
    means = np.maximum.accumulate(sums.positive[some] / sums.weight[some])
    moved = with_scores(table, np.repeat(means, np.diff(sums.starts)[some]))
    dsc = corp_part(M.BRIER_DSC, table).value
    assert dsc >= corp_part(M.BRIER_UNC, table).value - brier(moved).value - 1e-12


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


@settings(max_examples=settings.default.max_examples // 2)
@given(rows=PAIRS)
def test_skill_is_at_most_one(rows: Pairs) -> None:
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


@pytest.mark.parametrize("confidence", [0.95, 0.999])
def test_skill_is_missed_no_more_often_than_it_says(confidence: float) -> None:
    """Every table of 14 rows of one score counted: of ten base rates an end missed 1.2 times so often, and in
    a third of tables with weights, which took the base rate for known. Equal weights change no interval.
    """
    ones, rate, delta = np.arange(15), np.linspace(0.005, 0.995, 199), (1.0 - confidence) / 2.0
    chance = binom.pmf(ones, 14, rate[:, np.newaxis])
    alike = Weighing(weight=np.full(14, 2.5))
    for score, skill in itertools.product((0.02, 0.1), (brier_skill, log_loss_skill)):
        rows = [(np.full(14, score), np.arange(14) < one) for one in ones]
        found = [skill(ScoreTable.from_rows(*one), confidence=confidence).interval for one in rows]
        ends = np.array([(-math.inf, math.inf) if one is None else one.ends for one in found])
        weighted = skill(ScoreTable.from_rows(*rows[3], alike), confidence=confidence).interval
        assert weighted is not None
        assert weighted.ends == pytest.approx(ends[3], rel=1e-12)
        if skill is brier_skill:
            loss, constant = rate * (1.0 - score) ** 2 + (1.0 - rate) * score**2, rate * (1.0 - rate)
        else:
            loss, constant = -rate * math.log(score) - (1.0 - rate) * math.log1p(-score), entropy(rate)
        truth = (1.0 - loss / constant)[:, np.newaxis]
        missed = ((ends[:, 0] > truth + 1e-9), (ends[:, 1] < truth - 1e-9))
        assert max(float((chance * one).sum(axis=1).max()) for one in missed) <= delta


def test_skill_asks_few_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates that cannot move an end are asked once: all at every step took groups thrice as long."""
    asked: list[int] = []

    def counted(distance: Floats, rows: Floats) -> Floats:
        asked.append(len(distance))
        return evidence_below(distance, rows)

    monkeypatch.setattr("calibcli.stats.measures.skill.evidence_below", counted)
    for skill in (brier_skill, log_loss_skill):
        asked.clear()
        skill(scored_table(1_000, beta=(0.5, 3.0)))
        assert sum(asked) < 250


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
    # Two right rows of a bin say next to nothing of the next two.
    assert certain[CORRECTED[0]].interval is not None
    assert certain[CORRECTED[0]].interval.ends[1] > 0.9
    same = brier_skill(table_of([(0.5, False), (0.5, True)] * 5))
    assert same.value == pytest.approx(0.0)
    assert same.interval is not None
    perfect = brier_skill(table_of([(0.0, False), (1.0, True)]))
    assert perfect.value == 1.0
    assert perfect.interval is not None
    assert perfect.interval.upper == 1.0


def test_weights_leave_no_intervals_but_of_means() -> None:
    """Importance weights: means keep their interval, the others say why they have none."""
    table = table_of([(0.2, False), (0.4, True), (0.42, False), (0.9, True)], np.array([1.0, 2.0, 0.5, 1.5]))
    for found in (spherical(table), brier(table), brier_skill(table)):
        assert found.interval is not None
        assert NO_HEAVIER in found.assumptions
    for estimate in (*murphy(table).values(), *corp(table).values()):
        assert estimate.interval is None
        assert any(text.startswith("no interval") for text in estimate.assumptions)
    drawn = corp_part(M.BRIER_MCB, table, generator=np.random.default_rng(0))
    assert drawn.null is None
    heavy = table_of([(0.2, False), (0.4, True)], np.array([1.0, 1e-9]))
    assert brier_skill(heavy).interval is None
    wrong = table_of([(0.3, False), (0.9999, False)], np.array([1.0, 3.0]))
    for found in (spherical(wrong), brier(wrong)):
        # No loss to come is larger than that.
        assert found.interval is not None
        assert found.interval.upper == 1.0


@pytest.mark.parametrize("loss", [brier, log_loss, spherical])
@pytest.mark.parametrize("rows", [60, 6_000])
def test_weights_all_alike_are_none(loss: Callable[..., Estimate], rows: int) -> None:
    """The interval is that of rows without weights: few costly ones have the longer tail in both."""
    rng = np.random.default_rng(1)
    score = rng.permutation(np.linspace(0.005, 0.015, rows))
    label = np.arange(rows) < 0.05 * rows
    plain, weighted = (
        loss(ScoreTable.from_rows(score, label, Weighing(weight=weight)), confidence=0.999).interval
        for weight in (None, np.full(rows, 2.5))
    )
    assert plain is not None
    assert weighted is not None
    assert weighted.ends == pytest.approx(plain.ends, rel=1e-3)


def test_many_scores_are_no_burden() -> None:
    """Nothing is quadratic: equal-mass bins, atoms and isotonic parts of 200,000 scores at once."""
    table = scored_table(200_000, seed=5)
    bins = bins_of(Binning.EQUAL_MASS, 50, table=table)
    found = [murphy_part(M.BRIER_RELIABILITY, table, bins=b).value for b in (bins, ATOMS)]
    assert found[0] == pytest.approx(0.25 * 50 * 2 / 3 / 200_000, rel=0.8)
    assert found[1] == pytest.approx(brier(table).value)
    assert corp_part(M.LOG_LOSS_MCB, table).value < 1e-3
